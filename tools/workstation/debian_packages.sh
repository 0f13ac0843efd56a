#!/bin/bash
# Fetches packages of a Debian release into a folder, and installs nothing: debian_packages.sh RELEASE FOLDER PACKAGE...
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=tools/workstation/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

(( $# >= 3 )) || die "usage: debian_packages.sh RELEASE FOLDER PACKAGE..., got: $*"
release=$1 folder=$2
shift 2
mirror=$(debian_mirror) || die "no Debian archive among the sources of apt, which $* of Debian $release come from. Name one:" \
    "export DEBIAN_MIRROR=<address of a Debian archive>"
state=$(mktemp -d "$work/apt-$release.XXXXXX")
trap 'rm -rf "$state"' EXIT
private_apt_lists "$state" "$mirror" "$release"
cd "$folder"
private_apt "$state" apt-get download "$@"

#!/bin/bash
# Unpacks Lmod 8.7 of Debian 13 into .workstation/lmod-8.7, for the tests: lmod_87.sh
#
# LUMI has Lmod 8.7, Debian 12 and Ubuntu 24.04 have 8.6. It needs the Lua of the installed package lmod, and nothing is
# installed. A second run does nothing. The command is .workstation/lmod-8.7/lmod
set -euo pipefail
# shellcheck source=workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=workstation/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

prefix=$work/lmod-8.7
works() { "$1/lmod" --version 2>&1 | grep -q 'Version 8\.7'; }

unpack_lmod() {
    local new=$prefix.new state=$work/apt-lmod
    rm -rf "$new"
    mkdir -p "$new"
    private_apt_lists "$state" "$1" trixie
    (cd "$state/download" && private_apt "$state" apt-get download lmod)
    dpkg -x "$state"/download/lmod_*.deb "$new"
    ln -s "$(cd "$new" && echo usr/share/lmod/8.7.*/libexec/lmod)" "$new/lmod"
    works "$new" || { echo "lmod --version: $("$new/lmod" --version 2>&1)"; return 1; }
    rm -rf "$prefix" "$state"
    mv "$new" "$prefix"
}

one_at_a_time
if works "$prefix" 2>/dev/null; then
    exit
fi
for own in "${LMOD_CMD:-}" /usr/share/lmod/lmod/libexec/lmod; do
    if [[ -x $own && $("$own" --version 2>&1) == *'Version 8.7'* ]]; then
        mkdir -p "$prefix"
        ln -sfn "$own" "$prefix/lmod"
        exit
    fi
done
if ! mirror=$(debian_mirror); then
    warn "no Debian archive among the sources of apt, which Lmod 8.7 comes from: the tests use this machine's own Lmod only." \
        "To test both: DEBIAN_MIRROR=<address of a Debian archive> make test"
    exit
fi
run_logged lmod-8.7 "getting Lmod 8.7 from Debian 13, for the tests" unpack_lmod "$mirror"

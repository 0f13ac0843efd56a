#!/bin/bash
# Makes the Python environments: python_env.sh [--tests|EASYBUILD_VERSION]
#
# Without an argument: .workstation/venv from requirements.txt, and the commands eb, osu-container and reframe in .workstation/bin.
# --tests: also what the tests, checks and pages need, from requirements-tests.txt.
# With a version (the tests use 4.9.4 and 5.1.2): .workstation/easybuild/<version>, with nothing but that EasyBuild.
# A second run does nothing unless the packages wanted, the Python or the place of this folder changed.
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The oldest Python that each EasyBuild is meant for finds mistakes that a new one hides: 4.9 runs on 3.6 on LUMI.
python_for_easybuild() {
    local candidate
    if [[ $1 == 4.* ]]; then
        for candidate in python3.6 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.6.*/bin/python3.6; do
            # A name may be there and not run: pyenv's shims fail for a version that is not switched on.
            if "$candidate" -c 'import venv, ensurepip' >/dev/null 2>&1; then
                command -v "$candidate"
                return
            fi
        done
    fi
    choose_python
}

# make_environment FOLDER PYTHON PIP_ARGUMENT...
make_environment() {
    local folder=$1 python=$2
    shift 2
    rm -rf "$folder"
    # PYTHONPATH of a loaded module must not decide what pip finds installed already.
    unset PYTHONPATH
    "$python" -m venv "$folder"
    # EasyBuild 4 imports distutils, which Python 3.12 and newer have from setuptools only.
    if [[ ${folder##*/} == 4.* ]] && ! "$folder/bin/python" -c 'import distutils' 2>/dev/null; then
        "$folder/bin/python" -m pip --disable-pip-version-check install 'setuptools<81'
    fi
    # Python compiles what is imported; pip would compile all, which takes as long as all the rest.
    "$folder/bin/python" -m pip --disable-pip-version-check install --no-compile "$@"
}

if (( $# == 0 )) || [[ $* == --tests ]]; then
    folder=$work/venv
    # Once there, they are kept where the environment is made anew
    [[ ! -e $folder/made-from-tests ]] || set -- --tests
    name="python-env"
    text="Python environment with EasyBuild, HPCCM and ReFrame, from PyPI"
    packages=(-r "$project/tools/workstation/requirements.txt")
    wanted=$(cat "$project/tools/workstation/requirements.txt" "$project/osu_container/requirements.txt")
    python=$(choose_python) || die "no Python 3.9 or newer with venv found. Run tools/workstation/prerequisites.sh first."
else
    [[ $# == 1 && $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "usage: python_env.sh [--tests|EASYBUILD_VERSION], got: $*"
    folder=$work/easybuild/$1
    name=easybuild-$1
    packages=("easybuild-framework==$1" "easybuild-easyblocks==$1")
    wanted="${packages[*]}"
    python=$(python_for_easybuild "$1") ||
        die "no Python with venv found for EasyBuild $1. Run tools/workstation/prerequisites.sh first."
    text="EasyBuild $1 on $("$python" --version), for the tests"
fi

# An environment holds absolute paths and a link to its Python: after a move or an upgrade it is made again.
stamp=$folder/made-from
wanted="$(realpath -m "$folder") $("$python" -c 'import sys; print(sys.executable, sys.version)') $wanted"
if [[ ! -f $stamp || $(cat "$stamp") != "$wanted" ]] || ! "$folder/bin/python" -c 'import easybuild.main' 2>/dev/null; then
    run_logged "$name" "$text" make_environment "$folder" "$python" "${packages[@]}"
    printf '%s\n' "$wanted" >"$stamp"
fi

if [[ $* == --tests ]]; then
    requirements=$project/tools/workstation/requirements-tests.txt
    if ! cmp -s "$requirements" "$folder/made-from-tests"; then
        run_logged python-env-tests "packages for tests, checks and pages, from PyPI" \
            "$folder/bin/python" -m pip --disable-pip-version-check install --no-compile -r "$requirements"
        cp "$requirements" "$folder/made-from-tests"
    fi
fi
if [[ $folder == "$work/venv" ]]; then
    mkdir -p "$work/bin"
    # eb takes the first python3 on PATH, unless EB_PYTHON says which one.
    printf '#!/bin/sh\nEB_PYTHON=%q exec %q "$@"\n' "$folder/bin/python" "$folder/bin/eb" >"$work/bin/.eb.new"
    chmod 755 "$work/bin/.eb.new"
    mv "$work/bin/.eb.new" "$work/bin/eb"
    ln -sfn "$project/scripts/osu-container" "$work/bin/osu-container"
    # The documentation tells people to type it.
    ln -sfn "$folder/bin/reframe" "$work/bin/reframe"
fi

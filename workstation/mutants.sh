#!/bin/bash
# How many small faults (mutants) in the core the fast tests notice: mutants.sh [COUNT]
#
# COUNT is how many of them are tried, 320 without it. tests/mutants.py says how. What the tests cover, and the verdict on
# each mutant, are kept in .workstation/mutants, so that a second run goes on where the first was stopped.
set -euo pipefail
# shellcheck source=workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$work/mutants
cd "$project"
mapfile -t files < <(git ls-files 'osu_container/core/*.py' osu_container/easyblock.py | grep -v '/data/\|__init__')

make_environment() {
    "$1" -m venv "$folder/venv"
    "$folder/venv/bin/python" -m pip --disable-pip-version-check install cosmic-ray==8.7.0 coverage==7.17.3
}

if [[ ! -x $folder/venv/bin/cosmic-ray ]]; then
    python=$(choose_python) || die "no Python 3.9 or newer with venv found. Run workstation/prerequisites.sh first."
    rm -rf "$folder/venv"
    mkdir -p "$folder"
    run_logged mutants "cosmic-ray and coverage, from PyPI" make_environment "$python"
fi
tool=("$folder/venv/bin/python" tests/mutants.py)
# Another state of the code or of the tests is another measurement.
state=$(git rev-parse HEAD; git status --porcelain)
if [[ ! -f $folder/state || $(cat "$folder/state") != "$state" ]]; then
    rm -f "$folder"/*.json
    printf '%s\n' "$state" >"$folder/state"
fi
[[ -f $folder/sample.json ]] || "${tool[@]}" sample "${files[@]}" --count "${1:-320}" -o "$folder/sample.json"
[[ -f $folder/cover.json ]] || "${tool[@]}" cover "${files[@]}" -o "$folder/cover.json"
"${tool[@]}" run "${files[@]}" --sample "$folder/sample.json" --cover "$folder/cover.json" -o "$folder/results.json"
"${tool[@]}" report "$folder/results.json"

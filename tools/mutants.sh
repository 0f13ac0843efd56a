#!/bin/bash
# Counts the small faults in the verdict, the loader and the proof that the unit tests find: mutants.sh
#
# cosmic-ray lists the faults (pyproject.toml says where); COUNT=60 of them are drawn with SEED=42, so that two runs try the
# same ones as long as the code is the same. Each is written into a clone of the last commit, never into this folder.
set -euo pipefail
# shellcheck source=tools/workstation/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/workstation/common.sh"

folder=$work/mutants
if [[ ! -x $folder/venv/bin/cosmic-ray ]]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install -q cosmic-ray==8.7.0
fi
rm -rf "$folder/tree" "$folder/session.sqlite"
git clone -q --shared "$project" "$folder/tree"
ln -s "$work" "$folder/tree/.workstation"
cd "$folder/tree"
../venv/bin/cosmic-ray init pyproject.toml ../session.sqlite
python3 - ../session.sqlite "${COUNT:-60}" "${SEED:-42}" <<'END'
import random
import sqlite3
import sys

session, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with sqlite3.connect(session) as database:
    jobs = [row[0] for row in database.execute(
        'SELECT job_id FROM mutation_specs ORDER BY module_path, operator_name, occurrence')]
    kept = set(random.Random(seed).sample(jobs, min(count, len(jobs))))
    for table in ('work_items', 'mutation_specs'):
        database.executemany(f'DELETE FROM {table} WHERE job_id = ?', [(job,) for job in jobs if job not in kept])
END
../venv/bin/cosmic-ray exec pyproject.toml ../session.sqlite
../venv/bin/cr-report ../session.sqlite --surviving-only --show-diff

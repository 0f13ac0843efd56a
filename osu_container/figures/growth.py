"""
What the commands that work on results cost as their input grows: report and compare by result rows, proof by ranks.

A row is one value: one message size in one repeat. The runs are made by results/example_runs.py through the same writer
as those of `osu-container bench`, four approaches and native, with cases as in its tag full; nothing in them was
measured. Memory is the peak of the largest process, as the kernel counts it.
"""
from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from osu_container.figures.timing import BenchError, cost, environment, figure, summary, timed
from osu_container.places import PROJECT
from osu_container.results import example_runs as results_data
from osu_container.results.model import Case

ROWS = [1000, 10000, 100000]
RANKS = [2, 64, 1024]
APPROACHES = ('native', 'pure', 'bind', 'hybrid', 'opensource')
REPEATS = 5
#: Limits that the project promises of a report of 100,000 rows: seconds, MB
REPORT = {'seconds': 10, 'memory': 1000}
PROMISED = 100000
BENCHMARKS = ('osu_bw', 'osu_bibw', 'osu_latency', 'osu_mbw_mr', 'osu_multi_lat', 'osu_get_bw', 'osu_put_latency',
              'osu_allreduce', 'osu_allgather', 'osu_bcast')
PLACEMENTS = ((2, 2), (1, 2), (2, 8), (2, 4), (1, 4), (1, 8))
CASES = [Case(benchmark, buffers, nodes, ranks) for nodes, ranks in PLACEMENTS
         for buffers in ('H H', 'D D', 'H D', 'D H', 'M M') for benchmark in BENCHMARKS]
#: Judges the proof of a run, as bench does after it: reads, merges, compares with what was promised
JUDGE = """
import sys; sys.path.insert(0, sys.argv[1])
from osu_container.places import PROJECT
from osu_container.proof import judging
found = judging.read_proofs(sys.argv[2], int(sys.argv[3])); judging.merged(found)
assert judging.broken_promises(found, {'libmpi': 'image', 'libfabric': 'image'}, True) == []
"""


def make_rows(folder, rows):
    """Write a run of about so many rows (int) into folder (Path); return how many they are and the seconds it took."""
    each = len(APPROACHES) * REPEATS * len(results_data.SIZES)
    count = max(1, round(rows / each))
    if count > len(CASES):
        raise BenchError(f'{rows} rows are more than the {len(CASES) * each} that the cases of this group give')
    start = time.perf_counter()
    results_data.make_run(folder, approaches=APPROACHES, cases=CASES[:count], repeats=REPEATS)
    taken = time.perf_counter() - start
    lines = (folder / 'results.jsonl').read_text().splitlines()
    return sum(len(json.loads(line).get('values', ())) for line in lines), taken


def make_proofs(folder, ranks, one):
    """Write the files of so many ranks (int) into folder, each like one (dict, the proof of a real rank)."""
    folder.mkdir()
    for rank in range(ranks):
        (folder / f'rank-{rank}.json').write_text(json.dumps(dict(one, rank=rank), indent=1, sort_keys=True) + '\n')


def measured(title, command, env, repeats, parameters, limits=None):
    """Return the two figures, wall time and peak memory, of a command; limits: {'seconds', 'memory'} or None."""
    limits = limits or {}
    found = [cost(command, env) for _ in range(repeats)]
    return [figure(f'{title}, wall time', summary([taken for taken, _ in found]), limits.get('seconds'), 's',
                   of='seconds', **parameters),
            figure(f'{title}, peak memory', summary([memory for _, memory in found]), limits.get('memory'), 'MB',
                   of='memory', **parameters)]


def bench_growth(repeats, rows, ranks=RANKS):
    """Return the figures of report and compare by rows (list of int), and of proof by ranks (list of int)."""
    figures = []
    env = environment()
    command = [str(PROJECT / 'bin' / 'osu-container')]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for wanted in rows:
            run = folder / f'run-{wanted}'
            count, _ = make_rows(run, wanted)
            commands = {
                'compare': [*command, 'compare', str(run), '--fail-on', 'never', '--json'],
                'report': [*command, 'report', str(run), '-o', str(folder / 'report.html'), '--force'],
            }
            for what, line in commands.items():
                limits = REPORT if what == 'report' and wanted == PROMISED else None
                figures += measured(f'{what}, {count} rows', line, env, repeats, {'what': what, 'rows': count}, limits)
            figures.append(figure(f'size of the page, {count} rows', summary([
                (folder / 'report.html').stat().st_size / 1e6]), unit='MB', what='page', rows=count, of='size'))
        figures += bench_proof(folder, repeats, ranks)
    return figures


def bench_proof(folder, repeats, ranks):
    """Return what watching two real ranks costs beyond running them, and what judging the proof of N ranks costs."""
    env = environment('osu-container/pure')
    srun = ['srun', '-N2', '-n2', '--ntasks-per-node=1']
    program = ['osu_latency', '-m', '1024', 'H', 'H']
    added = []
    for number in range(repeats + 1):
        watched = folder / f'proof-{number}'
        slower, _ = timed([*srun, str(PROJECT / 'osu_container' / 'rank-proof'), str(watched), *program], env)
        plain, _ = timed([*srun, *program], env)
        if number:
            added.append(1000 * (slower - plain))
    figures = [figure('proof of two ranks, beyond the run', summary(added), unit='ms', values=added, what='proof',
                      of='added')]
    one = json.loads((folder / 'proof-0' / 'rank-0.json').read_text())
    for count in ranks:
        made = folder / f'ranks-{count}'
        make_proofs(made, count, one)
        judge = [sys.executable, '-c', JUDGE, str(PROJECT), str(made), str(count)]
        figures += measured(f'proof judged, {count} ranks', judge, env, repeats, {'what': 'judge', 'ranks': count})
    return figures

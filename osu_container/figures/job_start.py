"""
Start of many ranks on one node: natively, with a container for each rank, and with one container for all of them.

    native        the program, over the same MPI as in the image (the image's wheel unpacked on the host)
    shared        osu-exec: the ranks of a node in one container, as the module does it where the runtime can
    rank          OSU_SHARE=0 osu-exec: a container a rank

Of each: what MPI_Init took (osu_init, or this project's port of it where there are no C programs), the slowest rank,
and what the whole srun took, from typing to prompt; that has the start of containers and of the program in it. All of
it runs in one job of one node; with more ranks than cores (srun --overcommit) the ranks wait for each other's core, in
every way.
"""
from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from osu_container.figures.timing import BenchError, environment, figure, summary, timed

RANKS = [1, 2, 8, 16, 64]
MODULE = 'osu-container/pure'
#: What a start may take of native's time with these numbers of ranks, shared
PROMISED = {16: 1.3, 64: 1.3}
PORT = Path(__file__).resolve().with_name('osu_init_port.py')
#: Seconds to wait for a job
LIMIT = 600


@contextlib.contextmanager
def allocation(env):
    """Hold a job of one node and one of its CPUs for as long as the block runs; gives its id (str)."""
    done = subprocess.run(['salloc', '-N1', '-n1', '--no-shell', '-J', 'osu-start'], env=env, capture_output=True,
                          text=True, timeout=LIMIT)
    found = re.search(r'Granted job allocation (\d+)', done.stderr)
    if not found:
        raise BenchError(f'salloc gave no job: {done.stderr.strip()}')
    try:
        yield found[1]
    finally:
        subprocess.run(['scancel', found[1]], env=env, capture_output=True)


def program(env, folder):
    """
    Return the command (list of str) that prints what osu_init prints: the C program, else the port, copied to folder.

    :param folder: Path that the container shows at the same place
    """
    if shutil.which('osu_init', path=env['PATH']):
        return ['osu_init']
    shutil.copy(PORT, folder / PORT.name)
    return ['/usr/bin/python3', '-I', str(folder / PORT.name)]


def times(command, env):
    """Return {'init': ms of the slowest rank, 'total': s} of one start; the ranks must have found each other."""
    taken, output = timed(command, env)
    ranks = int(command[command.index('-n') + 1])
    found = re.search(r'^nprocs: (\d+), min: (\d+) ms, max: (\d+) ms', output, re.M)
    if not found or int(found[1]) != ranks:
        raise BenchError(f"{' '.join(command)}: wanted one line of osu_init for {ranks} ranks, found: {output.strip()}")
    finer = re.search(r'^# MPI_Init: min \S+ ms, max (\S+) ms', output, re.M)
    return {'init': float(finer[1] if finer else found[3]), 'total': taken}


def bench_start(repeats, ranks, native_environments):
    """
    Return the figures of starts in every way, ratios to native pair by pair.

    :param ranks: list of int; native_environments: function (Path) -> {approach: environment}, of figures.py
    """
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / 'wheel').mkdir()
        native = native_environments(folder / 'wheel')['pure']
        container = environment(MODULE)
        bound = f"{container.get('APPTAINER_BIND', '')},{folder}".strip(',')
        container = dict(container, APPTAINER_BIND=bound)
        inside = ['osu-exec', *program(container, folder)]
        with allocation(container) as job:
            ways = {'native': (native, program(native, folder)), 'shared': (container, inside),
                    'rank': (dict(container, OSU_SHARE='0'), inside)}
            for count in ranks:
                srun = ['srun', f'--jobid={job}', '-N1', '-n', str(count), '--overcommit', '--time=10']
                found = {way: [] for way in ways}
                warm = int(count == ranks[0])  # one round before all warms caches
                for number in range(repeats + warm):
                    for way, (env, command) in ways.items():
                        one = times([*srun, *command], env)
                        if number >= warm:
                            found[way].append(one)
                figures += of_count(count, found)
    return figures


def of_count(count, found):
    """Return the figures of one number of ranks (int); found: {way: [{'init': ms, 'total': s}, ...]}."""
    figures = []
    ranks = f"{count} rank{'s' if count > 1 else ''}"
    for way, runs in found.items():
        for key, unit, title in (('init', 'ms', 'MPI_Init'), ('total', 's', 'whole srun')):
            values = [run[key] for run in runs]
            figures.append(figure(f'{title}, {ranks}, {way}', summary(values), unit=unit, values=values,
                                  ranks=count, way=way, of=key))
            if way != 'native':
                ratio = [mine / native[key] for mine, native in zip(values, found['native'])]
                wanted = PROMISED.get(count) if (way, key) == ('shared', 'total') else None
                figures.append(figure(f'{title}, {ranks}, {way} / native', summary(ratio), wanted, ranks=count, way=way,
                                      of=f'{key} ratio'))
    return figures

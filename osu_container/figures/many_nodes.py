"""
Starts on many nodes, as far as one machine shows them: a private Slurm of 64 slurmd (workstation/slurm.sh).

    srun        srun of `true`, a rank a node: the part of a start that is Slurm's
    starts      the whole srun and MPI_Init of osu_init (or its port), natively and by osu-exec
    reads       how many containers one srun started and what each read of the image, while its ranks wait
    requests    file-system calls of one rank without srun (strace), and the sizes of the files that it opened
    image       the size of the image, what a first start brings into memory, how fast sha256sum reads it

All nodes have the cores and the page cache of one machine, so seconds grow with every start: what this shows is counts,
and whether time follows the number of starts. osu_container/figures/start_model.py takes the counts.

    make figures-nodes                                  after make demo
    python -m osu_container.figures.many_nodes --output osu_container/figures/results/many-nodes/DATE-MACHINE.json
"""
from __future__ import annotations

import argparse
import contextlib
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from osu_container import record
from osu_container.figures.cli import native_environments, write
from osu_container.figures.image_reads import forget, mounts, resident
from osu_container.figures.job_start import MODULE, PORT, program, times
from osu_container.figures.timing import BenchError, environment, seconds, summary
from osu_container.places import PROJECT

FORMAT = 1
NODES = 64
#: (nodes, ranks a node) of srun lines; more ranks than the nodes' 16 processors would need --overcommit
RANKS_A_NODE = ((1, 4), (1, 16), (4, 4), (16, 4))
LIMIT = 300
#: What a rank runs that waits: all that osu_init does, then where it is, then nothing until the file is gone
HOLD = """
import os, runpy, sys, time
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
print('here', os.environ.get('SLURMD_NODENAME'), os.readlink('/proc/self/ns/mnt'), flush=True)
while os.path.exists(os.path.join(os.path.dirname(sys.argv[0]), 'hold')):
    time.sleep(0.05)
"""


@contextlib.contextmanager
def slurm(nodes):
    """Run a private Slurm of this many nodes (int) for as long as the block runs; gives the path of its slurm.conf."""
    script = [str(PROJECT / 'workstation' / 'slurm.sh')]
    env = dict(os.environ, OSU_SLURM_NODES=str(nodes))
    env.pop('SLURM_CONF', None)
    try:
        seconds([*script, 'start'], env)
        yield str(PROJECT.resolve() / '.workstation' / f'slurm-{nodes}' / 'slurm.conf')
    finally:
        subprocess.run([*script, 'stop'], env=env, check=True, stdout=subprocess.DEVNULL)


def powers(nodes):
    """Return 1, 2, 4, ... up to nodes (int), which is among them."""
    return sorted({2 ** power for power in range(10) if 2 ** power < nodes} | {nodes})


def srun_line(nodes, ranks):
    """Return the srun command (list of str) for nodes (int) with ranks (int) each; it says how many ranks there are."""
    return ['srun', f'-N{nodes}', '-n', str(nodes * ranks), f'--ntasks-per-node={ranks}', '--time=10']


def bench_srun(nodes, repeats, env):
    """
    Return what srun of true takes: [{'nodes', 'total': {'median', ... 'values'}, 'own': the same}], in s.

    own: processor time of srun itself, which no second node takes off it. The first round warms caches.
    """
    found = {count: {'total': [], 'own': []} for count in powers(nodes)}
    for number in range(repeats + 1):
        for count, values in found.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken = seconds([*srun_line(count, 1), '--mpi=none', 'true'], env)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if number:
                values['total'].append(taken)
                values['own'].append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [{'nodes': count, **{key: {**summary(each), 'values': each} for key, each in values.items()}}
            for count, values in found.items()]


def bench_starts(nodes, repeats, ways):
    """Return what starts take: [{'nodes', 'ranks', 'way', 'total': {median, ... in s}, 'init': {... in ms}}]."""
    found = []
    for count, ranks in [(count, 1) for count in powers(nodes)] + [pair for pair in RANKS_A_NODE if pair[0] <= nodes]:
        runs = {way: [] for way in ways}
        for _ in range(repeats):
            for way, (env, command) in ways.items():
                runs[way].append(times([*srun_line(count, ranks), *command], env))
        for way, each in runs.items():
            found.append({'nodes': count, 'ranks': ranks, 'way': way,
                          **{key: {**summary([run[key] for run in each]), 'values': [run[key] for run in each]}
                             for key in ('total', 'init')}})
            print(f"  {count} x {ranks} {way}: {found[-1]['total']['median']:.2f} s", flush=True)
    return found


def bench_reads(nodes, env, command, folder):
    """
    Return [{'nodes', 'ranks', 'containers', 'read': [bytes of each]}]: what starts read of the image.

    In user namespaces, as ordinary users have it: a process mounts the image, and the kernel counts what it reads.

    :param command: list of str that starts a waiting rank; folder: Path of the file that it waits for
    """
    env = dict(env, APPTAINER_USERNS='1')
    found = []
    for count, ranks in [(1, 1), *((1, ranks) for ranks in (4, 16)), (4, 4), (16, 1), (16, 4), (nodes, 1)]:
        if count > nodes:
            continue
        (folder / 'hold').touch()
        running = subprocess.Popen([*srun_line(count, ranks), *command], env=env, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said, end = '', time.monotonic() + LIMIT
        try:
            while len(re.findall('^here ', said, re.M)) < count * ranks:
                line = running.stdout.readline()
                said += line
                if not line or time.monotonic() > end:
                    raise BenchError(f'{count} nodes, {ranks} ranks each: they did not all start: {said[-2000:]}')
            read = sorted(size for size, _ in mounts(env['MPI_CONTAINER_IMAGE']))
        finally:
            (folder / 'hold').unlink()
            running.communicate(timeout=LIMIT)
        places = set(re.findall(r'^here (\S+ \S+)', said, re.M))
        if len(places) != len(read):
            raise BenchError(f'{len(places)} containers by their ranks, {len(read)} squashfuse: {said[-2000:]}')
        found.append({'nodes': count, 'ranks': ranks, 'containers': len(read), 'read': read})
        print(f"  {count} x {ranks}: {len(read)} containers, {statistics.median(read) / 1e6:.1f} MB each",
              flush=True)
    return found


def bench_requests(ways, shared):
    """
    Return {way: {'all', 'shared', 'opened', 'opened_shared'}}: calls on files by one rank, and bytes of what it opened.

    :param shared: {way: list of folders (str)} that would be on a file system of all nodes; the rest may be each
        node's own. What a container looks up in its image is no request to that file system: only shared counts there.
    """
    found = {}
    for way, (env, command) in ways.items():
        with tempfile.NamedTemporaryFile('r', suffix='.strace') as trace:
            seconds(['strace', '-f', '-qq', '-e', 'trace=%file', '-o', trace.name, *command], env)
            found[way] = calls(trace.read(), shared[way])
    return found


def calls(trace, shared):
    """Return what bench_requests has of one rank, from the text of strace -e trace=%file (str)."""
    paths = [(found[1], 'open' in line.split('(')[0] and re.search(r'\) += \d+$', line) is not None)
             for line in trace.splitlines() for found in [re.search(r'"(/[^"]*)"', line)] if found]
    paths = [(path, opened) for path, opened in paths if not path.startswith(('/proc', '/sys', '/dev', '/run', '/tmp/'))
             or path.startswith(tuple(shared))]
    files = {os.path.realpath(path) for path, opened in paths if opened and os.path.isfile(path)}
    theirs = [path for path, _ in paths if path.startswith(tuple(shared))]
    real = tuple(map(os.path.realpath, shared))
    return {'all': len(paths), 'shared': len(theirs), 'opened': sum(map(os.path.getsize, files)),
            'opened_shared': sum(os.path.getsize(path) for path in files if path.startswith(real))}


def bench_image(env, command):
    """Return {'size', 'disk' in bytes, 'sha256' in bytes/s} of the image; disk: what a first start brings to memory."""
    image = env['MPI_CONTAINER_IMAGE']
    size = os.path.getsize(image)
    seconds(['sha256sum', image], env)
    rate = size / min(seconds(['sha256sum', image], env) for _ in range(5))
    disk = []
    for _ in range(3):
        forget(image)
        before = resident(image)
        seconds(command, dict(env, APPTAINER_USERNS='1'))
        disk.append(resident(image) - before)
    return {'size': size, 'disk': int(statistics.median(disk)), 'sha256': rate}


def measured(nodes, repeats):
    """Return all of it as data (dict). Raises BenchError."""
    with tempfile.TemporaryDirectory(prefix='osu-nodes-') as name, slurm(nodes) as conf:
        folder = Path(name)
        (folder / 'wheel').mkdir()
        native = native_environments(folder / 'wheel')['pure']
        container = environment(MODULE)
        for env in (native, container):
            env['SLURM_CONF'] = conf
            for variable in ('SLURM_JOB_NUM_NODES', 'SLURM_NTASKS'):
                env.pop(variable, None)
        bound = f"{container.get('APPTAINER_BIND', '')},{folder}".strip(',')
        container = dict(container, APPTAINER_BIND=bound)
        shutil.copy(PORT, folder / PORT.name)
        (folder / 'hold.py').write_text(HOLD)
        ways = {'native': (native, program(native, folder)),
                'container': (container, ['osu-exec', *program(container, folder)])}
        hold = ['osu-exec', '/usr/bin/python3', '-I', str(folder / 'hold.py'), str(folder / PORT.name)]
        home = os.environ['HOME']
        shared = {'native': [native['EBROOTOSUMINNATIVE'], str(folder), home],
                  'container': [container['CONTAINERROOT'], str(folder), home]}
        return {'srun': bench_srun(nodes, 3 * repeats, container), 'starts': bench_starts(nodes, repeats, ways),
                'reads': bench_reads(nodes, container, hold, folder), 'requests': bench_requests(ways, shared),
                'image': bench_image(container, ways['container'][1])}


def main():
    """Measure, write the data; exit code 1 if something is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--nodes', type=int, default=NODES, help="nodes of the private Slurm (default: %(default)s)")
    parser.add_argument('--repeats', type=int, default=3, help="starts of a kind (default: %(default)s)")
    parser.add_argument('--output', type=Path, help="file to write (default: only what is printed)")
    options = parser.parse_args()
    if options.output and options.output.exists():
        sys.exit(f'many_nodes.py: error: {options.output} is there already and is not written over')
    try:
        data = {'format': FORMAT, 'time': record.now(), 'machine': record.machine(),
                'versions': record.versions(environment(MODULE)), **measured(options.nodes, options.repeats)}
    except BenchError as err:
        sys.exit(f'many_nodes.py: error: {err}')
    if options.output:
        write(options.output, data)
        print(f'written: {options.output}')


if __name__ == '__main__':
    main()

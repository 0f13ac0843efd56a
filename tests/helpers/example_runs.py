"""
Runs that never happened, for tests: results.jsonl as `osu-container bench` writes it, through
run_files.Writer.

Values follow Hockney's model, time = latency + size / bandwidth, with parameters of the size of the
published native LUMI-G figures, and scatter about it. Nothing here is a measurement.
"""

import hashlib
import math
import random
from pathlib import Path

from osu_container.bench.results import run_files
from osu_container.bench.results.model import SINGLE_VALUE_BENCHMARKS, Case
from osu_container.data.approaches import APPROACHES

STARTED = '2026-11-21T13:12:44Z'
RUN = '20261121T131244Z'
PROGRAMS = 'OSU C programs'

#: Message sizes that the OSU programs take by themselves
SIZES = tuple(2**n for n in range(23))
#: bench's two cases that every machine can run
CASES = (Case('osu_bw', 'H H', 2, 2), Case('osu_latency', 'H H', 2, 2))
#: One of each kind that has its own shape: device buffers, collectives, programs without sizes
MORE_CASES = CASES + (
    Case('osu_bw', 'D D', 2, 2),
    Case('osu_allreduce', 'D D', 2, 8),
    Case('osu_xccl_bw', 'D D', 2, 2),
    Case('osu_barrier', '', 2, 8),
)

#: Latency in microseconds, bandwidth in MB/s (bytes a microsecond), messages in flight of bandwidth
#: tests
LATENCY, BANDWIDTH, WINDOW = 2.2, 23900.0, 5


def list_sizes(case):
    """Return the message sizes (tuple of int, bytes) that a benchmark prints."""
    if case.benchmark in SINGLE_VALUE_BENCHMARKS:
        return (0,)
    return (0, *SIZES) if case.benchmark == 'osu_latency' else SIZES


def model_value(case, size):
    """Return the value (float, in the unit of the case) that native has at a size in bytes."""
    if case.more_is_better:
        return size / (LATENCY / WINDOW + size / BANDWIDTH)
    return LATENCY + size / BANDWIDTH


def _sum(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _library(name, where):
    """
    Return the proof of one library as osu_container/proof/ writes it; where: 'host' or 'image'.
    """
    family, release, soname = {
        'libmpi': ('MPICH', {'host': '5.0.2', 'image': '4.2.3'}[where], 'libmpi.so.12'),
        'libfabric': ('libfabric', {'host': '2.5.1', 'image': '1.22.0'}[where], 'libfabric.so.1'),
    }[name]
    path = f'/opt/mpich/{release}/lib/{soname}' if where == 'host' else f'/opt/image/lib/{soname}'
    return {
        'path': path,
        'where': where,
        'host_path': path if where == 'host' else None,
        'family': family,
        'release': release,
        'build_id': None,
        'sha256': _sum(f'{name} {release}'),
        'problem': None,
    }


def module_line(approach):
    """
    Return the keys (dict) of the module line of an approach, or of a version of one such as
    bind-mpich (str).
    """
    entry = APPROACHES[approach.partition('-')[0]]
    container = approach != 'native'
    name = f'osu-container/{approach}' if container else 'osu-native'
    path = f'/opt/easybuild/modules/all/{name if container else "osu-native/1.0"}.lua'
    line = {
        'name': name,
        'approach': approach,
        'container': container,
        'comes_from': entry['comes_from'],
        'module_file': {'path': path, 'sha256': _sum(path), 'text': f'help([==[\n{name}\n]==])\n'},
        'variables': {
            'FI_PROVIDER': 'tcp',
            'MPIR_CVAR_CH4_NETMOD': 'ofi',
            'OSU_CONTAINER_APPROACH': approach,
        },
        'network': {'netmod': 'ofi', 'provider': 'tcp'},
    }
    if container:
        line['image'] = {
            'path': '/opt/easybuild/osu.sif',
            'sha256': _sum('osu.sif'),
            'labels': {'org.opencontainers.image.version': '1', 'osu.programs': PROGRAMS},
        }
    return line


def make_proof(approach, case, nodes):
    """
    Return the merged proof (list of dict) of a measurement, as proof.merged() does: what all its
    ranks loaded.
    """
    line = module_line(approach)
    return [
        {
            'ranks': list(range(case.ranks or 2)),
            'nodes': list(nodes),
            'container': line['container'],
            'image': line.get('image', {}).get('path'),
            'executable': f'/opt/osu/bin/{case.benchmark}',
            'variables': dict(line['variables'], SLURM_MPI_TYPE='pmi2'),
            'differing': ['PMI_FD', 'PMI_RANK'],
            'libraries': {
                name: _library(name, where) for name, where in line['comes_from'].items()
            },
        }
    ]


def make_run(
    folder,
    *,
    approaches=('native', 'pure', 'hybrid'),
    cases=CASES,
    repeats=5,
    seed=1,
    scale=None,
    noise=0.02,
    site='workstation',
    failures=(),
    run=RUN,
    tag='quick',
    programs=PROGRAMS,
    sizes=None,
):
    """
    Write results.jsonl of a run into folder (Path, made if it is missing) and return folder.

    :param approaches: of str; cases: of Case; repeats: int
    :param seed: int, the same seed gives the same numbers
    :param scale: how good an approach is beside native: {approach: factor}. 0.1 is a tenth of the
        bandwidth and ten times the latency
    :param noise: relative standard deviation of the repeats (log-normal)
    :param failures: of (approach, Case, reason) that have no numbers; reason starting with
        'skipped' makes them skipped
    :param sizes: of int, message sizes in place of those of the programs
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    random_ = random.Random(seed)
    reasons = {(approach, case): reason for approach, case, reason in failures}
    nodes = ['node1', 'node2']
    writer = run_files.Writer(folder / run_files.RESULTS_FILE)
    writer.write_header(
        run=run,
        started=STARTED,
        site=site,
        tag=tag,
        repeats=repeats,
        command=['bench', '--tag', tag, '--repeats', str(repeats)],
        project={'commit': 'f' * 40, 'changed': False},
        machine={
            'kernel': '6.1.0',
            'architecture': 'x86_64',
            'cpu': 'AMD EPYC',
            'cores': 2,
            'memory_bytes': 8 << 30,
            'system': 'Debian GNU/Linux 12 (bookworm)',
        },
        versions={
            'easybuild': '5.3.1',
            'lmod': '8.6.19',
            'runtime': 'apptainer version 1.4.5',
            'slurm': 'slurm-wlm 22.05.8',
            'python': '3.11.2',
            'reframe': '4.10.4',
        },
        slurm={'cluster': 'workstation', 'job': None, 'partition': 'main', 'nodes': nodes},
    )
    for approach in approaches:
        writer.add('module', **module_line(approach))
    counts = dict.fromkeys(run_files.STATUS, 0)
    for repeat in range(1, repeats + 1):
        for case in cases:
            for approach in approaches:  # interleaved, as bench does
                used = nodes[: case.nodes or 2]
                typed = f'srun -N{case.nodes or 2} -n{case.ranks or 2} {case.benchmark} {case.buffers}'.strip()
                stem = f"{approach}-{case.benchmark}-{case.buffers.replace(' ', '')}-{repeat}"
                line = {
                    'module': module_line(approach)['name'],
                    'approach': approach,
                    'case': {
                        'benchmark': case.benchmark,
                        'buffers': case.buffers,
                        'nodes': case.nodes,
                        'ranks': case.ranks,
                        'variant': case.variant,
                    },
                    'repeat': repeat,
                    'typed': typed,
                    'command': f'bash -c {typed!r}',
                    'raw': f'raw/{stem}.txt',
                    'errors': f'raw/{stem}.err',
                    'seconds': 1.5,
                    'started': STARTED,
                    'slurm': {'step': f'1.{repeat}', 'nodes': used},
                }
                if (approach, case) in reasons:
                    reason = reasons[approach, case]
                    line.update(
                        status='skipped' if reason.startswith('skipped') else 'failed',
                        reason=reason,
                    )
                else:
                    factor = (scale or {}).get(approach, 1.0)
                    factor = factor if case.more_is_better else 1 / factor
                    values = {
                        str(size): round(
                            model_value(case, size) * factor * math.exp(random_.gauss(0, noise)), 4
                        )
                        for size in sizes or list_sizes(case)
                    }
                    line.update(
                        status='ok',
                        unit=case.unit,
                        programs=programs,
                        values=values,
                        comments=[],
                        foreign=[],
                        broken=[],
                        proof=make_proof(approach, case, used),
                    )
                counts[line['status']] += 1
                writer.add('measurement', **line)
    writer.add('end', ended=STARTED, **counts)
    return folder

"""
A model of the start of a job on 1 to 3,000 nodes, natively and in a container: what it reads, from where, how fast.

A start is a sum: Slurm reaches the nodes, files are looked up at the metadata server, their bytes are read, a node does
what it does alone, MPI finds its ranks. Inputs are measured (on one machine of two cores, by figures/job_start.py and
figures/many_nodes.py), published (with the source), derived from these, or assumed. Each has two ends, the one that
makes a start fast and the one that makes it slow; a result is the pair of what all fast ends and all slow ends give.

Not in the model: what other users ask of the file system, the latency of single requests, errors and retries.
osu_container/generate/scale_page.py writes docs/scale.md of it.
"""
from __future__ import annotations

import csv
import functools
import json
from dataclasses import dataclass

from osu_container.generate import figures_page
from osu_container.places import PROJECT

#: What many_nodes.py measured
COUNTS = PROJECT / 'osu_container' / 'figures' / 'results' / 'many-nodes'
LUMI_RUNS = PROJECT / 'osu_container' / 'results' / 'data' / 'lumi-g-2025-03.csv'
WAYS = ('native', 'one stripe', 'striped', 'staged')
MOST_NODES, MOST_RANKS = 3000, 128
EVIDENCE = ('measured', 'published', 'derived', 'assumed')

USERGUIDE = 'LUMI user guide (github.com/Lumi-supercomputer/lumi-userguide), docs/'
LUSTRE = 'Lustre Software Release 2.x Operations Manual, table 1.1'
SCIPY = 'Feng and Hand, Launching Python Applications on Peta-scale Massively Parallel Systems, SciPy 2016'


@dataclass(frozen=True)
class Input:
    """
    A number of the model.

    fast, slow: its ends, by what they make of a start; the same where it has no range. evidence: of EVIDENCE
    """

    title: str
    fast: float
    slow: float
    unit: str
    evidence: str
    source: str


@dataclass(frozen=True)
class Image:
    """An image: its size in bytes; fast, slow: bytes of it that the start of one node takes from the file system."""

    title: str
    size: float
    fast: float
    slow: float
    evidence: str
    source: str


@dataclass(frozen=True)
class FileSystem:
    """A Lustre file system: bytes/s of all its storage targets together, their number, its metadata servers."""

    total: float
    targets: int
    servers: int
    source: str

    def target(self, end):
        """Return the bytes/s of one target: its share, at the fast end what its server may do from memory."""
        share = self.total / self.targets
        return max(share, inputs()['server_memory'].fast) if end == 'fast' else share


FILE_SYSTEMS = {
    'LUMI-P': FileSystem(240e9, 32, 1, USERGUIDE + 'storage/parallel-filesystems/lumip.md at 89fa32f'),
    'LUMI-F': FileSystem(2160e9, 72, 4, USERGUIDE + 'storage/parallel-filesystems/lumif.md at 59a7675'),
}

#: Starts of others on many nodes: (what, nodes, ranks a node, image in bytes, at most s, source)
PUBLISHED_STARTS = (
    ('Python with SciPy, its files staged to the nodes as archives of about 300 MB, Cray XC30 (Edison)',
     4096, 24, 300e6, 120, SCIPY + ': 98,304 ranks on 4,096 nodes, staging and start in less than 2 minutes'),
)


@functools.cache
def counts():
    """Return (path, data) of the newest file of many_nodes.py (Path, dict)."""
    found = [(json.loads(path.read_text()), path) for path in COUNTS.glob('*.json')]
    data, path = max(found, key=lambda each: each[0]['time'])
    return path, data


def alone(figures):
    """
    Return {'native': (fast, slow), 'container': ...}: seconds of a start on one node with as many cores as ranks.

    Measured with 1 to 64 ranks on two cores, where ranks take turns: the time of a pair of ranks, which had both.
    """
    found = {}
    for way, name in (('native', 'native'), ('container', 'shared')):
        each = [figure['median'] * min(1, 2 / figure['ranks']) for figure in figures
                if figure['way'] == name and figure['of'] == 'total']
        found[way] = (min(each), max(each))
    return found


def slope(points):
    """Return (slope, offset) of the line that fits points (list of (x, y)) best, by least squares."""
    n = len(points)
    x, y = sum(one for one, _ in points) / n, sum(one for _, one in points) / n
    rise = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return rise, y - rise * x


def tcp():
    """Return the bytes/s of TCP between two nodes of LUMI-G: pure, osu_bw between hosts, the largest message."""
    with LUMI_RUNS.open(newline='') as handle:
        row, = [row for row in csv.DictReader(handle) if (row['series'], row['benchmark'], row['buffers']) == (
            'pure', 'osu_bw', 'H H')]
    return float(row['4194304']) * 1e6


@functools.cache
def inputs():
    """Return {name: Input} of all that does not belong to an image or a file system."""
    figures, data = figures_page.newest()[1], counts()[1]
    here, there = 'group start', 'many nodes'
    local = alone(figures['groups']['start'])
    native, container = (data['requests'][way] for way in ('native', 'container'))
    own, _ = slope([(each['nodes'], each['own']['median']) for each in data['srun']])
    one = min(data['srun'], key=lambda each: each['nodes'])['total']['median']
    return {
        'native': Input('native start on one node, a core for each rank', *local['native'], 's', 'derived',
                        f'{here}: time of 1 to 64 ranks on two cores, divided by ranks a core'),
        'container': Input('container start on one node, shared by its ranks', *local['container'], 's', 'derived',
                           f'{here}: the same'),
        'srun': Input('srun of one node', one, one, 's', 'measured', f'{there}, srun'),
        'own': Input("srun's own processor time for each node", own, own, 's', 'measured',
                     f"{there}, srun: slope over 1 to {data['srun'][-1]['nodes']} nodes"),
        'tree': Input('nodes that a node of Slurm hands a message on to', 50, 50, '', 'published',
                      'slurm.conf(5) of Slurm 22.05, TreeWidth; a site may set another'),
        'wire_up': Input('MPI_Init for each rank of the job', 0, 22 / 229376, 's', 'derived',
                         'mvapich.cse.ohio-state.edu/performance/job-startup: less than 22 s with 229,376 ranks on '
                         '3,584 nodes; fast: it does not grow, which that page says of its own design'),
        'native_requests': Input('file requests of a native rank', native['shared'], native['all'], '', 'measured',
                                 f'{there}, requests (strace); fast: Python is part of the node, slow: it is on the '
                                 'parallel file system too'),
        'container_requests': Input('file requests of a container rank, outside the image', container['shared'],
                                    container['shared'], '', 'measured',
                                    f'{there}, requests (strace): in the folders of the module and of the user'),
        'repeated': Input('share of its requests that each further rank of a node repeats', 0, 1, '', 'assumed',
                          "fast: the node's cache answers them; slow: none of them. " + SCIPY +
                          ' finds that requests grow with ranks'),
        'server': Input('requests that a metadata server answers', 200e3, 50e3, '/s', 'published',
                        f'{LUSTRE}, stat operations of one server in known production; fast: the present '
                        'edition, slow: an older one'),
        'native_bytes': Input('bytes that a native start reads on a node', native['opened_shared'], native['opened'],
                              'B', 'derived', f'{there}, requests: sizes of the files that it opened'),
        'server_memory': Input('read from one storage server that has the bytes in memory', 25e9, 25e9, 'B/s',
                               'published', f'{LUSTRE}, one server in known production; used for the fast end of one '
                               'target, since all nodes read the same bytes'),
        'card': Input('network card of a node', 25e9, 25e9, 'B/s', 'published', USERGUIDE + 'hardware/lumig.md at '
                      '00f3449, a LUMI-G node has four; the model uses one'),
        'tcp': Input('TCP between two nodes', tcp(), tcp(), 'B/s', 'published',
                     'DeiC-HPC on LUMI-G, 2025-03 (docs/results/index.md), pure, osu_bw H H, 4 MiB'),
        'fan_out': Input('nodes that a node hands a block of sbcast on to, one after the other', 8, 50, '', 'assumed',
                         "fast: sbcast(1), the most that --fanout takes; slow: TreeWidth. It is assumed that slurmd "
                         'talks over the fast network, and that a block is on all nodes before the next one leaves'),
        'sum': Input('sha256sum on one core', data['image']['sha256'], data['image']['sha256'], 'B/s', 'measured',
                     f'{there}, image'),
    }


@functools.cache
def images():
    """Return {name: Image}: that of the workstation, measured, and one as large as LUMI's."""
    there, data = 'many nodes', counts()[1]
    image = data['image']
    read = min(min(each['read']) for each in data['reads'])
    large = 2.5e9
    return {
        'small': Image('the image of this project for workstations', image['size'], read, image['disk'], 'measured',
                       f'{there}; fast: what squashfuse reads, slow: what the kernel brings to memory with it'),
        'large': Image('an image for LUMI', large, read, image['disk'] / image['size'] * large, 'assumed',
                       'size: assumed; fast: a start needs no more bytes than here, slow: the same share of the image '
                       'as here'),
    }


def values(end):
    """Return {name: float}: the inputs at one end ('fast', 'slow')."""
    return {name: getattr(each, end) for name, each in inputs().items()}


def levels(nodes, width):
    """Return how many hops a message takes to nodes (int), if each of them hands it on to width (int) others."""
    reached, hops, newest = 0, 0, 1
    while reached < nodes:
        newest *= width
        reached += newest
        hops += 1
    return hops


def copies(nodes, width):
    """Return how many times a block is sent, one after the other, until nodes (int) have it; width: see levels()."""
    sent = 0
    while nodes > 0:
        children = min(width, nodes)
        sent += children
        nodes = -(-(nodes - children) // children)
    return sent


def launch(nodes, v):
    """Return the seconds that srun takes on nodes (int) beyond one node; v: as values() gives it."""
    return v['srun'] * (levels(nodes, v['tree']) - 1) + v['own'] * (nodes - 1)


def parts(way, nodes, ranks, image, end, system='LUMI-P'):
    """
    Return {part: seconds} of one start: 'node', 'srun', 'requests', 'reading', 'MPI'.

    :param way: of WAYS; nodes, ranks (a node): int; image: Image; end: 'fast' or 'slow'; system: of FILE_SYSTEMS
    """
    v, lustre = values(end), FILE_SYSTEMS[system]
    native = way == 'native'
    target = lustre.target(end)
    size = v['native_bytes'] if native else getattr(image, end)
    # Small files lie on all targets; by bad luck those that matter lie on one.
    rate = {'one stripe': target, 'striped': lustre.total,
            'native': lustre.total if end == 'fast' else target}.get(way)
    asked = v['native_requests' if native else 'container_requests'] * nodes * (1 + (ranks - 1) * v['repeated'])
    return {
        'node': v['native' if native else 'container'],
        'srun': launch(nodes, v),
        'requests': asked / (v['server'] * lustre.servers),
        'reading': max(nodes * size / rate, size / v['card']) if rate else 0.0,
        'MPI': v['wire_up'] * nodes * ranks,
    }


def start(way, nodes, ranks, image, system='LUMI-P'):
    """Return (fast, slow): seconds of one start, see parts()."""
    return tuple(sum(parts(way, nodes, ranks, image, end, system).values()) for end in ('fast', 'slow'))


def staging(nodes, image, system='LUMI-P'):
    """Return (fast, slow): seconds that `osu-container stage` takes: sbcast, the sums, two srun."""
    lustre, found = FILE_SYSTEMS[system], []
    for end in ('fast', 'slow'):
        v = values(end)
        read = image.size / min(v['card'], lustre.target(end))
        found.append(read + copies(nodes, v['fan_out']) * image.size / v['tcp'] + image.size / v['sum']
                     + 2 * (v['srun'] + launch(nodes, v)))
    return tuple(found)


def first_node(holds):
    """Return the least number of nodes from which on holds (function int -> bool) is true; None: not at MOST_NODES."""
    if not holds(MOST_NODES):
        return None
    least, most = 0, MOST_NODES
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if holds(middle) else (middle, most)
    return most


def nodes_that_wait(image, seconds, system='LUMI-P'):
    """Return (fast, slow): from how many nodes on the one target of an image takes seconds (float) or more, or None."""
    return tuple(first_node(lambda nodes, end=end: parts('one stripe', nodes, 1, image, end, system)['reading']
                            >= seconds) for end in ('fast', 'slow'))


def nodes_that_gain(image, than, system='LUMI-P'):
    """
    Return (fast, slow): from how many nodes on staging and one start take less than a start in another way, or None.

    A start and its staging read the same image over the same network, so each end is compared with its own.
    """
    return tuple(first_node(lambda nodes, end=end: staging(nodes, image, system)[end]
                            + start('staged', nodes, 1, image, system)[end]
                            < start(than, nodes, 1, image, system)[end]) for end in (0, 1))


def starts_that_pay(nodes, image, than, system='LUMI-P'):
    """Return (fast, slow): how many starts of one job staging pays from, compared with another way; None: never."""
    found = []
    for end in (0, 1):
        saved = start(than, nodes, 1, image, system)[end] - start('staged', nodes, 1, image, system)[end]
        found.append(int(staging(nodes, image, system)[end] // saved) + 1 if saved > 0 else None)
    return tuple(found)

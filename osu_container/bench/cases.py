"""
The benchmarks, their placements and the tags that choose among them. Data only; plan.py works with it.

A new benchmark is an entry in BENCHMARKS, a new selection an entry in TAGS: nothing else names one.
"""
from __future__ import annotations

#: Buffers of the point-to-point benchmarks: host, device, in both directions, and managed memory
ALL_BUFFERS = ('H H', 'H D', 'D H', 'D D', 'M M')

#: benchmark -> kind: 'pair' (two ranks), 'pairs' (any even number of ranks), 'collective', 'one-sided', 'startup';
#: buffers: which it can take; sizes: it prints a table by message size; library: 'mpi' or 'xccl' (RCCL, NCCL)
BENCHMARKS = {
    'osu_bw': {'kind': 'pair', 'buffers': ALL_BUFFERS},
    'osu_bibw': {'kind': 'pair', 'buffers': ALL_BUFFERS},
    'osu_latency': {'kind': 'pair', 'buffers': ALL_BUFFERS},
    'osu_mbw_mr': {'kind': 'pairs', 'buffers': ('H H', 'D D')},
    'osu_multi_lat': {'kind': 'pairs', 'buffers': ('H H', 'D D')},
    'osu_get_bw': {'kind': 'one-sided', 'buffers': ('H H', 'D D')},
    'osu_put_latency': {'kind': 'one-sided', 'buffers': ('H H', 'D D')},
    'osu_alltoall': {'kind': 'collective', 'buffers': ('H H', 'D D')},
    'osu_allreduce': {'kind': 'collective', 'buffers': ('H H', 'D D')},
    'osu_allgather': {'kind': 'collective', 'buffers': ('H H', 'D D')},
    'osu_bcast': {'kind': 'collective', 'buffers': ('H H', 'D D')},
    'osu_barrier': {'kind': 'collective', 'buffers': ('',)},
    'osu_init': {'kind': 'startup', 'buffers': ('',)},
    'osu_xccl_bw': {'kind': 'pair', 'buffers': ('D D',), 'library': 'xccl'},
    'osu_xccl_latency': {'kind': 'pair', 'buffers': ('D D',), 'library': 'xccl'},
    'osu_xccl_allreduce': {'kind': 'collective', 'buffers': ('D D',), 'library': 'xccl'},
}

#: placement -> (nodes, ranks a node); None: as many ranks a node as it has GPUs, one where it has none
PLACEMENTS = {
    'two-nodes': (2, 1),
    'one-node': (1, 2),
    '8-ranks-over-2-nodes': (2, 4),
    **{f'{nodes}-nodes': (nodes, None) for nodes in (2, 4, 8, 16, 32, 64, 128)},
}

#: placement -> ranks that are spread over as many nodes as the job has: one a node while there are nodes, then more,
#: at most RANKS_A_NODE
SPREAD = {f'{ranks}-ranks': ranks for ranks in (2, 4, 8, 16, 32, 64, 128)}
RANKS_A_NODE = 4

#: Which placements a kind of benchmark runs in with the tag full
FULL = {
    'pair': ('two-nodes', 'one-node'),
    'pairs': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
    'one-sided': ('two-nodes', 'one-node'),
    'collective': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
    'startup': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
}
#: The documents ran alltoall on growing numbers of nodes
MANY_NODES = {'osu_alltoall': tuple(name for name in PLACEMENTS if name.endswith('-nodes') and name[0].isdigit())}

_DEIC = 'DeiC, four container approaches on LUMI-G, 2025-03-07'
_DEIC_PYTHON = 'DeiC, CuPy and mpi4py on LUMI, 2025-07'
_CSCS = 'CSCS, OSU image with Open MPI and CXI on Alps'
_HPE = 'HPE, libfabric swap'
_SARUS = 'CSCS, Sarus and the OSU Micro-Benchmarks on Piz Daint'

#: tag -> list of (benchmark, buffers or None for all that it takes, placement, options, source or reason)
#: options are arguments of the program; the largest message (-m) bounds the time of a run.
TAGS = {
    'demo': [
        ('osu_bw', ('H H',), 'two-nodes', ('-m', '4194304'), 'the table of `make demo`'),
        ('osu_latency', ('H H',), 'two-nodes', ('-m', '65536'),
         'larger messages would take most of the time, and the table ends at 64 KiB'),
    ],
    'quick': [
        ('osu_bw', ('H H', 'D D'), 'two-nodes', ('-m', '4194304'), 'large messages: is it the fast network?'),
        ('osu_latency', ('H H', 'D D'), 'two-nodes', ('-m', '65536'), 'small messages: 21 us and 8 KiB show here'),
        ('osu_alltoall', ('H H',), 'two-nodes', ('-m', '16384'), 'a collective'),
    ],
    'published': [
        ('osu_bw', ('H H', 'H D', 'D H', 'D D'), 'two-nodes', (), _DEIC),
        ('osu_latency', ('H H', 'H D', 'D H', 'D D'), 'two-nodes', (), _DEIC),
        ('osu_xccl_bw', None, 'two-nodes', (), _DEIC),
        ('osu_xccl_latency', None, 'two-nodes', (), _DEIC),
        ('osu_bw', ('H H', 'D D'), 'one-node', (), _DEIC_PYTHON + '; ' + _CSCS),
        ('osu_latency', ('H H', 'D D'), 'one-node', (), _DEIC_PYTHON + '; ' + _CSCS),
        ('osu_allgather', ('H H', 'D D'), 'one-node', (), _DEIC_PYTHON),
        ('osu_bibw', ('H H', 'D D'), 'two-nodes', (), _CSCS),
        ('osu_alltoall', ('H H', 'D D'), '8-ranks-over-2-nodes', (), _CSCS),
        ('osu_alltoall', ('H H',), 'two-nodes', (), _SARUS),
        ('osu_get_bw', ('H H',), 'two-nodes', (), _HPE),
    ],
    # the study of one host MPI under several images; the ports of the benchmarks cannot leave out small messages
    'sarus': [('osu_latency', ('H H',), '2-ranks', ('-m', '4194304'), _SARUS)] + [
        ('osu_alltoall', ('H H',), placement, ('-m', '1048576'), _SARUS) for placement in SPREAD],
    'alps': [
        ('osu_bw', ('H H', 'D D'), 'two-nodes', ('-m', '4194304'), _CSCS),
        ('osu_bw', ('H H', 'D D'), 'one-node', ('-m', '4194304'), _CSCS),
        ('osu_bibw', ('H H', 'D D'), 'two-nodes', ('-m', '4194304'), _CSCS),
        ('osu_latency', ('H H', 'D D'), 'one-node', ('-m', '4194304'), _CSCS + ' (D D)'),
        ('osu_alltoall', ('H H', 'D D'), '8-ranks-over-2-nodes', ('-m', '1048576'), _CSCS),
    ],
    'full': [(benchmark, None, placement, (), 'every benchmark in every placement')
             for benchmark, entry in BENCHMARKS.items()
             for placement in dict.fromkeys(FULL[entry['kind']] + MANY_NODES.get(benchmark, ()))],
}
#: What each tag is for, shown by --help
TAG_TITLES = {
    'quick': 'large and small messages and a collective, about two minutes',
    'published': 'the runs of the published documents',
    'sarus': 'native and images that all run the host\'s MPI: latency, and alltoall on ranks in powers of two',
    'alps': 'Open MPI on Alps: two ranks between and within nodes, alltoall with 8 ranks on 2 nodes',
    'full': 'every benchmark, buffers and placement',
    'demo': 'the two benchmarks of `make demo`',
}
#: Repeats of a tag unless --repeats says otherwise: with fewer than five, compare can hardly tell anything
REPEATS = {'demo': 5, 'quick': 2, 'published': 5, 'sarus': 5, 'alps': 5, 'full': 3, 'run': 5}
#: Seconds that a run takes, a guess for the first lines of progress: programs in a container start in about a second
GUESS = 3.0
#: Seconds after which a run is given up: MPI that waits for a lost peer never ends
TIME_LIMIT = 600

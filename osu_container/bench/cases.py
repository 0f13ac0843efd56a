"""
The benchmarks, their placements and the tags that choose among them. Data only; plan.py works with
it.

A new benchmark is an entry in BENCHMARKS, a new selection an entry in TAGS: nothing else names one.
Names, buffers and what takes -c: Makefile.am and c/util/osu_util_options.h of OSU 7.4, and the list
of 7.5.
"""

from __future__ import annotations

#: Buffers of the point-to-point benchmarks: host, device, in both directions, and managed memory
ALL_BUFFERS = ('H H', 'H D', 'D H', 'D D', 'M M')

HOST, BOTH, DEVICE, NONE = ('H H',), ('H H', 'D D'), ('D D',), ('',)


def _define_benchmarks(kind, buffers, names, form='osu_%s', **more):
    """Return entries of BENCHMARKS for names (str, words)."""
    return {form % name: {'kind': kind, 'buffers': buffers, **more} for name in names.split()}


_MOVED = 'allgather allgatherv alltoall alltoallv alltoallw'
_ROOTED = 'bcast gather gatherv reduce scatter scatterv'
_REDUCED = 'allreduce reduce_scatter'

#: benchmark -> kind: 'pair' (two ranks), 'pairs' (any even number of ranks), 'one-sided',
#: 'congestion' (several nodes and one), 'collective', 'neighbours' (a collective in which each rank
#: has two), 'startup'; buffers: which it can take; library: 'mpi' or 'xccl' (RCCL, NCCL)
BENCHMARKS = {
    **_define_benchmarks('pair', ALL_BUFFERS, 'bw bibw latency'),
    # they start threads or processes of their own, and have host memory alone
    # (enable_accel_support)
    **_define_benchmarks('pair', HOST, 'latency_mp latency_mt'),
    **_define_benchmarks('pair', BOTH, 'bw bibw latency', 'osu_%s_persistent'),
    **_define_benchmarks(
        'pair', HOST, 'partitioned_latency'
    ),  # from 7.5 on, where MPI 4 was enabled
    **_define_benchmarks('pairs', BOTH, 'mbw_mr multi_lat'),
    **_define_benchmarks('congestion', BOTH, 'bw_fan_in bw_fan_out'),
    **_define_benchmarks('one-sided', BOTH, 'get_bw get_latency put_bibw put_bw put_latency'),
    # a GPU's memory is no place for what they count by
    **_define_benchmarks('one-sided', HOST, 'acc_latency cas_latency fop_latency get_acc_latency'),
    **_define_benchmarks('collective', BOTH, f'{_MOVED} {_ROOTED} {_REDUCED} reduce_scatter_block'),
    **_define_benchmarks(
        'collective', BOTH, f'{_MOVED} {_ROOTED} {_REDUCED} reduce_scatter_block', 'osu_i%s'
    ),
    **_define_benchmarks('collective', BOTH, f'{_MOVED} {_ROOTED} {_REDUCED}', 'osu_%s_persistent'),
    **_define_benchmarks('collective', NONE, 'barrier ibarrier barrier_persistent'),
    # they have no option -d
    **_define_benchmarks('neighbours', HOST, _MOVED, 'osu_neighbor_%s'),
    **_define_benchmarks('neighbours', HOST, _MOVED, 'osu_ineighbor_%s'),
    **_define_benchmarks('startup', NONE, 'init'),
    **_define_benchmarks('pair', DEVICE, 'bw bibw latency', 'osu_xccl_%s', library='xccl'),
    **_define_benchmarks(
        'collective',
        DEVICE,
        'allgather allreduce alltoall bcast reduce reduce_scatter',
        'osu_xccl_%s',
        library='xccl',
    ),
}
#: Kinds whose programs take no words for buffers: all ranks have the same, and -d says which
COLLECTIVE = ('collective', 'neighbours')


def checks_data(benchmark):
    """
    Return True if a benchmark (str) can compare what arrives with what was sent (-c), in OSU 7.4
    and 7.5.
    """
    return (
        BENCHMARKS[benchmark]['kind'] in ('pair', 'pairs', *COLLECTIVE)
        and 'barrier' not in benchmark
    )


#: placement -> (nodes, ranks a node); None: as many ranks a node as it has GPUs, one where it has
#: none
PLACEMENTS = {
    'two-nodes': (2, 1),
    'one-node': (1, 2),
    '8-ranks-over-2-nodes': (2, 4),
    **{f'{nodes}-nodes': (nodes, None) for nodes in (2, 4, 8, 16, 32, 64, 128)},
}

#: Which placements a kind of benchmark runs in with the tag full
FULL = {
    'pair': ('two-nodes', 'one-node'),
    'pairs': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
    'one-sided': ('two-nodes', 'one-node'),
    # they tell nodes by their names, and end in an error where all have one
    'congestion': ('two-nodes', '8-ranks-over-2-nodes'),
    # with two ranks they end in an error that asks for more
    'neighbours': ('8-ranks-over-2-nodes',),
    'collective': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
    'startup': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
}
#: The documents ran alltoall on growing numbers of nodes
MANY_NODES = {
    'osu_alltoall': tuple(
        name for name in PLACEMENTS if name.endswith('-nodes') and name[0].isdigit()
    )
}

_DEIC = 'DeiC, four container approaches on LUMI-G, 2025-03-07'
_DEIC_PYTHON = 'DeiC, CuPy and mpi4py on LUMI, 2025-07'
_CSCS = 'CSCS, OSU image with Open MPI and CXI on Alps'
_HPE = 'HPE, libfabric swap'
_SARUS = 'CSCS, Sarus and the OSU Micro-Benchmarks on Piz Daint'

#: tag -> list of (benchmark, buffers or None for all that it takes, placement, options, source or
#: reason) options are arguments of the program; the largest message (-m) bounds the time of a run.
TAGS = {
    'demo': [
        (
            'osu_bw',
            ('H H',),
            'two-nodes',
            ('-m', '4194304', '-i', '10', '-x', '1'),
            'the table of `make demo`',
        ),
        (
            'osu_latency',
            ('H H',),
            'two-nodes',
            ('-m', '65536', '-i', '200', '-x', '10'),
            'larger messages would take most of the time, and the table ends at 64 KiB',
        ),
    ],
    'quick': [
        (
            'osu_bw',
            ('H H', 'D D'),
            'two-nodes',
            ('-m', '4194304'),
            'large messages: is it the fast network?',
        ),
        (
            'osu_latency',
            ('H H', 'D D'),
            'two-nodes',
            ('-m', '65536'),
            'small messages: 21 us and 8 KiB show here',
        ),
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
    'alps': [
        ('osu_bw', ('H H', 'D D'), 'two-nodes', ('-m', '4194304'), _CSCS),
        ('osu_bw', ('H H', 'D D'), 'one-node', ('-m', '4194304'), _CSCS),
        ('osu_bibw', ('H H', 'D D'), 'two-nodes', ('-m', '4194304'), _CSCS),
        ('osu_latency', ('H H', 'D D'), 'one-node', ('-m', '4194304'), _CSCS + ' (D D)'),
        ('osu_alltoall', ('H H', 'D D'), '8-ranks-over-2-nodes', ('-m', '1048576'), _CSCS),
    ],
    'full': [
        (benchmark, None, placement, (), 'every benchmark in every placement')
        for benchmark, entry in BENCHMARKS.items()
        for placement in dict.fromkeys(FULL[entry['kind']] + MANY_NODES.get(benchmark, ()))
    ],
}
#: What each tag is for, shown by --help
TAG_TITLES = {
    'quick': 'large and small messages and a collective, about two minutes',
    'published': 'the runs of the published documents',
    'alps': 'Open MPI on Alps: two ranks between and within nodes, alltoall with 8 ranks on 2 nodes',
    'full': 'every benchmark, buffers and placement',
    'demo': 'the two benchmarks of `make demo`',
}
#: Repeats of a tag unless --repeats says otherwise: with fewer than five, compare can hardly tell
#: anything
REPEATS = {'demo': 2, 'quick': 2, 'published': 5, 'alps': 5, 'full': 3, 'run': 5}
#: Seconds that a run takes, a guess for the first lines of progress: programs in a container start
#: in about a second
ESTIMATED_SECONDS = 3.0
#: Seconds after which a run is given up: MPI that waits for a lost peer never ends
TIME_LIMIT = 600

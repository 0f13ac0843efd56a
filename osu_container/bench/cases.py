"""
Define benchmarks, placements of ranks on nodes, and tags that select benchmarks.

To add a benchmark, add an entry to BENCHMARKS. To add a tag, which selects benchmarks, add an entry
to TAGS. No other file needs a change. The names of the benchmarks, the kinds of buffers, and the
option -c come from Makefile.am and c/util/osu_util_options.h of OSU 7.4, and from the list of
benchmarks of OSU 7.5.
"""

from __future__ import annotations

from typing import Any

#: Buffers of the point-to-point benchmarks: host, device, in both directions, and managed memory
ALL_BUFFERS = ('H H', 'H D', 'D H', 'D D', 'M M')

HOST, BOTH, DEVICE, NONE = ('H H',), ('H H', 'D D'), ('D D',), ('',)


def _define_benchmarks(
    kind: str, buffers: tuple[str, ...], names: str, form: str = 'osu_%s', **more: str
) -> dict[str, dict[str, Any]]:
    """
    Return {benchmark program: entry of BENCHMARKS} for several benchmarks of the same kind.

    names: short names separated by blanks, such as 'bw latency'
    form: format that turns a short name into the name of the program, such as 'osu_bw'
    """
    return {form % name: {'kind': kind, 'buffers': buffers, **more} for name in names.split()}


_MOVED = 'allgather allgatherv alltoall alltoallv alltoallw'
_ROOTED = 'bcast gather gatherv reduce scatter scatterv'
_REDUCED = 'allreduce reduce_scatter'

#: Benchmark -> kind: 'pair' (two ranks), 'pairs' (any even number of ranks), 'one-sided',
#: 'congestion' (several nodes send to one, or one to several), 'collective', 'neighbours' (a
#: collective in which each rank has two neighbours), 'startup'; buffers: those that the program
#: supports; library: 'xccl' for RCCL and NCCL, missing for MPI
BENCHMARKS = {
    **_define_benchmarks('pair', ALL_BUFFERS, 'bw bibw latency'),
    # These start threads or processes, and support only host memory (enable_accel_support).
    **_define_benchmarks('pair', HOST, 'latency_mp latency_mt'),
    **_define_benchmarks('pair', BOTH, 'bw bibw latency', 'osu_%s_persistent'),
    # Exists since 7.5, if built with MPI 4.
    **_define_benchmarks('pair', HOST, 'partitioned_latency'),
    **_define_benchmarks('pairs', BOTH, 'mbw_mr multi_lat'),
    **_define_benchmarks('congestion', BOTH, 'bw_fan_in bw_fan_out'),
    **_define_benchmarks('one-sided', BOTH, 'get_bw get_latency put_bibw put_bw put_latency'),
    # Their atomic counters cannot be in GPU memory.
    **_define_benchmarks('one-sided', HOST, 'acc_latency cas_latency fop_latency get_acc_latency'),
    **_define_benchmarks('collective', BOTH, f'{_MOVED} {_ROOTED} {_REDUCED} reduce_scatter_block'),
    **_define_benchmarks(
        'collective', BOTH, f'{_MOVED} {_ROOTED} {_REDUCED} reduce_scatter_block', 'osu_i%s'
    ),
    **_define_benchmarks('collective', BOTH, f'{_MOVED} {_ROOTED} {_REDUCED}', 'osu_%s_persistent'),
    **_define_benchmarks('collective', NONE, 'barrier ibarrier barrier_persistent'),
    # Without option -d they support only host memory.
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
#: Kinds whose programs take no arguments for buffers: option -d selects those of all ranks
COLLECTIVE = ('collective', 'neighbours')


def checks_data(benchmark: str) -> bool:
    """Return whether a benchmark of OSU 7.4 or 7.5 checks received data with the option -c."""
    return (
        BENCHMARKS[benchmark]['kind'] in ('pair', 'pairs', *COLLECTIVE)
        and 'barrier' not in benchmark
    )


#: Placement -> (nodes, ranks per node); None: one rank per GPU, or one per node without GPUs
PLACEMENTS: dict[str, tuple[int, int | None]] = {
    'two-nodes': (2, 1),
    'one-node': (1, 2),
    '8-ranks-over-2-nodes': (2, 4),
    **{f'{nodes}-nodes': (nodes, None) for nodes in (2, 4, 8, 16, 32, 64, 128)},
}

#: Kind of benchmark -> its placements in tag full
FULL: dict[str, tuple[str, ...]] = {
    'pair': ('two-nodes', 'one-node'),
    'pairs': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
    'one-sided': ('two-nodes', 'one-node'),
    # These tell nodes apart by name, and fail if all ranks are on one node.
    'congestion': ('two-nodes', '8-ranks-over-2-nodes'),
    # These fail with two ranks: each rank needs two neighbours.
    'neighbours': ('8-ranks-over-2-nodes',),
    'collective': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
    'startup': ('two-nodes', 'one-node', '8-ranks-over-2-nodes'),
}
#: Benchmark -> more placements in tag full: the published documents scale alltoall over nodes
MANY_NODES = {
    'osu_alltoall': tuple(
        name for name in PLACEMENTS if name.endswith('-nodes') and name[0].isdigit()
    )
}

_DEIC = 'DeiC, comparison of four container approaches on LUMI-G, 2025-03-07'
_DEIC_PYTHON = 'DeiC, benchmarks of CuPy and mpi4py on LUMI, 2025-07'
_CSCS = 'CSCS, runs of an OSU image with Open MPI and CXI on Alps'
_HPE = 'HPE, libfabric swap'
_SARUS = 'CSCS, OSU Micro-Benchmarks with the runtime Sarus on Piz Daint'

#: Tag -> list of (benchmark, buffers or None for all that it supports, placement, arguments of the
#: program, source or reason). The largest message (-m) limits the time of a run.
TAGS: dict[str, list[tuple[str, tuple[str, ...] | None, str, tuple[str, ...], str]]] = {
    'demo': [
        (
            'osu_latency',
            ('H H',),
            'two-nodes',
            ('-m', '1:65536', '-i', '2000', '-x', '100', '-z1'),
            '`make demo` prints a low percentile of the measured latencies, because other '
            'processes on the machine hardly change a low percentile',
        ),
    ],
    'quick': [
        (
            'osu_bw',
            ('H H', 'D D'),
            'two-nodes',
            ('-m', '4194304'),
            'benchmarks with large messages measure the bandwidth of the network',
        ),
        (
            'osu_latency',
            ('H H', 'D D'),
            'two-nodes',
            ('-m', '65536'),
            'small messages show latency problems; two published problems are 21 us of additional '
            'latency with GPU buffers, and a jump of the latency at 8 KiB',
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
#: Tag -> options of the mpi4py ports in place of those above. The programs of all modules then run
#: at the same time, each in its turn of 0.1 seconds: a processor of a virtual machine changes its
#: speed by half within a second, and in turns all modules meet the same speeds.
TURN_OPTIONS = {
    'demo': ('-m', '1:65536:65536', '-i', '1000000', '-x', '100', '-z1', '--seconds', '0.8')
}
#: Environment of programs that take turns. srun: they use the nodes together. MPICH 5: a waiting rank
#: keeps its processor; otherwise a busy process gets the processor for milliseconds at each poll,
#: which MPICH 4.2 does not do, so that these releases would not compare.
TURN_VARIABLES = {'SLURM_OVERLAP': '1', 'MPIR_CVAR_POLLS_BEFORE_YIELD': '0'}
#: Purpose of each tag, for --help
TAG_TITLES = {
    'quick': 'measure osu_bw, osu_latency and osu_alltoall between two nodes, which takes about '
    'two minutes',
    'published': 'measure all benchmarks that have results in publications of DeiC, CSCS and HPE',
    'alps': "repeat CSCS's runs of Open MPI on Alps: two ranks on two nodes or on one node, and "
    "alltoall with 8 ranks on 2 nodes",
    'full': 'measure all benchmarks with all kinds of buffers and all placements of ranks',
    'demo': 'measure the benchmark of `make demo`',
}
#: Default of --repeats by tag: with fewer than five repeats, compare rarely finds a difference
REPEATS = {'demo': 2, 'quick': 2, 'published': 5, 'alps': 5, 'full': 3, 'run': 5}
#: Estimated seconds per run, for the time limit of the job: containers start in about a second
ESTIMATED_SECONDS = 3.0
#: Seconds after which a run is terminated: MPI waits forever for a lost peer
TIME_LIMIT = 600

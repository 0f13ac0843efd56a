"""
How much slower is worse: the margin of each benchmark, as a fraction. Data only.

A margin holds at every message size of a benchmark: small messages and collectives are judged as
strictly as large ones. It is meant as a factor: with 0.05 values are equal from 1 / 1.05 to 1.05
times the other, so that A against B and B against A give mirrored verdicts.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Margin:
    """
    A row of the table.

    benchmarks  pattern of names of programs; the first row that fits counts
    repeated    margin where both sides were repeated: what is worth a look (noise is measured apart from it)
    single      margin where a side has a single value, whose noise is unknown: the margin has to hold that too
    why, source of both numbers
    """

    benchmarks: str
    repeated: float
    single: float
    why: str
    source: str


_STRICT = 'as strict as two ranks: a collective is what a program waits for'
_TWO_RUNS = (
    'the same stack measured twice: 95 % of the native values between two nodes of LUMI-G (lumi-native-'
    '2026-03, Cray MPICH 9.0.1, hardware and hybrid matching) differ by less than 5 %. bind, which loads the '
    'libraries of native and is on par with it for its authors, differs from it by less than 10 % at 95 % of '
    'the sizes of osu_bw and osu_latency (lumi-g-2025-03)'
)

#: The first row whose pattern fits a benchmark counts
MARGINS = (
    Margin(
        'osu_init',
        0.10,
        0.25,
        'start-up reads files, whose caches differ from start to start; a tenth of a second '
        'more is worth a look, a few ms are not',
        'own choice, not derived from published figures',
    ),
    Margin(
        'osu_xccl_*',
        0.05,
        0.15,
        'between two GPUs over RCCL; single values of the same stack differ by more than '
        'those of MPI',
        'bind against native, RCCL on both sides: up to 14 % apart at 95 % of the sizes '
        '(lumi-g-2025-03)',
    ),
    Margin(
        'osu_*bw*', 0.05, 0.10, 'a loss of 5 % is more than two runs of one stack differ', _TWO_RUNS
    ),
    Margin('osu_*latency*', 0.05, 0.10, 'the same for times', _TWO_RUNS),
    Margin('osu_*', 0.05, 0.10, _STRICT, _TWO_RUNS),
    Margin(
        'IMB *',
        0.05,
        0.10,
        'the Intel MPI Benchmarks: times and bandwidths as those of `osu_*`',
        'own choice, not derived from published figures',
    ),
    Margin(
        'xccl *',
        0.05,
        0.15,
        'nccl-tests and rccl-tests: as `osu_xccl_*`',
        'own choice, not derived from published figures',
    ),
    Margin(
        '$ *',
        0.05,
        0.25,
        'a command of your own (`bench --run`): a loss of 5 % is worth a look; its start is in '
        'its time, so a single value says little',
        'own choice, not derived from published figures',
    ),
)


def find_margin_row(benchmark):
    """
    Return the Margin of a benchmark (str, name of the program). Raises KeyError for what is no
    OSU benchmark.
    """
    for row in MARGINS:
        if fnmatch.fnmatchcase(benchmark, row.benchmarks):
            return row
    raise KeyError(benchmark)


def select_margin(benchmark, *, repeated):
    """
    Return the margin (float, fraction) of a benchmark (str); repeated: bool, both sides have
    repeats.
    """
    row = find_margin_row(benchmark)
    return row.repeated if repeated else row.single

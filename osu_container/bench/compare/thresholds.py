"""
The margin of each benchmark: how much slower is worse, as a fraction. Data only.

A margin holds at every message size: small messages and collectives are judged as strictly as
large ones. It is a factor: with 0.05, values from 1 / 1.05 to 1.05 times the other are equal, so
that A against B and B against A give mirrored verdicts.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Margin:
    """A row of the table."""

    #: pattern of program names; the first row that matches counts
    benchmarks: str
    #: margin if both sides were repeated, so that their noise is measured apart from it
    repeated: float
    #: margin if a side has a single value, which has to cover the unknown noise as well
    single: float
    #: reason and source of both margins
    why: str
    source: str


_STRICT = 'as strict as two ranks: a collective is what a program waits for'
_TWO_RUNS = (
    'the same stack measured twice: 95 % of the native values between two nodes of LUMI-G (lumi-native-'
    '2026-03, Cray MPICH 9.0.1, hardware and hybrid matching) differ by less than 5 %. bind, which loads the '
    'libraries of native and is on par with it for its authors, differs from it by less than 10 % at 95 % of '
    'the sizes of osu_bw and osu_latency (lumi-g-2025-03)'
)

#: The first row whose pattern matches a benchmark counts
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


def find_margin_row(benchmark: str) -> Margin:
    """Return the row of a benchmark (a program's name). Raises KeyError if there is none."""
    for row in MARGINS:
        if fnmatch.fnmatchcase(benchmark, row.benchmarks):
            return row
    raise KeyError(benchmark)


def select_margin(benchmark: str, *, repeated: bool) -> float:
    """Return the margin of a benchmark; repeated: both sides have repeats."""
    row = find_margin_row(benchmark)
    return row.repeated if repeated else row.single

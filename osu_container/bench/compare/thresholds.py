"""
Define the margin of each benchmark: the largest difference that counts as equal.

This Python module contains only data. A margin is a fraction and is valid for every message size,
so small messages and collectives are judged as strictly as large messages. A margin is applied as a
factor: with a margin of 0.05, a value between 1 / 1.05 and 1.05 times the other value counts as
equal. For this reason, the verdict on B against A mirrors the verdict on A against B.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Margin:
    """A row of MARGINS: the margins of the benchmarks with names that match a pattern."""

    #: pattern of program names
    benchmarks: str
    #: margin if both sides have repeats, whose noise the statistical test accounts for
    repeated: float
    #: margin if a side has a single value: the margin then also covers the unknown noise
    single: float
    #: reason for both margins and its source
    why: str
    source: str


_STRICT = (
    'collectives have the same margins as benchmarks with two ranks, because programs wait '
    'until a collective is complete'
)
_TWO_RUNS = (
    'in the published dataset lumi-native-2026-03 (Cray MPICH 9.0.1, two nodes of LUMI-G), a '
    'native run with FI_CXI_RX_MATCH_MODE=hardware and a native run with '
    'FI_CXI_RX_MATCH_MODE=hybrid differ by less than 5 % in 95 % of the values. Approach bind '
    'loads the same libraries as native benchmarks. In the published dataset lumi-g-2025-03, the '
    'results of approach bind differ from the native results by less than 10 % at 95 % of the '
    'message sizes of osu_bw and osu_latency, and the authors call approach bind on par with '
    'native'
)

#: The first row whose pattern matches a benchmark applies
MARGINS = (
    Margin(
        'osu_init',
        0.10,
        0.25,
        'the time of MPI_Init varies, because MPI_Init reads files that may or may not be in the '
        'file cache. A loss of a tenth of a second matters, but a loss of a few ms does not matter',
        'this project chose the margins for repeated and for single values itself, because nobody '
        'has published suitable results',
    ),
    Margin(
        'osu_xccl_*',
        0.05,
        0.15,
        'single values between two GPUs over RCCL vary more than single values over MPI, even with '
        'the same software',
        'in the published dataset lumi-g-2025-03, the values of RCCL with approach bind differ '
        'from the native values by up to 14 % at 95 % of the message sizes',
    ),
    Margin(
        'osu_*bw*',
        0.05,
        0.10,
        'the values of two runs of the same software differ by less than 5 %',
        _TWO_RUNS,
    ),
    Margin(
        'osu_*latency*',
        0.05,
        0.10,
        'the values of two runs of the same software differ by less than 5 %',
        _TWO_RUNS,
    ),
    Margin('osu_*', 0.05, 0.10, _STRICT, _TWO_RUNS),
    Margin(
        'IMB *',
        0.05,
        0.10,
        'the Intel MPI Benchmarks measure the same operations as the benchmarks `osu_*`',
        'this project chose the margins for repeated and for single values itself, because nobody '
        'has published suitable results',
    ),
    Margin(
        'xccl *',
        0.05,
        0.15,
        'nccl-tests and rccl-tests measure the same operations as the benchmarks `osu_xccl_*`',
        'this project chose the margins for repeated and for single values itself, because nobody '
        'has published suitable results',
    ),
    Margin(
        '$ *',
        0.05,
        0.25,
        'for a command of the user (`osu-container bench --run`), a loss of 5 % matters. A single '
        'value is less reliable, because the measured time includes the startup',
        'this project chose the margins for repeated and for single values itself, because nobody '
        'has published suitable results',
    ),
)


def find_margin_row(benchmark: str) -> Margin:
    """
    Return the row of MARGINS that applies to a benchmark program.

    Raises KeyError if no row applies.
    """
    for row in MARGINS:
        if fnmatch.fnmatchcase(benchmark, row.benchmarks):
            return row
    raise KeyError(benchmark)


def select_margin(benchmark: str, *, repeated: bool) -> float:
    """
    Return the margin of a benchmark as a fraction.

    repeated: whether both sides of the comparison have repeated measurements
    """
    row = find_margin_row(benchmark)
    return row.repeated if repeated else row.single

"""
The margin of each benchmark: the difference that still counts as equal, as a fraction. Data only.

A margin holds at every message size: small messages and collectives are judged as strictly as
large messages. A margin is a factor: with 0.05, a value from 1 / 1.05 to 1.05 times the other value
counts as equal. So comparing B with A gives the mirrored verdict of comparing A with B.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass


@dataclass(frozen=True)
class Margin:
    """Margins of the benchmarks that match a pattern."""

    #: pattern of program names
    benchmarks: str
    #: margin if both sides have repeats, whose noise the statistical test accounts for
    repeated: float
    #: margin if a side has a single value: the margin then also covers the unknown noise
    single: float
    #: reason for both margins and its source
    why: str
    source: str


_STRICT = 'as strict as between two ranks, because programs wait for collectives'
_TWO_RUNS = (
    'the same software measured twice: 95 % of the native values between two nodes of LUMI-G (lumi-native-'
    '2026-03, Cray MPICH 9.0.1, hardware and hybrid matching) differ by less than 5 %. Approach bind loads the '
    'libraries of native. It differs from native by less than 10 % at 95 % of the sizes of osu_bw and '
    'osu_latency (lumi-g-2025-03), and its authors call it on par with native'
)

#: The first row whose pattern matches a benchmark applies
MARGINS = (
    Margin(
        'osu_init',
        0.10,
        0.25,
        'startup reads files, and file caches differ between starts: an additional tenth of a '
        'second matters, a few ms do not',
        'chosen by this project, not derived from published figures',
    ),
    Margin(
        'osu_xccl_*',
        0.05,
        0.15,
        'between two GPUs over RCCL: single values of the same software differ more than '
        'single values of MPI',
        'bind against native, RCCL on both sides: up to 14 % apart at 95 % of the sizes '
        '(lumi-g-2025-03)',
    ),
    Margin(
        'osu_*bw*', 0.05, 0.10, 'two runs of the same software differ by less than 5 %', _TWO_RUNS
    ),
    Margin(
        'osu_*latency*',
        0.05,
        0.10,
        'two runs of the same software differ by less than 5 %',
        _TWO_RUNS,
    ),
    Margin('osu_*', 0.05, 0.10, _STRICT, _TWO_RUNS),
    Margin(
        'IMB *',
        0.05,
        0.10,
        'the Intel MPI Benchmarks measure what `osu_*` measure',
        'chosen by this project, not derived from published figures',
    ),
    Margin(
        'xccl *',
        0.05,
        0.15,
        'nccl-tests and rccl-tests measure what `osu_xccl_*` measure',
        'chosen by this project, not derived from published figures',
    ),
    Margin(
        '$ *',
        0.05,
        0.25,
        'a command of the user (`bench --run`): a loss of 5 % matters. The measured time contains '
        'the startup, so a single value is less reliable',
        'chosen by this project, not derived from published figures',
    ),
)


def find_margin_row(benchmark: str) -> Margin:
    """Return the row of MARGINS that applies to a program. Raises KeyError if none matches."""
    for row in MARGINS:
        if fnmatch.fnmatchcase(benchmark, row.benchmarks):
            return row
    raise KeyError(benchmark)


def select_margin(benchmark: str, *, repeated: bool) -> float:
    """Return the margin of a benchmark as a fraction; repeated: both sides have repeats."""
    row = find_margin_row(benchmark)
    return row.repeated if repeated else row.single

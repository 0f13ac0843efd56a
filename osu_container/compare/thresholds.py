"""
How much slower is worse: the margin of each benchmark, as a fraction; and when a difference is called small or large.
Data only.

A margin holds at every message size of a benchmark: small messages and collectives are judged as strictly as large
ones. It is meant as a factor: with 0.05 values are equal from 1 / 1.05 to 1.05 times the other, so that A against B and
B against A give mirrored verdicts.
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
_TWO_RUNS = ('the same stack measured twice: 95 % of the native values between two nodes of LUMI-G (lumi-native-'
             '2026-03, Cray MPICH 9.0.1, hardware and hybrid matching) differ by less than 5 %. bind, which loads the '
             'libraries of native and is on par with it for its authors, differs from it by less than 10 % at 95 % of '
             'the sizes of osu_bw and osu_latency (lumi-g-2025-03)')

#: The first row whose pattern fits a benchmark counts
MARGINS = (
    Margin('osu_init', 0.10, 0.25, 'start-up reads files, whose caches differ from start to start; a tenth of a second '
           'more is worth a look, a few ms are not', 'own choice, not derived from published figures'),
    Margin('osu_xccl_*', 0.05, 0.15, 'between two GPUs over RCCL; single values of the same stack differ by more than '
           'those of MPI', 'bind against native, RCCL on both sides: up to 14 % apart at 95 % of the sizes '
           '(lumi-g-2025-03)'),
    Margin('osu_*bw*', 0.05, 0.10, 'a loss of 5 % is more than two runs of one stack differ', _TWO_RUNS),
    Margin('osu_*latency*', 0.05, 0.10, 'the same for times', _TWO_RUNS),
    Margin('osu_*', 0.05, 0.10, _STRICT, _TWO_RUNS),
    Margin('IMB *', 0.05, 0.10, 'the Intel MPI Benchmarks: times and bandwidths as those of `osu_*`', 'own choice, not '
           'derived from published figures'),
    Margin('xccl *', 0.05, 0.15, 'nccl-tests and rccl-tests: as `osu_xccl_*`', 'own choice, not derived from published '
           'figures'),
    Margin('$ *', 0.05, 0.25, 'a command of your own (`bench --run`): a loss of 5 % is worth a look; its start is in '
           'its time, so a single value says little', 'own choice, not derived from published figures'),
)


#: How much better or worse, by how many times at the furthest size that is: (word, from so many times on). A quarter is
#: what a run has to pay for before anybody changes a job for it; from twice on something else runs than was meant
#: (TCP in place of the fast network is 10 times). Own choice, not derived from published figures
DEGREES = (('slightly', 1.0), ('clearly', 1.25), ('much', 2.0))


def degree_of(times):
    """Return the word (str) of DEGREES for a difference of so many times (float, >= 1)."""
    return next(word for word, least in reversed(DEGREES) if times >= least)


def degrees_text():
    """Return DEGREES in words (str): 'slightly: less than 1.25 times; clearly: 1.25 to 2 times; ...'."""
    limits = [least for _, least in DEGREES[1:]]
    parts = [f'{DEGREES[0][0]}: less than {limits[0]:g} times']
    parts += [f'{word}: {least:g} to {most:g} times' for (word, least), most in zip(DEGREES[1:], limits[1:])]
    return '; '.join([*parts, f'{DEGREES[-1][0]}: {limits[-1]:g} times or more'])


def margin_row(benchmark):
    """Return the Margin of a benchmark (str, name of the program). Raises KeyError for what is no OSU benchmark."""
    for row in MARGINS:
        if fnmatch.fnmatchcase(benchmark, row.benchmarks):
            return row
    raise KeyError(benchmark)


def margin_of(benchmark, *, repeated, overrides=None):
    """
    Return the margin (float, fraction) of a benchmark (str).

    :param repeated: bool, both sides have repeats
    :param overrides: {name or pattern of a benchmark: fraction} that go before the table, the last one that fits counts
    """
    for pattern, value in reversed(list((overrides or {}).items())):
        if fnmatch.fnmatchcase(benchmark, pattern):
            return value
    row = margin_row(benchmark)
    return row.repeated if repeated else row.single

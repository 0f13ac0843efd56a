"""osu-container compare A [B...]: the command line of the comparison."""
from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import os
import sys

from osu_container.core import terminal

from ..results import references, run_files, select
from . import comparison_text, troubles
from .statistics import CompareError, against_native, compare_datasets, without_verdict
from .thresholds import degrees_text, margin_row

#: Exit codes. argparse gives 2 for wrong usage, the command osu-container 130 where it was interrupted
FINE, WORSE, IMPOSSIBLE = 0, 1, 3
#: verdicts that make the exit code WORSE, by --fail-on
FAILS = {'worse': ('worse',), 'noisy': ('worse', 'noisy', 'rounded'), 'never': ()}
ERRORS = (CompareError, select.SelectError, run_files.ResultsError, OSError)

EPILOG = f"""
A and B are runs (a folder, a results.jsonl, a name, or latest), published figures (osu-container
reference list), or outputs of OSU's programs (osu-container import --help). :NAME behind one takes
one approach or series of it.
A alone: every approach of a run against its native. With B: what both measured, A against each B.

  osu-container compare latest
      every approach of the newest run against its native
  osu-container compare latest lumi-g-2025-03
      each approach against the published one of the same name
  osu-container compare latest:hybrid last-week:hybrid
      an approach against an older run of it
  osu-container compare lumi-g-2025-03:opensource --only 'osu_latency D D*'
      one published curve against native

A run against figures that were published for another machine: ratios without a verdict.

How much better or worse, at the size where the difference is largest:
{degrees_text()}.

Method, margins and the known troubles: docs/compare.md.
"""


def add_arguments(parser):
    """Add the options to the parser of `osu-container compare`."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add('a', metavar='A', help="what is judged: a run, a module, published figures")
    add('b', metavar='B', nargs='*', help="what it is compared with (default: native of the same run)")
    add('--only', action='append', default=[], metavar='PATTERN',
        help="only cases whose benchmark or title fits, as in 'osu_bw' or '*D D, two nodes' (can be repeated)")
    add('--sizes', action=argparse.BooleanOptionalAction, default=None,
        help="the table of every message size too (default: where there are two curves or fewer)")
    add('--threshold', action='append', default=[], type=_threshold, metavar='NAME=FRACTION',
        help="margin within which values are equal, as in osu_bw=0.1 or 'osu_*=0.02' (can be repeated, the last "
             "counts)")
    add('--fail-on', choices=sorted(FAILS), default='worse',
        help="what gives exit code 1: worse (default), noisy (worse, or cannot be told), never")
    add('--json', action='store_true', help="all of it for programs")
    parser.set_defaults(function=compare, prog='osu-container compare', errors=ERRORS,
                        after_interrupt="nothing was written")


def _threshold(value):
    """Return (pattern, fraction) of NAME=FRACTION. Raises ArgumentTypeError."""
    name, _, number = value.partition('=')
    try:
        fraction = float(number)
    except ValueError:
        fraction = -1.0
    if not name or not 0 < fraction <= 1:
        raise argparse.ArgumentTypeError(f"{value!r}, wanted NAME=FRACTION with a fraction above 0 and up to 1, as in "
                                         "osu_bw=0.1 for 10 %")
    try:
        margin_row(name)
    except KeyError as err:
        raise argparse.ArgumentTypeError(f"{name!r} is no OSU benchmark, wanted osu_bw, 'osu_xccl_*' or the "
                                         "like") from err
    return name, fraction


def compare(options):
    """Print the comparison; return the exit code."""
    try:
        result = collect(options.a, options.b, only=options.only, thresholds=dict(options.threshold))
    except ERRORS as err:  # not in main(), whose exit code 1 would mean: something is worse
        print(f"{options.prog}: error: {err}", file=sys.stderr)
        return IMPOSSIBLE
    if options.json:
        json.dump(comparison_text.as_json(result), sys.stdout, indent=1, allow_nan=False)
        sys.stdout.write('\n')
    else:
        colour = sys.stdout.isatty() and not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'
        terminal.obeyed(comparison_text.plain(result, sizes=options.sizes, colour=colour))
    return WORSE if comparison_text.verdict_of(result) in FAILS[options.fail_on] else FINE


def collect(a, others=(), *, only=(), thresholds=None):
    """
    Compare what a user names; return the result as dict: comparisons (list of Comparison), troubles (of
    comparison_text.troubles_of), failed (list of (name, Case, reason): what A failed to measure and the other side
    has), notes (list of str).

    :param a, others: as on the command line (str, of str); only: patterns of cases; thresholds: {pattern: fraction}
    Raises CompareError, SelectError, ResultsError, OSError.
    """
    first = select.resolve(a)
    if others:
        pairs = [(first, select.resolve(other)) for other in others]
    else:
        pairs = [(_with_native(first), None)]
    comparisons, failed, sides, alone = [], [], [], []
    for one, other in pairs:
        one, other = _only(one, only), other and _only(other, only)
        native = one.facts.get('native') or 'native'
        found = against_native(one, thresholds) if other is None else compare_datasets(one, other, thresholds)
        elsewhere = other is not None and references.other_machine(one, other)
        if elsewhere:
            found = [without_verdict(comparison, elsewhere) for comparison in found]
        judged = [series for series in one.series if other is not None or series.name != native]
        alone += _alone(judged, found, one.name, native if other is None else other.name)
        failed += _failed(one, one.of(name=native), native) if other is None else _failed(one, other.series)
        comparisons += found
        sides += [one] if other is None else [one, other]
    _check_thresholds(thresholds, comparisons)
    return {'comparisons': comparisons, 'troubles': comparison_text.troubles_of(_troubles(comparisons, sides), sides),
            'failed': list(dict.fromkeys(failed)), 'notes': alone + _notes(comparisons, sides)}


def _alone(judged, comparisons, name, other):
    """Return what was not compared as notes (list of str). judged: series of A; name, other: of the datasets (str)."""
    compared = {id(one.a) for one in comparisons}
    left = [one for one in judged if id(one) not in compared]
    if not left:
        return []
    shown = '; '.join(f'{one.name} {one.case.title}' for one in left[:4]) + ('; ...' if len(left) > 4 else '')
    return [f"{len(left)} curve{'s' if len(left) > 1 else ''} of {name} not compared, as {other} has no such: {shown}"]


def _check_thresholds(thresholds, comparisons):
    """Raise CompareError if a margin was given for nothing that was compared: a misspelt name must not pass."""
    benchmarks = {one.case.benchmark for one in comparisons}
    for pattern in thresholds or {}:
        if not fnmatch.filter(benchmarks, pattern):
            raise CompareError(f"--threshold {pattern}: nothing of that name was compared, only "
                               f"{', '.join(sorted(benchmarks))}")


def _with_native(dataset):
    """Return a Dataset with the native series of its run or publication, where one approach of it was named."""
    native = dataset.facts.get('native') or 'native'
    if native in dataset.names:
        return dataset
    if dataset.kind == 'run' and dataset.path:
        whole = run_files.read(dataset.path)
    elif dataset.kind == 'published':
        whole = references.get(dataset.name)
    else:
        return dataset
    return whole.only(native, *dataset.names) if native in whole.names else dataset


def _only(dataset, patterns):
    """Return a Dataset with the cases that fit one of the patterns (list of str), itself without patterns."""
    if not patterns:
        return dataset

    def fits(case):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns for name in (case.benchmark, case.title))

    kept = [one for one in dataset.series if fits(one.case)]
    if not kept:
        raise CompareError(f"{dataset.name} has no case that fits {' or '.join(patterns)}; it has: "
                           + '; '.join(case.title for case in dataset.cases[:20])
                           + (f'; and {len(dataset.cases) - 20} more' if len(dataset.cases) > 20 else ''))
    return dataclasses.replace(dataset, series=kept, failures=[one for one in dataset.failures if fits(one.case)])


def _failed(dataset, series, without=None):
    """Return [(name, Case, reason)] of what a Dataset has no figures of because it failed, and series measured."""
    there = {one.case for one in series}
    has = {(one.case, one.name) for one in dataset.series}
    return [(one.name, one.case, one.reason) for one in dataset.failures
            if not one.skipped and one.name != without and one.case in there and (one.case, one.name) not in has]


def _troubles(comparisons, sides):
    """Return [(Dataset, Series, [Trouble])] of the curves that were compared."""
    compared = {id(series) for one in comparisons for series in (one.a, one.b)}
    found = {}
    for side in sides:
        for series, shapes in troubles.of_dataset(side):
            if id(series) in compared:
                found[id(series)] = (side, series, shapes)
    return list(found.values())


def _notes(comparisons, sides):
    """Return what stands below the tables (list of str), each once."""
    notes = [problem for side in sides for problem in side.problems]
    by_note = {}
    for one in comparisons:
        for note in one.notes:
            by_note.setdefault(note, []).append(one)
    for note, curves in by_note.items():
        several = f' ({len(curves)} curves)' if len(curves) > 1 else f' ({curves[0].case.title})'
        notes.append(note + several)
    methods = {}
    for one in comparisons:
        methods.setdefault(one.method, []).append(one)
    for method, curves in methods.items():
        benchmarks = sorted({one.case.benchmark for one in curves})
        notes.append(method + (f" ({', '.join(benchmarks)})" if len(methods) > 1 else '') + '.')
    kinds = {one.case.more_is_better for one in comparisons}
    better = {(True,): 'more is better', (False,): 'less is better',
              (False, True): 'for bandwidth more is better, for times less'}[tuple(sorted(kinds))]
    notes.append(f"Ratios are A / B; {better}.")
    return list(dict.fromkeys(notes))

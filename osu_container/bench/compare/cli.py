"""osu-container compare A [B...]: the command line of the comparison."""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import sys

from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.compare.statistics import (
    CompareError,
    compare_datasets,
    compare_with_native,
    format_cases,
    remove_verdicts,
)
from osu_container.bench.results import references, run_files, select

#: Exit codes. argparse gives 2 for wrong usage, the command osu-container 130 where it was
#: interrupted
FINE, WORSE, IMPOSSIBLE = 0, 1, 3
#: verdicts that make the exit code WORSE, by --fail-on
FAILING_VERDICTS = {'worse': ('worse',), 'noisy': ('worse', 'noisy', 'rounded'), 'never': ()}
ERRORS = (CompareError, select.SelectError, run_files.ResultsError, OSError)

EPILOG = """
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

Method, margins and the known troubles: docs/compare.md.
"""


def add_arguments(parser):
    """Add the options to the parser of `osu-container compare`."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add(
        'a',
        metavar='A',
        help="what is judged: a run, published figures, or the output of a program",
    )
    add(
        'b',
        metavar='B',
        nargs='*',
        help="what it is compared with (default: native of the same run)",
    )
    add(
        '--only',
        action='append',
        default=[],
        metavar='PATTERN',
        help="only cases whose benchmark or title fits, as in 'osu_bw' or '*D D, two nodes' (can be repeated)",
    )
    add(
        '--sizes',
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the table of every message size too (default: where there are two curves or fewer)",
    )
    add(
        '--fail-on',
        choices=sorted(FAILING_VERDICTS),
        default='worse',
        help="what gives exit code 1: worse (default), noisy (worse, or cannot be told), never",
    )
    add('--json', action='store_true', help="machine-readable output")
    parser.set_defaults(
        function=compare,
        prog='osu-container compare',
        errors=ERRORS,
        after_interrupt="nothing was written",
    )


def compare(options):
    """Print the comparison; return the exit code."""
    try:
        result = collect_comparisons(options.a, options.b, case_patterns=options.only)
    except ERRORS as err:  # not in main(), whose exit code 1 would mean: something is worse
        print(f"{options.prog}: error: {err}", file=sys.stderr)
        return IMPOSSIBLE
    if options.json:
        json.dump(
            comparison_text.serialize_comparisons(result), sys.stdout, indent=1, allow_nan=False
        )
        sys.stdout.write('\n')
    else:
        print(comparison_text.format_comparisons(result, sizes=options.sizes), end='')
    return (
        WORSE
        if comparison_text.select_worst_verdict(result) in FAILING_VERDICTS[options.fail_on]
        else FINE
    )


def collect_comparisons(a, others=(), *, case_patterns=()):
    """
    Compare what a user names; return the result (dict).

    Its keys: comparisons (list of Comparison), troubles (of troubles.recognised()), failed (list of
    (name, Case, reason): what A failed to measure and the other side has), notes (list of str).

    :param a, others: as on the command line (str, of str); only: patterns of cases
    Raises CompareError, SelectError, ResultsError, OSError.
    """
    first = select.resolve_dataset(a)
    first = _filter_cases(first if others else _add_native(first), case_patterns)
    comparisons, failed, notes, sides = [], [], [], [first]
    if not others:
        native = first.facts.get('native') or 'native'
        comparisons = compare_with_native(first)
        failed = _list_failures(first, first.select_series(name=native), native)
        notes = _format_uncompared_curves(
            [series for series in first.series if series.name != native],
            comparisons,
            first.name,
            native,
        )
    for other in others:
        sides.append(_filter_cases(select.resolve_dataset(other), case_patterns))
        found = compare_datasets(first, sides[-1])
        elsewhere = references.find_machine_mismatch(first, sides[-1])
        comparisons += [remove_verdicts(one, elsewhere) for one in found] if elsewhere else found
        failed += _list_failures(first, sides[-1].series)
        notes += _format_uncompared_curves(first.series, found, first.name, other)
    return {
        'comparisons': comparisons,
        'troubles': troubles.find_troubles(sides),
        'failed': list(dict.fromkeys(failed)),
        'notes': notes + _collect_notes(comparisons, sides),
    }


def _format_uncompared_curves(judged, comparisons, name, other):
    """
    Return what was not compared as notes (list of str). judged: series of A; name, other: of the
    datasets (str).
    """
    compared = {id(one.a) for one in comparisons}
    left = [one for one in judged if id(one) not in compared]
    if not left:
        return []
    shown = '; '.join(f'{one.name} {one.case.title}' for one in left[:4]) + (
        '; ...' if len(left) > 4 else ''
    )
    return [
        f"{len(left)} curve{'s' if len(left) > 1 else ''} of {name} not compared, as {other} has no such: {shown}"
    ]


def _add_native(dataset):
    """
    Return a Dataset with the native series of its run or publication, where one approach of it
    was named.
    """
    native = dataset.facts.get('native') or 'native'
    if native in dataset.names:
        return dataset
    if dataset.kind == 'run' and dataset.path:
        whole = run_files.read_results(dataset.path)
    elif dataset.kind == 'published':
        whole = references.read_dataset(dataset.name)
    else:
        return dataset
    return whole.filter_by_name(native, *dataset.names) if native in whole.names else dataset


def _filter_cases(dataset, patterns):
    """
    Return a Dataset with the cases that fit one of the patterns (list of str), itself without
    patterns.
    """
    if not patterns:
        return dataset

    def fits(case):
        return any(
            fnmatch.fnmatchcase(name, pattern)
            for pattern in patterns
            for name in (case.benchmark, case.title)
        )

    kept = [one for one in dataset.series if fits(one.case)]
    if not kept:
        raise CompareError(
            f"{dataset.name} has no case that fits {' or '.join(patterns)}; it has: "
            + format_cases(dataset)
        )
    return dataclasses.replace(
        dataset, series=kept, failures=[one for one in dataset.failures if fits(one.case)]
    )


def _list_failures(dataset, series, without=None):
    """
    Return [(name, Case, reason)] of what a Dataset has no figures of because it failed, and
    series measured.
    """
    there = {one.case for one in series}
    has = {(one.case, one.name) for one in dataset.series}
    return [
        (one.name, one.case, one.reason)
        for one in dataset.failures
        if not one.is_skipped
        and one.name != without
        and one.case in there
        and (one.case, one.name) not in has
    ]


def _collect_notes(comparisons, sides):
    """Return what stands below the tables (list of str), each once."""
    curves = {}
    for one in comparisons:
        for note in [*one.notes, f'{one.method}.']:
            curves.setdefault(note, []).append(one)
    notes = [problem for side in sides for problem in side.problems]
    for note, found in curves.items():
        benchmarks = ', '.join(sorted({one.case.benchmark for one in found}))
        notes.append(note if len(found) == len(comparisons) else f'{benchmarks}: {note}')
    return list(
        dict.fromkeys([*notes, 'Ratios are A / B: of bandwidths more is better, of times less.'])
    )

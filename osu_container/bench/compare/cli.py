"""Define the command line of `osu-container compare A [B...]`."""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import sys
from typing import Any, Iterable, Sequence

from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.compare.statistics import (
    CompareError,
    Comparison,
    compare_datasets,
    compare_with_native,
    format_cases,
    remove_verdicts,
)
from osu_container.bench.results import references, run_files, select
from osu_container.bench.results.model import Case, Dataset, Series

#: Exit codes. argparse returns 2 for wrong usage, osu-container 130 after an interrupt
FINE, WORSE, IMPOSSIBLE = 0, 1, 3
#: Value of --fail-on -> verdicts with exit code WORSE
FAILING_VERDICTS = {'worse': ('worse',), 'noisy': ('worse', 'noisy', 'rounded'), 'never': ()}
ERRORS = (CompareError, select.SelectError, run_files.ResultsError, OSError)

EPILOG = """
A and B are runs (a folder, a results.jsonl, a name, or latest), published results (osu-container
reference list), or output files of benchmark programs (osu-container import --help). RUN:NAME
selects one approach or one curve of a run.
Without B, every approach in A is compared with the native results of the same run. With B, A is
compared with each B in all cases that both A and B measured.

  osu-container compare latest
      every approach of the newest run against the native results of the newest run
  osu-container compare latest lumi-g-2025-03
      each approach against the published results of the same approach
  osu-container compare latest:hybrid last-week:hybrid
      an approach against the same approach in an older run
  osu-container compare lumi-g-2025-03:opensource --only 'osu_latency D D*'
      one published curve against the native curve of the same publication

If A and B are from different machines, only ratios are printed, without a verdict.

docs/compare.md describes the method, the margins and the known performance problems.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container compare` to the parser."""
    parser.epilog = EPILOG
    add = parser.add_argument
    add(
        'a',
        metavar='A',
        help="results to judge: a run, published results, or the output file of a benchmark "
        "program",
    )
    add(
        'b',
        metavar='B',
        nargs='*',
        help="results with which to compare the first argument, A (default: the native results of "
        "the same run as A, which were measured without a container)",
    )
    add(
        '--only',
        action='append',
        default=[],
        metavar='PATTERN',
        help="compare only benchmark cases whose program or title matches PATTERN, e.g. 'osu_bw' "
        "or '*D D, two nodes'; may be repeated",
    )
    add(
        '--sizes',
        action=argparse.BooleanOptionalAction,
        default=None,
        help="print a table with a row for each message size (default: print this table only if "
        "at most two curves with at most 200 message sizes are compared)",
    )
    add(
        '--fail-on',
        choices=sorted(FAILING_VERDICTS),
        default='worse',
        help="when to exit with code 1: if a verdict is worse (value worse, the default), if a "
        "verdict is worse or undecided (value noisy), or never",
    )
    add('--json', action='store_true', help="machine-readable output")
    parser.set_defaults(
        function=compare,
        prog='osu-container compare',
        errors=ERRORS,
        after_interrupt="nothing was written",
    )


def compare(options: argparse.Namespace) -> int:
    """
    Print the comparison of A with B and return the exit code FINE, WORSE or IMPOSSIBLE.

    A and B are runs or published results that the user names.
    """
    try:
        result = collect_comparisons(options.a, options.b, case_patterns=options.only)
    except ERRORS as err:  # main() would return 1, which is WORSE
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


def collect_comparisons(
    a: str, others: Sequence[str] = (), *, case_patterns: Sequence[str] = ()
) -> dict[str, Any]:
    """
    Compare the results A with all results B that the user names.

    If the user names no B, A is compared with the native results of the same run. The returned dict
    has these keys:
    comparisons: list of Comparison
    troubles: result of troubles.find_troubles()
    failed: list of (name, Case, reason), one for each case that A failed to measure and B measured
    commands: {name of a run: command line that measured the run, as words}, only for runs of
    `osu-container bench`
    notes: list of texts to print below the tables

    Raises CompareError, SelectError, ResultsError or OSError if the results cannot be compared.

    a, others: names of the results A and B
    case_patterns: patterns; only cases that match a pattern are compared
    """
    first = select.resolve_dataset(a)
    first = _filter_cases(first if others else _add_native(first), case_patterns)
    comparisons, failed, notes, sides = [], [], [], [first]
    if not others:
        native = first.native_name
        comparisons = compare_with_native(first)
        failed = _list_failures(first, first.select_series(name=native), native)
        notes = _format_uncompared_curves(
            [series for series in first.series if series.name != native],
            comparisons,
            first.name,
            native,
        )
    for name in others:
        sides.append(_filter_cases(select.resolve_dataset(name), case_patterns))
        compared = compare_datasets(first, sides[-1])
        mismatch = references.find_machine_mismatch(first, sides[-1])
        comparisons += (
            [remove_verdicts(comparison, mismatch) for comparison in compared]
            if mismatch
            else compared
        )
        failed += _list_failures(first, sides[-1].series)
        notes += _format_uncompared_curves(first.series, compared, first.name, name)
    return {
        'comparisons': comparisons,
        'troubles': troubles.find_troubles(sides),
        'failed': list(dict.fromkeys(failed)),
        'commands': {
            side.name: side.facts['command']
            for side in sides
            if isinstance(side.facts.get('command'), list)
        },
        'notes': notes + _collect_notes(comparisons, sides),
    }


def _format_uncompared_curves(
    judged: Iterable[Series], comparisons: Iterable[Comparison], name: str, other: str
) -> list[str]:
    """
    Return a list with a note on the curves that could not be compared.

    The list is empty if all curves were compared.

    judged: all curves of side A
    comparisons: the results of the comparisons
    name, other: names of side A and side B, for the text of the note
    """
    compared = {id(series.a) for series in comparisons}
    uncompared = [series for series in judged if id(series) not in compared]
    if not uncompared:
        return []
    shown = '; '.join(f'{series.name} {series.case.title}' for series in uncompared[:4]) + (
        '; ...' if len(uncompared) > 4 else ''
    )
    return [
        f"{len(uncompared)} curve{'s' if len(uncompared) > 1 else ''} of {name} cannot be "
        f"compared, because {other} did not measure the same benchmarks with the same settings: "
        f"{shown}"
    ]


def _add_native(dataset: Dataset) -> Dataset:
    """
    Return the dataset with the native curves of the same run or publication added.

    If there are no native curves, the dataset is returned unchanged.
    """
    native = dataset.native_name
    if native in dataset.names:
        return dataset
    if dataset.kind == 'run' and dataset.path:
        whole = run_files.read_results(dataset.path)
    elif dataset.kind == 'published':
        whole = references.read_dataset(dataset.name)
    else:
        return dataset
    return whole.filter_by_name(native, *dataset.names) if native in whole.names else dataset


def _filter_cases(dataset: Dataset, patterns: Sequence[str]) -> Dataset:
    """
    Return a copy of a dataset with only the benchmark cases that match a pattern.

    A case matches if its benchmark or its title matches. Without patterns, the dataset is returned
    unchanged. Raises CompareError if no case matches.
    """
    if not patterns:
        return dataset

    def fits(case: Case) -> bool:
        return any(
            fnmatch.fnmatchcase(name, pattern)
            for pattern in patterns
            for name in (case.benchmark, case.title)
        )

    series = [curve for curve in dataset.series if fits(curve.case)]
    if not series:
        raise CompareError(
            f"{dataset.name} has no case that matches {' or '.join(patterns)}. Choose one of "
            "these cases: " + format_cases(dataset)
        )
    return dataclasses.replace(
        dataset, series=series, failures=[entry for entry in dataset.failures if fits(entry.case)]
    )


def _list_failures(
    dataset: Dataset, series: Sequence[Series], without: str | None = None
) -> list[tuple[str, Case, str]]:
    """
    Return (curve name, case, reason) for each benchmark case that a run failed to measure.

    case: the Case, which is a benchmark with its buffers, nodes and ranks. reason: text.

    series: curves; the result contains only benchmark cases that one of these curves contains
    without: a curve name; the result omits the failures of curves with this name
    """
    measured = {entry.case for entry in series}
    succeeded = {(entry.case, entry.name) for entry in dataset.series}
    return [
        (entry.name, entry.case, entry.reason)
        for entry in dataset.failures
        if not entry.is_skipped
        and entry.name != without
        and entry.case in measured
        and (entry.case, entry.name) not in succeeded
    ]


def _collect_notes(comparisons: Sequence[Comparison], sides: Iterable[Dataset]) -> list[str]:
    """
    Return the notes to print below the tables; each note occurs only once.

    If a note concerns only some comparisons, the note begins with the names of their benchmarks.
    """
    curves: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        for note in [*comparison.notes, f'{comparison.method}.']:
            curves.setdefault(note, []).append(comparison)
    notes = [problem for side in sides for problem in side.problems]
    for note, noted in curves.items():
        benchmarks = ', '.join(sorted({comparison.case.benchmark for comparison in noted}))
        notes.append(note if len(noted) == len(comparisons) else f'{benchmarks}: {note}')
    return list(
        dict.fromkeys(
            [
                *notes,
                'Ratios are A / B: a larger ratio is better for bandwidths, a '
                'smaller ratio is better for times.',
            ]
        )
    )

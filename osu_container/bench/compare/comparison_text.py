"""Format the result of `osu-container compare` as text for a terminal and as JSON data."""

from __future__ import annotations

import shlex
from typing import Any, Iterable, Sequence

from osu_container.base import columns
from osu_container.bench.compare.statistics import (
    ALPHA,
    FIRM_REPEATS,
    NOT_JUDGED,
    REGIONS,
    VERDICTS,
    Comparison,
    format_qualified_name,
)
from osu_container.bench.compare.troubles import Trouble
from osu_container.bench.results.model import Dataset, Series, format_ratio, format_size

#: Name and version of the layout of --json
FORMAT, VERSION = 'osu-container comparison', 2
#: Largest number of sizes in a table that is printed without --sizes. OSU's programs print 31 at most
MOST_SIZES = 200


def format_optional_ratio(value: float | None) -> str:
    """Return a ratio as text with its significant digits, '-' if `value` is None."""
    return '-' if value is None else format_ratio(value)


def select_worst_verdict(result: dict[str, Any]) -> str:
    """
    Return the worst verdict in a result of cli.collect_comparisons(), one of VERDICTS.

    A benchmark case that B has measured but A failed to measure counts as 'worse'.
    """
    verdicts = [comparison.verdict for comparison in result['comparisons']] + [
        'worse' for _ in result['failed']
    ]
    return min(verdicts, key=VERDICTS.index)


def format_furthest_ratio(comparison: Comparison) -> str:
    """Return the ratio furthest from 1 and its message size as text, e.g. '1.78 at 8 KiB'."""
    point = comparison.find_furthest_point()
    return ' at '.join(
        filter(None, [format_optional_ratio(point.ratio), comparison.format_size_label(point.size)])
    )


def format_comparisons(result: dict[str, Any], *, sizes: bool | None) -> str:
    """
    Return a result of cli.collect_comparisons() as text that fits the terminal.

    sizes: whether the text has a table of all message sizes for each curve. If `sizes` is None, the
    text has these tables only if at most two curves were compared, each with at most MOST_SIZES
    message sizes.
    """
    comparisons = result['comparisons']
    blocks = _format_summary_tables(comparisons)
    if sizes is None:
        sizes = len(comparisons) <= 2 and all(
            len(comparison.points) <= MOST_SIZES for comparison in comparisons
        )
    if sizes:
        blocks += [_format_size_table(comparison) for comparison in comparisons]
    sentences = [
        _format_paragraph(f'{comparison.title}, {comparison.case.title}: {comparison.sentence}.')
        for comparison in comparisons
        if comparison.verdict not in ('same', NOT_JUDGED)
    ]
    blocks += ['\n'.join(sentences)] if sentences else []
    blocks += [_format_trouble(trouble, curves) for trouble, curves in result['troubles']]
    notes = [f"failed, {name}: {case.title}: {reason}" for name, case, reason in result['failed']]
    blocks.append(
        '\n'.join(
            map(
                _format_paragraph,
                [
                    *notes,
                    *result['notes'],
                    *_list_advice(comparisons, result['commands']),
                    _format_totals(result),
                ],
            )
        )
    )
    return '\n\n'.join(blocks) + '\n'


def _format_paragraph(text: str, first: str = '* ') -> str:
    """Return `text` as a wrapped paragraph that begins with the characters `first`."""
    return columns.fill_text(text, first, ' ' * len(first))


def _format_summary_tables(comparisons: Iterable[Comparison]) -> list[str]:
    """Return a table for each pair of compared approaches, with a row for each benchmark case."""
    tables: dict[str, list[list[str]]] = {}
    for comparison in comparisons:
        furthest = 'furthest' if comparison.points[1:] else 'ratio'
        tables.setdefault(
            comparison.title, [['', 'verdict', *(words for _, words, *_ in REGIONS), furthest]]
        ).append(
            [
                comparison.case.title,
                comparison.format_curve_verdict(),
                *(format_optional_ratio(comparison.summary[key]) for key, *_ in REGIONS),
                format_furthest_ratio(comparison),
            ]
        )
    blocks = []
    for title, (head, *rows) in tables.items():
        # What all cases share, such as 'two nodes', is in the title, so that the rows fit 80 columns.
        cases, ends = zip(
            *(row[0].rsplit(', ', 1) if ', ' in row[0] else (row[0], '') for row in rows)
        )
        if len({*ends}) == 1 and ends[0]:
            title = f'{title}, {ends[0]}'
            rows = [[case, *row[1:]] for case, row in zip(cases, rows)]
        lines = columns.format_table(
            _drop_empty_columns([head, *rows]), right_aligned=(2, 3), indent='  '
        )
        blocks.append('\n'.join([columns.fill_text(title), *lines]))
    return blocks


def _format_size_table(comparison: Comparison) -> str:
    """Return the table of one comparison; each row shows one message size."""
    rows = [['size', 'A', 'B', 'ratio', '90 % interval', 'repeats', 'verdict']]
    for point in comparison.points:
        rows.append(
            [
                comparison.format_size_label(point.size),
                f'{point.a:.2f}',
                f'{point.b:.2f}',
                format_optional_ratio(point.ratio),
                f'{format_optional_ratio(point.low)} .. {format_optional_ratio(point.high)}'
                if point.has_interval
                else '-',
                f'{point.repeats[0]}, {point.repeats[1]}',
                point.verdict,
            ]
        )
    head = columns.fill_text(
        f'{comparison.case.title}: {comparison.title}, {comparison.case.unit}, margin {100 * comparison.margin:g} %'
    )
    rows = _drop_empty_columns(rows)
    return '\n'.join([head, *columns.format_table(rows, right_aligned=range(len(rows[0]) - 1))])


def _drop_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    """
    Return a table without the columns that contain only '' or '-' below the heading.

    rows: rows of the table; the first row contains the headings
    """
    kept = [column for column in zip(*rows) if set(column[1:]) - {'', '-'}]
    return [list(row) for row in zip(*kept)]


def _list_advice(comparisons: Iterable[Comparison], commands: dict[str, list[str]]) -> list[str]:
    """
    Return a sentence for each run that needs more repeats for a firm verdict.

    commands: {name of a run: command line that measured the run, as words}; only these runs get
    advice
    """
    advice = []
    for name, words in commands.items():
        repeats = [
            max(point.repeats)
            for comparison in comparisons
            for point in comparison.points
            if name in (comparison.a_dataset, comparison.b_dataset)
            and (comparison.few_repeats or comparison.summary['noisy'])
        ]
        if repeats:
            command = format_repeat_command(words, max(FIRM_REPEATS, 2 * max(repeats)))
            advice.append(f"A firm verdict on {name} needs more repeats. Run `{command}`.")
    return advice


def format_repeat_command(words: Sequence[str], repeats: int) -> str:
    """
    Return the command line that measures a run again with `repeats` repeats in a new folder.

    words: the words of the command line that measured the run; the result omits --output
    """
    kept, rest = [], iter(words)
    for word in rest:
        if word in ('--repeats', '-r', '--output', '-o'):
            next(rest, None)
        elif not word.startswith(('--repeats=', '--output=')):
            kept.append(word)
    return shlex.join(['osu-container', *kept, '--repeats', str(repeats)])


def _format_trouble(trouble: Trouble, curves: Iterable[tuple[Dataset, Series, list[int]]]) -> str:
    """
    Return a text about a known problem: affected curves, cause, remedy and source.

    trouble, curves: an element of the result of troubles.find_troubles()
    """
    lines = [_format_paragraph(f'Looks like {trouble.title}', first='')]
    lines += [_format_paragraph(text, first='    ') for text in format_curves(curves)]
    for heading, text in (
        ('cause', trouble.text),
        ('remedy', trouble.remedy),
        ('source', trouble.source),
    ):
        lines.append(_format_paragraph(text, first=f'  {heading}: '.ljust(11)))
    return '\n'.join(lines)


def format_curves(curves: Iterable[tuple[Dataset, Series, list[int]]]) -> list[str]:
    """
    Return lines that name the curves with a known performance problem.

    One line contains all curves with the same name and the same message sizes: 'latest:hybrid, 8
    KiB .. 16 KiB: osu_latency H H, two nodes; osu_latency D D, two nodes'.
    """
    titles: dict[str, list[str]] = {}
    for dataset, series, sizes in curves:
        ends = ' .. '.join(
            dict.fromkeys(format_size(size) or '0 B' for size in (sizes[0], sizes[-1]))
        )
        name = format_qualified_name(series, dataset.name)
        titles.setdefault(f'{name}, {ends}', []).append(series.case.title)
    return [f"{curve}: {'; '.join(cases)}" for curve, cases in titles.items()]


def _format_totals(result: dict[str, Any]) -> str:
    """
    Return the last line of the output: the number of curves with each verdict.

    The line also contains the number of failed benchmark cases.
    """
    comparisons = result['comparisons']
    counts = [
        (sum(comparison.verdict == verdict for comparison in comparisons), verdict)
        for verdict in VERDICTS
    ]
    text = ', '.join(f'{count} {verdict}' for count, verdict in counts if count)
    failed = f", {len(result['failed'])} failed" if result['failed'] else ''
    return f"{len(comparisons)} curve{'s' if len(comparisons) > 1 else ''}: {text}{failed}."


def _serialize_side(dataset: str, series: Series) -> dict[str, Any]:
    """Return one side (A or B) of a comparison as a dict for --json."""
    return {
        'dataset': dataset,
        'name': series.name,
        'case': vars(series.case),
        'programs': series.programs,
        'release': series.facts.get('release'),
    }


def serialize_comparisons(result: dict[str, Any]) -> dict[str, Any]:
    """
    Return a result of cli.collect_comparisons() as a dict for --json.

    docs/compare.md describes the keys of the JSON data.
    """
    return {
        'format': FORMAT,
        'version': VERSION,
        'verdict': select_worst_verdict(result),
        'alpha': ALPHA,
        'comparisons': [
            {
                'case': vars(comparison.case),
                'title': comparison.case.title,
                'unit': comparison.case.unit,
                'a': _serialize_side(comparison.a_dataset, comparison.a),
                'b': _serialize_side(comparison.b_dataset, comparison.b),
                'verdict': comparison.verdict,
                'words': comparison.sentence,
                'method': comparison.method,
                'margin': comparison.margin,
                'summary': comparison.summary,
                'few_repeats': comparison.few_repeats,
                'notes': comparison.notes,
                'sizes': [point._asdict() for point in comparison.points],
            }
            for comparison in result['comparisons']
        ],
        'troubles': [
            {
                'name': trouble.name,
                'title': trouble.title,
                'remedy': trouble.remedy,
                'source': trouble.source,
                'series': [
                    {
                        'dataset': dataset.name,
                        'name': series.name,
                        'case': vars(series.case),
                        'sizes': sizes,
                    }
                    for dataset, series, sizes in curves
                ],
            }
            for trouble, curves in result['troubles']
        ],
        'failed': [
            {'name': name, 'case': vars(case), 'reason': reason}
            for name, case, reason in result['failed']
        ],
        'notes': result['notes'],
    }

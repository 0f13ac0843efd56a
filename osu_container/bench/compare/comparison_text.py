"""The output of `osu-container compare`: text for a terminal, and JSON."""

from __future__ import annotations

from typing import Any, Iterable

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
from osu_container.bench.results import ratios
from osu_container.bench.results.model import Dataset, Series, format_size

#: Name and version of the layout of --json
FORMAT, VERSION = 'osu-container comparison', 2


def format_optional_ratio(value: float | None) -> str:
    """Return a ratio as text, '-' for None."""
    return '-' if value is None else ratios.format_ratio(value)


def select_worst_verdict(result: dict[str, Any]) -> str:
    """Return the worst verdict of a result; a case that only A failed counts as 'worse'."""
    verdicts = [comparison.verdict for comparison in result['comparisons']] + [
        'worse' for _ in result['failed']
    ]
    return min(verdicts, key=VERDICTS.index)


def format_furthest_ratio(comparison: Comparison) -> str:
    """Return the ratio that is furthest from equal, with its size: '1.78 at 8 KiB'."""
    point = comparison.find_furthest_point()
    return ' at '.join(
        filter(None, [format_optional_ratio(point.ratio), comparison.format_size_label(point.size)])
    )


def format_comparisons(result: dict[str, Any], *, sizes: bool | None = None) -> str:
    """
    Return a result of cli.collect_comparisons() as text that fits the terminal.

    sizes: with a table of every curve at every size; None: for at most two curves
    """
    comparisons = result['comparisons']
    blocks = _format_summary_tables(comparisons)
    if sizes or (sizes is None and len(comparisons) <= 2):
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
                [*notes, *result['notes'], *_list_advice(comparisons), _format_totals(result)],
            )
        )
    )
    return '\n\n'.join(blocks) + '\n'


def _format_paragraph(text: str, first: str = '* ') -> str:
    """Return wrapped text behind a bullet."""
    return columns.fill_text(text, first, ' ' * len(first))


def _format_summary_tables(comparisons: Iterable[Comparison]) -> list[str]:
    """Return a table for each pair of names, with a row for each case."""
    tables: dict[str, list[list[str]]] = {}
    for comparison in comparisons:
        tables.setdefault(
            comparison.title, [['', 'verdict', *(words for _, words, *_ in REGIONS), 'furthest']]
        ).append(
            [
                comparison.case.title,
                comparison.format_curve_verdict(),
                *(format_optional_ratio(comparison.summary[key]) for key, *_ in REGIONS),
                format_furthest_ratio(comparison),
            ]
        )
    return [
        '\n'.join(
            [
                columns.fill_text(title),
                *columns.format_table(rows, right_aligned=(2, 3), indent='  '),
            ]
        )
        for title, rows in tables.items()
    ]


def _format_size_table(comparison: Comparison) -> str:
    """Return the table of a comparison at every size."""
    rows = [['size', 'A', 'B', 'ratio', '90 % interval', 'repeats', 'verdict']]
    for point in comparison.points:
        interval = (
            '-'
            if point.low is None
            else f'{format_optional_ratio(point.low)} .. {format_optional_ratio(point.high)}'
        )
        rows.append(
            [
                comparison.format_size_label(point.size),
                f'{point.a:.2f}',
                f'{point.b:.2f}',
                format_optional_ratio(point.ratio),
                interval,
                f'{point.repeats[0]}, {point.repeats[1]}',
                point.verdict,
            ]
        )
    head = columns.fill_text(
        f'{comparison.case.title}: {comparison.title}, {comparison.case.unit}, margin {100 * comparison.margin:g} %'
    )
    return '\n'.join([head, *columns.format_table(rows, right_aligned=range(len(rows[0]) - 1))])


def _list_advice(comparisons: Iterable[Comparison]) -> list[str]:
    """Return what to do about noisy points and few repeats."""
    repeats = [
        point.repeats
        for comparison in comparisons
        if comparison.few_repeats or comparison.summary['noisy']
        for point in comparison.points
    ]
    return (
        [
            'For a firm verdict: `osu-container bench --repeats '
            f'{max(FIRM_REPEATS, 2 * max(map(max, repeats)))}`.'
        ]
        if repeats
        else []
    )


def _format_trouble(trouble: Trouble, curves: Iterable[tuple[Dataset, Series, list[int]]]) -> str:
    """Return a trouble of troubles.find_troubles() with the curves that look like it."""
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
    """Return a line for each curve of a trouble, with its sizes."""
    lines = []
    for dataset, series, sizes in curves:
        ends = ' .. '.join(
            dict.fromkeys(format_size(size) or '0 B' for size in (sizes[0], sizes[-1]))
        )
        lines.append(f'{format_qualified_name(series, dataset.name)} {series.case.title}, {ends}')
    return lines


def _format_totals(result: dict[str, Any]) -> str:
    """Return the last line: the number of curves with each verdict."""
    comparisons = result['comparisons']
    counts = [
        (sum(comparison.verdict == verdict for comparison in comparisons), verdict)
        for verdict in VERDICTS
    ]
    text = ', '.join(f'{count} {verdict}' for count, verdict in counts if count)
    failed = f", {len(result['failed'])} failed" if result['failed'] else ''
    return f"{len(comparisons)} curve{'s' if len(comparisons) > 1 else ''}: {text}{failed}."


def _serialize_side(dataset: str, series: Series) -> dict[str, Any]:
    """Return one side of a comparison for --json."""
    return {
        'dataset': dataset,
        'name': series.name,
        'case': vars(series.case),
        'programs': series.programs,
        'release': series.facts.get('release'),
    }


def serialize_comparisons(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result of cli.collect_comparisons() for --json. docs/compare.md has the layout."""
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
                'sizes': [vars(point) for point in comparison.points],
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

"""What `osu-container compare` prints: text for a terminal, and JSON."""

from __future__ import annotations

from osu_container.base import columns
from osu_container.bench.compare.statistics import (
    ALPHA,
    FIRM_REPEATS,
    NOT_JUDGED,
    REGIONS,
    VERDICTS,
    format_qualified_name,
)
from osu_container.bench.results import ratios
from osu_container.bench.results.model import format_size

#: Name and version of the layout of --json
FORMAT, VERSION = 'osu-container comparison', 2


def format_optional_ratio(value):
    """Return a ratio (float or None) as text, '-' for None."""
    return '-' if value is None else ratios.format_ratio(value)


def select_worst_verdict(result):
    """
    Return the worst verdict (str) of a result: of its curves, 'worse' if a case failed that the
    other side has.
    """
    found = [one.verdict for one in result['comparisons']] + ['worse' for _ in result['failed']]
    return min(found, key=VERDICTS.index)


def format_furthest_ratio(comparison):
    """
    Return the ratio of a Comparison that is furthest from equal, with its size (str): '1.78 at 8
    KiB'.
    """
    point = comparison.find_furthest_point()
    return ' at '.join(
        filter(None, [format_optional_ratio(point.ratio), comparison.format_size_label(point.size)])
    )


def format_comparisons(result, *, sizes=None):
    """
    Return a result of cli.collect() as text that fits the terminal.

    :param sizes: bool, with the table of every curve at every size; None: where there are two
        curves or fewer
    """
    comparisons = result['comparisons']
    blocks = _format_summary_tables(comparisons)
    if sizes or (sizes is None and len(comparisons) <= 2):
        blocks += [_format_size_table(one) for one in comparisons]
    told = [
        _format_paragraph(f'{one.title}, {one.case.title}: {one.sentence}.')
        for one in comparisons
        if one.verdict not in ('same', NOT_JUDGED)
    ]
    blocks += ['\n'.join(told)] if told else []
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


def _format_paragraph(text, first='* '):
    """Return text wrapped to the width, with a bullet."""
    return columns.fill_text(text, first, ' ' * len(first))


def _format_summary_tables(comparisons):
    """Return a table (str) for each pair of names (list), with one row a case."""
    tables = {}
    for one in comparisons:
        tables.setdefault(
            one.title, [['', 'verdict', *(words for _, words, *_ in REGIONS), 'furthest']]
        ).append(
            [
                one.case.title,
                one.format_curve_verdict(),
                *(format_optional_ratio(one.summary[key]) for key, *_ in REGIONS),
                format_furthest_ratio(one),
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


def _format_size_table(one):
    """Return the table (str) of a Comparison at every size."""
    rows = [['size', 'A', 'B', 'ratio', '90 % interval', 'repeats', 'verdict']]
    for point in one.points:
        interval = (
            '-'
            if point.low is None
            else f'{format_optional_ratio(point.low)} .. {format_optional_ratio(point.high)}'
        )
        rows.append(
            [
                one.format_size_label(point.size),
                f'{point.a:.2f}',
                f'{point.b:.2f}',
                format_optional_ratio(point.ratio),
                interval,
                f'{point.repeats[0]}, {point.repeats[1]}',
                point.verdict,
            ]
        )
    head = columns.fill_text(
        f'{one.case.title}: {one.title}, {one.case.unit}, margin {100 * one.margin:g} %'
    )
    return '\n'.join([head, *columns.format_table(rows, right_aligned=range(len(rows[0]) - 1))])


def _list_advice(comparisons):
    """Return what to do about noisy points and about few repeats (list of str)."""
    unsure = [
        point.repeats
        for one in comparisons
        if one.few_repeats or one.summary['noisy']
        for point in one.points
    ]
    return (
        [
            f'To be sure: `osu-container bench --repeats {max(FIRM_REPEATS, 2 * max(map(max, unsure)))}`.'
        ]
        if unsure
        else []
    )


def _format_trouble(trouble, curves):
    """Return what is known of a Trouble that curves look like, see troubles.recognised() (str)."""
    lines = [_format_paragraph(f'Looks like {trouble.title}', first='')]
    lines += [_format_paragraph(text, first='    ') for text in format_curves(curves)]
    for word, text in (
        ('what', trouble.text),
        ('remedy', trouble.remedy),
        ('source', trouble.source),
    ):
        lines.append(_format_paragraph(text, first=f'  {word}: '.ljust(11)))
    return '\n'.join(lines)


def format_curves(curves):
    """Return what looks like a trouble (list of str); curves: of troubles.recognised()."""
    found = []
    for dataset, series, sizes in curves:
        ends = ' .. '.join(
            dict.fromkeys(format_size(size) or '0 B' for size in (sizes[0], sizes[-1]))
        )
        found.append(f'{format_qualified_name(series, dataset.name)} {series.case.title}, {ends}')
    return found


def _format_totals(result):
    """Return the last line: how many curves have which verdict."""
    comparisons = result['comparisons']
    counts = [(sum(one.verdict == verdict for one in comparisons), verdict) for verdict in VERDICTS]
    text = ', '.join(f'{count} {verdict}' for count, verdict in counts if count)
    failed = f", {len(result['failed'])} failed" if result['failed'] else ''
    return f"{len(comparisons)} curve{'s' if len(comparisons) > 1 else ''}: {text}{failed}."


def _serialize_side(dataset, series):
    """Return what --json has of one side of a comparison (dict)."""
    return {
        'dataset': dataset,
        'name': series.name,
        'case': vars(series.case),
        'programs': series.programs,
        'release': series.facts.get('release'),
    }


def serialize_comparisons(result):
    """
    Return a result of cli.collect() as what --json prints (dict of JSON types). Layout:
    docs/compare.md.
    """
    return {
        'format': FORMAT,
        'version': VERSION,
        'verdict': select_worst_verdict(result),
        'alpha': ALPHA,
        'comparisons': [
            {
                'case': vars(one.case),
                'title': one.case.title,
                'unit': one.case.unit,
                'a': _serialize_side(one.a_dataset, one.a),
                'b': _serialize_side(one.b_dataset, one.b),
                'verdict': one.verdict,
                'words': one.sentence,
                'method': one.method,
                'margin': one.margin,
                'summary': one.summary,
                'few_repeats': one.few_repeats,
                'notes': one.notes,
                'sizes': [vars(point) for point in one.points],
            }
            for one in result['comparisons']
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

"""What `osu-container compare` prints: text for a terminal, and JSON."""
from __future__ import annotations

from osu_container.base import columns
from osu_container.bench.compare.statistics import ALPHA, FIRM, NOT_JUDGED, REGIONS, VERDICTS, of
from osu_container.bench.results import ratios
from osu_container.bench.results.model import size_text

#: Name and version of the layout of --json
FORMAT, VERSION = 'osu-container comparison', 2


def ratio(value):
    """Return a ratio (float or None) as text, '-' for None."""
    return '-' if value is None else ratios.text(value)


def verdict_of(result):
    """Return the worst verdict (str) of a result: of its curves, 'worse' if a case failed that the other side has."""
    found = [one.verdict for one in result['comparisons']] + ['worse' for _ in result['failed']]
    return min(found, key=VERDICTS.index)


def furthest(comparison):
    """Return the ratio of a Comparison that is furthest from equal, with its size (str): '1.78 at 8 KiB'."""
    point = comparison.furthest()
    return ' at '.join(filter(None, [ratio(point.ratio), comparison.label(point.size)]))


def plain(result, *, sizes=None):
    """
    Return a result of cli.collect() as text that fits the terminal.

    :param sizes: bool, with the table of every curve at every size; None: where there are two curves or fewer
    """
    comparisons = result['comparisons']
    blocks = _summary(comparisons)
    if sizes or (sizes is None and len(comparisons) <= 2):
        blocks += [_sizes(one) for one in comparisons]
    told = [_paragraph(f'{one.title}, {one.case.title}: {one.words}.') for one in comparisons
            if one.verdict not in ('same', NOT_JUDGED)]
    blocks += ['\n'.join(told)] if told else []
    blocks += [_trouble(trouble, curves) for trouble, curves in result['troubles']]
    notes = [f"failed, {name}: {case.title}: {reason}" for name, case, reason in result['failed']]
    blocks.append('\n'.join(map(_paragraph, [*notes, *result['notes'], *_advice(comparisons), _end(result)])))
    return '\n\n'.join(blocks) + '\n'


def _paragraph(text, first='* '):
    """Return text wrapped to the width, with a bullet."""
    return columns.fill(text, first, ' ' * len(first))


def _summary(comparisons):
    """Return a table (str) for each pair of names (list), with one row a case."""
    tables = {}
    for one in comparisons:
        tables.setdefault(one.title, [['', 'verdict', *(words for _, words, *_ in REGIONS), 'furthest']]).append(
            [one.case.title, one.graded(), *(ratio(one.summary[key]) for key, *_ in REGIONS), furthest(one)])
    return ['\n'.join([columns.fill(title), *columns.table(rows, right=(2, 3), indent='  ')])
            for title, rows in tables.items()]


def _sizes(one):
    """Return the table (str) of a Comparison at every size."""
    rows = [['size', 'A', 'B', 'ratio', '90 % interval', 'repeats', 'verdict']]
    for point in one.points:
        interval = '-' if point.low is None else f'{ratio(point.low)} .. {ratio(point.high)}'
        rows.append([one.label(point.size), f'{point.a:.2f}', f'{point.b:.2f}', ratio(point.ratio), interval,
                     f'{point.repeats[0]}, {point.repeats[1]}', point.verdict])
    head = columns.fill(f'{one.case.title}: {one.title}, {one.case.unit}, margin {100 * one.margin:g} %')
    return '\n'.join([head, *columns.table(rows, right=range(len(rows[0]) - 1))])


def _advice(comparisons):
    """Return what to do about noisy points and about few repeats (list of str)."""
    unsure = [point.repeats for one in comparisons if one.few_repeats or one.summary['noisy'] for point in one.points]
    return [f'To be sure: `osu-container bench --repeats {max(FIRM, 2 * max(map(max, unsure)))}`.'] if unsure else []


def _trouble(trouble, curves):
    """Return what is known of a Trouble that curves look like, see troubles.recognised() (str)."""
    lines = [_paragraph(f'Looks like {trouble.title}', first='')]
    lines += [_paragraph(text, first='    ') for text in curves_text(curves)]
    for word, text in (('what', trouble.text), ('remedy', trouble.remedy), ('source', trouble.source)):
        lines.append(_paragraph(text, first=f'  {word}: '.ljust(11)))
    return '\n'.join(lines)


def curves_text(curves):
    """Return what looks like a trouble (list of str); curves: of troubles.recognised()."""
    found = []
    for dataset, series, sizes in curves:
        ends = ' .. '.join(dict.fromkeys(size_text(size) or '0 B' for size in (sizes[0], sizes[-1])))
        found.append(f'{of(series, dataset.name)} {series.case.title}, {ends}')
    return found


def _end(result):
    """Return the last line: how many curves have which verdict."""
    comparisons = result['comparisons']
    counts = [(sum(one.verdict == verdict for one in comparisons), verdict) for verdict in VERDICTS]
    text = ', '.join(f'{count} {verdict}' for count, verdict in counts if count)
    failed = f", {len(result['failed'])} failed" if result['failed'] else ''
    return f"{len(comparisons)} curve{'s' if len(comparisons) > 1 else ''}: {text}{failed}."


def _side(dataset, series):
    """Return what --json has of one side of a comparison (dict)."""
    return {'dataset': dataset, 'name': series.name, 'case': vars(series.case), 'programs': series.programs,
            'release': series.facts.get('release')}


def as_json(result):
    """Return a result of cli.collect() as what --json prints (dict of JSON types). Layout: docs/compare.md."""
    return {
        'format': FORMAT, 'version': VERSION, 'verdict': verdict_of(result), 'alpha': ALPHA,
        'comparisons': [{
            'case': vars(one.case), 'title': one.case.title, 'unit': one.case.unit, 'a': _side(one.a_from, one.a),
            'b': _side(one.b_from, one.b), 'verdict': one.verdict, 'words': one.words, 'method': one.method,
            'margin': one.margin, 'summary': one.summary, 'few_repeats': one.few_repeats, 'notes': one.notes,
            'sizes': [vars(point) for point in one.points]} for one in result['comparisons']],
        'troubles': [{'name': trouble.name, 'title': trouble.title, 'remedy': trouble.remedy, 'source': trouble.source,
                      'series': [{'dataset': dataset.name, 'name': series.name, 'case': vars(series.case),
                                  'sizes': sizes} for dataset, series, sizes in curves]}
                     for trouble, curves in result['troubles']],
        'failed': [{'name': name, 'case': vars(case), 'reason': reason} for name, case, reason in result['failed']],
        'notes': result['notes'],
    }

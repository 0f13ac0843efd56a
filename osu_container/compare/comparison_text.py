"""What `osu-container compare` prints: for a terminal, as Markdown, and as JSON for programs."""
from __future__ import annotations

import os

from osu_container import columns
from osu_container.core import terminal

from ..results import ratios
from . import troubles as shapes
from .statistics import ALPHA, FIRM, NOT_JUDGED, REGIONS, VERDICTS, of

#: ANSI colours of the verdicts; the word stands there in any case
COLOURS = {'worse': '31', 'noisy': '33', 'rounded': '33', 'better': '32'}
#: Name and version of the layout of --json
FORMAT, VERSION = 'osu-container comparison', 1
GAP = '  '
#: Columns that a label of the summary needs beside its cells
_LEAST = 12
#: What is said of a trouble of published figures that stand beside figures of the reader's own
NOT_YOURS = 'Published figures, not your own, look like {}; docs/compare.md says what is known of it'
#: Stands for our own orders to the terminal until all others are out of the text: nobody can write it into results
_MARK = os.urandom(16).hex()


def ratio(value):
    """Return a ratio (float or None) as text, '-' for None."""
    return '-' if value is None else ratios.text(value)


def verdict_of(result):
    """Return the worst verdict (str) of a result: of its curves, 'worse' if a case failed that the other side has."""
    found = [one.verdict for one in result['comparisons']] + ['worse' for _ in result['failed']]
    return min(found, key=VERDICTS.index)


def _cells(one):
    """Return the cells (list of str) of the summary row of a Comparison, after its label."""
    summary = one.summary
    where = one.label(summary['worst_size'])
    return [one.graded(), *(ratio(summary[key]) for key, *_ in REGIONS),
            ratio(summary['worst_ratio']) + (f' at {where}' if where else '')]


_HEADS = ['verdict', *(words for _, words, *_ in REGIONS), 'worst']


def _pair(one, datasets):
    """Return (name of a, name of b) of a Comparison as text, with their datasets where several are in it."""
    if datasets < 2:
        return one.a.name, one.b.name
    return f'{one.a_from}:{one.a.name}', f'{one.b_from}:{one.b.name}'


def _groups(comparisons):
    """
    Return [(heading, [(label, Comparison)])]: by pair of names where that is shorter, else by case.
    """
    datasets = len({name for one in comparisons for name in (one.a_from, one.b_from)})
    pairs = {_pair(one, datasets) for one in comparisons}
    cases = {one.case for one in comparisons}
    groups = {}
    for one in comparisons:
        a, b, title = map(terminal.one_line, (*_pair(one, datasets), one.case.title))
        if len(pairs) <= len(cases):
            groups.setdefault(f'{a} against {b}', []).append((title, one))
        else:
            label = a if len({other for _, other in pairs}) == 1 else f'{a} against {b}'
            groups.setdefault(title + (f', against {b}' if label == a else ''), []).append((label, one))
    return list(groups.items())


def _told(comparisons):
    """Return what Comparisons say in words, under the headings of the table; equal sentences once."""
    groups = _groups(comparisons)
    lines = []
    for heading, entries in groups:
        lines += [heading] if len(groups) > 1 else []
        same = {}
        for label, one in entries:
            same.setdefault(f'{one.words}.{_advice(one)}', []).append(label)
        lines += [_paragraph(f"{'; '.join(labels)}: {sentence}") for sentence, labels in same.items()]
    return '\n'.join(lines)


def plain(result, *, sizes=None, colour=False):
    """
    Return a result of cli.collect() as text that fits the terminal.

    :param sizes: bool, with the table of every curve at every size; None: where there are two curves or fewer
    :param colour: bool, with ANSI colours
    """
    comparisons = result['comparisons']
    blocks = [_summary(comparisons, colour)]
    if sizes or (sizes is None and len(comparisons) <= 2):
        blocks += [_sizes(one, colour) for one in comparisons]
    told = [one for one in comparisons if one.verdict not in ('same', NOT_JUDGED)]
    if told:
        blocks.append(_told(told))
    blocks += [_trouble(entry) for entry in result['troubles']]
    notes = [f"failed, {name}: {case.title}: {reason}" for name, case, reason in result['failed']]
    blocks.append('\n'.join(_paragraph(note) for note in notes + result['notes'] + [_end(result)]))
    found = terminal.visible('\n\n'.join(blocks) + '\n')
    for verdict, number in COLOURS.items():
        found = found.replace(_MARK + verdict + ':', f'\033[{number}m')
    return found.replace(_MARK, '\033[0m')


def _paragraph(text, first='* '):
    """Return text wrapped to the width, with a bullet."""
    return columns.fill(text, first, ' ' * len(first))


def _painted(text, verdict, colour):
    """Return text (str) with marks that plain() turns into the colour of a verdict."""
    return f'{_MARK}{verdict}:{text}{_MARK}' if colour and verdict in COLOURS else text


def _summary(comparisons, colour):
    """Return the table with one row a curve."""
    rows = [(heading, [(label, one, _cells(one)) for label, one in entries])
            for heading, entries in _groups(comparisons)]
    widths = [max(len(cells[n]) for _, entries in rows for *_, cells in entries) for n in range(len(_HEADS))]
    widths = [max(width, len(head)) for width, head in zip(widths, _HEADS)]
    room = columns.width() - sum(widths) - len(GAP) * len(widths)
    if room < _LEAST:
        return '\n'.join(_in_words(rows, colour))
    labels = min(max(len(label) for _, entries in rows for label, *_ in entries) + 2, room)

    def line(label, cells, verdict=None):
        texts = [cells[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(cells[1:-1], widths[1:-1])]
        if verdict:
            texts[0] = _painted(texts[0], verdict, colour)
        return (label.ljust(labels) + GAP + GAP.join(texts + [cells[-1]])).rstrip()

    lines = []
    for number, (heading, entries) in enumerate(rows):
        lines.append(heading if number else heading.ljust(labels) + line('', _HEADS)[labels:]
                     if len(heading) <= labels else columns.fill(heading, room=columns.width()))
        if not number and len(heading) > labels:
            lines.append(line('', _HEADS))
        for label, one, cells in entries:
            if len(label) + 2 > labels:
                lines.append(columns.fill(label, '  ', '    ', columns.width()))
                label = ''
            lines.append(line('  ' + label if label else '', cells, one.verdict))
    return '\n'.join(lines)


def _in_words(rows, colour):
    """Return the lines (list of str) of the summary where the terminal has no room for a table."""
    lines = []
    for heading, entries in rows:
        lines.append(columns.fill(heading))
        for label, one, cells in entries:
            told = columns.fill('; '.join([cells[0], *(f'{head} {cell}' for head, cell in zip(_HEADS[1:], cells[1:]))]),
                                '    ', '      ')
            lines += [columns.fill(label, '  ', '    '),
                      told.replace(cells[0], _painted(cells[0], one.verdict, colour), 1)]
    return lines


def _sizes(one, colour):
    """Return the table of a Comparison at every size."""
    names = [one.a.name, one.b.name]
    if names[0] == names[1] or max(map(len, names)) > 16:
        names = ['A', 'B']
    heads = ['size', *names, 'ratio', '90 % interval', 'repeats', 'verdict']
    rows = []
    for point in one.points:
        rows.append([one.label(point.size), f'{point.a:.2f}', f'{point.b:.2f}', ratio(point.ratio), _interval(point),
                     f'{point.repeats[0]}, {point.repeats[1]}', point.verdict])
    lines = [columns.fill(f'{one.case.title}: {one.title}, {one.case.unit}, margin {100 * one.margin:g} %')]
    for line in columns.table([heads, *rows], right=range(len(heads) - 1)):
        verdict = next((word for word in COLOURS if line.endswith(GAP + word)), None)
        lines.append(line[:-len(verdict)] + _painted(verdict, verdict, colour) if verdict else line)
    return '\n'.join(lines)


def _interval(point):
    """Return the confidence interval of a Point as text; '-' for single values."""
    return '-' if point.low is None else f'{ratio(point.low)} .. {ratio(point.high)}'


def _advice(one):
    """Return what to do about noisy points of a Comparison, and about few repeats (str), '' if there is nothing."""
    if not one.few_repeats and not one.summary['noisy']:
        return ''
    repeats = max(count for point in one.points for count in point.repeats)
    return f' To be sure: `osu-container bench --repeats {max(FIRM, 2 * repeats)}`.'


def _trouble(entry):
    """Return what is said of a trouble: entry of troubles_of()."""
    trouble, curves = entry['trouble'], [_paragraph(where, first='    ') for where in entry['curves']]
    if not entry['advice']:
        return '\n'.join([_paragraph(NOT_YOURS.format(trouble.title), first=''), *curves])
    lines = [_paragraph(f"Looks like {trouble.title}", first=''), *curves]
    for word, text in (('what', trouble.text), ('remedy', trouble.remedy), ('source', trouble.source)):
        lines.append(_paragraph(text, first=f'  {word}: '.ljust(11)))
    return '\n'.join(lines)


def troubles_of(found, sides):
    """
    Return the troubles that curves look like, those with advice first.

    Each is {'trouble': Trouble, 'curves': [str], 'series': [(dataset name, Series, Trouble)], 'advice': bool, whether
    its remedy is for the reader, see troubles.advised}. A curve is named with its run where there are several.
    :param found: of (Dataset, Series, [Trouble]); a trouble with equal remedy is said once, with all its curves
    :param sides: all Datasets of the comparison
    """
    groups, several = {}, len({side.name for side in sides}) > 1
    for dataset, series, troubles in found:
        advice, name = shapes.advised(dataset, sides), of(series, dataset.name if several else '')
        for trouble in troubles:
            entry = groups.setdefault((not advice, trouble.name, trouble.remedy), {
                'trouble': trouble, 'by_name': {}, 'series': [], 'advice': advice})
            entry['by_name'].setdefault((name, shapes.sizes_text(trouble.sizes)), []).append(series.case)
            entry['series'].append((dataset.name, series, trouble))
    for entry in groups.values():
        entry['curves'] = [f"{name}, {sizes}: {'; '.join(_cases_text(cases))}"
                           for (name, sizes), cases in entry.pop('by_name').items()]
    return sorted(groups.values(), key=lambda entry: not entry['advice'])


def _cases_text(cases):
    """Return cases (list of Case) as a short list of texts: buffers of one benchmark and placement together."""
    groups = {}
    for case in cases:
        groups.setdefault((case.benchmark, case.placement, case.variant), []).append(case.buffers)
    found = []
    for (benchmark, placement, variant), buffers in groups.items():
        first = f"{benchmark} {' and '.join(filter(None, buffers))}".strip()
        found.append(', '.join(part for part in (first, placement, variant) if part))
    return found


def _end(result):
    """Return the last line: how many curves have which verdict."""
    comparisons = result['comparisons']
    counts = [(sum(one.verdict == verdict for one in comparisons), verdict) for verdict in VERDICTS]
    text = ', '.join(f'{count} {verdict}' for count, verdict in counts if count)
    failed = f", {len(result['failed'])} failed" if result['failed'] else ''
    return f"{len(comparisons)} curve{'s' if len(comparisons) > 1 else ''}: {text}{failed}."


def _case(case):
    return {'benchmark': case.benchmark, 'buffers': case.buffers, 'nodes': case.nodes, 'ranks': case.ranks,
            'variant': case.variant}


def as_json(result):
    """Return a result of cli.collect() as what --json prints (dict of JSON types). Layout: docs/compare.md."""
    return {
        'format': FORMAT, 'version': VERSION, 'verdict': verdict_of(result), 'alpha': ALPHA,
        'comparisons': [{
            'case': _case(one.case), 'title': one.case.title, 'unit': one.case.unit,
            'a': {'dataset': one.a_from, 'name': one.a.name, 'programs': one.a.programs,
                  'release': one.a.facts.get('release')},
            'b': {'dataset': one.b_from, 'name': one.b.name, 'programs': one.b.programs,
                  'release': one.b.facts.get('release'), 'case': _case(one.b.case)},
            'verdict': one.verdict, 'degree': one.degree() or None, 'words': one.words, 'method': one.method,
            'margin': one.margin, 'summary': one.summary,
            'few_repeats': one.few_repeats, 'notes': one.notes,
            'sizes': [{'size': point.size, 'a': point.a, 'b': point.b, 'ratio': point.ratio, 'low': point.low,
                       'high': point.high, 'verdict': point.verdict, 'method': point.method, 'p': point.p,
                       'repeats': list(point.repeats)} for point in one.points],
            'only_a': one.only_a, 'only_b': one.only_b} for one in result['comparisons']],
        'troubles': [{'name': entry['trouble'].name, 'title': entry['trouble'].title,
                      'remedy': entry['trouble'].remedy, 'advice': entry['advice'], 'source': entry['trouble'].source,
                      'series': [{'dataset': dataset, 'name': series.name, 'case': _case(series.case),
                                  'sizes': list(trouble.sizes)} for dataset, series, trouble in entry['series']]}
                     for entry in result['troubles']],
        'failed': [{'name': name, 'case': _case(case), 'reason': reason} for name, case, reason in result['failed']],
        'notes': result['notes'],
    }

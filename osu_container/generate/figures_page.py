#!/usr/bin/env python3
"""
Write the figures of docs/figures.md from the newest file in osu_container/figures/results/, between its markers.

usage: python -m osu_container.generate.figures_page [--check]
"""
from __future__ import annotations

import argparse
import json
import sys

from osu_container.places import PROJECT

RESULTS = PROJECT / 'osu_container' / 'figures' / 'results'
PAGE = PROJECT / 'docs' / 'figures.md'
#: Version of the layout of the results that this reads
FORMAT = 2
WAYS = {'native': 'native', 'shared': 'a shared container', 'rank': 'a container a rank'}


class PageError(Exception):
    """Results or a page that are not as they must be; the text names the file."""


def newest():
    """Return the newest results (Path, dict), by the time in them. Raises PageError if there are none."""
    found = []
    for path in RESULTS.glob('*.json'):
        data = json.loads(path.read_text())
        if data.get('format') != FORMAT:
            raise PageError(f"{path} has format {data.get('format')}, wanted {FORMAT}")
        found.append((data['time'], path, data))
    if not found:
        raise PageError(f'no results in {RESULTS}: osu_container/figures/cli.py --output writes some')
    return max(found)[1:]


def number(value):
    """Return a value (float) as people read it: three digits that count."""
    return f'{value:.3g}' if abs(value) < 1000 else f'{value:,.0f}'


def shown(found):
    """Return a figure as text: its median, its quartiles, its unit."""
    text = number(found['median'])
    if found['runs'] > 1:
        text += f" [{number(found['low'])} .. {number(found['high'])}]"
    return f"{text} {found['unit']}".strip()


def table(rows):
    """Return rows (list of lists of str, the first is the heading) as a table of Markdown."""
    rows = [rows[0], ['---'] * len(rows[0]), *rows[1:]]
    return ''.join('| {} |\n'.format(' | '.join(row)) for row in rows)


def promises(figures):
    """Return the table of those figures that something is promised of."""
    rows = [['figure', 'median [quartiles]', 'wanted', '']]
    for each in (one for one in figures if one['met'] is not None):
        limit = f"{'at most' if each['at_most'] else 'at least'} {number(each['wanted'])} {each['unit']}".strip()
        rows.append([each['name'], shown(each), limit, 'met' if each['met'] else '**missed**'])
    return table(rows)


def ratios(figures):
    """Return the table of the group approaches: approaches down, benchmarks across."""
    cells = {}
    for each in figures:
        approach, _, case = each['name'].removesuffix(' / native').partition(', ')
        cells.setdefault(approach, {})[case] = shown(each) + ('' if each['met'] else ' **missed**')
    wanted = {each['name'].partition(', ')[2].split()[0]: f"{'at most' if each['at_most'] else 'at least'} "
              f"{number(each['wanted'])}" for each in figures}
    cases = list(dict.fromkeys(case for row in cells.values() for case in row))
    rows = [['', *cases], *([approach, *(row.get(case, '') for case in cases)] for approach, row in cells.items())]
    promised = ', '.join(f'{limit} for {benchmark}' for benchmark, limit in wanted.items())
    return f'Ratios to native; wanted: {promised}.\n\n{table(rows)}'


def starts(figures):
    """Return the table of the group start: ranks down, ways across, the whole srun and MPI_Init."""
    at = {(each['ranks'], each['way'], each['of']): each for each in figures}
    rows = [['ranks', *WAYS.values()]]
    for ranks in sorted({each['ranks'] for each in figures}):
        row = [str(ranks)]
        for way in WAYS:
            cell = f"{shown(dict(at[ranks, way, 'total'], unit=''))}, {number(at[ranks, way, 'init']['median'])}"
            both = [at.get((ranks, way, f'{key} ratio')) for key in ('total', 'init')]
            if all(both):
                cell += f" ({', '.join(number(ratio['median']) for ratio in both)})"
            row.append(cell)
        rows.append(row)
    return ('The whole `srun` in seconds, then `MPI_Init` of the slowest rank in milliseconds; in round brackets the '
            f"ratios of both to native:\n\n{table(rows)}\n"
            f"{promises(figures)}")


def reads(figures):
    """Return the tables of the group reads: by ranks and ways, then by compression."""
    at = {(each['way'], each['ranks'], each['of']): each for each in figures if 'ranks' in each}
    rows = [['ranks', *(f'{WAYS[way]}: {title}' for way in ('shared', 'rank') for title in (
        'from the file system', 'by squashfuse', 'its requests'))]]
    for ranks in sorted({each['ranks'] for each in at.values()}):
        cells = [at.get((way, ranks, of)) for way in ('shared', 'rank') for of in ('file', 'mount', 'requests')]
        rows.append([str(ranks), *(shown(cell) if cell else '' for cell in cells)])
    packed = {(each['compression'], each['of']): each for each in figures if 'compression' in each}
    columns = list(dict.fromkeys(of for _, of in packed))
    names = list(dict.fromkeys(name for name, _ in packed))
    sizes = [['compression', *columns], *([name, *(shown(packed[name, of]) for of in columns)] for name in names)]
    return (f"{table(rows)}\n{promises(figures)}\n"
            f"Two ranks on one node, the whole `srun`:\n\n{table(sizes)}")


def costs(figures):
    """Return the tables of the group growth, its promises first."""
    at = {(each['what'], each.get('rows', each.get('ranks')), each['of']): each for each in figures}
    rows = [['result rows', 'report', 'its memory', 'its page', 'compare', 'its memory']]
    for count in sorted({each['rows'] for each in figures if each['what'] == 'report'}):
        rows.append([f'{count:,}', *(shown(at[key]) for key in (
            ('report', count, 'seconds'), ('report', count, 'memory'), ('page', count, 'size'),
            ('compare', count, 'seconds'), ('compare', count, 'memory')))])
    judged = [['ranks', 'proof judged', 'its memory']]
    for count in sorted({each['ranks'] for each in figures if each['what'] == 'judge'}):
        judged.append([f'{count:,}', shown(at['judge', count, 'seconds']), shown(at['judge', count, 'memory'])])
    added = [each for each in figures if each['what'] == 'proof']
    text = f'{promises(figures)}\n{table(rows)}'
    return (f'{text}\nWatching the two ranks of a short run adds {shown(added[0])} to it.\n\n{table(judged)}'
            if added else text)


def content(path, data):
    """Return the text (str, Markdown) of the figures of one file."""
    machine = data['machine']
    loads = [each[0] for each in data['load']]
    text = (f"Measured {data['time'][:10]} on a machine with {machine['cores']} cores "
            f"({machine['cpu']}, {machine['memory_bytes'] / 1e9:.0f} GB, {machine['system']}).\n"
            f"Processes that wanted a core, before, between and after the groups: "
            f"{', '.join(number(each) for each in loads)}.\n")
    text += f"{data['note']}\n" if data['note'] else ''
    text += f"The data: `{path.relative_to(PROJECT)}`.\n\n"
    titles = {'wrapper': 'What the wrapper adds to a start', 'module': 'What loading a module adds',
              'render': 'Writing the modules', 'approaches': 'Each approach against native over the same libraries',
              'one-node': 'The same with both ranks on one node', 'start': 'Start of many ranks on one node',
              'reads': 'What a start reads of the image', 'proof': 'What a proof of two ranks costs',
              'commands': 'How long check and discover take',
              'growth': 'Cost as input grows'}
    writers = {'approaches': ratios, 'one-node': ratios, 'start': starts, 'reads': reads, 'growth': costs}
    for group, figures in data['groups'].items():
        text += f"## {titles[group]}\n\n{writers.get(group, promises)(figures)}\n"
    return text.replace('\n\n\n', '\n\n')


def renewed(text):
    """Return the text of the page (str) with its figures as the data have them. Raises PageError."""
    begin, end = '<!-- figures -->', '<!-- /figures -->'
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise PageError(f"{PAGE}: the lines {begin} and {end} must be there once, in this order")
    before, rest = text.split(begin)
    return f'{before}{begin}\n\n{content(*newest())}{end}{rest.split(end)[1]}'


def main():
    """Write the page, or with --check compare; exit code 1 if it is stale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--check', action='store_true', help="write nothing, exit 1 if the page is stale")
    check = parser.parse_args().check
    try:
        before = PAGE.read_text()
        after = renewed(before)
    except (PageError, OSError, KeyError) as err:
        sys.exit(f'osu_container/generate/figures_page.py: {err}')
    if before != after:
        if check:
            sys.exit(f'{PAGE} is not what its data say: run osu_container/generate/figures_page.py')
        PAGE.write_text(after)
        print(f'written: {PAGE}')


if __name__ == '__main__':
    main()

"""The tables of a report as data; template.html.j2 shows them."""
from __future__ import annotations

from dataclasses import dataclass

from osu_container.bench.compare import comparison_text
from osu_container.bench.report import content
from osu_container.bench.results import ratios
from osu_container.bench.results.model import size_text
from osu_container.proof import judging

NOTHING = '–'


@dataclass
class Cell:
    """A cell: text; verdict of compare, or ''; more: what stands below the text (list of str)."""

    text: str
    verdict: str = ''
    more: tuple = ()


@dataclass
class Table:
    """A table: caption, titles of its columns, rows of Cell, of which the first heads its row; key: its address."""

    caption: str
    columns: list[str]
    rows: list[list[Cell]]
    key: str


def _table(caption, columns, rows, key):
    """Return a Table of rows of texts (list of tuple of str), None without a row."""
    return Table(caption, columns, [list(map(Cell, row)) for row in rows], key) if rows else None


def _value(curve, size):
    """Return the Cell of a Curve at a size: median, ratio to native with its verdict, spread of the repeats."""
    if size not in curve.series.values:
        return Cell(NOTHING)
    median, low, high, repeats = curve.values(size)
    point = curve.points.get(size)
    more = [f'{ratios.text(point.ratio)} {point.verdict}'] if point else []
    more += [f'{ratios.text(100 * (high - low) / median)} %'] if repeats > 1 and high > low else []
    return Cell(ratios.text(median), point.verdict if point else '', tuple(more))


def values(view):
    """Return the Table of the median of every series of a View at every message size."""
    sizes = sorted({size for curve in view.curves for size in curve.series.values})
    rows = [[Cell(size_text(size) or ('0 B' if sizes[1:] else '')), *(_value(curve, size) for curve in view.curves)]
            for size in sizes]
    return Table(f'{view.unit}: medians, ratio to native, spread (most - least) / median of repeats',
                 ['size', *(curve.name for curve in view.curves)], rows, f'{view.key}-values')


def verdicts(section):
    """Return the Table of cases x series with what compare says of all sizes, None without native."""
    names = list(dict.fromkeys(curve.name for view in section.views for curve in view.curves if curve.comparison))
    rows = []
    for view in section.views:
        compared = {curve.name: curve.comparison for curve in view.curves if curve.comparison}
        failed = {one.name for dataset in section.datasets for one in dataset.failures if one.case == view.case}
        rows.append([Cell(view.case.title), *(
            Cell(compared[name].graded(), compared[name].verdict, (comparison_text.furthest(compared[name]),))
            if name in compared else Cell('no figures' if name.partition(', ')[0] in failed else NOTHING)
            for name in names)])
    return Table('Against native, with the ratio that is furthest from equal', ['case', *names], rows,
                 f'{section.key}-verdicts') if names else None


def proof(dataset, found):
    """Return the Table of the libraries that the ranks of a run loaded, None without any proof. found: Details."""
    loaded = {}
    for entry in dataset.modules.values():
        for group in (group for proof in found.proofs.get(entry['approach'], []) for group in proof):
            for name, library in group['libraries'].items():
                build = (library.get('build_id') or library.get('sha256') or '')[:12]
                ranks, nodes = loaded.setdefault((entry['name'], judging.describe(group, name), library['path'] or '',
                                                  build), (set(), set()))
                ranks.update(group['ranks'])
                nodes.update(group['nodes'])
    return _table(f'{dataset.title}: what the ranks loaded, read from the running ranks',
                  ['module', 'library', 'path', 'build id or sha256', 'ranks', 'nodes'],
                  [(*which, judging.ranges(ranks), ', '.join(sorted(nodes))) for which, (ranks, nodes) in
                   loaded.items()], f'{content.slug(dataset.name)}-proof')


def failures(section):
    """Return the Table of what gave no numbers, with reasons, None if all did."""
    found = {}
    for dataset in section.datasets:
        for one in dataset.failures:
            key = one.case.title, f'{one.name}, {dataset.name}', 'skipped' if one.skipped else 'failed', one.reason
            found.setdefault(key, []).append(one)
    return _table('Measurements without numbers', ['case', 'series', 'what', 'reason', 'repeats', 'its messages'],
                  [(*key, judging.ranges(one.repeat for one in entries), entries[0].log or NOTHING)
                   for key, entries in found.items()], f'{section.key}-failures')


def fact(value):
    """Return a fact as text."""
    if isinstance(value, dict):
        return '; '.join(f'{key}: {fact(one)}' for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ', '.join(map(str, value))
    return 'not known' if value in (None, '') else str(value)


def environment(dataset):
    """Return the Table of what is known of a run: machine, versions, Slurm, and its modules with their images."""
    facts = dataset.facts
    rows = [(name, facts.get(name)) for name in ('site', 'started', 'ended', 'tag', 'repeats', 'project', 'machine',
                                                 'versions', 'slurm')]
    rows += [(name, {part: entry.get(part) for part in ('network', 'image', 'variables')})
             for name, entry in dataset.modules.items()]
    return _table(f'{dataset.title}: environment and modules', ['what', 'value'],
                  [(name, fact(value)) for name, value in rows], f'{content.slug(dataset.name)}-environment')


def sources(report):
    """Return the Table of where every published figure is from, None if none is shown."""
    keys = ('source', 'url', 'date', 'node_type', 'stack', 'evidence', 'notes')
    return _table('Published figures: where they are from', ['name', 'what', *keys],
                  [(one.name, one.title, *(fact(one.facts.get(key)) for key in keys))
                   for section in report.sections for one in section.datasets if one.kind != 'run'], 'sources')

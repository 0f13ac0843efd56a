"""The tables of a report as data; template.html.j2 shows them."""

from __future__ import annotations

from dataclasses import dataclass

from osu_container.bench.compare import comparison_text
from osu_container.bench.report import content
from osu_container.bench.results import ratios
from osu_container.bench.results.model import format_size
from osu_container.proof import judging

NOTHING = '–'


@dataclass
class TableCell:
    """A cell: text; verdict of compare, or ''; more: what stands below the text (list of str)."""

    text: str
    verdict: str = ''
    extra_lines: tuple = ()


@dataclass
class ReportTable:
    """
    A table: caption, titles of its columns, rows of Cell, of which the first heads its row; key:
    its address.
    """

    caption: str
    columns: list[str]
    rows: list[list[TableCell]]
    key: str


def _build_table(caption, columns, rows, key):
    """Return a Table of rows of texts (list of tuple of str), None without a row."""
    return (
        ReportTable(caption, columns, [list(map(TableCell, row)) for row in rows], key)
        if rows
        else None
    )


def _build_value_cell(curve, size):
    """
    Return the Cell of a Curve at a size: median, ratio to native with its verdict, spread of the
    repeats.
    """
    if size not in curve.series.values:
        return TableCell(NOTHING)
    median, low, high, repeats = curve.summarize_repeats(size)
    point = curve.points.get(size)
    more = [f'{ratios.format_ratio(point.ratio)} {point.verdict}'] if point else []
    more += (
        [f'{ratios.format_ratio(100 * (high - low) / median)} %']
        if repeats > 1 and high > low
        else []
    )
    return TableCell(ratios.format_ratio(median), point.verdict if point else '', tuple(more))


def build_values_table(view):
    """Return the Table of the median of every series of a View at every message size."""
    sizes = sorted({size for curve in view.curves for size in curve.series.values})
    rows = [
        [
            TableCell(format_size(size) or ('0 B' if sizes[1:] else '')),
            *(_build_value_cell(curve, size) for curve in view.curves),
        ]
        for size in sizes
    ]
    return ReportTable(
        f'{view.unit}: medians, ratio to native, spread (most - least) / median of repeats',
        ['size', *(curve.name for curve in view.curves)],
        rows,
        f'{view.key}-values',
    )


def build_verdicts_table(section):
    """
    Return the Table of cases x series with what compare says of all sizes, None without native.
    """
    names = list(
        dict.fromkeys(
            curve.name for view in section.views for curve in view.curves if curve.comparison
        )
    )
    rows = []
    for view in section.views:
        compared = {curve.name: curve.comparison for curve in view.curves if curve.comparison}
        failed = {
            one.name
            for dataset in section.datasets
            for one in dataset.failures
            if one.case == view.case
        }
        rows.append(
            [
                TableCell(view.case.title),
                *(
                    TableCell(
                        compared[name].format_curve_verdict(),
                        compared[name].verdict,
                        (comparison_text.format_furthest_ratio(compared[name]),),
                    )
                    if name in compared
                    else TableCell('no figures' if name.partition(', ')[0] in failed else NOTHING)
                    for name in names
                ),
            ]
        )
    return (
        ReportTable(
            'Against native, with the ratio that is furthest from equal',
            ['case', *names],
            rows,
            f'{section.key}-verdicts',
        )
        if names
        else None
    )


def build_proof_table(dataset, found):
    """
    Return the Table of the libraries that the ranks of a run loaded, None without any proof.
    found: Details.
    """
    loaded = {}
    for entry in dataset.modules.values():
        for group in (
            group for proof in found.proofs.get(entry['approach'], []) for group in proof
        ):
            for name, library in group['libraries'].items():
                build = (library.get('build_id') or library.get('sha256') or '')[:12]
                ranks, nodes = loaded.setdefault(
                    (
                        entry['name'],
                        judging.summarize_library(group, name),
                        library['path'] or '',
                        build,
                    ),
                    (set(), set()),
                )
                ranks.update(group['ranks'])
                nodes.update(group['nodes'])
    return _build_table(
        f'{dataset.title}: what the ranks loaded, read from the running ranks',
        ['module', 'library', 'path', 'build id or sha256', 'ranks', 'nodes'],
        [
            (*which, judging.format_ranges(ranks), ', '.join(sorted(nodes)))
            for which, (ranks, nodes) in loaded.items()
        ],
        f'{content.slugify(dataset.name)}-proof',
    )


def build_failures_table(section):
    """Return the Table of what gave no numbers, with reasons, None if all did."""
    found = {}
    for dataset in section.datasets:
        for one in dataset.failures:
            key = (
                one.case.title,
                f'{one.name}, {dataset.name}',
                'skipped' if one.is_skipped else 'failed',
                one.reason,
            )
            found.setdefault(key, []).append(one)
    return _build_table(
        'Measurements without numbers',
        ['case', 'series', 'what', 'reason', 'repeats', 'its messages'],
        [
            (*key, judging.format_ranges(one.repeat for one in entries), entries[0].log or NOTHING)
            for key, entries in found.items()
        ],
        f'{section.key}-failures',
    )


def format_fact(value):
    """Return a fact as text."""
    if isinstance(value, dict):
        return '; '.join(f'{key}: {format_fact(one)}' for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ', '.join(map(str, value))
    return 'not known' if value in (None, '') else str(value)


def build_environment_table(dataset):
    """
    Return the Table of what is known of a run: machine, versions, Slurm, and its modules with
    their images.
    """
    facts = dataset.facts
    rows = [
        (name, facts.get(name))
        for name in (
            'site',
            'started',
            'ended',
            'tag',
            'repeats',
            'project',
            'machine',
            'versions',
            'slurm',
        )
    ]
    rows += [
        (name, {part: entry.get(part) for part in ('network', 'image', 'variables')})
        for name, entry in dataset.modules.items()
    ]
    return _build_table(
        f'{dataset.title}: environment and modules',
        ['what', 'value'],
        [(name, format_fact(value)) for name, value in rows],
        f'{content.slugify(dataset.name)}-environment',
    )


def build_sources_table(report):
    """Return the Table of where every published figure is from, None if none is shown."""
    keys = ('source', 'url', 'date', 'node_type', 'stack', 'evidence', 'notes')
    return _build_table(
        'Published figures: where they are from',
        ['name', 'what', *keys],
        [
            (one.name, one.title, *(format_fact(one.facts.get(key)) for key in keys))
            for section in report.sections
            for one in section.datasets
            if one.kind != 'run'
        ],
        'sources',
    )

"""Build the tables of a report as data; the template template.html.j2 renders the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator

from osu_container.bench.compare import comparison_text
from osu_container.bench.report import content
from osu_container.bench.results.model import Dataset, Failure, format_ratio, format_size
from osu_container.proof import judging

NOTHING = '–'


@dataclass
class TableCell:
    """A cell of a table in a report."""

    text: str
    #: verdict of the comparison with native, '' without a verdict
    verdict: str = ''
    #: further lines below the text
    extra_lines: tuple[str, ...] = ()


@dataclass
class ReportTable:
    """A table in a report: caption, column headings and rows of cells."""

    caption: str
    #: headings of the columns
    columns: list[str]
    #: the first cell of each row is its heading
    rows: list[list[TableCell]]
    #: identifier of the table in the page
    key: str


def _build_table(
    caption: str, columns: list[str], rows: Iterable[tuple[str, ...]], key: str
) -> ReportTable | None:
    """Return a table with texts as cells, None if there are no rows."""
    return (
        ReportTable(caption, columns, [list(map(TableCell, row)) for row in rows], key)
        if rows
        else None
    )


def _build_value_cells(curve: content.Curve, sizes: list[int]) -> Iterator[TableCell]:
    """
    Yield the table cell of a curve for each message size in `sizes`.

    The cell shows the curve's median, the ratio of this median to the median of the native run, the
    verdict on this ratio, and the spread of the repeats.
    """
    points = curve.points
    for size in sizes:
        if size not in curve.summaries:
            yield TableCell(NOTHING)
            continue
        median, low, high, _ = curve.summaries[size]
        point = points.get(size)
        extra_lines = [f'{format_ratio(point.ratio)} {point.verdict}'] if point else []
        if high > low:
            extra_lines.append(f'{format_ratio(100 * (high - low) / median)} %')
        yield TableCell(format_ratio(median), point.verdict if point else '', tuple(extra_lines))


def build_values_table(view: content.View) -> ReportTable | None:
    """
    Return the table of medians, with a column for each curve and a row for each size.

    The result is None for more than comparison_text.MOST_SIZES sizes, because nobody reads such a
    table and a browser cannot show a table of 1,000,000 rows.
    """
    sizes = sorted({size for curve in view.curves for size in curve.series.values})
    if len(sizes) > comparison_text.MOST_SIZES:
        return None
    columns = [
        [TableCell(format_size(size) or ('0 B' if sizes[1:] else '')) for size in sizes],
        *(_build_value_cells(curve, sizes) for curve in view.curves),
    ]
    rows = list(map(list, zip(*columns)))
    return ReportTable(
        f"{view.unit}: each cell shows the median of the repeats, the ratio to native, and the spread "
        "of the repeats, (maximum - minimum) / median",
        ['size', *(curve.name for curve in view.curves)],
        rows,
        f'{view.key}-values',
    )


def build_verdicts_table(section: content.Section) -> ReportTable | None:
    """
    Return the table of verdicts, with columns for curves and rows for benchmark cases.

    The result is None if no curve was compared with native.
    """
    names = list(
        dict.fromkeys(
            curve.name for view in section.views for curve in view.curves if curve.comparison
        )
    )
    failed = {
        (failure.case, failure.name) for dataset in section.datasets for failure in dataset.failures
    }
    rows = []
    for view in section.views:
        compared = {curve.name: curve.comparison for curve in view.curves if curve.comparison}
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
                    else TableCell(
                        'no results' if (view.case, name.partition(', ')[0]) in failed else NOTHING
                    )
                    for name in names
                ),
            ]
        )
    return (
        ReportTable(
            'Verdict on each approach compared with native, and the ratio to native that is furthest '
            'from 1',
            ['case', *names],
            rows,
            f'{section.key}-verdicts',
        )
        if names
        else None
    )


def build_proof_table(dataset: Dataset) -> ReportTable | None:
    """
    Return the table of the libraries that the ranks of a run loaded.

    The result is None if the run did not record the loaded libraries.
    """
    loaded: dict[tuple[str, ...], tuple[set[int], set[str]]] = {}
    for entry in dataset.modules.values():
        for group in (
            group
            for series in dataset.select_series(name=entry['approach'])
            for proof in series.facts['proofs']
            for group in proof
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
        f"{dataset.title}: libraries that the ranks had loaded while the programs ran",
        ['module', 'library', 'path', 'build id or sha256', 'ranks', 'nodes'],
        [
            (*key, judging.format_ranges(ranks), ', '.join(sorted(nodes)))
            for key, (ranks, nodes) in loaded.items()
        ],
        f'{content.slugify(dataset.name)}-proof',
    )


def build_failures_table(section: content.Section) -> ReportTable | None:
    """
    Return the table of failed and skipped measurements, with the reasons.

    The result is None if no measurement failed and no measurement was skipped.
    """
    failures: dict[tuple[str, ...], list[Failure]] = {}
    for dataset in section.datasets:
        for failure in dataset.failures:
            key = (
                failure.case.title,
                f'{failure.name}, {dataset.name}',
                'skipped' if failure.is_skipped else 'failed',
                failure.reason,
            )
            failures.setdefault(key, []).append(failure)
    return _build_table(
        'Measurements without numbers',
        ['case', 'series', 'status', 'reason', 'repeats', 'output'],
        [
            (
                *key,
                judging.format_ranges(failure.repeat for failure in entries),
                entries[0].log or NOTHING,
            )
            for key, entries in failures.items()
        ],
        f'{section.key}-failures',
    )


def format_fact(value: Any) -> str:
    """Return a value from a results file as text; None and '' become 'unknown'."""
    if isinstance(value, dict):
        return '; '.join(f'{key}: {format_fact(part)}' for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ', '.join(map(str, value))
    return 'unknown' if value in (None, '') else str(value)


def build_environment_table(dataset: Dataset) -> ReportTable | None:
    """Return the table of a run's environment: machine, versions, Slurm, modules and images."""
    facts = dataset.facts
    rows = [
        (name, facts.get(name))
        for name in [
            'site',
            'started',
            'ended',
            'tag',
            'repeats',
            'project',
            'machine',
            'versions',
            'slurm',
        ]
    ]
    rows += [
        (name, {part: entry.get(part) for part in ('network', 'image', 'variables')})
        for name, entry in dataset.modules.items()
    ]
    return _build_table(
        f'{dataset.title}: environment and modules',
        ['name', 'value'],
        [(name, format_fact(value)) for name, value in rows],
        f'{content.slugify(dataset.name)}-environment',
    )


def build_sources_table(report: content.Report) -> ReportTable | None:
    """
    Return the table of the sources of all published results in a report.

    The result is None if the report has no published results.
    """
    keys = ['source', 'url', 'date', 'node_type', 'stack', 'evidence', 'notes']
    return _build_table(
        'Sources of the published results',
        ['name', 'title', *keys],
        [
            (dataset.name, dataset.title, *(format_fact(dataset.facts.get(key)) for key in keys))
            for section in report.sections
            for dataset in section.datasets
            if dataset.kind != 'run'
        ],
        'sources',
    )

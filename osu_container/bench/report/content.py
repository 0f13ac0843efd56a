"""
What there is to show, whatever it is shown in: Report -> Section -> View (one case) -> Curve (one
series).

A section is what is compared with each other: all runs of the command line, or one publication.
Ratios are to the native series of the same run or publication, by osu_container.bench.compare;
without one there are none.
"""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field

from osu_container.bench.compare.statistics import Comparison, compare_series, is_same_run
from osu_container.bench.report import ReportError, charts
from osu_container.bench.results import ratios, run_files
from osu_container.bench.results.model import Case, Dataset, Series

NATIVE = 'native'


@dataclass
class Details:
    """
    What the lines of one run have beside figures.

    typed   {approach: {command as typed: None}}
    proofs  {approach: [proof of a measurement, see proof.judging.merged()]}
    broken  lines (list of str) of the outputs in which figures were lost
    """

    commands: dict = field(default_factory=dict)
    proofs: dict = field(default_factory=dict)
    broken_lines: list = field(default_factory=list)


def read_details(dataset):
    """
    Return the Details of a run (Dataset with a path). Raises ResultsError as run_files.read()
    does.
    """
    found = Details()
    wanted = {entry['approach'] for entry in dataset.modules.values()} | set(dataset.names)
    for _, entry in run_files.read_entries(dataset.path)[0]:
        if entry['kind'] != 'measurement' or entry['approach'] not in wanted:
            continue
        found.broken_lines += entry.get('broken') or []
        if entry.get('typed'):
            found.commands.setdefault(entry['approach'], {})[entry['typed']] = None
        if entry['status'] == 'ok' and entry.get('proof'):
            found.proofs.setdefault(entry['approach'], []).append(entry['proof'])
    return found


@dataclass
class Curve:
    """
    A series in a chart.

    name        as shown, unique within its section; 'hybrid', 'hybrid, 20261121T131244Z'
    series      Series
    dataset     Dataset that it is from
    style       charts.Style
    comparison  compare.statistics.Comparison with native, None where there is no native, and for native itself
    """

    name: str
    series: Series
    dataset: Dataset
    style: charts.Style
    comparison: Comparison | None = None

    @property
    def points(self):
        """Return {size: compare.statistics.Point} of the comparison with native, {} without one."""
        return {point.size: point for point in self.comparison.points} if self.comparison else {}

    def summarize_repeats(self, size):
        """Return (median, least, most, number of repeats) at a size."""
        values = self.series.values[size].values()
        return statistics.median(values), min(values), max(values), len(values)

    def list_plot_points(self):
        """Return its points [(size, median, least, most)] that a logarithmic axis can show."""
        return [(size, *self.summarize_repeats(size)[:3]) for size in self.series.sizes if size]

    def list_ratio_points(self):
        """
        Return its ratios to native [(size, ratio, least, most within a repeat)]; [] without
        native.
        """
        found = []
        for size, point in self.points.items():
            each = [point.ratio]
            if point.method == 'paired':
                each = ratios.compute_paired_ratios(
                    self.series.values[size], self.comparison.b.values[size]
                )
            if size:
                found.append((size, point.ratio, min(each), max(each)))
        return found


@dataclass
class View:
    """
    A case with all its curves; key: part of an address in the page (str), unique in the report.
    """

    case: Case
    key: str
    curves: list[Curve] = field(default_factory=list)

    @property
    def unit(self):
        """Return the unit (str) of its values as people write it."""
        return 'µs' if self.case.unit == 'us' else self.case.unit


@dataclass
class Section:
    """
    What is compared with each other.

    title     str
    key       part of an address in the page
    datasets  list of Dataset: the runs, or one publication
    views     list of View
    details   {name of a dataset: Details} of the runs
    """

    title: str
    key: str
    datasets: list[Dataset]
    views: list[View]
    details: dict


@dataclass
class Report:
    """All that is shown: title, and sections."""

    title: str
    sections: list[Section]


def find_native_name(dataset):
    """
    Return the name (str) of the series of a Dataset that counts as native; a publication says
    which, or None.
    """
    return NATIVE if dataset.kind == 'run' else dataset.facts.get('native', NATIVE)


def slugify(text):
    """Return text as part of an address: letters, digits and '-' alone."""
    return re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-') or 'x'


def build_section(title, datasets):
    """
    Return the Section of datasets that are shown in the same charts.

    :param datasets: list of Dataset; names that several of them have are followed by the name of
        the run
    Raises ReportError if the datasets have neither figures nor failures, or one is there twice.
    """
    names = [one.name for one in datasets]
    if len(set(names)) < len(names):
        raise ReportError(f"{', '.join(names)}: a run is named twice; each is shown once")
    if not any(one.series or one.failures for one in datasets):
        raise ReportError(
            f"{', '.join(names)}: no figures and no failures, so there is nothing to show. Did the run "
            "end before its first measurement?"
        )
    key, views, labels = slugify('-'.join(names)), {}, _assign_labels(datasets)
    for dataset in datasets:
        natives = {one.case: one for one in dataset.select_series(name=find_native_name(dataset))}
        for series in sorted(dataset.series, key=lambda one: one.name != find_native_name(dataset)):
            view = views.setdefault(
                series.case, View(series.case, f'{key}-{slugify(series.case.title)}')
            )
            native = natives.get(series.case)
            name, style = labels[dataset.name, series.name]
            curve = Curve(name, series, dataset, style)
            if native not in (None, series) and set(series.values) & set(native.values):
                curve.comparison = compare_series(
                    series, native, paired=is_same_run(dataset, dataset)
                )
            view.curves.append(curve)
    return Section(
        title,
        key,
        list(datasets),
        list(views.values()),
        {one.name: read_details(one) for one in datasets if one.kind == 'run' and one.path},
    )


def _assign_labels(datasets):
    """Return {(name of a dataset, name of a series): (name as shown, Style)}."""
    held, found, known = [name for one in datasets for name in one.names], {}, list(charts.COLOURS)
    taken, free = set(), len(known)
    for dataset in datasets:
        native = find_native_name(dataset)
        for name in dataset.names:
            approach = NATIVE if name == native else name
            number = known.index(approach) if approach in known and approach not in taken else free
            free += number == free
            taken.add(approach)
            collides = held.count(name) > 1 or (dataset.kind != 'run' and len(datasets) > 1)
            found[dataset.name, name] = (
                f'{name}, {dataset.name}' if collides else name,
                charts.select_style(number, approach),
            )
    return found

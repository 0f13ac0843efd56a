"""
Model the content of a report.

A Report consists of Sections, a Section of Views (one View for each case), and a View of Curves
(one Curve for each series of a dataset). A Section shows datasets in the same charts: either all
runs that the user names, or one publication. Each ratio compares a curve with the native curve of
the same run or publication. A dataset without native curves has no ratios.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Sequence

from osu_container.bench.compare.statistics import Comparison, Point, compare_series, is_same_run
from osu_container.bench.report import ReportError, charts
from osu_container.bench.results.model import Case, Dataset, Series

NATIVE = 'native'
#: Factor between the highest and the lowest repeat above which a value is too noisy to compare
NOISY_SPREAD = 1.5


@dataclass
class Curve:
    """A curve in a chart: the results of one benchmark case with one approach."""

    #: name in the legend, unique within its section: 'hybrid', 'hybrid, 20261121T131244Z'
    name: str
    series: Series
    #: dataset of the series
    dataset: Dataset
    style: charts.Style
    #: comparison with native, None without native and for native itself
    comparison: Comparison | None = None

    @property
    def points(self) -> dict[int, Point]:
        """
        The comparison with the native curve at each message size, as {message size: Point}.

        The dict is empty if the curve was not compared with native.
        """
        return {point.size: point for point in self.comparison.points} if self.comparison else {}

    @cached_property
    def summaries(self) -> dict[int, tuple[float, float, float, int]]:
        """The values by message size: {size: (median, minimum, maximum, number of repeats)}."""
        return {
            size: (
                median,
                min(values := self.series.values[size].values()),
                max(values),
                len(values),
            )
            for size, median in self.series.compute_medians().items()
        }

    def list_plot_points(self) -> list[tuple[int, float, float, float]]:
        """Return a list of (size, median, minimum, maximum), one for each size above 0 bytes."""
        return [(size, *summary[:3]) for size, summary in self.summaries.items() if size]

    def list_ratio_points(self) -> list[tuple[int, float, float, float]]:
        """
        Return a list of (size, ratio to native, low, high), one for each size above 0 bytes.

        With three or more repeats, `low` and `high` are the ends of the 90 % confidence interval.
        With fewer repeats, `low` and `high` are the lowest and the highest ratio in a single
        repeat.
        """
        rows = []
        for size, point in self.points.items():
            bar = [point.ratio]
            if point.has_interval:
                bar += filter(None, (point.low, point.high))
            elif self.comparison and point.method == 'paired':
                a, b = self.series.values[size], self.comparison.b.values[size]
                bar += [a[repeat] / b[repeat] for repeat in set(a) & set(b)]
            if size:
                rows.append((size, point.ratio, min(bar), max(bar)))
        return rows


@dataclass
class View:
    """The part of a report on one benchmark case, with all curves that measured this case."""

    case: Case
    #: identifier of its part of the page, unique in the report
    key: str
    curves: list[Curve] = field(default_factory=list)

    @property
    def unit(self) -> str:
        """The unit of the measured values, with 'µs' in place of 'us'."""
        return 'µs' if self.case.unit == 'us' else self.case.unit


@dataclass
class Section:
    """A section of a report: datasets that are shown in the same charts."""

    title: str
    #: identifier of its part of the page
    key: str
    #: all runs of the command line, or one publication
    datasets: list[Dataset]
    views: list[View]
    #: whether most values are too noisy to compare, see NOISY_SPREAD
    is_noisy: bool = False


@dataclass
class Report:
    """The content of a report page."""

    title: str
    sections: list[Section]


def slugify(text: str) -> str:
    """Return `text` as an HTML identifier with only lower-case letters, digits and '-'."""
    return re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-') or 'x'


def build_section(title: str, datasets: Sequence[Dataset]) -> Section:
    """
    Return a section that shows several datasets in the same charts.

    If several datasets have a curve of the same name, the name of the dataset is added to the name
    of each curve. If most values vary by more than NOISY_SPREAD between repeats, the section shows
    only comparisons with enough repeats and without the verdict 'noisy'.

    Raises ReportError if the datasets have no results and no failures, or if the same dataset is
    given twice.
    """
    names = [entry.name for entry in datasets]
    if len(set(names)) < len(names):
        raise ReportError(
            f"the same run is named twice: {', '.join(names)}. Name each run only once"
        )
    if not any(entry.series or entry.failures for entry in datasets):
        raise ReportError(
            f"nothing to show: {', '.join(names)} has neither results nor failures, because the "
            "run stopped before its first measurement. Measure again: `osu-container bench`"
        )
    key, labels = slugify('-'.join(names)), _assign_labels(datasets)
    views: dict[Case, View] = {}
    for dataset in datasets:
        natives = {entry.case: entry for entry in dataset.select_series(name=dataset.native_name)}
        for series in sorted(dataset.series, key=lambda entry: entry.name != dataset.native_name):
            view = views.setdefault(
                series.case, View(series.case, f'{key}-{slugify(series.case.title)}')
            )
            native = natives.get(series.case)
            name, style = labels[dataset.name, series.name]
            curve = Curve(name, series, dataset, style)
            if native and native != series and set(series.values) & set(native.values):
                curve.comparison = compare_series(
                    series, native, paired=is_same_run(dataset, dataset)
                )
            view.curves.append(curve)
    section = Section(title, key, list(datasets), list(views.values()))
    curves = [curve for view in section.views for curve in view.curves]
    spreads = [high / low for curve in curves for _, low, high, _ in curve.summaries.values()]
    section.is_noisy = 2 * sum(spread > NOISY_SPREAD for spread in spreads) > len(spreads)
    for curve in curves if section.is_noisy else ():
        comparison = curve.comparison
        if comparison and (comparison.few_repeats or comparison.verdict == 'noisy'):
            curve.comparison = None
    return section


def _assign_labels(datasets: Sequence[Dataset]) -> dict[tuple[str, str], tuple[str, charts.Style]]:
    """Return {(name of dataset, name of curve): (name in the legend, style)}."""
    counts = Counter(name for dataset in datasets for name in dataset.names)
    approaches = list(charts.COLOURS)
    labels: dict[tuple[str, str], tuple[str, charts.Style]] = {}
    used: set[str] = set()
    free = len(approaches)
    for dataset in datasets:
        for name in dataset.names:
            approach = NATIVE if name == dataset.native_name else name
            number = (
                approaches.index(approach)
                if approach in approaches and approach not in used
                else free
            )
            free += number == free
            used.add(approach)
            collides = counts[name] > 1 or (dataset.kind != 'run' and len(datasets) > 1)
            labels[dataset.name, name] = (
                f'{name}, {dataset.name}' if collides else name,
                charts.select_style(number, approach),
            )
    return labels

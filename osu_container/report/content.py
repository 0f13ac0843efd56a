"""
What there is to show, whatever it is shown in: Report -> Section -> View (one case) -> Curve (one series).

A section is what is compared with each other: all runs of the command line, or one publication. Ratios are to the
native series of the same run or publication, by osu_container.compare; without one there are none.
"""
from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field

from .. import compare
from ..results import ratios, run_files
from ..results.model import Case, Dataset, Series, has_sizes, is_command
from . import ReportError, charts


@dataclass
class Details:
    """
    What the lines of one run hold beside figures.

    typed     {approach: {command as typed: None}}
    proofs    {approach: [proof of a measurement, see proof.judging.merged()]}
    unproved  {approach: number of measurements that succeeded without a proof}
    counts    {status: number of measurements}
    broken    lines (list of str) of the outputs in which figures were lost
    nodes     names of all nodes, in order
    """

    typed: dict = field(default_factory=dict)
    proofs: dict = field(default_factory=dict)
    unproved: dict = field(default_factory=dict)
    counts: dict = field(default_factory=lambda: dict.fromkeys(run_files.STATUS, 0))
    broken: list = field(default_factory=list)
    nodes: list = field(default_factory=list)


def details_of(dataset):
    """Return the Details of a run (Dataset with a path). Raises ResultsError as run_files.read() does."""
    found, nodes = Details(), {}
    wanted = {entry['approach'] for entry in dataset.modules.values()} | set(dataset.names) | {
        one.name for one in dataset.failures}
    for _, entry in run_files.lines(dataset.path)[0]:
        if entry['kind'] != 'measurement' or entry['approach'] not in wanted:
            continue
        approach = entry['approach']
        found.counts[entry['status']] += 1
        found.broken += entry.get('broken') or []
        nodes.update(dict.fromkeys((entry.get('slurm') or {}).get('nodes') or []))
        if entry.get('typed'):
            found.typed.setdefault(approach, {})[entry['typed']] = None
        if entry['status'] == 'ok' and entry.get('proof'):
            found.proofs.setdefault(approach, []).append(entry['proof'])
        elif entry['status'] == 'ok':
            found.unproved[approach] = found.unproved.get(approach, 0) + 1
    found.nodes = list(nodes)
    return found


NATIVE = 'native'
#: Groups of benchmarks, in the order of the page: (title, pattern of the name)
GROUPS = (
    ('Bandwidth between two ranks', re.compile(r'osu_(bi)?bw(_persistent)?$')),
    ('Latency between two ranks', re.compile(r'osu_latency')),
    ('Many pairs', re.compile(r'osu_(mbw_mr|multi_lat)$')),
    ('One-sided', re.compile(r'osu_(put|get|acc|cas|fop)')),
    ('RCCL and NCCL', re.compile(r'osu_xccl_')),
    ('Collectives', re.compile(r'osu_i?(all|bcast|barrier|gather|scatter|reduce|neighbor)')),
    ('Start and others', re.compile(r'')),
)


@dataclass
class Curve:
    """
    A series in a chart.

    name        as shown, unique within its section; 'hybrid', 'hybrid, run 20261121T131244Z'
    series      Series
    dataset     Dataset that it is from
    style       charts.Style
    comparison  compare.Comparison with native, None where there is no native, and for native itself
    stats       {size in bytes: (median, least, most, number of repeats)}, ascending
    """

    name: str
    series: Series
    dataset: Dataset
    style: charts.Style
    comparison: object = None
    stats: dict = field(default_factory=dict)

    @property
    def points(self):
        """Return {size: compare.Point} of the comparison with native, {} without one."""
        return {point.size: point for point in self.comparison.points} if self.comparison else {}

    def drawn(self):
        """Return its points [(size, median, least, most)] that a logarithmic axis can show."""
        return [(size, median, low, high) for size, (median, low, high, _) in self.stats.items() if size]

    def ratios(self):
        """Return its ratios to native [(size, ratio, least, most within a repeat)]; [] without native."""
        found = []
        for size, point in self.points.items():
            each = [point.ratio]
            if point.method == 'paired':
                each = ratios.within_repeats(self.series.values[size], self.comparison.b.values[size])
            if size:
                found.append((size, point.ratio, min(each), max(each)))
        return found

    @property
    def peak(self):
        """Return the size (int) at which it is told by one number: where it is best; for times the least size."""
        more = self.series.case.more_is_better
        return max(self.stats, key=lambda size: (self.stats[size][0], -size)) if more else \
            min(filter(None, self.stats), default=0)


@dataclass
class View:
    """
    A case with all its curves.

    key      part of an address in the page (str), unique in the report
    natives  {name of a dataset: Curve}
    """

    case: Case
    key: str
    curves: list[Curve] = field(default_factory=list)
    natives: dict = field(default_factory=dict)

    @property
    def sized(self):
        """Return True if the benchmark has message sizes."""
        return has_sizes(self.case.benchmark)

    @property
    def meaning(self):
        """Return what the numbers are and which are good (str)."""
        what = 'A command of the user, in ' if is_command(self.case.benchmark) else \
            'Bandwidth in ' if self.case.more_is_better else 'Time in '
        return f"{what}{charts.UNITS[self.case.unit]}; {'more' if self.case.more_is_better else 'less'} is better."


@dataclass
class Section:
    """
    What is compared with each other.

    title     str
    key       part of an address in the page
    datasets  list of Dataset: the runs, or one publication
    views     list of View
    names     of all own series in the order of their first appearance (list of str)
    details   {name of a dataset: Details} of the runs
    labels    {(name of a dataset, name of a series): name as shown}
    """

    title: str
    key: str
    datasets: list[Dataset]
    views: list[View] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    details: dict = field(default_factory=dict)
    labels: dict = field(default_factory=dict)


@dataclass
class Report:
    """All that is shown: title, sections, and whether it is of the published figures alone."""

    title: str
    sections: list[Section]
    published: bool = False

    @property
    def views(self):
        """Return the views of all sections."""
        return [view for section in self.sections for view in section.views]

    @property
    def datasets(self):
        """Return every dataset that a figure is from."""
        return [one for section in self.sections for one in section.datasets]


def native_name(dataset):
    """Return the name (str) of the series of a Dataset that counts as native; a publication says which, or None."""
    return NATIVE if dataset.kind == 'run' else dataset.facts.get('native', NATIVE)


def group_of(benchmark):
    """Return the title of the group (str) of a benchmark."""
    return next(title for title, pattern in GROUPS if pattern.match(benchmark))


def statistics_of(series):
    """Return {size: (median, least, most, repeats)} of a Series, ascending."""
    found = {}
    for size in series.sizes:
        values = series.values[size].values()
        found[size] = (statistics.median(values), min(values), max(values), len(values))
    return found


def slug(text):
    """Return text as part of an address: letters, digits and '-' alone."""
    return re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-') or 'x'


def section(title, datasets):
    """
    Return the Section of datasets that are shown in the same charts.

    :param datasets: list of Dataset; names that several of them have are followed by the name of the run
    Raises ReportError if the datasets have neither figures nor failures, or one is there twice.
    """
    _check(datasets)
    made = Section(title, slug(title if len(datasets) > 1 else datasets[0].name), list(datasets))
    styles, labels = _styles(datasets)
    views = _views(made.key, datasets, styles, labels)
    made.views = [view for title, _ in GROUPS for view in views if group_of(view.case.benchmark) == title]
    made.names, made.labels = list(labels.values()), labels
    made.details = {one.name: details_of(one) for one in datasets if one.kind == 'run' and one.path}
    return made


def _check(datasets):
    """Raise ReportError if datasets (list of Dataset) have nothing to show, or one is there twice."""
    names = [one.name for one in datasets]
    for name in names:
        if names.count(name) > 1:
            raise ReportError(f"{name} is named twice: each run is shown once")
    if not any(one.series or one.failures for one in datasets):
        raise ReportError(f"{', '.join(names)}: no figures and no failures, so there is nothing to show. Did the run "
                          "end before its first measurement?")


def _views(key, datasets, styles, labels):
    """Return the Views (list), one a case, with the curves of datasets; key: of the Section; else as of _styles()."""
    views = {}
    for dataset in datasets:
        for series in dataset.series:
            view = views.setdefault(series.case, View(series.case, f'{key}-{slug(series.case.title)}'))
            which = dataset.name, series.name
            view.curves.append(Curve(labels[which], series, dataset, styles[which], stats=statistics_of(series)))
            if series.name == native_name(dataset):
                view.natives[dataset.name] = view.curves[-1]
    for view in views.values():
        view.curves.sort(key=lambda curve: list(labels.values()).index(curve.name))
        for curve in view.curves:
            native = view.natives.get(curve.dataset.name)
            if native not in (None, curve) and set(curve.stats) & set(native.stats):
                curve.comparison = compare.compare_series(curve.series, native.series,
                                                          paired=compare.same_run(curve.dataset, native.dataset))
    return list(views.values())


def _styles(datasets):
    """Return ({(dataset, series name): Style}, {the same: name as shown}), native first, then the approaches."""
    held = [name for one in datasets for name in one.names]
    known = list(charts.APPROACHES)
    styles, labels, others = {}, {}, []
    for run, dataset in enumerate(datasets):
        native = native_name(dataset)
        as_known = {name: NATIVE if name == native else name for name in dataset.names}
        for name in sorted(dataset.names, key=lambda name: (*known, as_known[name]).index(as_known[name])):
            if as_known[name] not in known and name not in others:
                others.append(name)
            collides = held.count(name) > 1 or (dataset.kind != 'run' and len(datasets) > 1)
            styles[dataset.name, name] = charts.style_of(as_known[name], others.index(name) if name in others else 0,
                                                         run if collides else 0)
            labels[dataset.name, name] = f'{name}, {dataset.name}' if collides else name
    return styles, labels



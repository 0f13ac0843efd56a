"""
What there is to show, whatever it is shown in: Report -> Section -> View (one case) -> Curve (one series).

A section is what is compared with each other: all runs of the command line, or one publication. Ratios are to the
native series of the same run or publication, by osu_container.compare; without one there are none.
"""
from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field, replace

from .. import compare
from ..compare import troubles
from ..results import ratios, run_files
from ..results.model import Case, Dataset, Series, has_sizes, is_command, size_text
from . import ReportError, charts

#: Libraries in the order of the proof table; others follow
LIBRARIES = ('libmpi', 'libfabric', 'libcxi', 'libmpi_gtl')


@dataclass
class Loaded:
    """A library as some ranks of a module loaded it: facts, and which ranks on which nodes in how many measurements."""

    facts: dict
    ranks: set = field(default_factory=set)
    nodes: set = field(default_factory=set)
    measurements: int = 0


@dataclass
class Details:
    """
    The lines of one run.

    typed       {approach: list of commands as typed}, each once
    loaded      {approach: {library: {identity: Loaded}}}; facts {} for ranks that did not load it
    containers  {approach: set of bool}: whether its ranks ran in a container
    measured    {approach: number of measurements with a proof}
    unproved    {approach: number of measurements that succeeded without a proof}
    counts      {status: number of measurements}
    foreign     [(approach, Case, repeat, lines, broken lines)] where the output held what is not the program's
    programs    {programs: list of approaches}
    nodes       names of all nodes, in order
    seconds     of all measurements together
    """

    typed: dict = field(default_factory=dict)
    loaded: dict = field(default_factory=dict)
    containers: dict = field(default_factory=dict)
    measured: dict = field(default_factory=dict)
    unproved: dict = field(default_factory=dict)
    counts: dict = field(default_factory=lambda: dict.fromkeys(run_files.STATUS, 0))
    foreign: list = field(default_factory=list)
    programs: dict = field(default_factory=dict)
    nodes: list = field(default_factory=list)
    seconds: float = 0.0


def details_of(dataset):
    """Return the Details of a run (Dataset with a path). Raises ResultsError as run_files.read() does."""
    found = Details()
    wanted = {entry['approach'] for entry in dataset.modules.values()} | set(dataset.names) | {
        one.name for one in dataset.failures}
    for _, entry in run_files.lines(dataset.path)[0]:
        if entry['kind'] == 'measurement' and entry['approach'] in wanted:
            _add_line(found, entry)
    return found


def _add_line(found, entry):
    """Add one measurement to the Details."""
    approach = entry['approach']
    found.counts[entry['status']] += 1
    found.seconds += entry.get('seconds') or 0
    if entry.get('typed'):
        typed = found.typed.setdefault(approach, {})
        typed[entry['typed']] = None
    for node in (entry.get('slurm') or {}).get('nodes') or []:
        if node not in found.nodes:
            found.nodes.append(node)
    if entry.get('foreign') or entry.get('broken'):
        found.foreign.append((approach, Case(**entry['case']), entry['repeat'], entry.get('foreign') or [],
                              entry.get('broken') or []))
    if entry['status'] != 'ok':
        return
    if entry.get('programs'):
        users = found.programs.setdefault(' '.join(filter(None, (entry['programs'], entry.get('release')))), [])
        if approach not in users:
            users.append(approach)
    if not entry.get('proof'):
        found.unproved[approach] = found.unproved.get(approach, 0) + 1
        return
    found.measured[approach] = found.measured.get(approach, 0) + 1
    libraries = found.loaded.setdefault(approach, {})
    for group in entry['proof']:
        found.containers.setdefault(approach, set()).add(group.get('container'))
        for name, facts in group['libraries'].items():
            identity = tuple(facts.get(key) for key in ('where', 'path', 'family', 'release', 'build_id', 'sha256',
                                                        'problem'))
            one = libraries.setdefault(name, {}).get(identity)
            if one is None:
                one = libraries[name][identity] = Loaded(facts)
            one.ranks.update(group['ranks'])
            one.nodes.update(group['nodes'])
            one.measurements += 1


NATIVE = 'native'
#: Curves behind the others that are shown from the start; the legend shows the rest
SHOWN_BEHIND = 3
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
    def background(self):
        """Return True for a curve that stands behind the others."""
        return self.style.background

    @property
    def points(self):
        """Return {size: compare.Point} of the comparison with native, {} without one."""
        return {point.size: point for point in self.comparison.points} if self.comparison else {}

    def rows(self, zero):
        """Return the rows of the chart, see charts.CURVE; zero: bool, keep size 0 (benchmarks without sizes)."""
        points = self.points
        found = []
        for size, (median, low, high, repeats) in self.stats.items():
            if size or zero:
                point = points.get(size)
                found.append((self.name, size, median, low, high, repeats,
                              *((_digits(point.ratio), *self.ratio_spread(point), point.verdict) if point else
                                [None] * 4)))
        return found

    def ratio_spread(self, point):
        """Return the least and the most ratio within a repeat (two floats) of a compare.Point; two None without."""
        if point.method != 'paired':
            return None, None
        found = ratios.within_repeats(self.series.values[point.size], self.comparison.b.values[point.size])
        return _digits(min(found)), _digits(max(found))

    def peak(self):
        """Return the size at which its median is largest, the smallest of equals."""
        return max(self.stats, key=lambda size: (self.stats[size][0], -size))


def _digits(ratio):
    """Return a ratio (float) with the digits that a chart can show."""
    return float(f'{ratio:.4g}')


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
    def shown(self):
        """Return the curves of the report itself, without those behind them."""
        return [curve for curve in self.curves if not curve.background]

    @property
    def behind(self):
        """Return the curves behind the others."""
        return [curve for curve in self.curves if curve.background]

    @property
    def sizes(self):
        """Return all message sizes of its own curves, ascending (list of int)."""
        return sorted({size for curve in self.shown for size in curve.stats})

    @property
    def meaning(self):
        """Return what the numbers are and which are good (str)."""
        if is_command(self.case.benchmark):
            return (f"A command of the user, in {self.case.unit}; "
                    f"{'more' if self.case.more_is_better else 'less'} is better.")
        what = 'Bandwidth in MB/s; more is better.' if self.case.more_is_better else \
            f'Time in {charts.UNITS[self.case.unit]}; less is better.'
        return what if self.case.unit != 'MB/s' else what.replace('MB/s', 'MB/s (10⁶ bytes)')

    def native_of(self, curve):
        """Return the native Curve that a curve is compared with, None if there is none."""
        return self.natives.get(curve.dataset.name)


@dataclass
class Called:
    """
    A trouble that was recognised: the Trouble, and the (View, Curve, sizes) that look like it.

    advice: bool, whether its remedy is for the reader, see troubles.advised; runs: bool, whether to name the run of
    each curve, as there are several
    """

    trouble: object
    where: list
    advice: bool = True
    runs: bool = False

    def name(self, curve):
        """Return the name (str) of one of its Curves, with its run where there are several."""
        which = curve.dataset.name
        return f'{curve.name}, {which}' if self.runs and not curve.name.endswith(f', {which}') else curve.name


@dataclass
class Section:
    """
    What is compared with each other.

    title     str
    key       part of an address in the page
    datasets  list of Dataset: the runs, or one publication
    views     list of View
    names     of all own series in the order of their first appearance (list of str)
    behind    list of Dataset from which curves stand behind the others
    details   {name of a dataset: Details} of the runs
    """

    title: str
    key: str
    datasets: list[Dataset]
    views: list[View] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    behind: list[Dataset] = field(default_factory=list)
    details: dict = field(default_factory=dict)

    @property
    def groups(self):
        """Return [(title, views)] by kind of benchmark, those with views only."""
        return [(title, found) for title, found in
                ((title, [view for view in self.views if group_of(view.case.benchmark) == title])
                 for title, _ in GROUPS) if found]

    @property
    def without_native(self):
        """Return the datasets that have no native series at all."""
        return [one for one in self.datasets if native_name(one) not in one.names]

    def troubles(self):
        """Return the troubles that its curves look like, each once (list of Called)."""
        found = {}
        for view in self.views:
            for curve in view.shown:
                host = curve.dataset.of(replace(view.case, buffers='H H'), curve.series.name)
                for trouble in troubles.recognise(curve.series, host=host[0] if host else None,
                                                  network=troubles.promised(curve.dataset)):
                    advice = troubles.advised(curve.dataset, self.datasets)
                    called = found.setdefault((trouble.name, trouble.remedy, advice),
                                              Called(trouble, [], advice, len(self.datasets) > 1))
                    called.where.append((view, curve, trouble.sizes))
        return sorted(found.values(), key=lambda called: not called.advice)


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
        """Return every dataset that a figure is from, own ones first, each once."""
        own = [one for section in self.sections for one in section.datasets]
        behind = [one for section in self.sections for one in section.behind]
        return list({one.name: one for one in own + behind}.values())


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
        values = list(series.values[size].values())
        if len(values) == 1:
            found[size] = (values[0], values[0], values[0], 1)
        else:
            found[size] = (statistics.median(values), min(values), max(values), len(values))
    return found


def slug(text):
    """Return text as part of an address: letters, digits and '-' alone."""
    return re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-') or 'x'


def section(title, datasets, behind=(), progress=lambda text: None):
    """
    Return the Section of datasets that are shown in the same charts.

    :param datasets: list of Dataset; names that several of them have are followed by the name of the run
    :param behind: datasets whose curves stand behind, where they have the same case
    :param progress: called with a line (str) of what is done
    Raises ReportError if the datasets have neither figures nor failures, or one is there twice.
    """
    _check(datasets)
    made = Section(title, slug(title if len(datasets) > 1 else datasets[0].name), list(datasets))
    styles, labels = _styles(datasets)
    views = _views(made.key, datasets, styles, labels)
    made.views = [view for title, _ in GROUPS for view in views if group_of(view.case.benchmark) == title]
    made.names = list(labels.values())
    order = {name: number for number, name in enumerate(made.names)}
    for number, view in enumerate(made.views, 1):
        view.curves.sort(key=lambda curve: order[curve.name])
        _compare(view)
        if number % 50 == 0:
            progress(f"{number} of {len(made.views)} cases compared with native")
    _put_behind(made, behind)
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
            view = views.get(series.case)
            if view is None:
                view = views[series.case] = View(series.case, f'{key}-{slug(series.case.title)}')
            which = dataset.name, series.name
            curve = Curve(labels[which], series, dataset, styles[which], stats=statistics_of(series))
            view.curves.append(curve)
            if series.name == native_name(dataset):
                view.natives[dataset.name] = curve
    return list(views.values())


def _compare(view):
    """Compare the curves of a View with their native, where both have a size."""
    for curve in view.curves:
        native = view.native_of(curve)
        if native is not None and native is not curve and set(curve.stats) & set(native.stats):
            curve.comparison = compare.compare_series(curve.series, native.series,
                                                      paired=compare.same_run(curve.dataset, native.dataset))


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
            collides = held.count(name) > 1
            styles[dataset.name, name] = charts.style_of(as_known[name], others.index(name) if name in others else 0,
                                                         run if collides else 0)
            labels[dataset.name, name] = f'{name}, {dataset.name}' if collides else name
    return styles, labels


def _put_behind(made, behind):
    """Add to the views of a Section the series of other datasets that have the same case: native where there is one."""
    for dataset in behind:
        if dataset.name in [one.name for one in made.datasets]:
            continue
        used = False
        for view in made.views:
            found = dataset.of(view.case)
            for series in [one for one in found if one.name == native_name(dataset)] or found:
                curve = Curve(f'{series.name}, {dataset.name}', series, dataset,
                              charts.background_style(len(view.behind), len(series.values) < 4),
                              stats=statistics_of(series))
                view.curves.append(curve)
                used = True
        if used:
            made.behind.append(dataset)


def sizes_text(sizes):
    """Return message sizes (iterable of int) as text: '1 B to 128 B', '8 KiB', '' for none."""
    sizes = sorted(sizes or [])
    if not sizes:
        return ''
    first, last = (size_text(size) or '0 B' for size in (sizes[0], sizes[-1]))
    return first if len(sizes) == 1 else f'{first} to {last}'

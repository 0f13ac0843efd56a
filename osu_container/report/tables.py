"""
The tables of a report as data. A Table becomes HTML in template.html.j2.

A verdict is always a word with a sign, never a colour alone.
"""
from __future__ import annotations

from dataclasses import dataclass, field

from osu_container.core.data.approaches import NO_LIBFABRIC

from ..compare.thresholds import degrees_text
from ..results import ratios
from ..results.model import size_text
from . import charts, content

#: Verdicts of osu_container.compare as they are shown
VERDICTS = {'same': 'same', 'better': 'better ▲', 'worse': 'worse ▼', 'noisy': 'noisy ~', 'rounded': 'rounded ≈'}
MEANING = {
    'same': 'equal within the margin of the benchmark',
    'better': 'better than native by more than the margin and the noise',
    'worse': 'worse than native by more than the margin and the noise',
    'noisy': 'the repeats scatter too much to tell',
    'rounded': 'the program prints too few digits to tell',
}
#: Series in one table of values; more of them are cut into several tables, which a printed page can hold
WIDE = 6
NOTHING = '–'
THIN = '\u202f'


@dataclass
class Cell:
    """
    A cell: text, and what is behind it.

    value    the number that the text shows, None if it shows none
    ratio    to native, None without
    verdict  key of VERDICTS, or ''
    title    more words, shown when a pointer rests on it
    link     address within the page
    code     bool, text of a computer
    spread   least and most of the repeats as text, '' of one value
    degree   how much better or worse (str of compare.thresholds.DEGREES), '' where that is not said
    """

    text: str
    value: float | None = None
    ratio: float | None = None
    verdict: str = ''
    title: str = ''
    link: str = ''
    code: bool = False
    spread: str = ''
    degree: str = ''

    @property
    def ratio_text(self):
        """Return its ratio as text, '' without one."""
        return '' if self.ratio is None else ratios.text(self.ratio)

    @property
    def verdict_text(self):
        """Return its verdict as shown, '' without one."""
        return f'{self.degree} {VERDICTS[self.verdict]}'.strip() if self.verdict else ''

    @property
    def plain(self):
        """Return all that it says in one line (str)."""
        behind = ', '.join(part for part in (self.spread, self.ratio_text, self.verdict_text) if part)
        return f'{self.text} ({behind})' if self.text and behind else self.text or behind


@dataclass
class Column:
    """A column: title, the group that it stands under, whether it holds numbers, and whether long text."""

    title: str
    group: str = ''
    number: bool = False
    wide: bool = False


@dataclass
class Table:
    """
    A table: caption, columns, rows of Cell, of which the first heads its row, and notes below it.

    key   part of its address in the page
    kind  'summary', 'verdicts', 'values', 'proof', 'failures', 'records', 'facts'
    """

    caption: str
    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    key: str = ''
    kind: str = 'facts'

    @property
    def bodies(self):
        """Return the rows in groups (list of list of rows) with the same head, which 'proof' shows once."""
        found = []
        for row in self.rows:
            if found and (self.kind != 'proof' or found[-1][0][0].text == row[0].text):
                found[-1].append(row)
            else:
                found.append([row])
        return found

    @property
    def groups(self):
        """Return [(title, number of columns)] of the heads above the titles, [] if no column has one."""
        found = []
        for column in self.columns:
            if found and found[-1][0] == column.group and column.group:
                found[-1][1] += 1
            else:
                found.append([column.group, 1])
        return found if any(title for title, _ in found) else []


def number(value):
    """Return a value as text, with the digits that mean something: '0.012', '0.19', '22.4', '348', '22 181'."""
    if value >= 100:
        return f'{value:,.0f}'.replace(',', THIN)
    if value >= 10:
        return f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.1 else f'{value:.2g}'


def label(view, size):
    """Return a message size of a view as text, '' for benchmarks without sizes."""
    return size_text(size) or ('0 B' if view.sized else '')


def _measured(view, curve, size):
    """Return the Cell of a curve at a size, with ratio and verdict where there is native."""
    if size not in curve.stats:
        return Cell(NOTHING, title='not measured at this size')
    median, low, high, repeats = curve.stats[size]
    point = curve.points.get(size)
    title = f'median of {repeats}, {low:.6g} to {high:.6g}' if repeats > 1 else ''
    return Cell(number(median), median, point.ratio if point else None, point.verdict if point else '', title,
                spread=f'{number(low)} to {number(high)}' if repeats > 1 else '')


def _of_repeats(view):
    """Return what stands below the medians of a View (str): ', least to most of 3 repeats'; '' of single values."""
    counts = sorted({entry[3] for curve in view.shown for entry in curve.stats.values()})
    if not counts or counts[-1] == 1:
        return ''
    return f", least to most of {counts[0] if counts[0] == counts[-1] else f'{counts[0]} to {counts[-1]}'} repeats"


def _absent(section, case, name):
    """Return the Cell of a series that has no figures in a case: why not."""
    for dataset in section.datasets:
        for failure in dataset.failures:
            if failure.case == case and failure.name == name.partition(', ')[0]:
                return Cell('skipped' if failure.skipped else 'failed', title=failure.reason, link='failures')
    return Cell(NOTHING, title='not measured')


def verdicts(section):
    """Return the Tables of cases x series with the verdict over all sizes, at most WIDE series each; [] without any."""
    compared = [name for name in section.names
                if any(curve.name == name and curve.comparison for view in section.views for curve in view.shown)]
    methods = sorted({curve.comparison.method.rpartition('; ')[0] for view in section.views for curve in view.shown
                      if curve.comparison})
    notes = ["The verdict over all sizes is the worst of its sizes, with how many of them have it, and by how many "
             f"times the furthest of them differs ({degrees_text()}).",
             f"How it was decided: {' / '.join(methods)}."]
    found = []
    for start in range(0, len(compared), WIDE):
        names = compared[start:start + WIDE]
        rows = [row for row in (_verdict_row(section, view, names) for view in section.views) if row]
        part = f', part {start // WIDE + 1}' if len(compared) > WIDE else ''
        found.append(Table(f'{section.title}: verdict against native over all message sizes{part}',
                           [Column('case')] + [Column(name) for name in names], rows,
                           notes if start + WIDE >= len(compared) else [],
                           f'{section.key}-verdicts{start // WIDE or ""}', 'verdicts'))
    return found


def _verdict_row(section, view, names):
    """Return the row of a view in a table of verdicts, None if none of these series was compared in it."""
    curves = {curve.name: curve for curve in view.shown}
    if not any(curves[name].comparison for name in names if name in curves):
        return None
    row = [Cell(view.case.title, link=view.key)]
    for name in names:
        comparison = curves[name].comparison if name in curves else None
        if comparison:
            count = comparison.summary[comparison.verdict]
            of = f'{count} of {len(comparison.points)} sizes' if view.sized else \
                f'{ratios.text(comparison.points[0].ratio)} of native'
            degree = comparison.degree()
            if degree and view.sized:
                of += f', {comparison.by_how_much()}'
            row.append(Cell(of, verdict=comparison.verdict, degree=degree, title=comparison.words))
        elif name in curves:
            row.append(Cell(NOTHING, title='no native to compare with'))
        else:
            row.append(_absent(section, view.case, name))
    return row


def summaries(section):
    """
    Return the Tables of series x buffers, one a benchmark, placement and variant, with values and ratios to native.

    Small is the smallest message. The peak is the size at which native is largest (without native: at which the series
    is), for times it is the largest message; so value and ratio of a column belong to one size.
    """
    found = {}
    for view in section.views:
        found.setdefault((view.case.benchmark, view.case.placement, view.case.variant), []).append(view)
    return [_summary(section, *key, views) for key, views in found.items()]


def _summary(section, benchmark, placement, variant, views):
    """Return the Table of the Views of one benchmark, placement and variant (str); see summaries()."""
    case = views[0].case
    unit = charts.UNITS[case.unit]
    columns, picks = [Column('series')], []
    for view in views:
        for title, pick in _picks(view):
            columns.append(Column(title or unit, view.case.buffers, True))
            picks.append((view, pick))
    rows = [[Cell(name), *(_picked(section, view, pick, name) for view, pick in picks)]
            for name in section.names if any(_is_in(section, view, name) for view in views)]
    title = ', '.join(part for part in (benchmark, placement, variant) if part)
    more = 'more' if case.more_is_better else 'less'
    spread = next(filter(None, map(_of_repeats, views)), '')
    return Table(f'{title}: {unit}, {more} is better{spread}', columns, rows, [],
                 f'{section.key}-summary-{content.slug(title)}', 'summary')


def _is_in(section, view, name):
    """Return whether the series name has a curve in a View, or failed in it."""
    return any(curve.name == name for curve in view.shown) or any(
        failure.case == view.case and failure.name == name for one in section.datasets for failure in one.failures)


def _picked(section, view, pick, name):
    """Return the Cell of the series name in a View, at the size that pick (a function, see _picks()) gives."""
    curve = next((curve for curve in view.shown if curve.name == name), None)
    return _measured(view, curve, pick(curve)) if curve else _absent(section, view.case, name)


def _picks(view):
    """Return [(title, function from Curve to the size to show)] of the columns of a view."""
    if not view.sized:
        return [('', lambda curve: 0)]
    sizes = [size for size in view.sizes if size]
    if not sizes:
        return [('0 B', lambda curve: 0)]
    natives = list(view.natives.values())
    if not view.case.more_is_better:
        peak, title = sizes[-1], f'{size_text(sizes[-1])}'
    elif len(natives) == 1:
        peak = natives[0].peak()
        title = f'{size_text(peak)} (peak)'
    else:
        peak, title = None, 'peak'
    found = [(size_text(sizes[0]), lambda curve, size=sizes[0]: size)]
    if peak is None:
        found.append((title, lambda curve: (view.native_of(curve) or curve).peak()))
    elif peak != sizes[0]:
        found.append((title, lambda curve, size=peak: size))
    return found


def values(view):
    """Return the Tables with the value of every series at every message size, at most WIDE series each."""
    found = []
    shown = view.shown
    for start in range(0, len(shown), WIDE):
        curves = shown[start:start + WIDE]
        rows = [[Cell(label(view, size) or charts.UNITS[view.case.unit])]
                + [_measured(view, curve, size) for curve in curves] for size in view.sizes]
        part = f", part {start // WIDE + 1}" if len(shown) > WIDE else ''
        unit = charts.UNITS[view.case.unit]
        found.append(Table(f'{view.case.title}: median in {unit}{_of_repeats(view)}{part}',
                           [Column('message size' if view.sized else 'value')]
                           + [Column(curve.name, number=True) for curve in curves],
                           rows, [], f'{view.key}-values{start // WIDE or ""}', 'values'))
    return found


def proof(dataset, found):
    """Return the Table of the libraries that the ranks of a run loaded, None without any proof. found: Details."""
    rows = []
    for entry in dataset.modules.values():
        approach = entry['approach']
        if approach not in found.measured:
            continue
        libraries, promises = found.loaded[approach], entry.get('comes_from') or {}
        wanted = [name for name in dict.fromkeys((*content.LIBRARIES, *libraries))
                  if name in libraries or promises.get(name, NO_LIBFABRIC) != NO_LIBFABRIC]
        inside = found.containers[approach]
        where = 'in a container' if inside == {True} else 'without a container' if inside == {False} else \
            'some ranks in a container'
        kept = inside == {bool(entry['container'])}
        rows.append([Cell(entry['name']), Cell('the process'), Cell(where),
                     Cell('as promised' if kept else f"BROKEN: promised {'in' if entry['container'] else 'without'} "
                          "a container"), Cell(''), Cell(''), Cell(f'{found.measured[approach]} measurements')])
        for name in wanted:
            for one in libraries.get(name, {None: None}).values():
                rows.append(_library(entry['name'], name, one, promises.get(name), found.measured[approach]))
    if not rows:
        return None
    notes = ["Read from the running ranks, not from any setting. host: the same file is there without the container; "
             "image: it lies in the container. Build id where the file has one, else sha256; both are cut to 12 "
             "digits, the whole is in the run's results.jsonl."]
    return Table(f'{dataset.title}: what the ranks loaded',
                 [Column('module'), Column('library'), Column('release, from'), Column('promise'),
                  Column('path', wide=True), Column('build id or sha256'), Column('ranks')], rows, notes,
                 f'{content.slug(dataset.name)}-proof', 'proof')


def _library(module, name, loaded, promised, measured):
    """Return the row of a library; loaded: content.Loaded or None if no rank loaded it."""
    if loaded is None:
        return [Cell(module), Cell(name), Cell('not loaded'), Cell(f'BROKEN: promised that of the {promised}'),
                Cell(''), Cell(''), Cell('')]
    facts = loaded.facts
    where = facts.get('where') or 'unknown origin'
    release = f"{facts.get('family') or name} {facts.get('release') or 'of unknown release'}, {where}"
    if promised is None:
        promise = 'none made'
    elif promised == facts.get('where'):
        promise = 'as promised'
    else:
        promise = f'BROKEN: promised that of the {promised}'
    if facts.get('problem'):
        promise += f"; not readable: {facts['problem']}"
    digest = facts.get('build_id') or facts.get('sha256') or ''
    nodes = sorted(loaded.nodes)
    ranks = f"rank{'s' if len(loaded.ranks) > 1 else ''} {ranges_text(loaded.ranks)} on {nodes_text(nodes)}"
    if loaded.measurements != measured:
        ranks += f', in {loaded.measurements} of {measured} measurements'
    return [Cell(module), Cell(name), Cell(release), Cell(promise), Cell(facts.get('path') or '', code=True),
            Cell(digest[:12], title=digest, code=True), Cell(ranks, title=', '.join(nodes))]


def ranges_text(numbers):
    """Return numbers (iterable of int) as text: '0', '0 to 7, 9'."""
    numbers = sorted(set(numbers))
    parts, start = [], None
    for index, one in enumerate(numbers):
        start = one if start is None else start
        if index + 1 == len(numbers) or numbers[index + 1] != one + 1:
            parts.append(str(start) if start == one else f"{start}{' to ' if one > start + 1 else ', '}{one}")
            start = None
    return ', '.join(parts)


def nodes_text(nodes):
    """Return names of nodes as text: 'node1, node2', '16 nodes'."""
    return ', '.join(nodes) if len(nodes) <= 4 else f'{len(nodes)} nodes'


def failures(section):
    """Return the Table of what gave no numbers, with reasons, None if all did."""
    found = {}
    for dataset in section.datasets:
        for one in dataset.failures:
            key = dataset.name, one.case, one.name, one.reason, one.skipped
            found.setdefault(key, []).append(one)
    if not found:
        return None
    rows = []
    several = len(section.datasets) > 1
    for (dataset, case, name, reason, skipped), entries in found.items():
        logs = [one.log for one in entries if one.log]
        rows.append([Cell(case.title), Cell(f'{name}, {dataset}' if several else name),
                     Cell('skipped' if skipped else 'failed'),
                     Cell(ranges_text(one.repeat for one in entries)), Cell(reason),
                     Cell(logs[0] if logs else NOTHING, title=', '.join(logs), code=bool(logs))])
    return Table(f'{section.title}: measurements without numbers',
                 [Column('case'), Column('series'), Column('what'), Column('repeats'), Column('reason', wide=True),
                  Column('its messages')], rows, [], f'{section.key}-failures', 'failures')


def fact(value):
    """Return a fact as text."""
    if value is None or value == '':
        return 'not known'
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    if isinstance(value, dict):
        return '; '.join(f'{key}: {fact(one)}' for key, one in value.items()) or 'none'
    if isinstance(value, (list, tuple)):
        return ', '.join(map(str, value)) or 'none'
    return str(value)


def _facts(caption, pairs, key):
    return Table(caption, [Column('what'), Column('value', wide=True)],
                 [[Cell(name), Cell(fact(value), code=False)] for name, value in pairs], [], key, 'facts')


def environment(dataset, found):
    """Return the Tables about the machine, versions and Slurm of a run; found: Details."""
    facts, key = dataset.facts, content.slug(dataset.name)
    tables = []
    machine = dict(facts.get('machine') or {})
    memory = machine.pop('memory_bytes', None)
    if memory:
        machine['memory'] = f'{memory / (1 << 30):.1f} GiB'
    if machine:
        tables.append(_facts(f'{dataset.title}: machine that called srun', machine.items(), f'{key}-machine'))
    if facts.get('versions'):
        tables.append(_facts(f'{dataset.title}: versions', facts['versions'].items(), f'{key}-versions'))
    slurm = dict(facts.get('slurm') or {})
    slurm['nodes used'] = found.nodes
    tables.append(_facts(f'{dataset.title}: Slurm', slurm.items(), f'{key}-slurm'))
    return tables


def modules(dataset):
    """Return the Table of the modules of a run: image, network, modulefile."""
    rows = []
    for name, entry in dataset.modules.items():
        image, network, file = (entry.get(part) or {} for part in ('image', 'network', 'module_file'))
        rows.append([Cell(name), Cell(entry['approach']),
                     Cell(fact(network.get('provider'))),
                     Cell(image.get('path') or ('none: runs without a container' if not entry['container'] else
                                                'not known'), code=bool(image)),
                     Cell(image.get('sha256') or NOTHING, code=bool(image)),
                     Cell(file.get('path') or 'not known', title=file.get('sha256') or '', code=bool(file))])
    return Table(f'{dataset.title}: modules and images',
                 [Column('module'), Column('approach'), Column('libfabric provider'), Column('image', wide=True),
                  Column('sha256 of the image', wide=True), Column('modulefile', wide=True)], rows, [],
                 f'{content.slug(dataset.name)}-modules', 'records') if rows else None


def variables(dataset):
    """Return one Table for each module with the variables that were set."""
    return [Table(f'{name}: variables after module load', [Column('variable'), Column('value', wide=True)],
                  [[Cell(key, code=True), Cell(str(value), code=True)]
                   for key, value in sorted(entry['variables'].items())],
                  [], f'{content.slug(dataset.name)}-{content.slug(name)}-variables', 'facts')
            for name, entry in dataset.modules.items() if entry.get('variables')]


def sources(report):
    """Return the Table of where every published figure is from, None if none is shown."""
    rows = []
    for dataset in report.datasets:
        if dataset.kind == 'run':
            continue
        facts = dataset.facts
        rows.append([Cell(dataset.name), Cell(dataset.title), Cell(fact(facts.get('source')),
                     link=facts.get('url') or ''), Cell(fact(facts.get('date'))), Cell(fact(facts.get('node_type'))),
                     Cell(fact(facts.get('stack'))), Cell(fact(facts.get('evidence')))])
    return Table('Published figures: where they are from',
                 [Column('name'), Column('what', wide=True), Column('source', wide=True), Column('date'),
                  Column('nodes', wide=True), Column('stack', wide=True),
                  Column('evidence')], rows, [], 'sources', 'records') if rows else None

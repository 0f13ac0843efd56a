"""
The tables of a report as data. A Table becomes HTML in template.html.j2.

A verdict is always a sign or a word, never a colour alone.
"""
from __future__ import annotations

from dataclasses import dataclass, field

from osu_container.core.data.approaches import NO_LIBFABRIC
from osu_container.proof import judging

from ..results import ratios
from ..results.model import size_text
from . import charts, content

#: Signs of the verdicts of osu_container.compare and, for several cases, of none that most have
SIGNS = {'worse': '▼', 'better': '▲', 'same': '=', 'noisy': '~', 'rounded': '≈', 'mixed': '±'}
#: What those of compare say
MEANING = {
    'worse': 'slower than native by more than margin and noise',
    'better': 'faster by more than margin and noise',
    'same': 'equal within the margin of the benchmark',
    'noisy': 'the repeats scatter too much to tell',
    'rounded': 'the program prints too few digits to tell',
}
#: Series beside each other, as many as a phone has room for; more of them make several tables
WIDE = 5
NOTHING = '–'
#: What tells one library from another of its name in a proof, and libraries in the order of the table
LIBRARY = ('where', 'path', 'family', 'release', 'build_id', 'sha256', 'problem')
FIRST = ('libmpi', 'libfabric', 'libcxi', 'libmpi_gtl')


@dataclass
class Cell:
    """
    A cell: text, and what is behind it.

    ratio    to native with the sign of its verdict (str), '' without native
    verdict  key of SIGNS, or ''
    spread   of the repeats (str), (most - least) / median; '' of one value
    title    more words, shown when a pointer rests on it
    link     address within the page
    code     bool, text of a computer
    """

    text: str
    ratio: str = ''
    verdict: str = ''
    spread: str = ''
    title: str = ''
    link: str = ''
    code: bool = False


@dataclass
class Table:
    """
    A table: caption, titles of its columns, rows of Cell, of which the first heads its row, and notes below it.

    key   part of its address in the page
    kind  'verdicts', 'values', 'proof', 'failures', 'records', 'facts'; the first two hold figures
    """

    caption: str
    columns: list[str]
    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    key: str = ''
    kind: str = 'facts'


def times_text(times):
    """Return how many times slower or faster (float, >= 1) as text, with the digits of osu_container.compare."""
    return f'{times:.2f}' if times < 2 else f'{times:.1f}' if times < 100 else f'{times:.0f}'


def _measured(curve, size):
    """Return the Cell of a Curve at a size, with its ratio to native where there is one."""
    if size not in curve.stats:
        return Cell(NOTHING, title='not measured at this size')
    median, low, high, repeats = curve.stats[size]
    point = curve.points.get(size)
    spread = f'{charts.number(100 * (high - low) / median)} %' if repeats > 1 else ''
    return Cell(charts.number(median), f'{ratios.text(point.ratio)} {SIGNS.get(point.verdict, "")}' if point else '',
                point.verdict if point else '', spread)


def values(view):
    """Return the Tables of the median of every own series of a View at every message size, WIDE series each."""
    counts = sorted({entry[3] for curve in view.curves for entry in curve.stats.values()})
    unit = charts.UNITS[view.case.unit]
    note = f'median of {repeats_text(counts)}' if counts[-1] > 1 else 'one value each'
    if any(curve.comparison for curve in view.curves):
        note += ', ratio to native'
    if counts[-1] > 1:
        note += ', spread of the repeats'
    names = {size: Cell(size_text(size) or ('0 B' if view.sized else unit)) for size in
             sorted({size for curve in view.curves for size in curve.stats})}
    return [Table(f'{unit}: {note}', ['size' if view.sized else '', *(curve.name for curve in curves)],
                  [[name, *(_measured(curve, size) for curve in curves)] for size, name in names.items()], [],
                  f'{view.key}-values{part or ""}', 'values')
            for part, curves in _parted(view.curves)]


def _parted(entries):
    """Return [(number from 0, at most WIDE entries)] of entries (list)."""
    return [(start // WIDE, entries[start:start + WIDE]) for start in range(0, len(entries), WIDE)]


def repeats_text(counts):
    """Return how many values there are (str) of counts (iterable of int): '3 repeats', '1 to 5 repeats'."""
    counts = sorted(set(counts))
    if not counts or counts[-1] == 1:
        return 'one value each'
    return f"{' to '.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} repeats"


def verdicts(section):
    """Return the Tables of cases x series with what compare says over all sizes, [] without native."""
    compared = [name for name in section.names
                if any(curve.name == name and curve.comparison for view in section.views for curve in view.curves)]
    methods = sorted({curve.comparison.method.rpartition('; ')[0] for view in section.views for curve in view.curves
                      if curve.comparison})
    shown = [(view, {curve.name: curve for curve in view.curves}) for view in section.views
             if any(curve.comparison for curve in view.curves)]
    return [Table('Times slower ▼ or faster ▲ at the size furthest from native, and at how many of the sizes',
                  ['case', *names], [[Cell(view.case.title, link=view.key), *(
                      _over_sizes(section, view, name, curves.get(name)) for name in names)] for view, curves in shown
                                    if set(names) & set(curves)],
                  [f"How it was decided: {' / '.join(methods)}."], f'{section.key}-verdicts{part or ""}', 'verdicts')
            for part, names in _parted(compared)]


def _over_sizes(section, view, name, curve):
    """Return the Cell of what compare says of a Curve (None: there is none) over all sizes."""
    if curve is None:
        failed = next((one for dataset in section.datasets for one in dataset.failures
                       if one.case == view.case and one.name == name.partition(', ')[0]), None)
        return Cell(NOTHING, title='not measured') if failed is None else Cell(
            'skipped' if failed.skipped else 'failed', title=failed.reason, link=f'{section.key}-failures')
    comparison = curve.comparison
    if comparison is None:
        return Cell(NOTHING, title='no native to compare with')
    told = []
    for verdict in ('worse', 'better'):
        point = comparison.furthest(verdict)
        if point:
            of = f' at {comparison.summary[verdict]} of {len(comparison.points)}' if view.sized else ''
            told.append(f'{SIGNS[verdict]} {times_text(point.times)}{of}')
    return Cell(' '.join(told) or SIGNS.get(comparison.verdict, NOTHING), verdict=comparison.verdict,
                title=comparison.words)


def proof(dataset, found):
    """Return the Table of the libraries that the ranks of a run loaded, None without any proof. found: Details."""
    rows = []
    for entry in dataset.modules.values():
        measured = found.proofs.get(entry['approach'], [])
        loaded, inside, promises = {}, set(), entry.get('comes_from') or {}
        for group in (group for proof in measured for group in proof):
            inside.add(group.get('container'))
            for name, facts in group['libraries'].items():
                which = (name, *(facts.get(key) for key in LIBRARY))
                ranks, nodes, times = loaded.setdefault(which, (set(), set(), []))
                ranks.update(group['ranks'])
                nodes.update(group['nodes'])
                times.append(group)
        if not measured:
            continue
        where = 'in a container' if inside == {True} else 'without a container' if inside == {False} else \
            'some ranks in a container'
        promise = 'as promised' if inside == {bool(entry['container'])} else \
            f"BROKEN: promised {'in' if entry['container'] else 'without'} a container"
        rows.append([Cell(text) for text in (entry['name'], 'the process', where, promise, '', '',
                                             f'{len(measured)} measurements')])
        for name in dict.fromkeys((*FIRST, *(one[0] for one in loaded), *promises)):
            mine = [_library(entry['name'], promises.get(name), which, *told, len(measured))
                    for which, told in loaded.items() if which[0] == name]
            rows += mine
            if not mine and promises.get(name, NO_LIBFABRIC) != NO_LIBFABRIC:
                rows.append([Cell(text) for text in (entry['name'], name, 'not loaded', 'BROKEN: promised that of the '
                                                     f'{promises[name]}', '', '', '')])
    notes = ["Read from the running ranks, not from any setting. host: the same file is there without the container; "
             "image: it lies in the container. Build id where the file has one, else sha256, cut to 12 digits."]
    return Table(f'{dataset.title}: what the ranks loaded', ['module', 'library', 'release, from', 'promise', 'path',
                                                             'build id or sha256', 'ranks'], rows, notes,
                 f'{content.slug(dataset.name)}-proof', 'proof') if rows else None


def _library(module, promised, which, ranks, nodes, times, measured):
    """Return the row of a library that ranks loaded; which: (name, *LIBRARY), times: list, as often as it was."""
    name, where, path, family, release, build_id, sha256, problem = which
    promise = 'none made' if promised is None else 'as promised' if promised == where else \
        f'BROKEN: promised that of the {promised}'
    told = f"rank{'s' * (len(ranks) > 1)} {judging.ranges(ranks)} on {nodes_text(sorted(nodes))}"
    return [Cell(module), Cell(name), Cell(f"{family or name} {release or 'of unknown release'}, "
                                           f"{where or 'unknown origin'}"),
            Cell(promise + (f'; not readable: {problem}' if problem else '')), Cell(path or '', code=True),
            Cell((build_id or sha256 or '')[:12], title=build_id or sha256 or '', code=True),
            Cell(told + (f', in {len(times)} of {measured} measurements' if len(times) != measured else ''))]


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
                     Cell(judging.ranges(one.repeat for one in entries)), Cell(reason),
                     Cell(logs[0] if logs else NOTHING, title=', '.join(logs), code=bool(logs))])
    return Table(f'{section.title}: measurements without numbers',
                 ['case', 'series', 'what', 'repeats', 'reason', 'its messages'], rows, [],
                 f'{section.key}-failures', 'failures')


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


def environment(dataset, found):
    """Return the Table of all that is known of a run: what was asked for, machine, versions, Slurm; found: Details."""
    facts = dataset.facts
    machine = dict(facts.get('machine') or {})
    memory = machine.pop('memory_bytes', None)
    counts = ', '.join(f'{found.counts[status]} {word}' for status, word in (
        ('ok', 'with figures'), ('failed', 'failed'), ('skipped', 'skipped')))
    rows = [('site', facts['site']), ('began', facts['started']), ('ended', facts.get('ended') or 'not yet'),
            ('tag', facts.get('tag') or 'none'), ('repeats asked for', facts.get('repeats')), ('measurements', counts),
            *machine.items(), *([('memory', f'{memory / (1 << 30):.1f} GiB')] if memory else []),
            *(facts.get('versions') or {}).items(), ('nodes used', found.nodes),
            *((f'Slurm, {name}', value) for name, value in (facts.get('slurm') or {}).items())]
    return Table(f'{dataset.title}: machine, versions, Slurm', ['what', 'value'],
                 [[Cell(name), Cell(fact(value))] for name, value in rows], [], f'{content.slug(dataset.name)}-machine')


def modules(dataset):
    """Return the Table of the modules of a run: image, network, modulefile."""
    rows = []
    for name, entry in dataset.modules.items():
        image, network, file = (entry.get(part) or {} for part in ('image', 'network', 'module_file'))
        rows.append([Cell(name), Cell(entry['approach']), Cell(fact(network.get('provider'))),
                     Cell(image.get('path') or ('not known' if entry['container'] else 'none: without a container'),
                          code=bool(image)),
                     Cell(image.get('sha256') or NOTHING, code=bool(image)),
                     Cell(file.get('path') or 'not known', title=file.get('sha256') or '', code=bool(file))])
    heads = ['module', 'approach', 'libfabric provider', 'image', 'sha256 of the image', 'modulefile']
    return Table(f'{dataset.title}: modules and images', heads, rows, [], f'{content.slug(dataset.name)}-modules',
                 'records') if rows else None


def variables(dataset):
    """Return the Table of the variables that the modules of a run set, None without any."""
    rows = [[Cell(name), Cell(key, code=True), Cell(str(value), code=True)] for name, entry in dataset.modules.items()
            for key, value in sorted((entry.get('variables') or {}).items())]
    return Table(f'{dataset.title}: variables after module load', ['module', 'variable', 'value'], rows, [],
                 f'{content.slug(dataset.name)}-variables', 'records') if rows else None


def sources(report):
    """Return the Table of where every published figure is from, None if none is shown."""
    rows = []
    for dataset in report.datasets:
        facts = dataset.facts
        if dataset.kind != 'run':
            rows.append([Cell(dataset.name), Cell(dataset.title), Cell(fact(facts.get('source')),
                         link=facts.get('url') or ''), *(Cell(fact(facts.get(key))) for key in (
                             'date', 'node_type', 'stack', 'evidence'))])
    heads = ['name', 'what', 'source', 'date', 'nodes', 'stack', 'evidence']
    return Table('Published figures: where they are from', heads, rows, [], 'sources', 'records') if rows else None

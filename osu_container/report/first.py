"""
What a reader sees first: a sentence for each approach, a matrix by message size, one picture that says the same.

All of it is made of the comparisons with native by osu_container.compare: its verdicts, its words for how much, its
'probably', its parts of the message sizes. Of several cases, what most of them say at a size is said; the case that is
furthest from that is named, so that no loss and no gain is hidden. Also what a picture for a paper says below it.
"""
from __future__ import annotations

import fnmatch
import itertools
import math
import statistics
from dataclasses import dataclass, field

from ..compare.statistics import FIRM, REGIONS
from ..compare.thresholds import degree_of
from ..results import ratios
from ..results.model import size_text
from . import ReportError, charts, content, tables

#: Verdicts, the graver first: of equally many, this one is said
ORDER = ('worse', 'noisy', 'rounded', 'better', 'same')
#: In which order they are told
TOLD = ('worse', 'better', 'mixed', 'noisy', 'rounded', 'same')
#: How each is said
SAID = {'worse': 'slower', 'better': 'faster', 'noisy': 'unclear',
        'rounded': 'too few digits to tell', 'same': 'as native', 'mixed': 'mixed'}
#: Parts of the message sizes: (title, least and most bytes). Small and large ones are those of compare
_SMALL, _LARGE = REGIONS[0][3], REGIONS[-1][2]
PARTS = (('small', 0, _SMALL), ('medium', _SMALL + 1, _LARGE - 1), ('large', _LARGE, 1 << 62))
#: Heads of the matrix: (title, sizes)
HEADS = (('small', f'up to {size_text(_SMALL)}'), ('medium', 'between'), ('large', f'from {size_text(_LARGE)}'),
         ('other', 'without sizes'))
#: Ranges of sizes with one verdict that a sentence names; of more, sizes are counted
MOST_RANGES = 2
#: The furthest case is named where it is beyond what was said by this factor
NEAR = 1.25
#: A reason of a failure is cut to so many characters on the first screen
REASON = 100


def lead_views(section):
    """Return the Views (list, at most two) that stand for all: bandwidth and latency, between nodes if there are."""
    found = []
    for title, _ in content.GROUPS[:2]:
        views = [view for view in section.views if content.group_of(view.case.benchmark) == title and view.curves]
        views.sort(key=lambda view: (not any(curve.comparison for curve in view.curves), (view.case.nodes or 0) < 2))
        found += views[:1]
    return found or section.views[:1]


def view_of(section, pattern):
    """
    Return the View of the case that fits pattern (str, as of `compare --only`), the first of lead_views() without one.

    Raises ReportError if none fits.
    """
    for view in section.views if pattern else lead_views(section):
        if not pattern or any(fnmatch.fnmatchcase(name, pattern) for name in (view.case.title, view.case.benchmark)):
            return view
    raise ReportError(f"--case {pattern or '*'}: nothing of that name was measured, only "
                      + ('; '.join(view.case.title for view in section.views) or 'what failed'))


# ---- what was measured -----------------------------------------------------------------------------------------------

def measured(section):
    """Return what was measured, where and when (list of str, sentences)."""
    counts = [curve.series.repeats for view in section.views for curve in view.curves]
    names = list(dict.fromkeys(view.case.benchmark for view in section.views))
    shown = ', '.join(names[:5]) + (f' and {len(names) - 5} more programs' if names[5:] else '')
    asked = max((one.facts.get('repeats') or 0 for one in section.datasets if one.kind == 'run'), default=0)
    fewer = f' of {asked} asked for' if counts and asked > max(counts) else ''
    found = [f"{len(section.views)} case{'s' if len(section.views) != 1 else ''} of {shown}; "
             f"{tables.repeats_text(counts)}{fewer}." if names else 'Nothing gave a figure.']
    return found + [place(one, section.details.get(one.name)) for one in section.datasets]


def place(dataset, details=None):
    """Return where and when a Dataset was measured (str, a sentence); details: content.Details of a run."""
    facts = dataset.facts
    programs = listed(sorted({one.ran for one in dataset.series if one.programs}))
    if dataset.kind != 'run':
        parts = [facts.get('source'), facts.get('date'), facts.get('node_type'), facts.get('stack')]
        return 'Source: ' + ', '.join(str(part).rstrip('.') for part in parts if part) + '.'
    if facts.get('imported'):
        parts = [f"Source: {dataset.name}, whose site and day are not known"]
    else:
        nodes = tables.nodes_text(details.nodes) if details and details.nodes else 'nodes not known'
        parts = [f"Measured on {facts['site']}, {nodes}", facts['started'].replace('T', ' ').replace('Z', ' UTC')]
    return ', '.join(filter(None, [*parts, programs])) + '.'


def listed(names):
    """Return names (list of str) as people write them: 'a', 'a and b', 'a, b and c'."""
    return ' and '.join(filter(None, [', '.join(names[:-1]), *names[-1:]]))


# ---- what came out ---------------------------------------------------------------------------------------------------

@dataclass
class Line:
    """
    What is said of one approach.

    name, style  of its curves
    text         a sentence without the name (str)
    cells        [{'speed', 'verdict', 'word', 'sure'} or None] by HEADS; [] where it was not compared with native
    speeds       [(message size, speed, the same twice)]: the middle of all cases, as charts.panel() takes it
    """

    name: str
    style: charts.Style
    text: str
    cells: list = field(default_factory=list)
    speeds: list = field(default_factory=list)


def lines(section):
    """Return a Line for each series of a Section, and for what failed whole."""
    curves, found = {}, []
    for view in section.views:
        for curve in view.curves:
            curves.setdefault(curve.name, []).append((view, curve))
    failed = {}
    for dataset in section.datasets:
        for one in dataset.failures:
            failed.setdefault(section.labels.get((dataset.name, one.name), one.name), []).append(one)
    for name in dict.fromkeys([*section.names, *failed]):
        own = curves.get(name, [])
        compared = [(view, curve.comparison) for view, curve in own if curve.comparison]
        parts = [] if compared or not own else [_absolute(section, name)]
        if compared:
            parts.append(sentence([one for _, one in compared]))
        parts += [tables.repeats_text(curve.series.repeats for _, curve in own)] if own else []
        parts += _failed(failed.get(name, []), {view.case for view, _ in own})
        style = own[0][1].style if own else charts.style_of(name, len(found))
        points = [(view.sized, point) for view, comparison in compared for point in comparison.points]
        found.append(Line(name, style, '; '.join(parts) + '.', _cells(points) if points else [], _speeds(points)))
    return found


def _absolute(section, name):
    """Return what one series is in numbers (str), of the cases that stand for all."""
    natives = {curve.name for view in section.views for curve in view.natives.values()}
    found = []
    mine = {view.key: (view, curve) for view in [*lead_views(section), *section.views] for curve in view.curves
            if curve.name == name}
    for view, curve in list(mine.values())[:2]:
        at = f' at {size_text(curve.peak) or "0 B"}' if view.sized else ''
        found.append(f'{charts.number(curve.stats[curve.peak][0])} {charts.UNITS[view.case.unit]}{at} '
                     f'({view.case.title})')
    return ('reference: ' if name in natives else '') + ', '.join(found)


def _failed(failures, others):
    """Return what failed of one series (list of str); others: set of Case that have figures."""
    found = []
    for word in ('failed', 'skipped'):
        mine = [one for one in failures if one.skipped == (word == 'skipped')]
        cases = list(dict.fromkeys(one.case for one in mine))
        if cases:
            reason = mine[0].reason.removeprefix(f'{word}: ').rstrip('.')
            reason = reason if len(reason) <= REASON else reason[:REASON].rpartition(' ')[0] + ' ...'
            where = f'all {len(cases)} cases' if not others else f'{len(cases)} cases'
            where = cases[0].title if len(cases) == 1 else where
            found.append(f"{word} in {'some repeats of ' * (others >= set(cases))}{where}: {reason}")
    return found


def sentence(comparisons):
    """
    Return how Comparisons (list, of one approach with native) come out (str).

    'much slower up to 128 B (1.5 to 8.3 times), as native from 256 B'; of several cases with the furthest: 'slower in 2
    of 11 cases, at most 8.3 times (osu_bw D D, 64 B)'. 'probably' where compare says it.
    """
    by_size = {}
    for comparison in comparisons:
        if len(comparison.points) > 1 or comparison.points[0].size:
            for point in comparison.points:
                by_size.setdefault(point.size, []).append(point)
    probably = {verdict: max(one.probably(verdict) for one in comparisons) for verdict in TOLD}
    parts, told = _by_range(by_size, probably)
    for verdict in ('worse', 'better'):
        mine = [one for one in comparisons if one.summary[verdict]]
        if not mine:
            continue
        which = max(mine, key=lambda one: one.furthest(verdict).times)
        point = which.furthest(verdict)
        if point.times <= told.get(verdict, 0) * NEAR and len(mine) == len(comparisons):
            continue
        times, label = f'{tables.times_text(point.times)} times', which.label(point.size)
        at = f"({which.case.title}{f' at {label}' if label else ''})"
        if len(comparisons) == 1:
            parts.append(f'{probably[verdict]}{degree_of(point.times)} {SAID[verdict]}: {times}')
        elif len(mine) == len(comparisons):
            parts.append(f'at most {times} {SAID[verdict]} {at}')
        else:
            parts.append(f'{probably[verdict]}{SAID[verdict]} in {len(mine)} of {len(comparisons)} cases, at most '
                         f'{times} {at}')
    for verdict in TOLD[3:] if not by_size else ():
        count = sum(one.verdict == verdict for one in comparisons)
        among = f' in {count} of {len(comparisons)} cases' if count < len(comparisons) else ''
        parts += [f'{probably[verdict]}{SAID[verdict]}{among}'] if count else []
    return ', '.join(parts)


def _by_range(by_size, probably):
    """Return what most cases say by size (list of str), the worst first, and {verdict: most times that it told}."""
    most = {size: most_said(by_size[size]) for size in sorted(by_size)}
    ranges = [(verdict, list(sizes)) for verdict, sizes in itertools.groupby(most, key=most.get)]
    parts, told = [], {}
    graver = sorted(set(most.values()), key=TOLD.index)
    for verdict in graver:
        mine = [sizes for other, sizes in ranges if other == verdict]
        where = ' and'.join(_where(sizes, list(most)) for sizes in mine)
        if len(mine) > MOST_RANGES:
            where = f' at {sum(map(len, mine))} of {len(most)} sizes'
        elif len(mine) > 1 and parts and verdict == graver[-1]:
            where = ' at the other sizes'
        if verdict not in ('worse', 'better'):
            parts.append(probably[verdict] + SAID[verdict] + where)
            if verdict in ('noisy', 'mixed'):  # what was seen is told all the same
                speeds = sorted(_middle(by_size[size]) for sizes in mine for size in sizes)
                among = ' to '.join(dict.fromkeys(ratios.text(speed) for speed in (speeds[0], speeds[-1])))
                parts[-1] += f" ({among} of native's speed{', the repeats scatter' if verdict == 'noisy' else ''})"
            continue
        times = [statistics.median(point.times for point in by_size[size] if point.verdict == verdict)
                 for sizes in mine for size in sizes]
        told[verdict] = max(times)
        low, high = tables.times_text(min(times)), tables.times_text(max(times))
        parts.append(f'{probably[verdict]}{degree_of(max(times))} {SAID[verdict]}{where} '
                     f"({f'{low} to ' if low != high else ''}{high} times)")
    return parts, told


def _middle(points):
    """Return the median speed (float, native = 1) of Points (list)."""
    return math.exp(statistics.median(point.gain for point in points))


def most_said(points):
    """Return the verdict (str) that half of Points (list) have, of two the graver; 'mixed' where no half has one."""
    found = [point.verdict for point in points]
    return next((verdict for verdict in ORDER if 2 * found.count(verdict) >= len(found)), 'mixed')


def _where(sizes, every):
    """Return ' up to 8 KiB', ' from 16 KiB', ' at 8 B .. 64 B' of neighbouring sizes; every: all that there are."""
    first, last = (size_text(size) or '0 B' for size in (sizes[0], sizes[-1]))
    if len(sizes) == len(every):
        return ' at all sizes' if len(every) > 1 else f' at {first}'
    if sizes[0] == every[0]:
        return f' up to {last}'
    if sizes[-1] == every[-1]:
        return f' from {first}'
    return f' at {first}' if first == last else f' at {first} .. {last}'


def _cells(points):
    """Return the cells of a Line, see there; points: of (whether the benchmark has sizes, Point)."""
    parts = [[point for sized, point in points if sized and least <= point.size <= most] for _, least, most in PARTS]
    return [_cell(part) if part else None for part in (*parts, [point for sized, point in points if not sized])]


def _cell(points):
    """Return one cell of the matrix (dict of str) of Points (list)."""
    verdict = most_said(points)
    word = SAID[verdict]
    if verdict in ('worse', 'better'):
        times = {}
        for point in points:
            times.setdefault(point.size, []).extend([point.times] if point.verdict == verdict else [])
        word = f'{degree_of(max(map(statistics.median, filter(None, times.values()))))} {word}'  # as the sentence says
    others = [f'{count} {SAID[other]}' for other in ('worse', 'better') if other != verdict
              for count in [sum(point.verdict == other for point in points)] if count]
    count = sum(point.verdict == verdict for point in points) or len(points)
    return {'speed': ratios.text(_middle(points)), 'verdict': verdict, 'word': word,
            'sure': '; '.join([how_sure(verdict, points)] + ([', '.join([f'{count} of {len(points)}', *others])]
                                                             if count < len(points) else []))}


def how_sure(verdict, points):
    """Return how sure a verdict (str) of Points (list) is: 'sure, 5 repeats', 'probably, one value', '3 repeats'."""
    least = min(min(point.repeats) for point in points)
    word = '' if verdict not in ('worse', 'better', 'same') else 'sure, ' if least >= FIRM else \
        'probably, ' if verdict != 'same' or least < 2 else ''
    return word + (f'{least} repeats' if least > 1 else 'one value')


def _speeds(points):
    """Return Line.speeds; points: as of _cells()."""
    by_size = {}
    for sized, point in points:
        if sized and point.size:
            by_size.setdefault(point.size, []).append(point)
    middle = {size: _middle(points) for size, points in sorted(by_size.items())}
    return [(size, speed, speed, speed) for size, speed in middle.items()]


def picture(section, said, named):
    """
    Return the picture of the first screen as (title, SVG text of charts.panel()), None where there is nothing to draw.

    It shows the speeds of the Lines of said (list); without native the values of the first of lead_views(). named: of
    charts.classes().
    """
    drawn = [(named[one.style], one.speeds) for one in said if one.speeds]
    if drawn:
        cases = sum(view.sized and any(curve.comparison for curve in view.curves) for view in section.views)
        title = 'Speed against native by message size' + (f', the middle of {cases} cases' if cases > 1 else
                                                          f', {section.views[0].case.title}')
        return f'{title}. Above 1 is faster.', charts.panel(
            drawn, '', width=400, height=264, margin=_margin(section), parts=PARTS)
    view = lead_views(section)[0] if section.views else None
    curves = [(named[curve.style], curve.drawn()) for curve in view.curves if curve.drawn()] if view else []
    return (f'{view.case.title}. {view.meaning}', charts.panel(
        curves, f'{charts.UNITS[view.case.unit]} (log)', width=400, height=264)) if curves and view.sized else None


def _margin(section):
    """Return the largest margin (float) within which values of a Section are equal to native."""
    return max(curve.comparison.margin for view in section.views for curve in view.curves if curve.comparison)


# ---- a picture for a paper -------------------------------------------------------------------------------------------

def caption(section, view):
    """
    Return the caption (list of str, sentences) of the picture of a View: what it shows, of what, its source.

    All that a reader of a paper must know stands in it: benchmark, placement, repeats, bars, machine, programs, source.
    """
    case, own = view.case, view.curves
    what = 'Bandwidth' if case.unit == 'MB/s' else 'Latency' if 'latency' in case.benchmark else 'Time'
    better = 'more' if case.more_is_better else 'less'
    found = f"{what} by message size ({case.title}; {better} is better) of {listed([curve.name for curve in own])}"
    margins = [curve.comparison.margin for curve in own if curve.comparison]
    if margins:
        found += f', and its ratio to native; the grey band is equality within {100 * max(margins):g} %'
    counts = sorted({curve.series.repeats for curve in own})
    spread = 'Each message size has one value, so the spread is unknown.'
    if counts[-1] > 1:
        spread = f'Marks are medians of {tables.repeats_text(counts)}, bars reach from the least to the most' + (
            ', of ratios as of values.' if margins else '.')
    return [found + '.', spread, *(place(one, section.details.get(one.name)) for one in section.datasets)]

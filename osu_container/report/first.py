"""
What a reader sees first, and a paper shows: what was compared, what came out in one sentence, and one picture.

The sentence is made of the comparisons with native alone; a section without native has none, and says so elsewhere.
"""
from __future__ import annotations

import fnmatch
import shlex
import statistics

from ..compare.thresholds import degree_of
from . import ReportError, content, tables

#: Series that the sentence names one by one, the furthest from native first; more of them are counted
NAMED = 4
#: Which verdict of its cases a series is told by
ORDER = ('worse', 'better', 'noisy', 'rounded', 'same')


def lead_views(section):
    """Return the Views (list, at most two) of the first picture: bandwidth and latency, between nodes if there are."""
    found = []
    for title, _ in content.GROUPS[:2]:
        views = [view for view in section.views if content.group_of(view.case.benchmark) == title and view.shown]
        views.sort(key=lambda view: (not any(curve.comparison for curve in view.shown), (view.case.nodes or 0) < 2))
        found += views[:1]
    return found or section.views[:1]


def view_of(section, pattern):
    """
    Return the View of the case that fits pattern (str, as of `compare --only`), the first of the picture without one.

    Raises ReportError if none fits.
    """
    if pattern is None:
        return lead_views(section)[0]
    for view in section.views:
        if fnmatch.fnmatchcase(view.case.title, pattern) or fnmatch.fnmatchcase(view.case.benchmark, pattern):
            return view
    raise ReportError(f"--case {pattern}: nothing of that name was measured, only "
                      + '; '.join(view.case.title for view in section.views))


def compared(section):
    """Return what was compared, where and when (str, a sentence)."""
    case_count = len(section.views)
    names = [content.native_name(one) if content.native_name(one) in one.names else '' for one in section.datasets]
    native = next(filter(None, names), None)
    natives = {curve.name for view in section.views for curve in view.natives.values()}
    others = [name for name in section.names if name not in natives]
    what = f"Compared: {listed(others)} against {native}" if native and others else f"Shown: {listed(section.names)}"
    parts = []
    for one in section.datasets:
        facts = one.facts
        if one.kind == 'run':
            details = section.details.get(one.name)
            nodes = tables.nodes_text(details.nodes) if details and details.nodes else ''
            where = nodes or 'nodes not known'
            parts.append(f"{one.name}, its site and day not known" if facts.get('imported') else
                         f"site {facts['site']}, {where}, {facts['started'][:10]}")
        else:
            parts.append(', '.join(filter(None, [facts.get('node_type') or one.title, facts.get('date')])))
    cases = f"{case_count} case{'s' if case_count != 1 else ''}"
    return f"{what}; {cases}, {repeats_text(section)}; {'; '.join(dict.fromkeys(parts))}."


def repeats_text(section):
    """Return how many values there are of each size (str)."""
    counts = sorted({curve.series.repeats for view in section.views for curve in view.shown})
    if not counts or counts[-1] == 1:
        return 'one value for each size'
    return f'{counts[0]} to {counts[-1]} repeats' if counts[0] != counts[-1] else f'{counts[0]} repeats'


def conclusion(section):
    """Return what came out (str, one sentence), '' where nothing was compared with native."""
    by_name = {}
    for view in section.views:
        for curve in view.shown:
            if curve.comparison:
                by_name.setdefault(curve.name, []).append(curve.comparison)
    judged = {name: min((one.verdict for one in found), key=ORDER.index) for name, found in by_name.items()}
    parts = []
    for verdict, word in (('worse', 'slower'), ('better', 'faster')):
        told = {name: _told(by_name[name], verdict, word) for name in by_name if judged[name] == verdict}
        names = sorted(told, key=lambda name: -told[name][0])
        parts += [f"{name} {'' if number else 'is '}{told[name][1]}" for number, name in enumerate(names[:NAMED])]
        if names[NAMED:]:
            parts.append(f'{len(names) - NAMED} more by less')
    same = [name for name in by_name if judged[name] == 'same']
    scatter = {name: _share(by_name[name], 'noisy') for name in by_name if judged[name] == 'noisy'}
    untold = [name for name, (number, total) in scatter.items() if 2 * number > total]
    open_ = [name for name in by_name if judged[name] in ('noisy', 'rounded') and name not in untold]
    if same:
        parts.append(f"{listed(same)} {'is' if len(same) == 1 else 'are'} as fast")
    if open_:
        parts.append(f"{listed(open_)} {'is' if len(open_) == 1 else 'are'} as fast, as far as these figures tell")
    if untold:  # a run on a busy machine must not read as a good one
        counts = sorted({scatter[name] for name in untold})
        few = f'{counts[0][0]} to ' if counts[1:] else ''
        parts.append(f"these figures do not tell how fast {listed(untold)} {'is' if len(untold) == 1 else 'are'}: the "
                     f"repeats scatter too much at {few}{counts[-1][0]} of {counts[-1][1]} values")
    return f"Against native, {'; '.join(parts)}." if parts else ''


def _share(comparisons, verdict):
    """Return (how many points have verdict (str), how many there are), both int, of Comparisons (list)."""
    return sum(one.summary[verdict] for one in comparisons), sum(len(one.points) for one in comparisons)


def _told(comparisons, verdict, word):
    """
    Return how far a series is from native: the median (float, >= 1) and a text with how often, median, most and where.

    One bad value must not read as a slow program: the sizes with the verdict are counted, and the median comes first.
    """
    points = [point for one in comparisons for point in one.points]
    differ = [point for point in points if point.verdict == verdict]
    most = max(differ, key=lambda point: point.times)
    median = statistics.median(point.times for point in differ)
    degrees = ' to '.join(dict.fromkeys([degree_of(median), degree_of(most.times)]))
    where = _where(comparisons, most)
    count = f"all {len(points)}" if len(differ) == len(points) else f"{len(differ)} of {len(points)}"
    middle = f'median {_times(median)} times, most {_times(most.times)}' if differ[1:] else f'{_times(median)} times'
    return median, f'{degrees} {word} at {count} values ({middle}: {where})'


def _times(times):
    """Return a factor (float, >= 1) as text with the digits that mean something."""
    return f'{times:.2f}' if times < 2 else f'{times:.1f}' if times < 20 else f'{times:.0f}'


def _where(comparisons, point):
    """Return the case and message size of a Point of one of comparisons (str)."""
    one = next(one for one in comparisons if point in one.points)
    label = one.label(point.size)
    return one.case.title + (f', {label}' if label else '')


def listed(names):
    """Return names (list of str) as people write them: 'a', 'a and b', 'a, b and c'."""
    return ' and '.join(filter(None, [', '.join(names[:-1]), *names[-1:]]))


def caption(section, view):
    """
    Return the caption (list of str, sentences) of the picture of a View: what it shows, of what, its source.

    All that a reader of a paper must know stands in it: benchmark, placement, repeats, bars, machine, programs, source.
    """
    case, own = view.case, view.shown
    what = 'Bandwidth' if case.unit == 'MB/s' else 'Latency' if 'latency' in case.benchmark else 'Time'
    better = 'more' if case.more_is_better else 'less'
    found = [f"{what} by message size ({case.title}; {better} is better) of {listed([curve.name for curve in own])}"]
    with_ratio = any(curve.comparison for curve in own)
    if with_ratio:
        found[0] += ', and its ratio to native; the grey band is equality within ' \
                    f'{100 * max(curve.comparison.margin for curve in own if curve.comparison):g} %'
    counts = sorted({curve.series.repeats for curve in own})
    if counts[-1] > 1:
        repeats = f'{counts[0]} to {counts[-1]}' if counts[0] != counts[-1] else str(counts[0])
        found.append(f"Marks are medians of {repeats} repeats, bars reach from the least to the most"
                     + (', of ratios as of values' if with_ratio else ''))
    else:
        found.append('Each message size has one value, so the spread is unknown')
    for one in section.datasets:
        facts = one.facts
        programs = listed(sorted({curve.series.ran for curve in own if curve.dataset is one and curve.series.programs}))
        if one.kind == 'run':
            nodes = (section.details[one.name].nodes if one.name in section.details else None) or []
            where = [f"Source: {one.name}, whose site and day are not known"] if facts.get('imported') else \
                [f"Measured on {facts['site']}", facts['started'][:10], tables.nodes_text(nodes) if nodes else '']
            found.append(', '.join(filter(None, [*where, programs])))
        else:
            found.append('Source: ' + ', '.join(str(part) for part in (
                facts.get('source'), facts.get('date'), facts.get('node_type'), facts.get('stack')) if part))
    return [sentence.rstrip('.') + '.' for sentence in found]


def command_text(command):
    """Return the command of a run as a shell takes it (str); command: list of str behind osu-container, or its text."""
    if not command:
        return ''
    return command if isinstance(command, str) else shlex.join(['osu-container', *map(str, command)])

"""
The study of the tag sarus: native and several images under one host MPI, in one figure.

The figure is that of the published study (eth-cscs/sarus, doc/cookbook/osu_mb): latency between two nodes, and alltoall
on growing numbers of ranks at four message sizes, each as mean and standard deviation of the repeats. All else in a
report shows medians with the least and the most; here means are shown because the published figures are means.
"""
from __future__ import annotations

import json
import statistics
from dataclasses import dataclass

import altair

from ..results.model import size_text
from . import charts, tables

#: The tag whose runs have the figure
TAG = 'sarus'
LATENCY, ALLTOALL = 'osu_latency', 'osu_alltoall'
#: Message sizes in bytes at which alltoall is shown
SIZES = (1024, 32768, 65536, 1048576)
#: On a logarithmic axis a bar that would reach zero ends at this part of the mean
LEAST = 0.1
#: Size of the figure in points
WIDTH, HEIGHT = 900, 800


@dataclass(frozen=True)
class Point:
    """A mark of the figure: size in bytes, ranks; mean and standard deviation (None of one repeat) in µs; repeats."""

    series: str
    size: int
    ranks: int
    mean: float
    deviation: float | None
    repeats: int

    @property
    def text(self):
        """Return it as text: '12.3 ± 0.4'; without ± where there was one repeat."""
        spread = '' if self.deviation is None else f' ± {tables.number(self.deviation) if self.deviation else 0}'
        return tables.number(self.mean) + spread

    def row(self):
        """Return it as the figure has it (dict)."""
        spread = self.deviation or 0
        return {'series': self.series, 'bytes': self.size, 'ranks': self.ranks, 'value': self.mean,
                'low': max(self.mean - spread, LEAST * self.mean), 'high': self.mean + spread}


@dataclass
class Study:
    """The figure of a section: key of its address, what it is of (str), names and styles of its series, Points."""

    key: str
    words: str
    names: list[str]
    styles: list[charts.Style]
    latency: list[Point]
    alltoall: list[Point]

    @property
    def ranks(self):
        """Return the numbers of ranks of alltoall (list of int), ascending."""
        return sorted({point.ranks for point in self.alltoall})

    def tables(self):
        """Return its figures as tables (list of tables.Table)."""
        found = []
        for benchmark, points, heads in ((LATENCY, self.latency, ('message size',)),
                                         (ALLTOALL, self.alltoall, ('message size', 'ranks'))):
            by_place = {}
            for point in points:
                by_place.setdefault((point.size, point.ranks), {})[point.series] = point
            names = [name for name in self.names if any(name in one for one in by_place.values())]
            columns = [tables.Column(head) for head in heads] + [tables.Column(name, number=True) for name in names]
            rows = [[tables.Cell(size_text(size) or '0 B'), *([tables.Cell(str(ranks))] if heads[1:] else []),
                     *(tables.Cell(one[name].text if name in one else tables.NOTHING) for name in names)]
                    for (size, ranks), one in sorted(by_place.items())]
            if rows:
                found.append(tables.Table(f'{benchmark}: mean ± standard deviation in µs', columns, rows,
                                          [self.repeats_text()], f'{self.key}-{benchmark}', 'facts'))
        return found

    def repeats_text(self):
        """Return of how many repeats the figures are (str)."""
        counts = sorted({point.repeats for point in self.latency + self.alltoall})
        text = f'{counts[0]} to {counts[-1]}' if len(counts) > 1 else str(counts[0])
        return (f"Mean and sample standard deviation of {text} repeat{'s' if counts[-1] > 1 else ''}; a single value "
                "has no deviation.")

    def specification(self, title=None, subtitle=None):
        """Return the Vega-Lite specification (dict) of the figure with all in it, on light paper."""
        latency = [point.row() for point in self.latency if point.size]
        drawn = {row['series'] for row in latency + [point.row() for point in self.alltoall]}
        names = [name for name in self.names if name in drawn]
        styles = [style for name, style in zip(self.names, self.styles) if name in drawn]
        parts = [_panel(latency, 'bytes', names, styles, title=f'{LATENCY}, 2 ranks on two nodes', width=WIDTH - 90,
                        height=300)] if latency else []
        small = self._alltoall_panels(names, styles)
        parts += [altair.hconcat(*small[first:first + 2]) for first in range(0, len(small), 2)]
        spec = altair.vconcat(*parts).resolve_scale(color='shared', shape='shared', strokeDash='shared').to_dict()
        spec['config'] = charts.theme(styles, background='white')
        if title:
            spec['title'] = {'text': title, **({'subtitle': subtitle} if subtitle else {})}
        return json.loads(json.dumps(spec))

    def _alltoall_panels(self, names, styles):
        """Return the Altair charts of alltoall (list), one a message size that was measured."""
        by_size = {size: [point.row() for point in self.alltoall if point.size == size] for size in SIZES}
        return [_panel(rows, 'ranks', names, styles, title=f'{ALLTOALL}, {size_text(size)}', width=(WIDTH - 150) / 2,
                       height=170) for size, rows in by_size.items() if rows]


def _panel(rows, by, names, styles, *, title, width, height):
    """Return the Altair chart of one panel: mean by 'bytes' or by 'ranks', with a bar of one standard deviation."""
    lines, marks = charts.series_encodings(names, styles)
    values = [row['value'] for row in rows]
    scaled = charts.scaled(values)
    y = {'axis': altair.Axis(labelExpr=charts.NUMBER, title='µs', **(
        {'values': charts.TICKS[scaled]} if scaled in charts.TICKS else {'tickCount': 5})),
         'scale': altair.Scale(nice=False, padding=8,
                               **({'type': 'log'} if scaled in charts.TICKS else {'zero': False}))}
    ticks = sorted({row[by] for row in rows}) if by == 'ranks' else [4 ** n for n in range(16)]
    axis = altair.Axis(values=ticks, title='message size' if by == 'bytes' else 'ranks',
                       **({'labelExpr': charts.SIZE} if by == 'bytes' else {'format': 'd'}))
    base = altair.Chart(altair.Data(values=_apart(rows, by, names)), title=title, width=width, height=height)
    x = altair.X('at:Q', axis=axis, scale=altair.Scale(type='log', base=2, nice=False, padding=16))
    bars = base.mark_errorbar(ticks=altair.MarkConfig(size=7), thickness=1.3).encode(
        x=x, y=altair.Y('low:Q', **y), y2='high:Q', color=lines['color'])
    curve = base.mark_line(strokeWidth=1.4).encode(x=x, y=altair.Y('value:Q', **y), **lines)
    points = base.mark_point(filled=True, opacity=1, size=36).encode(
        x=x, y=altair.Y('value:Q', **y), color=lines['color'], **marks)
    return altair.layer(bars, curve, points)


def _apart(rows, by, names):
    """Return rows (list of dict) with their place, 'at': series stand a little beside each other, so that bars show."""
    middle = (len(names) - 1) / 2
    return [dict(row, at=row[by] * 2 ** (0.05 * (names.index(row['series']) - middle))) for row in rows]


def _points(curve, ranks, sizes=None):
    """Return the Points of a content.Curve at sizes (bytes), all without."""
    found = []
    for size in curve.series.sizes:
        if sizes is None or size in sizes:
            values = list(curve.series.values[size].values())
            deviation = statistics.stdev(values) if len(values) > 1 else None
            found.append(Point(curve.name, size, ranks, statistics.mean(values), deviation, len(values)))
    return found


def of(section):
    """Return the Study of a content.Section, None if none of its runs was made for one."""
    if not any(one.facts.get('tag') == TAG for one in section.datasets):
        return None
    latency, alltoall, curves = [], [], {}
    for view in section.views:
        case = view.case
        if case.buffers != 'H H' or not case.ranks or case.nodes is None or case.nodes < 2:
            continue
        if case.benchmark == LATENCY:
            found, sizes = latency, None
        elif case.benchmark == ALLTOALL:
            found, sizes = alltoall, SIZES
        else:
            continue
        for curve in view.curves:
            new = _points(curve, case.ranks, sizes)
            if new:
                found += new
                curves.setdefault(curve.name, curve.style)
    if not curves:
        return None
    made = Study(f'{section.key}-study', '', list(curves), list(curves.values()), latency, alltoall)
    ranks = ', '.join(map(str, made.ranks))
    made.words = (f"{LATENCY} between two nodes" * bool(latency) + ', and ' * bool(latency and alltoall)
                  + f"{ALLTOALL} on {ranks} ranks at {', '.join(size_text(size) for size in SIZES)}" * bool(alltoall)
                  + f": {', '.join(made.names)}.")
    return made

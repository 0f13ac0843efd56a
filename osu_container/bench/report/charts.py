"""
Draw the plots of a report: curves over message sizes, as SVG.

A page has hundreds of plots. A plotting library needs 30 ms and 20 kB for each plot, or a megabyte
of script in the page. A plot of this Python module needs a millisecond and a kilobyte, because
rules in the style sheet of the page define the colour and the markers of each curve.
"""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Iterable, NamedTuple, Sequence

from osu_container.base.terminal import escape_text
from osu_container.bench.results.model import format_size

if TYPE_CHECKING:
    from osu_container.bench.report.content import View

#: Message size in bytes, value, and the lower and upper end of its bar
PlotPoint = tuple[int, float, float, float]


class Style(NamedTuple):
    """The appearance of a curve; shapes and dashes distinguish curves even without colour."""

    colour: str
    #: shape of the markers, a key of _SHAPES
    shape: str
    #: SVG's stroke-dasharray
    dash: str


#: {approach: colour}: the hues of Okabe and Ito (colour universal design), darkened to a contrast of
#: at least 3:1 with white
COLOURS = {
    'native': '#1a1a1a',
    'pure': '#cc5500',
    'bind': '#0068a8',
    'hybrid': '#007a5a',
    'swap': '#b3261e',
    'opensource': '#a02c72',
    'openmpi': '#8a6500',
}
_SHAPES = {
    'circle': 'M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z',
    'square': 'M-3-3h6v6h-6z',
    'up': 'M0-4l4 7h-8z',
    'diamond': 'M0-4.5l4 4.5l-4 4.5l-4-4.5z',
    'right': 'M4 0l-7 4v-8z',
    'cross': 'M-4-1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z',
    'down': 'M0 4l4-7h-8z',
}
_DASHES = ('none', '6 3', '2 2', '10 3 2 3')


def select_style(number: int, approach: str) -> Style:
    """
    Return the style (colour, marker, dashes) of a curve.

    If COLOURS contains the approach, the approach determines the colour. Otherwise `number`
    determines the colour.

    number: number of the curve, from 0
    """
    colours = list(COLOURS.values())
    dash = _DASHES[number // len(_SHAPES) % len(_DASHES)]
    return Style(
        COLOURS.get(approach, colours[number % len(colours)]),
        list(_SHAPES)[number % len(_SHAPES)],
        dash,
    )


# ---- one pair of axes ------------------------------------------------------------------------------------------------

#: Size of a plot and margins for the labels, in units of the picture. A unit is about a pixel on a
#: phone
WIDTH, HEIGHT = 380, 236
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 20, 24
#: Positions of grid lines within a decade, coarse to fine. The first entry that gives at least three
#: lines is used
_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(n / 10 for n in range(10, 100)))
#: Maximum number of grid lines of a logarithmic axis, and of message sizes with a label
_LINES, _NAMES = 8, 6


def _compute_ticks(least: float, most: float) -> list[float]:
    """Return the positions of grid lines on a logarithmic axis from `least` (> 0) to `most`."""
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    for steps in _STEPS:
        ticks = [
            step * 10.0**decade
            for decade in decades
            for step in steps
            if least <= step * 10.0**decade <= most
        ]
        if len(ticks) > 2:
            break
    stride = -(-len(ticks) // _LINES)
    # a grid line at 1, which means "as fast as native"
    return ticks[ticks.index(1) % stride if 1 in ticks else 0 :: stride]


def render_panel(
    curves: Sequence[tuple[str, Sequence[PlotPoint]]], title: str, margin: float | None = None
) -> str:
    """
    Return a plot with logarithmic axes, as the content of an <svg> of WIDTH x HEIGHT.

    curves: list of (CSS class of assign_classes(), points with sizes above 0)
    title: title of the vertical axis
    margin: fraction around 1 that counts as equal. If set, the plot shows this range as a band,
    with a line at 1.
    """
    sizes = sorted({point[0] for _, points in curves for point in points})
    values = [value for _, points in curves for point in points for value in point[1:]]
    if margin is not None:
        values += [1 / (1 + margin), 1 + margin]
    step = (WIDTH - LEFT - RIGHT - 8) / (math.log2(sizes[-1] / sizes[0]) or 1)
    least, most = min(values) / 1.06, max(values) * 1.06
    right, foot = WIDTH - RIGHT, HEIGHT - BOTTOM

    def across(size: int) -> str:
        return f'{LEFT + 4 + math.log2(size / sizes[0]) * step:.1f}'

    def up(value: float) -> str:
        return f'{foot - math.log(value / least) / math.log(most / least) * (foot - TOP):.1f}'

    parts = [f'<text x="2" y="12">{html.escape(escape_text(title))}</text>']
    if margin is not None:
        parts.append(
            f'<path class="band" d="M{LEFT} {up(1 + margin)}H{right}V{up(1 / (1 + margin))}H{LEFT}z"/>'
            f'<path class="one" d="M{LEFT} {up(1)}H{right}"/>'
        )
    for value in _compute_ticks(least, most):
        parts.append(
            f'<path class="grid" d="M{LEFT} {up(value)}H{right}"/>'
            f'<text x="{LEFT - 5}" y="{up(value)}" dy="4" class="end">{value:,.10g}</text>'
        )
    for size in sizes[:: -(-len(sizes) // _NAMES)]:
        parts.append(
            f'<path class="grid" d="M{across(size)} {TOP}V{foot}"/>'
            f'<text x="{across(size)}" y="{HEIGHT - 7}" class="mid">{format_size(size)}</text>'
        )
    for name, points in curves:
        bars = ''.join(
            f'M{across(size)} {up(lowest)}V{up(highest)}'
            for size, _, lowest, highest in points
            if highest > lowest
        )
        parts.append(f'<path class="{name}" d="{bars}"/>' if bars else '')
        # Many sizes can have the same place in the plot.
        places = dict.fromkeys(f'{across(size)},{up(value)}' for size, value, *_ in points)
        parts.append(f'<polyline class="{name}" points="{" ".join(places)}"/>')
    return ''.join(parts)


def render_swatch(name: str) -> str:
    """Return the legend line of a curve, as the content of an <svg> of 34 x 12."""
    return f'<polyline class="{name}" points="1,6 17,6 33,6"/>'


def assign_classes(styles: Iterable[Style]) -> dict[Style, str]:
    """Return {style: CSS class} for all styles; the classes are 'k0', 'k1' and so on."""
    return {style: f'k{number}' for number, style in enumerate(dict.fromkeys(styles))}


def render_marks(classes: dict[Style, str]) -> str:
    """Return the SVG <defs> with a marker for each style; the CSS class is the marker's id."""
    return (
        '<defs>'
        + ''.join(
            f'<marker id="{name}" overflow="visible" markerUnits="userSpaceOnUse"><path d="{_SHAPES[style.shape]}" '
            f'fill="{style.colour}"/></marker>'
            for style, name in classes.items()
        )
        + '</defs>'
    )


def render_style_rules(classes: dict[Style, str]) -> str:
    """
    Return the CSS rules for the curves in all plots.

    classes: result of assign_classes()
    """
    return '\n'.join(
        [
            'text{font:11px sans-serif;fill:#1a1a1a}.end{text-anchor:end}.mid{text-anchor:middle}.one{stroke:#5c6068}',
            '.grid{stroke:#e2e3e6}.band{fill:#e6e7e9}',
            *(
                f'.{name}{{fill:none;stroke:{style.colour}}}polyline.{name}{{stroke-width:1.7;stroke-dasharray:{style.dash};'
                f'marker-start:url(#{name});marker-mid:url(#{name});marker-end:url(#{name})}}'
                for style, name in classes.items()
            ),
        ]
    )


# ---- the plots of a case ---------------------------------------------------------------------------------------------


def render_panels(view: View, classes: dict[Style, str]) -> list[str]:
    """
    Return the plots of a benchmark case as a list of SVG texts.

    The first plot shows the measured values. If the report compares the case with native results, a
    second plot shows the ratios to the native results.
    """
    drawn = [(curve, points) for curve in view.curves if (points := curve.list_plot_points())]
    panels = (
        [
            render_panel(
                [(classes[curve.style], points) for curve, points in drawn],
                f'{view.case.title}: {view.unit}',
            )
        ]
        if drawn
        else []
    )
    compared = [(curve, points) for curve, _ in drawn if (points := curve.list_ratio_points())]
    if compared:
        better = 'more' if view.case.more_is_better else 'less'
        panels.append(
            render_panel(
                [(classes[curve.style], points) for curve, points in compared],
                f'ratio to native, {better} is better',
                max(curve.comparison.margin for curve, _ in compared if curve.comparison),
            )
        )
    return panels


def render_picture(view: View) -> str:
    """Return an SVG file, 3.5 inches wide, with the plots of a benchmark case and a legend."""
    classes = assign_classes(curve.style for curve in view.curves)
    drawn, row = render_panels(view, classes), 15
    parts = [
        f'<g transform="translate(0 {HEIGHT * number})">{panel}</g>'
        for number, panel in enumerate(drawn)
    ]
    height = HEIGHT * len(drawn)
    for curve in view.curves:
        parts.append(
            f'<g transform="translate(8 {height})">{render_swatch(classes[curve.style])}<text x="39" y="9">'
            f'{html.escape(escape_text(curve.name))}</text></g>'
        )
        height += row
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="3.5in" viewBox="0 0 {WIDTH} {height}">'
        f'<style>{render_style_rules(classes)}</style>{render_marks(classes)}'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
        f'{"".join(parts)}</svg>\n'
    )

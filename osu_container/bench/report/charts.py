"""
The plots of a report: curves over message sizes as SVG.

A page has hundreds of them. A plotting library takes 30 ms and 20 kB for each, or a megabyte of
program in the page. These take a millisecond and a kilobyte; colour and mark of a curve are rules
of the style sheet.
"""

from __future__ import annotations

import html
import math
from typing import NamedTuple

from osu_container.base.terminal import escape_text
from osu_container.bench.results.model import format_size


class Style(NamedTuple):
    """
    How a curve is told from the others: colour, mark (key of _SHAPES) and dashes. Never by
    colour alone.
    """

    colour: str
    shape: str
    dash: str


#: Approach -> hue after Okabe and Ito (colour universal design), darkened to a contrast of at least
#: 3:1 to the paper
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


def select_style(number, approach=None):
    """
    Return the Style of the curve with a number (int, from 0), with the colour of an approach
    (str) if it has one.
    """
    colours = list(COLOURS.values())
    dash = _DASHES[number // len(_SHAPES) % len(_DASHES)]
    return Style(
        COLOURS.get(approach, colours[number % len(colours)]),
        list(_SHAPES)[number % len(_SHAPES)],
        dash,
    )


# ---- one pair of axes ------------------------------------------------------------------------------------------------

#: Size of a plot and room of the labels about it, in units of the picture; a unit is about a pixel
#: of a phone
WIDTH, HEIGHT = 380, 236
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 20, 24
#: Where a logarithmic axis may have its lines, coarse to fine; the first that gives three is taken
_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(n / 10 for n in range(10, 100)))
#: Lines of a logarithmic axis and message sizes with a name, at most
_LINES, _NAMES = 8, 6


def _compute_ticks(least, most):
    """
    Return the values (list of float) at which a logarithmic axis from least to most (float, > 0)
    has its lines.
    """
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    for steps in _STEPS:
        found = [
            step * 10.0**decade
            for decade in decades
            for step in steps
            if least <= step * 10.0**decade <= most
        ]
        if len(found) > 2:
            break
    return found[:: -(-len(found) // _LINES)]


def render_panel(curves, title, margin=None):
    """
    Return one pair of logarithmic axes with its curves (SVG text, the inside of an <svg> of WIDTH x
    HEIGHT).

    :param curves: list of (class, points), class of assign_classes(), points of (size, value,
        least, most); sizes from 1 B on
    :param title: str, of the values
    :param margin: float, fraction about 1 that counts as equal: a band, with a line at 1; None for
        neither
    """
    sizes = sorted({point[0] for _, points in curves for point in points})
    values = [value for _, points in curves for point in points for value in point[1:]]
    if margin is not None:
        values += [1 / (1 + margin), 1 + margin]
    step = (WIDTH - LEFT - RIGHT - 8) / (math.log2(sizes[-1] / sizes[0]) or 1)
    least, most = min(values) / 1.06, max(values) * 1.06
    right, foot = WIDTH - RIGHT, HEIGHT - BOTTOM

    def across(size):
        return f'{LEFT + 4 + math.log2(size / sizes[0]) * step:.1f}'

    def up(value):
        return f'{foot - math.log(value / least) / math.log(most / least) * (foot - TOP):.1f}'

    found = [f'<text x="2" y="12">{html.escape(escape_text(title))}</text>']
    if margin is not None:
        found.append(
            f'<path class="band" d="M{LEFT} {up(1 + margin)}H{right}V{up(1 / (1 + margin))}H{LEFT}z"/>'
            f'<path class="one" d="M{LEFT} {up(1)}H{right}"/>'
        )
    for value in _compute_ticks(least, most):
        found.append(
            f'<path class="grid" d="M{LEFT} {up(value)}H{right}"/>'
            f'<text x="{LEFT - 5}" y="{up(value)}" dy="4" class="end">{value:,.10g}</text>'
        )
    for size in sizes[:: -(-len(sizes) // _NAMES)]:
        found.append(
            f'<path class="grid" d="M{across(size)} {TOP}V{foot}"/>'
            f'<text x="{across(size)}" y="{HEIGHT - 7}" class="mid">{format_size(size)}</text>'
        )
    for name, points in curves:
        bars = ''.join(
            f'M{across(size)} {up(lowest)}V{up(highest)}'
            for size, _, lowest, highest in points
            if highest > lowest
        )
        found.append(f'<path class="{name}" d="{bars}"/>' if bars else '')
        found.append(
            f'<polyline class="{name}" points="'
            + ' '.join(f'{across(size)},{up(value)}' for size, value, *_ in points)
            + '"/>'
        )
    return ''.join(found)


def render_swatch(name):
    """Return the curve of a style (str, its class) as a legend shows it (SVG text, 34 x 12)."""
    return f'<polyline class="{name}" points="1,6 17,6 33,6"/>'


def assign_classes(styles):
    """
    Return {Style: its class}, 'k0', 'k1' ..., for styles (iterable, each may come several
    times).
    """
    return {style: f'k{number}' for number, style in enumerate(dict.fromkeys(styles))}


def render_marks(named):
    """Return the marks of styles (SVG text, <defs>); named: of assign_classes()."""
    return (
        '<defs>'
        + ''.join(
            f'<marker id="{name}" overflow="visible" markerUnits="userSpaceOnUse"><path d="{_SHAPES[style.shape]}" '
            f'fill="{style.colour}"/></marker>'
            for style, name in named.items()
        )
        + '</defs>'
    )


def render_style_rules(named):
    """Return the style sheet (str) of plots; named: of assign_classes()."""
    return '\n'.join(
        [
            'text{font:11px sans-serif;fill:#1a1a1a}.end{text-anchor:end}.mid{text-anchor:middle}.one{stroke:#5c6068}',
            '.grid{stroke:#e2e3e6}.band{fill:#e6e7e9}',
            *(
                f'.{name}{{fill:none;stroke:{style.colour}}}polyline.{name}{{stroke-width:1.7;stroke-dasharray:{style.dash};'
                f'marker-start:url(#{name});marker-mid:url(#{name});marker-end:url(#{name})}}'
                for style, name in named.items()
            ),
        ]
    )


# ---- the plots of a case ---------------------------------------------------------------------------------------------


def render_panels(view, named):
    """
    Return the plots (list of SVG text) of a content.View: values, ratios to native; named: of
    assign_classes().
    """
    drawn = [curve for curve in view.curves if curve.list_plot_points()]
    found = (
        [
            render_panel(
                [(named[curve.style], curve.list_plot_points()) for curve in drawn],
                f'{view.case.title}: {view.unit}',
            )
        ]
        if drawn
        else []
    )
    compared = [curve for curve in drawn if curve.list_ratio_points()]
    if compared:
        better = 'more' if view.case.more_is_better else 'less'
        found.append(
            render_panel(
                [(named[curve.style], curve.list_ratio_points()) for curve in compared],
                f'ratio to native, {better} is better',
                max(one.comparison.margin for one in compared),
            )
        )
    return found


def render_picture(view):
    """
    Return the plots of a content.View as a file (SVG text) as wide as a column of a paper, with
    their legend.
    """
    named = assign_classes(curve.style for curve in view.curves)
    drawn, row = render_panels(view, named), 15
    parts = [
        f'<g transform="translate(0 {HEIGHT * number})">{one}</g>'
        for number, one in enumerate(drawn)
    ]
    height = HEIGHT * len(drawn)
    for curve in view.curves:
        parts.append(
            f'<g transform="translate(8 {height})">{render_swatch(named[curve.style])}<text x="39" y="9">'
            f'{html.escape(escape_text(curve.name))}</text></g>'
        )
        height += row
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="3.5in" viewBox="0 0 {WIDTH} {height}">'
        f'<style>{render_style_rules(named)}</style>{render_marks(named)}<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
        f'{"".join(parts)}</svg>\n'
    )

"""
The pictures of a report: curves over message sizes as SVG, drawn here, as small as they can be.

A page has hundreds of them. A drawing library takes 30 ms and 20 kB for each, or a megabyte of program in the page that
draws nothing where scripts are off. These take a millisecond and a kilobyte; colour, dashes and marks of a curve are
rules of the style sheet, so they change with a dark screen and stand once in a page.
"""
from __future__ import annotations

import html
import math
from dataclasses import dataclass

from osu_container.core.terminal import visible

from ..results.model import size_text


class _Units(dict):
    """Unit as in the results -> as people write it. That of a user's command is as the user has written it."""

    def __missing__(self, unit):
        return unit


UNITS = _Units({'MB/s': 'MB/s', 'us': 'µs', 'ms': 'ms'})
THIN = '\u202f'


@dataclass(frozen=True)
class Style:
    """
    How a curve is told from the others: colour in light and in dark, mark (key of _SHAPES), dashes.

    Never by colour alone.
    """

    light: str
    dark: str
    shape: str
    dash: tuple = ()


_SHAPES = {'circle': 'M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z', 'square': 'M-3-3h6v6h-6z', 'up': 'M0-4l4 7h-8z',
           'diamond': 'M0-4.5l4 4.5l-4 4.5l-4-4.5z', 'right': 'M4 0l-7 4v-8z', 'down': 'M0 4l4-7h-8z',
           'cross': 'M-4-1.2h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z'}
# Hues after Okabe and Ito (colour universal design), darkened or lightened to a contrast of at least 3:1 to the paper.
APPROACHES = {
    'native': Style('#1a1a1a', '#f4f4f4', 'circle'),
    'pure': Style('#cc5500', '#ff9557', 'square', (2, 2)),
    'bind': Style('#0068a8', '#5cb8f0', 'up', (8, 3)),
    'hybrid': Style('#007a5a', '#35cfa2', 'diamond', (10, 3, 2, 3)),
    'swap': Style('#b3261e', '#ff8f80', 'right', (6, 2, 1, 2)),
    'opensource': Style('#a02c72', '#ea90c6', 'cross', (5, 2)),
    'openmpi': Style('#8a6500', '#eec04a', 'down', (2, 2, 6, 2)),
}
_HUES = [(one.light, one.dark) for one in APPROACHES.values()][1:] + [('#5b4fb5', '#aaa1f2'), ('#5a6b1c', '#bccf70')]
_MARKS = ('square', 'up', 'diamond', 'cross', 'down', 'right', 'circle')
_DASHES = ((), (6, 3), (2, 2), (10, 3, 2, 3), (4, 2))


def style_of(name, number, run=0):
    """
    Return the Style of a series.

    :param name: str, an approach or any other name
    :param number: int, the how manieth name without a style of its own it is
    :param run: int, 0 for the first run; the same approach in another run has its colour, but other mark and dashes
    """
    own = APPROACHES.get(name)
    if own is None:
        marks = _MARKS[(number + number // len(_HUES)) % len(_MARKS)]
        return Style(*_HUES[number % len(_HUES)], marks, _DASHES[(number // len(_HUES) + number) % len(_DASHES)])
    if not run:
        return own
    mark = _MARKS[(_MARKS.index(own.shape) + 2 * run + 1) % len(_MARKS)]
    return Style(own.light, own.dark, mark, _DASHES[1 + (run - 1) % (len(_DASHES) - 1)])


# ---- one pair of axes ------------------------------------------------------------------------------------------------

#: Room of the labels about the plot, in units of the picture; a unit is about a pixel of a phone
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 20, 24
#: Where a logarithmic axis may have its lines, coarse to fine; the first that gives three is taken
_STEPS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(n / 10 for n in range(10, 100)))
_LINES = 8
_NAMES = 6


def _ticks(least, most):
    """Return the values (list of float) at which a logarithmic axis from least to most (float, > 0) has its lines."""
    decades = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    for steps in _STEPS:
        found = [step * 10.0 ** decade for decade in decades for step in steps
                 if least <= step * 10.0 ** decade <= most]
        if len(found) > 2:
            break
    return found[::-(-len(found) // _LINES)]


def _size_ticks(sizes):
    """Return the message sizes (list of int) that are named below an axis: powers of two, evenly spaced."""
    first, last = (math.log2(one) for one in (sizes[0], sizes[-1]))
    for step in (1, 2, 4, 5, 10, 20):
        found = [2 ** n for n in range(math.ceil(first), math.floor(last) + 1) if n % step == 0]
        if len(found) <= _NAMES:
            break
    return found


def number(value):
    """Return a value (float) as text with the digits that mean something: '0.012', '0.19', '22.4', '22 181'."""
    if value >= 100:
        return f'{value:,.0f}'.replace(',', THIN)
    return f'{value:.1f}' if value >= 10 else f'{value:.2f}' if value >= 0.1 else f'{value:.2g}'


def _short(value):
    """Return a coordinate as text, to a tenth."""
    return f'{value:.1f}'.removesuffix('.0')


def panel(curves, title, *, width=380, height=236, margin=None, parts=(), named=True):
    """
    Return one pair of logarithmic axes with its curves (SVG text, the inside of an <svg>).

    :param curves: of (class of its style, [(message size > 0, value, least, most of the repeats)]), by size
    :param title: of the axis of values (str), '' for none
    :param width, height: of the whole in units of the picture
    :param margin: float, the values are ratios and those within it are equal: a band, and a line at 1
    :param parts: of (name, least size, most size): parts of the sizes, with a line between them
    :param named: bool, the message sizes are named below
    """
    sizes = sorted({point[0] for _, points in curves for point in points})
    values = [value for _, points in curves for point in points for value in point[1:]]
    if margin is not None:
        values += [1 / (1 + margin), 1 + margin]
    first, step = math.log2(sizes[0]), (width - LEFT - RIGHT - 8) / ((math.log2(sizes[-1] / sizes[0])) or 1)
    least, most = min(values) / 1.06, max(values) * 1.06
    low, high = math.log(least), math.log(most)
    foot = height - (BOTTOM if named else 6)

    def at(size):
        return _short(LEFT + 4 + (math.log2(size) - first) * step)

    def up(value):
        return _short(foot - (math.log(value) - low) / (high - low) * (foot - TOP))

    found = [f'<text x="2" y="12" class="axis">{html.escape(visible(title))}</text>'] if title else []
    if margin is not None:
        found.append(f'<path class="band" d="M{LEFT} {up(1 + margin)}H{width - RIGHT}V{up(1 / (1 + margin))}'
                     f'H{LEFT}z"/>')
    ticks, below = _ticks(least, most), _size_ticks(sizes)
    found.append('<path class="grid" d="' + ''.join(f'M{LEFT} {up(one)}H{width - RIGHT}' for one in ticks)
                 + ''.join(f'M{at(one)} {TOP}V{foot}' for one in below) + '"/>')
    found += [f'<text x="{LEFT - 5}" y="{up(one)}" dy="4" class="end">{f"{one:,.10g}".replace(",", THIN)}</text>'
              for one in ticks]
    if named:
        found += [f'<text x="{at(one)}" y="{height - 7}" class="mid">{size_text(one)}</text>' for one in below]
    if margin is not None:
        found.append(f'<path class="one" d="M{LEFT} {up(1)}H{width - RIGHT}"/>')
    for name, least_size, most_size in parts:
        inside = [size for size in sizes if least_size <= size <= most_size]
        if inside:
            middle = (float(at(inside[0])) + float(at(inside[-1]))) / 2
            found.append(f'<text x="{_short(middle)}" y="{TOP - 7}" class="mid">{name}</text>')
            if inside[0] > sizes[0]:
                x = (float(at(inside[0])) + float(at(max(size for size in sizes if size < inside[0])))) / 2
                found.append(f'<path class="cut" d="M{_short(x)} {TOP - 16}V{foot}"/>')
    for name, points in curves:
        bars = ''.join(f'M{at(size)} {up(lowest)}V{up(highest)}' for size, _, lowest, highest in points
                       if highest > lowest)
        found += [f'<path class="bar {name}" d="{bars}"/>'] if bars else []
        found.append(f'<polyline class="{name}" points="'
                     + ' '.join(f'{at(size)},{up(value)}' for size, value, *_ in points) + '"/>')
    return ''.join(found)


def swatch(name):
    """Return the curve of a style (str, its class) as a legend shows it (SVG text, 34 x 12)."""
    return f'<polyline class="{name}" points="1,6 17,6 33,6"/>'


# ---- colours, dashes, marks ------------------------------------------------------------------------------------------

def classes(styles):
    """Return {Style: its class}, 'k0', 'k1' ..., for styles (iterable, each may come several times)."""
    return {style: f'k{number}' for number, style in enumerate(dict.fromkeys(styles))}


def marks(named, colour):
    """Return the marks of styles (SVG text, <defs>); named: of classes(); colour: function of (Style, class)."""
    return '<defs>' + ''.join(
        f'<marker id="{name}" overflow="visible" markerUnits="userSpaceOnUse"><path d="{_SHAPES[style.shape]}" '
        f'fill="{colour(style, name)}"/></marker>' for style, name in named.items()) + '</defs>'


def rules(named, colour):
    """Return the style sheet (str) of curves; as of marks()."""
    found = ['polyline,.bar,.one,.grid,.cut{fill:none}.bar{stroke-width:1.2}polyline{stroke-width:1.7}']
    for style, name in named.items():
        dash = f";stroke-dasharray:{' '.join(map(str, style.dash))}" if style.dash else ''
        found.append(f'.{name}{{stroke:{colour(style, name)}}}polyline.{name}{{marker-start:url(#{name});'
                     f'marker-mid:url(#{name});marker-end:url(#{name}){dash}}}')
    return '\n'.join(found)


# ---- the picture for a paper -----------------------------------------------------------------------------------------

#: vl-convert, which makes the PDF, has this typeface in it
FONT = 'Liberation Sans, Arial, Helvetica, sans-serif'
#: A column of a paper: 3.5 inches, in points of CSS (96 an inch). Type of 9.5 points of CSS is 7 points of print
COLUMN, HEIGHTS, ROW = 336, (190, 140), 15
_PICTURE = f"""text{{font:9.5px {FONT};fill:#1a1a1a}}.end{{text-anchor:end}}.mid{{text-anchor:middle}}
.grid{{stroke:#e2e3e6}}.band{{fill:#e6e7e9}}.one{{stroke:#5c6068}}"""


def column(curves, title, ratios, ratio_title, margin, *, named, told):
    """
    Return the picture (SVG text) for a column of a paper: values, their ratios to native below, and a legend.

    :param curves, title: of the values, as of panel(), with the name before each curve: (name, class, points)
    :param ratios, ratio_title, margin: of the ratios, as of panel(); ratios []: there is no native
    :param named: of classes()
    :param told: (title, description) for those who do not see it (two str)
    """
    def colour(style, _):
        return style.light

    top, parts = 0, []
    for height, drawn in ((HEIGHTS[0], panel([one[1:] for one in curves], title, width=COLUMN, height=HEIGHTS[0] - 4,
                                             named=not ratios)),
                          (HEIGHTS[1], ratios and panel(ratios, ratio_title, width=COLUMN, height=HEIGHTS[1],
                                                        margin=margin))):
        if drawn:
            parts.append(f'<g transform="translate(0 {top})">{drawn}</g>')
            top += height
    wide = max(len(name) for name, *_ in curves)
    columns = max(1, min(4, (COLUMN - 8) // (44 + 6 * wide)))
    for place, (name, key, _) in enumerate(curves):
        x, y = 8 + place % columns * ((COLUMN - 8) // columns), top + 4 + place // columns * ROW
        parts.append(f'<g transform="translate({x} {y})">{swatch(key)}<text x="39" y="9">{html.escape(visible(name))}'
                     '</text></g>')
    height = top + 8 + -(-len(curves) // columns) * ROW
    title, description = (html.escape(visible(text)) for text in told)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{COLUMN / 96:g}in" height="{height / 96:.4g}in" '
            f'viewBox="0 0 {COLUMN} {height}"><title>{title}</title><desc>{description}</desc>'
            f'<style>{_PICTURE}\n{rules(named, colour)}</style>{marks(named, colour)}'
            f'<rect width="{COLUMN}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>\n')


def pdf(text):
    """
    Return an SVG of column() as PDF (bytes) of the same size. Raises ValueError if vl-convert cannot.

    Its bytes are not always the same: vl-convert writes parts that have names in any order.
    """
    import vl_convert  # nothing else needs it
    # a number without unit is a point of print to it
    for name in ('width', 'height'):
        before, found, rest = text.partition(f' {name}="')
        inches, _, rest = rest.partition('in"')
        text = f'{before}{found}{float(inches) * 72:.5g}"{rest}'
    return vl_convert.svg_to_pdf(text)

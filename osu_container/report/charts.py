"""
The charts of a report, as Vega-Lite: Altair writes the specifications, vl-convert draws them.

A specification holds no figures: it names a data set, 'rows', that is put in when it is drawn, by data() here and by
page.js in the page. Charts that look alike share one, so a page of hundreds of charts stays small. Colours are not in
it either: they come with the theme, so that the page can be dark and a printed one is light.
"""
from __future__ import annotations

import contextlib
import functools
import json
import re
import subprocess
import sys
from dataclasses import dataclass

import altair
import vl_convert
from altair.utils.schemapi import debug_mode

from osu_container.core.terminal import visible_in

from . import ReportError

#: Version of Vega-Lite that this Altair writes, e.g. '6.4'
VEGA_LITE = '.'.join(altair.SCHEMA_VERSION.lstrip('v').split('.')[:2])
#: Whether Altair compares each specification with Vega-Lite's schema. That is most of the time a report takes, and what
#: it finds are mistakes of this file, so the tests do it.
CHECKED = False
#: vl-convert has this typeface in it: text has the same width on every machine, and files come out the same
FONT = 'Liberation Sans, Arial, Helvetica, sans-serif'
#: Of charts in the page, where the browser measures the text
PAGE_FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif'

#: Columns of the rows of a curve, see content.Curve.rows()
CURVE = ('series', 'bytes', 'value', 'low', 'high', 'repeats', 'ratio', 'ratio_low', 'ratio_high', 'verdict')

#: A logarithmic axis tells nothing where the values are within the first factor, and has room for powers of ten only
#: where they are beyond the second
LINEAR_WITHIN, STEPS_WITHIN = 5, 3000
#: Bars of spread of one message size stand beside each other over this part of the way to the next power of two, but
#: two of them no further apart than the second
BARS_OVER, BARS_APART = 0.62, 0.16


#: A picture for a column of a paper: 3.5 inches wide, in points of CSS (96 an inch), and its parts' heights. Type of 9
#: and 10 points of CSS is 6.8 and 7.5 points of print
COLUMN, COLUMN_HEIGHTS = 336, (170, 120)


class _Units(dict):
    """Unit as in the results -> as people write it. That of a user's command is as the user has written it."""

    def __missing__(self, unit):
        return unit


UNITS = _Units({'MB/s': 'MB/s', 'us': 'µs', 'ms': 'ms'})


@dataclass(frozen=True)
class Style:
    """
    How a curve is told from the others: colour in light and in dark, mark, dashes. Never by colour alone.

    background  it stands behind the others: thin, grey, its marks small
    few         it has a few single values, which need marks that are seen
    """

    light: str
    dark: str
    shape: str
    dash: tuple = ()
    background: bool = False
    few: bool = False


# Hues after Okabe and Ito (colour universal design), darkened or lightened to a contrast of at least 3:1 to the paper.
APPROACHES = {
    'native': Style('#1a1a1a', '#f4f4f4', 'circle'),
    'pure': Style('#cc5500', '#ff9557', 'square', (2, 2)),
    'bind': Style('#0068a8', '#5cb8f0', 'triangle-up', (8, 3)),
    'hybrid': Style('#007a5a', '#35cfa2', 'diamond', (10, 3, 2, 3)),
    'swap': Style('#b3261e', '#ff8f80', 'triangle-right', (6, 2, 1, 2)),
    'opensource': Style('#a02c72', '#ea90c6', 'cross', (5, 2)),
    'openmpi': Style('#8a6500', '#eec04a', 'triangle-down', (2, 2, 6, 2)),
}
_HUES = [(one.light, one.dark) for one in APPROACHES.values()][1:] + [('#5b4fb5', '#aaa1f2'), ('#5a6b1c', '#bccf70')]
_SHAPES = ('square', 'triangle-up', 'diamond', 'cross', 'triangle-down', 'triangle-right', 'circle')
_DASHES = ((), (6, 3), (2, 2), (10, 3, 2, 3), (4, 2))
_GREYS = [('#767676', '#9b9b9b'), ('#8a8f98', '#8a9099'), ('#948a82', '#a39a92')]
_GREY_DASHES = ((4, 4), (1, 3), (8, 3, 1, 3), (12, 4), (2, 6), (6, 2, 2, 2))


def style_of(name, number, run=0):
    """
    Return the Style of a series.

    :param name: str, an approach or any other name
    :param number: int, the how manieth name without a style of its own it is
    :param run: int, 0 for the first run; the same approach in another run has its colour, but other mark and dashes
    """
    if name in APPROACHES:
        own = APPROACHES[name]
        if not run:
            return own
        shape = _SHAPES[(_SHAPES.index(own.shape) + 2 * run + 1) % len(_SHAPES)]
        return Style(own.light, own.dark, shape, _DASHES[1 + (run - 1) % (len(_DASHES) - 1)])
    light, dark = _HUES[number % len(_HUES)]
    return Style(light, dark, _SHAPES[number % len(_SHAPES)], _DASHES[(number // len(_HUES) + number) % len(_DASHES)])


def background_style(number, few=False):
    """Return the Style of the number-th (int, from 0) curve behind the others: grey, dashed. few: see Style."""
    light, dark = _GREYS[number % len(_GREYS)]
    return Style(light, dark, _SHAPES[(number + 1) % len(_SHAPES)] if few else 'circle',
                 _GREY_DASHES[number % len(_GREY_DASHES)], background=True, few=few)


# ---- specifications --------------------------------------------------------------------------------------------------

#: Which series are shown: those whose name is not in the parameter
SHOWN = 'indexof(hidden, datum.series) < 0'
#: Expressions of labels: a message size, a number
SIZE = ("datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB' : "
         "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : "
         "datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'")
NUMBER = "format(datum.value, ',~g')"
#: Where a logarithmic axis has its lines. Every label costs a picture a millisecond.
TICKS = {scaled: [step * 10 ** exponent if exponent >= 0 else step / 10 ** -exponent
                   for exponent in range(-3, 9) for step in steps]
          for scaled, steps in (('decades', (1,)), ('steps', (1, 2, 5)))}
#: Of ratios that are near one
TICKS['fine'] = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 2, 2.5]
#: Ratios within this factor have the ticks 'fine'
FINE_WITHIN = 3


def _legend_columns(names):
    """Return into how many columns a legend of names (list of str) goes so that a picture of COLUMN holds it."""
    return max(1, min(3, (COLUMN - 46) // (24 + 6 * max(map(len, names)))))


def _colour(names, styles, legend):
    """Return the encodings that tell series apart: colour, mark, dashes, width. Colours and marks are the theme's."""
    one_legend = altair.Legend(title=None, orient='bottom', columns=_legend_columns(names), labelLimit=0,
                               symbolSize=80) if legend else None
    return {
        'color': altair.Color('series:N', scale=altair.Scale(domain=names), legend=one_legend),
        'strokeDash': altair.StrokeDash('series:N', legend=None, scale=altair.Scale(
            domain=names, range=[list(style.dash) or [1, 0] for style in styles])),
    }, {
        'shape': altair.Shape('series:N', scale=altair.Scale(domain=names), legend=one_legend),
    }


def _width(names, styles, own, background):
    """Return a scale from series to a number: own for the curves of the report, background for those behind them."""
    return altair.Scale(type='ordinal', domain=names, range=[background if style.background and not style.few else own
                                             for style in styles])


def axis_title(unit, scaled):
    """Return the title (str) of an axis of values: unit (str) and what scale it has; scaled: as of scaled()."""
    return f"{unit} ({'linear' if scaled == 'linear' else 'log'})"


def _beside(names, styles):
    """Return an expression: by which factor the bar of a series stands beside its message size, so that all show."""
    own = [name for name, style in zip(names, styles) if not style.background]
    step = min(BARS_APART, BARS_OVER / max(1, len(own) - 1))
    places = json.dumps({visible_in(name): round(step * (number - (len(own) - 1) / 2), 4)
                         for number, name in enumerate(own)}, sort_keys=True)
    return f'datum.bytes * pow(2, {places}[datum.series] || 0)'


def _tooltip(unit, sized=True):
    """Return the lines that are shown for a point."""
    lines = [altair.Tooltip('series:N', title='series')]
    if sized:
        lines.append(altair.Tooltip('size:N', title='message size'))
    return lines + [altair.Tooltip('value:Q', title=f'median, {UNITS[unit]}', format=',.4~r'),
                    altair.Tooltip('spread:N', title='least to most'),
                    altair.Tooltip('repeats:Q', title='repeats'),
                    altair.Tooltip('to_native:N', title='ratio to native'),
                    altair.Tooltip('ratio_spread:N', title='ratio, least to most')]


#: Lines of a tooltip that a ratio does not need
OF_VALUES = ('value', 'spread')


def _texts(chart):
    """Add to a chart the words of its tooltips, computed from the figures."""
    return chart.transform_calculate(
        size=SIZE.replace('datum.value', 'datum.bytes'),
        spread="datum.repeats > 1 ? format(datum.low, ',.4~r') + ' to ' + format(datum.high, ',.4~r') : 'one value'",
        to_native="isValid(datum.ratio) ? format(datum.ratio, '.3~f') + ', ' + datum.verdict : '–'",
        ratio_spread="isValid(datum.ratio_low) ? format(datum.ratio_low, '.3~f') + ' to ' + "
                     "format(datum.ratio_high, '.3~f') : '–'")


@functools.cache
def specification(kind, unit, names, styles, *, scaled='decades', spread=False, margin=0.0, more_is_better=True):
    """
    Return the Vega-Lite specification (JSON text) of a kind of chart of the page; its legend is the page's own.

    It has a parameter 'hidden' (names not shown).

    :param kind: 'curve' (value by size), 'ratio' (to native, by size), 'single' (benchmarks without sizes)
    :param unit: 'MB/s', 'us' or 'ms'
    :param names, styles: of the series, tuple of str and tuple of Style
    :param scaled: axis of the values, see scaled(): 'linear', 'steps', 'decades'; of ratios also 'fine'
    :param spread: bool, there are repeats, whose least and most are shown
    :param margin, more_is_better: of a ratio: the fraction within which values are equal, and which ratios are good
    """
    names, styles = list(names), list(styles)
    with debug_mode(CHECKED):
        if kind == 'ratio':
            chart = _ratio(names, styles, scaled=scaled, spread=spread, margin=margin, more_is_better=more_is_better)
        elif kind == 'curve':
            chart = _curve(unit, names, styles, scaled=scaled, spread=spread)
        else:
            chart = _single(unit, names, styles, spread=spread)
        chart = chart.add_params(altair.param(name='hidden', value=[]))
        if kind != 'ratio':  # its parts have data of their own, so it filters by itself
            chart = chart.transform_filter(SHOWN)
        spec = chart.to_dict(validate=CHECKED)
    spec['autosize'] = {'type': 'fit', 'contains': 'padding'}
    spec.pop('config', None)  # Altair's own size of a view; the theme says the rest
    return json.dumps(spec, sort_keys=True, separators=(',', ':'))


def _curve(unit, names, styles, *, scaled, spread, picture=False, below=False):
    """
    Return the chart of values by message size; as of specification().

    :param picture: bool, for column(): with a legend and smaller marks, and nothing to press
    :param below: bool, a chart below it has the names of the message sizes
    """
    lines, marks = _colour(names, styles, picture)
    axis = altair.Axis(values=[4 ** n for n in range(21)], labelExpr=SIZE, title=None if below else 'message size',
                       **({'labels': False} if below else {}))
    title = axis_title(UNITS[unit], scaled)
    values = altair.Axis(labelExpr=NUMBER, title=title,
                         **({'values': TICKS[scaled]} if scaled in TICKS else {'tickCount': 6}))
    scale = altair.Scale(nice=False, padding=10, **({'type': 'log'} if scaled in TICKS else {'zero': False}))
    base = _texts(altair.Chart(altair.NamedData('rows'))).transform_filter('datum.bytes > 0')
    sized = altair.Scale(type='log', base=2, nice=False, padding=8)
    base = base.encode(x=altair.X('bytes:Q', axis=axis, scale=sized), y=altair.Y('value:Q', axis=values, scale=scale))
    # in their place: a bar moved sideways from a steep curve looks like a value of its own. Bars that lie on each other
    # here are beside each other in the chart of ratios, whose curves are flat
    bars = base.transform_filter('datum.repeats > 1').mark_errorbar(ticks=altair.MarkConfig(size=5),
                                                                    thickness=1.3).encode(
        y=altair.Y('low:Q', axis=values, scale=scale, title=title), y2='high:Q', color=lines['color'])
    curve = base.mark_line(interpolate='linear').encode(
        **lines, strokeWidth=altair.StrokeWidth('series:O', scale=_width(names, styles, 1.8, 1.1), legend=None))
    points = base.mark_point(filled=True, opacity=1).encode(
        color=lines['color'], **marks, tooltip=_tooltip(unit),
        size=altair.Size('series:O', scale=_width(names, styles, 16 if picture else 34, 7), legend=None))
    return altair.layer(*([bars] if spread else []), curve, points)


def _ratio(names, styles, *, scaled, spread, margin, more_is_better, picture=False):
    """Return the chart of ratios to native by message size: marks and bars of the series beside each other."""
    lines, marks = _colour(names, styles, picture)
    axis = altair.Axis(values=[4 ** n for n in range(21)], labelExpr=SIZE, title='message size')
    title = 'ratio to native (log)' + ('' if picture else f", {'more' if more_is_better else 'less'} is better")
    values = altair.Axis(labelExpr=NUMBER, title=title, values=TICKS[scaled])
    scale = altair.Scale(type='log', nice=False, padding=10)
    band = altair.Chart(altair.Data(values=[{'least': 1 / (1 + margin), 'most': 1 + margin}])).mark_rect().encode(
            y=altair.Y('least:Q', axis=values, scale=scale), y2='most:Q')
    one = altair.Chart(altair.Data(values=[{'one': 1}])).mark_rule(strokeWidth=1.4).encode(
        y=altair.Y('one:Q', axis=values, scale=scale))
    base = _texts(altair.Chart(altair.NamedData('rows'))).transform_filter(
        'datum.bytes > 0 && isValid(datum.ratio)').transform_calculate(
            at=_beside(names, styles))
    if not picture:
        base = base.transform_filter(SHOWN)
    base = base.encode(x=altair.X('at:Q', axis=axis, scale=altair.Scale(type='log', base=2, nice=False, padding=8)),
                       y=altair.Y('ratio:Q', axis=values, scale=scale))
    bars = base.transform_filter('isValid(datum.ratio_low)').mark_errorbar(
        ticks=altair.MarkConfig(size=4), thickness=1.3).encode(
            y=altair.Y('ratio_low:Q', axis=values, scale=scale, title=title), y2='ratio_high:Q', color=lines['color'])
    curve = base.mark_line(strokeWidth=1.1).encode(**lines)
    tooltip = [one for one in _tooltip('MB/s') if one.shorthand.partition(':')[0] not in OF_VALUES]
    points = base.mark_point(filled=True, opacity=1, size=26).encode(color=lines['color'], **marks, tooltip=tooltip)
    return altair.layer(band, one, *([bars] if spread else []), curve, points)


def _single(unit, names, styles, *, spread):
    """Return the chart of benchmarks with one number."""
    lines, marks = _colour(names, styles, False)
    base = _texts(altair.Chart(altair.NamedData('rows'))).encode(
        y=altair.Y('series:N', sort=names, title=None, axis=altair.Axis(labelLimit=0, grid=False)))
    scale, axis = altair.Scale(zero=True, nice=True), altair.Axis(tickCount=8, format='~g')
    bars = base.transform_filter('datum.repeats > 1').mark_rule(strokeWidth=7, opacity=0.28).encode(
        x=altair.X('low:Q', scale=scale, axis=axis, title=UNITS[unit]), x2='high:Q', color=lines['color'])
    stems = base.mark_rule(strokeWidth=1.4).encode(x=altair.X('value:Q', scale=scale, axis=axis, title=UNITS[unit]),
                                                   x2=altair.datum(0), color=lines['color'],
                                                   strokeDash=lines['strokeDash'])
    points = base.mark_point(filled=True, opacity=1, size=70).encode(
        x=altair.X('value:Q', scale=scale, axis=axis, title=UNITS[unit]), color=lines['color'], **marks,
        tooltip=_tooltip(unit, sized=False))
    return altair.layer(stems, *([bars] if spread else []), points)


def column(unit, names, styles, *, scaled, ratios, spread, margin, more_is_better):
    """
    Return the Vega-Lite specification (dict) of a picture for a column of a paper: values, and ratios to native below.

    :param unit, names, styles, spread, margin, more_is_better: as of specification()
    :param scaled, ratios: axes of the values and of the ratios, see scaled() and ratio_scaled(); ratios None: no native
    """
    names, styles = list(names), list(styles)
    with debug_mode(CHECKED):
        parts = [_curve(unit, names, styles, scaled=scaled, spread=spread, picture=True,
                        below=bool(ratios)).properties(width=1, height=COLUMN_HEIGHTS[0])]
        if ratios:
            below = _ratio(names, styles, scaled=ratios, spread=spread, margin=margin, more_is_better=more_is_better,
                           picture=True)
            parts.append(below.properties(width=1, height=COLUMN_HEIGHTS[1]))
        chart = altair.vconcat(*parts, spacing=8).resolve_scale(x='shared', color='shared', shape='shared',
                                                                strokeDash='shared')
        spec = chart.to_dict(validate=CHECKED)
    spec.pop('config', None)
    return spec


def column_theme(styles):
    """Return the configuration (dict) of column(): as theme(), with type of a caption's size."""
    found = theme(styles, background='white', overlap=True)
    found['axis'] = dict(found['axis'], labelFontSize=9, titleFontSize=10, titlePadding=5, labelColor='#1a1a1a')
    found['axisY'] = {'minExtent': 34}
    found['legend'] = dict(found['legend'], labelFontSize=10, symbolSize=50, padding=0, offset=4)
    return dict(found, padding=2)


def scaled(values):
    """
    Return the axis that suits values (iterable of float, above 0).

    'linear', or logarithmic with lines at 1, 2, 5, 10 ('steps') or at powers of ten ('decades')
    """
    values = list(values)
    factor = max(values) / min(values)
    return 'linear' if factor < LINEAR_WITHIN else 'steps' if factor < STEPS_WITHIN else 'decades'


def ratio_scaled(ratios):
    """Return the axis that suits ratios to native (iterable of float): 'fine', 'steps' or 'decades'; 1 is on it."""
    ratios = [1, *ratios]
    return 'fine' if max(ratios) / min(ratios) < FINE_WITHIN else 'steps' if scaled(ratios) != 'decades' else 'decades'


# ---- drawing ---------------------------------------------------------------------------------------------------------

def theme(styles, *, ink='#1a1a1a', soft='#5c6068', grid='#e6e7e9', background=None, font=FONT, overlap=False):
    """
    Return the configuration (dict) of Vega-Lite: type, axes, and the colours and marks of the series.

    :param styles: of the series, in their order (list of Style)
    :param overlap: bool, leave out labels that would overlap, which a chart of unknown width needs; to look for them
                    takes a third of the time of a picture, whose width is known
    """
    return {
        'background': background, 'font': font, 'aria': False, 'padding': 4,
        'view': {'stroke': None},
        'axis': {'gridColor': grid, 'domainColor': soft, 'tickColor': soft, 'labelColor': soft, 'titleColor': ink,
                 'labelFontSize': 11, 'titleFontSize': 12, 'titleFontWeight': 500, 'labelPadding': 4,
                 'titlePadding': 8, 'labelOverlap': overlap, 'labelSeparation': 4},
        'legend': {'labelColor': ink, 'labelFontSize': 12, 'symbolOpacity': 1},
        'title': {'color': ink, 'fontSize': 15, 'fontWeight': 500, 'anchor': 'start', 'offset': 10,
                  'subtitleColor': soft, 'subtitleFontSize': 11, 'subtitlePadding': 4},
        'range': {'category': [style.light for style in styles],
                  'symbol': [style.shape for style in styles]},
        'point': {'strokeWidth': 0}, 'rule': {'color': soft}, 'rect': {'color': grid},
    }


_COORDINATES = re.compile(r' (?:d|transform)="[^"]*"')
_DECIMALS = re.compile(r'(\.\d)\d+')
_UNUSED = re.compile(r' (?:role|class|aria-[a-z]+|pointer-events)="[^"]*"')
#: A mark of a legend has the dashes of its line as a rim, which makes a square look like a cross
_RIM = re.compile(r'( fill="(#\w+)") stroke="\2" stroke-width="[\d.]+" stroke-dasharray="[\d.,]+"')
_CLIP = re.compile(r'(?<=[#"])clip\d+(?=[)"])')


def _by_library(draw, *what, **how):
    """Return what a function of the drawing library gives (str or bytes). Raises ReportError where it fails."""
    try:
        return draw(*what, **how)
    except ValueError as err:  # it cannot open a file or start a thread; its own words are on stderr by then
        raise ReportError(f"a chart could not be drawn: {' '.join(str(err).split())}. Does a limit of the shell leave "
                          "vl-convert too few files, threads or memory? Look at them: ulimit -a") from err


def svg(spec):
    """
    Return a drawn specification (dict) as SVG text, the same for the same specification.

    Coordinates are rounded to a tenth of a pixel, what only a script would use is left out, and clip paths are numbered
    from 0: the drawing library goes on counting from picture to picture.
    """
    # the drawing library writes XML with characters that XML cannot have, and its own reader then ends the process
    text = _by_library(vl_convert.vegalite_to_svg, visible_in(spec), vl_version=VEGA_LITE)
    text = _RIM.sub(r'\1', _UNUSED.sub('', text))
    text = _COORDINATES.sub(lambda found: _DECIMALS.sub(r'\1', found.group()), text)
    names = {name: f'clip{number}' for number, name in enumerate(dict.fromkeys(_CLIP.findall(text)))}
    return _CLIP.sub(lambda found: names[found.group()], text)


def fitted(spec, width):
    """
    Return a specification (dict) of charts below each other whose picture is as wide as width (points of CSS).

    Only the drawing library knows how much room the labels take, so it is asked once.
    """
    found = json.loads(json.dumps(spec))
    plot = width
    for _ in range(2):
        for part in found['vconcat']:
            part['width'] = plot
        plot -= size_of(svg(found))[0] - width
    return found


def size_of(text):
    """Return (width, height) of an SVG (str) in points of CSS (two floats)."""
    return tuple(float(re.search(rf'<svg[^>]* {name}="([\d.]+)"', text).group(1)) for name in ('width', 'height'))


def sized(text, unit, per_point):
    """Return an SVG (str) whose size is given in unit (str, '' for none), per_point (float) of it a point of CSS."""
    width, height = (f'{size * per_point:.5g}{unit}' for size in size_of(text))
    return re.sub(r' width="[\d.]+" height="[\d.]+"', f' width="{width}" height="{height}"', text, count=1)


def pdf(text):
    """
    Return an SVG (str) as PDF (bytes) of the same size; vl-convert takes a number without unit for points of print.

    Its bytes are not always the same: vl-convert writes parts that have names in any order.
    """
    return _by_library(vl_convert.svg_to_pdf, sized(text, '', 72 / 96))


_BUNDLE = """import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=sys.argv[1]).encode())
"""


@contextlib.contextmanager
def javascript():
    """
    Give a function that returns the drawing library (str): Vega, Vega-Lite and Vega-Embed as `vegaEmbed` in the page.

    To put it together takes a second, so it is done beside other work, by a process of its own. Raises ReportError.
    """
    with subprocess.Popen([sys.executable, '-c', _BUNDLE, VEGA_LITE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        def wait():
            text, messages = process.communicate()
            if process.returncode:
                raise ReportError(f"vl-convert {vl_convert.__version__} gave no Vega-Lite {VEGA_LITE} for the page: "
                                  f"{messages.decode(errors='replace').strip()[-500:]}")
            return text.decode()
        try:
            yield wait
        finally:
            if process.poll() is None:
                process.kill()

"""The page: one HTML file with its figures, style, scripts and pictures in it. It asks nothing of the network."""
from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import jinja2
import markupsafe

from osu_container.core.terminal import visible, visible_in

from . import charts, content, first, tables

FOLDER = Path(__file__).resolve().parent
#: Summary tables that stand open, and cases of a section up to which all groups do
OPEN_SUMMARIES, OPEN_CASES = 12, 24
#: Height of the charts of a case in points, by their place; 0: as many lines as series
PLACES = {'main': 380, 'ratio': 280, 'first': 270, 'single': 0}
#: Marks of Vega in a box of 34 x 12, for the legends of the page
SHAPES = {
    'circle': 'M13.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z', 'square': 'M14 3h6v6h-6z',
    'triangle-up': 'M17 2l4 7h-8z', 'triangle-down': 'M17 10l4 -7h-8z', 'triangle-right': 'M21 6l-7 4v-8z',
    'diamond': 'M17 1.5l4 4.5l-4 4.5l-4 -4.5z',
    'cross': 'M13 4.8h2.8v-2.8h2.4v2.8h2.8v2.4h-2.8v2.8h-2.4v-2.8h-2.8z',
}
#: The verdict in one letter, in the data of the page
LETTERS = {'same': 's', 'better': 'b', 'worse': 'w', 'noisy': 'n', 'rounded': 'r'}


@dataclass
class Chart:
    """
    A chart of a card.

    key     its address and its name in the data
    place   key of PLACES
    title   shown above it, '' for none
    words   what it shows, for those who do not see it
    spec    specification (JSON text, see charts.specification)
    rows    its figures, see charts.CURVE
    curves  list of content.Curve in the order of the specification
    hidden  names of curves that are not shown at first
    """

    key: str
    place: str
    title: str
    words: str
    spec: str
    rows: list
    curves: list
    hidden: list = field(default_factory=list)

    @property
    def height(self):
        """Return its height in points (int); a chart without sizes has a line for each series."""
        return PLACES[self.place] or 70 + 26 * len(self.curves)


@dataclass
class Card:
    """
    What is shown of a case: legend, charts, what compare says of each curve (list of (name, text)), tables.

    link  address of the whole, of what is a part (str)
    """

    key: str
    title: str
    meaning: str
    curves: list
    charts: list
    tables: list
    hidden: list
    size_count: int = 0
    words: list = field(default_factory=list)
    link: str = ''


@dataclass
class Named:
    """A curve as the legend shows it."""

    name: str
    style: charts.Style
    title: str = ''
    verdict: str = ''


def _legend(curves):
    found = []
    for curve in curves:
        facts = curve.dataset.facts
        title = ''
        if curve.dataset.kind != 'run':
            title = f"{facts.get('source', 'source not known')}, {facts.get('date', 'date not known')}"
        if curve.series.programs:
            title += ('; ' if title else '') + curve.series.ran
        found.append(Named(curve.name, curve.style, title, curve.comparison.verdict if curve.comparison else ''))
    return found


def charts_of(view):
    """Return the charts of a View: values at all sizes, and their ratios to native."""
    curves = view.curves
    names, styles = tuple(curve.name for curve in curves), tuple(curve.style for curve in curves)
    hidden = [curve.name for curve in view.behind[content.SHOWN_BEHIND:]]
    rows = [row for curve in curves for row in curve.rows(zero=not view.sized)]
    unit = view.case.unit
    spread = any(row[5] > 1 for row in rows)
    words = f"{view.case.title}, in {charts.UNITS[unit]}: {', '.join(names)}. The values are in the table below."

    def spec(kind, **more):
        return charts.specification(kind, unit, names, styles, spread=spread, **more)

    if not view.sized:
        return [Chart(view.key + '-chart', 'single', '', words, spec('single'), rows, curves, hidden)]
    if not rows:
        return []
    shown = [row for row in rows if row[0] not in hidden]
    main = charts.scaled(row[2] for row in shown)
    found = [Chart(view.key + '-chart', 'main', '', words, spec('curve', scaled='steps' if main == 'linear' else main),
                   rows, curves, hidden)]
    found += ratio_charts(view)
    return found


def ratio_charts(view, *, key='', place='ratio'):
    """
    Return the chart of the ratios to native of a View at every size (list of one Chart); [] where nothing has any.

    :param key, place: of the Chart, in place of those of the card of the case
    """
    compared = [curve for curve in view.shown if curve.comparison]
    rows = [row for curve in compared for row in curve.rows(zero=False) if row[6] is not None]
    if not view.sized or not rows:
        return []
    curves = view.curves  # all charts of a case have one order of colours
    names, styles = tuple(curve.name for curve in curves), tuple(curve.style for curve in curves)
    margin = max(curve.comparison.margin for curve in compared)
    spread = any(row[7] is not None for row in rows)
    spec = charts.specification(
        'ratio', view.case.unit, names, styles, scaled=charts.ratio_scaled(row[6] for row in rows), spread=spread,
        margin=margin, more_is_better=view.case.more_is_better)
    bars = '; bars: least to most of the repeats' if spread else ''
    return [Chart(key or f'{view.key}-ratio', place,
                  f'Ratio to native; grey: equal within {100 * margin:g}\u00a0%{bars}',
                  f"{view.case.title}, ratio to native: {', '.join(one.name for one in compared)}. The values are in "
                  "the table of the case.", spec, rows, curves)]


def _card(view):
    curves = charts_of(view)
    return Card(view.key, view.case.title, view.meaning, _legend(view.curves), curves, tables.values(view),
                curves[0].hidden if curves else [], len(view.sizes),
                [(curve.name, curve.comparison.words) for curve in view.shown if curve.comparison])


def _first(section, key='first'):
    """
    Return what stands on the first screen (dict): sentences, the Cards of its picture, their curves.

    The picture are ratios to native, or the values where there is no native.
    """
    cards = []
    for number, view in enumerate(first.lead_views(section)):
        name = f'{key}-{number}'
        made = ratio_charts(view, key=name, place='first')
        if not made:
            # benchmarks with one number have a chart as high as it has series
            made = [replace(one, key=name, place='first' if view.sized else one.place, title=view.meaning)
                    for one in charts_of(view)[:1]]
        cards.append(Card(name, view.case.title, '', _legend(view.shown), made, [], made[0].hidden if made else [],
                          link=view.key))
    cards = [card for card in cards if card.charts]
    known = {curve.name: curve for card in cards for curve in card.curves}
    return {'compared': first.compared(section), 'conclusion': first.conclusion(section), 'cards': cards,
            'curves': list(known.values())}


def _colours(styles):
    """Return ({Style: name of its variable}, style sheet): colours on light and on dark paper."""
    pairs = {}
    for style in styles:
        pairs.setdefault((style.light, style.dark), f'k{len(pairs)}')
    light = ' '.join(f'--{name}: {pair[0]};' for pair, name in pairs.items())
    dark = ' '.join(f'--{name}: {pair[1]};' for pair, name in pairs.items())
    sheet = f':root {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}'
    return {style: pairs[style.light, style.dark] for style in styles}, sheet


def _compact(chart, number):
    """Return the rows of a chart for the data of the page; number: {name of a curve: its number}."""
    found = []
    for name, size, value, low, high, repeats, ratio, ratio_low, ratio_high, verdict in chart.rows:
        row = [number[name], size, value, ratio, LETTERS.get(verdict)]
        found.append(row + [low, high, repeats, ratio_low, ratio_high] if repeats > 1 else row)
    return found


def _data(cards, colour_names):
    """Return the data of the page (dict): specifications, each once, figures by card, charts by key."""
    specs, found, figures = {}, {}, {}
    for card in cards:
        for chart in card.charts:
            names = [curve.name for curve in chart.curves]
            spec = specs.setdefault(chart.spec, f's{len(specs)}')
            if card.key not in figures:
                curves = [[curve.name, curve.dataset.name] for curve in chart.curves]
                figures[card.key] = {
                    'curves': curves, 'hidden': card.hidden,
                    'rows': _compact(chart, {name: index for index, name in enumerate(names)}),
                    'colours': [colour_names[curve.style] for curve in chart.curves],
                    'shapes': [curve.style.shape for curve in chart.curves]}
            found[chart.key] = {'spec': spec, 'card': card.key, 'height': chart.height}
    theme = charts.theme([], ink='var(--ink)', soft='var(--soft)', grid='var(--grid)', font=charts.PAGE_FONT,
                         overlap=True)
    return {'columns': charts.CURVE, 'theme': theme,
            'verdicts': {letter: tables.VERDICTS[name] for name, letter in LETTERS.items()},
            'specs': {name: json.loads(spec) for spec, name in specs.items()}, 'cards': figures, 'charts': found}


def _digest(script):
    return 'sha256-' + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _policy(*scripts):
    """Return the content security policy: nothing is loaded, no script runs but these (str)."""
    allowed = ' '.join(f"'{_digest(script)}'" for script in scripts)
    return (f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
            "base-uri 'none'; form-action 'none'")


def _section(section):
    """Return what the template shows of a Section (dict), and its cards."""
    groups, cards = [], []
    everything_open = len(section.views) <= OPEN_CASES
    for title, views in section.groups:
        own = [_card(view) for view in views]
        cards += own
        groups.append({'title': title, 'cards': own, 'open': everything_open or not groups})
    return {
        'title': section.title, 'key': section.key, 'groups': groups,
        'leads': [(one.title, lead(one, section.details.get(one.name))) for one in section.datasets],
        'warnings': warnings(section), 'summaries': tables.summaries(section),
        'verdicts': tables.verdicts(section), 'failures': tables.failures(section),
        'compared': any(curve.comparison for view in section.views for curve in view.shown),
        'behind': '; '.join(f"{one.name}: {one.title}, {one.facts.get('date', 'date not known')}"
                            for one in section.behind),
        'spread': any(entry[3] > 1 for view in section.views for curve in view.shown
                      for entry in curve.stats.values()),
        'troubles': [_called(one) for one in section.troubles()],
        'runs': [_run(one, section.details[one.name]) for one in section.datasets if one.name in section.details],
    }, cards


def _called(called):
    """Return a trouble as the template shows it (dict): its places by series."""
    by_series = {}
    for view, curve, sizes in called.where:
        case = view.case
        where = ', '.join(part for part in (case.placement, case.variant, content.sizes_text(sizes)) if part)
        places = by_series.setdefault(called.name(curve), {}).setdefault((case.benchmark, where), [])
        places.append((case.buffers or case.benchmark, view.key))
    trouble = called.trouble
    return {'title': trouble.title[0].upper() + trouble.title[1:], 'text': _coded(trouble.text),
            'remedy': _coded(trouble.remedy) if called.advice else None, 'source': trouble.source,
            'where': [(name, [(*key, links) for key, links in places.items()]) for name, places in by_series.items()]}


def _coded(text):
    """Return text as [(part, whether it is text of a computer)]: what stands between `...`."""
    return [(part, bool(number % 2)) for number, part in enumerate(text.split('`')) if part]


def _run(dataset, found):
    """Return what the template shows of a run (dict); found: content.Details."""
    facts = dataset.facts
    project = facts.get('project') or {}
    commit = f"commit {project['commit']}" if project.get('commit') else 'a commit that was not recorded'
    changed = ', with files changed since' if project.get('changed') else ''
    proof = tables.proof(dataset, found)
    broken = [f'{row[0].plain}: {row[1].plain}: {row[2].plain}. {row[3].plain[len("BROKEN: "):]}.'
              for row in (proof.rows if proof else []) if row[3].text.startswith('BROKEN')]
    approaches = {entry['approach']: name for name, entry in dataset.modules.items()}
    typed = [(approaches.get(approach, approach), [f'module load {approaches.get(approach, approach)}', *lines])
             for approach, lines in found.typed.items()]
    return {'title': dataset.title, 'proof': proof, 'broken': broken, 'typed': typed,
            'repeat': f"{dataset.title[0].upper()}{dataset.title[1:]}, with {commit} of osu-container{changed}:",
            'command': first.command_text(facts.get('command')) or 'not recorded', 'modules': tables.modules(dataset),
            'environment': tables.environment(dataset, found), 'variables': tables.variables(dataset)}


def lead(dataset, details=None):
    """Return what was run where and when: list of (what, text). details: content.Details of a run."""
    facts = dataset.facts
    if dataset.kind != 'run':
        native = content.native_name(dataset)
        told = [('native', native)] if native in dataset.names and native != content.NATIVE else []
        return told + [(name, tables.fact(facts.get(key))) for name, key in
                (('what', 'title'), ('measured', 'date'), ('nodes', 'node_type'), ('stack', 'stack'),
                 ('source', 'source'), ('evidence', 'evidence')) if facts.get(key)]
    counts = details.counts if details else {}
    found = [('site', facts['site']),
             ('time', f"not known; imported {facts['started']}" if facts.get('imported') else
              f"{facts['started']} to {facts['ended']}" if facts.get('ended') else
              f"from {facts['started']}; the run has not ended"),
             ('nodes', tables.nodes_text(details.nodes) if details and details.nodes else 'not known'),
             ('what', ', '.join(filter(None, [
                 f"tag {facts['tag']}" if facts.get('tag') else '',
                 f"{facts['repeats']} repeat{'s' if facts['repeats'] != 1 else ''}" if facts.get('repeats') else '',
                 f'{len(dataset.cases)} cases', f"series {', '.join(dataset.names) or 'none'}"]))),
             ('measurements', ', '.join(f'{counts.get(status, 0)} {word}' for status, word in
                                        (('ok', 'with numbers'), ('failed', 'failed'), ('skipped', 'skipped'))))]
    machine = facts.get('machine') or {}
    if machine.get('cpu'):
        found.append(('machine', ', '.join(filter(None, [machine['cpu'], machine.get('system')]))))
    return found


def warnings(section):
    """Return what a reader must know before the figures (list of str)."""
    found = []
    for one in section.without_native:
        if one.kind == 'run':
            found.append(f"{one.title} has no native series, so there are no ratios and no verdicts. To have them, "
                         "measure native in the same run.")
        else:
            found.append(f"{one.name} has no native series, so there are no ratios and no verdicts.")
    programs = sorted({series.programs for one in section.datasets for series in one.series
                       if series.programs and 'OSU C' not in series.programs})
    if programs:
        found.append(f"Programs: {', '.join(programs)}, not the OSU C programs; compare them with each other only.")
    return found


def notes(report):
    """Return the notes of a report (list of str): programs, single values, foreign lines, what is not known."""
    found = []
    for section in report.sections:
        for one in section.datasets:
            programs = sorted({series.ran for series in one.series if series.programs})
            found.append(f"{one.name}: programs: {', '.join(programs) or 'not known'}.")
            if one.series and max(series.repeats for series in one.series) == 1:
                found.append(f"{one.name}: one value for each message size; how much values scatter is not known, and "
                             "verdicts follow from the margin of each benchmark alone.")
            found += [f'{one.name}: {problem}' for problem in one.problems]
            if one.kind != 'run':
                found += [f'{one.name}: {text}' for text in one.facts.get('notes') or []]
                found.append(f"{one.name}: which libraries the ranks had loaded was not recorded by its authors in a "
                             "form that could be checked here.")
                continue
            details = section.details.get(one.name)
            if details:
                found += _foreign(one, details)
                silent = [name for name, entry in one.modules.items()
                          if not (entry.get('network') or {}).get('provider')]
                if silent:
                    found.append(f"{one.name}: the libfabric provider is not known for {', '.join(silent)}: its MPI "
                                 "does not say.")
                found += [f'{one.name}: {count} measurements of {name} left no proof of what was loaded.'
                          for name, count in details.unproved.items()]
    return list(dict.fromkeys(found))


def _foreign(dataset, details):
    """Return what is to be said about lines that were not the programs' (list of str)."""
    lines = [text for entry in details.foreign for text in entry[3]]
    return [f"{dataset.name}: {len(lines)} lines of the outputs were not the program's; the first: {lines[0]!r}."
            ] if lines else []


def html(report):
    """Return the page (str) of a content.Report. Raises ReportError if the drawing library cannot be had."""
    with charts.javascript() as library:
        sections = []
        seen = _first(report.sections[0])
        cards = list(seen['cards'])
        for section in report.sections:
            shown, own = _section(section)
            sections.append(shown)
            cards += own
        return _fill(report, sections, seen, cards, library())


def _fill(report, sections, seen, cards, library):
    """Return the page (str): the template with all that was made for it. seen: of the first screen, see _first()."""
    colour_names, colours = _colours(list(dict.fromkeys(curve.style for view in report.views for curve in view.curves)))
    script = (FOLDER / 'page.js').read_text(encoding='utf-8')
    for one in (library, script):
        if '</script' in one or '<!--' in one:
            raise AssertionError("a script that would end the element it stands in")
    data = json.dumps(visible_in(_data(cards, colour_names)), ensure_ascii=False, separators=(',', ':'), sort_keys=True)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
                                     finalize=_shown)
    sources = tables.sources(report)
    return environment.get_template('template.html.j2').render(
        report=report, sections=sections, first=seen, lead=_introduction(report), contents=_contents(sections, sources),
        notes=notes(report), sources=sources, policy=_policy(library, script),
        style=(FOLDER / 'style.css').read_text(encoding='utf-8'), colours=colours,
        colour_names=colour_names, shapes=SHAPES, verdicts=tables.VERDICTS,
        meanings=' '.join(f'{tables.VERDICTS[key]}: {text}.' for key, text in tables.MEANING.items()),
        summaries_open=OPEN_SUMMARIES,
        licence=(FOLDER / 'vega-licence.txt').read_text(encoding='utf-8'),
        data=data.replace('<', '\\u003c').replace('\u2028', '\\u2028').replace('\u2029', '\\u2029'),
        library=library, script=script)


def _shown(value):
    """Return what stands on the page for a value of the template: text of others with all that is in it to be seen."""
    return visible(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


def _introduction(report):
    """Return the lines (list of str) below the title."""
    if report.published:
        return ["Figures that others measured and published, in one form and compared by one method. This project "
                "measured none of them. Each section names its source."]
    return []


def _contents(sections, sources):
    """Return [(title, address)] of what the page has."""
    if len(sections) > 1:
        found = [(section['title'], section['key']) for section in sections]
    else:
        section = sections[0]
        found = [(title, f"{section['key']}-{part}") for part, title, there in (
            ('summary', 'Summary', section['summaries']),
            ('troubles', 'Known troubles', section['troubles']),
            ('curves', 'Curves', section['groups']),
            ('failures', 'What failed', section['failures']), ('proof', 'Proof', section['runs']),
            ('repeat', 'How to repeat', section['runs']), ('environment', 'Environment', section['runs'])) if there]
    return found + [('Notes', 'notes')] + ([('Sources', 'published-sources')] if sources else [])

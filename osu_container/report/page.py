"""The page: one HTML file with its figures, style and pictures in it. It has no script and needs no network."""
from __future__ import annotations

import shlex
from pathlib import Path

import jinja2
import markupsafe

from osu_container.core.terminal import visible

from ..compare import comparison_text, troubles
from . import charts, content, first, tables

FOLDER = Path(__file__).resolve().parent


def html(report):
    """Return the page (str) of a content.Report."""
    said = {section.key: first.lines(section) for section in report.sections}
    named = charts.classes([line.style for lines in said.values() for line in lines]
                           + [curve.style for view in report.views for curve in view.curves])
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_shown)
    return environment.get_template('template.html.j2').render(
        report=report, sections=[_section(section, said[section.key], named) for section in report.sections],
        notes=notes(report), sources=tables.sources(report), signs=tables.SIGNS, meaning=tables.MEANING,
        safe=markupsafe.Markup, swatch=charts.swatch, classes=named,
        style=markupsafe.Markup((FOLDER / 'style.css').read_text(encoding='utf-8') + _colours(named)),
        marks=markupsafe.Markup(charts.marks(named, lambda _, name: f'var(--{name})')))


def _shown(value):
    """Return what stands on the page for a value of the template: text of others with all that is in it to be seen."""
    return visible(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


def _colours(named):
    """Return the style sheet (str) of the curves, whose colours are variables: on light and on dark paper."""
    light, dark = (';'.join(f'--{name}:{getattr(style, which)}' for style, name in named.items())
                   for which in ('light', 'dark'))
    return (f':root{{{light}}}\n@media screen and (prefers-color-scheme: dark) {{ :root{{{dark}}} }}\n'
            + charts.rules(named, lambda _, name: f'var(--{name})'))


def _section(section, said, named):
    """Return what the template shows of a Section (dict); said: its first.Lines; named: of charts.classes()."""
    drawn = first.picture(section, said, named)
    kept = [number for number in range(len(first.HEADS)) if any(line.cells and line.cells[number] for line in said)]
    groups = {}
    for view in section.views:
        groups.setdefault(content.group_of(view.case.benchmark), []).append(_card(view, named))
    return {
        'title': section.title, 'key': section.key, 'measured': first.measured(section), 'said': said,
        'parts': [first.HEADS[number] for number in kept], 'picture': drawn, 'warnings': warnings(section),
        'matrix': [(line.name, [line.cells[number] for number in kept]) for line in said if line.cells],
        'troubles': _troubles(section), 'groups': list(groups.items()),
        'verdicts': tables.verdicts(section), 'failures': tables.failures(section),
        'runs': [_run(one, section.details[one.name]) for one in section.datasets if one.name in section.details]}


def _card(view, named):
    """Return what the template shows of a View (dict)."""
    compared = [curve for curve in view.curves if curve.comparison]
    pictures, unit = [], charts.UNITS[view.case.unit]
    drawn = [(named[curve.style], curve.drawn()) for curve in reversed(view.curves) if curve.drawn()]
    if view.sized and drawn:
        pictures.append((f'{view.case.title}: {unit} by message size', charts.panel(drawn, f'{unit} (log)')))
        ratios = [(named[curve.style], curve.ratios()) for curve in reversed(compared) if curve.ratios()]
        if ratios:
            better = 'more' if view.case.more_is_better else 'less'
            pictures.append((f'{view.case.title}: ratio to native', charts.panel(
                ratios, f'ratio to native (log), {better} is better',
                margin=max(curve.comparison.margin for curve in compared))))
    return {'key': view.key, 'title': view.case.title, 'meaning': view.meaning, 'pictures': pictures,
            'curves': [(curve, _title(curve), curve.comparison.words if curve.comparison else '')
                       for curve in view.curves], 'tables': tables.values(view)}


def _title(curve):
    """Return what ran in a Curve and, of a publication, who says so (str)."""
    facts = curve.dataset.facts
    source = f"{facts.get('source', 'source not known')}, {facts.get('date', 'date not known')}"
    return '; '.join(filter(None, ['' if curve.dataset.kind == 'run' else source,
                                   curve.series.ran if curve.series.programs else '']))


def _troubles(section):
    """Return what the curves of a Section look like (list of dict), as `osu-container compare` finds it."""
    found = [(one, series, looks) for one in section.datasets for series, looks in troubles.of_dataset(one)]
    return [dict(entry, text=_coded(entry['trouble'].text), remedy=_coded(entry['trouble'].remedy))
            for entry in comparison_text.troubles_of(found, section.datasets)]


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
    broken = [f'{row[0].text}: {row[1].text}: {row[2].text}. {row[3].text[len("BROKEN: "):]}.'
              for row in (proof.rows if proof else []) if row[3].text.startswith('BROKEN')]
    approaches = {entry['approach']: name for name, entry in dataset.modules.items()}
    typed = [(approaches.get(approach, approach), [f'module load {approaches.get(approach, approach)}', *lines])
             for approach, lines in found.typed.items()]
    command = facts.get('command') or 'not recorded'
    return {'title': dataset.title, 'proof': proof, 'broken': broken, 'typed': typed,
            'repeat': f"{dataset.title[0].upper()}{dataset.title[1:]}, with {commit} of osu-container{changed}:",
            'command': command if isinstance(command, str) else shlex.join(['osu-container', *map(str, command)]),
            'tables': [one for one in (tables.modules(dataset), tables.environment(dataset, found),
                                       tables.variables(dataset)) if one]}


def warnings(section):
    """Return what a reader must know before the figures (list of str)."""
    found = []
    for one in section.datasets:
        if content.native_name(one) in one.names:
            continue
        more = ' To have them, measure native in the same run.' if one.kind == 'run' else ''
        found.append(f"{one.title if one.kind == 'run' else one.name} has no native series, so there are no ratios and "
                     f"no verdicts.{more}")
    programs = sorted({series.programs for one in section.datasets for series in one.series
                       if series.programs and 'OSU C' not in series.programs})
    if programs:
        found.append(f"Programs: {', '.join(programs)}, not the OSU C programs; compare them with each other only.")
    for one in section.datasets:
        found += [f'{one.name}: {problem}' for problem in one.problems]
        lines = section.details[one.name].broken if one.name in section.details else []
        if lines:
            found.append(f"{one.name}: {len(lines)} lines of the outputs were not the program's, and their figures are "
                         f"lost; the first: {lines[0]!r}.")
    return found


def notes(report):
    """Return the notes of a report (list of str): programs, single values, what is not known."""
    found = []
    for section in report.sections:
        for one in section.datasets:
            programs = sorted({series.ran for series in one.series if series.programs})
            found.append(f"{one.name}: programs: {', '.join(programs) or 'not known'}.")
            if one.series and max(series.repeats for series in one.series) == 1:
                found.append(f"{one.name}: one value for each message size; how much values scatter is not known, and "
                             "verdicts follow from the margin of each benchmark alone.")
            if one.kind != 'run':
                found += [f'{one.name}: {text}' for text in one.facts.get('notes') or []]
                continue
            details = section.details.get(one.name)
            if details:
                found += _of_lines(one, details)
    return list(dict.fromkeys(found))


def _of_lines(dataset, details):
    """Return what is to be said of the lines of a run (list of str); details: content.Details."""
    found = []
    silent = [name for name, entry in dataset.modules.items() if not (entry.get('network') or {}).get('provider')]
    if silent:
        found.append(f"{dataset.name}: the libfabric provider is not known for {', '.join(silent)}: its MPI does not "
                     "say.")
    return found + [f'{dataset.name}: {count} measurements of {name} left no proof of what was loaded.'
                    for name, count in details.unproved.items()]

"""The page: one HTML file with its figures, style and plots in it. It has no script and needs no network."""
from __future__ import annotations

import shlex
from pathlib import Path

import jinja2
import markupsafe

from osu_container.base.terminal import visible
from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.report import charts, content, tables

FOLDER = Path(__file__).resolve().parent


def html(report):
    """Return the page (str) of a content.Report."""
    named = charts.classes(curve.style for section in report.sections for view in section.views
                           for curve in view.curves)
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_shown)
    return environment.get_template('template.html.j2').render(
        report=report, sections=[_section(section, named) for section in report.sections],
        sources=tables.sources(report), safe=markupsafe.Markup, swatch=charts.swatch, classes=named,
        size=(charts.WIDTH, charts.HEIGHT), marks=markupsafe.Markup(charts.marks(named)),
        style=markupsafe.Markup((FOLDER / 'style.css').read_text(encoding='utf-8') + charts.rules(named)))


def _shown(value):
    """Return what stands on the page for a value of the template: text of others with all that is in it to be seen."""
    return visible(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


def _section(section, named):
    """Return what the template shows of a Section (dict); named: of charts.classes()."""
    return {
        'title': section.title, 'measured': [_measured(one) for one in section.datasets], 'notes': notes(section),
        'verdicts': tables.verdicts(section), 'failures': tables.failures(section),
        'troubles': [(trouble, comparison_text.curves_text(curves))
                     for trouble, curves in troubles.recognised(section.datasets)],
        'cards': [{'key': view.key, 'title': view.case.title, 'plots': charts.panels(view, named),
                   'curves': [(curve, curve.comparison.words if curve.comparison else '') for curve in view.curves],
                   'table': tables.values(view)} for view in section.views],
        'runs': [_run(one, section.details[one.name]) for one in section.datasets if one.name in section.details]}


def _measured(dataset):
    """Return what was measured, where and when (str), as far as the Dataset says it."""
    keys = ('site', 'started') if dataset.kind == 'run' else ('source', 'date', 'node_type', 'stack')
    facts = [] if dataset.facts.get('imported') else [dataset.facts.get(key) for key in keys]
    repeats = max((one.repeats for one in dataset.series), default=0)
    return '; '.join(filter(None, [dataset.name, *facts, *sorted({one.ran for one in dataset.series}),
                                   f'{repeats} repeats' if repeats > 1 else 'one value each, so the spread is not '
                                   'known' if repeats else '']))


def _run(dataset, found):
    """Return what the template shows of a run (dict); found: content.Details."""
    command = dataset.facts.get('command') or 'not recorded'
    names = {entry['approach']: name for name, entry in dataset.modules.items()}
    lines = [command if isinstance(command, str) else shlex.join(['osu-container', *map(str, command)])]
    for approach, typed in found.typed.items():
        lines += ['', f'module load {names.get(approach, approach)}', *typed]
    return {'title': dataset.title, 'proof': tables.proof(dataset, found), 'commands': '\n'.join(lines),
            'environment': tables.environment(dataset)}


def notes(section):
    """Return what a reader must know before the figures of a Section (list of str)."""
    found = []
    for one in section.datasets:
        if content.native_name(one) not in one.names:
            found.append(f"{one.name} has no native series, so there are no ratios and no verdicts.")
        programs = sorted({series.programs for series in one.series
                           if series.programs and 'OSU C' not in series.programs})
        if programs:
            found.append(f"{one.name} ran {', '.join(programs)}, not the OSU C programs; compare them with each other "
                         "only.")
        found += [f'{one.name}: {problem}' for problem in one.problems]
        lines = section.details[one.name].broken if one.name in section.details else []
        if lines:
            found.append(f"{one.name}: {len(lines)} lines of the outputs were not the program's, and their figures are "
                         f"lost; the first: {lines[0]!r}.")
    return found

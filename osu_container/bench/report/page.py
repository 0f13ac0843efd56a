"""
The page: one HTML file with its figures, style and plots in it. It has no script and needs no
network.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import jinja2
import markupsafe

from osu_container.base.terminal import escape_text
from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.report import charts, content, tables

FOLDER = Path(__file__).resolve().parent


def render_page(report):
    """Return the page (str) of a content.Report."""
    named = charts.assign_classes(
        curve.style
        for section in report.sections
        for view in section.views
        for curve in view.curves
    )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=_make_visible,
    )
    return environment.get_template('template.html.j2').render(
        report=report,
        sections=[_build_section_context(section, named) for section in report.sections],
        sources=tables.build_sources_table(report),
        safe=markupsafe.Markup,
        swatch=charts.render_swatch,
        classes=named,
        size=(charts.WIDTH, charts.HEIGHT),
        marks=markupsafe.Markup(charts.render_marks(named)),
        style=markupsafe.Markup(
            (FOLDER / 'style.css').read_text(encoding='utf-8') + charts.render_style_rules(named)
        ),
    )


def _make_visible(value):
    """
    Return what stands on the page for a value of the template: text of others with all that is
    in it to be seen.
    """
    return (
        escape_text(value)
        if isinstance(value, str) and not isinstance(value, markupsafe.Markup)
        else value
    )


def _build_section_context(section, named):
    """Return what the template shows of a Section (dict); named: of charts.classes()."""
    return {
        'title': section.title,
        'measured': [_format_provenance(one) for one in section.datasets],
        'notes': list_notes(section),
        'verdicts': tables.build_verdicts_table(section),
        'failures': tables.build_failures_table(section),
        'troubles': [
            (trouble, comparison_text.format_curves(curves))
            for trouble, curves in troubles.find_troubles(section.datasets)
        ],
        'cards': [
            {
                'key': view.key,
                'title': view.case.title,
                'plots': charts.render_panels(view, named),
                'curves': [
                    (curve, curve.comparison.sentence if curve.comparison else '')
                    for curve in view.curves
                ],
                'table': tables.build_values_table(view),
            }
            for view in section.views
        ],
        'runs': [
            _build_run_context(one, section.details[one.name])
            for one in section.datasets
            if one.name in section.details
        ],
    }


def _format_provenance(dataset):
    """Return what was measured, where and when (str), as far as the Dataset says it."""
    keys = (
        ('site', 'started') if dataset.kind == 'run' else ('source', 'date', 'node_type', 'stack')
    )
    facts = [] if dataset.facts.get('imported') else [dataset.facts.get(key) for key in keys]
    repeats = max((one.repeats for one in dataset.series), default=0)
    return '; '.join(
        filter(
            None,
            [
                dataset.name,
                *facts,
                *sorted({one.program_release for one in dataset.series}),
                f'{repeats} repeats'
                if repeats > 1
                else 'one value each, so the spread is not known'
                if repeats
                else '',
            ],
        )
    )


def _build_run_context(dataset, found):
    """Return what the template shows of a run (dict); found: content.Details."""
    command = dataset.facts.get('command') or 'not recorded'
    names = {entry['approach']: name for name, entry in dataset.modules.items()}
    lines = [
        command if isinstance(command, str) else shlex.join(['osu-container', *map(str, command)])
    ]
    for approach, typed in found.commands.items():
        lines += ['', f'module load {names.get(approach, approach)}', *typed]
    return {
        'title': dataset.title,
        'proof': tables.build_proof_table(dataset, found),
        'commands': '\n'.join(lines),
        'environment': tables.build_environment_table(dataset),
    }


def list_notes(section):
    """Return what a reader must know before the figures of a Section (list of str)."""
    found = []
    for one in section.datasets:
        if content.find_native_name(one) not in one.names:
            found.append(
                f"{one.name} has no native series, so there are no ratios and no verdicts."
            )
        programs = sorted(
            {
                series.programs
                for series in one.series
                if series.programs and 'OSU C' not in series.programs
            }
        )
        if programs:
            found.append(
                f"{one.name} ran {', '.join(programs)}, not the OSU C programs; compare them with each other "
                "only."
            )
        found += [f'{one.name}: {problem}' for problem in one.problems]
        lines = section.details[one.name].broken_lines if one.name in section.details else []
        if lines:
            found.append(
                f"{one.name}: {len(lines)} lines of the outputs were not the program's, and their figures are "
                f"lost; the first: {lines[0]!r}."
            )
    return found

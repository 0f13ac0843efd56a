"""
Render a report as one HTML file that contains all tables, plots and the style sheet.

The page has no script and loads nothing from the network.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from osu_container.base.terminal import escape_text
from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.report import charts, content, tables
from osu_container.bench.results.model import Dataset

FOLDER = Path(__file__).resolve().parent


def render_page(report: content.Report) -> str:
    """Return the HTML text of the page that shows a report."""
    classes = charts.assign_classes(
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
        sections=[_build_section_context(section, classes) for section in report.sections],
        sources=tables.build_sources_table(report),
        safe=markupsafe.Markup,
        swatch=charts.render_swatch,
        classes=classes,
        size=(charts.WIDTH, charts.HEIGHT),
        marks=markupsafe.Markup(charts.render_marks(classes)),
        style=markupsafe.Markup(
            (FOLDER / 'style.css').read_text(encoding='utf-8') + charts.render_style_rules(classes)
        ),
    )


def _make_visible(value: Any) -> Any:
    """Return `value`; if `value` is a text, replace control characters with escape sequences."""
    return (
        escape_text(value)
        if isinstance(value, str) and not isinstance(value, markupsafe.Markup)
        else value
    )


def _build_section_context(
    section: content.Section, classes: dict[charts.Style, str]
) -> dict[str, Any]:
    return {
        'title': section.title,
        'noisy': section.is_noisy,
        'measured': [_format_provenance(dataset) for dataset in section.datasets],
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
                'plots': charts.render_panels(view, classes),
                'curves': [
                    (curve, curve.comparison.sentence if curve.comparison else '')
                    for curve in view.curves
                ],
                'table': tables.build_values_table(view),
            }
            for view in section.views
        ],
        'runs': [
            _build_run_context(dataset)
            for dataset in section.datasets
            if dataset.kind == 'run' and dataset.path
        ],
    }


def _format_provenance(dataset: Dataset) -> str:
    """
    Return a text that says where the results of a dataset come from.

    The text contains the name, the site or the source, the date, the programs and the number of
    repeats.
    """
    keys = (
        ('site', 'started') if dataset.kind == 'run' else ('source', 'date', 'node_type', 'stack')
    )
    facts = [] if dataset.facts.get('imported') else [dataset.facts.get(key) for key in keys]
    repeats = max((series.repeats for series in dataset.series), default=0)
    return '; '.join(
        filter(
            None,
            [
                dataset.name,
                *facts,
                *sorted({series.program_release for series in dataset.series}),
                f'{repeats} repeats'
                if repeats > 1
                else 'each message size was measured only once, so the noise is unknown'
                if repeats
                else '',
            ],
        )
    )


def _build_run_context(dataset: Dataset) -> dict[str, Any]:
    """Return the template variables for a run: loaded libraries, commands and environment."""
    command = dataset.facts.get('command') or 'not recorded'
    names = {entry['approach']: name for name, entry in dataset.modules.items()}
    lines = [
        command if isinstance(command, str) else shlex.join(['osu-container', *map(str, command)])
    ]
    commands: dict[str, list[str]] = {}
    for entry in dataset.series:
        commands.setdefault(entry.name, []).append(entry.facts['typed'])
    for approach, typed in commands.items():
        lines += ['', f'module load {names.get(approach, approach)}', *filter(None, typed)]
    return {
        'title': dataset.title,
        'proof': tables.build_proof_table(dataset),
        'commands': '\n'.join(lines),
        'environment': tables.build_environment_table(dataset),
    }


def list_notes(section: content.Section) -> list[str]:
    """Return warnings that users should read before the results of a section, as sentences."""
    notes = []
    for dataset in section.datasets:
        if dataset.native_name not in dataset.names:
            notes.append(
                f"{dataset.name} has no native results, so the page shows no ratios and no "
                "verdicts for this dataset. To compare two approaches: osu-container compare "
                "RUN:APPROACH RUN:APPROACH"
            )
        programs = sorted(
            {
                series.programs
                for series in dataset.series
                if series.programs and 'OSU C' not in series.programs
            }
        )
        if programs:
            notes.append(
                f"{dataset.name} ran {', '.join(programs)} instead of the OSU C programs. Compare "
                "these results only with results of the same programs."
            )
        notes += [f'{dataset.name}: {problem}' for problem in dataset.problems]
    return notes

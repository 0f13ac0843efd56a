"""Define the command line of `osu-container report`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from osu_container.base import outputs
from osu_container.bench.report import ReportError
from osu_container.bench.results import model, references, select
from osu_container.bench.results.run_files import ResultsError

if TYPE_CHECKING:
    from osu_container.bench.report.content import Report, Section, View

EPILOG = """
RUN is the folder of a run, the name of a run, latest, latest:hybrid, published results
(osu-container reference list), or an output file of a benchmark program (osu-container import --help).
Several runs are shown in the same charts. The page is a single file that loads nothing from the network.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `osu-container report` to the parser."""
    parser.epilog = EPILOG
    parser.set_defaults(
        function=report,
        prog='osu-container report',
        after_interrupt="nothing was written",
        errors=(ReportError, ResultsError, select.SelectError, OSError),
    )
    add = parser.add_argument
    add(
        'runs', nargs='*', metavar='RUN', help="runs to show; all runs are shown in the same charts"
    )
    add('--published', action='store_true', help="show all published results instead of runs")
    add('-o', '--output', type=Path, metavar='FILE', help="write the HTML page to FILE")
    add(
        '--picture',
        type=Path,
        metavar='FILE',
        help="write the plots of one benchmark to FILE, as an SVG picture with the width of a "
        "column in a paper",
    )
    add('--force', action='store_true', help="replace existing files")


def report(options: argparse.Namespace) -> int:
    """
    Write the HTML page and the picture that the user requests; return the exit code.

    No file is written if the page or the picture cannot be rendered.
    """
    # Imported here: --help does not need the libraries of compare.
    from osu_container.bench.report import charts, content, page

    if bool(options.runs) == options.published:
        raise ReportError(
            "expected either RUN or --published. To write a page on the newest run: `osu-container "
            "report latest -o report.html`"
        )
    paths = [path for path in (options.output, options.picture) if path]
    if not paths:
        raise ReportError(
            "no output file is given. Write the page with -o FILE, or the plots of one benchmark "
            "with --picture FILE"
        )
    for path in paths:
        outputs.require_writable(path, options.force)
    if options.published:
        page_report = build_published_report()
    else:
        datasets = [select.resolve_dataset(text) for text in options.runs]
        title = ', '.join(dataset.title for dataset in datasets)
        page_report = content.Report(
            _format_title(datasets) or f'OSU benchmarks: {title}',
            [content.build_section(title, datasets)],
        )
    texts = [page.render_page(page_report)] if options.output else []
    if options.picture:
        texts.append(charts.render_picture(_find_view(page_report.sections[0])))
    for path, text in zip(paths, texts):
        outputs.write_file(path, text.encode(), options.force)
        print(f'written: {path}')
    return 0


def _format_title(datasets: list[model.Dataset]) -> str | None:
    """
    Return the measured commands of the user as a title for the report.

    The result is None if the datasets contain results of benchmarks.
    """
    benchmarks = list(
        dict.fromkeys(case.benchmark for dataset in datasets for case in dataset.cases)
    )
    if all(map(model.is_command, benchmarks)):
        return ', '.join(name[len(model.COMMAND_PREFIX) :] for name in benchmarks)
    return None


def _find_view(section: Section) -> View:
    """
    Return the View of the first benchmark case with results by message size in a section.

    Raises ReportError if the section has no such case.
    """
    for view in section.views:
        if any(curve.list_plot_points() for curve in view.curves):
            return view
    raise ReportError(
        "no benchmark case has results by message size, so no plot can be drawn. The benchmark "
        "cases are: " + '; '.join(view.case.title for view in section.views)
    )


def build_published_report() -> Report:
    """Return the report on all published results, with a section for each publication."""
    from osu_container.bench.report import content

    return content.Report(
        'OSU benchmarks in containers, measured and published by others',
        [
            content.build_section(f'{dataset.name}: {dataset.title}', [dataset])
            for dataset in references.list_published_datasets()
        ],
    )

"""osu-container report: one page of runs and of published figures."""

from __future__ import annotations

import fnmatch
from pathlib import Path

from osu_container.base import outputs
from osu_container.bench.report import ReportError
from osu_container.bench.results import references, select
from osu_container.bench.results.run_files import ResultsError

EPILOG = """
RUN is the folder of a run, its name, latest, latest:hybrid, published figures (osu-container reference list),
or an output of OSU's programs
(osu-container import --help). Several runs are shown in the same charts. The page is one file that asks nothing of the
network.
"""


def add_arguments(parser):
    """Add the arguments of `osu-container report` to a parser."""
    parser.epilog = EPILOG
    parser.set_defaults(
        function=report,
        prog='osu-container report',
        after_interrupt="nothing was written",
        errors=(ReportError, ResultsError, select.SelectError, OSError),
    )
    add = parser.add_argument
    add(
        'runs', nargs='*', metavar='RUN', help="what is shown; several are shown in the same charts"
    )
    add('--published', action='store_true', help="the published figures, in place of runs")
    add('-o', '--output', type=Path, metavar='FILE', help="write the page (HTML) there")
    add(
        '--picture',
        type=Path,
        metavar='FILE',
        help="write the plots of a case (SVG) there, as wide as a column of a "
        "paper: values and ratio to native by message size",
    )
    add(
        '--case',
        default='*',
        metavar='PATTERN',
        help="with --picture: the case that is drawn, as in 'osu_latency D "
        "D*' (default: the first one)",
    )
    add('--force', action='store_true', help="replace files that are there")


def report(options):
    """Write what was asked for, once all of it is there; return the exit code."""
    from osu_container.bench.report import (
        charts,
        content,
        page,
    )  # with the libraries of compare, which --help does not need

    if bool(options.runs) == options.published:
        raise ReportError(
            "name either runs or --published: `osu-container report latest -o report.html` shows the "
            "newest run"
        )
    paths = [path for path in (options.output, options.picture) if path]
    if not paths:
        raise ReportError("nothing to write: name the page by -o FILE, or --picture FILE")
    for path in paths:
        outputs.require_writable(path, options.force)
    if options.published:
        made = build_published_report()
    else:
        datasets = [select.resolve_dataset(text) for text in options.runs]
        title = ', '.join(one.title for one in datasets)
        made = content.Report(f'OSU benchmarks: {title}', [content.build_section(title, datasets)])
    texts = [page.render_page(made)] if options.output else []
    texts += (
        [charts.render_picture(_find_view(made.sections[0], options.case))]
        if options.picture
        else []
    )
    for path, text in zip(paths, texts):
        outputs.write_file(path, text.encode(), options.force)
        print(f'written: {path}')
    return 0


def _find_view(section, pattern):
    """
    Return the first View with message sizes whose case fits pattern (str). Raises ReportError if
    none does.
    """
    for view in section.views:
        names = view.case.title, view.case.benchmark
        if any(fnmatch.fnmatchcase(name, pattern) for name in names) and any(
            curve.list_plot_points() for curve in view.curves
        ):
            return view
    raise ReportError(
        f"--case {pattern}: nothing of that name was measured by message size, only "
        + '; '.join(view.case.title for view in section.views)
    )


#: The publications that are shown first, others follow
FIRST = ('lumi-g-2025-03', 'lumi-native-2026-03', 'lumi-mpi4py-2025-07')


def build_published_report():
    """Return the content.Report of the published figures: a section for each publication."""
    from osu_container.bench.report import content

    datasets = {one.name: one for one in references.list_published_datasets()}
    return content.Report(
        'OSU benchmarks in containers, measured and published by others',
        [
            content.build_section(f'{name}: {datasets[name].title}', [datasets[name]])
            for name in dict.fromkeys((*FIRST, *datasets))
        ],
    )

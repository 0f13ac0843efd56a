"""osu-container report: one page of runs and of published figures."""
from __future__ import annotations

import sys
from pathlib import Path

from osu_container.core import outputs as outputs_of

from ..results import references, select
from ..results.outputs import UNKNOWN
from ..results.run_files import ResultsError
from . import ReportError

#: What means the standard output where a file is meant
STDOUT = Path('-')
EPILOG = """
RUN is the folder of a run, its name, latest, latest:hybrid, published figures (osu-container reference list),
or an output of OSU's programs
(osu-container import --help). Several runs are shown in the same charts. The page is one file that asks nothing of the
network.
"""


def add_arguments(parser):
    """Add the arguments of `osu-container report` to a parser."""
    parser.epilog = EPILOG
    parser.set_defaults(function=report, prog='osu-container report', after_interrupt="nothing was written",
                        errors=(ReportError, ResultsError, select.SelectError, OSError))
    add = parser.add_argument
    add('runs', nargs='*', metavar='RUN', help="what is shown; several are shown in the same charts")
    add('--published', action='store_true', help="the published figures, in place of runs")
    add('-o', '--output', type=Path, metavar='FILE', help="write the page (HTML) there")
    add('--csv', type=Path, metavar='FILE', nargs='?', const=STDOUT, help="print every value as CSV, one row for each "
        "repeat and size, or write them to FILE")
    add('--picture', type=Path, metavar='FILE', help="write the picture for a column of a paper there, FILE.svg or "
        "FILE.pdf: values and ratio to native by message size; its caption is written to FILE.caption.txt")
    add('--case', metavar='PATTERN', help="with --picture: the case that is drawn, as in 'osu_latency D D*' (default: "
        "bandwidth between two nodes)")
    add('--force', action='store_true', help="replace files that are there")


def report(options):
    """Make what was asked for; return the exit code."""
    from . import content  # with the libraries of compare, which --help does not need
    _check(options)
    if options.published:
        made = published()
    else:
        datasets = [select.resolve(text) for text in options.runs]
        section = content.section('Runs' if len(datasets) > 1 else _first_upper(datasets[0].title), datasets)
        made = content.Report(_title(datasets), [section])
    return _write(options, made)


def _first_upper(text):
    return text[:1].upper() + text[1:]


def _title(datasets):
    """Return the title (str) of the page of these datasets: where and when."""
    known = {one.name: one.facts['site'] for one in datasets if one.kind == 'run' and one.facts['site'] != UNKNOWN}
    sites = list(dict.fromkeys(known.get(one.name, one.name) for one in datasets))
    days = sorted({one.facts['started'][:10] for one in datasets
                   if one.kind == 'run' and not one.facts.get('imported')})
    when = '' if not days else f', {days[0]}' if len(days) == 1 else f', {days[0]} to {days[-1]}'
    return f"OSU benchmarks on {' and '.join(sites)}{when}"


def _check(options):
    """Raise ReportError for what cannot be, before any work."""
    from . import export
    outputs = [path for path in (options.output, options.csv, options.picture) if path]
    if not outputs:
        raise ReportError("nothing to write: name the page by -o FILE, or --csv, --picture")
    if outputs.count(STDOUT) > 1:
        raise ReportError("one output can be printed: give a FILE to the others")
    _check_choice(options)
    if options.picture:
        export.check_picture(options.picture)
        outputs.append(export.caption_path(options.picture))
    for number, path in enumerate(outputs):
        if path.absolute() in [other.absolute() for other in outputs[:number]]:
            raise ReportError(f"{path} is named twice: each output needs a file of its own")
        if path != STDOUT:
            outputs_of.check(path, options.force)


def _check_choice(options):
    """Raise ReportError where the options on what is shown contradict each other."""
    if bool(options.runs) == options.published:
        raise ReportError("name runs, or --published: " + (
            "not both" if options.published else "`osu-container report latest -o report.html` shows the newest run"))
    if options.case and not options.picture:
        raise ReportError("--case chooses what --picture draws: name a picture, too")


#: The publications in the order in which they are shown first, others follow
FIRST = ('lumi-g-2025-03', 'lumi-native-2026-03', 'lumi-mpi4py-2025-07')


def published():
    """Return the content.Report of the published figures: a section for each publication."""
    from . import content
    datasets = {one.name: one for one in references.published()}
    return content.Report('OSU benchmarks in containers: published results', [
        content.section(f'{name}: {datasets[name].title}', [datasets[name]])
        for name in dict.fromkeys((*FIRST, *datasets))], published=True)


def _write(options, made):
    """Write what was asked for, once all of it is there; return the exit code."""
    from . import export, page
    texts = []
    said = sys.stderr if STDOUT in (options.csv, options.output) else sys.stdout
    if options.csv:
        texts.append((options.csv, export.csv_text(made).encode()))
    if options.picture:
        texts += export.picture_files(made.sections[0], options.picture, options.case)
    if options.output:
        texts.append((options.output, page.html(made).encode()))
    for path, data in texts:
        if path == STDOUT:
            sys.stdout.write(data.decode())
            continue
        outputs_of.write(path, data, options.force)
        print(f"{path}: {_size(len(data))}", file=said)
    return 0


def _size(count):
    """Return a number of bytes as text: '2.3 MB', '14 kB'."""
    return f'{count / 1e6:.1f} MB' if count >= 1e5 else f'{-(-count // 1000)} kB'

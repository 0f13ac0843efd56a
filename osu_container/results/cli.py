"""osu-container reference ...: published figures, and the references of the user and the site."""
from __future__ import annotations

import json
import sys
from pathlib import Path

from osu_container.core import shell

from .. import columns
from . import references, run_files, select

EPILOG = """
NAME is the name of a reference (osu-container reference list). RUN is the folder of a run, its name, or `latest`.
"""


def add_arguments(parser):
    """Add the subcommands to the parser of `osu-container reference`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)

    def command(name, function, text):
        below = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + '.', epilog=EPILOG)
        below.set_defaults(function=function, prog=f'osu-container reference {name}',
                           after_interrupt="nothing was changed",
                           errors=(references.ReferenceFailure, run_files.ResultsError, select.SelectError, OSError))
        return below

    below = command('list', list_references, "show every reference: published ones, yours, and those of the site")
    below.add_argument('--json', action='store_true', help="the same for programs")

    below = command('add', add, "keep a native run as a reference, to compare later runs with it")
    below.add_argument('run', metavar='RUN')
    below.add_argument('--name', required=True, help="what the reference is called")
    below.add_argument('--series', default='native', metavar='APPROACH',
                       help="keep the figures of this approach (default: native)")
    below.add_argument('--system', action='store_true',
                       help=f"for all users of the site: add it to the first folder of ${references.SITE_VARIABLE}")
    below.add_argument('--force', action='store_true', help="replace a reference of that name")

    below = command('remove', remove, "remove one of your references; published ones and those of the site stay")
    below.add_argument('name', metavar='NAME')


def _points(dataset):
    """Return how many values a dataset has (int)."""
    return sum(len(repeats) for one in dataset.series for repeats in one.values.values())


def list_references(options):
    """Print one line a reference, the added ones first."""
    added, problems = references.added()
    rows = []
    for dataset in added + references.published():
        kind = 'yours' if dataset.kind == 'reference' and references.is_own(dataset.path.parent) else (
            'site' if dataset.kind == 'reference' else dataset.kind)
        date = dataset.facts['date'].partition(';')[0].partition(' to ')[0][:10]
        rows.append((dataset.name, kind, date, str(_points(dataset)), dataset.title))
    if options.json:
        print(json.dumps([dict(zip(('name', 'kind', 'date', 'points', 'title'), (*row[:3], int(row[3]), row[4])))
                          for row in rows], indent=1))
        return _warn(options, problems)
    rows.insert(0, ('name', 'kind', 'date', 'points', 'what'))
    print('\n'.join(columns.table(rows, right=[3])))
    print('\n' + columns.fill("To look at one: osu-container report NAME -o FILE.html. To keep a native run of yours: "
                              "osu-container reference add RUN --name NAME. To compare: osu-container compare RUN "
                              "NAME."))
    return _warn(options, problems)


def _warn(options, problems):
    """Say what was wrong with references that were passed over (problems: list of str); return 0."""
    for problem in problems:
        print(f"{options.prog}: warning: {problem}", file=sys.stderr)
    return 0


def add(options):
    """Keep a series of a run as a reference."""
    run = select.resolve(options.run)
    if run.kind == 'run' and run.path is None:
        raise select.SelectError(f"{options.run} is the output of a program: make a run of it by `osu-container import "
                                 f"{shell.word('native=' + options.run)}`, and name its folder")
    if run.kind != 'run' or (':' in options.run and not Path(options.run).exists()):
        raise select.SelectError(f"{options.run} is no run: name its folder, its name in {select.results_folder()} or "
                                 "`latest`, and the approach with --series")
    folder = references.add(run.path, options.name, series=options.series, force=options.force,
                            system=options.system)
    dataset = references.get(options.name)
    print(f"{options.name}: {options.series} of run {run.name}, {len(dataset.cases)} cases, {_points(dataset)} values, "
          f"in {folder}\nTo compare: osu-container compare RUN {options.name}")
    for problem in run.problems:
        print(f"{options.prog}: warning: {problem}", file=sys.stderr)
    return 0


def remove(options):
    """Remove one of the user's references."""
    print(f"removed {references.remove(options.name)}")
    return 0

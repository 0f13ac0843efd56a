"""osu-container reference ...: published figures, and the references of the user and the site."""
from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from osu_container.core.writing import shell
from osu_container.demo_table import number

from .. import columns
from . import files, model, references, select

EPILOG = """
NAME is the name of a reference (osu-container reference list); NAME:SERIES is one of its series, which can be a
pattern such as 'openmpi-5-*'. RUN is the folder of a run, its name, or `latest`.
"""
#: Facts of a dataset that `show` prints, in this order: (key, title)
FACTS = (('kind', 'kind'), ('source', 'source'), ('url', 'address'), ('licence', 'licence'), ('site', 'site'),
         ('date', 'date'), ('node_type', 'nodes'), ('stack', 'stack'), ('programs', 'programs'),
         ('evidence', 'evidence'), ('native', 'native is'))


def add_arguments(parser):
    """Add the subcommands to the parser of `osu-container reference`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)

    def command(name, function, text):
        below = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + '.', epilog=EPILOG)
        below.set_defaults(function=function, prog=f'osu-container reference {name}',
                           after_interrupt="nothing was changed",
                           errors=(references.ReferenceFailure, files.ResultsError, select.SelectError, OSError))
        return below

    below = command('list', list_references, "show every reference: published ones, yours, and those of the site")
    below.add_argument('--json', action='store_true', help="the same for programs")

    below = command('show', show, "show what a reference is, its cases and its values")
    below.add_argument('name', metavar='NAME[:SERIES]')
    below.add_argument('--json', action='store_true', help="the same for programs, with every point")

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
    print('\n' + columns.fill("To look at one: osu-container reference show NAME. To keep a native run of yours: "
                              "osu-container reference add RUN --name NAME. To compare: osu-container compare RUN "
                              "NAME."))
    return _warn(options, problems)


def _warn(options, problems):
    """Say what was wrong with references that were passed over (problems: list of str); return 0."""
    for problem in problems:
        print(f"{options.prog}: warning: {problem}", file=sys.stderr)
    return 0


def _get(text):
    """Return the reference (Dataset) that NAME[:SERIES] (str) means. Raises ReferenceFailure, SelectError."""
    references.get(text.partition(':')[0])  # a run or a module is no reference
    return select.resolve(text)


def show(options):
    """Print what a reference is, its series and its cases."""
    dataset = _get(options.name)
    if options.json:
        return _print_json(dataset)
    print(f"{dataset.name}: {dataset.title}")
    facts = dict(dataset.facts, kind=dataset.kind)
    for key, title in FACTS:
        if facts.get(key):
            _print_fact(title, facts[key])
    for note in [*facts.get('notes', ()), *facts.get('incomplete', ())]:
        _print_fact('note', note)
    about = {one.name: one.facts.get('about', '') for one in dataset.series}
    width = max(map(len, about))
    for n, (name, text) in enumerate(about.items()):
        _print_fact('' if n else 'series', f"{name:{width}}  {text}".rstrip(), hang=width + 2)
    print()
    _print_cases(dataset)
    _print_sources(dataset)
    return 0


def _print_fact(title, text, hang=0):
    """Print a fact (str) with its title (str), wrapped; further lines are indented by hang more columns."""
    print(columns.fill(str(text), f"  {title:9}  ", ' ' * (13 + hang)))


def _print_cases(dataset):
    """Print one line a case: sizes, and the values at the smallest size and at the peak (times: the largest size)."""
    rows = [('case', '#', 'sizes', 'smallest', 'peak/largest', '')]
    for case in dataset.cases:
        curves = dataset.of(case)
        sizes = sorted({size for one in curves for size in one.sizes})
        first = [one.median(one.sizes[0]) for one in curves]
        last = [max(one.medians().values()) if case.more_is_better else one.median(one.sizes[-1]) for one in curves]
        least, most = (model.size_text(size) or '0 B' for size in (sizes[0], sizes[-1]))
        if sizes == [0]:  # programs without message sizes
            rows.append((case.title, str(len(curves)), '', _range(first), '', case.unit))
        else:
            rows.append((case.title, str(len(curves)), least if least == most else f'{least}..{most}',
                         _range(first), _range(last), case.unit))
    print('\n'.join(columns.table(rows, right=[1, 3, 4])))
    text = ("#: how many series have the case. Values: at the smallest size; at the peak for bandwidths, at the "
            "largest size for times; with several series the least and the most of them.")
    print('\n' + columns.fill(text))
    print(columns.fill(f"One series: osu-container reference show {dataset.name}:SERIES"))


def _print_sources(dataset):
    """Print the values of each curve with their source, where each curve has its own."""
    curves = [one for one in dataset.series if one.facts.get('source')]
    if curves:
        print('\nEach value with its source:')
    for one in curves:
        values = ' and '.join(f"{number(value)} {one.case.unit} at {model.size_text(size)}"
                              for size, value in one.medians().items())
        told = [values, *(one.facts.get(key) for key in ('kind', 'node_type', 'source', 'note'))]
        text = f"{one.name}, {one.case.title}: {'; '.join(part for part in told if part)}"
        print(columns.fill(text, '  ', '      '))


def _range(values):
    """Return the least and the most of values (list of float) as text."""
    least, most = number(min(values)), number(max(values))
    return least if least == most else f'{least}..{most}'


def _print_json(dataset):
    """Print a dataset as JSON: its facts, and each curve with its points."""
    print(json.dumps({'name': dataset.name, 'title': dataset.title, 'kind': dataset.kind, 'facts': dataset.facts,
                      'curves': [{'series': one.name, 'case': dataclasses.asdict(one.case), 'unit': one.case.unit,
                                  'facts': one.facts, 'values': {size: one.values[size] for size in one.sizes}}
                                 for one in dataset.series]}, indent=1, default=str))
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

"""Define the command `osu-container reference list`, which lists the published results."""

from __future__ import annotations

import argparse
import json

from osu_container.base import columns
from osu_container.bench.results import references


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand `list` to the parser of `osu-container reference`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)
    text = "list the published results"
    list_parser = commands.add_parser(
        'list', help=text, description=text[0].upper() + text[1:] + '.'
    )
    list_parser.set_defaults(
        function=list_references,
        prog='osu-container reference list',
        after_interrupt="nothing was changed",
        errors=(OSError,),
    )
    list_parser.add_argument('--json', action='store_true', help="machine-readable output")


def list_references(options: argparse.Namespace) -> int:
    """Print one line for each published dataset and return the exit code."""
    rows = []
    for dataset in references.list_published_datasets():
        points = sum(len(series.values) for series in dataset.series)
        date = dataset.facts['date'].partition(';')[0].partition(' to ')[0][:10]
        rows.append((dataset.name, date, points, dataset.title))
    names = ('name', 'date', 'points', 'title')
    if options.json:
        print(json.dumps([dict(zip(names, row)) for row in rows], indent=1))
        return 0
    print(
        '\n'.join(
            columns.format_table(
                [names, *(tuple(map(str, row)) for row in rows)], right_aligned=[2]
            )
        )
    )
    print(
        '\n'
        + columns.fill_text(
            "To show a published dataset: osu-container report NAME -o FILE.html. To compare a run "
            "with a published dataset: osu-container compare RUN NAME. To keep your own run as a "
            "reference, measure with osu-container bench --output DIR. compare then accepts DIR "
            "or the name of your run instead of NAME."
        )
    )
    return 0

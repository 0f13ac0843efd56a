"""osu-container reference list: the published figures."""

from __future__ import annotations

import json

from osu_container.base import columns
from osu_container.bench.results import references


def add_arguments(parser):
    """Add the subcommand to the parser of `osu-container reference`."""
    commands = parser.add_subparsers(dest='what', metavar='WHAT', required=True)
    text = "show the published figures"
    below = commands.add_parser('list', help=text, description=text[0].upper() + text[1:] + '.')
    below.set_defaults(
        function=list_references,
        prog='osu-container reference list',
        after_interrupt="nothing was changed",
        errors=(OSError,),
    )
    below.add_argument('--json', action='store_true', help="machine-readable output")


def list_references(options):
    """Print one line a dataset."""
    rows = []
    for dataset in references.list_published_datasets():
        points = sum(len(one.values) for one in dataset.series)
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
            "To look at one: osu-container report NAME -o FILE.html. To compare: osu-container "
            "compare RUN NAME. To keep a run of yours: osu-container bench --output DIR; its folder "
            "or name is what you compare with."
        )
    )
    return 0

"""
Published figures, which come with the project: data/datasets.json describes them, a CSV each
holds them.
"""

from __future__ import annotations

import csv
import fnmatch
import functools
import json
from pathlib import Path

from osu_container.bench.results import model
from osu_container.bench.results.outputs import UNKNOWN

DATA = Path(__file__).resolve().parent / 'data'
#: Columns of the CSVs that make the Case; columns named by a number are sizes in bytes; any other
#: column is a fact
_CASE = ('benchmark', 'buffers', 'nodes', 'ranks', 'variant')


@functools.cache
def read_descriptions():
    """
    Return {name: description (dict)} of the published datasets, in the order in which they are
    shown.

    Keys: title, source, url, licence, date, node_type, stack, evidence, programs; native: name of
    the series that stands for native, or None; sites: {pattern of site names: node type}; series:
    {pattern of series names: what they are}; notes: list of str.
    """
    return json.loads((DATA / 'datasets.json').read_text(encoding='utf-8'))


@functools.cache
def read_dataset(name):
    """
    Return the published Dataset of this name (str), which is a key of read_descriptions().

    It is read once and shared: callers leave it unchanged.
    """
    about = read_descriptions()[name]
    facts = {key: value for key, value in about.items() if key not in ('title', 'series')}
    dataset = model.Dataset(name, 'published', about['title'], facts)
    with open(DATA / f'{name}.csv', newline='', encoding='utf-8') as handle:
        for row in csv.DictReader(handle):
            case = model.Case(
                *(
                    _parse_number(row[key]) if key in ('nodes', 'ranks') else row[key]
                    for key in _CASE
                )
            )
            values = {
                int(column): {1: float(cell)}
                for column, cell in row.items()
                if column.isdigit() and cell
            }
            found = {
                column: cell
                for column, cell in row.items()
                if cell and not column.isdigit() and column not in ('series', *_CASE)
            }
            found['about'] = '; '.join(
                text
                for pattern, text in about['series'].items()
                if fnmatch.fnmatchcase(row['series'], pattern)
            )
            dataset.series.append(
                model.Series(case, row['series'], values, about['programs'], found)
            )
    return dataset


def _parse_number(text):
    """Return the int in text, None for an empty one."""
    return int(text) if text else None


def list_published_datasets():
    """Return the published datasets (list of Dataset)."""
    return [read_dataset(name) for name in read_descriptions()]


def find_machine_mismatch(a, b):
    """
    Return why two Datasets say nothing about each other's speed (str), None where they are, or may
    be, of one machine.

    Of a run its site is known, of a publication the sites whose machine it measured.
    """
    for one, other in ((a, b), (b, a)):
        patterns, site = one.facts.get('sites'), other.facts.get('site')
        if (
            patterns is not None
            and site not in (None, UNKNOWN)
            and not any(fnmatch.fnmatchcase(site, pattern) for pattern in patterns)
        ):
            return (
                f"{other.name} is of site {site}, {one.name} of another machine ({one.facts['node_type']}): ratios "
                "are shown, speed is not judged"
            )
    return None

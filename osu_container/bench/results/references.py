"""
Read the published results of benchmarks.

The file data/datasets.json describes the published datasets. A CSV file for each dataset contains
the results.
"""

from __future__ import annotations

import csv
import fnmatch
import functools
import json
from pathlib import Path
from typing import Any

from osu_container.bench.results import model
from osu_container.bench.results.outputs import UNKNOWN

DATA = Path(__file__).resolve().parent / 'data'
#: Columns of the CSVs that form the Case. A number as column name is a size in bytes; any other
#: column is a fact.
_CASE = ('benchmark', 'buffers', 'nodes', 'ranks', 'variant')


@functools.cache
def read_descriptions() -> dict[str, dict[str, Any]]:
    """
    Return {name: description} of the published datasets, in the order of datasets.json.

    A description is a dict with the keys `title`, `source`, `url`, `licence`, `date`, `node_type`,
    `stack`, `evidence` and `programs`, and these keys:
    native: name of the curves that count as native, or None
    sites: {pattern of site names: node type}
    series: {pattern of curve names: description}
    notes: list of texts
    """
    return json.loads((DATA / 'datasets.json').read_text(encoding='utf-8'))


@functools.cache
def read_dataset(name: str) -> model.Dataset:
    """
    Return the published dataset with the name `name`, a key of read_descriptions().

    All callers share the same object and must not change the object.
    """
    description = read_descriptions()[name]
    facts = {key: value for key, value in description.items() if key not in ('title', 'series')}
    dataset = model.Dataset(name, 'published', description['title'], facts)
    with open(DATA / f'{name}.csv', newline='', encoding='utf-8') as handle:
        for row in csv.DictReader(handle):
            nodes, ranks = (int(row[key]) if row[key] else None for key in ('nodes', 'ranks'))
            case = model.Case(row['benchmark'], row['buffers'], nodes, ranks, row['variant'])
            values = {
                int(column): {1: float(cell)}
                for column, cell in row.items()
                if column.isdigit() and cell
            }
            row_facts = {
                column: cell
                for column, cell in row.items()
                if cell and not column.isdigit() and column not in ('series', *_CASE)
            }
            row_facts['about'] = '; '.join(
                text
                for pattern, text in description['series'].items()
                if fnmatch.fnmatchcase(row['series'], pattern)
            )
            dataset.series.append(
                model.Series(case, row['series'], values, description['programs'], row_facts)
            )
    return dataset


def list_published_datasets() -> list[model.Dataset]:
    """Return all published datasets, in the order of `osu-container reference list`."""
    return [read_dataset(name) for name in read_descriptions()]


def find_machine_mismatch(a: model.Dataset, b: model.Dataset) -> str | None:
    """
    Return why two datasets cannot be compared, None if the datasets can be compared.

    A run records its site. A publication records the sites that belong to the measured machine. The
    results cannot be compared if the run's site is not one of the sites of the publication.
    """
    for published, run in ((a, b), (b, a)):
        patterns, site = published.facts.get('sites'), run.facts.get('site')
        if (
            patterns is not None
            and site not in (None, UNKNOWN)
            and not any(fnmatch.fnmatchcase(site, pattern) for pattern in patterns)
        ):
            return (
                f"{run.name} was measured on site {site}, but {published.name} was measured on "
                f"another machine ({published.facts['node_type']}), so the comparison shows ratios "
                "without verdicts"
            )
    return None

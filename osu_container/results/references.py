"""
References: published figures, which come with the project (data/), and runs that a user or a site keeps.

    published()   what data/datasets.json describes, one CSV each; nothing is read before it is asked for
    added()       references of the user, then those of the site
    add(), remove()

A reference that was added is a folder: reference.json says what it is, results.jsonl has the measurements of the one
series that was kept (docs/benchmarks.md). The user's folders are in $XDG_DATA_HOME/osu-container/references, those
of the site in the folders that $OSU_CONTAINER_REFERENCES names, separated by colons.
"""
from __future__ import annotations

import csv
import fnmatch
import functools
import json
import os
import re
from pathlib import Path

from osu_container.core import outputs
from osu_container.core.reading.files import parse_json, read_plain
from osu_container.proof import judging

from .. import record
from . import model, run_files
from .outputs import UNKNOWN

DATA = Path(__file__).resolve().parent / 'data'
#: Variable with the site's folders, separated by colons: read from first to last; add(system=True) writes to the first
SITE_VARIABLE = 'OSU_CONTAINER_REFERENCES'
#: Names and versions of reference.json
FORMAT, VERSION = 'osu-container reference', 1
NAME = 'reference.json'
#: What is in the folder of a reference
FILES = (NAME, run_files.NAME)
#: Keys of reference.json that every reader needs
KEYS = ('name', 'title', 'series', 'site', 'source', 'date', 'stack', 'node_type', 'evidence')
#: What a reference can be called: it stands in SELECTION:NAME, and is the name of a folder
NAMES = re.compile(r'[A-Za-z0-9][A-Za-z0-9._+-]*')
#: Words that mean something else where a selection is typed
RESERVED = ('latest', 'native', 'pure', 'bind', 'hybrid', 'swap', 'opensource', 'openmpi', 'osu-native',
            'osu-container')

#: Columns of the CSVs that make the Case; columns named by a number are sizes in bytes; any other column is a fact
_CASE = ('benchmark', 'buffers', 'nodes', 'ranks', 'variant')


class ReferenceFailure(Exception):
    """What was asked of a reference cannot be done; the text says why and what to do."""


class ReferenceNotFound(ReferenceFailure):
    """There is no reference of that name; the text names those that there are."""


@functools.cache
def described():
    """
    Return {name: description (dict)} of the published datasets, in the order in which they are shown.

    Keys: title, source, url, licence, date, node_type, stack, evidence, programs; native: name of the series that
    stands for native, or None; sites: {pattern of site names: node type}; series: {pattern of series names: what they
    are}; notes: list of str.
    """
    return json.loads((DATA / 'datasets.json').read_text(encoding='utf-8'))


@functools.cache
def _published(name):
    """Return the published Dataset of this name (str), which is a key of described()."""
    about = described()[name]
    facts = {key: value for key, value in about.items() if key not in ('title', 'series')}
    dataset = model.Dataset(name, 'published', about['title'], facts)
    with open(DATA / f'{name}.csv', newline='', encoding='utf-8') as handle:
        rows = csv.reader(handle)
        head = next(rows)
        sizes = [(n, int(column)) for n, column in enumerate(head) if column.isdigit()]
        others = [(n, column) for n, column in enumerate(head) if not column.isdigit()]
        for row in rows:
            entry = {column: row[n] for n, column in others}
            case = model.Case(*(_number(entry[key]) if key in ('nodes', 'ranks') else entry[key] for key in _CASE))
            found = {key: value for key, value in entry.items() if value and key != 'series' and key not in _CASE}
            found['about'] = '; '.join(text for pattern, text in about['series'].items()
                                       if fnmatch.fnmatchcase(entry['series'], pattern))
            dataset.series.append(model.Series(case, entry['series'],
                                               {size: {1: float(row[n])} for n, size in sizes if row[n]},
                                               about['programs'], found))
    return dataset


def _number(text):
    """Return the int in text, None for an empty one."""
    return int(text) if text else None


def published():
    """Return the published datasets (list of Dataset). They are read once and shared: callers leave them unchanged."""
    return [_published(name) for name in described()]


def user_folder():
    """Return the folder (Path) of the user's own references, by the XDG Base Directory Specification."""
    base = os.environ.get('XDG_DATA_HOME', '')
    return Path(base if base.startswith('/') else Path.home() / '.local' / 'share') / 'osu-container' / 'references'


def site_folders():
    """Return the folders (list of Path) of the site's references, in the order in which they are read."""
    return [Path(part) for part in os.environ.get(SITE_VARIABLE, '').split(':') if part]


def _folders():
    """Return {name: folder (Path)} of what was added; the user's stand before the site's of the same name."""
    found = {}
    for parent in [user_folder(), *site_folders()]:
        try:
            entries = sorted(parent.iterdir())
        except OSError:  # not there, or not for us to read: then it has nothing for us
            continue
        for folder in entries:
            if not folder.name.startswith('.') and (folder / NAME).is_file():
                found.setdefault(folder.name, folder)
    return found


def _describe(folder):
    """Return what the reference.json in a folder (Path) says (dict). Raises ReferenceFailure."""
    path = folder / NAME
    try:
        about = parse_json(read_plain(path, 'text'))
    except (OSError, ValueError) as err:
        raise ReferenceFailure(f"{path} cannot be read: {err}. Add the reference again, with --force") from err
    if not isinstance(about, dict) or about.get('format') != FORMAT or about.get('version') != VERSION:
        found = about.get('version') if isinstance(about, dict) else type(about).__name__
        raise ReferenceFailure(f"{path} has version {found} of its format, wanted {VERSION}: add the reference again, "
                               "with --force")
    missing = [key for key in KEYS if not isinstance(about.get(key), str)]
    if missing:
        raise ReferenceFailure(f"{path} does not say {', '.join(missing)}: add the reference again, with --force")
    return about


def _added(folder):
    """Return the Dataset of an added reference in a folder (Path). Raises ReferenceFailure."""
    about = _describe(folder)
    try:
        found = run_files.read(folder)
    except run_files.ResultsError as err:
        raise ReferenceFailure(f"reference {folder.name} cannot be used: {err}") from err
    facts = {key: value for key, value in about.items() if key not in ('format', 'version', 'name', 'title')}
    facts.update(native=about['series'], run=found.facts)
    return model.Dataset(folder.name, 'reference', about['title'], facts, found.series, [], found.modules, [],
                         folder / run_files.NAME)


def added():
    """
    Return (datasets, problems): the references that were added, the user's first, and what is wrong with others.

    One that cannot be read does not hide the rest: problems (list of str) says which it is and what to do.
    """
    datasets, problems = [], []
    for folder in _folders().values():
        try:
            datasets.append(_added(folder))
        except ReferenceFailure as err:
            problems.append(str(err))
    return datasets, problems


def names():
    """Return the names (list of str) of all references, the added ones first."""
    return [*_folders(), *described()]


def get(name):
    """
    Return the reference (Dataset) of this name (str).

    Raises ReferenceNotFound if there is none, ReferenceFailure if it is there and cannot be read.
    """
    if name in described():
        return _published(name)
    folder = _folders().get(name)
    if folder is None:
        raise ReferenceNotFound(f"there is no reference {name}; there are: {', '.join(names())}")
    return _added(folder)


def other_machine(a, b):
    """
    Return why two Datasets say nothing about each other's speed (str), None where they are, or may be, of one machine.

    Known of runs and kept references is their site, of publications the sites whose machine they measured.
    """
    for one, other in ((a, b), (b, a)):
        patterns = one.facts.get('sites') if one.kind == 'published' else None
        site = other.facts.get('site') if other.kind != 'published' else None
        known = patterns is not None and site not in (None, UNKNOWN)
        if known and not any(fnmatch.fnmatchcase(site, pattern) for pattern in patterns):
            return (f"{other.name} is of site {site}, {one.name} of another machine ({one.facts['node_type']}): ratios "
                    "are shown, speed is not judged")
    return None


def _check_name(name):
    """Raise ReferenceFailure unless a reference can have this name (str)."""
    if not NAMES.fullmatch(name):
        raise ReferenceFailure(f"{name!r} is no name for a reference: wanted letters, digits, '.', '_', '+' and '-', "
                               "with a letter or digit first")
    if name in described():
        raise ReferenceFailure(f"{name} is a published reference, which stays as it is: choose another name")
    if name in RESERVED:
        raise ReferenceFailure(f"{name} means something else where a reference is typed: choose another name, such as "
                               f"{name}-2026")


def _stack(dataset, series):
    """Return in words (str) what the ranks of a series (str) loaded, as their proofs say, and the programs."""
    module = next((entry for entry in dataset.modules.values() if entry.get('approach') == series), {})
    entries = [entry for _, entry in run_files.lines(dataset.path)[0]
               if entry['kind'] == 'measurement' and entry['approach'] == series and entry.get('proof')]
    told = []
    for entry in entries:
        for rank in entry['proof']:
            told += [judging.describe(rank, name) for name in ('libmpi', 'libfabric')]
    told = told or ['libraries not known: no proof in the run']
    provider = (module.get('network') or {}).get('provider')
    told.append(f'provider {provider}' if provider else 'provider not known')
    told += sorted({one.ran for one in dataset.series if one.name == series and one.programs})
    return ', '.join(dict.fromkeys(told))


def _node_type(header):
    """Return in words (str) what the header (dict) of a run says about the machine."""
    machine = header.get('machine') or {}
    cores = f"{machine['cores']} cores" if machine.get('cores') else None
    return ', '.join(part for part in (machine.get('cpu'), cores, machine.get('system')) if part) or 'not known'


def add(run_path, name, *, series='native', force=False, system=False):
    """
    Keep one series of a run as a reference, and return its folder (Path). The run stays as it is.

    :param run_path: str or Path, the run's folder or its results.jsonl
    :param name: str, see NAMES; published ones keep theirs
    :param series: str, the approach whose measurements are kept
    :param force: bool, replace a reference of that name
    :param system: bool, add it to the site's first folder ($OSU_CONTAINER_REFERENCES), else to the user's own
    Raises ReferenceFailure, ResultsError for a run that cannot be read, OSError.
    """
    _check_name(name)
    dataset = run_files.read(run_path)
    kept = dataset.only(series)
    if not kept.series:
        there = ', '.join(dataset.names) or 'nothing'
        raise ReferenceFailure(f"{dataset.path} has no measurement of {series}, only of: {there}. Measure it, or "
                               "choose another with --series")
    if system and not site_folders():
        raise ReferenceFailure(f"${SITE_VARIABLE} is not set: it names the folders of the site's references. "
                               "Set it, or leave --system out")
    parent = site_folders()[0] if system else user_folder()
    target = parent / name
    _check_free(target, force)
    header = dataset.facts
    about = {'format': FORMAT, 'version': VERSION, 'name': name, 'title': f"{series} on {header['site']}",
             'series': series, 'site': header['site'], 'source': f"run {header['run']}, {dataset.path.absolute()}",
             'date': UNKNOWN if header.get('imported') else header['started'],
             'stack': _stack(dataset, series), 'node_type': _node_type(header),
             'evidence': f"measured, repeats: {max(one.repeats for one in kept.series)}", 'added': record.now(),
             'incomplete': dataset.problems}
    with outputs.new_folder(target, marked=True, over=FILES if force else (), parents=True) as stage:
        new = Path(stage)
        (new / NAME).write_text(json.dumps(about, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
        _copy(dataset.path, new / run_files.NAME, series, ended=record.now())
        _added(new)  # what cannot be read again is never kept
    return target


def _check_free(target, force):
    """Raise ReferenceFailure if a reference is in target (Path) and may not be replaced; force: bool, it may."""
    if target.exists() and not force:
        raise ReferenceFailure(f"{target} is there already: use --force to replace it, or choose another name")


def _copy(source, target, series, *, ended):
    """Write the lines of a run (Path) that belong to a series (str) into a new results file (Path)."""
    writer = run_files.Writer(target)
    for _, entry in run_files.lines(source)[0]:
        kind = entry.pop('kind')
        if kind == 'run':
            writer.begin(**{key: value for key, value in entry.items() if key not in ('format', 'version')})
        elif kind == 'end':
            ended = entry['ended']
        elif entry['approach'] == series and entry.get('status', 'ok') == 'ok':
            writer.add(kind, **entry)
    writer.add('end', ended=ended)


def remove(name):
    """
    Remove a reference (str) of the user's own and return its folder (Path).

    Raises ReferenceNotFound if there is none, ReferenceFailure if it is a published one or one of the site, OSError.
    """
    if name in described():
        raise ReferenceFailure(f"{name} is a published reference, which comes with the project: it stays. "
                               "Name one of your own")
    folder = _folders().get(name)
    if folder is None:
        raise ReferenceNotFound(f"there is no reference {name}; yours are: "
                                f"{', '.join(key for key, path in _folders().items() if is_own(path)) or 'none'}")
    if not is_own(folder):
        raise ReferenceFailure(f"{name} is a reference of the site, in {folder}: those who keep that folder remove it")
    outputs.remove(folder, FILES)
    return folder


def is_own(folder):
    """Return True if a folder (Path) is one of the user's references."""
    return folder.parent == user_folder()

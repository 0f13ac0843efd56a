"""
What a user types where figures are meant -> Dataset.

    PATH                  a run: its folder, or its results.jsonl; or the output of a program (imported.py)
    20261121T131244Z      a run by its name, in the results folder
    latest                the newest run in the results folder that has figures
    lumi-g-2025-03        published figures (`osu-container reference list`)

Behind each, :NAME takes one series alone, as in lumi-g-2025-03:opensource or latest:hybrid. NAME can be a pattern, such
as 'openmpi-5-*'.
"""
from __future__ import annotations

import fnmatch
import os
from pathlib import Path

from osu_container.base.files import MOST, open_plain, parse_json
from osu_container.base.places import STATE
from osu_container.bench.results import imported, references, run_files

#: Variable with the folder of runs
VARIABLE = 'OSU_CONTAINER_RESULTS'
LATEST = 'latest'


class SelectError(Exception):
    """What was typed means no figures; the text says what there is."""


def results_folder():
    """Return the folder (Path) of runs: $OSU_CONTAINER_RESULTS, else that of the clone, else the user's (XDG)."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if STATE.is_dir():
        return STATE / 'results'
    base = os.environ.get('XDG_DATA_HOME', '')
    return Path(base if base.startswith('/') else Path.home() / '.local' / 'share') / 'osu-container' / 'results'


def _started(folder):
    """Return when a run began, as the first line of its results says (str, ISO 8601); '' if it says nothing."""
    try:
        with open_plain(folder / run_files.NAME) as handle:
            return str(parse_json(handle.readline(MOST['line of results']))['started'])
    except (OSError, ValueError, KeyError, TypeError):
        return ''


def runs():
    """Return the folders (list of Path) of the runs in the results folder, the newest last."""
    try:
        found = [path for path in results_folder().iterdir() if (path / run_files.NAME).is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: (_started(path), path.name))


def remember(folder):
    """
    Link a run (Path of its folder) that lies elsewhere into the results folder, so that `latest` and its name mean it.

    Where that is not possible nothing is done: the run is as good without.
    """
    folder, results = Path(folder).resolve(), results_folder()
    if results.resolve() in folder.parents or not (results.is_absolute() or results.is_dir()):
        return
    try:
        results.mkdir(parents=True, exist_ok=True)
        (results / folder.name).symlink_to(folder)
    except OSError:
        return


def _one(dataset, name, typed):
    """Return a Dataset with the series of a name (str, or a pattern) alone; None: all. Raises SelectError."""
    if name is None:
        return dataset
    chosen = [one for one in dataset.names if fnmatch.fnmatchcase(one, name)]
    if not chosen:
        failed = sorted({f" ({one.name}: {one.reason})" for one in dataset.failures if one.name == name})[:1]
        raise SelectError(f"{typed}: no figures of {name} there{''.join(failed)}; there are those of: "
                          f"{', '.join(dataset.names) or 'nothing'}")
    return dataset.only(*chosen)


def _latest(name, typed):
    """
    Return the newest run that has figures (of a series), cut down to that.

    What is passed over is named in its problems. Raises SelectError.
    """
    problems = []
    for folder in reversed(runs()):
        try:
            chosen = _one(run_files.read(folder), name, typed)
        except (run_files.ResultsError, SelectError) as err:
            problems.append(f"passed over: {err}")
            continue
        if chosen.series:
            chosen.problems += problems
            return chosen
        problems.append(f"passed over: {folder} has no figures")
    raise SelectError('\n  '.join([
        f"{typed}: no run with figures in {results_folder()}. Measure first: osu-container bench --tag quick. Other "
        f"folders of runs: ${VARIABLE}", *problems]))


def resolve(text):
    """
    Return the Dataset that text (str) means; see the head of this module.

    Raises SelectError with what there is, ResultsError for a run that cannot be read.
    """
    first, colon, name = text.rpartition(':')
    first, name = (first, name) if colon else (text, None)
    if not first or name == '':
        raise SelectError(f"{text!r}: wanted a run or published figures, and a name of a series behind a colon")
    if first == LATEST:
        return _latest(name, text)
    if first in references.described():
        return _one(references.get(first), name, text)
    for path, one in ((text, None), (first, name)):  # a path can have a colon in it
        if Path(path).exists():
            found = run_files.read(path) if imported.looks_like_results(Path(path)) else imported.read(path)
            return _one(found, one, text)
    if (results_folder() / first / run_files.NAME).is_file():
        return _one(run_files.read(results_folder() / first), name, text)
    newest = [path.name for path in runs()[-5:]]
    raise SelectError(f"{text} is neither a run nor published figures.\n  The newest runs in {results_folder()}: "
                      f"{', '.join(newest) or 'none'}.\n  Published: {', '.join(references.described())}.")

"""
What a user types where figures are meant -> Dataset.

    PATH                  a run: its folder, or its results.jsonl; or the output of a program (imported.py)
    20261121T131244Z      a run by its name, in the results folder
    latest                the newest run in the results folder that has ended and has figures
    osu-container/hybrid  a module: its figures in the newest run that has some; osu-native likewise
    lumi-g-2025-03        a reference: published, the user's, the site's (`osu-container reference list`)

Behind all but a module, :NAME takes one series alone, as in lumi-g-2025-03:opensource or latest:hybrid. NAME can be a
pattern, such as 'openmpi-5-*'.
"""
from __future__ import annotations

import fnmatch
import itertools
import os
from pathlib import Path

from osu_container.core.reading.files import MOST, open_plain, parse_json
from osu_container.places import STATE

from . import imported, references, run_files

#: Variable with the folder of runs
VARIABLE = 'OSU_CONTAINER_RESULTS'
LATEST = 'latest'


class SelectError(Exception):
    """What was typed means no figures; the text says what there is."""


def results_folder():
    """Return the folder (Path) of runs: $OSU_CONTAINER_RESULTS, else that of the clone, else the user's."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if STATE.is_dir():
        return STATE / 'results'
    return references.user_folder().with_name('results')


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

    Another one of its name stays. Where the folder cannot be written, or is one in the current folder that is not
    there, nothing is done: the run is as good without.
    """
    folder, results = Path(folder).resolve(), results_folder()
    if results.resolve() in folder.parents or not (results.is_absolute() or results.is_dir()):
        return
    try:
        results.mkdir(parents=True, exist_ok=True)
        for number in itertools.count(1):
            link = results / (folder.name if number == 1 else f'{folder.name}-{number}')
            if link.is_symlink() and link.resolve() == folder:
                return
            try:
                link.symlink_to(folder)
                return
            except FileExistsError:
                continue
    except OSError:
        return


def _one(dataset, name, typed):
    """Return a Dataset with the series of a name (str, or a pattern) alone; None: all. Raises SelectError."""
    if name is None:
        return dataset
    wanted = dataset.modules[name]['approach'] if name in dataset.modules else name
    chosen = [one for one in dataset.names if fnmatch.fnmatchcase(one, wanted)]
    if not chosen:
        failed = sorted({f"{one.name}: {one.reason}" for one in dataset.failures if one.name == wanted})
        there = ', '.join(dataset.names) or 'nothing'
        raise SelectError(f"{typed}: no figures of {name} there" + (f" ({failed[0]})" if failed else '')
                          + f"; there are those of: {there}")
    return dataset.only(*chosen)


def _latest(name, typed):
    """
    Return the newest run that has ended and has figures (of a series), cut down to that; else one that has not ended.

    What is passed over is named in its problems. Raises SelectError, ResultsError.
    """
    problems, running, failed = [], [], []
    for folder in reversed(runs()):
        try:
            chosen = _one(run_files.read(folder), name, typed)
        except (run_files.ResultsError, SelectError) as err:
            failed.append(err)
            problems.append(f"passed over: {err}")
            continue
        if chosen.series and 'ended' in chosen.facts:
            chosen.problems += problems
            return chosen
        running += [chosen] if chosen.series else []
        problems.append(f"passed over: {folder} {'has not ended' if chosen.series else 'has no figures'}")
    if running:
        return running[0]
    raise failed[0] if failed else SelectError(
        f"{typed}: no run with figures in {results_folder()}. Measure first: osu-container bench --tag quick. Other "
        f"folders of runs: ${VARIABLE}")


def _of_module(typed):
    """
    Return the series of a module (str) in the newest run that has figures of it, or None if no run knows the module.

    Runs that cannot be read are passed over, and named in the problems of what is returned. Raises SelectError.
    """
    problems, reasons = [], []
    for folder in reversed(runs()):
        try:
            dataset = run_files.read(folder)
        except run_files.ResultsError as err:
            problems.append(f"passed over: {err}")
            continue
        for name, module in dataset.modules.items():
            base = name.partition('/')[0] if module['approach'] == 'native' else name  # osu-native/RELEASE
            if typed in (name, base):
                chosen = dataset.only(module['approach'])
                if chosen.series:
                    chosen.problems += problems
                    return chosen
                reasons += [one.reason for one in chosen.failures[:1]]
    if reasons:
        raise SelectError(f"{typed}: no run has figures of this module; the newest one failed: {reasons[0]}")
    return None


def _modules(folders):
    """Return the names (list of str) of the modules in runs (list of Path) that can be read."""
    found = {}
    for folder in folders:
        try:
            found.update(dict.fromkeys(run_files.read(folder).modules))
        except run_files.ResultsError:
            continue
    return list(found)


def resolve(text):
    """
    Return the Dataset that text (str) means; see the head of this module.

    Raises SelectError with what there is, ResultsError for a run that cannot be read, ReferenceFailure for a reference
    that cannot be read.
    """
    first, colon, name = text.rpartition(':')
    first, name = (first, name) if colon else (text, None)
    if not first or name == '':
        raise SelectError(f"{text!r}: wanted a run, a module or a reference, and a name of a series behind a colon")
    if first == LATEST:
        return _latest(name, text)
    if first in references.names():
        return _one(references.get(first), name, text)
    for path, one in ((text, None), (first, name)):  # a path can have a colon in it
        if Path(path).exists():
            found = run_files.read(path) if imported.looks_like_results(Path(path)) else imported.read(path)
            return _one(found, one, text)
    if (results_folder() / first / run_files.NAME).is_file():
        return _one(run_files.read(results_folder() / first), name, text)
    if name is None:
        found = _of_module(text)
        if found is not None:
            return found
    found = runs()
    newest = found[-5:]
    told = [f"{text} is neither a run, nor a module, nor a reference.",
            f"Runs in {results_folder()}: {', '.join(path.name for path in newest) or 'none'}"
            + (f" (the newest of {len(found)})" if len(found) > len(newest) else '') + '.',
            f"Modules in these runs: {', '.join(_modules(newest)) or 'none'}.",
            f"References: {', '.join(references.names())}."]
    raise SelectError('\n  '.join(told))

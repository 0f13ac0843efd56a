"""
What a user types where figures are meant -> Dataset.

    PATH                  a run: its folder, or its results.jsonl; or the output of a program (imported.py)
    20261121T131244Z      a run by its name, in the results folder
    latest                the newest run in the results folder that has figures
    lumi-g-2025-03        published figures (`osu-container reference list`)

Behind each, :NAME takes one series alone, as in lumi-g-2025-03:opensource or latest:hybrid. NAME
can be a pattern, such as 'openmpi-5-*'.
"""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path

from osu_container.base.files import SIZE_LIMITS, open_plain_file, parse_json
from osu_container.base.places import STATE
from osu_container.bench.results import imported, references, run_files

#: Variable with the folder of runs
RESULTS_VARIABLE = 'OSU_CONTAINER_RESULTS'
LATEST = 'latest'


class SelectError(Exception):
    """What was typed means no figures; the text says what there is."""


def resolve_results_folder():
    """
    Return the folder (Path) of runs: $OSU_CONTAINER_RESULTS, else that of the clone, else the
    user's (XDG).
    """
    if os.environ.get(RESULTS_VARIABLE):
        return Path(os.environ[RESULTS_VARIABLE])
    if STATE.is_dir():
        return STATE / 'results'
    base = os.environ.get('XDG_DATA_HOME', '')
    return (
        Path(base if base.startswith('/') else Path.home() / '.local' / 'share')
        / 'osu-container'
        / 'results'
    )


def _read_start_time(folder):
    """
    Return when a run began, as the first line of its results says (str, ISO 8601); '' if it says
    nothing.
    """
    try:
        with open_plain_file(folder / run_files.RESULTS_FILE) as handle:
            return str(parse_json(handle.readline(SIZE_LIMITS['line of results']))['started'])
    except (OSError, ValueError, KeyError, TypeError):
        return ''


def list_run_folders():
    """Return the folders (list of Path) of the runs in the results folder, the newest last."""
    try:
        found = [
            path
            for path in resolve_results_folder().iterdir()
            if (path / run_files.RESULTS_FILE).is_file()
        ]
    except OSError:
        return []
    return sorted(found, key=lambda path: (_read_start_time(path), path.name))


def register_run(folder):
    """
    Link a run (Path of its folder) that lies elsewhere into the results folder, so that `latest`
    and its name mean it.

    Where that is not possible nothing is done: the run is as good without.
    """
    folder, results = Path(folder).resolve(), resolve_results_folder()
    if results.resolve() in folder.parents or not (results.is_absolute() or results.is_dir()):
        return
    try:
        results.mkdir(parents=True, exist_ok=True)
        (results / folder.name).symlink_to(folder)
    except OSError:
        return


def _restrict_dataset(dataset, name, typed):
    """
    Return a Dataset with the series of a name (str, or a pattern) alone; None: all. Raises
    SelectError.
    """
    if name is None:
        return dataset
    chosen = [one for one in dataset.names if fnmatch.fnmatchcase(one, name)]
    if not chosen:
        failed = sorted(
            {f" ({one.name}: {one.reason})" for one in dataset.failures if one.name == name}
        )[:1]
        raise SelectError(
            f"{typed}: no figures of {name} there{''.join(failed)}; there are those of: "
            f"{', '.join(dataset.names) or 'nothing'}"
        )
    return dataset.filter_by_name(*chosen)


def _find_latest_run(name, typed):
    """
    Return the newest run that has figures (of a series), cut down to that.

    What is passed over is named in its problems. Raises SelectError.
    """
    problems = []
    for folder in reversed(list_run_folders()):
        try:
            chosen = _restrict_dataset(run_files.read_results(folder), name, typed)
        except (run_files.ResultsError, SelectError) as err:
            problems.append(f"passed over: {err}")
            continue
        if chosen.series:
            chosen.problems += problems
            return chosen
        problems.append(f"passed over: {folder} has no figures")
    raise SelectError(
        '\n  '.join(
            [
                f"{typed}: no run with figures in {resolve_results_folder()}. Measure first: osu-container bench --tag quick. Other "
                f"folders of runs: ${RESULTS_VARIABLE}",
                *problems,
            ]
        )
    )


def resolve_dataset(text):
    """
    Return the Dataset that text (str) means; see the head of this module.

    Raises SelectError with what there is, ResultsError for a run that cannot be read.
    """
    first, colon, name = text.rpartition(':')
    first, name = (first, name) if colon else (text, None)
    if not first or name == '':
        raise SelectError(
            f"{text!r}: wanted a run or published figures, and a name of a series behind a colon"
        )
    if first == LATEST:
        return _find_latest_run(name, text)
    if first in references.read_descriptions():
        return _restrict_dataset(references.read_dataset(first), name, text)
    for path, one in ((text, None), (first, name)):  # a path can have a colon in it
        if Path(path).exists():
            found = (
                run_files.read_results(path)
                if imported.looks_like_results(Path(path))
                else imported.read_output_dataset(path)
            )
            return _restrict_dataset(found, one, text)
    if (resolve_results_folder() / first / run_files.RESULTS_FILE).is_file():
        return _restrict_dataset(
            run_files.read_results(resolve_results_folder() / first), name, text
        )
    newest = [path.name for path in list_run_folders()[-5:]]
    raise SelectError(
        f"{text} is neither a run nor published figures.\n  The newest runs in {resolve_results_folder()}: "
        f"{', '.join(newest) or 'none'}.\n  Published: {', '.join(references.read_descriptions())}."
    )

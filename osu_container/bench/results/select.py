"""
Find the Dataset whose name a user enters.

    PATH                  a run: its folder or its results.jsonl; or an output file (imported.py)
    20261121T131244Z      a run in the results folder by its name
    latest                the newest run in the results folder that has results
    lumi-g-2025-03        published results (`osu-container reference list`)

The suffix :NAME selects the curves of one name: lumi-g-2025-03:opensource, latest:hybrid. NAME may
also be a pattern that matches several names, such as 'openmpi-5-*'.
"""

from __future__ import annotations

import fnmatch
import os
import time
from pathlib import Path

from osu_container.base.places import STATE
from osu_container.bench.results import imported, model, references, run_files
from osu_container.data.records import UTC

#: Environment variable with the results folder
RESULTS_VARIABLE = 'OSU_CONTAINER_RESULTS'
LATEST = 'latest'


class SelectError(Exception):
    """
    No results match the name that the user entered.

    The text of the error lists the available results.
    """


def resolve_results_folder() -> Path:
    """
    Return the folder that contains all runs.

    If the variable OSU_CONTAINER_RESULTS is set, the variable contains the path of the folder.
    Otherwise the folder is .workstation/results in a clone that `make demo` has set up. Without
    such a clone, the folder is osu-container/results in the user's data folder (XDG_DATA_HOME).
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


def _read_start_time(folder: Path) -> str:
    """
    Return the start time of a run in the format records.UTC.

    The result is '' if the first line of the run's results file is invalid.
    """
    try:
        return run_files.read_header(folder / run_files.RESULTS_FILE)['started']
    except run_files.ResultsError:
        return ''


def starts_in_future(folder: Path) -> bool:
    """Return whether the start time of a run is in the future, which shows a wrong clock."""
    return _read_start_time(folder) > time.strftime(UTC.format, time.gmtime())


def list_run_folders() -> list[Path]:
    """Return the folders of all runs in the results folder; the newest run is last."""
    try:
        folders = [
            path
            for path in resolve_results_folder().iterdir()
            if (path / run_files.RESULTS_FILE).is_file()
        ]
    except OSError:
        return []
    return sorted(folders, key=lambda path: (_read_start_time(path), path.name))


def register_run(folder: str | Path) -> None:
    """
    Create a link to a run in the results folder, so that users can select the run by name.

    If the link cannot be created, users can still select the run by path.
    """
    folder, results = Path(folder).resolve(), resolve_results_folder()
    if results.resolve() in folder.parents or not (results.is_absolute() or results.is_dir()):
        return
    try:
        results.mkdir(parents=True, exist_ok=True)
        (results / folder.name).symlink_to(folder)
    except OSError:
        return


def _restrict_dataset(dataset: model.Dataset, name: str | None, text: str) -> model.Dataset:
    """
    Return a dataset with only the curves whose names match `name`, a name or a pattern.

    If `name` is None, the dataset is returned unchanged. Raises SelectError if no curve matches.
    """
    if name is None:
        return dataset
    names = [entry for entry in dataset.names if fnmatch.fnmatchcase(entry, name)]
    if not names:
        failed = sorted(
            {f" ({entry.name}: {entry.reason})" for entry in dataset.failures if entry.name == name}
        )[:1]
        raise SelectError(
            f"{text} has no results of {name}{''.join(failed)}. Choose one of these "
            f"names: {', '.join(dataset.names) or 'none'}"
        )
    return dataset.filter_by_name(*names)


def _find_latest_run(name: str | None, text: str) -> model.Dataset:
    """
    Return the newest run that has results, with only the curves whose names match `name`.

    Skipped runs are listed in the problems of the dataset. Raises SelectError if no run has
    results.
    """
    problems = []
    for folder in reversed(list_run_folders()):
        if starts_in_future(folder):
            problems.append(
                f"skipped a run: {folder} has a start time in the future. To use this run, give the "
                "path of the folder"
            )
            continue
        try:
            chosen = _restrict_dataset(run_files.read_results(folder), name, text)
        except (run_files.ResultsError, SelectError) as err:
            problems.append(f"skipped a run: {err}")
            continue
        if chosen.series:
            chosen.problems += problems
            return chosen
        problems.append(f"skipped a run: {folder} has no results")
    raise SelectError(
        '\n  '.join(
            [
                f"{text}: the results folder {resolve_results_folder()} has no run with results. Measure "
                "first (osu-container bench --tag quick), or set another results folder in the "
                f"variable ${RESULTS_VARIABLE}",
                *problems,
            ]
        )
    )


def resolve_dataset(text: str) -> model.Dataset:
    """
    Return the dataset that a user names; the docstring of select.py describes the names.

    Raises SelectError if nothing matches, and ResultsError if a run is unreadable.
    """
    first, colon, series = text.rpartition(':')
    name = series if colon else None
    first = first if colon else text
    if not first or name == '':
        raise SelectError(
            f"{text!r}: expected RUN or RUN:NAME, where NAME is the name of a curve in the run"
        )
    if first == LATEST:
        return _find_latest_run(name, text)
    if first in references.read_descriptions():
        return _restrict_dataset(references.read_dataset(first), name, text)
    for path, path_name in ((text, None), (first, name)):  # a path may contain a colon
        if Path(path).exists():
            dataset = (
                run_files.read_results(path)
                if imported.looks_like_results(Path(path))
                else imported.read_output_dataset(path)
            )
            return _restrict_dataset(dataset, path_name, text)
    if (resolve_results_folder() / first / run_files.RESULTS_FILE).is_file():
        return _restrict_dataset(
            run_files.read_results(resolve_results_folder() / first), name, text
        )
    newest = [path.name for path in list_run_folders()[-5:]]
    raise SelectError(
        f"{text} is neither the name of a run nor the name of published results.\n"
        f"  The newest runs in {resolve_results_folder()}: {', '.join(newest) or 'none'}.\n"
        f"  Published: {', '.join(references.read_descriptions())}."
    )

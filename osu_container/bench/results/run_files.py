"""
Read and write results.jsonl, the file with the results of a run (docs/benchmarks.md).

Each line is one JSON object, which is written as a whole after its measurement. For this reason, an
interrupted run loses only the measurement in progress. The first line identifies the format and the
run.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from osu_container.base import shell
from osu_container.base.files import (
    FileTooLargeError,
    name_file_errors,
    open_plain_file,
    parse_json,
    read_lines,
)
from osu_container.bench.results import model
from osu_container.data.records import RECORDS, RESULTS, RESULTS_VERSION, read_record, redact_line

RESULTS_FILE = 'results.jsonl'
#: Kinds of lines, and statuses of a measurement
KINDS = ('run', 'module', 'measurement', 'end')
STATUS = RECORDS['measurement']['status']


class ResultsError(Exception):
    """
    A results file is unreadable or invalid.

    The text of the error names the file, the line and the remedy.
    """


def resolve_results_file(path: str | Path) -> Path:
    """
    Return the path of the results file of a run.

    path: folder of the run, or the results file itself. In a folder, the results file is
        results.jsonl.

    Raises ResultsError if the results file does not exist.
    """
    path = Path(path)
    if path.is_dir():
        if not (path / RESULTS_FILE).is_file():
            raise ResultsError(
                f"the folder {path} has no file {RESULTS_FILE}. Give the path of a folder that "
                "`osu-container bench` wrote"
            )
        return path / RESULTS_FILE
    if not path.exists():
        raise ResultsError(
            f"{path}: no such file or folder. Give the path of a folder that `osu-container "
            "bench` wrote"
        )
    return path


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """
    Return the pairs of a JSON object as a dict.

    Raises ValueError if the JSON object has a key twice.
    """
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r} in one object"
        )
    return result


def _iterate_entries(path: Path, problems: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """
    Yield (line number, entry) for each valid line of a results file.

    An entry is the JSON object of a line, as a dict.
    If the last line is incomplete because the run was killed, this line is skipped and reported in
    `problems`. Raises ResultsError for an invalid line. Only one line is kept in memory.
    """
    empty = True
    try:
        for number, row in read_lines(path, 'line of results'):
            if not row.strip():
                continue
            try:
                text = row.decode()
                entry = redact_line(
                    _read_line(parse_json(text, _reject_duplicate_keys), first=empty), text
                )
            except (json.JSONDecodeError, UnicodeDecodeError) as err:
                if not row.endswith(b'\n'):
                    problems.append(
                        f"{path}:{number}: the last line is skipped, because the run was killed "
                        "and the line is incomplete"
                    )
                    break
                raise ResultsError(
                    f"{path}:{number} is not a complete JSON object: {err}. If the file was "
                    "copied during the run, copy the file again"
                ) from err
            except ValueError as err:
                raise ResultsError(
                    f"{path}:{number} is invalid: {err}. Undo manual changes to this line, or use "
                    "the version of osu-container that wrote the file"
                ) from err
            yield number, entry
            empty = False
    except FileTooLargeError as err:
        raise ResultsError(
            f"{path} is not a results file: {err.strerror}. Give the path of a folder that "
            "`osu-container bench` wrote"
        ) from err
    except OSError as err:
        raise ResultsError(f"cannot read {path}: {err.strerror or err}") from err
    if empty:
        raise ResultsError(
            f"the results file {path} has no complete line, because the run was killed at its start. "
            "Measure again: osu-container bench"
        )


def read_entries(path: str | Path) -> tuple[list[tuple[int, dict[str, Any]]], list[str]]:
    """
    Return ([(line number, entry)], problems) of a results file.

    entry: the JSON object of a line, as a dict. problems: list of texts for the user. If the last
    line is incomplete because the run was killed, this line is skipped and reported in `problems`.
    Raises ResultsError for an invalid line.
    """
    problems: list[str] = []
    return list(_iterate_entries(resolve_results_file(path), problems)), problems


def read_header(path: Path) -> dict[str, Any]:
    """Return the first line of a results file. Raises ResultsError if the line is invalid."""
    return next(_iterate_entries(path, []))[1]


def has_ended(folder: Path) -> bool:
    """
    Return whether the run in a folder is complete.

    The results file of a complete run ends with a line of kind `end`.
    """
    try:
        with open_plain_file(folder / RESULTS_FILE) as handle:
            # The last line of a complete run is short.
            handle.seek(max(0, handle.seek(0, os.SEEK_END) - (1 << 14)))
            return b'"kind": "end"' in handle.read().rstrip().rpartition(b'\n')[2]
    except OSError:
        return False


def _read_line(entry: Any, *, first: bool) -> dict[str, Any]:
    """
    Return the dict from a line of a results file, with None for each missing optional key.

    Raises ValueError if the kind of the line does not allow the keys or values. The kind of the
    first line must be `run`, and no other line may be of kind `run`.
    """
    kind = 'run' if first else entry.get('kind') if isinstance(entry, dict) else None
    if kind not in KINDS[not first :]:
        raise ValueError(f"kind is {kind!r:.60}, expected one of {', '.join(KINDS[1:])}")
    return read_record(entry, RECORDS[kind])


def read_results(path: str | Path) -> model.Dataset:
    """
    Return the dataset of a run.

    Raises ResultsError if the results file is unreadable, contains impossible values, or has a
    format version that this function cannot read.

    path: folder of the run, or results file of the run
    """
    file = resolve_results_file(path)
    problems: list[str] = []
    entries = _iterate_entries(file, problems)
    dataset = assemble_dataset(file, next(entries)[1], entries, problems)
    if 'ended' not in dataset.facts:
        dataset.problems.append(
            f"the run in {file} is incomplete. To continue the run: osu-container bench --resume "
            f"{shell.quote_path(file.parent)}"
        )
    return dataset


def assemble_dataset(
    path: Path,
    header: dict[str, Any],
    entries: Iterable[tuple[int, dict[str, Any]]],
    problems: list[str],
) -> model.Dataset:
    """
    Return the dataset that the lines of a results file describe.

    Raises ResultsError if a line contains impossible values.

    :param header: the first line
    :param entries: (line number, dict) of each line after the first line
    :param problems: list of texts, to which this function adds texts; the dataset keeps this list
    """
    problems.extend(header.get('not_said') or [])
    dataset = model.Dataset(
        header['run'],
        'run',
        f"run {header['run']} on {header['site']}",
        header,
        problems=problems,
        path=path,
    )
    series: dict[tuple[model.Case, str], model.Series] = {}
    for number, entry in entries:
        if entry['kind'] == 'module':
            dataset.modules[entry['name']] = entry
        elif entry['kind'] == 'end':
            dataset.facts = dict(dataset.facts, ended=entry['ended'])
        elif entry['kind'] == 'measurement':
            try:
                problems += [
                    f"skipped a line with a malformed number: {line}"
                    for line in entry.get('broken') or []
                ]
                _add_measurement(dataset, series, entry)
            except ValueError as err:
                raise ResultsError(
                    f"{path}:{number} is invalid: {err}. Undo manual changes to this line"
                ) from err
    return dataset


def _add_measurement(
    dataset: model.Dataset,
    series: dict[tuple[model.Case, str], model.Series],
    entry: dict[str, Any],
) -> None:
    """
    Add a measurement to a dataset and to `series`, the index of the dataset's curves.

    Raises ValueError if the unit of the measurement is not the unit of the measured benchmark, or
    if the measurement contradicts an earlier measurement.
    """
    case, name, repeat = model.Case(**entry['case']), entry['approach'], entry['repeat']
    if entry['status'] != 'ok':
        dataset.failures.append(
            model.Failure(
                case,
                name,
                repeat,
                entry.get('reason') or 'no reason was recorded',
                entry.get('errors'),
                entry['status'] == 'skipped',
            )
        )
        return
    curve = series.get((case, name))
    if curve is None:
        curve = series[case, name] = model.Series(
            case,
            name,
            {},
            entry.get('programs'),
            {
                'module': entry['module'],
                'typed': entry.get('typed'),
                'release': entry.get('release'),
                'proofs': [],
            },
        )
        dataset.series.append(curve)
    elif (curve.programs, curve.facts['release']) != (entry.get('programs'), entry.get('release')):
        raise ValueError(
            f"the results of {name}, {case.title}, come from different programs or "
            f"releases, and cannot be compared: {curve.program_release}; "
            f"{entry.get('programs')} {entry.get('release')}"
        )
    if entry['unit'] != case.unit or not entry['values']:
        raise ValueError(
            f"the line has {len(entry['values'] or ())} values in the unit {entry['unit']!r:.60}, "
            f"expected one or more values in {case.unit}"
        )
    curve.facts['proofs'].append(entry.get('proof') or [])
    for size, value in entry['values'].items():
        values = curve.values.setdefault(int(size), {})
        if repeat in values:
            raise ValueError(f"{name} {case.title} has repeat {repeat} twice")
        values[repeat] = float(value)


def encode_entry(entry: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """
    Return `entry` without secrets, as a dict and as a line of a results file.

    Raises ValueError for NaN, because JSON has no NaN.
    """
    line = json.dumps(entry, allow_nan=False, sort_keys=True, ensure_ascii=False)
    redacted = redact_line(entry, line)
    if redacted is not entry:
        line = json.dumps(redacted, allow_nan=False, sort_keys=True, ensure_ascii=False)
    # An invalid UTF-8 byte of a file name becomes \\udc80, which is valid JSON.
    return redacted, f'{line}\n'.encode(errors='backslashreplace')


class Writer:
    """Appends lines to a results file. A line is on disk when the method add() returns."""

    def __init__(self, path: str | Path) -> None:
        """Prepare to append to the results file `path`; the first write creates a missing file."""
        self.path = Path(path)

    def write_header(self, **facts: Any) -> None:
        """Write the first line of a new results file. Raises ResultsError if the file exists."""
        entry = dict(kind='run', format=RESULTS, version=RESULTS_VERSION, **facts)
        try:
            self._write('xb', entry)
        except FileExistsError as err:
            raise ResultsError(
                f"the results file {self.path} exists and is never overwritten. Choose another "
                "folder with --output DIR, or continue the run: osu-container bench --resume "
                f"{shell.quote_path(self.path.parent)}"
            ) from err

    def add(self, kind: str, **facts: Any) -> None:
        """
        Append a line to the results file.

        kind: kind of the line, one of KINDS
        facts: keys and values of the line
        """
        self._write('ab', dict(kind=kind, **facts))

    def drop_incomplete_line(self) -> bool:
        """
        Remove the last line of the results file if the line is incomplete.

        The last line is incomplete if the run was killed while bench wrote the line. The result is
        True if the line was removed.
        """
        with open(self.path, 'rb+') as handle:
            data = handle.read()
            end = data.rfind(b'\n') + 1
            if end == len(data):
                return False
            handle.truncate(end)
        return True

    def _write(self, mode: str, entry: dict[str, Any]) -> None:
        """
        Write one line to the results file, completely or not at all.

        Raises OSError if the line cannot be written, FileExistsError if `mode` requires a new
        file, and ValueError for NaN.

        mode: mode of open()
        """
        _, data = encode_entry(entry)
        with name_file_errors(str(self.path)), open(self.path, mode, buffering=0) as handle:
            size = os.fstat(handle.fileno()).st_size
            try:
                while data:
                    data = data[handle.write(data) :]
                os.fsync(handle.fileno())
            except OSError:  # on a full disk, half a line would spoil the next one
                with contextlib.suppress(OSError):
                    handle.truncate(size)
                raise

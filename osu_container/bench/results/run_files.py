"""
results.jsonl: the file of a run, one JSON object a line. Layout: docs/benchmarks.md.

A line is written in one piece when its measurement has ended, so an interrupted run loses the one
that was running and no other. The first line says which format and which run it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path

from osu_container.base import shell
from osu_container.base.files import (
    FileTooLargeError,
    name_file_errors,
    open_plain_file,
    parse_json,
    read_lines,
)
from osu_container.base.terminal import redact_secrets
from osu_container.bench.results import model

#: Name and version of the layout
FORMAT, VERSION = 'osu-container results', 2
RESULTS_FILE = 'results.jsonl'
#: kind of a line -> keys that it must have
REQUIRED_KEYS = {
    'run': ('format', 'version', 'run', 'started', 'site'),
    'module': ('name', 'approach', 'container'),
    'measurement': ('module', 'approach', 'case', 'repeat', 'status'),
    'end': ('ended',),
}
#: Keys of LINES whose values are text
TEXT_KEYS = frozenset(['run', 'started', 'site', 'name', 'module', 'approach', 'ended'])
STATUS = ('ok', 'failed', 'skipped')


class ResultsError(Exception):
    """
    Results that cannot be read or do not say what they must; the text names the file, the line
    and what to do.
    """


def resolve_results_file(path):
    """
    Return the results file (Path) that path (str or Path) means: the file itself, or results.jsonl
    in a run's folder.

    Raises ResultsError if there is none.
    """
    path = Path(path)
    if path.is_dir():
        if not (path / RESULTS_FILE).is_file():
            raise ResultsError(
                f"{path} has no {RESULTS_FILE}: wanted the folder of a run, as `osu-container bench` leaves it"
            )
        return path / RESULTS_FILE
    if not path.exists():
        raise ResultsError(f"{path}: no such file or folder. Name the folder of a run")
    return path


def _reject_duplicate_keys(pairs):
    """
    Return the dict of a JSON object; refuse a key that stands twice, of which Python's reader
    keeps the last.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(
            f"{next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object"
        )
    return found


def _iterate_entries(path, problems):
    """
    Yield (line number, dict) of the lines of a results file (Path), checked by _check_line; none is
    kept in memory.

    The last line may be cut off where a run was killed: it is left out, and problems (list) gets a
    str that says so. Raises ResultsError.
    """
    empty = True
    try:
        for number, row in read_lines(path, 'line of results'):
            if not row.strip():
                continue
            try:
                entry = parse_json(row, _reject_duplicate_keys)
            except (json.JSONDecodeError, UnicodeDecodeError) as err:
                if not row.endswith(b'\n'):  # it was being written
                    problems.append(
                        f"{path}:{number}: the last line is cut off (the run was killed); left out"
                    )
                    break
                raise ResultsError(
                    f"{path}:{number} is no complete JSON: {err}. A line is one JSON object; if the "
                    "file was copied while it was written, copy it again"
                ) from err
            except ValueError as err:
                raise ResultsError(
                    f"{path}:{number}: {err}. Was the line changed by hand?"
                ) from err
            _check_line(path, number, entry, first=empty)
            empty = False
            yield number, entry
    except FileTooLargeError as err:
        raise ResultsError(
            f"{path}: {err.strerror}, and no results have so many. Is it another file?"
        ) from err
    except OSError as err:
        raise ResultsError(f"{path} cannot be read: {err.strerror or err}") from err
    if empty:
        raise ResultsError(
            f"{path} holds no complete line: the run was killed at its start. Measure again"
        )


def read_entries(path):
    """
    Return (entries, problems): the lines of a results file as [(line number, dict)], and what was
    read around.

    The last line may be cut off where a run was killed: it is left out, and problems (list of str)
    says so. Raises ResultsError.
    """
    problems = []
    return list(_iterate_entries(resolve_results_file(path), problems)), problems


def has_ended(folder):
    """Return whether the run in folder (Path) has its last line: all is there that was wanted."""
    try:
        with open_plain_file(folder / RESULTS_FILE) as handle:
            handle.seek(
                max(0, handle.seek(0, os.SEEK_END) - (1 << 14))
            )  # the last line of a run that ended is short
            return b'"kind": "end"' in handle.read().rstrip().rpartition(b'\n')[2]
    except OSError:
        return False


def _check_line(path, number, entry, *, first):
    """
    Raise ResultsError unless entry has the keys of its kind, and unless the first line alone is
    that of a run.
    """
    found = entry if isinstance(entry, dict) else {}
    kind = found.get('kind')
    if first and (kind, found.get('format'), found.get('version')) != ('run', FORMAT, VERSION):
        raise ResultsError(
            f"{path}:{number} is no results file: wanted kind run, format {FORMAT}, version {VERSION}, "
            f"found {kind!r}, {found.get('format')!r}, {found.get('version')!r}. Measure again, or read "
            "it with the osu-container that wrote it"
        )
    if not isinstance(kind, str) or kind not in REQUIRED_KEYS or first != (kind == 'run'):
        raise ResultsError(
            f"{path}:{number} is of kind {kind!r}, wanted one of {', '.join(REQUIRED_KEYS)}"
        )
    for key in REQUIRED_KEYS[kind]:
        if key not in entry or key in TEXT_KEYS and not isinstance(entry[key], str):
            raise ResultsError(
                f"{path}:{number}: a line of kind {kind} whose {key} is {entry.get(key)!r}"
            )


def _parse_case(found):
    """Return the Case of a line (found: its value). Raises TypeError, ValueError."""
    case = model.Case(**found)
    texts = (
        isinstance(case.benchmark, str)
        and isinstance(case.variant, str)
        and case.buffers in model.BUFFERS
    )
    if not texts or not all(
        count is None or _is_count(count) for count in (case.nodes, case.ranks)
    ):
        raise ValueError(f"case {found!r} cannot be")
    return case


def _is_count(value):
    """Return True if value is a whole number from 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 10**9


def _parse_values(entry, case):
    """
    Return {size: value} of a measurement that succeeded. Raises KeyError, TypeError,
    AttributeError, ValueError.
    """
    if entry['unit'] != case.unit or not entry['values']:
        raise ValueError(
            f"unit {entry['unit']!r} and {len(entry['values'])} values, wanted values in {case.unit}"
        )
    values = {}
    for size, value in entry['values'].items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if (
            not number
            or not model.LOWEST <= value <= model.HIGHEST
            or not re.fullmatch('0|[1-9][0-9]{0,17}', size)
        ):
            raise ValueError(
                f"{case.benchmark} is {value!r} {case.unit} at {size[:40]!r} bytes, wanted a number "
                "above 0"
            )
        values[int(size)] = float(value)
    return values


def read_results(path):
    """
    Return the Dataset of a run (path: str or Path of its folder or of the file).

    Raises ResultsError if it cannot be read, is of another version, or holds what cannot have been
    measured.
    """
    path, problems = resolve_results_file(path), []
    entries = _iterate_entries(path, problems)
    dataset = assemble_dataset(path, next(entries)[1], entries, problems)
    if 'ended' not in dataset.facts:
        dataset.problems.append(
            f"{path}: the run has not ended; to go on: osu-container bench --resume "
            f"{shell.quote_path(path.parent)}"
        )
    return dataset


def assemble_dataset(path, header, entries, problems):
    """
    Return the Dataset of the lines of a run.

    :param path: Path or str, the file, for messages; header: dict, its first line
    :param entries: of (line number, dict), all other lines; problems: list of str, kept and added
        to
    Raises ResultsError for what cannot have been measured.
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
    series = {}
    for number, entry in entries:
        if entry['kind'] == 'module':
            dataset.modules[entry['name']] = entry
        elif entry['kind'] == 'end':
            dataset.facts = dict(dataset.facts, ended=entry['ended'])
        elif entry['kind'] == 'measurement':
            try:
                problems += [
                    f"not read, as its number is not plain: {line}"
                    for line in entry.get('broken') or []
                ]
                _add_measurement(dataset, series, entry)
            except (KeyError, TypeError, AttributeError, ValueError) as err:
                raise ResultsError(
                    f"{path}:{number}: {err}. Was the line changed by hand?"
                ) from err
    return dataset


def _add_measurement(dataset, series, entry):
    """
    Add a measurement (dict) to a Dataset.

    :param series: {(case, name): Series}, those of dataset
    Raises KeyError, TypeError, AttributeError or ValueError for what cannot have been measured.
    """
    case, name, repeat = _parse_case(entry['case']), entry['approach'], entry['repeat']
    if entry['status'] not in STATUS or not _is_count(repeat):
        raise ValueError(
            f"status {entry['status']!r} and repeat {repeat!r}, wanted one of {', '.join(STATUS)} and a "
            "whole number from 1"
        )
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
    one = series.get((case, name))
    if one is None:
        one = series[case, name] = model.Series(
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
        dataset.series.append(one)
    elif (one.programs, one.facts['release']) != (entry.get('programs'), entry.get('release')):
        raise ValueError(
            f"{name} {case.title} was run with {one.program_release} and with {entry.get('programs')} "
            f"{entry.get('release')}, which do not compare"
        )
    one.facts['proofs'].append(entry.get('proof') or [])
    for size, value in _parse_values(entry, case).items():
        if repeat in one.values.setdefault(size, {}):
            raise ValueError(f"{name} {case.title} has repeat {repeat} twice")
        one.values[size][repeat] = value


class Writer:
    """Appends lines to a results file; each is on the disk when add() returns."""

    def __init__(self, path):
        """:param path: Path, the file; it is made if it is missing"""
        self.path = Path(path)

    def write_header(self, **facts):
        """Write the first line of a new run. Raises ResultsError if the file is there already."""
        entry = dict(kind='run', format=FORMAT, version=VERSION, **facts)
        try:
            self._write('xb', entry)
        except FileExistsError as err:
            raise ResultsError(
                f"{self.path} is there already: a run is never written over. Go on with it by "
                f"`osu-container bench --resume {shell.quote_path(self.path.parent)}`, or name another "
                "folder"
            ) from err

    def add(self, kind, **facts):
        """Append a line of this kind (str, see LINES)."""
        self._write('ab', dict(kind=kind, **facts))

    def drop_incomplete_line(self):
        """Cut off a last line that a killed run left incomplete; return True if there was one."""
        with open(self.path, 'rb+') as handle:
            data = handle.read()
            end = data.rfind(b'\n') + 1
            if end == len(data):
                return False
            handle.truncate(end)
        return True

    def _write(self, mode, entry):
        """
        Write one line in one piece, or nothing of it; mode: str, of open().

        Raises OSError, FileExistsError; ValueError for NaN, which JSON has not.
        """
        line = (
            json.dumps(redact_secrets(entry), allow_nan=False, sort_keys=True, ensure_ascii=False)
            + '\n'
        )
        data = line.encode(
            errors='backslashreplace'
        )  # of a byte that is no UTF-8: \\udc80, which is JSON
        with name_file_errors(str(self.path)), open(self.path, mode, buffering=0) as handle:
            size = os.fstat(handle.fileno()).st_size
            try:
                while data:
                    data = data[handle.write(data) :]
                os.fsync(handle.fileno())
            except OSError:  # the disk is full: half a line would spoil the one that comes next
                with contextlib.suppress(OSError):
                    handle.truncate(size)
                raise

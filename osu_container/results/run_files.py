"""
results.jsonl: the file of a run, one JSON object a line. Layout: docs/benchmarks.md.

A line is written in one piece when its measurement has ended, so an interrupted run loses the one that was running and
no other. The first line says which format and which run it is.
"""
from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from osu_container.core import shell
from osu_container.core.reading.files import TooLarge, lines_of, naming, open_plain, parse_json
from osu_container.core.terminal import discreet

from . import model

#: Name and version of the layout
FORMAT, VERSION = 'osu-container results', 2
NAME = 'results.jsonl'
#: kind of a line -> keys that it must have
LINES = {
    'run': ('format', 'version', 'run', 'started', 'site'),
    'module': ('name', 'approach', 'container'),
    'measurement': ('module', 'approach', 'case', 'repeat', 'status'),
    'end': ('ended',),
}
#: Keys of LINES whose values are text
TEXT = frozenset(['run', 'started', 'site', 'name', 'module', 'approach', 'ended'])
STATUS = ('ok', 'failed', 'skipped')
#: No message is larger: 2 ** 63 bytes
LARGEST = 1 << 63


class ResultsError(Exception):
    """Results that cannot be read or do not say what they must; the text names the file, the line and what to do."""


def find(path):
    """
    Return the results file (Path) that path (str or Path) means: the file itself, or results.jsonl in a run's folder.

    Raises ResultsError if there is none.
    """
    path = Path(path)
    if path.is_dir():
        if not (path / NAME).is_file():
            raise ResultsError(f"{path} has no {NAME}: wanted the folder of a run, as `osu-container bench` leaves it")
        return path / NAME
    if not path.exists():
        raise ResultsError(f"{path}: no such file or folder. Name the folder of a run")
    return path


def _no_doubles(pairs):
    """Return the dict of a JSON object; refuse a key that stands twice, of which Python's reader keeps the last."""
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return found


def _entries(path, problems):
    """
    Yield (line number, dict) of the lines of a results file (Path), checked by _check_line; none is kept in memory.

    The last line may be cut off where a run was killed: it is left out, and problems (list) gets a str that says so.
    Raises ResultsError.
    """
    empty = True
    try:
        for number, row in lines_of(path, 'line of results'):
            if not row.strip():
                continue
            try:
                entry = parse_json(row, _no_doubles)
            except (json.JSONDecodeError, UnicodeDecodeError) as err:
                if not row.endswith(b'\n'):  # it was being written
                    problems.append(f"{path}:{number}: the last line is cut off (the run was killed); left out")
                    break
                raise ResultsError(f"{path}:{number} is no complete JSON: {err}. A line is one JSON object; if the "
                                   "file was copied while it was written, copy it again") from err
            except ValueError as err:
                raise ResultsError(f"{path}:{number}: {err}. Was the line changed by hand?") from err
            entry = discreet(entry)  # of a release that kept them
            _check_line(path, number, entry, first=empty)
            empty = False
            yield number, entry
    except TooLarge as err:
        raise ResultsError(f"{path}: {err.strerror}, and no results have so many. Is it another file?") from err
    except OSError as err:
        raise ResultsError(f"{path} cannot be read: {err.strerror or err}") from err
    if empty and problems:
        raise ResultsError(f"{path} holds no complete line: the run was killed at its start. Measure again")
    if empty:
        raise ResultsError(f"{path} is empty: the run ended before its first line was written. Measure again")


def lines(path):
    """
    Return (entries, problems): the lines of a results file as [(line number, dict)], and what was read around.

    The last line may be cut off where a run was killed: it is left out, and problems (list of str) says so.
    Raises ResultsError.
    """
    problems = []
    return list(_entries(find(path), problems)), problems


def has_ended(folder):
    """Return whether the run in folder (Path) has its last line: all is there that was wanted."""
    try:
        with open_plain(folder / NAME) as handle:
            handle.seek(max(0, handle.seek(0, os.SEEK_END) - (1 << 14)))  # the last line of a run that ended is short
            last = parse_json(handle.read().rstrip(b'\n').rpartition(b'\n')[2], _no_doubles)
    except (OSError, ValueError):
        return False
    return isinstance(last, dict) and last.get('kind') == 'end'


def _check_line(path, number, entry, *, first):
    """Raise ResultsError unless entry has the keys of its kind, and unless the first line is that of a run."""
    kind = entry.get('kind') if isinstance(entry, dict) else None
    if first:
        if kind != 'run' or entry.get('format') != FORMAT:
            raise ResultsError(f"{path}:{number} is no results file: the first line must say "
                               f'"kind": "run", "format": "{FORMAT}"')
        if entry.get('version') != VERSION:
            raise ResultsError(f"{path} has version {entry.get('version')} of its format, wanted {VERSION}: measure "
                               "again, or read it with the osu-container that wrote it")
    if not isinstance(kind, str) or kind not in LINES:
        raise ResultsError(f"{path}:{number} is of kind {kind!r}, wanted one of {', '.join(LINES)}")
    missing = [key for key in LINES[kind] if key not in entry]
    if missing:
        raise ResultsError(f"{path}:{number}: a line of kind {kind} without {', '.join(missing)}")
    for key in TEXT.intersection(LINES[kind]):
        if not isinstance(entry[key], str):
            raise ResultsError(f"{path}:{number}: {key} is {entry[key]!r}, wanted text")
    if kind == 'run' and not first:
        raise ResultsError(f"{path}:{number}: a second run begins here; one file holds one run")


def _case(where, entry):
    """Return the Case of a line; where: 'file:line'. Raises ResultsError."""
    found = entry['case']
    known = {'benchmark', 'buffers', 'nodes', 'ranks', 'variant'}
    if not isinstance(found, dict) or 'benchmark' not in found or set(found) - known or not all(
            isinstance(found.get(key, ''), str) for key in ('benchmark', 'buffers', 'variant')):
        raise ResultsError(f"{where}: case must be an object with {', '.join(sorted(known))}; found {found!r}")
    case = model.Case(**found)
    if case.buffers not in model.BUFFERS:
        raise ResultsError(f"{where}: buffers {case.buffers!r}, wanted one of {', '.join(map(repr, model.BUFFERS))}")
    for key in ('nodes', 'ranks'):
        value = getattr(case, key)
        if value is not None and not _counts(value):
            raise ResultsError(f"{where}: {key} is {value!r}, wanted a whole number from 1")
    return case


def _counts(value):
    """Return True if value is a whole number from 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= LARGEST


def _values(where, entry, case):
    """Return {size: value} of a measurement that succeeded. Raises ResultsError."""
    if entry.get('unit') != case.unit:
        raise ResultsError(f"{where}: unit {entry.get('unit')!r}, but {case.benchmark} is in {case.unit}: units are "
                           "never mixed. Was the line changed by hand?")
    found = entry.get('values')
    if not isinstance(found, dict) or not found:
        raise ResultsError(f"{where}: status is ok, but there are no values")
    values = {}
    for size, value in found.items():
        if not (size.isascii() and size.isdigit()) or len(size) > 19 or int(size) > LARGEST:
            raise ResultsError(f"{where}: {size[:40]!r} is no message size in bytes")
        if int(size) in values:
            raise ResultsError(f"{where}: message size {int(size)} stands twice")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not model.LOWEST <= value <= model.HIGHEST:
            raise ResultsError(f"{where}: {case.benchmark} is {value!r} {case.unit} at {size} bytes, wanted a number "
                               f"above 0, from {model.LOWEST:g} to {model.HIGHEST:g}")
        values[int(size)] = float(value)
    return values


def read(path):
    """
    Return the Dataset of a run (path: str or Path of its folder or of the file).

    Raises ResultsError if it cannot be read, is of another version, or holds what cannot have been measured.
    """
    path, problems = find(path), []
    entries = _entries(path, problems)
    dataset = assemble(path, next(entries)[1], entries, problems)
    if 'ended' not in dataset.facts:
        dataset.problems.append(f"{path}: the run has not ended; to go on: osu-container bench --resume "
                                f"{shell.path(path.parent)}")
    return dataset


def assemble(path, header, entries, problems):
    """
    Return the Dataset of the lines of a run.

    :param path: Path or str, the file, for messages; header: dict, its first line
    :param entries: of (line number, dict), all other lines; problems: list of str, kept and added to
    Raises ResultsError for what cannot have been measured.
    """
    problems.extend(header.get('not_said') or [])
    dataset = model.Dataset(header['run'], 'run', f"run {header['run']} on {header['site']}", header,
                            problems=problems, path=path)
    series, seen = {}, {}
    for number, entry in entries:
        where = f'{path}:{number}'
        if entry['kind'] == 'module':
            dataset.modules[entry['name']] = entry
        elif entry['kind'] == 'end':
            dataset.facts = dict(dataset.facts, ended=entry['ended'])
        elif entry['kind'] == 'measurement':
            case, repeat = _case(where, entry), entry['repeat']
            problems += [f"not read, as its number is not plain: {line}" for line in entry.get('broken') or []]
            if entry['status'] not in STATUS:
                raise ResultsError(f"{where}: status {entry['status']!r}, wanted one of {', '.join(STATUS)}")
            if not _counts(repeat):
                raise ResultsError(f"{where}: repeat is {repeat!r}, wanted a whole number from 1")
            if entry['status'] != 'ok':
                dataset.failures.append(model.Failure(case, entry['approach'], repeat,
                                                      entry.get('reason') or 'no reason was recorded',
                                                      entry.get('errors'), entry['status'] == 'skipped'))
                continue
            key = (case, entry['approach'])
            if seen.setdefault((key, repeat), number) != number:
                raise ResultsError(f"{where}: {entry['approach']} {case.title}, repeat {repeat} stands already in line "
                                   f"{seen[key, repeat]}: each repeat is measured once")
            one = series.get(key)
            if one is None:
                one = series[key] = model.Series(case, entry['approach'], {}, entry.get('programs'),
                                                 {'module': entry['module'], 'typed': entry.get('typed'),
                                                  'release': entry.get('release'), 'proofs': []})
                dataset.series.append(one)
            elif (one.programs, one.facts['release']) != (entry.get('programs'), entry.get('release')):
                other = ' '.join(filter(None, (entry.get('programs'), entry.get('release'))))
                raise ResultsError(f"{where}: {entry['approach']} {case.title} was run with {one.ran} and with "
                                   f"{other}, which do not compare")
            one.facts['proofs'].append(entry.get('proof') or [])
            for size, value in _values(where, entry, case).items():
                one.values.setdefault(size, {})[repeat] = value
    return dataset


class Writer:
    """Appends lines to a results file; each is on the disk when add() returns."""

    def __init__(self, path):
        """:param path: Path, the file; it is made if it is missing"""
        self.path = Path(path)

    def begin(self, **facts):
        """Write the first line of a new run. Raises ResultsError if the file is there already."""
        entry = dict(kind='run', format=FORMAT, version=VERSION, **facts)
        try:
            self._write('xb', entry)
        except FileExistsError as err:
            raise ResultsError(f"{self.path} is there already: a run is never written over. Go on with it by "
                               f"`osu-container bench --resume {shell.path(self.path.parent)}`, or name another "
                               "folder") from err

    def add(self, kind, **facts):
        """Append a line of this kind (str, see LINES)."""
        self._write('ab', dict(kind=kind, **facts))

    def mend(self):
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
        line = json.dumps(discreet(entry), allow_nan=False, sort_keys=True, ensure_ascii=False) + '\n'
        data = line.encode(errors='backslashreplace')  # of a byte that is no UTF-8: \\udc80, which is JSON
        with naming(str(self.path)), open(self.path, mode, buffering=0) as handle:
            size = os.fstat(handle.fileno()).st_size
            try:
                while data:
                    data = data[handle.write(data):]
                os.fsync(handle.fileno())
            except OSError:  # the disk is full: half a line would spoil the one that comes next
                with contextlib.suppress(OSError):
                    handle.truncate(size)
                raise

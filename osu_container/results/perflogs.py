"""
Performance logs of ReFrame, as its default settings and the EESSI test suite write them: one figure a line.

The first line names the columns, separated by '|'; for a figure `latency` they are latency_value, latency_unit and
more. Which program ran is in the name of the test or in a column, and so is the message size that was measured.
"""
from __future__ import annotations

import re

from . import model

_PROGRAM = re.compile(r'\b(osu_\w+)\b')
#: Columns in which the name of the program can stand, in the order in which they are asked
_NAMES = ('benchmark_info', 'executable', 'display_name', 'name', 'descr', 'info')
_SIZES = ('message_size', 'msg_size', 'perf_msg_size', 'size')
_UNITS = {'us': 'us', 'usec': 'us', 'µs': 'us', 'MB/s': 'MB/s', 'ms': 'ms'}


class LogFailure(Exception):
    """A log without figures that can be taken; the text names the file, the line, and why."""


def is_one(first):
    """Return True if a line (str) is the first one of a performance log: names of columns, one of them a figure's."""
    names = first.split('|')
    return len(names) > 3 and any(name.endswith('_value') and f'{name[:-6]}_unit' in names for name in names)


def read(path, lines):
    """
    Return (rows, notes) of a log: keywords of results.outputs.Table (list of dict), and what was left out (of str).

    :param lines: list of str, of the file path
    Raises LogFailure if there is no figure that can be taken.
    """
    rows, notes, head = [], [], None
    for number, line in enumerate(lines, 1):
        cells = line.split('|')
        if is_one(line):
            head = cells  # a log has a new head where the columns have changed
        elif line:
            where = f'{path}:{number}'
            if len(cells) != len(head):
                notes.append(f"{where}: {len(cells)} columns, wanted {len(head)}; left out")
                continue
            entry = dict(zip(head, cells))
            row = _row(where, entry)
            (notes if isinstance(row, str) else rows).append(row)
    if not rows:
        raise LogFailure(notes[0] if notes else f"{path}: a performance log with names of columns and no line below")
    return rows, notes


def _row(where, entry):
    """Return the keywords of a Table of a line (dict), or why it cannot be taken (str)."""
    if entry.get('result', 'pass') not in ('pass', ''):
        return f"{where}: the test did not pass ({entry['result']}); left out"
    found = next((match for name in _NAMES for match in _PROGRAM.findall(entry.get(name, ''))), None)
    if found is None:
        return f"{where}: no name of an OSU program in {', '.join(name for name in _NAMES if name in entry)}; left out"
    size = next((entry[name] for name in _SIZES if entry.get(name, '').isdigit()), None)
    if size is None:
        size = next(iter(re.findall(r'%message_size=(\d{1,18})\b', entry.get('display_name', ''))), None)
    if found in model.WITHOUT_SIZES:
        size = '0'
    if size is None or len(size) > 18:
        return f"{where}: no message size of {found}, wanted a column {' or '.join(_SIZES)}; left out"
    names = [name[:-6] for name in entry if name.endswith('_value') and f'{name[:-6]}_unit' in entry]
    values = {name: entry[f'{name}_value'] for name in names if entry[f'{name}_value'] not in ('', 'None', 'null')}
    if len(values) != 1:
        return f"{where}: {len(values)} figures ({', '.join(values)}), wanted one; left out"
    (name, text), = values.items()
    unit = entry[f'{name}_unit']
    if _UNITS.get(unit) != model.unit_of(found):
        return f"{where}: {found} in {unit!r}, wanted {model.unit_of(found)}; left out"
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not model.LOWEST <= value <= model.HIGHEST:
        return f"{where}: {found} is {text[:40]!r}, wanted a number above 0; left out"
    return {'where': where, 'benchmark': found, 'values': {int(size): value}, **_placement(entry, found)}


def _placement(entry, benchmark):
    """Return what a line (dict) says of nodes, ranks and buffers."""
    def number(*names):
        return next((int(entry[name]) for name in names if re.fullmatch(r'[1-9]\d{0,6}', entry.get(name, ''))), None)

    ranks, each = number('num_tasks', 'job_num_tasks'), number('num_tasks_per_node')
    nodes = ranks // each if ranks and each and ranks % each == 0 else None
    device = entry.get('device_buffers')
    buffers = None
    if benchmark in model.WITHOUT_SIZES:
        buffers = ''
    elif device == 'cpu':
        buffers = 'H H'
    elif device in ('cuda', 'rocm', 'openacc'):
        buffers = 'D D'
    return {'nodes': nodes, 'ranks': ranks, 'buffers': buffers, 'programs': None}

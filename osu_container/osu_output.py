"""
Reading what the OSU programs print: those in C and in Python, and mpi4py's ports of them.

Both print comment lines that begin with '#', then one line a message size: the size in bytes and one or more numbers.
What a number means follows from the name of the benchmark and not from the column's title: mpi4py's ports head the
column of osu_bw with 'Latency [us]', though its numbers are MB/s (as did modules of 2026-11).

A program that was built without support for GPUs ignores `D D`, measures host memory and ends with exit code 0. What it
does say is where its buffers are, so numbers of device or managed memory are taken only where it has said so.

srun and libraries write between the lines, and now and then into one; people write notes, units and stars behind their
rows. A number is taken where it is plain: whole, with as many decimals as the others, in a unit that is known. A row
whose number is not is broken, and said with its line; a line that is none of the program's is foreign.
"""
from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from .results.model import HIGHEST, LOWEST, WITHOUT_SIZES, unit_of

ALONE = 'two tables in one output. Did every rank run alone (wrong --mpi= for srun)?'

# No more digits than are printed: Python needs a time for them that grows with the square of their number
_NUMBER = r'\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?'
#: A number, with commas of thousands where decimals show that they are; a mark or a unit may follow at once
_CELL = re.compile(rf'(\d{{1,3}}(?:,\d{{3}})+(?:\.\d{{1,18}})?|{_NUMBER})'
                   r'([*!?†‡]*|\([*\w]\)|\[\w\])([a-zµμ]+(?:/s\w*)?)?', re.I)
#: What a unit is in MB/s, in microseconds
UNITS = {'MB/s': 1, 'Mbytes/sec': 1, 'GB/s': 1e3, 'KB/s': 1e-3, 'kB/s': 1e-3, 'MiB/s': 1.048576, 'GiB/s': 1073.741824}
TIMES = {'us': 1, 'usec': 1, 'µs': 1, 'μs': 1, 'ns': 1e-3, 'ms': 1e3, 'msec': 1e3, 's': 1e6, 'sec': 1e6}
_UNIT = re.compile(r'\W*((?:[kmgt]?i?(?:b|bits?|bytes?)(?:/s(?:ec)?|ps))|[nmuµμ]?s(?:ec)?)[\W]*', re.I)
_INIT = re.compile(rf'\s*nprocs:\s*\d+.*\bavg:\s*({_NUMBER})\s*ms\s*', re.I)
#: What stands behind the size in the heading of a table
_HEADING = re.compile(r'# *(?:Message +)?Size\b *(?:[(\[]\w+[)\]])?(.*)', re.I)
#: A row that cannot be read: it begins or ends as rows do. A number alone may be anybody's, unless it is in a table
_BROKEN = re.compile(r'\W*\d[\d,.]*[kmg]?(?:i?b)?[\s|;:=,]+\W*(?:\d[\d.,\'e+]*(?:[^\d:-]|$)|nan\b|inf|n/?a\b)'
                     r'|\W*\d+\s+\W+$|.*\S\s*\d+\s+\d+\.\d+\s*$', re.I)
_ALONE = re.compile(r'\W*\d[\d.,]*\W*')
_PORT = re.compile(r'#.*mpi4py (\S+) port', re.I)
#: What OSU's programs print first: in C, with '-CUDA' or the like where buffers are in GPU memory; in Python
_IN_C = re.compile(r'# OSU \w+(?:-(CUDA|ROCM|OPENACC|SYCL|MANAGED)\b)?.*? v(\d[\w.+-]*)\s*$')
_IN_PYTHON = re.compile(r'# OMB(?:-Py| Python) ', re.I)
#: 'Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)'; one-sided: 'Rank 0 Memory on ...'; managed memory has
#: letters behind its M that say where it lies (print_header of c/util in OSU 7.4). 7.5 prints its first line alone
#: (logs of osu_bw D D on Alps, public notes of several users), and so do collectives of all releases
_SIDES = re.compile(r'# .*\bon [A-Z]+ \(([DHM])\w*\) and .*\bon [A-Z]+ \(([DHM])\w*\)')
#: What the Python programs say of their arrays (container-recipes/mpi4py/osu-python)
_ARRAYS = re.compile(r'#.*\bbuffers: (numpy|cupy)\b')
_OF_ARRAYS = {'numpy': 'H H', 'cupy': 'D D'}
_DEBUG_PROVIDER = re.compile(r'libfabric provider: (\S+)')


class OutputError(Exception):
    """Output that is not a complete table; the text names the file and what is wrong."""


@dataclass
class OsuOutput:
    """
    One table: values in unit ('MB/s', 'us' or 'ms') by message size in bytes, and everything that was around it.

    A benchmark without message sizes has its number at size 0. zeros: sizes for which 0.00 was printed, which is below
    what the program can print and no value to compare. release: of the C programs, as their first line has it.
    checked: whether the program compared what arrived with what was sent (-c), at every size.
    """

    benchmark: str
    unit: str
    values: dict[int, float]
    port: str | None
    comments: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)
    release: str | None = None
    python: bool = False
    checked: bool = False

    @property
    def programs(self) -> str:
        """Return which programs ran: 'OSU C programs', 'OSU Python programs' or 'mpi4py 4.1.2 ports'."""
        if self.port:
            return f"mpi4py {self.port} ports"
        return "OSU Python programs" if self.python else "OSU C programs"

    @property
    def buffers(self):
        """Return where the program says that its buffers are ('D D', 'H D', ...); None where it does not."""
        for line in self.comments:
            sides, arrays = _SIDES.match(line), _ARRAYS.match(line)
            if sides or arrays:
                return ' '.join(sides.groups()) if sides else _OF_ARRAYS[arrays.group(1)]
        return None

    @property
    def accelerator(self):
        """Return what its first line says that some of its buffers are memory of ('CUDA', 'ROCM', ...), else None."""
        titles = filter(None, map(_IN_C.match, self.comments))
        return next((title.group(1) for title in titles if title.group(1)), None)


def parse(text, *, benchmark, source, largest=None, buffers='', check=False, first=None):
    """
    Return the OsuOutput in text.

    :param text: str, what the program printed
    :param benchmark: str, name of the program, e.g. 'osu_bw'
    :param source: str or Path, where the text came from, for messages
    :param largest: int, size in bytes at which the table must end (-m), None: the size is not checked
    :param buffers: str, where they were asked to be, 'D D'; the program must say so unless all are in host memory
    :param check: bool, the program was asked to check what arrived (-c), and must say that it did
    :param first: int, number of the first line in source, which messages name then
    Raises OutputError if there is no table, if it stops before largest, if its sizes are not ascending, if its buffers
    are not where they should be, or if data arrived that was not sent.
    """
    output, marks = OsuOutput(benchmark, unit_of(benchmark), {}, None), []
    title = source if first is None else f'{source}:{first}'
    lines = text.splitlines()
    rows = [number for number, line in enumerate(lines, first or 1) if is_row(line)]
    usual = usual_decimals([figures(line)[0] for line in lines if is_row(line)]), _factor(lines, output.unit, title)
    for number, line in enumerate(lines, first or 1):
        where = source if first is None else f'{source}:{number}'
        if line.startswith('#'):
            output.comments.append(line)
            port, in_c = _PORT.match(line), _IN_C.match(line)
            output.port = port.group(1) if port else output.port
            output.release = in_c.group(2) if in_c else output.release
            output.python = output.python or bool(_IN_PYTHON.match(line))
        elif not _take_number(output, line, where, marks, usual) and line.strip():
            broken = is_row(line) or benchmark not in WITHOUT_SIZES and (
                _BROKEN.match(line[:500]) or rows and rows[0] < number < rows[-1] and _ALONE.fullmatch(line[:500]))
            (output.broken if broken else output.foreign).append(f'{source}:{number}: {line}' if broken else line)
    _check_data(output, marks, title, check)
    titles = [line for line in output.comments if re.match(r'# .*\bTest\b', line)]
    if len(titles) > 1:
        raise OutputError(f"{title}: {len(titles)} headers of a table: {ALONE}")
    if not output.values:
        strange = output.broken + output.foreign
        hint = f"; it says: {strange[-1].strip()[:200]}" if strange else ''
        raise OutputError(f"{title}: no number from {benchmark} in {len(text.splitlines())} line(s){hint}")
    last = max([*output.values, *output.zeros])
    if largest is not None and benchmark not in WITHOUT_SIZES and last != largest:
        raise OutputError(f"{source}: the table of {benchmark} ends at {last} bytes, wanted {largest}: "
                          "the run was cut off")
    _check_buffers(output, source, buffers)
    return output


def _factor(lines, unit, title):
    """
    Return what the unit in the heading of a table (lines: list of str) is in unit (str); 1 where it names none of the
    kind: mpi4py's ports write one of time above bandwidths. title: str, for messages. Raises OutputError.
    """
    heading = next(filter(None, map(_HEADING.match, lines)), None)
    words = re.findall(r'[^\s()\[\]]+', heading.group(1)) if heading else []
    named = next((word for word in words if _UNIT.fullmatch(word) and ('/' in word or word.endswith('ps')) == (
        unit == 'MB/s')), None)
    factor = factor_of([named] if named else [], unit)
    if factor is None:
        raise OutputError(f"{title}: its heading says {named}, wanted one of "
                          f"{', '.join(UNITS if unit == 'MB/s' else TIMES)}. Correct it, or convert the figures")
    return factor


def _check_data(output, marks, source, check):
    """
    Set output.checked. Raises OutputError if data arrived wrong, or if that was to be checked and was not.

    :param marks: list of (size in bytes, 'pass', 'fail' or None), one for each row; check: as for parse()
    """
    wrong = [size for size, mark in marks if mark == 'fail']
    if wrong:
        raise OutputError(f"{source}: {output.benchmark} received data that was not sent, at {wrong[0]} bytes (its "
                          "column Validation says Fail): no figure of this MPI and network can be trusted. See whether "
                          "host memory (H H) and one node pass, and report it to the site's support")
    output.checked = bool(marks) and all(mark for _, mark in marks)
    if check and marks and not output.checked:
        raise OutputError(f"{source}: {output.benchmark} was asked to check the data that arrives (-c), and its table "
                          "does not say Pass: its programs cannot check. Measure without --validate")


def _check_buffers(output, source, buffers):
    """Raise OutputError unless the program says that its buffers are where they were asked to be (str, 'D D')."""
    if not set(buffers) & {'D', 'M'} or output.buffers == buffers:
        return
    # a program that has an accelerator on has taken the letters behind it as they are
    if output.buffers is None and output.accelerator and (output.accelerator != 'MANAGED' or 'M' in buffers):
        return
    found = f"says that they are {output.buffers or 'in managed memory'}" if output.buffers or output.accelerator else (
        "does not say so, as programs do that can use GPUs ('# OSU MPI-ROCM ...', '# Send Buffer on DEVICE (D) ...')")
    raise OutputError(f"{source}: buffers {buffers} were asked for, and {output.benchmark} {found}: its numbers are "
                      "those of host memory. Use an image, or a native build, whose benchmarks are built with ROCm or "
                      "CUDA")


def figures(line):
    """Return (numbers (list of str) that a line (str) begins with, the words behind them (list of str))."""
    words, numbers = line.lstrip(' \t*>+|').replace('|', ' ').split(), []
    for place, word in enumerate(words):
        cell = _CELL.fullmatch(word)
        if not cell:
            return numbers, words[place:]
        numbers.append(cell.group(1).replace(',', ''))
        if cell.group(3):
            return numbers, [cell.group(3), *words[place + 1:]]
    return numbers, []


def _decimals(number):
    """Return how many decimals a number (str) has; programs print equally many in each row."""
    return len(number.partition('.')[2])


def usual_decimals(rows, column=1):
    """Return how many decimals most of the rows (of list of str, numbers) have in a column."""
    found = Counter(_decimals(row[column]) for row in rows if len(row) > column)
    return max(found, key=lambda count: (found[count], count), default=0)


def is_row(line):
    """Return True if a line (str) begins with a size and a number."""
    numbers = figures(line)[0]
    return len(numbers) > 1 and numbers[0].isdigit()


def factor_of(words, unit):
    """Return what the unit in words (list of str, behind a number) is in unit (str); 1 of none, None of another."""
    found = _UNIT.fullmatch(words[0]) if words else None
    if not found:
        return 1
    known = UNITS if unit == 'MB/s' else TIMES
    factor = known.get(found.group(1))
    return None if factor is None else factor / known[unit]


def _number_of(output, line, usual):
    """
    Return (size, number, whether a note stands behind) of a line (str) of an OsuOutput; None of what is no row.

    :param usual: (decimals of most rows, what their unit is in that of the output)
    """
    alone = output.benchmark in WITHOUT_SIZES
    numbers, rest = figures(line)
    if alone and output.unit == 'ms':
        row = _INIT.fullmatch(line)
        return (0, float(row.group(1)), False) if row else None
    if alone and len(numbers) == 1 and (not rest or _UNIT.fullmatch(rest[0]) or not re.search(r'\w', rest[0])):
        numbers.insert(0, '0')
    if len(numbers) < 2 or not numbers[0].isdigit() or len(numbers[0]) > 18 or alone and numbers[0] != '0':
        return None
    own, note = bool(rest and _UNIT.fullmatch(rest[0])), bool(rest) and rest[0].lower() not in ('pass', 'fail')
    factor = factor_of(rest, output.unit) if own else usual[1]
    whole = _decimals(numbers[1]) == usual[0] or own  # a unit ends a number
    lost = not whole if note or ',' in line else usual[0] and not _decimals(numbers[1])
    return None if factor is None or lost else (int(numbers[0]), round(float(numbers[1]) * factor, 9), note)


def _take_number(output, line, where, marks, usual):
    """Add the number in a line to output and its Pass or Fail to marks; return False if it is no row. OutputError."""
    row = _number_of(output, line, usual)
    if not row or not row[1] <= HIGHEST:
        return False
    size, number, note = row
    before = [*output.values, *output.zeros]
    if before and size <= max(before):
        if note:
            return False
        raise OutputError(f"{where}: size {size} after size {max(before)}: {ALONE}" if max(before) else
                          f"{where}: a second number of {output.benchmark}: {ALONE}")
    words = line.lower().split()
    marks.append((size, next((word for word in words if word in ('pass', 'fail')), None)))
    if number >= LOWEST:
        output.values[size] = number
    else:
        output.zeros.append(size)
    return True


def network_of(text):
    """
    Return (netmod, provider) that MPICH says it uses, from output under MPIR_CVAR_DEBUG_SUMMARY=1.

    :return: ('ofi', 'tcp'), ('ucx', None), or (None, None) if the text does not say it
    """
    found = _DEBUG_PROVIDER.search(text)
    if found:
        return 'ofi', found.group(1)
    return ('ucx', None) if 'UCX netmod Capability' in text else (None, None)

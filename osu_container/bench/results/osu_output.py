"""
Reading what the OSU programs print: those in C and in Python, and mpi4py's ports of them.

Both print comment lines that begin with '#', then one line a message size: the size in bytes and
one or more numbers. What a number means follows from the name of the benchmark and not from the
column's title: mpi4py's ports head the column of osu_bw with 'Latency [us]', though its numbers are
MB/s (as did modules of 2026-11).

A program that was built without support for GPUs ignores `D D`, measures host memory and ends with
exit code 0. What it does say is where its buffers are, so numbers of device or managed memory are
taken only where it has said so.

srun and libraries write between the lines, and now and then into one. A row is taken where it holds
nothing but whole numbers and the word of a check. What begins as rows do and is none is broken, and
said with its line; a line that is none of the program's is foreign.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from osu_container.bench.results import model

DUPLICATE_TABLE_HINT = 'two tables in one output. Did every rank run alone (wrong --mpi= for srun)?'
#: What is part of a case where the text does not say where the buffers are
UNKNOWN_BUFFERS = 'buffers not known'

# No more digits than are printed: Python needs a time for them that grows with the square of their
# number
_NUMBER = r'\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?'
_ROW = re.compile(rf'\d{{1,18}}(?:\s+{_NUMBER})(?:\s+(?:{_NUMBER}|pass|fail))*', re.I)
_INIT = re.compile(rf'\s*nprocs:\s*\d+.*\bavg:\s*({_NUMBER})\s*ms\s*', re.I)
#: A row that cannot be read: it begins or ends as rows do
_BROKEN = re.compile(
    r'[\s|>*+]*\d[\w.,]*[\s|]+(?:\S*\d|nan\b|-?inf|n/?a\b|-\s*$)|.*\S\s*\d+\s+\d+\.\d+\s*$', re.I
)
#: Units in the heading of a table that none of these programs prints
_OTHER_UNIT = re.compile(
    r'# *(?:Message +)?Size\b.*[(\[](?!MB/s|us)([kmgt]?i?(?:b|bits?|bytes?)(?:/s(?:ec)?|ps)'
    r'|[nm]?s(?:ec)?)[)\]]',
    re.I,
)
_PORT = re.compile(r'#.*mpi4py (\S+) port', re.I)
#: What OSU's programs print first: in C, with '-CUDA' or the like where buffers are in GPU memory;
#: in Python
_C_TITLE = re.compile(r'# OSU \w+(?:-(CUDA|ROCM|OPENACC|SYCL|MANAGED)\b)?.*? v(\d[\w.+-]*)\s*$')
_PYTHON_TITLE = re.compile(r'# OMB(?:-Py| Python) ', re.I)
#: 'Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)'; one-sided: 'Rank 0 Memory on ...';
#: managed memory has letters behind its M that say where it lies (print_header of c/util in OSU
#: 7.4). 7.5 prints its first line alone (logs of osu_bw D D on Alps, public notes of several
#: users), and so do collectives of all releases
_SIDES = re.compile(r'# .*\bon [A-Z]+ \(([DHM])\w*\) and .*\bon [A-Z]+ \(([DHM])\w*\)')
#: What the Python programs say of their arrays (container-recipes/mpi4py/osu-python)
_ARRAYS = re.compile(r'#.*\bbuffers: (numpy|cupy)\b')
_ARRAY_BUFFERS = {'numpy': 'H H', 'cupy': 'D D'}
_DEBUG_PROVIDER = re.compile(r'libfabric provider: (\S+)')


class OutputError(Exception):
    """Output that is not a complete table; the text names the file and what is wrong."""


@dataclass
class BenchmarkTable:
    """
    One table of figures as a text has it: values by message size in bytes, and everything that was
    around it.

    benchmark  str; None for a title that is not known. One without message sizes has its number at size 0
    where      'FILE:LINE' of its title
    reason     why it has no figures (str), None if it has
    values     in MB/s, us or ms; zeros: sizes for which 0.00 was printed, which is below what the program can print
    comments, foreign, broken  lines (list of str); broken ones behind 'FILE:LINE: '
    nodes, ranks  int, None where the text does not say
    buffers    one of model.BUFFERS, None where the text does not say
    programs   'OSU C programs', 'OSU Python programs' or 'mpi4py 4.1.2 ports'; release: of the C programs
    checked    whether the program compared what arrived with what was sent (-c), at every size
    context    words of the command line (tuple of str)
    series     whose figures they are (str), where the text says it: that of `osu-container try`
    """

    benchmark: str | None
    location: str = ''
    reason: str | None = None
    values: dict[int, float] = field(default_factory=dict)
    zeros: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    foreign_lines: list[str] = field(default_factory=list)
    broken_lines: list[str] = field(default_factory=list)
    nodes: int | None = None
    ranks: int | None = None
    buffers: str | None = ''
    variant: str = ''
    programs: str | None = None
    release: str | None = None
    is_checked: bool = False
    context: tuple = ()
    series: str | None = None

    @property
    def case(self):
        """Return its Case."""
        variant = ', '.join(
            filter(None, (self.variant, UNKNOWN_BUFFERS if self.buffers is None else ''))
        )
        return model.Case(self.benchmark, self.buffers or '', self.nodes, self.ranks, variant)

    @property
    def unknown_fields(self):
        """Return what the text does not say of it (list of str)."""
        names = ('nodes', 'ranks', 'buffers', 'programs')
        return [name for name in names if getattr(self, name) is None] + (
            ['release']
            if self.release is None and not (self.programs or '').startswith('mpi4py')
            else []
        )

    @property
    def printed_buffers(self):
        """
        Return where the program says that its buffers are ('D D', 'H D', ...); None where it
        does not.
        """
        for line in self.comments:
            sides, arrays = _SIDES.match(line), _ARRAYS.match(line)
            if sides or arrays:
                return ' '.join(sides.groups()) if sides else _ARRAY_BUFFERS[arrays.group(1)]
        return None

    @property
    def accelerator(self):
        """
        Return what its first line says that some of its buffers are memory of ('CUDA', 'ROCM',
        ...), else None.
        """
        titles = filter(None, map(_C_TITLE.match, self.comments))
        return next((title.group(1) for title in titles if title.group(1)), None)

    def add(self, size, number):
        """Add a figure (float) at a size (int)."""
        if number >= model.LOWEST:
            self.values[size] = number
        else:
            self.zeros.append(size)


def parse(text, *, benchmark, source, largest_size=None, buffers='', check=False, first_line=None):
    """
    Return the Table in text.

    :param text: str, what the program printed
    :param benchmark: str, name of the program, e.g. 'osu_bw'
    :param source: str or Path, where the text came from, for messages
    :param largest: int, size in bytes at which the table must end (-m), None: the size is not
        checked
    :param buffers: str, where they were asked to be, 'D D'; the program must say so unless all are
        in host memory
    :param check: bool, the program was asked to check what arrived (-c), and must say that it did
    :param first: int, number of the first line in source, which messages name then
    Raises OutputError if there is no table, if it stops before largest, if its sizes are not
    ascending, if its buffers are not where they should be, or if data arrived that was not sent.
    """
    title = source if first_line is None else f'{source}:{first_line}'
    table, marks, lines = (
        BenchmarkTable(benchmark, title, programs='OSU C programs'),
        [],
        text.splitlines(),
    )
    decimals = count_usual_decimals([line.split() for line in lines if is_row(line)])
    for number, line in enumerate(lines, first_line or 1):
        where = source if first_line is None else f'{source}:{number}'
        if line.startswith('#'):
            table.comments.append(line)
            port, in_c = _PORT.match(line), _C_TITLE.match(line)
            if port or _PYTHON_TITLE.match(line):
                table.programs = f'mpi4py {port.group(1)} ports' if port else 'OSU Python programs'
            table.release = in_c.group(2) if in_c else table.release
            other = _OTHER_UNIT.match(line)
            if other:
                raise OutputError(
                    f"{title}: its heading says {other.group(1)}, wanted MB/s or us. Convert the figures"
                )
        elif not _add_row(table, line, where, marks, decimals) and line.strip():
            if benchmark not in model.SINGLE_VALUE_BENCHMARKS and _BROKEN.match(line[:500]):
                table.broken_lines.append(f'{source}:{number}: {line}')
            else:
                table.foreign_lines.append(line)
    _check_data(table, marks, title, check)
    titles = [line for line in table.comments if re.match(r'# .*\bTest\b', line)]
    if len(titles) > 1:
        raise OutputError(f"{title}: {len(titles)} headers of a table: {DUPLICATE_TABLE_HINT}")
    if not table.values:
        strange = table.broken_lines + table.foreign_lines
        hint = f"; it says: {strange[-1].strip()[:200]}" if strange else ''
        raise OutputError(f"{title}: no number from {benchmark} in {len(lines)} line(s){hint}")
    last = max([*table.values, *table.zeros])
    if (
        largest_size is not None
        and benchmark not in model.SINGLE_VALUE_BENCHMARKS
        and last != largest_size
    ):
        raise OutputError(
            f"{source}: the table of {benchmark} ends at {last} bytes, wanted {largest_size}: "
            "the run was cut off"
        )
    _check_buffers(table, source, buffers)
    return table


def _check_data(table, marks, source, check):
    """
    Set table.checked. Raises OutputError if data arrived wrong, or if that was to be checked and
    was not.

    :param marks: list of (size in bytes, 'pass', 'fail' or None), one for each row; check: as for
        parse()
    """
    wrong = [size for size, mark in marks if mark == 'fail']
    if wrong:
        raise OutputError(
            f"{source}: {table.benchmark} received data that was not sent, at {wrong[0]} bytes (its "
            "column Validation says Fail): no figure of this MPI and network can be trusted. See whether "
            "host memory (H H) and one node pass, and report it to the site's support"
        )
    table.is_checked = bool(marks) and all(mark for _, mark in marks)
    if check and marks and not table.is_checked:
        raise OutputError(
            f"{source}: {table.benchmark} was asked to check the data that arrives (-c), and its table "
            "does not say Pass: its programs cannot check. Measure without --validate"
        )


def _check_buffers(table, source, buffers):
    """
    Raise OutputError unless the program says that its buffers are where they were asked to be
    (str, 'D D').
    """
    said, accelerator = table.printed_buffers, table.accelerator
    if not set(buffers) & {'D', 'M'} or said == buffers:
        return
    # a program that has an accelerator on has taken the letters behind it as they are
    if said is None and accelerator and (accelerator != 'MANAGED' or 'M' in buffers):
        return
    found = (
        f"says that they are {said or 'in managed memory'}"
        if said or accelerator
        else (
            "does not say so, as programs do that can use GPUs ('# OSU MPI-ROCM ...', '# Send Buffer on DEVICE (D) ...')"
        )
    )
    raise OutputError(
        f"{source}: buffers {buffers} were asked for, and {table.benchmark} {found}: its numbers are "
        "those of host memory. Use an image, or a native build, whose benchmarks are built with ROCm or "
        "CUDA"
    )


def is_row(line):
    """Return True if a line (str) is a size and numbers."""
    return bool(_ROW.fullmatch(line.strip()))


def count_usual_decimals(rows, column=1):
    """Return how many decimals most of the rows (of list of str) have in a column."""
    found = Counter(count_decimals(row[column]) for row in rows if len(row) > column)
    return max(found, key=lambda count: (found[count], count), default=0)


def count_decimals(number):
    """Return how many decimals a number (str) has; programs print equally many in each row."""
    return len(number.partition('.')[2])


def _add_row(table, line, where, marks, decimals):
    """
    Add the number in a line to a Table and its Pass or Fail to marks; return False if it is no row.
    Raises OutputError.

    :param where: str, for messages; decimals: int, of most rows
    """
    words = line.lower().split()
    if table.benchmark in model.MILLISECONDS:
        found = _INIT.fullmatch(line)
        words = ['0', found.group(1)] if found else []
    elif table.benchmark in model.SINGLE_VALUE_BENCHMARKS and len(words) == 1:
        words.insert(0, '0')
    if (
        not _ROW.fullmatch(' '.join(words))
        or decimals
        and not count_decimals(words[1])
        or float(words[1]) > model.HIGHEST
    ):
        return False
    size, before = int(words[0]), [*table.values, *table.zeros]
    if table.benchmark in model.SINGLE_VALUE_BENCHMARKS and size:
        return False
    if before and size <= max(before):
        raise OutputError(f"{where}: size {size} after size {max(before)}: {DUPLICATE_TABLE_HINT}")
    marks.append((size, next((word for word in words if word in ('pass', 'fail')), None)))
    table.add(size, float(words[1]))
    return True


def parse_network(text):
    """
    Return (netmod, provider) that MPICH says it uses, from output under MPIR_CVAR_DEBUG_SUMMARY=1.

    :return: ('ofi', 'tcp'), ('ucx', None), or (None, None) if the text does not say it
    """
    found = _DEBUG_PROVIDER.search(text)
    if found:
        return 'ofi', found.group(1)
    return ('ucx', None) if 'UCX netmod Capability' in text else (None, None)

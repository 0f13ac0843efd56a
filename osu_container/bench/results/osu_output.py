"""
Parse the output of the OSU programs in C and in Python, and of the mpi4py ports.

All programs print comment lines that begin with '#'. Below these comments, all programs print a
line for each message size: the size in bytes and one or more numbers. The name of the benchmark
determines the unit of the numbers. The title of the column does not determine the unit, because the
mpi4py ports give the column of osu_bw the title 'Latency [us]' although the column contains MB/s.

A program built without GPU support ignores the arguments `D D`, measures host memory and exits with
0. For this reason, results for device memory or managed memory are accepted only if the program
prints where its buffers are.

srun and libraries print other text between the lines, and sometimes within a line. A line counts as
a row of the table if the line contains only complete numbers, and perhaps the result of a check. A
malformed row is called broken and is reported with its line number. A line that the program did not
print is called foreign.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from osu_container.bench.results import model

DUPLICATE_TABLE_HINT = (
    'the output contains several tables. If each rank ran as a separate program, change the option '
    '--mpi= of srun'
)
#: Variant of a case whose output does not report where the buffers are
UNKNOWN_BUFFERS = 'buffers not known'

# The number of digits is limited because int() needs time quadratic in it.
_NUMBER = r'\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?'
_ROW = re.compile(rf'(\d{{1,18}})\s+({_NUMBER})((?:\s+(?:{_NUMBER}|pass|fail))*)', re.I)
_INIT = re.compile(rf'\s*nprocs:\s*\d+.*\bavg:\s*({_NUMBER})\s*ms\s*', re.I)
#: A broken row: it begins or ends as rows do
_BROKEN = re.compile(
    r'[\s|>*+]*\d[\w.,]*[\s|]+(?:\S*\d|nan\b|-?inf|n/?a\b|-\s*$)|.*\S\s*\d+\s+\d+\.\d+\s*$', re.I
)
#: Units in a heading of a table that none of these programs prints
_OTHER_UNIT = re.compile(
    r'# *(?:Message +)?Size\b.*[(\[](?!MB/s|us)([kmgt]?i?(?:b|bits?|bytes?)(?:/s(?:ec)?|ps)'
    r'|[nm]?s(?:ec)?)[)\]]',
    re.I,
)
#: Heading of a table
_HEADING = re.compile(r'# *(?:Message +)?Size\b', re.I)
_PORT = re.compile(r'#.*mpi4py (\S+) port', re.I)
#: First line of OSU's programs: in C, with e.g. '-CUDA' if buffers are in GPU memory; in Python
_C_TITLE = re.compile(r'# OSU \w+(?:-(CUDA|ROCM|OPENACC|SYCL|MANAGED)\b)?.*? v(\d[\w.+-]*)\s*$')
_PYTHON_TITLE = re.compile(r'# OMB(?:-Py| Python) ', re.I)
#: 'Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)'; one-sided: 'Rank 0 Memory on ...'.
#: Letters after the M of managed memory tell its location (print_header of c/util in OSU 7.4).
#: OSU 7.5 (logs of osu_bw D D on Alps, public notes of several users) and collectives of all
#: releases do not print this line.
_SIDES = re.compile(r'# .*\bon [A-Z]+ \(([DHM])\w*\) and .*\bon [A-Z]+ \(([DHM])\w*\)')
#: Comment of the Python programs about their arrays (container-recipes/mpi4py/osu-python)
_ARRAYS = re.compile(r'#.*\bbuffers: (numpy|cupy)\b')
_ARRAY_BUFFERS = {'numpy': 'H H', 'cupy': 'D D'}
_DEBUG_PROVIDER = re.compile(r'libfabric provider: (\S+)')


class OutputError(Exception):
    """
    A program output has no complete table of results.

    The text of the error names the file and the problem.
    """


@dataclass
class BenchmarkTable:
    """One table in a program output: the values by message size, and the other lines."""

    #: None for an unknown title
    benchmark: str | None
    #: 'FILE:LINE' of its title
    location: str = ''
    #: Why it has no figures, None if it has
    reason: str | None = None
    #: {size in bytes: value in MB/s, us or ms}; a single value has size 0
    values: dict[int, float] = field(default_factory=dict)
    #: Sizes at which 0.00 was printed, which is below the precision of the output
    zeros: list[int] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    foreign_lines: list[str] = field(default_factory=list)
    #: Each with the prefix 'FILE:LINE: '
    broken_lines: list[str] = field(default_factory=list)
    #: None if the text does not report it, as for ranks and buffers
    nodes: int | None = None
    ranks: int | None = None
    #: One of model.BUFFERS
    buffers: str | None = ''
    variant: str = ''
    #: 'OSU C programs', 'OSU Python programs' or 'mpi4py 4.1.2 ports'
    programs: str | None = None
    #: Of the C programs
    release: str | None = None
    #: Titles of the columns without the figures
    unread_columns: list[str] = field(default_factory=list)
    #: The program compared received with sent data (-c) at every size
    is_checked: bool = False
    #: Words of the command line
    context: tuple[str, ...] = ()
    #: Name of its series in the file of `osu-container try`
    series: str | None = None

    @property
    def case(self) -> model.Case:
        """Return the benchmark case (program, buffers, nodes and ranks) whose results the table contains."""
        variant = ', '.join(
            filter(None, (self.variant, UNKNOWN_BUFFERS if self.buffers is None else ''))
        )
        return model.Case(self.benchmark or '', self.buffers or '', self.nodes, self.ranks, variant)

    @property
    def unknown_fields(self) -> list[str]:
        """Return the names of the facts that the program output does not report."""
        names = ('nodes', 'ranks', 'buffers', 'programs')
        return [name for name in names if getattr(self, name) is None] + (
            ['release']
            if self.release is None and not (self.programs or '').startswith('mpi4py')
            else []
        )

    @property
    def printed_buffers(self) -> str | None:
        """
        Return the buffers that the program printed, e.g. 'D D'.

        The result is None if the program printed no buffers.
        """
        for line in self.comments:
            sides, arrays = _SIDES.match(line), _ARRAYS.match(line)
            if sides:
                return ' '.join(sides.groups())
            if arrays:
                return _ARRAY_BUFFERS[arrays.group(1)]
        return None

    @property
    def accelerator(self) -> str | None:
        """
        Return the kind of device memory in the title of the table, e.g. 'CUDA'.

        The result is None if the title names no kind.
        """
        titles = filter(None, map(_C_TITLE.match, self.comments))
        return next((title.group(1) for title in titles if title.group(1)), None)

    def add(self, size: int, number: float) -> None:
        """Add a measured value at a message size."""
        if number >= model.LOWEST:
            self.values[size] = number
        else:
            self.zeros.append(size)


def parse(
    text: str,
    *,
    benchmark: str,
    source: str | Path,
    largest_size: int | None = None,
    buffers: str = '',
    check: bool = False,
    first_line: int | None = None,
) -> BenchmarkTable:
    """
    Return the table of results in the output of an OSU program.

    Raises OutputError if there is no table, if the table ends before `largest_size`, if the sizes
    do not ascend, if the buffers are in other memory than requested, or if wrong data was received.

    :param benchmark: name of the program, e.g. 'osu_bw'
    :param source: name of the output in messages
    :param largest_size: message size in bytes at which the table must end (-m), None for any size
    :param buffers: the requested buffers, e.g. 'D D'; if a buffer is not in host memory, the
        program must print where its buffers are
    :param check: whether the program must have compared received data with sent data (-c)
    :param first_line: line number in `source` of the first line of the text, for messages
    """
    title = str(source) if first_line is None else f'{source}:{first_line}'
    table = BenchmarkTable(benchmark, title, programs='OSU C programs')
    marks: list[tuple[int, str | None]] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, first_line or 1):
        if line.startswith('#'):
            table.comments.append(line)
            port_title, c_title = _PORT.match(line), _C_TITLE.match(line)
            if port_title or _PYTHON_TITLE.match(line):
                table.programs = (
                    f'mpi4py {port_title.group(1)} ports' if port_title else 'OSU Python programs'
                )
            table.release = c_title.group(2) if c_title else table.release
            if _HEADING.match(line):
                table.unread_columns = re.split(r'\s{2,}', line)[2:]
            other_unit = _OTHER_UNIT.match(line)
            if other_unit:
                raise OutputError(
                    f"{title}: the heading of the table names the unit {other_unit.group(1)}, "
                    "expected MB/s or us. Convert the values to MB/s or us"
                )
        elif (
            not _add_row(table, line, marks, source, number if first_line else None)
            and line.strip()
        ):
            if benchmark not in model.SINGLE_VALUE_BENCHMARKS and _BROKEN.match(line[:500]):
                table.broken_lines.append(f'{source}:{number}: {line}')
            else:
                table.foreign_lines.append(line)
    _check_data(table, marks, title, check)
    titles = [line for line in table.comments if re.match(r'# .*\bTest\b', line)]
    if len(titles) > 1:
        raise OutputError(f"{title}: {len(titles)} titles of a table: {DUPLICATE_TABLE_HINT}")
    if not table.values:
        other_lines = table.broken_lines + table.foreign_lines
        hint = f"; it printed: {other_lines[-1].strip()[:200]}" if other_lines else ''
        raise OutputError(f"{title}: no results of {benchmark} in {len(lines)} line(s){hint}")
    last = marks[-1][0]
    if (
        largest_size is not None
        and benchmark not in model.SINGLE_VALUE_BENCHMARKS
        and last != largest_size
    ):
        raise OutputError(
            f"{source}: the table of {benchmark} ends at {last} bytes, but should end at "
            f"{largest_size} bytes: the run was cut off"
        )
    _check_buffers(table, source, buffers)
    return table


def _check_data(
    table: BenchmarkTable, marks: list[tuple[int, str | None]], source: str, check: bool
) -> None:
    """
    Record in the table whether the program compared received data with sent data.

    Raises OutputError if wrong data was received, or if a requested check is missing.

    marks: (size, 'pass', 'fail' or None) for each row of the table
    """
    failed_sizes = [size for size, mark in marks if mark == 'fail']
    if failed_sizes:
        raise OutputError(
            f"{source}: {table.benchmark} received wrong data at {failed_sizes[0]} bytes (column "
            "Validation has Fail), so no result of this MPI and network can be trusted. Test "
            "whether the program passes with buffers H H and on one node, and report the result "
            "to the site's support"
        )
    table.is_checked = bool(marks) and all(mark for _, mark in marks)
    if check and marks and not table.is_checked:
        raise OutputError(
            f"{source}: {table.benchmark} cannot check received data (option -c): the column "
            "Validation of the table has no Pass. Measure without --validate"
        )


def _check_buffers(table: BenchmarkTable, source: str | Path, buffers: str) -> None:
    """
    Raise OutputError if the program did not use the requested buffers, e.g. 'D D'.

    Buffers in host memory are not checked.
    """
    printed, accelerator = table.printed_buffers, table.accelerator
    if not set(buffers) & {'D', 'M'} or printed == buffers:
        return
    # A program with an enabled accelerator uses the buffers of its arguments.
    if printed is None and accelerator and (accelerator != 'MANAGED' or 'M' in buffers):
        return
    finding = (
        f"the output names {printed or 'managed memory'}"
        if printed or accelerator
        else "the output has neither the line '# OSU MPI-ROCM ...' nor the line '# Send Buffer on "
        "DEVICE (D) ...'"
    )
    raise OutputError(
        f"{source}: buffers {buffers} were requested, but {table.benchmark} measured other memory: "
        f"{finding}. Use an image or a native build whose benchmarks support ROCm or CUDA"
    )


def is_row(line: str) -> bool:
    """Return whether a line is a row of a table: a message size followed by numbers."""
    return bool(_ROW.fullmatch(line.strip()))


def count_usual_decimals(rows: list[list[str]], column: int = 1) -> int:
    """Return the number of decimals that most rows of a table have in a column."""
    counts = Counter(count_decimals(row[column]) for row in rows if len(row) > column)
    return max(counts, key=lambda count: (counts[count], count), default=0)


def count_decimals(number: str) -> int:
    """
    Return how many decimals a number in the output of a program has.

    A program prints the same number of decimals in every row.
    """
    return len(number.partition('.')[2])


def _add_row(
    table: BenchmarkTable,
    line: str,
    marks: list[tuple[int, str | None]],
    source: str | Path,
    number: int | None,
) -> bool:
    """
    Add a line of the output to the table if the line is a row; return whether the line is a row.

    The function also appends (message size, result of the data check) to `marks`: the result is
    'pass', 'fail', or None if the benchmark did not check the data. Raises OutputError if the
    message size is not greater than in the previous row.

    :param source: name of the output in messages
    :param number: line number of the row in `source`, None if unknown
    """
    is_single = table.benchmark in model.SINGLE_VALUE_BENCHMARKS
    if is_single:
        if table.benchmark in model.MILLISECONDS:
            times = _INIT.fullmatch(line)
            line = f'0 {times.group(1)}' if times else ''
        elif len(line.split()) == 1:
            line = f'0 {line}'
    row = _ROW.fullmatch(line.strip())
    if row is None:
        return False
    size_text, figure, others = row.groups()
    size, value = int(size_text), float(figure)
    if (
        value > model.HIGHEST
        or is_single
        and size
        or '.' not in figure
        and table.benchmark not in model.MILLISECONDS
    ):
        return False
    last_size = marks[-1][0] if marks else -1
    if size <= last_size:
        location = source if number is None else f'{source}:{number}'
        raise OutputError(f"{location}: size {size} after size {last_size}: {DUPLICATE_TABLE_HINT}")
    mark = re.search('pass|fail', others, re.I) if others else None
    marks.append((size, mark.group().lower() if mark else None))
    table.add(size, value)
    return True


def parse_network(text: str) -> tuple[str | None, str | None]:
    """
    Return (netmod, provider) from MPICH's output with MPIR_CVAR_DEBUG_SUMMARY=1.

    Examples: ('ofi', 'tcp') and ('ucx', None). The result is (None, None) if the output names
    neither a netmod nor a provider.
    """
    match = _DEBUG_PROVIDER.search(text)
    if match:
        return 'ofi', match.group(1)
    return ('ucx', None) if 'UCX netmod Capability' in text else (None, None)

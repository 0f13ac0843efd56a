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

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from osu_container.bench.results import model

DUPLICATE_TABLE_HINT = (
    'the output contains several tables. If each rank ran as a separate program, change the option '
    '--mpi= of srun'
)
#: Variant of a case whose output does not report where the buffers are
UNKNOWN_BUFFERS = 'buffers not known'

# The number of digits is limited because int() needs time quadratic in it.
_NUMBER = r'\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?'
_ROW = re.compile(rf'\s*(\d{{1,18}})\s+({_NUMBER})((?:\s+(?:{_NUMBER}|pass|fail))*)\s*', re.I)
_MARK = re.compile('pass|fail', re.I)
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
    """One table in a program output: the values by message size, and the lines without values."""

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
    #: Buffers that the program printed, e.g. 'D D'; None if the program printed no buffers
    printed_buffers: str | None = None
    #: Kind of device memory in the title, e.g. 'CUDA'; None if the title names no kind
    accelerator: str | None = None
    #: The program compared received with sent data (-c) at every size
    is_checked: bool = False
    #: Words of the command line
    context: tuple[str, ...] = ()
    #: Name of its series in the file of `osu-container try`
    series: str | None = None

    @property
    def case(self) -> model.Case:
        """Return the benchmark case of the table: program, buffers, nodes, ranks and variant."""
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
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith('#')]
    table = BenchmarkTable(benchmark, title, comments=comments, **_read_comments(tuple(comments)))
    if table.reason:
        raise OutputError(f'{title}: {table.reason}')
    is_single = benchmark in model.SINGLE_VALUE_BENCHMARKS
    is_whole = benchmark in model.MILLISECONDS
    last_size, checks = -1, 0
    for number, line in enumerate(lines, first_line or 1):
        row = _ROW.fullmatch(_add_size(line, benchmark) if is_single else line)
        size_text, figure, others = row.groups() if row else ('', '', '')
        size = int(size_text or 0)
        value = float(figure) if '.' in figure or figure and is_whole else math.inf
        if value <= model.HIGHEST and not (is_single and size):
            if size <= last_size:
                location = source if first_line is None else f'{source}:{number}'
                raise OutputError(
                    f"{location}: size {size} after size {last_size}: {DUPLICATE_TABLE_HINT}"
                )
            last_size = size
            mark = others and _MARK.search(others)
            if mark and mark[0].lower() == 'fail':
                raise OutputError(
                    f"{title}: {benchmark} received wrong data at {size} bytes (column "
                    "Validation has Fail), so no result of this MPI and network can be trusted. Test "
                    "whether the program passes with buffers H H and on one node, and report the result "
                    "to the site's support"
                )
            checks += bool(mark)
            if value >= model.LOWEST:
                table.values[size] = value
            else:
                table.zeros.append(size)
        elif line.strip() and not line.startswith('#'):
            if not is_single and _BROKEN.match(line[:500]):
                table.broken_lines.append(f'{source}:{number}: {line}')
            else:
                table.foreign_lines.append(line)
    rows = len(table.values) + len(table.zeros)
    table.is_checked = checks == rows > 0
    if check and checks < rows:
        raise OutputError(
            f"{title}: {benchmark} cannot check received data (option -c): the column "
            "Validation of the table has no Pass. Measure without --validate"
        )
    if not table.values:
        other_lines = table.broken_lines + table.foreign_lines
        hint = f"; it printed: {other_lines[-1].strip()[:200]}" if other_lines else ''
        raise OutputError(f"{title}: no results of {benchmark} in {len(lines)} line(s){hint}")
    if not is_single and largest_size not in (None, last_size):
        raise OutputError(
            f"{source}: the table of {benchmark} ends at {last_size} bytes, but should end at "
            f"{largest_size} bytes: the run was cut off"
        )
    _check_buffers(table, source, buffers)
    return table


def _add_size(line: str, benchmark: str) -> str:
    """Return the row of a program that prints a single number, with size 0 before the number."""
    if benchmark in model.MILLISECONDS:
        times = _INIT.fullmatch(line)
        return f'0 {times.group(1)}' if times else ''
    return f'0 {line}' if len(line.split()) == 1 else line


@functools.lru_cache  # A file may have 100,000 tables with the same comments.
def _read_comments(comments: tuple[str, ...]) -> dict[str, Any]:
    """
    Return the facts in the lines of a table that begin with '#', as fields of a BenchmarkTable.

    The field `reason` is set if there are several titles, or if the heading names a unit that none
    of the programs prints.
    """
    facts: dict[str, Any] = {'programs': 'OSU C programs'}
    for line in comments:
        port, title, other_unit = _PORT.match(line), _C_TITLE.match(line), _OTHER_UNIT.match(line)
        sides, arrays = _SIDES.match(line), _ARRAYS.match(line)
        if port or _PYTHON_TITLE.match(line):
            facts['programs'] = f'mpi4py {port[1]} ports' if port else 'OSU Python programs'
        if title:
            facts['release'] = title[2]
            facts['accelerator'] = facts.get('accelerator') or title[1]
        if sides:
            facts.setdefault('printed_buffers', ' '.join(sides.groups()))
        elif arrays:
            facts.setdefault('printed_buffers', _ARRAY_BUFFERS[arrays[1]])
        if _HEADING.match(line):
            facts['unread_columns'] = re.split(r'\s{2,}', line)[2:]
        if other_unit:
            facts['reason'] = (
                f"the heading of the table names the unit {other_unit[1]}, expected MB/s or us. "
                "Convert the values to MB/s or us"
            )
    count = sum(bool(re.match(r'# .*\bTest\b', line)) for line in comments)
    if count > 1:
        facts['reason'] = f"{count} titles of a table: {DUPLICATE_TABLE_HINT}"
    return facts


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
        else "the output lacks a line such as '# OSU MPI-ROCM ...' or '# Send Buffer on DEVICE (D) "
        "...'"
    )
    raise OutputError(
        f"{source}: buffers {buffers} were requested, but {table.benchmark} measured other memory: "
        f"{finding}. Use an image or a native build whose benchmarks support ROCm or CUDA"
    )


def is_row(line: str) -> bool:
    """Return whether a line is a row of a table: a message size followed by numbers."""
    return bool(_ROW.fullmatch(line))


def count_usual_decimals(rows: Iterable[list[str]], column: int) -> int:
    """Return the number of decimals that most rows of a table have in a column."""
    counts = Counter(count_decimals(row[column]) for row in rows if len(row) > column)
    return max(counts, key=lambda count: (counts[count], count), default=0)


def count_decimals(number: str) -> int:
    """
    Return how many decimals a number in the output of a program has.

    A program prints the same number of decimals in every row.
    """
    return len(number.partition('.')[2])


def parse_network(text: str) -> tuple[str | None, str | None]:
    """
    Return (netmod, provider) from MPICH's output with MPIR_CVAR_DEBUG_SUMMARY=1.

    Examples: ('ofi', 'tcp') and ('ucx', None). The result is (None, None) if the output
    contains no netmod and no provider.
    """
    match = _DEBUG_PROVIDER.search(text)
    if match:
        return 'ofi', match.group(1)
    return ('ucx', None) if 'UCX netmod Capability' in text else (None, None)

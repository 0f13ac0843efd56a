"""
Reading what the OSU programs print: the C programs and mpi4py's ports of them.

Both print comment lines that begin with '#', then one line a message size: the size in bytes and one or more numbers.
What a number means follows from the name of the benchmark and not from the column's title: the ports head the column of
osu_bw with 'Latency [us]', though its numbers are MB/s.

srun and libraries write between the lines, and now and then into one. A line that is none of the program's is foreign;
one in which a number and other text are mixed is broken: its number is not taken, because digits may be missing. Both
are kept and counted.
"""
from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from .results.model import HIGHEST, LOWEST, WITHOUT_SIZES, unit_of

ALONE = 'two tables in one output. Did every rank run alone (wrong --mpi= for srun)?'

# No more digits than are printed: Python needs a time for them that grows with the square of their number
_NUMBER = r'\d{1,18}(?:\.\d{1,18})?(?:e[+-]?\d{1,3})?'
_ROW = re.compile(rf'\s*(\d{{1,18}})((?:\s+{_NUMBER})+)\s*', re.I)
# The port of osu_barrier prints a size of 0 before its number, as mpi4py's table has it.
_SINGLE = re.compile(rf'\s*(?:0\s+(?={_NUMBER}))?({_NUMBER})(?:\s+{_NUMBER})*\s*', re.I)
_INIT = re.compile(rf'\s*nprocs:\s*\d+.*\bavg:\s*({_NUMBER})\s*ms\s*', re.I)
#: A row into which somebody else has written: it begins or ends as rows do
_BROKEN = re.compile(rf'\s*\d+\s+(?:{_NUMBER}|-?nan|-?inf)|.*\S\s*\d+\s+\d+\.\d+\s*$', re.I)
_PORT = re.compile(r'#.*mpi4py (\S+) port', re.I)
_DEBUG_PROVIDER = re.compile(r'libfabric provider: (\S+)')


class OutputError(Exception):
    """Output that is not a complete table; the text names the file and what is wrong."""


@dataclass
class OsuOutput:
    """
    One table: values in unit ('MB/s', 'us' or 'ms') by message size in bytes, and everything that was around it.

    A benchmark without message sizes has its number at size 0. zeros: sizes for which 0.00 was printed, which is below
    what the program can print and no value to compare.
    """

    benchmark: str
    unit: str
    values: dict[int, float]
    port: str | None
    comments: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    zeros: list[int] = field(default_factory=list)

    @property
    def programs(self) -> str:
        """Return which programs ran: 'OSU C programs' or 'mpi4py 4.1.2 ports'."""
        return f"mpi4py {self.port} ports" if self.port else "OSU C programs"


def parse(text, *, benchmark, source, largest=None):
    """
    Return the OsuOutput in text.

    :param text: str, what the program printed
    :param benchmark: str, name of the program, e.g. 'osu_bw'
    :param source: str or Path, where the text came from, for messages
    :param largest: int, size in bytes at which the table must end (-m), None: the size is not checked
    Raises OutputError if there is no table, if it stops before largest, or if its sizes are not ascending.
    """
    output = OsuOutput(benchmark, unit_of(benchmark), {}, None)
    for line in text.splitlines():
        if line.startswith('#'):
            output.comments.append(line)
            found = _PORT.match(line)
            output.port = found.group(1) if found else output.port
        elif not _take_number(output, line, source) and line.strip():
            (output.broken if _BROKEN.match(line) else output.foreign).append(line)
    titles = [line for line in output.comments if re.match(r'# .*\bTest\b', line)]
    if len(titles) > 1:
        raise OutputError(f"{source}: {len(titles)} headers of a table: {ALONE}")
    if not output.values:
        strange = output.broken + output.foreign
        hint = f"; it says: {strange[-1].strip()}" if strange else ''
        raise OutputError(f"{source}: no number from {benchmark} in {len(text.splitlines())} line(s){hint}")
    last = max([*output.values, *output.zeros])
    if largest is not None and benchmark not in WITHOUT_SIZES and last != largest:
        raise OutputError(f"{source}: the table of {benchmark} ends at {last} bytes, wanted {largest}: "
                          "the run was cut off")
    return output


def _take_number(output, line, source):
    """Add the number in a line to output; return False if the line is no row. Raises OutputError."""
    if output.benchmark in WITHOUT_SIZES:
        row = (_INIT if output.unit == 'ms' else _SINGLE).fullmatch(line)
        if row and output.values:
            raise OutputError(f"{source}: a second number of {output.benchmark}: {ALONE}")
        size, number = 0, float(row.group(1)) if row else math.nan
    else:
        row = _ROW.fullmatch(line)
        size, number = (int(row.group(1)), float(row.group(2).split()[0])) if row else (0, math.nan)
        before = [*output.values, *output.zeros]
        if row and before and size <= max(before):
            raise OutputError(f"{source}: size {size} after size {max(before)}: {ALONE}")
    if not row or not number <= HIGHEST:
        return False
    if number >= LOWEST:
        output.values[size] = number
    else:
        output.zeros.append(size)
    return True


def read(path, *, benchmark, largest=None):
    """Return the OsuOutput in the file path; see parse(). Raises OutputError also if the file cannot be read."""
    try:
        text = Path(path).read_text(errors='replace')
    except OSError as err:
        raise OutputError(f"{path}: {err.strerror}") from err
    return parse(text, benchmark=benchmark, source=path, largest=largest)


def network_of(text):
    """
    Return (netmod, provider) that MPICH says it uses, from output under MPIR_CVAR_DEBUG_SUMMARY=1.

    :return: ('ofi', 'tcp'), ('ucx', None), or (None, None) if the text does not say it
    """
    found = _DEBUG_PROVIDER.search(text)
    if found:
        return 'ofi', found.group(1)
    return ('ucx', None) if 'UCX netmod Capability' in text else (None, None)

"""
Reading what the OSU programs print: the C programs and mpi4py's ports of them.

Both print comment lines that begin with '#', then one line a message size: the size in bytes and one or more numbers.
What a number means follows from the name of the benchmark and not from the column's title: the ports head the column of
osu_bw with 'Latency [us]', though its numbers are MB/s.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

#: Benchmarks whose first number is a bandwidth in MB/s (1 MB = 1,000,000 bytes); all others give microseconds
BANDWIDTH = {'osu_bw', 'osu_bibw', 'osu_mbw_mr', 'osu_put_bw', 'osu_get_bw', 'osu_put_bibw', 'osu_bw_persistent',
             'osu_bibw_persistent'}
#: Benchmarks that print one number without a size
WITHOUT_SIZES = {'osu_barrier', 'osu_ibarrier', 'osu_init', 'osu_hello'}

ALONE = 'two tables in one output. Did every rank run alone (wrong --mpi= for srun)?'

_ROW = re.compile(r'\s*(\d+)((?:\s+\d+(?:\.\d+)?(?:e[+-]?\d+)?)+)\s*', re.I)
_PORT = re.compile(r'#.*mpi4py (\S+) port', re.I)
_DEBUG_PROVIDER = re.compile(r'libfabric provider: (\S+)')


class OutputError(Exception):
    """Output that is not a complete table; the text names the file and what is wrong."""


@dataclass
class OsuOutput:
    """One table: values in MB/s or microseconds (unit) by message size in bytes, and everything that was around it."""

    benchmark: str
    unit: str
    values: dict[int, float]
    port: str | None
    comments: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    @property
    def programs(self) -> str:
        """Return which programs ran: 'OSU C programs' or 'mpi4py 4.1.2 ports'."""
        return f"mpi4py {self.port} ports" if self.port else "OSU C programs"


def unit_of(benchmark):
    """Return the unit (str) of the first number that a benchmark prints."""
    return 'MB/s' if benchmark in BANDWIDTH else 'us'


def parse(text, *, benchmark, source, largest=None):
    """
    Return the OsuOutput in text.

    :param text: str, what the program printed
    :param benchmark: str, name of the program, e.g. 'osu_bw'
    :param source: str or Path, where the text came from, for messages
    :param largest: int, size in bytes at which the table must end (-m), None: the size is not checked
    Raises OutputError if there is no table, if it stops before largest, or if its sizes are not ascending.
    """
    if benchmark in WITHOUT_SIZES:
        raise OutputError(f"{source}: {benchmark} prints no table by message size")
    values, comments, foreign, port = {}, [], [], None
    for line in text.splitlines():
        row = _ROW.fullmatch(line)
        if row:
            size = int(row.group(1))
            if values and size <= max(values):
                raise OutputError(f"{source}: size {size} after size {max(values)}: {ALONE}")
            values[size] = float(row.group(2).split()[0])
        elif line.startswith('#'):
            comments.append(line)
            found = _PORT.match(line)
            port = found.group(1) if found else port
        elif line.strip():
            foreign.append(line)
    titles = [line for line in comments if re.match(r'# .*\bTest\b', line)]
    if len(titles) > 1:
        raise OutputError(f"{source}: {len(titles)} headers of a table: {ALONE}")
    if not values:
        hint = f"; it says: {foreign[-1].strip()}" if foreign else ''
        raise OutputError(f"{source}: no number from {benchmark} in {len(text.splitlines())} line(s){hint}")
    if largest is not None and max(values) != largest:
        raise OutputError(f"{source}: the table of {benchmark} ends at {max(values)} bytes, wanted {largest}: "
                          "the run was cut off")
    return OsuOutput(benchmark, unit_of(benchmark), values, port, comments, foreign)


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

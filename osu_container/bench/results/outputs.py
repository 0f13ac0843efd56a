"""
Read the results in the output files of benchmark programs.

    OSU Micro-Benchmarks    in C and in Python, and the mpi4py ports: any number of tables
    Intel MPI Benchmarks    IMB-MPI1 and others: a table for each benchmark and number of processes
    nccl-tests, rccl-tests  bus bandwidth, out of place and in place

Facts that a file does not report, such as the number of nodes, are unknown. Some facts follow from
a command line above a table, e.g. `srun -N2 -n2 osu_bw D D`. A shell with the option -x prints such
command lines. Tables with different command lines belong to different benchmark cases.
"""

from __future__ import annotations

import functools
import hashlib
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from osu_container.base.files import (
    SIZE_LIMITS,
    FileTooLargeError,
    decode_text,
    measure_junk,
    read_plain_file,
    unpack_stream,
)
from osu_container.base.terminal import ESCAPES
from osu_container.bench.results import model, osu_output, run_files
from osu_container.bench.results.osu_output import BenchmarkTable
from osu_container.check.try_ import try_file

#: Largest number and length of the comments, foreign and broken lines kept with a table
KEPT_LINES, KEPT_CHARACTERS = 50, 500
#: Value of a fact that the files of an imported run do not report
UNKNOWN = 'not known'
EXPECTED_INPUT = (
    "expected the output of the OSU Micro-Benchmarks (from '# OSU MPI Bandwidth Test v7.5' on), of "
    "the Intel MPI Benchmarks, or of nccl-tests"
)
#: The heading of a table; its title may be missing
_HEADING = re.compile(r'# *(?:Size|Message Size)\b', re.I)
_CCL = re.compile(r'# *nThreads? +\d+')
_CCL_HEAD = re.compile(r'# +size +count\b')
_PERF = re.compile(r'\b(\w+)_perf\b|[Cc]ollective test starting: *(\w+?)(?:_perf)?\b')

_TITLE = re.compile(
    r'# *(?:OSU |OMB-Py |OMB Python )?(MPI|NCCL|RCCL|XCCL)(_\w+)?(?:-(\w+))?(?: MANAGED)? (.*?) Test'
    r'(?: Test)?\s*(?:v\d\S*|\(.*\))?\s*',
    re.I,
)
_PORT = re.compile(r'# *(osu_\w+): mpi4py \S+ port', re.I)
_IMB_TITLE = re.compile(r'#\s*Intel ?\(R\) MPI Benchmarks? (?:Suite )?V?([\d.]+)?', re.I)
_IMB_TABLE = re.compile(r'# *Benchmarking +(\w[\w-]*)')
_IMB_RANKS = re.compile(r'# *#processes *= *(\d{1,9})')
_IMB_HEAD = re.compile(r'#(?:bytes\s+#)?repetitions\b.*')
#: A launcher and the program, as printed by a shell with -x or copied from a terminal
_COMMAND = re.compile(
    r'(?:\b(srun|flux run|mpirun|mpiexec(?:\.hydra)?|aprun|jsrun)\b|^\S*[$%>+]+ )(.*?)'
    r'\b(osu_\w+|IMB-\w+|\w+_perf)\b(.*)'
)
_PROMPT = re.compile(r'^\S*[$%>+]+ +')
#: Prefix of a line: of `srun --label`, of `mpirun --tag-output --timestamp-output`, of a CI server,
#: or the backslash of a '#' escaped in Markdown
_LABEL = re.compile(
    r'^[^\S\n]*(?:\d{1,7}: |\[\d{1,7}\] |(?:\w{3} \w{3} +\d+ [\d:]{8} \d{4})?\[\d+,\d+\]<std(?:out|err)>:[^\S\n]?'
    r'|\d\d:\d\d:\d\d(?:\.\d+)?[^\S\n]+|\\(?=#))',
    re.M,
)
_CONTROLS = re.compile(r'[\x01-\x08\x0b-\x1f\x7f\x85\u2028\u2029]')

#: Words of a title -> program without 'osu_', from c/mpi of OSU 5 to 7
_PAIRS = {
    'bandwidth': 'bw',
    'bi-directional bandwidth': 'bibw',
    'latency': 'latency',
    'multi latency': 'multi_lat',
    'multi-threaded latency': 'latency_mt',
    'multi-process latency': 'latency_mp',
    'init': 'init',
    'multiple bandwidth / message rate': 'mbw_mr',
    'partitioned latency': 'partitioned_latency',
}
_SIDED = {
    '_put': 'put',
    '_get': 'get',
    '_accumulate': 'acc',
    '_get_accumulate': 'get_acc',
    '_fetch_and_op': 'fop',
    '_compare_and_swap': 'cas',
}
_COLLECTIVES = {
    **{
        name: name
        for name in (
            'allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast '
            'gather gatherv reduce reduce_scatter scatter scatterv'
        ).split()
    },
    'broadcast': 'bcast',
    'reduce-scatter': 'reduce_scatter',
    **{
        f'all-to-all{kind}{words}': f'alltoall{kind}'
        for kind in ('', 'v', 'w')
        for words in ('', ' personalized exchange')
    },
}
#: Programs that run only with two ranks
_TWO_RANKS = re.compile(
    r'osu_(?:xccl_)?(?:bw|bibw|latency|latency_mt|latency_mp|partitioned_latency'
    r'|(?:put|get|acc|get_acc|fop|cas)_\w+)(?:_persistent)?'
)
#: Default options of the programs, which are not part of a case
_USUAL = {
    'Datatype': 'MPI_CHAR.',
    'Window creation': 'MPI_Win_allocate',
    'Synchronization': 'MPI_Win_flush',
}


class NoFiguresError(run_files.ResultsError):
    """
    An output file has no results.

    The text of the error names the file, the line and the expected content.
    """


@dataclass
class Output:
    """The content of one output file: its tables and facts."""

    path: Path
    sha256: str
    #: In bytes
    size: int
    tables: list[BenchmarkTable] = field(default_factory=list)
    #: Name of the site, None if the file does not report it
    site: str | None = None


@functools.lru_cache
def identify_benchmark(title: str) -> str | None:
    """
    Return the name of the program that prints the title line `title`, e.g. 'osu_bw'.

    The result is None if the title is unknown. Raises ValueError if the line is not a title.
    """
    port = _PORT.match(title)
    if port:
        return port.group(1)
    match = _TITLE.fullmatch(title)
    if not match:
        raise ValueError(title)
    kind, sided = match.group(1).lower(), (match.group(2) or '').lower()
    words = re.sub(r'\s+', ' ', match.group(4)).lower()
    persistent = '_persistent' if 'persistent' in words else ''
    words = re.sub(r' ?persistent ?', ' ', words).strip()
    family = 'osu_' if kind == 'mpi' else 'osu_xccl_'
    if sided:
        return (
            f'osu_{_SIDED[sided]}_{_PAIRS[words]}' if sided in _SIDED and words in _PAIRS else None
        )
    if words in _PAIRS:
        return f'{family}{_PAIRS[words]}{persistent}'
    words = words.removesuffix(' latency')
    prefix = 'i' if words.startswith('non-blocking ') else ''
    words = words.removeprefix('non-blocking ')
    if words.startswith(('neighbor ', 'neighborhood ')):
        prefix += 'neighbor_'
        words = words.partition(' ')[2]
    return f'{family}{prefix}{_COLLECTIVES[words]}{persistent}' if words in _COLLECTIVES else None


def _read_lines(path: str | Path) -> tuple[list[str], str, int]:
    """
    Return (lines, sha256, size in bytes) of an output file.

    Control characters are removed from the lines. Raises NoFiguresError if the file is unreadable,
    empty, too large or no text file.
    """
    try:
        raw = read_plain_file(path, 'output')
        data = unpack_stream(io.BytesIO(raw)).read(SIZE_LIMITS['output'] + 1)
        if len(data) > SIZE_LIMITS['output']:
            raise FileTooLargeError(path, 'output')
        for number, line in enumerate(data.split(b'\n'), 1):
            if len(line) > SIZE_LIMITS['line of an output']:
                raise FileTooLargeError(path, 'line of an output', line=number)
    except FileTooLargeError as err:
        raise NoFiguresError(
            f"{path} is too large for the output of a benchmark program: {err.strerror}; "
            f"{EXPECTED_INPUT}"
        ) from err
    except OSError as err:
        raise NoFiguresError(
            f"cannot read {path}: {err.strerror}. Name a complete file that you have permission "
            "to read"
        ) from err
    except ValueError as err:
        raise NoFiguresError(f"{path}: {err}") from err
    if measure_junk(data) > 0:
        raise NoFiguresError(f"{path}:1: not a text file: {EXPECTED_INPUT}")
    text = ESCAPES.sub('', decode_text(data).removesuffix('\n'))
    text = _LABEL.sub('', _CONTROLS.sub(' ', text).replace('\xa0', ' '))
    # Rows and commands are shorter: the patterns need time quadratic in the length.
    lines = [line[:4096].strip() for line in text.split('\n')]
    if not any(lines):
        raise NoFiguresError(f"{path} is empty: {EXPECTED_INPUT}")
    return lines, hashlib.sha256(raw).hexdigest(), len(raw)


def read_output(path: str | Path, benchmark: str | None = None) -> Output:
    """
    Return the content of an output file, with all tables.

    Raises NoFiguresError if the file is unreadable or has no results.

    :param benchmark: the program of tables whose title is missing or unknown
    """
    lines, sha256, size = _read_lines(path)
    output = Output(Path(path), sha256, size)
    series: dict[int, str | None] = {}
    try:
        is_report = try_file.is_try_file(lines[0])
    except ValueError as err:
        raise NoFiguresError(
            f"{path}:1: {err}. Use the version of osu-container that wrote the file"
        ) from err
    if is_report:
        series = dict(enumerate((name for _, name in try_file.parse_parts(lines)), 1))
        output.site = try_file.find_site_name(lines)
        lines = [line if series[number] else '' for number, line in enumerate(lines, 1)]
        if not any(lines):
            raise NoFiguresError(
                f"{path} has no results, because no benchmark ran. The sections `summary` and "
                "`errors` of this file contain the reasons"
            )
    for block in _split_blocks(lines, benchmark):
        for table in _KINDS.get(block['kind'], _parse_osu)(path, block, benchmark):
            table.context, table.series = block['context'], series.get(block['line'])
            output.tables.append(table)
    if not any(table.reason is None for table in output.tables):
        raise NoFiguresError(
            output.tables[-1].reason if output.tables else _explain_no_tables(path, lines)
        )
    return output


def _explain_no_tables(path: str | Path, lines: list[str]) -> str:
    row = next((number for number, line in enumerate(lines, 1) if osu_output.is_row(line)), None)
    if row:
        heading = next(filter(None, reversed(lines[: row - 1])), '')
        has_figures = osu_output.count_decimals(lines[row - 1].split()[1])
        if not has_figures and not _IMB_HEAD.fullmatch(heading):
            return (
                f"{path}:{row}: this program's output is not supported: {EXPECTED_INPUT}; the "
                f"line above the first row of the table is: {heading[:200]}"
            )
        return (
            f"{path}:{row}: the program that printed this table is unknown, because the title of the "
            "table is missing. Keep the lines that begin with '#', or name the program that printed the "
            "table: osu-container import --benchmark PROGRAM FILE"
        )
    last = next(line for line in reversed(lines) if line)
    return (
        f"{path}: no results in {len(lines)} line(s): {EXPECTED_INPUT}. The last line is: "
        f"{last[:200]}"
    )


def _split_blocks(lines: list[str], benchmark: str | None) -> list[dict[str, Any]]:
    """
    Split the lines of an output file into blocks; each block begins with a title.

    :param benchmark: the program of a block whose title is missing
    """
    release, command = None, None
    words: tuple[str, ...] = ()
    blocks: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if blocks and line[:1] != '#' and '_' not in line and 'IMB-' not in line:
            blocks[-1]['lines'].append(line)  # neither a title nor a command, most often a row
            continue
        imb = _IMB_TITLE.match(line)
        release = imb.group(1) if imb else release
        called = _COMMAND.search(_PROMPT.sub('', line)) or _COMMAND.search(line)
        kind = None if called else _classify_line(line)
        if _CCL_HEAD.match(line) and not (blocks and blocks[-1]['kind'] == 'ccl'):
            kind = 'ccl'
        if (
            kind is None
            and not blocks
            and not called
            and benchmark
            and (osu_output.is_row(line) or _HEADING.match(line) or _IMB_HEAD.match(line))
        ):
            kind = 'bare'
        block = blocks[-1] if blocks else None
        if called:
            command = called
            words = tuple(re.findall(r'--?[\w-]+(?:[= ](?!-)\S+)?|\S+', _PROMPT.sub('', line)))
        elif kind and (
            kind != 'title'
            or not block
            or block['kind'] != 'port'
            or command
            or len(block['lines']) > 3
        ):
            blocks.append(
                {
                    'kind': kind,
                    'line': number,
                    'lines': [line],
                    'command': command,
                    'release': release,
                    'context': words,
                }
            )
            command = None
        elif block:
            block['lines'].append(line)
    return blocks


@functools.lru_cache
def _classify_line(line: str) -> str | None:
    """
    Return which kind of program output begins with this line: 'title', 'port', 'imb' or 'ccl'.

    'title' is a table of an OSU program, 'port' a table of an mpi4py port, 'imb' a table of the
    Intel MPI Benchmarks, 'ccl' the output of nccl-tests or rccl-tests. Otherwise the result is
    None.
    """
    kinds = {
        'port': _PORT.match,
        'title': _TITLE.fullmatch,
        'imb': _IMB_TABLE.match,
        'ccl': _CCL.match,
    }
    return next((kind for kind, match in kinds.items() if match(line)), None)


def _parse_launch_command(
    command: re.Match[str] | None, benchmark: str
) -> tuple[int | None, int | None, str | None]:
    """
    Return (nodes, ranks, buffers) of a launch command; missing values are None.

    :param command: a match of the regular expression _COMMAND
    """
    if command is None or command.group(3) != benchmark or not command.group(1):
        return None, None, None
    launcher, options, arguments = command.group(1), ' ' + command.group(2), command.group(4)

    def number(pattern: str) -> int | None:
        match = re.search(rf'\s(?:{pattern})[= ]*(\d{{1,7}})(?=\s)', options)
        return int(match.group(1)) or None if match else None

    slurm = launcher in ('srun', 'flux run')
    nodes = number('-N|--nodes') if slurm else None
    each = number('--ntasks-per-node') if slurm else None
    ranks = number('-n|--ntasks') if slurm else number('--?np|-n')
    sides = re.search(r'(?:^|\s)([HDM]) ([HDM])(?:\s|$)', arguments)
    return (
        nodes,
        ranks or (nodes * each if nodes and each else None),
        ' '.join(sides.groups()) if sides else None,
    )


def _parse_osu(
    path: str | Path, block: dict[str, Any], benchmark: str | None
) -> list[BenchmarkTable]:
    """
    Parse a block of output from an OSU program or mpi4py port, and return its only table in a list.
    """
    location = f"{path}:{block['line']}"
    title = block['lines'][0]
    name = benchmark if block['kind'] == 'bare' else identify_benchmark(title) or benchmark
    if (name or '').startswith('IMB '):
        return _parse_imb(path, block, benchmark)
    if (name or '').endswith('_perf'):
        return _parse_ccl(path, block, benchmark)
    if name is None:
        return [
            BenchmarkTable(
                None,
                location,
                f"{location}: the table has the unknown title {title!r}. Name the program: "
                f"osu-container import --benchmark PROGRAM {path}",
            )
        ]
    try:
        table = osu_output.parse(
            '\n'.join(block['lines']), benchmark=name, source=path, first_line=block['line']
        )
    except osu_output.OutputError as err:
        return [BenchmarkTable(name, location, str(err))]
    if block['kind'] == 'bare' or not (
        table.programs != 'OSU C programs' or title.startswith('# OSU')
    ):
        table.programs = None
    for kept_lines in (table.comments, table.foreign_lines, table.broken_lines):
        kept_lines[:] = [line[:KEPT_CHARACTERS] for line in kept_lines[:KEPT_LINES]]
    table.nodes, table.ranks, requested = _parse_launch_command(block['command'], name)
    table.variant, pairs = _read_options('\n'.join(table.comments))
    if pairs or _TWO_RANKS.fullmatch(name):
        table.ranks = 2 * (pairs or 1)
    table.buffers = _resolve_buffers(table, requested)
    return [table]


@functools.lru_cache
def _read_options(comments: str) -> tuple[str, int | None]:
    """
    Return (unusual options, number of pairs of ranks) from the comments of a table.

    The number is None if the program prints no number of pairs.
    """
    options = dict(
        re.findall(r'^#?\s*(Datatype|Window creation|Synchronization): *(\S+)', comments, re.M)
    )
    parts = [value.rstrip('.') for key, value in options.items() if value != _USUAL[key]]
    pairs = re.search(r'\[ pairs: (\d+) \] \[ window size: (\d+) \]', comments)
    if pairs and pairs[2] != '64':
        parts.append(f'window size {pairs[2]}')
    return ', '.join(parts), int(pairs[1]) if pairs else None


def _resolve_buffers(table: BenchmarkTable, requested: str | None) -> str | None:
    """
    Return the buffers of the measurement in a table, None if undetermined.

    The result is one of model.BUFFERS.

    :param requested: the buffers in the command line
    """
    if table.benchmark in model.SINGLE_VALUE_BENCHMARKS:
        return ''
    printed = table.printed_buffers
    if printed:
        return printed if printed in model.BUFFERS else None
    if table.accelerator == 'MANAGED' or any(' MANAGED ' in line for line in table.comments[:1]):
        return 'M M'
    # With an accelerator, collectives use device memory and other programs the buffers of their
    # arguments.
    if table.accelerator:
        has_arguments = _TWO_RANKS.fullmatch(table.benchmark or '') or table.benchmark in (
            'osu_mbw_mr',
            'osu_multi_lat',
        )
        return (requested if requested in model.BUFFERS else None) if has_arguments else 'D D'
    return None if table.programs == 'OSU Python programs' else 'H H'


def _parse_imb(
    path: str | Path, block: dict[str, Any], benchmark: str | None = None
) -> list[BenchmarkTable]:
    """
    Return a list with the table in a block of output from the Intel MPI Benchmarks.
    """
    title = _IMB_TABLE.match(block['lines'][0])
    name = f'IMB {title.group(1)}' if title else benchmark or ''
    table = BenchmarkTable(
        name,
        f"{path}:{block['line']}",
        programs='Intel MPI Benchmarks',
        release=block['release'],
        buffers='' if name in model.SINGLE_VALUE_BENCHMARKS else 'H H',
    )
    heads: list[str] = []
    column: int | None = None
    lines = list(enumerate(block['lines'], block['line']))
    rows = {number: line.split() for number, line in lines if osu_output.is_row(line)}
    decimals: dict[int | None, int] = {}
    for number, line in lines:
        cells = rows.get(number) or line.split()
        ranks = None if number in rows else _IMB_RANKS.match(line)
        if ranks:
            table.ranks = int(ranks.group(1)) or None
        elif number not in rows and _IMB_HEAD.fullmatch(line):
            heads = cells
            column = next(
                (heads.index(head) for head in _list_imb_columns(name) if head in heads), None
            )
            table.reason = _explain_unknown_column(table, heads, column)
            table.unread_columns = [head for head in heads[1:] if head != heads[column or 0]]
            if column not in decimals:
                decimals[column] = osu_output.count_usual_decimals(rows.values(), column or 0)
        elif column is not None and re.match(r'\d+\s+\S', line):
            cell = cells[column] if number in rows and column < len(cells) else None
            whole = cell and osu_output.count_decimals(cell) == decimals[column]
            _add_figure(
                table,
                f'{path}:{number}',
                line,
                cells[0] if heads[0] == '#bytes' else '0',
                cell if whole else None,
            )
        elif line and len(table.comments) < KEPT_LINES:
            (table.comments if line.startswith('#') else table.foreign_lines).append(
                line[:KEPT_CHARACTERS]
            )
        if table.reason:
            return [table]
    if not table.values:
        table.reason = (
            f"{table.location}: no results of {name}: expected lines of numbers below "
            "'#bytes #repetitions ...'"
        )
    return [table]


def _explain_unknown_column(
    table: BenchmarkTable, heads: list[str], column: int | None
) -> str | None:
    """
    Return why the values in a table of the Intel MPI Benchmarks are ambiguous.

    The result is None if the values are not ambiguous.

    :param heads: the column headings
    :param column: number of the column with the values, None if no heading is known
    """
    if column is None:
        return f"{table.location}: {table.benchmark} has only unknown columns: {', '.join(heads)}"
    if heads[column] == 'Mbytes/sec' and (table.release or '0') < '2018':
        # 2 bytes in 1.72 µs are 1.11 'Mbytes/sec' in 2016, 8 bytes in 1.66 µs are 4.81 in 2021.
        return (
            f"{table.location}: the unit of {table.benchmark} is ambiguous: one Mbyte is 1048576 "
            "bytes before release 2018 of the Intel MPI Benchmarks and 1000000 bytes since then, "
            f"and the release of this output is {table.release or 'unknown'}"
        )
    return None


def _list_imb_columns(name: str) -> list[str]:
    """
    Return the headings of the columns that may contain a benchmark's result.

    The best column comes first.
    """
    return (
        ['Mbytes/sec'] if model.is_bandwidth(name) else ['t_avg[usec]', 't[usec]', 't_ovrl[usec]']
    )


def _add_figure(
    table: BenchmarkTable,
    location: str,
    line: str,
    size: str,
    cell: str | None,
    factor: int = 1,
) -> None:
    """
    Add the measured value in a row to a table.

    If the row is malformed, the row is added to the broken lines of the table. If the table already
    has a row with the same message size, the whole table becomes invalid.

    :param cell: the number as text, None if the other rows have more or fewer decimals
    :param factor: factor that converts the number to MB/s or us
    """
    if cell is None or not size.isdigit() or len(size) > 18 or float(cell) * factor > model.HIGHEST:
        table.broken_lines.append(f'{location}: {line[:KEPT_CHARACTERS]}')
    elif int(size) in table.values or int(size) in table.zeros:
        table.reason = (
            f"{location}: duplicate size {size} of {table.benchmark}: "
            f"{osu_output.DUPLICATE_TABLE_HINT}"
        )
    elif float(cell) * factor < model.LOWEST:
        table.zeros.append(int(size))
    else:
        table.values[int(size)] = round(float(cell) * factor, 9)


def _parse_ccl(
    path: str | Path, block: dict[str, Any], benchmark: str | None = None
) -> list[BenchmarkTable]:
    """
    Return the two tables in a block of output from nccl-tests or rccl-tests.

    The first table has the values out of place, the second table the values in place.
    """
    text, location = '\n'.join(block['lines']), f"{path}:{block['line']}"
    program_match = _PERF.search(
        block['command'].group(0) if block['command'] else ''
    ) or _PERF.search(text)
    program = f'{next(filter(None, program_match.groups()))}_perf' if program_match else benchmark
    if not program or program.startswith('osu_'):
        return [
            BenchmarkTable(
                None,
                location,
                f"{location}: cannot find out which program of nccl-tests printed the table. Name "
                f"the program, such as all_reduce_perf: osu-container import --benchmark PROGRAM {path}",
            )
        ]
    suite = 'rccl-tests' if re.search(r'rccl-tests|AMD Instinct', text) else 'nccl-tests'
    release = re.search(r'ccl-tests:? [Vv]ersion:? *(\S+)', text)
    ranks = re.findall(r'^# +Rank +\d+ .*? on +(\S+) +device', text, re.M)
    heads: list[str] = next(
        (line.strip('# ').split() for line in block['lines'] if re.match(r'# +size +count', line)),
        [],
    )
    tables = []
    for column, variant in zip(
        (column for column, head in enumerate(heads) if head == 'busbw'), ('', 'in place')
    ):
        table = BenchmarkTable(
            f'xccl {program}',
            location,
            nodes=len(set(ranks)) or None,
            ranks=len(ranks) or None,
            buffers='D D',
            programs=suite,
            release=release.group(1) if release else None,
            variant=variant,
            unread_columns=['time', 'algbw'],
        )
        tables.append(table)
        for number, line in enumerate(block['lines'], block['line']):
            if not line[:1].isdigit() or not re.match(r'\d+\s+\d', line) or table.reason:
                continue
            cells = line.split()
            figure = re.fullmatch(r'\d{1,12}\.\d\d', cells[column]) if column < len(cells) else None
            errors = (
                cells[column + 1]
                if len(cells) > column + 1 and heads[column + 1 : column + 2] == ['#wrong']
                else '0'
            )
            if errors.isdigit() and int(errors):
                table.reason = (
                    f"{location}: {table.benchmark} received wrong data (#wrong {errors})"
                )
            else:
                cell = figure.group() if figure else None
                _add_figure(table, f'{path}:{number}', line, cells[0], cell, 1000)
        table.reason = table.reason or (
            None if table.values else f"{location}: no results of {program}"
        )
    return tables or [
        BenchmarkTable(
            None,
            location,
            f"{location}: no results of {program}: expected the heading '# size count ... busbw'",
        )
    ]


_KINDS: dict[str, Callable[[str | Path, dict[str, Any], str | None], list[BenchmarkTable]]] = {
    'imb': _parse_imb,
    'ccl': _parse_ccl,
}

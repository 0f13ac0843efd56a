"""
Text that programs have printed -> the figures of a run.

    OSU Micro-Benchmarks    in C and in Python, and mpi4py's ports: any number of tables in one file
    Intel MPI Benchmarks    IMB-MPI1 and others: a table for each benchmark and number of processes
    nccl-tests, rccl-tests  bus bandwidth, out of place and in place

What the text says is taken, what it does not say is named as not known: the number of nodes, say. A
command line above a table (`srun -N2 -n2 osu_bw D D`, as a shell with -x shows it) says some of it;
where those of two tables differ, they are two cases.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

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

#: So many lines of others, of so many characters, are kept beside a table
KEPT_LINES, KEPT_CHARACTERS = 50, 500
#: Stands for a fact of an imported run that its files do not say
UNKNOWN = 'not known'
EXPECTED_INPUT = (
    "wanted the output of a program of the OSU Micro-Benchmarks ('# OSU MPI Bandwidth Test v7.5' and what "
    "follows), of the Intel MPI Benchmarks, or of nccl-tests"
)
#: The heading of a table, whose title may be missing
_HEADING = re.compile(r'# *(?:Size|Message Size)\b', re.I)
_CCL = re.compile(r'# *nThreads? +\d+')
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
_IMB_HEAD = re.compile(r'#(?:bytes|repetitions)\b.*')
#: A launcher and the program, as a shell with -x or a terminal shows it
_COMMAND = re.compile(
    r'(?:\b(srun|flux run|mpirun|mpiexec(?:\.hydra)?|aprun|jsrun)\b|^\S*[$%>+]+ )(.*?)'
    r'\b(osu_\w+|IMB-\w+|\w+_perf)\b(.*)'
)
_PROMPT = re.compile(r'^\S*[$%>+]+ +')
#: What stands before each line: of `srun --label`, of `mpirun --tag-output --timestamp-output`, of
#: a CI server; and a '#' that was kept from being a heading of Markdown
_LABEL = re.compile(
    r'\s*(?:\d{1,7}: |(?:\w{3} \w{3} +\d+ [\d:]{8} \d{4})?\[\d+,\d+\]<std(?:out|err)>:\s?'
    r'|\d\d:\d\d:\d\d(?:\.\d+)?\s+|\\(?=#))'
)
_CONTROLS = re.compile(r'[\x01-\x08\x0b-\x1f\x7f\x85\u2028\u2029]')

#: Words of a title -> program, without 'osu_'; the titles of c/mpi in OSU 5 to 7
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
            'allgather',
            'allgatherv',
            'allreduce',
            'alltoall',
            'alltoallv',
            'alltoallw',
            'barrier',
            'bcast',
            'gather',
            'gatherv',
            'reduce',
            'reduce_scatter',
            'scatter',
            'scatterv',
        )
    },
    'broadcast': 'bcast',
    'reduce-scatter': 'reduce_scatter',
    **{
        f'all-to-all{kind}{words}': f'alltoall{kind}'
        for kind in ('', 'v', 'w')
        for words in ('', ' personalized exchange')
    },
}
#: Programs that end unless they have two ranks
_TWO_RANKS = re.compile(
    r'osu_(?:xccl_)?(?:bw|bibw|latency|latency_mt|latency_mp|partitioned_latency'
    r'|(?:put|get|acc|get_acc|fop|cas)_\w+)(?:_persistent)?'
)
#: What these programs do where nobody asks for something else, so that it is no part of a case
_USUAL = {
    'Datatype': 'MPI_CHAR.',
    'Window creation': 'MPI_Win_allocate',
    'Synchronization': 'MPI_Win_flush',
}


class NoFiguresError(run_files.ResultsError):
    """
    A file that holds no figures; the text names the file, the line, what is there and what was
    wanted.
    """


@dataclass
class Output:
    """
    What a file holds: its path, sha256 and size in bytes, the Tables, and its site (str) where
    it names one.
    """

    path: Path
    sha256: str
    size: int
    tables: list[BenchmarkTable] = field(default_factory=list)
    site: str | None = None


def identify_benchmark(title):
    """
    Return the program (str) whose title line this is (str): 'osu_bw'; None for a title that is not
    known.

    Raises ValueError if it is no title.
    """
    port = _PORT.match(title)
    if port:
        return port.group(1)
    found = _TITLE.fullmatch(title)
    if not found:
        raise ValueError(title)
    kind, sided = found.group(1).lower(), (found.group(2) or '').lower()
    words = re.sub(r'\s+', ' ', found.group(4)).lower()
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


def _read_text_and_bytes(path):
    """
    Return (text (str), the bytes of the file) of an output, however it was written. Raises
    OutputFailure.
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
            f"{path}: {err.strerror}, and no output of a benchmark has so many: {EXPECTED_INPUT}"
        ) from err
    except OSError as err:
        raise NoFiguresError(
            f"{path} cannot be read: {err.strerror}. Name a file that you may read, and that is "
            "whole"
        ) from err
    except ValueError as err:
        raise NoFiguresError(f"{path}: {err}") from err
    if measure_junk(data) > 0:
        raise NoFiguresError(f"{path}:1: it is no text: {EXPECTED_INPUT}")
    return decode_text(data), raw


def _read_lines(path):
    """Return (lines (list of str), sha256, size) of a file. Raises OutputFailure."""
    text, raw = _read_text_and_bytes(path)
    lines = []
    for row in text.removesuffix('\n').split(
        '\n'
    ):  # no row or command is longer: patterns need a time of its square
        line = _LABEL.sub('', ESCAPES.sub('', row[:4096].rstrip('\r')), count=1)
        lines.append(_CONTROLS.sub(' ', line).replace('\xa0', ' ').strip())
    if not any(lines):
        raise NoFiguresError(f"{path} is empty: {EXPECTED_INPUT}")
    return lines, hashlib.sha256(raw).hexdigest(), len(raw)


def read_output(path, benchmark=None):
    """
    Return the Output of a file.

    :param path: str or Path
    :param benchmark: str, the program, for a table whose title is not there or not known
    Raises OutputFailure if it cannot be read or holds no figures.
    """
    lines, sha256, size = _read_lines(path)
    found, series = Output(Path(path), sha256, size), {}
    if try_file.is_try_file(lines[0]):
        series = dict(enumerate((name for _, name in try_file.parse_parts(lines)), 1))
        found.site = try_file.find_summary_field(lines, 'site')
        lines = [line if series[number] else '' for number, line in enumerate(lines, 1)]
        if not any(lines):
            raise NoFiguresError(
                f"{path} holds no figures: its parts summary and errors say why nothing ran"
            )
    for block in _split_blocks(lines, benchmark):
        for table in _KINDS.get(block['kind'], _parse_osu)(path, block, benchmark):
            table.context, table.series = block['context'], series.get(block['line'])
            found.tables.append(table)
    if not any(table.reason is None for table in found.tables):
        raise NoFiguresError(
            found.tables[-1].reason if found.tables else _explain_no_tables(path, lines)
        )
    return found


def _explain_no_tables(path, lines):
    """Return why a text has no tables (str)."""
    row = next((number for number, line in enumerate(lines, 1) if osu_output.is_row(line)), None)
    if row:
        return (
            f"{path}:{row}: figures without a title that says which program printed them. Say it by --benchmark "
            "osu_bw (osu-container import), or keep the lines that begin with '#'"
        )
    last = next(line for line in reversed(lines) if line)
    return (
        f"{path}: no figures in {len(lines)} line(s): {EXPECTED_INPUT}; it ends with: {last[:200]}"
    )


def _split_blocks(lines, benchmark):
    """
    Return the parts of a text (list of dict): one begins with each title. benchmark: str, of one
    without a title.
    """
    release, command, words, blocks = None, None, (), []
    for number, line in enumerate(lines, 1):
        imb = _IMB_TITLE.match(line)
        release = imb.group(1) if imb else release
        called = (
            None
            if osu_output.is_row(line)
            else _COMMAND.search(_PROMPT.sub('', line)) or _COMMAND.search(line)
        )
        kind = None if called else _classify_line(line)
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


def _classify_line(line):
    """Return what begins with a line: 'title', 'port', 'imb', 'ccl' or None."""
    kinds = {
        'port': _PORT.match,
        'title': _TITLE.fullmatch,
        'imb': _IMB_TABLE.match,
        'ccl': _CCL.match,
    }
    return next((kind for kind, match in kinds.items() if match(line)), None)


def _parse_launch_command(command, benchmark):
    """
    Return (nodes, ranks, buffers), None for each that a command line (a match of _COMMAND, or
    None) does not say.
    """
    if command is None or command.group(3) != benchmark or not command.group(1):
        return None, None, None
    launcher, options, arguments = command.group(1), ' ' + command.group(2), command.group(4)

    def number(pattern):
        found = re.search(rf'\s(?:{pattern})[= ]*(\d{{1,7}})(?=\s)', options)
        return int(found.group(1)) or None if found else None

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


def _parse_osu(path, block, benchmark):
    """
    Return the Table (list of one) of a block of lines that an OSU program, or a port of one, has
    printed.
    """
    where = f"{path}:{block['line']}"
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
                where,
                f"{where}: the title {title!r} is none that is known. Say which program it is by "
                "--benchmark (osu-container import)",
            )
        ]
    try:
        table = osu_output.parse(
            '\n'.join(block['lines']), benchmark=name, source=path, first_line=block['line']
        )
    except osu_output.OutputError as err:
        return [BenchmarkTable(name, where, str(err))]
    if block['kind'] == 'bare' or not (
        table.programs != 'OSU C programs' or title.startswith('# OSU')
    ):
        table.programs = None
    for some in (table.comments, table.foreign_lines, table.broken_lines):
        some[:] = [line[:KEPT_CHARACTERS] for line in some[:KEPT_LINES]]
    table.nodes, table.ranks, asked = _parse_launch_command(block['command'], name)
    comments = '\n'.join(table.comments)
    said = dict(
        re.findall(r'^#?\s*(Datatype|Window creation|Synchronization): *(\S+)', comments, re.M)
    )
    parts = [value.rstrip('.') for key, value in said.items() if value != _USUAL[key]]
    pairs = re.search(r'\[ pairs: (\d+) \] \[ window size: (\d+) \]', comments)
    if pairs:
        table.ranks = 2 * int(pairs.group(1))
        parts += [f'window size {pairs.group(2)}'] if pairs.group(2) != '64' else []
    if _TWO_RANKS.fullmatch(name):
        table.ranks = 2
    table.variant = ', '.join(parts)
    table.buffers = _resolve_buffers(table, asked)
    return [table]


def _resolve_buffers(table, asked):
    """
    Return where the buffers of a Table are (one of model.BUFFERS), None where nothing says it.

    asked: str, by the command line, or None
    """
    if table.benchmark in model.SINGLE_VALUE_BENCHMARKS:
        return ''
    said = table.printed_buffers
    if said:
        return said if said in model.BUFFERS else None
    if table.accelerator == 'MANAGED' or any(' MANAGED ' in line for line in table.comments[:1]):
        return 'M M'
    if (
        table.accelerator
    ):  # collectives have device memory then; others what the letters behind them say
        two = _TWO_RANKS.fullmatch(table.benchmark) or table.benchmark in (
            'osu_mbw_mr',
            'osu_multi_lat',
        )
        return (asked if asked in model.BUFFERS else None) if two else 'D D'
    return None if table.programs == 'OSU Python programs' else 'H H'


def _parse_imb(path, block, benchmark=None):
    """Return the Table (list of one) of a block of the Intel MPI Benchmarks."""
    title = _IMB_TABLE.match(block['lines'][0])
    name = f'IMB {title.group(1)}' if title else benchmark
    table = BenchmarkTable(
        name,
        f"{path}:{block['line']}",
        programs='Intel MPI Benchmarks',
        release=block['release'],
        buffers='' if name in model.SINGLE_VALUE_BENCHMARKS else 'H H',
    )
    heads, column, decimals = [], None, 0
    for number, line in enumerate(block['lines'], block['line']):
        ranks, cells = _IMB_RANKS.match(line), line.split()
        if ranks:
            table.ranks = int(ranks.group(1)) or None
        elif _IMB_HEAD.fullmatch(line):
            heads = cells
            column = next(
                (heads.index(head) for head in _list_imb_columns(name) if head in heads), None
            )
            table.reason = _explain_unknown_column(table, heads, column)
            decimals = osu_output.count_usual_decimals(
                [row.split() for row in block['lines'] if osu_output.is_row(row)], column or 0
            )
        elif heads and re.match(r'\d+\s+\S', line):
            cell = cells[column] if osu_output.is_row(line) and column < len(cells) else None
            whole = cell and osu_output.count_decimals(cell) == decimals
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
        table.reason = f"{table.location}: no figures of {name}: wanted lines of numbers below '#bytes #repetitions ...'"
    return [table]


def _explain_unknown_column(table, heads, column):
    """Return why the figures below heads (list of str) are not known (str), None if they are."""
    if column is None:
        return f"{table.location}: {table.benchmark} has no column that is known, only {', '.join(heads)}"
    if heads[column] == 'Mbytes/sec' and (table.release or '0') < '2018':
        # 2 bytes in 1.72 µs are 1.11 'Mbytes/sec' in 2016, 8 bytes in 1.66 µs are 4.81 in 2021
        return (
            f"{table.location}: the Mbytes of {table.benchmark} are 1048576 bytes before release 2018, 1000000 since, "
            f"and its release is {table.release or 'not known'}"
        )
    return None


def _list_imb_columns(name):
    """
    Return the columns (list of str) of which one is the figure of a benchmark (str), the best
    first.
    """
    return (
        ['Mbytes/sec'] if model.is_bandwidth(name) else ['t_avg[usec]', 't[usec]', 't_ovrl[usec]']
    )


def _add_figure(table, where, line, size, cell, factor=1):
    """
    Add the figure of a row to a Table, its line to what is broken where it is not whole, or set the
    table's reason.

    :param size: str; cell: str, the number, None where it has not the decimals of the others;
        factor: to MB/s or us
    """
    if cell is None or not size.isdigit() or len(size) > 18 or float(cell) * factor > model.HIGHEST:
        table.broken_lines.append(f'{where}: {line[:KEPT_CHARACTERS]}')
    elif int(size) in table.values or int(size) in table.zeros:
        table.reason = f"{where}: size {size} of {table.benchmark} stands twice: {osu_output.DUPLICATE_TABLE_HINT}"
    else:
        table.add(int(size), round(float(cell) * factor, 9))


def _parse_ccl(path, block, benchmark=None):
    """
    Return the Tables (list) of a block of nccl-tests or rccl-tests: bus bandwidth, out of place
    and in place.
    """
    text, where = '\n'.join(block['lines']), f"{path}:{block['line']}"
    said = _PERF.search(block['command'].group(0) if block['command'] else '') or _PERF.search(text)
    program = f'{next(filter(None, said.groups()))}_perf' if said else benchmark
    if not program or program.startswith('osu_'):
        return [
            BenchmarkTable(
                None,
                where,
                f"{where}: nccl-tests does not say which of its programs this is. Say it: "
                f"osu-container import --benchmark all_reduce_perf {path}",
            )
        ]
    suite = 'rccl-tests' if re.search(r'rccl-tests|AMD Instinct', text) else 'nccl-tests'
    release = re.search(r'ccl-tests:? [Vv]ersion:? *(\S+)', text)
    ranks = re.findall(r'^# +Rank +\d+ .*? on +(\S+) +device', text, re.M)
    heads = next(
        (line.strip('# ').split() for line in block['lines'] if re.match(r'# +size +count', line)),
        [],
    )
    tables = []
    for place, way in zip(
        (place for place, head in enumerate(heads) if head == 'busbw'), ('', 'in place')
    ):
        table = BenchmarkTable(
            f'xccl {program}',
            where,
            nodes=len(set(ranks)) or None,
            ranks=len(ranks) or None,
            buffers='D D',
            programs=suite,
            release=release.group(1) if release else None,
            variant=way,
        )
        tables.append(table)
        for number, line in enumerate(block['lines'], block['line']):
            cells = line.split()
            if not re.match(r'\d+\s+\d', line) or table.reason:
                continue
            found = re.fullmatch(r'\d{1,12}\.\d\d', cells[place]) if place < len(cells) else None
            wrong = (
                cells[place + 1]
                if len(cells) > place + 1 and heads[place + 1 : place + 2] == ['#wrong']
                else '0'
            )
            if wrong.isdigit() and int(wrong):
                table.reason = (
                    f"{where}: {table.benchmark} received data that was not sent (#wrong {wrong})"
                )
            else:
                _add_figure(
                    table, f'{path}:{number}', line, cells[0], found and found.group(), 1000
                )
        table.reason = table.reason or (
            None if table.values else f"{where}: no figures of {program}"
        )
    return tables or [
        BenchmarkTable(
            None,
            where,
            f"{where}: no heading of {program} ('# size count ... busbw') and no figures",
        )
    ]


_KINDS = {'imb': _parse_imb, 'ccl': _parse_ccl}

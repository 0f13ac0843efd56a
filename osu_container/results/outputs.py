"""
Text that programs have printed -> the figures of a run.

    OSU Micro-Benchmarks    in C and in Python, and mpi4py's ports: any number of tables in one file
    Intel MPI Benchmarks    IMB-MPI1 and others: a table for each benchmark and number of processes

What the text says is taken, what it does not say is named as not known: the number of nodes, say. A command line above
a table (`srun -N2 -n2 osu_bw D D`, as a shell with -x shows it) says some of it.
"""
from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

from osu_container import osu_output
from osu_container.core.reading.files import TooLarge, lines_of

from . import model, run_files

#: So many lines of others, of so many characters, are kept beside a table
KEPT, KEPT_OF_LINE = 50, 500
#: Stands for a fact of an imported run that its files do not say
UNKNOWN = 'not known'
#: What is part of a case where the text does not say where the buffers are
NO_BUFFERS = 'buffers not known'
WANTED = ("wanted the output of a program of the OSU Micro-Benchmarks ('# OSU MPI Bandwidth Test v7.5' and what "
          "follows), or of the Intel MPI Benchmarks")

_TITLE = re.compile(r'# *(?:OSU |OMB-Py |OMB Python )?(MPI|NCCL|RCCL|XCCL)(_\w+)?(?:-(\w+))?(?: MANAGED)? (.*?) Test'
                    r'(?: Test)?\s*(?:v\d\S*|\(.*\))?\s*', re.I)
_PORT = re.compile(r'# *(osu_\w+): mpi4py \S+ port', re.I)
_IMB_TITLE = re.compile(r'#\s*Intel ?\(R\) MPI Benchmarks? (?:Suite )?V?([\d.]+)?', re.I)
_IMB_TABLE = re.compile(r'# *Benchmarking +(\w[\w-]*)')
_IMB_RANKS = re.compile(r'# *#processes *= *(\d{1,9})')
_IMB_HEAD = re.compile(r'#(?:bytes|repetitions)\b.*')
#: A launcher and the program, as a shell with -x or a terminal shows it
_COMMAND = re.compile(r'\b(srun|flux run|mpirun|mpiexec(?:\.hydra)?|aprun)\b(.*?)\b(osu_\w+)\b(.*)')
_ROW = re.compile(r'\s*\d+\s+[\d.]+(?:\s+\S+)*\s*')
_COLOURS = re.compile(r'\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?')
#: What stands before each line: of `srun --label`, of `mpirun --tag-output --timestamp-output`, of a CI server; and a
#: '#' that was kept from being a heading of Markdown
_LABEL = re.compile(r'\s*(?:\d{1,7}: |(?:\w{3} \w{3} +\d+ [\d:]{8} \d{4})?\[\d+,\d+\]<std(?:out|err)>:\s?'
                    r'|\d\d:\d\d:\d\d(?:\.\d+)?\s+|\\(?=#))')
_CONTROLS = re.compile(r'[\x01-\x08\x0b-\x1f\x7f\x85\u2028\u2029]')

#: Words of a title -> program, without 'osu_'; the titles of c/mpi in OSU 5 to 7
_PAIRS = {'bandwidth': 'bw', 'bi-directional bandwidth': 'bibw', 'latency': 'latency', 'multi latency': 'multi_lat',
          'multi-threaded latency': 'latency_mt', 'multi-process latency': 'latency_mp', 'init': 'init',
          'multiple bandwidth / message rate': 'mbw_mr', 'partitioned latency': 'partitioned_latency'}
_SIDED = {'_put': 'put', '_get': 'get', '_accumulate': 'acc', '_get_accumulate': 'get_acc', '_fetch_and_op': 'fop',
          '_compare_and_swap': 'cas'}
_COLLECTIVES = {**{name: name for name in ('allgather', 'allgatherv', 'allreduce', 'alltoall', 'alltoallv', 'alltoallw',
                                           'barrier', 'bcast', 'gather', 'gatherv', 'reduce', 'reduce_scatter',
                                           'scatter', 'scatterv')},
                'broadcast': 'bcast', 'reduce-scatter': 'reduce_scatter',
                **{f'all-to-all{kind}{words}': f'alltoall{kind}' for kind in ('', 'v', 'w')
                   for words in ('', ' personalized exchange')}}
#: Programs that end unless they have two ranks
_TWO_RANKS = re.compile(r'osu_(?:xccl_)?(?:bw|bibw|latency|latency_mt|latency_mp|partitioned_latency'
                        r'|(?:put|get|acc|get_acc|fop|cas)_\w+)(?:_persistent)?')
#: What these programs do where nobody asks for something else, so that it is no part of a case
_USUAL = {'Datatype': 'MPI_CHAR.', 'Window creation': 'MPI_Win_allocate', 'Synchronization': 'MPI_Win_flush'}


class OutputFailure(run_files.ResultsError):
    """A file that holds no figures; the text names the file, the line, what is there and what was wanted."""


@dataclass
class Table:
    """
    One table of figures as a text has it.

    where      'FILE:LINE' of its title
    benchmark  str; None for a title that is not known
    reason     why it has no figures (str), None if it has
    nodes, ranks  int, None where the text does not say
    buffers    one of model.BUFFERS, None where the text does not say
    """

    where: str
    benchmark: str | None
    reason: str | None = None
    values: dict = field(default_factory=dict)
    zeros: list = field(default_factory=list)
    nodes: int | None = None
    ranks: int | None = None
    buffers: str | None = ''
    variant: str = ''
    programs: str | None = None
    release: str | None = None
    checked: bool = False
    comments: list = field(default_factory=list)
    foreign: list = field(default_factory=list)
    broken: list = field(default_factory=list)

    @property
    def case(self):
        """Return its Case."""
        variant = ', '.join(filter(None, (self.variant, NO_BUFFERS if self.buffers is None else '')))
        return model.Case(self.benchmark, self.buffers or '', self.nodes, self.ranks, variant)

    @property
    def unknown(self):
        """Return what the text does not say of it (list of str)."""
        names = ('nodes', 'ranks', 'buffers', 'programs')
        return [name for name in names if getattr(self, name) is None] + (
            ['release'] if self.release is None and not (self.programs or '').startswith('mpi4py') else [])


@dataclass
class Output:
    """What a file holds: its path, sha256 and size in bytes, the Tables, and what must be said of it (list of str)."""

    path: Path
    sha256: str
    size: int
    tables: list[Table]
    notes: list[str] = field(default_factory=list)


def benchmark_of(title):
    """
    Return the program (str) whose title line this is (str): 'osu_bw'; None for a title that is not known.

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
        return f'osu_{_SIDED[sided]}_{_PAIRS[words]}' if sided in _SIDED and words in _PAIRS else None
    if words in _PAIRS:
        return f'{family}{_PAIRS[words]}{persistent}'
    words = words.removesuffix(' latency')
    prefix = 'i' if words.startswith('non-blocking ') else ''
    words = words.removeprefix('non-blocking ')
    if words.startswith(('neighbor ', 'neighborhood ')):
        prefix += 'neighbor_'
        words = words.partition(' ')[2]
    return f'{family}{prefix}{_COLLECTIVES[words]}{persistent}' if words in _COLLECTIVES else None


def _lines(path):
    """Return (lines (list of str), sha256, size, whether the last line has an end) of a file. Raises OutputFailure."""
    digest, lines, size, ended = hashlib.sha256(), [], 0, True
    try:
        for number, row in lines_of(path, 'line of an output', 'output'):
            if b'\0' in row:
                raise OutputFailure(f"{path}:{number}: it is no text (a byte 0 in line {number}): {WANTED}")
            size, ended = size + len(row), row.endswith(b'\n')
            digest.update(row)
            text = _COLOURS.sub('', row.decode(errors='replace').rstrip('\r\n'))
            lines.append(_CONTROLS.sub(' ', _LABEL.sub('', text, count=1)).strip())
    except TooLarge as err:
        raise OutputFailure(f"{path}: {err.strerror}, and no output of a benchmark has so many: {WANTED}") from err
    except OSError as err:
        raise OutputFailure(f"{path} cannot be read: {err.strerror or err}. Name a file that you may read") from err
    if not any(lines):
        raise OutputFailure(f"{path} is empty: {WANTED}")
    return lines, digest.hexdigest(), size, ended


def read(path, benchmark=None):
    """
    Return the Output of a file.

    :param path: str or Path
    :param benchmark: str, the program, for a table whose title is not there or not known
    Raises OutputFailure if it cannot be read or holds no figures.
    """
    lines, sha256, size, ended = _lines(path)
    found = Output(Path(path), sha256, size, [])
    if not ended and _cut(lines):
        found.notes.append(f"{path}:{len(lines)}: the last line is cut off, left out: {lines[-1]}")
        lines[-1] = ''
    found.tables = list(_tables(path, lines, benchmark))
    good = [table for table in found.tables if table.reason is None]
    if not good:
        raise OutputFailure(found.tables[0].reason if found.tables else _nothing(path, lines))
    return found


def _cut(lines):
    """Return True if the last line is a row whose number has lost digits: programs print equally many decimals."""
    decimals = [len(line.split()[-1].partition('.')[2]) for line in lines[-2:] if _ROW.fullmatch(line)]
    return len(decimals) == 2 and decimals[1] < decimals[0] or bool(re.fullmatch(r'\d+', lines[-1])) and bool(
        lines[1:] and _ROW.fullmatch(lines[-2]))


def _nothing(path, lines):
    """Return why a text has no tables (str)."""
    row = next((number for number, line in enumerate(lines, 1) if _ROW.fullmatch(line)), None)
    if row:
        return (f"{path}:{row}: figures without a title that says which program printed them. Say it by --benchmark "
                "osu_bw (osu-container import), or keep the lines that begin with '#'")
    last = next(line for line in reversed(lines) if line)
    return f"{path}: no figures in {len(lines)} line(s): {WANTED}; it ends with: {last[:200]}"


def _tables(path, lines, benchmark):
    """Yield the Tables of a text. benchmark: of a table without a title that is known."""
    release, command, blocks, fresh = None, None, [], True
    for number, line in enumerate(lines, 1):
        imb = _IMB_TITLE.match(line)
        release = imb.group(1) if imb else release
        began = _begins(line)
        if began and (fresh or not (blocks and blocks[-1]['kind'] == 'port' and not blocks[-1]['titled'])):
            blocks.append({'kind': began, 'line': number, 'lines': [line], 'command': command, 'release': release,
                           'titled': began != 'port'})
            command, fresh = None, False
            continue
        if began and blocks:
            blocks[-1]['titled'] = True  # the title of the program below the line that our port prints
        called = None if _ROW.fullmatch(line) else _COMMAND.search(line)
        command = called or command
        if blocks and not called:
            blocks[-1]['lines'].append(line)
        elif benchmark and not blocks:
            blocks.append({'kind': 'bare', 'line': number, 'lines': [line], 'command': command, 'release': None,
                           'titled': True})
        fresh = fresh or bool(called)
    for index, block in enumerate(_together(blocks)):
        if block['kind'] == 'imb':
            yield _imb(path, block)
        elif block['kind'] != 'bare' or index == 0:
            yield _osu(path, block, benchmark)


def _begins(line):
    """Return what begins with a line: 'title', 'port', 'imb' or None."""
    if not line.startswith('#'):
        return None
    return 'port' if _PORT.match(line) else 'title' if _TITLE.fullmatch(line) else 'imb' if _IMB_TABLE.match(line) \
        else None


def _together(blocks):
    """Return blocks, with one that has no row in front of the same title together: ranks that ran alone print so."""
    found = []
    for block in blocks:
        before = found[-1] if found else None
        if before and before['lines'][0] == block['lines'][0] and before['kind'] == block['kind'] == 'title' and \
                not block['command'] and not any(_ROW.fullmatch(line) for line in before['lines']):
            before['lines'] += block['lines']
        else:
            found.append(block)
    return found


def _launched(command, benchmark):
    """Return (nodes, ranks, buffers), None for each that a command line (a match of _COMMAND, or None) does not say."""
    if command is None or command.group(3) != benchmark:
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
    return nodes, ranks or (nodes * each if nodes and each else None), ' '.join(sides.groups()) if sides else None


def _osu(path, block, benchmark):
    """Return the Table of a block of lines that an OSU program, or a port of one, has printed."""
    where = f"{path}:{block['line']}"
    title = block['lines'][0]
    name = benchmark if block['kind'] == 'bare' else benchmark_of(title) or benchmark
    if name is None:
        return Table(where, None, f"{where}: the title {title!r} is none that is known. Say which program it is by "
                     "--benchmark (osu-container import)")
    table = Table(where, name)
    try:
        output = osu_output.parse('\n'.join(block['lines']), benchmark=name, source=path, first=block['line'])
    except osu_output.OutputError as err:
        table.reason = str(err)
        return table
    table.values, table.zeros, table.checked = output.values, output.zeros, output.checked
    known = block['kind'] != 'bare' and (output.port or output.python or title.startswith(('# OSU', '#OSU')))
    table.programs, table.release = output.programs if known else None, output.release
    table.comments, table.foreign, table.broken = ([line[:KEPT_OF_LINE] for line in some[:KEPT]] for some in (
        output.comments, output.foreign, output.broken))
    table.nodes, table.ranks, asked = _launched(block['command'], name)
    said = dict(re.findall(r'^#?\s*(Datatype|Window creation|Synchronization): *(\S+)', '\n'.join(output.comments),
                           re.M))
    parts = [value.rstrip('.') for key, value in said.items() if value != _USUAL[key]]
    pairs = re.search(r'\[ pairs: (\d+) \] \[ window size: (\d+) \]', '\n'.join(output.comments))
    if pairs:
        table.ranks = 2 * int(pairs.group(1))
        parts += [f'window size {pairs.group(2)}'] if pairs.group(2) != '64' else []
    if _TWO_RANKS.fullmatch(name):
        table.ranks = 2
    table.variant = ', '.join(parts)
    table.buffers = _buffers(name, output, asked)
    return table


def _buffers(benchmark, output, asked):
    """Return where the buffers of an OsuOutput are (one of model.BUFFERS), None where nothing says it."""
    if benchmark in model.WITHOUT_SIZES:
        return ''
    if output.buffers:
        return output.buffers if output.buffers in model.BUFFERS else None
    if output.accelerator == 'MANAGED' or any(' MANAGED ' in line for line in output.comments[:1]):
        return 'M M'
    if output.accelerator:  # collectives have device memory then; others what the letters behind them say
        two = _TWO_RANKS.fullmatch(benchmark) or benchmark in ('osu_mbw_mr', 'osu_multi_lat')
        return (asked if asked in model.BUFFERS else None) if two else 'D D'
    return None if output.python and not output.port else 'H H'


def _imb(path, block):
    """Return the Table of a block of lines of the Intel MPI Benchmarks."""
    where = f"{path}:{block['line']}"
    name = 'IMB ' + _IMB_TABLE.match(block['lines'][0]).group(1)
    table = Table(where, name, programs='Intel MPI Benchmarks', release=block['release'], buffers='H H')
    column = first = None
    for number, line in enumerate(block['lines'], block['line']):
        ranks = _IMB_RANKS.match(line)
        if ranks:
            table.ranks = int(ranks.group(1)) or None
        elif _IMB_HEAD.fullmatch(line):
            if column is not None and table.values:  # another mode of the same benchmark: AGGREGATE, say
                break
            heads, first = line.split(), line.startswith('#bytes')
            column = next((heads.index(head) for head in _imb_heads(name) if head in heads), None)
            if column is None:
                table.reason = f"{where}: {name} has no column that is known, only {', '.join(heads)}"
            elif heads[column] == 'Mbytes/sec' and (block['release'] or '0') < '2018':
                # 2 bytes in 1.72 µs are 1.11 'Mbytes/sec' in 2016, 8 bytes in 1.66 µs are 4.81 in 2021
                table.reason = (f"{where}: the Mbytes of {name} are 1048576 bytes before release 2018, 1000000 since, "
                                f"and its release is {block['release'] or 'not known'}")
            if table.reason:
                return table
        elif column is not None and re.fullmatch(r'[\d.]+(?:\s+[\d.]+)+', line):
            _imb_row(table, f'{path}:{number}', line.split(), column, first)
            if table.reason:
                return table
        elif line.startswith('#'):
            table.comments.append(line[:KEPT_OF_LINE])
        elif line and len(table.foreign) < KEPT:
            table.foreign.append(line[:KEPT_OF_LINE])
    if not table.values:
        table.reason = f"{where}: no figures of {name}: wanted lines of numbers below '#bytes #repetitions ...'"
    if name in model.WITHOUT_SIZES:
        table.buffers = ''
    return table


def _imb_heads(name):
    """Return the columns (list of str) of which one is the figure of a benchmark (str), the best first."""
    return ['Mbytes/sec'] if model.is_bandwidth(name) else ['t_avg[usec]', 't[usec]', 't_ovrl[usec]']


def _imb_row(table, where, cells, column, sized):
    """Add a row (list of str) to a Table of IMB, or set its reason. sized: bool, the first column is the size."""
    try:
        size, value = int(cells[0]) if sized else 0, float(cells[column])
    except (ValueError, IndexError):
        table.broken.append(' '.join(cells)[:KEPT_OF_LINE])
        return
    if size in table.values or size in table.zeros or size >= 1 << 62:
        table.reason = f"{where}: size {size} of {table.benchmark} stands twice: {osu_output.ALONE}"
    elif model.LOWEST <= value <= model.HIGHEST:
        table.values[size] = value
    else:
        table.zeros.append(size)

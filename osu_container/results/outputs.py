"""
Text that programs have printed -> the figures of a run.

    OSU Micro-Benchmarks    in C and in Python, and mpi4py's ports: any number of tables in one file
    Intel MPI Benchmarks    IMB-MPI1 and others: a table for each benchmark, mode and number of processes
    nccl-tests, rccl-tests  bus bandwidth, out of place and in place

What the text says is taken, what it does not say is named as not known: the number of nodes, say. A command line above
a table (`srun -N2 -n2 osu_bw D D`, as a shell with -x shows it) says some of it; where those of two tables differ, or
what was exported above them, they are two cases.
"""
from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from osu_container import osu_output, try_file
from osu_container.core.reading.files import MOST, TooLarge, decoded, junk_in, read_plain, unpacked
from osu_container.core.terminal import ESCAPES

from . import model, run_files

#: So many lines of others, of so many characters, are kept beside a table
KEPT, KEPT_OF_LINE = 50, 500
#: Stands for a fact of an imported run that its files do not say
UNKNOWN = 'not known'
#: What is part of a case where the text does not say where the buffers are
NO_BUFFERS = 'buffers not known'
WANTED = ("wanted the output of a program of the OSU Micro-Benchmarks ('# OSU MPI Bandwidth Test v7.5' and what "
          "follows), of the Intel MPI Benchmarks, or of nccl-tests")
#: What a heading is without its '#', which a shell, a page or an editor has eaten
_EATEN = re.compile(r'(?:OSU (?:MPI|NCCL|RCCL).* Test\b|OMB-Py |Datatype: |Send Buffer on |Rank 0 Memory on '
                    r'|Size +\S+ *\()')
#: The heading of a table, whose title may be missing
_HEADING = re.compile(r'# *(?:Size|Message Size)\b', re.I)
_EXPORT = re.compile(r'(?:\S*[$>%+#]+ +)?(export|setenv|unset)\s+(.*)|\++ (\w+=\S*)')
_CCL = re.compile(r'# *nThreads? +\d+')
_PERF = re.compile(r'\b(\w+)_perf\b|[Cc]ollective test starting: *(\w+?)(?:_perf)?\b')

_TITLE = re.compile(r'# *(?:OSU |OMB-Py |OMB Python )?(MPI|NCCL|RCCL|XCCL)(_\w+)?(?:-(\w+))?(?: MANAGED)? (.*?) Test'
                    r'(?: Test)?\s*(?:v\d\S*|\(.*\))?\s*', re.I)
_PORT = re.compile(r'# *(osu_\w+): mpi4py \S+ port', re.I)
_IMB_TITLE = re.compile(r'#\s*Intel ?\(R\) MPI Benchmarks? (?:Suite )?V?([\d.]+)?', re.I)
_IMB_TABLE = re.compile(r'# *Benchmarking +(\w[\w-]*)')
_IMB_RANKS = re.compile(r'# *(?:#processes *= *(\d{1,9})|\( *(\d{1,9}) groups of (\d{1,9}) processes each)')
_IMB_HEAD = re.compile(r'(?:Group +)?#(?:bytes|repetitions)\b.*')
_IMB_MODE = re.compile(r'# *MODE: *(.*)')
#: A launcher and the program, as a shell with -x or a terminal shows it
_COMMAND = re.compile(r'(?:\b(srun|flux run|mpirun|mpiexec(?:\.hydra)?|aprun|jsrun)\b|^\S*[$%>+]+ )(.*?)'
                      r'\b(osu_\w+|IMB-\w+|\w+_perf)\b(.*)')
_PROMPT = re.compile(r'^\S*[$%>+]+ +')
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
    context    words of the command line and of what was exported above it (tuple of str)
    buffers    one of model.BUFFERS, None where the text does not say
    series     whose figures they are (str), where the text says it: that of `osu-container try`
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
    context: tuple = ()
    series: str | None = None

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
    site: str | None = None


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


def _text(path):
    """Return (text (str), the bytes of the file) of an output, however it was written. Raises OutputFailure."""
    try:
        raw = read_plain(path, 'output')
        data = unpacked(io.BytesIO(raw)).read(MOST['output'] + 1)
        if len(data) > MOST['output']:
            raise TooLarge(path, 'output')
        for number, line in enumerate(data.split(b'\n'), 1):
            if len(line) > MOST['line of an output']:
                raise TooLarge(path, 'line of an output', line=number)
    except TooLarge as err:
        raise OutputFailure(f"{path}: {err.strerror}, and no output of a benchmark has so many: {WANTED}") from err
    except OSError as err:
        raise OutputFailure(f"{path} cannot be read: {err.strerror}. Name a file that you may read, and that is "
                            "whole") from err
    except ValueError as err:
        raise OutputFailure(f"{path}: {err}") from err
    if junk_in(data) > 0:
        raise OutputFailure(f"{path}:1: it is no text: {WANTED}")
    return decoded(data), raw


def _lines(path):
    """Return (lines (list of str), sha256, size, whether the last line has an end) of a file. Raises OutputFailure."""
    text, raw = _text(path)
    lines = []
    for row in text.removesuffix('\n').split('\n'):  # no row or command is longer: patterns need a time of its square
        line = _LABEL.sub('', ESCAPES.sub('', row[:4096].rstrip('\r')), count=1)
        line = _CONTROLS.sub(' ', line).replace('\xa0', ' ').strip()
        lines.append(f'# {line}' if _EATEN.match(line) else line)
    if not any(lines):
        raise OutputFailure(f"{path} is empty: {WANTED}")
    return lines, hashlib.sha256(raw).hexdigest(), len(raw), text.endswith('\n')


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
    series = {}
    if try_file.is_one(lines[0]):
        series = dict(enumerate((name for _, name in try_file.parts_of(lines)), 1))
        found.site = try_file.said(lines, 'site')
        lines = [line if series[number] else '' for number, line in enumerate(lines, 1)]
        if not any(lines):
            raise OutputFailure(f"{path} holds no figures: its parts summary and errors say why nothing ran")
    found.tables = list(_tables(path, lines, benchmark, series))
    good = [table for table in found.tables if table.reason is None]
    if not good:
        raise OutputFailure(found.tables[0].reason if found.tables else _nothing(path, lines))
    return found


def _cut(lines):
    """Return True if the last line is a row whose number has lost digits: programs print equally many decimals."""
    rows = [osu_output.figures(line)[0] for line in lines[-2:] if osu_output.is_row(line)]
    decimals = [len(row[-1].partition('.')[2]) for row in rows]
    return len(decimals) == 2 and decimals[1] < decimals[0] or bool(re.fullmatch(r'\d+', lines[-1])) and bool(
        lines[1:] and osu_output.is_row(lines[-2]))


def _nothing(path, lines):
    """Return why a text has no tables (str)."""
    row = next((number for number, line in enumerate(lines, 1) if osu_output.is_row(line)), None)
    if row:
        return (f"{path}:{row}: figures without a title that says which program printed them. Say it by --benchmark "
                "osu_bw (osu-container import), or keep the lines that begin with '#'")
    last = next(line for line in reversed(lines) if line)
    return f"{path}: no figures in {len(lines)} line(s): {WANTED}; it ends with: {last[:200]}"


def _tables(path, lines, benchmark, series):
    """Yield the Tables of a text; benchmark: of one without a title that is known; series: {line: whose it is}."""
    for block in _together(_blocks(lines, benchmark)):
        found = _KINDS.get(block['kind'], _osu)(path, block, benchmark)
        for table in found if isinstance(found, list) else [found]:
            table.context, table.series = block['context'], series.get(block['line'])
            yield table


def _blocks(lines, benchmark):
    """Return the parts of a text (list of dict): one begins with each title, and with each table that has none."""
    release, command, blocks, fresh, exports, words = None, None, [], True, {}, ()
    for number, line in enumerate(lines, 1):
        imb = _IMB_TITLE.match(line)
        release = imb.group(1) if imb else release
        row, block = osu_output.is_row(line), blocks[-1] if blocks else None
        called = None if row else _COMMAND.search(_PROMPT.sub('', line)) or _COMMAND.search(line)
        if called:
            command, fresh, words = called, True, _words(line)
        elif _EXPORT.match(line):
            _export(exports, _EXPORT.match(line))
        began = _begins(line) or not called and _untitled(line, row, block, lines[number - 2:number - 1], benchmark)
        if began and not (block and block['kind'] == 'port' and not block['titled'] and not fresh):
            blocks.append({'kind': began, 'line': number, 'lines': [line], 'command': command, 'release': release,
                           'titled': began != 'port', 'rows': [line] if row else [],
                           'context': (*(f'{name}={value}' for name, value in exports.items()), *words),
                           'before': lines[max(0, number - 2)]})
            command, fresh = None, False
        elif began:
            block['titled'] = True  # the title of the program below the line that our port prints
        elif block and not called:
            block['lines'].append(line)
            block['rows'] += [line] if row else []
    return blocks


def _words(line):
    """Return the words (tuple of str) of a command line, an option with its value as one."""
    return tuple(re.findall(r'--?[\w-]+(?:[= ](?!-)\S+)?|\S+', _PROMPT.sub('', line)))


def _export(exports, found):
    """Change exports ({name: value}) as the line of a shell does that _EXPORT found."""
    order, rest = found.group(1), found.group(2) or found.group(3)
    if order == 'unset':
        for name in rest.split():
            exports.pop(name, None)
    elif order == 'setenv':
        name, _, value = rest.partition(' ')
        exports[name] = value
    else:
        exports.update(word.split('=', 1) for word in rest.split() if '=' in word)


def _untitled(line, row, block, before, benchmark):
    """Return what kind of table without a title begins with a line, None if none does. before: [the line before it]."""
    if _IMB_HEAD.fullmatch(line):
        return None if block and block['kind'] == 'imb' and (not block['rows'] or _IMB_MODE.match(
            next((each for each in reversed(block['lines']) if each.strip('# ')), ''))) else 'imb'
    if block is None:
        return 'bare' if benchmark and (row or _HEADING.match(line)) else None
    if block['kind'] in ('ccl', 'imb') or not block['rows']:
        return None
    again = row and not (before and osu_output.is_row(before[0])) and (not before[0] or before[0][0] == '#')
    size = int(osu_output.figures(block['rows'][-1])[0][0])
    return 'bare' if _HEADING.match(line) or again and int(osu_output.figures(line)[0][0]) <= size else None


def _begins(line):
    """Return what begins with a line: 'title', 'port', 'imb', 'ccl' or None."""
    if not line.startswith('#'):
        return None
    kinds = {'port': _PORT.match, 'title': _TITLE.fullmatch, 'imb': _IMB_TABLE.match, 'ccl': _CCL.match}
    return next((kind for kind, match in kinds.items() if match(line)), None)


def _together(blocks):
    """Return blocks, with one that has no row in front of the same title together: ranks that ran alone print so."""
    found = []
    for block in blocks:
        before = found[-1] if found else None
        if before and before['lines'][0] == block['lines'][0] and before['kind'] == block['kind'] == 'title' and \
                not block['command'] and not before['rows']:
            before['lines'] += block['lines']
        else:
            found.append(block)
    return found


def _launched(command, benchmark):
    """Return (nodes, ranks, buffers), None for each that a command line (a match of _COMMAND, or None) does not say."""
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
    return nodes, ranks or (nodes * each if nodes and each else None), ' '.join(sides.groups()) if sides else None


def _osu(path, block, benchmark):
    """Return the Table of a block of lines that an OSU program, or a port of one, has printed."""
    where = f"{path}:{block['line']}"
    title = block['lines'][0]
    name = benchmark if block['kind'] == 'bare' else benchmark_of(title) or benchmark
    if name is None and block['kind'] == 'bare':
        return Table(where, None, f"{where}: figures without a title that says which program printed them, left out. "
                     f"Put them into a file of their own: osu-container import --benchmark osu_bw {path}")
    if (name or '').startswith('IMB '):
        return _imb(path, block, benchmark)
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


def _imb(path, block, benchmark=None):
    """
    Return the Tables (list) of a block of the Intel MPI Benchmarks: one for each mode, AGGREGATE say, and each group.

    Groups measure at a time (-multi); of -multi 0 the slowest one is printed, of 1 all, by a column of their number
    (src_c/IMB_output.c of 2021).
    """
    title = _IMB_TABLE.match(block['lines'][0]) or re.fullmatch(r'#? *([A-Z]\w+):?', block['before'])
    name = f'IMB {title.group(1)}' if title else benchmark or ''
    where = f"{path}:{block['line']}"
    if not name.startswith('IMB '):
        return [Table(where, None, f"{where}: figures of the Intel MPI Benchmarks without '# Benchmarking NAME'. Say "
                      f"which: osu-container import --benchmark 'IMB PingPong' {path}")]
    tables, mode, column, first, decimals, groups = [], '', None, True, 0, None
    table = Table(where, name, programs='Intel MPI Benchmarks', release=block['release'], buffers='H H')
    for number, line in enumerate(block['lines'], block['line']):
        ranks, found = _IMB_RANKS.match(line), _IMB_MODE.match(line)
        numbers, words = osu_output.figures(line)
        if ranks:
            table.ranks = int(ranks.group(1) or int(ranks.group(2)) * int(ranks.group(3))) or None
        elif found:
            mode = found.group(1).strip().lower()
        elif _IMB_HEAD.fullmatch(line):
            table = replace(table, where=f'{path}:{number}' if tables else where, variant=mode, values={}, zeros=[],
                            comments=list(table.comments), foreign=[], broken=[])
            tables.append(table)
            heads, groups = line.removeprefix('Group').split(), {} if line.startswith('Group') else None
            first = heads[0] == '#bytes'
            column = next((heads.index(head) for head in _imb_heads(name) if head in heads), None)
            table.reason = _imb_unknown(table, heads, column)
            if table.reason:
                return tables
            decimals = osu_output.usual_decimals([osu_output.figures(row)[0] for row in block['rows']],
                                                 column + (groups is not None))
        elif column is not None and len(numbers) > 1:
            if groups is not None:
                group = numbers.pop(0)
                if group not in groups:  # the first one in place of the table of all
                    tables += [replace(table, values={}, zeros=[], broken=[])] if groups else []
                    table = groups[group] = tables[-1]
                    table.variant = ', '.join(filter(None, (mode, f'group {group}')))
                table = groups[group]
            cell = numbers[column] if column < len(numbers) else None
            whole = cell and (len(cell.partition('.')[2]) == decimals or not words and len(numbers) == len(heads))
            _take(table, f'{path}:{number}', line, numbers[0] if first else '0', cell if whole else None)
            if table.reason:
                return tables
        elif line.startswith('#'):
            table.comments.append(line[:KEPT_OF_LINE])
        elif line and len(table.foreign) < KEPT:
            table.foreign.append(line[:KEPT_OF_LINE])
    for one in tables or [table]:
        if not one.values:
            one.reason = f"{one.where}: no figures of {name}: wanted lines of numbers below '#bytes #repetitions ...'"
        one.buffers = '' if name in model.WITHOUT_SIZES else one.buffers
    return tables or [table]


def _imb_unknown(table, heads, column):
    """Return why the figures below heads (list of str) are not known (str), None if they are."""
    if column is None:
        return f"{table.where}: {table.benchmark} has no column that is known, only {', '.join(heads)}"
    if heads[column] == 'Mbytes/sec' and (table.release or '0') < '2018':
        # 2 bytes in 1.72 µs are 1.11 'Mbytes/sec' in 2016, 8 bytes in 1.66 µs are 4.81 in 2021
        return (f"{table.where}: the Mbytes of {table.benchmark} are 1048576 bytes before release 2018, 1000000 since, "
                f"and its release is {table.release or 'not known'}")
    return None


def _imb_heads(name):
    """Return the columns (list of str) of which one is the figure of a benchmark (str), the best first."""
    return ['Mbytes/sec'] if model.is_bandwidth(name) else ['t_avg[usec]', 't[usec]', 't_ovrl[usec]']


def _take(table, where, line, size, cell, factor=1):
    """
    Add the figure of a row to a Table, its line to what is broken where it is not whole, or set the table's reason.

    :param size: str; cell: str, the number, None where it has not the decimals of the others; factor: to MB/s or us
    """
    if cell is None or not size.isdigit() or len(size) > 18:
        table.broken.append(f'{where}: {line[:KEPT_OF_LINE]}')
    elif int(size) in table.values or int(size) in table.zeros:
        table.reason = f"{where}: size {size} of {table.benchmark} stands twice: {osu_output.ALONE}"
    elif model.LOWEST <= float(cell) * factor <= model.HIGHEST:
        table.values[int(size)] = round(float(cell) * factor, 9)
    else:
        table.zeros.append(int(size))


def _ccl(path, block, benchmark=None):
    """Return the Tables (list) of a block of nccl-tests or rccl-tests: bus bandwidth, out of place and in place."""
    text, where = '\n'.join(block['lines']), f"{path}:{block['line']}"
    said = _PERF.search(block['command'].group(0) if block['command'] else '') or _PERF.search(text)
    program = f'{next(filter(None, said.groups()))}_perf' if said else benchmark
    if not program or program.startswith('osu_'):
        return [Table(where, None, f"{where}: nccl-tests does not say which of its programs this is. Say it: "
                      f"osu-container import --benchmark all_reduce_perf {path}")]
    suite = 'rccl-tests' if re.search(r'rccl-tests|AMD Instinct', text) else 'nccl-tests'
    release = re.search(r'ccl-tests:? [Vv]ersion:? *(\S+)', text)
    ranks = re.findall(r'^# +Rank +\d+ .*? on +(\S+) +device', text, re.M)
    heads = next((line.strip('# ').split() for line in block['lines'] if re.match(r'# +size +count', line)), [])
    places = [place for place, head in enumerate(heads) if head == 'busbw']
    tables = []
    for place, way in zip(places, ('', 'in place')):
        table = Table(where, f'xccl {program}', nodes=len(set(ranks)) or None, ranks=len(ranks) or None, buffers='D D',
                      programs=suite, release=release.group(1) if release else None, variant=way)
        tables.append(table)
        for number, line in enumerate(block['lines'], block['line']):
            _ccl_row(table, f'{path}:{number}', line, heads, place)
        table.reason = table.reason or (None if table.values else f"{where}: no figures of {program}")
    return tables or [Table(where, None, f"{where}: no heading of {program} ('# size count ... busbw') and no figures")]


def _ccl_row(table, where, line, heads, place):
    """Add a row of nccl-tests to a Table, or set its reason."""
    cells = line.split()
    if len(cells) < 2 or line.startswith('#') or not osu_output.figures(line)[0]:
        return
    numbers = osu_output.figures(cells[place])[0] if place < len(cells) else []
    again = cells[0].isdigit() and int(cells[0]) in [*table.values, *table.zeros]  # of a second cycle
    whole = numbers and len(numbers[0].partition('.')[2]) == 2
    wrong = cells[place + 1] if place + 1 < len(cells) and heads[place + 1:place + 2] == ['#wrong'] else '0'
    if wrong.isdigit() and int(wrong):
        table.reason = f"{where}: {table.benchmark} received data that was not sent (#wrong {wrong})"
    else:
        _take(table, where, line, '-' if again else cells[0], numbers[0] if whole else None, 1000)


_KINDS = {'imb': _imb, 'ccl': _ccl}

"""
The table of a run: one row a module, as plain text for a terminal.

A module that failed, or did not run what it promises, has no row: check() raises TableError, and whoever prints has no
table to show.
"""
from __future__ import annotations

import statistics

from osu_container import columns
from osu_container.proof import judging
from osu_container.results import ratios

#: (benchmark, size in bytes, title) of the columns
COLUMNS = [('osu_bw', 1, '1 B'), ('osu_bw', 65536, '64 KiB'), ('osu_bw', 4194304, '4 MiB'),
           ('osu_latency', 1, '1 B'), ('osu_latency', 65536, '64 KiB')]
GROUPS = [('bandwidth, MB/s (ratio)', 3), ('latency, µs (ratio)', 2)]
GAP = '  '
#: Spread, (most - least) / median, above which differences between rows are not worth a look
RESTLESS = 0.25


class TableError(Exception):
    """A run that does not carry the table it should; the text says which row and why."""


def check(run):
    """
    Raise TableError if a run (model.Dataset) lacks a number of the table, a module failed, or its repeats differ.
    """
    problems = [f"{one.name} {one.case.title}: {one.reason}" for one in run.failures if not one.skipped]
    problems += [f"{name} does not run: {entry['problem']}" for name, entry in run.modules.items()
                 if entry.get('problem')]
    for name in run.names:
        for benchmark, size, _ in COLUMNS:
            series = _series(run, name, benchmark)
            if series is None or size not in series.values:
                problems.append(f"{name}: no {benchmark} at {size} bytes, or 0.00, as on a machine that is busy. To "
                                "measure again: make demo RERUN=1")
        loaded = {_loaded(proofs[0]) for one in run.of(name=name) for proofs in one.facts['proofs'] if proofs}
        if len(loaded) > 1:
            problems.append(f"{name}: runs disagree about what they loaded")
    for entry in run.modules.values():
        if (entry.get('network') or {}).get('netmod') == 'ucx':
            problems.append(f"{entry['name']}: MPI ran over UCX, not libfabric (is MPIR_CVAR_CH4_NETMOD=ofi set?)")
    programs = {one.programs for one in run.series}
    if len(programs) > 1:
        problems.append(f"modules ran different programs, which do not compare: {' and '.join(sorted(programs))}")
    if problems:
        # The same contradiction is in every repeat: say it once.
        raise TableError('\n'.join(dict.fromkeys(problems)))


def _series(run, name, benchmark):
    """Return the Series of a benchmark (str) under a name, over two nodes with host buffers; None if there is none."""
    return next((one for one in run.of(name=name) if (one.case.benchmark, one.case.buffers, one.case.placement)
                 == (benchmark, 'H H', 'two nodes')), None)


def _loaded(rank):
    """Return (libmpi, libfabric) of one proof as text."""
    return judging.describe(rank, 'libmpi'), judging.describe(rank, 'libfabric')


def number(value):
    """Return value as text of at most five characters with three digits or more that mean something."""
    if value >= 100:
        return f'{value:.0f}'
    return f'{value:.1f}' if value >= 10 else f'{value:.2f}'


def _short(library):
    """Return a library's facts as 'release origin', e.g. '4.2.3 image'."""
    if library is None:
        return 'none'
    return f"{library['release'] or 'unknown'} {library['where'] or 'unknown'}"


def _with_native(run, name, benchmark, size):
    """Return the values of a series and of native at a size ({repeat: value} each); ({}, {}) if one has none."""
    both = [_series(run, one, benchmark) for one in (name, 'native')]
    found = [one.values.get(size) for one in both if one is not None]
    return tuple(found) if len(found) == 2 and all(found) else ({}, {})


def rows(run):
    """Return the rows of the table: (approach, [(value, ratio) as text], libmpi, libfabric). Raises TableError."""
    check(run)
    found = []
    for name in run.names:
        cells = []
        for benchmark, size, _ in COLUMNS:
            mine, native = _with_native(run, name, benchmark, size)
            cells.append((number(_series(run, name, benchmark).median(size)),
                          ratios.text(ratios.ratio(mine, native, paired=True)) if mine else '-'))
        libraries = _first_proof(run, name)['libraries']
        found.append((name, cells, _short(libraries.get('libmpi')), _short(libraries.get('libfabric'))))
    return found


def _first_proof(run, name):
    """Return what the first ranks of a module loaded (dict). Raises TableError if there is no proof."""
    for one in run.of(name=name):
        for proofs in one.facts['proofs']:
            if proofs:
                return proofs[0]
    raise TableError(f"{name}: no proof of what its ranks loaded")


def notes(run):
    """Return what must stand below the table (list of str)."""
    families = sorted({_first_proof(run, name)['libraries']['libmpi']['family'] or 'MPI of unknown family'
                       for name in run.names})
    programs = sorted({one.ran for one in run.series})
    lines = [f"MPI is {' and '.join(families)}; releases and origin (host, image) were read from the running ranks."]
    if any('mpi4py' in program for program in programs):
        lines.append(f"Programs: {', '.join(programs)}, not the OSU C programs; compare them with each other only.")
    else:
        lines.append(f"Programs: {', '.join(programs)}.")
    by_network = {}
    for entry in run.modules.values():
        provider = entry['network']['provider'] or 'unknown (this MPI does not say)'
        by_network.setdefault(provider, []).append(entry['approach'])
    if len(by_network) == 1:
        lines.append(f"libfabric provider of all ranks: {next(iter(by_network))}.")
    else:
        lines.append('libfabric provider: ' + '; '.join(f"{provider}: {', '.join(names)}"
                                                       for provider, names in by_network.items()) + '.')
    repeats = max(one.repeats for one in run.series)
    if repeats == 1:
        lines.append("Measured once: how much the numbers scatter is not known.")
    else:
        worst, where = _worst_spread(run)
        lines.append(f"Medians of {repeats} interleaved repeats; a ratio is taken within a repeat. "
                     f"Widest spread of a ratio: {worst:.0%}, {where}.")
        if worst > RESTLESS:
            lines.append("Repeats scatter too much to compare rows. Other work on this machine? Measure again.")
    lines.append("Ratio to native: for bandwidth more is better, for latency less.")
    return lines


def _worst_spread(run):
    """Return (spread, where) of the ratio in the table whose repeats differ most, as a fraction of its median."""
    found = [(0.0, 'no ratios')]
    for name in run.names:
        for benchmark, size, title in COLUMNS:
            each = ratios.within_repeats(*_with_native(run, name, benchmark, size))
            if each:
                found.append(((max(each) - min(each)) / statistics.median(each), f"{name} {benchmark} {title}"))
    return max(found)


def plain(run):
    """
    Return the table of a run (model.Dataset) as text. Raises TableError.

    What the terminal has no room for stands in tables below, with the approaches once more.
    """
    body = rows(run)
    first = ['approach', *(row[0] for row in body)]
    blocks, start = [], 0
    for name, count in GROUPS:
        cells = [_numbers([row[1][n] for row in body], COLUMNS[n][2]) for n in range(start, start + count)]
        lines = [GAP.join(line) for line in zip(*cells)]
        blocks.append([f' {name} '.center(len(lines[0]), '-'), *lines])
        start += count
    loaded = [_left(['MPI', *(row[2] for row in body)]), ['libfabric', *(row[3] for row in body)]]
    blocks.append(_left(['loaded by the ranks', *(GAP.join(line) for line in zip(*loaded))]))
    tables = []
    for block in blocks:
        wider = [GAP.join(line) for line in zip(tables[-1], block)] if tables else []
        if wider and max(len(line.rstrip()) for line in wider) <= columns.width():
            tables[-1] = wider
        else:
            tables.append([GAP.join(line) for line in zip(_left(['', *first]), block)])
    lines = [line.rstrip() for table in tables for line in [*table, '']]
    return '\n'.join([*lines, *(columns.fill(note) for note in notes(run))]) + '\n'


def _left(cells):
    """Return cells (list of str) of one width, their text on the left."""
    return [cell.ljust(max(map(len, cells))) for cell in cells]


def _numbers(cells, title):
    """Return a column (list of str of one width): its title (str), and its cells of (value, ratio), aligned."""
    most = max(len(part) for _, part in cells)
    texts = [title, *(f'{value} {part.rjust(most)}' for value, part in cells)]
    return [text.rjust(max(map(len, texts))) for text in texts]

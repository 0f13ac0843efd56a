"""
The table of a run: one row a module, as plain text for a terminal of 100 columns and as Markdown for notes.

A module that failed, or did not run what it promises, has no row: check() raises TableError, and whoever prints has no
table to show.
"""
from __future__ import annotations

import statistics
import textwrap

from osu_container.proof import judging

#: (benchmark, size in bytes, title) of the columns
COLUMNS = [('osu_bw', 1, '1 B'), ('osu_bw', 65536, '64 KiB'), ('osu_bw', 4194304, '4 MiB'),
           ('osu_latency', 1, '1 B'), ('osu_latency', 65536, '64 KiB')]
GROUPS = [('bandwidth, MB/s (ratio)', 3), ('latency, µs (ratio)', 2)]
GAP = '  '
WIDTH = 100
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
                problems.append(f"{name}: no {benchmark} at {size} bytes")
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


def _ratios(run, name, benchmark, size):
    """Return the ratios to native (list of float) at a size, within each repeat; [] if native was not run."""
    native, series = _series(run, 'native', benchmark), _series(run, name, benchmark)
    if native is None or series is None:
        return []
    other = native.values.get(size, {})
    return [value / other[repeat] for repeat, value in series.values.get(size, {}).items() if repeat in other]


def rows(run):
    """Return the rows of the table: (approach, [(value, ratio) as text], libmpi, libfabric). Raises TableError."""
    check(run)
    found = []
    for name in run.names:
        cells = []
        for benchmark, size, _ in COLUMNS:
            ratios = _ratios(run, name, benchmark, size)
            cells.append((number(_series(run, name, benchmark).median(size)),
                          f"{statistics.median(ratios):.2f}" if ratios else '-'))
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
            ratios = _ratios(run, name, benchmark, size)
            if ratios:
                found.append(((max(ratios) - min(ratios)) / statistics.median(ratios), f"{name} {benchmark} {title}"))
    return max(found)


def plain(run):
    """Return the table of a run (model.Dataset) as text of at most 100 columns. Raises TableError."""
    body = rows(run)
    titles = [title for _, _, title in COLUMNS]
    value_widths = [max(len(row[1][n][0]) for row in body) for n in range(len(titles))]
    ratio_widths = [max(len(row[1][n][1]) for row in body) for n in range(len(titles))]
    widths = [max(value + 1 + part, len(title))
              for value, part, title in zip(value_widths, ratio_widths, titles)]
    first = max([len(row[0]) for row in body] + [len('approach')])
    mpi = max([len(row[2]) for row in body] + [len('MPI')])
    top, start = ' ' * first, 0
    for name, count in GROUPS:
        top += GAP + f' {name} '.center(sum(widths[start:start + count]) + len(GAP) * (count - 1), '-')
        start += count
    head = GAP.join(['approach'.ljust(first)] + [title.rjust(width) for title, width in zip(titles, widths)]
                    + ['MPI'.ljust(mpi), 'libfabric'])
    lines = [top + GAP + 'loaded by the ranks', head]
    for name, cells, libmpi, libfabric in body:
        texts = [f"{value} {part.rjust(part_width)}".rjust(width)
                 for (value, part), part_width, width in zip(cells, ratio_widths, widths)]
        lines.append(GAP.join([name.ljust(first)] + texts + [libmpi.ljust(mpi), libfabric]))
    for note in [''] + notes(run):
        lines += textwrap.wrap(note, WIDTH) or ['']
    return '\n'.join(line.rstrip() for line in lines) + '\n'


def markdown(run):
    """Return the table of a run (model.Dataset) as Markdown. Raises TableError."""
    kinds = {'osu_bw': 'MB/s', 'osu_latency': 'µs'}
    titles = ['approach'] + [f"{kinds[benchmark]} at {title}" for benchmark, _, title in COLUMNS] + ['MPI', 'libfabric']
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + '---|' + '--:|' * len(COLUMNS) + '---|---|']
    for name, cells, libmpi, libfabric in rows(run):
        texts = [f"{value} ({part})" for value, part in cells]
        lines.append('| ' + ' | '.join([name] + texts + [libmpi, libfabric]) + ' |')
    return '\n'.join(lines + [''] + [f"* {note}" for note in notes(run)]) + '\n'

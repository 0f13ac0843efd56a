"""
The table of a run: one row a module, as plain text for a terminal of 100 columns and as Markdown for notes.

A row that ranks contradict is no row: check() raises TableError, and whoever prints has no table to show.
"""
from __future__ import annotations

import textwrap

from . import proof, record

#: (benchmark, size in bytes, title) of the columns
COLUMNS = [('osu_bw', 1, '1 B'), ('osu_bw', 65536, '64 KiB'), ('osu_bw', 4194304, '4 MiB'),
           ('osu_latency', 1, '1 B'), ('osu_latency', 65536, '64 KiB')]
GROUPS = [('bandwidth, MB/s (ratio)', 3), ('latency, µs (ratio)', 2)]
GAP = '  '
WIDTH = 100
#: Spread, (most - least) / median, above which differences between rows are not worth a look
RESTLESS = 0.25


class TableError(Exception):
    """A record that does not carry the table it should; the text says which row and why."""


def check(run_record):
    """
    Raise TableError if a module of a record (dict) lacks numbers, its ranks disagree, or loaded what is not promised.
    """
    problems = []
    for module in run_record['modules']:
        for benchmark, size, _ in COLUMNS:
            if str(size) not in module['medians'].get(benchmark, {}):
                problems.append(f"{module['name']}: no {benchmark} at {size} bytes")
        proofs = [run['proof'] for run in module['runs']]
        for ranks in proofs:
            broken = proof.broken_promises(ranks, module['comes_from'], module['container'])
            problems.extend(f"{module['name']}: {text}" for text in broken)
        if proofs and any(_loaded(ranks[0]) != _loaded(proofs[0][0]) for ranks in proofs):
            problems.append(f"{module['name']}: runs disagree about what they loaded")
        if module['network']['netmod'] == 'ucx':
            problems.append(f"{module['name']}: MPI ran over UCX, not libfabric (is MPIR_CVAR_CH4_NETMOD=ofi set?)")
    programs = {run['programs'] for module in run_record['modules'] for run in module['runs']}
    if len(programs) > 1:
        problems.append(f"modules ran different programs, which do not compare: {' and '.join(sorted(programs))}")
    if problems:
        # The same contradiction is in every repeat: say it once.
        raise TableError('\n'.join(dict.fromkeys(problems)))


def _loaded(rank):
    """Return (libmpi, libfabric) of one proof as text."""
    return proof.describe(rank, 'libmpi'), proof.describe(rank, 'libfabric')


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


def _ratios(run_record):
    """Return [(approach, record.ratios() to the native module)] of the modules; empty ratios if native was not run."""
    modules = run_record['modules']
    native = next((module['runs'] for module in modules if module['approach'] == 'native'), [])
    return [(module['approach'], record.ratios(module['runs'], native)) for module in modules]


def rows(run_record):
    """Return the rows of the table: (approach, [(value, ratio) as text], libmpi, libfabric). Raises TableError."""
    check(run_record)
    found = []
    for module, (_, ratios) in zip(run_record['modules'], _ratios(run_record)):
        cells = []
        for benchmark, size, _ in COLUMNS:
            value = module['medians'][benchmark][str(size)]['median']
            ratio = ratios.get(benchmark, {}).get(str(size))
            cells.append((number(value), f"{ratio['median']:.2f}" if ratio else '-'))
        libraries = module['runs'][0]['proof'][0]['libraries']
        found.append((module['approach'], cells, _short(libraries.get('libmpi')), _short(libraries.get('libfabric'))))
    return found


def notes(run_record):
    """Return what must stand below the table (list of str)."""
    modules = run_record['modules']
    families = sorted({run['proof'][0]['libraries']['libmpi']['family'] or 'MPI of unknown family'
                       for module in modules for run in module['runs']})
    programs = sorted({run['programs'] for module in modules for run in module['runs']})
    worst, where = _worst_spread(run_record)
    lines = [f"MPI is {' and '.join(families)}; releases and origin (host, image) were read from the running ranks."]
    if any('mpi4py' in program for program in programs):
        lines.append(f"Programs: {', '.join(programs)}, not the OSU C programs; compare them with each other only.")
    else:
        lines.append(f"Programs: {', '.join(programs)}.")
    by_network = {}
    for module in modules:
        provider = module['network']['provider'] or 'unknown (this MPI does not say)'
        by_network.setdefault(provider, []).append(module['approach'])
    if len(by_network) == 1:
        lines.append(f"libfabric provider of all ranks: {next(iter(by_network))}.")
    else:
        lines.append('libfabric provider: ' + '; '.join(f"{provider}: {', '.join(names)}"
                                                       for provider, names in by_network.items()) + '.')
    if run_record['repeats'] == 1:
        lines.append("Measured once: how much the numbers scatter is not known.")
    else:
        lines.append(f"Medians of {run_record['repeats']} interleaved repeats; a ratio is taken within a repeat. "
                     f"Widest spread of a ratio: {worst:.0%}, {where}.")
        if worst > RESTLESS:
            lines.append("Repeats scatter too much to compare rows. Other work on this machine? Measure again.")
    lines.append("Ratio to native: for bandwidth more is better, for latency less.")
    return lines


def _worst_spread(run_record):
    """Return (spread, where) of the ratio in the table whose repeats differ most, as a fraction of its median."""
    found = [(0.0, 'no ratios')]
    for approach, ratios in _ratios(run_record):
        for benchmark, size, title in COLUMNS:
            entry = ratios.get(benchmark, {}).get(str(size))
            if entry:
                found.append(((entry['most'] - entry['least']) / entry['median'], f"{approach} {benchmark} {title}"))
    return max(found)


def plain(run_record):
    """Return the table of a record (dict) as text of at most 100 columns. Raises TableError."""
    body = rows(run_record)
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
    for note in [''] + notes(run_record):
        lines += textwrap.wrap(note, WIDTH) or ['']
    return '\n'.join(line.rstrip() for line in lines) + '\n'


def markdown(run_record):
    """Return the table of a record (dict) as Markdown. Raises TableError."""
    kinds = {'osu_bw': 'MB/s', 'osu_latency': 'µs'}
    titles = ['approach'] + [f"{kinds[benchmark]} at {title}" for benchmark, _, title in COLUMNS] + ['MPI', 'libfabric']
    lines = ['| ' + ' | '.join(titles) + ' |', '|' + '---|' + '--:|' * len(COLUMNS) + '---|---|']
    for name, cells, libmpi, libfabric in rows(run_record):
        texts = [f"{value} ({part})" for value, part in cells]
        lines.append('| ' + ' | '.join([name] + texts + [libmpi, libfabric]) + ' |')
    return '\n'.join(lines + [''] + [f"* {note}" for note in notes(run_record)]) + '\n'

"""The table that `make demo` prints: one row for each module."""

from __future__ import annotations

from osu_container.base import columns
from osu_container.bench.results import ratios

#: (benchmark, message size in bytes) of the figures, as named in the text of render_demo_table()
COLUMNS = (('osu_bw', 4194304), ('osu_latency', 1))


class TableError(Exception):
    """
    A run that does not have the figures of the table; the text names the module and the reason.
    """


def _find_series(run, name, benchmark):
    """Return the Series of a benchmark (str) of an approach (str), None without one."""
    return next(
        (one for one in run.select_series(name=name) if one.case.benchmark == benchmark), None
    )


def _require_figures(run):
    """Raise TableError if a module of a run (model.Dataset) failed or lacks a figure."""
    problems = [
        f"{one.name} {one.case.title}: {one.reason}" for one in run.failures if not one.is_skipped
    ]
    problems += [
        f"{name} does not run: {entry['problem']}"
        for name, entry in run.modules.items()
        if entry.get('problem')
    ]
    for name in run.names:
        for benchmark, size in COLUMNS:
            series = _find_series(run, name, benchmark)
            if series is None or size not in series.values:
                problems.append(
                    f"{name}: no {benchmark} at {size} bytes, or 0.00, as on a busy machine. To measure "
                    "again: make demo"
                )
    if problems:
        raise TableError('\n'.join(dict.fromkeys(problems)))


def _format_library(run, name, library):
    """
    Return the release and the origin (str) of a library that the ranks of an approach loaded:
    '4.2.3 image'.
    """
    for proofs in (
        proofs
        for series in run.select_series(name=name)
        for proofs in series.facts['proofs']
        if proofs
    ):
        loaded = proofs[0]['libraries'].get(library)
        return (
            f"{loaded['release'] or 'unknown'} {loaded['where'] or 'unknown'}" if loaded else 'none'
        )
    raise TableError(f"{name}: no proof of what its ranks loaded")


def render_demo_table(run):
    """Return the table of a run (model.Dataset) as text. Raises TableError."""
    _require_figures(run)
    rows = [['approach', 'osu_bw', 'ratio', 'osu_latency', 'ratio', 'MPI', 'libfabric']]
    for name in run.names:
        cells = [name]
        for benchmark, size in COLUMNS:
            series, native = (
                _find_series(run, name, benchmark),
                _find_series(run, 'native', benchmark),
            )
            ratio = native and ratios.format_ratio(
                ratios.compute_ratio(series.values[size], native.values[size], paired=True)
            )
            cells += [f'{series.compute_median(size):.2f}', ratio or '-']
        rows.append(
            [*cells, _format_library(run, name, 'libmpi'), _format_library(run, name, 'libfabric')]
        )
    programs = ', '.join(sorted({one.program_release for one in run.series}))
    note = (
        f"osu_bw at 4 MiB in MB/s, osu_latency at 1 B in us, with the ratio to native: medians of "
        f"{max(one.repeats for one in run.series)} repeats of {programs}. `osu-container compare {run.name}` tells "
        "differences from noise."
    )
    return (
        '\n'.join(
            [*columns.format_table(rows, right_aligned=(1, 2, 3, 4)), '', columns.fill_text(note)]
        )
        + '\n'
    )

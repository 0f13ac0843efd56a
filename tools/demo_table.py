"""Render the table that `make demo` prints, with one row per module."""

from __future__ import annotations

from osu_container.base import columns
from osu_container.bench.results import model, ratios

#: (benchmark, message size in bytes) of the figures; the note below the table names them
COLUMNS = (('osu_bw', 4194304), ('osu_latency', 1))


class MissingFiguresError(Exception):
    """A run lacks figures of the table; the text names the module and the reason."""


def _find_series(run: model.Dataset, name: str, benchmark: str) -> model.Series | None:
    return next(
        (series for series in run.select_series(name=name) if series.case.benchmark == benchmark),
        None,
    )


def _require_figures(run: model.Dataset) -> None:
    """Raise MissingFiguresError if a module of a run failed or lacks a figure."""
    problems = [
        f"{failure.name} {failure.case.title}: {failure.reason}"
        for failure in run.failures
        if not failure.is_skipped
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
                    f"{name}: {benchmark} has no result at {size} bytes, or 0.00 as on a busy machine. Measure again: "
                    "make demo"
                )
    if problems:
        raise MissingFiguresError('\n'.join(dict.fromkeys(problems)))


def _format_library(run: model.Dataset, name: str, library: str) -> str:
    """Return release and origin of a library that the ranks loaded, such as '4.2.3 image'."""
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
    raise MissingFiguresError(
        f"{name}: the run has no proof of the libraries that its ranks loaded"
    )


def render_demo_table(run: model.Dataset) -> str:
    """Return the table of a run as text. Raises MissingFiguresError."""
    _require_figures(run)
    rows = [['approach', 'osu_bw', 'ratio', 'osu_latency', 'ratio', 'MPI', 'libfabric']]
    for name in run.names:
        cells = [name]
        for benchmark, size in COLUMNS:
            series, native = (
                _find_series(run, name, benchmark),
                _find_series(run, 'native', benchmark),
            )
            assert series  # _require_figures() has raised an error otherwise
            ratio = native and ratios.format_ratio(
                ratios.compute_ratio(series.values[size], native.values[size], paired=True)
            )
            cells += [f'{series.compute_median(size):.2f}', ratio or '-']
        rows.append(
            [*cells, _format_library(run, name, 'libmpi'), _format_library(run, name, 'libfabric')]
        )
    programs = ', '.join(sorted({series.program_release for series in run.series}))
    note = (
        f"osu_bw at 4 MiB in MB/s, osu_latency at 1 B in us, with the ratio to native: medians of "
        f"{max(series.repeats for series in run.series)} repeats of {programs}. `osu-container compare {run.name}` "
        "separates differences from noise."
    )
    return (
        '\n'.join(
            [*columns.format_table(rows, right_aligned=(1, 2, 3, 4)), '', columns.fill_text(note)]
        )
        + '\n'
    )

"""Render the table that `make demo` prints; each row describes one module."""

from __future__ import annotations

from osu_container.base import columns
from osu_container.bench.results import model

#: Message sizes in bytes of the two columns of speed: latency of the first, MB/s of the second
SIZES = (1, 65536)
#: Largest ratio between two rows of a column of speed. All rows run the same program over the same
#: network, so that a larger ratio shows other processes, not the libraries.
STEADY = 1.3
INTRODUCTION = (
    "Each row runs the same program; only the libraries differ. The speeds are equal, because this "
    "machine has no fast network."
)


class MissingFiguresError(Exception):
    """A run lacks numbers for the table; the text names the module and the reason."""


def _select_speeds(run: model.Dataset) -> dict[str, list[float]]:
    """
    Return {approach: [latency in us, bandwidth in MB/s]} with the best of all repeats.

    Raises MissingFiguresError if a module of the run failed or lacks one of these values.
    """
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
    speeds = {}
    # The measurements are in the order in which the runs ended.
    order = [entry['approach'] for entry in run.modules.values()]
    for name in sorted(run.names, key=order.index):
        (series,) = run.select_series(name=name)
        missing = [size for size in SIZES if size not in series.values]
        if missing:
            problems.append(
                f"{name}: {series.case.benchmark} has no result at {missing[0]} bytes. Measure "
                "again: make demo"
            )
        else:
            short, long = (min(series.values[size].values()) for size in SIZES)
            speeds[name] = [short, SIZES[1] / long]
    if problems:
        raise MissingFiguresError('\n'.join(dict.fromkeys(problems)))
    return speeds


def _format_library(run: model.Dataset, name: str, library: str) -> str:
    """Return the release and the origin of a loaded library as text, such as '4.2.3 image'."""
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


def compute_spread(run: model.Dataset) -> float:
    """Return the largest ratio of two rows in a column of speed. Raises MissingFiguresError."""
    return max(max(column) / min(column) for column in zip(*_select_speeds(run).values()))


def render_demo_table(run: model.Dataset) -> str:
    """
    Return the table of a run as text, with an introduction and a note on the speeds.

    If the speeds of the modules differ too much, the table does not contain the speeds. Raises
    MissingFiguresError.
    """
    speeds = _select_speeds(run)
    rows = [['approach', 'MPI', 'libfabric', 'us at 1 B', 'MB/s at 64 KiB']]
    for name, (latency, bandwidth) in speeds.items():
        rows.append(
            [
                name,
                _format_library(run, name, 'libmpi'),
                _format_library(run, name, 'libfabric'),
                f'{latency:.1f}',
                f'{bandwidth:.0f}',
            ]
        )
    if (ratio := compute_spread(run)) > STEADY:
        rows = [row[:3] for row in rows]
        note = (
            f"The speeds are not shown: they differ by a factor of {ratio:.1f}, because other "
            "processes use this machine. When the machine is idle, measure again: make demo"
        )
    else:
        programs = ', '.join(sorted({series.program_release for series in run.series}))
        repeats = max(series.repeats for series in run.series)
        note = (
            "The column us has the 1st percentile of the latencies of single messages in osu_latency. The column MB/s "
            f"has the message size divided by this latency. Each value is the best of {repeats} repeats of {programs}."
        )
    return '\n'.join(
        [
            columns.fill_text(INTRODUCTION),
            '',
            *columns.format_table(rows, right_aligned=(3, 4)),
            '',
            columns.fill_text(note),
            '',
        ]
    )

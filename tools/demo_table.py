"""Render the table that `make demo` prints; each row shows the results of one module."""

from __future__ import annotations

from osu_container.base import columns
from osu_container.bench.results import model

#: Message sizes in bytes of the two columns of speed: latency of the first, MB/s of the second
SIZES = (1, 65536)
#: Largest ratio between two rows of a column of speed. All rows run the same program over the same
#: network, so that a larger ratio shows other processes, not the libraries.
STEADY = 1.3
INTRODUCTION = (
    "Each row shows a run of the same program; only the libraries differ. The speeds are equal, "
    "because this machine has no fast network."
)


class MissingFiguresError(Exception):
    """The results lack numbers for the table of `make demo`.

    The text of the error names the module and the reason.
    """


def _select_speeds(run: model.Dataset) -> dict[str, list[float]]:
    """
    Return {approach: [latency in us, bandwidth in MB/s]} for all modules of a run.

    Each value is the best of all repeats. Raises MissingFiguresError if a module failed or if one
    of its values is missing.
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
    """Return the release and the origin of a loaded library as text, such as '4.2.3 image'.

    The origin is the image or the host. The result is 'none' if the ranks did not load the library.
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
    raise MissingFiguresError(f"{name}: the results do not show which libraries the ranks loaded")


def compute_spread(run: model.Dataset) -> float:
    """Return the largest ratio between the speeds of two modules in a run of `make demo`.

    Raises MissingFiguresError if a speed is missing.
    """
    return max(max(column) / min(column) for column in zip(*_select_speeds(run).values()))


def render_demo_table(run: model.Dataset) -> str:
    """
    Return the table of `make demo` as text, with an introduction and a note on the speeds.

    If the speeds of the modules differ too much, the columns with the speeds are omitted. Raises
    MissingFiguresError if a result is missing.
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
            "The table shows no speeds, because other processes use this machine: the speeds "
            f"differ by a factor of {ratio:.1f}. When the machine is idle, measure again: make demo"
        )
    else:
        programs = ', '.join(sorted({series.program_release for series in run.series}))
        repeats = max(series.repeats for series in run.series)
        note = (
            "The column `us at 1 B` shows the 1st percentile of the latencies that osu_latency measures, "
            "in microseconds. The column `MB/s at 64 KiB` shows a bandwidth: 64 KiB divided by the latency "
            "of messages of 64 KiB. "
            f"Each value is the best of {repeats} repeats of {programs}."
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

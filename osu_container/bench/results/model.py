"""
Model the results of runs and publications: a Dataset has Series, a Series has values.

    Dataset   one run, or one publication
    Series    one curve: the values of one Case, measured with one approach
    Case      a benchmark with its buffers, nodes and ranks; only series of equal cases are compared

Sizes are in bytes. Bandwidths are in MB/s (1 MB = 1,000,000 bytes), and more is better. Times are
in µs or ms, and less is better.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from osu_container.data.records import BUFFERS as BUFFERS
from osu_container.data.records import FIGURE

LOWEST, HIGHEST = FIGURE
#: Benchmarks that measure a bandwidth; all others measure a time. Names as in OSU 7.5 and in its
#: Python programs; Intel MPI Benchmarks have the prefix IMB, nccl-tests the prefix xccl.
BANDWIDTH = frozenset(
    (
        'osu_bw|osu_bibw|osu_mbw_mr|osu_put_bw|osu_get_bw|osu_put_bibw|osu_bw_persistent|'
        'osu_bibw_persistent|osu_bw_fan_in|osu_bw_fan_out|osu_xccl_bw|osu_xccl_bibw|'
        'IMB Uniband|IMB Biband'
    ).split('|')
)
#: Benchmarks that print one number without a message size; their value has size 0
SINGLE_VALUE_BENCHMARKS = frozenset(
    (
        'osu_barrier|osu_ibarrier|osu_barrier_persistent|osu_init|osu_hello|'
        'osu_xccl_barrier|IMB Barrier|IMB Ibarrier'
    ).split('|')
)
#: Benchmarks that print milliseconds
MILLISECONDS = frozenset(['osu_init'])
#: Prefix of a user's command (`osu-container bench --run`) in place of a benchmark's name. It has
#: one number without a message size, which its variant describes: 's: time of the step', or
#: 'ns/day, more is better: (.*)'
COMMAND_PREFIX = '$ '
MORE_IS_BETTER = ', more is better'


def is_command(benchmark: str) -> bool:
    """Return whether `benchmark` is a user's command instead of the name of a benchmark."""
    return benchmark.startswith(COMMAND_PREFIX)


def format_figure_variant(unit: str, origin: str, more_is_better: bool) -> str:
    """
    Return the text for Case.variant of a user's command: the unit and origin of the result.

    origin: text that says where the result of the command comes from
    """
    return f"{unit}{MORE_IS_BETTER if more_is_better else ''}: {origin}"


def is_bandwidth(benchmark: str) -> bool:
    """Return whether a benchmark measures a bandwidth. A larger bandwidth is better."""
    return benchmark in BANDWIDTH or benchmark.startswith('xccl ')


def select_unit(benchmark: str) -> str:
    """Return the unit of the values that a benchmark prints: 'MB/s', 'us' or 'ms'."""
    if is_bandwidth(benchmark):
        return 'MB/s'
    return 'ms' if benchmark in MILLISECONDS else 'us'


def format_size(size: int) -> str:
    """Return a size in bytes as text with a unit, e.g. '1 B' or '64 KiB'; '' for size 0."""
    if size == 0:
        return ''
    for name, factor in (('GiB', 1 << 30), ('MiB', 1 << 20), ('KiB', 1 << 10)):
        if size >= factor and size % factor == 0:
            return f'{size // factor} {name}'
    return f'{size} B'


def format_ratio(value: float) -> str:
    """Return a ratio as text with its significant digits, e.g. '0.0047', '0.98' or '348'."""
    if value >= 9.995:
        return f'{value:.0f}' if value >= 99.95 else f'{value:.1f}'
    return f'{value:.2f}' if value >= 0.0995 else f'{value:.2g}'


@dataclass(frozen=True, order=True)
class Case:
    """A benchmark case, which says what was measured: program, buffers, nodes and ranks."""

    #: Name of the program, 'osu_bw'; the Python programs have the names of the C programs
    benchmark: str
    #: One of BUFFERS
    buffers: str = ''
    #: None if the source does not report it
    nodes: int | None = None
    #: None if the source does not report it
    ranks: int | None = None
    #: What else must be equal: 'multiple buffers', 'numpy'; '' for the usual options
    variant: str = ''

    @property
    def placement(self) -> str:
        """
        Return the numbers of nodes and ranks as text, e.g. '8 ranks over 2 nodes'.

        The text is '' if both numbers are unknown.
        """
        if self.nodes is None:
            return f"{self.ranks} rank{'s' if self.ranks > 1 else ''}" if self.ranks else ''
        if self.ranks is None or self.ranks == self.nodes > 1 or (self.nodes, self.ranks) == (1, 2):
            return {1: 'one node', 2: 'two nodes'}.get(self.nodes, f'{self.nodes} nodes')
        return (
            f"{self.ranks} rank{'s' if self.ranks > 1 else ''} over {self.nodes} "
            f"node{'s' if self.nodes > 1 else ''}"
        )

    @property
    def title(self) -> str:
        """
        Return the title of the benchmark case as text.

        Examples: 'osu_bw D D, two nodes', '$ lmp, two nodes: time in s'.
        """
        if is_command(self.benchmark):
            origin = self.variant.partition(': ')[2]
            first = ', '.join(filter(None, (self.benchmark, self.placement)))
            return f'{first}: {origin} in {self.unit}'
        first = ' '.join(part for part in (self.benchmark, self.buffers) if part)
        return ', '.join(part for part in (first, self.placement, self.variant) if part)

    @property
    def unit(self) -> str:
        """Return the unit of the measured values of this benchmark case."""
        if is_command(self.benchmark):
            return self.variant.partition(':')[0].partition(MORE_IS_BETTER)[0]
        return select_unit(self.benchmark)

    @property
    def more_is_better(self) -> bool:
        """
        Return whether a larger value is better.

        A larger value is better for bandwidths, and for commands measured with --more-is-better.
        """
        if is_command(self.benchmark):
            return self.variant.partition(':')[0].endswith(MORE_IS_BETTER)
        return is_bandwidth(self.benchmark)


@dataclass
class Series:
    """One curve: the values of one benchmark case, measured with one approach."""

    case: Case
    #: Who was measured: 'native', 'hybrid', ...; unique in the dataset for a case
    name: str
    #: {size in bytes: {repeat (from 1): value (> 0)}}; a published single value is repeat 1
    values: dict[int, dict[int, float]]
    #: 'OSU C programs', 'mpi4py 4.1.2 ports', or None if the source does not report it
    programs: str | None = None
    #: Facts in addition to those of the dataset, e.g. the image or the libraries; release: of the
    #: C programs, missing or None if it is unknown
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def program_release(self) -> str:
        """
        Return the kind and the release of the programs, e.g. 'OSU C programs 7.4'.

        The text is '' if kind and release are unknown.
        """
        return ' '.join(filter(None, (self.programs, self.facts.get('release'))))

    @property
    def sizes(self) -> list[int]:
        """Return the measured message sizes in bytes, in ascending order."""
        return sorted(self.values)

    @property
    def repeats(self) -> int:
        """Return the largest number of repeats at any message size."""
        return max((len(values) for values in self.values.values()), default=0)

    def compute_medians(self) -> dict[int, float]:
        """Return {message size: median of the repeats}, with the sizes in ascending order."""
        return {
            size: max(values.values())
            if len(values := self.values[size]) == 1  # faster for a curve of 1,000,000 sizes
            else statistics.median(values.values())
            for size in self.sizes
        }


@dataclass
class Failure:
    """A benchmark case that was not measured, because the run of the case failed or was skipped."""

    case: Case
    name: str
    repeat: int
    #: What happened, and the remedy
    reason: str
    #: File of standard error in the folder of the run
    log: str | None = None
    #: It was not run at all
    is_skipped: bool = False


@dataclass
class Dataset:
    """The results of one run or of one publication."""

    #: What a user enters to select it: '20261121T131244Z', 'lumi-g-2025-03'
    name: str
    #: 'run', or 'published' (part of this project)
    kind: str
    #: One line for people
    title: str
    #: Of a run: header of results.jsonl; of a publication: its entry in datasets.json
    facts: dict[str, Any] = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    #: {module name: its facts}, see docs/benchmarks.md; empty for publications
    modules: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Problems of the file that did not prevent reading it
    problems: list[str] = field(default_factory=list)
    #: The file that was read, None for publications
    path: Path | None = None

    @property
    def cases(self) -> list[Case]:
        """Return the benchmark cases of all curves, in the order of their first appearance."""
        return list(dict.fromkeys(series.case for series in self.series))

    @property
    def names(self) -> list[str]:
        """Return the names of all curves, in the order of their first appearance."""
        return list(dict.fromkeys(series.name for series in self.series))

    @property
    def native_name(self) -> str:
        """
        Name of the native curves, which were measured without a container.

        The description of a publication may give another name to these curves.
        """
        return self.facts.get('native') or 'native'

    def select_series(self, case: Case | None = None, name: str | None = None) -> list[Series]:
        """Return the curves with the case `case` and the name `name`; None selects all curves."""
        return [
            series
            for series in self.series
            if case in (None, series.case) and name in (None, series.name)
        ]

    def filter_by_name(self, *names: str) -> Dataset:
        """
        Return a copy of the dataset with only the curves that have one of the names.

        Failures and modules with other names are also left out.
        """
        return replace(
            self,
            series=[entry for entry in self.series if entry.name in names],
            failures=[entry for entry in self.failures if entry.name in names],
            modules={
                name: facts
                for name, facts in self.modules.items()
                if facts.get('approach') in names
            },
            problems=list(self.problems),
        )

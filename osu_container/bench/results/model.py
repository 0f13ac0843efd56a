"""
The figures of a run or of a reference: Dataset -> Series -> value by message size and repeat.

    Dataset   one run, or one publication
    Series    one curve: a benchmark in one case under one approach
    Case      what was measured, whoever measured it: two series compare if their cases are equal

Sizes are bytes. Values are MB/s (1 MB = 1,000,000 bytes) where more is better, else µs or ms where
less is better.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

#: What can have been measured, in any unit. Ratios and squares of what is beyond are no numbers any
#: more
LOWEST, HIGHEST = 1e-30, 1e30
#: Benchmarks whose number is a bandwidth; all others give a time. The names of OSU 7.5 and of the
#: Python ones; those of the Intel MPI Benchmarks with IMB before them, those of nccl-tests with
#: xccl.
BANDWIDTH = frozenset(
    [
        'osu_bw',
        'osu_bibw',
        'osu_mbw_mr',
        'osu_put_bw',
        'osu_get_bw',
        'osu_put_bibw',
        'osu_bw_persistent',
        'osu_bibw_persistent',
        'osu_bw_fan_in',
        'osu_bw_fan_out',
        'osu_xccl_bw',
        'osu_xccl_bibw',
        'IMB Uniband',
        'IMB Biband',
    ]
)
#: Benchmarks that print one number and no message size; their values stand at size 0
SINGLE_VALUE_BENCHMARKS = frozenset(
    [
        'osu_barrier',
        'osu_ibarrier',
        'osu_barrier_persistent',
        'osu_init',
        'osu_hello',
        'osu_xccl_barrier',
        'IMB Barrier',
        'IMB Ibarrier',
    ]
)
#: Benchmarks that print milliseconds
MILLISECONDS = frozenset(['osu_init'])
#: Buffers as in the arguments of the programs: H host, D device, M managed memory; of the sender,
#: of the receiver. Collectives have one kind for all ranks and are written with it twice. '' for
#: benchmarks without buffers.
BUFFERS = ('H H', 'H D', 'D H', 'D D', 'M M', '')


#: How the name of what is no benchmark begins, but a command of a user's (`osu-container bench
#: --run`). It has one number and no message size, and its variant says what that is: 's: time of
#: the step', or 'ns/day, more is better: (.*)'
COMMAND_PREFIX = '$ '
MORE_IS_BETTER = ', more is better'


def is_command(benchmark):
    """Return True if a benchmark (str) is a command of a user's."""
    return benchmark.startswith(COMMAND_PREFIX)


def format_figure_variant(unit, what, more_is_better=False):
    """
    Return the variant (str) of the case of a command whose number is in unit (str); what: str,
    how it is found.
    """
    return f"{unit}{MORE_IS_BETTER if more_is_better else ''}: {what}"


def is_bandwidth(benchmark):
    """Return True if more is better in a benchmark (str, name of the program)."""
    return benchmark in BANDWIDTH or benchmark.startswith('xccl ')


def select_unit(benchmark):
    """Return the unit (str) of what a benchmark prints: 'MB/s', 'us' or 'ms'."""
    if is_bandwidth(benchmark):
        return 'MB/s'
    return 'ms' if benchmark in MILLISECONDS else 'us'


def format_size(size):
    """
    Return a message size in bytes (int) as people write it: '1 B', '64 KiB', '4 MiB'; '' for
    size 0.
    """
    if size == 0:
        return ''
    for name, factor in (('GiB', 1 << 30), ('MiB', 1 << 20), ('KiB', 1 << 10)):
        if size >= factor and size % factor == 0:
            return f'{size // factor} {name}'
    return f'{size} B'


@dataclass(frozen=True, order=True)
class Case:
    """
    What was measured, without who measured it.

    benchmark   name of the program, 'osu_bw'; the Python ones have the names of the C programs
    buffers     one of BUFFERS
    nodes       int, None where the source does not say
    ranks       int, None where the source does not say
    variant     what else must be equal: 'multiple buffers', 'numpy'; '' for the ordinary run
    """

    benchmark: str
    buffers: str = ''
    nodes: int | None = None
    ranks: int | None = None
    variant: str = ''

    @property
    def placement(self):
        """
        Return where the ranks are (str): 'two nodes', 'one node', '4 nodes', '8 ranks over 2
        nodes', ''.
        """
        if self.nodes is None:
            return f"{self.ranks} rank{'s' if self.ranks > 1 else ''}" if self.ranks else ''
        if (
            self.ranks in (None, self.nodes)
            and self.nodes > 1
            or (self.nodes, self.ranks) == (1, 2)
        ):
            return {1: 'one node', 2: 'two nodes'}.get(self.nodes, f'{self.nodes} nodes')
        return f"{self.ranks} rank{'s' if self.ranks > 1 else ''} over {self.nodes} node{'s' if self.nodes > 1 else ''}"

    @property
    def title(self):
        """Return the case in words (str): 'osu_bw D D, two nodes'."""
        first = ' '.join(part for part in (self.benchmark, self.buffers) if part)
        return ', '.join(part for part in (first, self.placement, self.variant) if part)

    @property
    def unit(self):
        """Return the unit (str) of its values."""
        if is_command(self.benchmark):
            return self.variant.partition(':')[0].partition(MORE_IS_BETTER)[0]
        return select_unit(self.benchmark)

    @property
    def more_is_better(self):
        """Return True for bandwidths, and for what a user has said it of."""
        if is_command(self.benchmark):
            return self.variant.partition(':')[0].endswith(MORE_IS_BETTER)
        return is_bandwidth(self.benchmark)


@dataclass
class Series:
    """
    One curve.

    case      Case
    name      who: 'native', 'hybrid', ...; unique within the dataset for a case
    values    {size in bytes: {repeat (int, from 1): value (float, > 0)}}; a published single value is repeat 1
    programs  'OSU C programs', 'mpi4py 4.1.2 ports', or None where the source does not say
    facts     dict: what is known beside the dataset's own facts, e.g. the image or the libraries; release: of the C
              programs, absent or None where nobody has said it
    """

    case: Case
    name: str
    values: dict[int, dict[int, float]]
    programs: str | None = None
    facts: dict = field(default_factory=dict)

    @property
    def program_release(self):
        """
        Return its programs with their release (str), 'OSU C programs 7.4'; '' where nothing is
        known of them.
        """
        return ' '.join(filter(None, (self.programs, self.facts.get('release'))))

    @property
    def sizes(self):
        """Return the message sizes in bytes, ascending (list of int)."""
        return sorted(self.values)

    @property
    def repeats(self):
        """Return the most repeats that any size has (int)."""
        return max((len(found) for found in self.values.values()), default=0)

    def compute_median(self, size):
        """
        Return the median over the repeats at a size (float). Raises KeyError for a size that it
        has not.
        """
        return statistics.median(self.values[size].values())

    def compute_medians(self):
        """Return {size: median}, ascending."""
        return {size: self.compute_median(size) for size in self.sizes}


@dataclass
class Failure:
    """
    A case that did not give numbers. repeat: int; reason: what happened and what to do (str);
    log: file or None.
    """

    case: Case
    name: str
    repeat: int
    reason: str
    log: str | None = None
    is_skipped: bool = False


@dataclass
class Dataset:
    """
    One run or one publication.

    name      what a user types to get it again: '20261121T131244Z', 'lumi-g-2025-03'
    kind      'run', 'published' (comes with this project) or 'reference' (added by the user or the site)
    title     one line for people
    facts     run: header of results.jsonl; reference: source, date, stack, node_type, evidence (str each)
    series    list of Series
    failures  list of Failure
    modules   {module name: its facts}, see docs/benchmarks.md; {} for publications
    problems  what was wrong with the file and could be read around (list of str)
    path      the file it came from (Path), None for data of the project
    """

    name: str
    kind: str
    title: str
    facts: dict = field(default_factory=dict)
    series: list[Series] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    modules: dict[str, dict] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    path: object = None

    @property
    def cases(self):
        """Return the cases of its series in the order of their first appearance (list of Case)."""
        return list(dict.fromkeys(one.case for one in self.series))

    @property
    def names(self):
        """Return the names of its series in the order of their first appearance (list of str)."""
        return list(dict.fromkeys(one.name for one in self.series))

    def select_series(self, case=None, name=None):
        """Return its series with this case (Case) and this name (str); None: any."""
        return [one for one in self.series if case in (None, one.case) and name in (None, one.name)]

    def filter_by_name(self, *names):
        """Return a copy with the series, failures and modules of these names (str) alone."""
        kept = [name for name, entry in self.modules.items() if entry.get('approach') in names]
        return Dataset(
            self.name,
            self.kind,
            self.title,
            self.facts,
            [one for one in self.series if one.name in names],
            [one for one in self.failures if one.name in names],
            {name: self.modules[name] for name in kept},
            list(self.problems),
            self.path,
        )

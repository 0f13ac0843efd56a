"""
Compute ratio, confidence interval and verdict at every message size of two curves.

docs/compare.md describes the method. All tests use the logarithms of the measured values. The
logarithm of a ratio is a difference, so a factor of 2 and a factor of 1/2 are equally far from
equality.
"""

from __future__ import annotations

import gc
import itertools
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from osu_container.bench.compare.numbers import np, special
from osu_container.bench.compare.thresholds import select_margin
from osu_container.bench.results.model import Case, Dataset, Series, format_size

#: Accepted probability of a false verdict, for all sizes of a curve together
ALPHA = 0.05
#: Verdict on figures of two machines: their ratio shows no difference of the software
NOT_JUDGED = 'not judged'
#: All verdicts. The verdict of a curve is the first one that any of its sizes has, so that no loss
#: is hidden
VERDICTS = ('worse', 'noisy', 'rounded', 'better', 'same', NOT_JUDGED)
#: Largest error of a printed value, in its unit: the programs print two decimals
ROUNDING = 0.005
#: Parts of a curve with a mean ratio of their own: key, heading, least and most size in bytes. Up to
#: 128 B a message fits into the command to the network card; from 1 MiB on the bandwidth dominates
REGIONS = (('small_ratio', '<=128 B', 0, 128), ('large_ratio', '>=1 MiB', 1 << 20, 1 << 62))
#: Minimum number of repeats for a verdict without 'probably'. The tests assume independent repeats,
#: but repeats on a busy machine depend on each other: 2 repeats of OSU 7.4 showed a factor of 3.9
#: where 22 repeats of the same modules showed no difference (two nodes over TCP, 2026-11).
FIRM_REPEATS = 5
#: Maximum number of size ranges in a sentence; for more ranges it gives the number of sizes
MOST_RANGES = 3
#: Maximum number of message sizes or cases that a sentence names
MOST_NAMED = 12


class CompareError(Exception):
    """
    Two datasets, which are results of runs or of publications, cannot be compared.

    The text of the error names the reason and the possible comparisons.
    """


class Point(NamedTuple):
    """The values of two curves (a and b) at one message size, with the verdict on a."""

    #: in bytes
    size: int
    #: medians over the repeats, in the unit of the case
    a: float
    b: float
    #: 'paired': median of the ratios a / b within each repeat, because a disturbance during a repeat
    #: slows both sides; otherwise the ratio of the medians
    ratio: float
    #: 90 % confidence interval of the ratio of geometric means, None for single values
    low: float | None
    high: float | None
    #: a is 'better' or 'worse' than b, or 'same' (equal within the margin); or the verdict is 'noisy'
    #: (the repeats scatter too much), 'rounded' (the program prints too few digits) or NOT_JUDGED
    verdict: str
    #: 'paired', 'Welch', 'one-sample' or 'threshold only'
    method: str
    #: p-value of the verdict, adjusted over the sizes of the curve; None without a test
    p: float | None
    #: logarithm of the factor by which a is better than b; negative if a is worse
    gain: float
    #: number of repeats of a and of b; for 'paired' the number of common repeats
    repeats: tuple[int, int]

    @property
    def factor(self) -> float:
        """Factor (at least 1) by which curve a is slower or faster than curve b."""
        return math.exp(abs(self.gain))

    @property
    def has_interval(self) -> bool:
        """
        Whether the confidence interval is meaningful.

        With two repeats, the confidence interval is not meaningful, because the interval may span
        many decades.
        """
        return self.low is not None and min(count for count in self.repeats if count > 1) > 2


@dataclass
class Comparison:
    """The comparison of two curves (a and b) that measured the same benchmark case."""

    #: case of a; the case of b may have unknown nodes or ranks
    case: Case
    a: Series
    b: Series
    #: ascending by size
    points: list[Point]
    #: difference that counts as equal, as a fraction
    margin: float
    #: {key of REGIONS: geometric mean of a / b, None without such a size} and
    #: {verdict of VERDICTS: number of points}
    summary: dict[str, Any]
    #: description of the tests
    method: str
    #: facts that limit the comparison, as sentences
    notes: list[str] = field(default_factory=list)
    #: names of the datasets
    a_dataset: str = ''
    b_dataset: str = ''

    @property
    def verdict(self) -> str:
        """
        The verdict on the whole curve: the worst verdict at any message size.

        VERDICTS lists the verdicts from the worst to the best.
        """
        return next(verdict for verdict in VERDICTS if self.summary[verdict])

    @property
    def title(self) -> str:
        """The names of both curves as text, e.g. 'opensource against native'."""
        return ' against '.join(self.names)

    @property
    def names(self) -> list[str]:
        """The names of both curves, with the names of the datasets if the datasets differ."""
        if self.a_dataset == self.b_dataset:
            return [self.a.name, self.b.name]
        return [
            format_qualified_name(self.a, self.a_dataset),
            format_qualified_name(self.b, self.b_dataset),
        ]

    def find_furthest_point(self, verdict: str | None = None) -> Point:
        """
        Return the point whose ratio is furthest from 1 among all points with `verdict`.

        verdict: a verdict; default: the verdict on the whole curve
        """
        verdict = verdict or self.verdict
        return max(
            (point for point in self.points if point.verdict == verdict),
            key=lambda point: abs(point.gain),
        )

    def format_curve_verdict(self) -> str:
        """
        Return the verdict on the whole curve as text, e.g. 'same' or 'probably worse'.

        If the curve is not better as a whole but is better at some message sizes, the text contains
        both verdicts: 'worse, better'.
        """
        hidden = ['better'] if self.verdict != 'better' and self.summary['better'] else []
        return self.format_qualifier(self.verdict) + ', '.join([self.verdict, *hidden])

    def count_fewest_repeats(self, verdict: str) -> int:
        """Return the lowest number of repeats at the message sizes with the verdict `verdict`."""
        return min(
            (min(point.repeats) for point in self.points if point.verdict == verdict),
            default=FIRM_REPEATS,
        )

    @property
    def few_repeats(self) -> int | None:
        """
        Lowest number of repeats at the message sizes with the verdict better or worse.

        The value is None if the lowest number is FIRM_REPEATS or more.
        """
        least = min(self.count_fewest_repeats('worse'), self.count_fewest_repeats('better'))
        return least if least < FIRM_REPEATS else None

    def format_qualifier(self, verdict: str) -> str:
        """Return 'probably ' if a verdict is based on too few repeats, otherwise ''."""
        enough = {'worse': FIRM_REPEATS, 'better': FIRM_REPEATS, 'same': 2}.get(verdict, 0)
        return 'probably ' if self.count_fewest_repeats(verdict) < enough else ''

    def format_size_label(self, size: int) -> str:
        """Return a message size as text, e.g. '4 KiB', or '' if the benchmark has no sizes."""
        return format_size(size) or ('0 B' if len(self.points) > 1 else '')

    @property
    def sentence(self) -> str:
        """
        All verdicts on the curve as text, with their message sizes.

        Example: 'worse at 1 B .. 64 B, up to 8.3 times slower; same at 1 KiB'.
        """
        parts: list[str] = []
        for verdict in (verdict for verdict in VERDICTS if self.summary[verdict]):
            sizes = self._format_size_ranges(verdict)
            if parts and verdict == 'same' and (' and ' in sizes or ' of ' in sizes):
                sizes = ' at the other sizes'
            text = self.format_qualifier(verdict) + verdict + sizes
            if verdict in ('worse', 'better'):
                repeats = self.count_fewest_repeats(verdict)
                factor = format_factor(self.find_furthest_point(verdict).factor)
                text += (
                    f", {'up to ' if self.summary[verdict] > 1 else ''}{factor} "
                    f"times {'slower' if verdict == 'worse' else 'faster'}"
                    + (f' ({repeats} repeats)' if 1 < repeats < FIRM_REPEATS else '')
                )
            parts.append(text)
        return '; '.join(parts)

    def _format_size_ranges(self, verdict: str) -> str:
        """
        Return the message sizes with a verdict as text, e.g. ' at 1 B .. 128 B and 8 KiB'.

        The text is '' for benchmarks without message sizes.
        """
        if len(self.points) == self.summary[verdict] > 1:
            return ' at all sizes'
        ranges = [
            list(points)
            for found_verdict, points in itertools.groupby(self.points, lambda point: point.verdict)
            if found_verdict == verdict
        ]
        if len(ranges) > MOST_RANGES:
            return f' at {self.summary[verdict]} of {len(self.points)} sizes'
        text = ' and '.join(
            ' .. '.join(dict.fromkeys(self.format_size_label(points[end].size) for end in (0, -1)))
            for points in ranges
        )
        return f' at {text}' if text else ''


#: Numbers of the repeats of a and of b
_Repeats = tuple[tuple[int, ...], tuple[int, ...]]


def format_factor(times: float) -> str:
    """Return a factor of at least 1 as text with about three digits: '1.25', '12.5', '125'."""
    return f'{times:.2f}' if times < 2 else f'{times:.1f}' if times < 100 else f'{times:.0f}'


def format_qualified_name(series: Series, dataset: str) -> str:
    """Return the name of a curve in the form that commands accept: 'DATASET:NAME'."""
    return f'{dataset}:{series.name}' if dataset else series.name


def compare_series(
    a: Series, b: Series, *, paired: bool = False, a_dataset: str = '', b_dataset: str = ''
) -> Comparison:
    """
    Compare two curves at the message sizes that both curves have.

    Raises CompareError if the curves have no message size in common.

    paired: whether both curves are from one run. In each repeat, a run measures its modules one
    after the other. For this reason, repeat n of a is then compared with repeat n of b.
    """
    sizes = sorted(set(a.values) & set(b.values))
    if not sizes:
        raise CompareError(f"{a.case.title}: {a.name} and {b.name} have no message size in common")
    groups: dict[_Repeats, list[int]] = {}
    # A curve may have 1,000,000 sizes: map() reads the repeats of each size.
    repeats = (map(tuple, map(side.values.__getitem__, sizes)) for side in (a, b))
    for size, key in zip(sizes, zip(*repeats)):
        groups.setdefault(key, []).append(size)
    methods = {key: _select_method(*key, paired) for key in groups}
    tested = {method for method, *_ in methods.values()}
    margin = select_margin(a.case.benchmark, repeated=not tested & {'one-sample', 'threshold only'})
    points = _compute_points(
        a, b, [(methods[key], sizes) for key, sizes in groups.items()], math.log1p(margin)
    )
    comparison = Comparison(
        a.case,
        a,
        b,
        points,
        margin,
        _summarize_points(points),
        _format_method(tested, margin),
        a_dataset=a_dataset,
        b_dataset=b_dataset,
    )
    comparison.notes = _list_notes(comparison)
    return comparison


def remove_verdicts(comparison: Comparison, reason: str) -> Comparison:
    """
    Return a copy of a comparison that has ratios but no verdicts.

    Results of two machines get no verdicts, because the hardware may cause the difference.

    reason: text to add to the notes of the comparison
    """
    points = [point._replace(verdict=NOT_JUDGED, p=None) for point in comparison.points]
    return replace(
        comparison,
        points=points,
        summary=_summarize_points(points),
        notes=[*comparison.notes, reason],
    )


def _select_method(
    a: tuple[int, ...], b: tuple[int, ...], paired: bool
) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """
    Select the statistical method for the comparison at one message size.

    The result is (method, numbers of the repeats of a to use, numbers of the repeats of b to use).

    a, b: numbers of the repeats that side a and side b have measured at the message size
    """
    both = tuple(sorted(set(a) & set(b)))
    if paired and len(both) > 1:
        return 'paired', both, both
    if len(a) > 1 and len(b) > 1:
        return 'Welch', a, b
    return ('one-sample' if len(a) > 1 or len(b) > 1 else 'threshold only'), a, b


def _compute_points(
    a: Series,
    b: Series,
    groups: list[tuple[tuple[str, tuple[int, ...], tuple[int, ...]], list[int]]],
    margin: float,
) -> list[Point]:
    """
    Return the comparison of two curves at each message size, as points ordered by size.

    groups: list of (result of _select_method(), message sizes)
    margin: logarithm of the largest factor between two values that count as equal
    """
    sign = 1.0 if a.case.more_is_better else -1.0
    # A curve may have 1,000,000 sizes, so NumPy computes each column of the table at once.
    tables = []
    for (method, *repeats), sizes in groups:
        raw_a, raw_b = (
            np.array([side.values[size][n] for size in sizes for n in numbers]).reshape(
                len(sizes), -1
            )
            for side, numbers in zip((a, b), repeats)
        )
        medians = np.median(raw_a, axis=1), np.median(raw_b, axis=1)
        logs = sign * np.log(raw_a), sign * np.log(raw_b)
        table = _run_tests(method, *logs, margin)
        ends = np.exp(np.clip([sign * table['low'], sign * table['high']], -700, 700))
        table.update(
            size=np.array(sizes),
            a=medians[0],
            b=medians[1],
            # The median of the logarithms: b / a is the inverse of a / b.
            ratio=np.exp(sign * np.median(logs[0] - logs[1], axis=1))
            if method == 'paired'
            else medians[0] / medians[1],
            low=ends.min(axis=0),
            high=ends.max(axis=0),
            gap=_compute_gaps(*logs),
            method=np.full(len(sizes), method, dtype=object),
            repeats_a=np.full(len(sizes), len(repeats[0])),
            repeats_b=np.full(len(sizes), len(repeats[1])),
        )
        tables.append(table)
    columns = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
    columns['gain'] = sign * np.log(columns['ratio'])
    order = np.argsort(columns['size'])
    columns = {key: column[order] for key, column in columns.items()}
    tested = ~np.isnan(columns['worse'])
    for key in ('worse', 'better', 'same'):
        columns[key][tested] = adjust_p_values(columns[key][tested])
    single = math.log1p(select_margin(a.case.benchmark, repeated=False))
    columns['verdict'] = _judge_points(columns, margin, single)
    columns['p'] = np.select(
        [columns['verdict'] == key for key in ('worse', 'better', 'same')],
        [columns[key] for key in ('worse', 'better', 'same')],
        np.nan,
    )
    for key in ('low', 'high', 'p'):
        columns[key] = np.where(np.isnan(columns[key]), None, columns[key])
    names = 'size a b ratio low high verdict method p gain'.split()
    counts = zip(columns['repeats_a'].tolist(), columns['repeats_b'].tolist())
    rows = zip(*(columns[name].tolist() for name in names), counts)
    gc.disable()  # would search all values for cycles again and again while points are added
    try:
        return list(map(Point._make, rows))
    finally:
        gc.enable()


def _compute_gaps(a: Any, b: Any) -> Any:
    """
    Return the gap between the values of side a and of side b at each message size.

    The gap is positive if all values of a are greater than all values of b, and negative if all
    values of a are less than all values of b. The gap is 0 if the two ranges of values overlap. The
    gap is also 0 if the values of one side scatter by more than an eighth of the gap, because small
    gaps occur by chance: with three repeats, the ranges of two equally fast sides are separate in
    one of ten cases (the tests simulate such false alarms with noise of 3 %).

    a, b: arrays (sizes x repeats) of logarithms of the measured values
    """
    above, below = a.min(axis=1) - b.max(axis=1), a.max(axis=1) - b.min(axis=1)
    gaps = np.where(above > 0, above, np.minimum(below, 0.0))
    spread = np.maximum(np.ptp(a, axis=1), np.ptp(b, axis=1))
    return np.where(abs(gaps) > 8 * spread, gaps, 0.0)


def _run_tests(method: str, a: Any, b: Any, margin: float) -> dict[str, Any]:
    """
    Run the statistical tests at all message sizes of a curve; return the results as a dict.

    The keys 'worse', 'better' and 'same' have p-values. The keys 'low' and 'high' have the ends of
    the confidence interval of the gain (mean of a minus mean of b). Each dict value is an array
    with an element for each message size; the elements are NaN if there are no repeats.

    a, b: arrays (sizes x repeats) of logarithms; greater logarithms are better
    """
    if method == 'threshold only':
        return {key: np.full(len(a), np.nan) for key in ('worse', 'better', 'same', 'low', 'high')}
    # Each sample of a t-test has a squared standard error and degrees of freedom. Paired repeats,
    # and repeats against a single value, are one sample: that of the differences.
    samples = [a, b] if method == 'Welch' else [a - b]
    errors = [sample.var(axis=1, ddof=1) / sample.shape[1] for sample in samples]
    mean, error = a.mean(axis=1) - b.mean(axis=1), np.sqrt(sum(errors))
    with np.errstate(all='ignore'):
        # Equal repeats (0.19 0.19 0.19, of a program that prints two decimals) have no spread. Then
        # t is infinite and p is 0 or 1, which is correct: _judge_points() accounts for rounding.
        freedom = error**4 / sum(
            part**2 / (sample.shape[1] - 1) for part, sample in zip(errors, samples)
        )
        freedom = np.nan_to_num(freedom, nan=1.0)
        worse = special.stdtr(freedom, (mean + margin) / error)
        better = special.stdtr(freedom, (margin - mean) / error)
    p = {'worse': worse, 'better': better, 'same': 1 - np.minimum(worse, better)}
    reach = special.stdtrit(freedom, 1 - ALPHA) * error
    results = {key: np.nan_to_num(value, nan=1.0) for key, value in p.items()}
    return dict(results, low=mean - reach, high=mean + reach)


def adjust_p_values(p_values: Any) -> Any:
    """Return the p-values, adjusted by the method of Benjamini and Hochberg, as an array."""
    p, number = np.array(p_values), len(p_values)
    order = np.argsort(-p)
    p[order] = np.minimum.accumulate(p[order] * number / np.arange(number, 0, -1))
    return np.minimum(p, 1)


def _judge_points(columns: dict[str, Any], margin: float, single: float) -> Any:
    """
    Return the verdict on a comparison at each message size, as an array of VERDICTS.

    columns: dict of arrays, with the fields of Point, the gaps of _compute_gaps(), and the adjusted
    p-values of _run_tests()
    margin: logarithm of the margin for the statistical test
    single: logarithm of the margin for single values
    """
    worse, better, gain, gap = (columns[key] for key in ('worse', 'better', 'gain', 'gap'))
    side, distance = np.where(gain > 0, 'better', 'worse'), abs(gain)
    # Ignore a difference that rounding to two decimals can cause.
    limit = margin + np.log1p(ROUNDING / columns['a']) + np.log1p(ROUNDING / columns['b'])
    is_single, is_within = np.isnan(worse), distance <= limit
    has_few_repeats = np.minimum(columns['repeats_a'], columns['repeats_b']) < FIRM_REPEATS
    settled = np.minimum(worse, better) <= ALPHA
    verdicts = [
        (is_single & (distance <= margin * (1 + 1e-9)), 'same'),
        (is_single, np.where(is_within, 'rounded', side)),
        ((np.where(gain > 0, better, worse) <= ALPHA) & ~is_within, side),
        (columns['same'] <= ALPHA, 'same'),
        # Judge the repeats like single values, so that more data never give a weaker verdict.
        (
            has_few_repeats & (abs(gap) > np.maximum(limit, single)),
            np.where(gap > 0, 'better', 'worse'),
        ),
        (settled & (margin < distance) & is_within, 'rounded'),
    ]
    return np.select(*zip(*verdicts), 'noisy')


def _summarize_points(points: list[Point]) -> dict[str, Any]:
    """
    Return mean ratios by range of message sizes, and the number of points for each verdict.

    The result is a dict, the value of Comparison.summary.
    """
    means, counts = {}, Counter(point.verdict for point in points)
    for key, _, least, most in REGIONS:
        part = [point.ratio for point in points if least <= point.size <= most]
        means[key] = math.exp(np.log(part).mean()) if part and len(points) > 1 else None
    return dict(
        means,
        **{verdict: counts[verdict] for verdict in VERDICTS},
    )


def _format_method(tested: set[str], margin: float) -> str:
    """
    Return a description of the statistical methods and of the margin for a curve.

    tested: names of the methods
    """
    texts = {
        'paired': "t-tests on the logarithms of the ratios of results A to results B (one "
        "ratio for each repeat)",
        'Welch': "Welch's t-tests on the logarithms of all values of results A and of results B",
        'one-sample': "t-tests on logarithms: one of the compared results has repeated values, and "
        "the other result has a single value",
        'threshold only': "no statistical test, because the compared values were measured only once: "
        "only the margin decides the verdict",
    }
    text = '; '.join(texts[name] for name in texts if name in tested)
    if tested != {'threshold only'}:
        text += (
            "; the p-values are adjusted for the number of message sizes (Benjamini-Hochberg, "
            f"{ALPHA:g})"
        )
    return f"{text}; margin {100 * margin:g} %"


def _list_notes(comparison: Comparison) -> list[str]:
    """Return sentences about facts that limit the validity of a comparison."""
    notes = []
    a, b = comparison.a, comparison.b
    releases = a.facts.get('release'), b.facts.get('release')
    if (
        a.programs
        and b.programs
        and (a.programs != b.programs or all(releases) and releases[0] != releases[1])
    ):
        notes.append(
            f"{comparison.names[0]} ran {a.program_release}, but {comparison.names[1]} ran "
            f"{b.program_release}: results of different programs are not strictly comparable"
        )
    unknown = [key for key in ('nodes', 'ranks') if getattr(a.case, key) != getattr(b.case, key)]
    if unknown:
        notes.append(
            f"the number of {' and '.join(unknown)} is unknown for one of the two compared "
            f"results: {a.case.title}, {b.case.title}"
        )
    if any(point.low is not None and not point.has_interval for point in comparison.points):
        notes.append(
            "some message sizes have only two repeats, which are too few for a confidence interval"
        )
    left_out = sorted(set(a.values) ^ set(b.values))
    if left_out:
        named = _join_first([format_size(size) or '0 B' for size in left_out], ', ')
        notes.append(
            "the comparison leaves out message sizes for which only one of the two compared results "
            f"has values: {named}"
        )
    return notes


def is_same_case(a: Case, b: Case, lenient: bool) -> bool:
    """
    Return whether two benchmark cases are equal: benchmark, buffers, nodes, ranks, variant.

    lenient: whether an unknown number of nodes or ranks is equal to any number
    """
    if not lenient:
        return a == b
    return (a.benchmark, a.buffers, a.variant) == (b.benchmark, b.buffers, b.variant) and all(
        None in (getattr(a, key), getattr(b, key)) or getattr(a, key) == getattr(b, key)
        for key in ('nodes', 'ranks')
    )


def is_same_run(a: Dataset, b: Dataset) -> bool:
    """
    Return whether two datasets are parts of the same run.

    A run measures its modules one after the other in each repeat. Imported program outputs are
    never parts of the same run.
    """
    if a.facts.get('imported'):
        return False
    return a is b or (a.kind == b.kind == 'run' and a.name == b.name and a.path == b.path)


def compare_datasets(a: Dataset, b: Dataset) -> list[Comparison]:
    """
    Compare the curves of two datasets that measured the same benchmark cases.

    The result has the order of dataset a. If both datasets have curves with several names, only
    curves of the same name are compared. If all curves of a dataset have the same name, these
    curves are compared with all curves of the other dataset.

    An imported program output may not report the number of nodes or ranks. An unknown number then
    matches any number, and a note in the comparison reports the unknown number.
    Raises CompareError if no curves can be compared.
    """
    by_name, lenient = (
        len(a.names) > 1 and len(b.names) > 1,
        any(side.facts.get('imported') for side in (a, b)),
    )

    # A file of 32 MB can have 100,000 curves, so not every pair is tested.
    def build_key(series: Series) -> tuple[str, ...]:
        case = series.case
        return (case.benchmark, case.buffers, case.variant, series.name if by_name else '')

    others: dict[tuple[str, ...], list[Series]] = {}
    for other in b.series:
        others.setdefault(build_key(other), []).append(other)
    comparisons = [
        compare_series(series, other, paired=is_same_run(a, b), a_dataset=a.name, b_dataset=b.name)
        for series in a.series
        for other in others.get(build_key(series), ())
        if series is not other
        and is_same_case(series.case, other.case, lenient)
        and set(series.values) & set(other.values)
    ]
    if not comparisons:
        raise CompareError(_explain_no_match(a, b, by_name, lenient))
    return comparisons


def compare_with_native(dataset: Dataset) -> list[Comparison]:
    """
    Compare every approach in a dataset with the native curves of the same dataset.

    The description of a publication may give another name to the native curves. Raises CompareError
    if the dataset has no native curves, or has only native curves.
    """
    native = dataset.native_name
    others = [name for name in dataset.names if name != native]
    if native not in dataset.names:
        raise CompareError(
            f"{dataset.title} has no native results with which to compare the other results, only "
            f"{', '.join(dataset.names) or 'none'}. Name the results to compare with as the second "
            "argument: another run, an approach of a run (RUN:NAME), or published results "
            "(`osu-container reference list`)"
        )
    if not others:
        failed = '; '.join(
            dict.fromkeys(
                f'{failure.name}: {failure.reason}'
                for failure in dataset.failures
                if failure.name != native
            )
        )
        raise CompareError(
            f"{dataset.title} has only results of {native}{f' ({failed})' if failed else ''}, and no "
            f"results to compare with {native}. Name the results to compare with as the second "
            "argument: a different run or published results (`osu-container reference list`)"
        )
    return compare_datasets(dataset.filter_by_name(*others), dataset.filter_by_name(native))


def _explain_no_match(a: Dataset, b: Dataset, by_name: bool, lenient: bool) -> str:
    """
    Return why no curves of two datasets can be compared.

    The text lists either the names of the curves or the measured cases.
    """
    if (
        by_name
        and not set(a.names) & set(b.names)
        and any(is_same_case(case, other, lenient) for case in a.cases for other in b.cases)
    ):
        return (
            f"{a.name} and {b.name} have no curves with the same name: {', '.join(a.names)} and "
            f"{', '.join(b.names)}. Give one curve of {b.name} on the command line as {b.name}:NAME"
        )
    return '\n  '.join(
        [
            f"{a.name} and {b.name} have no results of the same benchmark with the same settings:",
            *(f"{side.name} has: {format_cases(side)}" for side in (a, b)),
        ]
    )


def format_cases(dataset: Dataset) -> str:
    """Return the titles of at most twelve benchmark cases in a dataset as text."""
    return _join_first([case.title for case in dataset.cases], '; ')


def _join_first(names: list[str], separator: str) -> str:
    """Return a text with the first MOST_NAMED names and the number of the remaining names."""
    more = [f'and {len(names) - MOST_NAMED} more'] if names[MOST_NAMED:] else []
    return separator.join(names[:MOST_NAMED] + more)

"""
Ratio, spread and verdict at every message size. docs/compare.md says the same in plain words, with
references.

All is done on logarithms, where a ratio is a difference and twice as fast is as far from equal as
half as fast.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass, field, replace

from osu_container.bench.compare.numbers import np, scipy
from osu_container.bench.compare.thresholds import select_margin
from osu_container.bench.results import ratios
from osu_container.bench.results.model import Case, Series, format_size

#: Chance of a false verdict that is accepted, for all sizes of a curve together
ALPHA = 0.05
#: What is said of figures of two machines: neither is good or bad news about the software
NOT_JUDGED = 'not judged'
#: What a curve is called, by the first of these that a size of it has: a loss is never hidden, nor
#: a gain
VERDICTS = ('worse', 'noisy', 'rounded', 'better', 'same', NOT_JUDGED)
#: The programs print two decimals: the value behind a printed one is up to this far from it, in its
#: unit
ROUNDING = 0.005
#: Parts of a curve whose mean ratio is shown: (key, words, least size, most size in bytes).
#: Up to 128 B a message fits into the command to the card; from 1 MiB bandwidth counts
REGIONS = (('small_ratio', '<=128 B', 0, 128), ('large_ratio', '>=1 MiB', 1 << 20, 1 << 62))
#: From so many repeats on a difference is said as it was measured, without 'probably'. The tests
#: take repeats for independent, and those of a busy machine are not: two repeats of OSU 7.4 showed
#: 3.9 times, 22 of the same modules nothing (two nodes over TCP, 2026-11). bench makes five for
#: whoever wants to tell.
FIRM_REPEATS = 5
#: Ranges of sizes with one verdict that a sentence names; of more, sizes are counted
MOST_RANGES = 3


class CompareError(Exception):
    """What cannot be compared; the text says why and what can be."""


@dataclass
class Point:
    """
    Both sides at one message size.

    size       bytes (int)
    a, b       medians over the repeats (float, in the unit of the case)
    ratio      of a to b, see results.ratios
    low, high  confidence interval (90 %) of the ratio of the geometric means, None for single values
    verdict    of a: 'better', 'worse', 'same' (equal within the margin), 'noisy' (the repeats scatter too much to
               tell), 'rounded' (the program prints too few digits to tell)
    method     'paired', 'Welch', 'one-sample' or 'threshold only'
    p          p-value of the verdict, adjusted over the sizes of the curve; None for 'threshold only', 'noisy' and
               'rounded'
    gain       logarithm of the ratio, turned so that more is better (float; below 0: a is behind)
    repeats    (of a, of b); for 'paired' those that both have
    """

    size: int
    a: float
    b: float
    ratio: float
    low: float | None
    high: float | None
    verdict: str
    method: str
    p: float | None
    gain: float
    repeats: tuple[int, int]

    @property
    def factor(self):
        """Return how many times slower or faster a is than b (float, >= 1)."""
        return math.exp(abs(self.gain))


@dataclass
class Comparison:
    """
    Two curves of one case.

    case     Case of a; b.case can differ in what is unknown
    a, b     Series
    points   list of Point, ascending by size
    margin   fraction that counts as equal
    summary  dict: small_ratio, large_ratio (geometric means of a / b over REGIONS, None where it has no such size),
             and how many points have each of VERDICTS
    method   how it was decided, in words
    notes    what must be known beside it (list of str)
    a_from, b_from  names of the datasets (str)
    """

    case: Case
    a: Series
    b: Series
    points: list[Point]
    margin: float
    summary: dict
    method: str
    notes: list[str] = field(default_factory=list)
    a_dataset: str = ''
    b_dataset: str = ''

    @property
    def verdict(self):
        """Return the worst verdict (str) of its points, in the order of VERDICTS."""
        return next(verdict for verdict in VERDICTS if self.summary[verdict])

    @property
    def title(self):
        """Return 'opensource against native' (str), with the datasets where they differ."""
        return ' against '.join(self.names)

    @property
    def names(self):
        """Return the names of both sides (list of str), with their datasets where they differ."""
        if self.a_dataset == self.b_dataset:
            return [self.a.name, self.b.name]
        return [
            format_qualified_name(self.a, self.a_dataset),
            format_qualified_name(self.b, self.b_dataset),
        ]

    def find_furthest_point(self, verdict=None):
        """Return its Point of this verdict (str; None: its own) that is furthest from equal."""
        return max(
            (point for point in self.points if point.verdict == (verdict or self.verdict)),
            key=lambda point: point.factor,
        )

    def format_curve_verdict(self):
        """
        Return its verdict (str), with a gain that it hides: 'worse, better'; of few repeats
        'probably worse'.
        """
        hidden = ['better'] if self.verdict != 'better' and self.summary['better'] else []
        return ', '.join(
            self.format_qualifier(verdict) + verdict for verdict in [self.verdict, *hidden]
        )

    def count_fewest_repeats(self, verdict):
        """Return the fewest repeats (int) of a side at its points of this verdict (str)."""
        return min(
            (min(point.repeats) for point in self.points if point.verdict == verdict),
            default=FIRM_REPEATS,
        )

    @property
    def few_repeats(self):
        """
        Return of how few repeats a verdict worse or better of it was made (int, 1 of none); None
        from FIRM on.
        """
        least = min(self.count_fewest_repeats('worse'), self.count_fewest_repeats('better'))
        return least if least < FIRM_REPEATS else None

    def format_qualifier(self, verdict):
        """
        Return 'probably ' (str) where points of this verdict (str) rest on few repeats of a
        side, else ''.
        """
        enough = {'worse': FIRM_REPEATS, 'better': FIRM_REPEATS, 'same': 2}.get(verdict, 0)
        return 'probably ' if self.count_fewest_repeats(verdict) < enough else ''

    def format_size_label(self, size):
        """Return a size in bytes (int) in words (str); '' for benchmarks without sizes."""
        return format_size(size) or ('0 B' if len(self.points) > 1 else '')

    @property
    def sentence(self):
        """
        Return all verdicts in a sentence (str): 'worse at 1 B .. 128 B, up to 8.3 times slower;
        same at 256 B'.
        """
        parts = []
        for verdict in (verdict for verdict in VERDICTS if self.summary[verdict]):
            text = self.format_qualifier(verdict) + verdict + self._format_size_ranges(verdict)
            if verdict in ('worse', 'better'):
                repeats = self.count_fewest_repeats(verdict)
                text += (
                    f", {'up to ' if self.summary[verdict] > 1 else ''}{format_factor(self.find_furthest_point(verdict).factor)} "
                    f"times {'slower' if verdict == 'worse' else 'faster'}"
                    + (f' ({repeats} repeats)' if 1 < repeats < FIRM_REPEATS else '')
                )
            parts.append(text)
        return '; '.join(parts)

    def _format_size_ranges(self, verdict):
        """
        Return the sizes of a verdict (str): ' at 1 B .. 128 B and 8 KiB'; '' for a benchmark
        without sizes.
        """
        if len(self.points) == self.summary[verdict] > 1:
            return ' at all sizes'
        ranges = [
            [self.format_size_label(point.size) for point in points]
            for same, points in itertools.groupby(self.points, lambda point: point.verdict)
            if same == verdict
        ]
        if len(ranges) > MOST_RANGES:
            return f' at {self.summary[verdict]} of {len(self.points)} sizes'
        text = ' and '.join(
            ' .. '.join(dict.fromkeys([labels[0], labels[-1]])) for labels in ranges
        )
        return f' at {text}' if text else ''


def format_factor(times):
    """
    Return how many times slower or faster (float, >= 1) as text with the digits that mean
    something.
    """
    return f'{times:.2f}' if times < 2 else f'{times:.1f}' if times < 100 else f'{times:.0f}'


def format_qualified_name(series, dataset):
    """Return a series with its dataset (str) as a user types it: 'lumi-g-2025-03:native'."""
    return f'{dataset}:{series.name}' if dataset else series.name


def compare_series(a, b, *, paired=False, a_dataset='', b_dataset=''):
    """
    Compare two Series at the message sizes that both have; return a Comparison.

    :param paired: bool, both come from one run, whose repeats alternate between them: repeat n
        belongs to repeat n
    :param a_from, b_from: names of their datasets (str)
    Raises CompareError if they have no size in common.
    """
    sizes = sorted(set(a.values) & set(b.values))
    if not sizes:
        raise CompareError(f"{a.case.title}: {a.name} and {b.name} have no message size in common")
    groups = {}
    for size in sizes:
        groups.setdefault(_select_method(a.values[size], b.values[size], paired), []).append(size)
    tested = {key[0] for key in groups}
    margin = select_margin(a.case.benchmark, repeated=not tested & {'one-sample', 'threshold only'})
    points = _compute_points(a, b, groups, math.log1p(margin), paired)
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


def remove_verdicts(comparison, reason):
    """
    Return a Comparison whose ratios stand without a verdict, with reason (str) among its notes.

    For figures of two machines: that one network is slower than another says nothing about the
    software.
    """
    points = [replace(point, verdict=NOT_JUDGED, p=None) for point in comparison.points]
    return replace(
        comparison,
        points=points,
        summary=_summarize_points(points),
        notes=[*comparison.notes, reason],
    )


def _select_method(a, b, paired):
    """
    Return (method, repeats of a, repeats of b) for the {repeat: value} of both sides at one
    size.
    """
    if paired:
        both = tuple(sorted(set(a) & set(b)))
        if len(both) > 1:
            return 'paired', both, both
    if len(a) > 1 and len(b) > 1:
        return 'Welch', tuple(sorted(a)), tuple(sorted(b))
    if len(a) > 1 or len(b) > 1:
        return 'one-sample', tuple(sorted(a)), tuple(sorted(b))
    return 'threshold only', tuple(a), tuple(b)


def _compute_points(a, b, groups, margin, paired):
    """
    Return the Points (list, ascending) of two series. margin: logarithm; groups:
    {_select_method(): [sizes]}.
    """
    sign = 1.0 if a.case.more_is_better else -1.0
    rows, single = [], math.log1p(select_margin(a.case.benchmark, repeated=False))
    for (method, of_a, of_b), sizes in groups.items():
        raw_a = np.array([[a.values[size][repeat] for repeat in of_a] for size in sizes])
        raw_b = np.array([[b.values[size][repeat] for repeat in of_b] for size in sizes])
        log_a, log_b = sign * np.log(raw_a), sign * np.log(raw_b)
        middle_a, middle_b = np.median(raw_a, axis=1), np.median(raw_b, axis=1)
        found = _run_tests(method, log_a, log_b, margin)
        for index, size in enumerate(sizes):
            rows.append(
                {
                    'size': size,
                    'a': float(middle_a[index]),
                    'b': float(middle_b[index]),
                    'method': method,
                    'repeats': (len(of_a), len(of_b)),
                    'ratio': ratios.compute_ratio(a.values[size], b.values[size], paired=paired),
                    'single': single,
                    'apart': _compute_gap(log_a[index], log_b[index]),
                    **{key: found[key][index] for key in found},
                }
            )
    rows.sort(key=lambda row: row['size'])
    with_p = [row for row in rows if row['worse'] is not None]
    for key in ('worse', 'better', 'same'):
        if with_p:
            adjusted = scipy.stats.false_discovery_control(
                [row[key] for row in with_p], method='bh'
            )
            for row, value in zip(with_p, adjusted):
                row[key] = float(value)
    return [_build_point(row, sign, margin) for row in rows]


def _compute_gap(a, b):
    """
    Return how far all of a are above (below: < 0) all of b (arrays of logarithms), 0 where they
    overlap.

    Also 0 where either scatters by an eighth of that: of three repeats each, one order in ten is
    apart by chance alone, and two in noise of 3 % are called worse too often with less (the
    simulation of false alarms in the tests).
    """
    gap = max(0.0, float(a.min() - b.max())) or min(0.0, float(a.max() - b.min()))
    return gap if abs(gap) > 8 * max(np.ptp(a), np.ptp(b)) else 0.0


def _run_tests(method, a, b, margin):
    """
    Return {'worse', 'better', 'same': p-values or None; 'low', 'high': interval of the gain or
    None}.

    :param a, b: arrays of sizes x repeats, logarithms whose larger ones are better
    """
    if method == 'threshold only':
        return dict.fromkeys(('worse', 'better', 'same', 'low', 'high'), [None] * len(a))
    if method == 'Welch':

        def test(zero, alternative):
            return scipy.stats.ttest_ind(
                a - zero, b, axis=1, equal_var=False, alternative=alternative
            )
    else:  # paired, or repeats against a single value: the differences are one sample
        difference = a - b

        def test(zero, alternative):
            return scipy.stats.ttest_1samp(difference, zero, axis=1, alternative=alternative)

    with warnings.catch_warnings(), np.errstate(all='ignore'):
        # equal repeats, such as 0.19 0.19 0.19 of a program that prints two decimals, have no
        # spread: t is infinite, p is 0 or 1, which is right; the rounding is taken care of in
        # _build_point()
        warnings.simplefilter('ignore', RuntimeWarning)
        p = {
            'worse': test(-margin, 'less').pvalue,
            'better': test(margin, 'greater').pvalue,
            'same': np.maximum(test(-margin, 'greater').pvalue, test(margin, 'less').pvalue),
        }
        interval = test(0.0, 'two-sided').confidence_interval(1 - 2 * ALPHA)
    found = {key: np.nan_to_num(value, nan=1.0) for key, value in p.items()}
    return dict(found, low=interval.low, high=interval.high)


def _build_point(row, sign, margin):
    """Return the Point of a row of _compute_points(), whose p-values are adjusted."""
    gain = sign * math.log(row['ratio'])
    # a difference counts if rounding to two decimals alone cannot make it
    beyond = margin + math.log1p(ROUNDING / row['a']) + math.log1p(ROUNDING / row['b'])
    if row['worse'] is None:
        same = abs(gain) <= margin * (1 + 1e-9)
        verdict = (
            'same'
            if same
            else 'rounded'
            if abs(gain) <= beyond
            else 'better'
            if gain > 0
            else 'worse'
        )
    elif row['worse'] <= ALPHA and gain < -beyond:
        verdict = 'worse'
    elif row['better'] <= ALPHA and gain > beyond:
        verdict = 'better'
    elif row['same'] <= ALPHA:
        verdict = 'same'
    elif min(row['repeats']) < FIRM_REPEATS and abs(row['apart']) > max(beyond, row['single']):
        # as of single values: more data never say less
        verdict = 'better' if row['apart'] > 0 else 'worse'
    else:
        settled = min(row['worse'], row['better']) <= ALPHA
        verdict = 'rounded' if settled and margin < abs(gain) <= beyond else 'noisy'
    low, high = row['low'], row['high']
    if low is not None:
        low, high = sorted((math.exp(sign * float(low)), math.exp(sign * float(high))))
    return Point(
        row['size'],
        row['a'],
        row['b'],
        row['ratio'],
        low,
        high,
        verdict,
        row['method'],
        row.get(verdict),
        gain,
        row['repeats'],
    )


def _summarize_points(points):
    """Return Comparison.summary (dict)."""
    found = {}
    for key, _, least, most in REGIONS:
        part = [point.ratio for point in points if least <= point.size <= most]
        found[key] = math.exp(np.log(part).mean()) if part and len(points) > 1 else None
    return dict(
        found,
        **{verdict: sum(point.verdict == verdict for point in points) for verdict in VERDICTS},
    )


def _format_method(tested, margin):
    """Return how a curve was decided, in words (str). tested: set of the methods of its points."""
    texts = {
        'paired': "pairs of repeats of one run: t-tests on the logarithm of their ratios",
        'Welch': "repeats of both sides: Welch's t-tests on logarithms",
        'one-sample': "repeats of one side against a single value: t-tests on logarithms",
        'threshold only': "no repeats: threshold only",
    }
    text = '; '.join(texts[name] for name in texts if name in tested)
    if tested != {'threshold only'}:
        text += f", adjusted over the sizes (Benjamini-Hochberg, {ALPHA:g})"
    return f"{text}; margin {100 * margin:g} %"


def _list_notes(comparison):
    """Return what must be known beside a Comparison (list of str)."""
    notes = []
    a, b = comparison.a, comparison.b
    releases = a.facts.get('release'), b.facts.get('release')
    if (
        a.programs
        and b.programs
        and (a.programs != b.programs or all(releases) and releases[0] != releases[1])
    ):
        notes.append(
            f"{comparison.names[0]} ran {a.program_release}, {comparison.names[1]} ran {b.program_release}: they do not compare "
            "strictly"
        )
    unknown = [key for key in ('nodes', 'ranks') if getattr(a.case, key) != getattr(b.case, key)]
    if unknown:
        notes.append(
            f"{' and '.join(unknown)} not known on one side: {a.case.title} against {b.case.title}"
        )
    left_out = [format_size(size) or '0 B' for size in sorted(set(a.values) ^ set(b.values))]
    if left_out:
        notes.append(f"sizes that one side has not are left out: {', '.join(left_out)}")
    return notes


def is_same_case(a, b, lenient=False):
    """Return True if two Cases measured the same. lenient: unknown nodes or ranks fit any."""
    if not lenient:
        return a == b
    return (a.benchmark, a.buffers, a.variant) == (b.benchmark, b.buffers, b.variant) and all(
        None in (getattr(a, key), getattr(b, key)) or getattr(a, key) == getattr(b, key)
        for key in ('nodes', 'ranks')
    )


def is_same_run(a, b):
    """
    Return True if two Datasets are parts of one run, so that their repeats alternate: not those
    of outputs.
    """
    if a.facts.get('imported'):
        return False
    return a is b or (a.kind == b.kind == 'run' and a.name == b.name and a.path == b.path)


def compare_datasets(a, b):
    """
    Compare the series of two Datasets that measured the same; return a list of Comparison in the
    order of a.

    Cases must be equal; what an output does not say of itself (nodes, ranks), fits any, and a note
    names it. Where both have several names, those of equal names are compared; where one has a
    single name, each of the other with it. Raises CompareError if nothing fits.
    """
    by_name, lenient = (
        len(a.names) > 1 and len(b.names) > 1,
        any(side.facts.get('imported') for side in (a, b)),
    )
    of_b = {}
    for one in b.series:
        of_b.setdefault((one.case.benchmark, one.case.buffers, one.case.variant), []).append(one)
    found = []
    for one in a.series:
        for other in of_b.get((one.case.benchmark, one.case.buffers, one.case.variant), []):
            if (
                one is other
                or not is_same_case(one.case, other.case, lenient)
                or (by_name and one.name != other.name)
            ):
                continue
            if not set(one.values) & set(other.values):
                continue
            found.append(
                compare_series(
                    one, other, paired=is_same_run(a, b), a_dataset=a.name, b_dataset=b.name
                )
            )
    if not found:
        raise CompareError(_explain_no_match(a, b, by_name, lenient))
    return found


def compare_with_native(dataset):
    """
    Compare every approach of a Dataset with its native series; return a list of Comparison.

    Publications say in their facts which series stands for native, where it has another name.
    Raises CompareError if it has no native series, or nothing beside it.
    """
    native = dataset.facts.get('native') or 'native'
    others = [name for name in dataset.names if name != native]
    if native not in dataset.names:
        raise CompareError(
            f"{dataset.title} has no native series to compare with, only "
            f"{', '.join(dataset.names) or 'none'}. Name the other side, too: another run, one of its "
            "approaches (RUN:NAME), or a published reference (`osu-container reference list`)"
        )
    if not others:
        failed = '; '.join(
            dict.fromkeys(
                f'{one.name}: {one.reason}' for one in dataset.failures if one.name != native
            )
        )
        raise CompareError(
            f"{dataset.title} has figures of {native} alone{f' ({failed})' if failed else ''}. Name what"
            " it is to be compared with: another run or a published reference (`osu-container reference"
            " list`)"
        )
    return compare_datasets(dataset.filter_by_name(*others), dataset.filter_by_name(native))


def _explain_no_match(a, b, by_name, lenient):
    """
    Return why no series of a and b could be compared (str), with the names or the cases of both.
    """
    if (
        by_name
        and not set(a.names) & set(b.names)
        and any(is_same_case(one, other, lenient) for one in a.cases for other in b.cases)
    ):
        return (
            f"{a.name} and {b.name} have no name in common: {', '.join(a.names)} and {', '.join(b.names)}. Say "
            f"which is meant by {b.name}:NAME"
        )
    return '\n  '.join(
        [
            f"{a.name} and {b.name} have no case in common that both measured:",
            *(f"{side.name} has: {format_cases(side)}" for side in (a, b)),
        ]
    )


def format_cases(dataset):
    """Return the cases of a Dataset as a list in words (str), of many the first ones."""
    titles = [case.title for case in dataset.cases]
    return '; '.join(titles[:12]) + (f'; and {len(titles) - 12} more' if titles[12:] else '')

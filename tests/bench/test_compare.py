"""
osu-container compare: the statistics against scipy and by simulation, the published troubles, the
command.
"""

import json
import math
import re
import shlex
import statistics

import numpy as np
import pytest

from osu_container import cli as command_line
from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.compare import statistics as method
from osu_container.bench.compare.cli import collect_comparisons
from osu_container.bench.compare.statistics import (
    CompareError,
    compare_datasets,
    compare_series,
    compare_with_native,
)
from osu_container.bench.compare.thresholds import find_margin_row
from osu_container.bench.results import references, run_files
from osu_container.bench.results.model import Case, Dataset, Series
from tests.helpers.example_runs import MORE_CASES, make_run


@pytest.fixture(scope='module')
def stats():
    """
    scipy.stats, the oracle; imported late because it takes seconds in each process of
    pytest-xdist.
    """
    from scipy import stats

    return stats


BW, LATENCY = Case('osu_bw', 'H H', 2, 2), Case('osu_latency', 'H H', 2, 2)
SIZES = [2**n for n in range(23)]
MIB = 1 << 20
OPPOSITE = {
    'worse': 'better',
    'better': 'worse',
    'same': 'same',
    'noisy': 'noisy',
    'rounded': 'rounded',
}


def make_one_size_series(case, name, *values, size=1 << 20):
    """Return a Series with a single size and these repeats."""
    return Series(case, name, {size: dict(enumerate(values, 1))})


def make_curve(random, case, name, repeats, noise, gain=lambda size: 1.0):
    """
    Return a Series over SIZES, made of noise about a smooth curve.

    :param noise: standard deviation of the logarithm; gain: function size -> how many times better
        than the curve
    """
    values = {}
    for size in SIZES:
        base = 1000 * (1 + size / 1024) * (gain(size) if case.more_is_better else 1 / gain(size))
        values[size] = dict(enumerate(base * np.exp(random.normal(0, noise, repeats)), 1))
    return Series(case, name, values)


def call(capsys, *arguments):
    """Call the command in this process; return (exit code, stdout, stderr)."""
    code = command_line.main(['compare', *map(str, arguments)])
    return code, *capsys.readouterr()


# --- the numbers are those of scipy ---------------------------------------------------------------

A = np.array([90.1, 93.4, 88.7, 91.9, 90.0])
B = np.array([111.4, 109.1, 113.1, 110.4, 108.8])


@pytest.mark.parametrize('case', [BW, LATENCY], ids=lambda case: case.benchmark)
@pytest.mark.parametrize('kind', ['paired', 'Welch', 'one-sample'])
def test_p_values_and_interval_are_those_of_scipy(kind, case, stats):
    sign, b = 1 if case.more_is_better else -1, B[:1] if kind == 'one-sample' else B
    point = compare_series(
        make_one_size_series(case, 'a', *A),
        make_one_size_series(case, 'b', *b),
        paired=kind == 'paired',
    ).points[0]
    x, y = sign * np.log(A), sign * np.log(b)
    test = {
        'paired': lambda zero, side: stats.ttest_rel(x - zero, y, alternative=side),
        'Welch': lambda zero, side: stats.ttest_ind(x - zero, y, equal_var=False, alternative=side),
        'one-sample': lambda zero, side: stats.ttest_1samp(x - y[0] - zero, 0, alternative=side),
    }[kind]
    margin = math.log(1.10 if kind == 'one-sample' else 1.05)
    verdict, expected = (
        ('worse', test(-margin, 'less')) if sign > 0 else ('better', test(margin, 'greater'))
    )
    assert (point.method, point.verdict, point.p) == (kind, verdict, pytest.approx(expected.pvalue))
    interval = sorted(math.exp(sign * end) for end in test(0, 'two-sided').confidence_interval(0.9))
    assert [point.low, point.high] == pytest.approx(interval)
    middle = (
        statistics.median(A / B)
        if kind == 'paired'
        else statistics.median(A) / statistics.median(b)
    )
    assert point.ratio == pytest.approx(middle)


def test_p_values_are_adjusted_over_the_sizes_of_a_curve(stats):
    random = np.random.default_rng(3)
    a, b = (
        make_curve(random, BW, 'a', 4, 0.02, lambda size: 0.88),
        make_curve(random, BW, 'b', 4, 0.02),
    )
    whole = compare_series(a, b).points
    x, y = (np.log([list(one.values[size].values()) for size in SIZES]) for one in (a, b))
    alone = stats.ttest_ind(
        x + math.log(1.05), y, axis=1, equal_var=False, alternative='less'
    ).pvalue
    expected = stats.false_discovery_control(alone)
    assert len(set(expected) & set(alone)) < len(alone) / 2, (
        "adjusting changed nothing: the test proves nothing"
    )
    worse = {point.size: point.p for point in whole if point.verdict == 'worse'}
    assert (
        worse == pytest.approx({size: p for size, p in zip(SIZES, expected) if size in worse})
        and len(worse) > 5
    )


def test_same_is_decided_by_two_one_sided_tests(stats):
    x, y, margin = np.array([100, 101, 99, 100]), np.array([100, 99.5, 100.5, 100]), math.log(1.05)
    point = compare_series(
        make_one_size_series(BW, 'a', *x), make_one_size_series(BW, 'b', *y)
    ).points[0]
    assert (point.verdict, point.p) == (
        'same',
        pytest.approx(
            max(
                stats.ttest_ind(
                    np.log(x) + sign * margin, np.log(y), equal_var=False, alternative=side
                ).pvalue
                for sign, side in ((1, 'greater'), (-1, 'less'))
            )
        ),
    )


# --- one ratio everywhere -------------------------------------------------------------------------


def test_ratio_inverts_and_ignores_one_slow_repeat():
    a, slow, b = (
        make_one_size_series(BW, 'x', *values)
        for values in ((9, 5, 8, 8.2), (9, 0.01, 8, 8.2), (10, 6, 9, 9.1))
    )
    for paired in (True, False):
        ratio, inverse, other = (
            compare_series(*sides, paired=paired).points[0].ratio
            for sides in ((a, b), (b, a), (slow, b))
        )
        assert ratio * inverse == pytest.approx(1) and other == pytest.approx(ratio, rel=0.05)


# --- verdicts -------------------------------------------------------------------------------------


#: Repeats of A; repeats of B; verdict on A
VERDICTS = '''\
90; 100; worse
112; 100; better
110; 100; same; the margin itself is equal
0.10; 0.09; rounded; two printed decimals: 0.105 and 0.085, or 0.095 and 0.095
100 115; 100; noisy
80 81 79; 100; worse
100 101 100 101; 100; same
0.19 0.19 0.19; 0.19 0.19 0.19; same
0.19 0.19; 0.20 0.20; rounded
100 60 100; 100 101 99; noisy
80 81; 100 99; worse
97 103; 100 101; noisy'''.splitlines()


@pytest.mark.parametrize('row', VERDICTS)
def test_verdict_follows_the_ratio_in_both_directions(row):
    a, b, expected, *_ = row.split('; ')
    a, b = (list(map(float, side.split())) for side in (a, b))
    for paired in (True, False):
        comparison = compare_series(
            make_one_size_series(BW, 'a', *a), make_one_size_series(BW, 'b', *b), paired=paired
        )
        back = compare_series(
            make_one_size_series(BW, 'b', *b), make_one_size_series(BW, 'a', *a), paired=paired
        )
        times = compare_series(
            make_one_size_series(LATENCY, 'a', *a),
            make_one_size_series(LATENCY, 'b', *b),
            paired=paired,
        )
        assert comparison.verdict == expected, paired
        assert back.verdict == OPPOSITE[expected] and times.verdict == OPPOSITE[expected]


def make_two_size_series(name, *rows):
    """
    Return a Series of osu_latency with these repeats at 8 B, and others equal to each other at
    64 B.
    """
    return Series(
        LATENCY, name, {8: dict(enumerate(rows, 1)), 64: dict(enumerate([5.0] * len(rows), 1))}
    )


@pytest.mark.parametrize('paired', [True, False])
def test_few_repeats_give_a_qualified_verdict(paired):
    """Two repeats of one stack showed '3.9 times slower', and 22 of the same modules nothing."""
    slow, native = (
        make_two_size_series('a', 36.0, 42.0),
        make_two_size_series('native', 10.0, 10.01),
    )
    two = compare_series(slow, native, paired=paired)
    assert (two.points[0].verdict, two.few_repeats) == ('worse', 2)
    assert re.search(r'worse.*\b8 B.*\b3\.9\b.*\b2\b.*same.*\b64 B', two.sentence)
    assert two.format_curve_verdict() == two.format_qualifier('worse') + 'worse' != 'worse'
    five = compare_series(
        make_two_size_series('a', *[36.0, 36.1] * 3),
        make_two_size_series('native', *[10.0, 10.01] * 3),
        paired=paired,
    )
    assert re.match(r'worse.*\b8 B.*\b3\.6\b\D*same.*\b64 B', five.sentence)


def test_releases_of_the_c_programs_that_differ_are_named():
    a, b = make_two_size_series('a', *[5.0] * 5), make_two_size_series('b', *[5.0] * 5)
    assert compare_series(a, b).notes == []
    for one, release in ((a, '7.4'), (b, '7.5.1')):
        one.programs, one.facts['release'] = 'OSU C programs', release
    (note,) = compare_series(a, b, a_dataset='mine', b_dataset='theirs').notes
    assert re.search(r'mine:a.* 7\.4\b.*theirs:b.* 7\.5\.1\b', note)


@pytest.mark.parametrize('seed', range(12))
def test_verdict_text_never_contradicts_the_ratios(seed):
    """
    At each size: a gain or loss that the ratio has not is never told, and one of twice never
    left out.
    """
    random = np.random.default_rng(seed)
    gains = np.sort(random.choice([0.1, 0.5, 1, 1, 2, 11], 3))[:: random.choice([1, -1])]
    case, repeats = [BW, LATENCY][seed % 2], int(random.choice([1, 2, 5]))

    def gain(size):
        return gains[0 if size < 1024 else 1 if size < MIB else 2]

    found = compare_series(
        make_curve(random, case, 'a', repeats, 2e-4, gain),
        make_curve(random, case, 'b', repeats, 2e-4),
    )
    for point in found.points:
        assert point.verdict == (
            'same' if gain(point.size) == 1 else 'better' if gain(point.size) > 1 else 'worse'
        )
    assert ('faster' in found.sentence, 'slower' in found.sentence) == (
        max(gains) > 1,
        min(gains) < 1,
    )
    for said in [*found.sentence.split('; '), found.format_curve_verdict()]:
        assert said.startswith('probably ') == (
            repeats < (2 if 'same' in said else method.FIRM_REPEATS)
        ), found.sentence


def test_a_loss_does_not_hide_a_gain():
    a, b = (
        Series(BW, name, {1: {1: first}, MIB: {1: last}})
        for name, first, last in (('a', 1.0, 22000.0), ('b', 2.0, 2000.0))
    )
    graded = (
        compare_series(a, b).format_curve_verdict() + compare_series(b, a).format_curve_verdict()
    )
    assert re.findall('worse|better', graded) == ['worse', 'better'] * 2


# --- by simulation --------------------------------------------------------------------------------


def measure_verdict_rate(
    seed, verdict, *, curves=150, repeats=5, noise=0.03, gain=lambda size: 1, paired=True
):
    """Return the share of curves with this verdict, in noise of a fixed seed."""
    random = np.random.default_rng(seed)
    found = [
        compare_series(
            make_curve(random, BW, 'a', repeats, noise, gain),
            make_curve(random, BW, 'b', repeats, noise),
            paired=paired,
        ).verdict
        for _ in range(curves)
    ]
    return found.count(verdict) / curves


@pytest.mark.parametrize(
    'repeats, paired',
    [
        (2, True),
        *(pytest.param(*one, marks=pytest.mark.nightly) for one in ((3, True), (5, False))),
    ],
)
def test_false_alarms_are_rarer_than_alpha(paired, repeats, stats):
    """Without a difference, and with one of exactly the margin, which does not count as worse."""
    bound = stats.binom.ppf(0.999, 150, method.ALPHA) / 150
    assert measure_verdict_rate(1, 'worse', repeats=repeats, paired=paired) <= method.ALPHA
    assert (
        measure_verdict_rate(2, 'worse', repeats=repeats, paired=paired, gain=lambda size: 1 / 1.05)
        <= bound
    )


def test_a_slow_down_of_a_fifth_is_found():
    """
    In noise of 3 %: at all sizes with five repeats always, with three nearly so; at one size
    with five mostly.
    """
    assert measure_verdict_rate(3, 'worse', gain=lambda size: 0.8) == 1
    assert measure_verdict_rate(3, 'worse', gain=lambda size: 0.8, repeats=3) > 0.98
    assert measure_verdict_rate(3, 'worse', gain=lambda size: 0.8 if size == 8 else 1) > 0.85


def test_verdict_same_is_usual_in_quiet_runs_and_rare_otherwise():
    assert measure_verdict_rate(4, 'same', noise=0.005) >= 0.95
    assert measure_verdict_rate(5, 'same', noise=0.005, gain=lambda size: 1 / 1.05) <= method.ALPHA


# --- margins --------------------------------------------------------------------------------------


def test_every_published_benchmark_has_a_sourced_margin():
    benchmarks = {
        one.case.benchmark
        for dataset in references.list_published_datasets()
        for one in dataset.series
    }
    for benchmark in benchmarks | {case.benchmark for case in MORE_CASES}:
        row = find_margin_row(benchmark)
        assert 0 < row.repeated <= row.single < 0.5 and row.why and row.source
    with pytest.raises(KeyError):
        find_margin_row('bandwidth')


# --- what is compared with what -------------------------------------------------------------------


def make_dataset(name, *entries):
    """Return a Dataset of (case, series name) with one value each."""
    return Dataset(
        name,
        'reference',
        name,
        series=[make_one_size_series(case, who, 100.0) for case, who in entries],
    )


@pytest.mark.parametrize(
    'a, b, expected',
    [
        # both sides have several names: equal ones
        (
            [(BW, 'native'), (BW, 'hybrid'), (LATENCY, 'hybrid')],
            [(BW, 'hybrid'), (BW, 'native'), (LATENCY, 'native')],
            [('osu_bw', 'native', 'native'), ('osu_bw', 'hybrid', 'hybrid')],
        ),
        (
            [(BW, 'pure'), (BW, 'hybrid')],
            [(BW, 'site')],
            [('osu_bw', 'pure', 'site'), ('osu_bw', 'hybrid', 'site')],
        ),
    ],
)
def test_equal_names_are_compared_or_all_with_the_only_one(a, b, expected):
    found = compare_datasets(make_dataset('a', *a), make_dataset('b', *b))
    assert [(one.case.benchmark, one.a.name, one.b.name) for one in found] == expected


@pytest.mark.parametrize(
    'other',
    [
        LATENCY,
        Case('osu_bw', 'D D', 2, 2),
        Case('osu_bw', 'H H', 1, 2),
        Case('osu_bw', 'H H', 2, 4),
        Case('osu_bw', 'H H', 2, 2, 'numpy'),
    ],
)
def test_different_cases_are_not_compared(other):
    with pytest.raises(CompareError) as caught:
        compare_datasets(make_dataset('a', (BW, 'x')), make_dataset('b', (other, 'x')))
    assert BW.title in str(caught.value) and other.title in str(caught.value)


def test_unknown_placement_matches_only_imported_outputs():
    a, b, c = (
        make_dataset('a', (BW, 'x')),
        make_dataset('b', (Case('osu_bw', 'H H'), 'y')),
        make_dataset('c', (Case('osu_bw', 'H H', 4), 'y')),
    )
    with pytest.raises(CompareError):
        compare_datasets(a, b)
    b.facts['imported'] = c.facts['imported'] = ['b.txt']
    (one,) = compare_datasets(a, b)
    assert any(re.search('nodes.*ranks', note) for note in one.notes)
    with pytest.raises(CompareError):
        compare_datasets(a, c)


def test_repeats_are_paired_within_one_run_only(tmp_path):
    one, other = (run_files.read_results(make_run(tmp_path / name, cases=[BW])) for name in 'ab')

    def methods(comparisons):
        return {point.method for item in comparisons for point in item.points}

    assert methods(compare_with_native(one)) == {'paired'} and methods(
        compare_datasets(one, other)
    ) == {'Welch'}
    again = run_files.read_results(tmp_path / 'a')
    assert methods(
        compare_datasets(one.filter_by_name('pure'), again.filter_by_name('native'))
    ) == {'paired'}


def test_publication_names_its_native_series():
    found = compare_with_native(references.read_dataset('lumi-native-2026-03'))
    assert {one.b.name for one in found} == {'cray-mpich-9.0.1-hardware'} and len(found) > 20


# --- troubles -------------------------------------------------------------------------------------


def read_expected_troubles(name, series):
    """Return what the documents say of a published curve (set of names of troubles)."""
    case, who = series.case, series.name
    mpi, device = case.benchmark in ('osu_bw', 'osu_latency'), 'D' in case.buffers
    found = set()
    if name == 'lumi-g-2025-03':
        # pure promises TCP alone: none of its curves is a trouble
        if (
            who in ('hybrid', 'opensource') and case.benchmark == 'osu_latency'
        ):  # 6.5 and 7.1 µs at 8 and 16 KiB
            found.add('early-rendezvous')
        if (
            who == 'opensource'
        ):  # the receiving buffer alone costs bandwidth nothing: 1.00 MB/s at 1 B
            if device and (case.benchmark, case.buffers) != ('osu_bw', 'H D'):
                found.add('device-copy')
        if (
            who == 'hybrid' and not mpi
        ):  # "RCCL performs poorly and probably defaults back to TCP/IP"
            found.add('rccl-sockets')
        if (
            who in ('native', 'bind') and case.benchmark == 'osu_xccl_bw'
        ):  # "weird drop at 8192", "the same dip"
            found.add('dip')
    if (
        name == 'lumi-mpi4py-2025-07'
        and case.nodes == 2
        and case.benchmark in ('osu_bw', 'osu_latency')
    ):
        if (
            '-conda-' in who or '-pip-' in who
        ):  # "can only use Slingshot if it utilizes the external MPICH"
            found.add('tcp')
        else:  # the images of opensource above, with libfabric 1.22 and 2.0
            if case.benchmark == 'osu_latency':
                found.add('early-rendezvous')
            if case.buffers == 'D D':
                found.add('device-copy')
    if name == 'lumi-native-2026-03' and (case.nodes, case.ranks, case.buffers) == (2, 2, 'D D'):
        slow = who.endswith('-software') or '-lnx-' in who
        if slow and not (who == 'cray-mpich-9.0.1-software' and '_xccl_' not in case.benchmark):
            found.add('dip')
    if (name, who) in (('lumi-checks', 'tcp-fallback'), ('alps-cscs-2026', 'openmpi-5-no-hook')):
        if mpi:
            found.add('tcp')
    if (name, who, case.nodes, case.buffers) == ('alps-cscs-2026', 'hybrid-mpich-4.3.1', 2, 'D D'):
        found.add('device-copy')  # 11.8 MB/s at 128 B, 227 MB/s at 256 B
    if name == 'olivia-eessi-2026' and case.benchmark == 'osu_latency':
        # 11.7 µs at 1 B; 4.7 µs at 4 KiB, 7.6 µs at 8 KiB
        trouble = {'eessi-openmpi-5.0.7': 'device-copy', 'cray-mpich-8.1.32': 'early-rendezvous'}
        found.update({trouble[who]} if who in trouble else ())
    return found


@pytest.mark.parametrize('name', [one.name for one in references.list_published_datasets()])
def test_each_trouble_is_found_only_where_documented(name):
    one = references.read_dataset(name)
    wrong = [
        f'{series.name} {series.case.title}: {found}, wanted {expected}'
        for series in one.series
        for found, expected in [
            (set(list_trouble_names(series)), read_expected_troubles(name, series))
        ]
        if found != expected
    ]
    assert not wrong, '\n'.join(wrong)


def test_every_trouble_is_in_the_published_figures():
    assert {
        trouble
        for one in references.list_published_datasets()
        for series in one.series
        for trouble in read_expected_troubles(one.name, series)
    } == {rule.trouble.name for rule in troubles.RULES}


def list_trouble_names(series, **kwargs):
    return [trouble.name for trouble, _ in troubles.find_series_troubles(series, **kwargs)]


def test_expected_tcp_is_no_trouble(tmp_path):
    slow = Series(BW, 'hybrid', {MIB: {1: 2500.0}})
    assert (
        list_trouble_names(slow) == list_trouble_names(slow, network='cxi') == ['tcp']
        and list_trouble_names(slow, network='tcp') == []
    )
    assert list_trouble_names(Series(BW, 'pure', slow.values)) == []
    for site, provider in (('workstation', 'tcp'), ('lumi-25.03', 'cxi'), ('somewhere', None)):
        one = run_files.read_results(
            make_run(tmp_path / site, approaches=('hybrid',), site=site, scale={'hybrid': 0.1})
        )
        assert troubles.find_network_provider(one) == provider
        assert [trouble.name for trouble, _ in troubles.find_troubles([one])] == (
            [] if provider == 'tcp' else ['tcp']
        )


def test_advice_applies_to_the_run_of_the_user(results, capsys):
    """
    On a laptop over TCP, compare named variables of Slingshot for the shape of the published
    curve.
    """
    assert json.loads(call(capsys, 'quiet', 'lumi-g-2025-03', '--json')[1])['troubles'] == []
    assert json.loads(call(capsys, 'lumi-g-2025-03', '--json')[1])['troubles'] != []


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The results folder with two runs: equal approaches in 'quiet', a slow hybrid in 'slow'."""
    folder = tmp_path / 'runs'
    make_run(folder / 'quiet', noise=0.004, scale={'pure': 1.0})
    make_run(folder / 'slow', noise=0.004, scale={'hybrid': 0.8, 'pure': 0.1}, seed=2)
    monkeypatch.setenv('OSU_CONTAINER_RESULTS', str(folder))
    return folder


def test_exit_code_follows_verdict_and_fail_on(results, capsys):
    make_run(results / 'noisy', noise=0.05)
    for code, *arguments in (
        (0, 'quiet'),
        (1, 'slow'),
        (0, 'slow', '--fail-on', 'never'),
        (0, 'noisy'),
        (1, 'noisy', '--fail-on', 'noisy'),
        (1, 'slow', 'quiet'),
        (0, 'quiet', 'slow'),
    ):
        assert call(capsys, *arguments)[0] == code, arguments


@pytest.mark.parametrize(
    'arguments, says',
    [
        (['nowhere'], 'nowhere'),
        (['quiet', 'lumi-g-2025-03:none'], 'none'),
        (['quiet', '--only', 'osu_alltoall'], 'osu_alltoall'),
        (['alps-gh200-2025'], 'reference list'),
        (['quiet:native'], 'only results of native'),
        (['quiet', 'hpe-libfabric-swap'], 'osu_get_bw'),
    ],
)
def test_impossible_comparison_has_a_separate_exit_code(results, capsys, arguments, says):
    code, out, err = call(capsys, *arguments)
    assert (
        (code, out) == (3, '') and err.startswith('osu-container compare: error: ') and says in err
    )


def test_one_approach_is_compared_with_native_of_its_run(results):
    for typed in (f'{results / "slow"}:hybrid', 'slow:hybrid'):
        assert [one.names for one in collect_comparisons(typed)['comparisons']] == 2 * [
            ['hybrid', 'native']
        ]


def test_failed_case_counts_as_worse_and_skipped_case_does_not(results, capsys):
    for reason, expected in (('killed after 60 s', 1), ('skipped: no GPU here', 0)):
        folder = make_run(results / reason[:4], noise=0.004, failures=[('hybrid', LATENCY, reason)])
        code, out, _ = call(capsys, folder)
        assert code == expected and (reason in out) == bool(expected)


def test_size_tables_appear_for_few_curves_or_on_request(results, capsys):
    for arguments, tables in ((['slow:hybrid'], 2), (['slow'], 0), (['slow', '--sizes'], 4)):
        assert len(re.findall('^ *16 KiB ', call(capsys, *arguments)[1], re.M)) == tables


def test_advice_is_the_command_of_the_user_run(results, capsys):
    make_run(results / 'few', repeats=2, noise=0.05)
    out = ' '.join(call(capsys, 'few')[1].split())
    assert 'osu-container bench --tag quick --repeats 5`' in out and '90 %' not in out
    assert '--repeats' not in call(capsys, 'lumi-g-2025-03')[1]


def test_advice_keeps_the_options_of_the_user_program():
    words = ['bench', '-r', '2', '--run', 'lmp -r 3 -o "a b"', '--output=x', '-o', 'y']
    command = comparison_text.format_repeat_command(words, 6)
    assert shlex.split(command) == ['osu-container', 'bench', '--run', words[4], '--repeats', '6']


def test_command_is_compared_without_columns_of_sizes(results, capsys):
    case = Case('$ lmp', '', 2, 2, 's: time of the step')
    make_run(results / 'timed', cases=[case], sizes=[0], noise=0.004)
    out = ' '.join(call(capsys, 'timed')[1].split())
    assert '90 %' in out and not re.search(
        '128 B|MiB|size', out.replace('number of message sizes', '')
    )


def test_json_contains_every_comparison_and_size(results, capsys):
    code, out, _ = call(capsys, 'slow', '--json')
    told = json.loads(out)
    assert (told['format'], told['verdict'], code) == (comparison_text.FORMAT, 'worse', 1)
    for one, comparison in zip(
        told['comparisons'], compare_with_native(run_files.read_results(results / 'slow'))
    ):
        assert one['verdict'] == comparison.verdict
        assert [row['ratio'] for row in one['sizes']] == [
            point.ratio for point in comparison.points
        ]
        assert all(row['low'] <= row['high'] for row in one['sizes'])

"""osu-container compare: the statistics against scipy and by simulation, the published statements, the command."""
import json
import math
import re
import statistics

import numpy as np
import pytest

from osu_container import cli as command_line
from osu_container.bench.compare import comparison_text, troubles
from osu_container.bench.compare import statistics as method
from osu_container.bench.compare.cli import collect
from osu_container.bench.compare.statistics import CompareError, against_native, compare_datasets, compare_series
from osu_container.bench.compare.thresholds import margin_row
from osu_container.bench.results import ratios, references, run_files
from osu_container.bench.results.model import Case, Dataset, Series
from tests.helpers.example_runs import MORE_CASES, make_run
from tests.helpers.machine import PROJECT, run


@pytest.fixture(scope='module')
def stats():
    """scipy.stats, the oracle; imported late because it takes seconds in each process of pytest-xdist."""
    from scipy import stats
    return stats


BW, LATENCY = Case('osu_bw', 'H H', 2, 2), Case('osu_latency', 'H H', 2, 2)
SIZES = [2 ** n for n in range(23)]
MIB = 1 << 20
OPPOSITE = {'worse': 'better', 'better': 'worse', 'same': 'same', 'noisy': 'noisy', 'rounded': 'rounded'}


def one_size(case, name, *values, size=1 << 20):
    """Return a Series with a single size and these repeats."""
    return Series(case, name, {size: dict(enumerate(values, 1))})


def curve(random, case, name, repeats, noise, gain=lambda size: 1.0):
    """
    Return a Series over SIZES, made of noise about a smooth curve.

    :param noise: standard deviation of the logarithm; gain: function size -> how many times better than the curve
    """
    values = {}
    for size in SIZES:
        base = 1000 * (1 + size / 1024) * (gain(size) if case.more_is_better else 1 / gain(size))
        values[size] = dict(enumerate(base * np.exp(random.normal(0, noise, repeats)), 1))
    return Series(case, name, values)


def published(name):
    return references.get(name)


def command(*arguments, **kwargs):
    """Run the real command; return CompletedProcess."""
    return run([PROJECT / 'scripts' / 'osu-container', 'compare', *arguments], **kwargs)


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
    point = compare_series(one_size(case, 'a', *A), one_size(case, 'b', *b), paired=kind == 'paired').points[0]
    x, y = sign * np.log(A), sign * np.log(b)
    test = {'paired': lambda zero, side: stats.ttest_rel(x - zero, y, alternative=side),
            'Welch': lambda zero, side: stats.ttest_ind(x - zero, y, equal_var=False, alternative=side),
            'one-sample': lambda zero, side: stats.ttest_1samp(x - y[0] - zero, 0, alternative=side)}[kind]
    margin = math.log(1.10 if kind == 'one-sample' else 1.05)
    verdict, expected = ('worse', test(-margin, 'less')) if sign > 0 else ('better', test(margin, 'greater'))
    assert (point.method, point.verdict, point.p) == (kind, verdict, pytest.approx(expected.pvalue))
    interval = sorted(math.exp(sign * end) for end in test(0, 'two-sided').confidence_interval(0.9))
    assert [point.low, point.high] == pytest.approx(interval)
    middle = statistics.median(A / B) if kind == 'paired' else statistics.median(A) / statistics.median(b)
    assert point.ratio == pytest.approx(middle)


def test_p_values_are_adjusted_over_the_sizes_of_a_curve(stats):
    random = np.random.default_rng(3)
    a, b = curve(random, BW, 'a', 4, 0.02, lambda size: 0.88), curve(random, BW, 'b', 4, 0.02)
    whole = compare_series(a, b).points
    x, y = (np.log([list(one.values[size].values()) for size in SIZES]) for one in (a, b))
    alone = stats.ttest_ind(x + math.log(1.05), y, axis=1, equal_var=False, alternative='less').pvalue
    expected = stats.false_discovery_control(alone)
    assert len(set(expected) & set(alone)) < len(alone) / 2, "adjusting changed nothing: the test proves nothing"
    worse = {point.size: point.p for point in whole if point.verdict == 'worse'}
    assert worse == pytest.approx({size: p for size, p in zip(SIZES, expected) if size in worse}) and len(worse) > 5


def test_same_is_decided_by_two_one_sided_tests(stats):
    x, y, margin = np.array([100, 101, 99, 100]), np.array([100, 99.5, 100.5, 100]), math.log(1.05)
    point = compare_series(one_size(BW, 'a', *x), one_size(BW, 'b', *y)).points[0]
    assert (point.verdict, point.p) == ('same', pytest.approx(max(stats.ttest_ind(
        np.log(x) + sign * margin, np.log(y), equal_var=False, alternative=side).pvalue
        for sign, side in ((1, 'greater'), (-1, 'less')))))


# --- one ratio everywhere -------------------------------------------------------------------------

def test_a_ratio_can_be_turned_round_and_one_slow_repeat_does_not_move_it():
    a, b = {1: 9.0, 2: 5.0, 3: 8.0, 4: 8.2}, {1: 10.0, 2: 6.0, 3: 9.0, 4: 9.1}
    for paired in (True, False):
        assert ratios.ratio(a, b, paired=paired) * ratios.ratio(b, a, paired=paired) == pytest.approx(1)
    assert ratios.ratio({**a, 2: 0.01}, b, paired=True) == pytest.approx(ratios.ratio(a, b, paired=True), rel=0.05)
    assert ratios.ratio({1: 2.0}, {2: 4.0}, paired=True) == 0.5  # no repeat in common


# --- verdicts -------------------------------------------------------------------------------------

@pytest.mark.parametrize('a, b, expected', [
    ((90,), (100,), 'worse'), ((112,), (100,), 'better'), ((110,), (100,), 'same'),  # the margin itself is equal
    ((0.10,), (0.09,), 'rounded'),  # two printed decimals: 0.105 and 0.085, or 0.095 and 0.095
    ((100, 115), (100,), 'noisy'), ((80, 81, 79), (100,), 'worse'), ((100, 101, 100, 101), (100,), 'same'),
    ((0.19, 0.19, 0.19), (0.19, 0.19, 0.19), 'same'), ((0.19, 0.19), (0.20, 0.20), 'rounded'),
    ((100, 60, 100), (100, 101, 99), 'noisy'), ((80, 81), (100, 99), 'worse'), ((97, 103), (100, 101), 'noisy'),
])
def test_verdicts(a, b, expected):
    for paired in (True, False):
        comparison = compare_series(one_size(BW, 'a', *a), one_size(BW, 'b', *b), paired=paired)
        back = compare_series(one_size(BW, 'b', *b), one_size(BW, 'a', *a), paired=paired)
        times = compare_series(one_size(LATENCY, 'a', *a), one_size(LATENCY, 'b', *b), paired=paired)
        assert comparison.verdict == expected, paired
        assert back.verdict == OPPOSITE[expected] and times.verdict == OPPOSITE[expected]


@pytest.mark.parametrize('place', [1, 8192, 4 * MIB])
def test_one_bad_size_anywhere_makes_the_curve_worse(place):
    random = np.random.default_rng(place)
    a = curve(random, LATENCY, 'a', 5, 0.005, lambda size: 0.7 if size == place else 1)
    comparison = compare_series(a, curve(random, LATENCY, 'b', 5, 0.005))
    assert comparison.verdict == 'worse' and comparison.furthest().size == place
    assert [point.size for point in comparison.points if point.verdict == 'worse'] == [place]


def several(name, *rows):
    """Return a Series of osu_latency with these repeats at 8 B, and others equal to each other at 64 B."""
    return Series(LATENCY, name, {8: dict(enumerate(rows, 1)), 64: dict(enumerate([5.0] * len(rows), 1))})


@pytest.mark.parametrize('paired', [True, False])
def test_few_repeats_are_not_said_firmly(paired):
    """Two repeats of one stack showed '3.9 times slower', and 22 of the same modules nothing."""
    slow, native = several('a', 36.0, 42.0), several('native', 10.0, 10.01)
    two = compare_series(slow, native, paired=paired)
    assert (two.points[0].verdict, two.few_repeats) == ('worse', 2)
    assert re.search(r'worse.*\b8 B.*\b3\.9\b.*\b2\b.*same.*\b64 B', two.words)
    assert two.graded() == two.probably('worse') + 'worse' != 'worse'
    five = compare_series(several('a', *[36.0, 36.1] * 3), several('native', *[10.0, 10.01] * 3), paired=paired)
    assert re.match(r'worse.*\b8 B.*\b3\.6\b\D*same.*\b64 B', five.words)


def test_releases_of_the_c_programs_that_differ_are_named():
    a, b = several('a', *[5.0] * 5), several('b', *[5.0] * 5)
    assert compare_series(a, b).notes == []
    for one, release in ((a, '7.4'), (b, '7.5.1')):
        one.programs, one.facts['release'] = 'OSU C programs', release
    note, = compare_series(a, b, a_from='mine', b_from='theirs').notes
    assert re.search(r'mine:a.* 7\.4\b.*theirs:b.* 7\.5\.1\b', note)


@pytest.mark.parametrize('seed', range(12))
def test_the_words_never_contradict_the_ratios(seed):
    """At each size: a gain or loss that the ratio has not is never told, and one of twice never left out."""
    random = np.random.default_rng(seed)
    gains = np.sort(random.choice([0.1, 0.5, 1, 1, 2, 11], 3))[::random.choice([1, -1])]
    case, repeats = [BW, LATENCY][seed % 2], int(random.choice([1, 2, 5]))

    def gain(size):
        return gains[0 if size < 1024 else 1 if size < MIB else 2]
    found = compare_series(curve(random, case, 'a', repeats, 2e-4, gain), curve(random, case, 'b', repeats, 2e-4))
    for point in found.points:
        assert point.verdict == ('same' if gain(point.size) == 1 else 'better' if gain(point.size) > 1 else 'worse')
    assert ('faster' in found.words, 'slower' in found.words) == (max(gains) > 1, min(gains) < 1)
    for said in [*found.words.split('; '), *found.graded().split(', ')]:
        assert said.startswith('probably ') == (repeats < (2 if 'same' in said else method.FIRM)), found.words


def test_a_loss_does_not_hide_a_gain():
    a, b = (Series(BW, name, {1: {1: first}, MIB: {1: last}}) for name, first, last in (
        ('a', 1.0, 22000.0), ('b', 2.0, 2000.0)))
    graded = compare_series(a, b).graded() + compare_series(b, a).graded()
    assert re.findall('worse|better', graded) == ['worse', 'better'] * 2


# --- by simulation --------------------------------------------------------------------------------

def rate(seed, verdict, *, curves=150, repeats=5, noise=0.03, gain=lambda size: 1, paired=True):
    """Return the share of curves with this verdict, in noise of a fixed seed."""
    random = np.random.default_rng(seed)
    found = [compare_series(curve(random, BW, 'a', repeats, noise, gain), curve(random, BW, 'b', repeats, noise),
                            paired=paired).verdict for _ in range(curves)]
    return found.count(verdict) / curves


@pytest.mark.parametrize('repeats, paired', [(2, True), (3, True), (5, False)])
def test_false_alarms_are_rarer_than_alpha(paired, repeats, stats):
    """Without a difference, and with one of exactly the margin, which does not count as worse."""
    bound = stats.binom.ppf(0.999, 150, method.ALPHA) / 150
    assert rate(1, 'worse', repeats=repeats, paired=paired) <= method.ALPHA
    assert rate(2, 'worse', repeats=repeats, paired=paired, gain=lambda size: 1 / 1.05) <= bound


def test_a_slow_down_of_a_fifth_is_found():
    """In noise of 3 %: at all sizes with five repeats always, with three nearly so; at one size with five mostly."""
    assert rate(3, 'worse', gain=lambda size: 0.8) == 1
    assert rate(3, 'worse', gain=lambda size: 0.8, repeats=3) > 0.98
    assert rate(3, 'worse', gain=lambda size: 0.8 if size == 8 else 1) > 0.85


def test_same_is_said_in_quiet_runs_and_seldom_of_what_differs():
    assert rate(4, 'same', noise=0.005) >= 0.95
    assert rate(5, 'same', noise=0.005, gain=lambda size: 1 / 1.05) <= method.ALPHA


@pytest.mark.parametrize('paired', [True, False], ids=['paired', 'Welch'])
def test_an_outlier_on_one_side_is_noise_and_no_alarm(paired):
    random = np.random.default_rng(8)
    for _ in range(50):
        a, b = curve(random, BW, 'a', 5, 0.01), curve(random, BW, 'b', 5, 0.01)
        for size in SIZES:
            a.values[size][3] /= 2
        assert compare_series(a, b, paired=paired).verdict == 'noisy'


# --- margins --------------------------------------------------------------------------------------

def test_every_published_benchmark_has_a_margin_with_reason_and_source():
    benchmarks = {one.case.benchmark for dataset in references.published() for one in dataset.series}
    for benchmark in benchmarks | {case.benchmark for case in MORE_CASES}:
        row = margin_row(benchmark)
        assert 0 < row.repeated <= row.single < 0.5 and row.why and row.source
    with pytest.raises(KeyError):
        margin_row('bandwidth')


# --- what is compared with what -------------------------------------------------------------------

def dataset(name, *entries):
    """Return a Dataset of (case, series name) with one value each."""
    return Dataset(name, 'reference', name, series=[one_size(case, who, 100.0) for case, who in entries])


@pytest.mark.parametrize('a, b, expected', [
    # both sides have several names: equal ones
    ([(BW, 'native'), (BW, 'hybrid'), (LATENCY, 'hybrid')], [(BW, 'hybrid'), (BW, 'native'), (LATENCY, 'native')],
     [('osu_bw', 'native', 'native'), ('osu_bw', 'hybrid', 'hybrid')]),
    ([(BW, 'pure'), (BW, 'hybrid')], [(BW, 'site')], [('osu_bw', 'pure', 'site'), ('osu_bw', 'hybrid', 'site')])])
def test_equal_names_are_compared_or_all_with_the_only_one(a, b, expected):
    found = compare_datasets(dataset('a', *a), dataset('b', *b))
    assert [(one.case.benchmark, one.a.name, one.b.name) for one in found] == expected


@pytest.mark.parametrize('other', [LATENCY, Case('osu_bw', 'D D', 2, 2), Case('osu_bw', 'H H', 1, 2),
                                   Case('osu_bw', 'H H', 2, 4), Case('osu_bw', 'H H', 2, 2, 'numpy')])
def test_different_cases_are_not_compared(other):
    with pytest.raises(CompareError) as caught:
        compare_datasets(dataset('a', (BW, 'x')), dataset('b', (other, 'x')))
    assert BW.title in str(caught.value) and other.title in str(caught.value)


def test_unknown_placement_fits_where_it_is_that_of_an_output():
    a, b, c = dataset('a', (BW, 'x')), dataset('b', (Case('osu_bw', 'H H'), 'y')), dataset('c', (
        Case('osu_bw', 'H H', 4), 'y'))
    with pytest.raises(CompareError):
        compare_datasets(a, b)
    b.facts['imported'] = c.facts['imported'] = ['b.txt']
    one, = compare_datasets(a, b)
    assert any(re.search('nodes.*ranks', note) for note in one.notes)
    with pytest.raises(CompareError):
        compare_datasets(a, c)


def test_repeats_are_paired_in_one_run_and_in_no_other(tmp_path):
    one, other = (run_files.read(make_run(tmp_path / name, cases=[BW])) for name in 'ab')

    def methods(comparisons):
        return {point.method for item in comparisons for point in item.points}
    assert methods(against_native(one)) == {'paired'} and methods(compare_datasets(one, other)) == {'Welch'}
    again = run_files.read(tmp_path / 'a')
    assert methods(compare_datasets(one.only('pure'), again.only('native'))) == {'paired'}


def test_a_run_without_native_says_what_else_can_be_compared(tmp_path):
    with pytest.raises(CompareError, match='reference list'):
        against_native(run_files.read(make_run(tmp_path / 'a', approaches=('pure', 'hybrid'))))
    with pytest.raises(CompareError, match='native alone'):
        against_native(run_files.read(make_run(tmp_path / 'b', approaches=('native',))))


def test_a_publication_says_which_series_is_its_native():
    found = against_native(published('lumi-native-2026-03'))
    assert {one.b.name for one in found} == {'cray-mpich-9.0.1-hardware'} and len(found) > 20


# --- troubles -------------------------------------------------------------------------------------

def expected_troubles(name, series):
    """Return what the documents say of a published curve (set of names of troubles)."""
    case, who = series.case, series.name
    mpi, device = case.benchmark in ('osu_bw', 'osu_latency'), 'D' in case.buffers
    found = set()
    if name == 'lumi-g-2025-03':
        # pure promises TCP alone: none of its curves is a trouble
        if who in ('hybrid', 'opensource') and case.benchmark == 'osu_latency':  # 6.5 and 7.1 µs at 8 and 16 KiB
            found.add('early-rendezvous')
        if who == 'opensource':  # the receiving buffer alone costs bandwidth nothing: 1.00 MB/s at 1 B
            if device and (case.benchmark, case.buffers) != ('osu_bw', 'H D'):
                found.add('device-copy')
        if who == 'hybrid' and not mpi:  # "RCCL performs poorly and probably defaults back to TCP/IP"
            found.add('rccl-sockets')
        if who in ('native', 'bind') and case.benchmark == 'osu_xccl_bw':  # "weird drop at 8192", "the same dip"
            found.add('dip')
    if name == 'lumi-mpi4py-2025-07' and case.nodes == 2 and case.benchmark in ('osu_bw', 'osu_latency'):
        if '-conda-' in who or '-pip-' in who:  # "can only use Slingshot if it utilizes the external MPICH"
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
    if name == 'lumi-checks' and who == 'tcp-fallback':
        found.add('tcp')
    return found


@pytest.mark.parametrize('name', [one.name for one in references.published()])
def test_each_trouble_is_found_exactly_where_the_documents_say(name):
    one = published(name)
    wrong = [f'{series.name} {series.case.title}: {found}, wanted {expected}' for series in one.series
             for found, expected in [(set(names(series)), expected_troubles(name, series))] if found != expected]
    assert not wrong, '\n'.join(wrong)


def test_every_trouble_is_in_the_published_figures():
    assert {trouble for one in references.published() for series in one.series
            for trouble in expected_troubles(one.name, series)} == {rule.trouble.name for rule in troubles.RULES}


def names(series, **kwargs):
    return [trouble.name for trouble, _ in troubles.recognise(series, **kwargs)]


def test_where_tcp_is_promised_nothing_is_a_trouble(tmp_path):
    slow = Series(BW, 'hybrid', {MIB: {1: 2500.0}})
    assert names(slow) == names(slow, network='cxi') == ['tcp'] and names(slow, network='tcp') == []
    assert names(Series(BW, 'pure', slow.values)) == []
    for site, provider in (('workstation', 'tcp'), ('lumi-25.03', 'cxi'), ('somewhere', None)):
        one = run_files.read(make_run(tmp_path / site, approaches=('hybrid',), site=site, scale={'hybrid': 0.1}))
        assert troubles.promised(one) == provider
        assert [trouble.name for trouble, _ in troubles.recognised([one])] == ([] if provider == 'tcp' else ['tcp'])


def test_advice_is_for_the_users_own_run(results, capsys):
    """On a laptop over TCP, compare named variables of Slingshot for the shape of the published curve."""
    assert json.loads(call(capsys, 'quiet', 'lumi-g-2025-03', '--json')[1])['troubles'] == []
    assert json.loads(call(capsys, 'lumi-g-2025-03', '--json')[1])['troubles'] != []


# --- the statements of the documents, by the real command -----------------------------------------

def test_opensource_small_device_messages_are_eight_times_slower():
    """"Very close to the native performance for large message sizes but worse for small message sizes"."""
    done = command('lumi-g-2025-03:opensource', 'lumi-g-2025-03:native', '--json', '--only', 'osu_latency D D*')
    assert done.returncode == 1 and not done.stderr, done.stderr
    told = json.loads(done.stdout)
    value = {row['size']: row['ratio'] for row in told['comparisons'][0]['sizes']}
    assert all(6.9 < value[2 ** power] < 8.3 for power in range(8))
    assert all(one < 1.07 for size, one in value.items() if size >= 256 and size not in (8192, 16384))
    assert 'unset CXI_FORK_SAFE' in str(told['troubles'])


# --- the command ----------------------------------------------------------------------------------

@pytest.fixture
def results(tmp_path, monkeypatch):
    """The results folder with two runs: equal approaches in 'quiet', a slow hybrid in 'slow'."""
    folder = tmp_path / 'runs'
    make_run(folder / 'quiet', noise=0.004, scale={'pure': 1.0})
    make_run(folder / 'slow', noise=0.004, scale={'hybrid': 0.8, 'pure': 0.1}, seed=2)
    monkeypatch.setenv('OSU_CONTAINER_RESULTS', str(folder))
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    return folder


def test_exit_codes(results, capsys):
    make_run(results / 'noisy', noise=0.05)
    for code, *arguments in ((0, 'quiet'), (1, 'slow'), (0, 'slow', '--fail-on', 'never'), (0, 'noisy'),
                             (1, 'noisy', '--fail-on', 'noisy'), (1, 'slow', 'quiet'), (0, 'quiet', 'slow')):
        assert call(capsys, *arguments)[0] == code, arguments


@pytest.mark.parametrize('arguments, says', [
    (['nowhere'], 'nowhere'), (['quiet', 'lumi-g-2025-03:none'], 'none'),
    (['quiet', '--only', 'osu_alltoall'], 'osu_alltoall'), (['alps-gh200-2025'], 'native'),
    (['quiet', 'hpe-libfabric-swap'], 'osu_get_bw'),
])
def test_what_cannot_be_compared_has_an_exit_code_of_its_own(results, capsys, arguments, says):
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (3, '') and err.startswith('osu-container compare: error: ') and says in err


def test_one_approach_is_compared_with_native_of_its_run(results):
    for typed in (f'{results / "slow"}:hybrid', 'slow:hybrid'):
        assert [one.names for one in collect(typed)['comparisons']] == 2 * [['hybrid', 'native']]


def test_a_failed_case_counts_as_worse_and_a_skipped_one_does_not(results, capsys):
    for reason, expected in (('killed after 60 s', 1), ('skipped: no GPU here', 0)):
        folder = make_run(results / reason[:4], noise=0.004, failures=[('hybrid', LATENCY, reason)])
        code, out, _ = call(capsys, folder)
        assert code == expected and (reason in out) == bool(expected)


def test_tables_of_every_size_come_for_few_curves_or_when_asked(results, capsys):
    for arguments, tables in ((['slow:hybrid'], 2), (['slow'], 0), (['slow', '--sizes'], 4)):
        assert len(re.findall('^ *16 KiB ', call(capsys, *arguments)[1], re.M)) == tables


def test_json_holds_all_of_it(results, capsys):
    code, out, _ = call(capsys, 'slow', '--json')
    told = json.loads(out)
    assert (told['format'], told['verdict'], code) == (comparison_text.FORMAT, 'worse', 1)
    for one, comparison in zip(told['comparisons'], against_native(run_files.read(results / 'slow'))):
        assert one['verdict'] == comparison.verdict
        assert [row['ratio'] for row in one['sizes']] == [point.ratio for point in comparison.points]
        assert all(row['low'] <= row['high'] for row in one['sizes'])

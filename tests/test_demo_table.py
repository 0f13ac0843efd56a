"""The table of a run."""
import pytest

from osu_container import demo_table as table
from osu_container.demo_table import TableError
from osu_container.results.model import Case, Dataset, Failure, Series

PROMISES = {'native': ('host', 'host'), 'pure': ('image', 'image'), 'bind': ('host', 'host'),
            'hybrid': ('image', 'host'), 'opensource': ('image', 'image')}
RELEASES = {'host': ('5.0.2', '2.5.1'), 'image': ('4.2.3', '1.22.0')}
NUMBERS = {'osu_bw': {1: 2.534, 65536: 10006.92, 4194304: 11971.1}, 'osu_latency': {1: 7.321, 65536: 50.76}}


def library(family, release, where):
    return {'path': f'/lib/{family}', 'where': where, 'host_path': None, 'family': family, 'release': release,
            'build_id': None, 'sha256': f'{family}-{release}', 'problem': None}


def proofs(approach):
    """What the ranks of an approach loaded, as proof.merged() gives it."""
    mpi, fabric = PROMISES[approach]
    return [{'ranks': [0, 1], 'nodes': ['node1', 'node2'], 'container': approach != 'native', 'variables': {},
             'libraries': {'libmpi': library('MPICH', RELEASES[mpi][0], mpi),
                           'libfabric': library('libfabric', RELEASES[fabric][1], fabric)}}]


def add(run, approach, factor=1.0, programs='mpi4py 4.1.2 ports', wobble=1.0):
    """
    Add a module to a run whose ranks loaded what the approach promises.

    factor: its numbers by those of NUMBERS; wobble: by how much its first repeat differs from that.
    """
    name = 'osu-native' if approach == 'native' else f'osu-container/{approach}'
    # the middle repeat is the median; the machine is half as fast in the third, for all modules
    speeds = {1: factor * wobble, 2: factor, 3: factor * 0.5}
    for benchmark, sizes in NUMBERS.items():
        values = {size: {repeat: value * speed for repeat, speed in speeds.items()} for size, value in sizes.items()}
        run.series.append(Series(Case(benchmark, 'H H', 2, 2), approach, values, programs,
                                 {'module': name, 'proofs': [proofs(approach) for _ in speeds]}))
    run.modules[name] = {'name': name, 'approach': approach, 'network': {'netmod': 'ofi', 'provider': 'tcp'}}


@pytest.fixture
def run():
    """A run of five modules with nothing wrong."""
    made = Dataset('x', 'run', 'run x')
    for approach, factor, wobble in (('native', 1.0, 1.0), ('pure', 0.5, 1.0), ('bind', 1.004, 1.03),
                                     ('hybrid', 1.1, 1.0), ('opensource', 1.0, 1.0)):
        add(made, approach, factor, wobble=wobble)
    return made


def of(run, name, benchmark='osu_bw'):
    """The series of a benchmark under a name."""
    return next(one for one in run.of(name=name) if one.case.benchmark == benchmark)


TEXT = """\
            ---- bandwidth, MB/s (ratio) ----   latency, µs (ratio)   loaded by the ranks
approach          1 B      64 KiB       4 MiB        1 B     64 KiB  MPI          libfabric
native      2.53 1.00  10007 1.00  11971 1.00  7.32 1.00  50.8 1.00  5.0.2 host   2.5.1 host
pure        1.27 0.50   5003 0.50   5986 0.50  3.66 0.50  25.4 0.50  4.2.3 image  1.22.0 image
bind        2.54 1.00  10047 1.00  12019 1.00  7.35 1.00  51.0 1.00  5.0.2 host   2.5.1 host
hybrid      2.79 1.10  11008 1.10  13168 1.10  8.05 1.10  55.8 1.10  4.2.3 image  2.5.1 host
opensource  2.53 1.00  10007 1.00  11971 1.00  7.32 1.00  50.8 1.00  4.2.3 image  1.22.0 image

MPI is MPICH; releases and origin (host, image) were read from the running ranks.
Programs: mpi4py 4.1.2 ports, not the OSU C programs; compare them with each other only.
libfabric provider of all ranks: tcp.
Medians of 3 interleaved repeats; a ratio is taken within a repeat. Widest spread of a ratio: 3%,
bind osu_latency 64 KiB.
Ratio to native: for bandwidth more is better, for latency less.
"""


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """A terminal that has room for the table."""
    monkeypatch.setenv('COLUMNS', '100')


@pytest.mark.parametrize('width', [60, 80, 120])
def test_the_table_fits_the_terminal_and_loses_nothing(run, monkeypatch, width):
    whole = set(table.plain(run).replace('-', ' ').split())
    monkeypatch.setenv('COLUMNS', str(width))
    text = table.plain(run)
    assert max(map(len, text.splitlines())) <= width
    assert set(text.replace('-', ' ').split()) == whole
    assert text.count('approach ') == {60: 2, 80: 2, 120: 1}[width], 'each table names its rows'


def test_the_whole_text(run):
    assert table.plain(run) == TEXT


def test_without_native_there_is_no_ratio(run):
    assert table.rows(run.only('pure'))[0][1][0] == ('1.27', '-')


def test_a_ratio_is_taken_within_a_repeat(run):
    # the machine is at half speed in the second repeat: the medians alone would give 2.0 / 4.0
    of(run, 'native').values[1] = {1: 4.0, 2: 2.0, 3: 4.0}
    of(run, 'pure').values[1] = {1: 4.0, 2: 2.0, 3: 2.0}
    assert table.rows(run)[1][1][0] == ('2.00', '1.00')


def test_providers_that_differ_are_listed_by_approach(run):
    run.modules['osu-container/pure']['network']['provider'] = 'sockets'
    assert 'libfabric provider: tcp: native, bind, hybrid, opensource; sockets: pure.' in table.plain(run)


def test_a_single_repeat_claims_no_spread(run):
    for one in run.series:
        one.values = {size: {1: found[1]} for size, found in one.values.items()}
    assert 'Measured once' in table.plain(run) and 'spread' not in table.plain(run)


def test_numbers_that_scatter_are_called_so(run):
    assert 'too much to compare rows' not in table.plain(run)
    of(run, 'opensource').values[65536][1] *= 2
    text = ' '.join(table.plain(run).split())
    assert 'too much to compare rows' in text and 'opensource osu_bw 64 KiB' in text


def test_a_release_that_is_not_known_says_so(run):
    of(run, 'pure').facts['proofs'][0][0]['libraries']['libmpi']['release'] = None
    of(run, 'pure').facts['proofs'][1:] = []
    of(run, 'pure', 'osu_latency').facts['proofs'] = []
    assert table.rows(run)[1][2] == 'unknown image'


def test_a_failure_is_an_error_with_its_reason(run):
    run.failures.append(Failure(Case('osu_bw', 'H H', 2, 2), 'bind', 1, 'it did not run what it promises: rank 0 ...'))
    with pytest.raises(TableError, match='bind osu_bw H H, two nodes: it did not run what it promises: rank 0'):
        table.plain(run)


def test_a_module_that_does_not_run_is_an_error(run):
    run.modules['osu-container/bind']['problem'] = 'exit code 1'
    with pytest.raises(TableError, match='osu-container/bind does not run: exit code 1'):
        table.plain(run)


def test_repeats_that_disagree_are_an_error(run):
    of(run, 'native').facts['proofs'][1][0]['libraries']['libmpi'].update(release='4.9.9', sha256='other')
    with pytest.raises(TableError, match='native: runs disagree'):
        table.plain(run)


def test_a_run_over_ucx_is_an_error(run):
    run.modules['osu-native']['network'] = {'netmod': 'ucx', 'provider': None}
    with pytest.raises(TableError, match='osu-native: MPI ran over UCX, not libfabric'):
        table.plain(run)


def test_different_programs_do_not_compare(run):
    of(run, 'native').programs = 'OSU C programs'
    with pytest.raises(TableError, match='OSU C programs and mpi4py 4.1.2 ports'):
        table.plain(run)


def test_a_size_that_was_not_measured_is_an_error(run):
    del of(run, 'hybrid').values[4194304]
    with pytest.raises(TableError, match='hybrid: no osu_bw at 4194304 bytes'):
        table.plain(run)

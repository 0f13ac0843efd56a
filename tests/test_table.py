"""The table of a run, from records as demo.py writes them."""
import copy

import pytest

from osu_container import table
from osu_container.table import TableError

PROMISES = {'native': ('host', 'host'), 'pure': ('image', 'image'), 'bind': ('host', 'host'),
            'hybrid': ('image', 'host'), 'opensource': ('image', 'image')}
RELEASES = {'host': ('5.0.2', '2.5.1'), 'image': ('4.2.3', '1.22.0')}
NUMBERS = {'osu_bw': {'1': 2.534, '65536': 10006.92, '4194304': 11971.1},
           'osu_latency': {'1': 7.321, '65536': 50.76}}


def library(family, release, where):
    return {'path': f'/lib/{family}', 'where': where, 'host_path': None, 'family': family, 'release': release,
            'build_id': None, 'sha256': f'{family}-{release}', 'problem': None}


def module(approach, factor=1.0, programs='mpi4py 4.1.2 ports', wobble=1.0):
    """
    A module's entry whose ranks loaded what the approach promises; factor: its numbers by those of NUMBERS;
    wobble: by how much its first repeat differs from that.
    """
    mpi, fabric = PROMISES[approach]
    ranks = [{'rank': rank, 'node': f'node{rank + 1}', 'container': approach != 'native',
              'libraries': {'libmpi': library('MPICH', RELEASES[mpi][0], mpi),
                            'libfabric': library('libfabric', RELEASES[fabric][1], fabric)}} for rank in range(2)]
    # the middle repeat is the median; the machine is half as fast in the third, for all modules
    runs = [{'benchmark': name, 'repeat': repeat, 'programs': programs, 'proof': copy.deepcopy(ranks),
             'values': {size: value * own * speed for size, value in sizes.items()}}
            for repeat, own, speed in ((1, factor * wobble, 1.0), (2, factor, 1.0), (3, factor, 0.5))
            for name, sizes in NUMBERS.items()]
    medians = {name: {size: {'median': value * factor, 'least': value * factor * 0.98, 'most': value * factor * 1.01,
                             'repeats': 3} for size, value in sizes.items()} for name, sizes in NUMBERS.items()}
    return {'name': 'osu-native' if approach == 'native' else f'osu-container/{approach}', 'approach': approach,
            'container': approach != 'native', 'comes_from': {'libmpi': mpi, 'libfabric': fabric},
            'network': {'netmod': 'ofi', 'provider': 'tcp'}, 'runs': runs, 'medians': medians}


@pytest.fixture
def run():
    """A record of five modules with nothing wrong."""
    return {'format': 1, 'date': '2026-11-21T04:14:15Z', 'repeats': 3,
            'modules': [module('native'), module('pure', 0.5), module('bind', 1.004, wobble=1.03),
                        module('hybrid', 1.1), module('opensource')]}


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


def test_the_whole_text(run):
    assert table.plain(run) == TEXT


def test_it_fits_into_100_columns_with_wide_numbers(run):
    for entry in run['modules']:
        for size in ('65536', '4194304'):
            entry['medians']['osu_bw'][size]['median'] = 98765.4
        entry['medians']['osu_latency']['65536']['median'] = 99999.0
    assert max(len(line) for line in table.plain(run).splitlines()) <= 100


def test_markdown_has_the_same_cells(run):
    lines = table.markdown(run).splitlines()
    assert lines[0].startswith('| approach | MB/s at 1 B | MB/s at 64 KiB |')
    assert lines[3] == ('| pure | 1.27 (0.50) | 5003 (0.50) | 5986 (0.50) | 3.66 (0.50) | 25.4 (0.50) | 4.2.3 image '
                        '| 1.22.0 image |')
    assert len({line.count('|') for line in lines[:7]}) == 1


def test_without_native_there_is_no_ratio(run):
    run['modules'] = run['modules'][1:]
    assert table.rows(run)[0][1][0] == ('1.27', '-')


def test_c_programs_are_not_called_ports(run):
    run['modules'] = [module('native', programs='OSU C programs')]
    assert 'Programs: OSU C programs.' in table.plain(run) and 'ports' not in table.plain(run)


def test_providers_that_differ_are_listed_by_approach(run):
    run['modules'][1]['network']['provider'] = 'sockets'
    assert 'libfabric provider: tcp: native, bind, hybrid, opensource; sockets: pure.' in table.plain(run)


def test_a_single_repeat_claims_no_spread(run):
    run['repeats'] = 1
    assert 'Measured once' in table.plain(run) and 'spread' not in table.plain(run)


def test_numbers_that_scatter_are_called_so(run):
    assert 'too much to compare rows' not in table.plain(run)
    run['modules'][4]['runs'][0]['values']['65536'] *= 2
    text = ' '.join(table.plain(run).split())
    assert 'too much to compare rows' in text and 'opensource osu_bw 64 KiB' in text


def test_a_release_that_is_not_known_says_so(run):
    for one in run['modules'][1]['runs']:
        for rank in one['proof']:
            rank['libraries']['libmpi']['release'] = None
    assert table.rows(run)[1][2] == 'unknown image'


@pytest.mark.parametrize('approach, name, wrong, says', [
    ('bind', 'libmpi', 'image', 'loaded libmpi from image (/lib/MPICH); promised: that of the host'),
    ('bind', 'libfabric', 'image', 'loaded libfabric from image'),
    ('hybrid', 'libmpi', 'host', 'loaded libmpi from host (/lib/MPICH); promised: that of the image'),
    ('hybrid', 'libfabric', 'image', 'promised: that of the host'),
    ('pure', 'libfabric', 'host', 'promised: that of the image'),
    ('opensource', 'libmpi', 'host', 'promised: that of the image'),
    ('native', 'libmpi', None, 'loaded libmpi from an unknown place'),
])
def test_another_library_than_promised_is_an_error(run, approach, name, wrong, says):
    entry = next(entry for entry in run['modules'] if entry['approach'] == approach)
    for one in entry['runs']:
        for rank in one['proof']:
            rank['libraries'][name]['where'] = wrong
    with pytest.raises(TableError) as caught:
        table.plain(run)
    assert says in str(caught.value) and entry['name'] in str(caught.value)
    assert len(str(caught.value).splitlines()) == 2, 'one line a rank, however many repeats'


def test_a_library_that_was_not_loaded_is_an_error(run):
    for one in run['modules'][1]['runs']:
        del one['proof'][0]['libraries']['libfabric']
    with pytest.raises(TableError, match='osu-container/pure: rank 0 on node1 loaded no libfabric; promised'):
        table.markdown(run)


def test_ranks_that_disagree_are_an_error(run):
    run['modules'][0]['runs'][0]['proof'][1]['libraries']['libmpi'].update(release='4.2.3', sha256='other')
    with pytest.raises(TableError, match=r'ranks disagree: rank 0 has .*MPICH 5\.0\.2 \(host\), rank 1 has .*4\.2\.3'):
        table.plain(run)


def test_repeats_that_disagree_are_an_error(run):
    for rank in run['modules'][0]['runs'][1]['proof']:
        rank['libraries']['libmpi'].update(release='4.9.9', sha256='other')
    with pytest.raises(TableError, match='osu-native: runs disagree'):
        table.plain(run)


def test_a_container_row_that_ran_on_the_host_is_an_error(run):
    for one in run['modules'][2]['runs']:
        for rank in one['proof']:
            rank['container'] = False
    with pytest.raises(TableError, match='osu-container/bind: rank 0 on node1 ran outside of a container'):
        table.plain(run)


def test_a_run_over_ucx_is_an_error(run):
    run['modules'][0]['network'] = {'netmod': 'ucx', 'provider': None}
    with pytest.raises(TableError, match='osu-native: MPI ran over UCX, not libfabric'):
        table.plain(run)


def test_different_programs_do_not_compare(run):
    run['modules'][0] = module('native', programs='OSU C programs')
    with pytest.raises(TableError, match='OSU C programs and mpi4py 4.1.2 ports'):
        table.plain(run)


def test_a_size_that_was_not_measured_is_an_error(run):
    del run['modules'][3]['medians']['osu_bw']['4194304']
    with pytest.raises(TableError, match='osu-container/hybrid: no osu_bw at 4194304 bytes'):
        table.plain(run)

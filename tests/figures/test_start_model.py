"""The model of starts on many nodes: its inputs are what was kept, its sums are sums, the page says what it says."""
import itertools
import json
import os
import re
import subprocess
from xml.etree import ElementTree

import pytest

from osu_container.figures import many_nodes
from osu_container.figures import start_model as model
from osu_container.figures.timing import environment
from osu_container.generate import figures_page
from osu_container.generate import scale_page as page
from tests.helpers.machine import PROJECT

NODES = (1, 2, 8, 50, 51, 64, 512, 3000)
RANKS = (1, 8, 64, 128)
ENDS = ('fast', 'slow')
IMAGES = list(model.images())
KEPT = sorted(model.COUNTS.glob('*.json'))


def taken(way, nodes, ranks, image, system='LUMI-P'):
    return model.start(way, nodes, ranks, model.images()[image], system)


# ---- inputs

def test_every_input_says_how_sure_it_is_and_where_it_is_from():
    everything = [*model.inputs().values(), *model.images().values()]
    for each in everything:
        assert each.evidence in model.EVIDENCE and each.source and each.title
    assert {each.evidence for each in everything} == set(model.EVIDENCE)


@pytest.mark.parametrize('way, name', [('native', 'native'), ('container', 'shared')])
def test_a_start_on_one_node_is_that_of_the_kept_figures(way, name):
    """One rank and two ranks have a core each on the machine that measured: there the model is what was measured."""
    figures = figures_page.newest()[1]['groups']['start']
    each = model.inputs()[way]
    found = [figure for figure in figures
             if figure['way'] == name and figure['of'] == 'total' and figure['ranks'] in (1, 2)]
    assert {figure['ranks'] for figure in found} == {1, 2}
    for figure in found:
        assert each.fast <= figure['high'] and figure['low'] <= each.slow, figure['name']
    for end in ENDS:
        found = {model.parts(each_way, 1, 1, model.images()['small'], end)['node'] for each_way in model.WAYS
                 if (each_way == 'native') == (way == 'native')}
        assert found == {getattr(each, end)}


def test_the_rate_of_tcp_is_the_published_one():
    """osu_bw of pure between two nodes of LUMI-G, as docs/results has it: 2,131.71 MB/s."""
    assert model.tcp() == pytest.approx(2131.71e6)


# ---- what was counted on many nodes of one machine

@pytest.mark.parametrize('path', KEPT, ids=lambda path: path.name)
def test_kept_counts_have_the_shape_of_the_model(path):
    data = json.loads(path.read_text())
    assert data['format'] == many_nodes.FORMAT and data['srun'][-1]['nodes'] >= 64
    alone = data['reads'][0]['read'][0]
    for each in data['reads']:  # a container a node, which reads the same whoever else is there
        assert each['containers'] == each['nodes'] == len(each['read'])
        assert all(0.9 * alone < read < 1.15 * alone for read in each['read']), each
    assert {each['ranks'] for each in data['reads']} >= {1, 16}
    assert alone < data['image']['disk'] < data['image']['size']
    for each in data['starts']:
        assert each['way'] in ('native', 'container') and len(each['total']['values']) == each['total']['runs']
    assert 0 < data['requests']['container']['shared'] < data['requests']['native']['shared']
    assert '/root' not in path.read_text() and '/home' not in path.read_text()


def test_calls_on_files_are_counted_by_where_the_files_are(tmp_path):
    module, system = tmp_path / 'module', tmp_path / 'system'
    for folder, size in ((module, 7), (system, 5)):
        folder.mkdir()
        (folder / 'lib.so').write_bytes(b'x' * size)
    trace = f"""100 execve("{module}/lib.so", ["a"], 0x7ff /* 3 vars */) = 0
100 openat(AT_FDCWD, "{module}/lib.so", O_RDONLY|O_CLOEXEC) = 3
101 openat(AT_FDCWD, "{module}/missing", O_RDONLY) = -1 ENOENT (No such file or directory)
101 openat(AT_FDCWD, "{module}", O_RDONLY|O_DIRECTORY) = 4
101 newfstatat(AT_FDCWD, "{module}/lib.so", {{st_mode=S_IFREG|0755, st_size=7, ...}}, 0) = 0
101 openat(AT_FDCWD, "/proc/self/maps", O_RDONLY) = 3
101 openat(AT_FDCWD, "/etc/hostname", O_RDONLY) = -1 EACCES (Permission denied)
101 --- SIGCHLD {{si_signo=SIGCHLD}} ---
"""
    assert many_nodes.calls(trace, [str(module)]) == {'all': 6, 'shared': 5, 'opened': 7, 'opened_shared': 7}


# ---- the sum

@pytest.mark.parametrize('way, image, system', itertools.product(model.WAYS, IMAGES, model.FILE_SYSTEMS))
def test_a_larger_job_never_starts_faster(way, image, system):
    for ranks, end in itertools.product(RANKS, (0, 1)):
        by_nodes = [taken(way, nodes, ranks, image, system)[end] for nodes in NODES]
        assert by_nodes == sorted(by_nodes)
    for nodes, end in itertools.product(NODES, (0, 1)):
        by_ranks = [taken(way, nodes, ranks, image, system)[end] for ranks in RANKS]
        assert by_ranks == sorted(by_ranks)
        fast, slow = taken(way, nodes, RANKS[-1], image, system)
        assert 0 < fast <= slow


@pytest.mark.parametrize('image, system', itertools.product(IMAGES, model.FILE_SYSTEMS))
def test_more_targets_and_a_copy_on_the_node_never_slow_a_start(image, system):
    for nodes, end in itertools.product(NODES, (0, 1)):
        ways = [taken(way, nodes, 8, image, system)[end] for way in ('one stripe', 'striped', 'staged')]
        assert ways == sorted(ways, reverse=True)


@pytest.mark.parametrize('way', ['one stripe', 'striped'])
def test_ranks_of_a_node_read_the_image_once(way):
    image = model.images()['large']
    for end in ENDS:
        assert len({model.parts(way, 512, ranks, image, end)['reading'] for ranks in RANKS}) == 1


def test_reading_is_bytes_by_rate_until_a_node_takes_no_more():
    image = model.Image('any', 10e9, 1e9, 2e9, 'assumed', 'here')
    found = {(way, nodes, end): model.parts(way, nodes, 1, image, end)['reading']
             for way in ('one stripe', 'striped') for nodes in (1, 3000) for end in ENDS}
    # LUMI-P: 240 GB/s by 32 targets, 25 GB/s out of a server's memory and into a node's card
    assert found == pytest.approx({
        ('one stripe', 1, 'fast'): 1 / 25, ('one stripe', 1, 'slow'): 2 / 7.5,
        ('one stripe', 3000, 'fast'): 3000 / 25, ('one stripe', 3000, 'slow'): 6000 / 7.5,
        ('striped', 1, 'fast'): 1 / 25, ('striped', 1, 'slow'): 2 / 25,
        ('striped', 3000, 'fast'): 3000 / 240, ('striped', 3000, 'slow'): 6000 / 240})


def test_requests_are_those_that_others_have_extrapolated(monkeypatch):
    """Feng and Hand, SciPy 2016: 2,000 requests of 1,000 ranks at 10,000 a second take 200 s."""
    monkeypatch.setattr(model, 'values', lambda end: {**{name: each.slow for name, each in model.inputs().items()},
                                                      'native_requests': 2000, 'repeated': 1, 'server': 10e3})
    assert model.parts('native', 125, 8, model.images()['small'], 'slow')['requests'] == pytest.approx(200)


@pytest.mark.parametrize('nodes', [1, 7, 8, 9, 50, 51, 64, 3000])
@pytest.mark.parametrize('width', [2, 8, 50])
def test_a_message_reaches_every_node_once(nodes, width):
    """Beside a tree that is built: whoever has it hands it on to width others, level by level."""
    reached, newest, hops = 0, 1, 0
    while reached < nodes:
        newest = min(newest * width, nodes - reached)
        reached += newest
        hops += 1
    assert model.levels(nodes, width) == hops
    assert min(nodes, hops) <= model.copies(nodes, width) <= min(nodes, hops * width)


@pytest.mark.parametrize('nodes, width, sent', [
    (1, 64, 1), (64, 64, 64), (9, 8, 9), (64, 8, 8 + 7), (3000, 8, 8 + 8 + 8 + 5), (3000, 50, 50 + 50 + 1)])
def test_a_block_is_sent_once_for_each_child_of_the_longest_branch(nodes, width, sent):
    """3,000 by 8: 8 children with 374 nodes behind each, of which each has 8 with 46, these 8 with 5, these 5."""
    assert model.copies(nodes, width) == sent


def test_srun_takes_longer_by_its_own_work_and_by_each_level_of_the_tree():
    v = {'srun': 1.0, 'own': 0.01, 'tree': 50}
    assert [model.launch(nodes, v) for nodes in (1, 50, 51, 3000)] == pytest.approx([0, 0.49, 1.5, 31.99])


def test_a_second_system_differs_by_its_servers_and_targets():
    """LUMI-F: four metadata servers, 72 targets of 30 GB/s; the files of a native start on one of them, or on all."""
    image = model.Image('any', 10e9, 1e9, 1e9, 'assumed', 'here')
    of = {(system, way, end): model.parts(way, 3000, 8, image, end, system)
          for system in model.FILE_SYSTEMS for way in ('native', 'one stripe') for end in ENDS}
    for way, end in itertools.product(('native', 'one stripe'), ENDS):
        assert of['LUMI-P', way, end]['requests'] == pytest.approx(4 * of['LUMI-F', way, end]['requests'])
    assert of['LUMI-F', 'one stripe', 'fast']['reading'] == of['LUMI-F', 'one stripe', 'slow']['reading'] == (
        pytest.approx(3000 / 30))
    native = model.inputs()['native_bytes']
    assert of['LUMI-P', 'native', 'fast']['reading'] == pytest.approx(3000 * native.fast / 240e9)
    assert of['LUMI-P', 'native', 'slow']['reading'] == pytest.approx(3000 * native.slow / 7.5e9)


@pytest.mark.parametrize('image, system', itertools.product(IMAGES, model.FILE_SYSTEMS))
def test_thresholds_are_the_first_nodes_where_they_hold(image, system):
    one = model.images()[image]
    for seconds, end in itertools.product((0.5, 1, 10), (0, 1)):
        first = model.nodes_that_wait(one, seconds, system)[end]
        for nodes in NODES:
            reading = model.parts('one stripe', nodes, 1, one, ENDS[end], system)['reading']
            assert (reading >= seconds) == (first is not None and nodes >= first)
    for than in ('one stripe', 'striped'):
        for end, first in enumerate(model.nodes_that_gain(one, than, system)):
            for nodes in {first, (first or 2) - 1} - {None, 0}:
                gains = model.staging(nodes, one, system)[end] + model.start('staged', nodes, 1, one, system)[end] < (
                    model.start(than, nodes, 1, one, system)[end])
                assert gains == (nodes == first)
        for end, count in enumerate(model.starts_that_pay(3000, one, than, system)):
            staging, staged, other = (model.staging(3000, one, system)[end],
                                      *(model.start(way, 3000, 1, one, system)[end] for way in ('staged', than)))
            assert count and staging + count * staged < count * other
            assert count == 1 or staging + (count - 1) * staged >= (count - 1) * other


@pytest.mark.parametrize('what, nodes, ranks, size, most, source', model.PUBLISHED_STARTS)
def test_published_starts_do_not_contradict_the_fast_end(what, nodes, ranks, size, most, source):
    image = model.Image('', size, size, size, '', '')
    assert model.staging(nodes, image)[0] + model.start('staged', nodes, ranks, image)[0] <= most


# ---- the page

def test_numbers_have_the_digits_that_count():
    assert [page.number(each) for each in (0, 0.0434, 0.6, 1, 9.04, 43.4, 434, 4344)] == [
        '0', '0.043', '0.6', '1', '9', '43', '430', '4,300']
    assert [page.size(each) for each in (37019648, 2160e9, 7.5e9, 58147667, 999)] == [
        '37 MB', '2,160 GB', '7.5 GB', '58.1 MB', '999 B']
    assert page.between((None, 5)) == 'never to 5' and page.between((None, None), 's') == 'never'


def test_published_values_are_not_rounded():
    shown = page.inputs()
    for system in model.FILE_SYSTEMS.values():
        assert f'| {system.total / 1e9:,.0f} GB/s, {system.targets} targets' in shown
        assert f'| {system.total / system.targets / 1e9:g} GB/s |' in shown


def test_every_cell_of_the_tables_is_the_model():
    lines = page.expected(model.images()['large'], page.RANKS).splitlines()[2:]
    assert len(lines) == len(page.NODES) * len(page.RANKS)
    for line, (nodes, ranks) in zip(lines, itertools.product(page.NODES, page.RANKS)):
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        assert cells[:2] == [f'{nodes:,}', str(ranks)]
        assert cells[2:6] == [page.between(taken(way, nodes, ranks, 'large')) for way in model.WAYS]


def test_parts_add_up_to_the_start():
    image = model.images()['large']
    for way, end in itertools.product(model.WAYS, (0, 1)):
        parts = model.parts(way, 3000, 8, image, ENDS[end])
        assert set(parts) == set(page.PARTS) and sum(parts.values()) == pytest.approx(
            taken(way, 3000, 8, 'large')[end])


def test_the_picture_has_a_panel_and_a_band_for_each_way_and_nothing_leaves_it():
    root = ElementTree.fromstring(page.svg())
    tag = '{http://www.w3.org/2000/svg}'
    _, _, width, height = map(float, root.get('viewBox').split())
    assert {text.text for text in root.iter(f'{tag}text')} >= set(page.TITLES.values())
    paths = list(root.iter(f'{tag}path'))
    for kind, count in (('band', 4), ('middle', 4), ('other', 12), ('extra', 1)):
        assert len([path for path in paths if path.get('class').split()[0] == kind]) == count
    for path in paths:
        numbers = list(map(float, re.findall(r'[\d.]+', path.get('d'))))
        assert max(numbers[::2]) < width and max(numbers[1::2]) < height
    _, found, first = page.curves()
    for each in [*found.values(), first]:  # none is cut off at the edge of a panel
        assert page.SECONDS[0] < min(map(page.middle, each)) and max(map(page.middle, each)) < page.SECONDS[1]
        assert all(page.SECONDS[0] < low and high < page.SECONDS[1] for low, high in each)


# ---- many nodes for real

@pytest.mark.slurm
def test_a_private_slurm_of_more_nodes_stands_beside_the_other_and_leaves_nothing():
    env = environment()
    before = env.get('SLURM_CONF')
    with many_nodes.slurm(3) as conf:
        assert conf != before and os.path.exists(conf)
        env = dict(env, SLURM_CONF=conf)
        for variable in ('SLURM_JOB_NUM_NODES', 'SLURM_NTASKS'):
            env.pop(variable, None)
        done = subprocess.run([*many_nodes.srun_line(3, 2), '--mpi=none', 'printenv', 'SLURMD_NODENAME'], env=env,
                              capture_output=True, text=True, timeout=60)
        assert sorted(done.stdout.split()) == sorted(2 * ['node1', 'node2', 'node3']), done.stderr
        assert [each['nodes'] for each in many_nodes.bench_srun(3, 1, env)] == [1, 2, 3]
    assert not os.path.exists(os.path.dirname(conf)) and environment().get('SLURM_CONF') == before


@pytest.mark.parametrize('nodes', ['0', 'two', '-1', '1000'])
def test_a_wrong_number_of_nodes_is_refused(nodes):
    done = subprocess.run([PROJECT / 'workstation' / 'slurm.sh', 'start'], capture_output=True, text=True,
                          env=dict(os.environ, OSU_SLURM_NODES=nodes))
    assert done.returncode == 1 and f"OSU_SLURM_NODES is '{nodes}', wanted: a number from 1 to 999" in done.stderr

"""Benchmarks of ourselves: every group runs, figures follow from what was measured, the page is what the data say."""
import json
import os
import re
import statistics
import sys

import pytest
import yaml

from osu_container import osu_output
from osu_container.figures import growth, image_reads
from osu_container.figures import job_start as start
from osu_container.figures import timing as measure
from osu_container.generate import figures_page as page
from osu_container.results import example_runs as results_data
from tests.helpers.machine import PROJECT, run

FIGURES = PROJECT / 'osu_container' / 'figures' / 'cli.py'
GROUPS = ['wrapper', 'module', 'render', 'approaches', 'one-node', 'start', 'reads', 'proof', 'commands', 'growth']


# ---- the page and its data

def test_the_page_is_what_the_newest_data_say():
    done = run([sys.executable, '-m', 'osu_container.generate.figures_page', '--check'], cwd=PROJECT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('path', sorted((PROJECT / 'osu_container/figures/results').glob('*.json')),
                         ids=lambda path: path.name)
def test_kept_data_have_all_groups_and_follow_from_their_values(path):
    data = json.loads(path.read_text())
    assert data['format'] == page.FORMAT and list(data['groups']) == GROUPS
    assert data['machine']['cores'] and data['versions']['runtime'] and len(data['load']) == len(GROUPS) + 1
    found = [each for figures in data['groups'].values() for each in figures]
    for each in found:
        assert each['low'] <= each['median'] <= each['high'], each['name']
        if each['wanted'] is not None:
            value = each['median']
            assert each['met'] == (value <= each['wanted'] if each['at_most'] else value >= each['wanted'])
        if isinstance(each.get('values'), list):
            assert each['median'] == statistics.median(each['values']) and each['runs'] == len(each['values'])
    assert {each['ranks'] for each in data['groups']['start']} == set(start.RANKS)
    assert {each['way'] for each in data['groups']['start']} == set(page.WAYS)
    ratios = {(each['ranks'], each['way'], each['of']): each for each in data['groups']['start']}
    for (ranks, way, of), each in ratios.items():
        if of.endswith('ratio'):
            mine, native = (ratios[ranks, name, of.split()[0]]['values'] for name in (way, 'native'))
            assert each['median'] == statistics.median(one / other for one, other in zip(mine, native))
    assert '/root' not in path.read_text() and '/home' not in path.read_text()


def test_every_figure_of_the_data_is_on_the_page():
    text, (_, data) = page.PAGE.read_text(), page.newest()
    in_cells = ('approaches', 'one-node')
    for group in set(GROUPS).difference(in_cells):
        for each in data['groups'][group]:
            if each['met'] is not None:
                line, = [line for line in text.splitlines() if line.startswith(f"| {each['name']} |")]
                assert page.shown(each) in line and ('missed' in line) != each['met']
    for group in in_cells:
        for each in data['groups'][group]:
            approach = each['name'].partition(',')[0]
            assert [line for line in text.splitlines() if line.startswith(f'| {approach} |')
                    and f"{page.shown(each)}{'' if each['met'] else ' **missed**'} |" in line], each['name']
    for each in data['groups']['reads']:
        assert each['name'] and page.shown(each) in text, each['name']
    for each in data['groups']['start']:
        if not each['of'].endswith('ratio'):
            shown = page.shown(dict(each, unit='')) if each['of'] == 'total' else page.number(each['median'])
            assert shown in text, each['name']


def figures_of(**groups):
    return {'format': page.FORMAT, 'time': '2026-11-21T00:00:00Z', 'note': '', 'load': [[0, 0, 0]],
            'machine': {'cores': 2, 'cpu': 'any', 'memory_bytes': 8e9, 'system': 'any'}, 'groups': groups}


def test_a_missed_promise_is_shown_as_missed():
    slow = measure.figure('wrapper, pure', measure.summary([9.0, 10.0, 11.0]), 8, 'ms')
    few = measure.figure('pure, osu_bw', measure.summary([0.9]), 0.95, at_most=False)
    text = page.content(PROJECT / 'x.json', figures_of(wrapper=[slow], approaches=[few]))
    assert '| wrapper, pure | 10 [9 .. 11] ms | at most 8 ms | **missed** |' in text
    assert 'wanted: at least 0.95 for osu_bw.' in text and '| pure | 0.9 **missed** |' in text


def test_starts_stand_by_ranks_and_way_with_their_ratio_to_native():
    found = {way: [{'init': 10.0 * factor, 'total': 1.0 * factor}] * 3
             for way, factor in (('native', 1), ('rank', 3), ('shared', 1.5))}
    text = page.starts(start.of_count(4, found))
    assert '| 4 | 1 [1 .. 1], 10 | 1.5 [1.5 .. 1.5], 15 (1.5, 1.5) | 3 [3 .. 3], 30 (3, 3) |' in text
    assert 'missed' not in text and '**missed**' in page.starts(start.of_count(16, found))


def test_ratios_are_made_pair_by_pair():
    found = {'native': [{'init': 1.0, 'total': 1.0}, {'init': 10.0, 'total': 10.0}],
             'rank': [{'init': 2.0, 'total': 2.0}, {'init': 20.0, 'total': 20.0}]}
    ratio = [each for each in start.of_count(2, found) if each['of'] == 'init ratio']
    assert [(each['low'], each['median'], each['high']) for each in ratio] == [(2.0, 2.0, 2.0)]


# ---- measuring

def test_median_and_quartiles():
    assert measure.summary([1.0, 2.0, 3.0, 4.0, 5.0]) == {'median': 3.0, 'low': 1.5, 'high': 4.5, 'runs': 5}
    assert measure.summary([7.0]) == {'median': 7.0, 'low': 7.0, 'high': 7.0, 'runs': 1}


@pytest.mark.parametrize('megabytes', [50, 200])
def test_memory_is_that_of_the_command_and_not_of_who_measures(megabytes):
    mine = bytearray(120_000_000)  # more than the smaller command has
    code = f'x = bytearray({megabytes} * 10**6)'
    _, peak = measure.cost([sys.executable, '-c', f'import subprocess, sys; subprocess.run([sys.executable, "-c", '
                                                  f'"{code}"])'],
                           dict(os.environ))
    assert megabytes < peak < megabytes + 40 and len(mine)


def test_a_command_that_fails_says_why():
    for function in (measure.cost, measure.timed):
        with pytest.raises(measure.BenchError, match='(?s)exit 3.*failed.*no luck'):
            function(['sh', '-c', 'echo no luck >&2; exit 3'], dict(os.environ))


@pytest.mark.parametrize('rows', [575, 20000])
def test_runs_of_the_wanted_size_are_made_and_read(tmp_path, rows):
    from osu_container.results import files
    count, _ = growth.make_rows(tmp_path / 'run', rows)
    assert abs(count - rows) <= 0.05 * rows
    dataset = files.read(tmp_path / 'run')
    assert sum(len(repeats) for one in dataset.series for repeats in one.values.values()) == count
    assert {one.name for one in dataset.series} == set(growth.APPROACHES)


def test_the_largest_promised_run_can_be_made_and_more_is_refused(tmp_path):
    assert len(growth.CASES) * len(growth.APPROACHES) * growth.REPEATS * 23 >= growth.PROMISED
    with pytest.raises(measure.BenchError, match='more than'):
        growth.make_rows(tmp_path, 10 ** 7)


@pytest.mark.parametrize('arguments, said', [
    (['nonesuch'], "unknown group nonesuch"), (['start', '--ranks', '0'], 'whole numbers from 1'),
    (['start', '--ranks', 'two'], 'whole numbers from 1'),
    (['growth', '--output', str(FIGURES)], 'is there already and is not written over')])
def test_wrong_arguments_are_refused_before_anything_runs(arguments, said):
    before = FIGURES.read_text()
    done = run([sys.executable, '-m', 'osu_container.figures.cli', *arguments])
    assert done.returncode != 0 and said in done.stderr and 'Traceback' not in done.stderr
    assert FIGURES.read_text() == before


def test_the_port_says_what_is_missing(tmp_path):
    done = run(['/usr/bin/python3', '-I', PROJECT / 'osu_container/figures/osu_init_port.py'],
               env={'PATH': str(tmp_path)})
    assert done.returncode == 1 and 'is no port of mpi4py' in done.stderr


# ---- for real, with the smallest parameters

@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Environment (dict) with the folder of EasyBuild into which all modules were installed; Slurm runs."""
    folder = tmp_path_factory.mktemp('installed')
    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': os.environ['HOME'], 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(folder / 'prefix')}
    approaches = ('pure', 'bind', 'hybrid', 'opensource')
    names = ' '.join(['osu-native.eb', *(f'osu-container-{name}.eb' for name in approaches)])
    done = run(['bash', '--norc', '-c', f'. {PROJECT}/env.sh && eb {names} -r'], env=environment, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return environment


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.slurm
def test_every_group_runs(installed, tmp_path):
    """No figure is judged: only that there are all, from real runs."""
    target = tmp_path / 'deep' / 'results.json'
    done = run([sys.executable, '-m', 'osu_container.figures.cli', '--repeats', '1', '--ranks', '1,3', '--rows', '575',
                '--note', 'a test', '--output', target], env=installed, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    data = json.loads(target.read_text())
    assert list(data['groups']) == GROUPS and data['note'] == 'a test' and len(data['load']) == len(GROUPS) + 1
    text = page.content(PROJECT / 'x.json', data)
    assert all(title in text for title in ('Start of many ranks', 'result rows', 'a container a rank'))
    at = {(each['ranks'], each['way'], each['of']): each for each in data['groups']['start']}
    assert set(at) == {(ranks, way, of) for ranks in (1, 3) for way in page.WAYS for of in (
        'init', 'total', 'init ratio', 'total ratio') if way != 'native' or of in ('init', 'total')}
    for (_, _, of), each in at.items():
        assert each['median'] > 0
        if of == 'init':
            assert each['median'] < 1000 * at[each['ranks'], each['way'], 'total']['median']
    reads = {(each.get('way'), each.get('ranks')) for each in data['groups']['reads'] if each['of'] == 'file'}
    assert reads == {(way, ranks) for way in image_reads.WAYS for ranks in image_reads.RANKS}
    assert all(each['median'] > 0 for each in data['groups']['reads'])
    assert {each['rows'] for each in data['groups']['growth'] if each['what'] == 'report'} == {575}
    assert len([each for each in data['groups']['approaches'] if each['name'].startswith('hybrid')]) == 5


@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('module, prefix', [('osu-native', ''), ('osu-container/hybrid', 'osu-exec ')])
def test_the_port_of_osu_init_prints_what_osu_init_prints(installed, module, prefix):
    done = run(['bash', '--norc', '-c', f'. {PROJECT}/env.sh; module load {module}; export APPTAINER_BIND='
                f'$APPTAINER_BIND,{PROJECT}/osu_container/figures; srun -N2 -n2 {prefix}/usr/bin/python3 -I '
                f'{PROJECT}/osu_container/figures/osu_init_port.py'],
               env=installed, timeout=120)
    assert done.returncode == 0, done.stderr
    found = osu_output.parse(done.stdout, benchmark='osu_init', source='osu_init')
    assert found.unit == 'ms' and found.values[0] > 0
    assert re.fullmatch(r'mpi4py \S+ ports', found.programs), 'it must not pass for the C program'
    assert 'nprocs: 2, min: ' in done.stdout and done.stdout.count('MPI_Finalize on rank 0') == 1


# ---- every night

def test_the_job_of_gitlab_uses_options_that_exist():
    job = yaml.safe_load((PROJECT / 'regression/gitlab-ci.yml').read_text())['osu-container']
    lines = [line for line in job['script'] + job['after_script'] if 'osu-container' in line and 'env.sh' not in line]
    assert len(lines) == 5
    for line in lines:
        subcommand = re.search(r'osu-container"? (\w+)', line)[1]
        shown = run([PROJECT / 'bin' / 'osu-container', subcommand, '--help'])
        assert shown.returncode == 0, line
        for option in re.findall(r' (--?\w[\w-]*)', line):
            assert re.search(rf'(^|[ ,]){option}\b', shown.stdout, re.M), (line, option)


def test_nightly_without_a_reference_says_what_it_wants():
    for arguments in ([], ['--help']):
        done = run([PROJECT / 'regression/nightly', *arguments])
        assert done.returncode == 2 and 'usage: regression/nightly REFERENCE' in done.stderr


def test_nightly_names_why_nothing_could_be_run(installed_nothing):
    done = installed_nothing(PROJECT / 'regression/nightly', 'lumi-g-2025-03', '--module', 'osu-container/nonesuch')
    assert done.returncode == 1 and 'nothing could be run' in done.stdout and 'nonesuch' in done.stdout
    assert 'Compared with' not in done.stdout


@pytest.fixture
def installed_nothing(tmp_path):
    """Function (command) that runs it with folders of its own and no modules."""
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(tmp_path), 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(tmp_path / 'prefix'), 'OSU_CONTAINER_RESULTS': str(tmp_path / 'results')}
    return lambda *command: run(command, env=environment, timeout=300)


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.slurm
def test_nightly_is_silent_about_a_slower_reference_and_tells_of_a_faster_one(installed, tmp_path):
    """References a hundred times slower and faster than any machine; the run of the night is real."""
    environment = dict(installed, OSU_CONTAINER_RESULTS=str(tmp_path / 'results'), XDG_DATA_HOME=str(tmp_path / 'data'))
    for name, scale in (('slower', 1e-4), ('faster', 1e4)):
        made = results_data.make_run(tmp_path / name, approaches=('native',), cases=results_data.CASES, repeats=2,
                                     scale={'native': scale}, run=name)
        done = run([PROJECT / 'bin' / 'osu-container', 'reference', 'add', made, '--name', f'site-{name}'],
                   env=environment)
        assert done.returncode == 0, done.stderr
    options = ['--module', 'osu-native', '--module', 'osu-container/pure', '--repeats', '2', 'osu_latency']
    slower = run([PROJECT / 'regression/nightly', 'site-slower', *options], env=environment, timeout=600)
    assert 'Compared with site-slower' not in slower.stdout, slower.stdout
    faster = run([PROJECT / 'regression/nightly', 'site-faster', *options], env=environment, timeout=600)
    assert faster.returncode == 1 and 'Compared with site-faster' in faster.stdout, faster.stdout + faster.stderr
    assert 'worse' in faster.stdout.split('Compared with site-faster')[1]
    runs = [path for path in (tmp_path / 'results').iterdir() if (path / 'results.jsonl').exists()]
    assert len(runs) == 2 and all((path / 'compare-reference.txt').read_text() for path in runs)

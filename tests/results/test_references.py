"""Published figures, references that are added, what a selection means, and `osu-container reference`.

regression/nightly and the job of GitLab: what they want, and that they are silent while all is well.
"""

import hashlib
import json
import os
import re
import shutil
import signal

import pytest
import yaml

from osu_container import cli
from osu_container.core import outputs
from osu_container.results import references, run_files, select
from tests.helpers import example_runs as results_data
from tests.helpers.example_runs import CASES, RUN, make_run
from tests.helpers.machine import PROJECT, run

#: Published dataset -> (curves, points, sha256 of everything that was published in it, see fingerprint())
PUBLISHED = {
    'lumi-native-2026-03': (434, 9115, '72a882bd13f431d8'),
    'lumi-g-2025-03': (50, 1150, 'e05767213b558534'),
    'lumi-mpi4py-2025-07': (96, 2176, '420fdda1d44d5394'),
    'alps-gh200-2025': (9, 203, 'c0121f150d5cc9d8'),
    'piz-daint-sarus': (2, 45, '66d63cff8f2e213c'),
    'hpe-libfabric-swap': (1, 23, 'bbfdae4ec1ab6356'),
    'lumi-checks': (25, 31, '41a125a5049ae337'),
}
BANDWIDTH, LATENCY = CASES


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """Empty folders for the user's references, the site's and the runs: {name: Path}."""
    found = {'user': tmp_path / 'data' / 'osu-container' / 'references', 'results': tmp_path / 'results',
             'site': tmp_path / 'site', 'second': tmp_path / 'second'}
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    monkeypatch.setenv(select.VARIABLE, str(found['results']))
    monkeypatch.delenv(references.SITE_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.fixture
def site(places, monkeypatch):
    """The site's two folders of references, the first of which is not there yet."""
    places['second'].mkdir()
    monkeypatch.setenv(references.SITE_VARIABLE, f"{places['site']}:{places['second']}")
    return places['site'], places['second']


@pytest.fixture
def native(tmp_path):
    """A run with native and pure."""
    return make_run(tmp_path / 'native run', approaches=('native', 'pure'), repeats=3, scale={'pure': 0.1})


@pytest.fixture
def command(capsys):
    """Function that runs `osu-container reference ...` and returns (exit code, stdout, stderr)."""
    def call(*arguments):
        before = signal.getsignal(signal.SIGTERM)
        try:
            code = cli.main(['reference', *map(str, arguments)])
        except SystemExit as end:  # argparse
            code = end.code
        finally:
            signal.signal(signal.SIGTERM, before)
        return (code, *capsys.readouterr())
    return call


def fingerprint(dataset):
    """Return (curves, points, sha256) of a dataset: any changed name, case, size or digit gives another sum."""
    rows = sorted((one.name, one.case.benchmark, one.case.buffers, one.case.nodes, one.case.ranks, one.case.variant,
                   size, value) for one in dataset.series for size, found in one.values.items()
                  for value in found.values())
    text = '\n'.join(' '.join(map(str, row)) for row in rows)
    return len(dataset.series), len(rows), hashlib.sha256(text.encode()).hexdigest()[:16]


# Published figures

def test_every_published_dataset_is_counted_here():
    assert list(references.described()) == list(PUBLISHED) == [dataset.name for dataset in references.published()]
    assert {path.stem for path in references.DATA.glob('*.csv')} == set(PUBLISHED)


@pytest.mark.parametrize('name', PUBLISHED)
def test_every_published_point_is_there_with_its_digits(name):
    assert fingerprint(references.get(name)) == PUBLISHED[name]


@pytest.mark.parametrize('dataset', references.published(), ids=lambda dataset: dataset.name)
def test_published_datasets_say_where_they_come_from(dataset):
    assert dataset.kind == 'published' and 10 < len(dataset.title) <= 48  # fits into a line of `reference list`
    for key in ('source', 'url', 'licence', 'date', 'node_type', 'stack', 'evidence', 'programs'):
        assert isinstance(dataset.facts[key], str) and dataset.facts[key], key
    assert re.match(r'20\d\d-\d\d(-\d\d)?( to 20\d\d-\d\d)?$|not stated; .*derived', dataset.facts['date'])
    assert re.match(r'https://github\.com/[\w.-]+/[\w.-]+$', dataset.facts['url'])
    assert re.search(r'measured by the authors? of the source', dataset.facts['evidence'])
    assert dataset.facts['native'] is None or dataset.facts['native'] in dataset.names
    readme = (references.DATA / 'README.md').read_text()
    curves, points, _ = PUBLISHED[dataset.name]
    assert f'| {dataset.name}.csv | {curves} | {points} |' in readme


# Adding

def test_a_native_run_becomes_a_reference(native, places):
    before = (native / run_files.NAME).read_bytes()
    folder = references.add(native, 'mine')
    assert folder == places['user'] / 'mine' and sorted(os.listdir(folder)) == [outputs.MARK, *references.FILES]
    assert (native / run_files.NAME).read_bytes() == before
    dataset = references.get('mine')
    assert (dataset.name, dataset.kind, dataset.title) == ('mine', 'reference', 'native on workstation')
    measured = run_files.read(native).only('native')
    assert [(one.case, one.name, one.values) for one in dataset.series] == [
        (one.case, one.name, one.values) for one in measured.series]
    assert list(dataset.modules) == ['osu-native']


def test_an_added_reference_says_source_date_stack_and_node_type(native):
    references.add(native, 'mine')
    facts = references.get('mine').facts
    assert facts['source'] == f'run {RUN}, {native / run_files.NAME}' and facts['site'] == 'workstation'
    assert facts['date'] == '2026-11-21T13:12:44Z' and facts['native'] == 'native'
    assert facts['stack'] == 'MPICH 5.0.2 (host), libfabric 2.5.1 (host), provider tcp, OSU C programs'
    assert facts['node_type'] == 'AMD EPYC, 2 cores, Debian GNU/Linux 12 (bookworm)'
    assert facts['evidence'] == 'measured, repeats: 3'


def test_a_run_without_native_is_refused(tmp_path, places):
    run_ = make_run(tmp_path / 'r', approaches=('pure', 'hybrid'), repeats=1)
    with pytest.raises(references.ReferenceFailure) as caught:
        references.add(run_, 'mine')
    assert str(caught.value) == (f"{run_ / run_files.NAME} has no measurement of native, only of: pure, hybrid. "
                                 "Measure it, or choose another with --series")
    assert not places['user'].exists()


def test_nothing_is_replaced_without_force(native, tmp_path, places):
    folder = references.add(native, 'mine')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = make_run(tmp_path / 'other', repeats=1, seed=7)
    with pytest.raises(references.ReferenceFailure, match='is there already: use --force to replace it'):
        references.add(other, 'mine')
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    references.add(other, 'mine', force=True)
    assert references.get('mine').facts['source'] == f'run {RUN}, {other / run_files.NAME}'
    assert os.listdir(places['user']) == ['mine'], 'no leftovers'


def _full(*_):
    raise OSError(28, 'No space left on device')


def test_a_failed_write_leaves_nothing_behind(native, places, monkeypatch):
    folder = references.add(native, 'mine')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, 'fsync', _full)
        for name in ('mine', 'other'):
            with pytest.raises(outputs.OutputError, match=f'{name}: it cannot be written: No space left'):
                references.add(native, name, series='pure', force=True)
    assert os.listdir(places['user']) == ['mine']
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_interruption_between_the_old_and_the_new_keeps_the_old(native, places, monkeypatch):
    references.add(native, 'mine')
    rename, calls = os.rename, []

    def interrupted(source, target):
        calls.append(source)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, 'rename', interrupted)
        with pytest.raises(KeyboardInterrupt):
            references.add(native, 'mine', series='pure', force=True)
    assert os.listdir(places['user']) == ['mine'] and references.get('mine').names == ['native']


def test_the_sites_references_are_read_from_first_to_last(native, site, tmp_path):
    first, second = site
    references.add(native, 'both', system=True)
    assert os.listdir(first) == ['both']
    shutil.copytree(first / 'both', second / 'both')
    shutil.move(shutil.copytree(first / 'both', tmp_path / 'x'), second / 'far')
    about = json.loads((second / 'both' / references.NAME).read_text())
    (second / 'both' / references.NAME).write_text(json.dumps(dict(about, title='of the second folder')))
    assert references.names()[:2] == ['both', 'far']
    assert references.get('both').title == 'native on workstation'
    assert references.get('far').path == second / 'far' / run_files.NAME


# Removing

def test_only_the_users_references_are_removed(native, site, places):
    references.add(native, 'mine')
    references.add(native, 'ours', system=True)
    assert references.remove('mine') == places['user'] / 'mine' and os.listdir(places['user']) == []
    with pytest.raises(references.ReferenceFailure, match='ours is a reference of the site, in .*site/ours'):
        references.remove('ours')
    with pytest.raises(references.ReferenceFailure, match='lumi-checks is a published reference.*it stays'):
        references.remove('lumi-checks')
    with pytest.raises(references.ReferenceNotFound, match='there is no reference mine; yours are: none'):
        references.remove('mine')
    assert references.get('ours').names == ['native']


# References that are damaged

def test_a_damaged_reference_does_not_hide_the_others(native, places):
    references.add(native, 'good')
    references.add(native, 'worse')
    (places['user'] / 'worse' / run_files.NAME).write_text('{"kind": "run"')
    datasets, problems = references.added()
    assert [dataset.name for dataset in datasets] == ['good']
    assert len(problems) == 1 and 'reference worse cannot be used' in problems[0]
    with pytest.raises(references.ReferenceFailure, match='reference worse cannot be used: .*no complete line'):
        references.get('worse')


@pytest.mark.parametrize('text, message', [
    ('{', 'cannot be read'), ('[]', 'has version list of its format, wanted 1'),
    ('{"format": "osu-container reference", "version": 2}', 'has version 2 of its format, wanted 1'),
    ('{"format": "osu-container reference", "version": 1, "name": "x"}', 'does not say title, series, site, source')])
def test_a_damaged_description_is_refused(text, message, native):
    (references.add(native, 'mine') / references.NAME).write_text(text)
    with pytest.raises(references.ReferenceFailure, match=message):
        references.get('mine')


# Selections

@pytest.fixture
def runs(places):
    """Three runs in the results folder: old and new have native and pure, new has hybrid too; broken is between."""
    results = places['results']
    old = make_run(results / '20261120T080000Z', approaches=('native', 'pure'), repeats=1, run='20261120T080000Z')
    broken = make_run(results / '20261121T070000Z', approaches=('native', 'hybrid'), repeats=1)
    new = make_run(results / '20261121T080000Z', approaches=('native', 'opensource'), repeats=1,
                   run='20261121T080000Z', failures=[('opensource', case, 'no cxi device') for case in CASES])
    for folder, started in ((old, '2026-11-20T08:00:00Z'), (broken, '2026-11-21T07:00:00Z'),
                            (new, '2026-11-21T08:00:00Z')):
        text = (folder / run_files.NAME).read_text()
        (folder / run_files.NAME).write_text(text.replace('2026-11-21T13:12:44Z', started))
    with open(broken / run_files.NAME, 'a') as handle:
        handle.write('not JSON\n')
    (results / 'nothing').mkdir()
    return old, broken, new


#: (what is typed, what the message must say)
NOT_SELECTED = [
    ('nonsense', 'nonsense is neither a run, nor a module, nor a reference'),
    ('nonsense', 'Runs in {results}: 20261120T080000Z, 20261121T070000Z, 20261121T080000Z.'),
    ('nonsense', 'Modules in these runs: osu-native, osu-container/pure, osu-container/opensource.'),
    ('nonsense', 'References: lumi-native-2026-03, lumi-g-2025-03,'),
    ('osu-container/bind', 'osu-container/bind is neither a run'),
    ('osu-container/opensource', 'no run has figures of this module; the newest one failed: no cxi device'),
    ('latest:opensource', 'no figures of opensource there (opensource: no cxi device); there are those of: native'),
    ('latest:', "wanted a run, a module or a reference, and a name of a series behind a colon"),
    (':native', "wanted a run, a module or a reference"),
    ('', "wanted a run, a module or a reference"),
    ('lumi-g-2025-03:openmpi', 'no figures of openmpi there; there are those of: native, pure, bind, hybrid, opens'),
    ('{old}:hybrid', 'no figures of hybrid there; there are those of: native, pure'),
]


@pytest.mark.parametrize('typed, message', NOT_SELECTED)
def test_what_means_nothing_is_refused_with_what_there_is(typed, message, runs, places):
    with pytest.raises(select.SelectError) as caught:
        select.resolve(typed.format(old=runs[0]))
    assert message.format(results=places['results']) in str(caught.value)


def test_the_results_folder_follows_the_variable_then_the_clone_then_the_users(monkeypatch, tmp_path):
    assert select.results_folder() == tmp_path / 'results'
    monkeypatch.delenv(select.VARIABLE)
    monkeypatch.setattr(select, 'STATE', tmp_path / '.workstation')
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    assert select.results_folder() == tmp_path / 'data' / 'osu-container' / 'results'
    monkeypatch.delenv('XDG_DATA_HOME')
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    assert select.results_folder() == tmp_path / 'home' / '.local' / 'share' / 'osu-container' / 'results'
    (tmp_path / '.workstation').mkdir()
    assert select.results_folder() == tmp_path / '.workstation' / 'results'


# The command

def test_list_shows_every_reference_in_100_columns(native, site, command):
    references.add(native, 'mine')
    references.add(native, 'ours', system=True)
    code, out, err = command('list')
    assert code == 0 and err == ''
    lines = out.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.split()[:2] for line in lines[1:3]] == [['mine', 'yours'], ['ours', 'site']]
    for name, (_, points, _) in PUBLISHED.items():
        line, = [line for line in lines if line.startswith(f'{name} ')]
        assert re.search(rf'\bpublished\b.* {points}  \S', line)


def test_add_and_remove_by_command(runs, command, places):
    code, out, _ = command('add', 'latest', '--name', 'mine')
    assert code == 0 and 'mine: native of run 20261121T080000Z, 2 cases, 47 values' in out
    assert str(places['user'] / 'mine') in out
    code, _, err = command('add', '20261120T080000Z', '--name', 'mine')
    assert code == 1 and 'use --force' in err
    code, out, _ = command('add', '20261120T080000Z', '--name', 'mine', '--series', 'pure', '--force')
    assert code == 0 and references.get('mine').names == ['pure']
    code, out, _ = command('remove', 'mine')
    assert code == 0 and 'removed' in out and 'mine' not in references.names()
    code, _, err = command('remove', 'mine')
    assert code == 1 and 'there is no reference mine' in err


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


def test_nightly_names_why_nothing_could_be_run(tmp_path):
    """With folders of its own and no modules."""
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(tmp_path), 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(tmp_path / 'prefix'), 'OSU_CONTAINER_RESULTS': str(tmp_path / 'results')}
    done = run([PROJECT / 'regression/nightly', 'lumi-g-2025-03', '--module', 'osu-container/nonesuch'],
               env=environment, timeout=300)
    assert done.returncode == 1 and 'nothing could be run' in done.stdout and 'nonesuch' in done.stdout
    assert 'Compared with' not in done.stdout


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.slurm
def test_nightly_is_silent_about_a_slower_reference_and_tells_of_a_faster_one(shell, tmp_path):
    """References a hundred times slower and faster than any machine; the run of the night is real."""
    folders = {'OSU_CONTAINER_RESULTS': str(tmp_path / 'results'), 'XDG_DATA_HOME': str(tmp_path / 'data')}
    for name, scale in (('slower', 1e-4), ('faster', 1e4)):
        made = results_data.make_run(tmp_path / name, approaches=('native',), cases=results_data.CASES, repeats=2,
                                     scale={'native': scale}, run=name)
        done = shell(f'{PROJECT}/bin/osu-container reference add {made} --name site-{name}', **folders)
        assert done.returncode == 0, done.stderr
    night = ' --module osu-native --module osu-container/pure --repeats 2 osu_latency'
    slower = shell(f'{PROJECT}/regression/nightly site-slower{night}', timeout=600, **folders)
    assert 'Compared with site-slower' not in slower.stdout, slower.stdout
    faster = shell(f'{PROJECT}/regression/nightly site-faster{night}', timeout=600, **folders)
    assert faster.returncode == 1 and 'Compared with site-faster' in faster.stdout, faster.stdout + faster.stderr
    assert 'worse' in faster.stdout.split('Compared with site-faster')[1]
    runs = [path for path in (tmp_path / 'results').iterdir() if (path / 'results.jsonl').exists()]
    assert len(runs) == 2 and all((path / 'compare-reference.txt').read_text() for path in runs)

"""Published figures, references that are added, what a selection means, and `osu-container reference`."""
import csv
import hashlib
import io
import json
import os
import re
import shutil
import signal
import sys
import time
from decimal import Decimal

import pytest

from osu_container import cli
from osu_container.core.data.sites import SITES
from osu_container.results import files, model, references, select
from osu_container.results.example_runs import CASES, MORE_CASES, RUN, make_run
from osu_container.results.model import Case
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


def test_the_transcribed_curves_hold_12712_points():
    assert sum(points for name, (_, points, _) in PUBLISHED.items() if name != 'lumi-checks') == 12712


#: Values that were read in the documents by eye: (dataset, series, case, size, value)
READ = [
    ('lumi-g-2025-03', 'pure', Case('osu_bw', 'H H', 2, 2), 1, 0.19),
    ('alps-gh200-2025', 'openmpi-5-cxi', Case('osu_bw', 'H H', 2, 2), 4194304, 24005.74),
    ('alps-gh200-2025', 'openmpi-5-cxi', Case('osu_alltoall', 'D D', 2, 8), 1048576, 482.51),
    ('piz-daint-sarus', 'sarus-mpich-3.1.4', Case('osu_latency', 'H H', 2, 2), 0, 1.11),
    ('hpe-libfabric-swap', 'libfabric-swap', Case('osu_get_bw', 'H H', 2, 2), 8192, 7563.77),
    ('lumi-mpi4py-2025-07', 'lumi-g-cupy-extmpich-1.22.0', Case('osu_bw', 'H H', 1, 2, 'numpy'), 4194304, 9286.42),
    ('lumi-native-2026-03', 'openmpi-5-ob1', Case('osu_bibw', 'D D', 1, 2, 'multiple buffers'), 4194304, 1413.20),
    ('lumi-native-2026-03', 'cray-mpich-9.0.1-hardware', Case('osu_allgather', 'H H', 16, 128), 1, 27.54),
]


@pytest.mark.parametrize('name, series, case, size, value', READ)
def test_values_are_those_of_the_documents(name, series, case, size, value):
    one, = references.get(name).of(case, series)
    assert one.values[size] == {1: value}


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


@pytest.mark.parametrize('dataset', references.published(), ids=lambda dataset: dataset.name)
def test_published_series_are_cases_of_the_model(dataset):
    keys = [(one.case, one.name) for one in dataset.series]
    assert len(keys) == len(set(keys)), 'a name is unique for a case'
    for one in dataset.series:
        assert one.case.buffers in model.BUFFERS and one.case.nodes >= 1 and one.case.ranks >= one.case.nodes
        assert one.programs == dataset.facts['programs']
        assert one.facts['about'], f'{one.name} is described nowhere'
        assert one.values and all(set(found) == {1} and found[1] > 0 for found in one.values.values())


@pytest.mark.parametrize('dataset', references.published(), ids=lambda dataset: dataset.name)
def test_names_of_published_series_can_be_typed(dataset):
    for name in dataset.names:
        assert re.fullmatch(r'[a-z0-9][a-z0-9.-]*', name)


def test_variants_keep_apart_what_does_not_compare():
    numpy = {one.case for one in references.get('lumi-mpi4py-2025-07').series}
    others = {one.case for dataset in references.published() if dataset.name != 'lumi-mpi4py-2025-07'
              for one in dataset.series}
    assert not numpy & others, "OSU's Python programs never compare with the C programs"
    assert {case.variant for case in numpy} == {'numpy', 'cupy'}
    assert all((case.variant == 'cupy') == (case.buffers == 'D D') for case in numpy)


def test_the_published_approaches_have_the_same_cases():
    dataset = references.get('lumi-g-2025-03')
    assert dataset.names == ['native', 'pure', 'bind', 'hybrid', 'opensource']
    assert all({one.case for one in dataset.of(name=name)} == set(dataset.cases) for name in dataset.names)
    assert {case.placement for case in dataset.cases} == {'two nodes'}


def test_ob1_is_what_has_no_receive_matching():
    dataset = references.get('lumi-native-2026-03')
    without = [one for one in dataset.series if 'rx_match_mode' not in one.facts]
    assert {one.name for one in without} == {'openmpi-5-ob1'} and sum(len(one.sizes) for one in without) == 214
    assert {one.case.nodes for one in without} == {1}
    assert any('214 points' in note for note in dataset.facts['notes'])


def test_checks_that_round_a_curve_agree_with_it():
    curves = references.get('lumi-native-2026-03')
    rounded = [one for one in references.get('lumi-checks').series
               if 'curve in lumi-native-2026-03' in one.facts['note']]
    assert len(rounded) == 13
    for one in rounded:
        job = one.facts['source'].split()[-1]
        for size, found in one.values.items():
            given = Decimal(str(found[1])).normalize()
            digits = len(given.as_tuple().digits)
            exact = [curve.values[size][1] for curve in curves.of(one.case) if curve.facts['job'] == job]
            assert float(given) in [float(f'{value:.{digits}g}') for value in exact], (one.case.title, size, exact)


def test_every_check_names_its_source_and_what_it_is():
    for one in references.get('lumi-checks').series:
        assert one.facts['source'] and one.facts['note']
        assert one.facts['kind'] in ('reference', 'measured', 'threshold', 'sign of trouble')


def test_loading_all_is_quick_and_importing_reads_nothing():
    program = ("import builtins, time; import osu_container.results.references as r; from pathlib import Path\n"
               "assert not r.described.cache_info().currsize and not r._published.cache_info().currsize\n"
               "start = time.perf_counter(); n = len(r.published()); print(n, time.perf_counter() - start)")
    done = run([sys.executable, '-c', program], cwd=PROJECT)
    assert done.returncode == 0, done.stderr
    count, seconds = done.stdout.split()
    assert int(count) == len(PUBLISHED) and float(seconds) < 1


def test_published_datasets_are_read_once():
    assert references.get('lumi-g-2025-03') is references.get('lumi-g-2025-03')


# Which references suit a site

@pytest.mark.parametrize('name', SITES)
def test_a_site_gets_the_references_of_its_node_type(name):
    found = {dataset.name: dataset for dataset in references.for_site(name)}
    if re.match(r'lumi-\d', name):
        assert list(found) == ['lumi-native-2026-03', 'lumi-g-2025-03', 'lumi-mpi4py-2025-07', 'lumi-checks']
        others = 'lumi-c'
    elif name.startswith('lumi-c-'):
        assert list(found) == ['lumi-mpi4py-2025-07', 'lumi-checks']
        others = 'lumi-g'
    elif name == 'alps':
        assert list(found) == ['alps-gh200-2025']
        return
    else:
        assert found == {}
        return
    for dataset in found.values():
        assert dataset.series and not [one for one in dataset.series if one.facts.get('node_type') == others]
    whole = references.get('lumi-mpi4py-2025-07')
    assert 0 < len(found['lumi-mpi4py-2025-07'].series) < len(whole.series) == 96, 'the published one stays whole'


def test_added_references_of_the_site_come_first(native):
    references.add(native, 'mine')
    assert [dataset.name for dataset in references.for_site('workstation')] == ['mine']
    assert 'mine' not in [dataset.name for dataset in references.for_site('lumi-25.03')]


# Adding

def test_a_native_run_becomes_a_reference(native, places):
    before = (native / files.NAME).read_bytes()
    folder = references.add(native, 'mine')
    assert folder == places['user'] / 'mine' and sorted(os.listdir(folder)) == [references.NAME, files.NAME]
    assert (native / files.NAME).read_bytes() == before
    dataset = references.get('mine')
    assert (dataset.name, dataset.kind, dataset.title) == ('mine', 'reference', 'native on workstation')
    measured = files.read(native).only('native')
    assert [(one.case, one.name, one.values) for one in dataset.series] == [
        (one.case, one.name, one.values) for one in measured.series]
    assert list(dataset.modules) == ['osu-native']


def test_an_added_reference_says_source_date_stack_and_node_type(native):
    references.add(native, 'mine')
    facts = references.get('mine').facts
    assert facts['source'] == f'run {RUN}, {native / files.NAME}' and facts['site'] == 'workstation'
    assert facts['date'] == '2026-11-21T13:12:44Z' and facts['native'] == 'native'
    assert facts['stack'] == 'MPICH 5.0.2 (host), libfabric 2.5.1 (host), provider tcp, OSU C programs'
    assert facts['node_type'] == 'AMD EPYC, 2 cores, Debian GNU/Linux 12 (bookworm)'
    assert facts['evidence'] == 'measured, repeats: 3'


def test_any_approach_can_be_kept(native):
    references.add(native, 'slow', series='pure')
    dataset = references.get('slow')
    assert dataset.names == ['pure'] and dataset.facts['native'] == 'pure'
    assert 'MPICH 4.2.3 (image)' in dataset.facts['stack']


def test_failures_and_other_approaches_stay_behind(tmp_path):
    run_ = make_run(tmp_path / 'r', cases=MORE_CASES, repeats=1, failures=[('native', LATENCY, 'broken')])
    references.add(run_, 'mine')
    dataset = references.get('mine')
    assert dataset.names == ['native'] and dataset.failures == [] and LATENCY not in dataset.cases
    assert len(dataset.cases) == len(MORE_CASES) - 1


def test_a_run_without_native_is_refused(tmp_path, places):
    run_ = make_run(tmp_path / 'r', approaches=('pure', 'hybrid'), repeats=1)
    with pytest.raises(references.ReferenceFailure) as caught:
        references.add(run_, 'mine')
    assert str(caught.value) == (f"{run_ / files.NAME} has no measurement of native, only of: pure, hybrid. Measure "
                                 "it, or choose another with --series")
    assert not places['user'].exists()


def test_a_run_whose_native_failed_is_refused(tmp_path):
    run_ = make_run(tmp_path / 'r', approaches=('native',), repeats=1,
                    failures=[('native', case, 'no mpicc') for case in CASES])
    with pytest.raises(references.ReferenceFailure, match='has no measurement of native, only of: nothing'):
        references.add(run_, 'mine')


def test_an_unfinished_run_is_kept_and_says_so(tmp_path):
    run_ = make_run(tmp_path / 'r', repeats=1, ended=False)
    references.add(run_, 'mine')
    dataset = references.get('mine')
    assert 'has not ended' in dataset.facts['incomplete'][0] and dataset.problems == []


@pytest.mark.parametrize('name', ['', '.', '..', '../x', 'a/b', '-x', '.hidden', 'a b', 'a:b', 'µ'])
def test_names_that_cannot_be_typed_are_refused(name, native):
    with pytest.raises(references.ReferenceFailure, match='is no name for a reference: wanted letters, digits'):
        references.add(native, name)


@pytest.mark.parametrize('name', PUBLISHED)
def test_published_names_are_taken(name, native):
    for force in (False, True):
        with pytest.raises(references.ReferenceFailure, match=f'{name} is a published reference, which stays'):
            references.add(native, name, force=force)


@pytest.mark.parametrize('name', references.RESERVED)
def test_words_of_selections_are_refused(name, native):
    with pytest.raises(references.ReferenceFailure, match=f'{name} means something else where a reference is typed'):
        references.add(native, name)


def test_nothing_is_replaced_without_force(native, tmp_path, places):
    folder = references.add(native, 'mine')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = make_run(tmp_path / 'other', repeats=1, seed=7)
    with pytest.raises(references.ReferenceFailure, match='is there already: use --force to replace it'):
        references.add(other, 'mine')
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    references.add(other, 'mine', force=True)
    assert references.get('mine').facts['source'] == f'run {RUN}, {other / files.NAME}'
    assert os.listdir(places['user']) == ['mine'], 'no leftovers'


def test_a_broken_run_leaves_the_old_reference_as_it_is(native, tmp_path, places):
    references.add(native, 'mine')
    other = make_run(tmp_path / 'other', repeats=1)
    text = (other / files.NAME).read_text()
    (other / files.NAME).write_text(text.replace('"4194304": ', '"4194304": -', 1))
    with pytest.raises(files.ResultsError, match='wanted a number above 0'):
        references.add(other, 'mine', force=True)
    assert references.get('mine').facts['source'] == f'run {RUN}, {native / files.NAME}'
    assert os.listdir(places['user']) == ['mine']


def _full(*_):
    raise OSError(28, 'No space left on device')


def test_a_failed_write_leaves_nothing_behind(native, places, monkeypatch):
    folder = references.add(native, 'mine')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, 'fsync', _full)
        for name in ('mine', 'other'):
            with pytest.raises(references.ReferenceFailure, match=f'{name} cannot be written: No space left'):
                references.add(native, name, series='pure', force=True)
    assert os.listdir(places['user']) == ['mine']
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_interruption_between_the_old_and_the_new_keeps_the_old(native, places, monkeypatch):
    references.add(native, 'mine')
    replace = os.replace

    def interrupted(source, target):
        if str(source).endswith('.new'):
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, 'replace', interrupted)
        patch.setattr(references, 'exchange', lambda one, other: False)  # as on a disk that cannot
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
    assert references.get('far').path == second / 'far' / files.NAME


def test_the_users_reference_stands_before_the_sites(native, site, places):
    references.add(native, 'both', system=True)
    references.add(native, 'both', series='pure')
    assert references.get('both').names == ['pure'] and references.get('both').path.parent.parent == places['user']
    assert [dataset.name for dataset in references.for_site('workstation')] == ['both']


def test_system_without_a_site_folder_is_refused(native):
    with pytest.raises(references.ReferenceFailure, match=r'\$OSU_CONTAINER_REFERENCES is not set'):
        references.add(native, 'mine', system=True)


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
    (places['user'] / 'worse' / files.NAME).write_text('{"kind": "run"')
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


def test_a_missing_reference_names_those_that_there_are(native):
    references.add(native, 'mine')
    with pytest.raises(references.ReferenceNotFound) as caught:
        references.get('lumi')
    assert str(caught.value) == f"there is no reference lumi; there are: mine, {', '.join(PUBLISHED)}"


@pytest.mark.parametrize('value, below', [('/data', '/data'), ('relative', '~/.local/share'), ('', '~/.local/share')])
def test_the_users_folder_follows_the_xdg_specification(value, below, monkeypatch):
    monkeypatch.setenv('XDG_DATA_HOME', value)
    assert str(references.user_folder()) == os.path.expanduser(f'{below}/osu-container/references')


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
        text = (folder / files.NAME).read_text()
        (folder / files.NAME).write_text(text.replace('2026-11-21T13:12:44Z', started))
    with open(broken / files.NAME, 'a') as handle:
        handle.write('not JSON\n')
    (results / 'nothing').mkdir()
    return old, broken, new


def test_runs_are_sorted_by_their_start(runs, places):
    old, broken, new = runs
    assert select.runs() == [old, broken, new]
    later = places['results'] / 'a name of mine'
    shutil.copytree(old, later)
    text = (later / files.NAME).read_text()
    (later / files.NAME).write_text(text.replace('2026-11-20T08', '2026-11-22T08'))
    assert select.runs() == [old, broken, new, later]


#: (what is typed, name of the dataset, names of its series); {old}, {new}: folders of these runs
SELECTIONS = [
    ('{old}', '20261120T080000Z', ['native', 'pure']),
    ('{old}/results.jsonl', '20261120T080000Z', ['native', 'pure']),
    ('{old}:pure', '20261120T080000Z', ['pure']),
    ('{old}:osu-container/pure', '20261120T080000Z', ['pure']),
    ('20261120T080000Z', '20261120T080000Z', ['native', 'pure']),
    ('20261120T080000Z:native', '20261120T080000Z', ['native']),
    ('latest', '20261121T080000Z', ['native']),
    ('latest:native', '20261121T080000Z', ['native']),
    ('latest:osu-native', '20261121T080000Z', ['native']),
    ('osu-native', '20261121T080000Z', ['native']),
    ('osu-container/pure', '20261120T080000Z', ['pure']),
    ('lumi-g-2025-03', 'lumi-g-2025-03', ['native', 'pure', 'bind', 'hybrid', 'opensource']),
    ('lumi-g-2025-03:opensource', 'lumi-g-2025-03', ['opensource']),
    ('lumi-native-2026-03:cray-mpich-9.0.1-*', 'lumi-native-2026-03',
     ['cray-mpich-9.0.1-hardware', 'cray-mpich-9.0.1-hybrid', 'cray-mpich-9.0.1-software']),
]


@pytest.mark.parametrize('typed, name, series', SELECTIONS)
def test_a_selection_means_what_the_head_of_select_says(typed, name, series, runs):
    dataset = select.resolve(typed.format(old=runs[0], new=runs[2]))
    assert (dataset.name, dataset.names) == (name, series)
    assert all(module['approach'] in series + ['opensource'] for module in dataset.modules.values())


def test_a_run_that_cannot_be_read_is_passed_over_and_named(runs):
    dataset = select.resolve('osu-container/pure')
    assert any('passed over' in problem and str(runs[1]) in problem for problem in dataset.problems)


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


def test_without_runs_latest_says_how_to_get_one(places):
    with pytest.raises(select.SelectError, match=f"no run in {places['results']}. Measure first: osu-container bench"):
        select.resolve('latest')


def test_a_damaged_run_is_refused_where_it_is_named(runs):
    with pytest.raises(files.ResultsError, match='is no complete JSON'):
        select.resolve(str(runs[1]))


def test_a_path_may_have_a_colon(native, tmp_path):
    native.rename(tmp_path / 'a:b')
    assert select.resolve('a:b').names == ['native', 'pure']
    assert select.resolve('a:b:pure').names == ['pure']


def test_an_added_reference_can_be_selected(native):
    references.add(native, 'mine')
    assert select.resolve('mine').kind == select.resolve('mine:native').kind == 'reference'


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


def test_list_warns_of_a_damaged_reference(native, command):
    (references.add(native, 'mine') / references.NAME).write_text('{')
    code, out, err = command('list')
    assert code == 0 and 'lumi-checks' in out and 'warning' in err and 'mine/reference.json cannot be read' in err


@pytest.mark.parametrize('name', PUBLISHED)
def test_show_prints_facts_notes_series_and_every_case(name, command):
    code, out, err = command('show', name)
    assert code == 0 and err == '' and max(map(len, out.splitlines())) <= 100
    dataset, flat = references.get(name), ' '.join(out.split())
    for key in ('source', 'url', 'licence', 'date', 'node_type', 'stack', 'evidence'):
        assert ' '.join(dataset.facts[key].split()) in flat
    for note in dataset.facts['notes']:
        assert ' '.join(note.split()) in flat
    for case in dataset.cases:
        assert re.search(rf'^{re.escape(case.title)}  ', out, re.M)
    assert all(f' {series} ' in flat for series in dataset.names)


def test_show_of_one_series_prints_its_first_value_and_its_peak(command):
    out = command('show', 'lumi-g-2025-03:native')[1]
    one, = references.get('lumi-g-2025-03').of(Case('osu_bw', 'D D', 2, 2), 'native')
    first, peak = one.median(1), max(one.medians().values())
    assert re.search(rf'^osu_bw D D, two nodes +1  1 B\.\.4 MiB +{first:.2f} +{peak:.0f}  MB/s$', out, re.M)
    one, = references.get('lumi-g-2025-03').of(Case('osu_latency', 'H H', 2, 2), 'native')
    assert re.search(rf'^osu_latency H H, two nodes .* {one.median(1):.2f} +{one.median(4194304):.0f}  us$', out, re.M)
    assert 'opensource' not in out.partition('\n\n')[2]


@pytest.mark.parametrize('name', PUBLISHED)
def test_show_csv_prints_every_point(name, command):
    code, out, _ = command('show', name, '--csv')
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and len(rows) == PUBLISHED[name][1]
    dataset = references.get(name)
    for row in rows[::97]:
        one, = dataset.of(Case(row['benchmark'], row['buffers'], int(row['nodes']), int(row['ranks']), row['variant']),
                          row['series'])
        assert one.values[int(row['bytes'])][int(row['repeat'])] == float(row['value'])
        assert row['unit'] == one.case.unit and row['reference'] == name


@pytest.mark.parametrize('name', ['nothing', 'latest', 'osu-native', 'nothing:native'])
def test_show_refuses_what_is_no_reference(name, runs, command):
    code, out, err = command('show', name)
    assert code == 1 and out == '' and 'there is no reference' in err and 'Traceback' not in err


def test_add_show_and_remove_by_command(runs, command, places):
    code, out, _ = command('add', 'latest', '--name', 'mine')
    assert code == 0 and 'mine: native of run 20261121T080000Z, 2 cases, 47 values' in out
    assert str(places['user'] / 'mine') in out
    code, out, _ = command('show', 'mine')
    assert code == 0 and 'MPICH 5.0.2 (host)' in out and 'osu_latency H H, two nodes' in out
    assert 'reference' in out and 'workstation' in out
    code, _, err = command('add', '20261120T080000Z', '--name', 'mine')
    assert code == 1 and 'use --force' in err
    code, out, _ = command('add', '20261120T080000Z', '--name', 'mine', '--series', 'pure', '--force')
    assert code == 0 and references.get('mine').names == ['pure']
    code, out, _ = command('remove', 'mine')
    assert code == 0 and 'removed' in out and 'mine' not in references.names()
    code, _, err = command('remove', 'mine')
    assert code == 1 and 'there is no reference mine' in err


def test_add_warns_of_an_unfinished_run(places, command):
    make_run(places['results'] / 'one', repeats=1, ended=False)
    code, _, err = command('add', 'one', '--name', 'mine')
    assert code == 0 and 'warning' in err and 'has not ended' in err
    assert 'has not ended' in ' '.join(command('show', 'mine')[1].split())


def test_the_installed_command_lists_references_quickly(places):
    start = time.perf_counter()
    done = run([PROJECT / 'bin' / 'osu-container', 'reference', 'list'])
    assert done.returncode == 0 and 'lumi-native-2026-03' in done.stdout and done.stderr == ''
    assert time.perf_counter() - start < 5

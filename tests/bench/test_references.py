"""Published figures, and what a selection means."""

import json
import re

import pytest

from osu_container import cli
from osu_container.bench.results import references, run_files, select
from tests.helpers.example_runs import CASES, make_run


@pytest.fixture(autouse=True)
def results(tmp_path, monkeypatch):
    """The folder (Path) of runs, which does not exist yet."""
    monkeypatch.setenv(select.RESULTS_VARIABLE, str(tmp_path / 'results'))
    monkeypatch.chdir(tmp_path)
    return tmp_path / 'results'


def test_published_points_are_complete_and_have_a_source(capsys):
    assert cli.main(['reference', 'list', '--json']) == 0
    points = {one['name']: one['points'] for one in json.loads(capsys.readouterr().out)}
    readme = (references.DATA / 'README.md').read_text()
    assert set(re.findall(r'^\| (\S+)\.csv \|', readme, re.M)) == set(points)
    for dataset in references.list_published_datasets():
        found = sum(len(values) for one in dataset.series for values in one.values.values())
        assert found == points[dataset.name]
        assert f'| {dataset.name}.csv | {len(dataset.series)} | {found} |' in readme
        facts = dataset.facts
        assert all(
            facts[key]
            for key in ('source', 'url', 'licence', 'date', 'node_type', 'stack', 'evidence')
        )
        assert facts['native'] is None or facts['native'] in dataset.names


# ---- selections


@pytest.fixture
def runs(results):
    """
    Three runs: the newest has no results of opensource, the one before cannot be read, the
    oldest has pure.
    """
    old = make_run(results / 'old', approaches=('native', 'pure'), repeats=1, run='old')
    broken = make_run(results / 'broken', approaches=('native', 'hybrid'), repeats=1)
    new = make_run(
        results / 'new',
        approaches=('native', 'opensource'),
        repeats=1,
        run='new',
        failures=[('opensource', case, 'no cxi device') for case in CASES],
    )
    for folder, day in ((old, '20'), (new, '22')):
        text = (folder / run_files.RESULTS_FILE).read_text()
        (folder / run_files.RESULTS_FILE).write_text(
            text.replace('2026-11-21T13:12:44Z', f'2026-11-{day}T08:00:00Z')
        )
    with open(broken / run_files.RESULTS_FILE, 'a') as handle:
        handle.write('not JSON\n')
    return old, broken, new


def test_latest_is_the_newest_run_with_figures(runs):
    assert select.resolve_dataset('latest').name == 'new'
    old = select.resolve_dataset('latest:pure')
    assert (old.name, old.names, len(old.problems)) == ('old', ['pure'], 2)
    path = runs[2] / run_files.RESULTS_FILE
    path.write_text(re.sub(r'2026-11-\d\dT', '2999-01-01T', path.read_text()))
    assert select.resolve_dataset('latest').name == 'old', 'a clock was wrong'
    assert select.resolve_dataset('new').name == 'new'


def test_a_run_is_selected_by_path_name_and_pattern(runs, tmp_path):
    for text in ('old:n*', f'{runs[0]}:native', f'{runs[0] / run_files.RESULTS_FILE}:native'):
        assert select.resolve_dataset(text).names == ['native']
    elsewhere = make_run(tmp_path / 'a:b', repeats=1, run='a:b')
    select.register_run(elsewhere)
    select.register_run(elsewhere)
    assert (
        select.resolve_dataset(str(elsewhere)).names
        == select.resolve_dataset('a:b').names
        == ['native', 'pure', 'hybrid']
    )


@pytest.mark.parametrize(
    'typed, named',
    [
        ('nonsense', ['broken', 'new', 'lumi-g-2025-03']),
        ('latest:opensource', ['no cxi device']),
        ('latest:', []),
        (':native', []),
        ('', []),
        ('lumi-g-2025-03:openmpi', ['native', 'pure', 'bind']),
        ('old:hybrid', ['native, pure']),
    ],
)
def test_unknown_run_name_is_refused_with_existing_names(typed, named, runs):
    with pytest.raises(select.SelectError) as caught:
        select.resolve_dataset(typed)
    assert typed in str(caught.value) and all(name in str(caught.value) for name in named)


def test_variable_then_clone_then_user_sets_results_folder(monkeypatch, tmp_path):
    monkeypatch.delenv(select.RESULTS_VARIABLE)
    monkeypatch.setattr(select, 'STATE', tmp_path / '.workstation')
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    assert select.resolve_results_folder() == tmp_path / 'data' / 'osu-container' / 'results'
    (tmp_path / '.workstation').mkdir()
    assert select.resolve_results_folder() == tmp_path / '.workstation' / 'results'

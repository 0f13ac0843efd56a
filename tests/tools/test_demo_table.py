"""The table that `make demo` prints."""

import re

import pytest

from osu_container.bench.results import run_files
from osu_container.bench.results.model import Failure
from tests.helpers.example_runs import CASES, make_run
from tools import demo_table
from tools.demo_table import MissingFiguresError


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of three approaches with nothing wrong, on a terminal with room for the table."""
    monkeypatch.setenv('COLUMNS', '100')
    return run_files.read_results(
        make_run(tmp_path / 'run', cases=CASES[1:], scale={'pure': 0.8}, repeats=3, noise=0)
    )


def rows(run):
    lines = demo_table.render_demo_table(run).split('\n\n')[1].splitlines()
    return [line.split() for line in lines[1:]]


def test_a_row_has_loaded_libraries_and_speeds(run):
    native, pure, hybrid = rows(run)
    assert native[1:5] == ['5.0.2', 'host', '2.5.1', 'host']
    assert hybrid[1:5] == ['4.2.3', 'image', '2.5.1', 'host']
    assert hybrid[5:] == native[5:] and float(native[5]) == pytest.approx(2.2, abs=0.05)
    assert float(pure[6]) == pytest.approx(0.8 * float(native[6]), rel=0.01)


def test_a_speed_is_the_best_of_the_repeats(run):
    before = rows(run)
    for series in run.series:
        for size in demo_table.SIZES:
            series.values[size][2] *= 1000
    assert rows(run) == before


def test_unsteady_speeds_are_not_shown(run):
    for values in run.select_series(name='hybrid')[0].values.values():
        values.update({repeat: 2 * value for repeat, value in values.items()})
    assert [len(row) for row in rows(run)] == [5, 5, 5]
    assert 'make demo' in demo_table.render_demo_table(run)


def test_a_run_that_lacks_a_figure_has_no_table(run):
    del run.select_series(name='hybrid')[0].values[65536]
    run.failures.append(Failure(CASES[0], 'pure', 1, 'killed after 60 s'))
    run.modules['osu-container/pure']['problem'] = 'exit code 1'
    with pytest.raises(MissingFiguresError) as caught:
        demo_table.render_demo_table(run)
    for part in (
        'hybrid.*osu_latency.*65536',
        'pure osu_bw H H.*killed after 60 s',
        'osu-container/pure.*exit code 1',
    ):
        assert re.search(part, str(caught.value))

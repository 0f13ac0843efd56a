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
        make_run(tmp_path / 'run', scale={'pure': 0.5}, repeats=3, noise=0)
    )


def rows(run):
    return [
        line.split()
        for line in demo_table.render_demo_table(run).splitlines()[1 : 1 + len(run.names)]
    ]


def test_a_row_has_figures_ratios_and_loaded_libraries(run):
    native, pure, hybrid = rows(run)
    assert [native[2], pure[2], pure[4], hybrid[2]] == ['1.00', '0.50', '2.00', '1.00']
    assert float(native[1]) == pytest.approx(
        run.select_series(CASES[0], 'native')[0].compute_median(4194304), abs=0.005
    )
    assert native[5:] == ['5.0.2', 'host', '2.5.1', 'host'] and hybrid[5:] == [
        '4.2.3',
        'image',
        '2.5.1',
        'host',
    ]


def test_without_native_there_is_no_ratio(run):
    assert rows(run.filter_by_name('pure'))[0][2] == '-'


def test_a_run_that_lacks_a_figure_has_no_table(run):
    del run.select_series(CASES[0], 'hybrid')[0].values[4194304]
    run.failures.append(Failure(CASES[0], 'pure', 1, 'killed after 60 s'))
    run.modules['osu-container/pure']['problem'] = 'exit code 1'
    with pytest.raises(MissingFiguresError) as caught:
        demo_table.render_demo_table(run)
    for part in (
        'hybrid.*osu_bw.*4194304',
        'pure osu_bw H H.*killed after 60 s',
        'osu-container/pure.*exit code 1',
    ):
        assert re.search(part, str(caught.value))

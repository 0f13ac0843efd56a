"""results.jsonl: what is read of it and what is refused; and the model of the figures."""

import json
import re

import pytest

from osu_container.bench.results import run_files
from osu_container.bench.results.model import Case
from tests.helpers.example_runs import CASES, RUN, make_run

BANDWIDTH, LATENCY = CASES


@pytest.fixture
def run(tmp_path):
    """Folder of a small run: two approaches, two cases, two repeats, four sizes."""
    return make_run(
        tmp_path / 'run',
        approaches=('native', 'pure'),
        repeats=2,
        sizes=(1, 64, 4096, 4194304),
        scale={'pure': 0.1},
    )


def read_rows(run):
    """Return the lines (list of str) of a run."""
    return (run / run_files.RESULTS_FILE).read_text().splitlines()


def change_measurement(run, values):
    """Change the first measurement of a run by values (dict), and return its line number."""
    lines = read_rows(run)
    place = next(n for n, line in enumerate(lines) if json.loads(line)['kind'] == 'measurement')
    lines[place] = json.dumps({**json.loads(lines[place]), **values})
    (run / run_files.RESULTS_FILE).write_text('\n'.join(lines) + '\n')
    return place + 1


def read_refusal(run):
    """Return the message with which a run is refused."""
    with pytest.raises(run_files.ResultsError) as caught:
        run_files.read_results(run)
    return str(caught.value)


def test_series_hold_every_value_of_every_repeat(run):
    dataset = run_files.read_results(run)
    assert (dataset.name, dataset.kind, dataset.problems, dataset.path) == (
        RUN,
        'run',
        [],
        run / run_files.RESULTS_FILE,
    )
    assert run_files.read_results(run / run_files.RESULTS_FILE).series == dataset.series
    measured = [
        entry for entry in map(json.loads, read_rows(run)) if entry['kind'] == 'measurement'
    ]
    assert len(measured) == 2 * 2 * 2
    for entry in measured:
        (one,) = dataset.select_series(Case(**entry['case']), entry['approach'])
        assert {size: one.values[int(size)][entry['repeat']] for size in entry['values']} == entry[
            'values'
        ]


def test_failed_and_skipped_cases_are_failures_with_their_reason(tmp_path):
    run = make_run(
        tmp_path,
        repeats=1,
        failures=[
            ('pure', BANDWIDTH, 'srun ended with 1: no PMI'),
            ('hybrid', LATENCY, 'skipped: no GPU here'),
        ],
    )
    dataset = run_files.read_results(run)
    assert not dataset.select_series(BANDWIDTH, 'pure') and not dataset.select_series(
        LATENCY, 'hybrid'
    )
    assert [(one.name, one.case, one.is_skipped) for one in dataset.failures] == [
        ('pure', BANDWIDTH, False),
        ('hybrid', LATENCY, True),
    ]
    assert dataset.failures[0].reason == 'srun ended with 1: no PMI' and dataset.failures[
        0
    ].log.endswith('.err')


@pytest.mark.parametrize(
    'values',
    [
        {'values': {}},
        {'unit': 'us'},
        {'programs': 'mpi4py 4.1.2 ports', 'repeat': 9},
        {'repeat': 2},
        {'kind': 'run'},
    ],
    ids=str,
)
def test_contradictory_measurement_is_refused(values, run):
    number = change_measurement(run, values)
    where = (
        read_refusal(run).partition(f'{run_files.RESULTS_FILE}:')[2].partition(':')[0].split()[0]
    )
    assert int(where) == number or set(values) & {'programs', 'repeat'}, (
        'or at the next line of the curve'
    )


def test_a_cut_off_last_line_is_left_out_and_removed_on_resume(run):
    path, lines = run / run_files.RESULTS_FILE, read_rows(run)[:-1]
    whole = '\n'.join(lines[:-1]) + '\n'
    for length in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
        path.write_text(whole + lines[-1][:length])
        dataset = run_files.read_results(run)
        assert sum(len(one.values[64]) for one in dataset.series) == 7
        assert (
            f'{run_files.RESULTS_FILE}:{len(lines)}:' in dataset.problems[0]
            and 'bench --resume' in dataset.problems[1]
        )
        assert run_files.Writer(path).drop_incomplete_line() is True and path.read_text() == whole
    assert run_files.Writer(path).drop_incomplete_line() is False and path.read_text() == whole
    path.write_bytes(b'{"kind": "ru')
    assert run_files.Writer(path).drop_incomplete_line() is True and path.read_bytes() == b''


def test_run_is_never_overwritten_and_records_its_end(run, tmp_path):
    before = (run / run_files.RESULTS_FILE).read_bytes()
    with pytest.raises(run_files.ResultsError, match='bench --resume'):
        run_files.Writer(run / run_files.RESULTS_FILE).write_header(run='2', started='x', site='y')
    assert (run / run_files.RESULTS_FILE).read_bytes() == before
    other = make_run(tmp_path / 'other', repeats=1)
    *lines, _ = (other / run_files.RESULTS_FILE).read_text().splitlines(True)
    (other / run_files.RESULTS_FILE).write_text(
        ''.join(lines)
    )  # the last one says that it has ended
    assert (
        run_files.has_ended(run),
        run_files.has_ended(other),
        run_files.has_ended(tmp_path),
    ) == (True, False, False)


@pytest.mark.parametrize(
    'case, title',
    [
        (Case('osu_bw', 'D D', 2, 2), r'osu_bw D D\W+(2|two) nodes'),
        (Case('osu_bw', 'H H', 1, 2), r'osu_bw H H\W+(1|one) node'),
        (Case('osu_alltoall', 'H H', 64, 64), r'osu_alltoall H H\W+64 nodes'),
        (Case('osu_alltoall', 'D D', 1, 8), r'osu_alltoall D D\W+8 ranks \w+ 1 node'),
        (Case('osu_barrier', '', None, 8), r'osu_barrier\W+8 ranks'),
        (Case('osu_init'), 'osu_init'),
        (
            Case('osu_bibw', 'H H', 2, 2, 'multiple buffers'),
            r'osu_bibw H H\W+(2|two) nodes\W+multiple buffers',
        ),
    ],
)
def test_a_title_has_benchmark_buffers_and_placement(case, title):
    assert re.fullmatch(title, case.title)

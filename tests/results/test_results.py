"""results.jsonl: what is read of it, what is refused and how that is said; and the model of the figures."""
import json

import pytest

from osu_container.results import run_files
from osu_container.results.model import Case
from tests.helpers.example_runs import CASES, MORE_CASES, RUN, make_run, sizes_of

BANDWIDTH, LATENCY = CASES


@pytest.fixture
def run(tmp_path):
    """Folder of a small run: two approaches, two cases, two repeats, four sizes."""
    return make_run(tmp_path / 'run', approaches=('native', 'pure'), repeats=2, sizes=(1, 64, 4096, 4194304),
                    scale={'pure': 0.1})


def rows(run):
    """Return the lines (list of str) of a run."""
    return (run / run_files.NAME).read_text().splitlines()


def write(run, lines, end='\n'):
    """Write lines (list of str) back as the results of a run."""
    (run / run_files.NAME).write_text('\n'.join(lines) + end)


def change(run, change_it, kind='measurement', which=0):
    """Change the dict of the which-th line of a kind by change_it(entry), which may also return what stands instead."""
    lines = rows(run)
    found = [n for n, line in enumerate(lines) if json.loads(line)['kind'] == kind]
    entry = json.loads(lines[found[which]])
    other = change_it(entry)
    lines[found[which]] = json.dumps(entry if other is None else other)
    write(run, lines)
    return found[which] + 1


def refused(run):
    """Return the message with which a run is refused."""
    with pytest.raises(run_files.ResultsError) as caught:
        run_files.read(run)
    return str(caught.value)


# What is read

def test_a_run_is_read_by_its_folder_or_its_file(run):
    for path in (run, str(run), run / run_files.NAME):
        dataset = run_files.read(path)
        assert (dataset.name, dataset.kind, dataset.problems) == (RUN, 'run', [])
        assert dataset.path == run / run_files.NAME


def test_series_hold_every_value_of_every_repeat(run):
    dataset = run_files.read(run)
    written = [json.loads(line) for line in rows(run)]
    measured = [entry for entry in written if entry['kind'] == 'measurement']
    assert len(measured) == 2 * 2 * 2
    for entry in measured:
        one, = dataset.of(Case(**entry['case']), entry['approach'])
        for size, value in entry['values'].items():
            assert one.values[int(size)][entry['repeat']] == value
    assert sum(len(repeats) for one in dataset.series for repeats in one.values.values()) == 8 * 4


def test_failed_and_skipped_cases_are_failures_with_their_reason(tmp_path):
    run = make_run(tmp_path, repeats=1, failures=[('pure', BANDWIDTH, 'srun ended with 1: no PMI'),
                                                  ('hybrid', LATENCY, 'skipped: no GPU here')])
    dataset = run_files.read(run)
    assert not dataset.of(BANDWIDTH, 'pure') and not dataset.of(LATENCY, 'hybrid')
    assert [(one.name, one.case, one.skipped) for one in dataset.failures] == [
        ('pure', BANDWIDTH, False), ('hybrid', LATENCY, True)]
    assert dataset.failures[0].reason == 'srun ended with 1: no PMI' and dataset.failures[0].log.endswith('.err')


@pytest.mark.parametrize('case', MORE_CASES, ids=lambda case: case.title)
def test_every_kind_of_benchmark_survives_writing_and_reading(case, tmp_path):
    dataset = run_files.read(make_run(tmp_path, cases=[case], repeats=2))
    for one in dataset.series:
        assert one.case == case and one.sizes == list(sizes_of(case)) and one.repeats == 2
    assert dataset.names == ['native', 'pure', 'hybrid']


# What is refused: each message names file and line, what was found, what is wanted

def _set(**values):
    return lambda entry: entry.update(values)


def _without(key):
    return lambda entry: {name: value for name, value in entry.items() if name != key}


def _case(**values):
    return lambda entry: entry['case'].update(values)


def _value(size, value):
    return lambda entry: entry['values'].update({size: value})


#: name -> (change of the first measurement, what the message must say)
WRONG = {
    'zero': (_value('64', 0), 'osu_bw is 0 MB/s at 64 bytes, wanted a number above 0'),
    'negative': (_value('64', -1.5), 'osu_bw is -1.5 MB/s at 64 bytes'),
    'text for a value': (_value('64', '12.5'), "osu_bw is '12.5' MB/s at 64 bytes"),
    'true for a value': (_value('64', True), 'osu_bw is True MB/s at 64 bytes'),
    'null for a value': (_value('64', None), 'osu_bw is None MB/s at 64 bytes'),
    'no size': (_value('64 KiB', 1.0), "'64 KiB' is no message size in bytes"),
    'size in other digits': (_value('²', 1.0), "'²' is no message size in bytes"),
    'negative size': (_value('-1', 1.0), "'-1' is no message size in bytes"),
    'the same size in another way': (_value('064', 1.0), 'message size 64 stands twice'),
    'no values': (_set(values={}), 'status is ok, but there are no values'),
    'values as a list': (_set(values=[1.0, 2.0]), 'status is ok, but there are no values'),
    'unit of the other kind': (_set(unit='us'), "unit 'us', but osu_bw is in MB/s: units are never mixed"),
    'no unit': (_set(unit=None), 'unit None, but osu_bw is in MB/s'),
    'GB/s': (_set(unit='GB/s'), "unit 'GB/s', but osu_bw is in MB/s"),
    'unknown status': (_set(status='fine'), "status 'fine', wanted one of ok, failed, skipped"),
    'buffers of a collective': (_case(buffers='H'), "buffers 'H', wanted one of 'H H', 'H D'"),
    'buffers as a list': (_case(buffers=['H', 'H']), 'case must be an object with'),
    'no ranks': (_case(ranks=0), 'ranks is 0, wanted a whole number from 1'),
    'half a node': (_case(nodes=0.5), 'nodes is 0.5, wanted a whole number from 1'),
    'true nodes': (_case(nodes=True), 'nodes is True, wanted a whole number from 1'),
    'unknown key of a case': (_case(gpus=2), 'case must be an object with benchmark, buffers, nodes, ranks, variant'),
    'case as text': (_set(case='osu_bw H H'), "case must be an object with benchmark, buffers"),
    'a variant that is no text': (_case(variant=['x']), 'case must be an object with'),
    'repeat zero': (_set(repeat=0), 'repeat is 0, wanted a whole number from 1'),
    'repeat as text': (_set(repeat='1'), "repeat is '1', wanted a whole number from 1"),
    'approach as a list': (_set(approach=['native']), "approach is ['native'], wanted text"),
    'other programs in one curve': (_set(programs='mpi4py 4.1.2 ports', repeat=9),
                                    'was run with mpi4py 4.1.2 ports and with OSU C programs, which do not compare'),
    'unknown kind': (_set(kind='measured'), "is of kind 'measured', wanted one of run, module, measurement, end"),
    'kind as a list': (_set(kind=['end']), "is of kind ['end'], wanted one of"),
    'a list for a line': (lambda entry: [1, 2], 'is of kind None, wanted one of'),
    'a number for a line': (lambda entry: 42, 'is of kind None, wanted one of'),
}


@pytest.mark.parametrize('what', WRONG)
def test_what_cannot_have_been_measured_is_refused(what, run):
    change_it, message = WRONG[what]
    number = change(run, change_it)
    said = refused(run)
    assert message in said
    if 'which do not compare' not in message:  # that is seen at the next line of the curve
        assert f'{run_files.NAME}:{number}' in said


@pytest.mark.parametrize('kind', sorted(run_files.LINES))
def test_a_line_without_a_key_of_its_kind_is_refused(kind, run):
    for key in run_files.LINES[kind]:
        if key in ('format', 'version'):  # then it is no results file: see below
            continue
        lines = rows(run)
        number = change(run, _without(key), kind)
        assert f'{run_files.NAME}:{number}: a line of kind {kind} without {key}' in refused(run)
        write(run, lines)


@pytest.mark.parametrize('version', [1, 3, '2', None])
def test_another_version_is_refused(version, run):
    change(run, _set(version=version), 'run')
    assert refused(run) == (f"{run / run_files.NAME} has version {version} of its format, wanted 2: measure again, or "
                            "read it with the osu-container that wrote it")


# Truncated

def test_a_cut_off_last_line_is_left_out_and_said(run):
    lines = rows(run)[:-1]  # the last measurement is the last line
    for length in (1, len(lines[-1]) // 2, len(lines[-1]) - 1):
        write(run, [*lines[:-1], lines[-1][:length]], end='')
        dataset = run_files.read(run)
        assert sum(len(one.values[64]) for one in dataset.series) == 7
        assert f'{run_files.NAME}:{len(lines)}: the last line is cut off (the run was killed); left out' in (
            dataset.problems[0])
        assert 'has not ended' in dataset.problems[1]


# Writer

def test_begin_refuses_a_file_that_is_there(run):
    before = (run / run_files.NAME).read_bytes()
    with pytest.raises(run_files.ResultsError, match='is there already: a run is never written over.*bench --resume'):
        run_files.Writer(run / run_files.NAME).begin(run='2', started='x', site='y')
    assert (run / run_files.NAME).read_bytes() == before


def test_one_line_an_add(tmp_path):
    writer = run_files.Writer(tmp_path / run_files.NAME)
    writer.begin(run=RUN, started='2026-11-21T13:12:44Z', site='workstation')
    for n in range(3):
        writer.add('module', name=f'osu-container/{n}', approach=str(n), container=True, note='two\nlines, µs')
        text = (tmp_path / run_files.NAME).read_text()
        assert text.endswith('\n') and text.count('\n') == n + 2
    assert list(run_files.read(tmp_path).modules) == [f'osu-container/{n}' for n in range(3)]


def test_mend_cuts_off_an_incomplete_line_alone(run):
    path = run / run_files.NAME
    whole = path.read_bytes()
    writer = run_files.Writer(path)
    assert writer.mend() is False and path.read_bytes() == whole
    path.write_bytes(whole + b'{"kind": "meas')
    assert writer.mend() is True and path.read_bytes() == whole
    path.write_bytes(b'{"kind": "ru')
    assert writer.mend() is True and path.read_bytes() == b''


# Model

@pytest.mark.parametrize('case, placement, title', [
    (Case('osu_bw', 'D D', 2, 2), 'two nodes', 'osu_bw D D, two nodes'),
    (Case('osu_bw', 'H H', 1, 2), 'one node', 'osu_bw H H, one node'),
    (Case('osu_bw', 'H H', 2), 'two nodes', 'osu_bw H H, two nodes'),
    (Case('osu_alltoall', 'H H', 64, 64), '64 nodes', 'osu_alltoall H H, 64 nodes'),
    (Case('osu_alltoall', 'H H', 2, 8), '8 ranks over 2 nodes', 'osu_alltoall H H, 8 ranks over 2 nodes'),
    (Case('osu_alltoall', 'D D', 1, 8), '8 ranks over 1 node', 'osu_alltoall D D, 8 ranks over 1 node'),
    (Case('osu_barrier', '', None, 8), '8 ranks', 'osu_barrier, 8 ranks'),
    (Case('osu_init'), '', 'osu_init'),
    (Case('osu_bibw', 'H H', 2, 2, 'multiple buffers'), 'two nodes', 'osu_bibw H H, two nodes, multiple buffers'),
])
def test_a_case_is_named_in_words(case, placement, title):
    assert (case.placement, case.title) == (placement, title)

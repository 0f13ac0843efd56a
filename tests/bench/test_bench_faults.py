"""A run of `osu-container bench` that is interrupted, loses its job, or meets another one: nothing is lost or wrong."""
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from osu_container.bench import BenchError, holding, session
from osu_container.results import run_files, select
from tests.bench.test_bench import ARGUMENTS, calls, measurements
from tests.helpers.bench_stand_in import answer, special
from tests.helpers.machine import PROJECT, STATE, command_lines, run

pytestmark = [pytest.mark.long, pytest.mark.alone]

ASKED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def wait_for_lines(path, count, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and len(path.read_text().splitlines()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f'{path} has fewer than {count} lines')


def running(folder):
    """The command lines of the processes that have a folder in theirs: the samplers of ranks, which end by themselves,
    left out."""
    return [words for process, words in command_lines().items()
            if str(folder) in words and process != os.getpid() and 'start.py' not in words]


def nothing_runs(folder, seconds=20):
    """Wait until no process has a folder in its command line; return whether that came."""
    end = time.monotonic() + seconds
    while running(folder) and time.monotonic() < end:
        time.sleep(0.1)
    return running(folder) == []


def is_whole(folder, repeats=2):
    """Assert that a run of osu_bw with both modules has each measurement once, none failed, and its end."""
    found = run_files.read(folder)
    assert found.problems == [] and found.failures == []
    assert {one.repeats for one in found.series} == {repeats} and len(found.series) == 2
    assert len(measurements(folder)) == 2 * repeats, 'each was measured once'
    assert [path.name for path in folder.glob('running.json')] == []


# ---- interrupted -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize('sign', [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.full) for one in ASKED
                                                   if one != signal.SIGTERM)])
def test_an_interrupted_run_says_how_to_go_on_and_goes_on_with_what_is_missing(bench, tmp_path, sign):
    folder, hold = tmp_path / 'run', tmp_path / 'hold'
    special(bench.root, '2', 'osu_bw', f"while os.path.exists('{hold}'): time.sleep(0.05)")
    hold.write_text('')
    child = bench.start(*ARGUMENTS, '--repeats', '2', '-o', folder, '--', 'osu_bw')
    wait_for_lines(folder / run_files.NAME, 4)  # run, two modules, a measurement
    refused = bench('--resume', folder)
    assert refused.returncode == 1 and refused.stdout == ''
    assert re.search(rf'{folder} is being measured by process \d+ on {socket.gethostname()} in job 7, since '
                     r'20\S+Z\. Wait for its end', refused.stderr)
    child.send_signal(sign)
    _, err = child.communicate(timeout=60)
    assert child.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}[sign]
    assert f'what was measured is kept; to go on: osu-container bench --resume {folder}\n' in err
    assert nothing_runs(f'{folder}/')
    before = (folder / run_files.NAME).read_text()
    assert run_files.read(folder).problems[-1].endswith(f'to go on: osu-container bench --resume {folder}')
    assert '"failed"' not in before
    hold.unlink()
    shown = bench('--resume', folder, '--dry-run')
    assert f'left of {folder}, tag demo on site workstation: 3 of 4 measurements' in shown.stdout
    assert 'with osu-native/1 (repeat 2), osu-native/2\n' in shown.stdout
    done = bench('--resume', folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / run_files.NAME).read_text().startswith(before)
    is_whole(folder)
    again = bench('--resume', folder)
    assert again.returncode == 0 and 'has ended: nothing is left to measure' in again.stdout


def begun(folder, started, ended=False):
    """Make a run of osu_bw with two modules that has nothing measured, as bench leaves it where it is ended at once."""
    folder.mkdir(parents=True)
    wanted = vars(session.Wanted('demo', ['osu-native/1', 'osu-native/2'], 1, ['osu_bw'], 2))
    writer = run_files.Writer(folder / run_files.NAME)
    writer.begin(run=folder.name, started=started, site='workstation', tag='demo', repeats=1, wanted=wanted, inputs={})
    if ended:
        for name in wanted['modules']:
            writer.add('measurement', module=name, approach='native', repeat=1, status='ok', ended=started,
                       case={'benchmark': 'osu_bw', 'buffers': 'H H', 'nodes': 2, 'ranks': 2})
        writer.add('end', ended=started)
    return folder


def remembered(folder, results):
    """Link a run as bench does when it begins one with -o."""
    done = run([sys.executable, '-c', f'from osu_container.results import select; select.remember({str(folder)!r})'],
               env={**os.environ, select.VARIABLE: str(results), 'PYTHONPATH': str(PROJECT)})
    assert done.returncode == 0, done.stderr


def test_latest_goes_on_with_the_newest_run_that_has_not_ended_and_names_what_else_is_unfinished(bench, tmp_path):
    none = bench('--resume', 'latest')
    assert none.returncode == 1 and 'there is no run' in none.stderr
    old = begun(bench.results / 'old', '2026-11-20T10:00:00Z')
    night = begun(tmp_path / 'elsewhere' / 'night', '2026-11-21T10:00:00Z')
    done = begun(bench.results / 'done', '2026-11-22T10:00:00Z', ended=True)
    remembered(night, bench.results)
    shown = bench('--resume', 'latest', '--dry-run')
    assert shown.returncode == 0, shown.stderr
    assert f'left of {night}, tag demo on site workstation: 2 of 2 measurements' in shown.stdout
    assert 'left of' in bench('--resume', 'night', '--dry-run').stdout, 'by its name, too'
    again = bench('--resume', 'done')
    assert again.returncode == 0 and again.stdout == (
        f'{done} has ended: nothing is left to measure. Unfinished are old, night: osu-container bench --resume '
        f'{bench.results}/night\n'), 'it says what has not ended'
    shutil.rmtree(old)
    shutil.rmtree(night)
    last = bench('--resume', 'latest')
    assert last.returncode == 0 and last.stdout.endswith(f'Nor is a run of {bench.results} unfinished\n')


MOMENTS = 20


@pytest.mark.parametrize('seed', [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, MOMENTS))])
def test_a_killed_run_leaves_nothing_running_and_goes_on(bench, tmp_path, seed):
    chance = random.Random(seed)
    folder = tmp_path / 'run'
    child = bench.start(*ARGUMENTS, '--repeats', '2', '-o', folder, '--', 'osu_bw')
    wait_for_lines(folder / run_files.NAME, chance.randrange(1, 7))
    time.sleep(chance.random())
    # at times ReFrame is killed with it, and its test runs on: the next one ends it
    reframe = holding.left_behind(folder) if chance.random() < 0.5 else []
    for pid in [child.pid, *reframe[:1]]:
        os.kill(pid, signal.SIGKILL)
    child.communicate()
    assert reframe or nothing_runs(f'{folder}/'), running(f'{folder}/')
    text = (folder / run_files.NAME).read_text()
    if '"kind": "end"' not in text:
        with open(folder / run_files.NAME, 'a') as handle:
            handle.write('{"kind": "measu')  # as if it had been writing
        killed = (folder / holding.NAME).exists()  # else what ran in the job has ended by itself, as salloc was killed
        done = bench('--resume', folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert ('the process that measured here before was killed' in done.stdout) == killed
        assert (folder / run_files.NAME).read_text().startswith(text)
        assert nothing_runs(f'{folder}/')
        is_whole(folder)


def test_a_killed_reframe_is_said_and_its_test_is_ended(bench, tmp_path):
    special(bench.root, '2', 'osu_bw', 'time.sleep(300)')
    folder = tmp_path / 'run'
    child = bench.start(*ARGUMENTS, '--repeats', '1', '-o', folder, '--', 'osu_bw')
    wait_for_lines(folder / run_files.NAME, 4)
    reframe, = (pid for pid in holding.left_behind(folder)
                if b'from reframe' in Path(f'/proc/{pid}/cmdline').read_bytes())
    os.kill(reframe, signal.SIGKILL)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 1 and 'ReFrame ended with exit code -9 and left no report' in err
    assert f'to go on: osu-container bench --resume {folder}' in err
    assert nothing_runs(f'{folder}/')
    assert [one['status'] for one in measurements(folder)] == ['ok']


# ---- the job ends ----------------------------------------------------------------------------------------------------

LOST = [('squeue', 'echo TIMEOUT; exit', 'job 7 has ended (TIMEOUT)'),
        ('squeue', 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1',
         'job 7 has ended (not known to Slurm any more)'),
        ('sinfo', 'echo "node1 allocated"; echo "node2 down*"; exit', 'node node2 of job 7 is down*'),
        ('sinfo', 'echo "node1 allocated"; echo "node2 allocated*"; exit',
         'node node2 of job 7 does not answer (Slurm calls it allocated*)')]


def test_a_failure_that_the_end_of_the_job_made_is_no_result(bench, tmp_path):
    command, text, says = LOST[0]
    special(bench.root, '2', 'osu_bw', f"if os.environ['SLURM_PROCID'] == '0': pathlib.Path(os.environ['ROOT'], "
            f"'{command}.answer').write_text('{text}')\nsys.exit('step CANCELLED')")
    folder = tmp_path / 'run'
    done = bench(*ARGUMENTS, '--repeats', '2', '-o', folder, '--', 'osu_bw')
    assert done.returncode == 1
    assert f'{says}\nwhat was measured is kept; to go on: osu-container bench --resume {folder}\n' in done.stderr
    assert [(one['status'], one['approach']) for one in measurements(folder)] == [('ok', '1')]
    assert '"kind": "end"' not in (folder / run_files.NAME).read_text()
    for path in (bench.root / f'{command}.answer', bench.root / 'special' / '2-osu_bw'):
        path.unlink()
    again = bench('--resume', folder)
    assert again.returncode == 0, again.stdout + again.stderr
    is_whole(folder)


@pytest.mark.parametrize('command, text, says', LOST)
def test_slurm_is_asked_whether_the_job_is_there(made, bench, command, text, says):
    env = {'PATH': f'{made}/bin:{os.environ["PATH"]}', 'ROOT': str(made)}
    inside = dict(env, SLURM_JOB_ID='7', SLURM_JOB_NODELIST='node[1-2]')
    assert holding.lost(inside) is None and holding.ended('7', inside) is None
    answer(made, command, text)
    assert holding.lost(inside) == says
    assert holding.lost(env) is None, 'outside of a job there is none to lose'


# ---- going on --------------------------------------------------------------------------------------------------------

@pytest.fixture
def kept(bench, tmp_path):
    """The folder of a run of which nothing is measured, as a killed one leaves it."""
    folder = tmp_path / 'run'
    child = bench.start(*ARGUMENTS, '--repeats', '2', '-o', folder, '--', 'osu_bw')
    wait_for_lines(folder / run_files.NAME, 1)
    child.kill()
    child.communicate()
    return folder


def test_a_run_goes_on_only_with_what_it_was_begun_with(bench, kept):
    path = bench.root / 'modules' / 'osu-native' / '2.lua'
    text = path.read_text()
    path.write_text(text + '-- changed\n')
    try:
        done = bench('--resume', kept)
    finally:
        path.write_text(text)
    assert done.returncode == 1
    assert 'module osu-native/2 changed. Begin a new run instead of --resume' in done.stderr
    other = bench('--resume', kept, '--repeats', '7', '--module', 'osu-native/1', 'osu_bw')
    assert other.returncode == 1 and len(calls(bench.root, 'salloc.calls')) == 2
    assert '--module, --repeats, osu_bw would change it' in other.stderr
    path = kept / run_files.NAME
    path.write_text(re.sub('"wanted": {.*?}', '"wanted": {"x": 1}', path.read_text()))
    damaged = bench('--resume', kept)
    assert damaged.returncode == 1 and 'does not say what was wanted' in damaged.stderr


# ---- two at once -----------------------------------------------------------------------------------------------------

def note(folder, **changes):
    """Write running.json of this process, with changes; what is None is left out."""
    mine = {**holding._me(), **changes}
    (folder / holding.NAME).write_text(json.dumps({key: value for key, value in mine.items() if value is not None}))


@pytest.mark.parametrize('changes, there', [
    ({}, True), ({'began': 1}, False), ({'pid': 2 ** 22 + 1}, False), ({'boot': 'another'}, False),
    ({'space': 'pid:[1]'}, True), ({'host': 'elsewhere'}, True), ({'host': 'elsewhere', 'job': '7'}, False),
    ({'pid': 'x'}, False)])
def test_a_stale_note_of_who_measures_is_recognised(tmp_path, monkeypatch, changes, there):
    monkeypatch.setattr(holding, 'ended', lambda number, env: 'TIMEOUT' if number == '7' else None)
    note(tmp_path, **changes)
    assert bool(holding.holder(tmp_path)) == there
    said = []
    if there:
        with pytest.raises(BenchError, match=f'is being measured by process {os.getpid()} on .*remove .*running.json'):
            holding.Hold(tmp_path, said.append).__enter__()
    else:
        with holding.Hold(tmp_path, said.append):
            assert holding.holder(tmp_path)['pid'] == os.getpid()
        assert said == ['the process that measured here before was killed'] and list(tmp_path.iterdir()) == []


def test_of_many_that_begin_at_once_one_measures(tmp_path):
    script = ('import sys, time; sys.path.insert(0, sys.argv[1])\nfrom osu_container.bench import BenchError, holding\n'
              'try:\n    with holding.Hold(sys.argv[2], print): time.sleep(2)\nexcept BenchError: sys.exit(3)')
    children = [subprocess.Popen([sys.executable, '-c', script, str(PROJECT), str(tmp_path)]) for _ in range(4)]
    assert sorted(child.wait(60) for child in children) == [0, 3, 3, 3]


# ---- the disk --------------------------------------------------------------------------------------------------------

def test_a_full_disk_leaves_whole_lines_only(tmp_path):
    assert holding.full(tmp_path, []) is None
    assert f'the disk of {tmp_path} takes no more: No space' in holding.full(tmp_path, ['No space left on device'])
    path = tmp_path / run_files.NAME
    writer = run_files.Writer(path)
    writer.begin(run='x', started='now', site='workstation')
    before = path.read_bytes()
    script = ('import sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container.results import run_files\n'
              'try: run_files.Writer(sys.argv[2]).add("end", ended="x" * 5000)\nexcept OSError as err: print(err)')

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, len(before) + 100))
    done = run([sys.executable, '-c', script, PROJECT, path], preexec_fn=limit)
    assert 'File too large' in done.stdout and done.stderr == ''
    assert path.read_bytes() == before
    writer.add('end', ended='now')
    assert len(run_files.lines(path)[0]) == 2


# ---- the real Slurm --------------------------------------------------------------------------------------------------

@pytest.fixture
def real(bench, tmp_path):
    """Variables for the fixture bench with which the commands of the private Slurm are called."""
    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'srun').symlink_to(bench.root / 'bin' / 'srun')  # tells the ranks where their proofs go
    return {'PATH': f"{tmp_path / 'bin'}:{os.environ['PATH']}", 'REAL_SRUN': shutil.which('srun'),
            'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf')}


@pytest.mark.slurm
def test_a_rank_that_dies_is_a_result_and_too_many_nodes_are_refused(bench, real, tmp_path):
    refused = bench(*ARGUMENTS, '--nodes', '99', **real)
    assert refused.returncode == 1 and 'Slurm does not take this job: Requested node configuration' in refused.stderr
    special(bench.root, '1', 'osu_bw', "os.environ['SLURM_PROCID'] == '1' and os.kill(os.getpid(), 9)")
    done = bench(*ARGUMENTS, '--repeats', '1', '-o', tmp_path / 'run', '--', 'osu_bw', **real)
    assert done.returncode == 1 and '1 measured, 1 failed' in done.stdout, done.stdout + done.stderr
    failure, = run_files.read(tmp_path / 'run').failures
    assert failure.name == '1' and failure.reason.startswith('exit code 137')
    assert run_files.read(tmp_path / 'run').problems == []

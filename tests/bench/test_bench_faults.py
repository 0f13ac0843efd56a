"""
A run of `osu-container bench` that is interrupted, loses its job, or meets another one: nothing
is lost or wrong.
"""

import os
import re
import resource
import signal
import socket
import sys
import time

import pytest

from osu_container.bench import holding, session
from osu_container.bench.results import run_files
from tests.bench.test_bench import ARGUMENTS, read_measurements
from tests.helpers.bench_stand_in import add_program_text
from tests.helpers.example_runs import STARTED
from tests.helpers.machine import PROJECT, assert_success, list_command_lines, run

pytestmark = pytest.mark.system


def wait_for_lines(path, count, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and len(path.read_text().splitlines()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f'{path} has fewer than {count} lines')


def list_running_commands(folder, seconds=20):
    """
    The command lines of the processes that have a folder in theirs, when they had some time to
    end; the samplers of ranks, which end by themselves, left out.
    """
    end = time.monotonic() + seconds
    while True:
        found = [
            words
            for process, words in list_command_lines().items()
            if f'{folder}/' in words and process != os.getpid() and 'start.py' not in words
        ]
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)


def assert_complete_run(folder):
    """
    Assert that a run of osu_bw with both modules has each measurement once, none failed, and its
    end.
    """
    found = run_files.read_results(folder)
    assert found.problems == [] and found.failures == []
    assert {one.repeats for one in found.series} == {2} and len(found.series) == 2
    assert len(read_measurements(folder)) == 4, 'each was measured once'


@pytest.mark.parametrize(
    'sign', [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.nightly)]
)
def test_an_interrupted_run_is_resumable(bench, tmp_path, sign):
    folder, hold = tmp_path / 'run', tmp_path / 'hold'
    add_program_text(bench.root, '2', 'osu_bw', f"while os.path.exists('{hold}'): time.sleep(0.05)")
    hold.write_text('')
    child = bench.start(*ARGUMENTS, '--repeats', '2', '-o', folder, '--', 'osu_bw-HH')
    wait_for_lines(folder / run_files.RESULTS_FILE, 4)  # run, two modules, a measurement
    refused = bench('--resume', folder)
    assert refused.returncode == 1 and refused.stdout == ''
    assert re.search(rf'\b\d+ .*{socket.gethostname()}.*\b7\b.*20\S+Z', refused.stderr)
    child.send_signal(sign)
    _, err = child.communicate(timeout=60)
    assert child.returncode == {signal.SIGTERM: 143, signal.SIGKILL: -9}[sign]
    assert sign == signal.SIGKILL or f'osu-container bench --resume {folder}\n' in err
    assert list_running_commands(folder) == []
    text = (folder / run_files.RESULTS_FILE).read_text()
    assert (
        f'osu-container bench --resume {folder}' in run_files.read_results(folder).problems[-1]
        and '"failed"' not in text
    )
    with open(folder / run_files.RESULTS_FILE, 'a') as handle:
        handle.write('{"kind": "measu')  # as if it had been writing
    hold.unlink()
    shown = bench('--resume', 'latest', '--dry-run')
    assert re.search(rf'{folder}.*quick.*workstation.*\b3\b.*\b4\b', shown.stdout)
    other = bench('--resume', folder, '--nodes', '7', 'osu_bw')
    assert other.returncode == 1 and '--nodes, osu_bw' in other.stderr
    done = bench('--resume', folder)
    assert_success(done)
    assert (folder / run_files.RESULTS_FILE).read_text().startswith(text)
    assert_complete_run(folder)
    again = bench('--resume', folder)
    assert again.returncode == 0 and len(read_measurements(folder)) == 4
    assert bench('--resume', 'latest').returncode == 1, 'nothing is unfinished'


def test_failure_at_job_end_is_not_recorded(bench, tmp_path):
    add_program_text(
        bench.root,
        '2',
        'osu_bw',
        "if os.environ['SLURM_PROCID'] == '0': pathlib.Path(os.environ['ROOT'], "
        "'squeue.answer').write_text('echo TIMEOUT; exit')\nsys.exit('step CANCELLED')",
    )
    folder = tmp_path / 'run'
    done = bench(*ARGUMENTS, '--repeats', '2', '-o', folder, '--', 'osu_bw-HH')
    assert done.returncode == 1 and re.search('job 7.*TIMEOUT', done.stderr)
    assert f'osu-container bench --resume {folder}\n' in done.stderr
    assert [(one['status'], one['approach']) for one in read_measurements(folder)] == [('ok', '1')]
    assert '"kind": "end"' not in (folder / run_files.RESULTS_FILE).read_text()


@pytest.mark.parametrize(
    'text, errors, says',
    [
        ('echo TIMEOUT; exit', '', 'job 7.*TIMEOUT'),
        ('echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1', '', 'job 7.*Slurm'),
        ('exit 1', '', None),
        ('', '', None),
        (
            '',
            'srun: error: Task launch for StepId=7.1 failed on node node2: Communication connection failure',
            'node2.*Communication connection failure',
        ),
        (
            '',
            'srun: error: Task launch for StepId=7.1 failed on node node2: Permission denied',
            None,
        ),
    ],
)
def test_slurm_is_asked_whether_the_job_exists(bench_environment, bench, text, errors, says):
    env = {'PATH': f'{bench_environment}/bin:{os.environ["PATH"]}', 'ROOT': str(bench_environment)}
    (bench_environment / 'squeue.answer').write_text(text)
    found = holding.find_job_loss(dict(env, SLURM_JOB_ID='7'), errors)
    assert re.search(says, found) if says else found is None
    assert holding.find_job_loss(env) is None, 'outside of a job there is none to lose'


def test_run_resumes_only_with_the_same_modules(bench, tmp_path):
    folder = tmp_path / 'run'
    folder.mkdir()
    wanted = vars(session.RunSpec('quick', ['osu-native/2'], 1, ['osu_bw'], 2))
    writer = run_files.Writer(folder / run_files.RESULTS_FILE)
    writer.write_header(
        run='run',
        started=STARTED,
        site='workstation',
        wanted=wanted,
        inputs={'module osu-native/2': 'another'},
    )
    done = bench('--resume', folder)
    assert (
        done.returncode == 1
        and 'module osu-native/2' in done.stderr
        and len(run_files.read_entries(folder)[0]) == 1
    )


def test_one_process_measures_in_a_folder(tmp_path):
    script = (
        'import sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container.bench import BenchError, holding\n'
        'try:\n    with holding.lock_run(sys.argv[2]): pass\nexcept BenchError as err: sys.exit(str(err))'
    )
    other = [sys.executable, '-c', script, PROJECT, tmp_path]
    with holding.lock_run(tmp_path):
        refused = run(other)
    assert refused.returncode == 1 and f'process {os.getpid()} ' in refused.stderr
    assert run(other).returncode == 0


def test_a_full_disk_leaves_whole_lines_only(tmp_path):
    path = tmp_path / run_files.RESULTS_FILE
    writer = run_files.Writer(path)
    writer.write_header(run='x', started='now', site='workstation')
    before = path.read_bytes()
    script = (
        'import sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container.bench.results import run_files\n'
        'try: run_files.Writer(sys.argv[2]).add("end", ended="x" * 5000)\nexcept OSError as err: print(err)'
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, len(before) + 100))

    done = run([sys.executable, '-c', script, PROJECT, path], preexec_fn=limit)
    assert 'File too large' in done.stdout and done.stderr == ''
    assert path.read_bytes() == before

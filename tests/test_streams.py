"""Commands whose standard streams are closed, full or gone, and whose memory is limited."""
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from osu_container import children, cli, streams
from osu_container.core.reading import answering
from osu_container.core.reading.image import Image
from tests.helpers.machine import PROJECT, PYTHON_36, run

COMMAND = PROJECT / 'bin' / 'osu-container'


def shell(script, *words):
    return run(['bash', '-c', script, '-', *words])


@pytest.fixture
def output(tmp_path):
    """A job's output with a message that `osu-container why` knows."""
    path = tmp_path / 'slurm-1.out'
    path.write_text('cxip_gen_auth_key failed: -38\n')
    return path


@pytest.mark.parametrize('python', [sys.executable, pytest.param(PYTHON_36, marks=pytest.mark.skipif(
    not PYTHON_36, reason='no Python 3.6 here'))])
@pytest.mark.parametrize('closed, code, says', [
    ('>&-', 0, ''), ('<&-', 0, ''), ('2>&-', 0, ''), ('<&- >&- 2>&-', 0, ''),
    ('>/dev/full', 1, 'No space left on device'), ('>/dev/full 2>&-', 1, '')])
def test_a_closed_or_full_stream_is_no_traceback(output, python, closed, code, says):
    done = shell(f'exec "$@" {closed}', python, '-I', COMMAND, 'why', output)
    assert done.returncode == code and says in done.stderr, done.stderr
    assert all(line.startswith('osu-container why: error: ') for line in done.stderr.splitlines())


def test_a_file_never_gets_the_number_of_a_closed_stream(tmp_path):
    script = ('import os, subprocess, sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container import streams\n'
              'streams.prepare()\nhandle = open(sys.argv[2], "w")\nprint("to nobody", flush=True)\n'
              'subprocess.call(["echo", "to nobody"])\nsys.exit(0 if handle.fileno() > 2 else 1)')
    done = shell('exec "$@" <&- >&- 2>&-', sys.executable, '-c', script, PROJECT, tmp_path / 'file')
    assert done.returncode == 0 and (tmp_path / 'file').read_text() == ''


def test_too_little_memory_is_said():
    script = ('import sys; sys.path.insert(0, sys.argv[1])\nfrom osu_container import streams\n'
              'sys.exit(streams.guarded("osu-container x", lambda: bytearray(1 << 32)))')
    done = shell('ulimit -v 500000; exec "$@"', sys.executable, '-c', script, PROJECT)
    assert done.returncode == 1
    assert done.stderr.startswith('osu-container: error: not enough memory. Give this shell more')


def test_a_hangup_that_is_ignored_stays_ignored_and_no_handler_is_left(output, monkeypatch):
    """nohup; and who calls main() in a process, such as pytest, ends by SIGTERM as before."""
    during, before = [], {number: signal.getsignal(number) for number in streams.ASKS}
    monkeypatch.setattr('osu_container.why.cli.main', lambda options: during.extend(map(signal.getsignal, before)) or 0)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert cli.main(['why', str(output)]) == 0
        assert dict(zip(before, during)) == {signal.SIGHUP: signal.SIG_IGN, signal.SIGTERM: streams.end}
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is before[signal.SIGTERM] is not streams.end
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_command_runs_in_a_thread(output):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(cli.main(['why', str(output)])))
    thread.start()
    thread.join()
    assert codes == [0]


# ---- commands that it has started

def started(script, **options):
    """Start a shell script as the leader of a group; return its Popen once it has said something."""
    child = subprocess.Popen(['sh', '-c', script], start_new_session=True, stdout=subprocess.PIPE, **options)
    assert child.stdout.readline()
    return child


@pytest.mark.parametrize('script, code', [
    ('sleep 60 & echo ready; wait', -signal.SIGTERM),
    # asked, it ignores that, as does what it has started
    ('trap "" TERM; sleep 60 & echo ready; wait', -signal.SIGKILL),
    # it has ended itself, and what it started runs on
    ('sleep 60 >/dev/null & echo ready', 0)])
def test_a_group_is_ended_with_all_that_it_started(script, code):
    child = started(script)
    if not code:
        child.wait(60)
        assert children.group_runs(child.pid)
    children.end_group(child, patience=0.5)
    assert child.returncode == code and not children.group_runs(child.pid)


def test_what_only_waits_to_be_reaped_does_not_run():
    child = started('echo ready')
    end = time.monotonic() + 60
    while children.group_runs(child.pid) and time.monotonic() < end:
        time.sleep(0.01)
    assert child.returncode is None and not children.group_runs(child.pid), 'it is a zombie'
    child.wait()


def test_a_signal_that_comes_while_a_command_starts_finds_it_noted():
    """Without signals_held() the handler runs before the assignment, and the command stays."""
    program = '''
import os, signal, subprocess, sys
from osu_container import children
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
children.Popen = children.subprocess.Popen
def early(*words, **options):
    global child
    os.kill(os.getpid(), signal.SIGTERM)
    child = children.Popen(*words, **options)
    return child
children.subprocess.Popen = early
try:
    with children.started(['sleep', '60']):
        pass
finally:
    print(child.pid, child.returncode)
'''
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    pid, code = done.stdout.split()
    assert int(code) == -signal.SIGTERM, 'the command itself gets its signals as ever'
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


# ---- files that never answer

@pytest.fixture
def silent(tmp_path, monkeypatch):
    """A file that never answers, as one of a mount whose server is gone (str)."""
    path, stat = str(tmp_path / 'job.out'), os.stat
    monkeypatch.setattr(os, 'stat', lambda name, **more: time.sleep(60) if name == path else stat(name, **more))
    monkeypatch.setenv(answering.VARIABLE, '0.3')
    return path


def test_a_command_names_the_file_that_does_not_answer(silent, tmp_path, capsys):
    assert cli.main(['why', str(tmp_path), silent]) == 1
    assert f'why: error: {silent} does not answer: nothing came for 0.3 s' in capsys.readouterr().err


def test_who_opens_an_image_without_a_command_is_told_as_well(silent):
    with pytest.raises(answering.NoAnswer, match='does not answer'):
        Image(silent, '')


def test_files_that_answer_or_are_not_there_are_read_on(tmp_path):
    answering.touch(str(tmp_path), str(tmp_path / 'none'), __file__, 'a\0b')
    answering.ask_for([])

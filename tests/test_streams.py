"""Commands whose standard streams are closed, full or gone, and whose memory is limited."""
import signal
import sys
import threading

import pytest

from osu_container import cli, streams
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

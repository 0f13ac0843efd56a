"""Commands that run for long are ended with all that they have started, whatever interrupts this program."""
import os
import signal
import subprocess
import sys
import time

import pytest

from osu_container import children


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

"""Commands that run for long: whatever interrupts this program ends them too, with all that they have started."""
import contextlib
import functools
import os
import signal
import subprocess
import time

#: Signals that end this program
ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
#: Seconds that a command has to end by itself when it is asked to: srun ends its step then
PATIENCE = 15


@contextlib.contextmanager
def signals_held():
    """
    Hold back the signals that end this program, so that one that comes while a command starts finds it noted.

    Gives what preexec_fn must be (a function): the command itself gets its signals as ever.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield functools.partial(signal.pthread_sigmask, signal.SIG_SETMASK, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def started(command, also=None, **options):
    """
    Start command (list of str) as the leader of a process group of its own; give its Popen.

    If the block is left by an error or an interruption, it is ended with all that it started. Raises OSError if it
    cannot be started. also: function that the command calls before it begins; options: of Popen
    """
    child = None
    try:
        with signals_held() as release:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                     preexec_fn=lambda: (release(), also and also()), **options)
        yield child
    except BaseException:
        if child is not None:
            end_group(child)
        raise


def group_runs(group):
    """Return whether a process of a process group (int) runs; those that only wait to be reaped do not (bool)."""
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat') as handle:
                    fields = handle.read().rpartition(')')[2].split()
            except OSError:  # it has ended meanwhile
                continue
            if fields and int(fields[2]) == group and fields[0] not in 'ZX':
                return True
    return False


def end_group(child, patience=PATIENCE):
    """End a child (Popen that leads a process group) and all that it started: ask, force after patience (seconds)."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if child.poll() is not None and not group_runs(child.pid):
                return
            time.sleep(0.02)

"""
The standard streams of a command: closed ones, names that an encoding lacks, a full disk or nobody
behind them. And commands that run for long: whatever interrupts this program ends them too, with
all that they have started.

Python 3.6 and its standard library only: the commands of installed modules use it too.
"""

import contextlib
import errno
import io
import os
import signal
import subprocess
import sys
import threading
import time

from osu_container.base import columns
from osu_container.base.terminal import STREAMS, escape_line

#: Signals that ask a program to end: Slurm's, and that of a terminal or a connection that is gone
TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class SignalExit(SystemExit):
    """
    A signal that asks this program to end. As with Ctrl-C what it has begun is put in order on
    the way out.
    """

    def __init__(self, number):
        """:param number: int, of the signal"""
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def handle_signal(number, _):
    """Handle a signal (int) that asks this program to end; the next one changes nothing."""
    for each in TERMINATION_SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise SignalExit(number)


@contextlib.contextmanager
def exit_on_signals():
    """
    Let this program end in order when it is asked to, in a with statement; a thread has no say
    in that.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
    before = dict(item for item in before.items() if item[1] not in (None, signal.SIG_IGN))  # nohup
    try:
        for number in before:
            signal.signal(number, handle_signal)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prepare_streams():
    """
    Open to nothing what is closed, and let any name be printed.

    The number of a closed stream would go to the next file that is opened, and what is printed by a
    program that is started would go into that file. Names of files that an encoding lacks are
    written as \\xe4, as stderr does.
    """
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(number)
        except OSError:
            nothing = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
            os.set_inheritable(nothing, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, 'r' if number == 0 else 'w', closefd=False))
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(errors='backslashreplace')
    elif isinstance(sys.stdout, io.TextIOWrapper):  # Python 3.6
        encoding, at_once = sys.stdout.encoding, sys.stdout.line_buffering
        sys.stdout = io.TextIOWrapper(
            sys.stdout.detach(), encoding, 'backslashreplace', line_buffering=at_once
        )


def print_stderr(text):
    """Print text (str) on stderr, if somebody is there: a terminal may be gone."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        pass


def discard_output():
    """
    Forget what stdout has not taken: at its end Python would try again, and say so over many
    lines.
    """
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # it is no file, as in a test
        pass


#: Errors that are none of a file's but of a limit of the shell, of the machine or of a job -> what
#: shows the limit
LIMIT_COMMANDS = {
    errno.EMFILE: 'ulimit -n',
    errno.ENFILE: 'sysctl fs.file-max',
    errno.EAGAIN: 'ulimit -u',
    errno.ENOMEM: 'ulimit -v',
}


def format_os_error(err):
    """
    Return what an OSError says (str): of what, what is wrong, and what to do where that is not
    in its text.
    """
    if err.errno in LIMIT_COMMANDS:
        return "%s. Give this shell more (%s), or end what takes it" % (
            err.strerror,
            LIMIT_COMMANDS[err.errno],
        )
    if err.filename in STREAMS.values():
        return "%s: %s. Send it to a file or a disk that takes it" % (err.filename, err.strerror)
    if err.filename is not None:
        return "%s: %s" % (err.filename, err.strerror)
    if err.errno == errno.ENOENT:  # of all that is asked of the system only this has no name
        return "the current folder was removed. Go to another one: cd FOLDER"
    return "%s; the system does not say of which file. Look at the disks: df -h, dmesg" % (
        err.strerror or err
    )


def run_guarded(prog, function, flush_on_failure=True):
    """
    Call function (without arguments) and see that all it prints arrives; return its exit code
    (int).

    1 with a message if stdout does not take it, if memory does not suffice or a file cannot be
    read; 1 without one where the reader of stdout, such as head, has seen enough.

    :param prog: str, name of the command for messages; told: bool, False where function says itself
        why it fails
    """
    try:
        code = function()
        if not code or flush_on_failure:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        pass
    except MemoryError:
        # by the first word: chance decides whether memory ends before the rest is known
        print_stderr(
            "%s: error: not enough memory. Give this shell more (ulimit -v), or the job (--mem)"
            % prog.split()[0]
        )
    except OSError as err:
        print_stderr("%s: error: %s" % (prog, format_os_error(err)))
    return 1


def run_process(function):
    """
    Call function (without arguments), which is all that this process does; return its exit code
    (int).

    Here is what a process has one of: streams that are open, signals that end it in order, its last
    word.
    """
    prepare_streams()
    with exit_on_signals():
        code = function()
    try:
        sys.stdout.flush()
    except OSError:  # said already
        discard_output()
    return code


class ProgressScreen:
    """
    What a long command says: lines that stay, and how far it is.

    On a terminal the latter is one line that is written over. A file gets it where it has changed,
    and now and then.
    """

    INTERVAL = 10.0  # seconds between two lines in a file

    def __init__(self, name='stdout'):
        """:param name: str, of the stream in sys"""
        self.name, self.begin, self.last, self.told, self.shown = (
            name,
            time.monotonic(),
            time.monotonic(),
            None,
            False,
        )

    def is_terminal(self):
        """Return whether it is a terminal (bool)."""
        stream = getattr(sys, self.name)
        return stream is not None and stream.isatty()

    def format_elapsed(self, text):
        """Return text (str) behind the seconds since the beginning."""
        return '[%4.0f s] %s' % (time.monotonic() - self.begin, text)

    def print_line(self, text=''):
        """Print a line that stays."""
        self.clear_progress()
        print(text, file=getattr(sys, self.name), flush=True)
        self.last = time.monotonic()

    def show_progress(self, text):
        """Say how far it is."""
        line = self.format_elapsed(escape_line(text))
        if self.is_terminal():
            self._write_stream('\r\033[K' + line[: columns.get_line_width() - 1])
            self.shown = True
        elif text != self.told and time.monotonic() - self.last >= self.INTERVAL:
            self.print_line(line)
            self.told = text

    def clear_progress(self):
        """Take the line away that is written over."""
        if self.shown:
            self._write_stream('\r\033[K')
            self.shown = False

    def _write_stream(self, text):
        stream = getattr(sys, self.name)
        getattr(stream, 'write_raw', stream.write)(text)
        stream.flush()


class Progress:
    """
    Show on stderr, where that is a terminal, what is being done; a file has no use for it.

    As a context manager: the line is removed at its end, or when stop() is called before something
    is printed.
    """

    def __init__(self, text):
        """text: str, what is being done; calling it changes that."""
        self.text, self.screen = text, ProgressScreen('stderr')

    def __call__(self, text):
        """Show text (str) for what is being done from now on."""
        if self.screen.is_terminal():
            self.screen.show_progress(text)

    def __enter__(self):
        """Begin."""
        self(self.text)
        return self

    def __exit__(self, *_):
        """End, whatever happened."""
        self.stop()

    def stop(self):
        """Remove the line."""
        self.screen.clear_progress()


#: Seconds that a command has to end by itself when it is asked to: srun ends its step then
PATIENCE = 15


def terminate_with_parent(parent):
    """
    Return a function by which a process gets SIGTERM when its parent (int) has ended, however that
    was (kill -9).

    For preexec_fn. It does nothing where Python has no way to call prctl(2).
    """
    try:
        import ctypes

        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, AttributeError, OSError):
        return lambda: None

    def prepare():
        prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG of linux/prctl.h
        if os.getppid() != parent:  # it was killed just before
            os.kill(os.getpid(), signal.SIGTERM)

    return prepare


@contextlib.contextmanager
def start_process_group(command, **options):
    """
    Start command (list of str) as the leader of a process group of its own; give its Popen.

    If the block is left by an error or an interruption, it is ended with all that it started; where
    this process is killed, it is asked to end. Raises OSError if it cannot be started. options: of
    Popen
    """
    child = None
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=terminate_with_parent(os.getpid()),
            **options,
        )
        yield child
    except BaseException:
        if child is not None:
            terminate_process_group(child)
        raise


def terminate_process_group(child, patience=PATIENCE):
    """
    End a child (Popen that leads a process group): ask, kill after patience (seconds) it and
    what is left of it.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()

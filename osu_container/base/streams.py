"""
Handle streams and signals of a command, and start programs that end with it.

Streams may be closed, full or without a reader, or lack the letters of a name. Python 3.6 and its
standard library only: the commands of installed modules import it.
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
from types import FrameType
from typing import Any, Callable, Iterator, List, Optional

from osu_container.base import columns
from osu_container.base.terminal import STREAMS, escape_line

#: Signals that terminate a program in order: Slurm's, and that of a closed terminal
TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class SignalExit(SystemExit):
    """Exit because of a signal; as with Ctrl-C, the program cleans up on the way out."""

    code: int

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def handle_signal(number: int, _: Optional[FrameType]) -> None:
    """Raise SignalExit, and ignore further signals during the clean-up."""
    for termination_signal in TERMINATION_SIGNALS:
        signal.signal(termination_signal, signal.SIG_IGN)
    raise SignalExit(number)


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """Turn termination signals into SignalExit in a with block of the main thread."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
    # nohup ignores SIGHUP
    before = {
        number: handler
        for number, handler in before.items()
        if handler not in (None, signal.SIG_IGN)
    }
    try:
        for number in before:
            signal.signal(number, handle_signal)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prepare_streams() -> None:
    """
    Open closed standard streams to /dev/null, and let stdout print any file name.

    The next opened file would get the number of a closed stream, and the output of a program that
    is started would go into that file. Letters that the encoding lacks become \\xe4, as on stderr.
    """
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(number)
        except OSError:
            nothing = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number
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


def print_stderr(text: str) -> None:
    """Print `text` on stderr, unless it cannot be written, as on a closed terminal."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        pass


def discard_output() -> None:
    """Drop the unwritten output of stdout, for which Python would print a traceback."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a file, as in a test
        pass


#: Errors caused by a limit of the shell, the machine or the job -> command that prints the limit
LIMIT_COMMANDS = {
    errno.EMFILE: 'ulimit -n',
    errno.ENFILE: 'sysctl fs.file-max',
    errno.EAGAIN: 'ulimit -u',
    errno.ENOMEM: 'ulimit -v',
}


def format_os_error(err: OSError) -> str:
    """Return the message of an OSError: the file, the problem and the remedy."""
    if err.errno in LIMIT_COMMANDS:
        command = LIMIT_COMMANDS[err.errno]
        return f"{err.strerror}. Raise the limit ({command}), or stop the programs that reach it"
    if err.filename in STREAMS.values():
        return f"{err.filename}: {err.strerror}. Redirect it to a file on another disk"
    if err.filename is not None:
        return f"{err.filename}: {err.strerror}"
    if err.errno == errno.ENOENT:  # only the call for the current folder has no file name
        return "the current folder was removed. Change to another one: cd FOLDER"
    return (
        f"{err.strerror or err}; the system does not name the file. Check the disks: df -h, dmesg"
    )


def run_guarded(prog: str, function: Callable[[], int], flush_on_failure: bool = True) -> int:
    """
    Call `function`, flush its output and return its exit code.

    The code is 1, with a message, if stdout cannot be written, memory is exhausted or a file cannot
    be read; 1 without a message if the reader of stdout, such as head, has closed it.

    prog: name of the command for messages; flush_on_failure: False if `function` reports its own
    failures.
    """
    try:
        code = function()
        if not code or flush_on_failure:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        pass
    except MemoryError:
        # the first word only: memory may end before or after the subcommand is parsed
        print_stderr(
            f"{prog.split()[0]}: error: not enough memory. Raise the limit of the shell (ulimit -v) or "
            "of the job (--mem)"
        )
    except OSError as err:
        print_stderr(f"{prog}: error: {format_os_error(err)}")
    return 1


def run_process(function: Callable[[], int]) -> int:
    """
    Call `function` as the only task of this process and return its exit code.

    Prepares the standard streams and the handlers of signals, and flushes stdout.
    """
    prepare_streams()
    with exit_on_signals():
        code = function()
    try:
        sys.stdout.flush()
    except OSError:  # reported already
        discard_output()
    return code


class ProgressScreen:
    """
    The output of a long command: permanent lines and the current progress.

    On a terminal the progress is one line that is overwritten. In a file it is a new line if it has
    changed, at most every INTERVAL seconds.
    """

    INTERVAL = 10.0

    def __init__(self, name: str = 'stdout') -> None:
        """Print on the stream sys.NAME."""
        self.name = name
        self.begin = self.last = time.monotonic()
        #: progress in the last line in a file
        self.printed: Optional[str] = None
        #: a progress line is visible on the terminal
        self.shown = False

    def is_terminal(self) -> bool:
        """Return whether the stream is a terminal."""
        stream = getattr(sys, self.name)
        return stream is not None and stream.isatty()

    def format_elapsed(self, text: str) -> str:
        """Return `text` after the seconds since the beginning."""
        return f'[{time.monotonic() - self.begin:4.0f} s] {text}'

    def print_line(self, text: str = '') -> None:
        """Print a permanent line."""
        self.clear_progress()
        print(text, file=getattr(sys, self.name), flush=True)
        self.last = time.monotonic()

    def show_progress(self, text: str) -> None:
        """Print the current progress."""
        line = self.format_elapsed(escape_line(text))
        if self.is_terminal():
            self._write_stream('\r\033[K' + line[: columns.get_line_width() - 1])
            self.shown = True
        elif text != self.printed and time.monotonic() - self.last >= self.INTERVAL:
            self.print_line(line)
            self.printed = text

    def clear_progress(self) -> None:
        """Remove the progress line of a terminal."""
        if self.shown:
            self._write_stream('\r\033[K')
            self.shown = False

    def _write_stream(self, text: str) -> None:
        stream = getattr(sys, self.name)
        getattr(stream, 'write_raw', stream.write)(text)
        stream.flush()


class Progress:
    """
    The current step of a command, shown on stderr if that is a terminal.

    As a context manager it removes the line at the end; call stop() before printing anything else.
    """

    def __init__(self, text: str) -> None:
        self.text, self.screen = text, ProgressScreen('stderr')

    def __call__(self, text: str) -> None:
        """Show `text` as the current step."""
        if self.screen.is_terminal():
            self.screen.show_progress(text)

    def __enter__(self) -> 'Progress':
        self(self.text)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the line."""
        self.screen.clear_progress()


#: Seconds from SIGTERM to SIGKILL, in which srun ends its step
PATIENCE = 15


def terminate_with_parent(parent: int) -> Callable[[], None]:
    """
    Return a preexec_fn by which a child gets SIGTERM when its parent exits or is killed.

    It does nothing if Python cannot call prctl(2).
    """
    try:
        import ctypes

        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, AttributeError, OSError):
        return lambda: None

    def prepare() -> None:
        prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG of linux/prctl.h
        if os.getppid() != parent:  # the parent was killed just before
            os.kill(os.getpid(), signal.SIGTERM)

    return prepare


@contextlib.contextmanager
def start_process_group(command: List[str], **options: Any) -> Iterator['subprocess.Popen[Any]']:
    """
    Start `command` as the leader of a new process group in a with block; yield its Popen.

    An error or interruption of the block terminates the whole group; a kill of this process sends
    SIGTERM to the leader. options: of Popen. Raises OSError if the command cannot be started.
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


def terminate_process_group(child: 'subprocess.Popen[Any]', patience: float = PATIENCE) -> None:
    """Send SIGTERM to the process group of `child`, and SIGKILL after `patience` seconds."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()

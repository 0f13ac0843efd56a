"""
Handle the standard streams, the signals and the child processes of a command.

With this module, a command works even if a standard stream is closed, is full or has no reader, or
if the encoding of the terminal lacks some letters. A child process terminates together with the
command.

This module uses only the standard library of Python 3.6, because the commands of installed modules
import streams.py.
"""

import contextlib
import errno
import gc
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

#: Signals that ask a program to terminate: Slurm sends SIGTERM, a closed terminal sends SIGHUP
TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class SignalExit(SystemExit):
    """
    A termination signal, such as SIGTERM, stops this program.

    Like KeyboardInterrupt, this exception runs the `finally` blocks of the program.
    """

    code: int

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def handle_signal(number: int, _: Optional[FrameType]) -> None:
    """Raise SignalExit, and ignore later termination signals so that the clean-up can end."""
    for termination_signal in TERMINATION_SIGNALS:
        signal.signal(termination_signal, signal.SIG_IGN)
    raise SignalExit(number)


@contextlib.contextmanager
def exit_on_signals() -> Iterator[None]:
    """
    Raise SignalExit if a termination signal arrives during the with block.

    In any thread except the main thread the function does nothing, because Python sets signal
    handlers only in the main thread.
    """
    previous_handlers = {}
    if threading.current_thread() is threading.main_thread():
        previous_handlers = {number: signal.getsignal(number) for number in TERMINATION_SIGNALS}
    # A signal that is ignored, such as SIGHUP under nohup, stays ignored.
    previous_handlers = {
        number: handler
        for number, handler in previous_handlers.items()
        if handler not in (None, signal.SIG_IGN)
    }
    try:
        for number in previous_handlers:
            signal.signal(number, handle_signal)
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def prepare_streams() -> None:
    """
    Redirect closed standard streams to /dev/null, and make stdout accept any character.

    If a standard stream stayed closed, the next file that this program opens would get the file
    descriptor of the stream, and the output of a child process would go to the file. If the
    encoding of stdout lacks a character, stdout prints an escape such as \\xe4, as stderr does.
    """
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(number)
        except OSError:
            # The system gives the new file the lowest free number, the number of this stream.
            null_file = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(null_file, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, 'r' if number == 0 else 'w', closefd=False))
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(errors='backslashreplace')
    # In Python 3.6 a TextIOWrapper has no reconfigure().
    elif isinstance(sys.stdout, io.TextIOWrapper):
        encoding, line_buffering = sys.stdout.encoding, sys.stdout.line_buffering
        sys.stdout = io.TextIOWrapper(
            sys.stdout.detach(), encoding, 'backslashreplace', line_buffering=line_buffering
        )


def print_stderr(text: str) -> None:
    """Print `text` on stderr, and ignore errors of stderr such as a closed terminal."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        pass


def discard_output() -> None:
    """
    Discard the buffered output of stdout after an error of stdout.

    Otherwise Python would try to write the buffered output again at exit, and print a traceback.
    """
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # In tests stdout may be an object without a file number.
        pass


#: Error number of a limit of the shell, the machine or the job -> command that prints the limit
LIMIT_COMMANDS = {
    errno.EMFILE: 'ulimit -n',
    errno.ENFILE: 'sysctl fs.file-max',
    errno.EAGAIN: 'ulimit -u',
    errno.ENOMEM: 'ulimit -v',
}


def format_os_error(err: OSError) -> str:
    """Return the message for an OSError: the file, the problem and the remedy."""
    if err.errno in LIMIT_COMMANDS:
        command = LIMIT_COMMANDS[err.errno]
        return (
            f"{err.strerror}. Stop programs that you do not need, or raise the limit (to show the "
            f"limit: {command})"
        )
    if err.filename in STREAMS.values():
        return f"{err.filename}: {err.strerror}. Redirect the output to a file on another disk"
    if err.filename is not None:
        return f"{err.filename}: {err.strerror}"
    # Python adds a file name to every ENOENT except the error of os.getcwd().
    if err.errno == errno.ENOENT:
        return "the current folder was removed. Change to an existing folder: cd FOLDER"
    return (
        f"{err.strerror or err}. The system does not name the file that caused the error. Check "
        "the disks with: df -h; dmesg"
    )


def run_guarded(prog: str, function: Callable[[], int], flush_on_failure: bool = True) -> int:
    """
    Call `function`, flush stdout and return the exit code of the command.

    Without an error, the exit code is the result of `function`. The exit code is 1, with a message
    on stderr, if a file cannot be read, if stdout cannot be written, or if the memory is exhausted.
    The exit code is 1 without a message if the reader of stdout, such as head, has terminated.

    prog: name of the command for messages. flush_on_failure: whether to flush stdout also if the
    result of `function` is not 0.
    """
    try:
        code = function()
        if not code or flush_on_failure:
            sys.stdout.flush()
        return code
    except BrokenPipeError:
        pass
    except MemoryError:
        # `prog` contains the subcommand only if memory was exhausted after parsing. The first word
        # alone gives the same message in both cases.
        print_stderr(
            f"{prog.split()[0]}: error: not enough memory. Raise the memory limit of the shell "
            "(ulimit -v) or of the job (--mem)"
        )
    except OSError as err:
        print_stderr(f"{prog}: error: {format_os_error(err)}")
    return 1


def run_process(function: Callable[[], int]) -> int:
    """
    Call `function`, which is the only task of this process, and return its exit code.

    Before the call, run_process() prepares the standard streams and the signal handlers. After the
    call, run_process() flushes stdout.
    """
    prepare_streams()
    # The collector passes over all objects again and again while a large file is read.
    gc.set_threshold(200000)
    with exit_on_signals():
        code = function()
    try:
        sys.stdout.flush()
    except OSError:  # `function` has reported the error already.
        discard_output()
    return code


class ProgressScreen:
    """
    The output of a long command: permanent lines, and one line with the current progress.

    On a terminal each progress line overwrites the previous progress line. If the output goes to a
    file, each change of the progress adds a line, but at most one line every INTERVAL seconds.
    """

    INTERVAL = 10.0

    def __init__(self, name: str = 'stdout') -> None:
        """Create a screen that prints on the stream `name` of the module sys."""
        self.name = name
        self.begin = self.last = time.monotonic()
        #: progress that was last written to a file
        self.printed: Optional[str] = None
        #: whether the terminal currently shows a progress line
        self.shown = False

    def is_terminal(self) -> bool:
        """Return whether the stream is a terminal."""
        stream = getattr(sys, self.name)
        return stream is not None and stream.isatty()

    def format_elapsed(self, text: str) -> str:
        """Return `text` with the elapsed time in front, such as '[  12 s] text'."""
        return f'[{time.monotonic() - self.begin:4.0f} s] {text}'

    def print_line(self, text: str = '') -> None:
        """Print `text` as a permanent line."""
        self.clear_progress()
        print(text, file=getattr(sys, self.name), flush=True)
        self.last = time.monotonic()

    def show_progress(self, text: str) -> None:
        """Print `text` as the current progress line."""
        line = self.format_elapsed(escape_line(text))
        if self.is_terminal():
            self._write_stream('\r\033[K' + line[: columns.get_line_width() - 1])
            self.shown = True
        elif text != self.printed and time.monotonic() - self.last >= self.INTERVAL:
            self.print_line(line)
            self.printed = text

    def clear_progress(self) -> None:
        """Remove the progress line from the terminal."""
        if self.shown:
            self._write_stream('\r\033[K')
            self.shown = False

    def _write_stream(self, text: str) -> None:
        stream = getattr(sys, self.name)
        getattr(stream, 'write_raw', stream.write)(text)
        stream.flush()


class Progress:
    """
    Show the current step of a command on stderr, if stderr is a terminal.

    At the end of a with block, the object removes the progress line. A command calls stop() before
    the command prints other output.
    """

    def __init__(self, text: str) -> None:
        self.text, self.screen = text, ProgressScreen('stderr')

    def __call__(self, text: str) -> None:
        """Show `text` as the current step of the command."""
        if self.screen.is_terminal():
            self.screen.show_progress(text)

    def __enter__(self) -> 'Progress':
        self(self.text)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the progress line from the terminal."""
        self.screen.clear_progress()


#: Seconds between SIGTERM and SIGKILL. srun needs this time to cancel its job step
PATIENCE = 15


def load_prctl() -> Any:
    """Return the function prctl(2) of the C library, None if Python cannot call it."""
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True).prctl
    except (ImportError, AttributeError, OSError):
        return None


@contextlib.contextmanager
def prepare_child(first: Callable[[], object] = lambda: None) -> Iterator[Callable[[], None]]:
    """
    Yield the preexec_fn for a with block that starts one child process with Popen.

    When this process terminates, the kernel sends SIGTERM to the child process, if Python can call
    prctl(2). Ctrl-C and termination signals take effect after the with block. Without this delay,
    Python would discard the exception of a signal that arrives during a fork. At that time Python
    runs the functions of os.register_at_fork(), and ignores the exceptions of these functions.
    first: a function that the preexec_fn calls first.
    """
    parent, prctl = os.getpid(), load_prctl()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,) + TERMINATION_SIGNALS)

    def prepare() -> None:
        first()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if prctl is None:
            return
        prctl(1, signal.SIGTERM, 0, 0, 0)  # 1: PR_SET_PDEATHSIG in linux/prctl.h
        if os.getppid() != parent:  # The parent was killed before this call of prctl().
            os.kill(os.getpid(), signal.SIGTERM)

    try:
        yield prepare
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextlib.contextmanager
def start_process_group(command: List[str], **options: Any) -> Iterator['subprocess.Popen[Any]']:
    """
    Start `command` in a new process group for a with block, and yield the Popen object.

    An exception in the block, such as Ctrl-C, terminates all processes of the group. If the calling
    process is killed, the kernel sends SIGTERM to `command`. options: keyword arguments of Popen.
    Raises OSError if the command cannot be started.
    """
    child = None
    try:
        with prepare_child() as prepare:
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=prepare,
                **options,
            )
        yield child
    except BaseException:
        if child is not None:
            terminate_process_group(child)
        raise


def terminate_process_group(child: 'subprocess.Popen[Any]', patience: float = PATIENCE) -> None:
    """
    Send SIGTERM and then SIGKILL to the process group of `child`.

    The function sends SIGKILL after `patience` seconds, or as soon as `child` has terminated,
    because the child processes of `child` may still run.
    """
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()

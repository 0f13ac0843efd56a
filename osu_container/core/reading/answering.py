"""
Files that never answer: a mount whose server is gone holds whoever asks for a file of it, and no signal ends that.

A thread or an alarm is of no use there: the process itself cannot end before its system call does. So a command that
reads does its work in a child, which writes down what it asks for (asked), and who was called watches that, has no such
file open, and ends after a time with a message (begin). Under EasyBuild a child tries the file first (touch).

Works on Python 3.6 with the standard library only.
"""
import glob
import mmap
import os
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import threading
import time

#: Seconds in which each single question about a file must be answered, and the variable for more of them: a server of
#: Lustre or NFS that was started again answers after some minutes
PATIENCE, VARIABLE = 60.0, 'OSU_CONTAINER_PATIENCE'
#: Seconds between two looks
_LOOK = 0.25
#: Seconds for a command that was told to end (Ctrl-C, scancel): a library, or a file that does not answer, may hold it
_GRACE = 5.0
#: What the child writes down: number of the question, length of the path; behind it the path
_HEAD = struct.Struct('=QI')
_ROOM = 4096
#: mmap that the child shares with who watches it, None where nobody does; questions so far, and the path (bytes) of the
#: one that is open
_board, _number, _path = None, 0, b''


class NoAnswer(Exception):
    """A file that does not answer; the text names it and says what to do."""


def patience():
    """Return the seconds (float) in which a file must answer."""
    try:
        wanted = float(os.environ.get(VARIABLE) or PATIENCE)
    except ValueError:
        wanted = PATIENCE
    return wanted if 0 < wanted < 1e6 else PATIENCE


def _problem(path, seconds):
    """Return what is said (str) of a path (str or bytes) that has not answered for seconds (float)."""
    return ("%s does not answer: nothing came for %g s. Its file system may be down (NFS, Lustre or FUSE whose server "
            "is gone): try `stat` on it in another shell. To wait longer: export %s=600"
            % (os.fsdecode(path), seconds, VARIABLE))


class asked(object):
    """A with statement in which the file system is asked for a path: who watches knows for what this process waits."""

    __slots__ = ('path', 'before')

    def __init__(self, path):
        """path: str, bytes or Path."""
        self.path = path

    def __enter__(self):
        if _board is not None:
            self.before = _path
            _note(os.fsencode(self.path)[:_ROOM])

    def __exit__(self, *_):
        if _board is not None:
            _note(self.before)


def _note(path):
    """Write down that path (bytes) is asked for now, b'' for nothing."""
    global _number, _path
    _number, _path = _number + 1, path
    _HEAD.pack_into(_board, 0, 0, 0)  # who reads meanwhile sees no half of it
    _board[_HEAD.size:_HEAD.size + len(path)] = path
    _HEAD.pack_into(_board, 0, _number, len(path))


def ask_for(words):
    """Ask for each file that words (list of str, of a command line) may name: FILE, --option=FILE, FILE:more."""
    if _board is not None:
        for word in words:
            for path in {word, word.partition('=')[2], word.rpartition(':')[0]}:
                with asked(path):
                    os.path.exists(path)


def begin(prog):
    """
    Go on in a child of this process, which waits for it, ends as it does, and never asks for a file itself.

    If a file does not answer the child, this process says so and ends with 1. Without a second process (ulimit -u) all
    goes on as it is. To be called before there are threads.

    :param prog: str, name of the command for the message
    """
    global _board
    pipes = _pipes()
    try:
        board = mmap.mmap(-1, _HEAD.size + _ROOM)
        child = os.fork()
    except OSError:
        for number in set(one for both in pipes.values() for one in both):
            os.close(number)
        return
    if child == 0:
        _board = board
        for number, (_, theirs) in pipes.items():
            os.dup2(theirs, number)
        for number in set(one for both in pipes.values() for one in both):
            os.close(number)
        return
    _watch(child, board, prog, pipes)


def _pipes():
    """
    Return {1 or 2: pipe (pair of int)} for the streams that end at another process, one pipe where both are the same.

    That process reads to their end, so a child that never ends must not hold them open.
    """
    found, known = {}, {}
    for number in (1, 2):
        try:
            one = os.fstat(number)
            if stat.S_ISFIFO(one.st_mode) or stat.S_ISSOCK(one.st_mode):
                place = one.st_dev, one.st_ino
                known[place] = known.get(place) or os.pipe()
                found[number] = known[place]
        except OSError:  # it is closed, or there are too many
            continue
    return found


def _pass_on(ours, number):
    """Write all that comes out of a pipe (int) to a stream (int)."""
    try:
        block = os.read(ours, 1 << 16)
        while block:
            while block:
                block = block[os.write(number, block):]
            block = os.read(ours, 1 << 16)
    except OSError:  # nobody reads it any more: the child is told so in the same way
        pass
    os.close(ours)


def _watch(child, board, prog, pipes):
    """End as child (int, process id) ends, or with 1 where it waits for a file for too long; see begin()."""
    passed_on = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
    heeded = {one for one in passed_on if signal.getsignal(one) != signal.SIG_IGN}  # nohup has SIGHUP ignored
    signal.pthread_sigmask(signal.SIG_BLOCK, passed_on | {signal.SIGCHLD})
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    threads = [threading.Thread(target=_pass_on, args=(both[0], number), daemon=True)
               for both, number in dict((both, number) for number, both in pipes.items()).items()]
    for both in set(pipes.values()):
        os.close(both[1])
    before = threading.stack_size(1 << 18)  # they do little, and must not fail where ulimit -s is large
    for thread in threads:
        thread.start()
    threading.stack_size(before)
    most, last, waited = patience(), None, 0.0
    end, by = None, None  # when a command that was told to end must have done so, and the signal
    seen = time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            for thread in threads:
                thread.join()
            _end_as(status)
        told = signal.sigtimedwait(passed_on | {signal.SIGCHLD}, _LOOK)
        if told is not None and told.si_signo in passed_on:
            if told.si_code <= 0:  # what a terminal sends goes to both of them
                os.kill(child, told.si_signo)
            if end is None and told.si_signo in heeded:
                end, by = time.monotonic() + _GRACE, told.si_signo
        number, size = _HEAD.unpack_from(board)
        path, now = board[_HEAD.size:_HEAD.size + size], time.monotonic()
        if end is not None and now > end:
            _tell(prog, "ended by %s" % signal.Signals(by).name)
            _give_up(child, path, 128 + by)
        # a job that is stopped (Ctrl-Z) or a machine that sleeps is no file that does not answer
        waited = waited + min(now - seen, 4 * _LOOK) if number == last and number and size else 0.0
        seen, last = now, number
        if waited >= most:
            _tell(prog, "error: " + _problem(path, most))
            _give_up(child, path, 1)


def _tell(prog, text):
    """Write text (str) of the command prog (str) to stderr, if that takes it."""
    from osu_container.core.writing.terminal import one_line
    try:
        sys.stderr.write("%s: %s\n" % (prog, one_line(text)))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass


def _give_up(child, path, code):
    """End child (int) by force, remove its temporary folders, end with code (int). path (bytes): what it waits for."""
    os.kill(child, signal.SIGKILL)
    temporary = os.environ.get('TMPDIR') or '/tmp'
    if not os.fsdecode(path).startswith(temporary):  # that would hold this process as well
        for folder in glob.glob(os.path.join(glob.escape(temporary), scratch_name(child) + '*')):
            shutil.rmtree(folder, ignore_errors=True)
    os._exit(code)


def scratch_name(number=None):
    """Return how the names of temporary folders of a process (int, its id; None: this one) begin (str)."""
    return 'mpicontainer-%d-' % (number or os.getpid())


def _end_as(status):
    """End this process as a child has, by status (int, as of waitpid)."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def touch(path):
    """
    Have a child look at path (str) and read its first byte, where nobody watches this process. Raises NoAnswer.

    What else is wrong with it says who reads it.
    """
    if _board is not None:
        return
    try:
        child = os.fork()
    except OSError:
        return
    if child == 0:
        try:
            # it may stay for ever, and must not hold open what others read to its end
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nothing, number)
            os.closerange(3, 1024)
            if stat.S_ISREG(os.stat(path).st_mode):
                os.read(os.open(path, os.O_RDONLY), 1)
            elif os.path.isdir(path):
                os.listdir(path)
        finally:
            os._exit(0)
    end, step = time.monotonic() + patience(), 0.0005
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            raise NoAnswer(_problem(path, patience()))
        time.sleep(step)
        step = min(2 * step, 0.1)


class Program(object):
    """A program that reads a file, and is given up where it neither says nor does anything for too long."""

    def __init__(self, process, path):
        """process: Popen, stdout is a pipe; path: str, the file that it reads."""
        self.process, self.path, self._done, self._since = process, path, None, time.monotonic()

    def _look(self):
        """Raise NoAnswer if the program has done nothing for too long."""
        try:
            with open('/proc/%d/stat' % self.process.pid) as handle:
                done = handle.read().rpartition(')')[2].split()[11:13]  # utime, stime
        except (OSError, ValueError):
            done = None
        if done != self._done:
            self._done, self._since = done, time.monotonic()
        elif time.monotonic() - self._since > patience():
            self.process.kill()
            raise NoAnswer(_problem(self.path, patience()))

    def lines(self):
        """Yield the lines (bytes) that it prints; one that is longer than 64 KiB in parts."""
        rest, pipe, waiting = b'', self.process.stdout.fileno(), select.poll()
        waiting.register(pipe, select.POLLIN)
        while True:
            while not waiting.poll(1000):
                self._look()
            self._since = time.monotonic()
            block = os.read(pipe, 1 << 16)
            found = _split(rest + block)
            rest = found.pop() if block and not found[-1].endswith(b'\n') else b''
            for line in filter(None, found):
                yield line
            if not block:
                return
            if len(rest) >= 1 << 16:
                yield rest
                rest = b''

    def communicate(self):
        """Return what it prints on both streams, as of Popen. Raises NoAnswer."""
        while True:
            try:
                return self.process.communicate(timeout=1)
            except subprocess.TimeoutExpired:
                self._look()

    def close(self):
        """Wait for its end; one that cannot be ended, because its file does not answer, is left."""
        self.process.stdout.close()  # it ends by that, where nobody reads on
        while self.process.poll() is None:
            try:
                self.process.wait(1)
            except subprocess.TimeoutExpired:
                try:
                    self._look()
                except NoAnswer:
                    return


def _split(data):
    """Return data (bytes) in lines with their ends: '\\n' alone ends one."""
    found = data.split(b'\n')
    lines = [line + b'\n' for line in found[:-1]]
    return lines + [found[-1]] if found[-1] or not lines else lines

"""
Kills Python at a chosen one of its changes to files, as kill -9 does by chance.

The moments are counted in changes (a file is opened for writing, renamed, removed; a folder is made, removed), as they
happen in the process itself: the same number is the same moment on any machine, however busy it is.

A copy of this file as sitecustomize.py, in a folder of PYTHONPATH, does that to a program (Program below).
"""
import atexit
import os
import shutil
import signal
import sys
import traceback

#: Audit events of changes (docs.python.org/3/library/audit_events.html), beside that of open()
CHANGES = ('os.rename', 'os.remove', 'os.rmdir', 'os.mkdir', 'os.link', 'os.symlink', 'os.truncate')


def kill_at(moment, folders):
    """
    Have this process killed before its change number moment (int, from 0) below folders (str).

    :return: function () -> how many changes (int) there were until now
    """
    left, folders = [moment], tuple(map(str, folders))

    def before(event, arguments):
        changes = (arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) if event == 'open' else event in CHANGES)
        if changes and isinstance(arguments[0], (str, bytes)) and os.path.abspath(
                os.fsdecode(arguments[0])).startswith(folders):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(before)
    return lambda: moment - left[0]


def killed(moment, folders, action):
    """
    Call action() in a process of its own that is killed before its change number moment (int) below folders (of str).

    :return: whether it was killed (bool): False where it ended before. Raises AssertionError if action() did.
    """
    return _forked(moment, folders, action)[0]


def changes(folders, action):
    """Call action() in a process of its own; return how many changes (int) it makes below folders (of str)."""
    return _forked(10 ** 9, folders, action)[1]


def _forked(moment, folders, action):
    """Return (whether it was killed, how many changes it made) of action() in a process of its own."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            made = kill_at(moment, folders)
            action()
            os.write(writes, str(made()).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writes)
    with open(reads) as stream:
        made = stream.read()
    _, code = os.waitpid(child, 0)
    assert code in (0, signal.SIGKILL), code
    return code != 0, int(made or 0)


class Program:
    """What kills a program of Python, but not what that starts."""

    def __init__(self, hooks, *folders):
        """hooks: Path, a new folder elsewhere; folders: Path, below which changes count."""
        hooks.mkdir()
        shutil.copy(__file__, hooks / 'sitecustomize.py')
        self.count = hooks / 'count'
        self.variables = {'PYTHONPATH': str(hooks), 'KILLED_IN': ':'.join(map(str, folders))}

    def counting(self):
        """Return the variables (dict) of a program whose changes are counted; changes() returns how many there were."""
        return {**self.variables, 'KILLED_AT': str(10 ** 9), 'KILLED_COUNT': str(self.count)}

    def changes(self):
        """Return the number (int) of changes of the last program that has counted them."""
        return int(self.count.read_text())

    def at(self, moment):
        """Return the variables (dict) of a program that is killed before its change number moment (int, from 0)."""
        return {**self.variables, 'KILLED_AT': str(moment)}


def _tell(changes):
    with open(os.environ['KILLED_COUNT'], 'w') as handle:
        handle.write(str(changes()))


if __name__ == 'sitecustomize' and os.environ.setdefault('KILLED_PROCESS', str(os.getpid())) == str(os.getpid()):
    # what the program starts has another process id; what takes its place (exec) has the same
    found = kill_at(int(os.environ['KILLED_AT']), os.environ['KILLED_IN'].split(':'))
    if 'KILLED_COUNT' in os.environ:
        atexit.register(_tell, found)

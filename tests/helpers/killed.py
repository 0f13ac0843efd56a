"""
Kills Python at a chosen one of its changes to files, as kill -9 does by chance.

The moments are counted in changes (a file is opened for writing, renamed, removed; a folder is made, removed), as they
happen in the process itself: the same number is the same moment on any machine, however busy it is.
"""
import os
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

"""
What a command writes, and what it removes: nothing of the user's goes.

A file is written whole or not at all, never onto one that is there unless the user has said
--force, and never onto one that this command has read or that its line names. A folder is removed
that this project has made and marked, and no other; no link is followed.

Works on Python 3.6 with the standard library only.
"""

import contextlib
import errno
import os
import shutil
import stat

from osu_container.base import files

#: File of a folder that this project has made: the folder's inode, so that neither a copy nor a
#: link counts
MARK_FILE = '.made-by-osu-container'


class OutputFileError(OSError):
    """What is not written or not removed; filename names it, strerror says why and what to do."""

    def __init__(self, path, text, number=errno.EINVAL):
        """path: str or Path; text: str; number: int, of the system's error"""
        super(OutputFileError, self).__init__(number, text, str(path))

    def __str__(self):
        return '%s: %s' % (self.filename, self.strerror)


def find_replacement_problem(path):
    """
    Return why no new file may take the place of path (str), None where one may.

    Root can give any name to a file: `-o /dev/null --force` would leave a machine without that
    device.
    """
    # of /dev/stdout, a link, what it leads to may be a plain file
    of_system = (
        os.path.islink(path) and os.path.realpath(os.path.dirname(os.path.abspath(path))) == '/dev'
    )
    try:
        if stat.S_ISREG(os.stat(path).st_mode) and not of_system:
            return None
    except OSError:  # it is not there, or a link that leads nowhere
        if not of_system:
            return None
    return (
        "it is no plain file (a device, a FIFO, a socket or a folder), and no file takes its place"
    )


def require_writable(path, force=False):
    """
    Raise OutputError where path (str or Path) may not become a file of this command; also called
    before long work.

    force: bool, a plain file that is there may be replaced
    """
    path = str(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise OutputFileError(
            path, "there is no folder %s to write into. Make it, or choose another name" % folder
        )
    if not os.path.lexists(path):
        return
    problem = find_replacement_problem(path)
    if problem:
        raise OutputFileError(path, problem + ". Choose another name")
    if files.is_input(path):
        raise OutputFileError(
            path, "it is an input of this command, and stays as it is. Choose another name"
        )
    if not force:
        raise OutputFileError(
            path, "it is there already, and stays as it is. To replace it: --force"
        )


def write_file(path, data, force=False):
    """
    Write data (bytes, or str in UTF-8) to path (str or Path), whole or not at all; return whether
    anything changed.

    A file that has this very content counts as written. Raises OutputError.
    """
    path, data = str(path), data if isinstance(data, bytes) else data.encode('utf-8')
    if _has_content(path, data):
        return False
    require_writable(path, force)
    try:
        _write_whole_file(path, data, force)
    except FileExistsError:  # it has come since; another command may have written the same
        if _has_content(path, data):
            return False
        require_writable(path)
    return True


def replace_file(path, data):
    """
    Write data (str or bytes) to path, which this project keeps for itself, in place of what is
    there. As write_file().
    """
    path, problem = str(path), find_replacement_problem(str(path))
    if problem:
        raise OutputFileError(path, problem + ". Choose another name")
    _write_whole_file(path, data if isinstance(data, bytes) else data.encode('utf-8'), True)


def _write_whole_file(path, data, force):
    """
    Write data (bytes) to path (str), whole or not at all. Raises FileExistsError without force,
    else OutputError.
    """
    folder, name = os.path.split(os.path.abspath(path))
    # a name of its own, by O_EXCL, and with the mode that the user's umask leaves: mkstemp() knows
    # 0600 alone
    new = os.path.join(folder, '.%s.%d.%s' % (name[:40], os.getpid(), os.urandom(4).hex()))
    try:
        number = os.open(
            new, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_WRONLY, 0o666
        )
        with os.fdopen(number, 'wb') as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        rename_file(new, path, force)
    except FileExistsError:
        raise
    except OSError as err:
        if err.errno in (
            errno.EMFILE,
            errno.ENFILE,
        ):  # the shell's limit, and nothing of this file's
            raise
        raise _make_write_error(path, err)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(new)


def _make_write_error(path, err):
    """Return the OutputError of path (str) that an OSError means."""
    return OutputFileError(
        path,
        "it cannot be written: %s. Make room there, or choose another place" % err.strerror,
        err.errno,
    )


def rename_file(new, path, force=False):
    """
    Give the file new (str or Path), on the same file system, the name path. Raises
    FileExistsError without force.
    """
    new, path = str(new), str(path)
    if force:
        with contextlib.suppress(OSError):  # what was for its owner alone stays so
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode):
                os.chmod(new, stat.S_IMODE(found.st_mode) & 0o777)
        os.replace(new, path)
        return
    # not by a hard link, which some file systems refuse: an empty file takes the name, if nothing
    # has it
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.replace(new, path)


def _has_content(path, data):
    """Return whether path (str) is a plain file, and no link, whose content is data (bytes)."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with files.open_plain_file(path, is_input_file=False) as handle:
            return handle.read(len(data) + 1) == data
    except OSError:
        return False


# ---- folders


def make_folder(folder):
    """
    Make the folder (str), which must not exist, with this project's mark; return it. Raises
    OSError.
    """
    os.mkdir(folder)
    mark_folder(folder)
    return folder


def mark_folder(folder):
    """Say in folder (str), which this project has made, that it may be removed. Raises OSError."""
    with open(os.path.join(folder, MARK_FILE), 'w') as handle:
        handle.write('%d\n' % os.lstat(folder).st_ino)


def is_marked_folder(folder):
    """
    Return whether folder (str) is one that mark_folder() has marked for this user, wherever it
    was moved since.
    """
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and files.read_text(os.path.join(folder, MARK_FILE)) == '%d\n' % found.st_ino
    )


def remove_folder(folder):
    """
    Remove folder (str) if it is of this project, or empty: a kill may come just before
    make_folder() marks it.
    """
    with contextlib.suppress(OSError):
        # the mark last: a kill would leave what belongs to nobody
        for name in (
            sorted(os.listdir(folder), key=MARK_FILE.__eq__) if is_marked_folder(folder) else ()
        ):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        os.rmdir(folder)

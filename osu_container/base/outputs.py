"""
Write and remove the files of a command without losing files of the user.

A file is written whole or not at all. It replaces no existing file without --force, and never an
input of the command. Only folders that this project has made and marked are removed; no link is
followed. Python 3.6 and its standard library only.
"""

import contextlib
import errno
import os
import shutil
import stat
from typing import Optional, Union

from osu_container.base import files

#: File that marks a folder made by this project. It contains the folder's inode, so that neither a
#: copy nor a link counts as marked
MARK_FILE = '.made-by-osu-container'

_Path = Union[str, 'os.PathLike[str]']


class OutputFileError(OSError):
    """A file that cannot be written or removed; strerror names the reason and the remedy."""

    def __init__(self, path: _Path, text: str, number: Optional[int] = errno.EINVAL) -> None:
        super().__init__(number, text, str(path))

    def __str__(self) -> str:
        return f'{self.filename}: {self.strerror}'


def find_replacement_problem(path: files.AnyPath) -> Optional[str]:
    """
    Return why no file may replace `path`, None if one may.

    Root can replace anything: `-o /dev/null --force` would leave a machine without that device.
    """
    # /dev/stdout is a link whose target may be a plain file
    is_system_link = (
        os.path.islink(path) and os.path.realpath(os.path.dirname(os.path.abspath(path))) == '/dev'
    )
    try:
        if stat.S_ISREG(os.stat(path).st_mode) and not is_system_link:
            return None
    except OSError:  # missing, or a dangling link
        if not is_system_link:
            return None
    return "not a plain file (a device, a FIFO, a socket or a folder), and cannot be replaced"


def require_writable(path: _Path, force: bool = False) -> None:
    """
    Raise OutputFileError if the command may not write `path`; called also before long work.

    force: an existing plain file may be replaced.
    """
    path = str(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise OutputFileError(
            path, f"the folder {folder} does not exist. Create it, or choose another name"
        )
    if not os.path.lexists(path):
        return
    problem = find_replacement_problem(path)
    if problem:
        raise OutputFileError(path, problem + ". Choose another name")
    if files.is_input(path):
        raise OutputFileError(
            path, "the file is an input of this command and is kept. Choose another name"
        )
    if not force:
        raise OutputFileError(path, "the file exists and is kept. To replace it: --force")


def write_file(path: _Path, data: Union[bytes, str], force: bool = False) -> bool:
    """
    Write `data` (a str in UTF-8) to `path`, whole or not at all; return whether it changed.

    A file that has this content already counts as written. Raises OutputFileError.
    """
    path, data = str(path), data if isinstance(data, bytes) else data.encode('utf-8')
    if _has_content(path, data):
        return False
    require_writable(path, force)
    try:
        _write_whole_file(path, data, force)
    except FileExistsError:  # created since; another command may have written the same
        if _has_content(path, data):
            return False
        require_writable(path)
    return True


def replace_file(path: _Path, data: Union[bytes, str]) -> None:
    """Replace the file `path`, which belongs to this project. Raises OutputFileError."""
    path, problem = str(path), find_replacement_problem(str(path))
    if problem:
        raise OutputFileError(path, problem + ". Choose another name")
    _write_whole_file(path, data if isinstance(data, bytes) else data.encode('utf-8'), True)


def _write_whole_file(path: str, data: bytes, force: bool) -> None:
    # raises FileExistsError without force, else OutputFileError
    folder, name = os.path.split(os.path.abspath(path))
    # not mkstemp(), whose files have the mode 0600 whatever the umask is
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
        # a limit of the shell, not a problem of this file
        if err.errno in (errno.EMFILE, errno.ENFILE):
            raise
        raise OutputFileError(
            path,
            f"cannot be written: {err.strerror}. Make room there, or choose another place",
            err.errno,
        )
    finally:
        with contextlib.suppress(OSError):
            os.unlink(new)


def rename_file(new: _Path, path: _Path, force: bool = False) -> None:
    """
    Rename the file `new` to `path` on the same file system.

    Raises FileExistsError if `path` exists, unless force.
    """
    new, path = str(new), str(path)
    if force:
        with contextlib.suppress(OSError):  # a private file stays private
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                os.chmod(new, stat.S_IMODE(mode) & 0o777)
        os.replace(new, path)
        return
    # an empty file reserves the name; some file systems refuse a hard link
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.replace(new, path)


def _has_content(path: str, data: bytes) -> bool:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with files.open_plain_file(path, is_input_file=False) as handle:
            return handle.read(len(data) + 1) == data
    except OSError:
        return False


def make_folder(folder: str) -> str:
    """Create a new folder with this project's marker file. Raises OSError if it exists."""
    os.mkdir(folder)
    mark_folder(folder)
    return folder


def mark_folder(folder: str) -> None:
    """Mark `folder`, which this project has made, as removable. Raises OSError."""
    with open(os.path.join(folder, MARK_FILE), 'w') as handle:
        handle.write(f'{os.lstat(folder).st_ino}\n')


def is_marked_folder(folder: str) -> bool:
    """Return whether mark_folder() has marked `folder` for this user, even if it was moved."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and files.read_text(os.path.join(folder, MARK_FILE)) == f'{status.st_ino}\n'
    )


def remove_folder(folder: str) -> None:
    """
    Remove `folder` if this project has marked it, or if it is empty.

    An empty folder may be one whose process was killed before make_folder() marked it.
    """
    with contextlib.suppress(OSError):
        # the mark last, so that a kill leaves a folder that can still be removed
        for name in (
            sorted(os.listdir(folder), key=MARK_FILE.__eq__) if is_marked_folder(folder) else ()
        ):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        os.rmdir(folder)

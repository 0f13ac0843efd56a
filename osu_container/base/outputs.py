"""
Write and remove the output files of a command without damage to files of the user.

A command writes an output file completely or not at all. An output file replaces an existing file
only with --force, and never replaces an input file of the command. A command removes only folders
that contain the marker file of this project, and does not follow links.

This module uses only the standard library of Python 3.6.
"""

import contextlib
import errno
import os
import re
import shutil
import socket
import stat
import tempfile
import time
from typing import Iterator, Optional, Union

from osu_container.base import files

#: Name of the marker file in each folder that this project creates. The marker file contains the
#: inode of its folder, so that a copy of the folder does not count as created by this project
MARK_FILE = '.made-by-osu-container'
#: Name of a work folder: host and process
_WORK_FOLDER = re.compile(r'osu-container-(.+)-(\d+)-\w+$')
#: Seconds after which a process removes a work folder of another host. A shared folder such as /scratch
#: may contain work folders of all nodes of a cluster, and a process cannot see whether a process on
#: another node still runs. A process of this project does not run for 30 days. Without a limit, the
#: folder of a process that was killed would remain for ever if the user gets no job on the same node.
STALE_SECONDS = 30 * 24 * 3600

_Path = Union[str, 'os.PathLike[str]']


class OutputFileError(OSError):
    """
    A command cannot write or remove an output file.

    The attribute strerror contains the reason and the remedy.
    """

    def __init__(self, path: _Path, text: str, number: Optional[int] = errno.EINVAL) -> None:
        super().__init__(number, text, str(path))

    def __str__(self) -> str:
        return f'{self.filename}: {self.strerror}'


def find_replacement_problem(path: files.AnyPath) -> Optional[str]:
    """
    Return the reason why a command must not replace the file `path`, otherwise None.

    A command may replace only plain files. Without this check, root could replace the device
    /dev/null by a plain file with `-o /dev/null --force`.
    """
    # /dev/stdout is a link, and the target of this link may be a plain file.
    is_system_link = (
        os.path.islink(path) and os.path.realpath(os.path.dirname(os.path.abspath(path))) == '/dev'
    )
    try:
        if stat.S_ISREG(os.stat(path).st_mode) and not is_system_link:
            return None
    except OSError:  # The path does not exist, or is a broken link.
        if not is_system_link:
            return None
    return (
        "the path is a device, a FIFO, a socket or a folder, and only a plain file can be replaced"
    )


def require_writable(path: _Path, force: bool = False) -> None:
    """
    Raise OutputFileError if the command must not write to `path`.

    force: whether the command may replace an existing plain file. If the work of a command takes
    long, the command calls this function before the work and again before writing.
    """
    path = str(path)
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise OutputFileError(
            path, f"the folder {folder} does not exist. Create the folder, or choose another folder"
        )
    if not os.path.lexists(path):
        return
    problem = find_replacement_problem(path)
    if problem:
        raise OutputFileError(path, problem + ". Choose another name")
    if files.is_input(path):
        raise OutputFileError(
            path,
            "the file is an input of the command, and a command does not overwrite an input. "
            "Choose another name for the output",
        )
    if not force:
        raise OutputFileError(
            path, "the file exists. To replace the file, repeat the command with --force"
        )


def write_file(path: _Path, data: Union[bytes, str], force: bool = False) -> bool:
    """
    Write `data` to the file `path`, and return whether the function changed the file.

    The function writes the file completely or not at all. If `data` is a str, the function encodes
    `data` as UTF-8. If the file already has this content, the function returns False. force:
    whether to replace an existing file. Raises OutputFileError if the file cannot be written.
    """
    path, data = str(path), data if isinstance(data, bytes) else data.encode('utf-8')
    if _has_content(path, data):
        return False
    require_writable(path, force)
    try:
        _write_whole_file(path, data, force)
    except FileExistsError:  # Another command has created the file in the meantime.
        if _has_content(path, data):
            return False
        require_writable(path)
    return True


def replace_file(path: _Path, data: Union[bytes, str]) -> None:
    """
    Write `data` to the file `path`, and replace an existing file also without --force.

    Raises OutputFileError if the file cannot be written.
    """
    path, problem = str(path), find_replacement_problem(str(path))
    if problem:
        raise OutputFileError(path, problem + ". Choose another name")
    _write_whole_file(path, data if isinstance(data, bytes) else data.encode('utf-8'), True)


def _write_whole_file(path: str, data: bytes, force: bool) -> None:
    # Raises FileExistsError if the file exists and `force` is false; otherwise OutputFileError.
    folder, name = os.path.split(os.path.abspath(path))
    # mkstemp() would create a file with the mode 0600 and ignore the umask.
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
        # The process has reached a limit on open files, so the message must not blame this file.
        if err.errno in (errno.EMFILE, errno.ENFILE):
            raise
        raise OutputFileError(
            path,
            f"cannot write the file: {err.strerror}. Free disk space, or choose another folder",
            err.errno,
        )
    finally:
        with contextlib.suppress(OSError):
            os.unlink(new)


def rename_file(new: _Path, path: _Path, force: bool = False) -> None:
    """
    Rename the file `new` to `path`; `new` and `path` must be on the same file system.

    force: whether to replace an existing file `path`. In this case the renamed file gets the access
    rights of the replaced file. Raises FileExistsError if `path` exists and `force` is False.
    """
    new, path = str(new), str(path)
    if force:
        # If the existing file is private, the new file must be private, too.
        with contextlib.suppress(OSError):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                os.chmod(new, stat.S_IMODE(mode) & 0o777)
        os.replace(new, path)
        return
    # An empty file reserves the name. A hard link would do so too, but some file systems do not
    # support hard links.
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


def make_work_folder(parent: Optional[str] = None) -> str:
    """
    Create a private folder for temporary files, and return the path of the folder.

    A marker file in the folder allows remove_folder() to remove the folder.
    The function also removes old work folders in `parent`. A work folder of this host is old if its
    process has terminated. A work folder of another host is old after 30 days. parent: by default
    Python's folder for temporary files. Raises OSError if the work folder cannot be created.
    """
    parent, host = parent or tempfile.gettempdir(), socket.gethostname()
    with contextlib.suppress(OSError):
        for name in os.listdir(parent):
            match, path = _WORK_FOLDER.match(name), os.path.join(parent, name)
            if match and (
                not os.path.exists('/proc/' + match.group(2))
                if match.group(1) == host
                else time.time() - os.lstat(path).st_mtime > STALE_SECONDS
            ):
                remove_folder(path)
    name = f'osu-container-{host}-{os.getpid()}-{os.urandom(4).hex()}'
    folder = os.path.join(parent, name)
    os.mkdir(folder, 0o700)
    os.chmod(folder, 0o700)  # The umask may forbid even the user to write.
    mark_folder(folder)
    return folder


@contextlib.contextmanager
def open_work_folder() -> Iterator[str]:
    """Create a work folder for a with block, and yield its path; see make_work_folder()."""
    folder = make_work_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_folder(folder: str) -> str:
    """
    Create `folder` with a marker file inside, and return the path of `folder`.

    Only a folder with a marker file can be removed by remove_folder(). Raises OSError if `folder`
    cannot be created.
    """
    os.mkdir(folder)
    mark_folder(folder)
    return folder


def mark_folder(folder: str) -> None:
    """
    Write the marker file to `folder`, so that remove_folder() may remove `folder`.

    Raises OSError if the marker file cannot be written.
    """
    with open(os.path.join(folder, MARK_FILE), 'w') as handle:
        handle.write(f'{os.lstat(folder).st_ino}\n')


def is_marked_folder(folder: str) -> bool:
    """
    Return whether `folder` belongs to the user and contains a valid marker file.

    The marker file of mark_folder() stays valid if somebody moves `folder`. In a copy of `folder`
    the marker file is not valid.
    """
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
    Remove `folder` if `folder` is empty or contains the marker file of this project.

    A process that is killed in make_folder() leaves an empty folder without the marker file. The
    function ignores errors.
    """
    with contextlib.suppress(OSError):
        # Remove the marker file last. If this process is killed before, the folder still has the
        # marker file, and another call can remove the folder.
        for name in (
            sorted(os.listdir(folder), key=MARK_FILE.__eq__) if is_marked_folder(folder) else ()
        ):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        os.rmdir(folder)

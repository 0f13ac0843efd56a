"""
Decide which files may be run as code, and which file names are accepted.

A site file is code that the user of eb or osu-container runs. If another user may write to it, it
is refused, as ssh refuses its configuration (ssh_config(5)). Python 3.6 and its standard library
only.
"""

import grp
import os
import pwd
import stat
from typing import Optional

from osu_container.base import shell
from osu_container.base.terminal import escape_line


def _is_private_group(gid: int, uid: int) -> bool:
    # useradd(8), -U: the private group of a user has the user's name
    try:
        user = pwd.getpwuid(uid)
        return gid == user.pw_gid and grp.getgrgid(gid).gr_name == user.pw_name
    except KeyError:
        return False


def find_code_problem(path: str) -> Optional[str]:
    """
    Return why `path` must not be run as code, None if it may be or does not exist.

    The file, the target of a link and their folders must belong to the user, to root or to the
    owner of this package, and nobody else may write to them except the user's private group. A
    folder with the sticky bit, such as /tmp, may be open: nobody can replace another user's file.
    """
    path = os.path.abspath(path)
    real = os.path.realpath(path)
    if not os.path.exists(real):
        return None
    owners = {os.geteuid(), 0, os.stat(os.path.realpath(__file__)).st_uid}
    for checked_path in dict.fromkeys([real, os.path.dirname(real), os.path.dirname(path)]):
        status = os.stat(checked_path)
        if not stat.S_ISREG(status.st_mode) and not os.path.isdir(checked_path):
            return (
                f"{real} is not a plain file (a device, a FIFO or a socket), and is not run as code. "
                "Name a file"
            )
        if status.st_uid not in owners:
            return (
                f"{real} would run as you, but user {status.st_uid} owns {checked_path}. Read the file, "
                "copy it to your own folder, and name the copy"
            )
        others = status.st_mode & stat.S_IWOTH or (
            status.st_mode & stat.S_IWGRP and not _is_private_group(status.st_gid, status.st_uid)
        )
        if others and not (os.path.isdir(checked_path) and status.st_mode & stat.S_ISVTX):
            return (
                f"{real} would run as you, but other users may write to {checked_path}. Read the file, "
                f"then run: chmod go-w {shell.quote(checked_path)}"
            )
    return None


def find_name_problem(name: str) -> Optional[str]:
    """
    Return why a file name is refused, None if it is accepted.

    Modulefiles, files with one setting per line and the terminal contain file names. Control and
    format characters, line ends and bytes that are not text could be read there as more than a name.
    """
    if escape_line(name) == name:
        return None
    return f"the file name {ascii(name)} has characters that cannot be displayed. Rename it: mv OLD NEW"

"""
Decide which files this project runs as code, and which file names this project accepts.

A site file contains Python code, which eb and osu-container run as the current user. If another
user may write to a site file, this project does not run the file. For the same reason, ssh
does not accept a configuration file to which another user may write (ssh_config(5)).

This module uses only the standard library of Python 3.6.
"""

import grp
import os
import pwd
import stat
from typing import Optional

from osu_container.base import shell
from osu_container.base.terminal import escape_line


def _is_private_group(gid: int, uid: int) -> bool:
    # useradd(8), option -U: the private group of a user has the same name as the user.
    try:
        user = pwd.getpwuid(uid)
        return gid == user.pw_gid and grp.getgrgid(gid).gr_name == user.pw_name
    except KeyError:
        return False


def may_others_write(status: os.stat_result) -> bool:
    """
    Return whether a user other than the owner of a file may write to the file.

    status: result of os.stat() for the file.
    """
    return bool(
        status.st_mode & stat.S_IWOTH
        or status.st_mode & stat.S_IWGRP
        and not _is_private_group(status.st_gid, status.st_uid)
    )


def find_code_problem(path: str) -> Optional[str]:
    """
    Return the reason why the file `path` must not be run as code, otherwise None.

    The result is also None if the file does not exist.

    The owner of the file, and the owner of the folder of the file, must be the current user, root
    or the owner of this package. Only the owner and the private group of the owner may have write
    permission. If `path` is a link, the rules apply to the target, to the folder of the target and
    to the folder of the link. In a folder with the sticky bit, such as /tmp, all users may have
    write permission, because nobody can replace another user's file in such a folder.
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
                f"{real} is a device, a FIFO or a socket, and only plain files may be run as code. "
                "Use a plain file"
            )
        if status.st_uid not in owners:
            return (
                f"{real} would run as you, but {checked_path} belongs to another user (UID "
                f"{status.st_uid}). Read the file, copy the file to your own folder, and use the "
                "copy"
            )
        if may_others_write(status) and not (
            os.path.isdir(checked_path) and status.st_mode & stat.S_ISVTX
        ):
            return (
                f"{real} would run as you, but {checked_path} is writable for other users. Read "
                f"the file, then run: chmod go-w {shell.quote(checked_path)}"
            )
    return None


def find_name_problem(name: str) -> Optional[str]:
    """
    Return the reason why this project does not accept the file name `name`, otherwise None.

    This project writes file names to modulefiles, to settings files with one setting per line and
    to the terminal. In these places, control characters, line ends and invalid bytes in a file name
    could be taken for code or for another setting.
    """
    if escape_line(name) == name:
        return None
    return (
        f"the file name {ascii(name)} contains characters that cannot be displayed. "
        "Rename the file: mv OLD NEW"
    )

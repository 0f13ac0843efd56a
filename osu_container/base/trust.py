"""
Whose files are run, and which names are taken as they are.

A site file is code of the user who calls eb or osu-container. Where somebody else may write such a
file, that is code of somebody else: it is refused, as ssh refuses its configuration
(ssh_config(5)). Python 3.6, standard library only.
"""

import grp
import os
import pwd
import stat

from osu_container.base import shell
from osu_container.base.terminal import escape_line


def _is_private_group(gid, uid):
    """
    Return whether the group gid (int) is the user's alone (uid: int): it has the user's name
    (useradd(8), -U).
    """
    try:
        user = pwd.getpwuid(uid)
        return gid == user.pw_gid and grp.getgrgid(gid).gr_name == user.pw_name
    except KeyError:
        return False


def find_code_problem(path):
    """
    Return why the file path (str) is not run as code (str), None if it may be or is not there.

    It, what it is a link to, and their folders must be the user's, root's or those of the owner of
    this package, and nobody else may write to them but the user's own group. In a folder with the
    sticky bit, as /tmp has it, nobody can replace the file of somebody else.
    """
    path = os.path.abspath(path)
    real = os.path.realpath(path)
    if not os.path.exists(real):
        return None
    owners = {os.geteuid(), 0, os.stat(os.path.realpath(__file__)).st_uid}
    for each in dict.fromkeys([real, os.path.dirname(real), os.path.dirname(path)]):
        found = os.stat(each)
        if not stat.S_ISREG(found.st_mode) and not os.path.isdir(each):
            return (
                "%s is no plain file (a device, a FIFO or a socket), and is not run as code. Name a file"
                % real
            )
        if found.st_uid not in owners:
            return (
                "%s would run as you, but user %d owns %s. Read it, copy it to a folder of yours, and name the "
                "copy" % (real, found.st_uid, each)
            )
        others = found.st_mode & stat.S_IWOTH or (
            found.st_mode & stat.S_IWGRP and not _is_private_group(found.st_gid, found.st_uid)
        )
        if others and not (os.path.isdir(each) and found.st_mode & stat.S_ISVTX):
            return (
                "%s would run as you, but other users may write to %s. Read it, then: chmod go-w %s"
                % (real, each, shell.quote(each))
            )
    return None


def find_name_problem(name):
    """
    Return why a file name (str) is not taken (str), None if it may be.

    Names stand in modules, in files with one setting a line, and on the terminal: no character of
    them may be read there as something else than part of a name (control and format characters,
    ends of lines, bytes that are no text).
    """
    if escape_line(name) == name:
        return None
    return (
        "the file name %s has characters that are not shown as they are. Give it another name: mv"
        % ascii(name)
    )

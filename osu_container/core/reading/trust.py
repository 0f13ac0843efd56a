"""
Whose files are run, and which names are taken as they are.

An easyconfig, a site file and a local file are code of the user who calls eb or osu-container. Where somebody else may
write such a file, that is code of somebody else: it is refused, as ssh refuses its configuration (ssh_config(5)).
Python 3.6, standard library only.
"""
import grp
import os
import pwd
import stat
import unicodedata

from osu_container.core import shell

#: Unicode's categories of such characters
_ODD = ('Cc', 'Cf', 'Cs', 'Zl', 'Zp')


def _own_group(gid, uid):
    """Return whether the group gid (int) is the user's alone (uid: int): it has the user's name (useradd(8), -U)."""
    try:
        user = pwd.getpwuid(uid)
        return gid == user.pw_gid and grp.getgrgid(gid).gr_name == user.pw_name
    except KeyError:
        return False


def _shared_group(folder):
    """Return the group (int) that may write in folder (str), or in the first of its parents that is there, or None."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    found = os.stat(folder)
    return found.st_gid if found.st_mode & stat.S_IWGRP else None


def code_problem(path, installation=None):
    """
    Return why the file path (str) is not run as code (str), None if it may be or is not there.

    It, what it is a link to, and their folders must be the user's, root's or those of the owner of this package, and
    nobody else may write to them. A group may be the user's own one; or the one that may write in installation (str,
    a folder, which need not be there): who can change what is installed is trusted with what it is made from.
    In a folder with the sticky bit, as /tmp has it, nobody can replace the file of somebody else.
    """
    path = os.path.abspath(path)
    real = os.path.realpath(path)
    if not os.path.exists(real):
        return None
    owners = {os.geteuid(), 0, os.stat(os.path.realpath(__file__)).st_uid}
    group = _shared_group(os.path.abspath(installation)) if installation else None
    for each in dict.fromkeys([real, os.path.dirname(real), os.path.dirname(path)]):
        found = os.stat(each)
        if not stat.S_ISREG(found.st_mode) and not os.path.isdir(each):
            return "%s is no plain file (a device, a FIFO or a socket), and is not run as code. Name a file" % real
        if found.st_uid not in owners:
            return _sentence(real, each, "belongs to %s, who is neither you nor root nor the owner of this installation"
                             % _user(found.st_uid), "cp it to a folder of yours, and name the copy")
        if os.path.isdir(each) and found.st_mode & stat.S_ISVTX:
            continue
        if found.st_mode & stat.S_IWOTH:
            mask = os.umask(0o077)
            os.umask(mask)
            return _sentence(real, each, "may be written by everybody", "%schmod o-w %s" % (
                '' if mask & stat.S_IWOTH else 'umask 022; ', shell.word(each)))
        if found.st_mode & stat.S_IWGRP and found.st_gid != group and not _own_group(found.st_gid, found.st_uid):
            return _sentence(real, each, "may be written by the group %s" % _group(found.st_gid),
                             "chmod g-w %s, or cp it to a folder of yours" % shell.word(each))
    return None


def _sentence(path, each, what, remedy):
    """Return what is wrong with a file path (str), or with a folder of it or of a link to it (each), and the remedy."""
    return "%s is code that would run as you, and %s %s. Read it, then: %s" % (
        path, 'it' if each == path else each, what, remedy)


def _user(uid):
    """Return the name (str) of the user uid (int), its number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return 'the user %d' % uid


def _group(gid):
    """Return the name (str) of the group gid (int), its number where it has none."""
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return '%d' % gid


def name_problem(name):
    """
    Return why a file name (str) is not taken (str), None if it may be.

    Names stand in modules, in files with one setting a line, and on the terminal: no character of them may be read
    there as something else than part of a name (control and format characters, ends of lines, bytes that are no text).
    """
    odd = sorted(set(character for character in name if unicodedata.category(character) in _ODD))
    if odd:
        return "the file name %s has characters that are not shown as they are (%s). Give it another name: mv" % (
            ascii(name), ', '.join('U+%04X' % ord(character) for character in odd))
    return None

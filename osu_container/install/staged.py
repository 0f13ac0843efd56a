"""
Putting an installation in place in one move, so that an error or an interruption leaves what was
there before, and its image as one file that all installations share; with the sampler and
osu-proof, which it holds itself: they must work where the clone is gone.
"""

import contextlib
import os
import shutil
import stat

from osu_container.base.outputs import is_marked_folder, make_folder, mark_folder, remove_folder
from osu_container.base.places import PACKAGE, SCRIPTS
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError
from osu_container.install.user_software import FOLDER, PRESERVED_NAMES

#: Folder of an installation with the files, which keep the places that they have in a clone
PROOF = 'proof'
COMMAND = 'osu-proof'
#: What the files of the package's proof/ import
_PROOF_IMPORTS = (
    '__init__.py',
    'cli.py',
    'base/__init__.py',
    'base/columns.py',
    'base/exit_codes.py',
    'base/files.py',
    'base/shell.py',
    'base/streams.py',
    'base/terminal.py',
    'data/__init__.py',
    'data/approaches.py',
    'data/launchers.py',
    'image/__init__.py',
    'image/libraries.py',
)


def format_disk_error(err, installdir):
    """
    Return a sentence (str): the OSError err stopped an installation in installdir (str); what to
    do.
    """
    path = err.filename2 or err.filename or installdir
    return (
        "%s: %s. Nothing is installed anew, what was there is as it was. Look at free space and rights (df -h, df "
        "-i, quota, ls -ld %s), or install elsewhere (eb --installpath=...)"
        % (path, err.strerror or err, os.path.dirname(str(path)))
    )


def is_shareable(image, installdir):
    """
    Return whether an installation in installdir (str) can have a hard link to image (str, path):
    the file is on its file system and belongs to the caller, as EasyBuild sets the rights of what
    it installs.
    """
    folder = installdir
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    found = os.stat(image)
    return (found.st_dev, found.st_uid) == (os.stat(folder).st_dev, os.getuid())


def place_image(image, sha256, share, target, link=False):
    """
    Make target (str, a new path) the image (str, path); return how (str).

    Its sha256 (str) is written beside it: `module load` and later installations know it by that.

    share: bool, is_shareable(): a hard link, so that all installations share one file. Nobody may
    write to the file then. A copy where the file system refuses the link (EXDEV: another project of
    Lustre). link: bool, the image is one of the site's, and target becomes a symbolic link: nothing
    of it is changed. What is in its place is read once more: between the check of the image and now
    it may have been exchanged, and a disk may have lost a byte. Raises ImageError if it has another
    sum.
    """
    with open(target + '.sha256', 'w') as handle:
        handle.write('%s  %s\n' % (sha256, os.path.basename(target)))
    if link:
        os.symlink(image, target)
        return "%s is a link to %s" % (target, image)
    image, how = os.path.realpath(image), "a copy of"
    mode = stat.S_IMODE(os.stat(image).st_mode)
    try:
        if share:
            os.link(image, target)
            how = "the same file as"
    except OSError:
        pass
    if not os.path.exists(target):
        shutil.copy2(image, target)
    found = compute_sha256(target)
    if found != sha256:
        raise ImageError(
            "the image changed while it was installed: checked sha256 %s, found %s: %s. Let who writes "
            "to it finish, then install it again" % (sha256, found, image)
        )
    os.chmod(target, mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    return "%s is %s %s" % (target, how, image)


def read_image_stamp(path):
    """
    Return what a module compares the image path (str) with when it is loaded (dict: size in
    bytes).
    """
    return {'size': os.path.getsize(path)}


class StagedInstall(object):
    """
    A folder filled beside its final place. commit() moves it there and keeps the older installation
    aside until finish() or rollback(). EasyBuild's lock on the installation folder keeps two of
    them apart.

    A kill at any moment loses no software of the user, and leaves the older installation or the
    newer one. Between two moves neither is in its place: the next StagedInstall puts the older one
    back, and clears the rest.

    Software of the user (KEPT) is moved, the folder last, and moved back, the folder first: while
    the older installation has any of it, a folder of that name in the newer one is the newer one's.
    """

    def __init__(self, final):
        """
        Prepare to replace the folder final (str); what an interrupted run left beside it is
        removed.
        """
        self.final, self.stage, self.old = final, final + '.part', final + '.old'
        self.committed, self.moved_names = False, []
        with contextlib.suppress(OSError):  # EasyBuild makes an empty folder before any step
            os.rmdir(final)
        if is_marked_folder(self.old):
            if not os.path.isdir(final):
                os.rename(self.old, final)
            self._move_software()
            self.moved_names = []
        self.finish()

    def create_stage(self):
        """
        Make the folder that is filled (stage); return it. Raises OSError, also where somebody
        else has made it.
        """
        os.makedirs(os.path.dirname(self.stage), exist_ok=True)
        return make_folder(self.stage)

    def commit(self):
        """Put the filled folder in its place, with what is the user's in the older one."""
        if os.path.isdir(self.final):
            mark_folder(self.final)  # a copied installation has the mark of the original
            os.rename(self.final, self.old)
        os.rename(self.stage, self.final)
        self.committed = True
        self._move_software()

    def _move_software(self):
        """
        Move what is the user's from the older installation to the newer one; moved has its
        names.
        """
        names = [name for name in PRESERVED_NAMES if os.path.lexists(os.path.join(self.old, name))]
        made = os.path.join(self.final, FOLDER)
        if names and os.path.isdir(made):
            shutil.rmtree(made)
        for name in names:
            os.rename(os.path.join(self.old, name), os.path.join(self.final, name))
            self.moved_names.append(name)

    def finish(self):
        """
        Remove what is beside the installation, as far as it is ours: a copy that somebody has
        made stays.
        """
        for leftover in (self.stage, self.old):
            remove_folder(leftover)

    def rollback(self):
        """Remove what this run made, put the older installation back."""
        if self.committed:
            for name in reversed(self.moved_names):
                os.rename(os.path.join(self.final, name), os.path.join(self.old, name))
            os.rename(self.final, self.stage)
        if is_marked_folder(self.old) and not os.path.isdir(self.final):
            os.rename(self.old, self.final)
        self.finish()


def install_proof(folder):
    """
    Copy the files into the folder proof of an installation and link the command in its bin.

    :param folder: str, the installation
    Raises OSError if a file cannot be read or written.
    """
    package = str(PACKAGE)
    names = [
        os.path.join('proof', name) for name in sorted(os.listdir(os.path.join(package, 'proof')))
    ]
    names = list(_PROOF_IMPORTS) + [
        name for name in names if os.path.isfile(os.path.join(package, name))
    ]
    for source, target in [
        (os.path.join(package, name), os.path.join('osu_container', name)) for name in names
    ] + [
        (os.path.join(SCRIPTS, name), os.path.join('scripts', name))
        for name in (COMMAND, 'rank-proof')
    ]:
        target = os.path.join(folder, PROOF, target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)
    os.symlink(os.path.join('..', PROOF, 'scripts', COMMAND), os.path.join(folder, 'bin', COMMAND))

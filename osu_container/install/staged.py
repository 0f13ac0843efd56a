"""
Put an installation in place in one move, so that an error leaves the older one intact.

Installations share one file of an image where the file system permits. Each installation has its
own copy of osu-proof, which must work without the clone.
"""

import contextlib
import os
import shutil
import stat
from typing import Dict, List

from osu_container.base.outputs import is_marked_folder, make_folder, mark_folder, remove_folder
from osu_container.base.places import PACKAGE, SCRIPTS
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError
from osu_container.install.user_software import FOLDER, PRESERVED_NAMES

#: Folder of an installation with the files of osu-proof, in the layout of the clone
PROOF = 'proof'
COMMAND = 'osu-proof'
#: Files of the package that proof/ imports
_PROOF_IMPORTS = (
    '__init__.py cli.py base/__init__.py base/columns.py base/exit_codes.py '
    'base/files.py base/shell.py base/streams.py base/terminal.py data/__init__.py '
    'data/approaches.py data/launchers.py image/__init__.py image/libraries.py'
).split()


def format_disk_error(err: OSError, installdir: str) -> str:
    """Return a message for an OSError that stopped an installation."""
    path = err.filename2 or err.filename or installdir
    return (
        '%s: %s. The installation is unchanged. Check free space and permissions (df '
        '-h, df -i, quota, ls -ld %s), or install elsewhere: eb --installpath=FOLDER'
        % (path, err.strerror or err, os.path.dirname(str(path)))
    )


def is_shareable(image: str, installdir: str) -> bool:
    """
    Return whether an installation can have a hard link to the image.

    The file must be on the same file system and belong to the caller, as EasyBuild sets the
    permissions of what it installs.
    """
    folder = installdir
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    status = os.stat(image)
    return (status.st_dev, status.st_uid) == (os.stat(folder).st_dev, os.getuid())


def place_image(image: str, sha256: str, share: bool, target: str, link: bool = False) -> str:
    """
    Make `target` the image, write its sha256 beside it, and return how it was done.

    With `share` (see is_shareable()) `target` is a hard link, so that all installations share one
    read-only file. If the file system refuses the link (EXDEV: another project of Lustre), `target`
    is a copy. With `link` it is a symbolic link to an image of the site, which is not changed. The
    file is read once more, because another process may have replaced the image since the check, or
    a disk may have lost a byte. Raises ImageError if the sha256 differs.
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
    actual = compute_sha256(target)
    if actual != sha256:
        raise ImageError(
            'the image changed during the installation: expected sha256 %s, found %s: '
            '%s. Install the module again when no process writes to the image'
            % (sha256, actual, image)
        )
    os.chmod(target, mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    return "%s is %s %s" % (target, how, image)


def read_image_stamp(path: str) -> Dict[str, int]:
    """Return what a module compares with the image when it is loaded: its size in bytes."""
    return {'size': os.path.getsize(path)}


class StagedInstall:
    """
    A folder that is filled beside its final place and then moved there.

    commit() moves it and keeps the older installation until finish() or rollback(). EasyBuild's
    lock on the installation folder excludes a second process.

    A kill at any moment loses no software of the user, and leaves the older or the newer
    installation. Between two moves neither is in place: the next StagedInstall restores the older
    one and removes the rest.

    The user's software (PRESERVED_NAMES) is moved to the newer installation, the folder last. A
    rollback moves the folder back first. While the older installation still has a part of this
    software, a folder of that name in the newer installation belongs to the newer installation.
    """

    def __init__(self, final: str) -> None:
        """Prepare to replace the folder `final`, and clean up after an interrupted run."""
        self.final, self.stage, self.old = final, final + '.part', final + '.old'
        self.committed = False
        self.moved_names: List[str] = []
        with contextlib.suppress(OSError):  # EasyBuild makes an empty folder before any step
            os.rmdir(final)
        if is_marked_folder(self.old):
            if not os.path.isdir(final):
                os.rename(self.old, final)
            self._move_software()
            self.moved_names = []
        self.finish()

    def create_stage(self) -> str:
        """Create the folder to fill and return it. Raises OSError, also if it exists already."""
        os.makedirs(os.path.dirname(self.stage), exist_ok=True)
        return make_folder(self.stage)

    def commit(self) -> None:
        """Move the filled folder into place, with the user's software of the older one."""
        if os.path.isdir(self.final):
            mark_folder(self.final)  # A copied installation has the mark of the original.
            os.rename(self.final, self.old)
        os.rename(self.stage, self.final)
        self.committed = True
        self._move_software()

    def _move_software(self) -> None:
        """Move the user's software from the older to the newer installation."""
        names = [name for name in PRESERVED_NAMES if os.path.lexists(os.path.join(self.old, name))]
        new_folder = os.path.join(self.final, FOLDER)
        if names and os.path.isdir(new_folder):
            shutil.rmtree(new_folder)
        for name in names:
            os.rename(os.path.join(self.old, name), os.path.join(self.final, name))
            self.moved_names.append(name)

    def finish(self) -> None:
        """Remove the temporary folders, but no copy that somebody else made."""
        for leftover in (self.stage, self.old):
            remove_folder(leftover)

    def rollback(self) -> None:
        """Remove the new installation and restore the older one."""
        if self.committed:
            for name in reversed(self.moved_names):
                os.rename(os.path.join(self.final, name), os.path.join(self.old, name))
            os.rename(self.final, self.stage)
        if is_marked_folder(self.old) and not os.path.isdir(self.final):
            os.rename(self.old, self.final)
        self.finish()


def install_proof(folder: str) -> None:
    """
    Copy osu-proof into an installation and link the command in its bin.

    Raises OSError if a file cannot be read or written.
    """
    package = str(PACKAGE)
    proof_files = (
        os.path.join('proof', name) for name in os.listdir(os.path.join(package, 'proof'))
    )
    files = [
        (os.path.join(package, name), os.path.join('osu_container', name))
        for name in [*_PROOF_IMPORTS, *proof_files]
    ] + [
        (os.path.join(SCRIPTS, name), os.path.join('scripts', name))
        for name in (COMMAND, 'rank-proof')
    ]
    for source, target in files:
        if os.path.isdir(source):  # __pycache__
            continue
        target = os.path.join(folder, PROOF, target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)
    os.symlink(os.path.join('..', PROOF, 'scripts', COMMAND), os.path.join(folder, 'bin', COMMAND))

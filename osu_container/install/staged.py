"""
Replace an installation by a newer installation; after an error, keep the older installation.

If the file system permits hard links, all installations of an image share one file. Each
installation contains a copy of osu-proof, because osu-proof must also work after the user has
removed the clone of this project.
"""

import contextlib
import os
import shutil
import stat
from pathlib import Path
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
_PROOF_IMPORTS = """
    __init__.py cli.py
    base/__init__.py base/columns.py base/exit_codes.py base/files.py base/shell.py base/streams.py
    base/terminal.py base/trust.py
    data/__init__.py data/approaches.py data/launchers.py data/records.py
    image/__init__.py image/libraries.py
""".split()


def format_disk_error(err: OSError, installdir: str) -> str:
    """Return the message for an OSError that stopped an installation."""
    path = err.filename2 or err.filename or installdir
    return (
        '%s: %s. An older installation is unchanged. Check the free space and the permissions '
        '(df -h; df -i; quota; ls -ld %s), or install to another folder: eb --installpath=FOLDER'
        % (path, err.strerror or err, os.path.dirname(str(path)))
    )


def is_shareable(image: str, installdir: str) -> bool:
    """
    Return whether an installation in `installdir` can contain a hard link to `image`.

    The image and the installation must be on the same file system. The image must belong to the
    current user, because EasyBuild sets the permissions of all installed files.
    """
    folder = installdir
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    status = os.stat(image)
    return (status.st_dev, status.st_uid) == (os.stat(folder).st_dev, os.getuid())


def place_image(image: str, sha256: str, share: bool, target: str, link: bool = False) -> str:
    """
    Create the image file `target` and the file `target`.sha256, and return a description.

    The description is a sentence about `target`, such as "... is a copy of ...". By default
    `target` is a copy of `image`.

    share: whether to create `target` as a hard link to `image` (see is_shareable()), so that all
    installations share one read-only file. If the file system refuses the hard link (EXDEV, between
    two projects of Lustre), `target` is a copy. link: whether to create `target` as a symbolic link
    to `image`, an image of the site. In this case `image` stays unchanged.

    If `target` is a copy or a hard link, the function computes the sha256 of `target`, because
    another process may have replaced the image since the first check, or a disk may have damaged
    the image. Raises ImageError if the computed sha256 differs from the argument `sha256`.
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
            'the image changed during the installation: expected sha256 %s, found %s, in the file '
            '%s. Wait until no process writes to the image, then install the module again'
            % (sha256, actual, image)
        )
    os.chmod(target, mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    return "%s is %s %s" % (target, how, image)


def read_image_stamp(path: str) -> Dict[str, int]:
    """Return {'size': size of the image in bytes}, which the modulefile compares at load time."""
    return {'size': os.path.getsize(path)}


class StagedInstall:
    """
    A new installation in a temporary folder beside the installation folder.

    commit() renames the temporary folder to the installation folder. The older installation is kept
    until finish() or rollback() is called. EasyBuild's lock on the installation folder prevents a
    second process from installing at the same time.

    If this process is killed, the user's software stays undamaged, and either the older or the
    newer installation is complete. If this process is killed between two renamings, no folder has
    the name of the installation folder. The next StagedInstall then restores the older installation
    and removes the temporary folders.

    commit() moves the user's software (PRESERVED_NAMES) to the newer installation, and moves the
    folder user-software last. rollback() moves the user's software back, and moves user-software
    first. Therefore, as long as the older installation contains any part of the user's software,
    the older installation also contains the user's folder user-software. If the newer installation
    contains another folder user-software at this time, the user's folder replaces this other folder.
    """

    def __init__(self, final: str) -> None:
        """Prepare to replace the folder `final`, and clean up after an interrupted installation."""
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
        """
        Create the temporary folder for the new installation and return its path.

        Raises OSError if the folder cannot be created or already exists.
        """
        os.makedirs(os.path.dirname(self.stage), exist_ok=True)
        return make_folder(self.stage)

    def commit(self) -> None:
        """Rename the temporary folder to the installation folder, and move the user's software."""
        if os.path.isdir(self.final):
            mark_folder(self.final)  # A copied installation has the mark of the original.
            os.rename(self.final, self.old)
        os.rename(self.stage, self.final)
        self.committed = True
        self._move_software()

    def _move_software(self) -> None:
        names = [name for name in PRESERVED_NAMES if os.path.lexists(os.path.join(self.old, name))]
        new_folder = os.path.join(self.final, FOLDER)
        if names and os.path.isdir(new_folder):
            shutil.rmtree(new_folder)
        for name in names:
            os.rename(os.path.join(self.old, name), os.path.join(self.final, name))
            self.moved_names.append(name)

    def finish(self) -> None:
        """
        Remove the temporary folder and the older installation.

        The method does not remove a copy that somebody has made of one of these two folders.
        """
        for leftover in (self.stage, self.old):
            remove_folder(leftover)

    def rollback(self) -> None:
        """Remove the new installation and restore the older installation."""
        if self.committed:
            for name in reversed(self.moved_names):
                os.rename(os.path.join(self.final, name), os.path.join(self.old, name))
            os.rename(self.final, self.stage)
        if is_marked_folder(self.old) and not os.path.isdir(self.final):
            os.rename(self.old, self.final)
        self.finish()


def install_proof(folder: str) -> None:
    """
    Copy osu-proof to the installation `folder`, and create the link bin/osu-proof.

    Raises OSError if a file cannot be read or written.
    """
    files = {Path('osu_container', name): PACKAGE / name for name in _PROOF_IMPORTS}
    files.update(
        (Path('osu_container', 'proof', source.name), source)
        for source in (PACKAGE / 'proof').iterdir()
        if source.is_file()
    )
    files.update((Path('scripts', name), Path(SCRIPTS, name)) for name in (COMMAND, 'rank-proof'))
    for name, source in files.items():
        target = Path(folder, PROOF, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(str(source), str(target))
        target.chmod(0o755 if os.access(str(source), os.X_OK) else 0o644)
    os.symlink(os.path.join('..', PROOF, 'scripts', COMMAND), os.path.join(folder, 'bin', COMMAND))

"""The files of an image: unpacked once into a temporary folder, with their sums. Nothing in the image is run."""
import contextlib
import hashlib
import os
import stat
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from osu_container.core.reading import sif as sif_file
from osu_container.core.reading.files import read_plain
from osu_container.core.reading.image import FULL, Squashfs, limited, no_room

from . import ImageError, NoRoomError

_ROOM = 'name by --work, or by TMPDIR,'  # what to do where there is none
_SECONDS = 3600  # of processor time that unpacking may take: the largest image of ours, 6 GB, takes some 100
SHOWN = 10  # paths that a message names; the rest is counted


class Item(NamedTuple):
    """A file or link of an image. path: in the image. target: of a link, else None. size: bytes. Sums: hex, or ''."""

    path: str
    target: str
    size: int
    md5: str
    sha1: str
    sha256: str


class Tree:
    """All files and links of an image (items: path -> Item), unpacked in the folder root."""

    def __init__(self, sif, root):
        """Unpack the SIF into the folder root, which must not exist. Raises ImageError."""
        self.sif, self.root = Path(sif), Path(root)
        with _said():
            self.squashfs = Squashfs(str(sif), sif_file.read_sif(str(sif))[0])
        special = sorted(path for path, entry in self.squashfs.entries.items() if entry[0] in 'bcps')
        if special:
            raise ImageError(f"{sif} holds device nodes, pipes or sockets, which no image needs: {named(special)}. "
                             "Leave them out of the base")
        os.makedirs(str(self.root.parent), exist_ok=True)
        problem = no_room(str(self.root.parent), sum(entry[3] for entry in self.squashfs.entries.values()), _ROOM)
        if problem:
            raise NoRoomError(problem)
        unpack(sif, root)
        entries = [(path, *entry[:3]) for path, entry in sorted(self.squashfs.entries.items()) if entry[0] in '-l']
        with ThreadPoolExecutor() as pool:  # hashlib lets other threads run
            self.items = {item.path: item for item in pool.map(lambda entry: self._item(*entry), entries)}
        self._real = {}

    def _item(self, path, kind, _, target):
        """Return the Item of a path as the squashfs lists it. Raises ImageError if it is not there unpacked."""
        place = self.place(path)
        if kind == 'l':
            return Item(path, target, 0, '', '', '')
        sums = [plain_hash(name) for name in ('md5', 'sha1', 'sha256')]
        size = 0
        try:
            with open(place, 'rb') as stream:
                for block in iter(lambda: stream.read(1 << 20), b''):
                    size += len(block)
                    for each in sums:
                        each.update(block)
        except OSError as err:
            raise ImageError(f"{self.sif}: {path} could not be unpacked ({err.strerror}). Is the image damaged, or "
                             f"{self.root.parent} full?") from err
        return Item(path, None, size, *(each.hexdigest() for each in sums))

    def place(self, path):
        """Return where (Path) a path of the image lies unpacked."""
        return self.root / path.lstrip('/')

    def text(self, path):
        """Return the text of a file of the image, '' if there is none."""
        real = self.squashfs.resolve(path)
        if real not in self.items:
            return ''
        try:
            return read_plain(str(self.place(real)), 'packages').decode('utf-8', 'replace')
        except OSError as err:
            raise ImageError(f"{path} of {self.sif} cannot be read: {err.strerror}") from err

    def canonical(self, path):
        """Return the path with the links of its folder followed, not its own: /lib/x is /usr/lib/x on a merged /usr."""
        folder, _, name = path.rpartition('/')
        if folder not in self._real:
            self._real[folder] = (self.squashfs.resolve(folder) or folder) if folder else ''
        return f"{self._real[folder].rstrip('/')}/{name}"

    def target_of(self, path):
        """Return the path of the file in the image to which a link leads in the end, None if it leads nowhere."""
        real = self.squashfs.resolve(path)
        return real if real in self.items else None


def plain_hash(name):
    """Return a hash object of hashlib by its name, for a sum that protects nothing: else OpenSSL may refuse it."""
    try:
        return hashlib.new(name, usedforsecurity=False)
    except TypeError:  # Python before 3.9
        return hashlib.new(name)


@contextlib.contextmanager
def unpacked(sif, work=None):
    """Give the Tree of a SIF in a with statement; what was unpacked is removed afterwards, also on errors.

    work: folder (Path) in which the temporary folder is made, None for the system's. Raises ImageError.
    """
    with tempfile.TemporaryDirectory(prefix='contents-', dir=work) as temporary:
        yield Tree(sif, Path(temporary) / 'root')


def unpack(sif, folder, paths=()):
    """Unpack paths of the image (str, all if there are none) into a new folder, as files that the caller may read.

    Owners, extended attributes and special files are left out. Raises ImageError.
    """
    sif, folder = Path(sif), Path(folder)
    with _said():
        offset = sif_file.read_sif(str(sif))[0]
    folder.parent.mkdir(parents=True, exist_ok=True)
    # few threads: each of hundreds takes room of the memory limit
    command = ['unsquashfs', '-n', '-no-xattrs', '-p', str(min(16, os.cpu_count() or 1)), '-o', str(offset),
               '-d', str(folder), str(sif), *(path.lstrip('/') for path in paths)]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              universal_newlines=True, errors='replace', preexec_fn=lambda: limited(_SECONDS))
    except FileNotFoundError as err:
        raise ImageError("unsquashfs is not on PATH; it is needed to look into images. Install squashfs-tools") from err
    make_accessible(folder)
    # 2: something was left out that only root can make. Whether that matters is seen when it is looked for.
    if done.returncode not in (0, 2):
        if FULL.search(done.stderr):
            raise NoRoomError(f"{folder.parent} is full: {_ROOM} a folder with more room")
        said = done.stderr.strip()[-500:] or f'unsquashfs failed ({done.returncode})'
        raise ImageError(f"cannot unpack the squashfs in {sif}: {said}. Is the image damaged?")
    absent = [path for path in paths if not any(char in path for char in '*?[')
              and not os.path.lexists(folder / path.lstrip('/'))]
    if absent:
        raise ImageError(f"{sif} has no {named(absent)}")


def make_accessible(folder):
    """Let the owner list all folders below and read all files, whatever their modes in the image are."""
    if folder.is_dir():
        folder.chmod(0o755)
    for place, folders, files in os.walk(folder):  # from the top: a folder is opened before it is listed
        for name in folders + files:
            path = os.path.join(place, name)
            mode = os.lstat(path).st_mode
            wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
            if not stat.S_ISLNK(mode) and mode & wanted != wanted:
                os.chmod(path, mode | wanted)


def named(paths):
    """Return the first paths as text, and how many more there are."""
    paths = list(paths)
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ''
    return ', '.join(paths[:SHOWN]) + more


@contextlib.contextmanager
def _said():
    """Turn the error of the easyblock's module into the one of this package."""
    try:
        yield
    except sif_file.NoRoomError as err:
        raise NoRoomError(str(err)) from err
    except sif_file.ImageError as err:
        raise ImageError(str(err)) from err

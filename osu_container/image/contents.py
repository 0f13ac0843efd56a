"""The files of an image, unpacked into a folder. Nothing in the image is run."""
import os
import re
import stat
import subprocess
from pathlib import Path

from osu_container.core.reading import sif as sif_file
from osu_container.core.reading.image import FULL, limited

from . import ImageError

_SECONDS = 3600  # of processor time that unpacking may take: the largest image of ours, 6 GB, takes some 100
SHOWN = 10  # paths that a message names; the rest is counted


def unpack(sif, folder, paths=()):
    """Unpack paths of the image (str, all if there are none) into a new folder, as files that the caller may read.

    Owners, extended attributes and special files are left out. Raises ImageError.
    """
    sif, folder = Path(sif), Path(folder)
    try:
        offset = sif_file.read_sif(str(sif))[0]
    except sif_file.ImageError as err:
        raise ImageError(str(err)) from err
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
            raise ImageError(f"{folder.parent} is full: name by --work a folder with more room")
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


def packages(sif, folder):
    """
    Return {name: version} of the Debian packages in an image, by dpkg's own records, in the order of their names.

    Those that a recipe has unpacked below /opt have their record there (osu_container/recipes/slingshot.py). folder:
    Path, new, for temporary files. Raises ImageError.
    """
    unpack(sif, folder, ['/*/lib/dpkg/status', '/opt/*/share/dpkg/status'])
    found = {}
    for record in folder.rglob('status'):
        text = record.read_text(errors='replace')
        found.update(re.findall(r'^Package: (\S+)$(?:\n.+)*?\nVersion: (\S+)$', text, re.M))
    return dict(sorted(found.items()))

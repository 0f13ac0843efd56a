"""
Files and packages of an image, of which nothing is run; whether an image is what the sum beside it and its signature
say; whether every installed module still is what was installed, with its image and the host's libraries.
"""
import os
import re
import stat
import subprocess
from pathlib import Path

from osu_container.core import shell
from osu_container.core.deciding.facts import FactsError, checked, stale_libraries
from osu_container.core.installing.image_build import wanted_sha256
from osu_container.core.reading import sif as sif_file
from osu_container.core.reading.files import read_json, text_of
from osu_container.core.reading.image import FULL, limited
from osu_container.core.reading.libraries import sha256_of
from osu_container.core.terminal import one_line

from . import ImageError
from .catalogue import command_path

OK, NOT_CHECKED, WRONG = 'ok', 'not checked', 'wrong'


def verify(path):
    """Return [(check, 'ok', 'not checked' or 'wrong', text)] of a SIF, path. What cannot be read is wrong."""
    path = Path(path)
    return [answer('sum', check_sum, path), answer('signature', check_signature, path)]


def print_report(path, checks, write=print):
    """Print what verify() found of an image, one check a line. write: function that takes a line."""
    write(f"{one_line(path)}:")
    for check, state, text in checks:
        first, *others = map(one_line, text.split('\n'))
        write(f"    {check:10} {state:12} {first}")
        for line in others:
            write(f"    {'':23} {line}")


def answer(check, function, *arguments):
    """Return (check, state, text) of a check; an ImageError is what is wrong."""
    try:
        return (check, *function(*arguments))
    except sif_file.ImageError as err:
        return check, WRONG, one_line(err)


def check_sum(path):
    """Compare an image with the file beside it that has its sha256."""
    beside = Path(f'{path}.sha256')
    wanted = wanted_sha256(str(beside))
    if wanted is None and not beside.exists():
        return NOT_CHECKED, f"no {beside.name} beside it"
    if wanted is None:
        return WRONG, (f"{beside.name} is empty. To make it again: sha256sum {shell.path(path.name)} >"
                       f"{shell.path(beside.name)}")
    try:
        found = sha256_of(path)
    except OSError as err:
        return WRONG, f"cannot read the image: {err.strerror}"
    if found != wanted:
        return WRONG, f"sha256 is {found}, {beside.name} says {wanted}. Copy or build the image again"
    return OK, f"sha256 {found}, as in {beside.name}"


def check_signature(path):
    """Say what the container runtime finds of the signature of an image, if it has one."""
    if not sif_file.is_signed(str(path)):
        return NOT_CHECKED, "unsigned"
    runtime = command_path('apptainer', 'singularity')
    if not runtime:
        return NOT_CHECKED, "signed, and neither apptainer nor singularity is on PATH to check it: load or install one"
    state, text = sif_file.verify_signature(str(path), runtime)
    names = dict(zip(re.findall(r'Fingerprint: *(\w+)', text), re.findall(r'Signing entity: *(.*?)\s*$', text, re.M)))
    if state == 'verified':
        return OK, one_line('signed by ' + ', '.join(f'{name}/{key}' for key, name in names.items()))
    return (WRONG if state == 'wrong' else NOT_CHECKED), one_line(
        f"the signature does not fit: {text}" if state == 'wrong' else f"signed, key not at hand ({text})")


def installations(modulepath):
    """
    Return {folder of an installation (str): name of its module (str)} of this project's modules.

    modulepath: folders of modules with : between them, as in MODULEPATH; of the modules of one installation the first
    counts. Raises ImageError where there is none.
    """
    found = {}
    for folder in filter(None, modulepath.split(':')):
        for path in sorted(Path(folder).rglob('*.lua')):
            root = path.name[0] != '.' and re.search(r'^local root = "(.*)"', text_of(str(path)), re.M)
            if root and os.path.isfile(os.path.join(root.group(1), 'facts.json')):
                found.setdefault(root.group(1), str(path.relative_to(folder).with_suffix('')))
    if not found:
        raise ImageError(f"no module of this project in MODULEPATH ({modulepath or 'not set'}). Add the folder that "
                         "has them: module use FOLDER")
    return found


def verify_installation(root, sums):
    """
    Return [(check, 'ok', 'not checked' or 'wrong', text)] of an installation, as verify() does of an image.

    root: folder. sums: dict that is filled: installations may share one file, which is read once.
    """
    try:
        facts = checked(read_json(os.path.join(root, 'facts.json')))
    except (FactsError, OSError, ValueError) as err:
        return [('facts', WRONG, f"{root}/facts.json is damaged: {err}. Install the module again: eb --rebuild")]
    found = []
    if 'image' in facts:
        path = Path(root, facts['image']['file'])
        if not path.exists():
            found = [('image', WRONG if path.is_symlink() else NOT_CHECKED,
                      f"{path} is gone; install the module again, if the site has none of this name")]
        else:
            identity = path.stat().st_dev, path.stat().st_ino
            if identity not in sums:
                sums[identity] = verify(path)
            found = list(sums[identity])
            beside = path.with_name(path.name + '.sha256')
            # Each installation has its own, or nothing could be wrong; those that record no stamp are older than it
            if 'installed' in facts['image'] and not beside.exists():
                found[0] = ('sum', WRONG, f"{beside} is gone, which was installed with the image: nothing tells "
                                          "whether the image is still that one. Install the module again")
    changed = stale_libraries(facts)
    count = len(facts['host'].get('injected', []))
    if count:
        found.append(('libraries', WRONG if changed else OK, '\n'.join(changed) or
                      f"{count} libraries of the host are those that were there at installation"))
    shared = [path for path in (Path(root), *Path(root).rglob('*'))
              if path.lstat().st_mode & stat.S_IWOTH and not path.is_symlink()]
    if shared:
        found.append(('rights', WRONG, f"{shared[0]} may be written by everybody ({len(shared)} such in all), and runs "
                                       f"as whoever loads the module: chmod -R o-w {shell.path(root)}"))
    return found or [('image', NOT_CHECKED, "native: it has no image, and links the host's libraries")]


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

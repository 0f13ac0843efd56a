"""
Files and packages of an image, without running it; whether an image is what its sha256 and its
signature say; whether every installed module still is what was installed, with its image and the
host's libraries.
"""

import os
import re
import stat
import subprocess
from pathlib import Path

from osu_container.base import shell
from osu_container.base.files import read_json, read_text
from osu_container.build import ImageBuildError
from osu_container.build.catalogue import find_command
from osu_container.image import sif as sif_file
from osu_container.image.image import limit_resources
from osu_container.image.libraries import compute_sha256
from osu_container.install.image_build import read_sha256_file
from osu_container.verdict.facts import FactsError, list_stale_libraries, validate_facts


def verify_image(sif):
    """
    Return what is wrong with an image (list of str), by the sha256 beside it and its signature.
    """
    beside = f'{sif}.sha256'
    try:
        wanted = read_sha256_file(beside)
        if wanted is None:
            return [f"{beside} does not exist or is empty, so nothing says what the image must be"]
        found = compute_sha256(sif)
        if found != wanted:
            return [f"sha256 is {found}, {beside} says {wanted}. Copy or build the image again"]
        runtime = find_command('apptainer', 'singularity')
        problem = sif_file.find_signature_problem(str(sif), runtime) if runtime else None
    except (sif_file.ImageError, OSError) as err:
        return [str(err)]
    return [problem] if problem else []


def find_installations(modulepath):
    """
    Return {folder of an installation (str): name of its module (str)} of this project's modules.

    modulepath: folders of modules with : between them, as in MODULEPATH; of the modules of one
    installation the first counts. Raises ImageError where there is none.
    """
    found = {}
    for folder in filter(None, modulepath.split(':')):
        for path in sorted(Path(folder).rglob('*.lua')):
            root = path.name[0] != '.' and re.search(
                r'^local root = "(.*)"', read_text(str(path)), re.M
            )
            if root and os.path.isfile(os.path.join(root.group(1), 'facts.json')):
                found.setdefault(root.group(1), str(path.relative_to(folder).with_suffix('')))
    if not found:
        raise ImageBuildError(
            f"no module of this project in MODULEPATH ({modulepath or 'not set'}). Add the folder that "
            "has them: module use FOLDER"
        )
    return found


def verify_installation(root):
    """
    Return what is wrong with an installation (list of str): its image, the host's libraries, its
    permissions.
    """
    try:
        facts = validate_facts(read_json(os.path.join(root, 'facts.json')))
    except (FactsError, OSError, ValueError) as err:
        return [f"{root}/facts.json is damaged: {err}. Install the module again: eb --rebuild"]
    problems = []
    if 'image' in facts:
        path = Path(root, facts['image']['file'])
        if path.exists():
            problems += verify_image(path)
        elif path.is_symlink():
            problems.append(
                f"{path} is a link to a file that does not exist. Install the module again"
            )
    problems += list_stale_libraries(facts)
    shared = [
        path
        for path in (Path(root), *Path(root).rglob('*'))
        if path.lstat().st_mode & stat.S_IWOTH and not path.is_symlink()
    ]
    if shared:
        problems.append(
            f"{shared[0]} may be written by everybody ({len(shared)} such in all), and runs as whoever "
            f"loads the module: chmod -R o-w {shell.quote_path(root)}"
        )
    return problems


_SECONDS = 3600  # of processor time that unpacking may take: the largest image of ours, 6 GB, takes some 100


def unpack_image(sif, folder, patterns=()):
    """
    Unpack an image, or what fits the patterns, into a new folder, as files that the caller may
    read.

    Owners, extended attributes and special files are left out. Raises ImageError.
    """
    try:
        offset = sif_file.read_sif(str(sif))[0]
    except sif_file.ImageError as err:
        raise ImageBuildError(str(err)) from err
    # few threads: each of hundreds takes room of the memory limit
    command = [
        'unsquashfs',
        '-n',
        '-no-xattrs',
        '-p',
        str(min(16, os.cpu_count() or 1)),
        '-o',
        str(offset),
        '-d',
        str(folder),
        str(sif),
        *patterns,
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            errors='replace',
            preexec_fn=lambda: limit_resources(_SECONDS),
        )
    except FileNotFoundError as err:
        raise ImageBuildError(
            "unsquashfs is not on PATH; it is needed to read images. Install squashfs-tools"
        ) from err
    for place, folders, files in os.walk(
        str(folder)
    ):  # from the top: a folder is opened before it is listed
        for name in folders + files:
            path = os.path.join(place, name)
            mode = os.lstat(path).st_mode
            if not stat.S_ISLNK(mode):
                os.chmod(path, mode | (stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR))
    if done.returncode not in (0, 2):  # 2: something was left out that only root can make
        text = done.stderr.strip()[-500:] or f'unsquashfs failed ({done.returncode})'
        raise ImageBuildError(
            f"cannot unpack the squashfs in {sif}: {text}. Is the image damaged, or {folder.parent} full?"
        )


def list_packages(sif, folder):
    """
    Return {name: version} of the Debian packages in an image, by dpkg's own records, in the order
    of their names.

    Those that a recipe has unpacked below /opt have their record there
    (build/recipes/slingshot.py). folder: Path, new, for temporary files. Raises ImageError.
    """
    unpack_image(sif, folder, ['*/lib/dpkg/status', 'opt/*/share/dpkg/status'])
    found = {}
    for record in folder.rglob('status'):
        text = record.read_text(errors='replace')
        found.update(re.findall(r'^Package: (\S+)$(?:\n.+)*?\nVersion: (\S+)$', text, re.M))
    return dict(sorted(found.items()))

"""Unpack images, list the packages in images, and verify images and installed modules.

The sha256 and the signature of an image are checked. When EasyBuild installs a module, EasyBuild
records facts about the image and the host libraries. The verification compares an installed module
with these facts. No image is started.
"""

import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Dict, Iterable, List, Union

from osu_container.base import shell
from osu_container.base.files import read_json, read_text
from osu_container.base.trust import may_others_write
from osu_container.build import ImageBuildError
from osu_container.build.catalogue import find_command
from osu_container.image import sif as sif_file
from osu_container.image.image import limit_resources
from osu_container.image.libraries import compute_sha256
from osu_container.install.image_build import read_sha256_file
from osu_container.verdict.facts import FactsError, list_stale_libraries, validate_facts


def verify_image(sif: Path) -> List[str]:
    """Check the sha256 and the signature of an image; return the problems as sentences.

    The list is empty if the image is valid. The file IMAGE.sha256 contains the expected sha256.
    """
    checksum_file = f'{sif}.sha256'
    try:
        expected_sha256 = read_sha256_file(checksum_file)
        if expected_sha256 is None:
            return [
                f"cannot verify the image: {checksum_file} does not exist or is empty. Copy this file from the "
                "source of the image, or build the image again"
            ]
        actual_sha256 = compute_sha256(sif)
        if actual_sha256 != expected_sha256:
            return [
                f"the image has the sha256 {actual_sha256}, but {checksum_file} contains "
                f"{expected_sha256}. Copy the image again, or build the image again"
            ]
        runtime = find_command('apptainer', 'singularity')
        problem = sif_file.find_signature_problem(str(sif), runtime) if runtime else None
    except (sif_file.ImageError, OSError) as err:
        return [str(err)]
    return [problem] if problem else []


def find_installations(modulepath: str) -> Dict[str, str]:
    """Return {installation folder: name of the module} for all modules of osu-container.

    If several modules have the same installation folder, only the first of these modules is
    included. Raises ImageBuildError if no module is found.

    modulepath: value of the variable MODULEPATH
    """
    installations: Dict[str, str] = {}
    for folder in filter(None, modulepath.split(':')):
        for path in sorted(Path(folder).rglob('*.lua')):
            root = path.name[0] != '.' and re.search(
                r'^local root = "(.*)"', read_text(str(path)), re.M
            )
            if root and os.path.isfile(os.path.join(root.group(1), 'facts.json')):
                installations.setdefault(
                    root.group(1), str(path.relative_to(folder).with_suffix(''))
                )
    if not installations:
        raise ImageBuildError(
            f"MODULEPATH ({modulepath or 'not set'}) contains no osu-container module. Add the folder with the "
            "osu-container modules: module use FOLDER"
        )
    return installations


def verify_installation(root: str) -> List[str]:
    """Check the image, the host libraries and the permissions of an installed module.

    The result is a list of problems as sentences. The list is empty if the module has no problem.

    root: installation folder of the module
    """
    try:
        facts = validate_facts(read_json(os.path.join(root, 'facts.json')))
    except (FactsError, OSError, ValueError) as err:
        return [
            f"{root}/facts.json is damaged: {err}. Install the module again: eb EASYCONFIG --rebuild"
        ]
    problems = []
    if 'image' in facts:
        path = Path(root, facts['image']['file'])
        if path.exists():
            problems += verify_image(path)
        elif path.is_symlink():
            problems.append(
                f"the image is missing: {path} links to a file that does not exist. Install the module again: eb "
                "EASYCONFIG --rebuild"
            )
    problems += list_stale_libraries(facts)
    writable = [
        path
        for path in (Path(root), *Path(root).rglob('*'))
        if may_others_write(path.lstat()) and not path.is_symlink()
    ]
    if writable:
        problems.append(
            f"users other than the owner can change {len(writable)} files that users of the module "
            f"run, for example {writable[0]}. Remove the write permission: chmod -R go-w "
            f"{shell.quote_path(root)}"
        )
    return problems


#: Limit of CPU time for unpacking an image, in seconds; the project's largest image (6 GB) needs
#: 100
_UNPACK_SECONDS = 3600


def unpack_image(sif: Union[str, Path], folder: Path, patterns: Iterable[str] = ()) -> None:
    """Unpack an image, or only the files that match `patterns`, into the new folder `folder`.

    The user can read all unpacked files. Owners, extended attributes and special files are not
    restored. Raises ImageBuildError if the image cannot be unpacked.
    """
    try:
        offset = sif_file.read_sif(str(sif))[0]
    except sif_file.ImageError as err:
        raise ImageBuildError(str(err)) from err
    # Each thread needs memory, and unsquashfs would start one thread per core of a large node.
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
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            errors='replace',
        ) as process:
            limit_resources(process.pid, _UNPACK_SECONDS)
            errors = process.communicate()[1]
    except FileNotFoundError as err:
        raise ImageBuildError(
            "the program unsquashfs, which reads images, is not on PATH. Install the package squashfs-tools"
        ) from err
    # From the top down, because a folder must be readable before os.walk() lists it.
    for parent, folders, files in os.walk(str(folder)):
        for name in folders + files:
            path = os.path.join(parent, name)
            mode = os.lstat(path).st_mode
            if not stat.S_ISLNK(mode):
                os.chmod(path, mode | (stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR))
    if process.returncode not in (0, 2):  # 2: files that only root can create were skipped
        text = errors.strip()[-500:] or f'unsquashfs failed ({process.returncode})'
        raise ImageBuildError(
            f"cannot unpack the image {sif}: {text}. Check the image (osu-container image verify FILE) and the "
            f"free space in {folder.parent}"
        )


def list_packages(sif: Union[str, Path], folder: Path) -> Dict[str, str]:
    """Return {name: version} of all Debian packages in an image.

    The packages are read from dpkg's records in the image. If a recipe has unpacked packages below
    /opt, the records of these packages are also below /opt (build/recipes/slingshot.py). Raises
    ImageBuildError if the image cannot be unpacked.

    folder: new folder for temporary files
    """
    unpack_image(sif, folder, ['*/lib/dpkg/status', 'opt/*/share/dpkg/status'])
    packages: Dict[str, str] = {}
    for record in folder.rglob('status'):
        text = record.read_text(errors='replace')
        packages.update(re.findall(r'^Package: (\S+)$(?:\n.+)*?\nVersion: (\S+)$', text, re.M))
    return dict(sorted(packages.items()))

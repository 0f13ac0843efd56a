"""Download the sources of images and verify their sha256 against versions.py.

Make the Debian base system that images start from where no container registry is reachable.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional

from osu_container.base import outputs
from osu_container.base.places import STATE
from osu_container.build import ImageBuildError
from osu_container.build.catalogue import find_command
from osu_container.build.progress import print_progress, run
from osu_container.build.recipes.versions import DEBIAN, DEFAULT_DEBIAN, SOURCES
from osu_container.image.libraries import compute_sha256

#: Folders below a source path in which EasyBuild searches for the archive of the benchmarks
EASYBUILD_FOLDERS = ('', 'o/osu-native', 'o/OSU-Micro-Benchmarks')

#: Platforms of the wheels, which are for x86_64. pip selects by them and by the image's Python, not
#: by the Python that runs pip.
PLATFORMS = (
    'manylinux_2_28_x86_64',
    'manylinux2014_x86_64',
    'manylinux_2_17_x86_64',
    'manylinux_2_5_x86_64',
    'manylinux1_x86_64',
    'manylinux_2_27_x86_64',
    'any',
)

#: Seconds without a byte after which a server is unreachable
TIMEOUT = 20


def require_sha256(path: Path, expected: str, advice: str) -> None:
    """Raise ImageBuildError if the file has another sha256; the file is not removed."""
    actual = compute_sha256(path)
    if actual != expected:
        raise ImageBuildError(
            f"{path} is not the expected file:\n    sha256 found     {actual}\n"
            f"    sha256 expected  {expected}\n{advice}"
        )


def download_sources(keys: Iterable[str], folder: Path, log: Path) -> None:
    """Download the sources of these keys that are missing in the folder.

    Raises ImageBuildError if a file has another sha256, in which case an existing file stays, or
    cannot be downloaded. Of a source without a published sha256, the build compares the commit that
    the archive names (recipes/slingshot.py).
    """
    folder.mkdir(parents=True, exist_ok=True)
    for key in keys:
        source = SOURCES[key]
        path = folder / source['file']
        if not path.exists():
            print_progress(f"fetching {source['file']}")
            with tempfile.TemporaryDirectory(prefix='.fetch-', dir=str(folder)) as temporary:
                new = Path(temporary) / path.name
                if source['url'] == 'PyPI':
                    download_pypi_file(source, new, log)
                else:
                    _download_url(source['url'], new, path)
                if source['sha256']:
                    require_sha256(
                        new,
                        source['sha256'],
                        f"The download from {source['url']} is removed. Repeat the command; if the sha256 "
                        "stays the same, the file has changed on the server: inspect it before use",
                    )
                with contextlib.suppress(FileExistsError):  # if another process was faster
                    outputs.rename_file(new, path)
        elif source['sha256']:
            require_sha256(
                path,
                source['sha256'],
                "Move the file away and repeat the command to download it again",
            )


def download_pypi_file(source: Dict[str, Any], path: Path, log: Path) -> None:
    """Download a file from PyPI by pip into the folder of `path`. Raises ImageBuildError."""
    # pip compares the sha256 before it opens the file. For the metadata of a source archive, pip
    # downloads the archive's build tools: as wheels, because pip would compile their sources.
    options = [
        '--only-binary',
        ':all:',
        '--implementation',
        'cp',
        '--python-version',
        source.get('python', DEBIAN[DEFAULT_DEBIAN]['python']),
        *(word for name in PLATFORMS for word in ('--platform', name)),
    ]
    if not path.name.endswith('.whl'):
        options = ['--no-binary', source['name']]
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as requirement:
        requirement.write(
            f"{source['name']}=={source['version']} --hash=sha256:{source['sha256']}\n"
        )
        requirement.flush()
        run(
            f"fetching {source['name']} {source['version']} from PyPI",
            [
                *find_pip(),
                'download',
                '--no-deps',
                '--require-hashes',
                '--dest',
                path.parent,
                *options,
                '--requirement',
                requirement.name,
            ],
            log,
        )


def find_pip() -> List[str]:
    """Return the first words of a pip command.

    Raises ImageBuildError if there is no pip, because Debian's python3 does not include pip.
    """
    for python in (sys.executable, STATE / 'venv' / 'bin' / 'python'):
        if (
            os.path.exists(python)
            and not subprocess.run(
                [str(python), '-c', 'import pip'], stderr=subprocess.DEVNULL
            ).returncode
        ):
            return [str(python), '-m', 'pip', '--disable-pip-version-check']
    raise ImageBuildError(
        f"pip is not installed for {sys.executable}, and .workstation/venv does not exist. Run "
        "tools/workstation/python_env.sh, or install python3-pip"
    )


def _download_url(url: str, new: Path, path: Path) -> None:
    """Download a URL to the file `new`; ImageBuildError tells how to get `path` by hand."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, open(new, 'wb') as stream:
            shutil.copyfileobj(answer, stream)
    except OSError as err:
        raise ImageBuildError(
            f"{url} cannot be downloaded ({getattr(err, 'reason', err)}).\nDownload {path.name} on another "
            f"machine and copy it into {path.parent}"
        ) from err


def find_archive(folders: Iterable[Path]) -> Optional[Path]:
    """Return the path of the OSU archive in the source folders, or None.

    Raises ImageBuildError if a file of its name has another sha256, because the user put the file
    there on purpose.
    """
    source = SOURCES['osu']
    for folder in folders:
        for subfolder in EASYBUILD_FOLDERS:
            path = folder / subfolder / source['file']
            if path.is_file():
                require_sha256(
                    path,
                    source['sha256'],
                    "Copy the archive again, or move it away to use mpi4py's ports of the benchmarks. To use "
                    "another archive, write its FILE.sha256 and add --osu-archive FILE",
                )
                return path
    return None


# ---- Debian

#: Documentation and translations, half of the base system, are left out. The licences stay.
DPKG_OPTIONS = (
    'path-exclude=/usr/share/doc/*',
    'path-include=/usr/share/doc/*/copyright',
    'path-exclude=/usr/share/man/*',
    'path-exclude=/usr/share/info/*',
    'path-exclude=/usr/share/locale/*',
)

#: mmdebstrap's hook that merges / and /usr from the start, as in the images of the registries.
#: Without the hook, Debian 12 installs Perl (50 MB) for its program that merges them.
MERGED_USR_HOOKS = Path('/usr/share/mmdebstrap/hooks/maybe-merged-usr')

#: Paths that are left out when a base system is unpacked. Device nodes need root, and no image needs
#: them. /run, hostname and resolv.conf belong to the machine that builds. Only apt's user can read
#: the last two folders, and the build is not apt's user.
NOT_UNPACKED = (
    './dev/*',
    './run/*',
    './etc/hostname',
    './etc/resolv.conf',
    './var/cache/apt/archives/partial',
    './var/lib/apt/lists/partial',
)


def find_mmdebstrap() -> str:
    """Return the path of mmdebstrap. Raises ImageBuildError if it is not installed."""
    program = find_command('mmdebstrap')
    if not program:
        raise ImageBuildError(
            "mmdebstrap is not on PATH; it makes the Debian base system. Install it (Debian, Ubuntu): "
            "apt-get install mmdebstrap"
        )
    return program


def _find_shared_tmpdir() -> str:
    """Return a folder for mmdebstrap's temporary files that other users can enter.

    Without root, mmdebstrap works as a user of /etc/subuid. EasyBuild's TMPDIR is closed to other
    users. Raises ImageBuildError if there is no such folder.
    """
    folders = [tempfile.gettempdir(), '/tmp', '/var/tmp']
    for folder in map(Path, folders):
        path = folder.resolve()
        if os.access(path, os.W_OK) and all(
            each.stat().st_mode & 0o001 for each in (path, *path.parents)
        ):
            return str(folder)
    raise ImageBuildError(
        f"making the base system failed: other users cannot enter {', '.join(folders)}, but mmdebstrap "
        "without root needs this. Name another folder: export TMPDIR=FOLDER"
    )


def resolve_base_folder(release: str, work: Path) -> Path:
    """Return the folder of the base system of a Debian release, which need not exist yet.

    The name depends on the release and the options of mmdebstrap, but not on the mirror.
    """
    options = [release, *DPKG_OPTIONS, *NOT_UNPACKED]
    return work / f"base-{release}-{hashlib.sha256(' '.join(options).encode()).hexdigest()[:12]}"


def make_debian_base(release: str, work: Path, log: Path) -> Path:
    """Return the folder with Debian and Python 3; make it if it does not exist yet.

    The packages come from the mirror $DEBIAN_MIRROR, if it is set. Raises ImageBuildError.
    """
    base = resolve_base_folder(release, work)
    if base.exists():
        return base
    print_progress(f"making a base system of Debian {release} with mmdebstrap")
    options = [
        '--variant=minbase',
        '--include=python3',
        '--format=tar',
        *(f'--dpkgopt={option}' for option in DPKG_OPTIONS),
    ]
    if release == 'bookworm' and MERGED_USR_HOOKS.is_dir():
        options += [f'--hook-dir={MERGED_USR_HOOKS}', '--include=usr-is-merged']
    work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='build-', dir=str(work)) as temporary:
        unpacked, archive = Path(temporary) / 'base', Path(temporary) / 'base.tar'
        unpacked.mkdir()
        run(
            'making the base system',
            [
                find_mmdebstrap(),
                *options,
                release,
                archive,
                *filter(None, [os.environ.get('DEBIAN_MIRROR')]),
            ],
            log,
            env={**os.environ, 'TMPDIR': _find_shared_tmpdir()},
        )
        run(
            'unpacking the base system',
            [
                'tar',
                '-C',
                unpacked,
                *(f'--exclude={path}' for path in NOT_UNPACKED),
                '-xf',
                archive,
            ],
            log,
        )
        try:
            unpacked.rename(base)
        except OSError:  # if another build was faster
            if not base.exists():
                raise
    return base

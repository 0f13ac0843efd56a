"""Download the sources of images, and compare the sha256 with recipes/versions.csv.

This Python module also makes Debian base systems with mmdebstrap. An image that starts from such a
base system needs no container registry.
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
from osu_container.build import ImageBuildError, print_progress, run
from osu_container.build.catalogue import find_command
from osu_container.build.recipes.versions import DEBIAN, DEFAULT_DEBIAN, SOURCES
from osu_container.image.libraries import compute_sha256

#: Folders below EasyBuild's source path that may contain the archive of the benchmarks
EASYBUILD_FOLDERS = ('', 'o/osu-native', 'o/OSU-Micro-Benchmarks')

#: Options of pip with the platform tags of the wheels, which are for x86_64. With these options pip
#: selects the wheels for the Python of the image, not for the Python that runs pip.
WHEEL_OPTIONS = (
    '--only-binary :all: --implementation cp --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 '
    '--platform manylinux_2_17_x86_64 --platform manylinux_2_5_x86_64 --platform manylinux1_x86_64 '
    '--platform manylinux_2_27_x86_64 --platform any --python-version'
)

#: Number of seconds without data after which a download fails
TIMEOUT = 20


def require_sha256(path: Path, expected: str, advice: str) -> None:
    """Raise ImageBuildError if the file `path` does not have the expected sha256.

    The file is not removed, even if its sha256 is wrong.

    advice: last line of the error message
    """
    actual = compute_sha256(path)
    if actual != expected:
        raise ImageBuildError(
            f"{path} is not the expected file:\n    sha256 found     {actual}\n"
            f"    sha256 expected  {expected}\n{advice}"
        )


def download_sources(keys: Iterable[str], folder: Path, log: Path) -> None:
    """Download sources into `folder`, except the sources that `folder` already contains.

    keys: keys of SOURCES. Raises ImageBuildError if a file cannot be downloaded, or if a new or
    existing file does not have the expected sha256. An existing file is never removed. If nobody
    has published the sha256 of a source, this function does not check the source. Instead, the
    build verifies that the archive contains the expected commit (verify_sources() in
    recipes/common.py).
    """
    folder.mkdir(parents=True, exist_ok=True)
    for key in keys:
        source = SOURCES[key]
        path = folder / source['file']
        if not path.exists():
            print_progress(f"downloading {source['file']}")
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
                        f"The file downloaded from {source['url']} was removed. Repeat the command. If the same sha256 "
                        "is found again, the file on the server has changed: inspect the file before you use the file",
                    )
                with contextlib.suppress(FileExistsError):  # if another process was faster
                    outputs.rename_file(new, path)
        elif source['sha256']:
            require_sha256(
                path,
                source['sha256'],
                "To download the file again, move the existing file away and repeat the command",
            )


def download_pypi_file(source: Dict[str, Any], path: Path, log: Path) -> None:
    """Download a source from PyPI with pip, into the folder that contains `path`.

    Raises ImageBuildError if pip is missing or the download fails.
    """
    # pip compares the sha256 before it opens the file. To read the metadata of a source archive,
    # pip also downloads the build tools of the archive. They must be wheels, or pip would compile
    # them.
    if path.name.endswith('.whl'):
        python = source.get('python') or DEBIAN[DEFAULT_DEBIAN]['python']
        options = [*WHEEL_OPTIONS.split(), python]
    else:
        options = ['--no-binary', source['name']]
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as requirement:
        requirement.write(
            f"{source['name']}=={source['version']} --hash=sha256:{source['sha256']}\n"
        )
        requirement.flush()
        run(
            f"downloading {source['name']} {source['version']} from PyPI",
            [
                *find_pip(),
                *'download --no-deps --require-hashes --requirement'.split(),
                requirement.name,
                '--dest',
                path.parent,
                *options,
            ],
            log,
        )


def find_pip() -> List[str]:
    """Return the command that starts pip, as a list of words: ['python3', '-m', 'pip', ...].

    Raises ImageBuildError if pip is not installed. Debian's package python3 does not include pip.
    """
    for python in (sys.executable, str(STATE / 'venv/bin/python')):
        command = [python, '-m', 'pip', '--disable-pip-version-check']
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run(
                [*command, '--version'],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            return command
    raise ImageBuildError(
        f"pip is not installed for {sys.executable}, and the project's Python in .workstation/venv does "
        "not exist. Run tools/workstation/python_env.sh, or install the Debian package python3-pip"
    )


def _download_url(url: str, new: Path, path: Path) -> None:
    """Download a URL to the temporary file `new`.

    Raises ImageBuildError if the download fails. The message then says how to copy the file to
    `path` by hand.
    """
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, open(new, 'wb') as stream:
            shutil.copyfileobj(answer, stream)
    except OSError as err:
        raise ImageBuildError(
            f"cannot download {url} ({getattr(err, 'reason', err)}).\nDownload {path.name} on another "
            f"machine, and copy the file to {path.parent}"
        ) from err


def find_archive(folders: Iterable[Path]) -> Optional[Path]:
    """Return the path of the OSU archive in one of `folders` or in their subfolders.

    The result is None if no folder contains the archive. Raises ImageBuildError if a file has the
    name of the archive and a wrong sha256. The function does not ignore such a file, because the
    user has copied the file on purpose.
    """
    source = SOURCES['osu']
    for folder in folders:
        for subfolder in EASYBUILD_FOLDERS:
            path = folder / subfolder / source['file']
            if path.is_file():
                require_sha256(
                    path,
                    source['sha256'],
                    "Copy the archive again, or move the archive away to get mpi4py ports (Python "
                    "versions) of the OSU benchmarks. To use the archive unchanged, write the "
                    "sha256 of the archive to ARCHIVE.sha256 and add --osu-archive ARCHIVE",
                )
                return path
    return None


# ---- Debian

#: Options of dpkg that exclude documentation and translations, half of the base system, but keep
#: the licences
DPKG_OPTIONS = (
    'path-exclude=/usr/share/doc/*',
    'path-include=/usr/share/doc/*/copyright',
    'path-exclude=/usr/share/man/*',
    'path-exclude=/usr/share/info/*',
    'path-exclude=/usr/share/locale/*',
)

#: Hook of mmdebstrap that merges / and /usr from the start, as in the Debian images of registries.
#: Without the hook, Debian 12 installs Perl (50 MB) for the program that merges them.
MERGED_USR_HOOKS = Path('/usr/share/mmdebstrap/hooks/maybe-merged-usr')

#: Paths that are excluded when a base system is unpacked. Only root can create device nodes, and no
#: image needs them. /run, hostname and resolv.conf belong to the build machine. Only apt's own user
#: can read the last two folders, and the build runs as another user.
NOT_UNPACKED = (
    './dev/* ./run/* ./etc/hostname ./etc/resolv.conf ./var/cache/apt/archives/partial '
    './var/lib/apt/lists/partial'
).split()


def find_mmdebstrap() -> str:
    """Return the path of the program mmdebstrap.

    Raises ImageBuildError if mmdebstrap is not installed.
    """
    program = find_command('mmdebstrap')
    if not program:
        raise ImageBuildError(
            "mmdebstrap, which makes the Debian base system, is not on PATH. On Debian or Ubuntu, run: "
            "apt-get install mmdebstrap"
        )
    return program


def _find_shared_tmpdir() -> str:
    """Return a folder for temporary files of mmdebstrap that other users can also enter.

    If an ordinary user starts mmdebstrap, mmdebstrap runs with a user id from /etc/subuid. This
    user id cannot enter the folder TMPDIR that EasyBuild sets. Raises ImageBuildError if no
    suitable folder exists.
    """
    folders = [tempfile.gettempdir(), '/tmp', '/var/tmp']
    for folder in map(Path, folders):
        path = folder.resolve()
        if os.access(path, os.W_OK) and all(
            each.stat().st_mode & 0o001 for each in (path, *path.parents)
        ):
            return str(folder)
    raise ImageBuildError(
        "cannot make the Debian base system: without root, mmdebstrap needs a temporary folder that other "
        f"users can enter, but other users cannot enter {', '.join(folders)}. Name another folder: export "
        "TMPDIR=FOLDER"
    )


def resolve_base_folder(release: str, work: Path) -> Path:
    """Return the path of the folder for the base system of a Debian release.

    The folder may not exist yet. The name of the folder depends on the release and on the options
    of mmdebstrap, but not on the mirror that provides the packages.
    """
    options = [release, *DPKG_OPTIONS, *NOT_UNPACKED]
    return work / f"base-{release}-{hashlib.sha256(' '.join(options).encode()).hexdigest()[:12]}"


def make_debian_base(release: str, work: Path, log: Path) -> Path:
    """Return a folder with a base system of Debian and Python 3; create the folder if missing.

    If the variable DEBIAN_MIRROR is set, the packages are downloaded from this mirror. Raises
    ImageBuildError if the base system cannot be made.
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
        excludes = [f'--exclude={path}' for path in NOT_UNPACKED]
        run('unpacking the base system', ['tar', '-C', unpacked, *excludes, '-xf', archive], log)
        try:
            unpacked.rename(base)
        except OSError:  # because another build was faster
            if not base.exists():
                raise
    return base

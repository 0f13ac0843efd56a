"""Download the sources of images, and compare their sha256 with versions.py.

Also make the Debian base system from which images start if no container registry is reachable.
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

#: Folders below EasyBuild's source path that may contain the archive of the benchmarks
EASYBUILD_FOLDERS = ('', 'o/osu-native', 'o/OSU-Micro-Benchmarks')

#: Platform tags of the wheels, which are for x86_64. With these tags pip selects the wheels for the
#: Python of the image, not for the Python that runs pip.
PLATFORMS = (
    'manylinux_2_28_x86_64 manylinux2014_x86_64 manylinux_2_17_x86_64 '
    'manylinux_2_5_x86_64 manylinux1_x86_64 manylinux_2_27_x86_64 any'
).split()

#: Number of seconds without data after which a download fails
TIMEOUT = 20


def require_sha256(path: Path, expected: str, advice: str) -> None:
    """Raise ImageBuildError, with `advice`, if the file has another sha256; keep the file."""
    actual = compute_sha256(path)
    if actual != expected:
        raise ImageBuildError(
            f"{path} is not the expected file:\n    sha256 found     {actual}\n"
            f"    sha256 expected  {expected}\n{advice}"
        )


def download_sources(keys: Iterable[str], folder: Path, log: Path) -> None:
    """Download the sources of these keys that are missing in the folder.

    Raises ImageBuildError if a file cannot be downloaded or has another sha256; an existing file is
    kept. A source without a published sha256 is not compared here: its build compares the commit
    that the archive names (verify_sources() in recipes/common.py).
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
                        f"The download from {source['url']} was removed. Repeat the command. If the same sha256 "
                        "is found again, the file on the server has changed: inspect the file before use",
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
    """Download a file from PyPI with pip to the folder of `path`. Raises ImageBuildError."""
    # pip compares the sha256 before it opens the file. To read the metadata of a source archive,
    # pip also downloads the build tools of the archive. They must be wheels, or pip would compile
    # them.
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
            f"downloading {source['name']} {source['version']} from PyPI",
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
        f"pip is not installed for {sys.executable}, and the project's Python in .workstation/venv does "
        "not exist. Run tools/workstation/python_env.sh, or install the package python3-pip"
    )


def _download_url(url: str, new: Path, path: Path) -> None:
    """Download a URL to the file `new`; an ImageBuildError says how to get `path` by hand."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, open(new, 'wb') as stream:
            shutil.copyfileobj(answer, stream)
    except OSError as err:
        raise ImageBuildError(
            f"cannot download {url} ({getattr(err, 'reason', err)}).\nDownload {path.name} on another "
            f"machine, and copy the file to {path.parent}"
        ) from err


def find_archive(folders: Iterable[Path]) -> Optional[Path]:
    """Return the path of the OSU archive in the source folders, or None.

    Raises ImageBuildError if a file with the name of the archive has another sha256, because the
    user copied this file there on purpose.
    """
    source = SOURCES['osu']
    for folder in folders:
        for subfolder in EASYBUILD_FOLDERS:
            path = folder / subfolder / source['file']
            if path.is_file():
                require_sha256(
                    path,
                    source['sha256'],
                    "Copy the archive again, or move the file away to use the mpi4py ports of the benchmarks. "
                    "To use this archive, write its sha256 to FILE.sha256 and add --osu-archive FILE",
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
    './dev/* ./run/* ./etc/hostname ./etc/resolv.conf '
    './var/cache/apt/archives/partial ./var/lib/apt/lists/partial'
).split()


def find_mmdebstrap() -> str:
    """Return the path of mmdebstrap. Raises ImageBuildError if it is not installed."""
    program = find_command('mmdebstrap')
    if not program:
        raise ImageBuildError(
            "mmdebstrap, which makes the Debian base system, is not on PATH. Install it on Debian or "
            "Ubuntu: apt-get install mmdebstrap"
        )
    return program


def _find_shared_tmpdir() -> str:
    """Return a folder for mmdebstrap's temporary files that other users can enter.

    Without root, mmdebstrap runs as another user from /etc/subuid, who cannot enter the TMPDIR that
    EasyBuild sets. Raises ImageBuildError if there is no such folder.
    """
    folders = [tempfile.gettempdir(), '/tmp', '/var/tmp']
    for folder in map(Path, folders):
        path = folder.resolve()
        if os.access(path, os.W_OK) and all(
            each.stat().st_mode & 0o001 for each in (path, *path.parents)
        ):
            return str(folder)
    raise ImageBuildError(
        "cannot make the base system: without root, mmdebstrap needs a temporary folder that other "
        f"users can enter, and {', '.join(folders)} are closed to them. Name another folder: export "
        "TMPDIR=FOLDER"
    )


def resolve_base_folder(release: str, work: Path) -> Path:
    """Return the folder of the base system of a Debian release, which need not exist yet.

    The name of the folder depends on the release and the options of mmdebstrap, not on the mirror.
    """
    options = [release, *DPKG_OPTIONS, *NOT_UNPACKED]
    return work / f"base-{release}-{hashlib.sha256(' '.join(options).encode()).hexdigest()[:12]}"


def make_debian_base(release: str, work: Path, log: Path) -> Path:
    """Return the folder with Debian and Python 3, which is made if it does not exist yet.

    If DEBIAN_MIRROR is set, the packages come from this mirror. Raises ImageBuildError.
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
        except OSError:  # because another build was faster
            if not base.exists():
                raise
    return base

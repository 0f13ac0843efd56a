"""
Sources of images: downloaded where they are missing, and used only with the sha256 of versions.py.
And the folder with Debian that images for any Linux machine start from, where no container registry
is reached.
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

from osu_container.base import outputs
from osu_container.base.places import STATE
from osu_container.build import ImageBuildError
from osu_container.build.catalogue import (
    DEBIAN,
    DEFAULT_DEBIAN,
    SOURCES,
    compute_sha256,
    find_command,
)
from osu_container.build.progress import print_progress, run

# Folders below a source path in which EasyBuild looks for the sources of easyconfigs of the
# benchmarks
EASYBUILD_FOLDERS = ('', 'o/osu-native', 'o/OSU-Micro-Benchmarks')

# The wheels are for x86_64, and pip must take the one for the image's Python, whatever Python runs
# pip.
PLATFORMS = (
    'manylinux_2_28_x86_64',
    'manylinux2014_x86_64',
    'manylinux_2_17_x86_64',
    'manylinux_2_5_x86_64',
    'manylinux1_x86_64',
    'manylinux_2_27_x86_64',
    'any',
)

TIMEOUT = 20  # seconds without a byte after which a server counts as not reached


def require_sha256(path, wanted, advice):
    """Raise ImageError if the sha256 of the file is not the wanted one. The file stays."""
    found = compute_sha256(path)
    if found != wanted:
        raise ImageBuildError(
            f"{path} is not the expected file:\n    sha256 found   {found}\n"
            f"    sha256 wanted  {wanted}\n{advice}"
        )


def download_sources(keys, folder, log):
    """
    Put the sources of these keys into the folder. What exists with the right sum is not fetched
    again.

    Raises ImageError if a file exists with another sum (it stays), or cannot be fetched. Where no
    sum is published, the build compares the commit that the archive names (recipes/slingshot.py).
    """
    folder = Path(folder)
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
                        f"It came from {source['url']} and was removed. Repeat the "
                        "command; if the sum stays the same, the file has changed there: do not use it unseen",
                    )
                with contextlib.suppress(FileExistsError):  # another process was faster
                    outputs.rename_file(new, path)
        elif source['sha256']:
            require_sha256(
                path,
                source['sha256'],
                "Move it away, then repeat the command: it is fetched again.",
            )


def download_pypi_file(source, path, log):
    """Download one file from PyPI by pip into the folder of path. Raises ImageError."""
    # pip compares the sha256 before it opens the file. It asks a source archive for its metadata,
    # for which the archive's build tools are fetched: those as wheels, or pip would compile them.
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


def find_pip():
    """Return the start of a pip command line.

    Raises ImageError if there is no pip: Debian's python3 comes without.
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
        f"{sys.executable} has no pip, and there is no .workstation/venv with one. Run "
        "tools/workstation/python_env.sh, or install python3-pip"
    )


def _download_url(url, new, path):
    """
    Download an address to the file new. Raises ImageError with another way to get path, the
    final file.
    """
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, open(new, 'wb') as stream:
            shutil.copyfileobj(answer, stream)
    except OSError as err:
        raise ImageBuildError(
            f"{url} cannot be downloaded ({getattr(err, 'reason', err)}).\nPut {path.name} into "
            f"{path.parent} by hand, for example from a machine that reaches it"
        ) from err


def find_archive(folders):
    """Return the path of the OSU archive in the source paths, or None.

    Raises ImageError if a file of that name has another sum: the user has put it there on purpose.
    """
    source = SOURCES['osu']
    for folder in folders:
        for below in EASYBUILD_FOLDERS:
            path = Path(folder) / below / source['file']
            if path.is_file():
                require_sha256(
                    path,
                    source['sha256'],
                    "Copy the archive again, or move it away to use mpi4py's ports of the benchmarks. For "
                    "another archive on purpose: --osu-archive FILE, with FILE.sha256 beside it",
                )
                return path
    return None


# ---- Debian

# Documentation and translations are half of the base. The licences stay.
DPKG_OPTIONS = (
    'path-exclude=/usr/share/doc/*',
    'path-include=/usr/share/doc/*/copyright',
    'path-exclude=/usr/share/man/*',
    'path-exclude=/usr/share/info/*',
    'path-exclude=/usr/share/locale/*',
)

# Debian 12 brings Perl, 50 MB, for the program that merges / and /usr. A new base is merged from
# the beginning, as in the images of the registries; mmdebstrap has a hook for it.
MERGED_USR_HOOKS = Path('/usr/share/mmdebstrap/hooks/maybe-merged-usr')

# Left out when a base is unpacked: device nodes cannot be made without root, and no image needs
# them; nor what belongs to a running system or names the machine that builds; the last two folders
# can be read by apt's user only, which the build is not.
NOT_UNPACKED = (
    './dev/*',
    './run/*',
    './etc/hostname',
    './etc/resolv.conf',
    './var/cache/apt/archives/partial',
    './var/lib/apt/lists/partial',
)


def find_mmdebstrap():
    """Return the path of mmdebstrap. Raises ImageError without one."""
    program = find_command('mmdebstrap')
    if not program:
        raise ImageBuildError(
            "no mmdebstrap to make a Debian base with. Install it (Debian, Ubuntu: apt-get install "
            "mmdebstrap)"
        )
    return program


def _find_shared_tmpdir():
    """
    Return the folder (str) for mmdebstrap's temporary files. Raises ImageError if there is none.

    Without root mmdebstrap works as a user of /etc/subuid, who must enter it. EasyBuild's TMPDIR is
    closed to others.
    """
    folders = [tempfile.gettempdir(), '/tmp', '/var/tmp']
    for folder in map(Path, folders):
        path = folder.resolve()
        if os.access(str(path), os.W_OK) and all(
            each.stat().st_mode & 0o001 for each in (path, *path.parents)
        ):
            return str(folder)
    raise ImageBuildError(
        f"making the base: {', '.join(folders)} cannot be entered by other users, as mmdebstrap without "
        "root needs it. Name a folder that they can enter: export TMPDIR=FOLDER"
    )


def resolve_base_folder(release, work):
    """
    Return the folder (Path) in the work folder with the base of a release of Debian, once it is
    made.

    Another command for the base is another folder, another mirror is not.
    """
    words = [release, *DPKG_OPTIONS, *NOT_UNPACKED]
    return (
        Path(work) / f"base-{release}-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:12]}"
    )


def make_debian_base(release, work, log):
    """Return the folder with Debian and Python 3, made if it does not exist yet. Raises ImageError.

    The packages come from $DEBIAN_MIRROR, if the user has set it.
    """
    base = resolve_base_folder(release, work)
    if base.exists():
        return base
    print_progress(f"making a base of Debian {release} with mmdebstrap")
    options = [
        '--variant=minbase',
        '--include=python3',
        '--format=tar',
        *(f'--dpkgopt={option}' for option in DPKG_OPTIONS),
    ]
    if release == 'bookworm' and MERGED_USR_HOOKS.is_dir():
        options += [f'--hook-dir={MERGED_USR_HOOKS}', '--include=usr-is-merged']
    Path(work).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='build-', dir=str(work)) as temporary:
        made, archive = Path(temporary) / 'base', Path(temporary) / 'base.tar'
        made.mkdir()
        run(
            'making the base',
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
            'unpacking the base',
            ['tar', '-C', made, *(f'--exclude={path}' for path in NOT_UNPACKED), '-xf', archive],
            log,
        )
        try:
            os.rename(str(made), str(base))
        except OSError:  # another build was faster
            if not base.exists():
                raise
    return base

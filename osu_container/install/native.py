"""
Check and complete a native build of the benchmarks, which uses no container.

This module checks the loaded modules, the environment and the linked libraries of the build. If the
source archive of the benchmarks is not available, install/native.py installs the mpi4py ports of
the benchmarks in place of the C programs.
"""

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional

from osu_container.image.elf import ElfError, read_elf
from osu_container.image.libraries import compute_sha256

#: The plugin that aws-ofi-nccl and aws-ofi-rccl install for RCCL (README of aws-ofi-nccl)
RCCL_PLUGIN = 'lib/librccl-net.so'
#: Libraries that only MPI programs need: libmpi.so.12, libmpi_amd.so.12, but not the GPU transport
#: layer
MPI_SONAME = re.compile(r'libmpi(?!_gtl)')
#: Names of the benchmarks that scripts/osu-port runs; each name becomes a link to osu-port
PORTS = (
    'osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast osu_bibw osu_bw osu_gather '
    'osu_get_bw osu_latency osu_multi_lat osu_scatter'
).split()


class PortsError(Exception):
    """The mpi4py ports of the benchmarks cannot be installed; the message has the remedy."""


def find_prgenv(modules: Iterable[str]) -> Optional[str]:
    """
    Return the name of the PrgEnv module in `modules`, such as 'amd' for PrgEnv-amd.

    The result is None if `modules` contains no PrgEnv module.
    """
    return next(
        (
            name[len('PrgEnv-') :].partition('/')[0]
            for name in modules
            if name.startswith('PrgEnv-')
        ),
        None,
    )


def find_environment_problems(
    native: Dict[str, Any], prgenv: Optional[str], environment: Mapping[str, str]
) -> List[str]:
    """
    Return a message for each requirement that the programming environment does not meet.

    native: the data of the site about native builds. prgenv: result of find_prgenv(). environment:
    environment variables of this process.
    """
    problems = [
        "no command %s on PATH" % command
        for command in (native['mpicc'], native['mpicxx'])
        if not shutil.which(command)
    ]
    # Linux has a cc that is gcc. Every PrgEnv-<name> sets PE_ENV to <NAME>.
    expected = (prgenv or native['prgenv']).upper()
    if environment.get('PE_ENV') != expected:
        problems.append(
            "PE_ENV is %s, expected %s" % (environment.get('PE_ENV', 'not set'), expected)
        )
    # The release comes with the loaded software stack, not with the dependencies.
    release = re.search(r'/mpich/([\d.]+)/', native['libmpi'])
    if release and environment.get('CRAY_MPICH_VERSION', release.group(1)) != release.group(1):
        problems.append(
            'the loaded cray-mpich has the release %s, expected %s. Load the software stack of the '
            'site, then run eb again' % (environment['CRAY_MPICH_VERSION'], release.group(1))
        )
    needed = sorted(set(re.findall(r'\$(\w+)', native['configopts'])))
    return problems + ["%s is not set" % name for name in needed if not environment.get(name)]


def find_link_problems(
    bindir: str, programs: List[str], sonames: List[str], modules: List[str]
) -> List[str]:
    """
    Return a message for each library in `sonames` that an MPI program is not linked with.

    bindir: folder of the programs. programs: file names of programs in `bindir`. modules: names of
    the Lmod modules that provide the libraries `sonames`.
    """
    needs = {}
    for name in programs if sonames else []:
        try:
            needed = read_elf(os.path.realpath(os.path.join(bindir, name))).needed
        except ElfError as err:
            return [str(err)]
        if any(MPI_SONAME.match(soname) for soname in needed):
            needs[name] = needed
    problems = []
    for soname in sonames:
        without = sorted(name for name in needs if soname not in needs[name])
        if without:
            problems.append(
                '%s is not linked with %s. Without the missing library, MPI cannot transfer buffers in GPU '
                'memory. Run `module load %s`, then build the programs again (%s needs %s; the '
                'library is missing in %d of %d programs: %s)'
                % (
                    without[0],
                    soname,
                    ' '.join(modules),
                    without[0],
                    ' '.join(needs[without[0]]),
                    len(without),
                    len(needs),
                    ' '.join(without),
                )
            )
    return problems


def link_programs(folder: str, prefix: str) -> List[str]:
    """
    Create links to the benchmarks in the folder bin, and return all file names in bin.

    folder: the installation, which contains bin and libexec. The benchmarks are the executable
    files below libexec whose names begin with `prefix`.
    """
    bindir = Path(folder, 'bin')
    bindir.mkdir(parents=True, exist_ok=True)
    for path in Path(folder, 'libexec').rglob(prefix + '*'):
        if os.access(str(path), os.X_OK) and not path.is_dir():
            (bindir / path.name).symlink_to(os.path.relpath(str(path), str(bindir)))
    return sorted(path.name for path in bindir.iterdir())


def select_mpi4py_wheel(python: str, sources: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
    """
    Return the entry of `sources` for the mpi4py wheel that fits a Python interpreter.

    python: path of the interpreter. Raises PortsError if `sources` has no wheel for the release of
    the interpreter.
    """
    show = 'import sys; print("%d.%d" % sys.version_info[:2])'
    version = subprocess.check_output([python, '-c', show], universal_newlines=True).strip()
    if 'mpi4py-' + version not in sources:
        raise PortsError(
            'no wheel of mpi4py is known for Python %s (%s), so the Python benchmarks cannot be '
            'installed. Copy the source archive of the C benchmarks to the source path: EasyBuild '
            'then compiles the C benchmarks instead' % (version, python)
        )
    return sources['mpi4py-' + version]


def check_source(path: str, expected: str) -> None:
    """Raise PortsError if the file `path` does not have the sha256 `expected`."""
    sha256 = compute_sha256(path)
    if sha256 != expected:
        raise PortsError(
            '%s has the wrong sha256: found %s, expected %s. Download the file again'
            % (path, sha256, expected)
        )


def install_ports(wheel: str, launcher: str, folder: str, libmpi: str) -> None:
    """
    Install mpi4py from a wheel, and install the launcher osu-port for the mpi4py ports.

    The function also creates a link in the folder bin for each port of a benchmark. libmpi: path of
    the MPI library that the launcher passes to mpi4py.
    """
    root, name = Path(folder), os.path.basename(launcher)
    for below in ('bin', 'libexec', 'lib'):
        (root / below).mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(str(root / 'lib' / 'python'))
    shutil.copy(launcher, str(root / 'libexec'))
    (root / 'libexec' / name).chmod(0o755)
    (root / 'lib' / os.path.basename(libmpi)).symlink_to(libmpi)
    for port in PORTS:
        (root / 'bin' / port).symlink_to('../libexec/' + name)

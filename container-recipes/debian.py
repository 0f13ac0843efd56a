"""OSU Micro-Benchmarks with MPICH or Open MPI and ROCm or CUDA, of Debian's parts alone.

libfabric has GPU memory and no cxi: libcxi is not in Debian. A Debian mirror must be reached; a GPU is not needed.
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
import hpccm

from osu_container.build.recipes import common, debian, slingshot
from osu_container.build.recipes.images import (
    DEBIAN_LIBFABRIC,
    MPI_PARTS,
    NETWORK_PARTS,
    OSU_PORT,
    TITLES,
    VENDORS,
    sources_of,
)
from osu_container.build.recipes.versions import DEBIAN, GPU_OF_DEBIAN

gpu, mpi, version, osu = USERARG['gpu'], USERARG['mpi'], USERARG['version'], USERARG['osu']
facts, of_mpi = GPU_OF_DEBIAN[gpu], MPI_PARTS[mpi, version]
release, gpus = facts['debian'], facts['gpus']
python = DEBIAN[release]['python']
network, mpis = [*NETWORK_PARTS], [*of_mpi]
rocm_tools = [] if gpu == 'cuda' else debian.ROCM_BUILD
programs = common.benchmarks(osu, mpi)

# The stages: HPCCM makes two; CUDA's tools take one more.
toolkit, fabric, middle, benchmarks, runtime = stages[:] = [Stage0, Stage1, *(hpccm.Stage() for _ in range(3))]
if gpu == 'rocm':
    stages.remove(toolkit)

stages[0] += common.head(USERARG['name'], osu)

if gpu == 'cuda':
    toolkit += common.debian('toolkit', release)
    toolkit += debian.non_free(release)
    toolkit += debian.cuda_toolkit()
    toolkit += common.packed(slingshot.CUDA_PREFIX)

fabric += debian.begin('network', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools)
fabric += common.files(*sources_of(NETWORK_PARTS))
if gpu == 'cuda':
    fabric += common.copied('toolkit', slingshot.CUDA_PREFIX)
fabric += slingshot.found_by_loader(*network)
fabric += slingshot.hwloc('hwloc-2.9.0')
fabric += slingshot.libfabric(
    DEBIAN_LIBFABRIC, False, slingshot.rocr(debian.ROCM_PREFIX) if gpu == 'rocm' else
    slingshot.cuda(slingshot.CUDA_PREFIX, gdrcopy=False), xpmem=False, prepare=['./autogen.sh'])
fabric += common.packed(*network)

middle += debian.begin('mpi', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools,
                       *(['flex', 'libevent-dev', 'zlib1g-dev'] if mpi == 'openmpi' else []),
                       *(debian.CUDA_COMPILERS if gpu == 'cuda' else []))
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
    benchmarks += debian.begin('benchmarks', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools)
    benchmarks += common.files('osu')
    if gpu == 'cuda':
        benchmarks += common.copied('toolkit', slingshot.CUDA_PREFIX)
    benchmarks += common.copied('network', *network)
    benchmarks += common.copied('mpi', *mpis)
    benchmarks += slingshot.found_by_loader(*mpis, *network)
    if gpu == 'cuda':
        benchmarks += slingshot.stubs()
    benchmarks += common.osu_in_c(f'/opt/{mpi}/bin', slingshot.osu_with_rocm(debian.ROCM_PREFIX) if gpu == 'rocm' else
                                  slingshot.osu_with_cuda())
else:
    benchmarks += common.debian('benchmarks', release)
    benchmarks += common.packages('python3')
    benchmarks += common.files('mpi4py-source', f'mpi4py-{python}', also=[OSU_PORT])
    benchmarks += common.osu_ports(python)
benchmarks += common.packed('/opt/osu')

runtime += common.debian('runtime', release)
runtime += common.packages('python3', 'libnuma1', 'libpciaccess0',
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
    f'{TITLES[mpi]} {version}', programs.label,
    common.licences(*sources_of({**NETWORK_PARTS, **of_mpi}), programs.source, also=debian.GPU_LICENCES[gpu]),
    DEBIAN_LIBFABRIC, gpu=' '.join([VENDORS[gpu], facts['release'], *(
        gpus if gpu == 'rocm' else [f'sm_{name}' for name in gpus])]))
runtime += slingshot.test(
    DEBIAN_LIBFABRIC, slingshot.VERSION_IS[mpi].format(version),
    'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2' if mpi == 'mpich' else
    '/opt/openmpi/bin/mpirun --allow-run-as-root --map-by :oversubscribe -n 2',
    programs=programs.find, checks=debian.checks(gpu), driver=debian.CUDA_DRIVER if gpu == 'cuda' else ())

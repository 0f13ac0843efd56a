"""OSU Micro-Benchmarks with Open MPI and CUDA for Alps: GH200 and Slingshot 11.

The processor of the machine that builds is that of the image: Alps needs aarch64. A GPU is not needed. Never built by
this project: it has no GH200, and its test machines reach no registry. How it runs there: docs/other-systems.md.
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import (
    ALPS_CUDA,
    ALPS_PARTS,
    ALPS_SHS,
    ALPS_SOURCES,
    NEWEST_LIBFABRIC,
    libcxi_version,
    sources_of,
)
from osu_container.build.recipes.versions import CUDA, SOURCES

images, release = CUDA[ALPS_CUDA], SOURCES['openmpi-source']['version']
found = slingshot.found_by_loader('/opt/openmpi', '/opt/pmix', '/opt/ucx', *ALPS_PARTS['network'])
steps = {
    'network': [slingshot.hwloc(), slingshot.xpmem(), slingshot.gdrcopy(), slingshot.libcxi(ALPS_SHS),
                slingshot.libfabric(NEWEST_LIBFABRIC, True, slingshot.cuda(slingshot.CUDA_PREFIX),
                                    also=['efa', 'lnx'])],
    'mpi': [slingshot.stubs(), slingshot.ucx(), slingshot.pmix(), slingshot.openmpi(), slingshot.no_stubs()],
    'benchmarks': [slingshot.stubs(), common.osu_in_c('/opt/openmpi/bin', slingshot.osu_with_cuda()),
                   slingshot.no_stubs()],
}

# The stages: HPCCM makes two, this needs four.
stages[:] = [Stage0, Stage1, hpccm.Stage(), hpccm.Stage()]
stages[0] += common.head(USERARG['name'], 'c')
for number, part in enumerate(steps):
    stage = stages[number]
    stage += common.base(part, images['build'], 'ubuntu24')
    stage += common.packages(*slingshot.TOOLS, *slingshot.NETWORK_BUILD, 'libevent-dev', 'libibverbs-dev', 'zlib1g-dev')
    for before in list(steps)[:number]:
        stage += common.copied(before, *ALPS_PARTS[before])
    stage += common.files(*sources_of(ALPS_PARTS[part]))
    stage += found
    stage += steps[part]
    stage += common.packed(*ALPS_PARTS[part])

# another base than that of the builds, so another build argument
runtime = stages[-1]
runtime += common.base('runtime', images['runtime'], 'ubuntu24', name='RUNTIME_BASE')
runtime += common.packages(*slingshot.NETWORK_RUN, 'ibverbs-providers', 'libevent-core-2.1-7',
                           'libevent-pthreads-2.1-7', 'libibverbs1', 'zlib1g')
runtime += common.copied('network', *slingshot.to_run(*ALPS_PARTS['network']))
runtime += common.copied('mpi', *ALPS_PARTS['mpi'])
runtime += common.copied('benchmarks', *ALPS_PARTS['benchmarks'])
runtime += found
runtime += common.creation_time()
runtime += common.labels(
    f'Open MPI {release}', common.argument('OSU', common.OSU_LABEL),
    common.licences(*ALPS_SOURCES, also=['LicenseRef-NVIDIA-CUDA']), NEWEST_LIBFABRIC,
    libcxi_version(ALPS_SHS), f'CUDA {ALPS_CUDA}', title='OSU Micro-Benchmarks with {mpi} for Alps', entrypoint='none')
runtime += slingshot.test(
    NEWEST_LIBFABRIC, slingshot.VERSION_IS['openmpi'].format(release),
    '/opt/openmpi/bin/mpirun --allow-run-as-root -n 2', checks=[slingshot.HAS_CXI],
    driver=('libcuda.so.1', 'libnvidia-ml.so.1'))

"""OSU Micro-Benchmarks with Open MPI and CUDA for Alps (GH200, Slingshot 11).

Build the image on an aarch64 machine; the build needs no GPU. This project has never built the
image, because it has no GH200 and its test machines reach no container registry.
docs/other-systems.md explains how to run the image.
"""

# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
# mypy: disable-error-code=name-defined
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import (
    ALPS_CUDA,
    ALPS_PARTS,
    ALPS_SHS,
    ALPS_SOURCES,
    NEWEST_LIBFABRIC,
    get_libcxi_version,
    list_part_sources,
)
from osu_container.build.recipes.versions import CUDA, SOURCES

images, release = CUDA[ALPS_CUDA], SOURCES['openmpi-source']['version']
loader_step = slingshot.add_loader_paths(
    '/opt/openmpi', '/opt/pmix', '/opt/ucx', *ALPS_PARTS['network']
)
steps = {
    'network': [
        slingshot.build_hwloc(),
        slingshot.build_xpmem(),
        slingshot.build_gdrcopy(),
        slingshot.build_libcxi(ALPS_SHS),
        slingshot.build_libfabric(
            NEWEST_LIBFABRIC,
            True,
            slingshot.list_libfabric_cuda_options(slingshot.CUDA_PREFIX),
            extra_providers=['efa', 'lnx'],
        ),
    ],
    'mpi': [
        slingshot.add_cuda_stubs(),
        slingshot.build_ucx(),
        slingshot.build_pmix(),
        slingshot.build_openmpi(),
        slingshot.remove_cuda_stubs(),
    ],
    'benchmarks': [
        slingshot.add_cuda_stubs(),
        common.build_osu_benchmarks('/opt/openmpi/bin', slingshot.list_osu_cuda_options()),
        slingshot.remove_cuda_stubs(),
    ],
}

# HPCCM provides two stages, but this recipe needs four.
stages[:] = [Stage0, Stage1, hpccm.Stage(), hpccm.Stage()]
stages[0] += common.add_header(USERARG['name'], 'c')
for number, part in enumerate(steps):
    stage = stages[number]
    stage += common.start_stage(part, images['build'], 'ubuntu24')
    stage += common.install_packages(
        *slingshot.TOOLS, *slingshot.NETWORK_BUILD, 'libevent-dev', 'libibverbs-dev', 'zlib1g-dev'
    )
    for earlier in list(steps)[:number]:
        stage += common.copy_stage_paths(earlier, *ALPS_PARTS[earlier])
    stage += common.copy_files(*list_part_sources(ALPS_PARTS[part]))
    stage += loader_step
    stage += steps[part]
    stage += common.pack_paths(*ALPS_PARTS[part])

# The runtime stage starts from another base image than the build stages, so it has its own build
# argument.
runtime = stages[-1]
runtime += common.start_stage('runtime', images['runtime'], 'ubuntu24', name='RUNTIME_BASE')
runtime += common.install_packages(
    *slingshot.NETWORK_RUN,
    'ibverbs-providers',
    'libevent-core-2.1-7',
    'libevent-pthreads-2.1-7',
    'libibverbs1',
    'zlib1g',
)
runtime += common.copy_stage_paths(
    'network', *slingshot.list_runtime_folders(*ALPS_PARTS['network'])
)
runtime += common.copy_stage_paths('mpi', *ALPS_PARTS['mpi'])
runtime += common.copy_stage_paths('benchmarks', *ALPS_PARTS['benchmarks'])
runtime += loader_step
runtime += common.add_creation_time()
runtime += common.add_labels(
    f'Open MPI {release}',
    common.format_build_argument('OSU', common.OSU_LABEL),
    common.combine_licences(*ALPS_SOURCES, extra_licences=['LicenseRef-NVIDIA-CUDA']),
    NEWEST_LIBFABRIC,
    get_libcxi_version(ALPS_SHS),
    f'CUDA {ALPS_CUDA}',
    title='OSU Micro-Benchmarks with {mpi} for Alps',
    entrypoint='none',
)
runtime += slingshot.add_stack_test(
    NEWEST_LIBFABRIC,
    slingshot.VERSION_CHECKS['openmpi'].format(release),
    '/opt/openmpi/bin/mpirun --allow-run-as-root -n 2',
    checks=[slingshot.CXI_CHECK],
    driver=('libcuda.so.1', 'libnvidia-ml.so.1'),
)

"""OSU Micro-Benchmarks with MPICH and ROCm for LUMI (MI250X, Slingshot 11).

The build needs repo.radeon.com (AMD) and an Ubuntu mirror, but no GPU. This project has never built
the image, because it has no MI250X, and its test machines reach neither a container registry nor
AMD's server.
"""

# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
# mypy: disable-error-code=name-defined
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import (
    LUMI_SHS,
    NETWORK_SOURCES,
    get_libcxi_version,
    list_libcxi_sources,
    list_lumi_sources,
    select_rccl_plugin,
)
from osu_container.build.recipes.versions import GPU, ROCM, is_newer

rocm, mpich, libfabric, libcxi = map(USERARG.get, ('rocm', 'mpich', 'libfabric', 'libcxi'))
with_libcxi = libcxi == 'yes'
with_cxi = slingshot.has_cxi(libfabric, with_libcxi)
plugin = select_rccl_plugin(rocm, libfabric)
release = ROCM[rocm]['ubuntu']
gpu = f'/opt/rocm-{rocm}'
network = ['/opt/hwloc', '/opt/libfabric', '/opt/xpmem', *(['/opt/libcxi'] if with_libcxi else [])]

# HPCCM provides two stages, but this recipe needs six.
libraries, fabric, mpi, rccl, benchmarks, runtime = stages[:] = [
    Stage0,
    Stage1,
    *(hpccm.Stage() for _ in range(4)),
]
if not plugin:
    stages.remove(rccl)

libraries += common.add_header(USERARG['name'], 'c')

# This stage unpacks AMD's libraries without AMD's compiler.
libraries += slingshot.start_ubuntu_stage('rocm', release)
libraries += common.install_packages('ca-certificates')
libraries += common.copy_files('rocm-key')
libraries += slingshot.add_rocm_repository(rocm)
libraries += slingshot.unpack_rocm_libraries(rocm)
libraries += common.pack_paths(gpu)

fabric += slingshot.start_ubuntu_stage('network', release)
fabric += common.install_packages(*slingshot.TOOLS, *slingshot.NETWORK_BUILD, *slingshot.ROCM_RUN)
fabric += common.copy_files(
    *NETWORK_SOURCES,
    *(list_libcxi_sources(LUMI_SHS) if with_libcxi else ()),
    f'libfabric-{libfabric}',
)
fabric += common.copy_stage_paths('rocm', gpu)
fabric += slingshot.add_loader_paths(*network, gpu)
fabric += slingshot.build_hwloc()
fabric += slingshot.build_xpmem()
if with_libcxi:
    fabric += slingshot.build_libcxi(LUMI_SHS)
fabric += slingshot.build_libfabric(
    libfabric,
    with_libcxi,
    slingshot.list_libfabric_rocr_options(gpu),
    extra_providers=['lnx'] if with_cxi and not is_newer('2.1', libfabric) else [],
)
fabric += common.pack_paths(*network)

mpi += slingshot.start_ubuntu_stage('mpi', release)
mpi += common.install_packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN)
mpi += common.copy_files(
    f'mpich-source-{mpich}', *(['rocm-key'] if slingshot.mpich_uses_gpu(mpich) else [])
)
if slingshot.mpich_uses_gpu(mpich):
    mpi += slingshot.add_rocm_repository(rocm)
    mpi += common.install_packages('hip-dev', 'hip-runtime-amd', 'hipcc', 'rocm-device-libs')
mpi += common.copy_stage_paths('network', *network)
mpi += slingshot.add_loader_paths(*network, gpu)
mpi += slingshot.build_mpich(mpich, slingshot.list_mpich_gpu_options('hip', gpu, GPU))
mpi += common.pack_paths('/opt/mpich')

for stage, name in ((rccl, 'plugin'), (benchmarks, 'benchmarks')):
    stage += slingshot.start_ubuntu_stage(name, release)
    stage += common.install_packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
    stage += common.copy_stage_paths('rocm', gpu)
    stage += common.copy_stage_paths('network', *network)

if plugin:
    rccl += common.copy_files(plugin)
    rccl += slingshot.add_loader_paths(*network, gpu)
    rccl += slingshot.build_rccl_plugin(plugin, rocm)
    rccl += common.pack_paths('/opt/rccl-plugin')

benchmarks += common.copy_files('osu')
benchmarks += common.copy_stage_paths('mpi', '/opt/mpich')
benchmarks += slingshot.add_loader_paths('/opt/mpich', *network, gpu)
benchmarks += common.build_osu_benchmarks('/opt/mpich/bin', slingshot.list_osu_rocm_options(gpu))
benchmarks += common.pack_paths('/opt/osu')

runtime += slingshot.start_ubuntu_stage('runtime', release)
runtime += common.install_packages(*slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
runtime += common.copy_stage_paths('rocm', *slingshot.list_runtime_folders(gpu))
runtime += common.copy_stage_paths('network', *slingshot.list_runtime_folders(*network))
runtime += common.copy_stage_paths('mpi', '/opt/mpich')
if plugin:
    runtime += common.copy_stage_paths('plugin', '/opt/rccl-plugin')
runtime += common.copy_stage_paths('benchmarks', '/opt/osu')
runtime += slingshot.add_loader_paths(
    '/opt/mpich', *network, *(['/opt/rccl-plugin'] if plugin else []), gpu
)
runtime += common.install_entrypoint()
runtime += common.add_creation_time()
runtime += common.add_labels(
    f'MPICH {mpich}',
    common.format_build_argument('OSU', common.OSU_LABEL),
    common.combine_licences(
        *list_lumi_sources(rocm, mpich, libfabric, libcxi), extra_licences=slingshot.ROCM_LICENCES
    ),
    libfabric,
    get_libcxi_version(LUMI_SHS) if with_libcxi else 'none',
    f'ROCm {rocm} {GPU}',
    title='OSU Micro-Benchmarks with {mpi} for LUMI',
)
runtime += slingshot.add_stack_test(
    libfabric,
    slingshot.VERSION_CHECKS['mpich'].format(mpich),
    'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2',
    checks=[slingshot.CXI_CHECK] if with_cxi else [],
)

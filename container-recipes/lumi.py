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
with_gpu = slingshot.mpich_uses_gpu(mpich)
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

common.add_steps(
    libraries,
    common.add_header(USERARG['name'], 'c'),
    # This stage unpacks AMD's libraries without AMD's compiler.
    slingshot.start_ubuntu_stage('rocm', release),
    common.install_packages('ca-certificates'),
    common.copy_files('rocm-key'),
    slingshot.add_rocm_repository(rocm),
    slingshot.unpack_rocm_libraries(rocm),
    common.pack_paths(gpu),
)

common.add_steps(
    fabric,
    slingshot.start_ubuntu_stage('network', release),
    common.install_packages(*slingshot.TOOLS, *slingshot.NETWORK_BUILD, *slingshot.ROCM_RUN),
    common.copy_files(
        *NETWORK_SOURCES,
        *(list_libcxi_sources(LUMI_SHS) if with_libcxi else ()),
        f'libfabric-{libfabric}',
    ),
    common.copy_stage_paths('rocm', gpu),
    slingshot.add_loader_paths(*network, gpu),
    slingshot.build_hwloc(),
    slingshot.build_xpmem(),
    slingshot.build_libcxi(LUMI_SHS) if with_libcxi else [],
    slingshot.build_libfabric(
        libfabric,
        with_libcxi,
        slingshot.list_libfabric_rocr_options(gpu),
        extra_providers=['lnx'] if with_cxi and not is_newer('2.1', libfabric) else [],
    ),
    common.pack_paths(*network),
)

common.add_steps(
    mpi,
    slingshot.start_ubuntu_stage('mpi', release),
    common.install_packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN),
    common.copy_files(f'mpich-source-{mpich}', *(['rocm-key'] if with_gpu else [])),
    *(
        (
            slingshot.add_rocm_repository(rocm),
            common.install_packages('hip-dev', 'hip-runtime-amd', 'hipcc', 'rocm-device-libs'),
        )
        if with_gpu
        else ()
    ),
    common.copy_stage_paths('network', *network),
    slingshot.add_loader_paths(*network, gpu),
    slingshot.build_mpich(mpich, slingshot.list_mpich_gpu_options('hip', gpu, GPU)),
    common.pack_paths('/opt/mpich'),
)

for stage, name in ((rccl, 'plugin'), (benchmarks, 'benchmarks')):
    common.add_steps(
        stage,
        slingshot.start_ubuntu_stage(name, release),
        common.install_packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN, *slingshot.ROCM_RUN),
        common.copy_stage_paths('rocm', gpu),
        common.copy_stage_paths('network', *network),
    )

if plugin:
    common.add_steps(
        rccl,
        common.copy_files(plugin),
        slingshot.add_loader_paths(*network, gpu),
        slingshot.build_rccl_plugin(plugin, rocm),
        common.pack_paths('/opt/rccl-plugin'),
    )

common.add_steps(
    benchmarks,
    common.copy_files('osu'),
    common.copy_stage_paths('mpi', '/opt/mpich'),
    slingshot.add_loader_paths('/opt/mpich', *network, gpu),
    common.build_osu_benchmarks('/opt/mpich/bin', slingshot.list_osu_rocm_options(gpu)),
    common.pack_paths('/opt/osu'),
)

common.add_steps(
    runtime,
    slingshot.start_ubuntu_stage('runtime', release),
    common.install_packages(*slingshot.NETWORK_RUN, *slingshot.ROCM_RUN),
    common.copy_stage_paths('rocm', *slingshot.list_runtime_folders(gpu)),
    common.copy_stage_paths('network', *slingshot.list_runtime_folders(*network)),
    common.copy_stage_paths('mpi', '/opt/mpich'),
    common.copy_stage_paths('plugin', '/opt/rccl-plugin') if plugin else [],
    common.copy_stage_paths('benchmarks', '/opt/osu'),
    slingshot.add_loader_paths(
        '/opt/mpich', *network, *(['/opt/rccl-plugin'] if plugin else []), gpu
    ),
    common.install_entrypoint(),
    common.add_creation_time(),
    common.add_labels(
        f'MPICH {mpich}',
        common.format_build_argument('OSU', common.OSU_LABEL),
        common.combine_licences(
            *list_lumi_sources(rocm, mpich, libfabric, libcxi),
            extra_licences=slingshot.ROCM_LICENCES,
        ),
        libfabric,
        get_libcxi_version(LUMI_SHS) if with_libcxi else 'none',
        f'ROCm {rocm} {GPU}',
        title='OSU Micro-Benchmarks with {mpi} for LUMI',
    ),
    slingshot.add_stack_test(
        libfabric,
        slingshot.VERSION_CHECKS['mpich'].format(mpich),
        'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2',
        checks=[slingshot.CXI_CHECK] if with_cxi else [],
    ),
)

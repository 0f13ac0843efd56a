"""OSU Micro-Benchmarks with ROCm or CUDA, made of Debian's parts only.

The MPI is MPICH or Open MPI. libfabric supports GPU memory, but lacks the provider cxi, because
Debian has no libcxi. The build needs a Debian mirror, but no GPU.
"""

# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
# mypy: disable-error-code=name-defined
import hpccm

from osu_container.build.recipes import common, debian, slingshot
from osu_container.build.recipes.images import (
    DEBIAN_LIBFABRIC,
    MPI_PARTS,
    NETWORK_PARTS,
    OSU_PORT,
    TITLES,
    VENDORS,
    list_part_sources,
)
from osu_container.build.recipes.versions import DEBIAN, GPU_OF_DEBIAN

gpu, mpi, version, osu = USERARG['gpu'], USERARG['mpi'], USERARG['version'], USERARG['osu']
facts, mpi_parts = GPU_OF_DEBIAN[gpu], MPI_PARTS[mpi, version]
release, gpus = facts['debian'], facts['gpus']
python = DEBIAN[release]['python']
network, mpis = [*NETWORK_PARTS], [*mpi_parts]
rocm_tools = [] if gpu == 'cuda' else debian.ROCM_BUILD
programs = common.describe_benchmarks(osu, mpi, python)
# Steps of the stages that compile for CUDA
cuda_toolkit, cuda_stubs = (
    (common.copy_stage_paths('toolkit', slingshot.CUDA_PREFIX), [slingshot.add_cuda_stubs()])
    if gpu == 'cuda'
    else ([], [])
)

# HPCCM provides two stages, but this recipe needs four, and a fifth one for CUDA's tools.
toolkit, fabric, middle, benchmarks, runtime = stages[:] = [
    Stage0,
    Stage1,
    *(hpccm.Stage() for _ in range(3)),
]
if gpu == 'rocm':
    stages.remove(toolkit)

stages[0] += common.add_header(USERARG['name'], osu)

if gpu == 'cuda':
    toolkit += common.start_debian_stage('toolkit', release)
    toolkit += debian.enable_non_free(release)
    toolkit += debian.install_cuda_toolkit()
    toolkit += common.pack_paths(slingshot.CUDA_PREFIX)

fabric += debian.start_build_stage(
    'network', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools
)
fabric += common.copy_files(*list_part_sources(NETWORK_PARTS))
fabric += cuda_toolkit
fabric += slingshot.add_loader_paths(*network)
fabric += slingshot.build_hwloc('hwloc-2.9.0')
fabric += slingshot.build_libfabric(
    DEBIAN_LIBFABRIC,
    False,
    slingshot.list_libfabric_rocr_options(debian.ROCM_PREFIX)
    if gpu == 'rocm'
    else slingshot.list_libfabric_cuda_options(slingshot.CUDA_PREFIX, gdrcopy=False),
    xpmem=False,
    prepare=['./autogen.sh'],
)
fabric += common.pack_paths(*network)

middle += debian.start_build_stage(
    'mpi',
    release,
    'libnuma-dev',
    'libpciaccess-dev',
    *rocm_tools,
    *(['flex', 'libevent-dev', 'zlib1g-dev'] if mpi == 'openmpi' else []),
    *(debian.CUDA_COMPILERS if gpu == 'cuda' else []),
)
middle += common.copy_files(*list_part_sources(mpi_parts))
middle += cuda_toolkit
middle += common.copy_stage_paths('network', *network)
middle += slingshot.add_loader_paths(*mpis, *network)
middle += cuda_stubs
if mpi == 'mpich':
    middle += slingshot.build_mpich(
        version,
        slingshot.list_mpich_gpu_options('hip', debian.ROCM_PREFIX, *gpus)
        if gpu == 'rocm'
        else slingshot.list_mpich_gpu_options('cuda', slingshot.CUDA_PREFIX, *gpus),
        fabric=debian.MPICH_LIBFABRIC_PREFIX,
        xpmem=False,
        prepare=[*debian.build_mpich_libfabric(), *debian.reduce_yaksa_kernels()],
    )
else:
    middle += slingshot.build_openmpi(
        'openmpi-source-5.0.7', network=(), pmix='internal', oshmem=False
    )
middle += common.pack_paths(*mpis)

if osu == 'c':
    benchmarks += debian.start_build_stage(
        'benchmarks', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools
    )
    benchmarks += common.copy_files('osu')
    benchmarks += cuda_toolkit
    benchmarks += common.copy_stage_paths('network', *network)
    benchmarks += common.copy_stage_paths('mpi', *mpis)
    benchmarks += slingshot.add_loader_paths(*mpis, *network)
    benchmarks += cuda_stubs
    benchmarks += common.build_osu_benchmarks(
        f'/opt/{mpi}/bin',
        slingshot.list_osu_rocm_options(debian.ROCM_PREFIX)
        if gpu == 'rocm'
        else slingshot.list_osu_cuda_options(),
    )
else:
    benchmarks += common.start_debian_stage('benchmarks', release)
    benchmarks += common.install_packages('python3')
    benchmarks += common.copy_files(f'mpi4py-{python}', extra_files=[OSU_PORT])
    benchmarks += common.install_osu_ports(python)
benchmarks += common.pack_paths('/opt/osu')

runtime += common.start_debian_stage('runtime', release)
runtime += common.install_packages(
    'python3',
    'libnuma1',
    'libpciaccess0',
    *(
        ['libevent-core-2.1-7t64', 'libevent-pthreads-2.1-7t64', 'zlib1g']
        if mpi == 'openmpi'
        else []
    ),
)
runtime += common.copy_stage_paths('network', *slingshot.list_runtime_folders(*network))
runtime += common.copy_stage_paths('mpi', *mpis)
runtime += common.copy_stage_paths('benchmarks', '/opt/osu')
if gpu == 'cuda':
    runtime += debian.enable_non_free(release)
runtime += debian.install_gpu_runtime(gpu)
runtime += slingshot.add_loader_paths(*mpis, *network)
runtime += common.install_entrypoint()
runtime += common.add_creation_time()
runtime += common.add_labels(
    f'{TITLES[mpi]} {version}',
    programs.label,
    common.combine_licences(
        *list_part_sources({**NETWORK_PARTS, **mpi_parts}),
        programs.source,
        extra_licences=debian.GPU_LICENCES[gpu],
    ),
    DEBIAN_LIBFABRIC,
    gpu=' '.join(
        [
            VENDORS[gpu],
            facts['release'],
            *(gpus if gpu == 'rocm' else [f'sm_{name}' for name in gpus]),
        ]
    ),
)
runtime += slingshot.add_stack_test(
    DEBIAN_LIBFABRIC,
    slingshot.VERSION_CHECKS[mpi].format(version),
    'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2'
    if mpi == 'mpich'
    else '/opt/openmpi/bin/mpirun --allow-run-as-root --map-by :oversubscribe -n 2',
    programs=programs.find,
    checks=debian.check_gpu_libraries(gpu),
    driver=debian.CUDA_DRIVER if gpu == 'cuda' else (),
)

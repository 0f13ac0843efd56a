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
    common.add_steps(
        toolkit,
        common.start_debian_stage('toolkit', release),
        debian.enable_non_free(release),
        debian.install_cuda_toolkit(),
        common.pack_paths(slingshot.CUDA_PREFIX),
    )

common.add_steps(
    fabric,
    debian.start_build_stage('network', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools),
    common.copy_files(*list_part_sources(NETWORK_PARTS)),
    cuda_toolkit,
    slingshot.add_loader_paths(*network),
    slingshot.build_hwloc('hwloc-2.9.0'),
    slingshot.build_libfabric(
        DEBIAN_LIBFABRIC,
        False,
        slingshot.list_libfabric_rocr_options(debian.ROCM_PREFIX)
        if gpu == 'rocm'
        else slingshot.list_libfabric_cuda_options(slingshot.CUDA_PREFIX, gdrcopy=False),
        xpmem=False,
        prepare=['./autogen.sh'],
    ),
    common.pack_paths(*network),
)

common.add_steps(
    middle,
    debian.start_build_stage(
        'mpi',
        release,
        'libnuma-dev',
        'libpciaccess-dev',
        *rocm_tools,
        *(['flex', 'libevent-dev', 'zlib1g-dev'] if mpi == 'openmpi' else []),
        *(debian.CUDA_COMPILERS if gpu == 'cuda' else []),
    ),
    common.copy_files(*list_part_sources(mpi_parts)),
    cuda_toolkit,
    common.copy_stage_paths('network', *network),
    slingshot.add_loader_paths(*mpis, *network),
    cuda_stubs,
    slingshot.build_mpich(
        version,
        slingshot.list_mpich_gpu_options('hip', debian.ROCM_PREFIX, *gpus)
        if gpu == 'rocm'
        else slingshot.list_mpich_gpu_options('cuda', slingshot.CUDA_PREFIX, *gpus),
        fabric=debian.MPICH_LIBFABRIC_PREFIX,
        xpmem=False,
        prepare=[*debian.build_mpich_libfabric(), *debian.reduce_yaksa_kernels()],
    )
    if mpi == 'mpich'
    else slingshot.build_openmpi('openmpi-source-5.0.7', network=(), pmix='internal', oshmem=False),
    common.pack_paths(*mpis),
)

if osu == 'c':
    common.add_steps(
        benchmarks,
        debian.start_build_stage(
            'benchmarks', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools
        ),
        common.copy_files('osu'),
        cuda_toolkit,
        common.copy_stage_paths('network', *network),
        common.copy_stage_paths('mpi', *mpis),
        slingshot.add_loader_paths(*mpis, *network),
        cuda_stubs,
        common.build_osu_benchmarks(
            f'/opt/{mpi}/bin',
            slingshot.list_osu_rocm_options(debian.ROCM_PREFIX)
            if gpu == 'rocm'
            else slingshot.list_osu_cuda_options(),
        ),
    )
else:
    common.add_steps(
        benchmarks,
        common.start_debian_stage('benchmarks', release),
        common.install_packages('python3'),
        common.copy_files(f'mpi4py-{python}', extra_files=[OSU_PORT]),
        common.install_osu_ports(python),
    )
benchmarks += common.pack_paths('/opt/osu')

common.add_steps(
    runtime,
    common.start_debian_stage('runtime', release),
    common.install_packages(
        'python3',
        'libnuma1',
        'libpciaccess0',
        *(
            ['libevent-core-2.1-7t64', 'libevent-pthreads-2.1-7t64', 'zlib1g']
            if mpi == 'openmpi'
            else []
        ),
    ),
    common.copy_stage_paths('network', *slingshot.list_runtime_folders(*network)),
    common.copy_stage_paths('mpi', *mpis),
    common.copy_stage_paths('benchmarks', '/opt/osu'),
    debian.enable_non_free(release) if gpu == 'cuda' else [],
    debian.install_gpu_runtime(gpu),
    slingshot.add_loader_paths(*mpis, *network),
    common.install_entrypoint(),
    common.add_creation_time(),
    common.add_labels(
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
    ),
    slingshot.add_stack_test(
        DEBIAN_LIBFABRIC,
        slingshot.VERSION_CHECKS[mpi].format(version),
        'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2'
        if mpi == 'mpich'
        else '/opt/openmpi/bin/mpirun --allow-run-as-root --map-by :oversubscribe -n 2',
        programs=programs.find,
        checks=debian.check_gpu_libraries(gpu),
        driver=debian.CUDA_DRIVER if gpu == 'cuda' else (),
    ),
)

"""OSU Micro-Benchmarks with ROCm or CUDA, made of Debian's parts only.

The MPI is MPICH or Open MPI. libfabric supports GPU memory, but lacks the provider cxi, because
Debian has no libcxi. The build needs a Debian mirror, but no GPU.
"""

# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
# mypy: disable-error-code=name-defined
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import OSU_PORT
from osu_container.build.recipes.versions import DEBIAN, GPU_OF_DEBIAN

gpu, mpi, version, libfabric, osu = map(USERARG.get, ('gpu', 'mpi', 'version', 'libfabric', 'osu'))
facts = GPU_OF_DEBIAN[gpu]
release, gpus = facts['debian'], facts['gpus']
python = DEBIAN[release]['python']
network, mpis = ['/opt/hwloc', '/opt/libfabric'], [f'/opt/{mpi}']
network_sources, mpi_source = ['hwloc-2.9.0', f'libfabric-{libfabric}'], f'{mpi}-source-{version}'
rocm_tools = [] if gpu == 'cuda' else ['hipcc', 'libamdhip64-dev', 'librccl-dev']
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
    toolkit += common.run_steps('enable non-free packages', release=release)
    toolkit += common.run_steps('install CUDA toolkit', release=facts['packages']['libcudart12'])
    toolkit += common.pack_paths(slingshot.CUDA_PREFIX)

fabric += slingshot.start_build_stage(
    'network', release, 'libnuma-dev', 'libpciaccess-dev', *rocm_tools
)
fabric += common.copy_files(*network_sources)
fabric += cuda_toolkit
fabric += slingshot.add_loader_paths(*network)
fabric += slingshot.build_hwloc(network_sources[0])
fabric += slingshot.build_libfabric(
    libfabric,
    False,
    slingshot.list_libfabric_rocr_options('/usr')
    if gpu == 'rocm'
    else slingshot.list_libfabric_cuda_options(slingshot.CUDA_PREFIX, gdrcopy=False),
    xpmem=False,
    prepare=['./autogen.sh'],
)
fabric += common.pack_paths(*network)

middle += slingshot.start_build_stage(
    'mpi',
    release,
    'libnuma-dev',
    'libpciaccess-dev',
    *rocm_tools,
    *(['flex', 'libevent-dev', 'zlib1g-dev'] if mpi == 'openmpi' else []),
    # nvcc 12.4 supports GCC 13 and older. Debian 13 has GCC 14 as default.
    *(['gcc-13', 'g++-13'] if gpu == 'cuda' else []),
)
middle += common.copy_files(mpi_source)
middle += cuda_toolkit
middle += common.copy_stage_paths('network', *network)
middle += slingshot.add_loader_paths(*mpis, *network)
middle += cuda_stubs
if mpi == 'mpich':
    middle += slingshot.build_mpich(
        version,
        slingshot.list_mpich_gpu_options('hip', '/usr', *gpus)
        if gpu == 'rocm'
        else slingshot.list_mpich_gpu_options('cuda', slingshot.CUDA_PREFIX, *gpus),
        fabric='/opt/build/libfabric-of-mpich',
        xpmem=False,
        prepare=common.list_commands('build libfabric of MPICH', 'reduce Yaksa kernels'),
    )
else:
    middle += slingshot.build_openmpi(mpi_source, network=(), pmix='internal', oshmem=False)
middle += common.pack_paths(*mpis)

if osu == 'c':
    benchmarks += slingshot.start_build_stage(
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
        slingshot.list_osu_rocm_options('/usr')
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
    runtime += common.run_steps('enable non-free packages', release=release)
runtime += slingshot.install_gpu_runtime(gpu)
runtime += slingshot.add_loader_paths(*mpis, *network)
runtime += common.install_entrypoint()
runtime += common.add_creation_time()
runtime += common.add_labels(
    f"{'MPICH' if mpi == 'mpich' else 'Open MPI'} {version}",
    programs.label,
    common.combine_licences(
        *network_sources,
        mpi_source,
        programs.source,
        extra_licences=facts['licences'],
    ),
    libfabric,
    gpu=' '.join(
        [
            'ROCm' if gpu == 'rocm' else 'CUDA',
            facts['release'],
            *(gpus if gpu == 'rocm' else [f'sm_{name}' for name in gpus]),
        ]
    ),
)
runtime += slingshot.add_stack_test(
    libfabric,
    slingshot.VERSION_CHECKS[mpi].format(version),
    'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2'
    if mpi == 'mpich'
    else '/opt/openmpi/bin/mpirun --allow-run-as-root --map-by :oversubscribe -n 2',
    programs=programs.find,
    checks=slingshot.check_gpu_libraries(gpu),
    driver=('libcuda.so.1', 'libnvidia-ml.so.1') if gpu == 'cuda' else (),
)

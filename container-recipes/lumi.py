"""OSU Micro-Benchmarks with MPICH and ROCm for LUMI: MI250X and Slingshot 11.

repo.radeon.com (AMD) and an Ubuntu mirror must be reached for the build; a GPU is not needed. Never built by this
project: it has no MI250X, and its test machines reach neither registry nor AMD.
"""
# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
import hpccm

from osu_container.build.recipes import common, slingshot
from osu_container.build.recipes.images import (
    LUMI_SHS,
    NETWORK_SOURCES,
    libcxi_sources,
    libcxi_version,
    lumi_plugin,
    lumi_sources,
)
from osu_container.build.recipes.versions import GPU, ROCM, newer

rocm, mpich, libfabric, libcxi = USERARG['rocm'], USERARG['mpich'], USERARG['libfabric'], USERARG['libcxi']
with_libcxi = libcxi == 'yes'
with_cxi = slingshot.has_cxi(libfabric, with_libcxi)
plugin = lumi_plugin(rocm, libfabric)
release = ROCM[rocm]['ubuntu']
gpu = f'/opt/rocm-{rocm}'
network = ['/opt/hwloc', '/opt/libfabric', '/opt/xpmem', *(['/opt/libcxi'] if with_libcxi else [])]

# The stages: HPCCM makes two, this needs six.
libraries, fabric, mpi, rccl, benchmarks, runtime = stages[:] = [Stage0, Stage1, *(hpccm.Stage() for _ in range(4))]
if not plugin:
    stages.remove(rccl)

libraries += common.head(USERARG['name'], 'c')

# AMD's libraries without its compiler
libraries += slingshot.ubuntu('rocm', release)
libraries += common.packages('ca-certificates')
libraries += common.files('rocm-key')
libraries += slingshot.rocm_repository(rocm)
libraries += slingshot.rocm_libraries(rocm)
libraries += common.packed(gpu)

fabric += slingshot.ubuntu('network', release)
fabric += common.packages(*slingshot.TOOLS, *slingshot.NETWORK_BUILD, *slingshot.ROCM_RUN)
fabric += common.files(*NETWORK_SOURCES, *(libcxi_sources(LUMI_SHS) if with_libcxi else ()),
                       f'libfabric-{libfabric}')
fabric += common.copied('rocm', gpu)
fabric += slingshot.found_by_loader(*network, gpu)
fabric += slingshot.hwloc()
fabric += slingshot.xpmem()
if with_libcxi:
    fabric += slingshot.libcxi(LUMI_SHS)
fabric += slingshot.libfabric(libfabric, with_libcxi, slingshot.rocr(gpu), also=['lnx'] if with_cxi and
                              not newer('2.1', libfabric) else [])
fabric += common.packed(*network)

mpi += slingshot.ubuntu('mpi', release)
mpi += common.packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN)
mpi += common.files(f'mpich-source-{mpich}', *(['rocm-key'] if slingshot.mpich_uses_gpu(mpich) else []))
if slingshot.mpich_uses_gpu(mpich):
    mpi += slingshot.rocm_repository(rocm)
    mpi += common.packages('hip-dev', 'hip-runtime-amd', 'hipcc', 'rocm-device-libs')
mpi += common.copied('network', *network)
mpi += slingshot.found_by_loader(*network, gpu)
mpi += slingshot.mpich(mpich, slingshot.hip(gpu, GPU))
mpi += common.packed('/opt/mpich')

for stage, name in ((rccl, 'plugin'), (benchmarks, 'benchmarks')):
    stage += slingshot.ubuntu(name, release)
    stage += common.packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
    stage += common.copied('rocm', gpu)
    stage += common.copied('network', *network)

if plugin:
    rccl += common.files(plugin)
    rccl += slingshot.found_by_loader(*network, gpu)
    rccl += slingshot.rccl_plugin(plugin, rocm)
    rccl += common.packed('/opt/rccl-plugin')

benchmarks += common.files('osu')
benchmarks += common.copied('mpi', '/opt/mpich')
benchmarks += slingshot.found_by_loader('/opt/mpich', *network, gpu)
benchmarks += common.osu_in_c('/opt/mpich/bin', slingshot.osu_with_rocm(gpu))
benchmarks += common.packed('/opt/osu')

runtime += slingshot.ubuntu('runtime', release)
runtime += common.packages(*slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
runtime += common.copied('rocm', *slingshot.to_run(gpu))
runtime += common.copied('network', *slingshot.to_run(*network))
runtime += common.copied('mpi', '/opt/mpich')
if plugin:
    runtime += common.copied('plugin', '/opt/rccl-plugin')
runtime += common.copied('benchmarks', '/opt/osu')
runtime += slingshot.found_by_loader('/opt/mpich', *network, *(['/opt/rccl-plugin'] if plugin else []), gpu)
runtime += common.entrypoint()
runtime += common.creation_time()
runtime += common.labels(
    f'MPICH {mpich}', common.argument('OSU', common.OSU_LABEL),
    common.licences(*lumi_sources(rocm, mpich, libfabric, libcxi), also=slingshot.ROCM_LICENCES),
    libfabric, libcxi_version(LUMI_SHS) if with_libcxi else 'none', f'ROCm {rocm} {GPU}',
    title='OSU Micro-Benchmarks with {mpi} for LUMI')
runtime += slingshot.test(
    libfabric, slingshot.VERSION_IS['mpich'].format(mpich),
    'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2',
    checks=[slingshot.HAS_CXI] if with_cxi else [])

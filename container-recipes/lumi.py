"""OSU Micro-Benchmarks with MPICH {mpich} and ROCm {rocm}, for LUMI: MI250X and Slingshot 11

Contents:
  Ubuntu ({ubuntu})
  ROCm {rocm}: HIP, RCCL and what they need, from AMD's packages, in /opt/rocm-{rocm}
  libfabric {libfabric}{cxi_note}, in /opt/libfabric
  MPICH {mpich} in /opt/mpich{gpu_note}
  {plugin_note}
  OSU Micro-Benchmarks {osu}, built in C with ROCm and RCCL, in /opt/osu

Building, in the top folder of the repository:
  ours           bin/osu-container image build {name}
  or by hand, with the sources in sources/ (bin/osu-container image fetch {name}):
  the file       bin/osu-container image recipe {name}, with --docker the Dockerfile
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
    a registry is not reached: make a folder with that Ubuntu, and add
                 --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER
  Docker         docker build -f THIS_FILE -t osu .
  Either way repo.radeon.com (AMD) and an Ubuntu mirror must be reached; a GPU is not needed.

Running on LUMI, two ranks on two nodes:
  as modules     module load osu-container/{approach}; srun -N2 -n2 --gpus-per-node=8 osu_bw D D
  by hand        srun -N2 -n2 --mpi=pmi2 singularity exec osu.sif {latency}

Never built by this project: it has no MI250X, and its test machines reach neither registry nor AMD.
"""
# What the image weighs as a SIF, in MB (estimates: AMD's compressed packages, and wheels of the same software):
#   Ubuntu          30   ubuntu:jammy and noble, compressed, from a registry (estimate)
#   comgr           55   54.4, package comgr of ROCm 6.3.0 (apt's log in a public issue of ROCm)
#   RCCL            55   53.8, package rccl of the same
#   HIP             14   13.6, package hip-runtime-amd of the same
#   other ROCm       4   hsa-rocr 1.3, rocm-smi-lib 1.0, rocprofiler-register 0.2, of the same
#   gzip for xz     50   squashfs packs with gzip, AMD with xz (estimate)
#   MPICH           12   its wheel has 8.1 MB (4.2.3) and 13.3 MB (5.0.2), with UCX and without code for GPUs (estimate)
#   libfabric        1   1.1 MB unpacked, in the wheel of MPICH 4.2.3
#   OSU, others     10   (estimate)
# All in all about 230 MB; the compiler (rocm-llvm, 326 MB packed) stays in the build.
# ruff: noqa: F821  HPCCM provides USERARG, Stage0, Stage1 and stages
import hpccm

from osu_container.recipes import common, slingshot
from osu_container.recipes.images import (
    LUMI_SHS,
    NETWORK_SOURCES,
    libcxi_sources,
    libcxi_version,
    lumi_name,
    lumi_plugin,
    lumi_sources,
)
from osu_container.recipes.versions import GPU, ROCM, SOURCES, UBUNTU

rocm = USERARG.get('rocm', '6.3.4')
mpich = USERARG.get('mpich', '4.2.3')
libfabric = USERARG.get('libfabric', '1.22.0')
libcxi = USERARG.get('libcxi', 'no')
if rocm not in ROCM:
    raise ValueError(f"rocm={rocm}: not in versions.py, known are {', '.join(ROCM)}")
for argument, key in (('mpich', f'mpich-source-{mpich}'), ('libfabric', f'libfabric-{libfabric}')):
    if key not in SOURCES:
        raise ValueError(f"{argument}: no source {key} in versions.py")
if libcxi not in ('yes', 'no'):
    raise ValueError(f"libcxi={libcxi}: must be yes or no")

with_libcxi = libcxi == 'yes'
with_cxi = slingshot.has_cxi(libfabric, with_libcxi)
plugin = lumi_plugin(rocm, libfabric)
release = ROCM[rocm]['ubuntu']
gpu = f'/opt/rocm-{rocm}'
network = ['/opt/hwloc', '/opt/libfabric', '/opt/xpmem', *(['/opt/libcxi'] if with_libcxi else [])]
name = lumi_name(rocm, mpich, libfabric, libcxi)
keys = lumi_sources(rocm, mpich, libfabric, libcxi)

# The stages: HPCCM makes two, this needs six.
libraries, fabric, mpi, rccl, benchmarks, runtime = stages[:] = [Stage0, Stage1, *(hpccm.Stage() for _ in range(4))]
if not plugin:
    stages.remove(rccl)

libraries += hpccm.primitives.comment(__doc__.strip().format(
    mpich=mpich, rocm=rocm, ubuntu=UBUNTU[release]['image'], libfabric=libfabric, osu=SOURCES['osu']['version'],
    cxi_note=f" with its cxi provider and libcxi {libcxi_version(LUMI_SHS)}" if with_cxi else
             f", which has no cxi provider, and libcxi {libcxi_version(LUMI_SHS)}" if with_libcxi else '',
    gpu_note=f', with HIP for {GPU}' if slingshot.mpich_uses_gpu(mpich) else '',
    plugin_note=f"{plugin} {SOURCES[plugin]['version']}, RCCL's plugin for libfabric, in /opt/rccl-plugin"
                if plugin else "no plugin for RCCL: aws-ofi-rccl does not compile with libfabric 2",
    name=name, latency=slingshot.LATENCY, approach='opensource' if with_cxi else 'hybrid'), reformat=False)

# AMD's libraries without its compiler
libraries += slingshot.ubuntu('rocm', release)
libraries += slingshot.packages('ca-certificates')
libraries += common.files('rocm-key')
libraries += slingshot.rocm_repository(rocm)
libraries += slingshot.rocm_libraries(rocm)
libraries += common.packed(gpu)

fabric += slingshot.ubuntu('network', release)
fabric += slingshot.packages(*slingshot.TOOLS, *slingshot.NETWORK_BUILD, *slingshot.ROCM_RUN)
fabric += common.files(*NETWORK_SOURCES, *(libcxi_sources(LUMI_SHS) if with_libcxi else ()),
                       f'libfabric-{libfabric}')
fabric += common.copied('rocm', gpu)
fabric += slingshot.found_by_loader(*network, gpu)
fabric += slingshot.hwloc()
fabric += slingshot.xpmem()
if with_libcxi:
    fabric += slingshot.libcxi(LUMI_SHS)
fabric += slingshot.libfabric(libfabric, with_libcxi, slingshot.rocr(gpu), also=['lnx'] if with_cxi and
                              not slingshot.older(libfabric, '2.1') else [])
fabric += common.packed(*network)

mpi += slingshot.ubuntu('mpi', release)
mpi += slingshot.packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN)
mpi += common.files(f'mpich-source-{mpich}', *(['rocm-key'] if slingshot.mpich_uses_gpu(mpich) else []))
if slingshot.mpich_uses_gpu(mpich):
    mpi += slingshot.rocm_repository(rocm)
    mpi += slingshot.packages('hip-dev', 'hip-runtime-amd', 'hipcc', 'rocm-device-libs')
mpi += common.copied('network', *network)
mpi += slingshot.found_by_loader(*network, gpu)
mpi += slingshot.mpich(mpich, slingshot.hip(gpu, GPU))
mpi += common.packed('/opt/mpich')

if plugin:
    rccl += slingshot.ubuntu('plugin', release)
    rccl += slingshot.packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
    rccl += common.files(plugin)
    rccl += common.copied('rocm', gpu)
    rccl += common.copied('network', *network)
    rccl += slingshot.found_by_loader(*network, gpu)
    rccl += slingshot.rccl_plugin(plugin, rocm)
    rccl += common.packed('/opt/rccl-plugin')

benchmarks += slingshot.ubuntu('benchmarks', release)
benchmarks += slingshot.packages(*slingshot.TOOLS, *slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
benchmarks += common.files('osu')
benchmarks += common.copied('rocm', gpu)
benchmarks += common.copied('network', *network)
benchmarks += common.copied('mpi', '/opt/mpich')
benchmarks += slingshot.found_by_loader('/opt/mpich', *network, gpu)
benchmarks += slingshot.osu('/opt/mpich', slingshot.osu_with_rocm(gpu))
benchmarks += common.packed('/opt/osu')

runtime += slingshot.ubuntu('runtime', release)
runtime += slingshot.packages(*slingshot.NETWORK_RUN, *slingshot.ROCM_RUN)
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
    f'MPICH {mpich}', f"{SOURCES['osu']['version']} C", slingshot.licences(*keys, also=slingshot.ROCM_LICENCES),
    libfabric, libcxi_version(LUMI_SHS) if with_libcxi else 'none', f'ROCm {rocm} {GPU}',
    title='OSU Micro-Benchmarks with {mpi} for LUMI')
runtime += slingshot.test(
    libfabric, with_cxi, f'/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{mpich}$"',
    'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 /opt/mpich/bin/mpiexec -n 2 '
    f'{slingshot.LATENCY} -m 1:8 -i 10 -x 2')

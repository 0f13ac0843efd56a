"""Building blocks for GPU images from Debian packages (container-recipes/debian.py).

The functions of slingshot.py compile libfabric, MPI and the benchmarks. The functions of this module
add the GPU libraries and compilers. ROCm is installed from Debian packages. Debian's CUDA files are
arranged in /usr/local/cuda in NVIDIA's layout, so that the build steps find CUDA in the same place as
in the images for Alps.
"""

from typing import Any, List

from hpccm.primitives import shell

from osu_container.build.recipes import common
from osu_container.build.recipes.common import BUILD
from osu_container.build.recipes.slingshot import CUDA_PREFIX, STUBS, TOOLS
from osu_container.build.recipes.versions import GPU_OF_DEBIAN

ROCM_PREFIX = '/usr'
LIBRARIES = '/usr/lib/x86_64-linux-gnu'
#: File names with which libfabric opens the GPU libraries (dlopen in src/hmem_rocr.c and
#: hmem_cuda.c of 2.1.0), and their link targets. Debian has these names only in its -dev packages.
DLOPEN_NAMES = {
    'rocm': ('libhsa-runtime64.so', 'libhsa-runtime64.so.1'),
    'cuda': ('libcudart.so', 'libcudart.so.12'),
}
#: Packages to compile programs, and packages to run them. Without recommended packages, HIP's
#: runtime installs the LLVM library (comgr is linked with LLVM) but no compiler.
ROCM_BUILD = ['hipcc', 'libamdhip64-dev', 'librccl-dev']
RUNTIME_PACKAGES = {
    'rocm': ['libamdhip64-5', 'libhsa-runtime64-1', 'librccl1', 'librocm-smi64-1'],
    'cuda': ['libcudart12', 'libnccl2'],
}
GPU_LIBRARIES = {
    'rocm': ['libamdhip64.so.5', 'libhsa-runtime64.so.1', 'librccl.so.1', 'librocm_smi64.so.1'],
    'cuda': ['libcudart.so.12', 'libnccl.so.2'],
}
GPU_LICENCES = {
    'rocm': {'MIT', 'NCSA', 'BSD-3-Clause', 'Apache-2.0 WITH LLVM-exception'},
    'cuda': {'LicenseRef-NVIDIA-CUDA', 'BSD-3-Clause'},
}
#: Compilers for nvcc 12.4, which supports GCC 13 and older. Debian 13 has GCC 14 as default.
CUDA_COMPILERS = ['gcc-13', 'g++-13']
CUDA_DRIVER = ('libcuda.so.1', 'libnvidia-ml.so.1')


def start_build_stage(stage: str, release: str, *tools: str) -> List[Any]:
    """Return the base image, the build arguments and the packages of a stage with compilers.

    tools: names of additional Debian packages to install.
    """
    return [
        *common.start_debian_stage(stage, release),
        common.install_packages(*TOOLS, 'xz-utils', *tools),
    ]


def enable_non_free(release: str) -> shell:
    """Return the step that enables Debian's contrib and non-free, for NVIDIA's libraries."""
    return common.run_commands(
        f"echo 'deb http://deb.debian.org/debian {release} contrib non-free' >/etc/apt/sources.list.d/non-free.list"
    )


def install_cuda_toolkit() -> shell:
    """Return the step that arranges Debian's nvcc, headers and stubs in /usr/local/cuda.

    The package nvidia-cuda-dev unpacks to 2.5 GB, but a build needs only the headers and two stubs.
    The package is not installed, because its dependencies are even larger.
    """
    release = GPU_OF_DEBIAN['cuda']['packages']['libcudart12']
    # printf writes \044 as a dollar sign; the shell would expand a plain dollar sign.
    profile = '\\n'.join(
        [
            'TOP = $(_HERE_)/..',
            'NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice',
            'PATH += $(TOP)/nvvm/bin:$(_HERE_):',
            'INCLUDES += "-I$(TOP)/include" $(_SPACE_)',
            'LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"',
            '',
        ]
    ).replace('$', '\\044')
    unpacked = f'{BUILD}/cuda/unpacked'
    libraries, toolkit = f'{unpacked}{LIBRARIES}', f'{unpacked}/usr/lib/nvidia-cuda-toolkit'
    return common.run_commands(
        f'mkdir -p {unpacked} {STUBS} {CUDA_PREFIX}/bin {CUDA_PREFIX}/nvvm/bin',
        f'cd {BUILD}/cuda',
        'apt-get -q update',
        'apt-get -q -o APT::Sandbox::User=root download '
        f'"nvidia-cuda-dev={release}*" "libcudart12={release}*" libnvidia-ml-dev nvidia-cuda-toolkit',
        'dpkg-deb --fsys-tarfile nvidia-cuda-dev_*.deb | '
        f'tar -x --no-same-owner -C {unpacked} --exclude=./usr/include/thrust --exclude=./usr/include/cub '
        './usr/include '
        f'.{LIBRARIES}/stubs .{LIBRARIES}/libcudart.so .{LIBRARIES}/libcudart_static.a .{LIBRARIES}/libcudadevrt.a',
        f'dpkg-deb -x libcudart12_*.deb {unpacked}',
        f'dpkg-deb -x libnvidia-ml-dev_*.deb {unpacked}',
        'dpkg-deb --fsys-tarfile nvidia-cuda-toolkit_*.deb | '
        f'tar -x --no-same-owner -C {unpacked} ./usr/bin ./usr/lib/nvidia-cuda-toolkit/bin '
        './usr/lib/nvidia-cuda-toolkit/libdevice',
        f'mv {unpacked}/usr/include {CUDA_PREFIX}/include',
        f'mv {libraries}/libcudart* {libraries}/libcudadevrt.a {CUDA_PREFIX}/lib64/',
        f'mv {libraries}/stubs/libcuda.so {libraries}/stubs/libnvidia-ml.so {STUBS}/',
        f'for name in cuda nvidia-ml; do ln -s "lib$name.so" "{STUBS}/lib$name.so.1"; done',
        f'for name in cudafe++ fatbinary ptxas nvlink; do mv "{unpacked}/usr/bin/$name" {CUDA_PREFIX}/bin/; done',
        f'mv {toolkit}/bin/nvcc {toolkit}/bin/crt {CUDA_PREFIX}/bin/',
        f'mv {toolkit}/bin/cicc {CUDA_PREFIX}/nvvm/bin/',
        f'mv {toolkit}/libdevice {CUDA_PREFIX}/nvvm/libdevice',
        f"printf '{profile}' >{CUDA_PREFIX}/bin/nvcc.profile",
        # nvcc uses the compilers that are in its own folder.
        *(f'ln -s /usr/bin/{name}-13 {CUDA_PREFIX}/bin/{name}' for name in ('gcc', 'g++')),
        # glibc 2.41 and newer declares these functions noexcept. CUDA 12.4 declares them
        # without noexcept, which the compiler rejects.
        f"sed -i -E 's/\\<((cos|sin)pif?)\\((double|float) x\\);/\\1(\\3 x) noexcept (true);/' "
        f'{CUDA_PREFIX}/include/crt/math_functions.h',
        'cd /',
        f'rm -rf {BUILD}/cuda /var/lib/apt/lists/*',
    )


MPICH_LIBFABRIC_PREFIX = f'{BUILD}/libfabric-of-mpich'


def build_mpich_libfabric() -> List[str]:
    """Return commands that build the libfabric in MPICH's archive, for linking MPICH.

    The archive of MPICH 4.0.2 contains libfabric 1.13. If libmpi.so.12 is linked with this old
    version, the loader accepts any newer libfabric: the libfabric of the image and, with approach
    hybrid, the libfabric of the host. The old libfabric itself is not part of the image. The option
    -fpermissive is needed because GCC 14 rejects code that older releases only warned about.
    """
    prefix = MPICH_LIBFABRIC_PREFIX
    return [
        'cd modules/libfabric',
        f'./configure --prefix={prefix} --disable-static --disable-efa --disable-opx --disable-psm2 --disable-psm3 '
        '--disable-usnic --disable-verbs CFLAGS="-O1 -w -fpermissive"',
        'make -j "$(nproc)"',
        'make install',
        'cd ../..',
    ]


def reduce_yaksa_kernels() -> List[str]:
    """Return commands that regenerate Yaksa's kernels for only two levels of nested datatypes.

    Yaksa packs noncontiguous data for MPICH. By default Yaksa has kernels for three levels of
    nested datatypes: 110 MB of sources, and GCC needs up to 27 s for a single file. With two
    levels, the sources are 17 MB and a file takes at most 2 s. Yaksa packs deeper datatypes level
    by level. The benchmarks send contiguous data, which need no packing. With only one level, Yaksa
    does not compile.
    """
    return ['cd modules/yaksa', './autogen.sh --pup-max-nesting=2', 'cd ../..']


def install_gpu_runtime(gpu: str) -> shell:
    """Return the step that installs GPU libraries, and a symbolic link for libfabric to open."""
    name, target = DLOPEN_NAMES[gpu]
    return common.run_commands(
        'apt-get -q update',
        f'{common.APT_INSTALL} {" ".join(sorted(RUNTIME_PACKAGES[gpu]))}',
        common.APT_CLEAN_IMAGE,
        f'ln -s {LIBRARIES}/{target} /opt/libfabric/lib/{name}',
    )


def check_gpu_libraries(gpu: str) -> List[str]:
    """Return commands that stop the build if a GPU library is wrong or fails to load."""
    return [
        *(
            f"dpkg-query -W -f '${{Version}}' {name} | grep '^{release}'"
            for name, release in GPU_OF_DEBIAN[gpu]['packages'].items()
        ),
        # LD_BIND_NOW makes the loader resolve every symbol of the library.
        f'for name in {" ".join(GPU_LIBRARIES[gpu])} {DLOPEN_NAMES[gpu][0]} libfabric.so.1; do',
        '    LD_BIND_NOW=1 python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$name"',
        'done',
    ]

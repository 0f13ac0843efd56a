"""
Building blocks of the images of Debian's parts alone (container-recipes/debian.py), beside those
of slingshot.py.

What is compiled is compiled by the steps of slingshot.py. Here is where GPU libraries and compilers
come from: ROCm's are Debian packages in the places of the distribution; CUDA's are put into
/usr/local/cuda as NVIDIA lays it out, so that each step finds it where it is in the images for
Alps.
"""

from hpccm.primitives import shell

from osu_container.build.recipes import common
from osu_container.build.recipes.common import BUILD
from osu_container.build.recipes.slingshot import CUDA_PREFIX, STUBS, TOOLS
from osu_container.build.recipes.versions import GPU_OF_DEBIAN

ROCM_PREFIX = '/usr'
LIBRARIES = '/usr/lib/x86_64-linux-gnu'
# Names by which libfabric opens them (dlopen, src/hmem_rocr.c and hmem_cuda.c of 2.1.0): Debian has
# them in packages for developers only.
DLOPEN_NAMES = {
    'rocm': ('libhsa-runtime64.so', 'libhsa-runtime64.so.1'),
    'cuda': ('libcudart.so', 'libcudart.so.12'),
}
# What programs are compiled with, and what they run with. Without recommended packages HIP's
# runtime brings LLVM's library, which comgr is linked with, and no compiler.
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
# nvcc 12.4 works with GCC 13 and older; Debian 13 compiles with GCC 14.
CUDA_COMPILERS = ['gcc-13', 'g++-13']
CUDA_DRIVER = ('libcuda.so.1', 'libnvidia-ml.so.1')


def start_build_stage(stage, release, *tools):
    """
    Return base, arguments and packages of a stage that compiles. tools: more Debian packages for
    it.
    """
    return [
        *common.start_debian_stage(stage, release),
        common.install_packages(*TOOLS, 'xz-utils', *tools),
    ]


def enable_non_free(release):
    """
    Return the step that makes Debian's contrib and non-free known to apt: NVIDIA's libraries are
    there.
    """
    return shell(
        chdir=False,
        commands=[
            f"echo 'deb http://deb.debian.org/debian {release} contrib non-free' >/etc/apt/sources.list.d/non-free.list"
        ],
    )


def install_cuda_toolkit():
    """
    Return the step that lays out nvcc, headers and stubs of Debian's packages in
    /usr/local/cuda.

    Of the 2.5 GB that nvidia-cuda-dev unpacks to, a build needs the headers and two stubs; it is
    not installed, as its dependencies would be more.
    """
    release = GPU_OF_DEBIAN['cuda']['packages']['libcudart12']
    # printf makes a dollar of \044; the shell must not take it for one of its own
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
    return shell(
        chdir=False,
        commands=[
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
            # nvcc takes the compilers that it finds beside itself
            *(f'ln -s /usr/bin/{name}-13 {CUDA_PREFIX}/bin/{name}' for name in ('gcc', 'g++')),
            # glibc declares these from 2.41 on, as functions that throw nothing; CUDA 12.4 declares
            # them without that word
            f"sed -i -E 's/\\<((cos|sin)pif?)\\((double|float) x\\);/\\1(\\3 x) noexcept (true);/' "
            f'{CUDA_PREFIX}/include/crt/math_functions.h',
            'cd /',
            f'rm -rf {BUILD}/cuda /var/lib/apt/lists/*',
        ],
    )


MPICH_LIBFABRIC_PREFIX = f'{BUILD}/libfabric-of-mpich'


def build_mpich_libfabric():
    """
    Return the commands that build the libfabric in MPICH's own archive, for MPICH to be linked
    with.

    It is of MPICH's time, 1.13 in 4.0.2: so libmpi.so.12 asks for no newer symbols than that, and
    loads with the libfabric of every host (approach hybrid), and with the image's own, which is
    newer. It does not go into the image. -fpermissive: it is older than GCC 14, which takes as
    errors what were warnings.
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


def reduce_yaksa_kernels():
    """
    Return the commands that write Yaksa's kernels anew, for datatypes nested twice.

    Yaksa, which packs data for MPICH, comes with kernels for three nested datatypes and each basic
    type: 110 MB of sources, of which GCC takes 27 s for one file. For two levels they are 17 MB and
    2 s; deeper ones are packed level by level, and contiguous data, as the benchmarks send, are not
    packed at all. One level does not compile.
    """
    return ['cd modules/yaksa', './autogen.sh --pup-max-nesting=2', 'cd ../..']


def install_gpu_runtime(gpu):
    """
    Return the step that installs the GPU libraries, and links to the names by which libfabric
    opens them.
    """
    name, target = DLOPEN_NAMES[gpu]
    return shell(
        chdir=False,
        commands=[
            'apt-get -q update',
            f'{common.APT_INSTALL} {" ".join(sorted(RUNTIME_PACKAGES[gpu]))}',
            common.APT_CLEAN_IMAGE,
            f'ln -s {LIBRARIES}/{target} /opt/libfabric/lib/{name}',
        ],
    )


def check_gpu_libraries(gpu):
    """
    Return the commands (list) that stop the build if a GPU library has another version or does
    not load.
    """
    return [
        *(
            f"dpkg-query -W -f '${{Version}}' {name} | grep '^{release}'"
            for name, release in GPU_OF_DEBIAN[gpu]['packages'].items()
        ),
        # with every symbol bound, as a program's first use of each would
        f'for name in {" ".join(GPU_LIBRARIES[gpu])} {DLOPEN_NAMES[gpu][0]} libfabric.so.1; do',
        '    LD_BIND_NOW=1 python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$name"',
        'done',
    ]

"""
Building blocks of the images for Slingshot 11 (lumi.py, alps.py). Each function returns HPCCM
primitives.

Everything is built from sources/ into a prefix of its own below /opt, so that a stage can be kept
and used in several images: its text depends on nothing but what it is called with. What a stage
needs of an earlier one is copied.

    /opt/hwloc, /opt/xpmem, /opt/libcxi, /opt/libfabric    the network
    /opt/mpich or /opt/openmpi (with /opt/ucx, /opt/pmix)  MPI
    /opt/rccl-plugin                                       how RCCL reaches libfabric
    /opt/osu                                               the benchmarks
    /opt/rocm-VERSION                                      AMD's libraries, from AMD's packages

The images set no variable: the module that runs them does. Nowhere is an RPATH, and no
LD_LIBRARY_PATH is set, so a library of the host that a module puts there comes first. CXI_FORK_SAFE
above all is not set: libfabric would copy every small message from GPU memory by a slow path
(docs/compare.md).
"""

from hpccm.primitives import raw, shell

from osu_container.build.recipes import common
from osu_container.build.recipes.common import BUILD, FILES, LATENCY, reject_rpath, verify_sources
from osu_container.build.recipes.images import list_libcxi_sources
from osu_container.build.recipes.versions import ROCM, SOURCES, UBUNTU, is_newer
from osu_container.data.sites.cray import format_rccl_options

# What every build needs. python3: libcxi makes a header with it. libtool-bin: Yaksa writes the
# release of `libtool` beside each kernel (hiplt.sh, cudalt.sh), and without that libtool refuses
# the kernel as none of its own.
TOOLS = [
    'autoconf',
    'automake',
    'bzip2',
    'ca-certificates',
    'file',
    'g++',
    'gcc',
    'libc6-dev',
    'libtool',
    'libtool-bin',
    'make',
    'perl',
    'pkg-config',
    'python3',
]

# Debian names of the libraries that ours are linked with: to build, and to run. Names with t64 at
# their end, as some have on noble, are given without: apt finds them.
NETWORK_BUILD = [
    'libconfig-dev',
    'libcurl4-openssl-dev',
    'libfuse-dev',
    'libjson-c-dev',
    'libnl-3-dev',
    'libnuma-dev',
    'libpciaccess-dev',
    'libsensors-dev',
    'libuv1-dev',
    'libyaml-dev',
]
NETWORK_RUN = ['libcurl4', 'libjson-c5', 'libnl-3-200', 'libnuma1', 'libpciaccess0']
ROCM_RUN = ['libdrm-amdgpu1', 'libdrm2', 'libelf1', 'libnuma1']

# ROCm's packages with the libraries that run HIP and RCCL, and with what is needed to link with
# them. Nothing of them is installed with its dependencies: hip-runtime-amd asks for the whole
# compiler (ROCm/ROCm#3306).
ROCM_LIBRARIES = [
    'comgr',
    'hip-dev',
    'hip-runtime-amd',
    'hsa-rocr',
    'hsa-rocr-dev',
    'rccl',
    'rccl-dev',
    'rocm-core',
    'rocm-smi-lib',
]
ROCM_LICENCES = {'MIT', 'NCSA', 'BSD-3-Clause', 'Apache-2.0 WITH LLVM-exception'}


def start_ubuntu_stage(stage, release):
    """Return base image and build arguments of a stage with an Ubuntu release of versions.py."""
    return common.start_stage(stage, UBUNTU[release]['image'], UBUNTU[release]['distro'])


def list_runtime_folders(*prefixes):
    """
    Return the folders of prefixes that an image needs: no headers. fi_info and cxi_stat show
    what the network is.
    """
    return [
        f'{prefix}/{folder}'
        for prefix in prefixes
        for folder in ('bin', 'lib', 'share')
        if folder != 'bin' or prefix in ('/opt/libcxi', '/opt/libfabric')
    ]


def unpack_sources(*keys):
    """
    Return the commands that check sources and unpack each to a folder of its name in the build
    folder.
    """
    commands = verify_sources(*keys)
    for key in keys:
        folder = f'{BUILD}/{SOURCES[key]["name"]}'
        commands += [
            f'mkdir -p {folder}',
            f'tar -xf {FILES}/{SOURCES[key]["file"]} --strip-components=1 --no-same-owner -C {folder}',
        ]
    return commands


def build_source(key, prefix, options, prepare=()):
    """
    Return the commands that build a source with GNU's tools into a prefix. prepare: commands
    before configure.
    """
    return [
        *unpack_sources(key),
        f'cd {BUILD}/{SOURCES[key]["name"]}',
        *prepare,
        ' \\\n        '.join([f'./configure --prefix={prefix}', *options]),
        'make -j "$(nproc)"',
        'make install',
        f'mkdir -p {prefix}/share/licenses',
        'for text in COPYING* COPYRIGHT* LICEN[CS]E*; do '
        f'if [ -f "$text" ]; then cp "$text" {prefix}/share/licenses/; fi; done',
        # Nothing is linked statically. libtool's files would only say so in another way.
        f"find {prefix} '(' -name '*.a' -o -name '*.la' ')' -delete",
        'cd /',
        f'rm -rf {BUILD}/{SOURCES[key]["name"]} {prefix}/share/doc {prefix}/share/man',
        'ldconfig',
    ]


def add_loader_paths(*prefixes):
    """
    Return the step after which the loader finds our libraries with an empty LD_LIBRARY_PATH, in
    builds as well.

    The first of two libraries of one name is found. A prefix need not be there yet.
    """
    folders = ''.join(f'{prefix}/lib\\n' for prefix in prefixes)
    return shell(
        chdir=False, commands=[f"printf '{folders}' >/etc/ld.so.conf.d/slingshot.conf", 'ldconfig']
    )


# --- ROCm ---


def add_rocm_repository(rocm):
    """
    Return the step that makes AMD's packages of one ROCm release known to apt, and preferred to
    Ubuntu's.

    The folder of the release holds no other one: the release pins the packages, and AMD's key signs
    their sums.
    """
    release = ROCM[rocm]['ubuntu']
    key = '/etc/apt/keyrings/rocm.asc'
    line = f'deb [arch=amd64 signed-by={key}] https://repo.radeon.com/%s {release} main\\n'
    return shell(
        chdir=False,
        commands=[
            *verify_sources('rocm-key'),
            f'install -D -m 644 {FILES}/{SOURCES["rocm-key"]["file"]} {key}',
            f"printf '{line}' rocm/apt/{rocm} amdgpu/{rocm}/ubuntu >/etc/apt/sources.list.d/rocm.list",
            "printf 'Package: *\\nPin: release o=repo.radeon.com\\nPin-Priority: 600\\n' >/etc/apt/preferences.d/rocm",
        ],
    )


def unpack_rocm_libraries(rocm):
    """
    Return the step that unpacks the libraries of HIP and RCCL to /opt/rocm-VERSION, without
    compilers.

    What was unpacked is recorded in share/dpkg there, so that the list of packages has it.
    """
    prefix = f'/opt/rocm-{rocm}'
    names = ' '.join([*ROCM_LIBRARIES, *ROCM[rocm]['libraries']])
    return shell(
        chdir=False,
        commands=[
            f'mkdir -p {BUILD}/rocm',
            f'cd {BUILD}/rocm',
            'apt-get -q update',
            f'apt-get -q -o APT::Sandbox::User=root download {names}',
            *common.unpack_packages(f'{prefix}/share/dpkg'),
            # libfabric opens it by this name, which only some releases have in the package of the
            # library
            f'if [ ! -e {prefix}/lib/libhsa-runtime64.so ]; then '
            f'ln -s libhsa-runtime64.so.1 {prefix}/lib/libhsa-runtime64.so; fi',
            'cd /',
            f'rm -rf {BUILD}/rocm /var/lib/apt/lists/*',
        ],
    )


# --- network ---


def build_hwloc(key='hwloc'):
    """
    Return the step that builds hwloc to /opt/hwloc: MPI asks it which network card is near. It
    needs no GPU.

    key: of its source.
    """
    without = (
        'cairo',
        'cuda',
        'gl',
        'levelzero',
        'libudev',
        'libxml2',
        'nvml',
        'opencl',
        'rsmi',
        'static',
    )
    return shell(
        chdir=False,
        commands=build_source(key, '/opt/hwloc', [f'--disable-{name}' for name in without]),
    )


def build_xpmem():
    """
    Return the step that builds the library of XPMEM to /opt/xpmem; the kernel module is the
    host's.
    """
    return shell(
        chdir=False,
        commands=build_source(
            'xpmem',
            '/opt/xpmem',
            ['--disable-kernel-module', '--disable-static'],
            prepare=['./autogen.sh'],
        ),
    )


def build_libcxi(shs):
    """
    Return the step that builds libcxi of a release of SHS to /opt/libcxi, with the headers of
    card and driver.

    No GPU: only its test programs would use one, libcxi.so does not. Of the programs cxi_stat
    stays, which shows the cards; the others need libraries that the image has not.
    """
    *headers, library = list_libcxi_sources(shs)
    return shell(
        chdir=False,
        commands=[
            *unpack_sources(*headers),
            'mkdir -p /opt/libcxi/include',
            *(f'cp -r {BUILD}/{name}/include/. /opt/libcxi/include/' for name in headers),
            # where utils/cxi_dump_csrs.py looks for it
            f'cp -r {BUILD}/{headers[0]}/share/. /usr/share/',
            *build_source(
                library,
                '/opt/libcxi',
                [
                    '--disable-static',
                    '--without-cuda',
                    '--without-rocm',
                    '--without-systemd',
                    '--without-ze',
                    '--with-systemdsystemunitdir=/opt/libcxi/lib/systemd',
                    '--with-udevrulesdir=/opt/libcxi/lib/udev',
                    # Its own -Werror knows the compilers of its time only; LUMI's easyconfig of it
                    # does the same.
                    'CPPFLAGS=-I/opt/libcxi/include',
                    'CFLAGS="-O2 -Wno-error"',
                ],
                prepare=['./autogen.sh'],
            ),
            'find /opt/libcxi/bin -type f ! -name cxi_stat -delete',
            f'rm -rf {BUILD}/shs-*',
        ],
    )


def has_cxi(libfabric, cxi):
    """
    Return whether a libfabric release gets its provider for Slingshot. Releases before 1.21 have
    none in public.
    """
    return cxi and not is_newer('1.21', libfabric)


def build_libfabric(version, cxi, gpu, extra_providers=(), xpmem=True, prepare=()):
    """
    Return the step that builds libfabric to /opt/libfabric.

    cxi: whether /opt/libcxi is there. gpu: options for memory of GPUs. also: names of more
    providers. xpmem: whether /opt/xpmem is there. prepare: commands before configure.
    """
    # Providers of other networks, which configure would take where it finds their libraries.
    unwanted = [
        name
        for name in ('efa', 'opx', 'psm2', 'psm3', 'usnic', 'verbs')
        if name not in extra_providers
    ]
    options = [
        '--disable-static',
        *gpu,
        *(f'--disable-{name}' for name in unwanted),
        *(f'--enable-{name}' for name in extra_providers),
    ]
    if xpmem and not is_newer('1.21', version):
        options.append('--enable-xpmem=/opt/xpmem')
    prepare = list(prepare)
    if has_cxi(version, cxi):
        options += ['--enable-cxi=/opt/libcxi', 'CPPFLAGS=-I/opt/libcxi/include']
        if is_newer('2.1', version):
            # libcxi dropped the flag (479eb0c, December 2024), libfabric's code followed (its pull
            # request 10648).
            prepare.append("sed -i 's/| CXI_MAP_IOVA_ALLOC//g' prov/cxi/include/cxip.h")
    return shell(
        chdir=False,
        commands=build_source(f'libfabric-{version}', '/opt/libfabric', options, prepare),
    )


def list_libfabric_rocr_options(prefix):
    """
    Return libfabric's options for GPU memory by ROCr of a prefix, which is opened when needed
    and not linked.
    """
    return [f'--with-rocr={prefix}', '--enable-rocr-dlopen']


def list_libfabric_cuda_options(prefix, gdrcopy=True):
    """
    Return libfabric's options for GPU memory by CUDA of a prefix, opened when needed. gdrcopy:
    in /opt/gdrcopy.
    """
    return [
        f'--with-cuda={prefix}',
        '--enable-cuda-dlopen',
        *(['--with-gdrcopy=/opt/gdrcopy', '--enable-gdrcopy-dlopen'] if gdrcopy else []),
    ]


# --- MPI ---


def mpich_uses_gpu(version):
    """Return whether an MPICH release can be built with HIP; 3.x cannot."""
    return not is_newer('4.0', version)


def list_mpich_hip_options(prefix, *gpus):
    """
    Return MPICH's options for GPU memory by HIP of a prefix. GPUs, such as 'gfx90a', are named:
    see build_mpich().
    """
    return ['--without-cuda', '--without-ze'], [
        f'--with-hip={prefix}',
        f"--with-hip-sm={','.join(gpus)}",
    ]


def list_mpich_cuda_options(prefix, *gpus):
    """
    Return MPICH's options for GPU memory by CUDA of a prefix. gpus: compute capabilities, such
    as '80'.
    """
    return ['--without-hip', '--without-ze'], [
        f'--with-cuda={prefix}',
        f"--with-cuda-sm={','.join(gpus)}",
    ]


def build_mpich(version, gpu, fabric='/opt/libfabric', xpmem=True, prepare=()):
    """
    Return the step that builds MPICH to /opt/mpich, from 4.0 on for memory of GPUs.

    3.1 sends over TCP by itself (nemesis), as in the published image. GPUs are named: Yaksa in
    MPICH would look for one, or compile for every GPU that it has heard of.

    gpu: options of list_mpich_hip_options() or list_mpich_cuda_options(). fabric: prefix of the
    libfabric that it is linked with. xpmem: whether /opt/xpmem is there. prepare: commands before
    configure.
    """
    without, with_gpu = gpu
    if is_newer('3.4', version):
        options = ['--with-device=ch3:nemesis']
    else:
        options = ['--with-device=ch4:ofi', f'--with-libfabric={fabric}', '--without-ucx', *without]
    if mpich_uses_gpu(version):
        options += [
            '--with-hwloc=/opt/hwloc',
            *(['--with-xpmem=/opt/xpmem'] if xpmem else []),
            *with_gpu,
            '--enable-fast=all,O3',
        ]
    elif not is_newer('3.4', version):
        options += ['--with-hwloc-prefix=/opt/hwloc']
    return shell(
        chdir=False,
        commands=[
            *build_source(
                f'mpich-source-{version}', '/opt/mpich', ['--disable-fortran', *options], prepare
            ),
            reject_rpath('/opt/mpich'),
        ],
    )


def build_gdrcopy():
    """
    Return the step that builds the library of GDRCopy to /opt/gdrcopy: small copies from GPU
    memory by the CPU.
    """
    where = 'prefix=/opt/gdrcopy libdir=/opt/gdrcopy/lib CUDA=/usr/local/cuda'
    return shell(
        chdir=False,
        commands=[
            *unpack_sources('gdrcopy'),
            f'cd {BUILD}/gdrcopy',
            f'make {where} lib',
            f'make {where} lib_install',
            'test -e /opt/gdrcopy/lib/libgdrapi.so.2',
            'mkdir -p /opt/gdrcopy/share/licenses',
            'cp LICENSE /opt/gdrcopy/share/licenses/',
            'cd /',
            f'rm -rf {BUILD}/gdrcopy',
        ],
    )


def build_ucx():
    """
    Return the step that builds UCX to /opt/ucx, for InfiniBand and OpenSHMEM. Checks for
    debugging are left out.
    """
    return shell(
        chdir=False,
        commands=build_source(
            'ucx',
            '/opt/ucx',
            [
                f'--with-cuda={CUDA_PREFIX}',
                '--with-gdrcopy=/opt/gdrcopy',
                '--with-xpmem=/opt/xpmem',
                '--without-go',
                '--without-java',
                '--without-rocm',
                '--enable-mt',
                '--disable-assertions',
                '--disable-debug',
                '--disable-logging',
                '--disable-params-check',
                '--disable-static',
            ],
        ),
    )


def build_pmix():
    """Return the step that builds PMIx to /opt/pmix, by which Slurm tells the ranks of each other.

    Without MUNGE: Slurm's side takes the security of the operating system (native) then.
    """
    return shell(
        chdir=False,
        commands=build_source(
            'pmix',
            '/opt/pmix',
            ['--with-hwloc=/opt/hwloc', '--with-libevent', '--without-munge', '--disable-static'],
        ),
    )


CUDA_PREFIX = '/usr/local/cuda'
STUBS, STUBS_CONF = f'{CUDA_PREFIX}/lib64/stubs', '/etc/ld.so.conf.d/zz-cuda-stubs.conf'


def add_cuda_stubs():
    """
    Return the step after which programs linked with libcuda.so.1 start in a build, where no
    driver is.
    """
    return shell(chdir=False, commands=[f'echo {STUBS} >{STUBS_CONF}', 'ldconfig'])


def remove_cuda_stubs():
    """
    Return the step that undoes add_cuda_stubs(): what is built upon this must not find them in
    place of the driver.
    """
    return shell(chdir=False, commands=[f'rm -f {STUBS_CONF} {STUBS}/lib*.so.1', 'ldconfig'])


#: Parts of Open MPI that are files to be opened when needed: they are linked with CUDA
OPENMPI_CUDA_PARTS = 'accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm'


def build_openmpi(key='openmpi-source', network=('ucx', 'xpmem'), pmix='/opt/pmix', oshmem=True):
    """
    Return the step that builds Open MPI to /opt/openmpi, with the CUDA parts as files that are
    opened when needed.

    So libmpi.so loads where no CUDA driver is (docs.open-mpi.org, "How do I build Open MPI with
    CUDA-aware support?").

    libevent is named without its folder: of /usr, configure looks into /usr/lib alone, where Debian
    and Ubuntu have none (a build with Debian's 5.0.7 ended there).

    key: of its source. network: what is there of UCX and XPMEM, each in /opt. pmix: prefix of PMIx,
    or 'internal' for the one of its own archive. oshmem: with OpenSHMEM, which needs UCX.
    """
    ucx_, xpmem_ = (
        [f'--with-{name}=/opt/{name}' if name in network else f'--with-{name}=no']
        for name in ('ucx', 'xpmem')
    )
    return shell(
        chdir=False,
        commands=[
            *build_source(
                key,
                '/opt/openmpi',
                [
                    '--with-ofi=/opt/libfabric',
                    *ucx_,
                    f'--with-pmix={pmix}',
                    '--with-hwloc=/opt/hwloc',
                    '--with-libevent=external',
                    '--with-prrte=internal',
                    *xpmem_,
                    '--with-slurm',
                    f'--with-cuda={CUDA_PREFIX}',
                    f'--with-cuda-libdir={STUBS}',
                    f'--enable-mca-dso={OPENMPI_CUDA_PARTS}',
                    '--enable-oshmem' if oshmem else '--disable-oshmem',
                    '--enable-mpi-fortran=no',
                    '--disable-static',
                ],
            ),
            reject_rpath(
                '/opt/openmpi',
                *([pmix] if pmix != 'internal' else []),
                *(['/opt/ucx'] if 'ucx' in network else []),
            ),
        ],
    )


# --- RCCL's plugin and the benchmarks ---


def build_rccl_plugin(name, rocm):
    """
    Return the step that builds the plugin by which RCCL uses libfabric to /opt/rccl-plugin, as
    lib/librccl-net.so.

    name: aws-ofi-nccl (ROCm from 1.18 on), or aws-ofi-rccl, its former fork, as in the published
    images.
    """
    prefix, gpu = '/opt/rccl-plugin', f'/opt/rocm-{rocm}'
    if name == 'aws-ofi-nccl':
        commands = build_source(
            name,
            prefix,
            [
                '--with-libfabric=/opt/libfabric',
                f'--with-rocm={gpu}',
                '--with-hwloc=/opt/hwloc',
                '--disable-tests',
            ],
        )
    else:
        commands = build_source(
            name,
            prefix,
            [
                '--with-libfabric=/opt/libfabric',
                f'--with-hip={gpu}',
                f'--with-rccl={gpu}',
                '--disable-tests',
                'CPPFLAGS=-D__HIP_PLATFORM_AMD__=1',
            ],
            prepare=['./autogen.sh'],
        )
    return shell(
        chdir=False,
        commands=[*commands, f'test -e {prefix}/lib/librccl-net.so', reject_rpath(prefix)],
    )


def list_osu_rocm_options(prefix):
    """
    Return options of the benchmarks for GPU memory by HIP of a prefix, and for the programs that
    measure RCCL.
    """
    return [
        f'--enable-rocm --with-rocm={prefix}',
        format_rccl_options(prefix),
        'CFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1"',
        'CXXFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1"',
    ]


def list_osu_cuda_options():
    """
    Return options of the benchmarks for GPU memory by CUDA; the driver's libraries are stubs in
    a build.
    """
    return [
        f'--enable-cuda --with-cuda-include={CUDA_PREFIX}/include --with-cuda-libpath={CUDA_PREFIX}/lib64',
        'CFLAGS=-O2',
        'CXXFLAGS=-O2',
        f'LDFLAGS=-L{STUBS}',
        'LIBS="-lcuda -lnvidia-ml"',
    ]


# --- the image ---

#: By MPI: command that succeeds if it is of a version, {}
VERSION_CHECKS = {
    'mpich': '/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{}$"',
    'openmpi': '/opt/openmpi/bin/ompi_info --version | grep -x "Open MPI v{}"',
}
CXI_CHECK = 'ldd /opt/libfabric/lib/libfabric.so.1 | grep "libcxi.so.1 => /opt/libcxi/"'


def add_stack_test(
    libfabric_version,
    version,
    mpiexec,
    programs="/opt/osu/libexec -type f -name 'osu_*'",
    checks=(),
    driver=(),
):
    """
    Return the section that stops the build of an image which does not work or is not what its
    labels say.

    version: command line that succeeds if MPI is the one of the labels. mpiexec: command that
    starts two ranks, over TCP and without GPU memory: a build machine has neither network nor GPU.
    programs: arguments of find that select what is linked with MPI. checks: more commands. driver:
    libraries of the host's GPU driver, which may be missing here; then nothing is run.
    """
    allowed = f' | grep -vE "{"|".join(driver)}"' if driver else ''
    started = [version, f'{mpiexec} {LATENCY}']
    lines = [
        'set -e',
        f'programs=$(find {programs})',
        'test -n "$programs"',
        "libraries=$(find /opt/*/lib -name '*.so' ! -path '/opt/rocm*' ! -path '/opt/osu/*')",
        'for file in $programs $libraries; do',
        f'    if ldd "$file" | grep "not found"{allowed}; then echo "$file: library not found" >&2; exit 1; fi',
        'done',
        f'/opt/libfabric/bin/fi_info --version | grep -x "libfabric: {libfabric_version}"',
        *checks,
        *(
            [
                f'if ldconfig -p | grep -q "{driver[0]}"; then',
                *(f'    {line}' for line in started),
                'fi',
            ]
            if driver
            else started
        ),
    ]
    return raw(singularity='%test\n' + '\n'.join(f'    {line}' for line in lines), docker='')

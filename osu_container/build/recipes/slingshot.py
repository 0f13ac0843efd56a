"""Building blocks for images whose MPI is compiled (container-recipes/lumi.py, alps.py, debian.py).

The functions return HPCCM primitives. Each part of an image is compiled from an archive in sources/
and installed in its own prefix below /opt; later stages of the build copy these prefixes. The text of
a stage depends only on the arguments of the functions, so that several images can share a cached
stage.

    /opt/hwloc, /opt/xpmem, /opt/libcxi, /opt/libfabric    network libraries
    /opt/mpich or /opt/openmpi (with /opt/ucx, /opt/pmix)  MPI
    /opt/rccl-plugin                                       plugin that lets RCCL use libfabric
    /opt/osu                                               benchmarks
    /opt/rocm-VERSION                                      AMD's libraries, from AMD's packages

The images set no environment variables; the modules set all variables that the programs need. Images
have no RPATH and no LD_LIBRARY_PATH, so that the loader finds the host libraries of a module first. In
particular, the images do not set CXI_FORK_SAFE: with this variable, libfabric copies every small
message from GPU memory on a slow path (docs/compare.md).
"""

from typing import Any, Iterable, List, Sequence, Tuple, Union

from hpccm.primitives import baseimage, raw, shell

from osu_container.build.recipes import common
from osu_container.build.recipes.common import BUILD, LATENCY, list_commands
from osu_container.build.recipes.images import list_libcxi_sources
from osu_container.build.recipes.versions import GPU_OF_DEBIAN, ROCM, SOURCES, UBUNTU, is_newer
from osu_container.data.sites.cray import format_rccl_options

#: Debian packages of every build stage. libcxi needs python3 to generate a header. Yaksa needs the
#: program `libtool` (package libtool-bin): its scripts hiplt.sh and cudalt.sh write the version of
#: libtool beside each kernel, and libtool refuses a kernel without this version.
TOOLS = (
    'autoconf automake bzip2 ca-certificates file g++ gcc libc6-dev libtool libtool-bin make '
    'perl pkg-config python3'
).split()

#: Debian packages with the libraries that the network libraries need, at build time and at run
#: time. Ubuntu noble adds t64 to some package names; apt also accepts the names without t64.
NETWORK_BUILD = (
    'libconfig-dev libcurl4-openssl-dev libfuse-dev libjson-c-dev libnl-3-dev libnuma-dev '
    'libpciaccess-dev libsensors-dev libuv1-dev libyaml-dev'
).split()
NETWORK_RUN = ['libcurl4', 'libjson-c5', 'libnl-3-200', 'libnuma1', 'libpciaccess0']
ROCM_RUN = ['libdrm-amdgpu1', 'libdrm2', 'libelf1', 'libnuma1']

#: ROCm packages that are needed to link and run programs with HIP and RCCL. The packages are
#: unpacked without their dependencies, because hip-runtime-amd depends on the whole compiler
#: (ROCm/ROCm#3306).
ROCM_LIBRARIES = 'comgr hip-dev hip-runtime-amd hsa-rocr hsa-rocr-dev rccl rccl-dev rocm-core rocm-smi-lib'.split()
ROCM_LICENCES = {'MIT', 'NCSA', 'BSD-3-Clause', 'Apache-2.0 WITH LLVM-exception'}


def start_ubuntu_stage(stage: str, release: str) -> List[Union[baseimage, raw]]:
    """Return the base image and the build arguments of a stage that starts from Ubuntu."""
    return common.start_stage(stage, UBUNTU[release]['image'], UBUNTU[release]['distro'])


def list_runtime_folders(*prefixes: str) -> List[str]:
    """Return the folders below the installation prefixes that an image needs at run time.

    Headers are not needed. The folders bin contain only fi_info (of libfabric) and cxi_stat (of
    libcxi): users inspect the network with these programs.
    """
    return [
        f'{prefix}/{folder}'
        for prefix in prefixes
        for folder in ('bin', 'lib', 'share')
        if folder != 'bin' or prefix in ('/opt/libcxi', '/opt/libfabric')
    ]


def unpack_sources(*keys: str) -> List[str]:
    """Return commands that verify source archives and unpack each archive to BUILD/NAME."""
    commands = common.verify_sources(*keys)
    for key in keys:
        commands += list_commands('unpack source', key=key, name=SOURCES[key]['name'])
    return commands


def build_source(
    key: str, prefix: str, options: Iterable[str], prepare: Iterable[str] = ()
) -> List[str]:
    """Return commands that build a source with configure and make, and install the result.

    options: options of configure.
    prepare: commands that run before configure.
    """
    name = SOURCES[key]['name']
    return [
        *unpack_sources(key),
        f'cd {BUILD}/{name}',
        *prepare,
        ' \\\n        '.join([f'./configure --prefix={prefix}', *options]),
        *list_commands('install source', name=name, prefix=prefix),
    ]


def add_loader_paths(*prefixes: str) -> shell:
    """Return the step that lets the loader find the libraries in the prefixes.

    The libraries are in the folder lib of each prefix. If two prefixes contain a library with the same
    name, the loader uses the library of the first prefix. A prefix may not exist yet at this step.
    """
    folders = ''.join(f'{prefix}/lib\\n' for prefix in prefixes)
    return common.run_commands(f"printf '{folders}' >/etc/ld.so.conf.d/slingshot.conf", 'ldconfig')


# --- ROCm ---


def add_rocm_repository(rocm: str) -> shell:
    """Return the step that adds AMD's packages of a ROCm release to apt."""
    return common.run_steps('add ROCm repository', rocm=rocm, ubuntu=ROCM[rocm]['ubuntu'])


def unpack_rocm_libraries(rocm: str) -> shell:
    """Return the step that unpacks the libraries of HIP and RCCL to /opt/rocm-VERSION.

    Compilers are excluded. The step records the packages in /opt/rocm-VERSION/share/dpkg, and
    build.installed.list_packages() reads these records.
    """
    return common.run_steps(
        'download ROCm libraries',
        'unpack packages',
        'link ROCm libraries',
        names=' '.join([*ROCM_LIBRARIES, *ROCM[rocm]['libraries']]),
        record=f'/opt/rocm-{rocm}/share/dpkg',
        rocm=rocm,
    )


# --- network ---


def build_hwloc(key: str = 'hwloc') -> shell:
    """Return the step that builds hwloc to /opt/hwloc, without support for GPUs.

    MPI uses hwloc to find the nearest network card.

    key: key of the hwloc source.
    """
    features = 'cairo cuda gl levelzero libudev libxml2 nvml opencl rsmi static'.split()
    return common.run_commands(
        *build_source(key, '/opt/hwloc', [f'--disable-{name}' for name in features])
    )


def build_xpmem() -> shell:
    """Return the step that builds the XPMEM library to /opt/xpmem.

    The kernel module is not built, because a container uses the host's kernel.
    """
    return common.run_commands(
        *build_source(
            'xpmem',
            '/opt/xpmem',
            ['--disable-kernel-module', '--disable-static'],
            prepare=['./autogen.sh'],
        )
    )


def build_libcxi(shs: str) -> shell:
    """Return the step that builds libcxi of an SHS release to /opt/libcxi.

    SHS is the Slingshot Host Software. GPU support is disabled, because only the test programs of
    libcxi use GPUs. Of the programs, only cxi_stat is kept, which lists the network cards; all other
    programs need libraries that the image does not have.
    """
    *headers, library = list_libcxi_sources(shs)
    return common.run_commands(
        *unpack_sources(*headers),
        'mkdir -p /opt/libcxi/include',
        *(f'cp -r {BUILD}/{name}/include/. /opt/libcxi/include/' for name in headers),
        # utils/cxi_dump_csrs.py reads these files from /usr/share.
        f'cp -r {BUILD}/{headers[0]}/share/. /usr/share/',
        *build_source(
            library,
            '/opt/libcxi',
            [
                *'--disable-static --without-cuda --without-rocm --without-systemd --without-ze'.split(),
                '--with-systemdsystemunitdir=/opt/libcxi/lib/systemd',
                '--with-udevrulesdir=/opt/libcxi/lib/udev',
                # libcxi sets -Werror, which fails with newer compilers. LUMI's easyconfig for
                # libcxi adds the same flag.
                'CPPFLAGS=-I/opt/libcxi/include',
                'CFLAGS="-O2 -Wno-error"',
            ],
            prepare=['./autogen.sh'],
        ),
        'find /opt/libcxi/bin -type f ! -name cxi_stat -delete',
        f'rm -rf {BUILD}/shs-*',
    )


def has_cxi(libfabric: str, cxi: bool) -> bool:
    """Return whether libfabric in an image is built with cxi, the provider for Slingshot.

    libfabric: version of libfabric.
    cxi: whether the image has libcxi.

    Public releases of libfabric before 1.21 do not contain the provider cxi.
    """
    return cxi and not is_newer('1.21', libfabric)


def build_libfabric(
    version: str,
    cxi: bool,
    gpu: Iterable[str],
    extra_providers: Sequence[str] = (),
    xpmem: bool = True,
    prepare: Iterable[str] = (),
) -> shell:
    """Return the step that builds libfabric to /opt/libfabric.

    cxi: whether /opt/libcxi exists.
    xpmem: whether /opt/xpmem exists.
    gpu: options of configure for GPU memory.
    extra_providers: names of additional providers, which are not built by default.
    prepare: commands that run before configure.
    """
    # Otherwise configure would enable each provider whose libraries exist in the build stage.
    options = ['--disable-static', *gpu]
    for name in ('efa', 'opx', 'psm2', 'psm3', 'usnic', 'verbs'):
        options += [] if name in extra_providers else [f'--disable-{name}']
    options += [f'--enable-{name}' for name in extra_providers]
    if xpmem and not is_newer('1.21', version):
        options.append('--enable-xpmem=/opt/xpmem')
    commands = list(prepare)
    if has_cxi(version, cxi):
        options += ['--enable-cxi=/opt/libcxi', 'CPPFLAGS=-I/opt/libcxi/include']
        if is_newer('2.1', version):
            # libcxi removed this flag in 479eb0c (December 2024), and libfabric in pull request
            # 10648.
            commands.append("sed -i 's/| CXI_MAP_IOVA_ALLOC//g' prov/cxi/include/cxip.h")
    return common.run_commands(
        *build_source(f'libfabric-{version}', '/opt/libfabric', options, commands)
    )


def list_libfabric_rocr_options(prefix: str) -> List[str]:
    """Return libfabric's configure options for AMD GPUs; libfabric opens ROCr at run time."""
    return [f'--with-rocr={prefix}', '--enable-rocr-dlopen']


def list_libfabric_cuda_options(prefix: str, gdrcopy: bool = True) -> List[str]:
    """Return libfabric's configure options for CUDA memory; libfabric opens CUDA at run time.

    gdrcopy: whether /opt/gdrcopy exists.
    """
    return [
        f'--with-cuda={prefix}',
        '--enable-cuda-dlopen',
        *(['--with-gdrcopy=/opt/gdrcopy', '--enable-gdrcopy-dlopen'] if gdrcopy else []),
    ]


# --- MPI ---


def mpich_uses_gpu(version: str) -> bool:
    """Return whether a release of MPICH supports HIP and CUDA, as releases from 4.0 on do."""
    return not is_newer('4.0', version)


def list_mpich_gpu_options(kind: str, prefix: str, *gpus: str) -> Tuple[List[str], List[str]]:
    """Return two lists of MPICH's configure options for GPUs.

    The options of the first list disable all GPUs except `kind`. The options of the second list
    enable GPUs of the kind `kind`.

    kind: 'hip' or 'cuda'.
    gpus: compile targets such as 'gfx90a', or compute capabilities such as '80'.
    """
    other = 'cuda' if kind == 'hip' else 'hip'
    return [f'--without-{other}', '--without-ze'], [
        f'--with-{kind}={prefix}',
        f"--with-{kind}-sm={','.join(gpus)}",
    ]


def build_mpich(
    version: str,
    gpu: Tuple[List[str], List[str]],
    fabric: str = '/opt/libfabric',
    xpmem: bool = True,
    prepare: Iterable[str] = (),
) -> shell:
    """Return the step that builds MPICH to /opt/mpich, with GPU support for 4.0 and newer.

    MPICH 3.1 uses TCP without libfabric (nemesis), as in the published image. The options name the GPU
    models. Otherwise Yaksa, which is a part of MPICH, would search for a GPU in the build machine, or
    compile for every model that Yaksa supports.

    gpu: result of list_mpich_gpu_options().
    fabric: prefix of the libfabric with which MPICH is linked.
    xpmem: whether /opt/xpmem exists.
    prepare: commands that run before configure.
    """
    disable_options, enable_options = gpu
    if is_newer('3.4', version):
        options = ['--with-device=ch3:nemesis']
    else:
        options = [
            '--with-device=ch4:ofi',
            f'--with-libfabric={fabric}',
            '--without-ucx',
            *disable_options,
        ]
    if mpich_uses_gpu(version):
        options += [
            '--with-hwloc=/opt/hwloc',
            *(['--with-xpmem=/opt/xpmem'] if xpmem else []),
            *enable_options,
            '--enable-fast=all,O3',
        ]
    elif not is_newer('3.4', version):
        options += ['--with-hwloc-prefix=/opt/hwloc']
    return common.run_commands(
        *build_source(
            f'mpich-source-{version}', '/opt/mpich', ['--disable-fortran', *options], prepare
        ),
        *list_commands('reject RPATH', prefixes='/opt/mpich'),
    )


def build_gdrcopy() -> shell:
    """Return the step that builds the GDRCopy library to /opt/gdrcopy."""
    return common.run_commands(*unpack_sources('gdrcopy'), *list_commands('build GDRCopy'))


def build_ucx() -> shell:
    """Return the step that builds UCX to /opt/ucx, for InfiniBand and OpenSHMEM.

    Debugging checks are disabled.
    """
    return common.run_commands(
        *build_source(
            'ucx',
            '/opt/ucx',
            (
                f'--with-cuda={CUDA_PREFIX} --with-gdrcopy=/opt/gdrcopy --with-xpmem=/opt/xpmem '
                '--without-go --without-java --without-rocm --enable-mt --disable-assertions '
                '--disable-debug --disable-logging --disable-params-check --disable-static'
            ).split(),
        )
    )


def build_pmix() -> shell:
    """Return the step that builds PMIx to /opt/pmix.

    Slurm connects the ranks of a job step through PMIx. PMIx is built without MUNGE. Slurm and PMIx
    then use the security type "native", which relies on the operating system.
    """
    return common.run_commands(
        *build_source(
            'pmix',
            '/opt/pmix',
            ['--with-hwloc=/opt/hwloc', '--with-libevent', '--without-munge', '--disable-static'],
        )
    )


CUDA_PREFIX = '/usr/local/cuda'
STUBS, STUBS_CONF = f'{CUDA_PREFIX}/lib64/stubs', '/etc/ld.so.conf.d/zz-cuda-stubs.conf'


def add_cuda_stubs() -> shell:
    """Return the step that makes CUDA's stub libraries available to the loader.

    With the stubs, programs that are linked with libcuda.so.1 start on a build machine, which has
    no GPU driver.
    """
    return common.run_commands(f'echo {STUBS} >{STUBS_CONF}', 'ldconfig')


def remove_cuda_stubs() -> shell:
    """Return the step that removes CUDA's stub libraries, which add_cuda_stubs() has added.

    Programs in a later stage or in the final image must load the GPU driver instead of the stubs.
    """
    return common.run_commands(f'rm -f {STUBS_CONF} {STUBS}/lib*.so.1', 'ldconfig')


#: Components of Open MPI that are linked with CUDA: separate files, which Open MPI opens when
#: needed
OPENMPI_CUDA_PARTS = 'accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm'


def build_openmpi(
    key: str = 'openmpi-source',
    network: Sequence[str] = ('ucx', 'xpmem'),
    pmix: str = '/opt/pmix',
    oshmem: bool = True,
) -> shell:
    """Return the step that builds Open MPI to /opt/openmpi.

    The CUDA components are separate files, so that libmpi.so loads without a CUDA driver
    (docs.open-mpi.org, "How do I build Open MPI with CUDA-aware support?"). The option for libevent
    names no folder: if the option named /usr, configure would search only /usr/lib, but Debian and
    Ubuntu have libevent in another folder.

    key: key of the source.
    network: ['ucx'], ['xpmem'], both or []: the folders below /opt with which Open MPI is built.
    pmix: prefix of PMIx, or 'internal' for the PMIx in Open MPI's archive.
    oshmem: whether to build OpenSHMEM, which needs UCX.
    """
    ucx_options, xpmem_options = (
        [f'--with-{name}=/opt/{name}' if name in network else f'--with-{name}=no']
        for name in ('ucx', 'xpmem')
    )
    prefixes = ['/opt/openmpi']
    prefixes += [pmix] if pmix != 'internal' else []
    prefixes += ['/opt/ucx'] if 'ucx' in network else []
    return common.run_commands(
        *build_source(
            key,
            '/opt/openmpi',
            [
                '--with-ofi=/opt/libfabric',
                *ucx_options,
                f'--with-pmix={pmix}',
                *'--with-hwloc=/opt/hwloc --with-libevent=external --with-prrte=internal'.split(),
                *xpmem_options,
                '--with-slurm',
                f'--with-cuda={CUDA_PREFIX}',
                f'--with-cuda-libdir={STUBS}',
                f'--enable-mca-dso={OPENMPI_CUDA_PARTS}',
                '--enable-oshmem' if oshmem else '--disable-oshmem',
                '--enable-mpi-fortran=no',
                '--disable-static',
            ],
        ),
        *list_commands('reject RPATH', prefixes=' '.join(prefixes)),
    )


# --- RCCL's plugin and the benchmarks ---


def build_rccl_plugin(name: str, rocm: str) -> shell:
    """Return the step that builds the RCCL plugin for libfabric to /opt/rccl-plugin.

    name: 'aws-ofi-nccl', which supports ROCm since version 1.18, or 'aws-ofi-rccl', the former fork of
    aws-ofi-nccl for ROCm, which the published images contain.
    """
    prefix, gpu, prepare = '/opt/rccl-plugin', f'/opt/rocm-{rocm}', []
    options = f'--with-rocm={gpu} --with-hwloc=/opt/hwloc --disable-tests'
    if name == 'aws-ofi-rccl':
        prepare = ['./autogen.sh']
        options = (
            f'--with-hip={gpu} --with-rccl={gpu} --disable-tests CPPFLAGS=-D__HIP_PLATFORM_AMD__=1'
        )
    options = f'--with-libfabric=/opt/libfabric {options}'
    return common.run_commands(
        *build_source(name, prefix, options.split(), prepare),
        f'test -e {prefix}/lib/librccl-net.so',
        *list_commands('reject RPATH', prefixes=prefix),
    )


def list_osu_rocm_options(prefix: str) -> List[str]:
    """Return the configure options with which the OSU benchmarks support HIP and RCCL."""
    return [
        f'--enable-rocm --with-rocm={prefix}',
        format_rccl_options(prefix),
        'CFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1"',
        'CXXFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1"',
    ]


def list_osu_cuda_options() -> List[str]:
    """Return the configure options with which the OSU benchmarks support CUDA.

    On a build machine, CUDA's stub libraries replace the libraries of the GPU driver.
    """
    return [
        f'--enable-cuda --with-cuda-include={CUDA_PREFIX}/include --with-cuda-libpath={CUDA_PREFIX}/lib64',
        'CFLAGS=-O2',
        'CXXFLAGS=-O2',
        f'LDFLAGS=-L{STUBS}',
        'LIBS="-lcuda -lnvidia-ml"',
    ]


# --- the image ---

#: MPI -> command that succeeds if this MPI has the version {}
VERSION_CHECKS = {
    'mpich': '/opt/mpich/bin/mpichversion | grep "MPICH Version:[[:space:]]*{}$"',
    'openmpi': '/opt/openmpi/bin/ompi_info --version | grep -x "Open MPI v{}"',
}
CXI_CHECK = 'ldd /opt/libfabric/lib/libfabric.so.1 | grep "libcxi.so.1 => /opt/libcxi/"'


def add_stack_test(
    libfabric_version: str,
    version: str,
    mpiexec: str,
    programs: str = "/opt/osu/libexec -type f -name 'osu_*'",
    checks: Iterable[str] = (),
    driver: Sequence[str] = (),
) -> raw:
    """Return the %test section, which stops the build if the image contradicts its labels.

    version: command that succeeds if MPI has the version in the labels.
    mpiexec: command that starts two ranks over TCP and without GPU memory, because a build machine
    has neither Slingshot nor a GPU.
    programs: arguments of `find` that select all files that are linked with MPI.
    checks: further commands that must succeed.
    driver: names of the libraries of the GPU driver; if the build machine lacks these libraries,
    the test starts no program.
    """
    allowed = f' | grep -vE "{"|".join(driver)}"' if driver else ''
    start_commands = [version, f'{mpiexec} {LATENCY}']
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
                *(f'    {line}' for line in start_commands),
                'fi',
            ]
            if driver
            else start_commands
        ),
    ]
    return common.render_test(lines)


# --- GPU libraries and compilers from Debian packages (container-recipes/debian.py) ---

LIBRARIES = '/usr/lib/x86_64-linux-gnu'


def start_build_stage(stage: str, release: str, *tools: str) -> List[Any]:
    """Return the base image, the build arguments and the packages of a stage with compilers.

    tools: names of additional Debian packages to install.
    """
    return [
        *common.start_debian_stage(stage, release),
        common.install_packages(*TOOLS, 'xz-utils', *tools),
    ]


def install_gpu_runtime(gpu: str) -> shell:
    """Return the step that installs GPU libraries, and the link by which libfabric opens them."""
    facts = GPU_OF_DEBIAN[gpu]
    name, target = facts['opened']
    return common.run_commands(
        'apt-get -q update',
        f'{common.APT_INSTALL} {" ".join(sorted([*facts["packages"], *facts["more_packages"]]))}',
        common.APT_CLEAN_IMAGE,
        f'ln -s {LIBRARIES}/{target} /opt/libfabric/lib/{name}',
    )


def check_gpu_libraries(gpu: str) -> List[str]:
    """Return commands that stop the build if a GPU library is wrong or fails to load."""
    facts = GPU_OF_DEBIAN[gpu]
    return [
        *(
            f"dpkg-query -W -f '${{Version}}' {name} | grep '^{release}'"
            for name, release in facts['packages'].items()
        ),
        # LD_BIND_NOW makes the loader resolve every symbol of the library.
        f'for name in {facts["libraries"]} {facts["opened"][0]} libfabric.so.1; do',
        '    LD_BIND_NOW=1 python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$name"',
        'done',
    ]

"""Building blocks of the images for Slingshot 11 (lumi.py, alps.py). Each function returns HPCCM primitives.

Everything is built from sources/ into a prefix of its own below /opt, so that a stage can be kept and used in several
images: its text depends on nothing but what it is called with. What a stage needs of an earlier one is copied.

    /opt/hwloc, /opt/xpmem, /opt/libcxi, /opt/libfabric    the network
    /opt/mpich or /opt/openmpi (with /opt/ucx, /opt/pmix)  MPI
    /opt/rccl-plugin                                       how RCCL reaches libfabric
    /opt/osu                                               the benchmarks
    /opt/rocm-VERSION                                      AMD's libraries, from AMD's packages

The images set no variable: the module that runs them does. Nowhere is an RPATH, and no LD_LIBRARY_PATH is set, so a
library of the host that a module puts there comes first. CXI_FORK_SAFE above all is not set: libfabric would copy every
small message from GPU memory by a slow path (docs/compare.md).
"""

from hpccm.primitives import baseimage, raw, shell

from osu_container.core.data.sites.cray import with_rccl
from osu_container.recipes import common
from osu_container.recipes.common import BUILD, FILES
from osu_container.recipes.images import ALPS_PARTS, ALPS_SHS, NEWEST_LIBFABRIC, libcxi_sources, libcxi_version
from osu_container.recipes.versions import ROCM, SOURCES, UBUNTU, newer

# What every build needs. python3: libcxi makes a header with it. libtool-bin: Yaksa writes the release of `libtool`
# beside each kernel (hiplt.sh, cudalt.sh), and without that libtool refuses the kernel as none of its own.
TOOLS = ['autoconf', 'automake', 'bzip2', 'ca-certificates', 'file', 'g++', 'gcc', 'libc6-dev', 'libtool',
         'libtool-bin', 'make', 'perl', 'pkg-config', 'python3']

# Debian names of the libraries that ours are linked with: to build, and to run. Names with t64 at their end, as some
# have on noble, are given without: apt finds them.
NETWORK_BUILD = ['libconfig-dev', 'libcurl4-openssl-dev', 'libfuse-dev', 'libjson-c-dev', 'libnl-3-dev', 'libnuma-dev',
                 'libpciaccess-dev', 'libsensors-dev', 'libuv1-dev', 'libyaml-dev']
NETWORK_RUN = ['libcurl4', 'libjson-c5', 'libnl-3-200', 'libnuma1', 'libpciaccess0']
ROCM_RUN = ['libdrm-amdgpu1', 'libdrm2', 'libelf1', 'libnuma1']

# ROCm's packages with the libraries that run HIP and RCCL, and with what is needed to link with them. Nothing of them
# is installed with its dependencies: hip-runtime-amd asks for the whole compiler (ROCm/ROCm#3306).
ROCM_LIBRARIES = ['comgr', 'hip-dev', 'hip-runtime-amd', 'hsa-rocr', 'hsa-rocr-dev', 'rccl', 'rccl-dev', 'rocm-core',
                  'rocm-smi-lib']
ROCM_LICENCES = {'MIT', 'NCSA', 'BSD-3-Clause', 'Apache-2.0 WITH LLVM-exception'}


def older(version, other):
    """Return whether a version such as '1.22.0' is older than the other."""
    return newer(other, version)


def base(stage, image, distro, bootstrap='docker', name='BASE'):
    """Return base image and build arguments of a stage: from a registry, or a folder or SIF by BOOTSTRAP and BASE.

    distro: HPCCM's word for the distribution. bootstrap: where image is, in Apptainer's words. name: of the argument.
    """
    return [baseimage(image=common.argument(name, image), _bootstrap=common.argument('BOOTSTRAP', bootstrap),
                      _as=stage, _distro=distro, _docker_env=False),
            common.arguments(**{'BOOTSTRAP': bootstrap, name: image})]


def ubuntu(stage, release):
    """Return base image and build arguments of a stage with an Ubuntu release of versions.py."""
    return base(stage, UBUNTU[release]['image'], UBUNTU[release]['distro'])


def packages(*names):
    """Return the step that installs Debian packages with what they depend on, unless the base has them already."""
    wanted = ' '.join(sorted(set(names)))
    return shell(chdir=False, commands=[
        f'dpkg -s {wanted} >/dev/null 2>&1 || (apt-get -q update && {common.APT_INSTALL} {wanted} && '
        f'{common.APT_CLEAN})'])


def to_run(*prefixes):
    """Return the folders of prefixes that an image needs: no headers. fi_info and cxi_stat show what the network is."""
    return [f'{prefix}/{folder}' for prefix in prefixes for folder in ('bin', 'lib', 'share')
            if folder != 'bin' or prefix in ('/opt/libcxi', '/opt/libfabric')]


def checked(*keys):
    """Return the commands that stop the build when a source is not the one that is meant.

    Where no sum of the archive is known, its commit is compared: `git archive`, by which GitHub makes it, writes the
    commit into the first header of the tar.
    """
    commands = []
    for key in keys:
        source = SOURCES[key]
        if source.get('commit'):
            commands.append(f'gzip -cd {FILES}/{source["file"]} | head -c 1024 | grep -aq "comment={source["commit"]}"')
        if source['sha256']:
            commands.append(common.checked(key))
    return commands


def unpacked(*keys):
    """Return the commands that check sources and unpack each to a folder of its name in the build folder."""
    commands = checked(*keys)
    for key in keys:
        folder = f'{BUILD}/{SOURCES[key]["name"]}'
        commands += [f'mkdir -p {folder}',
                     f'tar -xf {FILES}/{SOURCES[key]["file"]} --strip-components=1 --no-same-owner -C {folder}']
    return commands


def from_source(key, prefix, options, prepare=(), make='make -j "$(nproc)"', install='make install'):
    """Return the commands that build a source with GNU's tools into a prefix. prepare: commands before configure."""
    return [
        *unpacked(key),
        f'cd {BUILD}/{SOURCES[key]["name"]}',
        *prepare,
        ' \\\n        '.join([f'./configure --prefix={prefix}', *options]),
        make,
        install,
        f'mkdir -p {prefix}/share/licenses',
        'for text in COPYING* COPYRIGHT* LICEN[CS]E*; do '
        f'if [ -f "$text" ]; then cp "$text" {prefix}/share/licenses/; fi; done',
        # Nothing is linked statically. libtool's files would only say so in another way.
        f"find {prefix} '(' -name '*.a' -o -name '*.la' ')' -delete",
        'cd /',
        f'rm -rf {BUILD}/{SOURCES[key]["name"]} {prefix}/share/doc {prefix}/share/man',
        'ldconfig']


def found_by_loader(*prefixes):
    """Return the step after which the loader finds our libraries with an empty LD_LIBRARY_PATH, in builds as well.

    The first of two libraries of one name is found. A prefix need not be there yet.
    """
    folders = ''.join(f'{prefix}/lib\\n' for prefix in prefixes)
    return shell(chdir=False, commands=[f"printf '{folders}' >/etc/ld.so.conf.d/slingshot.conf", 'ldconfig'])


def no_rpath(*prefixes):
    """Return the command that stops the build if a library or program of ours has an RPATH.

    RPATH would win over LD_LIBRARY_PATH, and an injected library would have no effect. RUNPATH does not.
    """
    return (f"if find {' '.join(prefixes)} -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {{}} + "
            "2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi")


# --- ROCm ---

def rocm_repository(rocm):
    """Return the step that makes AMD's packages of one ROCm release known to apt, and preferred to Ubuntu's.

    The folder of the release holds no other one: the release pins the packages, and AMD's key signs their sums.
    """
    release = ROCM[rocm]['ubuntu']
    key = '/etc/apt/keyrings/rocm.asc'
    line = f'deb [arch=amd64 signed-by={key}] https://repo.radeon.com/%s {release} main\\n'
    return shell(chdir=False, commands=[
        *checked('rocm-key'),
        f'install -D -m 644 {FILES}/{SOURCES["rocm-key"]["file"]} {key}',
        f"printf '{line}' rocm/apt/{rocm} amdgpu/{rocm}/ubuntu >/etc/apt/sources.list.d/rocm.list",
        "printf 'Package: *\\nPin: release o=repo.radeon.com\\nPin-Priority: 600\\n' >/etc/apt/preferences.d/rocm"])


def rocm_libraries(rocm):
    """Return the step that unpacks the libraries of HIP and RCCL to /opt/rocm-VERSION, without compilers.

    What was unpacked is recorded in share/dpkg there, so that the list of packages has it.
    """
    prefix = f'/opt/rocm-{rocm}'
    names = ' '.join([*ROCM_LIBRARIES, *ROCM[rocm]['libraries']])
    return shell(chdir=False, commands=[
        f'mkdir -p {BUILD}/rocm',
        f'cd {BUILD}/rocm',
        'apt-get -q update',
        f'apt-get -q -o APT::Sandbox::User=root download {names}',
        *common.unpacked_packages(f'{prefix}/share/dpkg'),
        # libfabric opens it by this name, which only some releases have in the package of the library
        f'if [ ! -e {prefix}/lib/libhsa-runtime64.so ]; then '
        f'ln -s libhsa-runtime64.so.1 {prefix}/lib/libhsa-runtime64.so; fi',
        'cd /',
        f'rm -rf {BUILD}/rocm /var/lib/apt/lists/*'])


# --- network ---

def hwloc(key='hwloc'):
    """Return the step that builds hwloc to /opt/hwloc: MPI asks it which network card is near. It needs no GPU.

    key: of its source.
    """
    without = ('cairo', 'cuda', 'gl', 'levelzero', 'libudev', 'libxml2', 'nvml', 'opencl', 'rsmi', 'static')
    return shell(chdir=False, commands=from_source(key, '/opt/hwloc', [f'--disable-{name}' for name in without]))


def xpmem():
    """Return the step that builds the library of XPMEM to /opt/xpmem; the kernel module is the host's."""
    return shell(chdir=False, commands=from_source(
        'xpmem', '/opt/xpmem', ['--disable-kernel-module', '--disable-static'], prepare=['./autogen.sh']))


def libcxi(shs):
    """Return the step that builds libcxi of a release of SHS to /opt/libcxi, with the headers of card and driver.


    No GPU: only its test programs would use one, libcxi.so does not. Of the programs cxi_stat stays, which shows the
    cards; the others need libraries that the image has not.
    """
    *headers, library = libcxi_sources(shs)
    return shell(chdir=False, commands=[
        *unpacked(*headers),
        'mkdir -p /opt/libcxi/include',
        *(f'cp -r {BUILD}/{name}/include/. /opt/libcxi/include/' for name in headers),
        # where utils/cxi_dump_csrs.py looks for it
        f'cp -r {BUILD}/{headers[0]}/share/. /usr/share/',
        *from_source(library, '/opt/libcxi', [
            '--disable-static', '--without-cuda', '--without-rocm', '--without-systemd', '--without-ze',
            '--with-systemdsystemunitdir=/opt/libcxi/lib/systemd', '--with-udevrulesdir=/opt/libcxi/lib/udev',
            # Its own -Werror knows the compilers of its time only; LUMI's easyconfig of it does the same.
            'CPPFLAGS=-I/opt/libcxi/include', 'CFLAGS="-O2 -Wno-error"'], prepare=['./autogen.sh']),
        'find /opt/libcxi/bin -type f ! -name cxi_stat -delete',
        f'rm -rf {BUILD}/shs-*'])


def has_cxi(libfabric, cxi):
    """Return whether a libfabric release gets its provider for Slingshot. Releases before 1.21 have none in public."""
    return cxi and not older(libfabric, '1.21')


def libfabric(version, cxi, gpu, also=(), xpmem=True, prepare=()):
    """Return the step that builds libfabric to /opt/libfabric.

    cxi: whether /opt/libcxi is there. gpu: options for memory of GPUs. also: names of more providers. xpmem: whether
    /opt/xpmem is there. prepare: commands before configure.
    """
    # Providers of other networks, which configure would take where it finds their libraries.
    unwanted = [name for name in ('efa', 'opx', 'psm2', 'psm3', 'usnic', 'verbs') if name not in also]
    options = ['--disable-static', *gpu, *(f'--disable-{name}' for name in unwanted),
               *(f'--enable-{name}' for name in also)]
    if xpmem and not older(version, '1.21'):
        options.append('--enable-xpmem=/opt/xpmem')
    prepare = list(prepare)
    if has_cxi(version, cxi):
        options += ['--enable-cxi=/opt/libcxi', 'CPPFLAGS=-I/opt/libcxi/include']
        if older(version, '2.1'):
            # libcxi dropped the flag (479eb0c, December 2024), libfabric's code followed (its pull request 10648).
            prepare.append("sed -i 's/| CXI_MAP_IOVA_ALLOC//g' prov/cxi/include/cxip.h")
    return shell(chdir=False, commands=from_source(f'libfabric-{version}', '/opt/libfabric', options, prepare))


def rocr(prefix):
    """Return libfabric's options for GPU memory by ROCr of a prefix, which is opened when needed and not linked."""
    return [f'--with-rocr={prefix}', '--enable-rocr-dlopen']


def cuda(prefix, gdrcopy=True):
    """Return libfabric's options for GPU memory by CUDA of a prefix, opened when needed. gdrcopy: in /opt/gdrcopy."""
    return [f'--with-cuda={prefix}', '--enable-cuda-dlopen',
            *(['--with-gdrcopy=/opt/gdrcopy', '--enable-gdrcopy-dlopen'] if gdrcopy else [])]


# --- MPI ---

def mpich_uses_gpu(version):
    """Return whether an MPICH release can be built with HIP; 3.x cannot."""
    return not older(version, '4.0')


def hip(prefix, *gpus):
    """Return MPICH's options for GPU memory by HIP of a prefix. GPUs, such as 'gfx90a', are named: see mpich()."""
    return ['--without-cuda', '--without-ze'], [f'--with-hip={prefix}', f"--with-hip-sm={','.join(gpus)}"]


def cuda_for_mpich(prefix, *gpus):
    """Return MPICH's options for GPU memory by CUDA of a prefix. gpus: compute capabilities, such as '80'."""
    return ['--without-hip', '--without-ze'], [f'--with-cuda={prefix}', f"--with-cuda-sm={','.join(gpus)}"]


def mpich(version, gpu, fabric='/opt/libfabric', xpmem=True, prepare=(), environment=()):
    """Return the step that builds MPICH to /opt/mpich, from 4.0 on for memory of GPUs.

    3.1 sends over TCP by itself (nemesis), as in the published image. GPUs are named: Yaksa in MPICH would look for
    one, or compile for every GPU that it has heard of.

    gpu: options of hip() or cuda_for_mpich(). fabric: prefix of the libfabric that it is linked with. xpmem: whether
    /opt/xpmem is there. prepare: commands before configure. environment: variables for configure, as NAME=VALUE.
    """
    prefix = '/opt/mpich'
    without, with_gpu = gpu
    if older(version, '3.4'):
        options = ['--with-device=ch3:nemesis']
    else:
        options = ['--with-device=ch4:ofi', f'--with-libfabric={fabric}', '--without-ucx', *without]
    if mpich_uses_gpu(version):
        options += ['--with-hwloc=/opt/hwloc', *(['--with-xpmem=/opt/xpmem'] if xpmem else []), *with_gpu,
                    '--enable-fast=all,O3', *environment]
    elif not older(version, '3.4'):
        options += ['--with-hwloc-prefix=/opt/hwloc']
    return shell(chdir=False, commands=[
        *from_source(f'mpich-source-{version}', prefix, ['--disable-fortran', *options], prepare), no_rpath(prefix)])


def gdrcopy():
    """Return the step that builds the library of GDRCopy to /opt/gdrcopy: small copies from GPU memory by the CPU."""
    where = 'prefix=/opt/gdrcopy libdir=/opt/gdrcopy/lib CUDA=/usr/local/cuda'
    return shell(chdir=False, commands=[
        *unpacked('gdrcopy'),
        f'cd {BUILD}/gdrcopy',
        f'make {where} lib',
        f'make {where} lib_install',
        'test -e /opt/gdrcopy/lib/libgdrapi.so.2',
        'mkdir -p /opt/gdrcopy/share/licenses',
        'cp LICENSE /opt/gdrcopy/share/licenses/',
        'cd /',
        f'rm -rf {BUILD}/gdrcopy'])


def ucx():
    """Return the step that builds UCX to /opt/ucx, for InfiniBand and OpenSHMEM. Checks for debugging are left out."""
    return shell(chdir=False, commands=from_source('ucx', '/opt/ucx', [
        f'--with-cuda={CUDA_PREFIX}', '--with-gdrcopy=/opt/gdrcopy', '--with-xpmem=/opt/xpmem', '--without-go',
        '--without-java', '--without-rocm', '--enable-mt', '--disable-assertions', '--disable-debug',
        '--disable-logging', '--disable-params-check', '--disable-static']))


def pmix():
    """Return the step that builds PMIx to /opt/pmix, by which Slurm tells the ranks of each other.

    Without MUNGE: Slurm's side takes the security of the operating system (native) then.
    """
    return shell(chdir=False, commands=from_source('pmix', '/opt/pmix', [
        '--with-hwloc=/opt/hwloc', '--with-libevent', '--without-munge', '--disable-static']))


CUDA_PREFIX = '/usr/local/cuda'
STUBS, STUBS_CONF = f'{CUDA_PREFIX}/lib64/stubs', '/etc/ld.so.conf.d/zz-cuda-stubs.conf'


def stubs():
    """Return the step after which programs linked with libcuda.so.1 start in a build, where no driver is."""
    return shell(chdir=False, commands=[f'echo {STUBS} >{STUBS_CONF}', 'ldconfig'])


def no_stubs():
    """Return the step that undoes stubs(): what is built upon this must not find them in place of the driver."""
    return shell(chdir=False, commands=[f'rm -f {STUBS_CONF} {STUBS}/lib*.so.1', 'ldconfig'])


#: Parts of Open MPI that are files to be opened when needed: they are linked with CUDA
OPENMPI_CUDA_PARTS = 'accelerator-cuda,btl-smcuda,rcache-gpusm,rcache-rgpusm'


def openmpi(key='openmpi-source', network=('ucx', 'xpmem'), pmix='/opt/pmix', oshmem=True):
    """Return the step that builds Open MPI to /opt/openmpi, with the CUDA parts as files that are opened when needed.

    So libmpi.so loads where no CUDA driver is (docs.open-mpi.org, "How do I build Open MPI with CUDA-aware support?").

    libevent is named without its folder: of /usr, configure looks into /usr/lib alone, where Debian and Ubuntu have
    none (a build with Debian's 5.0.7 ended there).

    key: of its source. network: what is there of UCX and XPMEM, each in /opt. pmix: prefix of PMIx, or 'internal' for
    the one of its own archive. oshmem: with OpenSHMEM, which needs UCX.
    """
    ucx_, xpmem_ = ([f'--with-{name}=/opt/{name}' if name in network else f'--with-{name}=no']
                    for name in ('ucx', 'xpmem'))
    return shell(chdir=False, commands=[
        *from_source(key, '/opt/openmpi', [
            '--with-ofi=/opt/libfabric', *ucx_, f'--with-pmix={pmix}', '--with-hwloc=/opt/hwloc',
            '--with-libevent=external', '--with-prrte=internal', *xpmem_, '--with-slurm',
            f'--with-cuda={CUDA_PREFIX}', f'--with-cuda-libdir={STUBS}',
            f'--enable-mca-dso={OPENMPI_CUDA_PARTS}', '--enable-oshmem' if oshmem else '--disable-oshmem',
            '--enable-mpi-fortran=no', '--disable-static']),
        no_rpath('/opt/openmpi', *([pmix] if pmix != 'internal' else []), *(['/opt/ucx'] if 'ucx' in network else []))])


# --- RCCL's plugin and the benchmarks ---

def rccl_plugin(name, rocm):
    """Return the step that builds the plugin by which RCCL uses libfabric to /opt/rccl-plugin, as lib/librccl-net.so.

    name: aws-ofi-nccl (ROCm from 1.18 on), or aws-ofi-rccl, its former fork, as in the published images.
    """
    prefix, gpu = '/opt/rccl-plugin', f'/opt/rocm-{rocm}'
    if name == 'aws-ofi-nccl':
        commands = from_source(name, prefix, [
            '--with-libfabric=/opt/libfabric', f'--with-rocm={gpu}', '--with-hwloc=/opt/hwloc', '--disable-tests'])
    else:
        commands = from_source(name, prefix, [
            '--with-libfabric=/opt/libfabric', f'--with-hip={gpu}', f'--with-rccl={gpu}', '--disable-tests',
            'CPPFLAGS=-D__HIP_PLATFORM_AMD__=1'], prepare=['./autogen.sh'])
    return shell(chdir=False, commands=[*commands, f'test -e {prefix}/lib/librccl-net.so', no_rpath(prefix)])


def osu(mpi, options):
    """Return the step that builds the OSU Micro-Benchmarks to /opt/osu with the compilers of an MPI's prefix."""
    return shell(chdir=False, commands=[
        *from_source('osu', '/opt/osu', [common.OSU_OPTIONS, f'CC={mpi}/bin/mpicc', f'CXX={mpi}/bin/mpicxx', *options]),
        *common.OSU_BIN, no_rpath('/opt/osu')])


def osu_with_rocm(prefix):
    """Return options of the benchmarks for GPU memory by HIP of a prefix, and for the programs that measure RCCL."""
    return [f'--enable-rocm --with-rocm={prefix}', with_rccl(prefix),
            'CFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1"', 'CXXFLAGS="-O2 -D__HIP_PLATFORM_AMD__=1"']


def osu_with_cuda():
    """Return options of the benchmarks for GPU memory by CUDA; the driver's libraries are stubs in a build."""
    return [f'--enable-cuda --with-cuda-include={CUDA_PREFIX}/include --with-cuda-libpath={CUDA_PREFIX}/lib64',
            'CFLAGS=-O2', 'CXXFLAGS=-O2', f'LDFLAGS=-L{STUBS}', 'LIBS="-lcuda -lnvidia-ml"']


# --- parts of the image for Alps, a stage each ---

ALPS_BUILD = [*TOOLS, *NETWORK_BUILD, 'libevent-dev', 'libibverbs-dev', 'zlib1g-dev']
ALPS_RUN = [*NETWORK_RUN, 'ibverbs-providers', 'libevent-core-2.1-7', 'libevent-pthreads-2.1-7', 'libibverbs1',
            'zlib1g']
ALPS_FOUND = ['/opt/openmpi', '/opt/pmix', '/opt/ucx', *ALPS_PARTS['network']]


def alps_part(part):
    """Return the steps that build one of ALPS_PARTS; the tools and the parts before it are there."""
    steps = {
        'network': [hwloc(), xpmem(), gdrcopy(), libcxi(ALPS_SHS), libfabric(
            NEWEST_LIBFABRIC, True, cuda(CUDA_PREFIX), also=['efa', 'lnx'])],
        'mpi': [stubs(), ucx(), pmix(), openmpi(), no_stubs()],
        'benchmarks': [stubs(), osu('/opt/openmpi', osu_with_cuda()), no_stubs()],
    }
    return [common.files(*alps_sources(part)), found_by_loader(*ALPS_FOUND), *steps[part]]


def alps_sources(*parts):
    """Return the keys of the sources of some of ALPS_PARTS."""
    return [key for part in parts for keys in ALPS_PARTS[part].values() for key in keys]


def alps_description(cuda):
    """Return the labels of the image, the time of its build, and its test."""
    release = SOURCES['openmpi-source']['version']
    return [common.creation_time(), common.labels(
        f'Open MPI {release}', f"{SOURCES['osu']['version']} C",
        licences(*alps_sources(*ALPS_PARTS), also=['LicenseRef-NVIDIA-CUDA']), NEWEST_LIBFABRIC,
        libcxi_version(ALPS_SHS), f'CUDA {cuda}', title='OSU Micro-Benchmarks with {mpi} for Alps',
        entrypoint='none'), test(
            NEWEST_LIBFABRIC, True, f'/opt/openmpi/bin/ompi_info --version | grep -x "Open MPI v{release}"',
            f'/opt/openmpi/bin/mpirun --allow-run-as-root -n 2 {LATENCY} -m 1:8 -i 10 -x 2',
            driver=('libcuda.so.1', 'libnvidia-ml.so.1'))]


# --- the image ---

LATENCY = '/opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_latency'


def licences(*keys, also=()):
    """Return the SPDX expression of an image with these sources, whose headers stay in the build."""
    parts = {*also}
    for key in sorted(key for key in {*keys} if not key.startswith(('shs-cassini-headers', 'shs-cxi-driver'))):
        text = SOURCES[key]['licence']
        parts.add(f'({text})' if ' OR ' in text else text)
    return ' AND '.join(sorted(parts))


def test(libfabric_version, cxi, version, run, driver=()):
    """Return the section that stops the build of an image which does not work or is not what its labels say.

    cxi: whether libfabric must have the provider. version: command line that succeeds if MPI is the one of the labels.
    run: command line of osu_latency on two ranks, over TCP and without GPU memory: a build machine has neither network
    nor GPU. driver: libraries of the host's GPU driver, which may be missing here; then nothing is run.
    """
    allowed = f' | grep -vE "{"|".join(driver)}"' if driver else ''
    started = f'if ldconfig -p | grep -q "{driver[0]}"; then {run}; fi' if driver else run
    lines = [
        'set -e',
        "programs=$(find /opt/osu/libexec -type f -name 'osu_*')",
        'test -n "$programs"',
        "libraries=$(find /opt/*/lib -name '*.so' ! -path '/opt/rocm*')",
        'for file in $programs $libraries; do',
        f'    if ldd "$file" | grep "not found"{allowed}; then echo "$file: library not found" >&2; exit 1; fi',
        'done',
        f'/opt/libfabric/bin/fi_info --version | grep -x "libfabric: {libfabric_version}"',
        *(['ldd /opt/libfabric/lib/libfabric.so.1 | grep "libcxi.so.1 => /opt/libcxi/"'] if cxi else []),
        version,
        started,
    ]
    return raw(singularity='%test\n' + '\n'.join(f'    {line}' for line in lines), docker='')

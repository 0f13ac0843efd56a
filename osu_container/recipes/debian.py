"""Building blocks of the images of Debian's parts alone (container-recipes/debian.py), beside those of slingshot.py.

What is compiled is compiled by the steps of slingshot.py. Here is where GPU libraries and compilers come from: ROCm's
are Debian packages in the places of the distribution; CUDA's are put into /usr/local/cuda as NVIDIA lays it out, so
that each step finds it where it is in the images for Alps.

python -m osu_container.recipes.debian compares the sums of Debian's sources in versions.py with Debian's signed lists.
"""
import hashlib
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from hpccm.primitives import raw, shell

from osu_container.recipes import common
from osu_container.recipes.common import BUILD
from osu_container.recipes.slingshot import CUDA_PREFIX, STUBS, TOOLS, packages
from osu_container.recipes.versions import DEBIAN, GPU_OF_DEBIAN, SOURCES

ROCM_PREFIX = '/usr'
LIBRARIES = '/usr/lib/x86_64-linux-gnu'
# Names by which libfabric opens them (dlopen, src/hmem_rocr.c and hmem_cuda.c of 2.1.0): Debian has them in packages
# for developers only.
OPENED_AS = {'rocm': ('libhsa-runtime64.so', 'libhsa-runtime64.so.1'), 'cuda': ('libcudart.so', 'libcudart.so.12')}
# What programs are compiled with, and what they run with. Without recommended packages HIP's runtime brings LLVM's
# library, which comgr is linked with, and no compiler.
ROCM_BUILD = ['hipcc', 'libamdhip64-dev', 'librccl-dev']
RUN = {'rocm': ['libamdhip64-5', 'libhsa-runtime64-1', 'librccl1', 'librocm-smi64-1'], 'cuda': ['libcudart12',
                                                                                                 'libnccl2']}
GPU_LIBRARIES = {'rocm': ['libamdhip64.so.5', 'libhsa-runtime64.so.1', 'librccl.so.1', 'librocm_smi64.so.1'],
                 'cuda': ['libcudart.so.12', 'libnccl.so.2']}
GPU_LICENCES = {'rocm': {'MIT', 'NCSA', 'BSD-3-Clause', 'Apache-2.0 WITH LLVM-exception'},
                'cuda': {'LicenseRef-NVIDIA-CUDA', 'BSD-3-Clause'}}
# nvcc 12.4 works with GCC 13 and older; Debian 13 compiles with GCC 14.
CUDA_COMPILERS = ['gcc-13', 'g++-13']
CUDA_DRIVER = ('libcuda.so.1', 'libnvidia-ml.so.1')


def begin(stage, release, tools=()):
    """Return base, arguments and packages of a stage. tools: Debian packages with which it compiles, if it does."""
    return [common.debian(stage, release), common.arguments(BOOTSTRAP='docker', BASE=DEBIAN[release]['image']),
            *([packages(*TOOLS, 'xz-utils', *tools)] if tools else [])]


def ports(python):
    """Return the steps that put mpi4py's ports of the benchmarks into /opt/osu, for one Python such as '3.13'."""
    return [shell(chdir=False, commands=[f'mkdir -p {BUILD}']), common.osu_ports(python)]


def built(parts):
    """Return what is compiled, for people. parts: path in the image -> keys of SOURCES."""
    return '; '.join(f"{SOURCES[key]['name']} {SOURCES[key]['version']} in {path}"
                     for path, keys in parts.items() for key in keys)


def words_for(gpu):
    """Return the names (list of str) of the GPUs for which code is compiled. gpu: key of GPU_OF_DEBIAN."""
    return [one if gpu == 'rocm' else f'sm_{one}' for one in GPU_OF_DEBIAN[gpu]['gpus']]


def non_free(release):
    """Return the step that makes Debian's contrib and non-free known to apt: NVIDIA's libraries are there."""
    return shell(chdir=False, commands=[
        f"echo 'deb http://deb.debian.org/debian {release} contrib non-free' >/etc/apt/sources.list.d/non-free.list"])


def cuda_toolkit():
    """Return the step that lays out nvcc, headers and stubs of Debian's packages in /usr/local/cuda.

    Of the 2.5 GB that nvidia-cuda-dev unpacks to, a build needs the headers and two stubs; it is not installed, as its
    dependencies would be more.
    """
    release = GPU_OF_DEBIAN['cuda']['packages']['libcudart12']
    # printf makes a dollar of \044; the shell must not take it for one of its own
    profile = '\\n'.join([
        'TOP = $(_HERE_)/..', 'NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice', 'PATH += $(TOP)/nvvm/bin:$(_HERE_):',
        'INCLUDES += "-I$(TOP)/include" $(_SPACE_)', 'LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"',
        '']).replace('$', '\\044')
    unpacked = f'{BUILD}/cuda/unpacked'
    libraries, toolkit = f'{unpacked}{LIBRARIES}', f'{unpacked}/usr/lib/nvidia-cuda-toolkit'
    return shell(chdir=False, commands=[
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
        # glibc declares these from 2.41 on, as functions that throw nothing; CUDA 12.4 declares them without that word
        f"sed -i -E 's/\\<((cos|sin)pif?)\\((double|float) x\\);/\\1(\\3 x) noexcept (true);/' "
        f'{CUDA_PREFIX}/include/crt/math_functions.h',
        'cd /',
        f'rm -rf {BUILD}/cuda /var/lib/apt/lists/*'])


FABRIC_OF_MPICH = f'{BUILD}/libfabric-of-mpich'


def libfabric_of_mpich():
    """Return the commands that build the libfabric in MPICH's own archive, for MPICH to be linked with.

    It is of MPICH's time, 1.13 in 4.0.2: so libmpi.so.12 asks for no newer symbols than that, and loads with the
    libfabric of every host (approach hybrid), and with the image's own, which is newer. It does not go into the image.
    -fpermissive: it is older than GCC 14, which takes as errors what were warnings.
    """
    prefix = FABRIC_OF_MPICH
    return [
        'cd modules/libfabric',
        f'./configure --prefix={prefix} --disable-static --disable-efa --disable-opx --disable-psm2 --disable-psm3 '
        '--disable-usnic --disable-verbs CFLAGS="-O1 -w -fpermissive"',
        'make -j "$(nproc)"',
        'make install',
        'cd ../..',
    ]


def fewer_kernels():
    """Return the commands that write Yaksa's kernels anew, for datatypes nested twice.

    Yaksa, which packs data for MPICH, comes with kernels for three nested datatypes and each basic type: 110 MB of
    sources, of which GCC takes 27 s for one file. For two levels they are 17 MB and 2 s; deeper ones are packed level
    by level, and contiguous data, as the benchmarks send, are not packed at all. One level does not compile.
    """
    return ['cd modules/yaksa', './autogen.sh --pup-max-nesting=2', 'cd ../..']


def runtime(gpu):
    """Return the step that installs the GPU libraries, and links to the names by which libfabric opens them."""
    name, target = OPENED_AS[gpu]
    return shell(chdir=False, commands=[
        'apt-get -q update',
        f'{common.APT_INSTALL} {" ".join(sorted(RUN[gpu]))}',
        common.APT_CLEAN_IMAGE,
        f'ln -s {LIBRARIES}/{target} /opt/libfabric/lib/{name}'])


def test(gpu, libfabric, programs, version, run):
    """Return the section that stops the build of an image which does not work or is not what its labels say.

    gpu: key of GPU_OF_DEBIAN. libfabric: its version. programs: arguments of find that select what is linked with MPI.
    version: command line that succeeds if MPI is the one of the labels. run: command line of osu_latency on two ranks,
    over TCP and without GPU memory. An image with CUDA runs it only where NVIDIA's driver is; elsewhere our tests do.
    """
    absent = '|'.join(CUDA_DRIVER)
    lines = [
        'set -e',
        *(f"dpkg-query -W -f '${{Version}}' {name} | grep '^{release}'"
          for name, release in GPU_OF_DEBIAN[gpu]['packages'].items()),
        f'programs=$(find {programs})',
        'test -n "$programs"',
        "libraries=$(find /opt/*/lib -name '*.so' ! -path '/opt/osu/*')",
        'for file in $programs $libraries; do',
        f'    if ldd "$file" | grep "not found"{f" | grep -vE {absent!r}" if gpu == "cuda" else ""}; '
        'then echo "$file: library not found" >&2; exit 1; fi',
        'done',
        # with every symbol bound, as a program's first use of each would
        f'for name in {" ".join(GPU_LIBRARIES[gpu])} {OPENED_AS[gpu][0]} libfabric.so.1; do',
        '    LD_BIND_NOW=1 python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$name"',
        'done',
        f'/opt/libfabric/bin/fi_info --version | grep -x "libfabric: {libfabric}"',
        *([f'if ldconfig -p | grep -q {CUDA_DRIVER[0]}; then', f'    {version}', f'    {run}', 'fi']
          if gpu == 'cuda' else [version, run]),
    ]
    return raw(singularity='%test\n' + '\n'.join(f'    {line}' for line in lines), docker='')


# ---- the sums of Debian's sources in versions.py, compared with Debian's signed lists

MIRROR = 'http://deb.debian.org/debian'
#: Of the package debian-archive-keyring
KEYRING = Path('/usr/share/keyrings/debian-archive-keyring.gpg')
LIST = 'main/source/Sources.xz'


class ListError(Exception):
    """A list is not signed by the keyring, or not the one that the signed file names."""


def signed_text(path, keyring):
    """Return the text that a clear-signed file (Path) signs. Raises ListError unless the keyring (Path) has the key."""
    if not shutil.which('gpgv'):
        raise ListError("gpgv is not on PATH, which verifies Debian's signature. Install it: apt-get install gpgv")
    done = subprocess.run(['gpgv', '--keyring', str(keyring), '--output', '-', str(path)], capture_output=True,
                          text=True)
    if done.returncode:
        raise ListError(f"{path.name} is not signed by a key of {keyring}:\n{done.stderr.strip()}\nTake the keyring of "
                        "the package debian-archive-keyring, and fetch the list again")
    return done.stdout


def sum_in_release(text, name):
    """Return the sha256 (str) of a list that the text of a release names. Raises ListError."""
    part = re.search(r'(?m)^SHA256:\n((?: .*\n?)+)', text)
    found = re.search(rf'(?m)^ ([0-9a-f]{{64}}) +\d+ {re.escape(name)}$', part.group(1) if part else '')
    if not found:
        raise ListError(f"the release names no sha256 of {name}")
    return found.group(1)


def sums_in_sources(text):
    """Return file name -> sha256 (dict) of all source packages of a list (str)."""
    return {name: total for part in re.findall(r'(?m)^Checksums-Sha256:\s*\n((?: .*\n?)+)', text)
            for total, _, name in (line.split() for line in part.splitlines())}


def sums_of(release, fetch, keyring=KEYRING):
    """Return file name -> sha256 (dict) of the sources of a Debian release. Raises ListError, and OSError of fetch.

    fetch: function of a path below dists/RELEASE, which returns its bytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'InRelease'
        path.write_bytes(fetch('InRelease'))
        wanted = sum_in_release(signed_text(path, keyring), LIST)
    packed = fetch(LIST)
    found = hashlib.sha256(packed).hexdigest()
    if found != wanted:
        raise ListError(f"{LIST} of {release} is not the one that is signed:\n    sha256 found   {found}\n"
                        f"    sha256 wanted  {wanted}\nThe mirror may be changing right now: try again in an hour")
    return sums_in_sources(lzma.decompress(packed).decode())


def differences(sources, sums):
    """Return lines (list of str) on sources whose sum is not Debian's. sums: release -> file name -> sha256."""
    lines = []
    for key, source in sources.items():
        found = sums[source['debian']].get(source['file'])
        if found != source['sha256']:
            lines.append(f"{key}: {source['file']} has sha256 {source['sha256']} in versions.py, "
                         f"{found or 'no sum: it is not there (any more)'} in Debian {source['debian']}")
    return lines


def main():
    """Print what differs; return 1 if something does."""
    sources = {key: source for key, source in SOURCES.items() if 'debian' in source}

    def fetched(release):
        return lambda path: urllib.request.urlopen(f'{MIRROR}/dists/{release}/{path}', timeout=60).read()
    try:
        sums = {release: sums_of(release, fetched(release)) for release in {one['debian'] for one in sources.values()}}
    except (ListError, OSError) as err:
        print(f"osu_container.recipes.debian: {err}", file=sys.stderr)
        return 1
    lines = differences(sources, sums)
    print('\n'.join(lines) or f"{len(sources)} sources are those of Debian's signed lists: {', '.join(sources)}")
    return 1 if lines else 0


if __name__ == '__main__':
    sys.exit(main())

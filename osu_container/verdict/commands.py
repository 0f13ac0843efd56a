"""
Find the programs of an image that use MPI, from the files of the image alone.

find_commands() reads the executables on the image's PATH and below folders named libexec, and runs
nothing. Automake installs programs in libexec that do not belong on PATH, such as benchmarks (GNU
Coding Standards, "Variables for Installation Directories"). A program uses MPI if one of these
statements is true:

* The program is linked with an MPI library, directly or through another library (image/loader.py).
* The program contains the name of an MPI library, and so may open this library with dlopen().
* The program is a Python script that imports mpi4py.
* The program is the command of an installed Python package, as pip writes the command, and a file of
  this package imports mpi4py or is linked with MPI.
* The program is python3, and mpi4py is installed.

Tools of an MPI (mpirun, ompi_info, ...) are left out, because srun starts the ranks.
"""

import os
import re
from posixpath import basename
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

from osu_container.image.elf import ElfFacts
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.loader import simulate_load
from osu_container.image.sif import ImageError
from osu_container.verdict.trial import Container, find_process_mpi


class Command(NamedTuple):
    """A program of an image that uses MPI."""

    name: str  #: name of the command
    path: str  #: path of the program in the image
    mpi_usage: str  #: how the program uses MPI, as a text for users
    soname: Optional[str] = (
        None  #: soname of the MPI library that the program loads, None if unknown
    )
    is_static: bool = False


#: Label of an image with the names of its commands, separated by spaces
LABEL = 'org.osu-container.commands'

#: Programs that belong to an MPI or its launcher: MPICH, Open MPI with PMIx and PRRTE, Intel MPI,
#: MVAPICH
MPI_TOOLS = re.compile(
    r'(mpi(exec|run|cc|cxx|c\+\+|CC|f77|f90|fort|icc|icpc|ifort|gcc|gxx|chversion|vars|tune\w*|bash)'
    r'([._-].*)?|hydra_\w+|parkill|ompi[_-]\w+|opal_\w+|orte\w*|osh\w+|shmem\w+|oshmem_\w+|p?mix_info|'
    r'pmix\w*|palloc|pattrs|pctrl|plookup|pps|pquery|prte\w*|prun|prterun|pterm|psched|'
    r'fi_\w+|ucx_\w+|impi_\w+|x86_64-linux-gnu-mpi.*)$'
)
#: Names of commands that no shell and no locale requires to quote
COMMAND_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.+,:@=-]*\Z')
#: Commands of a host that users and scripts rely on: Slurm, runtimes, modules, shells, and POSIX (Shell
#: and Utilities). The module would put the image's program of the same name first on PATH.
HOST_COMMANDS = frozenset(
    'sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol scrontab sdiag sgather sh5util sinfo sprio squeue '
    'sreport srun sshare sstat strigger sview apptainer singularity podman podman-hpc docker buildah shifter sarus '
    'enroot ch-run ch-image lmod ml eb bash sh dash zsh ksh csh tcsh fish env sudo su ssh scp sftp rsync git make tar '
    'awk basename cat cd chgrp chmod chown cmp comm cp cut date dd df diff dirname du echo ed expr false file find '
    'grep head hostname id install join kill less ln ls man mkdir mkfifo mktemp more mv nice nohup nproc numactl od '
    'paste patch printenv printf ps pwd readlink realpath rm rmdir sed seq sleep sort stat stty sum tail taskset tee '
    'test time timeout touch tr true tty umask uname uniq unset vi wc which whoami xargs'.split()
)
#: Folders of a host with its system commands (Filesystem Hierarchy Standard 3.0)
SYSTEM_FOLDERS = ('/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin')
#: Commands that a module provides even if the host has them, for images with mpi4py
PYTHON = re.compile(r'python3?\Z')
#: Names of commands that every module provides itself
RESERVED = ('run-in-container', 'osu-gpu-bind', 'osu-explain', 'osu-proof')
#: Name of an MPI library in a file that opens the library
OPENED_MPI = re.compile(rb'lib(?:mpi|mpich|mpi_abi)\.so')
#: Names that only a program with a static MPI has
MPI_FUNCTIONS = re.compile(rb'MPIR_CVAR_|ompi_mpi_init|MPI_Init')
#: Files of a Python package, and of the folder in which auditwheel places libraries of the package
PACKAGE = r'.*-packages/%s(?:[._]\w+)?(?:/.*|\.py)'
#: Programs in libexec, without those of compilers, which are large and use no MPI
LIBEXEC = r'.*/libexec/(?!gcc/).*'
#: Pattern for mpi4py's library in a folder that Python searches by default
MPI4PY = r'.*-packages/mpi4py/MPI\.[^/]+\.so'


def list_path_executables(image: Image) -> Dict[str, str]:
    """
    Return {name: path} of the executables in the folders of the image's PATH.

    If several folders contain the same name, the path is the one in the first of these folders.
    """
    executables: Dict[str, str] = {}
    for folder in image.list_path_folders():
        for name in image.list_folder(folder):
            path = folder.rstrip('/') + '/' + name
            if name not in executables and image.tree.is_executable(path):
                executables[name] = path
    return executables


def list_libexec_executables(image: Image, names: Dict[str, str]) -> Dict[str, str]:
    """
    Return {name: path} of executables in folders named libexec, without the names in `names`.

    If several of these folders contain the same name, the path is the alphabetically last path.
    """
    return {
        basename(path): path
        for path in image.find_files(LIBEXEC)
        if image.tree.is_executable(path) and basename(path) not in names
    }


def _is_command_name(name: str) -> bool:
    """
    Return whether a module can provide a command with this name.

    A module cannot provide reserved names, and names that need quotes.
    """
    return bool(
        name not in RESERVED and not name.endswith(('-exec', '-shell')) and COMMAND_NAME.match(name)
    )


def select_host_commands(names: Iterable[str], root: Optional[str]) -> List[str]:
    """
    Return the names in `names` that are also commands of the host.

    A module with a command of the same name would hide the host's command.

    root: folder that stands in for the host's /; None if this machine does not have the host's
    files.
    """
    folders = [] if root is None else [root + folder for folder in SYSTEM_FOLDERS]
    return [
        name
        for name in names
        if not PYTHON.match(name)
        and (
            name in HOST_COMMANDS
            or any(os.path.lexists(os.path.join(folder, name)) for folder in folders)
        )
    ]


def find_mpi_soname(image: Image, path: str) -> Optional[str]:
    """
    Return the soname of the MPI library that an ELF file loads, None without MPI.

    The soname is also returned if the image lacks the library.
    """
    process = simulate_load([path], Container(image, {}, {}), image.list_library_folders())
    return find_process_mpi(process)


def has_static_mpi(image: Image, path: str) -> bool:
    """Return whether the static program `path` includes an MPI."""
    return image.search_file(path, MPI_FUNCTIONS) is not None


def _inspect_program(image: Image, name: str, path: str, facts: ElfFacts) -> Optional[Command]:
    """Return the Command for an ELF program, None if the program does not use MPI."""
    if not facts.dynamic:
        return (
            Command(name, path, 'linked statically with MPI', is_static=True)
            if has_static_mpi(image, path)
            else None
        )
    soname = find_mpi_soname(image, path)
    if soname:
        return Command(name, path, 'linked with ' + soname, soname)
    opened = image.search_file(path, OPENED_MPI)
    return Command(name, path, 'opens ' + opened.decode()) if opened else None


def find_commands(image: Image) -> List[Command]:
    """
    Return a Command for each MPI program of an image, sorted by name, with Python last.

    If the image has the label org.osu-container.commands (LABEL), return a Command for each program
    that the label names. Raises ImageError if a program that the label names does not exist.
    """
    if image.labels.get(LABEL):
        return resolve_commands(image, image.labels[LABEL].split())
    paths = list_path_executables(image)
    paths.update(list_libexec_executables(image, paths))
    paths = {
        name: path
        for name, path in paths.items()
        if _is_command_name(name)
        and not MPI_TOOLS.match(name)
        and image.tree.read_file_mode(path).startswith('r')
    }
    elf = image.read_elf_files(sorted(paths.values()))
    commands = [
        _inspect_program(image, name, path, elf[path])
        for name, path in sorted(paths.items())
        if path in elf
    ]
    commands += _list_mpi_scripts(
        image, {name: path for name, path in paths.items() if path not in elf}
    )
    if image.find_files(MPI4PY):
        python = next((name for name in ('python3', 'python') if name in paths), None)
        if python:
            commands.append(Command(python, paths[python], 'has mpi4py'))
    # The first command becomes the example of the module.
    return sorted(
        (command for command in commands if command),
        key=lambda command: (command.name in ('python3', 'python'), command.name),
    )


def _list_mpi_scripts(image: Image, paths: Dict[str, str]) -> List[Command]:
    """Return a Command for each Python script in `paths` ({name: path}) that uses MPI."""
    commands = []
    for name, path in sorted(paths.items()):
        text = image.read_file(path)
        if re.match(rb'#!.*python', text):
            soname, usage = (
                (None, 'a Python script that imports mpi4py')
                if _imports_mpi4py(text)
                else _inspect_package(image, text)
            )
            commands += [Command(name, path, usage, soname)] if usage else []
    return commands


def _imports_mpi4py(text: bytes) -> bool:
    return bool(re.search(rb'^[ \t]*(from|import)[ \t]+mpi4py\b', text, re.M))


def _inspect_package(image: Image, text: bytes) -> Tuple[Optional[str], Optional[str]]:
    """
    Return (soname, mpi_usage) for a script that pip has written as the command of a package.

    soname, mpi_usage: the fields of Command with the same names; (None, None) if the package does
    not use MPI. text: text of the script, which imports the package.
    """
    match = re.search(rb'(?m)^from (\w+)[\w.]* import \w+$', text)
    if not match:
        return None, None
    name = match.group(1).decode()
    files = image.find_files(PACKAGE % name)
    modules = [path for path in files if path.endswith('.py')]
    binaries = [
        path
        for path in files
        if re.search(r'\.so(\.|$)', path)
        or '.' not in basename(path)
        and image.tree.is_executable(path)
    ]
    elf = image.read_elf_files(binaries)
    # programs before libraries
    for path in sorted(elf, key=lambda path: (elf[path].interpreter is None, path)):
        soname = next((need for need in elf[path].needed if need in MPI_FAMILIES), None)
        if soname:
            return soname, f'{basename(path)} of {name} is linked with {soname}'
    image.tree.copy_files(modules, image.folder)  # in one call
    if any(_imports_mpi4py(image.read_file(path)) for path in modules):
        return None, name + ' imports mpi4py'
    return None, None


def resolve_commands(image: Image, names: Iterable[str]) -> List[Command]:
    """
    Return a Command for each program in `names`.

    Each entry of `names` is the name of a program on the image's PATH, or the absolute path of a
    program in the image. Raises ImageError if the image lacks one of the programs, or if a module
    cannot have a command with the name of a program.
    """
    folders = image.tree.locate_programs(names, image.list_path_folders())
    commands = []
    for program in names:
        name = basename(program)
        path = folders[name].rstrip('/') + '/' + name
        if not _is_command_name(name):
            raise ImageError(
                '%s of the image cannot be a command of the module, because the names %s, NAME-exec '
                'and NAME-shell are reserved, or because a shell may not accept the characters of the '
                'name. In the image, create a link to this program (`ln -s`) with another name'
                % (program, ', '.join(RESERVED))
            )
        facts = image.read_elf_files([path]).get(path)
        if facts is None:
            commands.append(Command(name, path, 'a script'))
            continue
        commands.append(
            _inspect_program(image, name, path, facts)
            or Command(name, path, 'the file shows no MPI', is_static=not facts.dynamic)
        )
    return commands


def group_commands_by_mpi(commands: Iterable[Command]) -> Dict[str, List[str]]:
    """Return {soname of an MPI library: names of the commands that load this library}."""
    names: Dict[str, List[str]] = {}
    for command in commands:
        if command.soname:
            names.setdefault(command.soname, []).append(command.name)
    return names

"""
Which programs of an image use MPI: its files are read, nothing of it is run.

Looked at is what can be typed in the container, the executables on its PATH, and those below a
folder libexec, where Automake puts programs that are not for a PATH, such as benchmarks (GNU Coding
Standards, "Variables for Installation Directories"). Of those use MPI:

* a program that links an MPI library, itself or through another library (ld.so's own search,
    image/loader.py);
* a program that holds the name of an MPI library, by which it opens it;
* a Python script that names mpi4py, or whose distribution does: in its requirements, its modules,
    or by a library or
  program in it that links MPI;
* python3 itself where mpi4py is installed.

The tools of an MPI (mpirun, ompi_info, ...) are left out: srun starts the ranks.
"""

import os
import posixpath
import re
from collections import namedtuple

from osu_container.image.image import MPI_FAMILIES
from osu_container.image.loader import simulate_load
from osu_container.image.sif import ImageError
from osu_container.verdict.trial import Container

#: name: what is typed; path: whole path in the image; elf: whole path of the program or library
#: that loads MPI, itself or what a script starts, None where no file shows it; soname: MPI library
#: (str) that this one loads, None where only a run shows it; static: bool; why: str, how it uses
#: MPI
Command = namedtuple('Command', 'name path elf soname is_static mpi_usage')

#: Label of an image by which who built it names its commands, with blanks between
LABEL = 'org.osu-container.commands'

#: Programs that belong to an MPI or its launcher: MPICH, Open MPI with PMIx and PRRTE, Intel MPI,
#: MVAPICH
MPI_TOOLS = re.compile(
    r'(mpi(exec|run|cc|cxx|c\+\+|CC|f77|f90|fort|icc|icpc|ifort|gcc|gxx|chversion|vars|tune\w*|bash)'
    r'([._-].*)?|hydra_\w+|parkill|ompi[_-]\w+|opal_\w+|orte\w*|osh\w+|shmem\w+|oshmem_\w+|p?mix_info|'
    r'pmix\w*|palloc|pattrs|pctrl|plookup|pps|pquery|prte\w*|prun|prterun|pterm|psched|'
    r'fi_\w+|ucx_\w+|impi_\w+|x86_64-linux-gnu-mpi.*)$'
)
#: What can be typed as it stands, in any shell and locale
COMMAND_NAME = re.compile(r'[A-Za-z0-9_][A-Za-z0-9_.+,:@=-]*\Z')
#: Commands of a host that scripts and people go by, wherever they lie: of Slurm, runtimes, modules,
#: shells, and some that every system has (POSIX, Shell and Utilities). The first on PATH counts:
#: that would be the image's
HOST_COMMANDS = frozenset(
    'sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol scrontab sdiag sgather sh5util sinfo sprio squeue '
    'sreport srun sshare sstat strigger sview apptainer singularity podman podman-hpc docker buildah shifter sarus '
    'enroot ch-run ch-image lmod ml eb bash sh dash zsh ksh csh tcsh fish env sudo su ssh scp sftp rsync git make tar '
    'awk basename cat cd chgrp chmod chown cmp comm cp cut date dd df diff dirname du echo ed expr false file find '
    'grep head hostname id install join kill less ln ls man mkdir mkfifo mktemp more mv nice nohup nproc numactl od '
    'paste patch printenv printf ps pwd readlink realpath rm rmdir sed seq sleep sort stat stty sum tail taskset tee '
    'test time timeout touch tr true tty umask uname uniq unset vi wc which whoami xargs'.split()
)
#: Where the commands of a host lie that belong to its system (Filesystem Hierarchy Standard 3.0)
SYSTEM_FOLDERS = ('/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin')
#: Taken although hosts have them: an image with mpi4py is one for Python, whose commands people
#: want to be its own
PYTHON = re.compile(r'python3?\Z')
#: Names that the installation has for itself
RESERVED = ('run-in-container', 'osu-gpu-bind', 'osu-explain', 'osu-proof')
#: How the text of a file names an MPI library that it opens
OPENED_MPI = re.compile(rb'lib(?:mpi|mpich|mpi_abi)\.so')
#: Functions that only a program with MPI inside has
MPI_FUNCTIONS = (b'MPIR_CVAR_', b'ompi_mpi_init', b'MPI_Init')
#: Where a distribution of Python says which commands it has
ENTRY_POINTS = re.compile(r'.*/(?:site|dist)-packages/[^/]+\.dist-info/entry_points\.txt')
#: Programs in libexec; compilers have theirs there, which are large and use no MPI
LIBEXEC = r'.*/libexec/(?!gcc/).*'
#: mpi4py's own library, where Python finds it by itself
MPI4PY = re.compile(r'.*/(?:site|dist)-packages/mpi4py/MPI\.[^/]+\.so')


def list_path_executables(image):
    """
    Return {name: whole path in the image} of the executables on the image's PATH; the first of a
    name counts.
    """
    inside = {}
    for path in image.tree.entries:
        inside.setdefault(posixpath.dirname(path), []).append(posixpath.basename(path))
    found = {}
    for folder in image.list_path_folders():
        for name in sorted(inside.get(image.tree.resolve(folder) or '', ())):
            path = folder.rstrip('/') + '/' + name
            if name not in found and image.tree.is_executable(path):
                found[name] = path
    return found


def list_libexec_executables(image, known):
    """
    Return {name: whole path in the image} of the executables below a folder libexec but for names
    in known.

    A name that several of them have is left out: nothing tells which is meant.
    """
    found = {}
    for path in image.find_files(LIBEXEC):
        if image.tree.is_executable(path):
            found.setdefault(posixpath.basename(path), []).append(path)
    return dict(
        (name, paths[0]) for name, paths in found.items() if name not in known and len(paths) == 1
    )


def _is_readable(image, path):
    """
    Return whether who looks into the image can read the file path: some systems have programs
    that only run.
    """
    return image.tree.entries[image.tree.resolve(path)][1][0] == 'r'


def _is_command_name(name):
    """Return whether name (str) can be a command of a module and is no tool of an MPI."""
    return bool(
        not MPI_TOOLS.match(name)
        and name not in RESERVED
        and not name.endswith(('-exec', '-shell'))
        and COMMAND_NAME.match(name)
    )


def select_host_commands(names, root):
    """
    Return those of names (list of str) that are commands of a host, which the module would take the
    place of.

    root: str, folder that stands in for the host's /, None where its files are not here.
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


def _prefetch_dependencies(image, facts):
    """
    Let image read at once what programs (facts: iterable of ElfFacts) need by default: one call
    for each level.
    """
    todo, seen = set(name for one in facts for name in one.needed), set()
    while todo:
        seen |= todo
        paths = sorted(set(image.libraries[name] for name in todo if name in image.libraries))
        todo = (
            set(name for one in image.read_elf_files(paths).values() for name in one.needed) - seen
        )


def find_mpi_soname(image, path):
    """
    Return the soname (str) of the MPI library that the ELF file path of the image loads, None if it
    loads none.

    Also one that the image has not: the program asks for it.
    """
    process = simulate_load([path], Container(image, {}, {}), image.list_library_folders())
    names = [name for one in process.loaded for name in (one.name, one.facts.soname)] + [
        name for name, _ in process.missing
    ]
    return next((name for name in names if name in MPI_FAMILIES), None)


def has_static_mpi(content):
    """
    Return whether a program (content: bytes) that is linked statically has an MPI in it (bool).
    """
    return any(text in content for text in MPI_FUNCTIONS)


def _inspect_program(image, name, path, facts):
    """Return the Command of an ELF program (facts: its ElfFacts), None if it does not use MPI."""
    content = image.read_file(path)
    if not facts.dynamic:
        return (
            Command(name, path, path, None, True, 'linked statically, with MPI inside')
            if has_static_mpi(content)
            else None
        )
    soname = find_mpi_soname(image, path)
    if soname:
        return Command(name, path, path, soname, False, 'linked with ' + soname)
    opened = OPENED_MPI.search(content)
    return (
        Command(name, path, None, None, False, 'opens ' + opened.group().decode())
        if opened
        else None
    )


def find_commands(image):
    """
    Return the Commands (list, sorted by name, Python last) of the open Image that use MPI.

    Where a label of the image names its commands, those are returned. Raises ImageError if one of
    these is not there.
    """
    if image.labels.get(LABEL):
        return resolve_commands(image, image.labels[LABEL].split())
    paths = list_path_executables(image)
    paths.update(list_libexec_executables(image, paths))
    paths = dict(
        (name, path)
        for name, path in paths.items()
        if _is_command_name(name) and _is_readable(image, path)
    )
    elf = image.read_elf_files(sorted(paths.values()))
    _prefetch_dependencies(image, elf.values())
    found = [
        _inspect_program(image, name, path, elf[path])
        for name, path in sorted(paths.items())
        if path in elf
    ]
    found += _list_mpi_scripts(image, dict(item for item in paths.items() if item[1] not in elf))
    if image.find_files(MPI4PY.pattern):
        name = next((name for name in ('python3', 'python') if name in paths), None)
        found += [Command(name, paths[name], None, None, False, 'has mpi4py')] if name else []
    # the first is the example
    return sorted(
        (one for one in found if one), key=lambda one: (one.name in ('python3', 'python'), one.name)
    )


def _list_mpi_scripts(image, paths):
    """
    Return the Commands (list) of those Python scripts among paths ({name: path}) that use MPI.
    """
    texts = {}
    for name, path in sorted(paths.items()):
        text = image.read_file(path)
        if re.match(rb'#!.*python', text):
            texts[name] = text
    owners = _find_distributions(image, texts)
    found = []
    for name in sorted(texts):
        elf, soname, why = (
            (None, None, 'a Python script that imports mpi4py')
            if _imports_mpi4py(texts[name])
            else _inspect_distribution(image, owners[name])
            if name in owners
            else (None, None, None)
        )
        found.append(Command(name, paths[name], elf, soname, False, why) if why else None)
    return found


def _imports_mpi4py(text):
    """Return whether Python text (bytes) imports mpi4py."""
    return bool(re.search(rb'^[ \t]*(from|import)[ \t]+mpi4py\b', text, re.M))


def _find_distributions(image, names):
    """
    Return {name: folder of the distribution (.dist-info)} of those commands of names that Python
    packages bring.
    """
    found = {}
    for path in image.find_files(ENTRY_POINTS.pattern):
        scripts = (
            image.read_file(path)
            .decode('utf-8', 'replace')
            .partition('[console_scripts]')[2]
            .partition('\n[')[0]
        )
        for name in re.findall(r'^[ \t]*([\w.+-]+)[ \t]*=', scripts, re.M):
            if name in names:
                found.setdefault(name, posixpath.dirname(path))
    return found


def _inspect_distribution(image, folder):
    """
    Return (elf, soname, why) of a Command for the Python distribution folder (str, its .dist-info),
    None in all if it does not use MPI.
    """
    name = posixpath.basename(folder)[: -len('.dist-info')]
    if image.exists(folder + '/METADATA'):
        text = image.read_file(folder + '/METADATA').decode('utf-8', 'replace')
        if re.search(r'^Requires-Dist:[ \t]*mpi4py\b(?!.*\bextra\s*==)', text, re.M | re.I):
            return None, None, '%s needs mpi4py' % name
    if not image.exists(folder + '/RECORD'):
        return None, None, None
    record = image.read_file(folder + '/RECORD').decode('utf-8', 'replace').splitlines()
    parent = posixpath.dirname(folder)
    files = [
        path
        for path in (
            posixpath.normpath(parent + '/' + line.rsplit(',', 2)[0].strip('"')) for line in record
        )
        if image.exists(path)
    ]
    modules = [path for path in files if path.endswith('.py')]
    others = [
        path
        for path in files
        if re.search(r'\.so(\.|$)', path)
        or '.' not in posixpath.basename(path)
        and image.tree.is_executable(path)
    ]
    elf = image.read_elf_files(others)
    for path in sorted(
        elf, key=lambda path: (elf[path].interpreter is None, path)
    ):  # programs before libraries
        soname = next((need for need in elf[path].needed if need in MPI_FAMILIES), None)
        if soname:
            return (
                path,
                soname,
                '%s of %s is linked with %s' % (posixpath.basename(path), name, soname),
            )
    image.tree.copy_files(modules, image.folder)  # all at once
    if any(_imports_mpi4py(image.read_file(path)) for path in modules):
        return None, None, '%s imports mpi4py' % name
    return None, None, None


def resolve_commands(image, names):
    """
    Return the Commands (list) that names (list of str: a name on the image's PATH, or a whole path)
    means.

    Raises ImageError if one is not there, or cannot be a command of a module.
    """
    folders, found = image.tree.locate_programs(names, image.list_path_folders()), []
    for wanted in names:
        name = posixpath.basename(wanted)
        path = folders[name].rstrip('/') + '/' + name
        if not COMMAND_NAME.match(name):
            raise ImageError(
                "%s of the image cannot be a command of the module: its name has blanks, signs or letters "
                "that cannot be typed anywhere. In the image: a link of another name" % wanted
            )
        if name in RESERVED or name.endswith(('-exec', '-shell')):
            raise ImageError(
                "%s cannot be a command of the module: it has commands of that name, or that end like it, "
                "for itself (%s, NAME-exec, NAME-shell). In the image: a link of another name"
                % (name, ', '.join(RESERVED))
            )
        facts = image.read_elf_files([path]).get(path)
        if facts is None:
            found.append(Command(name, path, None, None, False, 'a script'))
            continue
        one = _inspect_program(image, name, path, facts)
        found.append(
            one
            or Command(name, path, None, None, not facts.dynamic, 'loads no MPI that can be seen')
        )
    return found


def list_command_names(commands):
    """
    Return what names commands (list of Command) in an easyconfig (list of str): a name, in
    libexec its path.
    """
    return [one.path if re.match(LIBEXEC, one.path) else one.name for one in commands]


def group_commands_by_mpi(commands):
    """
    Return {soname: names (list of str)} of the MPI libraries that commands (list of Command)
    load.
    """
    found = {}
    for one in commands:
        if one.soname:
            found.setdefault(one.soname, []).append(one.name)
    return found

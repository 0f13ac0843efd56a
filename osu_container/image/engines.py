"""The programs that build images: Apptainer or SingularityCE, or buildah, podman or docker and then one of those."""
import contextlib
import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path
from subprocess import PIPE
from typing import NamedTuple

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading import elf

from . import ImageError
from .catalogue import command_path

#: Folder in the work folder for the runtime's cache of what it pulled
CACHE = 'cache'
KINDS = ('auto', 'apptainer', 'buildah', 'podman', 'docker')


class Engine(NamedTuple):
    """What builds here. kind: of KINDS. program: its path. how: options of every build. why: for the user's eyes."""

    kind: str
    program: str
    how: list
    why: str


def runtime():
    """Return the path of apptainer or singularity. Raises ImageError."""
    found = command_path('apptainer', 'singularity')
    if not found:
        raise ImageError("neither apptainer nor singularity is on PATH. Run workstation/prerequisites.sh, or install "
                         "one")
    return found


def choose(kind):
    """Return the Engine of a kind; for 'auto' Apptainer, else the first that is there.

    Raises ImageError with what is missing.
    """
    if kind in ('auto', 'apptainer'):
        try:
            return _apptainer()
        except ImageError:
            # without namespaces only docker is left, whose daemon is root
            others = [name for name in KINDS[2:] if command_path(name) and (name == 'docker' or not no_namespaces())]
            if kind == 'apptainer' or not others or not command_path('apptainer', 'singularity'):
                raise
            kind = others[0]
    program = command_path(kind)
    if not program:
        raise ImageError(f"--engine {kind}: {kind} is not on PATH. Install it, or take one that is here: "
                         f"{', '.join(name for name in KINDS[1:] if command_path(name)) or 'none'}")
    return Engine(kind, program, [], f"{kind}, then {Path(runtime()).name} makes the SIF of its OCI archive")


def _apptainer():
    """Return the Engine of Apptainer or SingularityCE with the rights that this user has. Raises ImageError."""
    program = runtime()
    name = Path(program).name
    if not without_full_rights():
        return Engine('apptainer', program, [], f"{name} as root")
    lacking = no_mapping()
    if not lacking:
        return Engine('apptainer', program, ['--fakeroot'], f"{name} --fakeroot")
    if has_proot_mode(program):
        check_proot()
        return Engine('apptainer', program, [], f"{name} with PRoot")
    raise ImageError(lacking)


#: What every image has: of other libraries that proot is linked with, an image may have none
C_LIBRARY = ('libc.so.6', 'libdl.so.2', 'libpthread.so.0', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1')


def check_proot():
    """Raise ImageError if SingularityCE cannot build with PRoot here.

    A build by an ordinary user looks for proot on PATH and starts it inside the image, to play root there
    (docs.sylabs.io, SingularityCE 4.1, "Unprivileged proot builds"; github.com/sylabs/singularity 40ef481,
    internal/pkg/build/stage.go, runPostScript).
    """
    module = building().get('module')
    where = f"Load the module that has it: module load {module}" if module else "Load a module that has it"
    proot = shutil.which('proot')
    if not proot:
        raise ImageError(f"proot is not on PATH, and SingularityCE needs it for a build by an ordinary user who has no "
                         f"line in /etc/subuid. {where}; or get the program from https://proot.gitlab.io/proot/bin/"
                         "proot, which needs no rights; or build on another machine and copy the SIF")
    with contextlib.suppress(elf.ElfError):  # a script, or a file that only root may read
        foreign = [name for name in elf.elf_facts(proot).needed if name not in C_LIBRARY]
        if foreign:
            raise ImageError(f"{proot} needs {', '.join(foreign)}; SingularityCE starts it inside the image, which has "
                             f"no such library. {where}, or take the program of https://proot.gitlab.io/proot/bin/"
                             "proot, which needs none")


def building():
    """Return what is known of building images on this machine (dict, 'building' of its site), {} for most."""
    facts = (site_entry(name).get('building', {'value': {}})['value'] for name in SITES)
    return next((fact for fact in facts if fact and os.path.isdir(fact['folder'])), {})


#: Variables of the runtime that a build keeps: where its files are, how a registry is reached, keys to sign with
KEPT_VARIABLES = re.compile(r'(APPTAINER|SINGULARITY)_(CACHEDIR|CONFIGDIR|SYPGPDIR|KEYSDIR|DISABLE_CACHE|NOHTTPS|'
                            r'LIBRARY|(DOCKER|LOGIN)_\w+|DEBUG)')
#: What changes an image or its test: binds, whose folders an image lacks while it is built (LUMI training 2026-04,
#: 205-Containers.md); a job, in which mpiexec of the image's test would start its ranks by srun (MPICH's Hydra, seen
#: with 4.2.3); settings of MPI and libfabric for the site's network, on which no test runs.
DROPPED_VARIABLES = re.compile(r'(APPTAINER|SINGULARITY)(_|ENV_)|(SLURM|PMI|PMIX|PALS|HYDRA|FI|MPICH|MPIR_CVAR|OMPI|'
                               r'PRTE|UCX|NCCL|RCCL)_')


def environment(work, temporary, given=None):
    """Return the environment (dict) of a build by the runtime, and the names that were left out (list of str).

    temporary: folder for its temporary files; work: for its cache, unless the user has named another: its own choices,
    /tmp and the home folder, may be small, in memory or under a quota. given: the environment, os.environ if None.
    """
    given = os.environ if given is None else given
    dropped = sorted(name for name in given if DROPPED_VARIABLES.match(name) and not KEPT_VARIABLES.fullmatch(name))
    kept = {name: value for name, value in given.items() if name not in dropped}
    for prefix in ('APPTAINER', 'SINGULARITY'):
        kept[f'{prefix}_TMPDIR'] = str(temporary)
        kept.setdefault(f'{prefix}_CACHEDIR', str(Path(work) / CACHE))
    return kept, dropped


def packer():
    """Return the Engine that makes a SIF of an archive: that needs no rights, but uses them where they are there."""
    how = ['--fakeroot'] if without_full_rights() and not no_mapping() else []
    return Engine('apptainer', runtime(), how, 'packs')


def has_proot_mode(program):
    """Return whether this is SingularityCE, which builds with PRoot; Apptainer does not."""
    done = subprocess.run([program, '--version'], stdout=PIPE, stderr=PIPE, universal_newlines=True)
    return done.stdout.startswith('singularity-ce')


def without_full_rights():
    """Return whether a build needs --fakeroot: by an ordinary user, or a root that lacks a capability."""
    if os.geteuid() != 0:
        return True
    status = dict(line.split(':', 1) for line in Path('/proc/self/status').read_text().splitlines() if ':' in line)
    last = int(Path('/proc/sys/kernel/cap_last_cap').read_text())
    return int(status['CapPrm'], 16) != (1 << last + 1) - 1


#: Settings of the kernel that are 0 where an ordinary user has no user namespaces. (Ubuntu's
#: apparmor_restrict_unprivileged_userns is none of them: programs with a profile, as Apptainer's package, have them.)
NAMESPACES = ('/proc/sys/user/max_user_namespaces', '/proc/sys/kernel/unprivileged_userns_clone')


def no_namespaces():
    """Return which setting forbids user namespaces (str, 'FILE is 0'), '' if none does."""
    for file in NAMESPACES:
        try:
            if Path(file).read_text().strip() == '0':
                return f"{file} is 0"
        except OSError:  # a kernel without it
            pass
    return ''


def no_mapping():
    """Return why --fakeroot is not possible for this user and how to allow it, '' if it is."""
    user = pwd.getpwuid(os.geteuid()).pw_name
    why = ", and this root lacks capabilities that a build without it needs" if user == 'root' else ""
    closed = no_namespaces()
    if closed:
        return (f"{closed}, so there are no user namespaces and --fakeroot cannot work{why}. As root: sysctl "
                f"{closed[len('/proc/sys/'):].partition(' ')[0].replace('/', '.')}={10000 if 'max' in closed else 1}. "
                "Where you cannot ask for that: SingularityCE with proot on PATH builds without, or build on another "
                "machine and copy the SIF")
    for file in (Path('/etc/subuid'), Path('/etc/subgid')):
        lines = file.read_text().splitlines() if file.exists() else []
        if not any(line.startswith((f'{user}:', f'{os.geteuid()}:')) for line in lines):
            return (f"{file} has no line for {user}, so --fakeroot cannot work{why}. As root: usermod "
                    f"--add-subuids 100000-165535 --add-subgids 100000-165535 {user} (another range if that one is in "
                    "use). Where you cannot ask for that: SingularityCE with proot on PATH builds without, or build on "
                    "another machine and copy the SIF")
    return ''


#: Compression of an image -> options of mksquashfs. gzip is what every kernel and runtime reads; at level 3 it is
#: packed in 1 s, not 11 s, and 7 % larger. Starts of each: docs/benchmarks.md.
COMPRESSIONS = {'gzip': '-comp gzip -Xcompression-level 3', 'zstd': '-comp zstd -Xcompression-level 9',
                'none': '-noI -noD -noF -noX'}


def packing(program, compression, must=False, fast=False):
    """Return the options for a compression (key of COMPRESSIONS), none where the runtime cannot be told.

    Raises ImageError if it must have this one there. fast: for a stage that is unpacked again at once, whatever the
    runtime can.
    """
    known = subprocess.run([program, 'build', '--help'], stdout=PIPE, stderr=PIPE, universal_newlines=True).stdout
    if '--mksquashfs-args' in known:
        return ['--mksquashfs-args', COMPRESSIONS['none' if fast else compression]]
    if must and compression != 'gzip':
        raise ImageError(f"--compression {compression}: {program} build has no --mksquashfs-args. Leave it out, "
                         "or build with a newer Apptainer")
    return []


def sif_command(engine, definition, output, *packing_of):
    """Return the command that makes a SIF of a definition file, or of an archive by its reference.

    packing_of: what packing() takes after the program.
    """
    return [engine.program, 'build', '--force', *engine.how, *packing(engine.program, *packing_of), output, definition]


def oci_commands(engine, recipe, tag, archive, created):
    """Return the commands that build a Dockerfile and write an OCI archive (docker: its own kind of archive).

    created: time for the label that Apptainer's recipe writes itself.
    """
    label = ['--label', f'org.opencontainers.image.created={created}']
    program = engine.program
    if engine.kind == 'docker':
        return [[program, 'build', *label, '-f', recipe, '-t', tag, '.'], [program, 'save', '-o', archive, tag]]
    # chroot: needs neither a runtime like runc nor rights that a container or a plain user lacks.
    build = [program, 'build', '--isolation', 'chroot', '--layers', *label, '-f', recipe, '-t', tag, '.']
    if engine.kind == 'podman':
        return [build, [program, 'save', '--format', 'oci-archive', '-o', archive, tag]]
    return [build, [program, 'push', tag, f'oci-archive:{archive}:{tag}']]


def import_base(engine, folder, reference, temporary, run_command):
    """Make a Dockerfile's `FROM reference` mean a folder of ours, by run_command (function of a list of str)."""
    archive = temporary / 'base.tar'
    run_command(['tar', '-C', folder.resolve(), '-cf', archive, '.'])
    if engine.kind == 'buildah':  # has no import; ADD unpacks the archive
        (temporary / 'Dockerfile').write_text(f'FROM scratch\nADD {archive.name} /\n')
        run_command([engine.program, 'build', '--isolation', 'chroot', '-t', reference, temporary])
    else:
        run_command([engine.program, 'import', archive, reference])


def archive_reference(engine, archive):
    """Return how Apptainer calls the archive that oci_commands wrote."""
    return f"{'docker' if engine.kind == 'docker' else 'oci'}-archive:{archive}"

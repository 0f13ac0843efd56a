"""The programs that build images: Apptainer or SingularityCE, or buildah, podman or docker and then one of those."""
from __future__ import annotations

import dataclasses
import os
import pwd
import subprocess
from pathlib import Path

from . import ImageError
from .catalogue import command_path

KINDS = ('auto', 'apptainer', 'buildah', 'podman', 'docker')


@dataclasses.dataclass
class Engine:
    """What builds here. kind: of KINDS. program: its path. how: options of every build. why: for the user's eyes."""

    kind: str
    program: str
    how: list[str]
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
            others = [name for name in KINDS[2:] if command_path(name)]
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
    if command_path('proot') and has_proot_mode(program):
        # docs.sylabs.io, SingularityCE 3.11 and newer: a build without root and without /etc/subuid looks for proot.
        # LUMI has it in module systools. Not tried here: no registry of ours has SingularityCE.
        return Engine('apptainer', program, [], f"{name} with PRoot (untested)")
    raise ImageError(lacking)


def packer():
    """Return the Engine that makes a SIF of an archive: that needs no rights, but uses them where they are there."""
    how = ['--fakeroot'] if without_full_rights() and not no_mapping() else []
    return Engine('apptainer', runtime(), how, 'packs')


def has_proot_mode(program):
    """Return whether this is SingularityCE, which builds with PRoot; Apptainer does not."""
    done = subprocess.run([program, '--version'], capture_output=True, text=True)
    return done.stdout.startswith('singularity-ce')


def without_full_rights():
    """Return whether a build needs --fakeroot: by an ordinary user, or a root that lacks a capability."""
    if os.geteuid() != 0:
        return True
    status = dict(line.split(':', 1) for line in Path('/proc/self/status').read_text().splitlines() if ':' in line)
    last = int(Path('/proc/sys/kernel/cap_last_cap').read_text())
    return int(status['CapPrm'], 16) != (1 << last + 1) - 1


def no_mapping():
    """Return why --fakeroot is not possible for this user and how to allow it, '' if it is."""
    user = pwd.getpwuid(os.geteuid()).pw_name
    why = ", and this root lacks capabilities that a build without it needs" if user == 'root' else ""
    for file in (Path('/etc/subuid'), Path('/etc/subgid')):
        lines = file.read_text().splitlines() if file.exists() else []
        if not any(line.startswith((f'{user}:', f'{os.geteuid()}:')) for line in lines):
            return (f"{file} has no line for {user}, so --fakeroot cannot work{why}. As root: usermod "
                    f"--add-subuids 100000-165535 --add-subgids 100000-165535 {user} (another range if that one is in "
                    "use). Where you cannot ask for that: SingularityCE with proot on PATH (on LUMI: module load "
                    "systools), or build on another machine and copy the SIF")
    return ''


#: Compression of an image -> options of mksquashfs. gzip is what every kernel and runtime reads; at level 3 it is
#: packed in 1 s, not 11 s, and 7 % larger. Starts of each: docs/figures.md.
COMPRESSIONS = {'gzip': '-comp gzip -Xcompression-level 3', 'zstd': '-comp zstd -Xcompression-level 9',
                'none': '-noI -noD -noF -noX'}


def packing(program, compression, must=False, fast=False):
    """Return the options for a compression (key of COMPRESSIONS), none where the runtime cannot be told.

    Raises ImageError if it must have this one there. fast: for a stage that is unpacked again at once, whatever the
    runtime can.
    """
    known = subprocess.run([program, 'build', '--help'], capture_output=True, text=True).stdout
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

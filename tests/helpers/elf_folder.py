"""
Folders that play the root file system of an image or of a host, filled with small libraries that
are linked here.

What the loader of this machine does in such a folder is the truth that the tests compare with:
list_real_load() and others run it with the folder as its /, which needs root or a user namespace.

Small images, written by hand: a squashfs of a folder, and the SIF around it.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

from osu_container.image import sif as sif_file
from osu_container.image.elf import read_elf
from osu_container.image.image import Image
from osu_container.verdict.trial import Container
from tests.helpers.machine import assert_success, compile_library, run

#: The loader of this machine, as programs name it, and its C library
LOADER = read_elf('/bin/sh').interpreter
LIBC = re.search(r'libc\.so\.6 => (\S+)', run(['ldd', '/bin/sh']).stdout).group(1)
#: d_tag of <elf.h>
DT_RPATH, DT_AUDIT = 15, 0x6FFFFEFC
_CLONE_NEWUSER = 0x10000000


class ElfFolder:
    """
    A folder that plays a root file system. All paths are those in it, such as
    '/usr/lib/liba.so'.
    """

    def __init__(self, root):
        self.root, self.stubs = Path(root), Path(root).parent / (Path(root).name + '.stubs')
        for path in ('/usr/lib', '/etc'):
            self.resolve_path(path).mkdir(parents=True)
        self.copy(LOADER)

    def resolve_path(self, path):
        """Return the Path on this machine of path."""
        return self.root / str(path).lstrip('/')

    def copy(self, source, path=None):
        """
        Copy a file of this machine (str) to path, by default to the same one. Links are
        followed.
        """
        target = self.resolve_path(path or source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
        return self

    def write(self, path, content):
        """Write a file of content (str or bytes)."""
        target = self.resolve_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def link(self, path, target):
        """Make a symbolic link at path."""
        self.resolve_path(path).parent.mkdir(parents=True, exist_ok=True)
        self.resolve_path(path).symlink_to(target)
        return self

    def library(
        self,
        path,
        needed=(),
        soname=None,
        rpath=None,
        runpath=None,
        program=False,
        interpreter=LOADER,
        options=(),
    ):
        """
        Link a library without any symbol: quick, for what depends only on names and folders.

        :param needed: names (list of str) for DT_NEEDED; soname: str, by default the name of the
            file, '' for none; rpath, runpath: str or None, both for what linkers of long ago wrote;
            program: bool; interpreter: of the program; options: more ones for ld
        """
        target, scratch = self.resolve_path(path), self.stubs / 'empty.o'
        target.parent.mkdir(parents=True, exist_ok=True)
        if not scratch.exists():
            self.stubs.mkdir(exist_ok=True)
            _run_checked(['as', '-o', scratch, '-'], input='')
        command = ['ld', '-o', target, scratch, '--no-as-needed', *options]
        command += ['--dynamic-linker', interpreter, '-e', '0'] if program else ['-shared']
        soname = target.name if soname is None else soname
        if soname and not program:
            command += ['-soname', soname]
        command += [self._stub(name) for name in needed]
        if rpath and runpath:
            command += ['--audit', rpath]
        elif rpath:
            command += ['--disable-new-dtags', '-rpath', rpath]
        if runpath:
            command += ['--enable-new-dtags', '-rpath', runpath]
        _run_checked(command)
        if (
            rpath and runpath
        ):  # no linker of today writes both: another entry that holds a text becomes DT_RPATH
            content = target.read_bytes()
            assert content.count(struct.pack('<Q', DT_AUDIT)) == 1
            target.write_bytes(
                content.replace(struct.pack('<Q', DT_AUDIT), struct.pack('<Q', DT_RPATH))
            )
        return self

    def program(self, path, needed=(), **options):
        """Link a program that can be loaded, not run; see library()."""
        return self.library(path, needed, program=True, **options)

    def compile_source(self, path, source='void present(void) {}\n', needed=(), **options):
        """
        Compile a library; needed: paths in this folder, or on this machine where they are Path.
        See conftest.
        """
        compile_library(
            self.resolve_path(path),
            source=source,
            needed=[name if isinstance(name, Path) else self.resolve_path(name) for name in needed],
            **options,
        )
        return self

    def executable(self, path, source, needed=()):
        """Compile a program that can be run; needed: paths in this folder."""
        code = self.stubs / 'main.c'
        self.stubs.mkdir(exist_ok=True)
        self.resolve_path(path).parent.mkdir(parents=True, exist_ok=True)
        code.write_text(source)
        _run_checked(
            [
                'gcc',
                '-o',
                self.resolve_path(path),
                code,
                *(self.resolve_path(name) for name in needed),
                '-Wl,--no-as-needed',
                '-Wl,--allow-shlib-undefined',
                '-Wl,--unresolved-symbols=ignore-all',
                '-Wl,-z,lazy',
            ]
        )
        return self

    def _stub(self, name):
        """Return a library (Path) of the soname name, to link against."""
        stub = self.stubs / name.replace('/', '%')
        if not stub.exists():
            _run_checked(['ld', '-shared', '-o', stub, self.stubs / 'empty.o', '-soname', name])
        return stub

    def add_libc(self):
        """Add the C library of this machine where its loader looks for it."""
        return self.copy(LIBC)

    def write_cache(self):
        """Write /etc/ld.so.cache, as the packages of a distribution do."""
        done = _run_changing_root(
            [shutil.which('ldconfig') or '/sbin/ldconfig', '-X', '-r', self.root], _enter_namespace
        )
        assert_success(done)
        return self

    def __str__(self):
        return str(self.root)


def _run_checked(command, **kwargs):
    """Run a command that must work."""
    done = run(command, **kwargs)
    assert_success(done)


# ---- what the loader of this machine does


def _enter_namespace():
    """
    Get the right to change the root folder. For preexec_fn; raises OSError where the system
    forbids it.
    """
    if os.geteuid() != 0 and ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), 'unshare')


def run_in_folder(folder, command, **environment):
    """
    Run command (list of str, its program a path in the ElfFolder) with the folder as /, and
    nothing else set.
    """

    def enter():
        _enter_namespace()
        os.chroot(folder.root)
        os.chdir('/')

    # without /proc the loader does not know where the program lies, but by this variable
    return _run_changing_root(
        command, enter, env=dict(environment, LD_ORIGIN_PATH=os.path.dirname(command[0]))
    )


def _run_changing_root(command, preexec_fn, **kwargs):
    """
    Run a command for which preexec_fn gets the right to change the root folder, or skip the
    test.
    """
    try:
        return run(command, preexec_fn=preexec_fn, **kwargs)
    except subprocess.SubprocessError:
        pytest.skip(
            'this user may not make a user namespace, so the loader cannot be run in a folder'
        )


def join_folders(folders):
    """Return folders (list of str) as the loader's variables have them."""
    return ':'.join(folders)


def trace_loader(folder, program, library_path=(), preload=(), **more):
    """
    Return the CompletedProcess of the loader that lists what it would load; nothing of the
    program runs.
    """
    environment = dict(more, LD_TRACE_LOADED_OBJECTS='1')
    if library_path:
        environment['LD_LIBRARY_PATH'] = join_folders(library_path)
    if preload:
        environment['LD_PRELOAD'] = join_folders(preload)
    return run_in_folder(folder, [program], **environment)


def list_real_load(folder, program, library_path=(), preload=()):
    """
    Return (paths (list of str) that the loader loads with program, in its order, names (set) it
    does not find).
    """
    done = trace_loader(folder, program, library_path, preload)
    loaded, missing = [], set()
    for line in done.stdout.splitlines():
        found = re.match(r'\t(?:(\S+) => )?(not found|\S+)', line)
        name, path = found.groups()
        if path == 'not found':
            missing.add(name)
        elif path.startswith('/') and path != LOADER:
            loaded.append(path)
    damaged = re.search(
        r'error while loading shared libraries: \S+: (file too short|invalid ELF header)',
        done.stderr,
    )
    assert done.returncode == 0 or missing or damaged, done.stderr
    return loaded, missing


def open_simulated(folder, prefix='osu_'):
    """Return (Image, Container) of an ElfFolder, for load()."""
    image = Image(str(folder), prefix)
    return image, Container(image, {}, {})


# ---- MPI and libfabric for the rules: small libraries with the names, versions and texts that tell what they are


def _texts(*texts):
    """
    Return C source of a constant with texts (str), a zero before and after each, as compilers
    lay strings out.
    """
    return (
        'const char texts[] = "\\0" ' + ' "\\0" '.join(f'"{text}"' for text in texts) + ' "\\0";\n'
    )


def mpich(release='4.2.3', device='ch4:ofi', hmem=True, pmi=('PMI_FD', 'PMI_RANK'), cxi=None):
    """
    Return C source of what tells an MPICH; cxi: bool, it knows that provider, None: as the
    release does.
    """
    cxi = not release.startswith(('3.', '4.0')) if cxi is None else cxi
    return _texts(
        '16:3:4',
        'Wed Oct  2 09:35:21 AM CDT 2024',
        release,
        'MPICH Version:      %s',
        device,
        *(['MPIR_CVAR_CH4_OFI_ENABLE_HMEM'] if hmem else []),
        *(['cxi'] if cxi else []),
        *pmi,
        *(['MPIR_CVAR_CH4_CMA_ENABLE'] if release.startswith(('4.3', '5.')) else []),
    )


def capabilities(asks=(1, 22), others=(1, 6), own='cxi'):
    """
    Return C source of MPICH's table of capability sets.

    asks: (major, minor) of the first two rows; others: of the rest; own: text by which it knows a
    provider that has a row of its own.
    """
    rows = ', '.join(
        f'{{0x1f8f, 1, 0, 1, 20, 0, 31, 1, {major}, {minor}, 8, 0}}'
        for major, minor in [asks] * 2 + [others] * 8
    )
    return f'unsigned sets[][12] = {{{rows}}};\nconst char own[] = "\\0" "{own}" "\\0";\n'


def cray_mpich(release='8.1.32'):
    """Return C source of what tells a Cray MPICH."""
    return _texts(
        f'MPI VERSION    : CRAY MPICH version {release} (ANL base 3.4a2)',
        'PALS_APINFO',
        'PMI_FD',
        'MPICH_SMP_SINGLE_COPY_MODE',
    )


def intel_mpi(release='2021.19.0'):
    """Return C source of what tells an Intel MPI; it opens libfabric by itself."""
    return _texts(
        'Intel(R) MPI Library %s for Linux', release, 'ch4:ofi', 'PMI_FD', 'libfabric.so.1'
    )


def open_mpi(release='5.0.11'):
    """Return C source of what tells an Open MPI."""
    return _texts('Open MPI v%d.%d.%d', release, 'PMIX_RANK', 'libpmix.so.2')


#: The first functions' names of some providers, as their messages have them (image/traits.py)
_FUNCTIONS = {
    'cxi': 'cxip_',
    'tcp': 'xnet_',
    'shm': 'smr_',
    'verbs': 'vrb_',
    'rxm': 'rxm_',
    'opx': 'opx_',
    'psm2': 'psmx2_',
    'efa': 'efa_',
}


_MAIN = '''#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int %s();
int main(int count, char **arguments)
{
    if (%s(0, 0) != 0)
        return 2;
    for (int one = 1; one < count; one++)
        if (!dlopen(arguments[one], RTLD_NOW))
            return fprintf(stderr, "%%s\\n", dlerror()), strstr(arguments[one], "-net.so") ? 3 : 4;
    return 0;
}
'''


class Parts:
    """
    Makes small MPI and network libraries; each is compiled once for all tests and copied from
    then on.
    """

    def __init__(self, folder):
        self.folder = Path(folder)

    def _compile_library(self, name, *key, **options):
        """Return the Path of a compiled library that has the file name and soname name."""
        return self._make_once(
            (name, key, sorted(options.items(), key=str)),
            name,
            lambda path: compile_library(path, **options),
        )

    def _make_once(self, key, name, make):
        """
        Return the Path of what make(path) makes under a name (str), the same for a key in all
        processes of a run.
        """
        folder = self.folder / hashlib.sha256(repr(key).encode()).hexdigest()
        if not folder.exists():
            new = Path(tempfile.mkdtemp(dir=self.folder))
            make(new / name)
            with contextlib.suppress(OSError):  # another process was faster
                new.rename(folder)
        return folder / name

    def plain(self, name, **options):
        """Return a library without anything; options as of compile_library()."""
        return self._compile_library(name, **options)

    def compile_versioned(self, name, *versions, symbol='of_{}', **options):
        """
        Return a library with one function a version, of_VERSION or as symbol says, dots
        replaced.
        """
        names = [symbol.format(re.sub(r'\W', '_', version)) for version in versions]
        nodes = [f'{version} {{ global: {name}; }};\n' for version, name in zip(versions, names)]
        return self._compile_library(
            name,
            version_script=''.join(nodes),
            source=''.join(f'void {name}(void) {{ }}\n' for name in names),
            **options,
        )

    def compile_dependent(self, name, provider, versions, **options):
        """
        Return a library that needs versions (list of str) of a library that compile_versioned()
        made.
        """
        names = ['of_' + re.sub(r'\W', '_', version) for version in versions]
        source = ''.join(f'void {other}(void);\n' for other in names)
        source += 'void user(void) {' + ''.join(f' {other}();' for other in names) + ' }\n'
        return self._compile_library(name, source=source, needed=[provider], **options)

    def fabric(
        self,
        release='1.22.0',
        newest=7,
        providers=('cxi', 'tcp'),
        needed=('libcxi.so.1',),
        more='',
        **options,
    ):
        """
        Return a libfabric.so.1 that defines FABRIC_1.0 to FABRIC_1.newest (int); more: C source.
        """
        major, minor = release.split('.')[:2]
        source = _texts(
            release,
            *(
                f'{_FUNCTIONS[name]}{word}'
                for name in providers
                for word in ('getinfo', 'domain', 'endpoint', 'close')
            ),
        )
        source += more + f'int fi_version(void) {{ return {major} << 16 | {minor}; }}\n'
        source += ''.join(
            f'void of_FABRIC_1_{number}(void) {{ }}\n' for number in range(newest + 1)
        )
        nodes = 'FABRIC_1.0 { global: of_FABRIC_1_0; fi_version; texts; local: *; };\n' + ''.join(
            f'FABRIC_1.{number} {{ global: of_FABRIC_1_{number}; }} FABRIC_1.{number - 1};\n'
            for number in range(1, newest + 1)
        )
        return self._compile_library(
            'libfabric.so.1',
            source=source,
            version_script=nodes,
            needed=[self.plain(name) for name in needed],
            options=('-O2', *options.pop('options', ())),
            **options,
        )

    def mpi(self, text=None, name='libmpi.so.12', needs=7, more='', needed=(), **options):
        """
        Return an MPI library: text of mpich() and others; needs: number of the newest FABRIC_1.x
        that it needs, None where it does not use libfabric; more: C source; needed: list of Path.
        """
        source = (
            (text or mpich())
            + ''.join(
                f'int {function}(void *a, void *b) {{ return 0; }}\n'
                for function in ('MPI_Init', 'PMPI_Init', 'MPI_Finalize')
            )
            + more
        )
        needed = list(needed)
        if needs is not None:
            names = [f'of_FABRIC_1_{number}' for number in sorted({0, needs})]
            source += ''.join(f'void {each}(void);\n' for each in names)
            source += 'void network(void) {' + ''.join(f' {each}();' for each in names) + ' }\n'
            needed.append(self.fabric(newest=max(needs, 7), needed=()))
        return self._compile_library(name, source=source, needed=needed, **options)

    def program(self, mpi, calls='MPI_Init', options=()):
        """
        Return a program that was linked with a library mpi (Path) and calls a function of it,
        returns 0 if all is well.

        Libraries that are its arguments it opens too, as RCCL opens its plugin, and returns 3 if it
        cannot open that, 4 for others.
        """

        def make(path):
            (path.parent / 'main.c').write_text(_MAIN % (calls, calls))
            _run_checked(
                [
                    'gcc',
                    '-w',
                    '-o',
                    path,
                    path.parent / 'main.c',
                    '-Wl,--no-as-needed',
                    mpi,
                    '-Wl,--as-needed',
                    '-ldl',
                    '-Wl,--no-as-needed',
                    '-Wl,--unresolved-symbols=ignore-all',
                    '-Wl,-z,lazy',
                    *options,
                ]
            )

        return self._make_once(('program', str(mpi), calls, options), 'program', make)


def fill_good_image(
    folder,
    parts,
    mpi=None,
    fabric=None,
    plugin='',
    environment=None,
    rocm='6.3.4',
    cuda=None,
    program='',
    mpi_folder='/opt/mpich/lib',
    libraries=(),
    shs='12.0.2',
):
    """
    Fill an ElfFolder as an image that works everywhere, but for what a test gives.

    :param mpi, fabric, plugin, program: Path of other ones, None for none (mpi, fabric: the good
        ones)
    :param environment: dict of more variables; rocm, cuda: release or None
    :param libraries: list of Path, more libraries, for /usr/lib; shs: release of SHS of its libcxi,
        None if not said
    """
    mpi = mpi or parts.mpi()
    fabric = fabric or parts.fabric()
    folder.add_libc().copy(mpi, f'{mpi_folder}/{mpi.name}').copy(fabric, f'/usr/lib/{fabric.name}')
    for library in [parts.plain('libcxi.so.1'), *libraries]:
        folder.copy(library, f'/usr/lib/{library.name}')
    if plugin is not None:
        plugin = plugin or parts.compile_dependent(
            'librccl-net.so', parts.fabric(), ['FABRIC_1.0', 'FABRIC_1.7']
        )
        folder.copy(plugin, '/opt/plugin/lib/librccl-net.so')
    if program is not None:
        folder.copy(program or parts.program(mpi), '/opt/osu/bin/osu_latency')
    variables = {'LD_LIBRARY_PATH': mpi_folder, **(environment or {})}
    # As in the script of the runtime, only PATH replaces the value that the runtime has set.
    folder.write(
        '/.singularity.d/env/10-docker2singularity.sh',
        '#!/bin/sh\n'
        + ''.join(
            f'export PATH="{value}"\n'
            if name == 'PATH'
            else f'export {name}="${{{name}:-"{value}"}}"\n'
            for name, value in variables.items()
        ),
    )
    # as apptainer build writes it: what is given to the runtime comes in behind it
    folder.write(
        '/.singularity.d/env/99-base.sh',
        'LD_LIBRARY_PATH="$LD_LIBRARY_PATH:/.singularity.d/libs"\nexport LD_LIBRARY_PATH\n',
    )
    if shs:
        folder.write(
            '/.singularity.d/labels.json',
            json.dumps({'org.osu-container.libcxi': f'1.0.2-SHS{shs}'}),
        )
    if rocm:
        folder.write(f'/opt/rocm-{rocm}/.info/version', f'{rocm}-99\n')
    if cuda:
        folder.write(f'/usr/local/cuda-{cuda}/version.json', '{}\n')
    return folder


def fill_good_host(folder, parts, site, **others):
    """
    Fill an ElfFolder with the libraries that a site (dict) names, others: name -> Path of another
    one, None for none.

    What is in it fits fill_good_image().
    """
    made = {
        'libmpi': lambda: parts.mpi(cray_mpich()),
        'libfabric': parts.fabric,
        'libompi': lambda: parts.mpi(open_mpi(), 'libmpi.so.40'),
    }
    for name, fact in site['libraries'].items():
        if not fact or (name in others and others[name] is None):
            continue
        path = fact['value']
        library = (
            others.get(name)
            or made.get(name, lambda path=path: parts.plain(os.path.basename(path)))()
        )
        folder.copy(library, path)
    return folder


def pack(root, target, *options):
    """Pack a folder into a squashfs, the same one for the same folder."""
    done = run(
        [
            'mksquashfs',
            root,
            target,
            '-noappend',
            '-no-progress',
            '-quiet',
            '-all-root',
            '-mkfs-time',
            '0',
            '-noI',
            '-noD',
            '-noF',
            *options,
        ]
    )
    assert_success(done)
    return target


def write_sif(path, squashfs, labels=None, objects=()):
    """
    Write a SIF: squashfs (bytes) as system partition 1, labels (dict) as 2, then objects: (kind,
    name, link, bytes).

    An object may have a fifth part, its extra bytes: of a partition they say of which kind it is.

    All are in group 1, but for signatures, which are in none and have link: the group's number with
    GROUP_MASK.
    """
    metadata = json.dumps({'data': {'attributes': {'labels': labels or {}}}}).encode()
    every = [
        (sif_file.DATA_PARTITION, '', 0, squashfs, sif_file.PARTITION.pack(1, 2)),
        (sif_file.DATA_GENERIC_JSON, 'inspect-metadata.json', 0, metadata, b''),
        *((*one, b'')[:5] for one in objects),
    ]
    start = 128 + 585 * len(every)
    table, data = b'', b''
    for number, (kind, name, link, content, extra) in enumerate(every, 1):
        group = sif_file.GROUP_MASK | (0 if kind == sif_file.DATA_SIGNATURE else 1)
        table += sif_file.DESCRIPTOR.pack(
            kind,
            True,
            number,
            group,
            link,
            start + len(data),
            len(content),
            len(content),
            0,
            0,
            0,
            0,
            name.encode(),
            extra,
        )
        data += content
    header = sif_file.HEADER.pack(
        b'#!/usr/bin/env run-singularity\n',
        b'SIF_MAGIC',
        b'01',
        b'02',
        bytes(16),
        0,
        0,
        0,
        len(every),
        128,
        len(table),
        start,
        len(data),
    )
    path.write_bytes(header + table + data)
    return path

"""
Make a folder that has the host paths of a site (LUMI, one software stack; Frontier, Setonix,
Perlmutter, Alps), out of real libraries where there are any.

    tests/stand_in/make lumi-25.03 DIR                             make the tree
    tests/stand_in/make lumi-25.03 DIR --without rocm              make it as a host that lost ROCm
    tests/stand_in/make lumi-25.03 DIR --update libfabric=2.3.1    change it as an update of the system would
    tests/stand_in/make frontier DIR --facts-only                  only names and releases: nothing in it runs

`eb --sysroot=DIR --try-amend=site=SITE ...` then installs the modules of the site, and
`osu-container discover --sysroot DIR` finds it. README.md beside this file says which file plays
which part, and what such a tree cannot show.

Python 3.9 or newer, standard library only. Programs needed: gcc, patchelf, and mmdebstrap for
ROCm's library. Wheels are kept in sources/, what is unpacked in .workstation/pairs/
(pairs/parts.py).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path

from osu_container.base.places import PROJECT, STATE
from osu_container.build.installed import unpack_image
from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import ElfError
from osu_container.image.libraries import ElfSections
from osu_container.image.sif import ImageError
from osu_container.install.site_image import list_image_folders
from osu_container.verdict.rules.fabric import FABRIC_VERSIONS
from osu_container.verdict.site_choice import resolve_site
from tests.stand_in.pairs import parts
from tests.stand_in.pairs.parts import StandInError, run
from tests.stand_in.systems import HOSTS, MODELS

#: Whose trees can be made
NAMES = sorted(HOSTS)
#: Time stamp of all files, s since 1970 (2026-01-01), so that two trees of the same files are alike
TIME_STAMP = 1767225600

#: Release of Cray MPICH -> the wheel that is nearest to the MPICH it is made from: 8.1 from 3.4a2,
#: 9.0 from 4.1.2.
MPICH_FOR_CRAY = {'8': 'mpich-3.4.3', '9': 'mpich-4.1.3'}
#: The same where there is no Cray MPICH, for its libfabric
MPICH_FOR_LIBFABRIC = 'mpich-4.1.3'
#: The wheel whose libfabric (2.5.1) comes with --update; a host's update brings a newer one.
MPICH_WITH_NEWER_LIBFABRIC = 'mpich-5.0.2'
#: A library of the site data -> those of the site data that it needs, as the original does.
NEEDS = {
    'libfabric': ['libcxi'],
    'libmpi': ['libpmi', 'libpmi2'],
    'libmpi_gtl_hsa': ['libamdhip64', 'libhsa-runtime64'],
    'libmpi_gtl_cuda': ['libcudart'],
    'libcudart': [],
    'libamdhip64': ['libhsa-runtime64'],
}
#: What can be had nowhere, and stands here as an empty library of its name
FAKES = {
    'libamdhip64': "the HIP runtime of AMD's ROCm",
    'libcuda': "NVIDIA's driver library",
    'libcudart': "the runtime of NVIDIA's CUDA",
    'libcxi': "HPE's libcxi, through which libfabric's cxi provider drives the Slingshot card",
    'liblustreapi': "the library of Lustre, which Cray MPICH opens for files there",
    'libmpi_gtl_cuda': "the GPU transport layer of Cray MPICH for NVIDIA's GPUs",
    'libmpi_gtl_hsa': "the GPU transport layer of Cray MPICH for AMD's GPUs",
    'libompi': "the host's Open MPI, for images whose MPI that is",
    'libpals': "HPE's PALS, which tells Cray PMI about the launcher",
    'libpmi': "Cray PMI, through which the ranks of Cray MPICH find each other",
    'libpmi2': "Cray PMI with the interface of PMI-2",
    'libxpmem': "libxpmem, by which the ranks of a node share memory",
}
REAL = ('libmpi', 'libfabric', 'libhsa-runtime64')
#: Release of the MPICH that Cray MPICH says it is made from (sources in ../easyblocks/generic,
#: module traits)
ANL_BASE = {'8': '3.4a2', '9': '4.1.2'}
#: Functions of libfabric that programs are linked with: those that are new with a symbol version,
#: and others
FABRIC_VERSIONED = ('fi_getinfo', 'fi_freeinfo', 'fi_dupinfo', 'fi_fabric')
FABRIC_PLAIN = (
    'fi_strerror fi_tostr fi_tostr_r fi_getparams fi_freeparams fi_param_define '
    'fi_param_get fi_log fi_log_enabled fi_log_ready'
).split()
#: What names of functions a provider leaves in the file; image/traits.py looks for them
FUNCTIONS = {'cxi': 'cxip', 'tcp': 'xnet', 'shm': 'smr', 'ofi_rxm': 'rxm', 'udp': 'udpx'}

#: Commands of Slurm that a tree has, and the program that srun runs before each task
SLURM = ('srun', 'scontrol', 'sinfo', 'task_prolog')
STAND_IN = PROJECT / 'tests' / 'stand_in'
MACHINE_FOLDERS = resolve_site('workstation')['library_folders']['value']

#: Cray's programming environment. The site data name its compilers as commands and its modules by
#: name.
PE = 'opt/cray/pe'
MODULES = f'{PE}/lmod/modulefiles'

#: What stands in those of the site's files that are no folders.
FILES = {
    'libdrm_ids': "# stand-in, not the real table of GPU names\n",
    'kernel_config': "# stand-in, not the configuration of this kernel: what libfabric asks for before it uses DMABUF\n"
    "CONFIG_DMABUF_MOVE_NOTIFY=y\nCONFIG_PCI_P2PDMA=y\n",
}


def patchelf(path, *options):
    """
    Change the ELF file path (Path) in place. The project's own environment has the program (make
    setup).
    """
    own = STATE / 'venv' / 'bin' / 'patchelf'
    run([own if own.exists() else 'patchelf', *options, path])


def debian_closure(soname):
    """
    Return {soname: path} of a library of Debian's ROCm and all that it needs but glibc.

    It is that of the images for a workstation: libraries of the host may not need a newer C library
    than an image has. Raises StandInError.
    """
    root = parts.debian('bookworm', 'rocm')
    folders = [str(root) + folder for folder in MACHINE_FOLDERS]
    library = next(root.glob(f'usr/lib/*/{soname}'))
    libraries, missing = collect_dependencies([str(library)], folders, lambda _: False)
    if missing:
        raise StandInError(f"{library} needs {missing[0][0]}, which Debian's packages do not have")
    return {name: Path(facts.path) for name, facts in libraries.items()}


def compile_slingshot(target, tree, release):
    """
    Compile files/slingshot.c, which is libcxi and the provider cxi of a tree or of an image.

    target: path of the new library; tree: path of the tree, '' in an image; release: SHS of this
    libcxi. The library defines the symbol versions of the real libcxi (HewlettPackard/shs-libcxi,
    src/libcxi.sym of the tags release/shs-12.0.0 to release/shs-14.0.0), but none of its functions.
    """
    headers = parts.debian('bookworm', 'headers') / 'usr/include'
    newest = {'13.1.0': 9, '14.0.0': 10}.get(release, 8)
    with tempfile.NamedTemporaryFile('w', suffix='.map') as script:
        script.writelines(f'LIBCXI_1.{number} {{ }};' for number in range(newest + 1))
        script.flush()
        command = ['gcc', '-shared', '-fPIC', '-O1', '-o', target, STAND_IN / 'files/slingshot.c']
        command += ['-I', headers, f'-DTREE="{tree}"', f'-DSHS="{release}"', '-ldl']
        run([*command, f'-Wl,-soname,libcxi.so.1,--version-script,{script.name}'])


def add_names(library, *names):
    """
    Add names to the constant strings of a library (Path), as if its code contained these names.

    Cray's libfabric contains the provider cxi and Cray MPICH supports cxi; osu_container/image/traits.py
    recognizes both by such names. A copy of the section .rodata with the names is put at the end of
    the file. The section header then points to the copy; the loader does not read section headers.
    """
    data = library.read_bytes()
    elf, (table,) = ElfSections(data), struct.unpack_from('<Q', data, 40)
    strings = elf.read_strings() + '\0'.join(['', *names, '']).encode()
    header = table + 64 * elf.names.index(b'.rodata') + 24
    place = struct.pack('<QQ', len(data), len(strings))
    library.write_bytes(data[:header] + place + data[header + 16 :] + strings)


def connect_slingshot(libfabric):
    """Let a libfabric (Path) load libcxi.so.1, which contains the provider cxi of a stand-in."""
    patchelf(libfabric, '--add-needed', 'libcxi.so.1')
    add_names(libfabric, 'cxip_getinfo', 'cxip_domain', 'cxip_fabric')


def make_slingshot_image(source, release):
    """
    Return the path of a copy of an image (Path) whose libfabric has the provider cxi.

    release: SHS of the image's libcxi. The function builds a missing image. The copy is in
    .workstation/pairs/images and is made again after a change of the image or of
    files/slingshot.c.
    """
    with parts.lock_part(source.name):
        if not source.exists():
            run([PROJECT / 'scripts/osu-container', 'image', 'build', source.stem])
    code = STAND_IN / 'files/slingshot.c'
    target = parts.FOLDER / 'images' / f'{source.stem}-libcxi-{release}.sif'
    with parts.lock_part(target.name):
        if not target.exists() or target.stat().st_mtime < max(
            code.stat().st_mtime, source.stat().st_mtime, Path(__file__).stat().st_mtime
        ):
            target.parent.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(prefix='.image-', dir=parts.FOLDER) as scratch:
                root = Path(scratch) / 'root'
                unpack_image(source, root)
                for libfabric in root.glob('opt/**/libfabric.so.1'):
                    if not libfabric.is_symlink():
                        connect_slingshot(libfabric)
                    compile_slingshot(libfabric.with_name('libcxi.so.1'), '', release)
                labels = root / '.singularity.d/labels.json'
                text = labels.read_text().replace('libcxi": "none', f'libcxi": "1.0-SHS{release}')
                labels.write_text(text)
                fast = ['--mksquashfs-args', '-comp zstd -Xcompression-level 1']
                run([parts.runtime()['command'], 'build', '--force', *fast, target, root])
            sha256 = hashlib.sha256(target.read_bytes()).hexdigest()
            Path(f'{target}.sha256').write_text(f'{sha256}  {target.name}\n')
    return target


def write_text(target, text=''):
    """Write a file (Path), and make its folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


# The tree


class Tree:
    """A tree at `root` (Path) for a site (dict); facts_only: nothing in the tree runs."""

    def __init__(self, site, root, facts_only=False):
        self.facts_only = facts_only
        self.site, self.root, self.host = site, root, HOSTS[site['name']]
        self.libraries = {name: fact['value'] for name, fact in site['libraries'].items() if fact}
        folders = site['library_folders']['value']
        #: The folder of libraries that have none of their own, and that of libdrm
        self.usual = next(folder for folder in folders if folder.startswith('/usr/'))
        self.amdgpu = next((folder for folder in folders if 'amdgpu' in folder), self.usual)
        self.mpich = self.cray_mpich = self.mpich_root = None
        if 'libmpi' in self.libraries:
            #: lib-abi-mpich lies in the folder of one build of Cray MPICH, beside bin, include and
            #: lib.
            self.mpich = Path(self.libraries['libmpi']).parent.parent
            self.cray_mpich = re.search(r'/mpich/([\d.]+)/', self.libraries['libmpi']).group(1)
            self.mpich_root = (
                str(self.mpich).split(f'/{self.cray_mpich}/')[0] + f'/{self.cray_mpich}'
            )
        hsa, cudart = self.libraries.get('libhsa-runtime64'), self.libraries.get('libcudart')
        self.rocm = str(Path(hsa).parent.parent) if hsa else None
        self.cuda = str(Path(cudart).parent.parent) if cudart else None
        self.gtl = next((name for name in self.libraries if name.startswith('libmpi_gtl_')), None)
        self.shs = site.get('slingshot', {'value': 'unknown'})['value']
        self.native_modules = (site['native']['value'] or {'modules': []})['modules']

    def __call__(self, path):
        """Return where the host path (str or Path) lies while the tree is made."""
        return self.root / str(path).lstrip('/')

    def put(self, source, path):
        """Copy a library (Path) to a host path."""
        target = self(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755)

    def link_for_linker(self, path):
        """
        Make lib*.so beside lib*.so.N of a host path: linkers ask for it, and libfabric opens
        libhsa-runtime64.so.
        """
        link = self(path).with_name(re.sub(r'\.so\..*', '.so', Path(path).name))
        if link.name != Path(path).name:
            link.unlink(missing_ok=True)
            link.symlink_to(Path(path).name)

    def need(self, name):
        """Let the library `name` need what the original needs, of what this site has."""
        sonames = [
            Path(self.libraries[other]).name
            for other in NEEDS.get(name, [])
            if other in self.libraries
        ]
        if sonames:
            patchelf(
                self(self.libraries[name]),
                *(word for soname in sonames for word in ('--add-needed', soname)),
            )

    def make_mpich(self, key):
        """Unpack the MPICH that stands in for Cray MPICH, its libmpi in lib-abi-mpich."""
        prefix = self(self.mpich)
        shutil.copytree(parts.wheel(key), prefix, symlinks=True)
        # Cray's libfabric is in its own place and has no such plug-ins
        (prefix / 'lib/mpich/libfabric.so.1').unlink()
        shutil.rmtree(prefix / 'lib/mpich/libfabric', ignore_errors=True)
        abi = self(self.libraries['libmpi']).parent
        abi.mkdir()
        # libmpi finds the libraries of UCX in $ORIGIN/mpich. Cray MPICH has none.
        for name in ('libmpi.so.12', 'mpich'):
            (prefix / 'lib' / name).rename(abi / name)
            (prefix / 'lib' / name).symlink_to(os.path.join('..', abi.name, name))
        self.link_for_linker(self.libraries['libmpi'])
        self.need('libmpi')
        add_names(self(self.libraries['libmpi']), 'cxi')

    def make_libfabric(self, key, path):
        """
        Put the libfabric of an MPICH wheel (key) to the host path, needing libcxi as Cray's
        does.
        """
        self.put(parts.wheel(key) / 'lib/mpich/libfabric.so.1', path)
        self.link_for_linker(path)
        # The RUNPATH of the wheel is for plug-ins that are not here, and would hide the program's
        # RPATH from libcxi.
        patchelf(self(path), '--remove-rpath')
        connect_slingshot(self(path))

    def make_hsa(self):
        """Put Debian's build of AMD's library and all that it needs to where they are on LUMI."""
        hsa = self.libraries['libhsa-runtime64']
        for soname, source in debian_closure(Path(hsa).name).items():
            if soname.startswith('libhsa'):  # also libhsakmt, of the same build
                folder = Path(hsa).parent
            else:
                folder = Path(self.amdgpu if soname.startswith('libdrm') else self.usual)
            self.put(source, folder / soname)
            # Debian's RUNPATH does not lead to the other folders, and would hide the program's
            # RPATH from them.
            patchelf(self(folder / soname), '--remove-rpath')
        self.link_for_linker(hsa)

    def make_fakes(self):
        """Compile what cannot be had: libraries with the right name that say what they are."""

        def dependencies_first(name):
            return [
                other for needed in NEEDS.get(name, []) for other in dependencies_first(needed)
            ] + [name]

        names = [other for wanted in self.libraries for other in dependencies_first(wanted)]
        for name in dict.fromkeys(names):
            if name in REAL or name not in self.libraries:
                continue
            if name == 'libcxi' and not self.facts_only:
                path = self(self.libraries[name])
                path.parent.mkdir(parents=True, exist_ok=True)
                compile_slingshot(path, self.root, self.shs)
                self.link_for_linker(self.libraries[name])
                continue
            with tempfile.TemporaryDirectory(prefix='stand-in-') as scratch:
                code = Path(scratch) / f'{name}.c'
                code.write_text(
                    f'/* {FAKES[name]} */\nconst char osu_container_stand_in_{name[len("lib") :]}[] = '
                    f'"stand-in, not the real {name}";\n'
                )
                self.compile(name, code, NEEDS.get(name, []))

    def compile(self, name, code, needs, *options):
        """
        Compile a library of the site from code (Path), needing the libraries `needs` (names)
        that the site has.
        """
        path = self.libraries[name]
        self(path).parent.mkdir(parents=True, exist_ok=True)
        needed = [self(self.libraries[other]) for other in needs if other in self.libraries]
        run(
            [
                'gcc',
                '-shared',
                '-fPIC',
                '-O1',
                '-o',
                self(path),
                code,
                f'-Wl,-soname,{Path(path).name}',
                '-Wl,--no-as-needed,--allow-shlib-undefined',
                *options,
                *needed,
            ]
        )
        self.link_for_linker(path)

    def make_facts_only(self):
        """
        Compile what the wheels and Debian would bring, so that each file says of itself what the
        original says.
        """
        with tempfile.TemporaryDirectory(prefix='stand-in-') as scratch:
            code, script = Path(scratch) / 'code.c', Path(scratch) / 'versions.map'

            def fake(name):
                return f'const char osu_container_stand_in[] = "stand-in, not the real {name}";\n'

            major, minor, *rest = re.findall(r'\d+', Path(self.libraries['libfabric']).parts[-3])
            release = '.'.join([major, minor, *rest])
            functions = [
                f'"{FUNCTIONS[name]}_{word}"'
                for name in self.host['providers']
                for word in ('domain', 'endpoint', 'getinfo', 'fabric')
            ]
            functions.insert(1, f'"{release}"')  # a text among others, as it is looked for
            newest = [
                int(name.rpartition('.')[2])
                for since, name in FABRIC_VERSIONS
                if since <= (int(major), int(minor))
            ][-1]
            last = f'global: {"; ".join(FABRIC_VERSIONED)}; local: *; '
            code.write_text(
                fake('libfabric') + f'const char *const names[] = {{{", ".join(functions)}}};\n'
                f'unsigned fi_version(void) {{ return {major}u << 16 | {minor}u; }}\n'
                + ''.join(f'int {name}(void) {{ return -61; }}\n' for name in FABRIC_PLAIN)
                + ''.join(
                    f'int {name}_{number}(void) {{ return -61; }}\n__asm__(".symver {name}_{number},{name}@'
                    f'{"@" if number == newest else ""}FABRIC_1.{number}");\n'
                    for name in FABRIC_VERSIONED
                    for number in range(newest + 1)
                )
            )
            script.write_text(
                f'FABRIC_1.0 {{ global: fi_version; {"; ".join(FABRIC_PLAIN)}; }};\n'
                + ''.join(
                    f'FABRIC_1.{number} {{ {last if number == newest else ""}}} FABRIC_1.{number - 1};\n'
                    for number in range(1, newest + 1)
                )
            )
            self.compile('libfabric', code, [], f'-Wl,--version-script,{script}')
            if not self.mpich:
                return
            code.write_text(
                fake('libmpi') + 'extern int fi_getinfo(void);\n'
                f'const char version[] = "CRAY MPICH version {self.cray_mpich}.110 '
                f'(ANL base {ANL_BASE[self.cray_mpich[0]]})";\n'
                'int MPI_Init(void) { return fi_getinfo(); }\n'
            )
            self.compile('libmpi', code, ['libfabric'])
            if self.rocm:
                code.write_text(fake('libhsa-runtime64'))
                self.compile('libhsa-runtime64', code, [])

    def link_default_folder(self):
        """Link the libraries of Cray's programming environment in the folder that ld.so knows."""
        folder = self(f'{PE}/lib64')
        folder.mkdir(parents=True, exist_ok=True)
        for path in self.libraries.values():
            target = self(path)
            if (
                PE in path
                and target.parent != folder
                and (not self.mpich or self.mpich not in Path(path).parents)
            ):
                for name in (target.name, re.sub(r'\.so\..*', '.so', target.name)):
                    (folder / name).symlink_to(os.path.relpath(target.with_name(name), folder))

    def list_planted_paths(self, fact):
        """
        Return the paths (list of Path) of a fact of the site's files, but those that only a step
        of Slurm has.
        """
        kernel = os.uname().release
        paths = [path.replace('{kernel}', kernel) for path in fact['value']]
        return [self(path) for path in paths if '{' not in path]

    def make_files(self):
        """Make the files and folders that the site may bind, and those with images."""
        for name, fact in self.site['files'].items():
            for target in self.list_planted_paths(fact):
                if name in FILES:
                    write_text(target, FILES[name])
                else:
                    target.mkdir(parents=True, exist_ok=True)
        for folder in list_image_folders(self.site, '', {}):
            self(folder).mkdir(parents=True, exist_ok=True)

    def make_commands(self):
        """
        Put the runtime, Slurm's commands and the compiler drivers to their places, the local
        file to the top.
        """
        files = [('_mpicontainer_local.py', '_mpicontainer_local.py')]
        if self.mpich:
            files += [('cc', f'{PE}/craype/bin/cc'), ('link.conf', f'{PE}/craype/link.conf')]
        if self.host['runtime']:
            files.append(('commands', f"usr/bin/{self.host['runtime'][0]}"))
        files += [('commands', f'usr/bin/{name}') for name in SLURM]
        says = {
            'RELEASE': (self.host['runtime'] or ('', ''))[1],
            'MPI': '\n'.join(self.host['mpi']),
            'CONFIG': '\n'.join(self.host['slurm']),
            'PARTITIONS': '\n'.join(self.host['partitions']),
            'TREE': str(self.root),
            'CARDS': ','.join(self.host['cards']),
            'PMI': repr(self.local_pmi()),
            'IMAGES': repr(self.local_images()),
        }
        for name, path in files:
            source = STAND_IN / 'files' / name
            place = r"'@(\w+)@'" if source.suffix == '.py' else r'@(\w+)@'
            text = re.sub(place, lambda found: says[found.group(1)], source.read_text())
            write_text(self(path), text)
            shutil.copymode(source, self(path))
        for name in ('CC', 'ftn') if self.mpich else ():
            self(f'{PE}/craype/bin/{name}').symlink_to('cc')
        # EasyBuild refuses a --sysroot without it.
        self('usr/bin/env').symlink_to('/usr/bin/env')

    def local_pmi(self):
        """
        Return the site's pmi (dict) as it can be here: what stands in for Cray MPICH speaks
        PMI-2.
        """
        return {
            who: 'pmix' if kind == 'pmix' else 'pmi2'
            for who, kind in self.site['pmi']['value'].items()
        }

    def local_images(self):
        """
        Return {approach: file name of an image that this machine has}, for the approaches with
        an image here.
        """
        here = resolve_site('workstation')['images']['value']
        names = {name: here[name] for name in self.site['images']['value'] if name in here}
        for name in set() if self.facts_only else {'opensource', 'openmpi'} & set(names):
            names[name] = make_slingshot_image(PROJECT / 'sources' / names[name], self.shs).name
        return names

    def make_node(self):
        """
        Plant what a node tells of its network, GPUs, mounts and release: in /sys, /dev, /proc
        and /etc.
        """

        def plant(path, text=''):
            write_text(self(path), text)

        for name in self.host['interfaces']:
            plant(f'sys/class/net/{name}/operstate', 'up\n')
        for name in self.host['cards']:
            plant(f'sys/class/cxi/{name}/stand-in')
            plant(f'dev/{name}', f'stand-in, not a card; SHS {self.shs}\n')
        gpu = self.host['gpu'] or ''
        if gpu.startswith('gfx'):
            number = int(gpu[3:-2]) * 10000 + int(gpu[-2], 16) * 100 + int(gpu[-1], 16)
            for node, target in enumerate((0, number)):  # the first is the processor
                plant(
                    f'sys/class/kfd/kfd/topology/nodes/{node}/properties',
                    f'gfx_target_version {target}\n',
                )
        elif gpu:
            plant(
                'proc/driver/nvidia/gpus/0000:03:00.0/information',
                f'Model: \t\t {MODELS[gpu]}\n',
            )
            driver = self.site.get('gpu_driver', {'value': '0'})['value']
            plant(
                'proc/driver/nvidia/version',
                f'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {driver}\n',
            )
        systems = self.site['files'].get('file_systems', {'value': []})['value']
        plant(
            'proc/mounts',
            ''.join(f'10.0.0.1@o2ib:/stand-in {path} lustre rw 0 0\n' for path in systems),
        )
        plant('etc/os-release', f'PRETTY_NAME="{self.host["os"]}"\n')
        one_build = self.site['one_build']['value']
        folders = [path for path in self.site['library_folders']['value'] if path not in one_build]
        plant(
            'etc/ld.so.conf', ''.join(f'{path}\n' for path in folders if path.startswith('/opt/'))
        )

    def libfabric(self):
        """
        Return the host path (str) of the libfabric that the tree has now: an update changes it.
        """
        path = Path(self.libraries['libfabric'])
        found = list(self(path.parents[2]).glob(f'*/{path.parent.name}/{path.name}'))
        return f'/{found[0].relative_to(self.root)}'

    def make_modules(self):
        """Write the modules of Cray's programming environment, for what is in the tree."""
        folder = self(MODULES)
        shutil.rmtree(folder, ignore_errors=True)
        libfabric = Path(self.libfabric())
        used = [
            path
            for path in self.site['library_folders']['value']
            if self.rocm is None or self.rocm not in path
        ]
        values = {
            'TREE': self.root,
            'MPICH_DIR': f'{self.root}{self.mpich}',
            'MPICH_ROOT': f'{self.root}{self.mpich_root}',
            'GTL': f"{self.root}{Path(self.libraries.get(self.gtl, '')).parent}",
            'GTL_NAME': (self.gtl or '')[len('lib') :],
            'LIBFABRIC': f'{self.root}{libfabric.parent}',
            'ROCM': f'{self.root}{self.rocm}',
            'CUDA': f'{self.root}{self.cuda}',
            'FOLDERS': ':'.join(
                f'{self.root}{path}' for path in used if any(self(path).glob('*.so*'))
            ),
        }
        package = self(libfabric).parent / 'pkgconfig' / 'libfabric.pc'
        write_text(
            package,
            f'prefix={self.root}{libfabric.parents[1]}\nlibdir=${{prefix}}/{libfabric.parent.name}\n'
            f'Name: libfabric\nDescription: stand-in\nVersion: {libfabric.parts[-3]}\n'
            'Libs: -L${libdir} -lfabric\n',
        )
        os.utime(package, (TIME_STAMP, TIME_STAMP))
        modules = {f'libfabric/{libfabric.parts[-3]}': 'libfabric'}
        if self.mpich:
            modules.update(
                {
                    'craype': 'craype',
                    'PrgEnv-amd': 'PrgEnv',
                    'PrgEnv-gnu': 'PrgEnv',
                    f'cray-mpich/{self.cray_mpich}': 'cray-mpich',
                    f'cray-mpich-abi/{self.cray_mpich}': 'cray-mpich-abi',
                }
            )
        for name in self.native_modules:
            modules.setdefault(
                name, 'craype-accel' if name.startswith('craype-accel-') else name.split('/')[0]
            )
        modules.update(dict.fromkeys(self.host.get('modules', []), 'empty'))
        templates = re.split(
            r'^-- ---- (\S+)\n', (STAND_IN / 'modulefiles.lua').read_text(), flags=re.M
        )
        texts = dict(zip(templates[1::2], templates[2::2]))
        for name, template in modules.items():
            if template == 'rocm' and not self(self.rocm).exists():
                continue
            write_text(
                folder / f'{name}.lua',
                re.sub(r'@(\w+)@', lambda found: str(values[found.group(1)]), texts[template]),
            )

    def parts(self):
        """Return {name of a part that can be left out: list of Path}."""
        parts = {
            name: [self(path), self(path).with_name(re.sub(r'\.so\..*', '.so', Path(path).name))]
            for name, path in self.libraries.items()
            if name != 'libfabric'
        }
        parts.update(
            (name, self.list_planted_paths(fact)) for name, fact in self.site['files'].items()
        )
        if self.rocm:
            parts['rocm'] = [self(self.rocm)]
        parts['cards'] = [
            self('sys/class/cxi'),
            *(self(f'dev/{name}') for name in self.host['cards']),
        ]
        parts['slurm'] = [self(f'usr/bin/{name}') for name in SLURM]
        parts['gpus'] = [self('sys/class/kfd'), self('proc/driver/nvidia')]
        if self.host['runtime']:
            parts['runtime'] = [self(f"usr/bin/{self.host['runtime'][0]}")]
        return parts

    def leave_out(self, names):
        """Remove parts (names), and the links that led to them."""
        for name in names:
            for path in self.parts()[name]:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
        for path in self.root.rglob('*'):
            if path.is_symlink() and not path.exists():
                path.unlink()

    def fill(self, without):
        """Make everything but the parts that `without` (list of names) names."""
        if self.facts_only:
            self.make_facts_only()
        else:
            key = (
                MPICH_FOR_CRAY[self.cray_mpich.split('.')[0]] if self.mpich else MPICH_FOR_LIBFABRIC
            )
            print(f"==> MPICH and libfabric are those of {key}")
            if self.mpich:
                self.make_mpich(key)
            self.make_libfabric(key, self.libraries['libfabric'])
            if self.rocm:
                self.make_hsa()
        self.make_fakes()
        if self.facts_only:
            for name in ('libfabric', 'libmpi'):
                if name in self.libraries:
                    self.need(name)
        self.link_default_folder()
        self.make_files()
        self.make_node()
        self.make_commands()
        self.leave_out(without)
        self.make_modules()


# What the command does


def make(site, target, without, facts_only=False):
    """Make a tree at target (Path), whole or not at all. Raises StandInError."""
    tree = Tree(resolve_site(site), target, facts_only)
    unknown = [name for name in without if name not in tree.parts()]
    if unknown:
        raise StandInError(
            f"--without {' '.join(unknown)}: site '{site}' has no such part. It has: "
            f"{', '.join(sorted(tree.parts()))}"
        )
    target.mkdir(parents=True)
    try:
        tree.fill(without)
    except BaseException:  # also Ctrl-C
        shutil.rmtree(target, ignore_errors=True)
        raise
    for path in target.rglob('*'):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (TIME_STAMP, TIME_STAMP))


def update(site, target, version):
    """
    Change the tree at target (Path) as an update of the system would: to another version (str)
    of libfabric.
    """
    tree = Tree(resolve_site(site), target)
    before = Path(tree.libfabric())
    after = before.parents[2] / version / before.parent.name / before.name
    tree.make_libfabric(MPICH_WITH_NEWER_LIBFABRIC, after)
    shutil.rmtree(tree(before.parents[1]))
    tree.make_modules()


def parse(arguments):
    """Return the settings of the command line."""
    parser = argparse.ArgumentParser(
        prog='tests/stand_in/make',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        'site', choices=NAMES, metavar='SITE', help=f"whose paths: {', '.join(NAMES)}"
    )
    parser.add_argument(
        'folder', type=Path, metavar='DIR', help="the tree; a folder that does not exist yet"
    )
    parser.add_argument(
        '--without',
        nargs='+',
        default=[],
        metavar='PART',
        help="leave out rocm (its folder and module), or a library or file by its name in the site "
        "data, such as libxpmem or kernel_config",
    )
    parser.add_argument(
        '--facts-only',
        action='store_true',
        help="libmpi and libfabric are fakes too, which say the release and the providers of the "
        "originals: for commands that only read; nothing runs",
    )
    parser.add_argument(
        '--update',
        metavar='libfabric=VERSION',
        help="change an existing tree: its libfabric goes, a newer one comes into the folder VERSION",
    )
    return parser.parse_args(arguments)


def main():
    """Make or change a tree; turn an expected failure into a message and exit code 1."""
    settings = parse(sys.argv[1:])
    target = settings.folder.resolve()
    try:
        if platform.machine() != 'x86_64':
            raise StandInError(
                f"the wheels of MPICH are for x86_64, this machine is {platform.machine()}"
            )
        if settings.update:
            update(settings.site, target, settings.update.partition('=')[2])
        else:
            make(settings.site, target, settings.without, settings.facts_only)
    except (StandInError, ImageError, ElfError, OSError) as err:
        sys.exit(f"tests/stand_in/make: error: {err}")


if __name__ == '__main__':
    main()

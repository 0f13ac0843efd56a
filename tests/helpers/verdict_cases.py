"""
For test_verdict.py: a table of images and hosts for each rule, where it speaks and where it just
does not.
"""

import json
import os
import pwd
import struct

from osu_container.data.networks import NETWORKS
from osu_container.discover.host_facts import DescribedHost, format_description
from osu_container.discover.library_facts import describe_host
from osu_container.image.elf import GNU_PROPERTY_X86_ISA_1_NEEDED
from osu_container.image.image import Image
from osu_container.image.sif import DATA_PARTITION, OVERLAY, PARTITION
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import INJECT_FOLDER, resolve_approach
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem, list_preloaded_sonames
from osu_container.verdict.verdict import judge_approach, judge_remedies
from tests.helpers.elf_folder import (
    LOADER,
    ElfFolder,
    capabilities,
    cray_mpich,
    fill_good_host,
    fill_good_image,
    intel_mpi,
    join_folders,
    list_real_load,
    mpich,
    open_mpi,
    pack,
    run_in_folder,
    write_sif,
)

#: Sites: with GPUs and Slingshot, with Slingshot alone, with neither
GPU, CPU, PLAIN = 'lumi-25.03', 'lumi-c-25.03', 'workstation'
#: With GPUs of NVIDIA
CUDA = 'perlmutter'


#: Home folder of the user, which the runtime mounts
HOME = pwd.getpwuid(os.geteuid()).pw_dir
#: The loader of musl
MUSL = '/lib/ld-musl-x86_64.so.1'


class World:
    """An image and a host in folders; change them, then ask."""

    def __init__(self, folder, parts, site=GPU):
        self.parts, self.site, self.program = parts, resolve_site(site), None
        self.image, self.host = ElfFolder(folder / 'image'), ElfFolder(folder / 'host')
        self.image_parts, self.host_parts, self.more, self.runtime = {}, {}, [], None
        self.overlays, self.folder, self.describe = [], folder, None

    def open_files(self):
        """Return (Image, Host) of the folders, filled."""
        fill_good_image(self.image, self.parts, **self.image_parts)
        fill_good_host(self.host, self.parts, self.site, **self.host_parts)
        for change in self.more:
            change()
        sif = self.folder / 'image.sif'
        if self.overlays:
            write_sif(
                sif,
                pack(self.image.root, self.folder / 'squashfs').read_bytes(),
                objects=self.overlays,
            )
        one = HostFileSystem(str(self.host))
        if self.describe:
            data = describe_host(
                self.site, str(self.host), self.site['name'], '2026-11-23', 'a node'
            )
            self.describe(data)
            one = DescribedHost(json.loads(format_description(data)))
        return Image(str(sif if self.overlays else self.image), 'osu_'), one

    def keep_folders(self):
        """Judge the folders as they are now, without filling them again."""
        opened = Image(str(self.image), 'osu_'), HostFileSystem(str(self.host))
        self.open_files = lambda: opened

    def ask(self, approach):
        """Return the Verdict on an approach (str)."""
        image, host = self.open_files()
        with image:
            facts = self.site, image, host, self.program, self.runtime
            return judge_remedies([judge_approach(resolve_approach(approach), *facts)], *facts)[0]

    def run_real(self, mix, *arguments):
        """
        Run the program of a Mix in the image as the module would start it, and return the
        CompletedProcess and the paths that the loader loads.
        """
        for name, facts in mix.injected.items():
            self.image.copy(facts.path, f'{INJECT_FOLDER}/{name}')
        library_path = mix.library_path
        preload = [
            f'{INJECT_FOLDER}/{name}'
            for name in list_preloaded_sonames(mix.approach, mix.site, mix.host, mix.injected)
        ]
        preload += [path for path, by in mix.preload if by == 'LD_PRELOAD']
        loaded, _ = list_real_load(self.image, mix.program, library_path, preload)
        done = run_in_folder(
            self.image,
            [mix.program, *arguments],
            LD_LIBRARY_PATH=join_folders(library_path),
            LD_PRELOAD=join_folders(preload),
        )
        return done, loaded


def image(side='image_parts', **changed):
    """Return a change of a World: other parts of its image, values or functions of Parts."""
    return lambda it: getattr(it, side).update(
        {name: value(it.parts) if callable(value) else value for name, value in changed.items()}
    )


def host(**changed):
    """Return a change of a World: other libraries of its host."""
    return image('host_parts', **changed)


def write_file(path, text):
    """Return a change of a World: a file with a text in the image."""
    return defer_change(lambda it: it.image.write(path, text))


def build_mpi(*arguments, **options):
    """Return a function that builds libmpi from Parts; the arguments are those of Parts.mpi()."""
    return lambda parts: parts.mpi(*arguments, **options)


def build_fabric(*arguments, **options):
    """Return a function that builds libfabric from Parts, with the arguments of Parts.fabric()."""
    return lambda parts: parts.fabric(*arguments, **options)


def host_fabric(*arguments, **options):
    """Return a change of a World: a host whose libfabric is built by Parts.fabric()."""
    return host(libfabric=build_fabric(*arguments, **options))


def image_fabric(*arguments, **options):
    """Return a change of a World: an image whose libfabric is built by Parts.fabric()."""
    return image(fabric=build_fabric(*arguments, **options))


def image_mpi(*arguments, **options):
    """Return a change of a World: an image whose MPI is built by Parts.mpi()."""
    return image(mpi=build_mpi(*arguments, **options))


#: An image with Open MPI
OPEN_MPI_IMAGE = image_mpi(open_mpi(), 'libmpi.so.40')


#: A host with another libfabric
OTHER_FABRIC = host_fabric('1.21.0')


def site(**changed):
    """Return a change of a World: other values of facts of its site."""
    return lambda it: it.site.update(
        {name: dict(it.site[name], value=value) for name, value in changed.items()}
    )


def guess_library(name):
    """Return a change of a World: nobody has seen the path of this library (str) of its site."""
    return lambda it: it.site.update(
        libraries=dict(
            it.site['libraries'], **{name: dict(it.site['libraries'][name], evidence='untested')}
        )
    )


def make_described_host(*lacks, libraries='libfabric.so.1', glibc=None):
    """
    Return a change: the host is described by what discover writes of it, less facts (lacks, names
    of facts or traits).

    :param libraries: name (str) of the libraries that lose them; glibc: release (str) of the host's
        C library
    """

    def take(data):
        for path, statements in list(data['libraries'].items()):
            if not path.endswith('/' + libraries):
                continue
            for said in statements:
                for name in lacks:
                    said.pop(name, None)
                    said.get('traits', {}).pop(name, None)
            if lacks == ('all',):
                del data['libraries'][path]
        data['glibc'] = glibc and {
            'value': glibc,
            'source': 's',
            'date': '2026-11-23',
            'evidence': 'derived',
        }

    return lambda it: setattr(it, 'describe', take)


def combine_changes(*changes):
    """Return a change that is all of changes."""
    return lambda it: [change(it) for change in changes]


def defer_change(change):
    """
    Return a change of the folders of a World, made when they are filled: change is a function of
    the World.
    """
    return lambda it: it.more.append(lambda: change(it))


def use_musl(it):
    """Put the loader of musl in the place of glibc's."""
    loader = it.image.resolve_path(LOADER)
    it.image.write(MUSL, loader.read_bytes())
    loader.unlink()


def add_overlay(it):
    """The image of a World is a SIF with an overlay (ext3)."""
    it.overlays.append((DATA_PARTITION, '', 0, b'', PARTITION.pack(3, OVERLAY)))


def program(path):
    """Return a change: the user names a program."""

    def change(it):
        it.program = path

    return change


def runtime(name, release, setuid):
    """Return a change: the container runtime, as find_runtime() gives it."""

    def change(it):
        it.runtime = {
            'command': f'/usr/bin/{name}',
            'name': name,
            'release': release,
            'setuid': setuid,
        }

    return change


#: A runtime that starts each container in a user namespace of its own and cannot share one
APART = runtime('singularity', '4.1.3', False)


def use_mpich_5(it):
    """
    Put an MPICH that reads the memory of other ranks into the image and onto the host of a
    World.
    """
    combine_changes(
        image_mpi(mpich('5.0.2')),
        host(libmpi=build_mpi(mpich('5.0.2'))),
    )(it)


def set_other_machine(path):
    """Make the ELF file path (Path) one of another processor."""
    content = bytearray(path.read_bytes())
    content[18:20] = (62 if content[18] == 183 else 183).to_bytes(2, 'little')
    path.write_bytes(bytes(content))


def use_other_machine(it):
    """Make all ELF files of the image those of another processor."""
    for path in it.image.root.rglob('*'):
        if path.is_file() and path.read_bytes()[:4] == b'\x7fELF':
            set_other_machine(path)


def use_static_program(it):
    """Put a program without a dynamic section into the image, with MPI linked into it."""
    it.image.program('/opt/static')
    with open(it.image.resolve_path('/opt/static'), 'ab') as stream:
        stream.write(b'MPI_Init')


def link_program(**options):
    """
    Return a function of Parts: the program. calls: function; rpath (DT_RPATH), runpath: str; mpi,
    needed: functions of Parts, what it is linked with.
    """

    def make(parts, calls='MPI_Init', rpath=None, runpath=None, mpi=None, needed=None):
        flags = [f'-Wl,--disable-new-dtags,-rpath,{rpath}'] if rpath else []
        flags += [f'-Wl,--enable-new-dtags,-rpath,{runpath}'] if runpath else []
        return parts.program(
            mpi(parts) if mpi else parts.mpi(),
            calls,
            (*flags, *([needed(parts)] if needed else [])),
        )

    return lambda parts: make(parts, **options)


def start_file(path, content):
    """Return a change: an image that starts the file path, content: str or bytes."""
    return defer_change(
        lambda it: (
            it.image.write('/.singularity.d/runscript', f'#!/bin/sh\nexec {path} "$@"\n')
            .write(path, content)
            .resolve_path(path)
            .chmod(0o755)
        )
    )


def add_script(text, name='91-own.sh'):
    """Return a change: an image with one more environment script."""
    return write_file(f'/.singularity.d/env/{name}', text + '\n')


def remove_file(path):
    """Return a change: an image without the file path."""
    return defer_change(lambda it: it.image.resolve_path(path).unlink())


def use_standard_abi(says):
    """
    Return a change: image and host have MPI as libmpi_abi.so.1; says: what the image's says of
    itself (C).
    """
    return combine_changes(
        image_mpi(says, 'libmpi_abi.so.1'),
        host(
            libmpi=build_mpi(),
            libmpi_abi=build_mpi(mpich('5.0.2'), 'libmpi_abi.so.1'),
        ),
    )


def make_rare_mpi_user(parts):
    """Return a library that asks MPI for seven functions that few have."""
    return parts.plain(
        'libothers.so.1',
        source=''.join(
            f'int MPIX_{one}(void); int (*of_{one})(void) = MPIX_{one};\n' for one in 'ABCDEFG'
        ),
    )


#: The image's program has that library, and the host's MPI has none of these functions
seven_functions = image(
    libraries=lambda it: [make_rare_mpi_user(it)], program=link_program(needed=make_rare_mpi_user)
)


def make_asking_mpich(release='4.2.3', needs=7, **options):
    """
    Return a function of Parts: an MPICH with a table of what it asks libfabric for; options of
    capabilities().
    """
    return build_mpi(mpich(release) + capabilities(**options), needs=needs)


def add_provider_file(path, provider='cxi', build=None, **variables):
    """
    Return a change: the image's libfabric has tcp alone, and a provider's file is at path (str) in
    the image.

    build: folder (str) in which this libfabric looks for such files; variables: of the image's
    environment
    """
    text = (
        f'const char path[] = "Search for providers in specific path (default: {build})";' + chr(10)
        if build
        else ''
    )
    return combine_changes(
        image(
            fabric=build_fabric(providers=('tcp',), needed=(), more=text),
            environment=variables,
        ),
        defer_change(lambda it: it.image.copy(it.parts.plain(f'lib{provider}-fi.so'), path)),
    )


def add_tcp_provider(major, minor):
    """Return a change: the image names a file of libfabric's provider tcp, of a release."""
    code = f'const unsigned long long is = {major << 16 | minor}ull << 32 | {100 * major + minor} << 16;\n'
    return combine_changes(
        image(environment={'FI_PROVIDER_PATH': '/opt/prov'}),
        defer_change(
            lambda it: it.image.copy(
                it.parts.plain('libtcp-fi.so', source=code), '/opt/prov/libtcp-fi.so'
            )
        ),
    )


def make_mtl_ofi(parts):
    """Return Open MPI's part for libfabric as a file of its own."""
    return parts.compile_dependent(
        'mca_mtl_ofi.so', parts.fabric(needed=()), ['FABRIC_1.0', 'FABRIC_1.7']
    )


def make_plain_open_mpi(parts):
    """Return an Open MPI that has no DT_NEEDED of libfabric."""
    return parts.mpi(open_mpi('4.1.4'), 'libmpi.so.40', needs=None)


def set_network(kind, *drivers):
    """Return a change: a site with another network; drivers: the kernel's, of its cards."""

    def change(it):
        it.site.update(
            network={'value': {'kind': kind, 'drivers': list(drivers)}, 'evidence': 'measured'},
            provider=dict(it.site['provider'], value=NETWORKS[kind]['providers'][0]['value']),
        )
        if NETWORKS[kind]['ucx']['value']:  # as discover writes it
            it.site['variables'] = [
                one for one in it.site['variables'] if one['name'] != 'MPIR_CVAR_CH4_NETMOD'
            ]

    return change


INFINIBAND, BROADCOM = set_network('InfiniBand', 'mlx5_core'), set_network('RoCE', 'bnxt_en')


def make_ucx_mpi(parts, text=None, name='libmpi.so.12', needs=None):
    """
    Return an MPI that sends over UCX: an MPICH with nothing else, or text, name and needs of
    Parts.mpi().
    """
    return parts.mpi(
        text or mpich(device='ch4:ucx'),
        name,
        needs=needs,
        needed=[parts.plain('libucp.so.0', needed=[parts.plain('libucs.so.0')])],
    )


def add_rdma_core(*cards):
    """Return a change: an image with libibverbs and its parts for cards (str)."""
    return defer_change(
        lambda it: (
            [it.image.copy(it.parts.plain('libibverbs.so.1'), '/usr/lib/libibverbs.so.1')]
            + [
                it.image.copy(
                    it.parts.plain(f'lib{card}-rdmav34.so'),
                    f'/usr/lib/libibverbs/lib{card}-rdmav34.so',
                )
                for card in cards
            ]
        )
    )


def add_ucx_parts(it):
    """Put UCX, and its transport for InfiniBand beside it, into the image of a World."""
    for name in ('libucp.so.0', 'libucs.so.0'):
        it.image.copy(
            it.parts.plain(name, needed=[it.parts.plain('libucs.so.0')] if 'p.' in name else []),
            f'/usr/lib/{name}',
        )
    it.image.copy(
        it.parts.plain('libuct_ib.so.0', needed=[it.parts.plain('libibverbs.so.1')]),
        '/usr/lib/ucx/libuct_ib.so.0',
    )


#: An image whose MPI sends over UCX alone; with all that UCX needs for cards of Mellanox
UCX_ALONE = combine_changes(image(mpi=make_ucx_mpi), defer_change(add_ucx_parts))
UCX_WHOLE = combine_changes(UCX_ALONE, add_rdma_core('mlx5'))
#: Image and host whose libfabric has verbs
VERBS = image_fabric(providers=('verbs', 'rxm', 'tcp'), needed=())


def add_open_mpi_ucx(it):
    """Put Open MPI's part for UCX, as a file of its own, into the image of a World."""
    it.image.copy(
        it.parts.plain(
            'mca_pml_ucx.so',
            needed=[it.parts.plain('libucp.so.0', needed=[it.parts.plain('libucs.so.0')])],
        ),
        '/opt/mpich/lib/openmpi/mca_pml_ucx.so',
    )


OPEN_MPI_UCX = combine_changes(
    image(mpi=make_plain_open_mpi),
    defer_change(add_ucx_parts),
    defer_change(add_open_mpi_ucx),
    add_rdma_core('mlx5', 'bnxt_re'),
)


def use_open_mpi_release(release, pal, fortran=False, over=('5.0.11', '80')):
    """
    Return a change: an image with a release (str) of Open MPI, whose libopen-pal has a number
    (str), over the host's.

    :param fortran: bool, the program needs its Fortran library too; over: release and number of the
        host's
    """

    def built(it, says, number):
        return it.mpi(
            open_mpi(says),
            'libmpi.so.40',
            needs=None,
            needed=[it.plain('libopen-pal.so.' + number)],
        )

    def bindings(it):
        return it.plain(
            'libmpi_mpifh.so.40',
            needed=[built(it, release, pal), it.plain('libopen-pal.so.' + pal)],
        )

    return combine_changes(
        image(
            mpi=lambda it: built(it, release, pal),
            rocm=None,
            libraries=lambda it: [bindings(it), it.plain('libopen-pal.so.' + pal)],
            program=link_program(
                mpi=lambda it: built(it, release, pal), needed=bindings if fortran else None
            ),
        ),
        host(libompi=lambda it: built(it, *over)),
        defer_change(
            lambda it: it.host.copy(
                it.parts.plain('libopen-pal.so.' + over[1]),
                f'/opt/openmpi/5.0.11/lib/libopen-pal.so.{over[1]}',
            )
        ),
        lambda it: it.site.update(
            library_folders=dict(
                it.site['library_folders'],
                value=['/opt/openmpi/5.0.11/lib', *it.site['library_folders']['value']],
            )
        ),
    )


def make_newer_library(parts):
    return parts.mpi(mpich(), more='int MPIX_New(void *a, void *b) { return 0; }\n')


#: mpi4py's own libraries: file -> the MPI that it needs; in wheels one for each ABI
WHEEL = {
    'MPI.mpich.cpython-311-x86_64-linux-gnu.so': 'libmpi.so.12',
    'MPI.openmpi.cpython-311-x86_64-linux-gnu.so': 'libmpi.so.40',
}


def make_mpi(parts, name, **options):
    """Return an MPI library of the soname name (str)."""
    return parts.mpi(open_mpi() if name.endswith('40') else mpich('4.3.2'), name, **options)


def make_open_mpi_user(parts):
    """Return a library that needs Open MPI."""
    return parts.plain('libhdf5.so.1', needed=[make_mpi(parts, 'libmpi.so.40')])


def use_python(
    *libraries,
    prefix='/usr',
    own=None,
    rpath=None,
    text='from mpi4py import MPI\n',
    more='',
    at='/opt/mpich/lib',
    option='',
    site=None,
):
    """
    Return a change: the image's program is one of Python, of text, with mpi4py.

    libraries: sonames of MPI in the lib of its prefix, None for the first: libmpi.so is a text as
    in wheels; own: as WHEEL; rpath: DT_RPATH of Python, as conda has it; more: C source of mpi4py's
    library; at: folder (str) of the image's own MPI; option: option of Python in the first line;
    site: folder with mpi4py, None for that of Python
    """

    def change(it):
        parts, image = it.parts, it.image
        flags = (f'-Wl,--disable-new-dtags,-rpath,{rpath}',) if rpath else ()
        image.copy(make_program_without_mpi(parts, *flags), f'{prefix}/bin/python3.11').link(
            f'{prefix}/bin/python3', 'python3.11'
        )
        for name, soname in (WHEEL if own is None else own).items():
            image.copy(
                parts.plain(
                    name, source=more or 'void present(void) {}\n', needed=[make_mpi(parts, soname)]
                ),
                f'{site or prefix + "/lib/python3.11/site-packages"}/mpi4py/{name}',
            )
        for name in libraries:
            image.copy(make_mpi(parts, name), f'{prefix}/lib/{name}')
        image.write('/opt/osu/bin/osu_latency', f'#!{prefix}/bin/python3{option}\n{text}')
        if at != '/opt/mpich/lib':
            image.resolve_path(at).mkdir(parents=True)
            image.resolve_path('/opt/mpich/lib/libmpi.so.12').rename(
                image.resolve_path(f'{at}/libmpi.so.12')
            )

    return defer_change(change)


#: Python of a virtual environment or of conda
#: Options of gcc for a library that requires a processor with AVX-512
V4 = ['-Wl,-z,x86-64-v4']


def raise_processor_level(it):
    """Let the libmpi of an image require the level after v4, which no processor has."""
    path = it.image.resolve_path('/opt/mpich/lib/libmpi.so.12')
    v4, v5 = (struct.pack('<III', GNU_PROPERTY_X86_ISA_1_NEEDED, 4, 1 << bit) for bit in (3, 4))
    assert path.read_bytes().count(v4) == 1
    path.write_bytes(path.read_bytes().replace(v4, v5))


VENV, CONDA = '/opt/venv', '/opt/conda'


def start_by_script(text, name='/opt/osu/bin/osu_latency'):
    """
    Return a change: the program of the image lies in /opt/real, and what has its name is a
    script of text.
    """

    def change(it):
        own = it.image.resolve_path('/opt/osu/bin/osu_latency')
        it.image.resolve_path('/opt/real').mkdir()
        own.rename(it.image.resolve_path('/opt/real/program'))
        it.image.write(name, text)
        it.image.resolve_path(name).chmod(0o755)
        for shell in ('/bin/sh', '/bin/bash', '/usr/bin/env'):
            it.image.copy(make_program_without_mpi(it.parts), shell)

    return defer_change(change)


def make_lost_data_library(parts):
    """Return a library whose data nobody has."""
    return parts.plain('liblost.so.1', source='extern int lost;\nint *where = &lost;\n')


def make_program_without_mpi(parts, *options):
    """Return a program that needs no MPI; options: of the compiler, libraries (Path) among them."""
    return parts.program(parts.plain('libcxi.so.1'), 'abs', options)


#: rule -> [(what the case is, approach, change, site, level of its finding, names and values in its
#: message)]


def make_efa_plugin(it, rpath='old:/opt/amazon/efa/lib'):
    """Return a plugin of NCCL, for Parts it: by rpath it finds the libfabric of EFA's installer."""
    return it.compile_dependent('libnccl-net.so', it.fabric(), ['FABRIC_1.0'], rpath=rpath)


#: As in NVIDIA's images for AWS. The program's MPI is ch3, so that no libfabric is there before the
#: plugin
EFA_PLUGIN = combine_changes(
    image(
        cuda='12.8',
        plugin=make_efa_plugin,
        mpi=build_mpi(mpich('3.1.4', 'ch3:nemesis'), needs=None),
    ),
    defer_change(
        lambda it: it.image.copy(
            it.parts.fabric(providers=('tcp', 'efa'), needed=()),
            '/opt/amazon/efa/lib/libfabric.so.1',
        )
    ),
)


def use_cuda(release, compat=None, **others):
    """
    Return a change: an image with CUDA (release, str), and of cuda-compat the library of driver
    compat (str).
    """
    path = '/opt/mpich/lib:/usr/local/cuda/compat' if compat else '/opt/mpich/lib'
    return combine_changes(
        image(rocm=None, cuda=release, environment={'LD_LIBRARY_PATH': path}, **others),
        defer_change(
            lambda it: (
                compat
                and it.image.link(
                    '/usr/local/cuda/compat/libcuda.so.1', f'libcuda.so.{compat}'
                ).copy(
                    it.parts.plain('libcuda.so.1'), f'/usr/local/cuda/compat/libcuda.so.{compat}'
                )
            )
        ),
    )


#: CUDA as PyTorch brings it
WHEELS = write_file(
    '/opt/venv/lib/python3.12/site-packages/nvidia_cuda_runtime-13.0.96.dist-info/METADATA',
    'Version: 13.0.96\n',
)

SPEAKS = {
    'host path missing': [
        (
            'no libfabric',
            'hybrid',
            host(libfabric=None),
            GPU,
            'fails',
            '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
        ),
        ('no MPI', 'bind', host(libmpi=None), CPU, 'fails', 'libmpi.so.12'),
        (
            'a guess, and the image has its own',
            'bind',
            combine_changes(host(libcxi=None), guess_library('libcxi')),
            GPU,
            'unknown',
            'libcxi.so.1',
        ),
    ],
    'host not described': [
        ('libfabric', 'hybrid', make_described_host('all'), GPU, 'unknown', 'libfabric.so.1'),
        *(
            (fact, 'hybrid', make_described_host(fact), GPU, 'unknown', 'libfabric.so.1')
            for fact in ('needed', 'soname', 'runpath')
        ),
        (
            'a library that another one needs',
            'hybrid',
            combine_changes(
                host_fabric(needed=('libcxi.so.1', 'libmore.so.1')),
                make_described_host('all', libraries='libmore.so.1'),
                defer_change(
                    lambda it: it.host.copy(
                        it.parts.plain('libmore.so.1'), '/usr/lib64/libmore.so.1'
                    )
                ),
            ),
            GPU,
            'unknown',
            'libmore.so.1 libfabric.so.1',
        ),
    ],
    'facts of the host': [
        (
            'its C library is newer',
            'hybrid',
            make_described_host('verneed', glibc='2.99'),
            GPU,
            'unknown',
            '2.99',
        ),
        (
            'its C library',
            'hybrid',
            make_described_host('verneed'),
            GPU,
            'unknown',
            'GLIBC libfabric.so.1 2.36',
        ),
        (
            'versions of libfabric',
            'hybrid',
            make_described_host('verdef'),
            GPU,
            'unknown',
            'libfabric.so.1 FABRIC_1.7',
        ),
        (
            'functions',
            'bind',
            make_described_host('defined', libraries='libmpi.so.12'),
            GPU,
            'unknown',
            'MPI_Init',
        ),
        (
            'what the MPI speaks',
            'bind',
            make_described_host('pmi', libraries='libmpi.so.12'),
            GPU,
            'unknown',
            'libmpi.so.12 pmi',
        ),
        ('providers', 'hybrid', make_described_host('providers'), GPU, 'unknown', 'providers'),
    ],
    'start of the container': [
        ('exit', 'pure', add_script('exit 0'), GPU, 'fails', '91-own.sh:1 exit'),
        ('set -e', 'pure', add_script('set -e'), GPU, 'unknown', '91-own.sh:1 set'),
    ],
    'unknown environment': [
        (
            'a command',
            'pure',
            add_script('export LD_LIBRARY_PATH=$(find)'),
            GPU,
            'unknown',
            'LD_LIBRARY_PATH 91-own.sh:1',
        ),
        (
            'LD_PRELOAD',
            'hybrid',
            add_script('export LD_PRELOAD=$(find)'),
            GPU,
            'unknown',
            'LD_PRELOAD',
        ),
        ('eval', 'bind', add_script('eval "$(find)"'), GPU, 'unknown', 'eval'),
        (
            'LD_AUDIT',
            'pure',
            add_script('export LD_AUDIT=/usr/lib/libcxi.so.1'),
            GPU,
            'unknown',
            'LD_AUDIT /usr/lib/libcxi.so.1',
        ),
    ],
    'privileges': [
        (
            'setuid',
            'bind',
            defer_change(
                lambda it: it.image.resolve_path('/opt/osu/bin/osu_latency').chmod(0o4755)
            ),
            GPU,
            'unknown',
            'osu_latency setuid',
        ),
    ],
    'mounted over': [
        *(
            (
                f'the MPI below {folder}',
                'pure',
                image(mpi_folder=f'{folder}/mpi/lib'),
                PLAIN,
                'fails',
                f'libmpi.so.12 {folder}/mpi/lib',
            )
            for folder in ('/tmp', '/var/tmp', HOME)
        ),
        (
            'the program of a wrapper below the home folder',
            'bind',
            combine_changes(
                defer_change(
                    lambda it: (
                        it.image.write('/opt/venv/bin/app', f'#!/bin/sh\nexec {HOME}/app "$@"\n')
                        .copy(it.image.resolve_path('/opt/osu/bin/osu_latency'), f'{HOME}/app')
                        .write('/bin/sh', b'')
                        .resolve_path('/opt/venv/bin/app')
                        .chmod(0o755)
                    )
                ),
                program('/opt/venv/bin/app'),
            ),
            PLAIN,
            'fails',
            f'{HOME}/app',
        ),
        (
            'a file of the host at the same place',
            'pure',
            combine_changes(
                image(mpi_folder='/tmp/mpi/lib'),
                defer_change(lambda it: it.host.write('/tmp/mpi/lib/libmpi.so.12', '')),
            ),
            PLAIN,
            'unknown',
            '/tmp/mpi/lib/libmpi.so.12',
        ),
    ],
    'architecture': [
        (
            'of another machine',
            'bind',
            defer_change(use_other_machine),
            GPU,
            'fails',
            'x86_64 aarch64',
        )
    ],
    'GPU vendor': [
        (
            'CUDA on AMD',
            'pure',
            image(rocm=None, cuda='12.8'),
            GPU,
            'fails',
            'NVIDIA CUDA 12.8 AMD gfx90a',
        ),
        (
            'by the variable of NVIDIA\'s images',
            'hybrid',
            image(rocm=None, environment={'CUDA_VERSION': '12.8.1'}),
            GPU,
            'fails',
            'CUDA 12.8.1',
        ),
        ('ROCm on NVIDIA', 'hybrid', image(), CUDA, 'fails', 'AMD ROCm NVIDIA sm_80'),
    ],
    'static program': [
        (
            'injection',
            'hybrid',
            combine_changes(defer_change(use_static_program), program('/opt/static')),
            GPU,
            'fails',
            '/opt/static',
        ),
        (
            'nothing to inject',
            'pure',
            combine_changes(defer_change(use_static_program), program('/opt/static')),
            GPU,
            NOTE,
            '/opt/static',
        ),
        (
            'a launcher',
            'pure',
            combine_changes(
                defer_change(lambda it: it.image.program('/opt/static')), program('/opt/static')
            ),
            GPU,
            'unknown',
            '/opt/static',
        ),
    ],
    'musl': [
        (
            'injection, no program',
            'hybrid',
            combine_changes(image(program=None), defer_change(use_musl)),
            GPU,
            'unknown',
            'musl',
        )
    ],
    'overlay': [('ext3', 'hybrid', add_overlay, GPU, 'unknown', 'overlay')],
    'entrypoint': [
        ('none', 'swap', image(), GPU, 'fails', 'swap /host/lib'),
        (
            'another one',
            'swap',
            start_file('/opt/start', '#!/bin/sh\nexec "$@"\n'),
            GPU,
            'fails',
            '/host/lib /.singularity.d/runscript /opt/start',
        ),
        (
            'a program',
            'swap',
            start_file('/opt/start', b'\x7fELF\0\0'),
            GPU,
            'unknown',
            '/opt/start',
        ),
    ],
    'interpreter': [
        (
            'of the entrypoint',
            'swap',
            start_file('/opt/start', '#!/bin/bash\n# OSU_SWAP /host/lib\nexec "$@"\n'),
            GPU,
            'fails',
            '/opt/start /bin/bash',
        ),
        (
            'of the program, by env',
            'hybrid',
            defer_change(
                lambda it: it.image.write(
                    '/opt/osu/bin/osu_latency', '#!/usr/bin/env bash\nexec other\n'
                ).write('/usr/bin/env', b'')
            ),
            GPU,
            'fails',
            'osu_latency bash',
        ),
        (
            'line ends of Windows',
            'pure',
            combine_changes(image(), start_by_script('#!/bin/sh\r\nexec /opt/real/program\r\n')),
            GPU,
            'fails',
            r'osu_latency /bin/sh\r',
        ),
    ],
    'other MPI': [
        (
            'Open MPI',
            'hybrid',
            OPEN_MPI_IMAGE,
            GPU,
            'fails',
            'Open MPI libmpi.so.40 hybrid',
        ),
        (
            'Debian',
            'bind',
            image_mpi(mpich('4.0.2'), 'libmpich.so.12'),
            GPU,
            'fails',
            'libmpich.so.12',
        ),
        (
            "HPE's compiler wrapper",
            'bind',
            image_mpi(mpich('3.4'), 'libmpi_gnu_123.so.12'),
            GPU,
            'fails',
            'libmpi_gnu_123.so.12 cray-mpich-abi',
        ),
        (
            'standard ABI with the soname of MPICH 5.0.0',
            'bind',
            image_mpi(mpich('5.0.0'), 'libmpi_abi.so.0'),
            GPU,
            'fails',
            'libmpi_abi.so.0',
        ),
        (
            'Open MPI, which this srun cannot start',
            'pure',
            OPEN_MPI_IMAGE,
            PLAIN,
            'fails',
            'Open MPI libmpi.so.40 pure srun pmix',
        ),
        (
            "Debian's mpi4py beside another MPI",
            'hybrid',
            combine_changes(
                image(libraries=lambda it: [make_mpi(it, 'libmpi.so.40')]),
                use_python(own={'MPI.cpython-311-x86_64-linux-gnu.so': 'libmpi.so.40'}),
            ),
            GPU,
            'fails',
            'libmpi.so.40',
        ),
        ('MPICH for openmpi', 'openmpi', image(), PLAIN, 'fails', 'MPICH ABI'),
    ],
    'two builds of Open MPI': [
        (
            'Fortran of 4 over 5',
            'bind',
            use_open_mpi_release('4.1.4', '40', fortran=True),
            PLAIN,
            'fails',
            'libmpi_mpifh.so.40 libopen-pal.so.40 5.0.11',
        ),
        (
            'Fortran of 5 over 4',
            'bind',
            use_open_mpi_release('5.0.7', '80', fortran=True, over=('4.1.8', '40')),
            PLAIN,
            'fails',
            'libopen-pal.so.80 4.1.8',
        ),
    ],
    'two MPIs': [
        (
            'a library for Open MPI',
            'bind',
            image(
                program=link_program(needed=make_open_mpi_user),
                libraries=lambda it: [make_open_mpi_user(it), make_mpi(it, 'libmpi.so.40')],
            ),
            GPU,
            'unknown',
            'libhdf5.so.1 libmpi.so.40 libmpi.so.12',
        )
    ],
    'standard ABI': [
        (
            'constants of a draft',
            'bind',
            use_standard_abi(intel_mpi()),
            PLAIN,
            'unknown',
            'Intel mpicc_abi',
        )
    ],
    'missing library': [
        (
            'of the image',
            'pure',
            image(mpi=lambda it: it.mpi(needed=[it.plain('libgone.so.1')])),
            GPU,
            'fails',
            'libmpi.so.12 libgone.so.1',
        ),
        (
            'of the host',
            'hybrid',
            host_fabric(needed=('libcxi.so.1', 'libgone.so.1')),
            GPU,
            'fails',
            'libfabric.so.1 libgone.so.1 library_folders',
        ),
        (
            "NVIDIA's driver, on a site without",
            'pure',
            image(mpi=lambda it: it.mpi(needed=[it.plain('libcuda.so.1')])),
            GPU,
            'fails',
            'libcuda.so.1 NVIDIA',
        ),
        (
            'of the program, before any MPI',
            'bind',
            image(program=lambda it: make_program_without_mpi(it, it.plain('libmid.so.1'))),
            GPU,
            'fails',
            '/opt/osu/bin/osu_latency libmid.so.1',
        ),
        (
            'behind a script without LD_LIBRARY_PATH',
            'bind',
            combine_changes(
                image(),
                start_by_script('#!/bin/sh\nexec env -u LD_LIBRARY_PATH /opt/real/program "$@"\n'),
            ),
            GPU,
            'fails',
            '/opt/real/program libmpi.so.12',
        ),
        (
            "mpi4py's MPI, in a folder that ld.so does not know",
            'pure',
            use_python(at='/opt/other'),
            GPU,
            'fails',
            '/usr/bin/python3 libmpi.so libmpi.so.12 libmpi.so.40',
        ),
        (
            'a text in its place',
            'pure',
            write_file('/usr/lib/libfabric.so.1', 'INPUT(-lother)'),
            GPU,
            'fails',
            '/usr/lib/libfabric.so.1 image:/opt/mpich/lib/libmpi.so.12',
        ),
        (
            'a name that only compilers know',
            'hybrid',
            image(program=lambda it: make_program_without_mpi(it, make_mpi(it, 'libmpi.so'))),
            GPU,
            'fails',
            '/opt/osu/bin/osu_latency libmpi.so',
        ),
    ],
    'symbol version': [
        (
            'newer libfabric wanted',
            'hybrid',
            image(mpi=build_mpi(needs=9), fabric=build_fabric(newest=9)),
            GPU,
            'fails',
            'FABRIC_1.9 libfabric.so.1 FABRIC_1.7',
        ),
        (
            'within the image',
            'opensource',
            image_mpi(needs=9),
            GPU,
            'fails',
            'FABRIC_1.9 image:/usr/lib/libfabric.so.1 FABRIC_1.7',
        ),
    ],
    'processor level': [
        (
            'a library',
            'pure',
            combine_changes(image_mpi(options=V4), defer_change(raise_processor_level)),
            PLAIN,
            'fails',
            'x86-64-v5 libmpi.so.12',
        ),
    ],
    'undefined symbol': [
        (
            'a function that is called some day',
            'bind',
            image(
                mpi=make_newer_library,
                program=link_program(calls='MPIX_New', mpi=make_newer_library),
            ),
            GPU,
            'unknown',
            'MPIX_New',
        ),
        ('seven', 'bind', seven_functions, GPU, 'fails', 'libothers.so.1 MPIX_A MPIX_E 2'),
        (
            'all is bound now',
            'bind',
            image(
                mpi=make_newer_library,
                program=link_program(calls='MPIX_New', mpi=make_newer_library),
                environment={'LD_BIND_NOW': '1'},
            ),
            GPU,
            'fails',
            'MPIX_New',
        ),
        (
            "mpi4py's, which Python looks up when it is imported",
            'bind',
            use_python(
                more='int MPI_Session_init(void); void user(void) { MPI_Session_init(); }\n'
            ),
            GPU,
            'fails',
            'MPI.mpich.cpython-311-x86_64-linux-gnu.so MPI_Session_init',
        ),
        (
            "a program's own, before any MPI",
            'pure',
            image(
                program=lambda it: make_program_without_mpi(it, make_lost_data_library(it)),
                libraries=lambda it: [make_lost_data_library(it)],
            ),
            GPU,
            'fails',
            'liblost.so.1 lost',
        ),
    ],
    'injection defeated': [
        (
            'mpi4py opens that beside its Python',
            'bind',
            use_python('libmpi.so.12', prefix=VENV),
            GPU,
            'fails',
            'mpi4py /opt/venv/lib/libmpi.so.12',
        ),
        (
            "Python of conda, by DT_RPATH",
            'hybrid',
            combine_changes(
                use_python('libmpi.so.12', prefix=CONDA, rpath='$ORIGIN/../lib'),
                defer_change(
                    lambda it: it.image.copy(it.parts.fabric(), '/opt/conda/lib/libfabric.so.1')
                ),
            ),
            GPU,
            'fails',
            'libfabric.so.1 /opt/conda/bin/python3 DT_RPATH',
        ),
        (
            'a libfabric of another soname',
            'hybrid',
            host(libfabric=lambda it: it.plain('libfabric.so.2')),
            GPU,
            'fails',
            'libfabric.so.1 libfabric.so.2',
        ),
        (
            'by a script that starts it',
            'hybrid',
            combine_changes(
                image(),
                start_by_script(
                    '#!/bin/sh\nexport LD_LIBRARY_PATH=/opt/mpich/lib\n/opt/real/program "$@"\n'
                ),
            ),
            GPU,
            'fails',
            'LD_LIBRARY_PATH osu_latency:2',
        ),
        (
            'by a script, and by DT_RPATH afterwards',
            'hybrid',
            combine_changes(
                image_mpi(options=['-Wl,--disable-new-dtags,-rpath,/usr/lib']),
                add_script('export LD_LIBRARY_PATH=/opt/mpich/lib', 'zzzz.sh'),
            ),
            GPU,
            'fails',
            'zzzz.sh:1 90-environment.sh (afterwards fails: DT_RPATH',
        ),
        (
            'env -i',
            'hybrid',
            combine_changes(
                image(mpi_folder='/usr/lib'),
                start_by_script('#!/bin/sh\nenv -i A=1 /opt/real/program\n'),
            ),
            GPU,
            'fails',
            'libfabric.so.1 /usr/bin/env',
        ),
        (
            'an unknown folder of a script',
            'hybrid',
            combine_changes(
                image(mpi_folder='/usr/lib'),
                start_by_script(
                    '#!/bin/sh\nexport LD_LIBRARY_PATH=$TOOLS/lib:$LD_LIBRARY_PATH\n'
                    'exec /opt/real/program\n'
                ),
            ),
            GPU,
            'unknown',
            'LD_LIBRARY_PATH osu_latency:2 --start',
        ),
        (
            'set anew',
            'hybrid',
            add_script('export LD_LIBRARY_PATH=/opt/mpich/lib', 'zzzz.sh'),
            GPU,
            'fails',
            'LD_LIBRARY_PATH zzzz.sh:1',
        ),
        (
            'a folder in front',
            'hybrid',
            add_script('export LD_LIBRARY_PATH=/usr/lib:$LD_LIBRARY_PATH', 'zzzz.sh'),
            GPU,
            'fails',
            'LD_LIBRARY_PATH /usr/lib zzzz.sh:1',
        ),
        (
            'preloaded',
            'hybrid',
            add_script('export LD_PRELOAD=/usr/lib/libfabric.so.1'),
            GPU,
            'fails',
            '/usr/lib/libfabric.so.1',
        ),
        (
            'MPI by DT_RPATH of the program',
            'bind',
            image(program=link_program(rpath='/opt/mpich/lib')),
            GPU,
            'fails',
            '/opt/osu/bin/osu_latency DT_RPATH /opt/mpich/lib',
        ),
        (
            'libfabric by DT_RPATH of MPI',
            'hybrid',
            image_mpi(rpath='old:/usr/lib'),
            GPU,
            'fails',
            'libmpi.so.12 DT_RPATH /usr/lib',
        ),
    ],
    'provider of the image': [
        (
            'sockets',
            'hybrid',
            add_script('export FI_PROVIDER=sockets'),
            PLAIN,
            'works slowly',
            'FI_PROVIDER=sockets',
        ),
        (
            'Open MPI, which is told another one',
            'openmpi',
            combine_changes(
                OPEN_MPI_IMAGE,
                add_script('export FI_PROVIDER=sockets'),
            ),
            PLAIN,
            'fails',
            'FI_PROVIDER=sockets tcp',
        ),
        (
            'TCP on Slingshot',
            'hybrid',
            image(environment={'FI_PROVIDER': 'tcp'}),
            GPU,
            'works slowly',
            'FI_PROVIDER=tcp',
        ),
        (
            'another',
            'hybrid',
            add_script('export FI_PROVIDER=verbs'),
            GPU,
            'unknown',
            'FI_PROVIDER=verbs cxi',
        ),
        (
            'all but one',
            'hybrid',
            add_script('export FI_PROVIDER=^cxi'),
            GPU,
            'unknown',
            'FI_PROVIDER=^cxi libfabric',
        ),
        (
            'a command',
            'hybrid',
            add_script('export FI_PROVIDER=$(find)'),
            GPU,
            'unknown',
            '91-own.sh:1 libfabric',
        ),
    ],
    "image's variables": [
        (
            'another value',
            'hybrid',
            add_script('export MPIR_CVAR_CH4_OFI_ENABLE_HMEM=0'),
            GPU,
            'unknown',
            'MPIR_CVAR_CH4_OFI_ENABLE_HMEM=0',
        ),
        (
            'an interface',
            'hybrid',
            add_script('export FI_TCP_IFACE=lo'),
            PLAIN,
            'unknown',
            'FI_TCP_IFACE=lo',
        ),
        (
            'a part of Open MPI',
            'openmpi',
            combine_changes(
                OPEN_MPI_IMAGE,
                add_script('export OMPI_MCA_accelerator=cuda'),
            ),
            PLAIN,
            'unknown',
            'OMPI_MCA_accelerator=cuda',
        ),
        (
            'taken away',
            'bind',
            add_script('export MPICH_GPU_SUPPORT_ENABLED='),
            GPU,
            'unknown',
            'MPICH_GPU_SUPPORT_ENABLED',
        ),
        (
            'a command',
            'pure',
            add_script('export MPIR_CVAR_CH4_NETMOD=$(find)'),
            GPU,
            'unknown',
            'MPIR_CVAR_CH4_NETMOD',
        ),
        (
            'a newer tcp in a file',
            'hybrid',
            add_tcp_provider(2, 4),
            PLAIN,
            'unknown',
            'FI_PROVIDER_PATH',
        ),
        *(
            (assignment, 'pure', combine_changes(change, add_script('export ' + assignment)), PLAIN)
            + ('unknown', assignment)
            for assignment, change in (
                ('UCX_TLS=rc', UCX_ALONE),
                ('MPIR_CVAR_CH4_NUM_VCIS=200', image()),
                ('MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=/none', image()),
                ('MPIR_CVAR_DEBUG_SUMMARY=x', image()),
                ('I_MPI_OFFLOAD=2', image_mpi(intel_mpi())),
            )
        ),
        (
            'shared memory alone',
            'hybrid',
            combine_changes(
                image_mpi(intel_mpi('2021.17.0')),
                add_script('export I_MPI_FABRICS=shm'),
            ),
            PLAIN,
            'unknown',
            'I_MPI_FABRICS=shm',
        ),
    ],
    'parameter files': [
        (
            name,
            'openmpi',
            combine_changes(
                OPEN_MPI_IMAGE,
                write_file(name, text),
            ),
            PLAIN,
            'unknown',
            said,
        )
        for name, text, said in (
            ('/opt/mpich/etc/openmpi-mca-params.conf', '# x\nbtl = self\n', 'OMPI_MCA_btl=self'),
            ('/etc/openmpi/openmpi-mca-params.conf', 'osc=^basic,ucx\n', 'OMPI_MCA_osc=^basic,ucx'),
            (
                '/opt/mpich/etc/pmix-mca-params.conf',
                'ptl_base_if_include = lo\n',
                'PMIX_MCA_ptl_base_if_include=lo',
            ),
        )
    ],
    'no libfabric': [
        (
            'ch3',
            'hybrid',
            image_mpi(mpich('3.1.4', 'ch3:nemesis'), needs=None),
            GPU,
            'no use',
            'ch3:nemesis hybrid TCP',
        ),
        (
            'Open MPI',
            'openmpi',
            image(mpi=make_plain_open_mpi),
            PLAIN,
            'fails',
            'libmpi.so.40 openmpi',
        ),
        (
            'ucx alone, where it is right',
            'opensource',
            combine_changes(INFINIBAND, UCX_WHOLE),
            PLAIN,
            'no use',
            'opensource UCX ch4:ucx',
        ),
    ],
    'netmod': [
        (
            'ucx first',
            'hybrid',
            image_mpi(mpich(device='ch4:ucx ofi')),
            GPU,
            'works slowly',
            'UCX ch4:ucx ch4:ofi Slingshot',
        ),
        (  # the remedy of the case above would only lead to another failure
            'ucx first, no provider cxi',
            'opensource',
            image(
                mpi=build_mpi(mpich(device='ch4:ucx ofi')),
                fabric=build_fabric(providers=('tcp',), needed=()),
            ),
            GPU,
            'no use',
            'UCX Slingshot cxi hybrid bind',
        ),
        (
            'ucx first on EFA',
            'opensource',
            combine_changes(
                set_network('EFA', 'efa'),
                defer_change(lambda it: it.site.update(variables=[])),
                image_mpi(mpich(device='ch4:ucx ofi')),
            ),
            PLAIN,
            'unknown',
            'UCX ch4:ucx ch4:ofi EFA',
        ),
    ],
    'UCX': [
        (
            'no transport for cards',
            'pure',
            combine_changes(INFINIBAND, UCX_WHOLE, remove_file('/usr/lib/ucx/libuct_ib.so.0')),
            PLAIN,
            'works slowly',
            'UCX InfiniBand',
        ),
        (
            'no libibverbs',
            'pure',
            combine_changes(INFINIBAND, UCX_ALONE),
            PLAIN,
            'works slowly',
            'libibverbs.so.1',
        ),
        (
            "the host's UCX",
            'bind',
            combine_changes(
                INFINIBAND,
                VERBS,
                host(libmpi=make_ucx_mpi),
                defer_change(
                    lambda it: [
                        it.host.copy(it.parts.plain(name), f'/usr/lib64/{name}')
                        for name in ('libucp.so.0', 'libucs.so.0')
                    ]
                ),
            ),
            PLAIN,
            'works slowly',
            'UCX InfiniBand pure',
        ),
        ('on Slingshot', 'pure', UCX_WHOLE, GPU, 'works slowly', 'UCX Slingshot cxi'),
        (
            'on EFA',
            'pure',
            combine_changes(set_network('EFA', 'efa'), UCX_WHOLE),
            PLAIN,
            'unknown',
            'UCX efa',
        ),
        (
            'Open MPI, cards of Broadcom',
            'openmpi',
            combine_changes(BROADCOM, OPEN_MPI_UCX),
            PLAIN,
            'unknown',
            'UCX Mellanox bnxt_en OMPI_MCA_pml=ucx',
        ),
    ],
    'libcxi and driver': [
        ('another release', 'opensource', image(shs='13.0.0'), GPU, 'unknown', '13.0.0 12.0.2'),
        ('no label', 'opensource', image(shs=None), GPU, 'unknown', 'libcxi 12.0.2'),
        (
            'a site of unknown SHS',
            'opensource',
            lambda it: it.site.pop('slingshot'),
            GPU,
            'unknown',
            'libcxi 12.0.2',
        ),
    ],
    'no provider': [
        (
            'no cxi',
            'opensource',
            image_fabric(providers=('tcp', 'shm')),
            GPU,
            'fails',
            'libfabric.so.1 1.22.0 cxi shm tcp',
        ),
        (
            'no tcp',
            'pure',
            image_fabric(providers=('cxi', 'rxm', 'shm')),
            GPU,
            'fails',
            'libfabric.so.1 1.22.0 tcp cxi rxm shm',
        ),
        (
            'no cxi on the host',
            'hybrid',
            host_fabric(providers=('tcp',)),
            GPU,
            'fails',
            'libfabric.so.1 1.22.0 cxi discover',
        ),
        (
            'in a file of its own, without the library that it needs',
            'opensource',
            combine_changes(
                image_fabric(providers=('tcp',), needed=()),
                defer_change(
                    lambda it: it.image.copy(
                        it.parts.plain('libcxi-fi.so', needed=[it.parts.plain('libgone.so.1')]),
                        '/usr/lib/libfabric/libcxi-fi.so',
                    )
                ),
            ),
            GPU,
            'fails',
            'cxi libgone.so.1',
        ),
        (
            'FI_PROVIDER_PATH takes the place of the folder beside',
            'opensource',
            add_provider_file('/usr/lib/libfabric/libcxi-fi.so', FI_PROVIDER_PATH='/opt/prov'),
            GPU,
            'fails',
            'cxi FI_PROVIDER_PATH=/usr/lib/libfabric',
        ),
        (
            "the host's libfabric and the image's file",
            'hybrid',
            combine_changes(
                add_provider_file('/opt/prov/libcxi-fi.so', FI_PROVIDER_PATH='/opt/prov'),
                host_fabric(providers=('tcp',)),
            ),
            GPU,
            'unknown',
            'libfabric.so.1 1.22.0 cxi',
        ),
    ],
    'card driver': [
        (
            'no rdma-core',
            'opensource',
            combine_changes(INFINIBAND, VERBS),
            PLAIN,
            'fails',
            'verbs;ofi_rxm libmlx5-rdmav*.so',
        ),
        (
            'rdma-core for other cards',
            'opensource',
            combine_changes(BROADCOM, VERBS, add_rdma_core('mlx5')),
            PLAIN,
            'fails',
            'libbnxt_re-rdmav*.so',
        ),
    ],
    'libfabric API': [
        (
            "built with a newer one than the host's",
            'hybrid',
            combine_changes(image(mpi=make_asking_mpich()), OTHER_FABRIC),
            PLAIN,
            'fails',
            '1.22 1.21 MPIR_CVAR_CH4_OFI_MINOR_VERSION=21',
        ),
        (
            'no table in the file',
            'hybrid',
            OTHER_FABRIC,
            PLAIN,
            'unknown',
            'libmpi.so.12 1.21',
        ),
        (
            'a variable of the image',
            'hybrid',
            combine_changes(
                image(
                    mpi=make_asking_mpich(), environment={'MPIR_CVAR_CH4_OFI_MINOR_VERSION': '23'}
                )
            ),
            PLAIN,
            'fails',
            '1.23 1.22',
        ),
        *(
            (
                f'MPICH {release} with FI_PROVIDER={names}',
                'hybrid',
                combine_changes(
                    image(mpi=make_asking_mpich(release), environment={'FI_PROVIDER': names}),
                    OTHER_FABRIC,
                ),
                PLAIN,
                word,
                '1.22 MPIR_CVAR_CH4_OFI_MINOR_VERSION=21',
            )
            for release, names, word in (
                ('5.0.1', '^shm', 'unknown'),
                ('5.0.1', 'tcp', 'fails'),
                ('4.3.2', '^shm', 'fails'),
            )
        ),
    ],
    'capability set': [
        (
            'MPICH 4.0.3',
            'opensource',
            image_mpi(mpich('4.0.3')),
            GPU,
            'fails',
            '4.0.3 cxi',
        )
    ]
    + [
        (
            name,
            'hybrid',
            image(mpi=lambda it, version=version: it.mpi(mpich(version, cxi=False))),
            GPU,
            'unknown',
            'cxi',
        )
        for name, version in (
            ('a later one without the mark', '4.2.3'),
            ('of unknown release', '?'),
        )
    ],
    'not seen over cxi': [
        (
            'Intel MPI',
            'opensource',
            image_mpi(intel_mpi()),
            GPU,
            'unknown',
            'cxi Intel MPI 2021.19',
        ),
        (
            "Intel MPI of the host",
            'bind',
            host(libmpi=build_mpi(intel_mpi())),
            GPU,
            'unknown',
            'cxi Intel MPI 2021.19',
        ),
        (
            'of unknown release',
            'opensource',
            image_mpi(open_mpi('?')),
            GPU,
            'unknown',
            'cxi',
        ),
    ],
    'TCP only': [
        ('on a fast network', 'pure', image(), GPU, 'works slowly', 'TCP cxi hybrid'),
        (
            'InfiniBand, and UCX is there',
            'pure',
            combine_changes(
                INFINIBAND,
                UCX_WHOLE,
                image(mpi=lambda it: make_ucx_mpi(it, mpich(device='ch4:ofi ucx'), needs=7)),
            ),
            PLAIN,
            'works slowly',
            'TCP verbs;ofi_rxm MPIR_CVAR_CH4_NETMOD=ucx',
        ),
        (
            'Open MPI with neither',
            'openmpi',
            combine_changes(INFINIBAND, image(mpi=make_plain_open_mpi)),
            PLAIN,
            'works slowly',
            'TCP InfiniBand',
        ),
    ],
    'RCCL plugin': [
        (
            'plugin of a newer libfabric',
            'hybrid',
            image(
                plugin=lambda it: it.compile_dependent(
                    'librccl-net.so', it.fabric(newest=9), ['FABRIC_1.9']
                )
            ),
            GPU,
            'works slowly',
            'librccl-net.so FABRIC_1.9 FABRIC_1.7',
        ),
        (
            'built for EFA, with a libfabric of its own',
            'hybrid',
            EFA_PLUGIN,
            CUDA,
            'works slowly',
            '/opt/amazon/efa/lib/libfabric.so.1 cxi NCCL TCP',
        ),
        (
            'not for libfabric',
            'hybrid',
            image(cuda='12.8', plugin=lambda it: it.plain('libnccl-net.so')),
            CUDA,
            'works slowly',
            'librccl-net.so Slingshot NCCL',
        ),
        (
            'plugin that lacks a library',
            'hybrid',
            image(plugin=lambda it: it.plain('librccl-net.so', needed=[it.plain('libgone.so.1')])),
            GPU,
            'works slowly',
            'libgone.so.1',
        ),
        (
            'none',
            'bind',
            image(plugin=None, libraries=lambda it: [it.plain('librccl.so.1')]),
            GPU,
            'works slowly',
            'RCCL aws-ofi-nccl',
        ),
    ],
    'GPU transport layer': [
        (
            'the site has none',
            'bind',
            lambda it: it.site.update(libraries=dict(it.site['libraries'], libmpi_gtl_hsa=None)),
            GPU,
            'fails',
            'libmpi_gtl_ MPICH_GPU_SUPPORT_ENABLED=0',
        )
    ],
    'pointer query': [
        (
            'Cray MPICH',
            'bind',
            combine_changes(use_cuda('12.4'), site(gpu_driver='590')),
            CUDA,
            NOTE,
            'cuPointerGetAttribute 590 MPICH_GPU_SUPPORT_ENABLED=0',
        ),
    ],
    'CUDA release': [
        (
            'too new for the driver',
            'hybrid',
            combine_changes(use_cuda('13.0'), site(gpu_driver='565.57.01')),
            CUDA,
            'fails',
            'CUDA 13.0 580 565.57.01',
        ),
        (
            'wheels that are newer than the image',
            'hybrid',
            combine_changes(use_cuda('12.8'), WHEELS, site(gpu_driver='570.1')),
            CUDA,
            'fails',
            'CUDA 13.0 580 570.1',
        ),
        (
            'newer than all that are known',
            'hybrid',
            use_cuda('14.0'),
            CUDA,
            'unknown',
            'CUDA 14.0 580',
        ),
        (
            'cuda-compat for an older driver',
            'hybrid',
            use_cuda('12.8', '570.86.10'),
            CUDA,
            'fails',
            '570.86.10 580 803',
        ),
        (
            'cuda-compat for a newer driver',
            'hybrid',
            combine_changes(use_cuda('13.0', '580.65.06'), site(gpu_driver='550.54.15')),
            CUDA,
            'unknown',
            '580.65.06 550.54.15',
        ),
    ],
    'ROCm release': [
        ('too new', 'hybrid', image(rocm='7.1.0'), GPU, 'unknown', 'ROCm 7.1.0 6.1 7.0'),
        ('too old', 'opensource', image(rocm='6.0.3'), GPU, 'unknown', 'ROCm 6.0.3 6.1 7.0'),
        (
            'two of them',
            'bind',
            combine_changes(
                image(
                    libraries=lambda it: [it.plain('libamdhip64.so.5')],
                    program=link_program(needed=lambda it: it.plain('libamdhip64.so.5')),
                ),
                host(
                    libmpi_gtl_hsa=lambda it: it.plain(
                        'libmpi_gtl_hsa.so.0', needed=[it.plain('libamdhip64.so.6')]
                    )
                ),
            ),
            GPU,
            'fails',
            'libamdhip64.so.5',
        ),
    ],
    'ranks apart': [
        (
            'the host\'s MPICH 5',
            'bind',
            combine_changes(APART, use_mpich_5),
            PLAIN,
            'works slowly',
            'MPIR_CVAR_CH4_CMA_ENABLE',
        ),
        (
            'the image\'s, an Apptainer before 1.3',
            'pure',
            combine_changes(runtime('apptainer', '1.2.5', False), use_mpich_5),
            PLAIN,
            'works slowly',
            'apptainer 1.2.5 setuid',
        ),
        ('Cray MPICH', 'bind', APART, GPU, 'works slowly', 'MPICH_SMP_SINGLE_COPY_MODE'),
    ],
    'PMI': [
        (
            'PMIx alone on the site',
            'hybrid',
            site(pmi={'image': 'pmix', 'host': 'pmix'}),
            GPU,
            'fails',
            'srun --mpi=pmix pmi2',
        ),
        (
            'Cray MPICH under pmix',
            'bind',
            site(pmi={'image': 'pmi2', 'host': 'pmix'}),
            GPU,
            'fails',
            'srun --mpi=pmix cray_shasta',
        ),
    ],
    'no program': [
        (
            'no MPI at all',
            'pure',
            combine_changes(image(program=None), remove_file('/opt/mpich/lib/libmpi.so.12')),
            GPU,
            'unknown',
            'libmpi.so.12 libmpi_abi.so.1 libmpich.so.12',
        ),
        (
            'a launcher',
            'bind',
            image(program=make_program_without_mpi),
            GPU,
            'unknown',
            'osu_latency library',
        ),
        (
            'a launcher that is named',
            'bind',
            combine_changes(
                defer_change(
                    lambda it: it.image.copy(make_program_without_mpi(it.parts), '/opt/mpiexec')
                ),
                program('/opt/mpiexec /opt/osu/bin/osu_latency'),
            ),
            GPU,
            'unknown',
            '/opt/mpiexec library',
        ),
        (
            'MPI inside',
            'bind',
            image(
                program=lambda it: make_program_without_mpi(
                    it, '-Wl,--defsym=MPI_Init=main', '-rdynamic'
                )
            ),
            GPU,
            'unknown',
            'osu_latency linked',
        ),
        (
            'two MPIs',
            'hybrid',
            defer_change(
                lambda it: it.image.copy(
                    it.parts.program(make_mpi(it.parts, 'libmpi.so.40')), '/opt/osu/bin/osu_other'
                )
            ),
            GPU,
            'unknown',
            'libmpi.so.12 libmpi.so.40',
        ),
        *(
            (
                text.split('\n')[1],
                'hybrid',
                combine_changes(image(), start_by_script(text)),
                GPU,
                'unknown',
                said,
            )
            for text, said in (
                ('#!/bin/sh\n/opt/mpiexec /opt/real/program\n', '/opt/mpiexec'),
                ('#!/bin/sh\nenv -C / /opt/real/program\n', '/usr/bin/env'),
                # findings of 2026-11-28: scripts whose first or later lines end or change them
                ('#!/bin/bash -l\nexec /opt/real/program\n', '/bin/bash -l'),
                ('#!/bin/sh -e\ncd /opt/none\nexec /opt/real/program\n', '/bin/sh -e'),
                ('#!/bin/sh\nset -e; cd /opt/none\nexec /opt/real/program\n', 'set -e'),
                ('#!/bin/sh\nexec /opt/real/program 2>/opt/app.log\n', '/opt/app.log'),
                ('#!/bin/sh\n/opt/real/program\nexec /opt/real/program\n', 'osu_latency:3'),
                (
                    '#!/bin/sh\n[ "$A" ] || exec /bin/sh\nexec /opt/real/program\n',
                    '/opt/osu/bin/osu_latency:2',
                ),
                ('#!/opt/real/program\n\n', '/opt/osu/bin/osu_latency /opt/real/program'),
            )
        ),
        (
            'BASH_ENV of the image',
            'hybrid',
            combine_changes(
                image(environment={'BASH_ENV': '/opt/bash.env'}),
                start_by_script('#!/bin/bash\nexec /opt/real/program\n'),
            ),
            GPU,
            'unknown',
            'BASH_ENV osu_latency',
        ),
        (
            'ctypes',
            'bind',
            use_python(text='import ctypes\nctypes.CDLL("/opt/x/libmpi.so.12")\nimport mpi4py\n'),
            GPU,
            'unknown',
            'Python /opt/osu/bin/osu_latency',
        ),
        *(
            (what, 'bind', change, GPU, 'unknown', message)
            for what, change, message in (
                ('python -E', use_python(option=' -E'), '-E'),
                (
                    'mpi4py of another Python',
                    use_python(own={'MPI.cpython-39-x86_64-linux-gnu.so': 'libmpi.so.12'}),
                    '/usr/lib/python3.11/site-packages',
                ),
                (
                    'mpi4py where Python does not look',
                    use_python(site='/opt/py'),
                    'no mpi4py',
                ),
                (
                    'sys.path of the script',
                    use_python(text='import sys\nsys.path.append("/opt/py")\nimport mpi4py\n'),
                    'sys.path',
                ),
                (
                    'python3-minimal',
                    combine_changes(use_python(), write_file('/usr/lib/python3.11/os.py', '')),
                    'ctypes',
                ),
                (
                    'several names per import',
                    use_python(text='import sys, h5x\nfrom mpi4py import MPI\n'),
                    'h5x',
                ),
                (
                    'NumPy is missing',
                    use_python(text='import numpy\nfrom mpi4py import MPI\n'),
                    'numpy',
                ),
                (
                    'a package that may use another MPI',
                    use_python(text='import h5py\nfrom mpi4py import MPI\n'),
                    'h5py',
                ),
                (
                    'a module of the program',
                    combine_changes(
                        use_python(text='import settings\nfrom mpi4py import MPI\n'),
                        write_file('/opt/osu/bin/settings.py', ''),
                    ),
                    'settings',
                ),
                (
                    'rc of mpi4py',
                    use_python(text='from mpi4py import rc\nfrom mpi4py import MPI\n'),
                    'rc',
                ),
            )
        ),
        (
            'a module of Python',
            'bind',
            combine_changes(use_python(), program('/usr/bin/python3 -m solver')),
            GPU,
            'unknown',
            '-m solver',
        ),
        (
            'a name, and no PATH that is known',
            'pure',
            combine_changes(add_script('export PATH=$(find)'), program('osu_latency')),
            GPU,
            'unknown',
            'PATH 91-own.sh:1',
        ),
        (
            'an MPI4PY_LIBMPI that is not known',
            'bind',
            combine_changes(add_script('export MPI4PY_LIBMPI=$(find)'), use_python()),
            GPU,
            'unknown',
            'MPI4PY_LIBMPI',
        ),
    ],
}

#: rule -> [(what the case is, approach, change, site)]: near to where it speaks, and it must not
SILENT = {
    'host path missing': [
        ('not needed', 'opensource', host(libfabric=None), GPU),
        ('at a path that nobody has seen', 'bind', host(libpals=None), GPU),
        (
            'a link to the file',
            'hybrid',
            combine_changes(
                host(libfabric=None),
                defer_change(
                    lambda it: it.host.copy(
                        it.parts.fabric(), '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1.23'
                    ).link('/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1', 'libfabric.so.1.23')
                ),
            ),
            GPU,
        ),
    ],
    'host not described': [
        ('all is described', 'hybrid', make_described_host(), GPU),
        ('nothing is taken', 'opensource', make_described_host('all'), GPU),
    ],
    'facts of the host': [
        ('all is described', 'bind', make_described_host(), GPU),
        (
            'the C library of the image is as new',
            'hybrid',
            make_described_host('verneed', glibc='2.17'),
            GPU,
        ),
        (
            'functions that nobody calls',
            'hybrid',
            make_described_host('defined', libraries='libcxi.so.1'),
            GPU,
        ),
    ],
    'start of the container': [
        ('return', 'pure', add_script('return 0'), GPU),
        ('exit that is not reached', 'pure', add_script('false && exit'), GPU),
    ],
    'unknown environment': [
        ('another variable', 'pure', add_script('export FOO=$(find)'), GPU),
    ],
    'privileges': [('none', 'bind', image(), GPU)],
    'mounted over': [
        ("the host's MPI is found first", 'bind', image(mpi_folder='/tmp/mpi/lib'), PLAIN),
        ('beside the home folder', 'pure', image(mpi_folder=HOME + '-mpi/lib'), PLAIN),
        ("the folder of the host's libraries", 'pure', image(mpi_folder=INJECT_FOLDER), PLAIN),
    ],
    'architecture': [('the same', 'hybrid', image(), GPU)],
    'GPU vendor': [
        ('both', 'hybrid', image(cuda='12.8'), GPU),
        ('CUDA on NVIDIA', 'hybrid', image(rocm=None, cuda='12.8'), CUDA),
        ('no GPU', 'hybrid', image(rocm=None, cuda='12.8'), CPU),
    ],
    'static program': [('shared', 'hybrid', program('/opt/osu/bin/osu_latency'), GPU)],
    'musl': [
        (
            'nothing to inject',
            'pure',
            combine_changes(image(program=None), defer_change(use_musl)),
            GPU,
        ),
        ('there, but not used', 'hybrid', write_file(MUSL, b''), GPU),
    ],
    'overlay': [('none', 'hybrid', lambda it: None, GPU)],
    'entrypoint': [
        (
            'ours',
            'swap',
            start_file('/opt/start', '#!/bin/bash\n# OSU_SWAP /host/lib\nexec "$@"\n'),
            GPU,
        ),
        ('not needed', 'hybrid', image(), GPU),
    ],
    'interpreter': [
        (
            'there',
            'swap',
            combine_changes(
                start_file('/opt/start', '#!/usr/bin/env bash\n# OSU_SWAP /host/lib\nexec "$@"\n'),
                defer_change(
                    lambda it: it.image.write('/usr/bin/env', b'').write('/usr/bin/bash', b'')
                ),
            ),
            GPU,
        ),
        ('not started', 'hybrid', start_file('/opt/start', '#!/bin/bash\n# /host/lib\n'), GPU),
    ],
    'other MPI': [
        (
            'both, the program takes MPICH',
            'hybrid',
            image(libraries=lambda it: [it.mpi(open_mpi(), 'libmpi.so.40')]),
            GPU,
        ),
        (
            'standard ABI',
            'opensource',
            image_mpi(mpich('5.0.2'), 'libmpi_abi.so.1'),
            GPU,
        ),
    ]
    + [
        (soname, approach, image(mpi=lambda it, soname=soname: it.mpi(mpich('5.0.0'), soname)), GPU)
        for soname, approach in (('libmpich.so.12', 'hybrid'), ('libmpi_abi.so.0', 'swap'))
    ]
    + [
        (
            'Open MPI where srun can start it',
            'pure',
            combine_changes(
                site(pmi={'image': 'pmix'}),
                OPEN_MPI_IMAGE,
            ),
            PLAIN,
        )
    ],
    'two builds of Open MPI': [
        ('C of 4 over 5', 'bind', use_open_mpi_release('4.1.4', '40'), PLAIN),
        ('C of 5 over 4', 'bind', use_open_mpi_release('5.0.7', '80', over=('4.1.8', '40')), PLAIN),
        ('Fortran of one series', 'bind', use_open_mpi_release('5.0.7', '80', fortran=True), PLAIN),
    ],
    'two MPIs': [
        (
            "under Debian's own soname",
            'bind',
            image(
                program=link_program(needed=lambda it: make_mpi(it, 'libmpich.so.12')),
                libraries=lambda it: [make_mpi(it, 'libmpich.so.12')],
            ),
            GPU,
        )
    ],
    'standard ABI': [
        ("the image's MPI runs", 'hybrid', use_standard_abi(intel_mpi()), PLAIN),
        ('of MPICH', 'bind', use_standard_abi(mpich('5.0.2')), PLAIN),
    ],
    'missing library': [
        (
            'a path with ; and $ORIGIN',
            'pure',
            combine_changes(
                image(mpi_folder='/opt/osu/mpi', environment={'LD_LIBRARY_PATH': '/opt/none'}),
                add_script("export LD_LIBRARY_PATH='/opt/none;$ORIGIN/../mpi'"),
            ),
            GPU,
        ),
        (
            'one of another machine first',
            'pure',
            combine_changes(
                image(environment={'LD_LIBRARY_PATH': '/opt/32:/opt/mpich/lib'}),
                defer_change(
                    lambda it: set_other_machine(
                        it.image.copy(it.parts.mpi(), '/opt/32/libmpi.so.12').resolve_path(
                            '/opt/32/libmpi.so.12'
                        )
                    )
                ),
            ),
            GPU,
        ),
        (
            "NVIDIA's driver, which the runtime brings",
            'pure',
            image(
                mpi=lambda it: it.mpi(
                    needed=[it.plain('libcuda.so.1'), it.plain('libnvidia-ml.so.1')]
                ),
                rocm=None,
                cuda='12.8',
            ),
            CUDA,
        ),
        (
            'the image has what the host lacks',
            'hybrid',
            combine_changes(
                host_fabric(needed=('libcxi.so.1', 'libgone.so.1')),
                image(libraries=lambda it: [it.plain('libgone.so.1')]),
            ),
            GPU,
        ),
        (
            'the host brings what the image lacks',
            'bind',
            combine_changes(
                host_fabric(needed=('libcxi.so.1', 'libnew.so.1')),
                defer_change(
                    lambda it: it.host.copy(it.parts.plain('libnew.so.1'), '/usr/lib64/libnew.so.1')
                ),
            ),
            GPU,
        ),
    ],
    'symbol version': [
        ('host newer', 'hybrid', host_fabric('2.5.1', newest=9), GPU),
        (
            'the library has no versions at all',
            'pure',
            image(
                fabric=lambda it: it.plain(
                    'libfabric.so.1',
                    source='void of_FABRIC_1_0(void) { }\nvoid of_FABRIC_1_7(void) { }\n',
                )
            ),
            GPU,
        ),
    ],
    'processor level': [
        (
            'a level that this machine has',
            'pure',
            image_mpi(options=['-Wl,-z,x86-64-v2']),
            PLAIN,
        ),
        ('a library that is not loaded', 'bind', image_mpi(options=V4), GPU),
    ],
    'undefined symbol': [
        (
            'the host has it',
            'bind',
            combine_changes(
                image(
                    mpi=make_newer_library,
                    program=link_program(calls='MPIX_New', mpi=make_newer_library),
                ),
                host(
                    libmpi=build_mpi(
                        cray_mpich(), more='int MPIX_New(void *a, void *b) { return 0; }\n'
                    )
                ),
            ),
            GPU,
        ),
        (
            "mpi4py's, and the image's MPI stays",
            'hybrid',
            use_python(more='int MPI_Init(void); void user(void) { MPI_Init(); }\n'),
            GPU,
        ),
        (
            'weak',
            'pure',
            image_mpi(more='extern int lost __attribute__((weak)); int *where = &lost;\n'),
            GPU,
        ),
        (
            'of a library that may be in one which is missing',
            'pure',
            image(
                mpi=lambda it: it.mpi(
                    more='extern int lost; int *where = &lost;\n', needed=[it.plain('libgone.so.1')]
                )
            ),
            GPU,
        ),
    ],
    'injection defeated': [
        ('DT_RUNPATH', 'bind', image(program=link_program(runpath='/opt/mpich/lib')), GPU),
        ('DT_RPATH of another folder', 'bind', image(program=link_program(rpath='/opt/none')), GPU),
        ('nothing is promised', 'opensource', image(program=link_program(rpath='/usr/lib')), GPU),
        (
            'mpi4py asks ld.so',
            'bind',
            combine_changes(
                image(environment={'MPI4PY_LIBMPI': 'libmpi.so.12'}),
                use_python('libmpi.so.12', prefix=VENV),
            ),
            GPU,
        ),
        ('nothing beside its Python', 'bind', use_python(prefix=VENV), GPU),
    ],
    'provider of the image': [
        ('taken back', 'hybrid', add_script('export FI_PROVIDER=tcp\nunset FI_PROVIDER'), GPU),
        ('in a subshell', 'hybrid', add_script('(export FI_PROVIDER=tcp)'), GPU),
    ],
    "image's variables": [
        ('the same', 'hybrid', add_script('export MPIR_CVAR_CH4_OFI_ENABLE_HMEM=1'), GPU),
        ('an older tcp in a file', 'hybrid', add_tcp_provider(1, 18), PLAIN),
        (
            'for tuning',
            'hybrid',
            add_script('export FI_LOG_LEVEL=warn FI_TCP_MAX_CONN_RETRY=3'),
            GPU,
        ),
        ('UCX_TLS over libfabric', 'hybrid', add_script('export UCX_TLS=rc'), PLAIN),
        (
            'of another MPI',
            'hybrid',
            add_script('export OMPI_MCA_pml=ucx I_MPI_FABRICS=shm UCX_TLS=rc'),
            GPU,
        ),
        *(
            (text, 'pure', combine_changes(change, add_script('export ' + text)), PLAIN)
            for text, change in (
                ('UCX_LOG_LEVEL=warn UCX_MEMTYPE_CACHE=n', UCX_ALONE),
                ('MPIR_CVAR_ENABLE_GPU=0 MPIR_CVAR_DEBUG_SUMMARY=1', image()),
                ('I_MPI_ROOT=/opt/intel I_MPI_DEBUG=4 I_MPI_CC=gcc', image_mpi(intel_mpi())),
            )
        ),
    ],
    'parameter files': [
        (
            text,
            'openmpi',
            combine_changes(
                OPEN_MPI_IMAGE,
                write_file('/opt/mpich/etc/openmpi-mca-params.conf', text),
            ),
            PLAIN,
        )
        for text in (
            '#btl = self\n',
            'btl_base_warn_component_unused=0\nmtl = ^ofi\nbtl = ^uct,openib,ofi\n'
            'pml = ^ucx\nosc = ^ucx,pt2pt\n',
        )
    ]
    + [  # that of Debian 12
        (
            'of another MPI',
            'pure',
            write_file('/etc/openmpi-mca-params.conf', 'btl = self\n'),
            PLAIN,
        )
    ],
    'no libfabric': [
        (
            'nobody promised it',
            'pure',
            image_mpi(mpich('3.1.4', 'ch3:nemesis'), needs=None),
            GPU,
        ),
        (
            'bind brings its own',
            'bind',
            image_mpi(mpich('3.1.4', 'ch3:nemesis'), needs=None),
            GPU,
        ),
        (
            "Open MPI's own file",
            'openmpi',
            combine_changes(
                image(mpi=make_plain_open_mpi),
                defer_change(
                    lambda it: it.image.copy(
                        make_mtl_ofi(it.parts), '/opt/mpich/lib/openmpi/lib/openmpi3/mca_mtl_ofi.so'
                    )
                ),
            ),
            PLAIN,
        ),
    ],
    'netmod': [
        ('ofi first', 'hybrid', image_mpi(mpich(device='ch4:ofi ucx')), GPU),
        (
            'the site names it',
            'hybrid',
            image_mpi(mpich(device='ch4:ucx ofi')),
            PLAIN,
        ),
        (
            'ucx first on InfiniBand',
            'hybrid',
            combine_changes(
                INFINIBAND,
                UCX_WHOLE,
                image(mpi=lambda it: make_ucx_mpi(it, mpich(device='ch4:ucx ofi'), needs=7)),
            ),
            PLAIN,
        ),
    ],
    'UCX': [
        ('all is there', 'pure', combine_changes(INFINIBAND, UCX_WHOLE), PLAIN),
        (
            'a site that does not say its driver',
            'pure',
            combine_changes(set_network('InfiniBand'), UCX_ALONE, add_rdma_core('mlx4')),
            PLAIN,
        ),
        ('Ethernet', 'pure', UCX_ALONE, PLAIN),
        (
            'UCX_MODULE_DIR',
            'pure',
            combine_changes(
                INFINIBAND,
                UCX_WHOLE,
                image(environment={'UCX_MODULE_DIR': '/opt/ucx'}),
                defer_change(
                    lambda it: it.image.copy(
                        it.image.resolve_path('/usr/lib/ucx/libuct_ib.so.0'),
                        '/opt/ucx/libuct_ib.so.0',
                    )
                ),
                remove_file('/usr/lib/ucx/libuct_ib.so.0'),
            ),
            PLAIN,
        ),
        ('Open MPI', 'openmpi', combine_changes(INFINIBAND, OPEN_MPI_UCX), PLAIN),
    ],
    'libcxi and driver': [
        ("the host's", 'hybrid', image(shs='13.0.0'), GPU),
        ('over TCP', 'pure', image(shs='13.0.0'), GPU),
    ],
    'no provider': [
        (
            'in a file of its own',
            'opensource',
            combine_changes(
                image_fabric(providers=('tcp',), needed=()),
                defer_change(
                    lambda it: it.image.copy(
                        it.parts.plain('libcxi-fi.so', needed=[it.parts.plain('libcxi.so.1')]),
                        '/usr/lib/libfabric/libcxi-fi.so',
                    )
                ),
            ),
            GPU,
        ),
        ('not asked for', 'pure', image_fabric(providers=('tcp',)), GPU),
    ]
    + [
        (what, 'opensource', add_provider_file(path, **options), GPU)
        for what, path, options in (
            (
                'FI_PROVIDER_PATH',
                '/opt/prov/libcxi-fi.so',
                {'FI_PROVIDER_PATH': '/opt/none:/opt/prov'},
            ),
            (
                'the folder of its build',
                '/opt/build/lib/libcxi-fi.so',
                {'build': '/opt/none:/opt/build/lib'},
            ),
            ('where ld.so finds it', '/usr/lib/libcxi-fi.so', {'build': '/opt/none'}),
        )
    ],
    'card driver': [
        (
            'rdma-core',
            'opensource',
            combine_changes(INFINIBAND, VERBS, add_rdma_core('mlx5')),
            PLAIN,
        ),
        ('over TCP', 'pure', combine_changes(INFINIBAND, VERBS), PLAIN),
        (
            'a provider without libibverbs',
            'opensource',
            combine_changes(
                set_network('Omni-Path', 'hfi1'),
                image_fabric(providers=('opx', 'tcp'), needed=()),
            ),
            PLAIN,
        ),
        ('UCX', 'opensource', combine_changes(INFINIBAND, UCX_ALONE), PLAIN),
    ],
    'libfabric API': [
        ('just as new', 'hybrid', image(mpi=make_asking_mpich()), PLAIN),
        (
            'its set for rxm, which tcp needs there',
            'hybrid',
            combine_changes(
                image(mpi=make_asking_mpich(needs=6, asks=(1, 19)), plugin=None),
                host_fabric('1.17.0', newest=6),
            ),
            PLAIN,
        ),
        (
            'a variable of the image',
            'hybrid',
            combine_changes(
                image(
                    mpi=make_asking_mpich(), environment={'MPIR_CVAR_CH4_OFI_MINOR_VERSION': '21'}
                ),
                OTHER_FABRIC,
            ),
            PLAIN,
        ),
        (
            'no table, and none can be newer',
            'hybrid',
            host_fabric('2.1.0', newest=8),
            PLAIN,
        ),
        (
            'no table, and both are of the image',
            'opensource',
            image_fabric('1.20.1', needed=()),
            PLAIN,
        ),
        (
            'Intel MPI',
            'hybrid',
            combine_changes(
                image_mpi(intel_mpi()),
                OTHER_FABRIC,
            ),
            PLAIN,
        ),
    ],
    'capability set': [
        ('MPICH 4.1.3', 'hybrid', image_mpi(mpich('4.1.3')), GPU),
        ('over TCP', 'pure', image_mpi(mpich('4.0.3')), GPU),
        ("the host's Cray MPICH", 'bind', image_mpi(mpich('4.0.3')), GPU),
    ],
    'not seen over cxi': [
        ('over TCP', 'pure', image_mpi(intel_mpi()), GPU),
        ('MPICH, whose file tells', 'hybrid', image_mpi(mpich('6.0.0')), GPU),
        (
            'a Cray MPICH to come: the vendor\'s own pair',
            'bind',
            host(libmpi=build_mpi(cray_mpich('10.0.1'))),
            GPU,
        ),
    ],
    'TCP only': [
        ('nothing faster is there', 'pure', image(), PLAIN),
        ('UCX', 'pure', combine_changes(INFINIBAND, UCX_WHOLE), PLAIN),
    ],
    'RCCL plugin': [
        (
            "the host's libfabric",
            'hybrid',
            combine_changes(EFA_PLUGIN, image(plugin=lambda it: make_efa_plugin(it, rpath=None))),
            CUDA,
        ),
    ]
    + [
        (
            name,
            approach,
            image(plugin=None, libraries=lambda it: [it.plain('librccl.so.1')]),
            site_name,
        )
        for name, approach, site_name in (('no GPU', 'hybrid', CPU), ('over TCP', 'pure', GPU))
    ],
    'GPU transport layer': [
        ('it is there', 'bind', image(), GPU),
        ('no GPU', 'bind', image(rocm=None), CPU),
        (
            "the image's MPICH",
            'hybrid',
            lambda it: it.site.update(libraries=dict(it.site['libraries'], libmpi_gtl_hsa=None)),
            GPU,
        ),
    ],
    'pointer query': [
        ('an older driver', 'bind', site(gpu_driver='575'), CUDA),
        ("the image's MPICH", 'hybrid', site(gpu_driver='590'), CUDA),
    ],
    'CUDA release': [
        (name, 'hybrid', combine_changes(use_cuda(release), site(gpu_driver=driver)), CUDA)
        for name, release, driver in (
            ('older than the driver', '11.8', '580.65.06'),
            ('the driver of its release', '13.0', '580.65.06'),
        )
    ]
    + [
        (
            'an oldest driver of its major release is enough',
            'hybrid',
            combine_changes(use_cuda('12.0'), site(gpu_driver='525')),
            CUDA,
        ),
        (
            'no driver is known',
            'hybrid',
            combine_changes(use_cuda('14.0'), lambda it: it.site.pop('gpu_driver')),
            CUDA,
        ),
        (
            "its libcuda comes behind the driver's",
            'hybrid',
            combine_changes(
                use_cuda('12.8'),
                defer_change(
                    lambda it: it.image.copy(
                        it.parts.plain('libcuda.so.1'), '/usr/local/cuda/compat/libcuda.so.1'
                    )
                ),
            ),
            CUDA,
        ),
    ],
    'ROCm release': [
        (f'ROCm {rocm}', 'hybrid', image(rocm=rocm), GPU) for rocm in ('6.1.0', '6.4.4')
    ]
    + [('no GPU', 'hybrid', image(rocm='7.1.0'), CPU)],
    'ranks apart': [
        (name, 'bind', combine_changes(change, use_mpich_5), PLAIN)
        for name, change in (
            ('one container for all', runtime('apptainer', '1.3.0', False)),
            ('setuid', runtime('singularity', '4.1.3', True)),
            ('no runtime', combine_changes()),
        )
    ]
    + [
        (
            'MPICH 4.3 does not unless told to',
            'pure',
            combine_changes(APART, image_mpi(mpich('4.3.2'))),
            PLAIN,
        )
    ],
    'PMI': [('Cray MPICH under cray_shasta', 'bind', image(), GPU)],
    'no program': [
        ('mpi4py', 'bind', use_python(), GPU),
        (
            'mpi4py of the launcher osu-port',
            'bind',
            use_python(text="LIBMPI = 'libmpi.so.12'\n", option=' -I', site='/opt/osu/lib/python'),
            GPU,
        ),
        (
            "mpi4py over Debian's MPICH, with the link that people make",
            'pure',
            combine_changes(
                image(mpi=build_mpi(mpich('4.0.2'), 'libmpich.so.12'), mpi_folder='/usr/lib'),
                use_python(own={'MPI.mpich.cpython-311-x86_64-linux-gnu.so': 'libmpi.so.12'}),
                defer_change(lambda it: it.image.link('/usr/lib/libmpi.so.12', 'libmpich.so.12')),
            ),
            GPU,
        ),
        (
            'by a script that is named',
            'hybrid',
            combine_changes(
                defer_change(
                    lambda it: it.image.copy(make_program_without_mpi(it.parts), '/bin/sh').write(
                        '/opt/any', '#!/bin/sh\nexec "$@"\n'
                    )
                ),
                program('/opt/any /opt/osu/bin/osu_latency'),
            ),
            GPU,
        ),
        *(
            (
                text.split('\n')[1],
                'hybrid',
                combine_changes(
                    image(),
                    start_by_script(text),
                    defer_change(
                        lambda it: it.image.write('/opt/set.sh', 'export A=2\n').copy(
                            make_program_without_mpi(it.parts), '/usr/bin/timeout'
                        )
                    ),
                ),
                GPU,
            )
            for text in (
                '#!/bin/sh\n. /opt/set.sh; export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/x\nenv A=1 /opt/real/program\n',
                '#!/usr/bin/env sh\nPATH=/opt/real:$PATH; if [ -d /opt/real ]; then program "$@"; fi\n',
                '#!/bin/sh\nA=1 sh -c "/opt/real/program"\n',
            )
        ),
    ],
}

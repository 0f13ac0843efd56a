"""
Images that nobody here has, described: the twelve published combinations, and those of this project
by their names.

A description has the methods of Image (image/image.py), so the same rules judge it. It is partial:
only what decides is in it, and what is not in it is not held to be missing. Every value has its
source beside it; the words are those of the site data (measured, derived). Hosts: host_facts.py.
"""

import posixpath
import re

from osu_container.base import shell
from osu_container.build.recipes.images import ALPS_SHS, IMAGES, LUMI_SHS, get_libcxi_version
from osu_container.build.recipes.versions import (
    CUDA,
    DEBIAN,
    GPU_OF_DEBIAN,
    MPICH_LIBFABRIC,
    UBUNTU,
)
from osu_container.image.elf import MACHINE_NAMES, ElfFacts
from osu_container.image.environment import SCRIPTS_FOLDER, evaluate_environment
from osu_container.image.system import LoaderConfig
from osu_container.image.traits import find_single_copy_variable
from osu_container.verdict.rules.fabric import FABRIC_VERSIONS, FIRST_CXI_MPICH, LIBCXI_LABEL
from osu_container.verdict.site_choice import parse_release

X86_64 = MACHINE_NAMES['x86_64']


def select_fabric_version(libfabric):
    """Return the newest version name (str) that a libfabric of a release (str) defines."""
    return [name for since, name in FABRIC_VERSIONS if parse_release(libfabric)[:2] >= since][-1]


def list_defined_fabric_versions(libfabric):
    """Return the version names (set of str) that a libfabric of a release (str) defines."""
    newest = int(select_fabric_version(libfabric).rpartition('.')[2])
    return {'FABRIC_1.%d' % number for number in range(newest + 1)}


def list_needed_fabric_versions(libfabric):
    """
    Return the version names (set of str) that a program needs which was linked with a libfabric
    of a release.
    """
    # what every MPI calls carried 1.3 until 1.20 (FABRIC_VERSIONS)
    return {
        'FABRIC_1.0',
        'FABRIC_1.3' if parse_release(libfabric) < (1, 20) else select_fabric_version(libfabric),
    }


def derive_mpich_api_requests(mpich, libfabric):
    """
    Return what an MPICH of a release (str) asks libfabric for that was built with a libfabric of a
    release (str).

    See find_requested_apis() of image/traits.py: a set for cxi came with MPICH 4.1.
    """
    found = {'': parse_release(libfabric)[:2]}
    return dict(found, cxi=(1, 6)) if parse_release(mpich) >= (4, 1) else found


def list_defined_glibc_versions(newest):
    """Return the version names (set of str) that a glibc of a release (str) defines."""
    # those with three numbers are of before 2.4: glibc, Versions.def
    return {'GLIBC_2.%d' % number for number in range(2, int(newest.split('.')[1]) + 1)} | {
        'GLIBC_2.' + name for name in ('2.5', '2.6', '3.2', '3.3', '3.4')
    }


def build_elf_facts(path, needed=(), verneed=None, verdef=(), machine=X86_64):
    """Return the ElfFacts of a library of which only so much is known."""
    return ElfFacts(
        path=path,
        soname=posixpath.basename(path),
        machine=machine,
        needed=list(needed),
        rpath=[],
        runpath=[],
        verneed=verneed or {},
        verdef=set(verdef),
        interpreter=None,
        dynamic=True,
        undefined={},
        defined=set(),
    )


class DescribedImage(object):
    """An image of which some files are described. See Image for the attributes and methods."""

    is_partial = True
    programs = {}
    is_overlaid = False

    def __init__(self, path, files, traits, mpi, plugin, variables, rocm, cuda=None, shs=None):
        """
        path: str, what the image is called; files: {path in it: ElfFacts}; traits: {soname: dict of
        traits}; mpi: (family, soname, path); plugin: path or None; variables: dict of its
        environment; rocm, cuda: release or None; shs: what it says of its libcxi (str), None
        without.
        """
        self.path, self.files, self._traits, self._mpi = path, files, traits, mpi
        self.labels = {LIBCXI_LABEL: shs} if shs else {}
        self._plugin, self._variables, self._rocm, self._cuda = plugin, variables, rocm, cuda
        self.libraries = {facts.soname: name for name, facts in files.items() if name != plugin}
        self._system = LoaderConfig(
            None, [], find_cached=lambda name, machine: self.libraries.get(name)
        )

    def exists(self, path):
        """See Image."""
        return path in self.files

    def read_loader_config(self, interpreter):
        """See Image: what is described is found."""
        return self._system

    def resolve(self, path):
        """See Image: no links are described."""
        return path

    def read_elf_files(self, paths):
        """See Image."""
        return {
            path: self.files[path]._replace(path='image:' + path)
            for path in paths
            if path in self.files
        }

    def read_traits(self, path, read):
        """See Image: what is described, whatever read would find."""
        return self._traits[self.files[path].soname]

    def find_files(self, pattern):
        """See Image."""
        return sorted(path for path in self.files if re.match('(?:%s)$' % pattern, path))

    def find_folder_files(self, folder, pattern):
        """See Image."""
        return self.find_files(re.escape(folder) + '/' + pattern)

    def list_mpi_libraries(self):
        """See Image."""
        return [self._mpi]

    def evaluate_environment(self, bound=()):
        """See Image."""
        return evaluate_environment(self, bound)

    def list_folder(self, folder):
        """See Image: its variables are those of one script."""
        return ['90-environment.sh'] if folder == SCRIPTS_FOLDER else []

    def find_file_type(self, path):
        """See Image."""
        return (
            'd'
            if path == SCRIPTS_FOLDER
            else '-'
            if path.startswith(SCRIPTS_FOLDER) or path in self.files
            else None
        )

    def read_text(self, path):
        """See Image."""
        return ''.join(
            'export %s=%s\n' % (name, shell.quote(value))
            for name, value in sorted(self._variables.items())
        )

    def list_library_folders(self):
        """See Image."""
        return []

    def find_rccl_plugin(self):
        """See Image."""
        return self._plugin

    def has_rccl(self):
        """See Image: it comes with ROCm."""
        return bool(self._rocm)

    def contains_library(self, folder, sonames):
        """See Image."""
        return any(folder + '/' + soname in self.files for soname in sonames)

    def find_rocm_release(self):
        """See Image."""
        return self._rocm

    def find_cuda_release(self):
        """See Image."""
        return self._cuda

    def find_libcuda(self, folders_of_path):
        """See Image: those of this project have none."""
        return None

    def read_entrypoint(self):
        """See Image: none is described."""
        return []


def derive_mpi_traits(family, mpi_release, libfabric=None):
    """
    Return the traits (dict, see read_mpi_traits()) of an MPI of which family and release (str) are
    known: derived.

    :param libfabric: release (str) of the libfabric that an MPICH was built with, None where that
        is not known
    """
    numbers, is_mpich = parse_release(mpi_release), family == 'MPICH'
    return {
        'family': family,
        'release': mpi_release,
        # MPICH's configure: the default device is ch3 up to 3.3 and ch4 from 3.4 on
        'device': None
        if family == 'Open MPI'
        else ['ch3:nemesis']
        if is_mpich and numbers < (3, 4)
        else ['ch4:ofi'],
        # both first seen in the wheel of 4.1.3
        'hmem': numbers >= (4, 1) if is_mpich else None,
        'cxi': numbers >= FIRST_CXI_MPICH if is_mpich else None,
        'pmi': {'Open MPI': ['pmix'], 'Cray MPICH': ['cray_shasta']}.get(family, ['pmi2']),
        'opens': [],
        'asks': derive_mpich_api_requests(mpi_release, libfabric) if libfabric else None,
        'single_copy': find_single_copy_variable(family, mpi_release),
    }


def _build_image_files(mpi, fabric, libc, libcxi, machine, verneed, libfabric, glibc):
    """
    Return {path: ElfFacts} of an image: its MPI, libfabric, C library and libcxi (paths, None
    without it).

    :param verneed: version names (set) that the MPI needs of libfabric, False where it has no use
        for it; libfabric, glibc: releases (str)
    """
    files = {
        mpi: build_elf_facts(
            mpi,
            ['libfabric.so.1', 'libc.so.6'] if verneed is not False else ['libc.so.6'],
            {'libfabric.so.1': verneed} if verneed else {},
            machine=machine,
        ),
        fabric: build_elf_facts(
            fabric,
            ['libcxi.so.1'] if libcxi else [],
            {},
            list_defined_fabric_versions(libfabric),
            machine=machine,
        ),
        libc: build_elf_facts(libc, [], {}, list_defined_glibc_versions(glibc), machine=machine),
    }
    return dict(files, **{libcxi: build_elf_facts(libcxi, machine=machine)}) if libcxi else files


def describe_published_image(libcxi, libfabric, mpich, rocm, plugin_found=True, shs=None):
    """
    Return the DescribedImage of a published combination.

    :param libcxi: bool, the image has libcxi; libfabric, mpich, rocm: releases (str)
    :param plugin_found: bool, the run was started so that RCCL finds the plugin of the image; shs:
        what it says of its libcxi (str), by default as this project builds it today
    Source: DeiC-HPC/BitBulldozersLab, "Docker build pipeline for 4 different container approaches
    on LUMI", 2025-03 (recipes, which start from Ubuntu 22.04, and table); what follows from the
    releases is derived by the rules of this module.
    """
    # the table says of 3.1.4 "not compiled with channel 4"
    ch4 = derive_mpi_traits('MPICH', mpich)['device'] == ['ch4:ofi']
    verneed = list_needed_fabric_versions(libfabric)
    mpi, fabric, libc = (
        '/usr/lib/libmpi.so.12',
        '/usr/lib/libfabric.so.1',
        '/lib/x86_64-linux-gnu/libc.so.6',
    )
    files = _build_image_files(
        mpi,
        fabric,
        libc,
        '/usr/lib/libcxi.so.1' if libcxi else None,
        X86_64,
        ch4 and verneed,
        libfabric,
        UBUNTU['jammy']['glibc'],
    )
    # the plugin is built in every image but those with libfabric 2, for which the table says it is
    # missing
    plugin = (
        '/opt/aws-ofi-rccl/lib/librccl-net.so'
        if parse_release(libfabric) < (2,) and plugin_found
        else None
    )
    if plugin:
        files[plugin] = build_elf_facts(plugin, ['libfabric.so.1'], {'libfabric.so.1': verneed})
    # tcp is in every build that does not leave it out; cxi needs libcxi and a release that has it.
    # Whether a build of 1.21 or newer without libcxi has cxi was not published, and two of its
    # results only fit if it has not.
    with_cxi = libcxi and parse_release(libfabric) >= (1, 21)
    traits = {
        'libmpi.so.12': derive_mpi_traits('MPICH', mpich, libfabric if ch4 else None),
        'libfabric.so.1': {
            'release': libfabric,
            'providers': ['cxi', 'tcp'] if with_cxi else ['tcp'],
            'complete': with_cxi,
        },
    }
    name = '%slibfabric %s, MPICH %s' % ('libcxi, ' if libcxi else '', libfabric, mpich)
    # Dockerfile.install_aws-ofi-rccl of the published images
    variables = {'CXI_FORK_SAFE': '1', 'CXI_FORK_SAFE_HP': '1', 'FI_CXI_DISABLE_CQ_HUGETLB': '1'}
    return DescribedImage(
        name,
        files,
        traits,
        ('MPICH ABI', 'libmpi.so.12', mpi),
        plugin,
        variables,
        rocm,
        shs=(shs or get_libcxi_version(LUMI_SHS)) if libcxi else None,
    )


#: Names of this project's images say what is in them (osu_container/build/recipes/images.py)
_NAME = re.compile(
    r'osu-(lumi|workstation|debian|abi|alps)(?:-rocm-([\d.]+))?(?:-cuda-([\d.]+))?'
    r'-(mpich|openmpi|intel-mpi)-([\d.]+)-libfabric-([\d.]+\d)(-libcxi)?$'
)
#: libfabric in MPICH's own archive, with which that of family debian is linked
#: (osu_container/build/recipes/debian.py)
_FABRIC_OF_MPICH = '1.13.1'
#: How a name calls an MPI -> its family, as traits and as sonames have it, and its soname
_MPIS = {
    'mpich': ('MPICH', 'MPICH ABI', 'libmpi.so.12'),
    'intel-mpi': ('Intel MPI', 'MPICH ABI', 'libmpi.so.12'),
    'openmpi': ('Open MPI', 'Open MPI', 'libmpi.so.40'),
}
#: What an image's recipe starts from, as its entry says it -> glibc
_GLIBC = dict(
    [(release, one['glibc']) for release, one in DEBIAN.items()]
    + [(one['image'], one['glibc']) for one in UBUNTU.values()]
    + [(one['build'], UBUNTU[one['ubuntu']]['glibc']) for one in CUDA.values()]
)


def find_catalogue_name(name):
    """
    Return the name (str) in the catalogue of an image called name (str, with or without osu-,
    .sif), or None.
    """
    name = name[:-4] if name.endswith('.sif') else name
    return next((one for one in (name, 'osu-' + name) if one in IMAGES), None)


def describe_catalogue_image(name, machine='x86_64'):
    """
    Return the DescribedImage of an image of the catalogue, None if its name (str, with or without
    osu-, .sif) is none.

    :param machine: str as uname -m says it: Alps' image is of the machine that built it
    What is not in the name follows from its entry, and from the recipes (container-recipes/): cxi
    is in an image with libcxi and in no other; RCCL's plugin in those with ROCm from AMD.
    """
    title, name = name, find_catalogue_name(name)
    if name is None:
        return None
    while 'image' in IMAGES[name]['base']:  # mpi4py and NumPy on top of another one
        name = IMAGES[name]['base']['image']
    family, rocm, cuda, mpi_name, release_of_mpi, libfabric, libcxi = _NAME.match(name).groups()
    elf = MACHINE_NAMES[machine if family == 'alps' else 'x86_64']
    is_mpich = mpi_name == 'mpich'
    # those of the workstation have MPICH's wheel, built with the libfabric that is in it
    built_with = (
        {
            'lumi': libfabric,
            'debian': _FABRIC_OF_MPICH,
            'workstation': MPICH_LIBFABRIC.get(release_of_mpi),
        }.get(family)
        if is_mpich
        else None
    )
    of_traits, of_soname, soname = _MPIS[mpi_name]
    of_mpi = derive_mpi_traits(of_traits, release_of_mpi, built_with)
    if family == 'workstation' and parse_release(release_of_mpi) >= (
        4,
        3,
    ):  # of the wheels, see the rule "netmod"
        of_mpi['device'] = ['ch4:ucx', 'ch4:ofi']
    if family == 'debian' and rocm:
        rocm = GPU_OF_DEBIAN['rocm']['packages']['libhsa-runtime64-1']  # see Image.rocm()
    ch4 = of_mpi['device'] != ['ch3:nemesis']
    mpi, fabric, libc = (
        '/opt/%s/lib/%s' % (mpi_name, soname),
        '/opt/libfabric/lib/libfabric.so.1',
        '/lib/libc.so.6',
    )
    verneed = list_needed_fabric_versions(built_with or libfabric)
    # Intel MPI opens libfabric by itself
    files = _build_image_files(
        mpi,
        fabric,
        libc,
        '/opt/libcxi/lib/libcxi.so.1' if libcxi else None,
        elf,
        ch4 and (set() if mpi_name == 'intel-mpi' else verneed),
        libfabric,
        _GLIBC[list(IMAGES[name]['base'].values())[0]],
    )
    plugin = (
        '/opt/rccl-plugin/lib/librccl-net.so'
        if rocm and family == 'lumi' and not (rocm == '6.0.3' and libfabric[0] == '2')
        else None
    )
    if plugin:
        files[plugin] = build_elf_facts(plugin, ['libfabric.so.1'], {'libfabric.so.1': verneed})
    traits = {
        soname: of_mpi,
        'libfabric.so.1': {
            'release': libfabric,
            'providers': ['cxi', 'tcp'] if libcxi else ['tcp'],
            'complete': True,
        },
    }
    return DescribedImage(
        title,
        files,
        traits,
        (of_soname, soname, mpi),
        plugin,
        {},
        rocm,
        cuda,
        get_libcxi_version(ALPS_SHS if family == 'alps' else LUMI_SHS) if libcxi else None,
    )

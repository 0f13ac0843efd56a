"""
Describe images that this machine lacks, from published data and catalogue names.

The class DescribedImage is a subclass of Image (image/image.py), so that the same rules judge an
image with files and a described image. A description is partial: the image may have files that the
description lacks. Every value in a description has a source.
"""

import posixpath
import re
from typing import Any, Callable, Dict, Iterable, Optional, Sequence, Set, Tuple

from osu_container.base import shell
from osu_container.build.recipes.images import ALPS_SHS, IMAGES, LUMI_SHS, get_libcxi_version
from osu_container.build.recipes.versions import (
    CUDA,
    DEBIAN,
    GPU_OF_DEBIAN,
    MPICH_LIBFABRIC,
    UBUNTU,
)
from osu_container.data.sites.cray import list_rocm_sonames
from osu_container.image.elf import MACHINE_NAMES, ElfFacts
from osu_container.image.environment import SCRIPTS_FOLDER
from osu_container.image.image import FileTree, Image
from osu_container.image.system import LoaderConfig
from osu_container.image.traits import find_single_copy_variable
from osu_container.verdict.rules.fabric import FABRIC_VERSIONS, FIRST_CXI_MPICH, LIBCXI_LABEL
from osu_container.verdict.site_choice import parse_release

X86_64 = MACHINE_NAMES['x86_64']


def select_fabric_version(libfabric: str) -> str:
    """Return the newest symbol version that a libfabric release defines: 'FABRIC_1.<number>'."""
    return [name for since, name in FABRIC_VERSIONS if parse_release(libfabric)[:2] >= since][-1]


def list_defined_fabric_versions(libfabric: str) -> Set[str]:
    """Return all symbol versions that a libfabric release defines."""
    newest = int(select_fabric_version(libfabric).rpartition('.')[2])
    return {'FABRIC_1.%d' % number for number in range(newest + 1)}


def list_needed_fabric_versions(libfabric: str) -> Set[str]:
    """
    Return the symbol versions of libfabric that a program needs.

    libfabric: release of the libfabric with which the program was linked.
    """
    # The functions that every MPI calls had the version 1.3 until 1.20 (FABRIC_VERSIONS).
    return {
        'FABRIC_1.0',
        'FABRIC_1.3' if parse_release(libfabric) < (1, 20) else select_fabric_version(libfabric),
    }


def derive_mpich_api_requests(mpich: str, libfabric: str) -> Dict[str, Tuple[int, ...]]:
    """
    Return the libfabric API version that an MPICH requests from each provider.

    The result is {provider: (major, minor)}. The key '' stands for any other provider. `mpich` is
    the release of MPICH, and `libfabric` is the release of the libfabric with which this MPICH was
    built. MPICH requests a version for the provider cxi since MPICH 4.1 (find_requested_apis() in
    image/traits.py).
    """
    requests = {'': parse_release(libfabric)[:2]}
    return dict(requests, cxi=(1, 6)) if parse_release(mpich) >= (4, 1) else requests


def list_defined_glibc_versions(newest: str) -> Set[str]:
    """Return all symbol versions that the glibc release `newest` defines."""
    # Names with three numbers come from releases before 2.4 (Versions.def of glibc).
    return {'GLIBC_2.%d' % number for number in range(2, int(newest.split('.')[1]) + 1)} | {
        'GLIBC_2.' + name for name in ('2.5', '2.6', '3.2', '3.3', '3.4')
    }


def build_elf_facts(
    path: str,
    needed: Iterable[str] = (),
    verneed: Optional[Dict[str, Any]] = None,
    verdef: Iterable[str] = (),
    machine: str = X86_64,
) -> ElfFacts:
    """Return the ElfFacts of a library. Facts that the caller does not give stay empty."""
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


class DescribedImage(Image):
    """An image without files on this machine; published descriptions replace the files."""

    is_partial = True

    def __init__(
        self,
        path: str,
        files: Dict[str, ElfFacts],
        traits: Dict[str, Dict[str, Any]],
        plugin: str,
        variables: Dict[str, str],
        gpu: Tuple[Optional[str], Optional[str]],
        shs: Optional[str],
    ) -> None:
        """
        Describe an image called `path` by facts about its files and by traits of its libraries.

        files: {path: facts}.
        traits: {soname: dict with properties of the library, such as the providers of libfabric}.
        plugin: path of the RCCL plugin in the image, or ''.
        variables: environment variables of the image.
        gpu: releases of ROCm and CUDA, or None.
        shs: value of the image's label for libcxi, None for an image without libcxi.
        """
        self.path, self.files, self.traits, self.variables = path, files, traits, variables
        self.labels = {LIBCXI_LABEL: shs} if shs else {}
        self.programs, self.is_overlaid = {}, False
        self._rocm, self._cuda = gpu
        self._environments, self._matches, self._entrypoint = {}, {}, None
        libraries: Any = {facts.soname: name for name, facts in files.items() if name != plugin}
        self.libraries = libraries
        self._system = LoaderConfig(None, [], find_cached=lambda name, machine: libraries.get(name))
        self.tree = FileTree(path)
        for name in [*files, SCRIPTS_FOLDER + '/90-environment.sh']:
            self.tree.entries[name] = '-', 'r--r--r--', '', 0
            while name.rfind('/') > 0:
                name = posixpath.dirname(name)
                self.tree.entries[name] = 'd', 'r-xr-xr-x', '', 0

    def read_loader_config(self, interpreter: Optional[str]) -> LoaderConfig:
        """Return a loader configuration that finds every library of the description."""
        return self._system

    def read_elf_files(self, paths: Iterable[str]) -> Dict[str, ElfFacts]:
        return {
            path: self.files[path]._replace(path='image:' + path)
            for path in paths
            if path in self.files
        }

    def read_traits(self, path: str, read: Callable[..., Any]) -> Dict[str, Any]:
        """
        Return the traits of a library, such as the providers of libfabric.

        The traits come from the description. The function `read` is not called, because `read`
        needs a library file.
        """
        return self.traits[posixpath.basename(path)]

    def read_text(self, path: str) -> str:
        """Return the text of an environment script that sets the variables of the image."""
        return ''.join(
            'export %s=%s\n' % (name, shell.quote(value))
            for name, value in sorted(self.variables.items())
        )

    def has_rccl(self) -> bool:
        """Return whether the image has RCCL: every image with ROCm is assumed to contain RCCL."""
        return bool(self._rocm)

    def find_rocm_release(self) -> Optional[str]:
        return self._rocm

    def find_cuda_release(self) -> Optional[str]:
        return self._cuda


def derive_mpi_traits(
    family: str, mpi_release: str, libfabric: Optional[str] = None
) -> Dict[str, Any]:
    """
    Derive the traits of an MPI, such as its process managers, from its family and release.

    libfabric: the libfabric release with which an MPICH was built, None if this release is unknown.
    """
    numbers, is_mpich = parse_release(mpi_release), family == 'MPICH'
    return {
        'family': family,
        'release': mpi_release,
        # MPICH's configure has the default device ch3 up to 3.3, ch4 from 3.4 on.
        'device': None
        if family == 'Open MPI'
        else ['ch3:nemesis']
        if is_mpich and numbers < (3, 4)
        else ['ch4:ofi'],
        # The wheel of 4.1.3 is the first that has both.
        'hmem': numbers >= (4, 1) if is_mpich else None,
        'cxi': numbers >= FIRST_CXI_MPICH if is_mpich else None,
        'pmi': {'Open MPI': ['pmix'], 'Cray MPICH': ['cray_shasta']}.get(family, ['pmi2']),
        'opens': [],
        'asks': derive_mpich_api_requests(mpi_release, libfabric) if libfabric else None,
        'single_copy': find_single_copy_variable(family, mpi_release),
    }


def _build_image(
    name: str,
    paths: Sequence[str],
    mpi_traits: Dict[str, Any],
    machine: str,
    verneed: Optional[Set[str]],
    fabric_traits: Dict[str, Any],
    glibc: str,
    plugin: Tuple[str, Set[str]],
    rocm: Optional[str],
    libcxi: Optional[str],
    **options: Any,
) -> DescribedImage:
    """
    Return the DescribedImage of an image with an MPI, a libfabric, a C library and maybe libcxi.

    paths: paths of the MPI, libfabric and the C library.
    verneed: the symbol versions of libfabric that the MPI needs, None if the MPI does not use
    libfabric.
    glibc: release of the C library.
    plugin: path of the RCCL plugin ('' for an image without a plugin), and the symbol versions of
    libfabric that the plugin needs.
    rocm: release of the HIP runtime.
    libcxi: path of libcxi.
    options: further parameters of DescribedImage().
    """
    mpi, fabric, libc = paths
    needed = [] if verneed is None else ['libfabric.so.1']
    versions = {'libfabric.so.1': verneed} if verneed else {}
    defined = list_defined_fabric_versions(fabric_traits['release'])
    facts = [
        build_elf_facts(mpi, needed + ['libc.so.6'], versions, machine=machine),
        build_elf_facts(fabric, ['libcxi.so.1'] if libcxi else [], {}, defined, machine),
        build_elf_facts(libc, [], {}, list_defined_glibc_versions(glibc), machine),
    ]
    facts += [build_elf_facts(libcxi, machine=machine)] if libcxi else []
    if rocm:
        facts.append(build_elf_facts('/opt/rocm/lib/' + list_rocm_sonames(rocm)['libamdhip64']))
    if plugin[0]:
        needed_versions = {'libfabric.so.1': plugin[1]}
        facts.append(build_elf_facts(plugin[0], ['libfabric.so.1'], needed_versions))
    return DescribedImage(
        name,
        {each.path: each for each in facts},
        {posixpath.basename(mpi): mpi_traits, 'libfabric.so.1': fabric_traits},
        plugin[0],
        **options,
    )


def describe_published_image(
    libcxi: bool,
    libfabric: str,
    mpich: str,
    rocm: str,
    plugin_found: bool = True,
    shs: Optional[str] = None,
) -> 'DescribedImage':
    """
    Return the DescribedImage of a published combination of libraries.

    plugin_found: whether RCCL found its network plugin in the image during the published run.
    shs: value of the image's label for libcxi. The default is the value in this project's current
    images.

    Source of the facts: the table and the recipes (which start from Ubuntu 22.04) in
    DeiC-HPC/BitBulldozersLab, "Docker build pipeline for 4 different container approaches on LUMI",
    2025-03. The rules of this module derive all other facts from the releases.
    """
    # The table notes "not compiled with channel 4" for 3.1.4.
    ch4 = derive_mpi_traits('MPICH', mpich)['device'] == ['ch4:ofi']
    verneed = list_needed_fabric_versions(libfabric)
    # Every image has the plugin, except images with libfabric 2: the table notes "no plugin".
    plugin = (
        '/opt/aws-ofi-rccl/lib/librccl-net.so'
        if parse_release(libfabric) < (2,) and plugin_found
        else ''
    )
    # libfabric has tcp by default. cxi needs libcxi and a release with this provider. No source
    # states whether 1.21 or newer has cxi if it was built without libcxi, but two published results
    # are possible only without cxi.
    with_cxi = libcxi and parse_release(libfabric) >= (1, 21)
    name = '%slibfabric %s, MPICH %s' % ('libcxi, ' if libcxi else '', libfabric, mpich)
    # Dockerfile.install_aws-ofi-rccl of the published images
    variables = {'CXI_FORK_SAFE': '1', 'CXI_FORK_SAFE_HP': '1', 'FI_CXI_DISABLE_CQ_HUGETLB': '1'}
    return _build_image(
        name,
        ['/usr/lib/libmpi.so.12', '/usr/lib/libfabric.so.1', '/lib/x86_64-linux-gnu/libc.so.6'],
        derive_mpi_traits('MPICH', mpich, libfabric if ch4 else None),
        X86_64,
        verneed if ch4 else None,
        {
            'release': libfabric,
            'providers': ['cxi', 'tcp'] if with_cxi else ['tcp'],
            'complete': with_cxi,
        },
        UBUNTU['jammy']['glibc'],
        (plugin, verneed),
        rocm,
        '/usr/lib/libcxi.so.1' if libcxi else None,
        variables=variables,
        gpu=(rocm, None),
        shs=(shs or get_libcxi_version(LUMI_SHS)) if libcxi else None,
    )


#: Names of this project's images list their contents (osu_container/build/recipes/images.py)
_NAME = re.compile(
    r'osu-(lumi|workstation|debian|abi|alps)(?:-rocm-([\d.]+))?(?:-cuda-([\d.]+))?'
    r'-(mpich|openmpi|intel-mpi)-([\d.]+)-libfabric-([\d.]+\d)(-libcxi)?$'
)
#: libfabric in MPICH's source archive, with which the MPICH of family debian is linked
#: (step "build libfabric of MPICH" in osu_container/build/recipes/steps.txt)
_FABRIC_OF_MPICH = '1.13.1'
#: MPI in an image's name -> family in traits, soname
_MPIS = {
    'mpich': ('MPICH', 'libmpi.so.12'),
    'intel-mpi': ('Intel MPI', 'libmpi.so.12'),
    'openmpi': ('Open MPI', 'libmpi.so.40'),
}
#: Base of an image's recipe, as in its catalogue entry -> release of glibc
_GLIBC = dict(
    [(release, base['glibc']) for release, base in DEBIAN.items()]
    + [(base['image'], base['glibc']) for base in UBUNTU.values()]
    + [(base['build'], UBUNTU[base['ubuntu']]['glibc']) for base in CUDA.values()]
)


def find_catalogue_name(name: str) -> Optional[str]:
    """
    Return the full catalogue name of an image, None if the catalogue lacks the image.

    In `name`, the prefix osu- may be missing, and the file ending .sif is permitted.
    """
    name = name[:-4] if name.endswith('.sif') else name
    return next((candidate for candidate in (name, 'osu-' + name) if candidate in IMAGES), None)


def describe_catalogue_image(name: str, machine: str = 'x86_64') -> Optional['DescribedImage']:
    """
    Return the DescribedImage of a catalogue image, None if the catalogue lacks the name.

    machine: processor architecture as `uname -m` prints it. The image of Alps has the architecture
    of the machine that built the image; all other images are for x86_64.

    An image's name does not show all facts. The other facts follow from the catalogue entry and
    from the recipes (container-recipes/): an image has the provider cxi if and only if the image
    has libcxi, and images based on AMD's ROCm images contain the plugin of RCCL.
    """
    title, catalogue_name = name, find_catalogue_name(name)
    if catalogue_name is None:
        return None
    name = catalogue_name
    while 'image' in IMAGES[name]['base']:  # The image adds mpi4py and NumPy to another image.
        name = IMAGES[name]['base']['image']
    family, rocm, cuda, mpi_name, mpi_release, libfabric, libcxi = _NAME.match(name).groups()  # type: ignore[union-attr]  # every catalogue name matches
    elf = MACHINE_NAMES[machine if family == 'alps' else 'x86_64']
    is_mpich = mpi_name == 'mpich'
    # The workstation's images have MPICH's wheel, built with the libfabric in it.
    built_with = (
        {
            'lumi': libfabric,
            'debian': _FABRIC_OF_MPICH,
            'workstation': MPICH_LIBFABRIC.get(mpi_release),
        }.get(family)
        if is_mpich
        else None
    )
    traits_family, soname = _MPIS[mpi_name]
    mpi_traits = derive_mpi_traits(traits_family, mpi_release, built_with)
    if family == 'workstation' and parse_release(mpi_release) >= (
        4,
        3,
    ):  # the wheels have both: see the rule "netmod"
        mpi_traits['device'] = ['ch4:ucx', 'ch4:ofi']
    seen_rocm = rocm
    if family == 'debian' and rocm:  # as Image.find_rocm_release() reads the release
        seen_rocm = GPU_OF_DEBIAN['rocm']['packages']['libhsa-runtime64-1']
    # Intel MPI opens libfabric at run time, without a link to its versions.
    verneed = list_needed_fabric_versions(built_with or libfabric)
    mpi_verneed = set() if mpi_name == 'intel-mpi' else verneed
    has_plugin = rocm and family == 'lumi' and not (rocm == '6.0.3' and libfabric[0] == '2')
    return _build_image(
        title,
        [
            '/opt/%s/lib/%s' % (mpi_name, soname),
            '/opt/libfabric/lib/libfabric.so.1',
            '/lib/libc.so.6',
        ],
        mpi_traits,
        elf,
        mpi_verneed if mpi_traits['device'] != ['ch3:nemesis'] else None,
        {
            'release': libfabric,
            'providers': ['cxi', 'tcp'] if libcxi else ['tcp'],
            'complete': True,
        },
        _GLIBC[list(IMAGES[name]['base'].values())[0]],
        ('/opt/rccl-plugin/lib/librccl-net.so' if has_plugin else '', verneed),
        rocm,
        '/opt/libcxi/lib/libcxi.so.1' if libcxi else None,
        variables={},
        gpu=(seen_rocm, cuda),
        shs=get_libcxi_version(ALPS_SHS if family == 'alps' else LUMI_SHS) if libcxi else None,
    )

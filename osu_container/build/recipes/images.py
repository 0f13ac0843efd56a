"""Catalogue of the named images, which the recipes in container-recipes/ build.

IMAGES: name of the SIF file without suffix -> dict with the keys
    family        'lumi', 'workstation', 'debian', 'alps', 'abi' or 'mpi4py'
    recipe        name of the recipe file in container-recipes/
    purpose       one line that names the approaches and the host for which the image is made
    published     row of compatibility.csv with the versions of the image, or None. A row is a tuple:
                  'yes' or 'no' for libcxi, version of libfabric, version of MPICH
    fails         reason why the image's MPI does not load with the image's libfabric, '' if MPI loads
                  (derived from versions.py)
    base          base of the build: {'debian': release}, {'image': name of another image} or
                  {'registry': reference}
    unbuilt       reason why the tests do not build the image, '' if the tests build the image
    compiles_mpi  whether the build compiles MPI, which takes from twenty minutes to hours
    variants      benchmark programs -> dict; the benchmark programs are 'c' (the C benchmarks), 'mpi4py'
                  (their mpi4py ports) or 'python' (OSU's Python benchmarks). Keys of the dict:
        arguments     arguments for the recipe
        sources       keys of SOURCES in versions.py
        files         other files of this repository that the build copies into the image
"""

import logging
from typing import Any, Dict, Iterator, List, Optional, Tuple

from osu_container.base.places import find_project_path
from osu_container.build.recipes.versions import (
    CUDA,
    DEBIAN,
    DEFAULT_DEBIAN,
    DEFAULT_MPICH,
    GPU,
    GPU_OF_DEBIAN,
    LIBFABRIC_ABI,
    MPI4PY_VERSION,
    MPICH_LIBFABRIC,
    OPENMPI_LIBFABRIC,
    ROCM,
    SOURCES,
    UBUNTU,
    is_newer,
)

OSU_PORT = 'scripts/osu-port'

#: Name of an image, and its entry in IMAGES
Entry = Tuple[str, Dict[str, Any]]

# ---- LUMI (MPICH, ROCm) and Alps (Open MPI, CUDA): this project has never built these images

#: Folder of the entrypoint in an image. The entrypoint injects the host's libfabric and sets the
#: variables in the file defaults.
ENTRYPOINT_FOLDER = '/opt/entrypoint'
ENTRYPOINT_FILES = [
    'container-recipes/entrypoint/osu-entrypoint',
    'container-recipes/entrypoint/defaults',
]

#: Releases of the Slingshot Host Software (SHS) on LUMI and Alps; libcxi must match the driver
LUMI_SHS, ALPS_SHS = '12.0.2', '13.1.0'
#: Keys of the sources of the network stage, in addition to libfabric and libcxi
NETWORK_SOURCES = ['hwloc', 'xpmem']


def list_libcxi_sources(shs: str) -> List[str]:
    """Return the source keys of a release of the Slingshot Host Software (SHS).

    The keys of the headers of card and driver precede the key of libcxi.
    """
    return [f'{name}-{shs}' for name in ('shs-cassini-headers', 'shs-cxi-driver', 'shs-libcxi')]


def get_libcxi_version(shs: str) -> str:
    """Return the version of libcxi that a release of the Slingshot Host Software contains."""
    return SOURCES[list_libcxi_sources(shs)[-1]]['version']


#: The host's ROCm version of LUMI/24.03, and the rows of compatibility.csv (libcxi, libfabric,
#: MPICH)
PUBLISHED_ROCM = '6.0.3'
PUBLISHED = [
    ('no', '1.15.2', '3.1.4'),
    ('no', '1.15.2', '3.4.3'),
    ('no', '1.21.1', '3.4.3'),
    ('no', '1.22.0', '3.4.3'),
    ('no', '1.15.2', '4.2.3'),
    ('no', '1.21.1', '4.2.3'),
    ('no', '1.22.0', '4.2.3'),
    ('yes', '1.15.2', '3.4.3'),
    ('yes', '1.15.2', '4.2.3'),
    ('yes', '1.21.1', '4.2.3'),
    ('yes', '1.22.0', '4.2.3'),
    ('yes', '2.0.0', '4.2.3'),
]

#: ROCm version -> software stack of LUMI with this version. All stacks have the same host
#: libfabric, and MPICH of an image for approach hybrid must not be built with a newer libfabric.
STACKS = {'6.3.4': 'LUMI/25.03', '6.4.4': 'LUMI/25.09'}
HOST_LIBFABRIC = '1.22.0'
NEWEST_LIBFABRIC = '2.6.0'
CHOSEN_MPICH = '4.2.3'


def name_lumi_image(rocm: str, mpich: str, libfabric: str, libcxi: str) -> str:
    """Return the name of an image for LUMI; the site data of LUMI use the same names."""
    return f"osu-lumi-rocm-{rocm}-mpich-{mpich}-libfabric-{libfabric}{'-libcxi' if libcxi == 'yes' else ''}"


def select_rccl_plugin(rocm: str, libfabric: str) -> Optional[str]:
    """Return the source key of the RCCL plugin for an image, None for an image without plugin.

    Images with the published ROCm version have the published plugin, aws-ofi-rccl 17d41cb. This plugin
    does not compile with libfabric 2, so the published image with libfabric 2 has no plugin.
    """
    if rocm != PUBLISHED_ROCM:
        return 'aws-ofi-nccl'
    return None if libfabric.startswith('2.') else 'aws-ofi-rccl'


def list_lumi_sources(rocm: str, mpich: str, libfabric: str, libcxi: str) -> List[str]:
    """Return the keys of all sources from which an image for LUMI is built."""
    plugin = select_rccl_plugin(rocm, libfabric)
    return [
        *NETWORK_SOURCES,
        *(list_libcxi_sources(LUMI_SHS) if libcxi == 'yes' else []),
        f'libfabric-{libfabric}',
        f'mpich-source-{mpich}',
        *([plugin] if plugin else []),
        'osu',
    ]


def _describe_lumi_image(rocm: str, mpich: str, libfabric: str, libcxi: str, purpose: str) -> Entry:
    row, name = (libcxi, libfabric, mpich), name_lumi_image(rocm, mpich, libfabric, libcxi)
    return name, {
        'family': 'lumi',
        'recipe': 'lumi.py',
        'purpose': purpose,
        'compiles_mpi': True,
        'published': row if rocm == PUBLISHED_ROCM and row in PUBLISHED else None,
        'base': {'registry': UBUNTU[ROCM[rocm]['ubuntu']]['image']},
        'unbuilt': "our tests reach neither a container registry nor AMD's packages",
        'variants': {
            'c': {
                'arguments': {
                    'name': name,
                    'rocm': rocm,
                    'mpich': mpich,
                    'libfabric': libfabric,
                    'libcxi': libcxi,
                },
                'sources': [*list_lumi_sources(rocm, mpich, libfabric, libcxi), 'rocm-key'],
                'files': ENTRYPOINT_FILES,
            }
        },
    }


def _describe_published_images() -> Iterator[Entry]:
    """Yield (name, entry) of the images with the twelve combinations of versions that DeiC measured."""
    for libcxi, libfabric, mpich in PUBLISHED:
        approaches = (
            'opensource'
            if libcxi == 'yes' and libfabric != '1.15.2'
            else 'hybrid'
            if mpich == '4.2.3' and libfabric == '1.15.2'
            else 'pure and bind'
        )
        yield _describe_lumi_image(
            PUBLISHED_ROCM,
            mpich,
            libfabric,
            libcxi,
            f'{approaches} on LUMI/24.03 as it was in March 2025, host libfabric 1.15.2',
        )


def _describe_current_images() -> Iterator[Entry]:
    """Yield (name, entry of IMAGES) of the images for LUMI's current software stacks."""
    for rocm, stack in STACKS.items():
        yield _describe_lumi_image(
            rocm,
            CHOSEN_MPICH,
            HOST_LIBFABRIC,
            'no',
            f'pure, bind and hybrid on {stack}, host libfabric {HOST_LIBFABRIC}',
        )
        yield _describe_lumi_image(
            rocm, CHOSEN_MPICH, HOST_LIBFABRIC, 'yes', f'opensource on {stack}'
        )


def list_part_sources(parts: Dict[str, List[str]]) -> List[str]:
    """Return all source keys in `parts`, which maps paths in the image to source keys."""
    return [key for keys in parts.values() for key in keys]


# --- Alps ---

ALPS_CUDA = '12.8.1'
ALPS_NAME = (
    f"osu-alps-cuda-{ALPS_CUDA}-openmpi-{SOURCES['openmpi-source']['version']}-libfabric-{NEWEST_LIBFABRIC}"
    '-libcxi'
)
ALPS_PARTS = {
    'network': {
        '/opt/hwloc': ['hwloc'],
        '/opt/xpmem': ['xpmem'],
        '/opt/gdrcopy': ['gdrcopy'],
        '/opt/libcxi': list_libcxi_sources(ALPS_SHS),
        '/opt/libfabric': [f'libfabric-{NEWEST_LIBFABRIC}'],
    },
    'mpi': {'/opt/ucx': ['ucx'], '/opt/pmix': ['pmix'], '/opt/openmpi': ['openmpi-source']},
    'benchmarks': {'/opt/osu': ['osu']},
}


ALPS_SOURCES = [key for parts in ALPS_PARTS.values() for key in list_part_sources(parts)]


def _describe_alps_image() -> Entry:
    return ALPS_NAME, {
        'family': 'alps',
        'recipe': 'alps.py',
        'compiles_mpi': True,
        'purpose': "openmpi on Alps (GH200): Open MPI 5 over the image's own libfabric, no hook for Slingshot",
        'base': {'registry': CUDA[ALPS_CUDA]['build']},
        'unbuilt': 'our tests reach no container registry, and have neither CUDA nor an aarch64 processor',
        'variants': {'c': {'arguments': {'name': ALPS_NAME}, 'files': [], 'sources': ALPS_SOURCES}},
    }


# ---- any Linux machine


def _describe_variants(
    name: str, arguments: Dict[str, str], sources: List[str], python: str
) -> Dict[str, Dict[str, Any]]:
    """Return the variants 'c' and 'mpi4py' of an image, as a dict.

    The variant 'c' has the C benchmarks, the variant 'mpi4py' has mpi4py ports of these benchmarks.

    python: version of Python for the ports.
    """
    return {
        'c': {
            'arguments': {'name': name, **arguments, 'osu': 'c'},
            'sources': [*sources, 'osu'],
            'files': ENTRYPOINT_FILES,
        },
        'mpi4py': {
            'arguments': {'name': name, **arguments, 'osu': 'mpi4py'},
            'sources': [*sources, f'mpi4py-{python}'],
            'files': [OSU_PORT, *ENTRYPOINT_FILES],
        },
    }


def explain_missing_symbols(mpich: str, libfabric: str) -> str:
    """Return why MPICH from a wheel does not load with a libfabric, '' if MPICH loads."""
    needed, provided = (LIBFABRIC_ABI[name] for name in (MPICH_LIBFABRIC[mpich], libfabric))
    if not is_newer(needed, provided):
        return ''
    return f"libmpi.so.12 asks for FABRIC_{needed}, libfabric {libfabric} ends at FABRIC_{provided}"


def _describe_workstation_image(mpich: str, libfabric: str, release: str, origin: str) -> Entry:
    name, fails = (
        f'osu-workstation-mpich-{mpich}-libfabric-{libfabric}',
        explain_missing_symbols(mpich, libfabric),
    )
    return name, {
        'family': 'workstation',
        'recipe': 'workstation.py',
        'fails': fails,
        'base': {'debian': release},
        'purpose': f"libfabric {origin}; {'bind and hybrid' if fails else 'all approaches'} on any Linux machine",
        'variants': _describe_variants(
            name,
            {'mpi': 'mpich', 'release': release, 'mpich': mpich, 'libfabric': libfabric},
            [f'mpich-{mpich}'],
            DEBIAN[release]['python'],
        ),
    }


def _describe_workstation_images() -> Iterator[Entry]:
    """Yield (name, entry of IMAGES) of the images with MPICH from a PyPI wheel.

    The libfabric of such an image comes from the wheel or from Debian.
    """
    for mpich in ('3.4.3', DEFAULT_MPICH, '4.3.2', '5.0.2'):
        yield _describe_workstation_image(
            mpich, MPICH_LIBFABRIC[mpich], DEFAULT_DEBIAN, 'of the wheel'
        )
    for release, facts in DEBIAN.items():
        yield _describe_workstation_image(
            DEFAULT_MPICH,
            facts['libfabric'],
            release,
            f"and glibc {facts['glibc']} of Debian {facts['number']}",
        )


# ---- images with ROCm or CUDA whose parts all come from Debian and PyPI. The tests can build these
# images, because the builds need no server of AMD or NVIDIA, no GitHub and no registry. Their
# builds also test the compile steps that the images for LUMI and Alps use (slingshot.py).

DEBIAN_LIBFABRIC = '2.1.0'

#: (MPI, release) -> {path in the image: keys of SOURCES}
MPI_PARTS = {
    ('mpich', '4.0.2'): {'/opt/mpich': ['mpich-source-4.0.2']},
    ('openmpi', '5.0.7'): {'/opt/openmpi': ['openmpi-source-5.0.7']},
}
NETWORK_PARTS = {'/opt/hwloc': ['hwloc-2.9.0'], '/opt/libfabric': [f'libfabric-{DEBIAN_LIBFABRIC}']}
TITLES = {'mpich': 'MPICH', 'openmpi': 'Open MPI'}
VENDORS = {'rocm': 'ROCm', 'cuda': 'CUDA'}


def name_debian_image(gpu: str, mpi: str, version: str) -> str:
    """Return the name of an image of the family debian.

    gpu: key of GPU_OF_DEBIAN.
    mpi, version: the pair (mpi, version) is a key of MPI_PARTS.
    """
    return f"osu-debian-{gpu}-{GPU_OF_DEBIAN[gpu]['release']}-{mpi}-{version}-libfabric-{DEBIAN_LIBFABRIC}"


def _describe_debian_image(gpu: str, mpi: str, version: str, purpose: str) -> Entry:
    name, release = name_debian_image(gpu, mpi, version), GPU_OF_DEBIAN[gpu]['debian']
    return name, {
        'family': 'debian',
        'recipe': 'debian.py',
        'purpose': purpose,
        'base': {'debian': release},
        'compiles_mpi': True,
        'variants': _describe_variants(
            name,
            {'gpu': gpu, 'mpi': mpi, 'version': version},
            [*list_part_sources(NETWORK_PARTS), *list_part_sources(MPI_PARTS[mpi, version])],
            DEBIAN[release]['python'],
        ),
    }


# ---- MPI libraries other than MPICH, and mpi4py on top of other images

PYTHON = DEBIAN[DEFAULT_DEBIAN]['python']


def _describe_abi_image(mpi: str, sources: List[str], libfabric: str, purpose: str) -> Entry:
    """Return (name, entry of IMAGES) of an image whose MPI is not MPICH.

    The version of the MPI is the version of the first source.
    """
    version = SOURCES[sources[0]]['version']
    name = f"osu-abi-{mpi}-{version}-libfabric-{libfabric}"
    return name, {
        'family': 'abi',
        'recipe': 'workstation.py',
        'base': {'debian': DEFAULT_DEBIAN},
        'purpose': purpose,
        'variants': _describe_variants(
            name, {'mpi': mpi, 'release': DEFAULT_DEBIAN, 'libfabric': libfabric}, sources, PYTHON
        ),
    }


#: Files of this repository in images with mpi4py: the launcher of the benchmarks, the commands
#: python and pip, and the .pth file through which Python finds mpi4py
MPI4PY_FILES = [
    OSU_PORT,
    *(f'container-recipes/mpi4py/{name}' for name in ('osu-python', 'python', 'osu-mpi4py.pth')),
]
UBUNTU_PYTHON = {'noble': '3.12'}

#: AMD's packages with the libraries that CuPy is linked with
_LINKED = [
    'hipblas',
    'hipfft',
    'hiprand',
    'hipsparse',
    'rocblas',
    'rocfft',
    'rocrand',
    'rocsolver',
    'rocsparse',
]


def list_cupy_sources(python: str) -> List[str]:
    """Return the keys of the sources that a build of CuPy for HIP needs.

    python: version of Python, such as '3.12'
    """
    return ['cupy', f'cython-{python}', f'fastrlock-{python}', 'setuptools', 'wheel']


#: AMD's packages that are needed to build and link CuPy
CUPY_PACKAGES = [
    *_LINKED,
    *(f'{name}-dev' for name in _LINKED),
    'hipcub-dev',
    'rocprim-dev',
    'rocthrust-dev',
    'roctracer',
    'roctracer-dev',
    'rocm-llvm',
    'hipcc',
    'hipblaslt',
    'hipblas-common-dev',
]


#: Name of the MPI's prefix -> command that starts two ranks. By default Open MPI refuses to run as
#: root and starts at most one rank per core, so its command has options for both.
LAUNCH_COMMANDS = {
    'mpich': '/opt/mpich/bin/mpiexec -n 2',
    'intel-mpi': 'I_MPI_ROOT=/opt/intel-mpi I_MPI_HYDRA_BOOTSTRAP=fork /opt/intel-mpi/bin/mpiexec.hydra -n 2',
    'openmpi': 'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /opt/openmpi/bin/mpiexec '
    '--map-by :oversubscribe -n 2',
}


def _describe_lumi_base(rocm: str, libcxi: str) -> Entry:
    """Return the name of an image for LUMI, and the entry of this image in MPI4PY_BASES."""
    ubuntu, parts = ROCM[rocm]['ubuntu'], (rocm, CHOSEN_MPICH, HOST_LIBFABRIC, libcxi)
    return name_lumi_image(*parts), {
        'mpi': f'MPICH {CHOSEN_MPICH}',
        'libfabric': HOST_LIBFABRIC,
        'rocm': rocm,
        'libcxi': get_libcxi_version(LUMI_SHS) if libcxi == 'yes' else 'none',
        'gpu': f'ROCm {rocm} {GPU}',
        'python': UBUNTU_PYTHON[ubuntu],
        'distro': UBUNTU[ubuntu]['distro'],
        'built': False,
        'sources': list_lumi_sources(*parts),
        'mpiexec': f'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 {LAUNCH_COMMANDS["mpich"]}',
    }


#: Name of a base image -> its contents; python: Python version of its Debian or Ubuntu; built:
#: whether the tests build the image
MPI4PY_BASES: Dict[str, Dict[str, Any]] = {
    **{
        f'osu-workstation-mpich-{DEFAULT_MPICH}-libfabric-{libfabric}': {
            'mpi': f'MPICH {DEFAULT_MPICH}',
            'libfabric': libfabric,
            'python': DEBIAN[release]['python'],
            'distro': 'ubuntu22',
            'built': True,
            'sources': [f'mpich-{DEFAULT_MPICH}'],
            'mpiexec': LAUNCH_COMMANDS['mpich'],
        }
        for libfabric, release in (
            (MPICH_LIBFABRIC[DEFAULT_MPICH], DEFAULT_DEBIAN),
            (DEBIAN['trixie']['libfabric'], 'trixie'),
        )
    },
    'osu-abi-openmpi-5.0.11-libfabric-2.5.1': {
        'mpi': 'Open MPI 5.0.11',
        'libfabric': '2.5.1',
        'python': PYTHON,
        'distro': 'ubuntu22',
        'built': True,
        'sources': ['openmpi-5.0.11'],
        'mpiexec': LAUNCH_COMMANDS['openmpi'],
    },
    **dict(_describe_lumi_base(rocm, libcxi) for rocm in STACKS for libcxi in ('no', 'yes')),
}


def name_mpi4py_image(base: str, cupy: str = 'none') -> str:
    """Return the name of the image that adds mpi4py, and possibly CuPy, to a base image."""
    return f"{base.replace('osu-', f'osu-mpi4py-{MPI4PY_VERSION}-', 1)}{'-cupy' if cupy == 'rocm' else ''}"


def _describe_mpi4py_image(base: str, cupy: str = 'none') -> Entry:
    base_facts, name = MPI4PY_BASES[base], name_mpi4py_image(base, cupy)
    with_cupy = cupy == 'rocm'
    sources = [
        f"mpi4py-{base_facts['python']}",
        f"numpy-{base_facts['python']}",
        'pip',
        *([*list_cupy_sources(base_facts['python']), 'rocm-key'] if with_cupy else []),
    ]
    arguments = {'name': name, 'base': base, 'cupy': cupy}
    return name, {
        'family': 'mpi4py',
        'recipe': 'mpi4py_image.py',
        'base': {'image': base},
        'purpose': f"{base_facts['mpi']} from Python: mpi4py, NumPy{', CuPy' if with_cupy else ''}, "
        "benchmarks with their arrays",
        'unbuilt': '' if base_facts['built'] else 'the image below is not built here',
        'compiles_mpi': not base_facts['built'],
        'variants': {
            'mpi4py': {
                'arguments': {**arguments, 'osu': 'mpi4py'},
                'sources': sources,
                'files': MPI4PY_FILES,
            },
            'python': {
                'arguments': {**arguments, 'osu': 'python'},
                'sources': [*sources, 'osu'],
                'files': MPI4PY_FILES,
            },
        },
    }


IMAGES: Dict[str, Dict[str, Any]] = {
    name: {'published': None, 'fails': '', 'unbuilt': '', 'compiles_mpi': False, **entry}
    for name, entry in [
        *_describe_published_images(),
        *_describe_current_images(),
        _describe_alps_image(),
        *_describe_workstation_images(),
        _describe_debian_image(
            'rocm', 'mpich', '4.0.2', "bind with GPUs of AMD, nothing of it from AMD's server"
        ),
        _describe_debian_image(
            'cuda',
            'mpich',
            '4.0.2',
            "bind with GPUs of NVIDIA, nothing of it from NVIDIA's registry",
        ),
        _describe_debian_image('cuda', 'openmpi', '5.0.7', "openmpi with GPUs of NVIDIA"),
        # MPICH itself is in the family workstation; the newest MPICH 4 is in the image
        # osu-workstation-mpich-4.3.2-libfabric-1.22.0.
        _describe_abi_image(
            'intel-mpi',
            ['impi-rt', 'impi-devel'],
            DEBIAN[DEFAULT_DEBIAN]['libfabric'],
            "Intel MPI, which bind replaces by the host's MPI; Intel Simplified Software License, see workstation.py",
        ),
        _describe_abi_image(
            'openmpi',
            ['openmpi-5.0.11'],
            OPENMPI_LIBFABRIC['5.0.11'],
            "Open MPI for approach openmpi on hosts whose Slurm has PMIx; no host MPI can replace it",
        ),
        *(_describe_mpi4py_image(base) for base in MPI4PY_BASES),
        *(
            _describe_mpi4py_image(base, 'rocm')
            for base, facts in MPI4PY_BASES.items()
            if facts.get('rocm')
        ),
    ]
}

FAMILIES = {
    'lumi': "images for LUMI (MI250X, Slingshot 11), with MPICH compiled from source",
    'workstation': "images for any Linux machine, with MPICH from PyPI, and libfabric from PyPI or Debian",
    'debian': "images for AMD and NVIDIA GPUs, with all parts from Debian and PyPI, MPI compiled from source",
    'alps': "images for Alps (GH200, Slingshot 11), with Open MPI 5 compiled from source",
    'abi': "images with Intel MPI, which a host's libmpi.so.12 can replace, and with Open MPI, which it cannot replace",
    'mpi4py': "images that add mpi4py and NumPy to another image",
}

RECIPES = find_project_path('container-recipes')
#: Folder of the rendered recipes that are checked in
RENDERED = RECIPES / 'rendered'
#: File names in RENDERED: two definition files for review, and the Dockerfile that
#: docs/other-systems.md builds. `osu-container image recipe NAME` prints any other recipe.
CHECKED_IN_RECIPES = (
    'osu-workstation-mpich-4.2.3-libfabric-1.22.0-ports.def',
    'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.def',
    'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.Dockerfile',
)


def name_rendered_recipe(name: str, kind: str) -> str:
    """Return the file name of an image's definition file and Dockerfile, without suffix."""
    return f'{name}-ports' if kind == 'mpi4py' else name


def list_recipe_files() -> Dict[str, Tuple[str, str]]:
    """Return {file name: (name of the image, variant)} for all recipes of the catalogue."""
    return {
        name_rendered_recipe(name, kind) + suffix: (name, kind)
        for name, entry in IMAGES.items()
        for kind in entry['variants']
        for suffix in ('.def', '.Dockerfile')
    }


def render_recipe(name: str, kind: str, suffix: str) -> str:
    """Return the text of an image's definition file ('.def') or Dockerfile ('.Dockerfile').

    kind: key of the image's variants.

    Raises ImportError if HPCCM is not installed. Exceptions that the recipe raises are not caught.
    """
    import hpccm

    # Suppress HPCCM's warning that the distribution of a base folder is unknown.
    logging.getLogger().setLevel(logging.ERROR)
    entry = IMAGES[name]
    ctype = (
        hpccm.container_type.DOCKER if suffix == '.Dockerfile' else hpccm.container_type.SINGULARITY
    )
    text = hpccm.recipe(
        str(RECIPES / entry['recipe']),
        ctype=ctype,
        singularity_version='3.8',
        userarg=entry['variants'][kind]['arguments'],
        raise_exceptions=True,
    )
    return '\n'.join(line.rstrip() for line in text.splitlines()).strip() + '\n'

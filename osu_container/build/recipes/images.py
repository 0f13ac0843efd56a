"""Catalogue of the named images. Plain data; the recipes build the images.

IMAGES: name of the SIF without suffix -> dict with
    family        'lumi', 'workstation', 'debian', 'alps', 'abi' or 'mpi4py'
    recipe        file of container-recipes/
    purpose       one line: approach and host that the image is for
    published     (libcxi 'yes' or 'no', libfabric, MPICH) of its row in compatibility.csv, or None
    fails         why its MPI does not load with its libfabric, '' if it loads (derived from versions.py)
    base          base of the build: {'debian': release}, {'image': name of another image} or
                  {'registry': reference}
    unbuilt       why the tests do not build it, '' if they do
    compiles_mpi  whether the build compiles MPI, which takes from twenty minutes to hours
    variants      by benchmark programs, 'c' (C programs), 'mpi4py' (mpi4py's ports) or 'python': dict with
        arguments     of the recipe
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
    MPICH_FABRIC_ABI,
    MPICH_LIBFABRIC,
    OPENMPI_LIBFABRIC,
    ROCM,
    SOURCES,
    UBUNTU,
    is_newer,
)

OSU_PORT = 'scripts/osu-port'

#: Name and entry of an image
Entry = Tuple[str, Dict[str, Any]]

# ---- LUMI (MPICH, ROCm) and Alps (Open MPI, CUDA): this project has never built these images

#: The entrypoint, which injects the host's libfabric, and the variables that it sets
ENTRYPOINT_FOLDER = '/opt/entrypoint'
ENTRYPOINT_FILES = [
    'container-recipes/entrypoint/osu-entrypoint',
    'container-recipes/entrypoint/defaults',
]

#: Release of the Slingshot Host Software (SHS) of LUMI and Alps: libcxi must match the driver
LUMI_SHS, ALPS_SHS = '12.0.2', '13.1.0'
#: Sources of the network stage besides libfabric and libcxi
NETWORK_SOURCES = ['hwloc', 'xpmem']


def list_libcxi_sources(shs: str) -> List[str]:
    """Return the source keys of a release of SHS: headers of card and driver, then libcxi."""
    return [f'{name}-{shs}' for name in ('shs-cassini-headers', 'shs-cxi-driver', 'shs-libcxi')]


def get_libcxi_version(shs: str) -> str:
    """Return the version of libcxi in a release of SHS, as image labels name it."""
    return SOURCES[list_libcxi_sources(shs)[-1]]['version']


#: Rows of compatibility.csv (libcxi, libfabric, MPICH), and the host's ROCm of LUMI/24.03
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

#: ROCm -> current software stack of LUMI. The host's libfabric of all stacks is the newest that MPICH
#: of a hybrid image may be built against.
STACKS = {'6.3.4': 'LUMI/25.03', '6.4.4': 'LUMI/25.09'}
HOST_LIBFABRIC = '1.22.0'
NEWEST_LIBFABRIC = '2.6.0'
CHOSEN_MPICH = '4.2.3'


def name_lumi_image(rocm: str, mpich: str, libfabric: str, libcxi: str) -> str:
    """Return the name of an image, as the site data of LUMI list it."""
    return f"osu-lumi-rocm-{rocm}-mpich-{mpich}-libfabric-{libfabric}{'-libcxi' if libcxi == 'yes' else ''}"


def select_rccl_plugin(rocm: str, libfabric: str) -> Optional[str]:
    """Return the source key of RCCL's plugin: the published release for the published ROCm.

    None if the published image had no plugin: aws-ofi-rccl 17d41cb does not compile with libfabric
    2.
    """
    if rocm != PUBLISHED_ROCM:
        return 'aws-ofi-nccl'
    return None if libfabric.startswith('2.') else 'aws-ofi-rccl'


def list_lumi_sources(rocm: str, mpich: str, libfabric: str, libcxi: str) -> List[str]:
    """Return the keys of the sources whose content is in an image."""
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
    """Yield the images of the twelve published combinations."""
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
    """Yield the images for LUMI's current software stacks."""
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
    """Return the source keys of parts ({path in the image: source keys})."""
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
    """Return the variants with the C programs and with mpi4py's ports for a Python version."""
    return {
        'c': {
            'arguments': {'name': name, **arguments, 'osu': 'c'},
            'sources': [*sources, 'osu'],
            'files': ENTRYPOINT_FILES,
        },
        'mpi4py': {
            'arguments': {'name': name, **arguments, 'osu': 'mpi4py'},
            'sources': [*sources, 'mpi4py-source', f'mpi4py-{python}'],
            'files': [OSU_PORT, *ENTRYPOINT_FILES],
        },
    }


def explain_missing_symbols(mpich: str, libfabric: str) -> str:
    """Return why the MPICH of a wheel does not load with a libfabric, '' if it loads."""
    if not is_newer(MPICH_FABRIC_ABI[mpich], LIBFABRIC_ABI[libfabric]):
        return ''
    return (
        f"libmpi.so.12 asks for FABRIC_{MPICH_FABRIC_ABI[mpich]}, libfabric {libfabric} ends at "
        f"FABRIC_{LIBFABRIC_ABI[libfabric]}"
    )


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
    """Yield MPICH wheels with their libfabric, and the default wheel with Debian's."""
    for mpich in ('3.4.3', DEFAULT_MPICH, '4.3.2', '5.0.2'):
        yield _describe_workstation_image(
            mpich, MPICH_LIBFABRIC[mpich], DEFAULT_DEBIAN, 'of the wheel'
        )
    for release, facts in DEBIAN.items():
        yield _describe_workstation_image(
            DEFAULT_MPICH, facts['libfabric'], release, f"of Debian {facts['number']}"
        )


# ---- images with ROCm or CUDA whose parts are all from Debian and PyPI. The tests can build them, because
# the build needs no server of AMD or NVIDIA, no GitHub and no registry. It tests the compile steps of
# the images for LUMI and Alps (slingshot.py).

DEBIAN_LIBFABRIC = '2.1.0'

#: By MPI and release: path in the image -> keys of SOURCES
MPI_PARTS = {
    ('mpich', '4.0.2'): {'/opt/mpich': ['mpich-source-4.0.2']},
    ('openmpi', '5.0.7'): {'/opt/openmpi': ['openmpi-source-5.0.7']},
}
NETWORK_PARTS = {'/opt/hwloc': ['hwloc-2.9.0'], '/opt/libfabric': [f'libfabric-{DEBIAN_LIBFABRIC}']}
TITLES = {'mpich': 'MPICH', 'openmpi': 'Open MPI'}
VENDORS = {'rocm': 'ROCm', 'cuda': 'CUDA'}


def name_debian_image(gpu: str, mpi: str, version: str) -> str:
    """Return the name of an image for a key of GPU_OF_DEBIAN and a key of MPI_PARTS."""
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
    """Return an image with another MPI, whose version is that of the first source."""
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


#: Files of this repository in the images: the launcher of the benchmarks, the commands python and
#: pip, and the file by which Python finds mpi4py
MPI4PY_FILES = [
    OSU_PORT,
    *(f'container-recipes/mpi4py/{name}' for name in ('osu-python', 'python', 'osu-mpi4py.pth')),
]
UBUNTU_PYTHON = {'noble': '3.12'}

#: AMD's packages of the libraries that CuPy is linked with
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
    """Return the keys of the sources that build CuPy for HIP, for a Python version."""
    return ['cupy', f'cython-{python}', f'fastrlock-{python}', 'setuptools', 'wheel']


#: AMD's packages that CuPy is built and linked with
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


#: Command that starts two ranks, by prefix of MPI. By default Open MPI refuses to run as root, and
#: starts at most one rank per core.
LAUNCH_COMMANDS = {
    'mpich': '/opt/mpich/bin/mpiexec -n 2',
    'intel-mpi': 'I_MPI_ROOT=/opt/intel-mpi I_MPI_HYDRA_BOOTSTRAP=fork /opt/intel-mpi/bin/mpiexec.hydra -n 2',
    'openmpi': 'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /opt/openmpi/bin/mpiexec '
    '--map-by :oversubscribe -n 2',
}


def _describe_lumi_base(rocm: str, libcxi: str) -> Entry:
    """Return (name, facts) of an image for LUMI as a base of mpi4py."""
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


#: Base image -> its contents; python: of its Debian or Ubuntu; built: whether the tests build it
MPI4PY_BASES: Dict[str, Dict[str, Any]] = {
    'osu-workstation-mpich-4.2.3-libfabric-1.22.0': {
        'mpi': 'MPICH 4.2.3',
        'libfabric': '1.22.0',
        'python': PYTHON,
        'distro': 'ubuntu22',
        'built': True,
        'sources': ['mpich-4.2.3'],
        'mpiexec': LAUNCH_COMMANDS['mpich'],
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
    """Return the name of the image with mpi4py on top of another image."""
    version = SOURCES['mpi4py-source']['version']
    return f"{base.replace('osu-', 'osu-mpi4py-' + version + '-', 1)}{'-cupy' if cupy == 'rocm' else ''}"


def _describe_mpi4py_image(base: str, cupy: str = 'none') -> Entry:
    base_facts, name = MPI4PY_BASES[base], name_mpi4py_image(base, cupy)
    with_cupy = cupy == 'rocm'
    sources = [
        'mpi4py-source',
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
        # MPICH itself is in the family workstation: osu-workstation-mpich-4.3.2-libfabric-1.22.0 is
        # the newest 4.
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
    'lumi': "LUMI: MI250X and Slingshot 11, MPICH from source",
    'workstation': "any Linux machine: MPICH from its PyPI wheel, libfabric of the wheel or of Debian",
    'debian': "GPUs of AMD and NVIDIA: every part from Debian and PyPI, MPI from Debian's source",
    'alps': "Alps: GH200 and Slingshot 11, Open MPI 5 from source",
    'abi': "MPI libraries that a host's libmpi.so.12 can replace, and Open MPI, which it cannot",
    'mpi4py': "mpi4py and NumPy on top of another image",
}

RECIPES = find_project_path('container-recipes')
#: Folder of the checked-in rendered recipes
RENDERED = RECIPES / 'rendered'
#: Names in RENDERED: one recipe per network and GPU, for review, and the Dockerfile that
#: docs/other-systems.md builds. `osu-container image recipe NAME` prints any other recipe.
CHECKED_IN_RECIPES = (
    'osu-workstation-mpich-4.2.3-libfabric-1.22.0-ports.def',
    'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.def',
    'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.Dockerfile',
)


def name_rendered_recipe(name: str, kind: str) -> str:
    """Return the name of an image's definition file and Dockerfile, without suffix."""
    return f'{name}-ports' if kind == 'mpi4py' else name


def list_recipe_files() -> Dict[str, Tuple[str, str]]:
    """Return {file name: (image, variant)} of all recipes that can be rendered."""
    return {
        name_rendered_recipe(name, kind) + suffix: (name, kind)
        for name, entry in IMAGES.items()
        for kind in entry['variants']
        for suffix in ('.def', '.Dockerfile')
    }


def render_recipe(name: str, kind: str, suffix: str) -> str:
    """Return the text of an image's definition file ('.def') or Dockerfile ('.Dockerfile').

    kind: key of the image's variants. Raises ImportError if HPCCM is not installed, and exceptions
    of the recipe.
    """
    import hpccm

    # HPCCM warns that it does not know the distribution of a folder.
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

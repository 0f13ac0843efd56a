"""Catalogue of the named images, which the recipes in container-recipes/ build.

IMAGES: name of the SIF file without suffix -> dict with the keys
    family        'lumi', 'workstation', 'debian', 'alps', 'abi' or 'mpi4py'
    recipe        name of the recipe file in container-recipes/
    purpose       one line that names the approaches and the host for which the image is made
    published     row of compatibility.csv with the versions of the image, or None. A row is a tuple:
                  'yes' or 'no' for libcxi, version of libfabric, version of MPICH
    fails         reason why the image's MPI does not load with the image's libfabric, '' if MPI loads
    base          base of the build: {'debian': release}, {'image': name of another image} or
                  {'registry': reference}
    unbuilt       reason why the tests do not build the image, '' if the tests build the image
    compiles_mpi  whether the build compiles MPI, which takes from twenty minutes to hours
    variants      benchmark programs -> dict; the benchmark programs are 'c' (the C benchmarks), 'mpi4py'
                  (their mpi4py ports) or 'python' (OSU's Python benchmarks). Keys of the dict:
        arguments     arguments for the recipe
        sources       keys of SOURCES in versions.py
        files         other files of this repository that the build copies into the image

The file images.csv has a row for each image, except images with mpi4py. The columns:
    name, family, purpose, fails   as above; fails follows from readelf -V of libmpi and libfabric
    base         release of Debian, Ubuntu or CUDA: a key of DEBIAN, UBUNTU or CUDA in versions.py
    arguments    arguments for the recipe; the name of the image contains their values
    sources      sources of all variants. Images for LUMI with ROCm 6.0.3 contain the RCCL plugin of the
                 published runs, aws-ofi-rccl, which does not compile with libfabric 2. MPICH of an image
                 for approach hybrid must not be built with a newer libfabric than the host's libfabric,
                 1.22.0 in all current stacks of LUMI
    extended_by  'mpi4py' if another image adds mpi4py to this image, 'mpi4py cupy' if a third image
                 also adds CuPy
"""

import logging
from typing import Any, Dict, List, Tuple

from osu_container.base.files import read_table
from osu_container.base.places import find_project_path
from osu_container.build.recipes.versions import (
    CUDA,
    DEBIAN,
    GPU,
    MPI4PY_VERSION,
    SOURCES,
    UBUNTU,
)

OSU_PORT = 'scripts/osu-port'
#: ROCm of the images with the versions of the published table (compatibility.csv)
PUBLISHED_ROCM = '6.0.3'
#: Family -> reason why the tests do not build its images
UNBUILT = {
    'lumi': "our tests reach neither a container registry nor AMD's packages",
    'alps': 'our tests reach no container registry, and have neither CUDA nor an aarch64 processor',
}

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

    The keys of the header files of the network card and its driver precede the key of libcxi.
    """
    return [f'{name}-{shs}' for name in ('shs-cassini-headers', 'shs-cxi-driver', 'shs-libcxi')]


def get_libcxi_version(shs: str) -> str:
    """Return the version of libcxi that a release of the Slingshot Host Software contains."""
    return SOURCES[list_libcxi_sources(shs)[-1]]['version']


#: Files of this repository in images with mpi4py: the launcher of the benchmarks, the commands
#: python and pip, and the .pth file through which Python finds mpi4py
MPI4PY_FILES = [
    OSU_PORT,
    *(f'container-recipes/mpi4py/{name}' for name in ('osu-python', 'python', 'osu-mpi4py.pth')),
]
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


def _describe_image(row: Dict[str, str]) -> Dict[str, Any]:
    """Return the entry of IMAGES for the image that the row `row` of images.csv describes."""
    name, family, release = row['name'], row['family'], row['base']
    arguments = dict(pair.split('=') for pair in row['arguments'].split())
    arguments.update(name=name, release=release)
    published = tuple(map(arguments.get, ('libcxi', 'libfabric', 'mpich')))
    sources = row['sources'].split()
    variants = {
        'c': {
            'arguments': {**arguments, 'osu': 'c'},
            'sources': [*sources, 'osu'],
            'files': [] if family == 'alps' else ENTRYPOINT_FILES,
        }
    }
    if release in DEBIAN:
        base = {'debian': release}
        variants['mpi4py'] = {
            'arguments': {**arguments, 'osu': 'mpi4py'},
            'sources': [*sources, f"mpi4py-{DEBIAN[release]['python']}"],
            'files': [OSU_PORT, *ENTRYPOINT_FILES],
        }
    else:
        base = {
            'registry': UBUNTU[release]['image'] if release in UBUNTU else CUDA[release]['build']
        }
    return {
        'family': family,
        'recipe': f"{'workstation' if family == 'abi' else family}.py",
        'purpose': row['purpose'],
        'published': published if arguments.get('rocm') == PUBLISHED_ROCM else None,
        'fails': row['fails'],
        'unbuilt': UNBUILT.get(family, ''),
        'compiles_mpi': any('mpi' in key and '-source' in key for key in sources),
        'base': base,
        'variants': variants,
    }


def describe_mpi4py_base(name: str) -> Dict[str, Any]:
    """Return the facts about the image `name` that are needed to add mpi4py to this image."""
    variant = IMAGES[name]['variants']['c']
    arguments, sources = variant['arguments'], variant['sources']
    release, rocm, mpi = arguments['release'], arguments.get('rocm'), arguments.get('mpi', 'mpich')
    mpiexec = LAUNCH_COMMANDS[mpi]
    return {
        'mpi': f"{'Open MPI' if mpi == 'openmpi' else 'MPICH'} "
        f"{arguments.get('mpich') or SOURCES[sources[0]]['version']}",
        'libfabric': arguments['libfabric'],
        'libcxi': get_libcxi_version(LUMI_SHS) if arguments.get('libcxi') == 'yes' else 'none',
        'rocm': rocm,
        'gpu': f'ROCm {rocm} {GPU}' if rocm else 'none',
        'python': {**DEBIAN, **UBUNTU}[release]['python'],
        'distro': UBUNTU[release]['distro'] if rocm else 'ubuntu22',
        'sources': [key for key in sources if rocm or key != 'osu'],
        'mpiexec': f'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 {mpiexec}' if rocm else mpiexec,
    }


def _describe_mpi4py_image(base: str, with_cupy: bool) -> Tuple[str, Dict[str, Any]]:
    """Return (name, entry of IMAGES) of the image that adds mpi4py (and CuPy) to `base`."""
    contents, unbuilt = describe_mpi4py_base(base), IMAGES[base]['unbuilt']
    name = base.replace('osu-', f'osu-mpi4py-{MPI4PY_VERSION}-', 1) + '-cupy' * with_cupy
    python = contents['python']
    sources = [f'mpi4py-{python}', f'numpy-{python}', 'pip']
    if with_cupy:
        sources += [*list_cupy_sources(python), 'rocm-key']
    arguments = {'name': name, 'base': base, 'cupy': 'rocm' if with_cupy else 'none'}
    return name, {
        'family': 'mpi4py',
        'recipe': 'mpi4py_image.py',
        'purpose': f"{contents['mpi']} from Python: mpi4py, NumPy{', CuPy' * with_cupy}, "
        "benchmarks with their arrays",
        'published': None,
        'fails': '',
        'unbuilt': 'the image below is not built here' if unbuilt else '',
        'compiles_mpi': bool(unbuilt),
        'base': {'image': base},
        'variants': {
            kind: {
                'arguments': {**arguments, 'osu': kind},
                'sources': sources + ['osu'] * (kind == 'python'),
                'files': MPI4PY_FILES,
            }
            for kind in ('mpi4py', 'python')
        },
    }


_ROWS = read_table(__file__, 'images.csv')
IMAGES: Dict[str, Dict[str, Any]] = {row['name']: _describe_image(row) for row in _ROWS}
IMAGES.update(
    [
        _describe_mpi4py_image(row['name'], part == 'cupy')
        for part in ('mpi4py', 'cupy')
        for row in _ROWS
        if part in row['extended_by']
    ]
)

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

    kind: benchmark programs of the image, such as 'c' or 'mpi4py'.

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

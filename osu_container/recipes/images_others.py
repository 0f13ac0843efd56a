"""Images of the families abi and mpi4py: MPI libraries that are not MPICH, and mpi4py on top of others. Plain data."""

from osu_container.recipes.images_slingshot import (
    ENTRYPOINT_FILES,
    HOST_LIBFABRIC,
    STACKS,
    lumi_name,
    lumi_sources,
)
from osu_container.recipes.versions import DEBIAN, DEFAULT_DEBIAN, GPU, OPENMPI_LIBFABRIC, ROCM, SOURCES, UBUNTU, newer

OSU_PORT = 'easyconfigs/o/osu-native/osu-port'
PYTHON = DEBIAN[DEFAULT_DEBIAN]['python']


def _abi(mpi, title, sources, libfabric, **facts):
    """Return (name, entry) of an image of recipe abi.py; sources: keys of its MPI, the first one has the version."""
    name = f"osu-abi-{title}-{SOURCES[sources[0]]['version']}-libfabric-{libfabric}"
    ports = ['mpi4py-source', f'mpi4py-{PYTHON}']
    return name, {
        'family': 'abi', 'recipe': 'abi.py', 'base': {'debian': DEFAULT_DEBIAN}, 'minutes': 1, 'gigabytes': 1, **facts,
        'variants': {
            'c': {'rendered': name, 'arguments': {'mpi': mpi, 'osu': 'c'}, 'sources': [*sources, 'osu'],
                  'files': ENTRYPOINT_FILES},
            'mpi4py': {'rendered': f'{name}-ports', 'arguments': {'mpi': mpi, 'osu': 'mpi4py'},
                       'sources': [*sources, *ports], 'files': [OSU_PORT, *ENTRYPOINT_FILES]},
        },
    }


_DEBIANS = DEBIAN[DEFAULT_DEBIAN]['libfabric']

# What the images have of this repository: the launcher of the benchmarks, the commands python and pip, and the file by
# which Python finds mpi4py
MPI4PY_FILES = [OSU_PORT, *(f'container-recipes/mpi4py/{name}' for name in ('osu-python', 'python', 'osu-mpi4py.pth'))]
UBUNTU_PYTHON = {'noble': '3.12'}

# AMD's libraries that CuPy is linked with. Names as in AMD's packages.
_LINKED = ['hipblas', 'hipfft', 'hiprand', 'hipsparse', 'rocblas', 'rocfft', 'rocrand', 'rocsolver', 'rocsparse']


def cupy_sources(python):
    """Return the keys of SOURCES that build CuPy for HIP, for one Python such as '3.10'."""
    return ['cupy', f'cython-{python}', f'fastrlock-{python}', 'setuptools', 'wheel']


def cupy_packages(rocm):
    """Return the packages of AMD that CuPy is built and linked with. hipBLAS needs the last two from ROCm 6.3 on."""
    newer_hipblas = ['hipblaslt', 'hipblas-common-dev'] if newer(rocm, '6.2.9') else []
    return [*_LINKED, *(f'{name}-dev' for name in _LINKED), 'hipcub-dev', 'rocprim-dev', 'rocthrust-dev',
            'roctracer', 'roctracer-dev', 'rocm-llvm', 'hipcc', *newer_hipblas]


_MPICH_RANKS = '/opt/mpich/bin/mpiexec -n 2'
_OPENMPI_RANKS = ('OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /opt/openmpi/bin/mpiexec '
                  '--map-by :oversubscribe -n 2')


# ROCm, libfabric, libcxi of the images below that are for LUMI: for each stack the one of hybrid, bind and pure, and
# that of opensource
_LUMI_BASES = [(rocm, HOST_LIBFABRIC, libcxi) for rocm in STACKS for libcxi in ('no', 'yes')]


def _lumi_base(rocm, libfabric, libcxi):
    """Return (name, facts) of an image for LUMI with MPICH 4.2.3, the release of the published work on mpi4py."""
    ubuntu = ROCM[rocm]['ubuntu']
    return lumi_name(rocm, '4.2.3', libfabric, libcxi), {
        'mpi': 'MPICH 4.2.3', 'libfabric': libfabric, 'rocm': rocm,
        'libcxi': SOURCES['shs-libcxi']['version'] if libcxi == 'yes' else 'none',
        'gpu': f'ROCm {rocm} {GPU}', 'python': UBUNTU_PYTHON[ubuntu], 'distro': UBUNTU[ubuntu]['distro'],
        'built': False, 'sources': lumi_sources(rocm, '4.2.3', libfabric, libcxi),
        'mpiexec': f'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 {_MPICH_RANKS}'}


# Image below -> what it has; python: that of its Debian or Ubuntu, built: whether our tests build it
MPI4PY_BASES = {
    'osu-workstation-mpich-4.2.3-libfabric-1.22.0': {
        'mpi': 'MPICH 4.2.3', 'libfabric': '1.22.0', 'python': PYTHON, 'distro': 'ubuntu22', 'built': True,
        'sources': ['mpich-4.2.3'], 'mpiexec': _MPICH_RANKS},
    'osu-abi-openmpi-5.0.11-libfabric-2.5.1': {
        'mpi': 'Open MPI 5.0.11', 'libfabric': '2.5.1', 'python': PYTHON, 'distro': 'ubuntu22', 'built': True,
        'sources': ['openmpi-5.0.11'], 'mpiexec': _OPENMPI_RANKS},
    **dict(_lumi_base(*row) for row in _LUMI_BASES),
}
for _name, _facts in MPI4PY_BASES.items():
    _facts['image'] = f'sources/{_name}.sif'


def mpi4py_name(base, cupy='none'):
    """Return the name of the image with mpi4py on top of another one."""
    version = SOURCES['mpi4py-source']['version']
    return f"{base.replace('osu-', 'osu-mpi4py-' + version + '-', 1)}{'-cupy' if cupy == 'rocm' else ''}"


def _mpi4py(base, cupy='none'):
    """Return (name, entry) of an image of recipe mpi4py_image.py."""
    below, name = MPI4PY_BASES[base], mpi4py_name(base, cupy)
    python = [f"mpi4py-{below['python']}", f"numpy-{below['python']}"]
    own = ['mpi4py-source', *python, 'pip', *(cupy_sources(below['python']) if cupy == 'rocm' else [])]
    files = MPI4PY_FILES
    arguments = {'base': base, 'cupy': cupy}
    key = ['rocm-key'] if cupy == 'rocm' else []
    return name, {
        'family': 'mpi4py', 'recipe': 'mpi4py_image.py', 'base': {'image': base},
        'purpose': f"{below['mpi']} from Python: mpi4py, NumPy{', CuPy' if key else ''}, benchmarks with their arrays",
        'unbuilt': '' if below['built'] else 'the image below is not built here',
        'minutes': 60 if key else 1, 'gigabytes': 20 if key else 1,
        'variants': {
            'mpi4py': {'rendered': f'{name}-ports', 'arguments': {**arguments, 'osu': 'mpi4py'},
                       'sources': [*own, *key], 'files': files},
            'python': {'rendered': name, 'arguments': {**arguments, 'osu': 'python'},
                       'sources': [*own, 'osu', *key], 'files': files},
        },
    }


# MPICH itself is in the family workstation: osu-workstation-mpich-4.3.2-libfabric-1.22.0 is the newest 4.
IMAGES = dict([
    _abi('intel', 'intel-mpi', ['impi-rt', 'impi-devel'], _DEBIANS,
         purpose="Intel MPI, which bind replaces by the host's MPI; Intel Simplified Software License, see abi.py"),
    _abi('openmpi', 'openmpi', ['openmpi-5.0.11'], OPENMPI_LIBFABRIC['5.0.11'],
         purpose="Open MPI for approach openmpi on hosts whose Slurm has PMIx; no host MPI can replace it"),
    *(_mpi4py(base) for base in MPI4PY_BASES),
    *(_mpi4py(base, 'rocm') for base, facts in MPI4PY_BASES.items() if facts.get('rocm')),
])

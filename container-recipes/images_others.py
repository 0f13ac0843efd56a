"""Images of the families abi and mpi4py: MPI libraries that are not MPICH, and mpi4py on top of others. Plain data."""

from images_slingshot import lumi_name, lumi_sources
from versions import DEBIAN, DEFAULT_DEBIAN, GPU, OPENMPI_LIBFABRIC, SOURCES

OSU_PORT = 'easyconfigs/o/osu-native/osu-port'
PYTHON = DEBIAN[DEFAULT_DEBIAN]['python']


def _abi(mpi, title, sources, libfabric, **facts):
    """Return (name, entry) of an image of recipe abi.py; sources: keys of its MPI, the first one has the version."""
    name = f"osu-abi-{title}-{SOURCES[sources[0]]['version']}-libfabric-{libfabric}"
    ports = ['mpi4py-source', f'mpi4py-{PYTHON}']
    prefix = f"/opt/{'openmpi' if mpi == 'openmpi' else title}"
    return name, {
        'family': 'abi', 'recipe': 'abi.py', 'base': {'debian': DEFAULT_DEBIAN}, 'minutes': 1, 'gigabytes': 1, **facts,
        'variants': {
            'c': {'rendered': name, 'arguments': {'mpi': mpi, 'osu': 'c'}, 'sources': [*sources, 'osu'], 'files': [],
                  'parts': {prefix: sources, '/opt/osu': ['osu']}},
            'mpi4py': {'rendered': f'{name}-ports', 'arguments': {'mpi': mpi, 'osu': 'mpi4py'},
                       'sources': [*sources, *ports], 'files': [OSU_PORT],
                       'parts': {prefix: sources, '/opt/osu': [*ports, OSU_PORT]}},
        },
    }


_DEBIANS = DEBIAN[DEFAULT_DEBIAN]['libfabric']

OSU_PYTHON = 'container-recipes/mpi4py/osu-python'

# CuPy for HIP: what builds it on Ubuntu 22.04, and AMD's libraries that it is linked with. Names as in AMD's packages.
CUPY_SOURCES = ['cupy', 'cython-3.10', 'fastrlock-3.10', 'setuptools', 'wheel']
_LINKED = ['hipblas', 'hipfft', 'hiprand', 'hipsparse', 'rocblas', 'rocfft', 'rocrand', 'rocsolver', 'rocsparse']
CUPY_PACKAGES = [*_LINKED, *(f'{name}-dev' for name in _LINKED), 'hipcub-dev', 'rocprim-dev', 'rocthrust-dev',
                 'roctracer', 'roctracer-dev', 'rocm-llvm', 'hipcc']

_MPICH_RANKS = '/opt/mpich/bin/mpiexec -n 2'
_OPENMPI_RANKS = ('OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 /opt/openmpi/bin/mpiexec '
                  '--map-by :oversubscribe -n 2')


def _lumi_base(libfabric):
    """Return (name, facts) of one of the two images of the published work on mpi4py, which has libcxi."""
    return lumi_name('6.0.3', '4.2.3', libfabric, 'yes'), {
        'mpi': 'MPICH 4.2.3', 'libfabric': libfabric, 'libcxi': SOURCES['shs-libcxi']['version'], 'rocm': '6.0.3',
        'gpu': f'ROCm 6.0.3 {GPU}', 'python': '3.10', 'distro': 'ubuntu22', 'built': False,
        'sources': lumi_sources('6.0.3', '4.2.3', libfabric, 'yes'),
        'mpiexec': f'FI_PROVIDER=tcp MPIR_CVAR_ENABLE_GPU=0 {_MPICH_RANKS}'}


# Image below -> what it has; python: that of its Debian or Ubuntu, built: whether our tests build it
MPI4PY_BASES = {
    'osu-workstation-mpich-4.2.3-libfabric-1.22.0': {
        'mpi': 'MPICH 4.2.3', 'libfabric': '1.22.0', 'python': PYTHON, 'distro': 'ubuntu22', 'built': True,
        'sources': ['mpich-4.2.3'], 'mpiexec': _MPICH_RANKS},
    'osu-abi-openmpi-5.0.11-libfabric-2.5.1': {
        'mpi': 'Open MPI 5.0.11', 'libfabric': '2.5.1', 'python': PYTHON, 'distro': 'ubuntu22', 'built': True,
        'sources': ['openmpi-5.0.11'], 'mpiexec': _OPENMPI_RANKS},
    **dict(_lumi_base(libfabric) for libfabric in ('1.22.0', '2.0.0')),
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
    own = ['mpi4py-source', *python, *(CUPY_SOURCES if cupy == 'rocm' else [])]
    files = [OSU_PORT, OSU_PYTHON]
    arguments = {'base': base, 'cupy': cupy}
    key = ['rocm-key'] if cupy == 'rocm' else []
    return name, {
        'family': 'mpi4py', 'recipe': 'mpi4py_image.py', 'base': {'image': base},
        'purpose': f"{below['mpi']} from Python: mpi4py, NumPy{', CuPy' if key else ''}, benchmarks with their arrays",
        'unbuilt': '' if below['built'] else 'the image below is not built here',
        'minutes': 60 if key else 1, 'gigabytes': 20 if key else 1,
        'variants': {
            'mpi4py': {'rendered': f'{name}-ports', 'arguments': {**arguments, 'osu': 'mpi4py'},
                       'sources': [*own, *key], 'files': files,
                       'parts': {'/opt/mpi4py': [*own, *files], '/opt/osu': []}},
            'python': {'rendered': name, 'arguments': {**arguments, 'osu': 'python'},
                       'sources': [*own, 'osu', *key], 'files': files,
                       'parts': {'/opt/mpi4py': [*own, 'osu', *files], '/opt/osu': []}},
        },
    }


# MPICH itself is in the family workstation: osu-workstation-mpich-4.3.2-libfabric-1.22.0 is the newest 4.
IMAGES = dict([
    _abi('intel', 'intel-mpi', ['impi-rt', 'impi-devel'], _DEBIANS,
         purpose="Intel MPI, which bind replaces by the host's MPI; Intel Simplified Software License, see abi.py"),
    _abi('mvapich', 'mvapich', ['mvapich-4.1'], _DEBIANS, minutes=25, gigabytes=3,
         purpose="MVAPICH, which bind replaces by the host's MPI",
         unbuilt="MVAPICH has neither wheel nor Debian package; its source archive is not on PyPI"),
    _abi('openmpi', 'openmpi', ['openmpi-5.0.11'], OPENMPI_LIBFABRIC['5.0.11'],
         purpose="Open MPI for approach openmpi on hosts whose Slurm has PMIx; no host MPI can replace it"),
    *(_mpi4py(base) for base in MPI4PY_BASES),
    *(_mpi4py(base, 'rocm') for base, facts in MPI4PY_BASES.items() if facts.get('rocm')),
])

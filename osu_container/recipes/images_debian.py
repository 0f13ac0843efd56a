"""Images whose every part comes from Debian and PyPI, with ROCm or CUDA. Plain data; the keys are those of images.py.

They need neither AMD's package server, NVIDIA's, GitHub nor a container registry, so our tests build them: with the
compile steps of the images for LUMI and Alps (slingshot.py), and Debian's releases of the sources.
"""

from osu_container.recipes.images_slingshot import ENTRYPOINT_FILES
from osu_container.recipes.versions import DEBIAN, GPU_OF_DEBIAN

OSU_PORT = 'easyconfigs/o/osu-native/osu-port'
LIBFABRIC = '2.1.0'

#: By MPI and release: path in the image -> keys of SOURCES
MPI_PARTS = {
    ('mpich', '4.0.2'): {'/opt/mpich': ['mpich-source-4.0.2']},
    ('openmpi', '5.0.7'): {'/opt/openmpi': ['openmpi-source-5.0.7']},
}
NETWORK_PARTS = {'/opt/hwloc': ['hwloc-2.9.0'], '/opt/libfabric': [f'libfabric-{LIBFABRIC}']}
TITLES = {'mpich': 'MPICH', 'openmpi': 'Open MPI'}
VENDORS = {'rocm': 'ROCm', 'cuda': 'CUDA'}


def sources_of(parts):
    """Return the keys of SOURCES (list) in a dict of parts."""
    return [key for keys in parts.values() for key in keys]


def debian_name(gpu, mpi, version):
    """Return the name of an image. gpu: key of GPU_OF_DEBIAN. mpi, version: key of MPI_PARTS."""
    return f"osu-debian-{gpu}-{GPU_OF_DEBIAN[gpu]['release']}-{mpi}-{version}-libfabric-{LIBFABRIC}"


def _debian(gpu, mpi, version, purpose, **facts):
    """Return (name, entry) of an image."""
    name, release = debian_name(gpu, mpi, version), GPU_OF_DEBIAN[gpu]['debian']
    ports = ['mpi4py-source', f"mpi4py-{DEBIAN[release]['python']}"]
    keys = [*sources_of(NETWORK_PARTS), *sources_of(MPI_PARTS[mpi, version])]
    arguments = {'gpu': gpu, 'mpi': mpi, 'version': version}
    return name, {
        'family': 'debian', 'recipe': 'debian.py', 'published': None, 'purpose': purpose, 'base': {'debian': release},
        **facts,
        'variants': {
            'c': {'rendered': name, 'arguments': {**arguments, 'osu': 'c'}, 'sources': [*keys, 'osu'],
                  'files': ENTRYPOINT_FILES},
            'mpi4py': {'rendered': f'{name}-ports', 'arguments': {**arguments, 'osu': 'mpi4py'},
                       'sources': [*keys, *ports], 'files': [OSU_PORT, *ENTRYPOINT_FILES]},
        },
    }


IMAGES = dict([
    _debian('rocm', 'mpich', '4.0.2', "bind with GPUs of AMD, nothing of it from AMD's server", minutes=40,
            gigabytes=8, built={'date': '2026-11-24', 'megabytes': 319, 'minutes': 41}),
    _debian('cuda', 'mpich', '4.0.2', "bind with GPUs of NVIDIA, nothing of it from NVIDIA's registry", minutes=30,
            gigabytes=10, built={'date': '2026-11-24', 'megabytes': 242, 'minutes': 29}),
    _debian('cuda', 'openmpi', '5.0.7', "openmpi with GPUs of NVIDIA", minutes=20, gigabytes=10,
            built={'date': '2026-11-23', 'megabytes': 231, 'minutes': 17}),
])

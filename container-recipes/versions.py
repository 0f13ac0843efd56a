"""Everything that goes into an image: versions, files, sha256, licences. Plain data; a fact stands here once.

SOURCES: key -> dict with
    name, version   as upstream writes them
    file            file name in the source folder
    url             where the file is, or 'PyPI' (got by pip, name==version)
    sha256          of that file; every build checks it
    licence         SPDX expression of the content, as the project states it
    python          only for a wheel that fits one Python: its version, such as '3.11'
"""

# Goes up when an image changes for a reason that the versions below do not show.
RECIPE_VERSION = '1'

# Debian release, its image in the container registries by full tag, and the Python that comes with it.
DEBIAN = {'release': 'bookworm', 'image': 'debian:12.12-slim', 'python': '3.11'}

# MPICH wheel -> libfabric inside it (lib/mpich/libfabric.so.1). The %test of the image asks the libraries themselves.
MPICH_LIBFABRIC = {'4.2.3': '1.22.0', '5.0.2': '2.5.1'}
DEFAULT_MPICH = '4.2.3'

# The wheels bundle libfabric, UCX, hwloc, yaksa and json-c; the texts are in the wheel and go into the image.
_MPICH_LICENCE = 'mpich2 AND BSD-2-Clause AND BSD-3-Clause AND MIT'


def _mpich(version, sha256):
    """Return the entry of an MPICH wheel, which fits every Python."""
    return {'name': 'mpich', 'version': version, 'url': 'PyPI', 'sha256': sha256, 'licence': _MPICH_LICENCE,
            'file': f'mpich-{version}-py3-none-manylinux_2_28_x86_64.whl'}


def _mpi4py(python, sha256):
    """Return the entry of the mpi4py wheel for one Python, such as '3.11'."""
    tag = 'cp' + python.replace('.', '')
    return {'name': 'mpi4py', 'version': '4.1.2', 'url': 'PyPI', 'sha256': sha256, 'licence': 'BSD-3-Clause',
            'python': python,
            'file': f'mpi4py-4.1.2-{tag}-{tag}-manylinux1_x86_64.manylinux_2_5_x86_64.whl'}


SOURCES = {
    'osu': {
        'name': 'osu-micro-benchmarks', 'version': '7.5.2', 'licence': 'BSD-3-Clause',
        'url': 'https://mvapich.cse.ohio-state.edu/download/mvapich/osu-micro-benchmarks-7.5.2.tar.gz',
        'file': 'osu-micro-benchmarks-7.5.2.tar.gz',
        'sha256': '618de3d0b1122f73a9229177d2da1e5cd62e431190580cb915f2605849cbbbdc',  # EasyBuild's easyconfig of it
    },
    # Has the ports of the OSU benchmarks in demo/; the wheels do not.
    'mpi4py-source': {
        'name': 'mpi4py', 'version': '4.1.2', 'url': 'PyPI', 'licence': 'BSD-3-Clause', 'file': 'mpi4py-4.1.2.tar.gz',
        'sha256': '56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02',
    },
    # 3.4.3 and 4.1.3 go into no image: stand-in/make puts them to where Cray MPICH is on LUMI.
    'mpich-3.4.3': _mpich('3.4.3', '6a256b7d5f54565631dc92e83d40bd3b148e7e77a1ac23aa2d5aca0358a463d0'),
    'mpich-4.1.3': _mpich('4.1.3', 'd7e53f367fbc20315660cf76d7c12a7d9c003a37ae8a2754798ed6c4b8cc3ddb'),
    'mpich-4.2.3': _mpich('4.2.3', 'a0344298f6905db17d25a0687f08489bbaccd80b21c3d1317b0b30f0172ce3bf'),
    'mpich-5.0.2': _mpich('5.0.2', '8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4'),
    'mpi4py-3.8': _mpi4py('3.8', '7021c5afa090967f31f841b1b1093f2929c9fb73595bacfb47d5ee32c4a66cf2'),
    'mpi4py-3.9': _mpi4py('3.9', '5eb46b74c0f0f354af441906dda452bbf8565821dae15373a78ab02c02c9f97c'),
    'mpi4py-3.10': _mpi4py('3.10', '1b3fc4f09e9be07a8ab9970a1f426e31b3dadb93f0bebb0559581b601aec9f7a'),
    'mpi4py-3.11': _mpi4py('3.11', 'de484475b80f9e1ffe98cb85e1b776eb9f42bb73ae4d79449d42953f80025bf4'),
    'mpi4py-3.12': _mpi4py('3.12', '00f4cce8999d19f35243c3442ea22debbe3336f69c309cd5d3176df4e51c717a'),
    'mpi4py-3.13': _mpi4py('3.13', '085e0cb05427398fe2281856f27a87984b9f234cd6d98a2a384a6fbfe679a56f'),
    'mpi4py-3.14': _mpi4py('3.14', 'd53e8f7182bf125b37155f679b301a21cd64e5ae6861ca0ab989c9d2b2073bbd'),
}

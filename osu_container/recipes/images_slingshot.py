"""Images for Slingshot 11: LUMI (MPICH, ROCm) and Alps (Open MPI, CUDA). Plain data; the keys are those of images.py.

One key more: evidence, the word for what is known of the image (docs/design.md): none of them was ever built here.
"""

from osu_container.recipes.versions import CUDA, ROCM, SOURCES, UBUNTU, newer

# The entrypoint that puts the host's libfabric in place, and the variables that it sets; all images of MPICH have it
ENTRYPOINT_FOLDER = '/opt/entrypoint'
ENTRYPOINT_FILES = ['container-recipes/entrypoint/osu-entrypoint', 'container-recipes/entrypoint/defaults']

# Sources of the network stage beside libfabric
NETWORK_SOURCES = {
    'always': ['hwloc', 'xpmem'],
    'libcxi': ['shs-cassini-headers', 'shs-cxi-driver', 'shs-libcxi'],
}

# Rows of compatibility.csv (libcxi, libfabric, MPICH), and those that the published pipeline built by default. ROCm is
# the one that LUMI/24.03 had on the host then.
PUBLISHED_ROCM = '6.0.3'
PUBLISHED = [
    ('no', '1.15.2', '3.1.4'), ('no', '1.15.2', '3.4.3'), ('no', '1.21.1', '3.4.3'), ('no', '1.22.0', '3.4.3'),
    ('no', '1.15.2', '4.2.3'), ('no', '1.21.1', '4.2.3'), ('no', '1.22.0', '4.2.3'),
    ('yes', '1.15.2', '3.4.3'), ('yes', '1.15.2', '4.2.3'), ('yes', '1.21.1', '4.2.3'), ('yes', '1.22.0', '4.2.3'),
    ('yes', '2.0.0', '4.2.3'),
]
DEFAULT = [('no', '1.15.2', '3.1.4'), ('no', '1.15.2', '4.2.3'), ('yes', '1.22.0', '4.2.3')]

# ROCm -> LUMI's software stack with it, today. The host's libfabric is 1.22.0 in all of them: the newest that an MPICH
# for hybrid may be built against.
STACKS = {'6.3.4': 'LUMI/25.03', '6.4.4': 'LUMI/25.09'}
HOST_LIBFABRIC = '1.22.0'
NEWEST_LIBFABRIC = '2.6.0'
CHOSEN_MPICH = '4.2.3'


def lumi_name(rocm, mpich, libfabric, libcxi):
    """Return the name of an image, as the data of site LUMI have it."""
    return f"osu-lumi-rocm-{rocm}-mpich-{mpich}-libfabric-{libfabric}{'-libcxi' if libcxi == 'yes' else ''}"


def lumi_plugin(rocm, libfabric):
    """Return the key of RCCL's plugin in an image: the published one with the published ROCm, else today's.

    None where the published image had none: aws-ofi-rccl 17d41cb does not compile with libfabric 2.
    """
    if rocm != PUBLISHED_ROCM:
        return 'aws-ofi-nccl'
    return None if libfabric.startswith('2.') else 'aws-ofi-rccl'


def _lumi_parts(rocm, mpich, libfabric, libcxi):
    """Return path -> keys of SOURCES of an image. ROCm is AMD's packages, which are listed in its share/packages."""
    plugin = lumi_plugin(rocm, libfabric)
    return {
        **{f'/opt/{key}': [key] for key in NETWORK_SOURCES['always']},
        **({'/opt/libcxi': NETWORK_SOURCES['libcxi']} if libcxi == 'yes' else {}),
        '/opt/libfabric': [f'libfabric-{libfabric}'],
        '/opt/mpich': [f'mpich-source-{mpich}'],
        **({'/opt/rccl-plugin': [plugin]} if plugin else {}),
        '/opt/osu': ['osu'],
        f'/opt/rocm-{rocm}': [],
    }


def lumi_sources(rocm, mpich, libfabric, libcxi):
    """Return the keys of SOURCES whose content is in an image."""
    return [key for keys in _lumi_parts(rocm, mpich, libfabric, libcxi).values() for key in keys]


def _lumi(rocm, mpich, libfabric, libcxi, purpose, **also):
    """Return (name, entry) of one image."""
    row = (libcxi, libfabric, mpich)
    published = row if rocm == PUBLISHED_ROCM and row in PUBLISHED else None
    return lumi_name(rocm, mpich, libfabric, libcxi), {
        'family': 'lumi', 'recipe': 'lumi.py', 'published': published,
        'arguments': {'rocm': rocm, 'mpich': mpich, 'libfabric': libfabric, 'libcxi': libcxi},
        'default': published in DEFAULT, 'purpose': purpose,
        'sources': [*lumi_sources(rocm, mpich, libfabric, libcxi), 'rocm-key'],
        'files': ENTRYPOINT_FILES,
        'base': {'registry': UBUNTU[ROCM[rocm]['ubuntu']]['image']},
        'unbuilt': "our tests reach neither a container registry nor AMD's packages",
        # estimates: compiling MPICH with HIP takes most of the time, AMD's compiler most of the disk
        **({'minutes': 120, 'gigabytes': 12} if newer(mpich, '4.0') else {'minutes': 50, 'gigabytes': 5}),
        'evidence': 'untested', **also}


def _published():
    """Return the images of the twelve published combinations."""
    for libcxi, libfabric, mpich in PUBLISHED:
        approaches = ('opensource' if libcxi == 'yes' and libfabric != '1.15.2' else
                      'hybrid' if mpich == '4.2.3' and libfabric == '1.15.2' else 'pure and bind')
        yield _lumi(PUBLISHED_ROCM, mpich, libfabric, libcxi,
                    f'{approaches} on LUMI/24.03 as it was in March 2025, host libfabric 1.15.2')


def _today():
    """Return the images for the stacks of today."""
    for rocm, stack in STACKS.items():
        host = f'{stack}, host libfabric {HOST_LIBFABRIC}'
        yield _lumi(rocm, CHOSEN_MPICH, HOST_LIBFABRIC, 'no', f'pure, bind and hybrid on {host}',
                    recommended=f'for {host}, approaches pure, bind and hybrid')
        yield _lumi(rocm, CHOSEN_MPICH, HOST_LIBFABRIC, 'yes', f'opensource on {stack}',
                    recommended=f'for {stack}, approach opensource')


# --- Alps ---

ALPS_CUDA = '12.8.1'
ALPS_NAME = (f"osu-alps-cuda-{ALPS_CUDA}-openmpi-{SOURCES['openmpi-source']['version']}-libfabric-{NEWEST_LIBFABRIC}"
             '-libcxi')
ALPS_PARTS = {
    'network': {'/opt/hwloc': ['hwloc'], '/opt/xpmem': ['xpmem'], '/opt/gdrcopy': ['gdrcopy'],
                '/opt/libcxi': NETWORK_SOURCES['libcxi'], '/opt/libfabric': [f'libfabric-{NEWEST_LIBFABRIC}']},
    'mpi': {'/opt/ucx': ['ucx'], '/opt/pmix': ['pmix'], '/opt/openmpi': ['openmpi-source']},
    'benchmarks': {'/opt/osu': ['osu']},
}


def _alps():
    """Return (name, entry) of the image for Alps."""
    return ALPS_NAME, {
        'family': 'alps', 'recipe': 'alps.py', 'arguments': {},
        'purpose': "Open MPI 5 over the image's own libfabric on Alps, no hook for Slingshot",
        'sources': [key for stage in ALPS_PARTS.values() for keys in stage.values() for key in keys],
        'base': {'registry': CUDA[ALPS_CUDA]['build']},
        'unbuilt': 'our tests reach no container registry, and have neither CUDA nor an aarch64 processor',
        'evidence': 'untested', 'recommended': 'for Alps (GH200), approach openmpi', 'minutes': 120, 'gigabytes': 20}


IMAGES = dict([*_published(), *_today(), _alps()])

"""Every image that has a name: what is in it, for whom, and what its build takes. Plain data; the recipes do the work.

IMAGES: name (of the SIF, without suffix) -> dict with
    family        'lumi', 'workstation', 'debian', 'alps', 'abi' or 'mpi4py'
    recipe        file of this folder
    purpose       one line: for which approach and host
    published     (libcxi 'yes' or 'no', libfabric, MPICH) of the row in compatibility.csv, None if there is none
    default       whether the published pipeline built it by default
    recommended   for whom this is today's choice, '' if for nobody
    fails         why its MPI does not even load with its own libfabric, '' if it does (derived: versions.py)
    base          what the build starts from: {'debian': release}, {'image': name of another image here} or
                  {'registry': reference}
    unbuilt       why our tests do not build it, '' if they do
    minutes       of the build on two cores, without downloads (measured for what our tests build, else estimated)
    gigabytes     of disk that the build needs beside the image (the same)
    built         what came of this project's own build of an image that takes long: dict with date, megabytes of the
                  SIF, minutes on two cores with downloads; {} for the others
    variants      by benchmark programs, 'c' (the C programs), 'mpi4py' (its ports of them) or 'python': dict with
        rendered      name of its definition file and Dockerfile (osu_container/recipes/render.py), without suffix
        arguments     of the recipe
        sources       keys of SOURCES in versions.py
        files         other files of this repository that the build copies in
"""

from osu_container.recipes.images_debian import IMAGES as OF_DEBIAN
from osu_container.recipes.images_others import IMAGES as OTHERS
from osu_container.recipes.images_slingshot import ENTRYPOINT_FILES
from osu_container.recipes.images_slingshot import IMAGES as SLINGSHOT
from osu_container.recipes.versions import (
    DEBIAN,
    DEFAULT_DEBIAN,
    DEFAULT_MPICH,
    LIBFABRIC_HAS,
    MPICH_LIBFABRIC,
    MPICH_NEEDS,
    newer,
)

OSU_PORT = 'easyconfigs/o/osu-native/osu-port'


def ports(python):
    """Return (sources, files) of mpi4py's ports of the benchmarks in /opt/osu, for one Python such as '3.11'."""
    return ['mpi4py-source', f'mpi4py-{python}'], [OSU_PORT]


def missing_symbols(mpich, libfabric):
    """Return why the MPICH of a wheel does not load with this libfabric, '' if it does."""
    if not newer(MPICH_NEEDS[mpich], LIBFABRIC_HAS[libfabric]):
        return ''
    return (f"libmpi.so.12 asks for FABRIC_{MPICH_NEEDS[mpich]}, libfabric {libfabric} ends at "
            f"FABRIC_{LIBFABRIC_HAS[libfabric]}")


def _workstation(mpich, libfabric, release, origin):
    """Return the entry of an image with MPICH from its wheel on a Debian release."""
    name = f'osu-workstation-mpich-{mpich}-libfabric-{libfabric}'
    arguments = {'mpich': mpich, 'libfabric': libfabric}
    mpi = f'mpich-{mpich}'
    sources, files = ports(DEBIAN[release]['python'])
    fails = missing_symbols(mpich, libfabric)
    return name, {
        'family': 'workstation', 'recipe': 'workstation.py', 'published': None, 'default': False, 'recommended': '',
        'purpose': f"libfabric {origin}; {'bind and hybrid' if fails else 'all approaches'} on any Linux machine",
        'fails': fails, 'base': {'debian': release}, 'unbuilt': '', 'minutes': 1, 'gigabytes': 1,
        'variants': {
            'c': {'rendered': name, 'arguments': {**arguments, 'osu': 'c'}, 'sources': [mpi, 'osu'],
                  'files': ENTRYPOINT_FILES},
            'mpi4py': {'rendered': f'{name}-ports', 'arguments': {**arguments, 'osu': 'mpi4py'},
                       'sources': [mpi, *sources], 'files': [*files, *ENTRYPOINT_FILES]},
        },
    }


def _workstations():
    """Return the entries of some MPICH wheels with their own libfabric, and of one with each Debian's."""
    for mpich in ('3.4.3', DEFAULT_MPICH, '4.3.2', '5.0.2'):
        yield _workstation(mpich, MPICH_LIBFABRIC[mpich], DEFAULT_DEBIAN, 'of the wheel')
    for release, facts in DEBIAN.items():
        yield _workstation(DEFAULT_MPICH, facts['libfabric'], release, f"of Debian {facts['number']}")


def _one_variant(name, entry):
    """Return the entry with the parts that may be left out where an image has one kind of programs."""
    entry = {'published': None, 'default': False, 'recommended': '', 'fails': '', 'unbuilt': '', 'built': {}, **entry}
    if 'variants' not in entry:
        variant = {'rendered': name, 'files': [], **{key: entry.pop(key) for key in (
            'arguments', 'sources', 'files') if key in entry}}
        entry['variants'] = {entry.pop('programs', 'c'): variant}
    return entry


IMAGES = {
    **SLINGSHOT,
    **dict(_workstations()),
    **OF_DEBIAN,
    **OTHERS,
}
IMAGES = {name: _one_variant(name, entry) for name, entry in IMAGES.items()}
IMAGES['osu-workstation-mpich-4.2.3-libfabric-1.22.0']['recommended'] = "make demo"

FAMILIES = {
    'lumi': "LUMI: MI250X and Slingshot 11, MPICH from source",
    'workstation': "any Linux machine: MPICH from its PyPI wheel, libfabric of the wheel or of Debian",
    'debian': "GPUs of AMD and NVIDIA: every part from Debian and PyPI, MPI from Debian's source",
    'alps': "Alps: GH200 and Slingshot 11, Open MPI 5 from source",
    'abi': "MPI libraries that a host's libmpi.so.12 can replace, and Open MPI, which it cannot",
    'mpi4py': "mpi4py and NumPy on top of another image",
}

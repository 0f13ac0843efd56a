"""
Environments of Python in an image, and the MPI that their programs take: conda's own, or that of a wheel.

Both come before what a module injects. Programs and libraries of conda have DT_RPATH (conda-build, conda_build/post.py
00062c8d, mk_relative_linux), which ld.so searches before LD_LIBRARY_PATH. mpi4py's wheels look into the prefix of their
Python before they ask ld.so (mpi4py 4.1.2, _mpiabi.py), unless MPI4PY_LIBMPI says otherwise.

Nothing in the image is run; Python 3.6 and its standard library.
"""
import posixpath
import re
from collections import namedtuple

from osu_container.core.reading.environment import known
from osu_container.core.reading.image import MPI_FAMILIES
from osu_container.core.reading.scripts import interpreter_of
from osu_container.core.reading.traits import mpi_traits

#: prefix: folder (str) in the image; conda: bool; python: path (str) of its python3 or None; records: {package:
#: (version, build, path of its record)} of conda's packages; libraries: list of (soname, path), its own MPI libraries;
#: taken: (soname, path) of the one that mpi4py's wheels take, None without
Environment = namedtuple('Environment', 'prefix conda python records libraries taken')

_RECORD = re.compile(r'(.*)/conda-meta/([^/]+)-([^/-]+)-([^/-]+)\.json$')
#: Folders that are no environment: their lib is the system's, and mpi4py leaves /usr out itself
_SYSTEM = ('', '/usr')
#: In this order mpi4py's wheels try names, in a folder and by ld.so
NAMES = ['libmpi.so', 'libmpi.so.12', 'libmpi.so.40']
#: Packages of conda with an MPI library
_MPI_PACKAGES = ['mpich', 'openmpi', 'impi_rt', 'mvapich']


def environments(image):
    """Return the environments (list of Environment) in image (an Image) that have an MPI library of their own."""
    records, pythons = {}, {}
    for path in image.matching(r'/.+/conda-meta/[^/]+\.json'):
        found = _RECORD.match(path)
        if found:
            prefix, name, version, build = found.groups()
            records.setdefault(prefix, {})[name] = (version, build, path)
    for path in image.matching(r'/.+/bin/python3(\.\d+)?'):
        pythons.setdefault(_prefix(image, path), path)
    result = []
    for prefix in sorted(set(records) | set(pythons)):
        libraries = [(soname, '%s/lib/%s' % (prefix, soname)) for soname in sorted(MPI_FAMILIES)
                     if image.exists('%s/lib/%s' % (prefix, soname))]
        if libraries and prefix not in _SYSTEM:
            result.append(Environment(prefix, prefix in records, pythons.get(prefix), records.get(prefix, {}),
                                      libraries, _taken(image, prefix)))
    return result


def _prefix(image, python):
    """
    Return the sys.prefix (str) of a python (path): with a pyvenv.cfg that of the virtual environment, else that of the
    file itself, however many links lead to it (docs.python.org, The initialization of the sys.path module search path).
    """
    prefix = posixpath.dirname(posixpath.dirname(python))
    if image.exists(prefix + '/pyvenv.cfg'):
        return prefix
    return posixpath.dirname(posixpath.dirname(image.real(python) or python))


def _taken(image, prefix):
    """Return (soname, path) of the MPI library of prefix (str) that mpi4py's wheels take, None if they find none."""
    for name in NAMES:
        path = '%s/lib/%s' % (prefix, name)
        facts = image.elf_facts([path]).get(path) if image.exists(path) else None
        if facts:  # libmpi.so of a wheel is a text for linkers, which dlopen() refuses
            return facts.soname or name, path
    return None


def own_mpi(environment):
    """Return (what conda calls the MPI of environment, e.g. 'mpich 4.2.3 (build h79b1c89_100)', path of its record)."""
    for name in _MPI_PACKAGES:
        if name in environment.records:
            version, build, path = environment.records[name]
            return '%s %s (build %s)' % (name, version, build), path
    return 'MPI', environment.libraries[0][1]


def searched_first(image, environment, program=None):
    """
    Return (path, DT_RPATH as it is in the file) of what makes ld.so search the lib of environment first, or None.

    Looked at: program (str or None, path in the image), its Python and its mpi4py. The first that has it counts.
    """
    inside = environment.prefix + '/'
    paths = [program] if program and program.startswith(inside) else []
    paths += image.matching(re.escape(inside) + r'lib/python3[\d.]*/site-packages/mpi4py/MPI[^/]*\.so')
    paths += image.matching(re.escape(inside) + r'bin/python3\.\d+')
    facts = image.elf_facts(paths)
    for path in paths:
        # of one that has both the loader ignores DT_RPATH
        for folder in facts[path].rpath if path in facts and not facts[path].runpath else []:
            origin = posixpath.dirname(image.real(path))
            whole = folder.replace('${ORIGIN}', origin).replace('$ORIGIN', origin)
            if posixpath.normpath(whole) == environment.prefix + '/lib':
                return path, folder
    return None


def is_of(prefix, image, program=None):
    """
    Return whether a program (path, or None for those of the image) is of the environment prefix (str): it lies there,
    or what interprets it does.
    """
    folders = [posixpath.dirname(program)] if program else sorted(image.programs.values())
    folders += [posixpath.dirname(interpreter_of(image, program) or '')]
    folders = [folder for folder in folders if folder]
    folders = folders or [posixpath.dirname(path) for _, _, path in image.mpis()[:1]]
    return any((folder + '/').startswith(prefix + '/') for folder in folders)


#: Where mpi4py's wheels look for the libfabric of an Intel MPI, below the folder above its lib
_INTELS_LIBFABRIC = ['opt/mpi/libfabric/lib', 'libfabric/lib', 'libfabric', 'lib/libfabric', 'lib']


def intels_libfabric(image, environment, one):
    """
    Return the path (str) of the libfabric that mpi4py's wheels open themselves with the MPI of an Environment one:
    Intel's, beside an MPI that they take by its path. None if they open none; environment: as image.environment().
    """
    path = one.taken[1]
    if image.traits(path, mpi_traits)['family'] != 'Intel MPI' or known(environment, 'I_MPI_FABRICS') == 'shm' or \
            (known(environment, 'I_MPI_OFI_LIBRARY_INTERNAL') or '').lower() in ('0', 'no', 'off', 'false', 'disable'):
        return None
    paths = ['%s/%s/libfabric.so.1' % (one.prefix, folder) for folder in _INTELS_LIBFABRIC]
    there = [fabric for fabric in paths if image.exists(fabric)]
    libraries = image.elf_facts(there)  # what is none cannot be opened
    return next((fabric for fabric in there if fabric in libraries), None)

"""
Which MPI a program of Python opens by mpi4py: its own library needs one, or its wheels look for one
when they are imported (mpi4py 4.1.2, _mpiabi.py). Nothing in the image is run; Python 3.6 and its
standard library.
"""

import posixpath
import re
from collections import OrderedDict

from osu_container.image.environment import parse_folder_list, resolve_process_variable
from osu_container.image.image import MPI_FAMILIES
from osu_container.image.scripts import PYTHON_NAME
from osu_container.image.traits import read_mpi_traits

#: mpi4py's own library; in wheels one for each ABI, as MPI.mpich.cpython-311-x86_64-linux-gnu.so
_LIBRARY_PATTERN = r'.*/mpi4py/MPI(\.\w+)?\.(cpython-|abi3\.)?[^/]*so'
_ABI_LIBRARY = re.compile(r'MPI\.(mpich|openmpi|mpiabi|impi)\.(?:cpython|abi3)')
#: In this order the wheels try names, in a folder and by ld.so
LIBMPI_NAMES = ['libmpi.so', 'libmpi.so.12', 'libmpi.so.40']
#: How the wheels call the ABI of a family
_ABIS = {
    'MPICH ABI': 'mpich',
    "MPICH under Debian's own soname": 'mpich',
    'Open MPI': 'openmpi',
    'the standard ABI of MPI 5': 'mpiabi',
}
#: What a program of Python does by which it may open another MPI than mpi4py would, or start anew
_MPI_OVERRIDES = re.compile(
    r'\b(CDLL|LoadLibrary|dlopen)\((?!\s*(?:None|r?([\'"])(?:(?!mpi|\2).)*\2))|'
    r'\b(os\.exec\w+|mpi4py\.rc\.|_mpiabi|setdlopenflags)\b|'
    r'os\.(?:environ(?:\[|\.\w+\()|putenv\()\s*[\'"](?:LD_|FI_|MPI|OMPI|I_MPI|PMI|UCX)\w*|'
    r'os\.environ\.update'
)
#: What imports mpi4py (a word of a comment does not), or is it: `-m mpi4py.run`
_IMPORTS = re.compile(r'''\b(import|from)\s+([\w.]+\s*,\s*)*mpi4py\b|['"]mpi4py\b|-m mpi4py\b''')
#: What a program gives to MPI4PY_LIBMPI by itself, as this project's osu-port says it
_LIBMPI = re.compile(r"^LIBMPI = '([\w.:/-]+)'$", re.M)
_MAX_LIBRARY_BYTES = 64 * 1024 * 1024
#: Where they look for the libfabric of an Intel MPI, below the folder above its lib
_INTEL_LIBFABRIC_FOLDERS = [
    'opt/mpi/libfabric/lib',
    'libfabric/lib',
    'libfabric',
    'lib/libfabric',
    'lib',
]


def uses_mpi4py(image, started):
    """
    Return whether a Started (scripts.py) is a Python that imports mpi4py (bool), None where it is a
    Python and that cannot be told. A Python without a program is taken for one that does.
    """
    if not started.program or not re.match(PYTHON_NAME, posixpath.basename(started.program)):
        return False
    text = _read_program_text(image, started)
    if not started.words[1:] or _LIBMPI.search(text):
        return True
    return (
        None
        if _MPI_OVERRIDES.search(text) or not _IMPORTS.search(text) or '-S' in started.words
        else True
    )


def _read_program_text(image, started):
    """Return what a Python is to run (str), '' where that is not known."""
    words = [word for word in started.words[1:] if isinstance(word, str)]
    own = [word for word in words if not word.startswith('-')]
    if '-c' in words or '-m' in words:
        return ' '.join(words)
    return image.read_text(own[0]) or '' if own and image.exists(own[0]) else ''


def list_imported_libraries(image, started):
    """
    Return the paths (list of str) of the libraries of the packages that the program of a Started
    imports beside mpi4py, of those packages that have one which needs an MPI, itself or by another
    of the package: h5py, petsc4py, dtfft. Passed over are those with more than _LARGE bytes of
    libraries (torch), which would be read whole.
    """
    found = []
    for name in sorted(
        set(re.findall(r'^(?:import|from)\s+(\w+)', _read_program_text(image, started), re.M))
        - {'mpi4py'}
    ):
        paths = image.find_files('.*/(?:site|dist)-packages/%s/.*[.]so[^/]*' % name)
        facts = (
            {}
            if sum(image.tree.entries[path][3] for path in paths) > _MAX_LIBRARY_BYTES
            else image.read_elf_files(paths)
        )
        if any(re.match('libmpi', one) for each in facts.values() for one in each.needed):
            found += [
                path for path in sorted(facts) if re.search(r'[.](cpython-|abi3)[^/]*so$', path)
            ]
    return found


def find_sys_prefix(image, python):
    """
    Return the sys.prefix (str) of a python (path): with a pyvenv.cfg that of the virtual
    environment, else that of the file itself, however many links lead to it (docs.python.org, The
    initialization of the sys.path module search path).
    """
    prefix = posixpath.dirname(posixpath.dirname(python))
    if image.exists(prefix + '/pyvenv.cfg'):
        return prefix
    return posixpath.dirname(posixpath.dirname(image.resolve(python) or python))


def _find_library_variants(image, started):
    """
    Return {ABI or '': path} of mpi4py's library for a Python, {} where it has none or it is not
    known which.
    """
    found = OrderedDict()
    for path in image.find_files(_LIBRARY_PATTERN):
        name = _ABI_LIBRARY.match(posixpath.basename(path))
        found.setdefault(posixpath.dirname(path), {})[name.group(1) if name else ''] = path
    if len(found) < 2:
        return next(iter(found.values()), {})
    own, _ = parse_folder_list(started.environment.variables.get('PYTHONPATH'))
    prefix = find_sys_prefix(image, started.program)
    own += [prefix + '/local' if prefix == '/usr' else prefix, prefix]
    for folder in own:
        below = [one for one in found if one.startswith(folder + '/')]
        if below:
            return found[below[0]] if len(below) == 1 else {}
    return {}


def find_opened_libraries(image, started, loads):
    """
    Return (names, missing, why): what a Python opens by mpi4py.

    :param started: Started; loads: function name -> (ElfFacts of the file that ld.so takes or None,
        does it load: bool)
    :return: names: list of str, for ld.so; missing: str, the names of which it finds none, or None;
        why: str, why that cannot be told, or None
    """
    libraries = _find_library_variants(image, started)
    if not libraries:
        return (
            [],
            None,
            'which mpi4py %s imports, of those in the image, cannot be told' % started.program
            if image.find_files(_LIBRARY_PATTERN)
            else 'the image has no mpi4py that %s would import' % started.program,
        )
    if '' in libraries:
        return [libraries['']], None, None
    abi, libmpi = (
        resolve_process_variable(started.environment, name)
        for name in ('MPI4PY_MPIABI', 'MPI4PY_LIBMPI')
    )
    if any(one and one.value is None for one in (abi, libmpi)):
        return [], None, 'MPI4PY_LIBMPI or MPI4PY_MPIABI of the image is not known'
    if abi and abi.value:
        name = re.sub('[ _-]', '', abi.value).lower().replace('impi', 'mpich')
        return (
            ([libraries[name]], None, None)
            if name in libraries
            else ([], 'MPI of ABI ' + abi.value, None)
        )
    declared = _LIBMPI.search(_read_program_text(image, started))
    given = libmpi.value if libmpi else declared.group(1) if declared else None
    failing = []
    for name in _list_libmpi_candidates(image, started, given):
        facts, whole = loads(name)
        family = MPI_FAMILIES.get(facts.soname) if facts else None
        if family and not whole:
            failing.append(name)
        elif family:
            wanted = libraries.get(_ABIS.get(family, ''))
            intels = _find_intel_libfabric(image, started.environment, name)
            return (
                [name] + intels + ([wanted] if wanted else []),
                None if wanted else 'mpi4py for %s' % family,
                None,
            )
    return (
        failing[:1],
        None if failing else ', '.join(LIBMPI_NAMES[:-1]) + ' or ' + LIBMPI_NAMES[-1],
        None,
    )


def _list_libmpi_candidates(image, started, libmpi):
    """Return the names (list of str) that the wheels try; libmpi: str or None, MPI4PY_LIBMPI."""
    prefix = find_sys_prefix(image, started.program)
    base = posixpath.dirname(posixpath.dirname(image.resolve(started.program) or started.program))
    places = (
        libmpi.split(':')
        if libmpi is not None
        else [
            one + '/lib'
            for one in OrderedDict.fromkeys([prefix, base])
            if one not in ('/usr', '', '/')
        ]
        + ['']
    )
    found = []
    for place in places:
        if place and image.find_file_type(place) != 'd':
            found.append(place)
        else:
            found += [place + '/' + name if place else name for name in LIBMPI_NAMES]
    return found


def _find_intel_libfabric(image, environment, name):
    """
    Return [path] of the libfabric that the wheels open with an Intel MPI that they took by its
    path (str).
    """
    value = dict(
        (
            one,
            (resolve_process_variable(environment, one) or '')
            and resolve_process_variable(environment, one).value
            or '',
        )
        for one in ('I_MPI_FABRICS', 'I_MPI_OFI_LIBRARY_INTERNAL')
    )
    if (
        not name.startswith('/')
        or not image.exists(name)
        or value['I_MPI_FABRICS'] == 'shm'
        or value['I_MPI_OFI_LIBRARY_INTERNAL'].lower() in ('0', 'no', 'off', 'false', 'disable')
        or image.read_traits(name, read_mpi_traits)['family'] != 'Intel MPI'
    ):
        return []
    above = posixpath.dirname(posixpath.dirname(name))
    paths = ['%s/%s/libfabric.so.1' % (above, folder) for folder in _INTEL_LIBFABRIC_FOLDERS]
    return [path for path in paths if image.exists(path)][:1]

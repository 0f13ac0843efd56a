"""
Predict which MPI library a Python program opens through mpi4py.

This module executes nothing in the image. There are two cases. If mpi4py was built with an MPI, the
extension module of mpi4py needs this MPI (DT_NEEDED). If mpi4py was installed as a wheel, mpi4py
searches for an MPI when the program imports mpi4py (mpi4py 4.1.2, _mpiabi.py).
"""

import posixpath
import re
from collections import OrderedDict
from typing import Callable, Dict, List, Optional, Tuple

from osu_container.image.elf import ElfFacts
from osu_container.image.environment import (
    Environment,
    parse_folder_list,
    resolve_process_variable,
)
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.scripts import PYTHON_NAME, LaunchedProgram
from osu_container.image.traits import read_mpi_traits

#: Pattern for the path of mpi4py's extension module. A wheel contains one extension module for each
#: ABI, such as MPI.mpich.cpython-311-x86_64-linux-gnu.so
_LIBRARY_PATTERN = r'.*/mpi4py/MPI(\.\w+)?\.(cpython-|abi3\.)?[^/]*so'
_ABI_LIBRARY = re.compile(r'MPI\.(mpich|openmpi|mpiabi|impi)\.(?:cpython|abi3)')
#: Names of an MPI library that a wheel tries to open, in this order
LIBMPI_NAMES = ['libmpi.so', 'libmpi.so.12', 'libmpi.so.40']
#: MPI family -> name of its ABI in a wheel
_ABIS = {
    'MPICH ABI': 'mpich',
    "MPICH under Debian's own soname": 'mpich',
    'Open MPI': 'openmpi',
    'the standard ABI of MPI 5': 'mpiabi',
}
#: Pattern for Python code that may open another MPI than mpi4py would, or start another program
_MPI_OVERRIDES = re.compile(
    r'\b(CDLL|LoadLibrary|dlopen)\((?!\s*(?:None|r?([\'"])(?:(?!mpi|\2).)*\2))|'
    r'\b(os\.exec\w+|mpi4py\.rc\.|_mpiabi|setdlopenflags)\b|'
    r'os\.(?:environ(?:\[|\.\w+\()|putenv\()\s*[\'"](?:LD_|FI_|MPI|OMPI|I_MPI|PMI|UCX)\w*|'
    r'os\.environ\.update'
)
#: Pattern for Python code that imports mpi4py, and for `-m mpi4py.run`. A comment that mentions
#: mpi4py does not match
_IMPORTS = re.compile(r'''\b(import|from)\s+([\w.]+\s*,\s*)*mpi4py\b|['"]mpi4py\b|-m mpi4py\b''')
#: Pattern for the value to which a program sets MPI4PY_LIBMPI. The program osu-port of this project
#: contains such a line
_LIBMPI = re.compile(r"^LIBMPI = '([\w.:/-]+)'$", re.M)
#: Maximum total size of the libraries in a Python package. Larger packages such as torch are not
#: read
_MAX_LIBRARY_BYTES = 64 * 1024 * 1024
#: Folders in which a wheel looks for the libfabric of an Intel MPI, relative to the parent folder
#: of the MPI's folder lib
_INTEL_LIBFABRIC_FOLDERS = [
    'opt/mpi/libfabric/lib',
    'libfabric/lib',
    'libfabric',
    'lib/libfabric',
    'lib',
]


def uses_mpi4py(image: Image, launched: LaunchedProgram) -> Optional[bool]:
    """
    Return whether a launched program is a Python interpreter that imports mpi4py.

    The result is None if the program is a Python interpreter, but an import of mpi4py is unknown.
    The function assumes that Python without a script imports mpi4py.
    """
    if not launched.program or not re.match(PYTHON_NAME, posixpath.basename(launched.program)):
        return False
    text = _read_program_text(image, launched)
    if not launched.words[1:] or _LIBMPI.search(text):
        return True
    return (
        None
        if _MPI_OVERRIDES.search(text) or not _IMPORTS.search(text) or '-S' in launched.words
        else True
    )


def _read_program_text(image: Image, launched: LaunchedProgram) -> str:
    """Return the Python code that the interpreter runs, '' if the code is unknown."""
    words = [word for word in launched.words[1:] if isinstance(word, str)]
    paths = [word for word in words if not word.startswith('-')]
    if '-c' in words or '-m' in words:
        return ' '.join(words)
    return image.read_text(paths[0]) or '' if paths and image.exists(paths[0]) else ''


def list_imported_libraries(image: Image, launched: LaunchedProgram) -> List[str]:
    """
    Return the paths of extension modules that a Python program may import besides mpi4py.

    The result contains the extension modules of each imported package in which a library needs MPI,
    such as h5py, petsc4py and dtfft.
    """
    modules: List[str] = []
    names = re.findall(r'^(?:import|from)\s+(\w+)', _read_program_text(image, launched), re.M)
    for name in sorted(set(names) - {'mpi4py'}):
        paths = image.find_files(f'.*/(?:site|dist)-packages/{name}/.*[.]so[^/]*')
        if sum(image.tree.entries[path][3] for path in paths) > _MAX_LIBRARY_BYTES:
            continue
        facts = image.read_elf_files(paths)
        if any(re.match('libmpi', soname) for elf in facts.values() for soname in elf.needed):
            modules += [
                path for path in sorted(facts) if re.search(r'[.](cpython-|abi3)[^/]*so$', path)
            ]
    return modules


def find_sys_prefix(image: Image, python: str) -> str:
    """
    Return the value of sys.prefix in the Python interpreter with the path `python`.

    The result is the folder of the virtual environment or of the Python installation. Source:
    docs.python.org, "The initialization of the sys.path module search path".
    """
    prefix = posixpath.dirname(posixpath.dirname(python))
    if image.exists(prefix + '/pyvenv.cfg'):
        return prefix
    return posixpath.dirname(posixpath.dirname(image.resolve(python) or python))


def _find_library_variants(image: Image, launched: LaunchedProgram) -> Dict[str, str]:
    """
    Return {ABI: path} of the extension modules of the mpi4py that a Python program imports.

    If mpi4py was not installed as a wheel, the only key is ''. The result is empty if the image
    contains no mpi4py. The result is also empty if the image contains several mpi4py, and it is
    unknown which mpi4py the program imports.
    """
    folders: Dict[str, Dict[str, str]] = OrderedDict()
    for path in image.find_files(_LIBRARY_PATTERN):
        match = _ABI_LIBRARY.match(posixpath.basename(path))
        variants = folders.setdefault(posixpath.dirname(path), {})
        variants[match.group(1) if match else ''] = path
    if len(folders) < 2:
        return next(iter(folders.values()), {})
    roots, _ = parse_folder_list(launched.environment.variables.get('PYTHONPATH'))
    prefix = find_sys_prefix(image, launched.program or '')
    roots += [prefix + '/local' if prefix == '/usr' else prefix, prefix]
    for root in roots:
        below = [folder for folder in folders if folder.startswith(root + '/')]
        if below:
            return folders[below[0]] if len(below) == 1 else {}
    return {}


def find_opened_libraries(
    image: Image,
    launched: LaunchedProgram,
    load: Callable[[str], Tuple[Optional[ElfFacts], bool]],
) -> Tuple[List[str], Optional[str], Optional[str]]:
    """
    Return (names, missing, reason) for the libraries that Python opens through mpi4py.

    names: names or paths that mpi4py passes to dlopen(). missing: text with the names of the
    libraries that mpi4py does not find, otherwise None. reason: why the libraries are unknown,
    otherwise None. load: function load(name) that returns (ElfFacts of the file that ld.so finds
    for the name, whether ld.so can load this file). The ElfFacts are None if ld.so finds no file.
    """
    libraries = _find_library_variants(image, launched)
    if not libraries:
        return (
            [],
            None,
            'the image contains several mpi4py, and it is unknown which mpi4py '
            f'{launched.program} imports'
            if image.find_files(_LIBRARY_PATTERN)
            else f'the image contains no mpi4py for the Python {launched.program}',
        )
    if '' in libraries:
        return [libraries['']], None, None
    abi, libmpi = (
        resolve_process_variable(launched.environment, name)
        for name in ('MPI4PY_MPIABI', 'MPI4PY_LIBMPI')
    )
    if any(variable and variable.value is None for variable in (abi, libmpi)):
        return [], None, "the value of MPI4PY_LIBMPI or MPI4PY_MPIABI in the image is unknown"
    if abi and abi.value:
        name = re.sub('[ _-]', '', abi.value).lower().replace('impi', 'mpich')
        return (
            ([libraries[name]], None, None)
            if name in libraries
            else ([], 'MPI of ABI ' + abi.value, None)
        )
    declared = _LIBMPI.search(_read_program_text(image, launched))
    setting = libmpi.value if libmpi else declared.group(1) if declared else None
    failing = []
    for name in _list_libmpi_candidates(image, launched, setting):
        facts, is_loadable = load(name)
        family = MPI_FAMILIES.get(facts.soname or '') if facts else None
        if family and not is_loadable:
            failing.append(name)
        elif family:
            library = libraries.get(_ABIS.get(family, ''))
            fabrics = _find_intel_libfabric(image, launched.environment, name)
            return (
                [name] + fabrics + ([library] if library else []),
                None if library else f'mpi4py for {family}',
                None,
            )
    return (
        failing[:1],
        None if failing else ', '.join(LIBMPI_NAMES[:-1]) + ' or ' + LIBMPI_NAMES[-1],
        None,
    )


def _list_libmpi_candidates(
    image: Image, launched: LaunchedProgram, libmpi: Optional[str]
) -> List[str]:
    """
    Return the names and paths of MPI libraries that a wheel of mpi4py tries to open.

    The result has the order in which mpi4py tries the libraries. libmpi: value of MPI4PY_LIBMPI,
    None if the variable is unset.
    """
    python = launched.program or ''
    base = posixpath.dirname(posixpath.dirname(image.resolve(python) or python))
    places = (
        libmpi.split(':')
        if libmpi is not None
        else [
            prefix + '/lib'
            for prefix in OrderedDict.fromkeys([find_sys_prefix(image, python), base])
            if prefix not in ('/usr', '', '/')
        ]
        + ['']
    )
    names = []
    for place in places:
        if place and image.find_file_type(place) != 'd':
            names.append(place)
        else:
            names += [place + '/' + name if place else name for name in LIBMPI_NAMES]
    return names


def _find_intel_libfabric(image: Image, environment: Environment, name: str) -> List[str]:
    """
    Return [path] of the libfabric that a wheel of mpi4py opens for an Intel MPI.

    name: path of the MPI library. The result is empty in three cases: the library is not an Intel
    MPI; `name` is not a path; or the environment variables of Intel MPI select no such libfabric.
    """
    fabrics, internal = (
        variable and variable.value or ''
        for variable in (
            resolve_process_variable(environment, setting)
            for setting in ('I_MPI_FABRICS', 'I_MPI_OFI_LIBRARY_INTERNAL')
        )
    )
    if (
        not name.startswith('/')
        or not image.exists(name)
        or fabrics == 'shm'
        or internal.lower() in ('0', 'no', 'off', 'false', 'disable')
        or image.read_traits(name, read_mpi_traits)['family'] != 'Intel MPI'
    ):
        return []
    above = posixpath.dirname(posixpath.dirname(name))
    paths = [f'{above}/{folder}/libfabric.so.1' for folder in _INTEL_LIBFABRIC_FOLDERS]
    return [path for path in paths if image.exists(path)][:1]

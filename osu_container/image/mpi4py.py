"""
Predict which MPI library a Python program opens through mpi4py.

This module executes nothing in the image. There are two cases. If mpi4py was built with an MPI, the
extension module of mpi4py needs this MPI (DT_NEEDED). If mpi4py was installed as a wheel, mpi4py
searches for an MPI when the program imports mpi4py (mpi4py 4.1.2, _mpiabi.py).
"""

import posixpath
import re
from typing import Callable, List, NamedTuple, Optional, Tuple

from osu_container.image.elf import ElfFacts
from osu_container.image.environment import (
    PYTHON_NAME,
    Environment,
    LaunchedProgram,
    resolve_process_variable,
)
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.traits import read_mpi_traits

#: Pattern for the file name of mpi4py's extension module. A wheel contains one extension module for
#: each ABI, such as MPI.mpich.cpython-311-x86_64-linux-gnu.so. Its group is the ABI; %s is the
#: version of Python
_LIBRARY_NAME = r'(?m)^MPI(?:\.(mpich|openmpi|mpiabi|impi))?\.(?:cpython-%s-.*\.|abi3\.|)so$'
#: Names of an MPI library that a wheel tries to open, in this order
LIBMPI_NAMES = ['libmpi.so', 'libmpi.so.12', 'libmpi.so.40']
#: MPI family -> name of its ABI in a wheel
_ABIS = {
    'MPICH ABI': 'mpich',
    "MPICH under Debian's own soname": 'mpich',
    "Cray MPICH under HPE's own soname": 'mpich',
    'Open MPI': 'openmpi',
    'the standard ABI of MPI 5': 'mpiabi',
}
#: Pattern for Python code that may import another mpi4py or open another MPI than mpi4py would, or
#: that may start another program
_MPI_OVERRIDES = re.compile(
    r'\b(CDLL|LoadLibrary|dlopen)\((?!\s*(?:None|r?([\'"])(?:(?!mpi|\2).)*\2))|'
    r'\b(os\.exec\w+|os\.spawn\w+|os\.system|subprocess|runpy|importlib|__import__|exec\(|'
    r'_mpiabi|setdlopenflags|sys\.path|sys\.modules|addsitedir)|\brc\b|'
    r'os\.(?:environ(?:\[|\.\w+\()|putenv\()\s*[\'"](?:LD_|FI_|MPI|OMPI|I_MPI|PMI|UCX)\w*|'
    r'os\.environ\.update'
)
#: Options of Python without a value. -E, -P and -S change where Python looks for modules
_OPTIONS = re.compile(r'-[bBdEIOPqsSuv]+$')
#: Modules that do not change which MPI mpi4py opens: mpi4py, NumPy and modules of Python
_KNOWN_MODULES = (
    'mpi4py|argparse|array|atexit|collections|contextlib|copy|csv|ctypes|dataclasses|datetime|enum|'
    'functools|gc|getpass|glob|io|itertools|json|logging|math|numpy|operator|os|pathlib|pickle|'
    'platform|pprint|random|re|shutil|signal|socket|statistics|string|struct|sys|tempfile|textwrap|'
    'threading|time|traceback|typing|uuid|warnings|__future__'
)
#: Pattern for a statement that imports a module
_ANY_IMPORT = re.compile(r'(?m)(?:^|;[ \t]*)(?![ \t]*#)([^\n;]*\bimport\b[^\n;]*)')
#: Pattern for a statement that imports from one known module, and is not indented
_KNOWN_IMPORT = re.compile(
    rf'import\s+(?:{_KNOWN_MODULES})(?:\.[\w.]+)?(?:\s+as\s+\w+)?\s*(?:#.*)?$|'
    rf'from\s+(?:{_KNOWN_MODULES})(?:\.[\w.]+)?\s+import\s'
)
#: Pattern for files, and for options of Python, that may change sys.path. The files of setuptools and
#: of namespace packages do not change sys.path
_PATH_CHANGE = re.compile(
    r'(?!(?:distutils-precedence|[\w.-]+-nspkg)\.pth$).*\.pth$|(?:site|user)customize|-\w*[EPS]'
)
#: Pattern for a line that sets MPI4PY_LIBMPI to names of libraries. The program osu-port of this
#: project contains such a line
_LIBMPI = re.compile(r"^LIBMPI = '([\w.+/-]*\.so[\d.]*(?::[\w.+/-]*\.so[\d.]*)*)'$", re.M)


class PythonProgram(NamedTuple):
    """A Python interpreter and the code that it runs."""

    path: str  #: path of the interpreter in the image
    options: List[str]  #: options of the interpreter before the code
    text: str  #: the code, '' for an interpreter without a script
    script: Optional[str]  #: path of the script in the image, None for -c, -m and no script
    problem: Optional[str]  #: why the code may import another mpi4py or MPI, None if it does not

    @property
    def uses_numpy(self) -> bool:
        """Whether the code imports NumPy."""
        return bool(re.search(r'\b(import|from)\s+numpy\b', self.text))

    @property
    def has_own_folder(self) -> bool:
        """Whether the code is the script osu-port, which selects this project's build of mpi4py."""
        return bool(_LIBMPI.search(self.text))


def read_python_program(image: Image, launched: LaunchedProgram) -> Optional[PythonProgram]:
    """
    Return a launched program as a PythonProgram, None if the program is not Python.

    The function assumes that Python without a script imports mpi4py.
    """
    path = launched.program or ''
    if not re.match(PYTHON_NAME, posixpath.basename(path)):
        return None
    words = list(map(str, launched.words[1:]))
    options: List[str] = []
    while words and _OPTIONS.match(words[0]):
        options.append(words.pop(0))
    text, script, name = '', None, ' '.join(words[:2])
    if name.startswith('-c '):
        text = words[1]
    elif name.startswith('/'):
        script, text = words[0], image.read_text(words[0]) or ''
    python = PythonProgram(path, options, text, script, None)
    if not name or name.startswith('-m mpi4py') or python.has_own_folder:
        return python
    problem = _find_code_problem(image, text, script)
    return python._replace(problem=problem and f'the Python program {name[:80]}: {problem}')


def _find_code_problem(image: Image, text: str, script: Optional[str]) -> Optional[str]:
    """
    Return why Python code may load no MPI, or an MPI that mpi4py does not select.

    The result is None if the code imports mpi4py, and if _KNOWN_MODULES has all other modules that
    the code imports.
    """
    override = _MPI_OVERRIDES.search(text)
    if override:
        return f'the code uses {override.group().strip()}'
    for line in _ANY_IMPORT.findall(text):
        if not _KNOWN_IMPORT.match(line):
            return f'cannot tell what `{line.strip()[:80]}` imports'
    # Python looks for modules first in the folder of the script.
    folder = posixpath.dirname(image.resolve(script or '') or '')
    modules = rf'(?:{_KNOWN_MODULES})(?:/__init__\.py|\.[^/]+)'
    siblings = image.find_folder_files(folder, modules) if script else []
    if siblings:
        return f'Python may import {siblings[0]}'
    is_user = re.search(r'(?m)(?:^|;[ \t]*)(?:import|from)\s+mpi4py\b', text)
    return None if is_user else 'the code does not import mpi4py itself'


def _list_prefixes(image: Image, python: str) -> List[str]:
    """
    Return [sys.prefix] of `python`; in a virtual environment [sys.prefix, sys.base_prefix].

    sys.prefix is the folder of the virtual environment, or else of the Python installation.
    sys.base_prefix is always the folder of the Python installation. Source: docs.python.org, "The
    initialization of the sys.path module search path".
    """
    paths = (python, image.resolve(python) or '')
    prefix, base = (posixpath.dirname(posixpath.dirname(path)) for path in paths)
    return [prefix, base] if image.exists(prefix + '/pyvenv.cfg') else [base]


def _find_folder(
    image: Image, python: PythonProgram, environment: Environment
) -> Tuple[str, Optional[str]]:
    """
    Return (folder of mpi4py, reason) for the mpi4py that a Python program imports.

    reason: why it is not certain which mpi4py Python finds, otherwise None. The image may contain
    several mpi4py, no mpi4py, or a single mpi4py that Python may not find. Source: Debian Python
    Policy, "Module path".
    """
    prefixes = _list_prefixes(image, python.path)
    name = posixpath.basename(image.resolve(python.path) or '')
    is_debian = image.find_file_type(prefixes[0] + '/lib/python3/dist-packages')
    kind = f'(?:python3|{name})/{"dist" if is_debian else "site"}-packages'
    # Several folders are no match, because the pattern contains no comma.
    pattern = rf'{re.escape(prefixes[0])}(?:/local)?/lib(?:64)?/{kind}/mpi4py'
    files = image.find_files(r'.*/mpi4py/MPI[^/]*\.so')
    folder = ', '.join(sorted({posixpath.dirname(file) for file in files}))
    packages = image.list_folder(posixpath.dirname(folder))
    library = image.list_folder(f'{prefixes[-1]}/lib/{name}')
    causes = [
        variable
        for variable in ('PYTHONHOME', 'PYTHONPATH')
        if resolve_process_variable(environment, variable)
    ]
    causes += filter(_PATH_CHANGE.match, [*python.options, *packages])
    causes += ['the lack of ctypes'] * ('os.py' in library and 'ctypes' not in library)
    causes += ['the lack of numpy'] * (python.uses_numpy and 'numpy' not in packages)
    causes += [] if re.fullmatch(pattern, folder) else [folder or 'an image without mpi4py']
    reason = f'cannot tell which Python modules {python.path} finds, because of {", ".join(causes)}'
    return folder, reason if causes else None


def find_opened_libraries(
    image: Image,
    launched: LaunchedProgram,
    python: PythonProgram,
    load: Callable[[str], Tuple[Optional[ElfFacts], bool]],
    origin: Optional[str] = None,
) -> Tuple[List[str], Optional[str], Optional[str]]:
    """
    Return (names, missing, reason) for the libraries that Python opens through mpi4py.

    names: names or paths that mpi4py passes to dlopen(). missing: text with the names of the
    libraries that mpi4py does not find, otherwise None. reason: why the libraries are unknown,
    otherwise None. load: function load(name) that returns (ElfFacts of the file that ld.so finds
    for the name, whether ld.so can load this file). The ElfFacts are None if ld.so finds no file.
    origin: path of mpi4py's extension module that the interpreter found in a dry run, or None.
    """
    folder, reason = posixpath.dirname(origin or ''), None
    if python.has_own_folder:
        script = image.resolve(python.script or '') or ''
        folder = re.sub('[^/]+/[^/]+$', 'lib/python/mpi4py', script)
    elif not origin:
        folder, reason = _find_folder(image, python, launched.environment)
    version = re.sub(r'\D', '', posixpath.basename(image.resolve(python.path) or ''))
    files = re.finditer(_LIBRARY_NAME % version, '\n'.join(image.list_folder(folder)))
    # {ABI: path}. If mpi4py was not installed as a wheel, the only key is ''.
    libraries = {match.group(1) or '': f'{folder}/{match.group()}' for match in files}
    abi, libmpi = (
        resolve_process_variable(launched.environment, name)
        for name in ('MPI4PY_MPIABI', 'MPI4PY_LIBMPI')
    )
    selected = _LIBMPI.search(f"LIBMPI = '{libmpi.value}'" if libmpi else python.text)
    if reason or not libraries:
        return [], None, reason or f'{folder} has no mpi4py for the Python version of {python.path}'
    if '' in libraries:
        return [libraries['']], None, None
    if abi or libmpi and not selected:
        return [], None, 'MPI4PY_MPIABI, or MPI4PY_LIBMPI with an unknown value, selects the MPI'
    # mpi4py tries names in the folders of Python, and then lets ld.so search.
    names = [
        f'{prefix}/lib/{name}'
        for prefix in _list_prefixes(image, python.path)
        for name in LIBMPI_NAMES
        if prefix != '/usr'
    ]
    failing: List[str] = []
    for name in selected.group(1).split(':') if selected else names + LIBMPI_NAMES:
        facts, is_loadable = load(name)
        family = MPI_FAMILIES.get(facts.soname or '', '') if facts else ''
        library = libraries.get(_ABIS.get(family, ''))
        if family and not is_loadable:
            failing.append(name)
        elif family:
            # Intel MPI may open a libfabric of its own.
            traits = image.read_traits(name, read_mpi_traits) if image.exists(name) else {}
            if library and traits.get('family') != 'Intel MPI':
                return [name, library], None, None
            return [], None, f'cannot tell which libraries mpi4py opens together with {name}'
    return failing[:1], None if failing else ' or '.join(LIBMPI_NAMES), None

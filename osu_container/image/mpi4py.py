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
    UndeterminedError,
    resolve_process_variable,
)
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.traits import read_mpi_traits

#: Pattern for the file name of mpi4py's extension module. A wheel contains one extension module for
#: each ABI, such as MPI.mpich.cpython-311-x86_64-linux-gnu.so. Its groups are the ABI and the version
#: of Python
_LIBRARY_NAME = re.compile(
    r'/MPI(?:\.(mpich|openmpi|mpiabi|impi))?\.(?:cpython-(\d+)-[^/]*\.|abi3\.|)so$'
)
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
#: Pattern for a line that imports from one module, and is not indented
_IMPORT = re.compile(
    r'(?:import(?=\s+[\w.]+(?:\s+as\s+\w+)?\s*(?:#.*)?$)|from(?=\s+[\w.]+\s+import\s))\s+(\w+)'
)
#: Options of Python without a value. -E, -P and -S change where Python looks for modules
_OPTIONS = re.compile(r'-[bBdEIOPqsSuv]+$')
#: Modules that do not change which MPI mpi4py opens: mpi4py, NumPy and modules of Python
_KNOWN_MODULES = frozenset(
    'mpi4py argparse array atexit collections contextlib copy csv ctypes dataclasses datetime enum '
    'functools gc getpass glob io itertools json logging math numpy operator os pathlib pickle '
    'platform pprint random re shutil signal socket statistics string struct sys tempfile textwrap '
    'threading time traceback typing uuid warnings __future__'.split()
)
#: Pattern for files that may change sys.path. The files of setuptools and of namespace packages do
#: not change sys.path
_PATH_CHANGE = re.compile(
    r'(?!(?:distutils-precedence|[\w.-]+-nspkg)\.pth$).*\.pth$|(?:site|user)customize'
)
#: Pattern for the value to which a program sets MPI4PY_LIBMPI. The program osu-port of this project
#: contains such a line
_LIBMPI = re.compile(r"^LIBMPI = '([\w.:/-]+)'$", re.M)


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
        """Whether the code is this project's osu-port, which inserts a folder with mpi4py."""
        return bool(_LIBMPI.search(self.text))


def read_python_program(image: Image, launched: LaunchedProgram) -> Optional[PythonProgram]:
    """
    Return the PythonProgram that a launched program is, None for other programs.

    The function assumes that Python without a script imports mpi4py.
    """
    path = launched.program
    if not path or not re.match(PYTHON_NAME, posixpath.basename(path)):
        return None
    words = [word if isinstance(word, str) else '' for word in launched.words[1:]]
    options: List[str] = []
    while words and _OPTIONS.match(words[0]):
        options.append(words.pop(0))
    text, script, problem = '', None, None
    if words[:1] == ['-c']:
        text = ''.join(words[1:2])
    elif words and words[0].startswith('/') and image.exists(words[0]):
        script, text = words[0], image.read_text(words[0]) or ''
    # The launcher osu-port of this project contains a line with LIBMPI.
    if words and not re.match(r'-m mpi4py\b', ' '.join(words)) and not _LIBMPI.search(text):
        name = ' '.join(words[: 1 + (words[0] == '-m')])
        problem = _find_code_problem(image, text, script)
        problem = problem and f'the Python program {name}: {problem}'
    return PythonProgram(path, options, text, script, problem)


def _find_code_problem(image: Image, text: str, script: Optional[str]) -> Optional[str]:
    """
    Return the reason why Python code may load another MPI than mpi4py loads, or no MPI.

    The result is None if the code imports mpi4py, and otherwise only modules in _KNOWN_MODULES.
    """
    override, names = _MPI_OVERRIDES.search(text), set()
    if override:
        return f'the code uses {override.group().strip()}'
    # Python looks for modules first in the folder of the script.
    siblings = image.list_folder(posixpath.dirname(image.resolve(script) or '')) if script else []
    for line in re.findall(r'(?m)(?:^|;[ \t]*)(?![ \t]*#)([^\n;]*\bimport\b[^\n;]*)', text):
        match = _IMPORT.match(line)
        name = match.group(1) if match else ''
        if name not in _KNOWN_MODULES or name in siblings or name + '.py' in siblings:
            return f'cannot tell what `{line.strip()[:80]}` imports'
        names.add(name)
    return None if 'mpi4py' in names else 'the code does not import mpi4py itself'


def _list_prefixes(image: Image, python: str) -> List[str]:
    """
    Return [sys.prefix] of `python`; in a virtual environment [sys.prefix, sys.base_prefix].

    sys.prefix is the folder of the virtual environment, or else of the Python installation.
    sys.base_prefix is always the folder of the Python installation. Source: docs.python.org, "The
    initialization of the sys.path module search path".
    """
    prefix = posixpath.dirname(posixpath.dirname(python))
    base = posixpath.dirname(posixpath.dirname(image.resolve(python) or python))
    return [prefix, base] if image.exists(prefix + '/pyvenv.cfg') and prefix != base else [base]


def _find_folder(
    image: Image, python: PythonProgram, environment: Environment
) -> Tuple[str, Optional[str]]:
    """
    Return (folder of mpi4py, version such as '311') for the mpi4py that a Python program imports.

    Raises UndeterminedError if it is not certain which mpi4py Python finds: the image contains
    several mpi4py, no mpi4py, or a single mpi4py that Python may not find. Source: Debian Python
    Policy, "Module path".
    """
    prefixes = _list_prefixes(image, python.path)
    name = posixpath.basename(image.resolve(python.path) or '')
    is_debian = prefixes[0] == '/usr' and image.find_file_type('/usr/lib/python3/dist-packages')
    kind = f'(?:python3|{name})/{"dist" if is_debian else "site"}-packages'
    pattern = rf'{re.escape(prefixes[0])}(?:/local)?/lib(?:64)?/{kind}/mpi4py$'
    folders = sorted(set(map(posixpath.dirname, image.find_files(r'.*/mpi4py/MPI[^/]*\.so'))))
    if len(folders) != 1 or not re.match(pattern, folders[0]):
        places = ', '.join(folders) or 'the image'
        raise UndeterminedError(
            f'cannot tell which mpi4py, if any, {python.path} finds in {places}'
        )
    packages = image.list_folder(posixpath.dirname(folders[0]))
    library = image.list_folder(f'{prefixes[-1]}/lib/{name}')
    causes = [option for option in python.options if re.search('[EPS]', option)]
    for variable in ('PYTHONHOME', 'PYTHONPATH'):
        value = resolve_process_variable(environment, variable)
        causes += [variable] * bool(value and value.value != '')
    causes += filter(_PATH_CHANGE.match, packages)
    causes += ['the lack of ctypes'] * ('os.py' in library and 'ctypes' not in library)
    causes += ['the lack of numpy'] * (python.uses_numpy and 'numpy' not in packages)
    if causes:
        raise UndeterminedError(f'{causes[0]} may change which modules {python.path} finds')
    return folders[0], re.sub(r'\D', '', name)


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
    if python.has_own_folder:
        above = posixpath.dirname(posixpath.dirname(image.resolve(python.script or '') or ''))
        origin = f'{above}/lib/python/mpi4py/MPI.so'
    match = _LIBRARY_NAME.search(origin or '')
    try:
        folder, version = posixpath.dirname(origin or ''), match and match.group(2)
        if not origin:
            folder, version = _find_folder(image, python, launched.environment)
    except UndeterminedError as err:
        return [], None, str(err)
    libraries = {}  # {ABI: path}. If mpi4py was not installed as a wheel, the only key is ''.
    for name in image.list_folder(folder):
        match = _LIBRARY_NAME.match('/' + name)
        if match and (not version or match.group(2) in (None, version)):
            libraries[match.group(1) or ''] = f'{folder}/{name}'
    if not libraries:
        return [], None, f'{python.path} finds no mpi4py of its version in {folder}'
    if '' in libraries:
        return [libraries['']], None, None
    abi, libmpi = (
        resolve_process_variable(launched.environment, name)
        for name in ('MPI4PY_MPIABI', 'MPI4PY_LIBMPI')
    )
    if abi and abi.value != '' or libmpi and libmpi.value is None:
        return [], None, 'MPI4PY_MPIABI or an unknown MPI4PY_LIBMPI of the image selects the MPI'
    # mpi4py tries names in the folders of Python, and then lets ld.so search.
    prefixes = [prefix for prefix in _list_prefixes(image, python.path) if prefix != '/usr']
    places = [prefix + '/lib' for prefix in prefixes] + ['']
    for selected in _LIBMPI.findall(python.text) + ([libmpi.value] if libmpi else []):
        places = selected.split(':')
    names: List[str] = []
    for place in places:
        is_file = place and image.find_file_type(place) != 'd'
        names += [place] if is_file else [posixpath.join(place, name) for name in LIBMPI_NAMES]
    failing = []
    for name in names:
        facts, is_loadable = load(name)
        family = MPI_FAMILIES.get(facts.soname or '') if facts else None
        library = libraries.get(_ABIS.get(family or '', ''))
        if family and not is_loadable:
            failing.append(name)
        elif family and not library:
            return [name], f'mpi4py for {family}', None
        elif library:
            is_file = name[:1] == '/' and image.exists(name)
            if is_file and image.read_traits(name, read_mpi_traits)['family'] == 'Intel MPI':
                return [], None, f'mpi4py may open a libfabric of its own for {name}'
            return [name, library], None, None
    missing = ', '.join(LIBMPI_NAMES[:-1]) + ' or ' + LIBMPI_NAMES[-1]
    return failing[:1], None if failing else missing, None

"""
Predict which MPI library a Python program opens through mpi4py.

This module executes nothing in the image. There are two cases. If mpi4py was built with an MPI, the
extension module of mpi4py needs this MPI (DT_NEEDED). If mpi4py was installed as a wheel, mpi4py
searches for an MPI when the program imports mpi4py (mpi4py 4.1.2, _mpiabi.py).
"""

import itertools
import posixpath
import re
from collections import OrderedDict
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from osu_container.image.elf import ElfFacts
from osu_container.image.environment import (
    Environment,
    resolve_process_variable,
)
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.scripts import PYTHON_NAME, LaunchedProgram
from osu_container.image.traits import read_mpi_traits

#: Pattern for the file name of mpi4py's extension module. A wheel contains one extension module for
#: each ABI, such as MPI.mpich.cpython-311-x86_64-linux-gnu.so. Its groups are the ABI and the version
#: of Python
_LIBRARY_NAME = re.compile(
    r'MPI(?:\.(mpich|openmpi|mpiabi|impi))?\.(?:cpython-(\d+)-[^/]*\.|abi3\.|)so$'
)
#: Names of an MPI library that a wheel tries to open, in this order
LIBMPI_NAMES = ['libmpi.so', 'libmpi.so.12', 'libmpi.so.40']
#: MPI family -> name of its ABI in a wheel
_ABIS = {
    'MPICH ABI': 'mpich',
    "MPICH under Debian's own soname": 'mpich',
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
#: Pattern for a statement of Python that imports from one module, and is not indented
_IMPORT = re.compile(
    r'import\s+(\w+)[\w.]*(\s+as\s+\w+)?\s*(?:#.*)?$|from\s+(\w+)[\w.]*\s+import\s'
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
#: Files with which setuptools and namespace packages extend Python, without a change of sys.path
_HARMLESS_PTH = re.compile(r'(distutils-precedence|[\w.-]+-nspkg)\.pth$')
#: Pattern for the value to which a program sets MPI4PY_LIBMPI. The program osu-port of this project
#: contains such a line
_LIBMPI = re.compile(r"^LIBMPI = '([\w.:/-]+)'$", re.M)


#: Line of Python that searches a folder before all other folders
_FIRST_FOLDER = re.compile(r"^sys\.path\.insert\(0, (['\"])(/[\w./-]+)\1\)$", re.M)


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
    def first_folders(self) -> List[str]:
        """The folders that the code puts first in sys.path."""
        return [match.group(2) for match in _FIRST_FOLDER.finditer(self.text)][::-1]

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
    options = list(itertools.takewhile(_OPTIONS.match, words))
    words = words[len(options) :]
    script = words[0] if words and words[0].startswith('/') and image.exists(words[0]) else None
    text = ''.join(words[1:2]) if words[:1] == ['-c'] else ''
    folder = ''
    if script:
        text = image.read_text(script) or ''
        folder = posixpath.dirname(image.resolve(script) or '')
    problem: Optional[str] = None
    # The launcher osu-port of this project contains a line with LIBMPI.
    if words and not re.match(r'-m mpi4py\b', ' '.join(words)) and not _LIBMPI.search(text):
        problem = _find_code_problem(image, text, folder) if text else 'the code is unknown'
    if problem:
        problem = f"the Python program {' '.join(words[: 1 + (words[0] == '-m')])}: {problem}"
    return PythonProgram(path, options, text, script, problem)


def _find_code_problem(image: Image, text: str, folder: str) -> Optional[str]:
    """
    Return why Python code cannot be followed plainly, None if the code imports mpi4py.

    folder: folder of the script, in which Python looks for modules first.
    """
    folders = [folder] + [match.group(2) for match in _FIRST_FOLDER.finditer(text)]
    override = _MPI_OVERRIDES.search(_FIRST_FOLDER.sub('', text))
    if override:
        return f'the code uses {override.group().strip()}'
    names = set()
    for line in re.split(r'\n|;[ \t]*', text):
        match = _IMPORT.match(line)
        name = match.group(1) or match.group(3) if match else None
        if (
            name is None
            and re.match(r'(?!\s*#).*\bimport\b', line)
            or name
            and (
                name not in _KNOWN_MODULES
                or any(image.find_file_type(f'{place}/{name}.py') for place in folders)
                or any(
                    image.find_file_type(f'{place}/{name}') == 'd'
                    for place in folders[: 1 if name == 'mpi4py' else None]
                )
            )
        ):
            return f'cannot tell what `{line.strip()[:80]}` imports'
        names.add(name)
    return None if 'mpi4py' in names else 'the code does not import mpi4py itself'


def _find_prefixes(image: Image, python: str) -> Tuple[str, str]:
    """
    Return the values of sys.prefix and sys.base_prefix in the Python interpreter `python`.

    sys.prefix is the folder of the virtual environment or of the Python installation. Source:
    docs.python.org, "The initialization of the sys.path module search path".
    """
    prefix = posixpath.dirname(posixpath.dirname(python))
    base = posixpath.dirname(posixpath.dirname(image.resolve(python) or python))
    return prefix if image.exists(prefix + '/pyvenv.cfg') else base, base


def _list_site_folders(image: Image, python: str) -> Tuple[str, List[str]]:
    """
    Return (version, site-packages folders) of the Python interpreter with the path `python`.

    The version is '311' for Python 3.11. If the version is unknown, the result is ('', []).
    Sources: docs.python.org, "The initialization of the sys.path module search path"; Debian Python
    Policy, "Module path".
    """
    prefix, base = _find_prefixes(image, python)
    names = [posixpath.basename(image.resolve(python) or python)]
    names += image.list_folder(base + '/lib')
    versions = re.findall(r'\bpython(\d\.\d+)\b', ' '.join(names))
    if not versions or len(set(versions)) > 1 and names[0] != 'python' + versions[0]:
        return '', []
    name, folders = 'python' + versions[0], []
    config = image.read_text(prefix + '/pyvenv.cfg') or ''
    is_shared = re.search(r'(?im)^include-system-site-packages *= *true', config)
    debian = [f'/usr/local/lib/{name}/dist-packages', '/usr/lib/python3/dist-packages']
    for site in [prefix, base] if is_shared else [prefix]:
        if site == '/usr' and any(image.find_file_type(folder) for folder in debian):
            folders += debian
            continue
        for root in ['/usr/local', '/usr'] if site == '/usr' else [site]:
            folders += [f'{root}/{lib}/{name}/site-packages' for lib in ('lib', 'lib64')]
    return versions[0].replace('.', ''), folders


def _find_library_variants(
    image: Image, python: PythonProgram, environment: Environment, origin: Optional[str]
) -> Tuple[Dict[str, str], Optional[str]]:
    """
    Return ({ABI: path}, problem) for the mpi4py that a Python program imports.

    The dict has the extension modules of mpi4py. If mpi4py was not installed as a wheel, the only
    key is ''. origin: path of the extension module that the interpreter found in a dry run, None
    without a dry run. problem: why mpi4py is unknown, otherwise None.
    """
    if python.has_own_folder:
        above = posixpath.dirname(posixpath.dirname(image.resolve(python.script or '') or ''))
        origin = f'{above}/lib/python/mpi4py/MPI.so'
    if origin:
        match = _LIBRARY_NAME.match(posixpath.basename(origin))
        version = match.group(2) or '' if match else ''
        folders = [posixpath.dirname(posixpath.dirname(origin))]
    else:
        if re.search('[EPS]', ''.join(python.options)):
            return {}, f"{' '.join(python.options)} may change which modules {python.path} finds"
        for name in ('PYTHONHOME', 'PYTHONPATH'):
            variable = resolve_process_variable(environment, name)
            if variable and variable.value != '':
                return {}, f'{name} of the image may change which modules {python.path} finds'
        version, folders = _list_site_folders(image, python.path)
        folders = python.first_folders + folders
        if not version:
            return {}, f'the version of {python.path} is unknown'
    files = [(folder, image.list_folder(folder)) for folder in folders]
    for folder, names in [] if origin else files:
        for name in names:
            is_pth = name.endswith('.pth') and not _HARMLESS_PTH.match(name)
            if is_pth or re.match('(site|user)customize', name):
                return {}, f'{folder}/{name} may change which modules Python finds'
    if python.uses_numpy and not origin and not any('numpy' in names for _, names in files):
        return {}, f'{python.path} finds no numpy in the image'
    folder = next((folder for folder, names in files if 'mpi4py' in names), '')
    variants = {}
    for name in image.list_folder(folder + '/mpi4py') if folder else ():
        match = _LIBRARY_NAME.match(name)
        if match and (not version or match.group(2) in (None, version)):
            variants[match.group(1) or ''] = f'{folder}/mpi4py/{name}'
    for path in image.find_files(r'.*/python3\.\d+/os\.py') if variants and not origin else []:
        if '' not in variants and 'ctypes' not in image.list_folder(posixpath.dirname(path)):
            return {}, f'{posixpath.dirname(path)} has no module ctypes, which mpi4py needs'
    problem = f'{python.path} finds no mpi4py of its version in {folder or ", ".join(folders)}'
    return variants, None if variants else problem


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
    libraries, problem = _find_library_variants(image, python, launched.environment, origin)
    if problem:
        return [], None, problem
    if '' in libraries:
        return [libraries['']], None, None
    abi, libmpi = (
        resolve_process_variable(launched.environment, name)
        for name in ('MPI4PY_MPIABI', 'MPI4PY_LIBMPI')
    )
    if abi and abi.value != '' or libmpi and libmpi.value is None:
        return [], None, 'MPI4PY_MPIABI or an unknown MPI4PY_LIBMPI of the image selects the MPI'
    declared = _LIBMPI.search(python.text)
    setting = libmpi.value if libmpi else declared.group(1) if declared else None
    failing = []
    for name in _list_libmpi_candidates(image, launched, setting):
        facts, is_loadable = load(name)
        family = MPI_FAMILIES.get(facts.soname or '') if facts else None
        if family and not is_loadable:
            failing.append(name)
        elif family:
            if name.startswith('/') and image.exists(name):
                if image.read_traits(name, read_mpi_traits)['family'] == 'Intel MPI':
                    return [], None, f'mpi4py may open a libfabric of its own for {name}'
            library = libraries.get(_ABIS.get(family, ''))
            names = [name] + ([library] if library else [])
            return names, None if library else f'mpi4py for {family}', None
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
    prefixes = OrderedDict.fromkeys(_find_prefixes(image, launched.program or ''))
    places = [prefix + '/lib' for prefix in prefixes if prefix not in ('/usr', '', '/')] + ['']
    if libmpi is not None:
        places = libmpi.split(':')
    names = []
    for place in places:
        if place and image.find_file_type(place) != 'd':
            names.append(place)
        else:
            names += [place + '/' + name if place else name for name in LIBMPI_NAMES]
    return names

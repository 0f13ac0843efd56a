"""
Simulate ld.so in a container: which file is loaded for each needed library.

Nothing is executed. The search is that of glibc (ld.so(8); elf/dl-load.c and dl-deps.c): DT_RPATH
of the library with the need and of its requesters (only without DT_RUNPATH), DT_RPATH of the
program, LD_LIBRARY_PATH, DT_RUNPATH of the library, the cache and the default folders; in each
folder, subfolders for newer processors come first. A name or soname that is loaded is not searched
again; a file found under a second name is not loaded twice. Files for another processor are skipped;
a file that is no library stops the search.

For a program with the interpreter of musl the search is that of musl (ldso/dynlink.c,
load_library): LD_LIBRARY_PATH, then DT_RUNPATH or DT_RPATH of the library and of its requesters,
then musl's folders. Names of the C library mean the loader itself; musl ignores sonames and
versions, and resolves all symbols at load time.

image/system.py knows the default search of each loader. LD_AUDIT is not simulated.
"""

import posixpath
import re
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from osu_container.image.elf import ElfFacts
from osu_container.image.system import LoaderConfig

#: The files of a container or host (Python 3.6 has no Protocol): exists(path) -> bool,
#: resolve(path) -> path without links, read_elf_files(paths) -> {path: (origin, ElfFacts)} of the
#: ELF files, read_loader_config(path of an interpreter, None for the usual one) -> LoaderConfig
ContainerFiles = Any


class LoadedFile(NamedTuple):
    """One file in a process."""

    #: as requested
    name: str
    #: in the container
    path: str
    #: 'image' or 'host'
    origin: str
    facts: ElfFacts
    #: LoadedFile that needs it, None for those that the search starts with
    requester: Optional['LoadedFile']


class Process(NamedTuple):
    """The files that ld.so loads into a process, and its failures."""

    #: in the order of loading
    loaded: List[LoadedFile]
    #: (name, requester) of libraries that are not found
    missing: List[Tuple[str, Optional[LoadedFile]]]
    #: (path, requester) of files that are not libraries
    broken: List[Tuple[str, Optional[LoadedFile]]]
    #: the loader is that of musl
    uses_musl: bool = False


#: Names that mean musl's loader itself (ldso/dynlink.c, load_library)
_MUSL_BUILTINS = re.compile(r'lib(c|pthread|rt|m|dl|util|xnet)\.')


def find_loaded_file(process: Process, name: str) -> Optional[LoadedFile]:
    """Return the loaded file with this soname or requested name, None if there is none."""
    return next(
        (library for library in process.loaded if name in (library.name, library.facts.soname)),
        None,
    )


def _expand_folder(folder: str, path: str, system: LoaderConfig) -> str:
    # path: of the library with the folder in its DT_RPATH or DT_RUNPATH
    values = (
        ('ORIGIN', posixpath.dirname(path)),
        ('LIB', system.lib),
        ('PLATFORM', system.platform),
    )
    for name, value in values[:1] if system.musl else values:
        folder = folder.replace('${%s}' % name, value).replace('$' + name, value)
    return folder


def _list_musl_folders(library: LoadedFile, system: LoaderConfig) -> List[str]:
    folders = library.facts.runpath or library.facts.rpath
    if any(re.search(r'\$(?!ORIGIN|\{ORIGIN\})', folder) for folder in folders):
        return []  # musl ignores the whole path if it has another variable
    return [_expand_folder(folder, library.path, system) for folder in folders]


def _list_requesters(library: Optional[LoadedFile]) -> List[LoadedFile]:
    """Return `library` and its requesters, the nearest first."""
    chain = []
    while library is not None:
        chain.append(library)
        library = library.requester
    return chain


def list_search_folders(
    requester: Optional[LoadedFile],
    container: ContainerFiles,
    library_path: Sequence[str],
    program: Optional[LoadedFile] = None,
) -> List[Tuple[str, str]]:
    """
    Return [(folder, reason)] of the folders that are searched for a need of `requester`.

    The reason is 'DT_RPATH', 'LD_LIBRARY_PATH' or 'DT_RUNPATH'. library_path: LD_LIBRARY_PATH in the container.
    """
    system = _get_loader_config(container, program)
    if system.musl:
        return [(folder, 'LD_LIBRARY_PATH') for folder in library_path] + [
            (folder, 'DT_RUNPATH' if library.facts.runpath else 'DT_RPATH')
            for library in _list_requesters(requester)
            for folder in _list_musl_folders(library, system)
        ]
    folders: List[Tuple[str, str]] = []
    if requester is not None and not requester.facts.runpath:
        chain = _list_requesters(requester)
        if program is not None and program not in chain:
            chain.append(program)
        for library in chain:
            if not library.facts.runpath:  # the loader ignores DT_RPATH beside DT_RUNPATH
                folders += [
                    (_expand_folder(folder, library.path, system), 'DT_RPATH')
                    for folder in library.facts.rpath
                ]
    folders += [
        (_expand_folder(folder, program.path, system) if program else folder, 'LD_LIBRARY_PATH')
        for folder in library_path
    ]
    if requester is not None:
        folders += [
            (_expand_folder(folder, requester.path, system), 'DT_RUNPATH')
            for folder in requester.facts.runpath
        ]
    return folders


def _get_loader_config(container: ContainerFiles, program: Optional[LoadedFile]) -> LoaderConfig:
    return container.read_loader_config(program.facts.interpreter if program else None)


def find_library(
    name: str,
    requester: Optional[LoadedFile],
    container: ContainerFiles,
    library_path: Sequence[str],
    program: Optional[LoadedFile] = None,
    machine: Optional[str] = None,
) -> Tuple[Optional[str], Optional[str]]:
    """
    Return (path, reason) of the library `name`, (None, None) if it is not found.

    The reason is 'DT_RPATH', 'LD_LIBRARY_PATH', 'DT_RUNPATH', 'default path' or 'path'. machine:
    files for another one are skipped; None accepts any.
    """
    if '/' in name:
        return (name, 'path') if container.exists(name) else (None, None)
    system = _get_loader_config(container, program)
    # the loader is in the process before all libraries
    if system.interpreter and name == posixpath.basename(system.interpreter):
        return system.interpreter, 'path'
    candidates = [
        (path, reason)
        for folder, reason in list_search_folders(requester, container, library_path, program)
        for path in system.list_folder_candidates(folder, name)
    ]
    candidates += [
        (path, 'default path')
        for path in system.list_candidates(
            name, machine, requester is not None and requester.facts.nodeflib and not system.musl
        )
    ]
    for path, reason in candidates:
        if container.exists(path) and (system.musl or _matches_machine(path, container, machine)):
            return path, reason
    return None, None


def _matches_machine(path: str, container: ContainerFiles, machine: Optional[str]) -> bool:
    # a file that is no library stops the search like one that matches
    facts = container.read_elf_files([path]).get(path) if machine else None
    return facts is None or facts[1].machine == machine


class _LibrarySearch:
    """The state of one simulate_load()."""

    def __init__(
        self,
        container: ContainerFiles,
        library_path: Sequence[str],
        is_excluded: Optional[Callable[[str], bool]] = None,
    ) -> None:
        """Begin a search; see simulate_load()."""
        self.container, self.library_path = container, library_path
        self.is_excluded = is_excluded or (lambda name: False)
        self.loaded: List[LoadedFile] = []
        self.missing: List[Tuple[str, Optional[LoadedFile]]] = []
        self.broken: List[Tuple[str, Optional[LoadedFile]]] = []
        self.by_name: Dict[str, Optional[LoadedFile]] = {}
        self.by_file: Dict[str, LoadedFile] = {}
        self.program: Optional[LoadedFile] = None

    def uses_musl(self) -> bool:
        """Return whether the loader is that of musl."""
        return _get_loader_config(self.container, self.program).musl

    def find_machine(self) -> Optional[str]:
        """Return the machine of the program, None before anything is loaded."""
        return self.loaded[0].facts.machine if self.loaded else None

    def find_path(self, name: str, requester: Optional[LoadedFile]) -> Optional[str]:
        """Return the path of the library `name`, None if it is not found."""
        if self.uses_musl() and _MUSL_BUILTINS.match(name):
            return _get_loader_config(self.container, self.program).interpreter
        return find_library(
            name,
            requester,
            self.container,
            self.library_path,
            self.program,
            self.find_machine() or (requester.facts.machine if requester else None),
        )[0]

    def is_resolved(self, name: str) -> bool:
        """Return whether `name` needs no search because it was resolved before."""
        if name in self.by_name:
            return True
        for library in self.loaded:  # its soname may differ from the requested name
            if library.facts.soname == name and not self.uses_musl():
                self.by_name[name] = library
                return True
        return False

    def load_library(self, name: str, requester: Optional[LoadedFile]) -> None:
        """Load the library `name`, or record why it cannot be loaded."""
        if self.is_resolved(name) or self.is_excluded(name):
            return
        path = self.find_path(name, requester)
        if path is None:
            # not in by_name: another library that needs it may find it by its own DT_RPATH or
            # DT_RUNPATH
            if name not in (other for other, _ in self.missing):
                self.missing.append((name, requester))
            return
        library = self.by_file.get(self.container.resolve(path))
        if library is None:
            facts = self.container.read_elf_files([path]).get(path)
            # glibc skips files for another processor, but not one that is requested by its path
            if facts is None or self.loaded and facts[1].machine != self.find_machine():
                self.by_name[name] = None  # the loader stops here
                self.broken.append((path, requester))
                return
            # the loader gets the program's name from the kernel, which has resolved its links
            if not self.loaded and facts[1].interpreter:
                path = str(self.container.resolve(path))
            library = LoadedFile(name, path, facts[0], facts[1], requester)
            self.loaded.append(library)
            self.by_file[self.container.resolve(path)] = library
        self.by_name[name] = library

    def load_needed(self, start: int) -> int:
        """
        Load the needs of all files from number `start` on, breadth first.

        Returns the number of files that are loaded then.
        """
        while start < len(self.loaded):
            self.prefetch_needed(self.loaded[start:])
            for library in self.loaded[start:]:
                start += 1
                for name in library.facts.needed:
                    self.load_library(name, library)
        return start

    def prefetch_needed(self, libraries: Iterable[LoadedFile]) -> None:
        """Let the container read at once the files that `libraries` probably need."""
        paths: Set[str] = set()
        for library in libraries:
            for name in library.facts.needed:
                if name not in self.by_name and not self.is_excluded(name):
                    path, _ = find_library(
                        name, library, self.container, self.library_path, self.program
                    )
                    paths.update([path] if path else [])
        self.container.read_elf_files(sorted(paths))


def simulate_load(
    start_names: Sequence[str],
    container: ContainerFiles,
    library_path: Sequence[str],
    opened: Iterable[str] = (),
    is_excluded: Optional[Callable[[str], bool]] = None,
) -> Process:
    """
    Return the Process that starts with `start_names`.

    start_names: preloaded libraries, and last the program or a library that is opened; names
    without / are searched as by dlopen(). library_path: LD_LIBRARY_PATH in the container. opened:
    paths of libraries that are opened after all others. is_excluded: whether a soname is neither
    loaded nor reported as missing.
    """
    search = _LibrarySearch(container, library_path, is_excluded)
    search.load_library(start_names[-1], None)
    program = search.loaded[0] if search.loaded else None
    if program is not None and program.facts.interpreter:
        search.program = program
        if not container.exists(program.facts.interpreter):  # the kernel rejects the program
            search.missing.append((program.facts.interpreter, program))
    for name in start_names[:-1]:
        search.load_library(name, search.program)
    count = search.load_needed(0)
    for name in opened:
        search.load_library(name, search.program)
        count = search.load_needed(count)
    return Process(search.loaded, search.missing, search.broken, search.uses_musl())


def list_version_problems(
    process: Process,
) -> List[Tuple[LoadedFile, str, List[str], LoadedFile]]:
    """
    Return [(library, soname of its provider, missing versions, provider)] of a Process.

    At such a need the loader exits: "version `...' not found". A provider without version names
    satisfies all needs (ld.so prints "no version information available"). musl ignores versions.
    """
    problems = []
    for library in [] if process.uses_musl else process.loaded:
        for soname, versions in library.facts.verneed.items():
            provider = find_loaded_file(process, soname)
            if provider and provider.facts.verdef:
                lacking = sorted(versions - provider.facts.verdef)
                if lacking:
                    problems.append((library, soname, lacking, provider))
    return problems


def list_undefined_symbols(process: Process) -> List[Tuple[LoadedFile, str, bool]]:
    """
    Return [(library, symbol, fails at load time)] of symbols that no library exports.

    The last is False if the process fails only when it uses the symbol.
    """
    offered: Set[str] = set()
    versioned = {library.facts.soname for library in process.loaded if library.facts.verdef}
    for library in process.loaded:
        offered |= library.facts.defined
    undefined = []
    for library in process.loaded:
        for symbol, at_once in sorted(library.facts.undefined.items()):
            name, _, version = symbol.partition('@')
            if symbol in offered or (
                name in offered
                and (
                    not version or process.uses_musl or _lacks_versions(library, version, versioned)
                )
            ):
                continue
            undefined.append((library, symbol, at_once or process.uses_musl))
    return undefined


def _lacks_versions(library: LoadedFile, version: str, versioned: Set[Optional[str]]) -> bool:
    """Return whether the library that should provide `version` has no version names at all."""
    providers = [
        soname for soname, versions in library.facts.verneed.items() if version in versions
    ]
    return not any(soname in versioned for soname in providers)

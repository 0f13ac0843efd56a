"""
Predict which files ld.so loads in a container, without executing anything.

The requester of a library is the library or program that needs the library (DT_NEEDED).

The search follows glibc (ld.so(8); elf/dl-load.c and dl-deps.c). ld.so searches in this order:

1. DT_RPATH of the requester, of the requesters of the requester, and of the program. ld.so skips
   DT_RPATH if the requester has DT_RUNPATH.
2. LD_LIBRARY_PATH.
3. DT_RUNPATH of the requester.
4. The cache (ld.so.cache), then the default folders.

In each folder, ld.so first searches the subfolders for newer processors. If a file with a requested
name or soname is already loaded, ld.so does not search again. ld.so loads a file with two names
only once. ld.so skips files for another processor, and stops the search at a file that is not a
library.

If the interpreter of the program is musl's, the search follows musl (ldso/dynlink.c,
load_library()): first LD_LIBRARY_PATH, then DT_RUNPATH or DT_RPATH of the requester and of the
requesters of the requester, then musl's folders. musl treats the names of the C library's parts, such
as libpthread, as names of the loader. musl ignores sonames and versions, and resolves all symbols at
load time.

image/system.py reads the cache and the default folders of each loader. This module does not
simulate LD_AUDIT.
"""

import posixpath
import re
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from osu_container.image.elf import ElfFacts
from osu_container.image.system import LoaderConfig

#: An object with the files of a container or host. Python 3.6 has no Protocol, so the methods are
#: listed here:
#: exists(path) -> whether the file exists
#: resolve(path) -> path with all links resolved
#: read_elf_files(paths) -> {path: (origin, ElfFacts)} for all paths that are ELF files
#: read_loader_config(path of an interpreter, None for the usual interpreter) -> LoaderConfig
ContainerFiles = Any


class LoadedFile(NamedTuple):
    """A file that ld.so loads into a process."""

    #: name by which the requester needs the file: a soname or a path
    name: str
    #: path of the file in the container
    path: str
    #: where the file comes from: 'image' or 'host'
    origin: str
    #: ELF facts of the file
    facts: ElfFacts
    #: file that needs this file; None for the program, for preloaded and for opened libraries
    requester: Optional['LoadedFile']


class Process(NamedTuple):
    """The files that ld.so loads into a process, and the files that ld.so fails to load."""

    #: loaded files in the order of loading
    loaded: List[LoadedFile]
    #: (name, requester) of each library that ld.so does not find
    missing: List[Tuple[str, Optional[LoadedFile]]]
    #: (path, requester) of each file that ld.so finds but cannot load
    broken: List[Tuple[str, Optional[LoadedFile]]]
    #: whether the loader is musl's
    uses_musl: bool = False


#: Pattern for the names that stand for musl's loader itself (ldso/dynlink.c, load_library())
_MUSL_BUILTINS = re.compile(r'lib(c|pthread|rt|m|dl|util|xnet)\.')


def find_loaded_file(process: Process, name: str) -> Optional[LoadedFile]:
    """Return the loaded file with the requested name or the soname `name`, or None."""
    return next(
        (library for library in process.loaded if name in (library.name, library.facts.soname)),
        None,
    )


def _expand_folder(folder: str, path: str, system: LoaderConfig) -> str:
    # path: path of the library that has `folder` in its DT_RPATH or DT_RUNPATH
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
        return []  # musl ignores the whole list if a folder contains another variable.
    return [_expand_folder(folder, library.path, system) for folder in folders]


def _list_requesters(library: Optional[LoadedFile]) -> List[LoadedFile]:
    """Return `library`, its requester, the requester of this requester, and so on."""
    chain = []
    while library is not None:
        chain.append(library)
        library = library.requester
    return chain


def _get_loader_config(container: ContainerFiles, program: Optional[LoadedFile]) -> LoaderConfig:
    return container.read_loader_config(program.facts.interpreter if program else None)


def _list_search_folders(
    requester: Optional[LoadedFile],
    system: LoaderConfig,
    library_path: Sequence[str],
    program: Optional[LoadedFile],
) -> List[str]:
    """Return the folders in which the loader searches a library before the default folders."""
    chain = _list_requesters(requester)
    if system.musl:
        return [
            *library_path,
            *(folder for library in chain for folder in _list_musl_folders(library, system)),
        ]
    # (file with the folders, folders)
    places: List[Tuple[Optional[LoadedFile], Sequence[str]]] = []
    if requester is not None and not requester.facts.runpath:
        chain += [program] if program is not None and program not in chain else []
        # The loader ignores the DT_RPATH of a file that also has DT_RUNPATH.
        places += [(each, each.facts.rpath) for each in chain if not each.facts.runpath]
    places.append((program, library_path))
    places += [(requester, requester.facts.runpath)] if requester is not None else []
    return [
        _expand_folder(folder, library.path, system) if library else folder
        for library, folders in places
        for folder in folders
    ]


def find_library(
    name: str,
    requester: Optional[LoadedFile],
    container: ContainerFiles,
    library_path: Sequence[str],
    program: Optional[LoadedFile] = None,
    machine: Optional[str] = None,
) -> Optional[str]:
    """
    Return the path of the library `name`, None if the loader does not find the library.

    requester: file that needs the library. library_path: folders of LD_LIBRARY_PATH in the
    container. machine: name of the processor as in ElfFacts; the loader skips files for any other
    processor. If `machine` is None, the loader skips no file.
    """
    if '/' in name:
        return name if container.exists(name) else None
    system = _get_loader_config(container, program)
    # The loader is part of the process before the loader searches any library.
    if system.interpreter and name == posixpath.basename(system.interpreter):
        return system.interpreter
    candidates = [
        path
        for folder in _list_search_folders(requester, system, library_path, program)
        for path in system.list_folder_candidates(folder, name)
    ]
    nodeflib = requester is not None and requester.facts.nodeflib and not system.musl
    for path in candidates + system.list_candidates(name, machine, nodeflib):
        if container.exists(path) and (system.musl or _matches_machine(path, container, machine)):
            return path
    return None


def _matches_machine(path: str, container: ContainerFiles, machine: Optional[str]) -> bool:
    # A file that is not a library also stops the search, so treat it like a match.
    facts = container.read_elf_files([path]).get(path) if machine else None
    return facts is None or facts[1].machine == machine


class _LibrarySearch:
    """The state of a simulate_load() call: the files that were loaded so far."""

    def __init__(
        self,
        container: ContainerFiles,
        library_path: Sequence[str],
        is_excluded: Optional[Callable[[str], bool]] = None,
    ) -> None:
        """
        Create the state before the first file is loaded.

        container, library_path, is_excluded: see simulate_load().
        """
        self.container, self.library_path = container, library_path
        self.is_excluded = is_excluded or (lambda name: False)
        #: {name: path, or None for a missing library} that the real loader has found in a dry run
        self.listed: Mapping[str, Optional[str]] = getattr(container, 'listed', {})
        self.loaded: List[LoadedFile] = []
        self.missing: List[Tuple[str, Optional[LoadedFile]]] = []
        self.broken: List[Tuple[str, Optional[LoadedFile]]] = []
        self.by_name: Dict[str, Optional[LoadedFile]] = {}
        self.by_file: Dict[str, LoadedFile] = {}
        self.program: Optional[LoadedFile] = None

    def uses_musl(self) -> bool:
        """Return whether the loader of the process is musl's loader."""
        return _get_loader_config(self.container, self.program).musl

    def find_path(self, name: str, requester: Optional[LoadedFile]) -> Optional[str]:
        """Return the path of the library `name` that `requester` needs, None if not found."""
        if name in self.listed:
            return self.listed[name]
        if self.uses_musl() and _MUSL_BUILTINS.match(name):
            return _get_loader_config(self.container, self.program).interpreter
        first = self.loaded[0].facts if self.loaded else self.container.read_loader_config(None)
        return find_library(
            name, requester, self.container, self.library_path, self.program, first.machine
        )

    def is_resolved(self, name: str) -> bool:
        """
        Return whether the search for the name or soname `name` is finished.

        The search is finished if a file was loaded, or if a file was found but cannot be loaded.
        """
        if name in self.by_name:
            return True
        for library in self.loaded:  # The soname of a file may differ from its requested name.
            if library.facts.soname == name and not self.uses_musl():
                self.by_name[name] = library
                return True
        return False

    def load_library(self, name: str, requester: Optional[LoadedFile]) -> None:
        """Load the library `name`, or record the library as missing or broken."""
        if self.is_resolved(name) or self.is_excluded(name):
            return
        path = self.find_path(name, requester)
        if path is None:
            # Do not add the name to by_name. Another requester may find the library by its own
            # DT_RPATH or DT_RUNPATH.
            if name not in (other for other, _ in self.missing):
                self.missing.append((name, requester))
            return
        library = self.by_file.get(self.container.resolve(path))
        if library is None:
            facts = self.container.read_elf_files([path]).get(path)
            # find_path() has skipped files for another processor. But if `name` is a path, glibc
            # does not search on, and fails.
            if facts is None or self.loaded and facts[1].machine != self.loaded[0].facts.machine:
                self.by_name[name] = None
                self.broken.append((path, requester))
                return
            # The kernel passes the path of the program to the loader with all links resolved.
            if not self.loaded and facts[1].interpreter:
                path = str(self.container.resolve(path))
            library = LoadedFile(name, path, facts[0], facts[1], requester)
            self.loaded.append(library)
            self.by_file[self.container.resolve(path)] = library
        self.by_name[name] = library

    def load_needed(self, start: int) -> int:
        """
        Load, breadth first, the libraries that the loaded files need.

        start: index in the list of loaded files. The function loads the libraries that the files
        from `start` on need. The result is the number of all loaded files.
        """
        while start < len(self.loaded):
            for library in self.loaded[start:]:
                start += 1
                for name in library.facts.needed:
                    self.load_library(name, library)
        return start


def simulate_load(
    start_names: Sequence[str],
    container: ContainerFiles,
    library_path: Sequence[str],
    opened_libraries: Iterable[str] = (),
    is_excluded: Optional[Callable[[str], bool]] = None,
) -> Process:
    """
    Return the Process that results if ld.so loads the files `start_names`.

    start_names: preloaded libraries, followed by the program or a library. ld.so searches for a
    name without / as dlopen() does. library_path: folders of LD_LIBRARY_PATH in the container.
    opened_libraries: libraries that the program opens later with dlopen(). is_excluded: function
    that returns True for a soname that the simulation ignores.
    """
    search = _LibrarySearch(container, library_path, is_excluded)
    search.load_library(start_names[-1], None)
    program = search.loaded[0] if search.loaded else None
    if program is not None and program.facts.interpreter:
        search.program = program
        # Without its interpreter, the kernel does not start the program.
        if not container.exists(program.facts.interpreter):
            search.missing.append((program.facts.interpreter, program))
    for name in start_names[:-1]:
        search.load_library(name, search.program)
    count = search.load_needed(0)
    for name in opened_libraries:
        search.load_library(name, search.program)
        count = search.load_needed(count)
    return Process(search.loaded, search.missing, search.broken, search.uses_musl())


def list_version_problems(
    process: Process,
) -> List[Tuple[LoadedFile, str, List[str], LoadedFile]]:
    """
    Return the symbol versions that a library in a process needs but no library defines.

    The result is [(library, soname of the provider, missing versions, provider)]. The provider is
    the file that should define the versions. For each item of the result, ld.so prints "version
    `...' not found" and exits.

    If a provider defines no versions at all, ld.so only prints "no version information available",
    and the result does not contain the provider. For musl the result is empty, because musl ignores
    versions.
    """
    problems = []
    for library in [] if process.uses_musl else process.loaded:
        for soname, versions in library.facts.verneed.items():
            provider = find_loaded_file(process, soname)
            if provider and provider.facts.verdef:
                missing = sorted(versions - provider.facts.verdef)
                if missing:
                    problems.append((library, soname, missing, provider))
    return problems


def list_undefined_symbols(process: Process) -> List[Tuple[LoadedFile, str, bool]]:
    """
    Return the symbols that a library in a process needs but no library exports.

    The result is [(library, symbol, at_load_time)]. at_load_time: True if the process fails at load
    time; False if the process fails later, when the process calls the symbol.
    """
    exported: Set[str] = set()
    versioned = {library.facts.soname for library in process.loaded if library.facts.verdef}
    for library in process.loaded:
        exported |= library.facts.defined
    undefined = []
    for library in process.loaded:
        for symbol, at_load_time in sorted(library.facts.undefined.items()):
            name, _, version = symbol.partition('@')
            if symbol in exported or (
                name in exported
                and (
                    not version or process.uses_musl or _lacks_versions(library, version, versioned)
                )
            ):
                continue
            undefined.append((library, symbol, at_load_time or process.uses_musl))
    return undefined


def _lacks_versions(library: LoadedFile, version: str, versioned: Set[Optional[str]]) -> bool:
    """
    Return whether the library that should define `version` defines no versions at all.

    versioned: sonames of all libraries that define versions.
    """
    providers = [
        soname for soname, versions in library.facts.verneed.items() if version in versions
    ]
    return not any(soname in versioned for soname in providers)

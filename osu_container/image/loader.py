"""
What ld.so would load into a process in a container: which file each needed library comes from, and
what is not found.

Nothing is run. The search is that of glibc (ld.so(8); elf/dl-load.c and dl-deps.c): DT_RPATH of the
library that needs another one and of those that brought it in (only where it has no DT_RUNPATH),
DT_RPATH of the program, LD_LIBRARY_PATH, its DT_RUNPATH, the cache and the default folders; in each
folder those first that are for newer processors. What is loaded already under that name or soname
is not searched again; a file that is found a second time under another name is not loaded twice.
Files for another kind of processor are passed over; a file that is no library at all ends the
search.

A program whose interpreter is musl's is searched for as musl does it (ldso/dynlink.c,
load_library): LD_LIBRARY_PATH first, then DT_RUNPATH or DT_RPATH of the library and of all that
brought it in, then its own folders; names of the C library mean the loader itself; sonames and
versions count for nothing, and all symbols are looked up at once.

image/system.py tells what each loader looks for by itself. Not simulated: LD_AUDIT.
"""

import posixpath
import re
from collections import namedtuple

#: One file in the process. name: str, as it was asked for; path: str, in the container; origin:
#: 'image' or 'host'; facts: ElfFacts; by: Loaded that needs it, None for those that the search
#: starts with
LoadedFile = namedtuple('Loaded', 'name path origin facts requester')

#: loaded: list of Loaded, in the order of loading; missing: list of (name (str), Loaded that needs
#: it or None); broken: list of (path (str) of a file that is no library, Loaded that needs it or
#: None); musl: bool, by its loader
Process = namedtuple('Process', 'loaded missing broken uses_musl')
Process.__new__.__defaults__ = (False,)

#: What musl takes for itself (ldso/dynlink.c, load_library)
_MUSL_BUILTINS = re.compile(r'lib(c|pthread|rt|m|dl|util|xnet)\.')


def find_loaded_file(process, name):
    """
    Return the Loaded that has the soname (str), or was asked for by it, in a Process; None if
    there is none.
    """
    return next((one for one in process.loaded if name in (one.name, one.facts.soname)), None)


def _expand_folder(folder, path, system):
    """
    Return folder (str) of a DT_RPATH or DT_RUNPATH of the library path, its variables filled in.
    """
    values = (
        ('ORIGIN', posixpath.dirname(path)),
        ('LIB', system.lib),
        ('PLATFORM', system.platform),
    )
    for name, value in values[:1] if system.musl else values:
        folder = folder.replace('${%s}' % name, value).replace('$' + name, value)
    return folder


def _list_musl_folders(one, system):
    """
    Return the folders (list of str) of the DT_RUNPATH or DT_RPATH of one (Loaded), as musl
    understands them.
    """
    folders = one.facts.runpath or one.facts.rpath
    if any(re.search(r'\$(?!ORIGIN|\{ORIGIN\})', folder) for folder in folders):
        return []  # it knows no other variable, and then nothing of that path
    return [_expand_folder(folder, one.path, system) for folder in folders]


def _list_requesters(by):
    """Return by (Loaded or None) and all that brought it in (list of Loaded), the nearest first."""
    found = []
    while by is not None:
        found.append(by)
        by = by.requester
    return found


def list_search_folders(by, container, library_path, program=None):
    """
    Return [(folder, why it is searched: 'DT_RPATH', 'LD_LIBRARY_PATH' or 'DT_RUNPATH')] for what by
    (Loaded) needs.

    library_path: list of str, LD_LIBRARY_PATH in the container; program: Loaded or None.
    """
    system = _get_loader_config(container, program)
    if system.musl:
        return [(folder, 'LD_LIBRARY_PATH') for folder in library_path] + [
            (folder, 'DT_RUNPATH' if one.facts.runpath else 'DT_RPATH')
            for one in _list_requesters(by)
            for folder in _list_musl_folders(one, system)
        ]
    found = []
    if by is not None and not by.facts.runpath:
        chain = _list_requesters(by)
        for one in chain + [one for one in (program,) if one is not None and one not in chain]:
            if not one.facts.runpath:  # of one that has both the loader ignores DT_RPATH
                found += [
                    (_expand_folder(folder, one.path, system), 'DT_RPATH')
                    for folder in one.facts.rpath
                ]
    found += [
        (_expand_folder(folder, program.path, system) if program else folder, 'LD_LIBRARY_PATH')
        for folder in library_path
    ]
    if by is not None:
        found += [
            (_expand_folder(folder, by.path, system), 'DT_RUNPATH') for folder in by.facts.runpath
        ]
    return found


def _get_loader_config(container, program):
    """
    Return the System (image/system.py) whose loader starts program (Loaded, or None: the usual
    one).
    """
    return container.read_loader_config(program.facts.interpreter if program else None)


def find_library(name, by, container, library_path, program=None, machine=None):
    """
    Return (path, why) of the file that name (str) means for by (Loaded or None), (None, None) if
    there is none.

    why: 'DT_RPATH', 'LD_LIBRARY_PATH', 'DT_RUNPATH', 'default path' or 'path'. container: as for
    simulate_load(). machine: str, files for another one are passed over; None to take any.
    """
    if '/' in name:
        return (name, 'path') if container.exists(name) else (None, None)
    system = _get_loader_config(container, program)
    if system.interpreter and name == posixpath.basename(
        system.interpreter
    ):  # it is there before all others
        return system.interpreter, 'path'
    places = [
        (path, why)
        for folder, why in list_search_folders(by, container, library_path, program)
        for path in system.list_folder_candidates(folder, name)
    ]
    places += [
        (path, 'default path')
        for path in system.list_candidates(
            name, machine, by is not None and by.facts.nodeflib and not system.musl
        )
    ]
    for path, why in places:
        if container.exists(path) and (system.musl or _matches_machine(path, container, machine)):
            return path, why
    return None, None


def _matches_machine(path, container, machine):
    """
    Return whether the file path (str) is for machine (str or None), or is no library: that ends
    the search.
    """
    found = container.read_elf_files([path]).get(path) if machine else None
    return found is None or found[1].machine == machine


class _LibrarySearch(object):
    """The state of one simulate_load()."""

    def __init__(self, container, library_path, is_excluded=None):
        """
        See simulate_load(); without: function name -> bool, true for what is not to be loaded,
        nor missed.
        """
        self.container, self.library_path = container, library_path
        self.is_excluded = is_excluded or (lambda name: False)
        self.loaded, self.missing, self.broken = [], [], []
        self.by_name, self.by_file, self.program = {}, {}, None

    def uses_musl(self):
        """Return whether the loader is that of musl (bool)."""
        return _get_loader_config(self.container, self.program).musl

    def find_machine(self):
        """Return the machine (str) of the program, None as long as nothing is loaded."""
        return self.loaded[0].facts.machine if self.loaded else None

    def find_path(self, name, by):
        """
        Return the path (str) of what name (str) means for by (Loaded or None), None if it is not
        found.
        """
        if self.uses_musl() and _MUSL_BUILTINS.match(name):
            return _get_loader_config(self.container, self.program).interpreter
        return find_library(
            name,
            by,
            self.container,
            self.library_path,
            self.program,
            self.find_machine() or (by.facts.machine if by else None),
        )[0]

    def is_resolved(self, name):
        """Return whether name (str) needs no search: it was found before."""
        if name in self.by_name:
            return True
        for one in self.loaded:  # by its soname, although it was asked for by another name
            if one.facts.soname == name and not self.uses_musl():
                self.by_name[name] = one
                return True
        return False

    def load_library(self, name, by):
        """Load what name (str) means for by (Loaded or None)."""
        if self.is_resolved(name) or self.is_excluded(name):
            return
        path = self.find_path(name, by)
        if path is None:
            # not kept: another library that needs it may find it by its own DT_RPATH or DT_RUNPATH
            if name not in (other for other, _ in self.missing):
                self.missing.append((name, by))
            return
        known = self.by_file.get(self.container.resolve(path))
        if known is None:
            facts = self.container.read_elf_files([path]).get(path)
            # glibc has passed over files for other processors, but not over one that is asked for
            # by its path
            if facts is None or self.loaded and facts[1].machine != self.find_machine():
                self.by_name[name] = None  # the loader ends here
                self.broken.append((path, by))
                return
            # the loader asks the kernel for the program's own name, in which there are no links
            shown = (
                self.container.resolve(path) if not self.loaded and facts[1].interpreter else path
            )
            known = LoadedFile(name, path, facts[0], facts[1], by)
            if shown != path:
                known = known._replace(path=shown)
            self.loaded.append(known)
            self.by_file[self.container.resolve(path)] = known
        self.by_name[name] = known

    def load_needed(self, done):
        """
        Load what those need from number done (int) on, breadth first; return how many are loaded
        (int) then.
        """
        while done < len(self.loaded):
            self.prefetch_needed(self.loaded[done:])
            for one in self.loaded[done:]:
                done += 1
                for name in one.facts.needed:
                    self.load_library(name, one)
        return done

    def prefetch_needed(self, several):
        """Let the container read at once what several (list of Loaded) will most likely need."""
        paths = set()
        for one in several:
            for name in one.facts.needed:
                if name not in self.by_name and not self.is_excluded(name):
                    path, _ = find_library(
                        name, one, self.container, self.library_path, self.program
                    )
                    paths.update([path] if path else [])
        self.container.read_elf_files(sorted(paths))


def simulate_load(start_names, container, library_path, opened=(), is_excluded=None):
    """
    Return the Process that begins with starts.

    :param starts: list of str: libraries that are preloaded, and last the program, or a library
        that is opened. Names without / are searched as for dlopen()
    :param container: has exists(path) -> bool, real(path) -> path without links, facts(paths) ->
        {path: (origin, ElfFacts)} of those that are ELF files, and system(path of an interpreter,
        or None for the usual one) -> System (image/system.py)
    :param library_path: list of str, folders of LD_LIBRARY_PATH in the container
    :param later: paths (list of str) of libraries that are opened when all else is there
    :param without: function name -> bool, true for what is not to be loaded, nor missed
    """
    search = _LibrarySearch(container, library_path, is_excluded)
    search.load_library(start_names[-1], None)
    program = search.loaded[0] if search.loaded else None
    if program is not None and program.facts.interpreter:
        search.program = program
        if not container.exists(program.facts.interpreter):  # the kernel refuses the program
            search.missing.append((program.facts.interpreter, program))
    for name in start_names[:-1]:
        search.load_library(name, search.program)
    done = search.load_needed(0)
    for name in opened:
        search.load_library(name, search.program)
        done = search.load_needed(done)
    return Process(search.loaded, search.missing, search.broken, search.uses_musl())


def list_version_problems(process):
    """
    Return [(Loaded that needs, soname, list of version names that lack, Loaded that ought to have
    them)] of a Process.

    The loader stops at such a need: "version `...' not found". A library without any version names
    satisfies all needs (ld.so prints "no version information available" and goes on). musl looks at
    none.
    """
    found = []
    for one in [] if process.uses_musl else process.loaded:
        for soname, versions in one.facts.verneed.items():
            provider = find_loaded_file(process, soname)
            lacking = (
                sorted(versions - provider.facts.verdef)
                if provider and provider.facts.verdef
                else []
            )
            if lacking:
                found.append((one, soname, lacking, provider))
    return found


def list_undefined_symbols(process):
    """
    Return [(Loaded, symbol, True if the process ends when it is loaded, False if when the symbol is
    used)].

    Of symbols that no library of the Process offers.
    """
    offered, versioned = set(), set()
    for one in process.loaded:
        offered |= one.facts.defined
        if one.facts.verdef:
            versioned.add(one.facts.soname)
    found = []
    for one in process.loaded:
        for symbol, at_once in sorted(one.facts.undefined.items()):
            name, _, version = symbol.partition('@')
            if symbol in offered or (
                name in offered
                and (not version or process.uses_musl or _lacks_versions(one, version, versioned))
            ):
                continue
            found.append((one, symbol, at_once or process.uses_musl))
    return found


def _lacks_versions(one, version, versioned):
    """
    Return whether the library from which one (Loaded) needs version has no version names at all
    in this process.
    """
    providers = [soname for soname, versions in one.facts.verneed.items() if version in versions]
    return not any(soname in versioned for soname in providers)

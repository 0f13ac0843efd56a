"""
What ld.so would load into a process in a container: which file each needed library comes from, and what is not found.

Nothing is run. The search is that of glibc (ld.so(8); elf/dl-load.c and dl-deps.c): DT_RPATH of the library that needs
another one and of those that brought it in (only where it has no DT_RUNPATH), DT_RPATH of the program, LD_LIBRARY_PATH,
its DT_RUNPATH, the cache and the default folders. What is loaded already under that name or soname is not searched
again; a file that is found a second time under another name is not loaded twice. Files for another kind of processor
are passed over; a file that is no library at all ends the search.

Not simulated: folders glibc-hwcaps/ (copies of a library for newer processors), LD_AUDIT.
"""
import posixpath
from collections import namedtuple

#: One file in the process. name: str, as it was asked for; path: str, in the container; origin: 'image' or 'host';
#: facts: ElfFacts; by: Loaded that needs it, None for those that the search starts with
Loaded = namedtuple('Loaded', 'name path origin facts by')

#: loaded: list of Loaded, in the order of loading; missing: list of (name (str), Loaded that needs it or None);
#: broken: list of (path (str) of a file that is no library, Loaded that needs it or None)
Process = namedtuple('Process', 'loaded missing broken')


def of_name(process, name):
    """Return the Loaded that has the soname (str), or was asked for by it, in a Process; None if there is none."""
    return next((one for one in process.loaded if name in (one.name, one.facts.soname)), None)


def _expanded(folder, path, container):
    """Return folder (str) of a DT_RPATH or DT_RUNPATH of the library path, its variables filled in."""
    for name, value in (('ORIGIN', posixpath.dirname(path)), ('LIB', container.lib)):
        folder = folder.replace('${%s}' % name, value).replace('$' + name, value)
    return folder


def search_folders(by, container, library_path, program=None):
    """
    Return [(folder, why it is searched: 'DT_RPATH', 'LD_LIBRARY_PATH' or 'DT_RUNPATH')] for what by (Loaded) needs.

    library_path: list of str, LD_LIBRARY_PATH in the container; program: Loaded or None.
    """
    found = []
    if by is not None and not by.facts.runpath:
        chain, asking = [], by
        while asking is not None:
            chain.append(asking)
            asking = asking.by
        for one in chain + [one for one in (program,) if one is not None and one not in chain]:
            if not one.facts.runpath:  # of one that has both the loader ignores DT_RPATH
                found += [(_expanded(folder, one.path, container), 'DT_RPATH') for folder in one.facts.rpath]
    found += [(folder, 'LD_LIBRARY_PATH') for folder in library_path]
    if by is not None:
        found += [(_expanded(folder, by.path, container), 'DT_RUNPATH') for folder in by.facts.runpath]
    return found


def where(name, by, container, library_path, program=None, machine=None):
    """
    Return (path, why) of the file that name (str) means for by (Loaded or None), (None, None) if there is none.

    why: 'DT_RPATH', 'LD_LIBRARY_PATH', 'DT_RUNPATH', 'default path' or 'path'. container: as for load(). machine: str,
    files for another one are passed over; None to take any.
    """
    if '/' in name:
        return (name, 'path') if container.exists(name) else (None, None)
    for folder, why in search_folders(by, container, library_path, program):
        path = folder.rstrip('/') + '/' + name
        if container.exists(path) and fits(path, container, machine):
            return path, why
    path = container.default(name, machine)
    return (path, 'default path') if path else (None, None)


def fits(path, container, machine):
    """Return whether the file path (str) is for machine (str or None), or is no library: that ends the search."""
    found = container.facts([path]).get(path) if machine else None
    return found is None or found[1].machine == machine


class _Search(object):
    """The state of one load()."""

    def __init__(self, container, library_path):
        """See load()."""
        self.container, self.library_path = container, library_path
        self.loaded, self.missing, self.broken = [], [], []
        self.by_name, self.by_file, self.program = {}, {}, None

    def machine(self):
        """Return the machine (str) of the program, None as long as nothing is loaded."""
        return self.loaded[0].facts.machine if self.loaded else None

    def map(self, name, by):
        """Load what name (str) means for by (Loaded or None)."""
        if name in self.by_name:
            return
        for one in self.loaded:  # by its soname, although it was asked for by another name
            if one.facts.soname == name:
                self.by_name[name] = one
                return
        path, _ = where(name, by, self.container, self.library_path, self.program, self.machine())
        if path is None:
            # not kept: another library that needs it may find it by its own DT_RPATH or DT_RUNPATH
            if name not in (other for other, _ in self.missing):
                self.missing.append((name, by))
            return
        known = self.by_file.get(self.container.real(path))
        if known is None:
            facts = self.container.facts([path]).get(path)
            if facts is None:
                self.by_name[name] = None  # the loader ends here
                self.broken.append((path, by))
                return
            # the loader asks the kernel for the program's own name, in which there are no links
            shown = self.container.real(path) if not self.loaded and facts[1].interpreter else path
            known = Loaded(name, path, facts[0], facts[1], by)
            if shown != path:
                known = known._replace(path=shown)
            self.loaded.append(known)
            self.by_file[self.container.real(path)] = known
        self.by_name[name] = known

    def all_needed(self, done):
        """Load what those need from number done (int) on, breadth first; return how many are loaded (int) then."""
        while done < len(self.loaded):
            self.read_ahead(self.loaded[done:])
            for one in self.loaded[done:]:
                done += 1
                for name in one.facts.needed:
                    self.map(name, one)
        return done

    def read_ahead(self, several):
        """Let the container read at once what several (list of Loaded) will most likely need."""
        paths = set()
        for one in several:
            for name in one.facts.needed:
                if name not in self.by_name:
                    path, _ = where(name, one, self.container, self.library_path, self.program)
                    paths.update([path] if path else [])
        self.container.facts(sorted(paths))


def load(starts, container, library_path, later=()):
    """
    Return the Process that begins with starts.

    :param starts: list of str: libraries that are preloaded, and last the program, or a library that is opened.
                   Names without / are searched as for dlopen()
    :param container: has exists(path) -> bool, real(path) -> path without links, default(soname, machine as where()
                      has it) -> path or None, facts(paths) -> {path: (origin, ElfFacts)} of those that are ELF files,
                      and lib: what $LIB means
    :param library_path: list of str, folders of LD_LIBRARY_PATH in the container
    :param later: paths (list of str) of libraries that are opened when all else is there
    """
    search = _Search(container, library_path)
    search.map(starts[-1], None)
    program = search.loaded[0] if search.loaded else None
    if program is not None and program.facts.interpreter:
        search.program = program
    for name in starts[:-1]:
        search.map(name, search.program)
    done = search.all_needed(0)
    for name in later:
        search.map(name, search.program)
        done = search.all_needed(done)
    return Process(search.loaded, search.missing, search.broken)


def version_problems(process):
    """
    Return [(Loaded that needs, soname, list of version names that lack, Loaded that ought to have them)] of a Process.

    The loader stops at such a need: "version `...' not found". A library without any version names satisfies all
    needs (ld.so prints "no version information available" and goes on).
    """
    found = []
    for one in process.loaded:
        for soname, versions in one.facts.verneed.items():
            provider = of_name(process, soname)
            lacking = sorted(versions - provider.facts.verdef) if provider and provider.facts.verdef else []
            if lacking:
                found.append((one, soname, lacking, provider))
    return found


def undefined_symbols(process):
    """
    Return [(Loaded, symbol, True if the process ends when it is loaded, False if when the symbol is used)].

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
            if symbol in offered or (name in offered and (not version or _unversioned(one, version, versioned))):
                continue
            found.append((one, symbol, at_once))
    return found


def _unversioned(one, version, versioned):
    """Return whether the library from which one (Loaded) needs version has no version names at all in this process."""
    providers = [soname for soname, versions in one.facts.verneed.items() if version in versions]
    return not any(soname in versioned for soname in providers)

"""
What ld.so would load into a process in a container: which file each needed library comes from, and what is not found.

Nothing is run. The search is that of glibc, ld.so(8): DT_RPATH of the library that needs another one and of those that
brought it in (only where it has no DT_RUNPATH), LD_LIBRARY_PATH, its DT_RUNPATH, the cache and the default folders. A
soname that is loaded already is not searched again.
"""
import posixpath
from collections import namedtuple

#: One file in the process. name: str, as it was asked for; path: str, in the container; origin: 'image' or 'host';
#: facts: ElfFacts; by: Loaded that needs it, None for those that the search starts with
Loaded = namedtuple('Loaded', 'name path origin facts by')

#: loaded: list of Loaded, in the order of loading; missing: list of (name (str), Loaded that needs it or None)
Process = namedtuple('Process', 'loaded missing')


def of_name(process, name):
    """Return the Loaded that has the soname (str), or was asked for by it, in a Process; None if there is none."""
    return next((one for one in process.loaded if name in (one.name, one.facts.soname)), None)


def _expanded(folder, path):
    """Return folder (str) of a DT_RPATH or DT_RUNPATH of the library path, its variables filled in."""
    for name, value in (('ORIGIN', posixpath.dirname(path)), ('LIB', 'lib64')):
        folder = folder.replace('${%s}' % name, value).replace('$' + name, value)
    return posixpath.normpath(folder)


def search_folders(by, library_path):
    """
    Return [(folder, why it is searched: 'DT_RPATH', 'LD_LIBRARY_PATH' or 'DT_RUNPATH')] for what by (Loaded) needs.

    library_path: list of str, LD_LIBRARY_PATH in the container.
    """
    found = []
    asking = by
    while asking is not None and not (by.facts.runpath):
        if not asking.facts.runpath:  # of one that has both the loader ignores DT_RPATH
            found += [(_expanded(folder, asking.path), 'DT_RPATH') for folder in asking.facts.rpath]
        asking = asking.by
    found += [(folder, 'LD_LIBRARY_PATH') for folder in library_path]
    if by is not None:
        found += [(_expanded(folder, by.path), 'DT_RUNPATH') for folder in by.facts.runpath]
    return found


def where(name, by, container, library_path):
    """
    Return (path, why) of the file that name (str) means for by (Loaded or None), (None, None) if there is none.

    why: 'DT_RPATH', 'LD_LIBRARY_PATH', 'DT_RUNPATH', 'default path' or 'path'. container: as for load().
    """
    if '/' in name:
        return (name, 'path') if container.exists(name) else (None, None)
    for folder, why in search_folders(by, library_path):
        if container.exists(folder + '/' + name):
            return folder + '/' + name, why
    path = container.default(name)
    return (path, 'default path') if path else (None, None)


def load(starts, container, library_path):
    """
    Return the Process that begins with starts.

    :param starts: list of str: the program, or a library that is opened; libraries that are preloaded come first.
                   Names without / are searched as for dlopen()
    :param container: has exists(path) -> bool, default(soname) -> path or None, and facts(paths) -> {path: (origin,
                      ElfFacts)} of those that are ELF files
    :param library_path: list of str, folders of LD_LIBRARY_PATH in the container
    """
    loaded, missing, known = [], [], {}
    wanted = [(name, None) for name in starts]
    while wanted:  # breadth first, as ld.so does; the files of one level are read together
        level = []
        for name, by in wanted:
            if name in known:
                continue
            path, _ = where(name, by, container, library_path)
            known[name] = path
            if path is None:
                missing.append((name, by))
            else:
                level.append((name, path, by))
        facts = container.facts([path for _, path, _ in level])
        wanted = []
        for name, path, by in level:
            if path not in facts:
                missing.append((name, by))
                continue
            one = Loaded(name, path, facts[path][0], facts[path][1], by)
            if one.facts.soname in known and one.facts.soname != name and known[one.facts.soname]:
                continue  # loaded under its soname already
            if one.facts.soname:
                known.setdefault(one.facts.soname, path)
            loaded.append(one)
            wanted += [(needed, one) for needed in one.facts.needed]
    return Process(loaded, missing)


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

    Of symbols that no library of the Process offers. Data is looked up when it is loaded, functions when they are
    called first, unless the library says otherwise (BIND_NOW).
    """
    offered = set()
    versioned = set()
    for one in process.loaded:
        offered |= one.facts.defined
        if one.facts.verdef:
            versioned.add(one.facts.soname)
    found = []
    for one in process.loaded:
        for symbol, kind in sorted(one.facts.undefined.items()):
            name, _, version = symbol.partition('@')
            if symbol in offered or (name in offered and (not version or _unversioned(one, version, versioned))):
                continue
            found.append((one, symbol, one.facts.now or kind != 'FUNC'))
    return found


def _unversioned(one, version, versioned):
    """Return whether the library from which one (Loaded) needs version has no version names at all in this process."""
    providers = [soname for soname, versions in one.facts.verneed.items() if version in versions]
    return not any(soname in versioned for soname in providers)

"""
Which libraries must come along when libraries of a host are put into another system.

The search for each is the one of core/reading/loader.py, with the host's default folders.
"""
import os
import re
from collections import OrderedDict

from osu_container.core.reading.elf import ElfError, elf_facts
from osu_container.core.reading.loader import Loaded, fits, where

#: Libraries of glibc. They must come from where the program interpreter (ld-linux) comes from: a host libc.so.6 under
#: the image's ld-linux ends in "symbol lookup error ... GLIBC_PRIVATE" (glibc manual page ld.so(8): the loader and
#: libc are one build).
GLIBC_SONAMES = frozenset([
    'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1', 'libBrokenLocale.so.1', 'libanl.so.1', 'libc.so.6', 'libdl.so.2',
    'libm.so.6', 'libmvec.so.1', 'libnsl.so.1', 'libnss_compat.so.2', 'libnss_dns.so.2', 'libnss_files.so.2',
    'libpthread.so.0', 'libresolv.so.2', 'librt.so.1', 'libthread_db.so.1', 'libutil.so.1',
])


class _HostFiles(object):
    """The files of a host, as the loader's search asks for them: see load() in core/reading/loader.py."""

    def __init__(self, folders, read, is_file):
        """See closure(); folders: list of str, those that the host's ld.so searches by default."""
        self.folders, self.read, self.exists = folders, read, is_file
        self._known = {}
        multiarch = [re.search(r'/(lib/[^/]+-linux-gnu)$', folder) for folder in folders
                     if is_file(folder + '/libc.so.6')]
        #: what $LIB means, which a distribution decides: its C library lies in such a folder
        self.lib = next((found.group(1) for found in multiarch if found), 'lib64')

    def elf(self, path):
        """Return the ElfFacts of the file path (str). Raises ElfError."""
        if path not in self._known:
            self._known[path] = self.read(path)
        return self._known[path]

    def facts(self, paths):
        """Return {path: ('host', ElfFacts)} of those of paths (list of str) that are ELF files."""
        found = {}
        for path in paths:
            try:
                found[path] = 'host', self.elf(path)
            except ElfError:  # such a file ends the search, and is named when it is read as a library
                continue
        return found

    def default(self, name, machine):
        """Return the path (str) of name (str) in the first default folder that has it for machine, or None."""
        paths = (os.path.join(folder, name) for folder in self.folders)
        return next((path for path in paths if self.exists(path) and fits(path, self, machine)), None)


def closure(paths, default_folders, provided, one_build=(), read=elf_facts, is_file=os.path.isfile):
    """
    Return (libraries, missing): what must come along when the libraries paths are put into another system.

    :param paths: list of str, the libraries to start from
    :param default_folders: list of str, folders that the host's ld.so searches by default
    :param provided: function soname -> bool, true when the other system has that library on its own default path
    :param one_build: folders (list of str) whose libraries come along also where the other system has the same soname
    :param read, is_file: functions path -> ElfFacts and path -> bool, where the files are not those of this machine
    :return: libraries: OrderedDict soname -> ElfFacts, the start libraries first;
             missing: list of (soname, ElfFacts of who needs it) that neither system has
    Raises ElfError when a start library is missing or is no ELF file.
    """
    host = _HostFiles(list(one_build) + list(default_folders), read, is_file)
    libraries, missing, todo = OrderedDict(), [], []

    def take(name, path, by):
        """Keep the library path under its soname, or name without one; by: Loaded that needs it, or None."""
        facts = host.elf(path)
        libraries[name or facts.soname or os.path.basename(path)] = facts
        todo.append(Loaded(name, path, 'host', facts, by))

    for path in paths:
        take(None, path, None)
    while todo:
        one = todo.pop(0)
        for soname in one.facts.needed:
            if soname in libraries or soname in GLIBC_SONAMES:
                continue
            fixed = any(is_file(os.path.join(folder, soname)) for folder in one_build)
            if provided(soname) and not fixed:
                continue
            path, _ = where(soname, one, host, [], machine=one.facts.machine)
            if path:
                take(soname, path, one)
            else:
                missing.append((soname, one.facts))
    return libraries, missing

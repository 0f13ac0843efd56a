"""
Which libraries must come along when libraries of a host are put into another system.

The search for each is the one of image/loader.py, with the host's default folders.
"""

import os
import re
from collections import OrderedDict

from osu_container.image.elf import ElfError, read_elf
from osu_container.image.loader import simulate_load
from osu_container.image.system import LoaderConfig, resolve_lib_variable

#: Libraries of glibc. They must come from where the program interpreter (ld-linux) comes from: a
#: host libc.so.6 under the image's ld-linux ends in "symbol lookup error ... GLIBC_PRIVATE" (glibc
#: manual page ld.so(8): the loader and libc are one build).
GLIBC_SONAMES = frozenset(
    [
        'ld-linux-x86-64.so.2',
        'ld-linux-aarch64.so.1',
        'libBrokenLocale.so.1',
        'libanl.so.1',
        'libc.so.6',
        'libdl.so.2',
        'libm.so.6',
        'libmvec.so.1',
        'libnsl.so.1',
        'libnss_compat.so.2',
        'libnss_dns.so.2',
        'libnss_files.so.2',
        'libpthread.so.0',
        'libresolv.so.2',
        'librt.so.1',
        'libthread_db.so.1',
        'libutil.so.1',
    ]
)


class _HostFiles(object):
    """The files of a host, as the loader's search asks for them: see load() in image/loader.py."""

    def __init__(self, folders, cached, read, is_file):
        """
        See collect_dependencies(); folders: list of str, those that the host's ld.so searches by
        default.
        """
        self.read, self.exists, self._known = read, is_file, {}
        multiarch = [
            folder
            for folder in folders
            if re.search(r'/lib/[^/]+-linux-gnu$', folder) and is_file(folder + '/libc.so.6')
        ]
        #: a distribution decides what $LIB means: its C library lies in such a folder
        self._system = LoaderConfig(
            None, folders, resolve_lib_variable(multiarch or ['/lib64']), find_cached=cached
        )

    def read_loader_config(self, interpreter):
        """Return the System of the host's loader, whatever interpreter is."""
        return self._system

    def read_elf(self, path):
        """Return the ElfFacts of the file path (str). Raises ElfError."""
        if path not in self._known:
            self._known[path] = self.read(path)
        return self._known[path]

    def read_elf_files(self, paths):
        """Return {path: ('host', ElfFacts)} of those of paths (list of str) that are ELF files."""
        found = {}
        for path in paths:
            try:
                found[path] = 'host', self.read_elf(path)
            except (
                ElfError
            ):  # such a file ends the search, and is named when it is read as a library
                continue
        return found

    @staticmethod
    def resolve(path):
        """Return path (str): a file that is asked for by two names comes along under both."""
        return path


def collect_dependencies(
    paths,
    default_folders,
    is_provided,
    one_build=(),
    read_facts=read_elf,
    is_file=os.path.isfile,
    find_cached=None,
):
    """
    Return (libraries, missing): what must come along when the libraries paths are put into another
    system.

    :param paths: list of str, the libraries to start from
    :param default_folders: list of str, folders that the host's ld.so searches by default
    :param provided: function soname -> bool, true when the other system has that library on its own
        default path
    :param one_build: folders (list of str) whose libraries come along also where the other system
        has the same soname
    :param read, is_file: functions path -> ElfFacts and path -> bool, where the files are not those
        of this machine
    :param cached: function (soname, machine) -> path or None: what the host's ld.so.cache has
    :return: libraries: OrderedDict soname -> ElfFacts, the start libraries first;
             missing: list of (soname, ElfFacts of who needs it) that neither system has
    Raises ElfError when a start library is missing, or one of all is no ELF file.
    """

    def is_build_library(name):
        """Return whether the library name (str) is one of one_build."""
        return any(is_file(os.path.join(folder, name)) for folder in one_build)

    host = _HostFiles(
        list(one_build) + list(default_folders),
        lambda name, machine: (
            find_cached(name, machine) if find_cached and not is_build_library(name) else None
        ),
        read_facts,
        is_file,
    )
    starts = [host.read_elf(path).soname or os.path.basename(path) for path in paths]

    def is_excluded(name):
        """Return whether the library name (str) does not come along."""
        return name not in paths and (
            name in starts
            or name in GLIBC_SONAMES
            or is_provided(name)
            and not is_build_library(name)
        )

    if not paths:
        return OrderedDict(), []
    process = simulate_load(paths[1:] + paths[:1], host, [], is_excluded=is_excluded)
    for path, _ in process.broken:
        host.read_elf(path)  # says what is wrong with it
        raise ElfError("%s is for another kind of processor than the library that needs it" % path)
    libraries = OrderedDict(zip(starts, (host.read_elf(path) for path in paths)))
    for one in process.loaded:
        if one.requester is not None or one.path not in paths:
            libraries.setdefault(one.name, one.facts)
    return libraries, [(name, one.facts) for name, one in process.missing]

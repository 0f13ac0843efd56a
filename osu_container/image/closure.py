"""
Collect the host libraries that must be injected together with the host's MPI.

If a host library is injected into a container, the libraries that the host library needs must also
come from the host. This module finds the needed libraries with image/loader.py. For host libraries,
image/loader.py searches the default folders of the host.
"""

import os
import re
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from osu_container.image.elf import ElfError, ElfFacts, read_elf
from osu_container.image.loader import simulate_load
from osu_container.image.system import LoaderConfig, resolve_lib_variable

#: Libraries of glibc, which must not be injected. All libraries of glibc must come from the same
#: build as the program interpreter (ld-linux). If the image's ld-linux loads the host's libc.so.6,
#: the program fails with "symbol lookup error ... GLIBC_PRIVATE" (ld.so(8)).
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


class _HostFiles:
    """The files of a host, with the methods of the class ContainerFiles (image/loader.py)."""

    def __init__(
        self,
        folders: List[str],
        find_cached: Callable[[str, str], Optional[str]],
        read_facts: Callable[[str], ElfFacts],
        is_file: Callable[[str], bool],
    ) -> None:
        """
        Set the folders and the functions with which this object reads the files of a host.

        folders: folders that the host's ld.so searches by default. find_cached, read_facts,
        is_file: see collect_dependencies().
        """
        self.read_facts, self.exists = read_facts, is_file
        self._facts: Dict[str, ElfFacts] = {}
        multiarch = [
            folder
            for folder in folders
            if re.search(r'/lib/[^/]+-linux-gnu$', folder) and is_file(folder + '/libc.so.6')
        ]
        # Each distribution has its own value of $LIB: the folder of its C library.
        self._system = LoaderConfig(
            None, folders, resolve_lib_variable(multiarch or ['/lib64']), find_cached=find_cached
        )

    def read_loader_config(self, interpreter: Optional[str]) -> LoaderConfig:
        """Return the LoaderConfig of the host. The argument `interpreter` has no effect."""
        return self._system

    def read_elf(self, path: str) -> ElfFacts:
        """Return the ElfFacts of the file `path`. Raises ElfError if the file cannot be read."""
        if path not in self._facts:
            self._facts[path] = self.read_facts(path)
        return self._facts[path]

    def read_elf_files(self, paths: Iterable[str]) -> Dict[str, Tuple[str, ElfFacts]]:
        """Return {path: ('host', ElfFacts)} for those of `paths` that are ELF files."""
        files = {}
        for path in paths:
            try:
                files[path] = 'host', self.read_elf(path)
            except ElfError:  # collect_dependencies() reports this error later.
                continue
        return files

    @staticmethod
    def resolve(path: str) -> str:
        """
        Return `path` unchanged, although `path` may be a link.

        A library with two names is injected under each of the two names, so this method does not
        resolve links.
        """
        return path


def collect_dependencies(
    paths: List[str],
    default_folders: Iterable[str],
    is_provided: Callable[[str], bool],
    build_folders: Sequence[str] = (),
    read_facts: Callable[[str], ElfFacts] = read_elf,
    is_file: Callable[[str], bool] = os.path.isfile,
    find_cached: Optional[Callable[[str, str], Optional[str]]] = None,
) -> Tuple[Dict[str, ElfFacts], List[Tuple[str, ElfFacts]]]:
    """
    Return (libraries, missing) for the injection of the host libraries `paths`.

    libraries: {soname: ElfFacts} of all host libraries to inject, in the order of loading; the
    libraries `paths` come first. missing: [(soname, ElfFacts of the library that needs the soname)]
    for each library that is missing both on the host and in the container.

    default_folders: folders that the host's ld.so searches by default. is_provided: function that
    returns whether the loader of the container finds a soname by default. If the container's loader
    finds a soname, the result omits the host's library, except a host library in one of
    `build_folders`. The result always omits the libraries of glibc.
    read_facts, is_file: functions that replace the access to this machine's files.
    find_cached(soname, machine): function that returns the path of a library in the host's
    ld.so.cache, or None.

    Raises ElfError if a library of `paths` does not exist, or if a library is not an ELF file.
    """

    def is_build_library(name: str) -> bool:
        return any(is_file(os.path.join(folder, name)) for folder in build_folders)

    host = _HostFiles(
        list(build_folders) + list(default_folders),
        lambda name, machine: (
            find_cached(name, machine) if find_cached and not is_build_library(name) else None
        ),
        read_facts,
        is_file,
    )
    start_sonames = [host.read_elf(path).soname or os.path.basename(path) for path in paths]

    def is_excluded(name: str) -> bool:
        return name not in paths and (
            name in start_sonames
            or name in GLIBC_SONAMES
            or is_provided(name)
            and not is_build_library(name)
        )

    if not paths:
        return {}, []
    process = simulate_load(paths[1:] + paths[:1], host, [], is_excluded=is_excluded)
    for path, _ in process.broken:
        host.read_elf(path)  # This raises ElfError if the file is damaged.
        raise ElfError(
            f"{path} and the library that needs this file are built for different processors"
        )
    libraries = dict(zip(start_sonames, map(host.read_elf, paths)))
    for library in process.loaded:
        if library.requester is not None or library.path not in paths:
            libraries.setdefault(library.name, library.facts)
    return libraries, [(name, requester.facts) for name, requester in process.missing if requester]

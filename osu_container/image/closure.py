"""
Collect the dependencies of host libraries that are injected into another system.

The search is that of image/loader.py, with the default folders of the host.
"""

import os
import re
from collections import OrderedDict
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from osu_container.image.elf import ElfError, ElfFacts, read_elf
from osu_container.image.loader import simulate_load
from osu_container.image.system import LoaderConfig, resolve_lib_variable

#: Libraries of glibc. They must be of the same build as the program interpreter (ld-linux): the
#: host's libc.so.6 under the image's ld-linux fails with "symbol lookup error ... GLIBC_PRIVATE"
#: (ld.so(8)).
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
    """The files of a host, as ContainerFiles of image/loader.py."""

    def __init__(
        self,
        folders: List[str],
        cached: Callable[[str, str], Optional[str]],
        read_facts: Callable[[str], ElfFacts],
        is_file: Callable[[str], bool],
    ) -> None:
        """Describe the host; folders: those that its ld.so searches by default."""
        self.read_facts, self.exists = read_facts, is_file
        self._facts: Dict[str, ElfFacts] = {}
        multiarch = [
            folder
            for folder in folders
            if re.search(r'/lib/[^/]+-linux-gnu$', folder) and is_file(folder + '/libc.so.6')
        ]
        # a distribution decides the value of $LIB: the folder of its C library
        self._system = LoaderConfig(
            None, folders, resolve_lib_variable(multiarch or ['/lib64']), find_cached=cached
        )

    def read_loader_config(self, interpreter: Optional[str]) -> LoaderConfig:
        """Return the LoaderConfig of the host's loader for any interpreter."""
        return self._system

    def read_elf(self, path: str) -> ElfFacts:
        """Return the ElfFacts of a file. Raises ElfError."""
        if path not in self._facts:
            self._facts[path] = self.read_facts(path)
        return self._facts[path]

    def read_elf_files(self, paths: Iterable[str]) -> Dict[str, Tuple[str, ElfFacts]]:
        """Return {path: ('host', ElfFacts)} of the paths that are ELF files."""
        files = {}
        for path in paths:
            try:
                files[path] = 'host', self.read_elf(path)
            except ElfError:  # reported when the file is read as a library
                continue
        return files

    @staticmethod
    def resolve(path: str) -> str:
        """Return the path unchanged: a file with two names is injected under both."""
        return path


def collect_dependencies(
    paths: List[str],
    default_folders: Iterable[str],
    is_provided: Callable[[str], bool],
    one_build: Sequence[str] = (),
    read_facts: Callable[[str], ElfFacts] = read_elf,
    is_file: Callable[[str], bool] = os.path.isfile,
    find_cached: Optional[Callable[[str, str], Optional[str]]] = None,
) -> Tuple[Dict[str, ElfFacts], List[Tuple[str, ElfFacts]]]:
    """
    Return (libraries, missing): what the libraries `paths` need in another system.

    libraries: {soname: ElfFacts} in the order of loading, those of `paths` first. missing: (soname,
    ElfFacts of the library that needs it) of those that neither system has.

    default_folders: searched by the host's ld.so by default. is_provided: whether the other system
    has this soname on its default path. one_build: folders whose libraries are injected even then.
    read_facts, is_file: for files that are not on this machine. find_cached: path of (soname,
    machine) in the host's ld.so.cache.

    Raises ElfError if a library of `paths` is missing, or any library is not an ELF file.
    """

    def is_build_library(name: str) -> bool:
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

    def is_excluded(name: str) -> bool:
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
        host.read_elf(path)  # raises the error of the file
        raise ElfError(f"{path} is for another kind of processor than the library that needs it")
    libraries = OrderedDict(zip(starts, (host.read_elf(path) for path in paths)))
    for library in process.loaded:
        if library.requester is not None or library.path not in paths:
            libraries.setdefault(library.name, library.facts)
    return libraries, [(name, requester.facts) for name, requester in process.missing if requester]

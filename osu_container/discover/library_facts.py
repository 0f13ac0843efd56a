"""
Describe the libraries of this host as JSON, for `osu-container discover --facts FILE`.

discover/host_facts.py defines the format of the host description. The host description contains
everything that `osu-container check` would read from the files of the host: the libraries that site
entries list, the dependencies of these libraries, and the folders that ld.so searches. The host
description contains no facts about other files and no user names.
"""

import os
from typing import Any, Dict, List, Optional, Tuple

from osu_container.base.files import read_plain_file
from osu_container.data.records import HOST_FORMAT
from osu_container.data.sites import SITES
from osu_container.image.closure import GLIBC_SONAMES
from osu_container.image.elf import ElfError, ElfFacts, read_elf
from osu_container.image.image import MPI_FAMILIES
from osu_container.image.traits import read_fabric_traits, read_mpi_traits
from osu_container.verdict.rules.questions import sort_versions
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem

#: Libraries with more symbols are described without their symbols, which are then unknown. The largest
#: libraries of ROCm have 500,000 symbols
MOST_SYMBOLS = 50000
LIBC = 'libc.so.6'


class _LibraryCollector:
    """Collects facts on the libraries of a host, and all paths of each library."""

    def __init__(
        self, host: HostFileSystem, sites: List[Dict[str, Any]], today: str, node: str
    ) -> None:
        """
        Collect the libraries that site entries list, and the dependencies of these libraries.

        today: ISO date.
        node: name of this node.
        """
        self.host, self.today, self.node = host, today, node
        self.libraries: Dict[str, List[Dict[str, Any]]] = {}
        self.names: Dict[str, List[str]] = {}
        self.cached: Dict[str, str] = {}
        self._by_file: Dict[str, str] = {}
        self._queue: List[Tuple[str, str]] = []
        folders = [
            folder
            for site in sites
            for folder in site['one_build']['value'] + site['library_folders']['value']
        ]
        self.folders = sorted(set(folders), key=folders.index)
        for site in sites:
            for path in [fact['value'] for _, fact in sorted(site['libraries'].items()) if fact]:
                if path not in self.libraries:
                    self.add_library(path)
        self.add_named_library(LIBC, [])
        self.add_dependencies()

    def build_statement(self, **facts: Any) -> Dict[str, Any]:
        source = 'the file, on %s' % self.node
        return dict(facts, evidence='measured', source=source, date=self.today)

    def add_library(self, path: str, root: Optional[str] = None) -> None:
        """
        Add the facts about the host's library `path` to `self.libraries`.

        root: folder in which to look up the path instead of /; with None, the folder `host.root`.
        """
        real_path = (self.host.root if root is None else root) + path
        if path in self.libraries:
            return
        if not os.path.exists(real_path):
            self.libraries[path] = [self.build_statement(there=False)]
            return
        file = os.path.realpath(real_path)
        if file in self._by_file:
            self.libraries[path] = [self.build_statement(same_as=self._by_file[file])]
            # Read the dependencies again, because $ORIGIN is another folder for this path.
            self._queue.append((path, real_path))
            return
        self._by_file[file] = path
        self._queue.append((path, real_path))
        try:
            facts = read_elf(real_path)
        except ElfError as err:
            self.libraries[path] = [
                self.build_statement(unreadable=str(err).replace(real_path, path))
            ]
            return
        self.libraries[path] = [self.build_statement(**self.read_library_facts(real_path, facts))]

    @staticmethod
    def read_library_facts(real_path: str, facts: ElfFacts) -> Dict[str, Any]:
        """Return the facts about a library; RECORDS['host'] in data/records.py lists the keys."""
        statement: Dict[str, Any] = {
            'soname': facts.soname or '',
            'machine': facts.machine,
            'verdef': sorted(facts.verdef),
        }
        if facts.soname in GLIBC_SONAMES:
            return statement
        # Leave out symbols of glibc, because the versions of glibc imply them.
        undefined = {
            name: now
            for name, now in facts.undefined.items()
            if not name.partition('@')[2].startswith('GLIBC_2')
        }
        statement.update(
            needed=facts.needed,
            rpath=facts.rpath,
            runpath=facts.runpath,
            verneed={soname: sorted(names) for soname, names in sorted(facts.verneed.items())},
        )
        if len(facts.defined) + len(undefined) < MOST_SYMBOLS:
            # Leave out plain names of versioned symbols, because readers of the file add them.
            plain = {name.partition('@')[0] for name in facts.defined if '@' in name}
            statement.update(
                defined=sorted(facts.defined - plain),
                undefined={
                    'now': sorted(name for name in undefined if undefined[name]),
                    'later': sorted(name for name in undefined if not undefined[name]),
                },
            )
        if facts.nodeflib:
            statement['nodeflib'] = True
        read_traits = (
            read_fabric_traits
            if facts.soname == 'libfabric.so.1'
            else read_mpi_traits
            if facts.soname in MPI_FAMILIES
            else None
        )
        if read_traits:
            try:
                statement['traits'] = read_traits(read_plain_file(real_path))
            except (OSError, ValueError):  # the traits stay unknown
                pass
        return statement

    def add_dependencies(self) -> None:
        """Add the direct and indirect dependencies of all libraries that were added so far."""
        while self._queue:
            path, real_path = self._queue.pop(0)
            try:
                facts = read_elf(real_path)
            except ElfError:
                continue
            library_paths = [
                folder.replace('${ORIGIN}', '$ORIGIN').replace('$ORIGIN', os.path.dirname(path))
                for folder in facts.rpath + facts.runpath
            ]
            new = [
                os.path.normpath(folder)
                for folder in library_paths
                if folder.startswith('/') and '$' not in folder
            ]
            added = [folder for folder in new if folder not in self.folders]
            self.folders += added
            # ld.so uses DT_RPATH of a library also for dependencies of other libraries.
            for name in sorted(self.names) if added else ():
                self.add_named_library(name, added)
            for name in facts.needed:
                if name not in GLIBC_SONAMES and name not in self.names:
                    self.add_named_library(name, self.folders, facts.machine)

    def add_named_library(
        self, name: str, folders: List[str], machine: Optional[str] = None
    ) -> None:
        """Add the library `name` from each folder that contains a file with this name."""
        root, known_paths = self.host.root, self.names.setdefault(name, [])
        cached = self.host.find_cached(name, machine) if machine else None
        if cached:
            self.cached[name] = cached[len(root) :]
        paths = [(folder.rstrip('/') + '/' + name) for folder in folders or self.folders]
        present = [path for path in paths if self.host.is_file(root + path)] + (
            [cached[len(root) :]] if cached else []
        )
        for path in present:
            self.add_library(path)
        # If the folder that replaces / lacks the library, use this machine's, as verdict/trial.py does.
        for path in paths if root and not present and not known_paths else ():
            if os.path.isfile(path) and path not in self.libraries:
                self.add_library(path, '')
                present.append(path)
        known_paths += [path for path in present if path not in known_paths]


def describe_host(
    entry: Dict[str, Any], root: str, name: str, today: str, node: str
) -> Dict[str, Any]:
    """
    Return the description of a host as a dict that can be written as JSON.

    entry: entry of the surveyed site.
    root: folder that contains the files of the system, '' for the real root folder /.
    name: name of the site.
    today: ISO date.
    node: name of this node.
    """
    host = HostFileSystem(root)
    # The surveyed site, and all known sites whose libraries exist on the host
    sites = [entry] + [
        site
        for site in map(resolve_site, sorted(SITES))
        if any(
            host.exists(host.add_root(fact['value'])) for fact in site['libraries'].values() if fact
        )
    ]
    collector = _LibraryCollector(host, sites, today, node)
    newest = sort_versions(
        version
        for statements in collector.libraries.values()
        for statement in statements
        if statement.get('soname') == LIBC
        for version in statement['verdef']
        if version.startswith('GLIBC_2')
    )[-1:]
    return {
        'format': HOST_FORMAT,
        'site': name,
        'node': node,
        'machine': os.uname().machine,
        'glibc': {
            'value': '.'.join(newest[0][6:].split('.')[:2]),
            'source': 'versions that %s defines' % LIBC,
            'date': today,
            'evidence': 'measured',
        }
        if newest
        else None,
        'names': collector.names,
        'cached': collector.cached,
        'libraries': collector.libraries,
    }

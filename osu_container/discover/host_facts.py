"""
Read host descriptions: JSON files with facts about the libraries of a host.

With a host description, `osu-container check` judges images for a host that is not this machine.

Descriptions from public sources (public_hosts.py) have the same JSON format as the descriptions
that `osu-container discover --facts FILE` writes. read_description() validates a description. The
class DescribedHost has the methods of HostFileSystem in verdict/trial.py. DescribedHost
returns facts from a description, and reads no files of the host. If a description lacks a fact, the
fact is unknown, and the rules in verdict/rules/described_host.py report the gap.

This module needs only Python 3.6 and its standard library. data/records.py lists the keys of
a description.
"""

import functools
import json
import os
import re
from typing import Any, Callable, Dict, Iterable, List, Optional, Set, Tuple

from osu_container.base.files import read_json
from osu_container.data.records import HOST_FORMAT, RECORDS, read_record
from osu_container.image.elf import MACHINE_NAMES, ElfError, ElfFacts
from osu_container.image.traits import read_fabric_traits

HOSTS_FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'hosts')
#: MPI functions by release of the standard
FUNCTIONS_FILE = os.path.join(HOSTS_FOLDER, 'mpi-functions.txt')


class HostDescriptionError(Exception):
    """A file contains no valid host description; the message names the file and the remedy."""


#: Facts of a complete description, with the value that replaces a missing fact
NEEDED_FACTS: Dict[str, Any] = {
    'soname': '',
    'machine': None,
    'needed': [],
    'rpath': [],
    'runpath': [],
    'verneed': {},
    'verdef': [],
    'undefined': {'now': [], 'later': []},
    'defined': [],
}
#: Traits of an MPI library and of libfabric, with the value that replaces an unknown trait
MPI_TRAITS: Dict[str, Any] = {
    'family': None,
    'release': None,
    'device': None,
    'hmem': None,
    'cxi': None,
    'pmi': [],
    'opens': [],
    'asks': None,
    'single_copy': None,
}
FABRIC_TRAITS: Dict[str, Any] = {
    'release': None,
    'api': None,
    'providers': [],
    'folders': None,
    'by_name': False,
}


def require_valid_description(data: Any, name: str) -> Dict[str, Any]:
    """
    Return `data`, the content of a file, if `data` is a valid host description.

    name: name of the file, for the error message. Raises HostDescriptionError if `data` is not a
    valid host description.
    """
    try:
        read_record(data, RECORDS['host'])
        if data['machine'] not in MACHINE_NAMES:
            raise ValueError(
                "machine is %.60r, expected: %s" % (data['machine'], ' or '.join(MACHINE_NAMES))
            )
        for path, statements in data['libraries'].items():
            for target in (statement.get('same_as', path) for statement in statements):
                if target not in data['libraries']:
                    raise ValueError(
                        "the key same_as of library %s refers to library %s, but the file does "
                        "not describe the second library" % (path, target)
                    )
    except ValueError as err:
        raise HostDescriptionError(
            "%s is not a host description of format %d: %s. Write a new description on the "
            "system itself: osu-container discover --facts FILE" % (name, HOST_FORMAT, err)
        )
    return data


def read_description(path: str) -> Dict[str, Any]:
    """
    Read a file and return the host description in the file.

    Raises HostDescriptionError if the file contains no valid host description.
    """
    try:
        return require_valid_description(read_json(path), path)
    except (OSError, ValueError) as err:
        raise HostDescriptionError(
            "cannot read the host description %s: %s. Write a new description on the system itself: "
            "osu-container discover --facts FILE" % (path, getattr(err, 'strerror', None) or err)
        )


def format_description(data: Dict[str, Any]) -> str:
    """Return a host description as JSON text."""
    return json.dumps(data, indent=1, sort_keys=True) + '\n'


@functools.lru_cache(None)
def _read_mpi_functions() -> Dict[str, List[str]]:
    """
    Return {release of the MPI standard: names of the functions that this release defines}.

    Names that begin with PMPI_ are omitted.
    """
    functions: Dict[str, List[str]] = {}
    with open(FUNCTIONS_FILE) as handle:
        paragraphs = handle.read().split('\n\n')[1:]
    for head, _, names in (paragraph.partition('\n') for paragraph in paragraphs):
        for release in re.findall(r'MPI [\d.]+', head):
            functions.setdefault(release, []).extend(
                'MPI_' + name + ('_c' if 'with _c' in head else '') for name in names.split()
            )
    return functions


def _merge_statements(
    statements: List[Dict[str, Any]],
) -> Tuple[Dict[str, Any], Dict[str, Any], Dict[str, str]]:
    """
    Merge the dicts of a host description on one library; return (facts, traits, evidence).

    statements: dicts with facts, traits and evidence. Traits are facts about the content of a
    library, such as the providers of a libfabric. The result `evidence` maps the name of each fact
    and each trait to a word such as 'measured'. The names of traits begin with 'traits.'.
    """
    facts: Dict[str, Any] = {}
    traits: Dict[str, Any] = {}
    evidence: Dict[str, str] = {}
    for statement in statements:
        for key, value in statement.items():
            if key == 'traits':
                traits.update(value)
                evidence.update(('traits.' + name, statement['evidence']) for name in value)
            elif key not in ('evidence', 'source', 'date'):
                facts[key] = value
                evidence[key] = statement['evidence']
    return facts, traits, evidence


class DescribedHost:
    """Implements the methods of HostFileSystem with the facts of a host description."""

    is_partial = True
    root = ''

    def __init__(self, data: Dict[str, Any]) -> None:
        self.data = data
        self.files: Dict[str, ElfFacts] = {}
        self.absent: Set[str] = set()
        self.glibc = (data.get('glibc') or {}).get('value')
        self._gaps: Dict[str, Set[str]] = {}
        self._traits: Dict[str, Dict[str, Any]] = {}
        self._evidence: Dict[str, Dict[str, str]] = {}
        self._unreadable: Dict[str, str] = {}
        self._names: Dict[str, List[str]] = data.get('names', {})
        for path, statements in data['libraries'].items():
            facts, traits, evidence = _merge_statements(statements)
            if 'same_as' in facts:
                facts, traits, evidence = _merge_statements(data['libraries'][facts['same_as']])
            self._add_library(path, facts, traits, evidence)

    def _add_library(
        self, path: str, facts: Dict[str, Any], traits: Dict[str, Any], evidence: Dict[str, str]
    ) -> None:
        if facts.get('there') is False:
            self.absent.add(path)
            return
        if 'unreadable' in facts:
            self._unreadable[path] = facts['unreadable']
        self._evidence[path] = evidence
        self._gaps[path] = (
            set(NEEDED_FACTS)
            .difference(facts)
            .union(
                (
                    'verneed of ' + soname
                    for soname, versions in facts.get('verneed', {}).items()
                    if versions is None
                ),
                ('traits.' + name for name in (*MPI_TRAITS, *FABRIC_TRAITS) if name not in traits),
            )
        )
        self._traits[path] = {
            **traits,
            'asks': traits.get('asks')
            and {name: tuple(api) for name, api in traits['asks'].items()},
            'api': traits.get('api') and tuple(traits['api']),
        }
        whole = {**NEEDED_FACTS, **facts}
        functions = [
            prefix + name
            for name in _read_mpi_functions().get(facts.get('functions', ''), ())
            for prefix in ('', 'P')
        ]
        self.files[path] = ElfFacts(
            path=path,
            soname=whole['soname'] or None,
            machine=whole['machine'] or self.get_machine(),
            needed=whole['needed'],
            rpath=whole['rpath'],
            runpath=whole['runpath'],
            verneed={
                soname: set(versions) for soname, versions in whole['verneed'].items() if versions
            },
            verdef=set(whole['verdef']),
            interpreter=None,
            dynamic=True,
            undefined={
                **dict.fromkeys(whole['undefined']['now'], True),
                **dict.fromkeys(whole['undefined']['later'], False),
            },
            defined=set(whole['defined'] + functions).union(
                name.partition('@')[0] for name in whole['defined']
            ),
            nodeflib=facts.get('nodeflib', False),
        )

    def add_root(self, path: str) -> str:
        return path

    def exists(self, path: str) -> bool:
        """Return whether the description contains the file `path`; the host may have more files."""
        return path in self.files

    is_file = exists

    def is_described(self, path: str) -> bool:
        """Return whether the description lists a file, either as existing or as missing."""
        return path in self.files or path in self.absent

    def list_plugins(self, folder: str) -> List[str]:
        """Return an empty list, because host descriptions do not list the files of folders."""
        return []

    def is_known_absent(self, name: str) -> bool:
        return self._names.get(name) == []

    def has_known_paths(self, name: str) -> Optional[bool]:
        """
        Return whether the description has facts for every path of a library on the host.

        The result is None if the paths of the library are unknown.
        """
        if name not in self._names:
            return True if any(path.endswith('/' + name) for path in self.files) else None
        return all(map(self.is_described, self._names[name]))

    def list_unknown_facts(self, path: str) -> Iterable[str]:
        return self._gaps.get(path, ())

    def list_untested_facts(self, path: str) -> List[str]:
        """Return the sorted names of the facts on a library that have the evidence 'untested'."""
        return sorted(
            key for key, word in self._evidence.get(path, {}).items() if word == 'untested'
        )

    def find_cached(self, name: str, machine: str) -> Optional[str]:
        return self.data.get('cached', {}).get(name)

    def read_elf(self, path: str) -> ElfFacts:
        """
        Return the facts on the library at `path` in the format of elf.read_elf().

        Raises ElfError if the description lacks the file or states that the file is not a library.
        """
        if path in self._unreadable or path not in self.files:
            raise ElfError(self._unreadable.get(path, '%s is not described' % path))
        return self.files[path]

    def get_machine(self) -> str:
        return MACHINE_NAMES[self.data['machine']]

    def read_traits(self, path: str, parse: Callable[..., Any]) -> Dict[str, Any]:
        """
        Return the traits of a library, such as the providers of a libfabric, from the description.

        parse: function that would read the traits from the library file on a real host
        """
        self.read_elf(path)
        return {
            **(FABRIC_TRAITS if parse is read_fabric_traits else MPI_TRAITS),
            **self._traits[path],
        }

    def find_date_range(self) -> Tuple[Optional[str], Optional[str]]:
        """Return the first and last date of the described facts, (None, None) without facts."""
        dates = sorted(
            statement['date']
            for statements in self.data['libraries'].values()
            for statement in statements
        )
        return (dates[0], dates[-1]) if dates else (None, None)

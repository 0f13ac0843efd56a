"""
The description of a host: what is known of its libraries where nobody can look into them.

One form, of JSON, for what public sources say of a site (public_hosts.py) and for what
`osu-container discover --facts FILE` saw on a machine. read_description() checks it, DescribedHost
answers from it as Host of verdict/trial.py does from files; what it lacks is no answer: the rules
of verdict/rules/described_host.py say so. Python 3.6 and its standard library only.

    format      1
    site        name of the site
    node        where it was looked at, None where it was not
    machine     of its processors, as uname -m says it
    glibc       fact (value: release, source, date, evidence): no library of the host needs a newer one; or None
    names       {name of a library: paths where the host has it}: all of them, so that [] means that it has it nowhere
    cached      {name: path}, what the host's ld.so.cache has of them
    libraries   {path: list of statements}, each with evidence, source, date and facts (FACTS); none is said twice
"""

import json
import os
import re

from osu_container.base.files import read_json
from osu_container.data.sites.schema import EVIDENCE, matches_shape
from osu_container.image.elf import MACHINE_NAMES, ElfError, ElfFacts
from osu_container.image.traits import read_fabric_traits

FORMAT = 1
HOSTS_FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'hosts')
#: Functions of MPI by the release of the standard
FUNCTIONS_FILE = os.path.join(HOSTS_FOLDER, 'mpi-functions.txt')


class HostDescriptionError(Exception):
    """
    A description that is none: the text says which file, where in it, what was found and what is
    wanted.
    """


#: What a statement may say of a library, as fits() takes it. there: False, it is missing;
#: unreadable: why it is no library; same_as: path of another one that is the same file; soname: ''
#: for none; verneed: {soname: versions}, None for versions that are not known (of libc.so.6: of the
#: whole C library); functions: it has all functions of that MPI, and maybe more; traits: as
#: image/traits.py has them
STATEMENT_FACTS = {
    'there?': bool,
    'unreadable?': str,
    'same_as?': str,
    'soname?': str,
    'machine?': str,
    'needed?': [str],
    'rpath?': [str],
    'runpath?': [str],
    'nodeflib?': bool,
    'verneed?': {str: ([str], None)},
    'verdef?': [str],
    'undefined?': {'now': [str], 'later': [str]},
    'defined?': [str],
    'functions?': str,
    'traits?': {
        'asks?': ({str: [int]}, None),
        'api?': ([int], None),
        'providers?': [str],
        'pmi?': [str],
        'opens?': [str],
        'device?': ([str], None),
        'folders?': ([str], None),
    },
}
_STATEMENT_KEYS = {'evidence': str, 'source': str, 'date': str}
SHAPE = {
    'format': int,
    'site': str,
    'machine': str,
    'glibc': (dict(_STATEMENT_KEYS, value=str), None),
    'names?': {str: [str]},
    'cached?': {str: str},
    'libraries': {str: [dict(_STATEMENT_KEYS, **STATEMENT_FACTS)]},
}
#: Those without which something is not known of a library, and what stands in their place for the
#: loader
NEEDED_FACTS = {
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
#: Traits of an MPI and of a libfabric, with what stands for one that is not known
MPI_TRAITS = {
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
FABRIC_TRAITS = {'release': None, 'api': None, 'providers': [], 'folders': None, 'by_name': False}


def require_valid_description(data, name):
    """
    Return data (what JSON holds) if it is a description; name: str, of its file. Raises
    HostFactsError.
    """
    good = (
        matches_shape(data, SHAPE)
        and data['format'] == FORMAT
        and data['machine'] in MACHINE_NAMES
        and (not data['glibc'] or re.match(r'2\.\d+$', data['glibc']['value']))
    )
    if not good or not all(
        said['evidence'] in EVIDENCE and said.get('same_as') in {None}.union(data['libraries'])
        for statements in data['libraries'].values()
        for said in statements
    ):
        raise HostDescriptionError(
            "%s is no description of a host of format %d. `osu-container discover --facts FILE` on "
            "the system writes one" % (name, FORMAT)
        )
    return data


def read_description(path):
    """Return the description (dict) in the file path (str). Raises HostFactsError."""
    try:
        return require_valid_description(read_json(path), path)
    except (OSError, ValueError) as err:
        raise HostDescriptionError(
            "%s cannot be read: %s. `osu-container discover --facts FILE` on the system writes one"
            % (path, getattr(err, 'strerror', None) or err)
        )


def format_description(data):
    """Return a description (dict) as text (str)."""
    return json.dumps(data, indent=1, sort_keys=True) + '\n'


#: What _read_mpi_functions() has read
_MPI_FUNCTIONS = {}


def _read_mpi_functions():
    """Return {release of the standard: list of functions, without PMPI_}."""
    if not _MPI_FUNCTIONS:
        with open(FUNCTIONS_FILE) as handle:
            paragraphs = handle.read().split('\n\n')[1:]
        for head, _, names in (paragraph.partition('\n') for paragraph in paragraphs):
            for release in re.findall(r'MPI [\d.]+', head):
                _MPI_FUNCTIONS.setdefault(release, []).extend(
                    'MPI_' + name + ('_c' if 'with _c' in head else '') for name in names.split()
                )
    return _MPI_FUNCTIONS


def _merge_statements(statements):
    """
    Return ({fact: value}, {trait: value}, {fact or 'traits.NAME': evidence}) of statements (list
    of dict).
    """
    facts, traits, evidence = {}, {}, {}
    for said in statements:
        for key, value in said.items():
            if key == 'traits':
                traits.update(value)
                evidence.update(('traits.' + name, said['evidence']) for name in value)
            elif key not in _STATEMENT_KEYS:
                facts[key] = value
                evidence[key] = said['evidence']
    return facts, traits, evidence


class DescribedHost(object):
    """
    A host of which a description is all there is. See Host of verdict/trial.py for the methods.
    """

    is_partial = True
    root = ''

    def __init__(self, data):
        """data: a description, as read_description() gives it."""
        self.data, self.files, self.absent = data, {}, set()
        self.glibc = (data.get('glibc') or {}).get('value')
        self._gaps, self._traits, self._evidence, self._unreadable = {}, {}, {}, {}
        self._names = data.get('names', {})
        for path, statements in data['libraries'].items():
            facts, traits, evidence = _merge_statements(statements)
            if 'same_as' in facts:
                facts, traits, evidence = _merge_statements(data['libraries'][facts['same_as']])
            self._add_library(path, facts, traits, evidence)

    def _add_library(self, path, facts, traits, evidence):
        """Take what is known of the library path (str)."""
        if facts.get('there') is False:
            self.absent.add(path)
            return
        if 'unreadable' in facts:
            self._unreadable[path] = facts['unreadable']
        self._evidence[path] = evidence
        self._gaps[path] = {key for key in NEEDED_FACTS if key not in facts} | {
            'verneed of ' + soname
            for soname, versions in facts.get('verneed', {}).items()
            if versions is None
        }
        for names in (MPI_TRAITS, FABRIC_TRAITS):
            self._gaps[path] |= {'traits.' + name for name in names if name not in traits}
        self._traits[path] = dict(
            traits,
            **{
                'asks': traits.get('asks')
                and {name: tuple(api) for name, api in traits['asks'].items()},
                'api': traits.get('api') and tuple(traits['api']),
            },
        )
        whole = dict(NEEDED_FACTS, **facts)
        functions = [
            prefix + name
            for name in _read_mpi_functions().get(facts.get('functions'), ())
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
            undefined=dict(
                [(name, True) for name in whole['undefined']['now']]
                + [(name, False) for name in whole['undefined']['later']]
            ),
            defined=set(whole['defined'] + functions).union(
                name.partition('@')[0] for name in whole['defined']
            ),
            nodeflib=facts.get('nodeflib', False),
        )

    def add_root(self, path):
        """See Host."""
        return path

    def exists(self, path):
        """See Host: what is not described is held not to be there; is_described() tells."""
        return path in self.files

    is_file = exists

    def is_described(self, path):
        """See Host."""
        return path in self.files or path in self.absent

    def list_plugins(self, folder):
        """See Host: no folder is described."""
        return []

    def is_known_absent(self, name):
        """See Host."""
        return self._names.get(name) == []

    def has_known_paths(self, name):
        """
        Return whether all places of the library name (str) are described, None where these are
        not said.
        """
        if name not in self._names:
            return True if any(path.endswith('/' + name) for path in self.files) else None
        return all(map(self.is_described, self._names[name]))

    def list_unknown_facts(self, path):
        """See Host."""
        return self._gaps.get(path, ())

    def list_untested_facts(self, path):
        """
        Return the names (sorted list of str) of what is said of the library path without anybody
        having seen it.
        """
        return sorted(
            key for key, word in self._evidence.get(path, {}).items() if word == 'untested'
        )

    def find_cached(self, name, machine):
        """See Host."""
        return self.data.get('cached', {}).get(name)

    def read_elf(self, path):
        """
        See Host. Raises ElfError where the description says that the file is no library, or does
        not have it.
        """
        if path in self._unreadable or path not in self.files:
            raise ElfError(self._unreadable.get(path, '%s is not described' % path))
        return self.files[path]

    def get_machine(self):
        """See Host."""
        return MACHINE_NAMES[self.data['machine']]

    def read_traits(self, path, read):
        """See Host: what is described, whatever read would find."""
        self.read_elf(path)
        return dict(
            FABRIC_TRAITS if read is read_fabric_traits else MPI_TRAITS, **self._traits[path]
        )

    def list_evidence(self):
        """
        Return the words (list of str, of EVIDENCE) that the description has for what it says,
        the surest first.
        """
        words = {word for known in self._evidence.values() for word in known.values()}
        words |= {self.data['glibc']['evidence']} if self.data.get('glibc') else set()
        return [word for word in EVIDENCE if word in words]

    def find_date_range(self):
        """
        Return (first, last) of the dates (str) of what the description says, (None, None) where
        it says nothing.
        """
        dates = sorted(
            said['date'] for statements in self.data['libraries'].values() for said in statements
        )
        return (dates[0], dates[-1]) if dates else (None, None)

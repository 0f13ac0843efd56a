"""
The description of a host: what is known of its libraries where nobody can look into them.

One form, of JSON, for what public sources say of a site (public_hosts.py) and for what `osu-container discover --facts
FILE` saw on a machine. read_description() checks it,
DescribedHost answers from it as Host of core/deciding/trial.py does from files; what it lacks is no answer: the rules
of core/deciding/rules/described_host.py say so. Python 3.6 and its standard library only.

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

from osu_container.core.data.sites.schema import EVIDENCE, fits
from osu_container.core.reading.elf import MACHINE_NAMES, ElfError, ElfFacts
from osu_container.core.reading.files import read_json
from osu_container.core.reading.traits import fabric_traits

FORMAT = 1
HOSTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'hosts')
#: Functions of MPI by the release of the standard
FUNCTIONS = os.path.join(HOSTS, 'mpi-functions.txt')


class HostFactsError(Exception):
    """A description that is none: the text says which file, where in it, what was found and what is wanted."""


#: What a statement may say of a library: name -> (its shape, as fits() takes it; what is wanted)
#: there: False, it is not; unreadable: why it is no library; same_as: path of another one that is the same file;
#: soname: '' for none; verneed: {soname: versions}, None for versions that are not known (of libc.so.6: of the whole C
#: library); functions: it has all functions of that MPI, and maybe more; traits: as core/reading/traits.py has them
FACTS = {
    'there': (bool, 'true or false'), 'unreadable': (str, 'a text'), 'same_as': (str, 'a path'),
    'soname': (str, 'a text'), 'machine': (str, 'a text, as readelf has it'),
    'needed': ([str], 'a list of texts'), 'rpath': ([str], 'a list of texts'),
    'runpath': ([str], 'a list of texts'), 'nodeflib': (bool, 'true or false'),
    'verneed': ({str: ([str], None)}, '{soname: list of versions, or null}'), 'verdef': ([str], 'a list of texts'),
    'undefined': ({'now': [str], 'later': [str]}, "{'now': list of symbols, 'later': list of symbols}"),
    'defined': ([str], 'a list of symbols'), 'functions': (str, "'MPI 3.1' or 'MPI 4.0'"),
    'traits': (dict, 'a table of traits'),
}
#: Those without which something is not known of a library, and what stands in their place for the loader
NEEDED_FACTS = {'soname': '', 'machine': None, 'needed': [], 'rpath': [], 'runpath': [], 'verneed': {}, 'verdef': [],
                'undefined': {'now': [], 'later': []}, 'defined': []}
#: Traits of an MPI and of a libfabric, with what stands for one that is not known
MPI_TRAITS = {'family': None, 'release': None, 'device': None, 'hmem': None, 'cxi': None, 'pmi': [], 'opens': [],
              'asks': None, 'single_copy': None}
FABRIC_TRAITS = {'release': None, 'api': None, 'providers': [], 'folders': None, 'by_name': False}


def _wanted(good, name, where, value, wanted):
    """Raise HostFactsError unless good (bool): of the file name (str), where (str) in it."""
    if not good:
        found = json.dumps(value, sort_keys=True)
        raise HostFactsError("%s: %s is %s, wanted: %s. `osu-container discover --facts FILE` on the system writes one"
                             % (name, where, found if len(found) < 80 else found[:77] + '...', wanted))


def _check_said(name, where, said):
    """Raise HostFactsError unless said (dict) tells how its facts are known."""
    _wanted(isinstance(said, dict), name, where, said, 'a table')
    for key in ('source', 'date'):
        _wanted(said.get(key) and fits(said[key], str), name, '%s.%s' % (where, key), said.get(key), 'a text')
    _wanted(said.get('evidence') in EVIDENCE, name, where + '.evidence', said.get('evidence'), ' or '.join(EVIDENCE))


def checked(data, name):
    """Return data (what JSON holds) if it is a description; name: str, of its file. Raises HostFactsError."""
    _wanted(isinstance(data, dict) and data.get('format') == FORMAT, name, 'format',
            data.get('format') if isinstance(data, dict) else data, str(FORMAT))
    for key, shape, wanted in (
            ('site', str, 'the name of a site'), ('names', {str: [str]}, '{name: list of paths}'),
            ('cached', {str: str}, '{name: path}'), ('libraries', dict, '{path: statements}')):
        value = data.get(key, {} if key in ('names', 'cached') else None)
        _wanted(fits(value, shape), name, key, value, wanted)
    _wanted(data.get('machine') in MACHINE_NAMES, name, 'machine', data.get('machine'), ' or '.join(
        sorted(MACHINE_NAMES)))
    if data.get('glibc') is not None:
        _check_said(name, 'glibc', data['glibc'])
        value = data['glibc'].get('value')
        _wanted(fits(value, str) and re.match(r'2\.\d+$', value), name, 'glibc.value', value,
                "a release, such as '2.38'")
    unknown = sorted(set(data) - {'format', 'site', 'node', 'machine', 'glibc', 'names', 'cached', 'libraries'})
    _wanted(not unknown, name, 'a key', unknown, 'none of these')
    for path, statements in data['libraries'].items():
        _wanted(path.startswith('/'), name, 'a path in libraries', path, 'a whole path')
        _wanted(isinstance(statements, list) and statements, name, 'libraries.' + path, statements, 'statements')
        _check_library(data, name, path, statements)
    return data


def _check_library(data, name, path, statements):
    """Raise HostFactsError unless statements (list) of the library path are what FACTS has."""
    seen = set()
    for number, said in enumerate(statements):
        where = 'libraries.%s[%d]' % (path, number)
        _check_said(name, where, said)
        for key, value in said.items():
            if key in ('source', 'date', 'evidence'):
                continue
            _wanted(key in FACTS, name, '%s: a key' % where, key, 'one of ' + ', '.join(sorted(FACTS)))
            _wanted(fits(value, FACTS[key][0]), name, '%s.%s' % (where, key), value, FACTS[key][1])
            several = ['traits.' + trait for trait in value] if key == 'traits' else [key]
            for one in several:
                _wanted(one not in seen, name, '%s.%s' % (where, one), value, 'said once')
                seen.add(one)
            if key == 'same_as':
                _wanted(value in data['libraries'] and value != path, name, '%s.%s' % (where, key), value,
                        'another path of libraries')
            if key == 'traits':
                unknown = sorted(set(value) - set(MPI_TRAITS) - set(FABRIC_TRAITS) - {'complete'})
                _wanted(not unknown, name, where + '.traits', unknown, 'none of these')
            if key == 'functions':
                _wanted(value in _functions(), name, '%s.%s' % (where, key), value, FACTS[key][1])


def read_description(path):
    """Return the description (dict) in the file path (str). Raises HostFactsError."""
    try:
        data = read_json(path)
    except OSError as err:
        raise HostFactsError("%s cannot be read: %s. `osu-container discover --facts FILE` on the system writes one"
                             % (path, err.strerror or err))
    except ValueError as err:
        raise HostFactsError("%s is not JSON: %s. `osu-container discover --facts FILE` on the system writes one"
                             % (path, err))
    return checked(data, path)


def text_of(data):
    """Return a description (dict) as text (str): JSON, a line a statement. Raises HostFactsError if it is none."""
    data = json.loads(json.dumps(checked(data, 'the description'), sort_keys=True))
    head = json.dumps({key: value for key, value in data.items() if key != 'libraries'}, indent=1, sort_keys=True)
    libraries = ',\n'.join('  %s: [\n%s\n  ]' % (json.dumps(path), ',\n'.join(
        '   ' + json.dumps(said, sort_keys=True) for said in statements))
        for path, statements in sorted(data['libraries'].items()))
    return '%s,\n "libraries": {\n%s\n }\n}\n' % (head.rstrip('}\n'), libraries)


#: What _functions() has read
_KNOWN = {}


def _functions():
    """Return {release of the standard: list of functions, without PMPI_}."""
    if not _KNOWN:
        with open(FUNCTIONS) as handle:
            paragraphs = handle.read().split('\n\n')[1:]
        for head, _, names in (paragraph.partition('\n') for paragraph in paragraphs):
            for release in re.findall(r'MPI [\d.]+', head):
                _KNOWN.setdefault(release, []).extend(
                    'MPI_' + name + ('_c' if 'with _c' in head else '') for name in names.split())
    return _KNOWN


def _facts_of(statements):
    """Return ({fact: value}, {trait: value}, {fact or 'traits.NAME': evidence}) of statements (list of dict)."""
    facts, traits, evidence = {}, {}, {}
    for said in statements:
        for key, value in said.items():
            if key == 'traits':
                traits.update(value)
                evidence.update(('traits.' + name, said['evidence']) for name in value)
            elif key in FACTS:
                facts[key] = value
                evidence[key] = said['evidence']
    return facts, traits, evidence


class DescribedHost(object):
    """A host of which a description is all there is. See Host of core/deciding/trial.py for the methods."""

    partial = True
    root = ''

    def __init__(self, data):
        """data: a description, as read_description() gives it."""
        self.data, self.files, self.absent = data, {}, set()
        self.glibc = (data.get('glibc') or {}).get('value')
        self._gaps, self._traits, self._evidence, self._unreadable = {}, {}, {}, {}
        self._names = data.get('names', {})
        for path, statements in data['libraries'].items():
            facts, traits, evidence = _facts_of(statements)
            if 'same_as' in facts:
                facts, traits, evidence = _facts_of(data['libraries'][facts['same_as']])
            self._add(path, facts, traits, evidence)

    def _add(self, path, facts, traits, evidence):
        """Take what is known of the library path (str)."""
        if facts.get('there') is False:
            self.absent.add(path)
            return
        if 'unreadable' in facts:
            self._unreadable[path] = facts['unreadable']
        self._evidence[path] = evidence
        self._gaps[path] = {key for key in NEEDED_FACTS if key not in facts} | {
            'verneed of ' + soname for soname, versions in facts.get('verneed', {}).items() if versions is None}
        for names in (MPI_TRAITS, FABRIC_TRAITS):
            self._gaps[path] |= {'traits.' + name for name in names if name not in traits}
        self._traits[path] = dict(traits, **{'asks': traits.get('asks') and {
            name: tuple(api) for name, api in traits['asks'].items()}, 'api': traits.get('api') and tuple(
                traits['api'])})
        whole = dict(NEEDED_FACTS, **facts)
        functions = [prefix + name for name in _functions().get(facts.get('functions'), ()) for prefix in ('', 'P')]
        self.files[path] = ElfFacts(
            path=path, soname=whole['soname'] or None, machine=whole['machine'] or self.machine(),
            needed=whole['needed'], rpath=whole['rpath'], runpath=whole['runpath'],
            verneed={soname: set(versions) for soname, versions in whole['verneed'].items() if versions},
            verdef=set(whole['verdef']), interpreter=None, dynamic=True,
            undefined=dict([(name, True) for name in whole['undefined']['now']] +
                           [(name, False) for name in whole['undefined']['later']]),
            defined=set(whole['defined'] + functions).union(name.partition('@')[0] for name in whole['defined']),
            nodeflib=facts.get('nodeflib', False))

    def on(self, path):
        """See Host."""
        return path

    def exists(self, path):
        """See Host: what is not described is held not to be there; describes() tells."""
        return path in self.files

    is_file = exists

    def describes(self, path):
        """See Host."""
        return path in self.files or path in self.absent

    def plugins(self, folder):
        """See Host: no folder is described."""
        return []

    def lacks(self, name):
        """See Host."""
        return self._names.get(name) == []

    def knows(self, name):
        """Return whether all places of the library name (str) are described, None where these are not said."""
        if name not in self._names:
            return True if any(path.endswith('/' + name) for path in self.files) else None
        return all(map(self.describes, self._names[name]))

    def gaps(self, path):
        """See Host."""
        return self._gaps.get(path, ())

    def untested(self, path):
        """Return the names (sorted list of str) of what is said of the library path without anybody having seen it."""
        return sorted(key for key, word in self._evidence.get(path, {}).items() if word == 'untested')

    def cached(self, name, machine):
        """See Host."""
        return self.data.get('cached', {}).get(name)

    def elf(self, path):
        """See Host. Raises ElfError where the description says that the file is no library, or does not have it."""
        if path in self._unreadable or path not in self.files:
            raise ElfError(self._unreadable.get(path, '%s is not described' % path))
        return self.files[path]

    def machine(self):
        """See Host."""
        return MACHINE_NAMES[self.data['machine']]

    def traits(self, path, read):
        """See Host: what is described, whatever read would find."""
        self.elf(path)
        return dict(FABRIC_TRAITS if read is fabric_traits else MPI_TRAITS, **self._traits[path])

    def evidence(self):
        """Return the words (list of str, of EVIDENCE) that the description has for what it says, the surest first."""
        words = {word for known in self._evidence.values() for word in known.values()}
        words |= {self.data['glibc']['evidence']} if self.data.get('glibc') else set()
        return [word for word in EVIDENCE if word in words]

    def dates(self):
        """Return (first, last) of the dates (str) of what the description says, (None, None) where it says nothing."""
        dates = sorted(said['date'] for statements in self.data['libraries'].values() for said in statements)
        return (dates[0], dates[-1]) if dates else (None, None)

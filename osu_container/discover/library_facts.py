"""
What `discover --facts` writes: the libraries of this host as a description
(osu_container/discover/host_facts.py).

All that check asks of the real files is in it: of the libraries that sites name, of all that these
need, and of each place where ld.so would look for them. Nothing else is: no file that is not one of
these, and no name of a user.
"""

import os
from collections import OrderedDict

from osu_container.base.files import read_plain_file
from osu_container.data.sites import SITES
from osu_container.discover.host_facts import FORMAT
from osu_container.image.closure import GLIBC_SONAMES
from osu_container.image.elf import ElfError, read_elf
from osu_container.image.image import MPI_FAMILIES
from osu_container.image.traits import read_fabric_traits, read_mpi_traits
from osu_container.verdict.rules.questions import sort_versions
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem

#: Symbols of a library with more are left out, which makes them unknown: the largest of ROCm have
#: some 500,000
MOST_SYMBOLS = 50000
LIBC = 'libc.so.6'


def list_matching_sites(host, entry):
    """
    Return the whole entries (list of dict) of sites of which libraries are on a host (core Host),
    entry the first.

    :param entry: whole entry of the site that was found on it, or None
    """
    known = [resolve_site(name) for name in sorted(SITES)]
    there = [
        site
        for site in known
        if any(
            host.exists(host.add_root(fact['value'])) for fact in site['libraries'].values() if fact
        )
    ]
    return ([entry] if entry else []) + there


class _LibraryCollector(object):
    """Gathers the libraries of a host and where they are."""

    def __init__(self, host, sites, today, node):
        """host: core Host; sites: list of dict, whole entries; today: str, ISO date; node: str."""
        self.host, self.today, self.node = host, today, node
        self.libraries, self.names, self.cached, self._by_file, self._todo = (
            OrderedDict(),
            {},
            {},
            {},
            [],
        )
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

    def build_statement(self, **facts):
        """Return a statement (OrderedDict)."""
        return OrderedDict(
            [
                ('evidence', 'measured'),
                ('source', 'the file, on %s' % self.node),
                ('date', self.today),
            ]
            + sorted(facts.items())
        )

    def add_library(self, path, root=None):
        """
        Take the library path (str, of the host), which lies below root (str; default: the
        host's).
        """
        where = (self.host.root if root is None else root) + path
        if path in self.libraries:
            return
        if not os.path.exists(where):
            self.libraries[path] = [self.build_statement(there=False)]
            return
        file = os.path.realpath(where)
        if file in self._by_file:
            self.libraries[path] = [self.build_statement(same_as=self._by_file[file])]
            # $ORIGIN is another folder
            self._todo.append((path, where))
            return
        self._by_file[file] = path
        self._todo.append((path, where))
        try:
            facts = read_elf(where)
        except ElfError as err:
            self.libraries[path] = [self.build_statement(unreadable=str(err).replace(where, path))]
            return
        self.libraries[path] = [self.build_statement(**self.read_library_facts(where, facts))]

    @staticmethod
    def read_library_facts(where, facts):
        """Return what is said of the file where (str) with facts (ElfFacts)."""
        found = {
            'soname': facts.soname or '',
            'machine': facts.machine,
            'verdef': sorted(facts.verdef),
        }
        if facts.soname in GLIBC_SONAMES:
            return found
        undefined = dict(
            (name, now)
            for name, now in facts.undefined.items()
            if not name.partition('@')[2].startswith('GLIBC_2')
        )  # the versions say as much
        found.update(
            needed=facts.needed,
            rpath=facts.rpath,
            runpath=facts.runpath,
            verneed=dict(
                (soname, sorted(names)) for soname, names in sorted(facts.verneed.items())
            ),
        )
        if len(facts.defined) + len(undefined) < MOST_SYMBOLS:
            # a versioned one is there by its plain name too
            plain = set(name.partition('@')[0] for name in facts.defined if '@' in name)
            found.update(
                defined=sorted(facts.defined - plain),
                undefined={
                    'now': sorted(name for name in undefined if undefined[name]),
                    'later': sorted(name for name in undefined if not undefined[name]),
                },
            )
        if facts.nodeflib:
            found['nodeflib'] = True
        read = (
            read_fabric_traits
            if facts.soname == 'libfabric.so.1'
            else read_mpi_traits
            if facts.soname in MPI_FAMILIES
            else None
        )
        if read:
            try:
                found['traits'] = read(read_plain_file(where))
            except (OSError, ValueError):  # not known, then
                pass
        return found

    def add_dependencies(self):
        """Take what the libraries need, and what that needs."""
        while self._todo:
            path, where = self._todo.pop(0)
            try:
                facts = read_elf(where)
            except ElfError:
                continue
            own = [
                folder.replace('${ORIGIN}', '$ORIGIN').replace('$ORIGIN', os.path.dirname(path))
                for folder in facts.rpath + facts.runpath
            ]
            new = [
                os.path.normpath(folder)
                for folder in own
                if folder.startswith('/') and '$' not in folder
            ]
            more = [folder for folder in new if folder not in self.folders]
            self.folders += more
            for name in (
                sorted(self.names) if more else ()
            ):  # DT_RPATH is for what others need as well
                self.add_named_library(name, more)
            for name in facts.needed:
                if name not in GLIBC_SONAMES and name not in self.names:
                    self.add_named_library(name, self.folders, facts.machine)

    def add_named_library(self, name, folders, machine=None):
        """Take the library name (str) from each of folders (list of str) that has it."""
        root, known = self.host.root, self.names.setdefault(name, [])
        cached = self.host.find_cached(name, machine) if machine else None
        if cached:
            self.cached[name] = cached[len(root) :]
        paths = [(folder.rstrip('/') + '/' + name) for folder in folders or self.folders]
        there = [path for path in paths if self.host.is_file(root + path)] + (
            [cached[len(root) :]] if cached else []
        )
        for path in there:
            self.add_library(path)
        # as the trial does: what a tree lacks is that of the machine on which it lies
        for path in paths if root and not there and not known else ():
            if os.path.isfile(path) and path not in self.libraries:
                self.add_library(path, '')
                there.append(path)
        known += [path for path in there if path not in known]


def describe_host(entry, root, name, today, node):
    """
    Return the description (OrderedDict) of a host.

    :param entry: whole entry of the site found there, or None; root: str, folder that stands in for
        its /; name: str, of the site; today: str, ISO date; node: str
    """
    host = HostFileSystem(root)
    files = _LibraryCollector(host, list_matching_sites(host, entry), today, node)
    glibc = [
        said['verdef']
        for statements in files.libraries.values()
        for said in statements
        if said.get('soname') == LIBC
    ]
    newest = sort_versions(
        version for verdef in glibc for version in verdef if version.startswith('GLIBC_2')
    )[-1:]
    data = OrderedDict(
        [
            ('format', FORMAT),
            ('site', name),
            ('node', node),
            ('machine', os.uname().machine),
            (
                'glibc',
                OrderedDict(
                    [
                        ('value', '.'.join(newest[0][6:].split('.')[:2])),
                        ('source', 'versions in ' + LIBC),
                        ('date', today),
                        ('evidence', 'measured'),
                    ]
                )
                if newest
                else None,
            ),
            ('names', files.names),
            ('cached', files.cached),
            ('libraries', files.libraries),
        ]
    )
    return data

"""
Which site this is, and its whole entry: by name, by a file of one's own, or recognised by host name and environment.

A file of one's own is what `osu-container discover -o FILE` writes, and what a local file may hold.
Python 3.6, standard library only; imports no EasyBuild.
"""
import os
import re

from osu_container.core.data.sites import BASES, SITES
from osu_container.core.data.sites.schema import KEYS, NO_FACT, TABLES

#: What such a file may define, with the value where it does not
NAMES = {'SITE': None, 'SITES': {}, 'ROOT': '', 'OVERRIDES': {}}


class SettingsError(Exception):
    """A combination that cannot be: the text names the thing, the value found, and the values that exist."""


def known(table):
    """Return the names of table (dict) as one readable str."""
    return ', '.join(sorted(table))


def _completed(entry, bases):
    """Return entry (dict) with the facts of the entries that it is based on; its own replace theirs."""
    if 'based_on' not in entry:
        return dict(entry)
    if entry['based_on'] not in bases:
        raise SettingsError("based_on names '%s', which is no entry; there are: %s"
                            % (entry['based_on'], known(bases)))
    whole = _completed(bases[entry['based_on']], bases)
    for key, value in entry.items():
        # libraries and files are completed name by name, all else is one fact
        whole[key] = dict(whole[key], **value) if key in TABLES and key in whole else value
    whole.pop('based_on')
    return whole


def site_entry(name, sites=SITES):
    """Return the whole entry (dict, with its name under 'name') of a site. Raises SettingsError if it is unknown."""
    if name not in sites:
        raise SettingsError("unknown site '%s'; known sites: %s. Choose one with --try-amend=site=NAME"
                            % (name, known(sites)))
    whole = _completed(sites[name], dict(BASES, **dict(SITES, **sites)))
    if name not in SITES:
        _check_shape(name, whole)
    return dict(whole, name=name)


def _check_shape(name, entry):
    """Raise SettingsError if an entry (dict) of a user's own site lacks a key, or has something else than a fact."""
    lacking = [key for key in KEYS if key not in entry]
    if lacking:
        raise SettingsError("site '%s' lacks %s; write 'based_on': 'plain' for what an ordinary machine has, or let "
                            "`osu-container discover` write the site" % (name, known(lacking)))
    facts = [(key, entry[key]) for key in KEYS if key not in NO_FACT]
    for table in TABLES:
        if not isinstance(entry[table], dict):
            raise SettingsError("site '%s': %s must be a dict of facts, found %r" % (name, table, entry[table]))
        facts += [('%s.%s' % (table, key), fact) for key, fact in entry[table].items() if fact is not None]
    for key, fact in facts:
        if not isinstance(fact, dict) or 'value' not in fact:
            raise SettingsError("site '%s': %s must be a fact (dict with 'value', 'why', 'source', 'date', "
                                "'evidence'), found %r" % (name, key, fact))


def _is_recognised(pattern, hostname, environment):
    """Return whether pattern (dict, a site's recognised_by) describes this machine; an empty one describes none."""
    hostnames, variables = pattern.get('hostnames', []), pattern.get('environment', {})
    return bool(hostnames or variables) and (
        not hostnames or any(re.search(regex, hostname) for regex in hostnames)) and all(
        re.search(regex, environment.get(name, '')) for name, regex in variables.items())


def choose_site(wanted, local_site, hostname, environment, sites=SITES):
    """
    Return the whole entry (dict) of the site: wanted, else the local file's, else the one that is recognised.

    :param wanted: str or None, the easyconfig parameter site
    :param local_site: str or None, SITE of the local file (see mpicontainer.py)
    :param hostname: str, this machine's name
    :param environment: dict of str, the variables that EasyBuild sees
    Raises SettingsError if the name is unknown or nothing matches.
    """
    if wanted or local_site:
        return site_entry(wanted or local_site, sites)
    for name in sorted(sites):
        entry = site_entry(name, sites)
        if _is_recognised(entry['recognised_by']['value'], hostname, environment):
            return entry
    near = sorted(name for name in sites if _is_recognised(dict(
        site_entry(name, sites)['recognised_by']['value'], environment={}), hostname, environment))
    if near:
        variables = sorted(set(variable for name in near for variable in site_entry(name, sites)[
            'recognised_by']['value'].get('environment', {})))
        raise SettingsError("this machine (host name '%s') is one of %s, and its modules say which: found %s, which "
                            "none of them has. Load the modules of its software stack first, or choose with "
                            "--try-amend=site=NAME" % (hostname, ', '.join(near), ', '.join(
                                '%s=%s' % (name, environment.get(name, '(not set)')) for name in variables)))
    raise SettingsError("this machine (host name '%s') is none of the known sites: %s. Choose one with "
                        "--try-amend=site=NAME, or run `make demo` to make it a workstation" % (hostname, known(sites)))


def overridden(site, facts):
    """Return site (dict) with facts (dict key -> fact) of a local file in place of its own. Raises SettingsError."""
    unknown = set(facts) - set(site)
    if unknown:
        raise SettingsError("the local file overrides %s, which site '%s' does not have; it has: %s"
                            % (known(unknown), site['name'], known(site)))
    for key, fact in facts.items():
        if isinstance(site[key], dict) and not isinstance(fact, dict):
            raise SettingsError("the local file overrides %s by %r; wanted: a fact (dict with 'value', 'why', "
                                "'source', 'date', 'evidence')" % (key, fact))
    return _completed(dict(facts, based_on='site'), {'site': site})


def site_here(wanted, local, hostname, environ):
    """
    Return (whole entry (dict) of the site, folder that stands in for the host's / (str, '' on the real system)).

    :param wanted: str or None, name of the site; local: SiteFile, module or None, a file of this machine or the user
    :param hostname, environ: str and dict, by which a site is recognised that nothing names
    OVERRIDES and ROOT of local belong to the site that it names, or to any where it names none.
    Raises SettingsError if the site is unknown, or this machine is none of the known ones.
    """
    own = getattr(local, 'SITE', None)
    site = choose_site(wanted, own, hostname, environ, dict(SITES, **getattr(local, 'SITES', {})))
    if own not in (None, site['name']):
        return site, ''
    return overridden(site, getattr(local, 'OVERRIDES', {})), getattr(local, 'ROOT', '').rstrip('/')


class SiteFile(object):
    """SITE (str), SITES (dict), ROOT (str) and OVERRIDES (dict) of a file; more: everything else that it defines."""

    def __init__(self, path, names_site=True):
        """
        path: str, a file in Python; names_site: bool, it must name a site and not only override facts.

        Raises SettingsError if it cannot be read or defines no site.
        """
        self.path = os.path.abspath(path)
        try:
            with open(self.path) as handle:
                text = handle.read()
            self.more = {}
            exec(compile(text, self.path, 'exec'), self.more)  # a file of the user, as a local file is
        except (IOError, OSError, ValueError) as err:
            raise SettingsError("the site file %s cannot be read: %s. `osu-container discover -o FILE` writes one"
                                % (self.path, getattr(err, 'strerror', None) or err))
        except (Exception, SystemExit) as err:  # whatever the user's Python raises, SyntaxError among it
            raise SettingsError("the site file %s is not valid Python: %s: %s. Correct it, or write it anew by "
                                "osu-container discover -o FILE --force" % (self.path, type(err).__name__, err))
        for name, default in NAMES.items():
            setattr(self, name, self.more.get(name, default))
        if not isinstance(self.SITES, dict) or names_site and not self.SITE and len(self.SITES) != 1:
            raise SettingsError("the site file %s names no site: it needs SITE = 'NAME' and SITES = {'NAME': {...}}, "
                                "found %s" % (self.path, known(set(self.more) & set(NAMES)) or 'neither'))
        if names_site:
            self.SITE = self.SITE or list(self.SITES)[0]


def is_site_file(wanted):
    """Return whether the easyconfig parameter site (str or None) is a file, not the name of a site."""
    return bool(wanted) and wanted.endswith('.py')

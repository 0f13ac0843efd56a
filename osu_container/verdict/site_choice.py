"""
Which site this is, and its whole entry: by name, by a file of one's own, or recognised by host name
and environment.

A file of one's own is what `osu-container discover -o FILE` writes, and what a local file may hold.
Conditions of the data ('only'): of what a site has, and of releases.
Python 3.6, standard library only; imports no EasyBuild.
"""

import functools
import os
import re

from osu_container.base.files import read_plain_file
from osu_container.base.trust import find_code_problem
from osu_container.data.networks import NETWORKS
from osu_container.data.sites import BASES, PUBLISHED_SITES, SITES
from osu_container.data.sites.schema import (
    FACT,
    KEYS,
    OPTIONAL,
    OPTIONAL_SHAPES,
    PLAIN_KEYS,
    SHAPES,
    TABLE_SHAPES,
    TABLES,
    matches_shape,
)

#: What such a file may define, with the value where it does not
NAMES = {'SITE': None, 'SITES': {}, 'ROOT': '', 'OVERRIDES': {}}


#: How a system gets a site that the data do not have
_DISCOVER = 'write it with its modules loaded, `osu-container discover -o FILE`, and give it: --try-amend=site=FILE'


class SettingsError(Exception):
    """
    A combination that cannot be: the text names the thing, the value found, and the values that
    exist.
    """


def format_names(table):
    """Return the names of table (dict) as one readable str."""
    return ', '.join(sorted(table))


def _merge_bases(entry, bases, on=()):
    """
    Return entry (dict) with the facts of the entries that it is based on; its own replace theirs.

    :param on: tuple of the names that led here, which it must not be based on again
    """
    if 'based_on' not in entry:
        return dict(entry)
    name = entry['based_on']
    if not isinstance(name, str) or name not in bases:
        raise SettingsError(
            "based_on names %r, which is no entry; there are: %s" % (name, format_names(bases))
        )
    if name in on:
        raise SettingsError(
            "based_on leads in a circle: %s. To end it, write 'based_on': 'plain' in one of them"
            % ' -> '.join(on + (name,))
        )
    _require_shape(bases[name], dict, "the entry '%s'" % name)
    whole = _merge_bases(bases[name], bases, on + (name,))
    for key, value in entry.items():
        # libraries and files are completed name by name, all else is one fact
        if key in TABLES and key in whole:
            _require_shape(value, {str: (dict, None)}, key)
            value = dict(whole[key], **value)
        whole[key] = value
    whole.pop('based_on')
    return whole


def resolve_site(name, sites=SITES):
    """
    Return the whole entry (dict, with its name under 'name') of a site. Raises SettingsError if
    it is unknown.
    """
    if name not in sites and name in PUBLISHED_SITES:
        raise SettingsError(
            "site '%s' is a description only (%s), for `osu-container check --published`; sites: %s. "
            "Choose one with --try-amend=site=NAME"
            % (name, PUBLISHED_SITES[name]['title'], format_names(sites))
        )
    if name not in sites:
        raise SettingsError(
            "unknown site '%s'; known sites: %s. Choose one with --try-amend=site=NAME"
            % (name, format_names(sites))
        )
    _require_shape(sites[name], dict, "site '%s'" % name)
    whole = _merge_bases(
        sites[name], dict(BASES, **dict(SITES, **sites)), (name,) if name not in SITES else ()
    )
    if name not in SITES:
        _require_valid_entry(name, whole, 'based_on' in sites[name])
    return dict(whole, name=name)


def resolve_described_site(name):
    """
    Return the whole entry (dict, with its name under 'name') of a system (str, one of DESCRIBED)
    as it was.
    """
    return dict(_merge_bases(PUBLISHED_SITES[name], BASES), name=name)


#: How a person calls what is wanted
_WORDS = {
    str: 'text',
    int: 'a whole number',
    bool: 'True or False',
    list: 'a list',
    dict: 'a dict',
    None: 'None',
}


def format_shape(shape):
    """Return how a person calls a shape of schema.SHAPES (str)."""
    if isinstance(shape, tuple):
        return ' or '.join(map(format_shape, shape))
    if isinstance(shape, list):
        return 'a list of %s' % format_shape(shape[0]).replace('a dict', 'dicts', 1)
    if isinstance(shape, dict) and str not in shape:
        return 'a dict with %s' % ', '.join(
            sorted(key for key in shape if not key.endswith('?'))
            or sorted(key[:-1] for key in shape)
        )
    return _WORDS[dict if isinstance(shape, dict) else shape]


def _require_shape(value, shape, what):
    """Raise SettingsError, with what it is (str), if value is not like shape, of schema.SHAPES."""
    if not matches_shape(value, shape):
        found = ascii(value)
        raise SettingsError(
            "%s is %s, wanted: %s"
            % (what, found if len(found) < 80 else found[:76] + ' ...', format_shape(shape))
        )


def _require_valid_entry(name, entry, based=False):
    """
    Raise SettingsError if an entry (dict) of a user's own site, or with a user's facts, is not as
    schema.py says.

    based: bool, it is based on another one already
    """
    lacking = [key for key in KEYS if key not in entry]
    if lacking:
        raise SettingsError(
            "site '%s' lacks %s; %sor let `osu-container discover` write the site"
            % (
                name,
                format_names(lacking),
                "give them, "
                if based
                else "write 'based_on': 'plain' for what an ordinary machine has, ",
            )
        )
    start = "site '%s': " % name
    _require_shape(entry['title'], str, start + 'title')
    facts = [
        (key, entry[key], SHAPES[key])
        for key in KEYS + OPTIONAL
        if key not in PLAIN_KEYS and key in entry
    ]
    for table in TABLES:
        _require_shape(entry[table], {str: (dict, None)}, start + table)
        facts += [
            ('%s.%s' % (table, key), fact, TABLE_SHAPES[table])
            for key, fact in entry[table].items()
            if fact is not None
        ]
    _require_shape(entry['variables'], [dict], start + 'variables')
    facts += [
        ('variables %d' % number, fact, str) for number, fact in enumerate(entry['variables'], 1)
    ]
    for key, fact, shape in facts:
        # modules tell the reasons of those of tables, and of what they set or look at
        told = (
            FACT if key.partition('.')[0].partition(' ')[0] in PLAIN_KEYS + ('shell',) else FACT[:1]
        )
        if not isinstance(fact, dict) or any(part not in fact for part in told):
            raise SettingsError(
                "%s%s must be a fact (dict with 'value', 'why', 'source', 'date', 'evidence'), found %s"
                % (start, key, ascii(fact)[:200])
            )
        fact.setdefault('evidence', 'untested')  # nobody said that it was tried
        for part in set(FACT[1:]) & set(fact):
            _require_shape(fact[part], str, '%s%s, %s' % (start, key, part))
        _require_shape(fact['value'], shape, '%s%s, value' % (start, key))
        for part, like in OPTIONAL_SHAPES.items():
            if part in fact:
                _require_shape(fact[part], like, '%s%s, %s' % (start, key, part))
    for variable in entry['variables']:
        _require_shape(variable, {'name': str}, start + 'variables')
    recognised = entry['recognised_by']['value']
    for regex in list(recognised.get('hostnames', [])) + list(
        recognised.get('environment', {}).values()
    ):
        try:
            re.compile(regex)
        except re.error as err:
            raise SettingsError(
                "%srecognised_by has %r, which is no regular expression: %s" % (start, regex, err)
            )


def _is_recognised(pattern, hostname, environment):
    """
    Return whether pattern (dict, a site's recognised_by) describes this machine; an empty one
    describes none.
    """
    hostnames, variables = pattern.get('hostnames', []), pattern.get('environment', {})
    return (
        bool(hostnames or variables)
        and (not hostnames or any(re.search(regex, hostname) for regex in hostnames))
        and all(re.search(regex, environment.get(name, '')) for name, regex in variables.items())
    )


def _has_stack(entry, environment):
    """Return whether the modules of the stack of a site (dict) are loaded, or it has but one."""
    stack = entry['stack']['value'] if 'stack' in entry else None
    return stack is None or environment.get(stack['variable'], '') in stack['values']


def choose_site(wanted, local_site, hostname, environment, sites=SITES):
    """
    Return the whole entry (dict) of the site: wanted, else the local file's, else the one that is
    recognised.

    :param wanted: str or None, the easyconfig parameter site
    :param local_site: str or None, SITE of the local file (see mpicontainer.py)
    :param hostname: str, this machine's name
    :param environment: dict of str, the variables that EasyBuild sees
    Raises SettingsError if the name is unknown or nothing matches.
    """
    if wanted or local_site:
        return resolve_site(wanted or local_site, sites)
    entries = [resolve_site(name, sites) for name in sorted(sites)]
    rules = [(entry, entry['recognised_by']['value']) for entry in entries]
    known_ones = [entry for entry, rule in rules if _is_recognised(rule, hostname, environment)]
    for entry in known_ones:
        if _has_stack(entry, environment):
            return entry
    near = known_ones or [
        entry
        for entry, rule in rules
        if _is_recognised(dict(rule, environment={}), hostname, environment)
    ]
    if near:
        variables = sorted(
            set(
                variable
                for entry in near
                for variable in (
                    []
                    if known_ones
                    else list(entry['recognised_by']['value'].get('environment', {}))
                )
                + ([entry['stack']['value']['variable']] if 'stack' in entry else [])
            )
        )
        raise SettingsError(
            "this machine (host name '%s') is one of %s, and its modules say which: found %s, which "
            "none of them has. %s. Use --try-amend=site=NAME to choose one"
            % (
                hostname,
                ', '.join(entry['name'] for entry in near),
                ', '.join(
                    '%s=%s' % (name, environment.get(name, '(not set)')) for name in variables
                ),
                'That stack is not among them: ' + _DISCOVER
                if any(map(environment.get, variables))
                else 'Load the modules of its software stack first',
            )
        )
    raise SettingsError(
        "this machine (host name '%s') is none of the known sites: %s. Choose one with "
        "--try-amend=site=NAME, %s, or run `make demo` to make it a workstation"
        % (hostname, format_names(sites), _DISCOVER)
    )


def override_facts(site, facts):
    """
    Return site (dict) with facts (dict key -> fact) of a local file in place of its own. Raises
    SettingsError.
    """
    unknown = set(facts) - set(site) - set(OPTIONAL)
    if unknown:
        raise SettingsError(
            "the local file overrides %s, which site '%s' does not have; it has: %s"
            % (format_names(unknown), site['name'], format_names(site))
        )
    for key, fact in facts.items():
        if isinstance(site.get(key, {}), dict) and not isinstance(fact, dict):
            raise SettingsError(
                "the local file overrides %s by %r; wanted: a fact (dict with 'value', 'why', "
                "'source', 'date', 'evidence')" % (key, fact)
            )
    whole = _merge_bases(dict(facts, based_on='site'), {'site': site})
    if facts:
        _require_valid_entry(site['name'], whole)
    return whole


def resolve_local_site(wanted, local, hostname, environ):
    """
    Return (whole entry (dict) of the site, folder that stands in for the host's / (str, '' on the
    real system)).

    :param wanted: str or None, name of the site; local: SiteFile, module or None, a file of this
        machine or the user
    :param hostname, environ: str and dict, by which a site is recognised that nothing names
    OVERRIDES and ROOT of local belong to the site that it names, or to any where it names none.
    Raises SettingsError if the site is unknown, or this machine is none of the known ones.
    """
    given = dict((name, getattr(local, name, default)) for name, default in NAMES.items())
    for name, shape in (
        ('SITE', (str, None)),
        ('SITES', {str: object}),
        ('ROOT', str),
        ('OVERRIDES', {str: object}),
    ):
        _require_shape(
            given[name], shape, '%s of %s' % (name, getattr(local, 'path', 'the local file'))
        )
    site = choose_site(wanted, given['SITE'], hostname, environ, dict(SITES, **given['SITES']))
    if given['SITE'] not in (None, site['name']):
        return site, ''
    return override_facts(site, given['OVERRIDES']), given['ROOT'].rstrip('/')


def _format_exception(err):
    """
    Return the text (str) of what a user's code has raised, whose __str__ may be that of the user
    too.
    """
    try:
        return str(err)
    except Exception:
        return '(without a text)'


class SiteFile(object):
    """
    SITE (str), SITES (dict), ROOT (str) and OVERRIDES (dict) of a file; more: everything else
    that it defines.
    """

    def __init__(self, path, names_site=True):
        """
        path: str, a file in Python; names_site: bool, it must name a site and not only override
        facts.

        Raises SettingsError if it cannot be read, defines no site, or could be written by somebody
        else than whom this user trusts: it is run.
        """
        self.path = os.path.abspath(path)
        problem = find_code_problem(self.path)
        if problem:
            raise SettingsError(problem)
        try:
            text, self.definitions = read_plain_file(self.path, 'text'), {}
            exec(
                compile(text, self.path, 'exec'), self.definitions
            )  # a file of the user, as a local file is
        except (IOError, OSError, ValueError) as err:
            raise SettingsError(
                "the site file %s cannot be read: %s. `osu-container discover -o FILE` writes one"
                % (self.path, getattr(err, 'strerror', None) or err)
            )
        except KeyboardInterrupt:
            raise
        except BaseException as err:  # whatever the user's Python raises, SyntaxError among it
            if isinstance(err, SystemExit) and hasattr(
                err, 'name'
            ):  # streams.Ended: a signal ends this program
                raise
            raise SettingsError(
                "the site file %s is not valid Python: %s: %s. Correct it, or write it anew by "
                "osu-container discover -o FILE --force"
                % (self.path, type(err).__name__, _format_exception(err))
            )
        for name, default in NAMES.items():
            setattr(self, name, self.definitions.get(name, default))
        if (
            not isinstance(self.SITES, dict)
            or names_site
            and not self.SITE
            and len(self.SITES) != 1
        ):
            raise SettingsError(
                "the site file %s names no site: it needs SITE = 'NAME' and SITES = {'NAME': {...}}, "
                "found %s"
                % (self.path, format_names(set(self.definitions) & set(NAMES)) or 'neither')
            )
        if names_site:
            self.SITE = self.SITE or list(self.SITES)[0]


def is_site_file(wanted):
    """
    Return whether the easyconfig parameter site (str or None) is a file, not the name of a site.
    """
    return bool(wanted) and wanted.endswith('.py')


def parse_release(text):
    """
    Return the numbers (tuple of int) of the first release in text, e.g. (4, 2, 3); () if there
    is none.
    """
    found = re.search(r'\d+(\.\d+)+', text or '')
    return tuple(int(part) for part in found.group().split('.')) if found else ()


def resolve_network(site):
    """
    Return (kind (str), its entry in NETWORKS, drivers of its cards (list of str)) of the network of
    a site (dict).

    Raises SettingsError where the site names another kind.
    """
    named = site.get('network', {}).get('value') or {}
    kind = named.get('kind') or ('Slingshot' if site['provider']['value'] == 'cxi' else 'Ethernet')
    if kind not in NETWORKS:
        raise SettingsError(
            "site '%s' has a network of the kind %r; known: %s"
            % (site['name'], kind, format_names(NETWORKS))
        )
    return kind, NETWORKS[kind], named.get('drivers', [])


def collect_site_conditions(site):
    """Return {word: bool} of the conditions of 'only' that a site (dict) decides."""
    gpu, network = site['gpu']['value'] or '', resolve_network(site)[1]
    return {
        'gpu': bool(gpu),
        'rocm': gpu.startswith('gfx'),
        'cuda': gpu.startswith('sm_'),
        'cxi': site['provider']['value'] == 'cxi',
        'ucx': bool(network['ucx']['value'] and network['drivers']),
    }


_COMPARE = {'>=': lambda a, b: a >= b, '<': lambda a, b: a < b}


@functools.lru_cache(maxsize=1024)  # a verdict asks for the same few some thousand times
def _parse_condition(condition):
    """
    Return (whether it begins with 'no', the rest (str), (name, sign, release) or None) of a
    condition (str).
    """
    negative, word = re.match(r'(no )?(.*)$', condition).groups()
    compared = re.match(r'(mpich|libfabric) (>=|<) ([\d.]+)$', word)
    return (
        bool(negative),
        word,
        compared and compared.groups()[:2] + (parse_release(compared.group(3)),),
    )


def _is_condition_met(condition, known_facts):
    """
    Return whether a condition of 'only' (str) holds; of a release that is not known nothing is held
    to be true.

    :param known_facts: dict of words ('gpu': bool, ...) and of releases ('mpich': tuple of int,
        ...)
    Raises SettingsError if the condition is none of those that data/approaches.py names.
    """
    negative, word, compared = _parse_condition(condition)
    if compared:
        name, sign, limit = compared
        return (bool(known_facts[name]) and _COMPARE[sign](known_facts[name], limit)) != negative
    if word not in known_facts:
        raise SettingsError(
            "unknown condition '%s'; known: %s" % (condition, format_names(known_facts))
        )
    return known_facts[word] != negative


def select_applicable(entries, known_facts):
    """Return those of entries (list of dict) whose conditions hold."""
    return [
        entry
        for entry in entries
        if all(_is_condition_met(condition, known_facts) for condition in entry.get('only', []))
    ]

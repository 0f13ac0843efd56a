"""
Select the site and return the complete entry of the site.

The user selects a site by name or by a site file. Otherwise the host name and environment variables
select the site. `osu-container discover -o FILE.py` writes site files. This module also evaluates
the conditions (`only`) in the data on sites and releases. This module imports no EasyBuild.
"""

import functools
import operator
import os
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from osu_container.base.files import read_plain_file
from osu_container.base.trust import find_code_problem
from osu_container.data.networks import NETWORKS
from osu_container.data.records import read_record
from osu_container.data.sites import BASES, PUBLISHED_SITES, SITES
from osu_container.data.sites.schema import (
    ENTRY,
    KEYS,
    OPTIONAL,
    SHAPES,
    TABLES,
)

#: Names that a site file may define, with their defaults
NAMES: Dict[str, Any] = {'SITE': None, 'SITES': {}, 'ROOT': '', 'OVERRIDES': {}}


#: Remedy if no site describes a system
_DISCOVER = (
    'load the modules of the software stack, run `osu-container discover -o FILE.py` and add '
    '--try-amend=site=FILE.py'
)


class SettingsError(Exception):
    """An impossible combination of settings; the message has the wrong value and valid values."""


def format_names(names: Iterable[str]) -> str:
    """Return the names as text, sorted and separated by commas."""
    return ', '.join(sorted(names))


def _merge_bases(
    entry: Dict[str, Any], bases: Mapping[str, Any], origin: Tuple[str, ...] = ()
) -> Dict[str, Any]:
    """
    Return a site entry, completed with the facts of the site that the key `based_on` names.

    origin: names of the entries that are based on this entry, to detect circular references.
    """
    if 'based_on' not in entry:
        return dict(entry)
    name = entry['based_on']
    if not isinstance(name, str) or name not in bases:
        raise SettingsError(
            'the key `based_on` names the site %r, which does not exist. Choose one of: %s'
            % (name, format_names(bases))
        )
    if name in origin:
        raise SettingsError(
            "the key `based_on` is circular: %s. Write 'based_on': 'plain' in one of the named sites"
            % ' -> '.join(origin + (name,))
        )
    _require_shape(bases[name], dict, "the entry '%s'" % name)
    whole = _merge_bases(bases[name], bases, origin + (name,))
    for key, value in entry.items():
        # Libraries and files are merged by name; each other key is one fact.
        if key in TABLES and key in whole:
            _require_shape(value, {str: (dict, None)}, key)
            value = {**whole[key], **value}
        whole[key] = value
    whole.pop('based_on')
    return whole


def resolve_site(name: str, sites: Mapping[str, Any] = SITES) -> Dict[str, Any]:
    """
    Return the complete entry of a site, with the name of the site under the key 'name'.

    Raises SettingsError if the site is unknown.
    """
    if name not in sites:
        raise SettingsError(
            "there is no site '%s'%s; known sites: %s. Choose a site with --try-amend=site=NAME"
            % (
                name,
                ' (except for `osu-container check --published`)'
                if name in PUBLISHED_SITES
                else '',
                format_names(sites),
            )
        )
    _require_shape(sites[name], dict, "site '%s'" % name)
    whole = _merge_bases(
        sites[name], {**BASES, **{**SITES, **sites}}, (name,) if name not in SITES else ()
    )
    if name not in SITES:
        _require_valid_entry(name, whole, 'based_on' in sites[name])
    return {**whole, 'name': name}


def resolve_described_site(name: str) -> Dict[str, Any]:
    """Return the complete entry of a system in PUBLISHED_SITES (published data only)."""
    return {**_merge_bases(PUBLISHED_SITES[name], BASES), 'name': name}


def _require_shape(value: object, shape: Any, name: str) -> None:
    """
    Raise SettingsError if a value does not have the expected type `shape`.

    shape: an entry of schema.SHAPES.
    name: name of the value in the message.
    """
    try:
        read_record(value, shape, name)
    except ValueError as err:
        raise SettingsError(str(err))


def _require_valid_entry(name: str, entry: Dict[str, Any], has_base: bool = False) -> None:
    """Raise SettingsError if a user's site entry does not follow the schema of sites."""
    missing = [key for key in KEYS if key not in entry]
    if missing:
        raise SettingsError(
            "site '%s' lacks the keys %s. %s, or run `osu-container discover -o FILE.py`, which "
            'writes a complete site'
            % (
                name,
                format_names(missing),
                "Add these keys"
                if has_base
                else "Write 'based_on': 'plain' to use the values of an ordinary machine",
            )
        )
    _require_shape(entry, ENTRY, "site '%s'" % name)
    for key in set(SHAPES) & set(entry):
        entry[key].setdefault('evidence', 'untested')
    recognised = entry['recognised_by']['value']
    for regex in [
        *recognised.get('hostnames', []),
        *recognised.get('environment', {}).values(),
    ]:
        try:
            re.compile(regex)
        except re.error as err:
            raise SettingsError(
                "site '%s': the key `recognised_by` has an invalid regular expression %r: %s"
                % (name, regex, err)
            )


def _is_recognised(pattern: Dict[str, Any], hostname: str, environment: Mapping[str, str]) -> bool:
    """
    Return whether the entry `recognised_by` of a site matches this machine.

    An empty dict matches no machine.
    """
    hostnames, variables = pattern.get('hostnames', []), pattern.get('environment', {})
    return (
        bool(hostnames or variables)
        and (not hostnames or any(re.search(regex, hostname) for regex in hostnames))
        and all(re.search(regex, environment.get(name, '')) for name, regex in variables.items())
    )


def _has_stack(entry: Dict[str, Any], environment: Mapping[str, str]) -> bool:
    """
    Return whether the modules of the site's software stack are loaded.

    The result is True for a site that has no software stack.
    """
    stack = entry['stack']['value'] if 'stack' in entry else None
    return stack is None or environment.get(stack['variable'], '') in stack['values']


def choose_site(
    name: Optional[str],
    local_name: Optional[str],
    hostname: str,
    environment: Mapping[str, str],
    sites: Mapping[str, Any] = SITES,
) -> Dict[str, Any]:
    """
    Return the entry of the site that the user names, or of the site that matches this machine.

    name: the easyconfig parameter `site`, which has precedence.
    local_name: SITE of the local file.

    Without these names, return the site that matches this machine. Raises SettingsError if the name
    is unknown or no site matches.
    """
    if name or local_name:
        return resolve_site(name or local_name or '', sites)
    entries = [resolve_site(name, sites) for name in sorted(sites)]
    rules = [(entry, entry['recognised_by']['value']) for entry in entries]
    matches = [entry for entry, rule in rules if _is_recognised(rule, hostname, environment)]
    for entry in matches:
        if _has_stack(entry, environment):
            return entry
    candidates = matches or [
        entry
        for entry, rule in rules
        if _is_recognised({**rule, 'environment': {}}, hostname, environment)
    ]
    if candidates:
        variables = {
            variable
            for entry in candidates
            for variable in [
                *entry['recognised_by']['value'].get('environment', {}),
                *([entry['stack']['value']['variable']] if 'stack' in entry else []),
            ]
        }
        raise SettingsError(
            "this machine (host name '%s') may be %s, but the loaded modules match none of the named "
            'sites (variables of this machine: %s). Load the modules of the software stack first; for '
            'another software stack, %s; or choose a site with --try-amend=site=NAME'
            % (
                hostname,
                ', '.join(entry['name'] for entry in candidates),
                format_names(
                    '%s=%s' % (name, environment.get(name, '(not set)')) for name in variables
                ),
                _DISCOVER,
            )
        )
    raise SettingsError(
        "this machine (host name '%s') matches none of the known sites: %s. Choose a site with "
        "--try-amend=site=NAME; or %s; or run `make demo` to set up a workstation"
        % (hostname, format_names(sites), _DISCOVER)
    )


def override_facts(site: Dict[str, Any], facts: Dict[str, Any]) -> Dict[str, Any]:
    """
    Return a site in which facts ({key: fact}) of a local file replace the site's facts.

    Raises SettingsError if the facts are invalid.
    """
    unknown = set(facts) - set(site) - set(OPTIONAL)
    if unknown:
        raise SettingsError(
            "the local file overrides the keys %s, which site '%s' does not have. Override only "
            'these keys: %s' % (format_names(unknown), site['name'], format_names(site))
        )
    whole = _merge_bases({**facts, 'based_on': 'site'}, {'site': site})
    if facts:
        _require_valid_entry(site['name'], whole)
    return whole


def resolve_local_site(
    name: Optional[str], local: Any, hostname: str, environment: Mapping[str, str]
) -> Tuple[Dict[str, Any], str]:
    """
    Return the complete entry of the site, and the root folder of the host.

    The root folder stands in for the host's /; the root folder is '' on the real system.

    name: name of the site, or None.
    local: a SiteFile or module that defines NAMES, or None. OVERRIDES and ROOT apply to the site
    that the local file names, or to any site if the local file names no site.

    Raises SettingsError if the site is unknown, or if no known site matches this machine.
    """
    values = {key: getattr(local, key, default) for key, default in NAMES.items()}
    for key, shape in (
        ('SITE', (str, None)),
        ('SITES', {str: object}),
        ('ROOT', str),
        ('OVERRIDES', {str: object}),
    ):
        _require_shape(
            values[key], shape, '%s of %s' % (key, getattr(local, 'path', 'the local file'))
        )
    site = choose_site(name, values['SITE'], hostname, environment, {**SITES, **values['SITES']})
    if values['SITE'] not in (None, site['name']):
        return site, ''
    return override_facts(site, values['OVERRIDES']), values['ROOT'].rstrip('/')


class SiteFile:
    """A user's site file: SITE, SITES, ROOT and OVERRIDES, and all other definitions."""

    SITE: Optional[str]
    SITES: Dict[str, Any]
    ROOT: str
    OVERRIDES: Dict[str, Any]

    def __init__(self, path: str, names_site: bool = True) -> None:
        """
        Execute a Python file and keep the definitions of the file.

        names_site: whether the file must name a site. A file that names no site only overrides
        facts.

        Raises SettingsError if the file cannot be read, names no site, or is writable by an
        untrusted user.
        """
        self.path = os.path.abspath(path)
        problem = find_code_problem(self.path)
        if problem:
            raise SettingsError(problem)
        try:
            self.definitions: Dict[str, Any] = {}
            text = read_plain_file(self.path, 'text')
            if text.lstrip()[:1] == b'{':
                raise ValueError("the file contains JSON, expected Python")
            exec(compile(text, self.path, 'exec'), self.definitions)
        except (OSError, ValueError) as err:
            raise SettingsError(
                "the site file %s cannot be read: %s. Write a site file: `osu-container discover -o "
                "FILE.py`" % (self.path, getattr(err, 'strerror', None) or err)
            )
        except KeyboardInterrupt:
            raise
        except BaseException as err:  # The user's code may raise anything, e.g. SyntaxError.
            # After a signal, streams.py raises SystemExit with a name to end this program.
            if isinstance(err, SystemExit) and hasattr(err, 'name'):
                raise
            raise SettingsError(
                "the site file %s is not valid Python: %s: %s. Correct the file, or write the file "
                "again: `osu-container discover -o FILE.py --force`"
                % (self.path, type(err).__name__, err)
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
                "the site file %s names no site: expected SITE = 'NAME' and SITES = {'NAME': {...}}, "
                "found %s"
                % (self.path, format_names(set(self.definitions) & set(NAMES)) or 'neither')
            )
        if names_site:
            self.SITE = self.SITE or list(self.SITES)[0]


def is_site_file(site: Optional[str]) -> bool:
    """Return whether `site` is the path of a site file: a text with a slash or the ending .py."""
    site = site or ''
    return '/' in site or site.endswith('.py')


@functools.lru_cache(maxsize=1024)  # A verdict parses few releases some thousand times.
def parse_release(text: Optional[str]) -> Tuple[int, ...]:
    """Return the first release in a text as a tuple, e.g. (4, 2, 3); () without a release."""
    match = re.search(r'\d+(\.\d+)+', text or '')
    return tuple(map(int, match.group().split('.'))) if match else ()


def resolve_network(site: Dict[str, Any]) -> Tuple[str, Dict[str, Any], List[str]]:
    """
    Return (kind, entry in NETWORKS, drivers of the network cards) for a site's network.

    Raises SettingsError if the kind is unknown.
    """
    network = site.get('network', {}).get('value') or {}
    kind = network.get('kind') or (
        'Slingshot' if site['provider']['value'] == 'cxi' else 'Ethernet'
    )
    if kind not in NETWORKS:
        raise SettingsError(
            "site '%s' has an unknown kind of network %r. Choose one of: %s"
            % (site['name'], kind, format_names(NETWORKS))
        )
    return kind, NETWORKS[kind], network.get('drivers', [])


def get_architecture(site: Dict[str, Any]) -> str:
    """Return the architecture of a site as `uname -m` prints it: 'x86_64' or 'aarch64'."""
    return site.get('architecture', {}).get('value', 'x86_64')


def collect_site_conditions(site: Dict[str, Any]) -> Dict[str, bool]:
    """Return {condition: bool} for the conditions that depend only on the site, e.g. 'gpu'."""
    gpu, network = site['gpu']['value'] or '', resolve_network(site)[1]
    return {
        'gpu': bool(gpu),
        'rocm': gpu.startswith('gfx'),
        'cuda': gpu.startswith('sm_'),
        'cxi': site['provider']['value'] == 'cxi',
        'ucx': bool(network['ucx']['value'] and network['drivers']),
        'libmpiwrapper': bool(site['libraries'].get('libmpiwrapper')),
    }


_COMPARE = {'>=': operator.ge, '<': operator.lt}


def _is_condition_met(condition: str, facts: Mapping[str, Any]) -> bool:
    """
    Return whether a condition in the data holds, such as 'no gpu' or 'mpich >= 4.1'.

    The key `only` of a variable lists conditions. A comparison with an unknown release is False.

    facts: {'gpu': bool, ..., 'mpich': release as a tuple of int, ...}.

    Raises SettingsError for a condition that data/approaches.py does not list.
    """
    word = re.sub('^no ', '', condition)
    name, sign, limit = (word.rsplit(' ', 2) + ['', ''])[:3]
    if sign in _COMPARE and name in facts:
        holds = bool(facts[name]) and _COMPARE[sign](facts[name], parse_release(limit))
    elif word in facts:
        holds = facts[word]
    else:
        raise SettingsError(
            "unknown condition '%s'. Use one of: %s" % (condition, format_names(facts))
        )
    return holds != (word != condition)


def select_applicable(
    entries: Sequence[Dict[str, Any]], facts: Mapping[str, Any]
) -> List[Dict[str, Any]]:
    """Return each dict in `entries` if all conditions under its key `only` hold."""
    return [
        entry
        for entry in entries
        if all(_is_condition_met(condition, facts) for condition in entry.get('only', []))
    ]

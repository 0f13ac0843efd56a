"""
Conditions of the data: of what a site has, of releases ('only'), and of switches that the user exports ('when').
"""
import re

from osu_container.core.data.networks import NETWORKS
from osu_container.core.deciding.site_choice import SettingsError, known


def release(text):
    """Return the numbers (tuple of int) of the first release in text, e.g. (4, 2, 3); () if there is none."""
    found = re.search(r'\d+(\.\d+)+', text or '')
    return tuple(int(part) for part in found.group().split('.')) if found else ()


def network_of(site):
    """
    Return (kind (str), its entry in NETWORKS, drivers of its cards (list of str)) of the network of a site (dict).

    Raises SettingsError where the site names another kind.
    """
    named = site.get('network', {}).get('value') or {}
    kind = named.get('kind') or ('Slingshot' if site['provider']['value'] == 'cxi' else 'Ethernet')
    if kind not in NETWORKS:
        raise SettingsError("site '%s' has a network of the kind %r; known: %s" % (site['name'], kind, known(NETWORKS)))
    return kind, NETWORKS[kind], named.get('drivers', [])


def site_words(site):
    """Return {word: bool} of the conditions of 'only' that a site (dict) decides."""
    gpu, network = site['gpu']['value'] or '', network_of(site)[1]
    return {'gpu': bool(gpu), 'rocm': gpu.startswith('gfx'), 'cuda': gpu.startswith('sm_'),
            'cxi': site['provider']['value'] == 'cxi', 'ucx': bool(network['ucx']['value'] and network['drivers'])}


def switch_of(when):
    """Return (name, value, whether it must not be set) of a condition of 'when' (str, e.g. 'SWITCH!=VALUE')."""
    name, sign, value = re.match(r'(\w+)(!?=)(\w+)$', when).groups()
    return name, value, sign == '!='


def without_switches(variables):
    """Return those of variables (list of dict) that hold where the user has set no switch."""
    return [variable for variable in variables if not variable.get('when') or switch_of(variable['when'])[2]]


_COMPARE = {'>=': lambda a, b: a >= b, '<': lambda a, b: a < b}


def _holds(condition, known_facts):
    """
    Return whether a condition of 'only' (str) holds; of a release that is not known nothing is held to be true.

    :param known_facts: dict of words ('gpu': bool, ...) and of releases ('mpich': tuple of int, ...)
    Raises SettingsError if the condition is none of those that core/data/approaches.py names.
    """
    negative, word = re.match(r'(no )?(.*)$', condition).groups()
    compared = re.match(r'(mpich|libfabric) (>=|<) ([\d.]+)$', word)
    if compared:
        name, sign, limit = compared.groups()
        return (bool(known_facts[name]) and _COMPARE[sign](known_facts[name], release(limit))) != bool(negative)
    if word not in known_facts:
        raise SettingsError("unknown condition '%s'; known: %s" % (condition, known(known_facts)))
    return known_facts[word] != bool(negative)


def applying(entries, known_facts):
    """Return those of entries (list of dict) whose conditions hold."""
    return [entry for entry in entries if all(_holds(condition, known_facts) for condition in entry.get('only', []))]

"""The data of sites and approaches is complete, and every value says why and from where it is.

Frontier, Setonix, Perlmutter and Alps: the data against what a node would tell, against published recipes.

Nobody of this project has been there. The trees of tests/stand_in/make stand in for the systems.
"""

import copy
import datetime
import os
import re
from types import SimpleNamespace

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.data.sites.schema import (
    EVIDENCE,
    FACT,
    KEYS,
    NO_FACT,
    OPTIONAL,
    OPTIONAL_SHAPES,
    SHAPES,
    TABLE_SHAPES,
    TABLES,
)
from osu_container.image.image import MPI_FAMILIES
from osu_container.verdict.settings import approach_entry, runs_on, settings_for
from osu_container.verdict.site_choice import SettingsError, choose_site, site_entry, site_here

APPROACH_KEYS = {'title', 'container', 'mpi', 'mpi_also', 'inject', 'inject_if_known', 'preload', 'comes_from',
                 'requires', 'files', 'unset', 'rank_variables', 'variables'}
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]


def facts_of(site):
    """Return [(key, fact)] of all facts of a site."""
    entry = site_entry(site)
    facts = [(key, value) for key, value in entry.items() if isinstance(value, dict) and 'value' in value]
    for table in ('libraries', 'files'):
        facts += [(f'{table}.{name}', fact) for name, fact in entry[table].items() if fact]
    return facts + [(f"variables.{variable['name']}", variable) for variable in entry['variables']]


def check_fact(fact, *optional):
    """Assert that a fact (dict) says why and whence, and has no other keys than the optional ones (str)."""
    assert set(fact) - set(optional) == set(FACT), fact
    assert len(fact['why']) > 10 and len(fact['source']) > 5 and fact['evidence'] in EVIDENCE, fact
    assert datetime.date.fromisoformat(fact['date']), fact


@pytest.mark.parametrize('site', SITES)
def test_site_has_every_key_and_every_fact_a_source(site):
    assert set(site_entry(site)) - set(OPTIONAL) == {*KEYS, 'name'}
    for _, fact in facts_of(site):
        check_fact(fact, 'serves', *OPTIONAL_SHAPES)
        assert fact.get('release', '') in str(fact['value']), fact


@pytest.mark.parametrize('approach', APPROACHES)
def test_approach_has_every_key_and_every_variable_a_source(approach):
    entry = APPROACHES[approach]
    assert set(entry) - {'entrypoint', 'by_family'} == APPROACH_KEYS
    for family, others in entry.get('by_family', {}).items():
        assert set(others) - {'exports', 'one_build'} <= APPROACH_KEYS and family in entry['mpi_also']
    assert {entry['mpi'], *entry['mpi_also']} <= set(MPI_FAMILIES.values())
    for variant in (entry, *entry.get('by_family', {}).values()):
        for key in ('variables', 'unset', 'rank_variables', 'exports'):
            for variable in variant.get(key, []):
                check_fact(dict(variable), 'name', 'only', 'setting', 'inside')


@pytest.mark.parametrize('approach', CONTAINERS)
def test_what_is_injected_is_what_comes_from_the_host(approach):
    entry = APPROACHES[approach]
    assert set(entry['preload']) <= set(entry['inject'] + entry['inject_if_known'])
    assert set(entry['inject']) == {name for name, owner in entry['comes_from'].items() if owner == 'host'}


@pytest.mark.parametrize('site', SITES)
def test_gpus_are_bound_to_cores_of_their_own(site):
    binding = site_entry(site)['gpu_binding']['value']
    if site_entry(site)['gpu_binding']['evidence'] != 'untested' or binding:  # else it says that nobody knows
        assert bool(binding) == bool(site_entry(site)['gpu']['value'])
    masks = [int(gpu['mask'], 16) for gpu in binding or []]
    assert [gpu['gcd'] for gpu in binding or []] == list(range(len(masks)))
    assert len({bin(mask).count('1') for mask in masks}) <= 1, 'as many cores for each'
    for number, mask in enumerate(masks):
        assert all(mask & other == 0 for other in masks[:number]), 'cores of its own'
        if site.startswith('lumi') or site == 'frontier':
            # the first core of each group of eight is the system's
            assert mask >> (mask.bit_length() - 8) == 0xfe
        else:  # whole groups, beside each other
            assert set(bin(mask).rstrip('0')) <= set('0b1') and '0' not in bin(mask)[2:].rstrip('0')


@pytest.mark.parametrize('site', SITES)
def test_site_names_an_image_a_default_and_a_pmi_for_its_approaches(site):
    without = {'bind'} if site in ('lumi-26.03', 'setonix-26.03') else set()  # its GTL wants ROCm 7 in the image
    entry = site_entry(site)
    possible = {name for name in CONTAINERS if runs_on(APPROACHES[name], entry)}
    if entry['libraries'].get('libompi') and 'Open MPI' in entry['pmi']['value']:  # for images of that family
        possible.add('bind')
    images = {name for name in entry['images']['value'] if '/' not in name}  # others are of modules of their own
    assert images and images <= possible
    if 'cuda' not in str(entry['images']['value']):  # there is no MPICH with CUDA, so approaches go without an image
        assert images == possible - without
    assert entry['default_approach']['value'] in images
    for kind in entry['pmi']['value'].values():
        assert kind in entry['pmi_variables']['value']


@pytest.mark.parametrize('site', SITES)
def test_host_paths_are_absolute_and_filled_in(site):
    entry = site_entry(site)
    paths = [fact['value'] for fact in entry['libraries'].values() if fact]
    for path in paths + entry['library_folders']['value'] + entry['one_build']['value']:
        assert path.startswith('/') and not set(path) & set('{}:, '), path


# ---- site files

NONE = {'value': None, 'why': 'w', 'source': 's', 'date': '2026-11-23', 'evidence': 'untested'}
#: A value of every kind that Python has names for, and some that hold others
VALUES = [None, True, 7, 1.5, 'text', b'bytes', [], {}, (), [None], [7], ['text'], [['text']], [{}], {7: 7},
          {'text': 'text'}, {'text': None}, {'hostnames': 7}, {'hostnames': ['(']},
          {'environment': {'A': '['}}, set(), print]


def taken(**local):
    """Return whether a local file (names: values) gives a site; if not, SettingsError says in a line what is wrong."""
    try:
        site, root = site_here(None, SimpleNamespace(**local), 'host', {})
    except SettingsError as err:
        assert str(err).isprintable() and len(str(err)) < 1500, str(err)
        return False
    assert isinstance(root, str)
    for approach in (entry for entry in map(approach_entry, APPROACHES) if entry['container']):
        try:
            settings_for(approach, site, copy.deepcopy(RECORDED))
        except SettingsError:
            pass
    return True


#: As read_facts() records them
RECORDED = {'image': {'file': 'x.sif', 'mpi': 'MPICH 4.2.3', 'soname': 'libmpi.so.12', 'libfabric': '1.22.0',
                      'programs_are': '', 'programs': {'osu_bw': '/opt/osu/bin'}, 'gpu': False, 'library_path': [],
                      'rccl_plugin': None, 'environment': [], 'libraries_beside': {}, 'rccl_plugin_folder': None},
            'host': {'root': '', 'mpi': 'MPICH 5.0.2', 'libfabric': '2.5.1', 'injected': [], 'files': [],
                     'runtime': {'command': '/usr/bin/apptainer', 'name': 'apptainer', 'release': '1.4.5',
                                 'setuid': False}}}


def test_every_key_has_a_shape_and_every_site_is_of_it():
    assert set(SHAPES) == set(KEYS + OPTIONAL) - set(NO_FACT) and set(TABLE_SHAPES) == set(TABLES)
    for name in SITES:  # under another name it is looked at as a user's own
        assert taken(SITE='mine', SITES={'mine': dict(site_entry(name))}), name


@pytest.mark.parametrize('key', [*SHAPES, 'title', 'variables', 'based_on', *TABLES, *(f'{one}.x' for one in TABLES)])
def test_a_fact_of_a_wrong_kind_is_refused_by_name_or_works(key):
    key, _, name = key.partition('.')
    for value in VALUES:
        parts = OPTIONAL_SHAPES if name or key == 'variables' else ()
        for entry in (value, dict(NONE, value=value), *(dict(NONE, value='x', **{part: value}) for part in parts)):
            entry = {name: entry} if name else [entry] if parts else entry
            for local in ({'SITE': 'mine', 'SITES': {'mine': {'based_on': 'workstation', key: entry}}},
                          {'SITE': 'workstation', 'OVERRIDES': {key: entry}}):
                taken(**local)


@pytest.mark.parametrize('name', ['SITE', 'SITES', 'ROOT', 'OVERRIDES'])
def test_a_name_of_the_file_of_a_wrong_kind_is_refused(name):
    wanted = {'SITE': str, 'ROOT': str, 'SITES': dict, 'OVERRIDES': dict}[name]
    for value in VALUES:
        if not isinstance(value, wanted) and not (name == 'SITE' and value is None):
            assert not taken(**{'SITE': 'workstation', name: value}), value


@pytest.mark.parametrize('entries, says', [
    ({'mine': {'based_on': 'mine'}}, 'mine -> mine'),
    ({'mine': {'based_on': 'b'}, 'b': {'based_on': 'c'}, 'c': {'based_on': 'b'}}, 'mine -> b -> c -> b'),
    ({'mine': {'based_on': 'workstation', 'jobs': dict(NONE, value={'partition': None})}},
     "'mine'.* jobs.*{'partition': None}.*account, options, partition, step"),
    ({'mine': {'based_on': 'workstation', 'recognised_by': dict(NONE, value={'hostnames': ['(']})}},
     r"'mine'.* recognised_by .*'\('")])
def test_what_is_wrong_is_said_with_what_is_wanted(entries, says):
    with pytest.raises(SettingsError, match=says):
        site_here(None, SimpleNamespace(SITE='mine', SITES=entries), 'host', dict(os.environ))


OTHERS = [name for name in SITES if name != 'workstation' and not name.startswith('lumi')]


@pytest.mark.parametrize('site', [site for site in OTHERS if site_entry(site)['recognised_by']['value']])
def test_a_variable_of_the_site_decides_and_a_host_name_alone_does_not(site):
    rule = site_entry(site)['recognised_by']['value']
    (variable, pattern), = rule['environment'].items()
    word = re.sub(r'[\^$]', '', pattern).strip('()').split('|')[0]
    host = {'frontier': 'frontier04321', 'setonix': 'nid002345', 'perlmutter': 'nid001234', 'alps': 'nid005678',
            'derecho': 'derecho3', 'polaris': 'x3004c0s37b0n0'}[
        site.partition('-')[0]]
    stack = site_entry(site).get('stack', {'value': {'values': []}})['value']
    for value in stack['values']:
        assert choose_site(None, None, host, {variable: word, stack['variable']: value})['name'] == site
    if '-' not in site:
        assert choose_site(None, None, host, {variable: word})['name'] == site
    if stack['values']:
        with pytest.raises(SettingsError, match=rf"{stack['of']}, .*{stack['variable']}=7\.7\.7\b.*discover"):
            choose_site(None, None, host, {variable: word, stack['variable']: '7.7.7'})
    with pytest.raises(SettingsError):
        choose_site(None, None, host, {})

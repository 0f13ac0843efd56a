"""The data of sites and approaches is complete, and every value says why and from where it is."""
import datetime

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import runs_on
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.image import MPI_FAMILIES

EVIDENCE = {'measured', 'derived', 'untested'}
SITE_KEYS = {'name', 'title', 'recognised_by', 'default_approach', 'runtime', 'provider', 'pmi', 'pmi_variables', 'gpu',
             'gpu_binding', 'libraries', 'library_folders', 'one_build', 'files', 'conflicts', 'variables', 'images',
             'image_folders', 'image_help', 'jobs', 'native', 'wrapper_modules'}
OPTIONAL_SITE_KEYS = {'gpu_userland', 'lnx_links', 'engine', 'architecture', 'network', 'building',
                      'family', 'shell'}
APPROACH_KEYS = {'title', 'container', 'mpi', 'mpi_also', 'inject', 'inject_if_known', 'preload', 'comes_from',
                 'requires', 'files', 'unset', 'rank_variables', 'refuses', 'variables'}
FACT_KEYS = {'value', 'why', 'source', 'date', 'evidence'}
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]


def facts_of(site):
    """Return [(key, fact)] of all facts of a site."""
    entry = site_entry(site)
    facts = [(key, value) for key, value in entry.items() if isinstance(value, dict) and 'value' in value]
    for table in ('libraries', 'files'):
        facts += [(f'{table}.{name}', fact) for name, fact in entry[table].items() if fact]
    return facts + [(f"variables.{variable['name']}", variable) for variable in entry['variables']]


@pytest.mark.parametrize('site', SITES)
def test_site_has_every_key_and_no_other(site):
    assert set(site_entry(site)) - OPTIONAL_SITE_KEYS == SITE_KEYS


@pytest.mark.parametrize('site', SITES)
def test_every_fact_of_a_site_says_why_and_whence(site):
    for key, fact in facts_of(site):
        optional = {'name', 'only', 'when', 'bound', 'otherwise', 'opened_as'}
        assert set(fact) - optional == FACT_KEYS, key
        assert len(fact['why']) > 10 and len(fact['source']) > 5, key
        assert fact['evidence'] in EVIDENCE, key
        assert datetime.date.fromisoformat(fact['date']), key


@pytest.mark.parametrize('approach', APPROACHES)
def test_approach_has_every_key_and_no_other(approach):
    assert set(APPROACHES[approach]) - {'entrypoint'} == APPROACH_KEYS
    assert {APPROACHES[approach]['mpi'], *APPROACHES[approach]['mpi_also']} <= set(MPI_FAMILIES.values())


@pytest.mark.parametrize('approach', APPROACHES)
def test_every_variable_of_an_approach_says_why_and_whence(approach):
    entry = APPROACHES[approach]
    for variable in entry['variables'] + entry['unset'] + entry['rank_variables']:
        assert set(variable) - {'only', 'when'} == FACT_KEYS | {'name'}
        assert len(variable['why']) > 10 and len(variable['source']) > 5
        assert variable['evidence'] in EVIDENCE
        assert datetime.date.fromisoformat(variable['date'])


@pytest.mark.parametrize('approach', CONTAINERS)
def test_only_injected_libraries_are_preloaded(approach):
    entry = APPROACHES[approach]
    assert set(entry['preload']) <= set(entry['inject'] + entry['inject_if_known'])


@pytest.mark.parametrize('site', SITES)
def test_gpus_are_bound_to_cores_of_their_own(site):
    binding = site_entry(site)['gpu_binding']['value']
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


@pytest.mark.parametrize('approach', CONTAINERS)
def test_what_is_injected_is_what_comes_from_the_host(approach):
    entry = APPROACHES[approach]
    assert set(entry['inject']) == {name for name, owner in entry['comes_from'].items() if owner == 'host'}


@pytest.mark.parametrize('site', SITES)
def test_site_names_an_image_a_default_and_a_pmi_for_its_approaches(site):
    entry = site_entry(site)
    possible = {name for name in CONTAINERS if runs_on(APPROACHES[name], entry)}
    images = {name for name in entry['images']['value'] if '/' not in name}  # others are of modules of their own
    assert images and images <= possible
    if 'cuda' not in str(entry['images']['value']):  # there is no MPICH with CUDA, so approaches go without an image
        assert images == possible
    assert entry['default_approach']['value'] in images
    for kind in entry['pmi']['value'].values():
        assert kind in entry['pmi_variables']['value']


@pytest.mark.parametrize('site', SITES)
def test_host_paths_are_absolute_and_filled_in(site):
    entry = site_entry(site)
    paths = [fact['value'] for fact in entry['libraries'].values() if fact]
    for path in paths + entry['library_folders']['value'] + entry['one_build']['value']:
        assert path.startswith('/') and not set(path) & set('{}:, '), path

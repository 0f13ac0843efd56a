"""The data of sites and approaches is complete, and every value says why and from where it is."""
import pytest
from generic._mpicontainer_approaches import APPROACHES
from generic._mpicontainer_sites import SITES

EVIDENCE = {'measured', 'derived', 'untested'}
SITE_KEYS = {'title', 'hostnames', 'default_approach', 'runtime', 'provider', 'pmi', 'pmi_variables', 'libraries',
             'library_folders', 'variables', 'images', 'image_help', 'native'}
APPROACH_KEYS = {'title', 'container', 'inject', 'comes_from', 'requires', 'variables'}
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]


def facts_of(site):
    """Return [(key, fact)] of all facts of a site."""
    entry = SITES[site]
    facts = [(key, value) for key, value in entry.items() if isinstance(value, dict) and 'value' in value]
    facts += [(f'libraries.{name}', fact) for name, fact in entry['libraries'].items() if fact]
    return facts + [(f"variables.{variable['name']}", variable) for variable in entry['variables']]


@pytest.mark.parametrize('site', SITES)
def test_site_has_every_key_and_no_other(site):
    assert set(SITES[site]) == SITE_KEYS


@pytest.mark.parametrize('site', SITES)
def test_every_fact_of_a_site_says_why_and_whence(site):
    for key, fact in facts_of(site):
        assert set(fact) - {'name'} == {'value', 'why', 'source', 'evidence'}, key
        assert len(fact['why']) > 10 and len(fact['source']) > 5, key
        assert fact['evidence'] in EVIDENCE, key


@pytest.mark.parametrize('site', SITES)
def test_a_bare_value_hides_in_no_site(site):
    bare = [key for key, value in SITES[site].items()
            if key not in ('title', 'libraries', 'variables') and not (isinstance(value, dict) and 'value' in value)]
    assert bare == []


@pytest.mark.parametrize('approach', APPROACHES)
def test_approach_has_every_key_and_no_other(approach):
    assert set(APPROACHES[approach]) == APPROACH_KEYS


@pytest.mark.parametrize('approach', APPROACHES)
def test_every_variable_of_an_approach_says_why_and_whence(approach):
    for variable in APPROACHES[approach]['variables']:
        assert set(variable) == {'name', 'value', 'why', 'source', 'evidence'}
        assert len(variable['why']) > 10 and len(variable['source']) > 5
        assert variable['evidence'] in EVIDENCE


@pytest.mark.parametrize('approach', CONTAINERS)
def test_what_is_injected_is_what_comes_from_the_host(approach):
    entry = APPROACHES[approach]
    assert set(entry['inject']) == {name for name, owner in entry['comes_from'].items() if owner == 'host'}


@pytest.mark.parametrize('site', SITES)
def test_site_names_an_image_a_default_and_a_pmi_for_its_approaches(site):
    entry = SITES[site]
    assert set(entry['images']['value']) == set(CONTAINERS)
    assert entry['default_approach']['value'] in CONTAINERS
    for kind in entry['pmi']['value'].values():
        assert kind in entry['pmi_variables']['value']


@pytest.mark.parametrize('site', SITES)
def test_host_paths_are_absolute_and_filled_in(site):
    paths = [fact['value'] for fact in SITES[site]['libraries'].values() if fact]
    for path in paths + SITES[site]['library_folders']['value']:
        assert path.startswith('/') and not set(path) & set('{}:, '), path

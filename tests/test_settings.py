"""(approach, site, facts) -> settings, for all pairs; and what an impossible combination says."""
import copy

import pytest
from generic import _mpicontainer_settings as settings_module
from generic._mpicontainer_approaches import APPROACHES
from generic._mpicontainer_settings import (
    INJECT_FOLDER,
    SettingsError,
    approach_entry,
    choose_site,
    host_libraries,
    settings_for,
    site_entry,
)
from generic._mpicontainer_sites import SITES

PAIRS = [(approach, site) for approach in APPROACHES for site in SITES]


def facts(runtime='apptainer'):
    """Facts of an image and a host, as read_facts() gives them."""
    return {
        'image': {'file': 'x.sif', 'mpi': 'MPICH 4.2.3', 'libfabric': '1.22.0', 'osu': 'C',
                  'programs': {'osu_bw': '/opt/osu/bin', 'osu_latency': '/opt/osu/bin'}},
        'host': {'root': '/stand-in', 'mpi': 'MPICH 5.0.2', 'libfabric': '2.5.1',
                 'runtime': {'command': '/usr/bin/' + runtime, 'name': runtime},
                 'injected': [{'soname': 'libfabric.so.1', 'path': '/stand-in/a/libfabric.so.1', 'why': 'network'}]},
    }


def entries(approach, site):
    return approach_entry(approach), site_entry(site)


@pytest.mark.parametrize('approach, site', PAIRS)
def test_every_pair_gives_settings_that_keep_the_promise_of_the_approach(approach, site):
    entry, site_data = entries(approach, site)
    found = settings_for(entry, site_data, facts())
    assert found.mpi.endswith('of the ' + entry['comes_from']['libmpi'])
    assert found.libfabric.endswith('of the ' + entry['comes_from']['libfabric'])
    assert bool(found.binds) == bool(entry['inject']) == bool(found.library_path)
    assert found.pmi == site_data['pmi']['value'][entry['comes_from']['libmpi']]
    assert found.provider and '{' not in found.provider
    assert (found.env_prefix is None) == (not entry['container'])


@pytest.mark.parametrize('approach, site', PAIRS)
def test_every_variable_has_a_value_and_says_who_set_it(approach, site):
    for variable in settings_for(*entries(approach, site), facts()).variables:
        assert variable['value'] and not set(variable['value']) & set('{}')
        assert variable['origin'] in (f'site {site}', f'approach {approach}')


def test_pure_uses_tcp_whatever_the_site_has():
    site = dict(site_entry('workstation'), provider=dict(SITES['workstation']['provider'], value='cxi'))
    assert settings_for(approach_entry('pure'), site, facts()).provider == 'tcp'
    assert settings_for(approach_entry('hybrid'), site, facts()).provider == 'cxi'


def test_injected_libraries_appear_in_one_folder_of_their_own():
    found = settings_for(*entries('hybrid', 'workstation'), facts())
    assert found.binds == [('/stand-in/a/libfabric.so.1', INJECT_FOLDER + '/libfabric.so.1', 'network')]
    assert found.library_path == [INJECT_FOLDER]


def test_the_approach_replaces_a_variable_of_the_site():
    site = copy.deepcopy(site_entry('workstation'))
    site['variables'].append({'name': 'FI_PROVIDER', 'value': 'verbs', 'why': '', 'source': '', 'evidence': ''})
    found = settings_for(approach_entry('pure'), site, facts())
    assert [v['value'] for v in found.variables if v['name'] == 'FI_PROVIDER'] == ['tcp']


@pytest.mark.parametrize('runtime, prefix', [('apptainer', 'APPTAINER'), ('singularity', 'SINGULARITY')])
def test_the_runtime_decides_the_prefix_of_its_variables(runtime, prefix):
    assert settings_for(*entries('pure', 'workstation'), facts(runtime)).env_prefix == prefix


def test_settings_do_not_change_what_they_are_given():
    before = facts()
    settings_for(*entries('bind', 'workstation'), before)
    assert before == facts()


def test_unknown_site_names_the_known_ones():
    with pytest.raises(SettingsError, match=r"unknown site 'lummi'; known sites: .*workstation.*--try-amend=site="):
        choose_site('lummi', None, 'host')


def test_unknown_approach_names_the_known_ones():
    with pytest.raises(SettingsError, match=r"unknown approach 'hybird'; known approaches: bind, hybrid, .*pure"):
        approach_entry('hybird')


def test_a_machine_that_matches_no_site_is_told_what_to_do():
    with pytest.raises(SettingsError, match=r"host name 'nobody'.*--try-amend=site=NAME.*make demo"):
        choose_site(None, None, 'nobody', {'workstation': SITES['workstation']})


def test_site_is_wanted_then_local_then_by_host_name():
    sites = {'a': dict(SITES['workstation'], hostnames={'value': [r'^uan\d']}), 'b': SITES['workstation']}
    assert choose_site('b', 'a', 'uan01', sites)['name'] == 'b'
    assert choose_site(None, 'b', 'uan01', sites)['name'] == 'b'
    assert choose_site(None, None, 'uan01', sites)['name'] == 'a'


@pytest.mark.parametrize('approach', [name for name in APPROACHES if APPROACHES[name]['inject']])
def test_site_that_lacks_what_the_approach_needs_is_refused(approach):
    site = dict(site_entry('workstation'), name='laptop', libraries={'libmpi': None})
    with pytest.raises(SettingsError, match=rf"approach '{approach}' needs the host's .*libfabric, which site 'laptop' "
                                            r"does not have; .* opensource, pure"):
        host_libraries(approach_entry(approach), site)


def test_module_imports_no_easybuild():
    assert not any(name.startswith('easybuild') for name in vars(settings_module))

"""
Test the data of sites and approaches: complete entries with reasons and sources.

Also test that site files with wrong values are refused, and that sites are recognised by the
variables of their systems.
"""

import copy
import datetime
import os
import re
from types import SimpleNamespace

import pytest

from osu_container.check.public_hosts import LIBRARY_NEEDS
from osu_container.data.approaches import APPROACHES
from osu_container.data.records import EVIDENCE
from osu_container.data.sites import SITES
from osu_container.data.sites.cray import list_rocm_sonames
from osu_container.data.sites.schema import (
    FACT,
    KEYS,
    OPTIONAL,
    OPTIONAL_SHAPES,
    SHAPES,
)
from osu_container.discover.host_facts import HOSTS_FOLDER
from osu_container.image.image import MPI_FAMILIES
from osu_container.verdict.settings import build_settings, can_launch_approach, resolve_approach
from osu_container.verdict.site_choice import (
    SettingsError,
    choose_site,
    resolve_local_site,
    resolve_site,
)
from tests.stand_in.systems import HOSTS

APPROACH_KEYS = set(
    (
        'title container mpi mpi_also inject inject_if_known preload comes_from requires '
        'files unset rank_variables variables'
    ).split()
)
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]


def list_facts(site):
    """Return the list of all facts of a site."""
    entry = resolve_site(site)
    tables = [value for value in entry.values() if isinstance(value, dict)]
    facts = [fact for fact in tables if 'value' in fact] + entry['variables']
    for table in ('libraries', 'files'):
        facts += filter(None, entry[table].values())
    return facts


def check_fact(fact, *optional):
    """
    Assert that a fact has a reason and a source, and no other keys than the optional ones.
    """
    assert set(fact) - set(optional) == set(FACT), fact
    assert len(fact['why']) > 10 and len(fact['source']) > 5 and fact['evidence'] in EVIDENCE, fact
    assert datetime.date.fromisoformat(fact['date']), fact


@pytest.mark.parametrize('site', SITES)
def test_site_has_every_key_and_every_fact_a_source(site):
    assert set(resolve_site(site)) - set(OPTIONAL) == {*KEYS, 'name'}
    for fact in list_facts(site):
        check_fact(fact, *OPTIONAL_SHAPES)
        assert fact.get('release', '') in str(fact['value']), fact


@pytest.mark.parametrize('approach', APPROACHES)
def test_approach_has_every_key_and_every_variable_a_source(approach):
    entry = APPROACHES[approach]
    assert set(entry) - {'entrypoint', 'by_family'} == APPROACH_KEYS
    for family, others in entry.get('by_family', {}).items():
        assert (
            set(others) - {'exports', 'one_build'} <= APPROACH_KEYS and family in entry['mpi_also']
        )
    assert {entry['mpi'], *entry['mpi_also']} <= set(MPI_FAMILIES.values())
    for variant in (entry, *entry.get('by_family', {}).values()):
        for key in ('variables', 'unset', 'rank_variables', 'exports'):
            for variable in variant.get(key, []):
                check_fact(dict(variable), 'name', 'only', 'setting', 'inside')


@pytest.mark.parametrize('approach', CONTAINERS)
def test_injected_libraries_come_from_the_host(approach):
    entry = APPROACHES[approach]
    assert set(entry['preload']) <= set(entry['inject'] + entry['inject_if_known'])
    assert set(entry['inject']) == {
        name for name, owner in entry['comes_from'].items() if owner == 'host'
    }


@pytest.mark.parametrize('site', SITES)
def test_each_gpu_is_bound_to_separate_cores(site):
    entry = resolve_site(site)
    binding = entry['gpu_binding']['value']
    if (
        entry['gpu_binding']['evidence'] != 'untested' or binding
    ):  # otherwise the fact says that the binding is not known
        assert bool(binding) == bool(entry['gpu']['value'])
    masks = [int(gpu['mask'], 16) for gpu in binding or []]
    for number, mask in enumerate(masks):
        assert all(mask & other == 0 for other in masks[:number]), 'two GPUs must not share cores'


@pytest.mark.parametrize('site', SITES)
def test_site_names_images_default_and_pmi_of_its_approaches(site):
    entry = resolve_site(site)
    possible = {name for name in CONTAINERS if can_launch_approach(APPROACHES[name], entry)}
    if (
        entry['libraries'].get('libompi') and 'Open MPI' in entry['pmi']['value']
    ):  # bind also works for images with Open MPI
        possible.add('bind')
    images = {
        name for name in entry['images']['value'] if '/' not in name
    }  # names with a slash belong to other modules
    assert images and images <= possible
    # With bind, the host's GTL and the image need the same HIP runtime.
    hip, rocm = (
        entry['libraries'].get('libamdhip64'),
        re.search(r'rocm-([\d.]+\d)', str(entry['images'])),
    )
    wanted = list_rocm_sonames(rocm[1])['libamdhip64'] if rocm else ''
    with_hip = (entry['gpu']['value'] or '').startswith('gfx')
    without = {'bind'} if with_hip and not (hip and hip['value'].endswith(wanted)) else set()
    if 'cuda' not in str(
        entry['images']['value']
    ):  # no image has MPICH with CUDA, so that some approaches have no image
        assert images == possible - without
    assert entry['default_approach']['value'] in images
    for kind in entry['pmi']['value'].values():
        assert kind in entry['pmi_variables']['value']


def test_every_site_has_what_other_modules_need_of_it():
    """One failure lists everything that a new site lacks."""
    lacks = []
    for name, site in ((name, resolve_site(name)) for name in SITES):
        described = os.path.exists(os.path.join(HOSTS_FOLDER, name + '.json'))
        lacks += [
            f'{name}: {what}'
            for what, is_there in [
                ('fact glibc', described or 'glibc' in site),
                ('fact libfabric_needs', described or 'libfabric_needs' in site),
                ('simulated system in tests/stand_in', described or name in HOSTS),
            ]
            + [
                (f'dependencies of {library} in check/host_libraries.csv', library in LIBRARY_NEEDS)
                for library, fact in site['libraries'].items()
                if fact and library != 'libfabric' and not described
            ]
            if not is_there
        ]
    assert lacks == []


@pytest.mark.parametrize(
    'release, hip, comgr, register',
    [('5.7.1', 5, 2, False), ('6.0.3', 6, 2, False), ('6.1', 6, 2, True), ('7.0.3', 7, 3, True)],
)
def test_rocm_sonames_follow_from_the_release(release, hip, comgr, register):
    sonames = list_rocm_sonames(release)
    assert sonames['libamdhip64'] == f'libamdhip64.so.{hip}'
    assert sonames['libamd_comgr'] == f'libamd_comgr.so.{comgr}'
    assert ('librocprofiler-register' in sonames) == register


@pytest.mark.parametrize('site', SITES)
def test_host_paths_are_absolute_and_filled_in(site):
    entry = resolve_site(site)
    paths = [fact['value'] for fact in entry['libraries'].values() if fact]
    for path in paths + entry['library_folders']['value'] + entry['one_build']['value']:
        assert path.startswith('/') and not set(path) & set('{}:, '), path


# ---- site files

NONE = {'value': None, 'why': 'w', 'source': 's', 'date': '2026-11-23', 'evidence': 'untested'}
#: Values of all basic types, and some nested values
VALUES = [
    None,
    True,
    7,
    1.5,
    'text',
    b'bytes',
    [],
    {},
    (),
    [None],
    [7],
    ['text'],
    [['text']],
    [{}],
    {7: 7},
    {'text': 'text'},
    {'text': None},
    {'hostnames': 7},
    {'hostnames': ['(']},
    {'environment': {'A': '['}},
    set(),
    print,
]


def is_accepted(**local):
    """
    Return whether a local file with these names gives a site.

    Otherwise assert that the message of SettingsError is a single short line.
    """
    try:
        site, root = resolve_local_site(None, SimpleNamespace(**local), 'host', {})
    except SettingsError as err:
        assert str(err).isprintable() and len(str(err)) < 1500, str(err)
        return False
    assert isinstance(root, str)
    for approach in (entry for entry in map(resolve_approach, APPROACHES) if entry['container']):
        try:
            build_settings(approach, site, copy.deepcopy(RECORDED))
        except SettingsError:
            pass
    return True


#: Facts of an image and a host, as read_facts() records them
RECORDED = {
    'image': {
        'file': 'x.sif',
        'mpi': 'MPICH 4.2.3',
        'soname': 'libmpi.so.12',
        'libfabric': '1.22.0',
        'programs_are': '',
        'programs': {'osu_bw': '/opt/osu/bin'},
        'gpu': False,
        'library_path': [],
        'rccl_plugin': None,
        'environment': [],
        'rccl_plugin_folder': None,
    },
    'host': {
        'root': '',
        'mpi': 'MPICH 5.0.2',
        'libfabric': '2.5.1',
        'injected': [],
        'files': [],
        'runtime': {
            'command': '/usr/bin/apptainer',
            'name': 'apptainer',
            'release': '1.4.5',
            'setuid': False,
        },
    },
}


def test_every_site_follows_the_schema():
    for name in SITES:  # under another name the site is checked like a user's site
        assert is_accepted(SITE='mine', SITES={'mine': dict(resolve_site(name))}), name


@pytest.mark.parametrize(
    'key', [*SHAPES, *'title variables based_on libraries files libraries.x files.x'.split()]
)
def test_wrongly_typed_fact_works_or_is_refused_by_name(key):
    key, _, name = key.partition('.')
    for value in VALUES:
        parts = OPTIONAL_SHAPES if name or key == 'variables' else ()
        for entry in (
            value,
            dict(NONE, value=value),
            *(dict(NONE, value='x', **{part: value}) for part in parts),
        ):
            entry = {name: entry} if name else [entry] if parts else entry
            for local in (
                {'SITE': 'mine', 'SITES': {'mine': {'based_on': 'workstation', key: entry}}},
                {'SITE': 'workstation', 'OVERRIDES': {key: entry}},
            ):
                is_accepted(**local)


@pytest.mark.parametrize('name', ['SITE', 'SITES', 'ROOT', 'OVERRIDES'])
def test_wrongly_typed_name_in_local_file_is_refused(name):
    expected_types = {'SITE': str, 'ROOT': str, 'SITES': dict, 'OVERRIDES': dict}[name]
    for value in VALUES:
        if not isinstance(value, expected_types) and not (name == 'SITE' and value is None):
            assert not is_accepted(**{'SITE': 'workstation', name: value}), value


@pytest.mark.parametrize(
    'entries, pattern',
    [
        ({'mine': {'based_on': 'mine'}}, 'mine -> mine'),
        (
            {'mine': {'based_on': 'b'}, 'b': {'based_on': 'c'}, 'c': {'based_on': 'b'}},
            'mine -> b -> c -> b',
        ),
        (
            {'mine': {'based_on': 'workstation', 'jobs': dict(NONE, value={'partition': None})}},
            "'mine'.*jobs.*account is missing",
        ),
        (
            {
                'mine': {
                    'based_on': 'workstation',
                    'recognised_by': dict(NONE, value={'hostnames': ['(']}),
                }
            },
            r"'mine'.* `recognised_by` .*'\('",
        ),
    ],
)
def test_error_names_the_wrong_and_the_expected_value(entries, pattern):
    with pytest.raises(SettingsError, match=pattern):
        resolve_local_site(
            None, SimpleNamespace(SITE='mine', SITES=entries), 'host', dict(os.environ)
        )


OTHERS = [name for name in SITES if name != 'workstation' and not name.startswith('lumi')]


@pytest.mark.parametrize(
    'site', [site for site in OTHERS if resolve_site(site)['recognised_by']['value']]
)
def test_site_variable_decides_and_host_name_alone_does_not(site):
    rule = resolve_site(site)['recognised_by']['value']
    ((variable, value),) = rule['environment'].items()
    word = re.sub(r'[\^$]', '', value).strip('()').split('|')[0]
    # A name of a compute node: each digit of the pattern is 1.
    pattern = rule['hostnames'][-1].strip('^$').replace('+', '')
    host = re.sub(r'\\d(?:\{(\d)\})?', lambda digits: '1' * int(digits[1] or 1), pattern)
    stack = resolve_site(site).get('stack', {'value': {'values': []}})['value']
    for value in stack['values']:
        assert (
            choose_site(None, None, host, {variable: word, stack['variable']: value})['name']
            == site
        )
    if '-' not in site:
        assert choose_site(None, None, host, {variable: word})['name'] == site
    if stack['values']:
        with pytest.raises(
            SettingsError, match=rf"{stack['of']}, .*{stack['variable']}=7\.7\.7\b.*discover"
        ):
            choose_site(None, None, host, {variable: word, stack['variable']: '7.7.7'})
    with pytest.raises(SettingsError):
        choose_site(None, None, host, {})

"""What a user's own site file holds is taken, or refused with the key, the value found and the one wanted."""
import copy
import os
from types import SimpleNamespace

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.data.sites.schema import (
    KEYS,
    NO_FACT,
    OPTIONAL,
    OPTIONAL_SHAPES,
    SHAPES,
    TABLE_SHAPES,
    TABLES,
)
from osu_container.core.deciding.settings import approach_entry, settings_for
from osu_container.core.deciding.site_choice import SettingsError, site_entry, site_here

FACT = {'value': None, 'why': 'w', 'source': 's', 'date': '2026-11-23', 'evidence': 'untested'}
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
        for entry in (value, dict(FACT, value=value), *(dict(FACT, value='x', **{part: value}) for part in parts)):
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
    ({'mine': {'based_on': 'b'}, 'b': 7}, "the entry 'b' is 7, wanted: a dict"),
    ({'mine': {'based_on': 'workstation', 'jobs': dict(FACT, value={'partition': None})}},
     "site 'mine': jobs, value is .*, wanted: a dict with account, options, partition, step"),
    ({'mine': {'based_on': 'workstation', 'runtime': dict(FACT, value='apptainer')}},
     "runtime, value is 'apptainer', wanted: a list of text"),
    ({'mine': {'based_on': 'workstation', 'recognised_by': dict(FACT, value={'hostnames': ['(']})}},
     'which is no regular expression')])
def test_what_is_wrong_is_said_with_what_is_wanted(entries, says):
    with pytest.raises(SettingsError, match=says):
        site_here(None, SimpleNamespace(SITE='mine', SITES=entries), 'host', dict(os.environ))

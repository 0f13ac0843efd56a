"""Facts of the host that need no image: the runtime, the native MPI, libraries that changed."""
import os
import re
from types import SimpleNamespace

import pytest

from osu_container.image.closure import closure
from osu_container.verdict.facts import (
    FactsError,
    _injected,
    checked,
    entrypoint_folders,
    find_runtime,
    native_facts,
    sha256_of,
    stale_libraries,
)
from osu_container.verdict.settings import approach_entry, runs_on, settings_for, shares
from osu_container.verdict.site_choice import SettingsError, site_entry
from osu_container.verdict.trial import Host, missing_host_paths
from tests.helpers.elf_folder import mpich
from tests.helpers.machine import compile_library


@pytest.mark.parametrize('site', ['workstation', 'lumi-25.03', 'alps', 'perlmutter', 'polaris'])
def test_native_path_that_is_not_there_is_named(site, tmp_path):
    entry = site_entry(site)
    wanted = f'{tmp_path}.*(mpicc|libmpi)' if entry['native']['value'] else site
    with pytest.raises(FactsError, match=wanted):
        native_facts(entry, str(tmp_path))


@pytest.mark.parametrize('site', ['workstation', 'lumi-25.03', 'alps', 'perlmutter', 'polaris'])
def test_only_paths_that_the_approach_needs_are_missed(site, tmp_path):
    entry = site_entry(site)
    if runs_on(approach_entry('pure'), entry):
        assert missing_host_paths(approach_entry('pure'), entry, Host(str(tmp_path))) == []
    bind = approach_entry('bind')
    if not all(entry['libraries'].get(name) for name in bind['inject']):
        with pytest.raises(SettingsError, match=f"'bind'.*'{site}'"):
            missing_host_paths(bind, entry, Host(str(tmp_path)))
        return
    # a library that only goes with the others, at a path that nobody has seen, is not missed
    paths = [str(tmp_path) + entry['libraries'][name]['value'] for name in bind['inject'] + bind['inject_if_known']
             if entry['libraries'].get(name) and (name in bind['inject']
                                                  or entry['libraries'][name]['evidence'] != 'untested')]
    assert missing_host_paths(bind, entry, Host(str(tmp_path))) == sorted(paths)


def command(folder, name, says):
    """Make an executable name in folder (Path) that prints says."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{says}"\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize('name, says, expected', [
    ('apptainer', 'apptainer version 1.4.5', 'apptainer'),
    ('singularity', 'singularity-ce version 4.1.3-150500.10.7', 'singularity'),
    ('singularity', 'apptainer version 1.4.5', 'apptainer'),
])
def test_the_runtime_is_what_it_calls_itself(tmp_path, monkeypatch, name, says, expected):
    path = command(tmp_path, name, says)
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    assert find_runtime([name]) == {'command': path, 'name': expected, 'release': re.search(r'[\d.]+\d', says).group(),
                                    'setuid': None}  # this one says nothing of that


@pytest.mark.parametrize('built, allowed, expected', [('0', 'yes', False), ('1', 'yes', True), ('1', 'no', False),
                                                      ('1', None, True)])
@pytest.mark.parametrize('name', ['apptainer', 'singularity'])
def test_setuid_is_what_the_runtime_was_built_with_and_its_settings_allow(tmp_path, monkeypatch, name, built, allowed,
                                                                          expected):
    conf = tmp_path / f'{name}.conf'
    if allowed:
        conf.write_text(f'# allow setuid = no\nallow setuid = {allowed}\n')
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    upper = name.upper()
    command(tmp_path, name, f'{name} version 1.4.5\n{upper}_CONF_FILE={conf}\n{upper}_SUID_INSTALL={built}')
    found = find_runtime([name])
    assert found['setuid'] is expected
    # one container a node: only where each would have a user namespace, and an instance can stay out of the home folder
    assert shares(found) is (name == 'apptainer' and not expected)
    assert not shares(dict(found, release='1.2.5'))
    assert not shares(found, wrapper=True) and not shares(None)


@pytest.mark.parametrize('approach, mpi, variable', [('hybrid', 'MPICH 4.2.3', 'MPIR_CVAR_CH4_CMA_ENABLE'),
                                                     ('openmpi', 'Open MPI 5.0.11', 'OMPI_MCA_smsc')])
@pytest.mark.parametrize('setuid', [True, False, None])
def test_ranks_with_namespaces_of_their_own_are_told_not_to_read_each_others_memory(approach, mpi, variable, setuid):
    facts = {'host': {'root': '', 'files': [], 'mpi': None, 'libfabric': None, 'injected': [],
                      'runtime': {'name': 'apptainer', 'command': 'apptainer', 'release': '1.4.5', 'setuid': setuid}},
             'image': {'mpi': mpi, 'libfabric': None, 'programs': {'osu_bw': '/opt/osu/bin'}}}
    found = settings_for(approach_entry(approach), site_entry('workstation'), facts)
    told = {entry['name'] for entry in found.inside.apart}
    assert (variable in told) == (setuid is False) == bool(told)


def test_no_runtime_is_an_error_that_names_what_was_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(FactsError, match='PATH.*apptainer, singularity'):
        find_runtime(['apptainer', 'singularity'])


def test_a_recorded_library_that_changed_or_went_is_named(tmp_path):
    path = compile_library(tmp_path / 'libfabric.so.1')
    library = {'path': str(path), 'sha256': sha256_of(str(path))}
    facts = {'host': {'injected': [library]}}
    assert stale_libraries(facts) == []
    compile_library(path, source='int newer;\n')
    assert re.search('{path}.*{sha256}'.format(**library), *stale_libraries(facts))
    path.unlink()
    gone, = stale_libraries(facts)
    assert library['path'] in gone and library['sha256'] not in gone


def test_folders_for_an_entrypoint_are_those_of_the_host_and_of_libraries_elsewhere(tmp_path):
    site, swap = site_entry('lumi-25.03'), approach_entry('swap')
    root = str(tmp_path)
    fabric = root + site['libraries']['libfabric']['value']
    paths = {'libfabric.so.1': fabric, 'libcxi.so.1': f'{root}/usr/lib64/libcxi.so.1',
             'libcom_err.so.2': f'{root}/lib64/libcom_err.so.2', 'liblast.so.1': f'{root}/lib64/liblast.so.1'}
    for path in paths.values():
        os.makedirs(os.path.dirname(path), exist_ok=True)
    found = entrypoint_folders(swap, site, list(paths.items()), Host(root))
    assert [(folder['path'][len(root):], folder['target']) for folder in found] == [
        (os.path.dirname(site['libraries']['libfabric']['value']), '/host/lib'), ('/usr', '/host/usr'),
        ('/lib64', '/host/more/3')]
    assert 'libcom_err.so.2' in found[2]['why']
    # where /lib64 is a link into /usr, nothing more is bound
    os.rmdir(f'{root}/lib64')
    os.symlink('usr/lib64', f'{root}/lib64')
    assert len(entrypoint_folders(swap, site, [('liblast.so.1', paths['liblast.so.1'])], Host(root))) == 2
    # a stand-in for the host need not have a /usr
    assert [folder['target'] for folder in entrypoint_folders(swap, site, [], Host(f'{root}/none'))] == []


def test_libraries_of_one_build_come_along_although_the_image_has_the_soname(tmp_path):
    rocm, usr = tmp_path / 'rocm', tmp_path / 'usr'
    helper = compile_library(rocm / 'libhelper.so.1')
    other = compile_library(usr / 'libz.so.1')
    top = compile_library(rocm / 'libhsa.so.1', needed=[helper, other])
    found, missing = closure([str(top)], [str(usr)], lambda soname: True, [str(rocm)])
    assert list(found) == ['libhsa.so.1', 'libhelper.so.1'] and missing == []
    found, _ = closure([str(top)], [str(usr)], lambda soname: True)
    assert list(found) == ['libhsa.so.1']


def test_a_library_at_a_path_that_nobody_has_seen_is_left_out_where_it_is_missing(tmp_path):
    site, bind = site_entry('lumi-25.03'), approach_entry('bind')
    pals = str(tmp_path) + site['libraries']['libpals']['value']
    assert pals not in missing_host_paths(bind, site, Host(str(tmp_path)))
    seen = dict(site, libraries=dict(site['libraries'], libpals=dict(site['libraries']['libpals'], evidence='derived')))
    assert pals in missing_host_paths(bind, seen, Host(str(tmp_path)))


def test_a_library_is_told_by_family_and_release_or_by_its_name(parts):
    files = {'libfabric.so.1': parts.fabric(needed=()), 'libmpi.so.12': parts.mpi(mpich('?'), needs=None),
             'libcxi.so.1': parts.plain('libcxi.so.1')}
    libraries = {name: SimpleNamespace(path=str(path), needed=[], soname=name) for name, path in files.items()}
    found = _injected(approach_entry('pure'), site_entry('workstation'), Host(''), libraries, set())
    assert [one['what'] for one in found] == ['libfabric 1.22.0', 'libmpi.so.12', 'libcxi.so.1']


RECORDED = {'image': {'file': 'x.sif', 'mpi': 'm', 'libfabric': 'l', 'programs': {}, 'library_path': []},
            'host': {'root': '', 'injected': [{'path': '/a', 'sha256': '0'}],
                     'runtime': {'command': 'apptainer', 'name': 'apptainer'}}}


@pytest.mark.parametrize('part, key', [(part, key) for part in RECORDED for key in [None, *RECORDED[part]]])
def test_recorded_facts_that_are_damaged_are_told_by_the_key(part, key):
    for value in (None, 7, 'text', [], {}, [7], [{}], {'a': 1}):
        damaged = {**RECORDED, part: value if key is None else {**RECORDED[part], key: value}}
        try:
            checked(damaged)
        except FactsError as err:
            assert part in str(err) and (key or '') in str(err)
        else:
            assert isinstance(value, type(RECORDED[part][key]))
    for whole in (None, 7, [], 'text'):
        with pytest.raises(FactsError):
            checked(whole)

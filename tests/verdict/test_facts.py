"""Facts of the host that need no image: the runtime, the native MPI, libraries that changed."""

import os
import re

import pytest

from osu_container.verdict.facts import (
    FactsError,
    compute_sha256,
    find_runtime,
    list_entrypoint_folders,
    list_stale_libraries,
    read_native_facts,
    validate_facts,
)
from osu_container.verdict.settings import (
    resolve_approach,
    shares_container,
)
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem
from tests.helpers.machine import compile_library


@pytest.mark.parametrize('site', ['workstation', 'lumi-25.03', 'alps', 'perlmutter', 'polaris'])
def test_missing_native_path_is_named(site, tmp_path):
    entry = resolve_site(site)
    wanted = f'{tmp_path}.*(mpicc|libmpi)' if entry['native']['value'] else site
    with pytest.raises(FactsError, match=wanted):
        read_native_facts(entry, str(tmp_path))


def make_command(folder, name, says):
    """Make an executable name in folder (Path) that prints says."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "{says}"\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    'name, says, expected',
    [
        ('apptainer', 'apptainer version 1.4.5', 'apptainer'),
        ('singularity', 'singularity-ce version 4.1.3-150500.10.7', 'singularity'),
        ('singularity', 'apptainer version 1.4.5', 'apptainer'),
    ],
)
def test_runtime_name_comes_from_its_version_text(tmp_path, monkeypatch, name, says, expected):
    path = make_command(tmp_path, name, says)
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    assert find_runtime([name]) == {
        'command': path,
        'name': expected,
        'release': re.search(r'[\d.]+\d', says).group(),
        'setuid': None,
    }  # this one says nothing of that


@pytest.mark.parametrize(
    'built, allowed, expected',
    [('0', 'yes', False), ('1', 'yes', True), ('1', 'no', False), ('1', None, True)],
)
@pytest.mark.parametrize('name', ['apptainer', 'singularity'])
def test_setuid_needs_runtime_build_and_configuration(
    tmp_path, monkeypatch, name, built, allowed, expected
):
    conf = tmp_path / f'{name}.conf'
    if allowed:
        conf.write_text(f'# allow setuid = no\nallow setuid = {allowed}\n')
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    upper = name.upper()
    make_command(
        tmp_path,
        name,
        f'{name} version 1.4.5\n{upper}_CONF_FILE={conf}\n{upper}_SUID_INSTALL={built}',
    )
    found = find_runtime([name])
    assert found['setuid'] is expected
    # one container a node: only where each would have a user namespace, and an instance can stay
    # out of the home folder
    assert shares_container(found) is (name == 'apptainer' and not expected)
    assert not shares_container(dict(found, release='1.2.5'))
    assert not shares_container(found, wrapper=True) and not shares_container(None)


def test_missing_runtime_error_names_the_searched_programs(tmp_path, monkeypatch):
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(FactsError, match='PATH.*apptainer, singularity'):
        find_runtime(['apptainer', 'singularity'])


def test_changed_or_removed_recorded_library_is_named(tmp_path):
    path = compile_library(tmp_path / 'libfabric.so.1')
    library = {'path': str(path), 'sha256': compute_sha256(str(path))}
    facts = {'host': {'injected': [library]}}
    assert list_stale_libraries(facts) == []
    compile_library(path, source='int newer;\n')
    assert re.search('{path}.*{sha256}'.format(**library), *list_stale_libraries(facts))
    path.unlink()
    (gone,) = list_stale_libraries(facts)
    assert library['path'] in gone and library['sha256'] not in gone


def test_entrypoint_folders_cover_host_and_other_libraries(tmp_path):
    site, swap = resolve_site('lumi-25.03'), resolve_approach('swap')
    root = str(tmp_path)
    paths = {
        'libfabric.so.1': (root + site['libraries']['libfabric']['value']),
        'libcxi.so.1': f'{root}/usr/lib64/libcxi.so.1',
        'libcom_err.so.2': f'{root}/lib64/libcom_err.so.2',
        'liblast.so.1': f'{root}/lib64/liblast.so.1',
    }
    for path in paths.values():
        os.makedirs(os.path.dirname(path), exist_ok=True)
    found = list_entrypoint_folders(swap, site, list(paths.items()), HostFileSystem(root))
    assert [(folder['path'][len(root) :], folder['target']) for folder in found] == [
        (os.path.dirname(site['libraries']['libfabric']['value']), '/host/lib'),
        ('/usr', '/host/usr'),
        ('/lib64', '/host/more/3'),
    ]
    assert 'libcom_err.so.2' in found[2]['why']
    # a stand-in for the host need not have a /usr
    assert [
        folder['target']
        for folder in list_entrypoint_folders(swap, site, [], HostFileSystem(f'{root}/none'))
    ] == []


@pytest.mark.parametrize(
    'facts, key', [({'host': {'root': 7}}, 'host.root'), ({'image': {}, 'host': {}}, 'image.file')]
)
def test_damaged_recorded_facts_are_reported_by_key(facts, key):
    with pytest.raises(FactsError, match=re.escape(key)):
        validate_facts(facts)

"""
Frontier, Setonix, Perlmutter and Alps: the data against what a node would tell, against published recipes and engines.

Nobody of this project has been there. The trees of tests/stand_in/make stand in for the systems; the last part installs
from them and runs ranks on two nodes.
"""
import os
import re
import runpy
import shutil
import sys

import pytest
import yaml
from podman_hpc import siteconfig

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import approach_entry, image_of, runs_on
from osu_container.core.deciding.site_choice import SettingsError, choose_site, site_entry
from osu_container.generate import podman_hpc as renderer
from osu_container.generate.described_facts import names_of
from tests.helpers.machine import PROJECT, modules_say, run

OTHERS = [name for name in SITES if name != 'workstation' and not name.startswith('lumi')]
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]
#: What a node does not tell osu-container discover, on every system
NOT_TOLD = {
    'name': 'a choice', 'title': 'a choice',
    'recognised_by': 'names of other nodes', 'engine': 'it looks for runtimes of modules only',
    'gpu_binding': 'sysfs tells whole NUMA nodes only', 'gpu_userland': 'which images a driver takes',
    'conflicts': 'the modules of a tree are not on MODULEPATH', 'variables': 'what NCCL needs: only a run shows it',
    'lnx_links': 'an experiment of CSCS\'', 'architecture': 'a tree is of the processor that made it',
    'family': 'what a system calls its own modules of that kind', 'shell': 'which of its modules are for which nodes',
    'building': 'what a system asks of who builds images there',
}
#: site -> the same, of one system
NOT_TOLD_THERE = {
    'frontier': {},
    'setonix': {'libraries.libpals': 'the same file by another link'},
    'perlmutter': {'jobs': 'nodes are asked for by a constraint, and sinfo names partitions'},
    'alps': {'images': 'the tree is of x86_64, for which there are others',
             'library_folders': 'the tree has a folder of links'},
}

def flat(entry):
    """Return {name: value} of the facts of a site (dict), libraries and files one by one."""
    found = {}
    for key, value in entry.items():
        if key in ('libraries', 'files'):
            found.update({f'{key}.{name}': fact['value'] for name, fact in value.items() if fact})
        else:
            found[key] = value['value'] if isinstance(value, dict) and 'value' in value else value
    found['library_folders'] = set(found['library_folders'])
    found['pmi_variables'] = {kind: found['pmi_variables'][kind] for kind in found['pmi'].values()}
    found['native'] = found['native'] and dict(found['native'], modules=[
        name for name in found['native']['modules'] if '/' not in name])  # a release is told by what is loaded
    found['images'] = {name: image for name, image in found['images'].items() if '/' not in name}
    return found


@pytest.fixture(scope='module')
def trees(tmp_path_factory):
    """Function site -> Path of a tree of it, to be looked at only."""
    made = {}

    def make(site):
        if site not in made:
            made[site] = tmp_path_factory.mktemp('trees') / site
            done = run([PROJECT / 'tests' / 'stand_in' / 'make', site, made[site], '--facts-only'])
            assert done.returncode == 0, done.stderr
        return made[site]
    return make


# ---- the data

@pytest.mark.parametrize('site', OTHERS)
def test_discover_finds_on_the_tree_what_the_data_say(site, trees, tmp_path):
    done = run([PROJECT / 'bin' / 'osu-container', 'discover', '--sysroot', trees(site), '-o', tmp_path / 'site.py'],
               env={'PATH': '/usr/bin:/bin', 'HOME': str(tmp_path), **modules_say(site)})
    assert done.returncode == 0, done.stdout + done.stderr
    (name, entry), = runpy.run_path(str(tmp_path / 'site.py'))['SITES'].items()
    found, data = flat(site_entry(name, {name: entry})), flat(site_entry(site))
    known = {**NOT_TOLD, **NOT_TOLD_THERE[site]}
    differs = {key for key in {*found, *data} if found.get(key) != data.get(key)}
    assert {key: (found.get(key), data.get(key)) for key in differs - set(known)} == {}
    assert set(NOT_TOLD_THERE[site]) <= differs, 'a node tells it after all'


@pytest.mark.parametrize('site', OTHERS)
def test_a_variable_of_the_site_decides_and_a_host_name_alone_does_not(site):
    rule = site_entry(site)['recognised_by']['value']
    (variable, pattern), = rule['environment'].items()
    word = re.sub(r'[\^$]', '', pattern).strip('()').split('|')[0]
    host = {'frontier': 'frontier04321', 'setonix': 'nid002345', 'perlmutter': 'nid001234', 'alps': 'nid005678'}[site]
    assert choose_site(None, None, host, {variable: word})['name'] == site
    with pytest.raises(SettingsError):
        choose_site(None, None, host, {})


@pytest.mark.parametrize('site, approach', [(site, approach) for site in OTHERS for approach in CONTAINERS])
def test_each_approach_has_an_image_or_a_plain_error(site, approach):
    entry = site_entry(site)
    possible = approach in entry['images']['value'] and runs_on(APPROACHES[approach], entry)
    assert (f'osu-container/{approach}' in names_of(site)) == possible
    if possible:
        assert image_of('osu-container', approach_entry(approach), entry) == entry['images']['value'][approach]
    if approach not in entry['images']['value']:
        with pytest.raises(SettingsError, match='image'):
            image_of('osu-container', approach_entry(approach), entry)


# ---- podman-hpc

@pytest.fixture
def podman_hpc(tmp_path, monkeypatch):
    """podman-hpc's own configuration (module), with NERSC's modules and ours, and programs that only have names."""
    folder = tmp_path / 'podman_hpc'
    shutil.copytree(os.path.join(sys.prefix, 'etc', 'podman_hpc'), folder)
    for path in (PROJECT / 'modules' / 'perlmutter' / 'podman-hpc').glob('*.yaml'):
        shutil.copy(path, folder / 'modules.d')
    (tmp_path / 'bin').mkdir()
    for name in ('podman', 'fuse-overlayfs-wrap', 'crun'):
        (tmp_path / 'bin' / name).write_text('#!/bin/sh\n')
        (tmp_path / 'bin' / name).chmod(0o755)
    monkeypatch.setenv('PATH', f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv('USER', 'somebody')
    monkeypatch.setenv('PODMANHPC_MODULES_DIR', str(folder / 'modules.d'))
    return siteconfig


def test_files_for_podman_hpc_are_current():
    wanted = renderer.rendered()
    assert set(wanted) == {f"perlmutter/podman-hpc/{name.partition('/')[2]}.yaml" for name in names_of('perlmutter')
                           if name.startswith('osu-container/')}
    for path, text in wanted.items():
        assert (PROJECT / 'modules' / path).read_text() == text, f'{path} is stale: make modules'


def words(arguments):
    """Return [argument] with `-e NAME=VALUE` without its flag, as podman reads it."""
    return [argument.removeprefix('-e ').strip() for argument in arguments]


@pytest.mark.parametrize('path', sorted((PROJECT / 'modules/perlmutter/podman-hpc').glob('*.yaml')),
                         ids=lambda path: path.stem)
def test_podman_hpc_takes_the_file_and_its_flag(path, podman_hpc, recwarn):
    config = podman_hpc.SiteConfig()
    data, flag = yaml.safe_load(path.read_text()), f'osu_{path.stem}'
    assert {*renderer.NERSCS, 'gpu', data['name']} <= set(config.sitemods['run'])
    needs = {'gpu': True} if data.get('depends_on') else {}
    arguments = config.get_cmd_extensions('run', {flag: True, **needs})
    assert not [str(warning.message) for warning in recwarn if 'osu' in str(warning.message)]
    assert config.shared_run == data['shared_run']
    given = set(words(arguments))
    assert {f"{data['env']}=1", '--network=host', '--ipc=host',
            f"FI_PROVIDER={'tcp' if path.stem == 'pure' else 'cxi'}"} <= given
    assert ('LD_LIBRARY_PATH=/opt/host-mpi/lib' in given) == (path.stem in ('bind', 'hybrid'))
    if needs:
        config.get_cmd_extensions('run', {flag: True})
        assert "requires 'gpu' to be enabled" in str(recwarn.pop(UserWarning).message)
    config.get_cmd_extensions('run', {flag: True, 'cuda_mpi': True, **needs})
    assert any('conflicts' in str(warning.message) for warning in recwarn)


# ---- installed from the trees, and run

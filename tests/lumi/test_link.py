"""`make lumi` links this clone into a user's EasyBuild tree as on LUMI, and EasyBuild finds all through the links."""
import os
import re
import shutil

import pytest

from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.libraries import sha256_of
from tests.helpers.machine import PROJECT, compile_library, copy_c_library, folded, run

pytestmark = pytest.mark.long

APPROACH = 'pure'  # needs nothing of the host, so that it installs for LUMI's sites on any machine
#: What of a clone is linked, and what of it the script and the easyblocks need.
LINKED, NEEDED = ('easyblocks', 'easyconfigs'), ('lumi', 'workstation', 'osu_container')


def linkable(clone):
    """Return the files (list of str, relative, sorted) of a clone (Path) that belong into the user's tree."""
    found = [*clone.glob('easyblocks/generic/*.py'), *clone.glob('easyconfigs/*/*/*')]
    return sorted(str(path.relative_to(clone)) for path in found if path.is_file() and not path.name.startswith('.'))


def everything(folder):
    """Return {relative path: target of a link, content of a file, None for a folder} below folder (Path)."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else
            path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob('*'))}


@pytest.fixture
def prefix(tmp_path):
    """EBU_USER_PREFIX: a folder with a space in its name that is not there yet."""
    return tmp_path / 'with a space' / 'EasyBuild'


@pytest.fixture
def tree(prefix):
    return prefix / 'UserRepo' / 'easybuild'


@pytest.fixture
def link(prefix):
    """Function (*arguments, clone) that runs lumi/link of a clone (Path) and returns what it did."""
    def call(*arguments, clone=PROJECT, user_prefix=prefix):
        environment = dict(os.environ, EBU_USER_PREFIX=str(user_prefix))
        return run([clone / 'lumi' / 'link', *arguments], env=environment)
    return call


@pytest.fixture
def other_clone(tmp_path):
    """A second clone of this project."""
    clone, junk = tmp_path / 'older-clone', shutil.ignore_patterns('__pycache__', '.*')
    for folder in LINKED + NEEDED:
        shutil.copytree(PROJECT / folder, clone / folder, symlinks=True, ignore=junk)
    return clone


# ---- linking

def test_every_file_is_linked_by_itself_and_nothing_else(link, tree):
    done = link()
    assert done.returncode == 0, done.stderr
    links = {path: target for path, target in everything(tree).items() if target is not None}
    assert sorted(links) == linkable(PROJECT)
    assert re.search(r'osu-native-[\d.]+-lumi-25\.03\.eb$', links.pop('easyconfigs/o/osu-native/osu-native.eb'))
    for path, target in links.items():
        assert (tree / path).is_symlink() and target == str((PROJECT / path).resolve()), path
    assert f'{len(links) + 1} files of {PROJECT} linked' in done.stdout
    assert 'module load LUMI/25.03 partition/container EasyBuild-user; eb osu-container-hybrid.eb -r' in done.stdout


@pytest.mark.parametrize('version, partition, wanted', [
    ('25.03', 'G', '-lumi-25.03.eb'), ('25.09.dev', 'container', '-lumi-25.09.eb'), ('25.03', 'C', '-lumi-c-25.03.eb'),
    ('26.03', 'G', '/osu-native.eb')])
def test_osu_native_eb_is_the_easyconfig_of_the_loaded_stack(link, tree, monkeypatch, version, partition, wanted):
    link()
    monkeypatch.setenv('LUMI_STACK_VERSION', version)
    monkeypatch.setenv('LUMI_STACK_PARTITION', partition)
    done = link()
    assert done.returncode == 0 and (f'none for LUMI/{version}' in done.stdout) == (wanted == '/osu-native.eb')
    assert os.readlink(tree / 'easyconfigs/o/osu-native/osu-native.eb').endswith(wanted)
    assert link().stdout.partition('\n')[0].endswith('already')


def test_links_of_an_older_clone_are_replaced_and_named(link, other_clone, tree):
    (other_clone / 'easyblocks/generic/_mpicontainer_old.py').write_text('')
    link(clone=other_clone)
    done = link()
    assert done.returncode == 0 and f'led into another clone, {other_clone}, before' in done.stdout
    assert not [target for target in everything(tree).values() if target and str(other_clone) in target]
    assert not (tree / 'easyblocks/generic/_mpicontainer_old.py').is_symlink()


def test_a_file_that_the_clone_has_no_longer_is_unlinked(link, other_clone, tree):
    extra = other_clone / 'easyconfigs/x/xyz/xyz-1.eb'
    extra.parent.mkdir(parents=True)
    extra.write_text('')
    link(clone=other_clone)
    assert (tree / 'easyconfigs/x/xyz/xyz-1.eb').is_symlink()
    shutil.rmtree(extra.parent.parent)
    done = link(clone=other_clone)
    assert 'xyz-1.eb' in done.stdout and not (tree / 'easyconfigs/x').exists()


# ---- refusals

def foreign_file(tree):
    path = tree / 'easyblocks/generic/mpicontainer.py'
    path.parent.mkdir(parents=True)
    path.write_text('my own\n')
    return path


def folder_in_the_way(tree):
    path = tree / 'easyconfigs/o/osu-container/run-in-container'
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize('obstacle', [foreign_file, folder_in_the_way])
def test_what_is_not_ours_is_named_and_nothing_is_changed(link, tree, obstacle):
    path = obstacle(tree)
    before = everything(tree)
    done = link()
    assert done.returncode != 0 and str(path) in done.stderr and 'move or remove' in done.stderr
    assert everything(tree) == before


def test_a_folder_that_is_linked_to_a_clone_is_refused(link, tree):
    (tree / 'easyblocks').mkdir(parents=True)
    (tree / 'easyblocks/generic').symlink_to(PROJECT / 'easyblocks/generic')
    before = everything(tree)
    done = link()
    assert done.returncode != 0 and 'EasyBuild does not search linked folders' in done.stderr
    assert everything(tree) == before


# ---- removing

def test_removing_leaves_what_was_there_before(link, prefix, tree):
    mine = tree / 'easyconfigs/o/osu-container/mine.eb'
    mine.parent.mkdir(parents=True)
    mine.write_text('')
    (tree / 'easyblocks/00').mkdir(parents=True)
    (tree / 'easyblocks/00/dummy.py').write_text('')
    (mine.parent / 'linked.eb').symlink_to('/usr/share/somewhere')
    before = everything(prefix)
    assert link().returncode == 0
    assert link('--remove').returncode == 0
    assert everything(prefix) == before
    assert 'nothing to do' in link('--remove').stdout


# ---- EasyBuild, as LUMI's module EasyBuild-user sets it up

@pytest.fixture
def lumi_eb(any_eb, link, prefix, tree):
    """Each EasyBuild with the variables of `module load LUMI/25.03 partition/container EasyBuild-user`."""
    assert link().returncode == 0
    any_eb.prefix = prefix
    any_eb.environment.update({
        # EasyBuild-config/25.01.lua of LUMI-SoftwareStack 241114ba, partition/container; only the user's own folders
        'EASYBUILD_PREFIX': str(prefix),
        'EASYBUILD_INCLUDE_EASYBLOCKS': f'{tree}/easyblocks/*/*.py',
        'EASYBUILD_ROBOT_PATHS': f'{prefix}/ebfiles_repo/container:{tree}/easyconfigs',
        'EASYBUILD_SOURCEPATH': f'{prefix}/sources',
        'EASYBUILD_INSTALLPATH_SOFTWARE': f'{prefix}/SW/container',
        'EASYBUILD_INSTALLPATH_MODULES': f'{prefix}/modules/container',
        'EASYBUILD_SUFFIX_MODULES_PATH': '',
        'EASYBUILD_REPOSITORYPATH': f'{prefix}/ebfiles_repo/container',
        'LUMI_STACK_VERSION': '25.03', 'LUMI_STACK_PARTITION': 'container',
    })
    return any_eb


def test_easybuild_finds_easyconfig_and_easyblock_through_the_links(lumi_eb, tree):
    done = lumi_eb('osu-container-hybrid.eb', '-r', '--dry-run', '--try-amend=site=lumi-25.03')
    assert done.returncode == 0, done.stdout[-3000:]
    assert '(module: osu-container/hybrid)' in done.stdout
    found = lumi_eb('--search', 'osu-container')
    assert 'osu-container-pure.eb' in found.stdout and str(tree) in found.stdout
    # the easyblock is reached: it, and not EasyBuild, knows the sites
    wrong = lumi_eb('osu-container-hybrid.eb', '-r', '--try-amend=site=lummi')
    assert re.search(r"unknown site 'lummi'; known sites: .*lumi-25\.09", folded(wrong.stdout))


@pytest.fixture
def image_of_lumi(make_sif, lumi_eb, tmp_path):
    """A small image of approach pure on lumi-25.03, with its sha256 in the user's source folder; returns its path."""
    root = tmp_path / 'root'
    for part in ('etc', 'usr/lib', 'bin'):
        (root / part).mkdir(parents=True)
    compile_library(root / 'usr/lib/libmpi.so.12')
    (root / 'bin/sh').write_text('')
    copy_c_library(root / 'usr/lib')
    for name in ('osu_bw', 'osu_latency'):
        (root / 'bin' / name).write_text('#!/bin/sh\n')
        (root / 'bin' / name).chmod(0o755)
    path = lumi_eb.prefix / 'sources' / site_entry('lumi-25.03')['images']['value'][APPROACH]
    path.parent.mkdir()
    make_sif(path, root)
    path.with_name(path.name + '.sha256').write_text(f'{sha256_of(path)}  {path.name}\n')
    # LUMI has the command singularity; its name and version are all that an installation asks for
    runtime = tmp_path / 'bin' / 'singularity'
    runtime.parent.mkdir()
    runtime.write_text('#!/bin/sh\necho singularity-ce version 4.1.3-150500.10.7\n')
    runtime.chmod(0o755)
    lumi_eb.environment['PATH'] = f"{runtime.parent}:{lumi_eb.environment['PATH']}"
    return path


INSTALL = (f'osu-container-{APPROACH}.eb', '-r', '--try-amend=sanity_check_commands=true,true')


@pytest.mark.apptainer
def test_every_easybuild_installs_through_the_links(lumi_eb, image_of_lumi, tree):
    """What the user changes of a site lies beside the links."""
    local = tree / 'easyblocks/generic/_mpicontainer_local.py'
    local.write_text("SITE = 'lumi-25.03'\nOVERRIDES = {'title': 'LUMI as I found it'}\n")
    done = lumi_eb(*INSTALL)
    assert done.returncode == 0, done.stdout[-3000:]
    root = lumi_eb.prefix / 'SW/container/osu-container' / APPROACH
    wrapper = root / 'bin/run-in-container'
    assert wrapper.is_file() and not wrapper.is_symlink()
    assert sha256_of(wrapper) == sha256_of(PROJECT / 'easyconfigs/o/osu-container/run-in-container')
    module = (lumi_eb.prefix / f'modules/container/osu-container/{APPROACH}.lua').read_text()
    assert 'on site lumi-25.03' in module
    assert 'SINGULARITY' in module and 'APPTAINER' not in module

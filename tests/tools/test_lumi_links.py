"""
`make lumi` links this clone into a user's EasyBuild tree as on LUMI, and EasyBuild finds all
through the links.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.machine import PROJECT, assert_success, fold_whitespace, run

pytestmark = pytest.mark.system


def list_targets(folder):
    """Return {relative path: target of a link, content of a file} below folder (Path)."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_text()
        for path in folder.rglob('*')
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def prefix(tmp_path):
    """EBU_USER_PREFIX: a folder with a space in its name that does not exist yet."""
    return tmp_path / 'with a space' / 'EasyBuild'


@pytest.fixture
def tree(prefix):
    return prefix / 'UserRepo' / 'easybuild'


@pytest.fixture
def link(prefix):
    """
    Function (*arguments, clone, **variables) (clone: Path) that runs tools/lumi-links and
    returns what it did.
    """

    def call(*arguments, clone=PROJECT, **variables):
        return run(
            [clone / 'tools' / 'lumi-links', *arguments],
            env={**os.environ, 'EBU_USER_PREFIX': str(prefix), **variables},
        )

    return call


def test_every_file_is_linked_and_the_links_are_removed(link, prefix, tree):
    mine = tree / 'easyconfigs/o/osu-container/mine.eb'
    mine.parent.mkdir(parents=True)
    mine.write_text('')
    (mine.parent / 'linked.eb').symlink_to('/usr/share/somewhere')
    before = list_targets(prefix)
    done = link()
    assert_success(done)
    expected = [
        *PROJECT.glob('easyblocks/generic/*.py'),
        *filter(Path.is_file, PROJECT.glob('easyconfigs/*/*/*')),
    ]
    links = {path: target for path, target in list_targets(prefix).items() if path not in before}
    assert len(links) == len(expected)
    assert links.pop('UserRepo/easybuild/easyconfigs/o/osu-native/osu-native.eb').endswith(
        '-lumi-25.03.eb'
    )
    assert {
        f'UserRepo/easybuild/{path.relative_to(PROJECT)}': str(path) for path in expected
    }.items() >= links.items()
    assert link('--remove').returncode == 0
    assert list_targets(prefix) == before and not (tree / 'easyblocks').exists()


@pytest.mark.parametrize(
    'version, partition, suffix',
    [
        ('25.09.dev', 'container', '-lumi-25.09.eb'),
        ('25.03', 'C', '-lumi-c-25.03.eb'),
        ('26.03', 'G', '/osu-native.eb'),
    ],
)
def test_osu_native_eb_is_the_easyconfig_of_the_loaded_stack(
    link, tree, version, partition, suffix
):
    link()
    assert link(LUMI_STACK_VERSION=version, LUMI_STACK_PARTITION=partition).returncode == 0
    assert os.readlink(tree / 'easyconfigs/o/osu-native/osu-native.eb').endswith(suffix)


def test_links_of_an_older_clone_are_replaced(link, tmp_path, tree):
    older = tmp_path / 'older-clone'
    for folder in ('easyblocks', 'easyconfigs', 'tools'):
        shutil.copytree(
            PROJECT / folder, older / folder, ignore=shutil.ignore_patterns('__pycache__')
        )
    (older / 'easyblocks/generic/old.py').write_text('')
    (older / 'easyblocks/generic/removed.py').write_text('')
    link(clone=older)
    (older / 'easyblocks/generic/removed.py').unlink()
    assert (tree / 'easyblocks/generic/old.py').is_symlink() and (
        tree / 'easyblocks/generic/removed.py'
    ).is_symlink()
    assert link().returncode == 0
    assert not [target for target in list_targets(tree).values() if str(older) in target]


def test_a_file_of_the_user_is_named_and_not_touched(link, tree):
    path = tree / 'easyblocks/generic/mpicontainer.py'
    path.parent.mkdir(parents=True)
    path.write_text('my own')
    done = link()
    assert done.returncode == 1 and str(path) in done.stderr and path.read_text() == 'my own'


# ---- EasyBuild, as LUMI's module EasyBuild-user sets it up


@pytest.fixture
def lumi_eb(any_eb, link, prefix, tree):
    """
    Each EasyBuild with the variables of `module load LUMI/25.03 partition/container
    EasyBuild-user`.
    """
    assert link().returncode == 0
    any_eb.prefix = prefix
    any_eb.environment.update(
        {
            # EasyBuild-config/25.01.lua of LUMI-SoftwareStack 241114ba, partition/container; only
            # the user's own folders
            'EASYBUILD_PREFIX': str(prefix),
            'EASYBUILD_INCLUDE_EASYBLOCKS': f'{tree}/easyblocks/*/*.py',
            'EASYBUILD_ROBOT_PATHS': f'{prefix}/ebfiles_repo/container:{tree}/easyconfigs',
            'EASYBUILD_SOURCEPATH': f'{prefix}/sources',
            'EASYBUILD_INSTALLPATH_SOFTWARE': f'{prefix}/SW/container',
            'EASYBUILD_INSTALLPATH_MODULES': f'{prefix}/modules/container',
            'EASYBUILD_SUFFIX_MODULES_PATH': '',
            'EASYBUILD_REPOSITORYPATH': f'{prefix}/ebfiles_repo/container',
            'LUMI_STACK_VERSION': '25.03',
            'LUMI_STACK_PARTITION': 'container',
        }
    )
    return any_eb


def test_easybuild_finds_easyconfig_and_easyblock(lumi_eb):
    done = lumi_eb('osu-container-hybrid.eb', '-r', '--dry-run', '--try-amend=site=lumi-25.03')
    assert_success(done)
    assert '(module: osu-container/hybrid)' in done.stdout
    # the easyblock is reached: it, and not EasyBuild, knows the sites
    wrong = lumi_eb('osu-container-hybrid.eb', '-r', '--try-amend=site=lummi')
    assert re.search(r"'lummi'.*lumi-25\.09", fold_whitespace(wrong.stdout))

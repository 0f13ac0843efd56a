"""
A release: one version everywhere, citation that readers of such files take, and errors before
anything is made; what follows from the release of the benchmarks.
"""

import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import yaml

from osu_container import PLACEHOLDER, REPOSITORY, __version__
from osu_container.bench.results.references import read_descriptions
from osu_container.build.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, STATE, assert_success, run
from tests.helpers.osu_archive import ARCHIVE, RELEASE
from tools.generate import easyconfigs

CITATION = PROJECT / 'CITATION.cff'


def test_the_version_is_the_same_everywhere():
    newest = re.search(r'^## \[(.+?)\]', (PROJECT / 'CHANGELOG.md').read_text(), re.M).group(1)
    assert {
        'changelog': newest,
        'citation': str(yaml.safe_load(CITATION.read_text())['version']),
        'codemeta': json.loads((PROJECT / 'codemeta.json').read_text())['version'],
    } == dict.fromkeys(('changelog', 'citation', 'codemeta'), __version__)
    assert re.fullmatch(r'\d+\.\d+\.\d+', __version__)
    page = (PROJECT / 'docs' / 'support.md').read_text()
    assert set(re.findall(r'osu[-_]container-(\d[\d.]*\d)', page)) == {__version__}


def test_the_address_of_the_repository_is_the_same_everywhere():
    citation, codemeta = (
        yaml.safe_load(CITATION.read_text()),
        json.loads((PROJECT / 'codemeta.json').read_text()),
    )
    assert (citation.get('repository-code', ''), codemeta['codeRepository']) == (
        REPOSITORY,
        REPOSITORY or PLACEHOLDER,
    )


def test_every_published_dataset_has_its_licence_on_the_page():
    rows = (PROJECT / 'docs' / 'support.md').read_text().partition('\n## Licences\n')[2]
    for name, dataset in read_descriptions().items():
        row = next(line for line in rows.splitlines() if f'`{name}.csv`' in line)
        assert (
            dataset['licence'].partition(',')[0].partition(' found')[0].split()[0] in row
            or 'facts' in row
        ), name


def test_pyproject_lists_every_package_and_an_existing_command():
    text = (PROJECT / 'pyproject.toml').read_text()
    module, function = re.search(r'^osu-container = "(.+):(.+)"$', text, re.M).groups()
    assert callable(getattr(importlib.import_module(module), function))
    listed = set(re.findall(r'^    "(osu_container[\w.]*)",$', text, re.M))
    folders = {path.parent for path in (PROJECT / 'osu_container').rglob('__init__.py')}
    packages = {'.'.join(folder.relative_to(PROJECT).parts) for folder in folders}
    assert listed == packages | {'osu_container.scripts', 'osu_container.container_recipes'}


@pytest.fixture
def clone(tmp_path):
    """A repository (Path) of one commit, with what release.sh reads before it makes anything."""
    folder = tmp_path / 'clone'
    (folder / 'osu_container').mkdir(parents=True)
    shutil.copytree(
        PROJECT / 'tools', folder / 'tools', ignore=shutil.ignore_patterns('__pycache__')
    )
    for name in ('CHANGELOG.md', 'osu_container/__init__.py'):
        shutil.copy(PROJECT / name, folder / name)
    git(folder, 'init', '-q')
    git(folder, 'add', '-A')
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one')
    return folder


def git(folder, *words):
    """Run git in a folder (Path); it must succeed."""
    subprocess.run(['git', '-C', folder, *words], check=True)


def test_release_needs_a_commit_with_a_changelog_heading(clone):
    def refused(text):
        done = run(['bash', clone / 'tools' / 'release.sh'])
        assert done.returncode == 1 and done.stdout == '' and text in done.stderr
        assert not (clone / '.workstation').exists()

    (clone / 'CHANGELOG.md').write_text('# Changelog')
    refused('CHANGELOG.md')
    git(clone, 'add', '-A')
    git(clone, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'two')
    refused(f'## [{__version__}]')


@pytest.mark.system
@pytest.mark.nightly
def test_release_replaces_the_address_placeholder(clone):
    """The archive and the wheel; the same commit gives the same bytes."""
    for name in (
        'README.md',
        'CITATION.cff',
        'codemeta.json',
        'LICENSE',
        'pyproject.toml',
    ):
        shutil.copy(PROJECT / name, clone / name)
    shutil.rmtree(clone / 'osu_container')
    for name in ('container-recipes', 'easyblocks', 'easyconfigs', 'osu_container', 'scripts'):
        shutil.copytree(PROJECT / name, clone / name, ignore=shutil.ignore_patterns('__pycache__'))
    (clone / '.gitignore').write_text('/.workstation/\n')
    git(clone, 'add', '-A')
    git(clone, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'two')
    (clone / '.workstation').mkdir()
    (clone / '.workstation' / 'venv').symlink_to(STATE / 'venv')
    address, archives = 'https://git.example/osu/osu-container', []
    for _ in range(2):
        done = run(
            ['bash', clone / 'tools' / 'release.sh'],
            env={**os.environ, 'RELEASES': '', 'REPOSITORY': address},
        )
        assert_success(done)
        archives.append(
            (clone / f'.workstation/release/osu-container-{__version__}.tar.gz').read_bytes()
        )
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as packed:
        texts = {
            member.name.partition('/')[2]: packed.extractfile(member).read().decode()
            for member in packed
            if member.isfile() and member.name.endswith(('.md', '.json', '.cff', '.py'))
        }
    assert [name for name, text in texts.items() if PLACEHOLDER in text] == []
    assert (
        f'git clone {address} ' in texts['README.md']
        and ' is a placeholder' not in texts['README.md']
    )
    assert json.loads(texts['codemeta.json'])['codeRepository'] == address
    assert yaml.safe_load(texts['CITATION.cff'])['repository-code'] == address
    (wheel,) = (clone / '.workstation' / 'release').glob('*.whl')
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if name.endswith('/METADATA'))
        described = packed.read(name).decode()
    assert (
        f'Project-URL: Repository, {address}\n' in described
        and 'Provides-Extra: report' in described
    )


# ---- easyconfigs and pages that follow from the release of the benchmarks

NATIVE = PROJECT / 'easyconfigs' / 'o' / 'osu-native'


def test_checked_in_easyconfigs_and_pages_are_current():
    done = run(
        [sys.executable, '-m', 'tools.generate', '--step', 'easyconfigs', '--check'], cwd=PROJECT
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_a_new_release_is_one_edit(monkeypatch):
    """
    No other file names the release, but for the contributed recipe and what others measured with
    it.
    """
    monkeypatch.setattr(
        easyconfigs, 'OSU', {**easyconfigs.OSU, 'version': '8.0', 'sha256': 'a' * 64}
    )
    texts = easyconfigs.render_files()
    assert NATIVE / 'osu-native-8.0-lumi-25.03.eb' in texts
    assert texts[NATIVE / f'osu-native-{RELEASE}-lumi-25.03.eb'] is None
    kept = re.compile(
        'CHANGELOG|docs/contributions|osu_container/(build/recipes/versions|bench/results/data)|.*/rendered/'
    )
    named = re.compile(
        rf'(?<!OSU-Micro-Benchmarks-)(?<![\d.]){re.escape(RELEASE)}(?![\d.]*\d)'
        f'|{SOURCES["osu"]["sha256"]}'
    )
    names = run(
        ['git', '-c', f'safe.directory={PROJECT}', '-C', PROJECT, 'grep', '-lF', RELEASE]
    ).stdout.splitlines()
    assert len(names) > 5
    assert [
        name
        for name in names
        if not kept.match(name)
        and named.search(texts.get(PROJECT / name, (PROJECT / name).read_text()) or '')
    ] == []


def test_names_followed_by_a_release_are_found():
    text = f'{ARCHIVE} osu-native/1.2.3 osu-native-1.2-lumi-25.03.eb mpich-4.2.3 osu-native'
    assert easyconfigs.update_release_names(text).split() == [
        ARCHIVE,
        f'osu-native/{RELEASE}',
        f'osu-native-{RELEASE}-lumi-25.03.eb',
        'mpich-4.2.3',
        'osu-native',
    ]

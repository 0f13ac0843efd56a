"""Easyconfigs, pages and recipes that follow from data: the release of the benchmarks, the software stacks."""
import re
import shutil
import subprocess
import sys

from osu_container.generate import easyconfigs
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT
from tests.helpers.osu_archive import ARCHIVE, RELEASE

STACKS = easyconfigs.stacks()


def generate(project, step, *arguments):
    """Run one step of the generator of a project."""
    return subprocess.run([sys.executable, '-m', 'osu_container.generate', '--step', step, *arguments], cwd=project,
                          capture_output=True, text=True)


def test_checked_in_easyconfigs_and_pages_are_current():
    done = generate(PROJECT, 'easyconfigs', '--check')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_a_new_release_is_one_edit(tmp_path):
    for name in ('bin', 'osu_container', 'easyblocks', 'easyconfigs', 'container-recipes', 'docs', 'tests', 'sources'):
        shutil.copytree(PROJECT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns(
            '__pycache__', '*.whl', '*.sif*', '*.tar.*'))
    for path in (path for path in PROJECT.iterdir() if path.is_file() and path.name != 'CHANGELOG.md'):
        shutil.copy(path, tmp_path)
    versions = tmp_path / 'osu_container/recipes/versions.py'
    text = versions.read_text()
    assert text.count(RELEASE) == text.count(SOURCES['osu']['sha256']) == 1
    versions.write_text(text.replace(RELEASE, '8.0').replace(SOURCES['osu']['sha256'], 'a' * 64))

    for step in ('easyconfigs', 'recipes'):
        before = generate(tmp_path, step, '--check')
        assert before.returncode == 1 and before.stderr
        assert generate(tmp_path, step).returncode == 0
        assert generate(tmp_path, step, '--check').returncode == 0
    history = tmp_path / 'osu_container/results/data'  # what others had then stays
    others = {*(tmp_path / 'docs/contributions').iterdir(), tmp_path / 'docs/contribute.md'}  # kept by hand
    named = re.compile(rf'(?<![\d.]){re.escape(RELEASE)}(?![\d.]*\d)|{SOURCES["osu"]["sha256"]}')
    for path in sorted(tmp_path.rglob('*')):
        if path.is_file() and path not in others and history not in path.parents and '__pycache__' not in path.parts:
            assert not named.search(path.name) and not named.search(path.read_text(errors='replace')), path
    folder = tmp_path / 'easyconfigs/o'
    assert {path.name for path in (folder / 'osu-native').glob('*.eb')} == {
        'osu-native.eb', *(f'osu-native-8.0-{site}.eb' for site in STACKS)}
    for path in folder.glob('osu-native/*.eb'):
        assert "version = '8.0'\n" in path.read_text() and f"checksums = ['{'a' * 64}']\n" in path.read_text()
    assert 'osu-micro-benchmarks-8.0.tar.gz' in (tmp_path / 'sources/README.md').read_text()


def test_names_with_a_release_behind_them_are_found():
    text = f'{ARCHIVE} osu-native/1.2.3 osu-native-1.2-lumi-25.03.eb mpich-4.2.3 osu-native'
    assert easyconfigs.of_release(text).split() == [
        ARCHIVE, f'osu-native/{RELEASE}', f'osu-native-{RELEASE}-lumi-25.03.eb', 'mpich-4.2.3', 'osu-native']

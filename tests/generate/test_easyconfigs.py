"""Easyconfigs that follow from data: the release of the benchmarks, the software stacks, sums of what lies here."""
import copy
import re
import shutil
import subprocess
import sys
import types

import pytest

from osu_container.generate import easyconfigs
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT
from tests.helpers.osu_archive import ARCHIVE, RELEASE

NATIVE = PROJECT / 'easyconfigs/o/osu-native/osu-native.eb'
STACKS = easyconfigs.stacks()
LOCAL = 'easybuild.easyblocks.generic._mpicontainer_local'


def generate(project, step, *arguments):
    """Run one generator of a project."""
    return subprocess.run([sys.executable, '-m', f'osu_container.generate.{step}', *arguments], cwd=project,
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

    for step in ('easyconfigs', 'recipe_files'):
        before = generate(tmp_path, step, '--check')
        assert before.returncode == 1 and before.stderr
        assert generate(tmp_path, step).returncode == 0
        assert generate(tmp_path, step, '--check').returncode == 0
    history = tmp_path / 'osu_container/results/data'  # what others had then stays
    others = tmp_path / 'osu_container/contribute/repositories.py'
    named = re.compile(rf'(?<![\d.]){re.escape(RELEASE)}(?![\d.]*\d)|{SOURCES["osu"]["sha256"]}')
    for path in sorted(tmp_path.rglob('*')):
        if path.is_file() and path != others and history not in path.parents and '__pycache__' not in path.parts:
            assert not named.search(path.name) and not named.search(path.read_text(errors='replace')), path
    folder = tmp_path / 'easyconfigs/o'
    assert {path.name for path in (folder / 'osu-native').glob('*.eb')} == {
        'osu-native.eb', *(f'osu-native-8.0-{site}.eb' for site in STACKS)}
    for path in folder.glob('osu-native/*.eb'):
        assert "version = '8.0'\n" in path.read_text() and f"    '{'a' * 64}',\n" in path.read_text()
    assert 'osu-micro-benchmarks-8.0.tar.gz' in (tmp_path / 'sources/README.md').read_text()


def test_a_changed_command_has_a_new_sum(tmp_path):
    for name in ('osu_container', 'easyconfigs'):
        shutil.copytree(PROJECT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns('__pycache__'))
    with open(tmp_path / 'easyconfigs/o/osu-container/osu-explain', 'a') as command:
        command.write('# more\n')
    done = generate(tmp_path, 'easyconfigs', '--check')
    assert done.returncode == 1 and 'osu-native.eb' in done.stderr and 'osu-container-pure.eb' in done.stderr
    generate(tmp_path, 'easyconfigs')
    assert generate(tmp_path, 'easyconfigs', '--check').returncode == 0


def test_a_list_without_a_sum_is_an_error(tmp_path):
    text = NATIVE.read_text().replace(f"    '{SOURCES['osu']['sha256']}',\n", '')
    with pytest.raises(ValueError, match='3 sources, 2 checksums; one for each is wanted'):
        easyconfigs.with_sums(text, NATIVE)


def test_names_with_a_release_behind_them_are_found():
    text = f'{ARCHIVE} osu-native/1.2.3 osu-native-1.2-lumi-25.03.eb mpich-4.2.3 osu-native'
    assert easyconfigs.of_release(text).split() == [
        ARCHIVE, f'osu-native/{RELEASE}', f'osu-native-{RELEASE}-lumi-25.03.eb', 'mpich-4.2.3', 'osu-native']


# ---- which stack osu-native.eb finds

@pytest.fixture
def read(monkeypatch):
    """
    Function (site, prgenv, file) -> (suffix, dependencies) of osu-native.eb, in a shell that has nothing loaded.

    file: dict of names in _mpicontainer_local.py, None without one.
    """
    for entry in STACKS.values():
        for name in entry['recognised_by']['value']['environment']:
            monkeypatch.delenv(name, raising=False)

    def find(site=None, prgenv=None, file=None):
        local = None
        if file is not None:
            local = types.ModuleType(LOCAL)
            vars(local).update(file)
        for name in [LOCAL[:at.start()] for at in re.finditer(r'\.|$', LOCAL)][:-1]:
            package = types.ModuleType(name)
            package.__path__ = []
            monkeypatch.setitem(sys.modules, name, package)
        monkeypatch.setitem(sys.modules, LOCAL, local)  # None: import finds none
        text = NATIVE.read_text()
        for name, value in (('site', site), ('prgenv', prgenv)):  # as --try-amend does
            text, number = re.subn(rf'(?m)^{name} = .*$', f'{name} = {value!r}', text)
            assert number == 1
        found = {'EXTERNAL_MODULE': 'EXTERNAL_MODULE', 'SYSTEM': 'SYSTEM'}
        exec(text, found)
        found.pop('__builtins__')
        copy.deepcopy(found)  # EasyBuild does, and a handle or a module in it stops that
        return found['versionsuffix'], [dependency[0] for dependency in found['dependencies']]
    return find


def wanted(name, suffix=''):
    """Return what osu-native.eb must find for a site of the data."""
    native = STACKS[name]['native']['value']
    return f'-{name}{suffix}', native['modules'] + ([native['plugin'][0]] if native['plugin'] else [])


@pytest.mark.parametrize('name', STACKS)
def test_a_stack_is_found_by_name_and_by_what_the_shell_has_loaded(name, read, monkeypatch):
    assert read(site=name) == wanted(name)
    suffix, modules = read(site=name, prgenv='cray')
    assert (suffix, modules[0]) == (f'-{name}-cray', 'PrgEnv-cray')
    for variable, pattern in STACKS[name]['recognised_by']['value']['environment'].items():
        value = 'C' if '[CLD]' in pattern else re.sub(r'\(.*|[\^$\\]', '', pattern)
        assert re.search(pattern, value)
        monkeypatch.setenv(variable, value)
    assert read() == wanted(name)
    assert read(file={}) == wanted(name)
    assert read(site='workstation') == read(file={'SITE': 'workstation'}) == ('', [])


def test_nothing_loaded_is_no_stack(read):
    assert read() == read(site='nobody') == read(site='/nowhere/site.py') == ('', [])


def test_a_file_of_the_user_has_its_own_stack(read, tmp_path, monkeypatch):
    native = {'value': {'prgenv': 'cray', 'modules': ['PrgEnv-cray', 'x/1'], 'plugin': None}}
    mine = {'SITE': 'mine', 'SITES': {'mine': {'native': native, 'recognised_by': {'value': {}}},
                                      'like': {'based_on': 'frontier'}}}
    assert read(file=mine) == ('-mine', ['PrgEnv-cray', 'x/1'])
    assert read(file={**mine, 'SITE': 'like'}) == ('-like', wanted('frontier')[1])
    assert read(site='setonix', file=mine) == wanted('setonix')
    native_of_a_workstation = {'value': {'mpicc': '/usr/bin/mpicc', 'libmpi': '/usr/lib/libmpi.so.12'}}
    assert read(file={'SITE': 'pc', 'SITES': {'pc': {'native': native_of_a_workstation}}}) == ('', [])
    path = tmp_path / 'site.py'
    path.write_text(''.join(f'{name} = {value!r}\n' for name, value in mine.items()))
    assert read(site=str(path), file={'SITE': 'setonix'}) == ('-mine', ['PrgEnv-cray', 'x/1'])
    path.write_text('raise SystemExit(1)\n')
    assert read(site=str(path)) == ('', [])
    monkeypatch.setenv('HERE', 'yes')
    mine['SITES']['mine']['recognised_by']['value'] = {'environment': {'HERE': '^yes$'}}
    assert read(file={'SITES': mine['SITES']}) == ('-mine', ['PrgEnv-cray', 'x/1'])


def test_osu_native_eb_imports_nothing_of_the_package():
    imported = re.findall(r'(?m)^ *(?:from|import) (\S+)', NATIVE.read_text())
    assert imported == ['os', 're', 'easybuild.easyblocks.generic']

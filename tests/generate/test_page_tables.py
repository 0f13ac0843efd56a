"""What the documentation says of LUMI follows from the data: the table of variables, names of images, examples.

Easyconfigs that follow from data: the release of the benchmarks, the software stacks, sums of what lies here.
"""

import re
import shutil
import subprocess
import sys

import pytest

from osu_container.check import examination
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import runs_on
from osu_container.core.deciding.site_choice import overridden, site_entry
from osu_container.core.deciding.verdict import level_of
from osu_container.generate import easyconfigs
from osu_container.generate import page_tables as tables
from osu_container.image.catalogue import IMAGES, published_rows
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, run
from tests.helpers.osu_archive import ARCHIVE, RELEASE

PAGE = PROJECT / 'docs' / 'approaches.md'
LUMI = [name for name in SITES if name.startswith('lumi')]
ON_LUMI = [name for name in APPROACHES if any(runs_on(APPROACHES[name], site_entry(site)) for site in LUMI)]


def rows():
    """Return the rows of the table (list of lists of str) without its header."""
    return [[cell.strip() for cell in re.split(r'(?<!\\)\|', line.strip('|'))]
            for line in tables.variables_table().splitlines()[2:] if line.startswith('|')]


def test_the_table_on_the_page_is_current():
    done = run([sys.executable, '-m', 'osu_container.generate.page_tables', '--check'], cwd=PROJECT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('approach', ON_LUMI)
def test_every_variable_of_an_approach_is_in_the_table(approach):
    entry = APPROACHES[approach]
    shown = {name for row in rows() if row[1] == 'all' or approach in row[1].split(', ')
             for name in re.findall(r'(?:^|<br>)`(\w+)', row[0])}
    of_sites = {variable['name'] for site in LUMI for variable in site_entry(site)['variables']
                if 'setting' not in variable}
    wanted = {variable['name'] for variable in entry['variables'] + entry['unset'] + entry['rank_variables']
              if 'setting' not in variable
              and any(tables.decided(variable, site_entry(site))[0] for site in LUMI)}
    assert shown >= wanted | of_sites | {'SLURM_MPI_TYPE'}


def test_a_change_of_the_data_is_noticed(monkeypatch):
    text = PAGE.read_text()
    assert tables.renewed(PAGE, text) == text
    monkeypatch.setitem(APPROACHES['pure'], 'variables', APPROACHES['pure']['variables'][:-1])
    assert tables.renewed(PAGE, text) != text


@pytest.mark.parametrize('key, value', [('container', False), ('comes_from', {'libmpi': 'host', 'libfabric': 'host'}),
                                        ('inject_if_known', []), ('variables', [])])
def test_a_change_of_the_data_makes_the_figure_stale(monkeypatch, key, value):
    before, file = tables.approaches_picture.markdown(), PROJECT / 'docs' / 'pictures' / 'approaches.svg'
    drawn = tables.FILES[file]
    assert file.read_text() == drawn()
    monkeypatch.setitem(APPROACHES['pure' if key == 'variables' else 'hybrid'], key, value)
    assert file.read_text() != drawn() and tables.approaches_picture.markdown() != before


@pytest.mark.parametrize('text', ['', 'begin', 'end begin', 'begin end begin end'])
def test_a_page_without_a_place_for_the_table_is_an_error(text):
    page, name = PAGE, next(iter(tables.TABLES[PAGE]))
    text = text.replace('begin', f'<!-- {name} -->').replace('end', f'<!-- /{name} -->')
    with pytest.raises(ValueError, match=f'the lines <!-- {name} --> and '):
        tables.renewed(page, text)


# ---- images.md

def today():
    """
    Return {(libcxi, libfabric, mpich): {approach: level of the verdict}} of the published rows on today's LUMI.

    But for the GLIBC that LUMI's libraries need, which nobody has published.
    """
    cells = iter(examination.examination(examination.NOW))
    return {(row['libcxi'], row['libfabric'], row['mpich']): {name: level_of([
        one for one in next(cells).verdict.findings if 'which GLIBC' not in one.reason])
        for name in examination.APPROACHES} for row in examination.rows()}


def test_what_follows_for_today_agrees_with_the_images_that_the_sites_take():
    """The images of a site with today's host are works, by the same rules; each for its own approach."""
    now = today()
    for site in ('lumi-25.03', 'lumi-25.09'):
        images = site_entry(site)['images']['value']
        for approach in ('hybrid', 'opensource'):
            arguments = IMAGES[images[approach][:-4]]['variants']['c']['arguments']
            assert now[arguments['libcxi'], arguments['libfabric'], arguments['mpich']][approach] == 'works'


def test_published_combinations_that_failed_for_their_age_only_work_today():
    now = today()
    for row in published_rows():
        if row['hybrid_note'] == 'fails: MPICH expects a higher libfabric version' and row['mpich'] == '4.2.3':
            assert now[row['libcxi'], row['libfabric'], row['mpich']]['hybrid'] == 'works', row
    assert [words['hybrid'] for key, words in now.items() if key[1] == '2.0.0'] == ['fails']


# ---- install-lumi.md, add-a-site.md


def test_the_example_of_a_file_of_ones_own_replaces_the_fact():
    text = (PROJECT / 'docs' / 'add-a-site.md').read_text()
    code = re.search(r'(?:^ {4}.*\n)+', text[text.index('    OVERRIDES = '):], re.M).group()
    found = {}
    exec(re.sub('^ {4}', '', code, flags=re.M), found)
    before = site_entry('lumi-25.03')
    after = overridden(before, found['OVERRIDES'])
    assert after['libraries']['libfabric'] == found['OVERRIDES']['libraries']['libfabric']
    assert set(after['libraries']['libfabric']) == set(before['libraries']['libfabric'])
    assert after['libraries']['libcxi'] == before['libraries']['libcxi']

STACKS = easyconfigs.stacks()


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

"""What the documentation says of LUMI follows from the data: the table of variables, names of images, examples."""
import re
import sys

import pytest

from osu_container.check import examination
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.settings import runs_on
from osu_container.core.deciding.site_choice import overridden, site_entry
from osu_container.core.deciding.verdict import level_of
from osu_container.generate import page_tables as tables
from osu_container.image.catalogue import IMAGES, published_rows
from tests.helpers.machine import PROJECT, run

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
    of_sites = {variable['name'] for site in LUMI for variable in site_entry(site)['variables']}
    wanted = {variable['name'] for variable in entry['variables'] + entry['unset'] + entry['rank_variables']
              if any(tables.decided(variable, site_entry(site))[0] for site in LUMI)}
    assert shown >= wanted | of_sites | {'SLURM_MPI_TYPE'}


def test_a_change_of_the_data_is_noticed(monkeypatch):
    text = PAGE.read_text()
    assert tables.renewed(PAGE, text) == text
    monkeypatch.setitem(APPROACHES['pure'], 'variables', APPROACHES['pure']['variables'][:-1])
    assert tables.renewed(PAGE, text) != text


@pytest.mark.parametrize('key, value', [('container', False), ('comes_from', {'libmpi': 'host', 'libfabric': 'host'}),
                                        ('inject_if_known', []), ('variables', [])])
def test_a_change_of_the_data_makes_the_figure_stale(monkeypatch, key, value):
    before, file = tables.picture.markdown(), PROJECT / 'docs' / 'pictures' / 'approaches.svg'
    drawn = tables.FILES[file]
    assert file.read_text() == drawn()
    monkeypatch.setitem(APPROACHES['pure' if key == 'variables' else 'hybrid'], key, value)
    assert file.read_text() != drawn() and tables.picture.markdown() != before


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

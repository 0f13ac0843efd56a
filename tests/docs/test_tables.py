"""
Tables, figures and examples of the pages have the values of the data.
"""

import re
import sys
from xml.etree import ElementTree

import pytest

from osu_container.bench.compare.thresholds import MARGINS
from osu_container.bench.compare.troubles import RULES
from osu_container.bench.results.references import read_dataset
from osu_container.data.approaches import APPROACHES
from osu_container.data.launchers import LAUNCHERS
from osu_container.data.networks import NETWORKS
from osu_container.data.sites import SITES
from osu_container.verdict.launching import build_launch_command
from osu_container.verdict.rules.fabric import SEEN_OVER_CXI
from osu_container.verdict.settings import (
    can_launch_approach,
    select_pmi,
)
from osu_container.verdict.site_choice import override_facts, resolve_site
from tests.helpers.machine import PROJECT, run

DOCS = PROJECT / 'docs'


@pytest.mark.parametrize(
    'page, values',
    [
        ('add-a-site.md', [' '.join(build_launch_command(name, 2, 4)) for name in LAUNCHERS]),
        ('add-a-site.md', [entry['local_rank'] for entry in LAUNCHERS.values()]),
        (
            'discover.md',
            [fact['value'] for network in NETWORKS.values() for fact in network['providers']],
        ),
        ('compare.md', [rule.trouble.name for rule in RULES]),
    ],
)
def test_page_has_all_values_of_the_data(page, values):
    text = (DOCS / page).read_text()
    assert [value for value in values if f'`{value}`' not in text] == []


def test_other_tables_have_the_values_of_the_data():
    compare = (DOCS / 'compare.md').read_text()
    for row in MARGINS:
        assert (
            f'| `{row.benchmarks}` | {100 * row.repeated:g} % | {100 * row.single:g} % |' in compare
        )
    for series in SEEN_OVER_CXI:
        assert f"| {' '.join(series)}.x |" in (DOCS / 'check.md').read_text()


def read_table(page, column):
    """
    Return the rows (list of list of str) of the table of a page whose first column has a name.
    """
    _, head, below = (DOCS / page).read_text().partition(f'\n| {column} |')
    rows = [
        [cell.strip() for cell in line.strip('|').split('|')]
        for line in (head[1:] + below.partition('\n\n')[0]).splitlines()
    ]
    return [rows[0], *rows[2:]]


def test_table_of_variables_has_what_lumi_sets():
    """The table has every value that an approach sets on a site of LUMI, and no other value."""
    found = {
        (name, value)
        for row in read_table('approaches.md', 'variable')[1:]
        for name, value in re.findall(r'`(\w+)(?:=([^`]+))?`', row[0])
    }
    expected = set()
    for site in (resolve_site(name) for name in SITES if name.startswith('lumi')):
        words = {'provider': site['provider']['value'], 'rccl_plugin': '<path>'}
        for approach in (
            entry for entry in APPROACHES.values() if can_launch_approach(entry, site)
        ):
            entries = [
                (entry, entry['value'].format(**words))
                for entry in approach['variables'] + site['variables']
            ]
            entries += [(entry, '') for entry in approach['unset'] + approach['rank_variables']]
            expected |= {
                (entry['name'], value)
                for entry, value in entries
                if not entry.get('setting') and 'cuda' not in entry.get('only', [])
            }
            expected.add(('SLURM_MPI_TYPE', select_pmi(approach, site)))
            expected |= {
                item
                for fact in site['files'].values()
                if fact
                for item in fact.get('otherwise', {}).items()
            }
    assert found == expected


def test_picture_of_the_approaches_shows_their_libraries():
    texts = [
        element.text
        for element in ElementTree.parse(DOCS / 'pictures' / 'approaches.svg').getroot().iter()
        if element.tag.endswith('}text')
    ]
    for name, approach in APPROACHES.items():
        place = texts.index(name)
        program = 'image' if approach['container'] else 'host'
        origins = approach['comes_from']
        assert texts[place + 1 : place + 4] == [program, origins['libmpi'], origins['libfabric']]


def test_plot_of_lumi_has_the_published_ratios_to_native():
    series = {
        one.name: list(one.compute_medians().values())
        for one in read_dataset('lumi-g-2025-03').series
        if one.case.title == 'osu_bw H H, two nodes'
    }
    native = series.pop('native')
    text = (DOCS / 'results' / 'lumi.svg').read_text()
    assert dict(re.findall('<polyline class="(.+)" points="(.+)"/>', text)) == {
        name: ' '.join(
            f'{40 + 18 * place},{266 - 190 * value / native[place]:.1f}'
            for place, value in enumerate(values)
        )
        for name, values in series.items()
    }


# ---- what works where


def test_tables_of_sites_follow_from_data_and_name_sources():
    result = run([sys.executable, '-m', 'tools.generate', '--step', 'tables', '--check'])
    assert (result.returncode, result.stdout, result.stderr) == (0, '', '')
    text = (DOCS / 'support.md').read_text()
    table, notes = text.split('\n* <sup>', 1)
    letters = set(re.findall(r'<sup>(\w)</sup> \|', table))
    assert letters == set(re.findall(r'^(?:\* <sup>)?(\w)</sup> marks', notes, re.M))


def test_every_site_has_an_image_or_a_page_that_says_why_not():
    """An image has an approach that uses the fast network of the site, as `check` predicts."""
    rows = read_table('support.md', 'site')[1:]
    without = set(SITES) - {row[0] for row in rows if row[3] in ('works', 'probably works')}
    sections = re.findall(
        r'^## (.+)\n\nNo image of this project ', (DOCS / 'other-systems.md').read_text(), re.M
    )
    assert without == {section.lower() for section in sections}


# ---- add-a-site.md


def test_example_of_overrides_replaces_the_fact():
    text = (DOCS / 'add-a-site.md').read_text()
    code = re.search(r'(?:^ {4}.*\n)+', text[text.index('    OVERRIDES = ') :], re.M).group()
    example = {}
    exec(re.sub('^ {4}', '', code, flags=re.M), example)
    after = override_facts(resolve_site('lumi-25.03'), example['OVERRIDES'])
    assert after['libraries']['libfabric'] == example['OVERRIDES']['libraries']['libfabric']

#!/usr/bin/env python3
"""
Write the tables and the figures of the documentation that follow from data; the text around them is left as it is.

docs/approaches.md, between <!-- variables-table --> and <!-- /variables-table -->: what is set on LUMI, when, why, and
how sure.
docs/support.md, <!-- what-works -->: what is known of each approach on each site: SOURCES, RUNS.
docs/index.md, <!-- picture -->: the figure of approaches_picture.py in words; docs/pictures/approaches.svg is it.
docs/check.md, <!-- seen-over-cxi -->: which MPI `osu-container check` knows to have run over cxi.
docs/discover.md, <!-- networks -->: which provider of libfabric drives which network, and whether UCX does.
docs/add-a-site.md, <!-- launchers -->: how each launcher is typed, what it tells a rank.
docs/compare.md, <!-- margins --> and <!-- troubles -->: when a curve counts as worse, which shapes are recognised.

usage: python -m osu_container.generate.page_tables [--check]
"""
import argparse
import re
import sys

from osu_container.compare.thresholds import MARGINS
from osu_container.compare.troubles import DEIC, RULES
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.launchers import LAUNCHERS
from osu_container.core.data.networks import BEST_FIRST, NETWORKS
from osu_container.core.data.sites import DESCRIBED, SITES
from osu_container.core.deciding.launching import typed
from osu_container.core.deciding.rules.fabric import SEEN_OVER_CXI
from osu_container.core.deciding.settings import (
    approach_entry,
    host_libraries,
    pmi_for,
    runs_on,
    wanted_files,
    with_mpi_of,
)
from osu_container.core.deciding.site_choice import SettingsError, described_entry, site_entry, site_words
from osu_container.generate import approaches_picture
from osu_container.places import PROJECT

# A cell of what works is measured where somebody has run the approach on that system, with libraries like those of
# the module; RUNS names who. Nobody but this project has run these modules themselves, and it has on a workstation
# only. Every other cell is as sure as the least sure fact that the approach needs there.
#: Letter in the table of what works -> who measured, what and when
SOURCES = {
    'a': 'this project, Debian 12, two nodes of a private Slurm, TCP: the tests run it (`tests/runs`)',
    'b': 'DeiC, published runs of four container approaches and native on LUMI-G, 2025-03 (`lumi-g-2025-03`)',
    'd': 'HPE, containers tutorial of CUG 2026 on LUMI, 2026-04: Cray MPICH 8.1.32 in place of the image\'s MPICH '
         '(alazzaro/cug26_containers_tutorial 0240e5c)',
    'e': 'LUMI AI Factory, checks of its images with MPICH 4.3.2, libfabric 2.1 and libcxi of their own, 2026-04 '
         '(laifs-container-tests 7600dfc)',
    'f': 'CSCS, its own image with Open MPI 5 and libcxi on Alps, 2025-06 (`alps-gh200-2025`)',
    'g': 'HPE staff, native runs on LUMI-G with Cray MPICH 9.0.1, 2026-03 (`lumi-native-2026-03`)',
    'h': 'CSCS, checks of its image with MPICH 4.3.2 under the hook that puts in the host\'s libfabric, 2026-06 '
         '(sarus-suite/containerfiles-ci e3d4a7b)',
}
#: (site, approach) -> letter; the workstation has every approach
RUNS = {
    **{('lumi-24.03', approach): 'b' for approach in ('native', 'pure', 'bind', 'hybrid', 'opensource')},
    ('lumi-25.03', 'bind'): 'd',
    ('lumi-25.03', 'opensource'): 'e',
    ('lumi-25.09', 'native'): 'g',
    ('alps', 'openmpi'): 'f',
    ('alps', 'hybrid'): 'h',
}
WORDS = ['measured', 'derived', 'untested']


def needed_facts(approach, site):
    """
    Return the facts (list of dict) that an approach (dict) rests on on a site (dict).

    Raises SettingsError if the site cannot have it.
    """
    libraries = [site['libraries'][name] for name, _ in host_libraries(approach, site)]
    native = [] if approach['container'] else [site['native']]
    return [site['pmi'], *([] if approach['name'] == 'pure' else [site['provider']]), *libraries, *native]


def what_works_cell(approach, name):
    """Return what is known of an approach (str) on a site (str): 'measured x', 'derived', 'untested', or '–'."""
    site = described_entry(name) if name in DESCRIBED else site_entry(name)
    entry = approach_entry(approach)
    try:
        facts = needed_facts(entry, site)
    except SettingsError:
        try:  # a host whose MPI is Open MPI alone
            facts = needed_facts(with_mpi_of(entry, 'libmpi.so.40'), site)
        except SettingsError:
            return '–'
    if not entry['container'] and not site['native']['value']:
        return '–'
    ran = 'a' if name == 'workstation' else RUNS.get((name, approach))
    if ran:
        return f'measured <sup>{ran}</sup>'
    # what was seen there one by one was not seen together: no cell is measured for that
    return WORDS[max(1, *(WORDS.index(fact['evidence']) for fact in facts))]


def what_works_table():
    """Return the table (list of lists of str), sites down and approaches across, head and rule included."""
    lines = [['site', *APPROACHES], ['---'] * (len(APPROACHES) + 1)]
    return lines + [[name, *(what_works_cell(approach, name) for approach in APPROACHES)]
                    for name in [*DESCRIBED, *SITES]]


def what_works_sources():
    """Return the list (str, Markdown) of the letters that the table has."""
    used = re.findall(r'<sup>(\w)</sup>', str(what_works_table()))
    return '\n'.join(f'* <sup>{letter}</sup> {SOURCES[letter]}' for letter in sorted(set(used))) + '\n'


#: What osu-gpu-bind sets for each rank
OF_RANK = {'gcd': 'number of its GPU', 'nic': 'name of its network card'}


def lumi_sites():
    """Return the entries (list of dict) of all sites of LUMI."""
    return [site_entry(name) for name in sorted(SITES) if name.startswith('lumi')]


def decided(entry, site):
    """
    Return (whether entry can hold on site, what its conditions leave open as text).

    :param entry: dict, a variable of an approach or a site; site: dict
    """
    of_site = site_words(site)
    open_ones = []
    for condition in entry.get('only', []):
        word = condition.split()[-1]
        if word not in of_site:
            open_ones.append(condition)
        elif of_site[word] == condition.startswith('no '):
            return False, ''
        elif word == 'gpu':
            open_ones.append('GPU nodes' if of_site['gpu'] else 'CPU nodes')
    if entry.get('setting'):
        open_ones.append(f'`osu-settings/{entry["setting"]}`')
    return True, ', '.join(open_ones)


def settings_of(approach, site):
    """Return [(value as it is shown, entry)] of all that an approach (dict) sets or takes away on a site (dict)."""
    replaced = {entry['name'] for entry in approach['variables']}
    entries = approach['variables'] + [entry for entry in site['variables'] if entry['name'] not in replaced]
    words = {'provider': site['provider']['value'], 'rccl_plugin': '<path>'}
    found = [(f'`{entry["name"]}={entry["value"].format(**words)}`', entry) for entry in entries]
    found.append((f'`SLURM_MPI_TYPE={pmi_for(approach, site)}`', dict(site['pmi'], name='SLURM_MPI_TYPE')))
    found += [(f'`{entry["name"]}`: taken away', entry) for entry in approach['unset']]
    found += [(f'`{entry["name"]}`: {OF_RANK[entry["value"]]}, by osu-gpu-bind', entry)
              for entry in approach['rank_variables']]
    for _, fact in wanted_files(approach, site):
        for name, value in sorted(fact.get('otherwise', {}).items()):
            found.append((f'`{name}={value}`', dict(fact, name=name, only=[f'no `{fact["value"][0]}` on the node'])))
    return found


def variables_by_site(sites, possible):
    """
    Return {(name, condition, as shown, why): (entry, approaches, names of sites)} of the variables that are ever set.

    :param sites: entries (list of dict); possible: names (list of str) of the approaches that run on one of them
    """
    found = {}
    for site in sites:
        for approach in [name for name in possible if runs_on(APPROACHES[name], site)]:
            for shown, entry in settings_of(APPROACHES[approach], site):
                holds, condition = decided(entry, site)
                if holds:
                    row = found.setdefault((entry['name'], condition, shown, entry['why']), (entry, set(), set()))
                    row[1].add(approach)
                    row[2].add(site['name'])
    return found


def variables_table():
    """Return the table (str) of every variable that an approach by itself sets on the sites of LUMI."""
    sites = lumi_sites()
    possible = [name for name in APPROACHES if any(runs_on(APPROACHES[name], site) for site in sites)]
    rows = variables_by_site(sites, possible)
    lines = {}
    for (_, condition, shown, why), (entry, approaches, found_on) in sorted(rows.items(), key=lambda row: row[0]):
        if 'osu-settings/' in condition:  # `module help` of that module has it
            continue
        if found_on != {site['name'] for site in sites} and 'nodes' not in condition:
            condition = ', '.join([*sorted(found_on), *([condition] if condition else [])])
        names = 'all' if approaches == set(possible) else ', '.join(name for name in possible if name in approaches)
        rest = (names, condition or 'always', why, entry['evidence'])
        lines.setdefault(rest, []).append(shown)  # variables that differ in their names only share a row
    return markdown([['variable', 'approaches', 'when', 'why', 'evidence'], ['---'] * 5]
                    + [['<br>'.join(names), *rest] for rest, names in lines.items()])


def seen_table():
    """Return the table (str, Markdown) of the MPI releases of which no file tells that they run over cxi, but a run."""
    return markdown([['MPI', 'ran over cxi'], ['---'] * 2]
                    + [[' '.join(series) + '.x', source] for series, source in SEEN_OVER_CXI.items()])


def since_of(fact):
    """Return from which libfabric on a provider (dict) is there (str), '' where nobody says."""
    return f' (libfabric {fact["since"]} or newer)' if fact['since'] else ''


def networks_table():
    """Return the table (str, Markdown) of the kinds of networks: what drives each, and whether UCX does."""
    rows = []
    for kind in BEST_FIRST:
        network = NETWORKS[kind]
        providers = '<br>'.join(f'`{fact["value"]}`{since_of(fact)}' for fact in network['providers'])
        right = {True: 'right', False: 'slow', None: 'not known'}[network['ucx']['value']]
        sources = [fact['source'] for fact in [*network['providers'], network['ucx']]]
        rows.append([kind, providers, f"{right}: {network['ucx']['why']}", '; '.join(dict.fromkeys(sources))])
    return markdown([['network', 'providers of libfabric, the best first', 'UCX', 'source'], ['---'] * 4] + rows)


def markdown(lines):
    """Return a table (str, Markdown) of lines (list of lists of str), a bar in a cell quoted."""
    return ''.join('| {} |\n'.format(' | '.join(cell.replace('|', '\\|') for cell in line)) for line in lines)


def margins_table():
    """Return the table (str, Markdown) of the margins of `osu-container compare`; a source is written out once."""
    lines = [['benchmark', 'with repeats', 'single values', 'why', 'source'], ['---', '--:', '--:', '---', '---']]
    first = {}
    for row in MARGINS:
        same = first.setdefault(row.source, row.benchmarks)
        lines.append([f'`{row.benchmarks}`', f'{100 * row.repeated:g} %', f'{100 * row.single:g} %', row.why,
                      row.source if same == row.benchmarks else f'as `{same}`'])
    return markdown(lines)


def troubles_table():
    """Return the table (str, Markdown) of the troubles that `osu-container compare` recognises, and DEIC."""
    lines = [['name', 'looks like', 'what', 'remedy', 'source'], ['---'] * 5]
    lines += [[f'`{one.name}`', one.title, one.text, one.remedy, one.source.replace(DEIC, '[1]')]
              for one in (rule.trouble for rule in RULES)]
    return f'{markdown(lines)}\n[1] {DEIC}\n'


def launchers_table():
    """Return the table (str, Markdown) of the launchers."""
    lines = [['launcher', 'two ranks on each of two nodes', 'on named nodes', 'cores left to osu-gpu-bind',
              'kinds of PMI', 'number on the node', 'evidence'], ['---'] * 7]
    for name, one in LAUNCHERS.items():
        kinds = ', '.join(f'`{kind}`' for kind in one['pmi'])
        variable = f" by `{one['pmi_variable']}`" if one['pmi_variable'] else ''
        lines.append([f"`{name}`: {one['title']}", f"`{' '.join(typed(name, 2, 4))}`", f"`{' '.join(one['hosts'])}`",
                      f"`{' '.join(one['unbound']) or '-'}`", kinds + variable, f"`{one['local_rank']}`",
                      f"{one['evidence']} {one['date']}"])
    return markdown(lines)


#: page -> {name of the markers: function that makes the table}
TABLES = {
    PROJECT / 'docs' / 'approaches.md': {'variables-table': variables_table},
    PROJECT / 'docs' / 'support.md': {
        'what-works': lambda: f'{markdown(what_works_table())}\n{what_works_sources()}'},
    PROJECT / 'docs' / 'add-a-site.md': {'launchers': launchers_table},
    PROJECT / 'docs' / 'index.md': {'picture': approaches_picture.markdown},
    PROJECT / 'docs' / 'check.md': {'seen-over-cxi': seen_table},
    PROJECT / 'docs' / 'discover.md': {'networks': networks_table},
    PROJECT / 'docs' / 'compare.md': {'margins': margins_table, 'troubles': troubles_table},
}
#: file -> function that makes all of it
FILES = {PROJECT / 'docs' / 'pictures' / 'approaches.svg': approaches_picture.svg}


def renewed(page, text):
    """Return the text of a page with its tables as the data have them. Raises ValueError if a marker is missing."""
    for name, table in TABLES[page].items():
        begin, end = f'<!-- {name} -->', f'<!-- /{name} -->'
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise ValueError(f"{page}: the lines {begin} and {end} must be there once, in this order")
        before, rest = text.split(begin)
        text = f'{before}{begin}\n\n{table()}\n{end}{rest.split(end)[1]}'
    return text


def main():
    """Write pages and figures, or with --check compare; exit code 1 if one is stale or a table has no place."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0].strip())
    parser.add_argument('--check', action='store_true', help="write nothing, exit 1 if something is stale")
    arguments = parser.parse_args()
    stale = []
    for page in [*TABLES, *FILES]:
        text = page.read_text() if page in TABLES or page.exists() else None
        try:
            new = renewed(page, text) if page in TABLES else FILES[page]()
        except ValueError as err:
            sys.exit(f'osu_container/generate/page_tables.py: {err}')
        if new == text:
            continue
        stale.append(str(page.relative_to(PROJECT)))
        if not arguments.check:
            page.write_text(new)
            print(f'rendered {stale[-1]}')
    if arguments.check and stale:
        sys.exit(f"stale, run `make modules`: {', '.join(stale)}")


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""
Write the tables and the figures of the documentation that follow from data; the text around them is left as it is.

docs/approaches.md, between <!-- variables-table --> and <!-- /variables-table -->: what is set on LUMI, when, why, and
how sure; <!-- what-works -->: what is known of each approach on each site (what_works.py).
docs/index.md, <!-- picture -->: the figure of picture.py in words; docs/pictures/approaches.svg is that figure.
docs/check.md, <!-- rules --> and <!-- seen-over-cxi -->: what `osu-container check` decides by. docs/examination.md,
<!-- examination --> and <!-- prediction -->: what it says of the published combinations, beside what was seen.
docs/discover.md, <!-- networks -->: which provider of libfabric drives which network, and whether UCX does.
docs/compare.md, <!-- degrees -->, <!-- margins --> and <!-- troubles -->: when a curve counts as worse and how it is
said by how much, and which shapes are recognised.
docs/alps.md, docs/frontier.md, docs/setonix.md and docs/perlmutter.md, <!-- verdicts-SITE -->, <!-- rests-SITE --> and
<!-- recipes-SITE -->: what `osu-container check` says of a system's images, where each fact of it is from and how sure
it is, and what published recipes set there (site_recipes.py).
docs/mpi4py.md, <!-- mpi4py-figures -->: what was published about mpi4py on LUMI.
docs/contribute.md, <!-- places --> and <!-- contribution-differences -->: who takes recipes, and in what a contributed
module differs from ours;

usage: python -m osu_container.generate.page_tables [--check]
"""
import argparse
import csv
import sys

from osu_container.check import examination
from osu_container.check.described import our_image
from osu_container.check.host_facts import DescribedHost, description_of
from osu_container.compare.thresholds import DEGREES, MARGINS
from osu_container.compare.troubles import DEIC, RULES
from osu_container.contribute import differences
from osu_container.contribute.repositories import PLACES
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.networks import BEST_FIRST, NETWORKS
from osu_container.core.data.sites import SITES
from osu_container.core.data.sites.schema import EVIDENCE
from osu_container.core.deciding.conditions import site_words, switch_of
from osu_container.core.deciding.rules import RULES as VERDICT_RULES
from osu_container.core.deciding.rules.finding import NOTE
from osu_container.core.deciding.rules.network import SEEN_OVER_CXI
from osu_container.core.deciding.settings import approach_entry, host_libraries, pmi_for, runs_on, wanted_files
from osu_container.core.deciding.site_choice import SettingsError, site_entry
from osu_container.core.deciding.verdict import ask, said
from osu_container.generate import picture, what_works
from osu_container.generate.site_recipes import RECIPES, SEARCHED
from osu_container.places import PROJECT

#: A source that many variables have; the table names it once
LUMI_2025 = 'github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on LUMI'
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
    if entry.get('when'):
        name, value, negative = switch_of(entry['when'])
        open_ones.append(f'{"unless " if negative else ""}`{name}={value}`')
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
    """Return the table (str) of every variable by approach on the sites of LUMI."""
    sites = lumi_sites()
    possible = [name for name in APPROACHES if any(runs_on(APPROACHES[name], site) for site in sites)]
    rows = variables_by_site(sites, possible)
    lines = {}
    for (_, condition, shown, why), (entry, approaches, found_on) in sorted(rows.items(), key=lambda row: row[0]):
        if found_on != {site['name'] for site in sites} and 'nodes' not in condition:
            condition = ', '.join([*sorted(found_on), *([condition] if condition else [])])
        names = 'all' if approaches == set(possible) else ', '.join(name for name in possible if name in approaches)
        rest = (names, condition or 'always', why, entry['evidence'], f'{entry["source"]}, {entry["date"]}')
        lines.setdefault(rest, []).append(shown)  # variables that differ in their names only share a row
    text = markdown([['variable', 'approaches', 'when', 'why', 'evidence', 'source'], ['---'] * 6]
                    + [['<br>'.join(names), *rest] for rest, names in lines.items()])
    return f"{text.replace(LUMI_2025, 'DeiC')}\nDeiC: {LUMI_2025}.\n" if LUMI_2025 in text else text


def lower_first(sentence):
    """Return a sentence (str) as a cell of a table has it: without its capital and its full stop."""
    return sentence[:1].lower() + sentence[1:].rstrip('.') if sentence[1:2].islower() or sentence[1:2] == ' ' else \
        sentence.rstrip('.')


def rules_table():
    """Return the table (str, Markdown) of the rules by which `osu-container check` decides."""
    return markdown([['rule', 'what it decides', 'source'], ['---'] * 3]
                    + [[rule.name, lower_first(rule.decides), rule.source] for rule in VERDICT_RULES])


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


def examination_table():
    """Return the table (str, Markdown) of the measured cells, published and predicted, and the counts."""
    cells = [cell for cell in examination.examination() if cell.outcome != 'not measured']
    rows = {}  # cells that differ in their images alone are one row
    for cell in cells:
        predicted = f"{'**wrong**: ' if cell.outcome == 'wrong' else ''}{cell.verdict.level}"
        key = (cell.approach, examination.MARKS[cell.mark], cell.note, predicted, cell.why.replace('image:', ''))
        rows.setdefault(key, []).append(cell.image)
    lines = [['approach', 'images', 'published', 'what was seen', 'predicted', 'because'], ['---'] * 6]
    lines += [[key[0], '; '.join(images), *key[1:]] for key, images in
              sorted(rows.items(), key=lambda row: examination.APPROACHES.index(row[0][0]))]
    counts = ', '.join(f'{sum(cell.outcome == word for cell in cells)} {word}' for word in ('right', 'unknown',
                                                                                            'wrong'))
    return f'{markdown(lines)}\n**{counts}**, of {len(cells)} measured cells.\n{examination.scores_text(cells)}\n'


def prediction_table():
    """Return the table (str, Markdown) of the predictions for the published images on today's LUMI, and why."""
    lines = [['image', *examination.APPROACHES], ['---'] * (len(examination.APPROACHES) + 1)]
    cells, reasons = examination.examination(examination.NOW), {}
    for start in range(0, len(cells), len(examination.APPROACHES)):
        row = cells[start:start + len(examination.APPROACHES)]
        lines.append([row[0].image, *(cell.verdict.level for cell in row)])
        for cell in row:
            if cell.verdict.level not in ('works', 'works slowly'):
                reasons.setdefault((cell.approach, cell.verdict.level, cell.why.replace('image:', '')),
                                   []).append(cell.image)
    notes = ''.join(f"* {approach}, {word}, with {'; '.join(images)}: {why}\n"
                    for (approach, word, why), images in reasons.items())
    return f'{markdown(lines)}\n{notes}'


#: Series of lumi-mpi4py-2025-07 (mpich_source, libfabric) -> which MPI Python had, in words
PYTHON_MPI = {'extmpich': 'MPICH of the image', 'conda': "conda's MPICH", 'pip': "PyPI's MPICH"}


def mpi4py_table():
    """Return the table (str, Markdown) of the published figures of mpi4py on LUMI, at two message sizes."""
    with open(PROJECT / 'osu_container/results/data/lumi-mpi4py-2025-07.csv', newline='') as handle:
        rows = list(csv.DictReader(handle))
    keys = dict.fromkeys((row['node_type'], row['mpich_source'], row['libfabric'], row['variant']) for row in rows
                         if row['hmem'] == 'yes' or row['node_type'] == 'lumi-c')
    lines = [['nodes of', 'MPI of Python', 'libfabric', 'buffers', 'MB/s at 4 MiB, one node', 'two nodes',
              'µs at 1 B, one node', 'two nodes'], ['---'] * 4 + ['---:'] * 4]
    for key in sorted(keys, key=lambda key: (key[0], key[3], list(PYTHON_MPI).index(key[1]), key[2])):
        node, source, libfabric, buffers = key
        cells = []
        for benchmark, size in (('osu_bw', '4194304'), ('osu_latency', '1')):
            for nodes in '12':
                cells += [row[size] for row in rows if (row['node_type'], row['mpich_source'], row['libfabric'],
                                                        row['variant']) == key and row['benchmark'] == benchmark
                          and row['nodes'] == nodes and (row['hmem'] == 'yes') == (node == 'lumi-g')][:1] or ['–']
        lines.append([node.upper(), PYTHON_MPI[source], libfabric, buffers, *cells])
    return markdown(lines)


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


def degrees_table():
    """Return the table (str, Markdown) of how compare says how much better or worse a curve is."""
    lines = [['word', 'at the size where the difference is largest'], ['---', '---']]
    most = [least for _, least in DEGREES[1:]] + [None]
    for (word, least), limit in zip(DEGREES, most):
        span = f'{least:g} times or more' if limit is None else (
            f'less than {limit:g} times' if word == DEGREES[0][0] else f'{least:g} times to less than {limit:g}')
        lines.append([word, span])
    return markdown(lines)


def troubles_table():
    """Return the table (str, Markdown) of the troubles that `osu-container compare` recognises, and DEIC."""
    lines = [['name', 'looks like', 'what', 'remedy', 'source'], ['---'] * 5]
    lines += [[f'`{one.name}`', one.title, one.text, one.remedy, one.source.replace(DEIC, '[1]')]
              for one in (rule.trouble for rule in RULES)]
    return f'{markdown(lines)}\n[1] {DEIC}\n'


def verdicts(site):
    """
    Return the lines (list of lists of str) of what `osu-container check` says of the images of a site (str).

    For each approach with the image that the site names; nothing is looked into: described.py and host_facts.py of
    osu_container/check.
    """
    entry = site_entry(site)
    host = DescribedHost(description_of(entry))
    machine = entry.get('architecture', {}).get('value', 'x86_64')
    lines = [['approach', 'image', 'verdict', 'because'], ['---'] * 4]
    for approach in [name for name in APPROACHES if APPROACHES[name]['container']]:
        image = entry['images']['value'].get(approach)
        if image:
            verdict = ask(approach_entry(approach), entry, our_image(image, machine), host)
            reasons = [finding.reason for finding in verdict.findings if finding.level != NOTE]
            lines.append([approach, f'`{image}`', said(verdict), reasons[0] if reasons else ''])
        else:
            lines.append([approach, 'none', '', 'the site names no image for it' if _possible(approach, entry) else
                          'cannot be had on this system'])
    return lines


def _possible(approach, entry):
    """Return whether a site (dict) has what an approach (str) takes from the host, and a PMI for its MPI."""
    try:
        host_libraries(approach_entry(approach), entry)
    except SettingsError:
        return False
    return True


def recipes(site):
    """Return the lines (list of lists of str) of what published recipes for a site (str) set, beside our module."""
    lines = [['recipe', 'sets', 'our module', 'why not the same'], ['---'] * 4]
    for recipe in RECIPES:
        if recipe['site'] == site:
            groups = {}
            for item in recipe['items']:
                groups.setdefault(item.reason, {}).setdefault(item.kind, []).append(f'`{item.what}`')
            for number, (reason, kinds) in enumerate(groups.items()):
                lines.append([recipe['name'] if number == 0 else '',
                              '; '.join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items()),
                              'not' if reason else 'the same', reason])
    return lines


def sources(site):
    """Return the sources (str, Markdown) of recipes(), each with its date."""
    return '\n'.join(f"* {recipe['name']}: {recipe['source']}, {recipe['date']}; compared with "
                     f"`modules/{recipe['rendered']}`" for recipe in RECIPES if recipe['site'] == site) + '\n'


def places_table():
    """Return the table (str) of who takes recipes."""
    return markdown([['`contribute`', 'who', 'takes recipes in', 'what it is', 'source, date'], ['---'] * 5, *(
        [f'`{name}`', place['title'], ', '.join(place['takes']), place['why'], f"{place['source']}; {place['date']}"]
        for name, place in PLACES.items())])


#: What every fact has
EVIDENCE_KEYS = ('evidence', 'source', 'date')


def facts_of(site):
    """
    Return [(what it is, as the table has it; fact (dict))] of all that is said of a site (str).

    That is its entry, and the description of its host, by which `osu-container check` goes away from the system.
    """
    entry, description = site_entry(site), description_of(site_entry(site))
    found = [(f'{key}{_shown(value["value"])}', value) for key, value in entry.items()
             if isinstance(value, dict) and 'value' in value]
    found += [(f'{name}{_shown(fact["value"])}', fact) for table in ('libraries', 'files')
              for name, fact in entry[table].items() if fact]
    found += [(f'`{variable["name"]}={variable["value"]}`', variable) for variable in entry['variables']]
    found.append((f'glibc of the host: {description["glibc"]["value"]}', description['glibc']))
    said = {}  # many libraries of the host share what is said of them
    for path, statements in description['libraries'].items():
        for statement in statements:
            rest = tuple(statement[key] for key in ('evidence', 'source', 'date'))
            said.setdefault((rest, ', '.join(key for key in statement if key not in EVIDENCE_KEYS)), []).append(path)
    return found + [(f"{what} of {paths[0].rpartition('/')[2] if len(paths) == 1 else f'{len(paths)} libraries'}",
                     dict(zip(EVIDENCE_KEYS, rest))) for (rest, what), paths in said.items()]


def _shown(value):
    """Return the value of a fact as it stands behind its name (str), '' where it is too much for a table."""
    values = [value] if isinstance(value, str) else value
    plain = isinstance(values, list) and len(values) < 5 and all(isinstance(one, str) for one in values)
    return ' ' + ', '.join(f'`{one}`' for one in values) if plain and values else ''


def rests(site):
    """Return the table (str, Markdown) of what is said of a site (str), by its source, and how sure each is."""
    groups = {}
    for what, fact in facts_of(site):
        groups.setdefault(tuple(fact[key] for key in EVIDENCE_KEYS), []).append(what)
    lines = [['evidence', 'date', 'what', 'source'], ['---'] * 4]
    lines += [[evidence, date, '; '.join(what), source] for (evidence, source, date), what in sorted(
        groups.items(), key=lambda group: (EVIDENCE.index(group[0][0]), group[0][2], group[0][1]))]
    counts = [fact['evidence'] for _, fact in facts_of(site)]
    return (f"{markdown(lines)}\n{', '.join(f'{counts.count(word)} {word}' for word in EVIDENCE)}.\nPublic "
            f'sources were last searched on {SEARCHED}; no newer source was found for what has an older date.\n')


def of_site(site):
    """Return {name of the markers: function that makes the table} of a system (str)."""
    return {f'verdicts-{site}': lambda: markdown(verdicts(site)), f'rests-{site}': lambda: rests(site),
            f'recipes-{site}': lambda: f'{markdown(recipes(site))}\n{sources(site)}'}


#: page -> {name of the markers: function that makes the table}
TABLES = {
    PROJECT / 'docs' / 'approaches.md': {
        'what-works': lambda: f'{markdown(what_works.table())}\n{what_works.sources()}',
        'variables-table': variables_table},
    PROJECT / 'docs' / 'index.md': {'picture': picture.markdown},
    PROJECT / 'docs' / 'check.md': {'rules': rules_table, 'seen-over-cxi': seen_table},
    PROJECT / 'docs' / 'discover.md': {'networks': networks_table},
    PROJECT / 'docs' / 'compare.md': {'degrees': degrees_table, 'margins': margins_table, 'troubles': troubles_table},
    PROJECT / 'docs' / 'examination.md': {
        'examination': examination_table, 'prediction': prediction_table},
    PROJECT / 'docs' / 'mpi4py.md': {'mpi4py-figures': mpi4py_table},
    PROJECT / 'docs' / 'contribute.md': {
        'places': places_table, 'contribution-differences': lambda: differences.listed() + '\n'},
    **{PROJECT / 'docs' / f'{site}.md': of_site(site) for site in dict.fromkeys(recipe['site'] for recipe in RECIPES)},
}
#: file -> function that makes all of it
FILES = {PROJECT / 'docs' / 'pictures' / 'approaches.svg': picture.svg}


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

"""The pages of a contribution to LUMI: USER.md, README.md and LICENSE.md of each package, README.md of the whole."""
from osu_container.contribute import differences
from osu_container.contribute.from_data import MODULE, image_named, settings_of, stack_of
from osu_container.contribute.lumi_recipes import CONTAINERS, CONTRIB, FOLDER, NAME, VARIABLE
from osu_container.contribute.recipe_text import filled, table
from osu_container.contribute.repositories import HOMEPAGE, LICENCE, PLACES, USER_GUIDE
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import approach_entry, host_libraries, image_of, wanted_files
from osu_container.core.deciding.site_choice import site_entry
from osu_container.recipes.versions import SOURCES


def listed(lines):
    """Return lines (iterable of str) as a Markdown list."""
    return '\n'.join(f'-   {line}' for line in lines)


def srun(entry):
    """Return the line (str) that measures between two nodes of a site (dict)."""
    return ' '.join(['srun', '-N2', '-n2', *entry['jobs']['value']['step'], 'osu_bw', 'D D' if entry['gpu']['value']
                     else 'H H'])


def image_state(file):
    """Return sentences (str) on the image file: whether it was ever built, and how that is done."""
    name, entry = image_named(file)
    built = f'`osu-container image build {name}` builds `{file}`.'
    if not entry['unbuilt']:
        return built
    return (f"{built} Who wrote this has not built it ({entry['unbuilt']}), so no sum of it is known, and its date is "
            "that of its description.")


def images_of(recipes, entry):
    """Return {file name of a SIF: its approaches} of recipes ({approach: file}) on a site (dict)."""
    found = {}
    for approach in recipes:
        found.setdefault(image_of(MODULE, approach_entry(approach), entry), []).append(approach)
    return found


def container_pages(recipes, site):
    """Return {name: text} of the pages of the containers; recipes: {approach: file of its easyconfig}, site: str."""
    entry, file = site_entry(site), next(iter(recipes.values()))
    images = images_of(recipes, entry)
    rows = [[name, found.title, found.stack.mpi, found.stack.libfabric, found.stack.pmi]
            for name, found in ((approach, settings_of(approach, site)) for approach in recipes)]
    return {
        'USER.md': filled('USER.md', {
            'NAME': NAME, 'VARIABLE': VARIABLE, 'FILE': file, 'VERSION': file[len(NAME) + 1:-len('.eb')],
            'SRUN': srun(entry),
            'TABLE': table(['approach', 'what it does', 'MPI', 'network library', 'srun --mpi='], rows)}),
        'README.md': filled('README.md', {
            'HOMEPAGE': HOMEPAGE, 'GUIDE': USER_GUIDE, 'TITLE': entry['title'], 'FACTS': facts_table(recipes, entry),
            'IMAGES': listed(f"{image_state(one)} For: {', '.join(names)}." for one, names in images.items()),
            'DIFFERENCES': differences.listed()}),
        'LICENSE.md': filled('LICENSE.md', {
            'LICENCE': LICENCE, 'IMAGES': ''.join(f'\n## `{one}`\n\n{licences(one)}\n' for one in images)}),
    }


def facts_table(recipes, entry):
    """Return the table (str) of all paths that recipes take from a site (dict): why, source, date, evidence."""
    rows = {}
    for approach in recipes:
        asked = approach_entry(approach)
        found = [([path], entry['libraries'][name]) for name, path in host_libraries(asked, entry)]
        found += [(fact['value'], fact) for _, fact in wanted_files(asked, entry)]
        found += [([one['path']], one) for one in asked.get('entrypoint', []) if 'path' in one]
        for paths, fact in found:
            rows.setdefault(', '.join(f'`{path}`' for path in paths), ([], fact))[0].append(approach)
    return table(['path', 'recipes', 'why', 'source', 'date', 'evidence'], [
        [paths, ', '.join(names), fact['why'], fact['source'], fact['date'], fact['evidence']]
        for paths, (names, fact) in rows.items()])


def licences(file):
    """Return the table (str) of the licences of what the image file is made from."""
    keys = [key for key in image_named(file)[1]['variants']['c']['sources'] if 'licence' in SOURCES[key]]
    return table(['software', 'version', 'license (SPDX)'], [
        [SOURCES[key]['name'], SOURCES[key]['version'], f"`{SOURCES[key]['licence']}`"] for key in keys])


def native_pages(recipes):
    """Return {name: text} of the pages of the compiled benchmarks; recipes: {site: file of its easyconfig}."""
    entries = {site: site_entry(site) for site in recipes}
    rows = [[f'`{file}`', entries[site]['title'], f"`{entries[site]['native']['value']['configopts']}`",
             *(entries[site]['native'][key] for key in ('source', 'date', 'evidence'))]
            for site, file in recipes.items()]
    first = next(iter(recipes))
    return {
        'USER.md': filled('native-USER.md', {
            'RELEASE': SOURCES['osu']['version'], 'STACK': stack_of(first), 'FILE': recipes[first],
            'SRUN': srun(entries[first]),
            'RECIPES': listed(f"`{file}`: {entries[site]['title']}" for site, file in recipes.items())}),
        'README.md': filled('native-README.md', {
            'RELEASE': SOURCES['osu']['version'],
            'TABLE': table(['easyconfig', 'for', 'options of configure', 'source', 'date', 'evidence'], rows)}),
        'LICENSE.md': filled('native-LICENSE.md', {'LICENCE': LICENCE, 'VARIABLE': VARIABLE, 'NAME': NAME}),
    }


def cover_page(containers, native, site):
    """Return README.md (str) of the whole folder; containers, native: {approach or site: file name}, site: str."""
    place, entry = PLACES['lumi'], site_entry(site)
    return filled('lumi-README.md', {
        'REPOSITORIES': ' and '.join(place['takes']), 'DATE': place['date'], 'SOURCE': place['source'],
        'CONTAINERS': f'{CONTAINERS}/{FOLDER}', 'CONTRIB': f'{CONTRIB}/{FOLDER}', 'APPROACHES': ', '.join(containers),
        'NATIVE': ', '.join(native), 'IMAGES': listed(map(image_state, images_of(containers, entry))),
        'LEFT': listed(f"{name}: the data of {site} have no image for it, or not what it needs"
                       for name in APPROACHES if APPROACHES[name]['container'] and name not in containers) or 'none'})

"""
Recipes in the form of LUMI's repositories: modules of containers by MakeCp and create_container_vars, the native build
by ConfigureMake with LUMI's toolchains. Every value comes from the Settings of the module of the same approach.

create_container_vars(sif, name, installdir, bind) is a function of LUMI's Lmod (LMOD/SitePackage.lua in
github.com/Lumi-supercomputer/LUMI-SoftwareStack 02f17317): it looks for the SIF in the installation, then in LUMI's own
folder of images, sets SIF, SIF<NAME> and SINGULARITY_BIND, and binds user-software where the installation has it.
"""
import re

from osu_container.contribute import ContributeError, differences
from osu_container.contribute.from_data import (
    MODULE,
    folders,
    image_facts,
    image_named,
    own_easyconfig,
    settings_of,
    stack_of,
)
from osu_container.contribute.recipe_text import Generator, commented, filled, table
from osu_container.contribute.repositories import HOMEPAGE, LIBEXEC, LICENCE, PLACES, USER_GUIDE
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import INJECT_FOLDER, approach_entry, host_libraries, image_of, wanted_files
from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.writing import module_text
from osu_container.recipes.versions import SOURCES

NAME = 'OSU-Micro-Benchmarks'
#: As LUMI's create_container_vars and EasyBuild make it of the name
VARIABLE = NAME.upper().replace('-', 'MIN')
FOLDER = f'easybuild/easyconfigs/o/{NAME}'
CONTAINERS, CONTRIB = 'LUMI-EasyBuild-containers', 'LUMI-EasyBuild-contrib'
#: Where in the container what the injected libraries need appears
NEEDED = INJECT_FOLDER.rpartition('/')[0] + '/needed'
#: Compilers of the programming environment -> LUMI's toolchain with them (easybuild/toolchains in LUMI-SoftwareStack)
TOOLCHAINS = {'amd': 'cpeAMD', 'gnu': 'cpeGNU', 'cray': 'cpeCray', 'aocc': 'cpeAOCC'}
KEYWORDS = 'OSU, MPI, benchmark, latency, bandwidth'


# ---- modules of containers

def version_suffix(approach, image, date):
    """Return the version suffix (str) of a container recipe; image: facts (dict) of it, date: str, YYYYMMDD."""
    asked = image_named(image['file'])[1]['variants']['c']['arguments']
    return f"-rocm-{asked['rocm']}-mpich-{asked['mpich']}-{approach}-singularity-{date}"


def container_recipe(approach, site, date):
    """
    Return (file name, text) of the easyconfig of one approach.

    :param approach, site: str; date: str, YYYYMMDD, of the image
    Raises ContributeError where the form cannot hold what the module needs.
    """
    settings, entry = settings_of(approach, site), site_entry(site)
    image = image_facts(image_of(MODULE, approach_entry(approach), entry))
    suffix = version_suffix(approach, image, date)
    own = own_easyconfig(f'osu-container/osu-container-{approach}.eb')
    version = image['programs_are'].split()[0]
    return f'{NAME}-{version}{suffix}.eb', filled('container.eb', {
        'HEAD': commented(f"{own['description']} For {entry['title']}. Written by `osu-container contribute lumi` from "
                          "its data; not run on LUMI by who wrote it. README.md says what rests on what.", '#DOC '),
        'NAME': NAME, 'VERSION': version, 'SUFFIX': suffix, 'SIF': image['file'], 'HOMEPAGE': HOMEPAGE,
        'GUIDE': USER_GUIDE, 'WHATIS': repr(f'Description: OSU Micro-Benchmarks in a container: {settings.title}'),
        'KEYWORDS': repr(f'Keywords: {KEYWORDS}, container, {approach}'), 'TITLE': settings.title,
        'MPI': f'{settings.stack.mpi} over {settings.stack.libfabric}, provider {settings.stack.provider}',
        'PMI': settings.stack.pmi,
        'EXAMPLE': example_of(entry, own), 'VARIABLE': VARIABLE, 'RUN': run_script(settings),
        'PROGRAMS': rows(folders('/opt/osu/', image['gpu'])), 'LIBRARIES': library_list(settings),
        'BINDS': bind_list(settings), 'NEEDS': needed_commands(settings, entry), 'JOB': job_script(entry, own),
        'FOOTER': container_footer(settings)})


def example_of(entry, own):
    """Return the command (str) that help and job script show on a site (dict); own: of this project's easyconfig."""
    return own['gpu_example'] if entry['gpu']['value'] else own['example']


def bind_list(settings):
    """Return the lines (str) of the list local_singularity_bind: each bind with its reason."""
    lines, last = [], None
    for path, target, why in settings.inside.binds:
        if why != last:
            lines.append(commented(why, '# ', 4))
        lines.append(f"    {repr(path if path == target else f'{path}:{target}')},\n")
        last = why
    if settings.inside.library_path:
        lines += [commented('what these need and the image lacks: copied by postinstallcmds below', '# ', 4),
                  f"    '%(installdir)s/host-needed:{NEEDED}',\n"]
    return ''.join(lines)


def library_list(settings):
    """Return the text (str) of the list local_host_libraries, '' where nothing is injected one by one."""
    paths = dict.fromkeys(path for path, target, _ in settings.inside.binds if target.startswith(INJECT_FOLDER + '/'))
    return ("# Libraries of the system that are put in front of the image's own\n"
            f'local_host_libraries = [\n{rows(paths)}]\n\n') if paths else ''


def rows(values):
    """Return values (iterable of str) as rows of a Python list."""
    return ''.join(f'    {value!r},\n' for value in values)


def run_script(settings):
    """Return the bash text of bin/osu-run. Raises ContributeError for a file whose path only this project fills in."""
    lines = []
    for entry in settings.inside.run_files:
        path = entry['path'].replace('{kernel}', '$(uname -r)')
        if '{' in path:
            raise ContributeError(f"{settings.site}: the path {path} holds what only this project's commands fill in; "
                                  "teach run_script() in osu_container/contribute/lumi.py")
        lines += [commented(f'{module_text.reason(entry)}', '# '),
                  f'if [ -e "{path}" ]; then\n    export SINGULARITY_BIND="${{SINGULARITY_BIND-}},{path}"\n']
        otherwise = ''.join(f'    export {name}="${{{name}-{value}}}"\n'
                            for name, value in sorted(entry['otherwise'].items()))
        lines.append((f'else\n{otherwise}' if otherwise else '') + 'fi\n')
    if settings.sets.unset:
        lines.append('without=()\n')
    for entry in settings.sets.unset:
        lines += [commented(f"{module_text.reason(entry)}", '# '),
                  f'[ -n "${{{entry["name"]}+set}}" ] || without+=(-u {entry["name"]})\n']
    action = 'run' if settings.inside.through_entrypoint else 'exec'
    without = 'env "${without[@]}" ' if settings.sets.unset else ''
    return ''.join(lines) + f'exec singularity {action} "$SIF{VARIABLE}" {without}"${{0##*/}}" "$@"\n'


def needed_commands(settings, entry):
    """Return the entry (str) of postinstallcmds that copies what the injected libraries need, '' where none is."""
    if not settings.inside.library_path:
        return ''
    whole = '|'.join(f'{folder}/*' for folder in entry['one_build']['value'])
    return filled('needed', {'ONE_BUILD': f'            {whole}) ;;\n' if whole else ''})


def job_script(entry, own):
    """Return the text (str) of a job script for two nodes of a site (dict)."""
    jobs = entry['jobs']['value']
    lines = ['#!/bin/bash', '#SBATCH --nodes=2', '#SBATCH --ntasks-per-node=1', '#SBATCH --time=00:10:00']
    lines += [f"#SBATCH --partition={jobs['partition']}"] if jobs['partition'] else []
    lines += [f'#SBATCH {option}' for option in jobs['options']]
    return '\n'.join([*lines, f"# {entry['jobs']['why']}", '# sbatch --account=project_46XXXXXXX $RUNSCRIPTS/osu-job',
                      ' '.join(['srun', *jobs['step'], example_of(entry, own)])]) + '\n'


def container_footer(settings):
    """Return the Lua text (str) that a container module has beside create_container_vars."""
    lua = Generator()
    lines = [module_text.families_text(lua, settings), common_footer(lua, settings)]
    if settings.inside.host_path:
        lines += [lua.comment("read by the image's entrypoint: more folders of the host"),
                  lua.set_environment('OSU_SWAP_PATH', ':'.join(settings.inside.host_path))]
    lines += module_text.runtime_text(lua, settings._replace(inside=settings.inside._replace(binds=[])))
    if settings.inside.library_path:
        lines += [lua.comment('what the injected libraries need and the image lacks'),
                  f'append_path("SINGULARITYENV_LD_LIBRARY_PATH", "{NEEDED}")\n']
    return ''.join(lines)


def common_footer(lua, settings):
    """Return the Lua text (str) of PMI and variables, as this project's modules have it."""
    return module_text.pmi_text(lua, settings) + module_text.variables_text(lua, settings)


# ---- the native build

def options(text):
    """Return options of configure (str) in parts (list of str) that give the text again, one an option."""
    return re.findall(r'\S*"[^"]*"\S*\s*|\S+\s*', text)


def native_recipe(site):
    """Return (file name, text) of the easyconfig of the native build on a site (str)."""
    settings, entry = settings_of('native', site), site_entry(site)
    native = entry['native']['value']
    toolchain, version = TOOLCHAINS[native['prgenv']], SOURCES['osu']['version']
    rocm = next((module.partition('/')[2] for module in native['modules'] if module.startswith('rocm/')), None)
    suffix = f'-rocm-{rocm}' if rocm else ''
    below = [LIBEXEC + folder.partition(LIBEXEC)[2] for folder in folders('', bool(entry['gpu']['value']))]
    lua = Generator()
    return f"{NAME}-{version}-{toolchain}-{stack_of(site)}{suffix}.eb", filled('native.eb', {
        'HEAD': commented(f"The OSU Micro-Benchmarks with Cray MPICH on {entry['title']}. Written by `osu-container "
                          "contribute lumi` from its data; not built on LUMI by who wrote it.", '#DOC '),
        'NAME': NAME, 'VERSION': version, 'SUFFIX': suffix, 'HOMEPAGE': HOMEPAGE, 'GUIDE': USER_GUIDE,
        'KEYWORDS': KEYWORDS + (', ROCm, RCCL' if rocm else ''), 'TOOLCHAIN': toolchain, 'STACK': stack_of(site),
        'URL': SOURCES['osu']['url'].rpartition('/')[0], 'SHA256': SOURCES['osu']['sha256'],
        'WITH': f' with ROCm {rocm} and RCCL' if rocm else '',
        'DEPENDENCIES': ''.join(f'    ({module!r}, EXTERNAL_MODULE),\n' for module in native['modules']
                                if not module.startswith('PrgEnv-')),
        'CONFIGOPTS': ''.join(f'    {part!r}\n' for part in options(native['configopts'])), 'FOLDERS': rows(below),
        'CHECKS': ''.join(f"    'ldd $EBROOT{VARIABLE}/{LIBEXEC}mpi/pt2pt/osu_bw | grep -F {soname}',\n"
                          for soname in native['needed']),
        'FOOTER': module_text.families_text(lua, settings) + common_footer(lua, settings)})


# ---- pages of a contribution: USER.md, README.md and LICENSE.md of each package, README.md of the whole

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

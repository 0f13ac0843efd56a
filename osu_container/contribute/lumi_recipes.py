"""
Recipes in the form of LUMI's repositories: modules of containers by MakeCp and create_container_vars, the system's MPI
for any image as Bundle, the native build by ConfigureMake with LUMI's toolchains. Every value comes from the Settings
of the module of the same approach.

create_container_vars(sif, name, installdir, bind) is a function of LUMI's Lmod (LMOD/SitePackage.lua in
github.com/Lumi-supercomputer/LUMI-SoftwareStack 02f17317): it looks for the SIF in the installation, then in LUMI's own
folder of images, sets SIF, SIF<NAME> and SINGULARITY_BIND, and binds user-software where the installation has it.
"""
import re

from osu_container.contribute import ContributeError
from osu_container.contribute.from_data import (
    MODULE,
    folders,
    image_facts,
    image_named,
    settings_of,
    stack_of,
)
from osu_container.contribute.recipe_text import commented, filled, lua_list, reasoned, rows, table
from osu_container.contribute.repositories import DEFAULT_ROCM, HOMEPAGE, LIBEXEC, LICENCE, PLACES, USER_GUIDE
from osu_container.core.deciding.injection import FOLDER as INJECT_FOLDER
from osu_container.core.deciding.injection import HEAD, TARGET, injection_text
from osu_container.core.deciding.settings import approach_entry, host_libraries, image_of, wanted_files
from osu_container.core.deciding.site_choice import site_entry
from osu_container.recipes.versions import SOURCES

NAME, BINDINGS = 'OSU-Micro-Benchmarks', 'singularity-bindings'
#: As LUMI's create_container_vars and EasyBuild make it of the name
VARIABLE = NAME.upper().replace('-', 'MIN')
FOLDER, BINDINGS_FOLDER = f'easybuild/easyconfigs/o/{NAME}', f'easybuild/easyconfigs/s/{BINDINGS}'
CONTAINERS, CONTRIB = 'LUMI-EasyBuild-containers', 'LUMI-EasyBuild-contrib'
#: Where the system's ld.so finds what Cray's libraries need, beside the folders of site data's one_build
SYSTEM_FOLDERS = ['/opt/cray', '/lib64', '/usr/lib64']
#: What singularity-bindings-24.03.eb binds on every node; elsewhere a missing source of a bind ends the container
ON_EVERY_NODE = ['/var/spool/slurmd', '/run/cxi']
HEADING = '# The last of the environment: in front of what image and user have set\n'
#: Compilers of the programming environment -> LUMI's toolchain with them (easybuild/toolchains in LUMI-SoftwareStack)
TOOLCHAINS = {'amd': 'cpeAMD', 'gnu': 'cpeGNU', 'cray': 'cpeCray', 'aocc': 'cpeAOCC'}
KEYWORDS = 'OSU, MPI, benchmark, latency, bandwidth'


# ---- libraries of the system in front of those of an image

def injected(settings):
    """Return [(path, name in the container, why)] of the libraries that are put in front of the image's."""
    return [(path, target.rpartition('/')[2], why) for path, target, why in settings.inside.binds
            if target.startswith(INJECT_FOLDER + '/')]


def library_parts(libraries, entry):
    """Return what a recipe is filled with (dict) for libraries (as injected() gives them) of a site (dict)."""
    if not libraries:
        return {'LIBRARIES': '', 'LINKS': '', 'MORE': '', 'CHECK': ''}
    # libraries of one build come together, and need those of the GPUs' driver
    whole = [one for one in entry['one_build']['value'] if any(path.startswith(one) for path, *_ in libraries)]
    more = whole and [*whole, *(one for one in entry['library_folders']['value'] if one.startswith('/opt/amd'))]
    names = [(path.rpartition('/')[2], name) for path, name, _ in libraries]
    return {
        'LIBRARIES': filled('libraries', {
            'LIST': reasoned((why, repr(path)) for path, name, why in libraries if path.endswith('/' + name)),
            'FOLDERS': repr([*SYSTEM_FOLDERS, *more])}) + '\n',
        'LINKS': filled('links', {
            'NAMES': ''.join(f'\n    ln -s {file} lib/{name}' for file, name in names if file != name),
            'ONE_BUILD': ''.join(f'        case $path in {folder}/*) link $path lib/$name; continue ;; esac\n'
                                 for folder in whole)}),
        'MORE': ' + local_host_mpi', 'CHECK': ' + local_check'}


def injection(settings, sif=''):
    """Return the text (str) that the container reads as the last of its environment: our modules' own, and more."""
    inside = settings.inside
    text = injection_text(inside.library_path, inside.preload, inside.program_path,
                          [entry['name'] for entry in settings.sets.unset], sif)
    return text.replace(HEAD, HEADING) + (filled('needed', {}) if inside.library_path else '')


def bindings_recipe(site):
    """Return (file name, text) of the easyconfig that has the MPI of a site (str, GPU nodes) for any image."""
    stack, entry = stack_of(site), site_entry(site)
    settings = settings_of('bind', f'lumi-c-{stack}')
    files = [(path, why) for path, target, why in settings.inside.binds if path == target]
    files += [(fact['path'], fact['why']) for fact in settings.inside.run_files if fact['path'] in ON_EVERY_NODE]
    inside = settings.inside._replace(library_path=[INJECT_FOLDER], preload=[], program_path=[])
    plain = settings._replace(inside=inside, sets=settings.sets._replace(unset=[]))
    gtl, hip = (entry['libraries'][name]['value'] for name in ('libmpi_gtl_hsa', 'libamdhip64'))
    return f'{BINDINGS}-{stack}.eb', filled('bindings.eb', {
        **library_parts(injected(settings), entry),
        'HEAD': commented(f"For {entry['title']}, on nodes with and without GPUs. Written by `osu-container contribute "
                          "lumi` from its data; not run on LUMI by who wrote it.", '#DOC '),
        'STACK': stack, 'MPI': f"Cray MPICH {entry['libraries']['libmpi']['release']}",
        'FILES': reasoned((why, repr(path)) for path, why in files), 'TARGET': TARGET,
        'INJECTION': injection(plain) + filled('gtl', {'GTL': gtl, 'HIP': hip.rpartition('/')[2]}),
        'FOOTER': one_at_a_time(settings, BINDINGS)})


# ---- modules of containers

def container_recipe(approach, site, date, called):
    """
    Return (file name, text) of the easyconfig of one approach.

    :param approach, site: str; date: str, YYYYMMDD, of the image; called: {file of an image: its name at LUMI}
    Raises ContributeError where the form cannot hold what the module needs.
    """
    settings, entry = settings_of(approach, site), site_entry(site)
    image = image_facts(image_of(MODULE, approach_entry(approach), entry))
    asked = image_named(image['file'])[1]['variants']['c']['arguments']
    sif = called.get(image['file'], image['file'])
    suffix = f"-rocm-{asked['rocm']}-mpich-{asked['mpich']}-{approach}-singularity-{date}"
    version = image['programs_are'].split()[0]
    binds = [bind for bind in settings.inside.binds if not bind[1].startswith(INJECT_FOLDER + '/')]
    return f'{NAME}-{version}{suffix}.eb', filled('container.eb', {
        **library_parts(injected(settings), entry),
        'HEAD': commented(f"For {entry['title']}. Written by `osu-container contribute lumi` from its data; not run on "
                          "LUMI by who wrote it. README.md says what rests on what.", '#DOC '),
        'NAME': NAME, 'VERSION': version, 'SUFFIX': suffix, 'TARGET': TARGET,
        'SIF': sif, 'HOMEPAGE': HOMEPAGE, 'GUIDE': USER_GUIDE,
        'WHATIS': repr(f'Description: OSU Micro-Benchmarks in a container: {settings.title}'),
        'KEYWORDS': repr(f'Keywords: {KEYWORDS}, container, {approach}'), 'TITLE': settings.title,
        'MPI': f'{settings.stack.mpi} over {settings.stack.libfabric}, provider {settings.stack.provider}',
        'PMI': settings.stack.pmi,
        'EXAMPLE': program(entry), 'VARIABLE': VARIABLE, 'RUN': run_script(settings),
        'PROGRAMS': rows(folders('/opt/osu/', image['gpu'])), 'INJECTION': injection(settings, sif),
        'FILES': reasoned((why, repr(path if path == target else f'{path}:{target}')) for path, target, why in binds),
        'JOB': job_script(entry), 'FOOTER': one_at_a_time(settings) + defaults(settings)})


def run_script(settings):
    """Return the bash text of bin/osu-run: sets what is for this image alone, binds what is on the node, and starts."""
    lines = [commented(one['why'], '# ') + f'export {one["name"]}="${{{one["name"]}-{one["value"]}}}"\n'
             for one in settings.sets.inside if one['evidence'] != 'untested']
    for entry in settings.inside.run_files:
        path = entry['path'].replace('{kernel}', '$(uname -r)')
        if '{' in path:
            raise ContributeError(f"{settings.site}: the path {path} holds what only this project's commands fill in; "
                                  "teach run_script() in osu_container/contribute/lumi_recipes.py")
        lines += [commented(entry['why'], '# '),
                  f'if [ -e "{path}" ]; then\n    export SINGULARITY_BIND="${{SINGULARITY_BIND-}},{path}"\n']
        otherwise = ''.join(f'    export {name}="${{{name}-{value}}}"\n'
                            for name, value in sorted(entry['otherwise'].items()))
        lines.append((f'else\n{otherwise}' if otherwise else '') + 'fi\n')
    return ''.join(lines) + f'exec singularity exec "$SIF{VARIABLE}" "$program" "$@"\n'


def job_script(entry):
    """Return the text (str) of a job script for two nodes of a site (dict), a rank on each beside its GPU."""
    jobs = entry['jobs']['value']
    lines = ['#!/bin/bash', '#SBATCH --nodes=2', '#SBATCH --ntasks-per-node=1', '#SBATCH --time=00:10:00']
    lines += [f"#SBATCH --partition={jobs['partition']}"] if jobs['partition'] else []
    lines += [f'#SBATCH {option}' for option in jobs['options']]
    return '\n'.join([*lines, f"# {entry['jobs']['why']}", '# sbatch --account=project_46XXXXXXX $RUNSCRIPTS/osu-job',
                      ' '.join(['srun', *bound(entry), program(entry)])]) + '\n'


def program(entry):
    """Return the command (str) that help, pages and job script show on a site (dict)."""
    return 'osu_bw D D' if entry['gpu']['value'] else 'osu_bw H H'


def bound(entry):
    """Return the options (list of str) of srun for a rank on each node of a site (dict), on the cores of its GPU."""
    first = (entry['gpu_binding']['value'] or [None])[0]
    return [*entry['jobs']['value']['step'], f"--cpu-bind=mask_cpu:{first['mask']}" if first else '--cpu-bind=cores']


# ---- Lua of the modules

def one_at_a_time(settings, name=None):
    """Return the Lua text (str) by which one module that sets SINGULARITY_BIND is loaded; name: str, of this one."""
    others = ', '.join(f"'{other}'" for other in settings.at_load.conflicts if other != name)
    return f"family( '{settings.at_load.family}' )\nconflict( {others} )\n"


def defaults(settings):
    """Return the Lua text (str) of PMI, and of the variables that somebody has shown or derived to do good."""
    return filled('defaults', {'PMI': settings.stack.pmi, 'VARIABLES': lua_list(
        (one['why'], [one['name'], one['value']]) for one in settings.sets.variables if one['evidence'] != 'untested')})


# ---- the native build

def options(text):
    """Return options of configure (str) in parts (list of str) that give the text again, one an option."""
    return re.findall(r'\S*"[^"]*"\S*\s*|\S+\s*', text)


def dependencies(native):
    """Return the rows (str) of dependencies of the native build (dict, of site data)."""
    modules = [module.replace(f'rocm/{DEFAULT_ROCM}', 'rocm') for module in native['modules']]
    lines = [f'    ({module!r}, EXTERNAL_MODULE),\n' for module in modules if not module.startswith('PrgEnv-')]
    if native['plugin']:
        lines.append(f"    ({', '.join(map(repr, native['plugin']))}, SYSTEM),  # by which RCCL uses libfabric\n")
    return ''.join(lines)


def native_recipe(site):
    """Return (file name, text) of the easyconfig of the native build on a site (str)."""
    settings, entry = settings_of('native', site), site_entry(site)
    native = entry['native']['value']
    toolchain, version = TOOLCHAINS[native['prgenv']], SOURCES['osu']['version']
    rocm = next((module.partition('/')[2] for module in native['modules'] if module.startswith('rocm/')), None)
    # as in the repository: the default release of the stack has no number
    suffix = ('-rocm' if rocm == DEFAULT_ROCM else f'-rocm-{rocm}') if rocm else ''
    below = [LIBEXEC + folder.partition(LIBEXEC)[2] for folder in folders('', bool(entry['gpu']['value']))]
    return f"{NAME}-{version}-{toolchain}-{stack_of(site)}{suffix}.eb", filled('native.eb', {
        'HEAD': commented(f"The OSU Micro-Benchmarks with Cray MPICH on {entry['title']}. Written by `osu-container "
                          "contribute lumi` from its data; not built on LUMI by who wrote it.", '#DOC '),
        'NAME': NAME, 'VERSION': version, 'SUFFIX': suffix, 'HOMEPAGE': HOMEPAGE, 'GUIDE': USER_GUIDE,
        'KEYWORDS': KEYWORDS + (', ROCm, RCCL' if rocm else ''), 'TOOLCHAIN': toolchain, 'STACK': stack_of(site),
        'URL': SOURCES['osu']['url'].rpartition('/')[0], 'SHA256': SOURCES['osu']['sha256'],
        'WITH': f' with ROCm {rocm} and RCCL' if rocm else '',
        'DEPENDENCIES': dependencies(native),
        'CONFIGOPTS': ''.join(f'    {part!r}\n' for part in options(native['configopts'])), 'FOLDERS': rows(below),
        'CHECKS': ''.join(f"    'ldd $EBROOT{VARIABLE}/{LIBEXEC}mpi/pt2pt/osu_bw | grep -F {soname}',\n"
                          for soname in native['needed']),
        'FOOTER': defaults(settings)})


# ---- pages of a contribution: USER.md, README.md and LICENSE.md of each package, README.md of the whole

def listed(lines):
    """Return lines (iterable of str) as a Markdown list."""
    return '\n'.join(f'-   {line}' for line in lines)


def srun(entry):
    """Return the line (str) that measures between two nodes of a site (dict)."""
    return ' '.join(['srun', '-N2', '-n2', *bound(entry), program(entry)])


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
            'TITLE': entry['title'], 'FACTS': facts_table(recipes, site),
            'IMAGES': listed(f"{image_state(one)} For: {', '.join(names)}." for one, names in images.items())}),
        'LICENSE.md': filled('LICENSE.md', {'LICENCE': LICENCE, 'IMAGES': listed(
            f"`{one}`: " + ', '.join(f"{SOURCES[key]['name']} {SOURCES[key]['version']} (`{SOURCES[key]['licence']}`)"
                                     for key in image_named(one)[1]['variants']['c']['sources']
                                     if 'licence' in SOURCES[key]) for one in images)}),
    }


def facts_table(recipes, site):
    """Return the table (str) of what recipes take from the data of a site (str): why, source, date, evidence."""
    entry, rows = site_entry(site), {}
    for approach in recipes:
        asked = approach_entry(approach)
        found = [([path], entry['libraries'][name]) for name, path in host_libraries(asked, entry)]
        found += [(fact['value'], fact) for _, fact in wanted_files(asked, entry)]
        found += [([f"{one['name']}={one['value']}"], one) for one in settings_of(approach, site).sets.variables
                  if one['evidence'] != 'untested']
        for paths, fact in found:
            rows.setdefault(', '.join(f'`{path}`' for path in paths), ([], fact))[0].append(approach)
    return table(['path or variable', 'recipes', 'why', 'source', 'date', 'evidence'], [
        [paths, ', '.join(names), fact['why'], fact['source'], fact['date'], fact['evidence']]
        for paths, (names, fact) in rows.items()])


def contrib_pages(recipes, bindings):
    """
    Return {path: text} of pages for LUMI-EasyBuild-contrib.

    :param recipes: {site: file of its easyconfig of the compiled benchmarks}; bindings: list of stacks
    """
    first = next(iter(recipes))
    return {
        f'{FOLDER}/USER.md': filled('native-USER.md', {
            'RELEASE': SOURCES['osu']['version'], 'STACK': stack_of(first), 'FILE': recipes[first],
            'SRUN': srun(site_entry(first)),
            'RECIPES': listed(f"`{file}`: {site_entry(site)['title']}" for site, file in recipes.items())}),
        f'{BINDINGS_FOLDER}/USER.md': filled('bindings-USER.md', {'STACK': bindings[0], 'BINDINGS': BINDINGS})}


def cover_page(containers, native):
    """Return README.md (str) of the whole folder; containers, native: {approach or site: file name}."""
    place = PLACES['lumi']
    return filled('lumi-README.md', {
        'REPOSITORIES': ' and '.join(place['takes']), 'DATE': place['date'], 'SOURCE': place['source'],
        'CONTAINERS': f'{CONTAINERS}/{FOLDER}', 'CONTRIB': f'{CONTRIB}/{FOLDER}', 'APPROACHES': ', '.join(containers),
        'BINDINGS': f'{CONTRIB}/{BINDINGS_FOLDER}', 'NATIVE': ', '.join(native)})

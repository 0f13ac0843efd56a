"""
Recipes in the form of LUMI's repositories: modules of containers by MakeCp and create_container_vars, the native build
by ConfigureMake with LUMI's toolchains. Every value comes from the Settings of the module of the same approach.

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
    own_easyconfig,
    settings_of,
    stack_of,
)
from osu_container.contribute.recipe_text import Generator, commented, filled
from osu_container.contribute.repositories import HOMEPAGE, LIBEXEC, USER_GUIDE
from osu_container.core.deciding.settings import INJECT_FOLDER, approach_entry, image_of
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
                                  "teach run_script() in osu_container/contribute/lumi_recipes.py")
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



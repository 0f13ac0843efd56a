"""
Compute the settings of a module from the approach, the site and the recorded facts.

This module reads no files and imports no EasyBuild.
"""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from osu_container.data.approaches import APPROACHES, NAMESPACE_VARIABLES, NO_LIBFABRIC, SETTINGS
from osu_container.data.launchers import LAUNCHERS
from osu_container.data.sites import SITES
from osu_container.image.image import MPI_FAMILIES
from osu_container.verdict import launching
from osu_container.verdict.injection import FOLDER as INJECT_FOLDER
from osu_container.verdict.site_choice import (
    SettingsError,
    collect_site_conditions,
    format_names,
    parse_release,
    select_applicable,
)

#: Parent in the container of numbered folders of the host, which an entrypoint searches in addition
#: to the folders that the approach names
MORE_FOLDERS = '/host/more/'

#: Container runtime -> prefix of the variables that a module sets. A module uses one prefix, because
#: Apptainer ignores SINGULARITY_BIND, with a note, if APPTAINER_BIND is set (seen with 1.4.5).
#: SingularityCE reads only SINGULARITY_*.
ENV_PREFIXES = {'apptainer': 'APPTAINER', 'singularity': 'SINGULARITY'}
#: Prefix for the wrappers of lumi-container-wrapper; Apptainer reads it if no APPTAINER_* is set
WRAPPERS_PREFIX = 'SINGULARITY'

#: Soname that the image's programs need -> name of the site's library that has this soname. For all
#: other sonames the name is libmpi, and the rule 'other MPI' judges them (verdict/rules/abi.py).
HOST_MPI = {'libmpi_abi.so.1': 'libmpi_abi', 'libmpi.so.40': 'libompi', 'libmpi.so.20': 'libompi'}
#: Soname of the library by which the libmpi_abi.so.1 of mpi_abi_wrapper calls the host's libmpi
WRAPPER = 'libmpiwrapper.so'

#: Lmod family of all modules of this project, so that only one of them is loaded at a time
FAMILY = 'slurm_mpi'

#: Number of libraries that `module load` compares with their state at installation: first MPI,
#: libfabric and preloaded libraries
WATCHED_AT_LOAD = 4


class Stack(NamedTuple):
    """The MPI, libfabric and launcher that a module uses."""

    #: release and owner, e.g. 'MPICH 4.2.3 of the image'
    mpi: str
    #: release and owner, e.g. 'libfabric 1.22.0 of the host'
    libfabric: str
    #: 'image', 'host' or NO_LIBFABRIC
    libfabric_owner: str
    #: value of FI_PROVIDER, None if the module does not set the variable
    provider: Optional[str]
    #: kind of PMI, such as 'pmi2'
    pmi: str
    #: variable that this PMI sets in each rank
    pmi_variable: Optional[str]
    #: key of data/launchers.py
    launcher: str


class ContainerSettings(NamedTuple):
    """The files, folders and variables that a module passes to a container."""

    #: prefix of the runtime's variables, None for a native module
    env_prefix: Optional[str]
    #: (path on the host, path in the container, why)
    binds: List[Tuple[str, str, str]]
    #: folders in the container that the injection script prepends to LD_LIBRARY_PATH
    library_path: List[str]
    #: folders in the container that the injection script prepends to PATH
    program_path: List[str]
    #: files in the container that the injection script prepends to LD_PRELOAD
    preload: List[str]
    #: files that exist only on the node that runs the program: path on the host ({kernel} is
    #: replaced), target, why, otherwise
    run_files: List[Dict[str, Any]]
    #: folders of the user's software, which come first on PATH; None if the module has none
    user_path: Optional[List[str]]
    #: folders in the container in which this project's entrypoint finds more host libraries
    host_path: List[str]
    #: whether the runtime must inject the libraries of NVIDIA's driver
    needs_nvidia: bool
    #: whether programs start through the entrypoint of the image
    uses_entrypoint: bool
    #: whether the ranks of a node run in one container
    shares_container: bool
    #: variables for the case that each rank has its own container
    separate_variables: List[Dict[str, Any]]
    #: variables that the injection script sets
    exported_variables: List[Dict[str, Any]]


class EnvironmentSettings(NamedTuple):
    """
    The variables that a module sets.

    Each variable is a dict with the keys name, value, why, source, date, evidence and origin.
    """

    #: variables of the module, each name once
    variables: List[Dict[str, Any]]
    #: variables that only the commands of the approach set
    command_variables: List[Dict[str, Any]]
    #: name of a settings module -> its variables
    setting_variables: Dict[str, List[Dict[str, Any]]]
    #: variables to unset: name, why, source
    unset_variables: List[Dict[str, Any]]
    #: variables that each rank gets
    rank_variables: List[Dict[str, Any]]
    #: for each GPU gcd, mask and nic; None if the site has no map
    gpu_map: Optional[List[Dict[str, Any]]]
    #: message that the site has no map of its GPUs, '' if it has a map or no GPUs
    placement_note: str


class LoadChecks(NamedTuple):
    """Files, variables and modules that `module load` checks."""

    #: files compared with their state at installation: path, size, what
    watched_files: List[Dict[str, Any]]
    #: modules that must not be loaded together with this one
    conflicts: List[str]
    #: Lmod family
    family: str
    #: required values of variables of the user's shell: name, fits, says, why, source
    shell_checks: List[Dict[str, Any]]
    #: image of the site that the module links to, as in watched_files; None for a copied image
    site_image: Optional[Dict[str, Any]]
    #: size of the image that was copied into the installation; None for a linked image
    installed_image: Optional[Dict[str, Any]]
    #: folders of the site's images, in which a newer file may have the image's name
    image_folders: List[str]


class Settings(NamedTuple):
    """Everything that a module sets and checks."""

    site: str
    approach: str
    title: str
    #: sorted names of the commands
    programs: List[str]
    stack: Stack
    container: ContainerSettings
    environment: EnvironmentSettings
    load_checks: LoadChecks


def resolve_approach(name: str, approaches: Mapping[str, Any] = APPROACHES) -> Dict[str, Any]:
    """
    Return the entry of an approach, with the name of the approach under the key 'name'.

    Raises SettingsError if the approach is unknown.
    """
    if name not in approaches:
        raise SettingsError(
            "unknown approach '%s'. Choose one of: %s" % (name, format_names(approaches))
        )
    return {**approaches[name], 'name': name}


def list_mpi_families(approach: Dict[str, Any]) -> List[str]:
    """Return the MPI families that an approach accepts in an image, preferred family first."""
    return [approach['mpi']] + approach['mpi_also']


def select_host_mpi(approach: Dict[str, Any], soname: Optional[str]) -> Dict[str, Any]:
    """
    Return the approach, changed to inject the host MPI that the image's programs need.

    An approach that injects no MPI is returned unchanged.
    """
    soname = soname or ''
    approach = {**approach, **approach.get('by_family', {}).get(MPI_FAMILIES.get(soname), {})}
    host_mpi = HOST_MPI.get(soname, 'libmpi')
    return {
        **approach,
        'inject': [host_mpi if name == 'libmpi' else name for name in approach['inject']],
    }


def list_host_libraries(approach: Dict[str, Any], site: Dict[str, Any]) -> List[Tuple[str, str]]:
    """
    Return [(name, host path)] of the libraries to inject, without their dependencies.

    Raises SettingsError if the site lacks a library that the approach requires, or a PMI for the
    MPI.
    """
    names = {name for name, fact in site['libraries'].items() if fact}
    missing = [name for name in approach['inject'] if name not in names]
    soname = next((soname for soname, name in HOST_MPI.items() if name in missing), None)
    if soname and MPI_FAMILIES[soname] == 'Open MPI':
        raise SettingsError(
            "site '%s' has no Open MPI that can replace the image's Open MPI. Use approach "
            "openmpi, or add the path of the host's Open MPI under the name libompi to the "
            'libraries of the site (docs/add-a-site.md)' % site['name']
        )
    if soname:
        raise SettingsError(
            "approach '%s' needs a host MPI with the soname %s, because the image's programs need "
            "this soname, and site '%s' has no such MPI. Use an approach with the image's MPI "
            "(hybrid, opensource, pure), build the programs for libmpi.so.12 (with MPICH's mpicc, not "
            "mpicc_abi), or ask the site's administrators to build mpi_abi_wrapper 1.0.0 for the "
            "host's MPI (docs/abi.md)" % (approach['name'], soname, site['name'])
        )
    if missing:
        usable = [
            name
            for name, other in APPROACHES.items()
            if other['container']
            and names.issuperset(other['inject'])
            and can_launch_approach(other, site)
        ]
        raise SettingsError(
            "approach '%s' needs the host's %s, which site '%s' does not have. Use one of: %s"
            % (approach['name'], ' and '.join(missing), site['name'], format_names(usable))
        )
    select_pmi(approach, site)
    optional = [name for name in approach['inject_if_known'] if name in names]
    return [(name, site['libraries'][name]['value']) for name in approach['inject'] + optional]


def check_approach(approach: Dict[str, Any], site: Dict[str, Any]) -> None:
    """Raise SettingsError if a site cannot use an approach with any image."""
    kinds = (
        [select_host_mpi(approach, soname) for soname in HOST_MPI]
        if 'libmpi' in approach['inject']
        else []
    )
    if not any(
        set(site['libraries']).issuperset(kind['inject']) and can_launch_approach(kind, site)
        for kind in kinds
    ):
        list_host_libraries(approach, site)
    if not approach['container'] and not site['native']['value']:
        raise SettingsError(
            "site '%s' has no native MPI to build with: no mpicc exists beside the libmpi of the "
            'site. Add the path of an mpicc to the key `native` of the site' % site['name']
        )


def _select_pmi_key(approach: Dict[str, Any]) -> str:
    """
    Return the key of a site's dict `pmi` for the MPI of an approach.

    The values of the dict `pmi` are values of srun's option --mpi.
    """
    return approach['comes_from']['libmpi'] if approach['mpi'] == 'MPICH ABI' else approach['mpi']


def can_launch_approach(approach: Dict[str, Any], site: Dict[str, Any]) -> bool:
    """Return whether the site's launcher can start the MPI that an approach uses."""
    return _select_pmi_key(approach) in site['pmi']['value']


def select_pmi(approach: Dict[str, Any], site: Dict[str, Any]) -> str:
    """
    Return the kind of PMI, such as 'pmi2', for the MPI that an approach uses.

    Raises SettingsError if the site has no PMI for this MPI.
    """
    if not site['pmi']['value']:
        raise SettingsError(
            "site '%s' names no PMI, and without a PMI the ranks do not find each other. Add the "
            "value of srun's option --mpi=, or the PMI of an mpiexec, to the key `pmi` of the "
            'site (docs/add-a-site.md, Without Slurm), or run `osu-container discover` on a '
            'machine where srun works' % site['name']
        )
    if not can_launch_approach(approach, site):
        mpi = "the host's MPI" if _select_pmi_key(approach) == 'host' else approach['mpi']
        raise SettingsError(
            "approach '%s' needs a PMI for %s, but %s on site '%s' supports only these kinds of PMI: "
            '%s. Use an approach with another MPI'
            % (
                approach['name'],
                mpi,
                launching.select_launcher_command(site),
                site['name'],
                format_names(set(site['pmi']['value'].values())),
            )
        )
    return site['pmi']['value'][_select_pmi_key(approach)]


def select_image(module: str, approach: Dict[str, Any], site: Dict[str, Any]) -> str:
    """
    Return the file name of the site's image for a module and an approach.

    The site's key `images` can have an entry 'module/approach' and an entry 'approach'. The entry
    'approach' counts only if no site has an entry for the module. Raises SettingsError if the site
    names no image.
    """
    images = site['images']['value']
    name = images.get('%s/%s' % (module, approach['name']))
    has_own_images = any(
        key.startswith(module + '/')
        for entry in SITES.values()
        for key in entry.get('images', {'value': {}})['value']
    )
    if not name and not has_own_images:
        name = images.get(approach['name'])
    if not name:
        raise SettingsError(
            "site '%s' names no image for %s/%s, but only images for: %s. Add "
            '--try-amend=image=FILE.sif to the command line of eb'
            % (site['name'], module, approach['name'], format_names(images) or 'nothing')
        )
    return name


def collect_module_variables(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    mpi: Optional[str],
    libfabric: Optional[str],
    plugin: Optional[str],
    rocm: Optional[str],
) -> Dict[Optional[str], List[Dict[str, Any]]]:
    """
    Return the variables of a module and of the settings modules, sorted by name.

    The result is a dict: the key None has the variables of the module, and each other key is the
    name of a settings module and has the variables of this settings module.

    mpi, libfabric: releases as in the facts, e.g. 'MPICH 4.2.3' and '1.22.0'.
    plugin: path of RCCL's plugin.
    rocm: release of ROCm in the image.

    If both approach and site set a variable, the value of the approach counts.
    """
    conditions = _collect_conditions(site, mpi, libfabric, plugin, rocm)
    values = {
        'provider': site['provider']['value'],
        'rccl_plugin': plugin or '',
        'lnx_links': _find_lnx_links(site) or '',
    }
    by_setting: Dict[Optional[str], Dict[str, Dict[str, Any]]] = {}
    for origin, entry in (('approach', approach), ('site', site)):
        for variable in select_applicable(entry['variables'], conditions):
            by_setting.setdefault(variable.get('setting'), {}).setdefault(
                variable['name'],
                {
                    **variable,
                    'value': variable['value'].format(**values),
                    'origin': '%s %s' % (origin, entry['name']),
                },
            )
    return {
        setting: [entries[name] for name in sorted(entries)]
        for setting, entries in by_setting.items()
    }


def list_site_files(
    approach: Dict[str, Any], site: Dict[str, Any], *kinds: str
) -> List[Tuple[str, Dict[str, Any]]]:
    """
    Return [(path, fact)] of the files of the site that the approach binds.

    path: path of a file on the host. fact: dict that explains the path (data/sites/schema.py).
    kinds: values of the key `bound` of the facts: 'install', 'run' or 'step'.
    """
    facts = [site['files'][name] for name in approach['files'] if name in site['files']]
    return [(path, fact) for fact in facts if fact['bound'] in kinds for path in fact['value']]


def build_settings(
    approach: Dict[str, Any], site: Dict[str, Any], facts: Dict[str, Any]
) -> Settings:
    """
    Return the Settings of a module.

    facts: the dict that read_facts() in verdict/facts.py returns. The parts of the dict, with the
    keys of each part:
    'image' (not in a native module): mpi, libfabric, rocm (release or None; absent in an older
    installation), programs ({name: folder}), library_path,
    rccl_plugin (path or None), of_site and installed (site_image and installed_image of LoadChecks,
    or absent), uses_libfabric (absent in an older installation).
    'host': root, mpi, libfabric, runtime (command, name; not in a native module), injected (soname,
    path, why, size, what, names), files, folders (path, target, why), rccl_plugin.
    'wrapper': True if lumi-container-wrapper made the commands.
    'user_path': the field user_path of ContainerSettings.

    Raises SettingsError as list_host_libraries() does.
    """
    host, image = facts['host'], facts.get('image', {})
    approach = select_host_mpi(approach, image.get('soname'))
    list_host_libraries(approach, site)
    by_owner = {'image': image, 'host': host}
    mpi, libfabric = (
        by_owner[approach['comes_from'][name]][key]
        for name, key in (('libmpi', 'mpi'), ('libfabric', 'libfabric'))
    )
    plugin = (image if approach['container'] else host).get('rccl_plugin')
    rocm = image.get('rocm')
    conditions = _collect_conditions(site, mpi, libfabric, plugin, rocm)
    environment = _build_environment_settings(
        approach,
        site,
        conditions,
        collect_module_variables(approach, site, mpi, libfabric, plugin, rocm),
    )
    return Settings(
        site=site['name'],
        approach=approach['name'],
        title=approach['title'],
        programs=sorted(image.get('programs', {})),
        stack=_build_stack(
            approach, site, mpi, libfabric, image.get('uses_libfabric', True), environment.variables
        ),
        container=_build_container_settings(approach, site, facts, conditions),
        environment=environment,
        load_checks=_build_load_checks(approach, site, facts),
    )


def _build_stack(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    mpi: str,
    libfabric: str,
    uses_libfabric: bool,
    variables: List[Dict[str, Any]],
) -> Stack:
    pmi = select_pmi(approach, site)
    owner = approach['comes_from']['libfabric'] if uses_libfabric else NO_LIBFABRIC
    return Stack(
        mpi="%s of the %s" % (mpi, approach['comes_from']['libmpi']),
        libfabric='no libfabric'
        if owner == NO_LIBFABRIC
        else "libfabric %s of the %s" % (libfabric, owner),
        libfabric_owner=owner,
        provider=(
            {variable['name']: variable['value'] for variable in variables if owner != NO_LIBFABRIC}
        ).get('FI_PROVIDER'),
        pmi=pmi,
        pmi_variable=site['pmi_variables']['value'].get(pmi),
        launcher=launching.select_launcher(site),
    )


def _list_injected_libraries(
    approach: Dict[str, Any], facts: Dict[str, Any]
) -> List[Dict[str, Any]]:
    return facts['host'].get('injected', []) if approach['inject'] else []


def _build_container_settings(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    facts: Dict[str, Any],
    conditions: Dict[str, Any],
) -> ContainerSettings:
    host, image, injected = (
        facts['host'],
        facts.get('image', {}),
        _list_injected_libraries(approach, facts),
    )
    runtime = host.get('runtime')
    preload = [
        library
        for name in approach['preload']
        for library in injected
        if library.get('name') == name
    ]
    return ContainerSettings(
        env_prefix=None
        if not approach['container']
        else WRAPPERS_PREFIX
        if facts.get('wrapper')
        else ENV_PREFIXES[host['runtime']['name']],
        binds=_list_binds(approach, site, injected, host),
        library_path=list_injected_folders(image.get('rccl_plugin_folder'))
        if injected and not approach.get('entrypoint')
        else [],
        program_path=sorted(set(image.get('programs', {}).values())),
        preload=[INJECT_FOLDER + '/' + library['soname'] for library in preload],
        run_files=_list_run_files(approach, site, host),
        user_path=facts.get('user_path'),
        host_path=[
            folder['target']
            for folder in host.get('folders', [])
            if folder['target'].startswith(MORE_FOLDERS)
        ],
        needs_nvidia=collect_site_conditions(site)['cuda'],
        uses_entrypoint=bool(approach.get('entrypoint')),
        shares_container=shares_container(runtime, facts.get('wrapper', False)),
        separate_variables=select_applicable(NAMESPACE_VARIABLES, conditions)
        if has_own_namespaces(runtime)
        else [],
        exported_variables=approach.get('exports', []),
    )


def _build_environment_settings(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    conditions: Dict[str, Any],
    variables: Dict[Optional[str], List[Dict[str, Any]]],
) -> EnvironmentSettings:
    command_variables = [
        variable for variable in variables[None] if approach['container'] and variable.get('inside')
    ]
    return EnvironmentSettings(
        variables=[variable for variable in variables[None] if variable not in command_variables],
        command_variables=command_variables,
        setting_variables={name: variables[name] for name in SETTINGS if name in variables},
        unset_variables=select_applicable(approach['unset'], conditions),
        rank_variables=select_applicable(approach['rank_variables'], conditions),
        gpu_map=site['gpu_binding']['value'],
        placement_note=format_placement_note(site),
    )


def _build_load_checks(
    approach: Dict[str, Any], site: Dict[str, Any], facts: Dict[str, Any]
) -> LoadChecks:
    host, image = facts['host'], facts.get('image', {})
    site_image = image.get('of_site')
    first = approach['inject'] + approach['preload']
    watched = sorted(
        (library for library in _list_injected_libraries(approach, facts) if library.get('name')),
        key=lambda library: library['name'] not in first,
    )[:WATCHED_AT_LOAD]
    # A module that links to the site's image does not look for newer files of the same name.
    folders = [] if site_image else site['image_folders']['value']
    return LoadChecks(
        watched_files=watched + ([site_image] if site_image else []),
        conflicts=site['conflicts']['value'],
        family=site.get('family', {'value': FAMILY})['value'],
        shell_checks=[
            {**site['shell'], **entry} for entry in site.get('shell', {'value': []})['value']
        ],
        site_image=site_image,
        installed_image=image.get('installed'),
        image_folders=[
            ('' if folder.startswith('{') else host['root']) + folder for folder in folders
        ],
    )


def has_own_namespaces(runtime: Optional[Dict[str, Any]]) -> bool:
    """
    Return whether each container has its own user namespace.

    The result is True if the runtime has no setuid program. Ranks of a node in different containers
    then cannot read each other's memory (user_namespaces(7)).
    """
    return (runtime or {}).get('setuid') is False


def shares_container(runtime: Optional[Dict[str, Any]], wrapper: bool = False) -> bool:
    """
    Return whether the commands start the ranks of a node in one container.

    A shared container needs Apptainer 1.3 or newer without setuid: the option --sharens exists
    since 1.3, and APPTAINER_CONFIGDIR keeps the state of a container out of the user's home folder.

    wrapper: True if lumi-container-wrapper made the commands, which then start a container for each
    rank.
    """
    return (
        runtime is not None
        and has_own_namespaces(runtime)
        and runtime.get('name') == 'apptainer'
        and not wrapper
        and parse_release(runtime.get('release')) >= (1, 3)
    )


def _find_lnx_links(site: Dict[str, Any]) -> Optional[str]:
    """Return the providers that libfabric's lnx combines, None if the site cannot use lnx."""
    return site.get('lnx_links', {}).get('value')


def _collect_conditions(
    site: Dict[str, Any],
    mpi: Optional[str],
    libfabric: Optional[str],
    plugin: Optional[str],
    rocm: Optional[str],
) -> Dict[str, Any]:
    """
    Return {name: value} of the facts to which conditions (key `only`) in the data refer.

    A value is a bool, or a release as a tuple of int. The docstring of
    collect_module_variables() explains the parameters.
    """
    return dict(
        collect_site_conditions(site),
        **{
            'rccl plugin': bool(plugin),
            'libfabric': parse_release(libfabric),
            'image rocm': parse_release(rocm),
            'mpich': parse_release(mpi) if (mpi or '').startswith('MPICH ') else (),
            'open mpi': (mpi or '').startswith('Open MPI '),
            # Older releases have no provider lnx: github.com/ofiwg/libfabric/pull/10437
            'lnx': bool(_find_lnx_links(site)) and parse_release(libfabric) >= (2, 0),
        },
    )


def _list_run_files(
    approach: Dict[str, Any], site: Dict[str, Any], host: Dict[str, Any]
) -> List[Dict[str, Any]]:
    return [
        dict(
            fact,
            # Slurm creates the files of a step on the real host, not below a stand-in root.
            path=path if fact['bound'] == 'step' else host['root'] + path,
            target=path,
            otherwise=fact.get('otherwise', {}),
        )
        for path, fact in list_site_files(approach, site, 'run', 'step')
    ]


def _list_binds(
    approach: Dict[str, Any],
    site: Dict[str, Any],
    injected: List[Dict[str, Any]],
    host: Dict[str, Any],
) -> List[Tuple[str, str, str]]:
    """Return [(host path, container path, reason)] of bound libraries, folders and files."""
    binds = [
        (library['path'], INJECT_FOLDER + '/' + name, library['why'])
        for library in ([] if approach.get('entrypoint') else injected)
        for name in dict.fromkeys([library['soname']] + library.get('names', []))
    ]
    binds += [
        (folder['path'], folder['target'], folder['why']) for folder in host.get('folders', [])
    ]
    return binds + [
        (host['root'] + path, path, fact['why'])
        for path, fact in list_site_files(approach, site, 'install')
        if path in host['files']
    ]


def list_injected_folders(plugin: Optional[str]) -> List[str]:
    """
    Return the folders that the module prepends to LD_LIBRARY_PATH in the container.

    plugin: folder of RCCL's network plugin in the image, or None. The value is None if the image
    has no plugin, or if the folder contains a library with the soname of an injected library. The
    loader would search the folder first, and would find this library instead of the host's library.
    """
    return ([plugin] if plugin else []) + [INJECT_FOLDER]


def format_placement_note(site: Dict[str, Any]) -> str:
    """Return a message if osu-gpu-bind cannot place ranks on the site's GPUs, else ''."""
    if site['gpu_binding']['value'] or not site['gpu']['value']:
        return ''
    return (
        "osu-gpu-bind does not place ranks, because site %s has no map of GPUs, cores and network cards"
        % site['name']
    )


def explain_settings(settings: Settings) -> Dict[str, Any]:
    """Return the data that osu-explain prints: variables and binds, each with why and origin."""
    approach = 'approach %s' % settings.approach
    launcher = LAUNCHERS[settings.stack.launcher]
    chosen = [
        {
            'name': name,
            'value': kind,
            'origin': 'site %s' % settings.site,
            'source': launcher['source'],
            'date': launcher['date'],
            'evidence': 'derived',
            'why': 'ranks find each other through PMI; the option %s on the command line '
            'overrides this variable'
            % ' '.join([launcher['command']] + launcher['pmi_words']).format(kind=''),
        }
        for name, kind in launching.list_pmi_variables(settings.stack.launcher, settings.stack.pmi)
    ]
    bound = [(*bind, approach) for bind in settings.container.binds] + [
        (entry['path'], entry['target'], entry['why'], approach + ', where it exists')
        for entry in settings.container.run_files
    ]
    # Outside of the container, the names of these variables start with the runtime's prefix.
    in_container = [
        {
            'name': name,
            'value': ':'.join(value),
            'why': why,
            'source': 'ld.so(8)',
            'date': '2026-11-21',
            'evidence': 'derived',
            'origin': approach,
        }
        for name, value, why in (
            (
                'LD_LIBRARY_PATH',
                settings.container.library_path,
                'ld.so uses injected libraries before libraries of the image',
            ),
            (
                'LD_PRELOAD',
                settings.container.preload,
                'ld.so loads a preloaded library even if the program was not linked with '
                'the library',
            ),
        )
        if value
    ]
    return {
        'site': settings.site,
        'approach': settings.approach,
        'title': settings.title,
        'programs': settings.programs,
        'mpi': settings.stack.mpi,
        'libfabric': settings.stack.libfabric,
        'pmi': settings.stack.pmi,
        'launcher': settings.stack.launcher,
        'started': launching.format_pmi(settings.stack.launcher, settings.stack.pmi),
        'placement': settings.environment.placement_note,
        'variables': chosen + settings.environment.variables,
        'inside': settings.environment.command_variables,
        'binds': [dict(zip(('path', 'target', 'why', 'origin'), bind)) for bind in bound],
        'settings': settings.environment.setting_variables,
        'unset': [{**entry, 'origin': approach} for entry in settings.environment.unset_variables],
        'in_container': in_container
        + [{**entry, 'origin': approach} for entry in settings.container.exported_variables],
        'share': settings.container.shares_container,
        'apart': [
            {**entry, 'origin': 'if each rank has a separate container'}
            for entry in settings.container.separate_variables
        ],
    }

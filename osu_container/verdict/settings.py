"""
(approach, site, facts) -> settings: what a module sets, as a pure function. Reads no file, imports
no EasyBuild.
"""

from collections import OrderedDict, namedtuple

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

#: Where folders of the host appear, under numbers, in which an entrypoint must look beside those
#: that it knows
MORE_FOLDERS = '/host/more/'

#: Variable prefixes by container runtime. One prefix at a time: where both exist Apptainer takes
#: APPTAINER_BIND and drops SINGULARITY_BIND with a note (seen with Apptainer 1.4.5); SingularityCE
#: reads SINGULARITY_ only.
ENV_PREFIXES = {'apptainer': 'APPTAINER', 'singularity': 'SINGULARITY'}
#: The one that the wrappers of lumi-container-wrapper know; Apptainer reads it too where no
#: APPTAINER_* is set
WRAPPERS_PREFIX = 'SINGULARITY'

#: By the soname that the image's programs ask for: which of the site's libraries is the host's MPI
#: under that soname. libmpi is the one of all others, and of these the rule 'other MPI' decides
#: (verdict/verdict.py).
HOST_MPI = {'libmpi_abi.so.1': 'libmpi_abi', 'libmpi.so.40': 'libompi', 'libmpi.so.20': 'libompi'}

#: Lmod family of all modules of this project; at a site whose modules that bind have one,
#: containers are of both
FAMILY = 'slurm_mpi'

#: So many libraries does `module load` compare with what they were: MPI, libfabric and what is
#: preloaded come first
WATCHED_AT_LOAD = 4

#: stack: Stack, what runs; inside: Inside, what a container gets; sets: Sets, variables; at_load:
#: AtLoad, what `module load` looks at; programs: sorted list of str
Settings = namedtuple(
    'Settings', 'site approach title programs stack container environment load_checks'
)

#: mpi, libfabric: str, release and where it comes from; libfabric_of: 'image', 'host' or
#: NO_LIBFABRIC; provider, pmi, pmi_variable: str or None; launcher: str, key of data/launchers.py
Stack = namedtuple('Stack', 'mpi libfabric libfabric_owner provider pmi pmi_variable launcher')

#: env_prefix: str or None (native); binds: list of (path on the host, path in the container, why);
#: library_path, preload, program_path: lists of folders or files in the container that the file of
#: verdict/injection.py puts in front; run_files: list of dict (path on the host with {kernel} and
#: the like, target, why, otherwise) to bind where the program runs; user_path: folders (list of
#: str) of the user's own software that come first on PATH in the container, None where a module has
#: no place for it; host_path: list of folders in the container in which our entrypoint finds more
#: host libraries; nvidia: bool, the runtime must bring the driver's libraries along;
#: through_entrypoint: bool, programs are started through that of the image; share: bool, ranks of a
#: node run in one container; apart: list of dict, variables for ranks that do not; exports: list of
#: dict, what the file of the injection sets
ContainerSettings = namedtuple(
    'Inside',
    'env_prefix binds library_path program_path preload run_files user_path '
    'host_path needs_nvidia uses_entrypoint shares_container separate_variables exported_variables',
)

#: variables: list of dict (name, value, why, source, date, evidence, origin), one of a name;
#: inside: the same, those that only the approach's own commands set; more: {name of a settings
#: module: list of dict like these}; unset: list of dict (name, why, source, ...); rank_variables:
#: list of dict; gpu_map: list of dict (gcd, mask, nic) or None; unplaced: str, that there is no map
#: for the site's GPUs, '' where there is or none is wanted
EnvironmentSettings = namedtuple(
    'Sets',
    'variables command_variables setting_variables unset_variables rank_variables gpu_map placement_note',
)

#: watched: list of dict (path, size, what); conflicts, image_folders: lists of str; family: str;
#: shell: list of dict (name, fits, says, why, source, ...), what variables of the user's shell must
#: be like; of_site: dict like those of watched, the image of the site that is linked to, or None;
#: image_installed: dict (size), what the installation's own image was like, or None
LoadChecks = namedtuple(
    'AtLoad', 'watched_files conflicts family shell_checks site_image installed_image image_folders'
)


def resolve_approach(name, approaches=APPROACHES):
    """
    Return the entry (dict, with its name under 'name') of an approach. Raises SettingsError if
    it is unknown.
    """
    if name not in approaches:
        raise SettingsError(
            "unknown approach '%s'; known approaches: %s" % (name, format_names(approaches))
        )
    return dict(approaches[name], name=name)


def list_mpi_families(approach):
    """
    Return the families (list of str, the preferred one first) of MPI that approach (dict) takes
    in an image.
    """
    return [approach['mpi']] + approach['mpi_also']


def select_host_mpi(approach, soname):
    """
    Return approach (dict) so that it injects the host's MPI under soname (str or None), what the
    image's programs need.

    Other approaches, which inject no MPI, come back as they are.
    """
    approach = dict(approach, **approach.get('by_family', {}).get(MPI_FAMILIES.get(soname), {}))
    name = HOST_MPI.get(soname, 'libmpi')
    return dict(approach, inject=[name if one == 'libmpi' else one for one in approach['inject']])


def list_host_libraries(approach, site):
    """
    Return [(name, path on the host)] of the libraries that approach injects on site, without their
    dependencies.

    :param approach, site: entries (dict) from resolve_approach() and choose_site() or
        resolve_site()
    Raises SettingsError if the site lacks a library that the approach needs, or the PMI of its MPI.
    """
    has = set(name for name, fact in site['libraries'].items() if fact)
    lacking = [name for name in approach['inject'] if name not in has]
    soname = next((soname for soname, name in HOST_MPI.items() if name in lacking), None)
    if soname and MPI_FAMILIES[soname] == 'Open MPI':
        raise SettingsError(
            "the image's MPI is Open MPI, and site '%s' describes no Open MPI of its own to put in its "
            "place. Use approach openmpi; or, where the host has one, name its library: libompi in "
            "libraries of the site (docs/add-a-site.md)" % site['name']
        )
    if soname:
        raise SettingsError(
            "the image's programs need %s, and no MPI of site '%s' is known to have it: approach '%s' "
            "has nothing to put in its place. Take an approach with the image's own MPI (hybrid, "
            "opensource, pure), or build the programs for libmpi.so.12 (MPICH's mpicc, not mpicc_abi)"
            % (soname, site['name'], approach['name'])
        )
    if lacking:
        usable = [
            name
            for name, other in APPROACHES.items()
            if other['container']
            and has.issuperset(other['inject'])
            and can_launch_approach(other, site)
        ]
        raise SettingsError(
            "approach '%s' needs the host's %s, which site '%s' does not have; approaches that need "
            "nothing more than it has: %s"
            % (approach['name'], ' and '.join(lacking), site['name'], format_names(usable))
        )
    select_pmi(approach, site)
    names = approach['inject'] + [name for name in approach['inject_if_known'] if name in has]
    return [(name, site['libraries'][name]['value']) for name in names]


def check_approach(approach, site):
    """
    Raise SettingsError where site cannot have approach, whatever the image: eb asks this first, and
    discover the same.

    :param approach, site: entries (dict) as for list_host_libraries()
    """
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
            "site '%s' has no native MPI to build with: an mpicc is looked for beside its libmpi, or "
            "key native of the site names one" % site['name']
        )


def _select_pmi_key(approach):
    """Return under which name (str) the site's pmi has what the MPI of approach (dict) speaks."""
    return approach['comes_from']['libmpi'] if approach['mpi'] == 'MPICH ABI' else approach['mpi']


def can_launch_approach(approach, site):
    """
    Return whether the launcher of site (dict) can start ranks of the MPI that approach (dict)
    runs.
    """
    return _select_pmi_key(approach) in site['pmi']['value']


def select_pmi(approach, site):
    """
    Return the kind of PMI (str) for the MPI that approach runs on site. Raises SettingsError
    without.
    """
    if not site['pmi']['value']:
        raise SettingsError(
            "site '%s' names no PMI, so nothing shows how ranks would find each other. Write into its "
            "key pmi the --mpi= of srun, or what an mpiexec speaks (docs/add-a-site.md, Without "
            "Slurm); or let `osu-container discover` write the site anew where srun answers"
            % site['name']
        )
    if not can_launch_approach(approach, site):
        mpi = "the host's MPI" if _select_pmi_key(approach) == 'host' else approach['mpi']
        raise SettingsError(
            "approach '%s' needs a PMI for %s, which %s on site '%s' does not have; it has: %s. Take "
            "an approach with another MPI"
            % (
                approach['name'],
                mpi,
                launching.select_launcher_command(site),
                site['name'],
                format_names(set(site['pmi']['value'].values())),
            )
        )
    return site['pmi']['value'][_select_pmi_key(approach)]


def select_image(module, approach, site):
    """
    Return the file name (str) of the image that the module (str, its name) of approach (dict) has
    on site (dict).

    A module of its own image has an entry 'module/approach', the others are named by the approach
    alone. Raises SettingsError if the site names none: a module that has images of its own anywhere
    gets no other one.
    """
    images = site['images']['value']
    name = images.get('%s/%s' % (module, approach['name']))
    if not name and not _has_own_images(module):
        name = images.get(approach['name'])
    if not name:
        raise SettingsError(
            "site '%s' names no image for %s/%s; it has images for: %s. Name one: "
            "--try-amend=image=FILE.sif"
            % (site['name'], module, approach['name'], format_names(images) or 'nothing')
        )
    return name


def _has_own_images(module):
    """Return whether a site names an image for the module (str) in particular."""
    return any(
        name.startswith(module + '/')
        for entry in SITES.values()
        for name in entry.get('images', {'value': {}})['value']
    )


def _collect_variables(approach, site, known_facts, values):
    """
    Return {None or name of a settings module: variables (list of dict, sorted by name), values
    filled in}.

    Of several of one name the first counts, the approach's before the site's.
    """
    found = {}
    for origin, entry in (('approach', approach), ('site', site)):
        for variable in select_applicable(entry['variables'], known_facts):
            found.setdefault(variable.get('setting'), {}).setdefault(
                variable['name'],
                dict(
                    variable,
                    value=variable['value'].format(**values),
                    origin='%s %s' % (origin, entry['name']),
                ),
            )
    return dict(
        (setting, [entries[name] for name in sorted(entries)]) for setting, entries in found.items()
    )


def collect_module_variables(approach, site, mpi, libfabric, plugin):
    """
    Return what _collect_variables() returns for a module; arguments: as for
    _collect_conditions().
    """
    return _collect_variables(
        approach,
        site,
        _collect_conditions(site, mpi, libfabric, plugin),
        {
            'provider': site['provider']['value'],
            'rccl_plugin': plugin or '',
            'lnx_links': _find_lnx_links(site) or '',
        },
    )


def list_site_files(approach, site):
    """Return [(name, fact)] of the site's files that approach binds, those that the site has."""
    return [(name, site['files'][name]) for name in approach['files'] if name in site['files']]


def build_settings(approach, site, facts):
    """
    Return the Settings of a module.

    :param approach, site: entries (dict) from resolve_approach() and choose_site() or
        resolve_site()
    :param facts: dict with 'image' (mpi, libfabric: str; programs: {name: folder}; library_path:
        list of str; rccl_plugin: str or None; of_site, installed: as of_site and image_installed in
        AtLoad, or absent; uses_libfabric: bool, absent in an older installation) and 'host' (root:
        str; mpi, libfabric: str; runtime: dict command, name; injected: list of dict soname, path,
        why, size, what, names; files: list of str; folders: list of dict path, target, why, for an
        approach with entrypoint only; rccl_plugin) as verdict/facts.py reads them. A native module
        has no 'image' and no runtime. 'wrapper': True where lumi-container-wrapper made the
        commands; 'user_path': as in Inside
    Raises SettingsError as host_libraries does.
    """
    host, image = facts['host'], facts.get('image', {})
    approach = select_host_mpi(approach, image.get('soname'))
    list_host_libraries(approach, site)
    by_owner, comes_from = {'image': image, 'host': host}, approach['comes_from']
    mpi, libfabric = (
        by_owner[comes_from[name]][key]
        for name, key in (('libmpi', 'mpi'), ('libfabric', 'libfabric'))
    )
    plugin = (image if approach['container'] else host).get('rccl_plugin')
    known_facts = _collect_conditions(site, mpi, libfabric, plugin)
    sets = _build_environment_settings(
        approach,
        site,
        known_facts,
        collect_module_variables(approach, site, mpi, libfabric, plugin),
    )
    return Settings(
        site=site['name'],
        approach=approach['name'],
        title=approach['title'],
        programs=sorted(image.get('programs', {})),
        stack=_build_stack(
            approach, site, mpi, libfabric, image.get('uses_libfabric', True), sets.variables
        ),
        container=_build_container_settings(approach, site, facts, known_facts),
        environment=sets,
        load_checks=_build_load_checks(approach, site, facts),
    )


def _build_stack(approach, site, mpi, libfabric, uses_libfabric, variables):
    """
    Return the Stack of a module; variables: list of dict, as in Sets; others: see
    build_settings().
    """
    comes_from, pmi = approach['comes_from'], select_pmi(approach, site)
    of = comes_from['libfabric'] if uses_libfabric else NO_LIBFABRIC
    values = dict((one['name'], one['value']) for one in variables if of != NO_LIBFABRIC)
    return Stack(
        mpi="%s of the %s" % (mpi, comes_from['libmpi']),
        libfabric='no libfabric'
        if of == NO_LIBFABRIC
        else "libfabric %s of the %s" % (libfabric, of),
        libfabric_owner=of,
        provider=values.get('FI_PROVIDER'),
        pmi=pmi,
        pmi_variable=site['pmi_variables']['value'].get(pmi),
        launcher=launching.select_launcher(site),
    )


def _list_injected_libraries(approach, facts):
    """Return the host's libraries (list of dict, of facts) that approach injects."""
    return facts['host'].get('injected', []) if approach['inject'] else []


def _build_container_settings(approach, site, facts, known_facts):
    """
    Return the Inside of a module; known_facts: as _collect_conditions() gives them; others: see
    build_settings().
    """
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
        env_prefix=_select_env_prefix(facts) if approach['container'] else None,
        binds=_list_binds(approach, site, injected, host),
        library_path=[] if approach.get('entrypoint') else _list_library_folders(injected, image),
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
        separate_variables=select_applicable(NAMESPACE_VARIABLES, known_facts)
        if has_own_namespaces(runtime)
        else [],
        exported_variables=approach.get('exports', []),
    )


def _build_environment_settings(approach, site, known_facts, variables):
    """
    Return the Sets of a module; variables: as collect_module_variables() gives them; others: as
    for _build_container_settings().
    """
    inside = [one for one in variables[None] if approach['container'] and one.get('inside')]
    return EnvironmentSettings(
        variables=[one for one in variables[None] if one not in inside],
        command_variables=inside,
        setting_variables=dict((name, variables[name]) for name in SETTINGS if name in variables),
        unset_variables=select_applicable(approach['unset'], known_facts),
        rank_variables=select_applicable(approach['rank_variables'], known_facts),
        gpu_map=site['gpu_binding']['value'],
        placement_note=format_placement_note(site),
    )


def _build_load_checks(approach, site, facts):
    """Return the AtLoad of a module; see build_settings()."""
    host, image = facts['host'], facts.get('image', {})
    of_site = image.get('of_site')
    first = approach['inject'] + approach['preload']
    watched = sorted(
        (library for library in _list_injected_libraries(approach, facts) if library.get('name')),
        key=lambda library: library['name'] not in first,
    )[:WATCHED_AT_LOAD]
    # where the image is one of the site's already, another file of its name is another image
    folders = [] if of_site else site['image_folders']['value']
    return LoadChecks(
        watched_files=watched + ([of_site] if of_site else []),
        conflicts=site['conflicts']['value'],
        family=site.get('family', {'value': FAMILY})['value'],
        shell_checks=[
            dict(site['shell'], **entry) for entry in site.get('shell', {'value': []})['value']
        ],
        site_image=of_site,
        installed_image=image.get('installed'),
        image_folders=[
            ('' if folder.startswith('{') else host['root']) + folder for folder in folders
        ],
    )


def has_own_namespaces(runtime):
    """
    Return whether each container has a user namespace of its own (bool): runtime (dict or None) has
    no setuid.

    One container a rank then keeps the ranks of a node from each other's memory
    (user_namespaces(7)). With setuid there is no user namespace, so nothing is lost.
    """
    return (runtime or {}).get('setuid') is False


def shares_container(runtime, wrapper=False):
    """
    Return whether the commands put the ranks of a node into one container (bool).

    :param runtime: dict (name, release, setuid, see find_runtime()) or None; wrapper: bool,
        lumi-container-wrapper made the commands, which start a container each
    That is for Apptainer without setuid. The state of a container can be kept out of the user's
    home folder, by APPTAINER_CONFIGDIR, from 1.3 on; --sharens came with 1.3 too.
    """
    return (
        has_own_namespaces(runtime)
        and runtime.get('name') == 'apptainer'
        and not wrapper
        and parse_release(runtime.get('release')) >= (1, 3)
    )


def _find_lnx_links(site):
    """Return what libfabric's provider lnx links on site (str), None where it cannot be used."""
    return site.get('lnx_links', {}).get('value')


def _collect_conditions(site, mpi, libfabric, plugin):
    """
    Return {word of a condition: bool or release (tuple of int)}, what conditions of 'only' are
    about.

    :param mpi, libfabric: str, as in facts: 'MPICH 4.2.3', '1.22.0'; plugin: str or None, path of
        RCCL's plugin
    """
    return dict(
        collect_site_conditions(site),
        **{
            'rccl plugin': bool(plugin),
            'libfabric': parse_release(libfabric),
            'mpich': parse_release(mpi) if (mpi or '').startswith('MPICH ') else (),
            'open mpi': (mpi or '').startswith('Open MPI '),
            # the provider is in no older libfabric, github.com/ofiwg/libfabric/pull/10437
            'lnx': bool(_find_lnx_links(site)) and parse_release(libfabric) >= (2, 0),
        },
    )


def _list_run_files(approach, site, host):
    """
    Return the files (list of dict) that are bound on the node that runs the program, where they
    exist.
    """
    return [
        {
            'path': path
            if fact['bound'] == 'step'
            else host['root'] + path,  # a step is Slurm's: below no other root
            'target': path,
            'why': fact['why'],
            'otherwise': fact.get('otherwise', {}),
            'source': fact['source'],
            'date': fact['date'],
            'evidence': fact['evidence'],
        }
        for _, fact in list_site_files(approach, site)
        if fact['bound'] in ('run', 'step')
        for path in fact['value']
    ]


def _select_env_prefix(facts):
    """
    Return how the names of the runtime's variables start (str): as the runtime, or the wrappers,
    want them.
    """
    return (
        WRAPPERS_PREFIX if facts.get('wrapper') else ENV_PREFIXES[facts['host']['runtime']['name']]
    )


def _list_binds(approach, site, injected, host):
    """
    Return [(path on the host, path in the container, why)]: injected libraries, then the site's
    files.
    """
    if approach.get('entrypoint'):
        binds = [
            (folder['path'], folder['target'], folder['why']) for folder in host.get('folders', [])
        ]
    else:
        binds = [
            (library['path'], INJECT_FOLDER + '/' + name, library['why'])
            for library in injected
            for name in OrderedDict.fromkeys([library['soname']] + library.get('names', []))
        ]
        binds += [
            (folder['path'], folder['target'], folder['why']) for folder in host.get('folders', [])
        ]
    for _, fact in list_site_files(approach, site):
        if fact['bound'] == 'install':
            binds += [
                (host['root'] + path, path, fact['why'])
                for path in fact['value']
                if path in host['files']
            ]
    return binds


def _list_library_folders(injected, image):
    """
    Return the folders (list of str) that come in front of the image's LD_LIBRARY_PATH, [] where
    nothing is injected.

    The plugin's folder stays in front, unless it holds what is injected.
    """
    return list_injected_folders(image.get('rccl_plugin_folder')) if injected else []


def list_injected_folders(plugin):
    """
    Return the folders (list of str) in front of LD_LIBRARY_PATH where libraries are injected.

    :param plugin: str or None, folder of RCCL's plugin, if it holds nothing of what is injected
    """
    return ([plugin] if plugin else []) + [INJECT_FOLDER]


def format_placement_note(site):
    """
    Return that nobody knows which GPU, cores and card of site (dict) belong together (str), ''
    where one knows.
    """
    if site['gpu_binding']['value'] or not site['gpu']['value']:
        return ''
    return (
        "which GPU, cores and network card of a node belong together is unknown for site %s, so nothing places "
        "the ranks: osu-gpu-bind has no map" % site['name']
    )


def explain_settings(settings):
    """
    Return what osu-explain prints (dict of plain data): variables, in the container and outside,
    and binds, each with its reason and origin.

    :param settings: Settings
    """
    site, approach = 'site %s' % settings.site, 'approach %s' % settings.approach
    launcher = LAUNCHERS[settings.stack.launcher]
    chosen = [
        {
            'name': name,
            'value': kind,
            'origin': site,
            'source': launcher['source'],
            'date': launcher['date'],
            'evidence': 'derived',
            'why': 'ranks find each other through PMI; %s on the command line wins over it'
            % ' '.join([launcher['command']] + launcher['pmi_words']).format(kind=''),
        }
        for name, kind in launching.list_pmi_variables(settings.stack.launcher, settings.stack.pmi)
    ]
    binds = [
        {'path': path, 'target': target, 'why': why, 'origin': approach}
        for path, target, why in settings.container.binds
    ]
    binds += [
        {
            'path': entry['path'],
            'target': entry['target'],
            'why': entry['why'],
            'origin': approach + ', where it exists',
        }
        for entry in settings.container.run_files
    ]
    # what the program sees; outside of the container the names start with the runtime's prefix
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
                'injected libraries come before the image\'s own',
            ),
            (
                'LD_PRELOAD',
                settings.container.preload,
                'loaded before the program, which was not linked with it',
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
        'binds': binds,
        'settings': settings.environment.setting_variables,
        'unset': [dict(entry, origin=approach) for entry in settings.environment.unset_variables],
        'in_container': in_container
        + [dict(entry, origin=approach) for entry in settings.container.exported_variables],
        'share': settings.container.shares_container,
        'apart': [
            dict(entry, origin='where each rank has a container of its own')
            for entry in settings.container.separate_variables
        ],
    }

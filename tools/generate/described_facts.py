"""
The facts of a module that nobody has installed: from the description of its host and from the name
of its image.

What an installation reads from files (verdict/facts.py) is taken from check/host_facts.py and
check/described.py. Sizes, time stamps and sums are those of no file: 0 and None.
"""

import re

from osu_container.base.places import PROJECT
from osu_container.check.described import describe_catalogue_image
from osu_container.check.public_hosts import find_host_description
from osu_container.discover.host_facts import DescribedHost
from osu_container.image.traits import read_fabric_traits, read_mpi_traits
from osu_container.verdict.facts import list_entrypoint_folders
from osu_container.verdict.settings import (
    list_host_libraries,
    list_site_files,
    resolve_approach,
    select_image,
)
from osu_container.verdict.site_choice import SettingsError, resolve_site
from osu_container.verdict.trial import (
    build_trial,
    find_leading_plugin_folder,
    locate_host_libraries,
)

#: Names of the modules that run in a container, each a folder of easyconfigs
CONTAINERS = ('osu-container', 'osu-mpi4py')
#: Takes the place of the workstation's folder of host paths
HOST = '@HOST@'
#: Benchmarks of an image: mpi4py's ports
PROGRAMS = (
    'osu_allgather osu_alltoall osu_alltoallv osu_barrier osu_bcast osu_bibw osu_bw osu_gather osu_get_bw '
    'osu_latency osu_multi_lat osu_scatter'
).split()
#: Where the user's own Python software is in a container with Python (install/user_software.py)
USER_PATH = ['/user-software/venv/bin', '/user-software/bin']
#: How the name of an image with Python differs from that of the image below it
PYTHON_NAME_PART = re.compile(r'-mpi4py-[\d.]+(?=-)|-cupy(?=\.sif)')
#: Of the runtime where the site's does not say it; without setuid, as apptainer is installed today
RUNTIMES = {'apptainer': {'release': '1.4.5', 'setuid': False}, 'singularity': {}}


def list_module_names(site):
    """
    Return the names (list of str, 'module/approach') of the container modules that site (str)
    can have.
    """
    entry, found = resolve_site(site), []
    easyconfigs = [
        path for name in CONTAINERS for path in (PROJECT / 'easyconfigs' / 'o' / name).glob('*.eb')
    ]
    for path in sorted(easyconfigs):
        module, _, approach = path.stem.rpartition('-')
        name = f'{module}/{approach}'
        try:
            list_host_libraries(resolve_approach(approach), entry)
            select_image(module, resolve_approach(approach), entry)
        except SettingsError:
            continue
        if module == CONTAINERS[0] or name in entry['images']['value']:
            found.append(name)
    return found


def derive_facts(site, name):
    """
    Return the facts (dict, as build_settings() takes them) of a module (str, 'module/approach')
    on site (str).
    """
    entry, (module, _, approach) = resolve_site(site), name.partition('/')
    file = select_image(module, resolve_approach(approach), entry)
    host = DescribedHost(find_host_description(entry))
    mix = build_trial(
        resolve_approach(approach),
        entry,
        describe_catalogue_image(PYTHON_NAME_PART.sub('', file), host.data['machine']),
        host,
    )
    return {
        'host': _derive_host_facts(mix, HOST if site == 'workstation' else ''),
        'image': _derive_image_facts(mix, file),
        'user_path': USER_PATH if PYTHON_NAME_PART.search(file) else None,
        'verdict': {'level': '', 'findings': []},
    }


def _derive_host_facts(mix, root):
    """Return the facts (dict) of the host of a Trial, whose paths begin with root (str)."""
    runtime = mix.site['runtime']['value'][0]
    injected = _list_injected_libraries(mix)
    found = {
        'root': root,
        'runtime': dict(RUNTIMES[runtime], name=runtime, command=runtime),
        'mpi': _format_release(mix, 'libmpi', read_mpi_traits),
        'libfabric': _format_release(mix, 'libfabric', read_fabric_traits),
        'files': [
            path
            for _, fact in list_site_files(mix.approach, mix.site)
            if fact['bound'] == 'install'
            for path in fact['value']
        ],
        'injected': [dict(library, path=root + library['path']) for library in injected],
    }
    if mix.approach.get('entrypoint'):
        folders = list_entrypoint_folders(
            mix.approach, mix.site, [(one['soname'], one['path']) for one in injected]
        )
        # a folder that stands in for a host has those of its libraries alone
        found['folders'] = [
            dict(folder, path=root + folder['path'])
            for folder in folders
            if not root or any(one['path'].startswith(folder['path'] + '/') for one in injected)
        ]
    return found


def _format_release(mix, name, read):
    """
    Return 'FAMILY RELEASE' of the host's library name (str) of a Trial, of libfabric the
    release; None without.
    """
    fact = mix.site['libraries'].get(name)
    if not fact or not mix.host.is_file(fact['value']):
        return None
    traits = mix.host.read_traits(fact['value'], read)
    return traits['release'] if name == 'libfabric' else f"{traits['family']} {traits['release']}"


def _list_injected_libraries(mix):
    """
    Return the libraries (list of dict) of the host that a Trial injects.

    What these need beside is left out where nobody has looked into the host: much of it, the image
    has.
    """
    names = {path: name for name, path in locate_host_libraries(mix.approach, mix.site, mix.host)}
    needed_by = {
        name: one.soname
        for one in reversed(list(mix.host_libraries.injected.values()))
        for name in one.needed
    }
    found = []
    for soname, one in mix.host_libraries.injected.items():
        library = {
            'soname': soname,
            'path': one.path,
            'size': 0,
            'sha256': None,
            'build_id': None,
            'what': soname,
            'why': f'the image lacks it, {needed_by.get(soname)} needs it',
        }
        if one.path in names:
            name = names[one.path]
            release = _format_release(
                mix, name, read_fabric_traits if name == 'libfabric' else read_mpi_traits
            )
            what = {'libfabric': f'libfabric {release}', 'libmpi': release}.get(name, soname)
            fact = mix.site['libraries'][name]
            found.append(
                dict(
                    library, name=name, what=what, why=fact['why'], names=fact.get('opened_as', [])
                )
            )
        elif mix.host.data.get('node'):
            found.append(library)
    return found


def _derive_image_facts(mix, file):
    """Return the facts (dict) of the image of a Trial; file: its name (str)."""
    of_mpi = mix.image.read_traits(mix.image.libraries[mix.soname], read_mpi_traits)
    of_fabric = mix.image.read_traits(mix.image.libraries['libfabric.so.1'], read_fabric_traits)
    python = PYTHON_NAME_PART.search(file)
    folder = '/opt/mpi4py/bin' if python else '/opt/osu/bin'
    names = [*PROGRAMS, *(['python', 'pip'] if python else [])]
    return {
        'file': file,
        'soname': mix.soname,
        'mpi': f"{of_mpi['family']} {of_mpi['release']}",
        'libfabric': of_fabric['release'],
        'programs_are': 'mpi4py 4.1.2 ports',
        'programs': dict.fromkeys(names, folder),
        'libraries_beside': {folder: []},
        'library_path': [],
        'gpu': bool(re.search('rocm|cuda', file)),
        'rccl_plugin': mix.image.find_rccl_plugin(),
        'rccl_plugin_folder': find_leading_plugin_folder(mix.image, mix.host_libraries.injected),
        'environment': [],
        'installed': {'size': 0},
    }

"""
Settings of a module from the data alone: no image is read and no host, because the one is not built yet and the other
is elsewhere. What only they can tell is left to the recipe's installation: which libraries the injected ones need that
the image lacks, and the list of programs.
"""
import os

from osu_container.contribute import ContributeError
from osu_container.contribute.repositories import FOLDERS, GPU_FOLDERS, LIBEXEC
from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import (
    approach_entry,
    host_libraries,
    image_of,
    settings_for,
    wanted_files,
)
from osu_container.core.deciding.site_choice import SettingsError, release, site_entry
from osu_container.recipes.images import IMAGES
from osu_container.recipes.versions import SOURCES

MODULE = 'osu-container'


def dotted(version):
    """Return a release (tuple of int) as text, 'unknown' for ()."""
    return '.'.join(map(str, version)) or 'unknown'


def stack_of(site):
    """Return the name (str, such as '25.03') of the software stack of a site (str) of a system with several."""
    return site_entry(site)['stack']['value']['name']


def approaches_of(site):
    """Return the names (list of str) of the approaches with a container that a site (dict) can have."""
    found = []
    for name in APPROACHES:
        try:
            host_libraries(approach_entry(name), site)
            image_of(MODULE, approach_entry(name), site)
        except SettingsError:
            continue
        found.append(name)
    # HPE's swap works by an entrypoint of its own images
    return [name for name in found if APPROACHES[name]['container'] and not APPROACHES[name].get('entrypoint')]


def image_named(file):
    """Return (name, entry (dict)) of the image in the catalogue whose SIF is file (str). Raises ContributeError."""
    name = os.path.splitext(file)[0]
    if name not in IMAGES:
        raise ContributeError(f"the site's image {file} is none of the catalogue, so nothing says what is in it. Give "
                              "it an entry in osu_container/recipes/images.py")
    return name, IMAGES[name]


def folders(prefix, gpu):
    """Return {folder below prefix (str): a program in it} of the benchmarks; gpu: bool, they have those of RCCL."""
    return {prefix + LIBEXEC + folder: program
            for folder, program in {**FOLDERS, **(GPU_FOLDERS if gpu else {})}.items()}


def image_facts(file):
    """Return the facts (dict, as read_facts() has them) of an image from its description: it need not be there."""
    variant = image_named(file)[1]['variants']['c']
    asked = variant['arguments']
    gpu = 'rocm' in asked
    plugin = '/opt/rccl-plugin' if {'aws-ofi-nccl', 'aws-ofi-rccl'} & set(variant['sources']) else None
    return {
        'file': file, 'soname': 'libmpi.so.12', 'mpi': f"MPICH {asked['mpich']}", 'libfabric': asked['libfabric'],
        'programs': {program: folder for folder, program in folders('/opt/osu/', gpu).items()},
        'programs_are': f"{image_osu(variant)} C", 'gpu': gpu, 'library_path': [], 'environment': [],
        'rccl_plugin': plugin and f'{plugin}/lib/librccl-net.so', 'rccl_plugin_folder': plugin and f'{plugin}/lib'}


def image_osu(variant):
    """Return the release (str) of the benchmarks in a variant (dict) of an image."""
    return next(SOURCES[key]['version'] for key in variant['sources'] if key == 'osu')


def host_facts(approach, site):
    """Return the facts (dict, as read_facts() has them) of the host of a site (dict), from its data."""
    libraries = site['libraries']
    injected = [{'name': name, 'path': path, 'soname': os.path.basename(path), 'what': os.path.basename(path),
                 'size': 0, 'mtime': 0, 'why': libraries[name]['why'], 'names': libraries[name].get('opened_as', [])}
                for name, path in host_libraries(approach, site)]
    mpi, fabric = (release((libraries.get(name) or {'value': ''})['value']) for name in ('libmpi', 'libfabric'))
    command = site['runtime']['value'][0]
    return {'root': '', 'mpi': f'Cray MPICH {dotted(mpi)}', 'libfabric': dotted(fabric), 'injected': injected,
            'runtime': {'command': command, 'name': command}, 'rccl_plugin': None,
            'files': [path for _, fact in wanted_files(approach, site) if fact['bound'] == 'install'
                      for path in fact['value']]}


def facts_of(name, site):
    """Return the facts (dict) of approach name (str) on a site (dict), all that settings_for() asks for."""
    approach = approach_entry(name)
    facts = {'host': host_facts(approach, site)}
    if approach['container']:
        facts['image'] = image_facts(image_of(MODULE, approach, site))
    return facts


def settings_of(name, site):
    """Return the Settings of approach name (str) on the site (str)."""
    entry = site_entry(site)
    return settings_for(approach_entry(name), entry, facts_of(name, entry))

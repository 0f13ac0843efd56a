"""
Build a site entry from a survey, so that eb can install modules for the site.

A site entry describes a site in the format of data/sites/schema.py. The entry contains only the
differences from a base entry. The base entry is 'cray' if the network is Slingshot, otherwise
'plain'. If the survey found no value for a key, the value of the base entry applies. With
the values of the base entry, a module can start on any system.
"""

import os
import re
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from osu_container.build.recipes.images import IMAGES
from osu_container.data.approaches import APPROACHES
from osu_container.data.networks import NETWORKS
from osu_container.data.sites import BASES, SITES
from osu_container.data.sites.cray import make_jobs, make_native_build
from osu_container.data.sites.schema import PMIX_FILES_DERIVED, TABLES, list_rank_folders
from osu_container.data.sites.workstation import MPICH_IMAGE, OPENMPI_IMAGE
from osu_container.verdict.settings import (
    can_launch_approach,
    check_approach,
    resolve_approach,
    select_image,
)
from osu_container.verdict.site_choice import SettingsError, parse_release, resolve_site

if TYPE_CHECKING:
    from osu_container.discover.survey import Survey

ALPS_IMAGE = 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'
#: Pattern of image names for Slingshot; its parameters are the releases of ROCm and libfabric.
#: Approach opensource needs the image with -libcxi appended
SLINGSHOT_IMAGE = 'osu-lumi-rocm-%s-mpich-4.2.3-libfabric-%s'


def derive_site_name(survey: 'Survey') -> str:
    """
    Return a name for the surveyed site.

    The name is the name of the Slurm cluster. Without Slurm, the name is the name of the node
    without the node's number.
    """
    name = (
        survey.get_value('slurm.cluster')
        or re.sub(r'[\d.].*$', '', survey.get_value('node', ''))
        or 'here'
    )
    name = re.sub(r'[^A-Za-z0-9.-]', '-', name).strip('-.') or 'here'
    return name + '-found' if name in SITES else name


def build_site_entry(survey: 'Survey', name: str) -> Dict[str, Any]:
    """Return the description of the surveyed site (site entry) in the format of data/sites/schema.py."""
    based_on = 'cray' if survey.uses_cxi() else 'plain'
    base, facts = {**BASES['plain'], **BASES[based_on]}, _build_facts(survey)
    entry: Dict[str, Any] = {
        'based_on': based_on,
        'title': '%s, described by osu-container discover (node %s, %s)'
        % (name, survey.get_value('node'), survey.today),
    }
    for key, fact in facts.items():
        if key in TABLES:
            entry[key] = {
                library: value
                for library, value in fact.items()
                if value['value'] != base[key].get(library, {}).get('value')
            }
        elif fact['value'] != base.get(key, {}).get('value'):
            entry[key] = fact
    # None excludes a library of the base entry that this system lacks.
    entry['libraries'].update(
        (library, None) for library in sorted(set(base['libraries']) - set(facts['libraries']))
    )
    return entry


def _copy_fact(survey: 'Survey', key: str, **changes: Any) -> Dict[str, Any]:
    """
    Copy a fact of the survey for the site entry; `changes` set further keys of the copy.

    A fact is a dict with the keys value, source and evidence. The copy omits the keys that only the
    report of the survey needs.
    """
    fact = survey.facts[key]
    names = ('value', 'source', 'evidence', 'opened_as', 'serves', 'folders') + (
        ('why', 'date') if fact['why'] else ()
    )
    return {**{name: fact[name] for name in names if name in fact}, **changes}


def _build_facts(survey: 'Survey') -> Dict[str, Any]:
    """Return the facts of the site entry: {key: dict with value, source and evidence}."""
    names = dict.fromkeys('runtime provider pmi library_folders conflicts wrapper_modules'.split())
    names.update(gpu='gpu.target', gpu_driver='gpu.driver')
    facts: Dict[str, Any] = {
        key: _copy_fact(survey, name or key)
        for key, name in names.items()
        if (name or key) in survey.facts
    }
    # The provider implies these two kinds.
    if survey.get_value('network')['kind'] not in ('Slingshot', 'Ethernet'):
        facts['network'] = _copy_fact(survey, 'network')
    if survey.uses_cxi() and survey.get_value('cards') and 'Open MPI' in survey.get_value('pmi'):
        facts['lnx_links'] = {
            'value': '|'.join('shm+cxi:%s' % card for card in survey.get_value('cards')),
            'source': survey.facts['cards']['source'] + '; fi_lnx(7)',
            'evidence': 'derived',
        }
    if 'gpu' in facts:
        survey.add_missing(
            'cores and network card of each GPU',
            "osu-gpu-bind cannot bind ranks to GPUs on this site: use the options of srun, or "
            "add the key gpu_binding to the site file (docs/add-a-site.md)",
        )
    facts['libraries'] = {
        key.split('.', 1)[1]: _copy_fact(survey, key)
        for key in survey.facts
        if key.startswith('libraries.')
    }
    facts['one_build'] = {
        'value': [survey.get_value('rocm') + '/lib'] if survey.get_value('rocm') else [],
        'source': survey.facts.get('rocm', {}).get('source'),
        'evidence': 'derived',
    }
    facts['files'] = _build_files(survey)
    facts['images'] = {
        'value': _select_images(survey, facts),
        'source': '`osu-container image list`',
        'evidence': 'untested',
    }
    order = (['opensource', 'openmpi', 'hybrid'] if survey.uses_cxi() else []) + ['pure', 'openmpi']
    facts['default_approach'] = {
        'value': next((name for name in order if name in facts['images']['value']), 'pure'),
        'source': 'docs/design.md, decision 7',
        'evidence': 'derived',
    }
    facts['jobs'] = _build_job_settings(survey, 'gpu' in facts)
    facts['native'] = _describe_native_build(survey, survey.get_value('gpu.target', ''))
    return facts


def _build_files(survey: 'Survey') -> Dict[str, Any]:
    """
    Return the files and folders that a container sees at the same path as the host.

    The result is {name: dict with the paths, their source and their evidence}.
    """
    pmi = survey.get_value('pmi')
    files: Dict[str, Any] = {}
    if 'files.file_systems' in survey.facts:
        files['file_systems'] = _copy_fact(survey, 'files.file_systems', bound='install')
    if pmi.get('host') == 'cray_shasta':
        spool = survey.get_value('slurm.spool', '/var/spool/slurmd')
        if '%' in spool:  # patterns for the name of the node, see slurm.conf(5)
            spool = spool.partition('%')[0].rpartition('/')[0]
        files['slurm_spool'] = {
            'value': [spool],
            'why': "Slurm writes a file to this folder, and Cray PMI reads from the file where each rank runs",
            'source': 'SlurmdSpoolDir in `scontrol show config`, otherwise its default in slurm.conf(5)',
            'date': survey.today,
            'evidence': 'derived',
            'bound': 'run',
        }
    if pmi.get('Open MPI') == 'pmix':
        files.update((name, dict(fact)) for name, fact in sorted(PMIX_FILES_DERIVED.items()))
        tmpfs = re.sub(
            '%[nh]', '{SLURMD_NODENAME}', survey.get_value('slurm.tmpfs', '/tmp')
        )  # slurm.conf(5)
        if tmpfs != '/tmp':  # the base entry has the default /tmp
            files['pmix_ranks']['value'] = list_rank_folders(tmpfs)
    if survey.get_value('rocm'):
        files.update(BASES['cray-rocm']['files'])
    return files


def _select_images(survey: 'Survey', facts: Dict[str, Any]) -> Dict[str, str]:
    """
    Return {approach: file name of the best image of this project for this site}.

    The dict contains only approaches with an MPI that the site's srun can start.
    """
    names = [
        name
        for name, approach in sorted(APPROACHES.items())
        if approach['container'] and can_launch_approach(approach, facts)
    ]
    kind = survey.get_value('network')['kind']
    is_arm = survey.get_value('architecture') == 'aarch64'
    chosen = {name: OPENMPI_IMAGE if name == 'openmpi' else MPICH_IMAGE for name in names}
    if is_arm:
        survey.add_missing(
            'images for aarch64',
            "the only image of this project for aarch64 is for Alps with Open MPI: install your own image with "
            "eb --try-amend=image=FILE.sif",
        )
    if is_arm or survey.uses_cxi() and survey.nvidia:  # only the image for Alps has CUDA and cxi
        chosen = {
            name: ALPS_IMAGE if name == 'openmpi' else image
            for name, image in chosen.items()
            if name == 'openmpi' or not is_arm and name != 'opensource'
        }
    elif survey.uses_cxi():
        plain, libcxi = _select_slingshot_images(survey)
        chosen.update(
            (name, libcxi if name == 'opensource' else plain) for name in names if name != 'openmpi'
        )
    elif kind not in ('Ethernet', 'Slingshot'):
        # Other approaches fail, because these images lack rdma-core or the provider of such cards.
        chosen = {
            name: image
            for name, image in chosen.items()
            if name == 'pure' or name == 'openmpi' and NETWORKS[kind]['ucx']['value']
        }
    return chosen


def _select_slingshot_images(survey: 'Survey') -> Tuple[str, str]:
    """Return two file names: the best Slingshot images without libcxi and with libcxi."""
    host = parse_release(survey.get_value('rocm') or '')
    releases = sorted(
        {name.split('-')[3] for name in IMAGES if name.startswith('osu-lumi-rocm-')},
        key=parse_release,
    )
    fitting = [
        release for release in releases if not host or parse_release(release) <= host
    ] or releases[:1]
    plain, older = (
        SLINGSHOT_IMAGE % (fitting[-1], libfabric) for libfabric in ('1.22.0', '1.15.2')
    )
    # The image's MPICH must not be built with a newer libfabric than the host's.
    limit = parse_release(survey.libraries.get('libfabric', {}).get('release') or '1.22.0')
    return (older if limit < (1, 22) and older in IMAGES else plain) + '.sif', plain + '-libcxi.sif'


def _build_job_settings(survey: 'Survey', with_gpus: bool) -> Dict[str, Any]:
    """
    Return the Slurm options with which jobs start on the site, as a fact for the site entry.

    with_gpus: whether jobs request GPUs.
    """
    rows = survey.get_value('slurm.partitions', [])
    matches = [
        (name, re.search(r'gpu(?::[\w.-]+)*?:(\d+)', gres)) for name, gres in rows if with_gpus
    ]
    partition, gpus = min(
        ((name, int(match.group(1))) for name, match in matches if match),
        key=lambda row: '*' not in row[0],
        default=(None, 0),
    )
    if rows and not partition and not any(name.endswith('*') for name, _ in rows):
        survey.add_missing(
            'a default partition',
            "jobs must name a partition: give --partition=NAME, or set the key jobs in the site file",
        )
    return {
        'value': make_jobs(
            partition and partition.rstrip('*'),
            bool(survey.get_value('slurm.account')),
            gpus,
        ),
        'source': '`sinfo -h -o %P|%G`, `scontrol show config`',
        'evidence': 'derived',
    }


def _describe_native_build(survey: 'Survey', target: str) -> Dict[str, Any]:
    """
    Return the settings for building the native benchmarks, as a fact for the site entry.

    target: architecture of the GPUs, '' if the site has no GPUs.
    """
    host, libmpi = survey.host, survey.get_value('libraries.libmpi')
    if libmpi and '/opt/cray/' in libmpi:
        return _describe_cray_build(survey, libmpi, target)
    mpicc: List[str] = (
        [
            re.sub(r'/lib(64)?(/[^/]*-linux-gnu)?/[^/]*$', '', libmpi) + '/bin/mpicc',
            host.strip_root(host.find_command('mpicc') or ''),
        ]
        if libmpi
        else []
    )
    for path in filter(None, mpicc):
        if os.access(host.add_root(path), os.X_OK):
            return {
                'value': {
                    'mpicc': path,
                    'mpicxx': re.sub(r'mpicc$', 'mpicxx', path),
                    'libmpi': libmpi,
                    'python': '/usr/bin/python3',
                },
                'source': "mpicc was found in the installation of the host's libmpi, or else on PATH",
                'evidence': 'measured',
            }
    survey.add_missing(
        'an MPI compiler',
        "the native benchmarks (module osu-native) cannot be built: load the module that "
        "provides mpicc, or install mpicc",
    )
    return BASES['plain']['native']


def _describe_cray_build(survey: 'Survey', libmpi: str, target: str) -> Dict[str, Any]:
    """Return a fact for the site entry: the settings of a native build with Cray's compilers."""
    kind = 'cuda' if target.startswith('sm_') else 'hsa'
    gtl = target and os.path.basename(survey.get_value('libraries.libmpi_gtl_' + kind, ''))
    modules = [
        name if name.startswith(('rocm/', 'cudatoolkit/')) else name.split('/')[0]
        for name in survey.get_value('modules.loaded')
        if re.match(r'PrgEnv-|craype-accel-|rocm/|cudatoolkit/', name)
    ]
    loaded = [name[len('PrgEnv-') :] for name in modules if name.startswith('PrgEnv-')]
    if not loaded:
        modules = ['PrgEnv-gnu'] + (
            ['craype-accel-' + ('nvidia' + target[3:] if kind == 'cuda' else 'amd-' + target)]
            if target
            else []
        )
        survey.add_missing(
            'a loaded programming environment',
            "discover guessed which modules a native build needs (%s): load the modules that "
            "you compile with, then run osu-container discover again" % ' '.join(modules),
        )
    build = make_native_build(loaded[0] if loaded else 'gnu', libmpi, gtl=kind if gtl else '')
    return {
        'value': dict(build, modules=modules, needed=[gtl] if gtl else []),
        'source': 'LOADEDMODULES',
        'evidence': 'derived' if loaded else 'untested',
    }


def list_approach_problems(
    survey: 'Survey', entry: Dict[str, Any], name: str
) -> List[Tuple[str, Optional[str]]]:
    """
    Return a pair (approach, problem) for each approach; problem is None if eb can install the approach.

    The functions check_approach() and select_image() make the checks that the easyblock also makes
    before the easyblock reads an image. The function _find_node_problem() makes further checks of
    this node.
    """
    site = resolve_site(name, {name: entry})
    problems: List[Tuple[str, Optional[str]]] = []
    for approach in APPROACHES:
        data = resolve_approach(approach)
        try:
            check_approach(data, site)
            problem = _find_node_problem(survey, data)
            if data['container'] and not problem:
                select_image('osu-container', data, site)
        except SettingsError as err:
            problem = re.split(r'[;.] ', str(err))[0]
        problems.append((approach, problem))
    return problems


def _find_node_problem(survey: 'Survey', approach: Dict[str, Any]) -> Optional[str]:
    """Return why this node cannot install or run an approach, None if the node can."""
    needed = survey.unresolved.get(approach['name'])
    if approach['container'] and survey.facts['runtime']['evidence'] == 'untested':
        return 'no container runtime is available: load the module that provides apptainer or singularity'
    if survey.provider_problem and 'libfabric' in approach['inject']:
        return survey.provider_problem
    return (
        'the host libraries that this approach injects need %s: install this approach only with an '
        'image that contains these needed libraries' % ', '.join(needed)
        if needed
        else None
    )


def select_easyconfig(system: Dict[str, Any]) -> Optional[str]:
    """
    Return the name of the easyconfig to install first, None if eb can install no approach.

    system: result of discover_system()
    """
    installable = [approach for approach, problem in system['approaches'] if problem is None]
    default = system['site'].get(
        'default_approach', BASES[system['site']['based_on']].get('default_approach', {})
    )
    order = [default.get('value'), 'pure', *installable]
    first = next((approach for approach in order if approach in installable), None)
    return first and ('osu-native.eb' if first == 'native' else 'osu-container-%s.eb' % first)

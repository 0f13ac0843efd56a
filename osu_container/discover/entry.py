"""
From what was found to a site (data/sites/schema.py) that installs and runs as it is.

It has what differs from the entry that it is based on: 'cray' where the network is Slingshot's,
else 'plain'. Where the system does not tell, that entry has the value with which modules start
everywhere.
"""

import os
import re
from collections import OrderedDict

from osu_container.build.recipes.images import IMAGES
from osu_container.data.approaches import APPROACHES
from osu_container.data.networks import NETWORKS
from osu_container.data.sites import BASES, SITES
from osu_container.data.sites.schema import PMIX_FILES_DERIVED, TABLES, list_rank_folders
from osu_container.data.sites.workstation import MPICH_IMAGE, OPENMPI_IMAGE
from osu_container.verdict.settings import (
    can_launch_approach,
    check_approach,
    resolve_approach,
    select_image,
)
from osu_container.verdict.site_choice import SettingsError, parse_release, resolve_site

ALPS_IMAGE = 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'
#: Image for Slingshot, by release of ROCm and libfabric; with -libcxi behind it for opensource
SLINGSHOT_IMAGE = 'osu-lumi-rocm-%s-mpich-4.2.3-libfabric-%s'


def derive_site_name(survey):
    """Return a name (str) for the site: of the cluster, else of the node without its number."""
    name = (
        survey.get_value('slurm.cluster')
        or re.sub(r'[\d.].*$', '', survey.get_value('node', ''))
        or 'here'
    )
    name = re.sub(r'[^A-Za-z0-9.-]', '-', name).strip('-.') or 'here'
    return name + '-found' if name in SITES else name


def build_site_entry(survey, name):
    """Return the entry (OrderedDict) of a site that survey (Survey) found."""
    cxi = survey.get_value('provider') == 'cxi'
    based_on = 'cray' if cxi else 'plain'
    base, made = dict(BASES['plain'], **BASES[based_on]), _EntryBuilder(survey, cxi).build_facts()
    entry = OrderedDict(
        based_on=based_on,
        title='%s, as osu-container discover found it on %s on %s'
        % (name, survey.get_value('node'), survey.today),
    )
    for key, fact in made.items():
        if key in TABLES:
            entry[key] = OrderedDict(
                (one, value)
                for one, value in fact.items()
                if value['value'] != base[key].get(one, {}).get('value')
            )
        elif fact['value'] != base.get(key, {}).get('value'):
            entry[key] = fact
    # a library of the other entry that is not here; files that are not here are skipped
    entry['libraries'].update(
        (one, None) for one in sorted(set(base['libraries']) - set(made['libraries']))
    )
    return entry


class _EntryBuilder(object):
    """Makes the facts of an entry one by one."""

    def __init__(self, survey, cxi):
        """survey: Survey; cxi: bool, the provider is that of Slingshot."""
        self.survey, self.cxi = survey, cxi

    def copy_fact(self, key, **changes):
        """Return a fact of the survey as the site data have it."""
        fact = self.survey.facts[key]
        named = ('value', 'source', 'evidence', 'opened_as', 'serves', 'folders') + (
            ('why', 'date') if fact['why'] else ()
        )
        return dict(((name, fact[name]) for name in named if name in fact), **changes)

    def build_facts(self):
        """Return the facts (OrderedDict) of the whole entry."""
        survey = self.survey
        facts = OrderedDict(
            (key, self.copy_fact(key))
            for key in (
                'runtime',
                'provider',
                'pmi',
                'library_folders',
                'conflicts',
                'wrapper_modules',
            )
            if key in survey.facts
        )
        for key, name in (('gpu', 'gpu.target'), ('gpu_driver', 'gpu.driver')):
            if name in survey.facts:
                facts[key] = self.copy_fact(name)
        if survey.get_value('network')['kind'] not in (
            'Slingshot',
            'Ethernet',
        ):  # these two follow from the provider
            facts['network'] = self.copy_fact('network')
        if self.cxi and survey.get_value('cards') and 'Open MPI' in survey.get_value('pmi'):
            facts['lnx_links'] = {
                'value': '|'.join('shm+cxi:%s' % card for card in survey.get_value('cards')),
                'source': survey.facts['cards']['source'] + '; fi_lnx(7)',
                'evidence': 'derived',
            }
        if 'gpu' in facts:
            survey.add_missing(
                'which cores and card belong to which GPU',
                "osu-gpu-bind has no table and says so; bind "
                "ranks by srun, or write gpu_binding into the file (docs/add-a-site.md)",
            )
        facts['libraries'] = OrderedDict(
            (key.split('.', 1)[1], self.copy_fact(key))
            for key in survey.facts
            if key.startswith('libraries.')
        )
        facts['one_build'] = {
            'value': [survey.get_value('rocm') + '/lib'] if survey.get_value('rocm') else [],
            'source': survey.facts.get('rocm', {}).get('source'),
            'evidence': 'derived',
        }
        facts['files'] = self.build_files()
        facts['images'] = {
            'value': self.select_images(facts),
            'source': '`osu-container image list`',
            'evidence': 'untested',
        }
        order = (['opensource', 'openmpi', 'hybrid'] if self.cxi else []) + ['pure', 'openmpi']
        facts['default_approach'] = {
            'value': next((name for name in order if name in facts['images']['value']), 'pure'),
            'source': 'docs/design.md, decision 7',
            'evidence': 'derived',
        }
        facts['jobs'] = self.build_job_settings('gpu' in facts)
        facts['native'] = self.describe_native_build(survey.get_value('gpu.target', ''))
        return facts

    def build_files(self):
        """Return what is bound under its own name."""
        survey, files, pmi = self.survey, OrderedDict(), self.survey.get_value('pmi')
        if 'files.file_systems' in survey.facts:
            files['file_systems'] = self.copy_fact('files.file_systems', bound='install')
        if pmi.get('host') == 'cray_shasta':
            spool = survey.get_value('slurm.spool', '/var/spool/slurmd')
            if '%' in spool:  # slurm.conf(5): %h and %n stand for the node's names
                spool = spool.partition('%')[0].rpartition('/')[0]
            files['slurm_spool'] = {
                'value': [spool],
                'why': "Cray PMI reads where the ranks are from a file that Slurm writes there",
                'source': 'scontrol, or default of slurm.conf(5)',
                'date': survey.today,
                'evidence': 'derived',
                'bound': 'run',
            }
        if pmi.get('Open MPI') == 'pmix':
            files.update((name, dict(fact)) for name, fact in sorted(PMIX_FILES_DERIVED.items()))
            tmpfs = re.sub(
                '%[nh]', '{SLURMD_NODENAME}', survey.get_value('slurm.tmpfs', '/tmp')
            )  # slurm.conf(5)
            if tmpfs != '/tmp':  # Slurm's default, which {tmpfs} has too
                files['pmix_ranks']['value'] = list_rank_folders(tmpfs)
        if survey.get_value('rocm'):
            files.update(BASES['cray-rocm']['files'])
        return files

    def select_images(self, facts):
        """
        Return {approach: image of this project that fits best} of those whose MPI can be
        started.
        """
        names = [
            name
            for name, approach in sorted(APPROACHES.items())
            if approach['container'] and can_launch_approach(approach, facts)
        ]
        kind, is_arm = (
            self.survey.get_value('network')['kind'],
            self.survey.get_value('architecture') == 'aarch64',
        )
        chosen = dict((name, OPENMPI_IMAGE if name == 'openmpi' else MPICH_IMAGE) for name in names)
        if is_arm:
            self.survey.add_missing(
                'images for aarch64',
                "Alps' alone is, with Open MPI: name your own, --try-amend=image=FILE.sif",
            )
        if is_arm or self.cxi and self.survey.nvidia:  # Alps' alone has CUDA and cxi
            chosen = dict(
                (name, ALPS_IMAGE if name == 'openmpi' else image)
                for name, image in chosen.items()
                if name == 'openmpi' or not is_arm and name != 'opensource'
            )
        elif self.cxi:
            plain, libcxi = self.select_slingshot_images()
            chosen.update(
                (name, libcxi if name == 'opensource' else plain)
                for name in names
                if name != 'openmpi'
            )
        elif kind not in ('Ethernet', 'Slingshot'):
            # what takes the provider of such cards, from image or host, ends without it or without
            # rdma-core
            chosen = dict(
                (name, image)
                for name, image in chosen.items()
                if name == 'pure' or name == 'openmpi' and NETWORKS[kind]['ucx']['value']
            )
        return chosen

    def select_slingshot_images(self):
        """
        Return (file name without libcxi, with libcxi) of the images for Slingshot that fit the
        host best.
        """
        host, releases = (
            parse_release(self.survey.get_value('rocm') or ''),
            sorted(
                set(name.split('-')[3] for name in IMAGES if name.startswith('osu-lumi-rocm-')),
                key=parse_release,
            ),
        )
        fitting = [one for one in releases if not host or parse_release(one) <= host] or releases[
            :1
        ]
        plain, older = (
            SLINGSHOT_IMAGE % (fitting[-1], libfabric) for libfabric in ('1.22.0', '1.15.2')
        )
        # the MPICH must be built with a libfabric that is not newer than the host's
        limit = parse_release(self.survey.libraries.get('libfabric', {}).get('release') or '1.22.0')
        return (
            older if limit < (1, 22) and older in IMAGES else plain
        ) + '.sif', plain + '-libcxi.sif'

    def build_job_settings(self, with_gpus):
        """Return how a job is asked for; with_gpus: bool, the site has some."""
        rows = self.survey.get_value('slurm.partitions', [])
        found = [
            (name, re.search(r'gpu(?::[\w.-]+)*?:(\d+)', gres)) for name, gres in rows if with_gpus
        ]
        found = sorted(
            ((name, match.group(1)) for name, match in found if match),
            key=lambda row: '*' not in row[0],
        )
        partition, gpus = found[0] if found else (None, None)
        if rows and not partition and not any(name.endswith('*') for name, _ in rows):
            self.survey.add_missing(
                'a default partition', "name one for jobs: --partition=..., or jobs in the file"
            )
        step = ['--gpus-per-node=' + gpus] if gpus else []
        return {
            'value': {
                'partition': partition and partition.rstrip('*'),
                'step': step,
                'account': bool(self.survey.get_value('slurm.account')),
                'options': ['--exclusive'] + step,
            },
            'source': '`sinfo -h -o %P|%G`, `scontrol show config`',
            'evidence': 'derived',
        }

    def describe_native_build(self, target):
        """Return what a native build uses; target: architecture of the GPUs, '' without."""
        survey, host, libmpi = (
            self.survey,
            self.survey.host,
            self.survey.get_value('libraries.libmpi'),
        )
        if libmpi and '/opt/cray/' in libmpi:
            return self.describe_cray_build(libmpi, target)
        mpicc = (
            [
                libmpi.rpartition('/lib')[0] + '/bin/mpicc',
                host.strip_root(host.find_command('mpicc') or ''),
            ]
            if libmpi
            else []
        )
        for path in filter(None, mpicc):
            if os.access(host.add_root(path), os.X_OK):
                return {
                    'value': OrderedDict(
                        [
                            ('mpicc', path),
                            ('mpicxx', re.sub(r'mpicc$', 'mpicxx', path)),
                            ('libmpi', libmpi),
                            ('python', '/usr/bin/python3'),
                        ]
                    ),
                    'source': 'mpicc beside the libmpi, or on PATH',
                    'evidence': 'measured',
                }
        survey.add_missing(
            'an MPI compiler',
            "osu-native cannot be built: install or load the MPI's compiler commands",
        )
        return BASES['plain']['native']

    def describe_cray_build(self, libmpi, target):
        """
        Return the fact of Cray's compiler drivers with the loaded modules; libmpi: path (str),
        target: as above.
        """
        survey, cuda = self.survey, target.startswith('sm_')
        gtl = 'libraries.libmpi_gtl_' + ('cuda' if cuda else 'hsa')
        gtl = os.path.basename(survey.get_value(gtl, '')) if target else ''
        modules = [
            name if name.startswith(('rocm/', 'cudatoolkit/')) else name.split('/')[0]
            for name in survey.get_value('modules.loaded')
            if re.match(r'PrgEnv-|craype-accel-|rocm/|cudatoolkit/', name)
        ]
        loaded = [name[len('PrgEnv-') :] for name in modules if name.startswith('PrgEnv-')]
        if not loaded:
            modules = ['PrgEnv-gnu'] + (
                ['craype-accel-' + ('nvidia' + target[3:] if cuda else 'amd-' + target)]
                if target
                else []
            )
            survey.add_missing(
                'a loaded programming environment',
                "the modules of the native build are a guess (%s): load "
                "yours and look again" % ' '.join(modules),
            )
        with_gpu = (
            '--enable-cuda --with-cuda=$CUDA_HOME '
            if cuda
            else '--enable-rocm --with-rocm=$ROCM_PATH '
        )
        rpath = '-Wl,-rpath,$CRAY_MPICH_DIR/lib' + (
            ' -Wl,-rpath,$CRAY_MPICH_ROOTDIR/gtl/lib' if gtl else ''
        )
        return {
            'value': OrderedDict(
                [
                    ('mpicc', 'cc'),
                    ('mpicxx', 'CC'),
                    ('libmpi', libmpi),
                    ('python', '/usr/bin/python3'),
                    ('prgenv', loaded[0] if loaded else 'gnu'),
                    ('modules', modules),
                    ('plugin', None),
                    ('configopts', (with_gpu if gtl else '') + 'LDFLAGS="%s"' % rpath),
                    ('needed', [gtl] if gtl else []),
                ]
            ),
            'source': 'LOADEDMODULES',
            'evidence': 'derived' if loaded else 'untested',
        }


def list_approach_problems(survey, entry, name):
    """
    Return [(approach, None or why it cannot be installed)] on a site (dict) that survey (Survey)
    found.

    What eb asks before it looks at an image decides (check_approach(), select_image()), so that the
    two agree; then what this node shows beyond the site.
    """
    site, found = resolve_site(name, {name: entry}), []
    for approach in APPROACHES:
        data = resolve_approach(approach)
        try:
            check_approach(data, site)
            why = _find_node_problem(survey, data)
            if data['container'] and not why:
                select_image('osu-container', data, site)
        except SettingsError as err:
            why = re.split(r'[;.] ', str(err))[0]
        found.append((approach, why))
    return found


def _find_node_problem(survey, approach):
    """
    Return why an approach (dict) cannot be installed or run with what this node has (str), None
    if it can.
    """
    needed = survey.unresolved.get(approach['name'])
    if approach['container'] and survey.facts['runtime']['evidence'] == 'untested':
        return 'no container runtime answers here: load its module, or install it'
    if survey.provider_problem and 'libfabric' in approach['inject']:
        return survey.provider_problem
    return (
        'only with an image that has %s, which the injected libraries need' % ', '.join(needed)
        if needed
        else None
    )


def select_easyconfig(found):
    """
    Return the easyconfig (str) to install from what was found (dict, see cli.found_now): eb
    takes it; else None.
    """
    can = [approach for approach, why in found['approaches'] if why is None]
    wanted = found['site'].get(
        'default_approach', BASES[found['site']['based_on']].get('default_approach', {})
    )
    first = [approach for approach in [wanted.get('value'), 'pure'] + can if approach in can]
    return (
        None
        if not first
        else 'osu-native.eb'
        if first[0] == 'native'
        else 'osu-container-%s.eb' % first[0]
    )

"""
From what was found to a site: every key of a site (core/data/sites/__init__.py), so that it installs and runs as it is.

Where the system does not tell, the value is the one with which modules start everywhere, and says that it is a guess.
"""
import os
import re
from collections import OrderedDict

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.launchers import LAUNCHERS
from osu_container.core.data.networks import NETWORKS
from osu_container.core.data.sites import SITES
from osu_container.core.data.sites.schema import PMIX_FILES_DERIVED, rank_folders
from osu_container.core.deciding.settings import approach_entry, check_approach, image_of, runs_on
from osu_container.core.deciding.site_choice import SettingsError, release, site_entry
from osu_container.recipes.images import IMAGES

#: On any x86_64 machine: what `make demo` builds
ANY_MACHINE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
ANY_OPENMPI = 'osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif'
ALPS = 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'
#: Images for Slingshot, by release of ROCm and libfabric, with libcxi or without
SLINGSHOT_IMAGE = re.compile(r'(osu-lumi-rocm-([\d.]+)-mpich-4\.2\.3-libfabric-([\d.]+\d)(-libcxi)?)$')
PMI_VARIABLES = {kind: told for kind, (_, told) in LAUNCHERS['srun']['pmi'].items()}
KEYS = ('value', 'why', 'source', 'date', 'evidence')


def name_for(survey):
    """Return a name (str) for the site: of the cluster, else of the node without its number."""
    name = survey.value('slurm.cluster') or re.sub(r'[\d.].*$', '', survey.value('node', '')) or 'here'
    name = re.sub(r'[^A-Za-z0-9.-]', '-', name).strip('-.') or 'here'
    return name + '-found' if name in SITES else name


def site_of(survey, name):
    """Return the whole entry (OrderedDict) of a site that survey (Survey) found, without its name."""
    return _Entry(survey).site(name)


def slingshot_recipes():
    """Return the matches (list) of SLINGSHOT_IMAGE for the images with names, by name."""
    return [match for match in map(SLINGSHOT_IMAGE.match, sorted(IMAGES)) if match]


class _Entry(object):
    """Makes the facts of an entry one by one."""

    def __init__(self, survey):
        self.survey = survey

    def found(self, key, **changes):
        """Return a fact of the survey as the site data have it."""
        fact = self.survey.facts[key]
        more = dict((name, fact[name]) for name in ('opened_as', 'serves', 'folders') if name in fact)
        source = fact['source'] + (' (%s)' % fact['note'] if fact['note'] and key.startswith('libraries.') else '')
        return dict([(name, fact[name]) for name in KEYS], source=source, **dict(more, **changes))

    def fact(self, value, why, source, evidence):
        """Return a fact that follows from others, or a guess."""
        return OrderedDict([('value', value), ('why', why), ('source', source), ('date', self.survey.today),
                            ('evidence', evidence)])

    def site(self, name):
        """Return the entry."""
        survey = self.survey
        cxi = survey.value('provider') == 'cxi'
        where = ', below a folder that stands in for the system' if survey.host.root else ''
        entry = OrderedDict()
        entry['title'] = '%s, as osu-container discover found it on %s on %s%s' % (
            name, survey.value('node', 'this node'), survey.today, where)
        entry['recognised_by'] = self.fact({}, "chosen by the file that this entry is in, not by host names",
                                           'osu-container discover', 'measured')
        entry['default_approach'] = None  # follows from the images; the order of the keys stays
        entry['runtime'] = self.found('runtime')
        entry['provider'] = self.found('provider')
        if survey.value('network')['kind'] not in ('Slingshot', 'Ethernet'):  # these two follow from the provider
            entry['network'] = self.found('network')
        entry['pmi'] = self.found('pmi')
        kinds = sorted(set(entry['pmi']['value'].values()))
        entry['pmi_variables'] = self.fact(
            dict((kind, PMI_VARIABLES[kind]) for kind in kinds), "what Slurm's plugin puts into the environment of "
            "every rank; its absence shows a wrong --mpi= early",
            'steps of Slurm 22.05 on a workstation with each kind', 'derived')
        cards = survey.value('cards')
        if cxi and cards and 'Open MPI' in entry['pmi']['value']:
            entry['lnx_links'] = self.fact(
                '|'.join('shm+cxi:%s' % card for card in cards), "what LINKx links: shared memory within a node, each "
                "card between nodes", survey.facts['cards']['source'] + '; fi_lnx(7)', 'derived')
        entry['gpu'] = self.gpu()
        if 'gpu.driver' in survey.facts:
            entry['gpu_driver'] = self.found('gpu.driver')
        entry['gpu_binding'] = self.fact(None, "there is no GPU to bind ranks to", 'gpu is None', 'derived')
        if entry['gpu']['value']:
            entry['gpu_binding'] = self.fact(
                None, "which cores and card are next to which GPU is not found out, so osu-gpu-bind has no table",
                "write it as docs/add-a-site.md says", 'untested')
            survey.lacks('which cores and card belong to which GPU', 'not asked: sysfs tells whole NUMA nodes only',
                         "osu-gpu-bind has no table and says so; bind ranks by srun, or write gpu_binding into the "
                         "file")
        entry['libraries'] = OrderedDict(
            (key.split('.', 1)[1], self.found(key)) for key in survey.facts if key.startswith('libraries.'))
        entry['library_folders'] = self.found('library_folders')
        rocm = survey.value('rocm')
        entry['one_build'] = self.fact(
            [rocm + '/lib'] if rocm else [], "ROCm's libraries fit each other, not those of another release" if rocm
            else "no ROCm was found, whose libraries would fit each other only",
            survey.facts['rocm']['source'] if rocm else '/opt/rocm-*', 'derived')
        entry['files'] = self.files(cxi, entry)
        for key, why in (('conflicts', "modules that set SINGULARITY_BIND themselves"),
                         ('wrapper_modules', "modules that may have wrap-container")):
            entry[key] = self.found(key) if key in survey.facts else self.fact(
                [], why + ": none is known", 'Lmod was not there to be asked', 'untested')
        entry['variables'] = self.variables(cxi, entry)
        entry['images'] = self.images(cxi, entry)
        entry['default_approach'] = self.default_approach(cxi, entry)
        entry['image_folders'] = self.fact([], "no folder with images for all is known", 'a guess', 'untested')
        entry['image_help'] = self.fact('docs/images.md', "how images are built and copied", 'docs/images.md',
                                        'derived')
        entry['jobs'] = self.jobs(entry)
        entry['native'] = self.native(entry)
        return entry

    def default_approach(self, cxi, entry):
        """What takes least from the host, of the approaches that have an image."""
        order = ['opensource', 'openmpi', 'hybrid'] if cxi else []
        images = entry['images']['value']
        chosen = next((name for name in order + ['pure', 'openmpi'] if name in images), 'pure')
        why = "the only one whose MPI srun can start here" if chosen == 'openmpi' and not cxi else (
            "no image of this project reaches another network than pure does" if chosen == 'pure' else
            "takes as little from the host as the images allow: an update could change it")
        return self.fact(chosen, why, 'docs/design.md, decision 7', 'derived')

    def gpu(self):
        """The GPUs of AMD or NVIDIA."""
        if 'gpu.target' in self.survey.facts:
            return self.found('gpu.target')
        return self.fact(None, "no GPU was seen, and no module for one is loaded",
                         '/sys/class/kfd, CRAY_ACCEL_TARGET, /proc/driver/nvidia, nvidia-smi', 'derived')

    def files(self, cxi, entry):
        """What is bound under its own name."""
        survey, files = self.survey, OrderedDict()
        if 'files.file_systems' in survey.facts:
            files['file_systems'] = self.found('files.file_systems', bound='install')
        spool = survey.value('slurm.spool')
        if entry['pmi']['value'].get('host') == 'cray_shasta':
            if spool and '%' in spool:  # slurm.conf(5): %h and %n stand for the node's names
                spool = spool.partition('%')[0].rpartition('/')[0]
            files['slurm_spool'] = dict(self.fact(
                [spool or '/var/spool/slurmd'], "Cray PMI reads where the ranks are from a file that Slurm writes "
                "there", survey.facts['slurm.spool']['source'] if spool else 'default of slurm.conf(5)',
                'measured' if spool else 'untested'), bound='run')
        if entry['pmi']['value'].get('Open MPI') == 'pmix':
            files.update(self.pmix_files())
        if cxi:
            seen = 'files.cxi_state' in survey.facts
            files['cxi_state'] = dict(self.fact(
                ['/run/cxi'], "state of the cards for libcxi; skipped on nodes without it",
                '/run/cxi is here' if seen else 'as on LUMI', 'measured' if seen else 'untested'), bound='run')
        if survey.value('rocm'):
            seen = 'files.libdrm_ids' in survey.facts
            files['libdrm_ids'] = dict(self.fact(
                ['/usr/share/libdrm/amdgpu.ids'], "libdrm of the host's ROCm reads the names of the GPUs there",
                'is here' if seen else 'as on LUMI', 'measured' if seen else 'untested'), bound='run')
        if cxi and survey.amd:
            files['kernel_config'] = dict(self.fact(
                ['/boot/config-{kernel}'], "libfabric looks there whether the kernel can share GPU memory with the "
                "card", 'ofiwg/libfabric src/hmem_rocr.c', 'derived'), bound='run',
                otherwise={'FI_HMEM_ROCR_USE_DMABUF': '0'})
        return files

    def pmix_files(self):
        """What Slurm's PMIx leaves for the ranks of a step; TmpFS may be another on nodes that look otherwise."""
        tmpfs = self.survey.value('slurm.tmpfs')
        files = OrderedDict((name, dict(PMIX_FILES_DERIVED[name])) for name in sorted(PMIX_FILES_DERIVED))
        if tmpfs and tmpfs != '/tmp':  # Slurm's default, which {tmpfs} has too
            for text in ('%n', '%h'):  # slurm.conf(5): names of the node
                tmpfs = tmpfs.replace(text, '{SLURMD_NODENAME}')
            files['pmix_ranks'].update(self.fact(
                rank_folders(tmpfs), PMIX_FILES_DERIVED['pmix_ranks']['why'],
                'TmpFS of ' + self.survey.facts['slurm.tmpfs']['source'] + '; ' + files['pmix_ranks']['source'],
                'derived'))
        return files

    def variables(self, cxi, entry):
        """Variables for every approach."""
        found = [dict(self.fact('ofi', "an MPICH may have the netmods ofi and ucx; every approach here is made of "
                                "libfabric", 'MPICH documents the CVAR; the PyPI wheels have both', 'derived'),
                      name='MPIR_CVAR_CH4_NETMOD', only=['mpich >= 3.4', 'no ucx'])]
        hsn = [name for name in self.survey.value('interfaces', []) if name.startswith('hsn')]
        if entry['gpu']['value'] and hsn:
            found.append(dict(self.fact(','.join(hsn), "RCCL meets and, without a plugin, sends over these interfaces; "
                                        "other ones are slow or lead nowhere", '/sys/class/net', 'derived'),
                              name='NCCL_SOCKET_IFNAME', only=['gpu']))
        if cxi and not entry['gpu']['value']:  # images for Slingshot have ROCm
            found.append(dict(self.fact('0', "no GPU that is used, and an MPICH built with HIP would look for one",
                                        'MPICH documents the CVAR', 'untested'),
                              name='MPIR_CVAR_ENABLE_GPU', only=['no gpu', 'mpich >= 3.4']))
        return found

    def images(self, cxi, entry):
        """By approach the image of this project that fits best."""
        runnable = [name for name in sorted(APPROACHES) if APPROACHES[name]['container']
                    and runs_on(APPROACHES[name], entry)]
        source, evidence = '`osu-container image list`', 'derived'
        if self.survey.value('architecture') == 'aarch64':
            value = dict((name, ALPS) for name in runnable if name == 'openmpi')
            why = "of the images here only Alps' is for aarch64, and it has Open MPI: give your own, --try-amend=image="
            evidence = 'untested'
            self.survey.lacks('images for aarch64', source, "name your own: --try-amend=image=FILE.sif")
        elif cxi and self.survey.nvidia:
            value = dict((name, ALPS if name == 'openmpi' else ANY_MACHINE) for name in runnable
                         if name != 'opensource')
            why = ("of the images here only Alps' has CUDA and cxi, with Open MPI: build it on x86_64. MPICH is there "
                   "without CUDA, for host memory, and not with libcxi, so opensource has no image")
            evidence = 'untested'
        elif cxi:
            plain, libcxi, rocm = self.slingshot_images()
            value = dict((name, libcxi if name == 'opensource' else ANY_OPENMPI if name == 'openmpi' else plain)
                         for name in runnable)
            why = ("images made for LUMI, with the ROCm nearest to this system's (%s) and an MPICH built with a "
                   "libfabric that is not newer than the host's; opensource with libcxi" % rocm)
            evidence = 'untested'
        elif self.survey.value('network')['kind'] not in ('Ethernet', 'Slingshot'):  # without cxi: TCP, by any image
            # what takes the provider of such cards, from image or host, ends without it or without rdma-core
            ucx = NETWORKS[self.survey.value('network')['kind']]['ucx']['value']
            value = dict((name, image) for name, image in (('pure', ANY_MACHINE), ('openmpi', ANY_OPENMPI))
                         if name in runnable and (name == 'pure' or ucx))
            why = ("no image of this project has rdma-core, or a provider for these cards: with those here messages go "
                   "over TCP, slowly, and the other approaches need an image of yours, --try-amend=image=")
        else:
            value = dict((name, ANY_OPENMPI if name == 'openmpi' else ANY_MACHINE) for name in runnable)
            why = "runs on any x86_64 machine; it has neither libcxi nor ROCm. `osu-container image list` has others"
        return self.fact(value, why, source, evidence)

    def slingshot_images(self):
        """Return (file name without libcxi, with libcxi, release of ROCm) of the images for Slingshot."""
        found = slingshot_recipes()
        rocm = self.nearest_rocm(set(match.group(2) for match in found))
        found = sorted((match for match in found if match.group(2) == rocm), key=lambda match: release(match.group(3)))
        limit = release(self.survey.libraries.get('libfabric', {}).get('release') or '') or (1, 22, 0)
        plain = [match for match in found if not match.group(4)]
        older = [match for match in plain if release(match.group(3)) <= limit]
        libcxi = [match for match in found if match.group(4)]
        # the MPICH of the published runs over the libfabric that LUMI has
        best = [match for match in libcxi if match.group(3) == '1.22.0'] or libcxi
        return (older or plain)[-1].group(1) + '.sif', best[0].group(1) + '.sif', rocm

    def nearest_rocm(self, releases):
        """Return the newest of releases (set of str) that is not newer than the host's ROCm, else the oldest."""
        host, ordered = release(self.survey.value('rocm') or ''), sorted(releases, key=release)
        fitting = [rocm for rocm in ordered if not host or release(rocm) <= host]  # without ROCm it does not matter
        return fitting[-1] if fitting else ordered[0]

    def jobs(self, entry):
        """How a job is asked for."""
        rows = self.survey.value('slurm.partitions', [])
        default = [name.rstrip('*') for name, _ in rows if name.endswith('*')]
        partition, gpus = None, None
        if entry['gpu']['value']:
            with_gpus = [(name, re.search(r'gpu(?::[\w.-]+)*?:(\d+)', gres)) for name, gres in rows]
            with_gpus = [(name, match.group(1)) for name, match in with_gpus if match]
            best = [pair for pair in with_gpus if pair[0].endswith('*')] or with_gpus
            if best:
                partition, gpus = best[0][0].rstrip('*'), best[0][1]
        if rows and not partition and not default:
            self.survey.lacks('a default partition', '`sinfo`: ' + ', '.join(name for name, _ in rows),
                              "name one for jobs: --partition=..., or jobs in the file")
        options = ['--gpus-per-node=' + gpus] if gpus else []
        return self.fact(
            {'partition': partition, 'account': bool(self.survey.value('slurm.account', False)),
             'options': ['--exclusive'] + options, 'step': options},
            "whole nodes, so that nothing else is on the card; without a partition Slurm takes its default",
            '`sinfo -h -o %P|%G`, `scontrol show config`' if rows else 'a guess: Slurm was not there to be asked',
            'derived' if rows else 'untested')

    def native(self, entry):
        """What a native build uses: the vendor's drivers and modules, or an mpicc."""
        libmpi = self.survey.value('libraries.libmpi')
        if libmpi and self.survey.cray and '/opt/cray/' in libmpi:
            return self.native_of_cray(libmpi, entry['gpu']['value'] or '')
        return self.native_by_mpicc(libmpi)

    def native_of_cray(self, libmpi, target):
        """Cray's compiler drivers with the loaded modules; libmpi: path (str), target: of the GPUs, '' without."""
        survey, environment = self.survey, self.survey.host.variable('PE_ENV').lower()
        loaded = survey.value('modules.loaded', [])
        cuda = target.startswith('sm_')
        gtl = os.path.basename(survey.value('libraries.libmpi_gtl_%s' % ('cuda' if cuda else 'hsa'), '')
                               if target else '')
        modules = [name if name.startswith(('rocm/', 'cudatoolkit/')) else name.split('/')[0] for name in loaded
                   if re.match(r'PrgEnv-|craype-accel-|rocm/|cudatoolkit/', name)]
        if not any(name.startswith('PrgEnv-') for name in modules):
            environment, modules = 'gnu', self.guessed_modules(target)
            survey.lacks('a loaded programming environment', 'LOADEDMODULES: no PrgEnv-...', "the modules of the "
                         "native build are a guess (%s): load yours and look again" % ' '.join(modules))
        with_gpu = '--enable-cuda --with-cuda=$CUDA_HOME ' if cuda else '--enable-rocm --with-rocm=$ROCM_PATH '
        rpath = '-Wl,-rpath,$CRAY_MPICH_DIR/lib' + (' -Wl,-rpath,$CRAY_MPICH_ROOTDIR/gtl/lib' if gtl else '')
        return self.fact(
            OrderedDict([('mpicc', 'cc'), ('mpicxx', 'CC'), ('libmpi', libmpi), ('python', '/usr/bin/python3'),
                         ('prgenv', environment or 'gnu'), ('modules', modules), ('plugin', None),
                         ('configopts', (with_gpu if gtl else '') + 'LDFLAGS="%s"' % rpath),
                         ('needed', [gtl] if gtl else [])]),
            "Cray's compiler drivers take MPI from the loaded modules", 'LOADEDMODULES, PE_ENV',
            'derived' if environment and loaded else 'untested')

    def guessed_modules(self, target):
        """Return the modules (list of str) of a native build where none is loaded; target: of the GPUs, '' without."""
        if not target:
            return ['PrgEnv-gnu']
        gpu = 'nvidia' + target[len('sm_'):] if target.startswith('sm_') else 'amd-' + target
        rocm = os.path.basename(self.survey.value('rocm') or '').replace('rocm-', 'rocm/')
        available = self.survey.value('modules.available', [])
        return ['PrgEnv-gnu', 'craype-accel-' + gpu] + ([rocm] if rocm in available else [])

    def native_by_mpicc(self, libmpi):
        """The mpicc beside libmpi (path or None) or on PATH."""
        survey, host, found = self.survey, self.survey.host, []
        if libmpi:
            found.append((os.path.dirname(os.path.dirname(libmpi)) + '/bin/mpicc', 'bin/mpicc beside the libmpi'))
            on_path = host.find('mpicc')
            found += [(host.inside(on_path), 'mpicc on PATH')] if on_path else []
        for path, source in found:
            if os.access(host.at(path), os.X_OK):
                return self.fact(OrderedDict([
                    ('mpicc', path), ('mpicxx', re.sub(r'mpicc$', 'mpicxx', path)), ('libmpi', libmpi),
                    ('python', '/usr/bin/python3')]), "programs are built with the MPI that bind injects", source,
                    'measured')
        survey.lacks('an MPI compiler', 'mpicc beside libmpi and on PATH', "osu-native cannot be built: install or "
                     "load the MPI's compiler commands")
        return self.fact(None, "no MPI compiler was found, so osu-native cannot be built",
                         'mpicc beside libmpi and on PATH', 'measured')


def approaches_of(survey, entry, name):
    """
    Return [(approach, None or why it cannot be installed)] on a site (dict) that survey (Survey) found.

    What eb asks before it looks at an image decides (check_approach(), image_of()), so that the two agree; then what
    this node shows beyond the site.
    """
    site, found = site_entry(name, {name: entry}), []
    for approach in APPROACHES:
        data = approach_entry(approach)
        try:
            check_approach(data, site)
            why = _by_node(survey, data)
            if data['container'] and not why:
                image_of('osu-container', data, site)
        except SettingsError as err:
            why = _refused(data, site, err)
        found.append((approach, why))
    return found


def _refused(approach, site, error):
    """Return why eb refuses an approach on a site (dicts) in a few words; error: SettingsError, what it says."""
    lacking = [name for name in approach['inject'] if name not in site['libraries']]
    if lacking:
        return "the host's %s was not found" % ' and '.join(lacking)
    if not approach['container'] and 'libmpi' not in site['libraries']:
        return "the host's libmpi was not found"
    if not site['pmi']['value']:
        return 'nothing shows how ranks find each other (pmi)'
    if not runs_on(approach, site):
        return 'srun has no --mpi= for the MPI that it runs (%s)' % approach['mpi']
    if not approach['container']:
        return 'no MPI compiler was found'
    if approach['name'] not in site['images']['value']:
        return 'only with an image of yours: --try-amend=image=FILE.sif'
    return str(error)


def _by_node(survey, approach):
    """Return why an approach (dict) cannot be installed or run with what this node has (str), None if it can."""
    if approach['container'] and survey.facts['runtime']['evidence'] == 'untested':
        return 'no container runtime answers here: load its module, or install it'
    if survey.no_provider and 'libfabric' in approach['inject']:
        return survey.no_provider
    needed = survey.unresolved.get(approach['name'])
    if needed:
        return 'only with an image that has %s, which the injected libraries need' % ', '.join(needed)
    return None


def easyconfig_of(found):
    """Return the easyconfig (str) to install from what was found (dict, see cli.found_now): eb takes it; else None."""
    can = [approach for approach, why in found['approaches'] if why is None]
    wanted = found['site']['default_approach']['value']
    first = [approach for approach in [wanted, 'pure'] + can if approach in can]
    return None if not first else 'osu-native.eb' if first[0] == 'native' else 'osu-container-%s.eb' % first[0]

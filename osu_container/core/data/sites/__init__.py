"""
Sites: one entry for one system with one software stack. Data only.

Every fact is a dict: value; why (what it is for); source (how it was found, so that it can be found again);
date (when that was seen or read, ISO 8601); evidence: 'measured' (seen on such a system, by whom the source says),
'derived' (follows from a rule, which why names), 'untested'.

Keys of a site
    based_on           str, optional: the entry that has the facts which are not named here. 'libraries' and 'files' are
                       completed name by name, every other key replaces that of the other entry
    title              str, what the site is
    recognised_by      dict: hostnames (list of regular expressions, one must match) and environment (dict of variable
                       -> regular expression, all must match; an unset variable counts as empty)
    default_approach   which approach `module load osu-container` takes
    runtime            commands of the container runtime, the first one on PATH is used
    provider           libfabric provider of the fast network; on a machine without one, the best there is
    pmi                the --mpi= of srun, by whose MPI of the MPICH ABI runs ('image', 'host') and for 'Open MPI'; what
                       is not named cannot run there
    pmi_variables      by --mpi=: the variable that this PMI puts into the environment of every rank
    gpu                architecture of the GPUs, None without
    gpu_userland       optional: [oldest, newest] release of ROCm in an image that the GPUs' driver works with
    gpu_binding        None, or by GPU a dict: gcd (int), mask (str, cores), nic (str, name of the card)
    libraries          host libraries that an approach may inject: name -> path on the host, None where it is not there;
                       opened_as: other names (str) by which libraries open it themselves (dlopen), e.g. Cray MPICH and
                       libfabric the ones of ROCm without a version
    library_folders    folders that the host's ld.so searches by default, for the dependencies of those libraries
    one_build          folders whose libraries are one build: if one comes from the host, so do those that it needs
    files              name -> paths that an approach may bind under their own names where they exist: bound 'install'
                       (looked for when the module is made), 'run' (on the node that runs the program; {kernel} is its
                       kernel's release) or 'step' (as 'run', and never below --sysroot: {NAME} is the rank's variable
                       NAME, {tmpfs} Slurm's TmpFS; where one is not set, nothing is bound); otherwise: variables to set
                       where the path is not there
    lnx_links          optional: what libfabric's provider lnx (LINKx) links, as in FI_LNX_PROV_LINKS; without it the
                       switch OSU_LINKX is refused
    conflicts          modules that cannot be loaded beside these
    variables          variables for every approach (see core/data/approaches.py for the keys)
    images             by approach: file name of the SIF, as it lies in EasyBuild's source path
    image_folders      folders with images that a module falls back to when its own copy was deleted
    image_help         where to read how a machine like this comes by an image
    jobs               how a job is asked for: partition (str or None), account (bool, one must be named), options (list
                       of str, for salloc and sbatch), step (list of str, for srun)
    native             what a native build uses: mpicc, mpicxx (path on the host, or a command that the modules bring),
                       libmpi, python; optional: prgenv ('amd' or 'gnu', of Cray's programming environment), modules,
                       plugin (name and version of an easyconfig, RCCL's), configopts, needed (sonames that programs
                       must need)
    wrapper_modules    modules that may have wrap-container (easyconfig parameter wrapper)
    architecture       optional: of the processors, as uname -m says it; without it x86_64
    engine             optional: a container engine of the system that is no runtime of modules, for which a file is
                       rendered from the same settings ('podman-hpc', 'container-engine')

Host paths are written as on the real system. EasyBuild's --sysroot (or ROOT in a local file, see mpicontainer.py) is
put in front of them, so that a folder with the same tree stands in for the system.
"""
from osu_container.core.data.sites.alps import STACKS as ALPS
from osu_container.core.data.sites.cray import BASES as CRAY
from osu_container.core.data.sites.frontier import STACKS as FRONTIER
from osu_container.core.data.sites.lumi import BASES as LUMI
from osu_container.core.data.sites.lumi import STACKS as LUMI_STACKS
from osu_container.core.data.sites.perlmutter import STACKS as PERLMUTTER
from osu_container.core.data.sites.pmix import PMIX_FILES
from osu_container.core.data.sites.setonix import STACKS as SETONIX

_NOT_HERE = {
    'why': 'an ordinary Linux machine has none',
    'source': 'docs/workstation.md',
    'date': '2026-11-21',
    'evidence': 'measured',
}

#: Entries that no machine is, for based_on.
BASES = dict(dict(LUMI, **CRAY), plain={
    'gpu': dict(_NOT_HERE, value=None),
    'gpu_binding': dict(_NOT_HERE, value=None),
    'one_build': dict(_NOT_HERE, value=[]),
    'files': {},
    'conflicts': dict(_NOT_HERE, value=[]),
    'image_folders': dict(_NOT_HERE, value=[]),
    'wrapper_modules': dict(_NOT_HERE, value=[]),
})

WORKSTATION_WHEEL = 'unpacked PyPI wheel of mpich 5.0.2, which bundles libfabric 2.5.1 (workstation/host_mpi.sh)'

_SYSTEMS = {}
for _stacks in (LUMI_STACKS, FRONTIER, SETONIX, PERLMUTTER, ALPS):
    _SYSTEMS.update(_stacks)

SITES = dict(_SYSTEMS, **{
    'workstation': {
        'based_on': 'plain',
        'title': 'a Linux machine with the host MPI and the two-node Slurm that `make demo` sets up',
        'recognised_by': {
            'value': {},
            'why': 'any machine can be the workstation: it is recognised by the local file that the set-up writes',
            'source': 'workstation/host_mpi.sh',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'default_approach': {
            'value': 'pure',
            'why': 'there is no Slingshot network that opensource could reach',
            'source': 'docs/design.md, decision 7',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'runtime': {
            'value': ['apptainer', 'singularity'],
            'why': 'either runs the modules; Apptainer is what the set-up installs',
            'source': 'workstation/prerequisites.sh',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'provider': {
            'value': 'tcp',
            'why': 'the machine has no high-speed network; tcp is in every libfabric build',
            'source': 'fi_tcp(7); ran on Debian 12 with libfabric 1.22.0 and 2.5.1, 2026-11-21',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'pmi': {
            'value': {'image': 'pmi2', 'host': 'pmi2', 'Open MPI': 'pmix'},
            'why': 'MPICH wheels and Intel MPI speak PMI-2, Open MPI 5 speaks PMIx; without it each rank is alone',
            'source': 'srun --mpi=list of slurm-wlm 22.05; ran with MPICH 4.2.3 and 5.0.2, Intel MPI 2021.19.0 and '
                      'Open MPI 5.0.11, 2026-11-21',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'pmi_variables': {
            'value': {'pmi2': 'PMI_FD', 'pmix': 'PMIX_RANK'},
            'why': 'Slurm\'s plugins tell every rank its socket (PMI_FD) or number (PMIX_RANK); the absence shows a '
                   'wrong --mpi= early',
            'source': 'environment of steps started with srun --mpi=pmi2 and --mpi=pmix, Slurm 22.05, 2026-11-21',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'libraries': {
            'libmpi': {
                'value': '/opt/mpich/5.0.2/lib/libmpi.so.12',
                'why': 'the host\'s MPI, the part that Cray MPICH\'s lib-abi-mpich has on LUMI',
                'source': WORKSTATION_WHEEL,
                'date': '2026-11-21',
                'evidence': 'measured',
            },
            'libmpi_abi': {
                'value': '/opt/mpich/5.0.2/lib/libmpi_abi.so.1',
                'why': 'the host\'s MPI under the soname of MPI 5\'s standard ABI, for programs linked with that',
                'source': WORKSTATION_WHEEL,
                'date': '2026-11-21',
                'evidence': 'measured',
            },
            'libfabric': {
                'value': '/opt/mpich/5.0.2/lib/mpich/libfabric.so.1',
                'why': 'the host\'s network library, the part that /opt/cray/libfabric has on LUMI',
                'source': WORKSTATION_WHEEL,
                'date': '2026-11-21',
                'evidence': 'measured',
            },
        },
        'library_folders': {
            'value': ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu',
                      '/usr/lib/aarch64-linux-gnu', '/lib64', '/usr/lib64', '/lib', '/usr/lib'],
            'why': 'Debian\'s multiarch folders, then those of distributions without multiarch',
            'source': 'ld.so(8); /etc/ld.so.conf.d of Debian 12',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'files': PMIX_FILES,
        'lnx_links': {
            'value': 'shm',
            'why': 'shared memory alone: the two nodes of the private Slurm are one machine. With shm+tcp, the usual '
                   'form, Open MPI 5.0.11 over libfabric 2.5.1 ends in "double free or corruption"',
            'source': 'osu_latency with FI_LNX_PROV_LINKS=shm and shm+tcp, 2026-11-21',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'variables': [
            {
                'name': 'OMPI_MCA_mpi_yield_when_idle',
                'value': '1',
                'only': ['open mpi'],
                'why': 'waiting ranks of Open MPI give their core away: there are more of them than cores. '
                       'osu_alltoall with 8 ranks takes 1.7 instead of 65 ms',
                'source': 'osu_alltoall, 16 bytes, 8 ranks over tcp on 2 cores, Open MPI 5.0.11, 2026-11-21',
                'date': '2026-11-21',
                'evidence': 'measured',
            },
            {
                'name': 'MPIR_CVAR_CH4_NETMOD',
                'value': 'ofi',
                'only': ['mpich >= 3.4'],
                'why': 'the MPICH wheels have the netmods ofi and ucx; only ofi is compared here',
                'source': 'readelf -d libmpi.so.12 of the wheels 4.2.3 and 5.0.2: both need libfabric and libucp',
                'date': '2026-11-21',
                'evidence': 'measured',
            },
        ],
        'jobs': {
            'value': {'partition': None, 'account': False, 'options': ['--exclusive'], 'step': []},
            'why': 'the private Slurm has one partition and no accounts; a job on it has the two nodes',
            'source': 'workstation/slurm.sh',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'images': {
            'value': dict(dict.fromkeys(['pure', 'bind', 'hybrid', 'swap', 'opensource'],
                                        'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'),
                          openmpi='osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif',
                          **dict(dict.fromkeys(
                              ['osu-mpi4py/' + name for name in ('pure', 'bind', 'hybrid', 'opensource')],
                              'osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-1.22.0.sif'),
                              **{'osu-mpi4py/openmpi': 'osu-mpi4py-4.1.2-abi-openmpi-5.0.11-libfabric-2.5.1.sif'})),
            'why': 'one image serves all approaches with MPICH: what differs is decided when it runs',
            'source': 'container-recipes/workstation.py, abi.py and mpi4py_image.py',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'image_help': {
            'value': 'docs/images.md',
            'why': 'which image for what, how it is built and copied',
            'source': 'docs/images.md',
            'date': '2026-11-21',
            'evidence': 'measured',
        },
        'native': {
            'value': {
                'mpicc': '/opt/mpich/5.0.2/bin/mpicc',
                'mpicxx': '/opt/mpich/5.0.2/bin/mpicxx',
                'libmpi': '/opt/mpich/5.0.2/lib/libmpi.so.12',
                'python': '/usr/bin/python3',
            },
            'why': 'the native build uses the MPI that bind injects; the distribution\'s Python is that of the image',
            'source': WORKSTATION_WHEEL,
            'date': '2026-11-21',
            'evidence': 'measured',
        },
    },
})

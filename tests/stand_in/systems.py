"""
What a tree has that the site data do not say: what commands and /sys say there.

HOSTS     name of the site -> dict with
              os            PRETTY_NAME of /etc/os-release
              runtime       (command, what its --version prints), None: neither apptainer nor singularity is there
              mpi           what `srun --mpi=list` names
              slurm         lines of `scontrol show config`
              partitions    lines of `sinfo -h -o '%P|%G'`, a star behind the default partition
              interfaces    names in /sys/class/net; cards: of Slingshot's cards, in /sys/class/cxi and /dev
              gpu           architecture of the GPUs, in the form of the site data; None without
              providers     what the libfabric of the original has; in a tree made with --facts-only
              modules       optional: modules that are there beside those of the native build, as empty files

Where the sources of the site data do not say it, it is as on LUMI: a tree needs some answer. No
fact of a site is taken from here.
"""

from osu_container.data.sites import SITES
from osu_container.verdict.site_choice import resolve_site

_CARDS = ['cxi0', 'cxi1', 'cxi2', 'cxi3']
_HSN = ['hsn0', 'hsn1', 'hsn2', 'hsn3']
_PROVIDERS = ['cxi', 'tcp', 'shm', 'ofi_rxm', 'udp']
_SINGULARITY = ('singularity', 'singularity-ce version 4.1.3-150500.10.7')

_LUMI = {
    'os': 'SUSE Linux Enterprise Server 15 SP6',
    'runtime': _SINGULARITY,
    # github.com/alazzaro/cug26_containers_tutorial 0240e5c
    'mpi': ['none', 'cray_shasta', 'pmi2'],
    'slurm': [
        'ClusterName             = lumi',
        'SlurmdSpoolDir          = /var/spool/slurmd',
        'AccountingStorageEnforce = associations,limits,qos',
        'SLURM_VERSION           = 24.05.8',
    ],
    'partitions': ['standard|(null)', 'standard-g|gpu:mi250:8'],
    'interfaces': _HSN,
    'cards': _CARDS,
    'gpu': 'gfx90a',
    'providers': _PROVIDERS,
}

#: ROCm's compiler libraries are on the library path of the modules, which the amd/5.0 build of Cray
#: MPICH needs
HOSTS = {
    'lumi-25.03': _LUMI,
    'lumi-25.09': _LUMI,
    'lumi-26.03': _LUMI,
    'frontier': dict(
        _LUMI,
        os='SUSE Linux Enterprise Server 15 SP7',
        runtime=('apptainer', 'apptainer version 1.3.6'),
        slurm=[
            'ClusterName             = frontier',
            'SlurmdSpoolDir          = /var/spool/slurmd',
            'AccountingStorageEnforce = associations,limits,qos',
            'SLURM_VERSION           = 25.11.4',
        ],
        partitions=['batch*|gpu:8'],
        modules=['olcf-container-tools', 'apptainer-enable-gpu', 'apptainer-enable-mpi'],
    ),
    'setonix': dict(
        _LUMI,
        runtime=('singularity', 'singularity-ce version 4.1.0'),
        slurm=[
            'ClusterName             = setonix',
            'SlurmdSpoolDir          = /var/spool/slurmd',
            'AccountingStorageEnforce = associations,limits',
            'SLURM_VERSION           = 24.05.8',
        ],
        partitions=['work*|(null)', 'gpu|gpu:8'],
        modules=['singularity/4.1.0-mpi', 'singularity/4.1.0-mpi-gpu', 'singularity/4.1.0-nompi'],
    ),
    'perlmutter': dict(
        _LUMI,
        os='SUSE Linux Enterprise Server 15 SP5',
        runtime=None,
        mpi=['none', 'cray_shasta', 'pmi2', 'pmix'],
        slurm=[
            'ClusterName             = perlmutter',
            'SlurmdSpoolDir          = /var/spool/slurmd',
            'AccountingStorageEnforce = associations,limits',
        ],
        partitions=['regular_milan_ss11*|(null)', 'gpu_ss11|gpu:a100:4'],
        gpu='sm_80',
    ),
    # the tree is of this machine's processor: nothing here runs on aarch64
    'alps': dict(
        _LUMI,
        runtime=None,
        mpi=['none', 'cray_shasta', 'pmi2', 'pmix'],
        slurm=[
            'ClusterName             = daint',
            'SlurmdSpoolDir          = /var/spool/slurmd',
            'TmpFS                   = /tmp',
        ],
        partitions=['debug|gpu:4', 'normal*|gpu:4'],
        gpu='sm_90',
    ),
}
#: Architecture -> name that NVIDIA's driver prints
MODELS = {'sm_80': 'NVIDIA A100-SXM4-40GB', 'sm_90': 'NVIDIA GH200 120GB'}


def derive_system(site):
    """Return the entry of a site (dict) that has none here, from its data and that of its base."""
    gpu, known = site['gpu']['value'], HOSTS.get(SITES[site['name']].get('based_on'), {})
    binding = site['gpu_binding']['value']
    nics = {entry['nic'] for entry in binding} if binding else _CARDS
    count = len(nics) if gpu else 1  # a node of LUMI-C has one card
    command = site['runtime']['value'][0]
    derived = {
        'runtime': None if 'engine' in site else (command, f'{command} version 1.4.1'),
        'mpi': ['none', *sorted(set(site['pmi']['value'].values()))],
        'partitions': [f"{site['jobs']['value']['partition']}*|gpu:4"],
    }
    return {
        **_LUMI,
        **(known or derived),
        'interfaces': _HSN[:count],
        'cards': _CARDS[:count],
        'gpu': gpu,
    }


for _name in SITES:
    if _name not in HOSTS and _name != 'workstation':
        HOSTS[_name] = derive_system(resolve_site(_name))

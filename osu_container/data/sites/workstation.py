"""
Describe a workstation: Debian or Ubuntu after `make demo`, or any ordinary machine.

Data only; schema.py explains the keys.
"""

from typing import Any, Dict

from osu_container.data.launchers import LAUNCHERS
from osu_container.data.sites.schema import PMIX_FILES

#: Images that `make demo` builds on any x86_64 machine
MPICH_IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
OPENMPI_IMAGE = 'osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif'


def _make_plain_fact(value: Any, source: str = 'docs/workstation.md') -> Dict[str, Any]:
    return {
        'value': value,
        'why': 'none, as on an ordinary Linux machine',
        'source': source,
        'date': '2026-11-21',
        'evidence': 'derived',
    }


#: Netmod of the MPICH wheels, which have ofi and ucx; this project compares only ofi
_NETMOD = dict(
    _make_plain_fact(
        'ofi',
        'readelf -d libmpi.so.12 of the wheels 4.2.3 and 5.0.2: both need libfabric and libucp',
    ),
    why='an MPICH may have the netmods ofi and ucx; every approach here is made of libfabric',
    name='MPIR_CVAR_CH4_NETMOD',
    only=['mpich >= 3.4', 'no ucx'],
)

#: Entries that are only the base of others (key based_on)
BASES: Dict[str, Dict[str, Any]] = {
    'plain': {
        'recognised_by': dict(_make_plain_fact({}), why='chosen by a local file, or by name'),
        'default_approach': dict(
            _make_plain_fact('pure', 'docs/design.md, decision 7'),
            why='no Slingshot for opensource',
        ),
        'runtime': dict(
            _make_plain_fact(['apptainer', 'singularity']), why='either runs the modules'
        ),
        'provider': dict(
            _make_plain_fact(
                'tcp', 'fi_tcp(7); ran on Debian 12 with libfabric 1.22.0 and 2.5.1, 2026-11-21'
            ),
            why='the machine has no high-speed network; tcp is in every libfabric build',
        ),
        'pmi_variables': dict(
            _make_plain_fact(
                {kind: variable for kind, (_, variable) in LAUNCHERS['srun']['pmi'].items()},
                'environment of steps started by srun with each kind, Slurm 22.05, 2026-11-21',
            ),
            why='what Slurm\'s plugin puts into the environment of every rank; its absence shows a wrong --mpi= early',
        ),
        'gpu': _make_plain_fact(None),
        'gpu_binding': _make_plain_fact(None),
        'libraries': {},
        'one_build': _make_plain_fact([]),
        'files': {},
        'conflicts': _make_plain_fact([]),
        'variables': [_NETMOD],
        'images': dict(
            _make_plain_fact(
                dict(
                    dict.fromkeys(['pure', 'bind', 'hybrid', 'swap', 'opensource'], MPICH_IMAGE),
                    openmpi=OPENMPI_IMAGE,
                ),
                'container-recipes/workstation.py and mpi4py_image.py',
            ),
            why='one image serves all approaches with MPICH: what differs is decided when it runs',
        ),
        'image_folders': _make_plain_fact([]),
        'image_help': dict(
            _make_plain_fact('docs/images.md', 'docs/images.md'),
            why='how images are built and copied',
        ),
        'jobs': dict(
            _make_plain_fact(
                {'partition': None, 'account': False, 'options': ['--exclusive'], 'step': []}
            ),
            why='whole nodes, so that nothing else is on the card',
        ),
        'native': dict(_make_plain_fact(None), why='no MPI compiler is known'),
        'wrapper_modules': _make_plain_fact([]),
    }
}

WORKSTATION_WHEEL = 'unpacked PyPI wheel of mpich 5.0.2, which bundles libfabric 2.5.1 (tools/workstation/host_mpi.sh)'

STACKS: Dict[str, Dict[str, Any]] = {
    'workstation': {
        'based_on': 'plain',
        'title': 'a Linux machine with the host MPI and the two-node Slurm that `make demo` sets up',
        'pmi': {
            'value': {'image': 'pmi2', 'host': 'pmi2', 'Open MPI': 'pmix'},
            'why': 'MPICH wheels and Intel MPI speak PMI-2, Open MPI 5 speaks PMIx; without it each rank is alone',
            'source': 'srun --mpi=list of slurm-wlm 22.05; ran with MPICH 4.2.3 and 5.0.2, Intel MPI 2021.19.0 and '
            'Open MPI 5.0.11, 2026-11-21',
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
            'libompi': {
                'value': '/opt/openmpi/5.0.11/lib/libmpi.so.40',
                'why': 'the host\'s Open MPI, for images whose MPI that is',
                'source': 'unpacked PyPI wheel of openmpi 5.0.11, whose plug-ins are in its libraries '
                '(tools/workstation/host_mpi.sh)',
                'date': '2026-11-26',
                'evidence': 'measured',
                'folders': {'etc': '/opt/openmpi/5.0.11/etc'},
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
            'value': [
                '/lib/x86_64-linux-gnu',
                '/usr/lib/x86_64-linux-gnu',
                '/lib/aarch64-linux-gnu',
                '/usr/lib/aarch64-linux-gnu',
                '/lib64',
                '/usr/lib64',
                '/lib',
                '/usr/lib',
            ],
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
            _NETMOD,
        ],
        'images': dict(
            BASES['plain']['images'],
            value=dict(
                BASES['plain']['images']['value'],
                **dict(
                    dict.fromkeys(
                        ['osu-mpi4py/' + name for name in ('pure', 'bind', 'hybrid', 'opensource')],
                        'osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-1.22.0.sif',
                    ),
                    **{
                        'osu-mpi4py/openmpi': 'osu-mpi4py-4.1.2-abi-openmpi-5.0.11-libfabric-2.5.1.sif'
                    },
                ),
            ),
        ),
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
}

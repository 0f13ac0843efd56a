"""
Describe Alps (CSCS): nodes with four GH200 and Slingshot 11.

The clusters Daint, Clariden and Santis are parts of Alps. schema.py explains the keys of the data. This project
has never run a program on Alps: 'measured' means that a page of CSCS or a public log shows the
value. CSCS's Container Engine, which runs containers on Alps, cannot run SIF files. This project therefore
writes the facts about Alps into an EDF file (environment definition file) for the Container Engine.
Only uenv images contain Cray MPICH, so a module cannot name the paths of Cray MPICH. Therefore the
approaches bind and native are impossible.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    make_fact,
    make_glibc_fact,
    make_gpu_binding,
    make_jobs,
    make_ll128_variable,
    make_nccl_variables,
    make_variable,
)

_HARDWARE = 'CSCS documentation, Alps hardware (github.com/eth-cscs/cscs-docs ca7a0d38, docs/alps/hardware.md)'
_SLURM = 'CSCS documentation, Slurm (github.com/eth-cscs/cscs-docs 1e11d788, docs/running/slurm.md)'
_DAINT = (
    'CSCS documentation, Daint (github.com/eth-cscs/cscs-docs 02a7acce, docs/clusters/daint.md)'
)
_OPENMPI = (
    'CSCS documentation, Open MPI (github.com/eth-cscs/cscs-docs 80abed1, '
    'docs/software/communication/openmpi.md)'
)
#: Versions that CSCS's tool system-stack read from the packages of a node, with the Slurm that
#: Daint had until 2026-09-16
_STACK = 'CSCS, netstack (github.com/eth-cscs/netstack 67b49b80), documentation of system-stack: SHS 13.1.0'
_NCCL = 'CSCS documentation, NCCL (github.com/eth-cscs/cscs-docs 1660b1e, docs/software/communication/nccl_env_vars)'
_IMAGES = (
    'CSCS, github.com/eth-cscs/alps-extended-images 2f16898, Alps-Images/common/'
    'alps-runtime.common.env and alps-runtime.nccl-like.env, Alps-Images/NGC/alps-runtime.cuda.env'
)
#: Defaults of the Container Engine's hook aws_ofi_nccl since that day
_CHANGES = (
    'CSCS documentation, Daint, change of 2026-06-17 (github.com/eth-cscs/cscs-docs 80abed1, '
    'docs/clusters/daint.md)'
)
_FIRST_READ_DATE, _DOCS, _AUGUST, _SEPTEMBER, _REREAD_DATE = (
    '2026-11-21',
    '2026-08-20',
    '2026-08-21',
    '2026-09-16',
    '2026-11-23',
)

STACKS: Dict[str, Dict[str, Any]] = {
    'alps': {
        'based_on': 'cray-cuda',
        'title': 'Alps (CSCS), GH200 nodes: aarch64, CUDA, four cards of Slingshot 11',
        'recognised_by': make_fact(
            {
                'hostnames': [r'^(daint|clariden|santis)-ln\d+', r'^nid\d{6}'],
                'environment': {'CLUSTER_NAME': '^(daint|clariden|santis)$'},
            },
            'the names of compute nodes do not identify Alps, because other systems use the same '
            'names; therefore CLUSTER_NAME must match too',
            'CSCS documentation, clusters: daint-ln00[1-4]; CLUSTER_NAME is set on all of them',
            _FIRST_READ_DATE,
            'untested',
        ),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            'CSCS offers the Container Engine, but neither Apptainer nor Singularity. Users '
            'who install Apptainer themselves can use the modules, and docs/contributions '
            'has an EDF file for the Container Engine',
            _DAINT + '; no attempt is known',
            _FIRST_READ_DATE,
            'untested',
        ),
        'engine': make_fact(
            'container-engine',
            'the container engine of the system runs no SIF files; '
            'docs/contributions has an EDF file for this engine',
            _DAINT,
            _SEPTEMBER,
            'measured',
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'Open MPI': 'pmix'},
            'MPICH uses PMI-2 and Open MPI 5 uses PMIx; Slurm also has cray_shasta, for Cray '
            'MPICH in uenv images',
            _OPENMPI + '; srun --mpi=pmi2 in docs/software/communication/mpich.md',
            _DOCS,
            'measured',
        ),
        'architecture': make_fact(
            'aarch64',
            'images must be built for the architecture of the nodes',
            _HARDWARE,
            _DOCS,
            'measured',
        ),
        'slingshot': make_fact(
            '13.1.0',
            'SHS (the Slingshot Host Software) contains the driver of the network cards, and '
            'libcxi of an image must work with this driver',
            _STACK + ' of Daint, since 2026-06-17; CSCS builds its images with that release '
            '(eth-cscs/alps-extended-images 2f16898, Alps-Images/common/alps-stack-versions.env); '
            + _CHANGES,
            _SEPTEMBER,
            'measured',
        ),
        'gpu': make_fact('sm_90', 'each node has four GH200', _HARDWARE, _DOCS, 'measured'),
        'gpu_driver': make_fact(
            '590',
            'the driver limits the CUDA version of images',
            'CSCS documentation, CP2K: "the main vClusters have been updated to '
            'Nvidia driver version 590" (github.com/eth-cscs/cscs-docs 1b24b6f)',
            '2026-06-04',
            'measured',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding([0, 72, 144, 216], 72),
            'each GH200 is a processor of 72 cores with its own GPU and network card. This '
            'project assumes that network card i belongs to GPU i',
            _SLURM + ', output of affinity.cuda; ' + _HARDWARE,
            _FIRST_READ_DATE,
            'derived',
        ),
        'libraries': {
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi",
                _STACK,
                _SEPTEMBER,
                'measured',
                release='2.3.1',
            ),
            'libcxi': make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric uses this library for the Slingshot card',
                _STACK + ', package cray-libcxi in /usr',
                _SEPTEMBER,
                'derived',
            ),
            'libxpmem': make_fact(
                '/opt/xpmem/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                _STACK + ', package xpmem in /opt/xpmem',
                _SEPTEMBER,
                'derived',
            ),
        },
        'glibc': make_glibc_fact(
            'CSCS documentation, Container Engine, known issues (github.com/eth-cscs/cscs-docs, '
            'commit adbf2bcc): the host libraries that the hooks inject are linked to glibc 2.38',
            _REREAD_DATE,
        ),
        'library_folders': make_fact(
            ['/lib64', '/usr/lib64', '/lib', '/usr/lib'],
            "the host's ld.so searches the folders of SLES. SLES names these folders lib64 "
            'on aarch64 too',
            'message "required by /usr/lib64/libcxi.so.1" in the log of ' + _OPENMPI,
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/capstor', '/iopsstor', '/ritom'],
                'these folders are store, the fast file system and scratch (/ritom on Daint '
                'since 2026-09-16 and on Clariden; no page mentions /ritom on Santis)',
                'CSCS documentation, storage (github.com/eth-cscs/cscs-docs 02a8c1c2, '
                'docs/alps/storage.md); ' + _DAINT,
                _SEPTEMBER,
                'measured',
                bound='install',
            ),
        },
        # CSCS also sets rendezvous alt_read (FI_CXI_RDZV_*) for every program. The module
        # osu-settings/rccl-alt-read sets it here, because alt_read needs an option of srun.
        'variables': [
            make_variable(
                name, value, why, _CHANGES + '; ' + _IMAGES, _AUGUST, 'derived', only=['gpu', 'cxi']
            )
            for name, value, why in (
                (
                    'NCCL_CROSS_NIC',
                    '0',
                    'each ring of NCCL uses the same network card on all nodes. Until 2026-06-17 '
                    'the value was 1, which the page on NCCL (2025-11) still recommends',
                ),
                (
                    'NCCL_PXN_DISABLE',
                    '1',
                    'NCCL does not send through another GPU to reach a network card',
                ),
                ('NCCL_P2P_LEVEL', 'NVL', 'GPUs that NVLink connects exchange data directly'),
                (
                    'NCCL_NET_GDR_C2C',
                    '1',
                    'the network card also reads GPU memory through the processor of the GH200',
                ),
                ('NCCL_NET_GDR_READ', '1', 'the network card reads the GPU memory it sends'),
                (
                    'NCCL_NCHANNELS_PER_NET_PEER',
                    '4',
                    'NCCL uses four channels for messages between two ranks',
                ),
                ('FI_MR_CACHE_MAX_SIZE', '-1', 'libfabric caches registered memory of any size'),
                (
                    'FI_MR_CACHE_MAX_COUNT',
                    '524288',
                    'libfabric caches as many registrations as in the Cray Programming Environment',
                ),
                (
                    'FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD',
                    '16777216',
                    'the CPU copies messages of at most 16 MiB from and to GPU memory',
                ),
                (
                    'FI_CXI_RX_MATCH_MODE',
                    'hybrid',
                    'the provider cxi matches messages in software if the network card has no '
                    'resources left. The page on NCCL (2025-11) recommends software instead',
                ),
            )
        ]
        + make_nccl_variables(_NCCL + '; ' + _IMAGES, _AUGUST, 'derived')
        + [
            make_ll128_variable(
                _NCCL + '; Sigma2, NCCL on Olivia (documentation.sigma2.no)', _REREAD_DATE
            ),
            make_variable(
                'FI_CXI_DEFAULT_CQ_SIZE',
                '131072',
                'large NCCL jobs need a larger completion queue than the default',
                _NCCL,
                _REREAD_DATE,
                'derived',
                only=['gpu', 'cxi'],
            ),
            make_variable(
                'FI_CXI_DEFAULT_TX_SIZE',
                '16384',
                'NCCL starts many sends before NCCL waits for them. The maximum of the '
                'provider cxi is 16384 (cxip.h, CXIP_MAX_TX_SIZE). With 32768, which CSCS '
                'recommended in 2025, the provider uses its default instead',
                _IMAGES + '; eth-cscs/alps-uenv pull request 316',
                _REREAD_DATE,
                'derived',
                only=['gpu', 'cxi'],
            ),
        ],
        'images': make_fact(
            {'openmpi': 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'},
            'only this image of the catalogue has CUDA and cxi for aarch64; the catalogue has no '
            'such image with MPICH',
            'container-recipes/alps.py',
            _FIRST_READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            make_jobs('normal', False, 4),
            'jobs do not share nodes of the partition normal; without an account, Slurm uses the '
            'primary project',
            _DAINT + '; ' + _SLURM,
            _FIRST_READ_DATE,
            'derived',
        ),
        'native': make_fact(
            None,
            'compilers and MPI exist only inside a uenv, and a module cannot rely on a loaded uenv',
            'CSCS documentation, Daint: the Cray programming environment is no longer supported',
            _FIRST_READ_DATE,
            'derived',
        ),
    },
}

"""
Describe Alps (CSCS): nodes with four GH200, Slingshot 11; Daint, Clariden, Santis.

Data only; schema.py explains the keys. This project ran nothing on Alps. 'measured' means that
CSCS's pages, or a public log, show it there. CSCS's Container Engine runs the containers, and it
runs no SIF: for it the same facts are rendered as an EDF. Cray MPICH exists in uenv images only, so
that no module can name its paths: bind and native are not possible.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    make_fact,
    make_gpu_binding,
    make_ll128_variable,
    make_nccl_variables,
    make_variable,
)

_HARDWARE = 'CSCS documentation, Alps hardware (github.com/eth-cscs/cscs-docs ca7a0d38, docs/alps/hardware.md)'
_SLURM = 'CSCS documentation, Slurm (github.com/eth-cscs/cscs-docs 1e11d788, docs/running/slurm.md)'
_DAINT = (
    'CSCS documentation, Daint (github.com/eth-cscs/cscs-docs 02a7acce, docs/clusters/daint.md)'
)
_STORAGE = (
    'CSCS documentation, storage (github.com/eth-cscs/cscs-docs 02a8c1c2, docs/alps/storage.md)'
)
_OPENMPI = 'CSCS documentation, Open MPI (github.com/eth-cscs/cscs-docs, docs/software/communication/openmpi.md)'
#: What CSCS's own tool system-stack read from the packages of a node, under the Slurm that Daint
#: had until 2026-09-16
_STACK = 'CSCS, netstack (github.com/eth-cscs/netstack 67b49b80), documentation of system-stack: SHS 13.1.0'
_NCCL = 'CSCS documentation, NCCL (github.com/eth-cscs/cscs-docs 1660b1e, docs/software/communication/nccl_env_vars)'
_IMAGES = (
    'CSCS, github.com/eth-cscs/alps-extended-images 28a874b, Alps-Images/common/alps-runtime.env'
)
_FIRST_READ_DATE, _DOCS, _SEPTEMBER, _REREAD_DATE = (
    '2026-11-21',
    '2026-08-20',
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
            'names of login and compute nodes; compute nodes of other systems are called the same, so the name of the '
            'cluster decides',
            'CSCS documentation, clusters: daint-ln00[1-4]; CLUSTER_NAME is set on all of them',
            _FIRST_READ_DATE,
            'untested',
        ),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            'CSCS offers neither, but the Container Engine: who brings an Apptainer of '
            'their own can use the modules, for the engine there is an EDF',
            _DAINT + '; nobody is known to have tried',
            _FIRST_READ_DATE,
            'untested',
        ),
        'engine': make_fact(
            'container-engine',
            'the system\'s own container engine, which runs no SIF: '
            'docs/contributions has an EDF for it',
            _DAINT,
            _SEPTEMBER,
            'measured',
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'Open MPI': 'pmix'},
            'MPICH speaks PMI-2, Open MPI 5 PMIx; cray_shasta is there too, for the Cray MPICH of uenv',
            _OPENMPI + '; srun --mpi=pmi2 in docs/software/communication/mpich.md',
            _DOCS,
            'measured',
        ),
        'architecture': make_fact(
            'aarch64', 'images must be built for it', _HARDWARE, _DOCS, 'measured'
        ),
        'slingshot': make_fact(
            '13.1.0',
            'the driver of the cards, with which a libcxi of an image must work',
            _STACK + ' of Daint, since 2026-06-17; CSCS builds its images with that release '
            '(eth-cscs/alps-extended-images, common/alps-stack-versions.env)',
            _SEPTEMBER,
            'measured',
        ),
        'gpu': make_fact('sm_90', 'four GH200 on a node', _HARDWARE, _DOCS, 'measured'),
        'gpu_driver': make_fact(
            '590',
            'which CUDA an image may have',
            'CSCS documentation, CP2K: "the main vClusters have been updated to '
            'Nvidia driver version 590" (github.com/eth-cscs/cscs-docs 1b24b6f)',
            '2026-06-04',
            'measured',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding(
                [(0, 0, 'cxi0'), (1, 72, 'cxi1'), (2, 144, 'cxi2'), (3, 216, 'cxi3')], 72
            ),
            'each GH200 is one processor of 72 cores with its GPU, and has a card of its own; that the cards are '
            'numbered as the modules is derived',
            _SLURM + ', output of affinity.cuda; ' + _HARDWARE,
            _FIRST_READ_DATE,
            'derived',
        ),
        'libraries': {
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                'the network library of the host has the provider cxi',
                _STACK,
                _SEPTEMBER,
                'measured',
                release='2.3.1',
            ),
            'libcxi': make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric reaches the Slingshot card through libcxi',
                _STACK + ', package cray-libcxi in /usr',
                _SEPTEMBER,
                'derived',
            ),
            'libxpmem': make_fact(
                '/opt/xpmem/lib64/libxpmem.so.0',
                'Cray MPICH shares memory between ranks of a node by XPMEM',
                _STACK + ', package xpmem in /opt/xpmem',
                _SEPTEMBER,
                'derived',
            ),
        },
        'library_folders': make_fact(
            ['/lib64', '/usr/lib64', '/lib', '/usr/lib'],
            'where the host\'s ld.so looks: folders of SLES, of which 64 '
            'is the word for aarch64 too',
            'message "required by /usr/lib64/libcxi.so.1" in the log of ' + _OPENMPI,
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/capstor', '/iopsstor', '/ritom'],
                'these file systems are store, the fast file system and scratch. Scratch is '
                '/ritom on Daint since 2026-09-16 and on Clariden; no page tells whether Santis '
                'has /ritom',
                _STORAGE + '; ' + _DAINT,
                _SEPTEMBER,
                'measured',
                bound='install',
            ),
        },
        'variables': make_nccl_variables(_NCCL + '; ' + _IMAGES, _REREAD_DATE, 'derived')
        + [
            make_ll128_variable(
                _NCCL + '; Sigma2, NCCL on Olivia (documentation.sigma2.no)', _REREAD_DATE
            ),
            make_variable(
                'FI_CXI_DEFAULT_CQ_SIZE',
                '131072',
                'the completion queue has room for large jobs of NCCL',
                _NCCL,
                _REREAD_DATE,
                'derived',
                only=['gpu', 'cxi'],
            ),
            make_variable(
                'FI_CXI_DEFAULT_TX_SIZE',
                '16384',
                'the send queue has room for the messages that NCCL sends ahead. This is the '
                'largest value that the provider accepts (cxip.h, CXIP_MAX_TX_SIZE). CSCS '
                'recommended 32768 in 2025, which the provider replaces by its default',
                _IMAGES + '; eth-cscs/alps-uenv pull request 316',
                _REREAD_DATE,
                'derived',
                only=['gpu', 'cxi'],
            ),
        ],
        'images': make_fact(
            {'openmpi': 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'},
            'the only image of the catalogue with CUDA and cxi that is built for aarch64; there is none with MPICH',
            'container-recipes/alps.py',
            _FIRST_READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            {
                'partition': 'normal',
                'account': False,
                'options': ['--exclusive', '--gpus-per-node=4'],
                'step': ['--gpus-per-node=4'],
            },
            'nodes of normal are not shared; without an account the primary project is taken',
            _DAINT + '; ' + _SLURM,
            _FIRST_READ_DATE,
            'derived',
        ),
        'native': make_fact(
            None,
            'compilers and MPI come with a uenv, whose files are not there for a module that is '
            'loaded without it',
            'CSCS documentation, Daint: the Cray programming environment is no longer supported',
            _FIRST_READ_DATE,
            'derived',
        ),
    },
}

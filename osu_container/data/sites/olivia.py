"""
Describe Olivia (Sigma2, Norway): nodes with four GH200 and Slingshot 11, Open MPI 5.

Data only; schema.py explains the keys. This project ran nothing on Olivia. 'measured' means that
Sigma2's pages, or a public job script, show it there. Modules of Sigma2 are in
.../software/NAME/VERSION, as in EasyBuild.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    SLES_FOLDERS,
    make_fact,
    make_ll128_variable,
    make_name_recognition,
    make_nccl_variables,
    make_variable,
)

_PAGES = 'Sigma2 documentation (github.com/UNINETTSigma2/documentation), hpc_machines/olivia/'
_OPENMPI, _NCCL, _APPTAINER = (
    _PAGES + name for name in ('openmpi.md', 'nccl.md', 'nccl_apptainer')
)
_SCRIPT = 'a course\'s job script for two nodes of Olivia: libraries of the host by path'
_READ_DATE = '2026-11-26'
_ROOT = '/cluster/software/NRIS/neoverse_v2/software/OpenMPI/5.0.10-GCC-14.3.0'

STACKS: Dict[str, Dict[str, Any]] = {
    'olivia': {
        'based_on': 'cray-cuda',
        'title': 'Olivia (Sigma2), GH200 nodes: aarch64, CUDA, four cards of Slingshot 11, Open MPI 5.0.10',
        'recognised_by': make_name_recognition('olivia', _PAGES, _READ_DATE),
        'runtime': make_fact(
            ['apptainer'], 'what Sigma2\'s pages run', _APPTAINER, _READ_DATE, 'measured'
        ),
        'pmi': make_fact(
            {'Open MPI': 'pmix'},
            'ranks that srun starts find their number in PMIX_RANK; of the PMI for MPICH '
            'no page speaks',
            _OPENMPI + ', gpubind.sh',
            _READ_DATE,
            'measured',
        ),
        'architecture': make_fact(
            'aarch64',
            'images must be built for it',
            _PAGES + 'software_stack.md',
            _READ_DATE,
            'measured',
        ),
        'gpu': make_fact('sm_90', 'four GH200 on a node', _NCCL, _READ_DATE, 'measured'),
        'gpu_driver': make_fact(
            '580.65.06',
            'which CUDA an image may have: CUDA 13 runs there',
            _NCCL,
            _READ_DATE,
            'derived',
        ),
        'gpu_binding': make_fact(
            None,
            'GPU i is next to card i, but which cores are next to it no page says, so nothing '
            'places the ranks',
            _OPENMPI + ', gpubind.sh',
            _READ_DATE,
            'untested',
        ),
        'lnx_links': make_fact(
            None,
            'lnx crashes there with all four cards: each rank wants one of its own, by a script of '
            'Sigma2\'s page',
            _OPENMPI + ', lnx provider',
            _READ_DATE,
            'measured',
        ),
        'libraries': {
            'libompi': make_fact(
                _ROOT + '/lib/libmpi.so.40',
                'images with Open MPI use this Open MPI of the host; Sigma2 binds $EBROOTOPENMPI',
                _APPTAINER + ': module OpenMPI/5.0.10-GCC-14.3.0; its folder as '
                'those of other modules in ' + _SCRIPT,
                _READ_DATE,
                'derived',
                release='5.0.10',
                folders={'lib/openmpi': _ROOT + '/lib/openmpi', 'etc': _ROOT + '/etc'},
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                'the network library of the host has the provider cxi; the release was 1.22.0 '
                'until April 2026',
                _SCRIPT,
                _READ_DATE,
                'measured',
                release='2.3.1',
            ),
        },
        'library_folders': make_fact(
            SLES_FOLDERS,
            'where the host\'s ld.so looks: folders of SLES, then of Cray\'s '
            'packages. PMIx, hwloc and libevent are modules of their own, whose folders nobody has '
            'published',
            'as on LUMI',
            _READ_DATE,
            'untested',
        ),
        'files': {
            'file_systems': make_fact(
                ['/cluster'],
                'these file systems are home, projects, work and the software',
                _APPTAINER,
                _READ_DATE,
                'measured',
                bound='install',
            ),
        },
        'variables': make_nccl_variables(_NCCL, _READ_DATE, 'derived', 'hsn0,hsn1,hsn2,hsn3')
        + [
            make_variable(
                'OMPI_MCA_mtl_ofi_av',
                'table',
                'Sigma2 sets this value for jobs on several nodes',
                _OPENMPI,
                _READ_DATE,
                'derived',
                only=['open mpi'],
            ),
            make_variable(
                'FI_CXI_RX_MATCH_MODE',
                'hybrid',
                'the provider matches messages when the network card has no room for more',
                _OPENMPI,
                _READ_DATE,
                'derived',
                only=['cxi'],
            ),
            make_ll128_variable(_NCCL, _READ_DATE),
        ],
        'images': make_fact(
            {'openmpi': 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'},
            'the only image of the catalogue with CUDA and cxi that is built for aarch64',
            'container-recipes/alps.py',
            _READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            {
                'partition': 'accel',
                'account': True,
                'options': ['--exclusive', '--gpus-per-node=4'],
                'step': ['--gpus-per-node=4'],
            },
            'the partition with GPUs; jobs name an account',
            _APPTAINER,
            _READ_DATE,
            'derived',
        ),
        'native': make_fact(
            None,
            'nobody has shown with which modules the benchmarks are built there',
            _PAGES,
            _READ_DATE,
            'untested',
        ),
    },
}

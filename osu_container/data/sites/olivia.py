"""
Describe Olivia (Sigma2, Norway): nodes with four GH200 and Slingshot 11, Open MPI 5.

schema.py explains the keys of the data. This project has never run a program on Olivia: 'measured' means that a
page of Sigma2 or a public job script shows the value. Sigma2 installs modules in
.../software/NAME/VERSION, as EasyBuild does.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    SLES_FOLDERS,
    make_fact,
    make_jobs,
    make_ll128_variable,
    make_name_recognition,
    make_nccl_variables,
    make_variable,
)

_PAGES = (
    'Sigma2 documentation (github.com/UNINETTSigma2/documentation e0347991), hpc_machines/olivia/'
)
_OPENMPI, _NCCL, _APPTAINER = (
    _PAGES + name for name in ('openmpi.md', 'nccl.md', 'nccl_apptainer')
)
_SCRIPT = 'a job script of a course for two nodes of Olivia, which names host libraries by path'
_READ_DATE = '2026-11-26'
_ROOT = '/cluster/software/NRIS/neoverse_v2/software/OpenMPI/5.0.10-GCC-14.3.0'

STACKS: Dict[str, Dict[str, Any]] = {
    'olivia': {
        'based_on': 'cray-cuda',
        'title': 'Olivia (Sigma2), GH200 nodes: aarch64, CUDA, four cards of Slingshot 11, Open '
        'MPI 5.0.10',
        'recognised_by': make_name_recognition('olivia', _PAGES, _READ_DATE),
        'runtime': make_fact(
            ['apptainer'], 'Sigma2\'s pages use apptainer', _APPTAINER, _READ_DATE, 'measured'
        ),
        'pmi': make_fact(
            {'Open MPI': 'pmix'},
            'ranks that srun starts have the variable PMIX_RANK; no page mentions a PMI for MPICH',
            _OPENMPI + ', gpubind.sh',
            _READ_DATE,
            'measured',
        ),
        'architecture': make_fact(
            'aarch64',
            'images must be built for the architecture of the nodes',
            _PAGES + 'software_stack.md',
            _READ_DATE,
            'measured',
        ),
        'gpu': make_fact('sm_90', 'each node has four GH200', _NCCL, _READ_DATE, 'measured'),
        'gpu_driver': make_fact(
            '580.65.06',
            'the driver limits the CUDA version of images; CUDA 13 runs on this system',
            _NCCL,
            _READ_DATE,
            'derived',
        ),
        'gpu_binding': make_fact(
            None,
            'network card i is closest to GPU i, but no page says which cores are closest, so the '
            'modules do not bind the ranks',
            _OPENMPI + ', gpubind.sh',
            _READ_DATE,
            'untested',
        ),
        'lnx_links': make_fact(
            None,
            'the provider lnx crashes on this system if a rank uses all four cards; a script on '
            'Sigma2\'s page assigns one card to each rank',
            _OPENMPI + ', lnx provider',
            _READ_DATE,
            'measured',
        ),
        'libraries': {
            'libompi': make_fact(
                _ROOT + '/lib/libmpi.so.40',
                "this library belongs to the host's Open MPI, for images with Open MPI; "
                'Sigma2 binds $EBROOTOPENMPI',
                _APPTAINER + ': module OpenMPI/5.0.10-GCC-14.3.0; its folder is named like '
                'those of other modules in ' + _SCRIPT,
                _READ_DATE,
                'derived',
                release='5.0.10',
                folders={'lib/openmpi': _ROOT + '/lib/openmpi', 'etc': _ROOT + '/etc'},
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi; its version was "
                '1.22.0 until April 2026',
                _SCRIPT,
                _READ_DATE,
                'measured',
                release='2.3.1',
            ),
        },
        'library_folders': make_fact(
            SLES_FOLDERS,
            "the host's ld.so searches the folders of SLES, then the folders of Cray's "
            'packages. PMIx, hwloc and libevent are separate modules, and the folders of '
            'these modules are not published',
            'as on LUMI',
            _READ_DATE,
            'untested',
        ),
        'files': {
            'file_systems': make_fact(
                ['/cluster'],
                'this folder contains home, projects, work and software',
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
                'Sigma2 recommends this value for jobs on several nodes',
                _OPENMPI,
                _READ_DATE,
                'derived',
                only=['open mpi'],
            ),
            make_variable(
                'FI_CXI_RX_MATCH_MODE',
                'hybrid',
                'the provider cxi matches messages in software if the network card has no '
                'resources left',
                _OPENMPI,
                _READ_DATE,
                'derived',
                only=['cxi'],
            ),
            make_variable(
                'FI_CXI_DEFAULT_CQ_SIZE',
                '131072',
                'large NCCL jobs need a larger completion queue than the default',
                _NCCL,
                _READ_DATE,
                'derived',
                only=['gpu', 'cxi'],
            ),
            # Sigma2's NCCL modules also set rendezvous alt_read (FI_CXI_RDZV_*), as the module
            # osu-settings/rccl-alt-read does. Sigma2 names NCCL_PROTO=^LL128 as the other cure of the
            # wrong data; it does not slow MPI down.
            make_ll128_variable(_NCCL, _READ_DATE),
        ],
        'images': make_fact(
            dict.fromkeys(
                ['bind', 'openmpi'],
                'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif',
            ),
            'of the images of this project, only this image has CUDA and cxi for aarch64',
            'container-recipes/alps.py',
            _READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            make_jobs('accel', True, 4),
            'accel is the partition with GPUs, and jobs must name an account',
            _APPTAINER,
            _READ_DATE,
            'derived',
        ),
        'native': make_fact(
            None,
            'no published set of modules is known with which the benchmarks can be built on '
            'this system',
            _PAGES,
            _READ_DATE,
            'untested',
        ),
    },
}

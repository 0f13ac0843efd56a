"""
Describe Isambard-AI (Bristol): nodes with four GH200 and Slingshot 11.

schema.py explains the keys of the data. This project has never run a program on Isambard-AI of the Bristol
Centre for Supercomputing: 'measured' means that a public script or page shows the value. On Isambard-AI, the
module brics/apptainer-multi-node contains the script adapt.sh. This script injects the host's Open MPI,
NCCL and libfabric into any container, and is the source of the host folders in this Python module.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    SLES,
    SLES_FOLDERS,
    make_fact,
    make_glibc_fact,
    make_jobs,
    make_ll128_variable,
    make_name_recognition,
    make_nccl_variables,
    make_variable,
)

_ADAPT = (
    'a user\'s copy of adapt.sh of the module brics/apptainer-multi-node, "Adapted for Isambard-AI"'
)
_SCRIPTS = 'public job scripts and notes for Isambard-AI'
_SKILLS = 'the site\'s own notes on containers (github.com/isambard-sc/skills.isambard.ac.uk)'
_READ_DATE = '2026-11-26'
_BRICS = '/tools/brics/apps/linux-sles15-neoverse_v2/gcc-12.3.0/'
_ROOT = _BRICS + 'openmpi-4.1.7-gha3th46s7fr2ht3icsuhthmysvvlpgh'

STACKS: Dict[str, Dict[str, Any]] = {
    'isambard-ai': {
        'based_on': 'cray-cuda',
        'title': 'Isambard-AI, GH200 nodes: aarch64, CUDA, four cards of Slingshot 11, Open MPI '
        '4.1.7',
        'recognised_by': make_name_recognition('isambard-ai', _SCRIPTS, _READ_DATE),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            'public scripts use these commands; podman-hpc is also installed',
            _SCRIPTS,
            _READ_DATE,
            'measured',
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'Open MPI': 'pmi2'},
            'Open MPI 4.1 of this system uses PMI-2, unlike most builds of Open MPI; an '
            'Open MPI of an image usually supports only PMIx',
            _SKILLS + ': --mpi=pmi2, podman-hpc --openmpi-pmi2',
            _READ_DATE,
            'derived',
        ),
        'default_approach': make_fact(
            'bind',
            'the host\'s Open MPI uses PMI-2, which Open MPI of the image does not support',
            _SKILLS,
            _READ_DATE,
            'derived',
        ),
        'architecture': make_fact(
            'aarch64',
            'images must be built for the architecture of the nodes',
            _SCRIPTS + ': uname -m',
            _READ_DATE,
            'measured',
        ),
        'gpu': make_fact('sm_90', 'each node has four GH200', _SCRIPTS, _READ_DATE, 'measured'),
        'gpu_driver': make_fact(
            '565.57.01',
            'the driver supports images with CUDA 12; images with CUDA newer than 12.7 must '
            "not use PTX, and images with CUDA 13 need CUDA's compatibility libraries",
            'github.com/UKGovernmentBEIS/isambard_containers, benchmarks/run_benchmark.py',
            _READ_DATE,
            'measured',
        ),
        'gpu_binding': make_fact(
            None,
            'no page says which cores and which network card are closest to each GPU, so the '
            'modules do not bind the ranks',
            _SCRIPTS,
            _READ_DATE,
            'untested',
        ),
        'libraries': {
            'libompi': make_fact(
                _ROOT + '/lib/libmpi.so.40',
                "this library belongs to the host's Open MPI, for images with Open MPI",
                _ADAPT,
                _READ_DATE,
                'measured',
                release='4.1.7',
                folders={'lib/openmpi': _ROOT + '/lib/openmpi', 'etc': _ROOT + '/etc'},
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi",
                _ADAPT,
                _READ_DATE,
                'measured',
                release='1.22.0',
            ),
        },
        'glibc': make_glibc_fact(
            SLES % 'SP6 (according to /etc/os-release in public notes)', _READ_DATE
        ),
        'library_folders': make_fact(
            [
                _BRICS + name + '/lib'
                for name in [
                    'hwloc-2.11.1-exva2bctb5orrxuniin42m422e4land7',
                    'libevent-2.1.12-tg7v5ywzz5wthjw5wmp4ajwkosv36bg7',
                    'libpciaccess-0.17-er6dkl6b6354ub6n6le3a5h44wjt6fjt',
                    'libxml2-2.13.4-gcnk5dndbce4wp6ep3rtv7azpwzx43pl',
                    'libiconv-1.17-vceyz4dnbly7sup6uu5pbsv6oiwe6epq',
                    'xz-5.4.6-yq66bbph6k3sssan6abspn5dbzhmhug5',
                    'zlib-ng-2.2.1-h3p5d5uycpj6undg2vr7uosoiovynj6w',
                    'gcc-runtime-12.3.0-5ay32z4cpplbr6wgb4clud5yst7kormk',
                ]
            ]
            + SLES_FOLDERS,
            "the host's Open MPI needs libraries in the first folders of this list; the "
            "folders of SLES and of Cray's packages follow",
            _ADAPT + '; as on LUMI',
            _READ_DATE,
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/lus', '/projects', '/scratch'],
                'these are the shared file systems; /projects is a link into /lus',
                _SCRIPTS,
                _READ_DATE,
                'derived',
                bound='install',
            ),
        },
        'variables': make_nccl_variables(_ADAPT + '; ' + _SCRIPTS, _READ_DATE, 'derived')
        + [
            make_variable(
                'FI_CXI_DEFAULT_CQ_SIZE',
                '131072',
                'large NCCL jobs need a larger completion queue than the default',
                _ADAPT,
                _READ_DATE,
                'derived',
                only=['gpu', 'cxi'],
            ),
            make_ll128_variable('as on Alps, which has nodes of the same kind', _READ_DATE),
        ],
        'images': make_fact(
            {'bind': 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif'},
            'of the images of this project, only this image has CUDA and cxi for aarch64. '
            "Its Open MPI 5 needs PMIx, but with approach bind the host's Open MPI runs, "
            'which uses PMI-2',
            'container-recipes/alps.py',
            _READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            make_jobs('workq', False, 4, '--mem=0'),
            'the job gets whole nodes, and must request all memory explicitly',
            _SCRIPTS,
            _READ_DATE,
            'derived',
        ),
        'native': make_fact(
            None,
            'no published set of modules is known with which the benchmarks can be built on '
            'this system',
            'Isambard documentation (docs.isambard.ac.uk), guides/mpi: Cray MPICH is the default, Open '
            'MPI the alternative',
            _READ_DATE,
            'untested',
        ),
    },
}

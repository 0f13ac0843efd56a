"""
Describe Setonix (Pawsey, Perth): GPU nodes of HPE Cray EX, four MI250X, Slingshot 11.

Data only; schema.py explains the keys. This project ran nothing on Setonix. 'measured' means that
Pawsey's module for Singularity, its pages or a public log show it there. Pawsey's next stack,
cpe/26.03, has Cray MPICH 9.1.0 and libfabric 2.3.1; it was on its test system Joey first.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    AMD_FOLDER,
    MI250X,
    SLES_FOLDERS,
    make_fact,
    make_gpu_binding,
    make_mpich_libraries,
    make_native_build,
    make_pmi_libraries,
    make_rocm_folders,
    make_rocm_libraries,
    make_spool_fact,
    make_stack_fact,
)
from osu_container.data.sites.lumi import STACKS as LUMI

_MODULE = (
    'Pawsey\'s module of Singularity (github.com/PawseySC/pawsey-spack-config 25b3ab1, '
    'systems/setonix/templates/modules/modulefile.lua)'
)
_GUIDE = 'Pawsey documentation, Setonix GPU Partition Quick Start'
#: Pawsey's own tests of its images with the OSU Micro-Benchmarks
_GPU_TEST = (
    'github.com/PawseySC/pawsey-containers 803482ae, setonix/mpi/tests/test_06_osu-gpu.slurm.sh'
)
_SETTINGS = 'github.com/PawseySC/pawsey-containers fec8273d, setonix/mpi/tests/tests-support/rfm_settings.py'
#: An image in jobs on Setonix in September 2026: which Cray MPICH it got, and that it used the
#: Slingshot network
_JOBS = (
    'jobs 49382367 and 49764166 of September 2026 in an image by singularity/4.1.0-mpi '
    '(github.com/underworldcode/underworld3, findings on Setonix)'
)
#: Pawsey's test of its images with Cray MPICH 9.1.0 on its test system, and what a user of Setonix
#: sets
_NEXT = (
    'script for cray-mpich/9.1.0 and libfabric/2.3.1 (github.com/PawseySC/pawsey-containers, pull request 92 and '
    'issue 86)'
)
_CPE = (
    'SINGULARITYENV_LD_LIBRARY_PATH in a user\'s public script for Setonix: "Use this until the default '
    'cpe 26.03"'
)
_ROCM = '/software/setonix/rocm/rocm-6.4.1/lib'
_ROCM_SOURCE = (
    'module rocm/6.4.1 (github.com/quokka-astro/quokka 82fd8baf, scripts/hpc_profiles/setonix-gpu.profile); '
    'folder in a user\'s build script: -DOpenCL_INCLUDE_DIR=/software/setonix/rocm/rocm-6.4.1/include'
)
_FIRST_READ_DATE, _READ_DATE, _REREAD_DATE = '2026-11-21', '2026-05-18', '2026-11-23'

STACKS: Dict[str, Dict[str, Any]] = {
    'setonix': dict(
        {
            'based_on': 'cray-rocm',
            'title': 'Setonix (Pawsey), GPU nodes, Cray MPICH 8.1.32',
            'recognised_by': make_fact(
                {
                    'hostnames': [r'^setonix-\d\d', r'^nid\d{6}'],
                    'environment': {'PAWSEY_CLUSTER': '^setonix$'},
                },
                'names of login and compute nodes; compute nodes of other HPE Cray systems are called the same, so a '
                'variable of Pawsey\'s decides',
                'Pawsey\'s batch jobs tell Setonix from its test system by '
                'PAWSEY_CLUSTER: ' + _GPU_TEST + '; host names: ' + _GUIDE,
                _REREAD_DATE,
                'derived',
            ),
            'stack': make_stack_fact('setonix', '8.1.32', ['8.1.32', '']),
            'runtime': make_fact(
                ['singularity'],
                'SingularityCE 4.1.0, by the modules singularity/4.1.0-...',
                _MODULE,
                _READ_DATE,
                'measured',
            ),
            'pmi': make_fact(
                {'image': 'pmi2', 'host': 'cray_shasta'},
                'MPICH speaks PMI-2, Cray MPICH Cray PMI, which is '
                'srun\'s default; nothing public says that srun has pmix',
                'pmi2 as on LUMI, whose Slurm is of the '
                'same maker; srun without --mpi= for Cray MPICH: ' + _GPU_TEST,
                _REREAD_DATE,
                'untested',
            ),
            'gpu_binding': make_fact(
                make_gpu_binding(MI250X, 8),
                'each rank on the cores and the card next to its GCD; jobs get all eight cores of a '
                'group; cards as on LUMI, whose node is the same',
                _GUIDE + ', methods to achieve optimal binding: map_cpu:49,57,17,25,0,9,33,41',
                _FIRST_READ_DATE,
                'derived',
            ),
            'libraries': dict(
                make_mpich_libraries(
                    '8.1.32',
                    'SINGULARITYENV_LD_LIBRARY_PATH in '
                    + _MODULE
                    + '; "CRAY MPICH version 8.1.32.110" '
                    'in ' + _JOBS,
                    '2026-09-21',
                    'measured',
                    'hsa',
                    'SINGULARITYENV_LD_PRELOAD in ' + _MODULE,
                    _READ_DATE,
                    'measured',
                ),
                libfabric=make_fact(
                    '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                    'the network library of the host has the provider cxi',
                    'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE,
                    _READ_DATE,
                    'measured',
                    release='1.22.0',
                ),
                libcxi=make_fact(
                    '/usr/lib64/libcxi.so.1',
                    'the host\'s libfabric reaches the Slingshot card through libcxi',
                    'SINGULARITYENV_LD_PRELOAD in ' + _MODULE,
                    _READ_DATE,
                    'measured',
                ),
                libxpmem=make_fact(
                    '/opt/cray/xpmem/default/lib64/libxpmem.so.0',
                    'Cray MPICH shares memory between ranks of a node by XPMEM',
                    'SINGULARITYENV_LD_LIBRARY_PATH and SINGULARITYENV_LD_PRELOAD in ' + _MODULE,
                    _READ_DATE,
                    'measured',
                ),
                **dict(
                    make_pmi_libraries(
                        '/opt/cray/pe/pmi/default/lib',
                        '/opt/cray/pe/pals/default/lib',
                        'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE,
                        _READ_DATE,
                        'measured',
                    ),
                    **make_rocm_libraries(_ROCM, _ROCM_SOURCE, _REREAD_DATE, 'derived'),
                ),
            ),
            'files': {
                'file_systems': make_fact(
                    ['/askapbuffer', '/data/references', '/scratch', '/software'],
                    'these file systems have the data of users, and the software and reference '
                    'data of Setonix',
                    'SINGULARITY_BINDPATH in ' + _MODULE + ' and, with /data/references, 00173dea',
                    _READ_DATE,
                    'measured',
                    bound='install',
                ),
                'slurm_spool': make_spool_fact(
                    'SINGULARITY_BINDPATH in ' + _MODULE + ', where it is there',
                    _READ_DATE,
                    'measured',
                ),
            },
            'conflicts': make_fact(
                ['singularity/4.1.0-mpi', 'singularity/4.1.0-mpi-gpu'],
                'they put the whole library folder of the host and Cray MPICH before the image\'s own libraries: take '
                'singularity/4.1.0-nompi',
                _MODULE + '; -mpi-gpu: ' + _GPU_TEST,
                _REREAD_DATE,
                'derived',
            ),
            'images': make_fact(
                LUMI['lumi-25.03']['images']['value'],
                'the images made for LUMI, with an MPICH built with a libfabric that is not newer than the host\'s; '
                'opensource one with libcxi',
                'osu_container/build/recipes/images.py',
                _FIRST_READ_DATE,
                'untested',
            ),
            'jobs': make_fact(
                {
                    'partition': 'gpu',
                    'account': True,
                    'options': ['--exclusive', '--gpus-per-node=8'],
                    'step': ['--gpus-per-node=8'],
                },
                'whole nodes, so that nothing else is on the cards; the account is that of the project with '
                '-gpu behind it',
                _GUIDE + ', which writes --gres=gpu:8; --gpus-per-node in ' + _SETTINGS,
                _REREAD_DATE,
                'derived',
            ),
            'native': make_fact(
                make_native_build('6.4.1', '8.1.32'),
                'GCC with the release of Cray MPICH of Pawsey\'s module',
                'PrgEnv-gnu with cray-mpich/8.1.32: ' + _SETTINGS + '; ROCm: ' + _ROCM_SOURCE,
                _REREAD_DATE,
                'derived',
            ),
        },
        **make_rocm_folders(
            _ROCM, 'folders as on LUMI; ROCm: ' + _ROCM_SOURCE, _REREAD_DATE, 'derived'
        ),
    ),
}

#: Its GTL needs ROCm 7 (libamdhip64.so.7, seen on Tuolumne), of which nobody has shown a folder on
#: Setonix: without both, buffers in GPU memory are left to opensource and hybrid
STACKS['setonix-26.03'] = {
    'based_on': 'setonix',
    'title': 'Setonix (Pawsey), GPU nodes, cpe/26.03 with Cray MPICH 9.1.0',
    'stack': make_stack_fact('setonix', '26.03', ['9.1.0']),
    'libraries': dict(
        make_mpich_libraries(
            '9.1.0',
            _CPE + '; ' + _NEXT,
            '2026-11-26',
            'measured',
            'hsa',
            _NEXT,
            '2026-11-26',
            'derived',
        ),
        libmpi_gtl_hsa=None,
        libamdhip64=None,
        libfabric=make_fact(
            '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
            'the network library of the host has the provider cxi',
            _CPE,
            '2026-11-26',
            'measured',
            release='2.3.1',
        ),
        libxpmem=make_fact(
            '/opt/xpmem/lib64/libxpmem.so.0',
            'Cray MPICH shares memory between ranks of a node by XPMEM',
            'SINGULARITYENV_LD_PRELOAD of the '
            + _NEXT
            + '; a user has /opt/cray/xpmem/default/lib64 still',
            '2026-11-26',
            'derived',
        ),
        **{'libhsa-runtime64': None},
    ),
    'library_folders': make_fact(
        SLES_FOLDERS + [AMD_FOLDER],
        'as for the present stack, less its ROCm',
        _NEXT,
        '2026-11-26',
        'derived',
    ),
    'one_build': make_fact([], 'no folder of ROCm is known', _NEXT, '2026-11-26', 'derived'),
    'images': dict(
        STACKS['setonix']['images'],
        value=dict(
            (name, image)
            for name, image in STACKS['setonix']['images']['value'].items()
            if 'bind' not in name
        ),
    ),
    'native': make_fact(
        None, 'nobody has shown with which ROCm it builds', _NEXT, '2026-11-26', 'untested'
    ),
}

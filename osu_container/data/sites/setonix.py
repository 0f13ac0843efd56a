"""
Describe Setonix (Pawsey, Perth): GPU nodes with four MI250X and Slingshot 11.

schema.py explains the keys of the data. This project has never run a program on Setonix: 'measured' means that
Pawsey's module for Singularity, a page of Pawsey or a public log shows the value. Pawsey's next
stack, cpe/26.03, has Cray MPICH 9.1.0 and libfabric 2.3.1; Pawsey tested this stack on the test
system Joey first.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    AMD_FOLDERS,
    FOLDERS_AS_ON_LUMI,
    MI250X,
    PAWSEYS_BINDS,
    exclude_bind,
    make_fact,
    make_gpu_binding,
    make_jobs,
    make_libfabric_needs,
    make_mpich_libraries,
    make_pmi_libraries,
    make_rocm_build,
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
#: Pawsey's tests of its images with the OSU Micro-Benchmarks
_GPU_TEST = (
    'github.com/PawseySC/pawsey-containers 803482ae, setonix/mpi/tests/test_06_osu-gpu.slurm.sh'
)
_SETTINGS = 'github.com/PawseySC/pawsey-containers fec8273d, setonix/mpi/tests/tests-support/rfm_settings.py'
#: Pawsey's test of its images with Cray MPICH 9.1.0 on its test system, and settings of a user of
#: Setonix
_NEXT = (
    'script for cray-mpich/9.1.0 and libfabric/2.3.1 (github.com/PawseySC/pawsey-containers, pull '
    'request 92 and issue 86)'
)
_CPE = (
    'SINGULARITYENV_LD_LIBRARY_PATH in a user\'s public script for Setonix: "Use this until the '
    'default cpe 26.03"'
)
_ROCM = '/software/setonix/rocm/rocm-6.4.1/lib'
_ROCM_SOURCE = (
    'module rocm/6.4.1 (github.com/quokka-astro/quokka 82fd8baf, '
    'scripts/hpc_profiles/setonix-gpu.profile); folder in a user\'s build script: '
    '-DOpenCL_INCLUDE_DIR=/software/setonix/rocm/rocm-6.4.1/include'
)
_FIRST_READ_DATE, _READ_DATE, _REREAD_DATE = '2026-11-21', '2026-05-18', '2026-11-23'

STACKS: Dict[str, Dict[str, Any]] = {
    'setonix': {
        'based_on': 'cray-rocm',
        'title': 'Setonix (Pawsey), GPU nodes, Cray MPICH 8.1.32',
        'recognised_by': make_fact(
            {
                'hostnames': [r'^setonix-\d\d', r'^nid\d{6}'],
                'environment': {'PAWSEY_CLUSTER': '^setonix$'},
            },
            'the names of compute nodes do not identify Setonix, because other HPE Cray '
            'systems use the same names; therefore PAWSEY_CLUSTER must match too',
            'Pawsey\'s batch jobs distinguish Setonix from the test system with '
            'PAWSEY_CLUSTER: ' + _GPU_TEST + '; host names: ' + _GUIDE,
            _REREAD_DATE,
            'derived',
        ),
        'stack': make_stack_fact('setonix', '8.1.32', ['8.1.32', '']),
        'runtime': make_fact(
            ['singularity'],
            'the modules singularity/4.1.0-* provide SingularityCE 4.1.0',
            _MODULE,
            _READ_DATE,
            'measured',
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'host': 'cray_shasta'},
            'MPICH uses PMI-2, and Cray MPICH uses Cray PMI, the default of '
            'srun; no public source says that srun has pmix',
            'pmi2 as on LUMI, which has a similar Slurm; '
            'srun without --mpi= for Cray MPICH: ' + _GPU_TEST,
            _REREAD_DATE,
            'untested',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding(MI250X, 8, gpus_per_card=2),
            'each rank uses the cores and the network card closest to the GCD of the '
            'rank. Jobs get all eight cores of a group. The numbers of the cards come '
            'from LUMI, which has the same nodes',
            _GUIDE + ', methods to achieve optimal binding: map_cpu:49,57,17,25,0,9,33,41',
            _FIRST_READ_DATE,
            'derived',
        ),
        'libraries': {
            **make_mpich_libraries(
                '8.1.32',
                'SINGULARITYENV_LD_LIBRARY_PATH in '
                + _MODULE
                + '; "CRAY MPICH version 8.1.32.110" in jobs 49382367 and 49764166 of September 2026 '
                'in an image by singularity/4.1.0-mpi (github.com/underworldcode/underworld3, '
                'findings on Setonix)',
                '2026-09-21',
                'measured',
                'hsa',
                'SINGULARITYENV_LD_PRELOAD in ' + _MODULE,
                _READ_DATE,
                'measured',
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi",
                'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE,
                _READ_DATE,
                'measured',
                release='1.22.0',
            ),
            'libcxi': make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric uses this library for the Slingshot card',
                'SINGULARITYENV_LD_PRELOAD in ' + _MODULE,
                _READ_DATE,
                'measured',
            ),
            'libxpmem': make_fact(
                '/opt/cray/xpmem/default/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                'SINGULARITYENV_LD_LIBRARY_PATH and SINGULARITYENV_LD_PRELOAD in ' + _MODULE,
                _READ_DATE,
                'measured',
            ),
            **make_pmi_libraries(
                '/opt/cray/pe/pmi/default/lib',
                '/opt/cray/pe/pals/default/lib',
                'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE,
                _READ_DATE,
                'measured',
            ),
            **make_rocm_libraries('6.4.1', _ROCM, _ROCM_SOURCE, _REREAD_DATE, 'derived'),
        },
        'libfabric_needs': make_libfabric_needs(
            '5',
            'json-c: modulefile.lua in github.com/PawseySC/pawsey-spack-config, commit 25b3ab1; '
            'the rest as in ' + PAWSEYS_BINDS,
            _REREAD_DATE,
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/askapbuffer', '/data/references', '/scratch', '/software'],
                'these folders contain the users\' data, and the software and reference data '
                'of Setonix',
                'SINGULARITY_BINDPATH in ' + _MODULE + ' and, with /data/references, 00173dea',
                _READ_DATE,
                'measured',
                bound='install',
            ),
            'slurm_spool': make_spool_fact(
                'SINGULARITY_BINDPATH in ' + _MODULE + ', if the folder exists', _READ_DATE
            ),
        },
        'conflicts': make_fact(
            ['singularity/4.1.0-mpi', 'singularity/4.1.0-mpi-gpu'],
            "Pawsey's modules put the host's whole library folder and Cray MPICH before "
            "the image's own libraries; load singularity/4.1.0-nompi instead",
            _MODULE + '; -mpi-gpu: ' + _GPU_TEST,
            _REREAD_DATE,
            'derived',
        ),
        'images': make_fact(
            LUMI['lumi-25.03']['images']['value'],
            'the images for LUMI have an MPICH built with a libfabric that is not newer '
            "than the host's libfabric. The image for opensource has libcxi",
            'osu_container/build/recipes/images.py',
            _FIRST_READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            make_jobs('gpu', True, 8),
            'the job gets whole nodes, so that no other job uses the network cards; the '
            'account is the name of the project followed by -gpu',
            _GUIDE + ', which writes --gres=gpu:8; --gpus-per-node in ' + _SETTINGS,
            _REREAD_DATE,
            'derived',
        ),
        'native': make_fact(
            make_rocm_build(
                'gnu',
                '6.4.1',
                '/opt/cray/pe/mpich/8.1.32/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12',
            ),
            'the compiler is GCC, and Cray MPICH has the version of Pawsey\'s module',
            'PrgEnv-gnu with cray-mpich/8.1.32: ' + _SETTINGS + '; ROCm: ' + _ROCM_SOURCE,
            _REREAD_DATE,
            'derived',
        ),
        **make_rocm_folders(
            _ROCM,
            FOLDERS_AS_ON_LUMI,
            'folders as on LUMI; ROCm version: ' + _ROCM_SOURCE,
            _REREAD_DATE,
            'derived',
        ),
    },
}

#: The GTL of Cray MPICH 9.1.0 needs ROCm 7 (libamdhip64.so.7, as on Tuolumne), and no source names
#: a folder of ROCm 7 on Setonix. This entry omits both, so that only opensource and hybrid support
#: buffers in GPU memory.
STACKS['setonix-26.03'] = {
    'based_on': 'setonix',
    'title': 'Setonix (Pawsey), GPU nodes, cpe/26.03 with Cray MPICH 9.1.0',
    'stack': make_stack_fact('setonix', '26.03', ['9.1.0']),
    'libraries': {
        **make_mpich_libraries(
            '9.1.0',
            _CPE + '; ' + _NEXT,
            '2026-11-26',
            'measured',
            'hsa',
            _NEXT,
            '2026-11-26',
            'derived',
        ),
        'libmpi_gtl_hsa': None,
        'libamdhip64': None,
        'libfabric': make_fact(
            '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
            "this library is the host's libfabric with the provider cxi",
            _CPE,
            '2026-11-26',
            'measured',
            release='2.3.1',
        ),
        'libxpmem': make_fact(
            '/opt/xpmem/lib64/libxpmem.so.0',
            'Cray MPICH uses this library to share memory within a node',
            'SINGULARITYENV_LD_PRELOAD of the '
            + _NEXT
            + '; a user still has /opt/cray/xpmem/default/lib64',
            '2026-11-26',
            'derived',
        ),
        'libhsa-runtime64': None,
    },
    'library_folders': make_fact(
        AMD_FOLDERS,
        'the folders are the folders of the current stack, without the ROCm of the current stack',
        _NEXT,
        '2026-11-26',
        'derived',
    ),
    'one_build': make_fact(
        [], 'no source names a folder of ROCm for this stack', _NEXT, '2026-11-26', 'derived'
    ),
    'images': exclude_bind(STACKS['setonix']['images']),
    'native': make_fact(
        None,
        'no published ROCm version is known with which the benchmarks can be built',
        _NEXT,
        '2026-11-26',
        'untested',
    ),
}

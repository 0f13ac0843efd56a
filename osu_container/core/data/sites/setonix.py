"""
Setonix (Pawsey, Perth), its GPU nodes: HPE Cray EX, four MI250X and Slingshot 11 on a node. Data only.

The keys are explained in schema.py. Nothing here was run on Setonix by this project. 'measured' means that
Pawsey's own module for Singularity, its pages or a public log show it there. Pawsey's next stack has Cray MPICH 9.1.0
and libfabric 2.3.1; in September 2026 it was on its test system Joey, and on Setonix with module cpe/26.03.
"""
from osu_container.core.data.sites.cray import (
    MI250X,
    cray_mpich,
    cray_pmi,
    fact,
    gpu_map,
    native_rocm,
    rocm,
    rocm_folders,
    spool,
)
from osu_container.core.data.sites.lumi import mpi4py_images

_MODULE = ('Pawsey\'s module of Singularity (github.com/PawseySC/pawsey-spack-config 25b3ab1, '
           'systems/setonix/templates/modules/modulefile.lua)')
_GUIDE = 'Pawsey documentation, Setonix GPU Partition Quick Start'
#: Pawsey's own tests of its images with the OSU Micro-Benchmarks
_GPU_TEST = 'github.com/PawseySC/pawsey-containers 803482ae, setonix/mpi/tests/test_06_osu-gpu.slurm.sh'
_SETTINGS = 'github.com/PawseySC/pawsey-containers fec8273d, setonix/mpi/tests/tests-support/rfm_settings.py'
#: An image in jobs on Setonix in September 2026: which Cray MPICH it got, and that it used the Slingshot network
_JOBS = ('jobs 49382367 and 49764166 of September 2026 in an image by singularity/4.1.0-mpi '
         '(github.com/underworldcode/underworld3, findings on Setonix)')
_ROCM = '/software/setonix/rocm/rocm-6.4.1/lib'
_OF_ROCM = ('module rocm/6.4.1 (github.com/quokka-astro/quokka 82fd8baf, scripts/hpc_profiles/setonix-gpu.profile); '
            'folder in a user\'s build script: -DOpenCL_INCLUDE_DIR=/software/setonix/rocm/rocm-6.4.1/include')
_TODAY, _READ, _AGAIN = '2026-11-21', '2026-05-18', '2026-11-23'

STACKS = {
    'setonix': dict({
        'based_on': 'cray-rocm',
        'title': 'Setonix (Pawsey), GPU nodes, Cray MPICH 8.1.32',
        'recognised_by': fact(
            {'hostnames': [r'^setonix-\d\d', r'^nid\d{6}'], 'environment': {'PAWSEY_CLUSTER': '^setonix$'}},
            'names of login and compute nodes; compute nodes of other HPE Cray systems are called the same, so a '
            'variable of Pawsey\'s decides', 'Pawsey\'s batch jobs tell Setonix from its test system by '
            'PAWSEY_CLUSTER: ' + _GPU_TEST + '; host names: ' + _GUIDE, _AGAIN, 'derived'),
        'runtime': fact(['singularity'], 'SingularityCE 4.1.0, by the modules singularity/4.1.0-...',
                        _MODULE, _READ, 'measured'),
        'pmi': fact({'image': 'pmi2', 'host': 'cray_shasta'}, 'MPICH speaks PMI-2, Cray MPICH Cray PMI, which is '
                    'srun\'s default; nothing public says that srun has pmix', 'pmi2 as on LUMI, whose Slurm is of the '
                    'same maker; srun without --mpi= for Cray MPICH: ' + _GPU_TEST, _AGAIN, 'untested'),
        'gpu_binding': fact(
            gpu_map(MI250X, 8), 'each rank on the cores and the card next to its GCD; jobs get all eight cores of a '
            'group; cards as on LUMI, whose node is the same',
            _GUIDE + ', methods to achieve optimal binding: map_cpu:49,57,17,25,0,9,33,41', _TODAY, 'derived'),
        'libraries': dict(
            cray_mpich('8.1.32', 'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE + '; "CRAY MPICH version 8.1.32.110" '
                       'in ' + _JOBS, '2026-09-21', 'measured', 'hsa',
                       'SINGULARITYENV_LD_PRELOAD in ' + _MODULE, _READ, 'measured'),
            libfabric=fact('/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                           'the host\'s network library with its cxi provider',
                           'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE, _READ, 'measured', release='1.22.0'),
            libcxi=fact('/usr/lib64/libcxi.so.1', 'the host\'s libfabric reaches the Slingshot card through it',
                        'SINGULARITYENV_LD_PRELOAD in ' + _MODULE, _READ, 'measured'),
            libxpmem=fact('/opt/cray/xpmem/default/lib64/libxpmem.so.0',
                          'Cray MPICH shares memory between the ranks of a node by it',
                          'SINGULARITYENV_LD_LIBRARY_PATH and SINGULARITYENV_LD_PRELOAD in ' + _MODULE, _READ,
                          'measured'),
            **dict(cray_pmi('/opt/cray/pe/pmi/default/lib', '/opt/cray/pe/pals/default/lib',
                            'SINGULARITYENV_LD_LIBRARY_PATH in ' + _MODULE, _READ, 'measured'),
                   **rocm(_ROCM, _OF_ROCM, _AGAIN, 'derived'))),
        'files': {
            'file_systems': fact(['/askapbuffer', '/data/references', '/scratch', '/software'], 'the users\' data, and '
                                 'Setonix\' software and reference data', 'SINGULARITY_BINDPATH in ' + _MODULE +
                                 ' and, with /data/references, 00173dea', _READ, 'measured', bound='install'),
            'slurm_spool': spool('SINGULARITY_BINDPATH in ' + _MODULE + ', where it is there', _READ, 'measured'),
        },
        'conflicts': fact(
            ['singularity/4.1.0-mpi', 'singularity/4.1.0-mpi-gpu'],
            'they put the whole library folder of the host and Cray MPICH before the image\'s own libraries: take '
            'singularity/4.1.0-nompi', _MODULE + '; -mpi-gpu: ' + _GPU_TEST,
            _AGAIN, 'derived'),
        'images': fact(
            dict(mpi4py_images('6.3.4', 'mpich-4.2.3-libfabric-1.22.0', 'mpich-4.2.3-libfabric-1.22.0-libcxi', '-cupy'),
                 opensource='osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0-libcxi.sif', **dict.fromkeys(
                     ['pure', 'bind', 'hybrid', 'swap'], 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif')),
            'the images made for LUMI, with an MPICH built with a libfabric that is not newer than the host\'s; '
            'opensource one with libcxi', 'osu_container/recipes/images.py', _TODAY, 'untested'),
        'jobs': fact(
            {'partition': 'gpu', 'account': True, 'options': ['--exclusive', '--gpus-per-node=8'],
             'step': ['--gpus-per-node=8']},
            'whole nodes, so that nothing else is on the cards; the account is that of the project with -gpu behind it',
            _GUIDE + ', which writes --gres=gpu:8; --gpus-per-node in ' + _SETTINGS, _AGAIN, 'derived'),
        'native': fact(native_rocm('6.4.1', '8.1.32'), 'GCC with the release of Cray MPICH of Pawsey\'s module',
                       'PrgEnv-gnu with cray-mpich/8.1.32: ' + _SETTINGS + '; ROCm: ' + _OF_ROCM, _AGAIN, 'derived'),
    }, **rocm_folders(_ROCM, 'folders as on LUMI; ROCm: ' + _OF_ROCM, _AGAIN, 'derived')),
}

"""
Describe Perlmutter (NERSC): GPU nodes of HPE Cray EX, four A100 and Slingshot 11.

Data only; schema.py explains the keys. This project ran nothing on Perlmutter. 'measured' means that
NERSC's software, or a public log, shows it there. NERSC has podman-hpc and no Apptainer:
docs/contributions has files for that engine. Since the maintenance of 2026-09-16 Cray MPICH 9.1.0
and CUDA 13.2 are the default (E3SM issue 8745; geodynamics' SW4); users have published more about
9.0.1, which is still installed.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    SLES_FOLDERS,
    make_fact,
    make_gpu_binding,
    make_mpich_libraries,
    make_nccl_variables,
    make_pmi_libraries,
    make_spool_fact,
    make_stack_fact,
)

_PODMAN = 'podman-hpc 1.2.2 (PyPI; github.com/NERSC/podman-hpc 01b02d6), etc/podman_hpc/modules.d/'
_MACHE = (
    'report of 2026-09-22 on building with Spack on Perlmutter (github.com/E3SM-Project/mache, '
    'pull request for Spack 1.x)'
)
_USER = 'a user\'s job script for Perlmutter: "the ABI-compat dir where libmpi.so.12 lives"'
#: Two MPIs in one process, found on Perlmutter in September 2026: which releases are there, and
#: what is the default
_LORRAX = 'notes of 2026-09-30 on builds on Perlmutter (github.com/jackmcarthur/lorrax f43150f7, config/perlmutter)'
_CUDA = '/opt/nvidia/hpc_sdk/Linux_x86_64/25.5/cuda/12.9'
#: Programs needed libcudart.so.13 when the GTL of the default release had changed, though none was
#: built with CUDA 13
_CUDA_13 = (
    'libcudart.so.13 is looked for by programs built with CUDA 12 since the maintenance of 2026-08-19 '
    '(github.com/E3SM-Project/E3SM issue 8650)'
)
_NEW_USER = 'a user\'s README (github.com/Rafael9104/lya2pcf 00d892ff, section NERSC)'
_MPICH = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
_MPI4PY = 'osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
_FIRST_READ_DATE, _READ_DATE, _REREAD_DATE = '2026-11-21', '2026-06-02', '2026-11-23'

STACKS: Dict[str, Dict[str, Any]] = {
    'perlmutter': {
        'based_on': 'cray-cuda',
        'title': 'Perlmutter (NERSC), GPU nodes, Cray MPICH 9.0.1 with libfabric 2.3.1',
        'recognised_by': make_fact(
            {
                'hostnames': [r'^login\d\d', r'^nid\d{6}'],
                'environment': {'NERSC_HOST': '^perlmutter$'},
            },
            'names of login and compute nodes; other systems call theirs the same, so NERSC\'s variable decides',
            _MACHE + ': NERSC_HOST=perlmutter',
            '2026-09-22',
            'derived',
        ),
        'stack': make_stack_fact('perlmutter', '9.0.1', ['9.0.1', '']),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            'NERSC offers neither, but podman-hpc: who brings an Apptainer of their own '
            'can use the modules, for podman-hpc there are docs/contributions/*.yaml',
            'NERSC documentation, Containers; a user\'s script took the Apptainer of CVMFS, with NERSC\'s copy of Cray '
            'MPICH: /cvmfs/oasis.opensciencegrid.org/mis/apptainer/current/bin',
            _REREAD_DATE,
            'untested',
        ),
        'engine': make_fact(
            'podman-hpc',
            'the system\'s own container engine, which runs no SIF: '
            'docs/contributions has files for it',
            _PODMAN + 'mpich.yaml',
            _READ_DATE,
            'measured',
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'host': 'cray_shasta', 'Open MPI': 'pmix'},
            'MPICH speaks PMI-2, Cray MPICH Cray PMI, Open MPI PMIx',
            _PODMAN + 'openmpi-pmi2.yaml, openmpi-pmix.yaml, mpich.yaml (PALS_*, PMI_*)',
            _READ_DATE,
            'derived',
        ),
        'gpu': make_fact(
            'sm_80',
            'four A100 on a node',
            'NERSC documentation, Perlmutter architecture',
            _READ_DATE,
            'measured',
        ),
        'gpu_driver': make_fact(
            '580',
            'which CUDA an image may have: at least this one, which CUDA 13 needs',
            'CUDA 13 is '
            'the default, and programs are run with it: github.com/cctbx/cctbx_project pull request '
            '1231, github.com/E3SM-Project/E3SM issue 8650',
            '2026-09-09',
            'derived',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding(
                [(0, 48, 'cxi0'), (1, 32, 'cxi1'), (2, 16, 'cxi2'), (3, 0, 'cxi3')], 16
            ),
            'GPUs are numbered against the cores: GPU 0 is next to the last 16 (seen in public scripts); which card is '
            'next to which GPU is a guess',
            'scripts for Perlmutter set CUDA_VISIBLE_DEVICES=3-SLURM_LOCALID (ExaEpi, '
            'WarpX); cores as in nvidia-smi topo -m of a node of this kind',
            _FIRST_READ_DATE,
            'untested',
        ),
        'libraries': dict(
            make_mpich_libraries(
                '9.0.1',
                _USER + '; this release is still there, beside the default 9.1.0: ' + _LORRAX,
                '2026-09-30',
                'measured',
                'cuda',
                _PODMAN + 'gpu.yaml takes it from /opt/cray/pe/mpich/default/gtl/lib',
                _READ_DATE,
                'derived',
            ),
            libfabric=make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                'the network library of the host has the provider cxi; release 1.22.0 was removed',
                _MACHE,
                '2026-09-22',
                'measured',
                release='2.3.1',
            ),
            libcxi=make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric reaches the Slingshot card through libcxi',
                _PODMAN + 'nccl.yaml',
                _READ_DATE,
                'measured',
            ),
            libxpmem=make_fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH shares memory between ranks of a node by XPMEM',
                _PODMAN + 'nccl.yaml',
                _READ_DATE,
                'measured',
            ),
            libcudart=make_fact(
                _CUDA + '/lib64/libcudart.so.12',
                'Cray\'s GPU transport layer needs this CUDA runtime; the default release 13.2 has'
                ' another name',
                'CUDA_HOME in several public build scripts for '
                'Perlmutter, which name that folder since the default changed',
                '2026-09-04',
                'measured',
            ),
            **make_pmi_libraries(
                '/opt/cray/pe/lib64',
                '/opt/cray/pe/lib64',
                'folder of links to the default releases, as on LUMI and Frontier; it is on the library path of '
                'runs: ' + _LORRAX,
                _REREAD_DATE,
                'derived',
            ),
        ),
        'library_folders': make_fact(
            SLES_FOLDERS,
            'where the host\'s ld.so looks: folders of SLES, then of Cray\'s packages, as on LUMI',
            'as on LUMI',
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/global', '/pscratch'],
                'these file systems are scratch, the community file system, home and the common '
                'software',
                'NERSC documentation, file systems; paths in ' + _MACHE,
                '2026-09-22',
                'derived',
                bound='install',
            ),
            'slurm_spool': make_spool_fact(_PODMAN + 'mpich.yaml', _READ_DATE, 'measured'),
        },
        'variables': make_nccl_variables(_PODMAN + 'nccl.yaml', _READ_DATE, 'measured'),
        'images': make_fact(
            {
                'pure': _MPICH,
                'bind': _MPICH,
                'hybrid': _MPICH,
                'swap': _MPICH,
                'openmpi': 'osu-alps-cuda-12.8.1-openmpi-5.0.11-libfabric-2.6.0-libcxi.sif',
                'osu-mpi4py/pure': _MPI4PY,
                'osu-mpi4py/bind': _MPI4PY,
                'osu-mpi4py/hybrid': _MPI4PY,
            },
            'the image of Alps, built on an x86_64 machine, has CUDA and cxi; MPICH is there without CUDA only, for '
            'host memory, and no MPICH image for opensource has libcxi without ROCm',
            'osu_container/build/recipes/images.py',
            _FIRST_READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            {
                'partition': None,
                'account': True,
                'options': ['--exclusive', '--constraint=gpu', '--gpus-per-node=4'],
                'step': ['--gpus-per-node=4'],
            },
            'GPU nodes are asked for by a constraint and not by a partition; names of accounts end in _g',
            'NERSC training, github.com/NERSC/Migrate-to-Perlmutter; Perlmutter pages of WarpX',
            _FIRST_READ_DATE,
            'derived',
        ),
        'native': make_fact(
            {
                'mpicc': 'cc',
                'mpicxx': 'CC',
                'python': '/usr/bin/python3',
                'prgenv': 'gnu',
                'libmpi': '/opt/cray/pe/mpich/9.0.1/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12',
                'modules': ['PrgEnv-gnu', 'craype-accel-nvidia80', 'cudatoolkit/12.9'],
                'plugin': None,
                'configopts': '--enable-cuda --with-cuda=$CUDA_HOME LDFLAGS="-Wl,-rpath,$CRAY_MPICH_DIR/lib '
                '-Wl,-rpath,$CRAY_MPICH_ROOTDIR/gtl/lib"',
                'needed': ['libmpi_gtl_cuda.so.0'],
            },
            'GCC with the accelerator module, which links the GPU transport layer',
            'modules of E3SM for pm-gpu: github.com/E3SM-Project/mache 239a66a8; with cudatoolkit/12.9: '
            'github.com/E3SM-Project/E3SM pull request 8113',
            _REREAD_DATE,
            'derived',
        ),
    },
    'perlmutter-9.1.0': {
        'based_on': 'perlmutter',
        'title': 'Perlmutter (NERSC), GPU nodes, Cray MPICH 9.1.0, the default since September 2026',
        'stack': make_stack_fact('perlmutter', '9.1.0', ['9.1.0']),
        'libraries': dict(
            make_mpich_libraries(
                '9.1.0',
                'LD_LIBRARY_PATH in ' + _NEW_USER,
                '2026-11-26',
                'measured',
                'cuda',
                _PODMAN + 'gpu.yaml takes it from /opt/cray/pe/mpich/default/gtl/lib',
                _READ_DATE,
                'derived',
            ),
            libcudart=make_fact(
                '/opt/nvidia/hpc_sdk/Linux_x86_64/26.5/cuda/13.2/lib64/libcudart.so.13',
                'Cray\'s GPU transport layer needs this CUDA runtime',
                _CUDA_13 + '; folder: its math_libs in ' + _NEW_USER,
                '2026-11-26',
                'derived',
            ),
        ),
        'native': make_fact(
            None,
            'nobody has shown with which modules the benchmarks are built with CUDA 13',
            'no page or script of the system',
            '2026-11-26',
            'untested',
        ),
    },
}

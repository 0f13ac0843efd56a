"""
Describe Perlmutter (NERSC): HPE Cray EX, GPU nodes with four A100 and Slingshot 11.

schema.py explains the keys of the data. This project has never run a program on Perlmutter: 'measured' means
that NERSC's software or a public log shows the value. NERSC offers podman-hpc instead of Apptainer.
The folder docs/contributions contains configuration files for podman-hpc. Since the maintenance of
2026-09-16, Cray MPICH 9.1.0 and CUDA 13.2 are the default (E3SM issue 8745; geodynamics' SW4). Cray MPICH
9.0.1 is still installed, and users have published more results with 9.0.1 than with 9.1.0.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    SLES_FOLDERS,
    make_fact,
    make_gpu_binding,
    make_jobs,
    make_mpich_libraries,
    make_native_build,
    make_nccl_variables,
    make_pmi_libraries,
    make_spool_fact,
    make_stack_fact,
)

_PODMAN = 'podman-hpc 1.2.2 (PyPI; github.com/NERSC/podman-hpc 01b02d6, etc/modules.d), '
_MACHE = (
    'report of 2026-09-22 on building with Spack on Perlmutter (github.com/E3SM-Project/mache, '
    'pull request for Spack 1.x)'
)
#: Notes of September 2026 about two MPIs in one process on Perlmutter; they name the installed
#: versions of Cray MPICH and the default
_LORRAX = 'notes of 2026-09-30 on builds on Perlmutter (github.com/jackmcarthur/lorrax f43150f7, config/perlmutter)'
_NEW_USER = 'a user\'s README (github.com/Rafael9104/lya2pcf 00d892ff, section NERSC)'
_MPICH = 'osu-workstation-mpich-4.2.3-libfabric-2.1.0.sif'
_MPI4PY = 'osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-2.1.0.sif'
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
            'the names of nodes do not identify Perlmutter, because other systems use the same '
            'names; therefore NERSC_HOST must match too',
            _MACHE + ': NERSC_HOST=perlmutter',
            '2026-09-22',
            'derived',
        ),
        'stack': make_stack_fact('perlmutter', '9.0.1', ['9.0.1', '']),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            'NERSC offers podman-hpc, but neither Apptainer nor Singularity. Users who '
            'install Apptainer themselves can use the modules, and docs/contributions/*.yaml '
            'are files for podman-hpc',
            'NERSC documentation, Containers; a user\'s script uses Apptainer from CVMFS, with '
            'NERSC\'s copy of Cray MPICH: '
            '/cvmfs/oasis.opensciencegrid.org/mis/apptainer/current/bin',
            _REREAD_DATE,
            'untested',
        ),
        'engine': make_fact(
            'podman-hpc',
            'the container engine of the system runs no SIF files; '
            'docs/contributions has files for this engine',
            _PODMAN + 'mpich.yaml',
            _READ_DATE,
            'measured',
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'host': 'cray_shasta', 'Open MPI': 'pmix'},
            'MPICH uses PMI-2, Cray MPICH uses Cray PMI, and Open MPI uses PMIx',
            _PODMAN + 'openmpi-pmi2.yaml, openmpi-pmix.yaml, mpich.yaml (PALS_*, PMI_*)',
            _READ_DATE,
            'derived',
        ),
        'gpu': make_fact(
            'sm_80',
            'each node has four A100',
            'NERSC documentation, Perlmutter architecture',
            _READ_DATE,
            'measured',
        ),
        'gpu_driver': make_fact(
            '580',
            'the driver limits the CUDA version of images; the driver is at least 580, which '
            'CUDA 13 needs',
            'CUDA 13 is the default, and programs run with CUDA 13: '
            'github.com/cctbx/cctbx_project pull request 1231, github.com/E3SM-Project/E3SM issue '
            '8650',
            '2026-09-09',
            'derived',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding([48, 32, 16, 0], 16),
            'GPUs and cores are numbered in opposite order: GPU 0 is closest to the last 16 cores '
            '(as in public scripts); the assignment of network cards to GPUs is a guess',
            'job scripts of ExaEpi and WarpX for Perlmutter set CUDA_VISIBLE_DEVICES to 3 minus '
            'SLURM_LOCALID; the cores are those that `nvidia-smi topo -m` lists on a node of this '
            'type',
            _FIRST_READ_DATE,
            'untested',
        ),
        'libraries': {
            **make_mpich_libraries(
                '9.0.1',
                'a user\'s job script for Perlmutter: "the ABI-compat dir where libmpi.so.12 lives"; '
                'this version is still installed, beside the default 9.1.0: ' + _LORRAX,
                '2026-09-30',
                'measured',
                'cuda',
                _PODMAN + 'gpu.yaml uses /opt/cray/pe/mpich/default/gtl/lib',
                _READ_DATE,
                'derived',
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi; version 1.22.0 "
                'was removed',
                _MACHE,
                '2026-09-22',
                'measured',
                release='2.3.1',
            ),
            'libcxi': make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric uses this library for the Slingshot card',
                _PODMAN + 'nccl.yaml',
                _READ_DATE,
                'measured',
            ),
            'libxpmem': make_fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                _PODMAN + 'nccl.yaml',
                _READ_DATE,
                'measured',
            ),
            'libcudart': make_fact(
                '/opt/nvidia/hpc_sdk/Linux_x86_64/25.5/cuda/12.9/lib64/libcudart.so.12',
                'Cray\'s GPU transport layer needs this CUDA runtime; the '
                'default CUDA 13.2 has a library with another name',
                'CUDA_HOME in several public build scripts for '
                'Perlmutter, which name this folder since the default changed',
                '2026-09-04',
                'measured',
            ),
            **make_pmi_libraries(
                '/opt/cray/pe/lib64',
                '/opt/cray/pe/lib64',
                'folder of links to the default versions, as on LUMI and Frontier; it is on the '
                'library path of runs: ' + _LORRAX,
                _REREAD_DATE,
                'derived',
            ),
        },
        'library_folders': make_fact(
            SLES_FOLDERS,
            "the host's ld.so searches the folders of SLES, then the folders of Cray's "
            'packages, as on LUMI',
            'as on LUMI',
            _FIRST_READ_DATE,
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/global', '/pscratch'],
                'these folders contain scratch, the community file system, home and common '
                'software',
                'NERSC documentation, file systems; paths in ' + _MACHE,
                '2026-09-22',
                'derived',
                bound='install',
            ),
            'slurm_spool': make_spool_fact(_PODMAN + 'mpich.yaml', _READ_DATE),
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
            'the image for Alps has CUDA and cxi if it is built on an x86_64 machine. The '
            'images with MPICH have no CUDA and support host memory only; their glibc 2.41 is newer '
            "than that of the host (fact `glibc`). For approach opensource, no image with MPICH and "
            'libcxi exists without ROCm',
            'osu_container/build/recipes/images.py',
            _FIRST_READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            make_jobs(None, True, 4, '--constraint=gpu'),
            'jobs request GPU nodes with a constraint, not with a partition; names of accounts '
            'end in _g',
            'NERSC training, github.com/NERSC/Migrate-to-Perlmutter; Perlmutter pages of WarpX',
            _FIRST_READ_DATE,
            'derived',
        ),
        'native': make_fact(
            make_native_build(
                'gnu',
                '/opt/cray/pe/mpich/9.0.1/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12',
                ['craype-accel-nvidia80', 'cudatoolkit/12.9'],
                'cuda',
            ),
            'the accelerator module links programs with the GPU transport layer; the compiler is '
            'GCC',
            'modules of E3SM for pm-gpu: github.com/E3SM-Project/mache 239a66a8; with '
            'cudatoolkit/12.9: github.com/E3SM-Project/E3SM pull request 8113',
            _REREAD_DATE,
            'derived',
        ),
    },
    'perlmutter-9.1.0': {
        'based_on': 'perlmutter',
        'title': 'Perlmutter (NERSC), GPU nodes, Cray MPICH 9.1.0, the default since September '
        '2026',
        'stack': make_stack_fact('perlmutter', '9.1.0', ['9.1.0']),
        'libraries': dict(
            make_mpich_libraries(
                '9.1.0',
                'LD_LIBRARY_PATH in ' + _NEW_USER,
                '2026-11-26',
                'measured',
                'cuda',
                _PODMAN + 'gpu.yaml uses /opt/cray/pe/mpich/default/gtl/lib',
                _READ_DATE,
                'derived',
            ),
            libcudart=make_fact(
                '/opt/nvidia/hpc_sdk/Linux_x86_64/26.5/cuda/13.2/lib64/libcudart.so.13',
                'Cray\'s GPU transport layer needs this CUDA runtime',
                # After the default GTL had changed, programs that were built with CUDA 12 needed it.
                'programs built with CUDA 12 need libcudart.so.13 since the maintenance of 2026-08-19 '
                '(github.com/E3SM-Project/E3SM issue 8650); folder: its math_libs in ' + _NEW_USER,
                '2026-11-26',
                'derived',
            ),
        ),
        'native': make_fact(
            None,
            'no published set of modules is known with which the benchmarks can be built for '
            'CUDA 13',
            'no page or script of the system',
            '2026-11-26',
            'untested',
        ),
    },
}

"""
Describe Frontier (OLCF): HPE Cray EX, nodes with four MI250X and Slingshot 11.

schema.py explains the keys of the data. This project has never run a program on Frontier: 'measured' means that
a page or job script of OLCF, or a public log, shows the value. CPE 26.03 with Cray MPICH 9.1.0
is also installed, but is not the default (OLCF, system changes of 2026-04-07). Pages about Perlmutter
and users of Setonix name the folder gnu/12.3/lib-abi-mpich of Cray MPICH 9.1.0; no page about Frontier
names this folder.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    FOLDERS_AS_ON_LUMI,
    MI250X,
    SLES,
    make_fact,
    make_glibc_fact,
    make_gpu_binding,
    make_jobs,
    make_libfabric_needs,
    make_mpich_libraries,
    make_pmi_libraries,
    make_rocm_build,
    make_rocm_folders,
    make_rocm_libraries,
    make_spool_fact,
)
from osu_container.data.sites.lumi import STACKS as LUMI

_GUIDE = 'OLCF, Frontier User Guide (github.com/olcf/olcf-user-docs dd5b01fe, systems/frontier_user_guide.rst)'
_PAGE = 'OLCF, Containers on Frontier (github.com/olcf/olcf-user-docs 2745903, software/containers_on_frontier.rst)'
_SCRIPT = 'submit642.sbatch of the GPU-aware MPI example in github.com/olcf/olcf_containers_examples b4933106'
#: A job on two nodes in July 2026. Its log shows modules, library path and the result of each
#: --mpi=.
_JOB = 'log of job 4953725 of 2026-07-07 (github.com/poietic-pbc/emender 35ed7549)'
_CONTAINER = (
    'a pipeline in an Apptainer container on Frontier (github.com/Q-CAD/Ensemble-FF-Fit af8f8bc1, '
    'examples/Frontier/RMG_MACE_ASE/README.md)'
)
_ROCM = '/opt/rocm-6.4.2/lib'
_FIRST_READ_DATE, _REREAD_DATE = '2026-11-21', '2026-11-23'

STACKS: Dict[str, Dict[str, Any]] = {
    'frontier': {
        'based_on': 'cray-rocm',
        'title': 'Frontier (OLCF), cpe/25.09 with rocm/6.4.2, after the update of May 2026',
        'recognised_by': make_fact(
            {
                'hostnames': [r'^login\d+(\.frontier.*)?$', r'^frontier\d+'],
                'environment': {'LMOD_SYSTEM_NAME': '^frontier$'},
            },
            'the names of login nodes do not identify Frontier, because other systems use the '
            'same names; therefore LMOD_SYSTEM_NAME must match too',
            _GUIDE + ' and nodes in the ' + _JOB + '; LMOD_SYSTEM_NAME: UPC++ on '
            'OLCF Frontier, bitbucket.org/berkeleylab/upcxx',
            _REREAD_DATE,
            'derived',
        ),
        'runtime': make_fact(
            ['apptainer'], 'Apptainer 1.3.6 is on PATH', _PAGE, '2026-07-22', 'measured'
        ),
        'pmi': make_fact(
            {'image': 'pmi2', 'host': 'cray_shasta'},
            'MPICH uses PMI-2, and Cray MPICH uses Cray PMI, the default of srun; srun has no pmix',
            _JOB + ': Cray MPICH runs without --mpi=, srun accepts --mpi=pmi2, and --mpi=pmix is '
            'an "Invalid MPI type"; --mpi=pmi2 for a program in an image: ' + _CONTAINER,
            _REREAD_DATE,
            'derived',
        ),
        # OLCF's examples run images with ROCm 6.2.4, 6.4.2 and 7.2. The version of the driver
        # on the nodes is not published.
        'gpu_userland': make_fact(
            ['6.2', '7.2'],
            'OLCF\'s examples run images with these ROCm versions; the versions that the '
            'driver supports are not published',
            _SCRIPT + ', submit624.sbatch beside it, '
            'frontier/sample_apps/vllm_singlenode/vllm0141rocm72.def 90cb21fd',
            _REREAD_DATE,
            'derived',
        ),
        'slingshot': make_fact(
            '14.0.0',
            'SHS (the Slingshot Host Software) contains the driver of the network cards, '
            'and libcxi of an image must work with this driver',
            'OLCF, system changes of 2026-05-26',
            _REREAD_DATE,
            'measured',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding(MI250X, 8, 1, gpus_per_card=2),
            'each rank uses the cores and the network card closest to the GCD of the '
            'rank. The system keeps the first core of each group of eight (-S 8). The '
            'numbers of the cards come from LUMI, which has the same nodes',
            _GUIDE + ', section on Frontier compute nodes',
            _FIRST_READ_DATE,
            'derived',
        ),
        'libraries': {
            **make_mpich_libraries(
                '9.0.1',
                'module cray-mpich-abi/9.0.1 in '
                + _SCRIPT
                + ', and with an image of a user\'s (github.com/quokka-astro/quokka pull '
                'request 1509, 2025-12-13); its folder for GCC is called as that of 9.1.0 in '
                'the ' + _JOB,
                _REREAD_DATE,
                'derived',
                'hsa',
                'APPTAINERENV_LD_PRELOAD in ' + _SCRIPT,
                '2026-07-22',
                'measured',
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.3.1/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi; version "
                '1.22.0 was removed in May 2026',
                'OLCF, system changes of 2026-05-26; LD_LIBRARY_PATH in the ' + _JOB,
                '2026-07-22',
                'measured',
                release='2.3.1',
            ),
            'libcxi': make_fact(
                '/usr/lib64/libcxi.so.1',
                'the host\'s libfabric uses this library for the Slingshot card',
                'APPTAINER_CONTAINLIBS in ' + _SCRIPT,
                '2026-07-22',
                'measured',
            ),
            'libxpmem': make_fact(
                '/usr/lib64/libxpmem.so.0',
                'Cray MPICH uses this library to share memory within a node',
                'APPTAINER_CONTAINLIBS in ' + _SCRIPT,
                '2026-07-22',
                'measured',
            ),
            **make_pmi_libraries(
                '/opt/cray/pe/lib64',
                '/opt/cray/pe/lib64',
                'APPTAINERENV_LD_LIBRARY_PATH ends in /opt/cray/pe/lib64: '
                + _SCRIPT
                + '; it begins so '
                'in ' + _CONTAINER,
                _REREAD_DATE,
                'derived',
            ),
            **make_rocm_libraries(
                '6.4.2',
                _ROCM,
                'module rocm/6.4.2 in '
                + _SCRIPT
                + '; folder: cmake -DHIP_PATH=/opt/rocm-6.3.1 in '
                + _CONTAINER,
                _REREAD_DATE,
                'derived',
            ),
        },
        'glibc': make_glibc_fact(SLES % 'SP7 (OLCF documentation, 2026-05-26)', '2026-07-22'),
        'libfabric_needs': make_libfabric_needs(
            '5',
            'APPTAINER_CONTAINLIBS in ' + _SCRIPT + '; the rest as on LUMI',
            '2026-07-22',
            'derived',
        ),
        'files': {
            'file_systems': make_fact(
                ['/ccs', '/lustre/orion'],
                'these folders are the file system Orion, and the home and project areas',
                _GUIDE + ', Data and Storage',
                '2026-07-22',
                'measured',
                bound='install',
            ),
            'slurm_spool': make_spool_fact('APPTAINER_BINDPATH in ' + _SCRIPT, '2026-07-22'),
            'libdrm_ids': make_fact(
                ['/usr/share/libdrm/amdgpu.ids'],
                'libdrm of the host\'s ROCm reads the names of the GPUs from this file',
                'APPTAINER_BINDPATH in ' + _SCRIPT + ' has its folder',
                '2026-07-22',
                'derived',
                bound='run',
            ),
        },
        'conflicts': make_fact(
            ['apptainer-enable-gpu', 'apptainer-enable-mpi'],
            "OLCF's modules replace apptainer by a wrapper that adds the bind mounts, "
            'the library path and the preloaded libraries of Cray MPICH to every '
            'container',
            'OLCF\'s container training (github.com/olcf-tutorials/'
            'hands_on_containers_on_frontier 36666ac9, README.md) and ' + _PAGE,
            '2026-07-22',
            'derived',
        ),
        'images': make_fact(
            LUMI['lumi-25.03']['images']['value'],
            "the images for LUMI have the newest ROCm that is not newer than the host's "
            "ROCm, and an MPICH built with a libfabric that is not newer than the host's "
            'libfabric. The image for opensource has libcxi',
            'osu_container/build/recipes/images.py',
            _FIRST_READ_DATE,
            'untested',
        ),
        'jobs': make_fact(
            make_jobs('batch', True, 8),
            'the job gets whole nodes, so that no other job uses the network cards, and each '
            'rank can use the closest GPU',
            _GUIDE + ', Running Jobs',
            _FIRST_READ_DATE,
            'derived',
        ),
        'native': make_fact(
            make_rocm_build(
                'gnu',
                '6.4.2',
                '/opt/cray/pe/mpich/9.0.1/ofi/gnu/12.3/lib-abi-mpich/libmpi.so.12',
            ),
            'OLCF\'s container example loads these modules, with PrgEnv-gnu (GCC) as the compiler',
            _SCRIPT,
            '2026-07-22',
            'derived',
        ),
        **make_rocm_folders(
            _ROCM,
            FOLDERS_AS_ON_LUMI,
            'folders as on LUMI; ROCm version from ' + _SCRIPT,
            '2026-07-22',
            'derived',
        ),
    },
}

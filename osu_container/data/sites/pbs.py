"""
Describe systems with PBS and PALS instead of Slurm: Derecho (NCAR) and Polaris (ALCF).

Both systems are HPE Cray EX with A100 and Slingshot 11. schema.py explains the keys of the data. This project
has never run a program on these systems: all facts come from public pages and notes, and 'measured'
means that the authors of the source saw the value on the system.
"""

from typing import Any, Dict

from osu_container.data.sites.cray import (
    SLES_FOLDERS,
    make_fact,
    make_glibc_fact,
    make_gpu_binding,
    make_mpich_libraries,
    make_pmi_libraries,
    make_variable,
)

_NCAR = (
    'notes on containers on Derecho in github.com/benkirk (placement report of containers, jobs '
    '7024910 and 7024919): ncarenv/25.10, Cray MPICH 8.1.32'
)
_NCAR_DOCS = 'NCAR HPC documentation (github.com/NCAR/HPC-Docs), job script examples of Derecho'
_ALCF = (
    'ALCF user guides (github.com/argonne-lcf/user-guides 7d04a3f9, '
    'docs/polaris/containers/containers.md)'
)
_MODULES = (
    'module list of Polaris (github.com/argonne-lcf/user-guides 7d04a3f9, '
    'docs/polaris/debugging-tools/CUDA-GDB.md)'
)
_NOTES = 'a user\'s notes on Polaris, cluster facts and multi-node recipe (jobs 7368976 to 7368993)'
_READ_DATE = '2026-11-26'

BASES: Dict[str, Dict[str, Any]] = {
    'cray-pals': {
        'based_on': 'cray-cuda',
        'default_approach': make_fact(
            'bind',
            'no public run shows that PALS can start an MPICH of the image, so bind uses the '
            'host\'s MPI',
            _ALCF + '; ' + _NCAR,
            _READ_DATE,
            'derived',
        ),
        'launcher': make_fact(
            'pals',
            'PBS has no srun; mpiexec of PALS starts the ranks',
            _ALCF + '; ' + _NCAR_DOCS,
            _READ_DATE,
            'measured',
        ),
        'pmi': make_fact(
            {'host': 'cray'},
            'Cray MPICH uses Cray PMI. The same launcher may be able to start an MPICH of the '
            'image ("MPICH\'s PMI-1 just works"), but no public run shows this',
            _NCAR,
            _READ_DATE,
            'derived',
        ),
        'pmi_variables': make_fact(
            {'cray': 'PALS_APID'},
            'PALS sets this variable for every rank; if the variable is missing, another launcher '
            'has started the rank',
            'public scripts read the variable; the name of the folder '
            '/var/run/palsd/PALS_APID contains its value',
            _READ_DATE,
            'derived',
        ),
        'gpu': make_fact(
            'sm_80', 'each node has four A100', _NOTES + '; ' + _NCAR_DOCS, _READ_DATE, 'measured'
        ),
        'library_folders': make_fact(
            SLES_FOLDERS,
            "the host's ld.so searches the folders of SLES, then the folders of Cray's "
            'packages, as on LUMI',
            'as on LUMI',
            _READ_DATE,
            'derived',
        ),
        'files': {
            'pals_state': make_fact(
                ['/var/run/palsd'],
                'Cray PMI reads the placement of the ranks from files that PALS writes to this '
                'folder',
                _ALCF + ' bind this folder',
                _READ_DATE,
                'measured',
                bound='run',
            ),
        },
        'images': make_fact(
            {
                'bind': 'osu-workstation-mpich-4.2.3-libfabric-2.1.0.sif',
                'osu-mpi4py/bind': 'osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-2.1.0.sif',
            },
            'this image has MPICH without CUDA, for buffers in host memory, and glibc 2.41, which is '
            "newer than that of these hosts (fact `glibc`)",
            'osu_container/build/recipes/images.py',
            _READ_DATE,
            'untested',
        ),
        'native': make_fact(
            None,
            'no published set of modules is known with which the benchmarks can be built on '
            'this system',
            'no page of the systems',
            _READ_DATE,
            'untested',
        ),
    },
}

STACKS: Dict[str, Dict[str, Any]] = {
    'derecho': {
        'based_on': 'cray-pals',
        'title': 'Derecho (NCAR), GPU nodes, Cray MPICH 8.1.32 with libfabric 1.22.0',
        'recognised_by': make_fact(
            {'hostnames': [r'^derecho\d', r'^deg\d{4}'], 'environment': {'NCAR_HOST': '^derecho$'}},
            "the host names are the names of login and GPU nodes; NCAR's variable NCAR_HOST "
            'must match too',
            'scripts of NCAR name files by ${NCAR_HOST}; ' + _NCAR_DOCS,
            _READ_DATE,
            'derived',
        ),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            '`module load apptainer` provides both commands',
            'NCAR HPC documentation, sample containerized workflows',
            _READ_DATE,
            'measured',
        ),
        'gpu_binding': make_fact(
            None,
            'no source says which cores and which network card are closest to each GPU, so the '
            'modules do not bind the ranks',
            _NCAR + ' cover only CPU nodes',
            _READ_DATE,
            'untested',
        ),
        'libraries': {
            **make_mpich_libraries(
                '8.1.32',
                'target of the link libmpi.so.12: ' + _NCAR,
                _READ_DATE,
                'measured',
                'cuda',
                'NCAR\'s scripts preload libmpi_gtl_cuda.so; its folder is the same in every '
                'version of Cray MPICH',
                _READ_DATE,
                'derived',
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/1.22.0/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi; its path "
                'changes with updates',
                _NCAR,
                _READ_DATE,
                'derived',
                release='1.22.0',
            ),
            **make_pmi_libraries(
                '/opt/cray/pe/lib64',
                '/opt/cray/pals/1.6/lib',
                'PALS 1.6: ' + _NCAR + '; the folder of links is the same as on LUMI',
                _READ_DATE,
                'derived',
            ),
        },
        'files': {
            'file_systems': make_fact(
                ['/glade'],
                'this folder contains home, work, scratch and campaign storage',
                'NCAR HPC documentation, sample containerized workflows bind its folders',
                _READ_DATE,
                'derived',
                bound='install',
            ),
        },
        'jobs': make_fact(
            {
                'partition': 'main',
                'account': True,
                'batch': 'pbs',
                'options': ['-l select={nodes}:ncpus=64:mpiprocs=4:ngpus=4'],
                'step': ['--cpu-bind', 'depth', '-d', '16'],
            },
            'the job gets the four GPUs of each node; without --cpu-bind, PALS gives each rank a '
            'single core',
            _NCAR_DOCS + '; ' + _NCAR,
            _READ_DATE,
            'derived',
        ),
    },
    'polaris': {
        'based_on': 'cray-pals',
        'title': 'Polaris (ALCF), Cray MPICH 9.0.1 with libfabric 2.2.0rc1',
        'recognised_by': make_fact(
            {
                'hostnames': [r'^polaris-login', r'^x3\d{3}c\d+s\d+b\dn\d'],
                'environment': {'PBS_O_HOST': '^polaris'},
            },
            'the names of compute nodes do not identify Polaris, because other systems use the '
            'same names; therefore PBS_O_HOST, the host from which the job was submitted, must '
            'match too',
            'hello world on two nodes in ' + _ALCF,
            _READ_DATE,
            'derived',
        ),
        'runtime': make_fact(
            ['apptainer', 'singularity'],
            '`ml use /soft/modulefiles; ml spack-pe-base apptainer` loads version 1.4.1. Containers '
            'can be built and run only on compute nodes',
            _ALCF,
            _READ_DATE,
            'measured',
        ),
        'gpu_binding': make_fact(
            make_gpu_binding([24, 16, 8, 0], 8, gpus_per_card=2),
            'GPU i is closest to NUMA node 3-i; the assignment of the two network cards to the '
            'GPUs is a guess',
            _NOTES,
            _READ_DATE,
            'untested',
        ),
        'gpu_driver': make_fact(
            '570.124.06',
            'the driver limits the CUDA version of images',
            _NOTES,
            _READ_DATE,
            'measured',
        ),
        'libraries': {
            **make_mpich_libraries(
                '9.0.1',
                'module cray-mpich-abi: a user\'s guide to containers on Polaris, "last_verified: '
                '2026-04": Cray MPICH 9.0.1; ' + _MODULES,
                _READ_DATE,
                'derived',
                'cuda',
                'its folder is the same in every version of Cray MPICH',
                _READ_DATE,
                'derived',
            ),
            'libfabric': make_fact(
                '/opt/cray/libfabric/2.2.0rc1/lib64/libfabric.so.1',
                "this library is the host's libfabric with the provider cxi; no other "
                'version is installed',
                _NOTES + '; ' + _MODULES,
                _READ_DATE,
                'measured',
                release='2.2.0',
            ),
            **make_pmi_libraries(
                '/opt/cray/pe/lib64',
                '/opt/cray/pe/pals/1.2.12/lib',
                'PALS: '
                + _ALCF
                + '; other pages of the same guides list the modules cray-pals/1.6.1 '
                'and 1.7.1; the folder of links is the same as on LUMI',
                _READ_DATE,
                'derived',
            ),
        },
        'glibc': make_glibc_fact(
            'a user\'s guide to containers on Polaris: "glibc >= 2.38 required by Cray libfabric '
            '2.2.0rc1"',
            _READ_DATE,
        ),
        'files': {
            'file_systems': make_fact(
                ['/eagle', '/lus', '/local/scratch'],
                'these folders are the project folders, the file system to which the project '
                'folders are links, and the local disk of the node',
                'binds in public job scripts for Polaris; ' + _ALCF,
                _READ_DATE,
                'derived',
                bound='install',
            ),
        },
        'variables': [
            make_variable(
                'APPTAINER_FAKEROOT',
                '1',
                'ALCF: always use --fakeroot on compute nodes, otherwise the program starter-suid '
                'fails. The variable has the effect of this option (Apptainer 1.4.5 on a '
                'workstation, also with --sharens)',
                _ALCF,
                '2026-08-04',
                'derived',
            ),
            *(
                make_variable(
                    name,
                    value,
                    why,
                    'ALCF user guides, NCCL: "extensive performance tests" '
                    '(github.com/argonne-lcf/user-guides 7d04a3f9, '
                    'docs/polaris/applications-and-libraries/libraries/nccl.md)',
                    '2026-11-28',
                    'measured',
                    only=only,
                )
                for name, value, why, only in (
                    (
                        'NCCL_CROSS_NIC',
                        '1',
                        'each network card reaches every card of another node',
                        ['gpu'],
                    ),
                    (
                        'NCCL_NET_GDR_LEVEL',
                        'PHB',
                        'the network card reads GPU memory directly',
                        ['gpu'],
                    ),
                    (
                        'FI_CXI_DEFAULT_CQ_SIZE',
                        '131072',
                        'large NCCL jobs need a larger completion queue than the default',
                        ['gpu', 'cxi'],
                    ),
                )
            ),
        ],
        'jobs': make_fact(
            {
                'partition': 'debug',
                'account': True,
                'batch': 'pbs',
                'options': [
                    '-l select={nodes}:system=polaris',
                    '-l place=scatter',
                    '-l filesystems=home:eagle',
                ],
                'step': [],
            },
            'PBS rejects a job that names no file system; a job in the queue debug can have at '
            'most two nodes',
            _NOTES,
            _READ_DATE,
            'measured',
        ),
    },
}

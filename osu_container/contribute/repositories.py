"""
Where recipes can be given to, and where not. Plain data, read in public repositories.

PLACES: name (argument of the command) -> dict with
    title       who it is
    takes       addresses of the repositories that take recipes of this kind, [] if there is none
    why         what these repositories are; without one: what there is instead, and why it takes none of ours
    remedy      only without one: what a user of that system has from this project
    source      where that was read; date: when
    sites       only of a system: sites whose recipes are written unless --site names others
"""

_READ = '2026-11-23'

PLACES = {
    'lumi': {
        'title': 'LUMI',
        'takes': ['https://github.com/Lumi-supercomputer/LUMI-EasyBuild-containers',
                  'https://github.com/Lumi-supercomputer/LUMI-EasyBuild-contrib'],
        'why': 'easyconfigs that users install by EasyBuild-user: modules of containers in the first, programs that '
               'are compiled in the second',
        'source': 'README.md of LUMI-EasyBuild-contrib 2d07483c; recipes of j/jax, r/rocm and m/mpi4py in '
                  'LUMI-EasyBuild-containers 48c86cf8, of o/OSU-Micro-Benchmarks in LUMI-EasyBuild-contrib cb8f4c2b',
        'date': _READ,
        'sites': ['lumi-25.03', 'lumi-c-25.03'],
    },
    'easybuild': {
        'title': 'EasyBuild',
        'takes': ['https://github.com/easybuilders/easybuild-easyconfigs'],
        'why': 'easyconfigs for the common toolchains: what is compiled from source on any system. A module of a '
               'container names paths of one system, so only the native benchmarks go there',
        'source': 'easybuild/easyconfigs/o/OSU-Micro-Benchmarks of easybuild-easyconfigs 4e20274a',
        'date': _READ,
    },
    'alps': {
        'title': 'CSCS (Alps)',
        'takes': [],
        'why': 'software on Alps is uenv images (Spack recipes, eth-cscs/alps-uenv) and images for the Container '
               'Engine, neither of which is an easyconfig or a module. eth-cscs/container-recipes takes Dockerfiles, '
               'and its build farm is of AMD processors, not of GH200',
        'remedy': 'take the EDF of docs/alps.md, which is written from the same data',
        'source': 'README.md of github.com/eth-cscs/container-recipes 0d7bfe03; files of github.com/eth-cscs/alps-uenv',
        'date': _READ,
    },
    'frontier': {
        'title': 'OLCF (Frontier)',
        'takes': [],
        'why': 'olcf/olcf_containers_examples holds material of OLCF\'s own documentation and tutorials, and '
               'olcf/container-recipes is of Titan and Summit. Software of users for other users goes by an '
               'application to the User-Managed Software program, not by a recipe',
        'remedy': 'install the modules for yourself: docs/frontier.md',
        'source': 'README.md of github.com/olcf/olcf_containers_examples 96bec8e7; files of '
                  'github.com/olcf/container-recipes; software/UMS/index.rst of github.com/olcf/olcf-user-docs',
        'date': _READ,
    },
    'setonix': {
        'title': 'Pawsey (Setonix)',
        'takes': [],
        'why': 'PawseySC/pawsey-containers holds Dockerfiles of images that Pawsey builds and supports itself; modules '
               'of containers are made by Pawsey\'s own Spack configuration',
        'remedy': 'install the modules for yourself: docs/setonix.md',
        'source': 'README.md of github.com/PawseySC/pawsey-containers 1d08d15f; '
                  'github.com/PawseySC/pawsey-spack-config',
        'date': _READ,
    },
    'perlmutter': {
        'title': 'NERSC (Perlmutter)',
        'takes': [],
        'why': 'NERSC/community-software holds scripts and notes that compile programs: no easyconfigs, modules or '
               'images',
        'remedy': 'install the modules for yourself (docs/perlmutter.md), or take the files for podman-hpc, which are '
                  'written from the same data',
        'source': 'files and description of github.com/NERSC/community-software d33ced34',
        'date': _READ,
    },
}

#: Toolchains of EasyBuild's newest generation with an MPI, and what they are made of
TOOLCHAINS = {
    ('gompi', '2026.1'): 'GCC and Open MPI',
    ('gmpich', '2026.1'): 'GCC and MPICH',
    ('iimpi', '2026.1'): 'Intel\'s compilers and Intel MPI',
}
#: Release of the benchmarks -> toolchains for which easybuild-easyconfigs has it already, at PLACES['easybuild'] date
THERE = {'7.5.2': [('gompi', '2026.1'), ('gmpich', '2026.1')]}

#: Where the release's `make install` puts programs, below its prefix: folder -> one program in it. Those of xccl are
#: there where it was configured for RCCL or NCCL. As OSU-Micro-Benchmarks-7.5.2-*.eb of easybuild-easyconfigs 3b5091d5
#: has them.
FOLDERS = {'mpi/collective': 'osu_allreduce', 'mpi/one-sided': 'osu_get_bw', 'mpi/pt2pt': 'osu_bw',
           'mpi/startup': 'osu_init'}
GPU_FOLDERS = {'xccl/collective': 'osu_xccl_allreduce', 'xccl/pt2pt': 'osu_xccl_bw'}
LIBEXEC = 'libexec/osu-micro-benchmarks/'
HOMEPAGE = 'https://mvapich.cse.ohio-state.edu/benchmarks/'
USER_GUIDE = 'https://mvapich.cse.ohio-state.edu/static/media/mvapich/README-OMB.txt'
LICENCE = 'https://mvapich.cse.ohio-state.edu/static/media/mvapich/LICENSE-OMB.txt'

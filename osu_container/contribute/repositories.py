"""
Where recipes can be given to. Plain data, read in public repositories.

PLACES: name (argument of the command) -> dict with
    title       who it is
    takes       addresses of the repositories that take recipes of this kind
    why         what these repositories are
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
}

#: LUMI's default ROCm, which recipes name without its release
DEFAULT_ROCM = '6.3.4'
#: Stacks for which that repository has singularity-bindings
BINDINGS_THERE = ['24.03']

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

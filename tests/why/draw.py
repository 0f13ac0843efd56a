"""
The queries by which messages for sample.json are drawn: python3 tests/why/draw.py SEED NUMBER [all]

SUBJECTS x SYMPTOMS is a grid over what a job with MPI, mostly in a container, prints while it runs, which is what
`osu-container why` is for; with `all`, over everything that users of a cluster meet (OTHERS): builds, registries,
daemons, EasyBuild. A seed takes so many of its fields, each subject at most once until all have had their turn. A field
is a query to a search over public issues. From the first thread that is about an error message of that subject, has a
cause (in its answers, or in the program's documentation or source), and is not in sample.json yet, comes the message. A
field without such a thread is passed over.

Out of scope, and passed over too: compilers' errors about some package's source code, and what a program that uses MPI
says about its own input.
"""
import random
import sys

SUBJECTS = [
    'MPICH', 'Cray MPICH Slingshot', 'Open MPI', 'Open MPI mpirun prrte orted', 'Intel MPI', 'MVAPICH2',
    'Hydra mpiexec', 'libfabric cxi provider', 'libfabric verbs efa provider', 'libfabric psm3 opx tcp provider',
    'UCX', 'UCX cuda rocm', 'InfiniBand verbs mlx5 rdma', 'PMIx', 'Slurm PMI2 PALS', 'NCCL multi-node',
    'RCCL ROCm multi GPU', 'aws-ofi-nccl plugin', 'CUDA driver GPU in container', 'ROCm HIP GPU in container',
    'Apptainer exec', 'Singularity run', 'SingularityCE', 'Singularity bind mount', 'srun', 'slurmstepd',
    'Slurm GPU gres', 'Lmod module load', 'shared library loader glibc', 'mpi4py', 'OSU micro benchmarks',
    'job killed signal',
]
OTHERS = [
    'nvidia-container-cli enroot pyxis', 'Apptainer build fakeroot', 'Singularity pull registry',
    'Singularity overlay squashfs', 'podman-hpc rootless podman', 'Sarus Shifter Charliecloud', 'sbatch',
    'slurmd slurmctld', 'Tcl environment modules', 'EasyBuild eb', 'EasyBuild toolchain OpenMPI',
    'Lustre home quota tmp',
]
SYMPTOMS = [
    'error', 'fatal error in init', 'failed', 'permission denied', 'not found', 'no such file or directory', 'timeout',
    'hangs with warning', 'cannot allocate memory', 'invalid argument', 'unable to', 'not supported',
    'connection refused', 'segmentation fault', 'version mismatch', 'aborted', 'invalid', 'warning',
]
#: Without these words a search finds maintainers' pull requests
QUERY = 'user reports: %s %s, error output when running a job, how to fix'


def drawn(seed, number, subjects=tuple(SUBJECTS)):
    """Return number (int) queries (list of str) over subjects for a seed (int or str)."""
    chance, queries, left = random.Random(seed), [], []
    while len(queries) < number:
        left = left or chance.sample(subjects, len(subjects))
        queries.append(QUERY % (left.pop(), chance.choice(SYMPTOMS)))
    return queries


if __name__ == '__main__':
    print('\n'.join(drawn(sys.argv[1], int(sys.argv[2]), SUBJECTS + OTHERS * (sys.argv[3:] == ['all']))))

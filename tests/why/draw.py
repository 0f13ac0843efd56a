"""
The queries by which messages for sample.json are drawn: python3 tests/why/draw.py SEED NUMBER

SUBJECTS x SYMPTOMS is a grid over what `osu-container why` is for; a seed takes so many of its fields, each subject at
most once until all have had their turn. A field is a query to a search over public issues. From the first thread that
is about an error message of that subject, has a cause (in its answers, or in the program's documentation or source),
and is not in sample.json yet, comes the message. A field without such a thread is passed over.

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
    'nvidia-container-cli enroot pyxis', 'Apptainer exec', 'Singularity run', 'SingularityCE',
    'Apptainer build fakeroot', 'Singularity pull registry', 'Singularity bind mount', 'Singularity overlay squashfs',
    'podman-hpc rootless podman', 'Sarus Shifter Charliecloud', 'srun', 'sbatch', 'slurmstepd', 'slurmd slurmctld',
    'Slurm GPU gres', 'Lmod module load', 'Tcl environment modules', 'EasyBuild eb', 'EasyBuild toolchain OpenMPI',
    'shared library loader glibc', 'mpi4py', 'OSU micro benchmarks', 'Lustre home quota tmp', 'job killed signal',
]
SYMPTOMS = [
    'error', 'fatal error in init', 'failed', 'permission denied', 'not found', 'no such file or directory', 'timeout',
    'hangs with warning', 'cannot allocate memory', 'invalid argument', 'unable to', 'not supported',
    'connection refused', 'segmentation fault', 'version mismatch', 'aborted', 'invalid', 'warning',
]
#: Without these words a search finds maintainers' pull requests
QUERY = 'user reports: %s %s, error output when running a job, how to fix'


def drawn(seed, number):
    """Return number (int) queries (list of str) for a seed (int or str)."""
    chance, queries, left = random.Random(seed), [], []
    while len(queries) < number:
        left = left or chance.sample(SUBJECTS, len(SUBJECTS))
        queries.append(QUERY % (left.pop(), chance.choice(SYMPTOMS)))
    return queries


if __name__ == '__main__':
    print('\n'.join(drawn(sys.argv[1], int(sys.argv[2]))))

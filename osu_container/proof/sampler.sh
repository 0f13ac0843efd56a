# shellcheck shell=bash
# Read by rank-proof and by task prologs: starting the sampler of a process.

# That of the system: one of a module or of an environment may lie on a busy file system.
python=/usr/bin/python3
[[ -x $python ]] || python=python3

# sample PID DIR [RUN]: starts the sampler of the process PID, without waiting for it. $proof is the folder of this file.
#
# Two brackets: the sampler's parent ends at once, so the sampler is no child of the program, which may wait for "any
# child". Job control (set -m) gives it a process group of its own: Slurm kills the group of a prolog when it ends. It
# must not hold what srun and the program wait on: the standard streams go to /dev/null here, all other file descriptors
# (PMI_FD is one) are noted as inherited and closed by the sampler. Without LD_PRELOAD, which is meant for the program.
# Rank 0 keeps stderr until its first file is written: it says for all where none can be.
# shellcheck disable=SC2154  # proof is set by who reads this
sample() {
    (
        set -m
        (
            unset LD_PRELOAD
            [[ ${SLURM_PROCID:-${PMI_RANK:-${PMIX_RANK:-${OMPI_COMM_WORLD_RANK:-0}}}} == 0 && -e /dev/fd/2 ]] ||
                exec 2>/dev/null
            exec "$python" -I -S "$proof/start.py" "$@"
        ) </dev/null >/dev/null &
    )
}

# shellcheck shell=bash
# Sourced by rank-proof and task-prolog: the function that starts the sampler of a process.

# Prefer the system's Python, because the Python of a module or environment may be on a busy file system.
python=/usr/bin/python3
[[ -x $python ]] || python=python3

# sample PID DIR [RUN]: start the sampler of process PID without waiting for it. $proof is the folder of this file.
#
# The two nested subshells make the sampler an orphan: the program may wait for "any child" and must not get the sampler.
# Job control (set -m) puts the sampler into its own process group, because Slurm kills the group of a prolog at its end.
# srun and the program wait until their files are closed. So the standard streams are redirected to /dev/null here, and
# the sampler closes all other file descriptors, e.g. PMI_FD. LD_PRELOAD is unset because it is meant for the program.
# Rank 0 keeps stderr until its first file is written, so that one rank can report that the folder is not writable.
# shellcheck disable=SC2154  # the script that sources this file sets proof
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

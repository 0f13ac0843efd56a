"""
The messages that osu-container why knows, by subjects: all there is to it, and data only.
../search.py looks for them.

programs.py   the loader of libraries (ld.so), MPI itself (calls that failed, its own settings), how a program ended
network.py    libfabric, UCX, the network's cards; what MPI says of them
ranks.py      ranks that do not find each other; mpirun, Hydra, PMI, PMIx
container.py  Apptainer and Singularity
runtimes.py   podman, enroot and pyxis, Sarus, Charliecloud, the container toolkit of NVIDIA
software.py   Lmod, Environment Modules, EasyBuild
gpus.py       CUDA, ROCm and the benchmarks; NCCL, RCCL and their plugins
slurm.py      Slurm

docs/why.md says what an entry must be like, and tests/why/messages.tsv has a text for each.

An entry:
    name       str, short and unique
    patterns   list of what a line may have: a plain text (str), or a pair (plain text, regular expression). The text is
               in all that the expression matches: to look for it first is some ten times faster,
               and logs are long. Matched line by line (re.MULTILINE), without colours. No .* or
               \\w+ that the next match could begin in: .{0,300}. White space that Lmod may turn
               into the end of a line is \\s+
    cause      str, one or two sentences; {group} is replaced by what the group of that name found
    remedy     str, likewise: what to type or change, the likeliest first
    source     str, where message and remedy are from
    also       list of pairs (str, str), optional: what else it may be, and the one command that tells
    times      int, optional: it counts from so many lines on (a line that is harmless when it comes once)
    last       True, optional: harmless, or a consequence of something else; named only if nothing else is found
    general    True, optional: it is printed for several reasons, and named only if no cause is found
    unless     list of names, optional: not named beside these, which say it more exactly
"""

from osu_container.why.messages import (
    container,
    gpus,
    network,
    programs,
    ranks,
    runtimes,
    slurm,
    software,
)

MESSAGES = [
    entry
    for entries in (
        programs.LOADER,
        network.ENTRIES,
        programs.MPI,
        gpus.NCCL,
        ranks.ENTRIES,
        container.ENTRIES,
        runtimes.ENTRIES,
        software.MODULES,
        software.EASYBUILD,
        gpus.GPUS,
        slurm.ENTRIES,
        programs.TERMINATIONS,
    )
    for entry in entries
]

"""
The messages that `osu-container why` knows, as data for ../search.py.

programs.py   the loader (ld.so), errors and settings of MPI, terminated programs
network.py    libfabric, UCX, network cards, and MPI's messages about the network
ranks.py      ranks that do not find each other; mpirun, Hydra, PMI, PMIx
container.py  Apptainer and Singularity
runtimes.py   podman, enroot and pyxis, Sarus, Charliecloud, the NVIDIA container toolkit
software.py   Lmod, Environment Modules, EasyBuild
gpus.py       CUDA, ROCm and the benchmarks; NCCL, RCCL and their plugins
slurm.py      Slurm

docs/why.md defines the rules for entries. tests/why/messages.tsv has at least one text per entry.

Keys of an entry:
    name       short unique name (str)
    patterns   list of patterns that match a line. A pattern is a plain text (str), or a pair (plain
               text, regular expression) in which every match of the expression contains the plain
               text. The search looks for the plain text first, which is about ten times faster.
               Expressions match line by line (re.MULTILINE), after colours are removed. They limit
               repetitions (.{0,300} instead of .*), so that long lines take no quadratic time. They
               contain \\s+ where Lmod may break a line.
    cause      one or two sentences (str); {group} is replaced with the match of that group
    remedy     what to run or change, the most likely remedy first (str, with {group} as in cause)
    source     source of the message and the remedy (str)
    also       optional: list of pairs (another possible cause, command that shows whether it applies)
    times      optional: minimum number of matching lines, if a single line is harmless (int)
    last       optional, True: the message is harmless or follows from another error, and is reported
               only if the text has no other known message
    general    optional, True: the message has several causes, and is reported only if no message with
               a single cause is found
    unless     optional: names of more exact messages; the entry is not reported together with them
"""

from typing import Any, Dict, List

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

MESSAGES: List[Dict[str, Any]] = [
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

"""
Define the error messages that `osu-container why` knows, as data for why/search.py.

programs.py   the loader (ld.so), errors and settings of MPI, terminated programs
network.py    libfabric, UCX, network cards, and MPI's messages about the network
ranks.py      ranks that do not find each other; mpirun, Hydra, PMI, PMIx
container.py  Apptainer and Singularity
runtimes.py   podman, enroot and pyxis, Sarus, Charliecloud, the NVIDIA container toolkit
software.py   Lmod, Environment Modules, EasyBuild
gpus.py       CUDA, ROCm and the benchmarks; NCCL, RCCL and their plugins
slurm.py      Slurm

docs/why.md explains how to add an entry to MESSAGES. tests/why/messages.tsv contains at least one
sample text for each pattern of an entry.

Keys of an entry:
    name       unique short statement of the problem (str), such as 'the image cannot be read'
    patterns   list of regular expressions that match a line (re.MULTILINE), after colours are
               removed. A part of each expression must be plain text, such as ' not found': the
               search looks for this text first, which is about ten times faster. Expressions limit
               repetitions (.{0,300} instead of .*), because long lines would take quadratic time
               otherwise. Expressions contain \\s+ where Lmod may break a line.
    cause      one or two sentences (str); {group} is replaced with the text that this group of the
               expression matched, and {text 1|text 2} with text 1 for NVIDIA and text 2 for AMD
    remedy     what to run or change, the most likely remedy first (str); placeholders as in cause
    source     where the message and the remedy are documented (str)
    also       optional: list of pairs (another possible cause, which completes the sentence "Another
               possible cause is that ...", command that shows whether this cause applies)
    times      optional: minimum number of matching lines for a report, if a single line is harmless (int)
    last       optional, True: the message is harmless or follows from another error, and is reported
               only if the text has no other known message
    general    optional, True: the message has several causes, and is reported only if no message with
               a single cause is found
    unless     optional: names of more exact messages; if the text contains one of these messages, the
               entry is not reported
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

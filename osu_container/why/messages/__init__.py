"""
The messages that `osu-container why` knows, by subject. Data only; ../search.py searches for them.

programs.py   the loader of libraries (ld.so), MPI itself (calls that failed, its settings), how programs end
network.py    libfabric, UCX, network cards, and MPI's messages about them
ranks.py      ranks that do not find each other; mpirun, Hydra, PMI, PMIx
container.py  Apptainer and Singularity
runtimes.py   podman, enroot and pyxis, Sarus, Charliecloud, the container toolkit of NVIDIA
software.py   Lmod, Environment Modules, EasyBuild
gpus.py       CUDA, ROCm and the benchmarks; NCCL, RCCL and their plugins
slurm.py      Slurm

docs/why.md has the rules for an entry, and tests/why/messages.tsv a text for each.

An entry:
    name       str, short and unique
    patterns   list of patterns of a line: a plain text (str), or a pair (plain text, regular expression). Every match
               of the expression contains the plain text: searching for the text first is some ten times faster, and
               logs are long. Matched line by line (re.MULTILINE), without colours. No .* or \\w+ in which the next
               match could begin: .{0,300}. White space that Lmod may replace by the end of a line is \\s+
    cause      str, one or two sentences; {group} is replaced by the match of that group
    remedy     str, likewise: what to run or change, the likeliest first
    source     str, the source of message and remedy
    also       list of pairs (str, str), optional: an alternative cause, and the command that decides
    times      int, optional: least number of lines (for a line that is harmless when it comes once)
    last       True, optional: harmless, or a consequence of another error; reported only if nothing else is found
    general    True, optional: the message has several causes; reported only if no cause is found
    unless     list of names, optional: not reported beside these more exact messages
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

"""
The messages that osu-container why knows, by subjects: all there is to it, and data only. ../search.py looks for them.

loader.py     the loader of libraries (ld.so)
network.py    libfabric, UCX, the network's cards; what MPI says of them
mpi.py        MPI itself: calls that failed, its own settings
nccl.py       NCCL, RCCL and their plugins
ranks.py      ranks that do not find each other; mpirun, Hydra, PMI, PMIx
container.py  Apptainer and Singularity
runtimes.py   podman, enroot and pyxis, Sarus, Charliecloud, the container toolkit of NVIDIA
modules.py    Lmod and Environment Modules
easybuild.py  EasyBuild
gpus.py       CUDA, ROCm and the benchmarks
slurm.py      Slurm
programs.py   how a program ended

docs/why.md says what an entry must be like, and tests/why/messages.tsv has a text for each.

An entry:
    name       str, short and unique
    patterns   list of what a line may have: a plain text (str), or a pair (plain text, regular expression). The text is
               in all that the expression matches: to look for it first is some ten times faster, and logs are long.
               Matched line by line (re.MULTILINE), without colours. No .* or \\w+ that the next match could begin in:
               .{0,300}. White space that Lmod may turn into the end of a line is \\s+
    cause      str, one or two sentences; {group} is replaced by what the group of that name found
    remedy     str, likewise: what to type or change, the likeliest first
    source     str, where message and remedy are from
    also       list of pairs (str, str), optional: what else it may be, and the one command that tells
    times      int, optional: it counts from so many lines on (a line that is harmless when it comes once)
    last       True, optional: harmless, or a consequence of something else; named only if nothing else is found
    general    True, optional: it is printed for several reasons, and named only if no cause is found
    unless     list of names, optional: not named beside these, which say it more exactly
"""
from . import container, easybuild, gpus, ld_so, modules, mpi, nccl, network, programs, ranks, runtimes, slurm

#: (heading, entries)
TOPICS = [
    ("The loader", ld_so.ENTRIES),
    ("MPI, libfabric, RCCL, the network", network.ENTRIES),
    ("MPI itself", mpi.ENTRIES),
    ("NCCL and RCCL", nccl.ENTRIES),
    ("Ranks that do not find each other", ranks.ENTRIES),
    ("The container", container.ENTRIES),
    ("Other runtimes of containers", runtimes.ENTRIES),
    ("Modules", modules.ENTRIES),
    ("EasyBuild", easybuild.ENTRIES),
    ("GPUs and the benchmarks", gpus.ENTRIES),
    ("Slurm", slurm.ENTRIES),
    ("How a program ended", programs.ENTRIES),
]
MESSAGES = [entry for _, entries in TOPICS for entry in entries]

"""
Read the error messages that `osu-container why` knows, as data for why/search.py.

programs.txt   the loader (ld.so), errors and settings of MPI, terminated programs
network.txt    libfabric, UCX, network cards, and MPI's messages about the network
gpus.txt       CUDA, ROCm and the benchmarks; NCCL, RCCL and their plugins
ranks.txt      ranks that do not find each other; mpirun, Hydra, PMI, PMIx
container.txt  Apptainer and Singularity
runtimes.txt   podman, enroot and pyxis, Sarus, Charliecloud, the NVIDIA container toolkit
software.txt   Lmod, Environment Modules, EasyBuild
slurm.txt      Slurm

docs/why.md explains how to add an entry. tests/why/messages.tsv contains at least one sample text
for each pattern of an entry.

An empty line ends an entry. An indented line continues the line before. Fields of an entry:
    name       unique short statement of the problem, such as 'the image cannot be read'
    pattern    regular expression that matches a line (re.MULTILINE), after colours are removed; may
               be repeated. A part of each expression must be plain text, such as ' not found': the
               search looks for this text first, which is about ten times faster. Expressions limit
               repetitions (.{0,300} instead of .*), because long lines would take quadratic time
               otherwise. Expressions contain \\s+ where Lmod may break a line, and \\x20 for a blank
               at the end.
    cause      one or two sentences; {group} is replaced with the text that this group of the
               expression matched, and {text 1|text 2} with text 1 for NVIDIA and text 2 for AMD
    remedy     what to run or change, the most likely remedy first; placeholders as in cause
    source     where the message and the remedy are documented
    also       optional, may be repeated: another possible cause, which completes the sentence
               "Another possible cause is that ..."
    command    after each `also`: command that shows whether this cause applies
    rank       optional: 1 if the message has several causes, and 2 if the message is harmless or
               follows from another error. Only messages of the lowest rank are reported
    unless     optional, may be repeated: name of a more exact message; if the text contains this
               message, the entry is not reported

The item of an entry in MESSAGES has the keys `name`, `cause`, `remedy`, `source` (str), `patterns`,
`unless` (lists of str), `also` (list of pairs: cause, command) and `rank` (int, default 0).
"""

import collections
import os
from typing import Any, Dict, List


def read_blocks(path: str) -> List[Dict[str, List[str]]]:
    """
    Return {name of a field: its values} for each block of the text file `path`.

    An empty line ends a block. An indented line continues the line before.
    """
    with open(path, encoding='utf-8') as handle:
        texts = handle.read().strip().replace('\n    ', ' ').split('\n\n')
    blocks = []
    for text in texts:
        fields: Dict[str, List[str]] = collections.defaultdict(list)
        for line in text.split('\n'):
            key, _, value = line.partition(': ')
            fields[key].append(value)
        blocks.append(fields)
    return blocks


def _build_entry(fields: Dict[str, List[str]]) -> Dict[str, Any]:
    entry: Dict[str, Any] = {key: fields[key][0] for key in ('name', 'cause', 'remedy', 'source')}
    entry.update(
        patterns=fields['pattern'],
        also=list(zip(fields['also'], fields['command'])),
        unless=fields['unless'],
        rank=max(map(int, fields['rank']), default=0),
    )
    return entry


SUBJECTS = 'programs network gpus ranks container runtimes software slurm'
MESSAGES = [
    _build_entry(fields)
    for subject in SUBJECTS.split()
    for fields in read_blocks(os.path.join(os.path.dirname(__file__), subject + '.txt'))
]

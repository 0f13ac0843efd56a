"""
Prove which MPI, libfabric and network a rank really used, by reading its running process.

loaded.py          reads which libraries and environment variables a process has loaded
opened_network.py  reads which network a process has opened and how many ranks its MPI sees
sample.py          is the sampler, which start.py runs on the node of each rank
layout.py          defines the layout of the file that the sampler writes for a rank
judging.py         reads and judges the files of all ranks
proof_text.py      formats the judgement as text
cli.py             implements the command `osu-container proof`

All files need only Python 3.6 and its standard library. Each installed module contains a copy of
these files for its command osu-proof, so these files import only files that
osu_container/install/staged.py installs.
"""

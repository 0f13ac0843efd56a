"""
Prove which MPI, libfabric and network a rank really used, by reading its running process.

loaded.py          read the libraries that a process has loaded, and its variables
opened_network.py  read which network a process has opened and how many ranks its MPI sees
sample.py          the sampler, which start.py runs on the node of each rank
layout.py          the layout of a rank's file
judging.py         read and judge the files of the ranks
proof_text.py      format the judgement
cli.py             the command `osu-container proof`

All files run on Python 3.6 with its standard library only. Installed modules contain a copy for
osu-proof, so these files import only files that osu_container/install/staged.py installs.
"""

"""
Prove which MPI, libfabric and network a rank really used, from its running process.

loaded.py          read what a process has loaded: libraries, origin, release, variables
opened_network.py  read which network it has opened, and derive how many ranks its MPI sees
sample.py          the sampler, which start.py runs on the node of a rank (see scripts/rank-proof)
layout.py          the layout of a rank's file
judging.py         read and judge the files of the ranks
proof_text.py      format the judgement
cli.py             the command `osu-container proof`

Everything runs on Python 3.6 with its standard library only. Installed modules contain these files
for osu-proof, so they import nothing that osu_container/install/staged.py does not install.
"""

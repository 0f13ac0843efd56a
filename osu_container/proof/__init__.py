"""
Proof: which MPI, libfabric and network a rank really used, read from the running process, not from
any setting.

loaded.py          what a process has loaded: libraries, origin, release, variables
opened_network.py  which network it has opened, and how many ranks its MPI sees
sample.py          the sampler, which start.py runs on the node of a rank (see scripts/rank-proof)
judging.py         reads and judges the files of the ranks
proof_text.py      the judgement as text for people
cli.py             the command `osu-container proof`

All of it runs on Python 3.6 with its standard library only. The modules hold these files themselves
(osu-proof), so they may need no others of the project than osu_container/install/staged.py
installs.
"""

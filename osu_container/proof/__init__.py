"""
Prove which MPI, libfabric and network a rank really used, by reading its running process.

loaded.py          reads the libraries and the environment variables of a process
opened_network.py  reads which network a process has opened and how many ranks its MPI sees
sample.py          is the sampler: a program that start.py runs on the node of each rank
judging.py         reads and judges the files of all ranks
proof_text.py      formats the judgement as text
patterns.py        is a program of communication patterns, which cli.py runs in every rank
cli.py             implements the command `osu-container proof`

This package needs only the standard library of Python 3.6. Each installed module contains a copy of
the package for the command osu-proof. Therefore the package imports only files that
osu_container/install/staged.py installs.
"""

"""
`make gpu`: osu_bw D D and its neighbours on one machine with NVIDIA GPUs that reaches no network and has no Slurm.

The standard library of Python 3.9 is enough to run it there.
"""


class GpuRunError(Exception):
    """What keeps the run from beginning; the text names the thing, what was wanted, and what to do."""

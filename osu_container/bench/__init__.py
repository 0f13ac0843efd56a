"""
Running the benchmarks over Slurm with ReFrame: `osu-container bench`.

cases.py       which benchmarks there are, in which placements, and the tags: data
plan.py        what is run: cases x modules, with the exact line that starts each, and why one is left out
installed_modules.py  what an installed module is: its environment, image, library versions, network
reframe_settings.py ReFrame's site settings, made from the site data
checks.py      the tests that ReFrame runs
session.py     starts and follows ReFrame, a session a repeat; keeps what it leaves
holding.py     one process measures in a run; whether the job still exists
measure.py     one run: output, proof and reason of failure -> a line of results.jsonl
cli.py         the command
"""


class BenchError(Exception):
    """
    Something that the runs need is missing or wrong; the text says what was found, what is
    wanted, what to do.
    """

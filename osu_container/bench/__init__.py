"""
Run the benchmarks over Slurm with ReFrame: the command `osu-container bench`.

cases.py              define the benchmarks, the placements of ranks, and the tags
plan.py               plan which benchmark cases to run with which modules, and which to skip
installed_modules.py  inspect a module: its environment, image, library versions, network
reframe_settings.py   build ReFrame's site settings from the site data
checks.py             define the tests that ReFrame runs
session.py            start and follow ReFrame, one session per repeat, and keep its files
holding.py            lock the folder of a run; find out whether the Slurm job still exists
measure.py            build a line of results.jsonl from the output and the libraries of a run
cli.py                define the command line
"""


class BenchError(Exception):
    """
    A run of `osu-container bench` cannot start or continue.

    The text of the error names the problem and the remedy.
    """

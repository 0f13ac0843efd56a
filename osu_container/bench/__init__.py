"""
Run the benchmarks over Slurm with ReFrame: the command `osu-container bench`.

cases.py              data: the benchmarks, their placements and the tags
plan.py               plan the runs: cases x modules, each run with its command or skip reason
installed_modules.py  inspect a module: its environment, image, library versions, network
reframe_settings.py   build ReFrame's site settings from the site data
checks.py             define the tests that ReFrame runs
session.py            start and follow ReFrame, one session per repeat, and keep its files
holding.py            let one process measure in a run; find out whether the job still exists
measure.py            build a line of results.jsonl from the output and the proof of one run
cli.py                define the command line
"""


class BenchError(Exception):
    """A run cannot start or continue; the text of the error names the problem and the remedy."""

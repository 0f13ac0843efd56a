"""
Run the benchmarks over Slurm with ReFrame: `osu-container bench`.

cases.py              data: the benchmarks, their placements and the tags
plan.py               the planned runs: cases x modules, each with its command or skip reason
installed_modules.py  an installed module: its environment, image, library versions, network
reframe_settings.py   ReFrame's site settings, built from the site data
checks.py             the tests that ReFrame runs
session.py            start and follow ReFrame, one session per repeat, and keep its files
holding.py            let one process measure in a run; find out whether the job still exists
measure.py            build a line of results.jsonl from the output and the proof of one run
cli.py                the command
"""


class BenchError(Exception):
    """A run cannot start or continue; the text names the problem and the remedy."""

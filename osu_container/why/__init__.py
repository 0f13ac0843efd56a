"""
Why: names cause and remedy of the messages in a job's output.

    osu-container why slurm-123.out        or        srun ... 2>&1 | osu-container why
    osu-container why slurm-*.out          several files: each message once, with the files that have it

messages/     what is known: the tables, a file for each subject
search.py     looks for it
clues.py      what is shown where no cause is known: lines that look like an error, and who says them
cli.py        the command

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""

"""
Name cause and remedy of the messages in a job's output.

    osu-container why slurm-123.out        or        srun ... 2>&1 | osu-container why
    osu-container why slurm-*.out          several files: each message once, with the files that have it

messages/     the known messages, a file for each subject
search.py     search a text for them
clues.py      find lines that look like an error, for texts without a known cause
cli.py        the command

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""

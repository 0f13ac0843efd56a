"""
Print the cause and the remedy of each known error message in the output of a job.

    osu-container why slurm-123.out               read one file
    srun PROGRAM 2>&1 | osu-container why         read standard input
    osu-container why slurm-*.out                 read several files, and print each message once

messages/     the known messages, with one file per subject
search.py     searches the output for known messages
clues.py      finds lines that look like an error, if the output contains no known message
cli.py        the command line of `osu-container why`

The package needs only Python 3.6 and its standard library, because users also call the command on
compute nodes.
"""

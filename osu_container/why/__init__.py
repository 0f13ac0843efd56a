"""
Explain the error messages in the output of a job: cause and remedy.

    osu-container why slurm-123.out               read one file
    srun PROGRAM 2>&1 | osu-container why         read standard input
    osu-container why slurm-*.out                 read several files, and report each message once

messages/     the known messages, with one file per subject
search.py     searches a text for known messages
clues.py      finds lines that look like an error, for texts without a known message
cli.py        the command line of `osu-container why`

The package needs only Python 3.6 and its standard library, because it also runs on compute nodes.
"""

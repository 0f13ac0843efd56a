"""
Print the cause and the remedy of each known error message in the output of a job.

    osu-container why slurm-123.out               read one file
    srun PROGRAM 2>&1 | osu-container why         read standard input
    osu-container why slurm-*.out                 read several files, and print each message once

messages/     define the known messages, one file per subject
search.py     search the output for known messages
clues.py      find lines that look like an error, if the output contains no known message
clues.txt     define the programs that print such lines, each with advice and its source
cli.py        read the command line and print the results

The package osu_container.why needs only Python 3.6 and Python's standard library, so that
`osu-container why` runs on compute nodes.
"""

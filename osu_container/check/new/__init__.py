"""
The command osu-container new: write an easyconfig for the user's MPI container image.

cli.py is the command, easyconfig.py the text of the easyconfig and the next commands. Python 3.6
and its standard library only.
"""

"""
The command osu-container new: write an easyconfig for the user's MPI container image.

cli.py defines the command. easyconfig.py renders the easyconfig and lists the next commands. The
package uses only Python 3.6 and its standard library.
"""

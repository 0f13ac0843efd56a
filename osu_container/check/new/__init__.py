"""
The command osu-container new: write an easyconfig for the user's MPI container image.

cli.py defines the command and prints the next commands. easyconfig.py renders the easyconfig. The
package uses only Python 3.6 and its standard library.
"""

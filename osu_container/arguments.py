"""
Values of options, for argparse.

Python 3.6 and its standard library only: discover runs on any node.
"""
import argparse
import math


def seconds(text):
    """Return text (str) as a number of seconds (float) above 0, such as 2.5. Raises argparse.ArgumentTypeError."""
    try:
        found = float(text)
    except ValueError:
        found = 0
    if not 0 < found < math.inf:  # nan is neither
        raise argparse.ArgumentTypeError(
            "found '%s', wanted a number of seconds above 0. Give it without a unit, for example 90 or 2.5" % text)
    return found


def slurm_name(text):
    """Return text (str) if it can name an account or partition, in a job script too. Raises ArgumentTypeError."""
    if not text or any(char.isspace() or not char.isprintable() for char in text):
        raise argparse.ArgumentTypeError(
            "found %r, wanted a name as `sinfo` or `sacctmgr show associations` prints it, without blanks" % text)
    return text

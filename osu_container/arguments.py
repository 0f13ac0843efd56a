"""
Values of options, for argparse.

Python 3.6 and its standard library only: discover runs on any node.
"""
import argparse


def slurm_name(text):
    """Return text (str) if it can name an account or partition, in a job script too. Raises ArgumentTypeError."""
    if not text or any(char.isspace() or not char.isprintable() for char in text):
        raise argparse.ArgumentTypeError(
            "found %r, wanted a name as `sinfo` or `sacctmgr show associations` prints it, without blanks" % text)
    return text

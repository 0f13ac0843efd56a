"""Helpers of all commands for files, terminals, signals and exit codes, for Python 3.6."""

"""Provide the files, terminal, signals and exit codes of all commands, on Python 3.6."""

"""Provide functions for files, terminals, signals and exit codes to all commands."""

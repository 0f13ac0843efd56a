"""Help all commands with files, terminals, signals and exit codes, in Python 3.6 syntax."""

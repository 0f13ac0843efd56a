"""
Define the exit codes of all commands. The option --help prints the exit codes.

This module uses only the standard library of Python 3.6, because installed modules contain a copy
of the module for the command osu-proof.
"""

from typing import Dict, Tuple, Union

from osu_container.base import columns

#: ((code, meaning), ...); the code is 'another' if the command passes on the code of a program
ExitCodes = Tuple[Tuple[Union[int, str], str], ...]

WRONG_USAGE = 2
#: A Python package is missing; compare also returns this code if it cannot compare the results
PACKAGE_MISSING = 3
#: A command that a signal stops exits with 128 + the number of the signal
SIGNAL_CODES = ('130, 143, 129', "Ctrl-C, SIGTERM or SIGHUP stopped the command")
_FAILED = "the command failed and printed the reason on stderr"
_LIBRARY = (PACKAGE_MISSING, "a Python package is missing")
#: Exit codes of every command that CODES does not list
DONE = ((0, "the command succeeded"), (1, _FAILED))
#: Command, with its subcommand if the command has one -> exit codes of the command. list_codes()
#: adds the code of wrong usage
CODES: Dict[str, ExitCodes] = {
    'check': (
        (
            0,
            "at least one approach works; with --approach, the named approach works; with "
            "--published, no prediction is wrong",
        ),
        (1, "the image or the host cannot be read; with --published, a prediction is wrong"),
        (4, "the approach works slowly"),
        (5, "it is unknown whether the approach works"),
        (6, "the approach fails"),
        (7, "the approach is useless, because the approach changes nothing for the image"),
    ),
    'discover': ((0, "the host was inspected"), (1, "a file cannot be read or written")),
    'proof': (
        (0, "all ranks used the expected libraries and network"),
        (
            1,
            "a rank did not use the expected libraries and the expected network, or left no proof "
            "of its libraries",
        ),
        ("another", "COMMAND failed, and osu-proof exits with the exit code of COMMAND"),
    ),
    'try': (
        (0, "all steps succeeded"),
        (1, "a step failed, and the report file names the failed step"),
    ),
    'why': (
        (0, "the log contains a message that the command recognises"),
        (1, "the log contains no message that the command recognises, or a file cannot be read"),
    ),
    'new': (
        (0, "the easyconfig was written, or already existed with the same content"),
        (1, _FAILED),
    ),
    'bench': (
        (0, "all runs succeeded"),
        (1, "a run failed, or no run could start"),
        _LIBRARY,
    ),
    'compare': (
        (0, "no benchmark result in A is worse than the result of the same benchmark in B"),
        (
            1,
            "a benchmark result in A is worse than the result of the same benchmark in B (see "
            "--fail-on)",
        ),
        (3, "the results cannot be compared, or a Python package is missing"),
    ),
    'report': (*DONE, _LIBRARY),
    'image verify': (
        (0, "all files are correct"),
        (1, "a file has the wrong content or cannot be read"),
    ),
    'image build': (
        (0, "the image was built; with --check: the image can be built"),
        (1, _FAILED),
    ),
}


def list_codes(command: str) -> ExitCodes:
    """
    Return ((code, meaning), ...) of a command in ascending order of the codes.

    command: name of the command, followed by a blank and the subcommand if the command has
    subcommands. The result includes the exit code for wrong usage.
    """
    codes = dict(CODES.get(command, DONE))
    more = codes.pop(WRONG_USAGE, None)
    codes[WRONG_USAGE] = "wrong usage" + (more and ", " + more or "")
    return tuple(sorted(codes.items(), key=lambda item: str(item[0])))


def format_codes(command: str) -> str:
    """
    Return the part of the help of a command that explains the exit codes.

    command: see list_codes().
    """
    rows = [(str(code), meaning) for code, meaning in list_codes(command)]
    return '\n'.join(['Exit codes:', *columns.format_table([*rows, SIGNAL_CODES], indent='  ')])

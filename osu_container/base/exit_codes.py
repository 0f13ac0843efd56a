"""
List the exit codes of all commands, which --help prints.

Python 3.6 and its standard library only: installed modules contain this file, for osu-proof.
"""

from typing import Dict, Tuple, Union

#: ((code, or a word for several codes, meaning), ...)
ExitCodes = Tuple[Tuple[Union[int, str], str], ...]

WRONG_USAGE = 2
#: A Python package is missing; for compare also: nothing can be compared
PACKAGE_MISSING = 3
#: Exit codes of every command that Ctrl-C, SIGTERM or SIGHUP stops: 128 + the number of the signal
SIGNAL_CODES_TEXT = "130, 143, 129 stopped by Ctrl-C, SIGTERM, SIGHUP"
_FAILED = "not possible, with the reason on stderr"
_LIBRARY = (PACKAGE_MISSING, "a Python package is missing")
#: Exit codes of a command that CODES does not list
DONE = ((0, "done"), (1, _FAILED))
#: command (with its subcommand, if any) -> its exit codes; wrong usage is always 2
CODES: Dict[str, ExitCodes] = {
    'check': (
        (
            0,
            "works (the named approach, else the best one), or no prediction is wrong (--published)",
        ),
        (1, "image or host cannot be read, or a prediction is wrong"),
        (4, "works slowly"),
        (5, "unknown"),
        (6, "fails"),
        (7, "no use: the approach changes nothing for this image"),
    ),
    'discover': ((0, "host inspected"), (1, "a file cannot be read or written")),
    'proof': (
        (0, "all ranks match the expectation"),
        (1, "something contradicts the expectation, or nothing is proved"),
        ("another", "exit code of the command"),
    ),
    'try': ((0, "all steps succeeded"), (1, "a step failed: the file names it")),
    'why': ((0, "a message is known"), (1, "no message is known, or a file cannot be read")),
    'new': (
        (0, "written, or exists with the same content"),
        (1, "not written, with the reason on stderr"),
    ),
    'bench': (
        (0, "all runs succeeded"),
        (1, "a run failed, or nothing could be run"),
        _LIBRARY,
    ),
    'compare': (
        (0, "A is nowhere worse"),
        (1, "A is worse (--fail-on)"),
        (3, "cannot be compared, with the reason on stderr, or a Python package is missing"),
    ),
    'report': (*DONE, _LIBRARY),
    'image verify': ((0, "all files are correct"), (1, "a file is wrong or cannot be read")),
    'image build': (
        (0, "built, or can be built (--check)"),
        (1, "not built, with the reason on stderr"),
    ),
}


def list_codes(command: str) -> ExitCodes:
    """Return the exit codes of a command (with its subcommand), with wrong usage among them."""
    codes = dict(CODES.get(command, DONE))
    more = codes.pop(WRONG_USAGE, None)
    codes[WRONG_USAGE] = "wrong usage" + (more and ", " + more or "")
    return tuple(sorted(codes.items(), key=lambda item: str(item[0])))


def format_codes(command: str) -> str:
    """Return the sentence on the exit codes of a command (with its subcommand)."""
    codes = '; '.join(f'{code} {meaning}' for code, meaning in list_codes(command))
    return f"Exit codes: {codes}; {SIGNAL_CODES_TEXT}."

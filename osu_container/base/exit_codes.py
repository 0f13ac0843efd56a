"""
Exit codes of all commands: what --help says of them.

Python 3.6 and its standard library only: installed modules have it, for osu-proof.
"""

WRONG_USAGE = 2
#: A Python package is missing; of compare also: nothing can be compared
PACKAGE_MISSING = 3
#: What every command ends with where Ctrl-C, SIGTERM or SIGHUP stops it: 128 + the number of the
#: signal
SIGNAL_CODES_TEXT = "130, 143, 129 stopped by Ctrl-C, SIGTERM, SIGHUP"
_FAILED = "not possible, with the reason on stderr"
_LIBRARY = (PACKAGE_MISSING, "a Python package is missing")
#: Of a command that is not below
DONE = ((0, "done"), (1, _FAILED))
#: command, with its subcommand where it has some -> ((code or codes, what it means), ...); wrong
#: usage is always 2
CODES = {
    'check': (
        (
            0,
            "works (the approach that was named, else the best one), or no prediction is wrong (--published)",
        ),
        (1, "image or host cannot be read, or a prediction is wrong"),
        (4, "works slowly"),
        (5, "unknown"),
        (6, "fails"),
    ),
    'discover': ((0, "looked"), (1, "a file cannot be read or written")),
    'proof': (
        (0, "all as promised"),
        (1, "something contradicts what was promised, or nothing is proved"),
        ("another", "that of the command"),
    ),
    'try': ((0, "all steps ended well"), (1, "some did not: the file names them")),
    'why': ((0, "something is known"), (1, "nothing is, or a file cannot be read")),
    'new': (
        (0, "written, or there as it would be written"),
        (1, "not written, with the reason on stderr"),
    ),
    'bench': ((0, "all ran"), (1, "a run failed, or nothing could be run"), _LIBRARY),
    'compare': (
        (0, "nothing of A is worse"),
        (1, "something is (--fail-on)"),
        (3, "cannot be compared, with the reason on stderr, or a Python package is missing"),
    ),
    'report': (*DONE, _LIBRARY),
    'image verify': ((0, "all right"), (1, "something is wrong, or cannot be read")),
    'image build': ((0, "built, or can be built (--check)"), (1, "not, with the reason on stderr")),
}


def list_codes(command):
    """
    Return ((code, meaning), ...) of a command (str, with its subcommand); wrong usage is among
    them.
    """
    codes = dict(CODES.get(command, DONE))
    more = codes.pop(WRONG_USAGE, None)
    codes[WRONG_USAGE] = "wrong usage" + (more and ", " + more or "")
    return tuple(sorted(codes.items(), key=lambda one: str(one[0])))


def format_codes(command):
    """Return the sentence (str) on the exit codes of a command (str, with its subcommand)."""
    return f"Exit codes: {'; '.join(f'{code} {meaning}' for code, meaning in list_codes(command))}; {SIGNAL_CODES_TEXT}."

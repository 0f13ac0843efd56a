"""
The standard streams of a command: closed ones, names that an encoding lacks, a full disk or nobody behind them.

Python 3.6 and its standard library only: the commands of installed modules use it too.
"""
import io
import os
import sys


def prepare():
    """
    Open to nothing what is closed, and let any name be printed.

    The number of a closed stream would go to the next file that is opened, and what is printed by a program that is
    started would go into that file. Names of files that an encoding lacks are written as \\xe4, as stderr does.
    """
    for number, name in enumerate(('stdin', 'stdout', 'stderr')):
        try:
            os.fstat(number)
        except OSError:
            nothing = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
            os.set_inheritable(nothing, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, 'r' if number == 0 else 'w', closefd=False))
    if hasattr(sys.stdout, 'reconfigure'):
        sys.stdout.reconfigure(errors='backslashreplace')
    elif isinstance(sys.stdout, io.TextIOWrapper):  # Python 3.6
        encoding, at_once = sys.stdout.encoding, sys.stdout.line_buffering
        sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding, 'backslashreplace', line_buffering=at_once)


def say(text):
    """Print text (str) on stderr, if somebody is there: a terminal may be gone."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        pass


def drop_output():
    """Forget what stdout has not taken: at its end Python would try again, and say so over many lines."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # it is no file, as in a test
        pass


def guarded(prog, function):
    """
    Call function (without arguments) and see that all it prints arrives; return its exit code (int).

    1 with a message if stdout does not take it, if memory does not suffice or a file cannot be read; 1 without one
    where the reader of stdout, such as head, has seen enough.

    :param prog: str, name of the command for messages
    """
    try:
        code = function()
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        drop_output()
    except MemoryError:
        say("%s: error: not enough memory. Give this shell more (ulimit -v), or the job (--mem)" % prog)
    except OSError as err:
        drop_output()
        what = err.filename or 'the standard output'
        say("%s: error: %s: %s" % (prog, what, err.strerror or err))
    return 1

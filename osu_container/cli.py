"""
The command osu-container. One subcommand a module; they are imported when they are called.

Python 3.6 and its standard library only: some subcommands run where there is nothing else (bin/osu-container).
"""
import argparse
import importlib
import signal
import sys
from pathlib import Path

from osu_container.core.writing import terminal

from . import streams

#: subcommand -> module with add_arguments(parser) and the text of its line in --help
COMMANDS = {
    'check': ('osu_container.check.cli', "tell before anything runs which approaches will work with an image, and why"),
    'discover': ('osu_container.discover.cli', "find the facts of this system and write them as a site"),
    'proof': ('osu_container.proof.cli', "show what every rank of a run really loaded and used"),
    'why': ('osu_container.why', "name cause and remedy of the messages in a job's output"),
    'new': ('osu_container.new.cli', "write an easyconfig for an MPI container of your own"),
    'contribute': ('osu_container.contribute.cli', "write recipes in the form of LUMI's and EasyBuild's repositories"),
    'image': ('osu_container.image.cli', "list, build, check and share the images"),
    'stage': ('osu_container.stage', "copy an image to the nodes of a job: start of thousands of ranks"),
    'bench': ('osu_container.bench.cli', "run the benchmarks over Slurm: every approach and native, in turn"),
    'compare': ('osu_container.compare.cli', "compare runs, modules and published figures at every message size"),
    'report': ('osu_container.report.cli', "make one page of runs: tables, curves, proof, environment"),
    'reference': ('osu_container.results.cli', "list published figures, keep a native run as the site's reference"),
}
#: Signals that ask a program to end: Slurm's, and that of a terminal or a connection that is gone
ASKS = (signal.SIGTERM, signal.SIGHUP)
#: What installs the libraries of the commands, where the set-up of the project is not there
REQUIREMENTS = 'osu_container/requirements.txt'
#: Exit code where a library is missing: 1 is an answer of compare
MISSING = 3


class Ended(SystemExit):
    """A signal that asks this program to end. As with Ctrl-C what it has begun is put in order on the way out."""

    def __init__(self, number):
        """:param number: int, of the signal"""
        super().__init__(128 + number)
        self.name = signal.Signals(number).name


def _end(number, _):
    """Handle a signal (int) that asks this program to end; the next one changes nothing."""
    for each in ASKS:
        signal.signal(each, signal.SIG_IGN)
    raise Ended(number)


def main(arguments=None):
    """Run a subcommand; return its exit code. Expected failures become a message on stderr and exit code 1."""
    streams.prepare()
    with terminal.shown():
        return _run(sys.argv[1:] if arguments is None else arguments)


def _run(arguments):
    """See main()."""
    parser = argparse.ArgumentParser(prog='osu-container',
                                     description="MPI containers with the OSU Micro-Benchmarks: see README.md")
    commands = parser.add_subparsers(dest='command', metavar='COMMAND')
    commands.required = True  # an argument only from Python 3.7 on
    for name, (module, text) in COMMANDS.items():
        # only the module of the subcommand that was called: others may need libraries that are not there
        below = commands.add_parser(name, help=text, description=text)
        if arguments[:1] == [name]:
            try:
                importlib.import_module(module).add_arguments(below)
            except ModuleNotFoundError as err:
                if (err.name or '').partition('.')[0] == 'osu_container':
                    raise
                folder = Path(__file__).resolve().parent.parent
                print(f"osu-container {name}: error: the Python package {err.name} is missing. Install it: "
                      f"`make -C {folder} python-env`, or: {sys.executable} -m pip install -r "
                      f"{folder / REQUIREMENTS}", file=sys.stderr)
                return MISSING
    options = parser.parse_args(arguments)
    for number in ASKS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, _end)
    return streams.guarded(options.prog, lambda: _call(options))


def _call(options):
    """Run the function of a subcommand; return its exit code."""
    try:
        return options.function(options)
    except BrokenPipeError:
        raise
    except options.errors as err:
        streams.say(f"{options.prog}: error: {err}")
        return 1
    except Ended as err:
        streams.say(f"{options.prog}: ended by {err.name}; {options.after_interrupt}")
        return err.code
    except KeyboardInterrupt:
        streams.say(f"{options.prog}: interrupted; {options.after_interrupt}")
        return 130

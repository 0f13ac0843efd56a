"""
The command osu-container. One subcommand a module; they are imported when they are called.

Python 3.6 and its standard library only: some subcommands run where there is nothing else
(scripts/osu-container).
"""

import argparse
import difflib
import importlib
import os
import re
import stat
import sys
from pathlib import Path

from osu_container import __version__
from osu_container.base import exit_codes, files, shell, streams, terminal
from osu_container.base.exit_codes import PACKAGE_MISSING

#: subcommand -> module with add_arguments(parser) and the text of its line in --help
COMMANDS = {
    'try': (
        'osu_container.check.try_.cli',
        "run the approaches without an installation, and leave one file to send",
    ),
    'check': (
        'osu_container.check.cli',
        "tell before anything runs which approaches will work with an image, and why",
    ),
    'discover': (
        'osu_container.discover.cli',
        "find the facts of this system and write them as a site",
    ),
    'proof': ('osu_container.proof.cli', "show what every rank of a run really loaded and used"),
    'why': ('osu_container.why.cli', "name cause and remedy of the messages in a job's output"),
    'new': ('osu_container.check.new.cli', "write an easyconfig for an MPI container of your own"),
    'image': ('osu_container.build.cli', "list, build and check the images"),
    'bench': (
        'osu_container.bench.cli',
        "run the benchmarks over Slurm: every approach and native, in turn",
    ),
    'import': (
        'osu_container.bench.results.import_cli',
        "make a run of what OSU's programs or IMB printed",
    ),
    'compare': (
        'osu_container.bench.compare.cli',
        "compare runs and published figures at every message size",
    ),
    'report': (
        'osu_container.bench.report.cli',
        "make one page of runs: tables, curves, proof, environment",
    ),
    'reference': ('osu_container.bench.results.cli', "list the published figures"),
}
#: What installs the libraries of the commands, where the set-up of the project is not there
REQUIREMENTS = 'osu_container/requirements.txt'


def _suggest_name(word, known):
    """
    Return ' Did you mean NAME?' (str) for the one of known (list of str) that is like word
    (str); '' if none is.
    """
    close = difflib.get_close_matches(word, known, 1)
    return f' Did you mean {close[0]}?' if close else ''


class Help(argparse.HelpFormatter):
    """
    As argparse's, in the width of the terminal; of texts, lines that begin with a blank stay as
    they are.
    """

    def _fill_text(self, text, width, indent):
        """Return text (str) with its paragraphs filled to width (int), behind indent (str)."""
        found = []
        for part in re.split(r'\n\s*\n', text.strip('\n')):
            kept, others = [], []
            for line in part.splitlines():
                if line[:1] == ' ' or kept:
                    kept.append(indent + line)
                else:
                    others.append(line)
            found.append(
                '\n'.join(
                    ([super()._fill_text(' '.join(others), width, indent)] if others else []) + kept
                )
            )
        return '\n\n'.join(found)


class Version(argparse.Action):
    """As argparse's version, which would break a long path into lines."""

    def __init__(self, **options):
        """See argparse."""
        super().__init__(nargs=0, default=argparse.SUPPRESS, **options)

    def __call__(self, parser, *_):
        """Print the version and where it is; exit."""
        print(f'osu-container {__version__} ({Path(__file__).resolve().parent.parent})')
        parser.exit()


class Parser(argparse.ArgumentParser):
    """As argparse's; its errors name the command, option or value that may have been meant."""

    def __init__(self, *arguments, **options):
        """See argparse."""
        options.setdefault('formatter_class', Help)
        super().__init__(*arguments, **options)

    def add_exit_codes(self, command):
        """
        Let the help of this parser, that of a command (str), and of those below it name their
        exit codes.
        """
        below = [
            action for action in self._actions if isinstance(action, argparse._SubParsersAction)
        ]
        for name, parser in below[0].choices.items() if below else ():
            parser.add_exit_codes(f'{command} {name}')
        if not below:
            self.epilog = '\n\n'.join(
                filter(None, [(self.epilog or '').strip('\n'), exit_codes.format_codes(command)])
            )

    def find_subparser(self, arguments):
        """
        Return the parser (Parser) of the subcommand that arguments (list of str) call; this one
        if there is none.
        """
        for action in self._actions:
            for number, argument in enumerate(
                arguments if isinstance(action, argparse._SubParsersAction) else []
            ):
                if argument in action.choices:
                    return action.choices[argument].find_subparser(arguments[number + 1 :])
        return self

    def _get_values(self, action, arg_strings):
        """
        As argparse's. An empty value is an error: mostly it is that of a variable that is not
        set.
        """
        if '' in arg_strings and action.nargs not in (argparse.REMAINDER, argparse.PARSER):
            raise argparse.ArgumentError(
                action,
                "found an empty value, wanted one that says something. Give it, or "
                "leave the word out; is a variable in it not set?",
            )
        return super()._get_values(action, arg_strings)

    def parse_args(self, args=None, namespace=None):
        """As argparse's, but the error of an unknown option is that of the subcommand."""
        args = sys.argv[1:] if args is None else args
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            called = self.find_subparser(args)
            known = [option for action in called._actions for option in action.option_strings]
            hints = [
                _suggest_name(one.partition('=')[0], known)
                for one in unknown
                if one.startswith('-')
            ]
            called.error(
                f"unrecognized arguments: {' '.join(unknown)}{'.' * any(hints)}{''.join(hints)}"
            )
        return options

    def error(self, message):
        """Print usage and message (str), with what may have been meant; exit with code 2."""
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if wrong:
            message += '.' + _suggest_name(wrong.group(1), re.findall(r'[\w.:+-]+', wrong.group(2)))
        super().error(message)


def run_command():
    """Run as a process of its own, as scripts/osu-container does; return the exit code."""
    if sys.argv[1:2] != [
        'proof'
    ]:  # which starts what is the user's; others write scripts that are run
        os.umask(os.umask(0o077) | stat.S_IWOTH)
    return streams.run_process(main)


def main(arguments=None):
    """
    Run a subcommand; return its exit code. Expected failures become a message on stderr and exit
    code 1.

    Signals and streams of the process stay as they are: also in a thread.
    """
    files.reset_inputs()
    with terminal.escape_streams():
        # a library that a subcommand loads may find no memory
        return streams.run_guarded(
            'osu-container', lambda: _run(sys.argv[1:] if arguments is None else arguments), False
        )


def _run(arguments):
    """See main()."""
    parser = Parser(
        prog='osu-container',
        description="MPI containers with the OSU Micro-Benchmarks: see README.md",
        epilog="osu-container COMMAND --help has the options of a command and its exit codes.",
    )
    parser.add_argument('--version', action=Version, help="print the version and where it is")
    commands = parser.add_subparsers(dest='command', metavar='COMMAND')
    commands.required = True  # an argument only from Python 3.7 on
    for name, (module, text) in COMMANDS.items():
        # only the module of the subcommand that was called: others may need libraries that are not
        # there
        below = commands.add_parser(name, help=text, description=text)
        if arguments[:1] == [name]:
            try:
                importlib.import_module(module).add_arguments(below)
                below.add_exit_codes(name)
            except ModuleNotFoundError as err:
                return _report_missing_package(f'osu-container {name}', err)
    if not arguments:
        parser.print_help()
        return 2
    options = parser.parse_args(arguments)
    return run_subcommand(options)


def run_subcommand(options):
    """Run the function that a parser has set in options; return its exit code."""
    return streams.run_guarded(options.prog, lambda: _call_subcommand(options))


def _report_missing_package(prog, err):
    """
    Say which package a command (str) lacks, by a ModuleNotFoundError, and how to get it; return
    the exit code.
    """
    if (err.name or 'osu_container').partition('.')[0] == 'osu_container':
        raise err
    folder = Path(__file__).resolve().parent.parent
    here = shell.join_words(['-m', 'pip', 'install', '-r', str(folder / REQUIREMENTS)])
    if not os.environ.get('OSU_CONTAINER_PYTHON') and (folder / 'Makefile').is_file():
        wanted = shell.join_words(['make', '-C', str(folder), 'python-env'])
    elif sys.prefix != sys.base_prefix:  # an environment of the user's
        wanted = f'{shell.quote(sys.executable)} {here}'
    else:
        wanted = (
            f"python3 -m venv ~/osu-commands && ~/osu-commands/bin/python {here} && "
            "export OSU_CONTAINER_PYTHON=~/osu-commands/bin/python"
        )
    streams.print_stderr(
        f"{prog}: error: the Python package {err.name} is missing; to have it type: {wanted}"
    )
    return PACKAGE_MISSING


def _call_subcommand(options):
    """Run the function of a subcommand; return its exit code."""
    try:
        return options.function(options)
    except ModuleNotFoundError as err:
        return _report_missing_package(options.prog, err)
    except BrokenPipeError:
        raise
    except options.errors as err:
        streams.print_stderr(
            f"{options.prog}: error: {streams.format_os_error(err) if isinstance(err, OSError) else err}"
        )
        return 1
    except streams.SignalExit as err:
        streams.print_stderr(f"{options.prog}: ended by {err.name}; {options.after_interrupt}")
        return err.code
    except OSError as err:
        if err.errno not in streams.LIMIT_COMMANDS:
            raise
        streams.print_stderr(f"{options.prog}: error: {streams.format_os_error(err)}")
        return 1
    except KeyboardInterrupt:
        streams.print_stderr(f"{options.prog}: interrupted; {options.after_interrupt}")
        return 130

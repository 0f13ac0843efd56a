"""
Implement the command osu-container and its subcommands.

The Python module of a subcommand is imported only when a user calls the subcommand. cli.py needs
only Python 3.6 and the standard library, so that the portable subcommands run on any node.
"""

import argparse
import difflib
import importlib
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Optional, Sequence

from osu_container import __version__
from osu_container.base import columns, exit_codes, files, shell, streams, terminal
from osu_container.base.exit_codes import PACKAGE_MISSING

#: subcommand -> (module with the function add_arguments(parser), description in --help)
COMMANDS = {
    'try': (
        'osu_container.check.try_.cli',
        "run an image once with every approach, without installing anything, and write one report file",
    ),
    'check': (
        'osu_container.check.cli',
        "predict which approaches will work with an image, and explain why, without running the image",
    ),
    'discover': (
        'osu_container.discover.cli',
        "inspect this system and write a site file, which describes its MPI, network and GPUs",
    ),
    'proof': (
        'osu_container.proof.cli',
        "run an MPI program and show which libraries and network every rank really used",
    ),
    'why': (
        'osu_container.why.cli',
        "explain the cause and the remedy of error messages in the output of a job",
    ),
    'new': (
        'osu_container.check.new.cli',
        "write an easyconfig that installs your own MPI container as a module",
    ),
    'image': (
        'osu_container.build.cli',
        "list, build and verify the container images of this project",
    ),
    'bench': (
        'osu_container.bench.cli',
        "run benchmarks or your own command in a Slurm job, with each approach and without a container",
    ),
    'import': (
        'osu_container.bench.results.import_cli',
        "convert output files of the OSU benchmarks or of the Intel MPI Benchmarks (IMB) to recorded results",
    ),
    'compare': (
        'osu_container.bench.compare.cli',
        "compare recorded or published results at every message size",
    ),
    'report': (
        'osu_container.bench.report.cli',
        "write a web page on recorded results, with tables, plots, loaded libraries and environment",
    ),
    'reference': (
        'osu_container.bench.results.cli',
        "list the published results to which your results can be compared",
    ),
}
#: File that lists the Python packages which the other subcommands need
REQUIREMENTS = 'osu_container/requirements.txt'


def _suggest_name(word: str, names: Sequence[str]) -> str:
    """Return a question such as ' Did you mean NAME?', or '' if no name is similar to `word`."""
    close = difflib.get_close_matches(word, names, 1)
    return f' Did you mean {close[0]}?' if close else ''


class Help(argparse.HelpFormatter):
    """Wraps help texts at the width of the terminal, but keeps indented lines unchanged."""

    # Unlike argparse, fill_text() breaks no line at a hyphen, such as in `osu-container new`.
    def _split_lines(self, text: str, width: int) -> List[str]:
        return columns.fill_text(' '.join(text.split()), columns=width).split('\n')

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = []
        for paragraph in re.split(r'\n\s*\n', text.strip('\n')):
            prose = re.findall(r'\A(?:\S.*\n?)*', paragraph)[0]
            lines = self._split_lines(prose, width) * bool(prose)
            paragraphs.append('\n'.join(lines + paragraph[len(prose) :].splitlines()))
        return '\n\n'.join(paragraphs)


class Version(argparse.Action):
    """Implements the option --version; the standard action would wrap a long path."""

    def __init__(self, **options: Any) -> None:
        super().__init__(nargs=0, default=argparse.SUPPRESS, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print the version and the folder of the installation, then exit."""
        print(f'osu-container {__version__} ({Path(__file__).resolve().parent.parent})')
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Parses arguments; an error message suggests the most similar valid argument."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options.setdefault('formatter_class', Help)
        super().__init__(*arguments, **options)

    def list_subparsers(self) -> Dict[str, 'Parser']:
        """Return {name: parser} of the subcommands, {} for a command without subcommands."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return action.choices
        return {}

    def add_exit_codes(self, command: str) -> None:
        """Add the exit codes of `command` and of its subcommands to their help texts."""
        subparsers = self.list_subparsers()
        for name, parser in subparsers.items():
            parser.add_exit_codes(f'{command} {name}')
        if not subparsers:
            self.epilog = f"{self.epilog or ''}\n\n{exit_codes.format_codes(command)}"

    def find_subparser(self, arguments: Sequence[str]) -> 'Parser':
        """Return the parser of the subcommand in `arguments`.

        The result is this parser itself if `arguments` contains no subcommand.
        """
        subparsers = self.list_subparsers()
        for number, argument in enumerate(arguments):
            if argument in subparsers:
                return subparsers[argument].find_subparser(arguments[number + 1 :])
        return self

    def _get_values(self, action: argparse.Action, arg_strings: List[str]) -> Any:
        # An empty value is an error, because it usually comes from an unset variable.
        if '' in arg_strings and action.nargs not in (argparse.REMAINDER, argparse.PARSER):
            raise argparse.ArgumentError(
                action,
                "the value of this argument is empty. If the value comes from a variable, set the variable, or "
                "omit the argument",
            )
        return super()._get_values(action, arg_strings)

    def parse_args(  # type: ignore[override]  # the overloads of argparse have the same result
        self,
        args: Optional[Sequence[str]] = None,
        namespace: Optional[argparse.Namespace] = None,
    ) -> argparse.Namespace:
        """
        Parse `args` and return the options. Exit with code 2 if an option is unknown.

        The error message then shows the usage of the subcommand. If a subcommand sets the default
        words=[], the arguments after `--` become options.words.
        """
        args = list(sys.argv[1:] if args is None else args)
        called_parser, words = self.find_subparser(args), []
        if called_parser.get_default('words') == [] and '--' in args:
            number = args.index('--')
            args, words = args[:number], args[number + 1 :]
        options, unknown_arguments = self.parse_known_args(args, namespace)
        options.words = words or getattr(options, 'words', [])
        if unknown_arguments:
            names = [
                option for action in called_parser._actions for option in action.option_strings
            ]
            hints = [
                _suggest_name(argument.partition('=')[0], names)
                for argument in unknown_arguments
                if argument.startswith('-')
            ]
            called_parser.error(
                f"unrecognized arguments: {' '.join(unknown_arguments)}{'.' * any(hints)}{''.join(hints)}"
            )
        return options

    def error(self, message: str) -> NoReturn:
        """Print the usage and `message`, then exit with code 2.

        If the message is about a wrong choice, the program also prints the most similar valid
        choice.
        """
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if wrong:
            message += '.' + _suggest_name(wrong.group(1), re.findall(r'[\w.:+-]+', wrong.group(2)))
        super().error(message)


def run_command() -> int:
    """Run osu-container as the main program of this process; return the exit code."""
    # proof starts the user's program, which must keep the user's umask. The other subcommands write
    # scripts that are run later, and other users must not be able to change these scripts.
    if sys.argv[1:2] != ['proof']:
        os.umask((os.umask(0o077) | stat.S_IWOTH) & ~stat.S_IRWXU)
    return streams.run_process(main)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """
    Run a subcommand and return its exit code.

    After an expected failure, this function prints a message to stderr and returns 1. Threads can
    also call this function, because the function does not change the signal handlers and the
    streams of the process.
    """
    files.reset_inputs()
    with terminal.escape_streams():
        # The guard includes the import of the subcommand, because loading a library can fail for
        # lack of memory.
        return streams.run_guarded(
            'osu-container', lambda: _run(sys.argv[1:] if arguments is None else arguments), False
        )


def _run(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog='osu-container',
        description="Predict, set up and verify how MPI container images run over the high-speed network of "
        "a cluster, and compare their speed. README.md shows the first steps.",
        epilog="`osu-container COMMAND --help` lists the options and exit codes of a command.",
    )
    parser.add_argument(
        '--version', action=Version, help="print the version and the folder of the installation"
    )
    commands = parser.add_subparsers(dest='command', metavar='COMMAND')
    commands.required = True  # an argument of add_subparsers() only since Python 3.7
    for name, (module, text) in COMMANDS.items():
        # Import only the module of the called subcommand, because other modules may need missing
        # packages.
        subparser = commands.add_parser(
            name, help=text, description=f'{text[0].upper()}{text[1:]}.'
        )
        if arguments[:1] == [name]:
            try:
                importlib.import_module(module).add_arguments(subparser)
                subparser.add_exit_codes(name)
            except ModuleNotFoundError as err:
                return _report_missing_package(f'osu-container {name}', err)
    if not arguments:
        parser.print_help()
        return 2
    return run_subcommand(parser.parse_args(arguments))


def run_subcommand(options: argparse.Namespace) -> int:
    """Call options.function, the function of the chosen subcommand; return the exit code."""
    return streams.run_guarded(options.prog, lambda: _call_subcommand(options))


def _report_missing_package(prog: str, err: ModuleNotFoundError) -> int:
    """Print the name of the missing Python package and a command that installs the package.

    Return the exit code PACKAGE_MISSING.
    """
    if (err.name or 'osu_container').partition('.')[0] == 'osu_container':
        raise err
    folder = Path(__file__).resolve().parent.parent
    pip_arguments = shell.join_words(['-m', 'pip', 'install', '-r', str(folder / REQUIREMENTS)])
    is_clone = (folder / 'Makefile').is_file() and not re.search(r'\s', str(folder))
    if is_clone and not os.environ.get('OSU_CONTAINER_PYTHON'):
        remedy = shell.join_words(['make', '-C', str(folder), 'python-env'])
    elif sys.prefix != sys.base_prefix:  # a virtual environment of the user
        remedy = f'{shell.quote(sys.executable)} {pip_arguments}'
    else:
        remedy = (
            f"python3 -m venv ~/osu-commands && ~/osu-commands/bin/python {pip_arguments} && "
            "export OSU_CONTAINER_PYTHON=~/osu-commands/bin/python"
        )
    streams.print_stderr(
        f"{prog}: error: the Python package {err.name} is missing. Install the package: {remedy}"
    )
    return PACKAGE_MISSING


def _call_subcommand(options: argparse.Namespace) -> int:
    try:
        return options.function(options)
    except ModuleNotFoundError as err:
        return _report_missing_package(options.prog, err)
    except BrokenPipeError:
        raise
    except (OSError, *options.errors) as err:
        if not isinstance(err, options.errors) and err.errno not in streams.LIMIT_COMMANDS:
            raise
        text = streams.format_os_error(err) if isinstance(err, OSError) else err
        streams.print_stderr(f"{options.prog}: error: {text}")
        return 1
    except streams.SignalExit as err:
        streams.print_stderr(f"{options.prog}: terminated by {err.name}; {options.after_interrupt}")
        return err.code
    except KeyboardInterrupt:
        streams.print_stderr(f"{options.prog}: interrupted; {options.after_interrupt}")
        return 130

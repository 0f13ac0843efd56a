"""The command osu-container. One subcommand a module; they are imported when they are called."""
from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys

#: subcommand -> module with add_arguments(parser) and the text of its line in --help
COMMANDS = {
    'image': ('osu_container.image.cli', "list, build, check and share the images"),
}


def main(arguments=None):
    """Run a subcommand; return its exit code. Expected failures become a message on stderr and exit code 1."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog='osu-container',
                                     description="MPI containers with the OSU Micro-Benchmarks: see README.md")
    commands = parser.add_subparsers(dest='command', metavar='COMMAND', required=True)
    for name, (module, text) in COMMANDS.items():
        # only the module of the subcommand that was called: others may need libraries that are not there
        below = commands.add_parser(name, help=text, description=text)
        if arguments[:1] == [name]:
            importlib.import_module(module).add_arguments(below)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        code = options.function(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except options.errors as err:
        print(f"{options.prog}: error: {err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{options.prog}: interrupted; {options.after_interrupt}", file=sys.stderr)
        return 130

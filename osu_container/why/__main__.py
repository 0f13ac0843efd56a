"""The folder as a program: python3 why FILE. It runs where nothing but this folder was copied."""
import argparse
import os
import sys
from importlib import import_module


def main():
    """Run the command; return its exit code (int)."""
    folder, name = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    sys.path[0] = folder
    cli = import_module(name + '.cli')
    parser = argparse.ArgumentParser(prog='why', description="Name cause and remedy of a job's messages.")
    cli.add_arguments(parser)
    try:
        code = cli.main(parser.parse_args())
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    sys.exit(main())

"""Programs that run for long: their output in a log, and what is done on the screen."""

import subprocess

from osu_container.base.streams import ProgressScreen, start_process_group
from osu_container.base.terminal import redact_secrets
from osu_container.build import ImageBuildError

#: The first line of a build begins its time
SCREEN = ProgressScreen()


def print_progress(text):
    """Print one line with the seconds since the start."""
    SCREEN.print_line(SCREEN.format_elapsed(text))


def run(what, command, log, cwd=None, env=None):
    """Run a command with its output in the log file. what: for the message.

    Raises ImageError with the exit code, the end of the output and the log's name if it fails.
    """
    command = [str(word) for word in command]
    with open(log, 'ab') as stream:
        stream.write(f"\n$ {redact_secrets(' '.join(command))}\n".encode())
        stream.flush()
        try:
            with start_process_group(
                command, cwd=cwd, env=env, stdout=stream, stderr=subprocess.STDOUT
            ) as child:
                child.wait()
        except FileNotFoundError as err:
            raise ImageBuildError(
                f"{what}: {command[0]} cannot be started: {err.strerror}"
            ) from err
    if child.returncode:
        with open(log, errors='replace') as stream:
            end = stream.read().rstrip().splitlines()[-15:]
        raise ImageBuildError(
            f"{what}: {command[0]} ended with exit code {child.returncode}. Its last lines:\n"
            + '\n'.join(f"    {line}" for line in end)
            + f"\nThe whole output is in {log}"
        )

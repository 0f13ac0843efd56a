"""Programs that run for long: their output in a log, and what is done on the screen."""
import subprocess

from osu_container.base.streams import Screen, started
from osu_container.base.terminal import discreet
from osu_container.build import ImageError

#: The first line of a build begins its time
SCREEN = Screen()


def say(text):
    """Print one line with the seconds since the start."""
    SCREEN.say(SCREEN.stamped(text))


def run(what, command, log, cwd=None, env=None):
    """Run a command with its output in the log file. what: for the message.

    Raises ImageError with the exit code, the end of the output and the log's name if it fails.
    """
    command = [str(word) for word in command]
    with open(log, 'ab') as stream:
        stream.write(f"\n$ {discreet(' '.join(command))}\n".encode())
        stream.flush()
        try:
            with started(command, cwd=cwd, env=env, stdout=stream, stderr=subprocess.STDOUT) as child:
                child.wait()
        except FileNotFoundError as err:
            raise ImageError(f"{what}: {command[0]} cannot be started: {err.strerror}") from err
    if child.returncode:
        with open(log, errors='replace') as stream:
            end = stream.read().rstrip().splitlines()[-15:]
        raise ImageError(f"{what}: {command[0]} ended with exit code {child.returncode}. Its last lines:\n"
                         + '\n'.join(f"    {line}" for line in end) + f"\nThe whole output is in {log}")

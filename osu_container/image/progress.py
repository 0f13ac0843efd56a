"""Programs that run for long: their output in a log, and how far they are on the screen."""
import os
import platform
import re
import subprocess
import time
from pathlib import Path

from osu_container.core.terminal import discreet
from osu_container.streams import Screen, started

from . import ImageError

#: The first line of a build begins its time
SCREEN = Screen()


def say(text):
    """Print one line of progress with the seconds since the start."""
    SCREEN.say(SCREEN.stamped(text))


def duration(seconds):
    """Return a duration for people: '40 s', '12 min', '3 h 20 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def of_this():
    """Return how temporary files of this process are marked (str): the work folder may be one for many machines."""
    return f'{os.getpid()}.{platform.node()}.'


def is_left(name):
    """Return whether a file is one with the mark of a process of this machine that has ended; name: str."""
    found = re.search(rf'-(\d+)\.{re.escape(platform.node())}\.\w{{8}}$', name)
    return bool(found) and not Path(f'/proc/{found.group(1)}').exists()


def log_of(work, name):
    """Return the file (Path) for the output of programs; work: Path of the work folder, name: str."""
    return work / 'log' / f'{name}.log'


class Steps:
    """The steps of one build: says which one runs, and remembers how long each took."""

    def __init__(self, titles):
        """titles: of all steps (list of str)."""
        self.titles, self.current, self.begun, self.took = titles, None, 0.0, {}

    def begin(self, title, note=''):
        """Say that a step begins. Steps come in the order of the titles; what was left out is passed over."""
        self.end()
        self.current, self.begun = title, time.monotonic()
        self._say(title, note and ' ' + note)

    def skip(self, title, why):
        """Say that a step needs no work."""
        self.end()
        self._say(title, f": {why}")

    def end(self):
        """Remember how long the current step took."""
        if self.current is not None:
            self.took[self.current] = round(time.monotonic() - self.begun, 1)
            self.current = None

    def _say(self, title, note):
        say(f"step {self.titles.index(title) + 1} of {len(self.titles)}: {title}{note}")


def run(what, command, log, cwd=None, env=None):
    """Run a command with its output in the log file; the last line of that is its progress. what: for the message.

    Raises ImageError with the exit code, the end of the output and the log's name if it fails.
    """
    command = [str(word) for word in command]
    with open(log, 'ab') as stream:
        stream.write(f"\n$ {discreet(' '.join(command))}\n".encode())
        stream.flush()
        start = stream.tell()
        try:
            with started(command, cwd=cwd, env=env, stdout=stream, stderr=subprocess.STDOUT) as child:
                _wait(child, what, log)
        except FileNotFoundError as err:
            raise ImageError(f"{what}: {command[0]} cannot be started: {err.strerror}") from err
    if child.returncode:
        with open(log, 'rb') as stream:
            stream.seek(start)
            end = stream.read().decode(errors='replace').rstrip().splitlines()[-15:]
        raise ImageError(f"{what}: {command[0]} ended with exit code {child.returncode}. Its last lines:\n"
                         + '\n'.join(f"    {line}" for line in end) + f"\nThe whole output is in {log}")


def _wait(child, what, log):
    """Wait for the child and show its last line of output."""
    while True:
        try:
            child.wait(timeout=1)
            SCREEN.clear()
            return
        except subprocess.TimeoutExpired:
            with open(log, 'rb') as stream:
                stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2000))
                lines = stream.read().decode(errors='replace').replace('\r', '\n').split('\n')
            SCREEN.progress(f"  {what}: {next((line.strip() for line in reversed(lines) if line.strip()), '')[:90]}")

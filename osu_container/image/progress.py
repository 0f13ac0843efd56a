"""Programs that run for long: their output in a log, a sign of life on the screen, and the time that is left."""
import contextlib
import errno
import json
import os
import subprocess
import time
from pathlib import Path

from osu_container.children import end_group, signals_held
from osu_container.core.reading.files import not_replaced, read_json

from . import ImageError

SIGN_OF_LIFE = 10  # seconds between two lines of a long step
BEGIN = time.monotonic()


def say(text):
    """Print one line of progress with the seconds since the start."""
    print(f"[{time.monotonic() - BEGIN:4.0f} s] {text}", flush=True)


def duration(seconds):
    """Return a duration for people: '40 s', '12 min', '3 h 20 min'."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Steps:
    """The steps of one build: says which one runs and about how long the rest takes, by what they took before."""

    def __init__(self, name, titles, history, estimate):
        """name: of what is built. titles: of all steps (list of str). history: JSON file with seconds by name and title
        of earlier builds. estimate: seconds of all steps, for those that are not in it."""
        self.name, self.titles, self.history = name, titles, Path(history)
        self.known = self._read()
        self.unknown = estimate / len(titles)
        self.done, self.current, self.begun, self.took = 0, None, 0.0, {}

    def _read(self):
        """Return seconds by title of earlier builds, {} if there are none or the file is damaged."""
        return {title: float(seconds) for title, seconds in self._all().get(self.name, {}).items()}

    def _all(self):
        """Return what the file of times says of all images."""
        try:
            known = read_json(self.history)
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def left(self):
        """Return about how many seconds the current step and those behind it will take."""
        rest = self.titles[self.done:]
        seconds = sum(self.known.get(title, self.unknown) for title in rest)
        spent = time.monotonic() - self.begun if self.current else 0
        return seconds - min(spent, self.known.get(self.current, self.unknown))

    def begin(self, title, note=''):
        """Say that a step begins. Steps come in the order of the titles; what was left out is passed over."""
        self.end()
        self.done = self.titles.index(title)
        self.current, self.begun = title, time.monotonic()
        say(f"step {self.done + 1} of {len(self.titles)}: {title}{note and ' ' + note}; "
            f"about {duration(self.left())} left")

    def skip(self, title, why):
        """Say that a step needs no work."""
        self.end()
        self.done = self.titles.index(title)
        say(f"step {self.done + 1} of {len(self.titles)}: {title}: {why}")
        self.done += 1

    def end(self):
        """Remember how long the current step took."""
        if self.current is None:
            return
        self.took[self.current] = round(time.monotonic() - self.begun, 1)
        self.done += 1
        self.current = None
        with contextlib.suppress(OSError):
            known = self._all()
            known[self.name] = {**known.get(self.name, {}), **self.took}
            write_file(self.history, json.dumps(known, indent=1, sort_keys=True) + '\n')

    def alive(self, line):
        """Say that the current step still runs, with the last line of its output."""
        spent, meant = time.monotonic() - self.begun, self.known.get(self.current, self.unknown)
        time_left = f"about {duration(self.left())} left" if spent <= meant else \
            f"this step runs for {duration(spent)}, longer than expected"
        say(f"  ... {time_left} | {line[:90]}")


def write_file(path, text):
    """Write a text file so that nobody ever sees half of it. Raises OSError, also where a device has that name."""
    path = Path(path)
    problem = not_replaced(path)
    if problem:
        raise OSError(errno.EINVAL, problem, str(path))
    new = path.with_name(f'.{path.name}.{os.getpid()}')
    try:
        new.write_text(text)
        os.replace(new, path)
    except BaseException:  # the disk is full
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def run(what, command, log, cwd=None, env=None, alive=None):
    """Run a command with its output in the log file.

    what: the step, for the message. alive: called every SIGN_OF_LIFE seconds with the last line of the output.
    Raises ImageError with the exit code, the end of the output and the log's name if it fails.
    """
    with open(log, 'ab') as stream:
        stream.write(f"\n$ {' '.join(map(str, command))}\n".encode())
        stream.flush()
        start = stream.tell()
        child = None
        try:
            with signals_held() as release:
                child = subprocess.Popen([str(word) for word in command], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                                         stdout=stream, stderr=subprocess.STDOUT, start_new_session=True,
                                         preexec_fn=release)
            _wait(child, log, alive or (lambda line: say(f"  ... {line[:100]}")))
        except BaseException as err:  # interrupted: end what was started, with its children
            if child is not None:
                end_group(child)
            elif isinstance(err, OSError):
                raise ImageError(f"{what}: {command[0]} cannot be started: {err.strerror}") from err
            raise
    if child.returncode:
        with open(log, 'rb') as stream:
            stream.seek(start)
            end = stream.read().decode(errors='replace').rstrip().splitlines()[-15:]
        raise ImageError(f"{what}: {command[0]} ended with exit code {child.returncode}. Its last lines:\n"
                         + '\n'.join(f"    {line}" for line in end) + f"\nThe whole output is in {log}")


def _wait(child, log, alive):
    """Wait for the child and report its last line of output from time to time."""
    while True:
        try:
            child.wait(timeout=SIGN_OF_LIFE)
            return
        except subprocess.TimeoutExpired:
            with open(log, 'rb') as stream:
                stream.seek(max(0, stream.seek(0, os.SEEK_END) - 2000))
                lines = stream.read().decode(errors='replace').replace('\r', '\n').split('\n')
            alive(next((line.strip() for line in reversed(lines) if line.strip()), ''))

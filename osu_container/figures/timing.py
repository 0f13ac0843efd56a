"""What the groups of figures share: environments, times in turn, medians and quartiles, one figure as data."""
from __future__ import annotations

import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

from osu_container.places import PROJECT


class BenchError(Exception):
    """Something that is needed is missing or failed; the text says what, and what to do."""


def environment(module=None):
    """Return the environment (dict) of a shell after `. ./env.sh` and, if given, `module load`. Raises BenchError."""
    load = f'module load {module}; ' if module else ''
    script = f'set -e; . {shlex.quote(str(PROJECT / "env.sh"))}; {load}env -0'
    done = subprocess.run(['bash', '--norc', '-c', script], capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{load or 'env.sh: '}{done.stderr.strip()} (run `make demo` first)")
    return dict(item.split('=', 1) for item in done.stdout.split('\0') if '=' in item)


def seconds(command, env):
    """Return the wall time (s) of command (list of str). Raises BenchError if it fails."""
    return timed(command, env)[0]


def timed(command, env, cwd=None):
    """Return (wall time in s, standard output) of command (list of str). Raises BenchError if it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    taken = time.perf_counter() - start
    if done.returncode:
        raise BenchError(f"{shlex.join(map(str, command))} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return taken, done.stdout


#: Starts a command and writes what it used. A process of its own, and a small one: the kernel counts what a process was
#: before exec with what it is then, so whatever measures must be smaller than what it measures.
WATCH = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[2:])
taken = time.perf_counter() - start
with open(sys.argv[1], 'w') as handle:
    json.dump([code, taken, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024], handle)
"""


def cost(command, env, cwd=None):
    """
    Return (wall time in s, peak memory in MB of 10^6 bytes) of command (list of str) and all that it starts.

    The peak is that of its largest process (getrusage(2), ru_maxrss); below some 10 MB it is that of what measures.
    Raises BenchError if the command fails.
    """
    with tempfile.NamedTemporaryFile('r', suffix='.json') as used:
        done = subprocess.run([sys.executable, '-S', '-c', WATCH, used.name, *command], env=env, cwd=cwd, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        text = used.read()
    code, taken, peak = json.loads(text) if text else (done.returncode, 0, 0)
    if code:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise BenchError(f"{shlex.join(map(str, command))} failed ({code}): {said}")
    return taken, peak / 1e6


def summary(values):
    """Return {'median', 'low', 'high', 'runs'} of values (list of float): median and quartiles."""
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return {'median': statistics.median(values), 'low': low, 'high': high, 'runs': len(values)}


def in_turn(commands, repeats):
    """
    Return {name: [s, ...]}: wall times of commands ({name: function without arguments -> s}), run in turn.

    One round before the measured ones warms caches.
    """
    times = {name: [] for name in commands}
    for number in range(repeats + 1):
        for name, command in commands.items():
            taken = command()
            if number:
                times[name].append(taken)
    return times


def added(times, one, other):
    """Return the summary of what `one` takes beyond `other`, pair by pair, in milliseconds."""
    return summary([1000 * (a - b) for a, b in zip(times[one], times[other])])


def figure(name, found, wanted=None, unit='', at_most=True, **more):
    """
    Return one figure (dict) and print its line.

    :param found: dict as summary() gives it; wanted: float, None where nothing is promised
    :param more: what else is kept with it: values (what it was made of), parameters
    """
    met = None if wanted is None else found['median'] <= wanted if at_most else found['median'] >= wanted
    promise = '' if wanted is None else f"wanted {'<=' if at_most else '>='} {wanted:g}  {'ok' if met else 'missed'}"
    print(f"  {name:50} {found['median']:9.2f} {unit:3} [{found['low']:.2f} .. {found['high']:.2f}]  "
          f"{promise}".rstrip(),
          flush=True)
    return {'name': name, 'unit': unit, 'wanted': wanted, 'at_most': at_most, 'met': met, **found, **more}



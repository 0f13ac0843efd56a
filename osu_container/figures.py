#!/usr/bin/env python3
"""
What a container and this project add to a start (docs/benchmarks.md); `bench` is for users' runs.

    wrapper   bin/osu_latency --help beside the runtime called by hand for the same program
    start     srun of 2, 16 and 64 ranks on one node, in one shared container and in one for each rank, beside native

What is compared runs in turn (A B A B ...), so that a slower spell of the machine meets both; differences and ratios
are taken pair by pair. A figure is a median, with the first and third quartile in brackets. Nothing fails for being
slow. `make demo` must have run: its modules, image and Slurm are used.
"""
from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import time

from osu_container import record
from osu_container.places import PROJECT

APPROACHES = ('pure', 'bind', 'hybrid', 'opensource')


class FiguresError(Exception):
    """Something that is needed is missing or failed; the text says what, and what to do."""


def environment(module=None):
    """Return the environment (dict) after `. ./env.sh` and, if given, `module load`. Raises FiguresError."""
    load = f'module load {module}; ' if module else ''
    script = f'set -e; . {shlex.quote(str(PROJECT / "env.sh"))}; {load}env -0'
    done = subprocess.run(['bash', '--norc', '-c', script], capture_output=True, text=True)
    if done.returncode:
        raise FiguresError(f"{load or 'env.sh: '}{done.stderr.strip()} (run `make demo` first)")
    return dict(item.split('=', 1) for item in done.stdout.split('\0') if '=' in item)


def seconds(command, env):
    """Return the wall time (s) of command (list of str). Raises FiguresError where it fails."""
    start = time.perf_counter()
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    taken = time.perf_counter() - start
    if done.returncode:
        raise FiguresError(f"{shlex.join(command)} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return taken


def summary(values):
    """Return (median, first quartile, third quartile) of values (list of float)."""
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return statistics.median(values), low, high


def in_pairs(one, other, repeats):
    """Return [(s, s), ...] of two functions without arguments that return seconds; a first pair warms caches."""
    return [(one(), other()) for _ in range(repeats + 1)][1:]


def line(name, pairs):
    """Return a line (str) of the table: what the first of each pair takes, beyond the second, and divided by it."""
    shown = [[1000 * one for one, _ in pairs], [1000 * (one - other) for one, other in pairs],
             [one / other for one, other in pairs]]
    return f'{name:38}' + ''.join(f' {text(each):>26}' for each in shown)


def text(values):
    """Return 'median [low .. high]' of values (list of float)."""
    middle, low, high = (f'{value:.3g}' if abs(value) < 1000 else f'{value:.0f}' for value in summary(values))
    return f'{middle} [{low} .. {high}]'


def wrapper():
    """Yield (name, function, function): a command of each module, and the runtime called by hand."""
    for approach in APPROACHES:
        env = environment(f'osu-container/{approach}')
        by_wrapper = [os.path.join(env['CONTAINERROOT'], 'bin', 'osu_latency'), '--help']
        bare = [record.runtime_of(env), 'exec', env['SIF'], 'osu_latency', '--help']
        yield (f'wrapper of {approach}', lambda env=env, it=by_wrapper: seconds(it, env),
               lambda env=env, it=bare: seconds(it, env))


def start():
    """Yield (name, function, function): starts of ranks in containers, and of the same ranks on the host."""
    # bind: the same MPI as native's; another release of MPICH spins in another way
    native, shared = environment('osu-native'), environment('osu-container/bind')
    for ranks in (2, 16, 64):
        srun = ['srun', '-N1', f'-n{ranks}', '--overcommit', 'osu_barrier', '-i', '1', '-x', '0']
        for how, env in (('shared container', shared), ('a container a rank', dict(shared, OSU_SHARE='0'))):
            yield (f'{ranks} ranks, {how}', lambda srun=srun, env=env: seconds(srun, env),
                   lambda srun=srun: seconds(srun, native))


#: name -> function that yields what is measured
GROUPS = {'wrapper': wrapper, 'start': start}


def main():
    """Measure the groups that were named, or all, and print a table; exit code 1 if something is missing or failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('groups', nargs='*', metavar='GROUP',
                        help=f"what to measure: {', '.join(GROUPS)} (default: all)")
    parser.add_argument('--repeats', type=int, default=15, help="measured pairs of each (default: %(default)s)")
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown or options.repeats < 1:
        parser.error(f"unknown group {', '.join(sorted(unknown))}; known: {', '.join(GROUPS)}" if unknown else
                     f"--repeats is {options.repeats}, wanted 1 or more")
    machine = record.machine()
    print(f"{record.now()[:10]}, {machine['cores']} cores ({machine['cpu']}), {machine['system']}; load "
          f"{os.getloadavg()[0]:.1f}; {options.repeats} pairs\n\n{'':38}" + ''.join(
              f'{title:>27}' for title in ('ms', 'beyond the other, ms', 'ratio')))
    try:
        for name in options.groups or GROUPS:
            for title, one, other in GROUPS[name]():
                print(line(title, in_pairs(one, other, options.repeats)), flush=True)
    except FiguresError as err:
        sys.exit(f'figures: {err}')


if __name__ == '__main__':
    main()

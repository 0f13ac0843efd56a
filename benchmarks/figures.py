#!/usr/bin/env python3
"""
Measure the figures that this project promises, as ratios or differences within one run, with their spread.

    wrapper     time that bin/osu_* adds to a bare `apptainer exec` of the same program       wanted: 8 ms or less
    module      time that loading a module takes beyond loading an empty one                  wanted: 15 ms or less
    approaches  each approach against native programs over the same MPI, libfabric and provider
                                                           wanted: bandwidth 0.95 or more, latency 1.05 or less
    render      `eb --module-only` of one module                                               wanted: 2 s or less

What is compared runs in turn (A B A B ...), so that a slower spell of the machine meets both. Figures are medians; the
spread is the range from the first to the third quartile. Nothing here fails for being slow: the output says
'missed' where a figure is, and whoever reads it decides.

`make demo` must have run: its modules, image and Slurm are used. Results: .workstation/bench/<time>.json
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from functools import partial
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
WORK = PROJECT / '.workstation'
sys.path[:0] = [str(PROJECT), str(PROJECT / 'modules')]

import render  # noqa: E402, the path above is needed first

from osu_container import osu_output, proof, record  # noqa: E402

APPROACHES = ['pure', 'bind', 'hybrid', 'opensource']
SRUN = ['srun', '-N2', '-n2', '--ntasks-per-node=1']
#: (benchmark, arguments, sizes in bytes whose ratio is shown)
BENCHMARKS = [('osu_bw', ['-m', '4194304', 'H', 'H'], (1, 65536, 4194304)),
              ('osu_latency', ['-m', '65536', 'H', 'H'], (1, 65536))]


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
    start = time.perf_counter()
    done = subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    taken = time.perf_counter() - start
    if done.returncode:
        raise BenchError(f"{shlex.join(command)} failed: {done.stderr.strip()}")
    return taken


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


def figure(name, found, wanted, unit, at_most=True):
    """Return one figure (dict) and print its line."""
    met = found['median'] <= wanted if at_most else found['median'] >= wanted
    print(f"  {name:46} {found['median']:8.2f} {unit:3} [{found['low']:.2f} .. {found['high']:.2f}]  "
          f"wanted {'<=' if at_most else '>='} {wanted:g}  {'ok' if met else 'missed'}", flush=True)
    return {'name': name, 'unit': unit, 'wanted': wanted, 'at_most': at_most, 'met': met, **found}


def bench_wrapper(repeats):
    """Compare osu_latency --help through the wrapper with the runtime called by hand in the same environment."""
    found = []
    for approach in APPROACHES:
        env = environment(f'osu-container/{approach}')
        wrapper = [os.path.join(env['CONTAINERROOT'], 'bin', 'osu_latency'), '--help']
        bare = [env['OSU_CONTAINER_RUNTIME'], 'exec', env['SIFOSUMINCONTAINER'], 'osu_latency', '--help']
        times = in_turn({'wrapper': partial(seconds, wrapper, env), 'bare': partial(seconds, bare, env)}, repeats)
        found.append(figure(f'wrapper, {approach}', added(times, 'wrapper', 'bare'), 8, 'ms'))
    return found


def bench_module(repeats):
    """Compare `module load` of each module with that of a module file that holds nothing."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'empty').mkdir()
        (Path(folder) / 'empty' / '1.lua').write_text('')
        env = environment()
        env['MODULEPATH'] = f"{folder}:{env['MODULEPATH']}"
        for module in ['osu-native'] + [f'osu-container/{approach}' for approach in APPROACHES]:
            times = in_turn({name: partial(seconds, [env['LMOD_CMD'], 'bash', 'load', name], env)
                             for name in (module, 'empty')}, repeats)
            found.append(figure(f'module load, {module}', added(times, module, 'empty'), 15, 'ms'))
    return found


def bench_render(repeats):
    """Time the rendering of the modules of one site."""
    taken = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as scratch:
            start = time.perf_counter()
            render.render(str(WORK / 'bin' / 'eb'), 'workstation', scratch)
            taken.append(time.perf_counter() - start)
    return [figure('eb --module-only, all approaches', summary(taken), 2, 's')]


def native_environments(folder):
    """
    Return {approach: environment} of osu-native with the MPI and libfabric that the approach uses.

    bind uses the host's own. For the others the wheel that is in the image is unpacked on the host, and its libmpi put
    in front of the host's (LD_LIBRARY_PATH for C programs, MPI4PY_LIBMPI for the ports); for hybrid the host's
    libfabric, alone in a folder, comes before that of the wheel.
    """
    wheels = sorted((PROJECT / 'sources').glob('mpich-4.2.3-*.whl'))
    if not wheels:
        raise BenchError("sources/mpich-4.2.3-*.whl is missing: `make image` fetches it")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        wheel.extractall(folder)
    lib = next(folder.glob('*.data/data/lib'))
    fabric = folder / 'host-libfabric'
    fabric.mkdir()
    (fabric / 'libfabric.so.1').symlink_to(next((WORK / 'host').glob('opt/mpich/*/lib/mpich/libfabric.so.1')))
    native = environment('osu-native')
    same = dict(native, LD_LIBRARY_PATH=str(lib), MPI4PY_LIBMPI=str(lib / 'libmpi.so.12'))
    return {'bind': native, 'pure': same, 'opensource': same,
            'hybrid': dict(same, LD_LIBRARY_PATH=f'{fabric}:{lib}')}


def loaded(env, folder):
    """Return the sha256 of libmpi and libfabric that ranks started in env load; all ranks must agree."""
    command = [*SRUN, str(PROJECT / 'osu_container' / 'rank-proof'), str(folder), 'osu_latency', '-m', '1024', 'H', 'H']
    seconds(command, env)
    proofs = proof.read_proofs(folder, 2)
    found = {tuple(rank['libraries'][name]['sha256'] for name in ('libmpi', 'libfabric')) for rank in proofs}
    if len(found) != 1:
        raise BenchError(f'ranks loaded different libraries: {found}')
    return found.pop()


def values(env, benchmark, arguments):
    """Return {size in bytes: MB/s or us} of one run of benchmark in env."""
    done = subprocess.run([*SRUN, benchmark, *arguments], env=env, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{benchmark} failed: {done.stderr.strip()}")
    return osu_output.parse(done.stdout, benchmark=benchmark, source=benchmark).values


def bench_approaches(repeats):
    """Compare each approach with native programs over the same libraries, which the ranks prove."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        natives = native_environments(Path(name))
        for approach in APPROACHES:
            sides = {'container': environment(f'osu-container/{approach}'), 'native': natives[approach]}
            libraries = {side: loaded(env, Path(name) / f'{approach}-{side}') for side, env in sides.items()}
            if libraries['container'] != libraries['native']:
                raise BenchError(f'{approach}: container and native loaded different libraries: {libraries}')
            for benchmark, arguments, sizes in BENCHMARKS:
                runs = {side: [] for side in sides}
                for _ in range(repeats):
                    for side, env in sides.items():
                        runs[side].append(values(env, benchmark, arguments))
                higher_is_better = osu_output.unit_of(benchmark) == 'MB/s'
                for size in sizes:
                    # pair by pair: a virtual machine may change its speed between one pair and the next
                    pairs = zip(runs['container'], runs['native'])
                    ratio = summary([container[size] / native[size] for container, native in pairs])
                    found.append(figure(f'{approach}, {benchmark} {size} B / native', ratio,
                                        0.95 if higher_is_better else 1.05, '', at_most=not higher_is_better))
                    found[-1]['values'] = {side: [run[size] for run in runs[side]] for side in runs}
    return found


GROUPS = {'wrapper': (bench_wrapper, 20), 'module': (bench_module, 20), 'render': (bench_render, 5),
          'approaches': (bench_approaches, 7)}


def main():
    """Run the groups that were asked for; exit code 1 if something is missing or failed, never for slowness."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('groups', nargs='*', metavar='GROUP',
                        help=f"what to measure: {', '.join(GROUPS)} (default: all)")
    parser.add_argument('--repeats', type=int, help="measured runs of each (default: 20, render 5, approaches 7)")
    arguments = parser.parse_args()
    unknown = set(arguments.groups) - set(GROUPS)
    if unknown:
        parser.error(f"unknown group {', '.join(sorted(unknown))}; known: {', '.join(GROUPS)}")
    results = {'format': 1, 'time': record.now(), 'machine': record.machine(), 'figures': []}
    try:
        for name in arguments.groups or GROUPS:
            function, repeats = GROUPS[name]
            print(f'{name}:', flush=True)
            results['figures'] += function(arguments.repeats or repeats)
    except BenchError as err:
        sys.exit(f'bench: {err}')
    target = WORK / 'bench' / (results['time'].replace(':', '').replace('-', '') + '.json')
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(results, indent=1) + '\n')
    print(f'\n{sum(not figure["met"] for figure in results["figures"])} missed of {len(results["figures"])}; {target}')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""
Measure the figures that this project promises, as ratios or differences within one run, with their spread.

    wrapper     time that bin/osu_* adds to a bare `apptainer exec` of the same program       wanted: 8 ms or less
    module      time that loading a module takes beyond loading an empty one                  wanted: 15 ms or less
    approaches  each approach against native programs over the same MPI, libfabric and provider, on two nodes
                                                           wanted: bandwidth 0.95 or more, latency 1.05 or less
    one-node    the same with both ranks on one node       wanted: bandwidth 0.97 or more, latency 1.05 or less
    render      `eb --module-only` of one module                                               wanted: 2 s or less
    start       start of 1, 2, 8, 16, 64 ranks on one node: native, a shared container, a container a rank
                                                           wanted: 1.3 times native, shared, 16 and 64 ranks
                                                                                                       (job_start.py)
    reads       what a start reads of its image, by ranks and by compression  wanted: 8 ranks read 1.1 times what one
                                                                              reads, or less         (image_reads.py)
    proof       what the proof of two ranks costs: osu_latency at 8 B with and without, ratio   wanted: 1.05 or less
                and the time that it adds to a start                                            wanted: 50 ms or less
    commands    `osu-container check` of an image of 130 MB against a stand-in, and `discover`     wanted: 3 s, 10 s
                                                                                                  (command_times.py)
    growth      report, compare and proof as their input grows                  wanted of report: 10 s, 1 GB (growth.py)

What is compared runs in turn (A B A B ...), so that a slower spell of the machine meets both. Figures are medians; the
spread is the range from the first to the third quartile. Nothing here fails for being slow: the output says
'missed' where a figure is, and whoever reads it decides.

`make demo` must have run: its modules, image and Slurm are used. Results: .workstation/bench/<time>.json, or --output.
Those of one machine are kept in results/; osu_container/generate/figures_page.py makes docs/figures.md of the newest.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from functools import partial
from pathlib import Path

from osu_container import osu_output, record
from osu_container.figures import command_times as commands
from osu_container.figures import growth, image_reads
from osu_container.figures import job_start as start
from osu_container.figures.timing import BenchError, added, environment, figure, in_turn, seconds, summary
from osu_container.generate import module_files as render
from osu_container.places import PROJECT, STATE
from osu_container.proof import cli as proof_command
from osu_container.proof import judging

APPROACHES = ['pure', 'bind', 'hybrid', 'opensource']
TWO_NODES = ['srun', '-N2', '-n2', '--ntasks-per-node=1']
ONE_NODE = ['srun', '-N1', '-n2', '--overcommit']
#: (benchmark, arguments, sizes in bytes whose ratio is shown)
BENCHMARKS = [('osu_bw', ['-m', '4194304', 'H', 'H'], (1, 65536, 4194304)),
              ('osu_latency', ['-m', '65536', 'H', 'H'], (1, 65536))]


def bench_wrapper(repeats):
    """Compare osu_latency --help through the wrapper with the runtime called by hand in the same environment."""
    found = []
    for approach in APPROACHES:
        env = environment(f'osu-container/{approach}')
        wrapper = [os.path.join(env['CONTAINERROOT'], 'bin', 'osu_latency'), '--help']
        bare = [env['MPI_CONTAINER_RUNTIME'], 'exec', env['MPI_CONTAINER_IMAGE'], 'osu_latency', '--help']
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
            render.render(str(STATE / 'bin' / 'eb'), 'workstation', scratch)
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
    (fabric / 'libfabric.so.1').symlink_to(next((STATE / 'host').glob('opt/mpich/*/lib/mpich/libfabric.so.1')))
    native = environment('osu-native')
    same = dict(native, LD_LIBRARY_PATH=str(lib), MPI4PY_LIBMPI=str(lib / 'libmpi.so.12'))
    return {'bind': native, 'pure': same, 'opensource': same,
            'hybrid': dict(same, LD_LIBRARY_PATH=f'{fabric}:{lib}')}


def loaded(srun, env, folder):
    """Return the sha256 of libmpi and libfabric that ranks started by srun in env load; all ranks must agree."""
    command = [*srun, str(PROJECT / 'osu_container' / 'rank-proof'), str(folder), 'osu_latency', '-m', '1024',
               '-i', '40000', 'H', 'H']  # sums are made while it runs
    seconds(command, env)
    judging.wait_for(folder, 2)
    proofs = judging.read_proofs(folder, 2)
    found = {tuple(rank['libraries'][name]['sha256'] for name in ('libmpi', 'libfabric')) for rank in proofs}
    if len(found) != 1:
        raise BenchError(f'ranks loaded different libraries: {found}')
    return found.pop()


def values(srun, env, benchmark, arguments):
    """Return {size in bytes: MB/s or us} of one run of benchmark in env, on the nodes of srun (list of str)."""
    done = subprocess.run([*srun, benchmark, *arguments], env=env, capture_output=True, text=True)
    if done.returncode:
        raise BenchError(f"{benchmark} failed: {done.stderr.strip()}")
    return osu_output.parse(done.stdout, benchmark=benchmark, source=benchmark).values


def bench_approaches(srun, bandwidth, repeats):
    """
    Compare each approach with native programs over the same libraries, which the ranks prove.

    :param srun: list of str, where the ranks run; bandwidth: float, the ratio that is wanted of osu_bw
    """
    found = []
    with tempfile.TemporaryDirectory() as name:
        natives = native_environments(Path(name))
        for approach in APPROACHES:
            sides = {'container': environment(f'osu-container/{approach}'), 'native': natives[approach]}
            libraries = {side: loaded(srun, env, Path(name) / f'{approach}-{side}') for side, env in sides.items()}
            if libraries['container'] != libraries['native']:
                raise BenchError(f'{approach}: container and native loaded different libraries: {libraries}')
            for benchmark, arguments, sizes in BENCHMARKS:
                runs = {side: [] for side in sides}
                for _ in range(repeats):
                    for side, env in sides.items():
                        runs[side].append(values(srun, env, benchmark, arguments))
                higher_is_better = osu_output.unit_of(benchmark) == 'MB/s'
                for size in sizes:
                    # pair by pair: a virtual machine may change its speed between one pair and the next
                    pairs = zip(runs['container'], runs['native'])
                    ratio = summary([container[size] / native[size] for container, native in pairs])
                    found.append(figure(f'{approach}, {benchmark} {size} B / native', ratio,
                                        bandwidth if higher_is_better else 1.05, '', at_most=not higher_is_better))
                    found[-1]['values'] = {side: [run[size] for run in runs[side]] for side in runs}
    return found


#: group -> (function (repeats, options) that returns its figures, repeats)
GROUPS = {
    'wrapper': (lambda repeats, options: bench_wrapper(repeats), 20),
    'module': (lambda repeats, options: bench_module(repeats), 20),
    'render': (lambda repeats, options: bench_render(repeats), 5),
    'approaches': (lambda repeats, options: bench_approaches(TWO_NODES, 0.95, repeats), 9),
    'one-node': (lambda repeats, options: bench_approaches(ONE_NODE, 0.97, repeats), 9),
    'start': (lambda repeats, options: start.bench_start(repeats, options.ranks, native_environments), 9),
    'reads': (lambda repeats, options: image_reads.bench_reads(repeats), 9),
    'proof': (lambda repeats, options: bench_proof(repeats), 15),
    'commands': (lambda repeats, options: commands.bench_commands(repeats), 5),
    'growth': (lambda repeats, options: growth.bench_growth(repeats, options.rows), 3),
}


def bench_proof(repeats):
    """Compare runs whose ranks are watched, by the task prolog of `osu-container proof`, with runs that are not."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        prolog = proof_command.write_prolog(name, None)
        for module in ('osu-native', 'osu-container/pure'):
            plain = environment(module)
            sides = {'plain': plain, 'watched': dict(plain, SLURM_TASK_PROLOG=prolog)}
            latencies = {side: [] for side in sides}
            for number in range(repeats + 1):
                for side, env in sides.items():
                    value = values(TWO_NODES, env, 'osu_latency', ['-m', '8', '-i', '20000', 'H', 'H'])[8]
                    if number:
                        latencies[side].append(value)
            ratio = summary([watched / bare for watched, bare in zip(latencies['watched'], latencies['plain'])])
            found.append(figure(f'{module}, osu_latency 8 B, watched / not', ratio, 1.05, '', values=latencies))
            # the first message: MPI_Init and next to nothing after it
            start_only = [*TWO_NODES, 'osu_latency', '-m', '1', '-i', '1', '-x', '0', 'H', 'H']
            times = in_turn({side: partial(seconds, start_only, env) for side, env in sides.items()}, repeats)
            found.append(figure(f'{module}, start, watched beyond not', added(times, 'watched', 'plain'), 50, 'ms',
                                values=times))
    return found


def load():
    """Return how many processes want a core (list of 3 float, means over 1, 5 and 15 minutes)."""
    return [round(value, 2) for value in os.getloadavg()]


def numbers(text):
    """Convert '1,2,4' to a list of whole numbers from 1."""
    try:
        found = [int(part) for part in text.split(',')]
    except ValueError:
        found = []
    if not found or min(found) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': wanted whole numbers from 1, as in 1,2,4")
    return found


def write(target, results):
    """Write results (dict) to target (Path) as JSON: complete or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f'{target.name}.part-{os.getpid()}')
    part.write_text(json.dumps(results, indent=1) + '\n')
    part.replace(target)


def main():
    """Run the groups that were asked for; exit code 1 if something is missing or failed, never for slowness."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('groups', nargs='*', metavar='GROUP',
                        help=f"what to measure: {', '.join(GROUPS)} (default: all)")
    parser.add_argument('--repeats', type=int, help="measured runs of each (default: " + ', '.join(
        f'{name} {repeats}' for name, (_, repeats) in GROUPS.items()) + ")")
    parser.add_argument('--ranks', type=numbers, default=start.RANKS, metavar='N,N,...',
                        help="of the group start (default: 1, 2, 8, 16, 64)")
    parser.add_argument('--rows', type=numbers, default=growth.ROWS, metavar='N,N,...',
                        help="of the group growth (default: 1000,10000,100000)")
    parser.add_argument('--note', default='', help="kept with the results, such as what else ran on the machine")
    parser.add_argument('--output', type=Path, metavar='FILE', help="write the results there; must not exist")
    options = parser.parse_args()
    unknown = set(options.groups) - set(GROUPS)
    if unknown:
        parser.error(f"unknown group {', '.join(sorted(unknown))}; known: {', '.join(GROUPS)}")
    if options.output and options.output.exists():
        sys.exit(f'bench: {options.output} is there already and is not written over: name another file')
    results = {'format': 2, 'time': record.now(), 'machine': record.machine(), 'note': options.note, 'load': [load()],
               'groups': {}}
    try:
        results['versions'] = record.versions(environment('osu-container/pure'))
        for name in options.groups or GROUPS:
            function, repeats = GROUPS[name]
            print(f'{name}:', flush=True)
            results['groups'][name] = function(options.repeats or repeats, options)
            results['load'].append(load())
    except BenchError as err:
        sys.exit(f'bench: {err}')
    target = options.output or STATE / 'bench' / (results['time'].replace(':', '').replace('-', '') + '.json')
    write(target, results)
    found = [each for group in results['groups'].values() for each in group if each['met'] is not None]
    print(f'\n{sum(not each["met"] for each in found)} missed of {len(found)}; {target}')


if __name__ == '__main__':
    main()

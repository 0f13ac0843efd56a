"""
What a start reads of its image, and what the compression of the image changes.

By layers, of one node:

    file     bytes of the SIF that came from the file system: what of it lies in memory after a start that began with
             nothing of it there; read-ahead of the kernel included
    mount    what squashfuse asked of the SIF, in bytes and requests (/proc/PID/io, summed over the containers); not
             where the kernel mounts the image (setuid, root)

The ranks wait once MPI_Init has come back, so that the mounts can be looked at. Starts are timed "in memory" (the
second start of two) and "from disk" (with nothing of the SIF in memory).
"""
from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from osu_container.figures.job_start import MODULE, allocation, program, times
from osu_container.figures.timing import BenchError, environment, figure, summary, timed

RANKS = [1, 2, 4, 8]
#: Ways of the wrapper: name -> what is exported
WAYS = {'shared': {}, 'rank': {'OSU_SHARE': '0'}}
#: Keys of COMPRESSIONS in osu_container/image/engines.py
COMPRESSIONS = ('gzip', 'zstd', 'none')
#: Seconds to wait for ranks
LIMIT = 120


def forget(path):
    """Take the file path (str) out of the kernel's memory; what a mount still uses stays."""
    with open(path, 'rb') as handle:
        os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def resident(path):
    """Return how many bytes of the file path (str) are in memory (int), by fincore(1)."""
    return int(timed(['fincore', '--bytes', '--noheadings', '--output', 'RES', path], None)[1])


def mounts(path):
    """Return [(bytes, requests), ...] that each squashfuse with the image path (str) has read (int each)."""
    found = []
    for entry in Path('/proc').glob('[0-9]*'):
        try:
            # the runtime hands it an open file
            if 'squashfuse' in os.readlink(entry / 'exe') and any(
                    os.path.samefile(each, path) for each in (entry / 'fd').iterdir() if each.exists()):
                counts = dict(line.split(': ') for line in (entry / 'io').read_text().splitlines())
                found.append((int(counts['rchar']), int(counts['syscr'])))
        except OSError:  # ended meanwhile, or somebody else's
            continue
    return found


def of_one_start(env, srun, image, command):
    """
    Return {'file': bytes, 'mount': bytes, 'requests': int} of a start from nothing in memory.

    Without 'mount' and 'requests' where the kernel mounts. srun: list of str with -n; command: list of str, what the
    ranks run. Raises BenchError if the ranks do not come up.
    """
    ranks = int(srun[srun.index('-n') + 1])
    with tempfile.TemporaryDirectory(dir='/tmp') as folder:
        waiting = (f'{shlex.join(command)} >/dev/null && : >{folder}/$SLURM_PROCID && '
                   f'while [ ! -e {folder}/go ]; do sleep 0.1; done')
        forget(image)
        before = resident(image)
        started = subprocess.Popen([*srun, 'osu-exec', '/bin/sh', '-c', waiting], env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        try:
            end = time.monotonic() + LIMIT
            while len(os.listdir(folder)) < ranks:
                if started.poll() is not None or time.monotonic() > end:
                    started.send_signal(signal.SIGTERM)
                    said = started.communicate()[1].decode(errors='replace').strip()
                    came = len(os.listdir(folder))
                    raise BenchError(f"{shlex.join(srun)}: wanted {ranks} ranks, found {came}: {said}")
                time.sleep(0.05)
            found = {'file': resident(image) - before}
            layers = mounts(image)
            if layers:
                found.update(mount=sum(read for read, _ in layers), requests=sum(count for _, count in layers))
        finally:
            Path(folder, 'go').touch()
            started.wait()
            started.stderr.close()
    return found


def packed(env, folder):
    """Return {compression: path (str)} of the module's image, packed anew in each way in folder (Path)."""
    from osu_container.image import engines
    runtime, made = env['MPI_CONTAINER_RUNTIME'], {}
    timed([runtime, '--quiet', 'build', '--sandbox', str(folder / 'sandbox'), env['MPI_CONTAINER_IMAGE']], env)
    for compression in COMPRESSIONS:
        made[compression] = str(folder / f'{compression}.sif')
        timed([runtime, '--quiet', 'build', *engines.packing(runtime, compression, True), made[compression],
               str(folder / 'sandbox')], env)
        # pages that are not on disk yet cannot be forgotten
        with open(made[compression], 'rb') as handle:
            os.fsync(handle.fileno())
    return made


def bench_reads(repeats):
    """Return the figures of reads by ranks, shared and not, and of each compression."""
    with tempfile.TemporaryDirectory(dir='/tmp') as name:
        folder = Path(name)
        env = environment(MODULE)
        env = dict(env, APPTAINER_BIND=f"{env.get('APPTAINER_BIND', '')},{folder}".strip(','))
        command = program(env, folder)
        made = packed(env, folder)
        with allocation(env) as job:
            srun = ['srun', f'--jobid={job}', '-N1', '--overcommit', '--time=10', '-n']
            figures = by_ranks(env, srun, made, command, repeats)
            return figures + by_compression(env, srun, made, command, repeats)


def by_ranks(env, srun, made, command, repeats):
    """Return what starts read of the image as its family packs it, by ranks and ways, and the growth with ranks."""
    image = made['zstd']
    env = dict(env, MPI_CONTAINER_IMAGE=image)
    runs = {(way, count): [] for count in RANKS for way in WAYS}
    for _ in range(repeats):
        for way, count in runs:
            runs[way, count].append(of_one_start(dict(env, **WAYS[way]), [*srun, str(count)], image, command))
    figures = []
    for (way, count), found in runs.items():
        for of, unit, scale in (('file', 'MB', 1e6), ('mount', 'MB', 1e6), ('requests', '', 1)):
            if of in found[0]:
                values = [one[of] / scale for one in found]
                figures.append(figure(f"{of}, {count} rank{'s' if count > 1 else ''}, {way}", summary(values),
                                      unit=unit, values=values, ranks=count, way=way, of=of))
    for of in ('file', 'mount'):
        if of in runs['shared', 1][0]:
            values = [many[of] / one[of] for many, one in zip(runs['shared', RANKS[-1]], runs['shared', 1])]
            figures.append(figure(f'{of}, {RANKS[-1]} ranks / 1, shared', summary(values), 1.1, values=values,
                                  of='growth'))
    return figures


def by_compression(env, srun, made, command, repeats):
    """Return size, starts in memory and from disk, and reads of two ranks, by compression."""
    memory, disk, reads = ({compression: [] for compression in made} for _ in range(3))
    start = [*srun, '2', 'osu-exec', *command]
    for number in range(repeats + 1):
        for compression, image in made.items():
            one = dict(env, MPI_CONTAINER_IMAGE=image)
            forget(image)
            cold = times(start, one)['total']
            read = resident(image)
            warm = times(start, one)['total']
            if number:
                disk[compression].append(cold)
                reads[compression].append(read / 1e6)
                memory[compression].append(warm)
    figures = []
    for compression, image in made.items():
        size = [os.path.getsize(image) / 1e6]
        for of, unit, values in (('size', 'MB', size), ('start in memory', 's', memory[compression]),
                                 ('start from disk', 's', disk[compression]), ('read', 'MB', reads[compression])):
            figures.append(figure(f'{of}, {compression}', summary(values), unit=unit, values=values,
                                  compression=compression, of=of))
    return figures

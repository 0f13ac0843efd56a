"""
The group commands of the figures: how long osu-container check and discover take.

check: of the workstation's image with so much put into it that it has 130 MB, against a stand-in of lumi-25.03 made by
stand-in/make, all approaches. What is put in cannot be compressed and is never read. discover: of this machine, in the
environment after `. ./env.sh`.
"""
from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

from osu_container.core.reading.sif import read_sif
from osu_container.figures.timing import BenchError, environment, figure, in_turn, summary, timed
from osu_container.places import PROJECT

#: Bytes of the image, and the site whose tree it is checked against
SIZE, SITE = 130_000_000, 'lumi-25.03'
COMMAND = str(PROJECT / 'bin' / 'osu-container')
#: Exit codes of check that are verdicts
VERDICTS = (0, 4, 5, 6)


def padded(image, folder, env):
    """Return the path of a SIF of SIZE bytes in folder (Path) that holds image (path of a SIF). Raises BenchError."""
    root, squashfs, sif = folder / 'root', folder / 'root.squashfs', folder / 'image.sif'
    timed(['unsquashfs', '-n', '-q', '-o', str(read_sif(image)[0]), '-d', str(root), image], env)
    (root / 'opt' / 'padding').write_bytes(os.urandom(SIZE - os.path.getsize(image)))
    timed(['mksquashfs', str(root), str(squashfs), '-quiet', '-no-progress'], env)
    timed([env['MPI_CONTAINER_RUNTIME'], 'sif', 'new', str(sif)], env)
    # a data object that is a squashfs and the primary system partition, for amd64
    timed([env['MPI_CONTAINER_RUNTIME'], 'sif', 'add', '--datatype', '4', '--partfs', '1', '--parttype', '2',
           '--partarch', '2', str(sif), str(squashfs)], env)
    return sif


def verdict_seconds(command, env):
    """Return the wall time (s) of a check; any verdict will do. Raises BenchError if there is none."""
    taken, out = timed(['bash', '-c', '"$@"; code=$?; echo "exit code $code"', 'check', *command], env)
    code = int(out.rsplit('exit code ', 1)[1])
    if code not in VERDICTS:
        raise BenchError(f"{' '.join(command)} ended with exit code {code}")
    return taken


def bench_commands(repeats):
    """Time the two commands in turn."""
    env = environment('osu-container/pure')
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        image = padded(env['MPI_CONTAINER_IMAGE'], folder, env)
        timed([sys.executable, str(PROJECT / 'stand-in' / 'make'), SITE, str(folder / 'tree')], env)
        check = [COMMAND, 'check', str(image), '--site', SITE, '--sysroot', str(folder / 'tree')]
        times = in_turn({'check': partial(verdict_seconds, check, env),
                         'discover': lambda: timed([COMMAND, 'discover'], env)[0]}, repeats)
    return [figure(f'check of an image of {SIZE // 10 ** 6} MB, all approaches', summary(times['check']), 3, 's'),
            figure('discover on this machine', summary(times['discover']), 10, 's')]

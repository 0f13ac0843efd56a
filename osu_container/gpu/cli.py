"""python -m osu_container.gpu.cli: `make gpu` (run) and `make gpu-pack` (pack). See docs/gpu.md."""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from osu_container.image import ImageError
from osu_container.places import PROJECT

from ..results import select
from . import GpuRunError, carry, run


def main(arguments=None):
    """Run the command; return its exit code: 0 done, 1 an error, or a run that gave no numbers."""
    parser = argparse.ArgumentParser(prog='make gpu', description=__doc__)
    parser.add_argument('what', choices=['run', 'pack'])
    parser.add_argument('--repeats', type=int, default=3, help="of each run, 3 without it")
    parser.add_argument('--largest', type=int, help="message in bytes; without it as the programs have it")
    parser.add_argument('--image', type=Path, help="SIF for the runs in a container")
    parser.add_argument('--output', type=Path, help="folder of the run, which must not be there yet")
    wanted = parser.parse_args(arguments)
    try:
        if wanted.what == 'pack':
            carry.make()
            size = carry.pack()
            print(f"{carry.PACKED}: {size / 1e6:.1f} MB. Carry it with the clone; there: make gpu")
            return 0
        return _run(wanted)
    except (GpuRunError, ImageError) as err:
        print(f"make gpu: {err}", file=sys.stderr)
        return 1


def _run(wanted):
    """Measure; return the exit code."""
    run.gpus()  # before anything is unpacked or downloaded
    folder = wanted.output or select.results_folder() / time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
    images = sorted((PROJECT / 'sources').glob('osu-workstation-*.sif'))
    session = run.Session(folder.absolute(), carry.find(), wanted.image or (images[0] if images else None),
                          repeats=wanted.repeats, largest=wanted.largest)
    print(f"{len(session.gpus['devices'])} GPU(s): {', '.join(session.gpus['devices'])}; results: {folder}")
    session.start(['make', 'gpu'])
    counts = session.go()
    print(', '.join(f'{number} {status}' for status, number in counts.items()))
    print(f"osu-container compare {folder}\nosu-container report {folder} -o gpu.html")
    return 0 if counts['ok'] and not counts['failed'] else 1


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""
Write the picture of docs/results and README.md, with the command that everyone has.

usage: python -m osu_container.generate.results_pages [--check]

With --check nothing is written, exit code 1 if the file is stale.
report.html comes into the site only (osu_container/generate/site_report.py).
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from osu_container.places import PROJECT

COMMAND = PROJECT / 'bin' / 'osu-container'
#: What `osu-container report lumi-g-2025-03 --picture lumi.svg` writes
PICTURE = PROJECT / 'docs' / 'results' / 'lumi.svg'


def main(arguments):
    """Write the picture, or with --check compare; return the exit code."""
    with tempfile.TemporaryDirectory() as name:
        made = Path(name) / PICTURE.name
        subprocess.run([COMMAND, 'report', 'lumi-g-2025-03', '--picture', made], check=True, stdout=subprocess.DEVNULL)
        text = made.read_text(encoding='utf-8')
    if PICTURE.exists() and PICTURE.read_text(encoding='utf-8') == text:
        return 0
    if '--check' in arguments:
        print(f"stale, run `make modules`: {PICTURE.name}", file=sys.stderr)
        return 1
    PICTURE.write_text(text, encoding='utf-8')
    print(f'written: {PICTURE.relative_to(PROJECT)}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

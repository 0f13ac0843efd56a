#!/usr/bin/env python3
"""
Write what docs/results shows of the published figures, with the command that everyone has.

usage: osu_container/generate/results_pages.py [FOLDER]

The figures, and the tables in index.md between <!-- tables --> and <!-- /tables -->; with FOLDER, into that.
report.html comes into the site only (osu_container/generate/site_report.py).
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMMAND = HERE.parent.parent / 'bin' / 'osu-container'
#: name here -> chart of `osu-container report lumi-g-2025-03 --figures`
FIGURES = {
    'bandwidth-host.svg': 'lumi-g-2025-03-osu-bw-h-h-two-nodes-chart.svg',
    'latency-device.svg': 'lumi-g-2025-03-osu-latency-d-d-two-nodes-chart.svg',
    'latency-device-added.svg': 'lumi-g-2025-03-osu-latency-d-d-two-nodes-added-chart.svg',
    'rccl-bandwidth.svg': 'lumi-g-2025-03-osu-xccl-bw-d-d-two-nodes-chart.svg',
}
#: Beginnings of the captions of the tables that index.md shows
TABLES = ('osu_bw, ', 'osu_latency, ', 'osu_xccl_bw, ', 'osu_xccl_latency, ')
PLACE = re.compile(r'(?<=<!-- tables -->\n).*(?=<!-- /tables -->)', re.S)


def tables(markdown):
    """Return the tables (str) of a report in Markdown that index.md shows, with their captions."""
    blocks = markdown.split('\n\n')
    found = [f'{caption}\n\n{table}\n' for caption, table in zip(blocks, blocks[1:])
             if caption.startswith(tuple(f'**{name}' for name in TABLES)) and table.startswith('|')]
    if len(found) < len(TABLES):
        raise SystemExit(f"{sys.argv[0]}: the report has {len(found)} of the tables {', '.join(TABLES)}")
    return '\n' + '\n'.join(found[:len(TABLES)]) + '\n'


def main(arguments):
    """Write the figures and tables; return the exit code."""
    folder = Path(arguments[0]) if arguments else HERE
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        subprocess.run([COMMAND, 'report', 'lumi-g-2025-03', '--figures', scratch / 'figures', '--markdown',
                        scratch / 'tables.md', '--reference', 'lumi-native-2026-03'], check=True,
                       stdout=subprocess.DEVNULL)
        for target, chart in FIGURES.items():
            shutil.copyfile(scratch / 'figures' / chart, folder / target)
        made = tables((scratch / 'tables.md').read_text(encoding='utf-8'))
    text = (HERE / 'index.md').read_text(encoding='utf-8')
    (folder / 'index.md').write_text(PLACE.sub(lambda _: made, text), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""
Write what docs/results shows of the published figures, with the command that everyone has.

usage: python -m osu_container.generate.results_pages [--check]

The figures, and the tables in index.md between <!-- tables --> and <!-- /tables -->. With --check nothing is written,
exit code 1 if a file is stale.
report.html comes into the site only (osu_container/generate/site_report.py).
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from osu_container.places import PROJECT

HERE = PROJECT / 'docs' / 'results'
COMMAND = PROJECT / 'bin' / 'osu-container'
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


def narrow(table):
    """Return a table (str, Markdown) without its columns of mixed buffers, which the report shows."""
    rows = [line.strip('|').split('|') for line in table.splitlines()]
    kept = [number for number, title in enumerate(rows[0]) if not re.match(r' ?(H D|D H):', title)]
    return '\n'.join('|{}|'.format('|'.join(row[number] for number in kept)) for row in rows)


def tables(markdown):
    """Return the tables (str) of a report in Markdown that index.md shows, with their captions."""
    blocks = markdown.split('\n\n')
    found = [f'{caption}\n\n{narrow(table)}\n' for caption, table in zip(blocks, blocks[1:])
             if caption.startswith(tuple(f'**{name}' for name in TABLES)) and table.startswith('|')]
    if len(found) < len(TABLES):
        raise SystemExit(f"{sys.argv[0]}: the report has {len(found)} of the tables {', '.join(TABLES)}")
    return '\n' + '\n'.join(found[:len(TABLES)]) + '\n'


def main(arguments):
    """Write the figures and tables, or with --check compare; return the exit code."""
    if set(arguments) - {'--check'}:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        subprocess.run([COMMAND, 'report', 'lumi-g-2025-03', '--figures', scratch / 'figures', '--markdown',
                        scratch / 'tables.md', '--reference', 'lumi-native-2026-03'], check=True,
                       stdout=subprocess.DEVNULL)
        texts = {HERE / target: (scratch / 'figures' / chart).read_text(encoding='utf-8')
                 for target, chart in FIGURES.items()}
        made = tables((scratch / 'tables.md').read_text(encoding='utf-8'))
    page = HERE / 'index.md'
    texts[page] = PLACE.sub(lambda _: made, page.read_text(encoding='utf-8'))
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding='utf-8') != text]
    if '--check' in arguments:
        if stale:
            print(f"stale, run `make modules`: {', '.join(path.name for path in stale)}", file=sys.stderr)
        return bool(stale)
    for path in stale:
        path.write_text(texts[path], encoding='utf-8')
        print(f'written: {path.relative_to(PROJECT)}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

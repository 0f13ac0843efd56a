#!/usr/bin/env python3
"""
Write what docs/results shows of the published figures, with the command that everyone has.

usage: python -m osu_container.generate.results_pages [--check]

The figures, and the tables in index.md between <!-- tables --> and <!-- /tables -->; and the first picture with its
caption, which the pages of WITH_PICTURE have between <!-- picture of LUMI --> and its end. With --check nothing is
written, exit code 1 if a file is stale.
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
    'latency-device.svg': 'lumi-g-2025-03-osu-latency-d-d-two-nodes-chart.svg',
    'latency-device-added.svg': 'lumi-g-2025-03-osu-latency-d-d-two-nodes-added-chart.svg',
    'rccl-bandwidth.svg': 'lumi-g-2025-03-osu-xccl-bw-d-d-two-nodes-chart.svg',
}
#: The picture that README begins with: what `osu-container report lumi-g-2025-03 --picture lumi.svg` writes
PICTURE = 'lumi.svg'
#: Pages that show it -> its address there
WITH_PICTURE = {PROJECT / 'README.md': f'docs/results/{PICTURE}', HERE.parent / 'index.md': f'results/{PICTURE}',
                HERE / 'index.md': PICTURE}
PICTURE_PLACE = '<!-- picture of LUMI -->\n', '<!-- /picture of LUMI -->'
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


def picture(address, caption):
    """Return the lines (str) of a page with the picture at address and its caption (str, a sentence a line)."""
    alternative = caption.split('\n', maxsplit=1)[0].rstrip('.')
    return f'\n![{alternative}]({address})\n\n{caption}\n'


def main(arguments):
    """Write the figures and tables, or with --check compare; return the exit code."""
    if set(arguments) - {'--check'}:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        subprocess.run([COMMAND, 'report', 'lumi-g-2025-03', '--figures', scratch / 'figures', '--markdown',
                        scratch / 'tables.md', '--picture', scratch / PICTURE, '--reference', 'lumi-native-2026-03'],
                       check=True, stdout=subprocess.DEVNULL)
        texts = {HERE / target: (scratch / 'figures' / chart).read_text(encoding='utf-8')
                 for target, chart in FIGURES.items()}
        texts[HERE / PICTURE] = (scratch / PICTURE).read_text(encoding='utf-8')
        caption = (scratch / PICTURE).with_suffix('.caption.txt').read_text(encoding='utf-8')
        made = tables((scratch / 'tables.md').read_text(encoding='utf-8'))
    for page, address in WITH_PICTURE.items():
        before, start, rest = page.read_text(encoding='utf-8').partition(PICTURE_PLACE[0])
        texts[page] = before + start + picture(address, caption) + ''.join(rest.partition(PICTURE_PLACE[1])[1:])
    texts[HERE / 'index.md'] = PLACE.sub(lambda _: made, texts[HERE / 'index.md'])
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

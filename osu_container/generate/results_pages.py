#!/usr/bin/env python3
"""
Write what docs/results shows of the published figures, with the command that everyone has.

usage: python -m osu_container.generate.results_pages [--check]

The picture, and its caption, which the pages of WITH_PICTURE have between <!-- picture of LUMI --> and its end. With
--check nothing is written, exit code 1 if a file is stale.
report.html comes into the site only (osu_container/generate/site_report.py).
"""
import subprocess
import sys
import tempfile
from pathlib import Path

from osu_container.places import PROJECT

HERE = PROJECT / 'docs' / 'results'
COMMAND = PROJECT / 'bin' / 'osu-container'
#: The picture that README begins with: what `osu-container report lumi-g-2025-03 --picture lumi.svg` writes
PICTURE = 'lumi.svg'
#: Pages that show it -> its address there
WITH_PICTURE = {PROJECT / 'README.md': f'docs/results/{PICTURE}', HERE / 'index.md': PICTURE}
PICTURE_PLACE = '<!-- picture of LUMI -->\n', '<!-- /picture of LUMI -->'


def picture(address, caption):
    """Return the lines (str) of a page with the picture at address and its caption (str, a sentence a line)."""
    alternative = caption.split('\n', maxsplit=1)[0].rstrip('.')
    return f'\n![{alternative}]({address})\n\n{caption}\n'


def main(arguments):
    """Write the picture and its captions, or with --check compare; return the exit code."""
    if set(arguments) - {'--check'}:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        subprocess.run([COMMAND, 'report', 'lumi-g-2025-03', '--picture', scratch / PICTURE],
                       check=True, stdout=subprocess.DEVNULL)
        texts = {HERE / PICTURE: (scratch / PICTURE).read_text(encoding='utf-8')}
        caption = (scratch / PICTURE).with_suffix('.caption.txt').read_text(encoding='utf-8')
    for page, address in WITH_PICTURE.items():
        before, start, rest = page.read_text(encoding='utf-8').partition(PICTURE_PLACE[0])
        texts[page] = before + start + picture(address, caption) + ''.join(rest.partition(PICTURE_PLACE[1])[1:])
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

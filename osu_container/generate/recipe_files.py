#!/usr/bin/env python3
"""Write the files of container-recipes/rendered/ from the HPCCM recipes. With --check: only compare."""

import argparse
import sys

from osu_container.places import PROJECT
from osu_container.recipes.images import KEPT, RENDERED, file_names, render

AGAIN = 'python -m osu_container.generate.recipe_files'


def texts():
    """Return the text of every file in rendered/, by file name. Raises SystemExit if HPCCM is missing."""
    known = file_names()
    try:
        return {file: render(*known[file], '.' + file.rpartition('.')[2]) for file in KEPT}
    except ImportError:
        sys.exit(f"{sys.argv[0]}: {sys.executable} has no HPCCM. Use the project's environment: "
                 f".workstation/venv/bin/{AGAIN} (or: pip install hpccm)")


def main():
    """Write or compare the files. Exit code 1 if --check finds one that is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--check', action='store_true', help='write nothing; exit code 1 if a file is not current')
    check = parser.parse_args().check
    wanted, stale = texts(), []
    for path in sorted(RENDERED.iterdir()):
        if path.name not in wanted:
            stale.append(path.name)
            if not check:
                path.unlink()
                print(f"removed: {path.relative_to(PROJECT)}")
    for name, text in wanted.items():
        path = RENDERED / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text)
            print(f"written: {path.relative_to(PROJECT)}")
    if check and stale:
        sys.exit(f"{sys.argv[0]}: not current: {', '.join(stale)}. Run {AGAIN} and commit the result.")


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
"""Write the definition files and Dockerfiles of rendered/ from the HPCCM recipes. With --check: only compare."""

import argparse
import logging
import sys

from osu_container.places import PROJECT
from osu_container.recipes.images import IMAGES

HERE = PROJECT / 'container-recipes'


def render():
    """Return the text of every file in rendered/, by file name.

    Raises SystemExit if HPCCM is missing, and what a recipe raises.
    """
    try:
        import hpccm
    except ImportError:
        sys.exit(f"{sys.argv[0]}: {sys.executable} has no HPCCM. Use the project's environment: "
                 ".workstation/venv/bin/python -m osu_container.generate.recipe_files (or: pip install hpccm)")
    logging.getLogger().setLevel(logging.ERROR)  # warns that it does not know the distribution of a folder
    texts = {}
    for entry in IMAGES.values():
        for variant in entry['variants'].values():
            for suffix, ctype in (('.def', hpccm.container_type.SINGULARITY),
                                  ('.Dockerfile', hpccm.container_type.DOCKER)):
                text = hpccm.recipe(str(HERE / entry['recipe']), ctype=ctype, singularity_version='3.8',
                                    userarg=variant['arguments'], raise_exceptions=True)
                texts[variant['rendered'] + suffix] = '\n'.join(
                    line.rstrip() for line in text.splitlines()).strip() + '\n'
    return texts


def main():
    """Write or compare the files. Exit code 1 if --check finds one that is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--check', action='store_true', help='write nothing; exit code 1 if a file is not current')
    check = parser.parse_args().check
    stale = []
    texts = render()
    for path in sorted((HERE / 'rendered').iterdir()):
        if path.name not in texts:
            stale.append(path.name)
            if not check:
                path.unlink()
                print(f"removed: {path.relative_to(HERE.parent)}")
    for name, text in texts.items():
        path = HERE / 'rendered' / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text)
            print(f"written: {path.relative_to(HERE.parent)}")
    if check and stale:
        sys.exit(f"{sys.argv[0]}: not current: {', '.join(stale)}. Run python -m osu_container.generate.recipe_files and commit the result.")


if __name__ == '__main__':
    main()

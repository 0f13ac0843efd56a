"""Write all files that follow from data."""

import argparse
import sys

from osu_container.base.places import PROJECT
from osu_container.build.recipes.images import (
    CHECKED_IN_RECIPES,
    RENDERED,
    list_recipe_files,
    render_recipe,
)
from tools.generate import easyconfigs, module_files


def render_recipes():
    """Return {path (Path): text of a rendered recipe, None for a file that is to be removed}."""
    known = list_recipe_files()
    return {
        **dict.fromkeys(RENDERED.iterdir()),
        **{
            RENDERED / file: render_recipe(*known[file], '.' + file.rpartition('.')[2])
            for file in CHECKED_IN_RECIPES
        },
    }


def main():
    """Write the files, or with --check compare them; exit code 1 if one is stale."""
    #: In this order: modules are written from the easyconfigs
    steps = {
        'easyconfigs': easyconfigs.render_files,
        'modules': lambda: module_files.render_files(check),
        'recipes': render_recipes,
    }
    parser = argparse.ArgumentParser(prog='python -m tools.generate', description=__doc__)
    parser.add_argument(
        '--check', action='store_true', help="write nothing, exit code 1 if a file is stale"
    )
    parser.add_argument('--step', choices=steps, help="only these files")
    options = parser.parse_args()
    check, stale = options.check, []
    for step in [options.step] if options.step else steps:
        for path, text in steps[step]().items():
            if text == (path.read_text() if path.exists() else None):
                continue
            stale.append(str(path.relative_to(PROJECT)))
            if check:
                continue
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            print(f"{'removed' if text is None else 'written'}: {stale[-1]}")
    if check and stale:
        sys.exit(f"stale, run `make modules`: {', '.join(stale)}")


if __name__ == '__main__':
    main()

"""Write all files of the repository that are rendered from the project's data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from osu_container.base.places import PROJECT
from osu_container.build.recipes.images import (
    CHECKED_IN_RECIPES,
    RENDERED,
    list_recipe_files,
    render_recipe,
)
from tools.generate import described_facts, easyconfigs, module_files


def render_recipes() -> dict[Path, str | None]:
    """Return {path: text} of the rendered image recipes that the repository contains.

    The text None means that the file at this path must be removed.
    """
    recipes = list_recipe_files()
    return {
        **dict.fromkeys(RENDERED.iterdir()),
        **{
            RENDERED / file: render_recipe(*recipes[file], '.' + file.rpartition('.')[2])
            for file in CHECKED_IN_RECIPES
        },
    }


def main() -> None:
    """Write the rendered files; with --check, only compare the files with the project's data.

    With --check, this function exits with code 1 if a rendered file is out of date.
    """
    # The order matters: modulefiles are rendered from the easyconfigs.
    steps: dict[str, Callable[[], Mapping[Path, str | None]]] = {
        'easyconfigs': easyconfigs.render_files,
        'modules': lambda: module_files.render_files(check),
        'recipes': render_recipes,
        'tables': described_facts.render_tables,
    }
    parser = argparse.ArgumentParser(prog='python -m tools.generate', description=__doc__)
    parser.add_argument(
        '--check',
        action='store_true',
        help="write no file; exit with code 1 if a rendered file is out of date",
    )
    parser.add_argument(
        '--step',
        choices=steps,
        help="write only one kind of files, such as modules; with --check, compare only this kind",
    )
    options = parser.parse_args()
    check: bool = options.check
    stale = []
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
        sys.exit(
            f"rendered files are out of date: {', '.join(stale)}. Write the files again: make modules"
        )


if __name__ == '__main__':
    main()

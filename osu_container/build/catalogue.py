"""Select named images by name or pattern, and report which of them a folder contains."""

import difflib
import fnmatch
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

from osu_container.base.files import read_json
from osu_container.base.places import PROJECT, STATE
from osu_container.build import ImageBuildError
from osu_container.build.recipes.images import (
    IMAGES,
    RENDERED,
    name_rendered_recipe,
    render_recipe,
)


def format_path(path: Union[str, Path]) -> str:
    """Return a path as text; a path in the project's folder becomes relative to this folder."""
    path = Path(path)
    return str(path.relative_to(PROJECT)) if PROJECT in (path, *path.parents) else str(path)


def find_command(*names: str) -> Optional[str]:
    """Return the path of the first command that exists on PATH or in sbin folders, or None."""
    path = os.pathsep.join(
        [os.environ.get('PATH', os.defpath), str(STATE / 'bin'), '/usr/sbin', '/sbin']
    )
    return next(filter(None, (shutil.which(name, path=path) for name in names)), None)


def select_named_images(patterns: List[str]) -> List[str]:
    """Return the names of the images that match any pattern, in the order of the catalogue.

    A pattern is a name (with or without '.sif'), a name with shell wildcards, or a family. An empty
    list selects all images. Raises ImageBuildError if a pattern matches no image.
    """
    if not patterns:
        return list(IMAGES)
    selected = set()
    for pattern in patterns:
        plain = pattern[: -len('.sif')] if pattern.endswith('.sif') else pattern
        matches = {
            name
            for name, entry in IMAGES.items()
            if entry['family'] == plain or fnmatch.fnmatchcase(name, plain)
        }
        if not matches:
            similar = difflib.get_close_matches(plain, IMAGES, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(similar)}?" if similar else ''
            raise ImageBuildError(
                f"no image matches {pattern!r}.{hint} `osu-container image list` lists all images"
            )
        selected |= matches
    return [name for name in IMAGES if name in selected]


def load_recipe(name: str, kind: str, suffix: str = '.def') -> str:
    """Return the definition file of an image, or its Dockerfile for the suffix '.Dockerfile'.

    kind: key of the image's variants. The text is read from the folder rendered/, or HPCCM renders
    the text. Raises ImageBuildError if HPCCM is needed but not installed.
    """
    path = RENDERED / f"{name_rendered_recipe(name, kind)}{suffix}"
    if path.exists():
        return path.read_text()
    try:
        return render_recipe(name, kind, suffix)
    except ModuleNotFoundError as err:
        if err.name != 'hpccm':
            raise
        raise ImageBuildError(
            f"the recipe of {name} needs HPCCM, which is not installed for {sys.executable}. Install HPCCM "
            f"with: make python-env, or: {sys.executable} -m pip install hpccm"
        ) from err


def get_image_state(name: str, folder: Path) -> str:
    """Return 'built', 'not here', or 'unbuilt' (the project has never built the image)."""
    if (folder / f'{name}.sif').exists():
        return 'built'
    return 'unbuilt' if IMAGES[name]['unbuilt'] else 'not here'


def read_build_record(sif: Path) -> Dict[str, Any]:
    """Read the build record of an image, IMAGE.json; {} if the file is missing or damaged."""
    try:
        record = read_json(f'{sif}.json')
        return record if isinstance(record['inputs'], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}

"""Select images of this project by name or pattern, and report which images are built."""

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
    """Return a path as text.

    If the path is inside the project's folder, the text is relative to the project's folder.
    """
    path = Path(path)
    return str(path.relative_to(PROJECT)) if PROJECT in (path, *path.parents) else str(path)


def find_command(*names: str) -> Optional[str]:
    """Return the path of the first installed command in `names`, None if no command is installed.

    The commands are searched in PATH, in the project's bin folder, in /usr/sbin and in /sbin.
    """
    path = os.pathsep.join(
        [os.environ.get('PATH', os.defpath), str(STATE / 'bin'), '/usr/sbin', '/sbin']
    )
    return next(filter(None, (shutil.which(name, path=path) for name in names)), None)


def select_named_images(patterns: List[str]) -> List[str]:
    """Return the names of all images that match at least one of the patterns.

    A pattern is the name of an image (with or without '.sif'), a name with shell wildcards, or the
    name of a family of images. An empty list selects all images. The result has the order of the
    catalogue. Raises ImageBuildError if a pattern matches no image.
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
    """Return the text of an image's Apptainer definition file or Dockerfile.

    The text is read from a file in the folder rendered/. If this file does not exist, the Python
    package HPCCM renders the text. Raises ImageBuildError if HPCCM is needed but not installed.

    kind: benchmark programs of the image, such as 'c' or 'mpi4py'
    suffix: '.def' for the definition file, '.Dockerfile' for the Dockerfile
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
            f"the recipe of {name} needs HPCCM, but HPCCM is not installed for {sys.executable}. Run one of: "
            f"`make python-env`, `{sys.executable} -m pip install hpccm`"
        ) from err


def get_image_state(name: str, folder: Path) -> str:
    """Return the state of an image: 'built', 'not here' or 'unbuilt'.

    'built': `folder` contains the SIF file of the image.
    'not here': this project has built the image before, but `folder` does not contain the SIF file.
    'unbuilt': this project has never built the image.
    """
    if (folder / f'{name}.sif').exists():
        return 'built'
    return 'unbuilt' if IMAGES[name]['unbuilt'] else 'not here'


def read_build_record(sif: Path) -> Dict[str, Any]:
    """Return the content of IMAGE.sif.json, the record of how an image was built.

    The result is {} if the file is missing or invalid.
    """
    try:
        record = read_json(f'{sif}.json')
        return record if isinstance(record['inputs'], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}

"""
The named images of osu_container/build/recipes/images.py: found by name or pattern, and which of
them exist here.
"""

import difflib
import fnmatch
import os
import shutil
import sys
from pathlib import Path

from osu_container.base.files import read_json
from osu_container.base.places import PROJECT, STATE
from osu_container.build import ImageBuildError
from osu_container.build.recipes.images import (
    FAMILIES,
    IMAGES,
    RENDERED,
    name_rendered_recipe,
    render_recipe,
)
from osu_container.build.recipes.versions import DEBIAN, DEFAULT_DEBIAN, RECIPE_VERSION, SOURCES
from osu_container.image.libraries import compute_sha256

__all__ = [
    'DEBIAN',
    'DEFAULT_DEBIAN',
    'FAMILIES',
    'IMAGES',
    'PROJECT',
    'RECIPE_VERSION',
    'SOURCES',
    'find_command',
    'select_named_images',
    'read_build_record',
    'load_recipe',
    'compute_sha256',
    'format_path',
    'get_image_state',
]


def format_path(path):
    """Return the path as text, relative to the project's folder where it is inside."""
    path = Path(path)
    return str(path.relative_to(PROJECT)) if PROJECT in (path, *path.parents) else str(path)


def find_command(*names):
    """
    Return the path of the first of the commands that exists, or None. Daemons' folders count as
    well.
    """
    path = os.pathsep.join(
        [os.environ.get('PATH', os.defpath), str(STATE / 'bin'), '/usr/sbin', '/sbin']
    )
    return next(filter(None, (shutil.which(name, path=path) for name in names)), None)


def select_named_images(patterns):
    """
    Return the names of the images that any of the patterns means, in the order of the catalogue;
    all for none.

    A pattern is a name, with or without '.sif', a family, or has shell wildcards. Raises ImageError
    if it fits none.
    """
    if not patterns:
        return list(IMAGES)
    wanted = set()
    for pattern in patterns:
        plain = pattern[: -len('.sif')] if pattern.endswith('.sif') else pattern
        fitting = {
            name
            for name, entry in IMAGES.items()
            if entry['family'] == plain or fnmatch.fnmatchcase(name, plain)
        }
        if not fitting:
            near = difflib.get_close_matches(plain, IMAGES, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(near)}?" if near else ''
            raise ImageBuildError(
                f"no image is called {pattern!r}.{hint} All names: osu-container image list"
            )
        wanted |= fitting
    return [name for name in IMAGES if name in wanted]


def load_recipe(name, kind, suffix='.def'):
    """
    Return the definition file of an image, with '.Dockerfile' its Dockerfile: as checked in,
    else by HPCCM.

    kind: the benchmark programs in it, a key of its variants. Raises ImageError where it takes
    HPCCM and there is none.
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
            f"the recipe of {name} is written by HPCCM, and {sys.executable} has none. Install it: `make "
            f"python-env`, or: {sys.executable} -m pip install hpccm"
        ) from err


def get_image_state(name, folder):
    """
    Return whether the image exists in a folder: 'built', 'not here', or 'unbuilt' if this
    project never built it.
    """
    if (Path(folder) / f'{name}.sif').exists():
        return 'built'
    return 'unbuilt' if IMAGES[name]['unbuilt'] else 'not here'


def read_build_record(sif):
    """
    Return what IMAGE.json beside an image says of its build (dict), {} if there is none or it is
    damaged.
    """
    try:
        found = read_json(f'{sif}.json')
        return found if isinstance(found['inputs'], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}

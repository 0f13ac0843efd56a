"""
The named images: what osu_container/recipes/images.py says of them, found by name or pattern; their state here; what
was published about the twelve combinations on LUMI (osu_container/check/compatibility.csv).
"""
import difflib
import fnmatch
import os
import re
import shutil
import sys
from pathlib import Path

from osu_container.core.reading.files import read_json
from osu_container.core.reading.libraries import sha256_of
from osu_container.places import PROJECT, STATE
from osu_container.recipes.images import FAMILIES, IMAGES, RECIPES, RENDERED, render
from osu_container.recipes.versions import DEBIAN, DEFAULT_DEBIAN, RECIPE_VERSION, SOURCES

from ..check.examination import APPROACHES
from ..check.examination import MARKS as MEASURED
from ..check.examination import rows as published_rows
from . import ImageError

__all__ = ['DEBIAN', 'DEFAULT_DEBIAN', 'FAMILIES', 'IMAGES', 'PROJECT', 'RECIPE_VERSION', 'RECIPES', 'RENDERED',
           'SOURCES', 'command_path', 'find', 'image_of', 'published_rows', 'record_of', 'recipe_text', 'sha256_of',
           'sentence', 'shown', 'state']

#: The marks of the published table, in words
MARKS = dict(MEASURED, **{'?': 'not tested', '??': 'not tested', 'NA': 'does not apply'})


def shown(path):
    """Return the path as text, relative to the project's folder where it is inside."""
    path = Path(path)
    return str(path.relative_to(PROJECT)) if PROJECT in (path, *path.parents) else str(path)


def command_path(*names):
    """Return the path of the first of the commands that is there, or None. Daemons' folders count as well."""
    path = os.pathsep.join([os.environ.get('PATH', os.defpath), str(STATE / 'bin'), '/usr/sbin',
                            '/sbin'])
    return next(filter(None, (shutil.which(name, path=path) for name in names)), None)


def find(patterns):
    """Return the names of the images that any of the patterns means, in the order of the catalogue; all for none.

    A pattern is a name, with or without '.sif', a family, or has shell wildcards. Raises ImageError if it fits none.
    """
    if not patterns:
        return list(IMAGES)
    wanted = set()
    for pattern in patterns:
        plain = pattern[:-len('.sif')] if pattern.endswith('.sif') else pattern
        fitting = {name for name, entry in IMAGES.items()
                   if entry['family'] == plain or fnmatch.fnmatchcase(name, plain)}
        if not fitting:
            near = difflib.get_close_matches(plain, IMAGES, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(near)}?" if near else ''
            raise ImageError(f"no image is called {pattern!r}.{hint} All names: osu-container image list")
        wanted |= fitting
    return [name for name in IMAGES if name in wanted]


def recipe_text(name, kind, suffix='.def'):
    """Return the definition file of an image, with '.Dockerfile' its Dockerfile: as checked in, else by HPCCM.

    kind: the benchmark programs in it, a key of its variants. Raises ImageError where it takes HPCCM and there is none.
    """
    path = RENDERED / f"{IMAGES[name]['variants'][kind]['rendered']}{suffix}"
    if path.exists():
        return path.read_text()
    try:
        return render(name, kind, suffix)
    except ModuleNotFoundError as err:
        if err.name != 'hpccm':
            raise
        raise ImageError(f"the recipe of {name} is written by HPCCM, and {sys.executable} has none. Install it: `make "
                         f"python-env`, or: {sys.executable} -m pip install hpccm") from err


def image_of(path):
    """Return the name of the image that a file is by its own name, None if it is none of the catalogue."""
    name = Path(path).name
    name = name[:-len('.sif')] if name.endswith('.sif') else name
    return name if name in IMAGES else None


def state(name, folder, current):
    """Return (word, detail) about an image in a folder: what is there of it.

    current: function (name, record) -> whether the record says that the image was built from today's inputs.
    """
    sif = Path(folder) / f'{name}.sif'
    if not sif.exists():
        why = IMAGES[name]['unbuilt']
        return ('unbuilt', why) if why else ('not here', '')
    record = record_of(sif)
    if not record:
        return 'here', 'not built by this command'
    return ('built' if current(name, record) else 'outdated'), record['inputs']['osu']


#: What the record beside an image holds: types of its parts
RECORD = {'sif-sha256': str, 'built': str, 'compression': str, 'seconds': dict, 'inputs': dict}
#: The same of its inputs
INPUTS = {'recipe': str, 'recipe-sha256': str, 'recipe-version': str, 'osu': str, 'sources': dict}


def record_of(sif):
    """
    Return what the file IMAGE.json beside an image (Path) says of its build (dict: RECORD, INPUTS and more).

    {} if there is none, or it is damaged: who builds the image again writes it anew.
    """
    try:
        found = read_json(f'{sif}.json')
        inputs = found['inputs']
        whole = all(isinstance(part[name], kind) for part, kinds in ((found, RECORD), (inputs, INPUTS))
                    for name, kind in kinds.items())
        whole = whole and all(isinstance(one, (int, float)) for one in found['seconds'].values())
        return found if whole else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def row_of(entry):
    """Return the row of an image's entry in the catalogue, None if it is not a published combination."""
    return next((row for row in published_rows()
                 if (row['libcxi'], row['libfabric'], row['mpich']) == entry['published']), None)


def sentence(entry):
    """Return a line an approach on what was published about an image, '' if nothing was."""
    row = row_of(entry)
    if row is None:
        return ''
    lines = ["2025-03, host libfabric 1.15.2.0" + (", built by default" if entry['default'] else '')]
    for approach in APPROACHES:
        word = MARKS[row[approach]]
        note = re.sub(r'^(works|fails|not tested)[:;]? *', '', row[f'{approach}_note'])
        lines.append(f"{approach}: {word}{note and f': {note}'}")
    return '\n'.join(lines)

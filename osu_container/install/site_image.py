"""
Find the file of an image that the site provides to all users, or that has an absolute path.

An image in a folder of the site (image_folders of the site's data) is never copied: an installation
has a link to it and its sha256. If the owner replaces or removes it, the module reports that.
"""

import os
import re
from typing import Any, Dict, Iterable, List, Mapping, Optional

from osu_container.base.files import open_plain_file
from osu_container.base.trust import find_name_problem
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError
from osu_container.install.image_build import read_sha256_file
from osu_container.install.staged import read_image_stamp

#: Folder that begins with the value of a variable: {NAME}/...
_VARIABLE_PREFIX = re.compile(r'\{(\w+)\}')


def list_image_folders(site: Dict[str, Any], root: str, environ: Mapping[str, str]) -> List[str]:
    """
    Return the folders in which a site has images, with variables replaced.

    `root` stands in for the host's /, except for a folder that begins with a variable.
    """
    folders = []
    for folder in site['image_folders']['value']:
        name = _VARIABLE_PREFIX.match(folder)
        if not name:
            folders.append(root + folder)
        elif environ.get(name.group(1)):
            folders.append(environ[name.group(1)] + folder[name.end() :])
    return folders


def check_image_name(name: Optional[str]) -> Optional[str]:
    """
    Return the name of an image if it is a file name or an absolute path.

    Raises ImageError for a relative path, whose folder would be ambiguous.
    """
    problem = find_name_problem(name or '')
    if problem:
        raise ImageError("image: " + problem)
    if name and not os.path.isabs(name) and (os.path.basename(name) != name or name in ('.', '..')):
        raise ImageError(
            "image '%s' is neither a file name, which is searched in the source path and "
            "the site's folders, nor an absolute path. Use the absolute path: "
            "--try-amend=image=%s" % (name, os.path.realpath(name))
        )
    return name


def require_readable(path: str) -> str:
    """Return the path of an image. Raises ImageError if the caller cannot read the file."""
    try:
        open_plain_file(path).close()
    except OSError as err:
        target = ' (a link to %s)' % os.path.realpath(path) if os.path.islink(path) else ''
        raise ImageError(
            'cannot read the image %s%s: %s. Its owner may have removed the image. Use another '
            'image of the folder: --try-amend=image=FILE' % (path, target, err.strerror or err)
        )
    return path


def find_named_image(name: str, folders: Iterable[str]) -> Optional[str]:
    """Return the path of the image `name` in one of the folders, None without one."""
    paths = [os.path.join(folder, name) for folder in folders]
    return next((path for path in paths if os.path.isfile(path)), None)


def resolve_site_image(path: str, folders: List[str]) -> Optional[str]:
    """
    Return the path of an image below one of the site's folders, None for other images.

    Links within a folder are followed: LUMI's lumi-multitorch-latest.sif leads to a dated file, and
    will lead to another one later. A link that is the folder itself is not followed.
    """
    real = os.path.realpath(path)
    for folder in folders:
        prefix = os.path.realpath(folder) + '/'
        if real.startswith(prefix):
            return os.path.join(folder, real[len(prefix) :])
    # A link in a folder of the site may lead out of it.
    return (
        real
        if any(os.path.abspath(path).startswith(folder.rstrip('/') + '/') for folder in folders)
        else None
    )


def read_site_stamp(path: Optional[str]) -> Optional[Dict[str, Any]]:
    """
    Return what a module compares with the site's image when it is loaded.

    None for an image that is not the site's (`path` is None).
    """
    if path is None:
        return None
    return dict(read_image_stamp(path), path=path, what='the image')


def find_image_changes(installed: str) -> List[str]:
    """
    Return sentences on an installed image whose sha256 differs from the recorded one.

    A missing image is not reported here: the module does that, or uses the site's.
    """
    try:
        expected = read_sha256_file(installed + '.sha256')
    except ImageError as err:
        return [str(err)]
    sha256 = compute_sha256(installed) if expected and os.path.exists(installed) else expected
    return (
        []
        if sha256 == expected
        else [
            'the image %s has changed since the module was installed (sha256 at installation %s, '
            'now %s). Install the module again' % (os.path.realpath(installed), expected, sha256)
        ]
    )

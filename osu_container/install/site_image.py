"""
Locate the file of an image in a folder of the site, or at an absolute path.

The image_folders in the data of a site contain images for all users. eb does not copy an image
in an image folder: the installation contains a link to the image, and the image's sha256. If the
owner replaces or removes the image, the modulefile prints a message.
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
    Return the image folders of a site, with the values of environment variables inserted.

    root: folder that replaces the root folder of the host. The function does not prepend `root` to
    a folder that begins with an environment variable.
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
    Return `name`, which must be a file name or an absolute path.

    Raises ImageError for a relative path, because the folder of a relative path is ambiguous.
    """
    problem = find_name_problem(name or '')
    if problem:
        raise ImageError("image: " + problem)
    if name and not os.path.isabs(name) and (os.path.basename(name) != name or name in ('.', '..')):
        raise ImageError(
            "the image '%s' is a relative path. Give an absolute path (--try-amend=image=%s), or a "
            "file name, which EasyBuild looks for in the source path and in the site's image folders"
            % (name, os.path.realpath(name))
        )
    return name


def require_readable(path: str) -> str:
    """Return `path` if this process can read the image `path`, otherwise raise ImageError."""
    try:
        open_plain_file(path).close()
    except OSError as err:
        target = ' (a link to %s)' % os.path.realpath(path) if os.path.islink(path) else ''
        raise ImageError(
            'cannot read the image %s%s: %s. If the owner has removed the image, name another image: '
            '--try-amend=image=FILE' % (path, target, err.strerror or err)
        )
    return path


def find_named_image(name: str, folders: Iterable[str]) -> Optional[str]:
    """Return the path of the first file `name` in `folders`, None if no folder has the file."""
    paths = [os.path.join(folder, name) for folder in folders]
    return next((path for path in paths if os.path.isfile(path)), None)


def resolve_site_image(path: str, folders: List[str]) -> Optional[str]:
    """
    Return the path of a site's image inside an image folder, None for any other image.

    path: path of the image. folders: image folders of the site. If `path` is a link, the result is
    the target of the link. For example, LUMI's lumi-multitorch-latest.sif is a link to a file with
    a date in its name, and the link may later have another target. If an image folder itself is a
    link, the result begins with the name of the image folder, not with the target of the link.
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
    Return the path and the size of a site's image, None if `path` is None.

    The modulefile compares the size with the size of the image at load time, and prints the path if
    the image has changed or is missing. `path` is None if the image does not belong to the site.
    """
    if path is None:
        return None
    return dict(read_image_stamp(path), path=path, what='the image')


def find_image_changes(installed: str) -> List[str]:
    """
    Return a list with a message if an installed image has changed, otherwise [].

    The function compares the sha256 of the image with the recorded sha256. installed: path of the
    image in the installation. If the image is missing, the list is empty, because the modulefile
    reports a missing image or uses the image of the site.
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

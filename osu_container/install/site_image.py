"""
An image that the site keeps for all its users, or one that is named by its whole path: which file
it is.

An image in a folder of the site (image_folders of the site's data) is never copied: an installation
has a link to it and its sha256. Its owner may replace or remove it; the module then says so.
"""

import os
import re

from osu_container.base.files import open_plain_file
from osu_container.base.trust import find_name_problem
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError
from osu_container.install.image_build import read_sha256_file
from osu_container.install.staged import read_image_stamp

#: A folder that begins with the value of a variable: {NAME}/...
_VARIABLE_PREFIX = re.compile(r'\{(\w+)\}')


def list_image_folders(site, root, environ):
    """
    Return the folders (list of str) in which site (dict) keeps images, those of variables in
    environ (dict) filled in.

    :param root: str, folder that stands in for the host's /; a folder of a variable is not below it
    """
    found = []
    for folder in site['image_folders']['value']:
        name = _VARIABLE_PREFIX.match(folder)
        if not name:
            found.append(root + folder)
        elif environ.get(name.group(1)):
            found.append(environ[name.group(1)] + folder[name.end() :])
    return found


def check_image_name(name):
    """
    Return name (str or None), which the easyconfig or the site has for an image: the name of a file
    or a whole path.

    Raises ImageError for another one: relative to which folder would it be?
    """
    problem = find_name_problem(name or '')
    if problem:
        raise ImageError("image: " + problem)
    if name and not os.path.isabs(name) and (os.path.basename(name) != name or name in ('.', '..')):
        raise ImageError(
            "image '%s' is neither the name of a file, which is looked for in the source path and in the "
            "site's folders, nor a whole path. Use the whole path: --try-amend=image=%s"
            % (name, os.path.realpath(name))
        )
    return name


def require_readable(path):
    """
    Return path (str) of an image. Raises ImageError if there is no file that the caller may
    read.
    """
    try:
        open_plain_file(path).close()
    except OSError as err:
        leads = ' (a link to %s)' % os.path.realpath(path) if os.path.islink(path) else ''
        raise ImageError(
            "cannot read the image %s%s: %s. Its owner may have removed it: take one that `ls -lL` shows "
            "in its folder, with --try-amend=image=FILE" % (path, leads, err.strerror or err)
        )
    return path


def find_named_image(name, folders):
    """
    Return the path (str) of the image name (str) in one of folders (list of str), None if it is
    in none.
    """
    paths = [os.path.join(folder, name) for folder in folders]
    return next((path for path in paths if os.path.isfile(path)), None)


def resolve_site_image(path, folders):
    """
    Return the path (str) of the image path (str) in one of the site's folders (list of str), None
    if it is in none.

    Links in a folder are followed, as LUMI's lumi-multitorch-latest.sif is one to a dated file,
    which it will not be one to for long. The folder keeps its name: that the site has put it behind
    a link is the site's affair.
    """
    real = os.path.realpath(path)
    for folder in folders:
        inside = os.path.realpath(folder) + '/'
        if real.startswith(inside):
            return os.path.join(folder, real[len(inside) :])
    # a link in a folder of the site that leads out of it
    return (
        real
        if any(os.path.abspath(path).startswith(folder.rstrip('/') + '/') for folder in folders)
        else None
    )


def read_site_stamp(path):
    """
    Return what a module compares the image path (str) with when it is loaded (dict path, size,
    what), None for None, an image that is none of the site's.
    """
    if path is None:
        return None
    return dict(read_image_stamp(path), path=path, what='the image')


def find_image_changes(installed):
    """
    Return sentences (list of str) on the image of an installation (str, path) whose sha256 is not
    the recorded one.

    One that is not there is no matter of this: the module says so itself, or takes the site's.
    """
    try:
        wanted = read_sha256_file(installed + '.sha256')
    except ImageError as err:
        return [str(err)]
    found = compute_sha256(installed) if wanted and os.path.exists(installed) else wanted
    return (
        []
        if found == wanted
        else [
            "the image %s has changed since the module was installed (sha256 then %s, now %s); install it again"
            % (os.path.realpath(installed), wanted, found)
        ]
    )

"""
The image before it is installed: a missing one is built, with the command of the clone that this
package is part of (scripts/osu-container; where pip installed the package there is none, and
nothing is built); then it is compared with its sha256 and its signature.
"""

import json
import os
import re
import subprocess

from osu_container.base import shell
from osu_container.base.files import read_plain_file
from osu_container.base.places import PROJECT
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError, find_signature_problem

#: Values of the easyconfig parameter build_image
BUILD_MODES = ('auto', 'yes', 'no')


def find_builder():
    """Return the path (str) of osu-container in the clone of this package, None if it has none."""
    path = str(PROJECT / 'scripts' / 'osu-container')
    return (
        path
        if os.access(path, os.X_OK) and os.path.isdir(str(PROJECT / 'container-recipes'))
        else None
    )


def format_build_command(name):
    """Return what to type (str) to make the image name (str, file name of the SIF)."""
    image = name[: -len('.sif')] if name.endswith('.sif') else name
    return '%s image build %s' % (find_builder() or 'scripts/osu-container', image)


def _clean_environment():
    """Return the environment (dict) of the builder: without what EasyBuild's own Python needs."""
    return dict(item for item in os.environ.items() if item[0] not in ('PYTHONPATH', 'PYTHONHOME'))


def _run_builder(arguments, **options):
    """
    Return (exit code, output) of the builder; output is None where it goes to the caller's own.
    """
    proc = subprocess.Popen(
        [find_builder(), 'image'] + arguments,
        stdin=subprocess.DEVNULL,
        env=_clean_environment(),
        universal_newlines=True,
        **options,
    )
    output = proc.communicate()[0]
    return proc.returncode, output


def _try_build(name, how, target):
    """
    Build the image name (str) to the file target (str); return why it was not built (str), None
    if it was.
    """
    if how == 'no':
        return "build_image=no was given"
    if find_builder() is None:
        return "osu-container was installed without its clone, and the recipes are there only"
    if how == 'auto':
        code, output = _run_builder(
            ['list', '--json', name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if code == 0 and any(entry['compiles_mpi'] for entry in json.loads(output)):
            return "its build compiles MPI, which takes from twenty minutes to hours: --try-amend=build_image=yes"
    code, output = _run_builder(
        ['build', '--check', name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if code:
        return (
            output.partition('error: ')[2].strip()
            or output.strip()
            or "exit code %d of image build --check" % code
        )
    if not os.path.isdir(os.path.dirname(target)):
        os.makedirs(os.path.dirname(target))
    code, _ = _run_builder(['build', '--output', target, name])
    return (
        code
        and "%s image build %s ended with exit code %d, see its message above"
        % (find_builder(), name, code)
        or None
    )


def obtain_image(name, how, folders, image_help, say, sha256=None):
    """
    Build the image name (str) into the first of folders (list of str, EasyBuild's source path);
    return its path (str).

    :param how: one of HOW; image_help: str, page about images; say: function that shows a line
        (str) to the user
    :param sha256: str or None, what the easyconfig wants: another build would have another
    Raises ImageError with the commands where it is not built.
    """
    if sha256:
        raise ImageError(
            "The image %s with sha256 %s is nowhere. Put it beside the easyconfig, or into a folder of "
            "the source path (%s), or name its folder: eb --sourcepath=FOLDER ..."
            % (name, sha256, ':'.join(folders))
        )
    target = os.path.join(folders[0], name)
    say("the image %s is nowhere in the source path: building it, unless build_image=no" % name)
    why = _try_build(name, how, target)
    if why is not None:
        raise ImageError(
            "The image %s is not there. It is made by: %s\nNot built here: %s\nOr copy it, with %s.sha256 "
            "beside it, into a folder of the source path (%s). More: %s"
            % (name, format_build_command(name), why, name, ':'.join(folders), image_help)
        )
    return target


#: A line of sha256sum
_SUM_LINE = re.compile(r'([0-9a-f]{64})(?: [ *](.+))?', re.I)


def read_sha256_file(path):
    """
    Return the sha256 (str, lower case) that the file path (str, NAME.sha256) has for NAME, None if
    it is not there or empty. Of several lines that of NAME counts, of one line any. Raises
    ImageError if it holds no such sum.
    """
    try:
        lines = read_plain_file(path, 'text').decode('utf-8', 'replace').split('\n')
    except FileNotFoundError:
        return None
    except OSError as err:
        raise ImageError(
            "cannot read %s: %s. Make it again: sha256sum IMAGE >IMAGE.sha256"
            % (path, err.strerror)
        )
    lines = [line.strip() for line in lines if line.strip()]
    found = [line.groups() for line in map(_SUM_LINE.fullmatch, lines) if line]
    name = os.path.basename(path)[: -len('.sha256')]
    chosen = [total for total, of in found if os.path.basename(of or '') == name or len(lines) == 1]
    if not chosen and lines:
        raise ImageError(
            "%s holds no sha256 of %s: wanted a line of sha256sum, 64 digits from 0 to f and the name. "
            "To make one again: sha256sum %s >%s"
            % (path, name, shell.quote_path(name), shell.quote_path(os.path.basename(path)))
        )
    return chosen[0].lower() if chosen else None


def check_image(sif, wanted, beside, image_help, runtime, is_site_image=False):
    """
    Return the sha256 of the image sif (str, path). Raise ImageError unless it is wanted (str or
    None) and the image is as its parts say.

    :param beside: str, file that would hold the sum; image_help: str, page about images; runtime:
        str, its command
    :param of_site: bool, the image is one of the site's, which is used as it is found: without a
        sum nothing is wanted
    """
    name = os.path.basename(sif)
    if not wanted and not is_site_image:
        raise ImageError(
            "No sha256 to check the image %s against: make one with (cd %s && sha256sum %s > %s), or "
            "give it: --try-amend=image_sha256=SUM"
            % (
                sif,
                shell.quote_path(os.path.dirname(sif) or '.'),
                shell.quote_path(name),
                shell.quote_path(os.path.basename(beside)),
            )
        )
    found = compute_sha256(sif)
    if found != (wanted or found):
        # EasyBuild 4.9 shows the first 300 characters: a long path comes last
        raise ImageError(
            "wrong sha256 of the image: found %s, wanted %s: %s. If its owner has replaced it, write the "
            "easyconfig anew (osu-container new), else copy or make it again (%s)"
            % (found, wanted, sif, image_help)
        )
    problem = find_signature_problem(sif, runtime)
    if problem:
        raise ImageError("The image %s (%s)" % (problem, image_help))
    return found

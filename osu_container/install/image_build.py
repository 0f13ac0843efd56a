"""
Build a missing image, and verify the sha256 and the signature of an image.

The easyblock MPIContainer uses this module before it installs an image. To build a missing image,
this module calls the command scripts/osu-container in the clone of the project. After an
installation with pip no clone exists, so no image can be built.
"""

import json
import os
import re
import subprocess
from typing import Any, Callable, List, Optional, Tuple

from osu_container.base import shell
from osu_container.base.files import read_plain_file
from osu_container.base.places import PROJECT
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError, find_signature_problem

#: Values of the easyconfig parameter build_image
BUILD_MODES = ('auto', 'yes', 'no')


def find_builder() -> Optional[str]:
    """Return the path of scripts/osu-container in the clone, None if there is no clone."""
    path = str(PROJECT / 'scripts' / 'osu-container')
    return (
        path
        if os.access(path, os.X_OK) and os.path.isdir(str(PROJECT / 'container-recipes'))
        else None
    )


def format_build_command(name: str) -> str:
    """Return the command that builds the image with the file name `name`."""
    image = name[: -len('.sif')] if name.endswith('.sif') else name
    return '%s image build %s' % (find_builder() or 'scripts/osu-container', image)


def _run_builder(arguments: List[str], **options: Any) -> Tuple[int, str]:
    """
    Run `osu-container image` with `arguments` and return (exit code, output).

    options: keyword arguments of subprocess.run(). Unless the options redirect the output, the
    command prints its output to stdout of this process, and the returned output is ''.
    """
    # The variables of EasyBuild's Python do not fit the Python of osu-container.
    excluded = ('PYTHONPATH', 'PYTHONHOME')
    proc = subprocess.run(
        [str(find_builder()), 'image'] + arguments,
        stdin=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name not in excluded},
        universal_newlines=True,
        **options,
    )
    return proc.returncode, proc.stdout or ''


def _try_build(name: str, mode: str, target: str) -> Optional[str]:
    """
    Build the image `name` as the file `target`; after a failure, return the reason.

    The result is None after a successful build.
    """
    if mode == 'no':
        return 'build_image=no is set'
    if find_builder() is None:
        return (
            'osu-container was installed with pip, and only a clone contains the recipes of images'
        )
    capture = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    if mode == 'auto':
        code, output = _run_builder(['list', '--json', name], **capture)
        if code == 0 and any(entry['compiles_mpi'] for entry in json.loads(output)):
            return (
                'the build compiles MPI, which takes from twenty minutes to hours. To allow the build, '
                'repeat with --try-amend=build_image=yes'
            )
    code, output = _run_builder(['build', '--check', name], **capture)
    if code:
        return (
            output.partition('error: ')[2].strip()
            or output.strip()
            or "the command `osu-container image build --check` failed with exit code %d" % code
        )
    os.makedirs(os.path.dirname(target), exist_ok=True)
    code, _ = _run_builder(['build', '--output', target, name])
    if code:
        return (
            "the command `%s image build %s` failed with exit code %d, and printed the reason above"
            % (
                find_builder(),
                name,
                code,
            )
        )
    return None


def obtain_image(
    name: str,
    mode: str,
    folders: List[str],
    image_help: str,
    report: Callable[[str], None],
    sha256: Optional[str] = None,
) -> str:
    """
    Build the image `name` in the first of `folders`, and return the path of the image.

    mode: one of BUILD_MODES. folders: the folders of EasyBuild's source path. image_help: location
    of the page about images. report: function that prints a line for the user. sha256: the image's
    sha256 in the easyconfig. If the easyconfig contains a sha256, the function builds no image,
    because a new build has another sha256.

    Raises ImageError if the image was not built. The message contains the commands that the user
    can run.
    """
    if sha256:
        raise ImageError(
            'found no image %s with sha256 %s. Copy the image to the folder of the easyconfig or to '
            'a folder of the source path (%s), or name the folder of the image: '
            'eb --sourcepath=FOLDER ...' % (name, sha256, ':'.join(folders))
        )
    target = os.path.join(folders[0], name)
    report(
        'the source path contains no image %s, so the image is built now (to prevent builds: '
        '--try-amend=build_image=no)' % name
    )
    obstacle = _try_build(name, mode, target)
    if obstacle is not None:
        raise ImageError(
            'found no image %s. To build the image, run: %s\nEasyBuild has not built the image: '
            '%s\nOr copy the image, together with %s.sha256, to a folder of the source path (%s). '
            'See also: %s'
            % (name, format_build_command(name), obstacle, name, ':'.join(folders), image_help)
        )
    return target


#: A line of the output of sha256sum
_SUM_LINE = re.compile(r'([0-9a-f]{64})(?: [ *](.+))?', re.I)


def read_sha256_file(path: str) -> Optional[str]:
    """
    Read the file NAME.sha256, and return the sha256 of the file NAME.

    path: path of NAME.sha256. The result has lower-case digits. The result is None if NAME.sha256
    does not exist or is empty. If NAME.sha256 has a single line, the line may contain the sha256
    without a file name. Raises ImageError if NAME.sha256 cannot be read or contains no sha256 of NAME.
    """
    try:
        lines = read_plain_file(path, 'text').decode('utf-8', 'replace').split('\n')
    except FileNotFoundError:
        return None
    except OSError as err:
        raise ImageError(
            'cannot read %s: %s. Write the file again: sha256sum IMAGE >IMAGE.sha256'
            % (path, err.strerror)
        )
    lines = [line.strip() for line in lines if line.strip()]
    sums = [line.groups() for line in map(_SUM_LINE.fullmatch, lines) if line]
    name = os.path.basename(path)[: -len('.sha256')]
    chosen = [
        total for total, file in sums if os.path.basename(file or '') == name or len(lines) == 1
    ]
    if not chosen and lines:
        raise ImageError(
            '%s contains no sha256 of %s: expected a line with 64 hexadecimal digits and the file '
            'name, as sha256sum prints. Write the file again: sha256sum %s >%s'
            % (path, name, shell.quote_path(name), shell.quote_path(os.path.basename(path)))
        )
    return chosen[0].lower() if chosen else None


def check_image(
    sif: str,
    expected: Optional[str],
    sum_file: str,
    image_help: str,
    runtime: str,
    is_site_image: bool = False,
) -> str:
    """
    Verify the sha256 and the signature of the image `sif`, and return the image's sha256.

    expected: the sha256 that the image must have, None if unknown. is_site_image: whether the image
    is in a folder in which the site keeps images for all users. If `expected` is None, the function
    accepts only an image in such a folder. sum_file: path of the file to which the user can write
    the sha256.
    image_help: location of the page about images. runtime: command of the container runtime.

    Raises ImageError in three cases: `expected` is None and `is_site_image` is False; the sha256
    differs from `expected`; the signature does not match the image.
    """
    name = os.path.basename(sif)
    if not expected and not is_site_image:
        raise ImageError(
            'found no sha256 of the image %s. Write the sha256 to a file: '
            '(cd %s && sha256sum %s > %s), or repeat with the sha256: '
            '--try-amend=image_sha256=SHA256'
            % (
                sif,
                shell.quote_path(os.path.dirname(sif) or '.'),
                shell.quote_path(name),
                shell.quote_path(os.path.basename(sum_file)),
            )
        )
    sha256 = compute_sha256(sif)
    if sha256 != (expected or sha256):
        # EasyBuild 4.9 shows the first 300 characters, so a long path comes last.
        raise ImageError(
            'wrong sha256 of the image: found %s, expected %s, image file %s. If the owner of '
            'the image has replaced the file, write the easyconfig again (osu-container new). '
            'Otherwise copy or build the image again (%s)' % (sha256, expected, sif, image_help)
        )
    problem = find_signature_problem(sif, runtime)
    if problem:
        raise ImageError('the image %s (%s)' % (problem, image_help))
    return sha256

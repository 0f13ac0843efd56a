"""
Build and check an image before it is installed.

A missing image is built by the command scripts/osu-container of the clone; an installation by pip
has no clone and builds nothing. Then the image is compared with its sha256 and its signature.
"""

import json
import os
import re
import subprocess
from typing import Any, Callable, Dict, List, Optional, Tuple

from osu_container.base import shell
from osu_container.base.files import read_plain_file
from osu_container.base.places import PROJECT
from osu_container.image.libraries import compute_sha256
from osu_container.image.sif import ImageError, find_signature_problem

#: Values of the easyconfig parameter build_image
BUILD_MODES = ('auto', 'yes', 'no')


def find_builder() -> Optional[str]:
    """Return the path of osu-container in the clone of this package, None without a clone."""
    path = str(PROJECT / 'scripts' / 'osu-container')
    return (
        path
        if os.access(path, os.X_OK) and os.path.isdir(str(PROJECT / 'container-recipes'))
        else None
    )


def format_build_command(name: str) -> str:
    """Return the command that builds an image, given the file name of the SIF."""
    image = name[: -len('.sif')] if name.endswith('.sif') else name
    return '%s image build %s' % (find_builder() or 'scripts/osu-container', image)


def _clean_environment() -> Dict[str, str]:
    """Return the environment for the builder, without the variables of EasyBuild's Python."""
    return dict(item for item in os.environ.items() if item[0] not in ('PYTHONPATH', 'PYTHONHOME'))


def _run_builder(arguments: List[str], **options: Any) -> Tuple[int, str]:
    """
    Run the builder and return (exit code, output).

    The output is '' if it goes to the output of this process.
    """
    proc = subprocess.run(
        [str(find_builder()), 'image'] + arguments,
        stdin=subprocess.DEVNULL,
        env=_clean_environment(),
        universal_newlines=True,
        **options,
    )
    return proc.returncode, proc.stdout or ''


def _try_build(name: str, mode: str, target: str) -> Optional[str]:
    """Build an image to `target`. Return why it was not built, None on success."""
    if mode == 'no':
        return 'build_image=no is set'
    if find_builder() is None:
        return 'osu-container was installed without its clone, which has the recipes'
    capture = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT}
    if mode == 'auto':
        code, output = _run_builder(['list', '--json', name], **capture)
        if code == 0 and any(entry['compiles_mpi'] for entry in json.loads(output)):
            return (
                'the build compiles MPI, which takes from twenty minutes to hours: allow the build '
                'with --try-amend=build_image=yes'
            )
    code, output = _run_builder(['build', '--check', name], **capture)
    if code:
        return (
            output.partition('error: ')[2].strip()
            or output.strip()
            or "exit code %d of image build --check" % code
        )
    if not os.path.isdir(os.path.dirname(target)):
        os.makedirs(os.path.dirname(target))
    code, _ = _run_builder(['build', '--output', target, name])
    if code:
        return "%s image build %s failed with exit code %d, see its message above" % (
            find_builder(),
            name,
            code,
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
    Build an image into the first folder of EasyBuild's source path, and return its path.

    `mode` is one of BUILD_MODES, `image_help` the page about images; `report` prints a line to the
    user. With `sha256`, the sum in the easyconfig, nothing is built: another build would have
    another sum. Raises ImageError with the commands to run if the image is not built.
    """
    if sha256:
        raise ImageError(
            'found no image %s with sha256 %s. Copy the image to the folder of the easyconfig '
            'or of the source path (%s), or add its folder: eb --sourcepath=FOLDER ...'
            % (name, sha256, ':'.join(folders))
        )
    target = os.path.join(folders[0], name)
    report(
        'found no image %s in the source path: building it (build_image=no prevents that)' % name
    )
    obstacle = _try_build(name, mode, target)
    if obstacle is not None:
        raise ImageError(
            'found no image %s. To build the image: %s\nThe image was not built: %s\nOr copy the '
            'image, together with %s.sha256, to a folder of the source path (%s). See also: %s'
            % (name, format_build_command(name), obstacle, name, ':'.join(folders), image_help)
        )
    return target


#: A line of the output of sha256sum
_SUM_LINE = re.compile(r'([0-9a-f]{64})(?: [ *](.+))?', re.I)


def read_sha256_file(path: str) -> Optional[str]:
    """
    Return the sum, in lower case, that NAME.sha256 has for NAME, None without one.

    Several lines must name the file, a single line need not. Raises ImageError if the file has no
    such sum.
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
            '%s has no sha256 of %s, expected a line of sha256sum: 64 hexadecimal digits '
            'and the name. Write the file again: sha256sum %s >%s'
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
    Return the sha256 of an image after checking it and its signature.

    Raises ImageError if the sum differs from `expected`, or the signature does not match. Without
    `expected` only an image of the site is accepted, which is used as it is. `sum_file` would have
    the sum; `image_help` is the page about images, `runtime` the command of the container runtime.
    """
    name = os.path.basename(sif)
    if not expected and not is_site_image:
        raise ImageError(
            'found no sha256 of the image %s. Write the sum: (cd %s && sha256sum %s > %s), or set '
            'the sum: --try-amend=image_sha256=SUM'
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
            'wrong sha256 of the image: found %s, expected %s: %s. If the owner has replaced '
            'the image, write the easyconfig again (osu-container new), else copy or build the '
            'image again (%s)' % (sha256, expected, sif, image_help)
        )
    problem = find_signature_problem(sif, runtime)
    if problem:
        raise ImageError('the image %s (%s)' % (problem, image_help))
    return sha256

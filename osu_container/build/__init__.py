"""List, build and verify the container images whose recipes are in container-recipes/.

The modules of this package:

cli         implements the command `osu-container image`
catalogue   selects images by name or pattern, and reports which images exist
fetch       downloads sources, checks their sha256, and makes the Debian base system of images
build       builds one image as a SIF file, with its sha256 and its list of packages
installed   reads the files and packages of a SIF file, and verifies SIF files and installed modules

All modules raise ImageBuildError, print their progress with print_progress(), and write the output
of other programs to a log file with run().
"""

import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional

from osu_container.base.streams import ProgressScreen, start_process_group
from osu_container.base.terminal import mask_secrets


class ImageBuildError(Exception):
    """An image cannot be built, read or verified.

    The message of the error names the problem and the remedy.
    """


#: Screen that counts the seconds since the import of this module
SCREEN = ProgressScreen()


def print_progress(text: str) -> None:
    """Print `text` as a line of progress, preceded by the seconds since the start."""
    SCREEN.print_line(SCREEN.format_elapsed(text))


def run(
    step: str,
    command: List[Any],
    log: Path,
    cwd: Optional[Path] = None,
    env: Optional[Dict[str, str]] = None,
) -> None:
    """Run a command and append the output of the command to the log file.

    Raises ImageBuildError if the command fails. The error message contains the exit code and the
    last lines of the output.

    step: name of this step of the build in error messages
    """
    command = [str(word) for word in command]
    with open(log, 'ab') as stream:
        stream.write(f"\n$ {mask_secrets(' '.join(command))}\n".encode())
        stream.flush()
        try:
            with start_process_group(
                command, cwd=cwd, env=env, stdout=stream, stderr=subprocess.STDOUT
            ) as child:
                child.wait()
        except FileNotFoundError as err:
            raise ImageBuildError(
                f"{step} failed, because {command[0]} cannot be started: {err.strerror}"
            ) from err
    if child.returncode:
        with open(log, errors='replace') as stream:
            end = stream.read().rstrip().splitlines()[-15:]
        raise ImageBuildError(
            f"{step} failed: {command[0]} returned exit code {child.returncode}. The last lines of its output:\n"
            + '\n'.join(f"    {line}" for line in end)
            + f"\nThe complete output is in {log}"
        )

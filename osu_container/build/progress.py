"""Print the progress of a build on the screen, and write program output to a log file."""

import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional

from osu_container.base.streams import ProgressScreen, start_process_group
from osu_container.base.terminal import mask_secrets
from osu_container.build import ImageBuildError

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

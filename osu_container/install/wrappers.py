"""
Create wrappers with lumi-container-wrapper (tykky), which replace run-in-container.

A wrapper is a script that starts a program in the container. This module calls the command
`wrap-container -w FOLDER --prefix PREFIX IMAGE`. The command writes bin/<program>, _bin/<program>,
common.sh and container.sif to the existing folder PREFIX. The exit code of wrap-container is 0 even
after a failure, so this module checks the written files.

A wrapper starts the container runtime with the file PREFIX/container.sif. The wrapper passes
SINGULARITY_BIND, SINGULARITYENV_LD_LIBRARY_PATH and SINGULARITYENV_LD_PRELOAD to the runtime, and
ignores APPTAINER_*.

The source of these facts is github.com/CSCfi/hpc-container-wrapper: frontends/wrap-container.py,
generate_wrappers.sh. The tests use a copy of lumi-container-wrapper.
"""

import os
import subprocess
from typing import List

from osu_container.verdict.settings import Settings

#: Values of the easyconfig parameter wrapper
WRAPPERS = ('run-in-container', 'lumi-container-wrapper')
WRAP_COMMAND = 'wrap-container'


class WrapperError(Exception):
    """The command wrap-container is missing, failed, or cannot be used with the approach."""


def make_wrappers(
    command: str, sif: str, folders: List[str], prefix: str, programs: List[str]
) -> str:
    """
    Create wrappers in the folder `prefix`, and return the output of wrap-container.

    command: path of wrap-container. folders: folders of the image; each program in these folders
    gets a wrapper.
    programs: names of programs that must have a wrapper afterwards. The function replaces the copy
    of the image in `prefix` by a relative link to `sif`, so `sif` must not move relative to
    `prefix`.

    Raises WrapperError if a wrapper is missing. The message contains the end of the output.
    """
    os.makedirs(prefix)
    proc = subprocess.run(
        [command, '-w', ','.join(folders), '--prefix', prefix, sif],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        universal_newlines=True,
        cwd=prefix,
    )
    output = proc.stdout
    missing = [
        name for name in programs if not os.access(os.path.join(prefix, 'bin', name), os.X_OK)
    ]
    image = os.path.join(prefix, 'container.sif')
    if missing or not os.path.lexists(image):
        raise WrapperError(
            "%s (exit code %d) has not made wrappers for %s in %s. The output of the command ends "
            "with: %s"
            % (
                command,
                proc.returncode,
                ', '.join(missing) or 'the image',
                prefix,
                output.strip()[-500:],
            )
        )
    os.remove(image)
    os.symlink(os.path.relpath(sif, prefix), image)
    return output


def check_wrapper(wrapper: str, settings: Settings) -> None:
    """
    Raise WrapperError if the wrappers of wrap-container do not support an approach.

    wrapper: value of the easyconfig parameter `wrapper`.
    """
    if settings.container.uses_entrypoint:
        raise WrapperError(
            "wrapper=%s: a wrapper of lumi-container-wrapper does not start the entrypoint of the image, but "
            "approach '%s' needs the entrypoint. Repeat without the option --try-amend=wrapper="
            % (wrapper, settings.approach)
        )

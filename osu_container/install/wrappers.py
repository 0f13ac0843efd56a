"""
Make wrappers with lumi-container-wrapper (tykky) in place of this project's wrapper.

Its interface is taken from its source (github.com/CSCfi/hpc-container-wrapper:
frontends/wrap-container.py, generate_wrappers.sh) and tested with a copy: `wrap-container -w FOLDER
--prefix PREFIX IMAGE` fills the existing folder PREFIX with bin/<program>, _bin/<program>,
common.sh and container.sif. A wrapper calls the runtime with the image next to its bin folder. It
keeps SINGULARITY_BIND, SINGULARITYENV_LD_LIBRARY_PATH and SINGULARITYENV_LD_PRELOAD, and ignores
APPTAINER_*. The exit code is 0 also after a failure, so the resulting files are checked instead.
"""

import os
import subprocess
from typing import List

from osu_container.verdict.settings import Settings

#: Values of the easyconfig parameter wrapper
WRAPPERS = ('run-in-container', 'lumi-container-wrapper')
WRAP_COMMAND = 'wrap-container'


class WrapperError(Exception):
    """wrap-container is missing or failed; the message has the remedy."""


def make_wrappers(
    command: str, sif: str, folders: List[str], prefix: str, programs: List[str]
) -> str:
    """
    Fill the folder `prefix` with wrappers, and return the output of wrap-container.

    The image must stay where it is relative to `prefix`, because a link to it replaces a copy.
    `folders` of the image have the programs that are wrapped, `programs` must have a wrapper.
    Raises WrapperError with the end of the output if one is missing.
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
            "%s (exit code %d) has not made wrappers for %s in %s. It said: %s"
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
    """Raise WrapperError if the wrappers of wrap-container do not support the approach."""
    if settings.container.uses_entrypoint:
        raise WrapperError(
            "wrapper=%s: these wrappers do not start the entrypoint of the image, which "
            "approach '%s' needs. Use the default wrapper: remove --try-amend=wrapper="
            % (wrapper, settings.approach)
        )

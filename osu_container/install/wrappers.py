"""
Wrappers made by lumi-container-wrapper (tykky) in place of starting the runtime ourselves.

What is relied on was read in its source (github.com/CSCfi/hpc-container-wrapper:
frontends/wrap-container.py, generate_wrappers.sh) and tried with a copy of it: `wrap-container -w
FOLDER --prefix PREFIX IMAGE` fills the existing folder PREFIX with bin/<program>, _bin/<program>,
common.sh and container.sif; a wrapper calls the runtime with the image beside its bin folder, keeps
SINGULARITY_BIND, SINGULARITYENV_LD_LIBRARY_PATH and SINGULARITYENV_LD_PRELOAD, and knows nothing of
APPTAINER_*. Its exit code is 0 also where it failed, so what it made is what counts.
"""

import os
import subprocess

#: Easyconfig parameter wrapper -> what runs the commands
WRAPPERS = ('run-in-container', 'lumi-container-wrapper')
WRAP_COMMAND = 'wrap-container'


class WrapperError(Exception):
    """wrap-container is not there or has not made what it should; the text says what to do."""


def make_wrappers(command, sif, folders, prefix, programs):
    """
    Fill the folder prefix with wrappers.

    :param command: str, path of wrap-container
    :param sif: str, path of the image; it must stay beside prefix, for a link to it takes the place
        of a copy
    :param folders: list of str, folders of the image whose programs are wrapped
    :param programs: list of str, names that must have a wrapper
    Raises WrapperError with the end of its output if a wrapper is missing.
    """
    os.makedirs(prefix)
    proc = subprocess.Popen(
        [command, '-w', ','.join(folders), '--prefix', prefix, sif],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        universal_newlines=True,
        cwd=prefix,
    )
    said = proc.communicate()[0]
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
                said.strip()[-500:],
            )
        )
    os.remove(image)
    os.symlink(os.path.relpath(sif, prefix), image)
    return said


def check_wrapper(wrapper, settings):
    """
    Raise WrapperError if the wrappers that wrap-container makes cannot do what a module promises.

    :param wrapper: str, as the easyconfig names it; settings: Settings of the module
    """
    if settings.container.uses_entrypoint:
        raise WrapperError(
            "wrapper=%s: these wrappers do not start the entrypoint of the image, which approach '%s' "
            "needs. Use the bundled one: leave --try-amend=wrapper= out"
            % (wrapper, settings.approach)
        )

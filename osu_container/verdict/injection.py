"""
The injection: one small file that puts the host's libraries in front of what the image has.

The runtime reads /.singularity.d/env/*.sh of the image in the order of their names
(action_script.sh of Apptainer 1.4.5 in internal/pkg/util/fs/files; SingularityCE's is the same).
This file is bound there under a last name, so that it comes after the image's own files, and after
APPTAINERENV_* and --env, which come with 99-base.sh; but before 99-runtimevars.sh, in which the
runtime puts the user's PREPEND_PATH in front (a virtual environment). What it does goes in front of
what was set and replaces nothing; it holds under --cleanenv and --containall; and it is gone as
soon as the binds are: in another container is nothing left of it. Variables that a user may set
himself cannot stand in it, as they would win over his. `check` evaluates the same text, without the
trial of what is preloaded (verdict/trial.py).
"""

from osu_container.base.shell import quote
from osu_container.data.approaches import INJECTION_SCRIPT as TARGET
from osu_container.image.environment import DEFAULT_PATH, RUNTIME_LIBRARIES

#: Folder in the container in which injected host libraries appear, each under its soname. A folder
#: of its own, so that nothing else of the host's library folders comes along, and no file of the
#: image is hidden.
FOLDER = '/opt/host-mpi/lib'
#: The file's name in an installation
NAME = 'host-mpi.sh'

HEAD = (
    """# Bound to %s of the image, where the runtime reads it last: what stands here goes in
# front of what image and user have set. osu-explain prints the reasons. Written by EasyBuild: do not edit.
"""
    % TARGET
)
#: Whether the image is the module's own, by the name that SingularityCE or Apptainer gives, or its
#: programs start
PRELOAD_TEST = (
    'test "${SINGULARITY_NAME-}${APPTAINER_NAME-}" = %s || LD_PRELOAD=%s /bin/true 2>/dev/null'
)


def render_injection(library_path, preload, program_path, unset, own_image=None, exports=()):
    """
    Return the text of the file (str), for a POSIX shell; '' where it has nothing to do.

    :param library_path, preload: lists of str, folders and files in the container, for ld.so
    :param program_path: list of str, folders of programs that shall be typed by name, unless the
        image has them on PATH
    :param unset: list of str, variables that the image must not set; a value of the user stays (the
        runtime gives it back afterwards)
    :param own: str, file name of the image that loads what is preloaded; in others one program is
        tried with it. None: no trial
    :param exports: list of (name, value), which win over those of image and user
    """
    lines = ['export %s=%s' % (name, quote(value)) for name, value in exports]
    if library_path:
        # the runtime's own folder where nothing is set: an empty part would be the current folder
        # (ld.so(8))
        lines.append(
            'export LD_LIBRARY_PATH=%s:"${LD_LIBRARY_PATH:-%s}"'
            % (_join_paths(library_path), RUNTIME_LIBRARIES)
        )
    if preload:  # one may be gone with the user's binds, or need what an image lacks: no program of that would start
        there = ['test -e %s' % quote(path) for path in preload]
        if own_image is not None:  # a trial takes 15 ms
            there[:0] = [PRELOAD_TEST % (quote(own_image), _join_paths(preload))]
        lines += [
            'if %s; then' % ' && '.join(there),
            '    export LD_PRELOAD=%s"${LD_PRELOAD:+:$LD_PRELOAD}"' % _join_paths(preload),
            'fi',
        ]
    if program_path:  # an unpacked image may have no script that sets it
        lines.append('export PATH="${PATH:-%s}"' % ':'.join(DEFAULT_PATH))
    for folder in reversed(program_path):
        lines.append(
            'case ":$PATH:" in *:%s:*) ;; *) export PATH=%s:"$PATH" ;; esac'
            % ((quote(folder),) * 2)
        )
    if unset:
        lines.append('unset ' + ' '.join(unset))
    return HEAD + '\n'.join(lines) + '\n' if lines else ''


def _join_paths(parts):
    """Return parts (list of str) as one word of the shell, by colons."""
    return ':'.join(quote(part) for part in parts)

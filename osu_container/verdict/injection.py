"""
Render the injection script, which makes ld.so search the host's libraries first.

The runtime sources /.singularity.d/env/*.sh of the image in the order of their names
(action_script.sh of Apptainer 1.4.5 in internal/pkg/util/fs/files; SingularityCE has the same
script). The module binds the injection script under a late name. The runtime therefore sources the
injection script after the files of the image and after APPTAINERENV_* and --env (99-base.sh), but
before the user's PREPEND_PATH (99-runtimevars.sh). The injection script prepends to path variables
and does not replace them. The script works with --cleanenv and --containall, and does not affect
containers without the binds. The script contains no variable that users may set, because the script
would override the user's value. `osu-container check` evaluates the same text without the lines that
test whether the preloaded library exists (trial.py).
"""

from typing import Iterable, Optional, Sequence, Tuple

from osu_container.base.shell import quote
from osu_container.data.approaches import INJECTION_SCRIPT as TARGET
from osu_container.image.environment import DEFAULT_PATH, RUNTIME_LIBRARIES

#: Folder in the container with the injected host libraries, each under its soname. No image has this
#: folder, so the injection hides no file of the image and adds no other library of the host.
FOLDER = '/opt/host-mpi/lib'
#: Name of the script in an installation
NAME = 'host-mpi.sh'

HEAD = (
    """# Bound to %s of the image, which the runtime sources last: the folders below
# come before those that image and user have set. osu-explain prints the reasons. Written by EasyBuild: do not edit.
"""
    % TARGET
)
#: Test whether the image is that of the module, or else whether a program starts with the preload
PRELOAD_TEST = (
    'test "${SINGULARITY_NAME-}${APPTAINER_NAME-}" = %s || LD_PRELOAD=%s /bin/true 2>/dev/null'
)


def render_injection(
    library_path: Sequence[str],
    preload: Sequence[str],
    program_path: Sequence[str],
    unset: Sequence[str],
    own_image: Optional[str] = None,
    exports: Iterable[Tuple[str, str]] = (),
) -> str:
    """
    Return the injection script as text for a POSIX shell, '' if all parameters are empty.

    library_path: folders in the container, for LD_LIBRARY_PATH.
    preload: files in the container, for LD_PRELOAD.
    program_path: folders of programs that the image may not have on PATH.
    unset: variables that the image must not set; the runtime restores the user's value afterwards.
    own_image: file name of the image in which the preload is known to load. In other images, the
    script first tests whether a program starts with the preload. With None, the script has no such
    test.
    exports: (name, value) of variables that override the values of image and user.
    """
    lines = ['export %s=%s' % (name, quote(value)) for name, value in exports]
    if library_path:
        # An empty entry would mean the current folder (ld.so(8)), so use the runtime's default.
        lines.append(
            'export LD_LIBRARY_PATH=%s:"${LD_LIBRARY_PATH:-%s}"'
            % (_join_paths(library_path), RUNTIME_LIBRARIES)
        )
    if preload:
        # A user's bind may hide the file, or the image may lack a library that the file needs. No
        # program would start then. The test of the preload takes 15 ms.
        tests = ['test -e %s' % quote(path) for path in preload]
        if own_image is not None:
            tests[:0] = [PRELOAD_TEST % (quote(own_image), _join_paths(preload))]
        lines += [
            'if %s; then' % ' && '.join(tests),
            '    export LD_PRELOAD=%s"${LD_PRELOAD:+:$LD_PRELOAD}"' % _join_paths(preload),
            'fi',
        ]
    if program_path:  # An unpacked image may have no script that sets PATH.
        lines.append('export PATH="${PATH:-%s}"' % ':'.join(DEFAULT_PATH))
    for folder in reversed(program_path):
        lines.append(
            'case ":$PATH:" in *:%s:*) ;; *) export PATH=%s:"$PATH" ;; esac'
            % ((quote(folder),) * 2)
        )
    if unset:
        lines.append('unset ' + ' '.join(unset))
    return HEAD + '\n'.join(lines) + '\n' if lines else ''


def _join_paths(parts: Iterable[str]) -> str:
    return ':'.join(map(quote, parts))

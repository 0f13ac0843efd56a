"""
Write the file call-settings, which bin/run-in-container reads before each command.

bin/run-in-container starts the commands of an installed module in the container. For users who call
the container runtime directly, the modulefile sets variables with the same settings. A user or
another module can replace the variables of the modulefile, but cannot change the file
call-settings. Each line of call-settings has the form KEY VALUE. The file settings.json contains
the reason of each setting.
"""

import os
from pathlib import Path
from typing import Dict, List, Tuple

from osu_container.base.places import PACKAGE, SCRIPTS
from osu_container.data.approaches import APPROACHES
from osu_container.data.launchers import DEFAULT_LAUNCHER, KEPT_PREFIXES
from osu_container.verdict import launching
from osu_container.verdict.injection import NAME as INJECTION_NAME
from osu_container.verdict.injection import render_injection
from osu_container.verdict.settings import Settings

NAME = 'call-settings'
HEAD = """# bin/run-in-container reads this file at each call; osu-explain prints the reason and source of each setting.
# The modulefile sets the same variables, but a user can replace them there. EasyBuild wrote this file: do not edit.
"""


def render_call_settings(
    settings: Settings, sif: str, runtime_command: str, wrapped: bool = False
) -> str:
    """
    Return the text of the file call-settings.

    sif: file name of the image in the installation. wrapped: whether the installation contains the
    wrappers of lumi-container-wrapper.
    """
    container, environment = settings.container, settings.environment
    rows = [
        ('image', sif),
        ('image_folders', ' '.join(settings.load_checks.image_folders)),
        ('runtime', runtime_command),
        ('prefix', container.env_prefix),
        ('pmi', '%s %s' % (settings.stack.pmi, settings.stack.pmi_variable or '')),
        ('nv', '1' if container.needs_nvidia else ''),
        ('start', 'run' if container.uses_entrypoint else ''),
        ('local_sizes', ' '.join(launching.list_local_size_variables())),
        ('kept', '|'.join(KEPT_PREFIXES)),
        ('share', '1' if container.shares_container else ''),
        (
            'apart',
            ' '.join('%(name)s=%(value)s' % entry for entry in container.separate_variables),
        ),
        ('wrappers', 'wrappers/bin' * wrapped),
        ('files', format_run_files(settings)),
    ]
    rows += [('bind', format_bind(*bind[:2])) for bind in container.binds]
    for key, entries in (
        ('default', environment.variables),
        ('inside', environment.command_variables),
    ):
        rows += [(key, '%(name)s=%(value)s' % entry) for entry in entries]
    if container.host_path:
        rows.append(('default', 'OSU_SWAP_PATH=' + ':'.join(container.host_path)))
    rows.append(('default', 'OSU_PROMISE=' + format_expectation(settings)))
    return HEAD + ''.join('%s %s\n' % row for row in rows if row[1])


def format_bind(path: str, target: str) -> str:
    """Return the bind mount of `path` at `target` in the syntax of the runtime's --bind."""
    return path if path == target else '%s:%s' % (path, target)


def render_module_injection(settings: Settings, sif: str = '') -> str:
    """
    Return the environment script that makes a container load the host's libraries first.

    sif: file name of the image in the installation.
    """
    container = settings.container
    return render_injection(
        container.library_path,
        container.preload,
        (container.user_path or []) + container.program_path,
        [entry['name'] for entry in settings.environment.unset_variables],
        sif,
        [(entry['name'], entry['value']) for entry in container.exported_variables],
    )


def render_command_files(
    settings: Settings, sif: str, runtime: str, wrapped: bool = False
) -> Dict[str, str]:
    """
    Return {name: text} of the files that bin/run-in-container reads.

    sif: path of the image, relative to the installation or absolute. runtime: command of the
    container runtime. wrapped: see render_call_settings().
    """
    return {
        NAME: render_call_settings(settings, sif, runtime, wrapped),
        INJECTION_NAME: render_module_injection(settings, os.path.basename(sif)),
    }


def format_run_files(settings: Settings) -> str:
    """
    Return the value of the key `files`: host files to bind on each node that has the files.

    The value is a list of SOURCE:TARGET[|NAME=VALUE...], separated by commas. On a node without the
    file SOURCE, run-in-container sets each variable NAME to VALUE.
    """
    return ','.join(
        '|'.join(
            ['%s:%s' % (entry['path'], entry['target'])]
            + ['%s=%s' % item for item in sorted(entry['otherwise'].items())]
        )
        for entry in settings.container.run_files
    )


def format_expectation(settings: Settings) -> str:
    """
    Return the value of OSU_PROMISE: the libraries that osu-proof expects in each rank.

    If the approach uses no libfabric (libfabric=none), MPI communicates through UCX, its own TCP
    code or another library. In this case the value contains no provider.
    """
    approach = APPROACHES[settings.approach]
    return 'approach=%s container=%s libmpi=%s libfabric=%s pmi=%s provider=%s' % (
        settings.approach,
        'yes' if approach['container'] else 'no',
        approach['comes_from']['libmpi'],
        settings.stack.libfabric_owner,
        settings.stack.pmi,
        settings.stack.provider or '',
    )


def list_tool_variables(settings: Settings) -> List[Tuple[str, str, str]]:
    """
    Return [(name, value, command)] of the variables that configure this project's commands.

    command: name of the command that reads the variable.
    """
    container, environment = settings.container, settings.environment
    variables = [('OSU_PROMISE', format_expectation(settings), 'proof')]
    if settings.stack.launcher != DEFAULT_LAUNCHER:
        variables.append(('OSU_LAUNCHER', settings.stack.launcher, 'osu-proof'))
    if environment.gpu_map:
        variables += [
            (
                'OSU_GPU_MAP',
                ' '.join(
                    '%d:%s:%s' % (gpu['gcd'], gpu['mask'], gpu['nic'])
                    for gpu in environment.gpu_map
                ),
                'osu-gpu-bind',
            ),
            (
                'OSU_GPU_VARIABLES',
                ' '.join(
                    '%s=%s' % (entry['name'], entry['value'])
                    for entry in environment.rank_variables
                ),
                'osu-gpu-bind',
            ),
        ]
    if container.host_path:
        variables.append(('OSU_SWAP_PATH', ':'.join(container.host_path), 'the entrypoint'))
    return variables


def create_module_folder(folder: str, settings: Settings, sif: str, runtime: str) -> Dict[str, str]:
    """
    Create a folder with the commands of a module, and return the module's variables.

    The variables are {name: value}. `sif` is the path of the image, and `runtime` is the command of
    the container runtime. Raises OSError.
    """
    root = Path(folder)
    for below in ('bin', 'libexec', 'proof'):
        (root / below).mkdir(parents=True)
    for name, text in render_command_files(settings, os.path.abspath(sif), runtime).items():
        if text:
            (root / name).write_text(text, encoding='utf-8')
    links = {
        'bin/osu-gpu-bind': SCRIPTS + '/osu-gpu-bind',
        'libexec/share-container': SCRIPTS + '/share-container',
        'proof/osu_container': str(PACKAGE),
        'proof/scripts': SCRIPTS,
    }
    links.update(
        ('bin/' + command, SCRIPTS + '/run-in-container')
        for command in [*settings.programs, 'osu-exec']
    )
    for name, target in links.items():
        (root / name).symlink_to(target)
    variables = {
        variable['name']: variable['value']
        for variable in settings.environment.variables
        if variable['name'] not in os.environ
    }
    variables.update((name, value) for name, value, _ in list_tool_variables(settings))
    return {
        **variables,
        'OSU_MODULE_ROOT': folder,
        **dict(launching.list_pmi_variables(settings.stack.launcher, settings.stack.pmi)),
    }

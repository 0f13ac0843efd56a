"""
Settings -> text of the file call-settings, from which bin/run-in-container takes what each command
gets.

The module sets the same for who calls the container runtime directly. What a user or another module
exports replaces the variables of the module; it never replaces this file. Lines are KEY VALUE; the
reasons are in the module file and in settings.json.
"""

import os

from osu_container.data.approaches import APPROACHES
from osu_container.data.launchers import DEFAULT_LAUNCHER
from osu_container.verdict import launching
from osu_container.verdict.injection import render_injection

NAME = 'call-settings'
HEAD = """# Read by bin/run-in-container at each call; osu-explain prints the reason and source of each.
# The same as in the module, so that no variable that is exported takes it away. Written by EasyBuild: do not edit.
"""


def render_call_settings(settings, sif, runtime_command, wrapped=False):
    """
    Return the text of the file call-settings.

    :param settings: Settings
    :param sif: str, file name of the image in the installation
    :param runtime_command: str, command of the container runtime
    :param wrapped: bool, lumi-container-wrapper made wrappers in the installation
    """
    rows = [
        ('image', sif),
        ('image_folders', ' '.join(settings.load_checks.image_folders)),
        ('runtime', runtime_command),
        ('prefix', settings.container.env_prefix),
        ('pmi', '%s %s' % (settings.stack.pmi, settings.stack.pmi_variable or '')),
        ('nv', '1' if settings.container.needs_nvidia else ''),
        ('start', 'run' if settings.container.uses_entrypoint else ''),
        ('local_sizes', ' '.join(launching.list_local_size_variables())),
        ('share', '1' if settings.container.shares_container else ''),
        (
            'apart',
            ' '.join(
                '%(name)s=%(value)s' % entry for entry in settings.container.separate_variables
            ),
        ),
        ('wrappers', os.path.join('wrappers', 'bin') if wrapped else ''),
        ('files', format_run_files(settings)),
    ]
    rows += [('bind', format_bind(*bind[:2])) for bind in settings.container.binds]
    for key, entries in (
        ('default', settings.environment.variables),
        ('inside', settings.environment.command_variables),
    ):
        rows += [(key, '%(name)s=%(value)s' % entry) for entry in entries]
    if settings.container.host_path:
        rows.append(('default', 'OSU_SWAP_PATH=' + ':'.join(settings.container.host_path)))
    rows.append(('default', 'OSU_PROMISE=' + format_expectation(settings)))
    return HEAD + ''.join('%s %s\n' % row for row in rows if row[1])


def format_bind(path, target):
    """Return a bind (str) as the runtime takes it."""
    return path if path == target else '%s:%s' % (path, target)


def render_module_injection(settings, sif=''):
    """
    Return the text (str) of the file that puts the host's libraries in front; sif: str, the
    image's file name.
    """
    inside = settings.container
    return render_injection(
        inside.library_path,
        inside.preload,
        (inside.user_path or []) + inside.program_path,
        [entry['name'] for entry in settings.environment.unset_variables],
        sif,
        [(entry['name'], entry['value']) for entry in inside.exported_variables],
    )


def format_run_files(settings):
    """
    Return the files that are bound on the node where they exist (str):
    SOURCE:TARGET[|NAME=VALUE...], by commas.
    """
    return ','.join(
        '|'.join(
            ['%s:%s' % (entry['path'], entry['target'])]
            + ['%s=%s' % item for item in sorted(entry['otherwise'].items())]
        )
        for entry in settings.container.run_files
    )


def format_expectation(settings):
    """
    Return what a module promises to osu-proof (str).

    libfabric=none: the image's MPI sends by something else (UCX, TCP of its own), so no provider is
    promised either.
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


def list_tool_variables(settings):
    """
    Return [(name, value, of what)] of the variables by which a module tells this project's own
    commands.
    """
    found = [('OSU_PROMISE', format_expectation(settings), 'osu-proof')]
    if settings.stack.launcher != DEFAULT_LAUNCHER:
        found.append(('OSU_LAUNCHER', settings.stack.launcher, 'osu-proof'))
    if settings.environment.gpu_map:
        found += [
            (
                'OSU_GPU_MAP',
                ' '.join(
                    '%d:%s:%s' % (gpu['gcd'], gpu['mask'], gpu['nic'])
                    for gpu in settings.environment.gpu_map
                ),
                'osu-gpu-bind',
            ),
            (
                'OSU_GPU_VARIABLES',
                ' '.join(
                    '%s=%s' % (entry['name'], entry['value'])
                    for entry in settings.environment.rank_variables
                ),
                '',
            ),
        ]
    if settings.container.host_path:
        found.append(('OSU_SWAP_PATH', ':'.join(settings.container.host_path), 'the entrypoint'))
    return found

"""
Create the files of a module in the folder of a run, with links instead of copies.

This module uses only Python 3.6 and its standard library.
"""

import os
from typing import Dict

from osu_container.base.places import PACKAGE, SCRIPTS
from osu_container.install import call_settings
from osu_container.verdict import injection, launching
from osu_container.verdict.settings import Settings


def create_module_folder(folder: str, settings: Settings, sif: str, runtime: str) -> Dict[str, str]:
    """
    Create a folder with the commands of a module, and return the module's variables.

    The variables are {name: value}. `sif` is the path of the image, and `runtime` is the command of
    the container runtime. Raises OSError.
    """
    for below in ('bin', 'libexec', 'proof'):
        os.makedirs(os.path.join(folder, below))
    texts = {
        call_settings.NAME: call_settings.render_call_settings(
            settings, os.path.abspath(sif), runtime
        ),
        injection.NAME: call_settings.render_module_injection(settings, os.path.basename(sif)),
    }
    for name, text in texts.items():
        if text:
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as handle:
                handle.write(text)
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
        os.symlink(target, os.path.join(folder, name))
    variables = {
        variable['name']: variable['value']
        for variable in settings.environment.variables
        if variable['name'] not in os.environ
    }
    variables.update(
        (name, value) for name, value, _ in call_settings.list_tool_variables(settings)
    )
    return dict(
        variables,
        OSU_MODULE_ROOT=folder,
        **dict(launching.list_pmi_variables(settings.stack.launcher, settings.stack.pmi)),
    )

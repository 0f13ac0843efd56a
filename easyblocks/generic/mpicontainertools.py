"""
EasyBuild support for installing the command osu-container, with its completion, for all users of a
site.
"""

import os
import shutil

from easybuild.framework.easyblock import EasyBlock
from easybuild.tools.build_log import EasyBuildError

# The clone is where this file really lies: EasyBuild and `make lumi` link to it
CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
#: What the command reads. Everything else of a clone is for who changes it
FOLDERS = ('container-recipes', 'easyblocks', 'easyconfigs', 'osu_container', 'scripts')
FILES = ('LICENSE', 'README.md')


class MPIContainerTools(EasyBlock):
    """Copy the command and what it reads out of the clone that this file is part of."""

    def configure_step(self):
        """Nothing: it is Python."""

    def build_step(self):
        """Nothing: it is Python."""

    def install_step(self):
        """Copy what the command reads. Raises EasyBuildError where this file is not in a clone."""
        missing = [
            name for name in FOLDERS + FILES if not os.path.exists(os.path.join(CLONE, name))
        ]
        if missing:
            raise EasyBuildError(
                "%s is not in a clone of the project: %s has no %s. Name the easyblock in its clone "
                "(EASYBUILD_INCLUDE_EASYBLOCKS); what pip installs has the command already",
                os.path.realpath(__file__),
                CLONE,
                ', '.join(missing),
            )
        leave = shutil.ignore_patterns('__pycache__', '*.pyc', '*.eb.bak_*')
        for name in FOLDERS:
            # links stay links: commands of several easyconfigs are one file
            shutil.copytree(
                os.path.join(CLONE, name),
                os.path.join(self.installdir, name),
                symlinks=True,
                ignore=leave,
            )
        for name in FILES:
            shutil.copy(os.path.join(CLONE, name), self.installdir)
        completion = os.path.join(self.installdir, 'share', 'bash-completion', 'completions')
        os.makedirs(completion)
        shutil.copy(
            os.path.join(CLONE, 'scripts', 'completion.bash'),
            os.path.join(completion, 'osu-container'),
        )

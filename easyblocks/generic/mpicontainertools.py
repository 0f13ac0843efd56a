"""EasyBuild support for installing the command osu-container for all users of a site."""

import os
import shutil

from easybuild.framework.easyblock import EasyBlock
from easybuild.tools.build_log import EasyBuildError

#: The clone that has this file: EasyBuild and `make lumi` link to it
CLONE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
#: Folders and files that the command needs
FOLDERS = ('container-recipes', 'easyblocks', 'easyconfigs', 'osu_container', 'scripts')
FILES = ('LICENSE', 'README.md')


class MPIContainerTools(EasyBlock):
    """
    Install the command osu-container from a clone of the project.

    All files that the command needs are copied from the clone.
    """

    def configure_step(self) -> None:
        """
        Do nothing.

        Overridden because osu-container is a Python program, which needs no configuration.
        """

    def build_step(self) -> None:
        """
        Do nothing.

        Overridden because osu-container is a Python program, which needs no compilation.
        """

    def install_step(self) -> None:
        """
        Copy the files of the command osu-container from a clone of the project.

        Overridden because the project has no build system that could install the files. Raises
        EasyBuildError if this easyblock is not in a clone.
        """
        missing = [
            name for name in FOLDERS + FILES if not os.path.exists(os.path.join(CLONE, name))
        ]
        if missing:
            raise EasyBuildError(
                'the easyblock %s is not in a clone of osu-container: %s has no %s. Add the path '
                'of the easyblock in a clone to EASYBUILD_INCLUDE_EASYBLOCKS. If you installed '
                'osu-container with pip, the command osu-container is already installed',
                os.path.realpath(__file__),
                CLONE,
                ', '.join(missing),
            )
        ignore = shutil.ignore_patterns('__pycache__', '*.pyc', '*.eb.bak_*')
        for name in FOLDERS:
            # Links stay links: several easyconfigs share a file.
            shutil.copytree(
                os.path.join(CLONE, name),
                os.path.join(self.installdir, name),
                symlinks=True,
                ignore=ignore,
            )
        for name in FILES:
            shutil.copy(os.path.join(CLONE, name), self.installdir)
        os.makedirs(os.path.join(self.installdir, 'bin'))
        os.symlink(
            os.path.join('..', 'scripts', 'osu-container'),
            os.path.join(self.installdir, 'bin', 'osu-container'),
        )
        completion = os.path.join(self.installdir, 'share', 'bash-completion', 'completions')
        os.makedirs(completion)
        shutil.copy(
            os.path.join(CLONE, 'scripts', 'completion.bash'),
            os.path.join(completion, 'osu-container'),
        )

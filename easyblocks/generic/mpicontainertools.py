"""EasyBuild support for installing the command osu-container for all users of a site."""

import shutil
from pathlib import Path

from easybuild.framework.easyblock import EasyBlock
from easybuild.tools.build_log import EasyBuildError

#: The clone that has this file: EasyBuild and `make lumi` link to it
CLONE = Path(__file__).resolve().parents[2]
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
        missing = [name for name in FOLDERS + FILES if not (CLONE / name).exists()]
        if missing:
            raise EasyBuildError(
                'the easyblock %s is not in a clone of osu-container: %s has no %s. Add the path '
                'of the easyblock in a clone to EASYBUILD_INCLUDE_EASYBLOCKS. If you '
                'installed osu-container with pip, you do not need the easyblock: pip has '
                'installed the command osu-container',
                Path(__file__).resolve(),
                CLONE,
                ', '.join(missing),
            )
        target = Path(self.installdir)
        ignore = shutil.ignore_patterns('__pycache__', '*.pyc', '*.eb.bak_*')
        for name in FOLDERS:
            # Links stay links: several easyconfigs share a file.
            shutil.copytree(str(CLONE / name), str(target / name), symlinks=True, ignore=ignore)
        for name in FILES:
            shutil.copy(str(CLONE / name), self.installdir)
        completions = target / 'share' / 'bash-completion' / 'completions'
        for folder in (target / 'bin', completions):
            folder.mkdir(parents=True)
        (target / 'bin' / 'osu-container').symlink_to('../scripts/osu-container')
        shutil.copy(str(CLONE / 'scripts/completion.bash'), str(completions / 'osu-container'))

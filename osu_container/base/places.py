"""
Locate the parts of this project.

Python 3.6: EasyBuild and commands that run on any node import it.
"""

import os
import site
import sys
from pathlib import Path

#: The clone that contains this package; after an installation by pip, the folder site-packages
PROJECT = Path(__file__).resolve().parent.parent.parent
#: Folder of the package
PACKAGE = PROJECT / 'osu_container'
#: Set-up of the workstation: Python environment, private Slurm, images
STATE = PROJECT / '.workstation'


def find_project_path(name: str) -> Path:
    """Return a path of the clone; pip puts scripts/ and container-recipes/ into the package."""
    path = PROJECT / name
    return path if path.exists() else PACKAGE / name.replace('-recipes', '_recipes', 1)


#: Scripts that an installation copies
SCRIPTS = str(find_project_path('scripts'))


def find_easyconfigs() -> str:
    """
    Return the folder of this project's easyconfigs.

    In a clone this is easyconfigs/. pip installs the files where EasyBuild searches the easyconfigs
    of packages (easybuild.tools.robot, get_paths_for: easybuild/easyconfigs below sys.prefix).
    """
    subfolder = os.path.join('easybuild', 'easyconfigs')
    places = [str(PROJECT / 'easyconfigs')]
    places += [os.path.join(root, subfolder) for root in (sys.prefix, site.USER_BASE) if root]
    return next(
        (place for place in places if os.path.isdir(os.path.join(place, 'o', 'osu-container'))),
        places[0],
    )

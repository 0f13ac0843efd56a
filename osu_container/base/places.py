"""
Locate the folders of this project, in a clone or after an installation with pip.

This module uses Python 3.6 syntax, because EasyBuild and the commands on compute nodes import
places.py.
"""

import os
import site
import sys
from pathlib import Path

#: Folder that contains the package: the clone, or site-packages after an installation by pip
PROJECT = Path(__file__).resolve().parent.parent.parent
#: Folder of the package osu_container
PACKAGE = PROJECT / 'osu_container'
#: Folder of the workstation's test set-up: Python environment, private Slurm, images
STATE = PROJECT / '.workstation'


def find_project_path(name: str) -> Path:
    """
    Return the absolute path of the file or folder `name` of this project.

    name: path relative to the clone. After an installation with pip, the folders scripts/ and
    container-recipes/ are inside the package.
    """
    path = PROJECT / name
    return path if path.exists() else PACKAGE / name.replace('-recipes', '_recipes', 1)


#: Folder of the scripts that EasyBuild copies into an installed module
SCRIPTS = str(find_project_path('scripts'))


def find_easyconfigs() -> str:
    """
    Return the path of the folder that contains this project's easyconfigs.

    In a clone, the result is the folder easyconfigs/. pip installs the easyconfigs to the folder
    easybuild/easyconfigs below sys.prefix, and EasyBuild searches easybuild/easyconfigs below
    sys.prefix (get_paths_for() in easybuild.tools.robot).
    """
    subfolder = os.path.join('easybuild', 'easyconfigs')
    places = [str(PROJECT / 'easyconfigs')]
    places += [os.path.join(root, subfolder) for root in (sys.prefix, site.USER_BASE) if root]
    return next(
        (place for place in places if os.path.isdir(os.path.join(place, 'o', 'osu-container'))),
        places[0],
    )

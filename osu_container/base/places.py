"""
Where things of this project lie. Python 3.6: commands that run on any node, and EasyBuild, ask
for it.
"""

import os
import site
import sys
from pathlib import Path

#: The clone that this package is part of; where the package was installed by pip, the folder that
#: it lies in
PROJECT = Path(__file__).resolve().parent.parent.parent
#: The package
PACKAGE = PROJECT / 'osu_container'
#: What the set-up of a workstation has made: Python environment, private Slurm, images
STATE = PROJECT / '.workstation'
#: What an installation copies: the scripts of a clone; pip puts them into the package
SCRIPTS = str(next(place for place in (PROJECT / 'scripts', PACKAGE / 'scripts') if place.is_dir()))


def find_easyconfigs():
    """
    Return the folder (str) of this project's easyconfigs.

    In a clone it is easyconfigs/; pip puts the files where EasyBuild looks for those of packages
    (easybuild.tools.robot, get_paths_for: easybuild/easyconfigs below the prefix of Python).
    """
    below = os.path.join('easybuild', 'easyconfigs')
    places = [str(PROJECT / 'easyconfigs')]
    places += [os.path.join(root, below) for root in (sys.prefix, site.USER_BASE) if root]
    return next(
        (place for place in places if os.path.isdir(os.path.join(place, 'o', 'osu-container'))),
        places[0],
    )

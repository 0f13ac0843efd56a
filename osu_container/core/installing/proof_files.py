"""
The sampler and the command osu-proof, which a module holds itself: it must work where the clone is gone.
"""
import os
import shutil

#: Files of the clone, which keep their places below the folder proof of an installation
FOLDER = 'proof'
COMMAND = 'osu-proof'
_PACKAGE = os.path.join('osu_container', 'proof')
_MORE = (os.path.join('osu_container', '__init__.py'), os.path.join('osu_container', 'rank-proof'),
         os.path.join('easyblocks', 'generic', 'core/reading/libraries.py'),
         os.path.join('easyblocks', 'generic', 'core/data/approaches.py'))


def clone():
    """Return the folder (str) of the clone that this file is part of, None if it is a copy without one."""
    root = os.path.realpath(__file__)
    for _ in range(3):
        root = os.path.dirname(root)
    return root if os.path.isdir(os.path.join(root, _PACKAGE)) else None


def install_proof(folder):
    """
    Copy the files into the folder proof of an installation and link the command in its bin.

    :param folder: str, the installation
    :return: bool, False where these easyblocks are a copy without their clone
    """
    root = clone()
    if root is None:
        return False
    names = [os.path.join(_PACKAGE, name) for name in sorted(os.listdir(os.path.join(root, _PACKAGE)))]
    for name in list(_MORE) + [name for name in names if os.path.isfile(os.path.join(root, name))]:
        target = os.path.join(folder, FOLDER, name)
        if not os.path.isdir(os.path.dirname(target)):
            os.makedirs(os.path.dirname(target))
        shutil.copyfile(os.path.join(root, name), target)
        runs = os.access(os.path.join(root, name), os.X_OK)
        os.chmod(target, 0o755 if runs else 0o644)
    os.symlink(os.path.join('..', FOLDER, _PACKAGE, COMMAND), os.path.join(folder, 'bin', COMMAND))
    return True

"""
The sampler and the command osu-proof, which a module holds itself: it must work where the clone is gone.
"""
import os
import shutil

#: Folder of an installation with the files, which keep the places that they have in the package
FOLDER = 'proof'
COMMAND = 'osu-proof'
#: The package, which the names below are relative to
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_NAME = os.path.basename(_PACKAGE)
#: What the files of proof/ import, and what starts them
_MORE = ('__init__.py', 'rank-proof', 'core/__init__.py', 'core/data/__init__.py', 'core/data/approaches.py',
         'core/reading/__init__.py', 'core/reading/libraries.py')


def install_proof(folder):
    """
    Copy the files into the folder proof of an installation and link the command in its bin.

    :param folder: str, the installation
    Raises OSError if a file cannot be read or written.
    """
    proof = os.path.join(_PACKAGE, 'proof')
    names = [os.path.join('proof', name) for name in sorted(os.listdir(proof))]
    for name in list(_MORE) + [name for name in names if os.path.isfile(os.path.join(_PACKAGE, name))]:
        source, target = os.path.join(_PACKAGE, name), os.path.join(folder, FOLDER, _NAME, name)
        if not os.path.isdir(os.path.dirname(target)):
            os.makedirs(os.path.dirname(target))
        shutil.copyfile(source, target)
        os.chmod(target, 0o755 if os.access(source, os.X_OK) else 0o644)
    os.symlink(os.path.join('..', FOLDER, _NAME, 'proof', COMMAND), os.path.join(folder, 'bin', COMMAND))

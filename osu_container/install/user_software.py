"""
Create the folder for software that the user adds to a container.

The path of the folder is user-software in the installation and /user-software in the container.
Both paths have the same names in LUMI's container modules
(github.com/Lumi-supercomputer/LUMI-EasyBuild-containers 2382fef7, PyTorch 2.7.1; LUMI-SoftwareStack
02f17317, LMOD/SitePackage.lua).

The command make-squashfs packs the folder user-software into the file user-software.squashfs. Then
the module mounts user-software.squashfs at /user-software in place of the folder. Only modules with
the command make-squashfs have the folder user-software.
"""

import os
import shutil
import subprocess
from typing import Dict, List, Optional, Tuple

COMMAND, UNDO = 'make-squashfs', 'unmake-squashfs'
FOLDER = 'user-software'
#: Files of the user in an installation, which another installation in its place keeps; the folder
#: last
PRESERVED_NAMES = (FOLDER + '.squashfs', FOLDER)
CONTAINER_FOLDER = '/user-software'
VENV = CONTAINER_FOLDER + '/venv'

#: Script for the image's Python that creates a virtual environment on top of its packages. Created
#: within another environment it would see only the packages of the system's Python, so a .pth adds
#: those of the other environment. pip is a script, because Debian's Python has no ensurepip.
_MAKE_VENV = r'''
import glob, os, sys, sysconfig, venv
target = sys.argv[1]
venv.create(target, system_site_packages=True, symlinks=True, with_pip=False)
packages, = glob.glob(target + '/lib/python*/site-packages')
if sys.prefix != sys.base_prefix:
    with open(packages + '/image.pth', 'w') as handle:
        handle.write(''.join(sorted({sysconfig.get_path(name) + '\n' for name in ('purelib', 'platlib')})))
for name in ('pip', 'pip3'):
    with open(target + '/bin/' + name, 'w') as handle:
        # of the Python that comes first: the user may have put an environment of his own in front
        handle.write('#!/bin/sh\nexec python3 -m pip "$@"\n')
    os.chmod(target + '/bin/' + name, 0o755)
'''


def make_user_folder(
    installation: str, runtime: str, image: str, programs: Dict[str, str]
) -> Tuple[List[str], Optional[str]]:
    """
    Create the folder user-software and the command unmake-squashfs in an installation.

    runtime: command of the container runtime. image: path of the image. programs: {name: folder in
    the image} of the commands of the module. If `programs` contains the image's Python, the
    function also creates a virtual environment in the folder user-software.

    Returns (folders, reason). folders: folders in the container that the module prepends to PATH.
    reason: why the virtual environment could not be created, otherwise None.
    """
    folder = os.path.join(installation, FOLDER)
    os.makedirs(folder)
    os.symlink(COMMAND, os.path.join(installation, 'bin', UNDO))
    python = next((name for name in ('python3', 'python') if name in programs), None)
    if not python:
        return [CONTAINER_FOLDER + '/bin'], None
    proc = subprocess.run(
        [
            runtime,
            '--quiet',
            'exec',
            '--bind',
            '%s:%s' % (folder, CONTAINER_FOLDER),
            image,
            '%s/%s' % (programs[python], python),
            '-c',
            _MAKE_VENV,
            VENV,
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    output = proc.stdout.strip()
    if proc.returncode:
        shutil.rmtree(os.path.join(folder, 'venv'), ignore_errors=True)
        return [CONTAINER_FOLDER + '/bin'], output[-500:] or 'exit code %d' % proc.returncode
    return [VENV + '/bin', CONTAINER_FOLDER + '/bin'], None

"""
Software of the user in a container: the folder user-software of an installation, /user-software in
the container.

As LUMI's container modules have it (github.com/Lumi-supercomputer/LUMI-EasyBuild-containers
2382fef7, PyTorch 2.7.1; LUMI-SoftwareStack 02f17317, LMOD/SitePackage.lua): make-squashfs packs the
folder into the file user-software.squashfs, which is then mounted in its place. A module that has
the command make-squashfs has the folder.
"""

import os
import shutil
import subprocess

COMMAND, UNDO = 'make-squashfs', 'unmake-squashfs'
FOLDER = 'user-software'
#: What is the user's in an installation, and outlives it when the same is installed again; the
#: folder last
PRESERVED_NAMES = (FOLDER + '.squashfs', FOLDER)
CONTAINER_FOLDER = '/user-software'
VENV = CONTAINER_FOLDER + '/venv'

#: Run by the image's Python: a virtual environment on top of its packages. One that is made in
#: another one sees the packages of the system's Python alone, so those of the first come in by a
#: .pth; pip comes without ensurepip, which Debian has not.
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


def make_user_folder(installation, runtime, image, programs):
    """
    Make the folder in an installation (str, path), and the second name of its command.

    There is a virtual environment in it if the image's Python is a command of the module.

    :param runtime: str, command of the container runtime; image: str, path of the SIF
    :param programs: dict name -> folder in the image
    :return: (folders in the container that come first on PATH (list of str), why there is no
        virtual environment (str) or None)
    """
    folder = os.path.join(installation, FOLDER)
    os.makedirs(folder)
    os.symlink(COMMAND, os.path.join(installation, 'bin', UNDO))
    python = next((name for name in ('python3', 'python') if name in programs), None)
    if not python:
        return [CONTAINER_FOLDER + '/bin'], None
    proc = subprocess.Popen(
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
    said = proc.communicate()[0].strip()
    if proc.returncode:
        shutil.rmtree(os.path.join(folder, 'venv'), ignore_errors=True)
        return [CONTAINER_FOLDER + '/bin'], said[-500:] or 'exit code %d' % proc.returncode
    return [VENV + '/bin', CONTAINER_FOLDER + '/bin'], None

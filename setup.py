"""
`pip install .` beside EasyBuild: the package, and easyblocks and easyconfigs where EasyBuild looks
for packaged ones.

A setup.py, because EasyBuild 4.9 runs on Python 3.6, whose newest setuptools reads no [project] of
pyproject.toml.
"""

import os
import re

from setuptools import find_packages, setup


def list_data_files(folder, target):
    """
    Return [(folder of the installation, [files])] of all files below folder (str), for
    data_files.
    """
    return [
        (
            os.path.join(target, os.path.relpath(place, folder)),
            [os.path.join(place, name) for name in sorted(names)],
        )
        for place, _, names in sorted(os.walk(folder))
        if names
    ]


def read_constant(name):
    """
    Return what the package says by a name (str), such as its version; it cannot be imported
    where pip builds it.
    """
    with open(os.path.join('osu_container', '__init__.py')) as handle:
        return re.search(rf"^{name} = '(.*)'$", handle.read(), re.M).group(1)


def read_extras():
    """
    Return {extra: [requirement]}: in requirements.txt the comment above a package begins with
    its extra.
    """
    found, extra = {}, None
    with open(os.path.join('osu_container', 'requirements.txt')) as handle:
        for line in handle:
            above = re.match(r'# (\w+): ', line)
            if above:
                extra = found.setdefault(above.group(1), [])
            elif not line.startswith('#'):
                extra.append(line.strip())
    return found


setup(
    name='osu-container',
    version=read_constant('__version__'),
    url=read_constant('REPOSITORY'),
    description='MPI containers as EasyBuild modules, with the OSU Micro-Benchmarks',
    license='MIT',
    python_requires='>=3.6',
    extras_require=read_extras(),
    packages=find_packages(include=['osu_container', 'osu_container.*'])
    + ['easybuild.easyblocks.generic', 'osu_container.scripts'],
    # EasyBuild itself owns the packages easybuild.easyblocks and .generic: only our modules are
    # added
    package_dir={
        'easybuild.easyblocks.generic': 'easyblocks/generic',
        'osu_container.scripts': 'scripts',
    },
    package_data={
        'osu_container': ['*', '*/*', '*/*/*', '*/*/*/*'],
        'osu_container.scripts': ['*'],
    },
    data_files=list_data_files('easyconfigs', os.path.join('easybuild', 'easyconfigs')),
    entry_points={'console_scripts': ['osu-container = osu_container.cli:command']},
)

"""CONTRIBUTING.md shows the house: every folder at the top and every package is there, and no other."""
import re
from pathlib import PurePosixPath

import pytest

from tests.helpers.machine import PROJECT, run


def tracked():
    """Return the paths (list of PurePosixPath) of all files that Git tracks."""
    done = run(['git', '-c', f'safe.directory={PROJECT}', '-C', PROJECT, 'ls-files', '-z'])
    assert done.returncode == 0, done.stderr
    return [PurePosixPath(name) for name in done.stdout.split('\0') if name]


def listed():
    """Return the rows (list of (folder, what changes there)) of the house in CONTRIBUTING.md."""
    house = (PROJECT / 'CONTRIBUTING.md').read_text().partition('\n## The house\n')[2].partition('\n## ')[0]
    return re.findall(r'^\| `([^`]+)/` \| (.+) \|$', house, re.M)


def test_the_house_has_every_folder_and_package_and_no_other():
    paths = tracked()
    folders = {path.parts[0] for path in paths if len(path.parts) > 1}
    packages = {str(path.parent) for path in paths if path.parts[0] == 'osu_container' and path.name == '__init__.py'}
    shown = [folder for folder, _ in listed()]
    assert len(set(shown)) == len(shown) > 20
    assert (folders | packages) - set(shown) == set(), 'not in CONTRIBUTING.md'
    assert set(shown) - (folders | packages) == set(), 'only in CONTRIBUTING.md'


@pytest.mark.parametrize('target', ['check-python', 'check-shell', 'check-modules', 'check-easyconfigs'])
def test_checks_of_style_pass(target):
    """The same targets that a person types, of which `make check` is made."""
    done = run(['make', '-C', PROJECT, target], timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]

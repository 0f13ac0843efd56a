"""A release: one version everywhere, citation that readers of such files take, and errors before anything is made."""
import json
import re
import shutil
import subprocess

import pytest
import yaml

from osu_container import REPOSITORY, __version__
from osu_container.results.references import described
from tests.helpers.machine import PROJECT, run

CITATION = PROJECT / 'CITATION.cff'


def test_the_version_is_the_same_everywhere():
    newest = re.search(r'^## \[(.+?)\]', (PROJECT / 'CHANGELOG.md').read_text(), re.M).group(1)
    assert {'changelog': newest, 'citation': str(yaml.safe_load(CITATION.read_text())['version']),
            'codemeta': json.loads((PROJECT / 'codemeta.json').read_text())['version']} == dict.fromkeys(
                ('changelog', 'citation', 'codemeta'), __version__)
    assert re.fullmatch(r'\d+\.\d+\.\d+', __version__)
    page = (PROJECT / 'docs' / 'release.md').read_text()
    assert set(re.findall(r'osu[-_]container-(\d[\d.]*\d)', page)) == {__version__}


def test_the_address_of_the_repository_is_the_same_everywhere():
    citation, codemeta = yaml.safe_load(CITATION.read_text()), json.loads((PROJECT / 'codemeta.json').read_text())
    assert (citation.get('repository-code', ''), codemeta.get('codeRepository', '')) == (REPOSITORY, REPOSITORY)


def test_every_published_dataset_has_its_licence_on_the_page():
    rows = (PROJECT / 'docs' / 'support.md').read_text().partition('\n## Licences\n')[2]
    for name, dataset in described().items():
        row = next(line for line in rows.splitlines() if f'`{name}.csv`' in line)
        assert dataset['licence'].partition(',')[0].partition(' found')[0].split()[0] in row or 'facts' in row, name


@pytest.fixture
def clone(tmp_path):
    """A repository (Path) of one commit, with what release.sh reads before it makes anything."""
    folder = tmp_path / 'clone'
    (folder / 'osu_container').mkdir(parents=True)
    shutil.copytree(PROJECT / 'workstation', folder / 'workstation')
    for name in ('CHANGELOG.md', 'osu_container/__init__.py'):
        shutil.copy(PROJECT / name, folder / name)
    git(folder, 'init', '-q')
    git(folder, 'add', '-A')
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'one')
    return folder


def git(folder, *words):
    """Run git in a folder (Path); it must succeed."""
    subprocess.run(['git', '-C', folder, *words], check=True)


def other_file(folder):
    (folder / 'notes').write_text('mine')
    return 'notes'


def changed_file(folder):
    (folder / 'CHANGELOG.md').write_text('## [1.0.0]\n')
    return 'CHANGELOG.md'


def no_repository(folder):
    shutil.rmtree(folder / '.git')
    return 'a release is made of a commit'


def no_heading(folder):
    (folder / 'CHANGELOG.md').write_text('# Changelog\n\n## [0.1.0]\n\n* nothing\n')
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', 'two')
    return f"no heading '## [{__version__}]'"


@pytest.mark.parametrize('fault', [other_file, changed_file, no_repository, no_heading])
def test_what_cannot_be_released_is_told_before_anything_is_made(clone, fault):
    said = fault(clone)
    done = run(['bash', clone / 'workstation' / 'release.sh'])
    assert done.returncode == 1 and done.stdout == '' and said in done.stderr, done.stdout + done.stderr
    assert done.stderr.startswith('release.sh: ') and not (clone / '.workstation').exists()

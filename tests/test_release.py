"""A release: one version everywhere, citation that readers of such files take, and errors before anything is made."""
import json
import re
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from osu_container import REPOSITORY, __version__
from osu_container.results.references import described
from tests.helpers.machine import PROJECT, run

CITATION = PROJECT / 'CITATION.cff'
#: What Citation File Format 1.2.0 asks of the keys that ours has; cffconvert 2.0.0 has found the file valid
CFF = {
    'type': 'object', 'additionalProperties': False,
    'required': ['cff-version', 'message', 'title', 'authors'],
    'properties': {
        'cff-version': {'const': '1.2.0'}, 'message': {'type': 'string', 'minLength': 1},
        'title': {'type': 'string', 'minLength': 1}, 'abstract': {'type': 'string', 'minLength': 1},
        'type': {'enum': ['software', 'dataset']}, 'version': {'type': 'string', 'minLength': 1},
        'license': {'const': 'MIT'},  # an identifier of SPDX
        'date-released': {'type': 'string', 'format': 'date'}, 'url': {'type': 'string', 'format': 'uri'},
        'repository-code': {'type': 'string', 'format': 'uri'},
        'keywords': {'type': 'array', 'minItems': 1, 'uniqueItems': True, 'items': {'type': 'string'}},
        'authors': {'$ref': '#/$defs/authors'},
        'references': {'type': 'array', 'items': {
            'type': 'object', 'required': ['type', 'title', 'authors'], 'additionalProperties': False,
            'properties': {'type': {'enum': ['software', 'article', 'website']}, 'title': {'type': 'string'},
                           'url': {'type': 'string', 'format': 'uri'}, 'authors': {'$ref': '#/$defs/authors'}}}}},
    '$defs': {'authors': {'type': 'array', 'minItems': 1, 'items': {
        'type': 'object', 'minProperties': 1, 'additionalProperties': False,
        'properties': {'name': {'type': 'string'}, 'family-names': {'type': 'string'},
                       'given-names': {'type': 'string'}, 'orcid': {'type': 'string'}}}}}}


def test_the_citation_is_a_citation_file():
    # dates stay text, as in JSON
    jsonschema.validate(yaml.load(CITATION.read_text(), yaml.BaseLoader), CFF)


def test_codemeta_is_json_of_the_same_software():
    ours, citation = json.loads((PROJECT / 'codemeta.json').read_text()), yaml.safe_load(CITATION.read_text())
    assert ours['@context'] == 'https://doi.org/10.5063/schema/codemeta-2.0' and ours['@type'] == 'SoftwareSourceCode'
    assert [one['name'] for one in ours['author']] == [one['name'] for one in citation['authors']]
    assert ours['license'].rpartition('/')[2] == citation['license'] and ours['keywords'] == citation['keywords']


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

"""A release: one version everywhere, citation that readers of such files take, and errors before anything is made.

What an older state of this project installed, measured and kept is read, listed and removed by this one.

The older one is a commit of the history: its own code installs and writes here.
"""

import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile

import pytest
import yaml

from osu_container import PLACEHOLDER, REPOSITORY, __version__
from osu_container.results.references import described
from tests.helpers.machine import PROJECT, STATE, EasyBuild, clean_shell, run

CITATION = PROJECT / 'CITATION.cff'


def test_the_version_is_the_same_everywhere():
    newest = re.search(r'^## \[(.+?)\]', (PROJECT / 'CHANGELOG.md').read_text(), re.M).group(1)
    assert {'changelog': newest, 'citation': str(yaml.safe_load(CITATION.read_text())['version']),
            'codemeta': json.loads((PROJECT / 'codemeta.json').read_text())['version']} == dict.fromkeys(
                ('changelog', 'citation', 'codemeta'), __version__)
    assert re.fullmatch(r'\d+\.\d+\.\d+', __version__)
    page = (PROJECT / 'docs' / 'support.md').read_text()
    assert set(re.findall(r'osu[-_]container-(\d[\d.]*\d)', page)) == {__version__}


def test_the_address_of_the_repository_is_the_same_everywhere():
    citation, codemeta = yaml.safe_load(CITATION.read_text()), json.loads((PROJECT / 'codemeta.json').read_text())
    assert (citation.get('repository-code', ''), codemeta['codeRepository']) == (REPOSITORY, REPOSITORY or PLACEHOLDER)


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


@pytest.mark.long
def test_a_release_has_the_address_of_the_repository_wherever_the_pages_have_a_placeholder(clone):
    """The archive and the wheel; the same commit gives the same bytes."""
    for name in ('README.md', 'CITATION.cff', 'codemeta.json', 'setup.py', 'osu_container/requirements.txt'):
        shutil.copy(PROJECT / name, clone / name)
    shutil.copytree(PROJECT / 'easyblocks', clone / 'easyblocks', ignore=shutil.ignore_patterns('__pycache__'))
    (clone / '.gitignore').write_text('/.workstation/\n')
    git(clone, 'add', '-A')
    git(clone, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'two')
    (clone / '.workstation').mkdir()
    (clone / '.workstation' / 'venv').symlink_to(STATE / 'venv')
    address, archives = 'https://git.example/osu/osu-container', []
    for _ in range(2):
        done = run(['bash', clone / 'workstation' / 'release.sh'],
                   env={**os.environ, 'RELEASES': '', 'REPOSITORY': address})
        assert done.returncode == 0, done.stdout + done.stderr
        archives.append((clone / f'.workstation/release/osu-container-{__version__}.tar.gz').read_bytes())
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as packed:
        texts = {member.name.partition('/')[2]: packed.extractfile(member).read().decode() for member in packed
                 if member.isfile() and member.name.endswith(('.md', '.json', '.cff', '.py'))}
    assert [name for name, text in texts.items() if PLACEHOLDER in text] == []
    assert f'git clone {address} ' in texts['README.md'] and ' is a placeholder' not in texts['README.md']
    assert json.loads(texts['codemeta.json'])['codeRepository'] == address
    assert yaml.safe_load(texts['CITATION.cff'])['repository-code'] == address
    wheel, = (clone / '.workstation' / 'release').glob('*.whl')
    with zipfile.ZipFile(wheel) as packed:
        name, = (name for name in packed.namelist() if name.endswith('/METADATA'))
        described = packed.read(name).decode()
    assert f'Home-page: {address}\n' in described and 'Provides-Extra: report' in described


#: The state of 2026-11-21: before there were releases, and before the Python code was one package
THEN = '34b29749257b2ce45d77d863b922f0ea328fdd6b'
PYTHON = STATE / 'venv' / 'bin' / 'python'
COMMAND = PROJECT / 'bin' / 'osu-container'
#: Writes a run of two modules, by the code of then
WRITE_RUN = """
import sys
from pathlib import Path
old, target = map(Path, sys.argv[1:])
sys.path[:0] = map(str, (old, old / 'easyblocks', old / 'tests'))
import results_data
results_data.make_run(target / results_data.RUN, approaches=('native', 'pure'), cases=results_data.CASES, repeats=2)
print(results_data.RUN)
"""


@pytest.fixture(scope='module')
def old(tmp_path_factory):
    """Folder (Path) with the files of then."""
    git = ['git', '-c', f'safe.directory={PROJECT}', '-C', str(PROJECT)]
    if run([*git, 'cat-file', '-e', THEN]).returncode:
        pytest.skip('no history here: the archive of a release, or a clone of the newest commits alone')
    folder = tmp_path_factory.mktemp('then')
    archive = subprocess.run([*git, 'archive', '--format=tar', THEN], stdout=subprocess.PIPE, check=True)
    subprocess.run(['tar', '-C', folder, '-xf', '-'], input=archive.stdout, check=True)
    return folder


def of_then(eb, old):
    """Let an EasyBuild work with the easyblocks and easyconfigs of then, and the local file that the set-up wrote."""
    eb.environment.update(EASYBUILD_INCLUDE_EASYBLOCKS=f'{old}/easyblocks/generic/*.py,{STATE}/local/*.py',
                          EASYBUILD_ROBOT_PATHS=str(old / 'easyconfigs'))


def of_now(eb):
    """Let an EasyBuild work with those of this project; the local file is still that of then."""
    eb.environment.update(
        EASYBUILD_INCLUDE_EASYBLOCKS=f'{PROJECT}/easyblocks/generic/*.py,{STATE}/local/*.py',
        EASYBUILD_ROBOT_PATHS=str(PROJECT / 'easyconfigs'))


@pytest.mark.apptainer
@pytest.mark.long
def test_installed_modules_run_are_listed_rebuilt_and_removed(old, tmp_path):
    eb = EasyBuild('newest', tmp_path / 'prefix')
    of_then(eb, old)
    done = eb('osu-container-pure.eb', 'osu-native.eb', '-r')
    assert done.returncode == 0, done.stdout[-3000:]
    settings = eb.prefix / 'software' / 'osu-container' / 'pure' / 'settings.json'
    before = settings.read_bytes()

    of_now(eb)
    done = eb('osu-container-pure.eb', '-r')
    assert done.returncode == 0 and 'already installed' in done.stdout and settings.read_bytes() == before
    path = f'export PATH={STATE}/bin:$PATH; module use {eb.prefix}/modules/all; module load osu-container/pure; '
    done = clean_shell(path + f'osu-explain && osu-exec true && {COMMAND} image verify --installed')
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(word in done.stdout for word in ('osu-container/pure on site workstation', 'FI_PROVIDER=tcp',
                                                f'osu-container/pure ({settings.parent})'))

    done = eb('osu-container-pure.eb', '-r', '--rebuild')
    assert done.returncode == 0, done.stdout[-3000:]
    assert json.loads(settings.read_text()) and settings.read_bytes() != before
    # The clone of these scripts has nothing to clean but the modules
    clean = tmp_path / 'clone'
    (clean / 'workstation').mkdir(parents=True)
    for name in ('clean.sh', 'common.sh', 'eb_folder.sh', 'slurm.sh'):
        (clean / 'workstation' / name).write_bytes((PROJECT / 'workstation' / name).read_bytes())
    done = run(['bash', clean / 'workstation' / 'clean.sh', '--modules'], env=eb.environment)
    assert done.returncode == 0 and 'osu-container/pure' in done.stdout and 'osu-native/' in done.stdout
    assert [name for name in eb.left_behind() if not (eb.prefix / name).is_dir()] == []


@pytest.mark.long
def test_results_of_an_older_release_are_read(old, tmp_path):
    done = run([PYTHON, '-c', WRITE_RUN, old, tmp_path / 'results'])
    assert done.returncode == 0, done.stderr
    name = done.stdout.strip()
    environment = dict(os.environ, OSU_CONTAINER_RESULTS=str(tmp_path / 'results'))
    kept = (tmp_path / 'results' / name / 'results.jsonl').read_bytes()
    for words in (('compare', name), ('report', name, '-o', str(tmp_path / 'report.html'))):
        done = run([COMMAND, *words], env=environment)
        assert done.returncode == 0, (words, done.stderr)
    assert name in (tmp_path / 'report.html').read_text()
    assert (tmp_path / 'results' / name / 'results.jsonl').read_bytes() == kept

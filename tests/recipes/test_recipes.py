"""Recipes: every source is pinned, what they render to builds, and what is checked in is current.

Rendering takes a few milliseconds, so every test looks at all files of all images; a failing one names its file.

Sums of Debian's sources: by the chain from a key, a signed release and its list to the file.
"""

import hashlib
import lzma
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from osu_container.core.data.sites import SITES
from osu_container.image import ImageError, build, catalogue, stages
from osu_container.image.catalogue import FAMILIES, IMAGES, SOURCES, published_rows, recipe_text
from osu_container.recipes import debian
from osu_container.recipes.common import OSU_BIN
from osu_container.recipes.debian import ListError
from osu_container.recipes.images import KEPT, RECIPES, RENDERED, file_names, render
from tests.helpers.machine import PROJECT, run

SHA256 = re.compile(r'\b[0-9a-f]{64}\b')
COMMAND = PROJECT / 'bin' / 'osu-container'

# What is pinned


@pytest.fixture(scope='module')
def texts():
    """Every definition file and Dockerfile of every image: file name -> text, as HPCCM renders it now."""
    return {file: render(name, kind, Path(file).suffix) for file, (name, kind) in file_names().items()}


@pytest.fixture(scope='module')
def definitions(texts):
    """Those of Apptainer only."""
    return {file: text for file, text in texts.items() if file.endswith('.def')}


def test_every_source_is_pinned():
    for key, source in SOURCES.items():
        if source['sha256'] is None:  # then it is said why, and the commit that the archive names stands in its place
            assert len(source['why']) > 20 and re.fullmatch(r'[0-9a-f]{12,40}', source['commit']), key
        else:
            assert SHA256.fullmatch(source['sha256']), key
        assert source['licence'] and source['name'] and source['version'], key
        assert source['url'] == 'PyPI' or re.fullmatch(r'https://\S+', source['url']), key
        assert not re.search(r'(heads/|(?<!/pool)/(main|master)[./])', source['url']), f'{key}: a branch moves'


def test_other_files_pin_the_same_sums():
    """An easyconfig cannot read versions.py, and a script need not; they must not differ from it."""
    ours = {source['sha256'] for source in SOURCES.values()}
    for easyconfig in PROJECT.glob('easyconfigs/*/*/*.eb'):
        wanted = [SOURCES['osu']['sha256']] if easyconfig.parent.name == 'osu-native' else []
        assert SHA256.findall(easyconfig.read_text()) == wanted, easyconfig.name
    assert set(SHA256.findall((PROJECT / 'workstation/host_mpi.sh').read_text())) <= ours


# What has a name

def test_entry_of_every_image_is_whole():
    for name, entry in IMAGES.items():
        assert entry['family'] in FAMILIES and (RECIPES / entry['recipe']).is_file(), name
        assert re.fullmatch(r'osu-[a-z0-9.+-]+', name) and entry['purpose'], name
        assert entry['minutes'] > 0 and entry['gigabytes'] > 0, name
        assert len(entry['base']) == 1 and set(entry['base']) <= {'debian', 'image', 'registry'}, name
        assert entry['base'].get('image', name) in IMAGES, name
        for variant in entry['variants'].values():
            for key in variant['sources']:
                assert key in SOURCES, (name, key)
            for file in variant['files']:
                assert (PROJECT / file).is_file(), (name, file)


def test_every_published_combination_has_one_image_and_the_three_defaults_are_marked():
    published = [entry['published'] for entry in IMAGES.values() if entry['published']]
    rows = published_rows()
    assert len(rows) == 12
    assert sorted(published) == sorted((row['libcxi'], row['libfabric'], row['mpich']) for row in rows)
    built = {(row['libcxi'], row['libfabric'], row['mpich']) for row in rows if row['built_by_default'] == 'yes'}
    assert {entry['published'] for entry in IMAGES.values() if entry['default']} == built and len(built) == 3


def test_image_of_a_site_is_in_the_catalogue():
    for site, entry in SITES.items():
        for file in entry.get('images', {'value': {}})['value'].values():
            assert file.endswith('.sif') and file[:-4] in IMAGES, (site, file)
    make = re.search(r'(?m)^IMAGE := (\S+)$', (PROJECT / 'Makefile').read_text()).group(1)
    assert {f'{make}.sif'} <= set(SITES['workstation']['images']['value'].values())


# What is rendered

def generator(project, *arguments):
    """Run the generator of a project's rendered files."""
    return subprocess.run([sys.executable, '-m', 'osu_container.generate', '--step', 'recipes', *arguments],
                          cwd=project, capture_output=True, text=True, timeout=300)


def test_checked_in_text_is_current():
    done = generator(PROJECT, '--check')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_what_is_checked_in_is_kept_and_a_dockerfile_is_one_that_a_page_builds():
    assert {path.name for path in RENDERED.iterdir()} == set(KEPT)
    pages = ''.join(path.read_text() for path in (PROJECT / 'docs').glob('*.md'))
    assert {file for file in KEPT if file.endswith('.Dockerfile')} == set(
        re.findall(r'container-recipes/rendered/(\S+\.Dockerfile)', pages))


def test_without_hpccm_what_is_checked_in_is_enough_and_the_rest_names_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, 'hpccm', None)  # what import raises for a module that is not there
    for file in KEPT:
        name, kind = file_names()[file]
        assert recipe_text(name, kind, Path(file).suffix) == (RENDERED / file).read_text()
    with pytest.raises(ImageError, match='written by HPCCM, and .* has none. Install it: `make python-env`, or:'):
        recipe_text('osu-workstation-mpich-5.0.2-libfabric-2.5.1', 'c')


def test_a_comment_makes_no_other_image(texts, monkeypatch):
    name = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
    text = texts[f'{name}.def']
    assert stages.sum_of('# another head\n' + text) == stages.sum_of(text) != stages.sum_of(text + '    true\n')
    versions = {SOURCES[key]['file']: SOURCES[key]['sha256'] for key in IMAGES[name]['variants']['c']['sources']}
    inputs = {'recipe': f'container-recipes/rendered/{name}.def', 'recipe-sha256': stages.sum_of(text),
              'recipe-version': catalogue.RECIPE_VERSION, 'sources': versions}
    assert build.looks_current(name, {'inputs': inputs})
    other = stages.sum_of(text + '    true\n')
    assert not build.looks_current(name, {'inputs': {**inputs, 'recipe-sha256': other}})
    assert not build.looks_current(name, {'inputs': {**inputs, 'recipe': 'osu-nobody.def'}})
    monkeypatch.setitem(sys.modules, 'hpccm', None)
    assert build.looks_current(name, {'inputs': inputs})


# What is in it


def test_every_source_is_checked_before_it_is_used(texts):
    by_file = {source['file']: source for source in SOURCES.values()}
    for file, text in texts.items():
        # a source may be copied into several stages, and each checks it
        for part in re.split(r'(?im)^(?=bootstrap: |from )', text)[1:]:
            copied = {name for name in re.findall(r'sources/(\S+)\s', part) if not name.endswith('.sif')}
            for name in copied:
                source = by_file[name]
                if source['sha256'] is None:
                    check = re.search(rf'{re.escape(name)}[^\n]* grep -aq "comment={source["commit"]}', part)
                else:
                    check = re.search(rf'echo "(\S+|{{{{ OSU_SHA256 }}}})  \S+/{re.escape(name)}" *\| *sha256sum -c',
                                      part)
                    assert not check or check.group(1) in (source['sha256'], '{{ OSU_SHA256 }}'), (file, name)
                assert check, f'{file}: {name} is used unchecked'
                if '{{ OSU_SHA256 }}' in check.group(0):
                    assert f"OSU_SHA256={source['sha256']}" in part, file
                uses = [found.start() for found in re.finditer(
                    rf'(?:zipfile -e|tar -x\S*|pip install|install -D)[^\n]* \S*{re.escape(name)}', part)]
                assert all(check.start() < use for use in uses), (file, name)


def test_definition_files_fall_into_stages_that_find_what_they_copy(definitions):
    archives = {source['file'] for source in SOURCES.values()}
    for path, text in definitions.items():
        found = stages.read(text, {})
        names = [stage.name for stage in found]
        assert len(set(names)) == len(names), path
        for number, stage in enumerate(found):
            assert set(stage.uses) <= set(names[:number]), (path, stage.name)
            assert '{{' not in stage.text, path
            for file in stage.files:
                assert (PROJECT / file).is_file() or file.rpartition('/')[2] in archives, (path, file)
        tested = [number for number, stage in enumerate(found) if stages.test_section(stage.text)]
        assert tested == [len(found) - 1], path


def test_the_benchmarks_are_in_one_folder_of_every_image(definitions, tmp_path):
    """Pages name /opt/osu/bin/osu_bw: that of the ports, and of the C programs, which are installed by their kinds."""
    in_c = [key for key, text in definitions.items() if 'make install' in text and '--prefix=/opt/osu' in text]
    assert in_c
    for key in in_c:
        assert all(command in definitions[key] for command in OSU_BIN), key
    folder = tmp_path / 'opt' / 'osu'
    for path in ('mpi/pt2pt/standard/osu_bw', 'mpi/collective/blocking/osu_bcast', 'xccl/pt2pt/osu_xccl_bw'):
        program = folder / 'libexec' / 'osu-micro-benchmarks' / path
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text('#!/bin/sh\necho "$0"\n')
        program.chmod(0o755)
    done = run(['bash', '-e', '-c', '\n'.join(OSU_BIN).replace('/opt/osu', str(folder))])
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (folder / 'bin').iterdir()} == {'osu_bw', 'osu_bcast', 'osu_xccl_bw'}
    assert run([folder / 'bin' / 'osu_bw']).returncode == 0


def test_images_are_tested_by_themselves(definitions):
    for file, definition in definitions.items():
        text = stages.test_section(stages.read(definition, {})[-1].text)
        assert 'set -e' in text and 'ldd' in text, file
        fails = IMAGES[file_names()[file][0]]['fails']
        if fails:
            missing = re.search(r'FABRIC_[\d.]+', fails).group(0)
            assert missing in text and 'mpiexec' not in text, file
        else:
            assert re.search(r'(mpiexec|mpirun)\S* .*-n(p)? 2 .*osu_latency', text), file


ELSEWHERE = [(r'/opt/rocm-[\d.]+\d', '/usr'), (r'(--with-hip-sm)=.*', r'\1=GPUS'),
             (r'(--with-libfabric)=.*', r'\1=LIBFABRIC')]


# What other programs say of it

def shell_texts(file, text):
    """Return [script] of everything in a rendered file that a shell runs."""
    if file.endswith('.Dockerfile'):
        return [line[4:] for line in text.replace('\\\n', ' ').splitlines() if line.startswith('RUN ')]
    return [body for stage in stages.read(text, {})
            for body in re.findall(r'(?ms)^%(?:post|test)\n(.*?)(?=^%|\Z)', stage.text)]


def test_shellcheck_has_nothing_to_say(texts, tmp_path):
    """Of each script once: the images have most of theirs in common. It names a file of all that have it."""
    scripts = {}
    for file, text in texts.items():
        found = shell_texts(file, text)
        assert found, file
        for script in found:
            scripts.setdefault(script, file)
    for number, (script, file) in enumerate(scripts.items()):
        # as Apptainer and Docker's && do
        (tmp_path / f'{file}-{number}.sh').write_text(f'#!/bin/sh -ex\n{script}\n')
    scripts = sorted(os.listdir(tmp_path))
    done = subprocess.run([Path(sys.executable).parent / 'shellcheck', '--severity=info', *scripts], cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def one_of_each(files):
    """Return of files (list of names) one for each recipe, choice of programs, and form that instructions depend on."""
    forms = {}
    for file in files:
        name, kind = file_names()[file]
        forms.setdefault((IMAGES[name]['recipe'], kind, 'libcxi' in name, 'cupy' in name, *IMAGES[name]['base']), file)
    return list(forms.values())


@pytest.mark.parametrize('choose', [one_of_each, pytest.param(list, marks=pytest.mark.full)])
def test_hadolint_has_nothing_to_say(texts, tmp_path, choose):
    files = choose([file for file in texts if file.endswith('.Dockerfile')])
    assert {IMAGES[file_names()[file][0]]['recipe'] for file in files} == {path.name for path in RECIPES.glob('*.py')}
    for file in files:
        (tmp_path / file).write_text(texts[file])
    done = subprocess.run([Path(sys.executable).parent / 'hadolint', '--config', RECIPES / '.hadolint.yaml',
                           *sorted(os.listdir(tmp_path))], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


TOTAL = 'b' * 64
SOURCES_LIST = f"""Package: mpich
Files:
 0123456789abcdef0123456789abcdef 2870 mpich_4.0.2-3.dsc
Checksums-Sha256:
 {'a' * 64} 2870 mpich_4.0.2-3.dsc
 {TOTAL} 21800484 mpich_4.0.2.orig.tar.xz
Homepage: https://www.mpich.org/
"""


@pytest.fixture(scope='module')
def archive(tmp_path_factory):
    """Two keyrings, and of a release signed by the key of the first: its files by their names (dict of bytes)."""
    if not shutil.which('gpg'):
        pytest.skip('gpg makes the keys')
    folder = tmp_path_factory.mktemp('lists')
    packed = lzma.compress(SOURCES_LIST.encode())
    release = f"Origin: Debian\nMD5Sum:\n {'0' * 32} 1 main/source/Sources.xz\nSHA256:\n " \
              f"{hashlib.sha256(packed).hexdigest()} {len(packed)} main/source/Sources.xz\n"
    rings = []
    for name in ('ours', 'other'):
        home = folder / name
        home.mkdir(mode=0o700)
        environment = {**os.environ, 'GNUPGHOME': str(home)}

        def gpg(*words, environment=environment, **more):
            return subprocess.run(['gpg', '--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', '',
                                   *words], env=environment, check=True, capture_output=True, **more).stdout
        gpg('--quick-gen-key', f'{name} <{name}@example.org>', 'ed25519', 'sign', 'never')
        rings.append(folder / f'{name}.gpg')
        rings[-1].write_bytes(gpg('--export'))
        if name == 'ours':
            signed = gpg('--clear-sign', input=release.encode())
        subprocess.run(['gpgconf', '--kill', 'gpg-agent'], env=environment, check=False)
    return rings, {'InRelease': signed, 'main/source/Sources.xz': packed}


def test_a_sum_is_found_through_the_signed_release(archive):
    (ours, _), files = archive
    assert debian.sums_of('trixie', files.get, ours)['mpich_4.0.2.orig.tar.xz'] == TOTAL


@pytest.mark.parametrize('change, message', [
    ('key', 'is not signed by a key of'), ('text', 'is not signed by a key of'),
    ('list', 'is not the one that is signed'),
])
def test_what_is_not_signed_is_refused(archive, change, message):
    (ours, other), files = archive
    changed = dict(files)
    if change == 'text':
        changed['InRelease'] = files['InRelease'].replace(b'Origin: Debian', b'Origin: Elsewhere')
    if change == 'list':
        changed['main/source/Sources.xz'] = lzma.compress(SOURCES_LIST.replace('b', 'c').encode())
    with pytest.raises(ListError, match=message):
        debian.sums_of('trixie', changed.get, other if change == 'key' else ours)


def test_a_release_without_the_list_is_said():
    with pytest.raises(ListError, match='no sha256 of main/source/Sources.xz'):
        debian.sum_in_release('Origin: Debian\n', debian.LIST)


def test_another_sum_and_a_missing_file_are_named():
    source = {'file': 'mpich_4.0.2.orig.tar.xz', 'sha256': TOTAL, 'debian': 'trixie'}
    assert debian.differences({'k': source}, {'trixie': {source['file']: TOTAL}}) == []
    changed, gone = (debian.differences({'k': source}, {'trixie': sums})[0]
                     for sums in ({source['file']: 'c' * 64}, {}))
    assert 'c' * 64 in changed and 'not there' in gone


@pytest.mark.full
def test_our_sums_are_those_of_debian():
    """Needs a Debian mirror and the keyring of Debian."""
    assert sum('debian' in source for source in SOURCES.values()) > 3
    assert debian.main() == 0

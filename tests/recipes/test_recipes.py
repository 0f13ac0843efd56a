"""Recipes: every source is pinned, what is checked in is what HPCCM renders, and it is what a person can build from."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from osu_container.image import stages
from osu_container.image.catalogue import FAMILIES, IMAGES, RECIPES, RENDERED, SOURCES, published_rows
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT

SHA256 = re.compile(r'\b[0-9a-f]{64}\b')
FILES = sorted(RENDERED.iterdir())
DEFINITIONS = [path for path in FILES if path.suffix == '.def']
VARIANTS = [(name, kind) for name, entry in IMAGES.items() for kind in entry['variants']]

# What is pinned


@pytest.mark.parametrize('key', SOURCES)
def test_source_is_pinned(key):
    source = SOURCES[key]
    if source['sha256'] is None:  # then it is said why, and the commit that the archive names stands in its place
        assert len(source['why']) > 20 and re.fullmatch(r'[0-9a-f]{12,40}', source['commit'])
    else:
        assert SHA256.fullmatch(source['sha256'])
    assert source['licence'] and source['name'] and source['version']
    assert source['url'] == 'PyPI' or re.fullmatch(r'https://\S+', source['url'])
    assert not re.search(r'(heads/|/(main|master)[./])', source['url']), 'a branch moves'


def test_no_two_sources_are_the_same():
    for field in ('file', 'sha256'):
        values = [source[field] for source in SOURCES.values() if source[field]]
        assert len(set(values)) == len(values)


def test_other_files_pin_the_same_sums():
    """An easyconfig cannot read versions.py, and a script need not; they must not differ from it."""
    ours = {source['sha256'] for source in SOURCES.values()}
    folder = PROJECT / 'easyconfigs/o/osu-native'
    port, *commands = (hashlib.sha256((folder / name).read_bytes()).hexdigest()
                       for name in ('osu-port', 'osu-gpu-bind', 'osu-explain'))
    for easyconfig in folder.glob('*.eb'):
        native = set(SHA256.findall(easyconfig.read_text()))
        assert native <= ours | {port, *commands}, easyconfig.name
        assert native >= {SOURCES['osu']['sha256'], *commands}, easyconfig.name
    assert port in (folder / 'osu-native.eb').read_text()
    assert set(SHA256.findall((PROJECT / 'workstation/host_mpi.sh').read_text())) <= ours


# What has a name

@pytest.mark.parametrize('name', IMAGES)
def test_entry_of_an_image_is_whole(name):
    entry = IMAGES[name]
    assert entry['family'] in FAMILIES and (RECIPES / entry['recipe']).is_file()
    assert re.fullmatch(r'(osu|alps)-[a-z0-9.+-]+', name) and entry['purpose']
    assert entry['minutes'] > 0 and entry['gigabytes'] > 0
    assert len(entry['base']) == 1 and set(entry['base']) <= {'debian', 'image', 'registry'}
    assert entry['base'].get('image', name) in IMAGES
    for variant in entry['variants'].values():
        for key in variant['sources']:
            assert key in SOURCES, key
        for file in variant['files']:
            assert (PROJECT / file).is_file(), file
        explained = {key for keys in variant['parts'].values() for key in keys}
        assert explained <= {*SOURCES, *variant['files']}
        assert all(path.startswith('/') for path in variant['parts'])


def test_no_source_is_there_for_nothing():
    used = {key for entry in IMAGES.values() for variant in entry['variants'].values() for key in variant['sources']}
    used |= {key for keys, _ in foreign_images.IMAGES.values() for key in keys}  # of tests
    # wheels of mpi4py for the Pythons of other machines: the native build and osu-port take them
    others = {key for key in SOURCES if re.fullmatch(r'mpi4py-3\.\d+', key)}
    assert set(SOURCES) - used - others == set()


def test_every_published_combination_has_one_image_and_the_three_defaults_are_marked():
    published = [entry['published'] for entry in IMAGES.values() if entry['published']]
    rows = published_rows()
    assert len(rows) == 12
    assert sorted(published) == sorted((row['libcxi'], row['libfabric'], row['mpich']) for row in rows)
    built = {(row['libcxi'], row['libfabric'], row['mpich']) for row in rows if row['built_by_default'] == 'yes'}
    assert {entry['published'] for entry in IMAGES.values() if entry['default']} == built and len(built) == 3


def test_image_of_a_site_is_in_the_catalogue():
    from osu_container.core.data.sites import SITES
    for site, entry in SITES.items():
        for file in entry.get('images', {'value': {}})['value'].values():
            assert file.endswith('.sif') and file[:-4] in IMAGES, (site, file)
    make = re.search(r'(?m)^IMAGE := (\S+)$', (PROJECT / 'Makefile').read_text()).group(1)
    assert {f'{make}.sif'} <= set(SITES['workstation']['images']['value'].values())


# What is rendered

def render(folder, *arguments):
    """Run the render command of a copy of the recipes."""
    return subprocess.run([sys.executable, folder / 'render', *arguments], capture_output=True, text=True, timeout=300)


def test_rendered_text_is_current():
    done = render(RECIPES, '--check')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_stale_and_orphaned_text_is_found_and_named(tmp_path):
    copy = tmp_path / 'container-recipes'
    shutil.copytree(RECIPES, copy, ignore=shutil.ignore_patterns('__pycache__'))
    wheel = SOURCES['mpich-4.2.3']['sha256']
    (copy / 'versions.py').write_text((copy / 'versions.py').read_text().replace(wheel, '0' * 64))
    (copy / 'rendered' / 'osu-nobody.def').write_text('')
    done = render(copy, '--check')
    assert done.returncode == 1
    name = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
    assert f'{name}.def, ' in done.stderr and f'{name}-ports.Dockerfile' in done.stderr
    assert 'osu-nobody.def' in done.stderr and 'Run osu_container/generate/recipe_files.py' in done.stderr
    assert 'mpich-4.3.2' not in done.stderr
    assert render(copy).returncode == 0
    assert render(copy, '--check').returncode == 0
    assert '0' * 64 in (copy / 'rendered' / f'{name}.def').read_text()


def test_two_files_are_rendered_for_every_variant_of_every_image():
    wanted = {f"{IMAGES[name]['variants'][kind]['rendered']}{suffix}"
              for name, kind in VARIANTS for suffix in ('.def', '.Dockerfile')}
    assert {path.name for path in FILES} == wanted and len(wanted) == 2 * len(VARIANTS)


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_header_says_what_is_in_the_image(path):
    header = re.match(r'(#.*\n)+', path.read_text()).group(0)
    for part in ('Contents:', 'Building', 'Running', f'rendered/{path.stem}.def', f'rendered/{path.stem}.Dockerfile'):
        assert part in header


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_labels_say_what_is_in_the_image(path):
    text = path.read_text()
    labels = dict(re.findall(r'\borg\.(osu-container\.[a-z-]+|opencontainers\.image\.[a-z]+)[ =]"?([^"\\\n]+)', text))
    for name in ('mpi', 'libfabric', 'libcxi', 'gpu', 'osu', 'recipe-version'):
        assert labels.get(f'osu-container.{name}'), name
    for name in ('title', 'version', 'licenses'):
        assert labels.get(f'opencontainers.image.{name}'), name
    assert path.suffix != '.def' or 'org.opencontainers.image.created' in text


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_every_source_is_checked_before_it_is_used(path):
    text = path.read_text()
    # a source may be copied into several stages, and each checks it
    for part in re.split(r'(?im)^(?=bootstrap: |from )', text)[1:]:
        copied = {name for name in re.findall(r'sources/(\S+)\s', part) if not name.endswith('.sif')}
        for name in copied:
            source = next(source for source in SOURCES.values() if source['file'] == name)
            if source['sha256'] is None:
                check = re.search(rf'{re.escape(name)}[^\n]* grep -aq "comment={source["commit"]}', part)
            else:
                check = re.search(rf'echo "(\S+|{{{{ OSU_SHA256 }}}})  \S+/{re.escape(name)}" *\| *sha256sum -c', part)
                assert not check or check.group(1) in (source['sha256'], '{{ OSU_SHA256 }}'), name
            assert check, f'{name} is used unchecked'
            if '{{ OSU_SHA256 }}' in check.group(0):
                assert f"OSU_SHA256={source['sha256']}" in part
            uses = [found.start() for found in re.finditer(
                rf'(?:zipfile -e|tar -x\S*|pip install|install -D)[^\n]* \S*{re.escape(name)}', part)]
            assert all(check.start() < use for use in uses), name


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_what_must_not_be_in_an_image_is_not(path):
    text = path.read_text()
    # LD_LIBRARY_PATH would stand before what a module injects; CXI_FORK_SAFE slows every small device message,
    # whatever its value (docs/approaches.md); a branch or a switched-off check is what we do not build from.
    for word in ('LD_LIBRARY_PATH=', 'CXI_FORK_SAFE', 'git clone', 'wget ', 'curl ', '--no-check-certificate',
                 'trusted=yes', '--allow-unauthenticated', ':latest', 'rocminfo'):
        assert word not in re.sub(r'(?m)^#.*$', '', text), word


@pytest.mark.parametrize('path', DEFINITIONS, ids=lambda path: path.name)
def test_definition_file_falls_into_stages_that_find_what_they_copy(path):
    found = stages.read(path.read_text(), {})
    names = [stage.name for stage in found]
    assert len(set(names)) == len(names)
    for number, stage in enumerate(found):
        assert set(stage.uses) <= set(names[:number]), stage.name
        assert '{{' not in stage.text
        for file in stage.files:
            name = file.rpartition('/')[2]
            assert (PROJECT / file).is_file() or any(source['file'] == name for source in SOURCES.values()), file
    tested = [number for number, stage in enumerate(found) if stages.test_section(stage.text)]
    # an image to build upon has no programs that could be tried
    assert tested == ([len(found) - 1] if path.name.startswith('osu-') else [])


@pytest.mark.parametrize('path', [path for path in DEFINITIONS if path.name.startswith('osu-')],
                         ids=lambda path: path.name)
def test_image_is_tested_by_itself(path):
    text = stages.test_section(stages.read(path.read_text(), {})[-1].text)
    assert 'set -e' in text and 'ldd' in text
    name = next(name for name, kind in VARIANTS if IMAGES[name]['variants'][kind]['rendered'] == path.stem)
    if IMAGES[name]['fails']:
        missing = re.search(r'FABRIC_[\d.]+', IMAGES[name]['fails']).group(0)
        assert missing in text and 'mpiexec' not in text
    else:
        assert re.search(r'(mpiexec|mpirun)\S* .*-n(p)? 2 .*osu_latency', text)


# What other programs say of it

def shell_texts(path):
    """Return [(name, script)] of everything in a rendered file that a shell runs."""
    if path.suffix == '.Dockerfile':
        lines = path.read_text().replace('\\\n', ' ').splitlines()
        return [(f'RUN {number}', line[4:]) for number, line in enumerate(lines) if line.startswith('RUN ')]
    found = []
    for stage in stages.read(path.read_text(), {}):
        for number, (section, body) in enumerate(re.findall(r'(?ms)^%(post|test)\n(.*?)(?=^%|\Z)', stage.text)):
            found.append((f'{stage.name} %{section} {number}', body))
    return found


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_shellcheck_has_nothing_to_say(path, tmp_path):
    scripts = []
    for number, (_, text) in enumerate(shell_texts(path)):
        script = tmp_path / f'{number}.sh'
        script.write_text(f'#!/bin/sh -ex\n{text}\n')  # as Apptainer and Docker's && do
        scripts.append(script)
    assert scripts
    done = subprocess.run([Path(sys.executable).parent / 'shellcheck', '--severity=info', *scripts],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_hadolint_has_nothing_to_say():
    done = subprocess.run([Path(sys.executable).parent / 'hadolint', '--config', RECIPES / '.hadolint.yaml',
                           *(path for path in FILES if path.suffix == '.Dockerfile')], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

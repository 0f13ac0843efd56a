"""osu-container image: finds, fetches, builds stage by stage, goes on after an interruption, and says what is wrong.

The builder runs for real here, with Apptainer, on images of a few megabytes that are made of this machine's own shell;
those of the catalogue are built in test_images_run.py.
"""

import concurrent.futures
import contextlib
import functools
import hashlib
import http.server
import json
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

import pytest

from osu_container.core import outputs
from osu_container.core.reading.sif import read_sif
from osu_container.image import ImageError, catalogue, engines, fetch, progress, stages
from osu_container.image import build as image_build
from tests.helpers.machine import PROJECT, PYTHON_36, folded, interruptible, run, tool
from tests.helpers.osu_archive import RELEASE

COMMAND = PROJECT / 'bin' / 'osu-container'
NAME = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
WORKSTATION = [name for name, entry in catalogue.IMAGES.items() if entry['family'] == 'workstation']


def command(*arguments, **variables):
    """Run osu-container image; return the finished process."""
    return subprocess.run([COMMAND, 'image', *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **variables}, stdin=subprocess.DEVNULL)


# Which images there are, and what is said of them

def test_list_has_every_image_with_its_state(tmp_path):
    done = command('list', '--sources', tmp_path)
    assert (done.returncode, done.stderr) == (0, '')
    rows = re.sub(r'\n {4,}', ' ', done.stdout).splitlines()  # what does not fit a line goes on below it
    for name, entry in catalogue.IMAGES.items():
        line = next(line for line in rows if line.split()[:1] == [name])
        marks, word = re.search(rf' {re.escape(name)} +(.*?)(unbuilt|not here)', line).groups()
        assert (word == 'unbuilt') == bool(entry['unbuilt'])
        assert ('P' in marks, 'D' in marks) == (bool(entry['published']), entry['default'])
    assert all(text in folded(done.stdout) for text in catalogue.FAMILIES.values())


def test_show_says_all_that_is_known():
    shown = dict(zip(catalogue.IMAGES, command('show', '*').stdout.split('\n\n')))
    for name, entry in catalogue.IMAGES.items():
        text = shown[name]
        words = ' '.join(text.split())
        assert text.startswith(f'{name}\n') and entry['purpose'] in words and entry['unbuilt'] in words, name
        for kind, variant in entry['variants'].items():
            assert f"osu-container image recipe {name} --osu {kind}\n" in text, name
            for key in variant['sources']:
                source = catalogue.SOURCES[key]
                assert f"{source['name']} {source['version']} (" in words, (name, key)
        row = catalogue.row_of(entry)
        assert (row is not None) == ('opensource: ' in text), name


@pytest.mark.parametrize(('patterns', 'number'), [
    (['workstation'], len(WORKSTATION)), ([f'{NAME}.sif'], 1)])
def test_images_are_found_by_name_family_and_pattern(patterns, number):
    found = catalogue.find(patterns)
    assert found == [name for name in catalogue.IMAGES if name in found]
    assert len(found) == number


@pytest.mark.parametrize(('newer', 'words'), [
    (True, ['bench', '--help']), (False, ['bench', '--help']), (False, ['image', 'list', NAME])])
def test_old_python_hands_over_to_a_newer_one_or_says_what_is_needed(tmp_path, newer, words):
    shutil.copytree(PROJECT / 'bin', tmp_path / 'bin')
    for name in ('osu_container', 'container-recipes', 'easyblocks'):
        (tmp_path / name).symlink_to(PROJECT / name)
    (tmp_path / 'path').mkdir()
    if newer:
        (tmp_path / 'path' / 'python3.11').symlink_to(sys.executable)
    pretend = ('import runpy, sys; sys.version_info = (3, 6, 15, "final", 0); sys.argv = sys.argv[1:]; '
               'runpy.run_path(sys.argv[0], run_name="__main__")')
    done = subprocess.run([sys.executable, '-c', pretend, tmp_path / 'bin' / 'osu-container', *words],
                          capture_output=True, text=True,
                          env={'PATH': str(tmp_path / 'path'), 'HOME': os.environ['HOME']})
    enough = newer or words[0] == 'image'  # which needs no newer one
    assert (done.returncode == 0) == enough, done.stderr
    assert words[-1] in done.stdout if enough else 'this is Python 3.6, 3.9 or newer is needed' in done.stderr


# Stages of a definition file

TWO_STAGES = """\
# The head of the file
Bootstrap: {{ BOOTSTRAP }}
From: {{ BASE }}
Stage: build

%arguments
    BOOTSTRAP=docker
    BASE=debian:12

%files
    sources/a.txt /opt/files/a.txt

%post
    cp /opt/files/a.txt /opt/a   # a comment stays
    echo "{{ TEXT }}"

%arguments
    TEXT=default

# NOTE: between the stages
Bootstrap: {{ BOOTSTRAP }}
From: {{ BASE }}
Stage: runtime

%arguments
    BOOTSTRAP=docker
    BASE=debian:12

%files from build
    /opt/packed.tar /opt/build.tar

%files
    sources/b.txt /opt/b.txt

%post
    true

%test
    set -e
    test -e /opt/a
"""


def test_stages_stand_alone_with_their_arguments_filled_in():
    build, runtime = stages.read(TWO_STAGES, {'TEXT': 'mine'})
    assert (build.name, build.files, build.uses) == ('build', ['sources/a.txt'], {})
    assert (runtime.name, runtime.files) == ('runtime', ['sources/b.txt'])
    assert runtime.uses == {'build': ['/opt/packed.tar']}
    assert build.text.startswith('Bootstrap: docker\nFrom: debian:12\n') and 'echo "mine"' in build.text
    assert '{{' not in build.text + runtime.text and '%arguments' not in build.text + runtime.text
    assert '# a comment stays' in build.text and 'NOTE' not in build.text
    assert stages.outputs([build, runtime]) == {'build': ['/opt/packed.tar']}
    assert stages.test_section(runtime.text) == 'set -e\ntest -e /opt/a'
    assert stages.test_section(build.text) == ''


def test_argument_without_a_value_is_named():
    with pytest.raises(ImageError, match='the argument TEXT, which has no value. Give it one below %arguments'):
        stages.read(TWO_STAGES.replace('    TEXT=default\n', ''), {})


def test_stage_takes_files_of_kept_ones():
    _, runtime = stages.read(TWO_STAGES, {})
    text = stages.with_kept(runtime, {'build': 'stage-build'})
    alone, = stages.read(text, {})
    assert (alone.files, alone.uses) == (['stage-build/opt/packed.tar', 'sources/b.txt'], {})
    assert text.replace('%files\n    stage-build', '%files from build\n    ') == runtime.text


@pytest.mark.parametrize('change', ['nothing', 'argument', 'file', 'base', 'text'])
def test_key_of_a_stage_tells_whether_it_must_be_made_again(tmp_path, change):
    def keys(text=TWO_STAGES, content='a', base='base', **arguments):
        (tmp_path / 'sources').mkdir(exist_ok=True)
        (tmp_path / 'sources' / 'a.txt').write_text(content)
        (tmp_path / 'sources' / 'b.txt').write_text('b')
        build, runtime = stages.read(text, arguments)
        first = build.key(tmp_path, base, {})
        return first, runtime.key(tmp_path, base, {'build': first})

    before = keys()
    after = {'nothing': keys, 'argument': lambda: keys(TEXT='other'), 'file': lambda: keys(content='b'),
             'base': lambda: keys(base='other'), 'text': lambda: keys(TWO_STAGES.replace('echo', 'printf'))}[change]()
    same = [a == b for a, b in zip(before, after)]
    assert same == ([True, True] if change == 'nothing' else [False, False])


def test_file_that_a_stage_copies_must_be_there(tmp_path):
    build, _ = stages.read(TWO_STAGES, {})
    wanted = ('stage build copies sources/a.txt in, which is not in .*\\. The definition file is older than '
              'osu_container/recipes/versions.py, .*: run `make modules`$')
    with pytest.raises(ImageError, match=wanted):
        build.key(tmp_path, 'base', {})
    build.files[0] = 'sources/' + catalogue.SOURCES['osu']['file']  # known, but not put there
    with pytest.raises(ImageError, match="Its entry in osu_container/recipes/images.py must name it under 'sources'"):
        build.key(tmp_path, 'base', {})


RECORD = {'inputs': {'recipe': 'x.def', 'recipe-sha256': '', 'recipe-version': '1', 'osu': 'C', 'sources': {}},
          'sif-sha256': '', 'built': '2026-11-23', 'compression': 'zstd', 'seconds': {'sum': 1}}


@pytest.mark.parametrize('text', [
    '', '[]', '{', '7', '[' * 100000, '{"inputs": 1' + '0' * 5000 + '}', *(json.dumps(record) for record in (
        *({**RECORD, key: value} for key in RECORD for value in (7, None, [], 'x')
          if not isinstance(value, type(RECORD[key]))),
        *({**RECORD, 'inputs': {**RECORD['inputs'], key: [1]}} for key in RECORD['inputs']),
        {**RECORD, 'seconds': {'sum': 'long'}}))])
def test_a_damaged_record_of_an_image_counts_as_none(tmp_path, text):
    (tmp_path / f'{NAME}.sif').write_text('image')
    record = tmp_path / f'{NAME}.sif.json'
    record.write_text(json.dumps(RECORD))
    assert catalogue.record_of(tmp_path / f'{NAME}.sif') == RECORD
    assert catalogue.state(NAME, tmp_path, lambda name, record: True) == ('built', 'C')
    record.write_text(text)
    assert catalogue.state(NAME, tmp_path, image_build.looks_current) == ('here', 'not built by this command')
    assert image_build.Build(NAME, image_build.Options(sources=tmp_path, work=tmp_path)).is_current() is False


def test_a_recipe_that_is_edited_during_a_build_makes_the_next_one(tmp_path, monkeypatch):
    def made():
        one = image_build.Build(NAME, image_build.Options(sources=tmp_path, work=tmp_path))
        one.use('mpi4py')
        return one
    running = made()
    began = running.inputs()
    monkeypatch.setattr(image_build, 'recipe_text', lambda *_: 'Bootstrap: scratch\n')
    monkeypatch.setattr(image_build, 'sha256_of', lambda _: 64 * '0')
    assert running.inputs() == began and running.recipe() != 'Bootstrap: scratch\n'
    after = made().inputs()
    assert after['recipe-sha256'] != began['recipe-sha256'] and after['sources'] != began['sources']


# Downloads

class Server(http.server.SimpleHTTPRequestHandler):
    """A file server that knows ranges, if it is told to, and ends an answer early, if it is told to."""

    ranges, ends_after, asked = True, None, []

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Answer with the file from where it is asked for."""
        content = (Path(self.directory) / self.path.lstrip('/')).read_bytes()
        wanted = self.headers.get('Range')
        type(self).asked.append(wanted)
        start = int(re.match(r'bytes=(\d+)-', wanted).group(1)) if wanted and self.ranges else 0
        if start >= len(content) > 0 and start:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header('Content-Length', str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][:self.ends_after])


@pytest.fixture
def server(tmp_path):
    """(handler class, address, content of x.tar.gz) of a server on this machine."""
    folder = tmp_path / 'served'
    folder.mkdir()
    content = bytes(range(256)) * 40
    (folder / 'x.tar.gz').write_bytes(content)
    handler = type('Mine', (Server,), {'asked': []})
    serving = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield handler, f'http://127.0.0.1:{serving.server_port}/x.tar.gz', content
    serving.shutdown()
    serving.server_close()


def source(monkeypatch, url, content, **changes):
    """Put a source of that address and content into the table; return its key."""
    entry = {'name': 'x', 'version': '1', 'file': 'x.tar.gz', 'url': url, 'licence': 'MIT',
             'sha256': hashlib.sha256(content).hexdigest(), **changes}
    monkeypatch.setitem(catalogue.SOURCES, 'x', entry)
    return 'x'


def test_download_goes_on_where_it_was_cut_off(server, tmp_path, monkeypatch, capsys):
    handler, url, content = server
    key = source(monkeypatch, url, content)
    handler.ends_after = 4000
    with pytest.raises(ImageError, match=r'cannot be downloaded \(.*\)\. 0\.0 MB are kept: repeat'):
        fetch.fetch([key], tmp_path, tmp_path / 'log')
    assert (tmp_path / fetch.PARTS / 'x.tar.gz').stat().st_size == 4000 and not (tmp_path / 'x.tar.gz').exists()
    handler.ends_after = None
    fetch.fetch([key], tmp_path, tmp_path / 'log')
    assert (tmp_path / 'x.tar.gz').read_bytes() == content and not (tmp_path / fetch.PARTS).exists()
    assert handler.asked == [None, 'bytes=4000-']
    assert 'going on after' in capsys.readouterr().out
    fetch.fetch([key], tmp_path, tmp_path / 'log')  # there already
    assert len(handler.asked) == 2


def test_two_builds_at_once_download_a_file_once(server, tmp_path, monkeypatch):
    handler, url, content = server
    key = source(monkeypatch, url, content)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: fetch.fetch([key], tmp_path, tmp_path / 'log'), range(4)))
    assert (tmp_path / 'x.tar.gz').read_bytes() == content and handler.asked == [None]


def test_wrong_sum_stops_with_both_sums(server, tmp_path, monkeypatch):
    _, url, content = server
    found, wanted = hashlib.sha256(content).hexdigest(), 'a' * 64
    with pytest.raises(ImageError, match=f'(?s)sha256 found   {found}.*sha256 wanted  {wanted}'):
        fetch.fetch([source(monkeypatch, url, content, sha256=wanted)], tmp_path, tmp_path / 'log')
    assert [path.name for path in tmp_path.glob('x.*')] == []


def test_file_of_the_user_with_a_wrong_sum_is_kept(tmp_path, monkeypatch):
    (tmp_path / 'x.tar.gz').write_text('mine')
    with pytest.raises(ImageError, match='(?s)sha256 found .*sha256 wanted .*Move it away'):
        fetch.fetch([source(monkeypatch, 'http://127.0.0.1:9/x', b'')], tmp_path, tmp_path / 'log')
    assert (tmp_path / 'x.tar.gz').read_text() == 'mine'


def test_server_that_is_not_there_is_named_with_another_way(tmp_path, monkeypatch):
    url = 'http://127.0.0.1:9/x.tar.gz'
    with pytest.raises(ImageError, match=f'(?s){url} cannot be downloaded .*put x.tar.gz into {tmp_path} by hand'):
        fetch.fetch([source(monkeypatch, url, b'')], tmp_path, tmp_path / 'log')


@pytest.mark.parametrize(('names', 'message'), [('0123456789ab' + 'c' * 28, None), ('f' * 40, 'is of commit f{12}')])
def test_archive_of_git_without_a_published_sum_must_name_its_commit(tmp_path, monkeypatch, capsys, names, message):
    with tarfile.open(tmp_path / 'x.tar.gz', 'w:gz', pax_headers={'comment': names}) as archive:
        archive.add(__file__, 'x/file')
    key = source(monkeypatch, 'https://example.org/x', b'', sha256=None, commit='0123456789ab', why='none is published')
    if message is None:
        fetch.fetch([key], tmp_path, tmp_path / 'log')
        assert 'commit 0123456789ab, sha256 ' in capsys.readouterr().out
    else:
        with pytest.raises(ImageError, match=f'{message}.*, wanted 0123456789ab'):
            fetch.fetch([key], tmp_path, tmp_path / 'log')
    assert (tmp_path / 'x.tar.gz').exists()


# Which programs

@pytest.fixture
def build(tmp_path, monkeypatch):
    """Function (options) that settles the programs of the workstation's image; the real archive holds one x."""
    monkeypatch.setitem(catalogue.SOURCES['osu'], 'sha256', hashlib.sha256(b'x').hexdigest())
    monkeypatch.setitem(catalogue.SOURCES['osu'], 'url', 'http://127.0.0.1:9/osu.tar.gz')

    def settle(name=NAME, **options):
        given = image_build.Options(**{'sources': tmp_path, 'work': tmp_path / 'work', 'sourcepath': (tmp_path,),
                                       **options})
        made = image_build.Build(name, given)
        made.settle_programs()
        return made
    return settle


def test_ports_are_taken_where_the_archive_is_not_to_be_had(build, capsys):
    made = build()
    assert made.osu == 'mpi4py 4.1.2 ports' and made.inputs()['recipe'] == f'{NAME}-ports.def'
    out = capsys.readouterr().out
    assert 'trying to download it' in out and "using mpi4py's ports of the benchmarks, not the C programs" in out


@pytest.mark.parametrize('folder', fetch.EASYBUILD_FOLDERS)
def test_archive_in_an_easybuild_source_path_gives_the_c_programs(build, tmp_path, folder):
    place = tmp_path / 'my sources' / folder
    place.mkdir(parents=True)
    (place / catalogue.SOURCES['osu']['file']).write_text('x')
    made = build(sourcepath=(tmp_path, tmp_path / 'nowhere', tmp_path / 'my sources'))
    assert made.osu == f'{RELEASE} C' and made.inputs()['recipe'] == f'{NAME}.def' and made.archive.parent == place
    assert made.keys() == ['mpich-4.2.3']
    assert made.inputs()['sources'][catalogue.SOURCES['osu']['file']] == hashlib.sha256(b'x').hexdigest()


@pytest.mark.parametrize(('options', 'message'), [
    ({'osu': 'c'}, 'put it into one of the source paths'),
    ({'osu': 'python'}, 'is made with c or mpi4py'),
    ({'osu_archive': Path('/nowhere/a.tar.gz')}, 'no file /nowhere/a.tar.gz'),
    ({'osu_archive': Path(__file__)}, '(?s)sha256 found .*sha256 wanted'),
    ({'osu_archive': Path(__file__), 'osu': 'mpi4py'}, 'contradict')])
def test_programs_that_cannot_be_had_are_said(build, options, message):
    with pytest.raises(ImageError, match=message):
        build(**options)


@pytest.mark.parametrize(('name', 'osu', 'kind'), [
    ('osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-1.22.0', 'auto', 'mpi4py'),
    ('osu-mpi4py-4.1.2-workstation-mpich-4.2.3-libfabric-1.22.0', 'python', 'python')])
def test_image_without_c_programs_does_not_ask_for_their_archive(build, capsys, name, osu, kind):
    made = build(name, osu=osu)
    assert made.variant is made.entry['variants'][kind] and made.archive is None
    assert 'download' not in capsys.readouterr().out
    with pytest.raises(ImageError, match='has no programs in C'):
        build(name, osu=osu, osu_archive=Path(__file__))


def test_damaged_archive_is_not_passed_over(build, tmp_path):
    (tmp_path / catalogue.SOURCES['osu']['file']).write_text('y')
    with pytest.raises(ImageError, match="(?s)sha256 found .*move it away to use mpi4py's ports"):
        build()
    assert (tmp_path / catalogue.SOURCES['osu']['file']).read_text() == 'y'


# What builds

def test_engine_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(engines, 'command_path', lambda *names: '/bin/apptainer' if 'apptainer' in names else None)
    with pytest.raises(ImageError, match='--engine podman: podman is not on PATH. .* one that is here: apptainer'):
        engines.choose('podman')


@pytest.mark.parametrize(('here', 'version', 'mapped', 'kind', 'why'), [
    (['apptainer'], 'apptainer version 1.4.5', True, 'apptainer', 'apptainer --fakeroot'),
    (['singularity', 'proot'], 'singularity-ce version 4.1.3', False, 'apptainer', 'singularity with PRoot'),
    (['apptainer', 'proot', 'buildah'], 'apptainer version 1.4.5', False, 'buildah', 'buildah, then apptainer'),
    (['apptainer', 'docker'], 'apptainer version 1.4.5', False, 'docker', 'docker, then apptainer')])
def test_engine_is_chosen_by_what_is_there(monkeypatch, here, version, mapped, kind, why):
    monkeypatch.setattr(engines, 'command_path',
                        lambda *names: next((f'/bin/{name}' for name in names if name in here), None))
    monkeypatch.setattr(engines, 'without_full_rights', lambda: True)
    monkeypatch.setattr(engines, 'no_mapping', lambda: '' if mapped else '/etc/subuid has no line for me')
    monkeypatch.setattr(engines, 'has_proot_mode', lambda program: version.startswith('singularity-ce'))
    monkeypatch.setattr(engines, 'check_proot', lambda: None)
    engine = engines.choose('auto')
    assert engine.kind == kind and engine.why.startswith(why)


# The whole build, on two tiny images that have a stage in common

TINY_CATALOGUE = '''

def _tiny(name):
    return {'family': 'tiny', 'recipe': 'workstation.py', 'purpose': 'a test', 'published': None, 'default': False,
            'recommended': '', 'fails': '', 'unbuilt': '', 'base': {'registry': 'none'}, 'minutes': 1,
            'gigabytes': 0.1, 'variants': {'mpi4py': {
                'rendered': name, 'arguments': {}, 'sources': ['tiny'], 'files': ['README.md']}}}


IMAGES = {name: _tiny(name) for name in ('osu-tiny-a', 'osu-tiny-b')}
FAMILIES = {'tiny': 'two tests'}
'''
TINY_SOURCES = '''
SOURCES['tiny'] = {'name': 'tiny', 'version': '1', 'file': 'tiny.tar.gz', 'url': 'https://example.org/tiny.tar.gz',
                   'sha256': 'SUM', 'licence': 'MIT'}
'''
TINY = """\
# NAME
Bootstrap: {{ BOOTSTRAP }}
From: {{ BASE }}
Stage: build

%arguments
    BOOTSTRAP=localimage
    BASE=ROOT

%files
    sources/tiny.tar.gz /opt/files/tiny.tar.gz
    README.md /opt/files/README.md

%post
    echo "SUM  /opt/files/tiny.tar.gz" | sha256sum -c -
    mkdir -p /opt/tiny
    tar -xzf /opt/files/tiny.tar.gz -C /opt/tiny
    cp /opt/files/README.md /opt/tiny/
    ln -s tiny.txt /opt/tiny/link
    tar -C / -cf /opt/packed.tar opt/tiny

Bootstrap: {{ BOOTSTRAP }}
From: {{ BASE }}
Stage: runtime

%arguments
    BOOTSTRAP=localimage
    BASE=ROOT
    SECONDS=0
    RESULT=0

%files from build
    /opt/packed.tar /opt/build.tar

%post
    tar -C / -xf /opt/build.tar opt/tiny
    rm /opt/build.tar
    echo "the runtime stage of NAME is here"
    sleep {{ SECONDS }}

%labels
    org.osu-container.mpi none
    org.osu-container.libfabric none
    org.osu-container.libcxi none
    org.osu-container.gpu none
    org.osu-container.osu none
    org.osu-container.recipe-version 1

%test
    set -e
    test "$(cat /opt/tiny/link)" = x
    exit {{ RESULT }}
"""
PROGRAMS = ('sh', 'cp', 'cat', 'ln', 'mkdir', 'sha256sum', 'sleep', 'test', 'true', 'env', 'uname', 'ls', 'tar', 'gzip',
            'rm')


class Tiny:
    """A copy of the project, in a folder with a space, that knows two tiny images."""

    def __init__(self, folder):
        self.root = folder / 'a project'
        for name in ('bin', 'osu_container', 'easyblocks', 'container-recipes'):
            shutil.copytree(PROJECT / name, self.root / name, ignore=shutil.ignore_patterns('__pycache__', 'rendered'))
        (self.root / 'README.md').write_text('read me\n')
        shutil.copy(PROJECT / 'Makefile', self.root)  # the mark of a clone, which keeps its work below itself
        self.sources = self.root / 'sources'
        self.sources.mkdir()
        (folder / 'tiny.txt').write_text('x')
        self.archive = self.sources / 'tiny.tar.gz'
        with tarfile.open(self.archive, 'w:gz') as archive:
            archive.add(folder / 'tiny.txt', 'tiny.txt')
        total = hashlib.sha256(self.archive.read_bytes()).hexdigest()
        recipes, rendered = self.root / 'osu_container' / 'recipes', self.root / 'container-recipes' / 'rendered'
        for name, added in (('images.py', TINY_CATALOGUE), ('versions.py', TINY_SOURCES.replace('SUM', total))):
            with open(recipes / name, 'a') as stream:
                stream.write(added)
        self.base = folder / 'base'
        self.make_base()
        rendered.mkdir()
        for name in ('osu-tiny-a', 'osu-tiny-b'):
            self.definition(name).write_text(
                TINY.replace('NAME', name).replace('SUM', total).replace('ROOT', str(self.base)))
        self.work = self.root / '.workstation' / 'image'
        path = f"{PROJECT / '.workstation' / 'bin'}:{os.environ['PATH']}"
        # Tests change Python files here. Python takes its compiled copy of a file that has kept its size and, to the
        # second, its time, so there must be none.
        self.environment = {**os.environ, 'PATH': path, 'APPTAINER_CONFIGDIR': str(folder / 'keys'),
                            'PYTHONDONTWRITEBYTECODE': '1'}

    def make_base(self):
        """Lay out a root of the shell and the few programs that the definition file uses, with their libraries."""
        (self.base / 'bin').mkdir(parents=True)
        for name in PROGRAMS:
            path = shutil.which(name, path='/usr/bin:/bin')
            shutil.copy(path, self.base / 'bin' / name)
            for library in re.findall(r'(/\S+) \(0x', subprocess.run(['ldd', path], capture_output=True,
                                                                     text=True).stdout):
                target = self.base / library.lstrip('/')
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, target)
        (self.base / 'var/lib/dpkg').mkdir(parents=True)
        (self.base / 'var/lib/dpkg/status').write_text(
            'Package: tiny-libs\nStatus: install ok installed\nVersion: 1.0\nDescription: what\n it is\n')

    def definition(self, name):
        """Return the path of a definition file."""
        return self.root / 'container-recipes' / 'rendered' / f'{name}.def'

    def change(self, old, new):
        """Replace a text of the first definition file by another."""
        path = self.definition('osu-tiny-a')
        path.write_text(path.read_text().replace(old, new))

    def words(self, *arguments):
        """Return the command line of `osu-container image` in the copy."""
        return [sys.executable, self.root / 'bin' / 'osu-container', 'image', *arguments]

    def __call__(self, *arguments, **variables):
        """Run it; return (exit code, output and errors)."""
        done = subprocess.run(self.words(*arguments), env={**self.environment, **variables}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        return done.returncode, done.stdout

    def sif(self, name='osu-tiny-a'):
        """Return the path of an image."""
        return self.sources / f'{name}.sif'

    def left_over(self):
        """Return the names of temporary files and folders that are still there."""
        folders = [self.sources, *([self.work] if self.work.is_dir() else [])]
        return [path.name for folder in folders for path in folder.iterdir()
                if path.name.startswith(('.', 'build-', 'base-new-'))]

    def kept(self):
        """Return the number of kept stages."""
        return len([path for path in self.work.glob('kept/stages/*') if path.is_dir()])


@pytest.fixture(scope='module')
def tiny_project(tmp_path_factory):
    return Tiny(tmp_path_factory.mktemp('tiny'))


@pytest.fixture
def tiny(tiny_project):
    """The copy as if nothing had been built in it."""
    for path in tiny_project.sources.glob('*osu-tiny*'):
        path.unlink()
    shutil.rmtree(tiny_project.root / '.workstation', ignore_errors=True)
    before = {name: tiny_project.definition(name).read_text() for name in ('osu-tiny-a', 'osu-tiny-b')}
    yield tiny_project
    for name, text in before.items():
        tiny_project.definition(name).write_text(text)
    (tiny_project.root / 'README.md').write_text('read me\n')


@pytest.mark.apptainer
def test_build_writes_image_sum_record_and_log(tiny):
    code, output = tiny('build', 'osu-tiny-a')
    assert code == 0, output
    assert re.search(r'^\[ *\d+ s\] step 2 of 4: stage build$', output, re.MULTILINE), output
    total = hashlib.sha256(tiny.sif().read_bytes()).hexdigest()
    assert Path(f'{tiny.sif()}.sha256').read_text() == f'{total}  osu-tiny-a.sif\n'
    record = json.loads(Path(f'{tiny.sif()}.json').read_text())
    assert record['sif-sha256'] == total and record['bytes'] == tiny.sif().stat().st_size
    assert set(record['seconds']) >= {'stage build', 'stage runtime', 'sum'} and total in output
    assert record['packages'] == {'tiny-libs': '1.0'} and record['licences'] == {'tiny.tar.gz': ['tiny', '1', 'MIT']}
    assert 'the runtime stage of osu-tiny-a' in (tiny.work / 'log/image-osu-tiny-a.log').read_text()
    assert tiny.left_over() == []
    assert re.search(r'osu-tiny-a +built', tiny('list')[1]) and re.search(r'osu-tiny-b +not here', tiny('list')[1])


@pytest.mark.apptainer
@pytest.mark.skipif(PYTHON_36 is None, reason='no Python 3.6 here')
def test_python_3_6_and_its_standard_library_build_the_same_image(tiny):
    def built(python):
        done = run([python, *tiny.words('build', 'osu-tiny-a', '--force')[1:]], env=tiny.environment)
        assert done.returncode == 0, done.stdout + done.stderr
        record = json.loads(Path(f'{tiny.sif()}.json').read_text())
        return record['inputs'], record['packages']
    assert built(PYTHON_36) == built(sys.executable)


@pytest.mark.apptainer
def test_build_does_nothing_twice_and_images_share_a_stage(tiny):
    tiny('build', 'osu-tiny-a')
    before = tiny.sif().stat().st_mtime_ns
    code, output = tiny('build', 'tiny')
    assert code == 0, output
    assert 'osu-tiny-a.sif is current' in output and tiny.sif().stat().st_mtime_ns == before
    assert 'stage build: kept from before' in output and tiny.sif('osu-tiny-b').exists() and tiny.kept() == 1


@pytest.mark.apptainer
@pytest.mark.parametrize(('change', 'stages_kept'), [('recipe', 1), ('file', 2)])
def test_build_repeats_what_something_changed(tiny, change, stages_kept):
    tiny('build', 'osu-tiny-a')
    if change == 'recipe':  # of the last stage: the first one is kept
        tiny.change('is here', 'is there')
        assert re.search(r'osu-tiny-a +outdated', tiny('list')[1])
    else:
        (tiny.root / 'README.md').write_text('read me again\n')
    code, output = tiny('build', 'osu-tiny-a')
    assert code == 0 and 'is current' not in output and tiny.kept() == stages_kept, output
    assert 'is current' in tiny('build', 'osu-tiny-a')[1]


@pytest.mark.apptainer
def test_an_image_is_packed_as_asked_for_and_stays_so(tiny):
    """Compressor and flags by the superblock of squashfs 4.0: 1 is gzip, 6 zstd; bit 1 of the flags: data as it is."""
    def packed():
        with open(tiny.sif(), 'rb') as sif:
            sif.seek(read_sif(tiny.sif())[0] + 20)
            compressor, _, flags = struct.unpack('<HHH', sif.read(6))
        return compressor, bool(flags & 2)
    for options, wanted in ((['--compression', 'zstd'], (6, False)), ([], (6, False)),
                            (['--compression', 'none'], (1, True))):
        code, output = tiny('build', *options, 'osu-tiny-a')
        assert code == 0 and packed() == wanted, output


@pytest.mark.parametrize('name', sorted(catalogue.IMAGES))
def test_only_images_that_run_where_zstd_was_tried_are_packed_with_it(name):
    system = re.search('lumi|alps', name)
    assert image_build.Build(name, image_build.Options()).packing() == ('gzip' if system else 'zstd', False)
    assert image_build.Build(name, image_build.Options(compression='none')).packing() == ('none', True)


def descendants(process):
    """Return the numbers of all processes that a process has started, and those that they have."""
    parents = {}
    for status in Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            number, _, rest = status.read_text().partition(' (')
            parents[int(number)] = int(rest.rpartition(')')[2].split()[1])
    found = [process]
    for number in found:
        found += [child for child, parent in parents.items() if parent == number]
    return found[1:]


def test_debian_comes_from_the_mirror_that_is_named_and_is_the_same_base(monkeypatch):
    before = fetch.base_command('bookworm')[1]
    monkeypatch.setenv('DEBIAN_MIRROR', 'http://mirror/debian')
    words = fetch.base_command('bookworm')[1]
    assert (before[-1], words[-1]) == ('', 'http://mirror/debian')
    assert fetch.base_folder(words, '/work') == fetch.base_folder(before, '/work')


@pytest.mark.apptainer
def test_a_base_is_made_where_the_users_of_subuid_can_enter(tmp_path, monkeypatch):
    """As under eb, whose TMPDIR has the mode 700."""
    closed = tmp_path / 'closed'
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, 'tempdir', str(closed))
    assert fetch._open_to_all() == '/tmp'
    opened = Path(tempfile.mkdtemp(dir='/tmp'))
    try:
        opened.chmod(0o755)
        monkeypatch.setattr(tempfile, 'tempdir', str(opened))
        assert fetch._open_to_all() == str(opened)
    finally:
        opened.rmdir()


@pytest.mark.apptainer
@pytest.mark.parametrize('sign', [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.full)])
def test_interrupted_build_goes_on_and_keeps_the_old_image(tiny, sign):
    tiny('build', 'osu-tiny-a')
    old = tiny.sif().read_bytes()
    shutil.rmtree(tiny.work / 'kept')
    log = tiny.work / 'log/image-osu-tiny-a.log'
    log.unlink()
    tiny.change('SECONDS=0', 'SECONDS=60')
    child = subprocess.Popen(tiny.words('build', 'osu-tiny-a', '--force'), env=tiny.environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
    limit = time.monotonic() + 60
    while not (log.exists() and re.search('(?m)^the runtime stage', log.read_text())) and time.monotonic() < limit:
        time.sleep(0.05)
    started = descendants(child.pid)
    child.send_signal(sign)
    if sign == signal.SIGKILL:  # nobody ends what it had started, so the test does
        child.wait()
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        child.stderr.close()
    else:
        errors = child.communicate(timeout=30)[1]
        assert 'Traceback' not in errors and child.returncode != 0
        assert sign != signal.SIGINT or 'repeat the command to go on' in errors
        assert tiny.left_over() == []
    assert tiny.sif().read_bytes() == old and tiny.kept() == 1
    tiny.change('SECONDS=60', 'SECONDS=0')
    code, output = tiny('build', 'osu-tiny-a', '--force')
    assert code == 0 and 'stage build: kept from before' in output, output
    assert tiny.sif().read_bytes() != old
    tiny('clean', '--all')
    assert tiny.left_over() == [] and tiny.kept() == 0
    assert tiny.sif().exists()


@pytest.mark.apptainer
def test_failed_build_keeps_the_old_image_and_names_the_log(tiny):
    tiny('build', 'osu-tiny-a')
    old = tiny.sif().read_bytes()
    tiny.change('RESULT=0', 'RESULT=7')
    code, output = tiny('build', 'osu-tiny-a', '--force')
    log = tiny.work / 'log' / 'image-osu-tiny-a.log'
    assert code == 1 and 'ended with exit code' in output and 'failed to execute %test' in output and str(log) in output
    assert tiny.sif().read_bytes() == old and tiny.left_over() == []


@pytest.mark.apptainer
def test_one_image_that_fails_does_not_stop_the_others(tiny):
    tiny.change('RESULT=0', 'RESULT=1')
    code, output = tiny('build', 'tiny')
    assert code == 1 and '1 of 2 images failed: osu-tiny-a' in output
    assert tiny.sif('osu-tiny-b').exists() and not tiny.sif().exists()


@pytest.mark.apptainer
def test_image_that_the_user_put_there_is_kept(tiny):
    tiny.sif().write_text('mine')
    code, output = tiny('build', 'osu-tiny-a')
    assert code == 0 and '--force' in output and tiny.sif().read_text() == 'mine'
    assert Path(f'{tiny.sif()}.sha256').read_text().split()[0] == hashlib.sha256(b'mine').hexdigest()


@pytest.mark.apptainer
def test_too_little_room_is_said_before_anything_is_done(tiny):
    path = tiny.root / 'osu_container' / 'recipes' / 'images.py'
    before = path.read_text()
    path.write_text(before.replace("'gigabytes': 0.1", "'gigabytes': 1e9"))
    try:
        code, output = tiny('build', 'osu-tiny-a')
        assert code == 1 and 'needs about 1e+09 GB to be built' in output and 'GB free. Make room' in output
        assert 'step 1' not in output
        assert tiny('build', '--check', 'osu-tiny-a')[0] == 1
    finally:
        path.write_text(before)
    assert tiny('build', '--check', 'osu-tiny-a')[0] == 0
    assert not tiny.sif().exists()


# Images of the catalogue

def in_image(sif, *command):
    """Return the output of a command in the image. Nothing of the caller's environment goes in."""
    path = f"{PROJECT / '.workstation' / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(['apptainer', 'exec', '--cleanenv', sif, *command], env={**os.environ, 'PATH': path},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.full
@pytest.mark.apptainer
def test_definition_file_is_built_by_hand_as_its_head_says(apptainer, tmp_path):
    """By a person who has neither HPCCM nor our command, but a folder with Debian."""
    definition = catalogue.RENDERED / f'{NAME}-ports.def'
    said = re.search(r'(?m)^# +Apptainer +apptainer (build .*)$', definition.read_text()).group(1)
    assert '--fakeroot' in said and said.endswith(' osu.sif THIS_FILE')
    words = [{'osu.sif': tmp_path / 'osu.sif', 'THIS_FILE': definition}.get(word, word) for word in said.split()]
    folder = fetch.base_folder(fetch.base_command('bookworm')[1], PROJECT / '.workstation' / 'image')
    done = subprocess.run([apptainer, words[0], '--build-arg', 'BOOTSTRAP=localimage', '--build-arg', f'BASE={folder}',
                           *words[1:]], cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert 'MPICH 4.2.3' in in_image(tmp_path / 'osu.sif', 'cat', '/.singularity.d/labels.json')


@pytest.mark.full
@pytest.mark.apptainer
def test_dockerfile_is_built_by_buildah_from_the_same_base(tmp_path):
    sif = tmp_path / f'{NAME}.sif'
    tool('buildah')
    done = command('build', NAME, '--engine', 'buildah', '--osu', 'mpi4py', '--output', sif,
                   XDG_DATA_HOME=str(tmp_path / 'data'))
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'by buildah, then apptainer' in done.stdout
    checked = command('verify', sif)
    assert checked.returncode == 0 and re.search(r'sum +ok', checked.stdout), checked.stdout + checked.stderr
    run = in_image(sif, '/opt/mpich/bin/mpiexec', '-n', '2', '/opt/osu/bin/osu_latency', '-m', '8', '-i', '10')
    assert 'Latency' in run


def test_what_a_killed_build_left_goes_with_the_next_one_and_nothing_else(tmp_path):
    """245 MB stayed for good: the folder of a build, and half an image."""
    name = sorted(image_build.IMAGES)[0]
    child = subprocess.Popen(['sleep', '1'])
    child.kill()
    child.wait()
    ended, here = f'{child.pid}.{platform.node()}.', f'{os.getpid()}.{platform.node()}.'
    left = [f'build-{ended}ab_12345', f'.build-{ended}ab_12345']
    mine = [f'build-{ended}my_notes', 'build-notes', f'{name}.sif']
    kept = [f'build-{here}ab_12345', f'build-{child.pid}.another-node.ab_12345', 'kept']
    for one in left + kept:
        (outputs.make(tmp_path / one) / 'inside').mkdir()
    for one in mine[:2]:
        (tmp_path / one / 'inside').mkdir(parents=True)
    (tmp_path / mine[2]).write_text('x')
    image_build.Build(name, image_build.Options(sources=tmp_path, work=tmp_path)).tidy()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept + mine)
    assert progress.is_left(f'build-{progress.of_this()}ab_12345') is False


@pytest.mark.apptainer
def test_a_build_without_user_namespaces_is_refused_before_it_begins(apptainer):
    """By a root without capabilities, in a name space that may have no other: an ordinary user where there are none."""
    inside = 'echo 0 >/proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all ' \
        '--ambient-caps=-all "$@"'
    name = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
    done = run(['unshare', '--user', '--map-root-user', 'bash', '-c', inside, '-', PROJECT / 'bin' / 'osu-container',
                'image', 'build', name, '--check', '--engine', 'apptainer'])
    assert done.returncode == 1, done.stdout
    assert '/proc/sys/user/max_user_namespaces is 0' in done.stderr
    assert 'sysctl user.max_user_namespaces=' in done.stderr


def test_of_two_builds_at_once_the_image_its_sum_and_its_record_are_of_one(tmp_path, monkeypatch):
    sif, record, write_sum = tmp_path / 'x.sif', tmp_path / 'x.sif.json', image_build.write_sum
    children = []
    for number, pause in enumerate((0.5, 0)):  # the disk is slow for the first, which has put its image there by then
        child = os.fork()
        if not child:
            monkeypatch.setattr(image_build, 'write_sum', lambda *what, pause=pause: (
                time.sleep(pause), write_sum(*what)))
            new = tmp_path / f'new-{number}'
            new.write_text(f'{number}')
            image_build.put_into_place(new, sif, hashlib.sha256(new.read_bytes()).hexdigest(), record, f'{number}')
            os._exit(0)
        children.append(child)
        while not sif.exists():
            time.sleep(0.001)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert sif.read_text() == record.read_text() == '1'
    assert Path(f'{sif}.sha256').read_text().split()[0] == hashlib.sha256(b'1').hexdigest()

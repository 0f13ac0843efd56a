"""
Test `osu-container image`: its subcommands list, fetch and build.

The builder really runs with Apptainer, on an image of a few megabytes that contains the shell of
this machine. test_images_run.py builds the images of the catalogue.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

from osu_container.build import ImageBuildError, catalogue, fetch
from osu_container.build import build as image_build
from tests.helpers.machine import PROJECT, PYTHON_36, run
from tests.helpers.osu_archive import RELEASE

COMMAND = PROJECT / 'scripts' / 'osu-container'
NAME = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
WITH_PYTHON = f'osu-mpi4py-4.1.2-{NAME[4:]}'
#: Expression for two sha256: of the existing file, and the expected one
SUMS = '(?s)[0-9a-f]{64}.*[0-9a-f]{64}'
WORKSTATION = [name for name, entry in catalogue.IMAGES.items() if entry['family'] == 'workstation']


# The list of images


def test_list_has_every_image(tmp_path):
    (tmp_path / f'{NAME}.sif').write_text('')
    result = run([COMMAND, 'image', 'list', '--sources', tmp_path, '--json'])
    entries = {facts['name']: facts for facts in json.loads(result.stdout)}
    assert list(entries) == list(catalogue.IMAGES)
    assert entries[NAME]['state'] == 'built'
    text = run([COMMAND, 'image', 'list', '--sources', tmp_path]).stdout
    for name, facts in entries.items():
        assert facts['state'] in (
            'built',
            'unbuilt' if catalogue.IMAGES[name]['unbuilt'] else 'not here',
        )
        assert re.search(rf'(?m)^  {re.escape(name)}( |$)', text), name
        assert set(facts['variants']) == set(catalogue.IMAGES[name]['variants'])


@pytest.mark.parametrize(
    ('patterns', 'number'), [(['workstation'], len(WORKSTATION)), ([f'{NAME}.sif'], 1)]
)
def test_images_are_found_by_name_family_and_pattern(patterns, number):
    entries = catalogue.select_named_images(patterns)
    assert entries == [name for name in catalogue.IMAGES if name in entries]
    assert len(entries) == number


@pytest.mark.parametrize(
    ('has_newer', 'words'),
    [(True, ['bench', '--help']), (False, ['bench', '--help']), (False, ['image', 'list', NAME])],
)
def test_old_python_restarts_with_a_newer_python(tmp_path, has_newer, words):
    shutil.copytree(PROJECT / 'scripts', tmp_path / 'scripts')
    for name in ('osu_container', 'container-recipes', 'easyblocks'):
        (tmp_path / name).symlink_to(PROJECT / name)
    (tmp_path / 'path').mkdir()
    if has_newer:
        (tmp_path / 'path' / 'python3.11').symlink_to(sys.executable)
    pretend = (
        'import runpy, sys; sys.version_info = (3, 6, 15, "final", 0); sys.argv = sys.argv[1:]; '
        'runpy.run_path(sys.argv[0], run_name="__main__")'
    )
    result = subprocess.run(
        [sys.executable, '-c', pretend, tmp_path / 'scripts' / 'osu-container', *words],
        capture_output=True,
        text=True,
        env={'PATH': str(tmp_path / 'path'), 'HOME': os.environ['HOME']},
    )
    is_enough = has_newer or words[0] == 'image'  # this command also runs with Python 3.6
    assert (result.returncode == 0) == is_enough, result
    assert words[-1] in result.stdout if is_enough else 'Python 3.6' in result.stderr


# Downloads, from file: addresses on this machine


@pytest.fixture
def source(tmp_path, monkeypatch):
    """
    Return a function that adds the source x with the content b'content' to SOURCES.

    The keyword arguments of the function replace values of the source.
    """
    (tmp_path / 'served').mkdir()
    (tmp_path / 'served' / 'x.tar.gz').write_bytes(b'content')

    def put(**changes):
        monkeypatch.setitem(
            fetch.SOURCES,
            'x',
            {
                'name': 'x',
                'version': '1',
                'file': 'x.tar.gz',
                'url': f'file://{tmp_path}/served/x.tar.gz',
                'sha256': hashlib.sha256(b'content').hexdigest(),
                'licence': 'MIT',
                **changes,
            },
        )

    return put


def test_missing_source_is_fetched_once(source, tmp_path):
    source()
    for _ in range(2):
        fetch.download_sources(['x'], tmp_path / 'sources', tmp_path / 'log')
        assert (tmp_path / 'sources' / 'x.tar.gz').read_bytes() == b'content'
        (tmp_path / 'served' / 'x.tar.gz').write_bytes(b'newer')
    assert len(list((tmp_path / 'sources').iterdir())) == 1


@pytest.mark.parametrize(
    ('existing', 'changes', 'message'),
    [
        (None, {'sha256': 'a' * 64}, '(?s)[0-9a-f]{64}.* a{64}.*file://'),
        ('mine', {}, SUMS),
        (
            None,
            {'url': 'http://127.0.0.1:9/x.tar.gz'},
            r'(?s)http://127\.0\.0\.1:9/x\.tar\.gz .*\bx\.tar\.gz',
        ),
    ],
)
def test_unexpected_source_is_an_error(source, tmp_path, existing, changes, message):
    source(**changes)
    path = tmp_path / 'x.tar.gz'
    if existing:
        path.write_text(existing)
    with pytest.raises(ImageBuildError, match=message):
        fetch.download_sources(['x'], tmp_path, tmp_path / 'log')
    assert (path.read_text() if path.exists() else None) == existing


# The choice of the benchmark programs


@pytest.fixture
def choose_programs(tmp_path, monkeypatch):
    """Return a function that chooses the programs of an image; the OSU archive contains one x."""
    monkeypatch.setitem(fetch.SOURCES['osu'], 'sha256', hashlib.sha256(b'x').hexdigest())
    monkeypatch.setitem(fetch.SOURCES['osu'], 'url', 'http://127.0.0.1:9/osu.tar.gz')

    def choose(name=NAME, **options):
        build_object = image_build.Build(
            name,
            image_build.BuildOptions(
                **{
                    'sources': tmp_path,
                    'work': tmp_path / 'work',
                    'sourcepath': (tmp_path,),
                    **options,
                }
            ),
        )
        build_object.choose_programs()
        return build_object

    return choose


def test_missing_archive_selects_the_mpi4py_ports(choose_programs):
    build_object = choose_programs()
    assert (build_object.kind, build_object.osu) == ('mpi4py', 'mpi4py 4.1.2 ports')


@pytest.mark.parametrize('folder', fetch.EASYBUILD_FOLDERS)
def test_archive_in_source_path_selects_c_programs(choose_programs, tmp_path, folder):
    place = tmp_path / 'my sources' / folder
    place.mkdir(parents=True)
    file = fetch.SOURCES['osu']['file']
    (place / file).write_text('x')
    build_object = choose_programs(
        sourcepath=(tmp_path, tmp_path / 'nowhere', tmp_path / 'my sources')
    )
    assert (build_object.kind, build_object.osu, build_object.archive) == (
        'c',
        f'{RELEASE} C',
        place / file,
    )
    assert build_object.list_source_keys() == ['mpich-4.2.3']
    assert build_object.collect_inputs()['sources'][file] == hashlib.sha256(b'x').hexdigest()


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'osu': 'c'}, 'http://127.0.0.1:9/osu.tar.gz'),
        ({'osu': 'python'}, r'--osu python\b.*\bc\b.*\bmpi4py'),
        ({'osu_archive': Path('/nowhere/a.tar.gz')}, '--osu-archive.*/nowhere/a.tar.gz'),
        ({'osu_archive': Path(__file__)}, SUMS),
        ({'osu_archive': Path(__file__), 'osu': 'mpi4py'}, '--osu-archive.*--osu mpi4py'),
        ({'name': WITH_PYTHON, 'osu_archive': Path(__file__)}, '--osu-archive.*osu-mpi4py-'),
    ],
)
def test_unavailable_programs_are_an_error(choose_programs, options, message):
    with pytest.raises(ImageBuildError, match=message):
        choose_programs(**options)


@pytest.mark.parametrize(('osu', 'kind'), [('auto', 'mpi4py'), ('python', 'python')])
def test_image_for_python_does_not_need_the_c_programs(choose_programs, osu, kind):
    build_object = choose_programs(WITH_PYTHON, osu=osu)
    assert (build_object.kind, build_object.archive) == (kind, None)


def test_damaged_archive_is_an_error(choose_programs, tmp_path):
    (tmp_path / fetch.SOURCES['osu']['file']).write_text('y')
    with pytest.raises(ImageBuildError, match=SUMS):
        choose_programs()
    assert (tmp_path / fetch.SOURCES['osu']['file']).read_text() == 'y'


# The program that builds


@pytest.mark.parametrize(
    ('runtime', 'version', 'has_rights', 'has_subuid', 'expected'),
    [
        ('apptainer', 'apptainer version 1.4.5', True, False, []),
        ('apptainer', 'apptainer version 1.4.5', False, False, ['--fakeroot']),
        ('singularity', 'singularity-ce version 4.1.3', False, True, ['--fakeroot']),
        ('singularity', 'singularity-ce version 4.1.3', False, False, 'module load LUMI PRoot'),
        ('singularity proot', 'singularity-ce version 4.1.3', False, False, []),
        ('', '', True, True, 'apptainer.* singularity .*PATH'),
    ],
)
def test_build_chooses_its_privileges(
    tmp_path, monkeypatch, runtime, version, has_rights, has_subuid, expected
):
    for name in runtime.split():
        (tmp_path / name).write_text(f'#!/bin/sh\necho {version}\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(
        image_build,
        'find_command',
        lambda *names: next(
            filter(None, (shutil.which(name, path=str(tmp_path)) for name in names)), None
        ),
    )
    monkeypatch.setattr(image_build, 'has_all_rights', lambda: has_rights)
    monkeypatch.setattr(image_build, 'has_subuid_entry', lambda: has_subuid)
    if isinstance(expected, str):
        with pytest.raises(ImageBuildError, match=expected):
            image_build.select_build_runtime()
    else:
        assert image_build.select_build_runtime() == (str(tmp_path / runtime.split()[0]), expected)


def test_job_and_binds_of_the_caller_do_not_reach_the_build(tmp_path, monkeypatch):
    dropped_variables = {
        'SINGULARITY_BIND': '/pfs',
        'SINGULARITYENV_X': '1',
        'APPTAINER_NOTEST': '1',
        'SLURM_JOB_ID': '7',
        'PMI_RANK': '0',
        'MPICH_OFI_NIC_POLICY': 'GPU',
        'FI_PROVIDER': 'cxi',
    }
    kept_variables = {
        'PATH': '/bin',
        'SINGULARITY_DOCKER_PASSWORD': 'secret',
        'APPTAINER_CONFIGDIR': '/keys',
        'SINGULARITY_CACHEDIR': '/scratch/cache',
        'FILES': 'x',
    }
    monkeypatch.setattr(os, 'environ', {**dropped_variables, **kept_variables})
    assert image_build.prepare_environment(tmp_path, tmp_path / 'x') == {
        **kept_variables,
        'APPTAINER_CACHEDIR': f'{tmp_path}/cache',
        'APPTAINER_TMPDIR': f'{tmp_path}/x',
        'SINGULARITY_TMPDIR': f'{tmp_path}/x',
    }


@pytest.mark.parametrize(
    'name', [NAME, WITH_PYTHON, 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0']
)
def test_only_images_of_debian_are_packed_with_zstd(tmp_path, name):
    program = tmp_path / 'apptainer'
    program.write_text('#!/bin/sh\necho --mksquashfs-args\n')
    program.chmod(0o755)
    assert bool(image_build.select_compression(program, catalogue.IMAGES[name])) == (
        'lumi' not in name
    )


@pytest.mark.system
def test_temporary_folder_is_open_to_the_users_of_subuid(tmp_path, monkeypatch):
    """EasyBuild sets a TMPDIR with mode 700, which these users cannot enter."""
    closed = tmp_path / 'closed'
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, 'tempdir', str(closed))
    assert fetch._find_shared_tmpdir() == '/tmp'


# The whole build, with tiny images

TINY_CATALOGUE = '''
IMAGES = {name: {
    'family': 'tiny', 'recipe': 'workstation.py', 'purpose': 'a test', 'published': None, 'fails': '', 'unbuilt': '',
    'compiles_mpi': False, 'base': {'registry': 'none'},
    'variants': {'mpi4py': {'arguments': {}, 'sources': ['tiny'], 'files': ['README.md']}}}
    for name in ('osu-tiny-a', 'osu-tiny-b')}
FAMILIES = {'tiny': 'two tests'}
'''
TINY_SOURCES = '''
SOURCES['tiny'] = {'name': 'tiny', 'version': '1', 'file': 'tiny.tar.gz', 'url': 'https://example.org/tiny.tar.gz',
                   'sha256': 'SUM', 'licence': 'MIT'}
'''
TINY = """\
# NAME
Bootstrap: localimage
From: ROOT
Stage: build

%files
    sources/tiny.tar.gz /opt/files/tiny.tar.gz
    README.md /opt/files/README.md

%post
    mkdir -p /opt/tiny
    tar -xzf /opt/files/tiny.tar.gz -C /opt/tiny
    cp /opt/files/README.md /opt/tiny/
    tar -C / -cf /opt/packed.tar opt/tiny

Bootstrap: localimage
From: ROOT
Stage: runtime

%files from build
    /opt/packed.tar /opt/build.tar

%post
    tar -C / -xf /opt/build.tar opt/tiny
    rm /opt/build.tar
    echo "the runtime stage of NAME is here"

%test
    test "$(cat /opt/tiny/tiny.txt)" = x
    exit 0
"""
PROGRAMS = 'sh cp cat mkdir test true env uname ls tar gzip rm'.split()


class Tiny:
    """A copy of the project, in a folder whose name has a space, with two tiny images."""

    def __init__(self, folder):
        self.root = folder / 'a project'
        for name in ('scripts', 'osu_container', 'easyblocks', 'container-recipes'):
            shutil.copytree(
                PROJECT / name,
                self.root / name,
                ignore=shutil.ignore_patterns('__pycache__', 'rendered'),
            )
        self.readme = self.root / 'README.md'
        self.readme.write_text('read me\n')
        shutil.copy(
            PROJECT / 'Makefile', self.root
        )  # a Makefile marks a clone, and a clone keeps its work files in .workstation
        self.sources, self.work = self.root / 'sources', self.root / '.workstation' / 'image'
        self.sources.mkdir()
        (folder / 'tiny.txt').write_text('x')
        with tarfile.open(self.sources / 'tiny.tar.gz', 'w:gz') as archive:
            archive.add(folder / 'tiny.txt', 'tiny.txt')
        total = hashlib.sha256((self.sources / 'tiny.tar.gz').read_bytes()).hexdigest()
        for name, added in (
            ('images.py', TINY_CATALOGUE),
            ('versions.py', TINY_SOURCES.replace('SUM', total)),
        ):
            with open(self.root / 'osu_container' / 'build' / 'recipes' / name, 'a') as stream:
                stream.write(added)
        self.make_base(folder / 'base')
        rendered = self.root / 'container-recipes' / 'rendered'
        rendered.mkdir()
        for name in ('osu-tiny-a', 'osu-tiny-b'):
            text = TINY.replace('NAME', name).replace('ROOT', str(folder / 'base'))
            (rendered / f'{name}-ports.def').write_text(text)
        self.definition = rendered / 'osu-tiny-a-ports.def'
        self.environment = {
            **os.environ,
            'PATH': f"{PROJECT / '.workstation' / 'bin'}:{os.environ['PATH']}",
            'PYTHONDONTWRITEBYTECODE': '1',
        }

    @staticmethod
    def make_base(base):
        """
        Copy the programs of the definition file, with their libraries, to a root folder.
        """
        for name in PROGRAMS:
            path = shutil.which(name, path='/usr/bin:/bin')
            for file in (path, *re.findall(r'(/\S+) \(0x', run(['ldd', path]).stdout)):
                target = (
                    base
                    / ('bin' if file == path else os.path.dirname(file)[1:])
                    / os.path.basename(file)
                )
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)
        (base / 'var/lib/dpkg').mkdir(parents=True)
        (base / 'var/lib/dpkg/status').write_text(
            'Package: tiny-libs\nStatus: install ok installed\nVersion: 1.0\nDescription: what\n it is\n'
        )

    def __call__(self, *arguments, python=sys.executable):
        """Run `osu-container image build` in the copy; return (exit code, stdout with stderr)."""
        result = subprocess.run(
            [python, self.root / 'scripts' / 'osu-container', 'image', 'build', *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        return result.returncode, result.stdout

    def sif(self, name='osu-tiny-a'):
        """Return the path of an image."""
        return self.sources / f'{name}.sif'

    def record(self):
        """Return the build record of osu-tiny-a."""
        return json.loads(Path(f'{self.sif()}.json').read_text())

    def temporary_files(self):
        """Return the names of the temporary files and folders that still exist."""
        return [
            path.name
            for folder in (self.sources, self.work)
            for path in folder.iterdir()
            if path.name.startswith(('.', 'build-'))
        ]


@pytest.fixture(scope='module')
def tiny_project(tmp_path_factory):
    return Tiny(tmp_path_factory.mktemp('tiny'))


@pytest.fixture
def tiny(tiny_project):
    """Return the copy of the project; images and changes are removed after the test."""
    before = {path: path.read_text() for path in (tiny_project.definition, tiny_project.readme)}
    yield tiny_project
    for path in tiny_project.sources.glob('*osu-tiny*'):
        path.unlink()
    for path, text in before.items():
        path.write_text(text)


@pytest.mark.system
def test_build_writes_image_sum_record_and_log(tiny):
    code, output = tiny('osu-tiny-a')
    assert code == 0, output
    total = hashlib.sha256(tiny.sif().read_bytes()).hexdigest()
    assert Path(f'{tiny.sif()}.sha256').read_text() == f'{total}  osu-tiny-a.sif\n'
    record = tiny.record()
    assert record['sif-sha256'] == total and total in output
    assert record['packages'] == {'tiny-libs': '1.0'} and record['licences'] == {
        'tiny.tar.gz': ['tiny', '1', 'MIT']
    }
    assert 'the runtime stage of osu-tiny-a' in (tiny.work / 'log/image-osu-tiny-a.log').read_text()
    assert tiny.temporary_files() == []


@pytest.mark.system
@pytest.mark.skipif(PYTHON_36 is None, reason='Python 3.6 is not installed')
def test_python_3_6_builds_the_same_image(tiny):
    entries = []
    for python in (PYTHON_36, sys.executable):
        code, output = tiny('osu-tiny-a', '--force', python=python)
        assert code == 0, output
        entries.append((tiny.record()['inputs'], tiny.record()['packages']))
    assert entries[0] == entries[1]


@pytest.mark.system
def test_image_is_built_again_when_its_inputs_change(tiny):
    tiny('osu-tiny-a')
    for path, old, new in (
        (None, '', ''),
        (tiny.definition, 'is here', 'is there'),
        (tiny.readme, 'me', 'you'),
    ):
        before = tiny.sif().stat().st_mtime_ns
        if path:
            path.write_text(path.read_text().replace(old, new))
        code, output = tiny('osu-tiny-a')
        assert code == 0, output
        assert (tiny.sif().stat().st_mtime_ns == before) == (path is None)


@pytest.mark.system
def test_failed_build_keeps_old_image_and_continues_with_others(tiny):
    tiny('osu-tiny-a')
    old = tiny.sif().read_bytes()
    tiny.definition.write_text(tiny.definition.read_text().replace('exit 0', 'exit 7'))
    code, output = tiny('tiny', '--force')
    assert code == 1 and 'failed to execute %test' in output
    assert re.search(r'\b1\b.*\b2\b.*osu-tiny-a', output)
    assert str(tiny.work / 'log' / 'image-osu-tiny-a.log') in output
    assert (
        tiny.sif().read_bytes() == old
        and tiny.sif('osu-tiny-b').exists()
        and tiny.temporary_files() == []
    )


@pytest.mark.parametrize(
    'record', [None, '', '[]', '{"inputs": 7}', '{"inputs": {}, "sif-sha256": "other"}']
)
def test_image_of_the_user_is_not_replaced(tiny, record):
    tiny.sif().write_text('mine')
    if record is not None:
        Path(f'{tiny.sif()}.json').write_text(record)
    code, output = tiny('osu-tiny-a')
    assert code == 0 and '--force' in output and tiny.sif().read_text() == 'mine'


def test_device_is_not_replaced(tiny):
    code, output = tiny('osu-tiny-a', '--output', '/dev/null', '--force')
    assert code == 1 and '--output' in output and Path('/dev/null').is_char_device()


@pytest.mark.system
def test_check_builds_nothing(tiny, monkeypatch):
    assert tiny('--check', 'osu-tiny-a')[0] == 0
    assert not tiny.sif().exists()
    monkeypatch.setattr(image_build.platform, 'machine', lambda: 'riscv64')
    assert 'riscv64' in image_build.Build(NAME, image_build.BuildOptions()).find_problems()[0]

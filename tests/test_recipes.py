"""Recipes: every source is pinned, what is checked in is what HPCCM renders, the build keeps its promises."""

import ast
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import interruptible
from osu_archive import PROGRAMS, make_archive

PROJECT = Path(__file__).resolve().parent.parent
RECIPES = PROJECT / 'container-recipes'
RENDERED = RECIPES / 'rendered'
OSU_PORT = 'easyconfigs/o/osu-native/osu-port'
SIF = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
SHA256 = re.compile(r'\b[0-9a-f]{64}\b')

sys.path.append(str(RECIPES))
import versions  # noqa: E402

# What is pinned


@pytest.mark.parametrize('key', versions.SOURCES)
def test_source_is_pinned(key):
    source = versions.SOURCES[key]
    assert SHA256.fullmatch(source['sha256'])
    assert source['licence'] and source['name'] and source['version'] in source['file']
    assert source['url'] == 'PyPI' or re.fullmatch(rf"https://.*/{re.escape(source['file'])}", source['url'])


def test_no_two_sources_are_the_same():
    for field in ('file', 'sha256'):
        values = [source[field] for source in versions.SOURCES.values()]
        assert len(set(values)) == len(values)


def test_every_mpich_has_a_wheel_and_a_libfabric():
    wheels = {source['version'] for source in versions.SOURCES.values() if source['name'] == 'mpich'}
    # the stand-in for LUMI uses wheels that no image is made of
    assert wheels >= set(versions.MPICH_LIBFABRIC)
    assert versions.DEFAULT_MPICH in wheels


def test_other_files_pin_the_same_sums():
    """An easyconfig cannot read versions.py, and a script need not; they must not differ from it."""
    ours = {source['sha256'] for source in versions.SOURCES.values()}
    folder = PROJECT / 'easyconfigs/o/osu-native'
    port, *commands = (hashlib.sha256((folder / name).read_bytes()).hexdigest()
                       for name in ('osu-port', 'osu-gpu-bind', 'osu-explain'))
    for easyconfig in folder.glob('*.eb'):
        native = set(SHA256.findall(easyconfig.read_text()))
        assert native <= ours | {port, *commands}, easyconfig.name
        assert native >= {versions.SOURCES['osu']['sha256'], *commands}, easyconfig.name
    assert port in (folder / 'osu-native.eb').read_text()
    assert set(SHA256.findall((PROJECT / 'workstation/host_mpi.sh').read_text())) <= ours


# What is rendered

def render(folder, *arguments):
    """Run the render command of a copy of the recipes."""
    return subprocess.run([sys.executable, folder / 'render', *arguments], capture_output=True, text=True, timeout=120)


def test_rendered_text_is_current():
    done = render(RECIPES, '--check')
    assert (done.returncode, done.stdout, done.stderr) == (0, '', '')


def test_stale_text_is_found_and_named(tmp_path):
    copy = tmp_path / 'container-recipes'
    shutil.copytree(RECIPES, copy, ignore=shutil.ignore_patterns('__pycache__'))
    wheel = versions.SOURCES['mpich-4.2.3']['sha256']
    (copy / 'versions.py').write_text((copy / 'versions.py').read_text().replace(wheel, '0' * 64))
    done = render(copy, '--check')
    assert done.returncode == 1
    assert 'workstation-mpich-4.2.3.def, ' in done.stderr and 'workstation-mpich-4.2.3-mpi4py.Dockerfile' in done.stderr
    assert 'Run container-recipes/render' in done.stderr
    assert render(copy).returncode == 0
    assert render(copy, '--check').returncode == 0
    assert '0' * 64 in (copy / 'rendered' / 'workstation-mpich-4.2.3.def').read_text()


def test_no_file_is_there_that_is_not_rendered():
    names = {path.stem for path in RENDERED.iterdir()}
    text = (RECIPES / 'render').read_text()
    assert names == set(re.findall(r"^    '([\w.-]+)': \(", text, re.MULTILINE))


@pytest.mark.parametrize('path', sorted(RENDERED.iterdir()), ids=lambda path: path.name)
def test_header_says_what_is_in_the_image(path):
    text = path.read_text()
    header = text[:text.index('\n\n')]
    for part in ('Contents:', 'Building,', 'Running,', f'rendered/{path.stem}.def', f'rendered/{path.stem}.Dockerfile'):
        assert part in header
    mpi = re.search(r'org\.osu-container\.mpi[ =]"?MPICH ([\d.]+)', text).group(1)
    libfabric = re.search(r'org\.osu-container\.libfabric[ =]"?([\d.]+)', text).group(1)
    assert f'MPICH {mpi} with libfabric {libfabric} ' in header
    assert f'mpich-{mpi}-' in text and f'workstation-mpich-{mpi}' in path.name


@pytest.mark.parametrize('path', sorted(RENDERED.iterdir()), ids=lambda path: path.name)
def test_every_source_is_checked_before_it_is_used(path):
    text = path.read_text()
    copied = re.findall(r'sources/(\S+) /opt/files/', text)
    assert copied
    sums = {source['file']: source['sha256'] for source in versions.SOURCES.values()}
    for name in copied:
        wanted = re.search(rf'echo "(\S+|{{{{ OSU_SHA256 }}}})  /opt/files/{re.escape(name)}" \| sha256sum -c -', text)
        assert wanted, f'{name} is used unchecked'
        assert text.index(wanted.group(0)) < min(text.index(f'{use} /opt/files/{name}') for use in (
            'zipfile -e', 'tar -xzf') if f'{use} /opt/files/{name}' in text)
        if 'OSU_SHA256' in wanted.group(1):
            assert f'OSU_SHA256={sums[name]}' in text
        else:
            assert wanted.group(1) == sums[name]


def test_no_library_path_in_the_image():
    """It would stand before what a module injects."""
    for path in RENDERED.iterdir():
        assert 'LD_LIBRARY_PATH' not in path.read_text()


# The build command, with a stand-in for the container runtime and sources of one byte

FAKE_RUNTIME = """\
#!/bin/sh
# Writes what it was called with as the image: the file is the last but one argument, the recipe the last.
[ "$2" != --help ] || exit 0
for argument in "$@"; do recipe=$target; target=$recipe_next; recipe_next=$argument; done
echo "runtime was here"
{ echo "$@"; find -L . -type f | sort; } >"$target"
[ -z "${FAKE_SLEEP-}" ] || sleep "$FAKE_SLEEP"
exit "${FAKE_EXIT-0}"
"""


class Copy:
    """A copy of the recipes in a folder with a space, whose sources are files that hold the letter x."""

    def __init__(self, folder):
        self.root = folder / 'a project'
        self.sources = self.root / 'sources'
        self.sources.mkdir(parents=True)
        shutil.copytree(RECIPES, self.root / 'container-recipes', ignore=shutil.ignore_patterns('__pycache__'))
        (self.root / OSU_PORT).parent.mkdir(parents=True)
        shutil.copy(PROJECT / OSU_PORT, self.root / OSU_PORT)
        versions_py = self.root / 'container-recipes' / 'versions.py'
        self.sum = hashlib.sha256(b'x').hexdigest()
        with open(versions_py, 'a') as stream:
            stream.write(f"for _ in SOURCES.values():\n    _['sha256'] = '{self.sum}'\n")
        for source in versions.SOURCES.values():
            if source['name'] != 'osu-micro-benchmarks':
                (self.sources / source['file']).write_text('x')
        bin_folder = folder / 'bin'
        bin_folder.mkdir()
        (bin_folder / 'apptainer').write_text(FAKE_RUNTIME)
        (bin_folder / 'apptainer').chmod(0o755)
        self.environment = {**os.environ, 'PATH': f"{bin_folder}:{os.environ['PATH']}"}
        self.environment.pop('EASYBUILD_SOURCEPATH', None)
        self.sif = self.sources / SIF
        self.command = [sys.executable, self.root / 'container-recipes' / 'build', '--base', 'docker', '--no-download']

    def build(self, *arguments, **environment):
        """Run the build command; output and errors together."""
        done = subprocess.run([*self.command, *arguments], env={**self.environment, **environment}, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def left_over(self):
        """Return the names of temporary files and folders that are still there."""
        return [path.name for folder in (self.sources, self.root / '.workstation' / 'image') if folder.is_dir()
                for path in folder.iterdir() if path.name.startswith(('.', 'context-', 'base-new-'))]


@pytest.fixture
def copy(tmp_path):
    return Copy(tmp_path)


def test_build_writes_image_sum_and_record(copy):
    code, output = copy.build()
    assert code == 0, output
    assert "mpi4py's ports of the benchmarks, not the C programs" in output
    assert re.search(r'^\[ *\d+ s\] ', output, re.MULTILINE)
    total = hashlib.sha256(copy.sif.read_bytes()).hexdigest()
    assert Path(f'{copy.sif}.sha256').read_text() == f'{total}  {SIF}\n'
    assert json.loads(Path(f'{copy.sif}.json').read_text())['inputs']['osu'] == 'mpi4py 4.1.2 ports'
    assert 'workstation-mpich-4.2.3-mpi4py.def' in copy.sif.read_text()
    assert './easyconfigs/o/osu-native/osu-port' in copy.sif.read_text()
    assert copy.left_over() == []


def test_build_does_nothing_twice(copy):
    copy.build()
    before = copy.sif.stat().st_mtime_ns
    code, output = copy.build(FAKE_EXIT='1')
    assert (code, copy.sif.stat().st_mtime_ns) == (0, before)
    assert 'is current' in output


@pytest.mark.parametrize('change', ['recipe', 'image', 'port'])
def test_build_repeats_when_something_changed(copy, change):
    copy.build()
    path = {'recipe': copy.root / 'container-recipes/rendered/workstation-mpich-4.2.3-mpi4py.def', 'image': copy.sif,
            'port': copy.root / OSU_PORT}[change]
    path.write_text(path.read_text() + '# changed\n')
    _, output = copy.build()
    assert 'is current' not in output and 'sha256' in output
    assert 'is current' in copy.build()[1]


def test_archive_in_an_easybuild_source_path_gives_the_c_programs(copy, tmp_path):
    folder = tmp_path / 'my sources' / 'o' / 'osu-native'
    folder.mkdir(parents=True)
    (folder / versions.SOURCES['osu']['file']).write_text('x')
    code, output = copy.build(EASYBUILD_SOURCEPATH=f'/nowhere:{tmp_path}/my sources')
    assert code == 0, output
    text = copy.sif.read_text()
    assert 'rendered/workstation-mpich-4.2.3.def' in text and f'OSU_SHA256={copy.sum}' in text and 'OSU=7.5.2 C' in text
    assert './sources/osu-micro-benchmarks-7.5.2.tar.gz' in text
    assert json.loads(Path(f'{copy.sif}.json').read_text())['inputs']['osu'] == '7.5.2 C'


@pytest.mark.parametrize('key', ['mpich-4.2.3', 'osu'])
def test_wrong_sum_is_shown_and_nothing_is_removed(copy, key):
    path = copy.sources / versions.SOURCES[key]['file']
    path.write_text('y')
    code, output = copy.build()
    assert code == 1
    assert str(path) in output and copy.sum in output and hashlib.sha256(b'y').hexdigest() in output
    assert path.read_text() == 'y' and not copy.sif.exists() and copy.left_over() == []


@pytest.mark.parametrize('arguments, message', [
    (['--osu', 'c'], 'put it into one of the source paths'),
    (['--osu-archive', '/nowhere/a.tar.gz'], 'no file /nowhere/a.tar.gz'),
    (['--osu-archive', __file__], 'sha256 wanted'),
    (['--osu-archive', __file__, '--osu', 'mpi4py'], 'contradict'),
    (['--mpich', '5.0.2'], 'no '),
])
def test_what_cannot_be_done_is_said(copy, arguments, message):
    code, output = copy.build(*arguments)
    assert code == 1
    assert 'container-recipes/build: error: ' in output and message in output and 'Traceback' not in output
    assert not copy.sif.exists()


def test_failed_build_keeps_the_old_image_and_names_the_log(copy):
    copy.build()
    old = copy.sif.read_bytes()
    code, output = copy.build('--force', FAKE_EXIT='7')
    assert code == 1
    log = copy.root / '.workstation' / 'log' / 'image-build.log'
    assert 'exit code 7' in output and '    runtime was here' in output and str(log) in output
    assert 'runtime was here' in log.read_text()
    assert copy.sif.read_bytes() == old and copy.left_over() == []


@pytest.mark.parametrize('sign', [signal.SIGTERM, signal.SIGINT])
def test_interrupted_build_keeps_the_old_image(copy, sign):
    copy.build()
    old = copy.sif.read_bytes()
    child = subprocess.Popen([*copy.command, '--force'], env={**copy.environment, 'FAKE_SLEEP': '60'},
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
    log = copy.root / '.workstation' / 'log' / 'image-build.log'
    limit = time.monotonic() + 30
    while 'runtime was here' not in log.read_text() and time.monotonic() < limit:
        time.sleep(0.05)
    child.send_signal(sign)
    _, errors = child.communicate(timeout=30)
    assert child.returncode != 0 and 'Traceback' not in errors
    assert copy.sif.read_bytes() == old and copy.left_over() == []


def test_image_that_the_user_put_there_is_kept(copy):
    copy.sif.write_text('mine')
    code, output = copy.build()
    assert code == 0 and '--force' in output
    assert copy.sif.read_text() == 'mine'
    assert Path(f'{copy.sif}.sha256').read_text() == f"{hashlib.sha256(b'mine').hexdigest()}  {SIF}\n"


def test_test_archive_is_the_same_at_every_call(tmp_path):
    assert make_archive(tmp_path / 'a.tar.gz') == make_archive(tmp_path / 'b.tar.gz')


# A real image, built the C way

@pytest.fixture(scope='module')
def c_image(tmp_path_factory):
    """Image with the programs of the test archive; returns (path of the SIF, output of the build)."""
    folder = tmp_path_factory.mktemp('c image')
    archive = folder / 'osu-micro-benchmarks-7.5.2.tar.gz'
    total = make_archive(archive)
    sif = folder / 'c.sif'
    command = [sys.executable, RECIPES / 'build', '--osu-archive', archive, '--osu-sha256', total, '--output', sif,
               '--log', folder / 'build.log']
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return sif, total


def in_image(sif, *command):
    """Return the output of a command in the image. Nothing of the caller's environment goes in."""
    path = f"{PROJECT / '.workstation' / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(['apptainer', 'exec', '--cleanenv', sif, *command], env={**os.environ, 'PATH': path},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.apptainer
def test_c_programs_run_on_two_ranks(c_image):
    for program in PROGRAMS:
        output = in_image(c_image[0], '/opt/mpich/bin/mpiexec', '-n', '2',
                          f'/opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/{program}', '-m', '1:64', '-i', '20')
        sizes = [int(line.split()[0]) for line in output.splitlines() if not line.startswith('#')]
        assert sizes == [1, 2, 4, 8, 16, 32, 64], output


@pytest.mark.apptainer
def test_c_image_has_libraries_labels_and_size(c_image):
    sif, total = c_image
    assert sif.stat().st_size < 90e6
    program = '/opt/osu/libexec/osu-micro-benchmarks/mpi/pt2pt/osu_bw'
    found = in_image(sif, 'ldd', program)
    assert 'libmpi.so.12 => /opt/mpich/lib/libmpi.so.12' in found
    assert 'libfabric.so.1 => /opt/mpich/lib/mpich/libfabric.so.1' in found
    assert re.search(r'libfabric\.so\.1 .* => /opt/libfabric/lib/libfabric\.so\.1', in_image(sif, 'ldconfig', '-p'))
    # What a module puts in front must win over the path that is built into the programs.
    injected = in_image(sif, 'sh', '-c', f'cp /opt/mpich/lib/libmpi.so.12 /tmp && LD_LIBRARY_PATH=/tmp ldd {program}; '
                                         'rm -f /tmp/libmpi.so.12')
    assert 'libmpi.so.12 => /tmp/libmpi.so.12' in injected
    labels = ast.literal_eval(in_image(sif, 'python3', '-c',
                                       "import json; print(json.load(open('/.singularity.d/labels.json')))"))
    assert labels['org.osu-container.mpi'] == 'MPICH 4.2.3'
    assert labels['org.osu-container.libfabric'] == '1.22.0'
    assert labels['org.osu-container.osu'] == f'archive {total[:12]} C'  # must not pass for the release
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', labels['org.opencontainers.image.created'])

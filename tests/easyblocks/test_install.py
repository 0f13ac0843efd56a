"""
Real EasyBuild installs the real image; wrong input stops with a message and leaves nothing
behind.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.data.sites import SITES
from osu_container.image.libraries import compute_sha256
from tests.helpers import osu_archive
from tests.helpers.machine import (
    PROJECT,
    STATE,
    EasyBuild,
    assert_success,
    compile_library,
    fold_whitespace,
    mark_repeats_nightly,
    restore_sigint,
    run_clean_shell,
)

pytestmark = pytest.mark.system

IMAGE = SITES['workstation']['images']['value']['pure']
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]
OSU_NATIVE = 'easyconfigs/o/osu-native/osu-native.eb'
LIBMPI, LIBFABRIC = (
    SITES['workstation']['libraries'][name]['value'] for name in ('libmpi', 'libfabric')
)
FABRIC_1_9 = ''.join(
    f'FABRIC_1.{n} {{ global: f{n}; }}{f" FABRIC_1.{n - 1}" if n else ""};\n' for n in range(10)
)
FABRIC_1_6 = FABRIC_1_9.split('FABRIC_1.7')[0]


def format_workstation_file(root=STATE / 'host'):
    """
    Text of the local file that makes this machine the workstation, with its host tree at root
    (Path).
    """
    return f"SITE = 'workstation'\nROOT = '{root}'\n"


def use_image(easybuild, path, sha256=None):
    """
    Let easybuild find the file path (Path) under the site's image name, with its sha256 beside
    it.
    """
    folder = easybuild.prefix.parent / 'source'
    folder.mkdir(exist_ok=True)
    if path.resolve() != (folder / IMAGE).resolve():
        (folder / IMAGE).symlink_to(path)
    (folder / f'{IMAGE}.sha256').write_text(f'{sha256 or compute_sha256(path)}  {IMAGE}\n')
    easybuild.environment['EASYBUILD_SOURCEPATH'] = str(folder)


def format_fabric_source(names):
    return ''.join(f'void f{n}(void) {{}}\n' for n in names)


@pytest.fixture
def host(tmp_path):
    """
    Function (script, needed) that makes a host tree with a small libmpi and a libfabric; returns
    its root.
    """

    def make(script=FABRIC_1_9, needed=()):
        root = tmp_path / 'host'
        compile_library(root / LIBMPI.lstrip('/'))
        compile_library(
            root / LIBFABRIC.lstrip('/'),
            version_script=script,
            needed=needed,
            source=format_fabric_source(range(script.count('FABRIC_1.') // 2 + 1)),
        )
        return root

    return make


def assert_refused(easybuild, done, *texts):
    """The install failed, said all texts, and left neither software nor modules."""
    assert done.returncode != 0, done.stdout
    for text in texts:
        assert text in fold_whitespace(done.stdout), done.stdout[-3000:]
    assert [
        path for path in easybuild.list_leftovers() if not (easybuild.prefix / path).is_dir()
    ] == []


# ---- what works


@pytest.mark.parametrize('approach', mark_repeats_nightly(['bind', *CONTAINERS]))
def test_every_easybuild_installs_every_approach(any_eb, approach):
    """Also where a path has a space."""
    any_eb.prefix = any_eb.prefix.parent / 'with a space'
    any_eb.environment['EASYBUILD_INSTALLPATH'] = str(any_eb.prefix)
    any_eb.write_local_file(format_workstation_file())
    done = any_eb(f'osu-container-{approach}.eb', '-r')
    assert_success(done)
    root = any_eb.prefix / 'software' / 'osu-container' / approach
    facts = json.loads((root / 'facts.json').read_text())
    image = SITES['workstation']['images']['value'][approach]
    assert compute_sha256(root / image) == compute_sha256(PROJECT / 'sources' / image)
    assert sorted(path.name for path in (root / 'bin').iterdir()) == sorted(
        [
            *facts['image']['programs'],
            'run-in-container',
            'osu-shell',
            'osu-exec',
            'osu-explain',
            'osu-gpu-bind',
            'osu-proof',
            'start-shell',
        ]
    )
    injected = [library['soname'] for library in facts['host']['injected']]
    assert injected[: len(APPROACHES[approach]['inject'])] == [
        {'libmpi': 'libmpi.so.12', 'libfabric': 'libfabric.so.1'}[name]
        for name in APPROACHES[approach]['inject']
    ]
    assert not any(
        name.startswith(('libc.', 'ld-linux', 'libm.', 'libpthread')) for name in injected
    )
    default = any_eb.module('osu-container/pure').parent / 'default'
    assert default.is_symlink() == (approach == 'pure')
    shown = run_clean_shell(
        f'module use "{any_eb.prefix}/modules/all"; module load osu-container/{approach}; '
        'osu_latency --help'
    )
    assert shown.returncode == 0 and 'osu_latency' in shown.stdout, shown.stderr


@pytest.fixture
def c_archive(tmp_path):
    """
    An archive with the layout and build interface of the OSU Micro-Benchmarks, and an easyconfig
    with its sum.
    """
    archive = tmp_path / 'archive' / osu_archive.ARCHIVE
    archive.parent.mkdir()
    sha256 = osu_archive.make_archive(archive)
    text = (PROJECT / OSU_NATIVE).read_text()
    easyconfig = tmp_path / 'osu-native.eb'
    easyconfig.write_text(re.sub(r"(?m)^(checksums = \[)'\w{64}'", rf"\1'{sha256}'", text))
    return archive, easyconfig


def test_every_easybuild_builds_c_programs_of_a_local_archive(any_eb, c_archive):
    archive, easyconfig = c_archive
    any_eb.write_local_file(format_workstation_file())
    any_eb.environment['EASYBUILD_SOURCEPATH'] = str(archive.parent)
    any_eb.prefix = any_eb.prefix.parent / 'with a space'
    any_eb.environment['EASYBUILD_INSTALLPATH'] = str(any_eb.prefix)
    done = any_eb(easyconfig)
    assert_success(done)
    program = any_eb.prefix / f'software/osu-native/{osu_archive.RELEASE}/bin/osu_bw'
    assert program.resolve().read_bytes().startswith(b'\x7fELF') and 'libexec' in str(
        program.resolve()
    )
    shown = run_clean_shell(
        f'module use "{any_eb.prefix}/modules/all"; module help osu-native; module load osu-native; '
        'readelf -d "$(type -P osu_bw)"'
    )
    assert f"(OSU {osu_archive.RELEASE} C)" in shown.stderr
    assert f'{STATE}/host/opt/mpich/5.0.2/lib' in shown.stdout


def test_an_installation_is_replaced_while_its_module_is_loaded(any_eb, pure_prefix):
    any_eb.write_local_file(format_workstation_file())
    any_eb.prefix = any_eb.environment['EASYBUILD_PREFIX'] = pure_prefix
    done = run_clean_shell(
        f'module use {any_eb.prefix}/modules/all; module load osu-container/pure && '
        f'{any_eb.command} osu-container-pure.eb -r --rebuild && osu-exec true',
        **any_eb.environment,
    )
    assert done.returncode == 0 and 'COMPLETED' in done.stdout, done.stdout[-3000:] + done.stderr


@pytest.fixture(scope='module')
def pure_prefix(tmp_path_factory):
    """Prefix (Path) of an EasyBuild that has installed osu-container/pure."""
    made = EasyBuild('newest', tmp_path_factory.mktemp('pure') / 'prefix')
    made.write_local_file(format_workstation_file())
    assert made('osu-container-pure.eb', '-r').returncode == 0
    return made.prefix


@pytest.fixture
def pure_easybuild(pure_prefix):
    """That EasyBuild, for tests after which the module is there as before."""
    made = EasyBuild('newest', pure_prefix)
    made.write_local_file(format_workstation_file())
    return made


def test_rebuild_that_fails_keeps_the_older_installation(pure_easybuild):
    eb = pure_easybuild
    before = compute_sha256(eb.module('osu-container/pure')), eb.list_leftovers()
    done = eb(
        'osu-container-pure.eb',
        '-r',
        '--rebuild',
        '--disable-backup-modules',
        '--try-amend=sanity_check_commands=true,false',
    )
    assert done.returncode != 0 and 'Sanity check failed' in done.stdout
    assert (compute_sha256(eb.module('osu-container/pure')), eb.list_leftovers()) == before


def test_sanity_check_only_notices_that_the_host_changed(eb, host):
    root = host()
    eb.write_local_file(format_workstation_file(root))
    done = eb('osu-container-hybrid.eb', '-r', '--try-amend=sanity_check_commands=true,true')
    assert_success(done)
    library = root / LIBFABRIC.lstrip('/')
    compile_library(
        library, version_script=FABRIC_1_9, source=format_fabric_source(range(10)) + 'int newer;\n'
    )
    done = eb('osu-container-hybrid.eb', '--sanity-check-only')
    assert done.returncode != 0
    assert str(library) in fold_whitespace(done.stdout) and compute_sha256(library) in done.stdout
    library.unlink()
    done = eb('osu-container-hybrid.eb', '--sanity-check-only')
    assert "'workstation'" in done.stdout and str(library) in fold_whitespace(done.stdout)


# ---- what is wrong with the request or the image


@pytest.mark.parametrize(
    'options, text',
    [
        (['--try-amend=site=lummi'], "'lummi'"),
        ([], '--try-amend=site=NAME'),
        (['--try-amend=site=workstation', '--module-syntax=Tcl'], '--module-syntax=Lua'),
    ],
)
def test_a_wrong_request_is_refused(eb, options, text):
    assert_refused(eb, eb('osu-container-pure.eb', '-r', *options), text)


def test_missing_image_error_names_cause_and_build_command(eb, tmp_path):
    eb.write_local_file(format_workstation_file())
    eb.environment['EASYBUILD_SOURCEPATH'] = str(tmp_path / 'empty')
    done = eb('osu-container-pure.eb', '-r', '--try-amend=build_image=no')
    assert_refused(eb, done, 'build_image=no', f'{IMAGE}.sha256', str(tmp_path / 'empty'))


@pytest.mark.parametrize(
    'damage, text',
    [('no sum', 'sha256sum'), ('a wrong sum', '0' * 64), ('truncated', str(1 << 20))],
)
def test_a_damaged_image_is_refused(eb, tmp_path, damage, text):
    eb.write_local_file(format_workstation_file())
    image = tmp_path / 'x.sif'
    image.write_bytes(
        (PROJECT / 'sources' / IMAGE).read_bytes()[: 1 << 20 if damage == 'truncated' else None]
    )
    use_image(eb, image, sha256='0' * 64 if damage == 'a wrong sum' else None)
    if damage == 'no sum':
        (tmp_path / 'source' / f'{IMAGE}.sha256').unlink()
    assert_refused(eb, eb('osu-container-pure.eb', '-r'), text)


def test_failing_approach_is_installed_only_with_force(eb, host):
    eb.write_local_file(format_workstation_file(host(FABRIC_1_6)))
    assert_refused(
        eb, eb('osu-container-hybrid.eb', '-r'), 'FABRIC_1.7', 'libfabric.so.1', 'FABRIC_1.6'
    )
    done = eb(
        'osu-container-hybrid.eb', '-r', '--force', '--try-amend=sanity_check_commands=true,true'
    )
    assert done.returncode == 0 and 'FABRIC_1.7' in done.stdout, done.stdout[-3000:]
    facts = json.loads(
        (eb.prefix / 'software' / 'osu-container' / 'hybrid' / 'facts.json').read_text()
    )
    assert facts['verdict']['level'] == 'fails'
    # and it stays checkable afterwards
    assert eb('osu-container-hybrid.eb', '--sanity-check-only').returncode == 0


def test_installations_share_one_file_and_each_can_be_removed(eb):
    eb.write_local_file(format_workstation_file())
    assert eb('osu-container-pure.eb', 'osu-container-hybrid.eb', '-r').returncode == 0
    root = eb.prefix / 'software' / 'osu-container'
    assert (root / 'pure' / IMAGE).samefile(root / 'hybrid' / IMAGE)
    shutil.rmtree(root / 'pure')
    assert eb('osu-container-hybrid.eb', '-r', '--rebuild').returncode == 0
    assert compute_sha256(root / 'hybrid' / IMAGE) == compute_sha256(PROJECT / 'sources' / IMAGE)
    assert (root / 'hybrid' / IMAGE).stat().st_mode & 0o222 == 0


# ---- what goes wrong on the way


@pytest.fixture
def other_file_system(tmp_path):
    """A folder (Path) that no hard link leads to."""
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder:
        assert os.stat(folder).st_dev != os.stat(tmp_path).st_dev
        yield Path(folder)


@pytest.fixture
def large_image(other_file_system):
    """
    The image with 200 MB of nothing behind it, so that copying it takes long enough to be
    interrupted.
    """
    path = other_file_system / 'large.sif'
    shutil.copyfile(PROJECT / 'sources' / IMAGE, path)  # an image may be read only, and so its copy
    os.truncate(path, 1 << 28)
    return path


def start_copying_install(easybuild):
    """Start an install and return its process as soon as the copy of the image has begun."""
    process = subprocess.Popen(
        [str(easybuild.command), 'osu-container-pure.eb', '-r'],
        env=easybuild.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=restore_sigint,
    )
    part = easybuild.prefix / 'software' / 'osu-container' / 'pure.part' / IMAGE
    deadline = time.monotonic() + 120
    while not part.exists():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return process


def test_interrupted_install_leaves_nothing_and_can_be_repeated(eb, large_image):
    eb.write_local_file(format_workstation_file())
    use_image(eb, large_image)
    process = start_copying_install(eb)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert eb.list_leftovers() == []
    assert eb('osu-container-pure.eb', '-r').returncode == 0


@pytest.mark.nightly
def test_file_names_are_not_executed(eb, tmp_path, other_file_system):
    eb.write_local_file(format_workstation_file())
    image = other_file_system / '" .. os.execute("touch ran") .. "$(touch ran)\'.sif'
    shutil.copy(PROJECT / 'sources' / IMAGE, image)
    easyconfig = tmp_path / '" .. os.execute("touch ran") .. "; touch ran; \'.eb'
    easyconfig.write_text(
        (PROJECT / 'easyconfigs/o/osu-container/osu-container-pure.eb').read_text()
        + f'image = {str(image)!r}\nimage_sha256 = {compute_sha256(image).upper()!r}\n'
    )
    done = eb(easyconfig, '-r', cwd=tmp_path)
    assert_success(done)
    installed = eb.prefix / 'software' / 'osu-container' / 'pure' / image.name

    shown = run_clean_shell(
        f'cd {tmp_path}; module use {eb.prefix}/modules/all; module load osu-container/pure; '
        'echo "$SIF"; osu_latency --help >/dev/null && echo ran well; ls'
    )
    assert shown.stdout.startswith(f'{installed}\nran well\n') and shown.stderr == '', shown.stderr
    assert 'ran' not in shown.stdout.split('\n')[2:]


@pytest.mark.parametrize(
    'moment', mark_repeats_nightly(['post_install', 'post_module'])
)  # docs.easybuild.io/hooks
def test_killed_rebuild_keeps_an_installation_and_is_repeatable(pure_easybuild, tmp_path, moment):
    eb = pure_easybuild
    hooks = tmp_path / 'hooks.py'
    hooks.write_text(
        f'import os\ndef {moment}_hook(self, *args, **kwargs):\n    os.kill(os.getpid(), 9)\n'
    )
    done = eb(
        'osu-container-pure.eb', '-r', '--rebuild', '--disable-backup-modules', f'--hooks={hooks}'
    )
    assert done.returncode == -9
    assert compute_sha256(eb.prefix / 'software/osu-container/pure' / IMAGE) == compute_sha256(
        PROJECT / 'sources' / IMAGE
    )
    for lock in (eb.prefix / 'software' / '.locks').iterdir():  # docs/troubleshooting.md
        lock.rmdir()
    assert eb('osu-container-pure.eb', '-r', '--rebuild').returncode == 0
    assert not [path for path in eb.list_leftovers() if path.endswith(('.part', '.old'))]

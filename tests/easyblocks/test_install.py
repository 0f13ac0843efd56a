"""Real EasyBuild installs the real image; wrong input stops with a message and leaves nothing behind."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.reading.libraries import sha256_of
from tests.helpers import osu_archive
from tests.helpers.machine import (
    PROJECT,
    STATE,
    EasyBuild,
    clean_shell,
    compile_library,
    copy_c_library,
    folded,
    interruptible,
    one_of_each,
    run,
)

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.apptainer]

IMAGE = SITES['workstation']['images']['value']['pure']
CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]
OSU_NATIVE = 'easyconfigs/o/osu-native/osu-native.eb'
LIBMPI, LIBFABRIC = (SITES['workstation']['libraries'][name]['value'] for name in ('libmpi', 'libfabric'))
FABRIC_1_9 = ''.join(f'FABRIC_1.{n} {{ global: f{n}; }}{f" FABRIC_1.{n - 1}" if n else ""};\n' for n in range(10))
FABRIC_1_6 = FABRIC_1_9.split('FABRIC_1.7')[0]


def workstation(root=STATE / 'host'):
    """Text of the local file that makes this machine the workstation, with its host tree at root (Path)."""
    return f"SITE = 'workstation'\nROOT = '{root}'\n"


def use_image(easybuild, path, sha256=None):
    """Let easybuild find the file path (Path) under the site's image name, with its sha256 beside it."""
    folder = easybuild.prefix.parent / 'source'
    folder.mkdir(exist_ok=True)
    if path.resolve() != (folder / IMAGE).resolve():
        (folder / IMAGE).symlink_to(path)
    (folder / f'{IMAGE}.sha256').write_text(f'{sha256 or sha256_of(path)}  {IMAGE}\n')
    easybuild.environment['EASYBUILD_SOURCEPATH'] = str(folder)


def fabric_source(names):
    return ''.join(f'void f{n}(void) {{}}\n' for n in names)


@pytest.fixture
def host(tmp_path):
    """Function (script, needed) that makes a host tree with a small libmpi and a libfabric; returns its root."""
    def make(script=FABRIC_1_9, needed=()):
        root = tmp_path / 'host'
        compile_library(root / LIBMPI.lstrip('/'))
        compile_library(root / LIBFABRIC.lstrip('/'), version_script=script, needed=needed,
                        source=fabric_source(range(script.count('FABRIC_1.') // 2 + 1)))
        return root
    return make


@pytest.fixture(scope='session')
def image_with(make_sif, tmp_path_factory):
    """Function (soname) that makes a SIF with one small library that its ld.so.cache knows, libc, and an osu_bw."""
    def make(soname):
        folder = tmp_path_factory.mktemp('rootfs')
        for part in ('etc', 'usr/lib', 'bin'):
            (folder / 'root' / part).mkdir(parents=True)
        compile_library(folder / 'root' / 'usr' / 'lib' / soname)
        copy_c_library(folder / 'root' / 'usr' / 'lib')
        (folder / 'root' / 'bin' / 'sh').write_text('')
        (folder / 'root' / 'bin' / 'osu_bw').write_text('#!/bin/sh\n')
        (folder / 'root' / 'bin' / 'osu_bw').chmod(0o755)
        return make_sif(folder / 'image.sif', folder / 'root')
    return make


def assert_refused(easybuild, done, *texts):
    """The install failed, said all texts, and left neither software nor modules."""
    assert done.returncode != 0, done.stdout
    for text in texts:
        assert text in folded(done.stdout), done.stdout[-3000:]
    assert easybuild.left_behind() == []


# ---- what works

@pytest.mark.parametrize('approach', one_of_each(['bind', *CONTAINERS]))
def test_every_easybuild_installs_every_approach(any_eb, approach):
    any_eb.local(workstation())
    done = any_eb(f'osu-container-{approach}.eb', '-r')
    assert done.returncode == 0, done.stdout[-3000:]
    root = any_eb.prefix / 'software' / 'osu-container' / approach
    facts = json.loads((root / 'facts.json').read_text())
    image = SITES['workstation']['images']['value'][approach]
    assert sha256_of(root / image) == sha256_of(PROJECT / 'sources' / image)
    assert sorted(path.name for path in (root / 'bin').iterdir()) == sorted(
        [*facts['image']['programs'], 'run-in-container', 'osu-shell', 'osu-exec', 'osu-explain', 'osu-gpu-bind',
         'osu-proof', 'start-shell'])
    script, = (root / 'runscripts').iterdir()
    assert run(['bash', '-n', script]).returncode == 0 and 'srun -N2 -n2 osu_bw H H' in script.read_text()
    injected = [library['soname'] for library in facts['host']['injected']]
    assert injected[:len(APPROACHES[approach]['inject'])] == [
        {'libmpi': 'libmpi.so.12', 'libfabric': 'libfabric.so.1'}[name] for name in APPROACHES[approach]['inject']]
    assert not any(name.startswith(('libc.', 'ld-linux', 'libm.', 'libpthread')) for name in injected)
    default = any_eb.module('osu-container/pure').parent / 'default'
    assert default.is_symlink() == (approach == 'pure')


@pytest.mark.parametrize('approach', one_of_each(['bind', *CONTAINERS]))
def test_the_installed_module_is_the_described_one(eb, approach):
    from osu_container.generate import described_facts
    from osu_container.generate import module_files as render
    eb.local(workstation())
    assert eb(f'osu-container-{approach}.eb', '-r').returncode == 0
    root = eb.prefix / 'software' / 'osu-container' / approach
    facts = json.loads((root / 'facts.json').read_text())
    text = eb.module(f'osu-container/{approach}').read_text()
    for found, placeholder in ((str(root), render.INSTALL), (facts['host']['root'], described_facts.HOST),
                               (facts['host']['runtime']['command'], facts['host']['runtime']['name'])):
        text = text.replace(found, placeholder)
    described = described_facts.facts_of('workstation', f'osu-container/{approach}')['host']
    assert [one['soname'] for one in described['injected']] == [one['soname'] for one in facts['host']['injected']]
    compared = re.findall(r'^    \{ "([^"]+)", (\d+) \},$', text, re.M)
    assert bool(compared) == bool(described['injected'])
    assert all(int(size) == os.stat(path.replace(described_facts.HOST, facts['host']['root'])).st_size
               for path, size in compared)
    assert [render.for_reading(text)] == list(render.texts(
        str(eb.command), ['workstation'], lambda _: [f'osu-container/{approach}']).values())
    older = root / 'settings' / 'osu-settings' / 'older.lua'
    older.parent.mkdir(parents=True, exist_ok=True)
    older.write_text('')
    assert eb(f'osu-container-{approach}.eb', '--module-only', '--force').returncode == 0 and not older.exists()


@pytest.fixture
def c_archive(tmp_path):
    """An archive with the layout and build interface of the OSU Micro-Benchmarks, and an easyconfig with its sum."""
    archive = tmp_path / 'archive' / osu_archive.ARCHIVE
    archive.parent.mkdir()
    sha256 = osu_archive.make_archive(archive)
    text = (PROJECT / OSU_NATIVE).read_text()
    easyconfig = tmp_path / 'osu-native.eb'
    easyconfig.write_text(re.sub(r"(?m)^(checksums = \[)'\w{64}'", rf"\1'{sha256}'", text))
    return archive, easyconfig


def test_every_easybuild_builds_c_programs_where_their_archive_is_at_hand(any_eb, c_archive):
    archive, easyconfig = c_archive
    any_eb.local(workstation())
    any_eb.environment['EASYBUILD_SOURCEPATH'] = str(archive.parent)
    any_eb.prefix = any_eb.prefix.parent / 'with a space'
    any_eb.environment['EASYBUILD_INSTALLPATH'] = str(any_eb.prefix)
    done = any_eb(easyconfig)
    assert done.returncode == 0, done.stdout[-3000:]
    program = any_eb.prefix / f'software/osu-native/{osu_archive.RELEASE}/bin/osu_bw'
    assert program.resolve().read_bytes().startswith(b'\x7fELF') and 'libexec' in str(program.resolve())
    shown = clean_shell(f'module use "{any_eb.prefix}/modules/all"; module help osu-native; module load osu-native; '
                        'readelf -d "$(type -P osu_bw)"')
    assert f"(OSU {osu_archive.RELEASE} C)" in shown.stderr
    assert f'{STATE}/host/opt/mpich/5.0.2/lib' in shown.stdout


def test_c_archive_with_a_wrong_sum_stops_and_nothing_stands_in_for_it(eb, c_archive):
    archive, _ = c_archive
    eb.local(workstation())
    eb.environment['EASYBUILD_SOURCEPATH'] = f"{archive.parent}:{PROJECT / 'sources'}"
    done = eb('osu-native.eb', '-r')
    wanted = re.search(r"(?m)^checksums = \['(\w{64})'", (PROJECT / OSU_NATIVE).read_text()).group(1)
    assert_refused(eb, done, 'Checksum verification', wanted)
    assert 'stand in for' not in done.stdout


def test_an_install_path_with_a_space(tmp_path):
    easybuild = EasyBuild('newest', tmp_path / 'with a space' / 'prefix')
    easybuild.prefix.parent.mkdir()
    easybuild.local(workstation())
    done = easybuild('osu-container-bind.eb', '-r')
    assert done.returncode == 0, done.stdout[-3000:]
    shown = clean_shell(f'module use "{easybuild.prefix}/modules/all"; module load osu-container/bind; '
                        'osu_latency --help')
    assert shown.returncode == 0 and 'osu_latency' in shown.stdout, shown.stderr


def test_an_installation_is_replaced_while_its_module_is_loaded(any_eb, place_of_pure):
    any_eb.local(workstation())
    any_eb.prefix = any_eb.environment['EASYBUILD_PREFIX'] = place_of_pure
    done = clean_shell(f'module use {any_eb.prefix}/modules/all; module load osu-container/pure && '
                       f'{any_eb.command} osu-container-pure.eb -r --rebuild && osu-exec true', **any_eb.environment)
    assert done.returncode == 0 and 'COMPLETED' in done.stdout, done.stdout[-3000:] + done.stderr


@pytest.fixture(scope='module')
def place_of_pure(tmp_path_factory):
    """Prefix (Path) of an EasyBuild that has installed osu-container/pure."""
    made = EasyBuild('newest', tmp_path_factory.mktemp('pure') / 'prefix')
    made.local(workstation())
    assert made('osu-container-pure.eb', '-r').returncode == 0
    return made.prefix


@pytest.fixture
def with_pure(place_of_pure):
    """That EasyBuild, for tests after which the module is there as before."""
    made = EasyBuild('newest', place_of_pure)
    made.local(workstation())
    return made


def test_rebuild_that_fails_keeps_the_older_installation(with_pure):
    eb = with_pure
    before = sorted(eb.left_behind())
    done = eb('osu-container-pure.eb', '-r', '--rebuild', '--try-amend=sanity_check_commands=true,false')
    assert done.returncode != 0 and 'Sanity check failed' in done.stdout
    assert (eb.prefix / 'software' / 'osu-container' / 'pure' / IMAGE).is_file()
    assert sorted(path for path in eb.left_behind() if '.bak' not in path) == before


def test_sanity_check_only_notices_that_the_host_changed(eb, host):
    root = host()
    eb.local(workstation(root))
    done = eb('osu-container-hybrid.eb', '-r', '--try-amend=sanity_check_commands=true,true')
    assert done.returncode == 0, done.stdout[-3000:]
    library = root / LIBFABRIC.lstrip('/')
    compile_library(library, version_script=FABRIC_1_9, source=fabric_source(range(10)) + 'int newer;\n')
    done = eb('osu-container-hybrid.eb', '--sanity-check-only')
    assert done.returncode != 0
    assert f'host library {library} has changed since the module was installed' in folded(done.stdout)
    library.unlink()
    done = eb('osu-container-hybrid.eb', '--sanity-check-only')
    assert f"names a host path that does not exist: {library}" in folded(done.stdout)


# ---- what is wrong with the request

def test_unknown_site(any_eb):
    done = any_eb('osu-container-pure.eb', '-r', '--try-amend=site=lummi')
    assert_refused(any_eb, done, "unknown site 'lummi'; known sites:", 'workstation')


def test_an_easyconfig_of_an_older_release_is_to_be_written_again(eb):
    eb.local(workstation())
    assert_refused(eb, eb('osu-container-pure.eb', '-r', '--try-amend=sources=run-in-container,osu-explain'),
                   'lists sources (run-in-container)', 'osu-container new IMAGE --approach pure')


def test_machine_that_is_no_known_site(eb):
    assert_refused(eb, eb('osu-container-pure.eb', '-r'), 'is none of the known sites', '--try-amend=site=NAME')


def test_site_that_lacks_what_the_approach_needs(eb):
    laptop = dict(SITES['workstation'], libraries={})
    eb.local(f"SITE = 'laptop'\nROOT = ''\nSITES = {{'laptop': {laptop!r}}}\n")
    assert_refused(eb, eb('osu-container-bind.eb', '-r'), "which site 'laptop' does not have",
                   'approaches that need nothing more than it has: openmpi, opensource, pure')


def test_host_path_that_does_not_exist(eb, tmp_path):
    eb.local(workstation(tmp_path / 'nowhere'))
    assert_refused(eb, eb('osu-container-hybrid.eb', '-r'),
                   f"names host paths that do not exist: {tmp_path}/nowhere{LIBFABRIC}")


def test_tcl_modules_are_refused(eb):
    eb.local(workstation())
    assert_refused(eb, eb('osu-container-pure.eb', '-r', '--module-syntax=Tcl'), 'use --module-syntax=Lua')


# ---- what is wrong with the image

def no_image(easybuild, tmp_path):
    """Let easybuild find no image; return the empty folder (Path) that is its source path."""
    easybuild.local(workstation())
    (tmp_path / 'empty').mkdir()
    easybuild.environment['EASYBUILD_SOURCEPATH'] = str(tmp_path / 'empty')
    return tmp_path / 'empty'


def files_in(folder):
    """Return the names (set) of the files in a folder (Path); EasyBuild makes itself a folder o in a source path."""
    return {path.name for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(('option', 'image', 'why'), [
    ('build_image=no', IMAGE, 'Not built here: build_image=no was given'),
    ('build_image=auto', 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0.sif', 'min to build, and 15 are waited for'),
    ('build_image=auto', 'nobodys.sif', "Not built here: no image is called 'nobodys.sif'")])
def test_image_that_is_not_built_says_why_and_how(eb, tmp_path, option, image, why):
    folder = no_image(eb, tmp_path)
    done = eb('osu-container-pure.eb', '-r', f'--try-amend={option}', f'--try-amend=image={image}')
    assert_refused(eb, done, why, f'{image}.sha256 beside it', str(folder))
    assert files_in(folder) == set()


def test_image_without_a_sum(eb, tmp_path):
    eb.local(workstation())
    use_image(eb, PROJECT / 'sources' / IMAGE)
    (tmp_path / 'source' / f'{IMAGE}.sha256').unlink()
    assert_refused(eb, eb('osu-container-pure.eb', '-r'), 'No sha256 to check the image', 'sha256sum')


def test_image_with_a_wrong_sum(any_eb):
    any_eb.local(workstation())
    use_image(any_eb, PROJECT / 'sources' / IMAGE, sha256='0' * 64)
    found = sha256_of(PROJECT / 'sources' / IMAGE)
    assert_refused(any_eb, any_eb('osu-container-pure.eb', '-r'), f"found {found}, wanted {'0' * 64}")


def test_image_truncated(eb, tmp_path):
    eb.local(workstation())
    (tmp_path / 'short.sif').write_bytes((PROJECT / 'sources' / IMAGE).read_bytes()[:1 << 20])
    use_image(eb, tmp_path / 'short.sif')
    assert_refused(eb, eb('osu-container-pure.eb', '-r'), 'is truncated')


def test_image_without_mpi(eb, image_with):
    eb.local(workstation())
    use_image(eb, image_with('libother.so.1'))
    assert_refused(eb, eb('osu-container-pure.eb', '-r'), 'no MPI library is seen in the image')


def test_image_with_open_mpi(eb, image_with):
    eb.local(workstation())
    use_image(eb, image_with('libmpi.so.40'))
    assert_refused(eb, eb('osu-container-hybrid.eb', '-r'), 'is Open MPI (libmpi.so.40)', 'libmpi.so.12')


def test_image_whose_mpi_does_not_use_libfabric(eb, image_with):
    eb.local(workstation())
    use_image(eb, image_with('libmpi.so.12'))
    done = eb('osu-container-hybrid.eb', '-r', '--try-amend=sanity_check_commands=true,true')
    assert done.returncode == 0, done.stdout[-3000:]
    assert "WARNING: osu-container-hybrid.eb: approach will be 'works slowly': the image's libmpi.so.12 does not use " \
           "libfabric" in folded(done.stdout)
    facts = json.loads((eb.prefix / 'software' / 'osu-container' / 'hybrid' / 'facts.json').read_text())
    # its osu_bw is a script that starts nothing
    assert facts['verdict']['level'] == 'unknown' and facts['verdict']['forced'] is False
    assert 'no libfabric' in [finding['rule'] for finding in facts['verdict']['findings']]


def test_force_installs_what_is_known_to_fail_and_records_it(eb, host):
    eb.local(workstation(host(FABRIC_1_6)))
    done = eb('osu-container-hybrid.eb', '-r', '--force', '--try-amend=sanity_check_commands=true,true')
    assert done.returncode == 0, done.stdout[-3000:]
    assert "approach will be 'fails'" in folded(done.stdout) and 'needs FABRIC_1.7' in folded(done.stdout)
    facts = json.loads((eb.prefix / 'software' / 'osu-container' / 'hybrid' / 'facts.json').read_text())
    assert facts['verdict']['level'] == 'fails' and facts['verdict']['forced'] is True
    # and it stays checkable afterwards
    assert eb('osu-container-hybrid.eb', '--sanity-check-only').returncode == 0


# ---- what is wrong with the host

def test_host_libfabric_too_old_for_hybrid(any_eb, host):
    any_eb.local(workstation(host(FABRIC_1_6)))
    assert_refused(any_eb, any_eb('osu-container-hybrid.eb', '-r'), 'needs FABRIC_1.7 of libfabric.so.1',
                   'ends at FABRIC_1.6')


def test_sysroot_takes_the_place_of_the_host(eb, host):
    root = host()
    (root / 'usr' / 'bin').mkdir(parents=True)
    (root / 'usr' / 'bin' / 'env').symlink_to('/usr/bin/env')  # EasyBuild wants it in a sysroot, for its shebang fixes
    done = eb('osu-container-hybrid.eb', '-r', '--try-amend=site=workstation', f'--sysroot={root}',
              '--try-amend=sanity_check_commands=true,true')
    assert done.returncode == 0, done.stdout[-3000:]
    assert f'inject("{root}{os.path.dirname(LIBFABRIC)}/", "libfabric.so.1"' in eb.module(
        'osu-container/hybrid').read_text()


@pytest.mark.parametrize('place', one_of_each(['same', 'other']))
def test_installations_share_one_file_and_each_can_be_removed(eb, place, other_file_system):
    """With a source on the same file system and on another one."""
    eb.local(workstation())
    source = PROJECT / 'sources' / IMAGE
    if place == 'other':
        source = other_file_system / IMAGE
        shutil.copy(PROJECT / 'sources' / IMAGE, source)
        use_image(eb, source)
    assert eb('osu-container-pure.eb', 'osu-container-hybrid.eb', '-r').returncode == 0
    root = eb.prefix / 'software' / 'osu-container'
    assert (root / 'pure' / IMAGE).samefile(root / 'hybrid' / IMAGE)
    assert source.samefile(root / 'pure' / IMAGE) == (place == 'same')
    shutil.rmtree(root / 'pure')
    assert eb('osu-container-hybrid.eb', '-r', '--rebuild').returncode == 0
    assert sha256_of(root / 'hybrid' / IMAGE) == sha256_of(source)
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
    """The image with 200 MB of nothing behind it, so that copying it takes long enough to be interrupted."""
    path = other_file_system / 'large.sif'
    shutil.copyfile(PROJECT / 'sources' / IMAGE, path)  # an image may be read only, and so its copy
    os.truncate(path, 1 << 28)
    return path


def while_copying(easybuild):
    """Start an install and return its process as soon as the copy of the image has begun."""
    process = subprocess.Popen([str(easybuild.command), 'osu-container-pure.eb', '-r'], env=easybuild.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                               preexec_fn=interruptible)
    part = easybuild.prefix / 'software' / 'osu-container' / 'pure.part' / IMAGE
    deadline = time.monotonic() + 120
    while not part.exists():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    return process


def test_interrupted_install_leaves_nothing_and_can_be_repeated(eb, large_image):
    eb.local(workstation())
    use_image(eb, large_image)
    process = while_copying(eb)
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert eb.left_behind() == []
    assert eb('osu-container-pure.eb', '-r').returncode == 0


def test_two_installs_at_once(eb, large_image):
    eb.local(workstation())
    use_image(eb, large_image)
    process = while_copying(eb)
    os.killpg(process.pid, signal.SIGSTOP)  # the copy takes as long as the second one lasts
    try:
        second = eb('osu-container-pure.eb', '-r')
    finally:
        os.killpg(process.pid, signal.SIGCONT)
    first, _ = process.communicate(timeout=120)
    assert process.returncode == 0, first
    assert second.returncode != 0 and 'already exists, aborting' in folded(second.stdout)
    root = eb.prefix / 'software' / 'osu-container'
    assert [path.name for path in root.iterdir()] == ['pure']
    assert (root / 'pure' / IMAGE).stat().st_size == 1 << 28


def test_full_disk(eb):
    eb.local(workstation())
    eb.prefix.mkdir()
    size = (PROJECT / 'sources' / IMAGE).stat().st_size >> 20
    # A file system of its own that is too small; the mount ends with the process.
    script = f'mount -t tmpfs -o size={size // 2}m tmpfs "{eb.prefix}" && "$@"; code=$?; ' \
             f'find "{eb.prefix}/software" "{eb.prefix}/modules" -type f; exit $code'
    own = [] if os.getuid() == 0 else ['--map-root-user']
    done = run(['unshare', '--mount', *own, 'bash', '-c', script, 'bash', eb.command, 'osu-container-pure.eb', '-r'],
               env=eb.environment, stderr=subprocess.STDOUT)
    assert done.returncode != 0
    assert f'{size // 2} MB free' in folded(done.stdout) or 'MB free' in folded(done.stdout), done.stdout[-2000:]
    assert 'free some space or install elsewhere' in folded(done.stdout)
    assert not [line for line in done.stdout.splitlines() if line.startswith(str(eb.prefix) + '/') and IMAGE in line]


def limit_file_size():
    """Let this process write no file beyond 20 MB (RLIMIT_FSIZE): a copy ends as when a disk gets full meanwhile."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, 20 << 20))


def test_a_rebuild_whose_copy_fails_keeps_the_older_installation(with_pure, large_image):
    eb = with_pure
    use_image(eb, large_image)
    before = sha256_of(eb.module('osu-container/pure')), eb.left_behind()
    done = eb('osu-container-pure.eb', '-r', '--rebuild', '--disable-backup-modules', preexec_fn=limit_file_size)
    assert done.returncode != 0 and 'File too large' in done.stdout
    assert (sha256_of(eb.module('osu-container/pure')), eb.left_behind()) == before


# ---- what others can do, and what is left by kill -9

def flip(path):
    """Change one byte in the middle of the file path (Path), as a bad disk or another program does."""
    path.chmod(0o644)
    with path.open('r+b') as handle:
        handle.seek(path.stat().st_size // 2)
        byte = handle.read(1)
        handle.seek(-1, os.SEEK_CUR)
        handle.write(bytes([byte[0] ^ 1]))


def test_names_of_files_are_no_code_and_a_flipped_byte_is_told(eb, tmp_path, other_file_system):
    eb.local(workstation())
    image = other_file_system / '" .. os.execute("touch ran") .. "$(touch ran)\'.sif'
    shutil.copy(PROJECT / 'sources' / IMAGE, image)
    easyconfig = tmp_path / '" .. os.execute("touch ran") .. "; touch ran; \'.eb'
    easyconfig.write_text((PROJECT / 'easyconfigs/o/osu-container/osu-container-pure.eb').read_text()
                          + f'image = {str(image)!r}\nimage_sha256 = {sha256_of(image).upper()!r}\n')
    done = eb(easyconfig, '-r', cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    installed = eb.prefix / 'software' / 'osu-container' / 'pure' / image.name

    shown = clean_shell(f'cd {tmp_path}; module use {eb.prefix}/modules/all; module load osu-container/pure; '
                        'echo "$SIF"; osu_latency --help >/dev/null && echo ran well; ls')
    assert shown.stdout.startswith(f'{installed}\nran well\n') and shown.stderr == '', shown.stderr
    assert 'ran' not in shown.stdout.split('\n')[2:]
    flip(installed)
    done = eb(easyconfig, '--sanity-check-only', cwd=tmp_path)
    assert done.returncode != 0
    assert f'the image {installed} has changed since the module was installed (sha256 then' in folded(done.stdout)


@pytest.mark.parametrize('what', one_of_each(['easyconfig', 'easyconfig with --try-amend', 'local file', 'site file']))
def test_code_that_others_may_write_is_not_run(eb, tmp_path, what):
    eb.local(workstation())
    paths = {'easyconfig': tmp_path / 'own' / 'osu-container-pure.eb', 'site file': tmp_path / 'mine.py',
             'local file': tmp_path / 'local' / '_mpicontainer_local.py'}
    paths['easyconfig'].parent.mkdir()
    shutil.copy(PROJECT / 'easyconfigs/o/osu-container/osu-container-pure.eb', paths['easyconfig'])
    paths['site file'].write_text("SITE = 'x'\nSITES = {'x': {'based_on': 'workstation'}}\n")
    eb.environment['EASYBUILD_ROBOT_PATHS'] = f"{paths['easyconfig'].parent}:{PROJECT / 'easyconfigs'}"
    options = {'easyconfig with --try-amend': [paths['easyconfig'].name, '--try-amend=build_image=no'],
               'site file': [paths['easyconfig'], f'--try-amend=site={paths["site file"]}']}
    path = paths[what.partition(' with')[0]]
    path.chmod(0o646)
    assert_refused(eb, eb(*options.get(what, [paths['easyconfig']]), '-r'),
                   f'{path} is code that would run as you, and it may be written by everybody', f'chmod o-w {path}')


#: Moments of an installation: EasyBuild's hooks, docs.easybuild.io/hooks
MOMENTS = ['module_write', 'post_ready', 'post_install', 'post_sanitycheck', 'post_module']


@pytest.mark.parametrize('moment', one_of_each(MOMENTS))
def test_kill_of_a_rebuild_leaves_a_module_and_a_lock_with_a_remedy(with_pure, tmp_path, moment):
    eb = with_pure
    module = eb.module('osu-container/pure')
    before = module.read_text()
    hooks = tmp_path / 'hooks.py'
    hooks.write_text(f'import os\ndef {moment}_hook(self, *args, **kwargs):\n'
                     '    if not args or not str(args[0]).startswith("/tmp/eb-"):\n        os.kill(os.getpid(), 9)\n')
    done = eb('osu-container-pure.eb', '-r', '--rebuild', '--disable-backup-modules', f'--hooks={hooks}')
    assert done.returncode == -9
    assert module.read_text().splitlines()[:-1] == before.splitlines()[:-1]
    used = clean_shell(f'module use {eb.prefix}/modules/all; module load osu-container/pure && osu_latency --help')
    assert used.returncode == 0 and 'osu_latency' in used.stdout, used.stderr
    again = eb('osu-container-pure.eb', '-r', '--rebuild')
    remedy = re.search(r'Where no eb runs, here or on another node: (rmdir \S+), then eb again', folded(again.stdout))
    assert again.returncode != 0 and remedy, again.stdout[-2000:]
    assert run(['bash', '-c', remedy.group(1)]).returncode == 0
    assert eb('osu-container-pure.eb', '-r', '--rebuild').returncode == 0
    assert not [path for path in eb.left_behind() if path.endswith(('.part', '.old'))]


@pytest.mark.skipif(os.getuid() != 0, reason='what an ordinary user keeps to himself is no mistake')
def test_root_is_told_that_nobody_else_could_load_the_module(eb, tmp_path):
    no_image(eb, tmp_path)
    done = eb('osu-container-pure.eb', '-r', '--try-amend=build_image=no', preexec_fn=lambda: os.umask(0o077))
    assert ('nobody but root will be able to use osu-container/pure (for others Lmod knows no such module): umask is '
            '077. For all: eb --umask=022') in folded(done.stdout)

"""make-squashfs and unmake-squashfs: what they change, and that what fails or is interrupted loses nothing."""
import os
import shutil
import signal
import subprocess
import time

import pytest

from tests.helpers.machine import PROJECT, run

SCRIPT = PROJECT / 'easyconfigs' / 'o' / 'osu-container' / 'make-squashfs'
FOLDER, IMAGE = 'user-software', 'user-software.squashfs'


@pytest.fixture
def installed(tmp_path):
    """An installation with some software of the user; returns a function that runs one of the commands."""
    root = tmp_path / 'a folder'
    (root / 'bin').mkdir(parents=True)
    shutil.copy(SCRIPT, root / 'bin' / 'make-squashfs')
    (root / 'bin' / 'unmake-squashfs').symlink_to('make-squashfs')
    (root / FOLDER / 'venv' / 'bin').mkdir(parents=True)
    (root / FOLDER / 'venv' / 'bin' / 'tool').write_bytes(os.urandom(300000))
    (root / FOLDER / 'venv' / 'bin' / 'tool').chmod(0o755)
    (root / FOLDER / 'venv' / 'link').symlink_to('bin/tool')

    def call(name, *arguments, **kwargs):
        return run([root / 'bin' / name, *arguments], **kwargs)
    call.root = root
    return call


def content(root):
    """What is there of the user's (dict): path -> bytes, or where a link leads; mode."""
    found = {}
    for path in sorted(root.glob('user-software*')):
        for one in [path, *sorted(path.rglob('*'))]:
            found[str(one.relative_to(root))] = (os.readlink(one) if one.is_symlink() else one.is_file()
                                                 and one.read_bytes(), one.lstat().st_mode)
    return found


def test_packing_and_unpacking_gives_the_same(installed):
    before = content(installed.root)
    done = installed('make-squashfs')
    assert done.returncode == 0 and list(content(installed.root)) == [IMAGE], done.stderr
    assert f'{IMAGE} has taken the place of {FOLDER}' in done.stdout
    done = installed('unmake-squashfs')
    assert done.returncode == 0 and content(installed.root) == before, done.stderr


@pytest.mark.parametrize('name, change, says', [
    ('unmake-squashfs', None, f'there is no .*/{IMAGE}. Nothing to do: .* has {FOLDER}$'),
    ('make-squashfs', lambda root: shutil.rmtree(root / FOLDER), f'there is no .*/{FOLDER}. Nothing .* has neither$'),
    ('make-squashfs', lambda root: (root / IMAGE).touch(), 'has both .* Remove the one that is older: rm -r '),
    ('unmake-squashfs', lambda root: (root / FOLDER).rename(root / 'away') and (root / IMAGE).write_text('damaged'),
     'unsquashfs failed, and .* is as it was: ')])
def test_what_cannot_be_is_said_and_nothing_changes(installed, name, change, says):
    if change:
        change(installed.root)
    before = content(installed.root)
    done = installed(name)
    assert done.returncode == 1 and content(installed.root) == before
    assert run(['grep', '-Eq', says], input=done.stderr).returncode == 0, done.stderr


@pytest.mark.parametrize('name, made', [('make-squashfs', IMAGE), ('unmake-squashfs', FOLDER)])
def test_a_full_disk_loses_nothing(installed, name, made):
    if name == 'unmake-squashfs':
        assert installed('make-squashfs').returncode == 0
    before = content(installed.root)
    done = run(['bash', '-c', 'ulimit -f 100; trap "" XFSZ; exec "$0"', installed.root / 'bin' / name])
    assert done.returncode == 1 and content(installed.root) == before, done.stdout
    assert 'failed, and ' in done.stderr and 'is as it was' in done.stderr and 'are free there' in done.stderr
    assert installed(name).returncode == 0 and list(content(installed.root))[0] == made


@pytest.mark.parametrize('name, program', [('make-squashfs', 'mksquashfs'), ('unmake-squashfs', 'unsquashfs')])
@pytest.mark.parametrize('sent', [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interruption_loses_nothing(installed, tmp_path, name, program, sent):
    """While the program writes, by a terminal or a job's end: all processes get the signal."""
    if name == 'unmake-squashfs':
        assert installed('make-squashfs').returncode == 0
    before, path = content(installed.root), tmp_path / 'path'
    path.mkdir()
    # bash goes on after a SIGINT that met a program which did not end by it
    (path / program).write_text(f'#!/bin/bash\ntrap "exit 130" INT\n{shutil.which(program)} "$@"\n'
                                f'touch {tmp_path}/half; exec sleep 60\n')
    (path / program).chmod(0o755)
    process = subprocess.Popen([str(installed.root / 'bin' / name)], start_new_session=True,
                               env={**os.environ, 'PATH': f"{path}:{os.environ['PATH']}"}, stderr=subprocess.PIPE,
                               text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not (tmp_path / 'half').exists():
        time.sleep(0.02)
    os.killpg(process.pid, sent)
    said = process.communicate(timeout=20)[1]
    left = content(installed.root)
    assert process.returncode and {key: left[key] for key in before} == before
    if sent != signal.SIGKILL:
        assert left == before and 'interrupted; ' in said, said
    done = installed(name)
    assert done.returncode == 0 and not list(installed.root.glob('*.part')), done.stderr

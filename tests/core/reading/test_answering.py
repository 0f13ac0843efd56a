"""Files that never answer, on a FUSE mount whose server goes silent: each command names them after a time, and ends."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from osu_container.core.reading import answering
from osu_container.results.example_runs import CASES, make_run
from tests.helpers.machine import PROJECT, run
from tests.helpers.sif import pack, write_sif

PATIENCE = 3
OURS = str(PROJECT / 'bin' / 'osu-container')
#: Says what a process of somebody else, such as EasyBuild, is told
ALONE = ('import sys; from osu_container.core.reading import {}\ntry: {}\n'
         'except answering.NoAnswer as err: sys.exit(str(err))')
TOUCH = ALONE.format('answering', 'answering.touch(sys.argv[1])')
LIST = ALONE.format('answering, image', 'image.Squashfs(sys.argv[1], int(sys.argv[2]))')


@pytest.fixture(scope='module')
def silent(tmp_path_factory):
    """Return {(words of a command): (code, stdout, stderr, seconds)} of commands whose file never answers."""
    folder = tmp_path_factory.mktemp('silent')
    mount, files, host = (folder / name for name in ('mount', 'files', 'host'))
    for one in (mount, files, host / 'opt', folder / 'module' / 'bin'):
        one.mkdir(parents=True)
    root = folder / 'image'
    (root / 'usr/lib').mkdir(parents=True)
    (root / 'usr/lib/large').write_bytes(os.urandom(1 << 20))
    squashfs = write_sif(files / 'x.sif', pack(root, folder / 'squashfs').read_bytes(), {'label': 'text'})
    offset = str(squashfs.read_bytes().index(b'hsqs'))
    make_run(folder / 'run', approaches=('native',), cases=CASES[:1], repeats=1, sizes=(1,))
    shutil.copy(folder / 'run' / 'results.jsonl', files)
    for name in ('site.py', 'settings.json', 'rank-0.json', 'job.out', 'site.json'):
        (files / name).write_text('x' * (1 << 18))
    # what a module has, with its settings on the mount
    shutil.copy(PROJECT / 'easyconfigs/o/osu-container/osu-explain', folder / 'module' / 'bin')
    (folder / 'module' / 'proof').mkdir()
    os.symlink(PROJECT / 'osu_container', folder / 'module' / 'proof' / 'osu_container')
    os.symlink(mount / 'open' / 'settings.json', folder / 'module' / 'settings.json')
    os.symlink(mount / 'look' / 'x.sif', host / 'opt' / 'cray')
    commands = {}
    for words in ([OURS, 'check', 'look/x.sif', '--site', 'workstation'], [OURS, 'check', 'open/x.sif'],
                  [OURS, 'check', 'later/x.sif', '--site', 'workstation'], [OURS, 'new', 'read/x.sif'],
                  [OURS, 'why', 'later/job.out'], [OURS, 'compare', 'read/results.jsonl', 'lumi-g-2025-03'],
                  [OURS, 'import', 'open/job.out'],
                  [OURS, 'report', 'read/results.jsonl', '-o', str(folder / 'x.html')],
                  [OURS, 'image', 'verify', 'read/x.sif'], [OURS, 'discover', '--compare', 'look/site.py'],
                  [OURS, 'discover', '--compare', 'open/site.json'], [OURS, 'proof', 'look/rank-0.json'],
                  [sys.executable, '-c', TOUCH, 'read/x.sif'], [sys.executable, '-c', LIST, 'later/x.sif', offset]):
        path = next(word for word in words if re.match('(look|open|read|later)/', word))
        name = ' '.join(words[1:]).split('\n')[0]
        commands[name] = path, [str(mount / word) if word == path else word for word in words]
    commands['osu-explain'] = 'module/settings.json', [str(folder / 'module' / 'bin' / 'osu-explain')]
    commands['discover --sysroot'] = 'opt/cray/pe', [OURS, 'discover', '--sysroot', str(host)]
    (folder / 'commands').write_text(json.dumps([words for _, words in commands.values()]))
    done = run(['unshare', '--map-root-user', '--mount', sys.executable, PROJECT / 'tests/helpers/silent_mount.py',
                mount, files, '200', folder / 'commands'], cwd=PROJECT, timeout=250,
               env={**os.environ, answering.VARIABLE: str(PATIENCE), 'TMPDIR': str(folder), 'PYTHONPATH': str(PROJECT)})
    if done.returncode == 99 or 'unshare' in done.stderr:
        pytest.skip('this user may not mount FUSE')
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(folder.glob('mpicontainer-*')), 'temporary folders are left'
    return {name: (path, *found) for (name, (path, _)), found in zip(commands.items(), json.loads(done.stdout))}


def test_every_command_names_the_file_that_does_not_answer_and_ends(silent):
    for name, (path, code, out, err, seconds) in silent.items():
        assert code == 1 and f'{path} does not answer: nothing came for {PATIENCE} s' in err, (name, code, out, err)
        assert seconds >= PATIENCE and 'Traceback' not in err and err.count('\n') == 1, (name, seconds, err)
    assert len(silent) == 16


#: A command that a library holds for ever, so that it can heed no signal
HELD = """import signal, sys
from osu_container.core.reading import answering
if 'ignored' in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
answering._GRACE = 0.2
answering.begin('osu-container compare')
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
print('held', flush=True)
while True:
    pass
"""


@pytest.mark.parametrize('name', ['SIGINT', 'SIGTERM', 'SIGHUP'])
def test_a_command_that_cannot_heed_its_end_is_ended_by_force(name):
    number = getattr(signal, name)
    # as a shell's job: a test in the background of a script would hand an ignored SIGINT on
    with subprocess.Popen([sys.executable, '-c', HELD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=PROJECT,
                          text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)) as process:
        assert process.stdout.readline() == 'held\n'
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (128 + number, f'osu-container compare: ended by {name}\n')


def test_nohup_keeps_such_a_command():
    with subprocess.Popen([sys.executable, '-c', HELD, 'ignored'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=PROJECT, text=True) as process:
        assert process.stdout.readline() == 'held\n'
        process.send_signal(signal.SIGHUP)
        time.sleep(1)
        assert process.poll() is None
        process.terminate()
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (143, 'osu-container compare: ended by SIGTERM\n')

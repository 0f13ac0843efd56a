"""
What matters of namespaces, files and rights, once more as an ordinary user: root hides missing rights.

Where the tests run as root they make an account and give it a copy of this clone, with links to what the set-up has
made. There it runs what has the marker as_user: EasyBuild installs, and ranks start in containers under a Slurm of the
account's own. Where the tests run as an ordinary user that has happened already.
"""
import os
import pwd
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from tests.helpers.machine import PROJECT, STATE, run
from tests.image.test_images_run import FOLDER, OPENMPI, built  # noqa: F401, built is a fixture

pytestmark = [pytest.mark.long, pytest.mark.alone,
              pytest.mark.apptainer, pytest.mark.skipif(os.getuid() != 0, reason='the tests run as an ordinary user')]

ACCOUNT = 'osu-tester'
#: Of .workstation: what commands write there is the account's own
WRITTEN = ('slurm', 'lock', 'log')
#: Run by root in a mount namespace of its own: folders, '--', command. Where a folder lies below one that only root may
#: enter (a clone, a Python in root's home), the account reaches it at the same path.
REACHABLE = r'''
set -euo pipefail
stash=/mnt hidden=() folders=()
mount -t tmpfs -o mode=755 tmpfs "$stash"
while [[ $1 != -- ]]; do
    path='' folders+=("$1")
    mkdir -p "$stash$1"; mount --bind "$1" "$stash$1"
    IFS=/ read -ra parts <<<"${1#/}"
    for part in "${parts[@]}"; do
        path=$path/$part
        [[ $(stat -c %A "$path") == *[xt] ]] || { hidden+=("$path"); break; }
    done
    shift
done
for path in "${hidden[@]}"; do mount -t tmpfs -o mode=755 tmpfs "$path"; done
for path in "${folders[@]}"; do mkdir -p "$path"; mount --bind "$stash$path" "$path"; done
shift
exec "$@"
'''


def as_user(*command, folder='/', **kwargs):
    """Run a command (strings) in a folder as the account, in the environment of a log-in."""
    home = pwd.getpwnam(ACCOUNT).pw_dir
    folders = sorted({str(path.resolve()) for path in (PROJECT, STATE / 'venv', Path(sys.base_prefix))})
    account = ['runuser', '-u', ACCOUNT, '--', 'env', '-i', f'HOME={home}', f'USER={ACCOUNT}', 'LC_ALL=C.UTF-8',
               'PATH=/usr/local/bin:/usr/bin:/bin', 'sh', '-c', 'cd "$0" && exec "$@"', folder]
    return run(['unshare', '--mount', 'bash', '-c', REACHABLE, 'bash', *folders, '--', *account, *command],
               errors='replace', **kwargs)


@pytest.fixture(scope='module')
def clone(built):  # noqa: F811, a fixture
    """A copy of this clone in the home folder of a fresh account, with this set-up; all is gone afterwards."""
    remove()
    fuse = Path('/dev/fuse')
    before = fuse.stat().st_mode
    fuse.chmod(0o666)  # the mode that udev gives it; a container may lack udev
    done = run(['useradd', '--create-home', '--shell', '/bin/bash', ACCOUNT])
    assert done.returncode == 0, done.stderr
    home = Path(pwd.getpwnam(ACCOUNT).pw_dir)
    folder = home / 'clone'
    try:
        tracked = run(['git', '-C', PROJECT, 'ls-files', '-co', '--exclude-standard']).stdout.split('\n')
        for name in filter(lambda name: name and os.path.lexists(PROJECT / name), tracked):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, target, follow_symlinks=False)
        built(OPENMPI)
        for path in [*(PROJECT / 'sources').iterdir(), *FOLDER.glob(f'{OPENMPI}.sif*')]:
            if path.is_file() and path.name != 'README.md':
                shutil.copy(path, folder / 'sources')
        (folder / '.workstation').mkdir()
        for path in STATE.iterdir():
            if path.name not in WRITTEN:
                (folder / '.workstation' / path.name).symlink_to(path)
        run(['chown', '-R', '--no-dereference', f'{ACCOUNT}:', home])
        yield folder
    finally:
        if folder.exists():
            as_user('workstation/slurm.sh', 'stop', folder=folder)
        remove()
        fuse.chmod(before)


def remove():
    """Remove the account with its processes and its home folder, if it is there."""
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        return
    run(['pkill', '-KILL', '-u', ACCOUNT])
    # its temporary files too: the next account of this name may have another number, and pytest refuses such a folder
    run(['find', tempfile.gettempdir(), '/dev/shm', '-maxdepth', '1', '-user', ACCOUNT,
         '-exec', 'rm', '-rf', '{}', '+'])
    done = run(['userdel', '--remove', '--force', ACCOUNT])
    assert done.returncode in (0, 12), done.stderr  # 12: its mail folder is not there


def passed(clone, *chosen):
    """Run tests (pytest's words, str) in clone as that user; return how many (int) passed, which is all of them."""
    done = as_user(clone / '.workstation/venv/bin/pytest', *chosen, '-q', '-p', 'no:cacheprovider',
                   '--basetemp', clone.parent / 'pytest', folder=clone, timeout=900)
    summary = done.stdout.strip().splitlines()[-1]
    assert done.returncode == 0, done.stdout[-5000:]
    ran = {word: int(number) for number, word in re.findall(r'(\d+) (\w+)[, ]', summary)}
    assert set(ran) <= {'passed', 'deselected', 'warnings'}, summary
    return ran['passed']


def test_what_matters_of_namespaces_and_rights_passes_as_an_ordinary_user_too(clone):
    files = ['tests/runs/test_approaches.py', 'tests/easyconfigs/test_run_in_container.py']
    assert passed(clone, *files, '-m', 'as_user and not full') > 8


def test_without_dev_fuse_eb_and_commands_name_the_cause_and_what_goes_without_it(clone):
    fuse = Path('/dev/fuse')
    install = '. ./env.sh && eb osu-container-pure.eb -r --rebuild'
    start = '. ./env.sh && module load osu-container/pure && osu-exec echo it runs'
    fuse.chmod(0o600)
    try:
        done = as_user('bash', '-c', install, folder=clone, timeout=600)
        assert done.returncode != 0 and '/dev/fuse' in done.stdout + done.stderr
        assert not list(clone.parent.glob('.local/easybuild/modules/all/osu-container/*')), 'nothing is installed'
        fuse.chmod(0o666)
        done = as_user('bash', '-c', install, folder=clone, timeout=600)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
        fuse.chmod(0o600)
        done = as_user('bash', '-c', start, folder=clone)
        assert done.returncode != 0 and '/dev/fuse' in done.stderr
        said = run([PROJECT / 'bin' / 'osu-container', 'why'], input=done.stderr).stdout
        assert 'no right to mount' in said and 'MPI_CONTAINER_OPTIONS=--unsquash' in said
        done = as_user('bash', '-c', 'export MPI_CONTAINER_OPTIONS=--unsquash; ' + start, folder=clone)
        assert done.returncode == 0 and 'it runs' in done.stdout, done.stderr
    finally:
        fuse.chmod(0o666)

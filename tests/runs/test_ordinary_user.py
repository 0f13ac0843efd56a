"""
Run tests that depend on namespaces and file permissions as an ordinary user, because root hides
missing permissions.

If pytest runs as root, a fixture creates an account and copies this clone into its home, with links
to the set-up. There the account runs the commands of the pages and the tests of shared containers
with its own Slurm.
"""

import contextlib
import ctypes
import functools
import os
import pwd
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.build.test_images_run import FOLDER, OPENMPI, build_image  # noqa: F401, built is a fixture
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, STATE, assert_success, run

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.getuid() != 0, reason='the tests run as an ordinary user'),
]

ACCOUNT = 'osu-tester'
#: Parts of .workstation that commands write to: the account has its own
WRITTEN = 'slurm lock log image images-of-tests bin'.split()
#: Script that root runs in a new mount namespace with the arguments: folders, '--', command. A
#: folder may be below a folder that only root may enter (a clone or a Python in root's home): the
#: script makes the folder accessible for the account at the same path.
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
#: Script that root also runs there, with the arguments: folders that replace /tmp, /dev/shm and
#: /var/tmp, then a command
PLACES = (
    'for place in /tmp /dev/shm /var/tmp; do mount --bind "$1" "$place"; shift; done; exec "$@"'
)


def run_as_user(*command, folder='/', places=(), **kwargs):
    """
    Run a command (arguments, str) in a folder as the account, with the environment of a login; the
    three folders of `places` replace those of PLACES.
    """
    home = pwd.getpwnam(ACCOUNT).pw_dir
    folders = sorted(
        {str(path.resolve()) for path in (PROJECT, STATE / 'venv', Path(sys.base_prefix))}
    )
    account = (
        f'runuser -u {ACCOUNT} -- env -i HOME={home} USER={ACCOUNT} LC_ALL=C.UTF-8 '
        'PATH=/usr/local/bin:/usr/bin:/bin sh -c'
    ).split() + ['cd "$0" && exec "$@"', folder]
    places = ['bash', '-euc', PLACES, 'bash', *places] if places else []
    outer = ['unshare', '--mount', 'bash', '-c', REACHABLE, 'bash', *folders, '--']
    return run(
        [*outer, *places, *account, *command],
        errors='replace',
        **kwargs,
    )


@pytest.fixture(scope='module')
def clone(build_image):  # noqa: F811, a fixture
    """
    Yield a copy of this clone (Path) in the home folder of a new account, with this set-up; remove
    both afterwards.
    """
    remove_account()
    fuse = Path('/dev/fuse')
    before = fuse.stat().st_mode
    fuse.chmod(0o666)  # the mode that udev gives it; a container may lack udev
    done = run(f'useradd --create-home --shell /bin/bash {ACCOUNT}'.split())
    assert_success(done)
    home = Path(pwd.getpwnam(ACCOUNT).pw_dir)
    folder = home / 'clone'
    try:
        tracked = run(['git', '-C', PROJECT, 'ls-files', '-co', '--exclude-standard']).stdout.split(
            '\n'
        )
        for name in filter(lambda name: name and os.path.lexists(PROJECT / name), tracked):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, target, follow_symlinks=False)
        build_image(OPENMPI)
        for path in [*(PROJECT / 'sources').iterdir(), *FOLDER.glob(f'{OPENMPI}.sif*')]:
            if path.is_file() and path.name != 'README.md':
                shutil.copy(path, folder / 'sources')
        images = folder / '.workstation' / FOLDER.name
        images.mkdir(parents=True)
        for name in ('lammps', 'debian'):
            foreign_images.make(name, STATE / 'bin' / 'apptainer')
            for path in FOLDER.glob(f'foreign-{name}.s*'):
                shutil.copy(path, images)
        for path in STATE.iterdir():
            if path.name not in WRITTEN:
                (folder / '.workstation' / path.name).symlink_to(path)
        (folder / '.workstation' / 'bin').mkdir()
        for path in (STATE / 'bin').iterdir():
            own = folder / 'scripts' / path.name
            (folder / '.workstation' / 'bin' / path.name).symlink_to(own if own.exists() else path)
        run(['chown', '-R', '--no-dereference', f'{ACCOUNT}:', home])
        yield folder
    finally:
        if folder.exists():
            run_as_user('tools/workstation/slurm.sh', 'stop', folder=folder)
        remove_account()
        fuse.chmod(before)


def remove_account():
    """Remove the account with its processes and its home folder, if the account exists."""
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        return
    run(['pkill', '-KILL', '-u', ACCOUNT])
    # The next account of this name may have another user ID, and pytest refuses folders of another
    # user, so remove the temporary files too
    find = f'find {tempfile.gettempdir()} /dev/shm -maxdepth 1 -user {ACCOUNT} -exec rm -rf {{}} +'
    run(find.split())
    done = run(['userdel', '--remove', '--force', ACCOUNT])
    assert done.returncode in (0, 12), done.stderr  # 12: the account has no mail folder


def count_passed_tests(clone, *chosen):
    """
    Run tests (arguments of pytest, str) in the clone as the account; return the number of tests
    (int), which all have passed.
    """
    done = run_as_user(
        clone / '.workstation/venv/bin/pytest',
        *chosen,
        '-q',
        '-p',
        'no:cacheprovider',
        '--basetemp',
        clone.parent / 'pytest',
        folder=clone,
        timeout=3000,
    )  # the pages run benchmarks
    summary = done.stdout.strip().splitlines()[-1]
    assert_success(done)
    ran = {word: int(number) for number, word in re.findall(r'(\d+) (\w+)[, ]', summary)}
    assert set(ran) <= {'passed', 'deselected', 'warnings'}, summary
    return ran['passed']


def test_pages_and_shared_containers_pass_as_an_ordinary_user(clone):
    files = [
        'tests/runs/test_shared_container.py',
        'tests/scripts/test_run_in_container.py',
        'tests/docs/test_commands.py',
    ]
    chosen = 'shared_container or share_no_container or page_runs'
    assert count_passed_tests(clone, *files, '-k', chosen, '-m', 'not nightly') > 15


@pytest.mark.nightly
def test_the_other_pages_pass_as_an_ordinary_user(clone):
    assert (
        count_passed_tests(clone, 'tests/docs/test_commands.py', '-k', 'page_runs', '-m', 'nightly')
        > 5
    )


def test_missing_dev_fuse_is_named_with_working_alternatives(clone):
    fuse = Path('/dev/fuse')
    install = '. ./env.sh && eb osu-container-pure.eb -r --rebuild'
    start = '. ./env.sh && module load osu-container/pure && osu-exec echo it runs'
    fuse.chmod(0o600)
    try:
        done = run_as_user('bash', '-c', install, folder=clone, timeout=600)
        assert done.returncode != 0 and '/dev/fuse' in done.stdout + done.stderr
        assert not list(clone.parent.glob('.local/easybuild/modules/all/osu-container/*')), (
            'nothing is installed'
        )
        fuse.chmod(0o666)
        done = run_as_user('bash', '-c', install, folder=clone, timeout=600)
        assert_success(done)
        fuse.chmod(0o600)
        done = run_as_user('bash', '-c', start, folder=clone)
        assert done.returncode != 0 and '/dev/fuse' in done.stderr
        said = run([PROJECT / 'scripts' / 'osu-container', 'why'], input=done.stderr).stdout
        assert (
            said.startswith('FUSE is not available') and 'MPI_CONTAINER_OPTIONS=--unsquash' in said
        )
        done = run_as_user(
            'bash', '-c', 'export MPI_CONTAINER_OPTIONS=--unsquash; ' + start, folder=clone
        )
        assert done.returncode == 0 and 'it runs' in done.stdout, done.stderr
    finally:
        fuse.chmod(0o666)


#: Diffuses heat over a grid; ranks exchange rows of 512 KiB, which UCX copies by CMA if it may
HEAT = '''#include <mpi.h>
#include <stdio.h>
static double grid[4][65536];
int main(void)
{
    int rank, size, bytes = sizeof *grid, columns = bytes / sizeof **grid;
    double heat = 0, total;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < columns; i++) grid[1][i] = grid[2][i] = rank;
    for (int step = 0; step < 20; step++) {
        int up = (rank + 1) % size, down = (rank + size - 1) % size;
        MPI_Sendrecv(grid[2], bytes, MPI_BYTE, up, 0, grid[0], bytes, MPI_BYTE, down, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(grid[1], bytes, MPI_BYTE, down, 1, grid[3], bytes, MPI_BYTE, up, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        for (int i = 0; i < columns; i++) {
            double first = (grid[0][i] + grid[2][i]) / 2;
            grid[2][i] = (grid[1][i] + grid[3][i]) / 2;
            grid[1][i] = first;
        }
    }
    for (int i = 0; i < columns; i++) heat += grid[1][i] + grid[2][i];
    MPI_Allreduce(&heat, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks, heat per column %g\\n", size, total / columns);
    return MPI_Finalize();
}
'''


def test_ucx_of_debian_runs_in_separate_user_namespaces(clone):
    """By default UCX opens files and reads memory of ranks in another user namespace, which fails."""
    compiler, images = STATE / 'host/opt/mpich/5.0.2/bin/mpicc', f'.workstation/{FOLDER.name}'
    done = run([compiler, '-x', 'c', '-', '-o', clone.parent / 'heat'], input=HEAT)
    assert_success(done)
    script = (
        'tools/workstation/slurm.sh start && . ./env.sh && '
        f'osu-container new {images}/foreign-debian.sif --name heat --approach pure --command ring-renamed -o .. && '
        f'eb ../heat-pure.eb --sourcepath={images} >&2 && '
        'module load heat/pure && srun -N2 -n2 heat-exec ../heat && '
        'OSU_SHARE=0 srun -N1 -n2 --overcommit heat-exec ../heat'
    )
    done = run_as_user('bash', '-c', script, folder=clone, timeout=600)
    assert_success(done)
    assert done.stdout.count('2 ranks, heat per column 2\n') == 2
    script = '. ./env.sh; module load heat/pure; UCX_POSIX_USE_PROC_LINK=y srun -N2 -n2 heat-exec ../heat'
    done = run_as_user('bash', '-c', script, folder=clone, timeout=100)
    said = done.stdout + done.stderr
    cause = run([PROJECT / 'scripts' / 'osu-container', 'why'], input=said).stdout
    assert done.returncode and 'UCX_POSIX_USE_PROC_LINK=n' in cause


# ---- two users -------------------------------------------------------------------------------------------------------

#: Commands that run beside another user; the first two create files with predictable names
BESIDE = {
    'rank': 'osu-exec true',
    'proof': 'cd /tmp && OSU_PROOF=1 osu-exec true && sleep 1.5',
    'eb': 'umask 077; eb osu-container-pure.eb --rebuild && osu-exec true',
}
#: Script with which the other user creates such a name, $1, first; $2 is a folder of the victim
THERE = {
    'a link': 'ln -s "$2" "$1"',
    'a link to nothing': 'ln -s "$2/new" "$1"',
    # /proc/self/stat belongs to its reader, and begins with the ID of a running process
    'a folder with what is looked for': '''mkdir -m 777 "$1"; cd "$1"; ln -s /proc/self/stat state
        for name in log new environment first complete rank-0.json; do ln -s "$2/$name" "$name"; done
        exec 9>ranks; chmod 666 ranks; flock 9; exec sleep 600''',
    'a FIFO': 'mkfifo -m 666 "$1"',
    'a file': 'touch "$1"; chmod 666 "$1"',
}


@contextlib.contextmanager
def watch_created_names(folders):
    """
    Yield a set that collects the paths (Path) created in the folders (list of Path) during a with
    statement (inotify(7)).
    """
    libc, found, place = ctypes.CDLL(None), set(), 0
    number = libc.inotify_init1(os.O_NONBLOCK)
    watched = {
        libc.inotify_add_watch(number, os.fsencode(folder), 0x180): folder for folder in folders
    }  # IN_CREATE | IN_MOVED_TO
    try:
        yield found
        data = b''
        with contextlib.suppress(BlockingIOError):  # no path was created
            data = os.read(number, 1 << 20)
        while place < len(data):
            which, _, _, length = struct.unpack_from('iIII', data, place)
            found.add(
                watched[which] / data[place + 16 : place + 16 + length].rstrip(b'\0').decode()
            )
            place += 16 + length
    finally:
        os.close(number)


def occupy_names(names, script, victim, stack):
    """
    Let another user create the names (set of Path) with a script of THERE, until the ExitStack
    `stack` closes.
    """
    for name in names:
        other = stack.enter_context(
            subprocess.Popen(
                'setpriv --reuid=65534 --regid=65534 --clear-groups sh -euc'.split()
                + [script, 'sh', name, victim]
            )
        )
        stack.callback(other.kill)
        while other.poll() is None and not (
            (name / 'ranks').is_file() and run(['flock', '-n', name / 'ranks', 'true']).returncode
        ):
            pass
        assert not other.returncode and os.path.lexists(name), (name, script)


def list_files(folder):
    """Return {path: (mode, time, content)} of a folder (Path) and everything below it."""
    return {
        path: (
            path.lstat().st_mode,
            path.lstat().st_mtime_ns,
            path.read_bytes() if path.is_file() else None,
        )
        for path in (folder, *folder.rglob('*'))
    }


@pytest.fixture
def unprotected_tmp():
    """
    Let the kernel follow links, FIFOs and files of other users in /tmp, as old kernels do.
    """
    before = {}
    try:
        for name in ('symlinks', 'fifos', 'regular'):
            path = Path(f'/proc/sys/fs/protected_{name}')
            before[path] = path.read_text()
            if before[path].strip() != '0':
                path.write_text('0')
        yield
    except OSError:
        pytest.skip(
            'fs.protected_symlinks cannot be set to 0 here: the kernel follows no link of another user'
        )
    finally:
        for path, value in before.items():
            if path.read_text() != value:
                path.write_text(value)


@pytest.mark.nightly
def test_files_of_another_user_in_tmp_are_not_followed(clone, unprotected_tmp):
    """
    The test finds the predictable names itself, by running the commands of BESIDE twice, so a new
    name needs no change here. Variables tell the ranks that this node has two ranks.
    """
    top = Path(tempfile.mkdtemp(dir='/var/lib'))
    top.chmod(0o755)
    victim, places = clone.parent / 'victim', [top / name for name in ('tmp', 'shm', 'var')]

    def tried(titles, made=id):
        """
        Run commands of BESIDE in empty folders, after the function `made` has filled the folders;
        return {title: (exit code, output)} and the created names.
        """
        shutil.rmtree(victim, ignore_errors=True)
        victim.mkdir()
        (victim / 'log').write_text('of the victim')
        run(['chown', '-R', f'{ACCOUNT}:', victim])
        for place in places:
            place.mkdir()
            place.chmod(0o1777)
        before = list_files(victim)
        script = (
            '. ./env.sh; module load osu-container/pure; export MPI_LOCALNRANKS=2 SLURM_JOB_ID=7 SLURM_STEP_ID=0 '
            'TMPDIR=/var/tmp\n'
        )
        script += ''.join(
            f"said=$( ({BESIDE[title]}) 2>&1 ); printf '%s\\0' {title} $? \"$said\"\n"
            for title in titles
        )
        with contextlib.ExitStack() as stack:
            made(stack)
            names = stack.enter_context(watch_created_names(places))
            done = run_as_user('bash', '-c', script, folder=clone, places=places, timeout=240)
        assert list_files(victim) == before, 'something of the victim was changed'
        for place in places:
            while (
                place.exists()
            ):  # the keeper of a container may remove its folder at the same time
                shutil.rmtree(place, ignore_errors=True)
        words = done.stdout.split('\0')
        assert words[:-1:3] == titles, done.stderr
        return {
            title: (int(code), text)
            for title, code, text in zip(words[::3], words[1::3], words[2::3])
        }, names

    try:
        done = run_as_user(
            'bash',
            '-c',
            '. ./env.sh && eb osu-container-pure.eb -r --rebuild',
            folder=clone,
            timeout=600,
        )
        assert_success(done)
        names = set()
        for _ in range(2):
            ends, now = tried(list(BESIDE))
            assert {code for code, _ in ends.values()} == {0}, ends
            names = names & now or now
        assert {re.sub(r'\d.*', '', str(name.relative_to(top))) for name in names} == {
            'shm/run-in-container-',
            'tmp/osu-proof-',
        }, names
        for there, script in THERE.items():
            ends, _ = tried(
                list(BESIDE)[:2], functools.partial(occupy_names, names, script, victim)
            )
            assert ends['rank'] == (0, '') and ends['proof'][0] == 0, (there, ends)
            assert '/tmp/osu-proof-' in ends['proof'][1], ends
    finally:
        shutil.rmtree(top)

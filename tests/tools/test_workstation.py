"""
The scripts of workstation/, env.sh and the Makefile. Each test works on a copy of them with a
state of its own.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.helpers.machine import (
    PROJECT,
    STATE,
    assert_success,
    end_jobs,
    fold_whitespace,
    list_command_lines,
    run,
    run_clean_shell,
)
from tests.helpers.osu_archive import RELEASE

pytestmark = pytest.mark.system

#: What env.sh says that it sets
NAMED = {
    'PATH',
    'EASYBUILD_ROBOT_PATHS',
    'EASYBUILD_INCLUDE_EASYBLOCKS',
    'EASYBUILD_SOURCEPATH',
    'MODULEPATH',
    'SLURM_CONF',
    'SLURM_JOB_NUM_NODES',
    'SLURM_NTASKS',
    *(['EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES'] if os.getuid() == 0 else []),
}
#: Commands that prerequisites.sh itself uses, from bash and coreutils or as essential on every
#: distribution
BASICS = (
    'awk bash cat cut dirname env find grep head id ln mkdir mv rm sed sleep sort '
    'tail timeout touch tr true uname'
).split()


def copy_project(folder):
    """Copy what the scripts need of the project to folder (Path) and return folder."""
    folder.mkdir(parents=True)
    for name in ('env.sh', 'Makefile'):
        shutil.copy(PROJECT / name, folder)
    for name in ('tools', 'scripts', 'osu_container'):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns('__pycache__'))
    return folder


@pytest.fixture
def tree(tmp_path):
    """A copy of the project that nothing is set up in."""
    return copy_project(tmp_path / 'project')


@pytest.fixture
def ready_tree(tree):
    """
    A copy of the project with the files by which env.sh sees that the set-up was done, Slurm
    too.
    """
    for name in ('bin/eb', 'venv/bin/eb', 'slurm/slurm.conf'):
        path = tree / '.workstation' / name
        path.parent.mkdir(parents=True)
        path.write_text('#!/bin/sh\n')
        path.chmod(0o755)
    return tree


def script(tree, name, *arguments, pass_fds=(), **variables):
    """Run tools/workstation/NAME of tree (Path) with stdout and stderr together."""
    return run(
        [tree / 'tools/workstation' / name, *arguments],
        stderr=subprocess.STDOUT,
        pass_fds=pass_fds,
        env={**os.environ, **{key: str(value) for key, value in variables.items()}},
    )


def fake_command(folder, name, text):
    """Put an executable bash script NAME into folder (Path)."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_text('#!/bin/bash\n' + text)
    path.chmod(0o755)


# --- env.sh
# -----------------------------------------------------------------------------------------------------------


def read_variables(commands, **variables):
    """Environment (dict) of a shell after bash commands; Lmod's own state left out."""
    done = run_clean_shell(f'{commands}\nenv -0', **variables)
    assert (done.returncode, done.stderr) == (0, '')
    pairs = dict(item.split('=', 1) for item in done.stdout.split('\0') if item)
    return {
        name: value
        for name, value in pairs.items()
        if not name.startswith(('_ModuleTable', '__LMOD', 'BASH_FUNC_')) and name != '_'
    }


def test_env_sets_the_named_variables_and_no_others(ready_tree):
    before, after = read_variables(':'), read_variables(f'set -eu; . {ready_tree}/env.sh')
    assert {name for name in after if before.get(name) != after[name]} == NAMED
    assert read_variables(f'. {ready_tree}/env.sh; . {ready_tree}/env.sh') == after
    left = run_clean_shell(
        f'before=$-; . {ready_tree}/env.sh; [[ $- == "$before" ]] && declare -F | grep osu_container'
    )
    assert (left.returncode, left.stdout) == (1, ''), 'shell options stay, and no function'


def test_env_appends_the_values_of_the_user(ready_tree):
    found = read_variables(
        f'. {ready_tree}/env.sh',
        EASYBUILD_ROBOT_PATHS='/my/configs:',
        EASYBUILD_SOURCEPATH='/my/sources',
        EASYBUILD_INCLUDE_EASYBLOCKS='/my/blocks/*.py',
        PATH='/usr/bin:/bin::/my/bin',
        SLURM_NTASKS='8',
    )
    assert found['EASYBUILD_ROBOT_PATHS'] == f'{ready_tree}/easyconfigs:/my/configs:'
    assert found['EASYBUILD_SOURCEPATH'] == f'{ready_tree}/sources:/my/sources'
    assert (
        found['EASYBUILD_INCLUDE_EASYBLOCKS']
        == f'{ready_tree}/easyblocks/generic/*.py,/my/blocks/*.py'
    )
    assert found['PATH'] == f'{ready_tree}/.workstation/bin:/usr/bin:/bin::/my/bin'
    assert found['SLURM_NTASKS'] == '8'
    assert 'SLURM_NTASKS' not in read_variables(f'. {ready_tree}/env.sh', SLURM_JOB_ID='7')


def test_env_completes_the_command_in_an_interactive_shell(ready_tree):
    asked = (
        f'. {ready_tree}/env.sh; COMP_WORDS=({PROJECT}/scripts/osu-container im b) COMP_CWORD=1; _osu_container; '
        'echo ${COMPREPLY[@]}; COMP_WORDS[1]=image COMP_CWORD=2; _osu_container; echo ${COMPREPLY[@]}'
    )
    assert run(['bash', '--norc', '-ic', asked]).stdout.splitlines() == ['image import', 'build']


@pytest.mark.parametrize(
    ('settings', 'kind'), [({}, 'software'), ({'EASYBUILD_INSTALLPATH_MODULES': '/m'}, 'modules')]
)
def test_folders_equal_those_of_easybuild(tree, settings, kind):
    environment = {
        'PATH': os.environ['PATH'],
        'HOME': os.environ['HOME'],
        'EB_PYTHON': sys.executable,
        'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1',
        **settings,
    }
    code = (
        'from easybuild.tools.options import set_up_configuration\n'
        'from easybuild.tools.config import build_option, install_path\n'
        'set_up_configuration(args=[], silent=True)\n'
        f'suffix = "/" + build_option("suffix_modules_path") if {kind!r} == "modules" else ""\n'
        f'print(install_path({kind!r}) + suffix)'
    )
    asked = run([sys.executable, '-c', code], env=environment)
    assert_success(asked)
    told = run([tree / 'tools/workstation/eb_folder.sh', kind], env=environment)
    assert told.stdout.strip() == asked.stdout.splitlines()[-1]


def test_env_without_set_up_changes_nothing(tree):
    done = run_clean_shell(
        f'set -eu; . {tree}/env.sh || echo "returned $?"; ! declare -F | grep osu_container; '
        '[[ -z ${EASYBUILD_SOURCEPATH-} ]]'
    )
    assert (done.returncode, done.stdout) == (0, 'returned 1\n') and 'make demo' in done.stderr
    done = run(['bash', tree / 'env.sh'])
    assert done.returncode == 1 and f'. {tree}/env.sh' in done.stderr


# --- prerequisites
# ----------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh_machine(tmp_path):
    """
    Variables of a bare Debian machine whose apt-get and usermod only write down how they were
    called.
    """
    path = tmp_path / 'bin'
    path.mkdir()
    for name in BASICS:
        (path / name).symlink_to(shutil.which(name))
    for name in ('apt-get', 'usermod', 'systemctl'):
        # `apt-get -s` is how the script asks whether the distribution has a fitting apptainer: it
        # has none.
        fake_command(path, name, f'echo "{name} $*" >>{tmp_path}/calls; [[ $1 != -s ]]\n')
    fake_command(path, 'sudo', 'exec "$@"\n')
    (tmp_path / 'calls').touch()
    (tmp_path / 'os-release').write_text('ID=debian\n')
    return {'PATH': path, 'OS_RELEASE': tmp_path / 'os-release'}


def test_other_distribution_lists_missing_packages_only(tree, fresh_machine):
    fresh_machine['OS_RELEASE'].write_text('ID=rocky\nID_LIKE="rhel centos fedora"\n')
    done = script(tree, 'prerequisites.sh', **fresh_machine)
    assert done.returncode == 1 and 'rocky' in done.stdout
    for package in ('squashfs-tools', 'make', 'mmdebstrap', 'squashfuse', 'apptainer'):
        assert f'missing: {package}' in done.stdout, package
    assert not (tree / '.workstation').exists()


@pytest.mark.parametrize(
    ('command', 'text', 'message'),
    [('uname', 'echo aarch64', 'aarch64'), ('unshare', 'exit 1', '--privileged')],
)
def test_an_obstacle_is_named_before_anything_is_changed(
    tree, tmp_path, fresh_machine, command, text, message
):
    fake_command(fresh_machine['PATH'], command, text)
    done = script(tree, 'prerequisites.sh', **fresh_machine)
    assert done.returncode == 1 and message in done.stdout
    assert not (tree / '.workstation').exists() and (tmp_path / 'calls').read_text() == ''


def test_debian_lists_installs_and_records_packages(tree, tmp_path, fresh_machine):
    done = script(tree, 'prerequisites.sh', **fresh_machine)
    calls = (tmp_path / 'calls').read_text()
    installed = calls.split('apt-get install -y --no-install-recommends ')[1].split('\n')[0].split()
    announced, _ = done.stdout.split(f' {len(installed)} ', 1)
    for package in ('squashfs-tools', 'make', 'mmdebstrap', 'squashfuse', 'patchelf'):
        assert package in installed
        assert f'\n    {package} ' in announced
    assert (tree / '.workstation/installed-packages.txt').read_text().split() == installed
    # These fakes know no Debian archive, so the private Apptainer cannot be had.
    assert done.returncode != 0 and 'DEBIAN_MIRROR=' in done.stdout


@pytest.mark.skipif(os.getuid() != 0, reason='only root starts a command as somebody else')
@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
def test_terminated_script_ends_its_step_and_the_children(tree, number):
    seconds = f'{600 + number}.{os.getpid()}'
    step = f'sleep {seconds}; sleep {seconds}'
    script_file = tree / 'tools/workstation/step.sh'
    script_file.write_text(
        f'. "${{0%/*}}/common.sh"\nstep() {{ bash -c "{step}"; }}\nrun_logged a b step\n'
    )

    def list_sleeps():
        return [words for _, words in list_command_lines().items() if f'sleep {seconds}' in words]

    with subprocess.Popen(['bash', script_file], stdout=subprocess.DEVNULL) as child:
        while len(list_sleeps()) < 2:
            assert child.poll() is None
            time.sleep(0.05)
        child.send_signal(number)
    assert child.returncode == 128 + number and list_sleeps() == []


def test_ordinary_user_gets_the_commands_for_root():
    # not a folder of pytest, which each start of pytest closes to others
    folder = tempfile.TemporaryDirectory(dir='/tmp')
    os.chmod(folder.name, 0o755)
    command = copy_project(Path(folder.name, 'project')) / 'tools/workstation/prerequisites.sh'

    def as_nobody(*arguments):
        return run(
            ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', command, *arguments],
            stderr=subprocess.STDOUT,
        )

    done = as_nobody('--check')
    assert done.returncode == 1 and 'usermod --add-subuids' in done.stdout
    assert as_nobody('--fast').returncode == 0
    tests = as_nobody('--tests')
    assert tests.returncode == 0 and 'usermod --add-subuids' in tests.stdout


# --- Makefile and clean
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize('name', ['a folder', 'a,n', 'a$n'])
def test_a_path_that_cannot_be_quoted_everywhere_is_refused(tmp_path, name):
    tree = copy_project(tmp_path / name)
    scripts = tree / 'tools' / 'workstation'
    commands = [[scripts / 'prerequisites.sh'], [scripts / 'slurm.sh', 'start']]
    for command in [
        *commands,
        *([['make', '--no-print-directory', '-C', tree, 'demo']] if ' ' in name else []),
    ]:
        done = run(command, stderr=subprocess.STDOUT)
        assert done.returncode and str(tree) in fold_whitespace(done.stdout)
    assert not (tree / '.workstation').exists()


def make_installation(prefix, name, version, record):
    """
    Make what EasyBuild leaves of one installation under prefix (Path); record is the text of its
    easyconfig.
    """
    software = prefix / 'software' / name / version
    (software / 'easybuild').mkdir(parents=True)
    (software / 'easybuild' / f'{name}-{version}.eb').write_text(record)
    modules = [prefix / 'modules' / folder / name / f'{version}.lua' for folder in ('all', 'perf')]
    for module in modules:
        module.parent.mkdir(parents=True, exist_ok=True)
    modules[0].write_text('-- module')
    modules[1].symlink_to(modules[0])
    (prefix / 'ebfiles_repo' / name).mkdir(parents=True, exist_ok=True)
    (prefix / 'ebfiles_repo' / name / f'{name}-{version}.eb').write_text(record)


def test_uninstall_removes_our_modules_and_no_others(tree, tmp_path):
    prefix = tmp_path / 'eb'
    make_installation(prefix, 'osu-container', 'mine', "easyblock = 'Tarball'\n")
    make_installation(prefix, 'zlib', '1.3', "easyblock = 'ConfigureMake'\n")
    before = sorted(prefix.rglob('*'))
    make_installation(prefix, 'osu-container', 'pure', "easyblock = 'MPIContainer'\n")
    make_installation(prefix, 'osu-native', RELEASE, "easyblock = 'MPINative'\n")
    (prefix / 'modules/all/osu-native/default').symlink_to(f'{RELEASE}.lua')
    work = tree / '.workstation'
    work.mkdir()
    (work / 'installed-packages.txt').write_text('munge\nlmod\nmunge\n')
    (work / 'undo-as-root.txt').write_text('usermod --del-subuids 1-2 --del-subgids 1-2 me\n')
    done = script(tree, 'clean.sh', '--modules', EASYBUILD_PREFIX=prefix)
    assert_success(done)
    assert f'{prefix}/software/osu-container/mine' in done.stdout
    assert sorted(prefix.rglob('*')) == before and not work.exists()
    assert (
        'apt-get remove --autoremove lmod munge\n' in done.stdout
        and 'usermod --del-subuids 1-2' in done.stdout
    )


# --- Slurm
# ------------------------------------------------------------------------------------------------------------


def test_stop_terminates_only_daemons_of_its_slurm_conf(tree):
    confs = [
        tree / '.workstation' / 'slurm' / 'slurm.conf',
        '/elsewhere/.workstation/slurm/slurm.conf',
    ]
    daemons = [
        subprocess.Popen(
            ['bash', '-c', f'exec -a /usr/sbin/slurmctld sh -c "read x" -f {conf}'],
            stdin=subprocess.PIPE,
        )
        for conf in confs
    ]
    try:
        for daemon in daemons:
            while not Path(f'/proc/{daemon.pid}/cmdline').read_bytes().startswith(b'/usr/sbin/'):
                time.sleep(0.01)
        stopped = script(tree, 'slurm.sh', 'stop')
        assert stopped.returncode == 0
        assert daemons[0].wait(10) == -signal.SIGTERM and daemons[1].poll() is None
        assert script(tree, 'slurm.sh', 'stop').stdout not in ('', stopped.stdout)
    finally:
        for daemon in daemons:
            daemon.kill()
            daemon.communicate()


@pytest.fixture
def start_slurm():
    """
    Function (tree, **options of script) that starts the private Slurm of tree; all are stopped
    at the end.
    """
    trees = []

    def start(tree, **options):
        trees.append(tree)
        return script(tree, 'slurm.sh', 'start', **options)

    yield start
    for tree in trees:
        assert script(tree, 'slurm.sh', 'stop').returncode == 0
        assert find_daemons(tree) == set() and not list(tree.glob('.workstation/slurm/run*'))


def find_daemons(tree):
    """Return the process ids (set of int) of the daemons of tree's Slurm."""
    conf = tree / '.workstation/slurm/slurm.conf'
    return {process for process, line in list_command_lines().items() if f' -f {conf}' in line}


@pytest.mark.usefixtures('slurm')
def test_slurm_starts_two_nodes_once_and_stop_ends_their_jobs(tree, tmp_path, start_slurm):
    with open(
        tmp_path / 'lock', 'w'
    ) as lock:  # of who starts it: not held for as long as the daemons run
        done = start_slurm(tree, pass_fds=(lock.fileno(),))
    assert_success(done)
    daemons = find_daemons(tree)
    assert len(daemons) == 3
    for daemon in daemons:
        opened = {os.readlink(path) for path in Path(f'/proc/{daemon}/fd').iterdir()}
        assert not opened & {str(tmp_path / 'lock'), str(tree / '.workstation/slurm/lock')}
    assert start_slurm(tree).returncode == 0 and find_daemons(tree) == daemons
    job = subprocess.Popen(
        ['srun', '-N2', '-n2', 'bash', '-c', 'echo $$ $SLURMD_NODENAME; exec sleep 300'],
        text=True,
        stdout=subprocess.PIPE,
        env={**os.environ, 'SLURM_CONF': str(tree / '.workstation/slurm/slurm.conf')},
    )
    ranks = dict(reversed(job.stdout.readline().split()) for _ in range(2))
    assert sorted(ranks) == ['node1', 'node2']
    assert script(tree, 'slurm.sh', 'stop').returncode == 0
    assert job.wait(20) and not any(
        list_command_lines().get(int(process)) for process in ranks.values()
    )


@pytest.mark.usefixtures('slurm')
def test_tests_cancel_only_jobs_that_their_process_started():
    environment = {'PATH': os.environ['PATH'], 'SLURM_CONF': str(STATE / 'slurm/slurm.conf')}
    submit = 'sbatch --parsable --output=/dev/null --wrap "sleep 60"'
    script = (
        'salloc --job-name=a --no-shell; srun --job-name=b sleep 60 >/dev/null 2>&1 & '
        f'until squeue --noheader --name=b | grep b; do sleep 0.1; done; {submit} --job-name=c; '
        f'SBATCH_WCKEY=other {submit}'
    )
    other = run(['bash', '-c', script], env=environment).stdout.split()[-1]
    assert {job.split()[1] for job in end_jobs()} == {'a', 'b', 'c'}
    cancelled = run(['scancel', '--verbose', other], env=environment)
    assert f'Terminating job {other}' in cancelled.stderr


@pytest.mark.usefixtures('slurm')
@pytest.mark.nightly
def test_slurm_shows_the_log_of_a_daemon_that_fails(tree, tmp_path, start_slurm):
    fake_command(
        tmp_path / 'bin',
        'slurmctld',
        '[[ $1 != -V ]] || { echo slurm-wlm 22.05.8; exit; }\necho "fatal: made to fail"; exit 1\n',
    )
    done = start_slurm(tree, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 1 and 'fatal: made to fail' in done.stdout

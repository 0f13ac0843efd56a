"""The scripts of workstation/, env.sh and the Makefile. Each test works on a copy of them with a state of its own."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.helpers.machine import PROJECT, clean_shell, command_lines, folded, run
from tests.helpers.osu_archive import RELEASE

pytestmark = pytest.mark.long

#: What env.sh says that it sets
NAMED = {'PATH', 'MANPATH', 'EASYBUILD_ROBOT_PATHS', 'EASYBUILD_INCLUDE_EASYBLOCKS', 'EASYBUILD_SOURCEPATH',
         'MODULEPATH', 'SLURM_CONF', 'SLURM_JOB_NUM_NODES', 'SLURM_NTASKS',
         'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES'}
#: Commands that prerequisites.sh itself uses, from bash and coreutils or as essential on every distribution
BASICS = ['awk', 'bash', 'cat', 'chmod', 'cut', 'df', 'dirname', 'env', 'find', 'grep', 'head', 'id', 'ln', 'mkdir',
          'mv', 'paste', 'rm', 'sed', 'sleep', 'sort', 'stat', 'tail', 'timeout', 'touch', 'tr', 'true', 'uname']


def copy_project(folder):
    """Copy what the scripts need of the project to folder (Path) and return folder."""
    folder.mkdir(parents=True)
    for name in ('env.sh', 'Makefile'):
        shutil.copy(PROJECT / name, folder)
    for name in ('workstation', 'container-recipes', 'bin', 'osu_container', 'easyblocks'):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns('__pycache__'))
    return folder


@pytest.fixture
def tree(tmp_path):
    """A copy of the project that nothing is set up in."""
    return copy_project(tmp_path / 'project')


def pretend_set_up(tree):
    """Put the two commands into tree (Path) by which env.sh sees that the set-up was done."""
    for name in ('bin/eb', 'venv/bin/eb'):
        path = tree / '.workstation' / name
        path.parent.mkdir(parents=True)
        path.write_text('#!/bin/sh\n')
        path.chmod(0o755)


def script(tree, name, *arguments, pass_fds=(), **variables):
    """Run workstation/NAME of tree (Path) with stdout and stderr together; None as a value removes a variable."""
    environment = {**os.environ, 'SLURM_CONF': None, **variables}
    return run([tree / 'workstation' / name, *arguments], stderr=subprocess.STDOUT, pass_fds=pass_fds,
               env={key: str(value) for key, value in environment.items() if value is not None})


def fake_command(folder, name, text):
    """Put an executable bash script NAME into folder (Path)."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text('#!/bin/bash\n' + text)
    path.chmod(0o755)


def basic_commands(folder):
    """Fill folder (Path) with links to BASICS and return it: the PATH of a machine where nothing is installed."""
    folder.mkdir()
    for name in BASICS:
        (folder / name).symlink_to(shutil.which(name))
    return folder


# --- env.sh -----------------------------------------------------------------------------------------------------------

def variables_after(tree, before='', **variables):
    """Environment (dict) of a shell that ran the bash text `before` and sourced env.sh; Lmod's own state left out."""
    done = clean_shell(f'{before}\n. {tree}/env.sh\nenv -0', **variables)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ''
    pairs = dict(item.split('=', 1) for item in done.stdout.split('\0') if item)
    return {name: value for name, value in pairs.items()
            if not name.startswith(('_ModuleTable', '__LMOD', 'BASH_FUNC_')) and name != '_'}


def test_env_sets_the_named_variables_and_nothing_else(tree):
    pretend_set_up(tree)
    (tree / '.workstation/slurm').mkdir()
    (tree / '.workstation/slurm/slurm.conf').write_text('')
    text = 'set -eu; before=$(compgen -v; declare -F)\n. {}\nafter=$(compgen -v; declare -F)\n' \
           'diff <(echo "$before") <(echo "$after") | grep "^[<>]"'
    changed = clean_shell(text.format(tree / 'env.sh')).stdout.split('\n')
    names = {line[2:] for line in changed if line} - {'before'}
    names = {name for name in names if not name.startswith(('_ModuleTable', '__LMOD', 'PIPESTATUS', '_'))}
    assert names <= NAMED, 'new variables and functions'

    empty = {'PATH': '/usr/bin:/bin', 'HOME': os.environ['HOME'], 'LC_ALL': 'C.UTF-8'}
    plain = clean_shell('env -0', **empty).stdout
    plain = dict(item.split('=', 1) for item in plain.split('\0') if item)
    ready = variables_after(tree)
    differing = {name for name in {*ready, *plain} if ready.get(name) != plain.get(name)
                 and not name.startswith(('_ModuleTable', '__LMOD', 'BASH_FUNC_')) and name != '_'}
    root = {'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES'}
    assert differing == (NAMED if os.geteuid() == 0 else NAMED - root)


def test_env_sourced_twice_adds_nothing_and_keeps_the_shell_options(tree):
    pretend_set_up(tree)
    text = f'set -eu\nbefore=$-\n. {tree}/env.sh\nenv | sort >{tree}/first\n. {tree}/env.sh\n' \
           f'env | sort >{tree}/second\n[[ $- == "$before" ]] && echo "options kept"'
    done = clean_shell(text)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'options kept\n', '')
    assert (tree / 'second').read_text() == (tree / 'first').read_text()


def test_env_puts_the_users_own_values_behind(tree):
    pretend_set_up(tree)
    ready = variables_after(tree, EASYBUILD_ROBOT_PATHS='/my/configs:', EASYBUILD_SOURCEPATH='/my/sources',
                            EASYBUILD_INCLUDE_EASYBLOCKS='/my/blocks/*.py', PATH='/usr/bin:/bin::/my/bin')
    assert ready['EASYBUILD_ROBOT_PATHS'] == f'{tree}/easyconfigs:/my/configs:'
    assert ready['EASYBUILD_SOURCEPATH'] == f'{tree}/sources:/my/sources'
    assert ready['EASYBUILD_INCLUDE_EASYBLOCKS'] == f'{tree}/easyblocks/generic/*.py,/my/blocks/*.py'
    assert ready['PATH'] == f'{tree}/.workstation/bin:/usr/bin:/bin::/my/bin'


def test_env_gives_completion_and_man_pages(tree):
    pretend_set_up(tree)
    pages = tree / '.workstation/share/man'
    assert variables_after(tree, 'unset MANPATH')['MANPATH'] == f'{pages}:', "the system's own too"
    assert variables_after(tree, MANPATH='/my/man')['MANPATH'] == f'{pages}:/my/man'
    asked = f'. {tree}/env.sh; COMP_WORDS=({PROJECT}/bin/osu-container im b) COMP_CWORD=1; _osu_container; ' \
            'echo ${COMPREPLY[@]}; COMP_WORDS[1]=image COMP_CWORD=2; _osu_container; echo ${COMPREPLY[@]}; ' \
            'complete -p osu-container'
    done = run(['bash', '--norc', '-ic', asked])
    assert done.stdout.splitlines()[:2] == ['image import', 'build'], done.stderr
    assert ' -F _osu_container osu-container' in done.stdout


@pytest.mark.parametrize(('theirs', 'expected'), [
    ({}, ('2', '2')),
    ({'SLURM_JOB_NUM_NODES': '1', 'SLURM_NTASKS': '8'}, ('1', '8')),
    ({'SLURM_JOB_ID': '7'}, (None, None)),
])
def test_env_lets_a_plain_srun_use_both_nodes_unless_the_user_or_a_job_says_otherwise(tree, theirs, expected):
    pretend_set_up(tree)
    (tree / '.workstation/slurm').mkdir()
    (tree / '.workstation/slurm/slurm.conf').write_text('')
    found = variables_after(tree, **theirs)
    assert (found.get('SLURM_JOB_NUM_NODES'), found.get('SLURM_NTASKS')) == expected


@pytest.mark.parametrize(('settings', 'folder'), [
    ({}, '{home}/.local/easybuild/modules/all'),
    ({'EASYBUILD_INSTALLPATH': '/i', 'EASYBUILD_INSTALLPATH_MODULES': '/m'}, '/m/all'),
])
def test_env_uses_the_module_folder_of_easybuild_before_it_is_there(tree, settings, folder):
    pretend_set_up(tree)
    wanted = folder.format(home=os.environ['HOME'])
    assert wanted in variables_after(tree, **settings)['MODULEPATH'].split(':')


@pytest.mark.parametrize(('settings', 'kind'), [({}, 'software'), ({'EASYBUILD_INSTALLPATH_MODULES': '/m'}, 'modules')])
def test_the_folders_are_those_that_easybuild_itself_uses(tree, settings, kind):
    environment = {'PATH': os.environ['PATH'], 'HOME': os.environ['HOME'], 'EB_PYTHON': sys.executable,
                   'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1', **settings}
    code = 'from easybuild.tools.options import set_up_configuration\n' \
           'from easybuild.tools.config import build_option, install_path\n' \
           'set_up_configuration(args=[], silent=True)\n' \
           f'suffix = "/" + build_option("suffix_modules_path") if {kind!r} == "modules" else ""\n' \
           f'print(install_path({kind!r}) + suffix)'
    asked = run([sys.executable, '-c', code], env=environment)
    assert asked.returncode == 0, asked.stderr
    told = run([tree / 'workstation/eb_folder.sh', kind], env=environment)
    assert told.stdout.strip() == asked.stdout.splitlines()[-1]


def test_env_without_set_up_says_so_and_changes_nothing(tree):
    done = clean_shell(f'set -eu\nenv | grep -v ^_= | sort >{tree}/first\n. {tree}/env.sh || echo "returned $?"\n'
                       f'env | grep -v ^_= | sort >{tree}/second\ndeclare -F | grep osu_container; true')
    assert done.stdout == 'returned 1\n'
    assert "the set-up is missing" in done.stderr
    assert "run 'make demo' there first" in done.stderr
    assert (tree / 'second').read_text() == (tree / 'first').read_text()


def test_env_that_is_run_says_to_source_it(tree):
    done = run(['bash', tree / 'env.sh'])
    assert done.returncode == 1
    assert "type '. " in done.stderr


# --- prerequisites ----------------------------------------------------------------------------------------------------

@pytest.fixture
def other_distribution(tmp_path):
    """An os-release of a distribution that is neither Debian nor Ubuntu."""
    path = tmp_path / 'os-release'
    path.write_text('ID=rocky\nID_LIKE="rhel centos fedora"\n')
    return path


def test_other_distribution_lists_what_is_missing_and_installs_nothing(tree, tmp_path, other_distribution):
    done = script(tree, 'prerequisites.sh', OS_RELEASE=other_distribution, PATH=basic_commands(tmp_path / 'bin'))
    assert done.returncode == 1
    for package in ('squashfs-tools', 'make', 'mmdebstrap', 'squashfuse', 'apptainer'):
        assert f'missing: {package} ' in done.stdout, package
    assert 'not Debian or Ubuntu' in done.stdout
    assert not (tree / '.workstation').exists()


@pytest.mark.parametrize(('command', 'text', 'says'), [
    ('df', 'echo Avail; echo 1999999', 'has 1999 MB free, and the set-up takes 2000: make room'),
    ('uname', 'echo aarch64', 'for x86_64, this machine is aarch64: take another one'),
    ('unshare', 'exit 1', 'you make no namespace, which a container runs in: if it is a container itself, start')])
def test_what_can_stop_it_is_said_before_anything_is_changed(tree, tmp_path, debian, command, text, says):
    (debian / command).unlink(missing_ok=True)
    fake_command(debian, command, text)
    done = script(tree, 'prerequisites.sh', PATH=debian, OS_RELEASE=tmp_path / 'os-release')
    assert done.returncode == 1 and 'nothing was changed: have this done' in done.stdout
    assert says in done.stdout or os.getuid() and 'no user namespace' in done.stdout
    assert not (tree / '.workstation').exists() and (tmp_path / 'calls').read_text() == ''


@pytest.mark.skipif(os.getuid() != 0, reason='only root starts a command as somebody else')
def test_an_ordinary_user_is_told_what_root_has_to_do_and_fast_tests_want_none_of_it():
    # not a folder of pytest, which each start of pytest closes to others
    folder = tempfile.TemporaryDirectory(dir='/tmp')
    os.chmod(folder.name, 0o755)
    tree = copy_project(Path(folder.name, 'project'))

    def as_nobody(*arguments):
        return run(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'bash',
                    tree / 'workstation/prerequisites.sh', *arguments], stderr=subprocess.STDOUT)
    done = as_nobody('--check')
    assert done.returncode == 1
    assert 'no line in /etc/subuid and /etc/subgid, from which an image gets its user ids: have root type usermod' in \
        done.stdout
    assert ('you may not open /dev/fuse (' in done.stdout) != (Path('/dev/fuse').stat().st_mode & 0o006 == 0o006)
    fast = as_nobody('--fast')
    assert (fast.returncode, fast.stdout) == (0, '==> prerequisites: all there\n')
    tests = as_nobody('--tests')
    assert tests.returncode == 0 and 'tests that need what is missing here are left out:\n' in tests.stdout


@pytest.mark.parametrize(('answer', 'taken'), [
    ('singularity-ce version 4.1.1-jammy', True), ('Endgame: Singularity 1.00', False)])
def test_the_game_called_singularity_is_no_container_runtime(tree, tmp_path, answer, taken):
    path = basic_commands(tmp_path / 'bin')
    fake_command(path, 'singularity', f'echo "{answer}"')
    done = script(tree, 'prerequisites.sh', '--check', PATH=path)
    assert ('missing: apptainer' in done.stdout) != taken


@pytest.fixture
def debian(tmp_path):
    """PATH (Path) of a bare Debian machine whose apt-get, usermod and sudo only write down how they were called."""
    path = basic_commands(tmp_path / 'bin')
    calls = tmp_path / 'calls'
    for name in ('apt-get', 'usermod', 'systemctl'):
        # `apt-get -s` is how the script asks whether the distribution has a fitting apptainer: it has none.
        fake_command(path, name, f'echo "{name} $*" >>{calls}; [[ $1 != -s ]]\n')
    fake_command(path, 'sudo', 'exec "$@"\n')
    calls.touch()
    (tmp_path / 'os-release').write_text('ID=debian\n')
    return path


def test_debian_says_what_is_installed_and_records_it(tree, tmp_path, debian):
    done = script(tree, 'prerequisites.sh', PATH=debian, OS_RELEASE=tmp_path / 'os-release')
    calls = (tmp_path / 'calls').read_text()
    installed = calls.split('apt-get install -y --no-install-recommends ')[1].split('\n')[0].split()
    for package in ('squashfs-tools', 'make', 'mmdebstrap', 'squashfuse', 'patchelf'):
        assert package in installed
        assert f'\n    {package} ' in done.stdout.split('==> installing')[0], 'said before it is done'
    assert (tree / '.workstation/installed-packages.txt').read_text().split() == installed
    # These fakes know no Debian archive, so the private Apptainer cannot be had: that must be said.
    assert done.returncode != 0
    assert 'no Debian archive among the sources of apt' in done.stdout
    assert 'DEBIAN_MIRROR=' in done.stdout


# --- host MPI, Python environments ------------------------------------------------------------------------------------

@pytest.fixture
def tree_with_python(tree):
    """A copy of the project that has the Python environment which runs these tests."""
    (tree / '.workstation').mkdir()
    (tree / '.workstation/venv').symlink_to(sys.prefix)
    return tree


def test_host_mpi_with_a_damaged_wheel_names_both_sums(tree_with_python):
    wheel = tree_with_python / 'sources/mpich-5.0.2-py3-none-manylinux_2_28_x86_64.whl'
    wheel.parent.mkdir()
    wheel.write_text('not a wheel')
    done = script(tree_with_python, 'host_mpi.sh')
    assert done.returncode == 1
    assert f'sources/{wheel.name} is not the file that is meant' in done.stdout
    assert 'sha256 found' in done.stdout and 'sha256 wanted  8fed465ebff269ea' in done.stdout
    assert wheel.read_text() == 'not a wheel', 'a file of the user is left as it is'
    assert not (tree_with_python / '.workstation/host').exists()
    assert not (tree_with_python / '.workstation/local').exists()


@pytest.mark.apptainer  # for the sources that `make host-mpi` fetches
def test_host_mpi_is_unpacked_once_and_says_where_it_is(tree_with_python):
    (tree_with_python / 'sources').mkdir()
    for source in [*PROJECT.glob('sources/mpi*.whl'), *PROJECT.glob('sources/mpi4py-*.tar.gz')]:
        (tree_with_python / 'sources' / source.name).symlink_to(source)
    done = script(tree_with_python, 'host_mpi.sh')
    assert done.returncode == 0, done.stdout
    again = script(tree_with_python, 'host_mpi.sh')
    assert (again.returncode, again.stdout) == (0, '')
    root = tree_with_python / '.workstation/host'
    local = {}
    exec((tree_with_python / '.workstation/local/_mpicontainer_local.py').read_text(), local)
    assert (local['SITE'], local['ROOT']) == ('workstation', str(root))
    shown = run([root / 'opt/mpich/5.0.2/bin/mpicc', '-show'])
    assert f'-I{root}/opt/mpich/5.0.2/include' in shown.stdout


# --- Makefile and clean -----------------------------------------------------------------------------------------------

def test_path_with_a_space_is_refused_by_make_and_by_every_script(tmp_path):
    tree = copy_project(tmp_path / 'a folder')
    done = run(['make', '-C', tree, 'demo'], stderr=subprocess.STDOUT)
    assert done.returncode != 0
    assert f"has a space in it: '{tree}'" in folded(done.stdout)
    for name in ('prerequisites.sh', 'python_env.sh', 'host_mpi.sh', 'slurm.sh', 'clean.sh'):
        done = script(tree, name)
        assert done.returncode == 1
        assert f"'{tree}'" in done.stdout
    assert not (tree / '.workstation').exists()


@pytest.mark.parametrize('character', [',', '$'])
def test_a_path_with_a_character_that_means_something_elsewhere_is_refused(tmp_path, character):
    tree = copy_project(tmp_path / f'a{character}n')
    for name in ('prerequisites.sh', 'slurm.sh'):
        done = script(tree, name)
        assert (done.returncode, f"in it: '{tree}'. Move or clone it" in done.stdout) == (1, True), done.stdout
    assert not (tree / '.workstation').exists()


def test_a_second_run_waits_for_the_first(tree, tmp_path):
    lock = tree / '.workstation/lock/try.sh'
    (tree / 'workstation/try.sh').write_text('. "$(dirname "${BASH_SOURCE[0]}")/common.sh"\none_at_a_time\n'
                                             'echo in; read -r line <"$1"; echo out\n')
    os.mkfifo(tmp_path / 'go')
    runs = []
    for said in ('in\n', 'runs in this folder already: waiting until that is done\n'):
        runs.append(subprocess.Popen(['bash', tree / 'workstation/try.sh', tmp_path / 'go'], stdout=subprocess.PIPE,
                                     text=True))
        assert runs[-1].stdout.readline().endswith(said)
    assert lock.exists()
    for number in range(2):
        (tmp_path / 'go').write_text('\n')
        assert runs[number].communicate(timeout=60)[0] == ('out\n' if number == 0 else 'in\nout\n')


def make_installation(prefix, name, version, record):
    """Make what EasyBuild leaves of one installation under prefix (Path); record is the text of its easyconfig."""
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
    make_installation(prefix, 'osu-container', 'pure', "easyblock = 'MPIContainer'\n")
    make_installation(prefix, 'osu-container', 'mine', "easyblock = 'Tarball'\n")
    make_installation(prefix, 'osu-native', RELEASE, "easyblock = 'MPINative'\n")
    make_installation(prefix, 'zlib', '1.3', "easyblock = 'ConfigureMake'\n")
    (prefix / 'modules/all/osu-native/default').symlink_to(f'{RELEASE}.lua')
    done = script(tree, 'clean.sh', '--modules', EASYBUILD_PREFIX=prefix)
    assert done.returncode == 0, done.stdout
    assert f'osu-container/pure osu-native/{RELEASE}' in done.stdout
    assert f'kept {prefix}/software/osu-container/mine' in done.stdout
    left = sorted(str(path.relative_to(prefix)) for path in prefix.rglob('*') if path.is_file() or path.is_symlink())
    assert left == sorted(
        f.format(*pair) for pair in [('osu-container', 'mine'), ('zlib', '1.3')]
        for f in ('software/{0}/{1}/easybuild/{0}-{1}.eb', 'modules/all/{0}/{1}.lua', 'modules/perf/{0}/{1}.lua',
                  'ebfiles_repo/{0}/{0}-{1}.eb'))
    assert not (prefix / 'software/osu-native').exists()
    assert not (prefix / 'modules/perf/osu-native').exists()


def test_clean_says_what_stays_and_how_to_remove_it(tree):
    work = tree / '.workstation'
    work.mkdir()
    (work / 'installed-packages.txt').write_text('munge\nlmod\nmunge\n')
    (work / 'undo-as-root.txt').write_text('usermod --del-subuids 1-2 --del-subgids 1-2 me\n')
    done = script(tree, 'clean.sh')
    assert done.returncode == 0
    assert 'apt-get remove --autoremove lmod munge\n' in done.stdout
    assert 'usermod --del-subuids 1-2' in done.stdout
    assert not work.exists()
    assert script(tree, 'clean.sh').stdout.startswith('==> nothing to clean')


# --- Slurm ------------------------------------------------------------------------------------------------------------

def start_time(pid):
    """Field 22 of /proc/PID/stat, as str."""
    return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[19]


def reaped(process, seconds=5):
    """Exit code of process (Popen), None if it still runs after seconds."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return None


@pytest.fixture
def sleeper():
    """A process that has nothing to do with Slurm."""
    process = subprocess.Popen(['sleep', '300'])
    yield process
    process.kill()
    process.wait()


def no_cluster(**variables):
    """Variables by which Slurm's commands find no cluster, on a machine that has one too."""
    return {'SLURM_CONF': '/nonexistent/slurm.conf', **variables}


def test_slurm_stop_and_status_when_nothing_runs(tree):
    status = script(tree, 'slurm.sh', 'status', **no_cluster())
    assert (status.returncode, status.stdout) == (3, 'private Slurm: not running\n')
    stop = script(tree, 'slurm.sh', 'stop', **no_cluster())
    assert (stop.returncode, stop.stdout) == (0, '==> private Slurm: not running\n')


@pytest.mark.parametrize('arguments', [(), ('restart',)])
def test_slurm_names_its_commands(tree, arguments):
    done = script(tree, 'slurm.sh', *arguments)
    assert done.returncode == 1
    assert f"usage: slurm.sh start|stop|status, got: {' '.join(arguments)}" in done.stdout


@pytest.mark.skipif(os.getuid() != 0, reason='only root gives folders to others')
@pytest.mark.parametrize('link', [False, True])
def test_slurm_names_who_has_its_folder_in_tmp(tree, tmp_path, link):
    script_text = (tree / 'workstation/slurm.sh').read_text()
    number = run(['cksum'], input=str(tree / '.workstation/slurm')).stdout.split()[0]
    folder = Path(f'/tmp/osu-slurm-{os.getuid()}-{number}-tmp')
    assert 'osu-slurm-%s-%s-tmp' in script_text
    for name in ('munged', 'slurmctld', 'slurmd', 'srun', 'sinfo', 'scontrol'):
        fake_command(tmp_path / 'bin', name, 'exit 1\n')
    try:
        if link:
            folder.symlink_to('/etc')
            os.lchown(folder, 65534, 65534)
        else:
            folder.mkdir()
            os.chown(folder, 65534, 65534)
        done = script(tree, 'slurm.sh', 'start', PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        assert done.returncode == 1 and folded(done.stdout).endswith("the name follows from its place")
        assert f"{folder} is {'nobody'}'s, and the private Slurm needs a folder of that name" in folded(done.stdout)
        assert os.path.lexists(folder) and Path('/etc/passwd').exists()
    finally:
        folder.unlink() if link else folder.rmdir()


def test_slurm_stop_spares_a_process_that_got_the_id_of_one_of_ours(tree, sleeper):
    """After a reboot the recorded id may be anybody's."""
    (tree / '.workstation/slurm').mkdir(parents=True)
    record = tree / '.workstation/slurm/pids'
    record.write_text(f'slurmctld {sleeper.pid} {int(start_time(sleeper.pid)) - 1}\n')
    assert script(tree, 'slurm.sh', 'stop', **no_cluster()).returncode == 0
    assert reaped(sleeper, 0.5) is None
    assert not record.exists()


def test_slurm_stop_ends_a_daemon_that_a_killed_start_could_not_record(tree):
    confs = [tree / '.workstation' / 'slurm' / 'slurm.conf', '/elsewhere/.workstation/slurm/slurm.conf']
    daemons = [subprocess.Popen(['bash', '-c', f'exec -a /usr/sbin/slurmctld sh -c "read x" -f {conf}'],
                                stdin=subprocess.PIPE) for conf in confs]
    try:
        for daemon in daemons:
            while not Path(f'/proc/{daemon.pid}/cmdline').read_bytes().startswith(b'/usr/sbin/'):
                time.sleep(0.01)
        done = script(tree, 'slurm.sh', 'stop', **no_cluster())
        assert done.returncode == 0 and 'ended 1 unrecorded daemons, left by a start that was killed' in done.stdout
        assert daemons[0].wait(10) == -signal.SIGKILL and daemons[1].poll() is None
    finally:
        for daemon in daemons:
            daemon.kill()
            daemon.communicate()


@pytest.fixture
def start_slurm():
    """Function (tree, **variables) that starts the private Slurm of tree; all are stopped at the end."""
    trees = []

    def start(tree, **variables):
        trees.append(tree)
        return script(tree, 'slurm.sh', 'start', **no_cluster(**variables))
    yield start
    for tree in trees:
        assert script(tree, 'slurm.sh', 'stop', **no_cluster()).returncode == 0
        assert not list(tree.glob('.workstation/slurm/run*'))


def daemons(tree):
    """Process ids (dict by name) that tree's Slurm recorded."""
    lines = (tree / '.workstation/slurm/pids').read_text().splitlines()
    return {line.split()[0]: int(line.split()[1]) for line in lines}


def runs(pid):
    """True if a process is there and is no zombie."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


def srun(tree, *arguments):
    """Run srun in the private Slurm of tree."""
    return run(['srun', *arguments], env={**os.environ, 'SLURM_CONF': str(tree / '.workstation/slurm/slurm.conf')})


@pytest.mark.slurm
def test_slurm_starts_two_nodes_once(tree, tmp_path, start_slurm):
    with open(tmp_path / 'lock', 'w') as lock:  # of who starts it: not held for as long as the daemons run
        high = os.dup2(lock.fileno(), 200)
        done = start_slurm(tree, pass_fds=(lock.fileno(), high))
        os.close(high)
    assert done.returncode == 0, done.stdout
    for name, pid in daemons(tree).items():
        opened = {os.readlink(path) for path in Path(f'/proc/{pid}/fd').iterdir()}
        assert not opened & {str(tmp_path / 'lock'), str(tree / '.workstation/slurm/lock')}, name
    job = srun(tree, '-N2', '--ntasks-per-node=8', 'bash', '-c', 'echo $SLURMD_NODENAME')
    assert job.returncode == 0, job.stderr
    assert sorted(job.stdout.split()) == ['node1'] * 8 + ['node2'] * 8
    first = daemons(tree)
    assert sorted(first) == ['munged', 'slurmctld', 'slurmd-node1', 'slurmd-node2']
    again = start_slurm(tree)
    assert again.returncode == 0
    assert 'already running' in again.stdout
    assert daemons(tree) == first
    assert script(tree, 'slurm.sh', 'status', **no_cluster()).returncode == 0


@pytest.mark.slurm
def test_slurm_stop_ends_its_own_daemons_and_jobs_only(tmp_path, start_slurm):
    trees = [copy_project(tmp_path / name) for name in ('one', 'two')]
    for tree in trees:
        done = start_slurm(tree)
        assert done.returncode == 0, done.stdout
    mine, others = (daemons(tree) for tree in trees)
    # MPICH names its memory in /dev/shm after the job: what an aborted one left must not be found by another start's
    assert len({re.search(r'(?m)^FirstJobId=([1-9]\d*)$', (tree / '.workstation/slurm/slurm.conf').read_text()).group(1)
                for tree in trees}) == 2
    job = subprocess.Popen(['srun', '-N2', '-n2', 'bash', '-c', 'echo $$; exec sleep 300'], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, text=True,
                           env={**os.environ, 'SLURM_CONF': str(trees[0] / '.workstation/slurm/slurm.conf')})
    ranks = [int(job.stdout.readline()) for _ in range(2)]
    assert all(runs(pid) for pid in ranks)
    assert script(trees[0], 'slurm.sh', 'stop', **no_cluster()).returncode == 0
    assert job.wait(20) != 0
    job.stdout.close()
    assert not [pid for pid in [*mine.values(), *ranks] if runs(pid)]
    assert all(runs(pid) for pid in others.values())
    assert srun(trees[1], '-N2', 'true').returncode == 0


@pytest.mark.slurm
def test_slurm_starts_again_after_a_crash(tree, start_slurm):
    assert start_slurm(tree).returncode == 0
    crashed, job = daemons(tree), int(srun(tree, 'printenv', 'SLURM_JOB_ID').stdout)
    for pid in crashed.values():
        os.kill(pid, signal.SIGKILL)
    done = start_slurm(tree)
    assert done.returncode == 0, done.stdout
    assert not set(daemons(tree).values()) & set(crashed.values())
    # MPICH's shared memory has the job's number, and an aborted job leaves it behind
    assert abs(int(srun(tree, '-N2', '-n1', 'printenv', 'SLURM_JOB_ID').stdout) - job) > 1000


@pytest.mark.slurm
def test_slurm_uses_a_cluster_that_is_there(tmp_path, start_slurm):
    there, tree = (copy_project(tmp_path / name) for name in ('there', 'new'))
    assert start_slurm(there).returncode == 0
    done = start_slurm(tree, SLURM_CONF=there / '.workstation/slurm/slurm.conf')
    assert done.returncode == 0
    assert 'reach a cluster already' in done.stdout
    assert not (tree / '.workstation/slurm/slurm.conf').exists()
    assert not (tree / '.workstation/slurm/pids').exists()


@pytest.mark.slurm
def test_slurm_names_the_daemon_that_failed_and_leaves_none_running(tree, tmp_path, start_slurm):
    fake_command(tmp_path / 'bin', 'slurmctld', '[[ $1 != -V ]] || { echo slurm-wlm 22.05.8; exit; }\n'
                 'echo "fatal: made to fail"; exit 1\n')
    done = start_slurm(tree, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert 'fatal: made to fail' in done.stdout
    assert 'Not running any more: slurmctld slurmd-node1 slurmd-node2' in done.stdout
    assert not [line for line in command_lines().values() if 'munged' in line and str(tree) in line]

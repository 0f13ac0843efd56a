"""
This machine for tests: programs that are started, installed EasyBuilds, Lmod, stand-ins, small
libraries.

Samples: of many cases of one kind `make test` runs one, `make test-all` runs all (mark nightly).

Kills Python at a chosen one of its changes to files, as kill -9 does by chance.

The moments are counted in changes (a file is opened for writing, renamed, removed; a folder is
made, removed), as they happen in the process itself: the same number is the same moment on any
machine, however busy it is.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest

from osu_container.build.recipes.versions import SOURCES
from osu_container.verdict.site_choice import resolve_site

PROJECT = Path(__file__).resolve().parents[2]
STATE = PROJECT / '.workstation'
#: Not empty in the process whose tests take longest (those of Slurm): the others make room for what
#: it starts
FIRST = []
#: Variables that name the process of the tests as WCKey of its jobs: srun, sbatch and salloc each
#: read one. Other processes can use the same Slurm, for example the tests of a second worktree.
JOB_KEY = {f'{command}_WCKEY': f'tests-{os.getpid()}' for command in ('SLURM', 'SBATCH', 'SALLOC')}
os.environ.update(JOB_KEY)
#: Arguments of a benchmark of two ranks that is not over before anybody could look at them. What
#: lasts is the copying of large messages: many small ones last as long only on idle cores; where
#: four ranks that poll share two cores, each message waits some milliseconds for its turn, and the
#: program lasts a hundred times as long.
LASTING = 'H H -m 4194304 -i 50 -x 2'


def require_tool(*names):
    """
    Return the path of a program that root installs for a few tests; without root and it the test
    is left out.
    """
    path = next(filter(None, map(shutil.which, names)), None)
    if not path:
        pytest.skip(f'no {names[0]}, which `make test` installs by root or sudo')
    return path


def assert_success(done):
    """Fail with the end of the output of a finished command unless its exit code is 0."""
    __tracebackhide__ = True
    assert done.returncode == 0, (done.stdout or '')[-3000:] + (done.stderr or '')[-3000:]


def run(command, **kwargs):
    """
    Run command (list), return CompletedProcess with stdout and stderr as str. Never raises for
    an exit code.
    """
    kwargs.setdefault('stdout', subprocess.PIPE)
    kwargs.setdefault('stderr', subprocess.PIPE)
    timeout, given = kwargs.pop('timeout', 300), kwargs.pop('input', None)
    if given is not None:
        kwargs['stdin'] = subprocess.PIPE
    if FIRST and kwargs.get('env'):
        kwargs['env'] = {**kwargs['env'], **JOB_KEY}
    # a session of its own: what hangs is ended with all that it has started, and its job with it
    with subprocess.Popen(
        [str(part) for part in command], text=True, start_new_session=True, **kwargs
    ) as process:
        if not FIRST:
            lower_session_priority(process.pid)
        try:
            out, err = process.communicate(given, timeout=timeout)
        except BaseException:
            end_process(process)
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def lower_session_priority(session):
    """
    Let the programs of a session (int) leave the cores to ranks of MPI, where Linux shares cores by
    session.

    A rank spins while it waits for the other one. Where tests beside it hold the other rank's core,
    each message takes milliseconds: osu_bw on two nodes took 11 s beside two busy tests, 3.6 s
    where these step back, 2.9 s alone. slurmd starts ranks in sessions of their own, so they do not
    step back.
    """
    try:
        Path(f'/proc/{session}/autogroup').write_text('10')
    except OSError:  # it has ended, or this Linux has no such groups
        pass


def end_process(process):
    """
    End a Popen with the process group that it leads, and the jobs that this process has started.
    """
    for sent, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 60)):
        try:
            os.killpg(process.pid, sent)
            process.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
    end_jobs()


def end_jobs():
    """
    Cancel the jobs that the tests of this process have started, and wait until the jobs have ended.

    :return: the jobs (list of str)
    """
    conf = STATE / 'slurm' / 'slurm.conf'
    if not conf.exists() or not shutil.which('squeue'):
        return []
    key = JOB_KEY['SLURM_WCKEY']

    def ask(*words):
        environment = {**os.environ, 'SLURM_CONF': str(conf)}
        return subprocess.run(words, env=environment, text=True, timeout=20, capture_output=True)

    def list_jobs():
        lines = ask('squeue', '--noheader', '--format=%i %j %T %w').stdout.splitlines()
        return [line for line in lines if line.endswith(f' {key}')]

    try:
        found = list_jobs()
        if found:
            ask('scancel', f'--wckey={key}')
            patience = time.monotonic() + 20  # what ignores SIGTERM is killed after KillWait
            while list_jobs() and time.monotonic() < patience:
                time.sleep(0.2)
    except subprocess.TimeoutExpired:
        return []
    return found


def list_command_lines():
    """
    Return {process (int): its command line (str)} of all that runs; that of a zombie is empty.
    """
    found = {}
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found[int(path.parent.name)] = (
                path.read_bytes().replace(b'\0', b' ').decode(errors='replace')
            )
    return found


def restore_sigint():
    """
    For preexec_fn: let SIGINT end the program. Background jobs of a shell, such as CI, have it
    ignored.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _python_36():
    """Return the path of a Python 3.6 that runs, None without: one on PATH, or a pyenv's."""
    is_one = 'import sys; sys.exit(sys.version_info[:2] != (3, 6))'
    pyenv = Path(os.environ.get('PYENV_ROOT', Path.home() / '.pyenv'))
    paths = [
        *pyenv.glob('versions/3.6.*/bin/python3.6'),
        shutil.which('python3.6') or '/nonexistent',
    ]
    # the shim of a pyenv may lead to nothing
    return next(
        (
            str(path)
            for path in paths
            if os.access(path, os.X_OK) and run([path, '-c', is_one]).returncode == 0
        ),
        None,
    )


PYTHON_36 = _python_36()


def compile_library(
    path,
    soname=None,
    version_script=None,
    needed=(),
    rpath=None,
    source='void present(void) {}\n',
    options=(),
):
    """
    Compile a small real shared library at path (Path) and return path.

    :param soname: str; version_script: str, text of a linker version script; needed: list of Path
        of libraries that it is linked to; rpath: str, with old dtags (DT_RPATH) where it starts
        with 'old:'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    code = path.with_suffix('.c')
    code.write_text(source)
    command = [
        'gcc',
        '-shared',
        '-fPIC',
        '-o',
        path,
        code,
        f'-Wl,-soname,{soname or path.name}',
        '-Wl,--no-as-needed',
    ]
    if version_script:
        script = path.with_suffix('.map')
        script.write_text(version_script)
        command.append(f'-Wl,--version-script,{script}')
    command += [*needed, *options]
    if rpath:
        command += [
            '-Wl,--disable-new-dtags' if rpath.startswith('old:') else '-Wl,--enable-new-dtags',
            '-Wl,-rpath,' + rpath.split(':', 1)[-1],
        ]
    done = run(command)
    assert_success(done)
    for leftover in path.parent.glob(path.stem + '.[cm]*'):
        if leftover != path:
            leftover.unlink()
    return path


def fetch_source(key):
    """
    Return the path of the source key (str, of build/recipes/versions.py), fetched if it is
    missing.
    """
    path = PROJECT / 'sources' / SOURCES[key]['file']
    if not path.exists():
        done = run(
            [PROJECT / 'scripts' / 'osu-container', 'image', 'fetch', '--quiet', '--source', key]
        )
        assert_success(done)
    return path


class EasyBuild:
    """One installed EasyBuild, run on this project's easyconfigs with a prefix of its own."""

    def __init__(self, version, prefix):
        venv = STATE / ('venv' if version == 'newest' else f'easybuild/{version}')
        self.python, self.command, self.prefix = (
            venv / 'bin' / 'python',
            venv / 'bin' / 'eb',
            Path(prefix),
        )
        assert self.command.exists(), f'{self.command} is missing: `make test` sets it up'
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(
                ('EASYBUILD_', 'LMOD_', '__LMOD', '_LM', 'MODULE', 'LOADEDMODULES')
            )
        }
        self.environment.update(
            {
                'EB_PYTHON': str(self.python),
                'EASYBUILD_PREFIX': str(self.prefix),
                'EASYBUILD_INCLUDE_EASYBLOCKS': f'{PROJECT}/easyblocks/generic/*.py',
                'EASYBUILD_ROBOT_PATHS': str(PROJECT / 'easyconfigs'),
                'EASYBUILD_SOURCEPATH': str(PROJECT / 'sources'),
                'EASYBUILD_TMPDIR': str(self.prefix.parent / 'eb-tmp'),
                'EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES': '1',  # CI runs as root; only prefix is written
                'PATH': f"{STATE / 'bin'}:{os.environ['PATH']}",
                'LMOD_CMD': '/usr/share/lmod/lmod/libexec/lmod',
            }
        )

    def write_local_file(self, text):
        """Use text as _mpicontainer_local.py: SITE, ROOT, SITES."""
        path = self.prefix.parent / 'local' / '_mpicontainer_local.py'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.environment['EASYBUILD_INCLUDE_EASYBLOCKS'] = (
            f'{PROJECT}/easyblocks/generic/*.py,{path}'
        )

    def __call__(self, *arguments, **kwargs):
        """Run eb with arguments; output and errors come back together in stdout."""
        # eb looks for easyconfigs and for Python's packages in the current folder too: nothing of
        # ours is in this one
        kwargs.setdefault('cwd', '/')
        return run(
            [self.command, *arguments], env=self.environment, stderr=subprocess.STDOUT, **kwargs
        )

    def module(self, name):
        """Path of the module file of name, e.g. osu-container/pure."""
        return self.prefix / 'modules' / 'all' / f'{name}.lua'

    def list_leftovers(self):
        """
        Files, links and empty folders below software and modules, as sorted relative paths. Not
        counted: the empty folders that EasyBuild makes before it looks at any easyconfig (its lock
        folder and modules/all).
        """
        found = []
        for folder in ('software', 'modules'):
            for path in sorted((self.prefix / folder).rglob('*')):
                if path.is_file() or path.is_symlink() or not any(path.iterdir()):
                    found.append(str(path.relative_to(self.prefix)))
        return [path for path in found if path not in ('software/.locks', 'modules/all')]


#: Lmod of this machine (8.6 on Debian 12), LUMI's kind where the set-up could have it (make
#: lmod-87), and others that somebody puts beside that: no package registry has 9.2 yet
LMODS = {
    'own': '/usr/share/lmod/lmod/libexec/lmod',
    **{path.parent.name[len('lmod-') :]: str(path) for path in sorted(STATE.glob('lmod-*/lmod'))},
}


def run_clean_shell(script, lmod='own', timeout=300, **variables):
    """
    Run a bash script in an almost empty environment with Lmod's `module` defined; variables are
    added.

    :param lmod: str, key of LMODS; timeout: int, seconds
    """
    text = (
        f""". /usr/share/lmod/lmod/init/bash >/dev/null
export LMOD_CMD=$(readlink -f {LMODS[lmod]})
make_module() {{ eval "$("$LMOD_CMD" bash "$@")"; }}
"""
        + script
    )
    environment = {
        'PATH': '/usr/bin:/bin',
        'HOME': os.environ['HOME'],
        'LC_ALL': 'C.UTF-8',
        **variables,
    }
    return run(['bash', '--norc', '-c', text], env=environment, timeout=timeout)


def list_module_variables(site):
    """
    Return the variables (dict) of modules of a site (str) by which its ROCm is found, where that
    is not in /opt.
    """
    folder = next(
        (path for path in resolve_site(site)['one_build']['value'] if not path.startswith('/opt/')),
        None,
    )
    return {'ROCM_PATH': folder.rpartition('/')[0]} if folder else {}


class StandIn:
    """
    A tree with LUMI's paths for one site (tests/stand_in/README.md), and an EasyBuild that
    installs from it.
    """

    def __init__(self, site, folder, version='newest'):
        self.site, self.tree = site, folder / 'tree'
        done = run([PROJECT / 'tests' / 'stand_in' / 'make', site, self.tree])
        assert_success(done)
        self.eb = EasyBuild(version, folder / 'prefix')
        self.eb.write_local_file((self.tree / '_mpicontainer_local.py').read_text())
        self.eb.environment['EASYBUILD_SYSROOT'] = str(self.tree)
        # images whose libfabric has the simulated provider cxi (tests/stand_in/tree.py)
        self.eb.environment['EASYBUILD_SOURCEPATH'] += f':{STATE}/pairs/images'
        self.eb.environment['PATH'] = f"{self.tree}/usr/bin:{self.eb.environment['PATH']}"

    def shell(self, script, **variables):
        """
        Run a bash script with the installed modules, the private Slurm and the tree's
        singularity.
        """
        return run_clean_shell(
            f'module use {self.eb.prefix}/modules/all\n{script}',
            **{
                'PATH': f"{self.tree}/usr/bin:{STATE / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin",
                'SLURM_CONF': str(STATE / 'slurm' / 'slurm.conf'),
                'SLURM_JOB_NUM_NODES': '2',
                'SLURM_NTASKS': '2',
                **variables,
            },
        )

    def run_proofs(self, command, folder, **variables):
        """
        Run a script whose {prove} stands before the program of two ranks.

        :return: (CompletedProcess, [proof (dict)] by rank)
        """
        done = self.shell(
            command.format(prove=f'{PROJECT}/scripts/rank-proof {folder}'), **variables
        )
        assert_success(done)
        found = [json.loads(path.read_text()) for path in sorted(Path(folder).glob('rank-*.json'))]
        assert len(found) == 2
        return done, found


def fold_whitespace(text):
    """
    Return text with all white space folded to single spaces: Lmod and EasyBuild wrap their
    messages.
    """
    return ' '.join(text.split())


def mark_repeats_nightly(values, kind=lambda *value: None):
    """
    Return values as cases of parametrize: of those of one kind all but the first are marked
    nightly.

    :param values: list, of tuples or pytest.param too; kind: function of a value, or of what is in
        its tuple, that returns its kind; without it all are of one
    """
    seen, found = set(), []
    for value in values:
        case = (
            value
            if hasattr(value, 'marks')
            else pytest.param(*(value if type(value) is tuple else [value]))
        )
        what = kind(*case.values)
        found.append(
            pytest.param(
                *case.values,
                id=case.id,
                marks=[*case.marks, *([pytest.mark.nightly] if what in seen else [])],
            )
        )
        seen.add(what)
    return found


#: Of EasyBuild
VERSIONS = ['newest', '5.1.2', '4.9.4']
#: `make test` has the newest, `make test-all` each of them
EASYBUILD_VERSIONS = mark_repeats_nightly(VERSIONS)


#: Audit events of changes (docs.python.org/3/library/audit_events.html), beside that of open()
CHANGES = ('os.rename', 'os.remove', 'os.rmdir', 'os.mkdir', 'os.link', 'os.symlink', 'os.truncate')


def kill_at(moment, folders):
    """
    Have this process killed before its change number moment (int, from 0) below folders (str).

    :return: function () -> how many changes (int) there were until now
    """
    left, folders = [moment], tuple(map(str, folders))

    def before(event, arguments):
        changes = (
            arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if event == 'open'
            else event in CHANGES
        )
        if (
            changes
            and isinstance(arguments[0], (str, bytes))
            and os.path.abspath(os.fsdecode(arguments[0])).startswith(folders)
        ):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(before)
    return lambda: moment - left[0]


def run_killed(moment, folders, action):
    """
    Call action() in a process of its own that is killed before its change number moment (int) below
    folders (of str).

    :return: whether it was killed (bool): False where it ended before. Raises AssertionError if
        action() did.
    """
    return _run_forked(moment, folders, action)[0]


def count_changes(folders, action):
    """
    Call action() in a process of its own; return how many changes (int) it makes below folders
    (of str).
    """
    return _run_forked(10**9, folders, action)[1]


def _run_forked(moment, folders, action):
    """
    Return (whether it was killed, how many changes it made) of action() in a process of its own.
    """
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            made = kill_at(moment, folders)
            action()
            os.write(writes, str(made()).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writes)
    with open(reads) as stream:
        made = stream.read()
    _, code = os.waitpid(child, 0)
    assert code in (0, signal.SIGKILL), code
    return code != 0, int(made or 0)

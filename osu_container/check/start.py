"""
Start the user's command once with an approach, and observe which MPI and libfabric it loads.

The command runs as one process on this machine, through the commands of a module that exists only
in a temporary folder: binds, injection script and variables are those of the module that `new` and
`eb` make. The current folder is temporary too. As soon as a process has loaded MPI and its network
library, it is killed, so that it does no work. A shell that has started the process goes on, because
it may start another MPI program. In the end all processes are killed.

The observation has two sources: the mapped files in /proc (proof/loaded.py), and the log of glibc's
loader (LD_DEBUG=files), which also has the libraries of a process that terminates at once. Programs
of musl and static programs write no log.
"""

import argparse
import contextlib
import glob
import os
import posixpath
import re
import shlex
import signal
import subprocess
import tempfile
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from osu_container.base import shell, streams
from osu_container.base.places import SCRIPTS
from osu_container.check import staged
from osu_container.image.image import Image
from osu_container.image.loader import find_loaded_file
from osu_container.proof import loaded, sample
from osu_container.verdict import launching
from osu_container.verdict.facts import FactsError, collect_facts
from osu_container.verdict.rules.finding import LEVELS
from osu_container.verdict.settings import Settings, build_settings
from osu_container.verdict.site_choice import SettingsError
from osu_container.verdict.started import MappedFile, Start, StartedProcess
from osu_container.verdict.trial import NoMpiError, Trial, build_trial
from osu_container.verdict.verdict import Starter, Verdict, judge_trial

#: Seconds until a command that loads no MPI is killed
LIMIT = 30.0
#: Seconds that the other processes of the command have to start a second MPI program, after the first
#: has been killed
MORE_PROGRAMS = 3.0
#: Seconds without new libraries until a process is killed: a launcher that is linked with MPI executes
#: its program before
EXEC_DELAY = 0.2
#: Seconds between two readings, and to wait until killed processes have disappeared
LOOK_EVERY, KILL_PATIENCE = 0.01, 5.0
#: Lines of output that the report of a command without MPI has, and bytes at which it is killed
OUTPUT_LINES, OUTPUT_LIMIT = 5, 1 << 26
#: Variables by which launchers and modules address the process that runs osu-container
_FOREIGN_VARIABLE = re.compile(r'PMI|SLURM_(STEP|PROCID|TASK)|OSU_PROOF$|MPI_CONTAINER_IMAGE$')
_LOG_LINE = re.compile(r'\s*\d+:\s+(calling init|initialize program): (.*)')
_FIRST_LIBRARY = re.compile(r'.*/(ld-linux[\w.-]*|ld64|ld|libc)\.so')


#: (pid in the container, whether the process has certainly loaded all libraries, StartedProcess)
_NumberedProcess = Tuple[int, bool, StartedProcess]


class Observation(NamedTuple):
    """What /proc has shown of a command."""

    processes: List[_NumberedProcess]
    exit_code: Optional[int]  #: None if the command was killed
    waiting: List[str]  #: programs without MPI that were running when the command was killed
    output: List[str]  #: last lines


def make_starter(command: List[str], program: Optional[str], limit: float = LIMIT) -> Starter:
    """
    Return the function that starts `command` for evaluate_approach().

    program: the command line that evaluate_approach() gets. limit: seconds until a command that
    loads no MPI is killed.
    """

    def start(trial: Trial) -> Tuple[Trial, Verdict]:
        result, results = start_command(trial, command, limit), []
        for attempt in range(2):
            results = [
                build_trial(
                    trial.approach,
                    trial.site,
                    trial.image,
                    trial.host,
                    program,
                    trial.container.runtime,
                    started=started,
                )
                for started in result.processes
            ]
            # A module for another MPI of the image may inject another MPI of the host.
            other = next((each for each in results if each.injected != trial.injected), None)
            if attempt or other is None:
                break
            trial, result = other, start_command(other, command, limit)
        if not results and not trial.soname:
            raise NoMpiError(trial.image, 'no process of the started command has loaded an MPI')
        trials = [each._replace(start=result) for each in results or [trial]]
        return max(
            ((each, judge_trial(each)) for each in trials),
            key=lambda pair: LEVELS.index(pair[1].level),
        )

    return start


def add_no_start_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option --no-start of the commands that start a program by default."""
    parser.add_argument(
        '--no-start',
        action='store_true',
        help="start no program of the image; by default the program starts once for each approach, "
        "until it has loaded MPI (see SECURITY.md)",
    )


def announce_start(
    path: str, command: List[str], progress: Optional[streams.Progress] = None
) -> Starter:
    """Print to stderr what will run, and return the starter of `command` in the image `path`."""
    if progress:
        progress.stop()
    streams.print_stderr(
        'starting in %s, once for each approach, for at most %d s, until it has loaded MPI: %s'
        % (path, LIMIT, shell.join_words(command))
    )
    return make_starter(command, join_program(command))


def join_program(words: List[str]) -> str:
    """Return the command line of `words`, which split_command() splits into the same words."""
    return ' '.join(map(shlex.quote, words))


def build_start_data(result: Optional[Start]) -> Optional[Dict[str, Any]]:
    """Return the dict on a start in the output of `check --json`, None without a start."""
    if result is None:
        return None
    return {
        'command': result.command,
        'problem': result.problem,
        'seconds': round(result.seconds, 2),
        'exit_code': result.exit_code,
        'still_running': result.waiting,
        'output': result.output,
        'processes': [
            {
                'program': process.program,
                'libmpi': [file._asdict() for file in process.libmpi],
                'libfabric': process.libfabric and process.libfabric._asdict(),
            }
            for process in result.processes
        ],
    }


def start_command(trial: Trial, command: List[str], limit: float = LIMIT) -> Start:
    """Start `command` with the module of a trial, and return the Start."""
    runtime, begin = trial.container.runtime, time.monotonic()
    if runtime is None:
        return Start(command, [], None, [], [], 0.0, 'no container runtime is on PATH')
    with tempfile.TemporaryDirectory(prefix='osu-start-') as folder:
        try:
            verdict = Verdict(trial.approach['name'], 'unknown', [], '', '', None)
            facts = collect_facts(trial, verdict, runtime, force=True)
            settings = build_settings(trial.approach, trial.site, facts)
        except (FactsError, SettingsError) as err:
            return Start(command, [], None, [], [], 0.0, str(err))
        module = os.path.join(folder, 'module')
        staged.create_module_folder(module, settings, trial.image.path, runtime['command'])
        link = os.path.join(module, 'bin', 'start-exec')
        os.symlink(os.path.join(SCRIPTS, 'run-in-container'), link)
        environment = _build_environment(settings, folder)
        owners = _map_mounts(settings, environment)
        os.mkdir(os.path.join(folder, 'current'))
        seen = _observe_command(
            [link] + command,
            environment,
            folder,
            limit,
            find_loaded_file(trial.process, 'libfabric.so.1') is not None,
        )
        logged = read_loader_logs(os.path.join(folder, 'loader'), trial.image, owners)
    processes = merge_processes(seen.processes, logged)
    return Start(
        command,
        processes,
        seen.exit_code,
        seen.waiting,
        seen.output,
        time.monotonic() - begin,
    )


def _build_environment(settings: Settings, folder: str) -> Dict[str, str]:
    """Return the variables of the started command, which has `folder` as its temporary folder."""
    local_sizes = [name.partition('/')[0] for name in launching.list_local_size_variables()]
    environment = {
        name: value
        for name, value in os.environ.items()
        if not _FOREIGN_VARIABLE.match(name) and name not in local_sizes
    }
    prefix = settings.container.env_prefix or ''
    binds = [value for value in [environment.get(prefix + '_BIND')] if value]
    return dict(
        environment,
        **{
            prefix + '_BIND': ','.join(binds + [folder]),
            prefix + 'ENV_LD_DEBUG': 'files',
            prefix + 'ENV_LD_DEBUG_OUTPUT': os.path.join(folder, 'loader'),
        },
    )


def _map_mounts(settings: Settings, environment: Dict[str, str]) -> Dict[str, str]:
    """Return {path in the container: path on the host} of files and folders that the host has."""
    container = settings.container
    mounts = {target: path for path, target, _ in container.binds}
    mounts.update((entry['target'], entry['path']) for entry in container.run_files)
    user_binds = [
        entry.split(':')
        for prefix in ('APPTAINER', 'SINGULARITY')
        for name in ('_BIND', '_BINDPATH')
        for entry in environment.get(prefix + name, '').split(',')
    ]
    mounts.update((parts[1] if parts[1:] else parts[0], parts[0]) for parts in user_binds)
    mounts.update((path, path) for path in ('/tmp', '/var/tmp', environment.get('HOME', '/root')))
    return {target.rstrip('/'): path for target, path in mounts.items() if target.strip('/')}


# ---- the processes --------------------------------------------------------------------------------


@contextlib.contextmanager
def _adopt_orphans() -> Iterator[None]:
    """Make this process the parent of orphaned descendants for a with block (prctl(2))."""
    prctl = streams.load_prctl() or (lambda *_: None)  # Daemons of the command may then survive.
    prctl(36, 1, 0, 0, 0)  # 36: PR_SET_CHILD_SUBREAPER in linux/prctl.h
    try:
        yield
    finally:
        prctl(36, 0, 0, 0, 0)


def _list_children(others: Set[int]) -> List[int]:
    """Return the pids of this process's children that are not in `others`."""
    return [
        int(pid)
        for task in loaded.list_proc_folder('/proc/self/task')
        for pid in loaded.read_proc_file('/proc/self/task/%s/children' % task).split()
        if int(pid) not in others
    ]


def _kill_descendants(child: 'subprocess.Popen[Any]', others: Set[int]) -> None:
    """Kill `child`, its descendants and the orphans that this process has adopted."""
    end = time.monotonic() + KILL_PATIENCE
    while time.monotonic() < end:
        children = _list_children(others)
        for pid in [pid for root in children for pid in loaded.list_process_tree(root)]:
            with contextlib.suppress(OSError):  # The process has terminated.
                os.kill(pid, signal.SIGKILL)
        child.poll()
        for pid in children:
            if pid != child.pid:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
        if not children:
            return
        time.sleep(LOOK_EVERY)


def _observe_command(
    words: List[str],
    environment: Dict[str, str],
    folder: str,
    limit: float,
    needs_libfabric: bool,
) -> Observation:
    """Run a command in `folder`/current until it has loaded MPI; return what was observed."""
    others = set(_list_children(set()))
    with open(os.path.join(folder, 'output'), 'w+b') as output, _adopt_orphans():
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=os.path.join(folder, 'current'),
            env=environment,
            start_new_session=True,
            preexec_fn=streams.terminate_with_parent(os.getpid()),
        )
        try:
            watcher = _Watcher(os.path.join(folder, 'loader'), needs_libfabric)
            while not watcher.look(_list_children(others)):
                if child.poll() is not None and not _list_children(others):
                    break
                if (
                    watcher.get_seconds() > limit
                    or os.fstat(output.fileno()).st_size > OUTPUT_LIMIT
                ):
                    break
                time.sleep(LOOK_EVERY)
            code = child.poll()
        finally:
            _kill_descendants(child, others)
        output.seek(0)
        lines = output.read().decode('utf-8', 'replace').splitlines()[-OUTPUT_LINES:]
    return Observation(
        list(watcher.processes.values()),
        128 - code if code is not None and code < 0 else code,  # as a shell reports a signal
        watcher.waiting if code is None else [],
        lines,
    )


class _Watcher:
    """Collects the processes with MPI of a command, and tells when the command can be killed."""

    def __init__(self, mark: str, needs_libfabric: bool) -> None:
        #: value of LD_DEBUG_OUTPUT, which the command's processes have and the runtime's have not
        self.mark = mark
        self.needs_libfabric = needs_libfabric
        self.begin = time.monotonic()
        #: {(pid, executable): (times of the first reading and of the last change, mapped paths)}
        self.readings: Dict[Tuple[int, Optional[str]], Tuple[float, float, List[str]]] = {}
        self.processes: Dict[Tuple[int, Optional[str]], _NumberedProcess] = {}
        self.waiting: List[str] = []
        #: time of the last reading with an MPI process
        self.last_seen: Optional[float] = None

    def get_seconds(self) -> float:
        return time.monotonic() - self.begin

    def look(self, roots: List[int]) -> bool:
        """Read all processes below the pids `roots`; return whether the command can be killed."""
        now, is_settled, running = time.monotonic(), True, []
        for root in roots:
            for pid, executable, libraries in loaded.list_mpi_processes(root):
                running.append(pid)
                is_settled &= self._record(pid, executable, libraries, now)
        if running:
            self.last_seen = now
        if not is_settled:
            return False
        self.waiting = [
            loaded.read_program(pid)[0] or ''
            for root in roots
            for pid in loaded.list_process_tree(root)
            if pid not in running
            and loaded.read_environment(pid).get('LD_DEBUG_OUTPUT') == self.mark
        ]
        if running and self.waiting:  # A shell may start another MPI program afterwards.
            for pid in running:
                with contextlib.suppress(OSError):  # The process has terminated.
                    os.kill(pid, signal.SIGKILL)
            return False
        return (
            bool(running) or self.last_seen is not None and (now - self.last_seen > MORE_PROGRAMS)
        )

    def _record(
        self, pid: int, executable: Optional[str], libraries: Dict[str, str], now: float
    ) -> bool:
        """Record a reading of a process; return whether the process has loaded all libraries."""
        key, paths = (pid, executable), loaded.list_mapped_files(pid)
        first, changed, before = self.readings.get(key, (now, now, []))
        if paths != before or key not in self.processes:
            names = [path for path in paths if path == executable or '.so' in path]
            files = [MappedFile(*file) for file in loaded.resolve_origins(pid, names)]
            process = make_process(executable or '', files, loaded.read_environment(pid))
            if process.libmpi and executable:  # The process has not terminated in between.
                self.readings[key] = first, now, paths
                self.processes[key] = _read_inner_pid(pid), False, process
            return False
        inner_pid, _, process = self.processes[key]
        # ld.so maps a library before it checks the versions and symbols that the library needs.
        is_loaded = now - changed > sample.AGREEMENT_TIME
        log = _read_log('%s.%d' % (self.mark, inner_pid))
        if log:
            libraries = loaded.select_libraries(parse_loader_log(log)[-1][1])
            is_loaded = 'libmpi' in libraries
        is_loaded = is_loaded and (
            not self.needs_libfabric
            or 'libfabric' in libraries
            or now - first > sample.LIBFABRIC_DELAY
        )
        self.processes[key] = inner_pid, is_loaded, process
        return is_loaded and now - changed > EXEC_DELAY


def _read_log(path: str) -> str:
    """Return the text of a log of the loader, '' without a log."""
    return loaded.read_proc_file(path).decode('utf-8', 'replace')


def _read_inner_pid(pid: int) -> int:
    """Return the pid that a process has in its own pid namespace (proc(5), NSpid)."""
    match = re.search(rb'^NSpid:.*\s(\d+)$', loaded.read_proc_file('/proc/%d/status' % pid), re.M)
    return int(match.group(1)) if match else pid


def make_process(
    program: str, files: List[MappedFile], environment: Optional[Dict[str, str]]
) -> StartedProcess:
    """Return the StartedProcess of a program that has loaded `files`."""
    libraries: Dict[str, List[MappedFile]] = {'libmpi': [], 'libfabric': []}
    for file in files:
        for name in loaded.select_libraries([file.path]):
            if name in libraries and file not in libraries[name]:
                libraries[name].append(file)
    if environment is not None:  # The image and the command have not set what the user has set.
        environment = {
            name: value
            for name, value in environment.items()
            if os.environ.get(name) != value and not name.startswith('LD_DEBUG')
        }
    return StartedProcess(
        program, libraries['libmpi'], next(iter(libraries['libfabric']), None), files, environment
    )


# ---- the log of the loader ------------------------------------------------------------------------


def parse_loader_log(text: str) -> List[Tuple[str, List[str]]]:
    """
    Return (program, paths of its libraries) for each program in a log of LD_DEBUG=files.

    A process that executes another program continues its log.
    """
    programs: List[Tuple[str, List[str]]] = [('', [])]
    for kind, path in _LOG_LINE.findall(text):
        if kind != 'calling init':
            programs[-1] = path, programs[-1][1]
        elif path in programs[-1][1] and _FIRST_LIBRARY.match(path):
            programs.append(('', [path]))
        else:
            programs[-1][1].append(path)
    return programs


def read_loader_logs(path: str, image: Image, mounts: Dict[str, str]) -> List[_NumberedProcess]:
    """
    Return the processes with MPI in the logs of the loader, `path`.PID.

    mounts: {path in the container: path on the host}.
    """
    processes = []
    for name in sorted(glob.glob(glob.escape(path) + '.*')):
        for program, paths in parse_loader_log(_read_log(name)):
            for folder in [] if '/' in program else image.list_path_folders():
                if image.exists(folder + '/' + program):
                    program = folder + '/' + program
                    break
            files = [_locate_file(library, image, mounts) for library in [program] + paths]
            process = make_process(files[0].path, files, None)
            if process.libmpi:
                processes.append((int(name.rpartition('.')[2]), True, process))
    return processes


def _locate_file(path: str, image: Image, mounts: Dict[str, str]) -> MappedFile:
    """Return the file that the loader names `path`, with the links of the image resolved."""
    folder = posixpath.normpath(path)
    while folder not in mounts and posixpath.dirname(folder) != folder:
        folder = posixpath.dirname(folder)
    if folder not in mounts:
        return MappedFile(image.resolve(path) or posixpath.normpath(path), 'image', None)
    path = posixpath.normpath(path)
    return MappedFile(path, 'host', mounts[folder] + path[len(folder) :])


def merge_processes(
    mapped: List[_NumberedProcess], logged: List[_NumberedProcess]
) -> List[StartedProcess]:
    """
    Return the processes that have loaded MPI: those in /proc, then those only in logs.

    A process in /proc that has not certainly loaded its libraries counts only if it is in a log.
    """
    processes, found = [], set()
    for pid, is_loaded, process in mapped:
        for index, (other_pid, _, other) in enumerate(logged):
            if pid == other_pid and process.libmpi == other.libmpi:
                found.add(index)
                is_loaded = True
                process = process._replace(libfabric=process.libfabric or other.libfabric)
        processes += [process] if is_loaded else []
    return processes + [entry[2] for index, entry in enumerate(logged) if index not in found]

"""
Start the user's command once with an approach, and observe its MPI and libfabric.

The command runs as one process on this machine, with the settings of a module that exists only in a
temporary folder. The binds, the injection script and the variables are those of the module that
`osu-container new` and `eb` make. The current folder of the command is temporary too. As soon as a
process has loaded MPI and libfabric, the process is killed, so that the process does no work. A
shell that has started the process continues, because the shell may start another MPI program. In
the end all processes of the command are killed.

The observation has two sources. The mapped files in /proc (proof/loaded.py) show whether each
library belongs to the image or to the host. The log of glibc's loader (LD_DEBUG=files) shows when
the loader has finished, and also has the libraries of a process that terminates at once. Programs
of musl and static programs write no log.
"""

import argparse
import contextlib
import os
import posixpath
import re
import shlex
import signal
import subprocess
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from osu_container.base import outputs, shell, streams
from osu_container.base.places import SCRIPTS
from osu_container.image.environment import find_program
from osu_container.install.call_settings import create_module_folder
from osu_container.proof import loaded, sample
from osu_container.verdict.dry_run import LAST_SCRIPT
from osu_container.verdict.facts import collect_facts
from osu_container.verdict.rules.finding import LEVELS
from osu_container.verdict.settings import Settings, build_settings
from osu_container.verdict.started import MappedFile, Start, StartedProcess
from osu_container.verdict.trial import NoMpiError, Trial, build_trial, make_container
from osu_container.verdict.verdict import Starter, Verdict, judge_trial

#: Seconds until a command that loads no MPI is killed
LIMIT = 30.0
#: Seconds that the other processes of the command have to start a second MPI program, after the first
#: has been killed
MORE_PROGRAMS = 3.0
#: Seconds without new libraries until a process is killed: a launcher that is linked with MPI executes
#: its program before
EXEC_DELAY = 0.2
#: CPU time in seconds that a process must have used until it is killed, unless the process sleeps: on
#: a busy machine, the process may wait for a processor during EXEC_DELAY
EXEC_RUN_TIME = 0.05
#: Seconds between two readings, and to wait until killed processes have disappeared
LOOK_EVERY, KILL_PATIENCE = 0.01, 5.0
#: Lines of output that the report of a command without MPI has, and bytes at which it is killed
OUTPUT_LINES, OUTPUT_LIMIT = 5, 1 << 26
#: Variables by which launchers and modules address the process that runs osu-container
_FOREIGN_VARIABLE = re.compile(
    r'PMI|PALS_|FLUX_JOB_|MPI_LOCAL|OMPI_COMM_|SLURM_(STEP|PROCID|TASK)|OSU_PROOF$|'
    r'MPI_CONTAINER_IMAGE$'
)
_LOG_LINE = re.compile(r'\s*\d+:\s+(calling init|initialize program): (.*)')
_FIRST_LIBRARY = re.compile(r'.*/(ld-linux[\w.-]*|ld64|ld|libc)\.so')


class _Reading(NamedTuple):
    """The files of a process with MPI, as read from /proc, and the times of the readings."""

    first: float  #: time of the first reading
    changed: float  #: time of the first reading with these `paths`
    run_time: float  #: CPU time in seconds at the time `changed`, 0 if the kernel counts no time
    paths: List[str]  #: all files that the process has mapped
    process: StartedProcess
    #: whether the process has loaded all libraries, and has not executed another program since
    is_settled: bool


def make_starter(command: List[str], program: Optional[str], limit: float = LIMIT) -> Starter:
    """
    Return the function by which evaluate_approach() starts `command`.

    program: the parameter `program` of evaluate_approach(). limit: number of seconds after which a
    command without MPI is killed.
    """

    def start(trial: Trial, is_repeated: bool = False) -> Tuple[Trial, Verdict]:
        result = start_command(trial, command, limit)
        trials = [
            build_trial(
                trial.approach,
                trial.site,
                trial.image,
                trial.host,
                program,
                trial.runtime,
                started=process,
            )
            for process in result.processes
        ]
        # A module for another MPI of the image may inject another MPI of the host.
        other = next((each for each in trials if each.injected != trial.injected), None)
        if other and not is_repeated:
            return start(other, True)
        if not trials and not trial.soname:
            raise NoMpiError(trial.image, 'no process of the started command has loaded an MPI')
        trials = [each._replace(start=result) for each in trials or [trial]]
        return max(
            ((each, judge_trial(each)) for each in trials),
            key=lambda pair: LEVELS.index(pair[1].level),
        )

    return start


def add_no_start_argument(parser: argparse.ArgumentParser) -> None:
    """Add the option --no-start to the parser of a command that starts a program by default."""
    parser.add_argument(
        '--no-start',
        action='store_true',
        help="start no program of the image; by default, the command starts the program once for "
        "each approach, and stops the program when MPI is loaded (see SECURITY.md)",
    )


def announce_start(
    path: str, command: List[str], progress: Optional[streams.Progress] = None
) -> Starter:
    """Print which command will run in the image `path`, and return the result of make_starter()."""
    if progress:
        progress.stop()
    streams.print_stderr(
        'starting a command in %s once for each approach, until MPI is loaded, for at most %d s: %s'
        % (path, LIMIT, shell.join_words(command))
    )
    return make_starter(command, join_program(command))


def join_program(words: List[str]) -> str:
    """Join `words` to a command line, which split_command() splits into the same words."""
    return ' '.join(map(shlex.quote, words))


def build_start_data(result: Optional[Start]) -> Optional[Dict[str, Any]]:
    """Return the part of `check --json` on the command that check started, None without a started command."""
    if result is None:
        return None
    return {
        **result._asdict(),
        'seconds': round(result.seconds, 2),
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
    """
    Start `command` in an image with the settings of a module, and return the observations.

    trial: the combination of an approach, an image and a host. Raises SettingsError if the site
    lacks a fact that the module needs.
    """
    runtime: Any = trial.runtime
    begin, image = time.monotonic(), trial.image
    with outputs.open_work_folder() as folder:
        verdict = Verdict(trial.approach['name'], 'unknown', [], '', '', None)
        facts = collect_facts(trial, verdict, runtime, force=True)
        settings = build_settings(trial.approach, trial.site, facts)
        module = os.path.join(folder, 'module')
        create_module_folder(module, settings, image.path, runtime['command'])
        link = os.path.join(module, 'bin', 'start-exec')
        os.symlink(os.path.join(SCRIPTS, 'run-in-container'), link)
        os.mkdir(os.path.join(folder, 'current'))
        uses_fabric = trial.libfabric or 'libfabric.so.1' in (trial.mpi.get('opens') or ())
        readings, exit_code, waiting, output = _observe_command(
            [link] + command,
            _build_environment(settings, folder),
            folder,
            limit,
            image.path,
            sample.LIBFABRIC_DELAY if uses_fabric else sample.AGREEMENT_TIME,
        )
        logged = _read_loader_logs(folder, trial)
    return Start(
        command,
        list_processes(readings, logged),
        exit_code,
        waiting,
        output,
        time.monotonic() - begin,
    )


def _build_environment(settings: Settings, folder: str) -> Dict[str, str]:
    """Return the environment of the started command, with `folder` bound into the container."""
    environment = {
        name: value for name, value in os.environ.items() if not _FOREIGN_VARIABLE.match(name)
    }
    prefix = settings.container.env_prefix or ''
    binds = [value for value in [environment.get(prefix + '_BIND')] if value]
    # Variables of the runtime do not reach the program in an image without environment scripts.
    script = os.path.join(folder, 'debug.sh')
    with open(script, 'w', encoding='utf-8') as handle:
        handle.write('export LD_DEBUG=files LD_DEBUG_OUTPUT=%s\n' % shell.quote(folder + '/loader'))
    binds += [folder, '%s:%s' % (script, LAST_SCRIPT)]
    return dict(environment, **{prefix + '_BIND': ','.join(binds)})


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
    image: str,
    delay: float,
) -> Tuple[Dict[int, List[_Reading]], Optional[int], List[str], List[str]]:
    """
    Run a command in `folder`/current until it has loaded MPI.

    The result is (readings, exit code, waiting, output). readings: {pid in the container: list with
    one _Reading for each program that the process has executed}. The class Start explains exit
    code, waiting and output. image: path of the image. delay: maximum number of seconds between the
    loading of libmpi and the loading of libfabric.
    """
    others, begin = set(_list_children(set())), time.monotonic()
    readings: Dict[int, List[_Reading]] = {}
    mounts: List[loaded.Mount] = []
    waiting: List[str] = []
    last_seen = begin  # time of the last reading with an MPI process
    with open(os.path.join(folder, 'output'), 'w+b') as output, _adopt_orphans():
        child = None
        try:
            with streams.prepare_child() as prepare:
                child = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=os.path.join(folder, 'current'),
                    env=environment,
                    start_new_session=True,
                    preexec_fn=prepare,
                )
            while (
                time.monotonic() - begin < limit
                and os.fstat(output.fileno()).st_size < OUTPUT_LIMIT
            ):
                time.sleep(LOOK_EVERY)
                roots = _list_children(others)
                if child.poll() is not None and not roots:
                    break
                # Only processes in the container have this variable, the runtime has not.
                contained = [
                    pid
                    for root in roots
                    for pid in loaded.list_process_tree(root)
                    if loaded.read_environment(pid).get('LD_DEBUG_OUTPUT') == folder + '/loader'
                ]
                mounts = next(filter(None, map(loaded.read_mounts, contained)), mounts)
                running = {
                    pid: _read_process(pid, program, readings, folder, mounts, image, delay)
                    for root in roots
                    for pid, program, _ in loaded.list_mpi_processes(root)
                    if program
                }
                last_seen = time.monotonic() if running else last_seen
                if not all(running.values()):
                    continue
                waiting = [
                    loaded.read_program(pid)[0] or '' for pid in contained if pid not in running
                ]
                if (
                    running
                    and not waiting
                    or readings
                    and time.monotonic() - last_seen > MORE_PROGRAMS
                ):
                    break
                for pid in running:  # A shell may start another MPI program afterwards.
                    with contextlib.suppress(OSError):  # The process has terminated.
                        os.kill(pid, signal.SIGKILL)
            code = child.poll()
        finally:
            if child:
                _kill_descendants(child, others)
        output.seek(0)
        lines = output.read().decode('utf-8', 'replace').splitlines()[-OUTPUT_LINES:]
    return (
        readings,
        128 - code if code is not None and code < 0 else code,  # as a shell reports a signal
        waiting if code is None else [],
        lines,
    )


def _read_process(
    pid: int,
    program: str,
    readings: Dict[int, List[_Reading]],
    folder: str,
    mounts: List[loaded.Mount],
    image: str,
    delay: float,
) -> bool:
    """
    Read which libraries a process has loaded, and add the result to `readings`.

    Return whether `check` may kill the process. The result is True if the process has loaded MPI
    and libfabric. The result is also True if the process has loaded MPI, but has not loaded
    libfabric within `delay` seconds.

    folder: the folder with the logs of the loader. mounts: mounts of the container. image: path of
    the image.
    """
    # The pid of the process in its own pid namespace: proc(5), NSpid
    status = loaded.read_proc_file('/proc/%d/status' % pid)
    inner = re.search(rb'(?m)^NSpid:.*\s(\d+)$', status)
    inner_pid, paths = int(inner.group(1)) if inner else pid, loaded.list_mapped_files(pid)
    now, run_time = time.monotonic(), sample.read_run_time(pid) or 0.0
    seen = readings.setdefault(inner_pid, [])
    before = seen.pop() if seen and seen[-1].process.program == program else None
    if before is None or paths != before.paths:
        names = [path for path in paths if path == program or '.so' in path]
        root, host_mounts = '/proc/%d/root' % pid, loaded.read_mounts('self')
        files = [
            MappedFile(name, *loaded.resolve_origin(name, root + name, mounts, host_mounts, image))
            for name in names
        ]
        process = make_process(program, files, loaded.read_environment(pid))
        if process.libmpi:  # The process has not terminated in between.
            before = _Reading(before.first if before else now, now, run_time, paths, process, False)
    if before is None:
        return False
    log = _read_log(folder, inner_pid)
    # ld.so maps a library before it checks the versions and symbols that the library needs.
    libraries = loaded.select_libraries(parse_loader_log(log)[-1][1] if log else before.paths)
    is_settled = (
        'libmpi' in libraries
        and now - before.changed > EXEC_DELAY
        # On a busy machine, a process may wait for a processor before it executes its program.
        and (not run_time or b'\nState:\tS' in status or run_time - before.run_time > EXEC_RUN_TIME)
        and ('libfabric' in libraries or now - before.first > delay)
    )
    seen.append(before._replace(is_settled=is_settled))
    return is_settled


def _predict_files(paths: List[str], trial: Trial) -> List[MappedFile]:
    """Return each of `paths` as a MappedFile with the predicted origin: the image or the host."""
    container = make_container(trial)
    known = container.read_elf_files(list(filter(container.exists, paths)))
    owners = {path: (origin, elf.path) for path, (origin, elf) in known.items()}
    return [
        MappedFile(path, origin, host_path if origin == 'host' else None)
        for path in paths
        for origin, host_path in [owners.get(path, (None, None))]
    ]


def make_process(
    program: str, files: List[MappedFile], environment: Optional[Dict[str, str]]
) -> StartedProcess:
    """Return the StartedProcess of a program that has loaded `files`."""
    mpis, fabrics = (
        [file for file in dict.fromkeys(files) if name in loaded.select_libraries([file.path])]
        for name in ('libmpi', 'libfabric')
    )
    if environment is not None:  # The image and the command have not set what the user has set.
        environment = {
            name: value
            for name, value in environment.items()
            if os.environ.get(name) != value and not name.startswith('LD_DEBUG')
        }
    return StartedProcess(program, mpis, next(iter(fabrics), None), files, environment)


# ---- the log of the loader ------------------------------------------------------------------------


def _read_log(folder: str, pid: int) -> str:
    """Return the log that the loader has written for a process, '' without a log."""
    return loaded.read_proc_file('%s/loader.%d' % (folder, pid)).decode('utf-8', 'replace')


def parse_loader_log(text: str) -> List[Tuple[str, List[str]]]:
    """
    Return (program, paths of its libraries) for each program in a log of LD_DEBUG=files.

    If a process executes another program, the same log continues with the new program.
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


def _read_loader_logs(folder: str, trial: Trial) -> Dict[int, List[StartedProcess]]:
    """
    Return {pid in the container: processes with MPI} from the logs of the loader.

    A pid has one entry for each program with MPI that ran under this pid. Whether a file comes from
    the image or from the host is only predicted, because a process may end before /proc shows the
    file.
    """
    logged: Dict[int, List[StartedProcess]] = {}
    for name in os.listdir(folder):
        if name.startswith('loader.'):
            pid = int(name.rpartition('.')[2])
            for program, libraries in parse_loader_log(_read_log(folder, pid)):
                program = find_program(trial.image, trial.environment, program) or program
                names = list(map(posixpath.normpath, [program] + libraries))
                process = make_process(names[0], _predict_files(names, trial), None)
                logged.setdefault(pid, []).extend([process] if process.libmpi else [])
    return logged


def list_processes(
    readings: Dict[int, List[_Reading]], logged: Dict[int, List[StartedProcess]]
) -> List[StartedProcess]:
    """
    Return the processes that have loaded MPI.

    The log of the loader shows whether the loader has finished, and /proc shows whether a library
    belongs to the image or to the host. If both show the same number of programs for a process, and
    agree on which programs loaded libfabric, the result contains the programs from /proc. Otherwise
    the result contains the programs from the log. For a process without a log, the result contains
    the settled readings (_Reading.is_settled).
    """
    processes = []
    for pid in sorted({*readings, *logged}):
        seen = readings.get(pid, [])
        if pid not in logged:
            processes += [reading.process for reading in seen if reading.is_settled]
        elif [bool(reading.process.libfabric) for reading in seen] == [
            bool(process.libfabric) for process in logged[pid]
        ]:
            processes += [reading.process for reading in seen]
        else:
            processes += logged[pid]
    return processes

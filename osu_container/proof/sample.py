"""
The sampler: watch the process of a rank from outside and record what it has loaded and opened.

start.py runs it on the node of the rank. Its design:

* It reads /proc only: LD_PRELOAD or LD_DEBUG in the process would change the search order that is
  in question.
* The rank's program is the first process with a libmpi among the started process and its
  descendants, because container runtimes and wrappers fork.
* It looks for libraries every 30 ms, later at intervals of a twentieth of the elapsed time, until
  two looks agree and the process has run in between, or looks agree for a quarter of a second.
  Agreement alone is not enough: on a busy node the loader may wait between two libraries. On a
  node with thousands of processes looks take long and are less frequent: the sampler uses at most
  a fifth of a core.
* Then it writes the file and looks for the network, which MPI_Init opens a moment later: after
  20 ms, then at doubled intervals, until two looks agree, the process terminates or
  NETWORK_TIMEOUT has passed. A benchmark is disturbed by a handful of looks of less than a
  millisecond each, and once by the checksums of libraries without a build id.

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""

import json
import os
import socket
import time
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple

from osu_container.base.files import require_own_folder
from osu_container.base.terminal import redact_secrets
from osu_container.data.launchers import detect_launcher
from osu_container.proof import loaded, opened_network

#: Version of the layout of the files (layout.py)
FORMAT = 1

# All times are in seconds.
#: Shortest interval between two looks
LOOK_EVERY = 0.03
#: Looks wait for this fraction of the elapsed time: many samplers share a node where ranks start
#: slowly
BACKOFF_DIVISOR = 20
#: Time to the look that confirms: short programs terminate soon after MPI_Init
LOOK_AGAIN = 0.01
#: Time on a core without new libraries: the loader maps the next one within microseconds
MIN_RUN_TIME = 0.001
#: Time of agreeing looks that suffices for a process that waits for a file or its peers
AGREEMENT_TIME = 0.25
#: Longest time from libmpi to libfabric; MPICH with ch3:nemesis never loads libfabric
LIBFABRIC_DELAY = 2.0
#: Time without a sign of the process after which it has terminated, see _ProcessMonitor
EXIT_DELAY = 1.0
#: Longest time to libmpi: containers on a busy file system start slowly
LIBRARY_TIMEOUT = 600.0
#: Time from the libraries to the first look at the network
NETWORK_FIRST = 0.02
#: Time from the libraries to their checksums, which must not slow the start of ranks
CHECKSUM_DELAY = 0.3
#: Longest time from the libraries until MPI_Init of a large job has opened the network
NETWORK_TIMEOUT = 60.0

#: Process id, executable and libraries (name -> path) of a process with MPI
_MpiProcess = Tuple[int, Optional[str], Dict[str, str]]


def _find_mpi_process(root: int) -> Optional[_MpiProcess]:
    """Return the first process with a libmpi, of `root` and its descendants, or None."""
    for pid in loaded.list_process_tree(root):
        libraries = loaded.select_libraries(loaded.list_mapped_files(pid))
        # ldd, and the entrypoint of approach swap, only list libraries and run no program.
        if 'libmpi' in libraries and 'LD_TRACE_LOADED_OBJECTS' not in loaded.read_environment(pid):
            return pid, loaded.read_program(pid)[0], libraries
    return None


def _read_run_time(pid: int) -> Optional[float]:
    """Return the seconds that a process has run on a core, None if they are not counted."""
    fields = loaded.read_proc_file('/proc/%s/schedstat' % pid).split()
    return int(fields[0]) / 1e9 if fields else None


class _LoadDetector:
    """Detects by agreeing looks that the loader has mapped all libraries of a rank."""

    def __init__(self, inherited: Iterable[str]) -> None:
        #: sockets that the process has from its parent
        self.inherited = inherited
        #: the process of the rank once two looks have agreed
        self.process: Optional[RankProcess] = None
        self.last_look: Optional[_MpiProcess] = None
        self.since: Optional[float] = None
        self.agreed_since = 0.0
        self.run_time: Optional[float] = None

    def update(self, look: Optional[_MpiProcess], now: float) -> bool:
        """
        Add the look of the time `now`; return whether `process` is certainly that of the rank.

        A shell with a preloaded libmpi is not taken for the program that it starts: exec soon changes
        the executable.
        """
        previous, self.last_look = self.last_look, look
        if look and self.since is None:
            self.since = now
        if look != previous:
            self.process = self.process if look is None else None
            return False
        if not look or ('libfabric' not in look[2] and now - (self.since or 0) <= LIBFABRIC_DELAY):
            return False
        if self.process is None:
            self.process = RankProcess(look[0], look[2], self.inherited)
            self.agreed_since, self.run_time = now, _read_run_time(look[0])
            return False
        return now - self.agreed_since > AGREEMENT_TIME or (
            self.run_time is not None
            and (_read_run_time(look[0]) or 0) - self.run_time > MIN_RUN_TIME
        )


class _ProcessMonitor:
    """
    Tracks whether a process exists.

    A process that is not seen once may still run: when a thread of a program in Go, such as
    Apptainer, executes another program, the process is a zombie for a moment (de_thread() in
    fs/exec.c) and keeps its start time. Another start time is another process with the same pid.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.begin: Optional[int] = None
        self.unseen: Optional[float] = None

    def track_absence(self, now: float) -> Optional[float]:
        """Return the time since which the process has not been seen, None if it exists at `now`."""
        stat = loaded.read_process_stat(self.pid)
        self.begin = self.begin or (stat and stat[1])
        self.unseen = None if stat and stat[1] == self.begin else self.unseen or now
        return self.unseen


def wait_for_mpi(
    root: int, inherited: Iterable[str] = (), give_up: float = LIBRARY_TIMEOUT
) -> Tuple[Optional['RankProcess'], Optional[str]]:
    """
    Watch a process until it or a descendant has MPI; return that, or None and a reason.

    inherited are the sockets that the process has from its parent; give_up is in seconds.
    """
    start = time.monotonic()
    looks, presence = _LoadDetector(inherited), _ProcessMonitor(root)
    while True:
        # CPU time: a look that waits for its turn on busy cores costs nothing.
        cpu_time = time.process_time()
        look = _find_mpi_process(root)
        cost, now = time.process_time() - cpu_time, time.monotonic()
        if looks.update(look, now):
            return looks.process, None
        unseen = presence.track_absence(now)
        if unseen and looks.process:
            return looks.process, None  # it terminated before the look that confirms
        if unseen and now - unseen > EXIT_DELAY:
            return (
                None,
                "the program ended before it loaded an MPI library, or before a second look at it",
            )
        if now - start > give_up:
            return None, "no process of this rank had an MPI library loaded after %d s" % give_up
        wait = (
            LOOK_AGAIN
            if look
            else LOOK_EVERY
            if unseen
            else max(LOOK_EVERY, (now - start) / BACKOFF_DIVISOR)
        )
        time.sleep(max(wait, 4 * cost))


class RankProcess:
    """A process of a rank whose libraries are known."""

    def __init__(self, pid: int, libraries: Dict[str, str], inherited: Iterable[str]) -> None:
        self.pid, self.inherited, self.since = pid, inherited, time.monotonic()
        self.begin = (loaded.read_process_stat(pid) or (None, None))[1]
        #: what the process has loaded
        self.facts = loaded.read_process_facts(pid, libraries)
        self.environment = loaded.read_environment(pid)
        same_network = loaded.read_proc_link('/proc/%d/ns/net' % pid) == loaded.read_proc_link(
            '/proc/self/ns/net'
        )
        self.addresses = opened_network.list_interfaces() if same_network else {}
        #: network and world of the last look
        self.last = self.inspect()
        if not self.is_alive():  # facts read from a terminating process may be incomplete
            self.last = {'network': None, 'world': None}

    def is_alive(self) -> bool:
        stat = loaded.read_process_stat(self.pid)
        return stat is not None and stat[1] == self.begin

    def inspect(self) -> Dict[str, Any]:
        """Return the current network and world; add libraries that were loaded late."""
        paths = loaded.list_mapped_files(self.pid)
        libraries = loaded.select_libraries(paths)
        if set(libraries) - set(self.facts['libraries']):
            self.facts.update(loaded.read_process_facts(self.pid, libraries))
        files = opened_network.list_descriptors(self.pid)
        resources = opened_network.read_open_resources(
            self.pid, self.environment, self.inherited, paths
        )
        names = self.facts['libraries']
        return {
            'network': opened_network.identify_network(
                resources, names, self.environment, self.addresses
            ),
            'world': opened_network.derive_world(
                self.environment, names['libmpi']['family'], names, files, resources
            ),
        }

    def waits_for_plugin(self) -> bool:
        """Return whether RCCL is loaded and its network plugin, opened later, is not yet."""
        return 'librccl' in self.facts['libraries'] and 'librccl-net' not in self.facts['libraries']

    def watch(self, keep: Callable[[], None]) -> None:
        """Look until the network is seen or the time is over; call `keep` after each change."""
        start, wait = time.monotonic(), NETWORK_FIRST
        while self.is_alive():
            now = self.inspect()
            if not self.is_alive() or self.last['network'] and not now['network']:
                return  # the process terminates, or MPI_Finalize has closed the network
            previous, self.last = self.last, now
            if (
                _extract_endpoint(now) != _extract_endpoint(previous)
                or now['world'] != previous['world']
            ):
                keep()
            elif (
                _extract_endpoint(now) is not None
                and not self.waits_for_plugin()
                or time.monotonic() - start > NETWORK_TIMEOUT
            ):
                return
            time.sleep(wait)
            wait *= 2

    def add_checksums(self) -> None:
        """Add the checksums of libraries without build id, once the rank has started."""
        while self.is_alive() and time.monotonic() - self.since < CHECKSUM_DELAY:
            time.sleep(LOOK_EVERY)
        loaded.add_checksums(self.pid, self.facts)


def _extract_endpoint(look: Dict[str, Any]) -> Optional[Tuple[Any, ...]]:
    """Return what two looks must agree in: connections come and go, the endpoint stays."""
    network = look['network']
    return network and (network['layer'], network['provider'], network['domains'])


def read_rank(environment: Mapping[str, str]) -> int:
    """
    Return the number of this rank, as its launcher sets it.

    PMI_RANK alone may be that of a shell in an outer step.
    """
    launcher = detect_launcher(environment)[1]
    names = [launcher['rank']] if launcher else ['PMI_RANK', 'PMIX_RANK', 'SLURM_PROCID']
    return next(
        (int(environment[name]) for name in names if environment.get(name, '').isdigit()), 0
    )


def read_step(environment: Mapping[str, str]) -> Dict[str, Any]:
    """Return the step of this rank: job and step (str or None), tasks (int or None)."""
    launcher = detect_launcher(environment)[1]
    names = [launcher['size']] if launcher else ['SLURM_STEP_NUM_TASKS', 'PMI_SIZE']
    tasks = next((environment[name] for name in names if environment.get(name)), '')
    return {
        'job': environment.get('SLURM_JOB_ID'),
        'step': environment.get('SLURM_STEP_ID'),
        'tasks': int(tasks) if tasks.isdigit() else None,
    }


def write_json(path: str, content: Any) -> None:
    """Write content as JSON, so that readers see the whole file or none. Raises OSError."""
    part = '%s.part-%d' % (path, os.getpid())
    try:
        with open(part, 'x') as handle:  # 'x' follows no link
            json.dump(redact_secrets(content), handle, indent=1, sort_keys=True)
            handle.write('\n')
        os.replace(part, path)
    except OSError:  # the disk is full
        try:
            os.remove(part)
        except OSError:
            pass
        raise


def report_write_failure(pid: int, directory: str, err: OSError) -> None:
    """
    Report on stderr of the program, process `pid`, that its ranks leave no file.

    A task prolog has no stderr that the user sees. If stderr is a socket, which cannot be opened by
    a path, the report goes to stderr of this process.
    """
    text = (
        "No proof: cannot write to %s: %s. Name another folder, which all nodes see: "
        "OSU_PROOF=FOLDER\n" % (directory, err.strerror)
    ).encode('utf-8', 'backslashreplace')
    for path in ('/proc/%d/fd/2' % pid, '/proc/self/fd/2'):
        try:
            with open(path, 'ab', buffering=0) as stream:
                stream.write(text)
            return
        except OSError:
            pass


def main(pid: int, directory: str, run: Optional[str] = None) -> None:
    """
    Watch process `pid` and write its file into a folder; `run` is the token of a proof.

    This process has inherited the environment and the open files of the program at its start. It
    closes all but the standard streams at once, and stderr after the first write: srun waits for it.
    """
    inherited = opened_network.list_inherited_sockets()
    for number in opened_network.list_descriptors(os.getpid()):
        if number > 2:
            try:
                os.close(number)  # srun and PMI servers wait until theirs are closed
            except OSError:
                pass
    environment = dict(os.environ)
    rank = read_rank(environment)
    content = {
        'format': FORMAT,
        'rank': rank,
        'node': os.environ.get('SLURMD_NODENAME') or socket.gethostname(),
        'step': read_step(environment),
        'promise': environment.get('OSU_PROMISE'),
        'started_pid': pid,
        'run': run,
        'time': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()),
    }
    path = os.path.join(directory, 'rank-%d.json' % rank)

    def keep(complete: bool = False) -> None:
        write_json(path, dict(content, complete=complete))

    # Remains in the file if this process is killed, usually by Slurm with the step.
    content.update(
        found=False,
        reason="its sampler was terminated, usually together with the step, before or soon after "
        "the program loaded an MPI library",
    )
    try:
        os.makedirs(directory, exist_ok=True)
        require_own_folder(directory)
        keep()
    except OSError as err:
        if rank == 0:  # one report for all ranks
            report_write_failure(pid, directory, err)
        return
    finally:  # srun waits until stderr is closed
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        if null > 2:
            os.close(null)
    process, reason = wait_for_mpi(pid, inherited)
    if process is None:
        content.update(reason=reason)
    else:

        def keep_looks() -> None:
            content.update(process.facts, found=True, reason=None, **process.last)
            keep()

        keep_looks()
        process.watch(keep_looks)
        process.add_checksums()
        content.update(process.facts, **process.last)
    keep(complete=True)

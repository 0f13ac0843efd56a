"""
Watch the process of a rank from outside, and record its libraries and its network.

This program is called the sampler. start.py runs the sampler on the node of the rank. The design:

* The sampler reads only files in /proc. LD_PRELOAD or LD_DEBUG in the process would change how the
  loader searches for libraries, and the sampler must observe the unchanged search.
* The sampler watches the started process and its descendants, because container runtimes and wrappers
  fork. The first of these processes that has loaded a libmpi is the program of the rank.
* The sampler reads the mapped libraries every 30 ms, later at intervals of a twentieth of the elapsed
  time. A reading is final if the next reading is equal and the process has run in between, or
  if readings are equal for a quarter of a second. Equal readings alone are not enough, because on a
  busy node the loader may wait between two libraries. The sampler uses at most a fifth of a core:
  on a node with thousands of processes, where a reading takes long, the intervals are longer.
* Then the sampler writes the file of the rank and reads which network is open. MPI_Init opens the
  network a moment later, so the sampler reads again after 20 ms and then at doubled intervals, until
  two readings agree, the process terminates or NETWORK_TIMEOUT has passed. A benchmark is disturbed
  by a few readings of less than a millisecond each, and once by the computation of the checksums of
  libraries without a build id.

The sampler needs only Python 3.6 and its standard library, so that it runs on any compute node.
"""

import json
import os
import socket
import time
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple

from osu_container.base.files import require_own_folder
from osu_container.data.launchers import detect_launcher
from osu_container.data.records import RANK_FORMAT, redact
from osu_container.proof import loaded, opened_network

# All times are in seconds.
#: Shortest interval between two readings
LOOK_EVERY = 0.03
#: The interval is the elapsed time divided by this number: if ranks start slowly, many samplers share
#: the node
BACKOFF_DIVISOR = 20
#: Time to the reading that confirms the last one; short programs terminate soon after MPI_Init
LOOK_AGAIN = 0.01
#: CPU time of the process without new libraries after which a reading is final; the loader maps the
#: next library within microseconds
MIN_RUN_TIME = 0.001
#: Time of agreeing readings after which a reading is final, for a process that waits for a file or for
#: other ranks
AGREEMENT_TIME = 0.25
#: Longest time from libmpi to libfabric; MPICH with ch3:nemesis never loads libfabric
LIBFABRIC_DELAY = 2.0
#: Time after which a process that is not seen has terminated, see wait_for_mpi()
EXIT_DELAY = 1.0
#: Longest time to libmpi; containers on a busy file system start slowly
LIBRARY_TIMEOUT = 600.0
#: Time from the libraries to the first reading of the network
NETWORK_FIRST = 0.02
#: Time from the libraries to their checksums, which must not slow the start of ranks
CHECKSUM_DELAY = 0.3
#: Longest time from the libraries to the network; MPI_Init of a large job takes long
NETWORK_TIMEOUT = 60.0

#: Process id, executable and {library: path} of a process with MPI
_MpiProcess = Tuple[int, Optional[str], Dict[str, str]]


def read_run_time(pid: int) -> Optional[float]:
    """Return the CPU time of a process in seconds, None if the kernel counts no time."""
    fields = loaded.read_proc_file('/proc/%s/schedstat' % pid).split()
    return int(fields[0]) / 1e9 if fields else None


def wait_for_mpi(
    root: int, inherited: Iterable[str]
) -> Tuple[Optional['RankProcess'], Optional[str]]:
    """
    Watch a process until the process or one of its descendants has loaded MPI.

    The result is (the process with MPI, None), or (None, reason) if no process has loaded MPI. The
    loader has mapped all libraries when readings agree. A shell with a preloaded libmpi may start
    the program. The shell is not mistaken for the program, because exec soon changes the
    executable, and the next reading differs.

    A process may still run even if one reading does not find the process. When a thread of a Go
    program such as Apptainer executes another program, the process is a zombie for a moment
    (de_thread() in fs/exec.c) and keeps its start time. If the start time changes, another process
    has the same pid.

    inherited: inodes of the sockets that the process has inherited from its parent
    """
    start = time.monotonic()
    process: Optional[RankProcess] = None
    previous: Optional[_MpiProcess] = None
    begin: Optional[int] = None
    unseen: Optional[float] = None
    run_time: Optional[float] = None
    first_seen = agreed_since = 0.0
    while True:
        # Measure the CPU time: waiting for a core does not slow the rank.
        cpu_time = time.process_time()
        look = next(loaded.list_mpi_processes(root), None)
        cost, now = time.process_time() - cpu_time, time.monotonic()
        first_seen = first_seen or (now if look else 0.0)
        if look and look != previous:
            process = None
        elif look and ('libfabric' in look[2] or now - first_seen > LIBFABRIC_DELAY):
            if process is None:
                process = RankProcess(look[0], look[2], inherited)
                agreed_since, run_time = now, read_run_time(look[0])
            elif now - agreed_since > AGREEMENT_TIME or (
                run_time is not None and (read_run_time(look[0]) or 0) - run_time > MIN_RUN_TIME
            ):
                return process, None
        previous = look
        stat = loaded.read_process_stat(root)
        begin = begin or (stat and stat[1])
        unseen = None if stat and stat[1] == begin else unseen or now
        if unseen and process:
            return process, None  # the process terminated before the confirming reading
        if unseen and now - unseen > EXIT_DELAY:
            return (
                None,
                "the program loaded no MPI library, or the program terminated before MPI_Init had finished",
            )
        if now - start > LIBRARY_TIMEOUT:
            return (
                None,
                "no process of this rank had loaded an MPI library after %d s" % LIBRARY_TIMEOUT,
            )
        wait = (
            LOOK_AGAIN
            if look
            else LOOK_EVERY
            if unseen
            else max(LOOK_EVERY, (now - start) / BACKOFF_DIVISOR)
        )
        time.sleep(max(wait, 4 * cost))


class RankProcess:
    """The process of a rank, after the sampler has read the libraries of the process."""

    def __init__(self, pid: int, libraries: Dict[str, str], inherited: Iterable[str]) -> None:
        self.pid, self.inherited, self.since = pid, inherited, time.monotonic()
        self.begin = (loaded.read_process_stat(pid) or (None, None))[1]
        #: result of loaded.read_process_facts()
        self.facts = loaded.read_process_facts(pid, libraries)
        self.environment = loaded.read_environment(pid)
        same_network = loaded.read_proc_link('/proc/%d/ns/net' % pid) == loaded.read_proc_link(
            '/proc/self/ns/net'
        )
        self.addresses = opened_network.list_interfaces() if same_network else {}
        #: network and world of the last reading
        self.last = self.inspect()
        if not self.is_alive():  # the facts of a terminating process may be incomplete
            self.last = {'network': None, 'world': None}

    def is_alive(self) -> bool:
        stat = loaded.read_process_stat(self.pid)
        return stat is not None and stat[1] == self.begin

    def inspect(self) -> Dict[str, Any]:
        """
        Return a dict: the network of the process, and the number of ranks that its MPI sees.

        The keys of the dict are network and world. The function also adds new libraries,
        which the process has loaded since the last reading, to the attribute `facts`.
        """
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
        """Return whether RCCL is loaded, but RCCL has not yet loaded its network plugin."""
        return 'librccl' in self.facts['libraries'] and 'librccl-net' not in self.facts['libraries']

    def watch(self, keep: Callable[[], None]) -> None:
        """
        Read the network until two readings agree or NETWORK_TIMEOUT seconds have passed.

        keep: function that is called after each change
        """
        start, wait = time.monotonic(), NETWORK_FIRST
        while self.is_alive():
            now = self.inspect()
            if not self.is_alive() or self.last['network'] and not now['network']:
                return  # the process is terminating, or MPI_Finalize has closed the network
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
        """Wait for the start of the rank, then add checksums of libraries without a build id."""
        while self.is_alive() and time.monotonic() - self.since < CHECKSUM_DELAY:
            time.sleep(LOOK_EVERY)
        loaded.add_checksums(self.pid, self.facts)


def _extract_endpoint(look: Dict[str, Any]) -> Optional[Tuple[Any, ...]]:
    """
    Return (layer, provider, domains) of the network in `look`, None without a network.

    identify_network() explains layer, provider and domains. Two readings agree if these values are
    equal; the connections may differ.
    """
    network = look['network']
    return network and (network['layer'], network['provider'], network['domains'])


def read_rank(environment: Mapping[str, str]) -> int:
    """
    Return the number of this rank, which the launcher stores in an environment variable.

    The function reads PMI_RANK only if the launcher is unknown, because PMI_RANK may come from a
    shell in an outer Slurm step.
    """
    launcher = detect_launcher(environment)[1]
    names = [launcher['rank']] if launcher else ['PMI_RANK', 'PMIX_RANK', 'SLURM_PROCID']
    return next(
        (int(environment[name]) for name in names if environment.get(name, '').isdigit()), 0
    )


def read_step(environment: Mapping[str, str]) -> Dict[str, Any]:
    """Return a dict with the job, the Slurm step and the step's number of tasks for this rank."""
    launcher = detect_launcher(environment)[1]
    names = [launcher['size']] if launcher else ['SLURM_STEP_NUM_TASKS', 'PMI_SIZE']
    tasks = next((environment[name] for name in names if environment.get(name)), '')
    return {
        'job': environment.get('SLURM_JOB_ID'),
        'step': environment.get('SLURM_STEP_ID'),
        'tasks': int(tasks) if tasks.isdigit() else None,
    }


def write_json(path: str, content: Any) -> None:
    """
    Write `content` as JSON to the file `path`.

    The file appears only when its content is complete, so that no program reads a partial file.
    Raises OSError if the file cannot be written.
    """
    part = '%s.part-%d' % (path, os.getpid())
    try:
        with open(part, 'x') as handle:  # 'x' follows no link
            json.dump(redact(content), handle, indent=1, sort_keys=True)
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
    Print, on stderr of the user's program, that the ranks cannot write their files.

    pid: process of the user's program. The function uses stderr of this process, because the user
    does not see stderr of a task prolog. If stderr of the program is a socket, which no process can
    open by a path, the function prints the message on stderr of the sampler.
    """
    text = (
        "No proof: cannot write to %s: %s. Choose another folder that all nodes see: "
        "export OSU_PROOF=FOLDER\n" % (directory, err.strerror)
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
    Watch the process `pid` and write the file of the process's rank to `directory`.

    run: token that identifies the call of `osu-container proof`. The sampler has inherited the
    environment and the open files of the program. At once, the sampler closes all files except the
    standard streams. After the first write the sampler closes stderr, because srun waits until
    stderr is closed.
    """
    inherited = opened_network.list_inherited_sockets()
    for number in opened_network.list_descriptors(os.getpid()):
        if number > 2:
            try:
                os.close(number)  # srun and PMI servers wait until their sockets are closed
            except OSError:
                pass
    environment = dict(os.environ)
    rank = read_rank(environment)
    content = {
        'format': RANK_FORMAT,
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

    # This content remains if the sampler is killed, usually by Slurm together with the step.
    content.update(
        found=False,
        reason="the sampler, which watches this rank, was terminated, usually together with the "
        "job step, before or soon after the program loaded an MPI library",
    )
    try:
        os.makedirs(directory, exist_ok=True)
        require_own_folder(directory)
        keep()
    except OSError as err:
        if rank == 0:  # a single message for all ranks
            report_write_failure(pid, directory, err)
        return
    finally:  # close stderr, because srun waits for it
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

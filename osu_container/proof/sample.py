"""
The sampler: watches the process of a rank from outside and writes what it has loaded and opened.

start.py runs it on the node of the rank. How it looks, and why so:

* From outside, by /proc: LD_PRELOAD or LD_DEBUG in the process would change the very search order
    that is in question.
* The process is found by its libmpi: the container runtime forks, and a wrapper may, so the program
    is the process
  itself or a descendant of it.
* It looks every 30 ms, later after a twentieth of the time that has passed, and has the libraries
    when looks agree and
  the process has run in between, or agree for a quarter of a second. Agreement alone is not enough:
  on a busy node the loader may wait between two libraries. Looks that take long, on a node with
  thousands of processes, are more seldom: they take a fifth of one core at most.
* Then the file is written, and it looks for the network, which is opened a moment later in
    MPI_Init: after 20 ms, and
  each time after twice as long, until two looks agree, the process ends or LATE has passed. The
  benchmark meets a handful of looks of less than a millisecond each, and once the sums of libraries
  without build id.

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""

import json
import os
import socket
import time

from osu_container.base.files import require_own_folder
from osu_container.base.terminal import redact_secrets
from osu_container.data.launchers import detect_launcher
from osu_container.proof import loaded, opened_network

#: Version of the layout of the files (layout.py)
FORMAT = 1

LOOK_EVERY = 0.03  # seconds between two looks
BACKOFF_DIVISOR = (
    20  # after this part of the time that has passed: where ranks start slowly, samplers are many
)
LOOK_AGAIN = 0.01  # seconds to the look that confirms: short programs end soon after MPI_Init
MIN_RUN_TIME = 0.001  # seconds on a core without mapping more: the loader maps the next library within microseconds
AGREEMENT_TIME = 0.25  # seconds of looks that agree which are enough for a process that waits: for a file, or its peers
LIBFABRIC_DELAY = (
    2.0  # seconds that libfabric may come after libmpi; MPICH of kind ch3:nemesis never loads one
)
EXIT_DELAY = 1.0  # seconds without a sign of the process after which it has ended, see _Presence
LIBRARY_TIMEOUT = 600.0  # seconds after which nothing is expected any more: containers on a busy file system start slowly
NETWORK_FIRST = 0.02  # seconds from the libraries to the first look at the network
CHECKSUM_DELAY = (
    0.3  # seconds after the libraries from which on their sums are made: not while ranks start
)
NETWORK_TIMEOUT = (
    60.0  # seconds after the libraries in which MPI_Init of a large job has opened the network
)


def _find_mpi_process(root):
    """
    Return (pid, executable, {name: path}) of the first process below root with a libmpi mapped,
    None if none has.
    """
    for pid in loaded.list_process_tree(root):
        libraries = loaded.select_libraries(loaded.list_mapped_files(pid))
        # a loader that only tells what it would load (ldd, the entrypoint of approach swap) runs
        # nothing
        if 'libmpi' in libraries and 'LD_TRACE_LOADED_OBJECTS' not in loaded.read_environment(pid):
            return pid, loaded.read_program(pid)[0], libraries
    return None


def _read_run_time(pid):
    """
    Return the seconds (float) that process pid has run on a core, None where the kernel does not
    count them.
    """
    fields = loaded.read_proc_file('/proc/%s/schedstat' % pid).split()
    return int(fields[0]) / 1e9 if fields else None


class _LoadDetector:
    """
    Looks that agree: the loader is done with mapping. known: Rank, once two have agreed, or
    None.
    """

    def __init__(self, inherited):
        """:param inherited: set of str, sockets that the process has from its parent."""
        self.inherited, self.known = inherited, None
        self.last_look = self.since = self.agreed_since = self.run_time = None

    def update(self, found, now):
        """
        Return whether known is the process of the rank for sure, with the look found (see
        _find_mpi_process()) at the time now.

        A shell that only starts the program is not taken for it: a preloaded library is in that
        shell too, but exec soon changes the executable.
        """
        previous, self.last_look = self.last_look, found
        if found and self.since is None:
            self.since = now
        if found != previous:
            self.known = self.known if found is None else None
            return False
        if not found or ('libfabric' not in found[2] and now - self.since <= LIBFABRIC_DELAY):
            return False
        if self.known is None:
            self.known, self.agreed_since, self.run_time = (
                RankProcess(found[0], found[2], self.inherited),
                now,
                _read_run_time(found[0]),
            )
            return False
        return now - self.agreed_since > AGREEMENT_TIME or (
            self.run_time is not None
            and (_read_run_time(found[0]) or 0) - self.run_time > MIN_RUN_TIME
        )


class _ProcessMonitor:
    """
    Whether a process is there.

    Once unseen is not ended: when a thread of a program in Go, as Apptainer is, executes another
    program, the process is a zombie for a moment (de_thread() in fs/exec.c). It keeps its start
    time; another start time is another process that was given the pid.
    """

    def __init__(self, pid):
        """:param pid: int."""
        self.pid, self.begin, self.unseen = pid, None, None

    def track_absence(self, now):
        """Return the time (float) since which it has not been seen, None if it is there now."""
        stat = loaded.read_process_stat(self.pid)
        self.begin = self.begin or (stat and stat[1])
        self.unseen = None if stat and stat[1] == self.begin else self.unseen or now
        return self.unseen


def wait_for_mpi(root, inherited=(), give_up=LIBRARY_TIMEOUT):
    """
    Watch process root (int, pid) until it or a descendant has MPI loaded.

    :param inherited: set of str, sockets that the process has from its parent; give_up: float,
        seconds
    :return: (Rank, or None if there is no MPI; the reason (str) for that, or None)
    """
    start = time.monotonic()
    looks, presence = _LoadDetector(inherited), _ProcessMonitor(root)
    while True:
        before = (
            time.process_time()
        )  # not the clock: a look that waits for its turn on busy cores has cost nothing
        found = _find_mpi_process(root)
        cost, now = time.process_time() - before, time.monotonic()
        if looks.update(found, now):
            return looks.known, None
        unseen = presence.track_absence(now)
        if unseen and looks.known:
            return looks.known, None  # it has ended before it could be looked at once more
        if unseen and now - unseen > EXIT_DELAY:
            return (
                None,
                "the program ended before it had loaded an MPI library, or before it could be looked at twice",
            )
        if now - start > give_up:
            return None, "no process of this rank had an MPI library loaded after %d s" % give_up
        wait = (
            LOOK_AGAIN
            if found
            else LOOK_EVERY
            if unseen
            else max(LOOK_EVERY, (now - start) / BACKOFF_DIVISOR)
        )
        time.sleep(max(wait, 4 * cost))


class RankProcess:
    """
    A process whose libraries are known. known: dict, from read_process_facts(); last: dict, what
    the last look showed.
    """

    def __init__(self, pid, libraries, inherited):
        """
        :param pid: int; libraries: {name: path}; inherited: set of str, sockets that it has from
            its parent.
        """
        self.pid, self.inherited, self.since = pid, inherited, time.monotonic()
        self.begin = (loaded.read_process_stat(pid) or (None, None))[1]
        self.known = loaded.read_process_facts(pid, libraries)
        self.environment = loaded.read_environment(pid)
        same = loaded.read_proc_link('/proc/%d/ns/net' % pid) == loaded.read_proc_link(
            '/proc/self/ns/net'
        )
        self.addresses = opened_network.list_interfaces() if same else {}
        self.last = self.inspect()
        if not self.is_alive():  # what is read of a process that ends may be half of it
            self.last = {'network': None, 'world': None}

    def is_alive(self):
        """Return whether the process is still there."""
        stat = loaded.read_process_stat(self.pid)
        return stat is not None and stat[1] == self.begin

    def inspect(self):
        """
        Return what shows (dict): network (dict or None), world (dict). The facts get libraries
        that came late.
        """
        paths = loaded.list_mapped_files(self.pid)
        libraries = loaded.select_libraries(paths)
        if set(libraries) - set(self.known['libraries']):
            self.known.update(loaded.read_process_facts(self.pid, libraries))
        files = opened_network.list_descriptors(self.pid)
        what = opened_network.read_open_resources(self.pid, self.environment, self.inherited, paths)
        names = self.known['libraries']
        return {
            'network': opened_network.identify_network(
                what, names, self.environment, self.addresses
            ),
            'world': opened_network.derive_world(
                self.environment, names['libmpi']['family'], names, files, what
            ),
        }

    def waits_for_plugin(self):
        """
        Return whether RCCL is there and its network plugin, which it opens with its first
        communicator, is not.
        """
        return 'librccl' in self.known['libraries'] and 'librccl-net' not in self.known['libraries']

    def watch(self, keep):
        """
        Look until the network shows or cannot come any more.

        :param keep: function that writes what the last look has shown to the file of the rank
        """
        start, wait = time.monotonic(), NETWORK_FIRST
        while self.is_alive():
            now = self.inspect()
            if not self.is_alive() or self.last['network'] and not now['network']:
                return  # it ends, or MPI_Finalize has closed what was open
            before, self.last = self.last, now
            if (
                _extract_endpoint(now) != _extract_endpoint(before)
                or now['world'] != before['world']
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

    def add_checksums(self):
        """Add the sums of libraries without build id, once the rank has started."""
        while self.is_alive() and time.monotonic() - self.since < CHECKSUM_DELAY:
            time.sleep(LOOK_EVERY)
        loaded.add_checksums(self.pid, self.known)


def _extract_endpoint(look):
    """
    Return what of a look must be equal in the next one: connections come and go, the endpoint
    stays.
    """
    found = look['network']
    return found and (found['layer'], found['provider'], found['domains'])


def read_rank(environment):
    """
    Return the number (int) of this rank.

    It is what its launcher says: PMI_RANK alone may be that of a shell in an outer step.
    """
    launcher = detect_launcher(environment)[1]
    names = [launcher['rank']] if launcher else ['PMI_RANK', 'PMIX_RANK', 'SLURM_PROCID']
    return next(
        (int(environment[name]) for name in names if environment.get(name, '').isdigit()), 0
    )


def read_step(environment):
    """
    Return which step this rank belongs to (dict): job, step (str or None), tasks (int or None).
    """
    launcher = detect_launcher(environment)[1]
    names = [launcher['size']] if launcher else ['SLURM_STEP_NUM_TASKS', 'PMI_SIZE']
    tasks = next((environment[name] for name in names if environment.get(name)), '')
    return {
        'job': environment.get('SLURM_JOB_ID'),
        'step': environment.get('SLURM_STEP_ID'),
        'tasks': int(tasks) if tasks.isdigit() else None,
    }


def write_json(path, content):
    """
    Write content as JSON to path: complete or not at all, whoever reads it meanwhile. Raises
    OSError.
    """
    part = '%s.part-%d' % (path, os.getpid())
    try:
        with open(part, 'x') as handle:  # a new one: no link is followed
            json.dump(redact_secrets(content), handle, indent=1, sort_keys=True)
            handle.write('\n')
        os.replace(part, path)
    except OSError:  # the disk is full
        try:
            os.remove(part)
        except OSError:
            pass
        raise


def report_write_failure(pid, directory, err):
    """
    Say that no proof is written into the folder directory (str), for the reason err (OSError).

    On stderr of the program, process pid (int): a prolog of a task has none. A socket has no name
    to be opened by.
    """
    text = (
        "Nothing is proved: %s cannot be written: %s. Name another folder, which the nodes see as well: "
        "OSU_PROOF=FOLDER\n" % (directory, err.strerror)
    ).encode('utf-8', 'backslashreplace')
    for path in ('/proc/%d/fd/2' % pid, '/proc/self/fd/2'):
        try:
            with open(path, 'ab', buffering=0) as stream:
                stream.write(text)
            return
        except OSError:
            pass


def main(pid, directory, run=None):
    """
    Watch the process pid (int) and write its file into the folder directory (str).

    run (str or None): the name of what is proved, by which a proof knows its own files.

    This process has the environment and the open files of the program at its start: what it holds
    is inherited. Where the folder cannot be written it says so on stderr, which it lets go then.
    """
    inherited = opened_network.list_inherited_sockets()
    for number in opened_network.list_descriptors(os.getpid()):
        if number > 2:
            try:
                os.close(number)  # srun and PMI servers wait for the end of theirs
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

    def keep(complete=False):
        write_json(path, dict(content, complete=complete))

    # What is read if somebody kills this process, mostly Slurm with the step.
    content.update(
        found=False,
        reason="its sampler was ended, mostly with the step, before the program had loaded an "
        "MPI library, or within moments after that",
    )
    try:
        os.makedirs(directory, exist_ok=True)
        require_own_folder(directory)
        keep()
    except OSError as err:
        if rank == 0:  # for all
            report_write_failure(pid, directory, err)
        return
    finally:  # srun waits for the end of it
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        if nothing > 2:
            os.close(nothing)
    found, reason = wait_for_mpi(pid, inherited)
    if found is None:
        content.update(reason=reason)
    else:

        def keep_looks():
            content.update(found.known, found=True, reason=None, **found.last)
            keep()

        keep_looks()
        found.watch(keep_looks)
        found.add_checksums()
        content.update(found.known, **found.last)
    keep(complete=True)

"""
Run communication patterns of applications, and report how each pattern ended.

    srun -N2 -n2 osu-exec python3 -s patterns.py                all patterns
    srun -N2 -n2 osu-exec python3 -s patterns.py threads fork   two patterns

OSU's benchmarks use one communicator, one thread and no files. Applications can hang or compute
wrong results where the benchmarks work: with PyTorch's second process group (ROCm/aws-ofi-rccl
issue 16, laifs-container-recipes issue 44), with threads, after a fork, or at the first MPI-IO.

The ranks need mpi4py. Rank 0 prints a line `PATTERN: STATE, DETAIL` for each pattern, and every rank
of a pattern that hangs prints such a line with its stack. `osu-container try` and `osu-container
proof --patterns` start this program and read its lines with run_patterns().

This module uses only Python 3.6 and its standard library, because the image provides Python.
"""

import argparse
import array
import ctypes
import faulthandler
import hashlib
import importlib
import math
import os
import random
import re
import shutil
import socket
import sys
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

FILE = os.path.realpath(__file__)
#: Seconds without progress after which a pattern counts as hung
LIMIT = 10.0
#: Further seconds for the import of PyTorch from a parallel file system
IMPORT_SECONDS = 60.0
#: Seconds between the report of a rank that hangs and its end, so that all ranks can report
GRACE = 1.0
#: Exit code of a rank that hangs
HUNG = 3
#: Maximum number of characters of a line, because a pipe may split longer lines (PIPE_BUF)
LINE_LENGTH = 3500
STATES = ('works', 'differs', 'hung', 'failed', 'not possible here')
_LINE = re.compile(r'^([\w-]+): (begins|%s)(?:, (.*))?$' % '|'.join(STATES), re.M)


class NotPossibleError(Exception):
    """A pattern cannot run here; the text is the reason."""


class Ranks:
    """MPI, the world communicator and the wrong values that this rank has found in a pattern."""

    def __init__(self, mpi: Any, limit: float, file: str) -> None:
        self.mpi, self.world, self.limit, self.file = mpi, mpi.COMM_WORLD, limit, file
        self.rank, self.size = self.world.Get_rank(), self.world.Get_size()
        self.right = (self.rank + 1) % self.size
        self.left = (self.rank - 1) % self.size
        self.pattern = ''
        self.wrong: List[str] = []
        self.progressed = time.monotonic()

    def begin(self, pattern: str) -> None:
        """Name the pattern that runs now, so that the watchdog can report the pattern."""
        self.pattern, self.wrong = pattern, []
        self.progressed = time.monotonic()

    def compare(self, what: str, found: Any, expected: Any) -> None:
        """Record a value that differs from the expected value, and note that this rank progresses."""
        self.progressed = time.monotonic()
        if found != expected:
            self.wrong.append('%s is %.40r, expected %.40r' % (what, found, expected))

    def check_sum(self, communicator: Any, what: str) -> None:
        """Compare the sum over the ranks of a communicator with the sum that this rank computes."""
        size = communicator.Get_size()
        total = array.array('q', [0, 0])
        communicator.Allreduce(array.array('q', [communicator.Get_rank(), 1 << 40]), total)
        self.compare(what, list(total), [size * (size - 1) // 2, size << 40])

    def exchange(self, sent: Any, received: Any, tag: int = 0) -> None:
        """Send a buffer to the next rank, and receive a buffer from the previous rank."""
        byte = self.mpi.BYTE
        self.world.Sendrecv([sent, byte], self.right, tag, [received, byte], self.left, tag)

    def watch(self) -> None:
        """Wait until this rank makes no progress for the limit, print its stacks and end it."""
        while time.monotonic() - self.progressed < self.limit:
            # This thread waits for Python's lock. If code in C holds the lock, faulthandler reports.
            faulthandler.dump_traceback_later(2 * self.limit, exit=True)
            time.sleep(0.1)
        where = 'rank %d on %s' % (
            self.rank,
            os.environ.get('SLURMD_NODENAME', socket.gethostname()),
        )
        print_line(self.pattern, 'hung', '%s: %s' % (where, describe_threads()))
        time.sleep(GRACE)
        os._exit(HUNG)


def print_line(pattern: str, state: str, detail: str = '') -> None:
    """Print the line of a pattern with one system call, so that the lines of ranks do not mix."""
    detail = ' '.join(detail.split())[:LINE_LENGTH]
    text = '%s: %s%s\n' % (pattern, state, ', ' + detail if detail else '')
    os.write(1, text.encode('utf-8', 'replace'))


def describe_threads() -> str:
    """Return the Python stack of each other thread, and the kernel's state of all threads."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    stacks = []
    for number, frame in sys._current_frames().items():
        if number != threading.get_ident():
            calls = [
                '%s:%d %s (%s)' % (os.path.basename(name), line, function, text)
                for name, line, function, text in reversed(traceback.extract_stack(frame))
            ]
            stacks.append('%s: %s' % (names.get(number, number), ' < '.join(calls[:6])))
    states = []
    for task in sorted(os.listdir('/proc/self/task')):
        try:
            with open('/proc/self/task/%s/stat' % task) as stat, open(
                '/proc/self/task/%s/wchan' % task
            ) as wchan:
                states.append(stat.read().rpartition(')')[2].split()[0] + ' ' + wchan.read())
        except OSError:  # The thread has terminated, or the kernel hides its state.
            pass
    return '%s | kernel: %s' % (' | '.join(stacks), ', '.join(states))


# ---- patterns --------------------------------------------------------------------------------------------------------


def use_communicators(ranks: Ranks) -> str:
    """Create, use and free communicators in turn, while an older communicator remains in use."""
    first = ranks.world.Dup()
    for number in range(8):
        second = ranks.world.Dup()
        half = ranks.world.Split(ranks.rank % 2, ranks.rank)
        for name, communicator in (('second', second), ('first', first), ('half', half)):
            ranks.check_sum(communicator, 'sum %d in the %s communicator' % (number, name))
        half.Free()
        second.Free()
    first.Free()
    return ''


def use_threads(ranks: Ranks) -> str:
    """Let four threads send messages and use communicators of their own at the same time."""
    if ranks.mpi.Query_thread() < ranks.mpi.THREAD_MULTIPLE:
        raise NotPossibleError('MPI provides less than MPI_THREAD_MULTIPLE')

    def work(number: int, own: Any) -> None:
        try:
            inner = own.Dup()
            for step in range(8):
                sent, received = bytearray([number + step]) * (1 << (2 * step)), bytearray(1 << 16)
                ranks.exchange(sent, received, number + 1)
                ranks.compare('message in thread %d' % number, received[: len(sent)], sent)
                ranks.check_sum(inner, 'sum in thread %d' % number)
            inner.Free()
        except Exception:
            ranks.wrong.append(traceback.format_exc())

    communicators = [ranks.world.Dup() for _ in range(4)]
    threads = [
        threading.Thread(target=work, args=item, daemon=True) for item in enumerate(communicators)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for communicator in communicators:
        communicator.Free()
    return ''


def fork_process(ranks: Ranks) -> str:
    """Fork while the network has registered the buffers, and use the buffers in both processes."""
    sent, received = bytearray(1 << 20), bytearray(1 << 20)
    for number in range(1, 4):
        sent[:] = bytes([number]) * len(sent)
        ranks.exchange(sent, received)
        child = os.fork()
        if not child:
            sent[:] = received[:] = bytes(len(sent))
            os._exit(0)
        sent[:] = bytes([number + 100]) * len(sent)
        ranks.exchange(sent, received)
        os.waitpid(child, 0)
        ranks.compare('message after fork %d' % number, received, sent)
    return ''


def access_memory(ranks: Ranks) -> str:
    """Put, get and add values in the memory of another rank."""
    mpi, room = ranks.mpi, 1024
    window = mpi.Win.Allocate(8 * room, 8, comm=ranks.world)
    memory = memoryview(window.tomemory()).cast('B').cast('q')
    values = array.array('q', [1000 * ranks.rank + number for number in range(room)])
    window.Fence()
    window.Put(values, ranks.right)
    window.Fence()
    ranks.compare('memory after MPI_Put', memory[1], 1000 * ranks.left + 1)
    read = array.array('q', bytes(8 * room))
    window.Lock(ranks.right, mpi.LOCK_SHARED)
    window.Get(read, ranks.right)
    window.Unlock(ranks.right)
    ranks.compare('values of MPI_Get', read, values)
    window.Fence()
    window.Accumulate(values, ranks.right, op=mpi.SUM)
    window.Fence()
    ranks.compare('memory after MPI_Accumulate', memory[2], 2 * (1000 * ranks.left + 2))
    ranks.world.Barrier()
    window.Free()
    return ''


def write_file(ranks: Ranks) -> str:
    """Write a file in the working folder with MPI-IO, and read the part of another rank."""
    mpi, folder = ranks.mpi, os.getcwd()
    problem = ''
    if ranks.rank == 0:
        try:
            open(ranks.file, 'w').close()
        except OSError as err:
            problem = 'cannot write to the working folder %s: %s' % (folder, err.strerror)
    problem = ranks.world.bcast(problem)
    if not problem and not ranks.world.allreduce(os.path.exists(ranks.file), op=mpi.LAND):
        problem = 'the ranks do not share the working folder %s' % folder
    if problem:
        raise NotPossibleError(problem)
    file = mpi.File.Open(
        ranks.world, ranks.file, mpi.MODE_CREATE | mpi.MODE_RDWR | mpi.MODE_DELETE_ON_CLOSE
    )
    written, read = bytearray([ranks.rank % 256]) * (1 << 16), bytearray(1 << 16)
    file.Write_at_all(ranks.rank << 16, written)
    file.Sync()
    ranks.world.Barrier()
    file.Sync()
    file.Read_at_all(ranks.right << 16, read)
    ranks.compare('data in the file', read, bytes([ranks.right % 256]) * (1 << 16))
    file.Close()
    return ''


def reduce_values(ranks: Ranks) -> str:
    """Compute sums, and return a digest of their bits."""

    def list_values(rank: int) -> 'array.array[float]':
        numbers = random.Random(rank)
        return array.array(
            'd', [numbers.uniform(-1, 1) * 2.0 ** numbers.randint(-30, 30) for _ in range(1000)]
        )

    own, total = list_values(ranks.rank), array.array('d', bytes(8000))
    ranks.check_sum(ranks.world, 'sum of integers')
    ranks.world.Allreduce(own, total)
    for number, values in enumerate(zip(total, *map(list_values, range(ranks.size)))):
        # A sum of two values has only one result. The order of more values depends on the MPI.
        found, exact = values[0], math.fsum(values[1:])
        slack = 0 if ranks.size == 2 else 1e-12 * sum(map(abs, values[1:]))
        if abs(found - exact) > slack:
            ranks.compare('sum of floating-point values %d' % number, found.hex(), exact.hex())
    again = array.array('d', bytes(8000))
    ranks.world.Allreduce(own, again)
    ranks.compare('repeated sum', again, total)
    digest = hashlib.sha256(total.tobytes()).hexdigest()[:12]
    ranks.compare('bits of the sums on rank 0', ranks.world.bcast(digest), digest)
    return 'bits ' + digest


def use_pytorch(ranks: Ranks) -> str:
    """Use two process groups of PyTorch in turn, over RCCL or NCCL if there is a GPU, else Gloo."""
    ranks.progressed += IMPORT_SECONDS
    try:
        torch, dist = map(importlib.import_module, ('torch', 'torch.distributed'))
    except ImportError as err:
        raise NotPossibleError('no PyTorch: %s' % err)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    if device == 'cuda':
        node = ranks.world.Split_type(ranks.mpi.COMM_TYPE_SHARED)
        torch.cuda.set_device(node.Get_rank() % torch.cuda.device_count())
        node.Free()
    with socket.socket() as server:
        server.bind(('', 0))
        address = ranks.world.bcast((socket.gethostname(), server.getsockname()[1]))
    dist.init_process_group(
        'nccl' if device == 'cuda' else 'gloo',
        init_method='tcp://%s:%d' % address,
        rank=ranks.rank,
        world_size=ranks.size,
    )
    groups = [dist.new_group() for _ in range(2)]
    for number in range(4):
        for group in groups:
            value = torch.full((1 << 16,), float(ranks.rank + number), device=device)
            dist.all_reduce(value, group=group)
            total = ranks.size * (ranks.size - 1) // 2 + number * ranks.size
            ranks.compare('sum in a process group', [*set(value.tolist())], [float(total)])
    dist.destroy_process_group()
    return 'PyTorch %s over %s' % (torch.__version__, 'nccl' if device == 'cuda' else 'gloo')


def end_mpi(ranks: Ranks) -> str:
    """End MPI after all patterns."""
    ranks.mpi.Finalize()
    return ''


#: Patterns in the order of their runs; finalize is the last one
PATTERNS: Dict[str, Callable[[Ranks], str]] = {
    'reduction': reduce_values,
    'communicators': use_communicators,
    'one-sided': access_memory,
    'file-io': write_file,
    'threads': use_threads,
    'fork': fork_process,
    'pytorch': use_pytorch,
    'finalize': end_mpi,
}


# ---- the program of the ranks ----------------------------------------------------------------------------------------


def start_mpi() -> Any:
    """
    Return mpi4py.MPI, whose import starts MPI.

    The mpi4py of this project's benchmarks precedes other mpi4py, and libmpi.so.12 precedes the name
    libmpi.so, as in scripts/osu-port. Raises ImportError or RuntimeError.
    """
    prefix = os.path.dirname(
        os.path.dirname(os.path.realpath(shutil.which('osu_bw') or '/opt/osu/bin/osu_bw'))
    )
    packages, link = os.path.join(prefix, 'lib/python'), os.path.join(prefix, 'lib/libmpi.so.12')
    if os.path.isdir(os.path.join(packages, 'mpi4py')):
        sys.path.insert(0, packages)
    for name in [os.path.realpath(link)] * os.path.islink(link) + ['libmpi.so.12', 'libmpi.so.40']:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        os.environ.setdefault('MPI4PY_LIBMPI', name)
    from mpi4py import MPI

    return MPI


def run_pattern(ranks: Ranks, name: str) -> None:
    """Run a pattern on all ranks, and print its outcome on rank 0."""
    ranks.begin(name)
    begun = time.monotonic()
    if ranks.rank == 0:
        print_line(name, 'begins')
    state = 'works'
    try:
        detail = PATTERNS[name](ranks)
    except NotPossibleError as err:
        state, detail = 'not possible here', str(err)
    except Exception:
        text = traceback.format_exc().strip().split('\n')
        print_line(name, 'failed', 'rank %d: %s' % (ranks.rank, ' < '.join(reversed(text[-5:]))))
        ranks.world.Abort(1)
    if name != 'finalize':
        wrong = ranks.world.gather(['rank %d: %s' % (ranks.rank, text) for text in ranks.wrong])
        found = [text for texts in wrong or () for text in texts]
        if found:
            state, detail = 'differs', '%s (%d differences)' % (found[0], len(found))
    if ranks.rank == 0:
        detail = '; '.join(['%.1f s' % (time.monotonic() - begun)] + [detail] * bool(detail))
        print_line(name, state, detail)


def main() -> None:
    """Run the patterns that the command line names, or all patterns."""
    parser = argparse.ArgumentParser(description="Run communication patterns of applications.")
    parser.add_argument('--limit', type=float, default=LIMIT, metavar='SECONDS')
    parser.add_argument('--file', default='osu-pattern.tmp', metavar='FILE')
    parser.add_argument('patterns', nargs='*', metavar='PATTERN')
    options = parser.parse_args()
    names = options.patterns or list(PATTERNS)
    try:
        ranks = Ranks(start_mpi(), options.limit, options.file)
        problem = '' if ranks.size > 1 else 'the MPI of each rank sees 1 rank'
    except (ImportError, RuntimeError) as err:
        problem = 'mpi4py does not start: %s' % err
    if problem:
        for name in names:
            print_line(name, 'not possible here', problem)
        return
    threading.Thread(target=ranks.watch, daemon=True).start()
    for name in names:
        run_pattern(ranks, name)
    faulthandler.cancel_dump_traceback_later()


# ---- reading the outcomes --------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How a pattern ended."""

    pattern: str
    state: str  #: one of STATES
    details: List[str]  #: for a pattern that hangs, one text for each rank

    @property
    def is_bad(self) -> bool:
        return self.state in ('differs', 'hung', 'failed')

    @property
    def digest(self) -> List[str]:
        """The digest of a reduction's bits, [] for other patterns."""
        return re.findall(r'\bbits \w+', ' '.join(self.details))

    def __str__(self) -> str:
        return '%s: %s' % (self.pattern, '\n    '.join([self.state] + self.details))


def read_outcomes(output: str, problem: str) -> List[Outcome]:
    """
    Return the outcomes in the output of the ranks, in the order of the patterns.

    problem: why the command failed, '' if it did not. A pattern without an outcome has failed.
    """
    found: Dict[str, Outcome] = {}
    for name, state, detail in _LINE.findall(output):
        known = found.get(name)
        if known is None or known.state == 'begins':
            found[name] = Outcome(name, state, [detail] * bool(detail))
        elif state == known.state and detail not in known.details:
            known.details.append(detail)
    return [
        outcome._replace(state='failed', details=[problem or 'no outcome'])
        if outcome.state == 'begins'
        else outcome
        for outcome in found.values()
    ]


def summarize(outcomes: List[Outcome]) -> str:
    """Return the patterns of each state in one line."""
    states = {outcome.state: None for outcome in outcomes}
    return '; '.join(
        '%s: %s' % (state, ', '.join(each.pattern for each in outcomes if each.state == state))
        for state in states
    )


def run_patterns(run: Callable[[List[str]], Tuple[str, str]]) -> Iterator[Outcome]:
    """
    Start the patterns, after a hang or a crash the remaining patterns, and yield the outcomes.

    run: function that starts the ranks with the words of a command, and returns (problem, output).
    """
    file = '.osu-pattern-%d-%d' % (os.getpid(), time.time())
    remaining = list(PATTERNS)
    try:
        while remaining:
            problem, output = run(['-s', FILE, '--file', file] + remaining)
            outcomes = read_outcomes(output, problem) or [
                Outcome(name, 'not possible here', [problem]) for name in remaining
            ]
            for outcome in outcomes:
                if outcome.pattern in remaining:
                    remaining.remove(outcome.pattern)
                    yield outcome
    finally:
        if os.path.exists(file):
            os.remove(file)


def add_bind(environment: Dict[str, str]) -> Dict[str, str]:
    """Return the environment, in which the container runtime binds this file into a container."""
    # Each runtime prefers its own variable. Apptainer prints a note if it reads SINGULARITY_BIND.
    name = 'APPTAINER_BIND' if shutil.which('apptainer') else 'SINGULARITY_BIND'
    binds = environment.get(name) or environment.get('SINGULARITY_BIND')
    return dict(environment, **{name: ','.join(filter(None, [binds, FILE]))})


if __name__ == '__main__':
    main()

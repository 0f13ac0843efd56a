"""
Run communication patterns of applications, and report how each pattern ended.

OSU's benchmarks use one communicator, one thread and no files. Applications can hang or compute
wrong results where the benchmarks work: with PyTorch's second process group (ROCm/aws-ofi-rccl
issue 16, laifs-container-recipes issue 44), with threads, after a fork, or at the first MPI-IO.

`osu-container try` and `osu-container proof --patterns` call run_patterns(), which starts this file
in every rank. The ranks need mpi4py. Rank 0 prints a line `PATTERN: STATE, DETAIL` for each pattern.
Every rank of a pattern that hangs prints such a line with its stack.

This module uses only Python 3.6 and its standard library, because the image provides Python.
"""

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
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

FILE = os.path.realpath(__file__)
#: Seconds without progress after which a pattern counts as hung; further seconds to load PyTorch from
#: a parallel file system; seconds for the reports of the other ranks
LIMIT, IMPORT_SECONDS, GRACE = float(os.environ.get('OSU_PATTERN_SECONDS', 10)), 60, 1
#: Maximum number of characters of a detail, because a pipe may split longer lines (PIPE_BUF)
DETAIL_LENGTH = 3500
_LINE = re.compile(
    r'^([\w-]+): (begins|works|differs|hung|failed|not possible here),? ?(.*)$', re.M
)
#: Problem of a command whose image has no python3, or that has no time left
_NOT_STARTED = re.compile(r'exit code (126|127|255)\b|no time left')


class NotPossibleError(Exception):
    """A communication pattern cannot run on this system; the text is the reason."""


class Ranks:
    """The data of this rank: the MPI module, the neighbour ranks, and a list of wrong values."""

    def __init__(self, mpi: Any, file: str) -> None:
        self.mpi, self.world, self.file = mpi, mpi.COMM_WORLD, file
        self.rank, self.size = self.world.Get_rank(), self.world.Get_size()
        self.right, self.left = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        self.pattern = ''
        self.wrong: List[str] = []
        self.progressed = time.monotonic()

    def compare(self, what: str, found: Any, expected: Any) -> None:
        """Record the progress of this rank, and an error if `found` differs from `expected`."""
        self.progressed = time.monotonic()
        if found != expected:
            self.wrong.append('%s is %.40r, expected %.40r' % (what, found, expected))

    def check_sum(self, communicator: Any, what: str) -> None:
        """Compare the sum over the ranks of a communicator with the sum that this rank computes."""
        size, total = communicator.Get_size(), array.array('q', [0, 0])
        communicator.Allreduce(array.array('q', [communicator.Get_rank(), 1 << 40]), total)
        self.compare('sum in ' + what, list(total), [size * (size - 1) // 2, size << 40])

    def exchange(self, sent: bytearray, what: str, tag: int = 0) -> None:
        """Send a buffer to the next rank, and receive equal data from the previous rank."""
        received, byte = bytearray(len(sent)), self.mpi.BYTE
        self.world.Sendrecv([sent, byte], self.right, tag, [received, byte], self.left, tag)
        self.compare('message ' + what, received, sent)

    def watch(self) -> None:
        """Terminate this rank after LIMIT seconds without progress, and print its stacks."""
        while time.monotonic() - self.progressed < LIMIT:
            # This thread waits for Python's lock. If code in C holds the lock, faulthandler reports.
            faulthandler.dump_traceback_later(IMPORT_SECONDS, exit=True)
            time.sleep(0.1)
        node = os.environ.get('SLURMD_NODENAME', socket.gethostname())
        print_line(self.pattern, 'hung', 'rank %d on %s: %s' % (self.rank, node, format_stacks()))
        time.sleep(GRACE)
        os._exit(3)


def print_line(pattern: str, state: str, detail: str = '') -> None:
    """Print a line with one system call, so that the lines of different ranks do not mix."""
    text = ', '.join([state] + [' '.join(detail.split())[:DETAIL_LENGTH]] * bool(detail))
    os.write(1, ('%s: %s\n' % (pattern, text)).encode('utf-8', 'replace'))


def format_stacks() -> str:
    """
    Return the Python stacks of all threads except the calling thread.

    The text also contains the kernel function in which the main thread waits.
    """
    stacks = [
        ' < '.join('%s:%d %s' % (call[2], call[1], call[3]) for call in calls[::-1])
        for number, frame in sys._current_frames().items()
        for calls in [traceback.extract_stack(frame, 6)]
        if number != threading.get_ident()
    ]
    with open('/proc/self/wchan') as wchan:
        return ' | '.join(stacks + ['kernel: %s' % (wchan.read().strip('0') or 'running')])


# ---- patterns --------------------------------------------------------------------------------------------------------


def reduce_values(ranks: Ranks) -> str:
    """Compute sums of integers and floating-point values, and return a digest of their bits."""

    def list_values(rank: int) -> 'array.array[float]':
        draw = random.Random(rank).random  # the same numbers in every Python
        return array.array(
            'd', [(draw() - 0.5) * 2.0 ** int(60 * draw() - 30) for _ in range(1000)]
        )

    ranks.check_sum(ranks.world, 'MPI_COMM_WORLD')
    own, total = list_values(ranks.rank), array.array('d', bytes(8000))
    ranks.world.Allreduce(own, total)
    for found, *values in zip(total, *map(list_values, range(ranks.size))):
        # A sum of two values has only one result. The order of more values depends on the MPI.
        exact, slack = math.fsum(values), 1e-12 * sum(map(abs, values)) * (ranks.size > 2)
        ranks.compare('sum', found if abs(found - exact) > slack else exact, exact)
    digest = hashlib.sha256(total.tobytes()).hexdigest()[:12]
    ranks.compare('digest of the sums', ranks.world.bcast(digest), digest)
    return 'bits ' + digest


def use_communicators(ranks: Ranks) -> None:
    """Create, use and free communicators in turn, while an older communicator remains in use."""
    first = ranks.world.Dup()
    for _ in range(8):
        second, half = ranks.world.Dup(), ranks.world.Split(ranks.rank % 2, ranks.rank)
        ranks.check_sum(second, 'the second communicator')
        ranks.check_sum(first, 'the first communicator')
        ranks.check_sum(half, 'half of the ranks')
        half.Free()
        second.Free()
    first.Free()


def access_memory(ranks: Ranks) -> None:
    """Put, get and add values in the memory of another rank."""
    window = ranks.mpi.Win.Allocate(8 * 1024, 8, comm=ranks.world)
    memory = memoryview(window.tomemory()).cast('B').cast('q')
    values = array.array('q', range(ranks.rank, ranks.rank + 1024))
    read = array.array('q', bytes(8192))
    window.Fence()
    window.Put(values, ranks.right)
    window.Fence(ranks.mpi.MODE_NOSUCCEED)
    ranks.compare('value after MPI_Put', memory[7], ranks.left + 7)
    window.Lock(ranks.right, ranks.mpi.LOCK_SHARED)
    window.Get(read, ranks.right)
    window.Unlock(ranks.right)
    ranks.compare('values of MPI_Get', read, values)
    window.Fence()
    window.Accumulate(values, ranks.right, op=ranks.mpi.SUM)
    window.Fence()
    ranks.compare('value after MPI_Accumulate', memory[7], 2 * (ranks.left + 7))
    window.Free()


def write_file(ranks: Ranks) -> None:
    """Write a file with MPI-IO, and read the data that another rank has written to the file."""
    mpi, folder = ranks.mpi, os.getcwd()
    if ranks.rank == 0 and os.access(folder, os.W_OK):
        open(ranks.file, 'w').close()
    ranks.world.Barrier()
    if not ranks.world.allreduce(os.path.exists(ranks.file), op=mpi.LAND):
        raise NotPossibleError(
            'the ranks cannot write to the folder %s, or do not share the folder' % folder
        )
    mode = mpi.MODE_CREATE | mpi.MODE_RDWR | mpi.MODE_DELETE_ON_CLOSE
    file = mpi.File.Open(ranks.world, ranks.file, mode)
    read = bytearray(1 << 16)
    file.Write_at_all(ranks.rank << 16, bytearray([ranks.rank % 256]) * (1 << 16))
    file.Sync()
    ranks.world.Barrier()
    file.Sync()
    file.Read_at_all(ranks.right << 16, read)
    ranks.compare('data in the file', read, bytes([ranks.right % 256]) * (1 << 16))
    file.Close()


def use_threads(ranks: Ranks) -> None:
    """Let four threads send messages and use communicators at the same time."""
    if ranks.mpi.Query_thread() < ranks.mpi.THREAD_MULTIPLE:
        raise NotPossibleError('MPI provides less than MPI_THREAD_MULTIPLE')

    def work(number: int, own: Any) -> None:
        try:
            inner = own.Dup()
            for step in range(8):
                sent = bytearray([number + step]) * (1 << (2 * step))
                ranks.exchange(sent, 'in thread %d' % number, number + 1)
                ranks.check_sum(inner, 'thread %d' % number)
            inner.Free()
        except Exception:
            ranks.wrong.append(traceback.format_exc())

    parents = [ranks.world.Dup() for _ in range(4)]
    threads = [threading.Thread(target=work, args=item, daemon=True) for item in enumerate(parents)]
    for thread in threads:
        thread.start()
    for thread, parent in zip(threads, parents):
        thread.join()
        parent.Free()


def fork_process(ranks: Ranks) -> None:
    """Fork while the network has registered a buffer, and write to the buffer in both processes."""
    sent = bytearray(1 << 20)
    for number in range(1, 4):
        sent[:] = bytes([number]) * len(sent)
        ranks.exchange(sent, 'before a fork')
        child = os.fork()
        if not child:
            sent[:] = bytes(len(sent))
            os._exit(0)
        sent[:] = bytes([number + 100]) * len(sent)
        ranks.exchange(sent, 'after a fork')
        os.waitpid(child, 0)


def use_pytorch(ranks: Ranks) -> str:
    """Use two process groups of PyTorch in turn, over RCCL or NCCL if there is a GPU, else Gloo."""
    ranks.progressed += IMPORT_SECONDS
    try:
        torch, dist = map(importlib.import_module, ('torch', 'torch.distributed'))
    except ImportError as err:
        raise NotPossibleError('no PyTorch: %s' % err)
    device, backend = ('cuda', 'nccl') if torch.cuda.is_available() else ('cpu', 'gloo')
    if device == 'cuda':
        node = ranks.world.Split_type(ranks.mpi.COMM_TYPE_SHARED)
        torch.cuda.set_device(node.Get_rank() % torch.cuda.device_count())
    with socket.socket() as server:
        server.bind(('', 0))
        address = ranks.world.bcast((socket.gethostname(), server.getsockname()[1]))
    dist.init_process_group(
        backend, init_method='tcp://%s:%d' % address, rank=ranks.rank, world_size=ranks.size
    )
    groups = [dist.new_group() for _ in range(2)]
    for group in 4 * groups:
        value = torch.full((1 << 16,), float(ranks.rank), device=device)
        try:
            dist.all_reduce(value, group=group)
        except RuntimeError as err:
            if 'Duplicate GPU' in str(err):
                raise NotPossibleError('%s refuses ranks that share a GPU' % backend)
            raise
        total = float(ranks.size * (ranks.size - 1) // 2)
        ranks.compare('sum in a process group', value.unique().tolist(), [total])
    dist.destroy_process_group()
    return 'PyTorch %s over %s' % (torch.__version__, backend)


#: Patterns in the order in which they run
PATTERNS: Dict[str, Callable[[Ranks], Optional[str]]] = {
    'reduction': reduce_values,
    'communicators': use_communicators,
    'one-sided': access_memory,
    'file-io': write_file,
    'threads': use_threads,
    'fork': fork_process,
    'pytorch': use_pytorch,
    'finalize': lambda ranks: ranks.mpi.Finalize(),
}


def start_mpi() -> Any:
    """
    Start MPI by importing mpi4py.MPI, and return this module.

    If several mpi4py are installed, the function imports the mpi4py of the benchmarks. mpi4py uses
    libmpi.so.12 if this library exists, otherwise libmpi.so.40. scripts/osu-port selects mpi4py and
    libmpi by the same rules. Raises ImportError or RuntimeError.
    """
    benchmark = os.path.realpath(shutil.which('osu_bw') or '/opt/osu/bin/osu_bw')
    library = os.path.join(os.path.dirname(os.path.dirname(benchmark)), 'lib')
    if os.path.isdir(library + '/python/mpi4py'):
        sys.path.insert(0, library + '/python')
    for name in (os.path.realpath(library + '/libmpi.so.12'), 'libmpi.so.12', 'libmpi.so.40'):
        try:
            ctypes.CDLL(name)
            os.environ.setdefault('MPI4PY_LIBMPI', name)
        except OSError:
            pass
    from mpi4py import MPI

    return MPI


def run_pattern(ranks: Ranks, name: str) -> None:
    """Run one communication pattern on all ranks, and let rank 0 print the outcome."""
    begun = ranks.progressed = time.monotonic()
    ranks.pattern, ranks.wrong, state = name, [], 'works'
    if ranks.rank == 0:
        print_line(name, 'begins')
    try:
        detail = PATTERNS[name](ranks)
        wrong = ranks.world.gather(ranks.wrong) if name != 'finalize' else None
        for number, texts in enumerate(wrong or []):
            if texts and state == 'works':
                state, detail = 'differs', 'rank %d: %s' % (number, texts[0])
    except NotPossibleError as err:
        state, detail = 'not possible here', str(err)
    except Exception:
        print_line(name, 'failed', 'rank %d: %s' % (ranks.rank, traceback.format_exc()))
        ranks.world.Abort(1)
    if ranks.rank == 0:
        seconds = '%.1f s' % (time.monotonic() - begun)
        print_line(name, state, '; '.join(filter(None, [seconds, detail])))


def main(file: str, names: List[str]) -> None:
    """Run the patterns `names`; the pattern file-io creates and removes the file `file`."""
    faulthandler.dump_traceback_later(IMPORT_SECONDS, exit=True)  # if MPI hangs before watch() runs
    problem = 'a communication pattern needs 2 ranks, but MPI sees only 1'
    try:
        ranks = Ranks(start_mpi(), file)
        if ranks.size > 1:
            problem = ''
            threading.Thread(target=ranks.watch, daemon=True).start()
    except (ImportError, RuntimeError) as err:
        problem = 'mpi4py does not start: %s' % err
    for name in names:
        if problem:
            print_line(name, 'not possible here', problem)
        else:
            run_pattern(ranks, name)


class Outcome(NamedTuple):
    """The result of one communication pattern."""

    pattern: str
    state: str  #: works, differs, hung, failed or not possible here
    details: List[str]  #: for a pattern that hangs, one text for each rank

    @property
    def is_bad(self) -> bool:
        return self.state in ('differs', 'hung', 'failed')

    def __str__(self) -> str:
        gap = '\n    ' if len(self.details) > 1 else ', '
        return '%s: %s' % (self.pattern, gap.join([self.state] + self.details))


def run_patterns(run: Callable[[List[str]], Tuple[str, str]]) -> Iterator[Outcome]:
    """
    Run all communication patterns, and yield one Outcome for each pattern.

    If a pattern begins and prints no result, the outcome is 'failed'. After a hang or a crash, the
    function starts the ranks again for the remaining patterns.

    run: function that starts the ranks with arguments for python3, and returns the result of the
    command, such as 'exit code 1', and the output
    """
    file, remaining = '.osu-pattern-%d-%d' % (os.getpid(), time.time()), list(PATTERNS)
    try:
        while remaining:
            problem, output = run(['-s', FILE, file] + remaining)
            #: {pattern: {state: details}}
            found: Dict[str, Dict[str, List[str]]] = {}
            for name, state, detail in _LINE.findall(output):
                if name in remaining:
                    found.setdefault(name, {}).setdefault(state, []).append(detail)
            if not found:
                state = 'not possible here' if _NOT_STARTED.match(problem) else 'failed'
                found = {name: {state: [problem]} for name in remaining}
            # The lines of different ranks are in any order.
            for name in [name for name in remaining if name in found]:
                remaining.remove(name)
                states = found[name]
                states.pop('begins', None)
                state, details = next(iter(states.items()), ('failed', [problem]))
                yield Outcome(name, state, list(dict.fromkeys(details)))
    finally:
        if os.path.exists(file):
            os.remove(file)


def add_bind(environment: Dict[str, str]) -> Dict[str, str]:
    """Return `environment` with patterns.py added to the container runtime's bind mounts."""
    # Each runtime prefers its own variable. Apptainer prints a note if it reads SINGULARITY_BIND.
    name = 'APPTAINER_BIND' if shutil.which('apptainer') else 'SINGULARITY_BIND'
    binds = environment.get(name) or environment.get('SINGULARITY_BIND')
    return dict(environment, **{name: ','.join(filter(None, [binds, FILE]))})


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])

"""
The runs of `make gpu`: which there are, how each is started, and what is written of it.

Natively, Intel MPI is the host's. In a container it is too, put in front of the image's MPI as by approach bind, with
the driver that --nv brings. The numbers of two ranks on one GPU are a case of their own: they never compare with those
of two GPUs.
"""
from __future__ import annotations

import ctypes
import glob
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .. import record
from ..bench import measure, plan
from ..children import end_group
from ..core.reading.files import text_of
from ..places import PROJECT, STATE
from ..results import run_files
from ..results.model import Case
from . import GpuRunError

RANK_PROOF = PROJECT / 'osu_container' / 'rank-proof'
#: (benchmark, buffers, arguments of the program); a program of MPI has two ranks
MPI_RUNS = (('osu_bw', 'D D'), ('osu_bw', 'H D'), ('osu_bw', 'D H'), ('osu_bw', 'H H'),
            ('osu_latency', 'D D'), ('osu_latency', 'H D'), ('osu_latency', 'H H'))
SHARED = 'two ranks on one GPU'
#: In a container: where Intel MPI is bound
INTEL_INSIDE = '/host/intel-mpi'
#: Where the image has the ports, which take GPU memory of any MPI that does
PORTS_INSIDE = '/opt/osu/bin/'
#: Seconds after which a run is given up
LIMIT = 300


@dataclass(frozen=True)
class Way:
    """
    One way to run the programs.

    name: of its curve; container, comes_from: its promise; wrapper: command in front of the program (tuple of str)
    environment: dict, beside that of this process; problem: why it cannot be gone (str), None if it can
    """

    name: str
    container: bool
    comes_from: dict
    wrapper: tuple
    environment: dict
    image: Path | None = None
    problem: str | None = None
    folder: str = ''  # of the programs, where PATH does not lead to them


def gpus():
    """Return {'devices': [str], 'driver': str} of NVIDIA's driver here. Raises GpuRunError if it has no GPU."""
    files_there = ' '.join(sorted(glob.glob('/dev/nvidia*'))) or 'none'
    wanted = "`make gpu` wants a machine with a GPU of NVIDIA"
    try:
        library = ctypes.CDLL('libcuda.so.1')
    except OSError as err:
        raise GpuRunError(f"no GPU here: {err}; device files: {files_there}. {wanted}") from err
    count, version = ctypes.c_int(), ctypes.c_int()
    code = library.cuInit(0) or library.cuDeviceGetCount(ctypes.byref(count))
    if code or not count.value:
        raise GpuRunError(f"no GPU here: libcuda.so.1 finds none (error {code}); device files: {files_there}; "
                          f"CUDA_VISIBLE_DEVICES={os.environ.get('CUDA_VISIBLE_DEVICES', 'not set')}. {wanted}")
    library.cuDriverGetVersion(ctypes.byref(version))
    names = []
    for number in range(count.value):
        device, text = ctypes.c_int(), ctypes.create_string_buffer(100)
        if library.cuDeviceGet(ctypes.byref(device), number) == 0:
            library.cuDeviceGetName(text, 100, device)
        names.append(text.value.decode(errors='replace'))
    kernel = re.search(r'Kernel Module\s+(?:for \S+\s+)?(\S+)', text_of('/proc/driver/nvidia/version'))
    return {'devices': names, 'cuda': f'{version.value // 1000}.{version.value % 1000 // 10}',
            'driver': kernel.group(1) if kernel else None}


def ways(folder, image, environment):
    """
    Return the ways (list of Way) to run here.

    :param folder: Path, from carry.find(); image: Path of a SIF or None; environment: dict of str
    """
    # Where Level Zero is installed (hwloc of Debian 13 needs it), Intel MPI tries it first, and ends without its GPU.
    intel = {'I_MPI_ROOT': str(folder / 'intel-mpi'), 'I_MPI_HYDRA_BOOTSTRAP': 'fork', 'I_MPI_OFFLOAD': '1',
             'I_MPI_OFFLOAD_LEVEL_ZERO_LIBRARY': 'none', 'I_MPI_OFFLOAD_CUDA_LIBRARY': 'libcuda.so.1',
             'MPI4PY_LIBMPI': 'libmpi.so.12'}
    users = [one for one in (environment.get('LD_LIBRARY_PATH'),) if one]
    both = {'libmpi': 'host'}  # within a node Intel MPI loads no libfabric
    native = {**intel, 'LD_LIBRARY_PATH': ':'.join([f'{folder}/intel-mpi/lib', *users]),
              'PATH': f"{folder}/osu/bin:{environment.get('PATH', '')}"}
    found = [Way('native', False, both, (), native)]
    runtime = next((path for name in ('apptainer', 'singularity')
                    for path in (shutil.which(name), STATE / 'bin' / name) if path and os.path.exists(path)), None)
    if image is None or not image.is_file():
        problem = f"no image ({image or 'sources/osu-workstation-*.sif'}): make image, or carry one here"
    elif runtime is None:
        problem = "no container runtime (apptainer or singularity) on PATH"
    else:
        problem = None
    inside = ':'.join([f'{INTEL_INSIDE}/lib', *users, '/.singularity.d/libs'])
    found.append(Way(
        'bind', True, both,
        (str(runtime), 'exec', '--nv', '--bind', f'{folder}/intel-mpi:{INTEL_INSIDE}', '--env',
         f'LD_LIBRARY_PATH={inside},I_MPI_ROOT={INTEL_INSIDE}', str(image)),
        intel, image, problem, PORTS_INSIDE))
    return found


def runs(way, count, largest=None):
    """
    Return the runs (list of plan.Run) of a Way.

    :param count: int, how many GPUs there are; largest: int, of a message in bytes; None: as the programs have it
    """
    found, size = [], ('-m', str(largest)) if largest else ()
    for benchmark, buffers in MPI_RUNS:
        on_gpu = buffers != 'H H'
        for shared in ([False, True] if on_gpu and count > 1 else [on_gpu]):
            words = (benchmark, *size, *(['-s'] if shared else []), *buffers.split())
            found.append(_run(way, Case(benchmark, buffers, 1, 2, SHARED if shared else ''), words, largest,
                              {'CUDA_VISIBLE_DEVICES': '0'} if shared and count > 1 else {}))
    return found


def _run(way, case, words, largest, environment=None):
    """Return the plan.Run of a case."""
    setting = tuple(f'{name}={value}' for name, value in (environment or {}).items())
    start = ('mpiexec.hydra', '-n', str(case.ranks), *(('env', *setting) if setting else ()))
    return plan.Run(way.name, way.name, case, start, words, largest, way.problem, ('gpu',))


class Session:
    """One run of `make gpu`. say: function that takes a line (str) for the user."""

    def __init__(self, folder, carried, image, *, repeats, largest=None, say=print):
        """
        :param folder: Path of the run; carried: Path, from carry.find(); image: Path or None; repeats: int
        :param largest: int, of a message in bytes; None: as the programs have it
        """
        self.folder, self.carried, self.repeats, self.say = Path(folder), carried, repeats, say
        self.gpus = gpus()
        self.ways = {way.name: way for way in ways(carried, image, os.environ)}
        self.runs = [run for way in self.ways.values()
                     for run in runs(way, len(self.gpus['devices']), largest)]
        self.writer = run_files.Writer(self.folder / run_files.NAME)

    def start(self, typed):
        """Make the folder and the first lines. typed: the command (list of str)."""
        (self.folder / 'raw').mkdir(parents=True)
        libraries = sorted((self.carried / 'intel-mpi' / 'lib').iterdir())
        self.writer.begin(
            run=self.folder.name, started=record.now(), site='one machine with GPUs', tag='gpu', repeats=self.repeats,
            command=typed, wanted={'tag': 'gpu', 'repeats': self.repeats},
            inputs={str(path): record.file_entry(path)['sha256'] for path in libraries},
            project=record.git_state(PROJECT), machine=record.machine(), gpus=self.gpus,
            versions=record.versions(os.environ), slurm=_no_slurm())
        for way in self.ways.values():
            facts = {'problem': way.problem} if way.problem else {}
            if way.container and not way.problem:
                facts['image'] = record.image_entry(way.image, way.wrapper[0])
            self.writer.add('module', name=way.name, approach=way.name, container=way.container,
                            comes_from=way.comes_from, variables=way.environment, **facts)

    def go(self):
        """Run everything; return {'ok', 'failed', 'skipped': counts}."""
        counts = dict.fromkeys(run_files.STATUS, 0)

        def add(entry):
            counts[entry['status']] += 1
            self.writer.add('measurement', **entry)

        left = []
        for run in self.runs:
            where = f'{run.series}: {run.case.title}'
            if run.skip:
                self.say(f'{where}: left out, {run.skip}')
                add(_without(run, 1, 'skipped', run.skip))
                continue
            self.say(f'{where}: is the data right?')
            wrong = self.wrong_data(run)
            if wrong:
                self.say(f'{where}: {wrong}')
                add(_without(run, 1, 'failed', wrong))
            else:
                left.append(run)
        for repeat in range(1, self.repeats + 1):
            for run in left:
                self.say(f'repeat {repeat} of {self.repeats}: {run.series}: {run.case.title}')
                entry = self.one(run, repeat)
                if entry['status'] != 'ok':
                    self.say(f"  {entry['reason']}")
                add(entry)
        self.writer.add('end', ended=record.now(), **counts)
        return counts

    def wrong_data(self, run):
        """
        Run it once with -c; return what is wrong (str), None if all data arrived.

        The proof of all its repeats is taken here: a measured program may be over before anybody could look at it.
        """
        out, err = self.files(run, 'check')
        # longer than the 2 s after which a process without libfabric is known (osu_container/proof/sample.py, SETTLE):
        # messages of 4 MiB take their time anyway
        count = '2000' if '-m' in run.program else '200'
        program = (run.program[0], '-c', '-i', count, *run.program[1:])
        code = self.start_it(run, program, self.proofs(run), out, err)
        text = out.read_text(errors='replace')
        if code == 0 and ' Pass' in text and ' Fail' not in text:
            return None
        return measure.reason(f'exit code {code} with -c', text + '\n' + err.read_text(errors='replace'))

    def proofs(self, run):
        """Return the folder (Path) in which the ranks of a run with -c leave what they loaded."""
        return self.folder / 'proof' / self.files(run, 'check')[0].stem

    def files(self, run, which):
        """Return the files (Path) of the output and the errors of a run; which: repeat, or 'check'."""
        label = f"{run.name}{'-shared' if run.case.variant else ''}-{which}"
        return tuple(self.folder / 'raw' / f'{label}{suffix}' for suffix in ('.txt', '.err'))

    def one(self, run, repeat):
        """Run it once; return its line (dict)."""
        way, (out, err) = self.ways[run.series], self.files(run, repeat)
        begin = time.monotonic()
        code = self.start_it(run, run.program, None, out, err)
        return measure.line(
            run, repeat, stdout=out, stderr=err, code=code, proofs=self.proofs(run),
            promise={'comes_from': way.comes_from, 'container': way.container}, seconds=time.monotonic() - begin,
            folder=self.folder, command=' '.join(self.command(run, run.program, None)), slurm=_no_slurm())

    def command(self, run, program, proofs):
        """Return the command (list of str) that runs program (tuple of str) on the ranks of run, with or without."""
        proof = [str(RANK_PROOF), str(proofs)] if proofs else []
        return [str(self.carried / 'intel-mpi' / 'bin' / run.srun[0]), *run.srun[1:], *proof,
                *self.ways[run.series].wrapper, self.ways[run.series].folder + program[0], *program[1:]]

    def start_it(self, run, program, proofs, out, err):
        """Run program; return its exit code (int), or a str if it was given up."""
        with open(out, 'w') as stdout, open(err, 'w') as stderr:
            child = subprocess.Popen(
                self.command(run, program, proofs), env={**os.environ, **self.ways[run.series].environment},
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True)
            try:
                return child.wait(timeout=LIMIT)
            except subprocess.TimeoutExpired:
                return f'none: given up after {LIMIT} s'
            finally:
                end_group(child)


def _no_slurm():
    """Return what a run without Slurm says of it (dict), as measure.slurm_facts()."""
    return {'job': None, 'partition': None, 'cluster': None, 'nodes': [os.uname().nodename]}


def _without(run, repeat, status, reason):
    """Return the line (dict) of a run that gave no numbers."""
    return {'module': run.module, 'approach': run.series, 'case': run.entry()['case'], 'repeat': repeat,
            'status': status, 'typed': run.typed, 'reason': reason}

"""
`make gpu` (python -m osu_container.gpu run) and `make gpu-pack` (pack): osu_bw D D and its neighbours on one machine
with NVIDIA GPUs that reaches no network and has no Slurm. See docs/gpu.md.

The standard library of Python 3.9 is enough to run it there. What it needs beside the clone is carried: mpi4py's ports,
and an MPI that takes GPU memory. The wheel of Intel MPI is the only MPI of PyPI that does (measured, 2026-11-23:
MPIX_Query_cuda_support() is 0 in those of MPICH 3.4 to 5.0 and Open MPI 5.0, and 1 in this one under I_MPI_OFFLOAD=1).
It asks the driver library of CUDA alone. It has no libfabric: that of MPICH's wheel serves it.

Natively, Intel MPI is the host's. In a container it is too, put in front of the image's MPI as by approach bind, with
the driver that --nv brings. The numbers of two ranks on one GPU are a case of their own: they never compare with those
of two GPUs.
"""
from __future__ import annotations

import argparse
import ctypes
import glob
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from osu_container.core.installing.native import install_ports
from osu_container.image import ImageError, catalogue, fetch
from osu_container.places import PROJECT, STATE
from osu_container.recipes.versions import SOURCES

from . import record
from .bench import measure, plan
from .core.reading.files import text_of
from .results import run_files, select
from .results.model import Case
from .streams import end_group

#: Where it is made, and unpacked again
FOLDER = STATE / 'gpu'
PACKED = STATE / 'gpu.tar.xz'
#: What is carried has to pass the lender's door (bytes)
CARRIED = 64 << 20
#: Of Intel MPI's wheel: what starts programs and what they run with, and the licence, which goes with it
INTEL = ('lib/libmpi.so.12', 'bin/mpiexec.hydra', 'bin/hydra_bstrap_proxy', 'bin/hydra_pmi_proxy',
         'opt/mpi/etc/tuning_generic', 'share/doc/mpi/licensing/')
LAUNCHER = PROJECT / 'easyconfigs/o/osu-native/osu-port'
#: Of which Pythons mpi4py is carried: nobody knows which one is there
PYTHONS = sorted((key for key in SOURCES if re.match(r'mpi4py-\d', key)), key=lambda key: int(key.split('.')[1]))
RANK_PROOF = PROJECT / 'osu_container' / 'rank-proof'
#: (benchmark, buffers, its own options); a program of MPI has two ranks. A message from GPU to GPU takes Intel MPI 150
#: microseconds of every size (measured on an H200, 2026-11-26): the 10,000 of osu_latency would be 48 s a run.
MPI_RUNS = (('osu_bw', 'D D'), ('osu_bw', 'H D'), ('osu_bw', 'D H'), ('osu_bw', 'H H'),
            ('osu_latency', 'D D', '-i', '1000'), ('osu_latency', 'H D'), ('osu_latency', 'H H'))
SHARED = 'two ranks on one GPU'
#: In a container: where Intel MPI is bound
INTEL_INSIDE = '/host/intel-mpi'
#: Where the image has the ports, which take GPU memory of any MPI that does
PORTS_INSIDE = '/opt/osu/bin/'
#: Seconds after which a run is given up
LIMIT = 300


class GpuRunError(Exception):
    """What keeps the run from beginning; the text names the thing, what was wanted, and what to do."""


def make(folder=FOLDER, sources=PROJECT / 'sources'):
    """
    Make the folder (Path) from sources, which are downloaded where they are missing. Return it.

    Raises ImageError if a source cannot be had.
    """
    keys = ['mpi4py-source', *PYTHONS, 'impi-rt', 'mpich-4.2.3']
    fetch.fetch(keys, sources, STATE / 'log' / 'gpu-fetch.log')
    path = {key: Path(sources) / catalogue.SOURCES[key]['file'] for key in keys}
    part = folder.with_name(f'{folder.name}.part')
    shutil.rmtree(part, ignore_errors=True)
    install_ports({'archive': path['mpi4py-source'], 'wheel': path[PYTHONS[-1]], 'launcher': LAUNCHER},
                  str(part / 'osu'), 'osu_', '/nowhere/libmpi.so.12')
    (part / 'osu' / 'lib' / 'libmpi.so.12').unlink()  # MPI comes by LD_LIBRARY_PATH, natively and in a container
    for key in PYTHONS[:-1]:
        _unpack(path[key], part / 'osu' / 'lib' / 'python', r'(mpi4py/MPI\.mpich\..*\.so)$')
    for file in (part / 'osu' / 'lib' / 'python' / 'mpi4py').glob('MPI.openmpi.*'):
        file.unlink()
    _unpack(path['impi-rt'], part / 'intel-mpi', rf".*/data/((?:{'|'.join(map(re.escape, INTEL))}).*)$")
    _unpack(path['mpich-4.2.3'], part / 'intel-mpi', r'.*/data/(lib/)mpich/(libfabric\.so\.1)$')
    for program in (part / 'intel-mpi' / 'bin').iterdir():
        program.chmod(0o755)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
    return folder


def _unpack(wheel, folder, wanted):
    """Unpack of a wheel (Path) what the expression wanted finds into folder; its groups are the path there."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            found = re.match(wanted, name)
            if found and not name.endswith('/'):
                target = folder / ''.join(found.groups())
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def pack(folder=FOLDER, packed=PACKED, limit=CARRIED):
    """
    Pack the folder (Path) into one file (Path) and return its size in bytes.

    Raises GpuRunError if it is larger than limit (bytes).
    """
    part = packed.with_name(f'{packed.name}.part')
    with tarfile.open(part, 'w:xz') as archive:
        archive.add(folder, folder.name)
    size = part.stat().st_size
    if size > limit:
        part.unlink()
        raise GpuRunError(f"{packed} has {size / 1e6:.0f} MB, at most {limit / 1e6:.0f} MB can be carried: leave out "
                          "what the machine has already")
    part.rename(packed)
    return size


def find(folder=FOLDER, packed=PACKED):
    """
    Return the folder (Path): as it is, else unpacked, else made from downloads.

    Raises GpuRunError if it is neither here nor can be made.
    """
    launcher = folder / 'osu' / 'libexec' / LAUNCHER.name
    if not launcher.is_file() and packed.is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            with tarfile.open(packed) as archive:
                archive.extractall(folder.parent)
        except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as err:
            raise GpuRunError(f"{packed} cannot be unpacked: {err}. Make it again: make gpu-pack") from err
    if not launcher.is_file():
        try:
            make(folder)
        except (fetch.ImageError, OSError) as err:
            raise GpuRunError(f"there is neither {folder} nor {packed}, and it cannot be made here: {err}. Make "
                              "it where there is a network (make gpu-pack), and carry the file here") from err
    if launcher.read_bytes() != LAUNCHER.read_bytes():
        shutil.copy(LAUNCHER, launcher)
    return folder


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

    :param folder: Path, from find(); image: Path of a SIF or None; environment: dict of str
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
    for benchmark, buffers, *options in MPI_RUNS:
        on_gpu = buffers != 'H H'
        for shared in ([False, True] if on_gpu and count > 1 else [on_gpu]):
            words = (benchmark, *options, *size, *(['-s'] if shared else []), *buffers.split())
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
        :param folder: Path of the run; carried: Path, from find(); image: Path or None; repeats: int
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
        # messages of 4 MiB take their time anyway, in the windows of osu_bw
        count = '2000' if '-m' in run.program or run.case.benchmark == 'osu_latency' else '200'
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
        return [str(self.carried / 'intel-mpi' / 'bin' / run.start[0]), *run.start[1:], *proof,
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


def main(arguments=None):
    """Run the command; return its exit code: 0 done, 1 an error, or a run that gave no numbers."""
    parser = argparse.ArgumentParser(prog='make gpu', description=__doc__.partition('\n\n')[0])
    parser.add_argument('what', choices=['run', 'pack'])
    parser.add_argument('--repeats', type=int, default=3, help="of each run, 3 without it")
    parser.add_argument('--largest', type=int, help="message in bytes; without it as the programs have it")
    parser.add_argument('--image', type=Path, help="SIF for the runs in a container")
    parser.add_argument('--output', type=Path, help="folder of the run, which must not be there yet")
    wanted = parser.parse_args(arguments)
    try:
        if wanted.what == 'pack':
            make()
            size = pack()
            print(f"{PACKED}: {size / 1e6:.1f} MB. Carry it with the clone; there: make gpu")
            return 0
        return _measure(wanted)
    except (GpuRunError, ImageError) as err:
        print(f"make gpu: {err}", file=sys.stderr)
        return 1


def _measure(wanted):
    """Measure; return the exit code."""
    gpus()  # before anything is unpacked or downloaded
    folder = wanted.output or select.results_folder() / time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
    images = sorted((PROJECT / 'sources').glob('osu-workstation-*.sif'))
    session = Session(folder.absolute(), find(), wanted.image or (images[0] if images else None),
                          repeats=wanted.repeats, largest=wanted.largest)
    print(f"{len(session.gpus['devices'])} GPU(s): {', '.join(session.gpus['devices'])}; results: {folder}")
    session.start(['make', 'gpu'])
    counts = session.go()
    print(', '.join(f'{number} {status}' for status, number in counts.items()))
    print(f"osu-container compare {folder}\nosu-container report {folder} -o gpu.html")
    return 0 if counts['ok'] and not counts['failed'] else 1


if __name__ == '__main__':
    sys.exit(main())

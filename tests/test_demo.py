"""
The orchestrator of `make demo`: what it says when a step fails, how it goes on, what it skips and why.

Steps are real commands in a small project; where Slurm, EasyBuild or the build of an image would take minutes, scripts
that leave the same files stand in their places. The real ones are run by the tests with the marks slurm and apptainer.
"""
import hashlib
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from osu_container import demo
from osu_container.results import run_files
from tests.helpers import bench_stand_in
from tests.helpers.bench_stand_in import script
from tests.helpers.machine import PROJECT, interruptible

pytestmark = pytest.mark.long

SIF = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'

EB = r'''#!/bin/bash
# In place of eb: leaves the module file of an easyconfig, and says what it was asked.
set -eu
echo "$*" >>"$ROOT/eb.calls"
echo "== building $1"
case $1 in
    osu-native.eb) file=osu-native/9.9 ;;
    osu-container-*.eb) file=osu-container/${1#osu-container-}; file=${file%.eb} ;;
esac
[ ! -e "$ROOT/eb.fails" ] || { echo "ERROR: Build of $1 failed: $(cat "$ROOT/eb.fails")"; exit 1; }
[ ! -e "$ROOT/eb.forgets" ] || exit 0
mkdir -p "$ROOT/modules/$(dirname "$file")"
echo "-- $1 $(date +%N)" >"$ROOT/modules/$file.lua"
'''
#: In place of bin/osu-container: builds no image, all else is the real command
BUILD = r'''#!PYTHON
import hashlib, os, sys, time
if sys.argv[1] != 'image':
    sys.path.insert(0, 'ROOT')
    from osu_container.cli import main
    sys.exit(main())
if os.path.exists('ROOT/sources/SIF') and os.path.exists('ROOT/current'):
    raise SystemExit(0)
open('ROOT/current', 'w').close()
with open('ROOT/build.calls', 'a') as calls:
    calls.write('build\n')
image = f'an image {time.time()}'
open('ROOT/sources/SIF', 'w').write(image)
open('ROOT/sources/SIF.sha256', 'w').write(f'{hashlib.sha256(image.encode()).hexdigest()}  SIF\n')
'''.replace('SIF', SIF).replace('PYTHON', sys.executable)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A small project: env.sh, scripts of the steps, easyconfigs, and the real programs of this one."""
    root = tmp_path / 'project'
    for name in ('osu_container', 'easyblocks'):
        shutil.copytree(PROJECT / name, root / name, ignore=shutil.ignore_patterns('__pycache__'))
    (root / 'workstation').mkdir()
    for approach, easyconfig, _ in demo.MODULES:
        folder = root / 'easyconfigs' / 'o' / ('osu-native' if approach == 'native' else 'osu-container')
        folder.mkdir(parents=True, exist_ok=True)
        (folder / easyconfig).write_text(f'# {easyconfig}\n')
    (root / 'sources').mkdir()
    (root / 'modules').mkdir()
    (root / 'env.sh').write_text('. /usr/share/lmod/lmod/init/bash\n'
                                 f'export ROOT={root} MODULEPATH={root}/modules PATH={root}/bin:$PATH\n')
    script(root / 'bin' / 'eb', EB)
    script(root / 'bin' / 'osu-container', BUILD.replace('ROOT', str(root)))
    (root / 'container-recipes').mkdir()
    (root / 'container-recipes' / 'workstation.py').write_text('# recipe\n')
    script(root / 'workstation' / 'slurm.sh', '#!/bin/sh\necho "slurm $1"\n')
    script(root / 'workstation' / 'host_mpi.sh', '#!/bin/sh\necho "==> host MPI"\n')
    for name in list(os.environ):
        if name.startswith(('LMOD', '_LM', '__LMOD', 'MODULE', 'LOADEDMODULES', 'SLURM_')):
            monkeypatch.delenv(name)
    age(root, 100)
    return root


def age(folder, seconds):
    """Make everything below folder seconds older than now."""
    then = time.time() - seconds
    for path in folder.rglob('*'):
        if path.is_file():
            os.utime(path, (then, then))


@pytest.fixture
def small(project):
    """The orchestrator on the small project."""
    return demo.Demo(project)


def calls(project, name='eb.calls'):
    """Return the lines that a script of the small project noted, and forget them."""
    path = project / name
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def make_image(project):
    (project / 'sources' / SIF).write_text('an image')
    digest = hashlib.sha256(b'an image').hexdigest()
    (project / 'sources' / f'{SIF}.sha256').write_text(f'{digest}  {SIF}\n')


# ---- failing and going on --------------------------------------------------------------------------------------------

def test_a_failing_step_says_which_why_and_how_to_go_on(project, small, capfd):
    script(project / 'workstation' / 'slurm.sh', '#!/bin/sh\nseq 30\necho "slurmctld does not answer" >&2\nexit 3\n')
    assert small.go() == 1
    out, err = capfd.readouterr()
    assert '[1/6] Slurm with two nodes' in out and '[2/6]' not in out
    assert 'demo: step 1/6 (slurm) failed: slurm.sh start failed (exit code 3)' in err
    assert f'Last lines of {project}/.workstation/log/slurm.log:' in err
    shown = [line.strip() for line in err.splitlines()]
    assert 'slurmctld does not answer' in shown and '30' in shown and '10' not in shown
    assert '`make demo` again' in err and '`make demo FROM=slurm`' in err


def test_the_same_command_goes_on_where_it_failed(project, small, capfd):
    (project / 'eb.fails').write_text('no space left on device')
    assert small.go() == 1
    out, err = capfd.readouterr()
    assert 'step 4/6 (install) failed: eb osu-native.eb -r failed (exit code 1)' in err
    assert 'ERROR: Build of osu-native.eb failed: no space left on device' in err
    assert calls(project, 'build.calls') == ['build'] and calls(project) == ['osu-native.eb -r']
    (project / 'eb.fails').unlink()
    assert small.go() == 1, 'there is no srun in the small project'
    out, err = capfd.readouterr()
    assert f'skipped: {SIF}' in out and calls(project, 'build.calls') == []
    assert len(calls(project)) == 5
    assert 'step 5/6 (run) failed' in err


def test_from_begins_with_that_step(project, small, capfd):
    (project / 'workstation' / 'slurm.sh').unlink()
    assert small.go('report') == 1
    out, err = capfd.readouterr()
    assert '[6/6] table and report' in out and '[5/6]' not in out and 'there are no results in' in err


def test_a_daemon_that_a_step_leaves_behind_does_not_hold_it(project, small):
    script(project / 'workstation' / 'slurm.sh', '#!/bin/sh\nsleep 20 &\necho $! >"$0.pid"\necho started\n')
    begin = time.monotonic()
    small.step_slurm()
    assert time.monotonic() - begin < 5
    os.kill(int((project / 'workstation' / 'slurm.sh.pid').read_text()), signal.SIGTERM)


@pytest.mark.parametrize('number, code, wait', [(signal.SIGINT, 130, 0), (signal.SIGTERM, 143, 0.1)])
def test_a_demo_that_is_ended_at_any_moment_leaves_nothing_running(project, number, code, wait):
    script(project / 'workstation' / 'slurm.sh', '#!/bin/sh\nsleep 60 &\nwait\n')
    begin = time.monotonic()
    child = subprocess.Popen([sys.executable, '-m', 'osu_container.demo'], cwd=project, stdout=subprocess.PIPE,
                             text=True, preexec_fn=interruptible)
    said = child.stdout.readline()  # the first step starts its command now
    time.sleep(wait * (time.monotonic() - begin))
    child.send_signal(number)
    assert child.wait(60) == code and said.startswith('[1/6]')
    left = [path.parent.name for path in Path('/proc').glob('[0-9]*/cwd') if place(path) == project]
    assert [pid for pid in left if alive(pid)] == []


def place(path):
    """Return the folder (Path) to which a link of /proc leads, None where its process has ended."""
    try:
        return path.resolve()
    except OSError:
        return None


def alive(pid):
    """Return True if the process pid runs (a zombie does not)."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


# ---- what is skipped -------------------------------------------------------------------------------------------------

def test_an_image_is_built_once(project, small):
    assert small.step_image().startswith(f'built: {SIF}') and calls(project, 'build.calls') == ['build']
    assert small.step_image().startswith(f'skipped: {SIF}') and calls(project, 'build.calls') == []


def test_an_image_that_does_not_have_its_sha256_is_an_error(project, small):
    small.step_image()
    (project / 'sources' / SIF).write_text('an ima')
    with pytest.raises(demo.StepError, match=f'{SIF} does not have the sha256 in {SIF}.sha256'):
        small.step_image()


def test_modules_are_installed_by_the_commands_a_user_types(project, small):
    make_image(project)
    assert small.step_install() == '5 installed, 0 skipped'
    assert calls(project) == ['osu-native.eb -r', 'osu-container-pure.eb -r', 'osu-container-bind.eb -r',
                              'osu-container-hybrid.eb -r', 'osu-container-opensource.eb -r']
    assert small.step_install() == '0 installed, 5 skipped' and calls(project) == []


def test_a_module_that_is_older_than_its_easyconfig_is_made_again(project, small, capfd):
    make_image(project)
    small.step_install()
    calls(project)
    age(project, 50)
    os.utime(project / 'easyconfigs' / 'o' / 'osu-container' / 'osu-container-bind.eb')
    assert small.step_install() == '1 installed, 4 skipped'
    assert calls(project) == ['osu-container-bind.eb -r --rebuild']
    assert 'because easyconfigs/o/osu-container/osu-container-bind.eb is newer' in capfd.readouterr().out


# ---- measuring -------------------------------------------------------------------------------------------------------

@pytest.fixture
def native(project, small, monkeypatch):
    """The orchestrator with the native module only, which runs on this machine without Slurm."""
    monkeypatch.setattr(demo, 'MODULES', demo.MODULES[:1])
    bench_stand_in.make_native(project, '9.9')
    script(project / 'bin' / 'srun', bench_stand_in.SRUN)
    script(project / 'bin' / 'salloc', bench_stand_in.SALLOC)
    return small


def calls_of_srun(project):
    return calls(project, 'srun.calls')


def test_a_run_leaves_results_table_and_report(project, native, capfd):
    assert native.go('run') == 0
    out = capfd.readouterr().out
    assert '5.0.2 host' in out and '2.5.1 host' in out
    assert 'Measured 20' in out and 'make demo RERUN=1' in out
    assert f'open {native.result}/report.html in a browser' in out and out.endswith(demo.NEXT + '\n')
    run = run_files.read(native.result)
    assert [(one.case.benchmark, one.name, one.repeats) for one in run.series] == [
        ('osu_bw', 'native', 2), ('osu_latency', 'native', 2)]
    assert run.of(name='native')[0].median(4194304) == 2097153.0
    assert (native.result / 'table.txt').read_text() in '\n'.join(line for line in out.splitlines()) + '\n'
    assert '<html' in (native.result / 'report.html').read_text()[:200]


def test_the_second_time_the_stored_table_is_printed(project, native, capfd):
    assert native.go('run') == 0
    first = native.result
    calls_of_srun(project)
    written = (first / 'report.html').stat().st_mtime_ns
    capfd.readouterr()
    again = demo.Demo(project)
    assert again.go('run') == 0
    out = capfd.readouterr().out
    assert again.result == first and calls_of_srun(project) == []
    assert 'skipped: ' in out and '5.0.2 host' in out and 'report.html' in out
    assert (first / 'report.html').stat().st_mtime_ns == written


def test_a_changed_module_is_measured_again_and_named(project, native, capfd):
    assert native.go('run') == 0
    with open(project / 'modules' / 'osu-native' / '9.9.lua', 'a') as handle:
        handle.write('-- changed\n')
    time.sleep(1.1)
    again = demo.Demo(project)
    assert again.go('run') == 0
    assert 'measuring again, because these changed: module osu-native' in capfd.readouterr().out


def test_a_module_that_cannot_be_loaded_shows_what_lmod_says(project, native, capfd):
    (project / 'modules' / 'osu-native' / '9.9.lua').write_text('LmodError("the image x.sif was deleted")\n')
    assert native.go('run') == 1
    err = capfd.readouterr().err
    assert '`module load osu-native` failed' in err and 'the image x.sif was deleted' in err


# ---- what the user sees ----------------------------------------------------------------------------------------------

LONG = '#!/bin/sh\nfor n in 1 2 2 2; do echo "part $n"; sleep 0.9; done\nexit 1\n'


def test_a_ci_log_gets_what_has_changed_and_no_carriage_returns(project, small, capfd):
    script(project / 'bin' / 'eb', LONG)
    small.screen.EVERY = 0.5
    assert small.go('install') == 1
    out = capfd.readouterr().out
    assert out.count(' s] eb osu-native.eb -r: part 2') == 1
    assert '\r' not in out and '\033' not in out


def test_a_terminal_has_one_line_that_is_rewritten(project):
    script(project / 'bin' / 'eb', LONG)
    parent, terminal = pty.openpty()
    child = subprocess.Popen([sys.executable, '-m', 'osu_container.demo', '--from', 'install'], cwd=project,
                             stdout=terminal, stderr=subprocess.DEVNULL)
    os.close(terminal)
    seen = b''
    while True:
        try:
            block = os.read(parent, 4096)
        except OSError:  # how Linux says that the other side is closed
            break
        seen += block
    os.close(parent)
    assert child.wait() == 1
    assert b'\r\033[K[' in seen and b'eb osu-native.eb -r: part 2' in seen


def test_wrong_steps_are_named(capsys):
    with pytest.raises(SystemExit) as caught:
        demo.arguments(['--from', 'nowhere'])
    assert caught.value.code == 2 and "invalid choice: 'nowhere'" in capsys.readouterr().err

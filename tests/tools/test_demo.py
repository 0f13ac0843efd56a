"""
`make demo` in a small project whose `eb` only writes modulefiles; bench, report, Lmod and the
ranks are real.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from osu_container.bench.results import run_files
from tests.helpers import bench_stand_in
from tests.helpers.bench_stand_in import write_script
from tests.helpers.machine import PROJECT, list_command_lines
from tools import demo

pytestmark = pytest.mark.system

EB = r'''#!/bin/bash
echo "$*" >>"$ROOT/eb.calls"
[ ! -e "$ROOT/eb.script" ] || . "$ROOT/eb.script"
case $1 in
    osu-native.eb) file=osu-native/9.9 ;;
    osu-container-*.eb) file=${1/osu-container-/osu-container/}; file=${file%.eb} ;;
esac
mkdir -p "$ROOT/modules/$(dirname "$file")"
touch "$ROOT/modules/$file.lua"
'''


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder (Path) with the files that the demo reads, 100 s old."""
    root = tmp_path / 'project'
    easyconfig = root / 'easyconfigs' / 'o' / 'osu-native' / 'osu-native.eb'
    easyconfig.parent.mkdir(parents=True)
    easyconfig.write_text('')
    os.utime(easyconfig, (time.time() - 100,) * 2)
    write_script(root / 'bin' / 'eb', EB)
    (root / 'scripts').mkdir()
    (root / 'scripts' / 'osu-container').symlink_to(PROJECT / 'scripts' / 'osu-container')
    (root / 'tools/workstation').mkdir(parents=True)
    shutil.copy(PROJECT / 'tools/workstation/eb_folder.sh', root / 'tools/workstation')
    (root / 'env.sh').write_text(
        f'. /usr/share/lmod/lmod/init/bash\nexport ROOT={root} MODULEPATH={root}/modules PATH={root}/bin:$PATH '
        f'EASYBUILD_INSTALLPATH_MODULES={root} EASYBUILD_SUFFIX_MODULES_PATH=modules\n'
    )
    for name in set(os.environ) - set(bench_stand_in.make_environment(root)):
        monkeypatch.delenv(name)
    return root


def read_eb_calls(project):
    """Return the arguments (list of str) of each call of eb since the last time."""
    path = project / 'eb.calls'
    calls = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return calls


def test_missing_and_outdated_modules_are_installed(project):
    demo.install_modules(project)
    assert read_eb_calls(project) == [f'{easyconfig} -r' for easyconfig in demo.MODULES.values()]
    demo.install_modules(project)
    assert read_eb_calls(project) == []
    os.utime(project / 'modules' / 'osu-container' / 'bind.lua', (time.time() - 200,) * 2)
    demo.install_modules(project)
    assert read_eb_calls(project) == ['osu-container-bind.eb -r --rebuild']


def test_a_failing_command_is_named(project, capfd):
    (project / 'eb.script').write_text('echo no space left; exit 3')
    assert demo.main(project) == 1
    output = capfd.readouterr()
    assert 'no space left' in output.out
    assert 'eb osu-native.eb -r' in output.err and ' 3' in output.err and 'make demo' in output.err


@pytest.mark.parametrize('steady, repeats', [(1.3, 2), (0.9, 4)])
def test_a_run_leaves_results_table_and_report(project, monkeypatch, capfd, steady, repeats):
    monkeypatch.setattr(demo, 'MODULES', {'osu-native': 'osu-native.eb'})
    monkeypatch.setattr(demo.demo_table, 'STEADY', steady)
    bench_stand_in.make_native(project, '9.9')
    write_script(project / 'bin' / 'srun', bench_stand_in.SRUN)
    write_script(project / 'bin' / 'salloc', bench_stand_in.SALLOC)
    assert demo.main(project) == 0
    (folder,) = (project / '.workstation' / 'results').iterdir()
    (series,) = run_files.read_results(folder).series
    assert (series.case.benchmark, series.repeats) == ('osu_latency', repeats)
    assert set(series.compute_medians().values()) == {1.0}, 'the percentile, not the mean'
    table = (folder / 'table.txt').read_text()
    assert '5.0.2 host' in table and table in capfd.readouterr().out
    assert '<html' in (folder / 'report.html').read_text()[:200]


def test_a_terminated_demo_leaves_no_command(project):
    (project / 'eb.script').write_text(
        'sleep 60 & echo $! >"$ROOT/pid.new"; mv "$ROOT/pid.new" "$ROOT/pid"; wait'
    )
    start = 'import sys, pathlib; from tools import demo; sys.exit(demo.main(pathlib.Path(sys.argv[1])))'
    child = subprocess.Popen([sys.executable, '-c', start, project], cwd=PROJECT)
    while not (project / 'pid').exists():
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) == 143
    assert not list_command_lines().get(int((project / 'pid').read_text())), 'gone, or a zombie'

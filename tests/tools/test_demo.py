"""
`make demo` in a small project whose `eb` only writes modulefiles; bench, report, Lmod and the
ranks are real.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from osu_container.bench.results import run_files
from osu_container.bench.results.model import Failure
from tests.helpers import bench_stand_in
from tests.helpers.bench_stand_in import write_script
from tests.helpers.example_runs import CASES, make_run
from tests.helpers.machine import PROJECT, list_command_lines
from tools import demo, demo_table

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


@pytest.mark.system
def test_missing_and_outdated_modules_are_installed(project):
    demo.install_modules(project)
    assert read_eb_calls(project) == [f'{easyconfig} -r' for easyconfig in demo.MODULES.values()]
    demo.install_modules(project)
    assert read_eb_calls(project) == []
    os.utime(project / 'modules' / 'osu-container' / 'bind.lua', (time.time() - 200,) * 2)
    demo.install_modules(project)
    assert read_eb_calls(project) == ['osu-container-bind.eb -r --rebuild']


@pytest.mark.system
def test_a_failing_command_is_named(project, capfd):
    (project / 'eb.script').write_text('echo no space left; exit 3')
    assert demo.main(project) == 1
    output = capfd.readouterr()
    assert 'no space left' in output.out
    assert 'eb osu-native.eb -r' in output.err and ' 3' in output.err and 'make demo' in output.err


@pytest.mark.system
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


@pytest.mark.system
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


# ---- the table that `make demo` prints


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run of three approaches with nothing wrong, on a terminal with room for the table."""
    monkeypatch.setenv('COLUMNS', '100')
    return run_files.read_results(
        make_run(tmp_path / 'run', cases=CASES[1:], scale={'pure': 0.8}, repeats=3, noise=0)
    )


def rows(run):
    lines = demo_table.render_demo_table(run).split('\n\n')[1].splitlines()
    return [line.split() for line in lines[1:]]


def test_a_row_has_loaded_libraries_and_speeds(run):
    native, pure, hybrid = rows(run)
    assert native[1:5] == ['5.0.2', 'host', '2.5.1', 'host']
    assert hybrid[1:5] == ['4.2.3', 'image', '2.5.1', 'host']
    assert hybrid[5:] == native[5:] and float(native[5]) == pytest.approx(2.2, abs=0.05)
    assert float(pure[6]) == pytest.approx(0.8 * float(native[6]), rel=0.01)


def test_a_speed_is_the_best_of_the_repeats(run):
    before = rows(run)
    for series in run.series:
        for size in demo_table.SIZES:
            series.values[size][2] *= 1000
    assert rows(run) == before


def test_unsteady_speeds_are_not_shown(run):
    for values in run.select_series(name='hybrid')[0].values.values():
        values.update({repeat: 2 * value for repeat, value in values.items()})
    assert [len(row) for row in rows(run)] == [5, 5, 5]
    assert 'make demo' in demo_table.render_demo_table(run)


def test_a_run_that_lacks_a_figure_has_no_table(run):
    del run.select_series(name='hybrid')[0].values[65536]
    run.failures.append(Failure(CASES[0], 'pure', 1, 'killed after 60 s'))
    run.modules['osu-container/pure']['problem'] = 'exit code 1'
    with pytest.raises(demo_table.MissingFiguresError) as caught:
        demo_table.render_demo_table(run)
    for part in (
        'hybrid.*osu_latency.*65536',
        'pure osu_bw H H.*killed after 60 s',
        'osu-container/pure.*exit code 1',
    ):
        assert re.search(part, str(caught.value))

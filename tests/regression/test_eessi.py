"""The EESSI test suite finds the benchmarks in our modules, and its tests run through them."""
import json
import os
import re
from pathlib import Path

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import runs_on
from osu_container.core.deciding.site_choice import site_entry
from osu_container.generate.easyconfigs import BLOCK
from tests.helpers import osu_archive
from tests.helpers.machine import PROJECT, STATE, clean_shell, run
from tests.helpers.osu_archive import RELEASE

pytestmark = pytest.mark.apptainer

FOLDER = PROJECT / 'easyconfigs' / 'o' / 'OSU-Micro-Benchmarks'
CONTAINERS = [name for name in APPROACHES
              if APPROACHES[name]['container'] and runs_on(APPROACHES[name], site_entry('workstation'))]
#: name of the EESSI module -> the module that it loads
MODULES = {f'{RELEASE}-osu-native': f'osu-native/{RELEASE}',
           **{f'{RELEASE}-osu-container-{name}': f'osu-container/{name}' for name in CONTAINERS}}
SITE = PROJECT / 'regression' / 'eessi_site.py'
#: image that the C programs are put into
IMAGE = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'


def test_there_is_an_easyconfig_for_every_approach():
    names = {path.name for path in FOLDER.glob('*.eb')}
    assert names == {f'OSU-Micro-Benchmarks-{RELEASE}-osu-container-{name}.eb' for name in APPROACHES
                     if APPROACHES[name]['container']} | {f'OSU-Micro-Benchmarks-{RELEASE}-osu-native.eb'}
    # beside the block of the software stacks, which is written
    assert all(len(BLOCK.sub('', path.read_text()).splitlines()) < 35 for path in FOLDER.glob('*.eb'))


def test_every_easybuild_installs_them_and_they_load_and_unload(any_eb):
    any_eb.local(f"SITE = 'workstation'\nROOT = '{STATE / 'host'}'\n")
    done = any_eb('osu-native.eb', *(f'OSU-Micro-Benchmarks-{name}.eb' for name in MODULES), '-r', timeout=600)
    assert done.returncode == 0, done.stdout[-3000:]
    for name, loaded in MODULES.items():
        shown = clean_shell(f'module use {any_eb.prefix}/modules/all\n'
                            f'module load OSU-Micro-Benchmarks/{name}; module -t list 2>&1; type -P osu_latency\n'
                            f'module unload OSU-Micro-Benchmarks/{name}; module -t list 2>&1; type -P osu_latency')
        lines = shown.stdout.split()
        assert lines[:2] in ([loaded, f'OSU-Micro-Benchmarks/{name}'], [f'OSU-Micro-Benchmarks/{name}', loaded]), lines
        assert lines[2] == f"{any_eb.prefix}/software/{loaded}/bin/osu_latency", shown.stdout + shown.stderr
        assert ' '.join(lines[3:]) == 'No modules loaded', shown.stdout
    swapped = clean_shell(f'module use {any_eb.prefix}/modules/all\n'
                          f'module load OSU-Micro-Benchmarks/{RELEASE}-osu-native\n'
                          f'module swap OSU-Micro-Benchmarks OSU-Micro-Benchmarks/{RELEASE}-osu-container-pure\n'
                          'type -P osu_latency')
    assert '/osu-container/pure/bin/osu_latency' in swapped.stdout, swapped.stderr


# ---- ReFrame with EESSI's test

@pytest.fixture(scope='module')
def shell(tmp_path_factory):
    """
    Function (script) that runs bash as a user has it after `. ./env.sh`, with a folder of the tests for modules.

    osu-native and hybrid are installed there with C programs that have the interface of the real ones, pure with
    mpi4py's ports.
    """
    folder = tmp_path_factory.mktemp('eessi')
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': os.environ['HOME'], 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(folder / 'prefix'), 'EASYBUILD_SOURCEPATH': str(folder / 'sources'),
                   'RFM_PREFIX': str(folder / 'reframe'), 'FOLDER': str(folder)}

    def call(script, timeout=300):
        text = f'set -eu; . {PROJECT}/env.sh; set +eu\nunset SLURM_JOB_NUM_NODES SLURM_NTASKS\n{script}\n'
        return run(['bash', '--norc', '-c', text], env=environment, timeout=timeout)

    started = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert started.returncode == 0, started.stdout + started.stderr
    sources = folder / 'sources'
    sources.mkdir()
    sha256 = osu_archive.make_archive(sources / osu_archive.ARCHIVE)
    built = run([PROJECT / 'bin' / 'osu-container', 'image', 'build', IMAGE, '--osu-archive',
                 sources / osu_archive.ARCHIVE, '--osu-sha256', sha256, '--output', sources / 'c.sif',
                 '--log', folder / 'build.log'], timeout=600)
    assert built.returncode == 0, built.stdout + built.stderr
    native = (PROJECT / 'easyconfigs/o/osu-native/osu-native.eb').read_text()
    (folder / 'osu-native.eb').write_text(re.sub(r"(?m)^(checksums = \[\s+)'\w{64}'", rf"\1'{sha256}'", native))
    done = call(f'eb $FOLDER/osu-native.eb OSU-Micro-Benchmarks-{RELEASE}-osu-native.eb -r && '
                'eb osu-container-hybrid.eb --try-amend=image=c.sif && '
                f'eb OSU-Micro-Benchmarks-{RELEASE}-osu-container-hybrid.eb '
                f'OSU-Micro-Benchmarks-{RELEASE}-osu-container-pure.eb -r',
                timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return call


REFRAME = (f'{STATE}/venv/bin/reframe --nocolor -C {SITE} --report-file=$FOLDER/report.json '
           f'-c $({STATE}/venv/bin/python -c "import eessi.testsuite.tests.apps as a; print(a.__path__[0])")/osu.py ')


@pytest.mark.full  # those of two nodes are listed when they run, below
def test_the_suite_lists_our_modules(shell):
    done = shell(f'{REFRAME} --list')
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^- (EESSI_OSU_\w+) %benchmark_info=\S+?(osu_\w+) .*'OSU-Micro-Benchmarks/([^']+)'\) "
                       r"%scale=(\w+)",
                       done.stdout, re.M)
    for module in [f'{RELEASE}-osu-{name}' for name in ('native', 'container-hybrid', 'container-pure')]:
        mine = {(test, benchmark, scale) for test, benchmark, name, scale in found if name == module}
        assert {('EESSI_OSU_pt2pt_CPU', benchmark, scale) for benchmark in ('osu_bw', 'osu_latency')
                for scale in ('2_cores', '1cpn_2nodes', '1_node', '2_nodes')} <= mine
        assert {('EESSI_OSU_coll', benchmark, '2_nodes') for benchmark in ('osu_alltoall', 'osu_allreduce')} <= mine
    assert not any('GPU' in test for test, *_ in found)  # EESSI 1.1.0 has CUDA in mind only


@pytest.mark.slurm
def test_its_tests_of_two_nodes_run_through_our_modules(shell):
    """With C programs that check what arrives (-c), natively and in the container."""
    done = shell(f"{REFRAME} -r -n 'EESSI_OSU_pt2pt_CPU.*(osu-native|hybrid).*scale=1cpn_2nodes'", timeout=600)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr
    session = json.loads((_folder(shell) / 'report.json').read_text())
    cases = [case for each in session['runs'] for case in each['testcases']]
    assert len(cases) == 4 and all(case['result'] == 'pass' for case in cases)
    assert {(*case['modules'], case['executable']) for case in cases} == {
        (f'OSU-Micro-Benchmarks/{RELEASE}-osu-{name}', program) for name in ('native', 'container-hybrid')
        for program in ('osu_bw', 'osu_latency')}
    assert all(value > 0 for case in cases for value, *_ in case['perfvalues'].values())
    logs = list((_folder(shell) / 'reframe' / 'perflogs').rglob('*.log'))
    assert logs and any('bandwidth' in path.read_text() or 'MB/s' in path.read_text() for path in logs)


@pytest.mark.slurm
def test_the_ports_of_mpi4py_pass_its_test_too(shell):
    """They check what arrives, which EESSI's test asks for (-c), and say so where it looks for it."""
    done = shell(f"{REFRAME} -r -n 'EESSI_OSU_pt2pt_CPU.*osu_latency.*pure.*scale=1cpn_2nodes'", timeout=600)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr


def _folder(shell):
    """Return the folder (Path) of the tests' modules and records."""
    return Path(shell('echo $FOLDER').stdout.split()[-1])

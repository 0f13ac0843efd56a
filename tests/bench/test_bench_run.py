"""`osu-container bench` over the private Slurm with the real modules: native, and every approach in a container."""
import re

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.results import run_files
from tests.helpers.machine import PROJECT, STATE, run
from tests.runs.test_approaches import MODULES

pytestmark = [pytest.mark.apptainer, pytest.mark.slurm]

#: Native, and another MPI in a container; bench does the same with the others
NAMES = ['native', 'openmpi']


@pytest.fixture(scope='module')
def done(shell, tmp_path_factory):
    """(CompletedProcess, Dataset) of one repeat of osu_alltoall with the modules of NAMES."""
    folder = tmp_path_factory.mktemp('bench') / 'run'
    modules = ' '.join(f'--module {MODULES[name]}' for name in NAMES)
    done = shell(f'{PROJECT}/bin/osu-container bench --tag quick --repeats 1 {modules} -o {folder} osu_alltoall',
                 timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done, run_files.read(folder)


def test_modules_are_measured_in_one_job(done):
    text, run = done[0].stdout, done[1]
    assert run.names == NAMES and run.problems == []
    assert [one for one in run.failures if not one.skipped] == []
    assert f'{len(NAMES)} measured, 0 failed' in text
    entries = [entry for _, entry in run_files.lines(run.path)[0] if entry['kind'] == 'measurement']
    jobs = {(entry['slurm']['job'], *entry['slurm']['nodes']) for entry in entries if entry['status'] == 'ok'}
    assert len(jobs) == 1 and jobs.pop()[1:] == ('node1', 'node2')
    assert run.facts['versions']['slurm'].startswith('slurm') and 'apptainer' in run.facts['versions']['runtime']


@pytest.mark.parametrize('approach', NAMES)
def test_every_rank_is_on_record_with_what_it_loaded(done, approach):
    for one in done[1].of(name=approach):
        ranks, = one.facts['proofs'][0]
        assert ranks['ranks'] == [0, 1] and ranks['nodes'] == ['node1', 'node2']
        for name, owner in APPROACHES[approach]['comes_from'].items():
            assert ranks['libraries'][name]['where'] == owner
        assert one.medians()[16384] > 0
    module = next(entry for entry in done[1].modules.values() if entry['approach'] == approach)
    # MPICH says both; of another MPI the proof of the ranks tells the provider
    assert module['network']['provider'] == 'tcp'
    assert (module['network']['netmod'] is None) == (approach == 'openmpi')
    assert ('image' in module) == APPROACHES[approach]['container']


def test_device_buffers_are_left_out_with_their_reason(shell):
    done = shell(f'{PROJECT}/bin/osu-container bench --tag quick --dry-run osu_bw')
    reason = r'left out:\n  site workstation has no GPU for buffers D D\n'
    left_out = re.search(reason + r' +(.*) and (\d+) more$', done.stdout)
    assert left_out, done.stdout + done.stderr
    named = left_out.group(1).split(', ')
    assert {name.rpartition('-')[2] for name in named} < set(APPROACHES)
    assert len(named) + int(left_out.group(2)) == len(APPROACHES)  # every module that is installed


@pytest.fixture
def slurmd():
    """The process (int) of the daemon of node2; the private Slurm is in order afterwards."""
    lines = (STATE / 'slurm' / 'pids').read_text().splitlines()
    pid, = (int(line.split()[1]) for line in lines if line.startswith('slurmd-node2 '))
    yield pid
    back()


def back():
    """Let the node come back whose daemon was killed."""
    done = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.full
def test_a_node_that_goes_down_is_no_result_and_the_run_is_resumable(shell, slurmd, tmp_path):
    folder = tmp_path / 'run'
    began = shell(f'(osu-container bench --tag quick --repeats 2 --module osu-native --module osu-container/hybrid '
                  f'-o {folder} osu_alltoall >{tmp_path}/out 2>{tmp_path}/err; echo $? >{tmp_path}/code) &\n'
                  f'for i in $(seq 600); do grep -qs \'"kind": "measurement"\' {folder}/results.jsonl && break; '
                  f'sleep 0.1; done; kill -9 {slurmd}; wait', timeout=250)
    assert (tmp_path / 'code').read_text() == '1\n', began.stderr
    said = (tmp_path / 'err').read_text()
    assert 'node node2 takes no step: ' in said and f'osu-container bench --resume {folder}' in said, said
    first = (folder / run_files.NAME).read_text()
    assert '"failed"' not in first and '"kind": "end"' not in first
    back()
    done = shell(f'osu-container bench --resume {folder}', timeout=250)
    assert done.returncode == 0 and (folder / run_files.NAME).read_text().startswith(first), done.stderr
    found = [(entry['module'], entry['repeat'], entry['status'])
             for _, entry in run_files.lines(folder / run_files.NAME)[0] if entry['kind'] == 'measurement']
    assert len(found) == len(set(found)) == 4 and {one[2] for one in found} == {'ok'}

"""
`osu-container bench` over the private Slurm with the real modules: native, and every approach in
a container.
"""

import pytest

from osu_container.bench.results import run_files
from osu_container.data.approaches import APPROACHES
from tests.helpers.machine import PROJECT, assert_success
from tests.runs.test_approaches import MODULES

pytestmark = [pytest.mark.system, pytest.mark.usefixtures('slurm')]

#: Native, and another MPI in a container; bench does the same with the others
NAMES = ['native', 'openmpi']


@pytest.fixture(scope='module')
def finished_run(shell, tmp_path_factory):
    """(CompletedProcess, Dataset) of one repeat of osu_alltoall with the modules of NAMES."""
    folder = tmp_path_factory.mktemp('bench') / 'run'
    modules = ' '.join(f'--module {MODULES[name]}' for name in NAMES)
    done = shell(
        f'{PROJECT}/scripts/osu-container bench --tag quick --repeats 1 {modules} -o {folder} osu_alltoall',
        timeout=600,
    )
    assert_success(done)
    return done, run_files.read_results(folder)


def test_modules_are_measured_in_one_job(finished_run):
    text, run = finished_run[0].stdout, finished_run[1]
    assert run.names == NAMES and run.problems == []
    assert [one for one in run.failures if not one.is_skipped] == []
    assert f'{len(NAMES)} measured, 0 failed' in text
    entries = [
        entry for _, entry in run_files.read_entries(run.path)[0] if entry['kind'] == 'measurement'
    ]
    jobs = {
        (entry['slurm']['job'], *entry['slurm']['nodes'])
        for entry in entries
        if entry['status'] == 'ok'
    }
    assert len(jobs) == 1 and jobs.pop()[1:] == ('node1', 'node2')
    assert (
        run.facts['versions']['slurm'].startswith('slurm')
        and 'apptainer' in run.facts['versions']['runtime']
    )


@pytest.mark.parametrize('approach', NAMES)
def test_every_rank_records_its_loaded_libraries(finished_run, approach):
    for one in finished_run[1].select_series(name=approach):
        (ranks,) = one.facts['proofs'][0]
        assert ranks['ranks'] == [0, 1] and ranks['nodes'] == ['node1', 'node2']
        for name, owner in APPROACHES[approach]['comes_from'].items():
            assert ranks['libraries'][name]['where'] == owner
        assert one.compute_medians()[16384] > 0
    module = next(
        entry for entry in finished_run[1].modules.values() if entry['approach'] == approach
    )
    # MPICH says both; of another MPI the proof of the ranks tells the provider
    assert module['network']['provider'] == 'tcp'
    assert (module['network']['netmod'] is None) == (approach == 'openmpi')
    assert bool(module['image']) == APPROACHES[approach]['container']

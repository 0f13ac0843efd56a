"""Random pairs of an image and a host: check is asked, then they run. 10 in each run of the tests, 300 each night."""
import datetime
import re

import pytest

from osu_container.core.deciding import verdict as verdict_rules
from osu_container.core.deciding.rules.finding import Finding, finding, rule
from osu_container.core.deciding.verdict import Verdict
from tests.helpers.machine import PROJECT, run
from tests.stand_in.pairs import cases, parts, running
from tests.stand_in.tree import StandInError

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
                                  cases.draws(1, 10, few=True).items()])
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


@pytest.mark.apptainer
@pytest.mark.slurm
def test_a_rule_that_says_too_much_is_noticed(slurm, monkeypatch):
    @rule('symbol version', source='')
    def wrong(trial):
        """Nothing that is true."""
        yield finding('fails', 'x needs FABRIC_1.7 of y')
    monkeypatch.setattr(verdict_rules, 'RULES', [*verdict_rules.RULES, wrong])
    one = running.tried(cases.PLAIN)
    assert (one.verdict, one.outcome.happened, one.agrees) == ('fails', 'runs', 'wrong')


@pytest.mark.apptainer
@pytest.mark.slurm
def test_a_run_over_another_libfabric_than_meant_is_none(slurm, monkeypatch):
    # nothing is injected: the image's own libfabric, which works as well, is loaded
    monkeypatch.setattr(running, '_environment', lambda settings, binds, real=running._environment: {
        name: value for name, value in real(settings, binds).items()
        if not name.startswith(settings.inside.env_prefix)})
    one = running.tried(cases.PLAIN)
    assert (one.agrees, one.outcome.text) == ('wrong', 'ran with libfabric of: image')


@pytest.mark.slurm
def test_a_run_that_hangs_is_ended_and_says_so(slurm, monkeypatch):
    monkeypatch.setattr(running, 'LIMIT', 4)
    output = running.srun(['sleep', '300'], running.usual_environment())
    found = running.happened(output, {})
    assert (found.happened, found.text) == ('fails', 'ended after 4 s: it hangs')


@pytest.mark.slurm
def test_slurm_that_does_not_answer_is_no_result(tmp_path):
    empty = tmp_path / 'slurm.conf'
    empty.write_text('')
    with pytest.raises(StandInError, match='Slurm did not run the pair'):
        running.srun(['true'], dict(running.usual_environment(), SLURM_CONF=str(empty)))


# What is drawn

def test_a_seed_always_draws_the_same_case_and_others_draw_others():
    assert cases.draws(7, 50) == cases.draws(7, 50)
    assert len(set(cases.draws(7, 200).values())) == 200


@pytest.mark.parametrize('few', [True, False])
def test_each_value_of_each_field_is_drawn(few):
    drawn = [cases.draw(seed, few) for seed in range(4000)]
    for field, choices in cases.CHOICES.items():
        choices = cases.FEW.get(field, choices) if few else choices
        assert {getattr(case, field) for case in drawn} >= set(choices), field


def test_a_drawn_case_can_be_made_and_is_as_plain_as_it_runs():
    for seed in range(500):
        case = cases.draw(seed)
        assert cases.sensible(case) == case
        assert (cases.family(case.mpi) == 'Open MPI') <= (case.approach in ('openmpi', 'pure', 'opensource', 'bind'))
        assert (case.found != 'environment') <= (case.spelling == cases.PLAIN.spelling)


def test_every_part_of_a_choice_is_known():
    for field in ('mpi', 'libfabric', 'host', 'host_mpi', 'host_ompi'):
        for value in cases.CHOICES[field]:
            assert value in parts.WHEELS or value in parts.SUITES or value in cases.DEBIANS_MPI + [
                'own', 'none', 'debian'], value
    for source in parts.WHEELS.values():
        assert re.fullmatch('[0-9a-f]{64}', source['sha256']) and source['file'].endswith('.whl')


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

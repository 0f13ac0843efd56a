"""stand-in/pairs: what it draws, how it judges, and pairs for real: 10 in each run of the tests, 300 in the nightly."""
import datetime
import json
import re

import pytest

from osu_container.core.deciding import verdict as verdict_rules
from osu_container.core.deciding.rules.finding import Finding, finding, rule
from osu_container.core.deciding.verdict import Verdict
from osu_container.stand_in.pairs import cases, cli, parts, running, shrinking
from osu_container.stand_in.tree import StandInError
from tests.helpers.machine import PROJECT, run

PROGRAM = PROJECT / 'stand-in' / 'pairs'
#: Drawn anew each night; the name of the test tells the seed
TONIGHT = int(datetime.date.today().strftime('%Y%m%d')) * 1000


@pytest.fixture(scope='module')
def slurm():
    """The private Slurm, running."""
    done = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert done.returncode == 0, done.stdout + done.stderr


def told(one):
    """Return what a test that fails should say (str) of a Tried."""
    return f"{cases.title(one.case)}\n{one.why}\n{one.because}\n" \
           f"stand-in/pairs --case '{json.dumps(cli.odd(one.case), ensure_ascii=False)}'\n{one.outcome.output}"


# For real

@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('case', [pytest.param(case, id=f'seed-{seed}') for seed, case in
                                  cases.draws(1, cli.COUNT, few=True).items()])
def test_a_random_pair_is_judged_as_it_runs(case, slurm):
    one = running.tried(case)
    assert one.agrees != 'wrong', told(one)


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
@pytest.mark.parametrize('about', cli.kept())
def test_what_was_wrong_once_is_right_or_unknown(about, slurm):
    one = running.tried(cli.kept()[about])
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
        name: value for name, value in real(settings, binds).items() if not name.startswith(settings.env_prefix)})
    one = running.tried(cases.PLAIN)
    assert (one.agrees, one.outcome.text) == ('wrong', 'ran with libfabric of: image')


@pytest.mark.slurm
def test_a_run_that_hangs_is_ended_and_says_so(slurm, monkeypatch):
    monkeypatch.setattr(running, 'LIMIT', 4)
    output = running.srun(['sleep', '300'], running.usual_environment())
    found = running.happened(output, {})
    assert (found.happened, found.text) == ('fails', 'ended after 4 s: it hangs')


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
        assert (cases.family(case.mpi) == 'Open MPI') <= (case.approach in ('openmpi', 'pure', 'opensource'))
        assert (case.found != 'environment') <= (case.spelling == cases.PLAIN.spelling)


def test_every_part_of_a_choice_is_known():
    for field in ('mpi', 'libfabric', 'host', 'host_mpi'):
        for value in cases.CHOICES[field]:
            assert value in parts.WHEELS or value in parts.SUITES or value in cases.DEBIANS_MPI + [
                'own', 'none', 'debian'], value
    for source in parts.WHEELS.values():
        assert re.fullmatch('[0-9a-f]{64}', source['sha256']) and source['file'].endswith('.whl')


# The smallest case

@pytest.mark.parametrize('needed', [{}, {'form': 'sif'}, {'mpi': 'mpich-5.0.0', 'setting': 'netmod ucx'},
                                    {'found': 'environment', 'spelling': 'loop'}])
def test_a_case_shrinks_to_what_is_needed(needed):
    start = cases.Case(**{**cases.draw(3)._asdict(), 'approach': 'hybrid', 'mpi': 'mpich-4.0.3', 'form': 'sif',
                          'found': 'environment', 'spelling': 'loop', 'cache': 'stale', **needed,
                          **({'setting': 'LD_BIND_NOW'} if 'setting' not in needed else {})})
    asked = []

    def differs(case):
        asked.append(case)
        return all(getattr(case, field) == value for field, value in needed.items())
    smallest = shrinking.shrunk(start, differs)
    assert cli.odd(smallest) == needed
    assert len(asked) == len(set(asked)) <= 40


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


SAYS_FABRIC = ('symbol version', 'image:/lib/libmpi.so.12 needs FABRIC_1.7, FABRIC_1.8 of libfabric.so.1, but /x ends')
SAYS_MISSING = ('missing library', '/lib/libfabric.so.1 needs libefa.so.1, which neither the host nor the image has')
SAYS_SYMBOL = ('undefined symbol', '/lib/liba.so.1 of the host needs efadv_query@EFA_1.1, other, which no library has')


@pytest.mark.parametrize('said, output, named', [
    (SAYS_FABRIC, "libfabric.so.1: version `FABRIC_1.7' not found (required by x)", True),
    (SAYS_FABRIC, "libfabric.so.1: version `FABRIC_1.9' not found (required by x)", False),
    (SAYS_FABRIC, 'Segmentation fault', False),
    (SAYS_MISSING, 'libefa.so.1: cannot open shared object file: No such file or directory', True),
    (SAYS_MISSING, 'libnuma.so.1: cannot open shared object file: No such file or directory', False),
    (SAYS_SYMBOL, 'symbol lookup error: /x: undefined symbol: efadv_query, version EFA_1.1', True),
    (SAYS_SYMBOL, 'symbol lookup error: /x: undefined symbol: another', False),
    (('musl', 'no text for this'), 'whatever', None),
])
def test_a_cause_counts_only_where_the_run_names_it(said, output, named):
    outcome = running.happened(output, HYBRID)
    assert running.cause(verdict('fails', findings=[said]).findings, outcome) is named


# What is kept

def test_no_path_of_the_machine_is_recorded():
    text = cli.KEPT.read_text()
    for path in (str(PROJECT), parts.STATE.name, '/tmp/', '/root/', '/home/'):
        assert path not in text, path


# The command

@pytest.mark.parametrize('arguments, code, said', [
    (['--list', '--count', '3', '--seed', '5'], 0, 'seed 5: '),
    (['--list', '--kept'], 0, 'all plain'),
    (['--list', '--case', '{"mpi": "mpich-5.0.0"}'], 0, 'mpi mpich-5.0.0'),
    (['--case', '{"mpi": "mpich-9"}'], 2, "no such value: mpi 'mpich-9'"),
    (['--case', '{"colour": "red"}'], 2, 'Wanted is a JSON object with fields of: approach'),
    (['--case', 'red'], 2, 'Wanted is a JSON object'),
    (['--count', '0'], 2, '--count 0: at least 1 is wanted'),
])
def test_the_command_lists_and_refuses(arguments, code, said):
    done = run([PROGRAM, *arguments])
    assert done.returncode == code and said in done.stdout + done.stderr, done.stdout + done.stderr
    assert 'Traceback' not in done.stderr

"""
Random pairs of an image and a host: check is asked, then they run. 4 in each run of the tests,
300 each night.
"""

import datetime

import pytest

from osu_container.verdict import verdict as verdict_rules
from tests.stand_in.pairs import cases, running

pytestmark = pytest.mark.system

#: Drawn anew each night; the name of the test tells the seed
TONIGHT = int(datetime.date.today().strftime('%Y%m%d')) * 1000


def format_result(one):
    """Return what a test that fails should say (str) of a Tried."""
    lines = (
        one.why,
        f'on paper: {one.on_paper}, by the start: {one.by_start}',
        one.because,
        one.outcome.output,
    )
    return '\n'.join((str(cases.list_unusual_fields(one.case)), *lines))


# For real


@pytest.mark.parametrize(
    'case',
    [
        pytest.param(case, id=f'seed-{seed}')
        for seed, case in cases.draw_cases(1, 4, few=True).items()
    ],
)
def test_a_random_pair_is_judged_as_it_runs(case, slurm):
    one = running.try_case(case)
    assert 'wrong' not in (one.agrees, one.on_paper[0], one.by_start[0]), format_result(one)


@pytest.mark.nightly
@pytest.mark.parametrize(
    'case',
    [
        pytest.param(case, id=f'seed-{seed}')
        for seed, case in cases.draw_cases(TONIGHT, 300).items()
    ],
)
def test_nightly_random_pair_is_judged_as_it_runs(case, slurm):
    one = running.try_case(case)
    assert 'wrong' not in (one.agrees, one.by_start[0]), format_result(one)


#: By the loader, and by nothing before it
TOO_OLD = cases.PLAIN._replace(mpi='mpich-5.0.2', host='mpich-4.2.3')


@pytest.mark.nightly
def test_missing_rule_is_noticed(slurm, monkeypatch):
    assert running.try_case(TOO_OLD).agrees == 'right'
    rules = [one for one in verdict_rules.RULES if one.name != 'symbol version']
    monkeypatch.setattr(verdict_rules, 'RULES', rules)
    one = running.try_case(TOO_OLD)
    assert (one.outcome.result, one.agrees) == (
        'fails',
        'wrong',
    ) and 'FABRIC_1.9' in one.outcome.text

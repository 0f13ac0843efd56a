"""
A verdict names the untested facts that it rests on: exactly those whose change would change it.

The oracle knows nothing of verdict/evidence.py: a fact counts if another value of it makes another
trial.
"""

import copy
import json

import pytest

from osu_container.check.described import describe_catalogue_image
from osu_container.check.public_hosts import find_host_description
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites.schema import SHAPES
from osu_container.discover.host_facts import DescribedHost
from osu_container.verdict.facts import list_warnings
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.finding import FACT_KINDS, NOTE
from osu_container.verdict.settings import resolve_approach
from osu_container.verdict.site_choice import SettingsError, resolve_site
from osu_container.verdict.trial import build_trial
from osu_container.verdict.verdict import (
    Verdict,
    format_verdict,
    judge_trial,
    recommend_approach,
)
from tests.helpers.verdict_cases import (
    GPU,
)

CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]


def list_facts(site):
    """
    Return {name: fact} of all facts of a site (dict) by the names that verdicts have for them.
    """
    found = {key: fact for key, fact in site.items() if key in SHAPES}
    for table in ('libraries', 'files'):
        found.update((f'{table}.{key}', fact) for key, fact in site[table].items() if fact)
    return found


def list_other_values(name, value):
    """Return other values (list) of a fact, by its name."""
    if name == 'provider':
        return [one for one in ('verbs', 'cxi') if one != value]
    if name == 'gpu':
        return [one for one in ('gfx90a', 'sm_80', None) if one != value]
    if name == 'gpu_userland':
        return [['1.0', '1.1']]
    if name == 'gpu_driver':
        return ['400']
    if name == 'pmi':
        return [{who: kind + '-other' for who, kind in value.items()}]
    if name.startswith('libraries.'):
        return [value + '.other']
    if isinstance(value, dict):
        return [{}]
    return [[]] if isinstance(value, list) else [None]


def compute_outcome(approach, site, opened, host):
    """Return all that shows in a trial and its verdict, but for notes and what it rests on."""
    try:
        trial = build_trial(approach, site, opened, host)
        verdict = judge_trial(trial)
    except SettingsError as err:
        return str(err)
    return (
        verdict.level,
        [finding for finding in verdict.findings if finding.level != NOTE],
        verdict.mpi,
        verdict.libfabric,
        verdict.pmi,
        [facts.path for facts in trial.injected.values()],
        trial.missing_paths,
        [name for name, _ in trial.missing_dependencies],
    )


def mark_all_measured(site, data):
    """Return (site, description) in which every word of evidence is 'measured'."""
    site, data = json.loads(json.dumps(site)), copy.deepcopy(data)  # each fact a dict of its own
    for fact in list_facts(site).values():
        fact['evidence'] = 'measured'
    for one in [data['glibc'], *(one for several in data['libraries'].values() for one in several)]:
        one['evidence'] = 'measured'
    return site, data


def vary_fact(site, name):
    """Yield site (dict) with other values of the fact of that name."""
    for value in list_other_values(name, list_facts(site)[name]['value']):
        changed = copy.deepcopy(site)
        list_facts(changed)[name]['value'] = value
        yield changed


def mark_untested(site, name):
    """Return site (dict) with the fact of that name untested."""
    site = copy.deepcopy(site)
    list_facts(site)[name]['evidence'] = 'untested'
    return site


#: One for each kind of launcher, MPI and GPU
REPRESENTATIVE = ['workstation', 'lumi-25.03', 'alps', 'frontier', 'perlmutter', 'polaris']


def list_pairs():
    """Return (site, approach) of all images that sites name."""
    return [
        (name, approach)
        for name in REPRESENTATIVE
        for approach in CONTAINERS
        if resolve_site(name)['images']['value'].get(approach)
    ]


@pytest.mark.parametrize('site_name, approach', list_pairs())
def test_only_untested_facts_of_the_approach_are_named(site_name, approach):
    """
    One fact after another is called untested, and gets another value: the text changes where the
    outcome does.
    """
    entry = resolve_approach(approach)
    site, data = mark_all_measured(
        resolve_site(site_name), find_host_description(resolve_site(site_name))
    )
    opened, host = (
        describe_catalogue_image(site['images']['value'][approach], data['machine']),
        DescribedHost(data),
    )
    before = compute_outcome(entry, site, opened, host)
    assert before[0] == 'works' or {finding.rule for finding in before[1]} <= {
        'TCP only',
        'libcxi and driver',
        'not seen over cxi',
        'facts of the host',
    }
    assert judge_trial(build_trial(entry, site, opened, host)).untested_facts == []
    named, counts = set(), {'runtime'}  # every container is started by it, and no trial runs one
    for name in set(list_facts(site)) - {
        'libraries.liblustreapi'
    }:  # for one function, which no program here calls
        verdict = judge_trial(build_trial(entry, mark_untested(site, name), opened, host))
        assert verdict.untested_facts in ([], [name])
        assert verdict.level in format_verdict(verdict)
        assert (
            (name in format_verdict(verdict))
            == bool(verdict.untested_facts)
            == (format_verdict(verdict) != verdict.level)
        )
        named.update(verdict.untested_facts)
        if any(
            compute_outcome(entry, one, opened, host) != before for one in vary_fact(site, name)
        ):
            counts.add(name)
    if before[0] in ('unknown', 'fails'):  # only what the reason rests on
        assert named <= counts
    else:
        assert named == counts


def test_every_rule_names_known_kinds_of_facts():
    assert {kind for rule in RULES for kind in rule.facts} <= set(FACT_KINDS)
    assert len({rule.name for rule in RULES}) == len(RULES)


# ---- what follows from it


def make_verdict(approach, level='works', untested=()):
    return Verdict(approach, level, [], 'mpi', 'libfabric', 'pmi2', list(untested))


@pytest.mark.parametrize(
    'verdicts, wanted',
    [
        ([make_verdict('opensource', untested=['pmi']), make_verdict('hybrid')], 'hybrid'),
        (
            [
                make_verdict('opensource', untested=['runtime']),
                make_verdict('hybrid', untested=['runtime', 'pmi']),
            ],
            'opensource',
        ),
        ([make_verdict('bind', untested=['pmi']), make_verdict('pure', 'works slowly')], 'bind'),
    ],
)
def test_tested_approach_wins_among_equal_verdicts(verdicts, wanted):
    assert recommend_approach(verdicts, resolve_site(GPU)) == wanted


def test_eb_prints_the_evidence_of_a_verdict():
    facts = {
        'verdict': {
            'level': 'works',
            'untested': ['pmi', 'libraries.libpals'],
            'findings': [{'rule': 'x', 'level': NOTE, 'reason': 'a note', 'remedy': ''}],
        }
    }
    (said_by_eb,) = list_warnings(facts)
    assert (
        'pmi, libraries.libpals' in said_by_eb
        and "'works'" in said_by_eb
        and 'osu-container proof' in said_by_eb
    )
    assert list_warnings({'verdict': dict(facts['verdict'], untested=[])}) == []

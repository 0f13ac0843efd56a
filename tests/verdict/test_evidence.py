"""What a verdict rests on that is untested: named are those facts that count, held against a change of their values.

The oracle knows nothing of verdict/evidence.py: a fact counts if another value of it makes another trial.

Verdicts on images for networks that none of the known sites has, all approaches: the levels, and what is recommended.

Nobody here has such cards: what follows from the files is derived (data/networks.py names the sources).
"""

import copy
import json

import pytest

from osu_container.check.described import our_image
from osu_container.check.public_hosts import description_of
from osu_container.data.approaches import APPROACHES
from osu_container.data.sites.schema import EVIDENCE, NO_FACT
from osu_container.discover.host_facts import DescribedHost
from osu_container.verdict.evidence import KINDS, RESTS_ON
from osu_container.verdict.facts import warnings
from osu_container.verdict.layers import layer_of, parts_of
from osu_container.verdict.rules import RULES
from osu_container.verdict.rules.finding import NOTE, layer
from osu_container.verdict.settings import approach_entry
from osu_container.verdict.site_choice import SettingsError, site_entry
from osu_container.verdict.trial import trial_of
from osu_container.verdict.verdict import Verdict, ask, recommended, said, verdict_of
from tests.helpers.elf_folder import mpich, open_mpi
from tests.helpers.verdict_cases import (
    BROADCOM,
    GPU,
    INFINIBAND,
    OPEN_MPI_UCX,
    PLAIN,
    UCX_WHOLE,
    VERBS,
    World,
    each,
    image,
    network,
    over_ucx,
    rdma_core,
)

CONTAINERS = [name for name in APPROACHES if APPROACHES[name]['container']]


def facts_of(site):
    """Return {name: fact} of all facts of a site (dict) by the names that verdicts have for them."""
    found = {key: fact for key, fact in site.items() if key not in NO_FACT and isinstance(fact, dict)}
    for table in ('libraries', 'files'):
        found.update((f'{table}.{key}', fact) for key, fact in site[table].items() if fact)
    return found


def others(name, value):
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


def outcome(approach, site, opened, host):
    """Return all that shows in a trial and its verdict, but for what it rests on."""
    try:
        trial = trial_of(approach, site, opened, host)
        verdict = verdict_of(trial)
    except SettingsError as err:
        return str(err)
    return (verdict.level, verdict.findings, verdict.mpi, verdict.libfabric, verdict.launch,
            [facts.path for facts in trial.taken.injected.values()], trial.taken.gone,
            [name for name, _ in trial.taken.lacking])


def all_seen(site, data):
    """Return (site, description) in which every word of evidence is 'measured'."""
    site, data = json.loads(json.dumps(site)), copy.deepcopy(data)  # each fact a dict of its own
    for fact in facts_of(site).values():
        fact['evidence'] = 'measured'
    for one in [data['glibc'], *(one for several in data['libraries'].values() for one in several)]:
        one['evidence'] = 'measured'
    return site, data


def with_others(site, name):
    """Yield site (dict) with other values of the fact of that name."""
    for value in others(name, facts_of(site)[name]['value']):
        changed = copy.deepcopy(site)
        facts_of(changed)[name]['value'] = value
        yield changed


def with_word(site, name):
    """Return site (dict) with the fact of that name untested."""
    site = copy.deepcopy(site)
    facts_of(site)[name]['evidence'] = 'untested'
    return site


#: One for each kind of launcher, MPI and GPU
REPRESENTATIVE = ['workstation', 'lumi-25.03', 'alps', 'frontier', 'perlmutter', 'polaris']


def pairs():
    """Return (site, approach) of all images that sites name."""
    return [(name, approach) for name in REPRESENTATIVE for approach in CONTAINERS
            if site_entry(name)['images']['value'].get(approach)]


@pytest.mark.parametrize('site_name, approach', pairs())
def test_an_untested_fact_is_named_if_and_only_if_the_approach_uses_it(site_name, approach):
    """One fact after another is called untested, and gets another value: the text changes where the outcome does."""
    entry = approach_entry(approach)
    site, data = all_seen(site_entry(site_name), description_of(site_entry(site_name)))
    opened, host = our_image(site['images']['value'][approach], data['machine']), DescribedHost(data)
    before = outcome(entry, site, opened, host)
    assert verdict_of(trial_of(entry, site, opened, host)).untested == []
    named, counts = set(), {'runtime'}  # every container is started by it, and no trial runs one
    for name in set(facts_of(site)) - {'libraries.liblustreapi'}:  # for one function, which no program here calls
        verdict = verdict_of(trial_of(entry, with_word(site, name), opened, host))
        assert verdict.untested in ([], [name]) and said(verdict).startswith(verdict.level)
        assert (name in said(verdict)) == bool(verdict.untested) == (said(verdict) != verdict.level)
        named.update(verdict.untested)
        if any(outcome(entry, one, opened, host) != before for one in with_others(site, name)):
            counts.add(name)
    if before[0] in ('unknown', 'fails'):  # only what the reason rests on
        assert named <= counts
    else:
        assert named == counts


@pytest.mark.parametrize('name, named', [('libfabric', ['host.libfabric']), ('libpmi', [])])
def test_what_a_description_guesses_is_named_where_the_approach_uses_it(name, named):
    site, data = all_seen(site_entry(GPU), description_of(site_entry(GPU)))
    data['libraries'][site['libraries'][name]['value']][-1]['evidence'] = 'untested'
    opened = our_image(site['images']['value']['hybrid'], data['machine'])
    assert verdict_of(trial_of(approach_entry('hybrid'), site, opened, DescribedHost(data))).untested == named


def test_every_rule_says_which_facts_its_findings_rest_on():
    assert set(RESTS_ON) == {rule.name for rule in RULES}
    assert {kind for kinds in RESTS_ON.values() for kind in kinds} <= set(KINDS)


def with_all_untested(tmp_path, parts, approach, **changed):
    """The Verdict on an approach (str) and an image with changed parts, where no fact of the site was tried."""
    world = World(tmp_path, parts, GPU)
    image(**changed)(world)
    opened, files = world.opened()
    site = copy.deepcopy(world.site)
    for fact in facts_of(site).values():
        fact['evidence'] = 'untested'
    with opened:
        return verdict_of(trial_of(approach_entry(approach), site, opened, files))


@pytest.mark.parametrize('approach, names', [('hybrid', ['runtime', 'pmi', 'provider', 'gpu', 'gpu_userland',
                                                         'libraries.libfabric', 'libraries.libcxi']),
                                             ('opensource', ['runtime', 'pmi', 'provider', 'slingshot', 'gpu',
                                                             'gpu_userland'])])
def test_with_real_files_the_facts_of_the_site_count(tmp_path, parts, approach, names):
    verdict = with_all_untested(tmp_path, parts, approach)
    assert (verdict.level, verdict.untested) == ('works', names)


def test_a_verdict_on_the_image_alone_rests_on_no_fact_of_the_site(tmp_path, parts):
    verdict = with_all_untested(tmp_path, parts, 'hybrid', mpi=parts.mpi(open_mpi(), 'libmpi.so.40'))
    assert (said(verdict), verdict.findings[0].rule) == ('fails', 'other MPI')


# ---- what follows from it

def verdict(approach, level='works', untested=()):
    return Verdict(approach, level, [], 'mpi', 'libfabric', 'pmi2', list(untested))


@pytest.mark.parametrize('verdicts, wanted', [
    ([verdict('opensource', untested=['pmi']), verdict('hybrid')], 'hybrid'),
    ([verdict('opensource', untested=['runtime']), verdict('hybrid', untested=['runtime'])], 'opensource'),
    ([verdict('opensource', untested=['runtime']), verdict('hybrid', untested=['runtime', 'pmi'])], 'opensource'),
    ([verdict('bind', untested=['pmi']), verdict('pure', 'works slowly')], 'bind'),
])
def test_among_equals_what_rests_on_nothing_untested_is_recommended(verdicts, wanted):
    assert recommended(verdicts, site_entry(GPU)) == wanted


def test_eb_says_what_a_verdict_rests_on():
    facts = {'verdict': {'level': 'works', 'untested': ['pmi', 'libraries.libpals'], 'findings': [
        {'rule': 'x', 'level': NOTE, 'reason': 'a note', 'remedy': ''}]}}
    said_by_eb, = warnings(facts)
    assert 'pmi, libraries.libpals' in said_by_eb and "'works'" in said_by_eb and 'osu-container proof' in said_by_eb
    assert warnings({'verdict': dict(facts['verdict'], untested=[])}) == []
    assert 'untested' in EVIDENCE


WORKS, SLOWLY, UNKNOWN, FAILS = 'works', 'works slowly', 'unknown', 'fails'
EFA = network('EFA', 'efa')


def fabric(*providers):
    """Return a change: an image whose libfabric has providers (str)."""
    return image(fabric=lambda it: it.fabric(providers=providers, needed=()))


#: what it is -> (changes, site, {approach: level}, what is recommended of these)
SYSTEMS = {
    'UCX alone, InfiniBand': (each(INFINIBAND, UCX_WHOLE), PLAIN, {'pure': WORKS, 'opensource': WORKS}, 'pure'),
    'UCX alone, EFA': (each(EFA, UCX_WHOLE), PLAIN, {'pure': UNKNOWN}, None),
    'libfabric with verbs, InfiniBand': (each(INFINIBAND, VERBS, rdma_core('mlx5')), PLAIN,
                                         {'pure': SLOWLY, 'opensource': WORKS}, 'opensource'),
    'libfabric without verbs, InfiniBand': (each(INFINIBAND, fabric('tcp')), PLAIN,
                                            {'pure': SLOWLY, 'opensource': FAILS}, 'pure'),
    'libfabric with efa, EFA': (each(EFA, fabric('efa', 'tcp'), rdma_core('efa')), PLAIN,
                                {'pure': SLOWLY, 'opensource': WORKS}, 'opensource'),
    'both netmods, UCX first, InfiniBand': (
        each(INFINIBAND, UCX_WHOLE, fabric('tcp'), image(
            mpi=lambda it: over_ucx(it, mpich(device='ch4:ucx ofi'), needs=7))), PLAIN,
        {'pure': WORKS, 'opensource': WORKS}, 'pure'),
    'Open MPI with UCX, RoCE of Broadcom': (each(BROADCOM, OPEN_MPI_UCX), PLAIN, {'openmpi': UNKNOWN}, None),
}


@pytest.mark.parametrize('name', SYSTEMS)
def test_the_network_decides_what_is_slow_and_what_is_right(tmp_path, parts, name):  # noqa: F811, a fixture
    change, site, wanted, best = SYSTEMS[name]
    world = World(tmp_path, parts, site)
    if site == GPU:
        image(rocm='6.3.4')(world)
    else:
        image(rocm=None, plugin=None)(world)
    change(world)
    opened, host = world.opened()
    with opened:
        verdicts = [ask(approach_entry(approach), world.site, opened, host) for approach in wanted]
    assert {one.approach: one.level for one in verdicts} == wanted, [one.findings for one in verdicts]
    assert recommended(verdicts, world.site) == best
    for one in verdicts:
        assert all(finding.remedy for finding in one.findings)


@pytest.mark.parametrize('variable, wanted', [(None, 'libfabric'), ('ucx', 'UCX'), ('ofi', 'libfabric'),
                                              ('none of them', 'libfabric')])
def test_the_variable_of_mpich_decides_the_netmod(tmp_path, parts, variable, wanted):  # noqa: F811, a fixture
    world = World(tmp_path, parts, PLAIN)
    each(INFINIBAND, UCX_WHOLE, VERBS, image(
        mpi=lambda it: over_ucx(it, mpich(device='ch4:ofi ucx'), needs=7),
        environment={'MPIR_CVAR_CH4_NETMOD': variable} if variable else {}))(world)
    opened, host = world.opened()
    with opened:
        assert layer(trial_of(approach_entry('pure'), world.site, opened, host)) == wanted


def test_a_process_without_mpi_sends_over_nothing():
    class NoMPI:
        mpi = None
    assert layer_of(NoMPI, {}, None, None) is None


def test_parts_of_a_provider():
    assert parts_of('verbs;ofi_rxm') == ['verbs', 'rxm'] and parts_of('cxi') == ['cxi']

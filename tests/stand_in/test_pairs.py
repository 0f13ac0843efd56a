"""
The verdict of `osu-container check` beside what really happens: pairs of MPI and libfabric, run on two nodes.

All that stand-in/pairs tries, by its own functions; stand-in/pairs.json is what it recorded.
"""
import json

import pytest

from osu_container.core.deciding import verdict as verdict_rules
from osu_container.core.deciding.rules.finding import finding, rule
from osu_container.core.reading.closure import closure
from osu_container.core.reading.libraries import read_library
from osu_container.stand_in import pairs as this
from tests.helpers.machine import PROJECT, run

PROGRAM = PROJECT / 'stand-in' / 'pairs'
RECORD = PROJECT / 'stand-in' / 'pairs.json'


PAIRS = {pair.name: pair for pair in this.pairs()}
RECORDED = {one['name']: one for one in json.loads(RECORD.read_text())['pairs']}
MPIS = ['MPICH 3.4.3', 'MPICH 4.0.3', 'MPICH 4.1.3', 'MPICH 4.2.3', 'MPICH 4.3.2', 'MPICH 5.0.2', 'Open MPI 5.0.11',
        'Intel MPI 2021.19.0']
LIBFABRICS = ['1.17.0', '1.22.0', '2.1.0', '2.5.1']
#: By the loader, and by nothing before it
TOO_OLD = 'mpich-5.0.2-debian-12-hybrid-libfabric-1.22.0'
RUNS = 'mpich-4.2.3-debian-12-hybrid-libfabric-1.22.0'
#: One of each kind: over which library it fails, over which it runs, and an MPI of each family
SAMPLE = {TOO_OLD, RUNS, 'mpich-4.2.3-debian-12-hybrid-libfabric-2.5.1',
          *(next(name for name in PAIRS if name.startswith(family)) for family in ('open-mpi', 'intel-mpi'))}


@pytest.fixture(scope='module')
def slurm():
    """The private Slurm, running."""
    done = run([PROJECT / 'workstation' / 'slurm.sh', 'start'])
    assert done.returncode == 0, done.stdout + done.stderr


# Every pair, for real

@pytest.mark.apptainer
@pytest.mark.slurm
@pytest.mark.parametrize('name', [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.full)
                                  for name in PAIRS])
def test_verdict_and_run_agree(name, slurm):
    found = this.tried(PAIRS[name])
    assert found['agrees'] != 'no', this.as_table([found]) + '\n' + found['output']
    assert (found['verdict'], found['happened']) == (RECORDED[name]['verdict'], RECORDED[name]['happened']), \
        'stand-in/pairs.json is not current: stand-in/pairs --record stand-in/pairs.json; make modules'


@pytest.mark.apptainer
@pytest.mark.slurm
def test_a_rule_that_is_missing_is_noticed(slurm, monkeypatch):
    rules = [rule for rule in verdict_rules.RULES if rule.name != 'symbol version']
    monkeypatch.setattr(verdict_rules, 'RULES', rules)
    found = this.tried(PAIRS[TOO_OLD])
    assert (found['happened'], found['agrees']) == ('fails', 'no') and 'FABRIC_1.9' in found['text']


@pytest.mark.apptainer
@pytest.mark.slurm
def test_a_rule_that_says_too_much_is_noticed(slurm, monkeypatch):
    @rule('symbol version', source='')
    def wrong(trial):
        """Nothing that is true."""
        yield finding('fails', 'x needs FABRIC_1.7 of y')
    monkeypatch.setattr(verdict_rules, 'RULES', [*verdict_rules.RULES, wrong])
    found = this.tried(PAIRS[RUNS])
    assert (found['verdict'], found['happened'], found['agrees']) == ('fails', 'runs', 'no')


@pytest.mark.apptainer
@pytest.mark.slurm
def test_a_run_over_another_libfabric_than_meant_is_none(slurm, monkeypatch):
    # nothing is injected: the image's own libfabric, which works as well, is loaded
    monkeypatch.setattr(this, '_environment', lambda settings, real=this._environment: {
        name: value for name, value in real(settings).items() if not name.startswith(settings.env_prefix)})
    found = this.tried(PAIRS['mpich-4.2.3-debian-12-hybrid-libfabric-2.5.1'])
    assert found['happened'] == 'fails' and found['agrees'] == 'no'
    assert found['text'].startswith('ran with libfabric 1.22.0 of the image')


@pytest.mark.apptainer
@pytest.mark.slurm
def test_the_ports_do_not_take_another_mpi_where_the_hosts_does_not_load(slurm):
    # the host's libmpi does not load with that libfabric; the image's libmpi.so would, and nobody would notice
    pair = PAIRS['intel-mpi-2021.19.0-debian-12-hybrid-libfabric-1.22.0']._replace(approach='bind')
    found = this.tried(pair)
    assert (found['verdict'], found['happened'], found['agrees']) == ('fails', 'fails', 'yes')
    assert 'FABRIC_1.9' in found['text'] and 'ran with' not in found['text']


@pytest.mark.slurm
def test_a_run_that_hangs_is_ended_and_says_so(slurm, monkeypatch):
    monkeypatch.setattr(this, 'LIMIT', 4)
    output = this._srun(['sleep', '300'], this._of_this_machine())
    found = this._happened(PAIRS[RUNS], output, [])
    assert (found.happened, found.text) == ('fails', 'ended after 4 s: it hangs')


@pytest.mark.apptainer
@pytest.mark.full
@pytest.mark.parametrize('libfabric', LIBFABRICS)
def test_a_tree_has_that_libfabric_and_all_that_it_needs(libfabric):
    root = this.tree(libfabric)
    path = f'{root}{this.LIBFABRIC}'
    assert read_library(path)[0] == ('libfabric', libfabric)
    assert read_library(f'{root}{this.LIBMPI}')[0] == ('MPICH', '5.0.2')
    folders = [f'{root}{folder}' for folder in this.SITE['library_folders']['value']]
    libraries, missing = closure([path], folders, lambda soname: False)
    assert missing == [] and all(facts.path.startswith(f'{root}/') for facts in libraries.values())


# What was recorded

def test_every_pair_is_recorded_and_none_disagrees():
    assert list(RECORDED) == list(PAIRS)
    for name, one in RECORDED.items():
        assert one['agrees'] != 'no', name
        assert {key: one[key] for key in this.Pair._fields} == PAIRS[name]._asdict()


@pytest.mark.parametrize('libfabric', LIBFABRICS)
@pytest.mark.parametrize('mpi', MPIS)
def test_every_mpi_was_tried_over_every_libfabric(mpi, libfabric):
    wanted = (mpi, libfabric, 'host')
    assert [one for one in RECORDED.values() if (one['mpi'], one['libfabric'], one['owner']) == wanted]


def test_both_kinds_and_more_than_one_cause_are_among_them():
    failed = [one['text'] for one in RECORDED.values() if one['happened'] == 'fails']
    assert 10 < len(failed) < len(RECORDED) - 10
    for cause in ('FABRIC_1.7', 'FABRIC_1.9', 'GLIBC_2.38'):
        assert any(f"version `{cause}' not found" in text for text in failed), cause


def test_no_path_of_the_machine_is_recorded():
    text = RECORD.read_text()
    for path in (PROJECT, this.STATE.name, '/tmp/', '/root', '/home'):
        assert str(path) not in text


# When two agree

SAYS_FABRIC = {'level': 'fails', 'findings': [
    {'rule': 'symbol version', 'level': 'fails', 'remedy': '',
     'reason': 'image:/lib/libmpi.so.12 needs FABRIC_1.7, FABRIC_1.8 of libfabric.so.1, but /x ends at FABRIC_1.6'}]}
SAYS_MISSING = {'level': 'fails', 'findings': [
    {'rule': 'missing library', 'level': 'fails', 'remedy': '',
     'reason': '/lib/libfabric.so.1 needs libefa.so.1, which neither the host nor the image has'}]}
SAYS_SYMBOL = {'level': 'fails', 'findings': [
    {'rule': 'undefined symbol', 'level': 'fails', 'remedy': '',
     'reason': "/lib/liba.so.1 of the host needs efadv_query@EFA_1.1, other, which no library of the process has"}]}


@pytest.mark.parametrize('verdict, happened, output, expected', [
    ({'level': 'works', 'findings': []}, 'runs', '', 'yes'),
    ({'level': 'works slowly', 'findings': []}, 'runs', '', 'yes'),
    ({'level': 'works', 'findings': []}, 'fails', "version `FABRIC_1.7' not found", 'no'),
    ({'level': 'unknown', 'findings': []}, 'fails', '', 'no claim'),
    ({'level': 'unknown', 'findings': []}, 'runs', '', 'no claim'),
    (SAYS_FABRIC, 'runs', '', 'no'),
    (SAYS_FABRIC, 'fails', "libfabric.so.1: version `FABRIC_1.7' not found (required by x)", 'yes'),
    (SAYS_FABRIC, 'fails', "libfabric.so.1: version `FABRIC_1.9' not found (required by x)", 'no'),
    (SAYS_FABRIC, 'fails', 'Segmentation fault', 'no'),
    (SAYS_MISSING, 'fails', 'libefa.so.1: cannot open shared object file: No such file or directory', 'yes'),
    (SAYS_MISSING, 'fails', 'libnuma.so.1: cannot open shared object file: No such file or directory', 'no'),
    (SAYS_SYMBOL, 'fails', 'symbol lookup error: /x: undefined symbol: efadv_query, version EFA_1.1', 'yes'),
    (SAYS_SYMBOL, 'fails', 'symbol lookup error: /x: undefined symbol: another', 'no'),
])
def test_a_failure_agrees_only_with_the_verdict_that_names_its_cause(verdict, happened, output, expected):
    assert this.agreement(verdict, this.Outcome(happened, '', output)) == expected


TABLE = '# OSU MPI Latency Test\n# Size Latency\n1 10.0\n64 11.5\n'


def proof(node, where='host', release='1.22.0', found=True, network='libfabric tcp', mpi='image'):
    """Return the proof (dict) of a rank, as far as it is looked at; network: layer and provider, '' if not seen."""
    layer, _, provider = network.partition(' ')
    return {'found': found, 'reason': 'seen too late', 'node': node,
            'network': {'layer': layer if layer != '?' else None, 'provider': provider or None} if network else None,
            'libraries': {'libfabric': {'where': where, 'release': release, 'path': '/x/libfabric.so.1'},
                          'libmpi': {'where': mpi, 'release': '4.2.3', 'path': '/x/libmpi.so.12'}}}


@pytest.mark.parametrize('output, proofs, happened, text', [
    (TABLE, [proof('a'), proof('b')], 'runs', 'libfabric tcp'),
    (TABLE, [proof('a', network=''), proof('b', network='')], 'runs', 'network not seen'),
    (TABLE, [proof('a', network='?'), proof('b', network='libfabric tcp')], 'runs', 'libfabric tcp'),
    (TABLE, [proof('a'), proof('b', network='libfabric sockets')], 'fails', 'went over libfabric sockets'),
    (TABLE, [proof('a', network='tcp'), proof('b', network='tcp')], 'fails', 'went over tcp'),
    (TABLE, [proof('a'), proof('a')], 'fails', 'both ranks ran on a'),
    (TABLE, [proof('a')], 'fails', 'figures without a proof: no file'),
    (TABLE, [proof('a'), proof('b', found=False)], 'fails', 'figures without a proof: seen too late'),
    (TABLE, [proof('a'), proof('b', where='image')], 'fails', 'ran with libfabric 1.22.0 of the image'),
    (TABLE, [proof('a'), proof('b', mpi='host')], 'fails', 'ran with libmpi 4.2.3 of the host'),
    (TABLE, [proof('a'), proof('b', release='2.5.1')], 'fails', 'ran with libfabric 2.5.1 of the host'),
    (TABLE.replace('11.5', '0.00'), [proof('a'), proof('b')], 'fails', 'figures of 0'),
    (TABLE + TABLE, [proof('a'), proof('b')], 'fails', 'srun: '),
    (TABLE.partition('64')[0], [proof('a'), proof('b')], 'fails', 'no word of why'),
    ('', [], 'fails', 'no word of why'),
    ("srun: x\nError: libfabric.so.1: version `FABRIC_1.7' not found (required by y)\n", [], 'fails', 'Error'),
])
def test_a_pair_runs_only_with_all_figures_and_proofs_of_two_nodes(output, proofs, happened, text):
    found = this._happened(PAIRS[RUNS], output, proofs)
    assert found.happened == happened and found.text.startswith(text), found


# The command

def test_the_command_lists_pairs_and_refuses_unknown_words():
    done = run([PROGRAM, '--list', 'hybrid', 'mpich-4.0.3'])
    assert done.returncode == 0 and len(done.stdout.split()) == len(LIBFABRICS) + 1
    done = run([PROGRAM, 'mpich-9'])
    assert done.returncode == 2 and 'no pair has mpich-9 in its name; --list prints them' in done.stderr
    done = run([PROGRAM, '--record', 'x.json', 'hybrid'])
    assert done.returncode == 2 and '--record keeps all pairs' in done.stderr


def test_slurm_that_does_not_answer_is_no_result(tmp_path):
    empty = tmp_path / 'slurm.conf'
    empty.write_text('')
    with pytest.raises(this.StandInError, match='Slurm did not run the pair'):
        this._srun(['true'], dict(this._of_this_machine(), SLURM_CONF=str(empty)))

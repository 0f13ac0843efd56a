"""
How the ranks of a run are judged: contradictions and notes on data, and the command on folders.
"""

import json
import re
import sys
import time

import pytest

from osu_container.proof import judging, loaded
from osu_container.proof import proof_text as report
from osu_container.proof.judging import (
    UNPROVED,
    ProofError,
    WatchedRun,
    format_ranges,
    judge_run,
    parse_expectation,
)
from tests.helpers.machine import PROJECT, PYTHON_36, fold_whitespace, run

HYBRID = 'approach=hybrid container=yes libmpi=image libfabric=host pmi=pmi2 provider=cxi'


def library(family, release, where, build='1' * 40, path=None):
    return {
        'path': path or f'/opt/{family}.so',
        'where': where,
        'host_path': None,
        'family': family,
        'release': release,
        'release_from': 'contents',
        'build_id': build,
        'sha256': None,
        'problem': None,
    }


def rank(number, tasks=2, node=None, **changes):
    """
    The proof of a rank of approach hybrid that went well; changes replace its parts, None takes
    them away.
    """
    found = {
        'format': 1,
        'rank': number,
        'node': node or f'node{number % 2 + 1}',
        'found': True,
        'reason': None,
        'complete': True,
        'container': True,
        'image': '/images/x.sif',
        'executable': '/opt/osu/osu_bw',
        'command': [],
        'promise': HYBRID,
        'step': {'job': '7', 'step': '0', 'tasks': tasks},
        'spaces': {},
        'variables': {'FI_PROVIDER': 'cxi'},
        'libraries': {
            'libmpi': library('MPICH', '4.2.3', 'image'),
            'libfabric': library('libfabric', '1.22.0', 'host', '2' * 40),
        },
        'network': {
            'layer': 'libfabric',
            'provider': 'cxi',
            'domains': [f'cxi{number % 4}'],
            'opened': {},
            'how': 'it has /dev/cxi0 open',
        },
        'world': {
            'size': tasks,
            'tasks': tasks,
            'pmi': 'PMI',
            'how': f'PMI_FD=7 is an open socket, PMI_SIZE={tasks}',
        },
    }
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = {
                name: part for name, part in dict(found[key], **value).items() if part is not None
            }
        else:
            found[key] = {} if value is None else value
    return found


def judge_ranks(proofs, promise=HYBRID, **options):
    """(contradictions, notes) of ranks."""
    tasks = max([one['step']['tasks'] for one in proofs] or [0])
    without = [(one['rank'], one['reason']) for one in proofs if not one['found']]
    missing = [number for number in range(tasks) if number not in {one['rank'] for one in proofs}]
    found = WatchedRun('/run', [one for one in proofs if one['found']], tasks, missing, without)
    return judge_run(found, parse_expectation(promise, **options) if promise else None)


def test_ranks_that_match_the_approach_give_no_finding():
    assert judge_ranks([rank(number, 512) for number in range(512)]) == ([], [])


def make_namespace_rank(number, user, mnt, **changes):
    """The proof of a rank of node1 in these namespaces."""
    return rank(number, 2, 'node1', spaces={'user': user, 'mnt': mnt}, **changes)


@pytest.mark.parametrize(
    'variables, told',
    [
        ({}, False),
        ({'MPIR_CVAR_CH4_CMA_ENABLE': '1'}, False),
        ({'MPIR_CVAR_CH4_CMA_ENABLE': '0'}, True),
    ],
)
def test_separate_user_namespaces_of_a_node_are_noted(variables, told):
    problems, (note,) = judge_ranks(
        [
            make_namespace_rank(number, f'user:[{number}]', f'mnt:[{number}]', variables=variables)
            for number in (0, 1)
        ]
    )
    assert (
        problems == []
        and '0-1' in note
        and 'node1' in note
        and ('MPIR_CVAR_CH4_CMA_ENABLE=0' in note) == told
    )


@pytest.mark.parametrize(
    'proofs, shared',
    [
        (
            [
                make_namespace_rank(0, 'user:[1]', 'mnt:[1]'),
                make_namespace_rank(1, 'user:[1]', 'mnt:[1]'),
            ],
            True,
        ),
        (
            [
                make_namespace_rank(0, 'user:[1]', 'mnt:[1]'),
                make_namespace_rank(1, 'user:[1]', 'mnt:[2]'),
            ],
            False,
        ),  # setuid, or root
        (
            [make_namespace_rank(0, 'user:[1]', None), make_namespace_rank(1, 'user:[1]', None)],
            None,
        ),
        (
            [
                make_namespace_rank(0, None, 'mnt:[1]', container=False),
                make_namespace_rank(1, None, 'mnt:[1]', container=False),
            ],
            None,
        ),
        ([rank(0), rank(1)], None),
    ],
)
def test_shared_container_of_a_node_is_reported(proofs, shared):
    assert judging.merge_proofs(proofs)[0]['shared'] is shared
    assert judge_ranks(proofs, promise=None)[1] == []


def test_rank_numbers_are_printed_as_ranges():
    assert (format_ranges([5, 0, 1]), format_ranges(range(256))) == ('0-1, 5', '0-255')


#: (changes of ranks 2 and 3 of 4, a pattern for each contradiction: the value found before the
#: expected one)
BROKEN = [
    (
        {'libraries': {'libfabric': library('libfabric', '2.1', 'image')}},
        [
            'libfabric.*image.*host.*/.singularity.d/env/99-host-mpi.sh',
            '0-1.*libfabric.*1.22.0.*host.*2-3.*libfabric.*2.1.*image',
        ],
    ),
    (
        {'libraries': {'libfabric': None}},
        ['^(?!.*/opt).*libfabric.*host', '0-1.*libfabric.*1.22.0.*host.*2-3.*libfabric'],
    ),
    (
        {'libraries': {'libmpi': library('MPICH', '4.2.3', 'image', '9' * 40)}},
        [r'0-1.*MPICH.*4.2.3.*image.*\b1{12}\b.*2-3.*MPICH.*4.2.3.*image.*\b9{12}\b'],
    ),
    ({'container': False}, ['outside.*container']),
    (
        {'network': {'provider': 'tcp', 'how': 'it listens at 10.0.0.1:5', 'domains': ['hsn0']}},
        ['(?=.*slow)(?=.*10.0.0.1:5).*tcp.*cxi'],
    ),
    (
        {'network': {'layer': 'mpi', 'provider': 'tcp', 'how': 'it listens at TCP ports'}},
        ['(?=.*slow)(?=.*TCP ports).*MPI.*cxi'],
    ),
    (
        {'network': {'layer': 'ucx', 'provider': None, 'how': 'it has memory segments'}},
        ['^(?!.*slow)(?=.*memory segments).*UCX.*cxi'],
    ),
]


@pytest.mark.parametrize('changes, patterns', BROKEN)
def test_a_contradiction_names_ranks_and_both_values(changes, patterns):
    proofs = [rank(0, 4), rank(1, 4), rank(2, 4, **changes), rank(3, 4, **changes)]
    for one in proofs[2:]:  # None stands for what a dict lacks; these keys are always there
        one['network'].setdefault('provider', None)
    found = judge_ranks(proofs)[0]
    assert len(found) == len(patterns) and all(map(re.search, patterns, found)), found
    assert all('2-3' in text for text in found)


def test_unreadable_file_counts_as_that_of_the_other_ranks():
    gone = dict(library('MPICH', None, None, None, '/opt/MPICH.so'), problem='No such process')
    assert (
        judge_run(WatchedRun('/run', [rank(0), rank(1, libraries={'libmpi': gone})], 2, [], []))[0]
        == []
    )


def test_early_exit_proves_nothing_and_contradicts_nothing():
    gone = dict(library('MPICH', None, None, None, '/opt/MPICH.so'), problem=loaded.PROCESS_ENDED)
    (problem,) = judge_ranks([rank(0), rank(1, libraries={'libmpi': gone})])[0]
    assert re.match(f'{UNPROVED}.*libmpi.*rank 1 .*node2', problem)


def test_user_settings_count_and_are_noted():
    tcp = {'provider': 'tcp', 'domains': ['hsn0'], 'how': 'it listens'}
    proofs = [
        rank(number, network=tcp, variables={'FI_PROVIDER': 'tcp;ofi_rxm'}) for number in range(2)
    ]
    problems, notes = judge_ranks(proofs)
    assert problems == [] and 'tcp;ofi_rxm' in notes[0] and 'cxi' in notes[0]
    asked, unset = (
        judge_ranks(proofs, 'provider=cxi', is_explicit=True)[0],
        judge_ranks([dict(one, variables={}) for one in proofs])[0],
    )
    assert all(re.search('0-1.*tcp.*cxi', text) for (text,) in (asked, unset))


def test_simulated_cxi_matches_and_is_named():
    proofs = [rank(number, network={'provider': 'cxi (simulated)'}) for number in range(2)]
    assert judge_ranks(proofs) == ([], [])
    shown = report.format_matched_expectation(parse_expectation(HYBRID), proofs)
    assert 'provider cxi (simulated)' in shown
    (problem,) = judge_ranks(proofs, 'provider=verbs', is_explicit=True)[0]
    assert 'verbs' in problem


def test_unseen_provider_is_neither_claimed_nor_contradicted():
    proofs = [rank(number, network=None) for number in range(2)]
    problems, notes = judge_ranks(proofs)
    assert problems == [] and '0-1' in notes[0]
    shown = report.format_matched_expectation(parse_expectation(HYBRID), proofs)
    assert 'libfabric' in shown and 'cxi' not in shown


OF_UCX = 'approach=pure container=yes libmpi=image libfabric=none pmi=pmi2 provider='
UCX_SEEN = {
    'layer': 'ucx',
    'provider': None,
    'domains': ['eth0'],
    'opened': {},
    'how': 'it has memory segments of UCX',
}


def test_ucx_matches_an_expectation_without_libfabric():
    ranks = [
        rank(number, promise=OF_UCX, libraries={'libfabric': None}, network=UCX_SEEN)
        for number in (0, 1)
    ]
    assert judge_ranks(ranks, OF_UCX)[0] == []
    shown = report.format_matched_expectation(parse_expectation(OF_UCX), ranks)
    assert 'libfabric' in shown and 'none' not in shown


def test_unexpected_libfabric_is_reported():
    assert re.search('libfabric.*host.*none', judge_ranks([rank(0), rank(1)], OF_UCX)[0][0])


ALONE = {'size': 1, 'pmi': None, 'how': 'none of PMI_FD, PMI_PORT is set'}


@pytest.mark.parametrize(
    'promise, family, wanted',
    [
        (HYBRID, 'Open MPI', 'srun --mpi=pmi2'),
        (None, 'MPICH', 'srun --mpi=pmi2'),
        (None, 'Open MPI', 'srun --mpi=pmix'),
        (None, 'Cray MPICH', 'srun --mpi=cray_shasta'),
        (None, None, 'srun --mpi=list'),
    ],
)
def test_isolated_ranks_name_the_right_mpi_type(promise, family, wanted):
    proofs = [
        rank(
            number,
            8,
            world=ALONE,
            libraries={'libmpi': library(family, '1.0', 'image')},
            variables={'SLURM_MPI_TYPE': 'pmix'},
        )
        for number in range(8)
    ]
    (text,) = judge_ranks(proofs, promise)[0]
    assert re.search(rf'\b0-7\b.*\b1\b.*\b8\b.*PMI_FD.*--mpi=pmix.*{wanted}', text)
    assert ('module' in text) == bool(promise)


def test_a_run_of_one_rank_is_not_alone():
    assert judge_ranks([rank(0, 1, world=dict(ALONE, tasks=1))])[0] == []


def test_ranks_without_a_file_or_without_mpi_are_named():
    without = rank(1, 4, found=False, reason='the program ended')
    missing, ended = judge_ranks([rank(0, 4), without])[0]
    assert re.match(rf'{UNPROVED}.*2-3.*\b4\b.*/run', missing)
    assert re.match(rf'{UNPROVED}.*rank 1\b.*the program ended', ended)


@pytest.mark.parametrize('text', ['libmpi', 'colour=red', 'container=1'])
def test_malformed_expectation_is_refused(text):
    with pytest.raises(ProofError, match=text):
        parse_expectation(text, is_explicit=True)


def test_expectations_of_modules_and_users_are_parsed():
    assert parse_expectation('approach=pure provider=tcp;ofi_rxm,shm').provider == 'tcp;ofi_rxm,shm'
    assert parse_expectation('provider=cxi, libmpi=host', is_explicit=True)[2:4] == (
        {'libmpi': 'host'},
        'cxi',
    )
    assert parse_expectation('provider=').provider is None


# ---- the report


def test_512_ranks_that_are_alike_are_one_block():
    found = WatchedRun(
        '/run',
        [rank(number, 512, node=f'nid{number // 8:06}') for number in range(512)],
        512,
        [],
        [],
    )
    text = report.format_report('step 7.0', found, parse_expectation(HYBRID), [], [])
    assert re.match(r'step 7\.0:.*\b512\b.*\b64\b.*nid000000.*nid000063', text)
    assert re.search('128 .*cxi3', text) and re.search('512.*PMI_FD=7', text)
    assert len(text.splitlines()) <= 12


# ---- the command on folders


def command(*words, **options):
    return run([sys.executable, PROJECT / 'scripts' / 'osu-container', 'proof', *words], **options)


def write_proofs(folder, proofs):
    folder.mkdir(parents=True, exist_ok=True)
    for one in proofs:
        (folder / f"rank-{one['rank']}.json").write_text(json.dumps(one))
    return folder


def test_folder_is_compared_with_the_module_expectation(tmp_path):
    done = command(write_proofs(tmp_path / '7.0', [rank(0), rank(1)]))
    assert (done.returncode, done.stderr) == (0, '')
    assert re.match(r'step 7\.0:.*node1, node2', done.stdout)
    assert re.search('hybrid.*libmpi.*image.*libfabric.*host.*cxi', fold_whitespace(done.stdout))


def test_steps_are_sorted_and_one_contradiction_fails(tmp_path):
    write_proofs(tmp_path / '7.10', [rank(0), rank(1)])
    write_proofs(tmp_path / '7.9', [rank(0), rank(1, container=False)])
    done = command(tmp_path)
    assert done.returncode == 1
    assert re.findall(r'^step \S+', done.stdout, re.M) == ['step 7.9:', 'step 7.10:']
    assert re.search('rank 1 .*node2.*outside', fold_whitespace(done.stdout))


def test_a_step_without_mpi_beside_one_with_it_is_a_note(tmp_path):
    write_proofs(tmp_path / '7.0', [rank(0, 1, found=False, reason='the program ended')])
    assert command(tmp_path).returncode == 1
    write_proofs(tmp_path / '7.1', [rank(0), rank(1)])
    assert command(tmp_path).returncode == 0


def test_json_contains_ranks_kinds_and_contradictions(tmp_path):
    done = command(write_proofs(tmp_path / '7.0', [rank(0), rank(1, container=False)]), '--json')
    (one,) = json.loads(done.stdout)
    assert (
        done.returncode == 1
        and one['tasks'] == 2
        and len(one['kinds']) == 2
        and len(one['contradictions']) == 1
    )


@pytest.mark.parametrize(
    'options, approach, problem',
    [
        (['--approach', 'bind'], 'bind', '0-1.*libmpi.*image.*host'),
        (['--expect', 'libmpi=image,provider=tcp'], 'hybrid', '0-1.*cxi.*tcp'),
        (['--expect', 'libmpi=image,provider=cxi'], 'hybrid', None),
        (['--approach', 'bind', '--expect', 'libmpi=image'], 'bind', None),
    ],
)
def test_expect_option_overrides_the_module(tmp_path, options, approach, problem):
    done = command(write_proofs(tmp_path / '7.0', [rank(0), rank(1)]), '--json', *options)
    (one,) = json.loads(done.stdout)
    assert (done.returncode, one['promise']['approach']) == (bool(problem), approach)
    assert re.search(problem or '^$', ' '.join(one['contradictions']))


def test_proof_waits_until_step_files_are_complete(tmp_path):
    write_proofs(tmp_path, [rank(0), rank(1, complete=False)])
    begin = time.monotonic()
    judging.wait_for_files(tmp_path, seconds=5)
    assert 1 < time.monotonic() - begin < 3, 'a file that stays incomplete is given up'
    write_proofs(tmp_path, [rank(1)])
    begin = time.monotonic()
    judging.wait_for_files(tmp_path, seconds=5)
    assert time.monotonic() - begin < 0.5


@pytest.mark.skipif(not PYTHON_36, reason='no Python 3.6 here')
def test_the_command_runs_on_python_3_6(tmp_path):
    done = run(
        [
            PYTHON_36,
            '-I',
            '-S',
            PROJECT / 'scripts' / 'osu-container',
            'proof',
            write_proofs(tmp_path / '7.0', [rank(0), rank(1)]),
        ]
    )
    assert (done.returncode, done.stderr) == (0, '')


def test_options_follow_a_folder_and_two_folders_are_an_error(tmp_path):
    write_proofs(tmp_path / '7.0', [rank(0), rank(1)])
    assert json.loads(command(tmp_path, '--json').stdout)[0]['tasks'] == 2
    for behind in (['--magic'], [tmp_path]):
        done = command(tmp_path, *behind)
        assert done.returncode == 2 and str(behind[0]) in done.stderr, done.stderr

"""Check that osu-gpu-bind gives each rank the cores, GPU and network card of the site's map."""

import os
import re

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.verdict.site_choice import resolve_site
from tests.helpers.machine import PROJECT, assert_success, run

COMMAND = PROJECT / 'scripts' / 'osu-gpu-bind'
#: A map of two GPUs with cores of this machine, so that taskset can bind to these cores
HERE = sorted(os.sched_getaffinity(0))
REAL_MAP = f'0:{1 << HERE[0]:#x}:cxi0 1:{1 << HERE[-1]:#x}:cxi1'
SHOW = [
    'bash',
    '-c',
    'echo "$ROCR_VISIBLE_DEVICES|${FI_CXI_DEVICE_NAME-}|$(taskset -p $$ | sed s/.*:.//)|$0"',
    'last',
]


def run_gpu_bind(*arguments, **variables):
    """Run osu-gpu-bind with only these variables and PATH in its environment."""
    return run([COMMAND, *arguments], env={'PATH': os.environ['PATH'], **variables})


def read_gpu_map(site):
    """Return OSU_GPU_MAP as the module of a site sets it."""
    return ' '.join(
        f"{gpu['gcd']}:{gpu['mask']}:{gpu['nic']}"
        for gpu in resolve_site(site)['gpu_binding']['value']
    )


def test_printed_map_and_masks_equal_the_data():
    gpus = resolve_site('lumi-25.03')['gpu_binding']['value']
    rows = [
        line.split()
        for line in run_gpu_bind(
            '--map', OSU_GPU_MAP=read_gpu_map('lumi-25.03')
        ).stdout.splitlines()[1:]
    ]
    assert rows == [
        [str(rank), str(gpu['gcd']), gpu['mask'], gpu['nic']] for rank, gpu in enumerate(gpus)
    ]
    masks = ','.join(gpu['mask'] for gpu in gpus)
    assert (
        run_gpu_bind('--cpu-bind', OSU_GPU_MAP=read_gpu_map('lumi-25.03')).stdout
        == f'mask_cpu:{masks}\n'
    )


@pytest.mark.parametrize('rank, core', [('0', HERE[0]), ('1', HERE[-1])])
def test_a_rank_runs_on_its_cores_and_sees_its_gpu_and_card(rank, core):
    """Also if srun has bound the rank to other cores: LUMI's default is one core per task."""
    done = run(
        ['taskset', '-c', str(HERE[0]), COMMAND, *SHOW],
        env={
            'PATH': os.environ['PATH'],
            'OSU_GPU_MAP': REAL_MAP,
            'SLURM_LOCALID': rank,
            'OSU_GPU_VARIABLES': 'ROCR_VISIBLE_DEVICES=gcd FI_CXI_DEVICE_NAME=nic',
        },
    )
    assert done.stdout == f'{rank}|cxi{rank}|{1 << core:x}|last\n', done.stderr


#: A site on which the numbers of rank and GPU differ, and a site on which they are equal
NODES = ['lumi-25.03', 'alps']


@pytest.fixture
def node(tmp_path):
    """
    Return a function that runs osu-gpu-bind for a rank on a described node.

    Arguments: site, cores of the job (set of int), variables. It returns (GPU, cores, card, stderr).
    A script replaces taskset and behaves like the kernel: it selects the cores of the mask that the
    job has, and fails if the job has none.
    """
    fake = tmp_path / 'taskset'
    fake.write_text(
        '#!/usr/bin/python3\nimport os, sys\nours = int(sys.argv[1], 16) & int(os.environ["JOB"])\n'
        'if not ours:\n    sys.exit("taskset: failed to set affinity: Invalid argument")\n'
        'os.environ["RUNS_ON"] = str(ours)\nos.execvp(sys.argv[2], sys.argv[2:])\n'
    )
    fake.chmod(0o755)

    def start(site, cores, **variables):
        done = run_gpu_bind(
            'bash',
            '-c',
            'echo "${GPU-}|${RUNS_ON-0}|${CARD-}"',
            OSU_GPU_MAP=read_gpu_map(site),
            OSU_GPU_VARIABLES='GPU=gcd CARD=nic',
            JOB=str(sum(1 << core for core in cores)),
            **{**variables, 'PATH': f"{tmp_path}:{os.environ['PATH']}"},
        )
        assert_success(done)
        gpu, cores, card = done.stdout.strip().split('|')
        return (
            gpu,
            {core for core in range(int(cores).bit_length()) if int(cores) >> core & 1},
            card,
            done.stderr,
        )

    return start


def parse_gpu_map(site):
    """Return [(GPU, set of cores, card)] of the site's map."""
    found = []
    for gpu in resolve_site(site)['gpu_binding']['value']:
        mask = int(gpu['mask'], 16)
        found.append(
            (
                gpu['gcd'],
                {core for core in range(mask.bit_length()) if mask >> core & 1},
                gpu['nic'],
            )
        )
    return found


@pytest.mark.parametrize('site', NODES)
@pytest.mark.parametrize('taken', [set(), {0, 8, 16, 24, 32, 40, 48, 56}])  # low-noise mode
def test_every_rank_of_a_whole_node_is_bound_beyond_its_gpus(node, site, taken):
    lines = parse_gpu_map(site)
    job = set().union(*(cores for _, cores, _ in lines)) - taken
    for rank in range(len(lines) + 2):
        gpu, cores, card = lines[rank % len(lines)]
        if set(HERE) <= cores:
            continue  # The rank is bound within its cores already.
        found = node(site, job, SLURM_LOCALID=str(rank), SLURM_GPUS_ON_NODE=str(len(lines)))
        assert found == (str(gpu), cores & job, card, '')


@pytest.mark.parametrize('site', NODES)
def test_partial_node_numbers_its_gpus_from_zero(node, site):
    """The job has the first and the last two GPUs of the node, which programs see as 0, 1 and 2."""
    lines = parse_gpu_map(site)
    numbers = sorted(gpu for gpu, _, _ in lines)
    ours = [numbers[0], *numbers[-2:]]
    mine = [line for line in lines if line[0] in ours]
    job = mine[-1][1]
    for rank, (gpu, cores, card) in enumerate(mine):
        if set(HERE) <= cores:
            continue
        found = node(
            site,
            job,
            SLURM_LOCALID=str(rank),
            SLURM_GPUS_ON_NODE='3',
            SLURM_STEP_GPUS=','.join(map(str, reversed(ours))),
        )
        assert found[0] == str(ours.index(gpu)) and found[2] == card
        if rank == len(mine) - 1:
            assert found[1] == job and not found[3]
        else:  # The job has only the cores of another rank.
            assert found[1] == set() and '--exclusive' in found[3]


@pytest.mark.parametrize('gpu, flags, alone', [('0', '', True), ('3', '', False)])
@pytest.mark.parametrize(
    'bound', ['gpu:per_task:1', 'gres/gpu:map:4,5,2,3,6,7,0,1']
)  # Slurm 22.05; 24.05, LUMI's
def test_gpu_chosen_by_slurm_stays_and_first_node_reports_it(node, bound, gpu, flags, alone):
    variables = {
        'SLURMD_TRES_BIND': bound,
        'GPU': gpu,
        'ROCR_VISIBLE_DEVICES': gpu,
        'SLURM_GRES_FLAGS': flags,
    }
    found = node('lumi-25.03', {1}, SLURM_LOCALID='3', **variables)
    assert found[:3] == (gpu, set(), '') and bound in found[3]
    assert ('--gres-flags=allow-task-sharing' in found[3]) is alone
    assert node('lumi-25.03', {1}, SLURM_LOCALID='3', SLURM_NODEID='5', **variables)[3] == ''


def test_gpus_unbound_by_srun_are_bound_by_the_script(node):
    found = node(
        'lumi-25.03',
        {1},
        SLURM_LOCALID='3',
        SLURM_GPUS_PER_TASK='1',
        SLURMD_TRES_BIND='gres/gpu:none',
    )
    assert found[0] == str(parse_gpu_map('lumi-25.03')[3][0])


#: All variables that osu-gpu-bind sets for a rank with any approach
RANK_VARIABLES = {
    entry['name']: entry['value']
    for approach in APPROACHES.values()
    for entry in approach['rank_variables']
}


@pytest.mark.parametrize('name, seen', [('osu_xccl_bw', False), ('osu_bw', True)])
def test_xccl_benchmarks_see_all_gpus_and_cards(tmp_path, name, seen):
    assert {'gcd', 'nic'} == set(RANK_VARIABLES.values())
    program = tmp_path / name
    program.write_text('#!/bin/bash\nenv\n')
    program.chmod(0o755)
    done = run_gpu_bind(
        'env',
        'NCCL_DEBUG=INFO',
        program,
        OSU_GPU_MAP=REAL_MAP,
        SLURM_LOCALID='1',
        OSU_GPU_VARIABLES=' '.join(f'{name}={what}' for name, what in RANK_VARIABLES.items()),
    )
    found = [name for name in RANK_VARIABLES if re.search(f'^{name}=', done.stdout, re.M)]
    assert found == (list(RANK_VARIABLES) if seen else []), done.stderr


@pytest.mark.parametrize(
    'variables, words',
    [
        ({}, 'OSU_GPU_MAP'),
        ({'OSU_GPU_MAP': REAL_MAP}, 'SLURM_LOCALID'),
        (
            {'OSU_GPU_MAP': REAL_MAP, 'SLURM_LOCALID': '0', 'SLURM_GPUS_ON_NODE': '1'},
            '1 2 SLURM_STEP_GPUS --gpus-per-node=2',
        ),
        (
            {
                'OSU_GPU_MAP': REAL_MAP,
                'SLURM_LOCALID': '0',
                'SLURM_GPUS_ON_NODE': '1',
                'SLURM_STEP_GPUS': '7',
            },
            '7 OSU_GPU_MAP 0 1',
        ),
    ],
)
def test_an_error_is_on_stderr_with_its_cause(variables, words):
    done = run_gpu_bind('osu_bw', **variables)
    assert (done.returncode, done.stdout) == (1, ''), done.stderr
    assert set(words.split()) <= set(re.findall(r'[\w=-]+', done.stderr))

"""osu-gpu-bind: ranks on the cores, the GPU and the network card that the site's map gives them."""
import os
import re

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import site_entry
from tests.helpers.machine import PROJECT, run

COMMAND = PROJECT / 'easyconfigs' / 'o' / 'osu-container' / 'osu-gpu-bind'
WITH_GPUS = [site for site in SITES if site_entry(site)['gpu_binding']['value']]
#: this machine's cores as a map of two GPUs, so that the binding can really be made
HERE = sorted(os.sched_getaffinity(0))
REAL_MAP = f'0:{1 << HERE[0]:#x}:cxi0 1:{1 << HERE[-1]:#x}:cxi1'
SHOW = ['bash', '-c', 'echo "$ROCR_VISIBLE_DEVICES|${FI_CXI_DEVICE_NAME-}|'
                      '$(taskset -p $$ | sed s/.*:.//)|$0"', 'last']


def gpu_bind(*arguments, **variables):
    """Run osu-gpu-bind with these variables and PATH only."""
    return run([COMMAND, *arguments], env={'PATH': os.environ['PATH'], **variables})


def map_of(site):
    """OSU_GPU_MAP as the module of site sets it."""
    return ' '.join(f"{gpu['gcd']}:{gpu['mask']}:{gpu['nic']}" for gpu in site_entry(site)['gpu_binding']['value'])


@pytest.mark.parametrize('site', WITH_GPUS)
def test_the_map_is_printed_as_the_data_have_it(site):
    done = gpu_bind('--map', OSU_GPU_MAP=map_of(site))
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert rows == [[str(rank), str(gpu['gcd']), gpu['mask'], gpu['nic']]
                    for rank, gpu in enumerate(site_entry(site)['gpu_binding']['value'])]


@pytest.mark.parametrize('site', WITH_GPUS)
def test_masks_for_srun_are_in_the_order_of_the_ranks(site):
    masks = ','.join(gpu['mask'] for gpu in site_entry(site)['gpu_binding']['value'])
    assert gpu_bind('--cpu-bind', OSU_GPU_MAP=map_of(site)).stdout == f'mask_cpu:{masks}\n'


#: site -> first core of each GPU's rank, in the order of the GPUs, from the documentation of the system
FIRST_CORES = {
    **dict.fromkeys([site for site in WITH_GPUS if site.startswith('lumi')], [49, 57, 17, 25, 1, 9, 33, 41]),
    # LUMI training 2026-04, 202-Binding.md: first usable core of the CCD next to each GCD; OLCF: the same node
    'frontier': [49, 57, 17, 25, 1, 9, 33, 41],
    'setonix': [48, 56, 16, 24, 0, 8, 32, 40],  # Pawsey, GPU Partition Quick Start: chiplets, whole
    'perlmutter': [48, 32, 16, 0],  # nvidia-smi topo -m
    'alps': [0, 72, 144, 216],  # CSCS, Slurm: affinity.cuda
}


@pytest.mark.parametrize('site', WITH_GPUS)
def test_every_site_has_the_order_of_its_documentation(site):
    masks = [int(gpu['mask'], 16) for gpu in site_entry(site)['gpu_binding']['value']]
    assert [(mask & -mask).bit_length() - 1 for mask in masks] == FIRST_CORES[site]


def test_a_mask_of_more_cores_than_a_number_has_bits_is_met_with_what_the_job_has():
    """A GH200 node has 288 cores; this machine has a few of them."""
    wide = f'0:{((1 << 288) - 1) ^ (1 << HERE[0]):#x}:cxi0'
    done = gpu_bind(*SHOW, OSU_GPU_MAP=wide, SLURM_LOCALID='0')
    assert done.stdout == f'||{sum(1 << core for core in HERE[1:]):x}|last\n', done.stderr
    high = f'0:{((1 << 72) - 1) << 216:#x}:cxi0'
    done = gpu_bind('true', OSU_GPU_MAP=high, SLURM_LOCALID='0')
    assert done.returncode == 1 and 'and the job has none of them' in done.stderr


@pytest.mark.parametrize('rank, gcd, core', [('0', '0', HERE[0]), ('1', '1', HERE[-1])])
def test_a_rank_runs_on_its_cores_and_sees_its_gpu_and_card(rank, gcd, core):
    variables = 'ROCR_VISIBLE_DEVICES=gcd FI_CXI_DEVICE_NAME=nic'
    done = gpu_bind(*SHOW, OSU_GPU_MAP=REAL_MAP, OSU_GPU_VARIABLES=variables, SLURM_LOCALID=rank)
    assert done.stdout == f'{gcd}|cxi{gcd}|{1 << core:x}|last\n', done.stderr


def test_cores_that_srun_has_chosen_within_the_line_are_kept():
    both = f'0:{sum(1 << core for core in HERE):#x}:cxi0'
    done = run(['taskset', '-c', str(HERE[-1]), COMMAND, *SHOW],
               env={'PATH': os.environ['PATH'], 'OSU_GPU_MAP': both, 'SLURM_LOCALID': '0'})
    assert done.stdout == f'||{1 << HERE[-1]:x}|last\n', done.stderr


def test_a_card_that_the_user_has_chosen_stays():
    done = gpu_bind(*SHOW, OSU_GPU_MAP=REAL_MAP, OSU_GPU_VARIABLES='FI_CXI_DEVICE_NAME=nic', SLURM_LOCALID='0',
                    FI_CXI_DEVICE_NAME='cxi3')
    assert '|cxi3|' in done.stdout


def test_xccl_benchmarks_see_all_gpus(tmp_path):
    program = tmp_path / 'osu_xccl_bw'
    program.write_text('#!/bin/bash\necho "$ROCR_VISIBLE_DEVICES"\n')
    program.chmod(0o755)
    done = gpu_bind(program, OSU_GPU_MAP=REAL_MAP, OSU_GPU_VARIABLES='ROCR_VISIBLE_DEVICES=gcd', SLURM_LOCALID='1',
                    ROCR_VISIBLE_DEVICES='0,1')
    assert done.stdout == '0,1\n', done.stderr


def test_exit_code_and_arguments_are_those_of_the_program():
    done = gpu_bind('bash', '-c', 'printf "[%s]" "$@"; exit 7', 'x', 'a b', '', '*', OSU_GPU_MAP=REAL_MAP,
                    SLURM_LOCALID='0')
    assert (done.stdout, done.returncode) == ('[a b][][*]', 7)


@pytest.mark.parametrize('arguments, variables, message', [
    (['osu_bw'], {}, 'OSU_GPU_MAP is not set: no module of this bundle is loaded, or it is for a site without GPUs'),
    (['osu_bw'], {'OSU_GPU_MAP': REAL_MAP}, 'SLURM_LOCALID is not set: start it by srun'),
    (['osu_bw'], {'OSU_GPU_MAP': REAL_MAP, 'SLURM_LOCALID': '2'},
     'local rank 2, but the node has 2 GPUs: start at most 2 ranks on a node'),
    (['osu_bw'], {'OSU_GPU_MAP': REAL_MAP, 'SLURM_LOCALID': '0', 'SLURM_GPUS_ON_NODE': '1'},
     "the job has 1 of the node's 2 GPUs"),
    (['osu_bw'], {'OSU_GPU_MAP': f'0:{1 << 62:#x}:cxi0', 'SLURM_LOCALID': '0'},
     'local rank 0 belongs on the cores 0x4000000000000000, and the job has none of them'),
    (['--maps'], {'OSU_GPU_MAP': REAL_MAP}, "unknown option '--maps'"),
])
def test_what_cannot_be_is_told_on_stderr(arguments, variables, message):
    done = gpu_bind(*arguments, **variables)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr.startswith('osu-gpu-bind: ') and message in done.stderr


def test_help_without_a_module():
    done = gpu_bind('--help')
    assert done.returncode == 0 and re.match(r'usage: srun .*osu-gpu-bind', done.stdout)
    assert gpu_bind().returncode == 2


@pytest.mark.parametrize('approach', APPROACHES)
def test_only_values_that_the_command_knows_are_in_the_data(approach):
    assert {entry['value'] for entry in APPROACHES[approach]['rank_variables']} <= {'gcd', 'nic'}

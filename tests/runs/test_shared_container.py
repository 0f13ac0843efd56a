"""Ranks of one node run in one container, keep what is their own, and leave nothing behind.

Root hides missing rights: tests/runs/test_ordinary_user.py runs this file as an ordinary user.
"""

import json
import os
import re
import time
from pathlib import Path

import pytest

from tests.helpers.machine import assert_success, list_command_lines
from tests.runs.test_approaches import MODULES

pytestmark = [
    pytest.mark.system,
    pytest.mark.usefixtures('slurm'),
    pytest.mark.skipif(os.getuid() == 0, reason='tests/runs/test_ordinary_user.py runs it'),
]

LARGEST = 1 << 20
#: (approach, OSU_SHARE): what ranks share, and how; an instance is for runtimes that this machine
#: does not have
SHARED = [('hybrid', ''), ('swap', 'instance')]
#: Ranks are started with more of them than cores
SRUN = 'srun -N1 -n2 --overcommit'
SPACES = r"sh -c 'echo $SLURM_PROCID $(readlink /proc/self/ns/user /proc/self/ns/mnt /proc/self/ns/pid); sleep 1'"


def list_leftovers():
    """
    What shared containers have left: folders and processes (list of str); those that are about
    to end may do so.
    """
    end = time.monotonic() + 5
    while True:
        found = [str(path) for path in Path('/dev/shm').glob(f'run-in-container-{os.getuid()}-*')]
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                line = (folder / 'cmdline').read_bytes()
                if folder.stat().st_uid == os.getuid() and b'cat\0/proc/self/stat' in line:
                    found.append(folder.name)
            except OSError:
                continue
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.1)


def test_every_approach_reaches_the_last_size_on_one_node(shell):
    done = shell(
        '\n'.join(
            f'module load {module} && {SRUN} osu_bw -m 1:{LARGEST} -i 5 -x 1 H H; module purge'
            for module in MODULES.values()
        )
    )
    assert len(re.findall(rf'^\s*{LARGEST}\s+[\d.]+', done.stdout, re.M)) == len(MODULES), (
        done.stdout + done.stderr
    )
    assert list_leftovers() == []


@pytest.mark.parametrize('approach, how', SHARED)
def test_ranks_of_a_node_share_namespaces_and_keep_their_state(shell, approach, how, tmp_path):
    module = f'module load {MODULES[approach]} && cd {tmp_path} && export OSU_SHARE={how}'
    done = shell(f'{module} && srun -N2 -n4 --overcommit osu-exec {SPACES}')
    spaces = {
        int(rank): found for rank, *found in (line.split() for line in done.stdout.splitlines())
    }
    assert set(spaces) == {0, 1, 2, 3} and spaces[0] == spaces[1] != spaces[2] == spaces[3], (
        done.stdout + done.stderr
    )
    # libfabric names its shared memory by the process: two containers with numbers of their own
    # would meet
    assert how or {found[2] for found in spaces.values()} == {os.readlink('/proc/self/ns/pid')}
    done = shell(
        f'{module} && echo words | {SRUN} -i0 --label osu-exec sh -c '
        "'pwd; cat; echo $OWN; exit $((SLURM_PROCID + 7))'",
        OWN='mine',
    )
    assert done.stdout.count(str(tmp_path)) == 2 and '0: words' in done.stdout, (
        done.stdout + done.stderr
    )
    assert done.stdout.count('mine') == 2 and '1: words' not in done.stdout
    assert {'exit code 7', 'exit code 8'} <= set(
        re.findall(r'exit code \d+', done.stderr.lower())
    ), done.stderr
    assert list_leftovers() == []


def test_unshared_ranks_do_not_read_each_others_memory(shell):
    """
    As an ordinary user each rank has a user namespace then; bind's MPICH 5 would end with an
    error at 8 KiB.
    """
    done = shell(
        f'module load osu-container/bind && export OSU_SHARE=0 && {SRUN} osu-exec {SPACES}; '
        f'{SRUN} osu_bw -m 1:{LARGEST} -i 5 -x 1 H H; osu-explain'
    )
    first, second = (line.split() for line in done.stdout.splitlines()[:2])
    assert first[1:] != second[1:], done.stdout
    assert re.search(rf'^\s*{LARGEST}\s+[\d.]+', done.stdout, re.M), done.stdout + done.stderr
    assert 'you: OSU_SHARE=0' in done.stdout and 'MPIR_CVAR_CH4_CMA_ENABLE=0' in done.stdout


def test_every_rank_has_the_environment_of_the_runtime(shell, tmp_path):
    """
    The first rank's comes from the runtime; what others have in another way goes in by the
    wrapper.
    """
    odd = tmp_path / 'odd.sh'
    odd.write_text(
        '#!/bin/bash\ncase $SLURM_PROCID in\n    1) export ODD=$\'a "b"\\n\\\\c=d\' EMPTY=; unset GONE ;;\n'
        '    2) export PATH=/nowhere:$PATH PS1=x OMP_NUM_THREADS=3 HOME=/tmp ;;\nesac\n'
        f'exec osu-exec sh -c \'env -0 >{tmp_path}/$HOW-$SLURM_PROCID; '
        'cat /proc/$PPID/comm 2>/dev/null || :\'\n'
    )
    odd.chmod(0o755)
    found = {}
    for how in ('', 'instance'):
        done = shell(
            f'module load osu-container/hybrid && export OSU_SHARE={how} HOW={how or "own"} && '
            f'srun -N1 -n3 --overcommit {odd}',
            GONE='here',
        )
        assert_success(done)
        # nothing of the runtime stands between Slurm and ranks whose environment follows from that
        # of the first
        assert (done.stdout.split().count('slurmstepd') > 0) == (not how), done.stdout
        for rank in range(3):
            words = (tmp_path / f'{how or "own"}-{rank}').read_bytes().decode().split('\0')
            found[how, rank] = dict(word.split('=', 1) for word in words if word)
    for rank in range(3):
        ours, its = found['', rank], found['instance', rank]
        differ = {name for name in set(ours) | set(its) if ours.get(name) != its.get(name)}
        of_the_step = {'OSU_SHARE', 'HOW', 'OLDPWD', 'SHLVL', '_'} | {
            name
            for name in differ
            if re.match(
                'SLURM_.*(ID|PORT)$|PMI_(JOBID|FD)$|(APPTAINER|SINGULARITY)_INSTANCE$', name
            )
        }
        assert differ <= of_the_step, {
            name: (ours.get(name), its.get(name)) for name in differ - of_the_step
        }
    assert (
        found['', 1]['ODD'] == 'a "b"\n\\c=d'
        and found['', 1]['EMPTY'] == ''
        and 'GONE' not in found['', 1]
    )
    assert found['', 2]['OMP_NUM_THREADS'] == '3' and found['', 0]['GONE'] == 'here'


def test_early_and_late_ranks_and_parallel_steps_work(shell):
    """
    Rank 0 has gone before the others read the image; two steps on a node have a container each.
    """
    script = "sh -c 'sleep $((SLURM_PROCID / 2)); ls /usr/share/doc | wc -l; exit $SLURM_PROCID'"
    done = shell(
        'module load osu-container/hybrid; '
        f'for step in 1 2; do {SRUN} -n4 --overlap osu-exec {script} & done; wait; '
        "srun -N1 -n4 --overcommit sh -c 'sleep $SLURM_PROCID; osu-exec true && echo late'"
    )
    counts = [line for line in done.stdout.splitlines() if line.isdigit()]
    assert len(counts) == 8 and len(set(counts)) == 1 and done.stdout.count('late') == 4, (
        done.stdout + done.stderr
    )
    assert list_leftovers() == []


def test_failed_rank_ends_the_step_and_ranks_keep_their_cores(shell):
    began = time.monotonic()
    done = shell(
        f'module load osu-container/hybrid; {SRUN} --kill-on-bad-exit=1 osu-exec sh -c '
        "'[ $SLURM_PROCID = 1 ] || kill -SEGV $$; sleep 60'"
    )
    assert done.returncode != 0 and time.monotonic() - began < 30, done.stderr
    # Slurm has bound each rank to its own cores (tools/workstation/slurm.sh).
    done = shell(
        f'module load osu-container/hybrid; {SRUN} osu-exec grep Cpus_allowed_list /proc/self/status'
    )
    assert len(set(done.stdout.splitlines())) == min(2, os.cpu_count()), done.stdout + done.stderr
    assert list_leftovers() == []


def test_several_images_in_one_step_have_a_container_each(shell, tmp_path):
    other = tmp_path / 'other.sif'
    done = shell(
        f"module load osu-container/hybrid; cp $SIF {other}; {SRUN} -n4 sh -c '[ $SLURM_PROCID -lt 2 ] || "
        f"export MPI_CONTAINER_IMAGE={other}; exec osu-exec sh -c \"echo $SLURM_PROCID \\$APPTAINER_CONTAINER "
        "\\$(readlink /proc/self/ns/mnt)\"'"
    )
    found = {int(rank): rest for rank, *rest in (line.split() for line in done.stdout.splitlines())}
    assert found[0] == found[1] != found[2] == found[3] and found[2][0] == str(other), (
        done.stdout + done.stderr
    )


@pytest.mark.parametrize('how', ['', 'instance'])
def test_a_step_that_is_cancelled_leaves_nothing(shell, how):
    done = shell(
        f'module load osu-container/hybrid && export OSU_SHARE={how} && salloc -Q -N1 -n2 --overcommit '
        'bash -c "srun osu-exec sleep 61 & '
        'sleep 2; scancel --signal=KILL \\$SLURM_JOB_ID.0; wait"; '
        # Slurm lists a job for a moment more, as completing (CG)
        'for half in $(seq 40); do [ -z "$(squeue --noheader)" ] && break; sleep 0.5; done; squeue --noheader'
    )
    assert done.stdout.strip() == '' and list_leftovers() == [], done.stdout + done.stderr
    # On a busy machine, a subshell of osu-exec that started during the kill ends after the job.
    end, left = time.monotonic() + 20, ['unknown']
    while left and time.monotonic() < end:
        left = [line for line in list_command_lines().values() if line.endswith('sleep 61 ')]
        time.sleep(0.1)
    assert left == []


def test_proof_reports_whether_ranks_share_a_container(shell, tmp_path):
    for how in ('', '0'):
        done = shell(
            f'module load osu-container/bind && cd {tmp_path} && export OSU_SHARE={how} && '
            f'osu-proof -o out{how} -- {SRUN} osu_latency H H -m 1024 -i 2000 >&2 && '
            f'osu-proof --json out{how}'
        )
        assert_success(done)
        (step,) = json.loads(done.stdout)
        assert step['promise']['approach'] == 'bind' and step['kinds'][0]['shared'] == (not how)
        notes = ' '.join(step['notes'])
        assert ('CMA' in notes) == ('MPIR_CVAR_CH4_CMA_ENABLE=0' in notes) == (how == '0'), notes

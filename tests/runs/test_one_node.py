"""Ranks of one node, as most people try a benchmark first: every approach reaches the last message size."""
import os
import re

import pytest

from tests.runs.test_approaches import MODULES

pytestmark = [pytest.mark.apptainer, pytest.mark.slurm, pytest.mark.as_user]

LARGEST = 1 << 20
#: Each rank of an ordinary user is in a user namespace of its own. MPICH 5 of the host reads the memory of the other
#: rank (process_vm_readv), which the kernel refuses between such namespaces; the MPICH 4.2.3 of the image does not try.
REFUSED = pytest.mark.xfail(os.getuid() != 0, strict=True, reason='process_vm_readv between user namespaces')


@pytest.mark.parametrize('approach', [pytest.param(name, marks=REFUSED if name == 'bind' else ())
                                      for name in MODULES])
def test_two_ranks_on_one_node_reach_the_last_size(shell, approach):
    done = shell(f'module load {MODULES[approach]} && srun -N1 -n2 --overcommit osu_bw -m 1:{LARGEST} -i 5 -x 1 H H')
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert re.search(rf'^\s*{LARGEST}\s+[\d.]+', done.stdout, re.M), done.stdout


def test_ranks_that_end_leave_nothing(shell):
    done = shell('module load osu-container/hybrid && srun -N1 -n2 --overcommit osu-exec sleep 0.1; '
                 'pgrep -u "$(id -u)" -fa "sleep 0.1$" || true; squeue --noheader')
    assert done.returncode == 0 and done.stdout.strip() == '', done.stdout + done.stderr

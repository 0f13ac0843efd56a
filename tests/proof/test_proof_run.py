"""
The proof of real ranks of real MPIs: over the private Slurm of two nodes, in containers and
natively.
"""

import json
import re
from pathlib import Path

import pytest

from osu_container.proof.patterns import PATTERNS
from tests.helpers import foreign_images
from tests.helpers.machine import LASTING, PROJECT, compile_library

pytestmark = [pytest.mark.system, pytest.mark.usefixtures('slurm')]

COMMAND = f'{PROJECT}/scripts/osu-container proof'
PROGRAM = f'osu_latency {LASTING}'
SRUN = 'srun -N2 -n2'
#: The image as it is: the commands of the module do not let the environment take away what they
#: promise
BARE = 'env -u APPTAINER_BIND apptainer exec $SIF'


def prove(shell, tmp_path, what, module='hybrid', options='', before='', command=COMMAND):
    """
    Run `osu-container proof -- what` after module load; return (CompletedProcess, report as one
    line).
    """
    name = module if module == 'osu-native' else f'osu-container/{module}'
    done = shell(
        f'module load {name}\ncd {tmp_path}\n{before}\n{command} {options} -o out -- {what}'
    )
    return done, ' '.join(done.stderr.split())


def read_rank_proofs(tmp_path):
    """The proofs (list of dict) of the one step in tmp_path/out."""
    return [
        json.loads(path.read_text())
        for path in sorted((Path(tmp_path) / 'out').glob('*/rank-*.json'))
    ]


@pytest.mark.parametrize(
    'module', ['pure', 'bind', 'hybrid', 'opensource', 'swap', 'openmpi', 'osu-native']
)
def test_every_approach_matches_its_expectation(shell, tmp_path, module):
    done, said = prove(shell, tmp_path, f'{SRUN} {PROGRAM}', module)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r'^ *8 +[\d.]+$', done.stdout, re.M), 'the output is the program\'s'
    assert '(node1, node2)' in said
    is_native = module == 'osu-native'
    assert (' native' if is_native else f' {module}') in said
    for number, one in enumerate(read_rank_proofs(tmp_path)):
        assert (one['rank'], one['complete'], one['container']) == (number, True, not is_native)
        family = 'Open MPI' if module == 'openmpi' else 'MPICH'
        assert one['libraries']['libmpi']['family'] == family
        assert (one['network']['layer'], one['network']['provider']) == ('libfabric', 'tcp')
        assert one['network']['domains'] and one['network']['domains'] != ['lo']
        assert (one['world']['size'], one['world']['tasks']) == (2, 2)


def test_the_command_of_the_module_needs_no_clone(shell, tmp_path):
    done, said = prove(shell, tmp_path, f'{SRUN} {PROGRAM}', command='osu-proof')
    assert done.returncode == 0 and ' hybrid' in said
    again = shell(
        f'module load osu-container/hybrid; cd {tmp_path}; readlink -f $(type -P osu-proof); osu-proof out'
    )
    assert again.returncode == 0 and str(PROJECT) not in again.stdout.splitlines()[0]
    assert '(node1, node2)' in again.stdout


def test_silent_tcp_is_found(shell, tmp_path):
    """Nothing forbids TCP, and MPICH takes it without a word."""
    done, said = prove(
        shell,
        tmp_path,
        f'{SRUN} {PROGRAM}',
        options='--expect provider=cxi',
        before='unset FI_PROVIDER',
    )
    assert done.returncode == 1
    assert re.search('0-1 .*libfabric.* tcp.*slow.*cxi', said)


#: One rank is enough for it, and it lives for a second after MPI_Init; the wrapper would refuse to
#: start it
LONELY = """\'import sys, time
sys.path.insert(0, sys.argv[1])
from mpi4py import MPI
time.sleep(1)
print("size", MPI.COMM_WORLD.size)\'"""
INSIDE = f"apptainer exec $SIF /usr/bin/python3 -I -c {LONELY} /opt/osu/lib/python"
NATIVE = f"/usr/bin/python3 -I -c {LONELY} $EBROOTOSUMINNATIVE/lib/python"


@pytest.mark.parametrize(
    'mpi, module, program, right',
    [
        ('none', 'osu-native', NATIVE, 'pmi2'),
        ('pmix', 'pure', INSIDE, 'pmi2'),
        ('pmi2', 'openmpi', INSIDE, 'pmix'),
    ],
)
def test_a_wrong_mpi_makes_every_rank_rank_0(shell, tmp_path, mpi, module, program, right):
    done, said = prove(
        shell,
        tmp_path,
        f"{SRUN} --mpi={mpi} {program}",
        module,
        before=(
            'export MPI4PY_LIBMPI=$(readlink -m $EBROOTOSUMINNATIVE/lib/libmpi.so.12):libmpi.so.12:libmpi.so.40\n'
        ),
    )
    assert done.stdout == 'size 1\nsize 1\n', done.stdout + done.stderr
    assert done.returncode == 1
    assert re.search(rf'0-1 .* 1 .* 2 .*srun --mpi={right}\b.*module', said)


def test_missing_injection_is_found(shell, tmp_path):
    done, said = prove(shell, tmp_path, f'{SRUN} {BARE} /opt/osu/bin/{PROGRAM}')
    assert done.returncode == 1
    assert re.search(r'0-1 .*libfabric.*image.*host.*/99-host-mpi\.sh', said)


def test_failed_start_leaves_no_folder(shell, tmp_path):
    done = shell(f'cd {tmp_path}\n{COMMAND} -- {SRUN} no-such-program')
    assert (done.returncode, list(tmp_path.iterdir())) == (2, []), done.stderr
    assert re.search(r'nothing to prove: srun \D*2\b', done.stderr)


def test_a_prolog_of_the_user_runs_as_well(shell, tmp_path):
    mine = tmp_path / 'my prolog'
    mine.write_text('#!/bin/bash\necho "export MINE=yes"\necho print told\n')
    mine.chmod(0o755)
    what = f"{SRUN} bash -c 'echo mine=$MINE; {PROGRAM}; exit 7'"
    done, said = prove(
        shell, tmp_path, what, 'osu-native', before=f'export SLURM_TASK_PROLOG="{mine}"'
    )
    assert done.returncode == 7, done.stderr  # the program's
    assert done.stdout.count('mine=yes') == 2 and done.stdout.count('told') == 2
    assert '(node1, node2)' in said


# ---- OSU_PROOF


def test_osu_proof_leaves_the_files_of_container_programs(shell, tmp_path):
    done = shell(
        f'module load osu-container/hybrid\ncd {tmp_path}\nOSU_PROOF=kept {SRUN} {PROGRAM} && '
        f'{COMMAND} kept/*\nmodule unload osu-container; echo "promise: ${{OSU_PROMISE-gone}}"'
    )
    assert ' hybrid' in done.stdout and len(list(tmp_path.glob('kept/*/rank-*.json'))) == 2, (
        done.stderr
    )
    assert 'promise: gone' in done.stdout


#: Faults that a library in front of libmpi injects; mpi4py calls the functions with large counts (_c)
HANG = """#include <unistd.h>
int PMPI_Comm_dup(long, void *);
int MPI_Comm_dup(long old, void *new)
{ static int calls; while (++calls > 1) pause(); return PMPI_Comm_dup(old, new); }
"""
BIT = """int PMPI_Allreduce_c(const void *, void *, long, long, long, long);
int MPI_Allreduce_c(const void *sent, void *received, long count, long type, long op, long comm)
{ int code = PMPI_Allreduce_c(sent, received, count, type, op, comm);
  *(char *)received ^= 1; return code; }
"""
CRASH = '#include <stdlib.h>\nint MPI_Win_fence(int assert, long window) { abort(); }\n'
USE_SUMS, DUPLICATE = {'reduction', 'communicators', 'threads'}, {'communicators', 'threads'}


@pytest.mark.parametrize(
    'module, source, state, patterns',
    [
        ('hybrid', HANG, 'hung', DUPLICATE),
        ('pure', BIT, 'differs', USE_SUMS),
        ('bind', CRASH, 'failed', {'one-sided'}),
        ('openmpi', None, 'works', set()),
    ],
)
def test_patterns_find_injected_faults(shell, tmp_path, module, source, state, patterns):
    """The other patterns work, also those that follow a hang or a crash."""
    command = 'osu-exec'
    if source:
        library = compile_library(tmp_path / 'fault.so', source=source)
        command += f' env LD_PRELOAD={library}:libmpi.so.12'
    done, said = prove(
        shell,
        tmp_path,
        f'{SRUN} {command}',
        module,
        '--patterns',
        before='export OSU_PATTERN_SECONDS=4',
    )
    found = dict(re.findall(r'^([\w-]+): ([a-z ]+)', done.stdout, re.M))
    expected = dict.fromkeys(PATTERNS, 'works')
    expected.update(dict.fromkeys(patterns, state), pytorch='not possible here')
    assert (found, done.returncode) == (expected, 1 if source else 0), done.stdout + done.stderr
    assert '(node1, node2)' in said
    if state == 'hung':
        for node in ('node1', 'node2'):
            assert re.search(rf' {node}: use_communicators:\d+ .*Dup\(\)', done.stdout)
    assert [path.name for path in tmp_path.glob('.osu-pattern*')] == []


@pytest.mark.nightly
def test_pytorch_pattern_runs_in_an_image_with_pytorch(shell, tmp_path, apptainer):
    image = foreign_images.make('torch', apptainer)
    command = f'{SRUN} --mpi=pmix {apptainer} exec {image}'
    done = shell(f'cd {tmp_path}\n{COMMAND} --patterns -- {command}')
    assert re.search(r'^pytorch: works, .* over gloo$', done.stdout, re.M), done.stdout

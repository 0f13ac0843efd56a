"""
A proof that is killed, or beside which another one is: no half is taken for a whole one, none is
lost, nothing runs on.

In place of srun stands a script that starts the ranks on this machine with their prolog, as Slurm
does.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from osu_container.proof import judging
from tests.helpers.bench_stand_in import write_script
from tests.helpers.machine import PROJECT, list_command_lines, run
from tests.proof.test_judging import rank
from tests.proof.test_loaded import compile_libfabric, compile_mpich

COMMAND = [sys.executable, str(PROJECT / 'scripts' / 'osu-container'), 'proof']
SRUN = r'''#!/bin/bash
# In place of srun: two ranks, each with its prolog; a new step each time.
[[ -n ${SLURM_JOB_ID-} ]] || export SLURM_JOB_ID=$$
export SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2
trap 'kill "${pids[@]}" 2>/dev/null; exit 143' TERM
pids=()
for rank in 0 1; do
    SLURM_PROCID=$rank SLURMD_NODENAME=node$((rank + 1)) bash -c \
        'SLURM_TASK_PID=$$ $SLURM_TASK_PROLOG && exec "$@"' rank "$@" & pids+=($!)
done
code=0
for pid in "${pids[@]}"; do wait "$pid" || code=$?; done
exit $code
'''
#: Loads MPI, and ends with a code that it is known by
PROGRAM = """import ctypes, sys, time
ctypes.CDLL(sys.argv[1])
time.sleep(float(sys.argv[2]))
sys.exit(7)"""
CODE = 7


@pytest.fixture(scope='module')
def proof_tools(tmp_path_factory):
    """Folder with srun, and libmpi."""
    folder = tmp_path_factory.mktemp('made')
    fabric = compile_libfabric(folder / 'lib' / 'libfabric.so.1')
    compile_mpich(folder / 'lib' / 'libmpi.so.12', needed=[fabric], rpath='$ORIGIN')
    write_script(folder / 'bin' / 'srun', SRUN)
    return folder


class Prover:
    """Runs proofs in a folder."""

    def __init__(self, proof_tools, folder):
        self.folder, self.made = folder, proof_tools
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(('SLURM_', 'OSU_'))
            },
            'PATH': f"{proof_tools / 'bin'}:{os.environ['PATH']}",
        }

    def list_words(self, *options, seconds=0.8, program=None):
        """The command line of a proof."""
        return [
            *COMMAND,
            *options,
            '--',
            *(
                program
                or (
                    'srun',
                    sys.executable,
                    '-c',
                    PROGRAM,
                    self.made / 'lib' / 'libmpi.so.12',
                    seconds,
                )
            ),
        ]

    def start(self, *options, **how):
        """Begin a proof; return the Popen."""
        return subprocess.Popen(
            list(map(str, self.list_words(*options, **how))),
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __call__(self, *options, **how):
        """Prove; return CompletedProcess."""
        return run(self.list_words(*options, **how), cwd=self.folder, env=self.environment)

    def processes(self):
        """{process id: command line} of all that runs with the folder as its current one."""
        found = {}
        for path in Path('/proc').glob('[0-9]*'):
            try:
                if os.readlink(path / 'cwd') == str(self.folder):
                    found[int(path.name)] = (
                        (path / 'cmdline').read_bytes().decode().replace('\0', ' ')
                    )
            except OSError:
                pass
        return {pid: words for pid, words in found.items() if words}  # a zombie has none

    def find_processes(self, words):
        """
        The process ids whose command lines have the words (str) near their begin, the lowest
        first.
        """
        return sorted(
            pid
            for pid, line in self.processes().items()
            if words in line.partition(' -- ')[0][:300]
        )

    def files(self):
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob('*')
            if path.is_file()
        }


@pytest.fixture
def prove(proof_tools, tmp_path):
    return Prover(proof_tools, tmp_path)


def assert_right_proof(done, steps=1):
    """Assert that a proof was one of two ranks that are alike, and of nothing else."""
    assert done.returncode == CODE and done.stderr.count('(node1, node2)') == steps, done.stderr
    assert done.stderr.count('step ') == steps


#: Who is killed -> how its command line begins or goes on, with which signal
KILLED = {
    'proof': ('osu-container proof', signal.SIGKILL),
    'srun': ('bin/srun', signal.SIGKILL),
    'a sampler': ('proof/start.py', signal.SIGKILL),
    'a rank': (f'{sys.executable} -c', signal.SIGKILL),
    'proof, asked to end': ('osu-container proof', signal.SIGTERM),
    'proof, by its terminal': ('osu-container proof', signal.SIGHUP),
}
#: Once in each run of the tests
OFTEN = ('proof', 'srun', 'a sampler')


@pytest.mark.parametrize(
    'who, seed',
    [
        pytest.param(who, seed, marks=() if not seed and who in OFTEN else pytest.mark.nightly)
        for who in KILLED
        for seed in range(12)
    ],
)
def test_killed_proof_leaves_no_half_file_and_no_process(prove, who, seed):
    if seed:
        assert_right_proof(prove('-o', 'out', seconds=3))  # a busy machine needs long to look twice
    old = prove.files()
    words, sent = KILLED[who]
    child = prove.start('-o', 'out')
    time.sleep(random.Random(f'{who} {seed}').random())
    while child.poll() is None:
        found = prove.find_processes(words)
        if found:
            os.kill(found[0], sent)
            break
        time.sleep(0.01)
    _, err = child.communicate(timeout=60)
    assert 'Traceback' not in err, err
    if who == 'proof':
        assert child.returncode == -signal.SIGKILL
    elif who == 'a sampler':
        assert child.returncode == CODE, 'the code of the program'
    else:  # below 0: before it had begun; CODE: srun got the signal when its ranks had ended
        assert child.returncode in (137, 143, 129, -signal.SIGTERM, -signal.SIGHUP) or (
            who == 'srun' and child.returncode == CODE and 'node1, node2' in err
        ), err
    if who == 'srun':  # without a Slurm nobody ends its ranks
        for pid in prove.find_processes(f'{sys.executable} -c'):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + 10
    while prove.processes() and time.monotonic() < end:
        time.sleep(0.05)
    assert prove.processes() == {}
    now = prove.files()
    assert {name: text for name, text in now.items() if name in old} == old
    if 'node1, node2' in err:
        (new,) = {name.rpartition('/')[0] for name in set(now) - set(old) if 'rank' in name}
        assert [proof['found'] for proof in judging.read_run(prove.folder / new).proofs] == [
            True,
            True,
        ]
    assert_right_proof(prove('-o', 'out', seconds=3))  # a busy machine needs long to look twice


def test_killed_sampler_does_not_count_as_terminated_step(tmp_path):
    child = subprocess.Popen(
        [PROJECT / 'scripts' / 'rank-proof', tmp_path / 'proof', 'sleep', '2'],
        env={**os.environ, 'SLURM_PROCID': '0'},
        cwd=tmp_path,
    )
    path, sampler = tmp_path / 'proof' / 'rank-0.json', []
    while not path.exists() or not sampler:
        sampler = [
            process
            for process, line in list_command_lines().items()
            if str(tmp_path / 'proof') in line and 'start.py' in line
        ]
        time.sleep(0.02)
    os.kill(sampler[0], signal.SIGKILL)
    assert child.wait() == 0
    assert 'sampler' in json.loads(path.read_text())['reason']


def test_files_of_a_contradiction_are_kept(prove):
    prove.environment['PMI_PORT'] = 'localhost:9'  # so that no rank is taken for one that is alone
    assert_right_proof(prove(seconds=3))
    assert prove.files() == {}
    done = prove('--expect', 'container=yes', seconds=3)
    assert '(node1, node2)' in done.stderr and len(prove.files()) == 2


# ---- one proof is not another ----------------------------------------------------------------------------------------


def test_files_of_an_earlier_run_are_ignored(prove):
    step = prove.folder / 'out'
    step.mkdir()
    for number in range(2):
        (step / f'rank-{number}.json').write_text(json.dumps(rank(number)))
    before = prove.files()
    done = prove('-o', 'out', program=['true'])
    assert done.returncode == 1 and ' out ' in done.stderr and '-o DIR' in done.stderr
    assert prove.files() == before


def test_program_exit_code_is_returned_despite_damaged_proof(prove):
    write_script(
        prove.folder / 'job',
        '#!/bin/bash\nmkdir out/7.0\n'
        f'printf \'{{"format": 1, "run": "%s"}}\' "$OSU_PROOF_RUN" >out/7.0/rank-0.json\nexit {CODE}\n',
    )
    done = prove('-o', 'out', program=['./job'])
    assert done.returncode == CODE and 'rank-0.json' in done.stderr, done.stderr

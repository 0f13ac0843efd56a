"""
One process measures in the folder of a run; and whether the job in which runs are made still
exists.

Slurm is asked only after a failure: no controller is polled.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import subprocess
from pathlib import Path

from osu_container.base.files import require_own_folder
from osu_container.bench import BenchError, record

#: The locked file, which says who measures
LOCK_FILE = 'running.txt'
#: Variable of ReFrame: the plan of its session, in the folder of the run
PLAN_VARIABLE = 'OSU_CONTAINER_PLAN'


@contextlib.contextmanager
def lock_run(folder):
    """
    Keep other processes from measuring in a folder (Path), which is made if it does not exist, in a
    with statement.

    The lock ends with this process, however that ends. Raises BenchError if another process
    measures there.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    require_own_folder(folder)  # scripts in it run
    with open(folder / LOCK_FILE, 'a+') as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise BenchError(
                f"{folder} is being measured by {handle.read()}. Wait for its end, or terminate it"
            ) from None
        except OSError:  # a file system without locks is no reason to refuse
            pass
        handle.truncate(0)
        job = os.environ.get('SLURM_JOB_ID')
        handle.write(
            f"process {os.getpid()} on {socket.gethostname()}{f' in job {job}' if job else ''}, since "
            f"{record.get_timestamp()}"
        )
        handle.flush()
        yield


#: States of a job that has its nodes (squeue(1), JOB STATE CODES). In all others its runs were
#: ended, or cannot start
ALLOCATED_STATES = frozenset(
    ['RUNNING', 'SUSPENDED', 'STOPPED', 'CONFIGURING', 'RESIZING', 'SIGNALING']
)
#: What srun says where a node of the job takes no step: its slurmd is gone. Slurm itself calls the
#: node down only after SlurmdTimeout, 300 s where nothing else is set (slurm.conf(5)). The reasons:
#: slurm_errno.c of Slurm
_UNREACHED = re.compile(
    r'Task launch for StepId=\S+ failed on node (\S+): (Communication connection failure|'
    r'Communication shutdown failure|Message \w+ failure|Socket timed out on send/recv operation|'
    r'Zero Bytes were transmitted or received|Unable to contact \S+.*)'
)


def find_job_loss(env, errors=''):
    """
    Return why nothing more can be measured in the job of env (dict) (str); None if it exists, if
    Slurm does not say, or outside of a job.

    errors: str, what srun said in the run that failed
    """
    found = _UNREACHED.search(errors)
    if found:
        return f"node {found.group(1)} takes no step: {found.group(2)}"
    number = env.get('SLURM_JOB_ID')
    if not number:
        return None
    try:
        done = subprocess.run(
            ['squeue', '--noheader', f'--jobs={number}', '--format=%T'],
            env=env,
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    state = done.stdout.strip()
    if (
        'Invalid job id' in done.stderr or not done.returncode and not state
    ):  # the controller forgets it after minutes
        state = 'not known to Slurm any more'
    elif done.returncode or state in ALLOCATED_STATES:
        return None
    return f"job {number} has ended ({state})"

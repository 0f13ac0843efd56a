"""
Let only one process measure in the folder of a run, and detect the loss of a Slurm job.

The state of the job is queried only after a failure, so that Slurm's controller is not polled.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from osu_container.base.files import require_own_folder
from osu_container.bench import BenchError, record

#: The locked file, which names the measuring process
LOCK_FILE = 'running.txt'
#: Environment variable that tells checks.py the plan of its session
PLAN_VARIABLE = 'OSU_CONTAINER_PLAN'


@contextlib.contextmanager
def lock_run(folder: str | Path) -> Iterator[None]:
    """
    Prevent other processes from measuring in `folder` while a `with` statement runs.

    A missing folder is created. If this process is killed, the operating system releases the lock.
    Raises BenchError if another process measures in the folder.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    require_own_folder(folder)  # ReFrame runs scripts in it
    with open(folder / LOCK_FILE, 'a+') as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise BenchError(
                f"the folder {folder} is in use by {handle.read()}. Wait until this "
                "process exits, or terminate this process"
            ) from None
        except OSError:  # measure also on a file system without locks
            pass
        handle.truncate(0)
        job = os.environ.get('SLURM_JOB_ID')
        handle.write(
            f"process {os.getpid()} on {socket.gethostname()}{f' in job {job}' if job else ''}, "
            f"since {record.get_timestamp()}"
        )
        handle.flush()
        yield


#: States of a job that has its nodes (squeue(1), JOB STATE CODES). In all other states its runs
#: were terminated or cannot start.
ALLOCATED_STATES = frozenset(
    ['RUNNING', 'SUSPENDED', 'STOPPED', 'CONFIGURING', 'RESIZING', 'SIGNALING']
)
#: Message of srun if the slurmd of a node is gone. Slurm marks the node as down only after
#: SlurmdTimeout, by default 300 s (slurm.conf(5)). Reasons: slurm_errno.c of Slurm.
_UNREACHED = re.compile(
    r'Task launch for StepId=\S+ failed on node (\S+): (Communication connection failure|'
    r'Communication shutdown failure|Message \w+ failure|Socket timed out on send/recv operation|'
    r'Zero Bytes were transmitted or received|Unable to contact \S+.*)'
)


def find_job_loss(env: Mapping[str, str], errors: str = '') -> str | None:
    """
    Return why the current Slurm job can run no more benchmarks, None if the job works.

    The result is also None if Slurm does not answer, or if there is no job.

    :param env: environment variables of the job
    :param errors: the standard error output of srun in the failed run
    """
    unreached = _UNREACHED.search(errors)
    if unreached:
        return f"node {unreached.group(1)} accepts no job step: {unreached.group(2)}"
    number = env.get('SLURM_JOB_ID')
    if not number:
        return None
    try:
        process = subprocess.run(
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
    state = process.stdout.strip()
    # The controller forgets a completed job after minutes.
    if 'Invalid job id' in process.stderr or not process.returncode and not state:
        state = 'unknown to Slurm'
    elif process.returncode or state in ALLOCATED_STATES:
        return None
    return f"job {number} no longer runs ({state})"

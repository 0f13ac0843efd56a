"""
Who measures in the folder of a run: one process at a time, and nothing of one that was killed.

    with Hold(folder, say):
        ...

The file running.json in the folder says which process of which machine and job measures. It is removed at the end; that
of a killed process is recognised by the process's start time. What such a one has left is found by the plan in its
environment, which every process below ReFrame has, and ended.

Slurm's word on a job: is the one in which runs are made still there, would one that is wanted ever start? Asked only
where it matters, after a failure and before a job is asked for: no controller is polled.
"""
from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from osu_container.core import outputs
from osu_container.core.reading.files import not_anothers, read_json
from osu_container.proof.loaded import environment_of, link, stat

from .. import record, streams
from . import BenchError

NAME = 'running.json'
#: Variable of ReFrame and of all that it starts: the plan of their session, in the folder of the run
PLAN = 'OSU_CONTAINER_PLAN'
#: Variable of what runs under the salloc of this command
PARENT = 'OSU_CONTAINER_SALLOC'
#: Seconds between asking a process to end and ending it: ReFrame ends its test, srun its step
PATIENCE = 10


@contextlib.contextmanager
def given_back(env):
    """
    End with the salloc that has asked for this job, in a with statement, and give the job back where that was killed.

    salloc does so itself, unless it has no time to (kill -9). env: dict, with PARENT where this runs under salloc
    """
    if not env.pop(PARENT, None):
        yield
        return
    parent = os.getppid()
    streams.ending_with(parent)()
    try:
        yield
    finally:
        if os.getppid() != parent:
            cancel([env['SLURM_JOB_ID']], env)


def cancel(words, env):
    """Have Slurm end the jobs that words (list of str, of scancel) name, whatever it says; env: dict."""
    _ask(['scancel', *words], env)


def full(folder, said):
    """Return that the disk of folder (Path) is full (str), by itself or by what was said (list of str); else None."""
    there = os.statvfs(folder)
    words = next((words for words in map(os.strerror, (errno.ENOSPC, errno.EDQUOT)) if words in ' '.join(said)), None)
    if words or not there.f_bavail or there.f_files and not there.f_favail:
        return (f"the disk of {folder} takes no more: {words or os.strerror(errno.ENOSPC)}. Free space or files there "
                "(df -h, df -i, quota)")
    return None


def _me():
    """Return what tells this process from all others (dict)."""
    return {'pid': os.getpid(), 'host': socket.gethostname(), 'began': stat('self')[1], **_kernel(),
            'job': os.environ.get('SLURM_JOB_ID'), 'since': record.now()}


def _kernel():
    """Return what process numbers here belong to (dict): the start of the machine, and the namespace."""
    try:
        boot = Path('/proc/sys/kernel/random/boot_id').read_text().strip()
    except OSError:
        boot = None
    return {'boot': boot, 'space': link('/proc/self/ns/pid')}


def holder(folder):
    """
    Return what is known of the process that measures in a folder (dict of running.json), None if none does.

    A process of this machine is looked at. Of one elsewhere Slurm is asked whether its job has ended; where that cannot
    be told either, it is taken to run.
    """
    try:
        found = read_json(Path(folder) / NAME)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get('pid'), int):  # the disk was full
        return None
    here = {**_kernel(), 'host': socket.gethostname()}
    if all(found.get(key) == here[key] for key in here):
        there = stat(found['pid'])
        return found if there and there[1] == found.get('began') else None
    if found.get('host') == here['host'] and found.get('boot') not in (None, here['boot']):
        return None  # the machine was started again since
    return None if found.get('job') and ended(found['job'], os.environ) else found


def refuse(folder):
    """Raise BenchError if somebody measures in a folder."""
    found = holder(folder)
    if found:
        where = f" in job {found['job']}" if found.get('job') else ''
        raise BenchError(f"{folder} is being measured by process {found['pid']} on {found.get('host')}{where}, since "
                         f"{found.get('since')}. Wait for its end, or end it. If it does not run any more, remove "
                         f"{Path(folder) / NAME}")


def left_behind(folder):
    """Return the processes (list of int) on this machine that a session of the run in folder (Path) has started."""
    begin, found = f'{folder}/plan-', []
    for name in os.listdir('/proc'):
        if name.isdigit() and int(name) != os.getpid() and environment_of(name).get(PLAN, '').startswith(begin):
            found.append(int(name))
    return found


def end_left_behind(folder):
    """End what sessions of the run in folder (Path) have left on this machine; return how many processes it was."""
    first = left_behind(folder)
    for sign, patience in ((signal.SIGTERM, PATIENCE), (signal.SIGKILL, 2)):
        for pid in left_behind(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sign)
        end = time.monotonic() + patience
        while left_behind(folder) and time.monotonic() < end:
            time.sleep(0.1)
    return len(first)


class Hold:
    """Keeps others from measuring in a folder, as a context manager. Raises BenchError if somebody does."""

    def __init__(self, folder, say):
        """:param folder: Path; it is made if it is missing; say: function that takes a line (str) for the user"""
        self.folder, self.say, self.mine = Path(folder), say, _me()

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        not_anothers(self.folder)  # scripts in it run
        path = self.folder / NAME
        with _one_at_a_time(self.folder):
            refuse(self.folder)
            killed = path.exists()
            outputs.replace(path, json.dumps(self.mine, indent=1) + '\n')
        try:
            number = end_left_behind(self.folder)
            if killed:
                self.say("the process that measured here before was killed"
                         + (f"; what it left is ended: {number} process{'es' if number > 1 else ''}" if number else ''))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, ValueError):
            if read_json(self.folder / NAME) == self.mine:
                (self.folder / NAME).unlink()


@contextlib.contextmanager
def _one_at_a_time(folder):
    """
    Between looking and writing nobody else looks: flock() on the folder.

    A file system that has no such locks is no reason to refuse: then running.json alone keeps others out.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


#: States of a job that has its nodes (squeue(1), JOB STATE CODES). In all others its runs were ended, or cannot start
HAS_NODES = frozenset(['RUNNING', 'SUSPENDED', 'STOPPED', 'CONFIGURING', 'RESIZING', 'SIGNALING'])
#: States of a node that is of no use to a job that has it (sinfo(1), NODE STATE CODES); * behind one: no answer
GONE = frozenset(['DOWN', 'ERROR', 'FAIL', 'FUTURE', 'NO_RESPOND', 'POWERED_DOWN', 'UNKNOWN'])
#: What srun says where a node of the job takes no step: its slurmd is gone. Slurm itself calls the node down only after
#: SlurmdTimeout, 300 s where nothing else is set (slurm.conf(5)). The reasons: slurm_errno.c of Slurm
_UNREACHED = re.compile(r'Task launch for StepId=\S+ failed on node (\S+): (Communication connection failure|'
                        r'Communication shutdown failure|Message \w+ failure|Socket timed out on send/recv operation|'
                        r'Zero Bytes were transmitted or received|Unable to contact \S+.*)')
#: Seconds for an answer: a controller under load takes some
ANSWER_WITHIN = 30


def _ask(command, env):
    """Return (exit code, standard output, standard error) of a command (list of str); None if it cannot be had."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors='replace', timeout=ANSWER_WITHIN,
                              stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def ended(number, env):
    """
    Return in which state a job (str, its id) has ended (str), None if it runs or Slurm does not say.

    :param env: dict, environment in which squeue is called
    """
    answer = _ask(['squeue', '--noheader', f'--jobs={number}', '--format=%T'], env)
    if answer is None:
        return None
    code, state, errors = answer
    if code == 0 and not state or 'Invalid job id' in errors:  # the controller forgets it after some minutes
        return 'not known to Slurm any more'
    return state if code == 0 and state.split()[0] not in HAS_NODES else None


def lost(env):
    """
    Return why nothing more can be measured in the job of env (dict) (str); None if it is there, if Slurm does not say,
    or outside of a job.
    """
    number = env.get('SLURM_JOB_ID')
    if not number:
        return None
    state = ended(number, env)
    if state:
        return f"job {number} has ended ({state})"
    answer = _ask(['sinfo', '--noheader', '--Node', f"--nodes={env.get('SLURM_JOB_NODELIST', '')}", '--format=%N %T'],
                  env) if env.get('SLURM_JOB_NODELIST') else None
    for line in answer[1].splitlines() if answer and answer[0] == 0 else ():
        name, _, state = line.partition(' ')
        if re.sub(r'\W+$', '', state).upper() in GONE:
            return f"node {name} of job {number} is {state}"
        if '*' in state:
            return f"node {name} of job {number} does not answer (Slurm calls it {state})"
    return None


def unreached(errors):
    """Return which node took no step of the job (str), by what srun said (errors: str); None if all did."""
    found = _UNREACHED.search(errors)
    return f"node {found.group(1)} takes no step: {found.group(2)}" if found else None


def refused(options, env):
    """
    Return why Slurm would never start a job with these options (list of str, of salloc), in its own words (str); None
    if it would, or does not say.

    salloc waits for such a job as for any other that has to queue. sbatch --test-only submits nothing.
    """
    answer = _ask(['sbatch', '--test-only', *options, '--wrap=true'], env)
    said = re.search('^allocation failure: (.*)', answer[2], re.M) if answer and answer[0] else None
    return said.group(1) if said else None

"""
Who measures in the folder of a run: one process at a time, and nothing of one that was killed.

    with Hold(folder, say):
        ...

The file running.json in the folder says which process of which machine and job measures. It is removed at the end; that
of a killed process is recognised by the process's start time. What such a one has left is found by the plan in its
environment, which every process below ReFrame has, and ended.
"""
from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import time
from pathlib import Path

from osu_container.core.reading.files import read_json
from osu_container.proof.loaded import environment_of, link, stat

from .. import record
from ..image.progress import write_file
from . import BenchError, job

NAME = 'running.json'
#: Variable of ReFrame and of all that it starts: the plan of their session, in the folder of the run
PLAN = 'OSU_CONTAINER_PLAN'
#: Seconds between asking a process to end and ending it: ReFrame ends its test, srun its step
PATIENCE = 10
#: Of prctl(2), linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PRCTL = ctypes.CDLL(None, use_errno=True).prctl


def end_with_parent():
    """For preexec_fn: the process gets SIGTERM when the one that starts it has ended, however that was (kill -9)."""
    _PRCTL(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


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
    return None if found.get('job') and job.ended(found['job'], os.environ) else found


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
        path = self.folder / NAME
        with _one_at_a_time(self.folder):
            refuse(self.folder)
            killed = path.exists()
            write_file(path, json.dumps(self.mine, indent=1) + '\n')
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

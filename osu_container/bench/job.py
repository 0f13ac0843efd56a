"""
Slurm's word on a job: is the one in which runs are made still there, would one that is wanted ever start?

Asked only where it matters, after a failure and before a job is asked for: no controller is polled.
"""
from __future__ import annotations

import re
import subprocess

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
PATIENCE = 30


def _ask(command, env):
    """Return (exit code, standard output, standard error) of a command (list of str); None if it cannot be had."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors='replace', timeout=PATIENCE,
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

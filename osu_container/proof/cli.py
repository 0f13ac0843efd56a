"""
The command `osu-container proof`, which the modules have as osu-proof: run a command and judge what its ranks used, or
judge a folder of an earlier run.

The ranks of every step that the command starts by srun are watched: SLURM_TASK_PROLOG, an option of srun as a variable,
names a script that Slurm runs before each task, as the user, with the id of the task's process. So no option of srun is
parsed, and nothing is added to the program's command line.

Python 3.6 and its standard library only.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from osu_container.core.reading.answering import begin
from osu_container.core.writing import shell
from osu_container.core.writing.terminal import one_line, shown

from .. import exit_codes, streams
from . import judging, text
from .judging import ProofError

HERE = os.path.dirname(os.path.realpath(__file__))
#: Name of the prolog in the folder of a run
PROLOG = 'task-prolog'
#: Seconds in which the first sampler of a short step makes its folder
FIRST = 1.0


def add_arguments(parser):
    """Add the arguments of the command to parser."""
    parser.add_argument('-o', '--output', metavar='DIR',
                        help="keep the files of the ranks in this folder, visible from the nodes (default: a folder in "
                        "the current one, kept only where something contradicts)")
    parser.add_argument('--approach', metavar='NAME', help="what should have happened, where no module of this project "
                        "says it: pure, bind, hybrid, opensource, openmpi or native")
    parser.add_argument('--expect', metavar='LIST', help="the same in detail, e.g. libmpi=image,libfabric=host,"
                        "provider=cxi; also container=yes|no and pmi=NAME")
    parser.add_argument('--json', action='store_true', help="print all that is known of a folder as JSON")
    # REMAINDER: options of the command are not looked at, so -- in front of it is not needed
    parser.add_argument('words', nargs=argparse.REMAINDER, metavar='DIR | [--] COMMAND',
                        help="a folder of an earlier run, or a command to run, as in: srun -N2 -n2 osu_bw H H")
    parser.usage = '%(prog)s [OPTION...] DIR | [--] COMMAND'
    parser.epilog = ("The report on a command goes to stderr. OSU_PROOF=1 in a job leaves the files of the ranks in "
                     "./osu-proof-JOB.STEP.")
    parser.set_defaults(function=main, errors=(ProofError, OSError), prog=parser.prog, parser=parser,
                        after_interrupt='nothing was judged; the files of the ranks stay')


def main(options):
    """Run or read; return the exit code."""
    words = options.words[1:] if options.words[:1] == ['--'] else options.words
    if not words:
        options.parser.error("give a folder of an earlier run, or a command: %s -- srun -N2 -n2 osu_bw H H"
                             % options.prog)
    if words is options.words and words[1:] and os.path.isdir(words[0]):  # options behind a folder are ours
        words = _behind_folder(words, options)
    if len(words) == 1 and (os.path.isdir(words[0]) or not shutil.which(words[0])):
        return read(words[0], options)
    promise_for(judging.Run('', [], None, [], []), options)  # what it does not take it says before anything runs
    if options.json:
        options.parser.error("--json is for a folder: run the command first, then %s FOLDER --json" % options.prog)
    return run(words, options)


def _behind_folder(words, options):
    """Read the options behind a folder (words: list of str) into options; return what is left of words."""
    parser = options.parser
    parser.parse_args(words[1:], options)
    if options.words:
        parser.error("one folder or one command, found behind %s: %s" % (words[0], ' '.join(options.words)))
    return words[:1]


# ---- judging ---------------------------------------------------------------------------------------------------------

def promise_for(run, options, own=None):
    """
    Return the Promise for a Run: --expect over --approach over that of the module. Raises ProofError.

    :param own: str or None, the module's promise in this shell: srun --export may keep it from the ranks
    """
    found = judging.promise_of(run.proofs) or (judging.promise_from(own) if own else None)
    if options.approach:
        found = approach_promise(options.approach, found)
    if options.expect:
        wanted, base = judging.promise_from(options.expect, asked=True), found or judging.NOTHING
        found = judging.Promise(
            wanted.approach or base.approach, base.container if wanted.container is None else wanted.container,
            dict(base.comes_from, **wanted.comes_from), wanted.provider or base.provider, wanted.pmi or base.pmi,
            wanted.asked)
    return found


def approach_promise(name, module):
    """Return the Promise of an approach (str); provider and pmi are those of the module's (Promise or None)."""
    from osu_container.core.data.approaches import APPROACHES
    if name not in APPROACHES:
        raise ProofError("unknown approach '%s'; known approaches: %s" % (name, ', '.join(sorted(APPROACHES))))
    entry, module = APPROACHES[name], module or judging.NOTHING
    return judging.Promise(name, entry['container'], entry['comes_from'], module.provider, module.pmi, False)


def judged(folders, options, own=None):
    """
    Return [(folder, Run, Promise or None, contradictions, notes)] of folders (list of str). Raises ProofError.

    :param own: str or None, as for promise_for()
    """
    found = []
    for folder in folders:
        run = judging.read_run(folder)
        promise = promise_for(run, options, own)
        problems, notes = judging.judge(run, promise)
        found.append((folder, run, promise, problems, notes))
    # A script may also start what is no MPI program, such as hostname: no contradiction beside a step that is one.
    if any(run.proofs for _, run, _, _, _ in found):
        found = [(folder, run, promise, problems if run.proofs else [], notes if run.proofs else problems + notes)
                 for folder, run, promise, problems, notes in found]
    return found


def read(folder, options):
    """Judge a folder (str) of an earlier run; return the exit code. Raises ProofError."""
    if not os.path.isdir(folder):
        raise ProofError("%s is neither a folder of an earlier run nor a command on PATH. A command: %s -- srun -N2 "
                         "-n2 osu_bw H H" % (folder, options.prog))
    folders = judging.runs_in(folder)
    if not folders:
        raise ProofError("%s holds no file of a rank (rank-0.json, ...), nor does a folder in it. "
                         "Name the folder that a proof has written (-o)" % folder)
    for step in folders:
        if time.time() - os.stat(step).st_mtime < judging.AFTER:  # the step may have ended a moment ago
            judging.wait_for(step)
    found = judged(folders, options)
    if options.json:
        print(json.dumps([text.content(*one[1:]) for one in found], indent=1, sort_keys=True))
    else:
        print('\n'.join(text.text(_name(one[0]), *one[1:]) for one in found), end='')
    return 1 if any(one[3] for one in found) else 0


def _name(folder):
    """Return what the step of a folder (str) is called in the report."""
    name = os.path.basename(os.path.abspath(folder))
    return one_line('step %s' % name if name[:1].isdigit() else name)


# ---- running ---------------------------------------------------------------------------------------------------------

def run(command, options):
    """Run command (list of str) with every task of its steps watched; return the exit code. Raises ProofError."""
    if not shutil.which(command[0]):
        raise ProofError("%s is not there. Name a command that is on PATH, or its whole path" % command[0])
    folder = os.path.abspath(options.output or time.strftime('osu-proof-%Y%m%dT%H%M%SZ', time.gmtime()))
    try:
        os.makedirs(folder, exist_ok=True)
        before = set(_steps(folder))
        env = dict(os.environ, SLURM_TASK_PROLOG=write_prolog(folder, os.environ.get('SLURM_TASK_PROLOG')))
    except OSError as err:
        raise ProofError("%s cannot be written: %s. Name another folder, which the nodes see as well, with -o DIR"
                         % (err.filename or folder, err.strerror))
    env.pop('OSU_PROOF', None)  # the wrapper would start a second sampler
    code = call(command, env)
    steps = _new_steps(folder, before)
    if not steps:
        _remove_if_empty(folder)
        print('%s: %s' % (options.prog, nothing_said(command, code)), file=sys.stderr)
        return code or 1
    for step in steps:
        judging.wait_for(step)
    found = judged(steps, options, os.environ.get('OSU_PROMISE'))
    blocks = '\n'.join(text.text(_name(one[0]), *one[1:]) for one in found)
    contradicts = any(one[3] for one in found)
    if options.output or contradicts:
        kept = os.path.relpath(folder)
    else:
        kept = 'not kept; -o DIR keeps them'
        for step in steps:
            shutil.rmtree(step, ignore_errors=True)
        _remove_if_empty(folder)
    print('\n%sfiles: %s' % (blocks, kept), file=sys.stderr)
    return code or (1 if contradicts else 0)


def _steps(folder):
    """Return the folders (list of str) of steps in the folder of a run."""
    return [path for path in (os.path.join(folder, name) for name in os.listdir(folder)) if os.path.isdir(path)]


def _new_steps(folder, before):
    """Return the folders (list of str) that steps have made since before (set of str), in their order."""
    end = time.monotonic() + FIRST
    while time.monotonic() < end:
        found = [path for path in judging.runs_in(folder) if path not in before]
        if found:
            return found
        time.sleep(0.02)
    return []


def nothing_said(command, code):
    """Return why no rank of command (list of str) left a file, as text for people; code: int, its exit code."""
    typed = shell.line(command)
    if code:
        return "nothing is proved: `%s` ended with exit code %d before a step had begun. Its own messages say " \
               "why" % (typed, code)
    return ("nothing is proved: `%s` started no step by srun that could be watched. Here the ranks must be started by "
            "srun: sbatch only hands a script in (set OSU_PROOF=1 in it), mpiexec needs osu_container/rank-proof in "
            "front of the program. srun --task-prolog= takes the place of what watches: export SLURM_TASK_PROLOG with "
            "your prolog instead" % typed)


def _remove_if_empty(folder):
    """Remove the folder of a run in which there is nothing but its prolog."""
    try:
        if os.listdir(folder) == [PROLOG]:
            os.remove(os.path.join(folder, PROLOG))
            os.rmdir(folder)
    except OSError:
        pass


def write_prolog(folder, users):
    """
    Write the script for SLURM_TASK_PROLOG into folder (str); return its path.

    :param users: str or None, the prolog that the user has set: it runs as well, and what it prints goes to Slurm,
                  which takes `export NAME=value` from it
    A file, because the variable has no place for arguments, and srun --export=NONE would leave out other variables.
    """
    path = os.path.join(folder, PROLOG)
    step = '"$SLURM_JOB_ID.$SLURM_STEP_ID"'
    lines = ['#!/bin/bash', '# Written by osu-container proof: watches a task, then does what the user wanted here.',
             'proof=%s' % shell.word(HERE), '. "$proof/sampler.sh"',
             'sample "$SLURM_TASK_PID" %s/%s' % (shell.word(folder), step)]
    if users and os.path.abspath(users) != path:
        lines.append('exec %s' % shell.word(users))
    part = '%s.part-%d' % (path, os.getpid())
    try:
        with open(part, 'wb') as handle:
            handle.write(os.fsencode('\n'.join(lines) + '\n'))  # names of folders may be no text
        os.chmod(part, 0o755)
        os.replace(part, path)
    except OSError as err:
        if os.path.exists(part):
            os.remove(part)
        raise OSError(err.errno, err.strerror, path)
    return path


def call(command, env):
    """Run command (list of str) as a shell would: Ctrl-C is its own affair; return its exit code."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = subprocess.Popen(command, env=env, preexec_fn=lambda: signal.signal(signal.SIGINT, before))
        term = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        try:
            code = child.wait()
        finally:
            signal.signal(signal.SIGTERM, term)
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def stand_alone():
    """The command osu-proof of an installed module; returns the exit code."""
    parser = argparse.ArgumentParser(prog='osu-proof', description="Show what every rank of a run really loaded and "
                                                                   "used.")
    add_arguments(parser)
    parser.epilog += ' ' + exit_codes.text_of('proof')
    streams.prepare()
    with shown():
        options = parser.parse_args()
        if len(options.words) == 1:  # a folder, or a command that is as good as none
            begin('osu-proof')

        def call():
            try:
                return options.function(options)
            except ProofError as err:
                streams.say("osu-proof: error: %s" % err)
                return 1
        return streams.guarded('osu-proof', call)

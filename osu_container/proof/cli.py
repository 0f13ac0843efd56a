"""
The command `osu-container proof`, which the modules have as osu-proof: run a command and judge what
its ranks used, or judge a folder of an earlier run.

The ranks of every step that the command starts by srun are watched (other launchers: see
build_watch_variables()). SLURM_TASK_PROLOG, an option of srun as a variable, names a script
(task-prolog) that Slurm runs before each task, as the user, with the id of the task's process. So
no option of srun is parsed, and nothing is added to the program's command line.

Python 3.6 and its standard library only.
"""

import argparse
import binascii
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from osu_container.base import shell, streams
from osu_container.base.files import require_own_folder
from osu_container.base.terminal import escape_line, escape_streams
from osu_container.data.launchers import DEFAULT_LAUNCHER, LAUNCHERS
from osu_container.proof import judging, proof_text
from osu_container.proof.judging import ProofError

#: Runs before each task of srun
PROLOG = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'task-prolog')
#: Seconds in which the first sampler of a short step makes its folder
STEP_FOLDER_TIMEOUT = 1.0


def add_arguments(parser):
    """Add the arguments of the command to parser."""
    parser.add_argument(
        '-o',
        '--output',
        metavar='DIR',
        help="keep the files of the ranks in this folder, visible from the nodes (default: a folder in "
        "the current one, kept only where something contradicts)",
    )
    parser.add_argument(
        '--approach',
        metavar='NAME',
        help="what should have happened, where no module of this project "
        "says it: pure, bind, hybrid, opensource, openmpi or native",
    )
    parser.add_argument(
        '--expect',
        metavar='LIST',
        help="the same in detail, e.g. libmpi=image,libfabric=host,"
        "provider=cxi; also container=yes|no and pmi=NAME",
    )
    parser.add_argument(
        '--json', action='store_true', help="print all that is known of a folder as JSON"
    )
    # REMAINDER: options of the command are not looked at, so -- in front of it is not needed
    parser.add_argument(
        'words',
        nargs=argparse.REMAINDER,
        metavar='DIR | [--] COMMAND',
        help="a folder of an earlier run, or a command to run, as in: srun -N2 -n2 osu_bw H H",
    )
    parser.usage = '%(prog)s [OPTION...] DIR | [--] COMMAND'
    parser.epilog = (
        "The report on a command goes to stderr. OSU_PROOF=1 in a job leaves the files of the ranks in "
        "./osu-proof-JOB.STEP."
    )
    parser.set_defaults(
        function=main,
        errors=(ProofError, OSError),
        prog=parser.prog,
        parser=parser,
        after_interrupt='nothing was judged; the files of the ranks stay',
    )


def main(options):
    """Run or read; return the exit code."""
    words = options.words[1:] if options.words[:1] == ['--'] else options.words
    if not words:
        options.parser.error(
            "give a folder of an earlier run, or a command: %s -- srun -N2 -n2 osu_bw H H"
            % options.prog
        )
    if (
        words is options.words and words[1:] and os.path.isdir(words[0])
    ):  # options behind a folder are ours
        words = _parse_trailing_options(words, options)
    if len(words) == 1 and (os.path.isdir(words[0]) or not shutil.which(words[0])):
        return report_folder(words[0], options)
    resolve_expectation(
        judging.WatchedRun('', [], None, [], []), options
    )  # what it does not take it says before anything runs
    if options.json:
        options.parser.error(
            "--json is for a folder: run the command first, then %s FOLDER --json" % options.prog
        )
    return run(words, options)


def _parse_trailing_options(words, options):
    """
    Read the options behind a folder (words: list of str) into options; return what is left of
    words.
    """
    parser = options.parser
    parser.parse_args(words[1:], options)
    if options.words:
        parser.error(
            "one folder or one command, found behind %s: %s" % (words[0], ' '.join(options.words))
        )
    return words[:1]


# ---- judging ---------------------------------------------------------------------------------------------------------


def resolve_expectation(run, options, shell_expectation=None):
    """
    Return the Promise for a Run: --expect over --approach over that of the module. Raises
    ProofError.

    :param own: str or None, the module's promise in this shell: srun --export may keep it from the
        ranks
    """
    found = judging.find_expectation(run.proofs) or (
        judging.parse_expectation(shell_expectation) if shell_expectation else None
    )
    if options.approach:
        found = build_approach_expectation(options.approach, found)
    if options.expect:
        wanted, base = (
            judging.parse_expectation(options.expect, is_explicit=True),
            found or judging.NO_EXPECTATION,
        )
        found = judging.Expectation(
            wanted.approach or base.approach,
            base.container if wanted.container is None else wanted.container,
            dict(base.library_origins, **wanted.library_origins),
            wanted.provider or base.provider,
            wanted.pmi or base.pmi,
            wanted.is_explicit,
        )
    return found


def build_approach_expectation(name, module):
    """
    Return the Promise of an approach (str); provider and pmi are those of the module's (Promise
    or None).
    """
    from osu_container.data.approaches import APPROACHES

    if name not in APPROACHES:
        raise ProofError(
            "unknown approach '%s'; known approaches: %s" % (name, ', '.join(sorted(APPROACHES)))
        )
    entry, module = APPROACHES[name], module or judging.NO_EXPECTATION
    return judging.Expectation(
        name, entry['container'], entry['comes_from'], module.provider, module.pmi, False
    )


def judge_steps(folders, options, shell_expectation=None):
    """
    Return [(folder, Run, Promise or None, contradictions, notes)] of folders (list of str). Raises
    ProofError.

    :param own: str or None, as for resolve_expectation()
    """
    found = []
    for folder in folders:
        run = judging.read_run(folder)
        promise = resolve_expectation(run, options, shell_expectation)
        problems, notes = judging.judge_run(run, promise)
        found.append((folder, run, promise, problems, notes))
    # A script may also start what is no MPI program, such as hostname: no contradiction beside a
    # step that is one.
    if any(run.proofs for _, run, _, _, _ in found):
        found = [
            (
                folder,
                run,
                promise,
                problems if run.proofs else [],
                notes if run.proofs else problems + notes,
            )
            for folder, run, promise, problems, notes in found
        ]
    return found


def report_folder(folder, options):
    """Judge a folder (str) of an earlier run; return the exit code. Raises ProofError."""
    if not os.path.isdir(folder):
        raise ProofError(
            "%s is neither a folder of an earlier run nor a command on PATH. A command: %s -- srun -N2 "
            "-n2 osu_bw H H" % (folder, options.prog)
        )
    try:
        folders = judging.list_step_folders(folder)
    except OSError as err:
        raise ProofError(
            "cannot read the folder %s: %s. Ask its owner, or name another one"
            % (folder, err.strerror)
        )
    if not folders:
        raise ProofError(
            "%s holds no file of a rank (rank-0.json, ...), nor does a folder in it. "
            "Name the folder that a proof has written (-o)" % folder
        )
    for step in folders:
        if (
            time.time() - os.stat(step).st_mtime < judging.COMPLETION_TIMEOUT
        ):  # the step may have ended a moment ago
            judging.wait_for_files(step)
    found = judge_steps(folders, options)
    if options.json:
        print(
            json.dumps(
                [proof_text.build_report_data(*one[1:]) for one in found], indent=1, sort_keys=True
            )
        )
    else:
        print(
            '\n'.join(
                proof_text.format_report(_format_step_name(one[0]), *one[1:]) for one in found
            ),
            end='',
        )
    return 1 if any(one[3] for one in found) else 0


def _format_step_name(folder):
    """Return what the step of a folder (str) is called in the report."""
    name = os.path.basename(os.path.abspath(folder))
    return escape_line('step %s' % name if name[:1].isdigit() else name)


# ---- running ---------------------------------------------------------------------------------------------------------


def run(command, options):
    """
    Run command (list of str) with every task of its steps watched; return the exit code. Raises
    ProofError.
    """
    if not shutil.which(command[0]):
        raise ProofError(
            "%s is not there. Name a command that is on PATH, or its whole path" % command[0]
        )
    folder = None
    try:
        folder = make_run_folder(options.output)
        with tempfile.TemporaryFile(
            dir=folder
        ) as probe:  # so that a full disk is told before the command runs
            probe.write(b'0')
    except OSError as err:
        _remove_if_empty(folder)
        raise ProofError(
            "%s cannot be written: %s. Name another folder, which the nodes see as well, with -o DIR"
            % (folder or err.filename, err.strerror)
        )
    token = binascii.hexlify(os.urandom(8)).decode()  # tells the steps of this proof from others
    env = dict(os.environ, OSU_PROOF_RUN=token, **build_watch_variables(command, folder))
    if 'OSU_PROOF_TASK' in env:
        env.pop('OSU_PROOF', None)  # the wrapper would start a second sampler
    code = None
    try:
        code = execute_command(command, env)
        contradicts = report_steps(folder, _find_new_steps(folder, token), command, code, options)
        return code or (1 if contradicts else 0)
    except (ProofError, OSError) as err:
        if code is None:  # the script names an interpreter that is not there, or no process is left
            raise ProofError(
                "%s cannot be started: %s. Look at its first line, or use a shell with higher limits "
                "(ulimit -a)" % (command[0], err.strerror)
            )
        if not code:
            raise
        streams.print_stderr(
            "%s: error: %s"
            % (options.prog, streams.format_os_error(err) if isinstance(err, OSError) else err)
        )
        return code  # the program's own says more
    finally:
        _remove_if_empty(folder)


def build_watch_variables(command, folder):
    """
    Return the variables (dict) by which the ranks of a command (list of str) are watched, into
    folder (str).

    Of srun it is a prolog for each task. Other launchers have none, and in a job of Slurm their
    daemons are the tasks: there the commands of a module ask for it, as for OSU_PROOF=1. Which it
    is the command's first word says, else the launcher of the module's site.
    """
    name = os.path.basename(command[0])
    others = [
        one
        for one, launcher in LAUNCHERS.items()
        if one != DEFAULT_LAUNCHER and name in launcher['command'].split()[:1] + launcher['also']
    ]
    if (
        others
        or os.environ.get('OSU_LAUNCHER', DEFAULT_LAUNCHER) != DEFAULT_LAUNCHER
        and name != DEFAULT_LAUNCHER
    ):
        return {'OSU_PROOF': folder}
    users = os.environ.get('SLURM_TASK_PROLOG', '')
    if os.path.basename(users) == os.path.basename(
        PROLOG
    ):  # of osu-native, or a proof around this one
        users = os.environ.get('OSU_PROOF_PROLOG', '')
    return {'OSU_PROOF_TASK': folder, 'OSU_PROOF_PROLOG': users, 'SLURM_TASK_PROLOG': PROLOG}


def report_steps(folder, steps, command, code, options):
    """
    Judge the steps (list of str) of a command (list of str) and say what they show; return whether
    one contradicts.

    :param folder: str, of the run; code: int, exit code of the command. Raises ProofError.
    """
    if not steps:
        raise ProofError(explain_missing_proof(command, code))
    for step in steps:
        judging.wait_for_files(step)
    found = judge_steps(steps, options, os.environ.get('OSU_PROMISE'))
    blocks = '\n'.join(
        proof_text.format_report(_format_step_name(one[0]), *one[1:]) for one in found
    )
    contradicts = any(one[3] for one in found)
    if options.output or contradicts:
        kept = os.path.relpath(folder)
    else:
        kept = 'not kept; -o DIR keeps them'
        for step in steps:
            shutil.rmtree(step, ignore_errors=True)
    print('\n%sfiles: %s' % (blocks, kept), file=sys.stderr)
    return contradicts


def make_run_folder(wanted):
    """
    Make the folder of a run; return its path (str). Raises OSError, and ProofError if it cannot be
    one.

    :param wanted: str, the user's; None: a new one in the current folder
    """
    if not wanted:
        return tempfile.mkdtemp(
            prefix=time.strftime('osu-proof-%Y%m%dT%H%M%SZ-', time.gmtime()), dir=os.getcwd()
        )
    folder = os.path.abspath(wanted)
    os.makedirs(folder, exist_ok=True)
    require_own_folder(folder)  # a script in it runs
    if judging.list_step_folders(folder) == [folder]:
        raise ProofError(
            "%s is the folder of a step: it holds files of ranks itself. Name another one with -o DIR"
            % wanted
        )
    return folder


def _find_new_steps(folder, token):
    """
    Return the folders (list of str) of the steps that the proof with this token (str) has
    watched, in order.
    """
    end = time.monotonic() + STEP_FOLDER_TIMEOUT
    while True:
        found = [
            path for path in judging.list_step_folders(folder) if judging.has_run_token(path, token)
        ]
        if found or time.monotonic() > end:
            return found
        time.sleep(0.02)


def explain_missing_proof(command, code):
    """
    Return why no rank of command (list of str) left a file, as text for people; code: int, its
    exit code.
    """
    typed = shell.join_words(command)
    if code:
        return (
            "nothing is proved: `%s` ended with exit code %d before a step had begun. Its own messages say "
            "why" % (typed, code)
        )
    return (
        "nothing is proved: `%s` started no rank that could be watched. Watched are ranks that srun starts, and "
        "commands of a module under another launcher: a program of your own under mpiexec needs "
        "scripts/rank-proof in front; sbatch only hands a script in (set OSU_PROOF=1 in it). srun "
        "--task-prolog= takes the place of what watches: export SLURM_TASK_PROLOG with your prolog instead"
        % typed
    )


def _remove_if_empty(folder):
    """Remove the folder (str or None) of a run if there is nothing in it."""
    try:
        os.rmdir(folder or '')
    except OSError:
        pass


def execute_command(command, env, passed_on=(signal.SIGTERM, signal.SIGHUP)):
    """
    Run command (list of str) as a shell would; return its exit code.

    Ctrl-C is its own affair; SIGTERM and SIGHUP are passed on (passed_on: tuple of int). Where this
    process is killed it gets SIGTERM: nobody would judge what it does, and nobody might know that
    it runs.
    """
    passed, ending = {}, streams.terminate_with_parent(os.getpid())
    alone = (
        threading.current_thread() is not threading.main_thread()
    )  # a thread has no say in signals
    before = signal.SIG_DFL if alone else signal.signal(signal.SIGINT, signal.SIG_IGN)

    def prepare():
        signal.signal(signal.SIGINT, before)
        ending()

    try:
        child = subprocess.Popen(command, env=env, preexec_fn=prepare)
        for number in () if alone else passed_on:
            if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                passed[number] = signal.signal(number, lambda sent, _: child.send_signal(sent))
        code = child.wait()
    finally:
        for number, handler in passed.items():
            signal.signal(number, handler)
        if not alone:
            signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def run_standalone():
    """The command osu-proof of an installed module; returns the exit code."""
    from osu_container import cli

    parser = cli.Parser(
        prog='osu-proof', description="Show what every rank of a run really loaded and used."
    )
    add_arguments(parser)
    parser.add_exit_codes('proof')

    def run_shown():
        with escape_streams():
            return cli.run_subcommand(parser.parse_args())

    return streams.run_process(run_shown)

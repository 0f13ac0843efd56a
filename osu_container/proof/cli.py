"""
Run `osu-container proof`: judge which MPI, libfabric and network a run used.

The command runs a program and judges its ranks. If the command gets the folder of an earlier run,
the command judges the files in this folder. Installed modules provide the same command under the
name osu-proof.

To observe the ranks, the command sets the environment variable SLURM_TASK_PROLOG, which has the
same effect as srun's option --task-prolog. On the node of each task, Slurm runs the script
proof/task-prolog before the task starts. The script runs as the user and gets the process id of the
task. Therefore the command neither parses options of srun nor changes the command line of the
program. The docstring of build_watch_variables() describes other launchers, such as mpiexec.

This module needs only Python 3.6 and its standard library.
"""

import argparse
import binascii
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from osu_container.base import shell, streams
from osu_container.base.files import read_text, require_own_folder
from osu_container.base.terminal import escape_line, escape_streams
from osu_container.data.approaches import APPROACHES
from osu_container.data.launchers import DEFAULT_LAUNCHER, LAUNCHERS
from osu_container.proof import judging, patterns, proof_text
from osu_container.proof.judging import ProofError

#: Script that Slurm runs before each task of srun
PROLOG = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'task-prolog')
#: Time limit in seconds for the first sampler of a step to create its folder
STEP_FOLDER_TIMEOUT = 1.0

#: Folder of a step, its ranks, the expectation, contradictions and notes
JudgedStep = Tuple[str, judging.WatchedRun, Optional[judging.Expectation], List[str], List[str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        '-o',
        '--output',
        metavar='DIR',
        help="write the files of the ranks to the folder DIR, which all nodes must see, and keep the files (default: "
        "a new folder in the current folder; the new folder is kept only if a rank contradicts the expectation)",
    )
    parser.add_argument(
        '--approach',
        metavar='NAME',
        help="compare the ranks with the approach NAME instead of the approach of the loaded module; NAME is "
        "pure, bind, hybrid, opensource, openmpi or native",
    )
    parser.add_argument(
        '--expect',
        metavar='LIST',
        help="compare the ranks with the values in LIST, for example libmpi=image,libfabric=host,provider=cxi; "
        "LIST may also contain container=yes|no and pmi=NAME",
    )
    parser.add_argument(
        '--json',
        action='store_true',
        help="judge the folder DIR of an earlier run and print the judgement as JSON",
    )
    parser.add_argument(
        '--patterns',
        action='store_true',
        help="run communication patterns of applications (threads, fork, MPI-IO, ...) instead of a program; COMMAND "
        "starts the ranks, for example: srun -N2 -n2 osu-exec",
    )
    # With REMAINDER, argparse does not parse the options of the command, even without a -- before it.
    parser.add_argument(
        'words',
        nargs=argparse.REMAINDER,
        metavar='DIR | [--] COMMAND',
        help="the folder of an earlier run, or a command to run, for example: srun -N2 -n2 osu_bw H H",
    )
    parser.usage = '%(prog)s [OPTION...] DIR | [--] COMMAND'
    parser.epilog = (
        "If COMMAND is given, the report is printed to stderr. If the job script sets "
        "OSU_PROOF=1, the ranks of each job step write files to ./osu-proof-JOB.STEP, even if the "
        "job script does not run osu-container proof."
    )
    parser.set_defaults(
        function=main,
        errors=(ProofError, OSError),
        prog=parser.prog,
        parser=parser,
        after_interrupt='no rank was judged, and the files of the ranks are kept',
    )


def main(options: argparse.Namespace) -> int:
    """Run a command and judge its ranks, or judge an earlier run; return the exit code."""
    words = options.words[1:] if options.words[:1] == ['--'] else options.words
    if not words:
        options.parser.error(
            "no folder or command given. Give the folder of an earlier run, or a command such as: "
            "%s -- srun -N2 -n2 osu_bw H H" % options.prog
        )
    if words is options.words and words[1:] and os.path.isdir(words[0]):
        options.parser.parse_args(words[1:], options)  # options that follow the folder
        if options.words:
            options.parser.error(
                "unexpected words after the folder %s: %s. Give one folder or one command"
                % (words[0], ' '.join(options.words))
            )
        words = words[:1]
    if len(words) == 1 and (os.path.isdir(words[0]) or not shutil.which(words[0])):
        return report_folder(words[0], options)
    # Invalid values of --approach and --expect are reported before the command runs.
    resolve_expectation(judging.WatchedRun('', [], None, [], []), options)
    if options.json:
        options.parser.error(
            "--json needs the folder of an earlier run. Run the command first with -o FOLDER, then: %s FOLDER --json"
            % options.prog
        )
    return run(words, options)


# ---- judging ---------------------------------------------------------------------------------------------------------


def resolve_expectation(
    run: judging.WatchedRun, options: argparse.Namespace, shell_expectation: Optional[str] = None
) -> Optional[judging.Expectation]:
    """
    Return the expectation for the ranks of a run, or None if nothing is expected.

    An expectation lists the MPI, libfabric and network that the ranks should use. An installed
    module stores the expectation in the variable OSU_PROMISE. The option --approach replaces the
    approach and the libraries of the expectation. The option --expect replaces the values that the
    option lists.

    shell_expectation: value of OSU_PROMISE in this shell, for ranks without this variable (srun's
    option --export can remove the variable). Raises ProofError if the value of an option is
    invalid.
    """
    expectation = judging.find_expectation(run.proofs) or (
        judging.parse_expectation(shell_expectation) if shell_expectation else None
    )
    if options.approach:
        if options.approach not in APPROACHES:
            raise ProofError(
                "unknown approach '%s'; known approaches: %s"
                % (options.approach, ', '.join(sorted(APPROACHES)))
            )
        entry: Dict[str, Any] = APPROACHES[options.approach]
        expectation = (expectation or judging.NO_EXPECTATION)._replace(
            approach=options.approach,
            container=entry['container'],
            library_origins=entry['comes_from'],
            is_explicit=False,
        )
    if options.expect:
        explicit = judging.parse_expectation(options.expect, is_explicit=True)
        base = expectation or judging.NO_EXPECTATION
        changes = {name: value for name, value in explicit._asdict().items() if value is not None}
        changes['library_origins'] = dict(base.library_origins, **explicit.library_origins)
        expectation = base._replace(**changes)
    return expectation


def judge_steps(
    folders: Iterable[str], options: argparse.Namespace, shell_expectation: Optional[str] = None
) -> List[JudgedStep]:
    """
    Judge the ranks of Slurm steps, and return one JudgedStep for each step's folder.

    shell_expectation: see resolve_expectation(). Raises ProofError if the file of a rank is
    damaged.
    """
    judged = []
    for folder in folders:
        run = judging.read_run(folder)
        expectation = resolve_expectation(run, options, shell_expectation)
        problems, notes = judging.judge_run(run, expectation)
        judged.append((folder, run, expectation, problems, notes))
    # A script may also run programs without MPI, such as hostname. They are no contradiction if
    # another step has MPI.
    if any(run.proofs for _, run, _, _, _ in judged):
        judged = [step if step[1].proofs else step[:3] + ([], step[3] + step[4]) for step in judged]
    return judged


def report_folder(folder: str, options: argparse.Namespace) -> int:
    """
    Judge the folder of an earlier run, print the report and return the exit code.

    Raises ProofError if the folder contains no file of a rank, or if the file of a rank is damaged.
    """
    if not os.path.isdir(folder):
        raise ProofError(
            "%s is no folder of an earlier run, and no command on PATH. Give a command such as: "
            "%s -- srun -N2 -n2 osu_bw H H" % (folder, options.prog)
        )
    try:
        folders = judging.list_step_folders(folder)
    except OSError as err:
        raise ProofError(
            "cannot read the folder %s: %s. Ask the owner of the folder for access, or give "
            "another folder" % (folder, err.strerror)
        )
    if not folders:
        raise ProofError(
            "the folder %s and its subfolders contain no file of a rank (rank-0.json, ...). "
            "Give the folder DIR that the earlier run used with -o DIR" % folder
        )
    for step in folders:
        # If the step has just ended, its samplers may still write their files.
        if time.time() - os.stat(step).st_mtime < judging.COMPLETION_TIMEOUT:
            judging.wait_for_files(step)
    judged = judge_steps(folders, options)
    if options.json:
        print(
            json.dumps(
                [proof_text.build_report_data(*step[1:]) for step in judged],
                indent=1,
                sort_keys=True,
            )
        )
    else:
        print(_format_steps(judged), end='')
    return 1 if any(step[3] for step in judged) else 0


def _format_steps(judged: Iterable[JudgedStep]) -> str:
    reports = []
    for step in judged:
        name = os.path.basename(os.path.abspath(step[0]))
        name = escape_line('step %s' % name if name[:1].isdigit() else name)
        reports.append(proof_text.format_report(name, *step[1:]))
    return '\n'.join(reports)


# ---- running ---------------------------------------------------------------------------------------------------------


def run(command: List[str], options: argparse.Namespace) -> int:
    """
    Run a command, judge which MPI and network its ranks used, and return the exit code.

    Raises ProofError if the command cannot be started, or if no rank has left a file to judge.
    """
    if not shutil.which(command[0]):
        raise ProofError(
            "command not found: %s. Give a command that is on PATH, or the full path of a command"
            % command[0]
        )
    folder = None
    try:
        folder = make_run_folder(options.output)
        # Detect a full disk before the command runs.
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b'0')
    except OSError as err:
        _remove_if_empty(folder)
        raise ProofError(
            "cannot write to %s: %s. Use the option -o DIR, where DIR is another folder that all nodes see"
            % (folder or err.filename, err.strerror)
        )
    token = binascii.hexlify(os.urandom(8)).decode()  # identifies the steps of this proof
    env = dict(os.environ, OSU_PROOF_RUN=token, **build_watch_variables(command, folder))
    if 'OSU_PROOF_TASK' in env:
        env.pop('OSU_PROOF', None)  # the wrapper would start a second sampler
    code = None
    try:
        code = (execute_patterns if options.patterns else execute_command)(command, env)
        contradicts = report_steps(folder, _find_new_steps(folder, token), command, code, options)
        return code or (1 if contradicts else 0)
    except (ProofError, OSError) as err:
        # The script's interpreter does not exist, or the process limit is reached.
        if code is None and isinstance(err, OSError):
            raise ProofError(
                "cannot start %s: %s. If the command is a script, check the interpreter in the first line (#!). "
                "Check also the limits of this shell: ulimit -a" % (command[0], err.strerror)
            )
        if not code:
            raise
        streams.print_stderr(
            "%s: error: %s"
            % (options.prog, streams.format_os_error(err) if isinstance(err, OSError) else err)
        )
        return code  # the exit code of the program tells more than the exit code of the proof
    finally:
        _remove_if_empty(folder)


def execute_patterns(command: List[str], env: Dict[str, str]) -> int:
    """
    Run the communication patterns with the ranks that a command starts, and print the outcomes.

    Return 1 if a pattern hangs, fails or computes a wrong value, else 0. Raises ProofError if a
    signal has ended the command.
    """

    def start(words: List[str]) -> Tuple[str, str]:
        with tempfile.TemporaryFile() as output:
            code = execute_command(command + ['python3'] + words, env, stdout=output)
            output.seek(0)
            if code in (128 + signal.SIGINT, 128 + signal.SIGTERM):
                raise ProofError(
                    'the test of communication patterns was interrupted: %s exited with code %d'
                    % (command[0], code)
                )
            return 'exit code %d' % code, output.read().decode('utf-8', 'replace')

    env, code = patterns.add_bind(env), 0
    for outcome in patterns.run_patterns(start):
        print(outcome, flush=True)
        code = code or int(outcome.is_bad)
    return code


def build_watch_variables(command: Sequence[str], folder: str) -> Dict[str, str]:
    """
    Return environment variables that make the ranks of a command write files to `folder`.

    srun runs a prolog script before each task, and the prolog script starts the sampler. Other
    launchers, such as mpiexec, run no prolog script. Inside a Slurm job such a launcher uses srun
    only to start its daemons, so a prolog script of srun would watch the daemons and not the ranks.
    For such a launcher, the function sets the variable OSU_PROOF, and the commands of an installed
    module then start the sampler.

    The launcher is the first word of the command if this word is a known launcher. Otherwise the
    launcher is the value of OSU_LAUNCHER, which the module sets for the site.
    """
    name = os.path.basename(command[0])
    others = [
        key
        for key, launcher in LAUNCHERS.items()
        if key != DEFAULT_LAUNCHER and name in launcher['command'].split()[:1] + launcher['also']
    ]
    if (
        others
        or os.environ.get('OSU_LAUNCHER', DEFAULT_LAUNCHER) != DEFAULT_LAUNCHER
        and name != DEFAULT_LAUNCHER
    ):
        return {'OSU_PROOF': folder}
    users = os.environ.get('SLURM_TASK_PROLOG', '')
    # The module osu-native, or an enclosing proof, has set the prolog of this project.
    if os.path.basename(users) == os.path.basename(PROLOG):
        users = os.environ.get('OSU_PROOF_PROLOG', '')
    return {'OSU_PROOF_TASK': folder, 'OSU_PROOF_PROLOG': users, 'SLURM_TASK_PROLOG': PROLOG}


def report_steps(
    folder: str, steps: List[str], command: List[str], code: int, options: argparse.Namespace
) -> bool:
    """
    Report on the ranks of a command; return whether a rank contradicts the expectation.

    folder: folder of the run, with one subfolder for each Slurm step. code: exit code of the
    command. Raises ProofError if no rank has left a file to judge.
    """
    for step in steps:
        judging.wait_for_files(step)
    judged = judge_steps(steps, options, os.environ.get('OSU_PROMISE'))
    contradicts = any(step[3] for step in judged)
    has_mpi = any(step[1].proofs for step in judged)
    kept = os.path.relpath(folder)
    if not options.output and (not contradicts or code and not has_mpi):
        kept = 'not kept; -o DIR keeps them'
        for step in steps:
            shutil.rmtree(step, ignore_errors=True)
    if code and not has_mpi:
        raise ProofError(
            "nothing to prove: %s exited with code %d, see the output of the command above"
            % (command[0], code)
        )
    if not steps:
        raise ProofError(
            "nothing to prove: `%s` started no rank that osu-container proof can watch. Start the "
            "program with srun, or with a command of an installed module. If mpiexec starts your "
            "own program, write scripts/rank-proof FOLDER before the name of the program. In a "
            "script for sbatch, write export OSU_PROOF=1. If srun has the option "
            "--task-prolog=PROLOG, replace this option by export SLURM_TASK_PROLOG=PROLOG"
            % shell.join_words(command)
        )
    print('\n%sfiles: %s' % (_format_steps(judged), kept), file=sys.stderr)
    return contradicts


def make_run_folder(output: Optional[str]) -> str:
    """
    Create the folder for the files of a run, and return the path of the folder.

    output: path of the folder. If `output` is None, the function creates a folder with a new name
    in the current folder. Raises OSError if the folder cannot be created. Raises ProofError if the
    folder already contains files of ranks.
    """
    if not output:
        return tempfile.mkdtemp(
            prefix=time.strftime('osu-proof-%Y%m%dT%H%M%SZ-', time.gmtime()), dir=os.getcwd()
        )
    folder = os.path.abspath(output)
    os.makedirs(folder, exist_ok=True)
    require_own_folder(folder)  # no other user may put a script there
    if judging.list_step_folders(folder) == [folder]:
        raise ProofError(
            "%s already contains files of ranks. Choose another folder with -o DIR" % output
        )
    return folder


def _find_new_steps(folder: str, token: str) -> List[str]:
    """
    Return the subfolders of `folder` whose files contain `token`, ordered by step number.

    The token identifies the Slurm steps that one call of `osu-container proof` has started.
    """
    end = time.monotonic() + STEP_FOLDER_TIMEOUT
    while True:
        steps = [
            path for path in judging.list_step_folders(folder) if judging.has_run_token(path, token)
        ]
        if steps or time.monotonic() > end:
            return steps
        time.sleep(0.02)


def _remove_if_empty(folder: Optional[str]) -> None:
    with contextlib.suppress(OSError):
        os.rmdir(folder or '')


def execute_command(
    command: List[str],
    env: Dict[str, str],
    passed_on: Sequence[int] = (signal.SIGTERM, signal.SIGHUP),
    stdout: Any = None,
) -> int:
    """
    Run a command like a shell does and return its exit code.

    This process forwards the signals in `passed_on` to the command. If `passed_on` lacks SIGINT,
    this process ignores SIGINT, because the terminal sends Ctrl-C to the command as well. Raises
    KeyboardInterrupt if this process has forwarded SIGINT. If this process is killed, the kernel
    sends SIGTERM to the command: without this process, nothing would judge the ranks.
    """
    replaced: Dict[int, Any] = {}
    forwarded: List[int] = []
    old_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)

    def forward(number: int, _: object) -> None:
        forwarded.append(number)
        # After SIGINT, salloc would send SIGTERM to its command, which would then name SIGTERM.
        path = '/proc/%d/task/%d/children' % (child.pid, child.pid)
        commands = read_text(path).split() if number == signal.SIGINT else []
        for pid in commands or [str(child.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), number)

    try:
        with streams.prepare_child(lambda: signal.signal(signal.SIGINT, old_handler)) as prepare:
            child = subprocess.Popen(command, env=env, preexec_fn=prepare, stdout=stdout)
        for number in passed_on:
            if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                replaced[number] = signal.signal(number, forward)
        code = child.wait()
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
        signal.signal(signal.SIGINT, old_handler)
    if signal.SIGINT in forwarded:
        raise KeyboardInterrupt
    return code if code >= 0 else 128 - code


def run_standalone() -> int:
    """Run the command osu-proof of an installed module and return the exit code."""
    from osu_container import cli

    parser = cli.Parser(
        prog='osu-proof',
        description="Show which MPI, libfabric and network every rank of a run really used.",
    )
    add_arguments(parser)
    parser.add_exit_codes('proof')

    def run_shown() -> int:
        with escape_streams():
            return cli.run_subcommand(parser.parse_args())

    return streams.run_process(run_shown)

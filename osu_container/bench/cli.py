"""
Define the command line of `osu-container bench`.

The command runs benchmarks in a Slurm job: with the container module of each approach, and with the
native module, which uses no container.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from osu_container.base import shell, streams
from osu_container.base.terminal import mask_secrets
from osu_container.bench import (
    BenchError,
    cases,
    holding,
    installed_modules,
    plan,
    reframe_settings,
)
from osu_container.bench.results import model, run_files, select
from osu_container.bench.results.import_cli import parse_whole_number
from osu_container.bench.session import RunSpec, Session, list_remaining_runs
from osu_container.data.launchers import BATCH_SYSTEMS
from osu_container.proof import judging
from osu_container.proof.cli import execute_command
from osu_container.verdict import launching

EXAMPLES = """examples:
  osu-container bench --dry-run                       print the planned runs
  osu-container bench                                 measure tag quick with every installed module
  osu-container bench --tag published --account project_465000000
  osu-container bench --module osu-native --module osu-container/hybrid --repeats 7 osu_bw osu_latency-HH
  osu-container bench --resume latest                 continue the newest unfinished run
  osu-container bench --module lammps/pure --module lammps/hybrid --run 'lmp -in in.lj' --ranks 8
                                                      your own command: docs/your-own-container.md

Outside a job, bench requests a job from Slurm (salloc) and measures in this job. --resume continues a
run that was interrupted or lost its job. To see the results: osu-container compare latest, or
osu-container report latest -o report.html."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `osu-container bench` to the parser."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        'patterns',
        nargs='*',
        metavar='PATTERN',
        help="measure only runs whose name contains PATTERN, e.g. 'osu_bw'. If PATTERN has one of the "
        "wildcards * ? [ ], PATTERN must match the whole name of a run, e.g. '*-HH-2x1-*'",
    )
    parser.add_argument(
        '--tag',
        '-t',
        choices=list(cases.TAGS),
        metavar='TAG',
        help='; '.join(f'{tag}: {title}' for tag, title in cases.TAG_TITLES.items())
        + ' (default: quick)',
    )
    parser.add_argument(
        '--module',
        '-m',
        action='append',
        metavar='NAME',
        dest='modules',
        help='installed module to measure, e.g. osu-container/hybrid; may be repeated (default: '
        'all installed modules, native first)',
    )
    parser.add_argument(
        '--repeats',
        '-r',
        type=parse_whole_number,
        metavar='N',
        help="number of times to repeat each measurement (default: "
        f"{', '.join(f'{tag} {number}' for tag, number in cases.REPEATS.items())}). With --resume, "
        "the default is the number of repeats of the interrupted run; a larger N adds repeats",
    )
    parser.add_argument(
        '--dry-run',
        '-n',
        action='store_true',
        help='print the planned measurements, but measure nothing. With --resume, print the '
        'missing measurements',
    )
    parser.add_argument(
        '--resume',
        metavar='RUN',
        help='continue an interrupted run. RUN is the folder or the name of the run, or the word '
        'latest for the newest unfinished run',
    )
    parser.add_argument(
        '--output',
        '-o',
        type=Path,
        metavar='DIR',
        help="new folder for this run (default: a folder in the results folder, with the UTC time "
        f"as its name). The variable {select.RESULTS_VARIABLE} contains the path of the "
        "results folder. If the variable is not set, the results folder is .workstation/results in "
        "a clone of osu-container that `make demo` has set up, otherwise "
        "$XDG_DATA_HOME/osu-container/results (XDG_DATA_HOME is ~/.local/share by default)",
    )
    parser.add_argument(
        '--nodes',
        '-N',
        type=parse_whole_number,
        default=None,
        metavar='N',
        help="number of nodes of the job; measurements that need more nodes are skipped (default: "
        "the number of nodes of the current job, or 2 outside of a job)",
    )
    parser.add_argument(
        '--account',
        '-A',
        metavar='A',
        help='account or project that pays for the job (default: value of SALLOC_ACCOUNT, '
        'SBATCH_ACCOUNT or SLURM_ACCOUNT)',
    )
    parser.add_argument(
        '--partition',
        '-p',
        metavar='P',
        help="partition of the job (default: the partition in the site data)",
    )
    parser.add_argument(
        '--time',
        metavar='T',
        help='time limit of the job in the format of salloc (default: an estimate). With --run, the '
        'estimate is the number of executions times the value of --limit, or times one minute if '
        '--limit is not given',
    )
    parser.add_argument(
        '--validate',
        '-c',
        action='store_true',
        help='let the benchmarks compare received data with sent data (option -c), so that a run with '
        'wrong data fails. Results of validated runs can be compared only with results of other '
        'validated runs',
    )
    command_group = parser.add_argument_group(
        'options to measure your own command instead of the benchmarks'
    )
    command_group.add_argument(
        '--run',
        metavar='COMMAND',
        help="command to run in the current folder, once with each of the modules that you select "
        "with --module. The result is the time from the start to the end of the launcher, such as "
        "srun",
    )
    command_group.add_argument(
        '--ranks',
        type=parse_whole_number,
        metavar='N',
        help='total number of ranks (default: one rank per node)',
    )
    command_group.add_argument(
        '--figure',
        metavar='REGEX',
        help="measure a number that the command prints, not the time of the command. The parentheses in "
        r"the regular expression REGEX must enclose the number, e.g. 'Loop time of (\S+)'",
    )
    command_group.add_argument('--unit', metavar='U', help='unit of the number (default: s)')
    command_group.add_argument(
        '--more-is-better',
        action='store_true',
        help='treat a larger number as better (default: a smaller number is better)',
    )
    command_group.add_argument(
        '--limit',
        type=parse_whole_number,
        metavar='SECONDS',
        help="time limit of one execution of the command, in seconds (default: "
        f"{cases.TIME_LIMIT})",
    )
    parser.set_defaults(
        function=main,
        prog='osu-container bench',
        parser=parser,
        errors=(
            BenchError,
            run_files.ResultsError,
            select.SelectError,
            judging.ProofError,
            OSError,
        ),
        after_interrupt='nothing was measured',
    )


def main(options: argparse.Namespace) -> int:
    """Run the benchmarks and return the exit code; with --dry-run, only print the plan."""
    base = installed_modules.resolve_lmod_environment()
    folder = _find_resumed_run(options.resume) if options.resume else None
    spec = _build_run_spec(options, base, folder)
    modules = [installed_modules.load_module(name, base) for name in spec.modules]
    site = installed_modules.resolve_common_site(modules)
    runs = plan.plan_runs(spec, modules, site)
    results = folder / run_files.RESULTS_FILE if folder else None
    remaining = list_remaining_runs(results, runs, spec.repeats)
    if not remaining:
        print(f"the run in {folder} is complete: no measurement is missing.")
        return 0
    if options.dry_run:
        return _print_plan(runs, remaining, spec, site, options, folder)
    _check_slurm(site, spec, base)
    # Missing packages and a locked folder are errors before Slurm grants a job.
    for package in ('ClusterShell', 'reframe'):
        if not importlib.util.find_spec(package):
            raise ModuleNotFoundError(name=package)
    if folder:
        with holding.lock_run(folder):
            pass
    else:
        folder = _resolve_new_folder(options)
    if not launching.find_job(base)[0]:
        return _run_in_job(options, spec, site, runs, base)
    return _run_session(options, spec, modules, base, folder)


def _resolve_new_folder(options: argparse.Namespace) -> Path:
    """
    Return the path of the folder for the results of a new run.

    Raises BenchError if the path contains a blank, or if --output names a folder that is not empty.
    """
    name = time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
    folder: Path = (options.output or select.resolve_results_folder() / name).absolute()
    if len(str(folder).split()) != 1:
        raise BenchError(
            f"the path {folder} contains a blank, and ReFrame cannot run in such a folder. Choose "
            "another folder with --output DIR"
        )
    if options.output and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BenchError(
            f"the folder {folder} is not empty, and bench never overwrites results. Choose another "
            "folder with --output DIR, or continue the run: osu-container bench --resume "
            f"{shell.quote_path(folder)}"
        )
    return folder


def _build_run_spec(
    options: argparse.Namespace, base: dict[str, str], folder: Path | None
) -> RunSpec:
    """
    Return the RunSpec, which says what to measure, from the user's options.

    For a resumed run, the RunSpec is read from the results of this run.

    folder: folder of the resumed run, None for a new run
    """
    account = options.account or next(
        filter(None, map(os.environ.get, ('SALLOC_ACCOUNT', 'SBATCH_ACCOUNT', 'SLURM_ACCOUNT'))),
        None,
    )
    if folder:
        conflicts = [
            '--' + name
            for name in NEW_RUN_OPTIONS
            if getattr(options, 'modules' if name == 'module' else name)
        ]
        conflicts += [*options.patterns, *_list_command_options(options)]
        if conflicts:
            raise BenchError(
                f"--resume cannot be combined with {', '.join(conflicts)}: the resumed run "
                f"{folder} keeps the options with which the run was started. Leave out the named "
                "options, or start a new run without --resume"
            )
        try:
            spec = RunSpec(**run_files.read_entries(folder)[0][0][1]['wanted'])
        except (KeyError, TypeError) as err:
            raise BenchError(
                f"--resume cannot continue {folder}: the file {run_files.RESULTS_FILE} does not "
                f"record all options of the run (missing or unknown: {err}). Start a new run without --resume"
            ) from err
        spec.partition, spec.account = options.partition, account
        spec.repeats = options.repeats or spec.repeats
        return spec
    _check_command_options(options)
    names = options.modules or installed_modules.list_installed_modules(base)
    if not names:
        raise BenchError(
            "MODULEPATH contains neither a module osu-native nor a module osu-container. Install both: eb "
            "osu-native.eb -r; eb osu-container-hybrid.eb -r"
        )
    nodes = options.nodes or launching.count_job_nodes(base) or 2
    tag = 'run' if options.run else options.tag or 'quick'
    return RunSpec(
        tag,
        list(dict.fromkeys(names)),
        options.repeats or cases.REPEATS[tag],
        options.patterns,
        nodes,
        options.partition,
        account,
        _parse_user_command(options, nodes),
        options.validate,
    )


#: Options that are valid only with --run, by their names in argparse
COMMAND_OPTIONS = ('ranks', 'figure', 'unit', 'more_is_better', 'limit')

#: Options that define a new run
NEW_RUN_OPTIONS = ('tag', 'module', 'output', 'nodes', 'run')


def _list_command_options(options: argparse.Namespace) -> list[str]:
    """Return those of the user's options that are valid only together with --run."""
    return ['--' + name.replace('_', '-') for name in COMMAND_OPTIONS if getattr(options, name)]


def _check_command_options(options: argparse.Namespace) -> None:
    """Raise BenchError if the user's options contradict --run or contradict each other."""
    if not options.run:
        conflicts = _list_command_options(options)
        if conflicts:
            raise BenchError(f"{', '.join(conflicts)}: valid only with --run COMMAND")
        return
    if not options.modules:
        raise BenchError(
            "--run needs one or more modules that provide the command. Name each module with "
            "--module NAME/APPROACH"
        )
    if options.validate:
        raise BenchError(
            "--validate cannot be combined with --run, because only the benchmarks can check the "
            "data that they receive. Leave out --validate"
        )
    if options.patterns:
        raise BenchError(
            f"--run cannot be combined with a PATTERN, found the pattern {' '.join(options.patterns)}. If "
            "the pattern belongs to the command, quote the whole command: --run 'COMMAND ARGUMENTS'"
        )
    if options.figure is None and (options.unit or options.more_is_better):
        raise BenchError(
            "--unit and --more-is-better are valid only for a number that the command prints. "
            "Select the number in the output of the command with --figure REGEX"
        )
    if options.unit and not re.fullmatch(r'[^\s:,]+', options.unit):
        raise BenchError(
            f"--unit {options.unit!r} is not valid. Give one word that contains "
            "neither a colon nor a comma"
        )
    if options.figure is not None:
        try:
            groups = re.compile(options.figure).groups
        except re.error as err:
            raise BenchError(
                rf"--figure '{options.figure}' is not a regular expression: {err}. Put \ in front "
                r"of each special character that should match literally"
            ) from err
        if groups != 1:
            raise BenchError(
                rf"--figure '{options.figure}' has {groups} groups (pairs of parentheses), expected one group. Put one "
                r"pair of parentheses around the number, as in 'Loop time of (\S+)'"
            )


def _parse_user_command(options: argparse.Namespace, nodes: int) -> dict[str, Any] | None:
    """
    Return the user's command and its settings as a dict, for RunSpec.run.

    The result is None if the user has not set the option --run. Raises BenchError if the command is
    empty, has an open quote or contains a secret.
    """
    if not options.run:
        return None
    try:
        words = shlex.split(options.run)
    except ValueError as err:
        raise BenchError(
            rf"--run {options.run} is not a valid command line: {err}. Close the quote, or put \ "
            r"in front of the quote"
        ) from err
    if not words:
        raise BenchError("--run: the command is empty. Give a command: --run 'COMMAND ARGUMENTS'")
    if mask_secrets(options.run) != options.run:
        raise BenchError(
            f"--run {mask_secrets(options.run)} contains a secret, and the results would show "
            "this secret. Export the secret as an environment variable, or put the command into "
            "a script"
        )
    return {
        'words': words,
        'ranks': options.ranks or nodes,
        'folder': os.getcwd(),
        'figure': options.figure,
        'variant': model.format_figure_variant(
            options.unit or 's', options.figure or 'time of the step', options.more_is_better
        ),
        'limit': options.limit or cases.TIME_LIMIT,
    }


def _find_resumed_run(text: str) -> Path:
    """
    Return the folder of the run that the option --resume names.

    Raises BenchError if the option is `latest` and there is no unfinished run. Raises ResultsError
    if no run has the given name.
    """
    if text == select.LATEST:
        unfinished = [
            path
            for path in select.list_run_folders()
            if not run_files.has_ended(path) and not select.starts_in_future(path)
        ]
        if not unfinished:
            raise BenchError(
                f"the results folder {select.resolve_results_folder()} contains no unfinished run that "
                "--resume can continue. Name another run: --resume RUN"
            )
        return unfinished[-1].resolve()
    return run_files.resolve_results_file(
        text if Path(text).exists() else select.resolve_results_folder() / text
    ).parent.resolve()


def _print_plan(
    runs: list[plan.PlannedRun],
    remaining: list[tuple[plan.PlannedRun, int]],
    spec: RunSpec,
    site: dict[str, Any],
    options: argparse.Namespace,
    folder: Path | None,
) -> int:
    """
    Print the launch commands of all benchmark cases, and the skipped runs.

    The result is the exit code.

    folder: folder of the resumed run, None for a new run
    """
    shown = list(dict.fromkeys(run for run, _ in remaining))
    if folder:
        total = sum(not run.skip_reason for run in runs) * spec.repeats
        print(
            f"the run in {folder} (tag {spec.tag}, site {site['name']}) still lacks "
            f"{len(remaining)} of {total} measurements"
        )
    else:
        print(f"tag {spec.tag} on site {site['name']}: {len(shown)} runs, {spec.repeats} repeats")
    if launching.select_batch_system(site) is BATCH_SYSTEMS['slurm']:
        print('job:  ' + shlex.join(_build_salloc_command(spec, site, options, shown)))
    by_case: dict[tuple[model.Case, str], list[str]] = {}
    reasons: dict[str, list[str]] = {}
    for run in shown:
        by_case.setdefault((run.case, run.command_line), []).append(run.module)
    for (case, command_line), names in by_case.items():
        print(f"\n{case.title}\n    {command_line}\n    with {', '.join(names)}")
    for run in runs if not folder else ():
        if run.skip_reason:
            reasons.setdefault(run.skip_reason, []).append(run.name)
    if reasons:
        print('\nskipped:')
    for reason, names in reasons.items():
        print(
            f"  {reason}\n      {', '.join(names[:4])}"
            + (f" and {len(names) - 4} more" if len(names) > 4 else '')
        )
    return 0


def _build_salloc_command(
    spec: RunSpec,
    site: dict[str, Any],
    options: argparse.Namespace,
    runs: list[plan.PlannedRun],
) -> list[str]:
    """
    Return the salloc command that requests the job for the benchmarks.

    The command that salloc then runs in the job is not included.
    """
    ranks = max(run.ranks for run in runs)
    seconds = 3 * (cases.ESTIMATED_SECONDS * len(runs) * spec.repeats + 10 * len(spec.modules))
    if spec.run:  # estimate a minute for each execution, unless the user has set --limit
        seconds = len(runs) * (spec.repeats + 1) * (options.limit or 60)
    return [
        'salloc',
        f'-N{spec.nodes}',
        f'-n{max(ranks, spec.nodes)}',
        f'--time={options.time or max(10, round(seconds / 60))}',
        '--job-name=osu-container-bench',
        '--kill-command=TERM',
        *reframe_settings.build_job_options(site, partition=spec.partition, account=spec.account),
    ]


def _check_slurm(site: dict[str, Any], spec: RunSpec, base: dict[str, str]) -> None:
    """
    Raise BenchError if the benchmarks cannot be started.

    The possible reasons are: the launcher is missing, the user has not set an account, or this
    shell is outside of a job and cannot request a job.
    """
    name, batch = (
        launching.select_launcher_command(site).split()[0],
        launching.select_batch_system(site),
    )
    if not shutil.which(name, path=base.get('PATH')):
        raise BenchError(
            f"{name}, the launcher of site {site['name']}, is not on PATH. "
            + (
                f"On your own machine, run `make demo` in {installed_modules.PROJECT}: `make demo` sets "
                "up a private Slurm"
                if name == 'srun'
                else f"Load the module that provides {name}"
            )
        )
    if launching.find_job(base)[0]:
        return
    if batch is not BATCH_SYSTEMS['slurm']:
        raise BenchError(
            "`osu-container bench` can request jobs only from Slurm, and this shell is not in a "
            f"job ({batch['job']} is not set). Write `osu-container bench` into a job script, and "
            f"submit the script with {batch['submit']}"
        )
    if site['jobs']['value']['account'] and not spec.account:
        raise BenchError(
            f"site {site['name']} requires an account for a job. Use --account PROJECT, or export "
            "SALLOC_ACCOUNT=PROJECT"
        )
    if not shutil.which('salloc', path=base.get('PATH')):
        raise BenchError(
            "this shell is not in a job, and salloc is not on PATH. Write `osu-container bench` "
            "into a job script, and submit the script with sbatch"
        )


def _run_in_job(
    options: argparse.Namespace,
    spec: RunSpec,
    site: dict[str, Any],
    runs: list[plan.PlannedRun],
    base: dict[str, str],
) -> int:
    """Request a Slurm job and run the user's command line again in the job; return the exit code."""
    command = _build_salloc_command(
        spec, site, options, [run for run in runs if not run.skip_reason]
    )
    print('$ ' + shlex.join(command) + ' osu-container bench ...', flush=True)
    # This process waits for salloc instead of becoming salloc (exec): a killed salloc would leave a
    # pending or running job that nobody releases.
    # A terminal sends SIGINT to both processes, so it is forwarded only without a terminal.
    more = () if sys.stdin.isatty() else (signal.SIGINT,)
    options.after_interrupt = "the Slurm job was released, and the completed measurements are kept"
    again = [
        sys.executable,
        str(installed_modules.PROJECT / 'scripts' / 'osu-container'),
        *sys.argv[1:],
    ]
    return execute_command([*command, *again], base, (signal.SIGTERM, signal.SIGHUP, *more))


def _run_session(
    options: argparse.Namespace,
    spec: RunSpec,
    modules: list[installed_modules.Module],
    base: dict[str, str],
    folder: Path,
) -> int:
    """
    Measure all runs in the current Slurm job and return the exit code.

    At the end, print commands with which the user can compare and show the results.
    """
    screen = streams.ProgressScreen()
    with holding.lock_run(folder):
        session = Session(
            folder, spec, modules, base, say=screen.print_line, progress=screen.show_progress
        )
        if (folder / run_files.RESULTS_FILE).exists():
            session.resume()
        else:
            session.start(sys.argv[1:])
            select.register_run(folder)
        options.after_interrupt = resume_hint = (
            "completed measurements are kept. To continue the run: osu-container bench --resume "
            f"{folder}"
        )
        count = sum(not run.skip_reason for run in session.runs)
        screen.print_line(
            f"{folder}: {count} runs of {len(modules)} modules, {spec.repeats} repeats, "
            f"tag {spec.tag}"
        )
        try:
            counts = session.measure_runs()
        except (BenchError, OSError) as err:
            raise BenchError(
                f"{streams.format_os_error(err) if isinstance(err, OSError) else err}\n{resume_hint}"
            ) from err
    screen.print_line(
        f"{counts['ok']} measured, {counts['failed']} failed, {counts['skipped']} skipped, in "
        f"{time.monotonic() - screen.begin:.0f} s"
    )
    for failure in _format_failures(folder):
        screen.print_line(f"  failed: {failure}")
    screen.print_line(f"results: {folder / run_files.RESULTS_FILE}")
    names = list(dict.fromkeys(run.series for run in session.runs if not run.skip_reason))
    sides = (
        [f'{folder}:{name}' for name in reversed(names[:2])]
        if spec.run and 'native' not in names
        else [str(folder)]
    )
    screen.print_line(f"next:    osu-container compare {shell.join_words(sides)}")
    screen.print_line(f"         osu-container report {shell.quote_path(folder)} -o report.html")
    return 1 if counts['failed'] or not counts['ok'] else 0


def _format_failures(folder: Path) -> list[str]:
    """Return one line for each reason why runs failed; `folder` is the folder with the results."""
    runs_by_reason: dict[str, list[str]] = {}
    for failure in run_files.read_results(folder).failures:
        if not failure.is_skipped:
            runs_by_reason.setdefault(failure.reason, []).append(
                f"{failure.name} {failure.case.title} (repeat {failure.repeat})"
            )
    return [
        f"{runs[0]}{f' and {len(runs) - 1} more' if len(runs) > 1 else ''}: {reason}"
        for reason, runs in runs_by_reason.items()
    ]

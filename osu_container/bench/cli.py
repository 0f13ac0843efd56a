"""osu-container bench: run the benchmarks over Slurm, every approach and native in turn."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import signal
import sys
import time
from pathlib import Path

from osu_container.base import shell, streams
from osu_container.base.terminal import redact_secrets
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
  osu-container bench --dry-run                       what would run, line by line
  osu-container bench                                 tag quick with every installed module
  osu-container bench --tag published --account project_465000000
  osu-container bench --module osu-native --module osu-container/hybrid --repeats 7 osu_bw osu_latency-HH
  osu-container bench --resume latest                 go on with the newest run that has not ended
  osu-container bench --module lammps/pure --module lammps/hybrid --run 'lmp -in in.lj' --ranks 8
                                                      a command of your own: docs/your-own-container.md

Outside of a job it asks Slurm for one (salloc) and runs there. Afterwards: osu-container compare latest,
osu-container report latest -o report.html. A run that was interrupted, or has lost its job, goes on with
--resume."""


def add_arguments(parser):
    """Add the options of `osu-container bench` to parser."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        'patterns',
        nargs='*',
        metavar='PATTERN',
        help="only runs whose name has this in it, or fits it with * ? [ ]: 'osu_bw', '*-HH-2x1-*'",
    )
    parser.add_argument(
        '--tag',
        '-t',
        choices=list(cases.TAGS),
        metavar='TAG',
        help='; '.join(f'{tag}: {title}' for tag, title in cases.TAG_TITLES.items()) + ' (quick)',
    )
    parser.add_argument(
        '--module',
        '-m',
        action='append',
        metavar='NAME',
        dest='modules',
        help='an installed module, e.g. osu-container/hybrid; may be repeated (all, native first)',
    )
    parser.add_argument(
        '--repeats',
        '-r',
        type=parse_whole_number,
        metavar='N',
        help='how often each run is measured ('
        + ', '.join(f'{tag} {number}' for tag, number in cases.REPEATS.items())
        + ')',
    )
    parser.add_argument(
        '--dry-run',
        '-n',
        action='store_true',
        help='print what would run, with --resume what is left, and run nothing',
    )
    parser.add_argument(
        '--resume',
        metavar='RUN',
        help='go on with a run: its folder, its name, or latest, the newest that has not ended',
    )
    parser.add_argument(
        '--output',
        '-o',
        type=Path,
        metavar='DIR',
        help="folder of this run, which must not exist (the UTC time, in the folder of results: "
        f"${select.RESULTS_VARIABLE}, else .workstation/results of a clone that was set up, else "
        "$XDG_DATA_HOME/osu-container/results, where ~/.local/share stands for an unset "
        "$XDG_DATA_HOME)",
    )
    parser.add_argument(
        '--nodes',
        '-N',
        type=parse_whole_number,
        default=None,
        metavar='N',
        help="nodes of the job; what wants more is left out (2, or those of the job that it runs in)",
    )
    parser.add_argument(
        '--account',
        '-A',
        metavar='A',
        help='account or project of the job ($SALLOC_ACCOUNT, $SBATCH_ACCOUNT or $SLURM_ACCOUNT)',
    )
    parser.add_argument('--partition', '-p', metavar='P', help="partition of the job (the site's)")
    parser.add_argument(
        '--time', metavar='T', help='time limit of the job, as for salloc (estimated)'
    )
    parser.add_argument(
        '--validate',
        '-c',
        action='store_true',
        help='the programs compare what arrives with what was sent (-c): a run in which data arrives '
        'wrong has failed. Its figures are other ones, and are compared with their like alone',
    )
    own = parser.add_argument_group('a command of your own, in place of the benchmarks')
    own.add_argument(
        '--run',
        metavar='COMMAND',
        help="command of the modules that --module names, run in this folder; "
        "its time is measured, from the launcher's start to its end",
    )
    own.add_argument(
        '--ranks', type=parse_whole_number, metavar='N', help='ranks in all (one a node)'
    )
    own.add_argument(
        '--figure',
        metavar='REGEX',
        help="measured is the number that the command prints, the group of "
        r"this regular expression, in place of its time: 'Loop time of (\S+)'",
    )
    own.add_argument('--unit', metavar='U', help='of the number (s)')
    own.add_argument(
        '--more-is-better', action='store_true', help='of the number; default: less is better'
    )
    own.add_argument(
        '--limit',
        type=parse_whole_number,
        metavar='SECONDS',
        help=f'it is given up after these ({cases.TIME_LIMIT})',
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


def main(options):
    """Do what the options (argparse) say; return the exit code."""
    base = installed_modules.resolve_lmod_environment()
    folder = _find_resumed_run(options.resume) if options.resume else None
    wanted = _build_run_spec(options, base, folder)
    found = [installed_modules.load_module(name, base) for name in wanted.modules]
    site = installed_modules.resolve_common_site(found)
    runs = plan.plan_runs(wanted, found, site)
    left = (
        list_remaining_runs(folder / run_files.RESULTS_FILE, runs, wanted.repeats)
        if folder
        else [
            (run, repeat)
            for repeat in range(1, wanted.repeats + 1)
            for run in runs
            if not run.skip_reason
        ]
    )
    if not left:
        print(f"{folder} has ended: nothing is left to measure.")
        return 0
    if options.dry_run:
        return _print_plan(runs, left, wanted, site, options, folder)
    _check_slurm(site, wanted, base)
    for package in ('ClusterShell', 'reframe'):  # before Slurm is asked for a job
        if not importlib.util.find_spec(package):
            raise ModuleNotFoundError(name=package)
    if folder:
        with holding.lock_run(folder):  # before Slurm is asked for a job
            pass
    else:
        folder = _resolve_new_folder(options)
    if not launching.find_job(base)[0]:
        return _run_in_job(options, wanted, site, runs, base)
    return _run_session(options, wanted, found, base, folder)


def _resolve_new_folder(options):
    """
    Return the folder (Path) of a new run, which does not exist, or is empty. Raises BenchError.
    """
    named = options.output.absolute() if options.output else None
    folder = (
        named
        or (
            select.resolve_results_folder() / time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())
        ).absolute()
    )
    if len(str(folder).split()) != 1:
        raise BenchError(
            f"there is a blank in the path of {folder}: ReFrame cannot run there. Name another with "
            "--output"
        )
    if named and named.exists() and (not named.is_dir() or any(named.iterdir())):
        raise BenchError(
            f"{named} is there already and not empty: a run is never written over. Name another "
            f"folder, or go on with it: osu-container bench --resume {shell.quote_path(named)}"
        )
    return folder


def _build_run_spec(options, base, folder):
    """
    Return what is to be measured (Wanted): what the options say, or what the run in folder was
    begun with.
    """
    account = options.account or next(
        filter(None, map(os.environ.get, ('SALLOC_ACCOUNT', 'SBATCH_ACCOUNT', 'SLURM_ACCOUNT'))),
        None,
    )
    if folder:
        useless = [
            '--' + name
            for name in NEW_RUN_OPTIONS
            if getattr(options, 'modules' if name == 'module' else name)
        ]
        useless += [*options.patterns, *_list_command_options(options)]
        if useless:
            raise BenchError(
                f"--resume goes on with what {folder} was begun with: {', '.join(useless)} would change "
                "it. Leave that out, or begin a new run"
            )
        try:
            wanted = RunSpec(**run_files.read_entries(folder)[0][0][1]['wanted'])
        except (KeyError, TypeError) as err:
            raise BenchError(
                f"{folder / run_files.RESULTS_FILE} does not say what was wanted, so --resume cannot go on "
                f"with it ({err}). Begin a new run"
            ) from err
        wanted.partition, wanted.account = options.partition, account
        return wanted
    _check_command_options(options)
    names = options.modules or installed_modules.list_installed_modules(base)
    if not names:
        raise BenchError(
            "no module osu-native or osu-container is installed where Lmod looks (MODULEPATH). "
            "Install some: eb osu-native.eb -r; eb osu-container-hybrid.eb -r"
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


#: Options that are for --run only, by their names in argparse
COMMAND_OPTIONS = ('ranks', 'figure', 'unit', 'more_is_better', 'limit')

#: Options that say what a new run is
NEW_RUN_OPTIONS = ('tag', 'module', 'repeats', 'output', 'nodes', 'run')


def _list_command_options(options):
    """Return those of OWN that the options (argparse) have (list of str)."""
    return ['--' + name.replace('_', '-') for name in COMMAND_OPTIONS if getattr(options, name)]


def _check_command_options(options):
    """Raise BenchError unless the options of a user's command fit each other."""
    if not options.run:
        useless = _list_command_options(options)
        if useless:
            raise BenchError(f"{', '.join(useless)}: only for a command of your own, --run COMMAND")
        return
    if not options.modules:
        raise BenchError(
            "--run: name the modules that have the command, --module NAME/APPROACH for each"
        )
    if options.validate:
        raise BenchError(
            "--validate: only the benchmarks check their data, not a command of your own (--run)"
        )
    if options.patterns:
        raise BenchError(
            f"--run: there is one run and nothing to choose by {' '.join(options.patterns)}. Is the "
            "command in quotes? --run 'COMMAND ARGUMENTS'"
        )
    if options.figure is None and (options.unit or options.more_is_better):
        raise BenchError(
            "--unit, --more-is-better: of which number? --figure REGEX finds it in the output"
        )
    if options.unit and not re.fullmatch(r'[^\s:,]+', options.unit):
        raise BenchError(f"--unit {options.unit!r}: wanted one word without : and ,")
    if options.figure is not None:
        try:
            groups = re.compile(options.figure).groups
        except re.error as err:
            raise BenchError(
                f"--figure '{options.figure}' is no regular expression: {err}. "
                "Put \\ in front of a sign that stands for itself"
            ) from err
        if groups != 1:
            raise BenchError(
                rf"--figure '{options.figure}' has {groups} groups, wanted one, around the number: "
                r"'Loop time of (\S+)'"
            )


def _parse_user_command(options, nodes):
    """
    Return the user's command (dict, Wanted.run), None where benchmarks are run. Raises
    BenchError.
    """
    if not options.run:
        return None
    try:
        words = shlex.split(options.run)
    except ValueError as err:
        raise BenchError(
            f"--run {options.run}: {err}. Close the quote, or put a \\ in front of it"
        ) from err
    if not words:
        raise BenchError("--run: the command is empty. Give one: --run 'COMMAND ARGUMENTS'")
    if redact_secrets(options.run) != options.run:
        raise BenchError(
            f"--run {redact_secrets(options.run)}: what is left out here would stand in the results. Export it "
            "before, or put it into a script"
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


def _find_resumed_run(text):
    """Return the folder (Path) of the run that --resume names. Raises BenchError, ResultsError."""
    if text == select.LATEST:
        found = [path for path in select.list_run_folders() if not run_files.has_ended(path)]
        if not found:
            raise BenchError(
                f"there is no unfinished run in {select.resolve_results_folder()} to go on with"
            )
        return found[-1].resolve()
    return run_files.resolve_results_file(
        text if Path(text).exists() else select.resolve_results_folder() / text
    ).parent.resolve()


def _print_plan(runs, left, wanted, site, options, folder):
    """
    Print what would run: the lines by case; return the exit code.

    :param left: list of (plan.Run, repeat); folder: Path of the run that would go on, None for a
        new one
    """
    shown = list(dict.fromkeys(run for run, _ in left))
    if folder:
        total = sum(not run.skip_reason for run in runs) * wanted.repeats
        print(
            f"left of {folder}, tag {wanted.tag} on site {site['name']}: {len(left)} of {total} measurements"
        )
    else:
        print(
            f"tag {wanted.tag} on site {site['name']}: {len(shown)} runs, {wanted.repeats} repeats"
        )
    if launching.select_batch_system(site) is BATCH_SYSTEMS['slurm']:
        print('job:  ' + shlex.join(_build_salloc_command(wanted, site, options, shown)))
    by_case, reasons = {}, {}
    for run in shown:
        by_case.setdefault((run.case, run.command_line), []).append(run.module)
    for (case, typed), names in by_case.items():
        print(f"\n{case.title}\n    {typed}\n    with {', '.join(names)}")
    for run in runs if not folder else ():
        if run.skip_reason:
            reasons.setdefault(run.skip_reason, []).append(run.name)
    if reasons:
        print('\nleft out:')
    for reason, names in reasons.items():
        print(
            f"  {reason}\n      {', '.join(names[:4])}"
            + (f" and {len(names) - 4} more" if len(names) > 4 else '')
        )
    return 0


def _build_salloc_command(wanted, site, options, runs):
    """Return the command (list of str) that asks for the job, without what runs in it."""
    ranks = max(run.case.ranks for run in runs)
    seconds = 3 * (cases.ESTIMATED_SECONDS * len(runs) * wanted.repeats + 10 * len(wanted.modules))
    if wanted.run:  # nobody knows how long it takes; at most this
        seconds = len(runs) * (wanted.repeats + 1) * wanted.run['limit']
    return [
        'salloc',
        f'-N{wanted.nodes}',
        f'-n{max(ranks, wanted.nodes)}',
        f'--time={options.time or max(10, round(seconds / 60))}',
        '--job-name=osu-container-bench',
        '--kill-command=TERM',
        *reframe_settings.build_job_options(
            site, partition=wanted.partition, account=wanted.account
        ),
    ]


def _check_slurm(site, wanted, base):
    """
    Raise BenchError if there is no Slurm, or if the site wants an account and none is named.
    base: dict.
    """
    name, batch = (
        launching.select_launcher_command(site).split()[0],
        launching.select_batch_system(site),
    )
    if not shutil.which(name, path=base.get('PATH')):
        raise BenchError(
            f"{name} is not there, the launcher of site {site['name']}"
            + (
                ": the benchmarks run under Slurm. On your own machine `make demo` in "
                f"{installed_modules.PROJECT} sets up a private one"
                if name == 'srun'
                else ". Put it on PATH: load its module"
            )
        )
    if launching.find_job(base)[0]:
        return
    if batch is not BATCH_SYSTEMS['slurm']:
        raise BenchError(
            f"this is no job: {batch['job']} is not set, and bench asks Slurm alone for one. Start it in "
            f"a script that you hand in by {batch['submit']}"
        )
    if site['jobs']['value']['account'] and not wanted.account:
        raise BenchError(
            f"site {site['name']} wants an account for a job: --account PROJECT, or export "
            "SALLOC_ACCOUNT=PROJECT"
        )
    if not shutil.which('salloc', path=base.get('PATH')):
        raise BenchError("salloc is not there, and this is no job: start it in one (sbatch)")


def _run_in_job(options, wanted, site, runs, base):
    """Run this very command in a job; return its exit code."""
    command = _build_salloc_command(
        wanted, site, options, [run for run in runs if not run.skip_reason]
    )
    print('$ ' + shlex.join(command) + ' osu-container bench ...', flush=True)
    # not in place of this process: killed, it would leave a job, or one that waits, which nobody
    # gives back
    more = () if sys.stdin.isatty() else (signal.SIGINT,)  # a terminal sends that to both
    again = [
        sys.executable,
        str(installed_modules.PROJECT / 'scripts' / 'osu-container'),
        *sys.argv[1:],
    ]
    return execute_command([*command, *again], base, (signal.SIGTERM, signal.SIGHUP, *more))


def _run_session(options, wanted, found, base, folder):
    """Measure in this job; return the exit code."""
    screen = streams.ProgressScreen()
    with holding.lock_run(folder):
        session = Session(
            folder, wanted, found, base, say=screen.print_line, progress=screen.show_progress
        )
        if (folder / run_files.RESULTS_FILE).exists():
            session.resume()
        else:
            session.start(sys.argv[1:])
            select.register_run(folder)
        options.after_interrupt = go_on = (
            f"what was measured is kept; to go on: osu-container bench --resume {folder}"
        )
        count = sum(not run.skip_reason for run in session.runs)
        screen.print_line(
            f"{folder}: {count} runs of {len(found)} modules, {wanted.repeats} repeats, tag {wanted.tag}"
        )
        try:
            counts = session.measure_runs()
        except (BenchError, OSError) as err:
            raise BenchError(
                f"{streams.format_os_error(err) if isinstance(err, OSError) else err}\n{go_on}"
            ) from err
    screen.print_line(
        f"{counts['ok']} measured, {counts['failed']} failed, {counts['skipped']} left out, in "
        f"{time.monotonic() - screen.begin:.0f} s"
    )
    for failure in _format_failures(folder):
        screen.print_line(f"  failed: {failure}")
    screen.print_line(f"results: {folder / run_files.RESULTS_FILE}")
    names = list(dict.fromkeys(run.series for run in session.runs if not run.skip_reason))
    sides = (
        [f'{folder}:{name}' for name in reversed(names[:2])]
        if wanted.run and 'native' not in names
        else [folder]
    )
    screen.print_line(f"next:    osu-container compare {shell.join_words(sides)}")
    screen.print_line(f"         osu-container report {shell.quote_path(folder)} -o report.html")
    return 1 if counts['failed'] or not counts['ok'] else 0


def _format_failures(folder):
    """Return what failed in words (list of str), the same reason once."""
    found = {}
    for one in run_files.read_results(folder).failures:
        if not one.is_skipped:
            found.setdefault(one.reason, []).append(
                f"{one.name} {one.case.title} (repeat {one.repeat})"
            )
    return [
        f"{where[0]}{f' and {len(where) - 1} more' if len(where) > 1 else ''}: {reason}"
        for reason, where in found.items()
    ]

"""
Run the sessions of `osu-container bench`: one ReFrame session for each repeat.

An interrupted run can be resumed. The folder of a run contains these files:

    results.jsonl        the measurements (docs/benchmarks.md)
    raw/                 the output of every run
    proof/               the libraries that each rank of every run loaded
    settings.py          ReFrame's settings
    plan-<repeat>.json   the runs in the ReFrame session of a repeat
    reframe-<repeat>.log, .json   ReFrame's output and report
    reframe/             ReFrame's stage and output folders
    running.txt          name and lock of the measuring process (holding.py)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osu_container.base import outputs
from osu_container.base.files import read_json
from osu_container.base.places import SCRIPTS
from osu_container.base.streams import start_process_group
from osu_container.bench import (
    BenchError,
    cases,
    holding,
    installed_modules,
    measure,
    plan,
    record,
    reframe_settings,
)
from osu_container.bench.results import osu_output, run_files
from osu_container.proof import judging

CHECKS = Path(__file__).with_name('checks.py')
RANK_PROOF = Path(SCRIPTS) / 'rank-proof'
#: Environment of the unmeasured first run of a module: MPICH then prints its provider (60 lines)
PROBE_VARIABLES = {'MPIR_CVAR_DEBUG_SUMMARY': '1'}
#: Runs about a second, so that rank-proof can sample even a fast native program twice
PROBE_PROGRAM = ('osu_latency', '-m', '8', '-i', '4000', '-x', '1', 'H', 'H')
PROBE_TIME_LIMIT = 300
#: Calls ReFrame's main function, as its package has no __main__. ReFrame writes a log into Python's
#: folder for temporary files before it reads its settings; the first argument replaces that folder.
#: For each line of its log, ReFrame 4.10 reads deprecated variables of the test, and looks through
#: the stack for who reads them: half a second of processor time in each run.
REFRAME = (
    'import sys, tempfile; tempfile.tempdir = sys.argv.pop(1); import reframe.core.fields as fields; '
    'fields.user_deprecation_warning = lambda *_: None; from reframe.frontend.cli import main; '
    'sys.exit(main())'
)


@dataclass
class RunSpec:
    """
    The settings of a run: a tag or a user's command, with modules, repeats and nodes.

    A tag is a named selection of benchmarks.
    """

    #: Key of cases.TAGS, 'run' for a user's command
    tag: str
    #: Names of the modules
    modules: list[str]
    repeats: int
    #: Shell patterns that select runs by name
    patterns: list[str]
    nodes: int
    partition: str | None = None
    account: str | None = None
    #: A user's command in place of a tag: that of plan.plan_command_runs(), and limit, its time
    #: limit in seconds
    run: dict[str, Any] | None = None
    #: The programs compare received with sent data
    check: bool = False


class Session:
    """
    One run of `osu-container bench`, with all repeats.

    `say` is a function that prints a line for the user. `progress` is a function that prints a line
    that the next line may overwrite.
    """

    def __init__(
        self,
        folder: Path,
        spec: RunSpec,
        modules: list[installed_modules.Module],
        base: dict[str, str],
        *,
        say: Callable[[str], None],
        progress: Callable[[str], None],
    ) -> None:
        """
        Plan the runs, without measuring anything.

        base: environment variables with which Lmod works
        """
        self.folder, self.spec, self.modules, self.base = Path(folder), spec, modules, base
        self.say, self.progress = say, progress
        self.site = installed_modules.resolve_common_site(modules)
        self.runs = plan.plan_runs(spec, modules, self.site)
        #: Whether the programs of all modules run at the same time, each in its turn
        self.takes_turns = any(run.takes_turns for run in self.runs)
        self.writer = run_files.Writer(self.folder / run_files.RESULTS_FILE)
        #: Name of a module -> why its runs fail without being tried
        self.module_problems: dict[str, str] = {}

    def start(self, command: list[str]) -> None:
        """
        Create the folder of the run and write the first line of results.jsonl.

        command: the command line of the user
        """
        (self.folder / 'raw').mkdir(parents=True, exist_ok=True)
        runtime = next(
            (module.environment for module in self.modules if module.is_container), self.base
        )
        self.writer.write_header(
            run=self.folder.name,
            started=record.get_timestamp(),
            site=self.site['name'],
            tag=self.spec.tag,
            repeats=self.spec.repeats,
            command=command,
            wanted=vars(self.spec),
            inputs=self.hash_inputs(),
            project=record.read_git_state(installed_modules.PROJECT),
            machine=record.describe_machine(),
            versions=dict(
                record.collect_versions(runtime), reframe=_read_package_version('reframe-hpc')
            ),
            slurm=measure.read_slurm_facts(os.environ),
        )

    def hash_inputs(self) -> dict[str, str]:
        """Return {name: sha256} of all files that affect the results."""
        hashes: dict[str, str] = {}
        for module in self.modules:
            hashes.update(module.hash_inputs())
        return hashes

    def list_recorded_runs(self) -> set[tuple[str | None, int]]:
        """Return {(name of a run, repeat)} of all measurements in the file results.jsonl."""
        return read_recorded_runs(self.writer.path, self.runs)

    def resume(self) -> None:
        """
        Check that the run in the folder can be resumed.

        If the last line of results.jsonl is incomplete, this line is removed. Raises BenchError if
        a module or an image has changed since the start of the run, because results from before and
        after a change cannot be compared.
        """
        if self.writer.drop_incomplete_line():
            self.say(
                'the last line of the results file was incomplete, so bench '
                'repeats the measurement of this line'
            )
        now, then = self.hash_inputs(), run_files.read_entries(self.writer.path)[0][0][1]['inputs']
        changed = sorted(name for name in set(now) | set(then) if now.get(name) != then.get(name))
        if changed:
            raise BenchError(
                f"--resume cannot continue the run in {self.folder}: {', '.join(changed)} changed since "
                "the start of the run. Start a new run without --resume"
            )

    def measure_runs(self) -> dict[str, int]:
        """
        Measure the remaining runs, and write the last line of results.jsonl.

        The result is {status: number of measurements}. Raises BenchError if the Slurm job is lost
        or if ReFrame fails.
        """
        jobs = len(self.modules) if self.takes_turns else 1
        reframe_settings.write(self.folder / 'settings.py', self.site, jobs)
        recorded = self.list_recorded_runs()
        self.probe_modules()
        for run in self.runs:
            if run.skip_reason and (run.name, 1) not in recorded:
                self.writer.add(
                    'measurement', **_build_empty_measurement(run, 1, 'skipped', run.skip_reason)
                )
        for repeat in range(1, self.spec.repeats + 1):
            remaining = []
            for run in plan.rotate_runs([run for run in self.runs if not run.skip_reason], repeat):
                if (run.name, repeat) in recorded:
                    continue
                if run.module in self.module_problems:
                    self.writer.add(
                        'measurement',
                        **_build_empty_measurement(
                            run, repeat, 'failed', self.module_problems[run.module]
                        ),
                    )
                else:
                    remaining.append(run)
            if remaining:
                self.run_repeat(repeat, remaining)
        statuses = [
            entry['status']
            for _, entry in run_files.read_entries(self.writer.path)[0]
            if entry['kind'] == 'measurement'
        ]
        counts = {status: statuses.count(status) for status in run_files.STATUS}
        self.writer.add('end', ended=record.get_timestamp(), **counts)
        return counts

    def probe_modules(self) -> None:
        """
        Run a program once with each module, before the measurements.

        The program is osu_latency or the user's command. The network that the module uses is
        recorded in results.jsonl. If the program fails, the problem is recorded instead.
        """
        recorded = {
            entry['name']: entry.get('problem')
            for _, entry in run_files.read_entries(self.writer.path)[0]
            if entry['kind'] == 'module'
        }
        self.module_problems.update(
            {name: problem for name, problem in recorded.items() if problem}
        )
        for number, module in enumerate(self.modules, 1):
            if module.name in recorded:
                continue
            self.progress(f"starting {module.name}, module {number} of {len(self.modules)}")
            network, problem = self.probe_module(module)
            facts = dict(module.facts, network=network)
            if problem:
                self.module_problems[module.name] = facts['problem'] = problem
                self.say(f"{module.name} fails: {problem}")
            self.writer.add('module', **facts)

    def probe_module(
        self, module: installed_modules.Module
    ) -> tuple[dict[str, str | None], str | None]:
        """
        Run osu_latency or the user's command once with a module; return (network, problem).

        `network` is a dict with the keys `netmod` and `provider`. `problem` is a text, or None if
        the module works. Raises BenchError if the Slurm job no longer exists.
        """
        no_network: dict[str, str | None] = {'netmod': None, 'provider': None}
        run = next((run for run in self.runs if self.spec.run and run.module == module.name), None)
        if run and run.skip_reason:
            return no_network, None
        if not run and 'osu_latency' not in module.programs:
            return no_network, f"{module.name} has no osu_latency"
        label = f'{plan.name_series(self.modules)[module.name]}-start'
        raw, errors = self.folder / 'raw' / f'{label}.txt', self.folder / 'raw' / f'{label}.err'
        proofs = self.folder / 'proof' / label
        if self.spec.run and run:
            limit, ranks = self.spec.run['limit'], run.ranks
            launch_command, program = run.launch_command, run.program
        else:
            limit, ranks, program = PROBE_TIME_LIMIT, 2, PROBE_PROGRAM
            launch_command = plan.build_start_command(
                min(2, self.spec.nodes), 2, self.site, bind=False, kind=module.pmi
            )
        command = plan.build_proof_command(launch_command, program, RANK_PROOF, proofs)
        try:
            with (
                open(raw, 'w') as out,
                open(errors, 'w') as err,
                start_process_group(
                    command, env={**module.environment, **PROBE_VARIABLES}, stdout=out, stderr=err
                ) as child,
            ):
                code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            self.check_job(measure.read_optional_text(errors))
            return no_network, (
                f"the program started, but did not end within {limit} s (error output: {errors})"
            )
        text = raw.read_text(errors='replace')
        try:
            if code:
                raise osu_output.OutputError(f"exit code {code}")
            if not run:
                osu_output.parse(text, benchmark='osu_latency', source=raw.name, largest_size=8)
            elif run.figure_pattern:
                measure.extract_figure(text, run.figure_pattern, raw.name)
            judging.wait_for_files(proofs, ranks)
            rank_proofs = judging.read_proofs(proofs, ranks)
        except (osu_output.OutputError, judging.ProofError) as problem:
            error_text = measure.read_optional_text(errors)
            self.check_job(error_text)
            return no_network, measure.format_failure_reason(str(problem), text + '\n' + error_text)
        contradictions = judging.list_contradictions(
            rank_proofs, module.facts['comes_from'], module.is_container
        )
        if contradictions:
            return (
                no_network,
                'the ranks loaded other libraries than the approach requires: '
                + '; '.join(contradictions[:3]),
            )
        netmod, provider = osu_output.parse_network(text)
        # Only MPICH itself prints its netmod. The provider of another MPI is in the proof.
        providers = {(proof.get('network') or {}).get('provider') for proof in rank_proofs}
        return {
            'netmod': netmod,
            'provider': provider or (providers.pop() if len(providers) == 1 else None),
        }, None

    def check_job(self, errors: str) -> None:
        """
        Raise BenchError if the Slurm job no longer exists.

        errors: the standard error output of srun
        """
        loss = holding.find_job_loss(os.environ, errors)
        if loss:
            raise BenchError(loss)

    def run_repeat(self, number: int, runs: list[plan.PlannedRun]) -> None:
        """Measure each of `runs` once in a ReFrame session, and store the results as one repeat."""
        plan_file, report = (
            self.folder / f'plan-{number}.json',
            self.folder / f'reframe-{number}.json',
        )
        expectations = {
            module.name: {key: module.facts[key] for key in ('comes_from', 'container')}
            for module in self.modules
        }
        limit = self.spec.run['limit'] if self.spec.run else cases.TIME_LIMIT
        outputs.replace_file(
            plan_file,
            json.dumps(
                {
                    'folder': str(self.folder),
                    'repeat': number,
                    'promises': expectations,
                    'limit': limit,
                    'runs': [run.serialize() for run in runs],
                },
                indent=1,
            )
            + '\n',
        )
        (self.folder / 'reframe').mkdir(exist_ok=True)
        command = [
            sys.executable,
            '-c',
            REFRAME,
            str(self.folder / 'reframe'),
            '-C',
            str(self.folder / 'settings.py'),
            '-c',
            str(CHECKS),
            '-r',
            f'--exec-policy={"async" if self.takes_turns else "serial"}',
            '--nocolor',
            f'--prefix={self.folder / "reframe"}',
            f'--report-file={report}',
        ]
        env = {
            **self.base,
            holding.PLAN_VARIABLE: str(plan_file),
            **(cases.TURN_VARIABLES if self.takes_turns else {}),
            'RFM_SAVE_LOG_FILES': 'no',
            'PYTHONUNBUFFERED': '1',
        }
        errors = [self.folder / 'raw' / f'{run.name}-{number}.err' for run in runs]
        for path in (report, *errors):  # an interrupted session may have left these
            path.unlink(missing_ok=True)
        log = self.folder / f'reframe-{number}.log'
        with (
            open(log, 'a') as out,
            start_process_group(
                command, env=env, cwd=self.folder, stdout=out, stderr=subprocess.STDOUT
            ) as child,
        ):
            self.follow_session(child, number, runs)
        self.record_missing_runs(number, runs, report, log, child.returncode)

    def follow_session(
        self, child: subprocess.Popen[bytes], number: int, runs: list[plan.PlannedRun]
    ) -> None:
        """Print the progress of a ReFrame session until the session ends."""
        recorded, size = len(self.list_recorded_runs()), -1
        while child.poll() is None:
            if self.writer.path.stat().st_size != size:
                size = self.writer.path.stat().st_size
                position = min(len(self.list_recorded_runs()) - recorded, len(runs) - 1)
                self.progress(
                    f"repeat {number} of {self.spec.repeats}, run {position + 1} of {len(runs)}: "
                    f"{runs[position].case.title} {runs[position].series}"
                )
            time.sleep(0.2)

    def record_missing_runs(
        self, number: int, runs: list[plan.PlannedRun], report: Path, log: Path, code: int
    ) -> None:
        """
        Record a failure for each run that the ReFrame session did not add to results.jsonl.

        Raises BenchError if ReFrame wrote no report, or if the Slurm job no longer exists.
        """
        recorded = self.list_recorded_runs()
        missing = [run for run in runs if (run.name, number) not in recorded]
        if not missing:
            return
        self.check_job(
            '\n'.join(
                measure.read_optional_text(self.folder / 'raw' / f'{run.name}-{number}.err')
                for run in missing
            )
        )
        try:
            reported = {
                entry['name'].rpartition('case=')[2]: entry
                for entry in read_json(report, 'line of results')['runs'][-1]['testcases']
            }
        except (OSError, ValueError, KeyError, IndexError):
            tail = [line for line in measure.read_optional_text(log).splitlines() if line.strip()][
                -10:
            ]
            raise BenchError(
                f"ReFrame wrote no report and exited with code {code}. The end of {log}:\n"
                + '\n'.join('    ' + line for line in tail)
            ) from None
        for run in missing:
            entry = reported.get(run.name, {})
            problem = (entry.get('fail_reason') or 'ReFrame did not run it').strip()
            printed = [
                measure.read_optional_text(os.path.join(entry['stagedir'], entry[name]))
                for name in ('job_stdout', 'job_stderr')
                if entry.get('stagedir') and entry.get(name)
            ]
            self.writer.add(
                'measurement',
                **_build_empty_measurement(
                    run,
                    number,
                    'failed',
                    measure.format_failure_reason(
                        f"{problem} (phase {entry.get('fail_phase')})", '\n'.join(printed)
                    ),
                ),
            )


def read_recorded_runs(path: Path, runs: list[plan.PlannedRun]) -> set[tuple[str | None, int]]:
    """Return {(name of a run, repeat)} of all measurements in the results file `path`."""
    entries, _ = run_files.read_entries(path)
    names = {(run.module, run.case): run.name for run in runs}
    return {
        (names.get((entry['module'], run_files.model.Case(**entry['case']))), entry['repeat'])
        for _, entry in entries
        if entry['kind'] == 'measurement'
    }


def list_remaining_runs(
    path: Path | None, runs: list[plan.PlannedRun], repeats: int
) -> list[tuple[plan.PlannedRun, int]]:
    """
    Return a list of (run, repeat) of all measurements that the results file lacks.

    If `path` is None, the results file does not exist yet, and the list contains all measurements.
    """
    recorded = read_recorded_runs(path, runs) if path else ()
    return [
        (run, repeat)
        for repeat in range(1, repeats + 1)
        for run in runs
        if not run.skip_reason and (run.name, repeat) not in recorded
    ]


def _build_empty_measurement(
    run: plan.PlannedRun, repeat: int, status: str, reason: str | None
) -> dict[str, Any]:
    """Return a line of results.jsonl for a run that was skipped or has failed."""
    return {
        'module': run.module,
        'approach': run.series,
        'case': run.serialize()['case'],
        'repeat': repeat,
        'status': status,
        'typed': run.command_line,
        'reason': reason,
    }


def _read_package_version(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

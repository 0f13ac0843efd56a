"""
A run of `osu-container bench`: its folder, one ReFrame session a repeat, and going on after an
interruption.

    <folder>/results.jsonl        what was measured (docs/benchmarks.md)
    <folder>/raw/, proof/         output of every run, and what each rank loaded
    <folder>/settings.py          ReFrame's settings
    <folder>/plan-<repeat>.json   what the session of a repeat runs
    <folder>/reframe-<repeat>.log, .json   what ReFrame said, its report
    <folder>/reframe/             ReFrame's stage and output folders
    <folder>/running.txt          who measures or did last; locked meanwhile (holding.py)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

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
#: The first run of a module, which is not measured: MPICH says under this variable which provider
#: it takes (60 lines)
PROBE_VARIABLES = {'MPIR_CVAR_DEBUG_SUMMARY': '1'}
#: Long enough (about a second) for rank-proof to look twice at a native program, which starts fast
PROBE_PROGRAM = ('osu_latency', '-m', '8', '-i', '4000', '-x', '1', 'H', 'H')
PROBE_TIME_LIMIT = 300
#: ReFrame's main function; its package has no __main__. Before it has read its settings it writes a
#: log into Python's folder for temporary files: for that process alone this is the folder that is
#: named first
REFRAME = (
    'import sys, tempfile; tempfile.tempdir = sys.argv.pop(1); from reframe.frontend.cli import main; '
    'sys.exit(main())'
)


@dataclass
class RunSpec:
    """
    What a run measures: tag, names of modules, repeats, patterns, nodes, partition, account.

    run: dict, in place of a tag a command of the user's (plan.command(), and limit: seconds that it
    may take) check: whether the programs compare what arrives with what was sent
    """

    tag: str
    modules: list
    repeats: int
    patterns: list
    nodes: int
    partition: str | None = None
    account: str | None = None
    run: dict | None = None
    check: bool = False


class Session:
    """
    One run. say: function that takes a line (str) for the user; progress: the same for a line
    that may vanish.
    """

    def __init__(self, folder, wanted, found, base, *, say, progress):
        """
        :param folder: Path; wanted: Wanted; found: list of installed_modules.Module; base: dict,
            environment with Lmod
        """
        self.folder, self.spec, self.modules, self.base = Path(folder), wanted, found, base
        self.say, self.progress = say, progress
        self.site = installed_modules.resolve_common_site(found)
        self.runs = plan.plan_runs(wanted, found, self.site)
        self.writer = run_files.Writer(self.folder / run_files.RESULTS_FILE)
        self.module_problems = {}  # name of a module -> why none of its runs is tried

    # ---- the file ----------------------------------------------------------------------------------------------------

    def start(self, typed):
        """
        Make the folder and the first lines of a new run. typed: the command, as the user typed
        it (list of str).
        """
        (self.folder / 'raw').mkdir(parents=True, exist_ok=True)
        runtime = next((one.environment for one in self.modules if one.is_container), self.base)
        self.writer.write_header(
            run=self.folder.name,
            started=record.get_timestamp(),
            site=self.site['name'],
            tag=self.spec.tag,
            repeats=self.spec.repeats,
            command=typed,
            wanted=vars(self.spec),
            inputs=self.hash_inputs(),
            project=record.read_git_state(installed_modules.PROJECT),
            machine=record.describe_machine(),
            versions=dict(
                record.collect_versions(runtime), reframe=_read_package_version('reframe-hpc')
            ),
            slurm=measure.read_slurm_facts(os.environ),
        )

    def hash_inputs(self):
        """Return {name: sha256} of everything that the numbers depend on."""
        found = {}
        for module in self.modules:
            found.update(module.hash_inputs())
        return found

    def list_recorded_runs(self):
        """Return {(name of a run, repeat)} of what is in the file already."""
        return read_recorded_runs(self.writer.path, self.runs)

    def resume(self):
        """
        Check that the run in the folder can go on, and cut off a half-written line.

        Raises BenchError if a module or image is not what it was, because its figures would not
        compare.
        """
        if self.writer.drop_incomplete_line():
            self.say('the last line of the results was cut off; that run is measured again')
        now, then = self.hash_inputs(), run_files.read_entries(self.writer.path)[0][0][1]['inputs']
        changed = sorted(name for name in set(now) | set(then) if now.get(name) != then.get(name))
        if changed:
            raise BenchError(
                f"{self.folder} was begun with something else than what is installed now: "
                f"{', '.join(changed)} changed. Begin a new run instead of --resume"
            )

    # ---- running -----------------------------------------------------------------------------------------------------

    def measure_runs(self):
        """
        Measure what is not in the file yet, and write the last line; return {'ok', 'failed',
        'skipped': counts}.

        Raises BenchError.
        """
        reframe_settings.write(self.folder / 'settings.py', self.site)
        done = self.list_recorded_runs()
        self.probe_modules()
        for run in self.runs:
            if run.skip_reason and (run.name, 1) not in done:
                self.writer.add(
                    'measurement', **_build_empty_measurement(run, 1, 'skipped', run.skip_reason)
                )
        for repeat in range(1, self.spec.repeats + 1):
            left = []
            for run in plan.rotate_runs([run for run in self.runs if not run.skip_reason], repeat):
                if (run.name, repeat) in done:
                    continue
                if run.module in self.module_problems:
                    self.writer.add(
                        'measurement',
                        **_build_empty_measurement(
                            run, repeat, 'failed', self.module_problems[run.module]
                        ),
                    )
                else:
                    left.append(run)
            if left:
                self.run_repeat(repeat, left)
        found = [
            entry['status']
            for _, entry in run_files.read_entries(self.writer.path)[0]
            if entry['kind'] == 'measurement'
        ]
        counts = {status: found.count(status) for status in run_files.STATUS}
        self.writer.add('end', ended=record.get_timestamp(), **counts)
        return counts

    def probe_modules(self):
        """
        Start each module once, unmeasured: does it run, what do its ranks load, over which
        network?
        """
        known = {
            entry['name']: entry.get('problem')
            for _, entry in run_files.read_entries(self.writer.path)[0]
            if entry['kind'] == 'module'
        }
        self.module_problems.update({name: problem for name, problem in known.items() if problem})
        for number, module in enumerate(self.modules, 1):
            if module.name in known:
                continue
            self.progress(f"starting {module.name}, module {number} of {len(self.modules)}")
            network, problem = self.probe_module(module)
            facts = dict(module.facts, network=network)
            if problem:
                self.module_problems[module.name] = facts['problem'] = problem
                self.say(f"{module.name} does not run: {problem}")
            self.writer.add('module', **facts)

    def probe_module(self, module):
        """
        Run a module once; return ({'netmod', 'provider'}, why it cannot be used (str) or None).

        Raises BenchError where the job in which it runs is gone.
        """
        nobody = {'netmod': None, 'provider': None}
        mine = next((run for run in self.runs if self.spec.run and run.module == module.name), None)
        if mine and mine.skip_reason:
            return nobody, None
        if not mine and 'osu_latency' not in module.programs:
            return nobody, f"{module.name} has no osu_latency"
        label = f'{plan.name_series(self.modules)[module.name]}-start'
        raw, errors = self.folder / 'raw' / f'{label}.txt', self.folder / 'raw' / f'{label}.err'
        proofs = self.folder / 'proof' / label
        limit, ranks = (self.spec.run['limit'], mine.case.ranks) if mine else (PROBE_TIME_LIMIT, 2)
        start, program = (
            (mine.launch_command, mine.program)
            if mine
            else (
                plan.build_start_command(
                    min(2, self.spec.nodes), 2, self.site, bind=False, kind=module.pmi
                ),
                PROBE_PROGRAM,
            )
        )
        command = plan.build_proof_command(start, program, RANK_PROOF, proofs)
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
            return nobody, f"it did not end within {limit} s ({errors})"
        text = raw.read_text(errors='replace')
        try:
            if code:
                raise osu_output.TableError(f"exit code {code}")
            if not mine:
                osu_output.parse(text, benchmark='osu_latency', source=raw.name, largest_size=8)
            elif mine.figure_pattern:
                measure.extract_figure(text, mine.figure_pattern, raw.name)
            judging.wait_for_files(proofs, ranks)
            found = judging.read_proofs(proofs, ranks)
        except (osu_output.TableError, judging.ProofError) as problem:
            said = measure.read_optional_text(errors)
            self.check_job(said)
            return nobody, measure.format_failure_reason(str(problem), text + '\n' + said)
        broken = judging.list_contradictions(found, module.facts['comes_from'], module.is_container)
        if broken:
            return nobody, 'it does not run what it promises: ' + '; '.join(broken[:3])
        netmod, provider = osu_output.parse_network(text)
        # MPICH says its netmod, which nothing outside of it shows. An MPI that says nothing has
        # been looked at.
        seen = {(one.get('network') or {}).get('provider') for one in found}
        return {
            'netmod': netmod,
            'provider': provider or (seen.pop() if len(seen) == 1 else None),
        }, None

    def check_job(self, errors):
        """
        Raise BenchError if the job is gone: what failed then says nothing of its module. errors:
        str, of srun.
        """
        gone = holding.find_job_loss(os.environ, errors)
        if gone:
            raise BenchError(gone)

    def run_repeat(self, number, runs):
        """Run the session of a repeat (int) with runs (list of plan.Run) under ReFrame."""
        plan_file, report = (
            self.folder / f'plan-{number}.json',
            self.folder / f'reframe-{number}.json',
        )
        promises = {
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
                    'promises': promises,
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
            '--exec-policy=serial',
            '--nocolor',
            f'--prefix={self.folder / "reframe"}',
            f'--report-file={report}',
        ]
        env = {
            **self.base,
            holding.PLAN_VARIABLE: str(plan_file),
            'RFM_SAVE_LOG_FILES': 'no',
            'PYTHONUNBUFFERED': '1',
        }
        errors = [self.folder / 'raw' / f'{run.name}-{number}.err' for run in runs]
        for path in (report, *errors):  # of a session that was interrupted
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

    def follow_session(self, child, number, runs):
        """Show how far the session is until it ends."""
        already, size = len(self.list_recorded_runs()), -1
        while child.poll() is None:
            if self.writer.path.stat().st_size != size:
                size = self.writer.path.stat().st_size
                here = min(len(self.list_recorded_runs()) - already, len(runs) - 1)
                self.progress(
                    f"repeat {number} of {self.spec.repeats}, run {here + 1} of {len(runs)}: "
                    f"{runs[here].case.title} {runs[here].series}"
                )
            time.sleep(0.2)

    def record_missing_runs(self, number, runs, report, log, code):
        """
        Record why runs of a session left no line: ReFrame gave them up, or could not run at all.

        Raises BenchError if the session as a whole did not work, or if the job is gone.
        """
        done = self.list_recorded_runs()
        missing = [run for run in runs if (run.name, number) not in done]
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
                f"ReFrame ended with exit code {code} and left no report. The end of {log}:\n"
                + '\n'.join('    ' + line for line in tail)
            ) from None
        for run in missing:
            entry = reported.get(run.name, {})
            said = f"{(entry.get('fail_reason') or 'ReFrame did not run it').strip()} (phase {entry.get('fail_phase')})"
            printed = [
                measure.read_optional_text(os.path.join(entry['stagedir'], entry[name]))
                for name in ('job_stdout', 'job_stderr')
                if entry.get('stagedir') and entry.get(name)
            ]
            self.writer.add(
                'measurement',
                **_build_empty_measurement(
                    run, number, 'failed', measure.format_failure_reason(said, '\n'.join(printed))
                ),
            )


def read_recorded_runs(path, runs):
    """
    Return {(name of a run, repeat)} of runs (list of plan.Run) that the results file path has.
    """
    entries, _ = run_files.read_entries(path)
    names = {(run.module, run.case): run.name for run in runs}
    return {
        (names.get((entry['module'], run_files.model.Case(**entry['case']))), entry['repeat'])
        for _, entry in entries
        if entry['kind'] == 'measurement'
    }


def list_remaining_runs(path, runs, repeats):
    """
    Return what of runs (list of plan.Run) the results file path lacks: list of (plan.Run,
    repeat).
    """
    done = read_recorded_runs(path, runs)
    return [
        (run, repeat)
        for repeat in range(1, repeats + 1)
        for run in runs
        if not run.skip_reason and (run.name, repeat) not in done
    ]


def _build_empty_measurement(run, repeat, status, reason):
    """Return the line (dict) of a run that gave no numbers."""
    return {
        'module': run.module,
        'approach': run.series,
        'case': run.serialize()['case'],
        'repeat': repeat,
        'status': status,
        'typed': run.command_line,
        'reason': reason,
    }


def _read_package_version(package):
    """Return the version (str) of an installed Python package, None if it is missing."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

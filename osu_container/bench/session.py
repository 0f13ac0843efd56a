"""
A run of `osu-container bench`: its folder, one ReFrame session a repeat, and going on after an interruption.

    <folder>/results.jsonl        what was measured (docs/benchmarks.md)
    <folder>/raw/, proof/         output of every run, and what each rank loaded
    <folder>/settings.py          ReFrame's settings
    <folder>/plan-<repeat>.json   what the session of a repeat runs
    <folder>/reframe-<repeat>.log, .json   what ReFrame said, its report
    <folder>/reframe/             ReFrame's stage and output folders
    <folder>/running.json         while somebody measures: who (holding.py)
"""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from osu_container.core import outputs
from osu_container.core.reading.files import read_json
from osu_container.proof import judging

from .. import osu_output, record
from ..results import run_files
from ..streams import end_group, ending_with, started
from . import BenchError, cases, holding, installed_modules, measure, plan, reframe_settings

CHECKS = Path(__file__).with_name('checks.py')
RANK_PROOF = CHECKS.parents[1] / 'rank-proof'
#: The first run of a module, which is not measured: MPICH says under this variable which provider it takes (60 lines)
ASK = {'MPIR_CVAR_DEBUG_SUMMARY': '1'}
#: Long enough (about a second) for rank-proof to look twice at a native program, which starts fast
ASK_PROGRAM = ('osu_latency', '-m', '8', '-i', '4000', '-x', '1', 'H', 'H')
ASK_LIMIT = 300
#: ReFrame's main function; its package has no __main__. Before it has read its settings it writes a log into Python's
#: folder for temporary files: for that process alone this is the folder that is named first
REFRAME = ('import sys, tempfile; tempfile.tempdir = sys.argv.pop(1); from reframe.frontend.cli import main; '
           'sys.exit(main())')


class JobLost(BenchError):
    """The job in which the runs are made is gone: what is missing is not recorded, and can be measured in another."""


@dataclass
class Wanted:
    """
    What a run measures: tag, names of modules, repeats, patterns, nodes, partition, account.

    run: dict, in place of a tag a command of the user's (plan.command(), and limit: seconds that it may take)
    check: whether the programs compare what arrives with what was sent
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
    """One run. say: function that takes a line (str) for the user; progress: the same for a line that may vanish."""

    def __init__(self, folder, wanted, found, base, *, say, progress):
        """
        :param folder: Path; wanted: Wanted; found: list of installed_modules.Module; base: dict, environment with Lmod
        """
        self.folder, self.wanted, self.modules, self.base = Path(folder), wanted, found, base
        self.say, self.progress = say, progress
        self.site = installed_modules.site_of(found)
        self.runs = plan.runs_of(wanted, found, self.site)
        self.writer = run_files.Writer(self.folder / run_files.NAME)
        self.begin = time.monotonic()
        self.complete = False  # all that was wanted is in the file
        self.unusable = {}  # name of a module -> why none of its runs is tried

    # ---- the file ----------------------------------------------------------------------------------------------------

    def start(self, typed):
        """Make the folder and the first lines of a new run. typed: the command, as the user typed it (list of str)."""
        (self.folder / 'raw').mkdir(parents=True, exist_ok=True)
        runtime = next((one.environment for one in self.modules if one.container), self.base)
        self.writer.begin(
            run=self.folder.name, started=record.now(), site=self.site['name'], tag=self.wanted.tag,
            repeats=self.wanted.repeats, command=typed, wanted=vars(self.wanted), inputs=self.inputs(),
            project=record.git_state(installed_modules.PROJECT), machine=record.machine(),
            versions=dict(record.versions(runtime), reframe=_version('reframe-hpc')),
            slurm=measure.slurm_facts(os.environ))

    def inputs(self):
        """Return {name: sha256} of everything that the numbers depend on."""
        found = {}
        for module in self.modules:
            found.update(module.inputs())
        return found

    def done(self):
        """Return {(name of a run, repeat)} of what is in the file already."""
        return done_of(self.writer.path, self.runs)

    def left(self):
        """Return what is not in the file yet (list of (plan.Run, repeat))."""
        return left_of(self.writer.path, self.runs, self.wanted.repeats)

    def resume(self):
        """
        Check that the run in the folder can go on, and cut off a half-written line.

        Raises BenchError if a module, image or library is not what it was, because its figures would not compare.
        """
        if self.writer.mend():
            self.say('the last line of the results was cut off; that run is measured again')
        header = run_files.lines(self.writer.path)[0][0][1]
        now, then = self.inputs(), header['inputs']
        changed = sorted(name for name in set(now) | set(then) if now.get(name) != then.get(name))
        if changed:
            raise BenchError(f"{self.folder} was begun with something else than what is installed now: "
                             f"{', '.join(changed)} changed. Begin a new run instead of --resume")

    # ---- running -----------------------------------------------------------------------------------------------------

    def go(self):
        """
        Measure what is not in the file yet; return {'ok', 'failed', 'skipped': counts, 'left': how many are not there}.

        The last line is written when all is there that was wanted.
        Raises BenchError, JobLost.
        """
        reframe_settings.write(self.folder / 'settings.py', self.site)
        done = self.done()
        self.ask_modules()
        for run in self.runs:
            if run.skip and (run.name, 1) not in done:
                self.writer.add('measurement', **_without_numbers(run, 1, 'skipped', run.skip))
        self.before, self.measuring = len(self.done()), time.monotonic()
        for repeat in range(1, self.wanted.repeats + 1):
            left = [run for run in plan.rotated([run for run in self.runs if not run.skip], repeat)
                    if (run.name, repeat) not in done]
            for run in [run for run in left if run.module in self.unusable]:
                self.writer.add('measurement', **_without_numbers(run, repeat, 'failed', self.unusable[run.module]))
            left = [run for run in left if run.module not in self.unusable]
            if left:
                self.repeat(repeat, left)
        counts = dict(self.counts(), left=len(self.left()))
        self.complete = not counts['left']
        if self.complete:
            self.writer.add('end', ended=record.now(), **counts)
        return counts

    def counts(self):
        """Return {'ok', 'failed', 'skipped': how many measurements the file has}."""
        found = [entry['status'] for _, entry in run_files.lines(self.writer.path)[0] if entry['kind'] == 'measurement']
        return {status: found.count(status) for status in run_files.STATUS}

    def ask_modules(self):
        """Start each module once, unmeasured: does it run, what do its ranks load, over which network?"""
        known = {entry['name']: entry.get('problem') for _, entry in run_files.lines(self.writer.path)[0]
                 if entry['kind'] == 'module'}
        self.unusable.update({name: problem for name, problem in known.items() if problem})
        for number, module in enumerate(self.modules, 1):
            if module.name in known:
                continue
            self.progress(f"starting {module.name}, module {number} of {len(self.modules)}")
            network, problem = self.ask(module)
            if problem:
                self.check_job(self.folder / 'raw' / f'{plan.series_names(self.modules)[module.name]}-start.err')
                self.unusable[module.name] = problem
                self.say(f"{module.name} does not run: {problem}")
                self.writer.add('module', **module.facts, network=network, problem=problem)
            else:
                self.writer.add('module', **module.facts, network=network)

    def ask(self, module):
        """Run a module once; return ({'netmod', 'provider'}, why it cannot be used (str) or None)."""
        nobody = {'netmod': None, 'provider': None}
        mine = next((run for run in self.runs if self.wanted.run and run.module == module.name), None)
        if mine and mine.skip:
            return nobody, None
        if not mine and 'osu_latency' not in module.programs:
            return nobody, f"{module.name} has no osu_latency"
        label = f'{plan.series_names(self.modules)[module.name]}-start'
        raw, errors = self.folder / 'raw' / f'{label}.txt', self.folder / 'raw' / f'{label}.err'
        proofs = self.folder / 'proof' / label
        limit, ranks = (self.wanted.run['limit'], mine.case.ranks) if mine else (ASK_LIMIT, 2)
        try:
            code = _run_into(raw, errors, self.ask_command(module, mine, proofs),
                             {**module.environment, **ASK, holding.PLAN: str(self.folder / 'plan-start.json')}, limit)
        except subprocess.TimeoutExpired:
            return nobody, f"it did not end within {limit} s ({errors})"
        text = raw.read_text(errors='replace')
        try:
            if code:
                raise osu_output.OutputError(f"exit code {code}")
            if not mine:
                osu_output.parse(text, benchmark='osu_latency', source=raw.name, largest=8)
            elif mine.figure:
                measure.figure_of(text, mine.figure, raw.name)
            judging.wait_for(proofs, ranks)
            found = judging.read_proofs(proofs, ranks)
        except (osu_output.OutputError, judging.ProofError) as problem:
            return nobody, measure.reason(str(problem), text + '\n' + errors.read_text(errors='replace'))
        promise = module.facts
        broken = judging.broken_promises(found, promise['comes_from'], promise['container'])
        if broken:
            return nobody, 'it does not run what it promises: ' + '; '.join(broken[:3])
        return _network_said(text, found), None

    def ask_command(self, module, mine, proofs):
        """
        Return the command (list of str) that runs a module once.

        :param module: Module; mine: plan.Run of the user's own program, None for osu_latency
        :param proofs: Path, folder of the proofs
        """
        command = [*(mine.start if mine else plan.start_line(min(2, self.wanted.nodes), 2, self.site, bind=False,
                                                              kind=module.pmi))]
        behind = [command.pop()] if command[-1] == 'osu-gpu-bind' else []
        return [*command, str(RANK_PROOF), str(proofs), *behind, *(mine.program if mine else ASK_PROGRAM)]

    def repeat(self, number, runs):
        """Run the session of a repeat (int) with runs (list of plan.Run) under ReFrame."""
        plan_file, report = self.folder / f'plan-{number}.json', self.folder / f'reframe-{number}.json'
        promises = {module.name: {key: module.facts[key] for key in ('comes_from', 'container')}
                    for module in self.modules}
        limit = self.wanted.run['limit'] if self.wanted.run else cases.TIME_LIMIT
        outputs.replace(plan_file, json.dumps({
            'folder': str(self.folder), 'repeat': number, 'promises': promises, 'limit': limit,
            'runs': [run.entry() for run in runs]}, indent=1) + '\n')
        (self.folder / 'reframe').mkdir(exist_ok=True)
        command = [sys.executable, '-c', REFRAME, str(self.folder / 'reframe'),
                   '-C', str(self.folder / 'settings.py'), '-c', str(CHECKS), '-r', '--exec-policy=serial',
                   '--nocolor', f'--prefix={self.folder / "reframe"}',
                   f'--report-file={report}']
        env = {**self.base, holding.PLAN: str(plan_file), 'RFM_SAVE_LOG_FILES': 'no', 'PYTHONUNBUFFERED': '1'}
        for path in (report, *self.errors_of(number, runs)):  # of a session that was interrupted
            path.unlink(missing_ok=True)
        log = self.folder / f'reframe-{number}.log'
        with open(log, 'a') as out:
            child = subprocess.Popen(command, env=env, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True,
                                     preexec_fn=ending_with(os.getpid()))
            try:
                self.follow(child, number, runs)
            except BaseException:  # interrupted: ReFrame ends its test, srun its step
                _interrupt(child)
                holding.end_left_behind(self.folder)
                raise
        self.explain_missing(number, runs, report, log, child.returncode)

    def follow(self, child, number, runs):
        """Show how far the session is until it ends."""
        already, size = len(self.done()), -1
        while child.poll() is None:
            time.sleep(0.2)
            here = self.writer.path.stat().st_size
            if here == size:
                continue
            size, done = here, len(self.done())
            here = min(done - already, len(runs) - 1)
            self.progress(f"repeat {number} of {self.wanted.repeats}, run {here + 1} of {len(runs)}: "
                          f"{runs[here].case.title} {runs[here].series}{self.time_left(done)}")

    def time_left(self, done):
        """Return about how long it takes yet (str), by what this session measured; done: int, runs in the file."""
        new, left = done - self.before, len(self.left())
        if not new:
            return ''
        return f"; about {_time((time.monotonic() - self.measuring) / new * left)} left"

    def errors_of(self, number, runs):
        """Return the files (list of Path) for what runs (list of plan.Run) of a repeat (int) say on stderr."""
        return [self.folder / 'raw' / f'{run.name}-{number}.err' for run in runs]

    def check_job(self, *errors):
        """
        Raise JobLost if the job in which the runs are made is gone: what failed then says nothing of its module.

        errors: Path, what runs that failed said on stderr; those that are not there are passed over
        """
        gone = next(filter(None, (holding.unreached(measure.text_of(path)) for path in errors)), None) or holding.lost(
            os.environ)
        if gone:
            raise JobLost(gone)

    def explain_missing(self, number, runs, report, log, code):
        """
        Record why runs of a session left no line: ReFrame gave them up, or could not run at all.

        Raises BenchError if the session as a whole did not work, JobLost.
        """
        done = self.done()
        missing = [run for run in runs if (run.name, number) not in done]
        if missing:
            self.check_job(*self.errors_of(number, missing))
        try:
            reported = {entry['name'].rpartition('case=')[2]: entry
                        for entry in read_json(report, 'line of results')['runs'][-1]['testcases']}
        except (OSError, ValueError, KeyError, IndexError):
            tail = [line for line in measure.text_of(log).splitlines() if line.strip()][-10:]
            holding.end_left_behind(self.folder)  # it was killed, and its test runs on
            full = holding.full(self.folder, tail)
            if full:
                raise BenchError(full) from None
            raise BenchError(f"ReFrame ended with exit code {code} and left no report. The end of {log}:\n"
                             + '\n'.join('    ' + line for line in tail)) from None
        done = self.done()
        for run in runs:
            entry = reported.get(run.name, {})
            said = f"{(entry.get('fail_reason') or 'ReFrame did not run it').strip()} (phase {entry.get('fail_phase')})"
            if (run.name, number) not in done:
                self.writer.add('measurement', **_without_numbers(
                    run, number, 'failed', measure.reason(said, _stage_output(entry))))
            elif entry.get('fail_phase') not in (None, 'sanity'):  # measured, but missing in ReFrame's own logs
                self.say(f"{run.name}, repeat {number}: {said}; its numbers are kept, see {log}")


def done_of(path, runs):
    """Return {(name of a run, repeat)} of runs (list of plan.Run) that the results file path has."""
    entries, _ = run_files.lines(path)
    names = {(run.module, run.case): run.name for run in runs}
    return {(names.get((entry['module'], run_files.model.Case(**entry['case']))), entry['repeat'])
            for _, entry in entries if entry['kind'] == 'measurement'}


def left_of(path, runs, repeats):
    """Return what of runs (list of plan.Run) the results file path lacks: list of (plan.Run, repeat)."""
    done = done_of(path, runs)
    return [(run, repeat) for repeat in range(1, repeats + 1) for run in runs
            if not run.skip and (run.name, repeat) not in done]


def _run_into(out, err, command, environment, limit):
    """
    Run command (list of str) with its streams into the files out and err (Path); return its exit code (int).

    Raises subprocess.TimeoutExpired after limit (s); then, and when this program is interrupted, it is ended.
    """
    with open(out, 'w') as stdout, open(err, 'w') as stderr:
        with started(command, env=environment, stdout=stdout, stderr=stderr) as child:
            return child.wait(timeout=limit)


def _network_said(text, proofs):
    """Return {'netmod', 'provider'} (str or None) as the output text (str) of a run has it, else its proofs (list)."""
    netmod, provider = osu_output.network_of(text)
    # MPICH says its netmod, which nothing outside of it shows. An MPI that says nothing has been looked at.
    seen = {(one.get('network') or {}).get('provider') for one in proofs}
    return {'netmod': netmod, 'provider': provider or (seen.pop() if len(seen) == 1 else None)}


def _stage_output(entry):
    """Return what a test that ReFrame gave up had printed (str); entry: its part of ReFrame's report (dict)."""
    folder = Path(entry.get('stagedir') or '/nonexistent')
    texts = []
    for name in (entry.get('job_stdout'), entry.get('job_stderr')):
        try:
            texts.append((folder / name).read_text(errors='replace'))
        except (OSError, TypeError):
            pass
    return '\n'.join(texts)


def _without_numbers(run, repeat, status, reason):
    """Return the line (dict) of a run that gave no numbers."""
    return {'module': run.module, 'approach': run.series, 'case': run.entry()['case'], 'repeat': repeat,
            'status': status, 'typed': run.typed, 'reason': reason}


def _interrupt(child):
    """End ReFrame as Ctrl-C would: it then ends its running test; force it if it does not."""
    try:
        child.send_signal(signal.SIGINT)
        child.wait(timeout=10)
    except (ProcessLookupError, subprocess.TimeoutExpired):
        pass
    end_group(child)


def _time(seconds):
    """Return seconds as text: '40 s', '3 min'."""
    return f'{seconds:.0f} s' if seconds < 90 else f'{seconds / 60:.0f} min'


def _version(package):
    """Return the version (str) of an installed Python package, None if it is missing."""
    from importlib import metadata
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None

"""
The benchmarks as ReFrame tests. `osu-container bench` runs them; so does ReFrame by itself:

    osu-container bench --settings settings.py
    reframe -C settings.py -c osu_container/bench/checks.py --tag quick -r

A test is one benchmark in one case under one module, for example

    OSU_Micro_Benchmarks %case=osu_bw-HH-2x1-hybrid

with a performance variable for each message size, so ReFrame's performance logs and --performance-compare see every
size. The name is the same in every repeat: they are told apart by session.

Under `osu-container bench` the environment variable OSU_CONTAINER_PLAN names the plan of a session (session.py).
Without it the tests are those of all tags with every module that is installed.
"""
import json
import os
import shlex
import shutil
import sys
import time
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function
from reframe.core.exceptions import ForceExitError

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from osu_container.bench import cases, holding, job, measure, modules, plan  # noqa: E402, the path above is needed first
from osu_container.results import files, model  # noqa: E402

RANK_PROOF = PROJECT / 'osu_container' / 'rank-proof'


def read_plan():
    """Return the plan of this session (dict): that of OSU_CONTAINER_PLAN, or everything that is installed."""
    if os.environ.get(holding.PLAN):
        found = json.loads(Path(os.environ[holding.PLAN]).read_text())
        return dict(found, runs=[plan.from_entry(entry) for entry in found['runs']])
    base = modules.base_environment()
    installed = [modules.load(name, base) for name in modules.available(base)]
    if not installed:
        print("no module of the benchmarks is on MODULEPATH: there is nothing to test", file=sys.stderr)
        return {'folder': None, 'repeat': 1, 'runs': [], 'promises': {}}
    site = modules.site_of(installed)
    runs = {}
    for tag in cases.TAGS:
        for run in plan.make(tag, installed, site, nodes=max(nodes for nodes, _ in cases.PLACEMENTS.values())):
            if run.skip is None:  # one run may have several tags; the first that names it decides about its options
                tags = (*runs[run.name].tags, tag) if run.name in runs else (tag,)
                runs[run.name] = plan.from_entry(dict(runs.get(run.name, run).entry(), tags=tags))
    return {'folder': None, 'repeat': 1, 'runs': list(runs.values()), 'promises': {
        module.name: {key: module.facts[key] for key in ('comes_from', 'container')} for module in installed}}


PLAN = read_plan()


@rfm.simple_test
class OSU_Micro_Benchmarks(rfm.RunOnlyRegressionTest):
    """One benchmark in one case under one module; writes its line of results.jsonl when it has ended."""

    case = parameter(PLAN['runs'], fmt=lambda run: run.name)
    valid_systems = ['*']
    valid_prog_environs = ['*']
    maintainers = ['osu-container']
    local = False
    time_limit = f'{cases.TIME_LIMIT}s'

    @run_after('init')
    def describe(self):
        self.descr = f'{self.case.case.title} under {self.case.module}'
        self.tags = set(self.case.tags)
        self.modules = [self.case.module]
        self.num_tasks = self.case.case.ranks
        self.num_tasks_per_node = self.case.case.ranks // self.case.case.nodes

    @run_before('run')
    def set_command(self):
        self.folder = Path(PLAN['folder'] or self.stagedir)
        label = f"{self.case.name}-{PLAN['repeat']}"
        self.proofs = self.folder / 'proof' / label
        self.raw, self.errors = (self.folder / 'raw' / f'{label}{suffix}' for suffix in ('.txt', '.err'))
        shutil.rmtree(self.proofs, ignore_errors=True)  # of a run that was interrupted
        self.clock = None
        if model.is_command(self.case.case.benchmark):  # the step alone: neither `module load` nor ReFrame's polling
            self.time_limit = f"{PLAN['limit']}s"
            self.clock = 'wall-time'  # in ns
            self.prerun_cmds = ['osu_begin=$(date +%s%N)']
            self.postrun_cmds = ['osu_code=$?', f'echo $(($(date +%s%N) - osu_begin)) >{self.clock}',
                                 '(exit $osu_code)']
        srun = list(self.case.srun)
        at = len(srun) - (srun[-1] == 'osu-gpu-bind')
        self.job.launcher.options = srun[1:at]
        self.executable = shlex.quote(str(RANK_PROOF))
        words = [str(self.proofs), *srun[at:], *self.case.program]
        self.executable_opts = [shlex.quote(word) for word in words]
        self.command = f'module load {self.case.module}; ' + shlex.join([*srun[:at], str(RANK_PROOF), *words])
        self.begin = time.monotonic()

    @sanity_function
    def numbers_and_proof(self):
        """
        Keep what was printed, write the line of results.jsonl; the test passes if the run gave what it should.

        A run that fails because its job is gone has given no result: it leaves no line, and no other test is tried.
        """
        stage = Path(self.stagedir)
        unreached = job.unreached((stage / str(self.stderr)).read_text(errors='replace'))
        if not os.environ.get('SLURM_JOB_ID') and (unreached or str(self.job.state) in job.ENDED_FROM_OUTSIDE):
            return sn.assert_true(False, msg=f"{job.ENDED} ({unreached or self.job.state})")
        seconds = time.monotonic() - self.begin
        if self.clock and (stage / self.clock).is_file():  # not there where the step was ended from outside
            seconds = int((stage / self.clock).read_text()) / 1e9
        self.raw.parent.mkdir(parents=True, exist_ok=True)
        for kept, found in ((self.raw, self.stdout), (self.errors, self.stderr)):
            shutil.copyfile(stage / str(found), kept)
        slurm = measure.slurm_facts(os.environ)
        if not slurm['job']:  # ReFrame submitted a job for this test alone
            slurm.update(job=str(self.job.jobid), nodes=list(self.job.nodelist or []))
        entry = measure.line(self.case, PLAN['repeat'], stdout=self.raw, stderr=self.errors, code=self.job.exitcode,
                             proofs=self.proofs, promise=PLAN['promises'][self.case.module], seconds=seconds,
                             folder=self.folder, command=self.command, slurm=slurm)
        gone = unreached or job.lost(os.environ) if entry['status'] != 'ok' else None
        if gone:
            raise ForceExitError(gone)
        if PLAN['folder']:
            files.Writer(self.folder / files.NAME).add('measurement', **entry)
        self.values = entry.get('values', {})
        return sn.assert_true(entry['status'] == 'ok', msg=entry.get('reason', ''))

    def size_name(self, size):
        """Return the name (str) of the performance variable of a message size in bytes."""
        if model.is_command(self.case.case.benchmark):
            return 'command'
        if not model.has_sizes(self.case.case.benchmark):
            return self.case.case.benchmark
        return (model.size_text(size) or '0 B').replace(' ', '_')

    @run_before('performance')
    def performance_of_every_size(self):
        self.perf_variables = {
            self.size_name(int(size)): sn.make_performance_function(
                sn.defer(value), self.case.case.unit)
            for size, value in self.values.items()}

"""
The benchmarks as ReFrame tests, as `osu-container bench` runs them: the environment variable
OSU_CONTAINER_PLAN names the plan of a session (session.py).

A test is one benchmark in one case under one module, for example OSU_Micro_Benchmarks
%case=osu_bw-HH-2x1-hybrid. The name is the same in every repeat: they are told apart by session.
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

from osu_container.bench import cases, holding, measure, plan  # noqa: E402, the path above is needed first
from osu_container.bench.results import model, run_files  # noqa: E402

RANK_PROOF = PROJECT / 'scripts' / 'rank-proof'


#: The plan of this session
PLAN = json.loads(Path(os.environ[holding.PLAN_VARIABLE]).read_text())


@rfm.simple_test
class OSU_Micro_Benchmarks(rfm.RunOnlyRegressionTest):
    """
    One benchmark in one case under one module; writes its line of results.jsonl when it has
    ended.
    """

    case = parameter(map(plan.deserialize_run, PLAN['runs']), fmt=lambda run: run.name)
    valid_systems = ['*']
    valid_prog_environs = ['*']
    maintainers = ['osu-container']
    local = False
    time_limit = f'{cases.TIME_LIMIT}s'

    @run_after('init')
    def describe(self):
        self.descr = f'{self.case.case.title} under {self.case.module}'
        self.modules = [self.case.module]

    @run_before('run')
    def set_command(self):
        self.folder = Path(PLAN['folder'])
        label = f"{self.case.name}-{PLAN['repeat']}"
        self.proofs = self.folder / 'proof' / label
        self.raw, self.errors = (
            self.folder / 'raw' / f'{label}{suffix}' for suffix in ('.txt', '.err')
        )
        shutil.rmtree(self.proofs, ignore_errors=True)  # of a run that was interrupted
        self.clock = None
        if model.is_command(
            self.case.case.benchmark
        ):  # the step alone: neither `module load` nor ReFrame's polling
            self.time_limit = f"{PLAN['limit']}s"
            self.clock = 'wall-time'  # in ns
            self.prerun_cmds = ['osu_begin=$(date +%s%N)']
            self.postrun_cmds = [
                'osu_code=$?',
                f'echo $(($(date +%s%N) - osu_begin)) >{self.clock}',
                '(exit $osu_code)',
            ]
        words = plan.build_proof_command(
            self.case.launch_command, self.case.program, RANK_PROOF, self.proofs
        )
        self.executable, *self.executable_opts = [shlex.quote(word) for word in words]
        self.command = f'module load {self.case.module}; ' + shlex.join(words)
        self.begin = time.monotonic()

    @sanity_function
    def check_measurement(self):
        """
        Keep what was printed, write the line of results.jsonl; the test passes if the run gave what
        it should.

        A run that fails because its job is gone has given no result: it leaves no line, and no
        other test is tried.
        """
        stage = Path(self.stagedir)
        seconds = time.monotonic() - self.begin
        if (
            self.clock and (stage / self.clock).is_file()
        ):  # not there where the step was ended from outside
            seconds = int((stage / self.clock).read_text()) / 1e9
        self.raw.parent.mkdir(parents=True, exist_ok=True)
        for kept, found in ((self.raw, self.stdout), (self.errors, self.stderr)):
            shutil.copyfile(stage / str(found), kept)
        entry = measure.build_measurement(
            self.case,
            PLAN['repeat'],
            stdout=self.raw,
            stderr=self.errors,
            code=self.job.exitcode,
            proofs=self.proofs,
            expectation=PLAN['promises'][self.case.module],
            seconds=seconds,
            folder=self.folder,
            command=self.command,
        )
        gone = (
            holding.find_job_loss(os.environ, measure.read_optional_text(self.errors))
            if entry['status'] != 'ok'
            else None
        )
        if gone:
            raise ForceExitError(gone)
        run_files.Writer(self.folder / run_files.RESULTS_FILE).add('measurement', **entry)
        return sn.assert_true(entry['status'] == 'ok', msg=entry.get('reason', ''))

"""
Define the ReFrame tests of `osu-container bench`.

The environment variable OSU_CONTAINER_PLAN contains the path of the plan of a ReFrame session
(session.py). A test measures one benchmark case with one module. An example of a test name is:
OSU_Micro_Benchmarks %case=osu_bw-HH-2x1-hybrid. The name of a test is the same in the ReFrame
sessions of all repeats.
"""

import json
import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function
from reframe.core.exceptions import ForceExitError

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

# ReFrame loads this file without the package, so the path must be set before these imports.
from osu_container.bench import cases, holding, measure, plan  # noqa: E402
from osu_container.bench.results import model, run_files  # noqa: E402

RANK_PROOF = PROJECT / 'scripts' / 'rank-proof'
#: The plan of this session
PLAN = json.loads(Path(os.environ[holding.PLAN_VARIABLE]).read_text())


@rfm.simple_test
class OSU_Micro_Benchmarks(rfm.RunOnlyRegressionTest):
    """
    A ReFrame test that measures one benchmark case with one installed module.

    The test adds the result to results.jsonl.
    """

    case = parameter(map(plan.deserialize_run, PLAN['runs']), fmt=lambda run: run.name)
    valid_systems = ['*']
    valid_prog_environs = ['*']
    maintainers = ['osu-container']
    local = False
    time_limit = f'{cases.TIME_LIMIT}s'

    @run_after('init')
    def describe(self) -> None:
        self.descr = f'{self.case.case.title} under {self.case.module}'
        self.modules = [self.case.module]

    @run_before('run')
    def set_command(self) -> None:
        self.folder = Path(PLAN['folder'])
        label = f"{self.case.name}-{PLAN['repeat']}"
        self.proofs = self.folder / 'proof' / label
        self.raw, self.errors = (
            self.folder / 'raw' / f'{label}{suffix}' for suffix in ('.txt', '.err')
        )
        shutil.rmtree(self.proofs, ignore_errors=True)  # an interrupted run may have left it
        self.clock = None
        # Time only the command, without `module load` and ReFrame's polling.
        if model.is_command(self.case.case.benchmark):
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
    def check_measurement(self) -> Any:  # a deferred expression of ReFrame, which has no types
        """
        Store the output and the measurement of a run; the test passes if the measurement is valid.

        The measurement is a line of results.jsonl. If the run failed because the Slurm job was
        lost, this method writes no measurement and stops the ReFrame session.
        """
        stage = Path(self.stagedir)
        seconds = time.monotonic() - self.begin
        # The file is missing if the job step was killed.
        if self.clock and (stage / self.clock).is_file():
            seconds = int((stage / self.clock).read_text()) / 1e9
        self.raw.parent.mkdir(parents=True, exist_ok=True)
        for target, source in ((self.raw, self.stdout), (self.errors, self.stderr)):
            shutil.copyfile(stage / str(source), target)
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
        job_loss = (
            holding.find_job_loss(os.environ, measure.read_optional_text(self.errors))
            if entry['status'] != 'ok'
            else None
        )
        if job_loss:
            raise ForceExitError(job_loss)
        run_files.Writer(self.folder / run_files.RESULTS_FILE).add('measurement', **entry)
        return sn.assert_true(entry['status'] == 'ok', msg=entry.get('reason', ''))

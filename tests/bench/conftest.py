"""Fixtures of the tests of `osu-container bench`."""

import subprocess

import pytest

from tests.helpers import bench_stand_in
from tests.helpers.machine import PROJECT, restore_sigint, run

PYTHON = PROJECT / '.workstation' / 'venv' / 'bin' / 'python'


@pytest.fixture(scope='session')
def bench_environment(tmp_path_factory):
    """Modules, srun, salloc and the questions to Slurm, made once."""
    root = tmp_path_factory.mktemp('bench')
    bench_stand_in.make(root)
    return root


@pytest.fixture
def bench(bench_environment, tmp_path):
    """
    Function (arguments..., **variables) that runs `osu-container bench`; its folder of results is
    of this test.

    Its attribute start takes the same and returns the Popen of a command that runs.
    """
    for path in (
        *(bench_environment / 'special').glob('*'),
        *bench_environment.glob('*.calls'),
        *bench_environment.glob('*.answer'),
    ):
        path.unlink()

    def parts(arguments, variables):
        env = {
            **bench_stand_in.make_environment(bench_environment),
            'OSU_CONTAINER_RESULTS': str(tmp_path / 'results'),
            **variables,
        }
        return [
            str(word)
            for word in (PYTHON, PROJECT / 'scripts' / 'osu-container', 'bench', *arguments)
        ], env

    def call(*arguments, **variables):
        command, env = parts(arguments, variables)
        return run(command, env=env)

    def start(*arguments, **variables):
        command, env = parts(arguments, variables)
        child = subprocess.Popen(
            command,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=restore_sigint,
        )
        started.append(child)
        return child

    started = []
    call.root, call.results, call.start = bench_environment, tmp_path / 'results', start
    yield call
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()

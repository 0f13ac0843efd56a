"""regression/nightly and the job of GitLab: what they want, and that they are silent while all is well."""
import re

import pytest
import yaml

from tests.helpers import example_runs as results_data
from tests.helpers.machine import PROJECT, run


def test_the_job_of_gitlab_uses_options_that_exist():
    job = yaml.safe_load((PROJECT / 'regression/gitlab-ci.yml').read_text())['osu-container']
    lines = [line for line in job['script'] + job['after_script'] if 'osu-container' in line and 'env.sh' not in line]
    assert len(lines) == 5
    for line in lines:
        subcommand = re.search(r'osu-container"? (\w+)', line)[1]
        shown = run([PROJECT / 'bin' / 'osu-container', subcommand, '--help'])
        assert shown.returncode == 0, line
        for option in re.findall(r' (--?\w[\w-]*)', line):
            assert re.search(rf'(^|[ ,]){option}\b', shown.stdout, re.M), (line, option)


def test_nightly_without_a_reference_says_what_it_wants():
    for arguments in ([], ['--help']):
        done = run([PROJECT / 'regression/nightly', *arguments])
        assert done.returncode == 2 and 'usage: regression/nightly REFERENCE' in done.stderr


def test_nightly_names_why_nothing_could_be_run(tmp_path):
    """With folders of its own and no modules."""
    environment = {'PATH': '/usr/local/bin:/usr/bin:/bin', 'HOME': str(tmp_path), 'LC_ALL': 'C.UTF-8',
                   'EASYBUILD_PREFIX': str(tmp_path / 'prefix'), 'OSU_CONTAINER_RESULTS': str(tmp_path / 'results')}
    done = run([PROJECT / 'regression/nightly', 'lumi-g-2025-03', '--module', 'osu-container/nonesuch'],
               env=environment, timeout=300)
    assert done.returncode == 1 and 'nothing could be run' in done.stdout and 'nonesuch' in done.stdout
    assert 'Compared with' not in done.stdout


@pytest.mark.full
@pytest.mark.apptainer
@pytest.mark.slurm
def test_nightly_is_silent_about_a_slower_reference_and_tells_of_a_faster_one(shell, tmp_path):
    """References a hundred times slower and faster than any machine; the run of the night is real."""
    folders = {'OSU_CONTAINER_RESULTS': str(tmp_path / 'results'), 'XDG_DATA_HOME': str(tmp_path / 'data')}
    for name, scale in (('slower', 1e-4), ('faster', 1e4)):
        made = results_data.make_run(tmp_path / name, approaches=('native',), cases=results_data.CASES, repeats=2,
                                     scale={'native': scale}, run=name)
        done = shell(f'{PROJECT}/bin/osu-container reference add {made} --name site-{name}', **folders)
        assert done.returncode == 0, done.stderr
    night = ' --module osu-native --module osu-container/pure --repeats 2 osu_latency'
    slower = shell(f'{PROJECT}/regression/nightly site-slower{night}', timeout=600, **folders)
    assert 'Compared with site-slower' not in slower.stdout, slower.stdout
    faster = shell(f'{PROJECT}/regression/nightly site-faster{night}', timeout=600, **folders)
    assert faster.returncode == 1 and 'Compared with site-faster' in faster.stdout, faster.stdout + faster.stderr
    assert 'worse' in faster.stdout.split('Compared with site-faster')[1]
    runs = [path for path in (tmp_path / 'results').iterdir() if (path / 'results.jsonl').exists()]
    assert len(runs) == 2 and all((path / 'compare-reference.txt').read_text() for path in runs)

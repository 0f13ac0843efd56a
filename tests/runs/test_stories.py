"""
Five stories, typed as somebody types them: one shell each, in a folder of its own, and only what the commands print.

What a command prints for the next one (the line of eb, the line that resumes a run, a remedy) is typed from its output,
so a story also breaks where a message leads to nothing.
"""
import html
import re

import pytest

from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, folded
from tests.runs.test_approaches import MODULES

pytestmark = [pytest.mark.apptainer, pytest.mark.slurm]

#: The image of the workstation's modules, which the set-up has built
IMAGE = PROJECT / 'sources' / 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'


@pytest.fixture
def typed(shell, tmp_path):
    """Function (line, code) that types a line in the folder of the story, and returns its CompletedProcess."""
    def call(line, code=0, before='', timeout=300):
        done = shell(f'cd {tmp_path}; module use {tmp_path}/prefix/modules/all; {before}\n{line}', timeout=timeout,
                     OSU_CONTAINER_RESULTS=str(tmp_path / 'results'))
        assert code in (None, done.returncode), f'{line}\n{done.stdout[-3000:]}{done.stderr[-3000:]}'
        return done
    return call


#: What `new` says to type next
EB = r'^ *(eb \S+\.eb\b.*)$'


def line_of(text, pattern):
    """Return what a pattern (str, one group) finds in what was printed (str); the story needs it to go on."""
    found = re.search(pattern, text, re.M)
    assert found, f'no {pattern!r} in:\n{text[:3000]}'
    return found.group(1)


@pytest.mark.parametrize('kind, program, more', [
    ('openmpi', 'ring', ''),
    # Debian's name of MPICH, a link beside it for those that ask for the ABI's, and UCX in place of libfabric
    pytest.param('debian', 'ring-renamed', '--program /usr/local/bin/ring-renamed', marks=pytest.mark.full)])
def test_somebody_runs_an_image_of_their_own(typed, apptainer, tmp_path, kind, program, more):
    (tmp_path / 'rings.sif').symlink_to(foreign_images.make(kind, apptainer))
    if more:
        assert 'name it by --program PATH' in typed('osu-container check rings.sif', code=1).stderr
    checked = typed(f'osu-container check rings.sif {more}').stdout
    line = line_of(checked, r'^ *(osu-container new rings\.sif.*)$')
    made = typed(line).stdout
    approach = line_of(made, r'^ *-> (\w+) +works')
    typed(f'{line_of(made, EB)} --prefix={tmp_path}/prefix')
    load = f'module load rings/{approach}'
    assert 'laps per second' in typed(f'srun -N2 -n2 {program}', before=load).stdout
    proved = typed(f'osu-container proof -- srun -N2 -n2 {program} 4', before=load)
    assert f'as promised by {approach}' in folded(proved.stderr)
    # and nothing of it stays
    typed(f'rm -r {tmp_path}/prefix')
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_job_fails_and_somebody_is_told_why_and_what_to_do(typed, tmp_path):
    load = f'module load {MODULES["hybrid"]}'
    script = tmp_path / 'job.sh'
    script.write_text(f'#!/bin/bash\n#SBATCH -N2 -n2 -t 5\n#SBATCH -o job.out\n{load}\nsrun osu_latency -m 64 -i 20\n')
    # a variable of an other day, in ~/.bashrc or the shell that calls sbatch
    typed('sbatch --wait job.sh', code=None, before='export FI_PROVIDER=verbs')
    failed = (tmp_path / 'job.out').read_text()
    assert not re.search(r'^ *64 +\d', failed, re.M), failed
    why = typed('osu-container why job.out')
    assert 'FI_PROVIDER' in why.stdout, f'{failed}\n{why.stdout}'
    told = typed(line_of(why.stdout, r'(osu-explain FI_PROVIDER)\b'), before=f'export FI_PROVIDER=verbs; {load}').stdout
    assert 'verbs' in told and 'unset yours' in folded(why.stdout)
    typed('unset FI_PROVIDER; sbatch --wait job.sh', before='export FI_PROVIDER=verbs')
    assert re.search(r'^ *64 +\d+\.\d+', (tmp_path / 'job.out').read_text(), re.M)


def test_somebody_compares_with_lumi(typed, tmp_path):
    done = typed(f'osu-container bench --tag quick --repeats 1 --module {MODULES["pure"]} -o mine osu_bw', timeout=600)
    assert '0 failed' in done.stdout
    compared = typed('osu-container compare mine lumi-g-2025-03', code=None)
    assert 'FI_CXI_RDZV' not in compared.stdout, 'advice for LUMI is none for this machine'
    assert re.search(r'\bH H\b', compared.stdout), compared.stdout
    report = typed('osu-container report mine lumi-g-2025-03 -o report.html')
    page = (tmp_path / 'report.html').read_text()
    assert 'lumi-g-2025-03' in page and '<svg' in page, report.stdout
    # how to repeat is a line that can be typed
    again = html.unescape(line_of(page, r'(osu-container bench [^<\n]+)')).replace(f'{tmp_path}/mine', 'again')
    assert 'osu_bw' in typed(again.replace(' bench ', ' bench --dry-run ', 1)).stdout


def test_somebody_brings_a_machine_that_is_in_no_data(typed, tmp_path):
    found = typed('osu-container discover -o site.py')
    line = line_of(found.stdout, EB.replace('^ *', '^Use it: +'))
    judged = typed(f'osu-container check --site-file site.py {IMAGE}')
    assert 'works' in judged.stdout
    typed(f'{line} --prefix={tmp_path}/prefix', timeout=600)
    approach = line_of(line, r'osu-container-(\w+)\.eb')
    assert 'site' in typed('osu-explain', before=f'module load osu-container/{approach}').stdout
    measured = typed('srun -N2 -n2 osu_latency -m 64 -i 20', before=f'module load osu-container/{approach}')
    assert re.search(r'^ *64 +\d+\.\d+', measured.stdout, re.M)

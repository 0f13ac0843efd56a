"""osu-container stage: a copy of the image on both nodes, and what the module's commands make of it."""
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest

from osu_container.core.data.approaches import APPROACHES
from tests.helpers.machine import LASTING, PROJECT
from tests.helpers.samples import one_of_each

pytestmark = [pytest.mark.apptainer, pytest.mark.slurm]

CONTAINERS = [approach for approach, entry in APPROACHES.items() if entry['container']]
STAGE = f'{PROJECT}/bin/osu-container stage'
FOLDER = Path(f'/tmp/run-in-container-images-{os.getuid()}')
#: The image that a command takes, as its process shows it
TAKEN = "srun -N2 -n2 osu-exec sh -c 'echo image=$APPTAINER_CONTAINER'"


@pytest.fixture
def job(shell):
    """Function (lines of bash) that runs them in a job of both nodes; the nodes have no copy afterwards."""
    def run(lines):
        return shell(f"salloc --quiet -N2 -n2 bash -c '{quoted(lines)}'")
    shutil.rmtree(FOLDER, ignore_errors=True)
    yield run
    shutil.rmtree(FOLDER, ignore_errors=True)


def quoted(text):
    return text.replace("'", "'\\''")


def images(done):
    """Return what TAKEN has shown (set of str)."""
    return set(re.findall(r'^image=(.*)', done.stdout, re.M))


@pytest.mark.parametrize('approach', one_of_each(CONTAINERS, lambda one: bool(APPROACHES[one].get('entrypoint'))))
def test_commands_take_the_copy_until_it_is_gone(job, approach):
    done = job(f'module load osu-container/{approach}; echo before=$SIF; {STAGE} && {TAKEN} && '
               'srun -N2 -n2 osu_latency H H -m 8 && ls -l /tmp/run-in-container-images-*/')
    assert done.returncode == 0, done.stdout + done.stderr
    taken = images(done)
    assert len(taken) == 1 and taken.pop().startswith(f'{FOLDER}/'), done.stdout
    assert re.search(r'^ *8\s', done.stdout, re.M) and re.search(r'is on 2 nodes: .* its sum fits', done.stdout)
    again = job(f'module load osu-container/{approach}; {STAGE}; OSU_STAGE=0 {TAKEN}; {STAGE} --remove; {TAKEN}')
    assert 'is on all 2 nodes already' in again.stdout and 'removed from 2 nodes' in again.stdout
    central = re.search('^before=(.*)', done.stdout, re.M)[1]
    assert images(again) == {central} and not FOLDER.exists()


@pytest.mark.as_user
def test_a_job_goes_on_when_the_copy_goes_in_the_middle(job, tmp_path):
    out = tmp_path / 'out'
    done = job(f'module load osu-container/bind; {STAGE}; srun -N2 -n2 osu_latency {LASTING} '
               f'>{out} & job=$!; until grep -q "^ *0 " {out} 2>/dev/null || ! kill -0 $job; do sleep 0.1; done; '
               f'ls {FOLDER}; rm -r {FOLDER}; wait $job; echo ended=$?; cat {out}; {TAKEN}')
    assert '.sif' in done.stdout and 'ended=0' in done.stdout, done.stdout + done.stderr
    assert re.search(r'^ *4194304\s', done.stdout, re.M)
    assert images(done) and not any(str(FOLDER) in image for image in images(done))


def test_a_file_and_a_module_by_name(job, tmp_path):
    done = job(f'sif=$(ls {PROJECT}/sources/osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif); {STAGE} $sif; '
               f'{STAGE} osu-container/hybrid; module load osu-container/pure; {TAKEN}')
    assert done.returncode == 0, done.stderr
    assert 'is on 2 nodes' in done.stdout and 'is on all 2 nodes already' in done.stdout
    assert {os.path.dirname(image) for image in images(done)} == {str(FOLDER)}


def test_a_full_folder_is_told_and_nothing_is_left(job):
    """A file system of 8 MB."""
    if os.getuid() != 0:
        pytest.skip('mounting a small file system is for root')
    with tempfile.TemporaryDirectory() as small:
        done = job(f'mount -t tmpfs -o size=8m tmpfs {small}; module load osu-container/pure; '
                   f'{STAGE} --folder {small}; echo code=$?; find {small} -type f; {TAKEN}; umount {small}')
    assert 'code=1' in done.stdout and re.search(
        r'has 8 MB free, \d\d MB are needed', ' '.join(done.stderr.split())), done.stderr
    assert '.part' not in done.stdout and not any(small in image for image in images(done))


def test_a_copy_that_is_damaged_on_the_way_is_never_used(job, tmp_path):
    """sbcast itself, behind a command of its name that spoils what has arrived."""
    real = shutil.which('sbcast')
    fake = tmp_path / 'sbcast'
    fake.write_text(f'#!/bin/sh\n{real} "$@" && printf x | dd of="$3" bs=1 seek=5000 conv=notrunc 2>/dev/null\n')
    fake.chmod(0o755)
    done = job(f'module load osu-container/pure; PATH={tmp_path}:$PATH {STAGE}; echo code=$?; {TAKEN}')
    assert 'code=1' in done.stdout and 'the copy has another sum' in done.stderr, done.stdout + done.stderr
    assert list(FOLDER.iterdir()) == [] and not any(str(FOLDER) in image for image in images(done))


def test_where_sbcast_may_not_each_node_copies_the_file(job, tmp_path):
    """As with a slurmd that is not root's: so it is for the ordinary user of these tests."""
    fake = tmp_path / 'sbcast'
    fake.write_text('#!/bin/sh\necho "sbcast: error: REQUEST_FILE_BCAST(node1): Operation not permitted"; exit 1\n')
    fake.chmod(0o755)
    done = job(f'module load osu-container/pure; PATH={tmp_path}:$PATH {STAGE} && {TAKEN}')
    assert done.returncode == 0 and 'a copy by each node took' in done.stdout and 'not permitted' in done.stderr
    assert {os.path.dirname(image) for image in images(done)} == {str(FOLDER)}


def test_a_folder_of_somebody_else_is_no_place_for_it(job):
    if os.getuid() != 0:
        pytest.skip('giving a folder away is for root')
    FOLDER.mkdir()
    os.chown(FOLDER, 65534, 65534)
    done = job(f'module load osu-container/pure; {STAGE}; echo code=$?')
    assert 'code=1' in done.stdout and "is somebody else's" in done.stderr


@pytest.mark.parametrize('lines, says', [
    (STAGE, 'no module with a container is loaded. Name a module or a SIF file'),
    (f'{STAGE} /nowhere/x.sif', 'the image /nowhere/x.sif is missing or cannot be read'),
    (f'{STAGE} osu-container/nonesuch', 'osu-container/nonesuch'),
    (f'unset SLURM_JOB_ID; {STAGE}', 'this is no job'),
    (f'module load osu-native; {STAGE}', 'it is no container'),
])
def test_what_cannot_be_staged_is_an_error(job, lines, says):
    done = job(f'{lines}; echo code=$?')
    assert 'code=1' in done.stdout and says in ' '.join(done.stderr.split()), done.stdout + done.stderr

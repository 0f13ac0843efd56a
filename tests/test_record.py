"""Facts that a run is recorded with: files, machine, versions, variables."""
import hashlib
import json
import re

import pytest

from osu_container import record
from tests.helpers.machine import run


def test_a_file_entry_has_the_sha256_and_on_demand_the_text(tmp_path):
    path = tmp_path / 'pure.lua'
    path.write_text('help([[x]])\n')
    wanted = hashlib.sha256(b'help([[x]])\n').hexdigest()
    assert record.file_entry(path) == {'path': str(path), 'sha256': wanted}
    assert record.file_entry(path, text=True)['text'] == 'help([[x]])\n'


def test_the_commit_and_uncommitted_changes_are_recorded(tmp_path):
    git = ['git', '-c', 'user.name=t', '-c', 'user.email=t@localhost', '-C', tmp_path]
    assert run(git + ['init', '-q']).returncode == 0
    (tmp_path / 'a').write_text('1')
    assert run(git + ['add', 'a']).returncode == 0
    assert run(git + ['commit', '-qm', 'x']).returncode == 0
    state = record.git_state(tmp_path)
    assert re.fullmatch('[0-9a-f]{40}', state['commit']) and state['changed'] is False
    (tmp_path / 'a').write_text('2')
    assert record.git_state(tmp_path) == {'commit': state['commit'], 'changed': True}


def test_versions_are_what_the_tools_of_that_environment_say(tmp_path):
    for name, says in [('eb', 'This is EasyBuild 5.4.1 (framework: 5.4.1) on host x.'), ('srun', 'slurm-wlm 22.05.8'),
                       ('apptainer', 'apptainer version 1.4.5')]:
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{says}"\n')
        (tmp_path / name).chmod(0o755)
    found = record.versions({'PATH': f'{tmp_path}:/usr/bin:/bin', 'LMOD_VERSION': '8.6.19'})
    assert (found['easybuild'], found['slurm'], found['runtime'], found['lmod']) == (
        '5.4.1', 'slurm-wlm 22.05.8', 'apptainer version 1.4.5', '8.6.19')


def test_only_variables_that_matter_are_recorded():
    env = {'FI_PROVIDER': 'tcp', 'SIF': '/x.sif', 'SLURM_MPI_TYPE': 'pmi2', 'HOME': '/home/u', 'SIFTER': '1'}
    assert record.telling_variables(env) == {'FI_PROVIDER': 'tcp', 'SIF': '/x.sif', 'SLURM_MPI_TYPE': 'pmi2'}


@pytest.mark.apptainer
def test_the_labels_of_an_image_are_read_by_the_runtime(tmp_path, make_sif, apptainer):
    folder = tmp_path / 'root'
    (folder / '.singularity.d').mkdir(parents=True)
    (folder / '.singularity.d' / 'labels.json').write_text(json.dumps({'org.osu-container.mpi': 'MPICH 4.2.3'}))
    sif = make_sif(tmp_path / 'x.sif', folder)
    entry = record.image_entry(sif, apptainer)
    assert entry['labels']['org.osu-container.mpi'] == 'MPICH 4.2.3'
    assert entry['sha256'] == hashlib.sha256(sif.read_bytes()).hexdigest()

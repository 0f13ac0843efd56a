"""The record of a run: facts of files and machine, reading and writing."""
import hashlib
import json
import os
import re

import pytest
from conftest import PROJECT, run

from osu_container import record
from osu_container.record import RecordError


def test_what_is_written_is_read_again(tmp_path):
    path = tmp_path / 'results.json'
    record.write(path, {'modules': [], 'date': 'x'})
    assert record.read(path) == {'modules': [], 'date': 'x', 'format': record.FORMAT}
    assert [entry.name for entry in tmp_path.iterdir()] == ['results.json'], 'no half-written file stays'


@pytest.mark.parametrize('content, says', [
    (None, 'No such file'), ('{"format": 1, "modu', 'is damaged'), ('{"format": 99}', 'has format 99, wanted 1'),
    ('{}', 'has format None'), ('[]', 'has format list')])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, says):
    path = tmp_path / 'results.json'
    if content is not None:
        path.write_text(content)
    with pytest.raises(RecordError) as caught:
        record.read(path)
    assert str(path) in str(caught.value) and says in str(caught.value)


def test_medians_keep_least_most_and_count():
    runs = [{'benchmark': 'osu_bw', 'values': {1: value, 65536: 10 * value}} for value in (3.0, 1.0, 2.5)]
    assert record.medians(runs) == {'osu_bw': {
        '1': {'median': 2.5, 'least': 1.0, 'most': 3.0, 'repeats': 3},
        '65536': {'median': 25.0, 'least': 10.0, 'most': 30.0, 'repeats': 3}}}


def test_ratios_are_taken_within_a_repeat():
    def runs(values):
        return [{'benchmark': 'osu_bw', 'repeat': repeat, 'values': {1: value}} for repeat, value in enumerate(values)]
    # the machine is at half speed in the second repeat: the medians alone would give 2.0 / 4.0
    assert record.ratios(runs([4.0, 2.0, 2.0]), runs([4.0, 2.0, 4.0]))['osu_bw']['1'] == {
        'median': 1.0, 'least': 0.5, 'most': 1.0, 'repeats': 3}
    assert record.ratios(runs([4.0]), []) == {}


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


def test_outside_of_git_nothing_is_claimed(tmp_path, monkeypatch):
    monkeypatch.setenv('GIT_CEILING_DIRECTORIES', str(tmp_path.parent))
    assert record.git_state(tmp_path) == {'commit': None, 'changed': None}


def test_the_machine_is_described():
    machine = record.machine()
    assert machine['kernel'] == os.uname().release and machine['cores'] >= 1 and machine['memory_bytes'] > 1 << 28


def test_a_tool_that_is_absent_has_no_version(tmp_path):
    found = record.versions({'PATH': str(tmp_path), 'OSU_CONTAINER_RUNTIME': str(tmp_path / 'apptainer')})
    assert (found['easybuild'], found['lmod'], found['runtime'], found['slurm']) == (None, None, None, None)


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


def test_host_libraries_are_listed_once(tmp_path):
    path = tmp_path / 'libmpi.so.12'
    path.write_bytes(b'library')
    libraries = {'libmpi': {'host_path': str(path)}, 'libfabric': {'host_path': None}}
    runs = [{'proof': [{'libraries': libraries}, {'libraries': libraries}]}] * 3
    assert record.host_libraries(runs) == [{'path': str(path), 'sha256': hashlib.sha256(b'library').hexdigest()}]


@pytest.mark.apptainer
def test_the_labels_of_an_image_are_read_by_the_runtime(tmp_path, make_sif, apptainer):
    folder = tmp_path / 'root'
    (folder / '.singularity.d').mkdir(parents=True)
    (folder / '.singularity.d' / 'labels.json').write_text(json.dumps({'org.osu-container.mpi': 'MPICH 4.2.3'}))
    sif = make_sif(tmp_path / 'x.sif', folder)
    entry = record.image_entry(sif, apptainer)
    assert entry['labels']['org.osu-container.mpi'] == 'MPICH 4.2.3'
    assert entry['sha256'] == hashlib.sha256(sif.read_bytes()).hexdigest()


def test_the_format_page_names_every_key_that_is_written():
    page = (PROJECT / 'docs' / 'results-format.md').read_text()
    source = (PROJECT / 'workstation' / 'demo.py').read_text() + (PROJECT / 'osu_container' / 'proof.py').read_text()
    for key in ('project', 'machine', 'versions', 'inputs', 'host_libraries', 'modules', 'comes_from', 'network',
                'typed', 'command', 'raw', 'foreign', 'module_file', 'medians', 'image', 'build_id', 'host_path',
                'release', 'sampler_seconds', 'variables'):
        assert f"'{key}'" in source or f'{key}=' in source, key
        assert f'`{key}`' in page, key
    assert f'version {record.FORMAT}' in page

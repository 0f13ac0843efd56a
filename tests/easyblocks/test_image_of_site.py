"""
The image that LUMI has for all becomes a module: it stays where it is, and what its owner does with it is told.

A tree with LUMI's paths, where /appl/local/laifs/containers has what stands in for lumi-multitorch
(tests/helpers/foreign_images.py); real EasyBuild, the real runtime, ranks that mpiexec starts in the container.
"""
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from osu_container.core.reading.libraries import sha256_of
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, EasyBuild, StandIn, folded, one_of_each, run

pytestmark = [pytest.mark.long, pytest.mark.apptainer]

SITE = 'lumi-25.03'
DATED = 'lumi-multitorch-mpich-u24r64f21m43t29-20260225_144743.sif'
LATEST = 'lumi-multitorch-latest.sif'
RUN = 'osu-exec mpiexec -n 2 osu_latency -m 1024 H H'
TABLE = re.compile(r'^1024 +[\d.]+', re.M)


class OnLumi:
    """The tree, and in its folder for all a release with a link to it, which nobody here may change."""

    def __init__(self, folder, apptainer):
        self.stand_in = StandIn(SITE, folder)
        self.laifs = Path(f'{self.stand_in.tree}/appl/local/laifs/containers')
        self.release = self.laifs / 'lumi-multitorch-u24r64f21m43t29-20260225_144743'
        self.image, self.latest = self.release / DATED, self.laifs / LATEST
        self.original = foreign_images.make('multitorch', apptainer)
        self.restore()

    def restore(self):
        """Put the image and the link to where they were."""
        self.release.mkdir(parents=True, exist_ok=True)
        for folder in (self.release, self.laifs):
            folder.chmod(0o755)
        for path in [*self.release.iterdir(), self.latest]:
            path.unlink(missing_ok=True)
        shutil.copy2(self.original, self.image)
        self.latest.symlink_to(self.image.relative_to(self.laifs))
        for folder in (self.release, self.laifs):
            folder.chmod(0o555)
        self.image.chmod(0o444)

    def state(self):
        """Return what would show that somebody wrote to the folders of the site: names, inodes, times, modes."""
        return sorted((str(path), path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_mode,
                       path.lstat().st_nlink) for path in self.laifs.rglob('*'))

    def eb(self, image, *options, version='newest'):
        """Install opensource with an image, by an EasyBuild; return what it did."""
        easybuild = self.stand_in.eb
        if version != 'newest':
            easybuild = EasyBuild(version, self.stand_in.eb.prefix)
            easybuild.environment.update({name: self.stand_in.eb.environment[name] for name in (
                'EASYBUILD_INCLUDE_EASYBLOCKS', 'EASYBUILD_SYSROOT', 'PATH')})
        return easybuild('osu-container-opensource.eb', '-r', '--rebuild', f'--try-amend=site={SITE}',
                         f'--try-amend=image={image}', *options)

    @property
    def installed(self):
        return self.stand_in.eb.prefix / 'software/osu-container/opensource'

    def shell(self, script):
        """Run a script with the module opensource loaded."""
        return self.stand_in.shell(f'module load osu-container/opensource || exit 9\n{script}')


@pytest.fixture(scope='module')
def lumi(tmp_path_factory, apptainer):
    return OnLumi(tmp_path_factory.mktemp('lumi'), apptainer)


@pytest.fixture
def module(lumi):
    """The same with the module installed from the link, and all as it was then."""
    lumi.restore()
    if not (lumi.installed / DATED).exists():
        done = lumi.eb(lumi.latest)
        assert done.returncode == 0, done.stdout[-3000:]
    return lumi


@pytest.mark.parametrize('version, named', one_of_each([
    ('newest', 'by its name alone'), ('4.9.4', 'by the path of the link')]))
def test_the_image_stays_where_it_is_and_measures(lumi, version, named):
    lumi.restore()
    before = lumi.state()
    done = lumi.eb(LATEST if named == 'by its name alone' else lumi.latest, version=version)
    assert done.returncode == 0, done.stdout[-3000:]
    assert f'the image is {lumi.image}, in a folder of the site' in folded(done.stdout)
    assert os.readlink(lumi.installed / DATED) == str(lumi.image)
    total = sha256_of(lumi.image)
    assert (lumi.installed / f'{DATED}.sha256').read_text() == f'{total}  {DATED}\n'
    assert json.loads((lumi.installed / 'facts.json').read_text())['image']['of_site']['path'] == str(lumi.image)
    assert sum(path.lstat().st_size for path in lumi.installed.rglob('*')) < 1 << 20
    used = lumi.shell(f'{RUN} && cd $CONTAINERROOT && sha256sum -c *.sha256')
    assert used.returncode == 0 and TABLE.search(used.stdout), used.stdout + used.stderr
    assert f'{DATED}: OK' in used.stdout and 'has changed' not in used.stderr
    assert lumi.state() == before


def test_what_is_made_by_eb_of_new_is_the_same(lumi, tmp_path):
    lumi.restore()
    before = lumi.state()
    command = [PROJECT / 'bin' / 'osu-container', 'new', lumi.latest, '--approach', 'opensource', '--site', SITE,
               '--sysroot', lumi.stand_in.tree, '--example', 'osu_bw D D']
    done = run(command, cwd=tmp_path, env=lumi.stand_in.eb.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    name = DATED.partition('-2026')[0]
    text = (tmp_path / f'{name}-opensource.eb').read_text()
    assert f"image = '{lumi.image}'" in text
    for program in ('osu_bw', 'osu_latency'):
        assert f"'/usr/libexec/osu-micro-benchmarks/mpi/pt2pt/{program}'" in text
    assert 'links to it, and copies nothing' in folded(done.stdout)
    line = re.search(r'^ +(eb .*)$', done.stdout, re.M).group(1)
    assert '--sourcepath' not in line
    made = lumi.stand_in.eb(*line.split()[1:], cwd=tmp_path)
    assert made.returncode == 0, made.stdout[-3000:]
    used = lumi.stand_in.shell(f'module load {name}/opensource && {name}-exec mpiexec -n 2 osu_latency -m 1024 H H')
    assert used.returncode == 0 and TABLE.search(used.stdout), used.stdout + used.stderr
    # a sum was written into the easyconfig, and its owner puts another image in its place
    lumi.release.chmod(0o755)
    lumi.image.unlink()
    lumi.image.write_text('another image')
    made = lumi.stand_in.eb(*line.split()[1:], '--rebuild', cwd=tmp_path)
    assert made.returncode != 0 and 'Its owner has replaced it: write the easyconfig anew' in folded(made.stdout)
    lumi.restore()
    assert [entry[0] for entry in lumi.state()] == [entry[0] for entry in before]


def test_a_replaced_image_is_told_when_the_module_is_loaded_and_by_its_sum(module):
    content = bytearray(module.image.read_bytes())
    content.append(1)
    module.release.chmod(0o755)
    module.image.unlink()
    module.image.write_bytes(content)
    used = module.stand_in.shell('module load osu-container/opensource; osu-exec true')
    assert used.returncode == 0  # a warning, and the command runs
    assert f'not as at installation: {module.image} has changed' in folded(used.stderr)
    assert 'eb osu-container-opensource.eb -r --rebuild' in folded(used.stderr)
    done = module.stand_in.eb('osu-container-opensource.eb', '--sanity-check-only', f'--try-amend=site={SITE}',
                              f'--try-amend=image={module.latest}')
    assert done.returncode != 0
    assert f'the image {module.image} has changed since the module was installed (sha256 then' in folded(done.stdout)


def test_a_removed_image_is_a_plain_error(module):
    module.release.chmod(0o755)
    module.image.unlink()
    loaded = module.shell('true')
    assert loaded.returncode == 9
    assert (f'The image {module.image} is gone: its owner has removed it. Install the module again with one that is '
            'there: eb osu-container-opensource.eb -r --rebuild') in folded(loaded.stderr)
    direct = module.stand_in.shell(f'{module.installed}/bin/osu_bw')
    assert direct.returncode == 1 and f'the image {module.installed}/{DATED} is missing' in folded(direct.stderr)
    done = module.stand_in.eb('osu-container-opensource.eb', '--sanity-check-only', f'--try-amend=site={SITE}',
                              f'--try-amend=image={module.latest}')
    assert done.returncode != 0 and f'The image {module.image} is gone: its owner' in folded(done.stdout)


@pytest.mark.parametrize('what, says', [
    ('link to nothing', 'cannot read the image {image} (a link to {target}): No such file or directory'),
    pytest.param('no image', 'is not a SIF', marks=pytest.mark.full)])
def test_an_image_that_cannot_be_taken_leaves_the_installation_that_was(module, tmp_path, what, says):
    image = tmp_path / 'x.sif'
    if what == 'link to nothing':
        image.symlink_to(tmp_path / 'dated.sif')
    if what == 'no image':
        image.write_text('<html>')
    before = module.state()
    done = module.eb(image, '--try-amend=image_sha256=' + sha256_of(image) if what == 'no image' else '--quiet')
    assert done.returncode != 0
    assert says.format(image=image, target=tmp_path / 'dated.sif') in folded(done.stdout), done.stdout[-2000:]
    assert TABLE.search(module.shell(RUN).stdout) and module.state() == before


@pytest.mark.full
def test_an_image_of_ones_own_is_named_by_its_whole_path_too(lumi, tmp_path):
    lumi.restore()
    mine = tmp_path / 'mine.sif'
    shutil.copy(lumi.original, mine)
    done = lumi.eb(mine)
    assert done.returncode != 0 and 'No sha256 to check the image' in folded(done.stdout)
    done = lumi.eb(mine, f'--try-amend=image_sha256={sha256_of(mine)}')
    assert done.returncode == 0, done.stdout[-3000:]
    assert (lumi.installed / 'mine.sif').is_file() and not (lumi.installed / 'mine.sif').is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ['mine.sif']

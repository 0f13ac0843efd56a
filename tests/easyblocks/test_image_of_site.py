"""
The image that LUMI has for all becomes a module: it stays where it is, and what its owner does with
it is told.

A tree with LUMI's paths, where /appl/local/laifs/containers has what stands in for lumi-multitorch
(tests/helpers/foreign_images.py); real EasyBuild, the real runtime, ranks that mpiexec starts in
the container.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from osu_container.image.libraries import compute_sha256
from tests.helpers import foreign_images
from tests.helpers.machine import PROJECT, StandIn, assert_success, fold_whitespace, run

pytestmark = pytest.mark.system

SITE = 'lumi-25.03'
DATED = 'lumi-multitorch-mpich-u24r64f21m43t29-20260225_144743.sif'
LATEST = 'lumi-multitorch-latest.sif'
RUN = 'osu-exec mpiexec -n 2 osu_latency -m 1024 H H'
TABLE = re.compile(r'^1024 +[\d.]+', re.M)


class LumiSite:
    """
    The tree, and in its folder for all a release with a link to it, which nobody here may
    change.
    """

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
        """
        Return what would show that somebody wrote to the folders of the site: names, inodes,
        times, modes.
        """
        return sorted(
            (
                str(path),
                path.lstat().st_ino,
                path.lstat().st_mtime_ns,
                path.lstat().st_mode,
                path.lstat().st_nlink,
            )
            for path in self.laifs.rglob('*')
        )

    def eb(self, image, *options):
        """Install opensource with an image; return what it did."""
        return self.stand_in.eb(
            'osu-container-opensource.eb',
            '-r',
            f'--try-amend=site={SITE}',
            f'--try-amend=image={image}',
            *options,
        )

    @property
    def installed(self):
        return self.stand_in.eb.prefix / 'software/osu-container/opensource'

    def shell(self, script):
        """Run a script with the module opensource loaded."""
        return self.stand_in.shell(f'module load osu-container/opensource || exit 9\n{script}')


@pytest.fixture(scope='module')
def lumi(tmp_path_factory, apptainer):
    return LumiSite(tmp_path_factory.mktemp('lumi'), apptainer)


@pytest.mark.nightly  # tests/tools/test_lumi_walk.py installs such an image
def test_site_image_stays_in_place_and_measures(lumi):
    lumi.restore()
    before = lumi.state()
    done = lumi.eb(LATEST)
    assert_success(done)
    assert os.readlink(lumi.installed / DATED) == str(lumi.image)
    total = compute_sha256(lumi.image)
    assert (lumi.installed / f'{DATED}.sha256').read_text() == f'{total}  {DATED}\n'
    assert json.loads((lumi.installed / 'facts.json').read_text())['image']['of_site'][
        'path'
    ] == str(lumi.image)
    assert sum(path.lstat().st_size for path in lumi.installed.rglob('*')) < 1 << 20
    used = lumi.shell(f'{RUN} && cd $CONTAINERROOT && sha256sum -c *.sha256')
    assert used.returncode == 0 and TABLE.search(used.stdout), used.stdout + used.stderr
    assert lumi.state() == before

    # its owner puts another image in its place, then removes it
    lumi.release.chmod(0o755)
    content = lumi.image.read_bytes() + b'1'
    lumi.image.unlink()
    lumi.image.write_bytes(content)
    used = lumi.shell('osu-exec true')
    assert used.returncode == 0 and str(lumi.image) in fold_whitespace(used.stderr)
    done = lumi.eb(lumi.latest, '--sanity-check-only')
    assert (
        done.returncode != 0
        and str(lumi.image) in fold_whitespace(done.stdout)
        and compute_sha256(lumi.image) in done.stdout
    )
    lumi.image.unlink()
    gone = lumi.shell('true')
    assert gone.returncode == 9 and str(lumi.image) in fold_whitespace(gone.stderr)
    assert 'eb osu-container-opensource.eb -r --rebuild' in fold_whitespace(gone.stderr)


@pytest.mark.nightly
def test_easyconfig_of_new_installs_the_same_module(lumi, tmp_path):
    lumi.restore()
    command = [
        PROJECT / 'scripts' / 'osu-container',
        'new',
        lumi.latest,
        '--approach',
        'opensource',
        '--site',
        SITE,
        '--sysroot',
        lumi.stand_in.tree,
        '--example',
        'osu_bw D D',
    ]
    done = run(command, cwd=tmp_path, env=lumi.stand_in.eb.environment)
    assert_success(done)
    name = DATED.partition('-2026')[0]
    assert f"image = '{lumi.image}'" in (tmp_path / f'{name}-opensource.eb').read_text()
    line = re.search(r'^ +(eb .*)$', done.stdout, re.M).group(1)
    assert '--sourcepath' not in line
    made = lumi.stand_in.eb(*line.split()[1:], cwd=tmp_path)
    assert_success(made)
    used = lumi.stand_in.shell(
        f'module load {name}/opensource && {name}-exec mpiexec -n 2 osu_latency -m 1024 H H'
    )
    assert used.returncode == 0 and TABLE.search(used.stdout), used.stdout + used.stderr
    # a sum was written into the easyconfig, and its owner puts another image in its place
    lumi.release.chmod(0o755)
    lumi.image.unlink()
    lumi.image.write_text('another image')
    made = lumi.stand_in.eb(*line.split()[1:], '--rebuild', cwd=tmp_path)
    assert made.returncode != 0 and compute_sha256(lumi.image) in made.stdout

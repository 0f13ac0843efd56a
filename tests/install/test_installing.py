"""
Check that an installation is replaced in one move, and that a missing image is built.

After an error there is the older or the newer installation, never a mix. If an image cannot be
built, the message has the reason and the command that builds it.
"""

import hashlib
import os
import shutil
import socket
import subprocess
import time
from types import SimpleNamespace

import pytest

from osu_container.base import outputs
from osu_container.image.image import find_space_problem
from osu_container.image.sif import ImageError
from osu_container.install import image_build, site_image
from osu_container.install.staged import StagedInstall, is_shareable, place_image
from osu_container.install.user_software import PRESERVED_NAMES
from tests.helpers.machine import run_killed


def sha256(content):
    """Return the sha256 of bytes."""
    return hashlib.sha256(content).hexdigest()


SUM = sha256(b'image')


@pytest.fixture
def final(tmp_path):
    return tmp_path / 'software' / 'name' / 'version'


def fill(folder, text):
    """Make a folder with one file that contains a text."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    outputs.make_folder(
        folder
    ) if folder.suffix else folder.mkdir()  # An older installation may lack the mark.
    (folder / 'file').write_text(text)


def stage(final, text):
    """Return a StagedInstall of the folder `final` whose stage contains a text."""
    staged = StagedInstall(str(final))
    fill(final.parent / 'version.part', text)
    return staged


def list_names(final):
    return sorted(path.name for path in final.parent.iterdir())


def test_only_work_folders_without_a_process_are_removed(tmp_path):
    """A folder of another host may belong to a running process, unless the folder is very old."""
    ended, host = subprocess.Popen('true'), socket.gethostname()
    ended.wait()
    ages = {f'{host}-{os.getpid()}': 31, f'a-{ended.pid}': 29, f'{host}-{ended.pid}': 0, 'b-1': 31}
    folders = [outputs.make_folder(tmp_path / f'osu-container-{name}-0') for name in ages]
    for folder, days in zip(folders, ages.values()):
        os.utime(folder, (time.time() - days * 24 * 3600,) * 2)
    outputs.make_work_folder(str(tmp_path))
    assert [os.path.exists(folder) for folder in folders] == [True, True, False, False]


@pytest.mark.parametrize('older', [False, True])
@pytest.mark.parametrize('committed', [False, True])
def test_rollback_restores_the_older_installation(final, older, committed):
    if older:
        fill(final, 'old')
    staged = stage(final, 'new')
    if committed:
        staged.commit()
    staged.rollback()
    assert list_names(final) == ['version'] * older
    assert not older or (final / 'file').read_text() == 'old'


@pytest.mark.parametrize('end', ['finish', 'rollback'])
@pytest.mark.parametrize(
    'users',
    [
        pytest.param((), marks=pytest.mark.nightly),
        ('user-software',),
        pytest.param(PRESERVED_NAMES, marks=pytest.mark.nightly),
    ],
)
def test_a_kill_at_any_moment_loses_nothing(tmp_path, end, users):
    """The next installation finds a whole older or newer installation with the user's software."""

    def replace():
        staged = stage(final, 'new')
        (final.parent / 'version.part' / 'user-software').mkdir()
        staged.commit()
        getattr(staged, end)()

    moments = 0
    while True:
        final = tmp_path / str(moments) / 'version'
        fill(final, 'old')
        for name in users:
            (final / name).write_text('mine')
        if not run_killed(moments, [str(tmp_path)], replace):
            break
        moments += 1
        final.mkdir(exist_ok=True)  # EasyBuild creates this folder.
        # Kill the next installation too, while it removes leftovers.
        again = 0
        while run_killed(again, [str(tmp_path)], lambda folder=str(final): StagedInstall(folder)):
            again += 1
        assert list_names(final) == ['version'] and (final / 'file').read_text() in ('old', 'new')
        assert [(final / name).read_text() for name in users] == ['mine'] * len(users)
        assert users or not (final / 'user-software.squashfs').exists()
    assert moments >= 5
    assert (final / 'file').read_text() == {'finish': 'new', 'rollback': 'old'}[end] and list_names(
        final
    ) == ['version']
    assert [(final / name).read_text() for name in users] == ['mine'] * len(users)


def test_a_move_that_fails_leaves_the_older_installation(final):
    fill(final, 'old')
    staged = stage(final, 'new')
    shutil.rmtree(final.parent / 'version.part')  # The second of the two moves fails.
    with pytest.raises(FileNotFoundError):
        staged.commit()
    staged.rollback()
    assert (final / 'file').read_text() == 'old' and list_names(final) == ['version']


def test_missing_space_is_reported_with_the_free_space(tmp_path, monkeypatch):
    monkeypatch.setattr(os, 'statvfs', lambda folder: SimpleNamespace(f_bavail=1024, f_frsize=4096))
    assert find_space_problem(str(tmp_path), 4 << 20, 'do') is None
    assert '4 MB' in find_space_problem(str(tmp_path / 'new'), (5 << 20) + 1, 'do')


# ---- one file for all installations


@pytest.mark.parametrize('share', [True, False])
def test_an_image_on_the_same_file_system_is_linked_else_copied(tmp_path, share):
    image, target = tmp_path / 'link.sif', tmp_path / 'b.sif'
    image.symlink_to(tmp_path / 'a.sif')
    (tmp_path / 'a.sif').write_text('image')
    assert is_shareable(str(image), str(tmp_path / 'software' / 'new')) and not is_shareable(
        str(image), '/dev/shm/new'
    )
    place_image(str(image), SUM, share, str(target))
    assert (tmp_path / 'b.sif.sha256').read_text() == f'{SUM}  b.sif\n'
    assert target.read_text() == 'image' and target.samefile(tmp_path / 'a.sif') == share
    assert not target.is_symlink() and target.stat().st_mode & 0o222 == 0


@pytest.mark.parametrize('share', [True, False])
def test_image_exchanged_after_its_check_is_not_installed(tmp_path, share):
    image = tmp_path / 'a.sif'
    image.write_text('other')
    mode = image.stat().st_mode
    with pytest.raises(ImageError, match=f'{SUM}.*{sha256(b"other")}.*{image}'):
        place_image(str(image), SUM, share, str(tmp_path / 'b.sif'))
    assert image.stat().st_mode == mode


# ---- sums


@pytest.mark.parametrize(
    'text',
    [
        f'{SUM.upper()}  one.sif\n',
        f'{SUM} *one.sif\n',
        SUM,
        f'{SUM}  renamed.sif',
        f'{"0" * 64}  two.sif\n{SUM}  one.sif\n',
    ],
)
def test_checksum_of_an_image_is_read(tmp_path, text):
    path = tmp_path / 'one.sif.sha256'
    path.write_text(text)
    assert image_build.read_sha256_file(str(path)) == SUM


@pytest.mark.parametrize(
    'content', [b'\x00\xff\xfe' * 30, f'{"0" * 64}  two.sif\n'.encode() * 2, b'x' * (1 << 21)]
)
def test_file_without_a_checksum_is_an_error(tmp_path, content):
    path = tmp_path / 'one.sif.sha256'
    path.write_bytes(content)
    with pytest.raises(ImageError, match=r'one\.sif\.sha256.*sha256sum \S+ >\S+\.sha256'):
        image_build.read_sha256_file(str(path))


# ---- an image that is missing


@pytest.fixture
def builder(tmp_path, monkeypatch):
    """Return a function that replaces the builder of the clone by a bash script, '' for none."""
    path = tmp_path / 'osu-container'

    def does(text):
        path.write_text(f'#!/bin/bash\n{text}\n')
        path.chmod(0o755)
        monkeypatch.setattr(image_build, 'find_builder', lambda: text and str(path) or None)

    return does


@pytest.mark.parametrize('how', ['auto', 'yes'])
def test_missing_image_is_built_into_the_first_source_folder(builder, tmp_path, how):
    builder(
        '[ "$*" != "image list --json x.sif" ] || { echo \'[{"compiles_mpi": false}]\'; exit; }; '
        '[ "$*" = "image build --check x.sif" ] || { [ "$3 $5" = "--output x.sif" ] && echo made >"$4"; }'
    )
    said, folders = [], [str(tmp_path / 'new' / 'sources'), str(tmp_path)]
    target = image_build.obtain_image('x.sif', how, folders, 'docs/images.md', said.append)
    assert (
        target == f'{folders[0]}/x.sif'
        and (tmp_path / 'new' / 'sources' / 'x.sif').read_text() == 'made\n'
    )
    assert len(said) == 1


@pytest.mark.parametrize(
    'how, does, why',
    [
        (
            'yes',
            'echo one; echo "osu-container: error: no mmdebstrap" >&2; exit 3',
            'no mmdebstrap',
        ),
        ('yes', 'exit 3', 'exit code 3'),
        ('yes', '[ "$3" = --check ] || exit 7', 'exit code 7'),
        ('auto', 'echo \'[{"compiles_mpi": true}]\'', '--try-amend=build_image=yes'),
        ('no', 'exit 0', 'build_image=no'),
        ('yes', '', 'only a clone contains the recipes'),
    ],
)
def test_missing_image_error_names_cause_and_build_command(builder, tmp_path, how, does, why):
    builder(does)
    with pytest.raises(ImageError, match=why) as caught:
        image_build.obtain_image('x.sif', how, [str(tmp_path)], 'docs/images.md', lambda line: None)
    folder = tmp_path if does else 'scripts'
    assert f'{folder}/osu-container image build x\n' in str(caught.value)


# ---- an image in a folder of the site


@pytest.fixture
def appl(tmp_path):
    """
    Return a folder with the site's folder appl/laifs and with folders of other owners.

    appl/laifs has a dated image and a link to this image.
    """
    # The folder of the site is a link into one of several file systems.
    real = tmp_path / 'lustre3' / 'laifs'
    (real / 'release').mkdir(parents=True)
    (real / 'release' / 'dated.sif').write_text('image')
    (real / 'latest.sif').symlink_to('release/dated.sif')
    (tmp_path / 'appl').mkdir()
    (tmp_path / 'appl' / 'laifs').symlink_to(real)
    (tmp_path / 'appl' / 'laifs-of-another').mkdir()
    (tmp_path / 'mine').mkdir()
    for name in ('mine/mine.sif', 'appl/laifs-of-another/x.sif'):
        (tmp_path / name).write_text('image')
    (real / 'out.sif').symlink_to(tmp_path / 'mine/mine.sif')
    return tmp_path


@pytest.mark.parametrize(
    'named, found',
    [
        ('appl/laifs/release/dated.sif', 'appl/laifs/release/dated.sif'),
        ('appl/laifs/latest.sif', 'appl/laifs/release/dated.sif'),
        ('lustre3/laifs/latest.sif', 'appl/laifs/release/dated.sif'),
        ('appl/laifs/out.sif', 'mine/mine.sif'),
        ('mine/mine.sif', None),
        ('appl/laifs-of-another/x.sif', None),
    ],
)
def test_link_to_a_site_image_counts_as_site_image(appl, named, found):
    assert site_image.resolve_site_image(str(appl / named), [str(appl / 'appl/laifs')]) == (
        found and str(appl / found)
    )
    assert site_image.resolve_site_image(str(appl / named), []) is None


@pytest.mark.parametrize('what, says', [('link', r'x\.sif.*/gone\.sif'), ('fifo', r'x\.sif')])
def test_an_unreadable_image_is_an_error_that_names_it(tmp_path, what, says):
    path = tmp_path / 'x.sif'
    path.symlink_to(tmp_path / 'gone.sif') if what == 'link' else os.mkfifo(path)
    with pytest.raises(ImageError, match=says):
        site_image.require_readable(str(path))


def test_an_image_of_the_site_is_a_link_whose_change_is_reported(appl):
    image, installed = appl / 'lustre3/laifs/release/dated.sif', appl / 'software/name/one'
    installed.mkdir(parents=True)
    before = image.stat()
    place_image(str(image), SUM, False, str(installed / 'dated.sif'), link=True)
    assert os.readlink(installed / 'dated.sif') == str(image)
    assert (image.stat().st_mode, image.stat().st_nlink) == (before.st_mode, before.st_nlink)
    assert site_image.find_image_changes(str(installed / 'dated.sif')) == []
    image.write_text('IMAGE')
    (said,) = site_image.find_image_changes(str(installed / 'dated.sif'))
    assert str(image) in said and sha256(b'IMAGE') in said
    image.unlink()  # The module itself reports a missing image.
    assert site_image.find_image_changes(str(installed / 'dated.sif')) == []

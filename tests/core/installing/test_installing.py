"""
An installation is replaced in one move: whatever happens, there is the older one or the newer one, never a mix. And an
image that is missing is built, or it is said why not and how.
"""
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from osu_container.core import outputs
from osu_container.core.installing import image_build, site_image, staged
from osu_container.core.installing.staged import (
    StagedInstall,
    place_image,
    shared_with,
)
from osu_container.core.installing.user_software import KEPT
from osu_container.core.reading.image import no_room
from osu_container.core.reading.sif import ImageError
from tests.helpers.machine import killed


def sha256(content):
    """Return the sum (str) of content (bytes)."""
    return hashlib.sha256(content).hexdigest()


SUM = sha256(b'image')


@pytest.fixture
def final(tmp_path):
    return tmp_path / 'software' / 'name' / 'version'


def fill(folder, text):
    """Make folder (Path) with one file that holds text."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    outputs.make(folder) if folder.suffix else folder.mkdir()  # an older one may lack the mark
    (folder / 'file').write_text(text)


def stage(final, text):
    """Return a StagedInstall of final whose stage holds text."""
    staged = StagedInstall(str(final))
    fill(final.parent / 'version.part', text)
    return staged


def names(final):
    return sorted(path.name for path in final.parent.iterdir())


def test_first_installation(final):
    staged = stage(final, 'new')
    assert not final.exists()
    staged.commit()
    staged.finish()
    assert (final / 'file').read_text() == 'new' and names(final) == ['version']


@pytest.mark.parametrize('packed', [False, True])
@pytest.mark.parametrize('end', ['finish', 'rollback', 'killed'])
def test_software_of_the_user_outlives_the_installation(final, packed, end):
    kept = 'user-software.squashfs' if packed else 'user-software'
    fill(final, 'old')
    if packed:
        (final / kept).write_text('mine')
    else:
        fill(final / kept, 'mine')
    staged = stage(final, 'new')
    fresh = final.parent / 'version.part' / 'user-software'
    fresh.mkdir()
    (fresh / 'empty').touch()
    staged.commit()
    if end == 'killed':
        StagedInstall(str(final))
    else:
        getattr(staged, end)()
    assert (final / 'file').read_text() == ('old' if end == 'rollback' else 'new') and names(final) == ['version']
    assert [path.name for path in final.glob('user-software*')] == [kept]
    assert (final / kept if packed else final / kept / 'file').read_text() == 'mine'


@pytest.mark.parametrize('committed', [False, True])
def test_rollback_puts_the_older_one_back(final, committed):
    fill(final, 'old')
    staged = stage(final, 'new')
    if committed:
        staged.commit()
    staged.rollback()
    assert (final / 'file').read_text() == 'old' and names(final) == ['version']


@pytest.mark.parametrize('committed', [False, True])
def test_rollback_of_a_first_installation_leaves_nothing(final, committed):
    staged = stage(final, 'new')
    if committed:
        staged.commit()
    staged.rollback()
    assert names(final) == []


@pytest.mark.parametrize('exchanges', [True, False])
@pytest.mark.parametrize('end', ['finish', 'rollback'])
@pytest.mark.parametrize('users', [(), ('user-software',), KEPT])
def test_a_kill_at_any_moment_loses_nothing(tmp_path, monkeypatch, exchanges, end, users):
    """Where the file system can exchange two names, a whole installation is in its place at every moment."""
    if not exchanges:
        monkeypatch.setattr(staged, 'exchange', lambda one, other: False)

    def replace():
        staged = stage(final, 'new')
        (final.parent / 'version.part' / 'user-software').mkdir()
        staged.commit()
        getattr(staged, end)()

    def whole():
        return sorted(path.name for path in final.iterdir()) if (final / 'file').is_file() else []
    moments, gaps = 0, 0
    while True:
        final = tmp_path / str(moments) / 'version'
        fill(final, 'old')
        for name in users:
            (final / name).write_text('mine')
        if not killed(moments, [str(tmp_path)], replace):
            break
        moments += 1
        gaps += not whole()
        # killed again while the next one clears what is left
        again = 0
        while killed(again, [str(tmp_path)], lambda folder=str(final): StagedInstall(folder)):
            again += 1
            gaps += not whole()
        assert names(final) == ['version'] and set(users) <= set(whole())
        assert (final / 'file').read_text() in ('old', 'new')
        assert [(final / name).read_text() for name in users] == ['mine'] * len(users)
        assert users or not (final / 'user-software.squashfs').exists()
    assert moments >= 5
    if exchanges:
        assert gaps == 0
    else:
        assert gaps, 'there would be no need to exchange'
    assert (final / 'file').read_text() == {'finish': 'new', 'rollback': 'old'}[end] and names(final) == ['version']
    assert [(final / name).read_text() for name in users] == ['mine'] * len(users)


def test_a_move_that_the_system_refuses_leaves_the_older_one(final, monkeypatch):
    fill(final, 'old')
    staged = stage(final, 'new')
    monkeypatch.setattr('osu_container.core.installing.staged.exchange', lambda one, other: False)
    shutil.rmtree(final.parent / 'version.part')  # so that the second of the two moves fails
    with pytest.raises(FileNotFoundError):
        staged.commit()
    staged.rollback()
    assert (final / 'file').read_text() == 'old' and names(final) == ['version']


def test_space_that_is_missing_is_told_in_megabytes(tmp_path, monkeypatch):
    monkeypatch.setattr(os, 'statvfs', lambda folder: SimpleNamespace(f_bavail=1024, f_frsize=4096))
    assert no_room(str(tmp_path), 4 << 20, 'do') is None
    assert no_room(str(tmp_path / 'new'), (5 << 20) + 1, 'do') == f'{tmp_path} has 4 MB free, 6 MB are needed: do'


# ---- one file for all installations

@pytest.fixture
def places(tmp_path):
    """Function (approach, content of its image, or None) that returns the installdir of an approach (str)."""
    def make(approach, content=None):
        folder = tmp_path / 'software' / 'container' / approach
        if content is not None:
            folder.mkdir(parents=True)
            (folder / 'one.sif').write_text(content)
        return str(folder)
    (tmp_path / 'software').mkdir()
    return make


def test_an_image_on_the_same_file_system_is_linked(tmp_path, places):
    (tmp_path / 'link.sif').symlink_to(tmp_path / 'a.sif')
    (tmp_path / 'a.sif').write_text('image')
    image = str(tmp_path / 'link.sif')
    says = place_image(image, SUM, shared_with(image, SUM, places('new')), str(tmp_path / 'b.sif'))
    assert (tmp_path / 'b.sif.sha256').read_text() == f'{SUM}  b.sif\n'
    assert (tmp_path / 'b.sif').samefile(tmp_path / 'a.sif') and 'hard link' in says
    assert not (tmp_path / 'b.sif').is_symlink() and (tmp_path / 'b.sif').stat().st_mode & 0o222 == 0


@pytest.mark.parametrize('content, recorded, shared', [
    ('image', SUM, True), ('eigam', sha256(b'eigam'), False), ('images', SUM, False), ('image', None, False),
    ('eigam', SUM, False)])
def test_the_image_of_another_installation_is_shared_if_its_content_is_the_same(places, content, recorded, shared):
    other = Path(places('other', content)) / 'one.sif'
    if recorded:
        Path(f'{other}.sha256').write_text(f'{recorded}  one.sif\n')
    with tempfile.TemporaryDirectory(dir='/dev/shm') as elsewhere:
        image = Path(elsewhere) / 'a.sif'
        image.write_text('image')
        mode, same = other.stat().st_mode, shared_with(str(image), SUM, places('new'))
        assert same == (str(other) if recorded == SUM and len(content) == 5 else None)
        target = other.parent / 'target.sif'
        says = place_image(str(image), SUM, same, str(target))
    assert shared or other.stat().st_mode == mode
    assert target.read_text() == 'image' and target.samefile(other) == shared and ('copy' in says) != shared


@pytest.mark.parametrize('how', ['linked', 'copied'])
def test_an_image_that_was_exchanged_after_its_check_is_not_installed(tmp_path, places, how):
    image, target = tmp_path / 'a.sif', tmp_path / 'b.sif'
    image.write_text('other')
    mode = image.stat().st_mode
    same = shared_with(str(image), SUM, places('new')) if how == 'linked' else None
    assert bool(same) == (how == 'linked')
    with pytest.raises(ImageError, match=f'changed while it was installed: checked sha256 {SUM}, copied '
                                         f'{sha256(b"other")}: {image}. .* install it again'):
        place_image(str(image), SUM, same, str(target))
    assert image.stat().st_mode == mode


# ---- sums

@pytest.mark.parametrize('text', [
    f'{SUM}  one.sif\n', f'{SUM} *one.sif\n', SUM, f'{SUM.upper()}  one.sif', f'SHA256 (one.sif) = {SUM}\n',
    f'SHA256(one.sif)= {SUM.upper()}\n', f'{SUM}  /home/me/one.sif', f'{SUM}  renamed.sif',
    f'# made today\n{"0" * 64}  two.sif\n{SUM}  one.sif\n', f'\ufeff{SUM}  one.sif\r\n'])
def test_a_sum_is_read_in_every_form_that_programs_write(tmp_path, text):
    path = tmp_path / 'one.sif.sha256'
    path.write_text(text)
    assert image_build.wanted_sha256(str(path)) == SUM


@pytest.mark.parametrize('content', [b'SHA256', b'\x00\xff\xfe' * 30, b'0' * 63, f'{"0" * 64}  two.sif\n'.encode() * 2,
                                     b'<html>404</html>', b'x' * (1 << 18)])
def test_a_file_without_a_sum_says_what_it_should_hold(tmp_path, content):
    path = tmp_path / 'one.sif.sha256'
    path.write_bytes(content)
    with pytest.raises(ImageError, match=r'one\.sif\.sha256.* again: sha256sum \S+ >\S+\.sha256'):
        image_build.wanted_sha256(str(path))


# ---- an image that is missing

@pytest.fixture
def builder(tmp_path, monkeypatch):
    """Function (bash): what the builder of the clone does from now on; its arguments are $@."""
    path = tmp_path / 'osu-container'
    monkeypatch.setattr(image_build, 'builder', lambda: str(path))

    def does(text):
        path.write_text(f'#!/bin/bash\n{text}\n')
        path.chmod(0o755)
        return str(path)
    does('exit 9')
    return does


SHOWN = 'if [ "$*" = "image list --json x.sif" ]; then echo \'[{"compiles_mpi": %s}]\'; exit; fi; '


@pytest.mark.parametrize('how, compiles, why', [
    ('auto', 'false', None), ('yes', 'true', None), ('auto', 'true', '--try-amend=build_image=yes')])
def test_the_builder_is_asked_whether_it_can(builder, how, compiles, why):
    builder(SHOWN % compiles + '[ "$*" = "image build --check x.sif" ]')
    found = image_build.why_not('x.sif', how)
    assert found is why is None or why in found


@pytest.mark.parametrize('says, why', [
    ('echo one; echo "osu-container: error: no mmdebstrap" >&2; exit 3', 'no mmdebstrap'),
    ('echo " late "; exit 3', 'late'),
    ('exit 3', 'osu-container image build --check ended with exit code 3')])
def test_what_the_builder_says_is_the_reason(builder, says, why):
    builder(says)
    assert image_build.why_not('x.sif', 'auto') == why


def test_without_the_clone_and_where_nobody_wants_it_nothing_is_built(monkeypatch, builder):
    assert image_build.why_not('x.sif', 'no') == 'build_image=no was given'
    monkeypatch.setattr(image_build, 'builder', lambda: None)
    assert image_build.why_not('x.sif', 'yes').startswith('osu-container was installed without its clone')


def test_a_missing_image_is_built_into_the_first_folder_of_the_source_path(builder, tmp_path):
    builder(SHOWN % 'false' + '[ "$3" = --check ] || { [ "$3 $5" = "--output x.sif" ] && echo made >"$4"; }')
    said, folders = [], [str(tmp_path / 'new' / 'sources'), str(tmp_path)]
    target = image_build.obtained('x.sif', 'auto', folders, 'docs/images.md', said.append)
    assert target == f'{folders[0]}/x.sif' and (tmp_path / 'new' / 'sources' / 'x.sif').read_text() == 'made\n'
    assert said == ['building the image x.sif, which is nowhere in the source path']


def test_a_build_that_fails_names_the_command_and_the_exit_code(builder, tmp_path):
    command = builder(SHOWN % 'false' + '[ "$3" = --check ] || exit 7')
    with pytest.raises(ImageError) as caught:
        image_build.obtained('x.sif', 'auto', [str(tmp_path)], 'docs/images.md', lambda line: None)
    assert f'It is made by: {command} image build x\n' in str(caught.value)
    assert f'{command} image build x.sif ended with exit code 7, see its message above' in str(caught.value)


# ---- an image in a folder of the site

@pytest.fixture
def appl(tmp_path):
    """Folder in which appl/laifs is a folder of the site with a dated image and a link to it; a user's beside it."""
    # the site has its folder on one of several file systems, behind a link
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
    (tmp_path / 'mine' / 'link.sif').symlink_to(tmp_path / 'appl/laifs/latest.sif')
    (real / 'out.sif').symlink_to(tmp_path / 'mine/mine.sif')
    return tmp_path


@pytest.mark.parametrize('named, found', [
    ('appl/laifs/release/dated.sif', 'appl/laifs/release/dated.sif'),
    ('appl/laifs/latest.sif', 'appl/laifs/release/dated.sif'),
    ('appl/../appl/laifs/latest.sif', 'appl/laifs/release/dated.sif'),
    ('lustre3/laifs/latest.sif', 'appl/laifs/release/dated.sif'),
    ('mine/link.sif', 'appl/laifs/release/dated.sif'),
    ('appl/laifs/out.sif', 'mine/mine.sif'),
    ('mine/mine.sif', None),
    ('appl/laifs-of-another/x.sif', None),
])
def test_an_image_is_the_site_s_wherever_a_link_to_it_lies(appl, named, found):
    assert site_image.in_site_folder(str(appl / named), [str(appl / 'appl/laifs')]) == (found and str(appl / found))
    assert site_image.in_site_folder(str(appl / named), []) is None


@pytest.mark.parametrize('what, says', [
    ('missing', r'cannot read the image \S+/x\.sif: No such file'),
    ('link', r'cannot read the image \S+/x\.sif \(a link to \S+/gone\.sif\): No such file'),
    ('folder', r'x\.sif: Is a directory'), ('fifo', r'x\.sif: it is no plain file'),
    ('not allowed', r'x\.sif: Permission denied\. Its owner .*--try-amend=image='),
])
def test_an_image_that_cannot_be_read_is_told_with_what_to_do(tmp_path, monkeypatch, what, says):
    path = tmp_path / 'x.sif'
    if what == 'link':
        path.symlink_to(tmp_path / 'gone.sif')
    elif what in ('folder', 'fifo'):
        {'folder': os.mkdir, 'fifo': os.mkfifo}[what](path)
    elif what == 'not allowed':  # the tests may run as root, who may read all
        path.touch()
        monkeypatch.setattr(os, 'open', lambda *arguments: (_ for _ in ()).throw(PermissionError(13, os.strerror(13))))
    with pytest.raises(ImageError, match=says):
        site_image.readable(str(path))


def test_a_link_is_made_in_an_installation_and_no_other_installation_takes_it_for_a_copy(appl):
    image, installed = appl / 'lustre3/laifs/release/dated.sif', appl / 'software/name/one'
    installed.mkdir(parents=True)
    before = image.stat()
    says = place_image(str(image), hashlib.sha256(b'image').hexdigest(), None, str(installed / 'dated.sif'), link=True)
    assert os.readlink(installed / 'dated.sif') == str(image) and 'is a link to' in says
    assert (image.stat().st_mode, image.stat().st_nlink) == (before.st_mode, before.st_nlink)
    mine, two = str(appl / 'mine/mine.sif'), str(appl / 'software/name/two')
    assert shared_with(mine, 'a sum', two) == mine
    os.unlink(mine)
    assert shared_with(mine, 'a sum', two) is None
    assert site_image.changed(str(installed / 'dated.sif')) == []
    image.write_text('IMAGE')
    (said,) = site_image.changed(str(installed / 'dated.sif'))
    assert said.startswith(f'the image {image} has changed') and hashlib.sha256(b'IMAGE').hexdigest() in said
    image.unlink()  # the module itself says so
    assert site_image.changed(str(installed / 'dated.sif')) == []

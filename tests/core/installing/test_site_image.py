"""Which file an image of the site is, through links of the site and of users; what is recorded of it, and told."""
import hashlib
import os

import pytest

from osu_container.core.installing import site_image
from osu_container.core.installing.staged import place_image, shared_with
from osu_container.core.reading.sif import ImageError


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

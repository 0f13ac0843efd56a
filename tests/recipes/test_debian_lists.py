"""Sums of Debian's sources: by the chain from a key, a signed release and its list to the file."""
import hashlib
import lzma
import os
import shutil
import subprocess

import pytest

from osu_container.recipes import debian
from osu_container.recipes.debian import ListError
from osu_container.recipes.versions import SOURCES

TOTAL = 'b' * 64
SOURCES_LIST = f"""Package: mpich
Files:
 0123456789abcdef0123456789abcdef 2870 mpich_4.0.2-3.dsc
Checksums-Sha256:
 {'a' * 64} 2870 mpich_4.0.2-3.dsc
 {TOTAL} 21800484 mpich_4.0.2.orig.tar.xz
Homepage: https://www.mpich.org/
"""


@pytest.fixture(scope='module')
def archive(tmp_path_factory):
    """Two keyrings, and of a release signed by the key of the first: its files by their names (dict of bytes)."""
    if not shutil.which('gpg'):
        pytest.skip('gpg makes the keys')
    folder = tmp_path_factory.mktemp('lists')
    packed = lzma.compress(SOURCES_LIST.encode())
    release = f"Origin: Debian\nMD5Sum:\n {'0' * 32} 1 main/source/Sources.xz\nSHA256:\n " \
              f"{hashlib.sha256(packed).hexdigest()} {len(packed)} main/source/Sources.xz\n"
    rings = []
    for name in ('ours', 'other'):
        home = folder / name
        home.mkdir(mode=0o700)
        environment = {**os.environ, 'GNUPGHOME': str(home)}

        def gpg(*words, environment=environment, **more):
            return subprocess.run(['gpg', '--batch', '--quiet', '--pinentry-mode', 'loopback', '--passphrase', '',
                                   *words], env=environment, check=True, capture_output=True, **more).stdout
        gpg('--quick-gen-key', f'{name} <{name}@example.org>', 'ed25519', 'sign', 'never')
        rings.append(folder / f'{name}.gpg')
        rings[-1].write_bytes(gpg('--export'))
        if name == 'ours':
            signed = gpg('--clear-sign', input=release.encode())
        subprocess.run(['gpgconf', '--kill', 'gpg-agent'], env=environment, check=False)
    return rings, {'InRelease': signed, 'main/source/Sources.xz': packed}


def test_a_sum_is_found_through_the_signed_release(archive):
    (ours, _), files = archive
    assert debian.sums_of('trixie', files.get, ours)['mpich_4.0.2.orig.tar.xz'] == TOTAL


@pytest.mark.parametrize('change, message', [
    ('key', 'is not signed by a key of'), ('text', 'is not signed by a key of'),
    ('list', 'is not the one that is signed'),
])
def test_what_is_not_signed_is_refused(archive, change, message):
    (ours, other), files = archive
    changed = dict(files)
    if change == 'text':
        changed['InRelease'] = files['InRelease'].replace(b'Origin: Debian', b'Origin: Elsewhere')
    if change == 'list':
        changed['main/source/Sources.xz'] = lzma.compress(SOURCES_LIST.replace('b', 'c').encode())
    with pytest.raises(ListError, match=message):
        debian.sums_of('trixie', changed.get, other if change == 'key' else ours)


def test_a_release_without_the_list_is_said():
    with pytest.raises(ListError, match='no sha256 of main/source/Sources.xz'):
        debian.sum_in_release('Origin: Debian\n', debian.LIST)


def test_another_sum_and_a_missing_file_are_named():
    source = {'file': 'mpich_4.0.2.orig.tar.xz', 'sha256': TOTAL, 'debian': 'trixie'}
    assert debian.differences({'k': source}, {'trixie': {source['file']: TOTAL}}) == []
    changed, gone = (debian.differences({'k': source}, {'trixie': sums})[0]
                     for sums in ({source['file']: 'c' * 64}, {}))
    assert 'c' * 64 in changed and 'not there' in gone


@pytest.mark.full
def test_our_sums_are_those_of_debian():
    """Needs a Debian mirror and the keyring of Debian."""
    assert sum('debian' in source for source in SOURCES.values()) > 3
    assert debian.main() == 0

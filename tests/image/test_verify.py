"""What is said of an image's signature, by the runtime itself and by what it may answer; and of its sum."""
import hashlib
import os

import pytest

from osu_container.core.reading import sif
from osu_container.image.verify import verify
from tests.helpers.machine import run
from tests.helpers.sif import pack, write_sif


@pytest.fixture
def image(tmp_path):
    """A small SIF, with its sum beside it."""
    (tmp_path / 'root').mkdir()
    (tmp_path / 'root' / 'file').write_text('content')
    path = write_sif(tmp_path / 'x.sif', pack(tmp_path / 'root', tmp_path / 'squashfs').read_bytes())
    path.with_name('x.sif.sha256').write_text(hashlib.sha256(path.read_bytes()).hexdigest() + '  x.sif\n')
    return path


@pytest.mark.parametrize('code, says, state, text', [
    (0, 'Signing entity:  Me <me@x.org>\nFingerprint:  AB12\n', 'ok', 'signed by Me <me@x.org>/AB12'),
    (255, 'FATAL:   Failed to verify container: integrity: no key material not provided', 'not checked', 'key not at'),
    (255, 'FATAL:   Failed to verify container: integrity: signature object 4 not valid', 'wrong', 'object 4 not')])
def test_what_the_runtime_says_of_a_signature_is_said(tmp_path, code, says, state, text):
    path = write_sif(tmp_path / 'signed.sif', b'hsqs', objects=[(sif.DATA_SIGNATURE, '', sif.GROUP_MASK | 1, b'x')])
    runtime = tmp_path / 'apptainer'
    runtime.write_text(f'#!/bin/sh\ncat <<END {">&2" if code else ""}\n{says}\nEND\nexit {code}\n')
    runtime.chmod(0o755)
    found = {check: rest for check, *rest in verify(path, runtime)}
    assert found['signature'][0] == state and text in found['signature'][1]
    problem = sif.signature_problem(str(path), str(runtime))
    assert 'was changed after it was signed' in problem if state == 'wrong' else problem is None


def test_an_unsigned_image_is_no_trouble(image):
    assert [state for _, state, _ in verify(image, '/nonexistent')] == ['ok', 'not checked']


@pytest.mark.apptainer
def test_lines_of_the_page_sign_an_image_and_a_changed_one_is_found(make_sif, apptainer, tmp_path, monkeypatch):
    (tmp_path / 'root').mkdir()
    (tmp_path / 'root' / 'file').write_text('content')
    image = make_sif(tmp_path / 'x.sif', tmp_path / 'root')
    monkeypatch.setenv('APPTAINER_CONFIGDIR', str(tmp_path / 'keys'))
    for words in (['key', 'newpair', '--name', 'Test', '--email', 'test@example.org', '--comment', 'none',
                   '--password', '', '--push=false'], ['sign', image]):
        done = run([apptainer, *words], env=dict(os.environ))
        assert done.returncode == 0, done.stderr
    assert [state for _, state, _ in verify(image, apptainer)] == ['not checked', 'ok']
    content = bytearray(image.read_bytes())
    content[content.index(b'hsqs') + 100] ^= 1
    image.write_bytes(content)
    assert verify(image, apptainer)[1][1] == 'wrong'
    assert 'was changed after it was signed' in sif.signature_problem(str(image), apptainer)

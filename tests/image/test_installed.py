"""osu-container image verify --installed: what has changed of installed modules is named, and nothing else.

What is said of an image's signature, by the runtime itself and by what it may answer; and of its sum.
"""

import hashlib
import json
import os

import pytest

from osu_container.core.reading import sif
from osu_container.image import ImageError, cli, installed
from osu_container.image.installed import verify as checks
from tests.helpers.elf_folder import pack, write_sif
from tests.helpers.machine import run


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Three installations in MODULEPATH: two share one image, bind has a library of the host; returns their folder."""
    library = tmp_path / 'libfabric.so.1'
    library.write_text('library')
    for name in ('pure', 'hybrid', 'bind'):
        root = tmp_path / 'software' / name
        root.mkdir(parents=True)
        if name == 'hybrid':
            os.link(tmp_path / 'software/pure/x.sif', root / 'x.sif')
        else:
            write_sif(root / 'x.sif', name.encode())
        total = hashlib.sha256((root / 'x.sif').read_bytes()).hexdigest()
        (root / 'x.sif.sha256').write_text(f'{total}  x.sif\n')
        injected = [{'path': str(library), 'sha256': hashlib.sha256(b'library').hexdigest()}] * (name == 'bind')
        (root / 'facts.json').write_text(json.dumps({
            'image': {'file': 'x.sif', 'mpi': '', 'libfabric': '', 'programs': {}, 'library_path': [],
                      'installed': {'size': 0, 'mtime': 0}},
            'host': {'root': '', 'injected': injected, 'runtime': {'command': 'apptainer', 'name': 'apptainer'}}}))
        for folder in ('modules/all/osu-container', 'modules/base/osu-container'):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / f'{name}.lua').write_text(f'help()\nlocal root = "{root}"\n')
    (tmp_path / 'modules/all/other.lua').write_text(f'local root = "{tmp_path}"\n')
    (tmp_path / 'modules/all/osu-container/.pure.lua.part').write_text('')
    monkeypatch.setenv('MODULEPATH', f'{tmp_path}/modules/all:{tmp_path}/modules/base:/nonexistent')
    return tmp_path


def verify(*arguments):
    """Run the command; return None, or the message with which it ends."""
    import argparse
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    options = parser.parse_args(['verify', *arguments])
    try:
        return options.function(options) or None
    except ImageError as err:
        return str(err)


def test_every_module_is_looked_at_once_and_a_shared_image_is_read_once(modules, capsys, monkeypatch):
    read = []
    monkeypatch.setattr(installed, 'check_sum', lambda path, real=installed.check_sum: read.append(path) or real(path))
    assert verify('--installed') is None
    said = capsys.readouterr().out
    assert verify('--installed', '--json') is None
    first = json.loads(capsys.readouterr().out)[0]
    assert first['of'] in said and {'check': 'sum', 'state': 'ok'}.items() <= first['checks'][0].items()
    read = read[:2]
    for name in ('pure', 'hybrid', 'bind'):
        assert said.count(f'osu-container/{name} ({modules}/software/{name}):') == 1
    assert said.count('sum        ok') == 3 and len(read) == 2 and said.count('1 libraries of the host') == 1


@pytest.mark.parametrize('what, wrong, says', [
    ('image', ['bind'], 'x.sif.sha256 says'), ('shared image', ['hybrid', 'pure'], 'x.sif.sha256 says'),
    ('library', ['bind'], 'has changed since the module was installed'), ('facts', ['bind'], 'facts.json'),
    ('facts of another kind', ['bind'], 'image.file is 7, wanted text'), ('link to nothing', ['bind'], 'is gone'),
    ('sum', ['bind'], 'x.sif.sha256 is gone'), ('rights', ['bind'], 'software/bind may be written by everybody')])
def test_what_has_changed_is_named_with_its_module(modules, capsys, what, wrong, says):
    root = modules / 'software' / ('pure' if what == 'shared image' else 'bind')
    if 'image' in what:
        with (root / 'x.sif').open('r+b') as handle:
            handle.seek(-1, os.SEEK_END)
            handle.write(b'!')
    elif what == 'rights':
        root.chmod(0o777)
    elif what == 'sum':
        (root / 'x.sif.sha256').unlink()
    elif what == 'library':
        (modules / 'libfabric.so.1').write_text('newer')
    elif what == 'link to nothing':
        (root / 'x.sif').unlink()
        (root / 'x.sif').symlink_to('/nonexistent/x.sif')
    else:
        (root / 'facts.json').write_text('{' if what == 'facts' else '{"image": {"file": 7}, "host": {}}')
    ended = verify('--installed')
    assert ended.startswith(f"do not use {', '.join(f'osu-container/{name}' for name in wrong)}: see what is wrong")
    assert says in capsys.readouterr().out


def test_an_older_installation_without_a_sum_is_not_wrong(modules, capsys):
    root = modules / 'software' / 'bind'
    facts = json.loads((root / 'facts.json').read_text())
    del facts['image']['installed']
    (root / 'facts.json').write_text(json.dumps(facts))
    (root / 'x.sif.sha256').unlink()
    assert verify('--installed') is None
    assert 'no x.sif.sha256 beside it' in capsys.readouterr().out


@pytest.mark.parametrize('arguments, says', [
    ([], 'name SIF files, or give --installed'), (['--installed', 'x.sif'], 'name SIF files, or give --installed')])
def test_files_and_installed_modules_are_two_things(arguments, says):
    assert says in verify(*arguments)


def test_no_module_is_told(tmp_path, monkeypatch):
    for value in ('', str(tmp_path)):
        monkeypatch.setenv('MODULEPATH', value)
        assert 'no module of this project in MODULEPATH' in verify('--installed')


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
def test_what_the_runtime_says_of_a_signature_is_said(tmp_path, monkeypatch, code, says, state, text):
    path = write_sif(tmp_path / 'signed.sif', b'hsqs', objects=[(sif.DATA_SIGNATURE, '', sif.GROUP_MASK | 1, b'x')])
    runtime = tmp_path / 'apptainer'
    runtime.write_text(f'#!/bin/sh\ncat <<END {">&2" if code else ""}\n{says}\nEND\nexit {code}\n')
    runtime.chmod(0o755)
    monkeypatch.setattr(installed, 'command_path', lambda *_: str(runtime))
    found = {check: rest for check, *rest in checks(path)}
    assert found['signature'][0] == state and text in found['signature'][1]
    problem = sif.signature_problem(str(path), str(runtime))
    assert 'was changed after it was signed' in problem if state == 'wrong' else problem is None


def test_an_image_is_checked_without_a_runtime_but_for_its_signature(image, monkeypatch):
    monkeypatch.setattr(installed, 'command_path', lambda *_: None)
    assert [found[1:] for found in checks(image)][1] == ('not checked', 'unsigned')
    monkeypatch.setattr(sif, 'is_signed', lambda _: True)
    assert [state for _, state, _ in checks(image)] == ['ok', 'not checked'] and 'install one' in checks(image)[1][2]


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
    assert [state for _, state, _ in checks(image)] == ['not checked', 'ok']
    content = bytearray(image.read_bytes())
    content[content.index(b'hsqs') + 100] ^= 1
    image.write_bytes(content)
    assert checks(image)[1][1] == 'wrong'
    assert 'was changed after it was signed' in sif.signature_problem(str(image), apptainer)

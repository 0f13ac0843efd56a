"""
Test that `osu-container image verify` names problems of images and modules.
"""

import argparse
import hashlib
import json
import os

import pytest

from osu_container.base import trust
from osu_container.build import ImageBuildError, cli, installed
from osu_container.image import sif
from tests.helpers.elf_folder import write_sif
from tests.helpers.machine import assert_success, run


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Make three installations in MODULEPATH, bind with a host library; return their folder."""
    library = tmp_path / 'libfabric.so.1'
    library.write_text('library')
    for name in ('pure', 'hybrid', 'bind'):
        root = tmp_path / 'software' / name
        root.mkdir(parents=True)
        write_sif(root / 'x.sif', name.encode())
        total = hashlib.sha256((root / 'x.sif').read_bytes()).hexdigest()
        (root / 'x.sif.sha256').write_text(f'{total}  x.sif\n')
        injected = [{'path': str(library), 'sha256': hashlib.sha256(b'library').hexdigest()}] * (
            name == 'bind'
        )
        (root / 'facts.json').write_text(
            json.dumps(
                {
                    'image': {
                        'file': 'x.sif',
                        'mpi': '',
                        'libfabric': '',
                        'programs': {},
                        'library_path': [],
                        'installed': {'size': 0},
                    },
                    'host': {
                        'root': '',
                        'injected': injected,
                        'runtime': {'command': 'apptainer', 'name': 'apptainer'},
                    },
                }
            )
        )
        for folder in ('modules/all/osu-container', 'modules/base/osu-container'):
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / f'{name}.lua').write_text(f'help()\nlocal root = "{root}"\n')
    (tmp_path / 'modules/all/other.lua').write_text(f'local root = "{tmp_path}"\n')
    monkeypatch.setenv('MODULEPATH', f'{tmp_path}/modules/all:{tmp_path}/modules/base:/nonexistent')
    return tmp_path


def verify(*arguments):
    """Run `osu-container image verify`; return its error message, or None on success."""
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    options = parser.parse_args(['verify', *arguments])
    try:
        return options.function(options) or None
    except ImageBuildError as err:
        return str(err)


def test_every_module_is_read_once(modules, capsys):
    assert verify('--installed') is None
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(
        f'osu-container/{name} ({modules}/software/{name}): ok'
        for name in ('pure', 'hybrid', 'bind')
    )


@pytest.mark.parametrize(
    'change, text',
    [
        ('image', 'x.sif.sha256'),
        ('library', 'libfabric.so.1'),
        ('facts', 'facts.json'),
        ('link to nothing', 'x.sif '),
        ('sum', 'x.sif.sha256'),
        ('rights 777', 'chmod -R go-w'),
        ('rights 775', 'chmod -R go-w'),
    ],
)
def test_changed_file_is_named_with_its_module(modules, capsys, monkeypatch, change, text):
    root = modules / 'software' / 'bind'
    if change == 'image':
        with (root / 'x.sif').open('r+b') as handle:
            handle.seek(-1, os.SEEK_END)
            handle.write(b'!')
    elif change.startswith('rights'):  # of a group with several members
        monkeypatch.setattr(trust, '_is_private_group', lambda gid, uid: False)
        root.chmod(int(change[-3:], 8))
    elif change == 'sum':
        (root / 'x.sif.sha256').unlink()
    elif change == 'library':
        (modules / 'libfabric.so.1').write_text('newer')
    elif change == 'link to nothing':
        (root / 'x.sif').unlink()
        (root / 'x.sif').symlink_to('/nonexistent/x.sif')
    else:
        (root / 'facts.json').write_text('{"image": {"file": 7}, "host": {}}')
    error_message, output = verify('--installed'), capsys.readouterr().out
    assert (
        f'osu-container/bind ({root})' in error_message
        and 'osu-container/pure' not in error_message
    )
    assert text in output and output.count(': ok\n') == 2


@pytest.mark.parametrize('arguments', [[], ['--installed', 'x.sif']])
def test_either_files_or_installed_modules_are_verified(arguments):
    assert '--installed' in verify(*arguments)


def test_missing_modules_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv('MODULEPATH', str(tmp_path))
    assert 'MODULEPATH' in verify('--installed')


@pytest.mark.parametrize(
    'code, text, wrong',
    [
        (0, 'Signing entity:  Me <me@x.org>\nFingerprint:  AB12\n', False),
        (
            255,
            'FATAL:   Failed to verify container: integrity: no key material not provided',
            False,
        ),
        (255, 'FATAL:   Failed to verify container: integrity: signature object 4 not valid', True),
    ],
)
def test_signature_is_judged_by_the_runtime(tmp_path, monkeypatch, code, text, wrong):
    path = write_sif(
        tmp_path / 'x.sif', b'hsqs', objects=[(sif.DATA_SIGNATURE, '', sif.GROUP_MASK | 1, b'x')]
    )
    path.with_name('x.sif.sha256').write_text(
        hashlib.sha256(path.read_bytes()).hexdigest() + '  x.sif\n'
    )
    runtime = tmp_path / 'apptainer'
    runtime.write_text(f'#!/bin/sh\ncat <<END {">&2" if code else ""}\n{text}\nEND\nexit {code}\n')
    runtime.chmod(0o755)
    monkeypatch.setattr(installed, 'find_command', lambda *_: str(runtime))
    assert bool(installed.verify_image(path)) == wrong


@pytest.mark.system
def test_changed_image_does_not_fit_its_signature(make_sif, apptainer, tmp_path, monkeypatch):
    (tmp_path / 'root').mkdir()
    (tmp_path / 'root' / 'file').write_text('content')
    image = make_sif(tmp_path / 'x.sif', tmp_path / 'root')
    monkeypatch.setenv('APPTAINER_CONFIGDIR', str(tmp_path / 'keys'))
    for words in (
        [
            'key',
            'newpair',
            '--name',
            'Test',
            '--email',
            'test@example.org',
            '--comment',
            'none',
            '--password',
            '',
            '--push=false',
        ],
        ['sign', image],
    ):
        result = run([apptainer, *words], env=dict(os.environ))
        assert_success(result)
    assert sif.find_signature_problem(str(image), apptainer) is None
    content = bytearray(image.read_bytes())
    content[content.index(b'hsqs') + 100] ^= 1
    image.write_bytes(content)
    assert str(image) in sif.find_signature_problem(str(image), apptainer)

"""osu-explain with a settings.json that is damaged: a line with the file, what is wrong and what to do."""
import json
import sys

import pytest

from osu_container.core.installing.staged import install_proof
from tests.helpers.machine import PROJECT, PYTHON_36, run

COMMAND = PROJECT / 'easyconfigs/o/osu-container/osu-explain'
TOLD = {'why': 'w', 'source': 's', 'date': '2026-11-23', 'evidence': 'untested'}
VARIABLE = {'name': 'A', 'value': '1', 'origin': 'site x', **TOLD}
GOOD = {'module': 'osu-container/pure', 'site': 'x', 'title': 't', 'mpi': 'm', 'libfabric': 'l', 'pmi': 'pmi2',
        'variables': [VARIABLE], 'unset': [], 'in_container': [VARIABLE], 'share': False, 'apart': [],
        'binds': [{'path': '/a', 'target': '/b', 'why': 'w', 'origin': 'approach pure'}]}


@pytest.fixture
def explain(tmp_path):
    """Function (text, or data for JSON; words before the command): writes settings.json and runs osu-explain of it."""
    (tmp_path / 'bin').mkdir()
    (tmp_path / 'bin' / 'osu-explain').symlink_to(COMMAND)
    install_proof(str(tmp_path))

    def call(content, *before):
        path = tmp_path / 'settings.json'
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return run([*before, PYTHON_36 or sys.executable, tmp_path / 'bin' / 'osu-explain'])
    return call


def test_what_is_whole_is_printed(explain):
    done = explain(GOOD)
    assert done.returncode == 0 and 'osu-container/pure on site x' in done.stdout, done.stderr


@pytest.mark.parametrize('width', [60, 80, 120])
def test_what_is_printed_fits_the_terminal(explain, monkeypatch, width):
    monkeypatch.setenv('COLUMNS', str(width))
    long = {**VARIABLE, 'value': '/a/path/of/some/length/in/the/container', 'why': 'some words ' * 30}
    done = explain({**GOOD, 'title': 'many words ' * 12, 'variables': [long], 'in_container': [long]})
    assert done.returncode == 0 and max(map(len, done.stdout.splitlines())) <= width, done.stdout + done.stderr
    assert done.stdout.count('some words') >= 30 and f"A={long['value']}" in done.stdout


@pytest.mark.parametrize('content', [
    b'', b'{', b'\xff\xfe', b'[' * 100000, b'[]', b'7', b'null', {},
    *({**GOOD, key: 7} for key in GOOD if key != 'share'),
    *({**GOOD, 'variables': [value]} for value in ({}, 7, {**VARIABLE, 'name': 7}, {**VARIABLE, 'when': []}))])
def test_a_damaged_file_is_one_line_with_the_remedy(explain, content):
    done = explain(content)
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr.count('\n') == 1 and done.stderr.startswith('osu-explain: cannot read ')
    assert done.stderr.endswith('Install the module again: eb --rebuild\n'), done.stderr


@pytest.mark.parametrize('shell, code, says', [
    ('exec "$@" >&-', 0, ''), ('exec "$@" >/dev/full', 1, 'osu-explain: error: No space left on device\n')])
def test_any_letter_and_any_stream_end_without_a_traceback(explain, monkeypatch, shell, code, says):
    monkeypatch.delenv('PYTHONUNBUFFERED', raising=False)
    done = explain({**GOOD, 'title': 'saves 2 \u00b5s'}, 'bash', '-c', shell, '-')
    assert (done.returncode, done.stderr) == (code, says)

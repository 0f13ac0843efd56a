"""Tables and paragraphs fit the terminal, whatever is in them, and nothing of them is lost."""
import re

import pytest

from osu_container import columns
from osu_container.cli import main

ROWS = [('name', 'P', 'here', '12 MB', 'built 2026-11-20, 3 min', 'what it is for, in some words that have no room'),
        ('osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0', '', 'unbuilt', '', '', 'short'),
        ('a', 'b', 'c', 'd', 'e', '')]


@pytest.mark.parametrize('width', [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize('rows', [ROWS, ROWS[2:], [('one', 'two')], [('alone',)], []])
def test_a_table_fits_and_has_every_word(monkeypatch, rows, width):
    monkeypatch.setenv('COLUMNS', str(width))
    lines = columns.table(rows, right=[3], indent='  ')
    longest = max((len(cell) for row in rows for cell in row if ' ' not in cell), default=0)
    assert all(len(line) <= max(width, longest + 8) for line in lines), lines
    assert ' '.join(lines).split() == ' '.join(cell for row in rows for cell in row).split()
    if width == 200:
        assert len(lines) == len(rows), 'where there is room a row is a line'


NAMED = 'osu-lumi-rocm-6.3.4-mpich-4.2.3-libfabric-1.22.0'


@pytest.mark.parametrize('command', [
    ['check', '--published'], ['check', '--published', '--site', 'lumi-25.03'], ['image', 'list'],
    ['reference', 'list'], ['reference', 'show', 'lumi-g-2025-03'], ['check', NAMED, '--site', 'frontier'],
    ['compare', 'lumi-g-2025-03:hybrid', 'lumi-native-2026-03'], ['why', '--list']])
@pytest.mark.parametrize('width', [60, 80, 120])
def test_what_commands_print_fits_the_terminal(command, width, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv('COLUMNS', str(width))
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    main(command)
    said = capsys.readouterr().out
    if command[0] == 'why':  # the messages themselves are one line each, as in an output that is searched for them
        said = re.sub(r'(?m)^ {4}\S.*\n', '', said)
    wide = [line for line in said.splitlines() if len(line) > width and len(max(line.split(), key=len)) < width - 15
            and not line.startswith(('    osu-container ', '    eb '))]  # what is to be typed stays in one line
    assert said and wide == []

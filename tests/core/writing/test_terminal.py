"""Text of others reaches a terminal as text: nothing in it is obeyed, hides, or passes for another line."""
import io
import os
import shutil
import subprocess
import sys
import unicodedata

import pytest

from osu_container.core.writing import terminal
from osu_container.core.writing.module_text import lua_string

#: What terminals obey or show nothing of: colours, a title, a cursor that goes back, answers that are typed, 8-bit
#: controls, directions of writing, letters without a shape, bytes of no encoding
HOSTILE = ['\x1b[31m', '\x1b]0;title\x07', '\r', '\b' * 9, '\x1b[6n', '\x1b[2J', '\x9b31m', '\x85', '\u202e', '\u2066',
           '\u200b', '\u2028', '\ufeff', '\xad', '\u115f', '\u3164', '\u2800', '\ufe0f', '\U000e0041', '\U000e0100',
           '\0', '\x7f', '\udc9b']
#: Letters that people write
HARMLESS = ['plain', 'Größe', 'µs', '≥ 1', '漢字', 'עברית', 'é', '→', '100 %', '\\x1b']


def obeyed(text):
    """Return the characters (list of str) of text that a terminal would obey or show nothing of."""
    return [letter for letter in text if unicodedata.category(letter) in ('Cc', 'Cf', 'Cs', 'Zl', 'Zp')
            or letter in '\u115f\u3164\u2800\ufe0f\U000e0100']


@pytest.mark.parametrize('text', HOSTILE)
def test_what_a_terminal_would_obey_is_shown(text):
    shown = terminal.one_line(f'a{text}b')
    assert not obeyed(shown) and shown.startswith('a') and shown.endswith('b') and len(shown) > 2
    assert terminal.lines(f'{text}\n\t{text}') == shown[1:-1] + '\n\t' + shown[1:-1]


def test_every_character_is_shown_or_named():
    for number in [*range(0x10000), *range(0x10000, 0x110000, 97)]:
        shown = terminal.one_line(chr(number))
        assert shown and not obeyed(shown), hex(number)


def test_streams_pass_on_what_is_shown_and_are_as_before_afterwards(monkeypatch):
    out, error = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, 'stdout', out)
    monkeypatch.setattr(sys, 'stderr', error)
    with terminal.shown():
        print('a\x1b[2Jb')
        print('c\u202ed', file=sys.stderr)
        terminal.obeyed('\r\x1b[K')
    assert (out.getvalue(), error.getvalue()) == ('a\\x1b[2Jb\n\r\x1b[K', 'c\\u202ed\n')
    assert (sys.stdout, sys.stderr) == (out, error)


@pytest.mark.parametrize('value', [
    *HOSTILE[:5], *HARMLESS, '" .. os.execute("false") .. "', ']]', '\\', '\\"', '\n', '\x00', '\x011', '"\\\n\r\x1b'])
def test_a_lua_string_is_the_text_and_nothing_else(value):
    lua = next((found for found in map(shutil.which, ('lua', 'lua5.4', 'lua5.3', 'lua5.1')) if found), None)
    assert lua, 'Lmod needs Lua'
    text = lua_string(value)
    assert '\n' not in text
    done = subprocess.run([lua, '-e', f'io.write({text})'], stdout=subprocess.PIPE)
    assert done.stdout == os.fsencode(value), text

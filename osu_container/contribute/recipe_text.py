"""Text of recipes and pages: templates that are filled, lists with reasons, tables."""
import re
import textwrap
from pathlib import Path

from osu_container.core.writing.module_text import lua_string

TEMPLATES = Path(__file__).resolve().with_name('templates.txt')
WIDTH = 118


def commented(text, mark, indent=0):
    """Return text (str) as lines of comment that begin with mark (str), such as '# '."""
    begin = ' ' * indent + mark
    return textwrap.fill(text, WIDTH, initial_indent=begin, subsequent_indent=begin, break_long_words=False,
                         break_on_hyphens=False) + '\n'


def rows(values):
    """Return values (iterable of str) as rows of a Python list."""
    return ''.join(f'    {value!r},\n' for value in values)


def reasoned(entries, mark='# '):
    """Return rows (str) of a list, each reason in a comment above its first; entries: iterable of (why, text)."""
    lines, last = [], None
    for why, text in entries:
        lines += [commented(why, mark, 4)] if why != last else []
        lines.append(f'    {text},\n')
        last = why
    return ''.join(lines)


def lua_list(entries):
    """Return rows (str) of a Lua table of tables; entries: iterable of (why, list of str)."""
    return reasoned(((why, f"{{ {', '.join(map(lua_string, values))} }}") for why, values in entries), '-- ')


def filled(template, values):
    """Return the text of a template (its name in templates.txt) with each @KEY@ replaced by its value (dict)."""
    parts = re.split(r'(?m)^<!-- (\S+) -->\n', TEMPLATES.read_text())
    text = dict(zip(parts[1::2], parts[2::2]))[template].rstrip('\n') + '\n'
    return re.sub(r'@([A-Z_\d]+)@', lambda found: values[found.group(1)], text)


def table(head, rows):
    """Return a Markdown table (str); head: list of str, rows: list of such lists."""
    return ''.join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n"
                   for row in [head, ['---'] * len(head), *rows]).rstrip()

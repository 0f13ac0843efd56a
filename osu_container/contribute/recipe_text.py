"""Text of recipes and pages: templates that are filled, and what module_text.py asks of EasyBuild's generator."""
import re
import textwrap
from pathlib import Path

from osu_container.core.writing.module_text import lua_string

TEMPLATES = Path(__file__).resolve().with_name('templates.txt')
WIDTH = 118


class Generator:
    """What module_text.py calls of EasyBuild's module generator."""

    def comment(self, text):
        """Return a comment (str) in Lua, over as many lines as it takes."""
        return commented(text, '-- ')

    def set_environment(self, name, value):
        """Return the Lua text (str) that sets a variable; value: str, or EasyBuild's dict with value and pushenv."""
        if isinstance(value, dict):
            return f"pushenv({lua_string(name)}, {lua_string(value['value'])})\n"
        return f'setenv({lua_string(name)}, {lua_string(value)})\n'


def commented(text, mark, indent=0):
    """Return text (str) as lines of comment that begin with mark (str), such as '# '."""
    begin = ' ' * indent + mark
    return textwrap.fill(text, WIDTH, initial_indent=begin, subsequent_indent=begin, break_long_words=False,
                         break_on_hyphens=False) + '\n'


def filled(template, values):
    """Return the text of a template (its name in templates.txt) with each @KEY@ replaced by its value (dict)."""
    parts = re.split(r'(?m)^<!-- (\S+) -->\n', TEMPLATES.read_text())
    text = dict(zip(parts[1::2], parts[2::2]))[template].rstrip('\n') + '\n'
    return re.sub(r'@([A-Z_\d]+)@', lambda found: values[found.group(1)], text)


def table(head, rows):
    """Return a Markdown table (str); head: list of str, rows: list of such lists."""
    return ''.join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n"
                   for row in [head, ['---'] * len(head), *rows]).rstrip()

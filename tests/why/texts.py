"""
The texts on which osu-container why is tried: messages.tsv, a line for each.

A line has the message that is to be named first (- for none), where the text is from (the thread that found its cause,
the source code that prints it, or a run here), and the text itself.
"""
import re

from tests.helpers.machine import PROJECT

_ESCAPED = {'n': '\n', 't': '\t', '\\': '\\'}
#: (name of a message or -, where the text is from, text)
TEXTS = [(name, source, re.sub(r'\\(.)', lambda found: _ESCAPED[found[1]], text)) for name, source, text in (
    line.split('\t') for line in (PROJECT / 'tests/why/messages.tsv').read_text().splitlines())]

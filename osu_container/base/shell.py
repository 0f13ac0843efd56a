"""
Quote words for a shell, in scripts that are written and in commands that are printed.

Python 3.6 and its standard library only.
"""

import os
import re
import shlex
from typing import Iterable, List

from osu_container.base.terminal import escape_text

_NAMED_ESCAPES = {'\n': '\\n', '\t': '\\t', '\r': '\\r'}


def quote(text: object) -> str:
    """
    Return str(text) as one word of bash that a terminal displays unchanged.

    Bytes that a terminal cannot display become escapes as in $'\\033': the same in every locale.
    """
    text = str(text)
    if escape_text(text) == text and '\n' not in text and '\t' not in text:
        return shlex.quote(text)
    parts: List[str] = []
    for letter in text:
        if letter in _NAMED_ESCAPES:
            parts.append(_NAMED_ESCAPES[letter])
        elif escape_text(letter) != letter:
            # three digits each: the next letter may be a digit
            parts += ['\\%03o' % byte for byte in letter.encode('utf-8', 'surrogateescape')]
        else:
            parts.append(re.sub(r"(['\\])", r'\\\1', letter))
    return "$'%s'" % ''.join(parts)


def quote_path(text: object) -> str:
    """Return a path as quote() does, with ./ before a hyphen, so that it is not an option."""
    text = str(text)
    return quote(os.path.join('.', text) if text.startswith('-') else text)


def join_words(words: Iterable[object]) -> str:
    """Return the words, each quoted, as a command line."""
    return ' '.join(map(quote, words))

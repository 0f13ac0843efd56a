"""
Quote words for a shell, for scripts that a command writes and for commands in messages.

This module uses only the standard library of Python 3.6.
"""

import os
import re
import shlex
from typing import Iterable, List

from osu_container.base.terminal import escape_text

_NAMED_ESCAPES = {'\n': '\\n', '\t': '\\t', '\r': '\\r'}


def quote(text: object) -> str:
    """
    Return str(text) quoted as one word for bash that a terminal displays unchanged.

    Bytes that a terminal cannot display are written as octal escapes such as $'\\033', which have
    the same meaning in every locale.
    """
    text = str(text)
    if escape_text(text) == text and '\n' not in text and '\t' not in text:
        return shlex.quote(text)
    parts: List[str] = []
    for letter in text:
        if letter in _NAMED_ESCAPES:
            parts.append(_NAMED_ESCAPES[letter])
        elif escape_text(letter) != letter:
            # Every escape has three digits, because a digit may follow the escape.
            parts += ['\\%03o' % byte for byte in letter.encode('utf-8', 'surrogateescape')]
        else:
            parts.append(re.sub(r"(['\\])", r'\\\1', letter))
    return "$'%s'" % ''.join(parts)


def quote_path(text: object) -> str:
    """
    Quote a path for bash, see quote().

    A path that begins with a hyphen gets the prefix ./, so that no command takes the path for an
    option.
    """
    text = str(text)
    return quote(os.path.join('.', text) if text.startswith('-') else text)


def join_words(words: Iterable[object]) -> str:
    """Quote each of `words` for bash and return the command line."""
    return ' '.join(map(quote, words))

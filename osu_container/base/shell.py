"""
Quote words for a shell, in scripts that a command writes and in printed commands.

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
    Return str(text), quoted as one word for bash in characters that a terminal can display.

    Octal escapes such as $'\\033' replace the bytes that a terminal cannot display. These escapes
    have the same meaning in every locale.
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
    Return the path `text`, quoted as one word for bash.

    If the path begins with a hyphen, the result begins with ./, so that no command takes the path
    for an option.
    """
    text = str(text)
    return quote(os.path.join('.', text) if text.startswith('-') else text)


def join_words(words: Iterable[object]) -> str:
    """Return a command line for bash that consists of the quoted `words`."""
    return ' '.join(map(quote, words))

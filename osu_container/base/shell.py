"""
Words of a shell: in scripts that are written, and in commands that a person is told to type.

Works on Python 3.6 with the standard library only.
"""

import os
import re
import shlex

from osu_container.base.terminal import escape_text

_NAMED_ESCAPES = {'\n': '\\n', '\t': '\\t', '\r': '\\r'}


def quote(text):
    """
    Return text (str, or what str() makes one of) as one word of bash that a terminal shows as it
    is.

    What cannot be shown stands as $'\\x1b' does, by its bytes: it is the same word in every locale.
    """
    text = str(text)
    if escape_text(text) == text and '\n' not in text and '\t' not in text:
        return shlex.quote(text)
    found = []
    for letter in text:
        if letter in _NAMED_ESCAPES:
            found.append(_NAMED_ESCAPES[letter])
        elif escape_text(letter) != letter:
            # three digits each: what follows may be a digit too
            found += ['\\%03o' % byte for byte in letter.encode('utf-8', 'surrogateescape')]
        else:
            found.append(re.sub(r"(['\\])", r'\\\1', letter))
    return "$'%s'" % ''.join(found)


def quote_path(text):
    """
    Return the path text (str or Path) as quote() does; one that begins with a hyphen is no
    option.
    """
    text = str(text)
    return quote(os.path.join('.', text) if text.startswith('-') else text)


def join_words(words):
    """Return words (iterable of str) as a command line."""
    return ' '.join(map(quote, words))

"""
Words of a shell: in scripts that are written, and in commands that a person is told to type.

Works on Python 3.6 with the standard library only.
"""
import os
import re
import shlex

from osu_container.base.terminal import visible

_NAMED = {'\n': '\\n', '\t': '\\t', '\r': '\\r'}


def word(text):
    """
    Return text (str, or what str() makes one of) as one word of bash that a terminal shows as it is.

    What cannot be shown stands as $'\\x1b' does, by its bytes: it is the same word in every locale.
    """
    text = str(text)
    if visible(text) == text and '\n' not in text and '\t' not in text:
        return shlex.quote(text)
    found = []
    for letter in text:
        if letter in _NAMED:
            found.append(_NAMED[letter])
        elif visible(letter) != letter:
            # three digits each: what follows may be a digit too
            found += ['\\%03o' % byte for byte in letter.encode('utf-8', 'surrogateescape')]
        else:
            found.append(re.sub(r"(['\\])", r'\\\1', letter))
    return "$'%s'" % ''.join(found)


def path(text):
    """Return the path text (str or Path) as word() does; one that begins with a hyphen is no option."""
    text = str(text)
    return word(os.path.join('.', text) if text.startswith('-') else text)


def line(words):
    """Return words (iterable of str) as a command line."""
    return ' '.join(map(word, words))

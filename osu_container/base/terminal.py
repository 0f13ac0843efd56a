"""
Text of others on its way to a terminal: names of files, labels of images, output of programs,
results.

A terminal obeys control characters: they can write over what stands there, forge a line, or have
the terminal type. Characters for the direction of writing, and those without a shape, make a name
look like another one (Unicode Technical Report 36, "Unicode Security Considerations"). All of these
are shown, by the escapes of Python and JSON.

Works on Python 3.6 with the standard library only, also on compute nodes.
"""

import re
import sys
from contextlib import contextmanager

#: Orders to a terminal: colours and the like, titles, character sets
ESCAPES = re.compile(
    r'\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[()][0-9A-Za-z])'
)
#: Characters that are orders: Unicode 15, general categories Cc but for tab and line end, Cf, Cs,
#: Zl, Zp; and those that have no shape: DerivedCoreProperties.txt, Default_Ignorable_Code_Point,
#: and the empty pattern of Braille
_UNSAFE_CHARACTERS = re.compile(
    '[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u200b-\u200f'
    '\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd'
    '\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff'
    '\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]'
)


def _escape_letter(letter):
    """Return the escape (str) of a character (str)."""
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that is none of its encoding (PEP 383)
        number -= 0xDC00
    # a DEL stands as it is in the JSON that Python writes, which knows no \x7f
    return (
        '\\U%08x'
        if number > 0xFFFF
        else '\\u%04x'
        if number > 0xFF or number == 0x7F
        else '\\x%02x'
    ) % number


def escape_text(text):
    """
    Return text (str), blanks, tabs and line ends as they are, with an escape for what a terminal
    would obey.
    """
    return _UNSAFE_CHARACTERS.sub(lambda found: _escape_letter(found.group()), text)


#: Names of variables whose values are nobody's business, as they are written in an environment
SECRET_NAME = re.compile(r'[A-Z0-9_]*(?:PASSW|TOKEN|KEY|SECRET|CREDENTIAL)[A-Z0-9_]*')
#: The same with a value behind it, and what stands in front of the host of a URL (RFC 3986,
#: userinfo)
_ASSIGNED = re.compile(r'\b(%s=)("[^"]*"|\'[^\']*\'|[^\s"\'=][^\s"\']*)' % SECRET_NAME.pattern)
_USERINFO = re.compile(r'(\b[a-z][a-z0-9+.-]*://)[^\s/@?#]+@', re.I)
REDACTED = '(left out)'


def redact_secrets(value):
    """
    Return value (data of JSON) without secrets, for files: values of variables named in SECRET,
    credentials of URLs.

    A variable is a key with a text, or NAME=VALUE in a text.
    """
    if isinstance(value, str):
        if '=' not in value and '://' not in value:
            return value
        return _USERINFO.sub(r'\1%s@' % REDACTED, _ASSIGNED.sub(r'\1%s' % REDACTED, value))
    if isinstance(value, dict):
        return type(value)(
            (
                key,
                REDACTED
                if isinstance(one, str) and SECRET_NAME.fullmatch(str(key))
                else redact_secrets(one),
            )
            for key, one in value.items()
        )
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(redact_secrets, value))
    return value


def escape_line(text):
    """
    Return text (str, or what str() makes one of) as one line that a terminal shows and does not
    obey.
    """
    return escape_text(str(text)).replace('\t', ' ').replace('\n', _escape_letter('\n'))


#: What the streams are called in errors, by Python's names of them
STREAMS = {
    '<stdout>': 'the standard output',
    '<stderr>': 'the standard error',
    1: 'the standard output',
}


class EscapingStream(object):
    """
    A stream for text that passes on what escape_text() makes of it; everything else is that of
    the stream behind it.
    """

    def __init__(self, stream):
        """stream: file opened for writing text, to which everything goes in the end."""
        self.stream = stream

    def write(self, text):
        """Write text (str); return its length. An OSError names the stream."""
        self._call_stream(lambda: self.stream.write(escape_text(text)))
        return len(text)

    def _call_stream(self, function):
        """Call function (without arguments), and let what the stream does not take name it."""
        try:
            function()
        except OSError as err:
            err.filename = err.filename or STREAMS.get(
                getattr(self.stream, 'name', ''), 'an output'
            )
            raise

    def write_raw(self, text):
        """Write text (str) of our own as it is: colours, a line that is written over."""
        self.stream.write(text)

    def flush(self):
        """See io."""
        self._call_stream(self.stream.flush)

    def __getattr__(self, name):
        """Return the attribute name (str) of the stream."""
        return getattr(self.stream, name)


@contextmanager
def escape_streams():
    """Have all that is written to stdout and stderr in a with statement shown and not obeyed."""
    before = sys.stdout, sys.stderr
    # a stream that was closed (command >&-) is None, or a file that is closed
    sys.stdout, sys.stderr = (
        one if one is None or isinstance(one, EscapingStream) else EscapingStream(one)
        for one in before
    )
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except (
                OSError,
                ValueError,
            ):  # its reader is gone, or it is closed: who wrote has seen that
                pass
        sys.stdout, sys.stderr = before

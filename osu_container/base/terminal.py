"""
Escape untrusted text for a terminal: file names, image labels, program output.

A terminal executes control characters. Untrusted control characters can overwrite text, forge a
line or insert keyboard input. Invisible characters, and characters that change the direction of
writing, make a name look like another name (Unicode Technical Report 36, "Unicode Security
Considerations"). This module replaces all these characters by escapes as in Python and JSON.

This module uses only the standard library of Python 3.6, because compute nodes also run terminal.py.
"""

import re
import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator

#: Escape sequences that change the colour, the title or the character set of a terminal
ESCAPES = re.compile(
    r'\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[()][0-9A-Za-z])'
)
#: Characters that escape_text() replaces. Control characters: the general categories Cc (except tab
#: and line end), Cf, Cs, Zl and Zp of Unicode 15. Invisible characters: the property
#: Default_Ignorable_Code_Point in DerivedCoreProperties.txt, and the blank Braille pattern
_UNSAFE_CHARACTERS = re.compile(
    '[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u200b-\u200f'
    '\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd'
    '\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff'
    '\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]'
)


def _escape_letter(letter: str) -> str:
    number = ord(letter)
    # PEP 383: this range stands for the bytes of a file name that are invalid in its encoding.
    if 0xDC80 <= number <= 0xDCFF:
        number -= 0xDC00
    # JSON has no escape \x7f, so DEL becomes \u007f.
    return (
        '\\U%08x'
        if number > 0xFFFF
        else '\\u%04x'
        if number > 0xFF or number == 0x7F
        else '\\x%02x'
    ) % number


def escape_text(text: str) -> str:
    """
    Return `text` with escapes in place of control characters and invisible characters.

    Tabs and line ends stay unchanged.
    """
    return _UNSAFE_CHARACTERS.sub(lambda match: _escape_letter(match.group()), text)


#: Pattern for the names of environment variables that contain a secret
SECRET_NAME = re.compile(r'[A-Z0-9_]*(?:PASSW|TOKEN|KEY|SECRET|CREDENTIAL)[A-Z0-9_]*')
#: Patterns for the assignment of a secret variable, and for credentials in front of the host of a
#: URL (RFC 3986, userinfo)
_ASSIGNED = re.compile(r'\b(%s=)("[^"]*"|\'[^\']*\'|[^\s"\'=][^\s"\']*)' % SECRET_NAME.pattern)
_USERINFO = re.compile(r'(\b[a-z][a-z0-9+.-]*://)[^\s/@?#]+@', re.I)
REDACTED = '(left out)'


def redact_secrets(value: Any) -> Any:
    """
    Return a copy of JSON data in which the text '(left out)' replaces secrets.

    Secrets are credentials in URLs, and the values of variables whose names match SECRET_NAME. The
    function finds variables as keys of a dict, and as NAME=VALUE in a str.
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
                if isinstance(item, str) and SECRET_NAME.fullmatch(str(key))
                else redact_secrets(item),
            )
            for key, item in value.items()
        )
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(redact_secrets, value))
    return value


def escape_line(text: object) -> str:
    """
    Return str(text) as one line, with the same escapes as escape_text().

    In addition, a blank replaces each tab, and an escape replaces each line end.
    """
    return escape_text(str(text)).replace('\t', ' ').replace('\n', _escape_letter('\n'))


#: Python's name of a standard stream -> name of the stream in messages
STREAMS = {
    '<stdout>': 'the standard output',
    '<stderr>': 'the standard error',
    1: 'the standard output',
}


class EscapingStream:
    """A text stream that escapes text with escape_text() and writes the result to `stream`."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """
        Write `text` with escapes and return the length of `text`.

        Raises OSError if the stream cannot be written. The filename of the OSError is the name of
        the stream in messages.
        """
        self._call_stream(lambda: self.stream.write(escape_text(text)))
        return len(text)

    def _call_stream(self, function: Callable[[], Any]) -> None:
        # Add the name of the stream to an OSError, so that a message can name the stream.
        try:
            function()
        except OSError as err:
            err.filename = err.filename or STREAMS.get(
                getattr(self.stream, 'name', ''), 'an output'
            )
            raise

    def write_raw(self, text: str) -> None:
        """Write `text` without escapes. `text` must be trusted, such as colour codes."""
        self.stream.write(text)

    def flush(self) -> None:
        """Flush the stream. Raises OSError if the stream cannot be written, see write()."""
        self._call_stream(self.stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def escape_streams() -> Iterator[None]:
    """Escape the output on stdout and stderr during a with block, with escape_text()."""
    previous_streams = sys.stdout, sys.stderr
    # A stream that the shell has closed (command >&-) is None.
    sys.stdout, sys.stderr = (
        stream if stream is None or isinstance(stream, EscapingStream) else EscapingStream(stream)
        for stream in previous_streams
    )
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            # The stream is closed or has no reader. The code that wrote to the stream has already
            # got this error.
            except (OSError, ValueError):
                pass
        sys.stdout, sys.stderr = previous_streams

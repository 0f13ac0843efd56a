"""
Escape untrusted text for a terminal: file names, image labels, program output.

A terminal obeys control characters: they can overwrite text, forge a line, or make the terminal
type. Characters for the direction of writing, and those without a shape, make a name look like
another name (Unicode Technical Report 36, "Unicode Security Considerations"). All of these are
printed as the escapes of Python and JSON. Python 3.6 and its standard library only, also on compute
nodes.
"""

import re
import sys
from contextlib import contextmanager
from typing import Any, Callable, Iterator

#: Escape sequences of a terminal: colours, titles, character sets
ESCAPES = re.compile(
    r'\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[()][0-9A-Za-z])'
)
#: Control characters: Unicode 15, general categories Cc except tab and line end, Cf, Cs, Zl, Zp.
#: And characters without a shape: DerivedCoreProperties.txt, Default_Ignorable_Code_Point, and the
#: empty pattern of Braille
_UNSAFE_CHARACTERS = re.compile(
    '[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u200b-\u200f'
    '\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd'
    '\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff'
    '\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]'
)


def _escape_letter(letter: str) -> str:
    number = ord(letter)
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a file name that its encoding lacks (PEP 383)
        number -= 0xDC00
    # JSON has no \x7f, so DEL becomes \u007f
    return (
        '\\U%08x'
        if number > 0xFFFF
        else '\\u%04x'
        if number > 0xFF or number == 0x7F
        else '\\x%02x'
    ) % number


def escape_text(text: str) -> str:
    """Return `text` with escapes for control characters except blanks, tabs and line ends."""
    return _UNSAFE_CHARACTERS.sub(lambda match: _escape_letter(match.group()), text)


#: Names of environment variables with secret values
SECRET_NAME = re.compile(r'[A-Z0-9_]*(?:PASSW|TOKEN|KEY|SECRET|CREDENTIAL)[A-Z0-9_]*')
#: Assignment of such a variable, and credentials in front of the host of a URL (RFC 3986, userinfo)
_ASSIGNED = re.compile(r'\b(%s=)("[^"]*"|\'[^\']*\'|[^\s"\'=][^\s"\']*)' % SECRET_NAME.pattern)
_USERINFO = re.compile(r'(\b[a-z][a-z0-9+.-]*://)[^\s/@?#]+@', re.I)
REDACTED = '(left out)'


def redact_secrets(value: Any) -> Any:
    """
    Return JSON data without the values of SECRET_NAME variables and credentials in URLs.

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
                if isinstance(item, str) and SECRET_NAME.fullmatch(str(key))
                else redact_secrets(item),
            )
            for key, item in value.items()
        )
    if isinstance(value, (list, tuple)):
        return (tuple if isinstance(value, tuple) else list)(map(redact_secrets, value))
    return value


def escape_line(text: object) -> str:
    """Return str(text) as one line without control characters."""
    return escape_text(str(text)).replace('\t', ' ').replace('\n', _escape_letter('\n'))


#: Python's name of a stream -> its name in messages
STREAMS = {
    '<stdout>': 'the standard output',
    '<stderr>': 'the standard error',
    1: 'the standard output',
}


class EscapingStream:
    """A text stream that applies escape_text() to its output; otherwise like `stream`."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write `text`, escaped; return its length. An OSError names the stream."""
        self._call_stream(lambda: self.stream.write(escape_text(text)))
        return len(text)

    def _call_stream(self, function: Callable[[], Any]) -> None:
        # let an OSError name the stream
        try:
            function()
        except OSError as err:
            err.filename = err.filename or STREAMS.get(
                getattr(self.stream, 'name', ''), 'an output'
            )
            raise

    def write_raw(self, text: str) -> None:
        """Write trusted `text` unchanged, such as colours."""
        self.stream.write(text)

    def flush(self) -> None:
        """Flush the stream. An OSError names it."""
        self._call_stream(self.stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def escape_streams() -> Iterator[None]:
    """Escape everything that a with block writes to stdout and stderr."""
    before = sys.stdout, sys.stderr
    # a closed stream (command >&-) is None, or a closed file
    sys.stdout, sys.stderr = (
        stream if stream is None or isinstance(stream, EscapingStream) else EscapingStream(stream)
        for stream in before
    )
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                if stream is not None:
                    stream.flush()
            except (OSError, ValueError):  # closed, or without reader: the writer has seen that
                pass
        sys.stdout, sys.stderr = before

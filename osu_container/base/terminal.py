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


REDACTED = '(left out)'
#: A name of an option or variable before its value, such as --api-token or MY_PASSWORD1. All
#: repetitions have limits, because the text is untrusted
_NAME = (
    r'[\w.-]{0,99}(?:passw|passphrase|(?<![a-z])pass(?![a-z])|(?:token|key|secrets?|credentials?)(?![a-z]))'
    r'[\w.-]{0,99}'
)
_VALUE = (
    r'(?!\(left out\))'
    r"""(?:"[^",:}\]\s][^"]*"|'[^',:}\]\s][^']*'|(?:\\[^"'\n]|[^\s"'\\])+)"""
)
#: Patterns of secrets, with the text that replaces a match: X=VALUE, --x VALUE, the user before the
#: host of a URL (RFC 3986, userinfo), tokens of GitHub, GitLab, Hugging Face, AWS and Slack, JSON web
#: tokens, HTTP authorization, private keys
_SECRETS = [
    (re.compile(pattern, re.I), replacement)
    for pattern, replacement in (
        (r'((?<![\w.-])%s=)%s' % (_NAME, _VALUE), r'\1' + REDACTED),
        (r'((?<!\S)["\']?--?%s\s+)(?!-)%s' % (_NAME, _VALUE), r'\1' + REDACTED),
        (
            r'(\b[a-z][a-z0-9+.-]{0,15}://)(?!\(left out\))[^\s/?#"\'<>]{1,999}@',
            r'\1%s@' % REDACTED,
        ),
        (
            r'\b(?:gh[pousr]_|github_pat_|glpat-|hf_|AKIA|xox[abp]-)(?=[\w-]{0,99}\d)[\w-]{8,}',
            REDACTED,
        ),
        (r'\beyJ[\w-]{8,199}\.[\w-]+(?:\.[\w-]*)?', REDACTED),
        (r'\b(bearer |authorization: *\w* )[\w.~+/=-]{8,}', r'\1' + REDACTED),
        (r'-----BEGIN [A-Z ]{0,40}KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}KEY-----|\Z)', REDACTED),
    )
]
#: A part of each text in lower case that one of _SECRETS matches. Most texts have no such part, and
#: need only this search, which is ten times faster without re.I
_HINT = re.compile(
    r'pass|token|key|secret|credential|://[^/]*@|gh[pousr]_|_pat_|glpat-|hf_|akia|xox|eyj|bearer|authorization'
)


def may_have_secret(text: str) -> bool:
    """
    Return whether `text` contains a hint of a secret, such as the word 'token'.

    If the result is False, mask_secrets() would return `text` unchanged.
    """
    return bool(_HINT.search(text.casefold()))


def mask_secrets(text: str) -> str:
    """
    Return `text`, such as a command line, with REDACTED in place of secrets.

    Secrets are users and passwords in URLs, well-known kinds of tokens and keys, and the values of
    options and variables whose names contain password, token, key or secret.
    """
    for pattern, replacement in _SECRETS if may_have_secret(text) else ():
        text = pattern.sub(replacement, text)
    return text


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
    """
    A text stream that writes text to `stream` without secrets and without control characters.

    REDACTED replaces secrets, and escape sequences such as \\x1b replace control characters.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """
        Write `text` through mask_secrets() and escape_text(), and return the length of `text`.

        Raises OSError if the stream cannot be written. The attribute `filename` of the OSError is
        then a name of the stream for messages, such as 'the standard output'.
        """
        self._call_stream(lambda: self.stream.write(escape_text(mask_secrets(text))))
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
        """Write `text` without escapes; `text` must be trusted, for example colour codes."""
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

"""
Read untrusted files: never block at a FIFO; limit the size, and the length of a line.

Works on Python 3.6 with the standard library only.
"""

import codecs
import contextlib
import errno
import importlib
import io
import json
import os
import stat
import zlib

#: Bytes that are read at most, by what is read
SIZE_LIMITS = {
    # the largest libmpi seen has 16 MB (Intel MPI), built for debugging some 100 MB
    'library': 192 << 20,
    # copied out of an image: the largest library seen has 2.5 GB (libtorch_hip)
    'copy': 4 << 30,
    # ld.so.cache: that of a full desktop has some 200 KB
    'cache': 32 << 20,
    # what unsquashfs lists of an image: 2,000,000 files with paths of 200 bytes
    'list': 512 << 20,
    # labels of an image, all of them together: those of real images have some KB, with the
    # definition file beside them
    'labels': 4 << 20,
    # JSON that a program of this project has written: the largest, of a host, has some hundred
    # thousand
    'json': 16 << 20,
    # a line of results.jsonl: the longest seen has 2 MB, a measurement with the proof of 2,048
    # ranks
    'line of results': 64 << 20,
    # outputs of programs: that of all benchmarks has some 100 KB
    'output': 32 << 20,
    'line of an output': 1 << 20,
    # what a rank leaves for a proof: some thousands
    'rank': 8 << 20,
    # sums of files, what a reference says of itself, files below /etc, settings
    'text': 1 << 20,
}
#: First bytes of what is packed -> (what of Python unpacks it, the command that does so where
#: Python cannot)
_PACKED_SIGNATURES = {
    b'\x1f\x8b': ('gzip', 'zcat'),
    b'\xfd7zXZ': ('lzma', 'xzcat'),
    b'BZh': ('bz2', 'bzcat'),
    b'\x28\xb5\x2f\xfd': ('compression.zstd', 'zstdcat'),
}
#: First bytes of what is no text -> what it is
_BINARY_SIGNATURES = {
    b'\x7fELF': "a program, a library or a core file",
    b'hsqs': "an image",
    b'#!/usr/bin/env run-singularity': "an image",
}
#: Control characters that no text has; NUL fills holes in one
_CONTROL_CHARACTERS = bytes(bytearray(range(7)) + bytearray(range(14, 27)) + b'\x7f')
#: A number with more digits is none that was counted or measured: 2 ** 64 has 20. Python needs a
#: time for them that grows with the square of their number (CVE-2020-10735)
_MOST_DIGITS = 40


class FileTooLargeError(OSError):
    """More than is read; strerror says how much there is."""

    def __init__(self, path, kind, size=None, line=None):
        """
        kind: one of MOST; size: int, bytes that there are, None where that is not known; line:
        int, or None.
        """
        where = 'it' if line is None else 'line %d' % line
        super(FileTooLargeError, self).__init__(
            errno.EFBIG,
            (
                '%s has more than %d bytes, and no more are read' % (where, SIZE_LIMITS[kind])
                if size is None
                else '%s has %d bytes, at most %d are read' % (where, size, SIZE_LIMITS[kind])
            ),
            str(path),
        )


@contextlib.contextmanager
def name_file_errors(path):
    """Let an OSError that names no file, in a with statement, name path (str)."""
    try:
        yield
    except OSError as err:
        if err.filename is None:
            err.filename = path
        raise


#: What was opened for reading since reset_inputs(), as (device, inode): no command writes onto one
#: of these
_INPUTS = set()


def reset_inputs():
    """Begin another command: it has read nothing yet."""
    _INPUTS.clear()


def is_input(path):
    """
    Return whether the file path (str), or the one that it is a link to, was opened by
    open_plain_file().
    """
    try:
        found = os.stat(path)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) in _INPUTS


def require_own_folder(folder):
    """
    Raise OSError where another user than root has made folder (str or Path) beside names of
    everybody's, as in /tmp.

    Such a link leads where that user wants, and in such a folder what is written may be exchanged
    before it is run.
    """
    folder = os.path.abspath(str(folder))
    found, above = os.lstat(folder), os.stat(os.path.dirname(folder))
    if above.st_mode & stat.S_IWOTH and found.st_uid not in (0, os.geteuid()):
        raise OSError(
            errno.EPERM,
            "another user (number %d) has made it, in a folder of everybody's" % found.st_uid,
            folder,
        )


def open_plain_file(path, is_input_file=True):
    """
    Return the file path opened for reading bytes. Raises OSError, also if it is no plain file: a
    FIFO, a device.

    note: bool, it is an input of the command, see is_input()
    """
    # without O_NONBLOCK the open of a FIFO waits for a writer; plain files do not know it
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode):
        os.close(number)
        if stat.S_ISDIR(found.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise OSError(errno.EINVAL, "it is no plain file (a FIFO, a socket or a device)", path)
    if is_input_file:
        _INPUTS.add((found.st_dev, found.st_ino))
    return io.open(number, 'rb')


def read_plain_file(path, kind='library', whole=True):
    """
    Return the content (bytes) of the plain file path.

    :param kind: str, one of MOST; whole: bool, False: of a file that has more its beginning will do
    Raises OSError, TooLarge.
    """
    with open_plain_file(path) as handle, name_file_errors(path):
        size = os.fstat(handle.fileno()).st_size
        if whole and size > SIZE_LIMITS[kind]:
            raise FileTooLargeError(path, kind, size)
        data = handle.read(min(size, SIZE_LIMITS[kind]) + 1)
        if len(data) > size:  # it grows, or is one of /proc, which says 0
            data += handle.read(max(0, SIZE_LIMITS[kind] + 1 - len(data)))
        if whole and len(data) > SIZE_LIMITS[kind]:
            raise FileTooLargeError(path, kind)
        return data[: SIZE_LIMITS[kind]]


def read_text(path, kind='text', whole=False):
    """
    Return the text (str) of the plain file path, '' where it cannot be read. Parameters as of
    read_plain_file().
    """
    try:
        return read_plain_file(path, kind, whole).decode('utf-8', 'replace')
    except OSError:
        return ''


class _UnpackedStream(object):
    """
    A binary file that is read through a decoder; what is not whole is an OSError, as with any
    other file.
    """

    def __init__(self, handle):
        self.handle = handle

    def read(self, size):
        """Return the next bytes, about size of them, b'' at the end. Raises OSError."""
        try:
            return self.handle.read(size)
        except Exception as err:  # of five libraries, each with a class of its own
            if isinstance(err, (EOFError, zlib.error)) or type(err).__name__ in (
                'LZMAError',
                'ZstdError',
            ):
                raise OSError(errno.EIO, "what is packed in it is not whole: %s" % err)
            raise


def unpack_stream(handle):
    """
    Return a binary file (object with read()) with the text of handle, one too: what is packed in
    it, UTF-16 as UTF-8.

    It is handle itself where nothing has to be changed. Raises ValueError for what is known to be
    no text, and for what this Python cannot unpack, with the command that can.
    """
    if hasattr(handle, 'peek'):
        begin = handle.peek(40)
    elif handle.seekable():
        begin = handle.read(40)
        handle.seek(0)
    else:
        return handle
    for first, what in _BINARY_SIGNATURES.items():
        if begin.startswith(first):
            raise ValueError(
                "it is %s, no text: name the file to which the job or program wrote" % what
            )
    for first, (module, command) in _PACKED_SIGNATURES.items():
        if begin.startswith(first):
            try:
                return _UnpackedStream(importlib.import_module(module).open(handle))
            except ImportError:
                raise ValueError(
                    "it is packed in a way that this Python does not read: %s FILE > FILE.txt"
                    % command
                )
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _UnpackedStream(codecs.EncodedFile(handle, 'utf-8', 'utf-16', 'replace'))
    return handle


def decode_text(data):
    """Return the text (str) in data (bytes) of whatever program or system wrote it."""
    data = data.replace(b'\0', b'')  # holes, which a node leaves that was lost
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError:
        return data.decode('latin-1')


def measure_junk(data):
    """
    Return how far data (bytes) is from being text (int): above 0 more than 1 of 20 bytes is an
    order.
    """
    whole = len(data) - data.count(b'\0')
    return 20 * (whole - len(data.translate(None, _CONTROL_CHARACTERS))) - whole


def read_lines(path, kind, total_kind=None):
    """
    Yield (number from 1, line (bytes) with its end) of the plain file path; none is kept.

    :param kind: str, one of MOST, of a line; most: str, one of MOST, of all lines, or None
    Raises OSError, TooLarge.
    """
    with open_plain_file(path) as handle, name_file_errors(path):
        size = 0
        for number, row in enumerate(iter(lambda: handle.readline(SIZE_LIMITS[kind] + 1), b''), 1):
            size += len(row)
            if len(row) > SIZE_LIMITS[kind]:
                raise FileTooLargeError(path, kind, line=number)
            if total_kind and size > SIZE_LIMITS[total_kind]:
                raise FileTooLargeError(path, total_kind)
            yield number, row


def _parse_integer(text):
    """Return the int in text (str, digits). Raises ValueError if it has far too many."""
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number of %d digits, at most %d are read" % (len(text), _MOST_DIGITS))
    return int(text)


def _reject_constant(text):
    """Refuse NaN and Infinity, which are no JSON but which Python's reader takes."""
    raise ValueError("%s is no number" % text)


def parse_json(text, object_pairs_hook=None):
    """
    Return what a JSON text (str, or bytes in UTF-8) holds.

    pairs: function of the pairs of an object, as of json.loads(). Raises ValueError alone, whatever
    is wrong with it.
    """
    try:
        text = text.decode('utf-8') if isinstance(text, bytes) else text
        return json.loads(
            text,
            parse_int=_parse_integer,
            parse_constant=_reject_constant,
            object_pairs_hook=object_pairs_hook,
        )
    except RecursionError:
        raise ValueError("it is nested too deep")


def read_json(path, kind='json'):
    """
    Return what the plain file path holds in JSON; kind as of read_plain_file(). Raises OSError,
    ValueError.
    """
    return parse_json(read_plain_file(path, kind))

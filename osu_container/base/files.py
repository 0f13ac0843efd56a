"""
Read untrusted files without blocking on a FIFO, and limit the size of files and lines.

This module uses only the standard library of Python 3.6.
"""

import codecs
import contextlib
import csv
import errno
import importlib
import io
import json
import os
import stat
import zlib
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple, Union

from osu_container.base.trust import may_others_write

AnyPath = Union[str, 'os.PathLike[str]']


def read_table(module: str, name: str) -> List[Dict[str, str]]:
    """
    Return the rows of a CSV file of this project as dicts, with the column names as keys.

    module: __file__ of a module in the folder of the CSV file. name: name of the CSV file.
    """
    path = os.path.join(os.path.dirname(os.path.realpath(module)), name)
    with open(path, newline='', encoding='utf-8') as stream:
        return list(csv.DictReader(stream))


#: Maximum number of bytes to read from a file or line, by kind of content
SIZE_LIMITS = {
    # A library. The largest known libmpi (Intel MPI) has 16 MB, a debug build some 100 MB.
    'library': 192 << 20,
    # A file that is copied from an image. The largest known library (libtorch_hip) has 2.5 GB.
    'copy': 4 << 30,
    # ld.so.cache. This cache has about 200 KB on a desktop with many packages.
    'cache': 32 << 20,
    # The list of files that unsquashfs prints: 2,000,000 files with paths of 200 bytes
    'list': 512 << 20,
    # All labels of an image together. In real images the labels, which contain the definition
    # file, have a few KB.
    'labels': 4 << 20,
    # A JSON file that a program of this project has written. The largest such file describes a
    # host and has some 100 KB.
    'json': 16 << 20,
    # A line of results.jsonl. The longest known line contains the proof of 2,048 ranks, 2 MB.
    'line of results': 64 << 20,
    # The output of a program. The output of all benchmarks together has some 100 KB.
    'output': 32 << 20,
    'line of an output': 1 << 20,
    # The proof file of a rank, which has a few KB
    'rank': 8 << 20,
    # Any other text: checksums, descriptions of references, files below /etc, settings
    'text': 1 << 20,
}
#: First bytes of a compressed file -> (Python module that can decompress the file, command that a
#: user can run if this Python lacks the module)
_PACKED_SIGNATURES = {
    b'\x1f\x8b': ('gzip', 'zcat'),
    b'\xfd7zXZ': ('lzma', 'xzcat'),
    b'BZh': ('bz2', 'bzcat'),
    b'\x28\xb5\x2f\xfd': ('compression.zstd', 'zstdcat'),
}
#: First bytes of a binary file -> kind of file
_BINARY_SIGNATURES = {
    b'\x7fELF': "a program, a library or a core file",
    b'hsqs': "an image",
    b'#!/usr/bin/env run-singularity': "an image",
}
#: Control characters that a text file never contains. NUL is not included, because the file system
#: fills holes in a file with NUL
_CONTROL_CHARACTERS = bytes(bytearray(range(7)) + bytearray(range(14, 27)) + b'\x7f')
#: Maximum number of digits of an integer in JSON. The largest expected integer, 2 ** 64, has 20
#: digits. The time that Python needs to parse an integer grows with the square of the number of
#: digits (CVE-2020-10735)
_MAX_DIGITS = 40


class FileTooLargeError(OSError):
    """A file exceeds the size limit. The attribute strerror contains the size and the limit."""

    def __init__(
        self,
        path: AnyPath,
        kind: str,
        size: Optional[int] = None,
        line: Optional[int] = None,
    ) -> None:
        """
        Create the error for the file `path`.

        kind: key of SIZE_LIMITS. size: size of the file in bytes, None if unknown. line: number of
        the line that is too long, None if the whole file is too large.
        """
        where = 'the file' if line is None else f'line {line}'
        limit = SIZE_LIMITS[kind]
        super().__init__(
            errno.EFBIG,
            (
                f'{where} is larger than the limit of {limit} bytes'
                if size is None
                else f'{where} has {size} bytes, more than the limit of {limit}'
            ),
            str(path),
        )


@contextlib.contextmanager
def name_file_errors(path: AnyPath) -> Iterator[None]:
    """During a with block, add the file name `path` to each OSError that has no file name."""
    try:
        yield
    except OSError as err:
        if err.filename is None:
            err.filename = path
        raise


#: (device, inode) of the input files that the current command has opened. A command refuses to
#: overwrite its input files
_INPUTS: Set[Tuple[int, int]] = set()


def reset_inputs() -> None:
    """Clear the list of input files, so that the next command of this process may replace the files."""
    _INPUTS.clear()


def is_input(path: str) -> bool:
    """
    Return whether open_plain_file() has opened the file `path` as an input.

    If `path` is a link, the function checks the target of the link.
    """
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) in _INPUTS


def require_own_folder(folder: Union[str, 'os.PathLike[str]']) -> None:
    """
    Raise OSError if another user owns `folder` and can replace scripts in `folder`.

    The function accepts `folder` if the current user or root owns `folder`, or if only the owner of
    the parent folder may write to the parent folder. In a parent folder such as /tmp, to which
    several users may write, the owner of `folder` could replace a script before this project runs
    the script. If `folder` is a link, the owner of the link could change the target.
    """
    folder = os.path.abspath(str(folder))
    status, parent = os.lstat(folder), os.stat(os.path.dirname(folder))
    if may_others_write(parent) and status.st_uid not in (0, os.geteuid()):
        raise OSError(
            errno.EPERM,
            "another user owns the folder, and several users may write to the parent folder. "
            f"Choose a folder that belongs to you (UID of the owner: {status.st_uid})",
            folder,
        )


def open_plain_file(path: AnyPath, is_input_file: bool = True) -> io.BufferedReader:
    """
    Open the plain file `path` and return the binary file object for reading.

    is_input_file: whether to register the file as an input of the command, see is_input(). Raises
    OSError if `path` cannot be opened or is not a plain file, but a FIFO, a device or a folder.
    """
    # Without O_NONBLOCK, to open a FIFO blocks until another process writes to the FIFO. For a
    # plain file this flag has no effect.
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode):
        os.close(number)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise OSError(
            errno.EINVAL, "the file is a FIFO, a socket or a device. Use a plain file", path
        )
    if is_input_file:
        _INPUTS.add((status.st_dev, status.st_ino))
    return io.open(number, 'rb')


def read_plain_file(path: AnyPath, kind: str = 'library', whole: bool = True) -> bytes:
    """
    Return the content of the plain file `path`.

    kind: key of SIZE_LIMITS, which selects the size limit. whole: whether to raise
    FileTooLargeError if the file exceeds the size limit; otherwise the function returns the
    beginning of the file, as many bytes as the size limit. Raises OSError if the file cannot be
    read.
    """
    with open_plain_file(path) as handle, name_file_errors(path):
        size = os.fstat(handle.fileno()).st_size
        if whole and size > SIZE_LIMITS[kind]:
            raise FileTooLargeError(path, kind, size)
        data = handle.read(min(size, SIZE_LIMITS[kind]) + 1)
        if len(data) > size:  # The file grows, or is in /proc, where all files have the size 0.
            data += handle.read(max(0, SIZE_LIMITS[kind] + 1 - len(data)))
        if whole and len(data) > SIZE_LIMITS[kind]:
            raise FileTooLargeError(path, kind)
        return data[: SIZE_LIMITS[kind]]


def read_text(path: str, kind: str = 'text', whole: bool = False) -> str:
    """
    Return the text of the plain file `path`, or '' if the file cannot be read.

    The arguments `kind` and `whole` are those of read_plain_file(). U+FFFD replaces bytes that are
    not valid UTF-8.
    """
    try:
        return read_plain_file(path, kind, whole).decode('utf-8', 'replace')
    except OSError:
        return ''


class _UnpackedStream:
    """
    A binary file object with the output of a decompressor.

    read() raises OSError if the compressed data is truncated.
    """

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def read(self, size: int) -> bytes:
        try:
            return self.handle.read(size)
        except Exception as err:  # The decompressors raise exceptions without a common base class.
            if isinstance(err, (EOFError, zlib.error)) or type(err).__name__ in (
                'LZMAError',
                'ZstdError',
            ):
                raise OSError(errno.EIO, f"the compressed data is truncated: {err}")
            raise


def unpack_stream(handle: Any) -> Any:
    """
    Return a binary file object with the text of `handle`, decompressed and in UTF-8.

    The function detects gzip, xz, bzip2, zstd and UTF-16. If the text is neither compressed nor in
    UTF-16, the result is `handle`. Raises ValueError if the file is binary, or if this Python
    cannot decompress the file. In the second case the message contains the command that
    decompresses the file.
    """
    if hasattr(handle, 'peek'):
        begin = handle.peek(40)
    elif handle.seekable():
        begin = handle.read(40)
        handle.seek(0)
    else:
        return handle
    for signature, description in _BINARY_SIGNATURES.items():
        if begin.startswith(signature):
            raise ValueError(
                f"a text file is needed, but the file is {description}. Give the path of the "
                "text file that contains the output of the job or program"
            )
    for signature, (module, command) in _PACKED_SIGNATURES.items():
        if begin.startswith(signature):
            try:
                return _UnpackedStream(importlib.import_module(module).open(handle))
            except ImportError:
                raise ValueError(
                    "this Python cannot decompress the file. To decompress the file, run: "
                    f"{command} FILE > FILE.txt"
                )
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _UnpackedStream(codecs.EncodedFile(handle, 'utf-8', 'utf-16', 'replace'))
    return handle


def decode_text(data: bytes) -> str:
    """Decode `data` as UTF-8, or as Latin-1 if `data` is not valid UTF-8."""
    # A compute node that fails while it writes can leave holes in the file.
    data = data.replace(b'\0', b'')
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError:
        return data.decode('latin-1')


def measure_junk(data: bytes) -> int:
    """
    Return 20 times the number of control characters in `data`, minus the number of bytes.

    The result is positive if more than 5 % of the bytes are control characters. NUL bytes count
    neither as bytes nor as control characters.
    """
    size = len(data) - data.count(b'\0')
    return 20 * (size - len(data.translate(None, _CONTROL_CHARACTERS))) - size


def read_lines(
    path: AnyPath, kind: str, total_kind: Optional[str] = None
) -> Iterator[Tuple[int, bytes]]:
    """
    Yield (line number, line) for each line of the plain file `path`.

    The first line has the number 1. Each line includes the line end. kind: key of SIZE_LIMITS for
    the size limit of one line. total_kind: key of SIZE_LIMITS for the size limit of the whole file.
    Raises OSError if the file cannot be read. Raises FileTooLargeError if a line or the file
    exceeds a limit.
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


def _parse_integer(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number has {len(text)} digits, more than the limit of {_MAX_DIGITS}")
    return int(text)


def _reject_constant(text: str) -> None:
    # Python's parser accepts NaN and Infinity, but the JSON standard does not.
    raise ValueError(f"{text} is not a valid number in JSON")


def parse_json(
    text: Union[str, bytes],
    object_pairs_hook: Optional[Callable[[List[Tuple[str, Any]]], Any]] = None,
) -> Any:
    """
    Parse a JSON text and return the value.

    A text of type bytes must be in UTF-8. object_pairs_hook: see json.loads(). Raises ValueError
    for every kind of invalid text, and raises no other exception.
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
        raise ValueError("the values in the JSON text are nested too deeply")


def read_json(path: AnyPath, kind: str = 'json') -> Any:
    """
    Parse the JSON file `path` and return the value.

    kind: key of SIZE_LIMITS, which selects the size limit. Raises OSError if the file cannot be
    read or is larger than the limit, and ValueError if the content is not valid JSON.
    """
    return parse_json(read_plain_file(path, kind))

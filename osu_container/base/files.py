"""
Read untrusted files: never block on a FIFO, and limit the size of a file and of a line.

Python 3.6 and its standard library only.
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
from typing import Any, Callable, Iterator, List, Optional, Set, Tuple, Union

AnyPath = Union[str, 'os.PathLike[str]']

#: Maximum number of bytes to read, by kind of content
SIZE_LIMITS = {
    # the largest libmpi seen has 16 MB (Intel MPI), built for debugging some 100 MB
    'library': 192 << 20,
    # a file copied from an image: the largest library seen has 2.5 GB (libtorch_hip)
    'copy': 4 << 30,
    # ld.so.cache: about 200 KB on a full desktop
    'cache': 32 << 20,
    # the list of files that unsquashfs prints: 2,000,000 files with paths of 200 bytes
    'list': 512 << 20,
    # all labels of an image together: a few KB in real images, with the definition file
    'labels': 4 << 20,
    # JSON that a program of this project has written: at most some 100 KB, for a host
    'json': 16 << 20,
    # a line of results.jsonl: the longest seen has 2 MB, with the proof of 2,048 ranks
    'line of results': 64 << 20,
    # the output of a program: some 100 KB for all benchmarks
    'output': 32 << 20,
    'line of an output': 1 << 20,
    # the proof file of a rank: some KB
    'rank': 8 << 20,
    # checksums, descriptions of references, files below /etc, settings
    'text': 1 << 20,
}
#: First bytes of a compressed file -> (Python module that decompresses it, command that does so
#: where the module is missing)
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
#: Control characters that no text contains, except NUL, which fills holes in a file
_CONTROL_CHARACTERS = bytes(bytearray(range(7)) + bytearray(range(14, 27)) + b'\x7f')
#: Maximum number of digits of an integer in JSON: 2 ** 64 has 20. Python's time to parse digits
#: grows with the square of their number (CVE-2020-10735)
_MOST_DIGITS = 40


class FileTooLargeError(OSError):
    """A file exceeds its limit; strerror names the size and the limit."""

    def __init__(
        self,
        path: AnyPath,
        kind: str,
        size: Optional[int] = None,
        line: Optional[int] = None,
    ) -> None:
        """
        Describe the file `path`.

        kind: key of SIZE_LIMITS; size: bytes, None if unknown; line: number of the line that is too
        long.
        """
        where = 'the file' if line is None else f'line {line}'
        limit = SIZE_LIMITS[kind]
        super().__init__(
            errno.EFBIG,
            (
                f'{where} has more than {limit} bytes, the limit'
                if size is None
                else f'{where} has {size} bytes, the limit is {limit}'
            ),
            str(path),
        )


@contextlib.contextmanager
def name_file_errors(path: AnyPath) -> Iterator[None]:
    """Add `path` to an OSError of the with block that names no file."""
    try:
        yield
    except OSError as err:
        if err.filename is None:
            err.filename = path
        raise


#: (device, inode) of files opened since reset_inputs(): no command overwrites its inputs
_INPUTS: Set[Tuple[int, int]] = set()


def reset_inputs() -> None:
    """Forget the input files of the previous command."""
    _INPUTS.clear()


def is_input(path: str) -> bool:
    """Return whether open_plain_file() has opened `path` or the target of this link."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) in _INPUTS


def require_own_folder(folder: Union[str, 'os.PathLike[str]']) -> None:
    """
    Raise OSError if another user than root owns `folder` in a shared folder such as /tmp.

    Such a link leads where its owner wants, and in such a folder its owner may exchange a file
    before it is run.
    """
    folder = os.path.abspath(str(folder))
    status, parent = os.lstat(folder), os.stat(os.path.dirname(folder))
    if parent.st_mode & stat.S_IWOTH and status.st_uid not in (0, os.geteuid()):
        raise OSError(
            errno.EPERM,
            f"another user (number {status.st_uid}) owns it, in a folder that everybody may write to",
            folder,
        )


def open_plain_file(path: AnyPath, is_input_file: bool = True) -> io.BufferedReader:
    """
    Return the plain file `path`, opened for reading bytes.

    is_input_file: it is an input of the command, see is_input(). Raises OSError, also for a FIFO or
    a device.
    """
    # without O_NONBLOCK, opening a FIFO waits for a writer; plain files ignore the flag
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    status = os.fstat(number)
    if not stat.S_ISREG(status.st_mode):
        os.close(number)
        if stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise OSError(errno.EINVAL, "not a plain file (a FIFO, a socket or a device)", path)
    if is_input_file:
        _INPUTS.add((status.st_dev, status.st_ino))
    return io.open(number, 'rb')


def read_plain_file(path: AnyPath, kind: str = 'library', whole: bool = True) -> bytes:
    """
    Return the content of the plain file `path`.

    kind: key of SIZE_LIMITS; whole: False to return the beginning of a file that is too large.
    Raises OSError, FileTooLargeError.
    """
    with open_plain_file(path) as handle, name_file_errors(path):
        size = os.fstat(handle.fileno()).st_size
        if whole and size > SIZE_LIMITS[kind]:
            raise FileTooLargeError(path, kind, size)
        data = handle.read(min(size, SIZE_LIMITS[kind]) + 1)
        if len(data) > size:  # it grows, or is a file of /proc, whose size is 0
            data += handle.read(max(0, SIZE_LIMITS[kind] + 1 - len(data)))
        if whole and len(data) > SIZE_LIMITS[kind]:
            raise FileTooLargeError(path, kind)
        return data[: SIZE_LIMITS[kind]]


def read_text(path: str, kind: str = 'text', whole: bool = False) -> str:
    """Return the text of a plain file, '' if it cannot be read; see read_plain_file()."""
    try:
        return read_plain_file(path, kind, whole).decode('utf-8', 'replace')
    except OSError:
        return ''


class _UnpackedStream:
    """A binary file read through a decompressor; truncated data raises OSError."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def read(self, size: int) -> bytes:
        try:
            return self.handle.read(size)
        except Exception as err:  # five libraries raise five unrelated classes
            if isinstance(err, (EOFError, zlib.error)) or type(err).__name__ in (
                'LZMAError',
                'ZstdError',
            ):
                raise OSError(errno.EIO, f"the compressed data is truncated: {err}")
            raise


def unpack_stream(handle: Any) -> Any:
    """
    Return a binary file with the text of `handle`: decompressed, and UTF-16 as UTF-8.

    Returns `handle` if nothing has to be changed. Raises ValueError for a file that is no text, and
    for one that this Python cannot decompress, with the command that can.
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
                f"it is {description}, not text. Name the file with the output of the job or program"
            )
    for signature, (module, command) in _PACKED_SIGNATURES.items():
        if begin.startswith(signature):
            try:
                return _UnpackedStream(importlib.import_module(module).open(handle))
            except ImportError:
                raise ValueError(
                    f"this Python cannot decompress it. Decompress it: {command} FILE > FILE.txt"
                )
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _UnpackedStream(codecs.EncodedFile(handle, 'utf-8', 'utf-16', 'replace'))
    return handle


def decode_text(data: bytes) -> str:
    """Return the text in `data`, in UTF-8 or else Latin-1."""
    data = data.replace(b'\0', b'')  # holes in the file, which a lost node leaves
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError:
        return data.decode('latin-1')


def measure_junk(data: bytes) -> int:
    """Return a number above 0 if more than 1 of 20 bytes is a control character."""
    size = len(data) - data.count(b'\0')
    return 20 * (size - len(data.translate(None, _CONTROL_CHARACTERS))) - size


def read_lines(
    path: AnyPath, kind: str, total_kind: Optional[str] = None
) -> Iterator[Tuple[int, bytes]]:
    """
    Yield (number from 1, line with its end) of the plain file `path`.

    kind, total_kind: keys of SIZE_LIMITS, for a line and for all lines together. Raises OSError,
    FileTooLargeError.
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
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(text)} digits, the limit is {_MOST_DIGITS}")
    return int(text)


def _reject_constant(text: str) -> None:
    # Python's parser accepts NaN and Infinity, which JSON does not have
    raise ValueError(f"{text} is not a number")


def parse_json(
    text: Union[str, bytes],
    object_pairs_hook: Optional[Callable[[List[Tuple[str, Any]]], Any]] = None,
) -> Any:
    """
    Return the value of a JSON text (bytes in UTF-8); object_pairs_hook as in json.loads().

    Raises only ValueError, whatever is wrong with the text.
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
        raise ValueError("the JSON is nested too deeply")


def read_json(path: AnyPath, kind: str = 'json') -> Any:
    """
    Return the value in the JSON file `path`; kind: key of SIZE_LIMITS.

    Raises OSError, ValueError.
    """
    return parse_json(read_plain_file(path, kind))

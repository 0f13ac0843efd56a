"""
Files of others, opened so that none of them can stop the reader: no wait at a FIFO, no end of the memory.

Works on Python 3.6 with the standard library only.
"""
import errno
import json
import os
import stat

#: So many bytes of one file are taken into memory. The largest libmpi seen has 16 MB (Intel MPI), built for debugging
#: some 100 MB.
MOST = 192 << 20
#: A number with more digits is none that was counted or measured: 2 ** 64 has 20. Python needs a time for them that
#: grows with the square of their number (CVE-2020-10735)
_MOST_DIGITS = 40
#: Bytes of a JSON file that a program of this project has written; the largest, of a host, have some hundred thousand
MOST_JSON = 16 << 20


def open_plain(path):
    """Return the file path opened for reading bytes. Raises OSError, also if it is no plain file: a FIFO, a device."""
    # without O_NONBLOCK the open of a FIFO waits for a writer; plain files do not know it
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        if os.path.isdir(path):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        raise OSError(errno.EINVAL, "it is no plain file (a FIFO, a socket or a device)", path)
    return os.fdopen(number, 'rb')


def not_replaced(path):
    """
    Return why no new file may take the place of path (str), None where one may.

    Root can give any name to a file: `-o /dev/null --force` would leave a machine without that device.
    """
    # of /dev/stdout, a link, what it leads to may be a plain file
    of_system = os.path.islink(path) and os.path.realpath(os.path.dirname(os.path.abspath(path))) == '/dev'
    try:
        if stat.S_ISREG(os.stat(path).st_mode) and not of_system:
            return None
    except OSError:  # it is not there, or a link that leads nowhere
        if not of_system:
            return None
    return "it is no plain file (a device, a FIFO, a socket or a folder), and no file takes its place"


def read_plain(path, most=MOST):
    """Return the content (bytes) of the plain file path. Raises OSError, also if it has more than most bytes (int)."""
    with open_plain(path) as handle:
        size = os.fstat(handle.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, "it has %d bytes, at most %d are read" % (size, most), path)
        return handle.read(most)


def _whole(text):
    """Return the int in text (str, digits). Raises ValueError if it has far too many."""
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number of %d digits, at most %d are read" % (len(text), _MOST_DIGITS))
    return int(text)


def _no_constant(text):
    """Refuse NaN and Infinity, which are no JSON but which Python's reader takes."""
    raise ValueError("%s is no number" % text)


def parse_json(text, pairs=None):
    """
    Return what a JSON text (str, or bytes in UTF-8) holds.

    pairs: function of the pairs of an object, as of json.loads(). Raises ValueError alone, whatever is wrong with it.
    """
    try:
        text = text.decode('utf-8') if isinstance(text, bytes) else text
        return json.loads(text, parse_int=_whole, parse_constant=_no_constant, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError("it is nested too deep")


def read_json(path, most=MOST_JSON):
    """Return what the plain file path, of at most so many bytes (int), holds in JSON. Raises OSError, ValueError."""
    return parse_json(read_plain(path, most))

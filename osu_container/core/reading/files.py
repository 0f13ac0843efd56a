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

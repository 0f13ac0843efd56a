"""
Which MPI or libfabric a library file is, read from the file itself, its build id and its sha256.
Nothing is loaded or run.

The release is not guessed: where the file does not say it in one of the ways below, the answer is
None. A path such as /opt/mpich/4.2.3 says nothing (links and copies keep old names), and "the only
thing in the file that looks like a release" is wrong for Intel MPI, whose libmpi holds the 1.2.13
of the zlib in it.

Works on Python 3.6 with the standard library only, without binutils: it also runs on compute nodes.
"""

import mmap
import re
import struct
from collections import namedtuple

from osu_container.base.files import open_plain_file

#: family: str ('MPICH', 'Cray MPICH', 'Open MPI', 'Intel MPI', 'libfabric') or None if the file is
#: none of them; release: str, e.g. '4.2.3', or None if the file does not say it
LibraryVersion = namedtuple('LibraryVersion', 'family release')

#: ELF machine numbers (elf.h)
EM_X86_64, EM_AARCH64 = 62, 183

# MPICH keeps what MPI_Get_library_version() prints as strings one behind the other
# (src/mpi/init/initinfo.c): release, date, ABI, ... Compilers store them in this order or in the
# opposite one. Seen so: the wheels of 3.4.3, 4.2.3 and 5.0.2, and Debian's 4.0.2, all with the
# release last.
_DATE = rb'[A-Z][a-z]{2} [A-Z][a-z]{2} [^\0]{8,40}\d{4}'
_ABI = rb'\d+:\d+:\d+'
_RELEASE = rb'\d+\.\d+[0-9A-Za-z.+-]{0,20}'
_MPICH = [
    re.compile(rb'\0' + _ABI + rb'\0+' + _DATE + rb'\0+(' + _RELEASE + rb')\0'),
    re.compile(rb'\0(' + _RELEASE + rb')\0+' + _DATE + rb'\0+' + _ABI + rb'\0'),
]
_PLAIN_RELEASE = re.compile(rb'\0([1-9]\d*\.\d+\.\d+(?:rc\d+|a\d+|b\d+)?)(?=\0)')
_CRAY = re.compile(rb'CRAY MPICH version (\d[\d.]*\d)')
_INTEL_RELEASE = re.compile(rb'\0(20\d\d\.\d+(?:\.\d+)?)(?=\0)')


class ElfSections(object):
    """
    The parts of a 64-bit little-endian ELF file that are needed here: sections and exported
    functions.
    """

    def __init__(self, data):
        """
        data: bytes-like, the whole file. Raises ValueError if it is something else or is cut
        off.
        """
        self.data = data
        try:
            if data[:6] != b'\x7fELF\x02\x01':
                raise ValueError("not a 64-bit little-endian ELF file")
            (self.machine,) = struct.unpack_from('<H', data, 18)
            (offset,) = struct.unpack_from('<Q', data, 40)
            size, count, names = struct.unpack_from('<HHH', data, 58)
            headers = [
                struct.unpack_from('<IIQQQQIIQQ', data, offset + size * n) for n in range(count)
            ]
            self.headers = headers
            start = headers[names][4] if headers else 0
            self.names = [self._read_string(start + header[0]) for header in headers]
        except (struct.error, IndexError, OverflowError):
            raise ValueError("cut off or damaged ELF file: its table of sections is not all there")

    def _read_string(self, offset):
        """
        Return the bytes of the zero-ended string at offset, b'' if it has more than a name of a
        section has.
        """
        return self.data[offset : max(offset, self.data.find(b'\0', offset, offset + 256))]

    def read_section(self, name):
        """Return the contents (bytes) of the section name (bytes), b'' if there is none."""
        for found, header in zip(self.names, self.headers):
            if found == name and header[1] != 8:  # SHT_NOBITS takes no room in the file
                if header[4] + header[5] > len(self.data):
                    raise ValueError(
                        "cut off or damaged ELF file (section %r ends behind the file)" % found
                    )
                return self.data[header[4] : header[4] + header[5]]
        return b''

    def read_strings(self):
        """
        Return the bytes that hold its texts: .rodata, or the whole file where it has no table of
        sections.
        """
        return self.read_section(b'.rodata') if self.headers else self.data[:]

    def read_code(self, function, length):
        """
        Return the first length bytes of an exported function (bytes: its name), None if it is
        not exported.
        """
        symbols, strings = self.read_section(b'.dynsym'), self.read_section(b'.dynstr')
        symbols = symbols[: len(symbols) // 24 * 24]  # a damaged one may end in a part
        for name, _, _, section, value, _ in struct.iter_unpack('<IBBHQQ', symbols):
            if section and strings.startswith(function + b'\0', name):
                for header in self.headers:
                    if (
                        header[1] == 1 and header[3] <= value < header[3] + header[5]
                    ):  # SHT_PROGBITS
                        start = header[4] + value - header[3]
                        return self.data[start : start + length]
        return None

    def read_build_id(self):
        """
        Return the build id (str of hexadecimal digits), None if the file has none, as the MPICH
        wheels.
        """
        note = self.read_section(b'.note.gnu.build-id')
        if len(note) < 16:
            return None
        name_size, size = struct.unpack_from('<II', note)
        start = 12 + (name_size + 3) // 4 * 4
        return ''.join('%02x' % byte for byte in bytearray(note[start : start + size]))


def read_libfabric_version(elf):
    """
    Return (major, minor) that fi_version() of a libfabric (Elf) returns, None if its code has
    another form.

    fi_version() returns FI_VERSION(major, minor) = major << 16 | minor, so its code is one constant
    and a return.
    """
    code = elf.read_code(b'fi_version', 16)
    if code is None or len(code) < 16:
        return None
    if elf.machine == EM_X86_64:
        # [endbr64] [push %rbp; mov %rsp,%rbp] mov $number,%eax [pop %rbp] ret
        found = re.match(
            rb'(?:\xf3\x0f\x1e\xfa)?(?:\x55\x48\x89\xe5)?\xb8(.{4})\x5d?\xc3', code, re.S
        )
        number = struct.unpack('<I', found.group(1))[0] if found else None
    elif elf.machine == EM_AARCH64:
        number = _parse_aarch64_constant(struct.unpack('<4I', code))
    else:
        number = None
    return (number >> 16, number & 0xFFFF) if number else None


def _parse_aarch64_constant(words):
    """
    Return the number that `[bti c]; mov w0, #low; movk w0, #high, lsl #16; ret` returns, None
    for other code.
    """
    words = words[1:] if words[0] == 0xD503245F else words
    if (
        words[0] & 0xFFE0001F == 0x52800000
        and words[1] & 0xFFE0001F == 0x72A00000
        and words[2] == 0xD65F03C0
    ):
        return (words[1] >> 5 & 0xFFFF) << 16 | (words[0] >> 5 & 0xFFFF)
    return None


def _select_single(found):
    """
    Return the one value in found (iterable of bytes) as str, None if there is none or more than
    one.
    """
    found = set(found)
    return found.pop().decode('ascii') if len(found) == 1 else None


def _find_libfabric_release(elf, number):
    """
    Return the release (str) of a libfabric whose fi_version() is number, None if its strings do
    not settle it.
    """
    # Cray's releases have four parts (1.15.2.0). fi_version() tells them from addresses such as
    # 127.0.0.1.
    pattern = re.compile(rb'\0(%d\.%d\.\d+(?:\.\d+)?(?:rc\d+|a\d+|b\d+)?)(?=\0)' % number)
    return _select_single(pattern.findall(elf.read_strings()))


def identify_library(data):
    """
    Return the LibraryVersion of a library (data: its contents as bytes or mmap).

    Raises ValueError if it is no ELF file.
    """
    elf = ElfSections(data)
    number = read_libfabric_version(elf)
    if number:
        return LibraryVersion('libfabric', _find_libfabric_release(elf, number))
    text = elf.read_strings()
    if b'CRAY MPICH' in text:
        return LibraryVersion('Cray MPICH', _select_single(_CRAY.findall(text)))
    if b'Intel(R) MPI Library %s for Linux' in text:
        return LibraryVersion('Intel MPI', _select_single(_INTEL_RELEASE.findall(text)))
    if b'Open MPI v%d.%d.%d' in text or b'Open MPI v%s' in text:
        return LibraryVersion('Open MPI', _select_single(_PLAIN_RELEASE.findall(text)))
    if b'MPICH Version:' in text:
        return LibraryVersion(
            'MPICH', _select_single(m for pattern in _MPICH for m in pattern.findall(text))
        )
    return LibraryVersion(None, None)


def read_library(path):
    """
    Return (LibraryVersion, build id as str or None) of the file path.

    Raises OSError if it cannot be read, ValueError if it is no ELF file.
    """
    with open_plain_file(path) as handle:
        try:
            data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise ValueError("%s is empty" % path)
        try:
            return identify_library(data), ElfSections(data).read_build_id()
        finally:
            data.close()


def compute_sha256(path):
    """Return the sha256 (str, 64 hex digits) of the file path. Raises OSError."""
    import hashlib  # brings OpenSSL, whose start the sampler of a rank can do without (osu_container/proof)

    digest = hashlib.sha256()
    with open_plain_file(path) as handle:
        for block in iter(lambda: handle.read(1 << 20), b''):
            digest.update(block)
    return digest.hexdigest()

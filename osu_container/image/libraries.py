"""
Identify the family, release and build id of an MPI or libfabric library from its file.

This module does not load or execute the library. The module reports a release only if the file of
the library contains the release in a form that the module knows. The path of a library does not
prove the release: a path such as /opt/mpich/4.2.3 may be the old name of a link or a copy. Other
numbers in the file do not prove the release: libmpi of Intel MPI contains 1.2.13, the release of
zlib.

This module uses only the standard library of Python 3.6, and no binutils, because installed modules
also use this module on compute nodes.
"""

import mmap
import re
import struct
from typing import Any, Iterable, List, NamedTuple, Optional, Tuple

from osu_container.base.files import AnyPath, open_plain_file


class LibraryVersion(NamedTuple):
    """The family of a library, such as MPICH, and the release of the library."""

    #: 'MPICH', 'Cray MPICH', 'Open MPI', 'Intel MPI', 'libfabric', or None for another library
    family: Optional[str]
    #: release such as '4.2.3', None if unknown
    release: Optional[str]


#: ELF machine numbers (elf.h)
EM_X86_64, EM_AARCH64 = 62, 183

# The file of MPICH contains the parts of the result of MPI_Get_library_version() as adjacent
# strings: release, date, ABI, ... (src/mpi/init/initinfo.c). Some compilers reverse this order. In
# the wheels of 3.4.3, 4.2.3 and 5.0.2, and in Debian's 4.0.2, the release comes last.
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


class ElfSections:
    """The sections and exported functions of a 64-bit little-endian ELF file."""

    def __init__(self, data: Any) -> None:
        """
        Read the section headers of a file.

        data: content of the whole file, bytes or mmap. Damaged section headers are no error, because
        ld.so does not read section headers; the object then has no sections. Raises ValueError if
        the file is not a 64-bit little-endian ELF file.
        """
        self.data = data
        self.headers: List[Tuple[int, ...]] = []
        self.names: List[bytes] = []
        if data[:6] != b'\x7fELF\x02\x01' or len(data) < 64:
            raise ValueError("the file is not a 64-bit little-endian ELF file")
        try:
            (self.machine,) = struct.unpack_from('<H', data, 18)
            (offset,) = struct.unpack_from('<Q', data, 40)
            size, count, names = struct.unpack_from('<HHH', data, 58)
            headers = [
                struct.unpack_from('<IIQQQQIIQQ', data, offset + size * n) for n in range(count)
            ]
            start = headers[names][4] if headers else 0
            self.names = [self._read_string(start + header[0]) for header in headers]
            self.headers = headers
        except (struct.error, IndexError, OverflowError):
            pass

    def _read_string(self, offset: int) -> bytes:
        # The result is b'' if the string has more than 256 bytes. No section name is that long.
        return self.data[offset : max(offset, self.data.find(b'\0', offset, offset + 256))]

    def read_section(self, name: bytes) -> bytes:
        """Return the content of the section `name`, b'' if the file has no such section."""
        for section, header in zip(self.names, self.headers):
            # A section of type 8 (SHT_NOBITS) has no content in the file.
            if section == name and header[1] != 8:
                if header[4] + header[5] > len(self.data):
                    raise ValueError(
                        f"the ELF file is truncated or damaged: section {section!r} is incomplete"
                    )
                return self.data[header[4] : header[4] + header[5]]
        return b''

    def read_strings(self) -> bytes:
        """
        Return the bytes of the file that contain constant strings.

        The result is the section .rodata, or the whole file if the file has no section headers.
        """
        # Patterns for a whole string begin with the zero byte of the string before.
        return b'\0' + self.read_section(b'.rodata') if self.headers else self.data[:]

    def read_code(self, function: bytes, length: int) -> Optional[bytes]:
        """
        Return the first `length` bytes of the machine code of `function`.

        The result is None if the file does not export the function.
        """
        symbols, strings = self.read_section(b'.dynsym'), self.read_section(b'.dynstr')
        # In a damaged file the last entry of the table may be incomplete.
        symbols = symbols[: len(symbols) // 24 * 24]
        for name, _, _, section, value, _ in struct.iter_unpack('<IBBHQQ', symbols):
            if section and strings.startswith(function + b'\0', name):
                for header in self.headers:
                    # Type 1 (SHT_PROGBITS): the section contains code or data.
                    if header[1] == 1 and header[3] <= value < header[3] + header[5]:
                        start = header[4] + value - header[3]
                        return self.data[start : start + length]
        return None

    def read_build_id(self) -> Optional[str]:
        """
        Return the build id of the file in hexadecimal digits.

        The result is None if the file has no build id, as in the MPICH wheels.
        """
        note = self.read_section(b'.note.gnu.build-id')
        if len(note) < 16:
            return None
        name_size, size = struct.unpack_from('<II', note)
        start = 12 + (name_size + 3) // 4 * 4
        return ''.join('%02x' % byte for byte in bytearray(note[start : start + size]))


def read_libfabric_version(elf: ElfSections) -> Optional[Tuple[int, int]]:
    """
    Return the version (major, minor) that fi_version() of a libfabric returns, or None.

    fi_version() returns the constant FI_VERSION(major, minor) = major << 16 | minor, so the machine
    code of fi_version() loads one constant and returns. The result is None if the machine code does
    something else.
    """
    code = elf.read_code(b'fi_version', 16)
    if code is None or len(code) < 16:
        return None
    if elf.machine == EM_X86_64:
        # Machine code: [endbr64] [push %rbp; mov %rsp,%rbp] mov $number,%eax [pop %rbp] ret
        match = re.match(
            rb'(?:\xf3\x0f\x1e\xfa)?(?:\x55\x48\x89\xe5)?\xb8(.{4})\x5d?\xc3', code, re.S
        )
        number = struct.unpack('<I', match.group(1))[0] if match else None
    elif elf.machine == EM_AARCH64:
        number = _parse_aarch64_constant(struct.unpack('<4I', code))
    else:
        number = None
    return (number >> 16, number & 0xFFFF) if number else None


def _parse_aarch64_constant(words: Tuple[int, ...]) -> Optional[int]:
    # Return the constant in `[bti c]; mov w0, #low; movk w0, #high, lsl #16; ret`.
    words = words[1:] if words[0] == 0xD503245F else words
    if (
        words[0] & 0xFFE0001F == 0x52800000
        and words[1] & 0xFFE0001F == 0x72A00000
        and words[2] == 0xD65F03C0
    ):
        return (words[1] >> 5 & 0xFFFF) << 16 | (words[0] >> 5 & 0xFFFF)
    return None


def _select_single(texts: Iterable[bytes]) -> Optional[str]:
    values = set(texts)
    return values.pop().decode('ascii') if len(values) == 1 else None


def _find_libfabric_release(elf: ElfSections, number: Tuple[int, int]) -> Optional[str]:
    # Cray's releases have four parts, such as 1.15.2.0. The (major, minor) of fi_version()
    # distinguishes such a release from an IP address such as 127.0.0.1.
    pattern = re.compile(rb'\0(%d\.%d\.\d+(?:\.\d+)?(?:rc\d+|a\d+|b\d+)?)(?=\0)' % number)
    return _select_single(pattern.findall(elf.read_strings()))


def identify_library(data: Any) -> LibraryVersion:
    """
    Return the LibraryVersion of a library.

    data: content of the library's file, bytes or mmap. Raises ValueError if the file is damaged or
    is not a 64-bit little-endian ELF file.
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
            'MPICH', _select_single(name for pattern in _MPICH for name in pattern.findall(text))
        )
    return LibraryVersion(None, None)


def read_library(path: str) -> Tuple[LibraryVersion, Optional[str]]:
    """
    Return (LibraryVersion, build id) of a library; the build id may be None.

    path: path of the library file. Raises OSError if the file cannot be read. Raises ValueError if
    the file is damaged or is not a 64-bit little-endian ELF file.
    """
    with open_plain_file(path) as handle:
        try:
            data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise ValueError(f"{path} is empty")
        try:
            return identify_library(data), ElfSections(data).read_build_id()
        finally:
            data.close()


def compute_sha256(path: AnyPath) -> str:
    """
    Return the sha256 of the file `path` as 64 hexadecimal digits.

    Raises OSError if the file cannot be read.
    """
    # The import of hashlib loads OpenSSL. At the top of this module, the import would slow down the
    # sampler of each rank (osu_container/proof/sample.py).
    import hashlib

    digest = hashlib.sha256()
    with open_plain_file(path) as handle:
        for block in iter(lambda: handle.read(1 << 20), b''):
            digest.update(block)
    return digest.hexdigest()

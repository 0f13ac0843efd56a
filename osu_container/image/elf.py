"""
Read facts about programs and libraries from their ELF files.

This module does not load or execute the files. Like ld.so, the module uses the program headers of
a file. The module supports 64-bit files, both byte orders and any processor; of a 32-bit file, the
module reads the processor only. The module
compares each size in a file with the size of the file, so that a damaged file costs neither time
nor memory.

Sources: System V ABI (gABI), chapters 4 and 5, for the format; Linux Standard Base, chapter 10.7,
for symbol versions; glibc, elf/dl-lookup.c, for DT_GNU_HASH.

This module uses only the standard library of Python 3.6. The class ElfSections in
image/libraries.py reads constants and machine code. ElfSections uses the section headers, which
ld.so ignores and which may be missing in a file.
"""

import os
import re
import struct
from typing import (
    BinaryIO,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Set,
    Tuple,
    Union,
)

from osu_container.base.files import open_plain_file


class ElfFacts(NamedTuple):
    """
    Facts about one library or program, as read from the ELF file.

    The name of a symbol with a version is 'name@VERSION'. For a symbol with a version, the field
    `defined` contains two names: 'name@VERSION' and 'name'.
    """

    #: path of the file
    path: str
    #: DT_SONAME, None if there is none
    soname: Optional[str]
    #: name of the processor as readelf prints it; format_machine() appends an unusual class or byte
    #: order, see MACHINES
    machine: str
    #: sonames of the libraries in DT_NEEDED
    needed: List[str]
    #: folders of DT_RPATH
    rpath: List[str]
    #: folders of DT_RUNPATH
    runpath: List[str]
    #: soname of a library -> names of the versions that the library must define; weak needs are
    #: left out
    verneed: Dict[str, Set[str]]
    #: names of the versions that the file defines
    verdef: Set[str]
    #: path of the loader that a program requests (PT_INTERP), None if there is none
    interpreter: Optional[str]
    #: whether the file has a dynamic section; a static program has none
    dynamic: bool
    #: undefined symbol -> whether ld.so resolves the symbol at load time (otherwise at the first
    #: call). Weak symbols are left out
    undefined: Dict[str, bool]
    #: exported symbols
    defined: Set[str]
    #: whether ld.so skips the default folders when it searches the libraries in `needed`
    #: (ld -z nodefaultlib)
    nodeflib: bool = False
    #: level of x86-64 that the processor must have, 0 if the file requires no level
    isa_level: int = 0


#: e_machine -> (name in readelf, usual class in bits, usual byte order, number of the relocation
#: type JUMP_SLOT, number of the relocation type COPY, name of a 64-bit processor in the output of
#: `uname -m`). Source: <elf.h>. The table has the processors of Slurm systems, and the 32-bit processors that are
#: compatible with these
MACHINES = {
    3: ('Intel 80386', 32, '<', 7, 5, ''),
    62: ('Advanced Micro Devices X86-64', 64, '<', 7, 5, 'x86_64'),
    183: ('AArch64', 64, '<', 1026, 1024, 'aarch64'),
    21: ('PowerPC64', 64, '<', 21, 19, 'ppc64le'),
    243: ('RISC-V', 64, '<', 5, 4, 'riscv64'),
}
#: Name of a processor in the output of `uname -m` -> ElfFacts.machine
MACHINE_NAMES = {row[-1]: row[0] for row in MACHINES.values() if row[-1]}

#: Constants of <elf.h>: types of segments, tags of the dynamic section, flags, bindings of symbols
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_GNU_PROPERTY = 1, 2, 3, 0x6474E553
GNU_PROPERTY_X86_ISA_1_NEEDED = 0xC0008002
DT_NEEDED, DT_PLTRELSZ, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_STRSZ = (
    1,
    2,
    4,
    5,
    6,
    7,
    8,
    10,
)
DT_SONAME, DT_RPATH, DT_REL, DT_RELSZ, DT_PLTREL, DT_JMPREL, DT_BIND_NOW, DT_RUNPATH = (
    14,
    15,
    17,
    18,
    20,
    23,
    24,
    29,
)
DT_FLAGS, DT_GNU_HASH, DT_VERSYM, DT_RELACOUNT, DT_FLAGS_1 = (
    30,
    0x6FFFFEF5,
    0x6FFFFFF0,
    0x6FFFFFF9,
    0x6FFFFFFB,
)
DT_VERDEF, DT_VERDEFNUM, DT_VERNEED, DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
DF_BIND_NOW, DF_1_NOW, DF_1_NODEFLIB, VER_FLG_WEAK = 8, 1, 0x800, 2
STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE = 1, 2, 10

#: Limits that stop the reading of a damaged file: number of symbols, number of relocations, number
#: of bytes per read. The largest libraries of ROCm and CUDA have some 500,000 symbols
_MAX_SYMBOLS, _MAX_RELOCATIONS, _MAX_TEXT = 4 << 20, 8 << 20, 128 << 20
#: Maximum number of symbol versions; the number of a version has 15 bits
_MAX_VERSIONS = 1 << 15


class ElfError(Exception):
    """A file does not exist, cannot be read, or is not a valid ELF file."""


class _DamagedElfError(Exception):
    """A file is not a valid ELF file; read_elf() adds the path of the file to the message."""


class _ElfReader:
    """
    A reader for an open ELF file.

    All methods raise _DamagedElfError if the file is damaged, and OSError if the file cannot be
    read.
    """

    def __init__(self, handle: BinaryIO) -> None:
        self.handle, self.size = handle, os.fstat(handle.fileno()).st_size
        ident = self.read_bytes(0, min(16, self.size))
        if ident[:4] != b'\x7fELF':
            raise _DamagedElfError('the file is not an ELF file')
        # After the first four bytes: class, byte order, version, system, any byte, padding. glibc
        # checks these fields and more (elf/dl-load.c, open_verify).
        if not re.match(rb'....[\x01\x02][\x01\x02]\x01[\x00\x03].\x00{7}', ident, re.S):
            raise _DamagedElfError('the file is damaged: the ELF header is not valid for Linux')
        self.bits, self.order = 32 * ident[4], '<>'[ident[5] - 1]
        kind, self.number, version = self.unpack('HHI', 16)
        if kind not in (2, 3) or version != 1:
            raise _DamagedElfError('the file is neither a program nor a shared library')
        # No 64-bit program loads a 32-bit library, so that only the processor of the file matters.
        _, table, _, _, _, size, count = self.unpack('QQQIHHH', 24) if self.bits == 64 else [0] * 7
        form = 'IIQQQQQQ'
        if count and size != struct.calcsize('<' + form):
            raise _DamagedElfError(
                f'the file is damaged: a program header has the invalid size {size}'
            )
        #: (type, offset in the file, address, size in the file) of each segment
        self.segments = [
            (segment_type, offset, address, length)
            for segment_type, _, offset, address, _, length, _, _ in self.iterate_entries(
                form, self.read_bytes(table, size * count)
            )
        ]
        for segment_type, offset, _, length in self.segments:
            if segment_type in (PT_LOAD, PT_DYNAMIC, PT_INTERP) and offset + length > self.size:
                raise _DamagedElfError(
                    f'the file is truncated: the file has {self.size} bytes, but its program '
                    f'headers describe {offset + length} bytes'
                )
        self.dynamic = self._read_dynamic()
        self.strings = self.read_tag_bytes(DT_STRTAB, self.get_tag(DT_STRSZ))

    def read_bytes(self, offset: int, size: int) -> bytes:
        if size > _MAX_TEXT or offset + size > self.size:
            raise _DamagedElfError(
                f'the file is damaged or truncated: {size} bytes at offset {offset} exceed the file '
                f'size in bytes, {self.size}'
            )
        self.handle.seek(offset)
        data = self.handle.read(size)
        if len(data) != size:
            raise _DamagedElfError('the file is truncated')
        return data

    def unpack(self, form: str, offset: int) -> Tuple[int, ...]:
        """
        Read and return the numbers at `offset` in the file.

        form: format of the numbers for the Python module struct, without the byte order.
        """
        form = self.order + form
        return struct.unpack(form, self.read_bytes(offset, struct.calcsize(form)))

    def iterate_entries(self, form: str, data: bytes) -> Iterator[Tuple[int, ...]]:
        """
        Return an iterator over the entries of a table; each entry is a tuple of numbers.

        data: content of the table. form: format of one entry, see unpack(). The iterator skips an
        incomplete entry at the end.
        """
        form = self.order + form
        return struct.iter_unpack(
            form, data[: len(data) // struct.calcsize(form) * struct.calcsize(form)]
        )

    def read_segment(self, kind: int, limit: int = _MAX_TEXT) -> bytes:
        """Return the first `limit` bytes of the first segment of type `kind`, b'' if none exists."""
        for segment_type, offset, _, length in self.segments:
            if segment_type == kind and offset + length <= self.size:
                return self.read_bytes(offset, min(length, limit))
        return b''

    def _read_dynamic(self) -> Dict[int, List[int]]:
        values: Dict[int, List[int]] = {}
        for tag, value in self.iterate_entries('QQ', self.read_segment(PT_DYNAMIC)):
            if tag == 0:
                break
            values.setdefault(tag, []).append(value)
        return values

    def get_tag(self, tag: int) -> int:
        """
        Return the value of `tag` in the dynamic section, 0 if the section has no such tag.

        If the tag occurs several times, the result is the last value, as for ld.so.
        """
        return self.dynamic.get(tag, [0])[-1]

    def find_offset(self, address: int) -> Tuple[int, int]:
        """
        Return (offset, size) for the address `address` in the memory of the program.

        offset: position in the file that is loaded to `address`. size: number of bytes from
        `address` to the end of the segment.
        """
        for segment_type, offset, start, length in self.segments:
            if segment_type == PT_LOAD and start <= address < start + length:
                return offset + address - start, start + length - address
        raise _DamagedElfError(
            f'the file is damaged: no segment is loaded at address 0x{address:x}'
        )

    def read_tag_bytes(self, tag: int, size: int) -> bytes:
        """
        Return `size` bytes from the address that is the value of `tag`.

        If the segment of the file ends earlier, the result has fewer bytes. If the dynamic section
        has no such tag, the result is empty.
        """
        if tag not in self.dynamic:
            return b''
        offset, available = self.find_offset(self.get_tag(tag))
        return self.read_bytes(offset, min(size, available))

    def read_string(self, offset: int) -> str:
        """Return the string at `offset` in the string table of the dynamic section."""
        end = self.strings.find(b'\0', offset)
        if offset >= len(self.strings) or end < 0:
            raise _DamagedElfError('the file is damaged: a name is outside of the string table')
        return os.fsdecode(self.strings[offset:end])

    def read_tag_strings(self, tag: int) -> List[str]:
        """Return the strings to which the entries `tag` of the dynamic section refer."""
        return [self.read_string(offset) for offset in self.dynamic.get(tag, [])]

    def read_folders(self, tag: int) -> List[str]:
        """Return the folders that DT_RPATH or DT_RUNPATH (`tag`) lists, without empty names."""
        return list(filter(None, ':'.join(self.read_tag_strings(tag)[-1:]).split(':')))

    def read_interpreter(self) -> Optional[str]:
        """Return the path of the loader that the program requests, None for a library."""
        text = self.read_segment(PT_INTERP, 4096)
        return os.fsdecode(text.split(b'\0')[0]) if text else None

    def read_isa_level(self) -> int:
        """
        Return the highest level of x86-64 in the property ISA_1_NEEDED, 0 without this property.

        Bit 0 of the property is the level 1, bit 3 is the level 4 (x86-64-v4).
        """
        marker = struct.pack(self.order + 'II', GNU_PROPERTY_X86_ISA_1_NEEDED, 4)
        _, _, value = self.read_segment(PT_GNU_PROPERTY).partition(marker)
        if len(value) < 4 or self.number != 62:
            return 0
        return int(struct.unpack_from(self.order + 'I', value)[0]).bit_length()

    def format_machine(self) -> str:
        """Return the name of the file's processor, for the field ElfFacts.machine."""
        name, bits, order = MACHINES.get(self.number, (f'machine {self.number}', 64, '<'))[:3]
        parts = [name] + [f'{self.bits}-bit'] * (self.bits != bits)
        if self.order != order:
            parts.append('little-endian' if self.order == '<' else 'big-endian')
        return ', '.join(parts)

    def iterate_versions(
        self, tag: int, count: int, form: str, links: int
    ) -> Iterator[Tuple[int, Tuple[int, ...]]]:
        """
        Yield (offset, numbers) for each entry in a linked list of symbol versions.

        tag: tag whose value is the address of the list. count: tag whose value is the length of the
        list. form: format of an entry, see unpack(), which returns the fields of an entry as
        numbers. links: index of the field that contains the distance to the next entry.
        """
        if tag not in self.dynamic:
            return
        offset = self.find_offset(self.get_tag(tag))[0]
        for _ in range(min(self.get_tag(count), _MAX_VERSIONS)):
            numbers = self.unpack(form, offset)
            yield offset, numbers
            if not numbers[links]:
                return
            offset += numbers[links]

    def read_versions(self) -> Tuple[Dict[str, Set[str]], Set[str], Dict[int, str]]:
        """
        Return (verneed, verdef, names) of the symbol versions in the file.

        verneed and verdef are fields of ElfFacts. names: {number of a version: name of the
        version}.
        """
        needed: Dict[str, Set[str]] = {}
        defined: Set[str] = set()
        names: Dict[int, str] = {}
        for offset, (_, _, number, _, _, auxiliary, _) in self.iterate_versions(
            DT_VERDEF, DT_VERDEFNUM, 'HHHHIII', 6
        ):
            name = self.read_string(self.unpack('II', offset + auxiliary)[0])
            defined.add(name)
            names[number & 0x7FFF] = name
        budget = _MAX_VERSIONS
        for offset, (_, count, file, auxiliary, _) in self.iterate_versions(
            DT_VERNEED, DT_VERNEEDNUM, 'HHIII', 4
        ):
            offset += auxiliary
            for _ in range(count):
                _, flags, number, name_offset, following = self.unpack('IHHII', offset)
                names[number & 0x7FFF] = self.read_string(name_offset)
                if not flags & VER_FLG_WEAK:
                    needed.setdefault(self.read_string(file), set()).add(names[number & 0x7FFF])
                budget -= 1
                if budget < 0:
                    raise _DamagedElfError(
                        f'the file is damaged: the file needs more than {_MAX_VERSIONS} symbol versions'
                    )
                if not following:
                    break
                offset += following
        return needed, defined, names

    def count_symbols(self) -> int:
        """Compute the number of symbols from a hash table, the only source of this number."""
        if DT_GNU_HASH in self.dynamic:
            start = self.find_offset(self.get_tag(DT_GNU_HASH))[0]
            buckets, first, bloom, _ = self.unpack('IIII', start)
            start += 16 + bloom * 8
            numbers = self.iterate_entries('I', self.read_bytes(start, buckets * 4))
            last = max(numbers, default=(0,))[0]
            if last < first:
                # The file exports no symbol. For such a file GNU ld writes the number 1, although
                # the file may need more symbols.
                return max(first, self.read_relocations()[2] + 1)
            start += buckets * 4 + (last - first) * 4
            while True:
                for (number,) in self.iterate_entries(
                    'I', self.read_bytes(start, max(4, min(4096, self.size - start)))
                ):
                    last += 1
                    if number & 1:
                        return last
                start += 4096
        if DT_HASH in self.dynamic:
            return self.unpack('II', self.find_offset(self.get_tag(DT_HASH))[0])[1]
        return 0

    def read_symbols(
        self, names: Dict[int, str]
    ) -> Tuple[Set[str], Dict[int, Union[str, Tuple[str, str]]]]:
        """
        Return (exported symbols, {number of a symbol: symbol}).

        In the dict, an undefined symbol is a str, and an exported symbol is (name with version,
        name). The dict does not contain weak undefined symbols. The dict contains exported symbols
        because a program copies the data of some exported symbols, see read_relocations(). names:
        {number of a version: name of the version}.
        """
        exported: Set[str] = set()
        needed: Dict[int, Union[str, Tuple[str, str]]] = {}
        count = self.count_symbols()
        if count > _MAX_SYMBOLS:
            raise _DamagedElfError(
                f'the file is damaged: the file has {count} symbols, more than the limit of {_MAX_SYMBOLS}'
            )
        form = 'IBBHQQ'
        table = self.read_tag_bytes(DT_SYMTAB, count * struct.calcsize('<' + form))
        data = self.read_tag_bytes(DT_VERSYM, count * 2)
        numbers = [number & 0x7FFF for (number,) in self.iterate_entries('H', data)]
        strings, budget = self.strings, _MAX_TEXT // 4
        for index, (start, info, _, section, _, _) in enumerate(self.iterate_entries(form, table)):
            binding = info >> 4
            if not start or binding not in (STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE):
                continue
            end = strings.find(b'\0', start)
            budget -= end - start
            # In a damaged file names may overlap, so that their total length exceeds the table.
            if end < 0 or start >= len(strings) or budget < 0:
                raise _DamagedElfError(
                    'the file is damaged: the name of a symbol is outside of the string table'
                )
            name = strings[start:end].decode('utf-8', 'replace')
            version = numbers[index] if index < len(numbers) else 0
            symbol = name + '@' + names[version] if version > 1 and version in names else name
            if section:
                exported.update((symbol, name))
                needed[index] = (symbol, name)
            elif binding != STB_WEAK:
                needed[index] = symbol
        return exported, needed

    def read_relocations(self) -> Tuple[Set[int], Set[int], int]:
        """
        Return (symbols resolved at load time, copied symbols, highest symbol) as numbers.

        The number of a symbol is the index of the symbol in the symbol table. A copied symbol has a
        relocation of type COPY, which copies the data of a library's symbol into the program.
        """
        jump_slot, copy = MACHINES.get(self.number, ('', 0, '', None, None))[3:5]
        resolved_at_load: Set[int] = set()
        copied: Set[int] = set()
        highest, budget = 0, _MAX_RELOCATIONS
        # The first DT_RELACOUNT relocations in DT_RELA have no symbol. Skip these numerous
        # relocations.
        skipped = self.get_tag(DT_RELACOUNT)
        for tag, size, with_addend, skip in (
            (DT_RELA, DT_RELASZ, True, skipped),
            (DT_REL, DT_RELSZ, False, 0),
            (DT_JMPREL, DT_PLTRELSZ, self.get_tag(DT_PLTREL) == DT_RELA, 0),
        ):
            if tag not in self.dynamic:
                continue
            form = 'QQQ' if with_addend else 'QQ'
            entry = struct.calcsize('<' + form)
            offset, available = self.find_offset(self.get_tag(tag))
            begin, end = skip * entry, min(self.get_tag(size), available)
            budget -= max(0, end - begin) // entry
            if budget < 0:
                raise _DamagedElfError(
                    f'the file is damaged: the file has more than {_MAX_RELOCATIONS} relocations'
                )
            data = self.read_bytes(offset + begin, max(0, end - begin))
            for numbers in self.iterate_entries(form, data):
                symbol, kind = numbers[1] >> 32, numbers[1] & 0xFFFFFFFF
                highest = max(highest, symbol)
                # ld.so resolves a jump slot at the first call, all others at load time.
                if symbol and kind != jump_slot:
                    resolved_at_load.add(symbol)
                    if kind == copy:
                        copied.add(symbol)
        return resolved_at_load, copied, highest

    def read_facts(self, path: str) -> ElfFacts:
        """
        Return the ElfFacts of the open file.

        path: value of the field ElfFacts.path.
        """
        verneed, verdef, names = self.read_versions()
        exported, needed = self.read_symbols(names)
        resolved_at_load, copied, _ = self.read_relocations() if needed else (set(), set(), 0)
        binds_now = bool(
            DT_BIND_NOW in self.dynamic
            or self.get_tag(DT_FLAGS) & DF_BIND_NOW
            or self.get_tag(DT_FLAGS_1) & DF_1_NOW
        )
        undefined: Dict[str, bool] = {}
        for index, symbol in needed.items():
            if isinstance(symbol, tuple):
                if index not in copied:
                    continue
                # The program contains only space for these data. A library must define the symbol.
                exported -= set(symbol)
                symbol = symbol[0]
            undefined[symbol] = (
                binds_now or index in resolved_at_load or undefined.get(symbol, False)
            )
        return ElfFacts(
            path=path,
            soname=next(reversed(self.read_tag_strings(DT_SONAME)), None),
            machine=self.format_machine(),
            needed=self.read_tag_strings(DT_NEEDED),
            rpath=self.read_folders(DT_RPATH),
            runpath=self.read_folders(DT_RUNPATH),
            verneed=verneed,
            verdef=verdef,
            interpreter=self.read_interpreter(),
            dynamic=bool(self.dynamic),
            undefined=undefined,
            defined=exported,
            nodeflib=bool(self.get_tag(DT_FLAGS_1) & DF_1_NODEFLIB),
            isa_level=self.read_isa_level(),
        )


def read_elf(path: str) -> ElfFacts:
    """
    Read the ELF file `path` and return its ElfFacts.

    Raises ElfError if the file does not exist, is damaged or is not an ELF file.
    """
    try:
        with open_plain_file(path) as handle:
            return _ElfReader(handle).read_facts(path)
    except _DamagedElfError as err:
        raise ElfError(f"{path}: {err}")
    except OSError as err:
        raise ElfError(f"{path} cannot be read: {err.strerror}")

"""
Read ELF facts of programs and libraries from the program headers, as ld.so does.

Nothing is loaded or executed. Format: the System V ABI's gABI, chapters 4 and 5; symbol versions:
the Linux Standard Base, chapter 10.7; DT_GNU_HASH: glibc, elf/dl-lookup.c. Files may have both
classes and byte orders, and be for any processor. Sizes in a file are compared with the size of the
file, so that a damaged file costs neither time nor memory.

Python 3.6 and its standard library only. A second reader, ElfSections of image/libraries.py, reads
constants and machine code by sections, which a file may lack and ld.so ignores.
"""

import errno
import os
import struct
from collections import OrderedDict
from typing import (
    BinaryIO,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from osu_container.base.files import open_plain_file


class ElfFacts(NamedTuple):
    """
    ELF facts of one library or program.

    A versioned symbol is 'name@VERSION'. `defined` has it as plain 'name' too.
    """

    path: str
    soname: Optional[str]
    #: as readelf prints it, with an unusual class or byte order appended: see MACHINES
    machine: str
    #: DT_NEEDED
    needed: List[str]
    #: folders of DT_RPATH
    rpath: List[str]
    #: folders of DT_RUNPATH
    runpath: List[str]
    #: soname of the provider -> names of needed versions, without those marked weak
    verneed: Dict[str, Set[str]]
    #: names of defined versions
    verdef: Set[str]
    #: path of the loader that a program requests
    interpreter: Optional[str]
    #: has a dynamic section
    dynamic: bool
    #: undefined symbol, not weak -> True if ld.so resolves it at load time, False if at first call
    undefined: Dict[str, bool]
    #: exported symbols
    defined: Set[str]
    #: its needs are not searched in the default folders (ld -z nodefaultlib)
    nodeflib: bool = False
    #: libraries that may change what a program loads (DT_AUDIT, DT_DEPAUDIT: rtld-audit(7))
    audit: Sequence[str] = ()


#: e_machine -> (name in readelf, usual class in bits, usual byte order, types of the relocations
#: JUMP_SLOT and COPY). <elf.h>; processors of Slurm systems, and their 32-bit companions
MACHINES = {
    3: ('Intel 80386', 32, '<', 7, 5),
    62: ('Advanced Micro Devices X86-64', 64, '<', 7, 5),
    40: ('ARM', 32, '<', 22, 20),
    183: ('AArch64', 64, '<', 1026, 1024),
    21: ('PowerPC64', 64, '<', 21, 19),
    22: ('IBM S/390', 64, '>', 11, 9),
    243: ('RISC-V', 64, '<', 5, 4),
    258: ('LoongArch', 64, '<', 5, 4),
}
#: Machine in uname -m -> machine in ElfFacts
MACHINE_NAMES = {
    'x86_64': MACHINES[62][0],
    'aarch64': MACHINES[183][0],
    'ppc64le': MACHINES[21][0],
    's390x': MACHINES[22][0],
    'riscv64': MACHINES[243][0],
    'loongarch64': MACHINES[258][0],
}

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
#: <elf.h>
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
DT_DEPAUDIT, DT_AUDIT = 0x6FFFFEFB, 0x6FFFFEFC
DF_BIND_NOW, DF_1_NOW, DF_1_NODEFLIB, VER_FLG_WEAK = 8, 1, 0x800, 2
STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE = 1, 2, 10

#: Limits for damaged files. The largest libraries of ROCm and CUDA have some 500,000 symbols
_MOST_SYMBOLS, _MOST_RELOCATIONS, _MOST_TEXT = 4 << 20, 8 << 20, 128 << 20
#: Numbers of versions have 15 bits
_MOST_VERSIONS = 1 << 15
_RELOCATIONS_PER_READ = 1 << 16


class ElfError(Exception):
    """A file is not an ELF library, or a library cannot be found."""


class _DamagedElfError(Exception):
    """An ELF file is damaged; the message does not name it."""


class _ElfReader:
    """
    An open ELF file with its segments and its dynamic section.

    All methods raise _DamagedElfError and OSError.
    """

    def __init__(self, handle: BinaryIO) -> None:
        self.handle, self.size = handle, os.fstat(handle.fileno()).st_size
        ident = self.read_bytes(0, min(16, self.size))
        if len(ident) < 16 or ident[:4] != b'\x7fELF':
            raise _DamagedElfError('is not an ELF file')
        # another class, byte order, version, system or padding: glibc refuses even more
        # (elf/dl-load.c, open_verify)
        if (
            ident[4] not in (1, 2)
            or ident[5] not in (1, 2)
            or ident[6] != 1
            or ident[7] not in (0, 3)
            or any(ident[9:])
        ):
            raise _DamagedElfError('is damaged: its ELF header is not one of Linux')
        self.bits, self.order = 32 * ident[4], '<>'[ident[5] - 1]
        self.word = 'I' if self.bits == 32 else 'Q'
        kind, self.number, version, _, table, _, _, _, size, count, _, _, _ = self.unpack(
            'HHI' + self.word * 3 + 'IHHHHHH', 16
        )
        if kind not in (2, 3) or version != 1:
            raise _DamagedElfError('is neither a program nor a shared library')
        form = 'IIIIIIII' if self.bits == 32 else 'IIQQQQQQ'
        if count and size != struct.calcsize('<' + form):
            raise _DamagedElfError(f'is damaged: its program headers have {size} bytes each')
        places = [0, 1, 2, 4] if self.bits == 32 else [0, 2, 3, 5]
        #: (type, offset, address, size in the file)
        self.segments = [
            tuple(entry[place] for place in places)
            for entry in self.iterate_entries(form, self.read_bytes(table, size * count))
        ]
        for segment_type, offset, _, length in self.segments:
            if segment_type in (PT_LOAD, PT_DYNAMIC, PT_INTERP) and offset + length > self.size:
                raise _DamagedElfError(
                    f'is truncated: it has {self.size} bytes, and its program headers need '
                    f'{offset + length}'
                )
        self.dynamic = self._read_dynamic()
        self.strings = (
            self.read_tag_bytes(DT_STRTAB, self.get_tag(DT_STRSZ))
            if DT_STRTAB in self.dynamic
            else b''
        )

    def read_bytes(self, offset: int, size: int) -> bytes:
        if size > _MOST_TEXT or offset + size > self.size:
            raise _DamagedElfError(
                f'is damaged or truncated: it has {self.size} bytes, and needs {size} at {offset}'
            )
        self.handle.seek(offset)
        data = self.handle.read(size)
        if len(data) != size:
            raise _DamagedElfError('is truncated')
        return data

    def unpack(self, form: str, offset: int) -> Tuple[int, ...]:
        """Return the numbers at `offset`; form: as in struct, without the byte order."""
        form = self.order + form
        return struct.unpack(form, self.read_bytes(offset, struct.calcsize(form)))

    def iterate_entries(self, form: str, data: bytes) -> Iterator[Tuple[int, ...]]:
        """Return an iterator over the whole entries in `data`; form as in unpack()."""
        form = self.order + form
        return struct.iter_unpack(
            form, data[: len(data) // struct.calcsize(form) * struct.calcsize(form)]
        )

    def _read_dynamic(self) -> Dict[int, List[int]]:
        values: Dict[int, List[int]] = {}
        for segment_type, offset, _, length in self.segments:
            if segment_type == PT_DYNAMIC:
                for tag, value in self.iterate_entries(
                    self.word * 2, self.read_bytes(offset, length)
                ):
                    if tag == 0:
                        break
                    values.setdefault(tag, []).append(value)
                break
        return values

    def get_tag(self, tag: int) -> int:
        """Return the last value of a tag of the dynamic section, as ld.so does, or 0."""
        return self.dynamic.get(tag, [0])[-1]

    def find_offset(self, address: int) -> Tuple[int, int]:
        """Return (offset of an address in the file, bytes from there to the segment's end)."""
        for segment_type, offset, start, length in self.segments:
            if segment_type == PT_LOAD and start <= address < start + length:
                return offset + address - start, start + length - address
        raise _DamagedElfError(f'is damaged: no segment is loaded at address 0x{address:x}')

    def read_tag_bytes(self, tag: int, size: int) -> bytes:
        """Return `size` bytes at the address in a tag, fewer at the end of the segment."""
        offset, room = self.find_offset(self.get_tag(tag))
        return self.read_bytes(offset, min(size, room))

    def read_string(self, offset: int) -> str:
        """Return the text at `offset` of the string table."""
        end = self.strings.find(b'\0', offset)
        if offset >= len(self.strings) or end < 0:
            raise _DamagedElfError('is damaged: a name is outside of its string table')
        return os.fsdecode(self.strings[offset:end])

    def read_tag_strings(self, tag: int) -> List[str]:
        """Return the texts of all entries of a tag."""
        return [self.read_string(offset) for offset in self.dynamic.get(tag, [])]

    def read_folders(self, tag: int) -> List[str]:
        """Return the folders of DT_RPATH or DT_RUNPATH, without empty ones."""
        return list(filter(None, ':'.join(self.read_tag_strings(tag)[-1:]).split(':')))

    def read_interpreter(self) -> Optional[str]:
        """Return the path of the loader that a program requests, None if there is none."""
        for segment_type, offset, _, length in self.segments:
            if segment_type == PT_INTERP:
                return os.fsdecode(self.read_bytes(offset, min(length, 4096)).split(b'\0')[0])
        return None

    def format_machine(self) -> str:
        """Return the machine as in ElfFacts."""
        name, bits, order = MACHINES.get(self.number, (f'machine {self.number}', 64, '<'))[:3]
        return (
            name
            + (f', {self.bits}-bit' if self.bits != bits else '')
            + (
                ''
                if self.order == order
                else ', little-endian'
                if self.order == '<'
                else ', big-endian'
            )
        )

    def iterate_versions(
        self, tag: int, count: int, form: str, links: int
    ) -> Iterator[Tuple[int, Tuple[int, ...]]]:
        """
        Yield (offset, numbers) of the entries of a linked list of versions.

        tag, count: tags with its address and length; form: as in unpack(); links: index of the
        number with the distance to the next entry.
        """
        if tag not in self.dynamic:
            return
        offset = self.find_offset(self.get_tag(tag))[0]
        for _ in range(min(self.get_tag(count), _MOST_VERSIONS)):
            numbers = self.unpack(form, offset)
            yield offset, numbers
            if not numbers[links]:
                return
            offset += numbers[links]

    def read_versions(self) -> Tuple[Dict[str, Set[str]], Set[str], Dict[int, str]]:
        """Return (verneed, verdef, {number of a version: name}), two of them as in ElfFacts."""
        needed: Dict[str, Set[str]] = OrderedDict()
        defined: Set[str] = set()
        names: Dict[int, str] = {}
        for offset, (_, _, number, _, _, auxiliary, _) in self.iterate_versions(
            DT_VERDEF, DT_VERDEFNUM, 'HHHHIII', 6
        ):
            name = self.read_string(self.unpack('II', offset + auxiliary)[0])
            defined.add(name)
            names[number & 0x7FFF] = name
        budget = _MOST_VERSIONS
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
                        f'is damaged: it needs more than {_MOST_VERSIONS} versions'
                    )
                if not following:
                    break
                offset += following
        return needed, defined, names

    def count_symbols(self) -> int:
        """Return the number of symbols, which only the hash tables contain."""
        if DT_GNU_HASH in self.dynamic:
            start = self.find_offset(self.get_tag(DT_GNU_HASH))[0]
            buckets, first, bloom, _ = self.unpack('IIII', start)
            start += 16 + bloom * self.bits // 8
            last = max(
                [
                    number
                    for (number,) in self.iterate_entries('I', self.read_bytes(start, buckets * 4))
                ]
                or [0]
            )
            if last < first:
                # no symbol is exported, and GNU ld writes 1, however many are needed
                return self._require_sensible_count(max(first, self.read_relocations()[2] + 1))
            start += buckets * 4 + (last - first) * 4
            while True:
                for (number,) in self.iterate_entries(
                    'I', self.read_bytes(start, max(4, min(4096, self.size - start)))
                ):
                    last += 1
                    if number & 1:
                        return self._require_sensible_count(last)
                start += 4096
        if DT_HASH in self.dynamic:
            return self._require_sensible_count(
                self.unpack('II', self.find_offset(self.get_tag(DT_HASH))[0])[1]
            )
        return 0

    @staticmethod
    def _require_sensible_count(count: int) -> int:
        if count > _MOST_SYMBOLS:
            raise _DamagedElfError(
                f'is damaged: it has {count} symbols, the limit is {_MOST_SYMBOLS}'
            )
        return count

    def read_symbols(
        self, names: Dict[int, str]
    ) -> Tuple[Set[str], Dict[int, Union[str, Tuple[str, str]]]]:
        """
        Return (exported symbols, {number of a symbol: needed symbol, not weak}).

        names: {number of a version: name}. The second result has each exported symbol as
        (name with version, name), because a program needs those whose data it copies: see
        read_relocations().
        """
        offered: Set[str] = set()
        needed: Dict[int, Union[str, Tuple[str, str]]] = {}
        count = self.count_symbols() if DT_SYMTAB in self.dynamic else 0
        if not count:
            return offered, needed
        form = 'IIIBBH' if self.bits == 32 else 'IBBHQQ'
        info, section = (3, 5) if self.bits == 32 else (1, 3)
        table = self.read_tag_bytes(DT_SYMTAB, count * struct.calcsize('<' + form))
        data = self.read_tag_bytes(DT_VERSYM, count * 2) if DT_VERSYM in self.dynamic else b''
        numbers = [number & 0x7FFF for (number,) in self.iterate_entries('H', data)]
        strings, budget = self.strings, _MOST_TEXT // 4
        for index, entry in enumerate(self.iterate_entries(form, table)):
            binding = entry[info] >> 4
            if not entry[0] or binding not in (STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE):
                continue
            end = strings.find(b'\0', entry[0])
            budget -= end - entry[0]
            # the sum of overlapping names is longer than their table
            if end < 0 or entry[0] >= len(strings) or budget < 0:
                raise _DamagedElfError(
                    'is damaged: the name of a symbol is outside of its string table'
                )
            name = strings[entry[0] : end].decode('utf-8', 'replace')
            version = numbers[index] if index < len(numbers) else 0
            symbol = name + '@' + names[version] if version > 1 and version in names else name
            if entry[section]:
                offered.update((symbol, name))
                needed[index] = (symbol, name)
            elif binding != STB_WEAK:
                needed[index] = symbol
        return offered, needed

    def read_relocations(self) -> Tuple[Set[int], Set[int], int]:
        """
        Return numbers of symbols: those resolved at load time, those copied, the highest.

        A program reserves room for the data of a library that it copies.
        """
        jump, copy = MACHINES.get(self.number, ('', 0, '', None, None))[3:]
        early: Set[int] = set()
        copied: Set[int] = set()
        highest, budget = 0, _MOST_RELOCATIONS
        shift, mask = (8, 0xFF) if self.bits == 32 else (32, 0xFFFFFFFF)
        # the first relocations of DT_RELA, very many, have no symbol
        skipped = self.get_tag(DT_RELACOUNT)
        for tag, size, with_addend, skip in (
            (DT_RELA, DT_RELASZ, True, skipped),
            (DT_REL, DT_RELSZ, False, 0),
            (DT_JMPREL, DT_PLTRELSZ, self.get_tag(DT_PLTREL) == DT_RELA, 0),
        ):
            if tag not in self.dynamic:
                continue
            form = self.word * (3 if with_addend else 2)
            entry = struct.calcsize('<' + form)
            offset, room = self.find_offset(self.get_tag(tag))
            begin, end = skip * entry, min(self.get_tag(size), room)
            budget -= max(0, end - begin) // entry
            if budget < 0:
                raise _DamagedElfError(
                    f'is damaged: it has more than {_MOST_RELOCATIONS} relocations'
                )
            for place in range(begin, end, entry * _RELOCATIONS_PER_READ):
                piece = self.read_bytes(
                    offset + place, min(entry * _RELOCATIONS_PER_READ, end - place)
                )
                for numbers in self.iterate_entries(form, piece):
                    symbol, kind = numbers[1] >> shift, numbers[1] & mask
                    highest = max(highest, symbol)
                    if symbol and kind != jump:  # a jump slot is resolved at the first call
                        early.add(symbol)
                        if kind == copy:
                            copied.add(symbol)
        return early, copied, highest

    def read_facts(self, path: str) -> ElfFacts:
        """Return the ElfFacts; path: that of the file."""
        verneed, verdef, names = self.read_versions()
        offered, needed = self.read_symbols(names)
        early, copied, _ = self.read_relocations() if needed else (set(), set(), 0)
        now = bool(
            DT_BIND_NOW in self.dynamic
            or self.get_tag(DT_FLAGS) & DF_BIND_NOW
            or self.get_tag(DT_FLAGS_1) & DF_1_NOW
        )
        undefined: Dict[str, bool] = {}
        for index, symbol in needed.items():
            if isinstance(symbol, tuple):
                if index not in copied:
                    continue
                # the program only reserves room for these data, a library must define them
                offered -= set(symbol)
                symbol = symbol[0]
            undefined[symbol] = now or index in early or undefined.get(symbol, False)
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
            defined=offered,
            nodeflib=bool(self.get_tag(DT_FLAGS_1) & DF_1_NODEFLIB),
            audit=self.read_tag_strings(DT_AUDIT) + self.read_tag_strings(DT_DEPAUDIT),
        )


def read_elf(path: str) -> ElfFacts:
    """
    Return the ElfFacts of the file `path`.

    Raises ElfError if the file is missing, not an ELF file, or damaged.
    """
    try:
        with open_plain_file(path) as handle:
            return _ElfReader(handle).read_facts(path)
    except _DamagedElfError as err:
        raise ElfError(f"{path} {err}")
    except OSError as err:
        if err.errno == errno.EISDIR:
            raise ElfError(f"{path} is a folder, not a library")
        if err.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise ElfError(f"{path} does not exist")
        raise ElfError(f"{path} cannot be read: {err.strerror}")


def read_elf_files(paths: Iterable[str]) -> Dict[str, ElfFacts]:
    """Return {path: ElfFacts} of the paths that are readable ELF files."""
    files = {}
    for path in paths:
        try:
            files[path] = read_elf(path)
        except ElfError:  # a script, or a text in place of a library
            continue
    return files

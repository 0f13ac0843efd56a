"""
ELF facts of programs and libraries, read as ld.so reads them: by the program headers. Nothing is
loaded or run.

Format: the System V ABI's gABI, chapters 4 and 5; symbol versions: the Linux Standard Base, chapter
10.7; DT_GNU_HASH: glibc, elf/dl-lookup.c. Files of both classes and byte orders, for any kind of
processor. What a damaged file says is held against its size, so that none takes much time or
memory.

All functions work on Python 3.6 with the standard library only. image/libraries.py has a second
reader, class Elf: it reads constants and machine code by sections, which need not be there and of
which ld.so knows nothing.
"""

import errno
import os
import struct
from collections import OrderedDict, namedtuple

from osu_container.base.files import open_plain_file

#: What is told of one library or program. soname: str or None; machine: str, as readelf calls it,
#: with what is unusual for it behind: see MACHINES; needed, rpath, runpath: lists of str; verneed:
#: {soname of the provider: set of version names}; verdef: set of version names it defines;
#: interpreter: str, the loader that a program asks for, or None; dynamic: bool, it has a dynamic
#: section; undefined: {symbol: True if ld.so looks it up when the file is loaded, False if when it
#: is called first} of what it must find elsewhere, weak ones left out; defined: set of symbols that
#: it offers. A symbol of a version is 'name@VERSION' in both; what is offered is in defined as
#: plain 'name' too. Needs of versions that are marked weak stop nothing and are left out of
#: verneed. nodeflib: bool, its needs are not looked for in the default folders (ld -z
#: nodefaultlib); audit: list of str, libraries that may change what a program loads (DT_AUDIT,
#: DT_DEPAUDIT: rtld-audit(7))
ElfFacts = namedtuple(
    'ElfFacts',
    'path soname machine needed rpath runpath verneed verdef interpreter dynamic '
    'undefined defined nodeflib audit',
)
ElfFacts.__new__.__defaults__ = (False, ())

#: e_machine -> (what readelf calls it, its usual class in bits, its usual byte order, types of its
#: relocations JUMP_SLOT and COPY). <elf.h>; the processors that Slurm systems have had, and 32-bit
#: companions of theirs
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
#: What uname -m says -> what ElfFacts call that machine
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

#: What no library has more of; a damaged one may say so. The largest of ROCm and CUDA have some
#: 500,000 symbols.
_MOST_SYMBOLS, _MOST_RELOCATIONS, _MOST_TEXT = 4 << 20, 8 << 20, 128 << 20
#: Versions have numbers of 15 bits
_MOST_VERSIONS = 1 << 15
#: Relocations are read in pieces of so many
_RELOCATIONS_PER_READ = 1 << 16


class ElfError(Exception):
    """A file that is no ELF library, or a library that cannot be found."""


class _DamagedElfError(Exception):
    """What is wrong with an ELF file, without its name."""


class _ElfReader(object):
    """One open ELF file: its segments, and what its dynamic section says."""

    def __init__(self, handle):
        """handle: file opened for reading. Raises _Damaged and OSError."""
        self.handle, self.size = handle, os.fstat(handle.fileno()).st_size
        ident = self.read_bytes(0, min(16, self.size))
        if len(ident) < 16 or ident[:4] != b'\x7fELF':
            raise _DamagedElfError('is not an ELF file')
        # glibc refuses more than that (elf/dl-load.c, open_verify): another version, system or
        # padding
        if (
            ident[4] not in (1, 2)
            or ident[5] not in (1, 2)
            or ident[6] != 1
            or ident[7] not in (0, 3)
            or any(ident[9:])
        ):
            raise _DamagedElfError('is damaged: its ELF header is none of Linux')
        self.bits, self.order = 32 * ident[4], '<>'[ident[5] - 1]
        self.word = 'I' if self.bits == 32 else 'Q'
        kind, self.number, version, _, table, _, _, _, size, count, _, _, _ = self.unpack(
            'HHI' + self.word * 3 + 'IHHHHHH', 16
        )
        if kind not in (2, 3) or version != 1:
            raise _DamagedElfError('is no program and no shared library')
        form = 'IIIIIIII' if self.bits == 32 else 'IIQQQQQQ'
        if count and size != struct.calcsize('<' + form):
            raise _DamagedElfError('is damaged: its program headers have %d bytes each' % size)
        places = [0, 1, 2, 4] if self.bits == 32 else [0, 2, 3, 5]
        #: (type, offset, address, size in the file)
        self.segments = [
            tuple(found[place] for place in places)
            for found in self.iterate_entries(form, self.read_bytes(table, size * count))
        ]
        for one, offset, _, length in self.segments:
            if one in (PT_LOAD, PT_DYNAMIC, PT_INTERP) and offset + length > self.size:
                raise _DamagedElfError(
                    'is cut off: it has %d bytes, its program headers name %d'
                    % (self.size, offset + length)
                )
        self.dynamic = self._read_dynamic()
        self.strings = (
            self.read_tag_bytes(DT_STRTAB, self.get_tag(DT_STRSZ))
            if DT_STRTAB in self.dynamic
            else b''
        )

    def read_bytes(self, offset, size):
        """
        Return size bytes at offset. Raises _Damaged where the file ends before, or there are too
        many.
        """
        if size > _MOST_TEXT or offset + size > self.size:
            raise _DamagedElfError(
                'is damaged or cut off: it has %d bytes, and %d are said to be at %d'
                % (self.size, size, offset)
            )
        self.handle.seek(offset)
        data = self.handle.read(size)
        if len(data) != size:
            raise _DamagedElfError('is cut off')
        return data

    def unpack(self, form, offset):
        """Return the numbers (tuple) of a form, as of struct, at offset."""
        form = self.order + form
        return struct.unpack(form, self.read_bytes(offset, struct.calcsize(form)))

    def iterate_entries(self, form, data):
        """Return an iterator over the entries (tuples) of a form, as of struct, in data (bytes)."""
        form = self.order + form
        return struct.iter_unpack(
            form, data[: len(data) // struct.calcsize(form) * struct.calcsize(form)]
        )

    def _read_dynamic(self):
        """Return {tag: list of values} of the dynamic section, {} if there is none."""
        found = {}
        for one, offset, _, length in self.segments:
            if one == PT_DYNAMIC:
                for tag, value in self.iterate_entries(
                    self.word * 2, self.read_bytes(offset, length)
                ):
                    if tag == 0:
                        break
                    found.setdefault(tag, []).append(value)
                break
        return found

    def get_tag(self, tag):
        """
        Return the value (int) of a tag of the dynamic section; of several the last, as ld.so
        does; 0 if none.
        """
        return self.dynamic.get(tag, [0])[-1]

    def find_offset(self, address):
        """
        Return (where in the file an address is, bytes of its segment from there on). Raises
        _Damaged.
        """
        for one, offset, start, length in self.segments:
            if one == PT_LOAD and start <= address < start + length:
                return offset + address - start, start + length - address
        raise _DamagedElfError('is damaged: nothing in it is loaded at address 0x%x' % address)

    def read_tag_bytes(self, tag, size):
        """
        Return size bytes, or those up to the end of the segment, at the address that a tag
        names.
        """
        offset, left = self.find_offset(self.get_tag(tag))
        return self.read_bytes(offset, min(size, left))

    def read_string(self, place):
        """Return the text (str) at a place of the table of strings."""
        end = self.strings.find(b'\0', place)
        if place >= len(self.strings) or end < 0:
            raise _DamagedElfError('is damaged: a name is outside of its table of strings')
        return os.fsdecode(self.strings[place:end])

    def read_tag_strings(self, tag):
        """Return the texts (list of str) of all entries of a tag."""
        return [self.read_string(place) for place in self.dynamic.get(tag, [])]

    def read_interpreter(self):
        """Return the path (str) of the loader that a program asks for, None if it asks for none."""
        for one, offset, _, length in self.segments:
            if one == PT_INTERP:
                return os.fsdecode(self.read_bytes(offset, min(length, 4096)).split(b'\0')[0])
        return None

    def format_machine(self):
        """Return the machine as in ElfFacts (str)."""
        name, bits, order = MACHINES.get(self.number, ('machine %d' % self.number, 64, '<'))[:3]
        return (
            name
            + (', %d-bit' % self.bits if self.bits != bits else '')
            + (
                ''
                if self.order == order
                else ', little-endian'
                if self.order == '<'
                else ', big-endian'
            )
        )

    def iterate_versions(self, tag, count, form, links):
        """
        Yield (offset, its numbers) of the entries of a list of versions; each says how far it is to
        the next.

        form: as of struct; links: place of that number in it.
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

    def read_versions(self):
        """
        Return (verneed, verdef, {number of a version: its name}), the first two as in ElfFacts.
        """
        needed, defined, names = OrderedDict(), set(), {}
        for offset, (_, _, number, _, _, auxiliary, _) in self.iterate_versions(
            DT_VERDEF, DT_VERDEFNUM, 'HHHHIII', 6
        ):
            name = self.read_string(self.unpack('II', offset + auxiliary)[0])
            defined.add(name)
            names[number & 0x7FFF] = name
        left = _MOST_VERSIONS
        for offset, (_, count, file, auxiliary, _) in self.iterate_versions(
            DT_VERNEED, DT_VERNEEDNUM, 'HHIII', 4
        ):
            offset += auxiliary
            for _ in range(count):
                _, flags, number, name, following = self.unpack('IHHII', offset)
                names[number & 0x7FFF] = self.read_string(name)
                if not flags & VER_FLG_WEAK:
                    needed.setdefault(self.read_string(file), set()).add(names[number & 0x7FFF])
                left -= 1
                if left < 0:
                    raise _DamagedElfError(
                        'is damaged: it says that it needs more than %d versions' % _MOST_VERSIONS
                    )
                if not following:
                    break
                offset += following
        return needed, defined, names

    def count_symbols(self):
        """
        Return how many symbols there are (int): the table does not say it, those for looking up
        do.
        """
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
                # nothing is offered, and GNU ld says 1, however many are needed
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
    def _require_sensible_count(count):
        """Return count, a number of symbols. Raises _Damaged if no library has so many."""
        if count > _MOST_SYMBOLS:
            raise _DamagedElfError('is damaged: it says that it has %d symbols' % count)
        return count

    def read_symbols(self, names):
        """
        Return (symbols that are offered, {number of a symbol: what is needed}), without weak ones
        of the latter.

        names: {number of a version: its name}. The second has those of copied data too: see
        read_relocations().
        """
        offered, needed = set(), {}
        count = self.count_symbols() if DT_SYMTAB in self.dynamic else 0
        if not count:
            return offered, needed
        form = 'IIIBBH' if self.bits == 32 else 'IBBHQQ'
        info, section = (3, 5) if self.bits == 32 else (1, 3)
        table = self.read_tag_bytes(DT_SYMTAB, count * struct.calcsize('<' + form))
        numbers = self.read_tag_bytes(DT_VERSYM, count * 2) if DT_VERSYM in self.dynamic else b''
        numbers = [number & 0x7FFF for (number,) in self.iterate_entries('H', numbers)]
        strings, left = self.strings, _MOST_TEXT // 4
        for index, entry in enumerate(self.iterate_entries(form, table)):
            binding = entry[info] >> 4
            if not entry[0] or binding not in (STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE):
                continue
            end = strings.find(b'\0', entry[0])
            left -= end - entry[0]
            if (
                end < 0 or entry[0] >= len(strings) or left < 0
            ):  # names that overlap are longer than their table
                raise _DamagedElfError(
                    'is damaged: the name of a symbol is outside of its table of strings'
                )
            name = strings[entry[0] : end].decode('utf-8', 'replace')
            version = numbers[index] if index < len(numbers) else 0
            whole = name + '@' + names[version] if version > 1 and version in names else name
            if entry[section]:
                offered.update((whole, name))
                needed[index] = whole
            elif binding != STB_WEAK:
                needed[index] = whole
            else:
                continue
            if entry[section]:
                needed[index] = (whole, name)
        return offered, needed

    def read_relocations(self):
        """
        Return (numbers of symbols that are looked up when it is loaded, of those whose data are
        copied: sets; the highest number).
        """
        jump, copy = MACHINES.get(self.number, ('', 0, '', None, None))[3:]
        early, copied, highest, left = set(), set(), 0, _MOST_RELOCATIONS
        shift, mask = (8, 0xFF) if self.bits == 32 else (32, 0xFFFFFFFF)
        # the first ones of DT_RELA, very many, have no symbol
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
            left -= max(0, end - begin) // entry
            if left < 0:
                raise _DamagedElfError(
                    'is damaged: it says that it has more than %d relocations' % _MOST_RELOCATIONS
                )
            for place in range(begin, end, entry * _RELOCATIONS_PER_READ):
                piece = self.read_bytes(
                    offset + place, min(entry * _RELOCATIONS_PER_READ, end - place)
                )
                for numbers in self.iterate_entries(form, piece):
                    symbol, kind = numbers[1] >> shift, numbers[1] & mask
                    highest = max(highest, symbol)
                    if symbol and kind != jump:  # those are of calls, which may wait
                        early.add(symbol)
                        if kind == copy:
                            copied.add(symbol)
        return early, copied, highest

    def read_facts(self, path):
        """Return the ElfFacts, with the path (str) in it."""
        verneed, verdef, names = self.read_versions()
        offered, found = self.read_symbols(names)
        early, copied, _ = self.read_relocations() if found else (set(), set(), 0)
        now = bool(
            DT_BIND_NOW in self.dynamic
            or self.get_tag(DT_FLAGS) & DF_BIND_NOW
            or self.get_tag(DT_FLAGS_1) & DF_1_NOW
        )
        undefined = {}
        for index, symbol in found.items():
            if isinstance(symbol, tuple):
                if index not in copied:
                    continue
                offered -= set(
                    symbol
                )  # room in a program for data of a library, which must have it
                symbol = symbol[0]
            undefined[symbol] = now or index in early or undefined.get(symbol, False)
        return ElfFacts(
            path=path,
            soname=(self.read_tag_strings(DT_SONAME) or [None])[-1],
            machine=self.format_machine(),
            needed=self.read_tag_strings(DT_NEEDED),
            rpath=[
                part
                for text in self.read_tag_strings(DT_RPATH)[-1:]
                for part in text.split(':')
                if part
            ],
            runpath=[
                part
                for text in self.read_tag_strings(DT_RUNPATH)[-1:]
                for part in text.split(':')
                if part
            ],
            verneed=verneed,
            verdef=verdef,
            interpreter=self.read_interpreter(),
            dynamic=bool(self.dynamic),
            undefined=undefined,
            defined=offered,
            nodeflib=bool(self.get_tag(DT_FLAGS_1) & DF_1_NODEFLIB),
            audit=self.read_tag_strings(DT_AUDIT) + self.read_tag_strings(DT_DEPAUDIT),
        )


def read_elf(path):
    """
    Return the ElfFacts of the file path. Raises ElfError if it is missing, no ELF file, or
    damaged.
    """
    try:
        with open_plain_file(path) as handle:
            return _ElfReader(handle).read_facts(path)
    except _DamagedElfError as err:
        raise ElfError("%s %s" % (path, err))
    except OSError as err:
        if err.errno == errno.EISDIR:
            raise ElfError("%s is a folder, wanted a library" % path)
        if err.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise ElfError("%s does not exist" % path)
        raise ElfError("%s cannot be read: %s" % (path, err.strerror))


def read_elf_files(paths):
    """
    Return {path: ElfFacts} of those of paths (list of str) that are ELF files which can be read.
    """
    found = {}
    for path in paths:
        try:
            found[path] = read_elf(path)
        except ElfError:  # a script, or a text that stands in for a library
            continue
    return found

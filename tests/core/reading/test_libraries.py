"""
Which library a file is, held against what made it: gcc and readelf for x86-64, an assembler of three lines for aarch64.
"""
import random
import re
import struct

import pytest

from osu_container.core.reading import libraries
from osu_container.core.reading.libraries import Elf, LibraryVersion, read_library, version_of
from tests.helpers.machine import compile_library, run

RANDOM = random.Random(20261122)
NUMBERS = [(1, 0), (1, 15), (2, 1), (0x7fff, 0xffff), *((RANDOM.randrange(1, 1 << 15), RANDOM.randrange(1 << 16))
                                                        for _ in range(20))]
RETURN, BTI = 0xd65f03c0, 0xd503245f


def movz(register, value):
    """MOVZ Wd, #value (Arm Architecture Reference Manual, C6.2: 0 10 100101 00 imm16 Rd)."""
    return 0b010100101 << 23 | value << 5 | register


def movk_high(register, value):
    """MOVK Wd, #value, LSL #16 (0 11 100101 01 imm16 Rd)."""
    return 0b011100101 << 23 | 1 << 21 | value << 5 | register


# ---- the constant that fi_version() returns, on aarch64

@pytest.mark.parametrize('high, low', NUMBERS)
@pytest.mark.parametrize('before', [(), (BTI,)], ids=['plain', 'bti'])
def test_the_constant_of_two_moves_is_read(high, low, before):
    words = (*before, movz(0, low), movk_high(0, high), RETURN, 0)
    assert libraries._aarch64_constant(words) == high << 16 | low


# ---- the same on x86-64, as a compiler writes it

@pytest.mark.parametrize('high, low', NUMBERS[:6])
@pytest.mark.parametrize('option', ['-fcf-protection=full', '-fcf-protection=none'])
def test_a_compiled_fi_version_is_read(tmp_path, high, low, option):
    text = f'{high}.{low}.7'
    path = compile_library(tmp_path / 'libfabric.so.1', options=['-O2', option], source=f'''
        unsigned fi_version(void) {{ return {high}u << 16 | {low}u; }}
        const char texts[] = "\\0" "127.0.0.1" "\\0" "{text}" "\\0" "{text}.0.1.2" "\\0";
    ''')
    assert read_library(path)[0] == LibraryVersion('libfabric', text)


@pytest.mark.parametrize('text, said', [
    ('Intel(R) MPI Library %s for Linux\\0" "\\0" "2021.14.1\\0', LibraryVersion('Intel MPI', '2021.14.1')),
    ('CRAY MPICH version 9.0.1\\0', LibraryVersion('Cray MPICH', '9.0.1')),
    ('no MPI\\0', LibraryVersion(None, None))])
def test_a_library_without_a_table_of_sections_says_the_same(tmp_path, text, said):
    path = compile_library(tmp_path / 'libmpi.so.12', source=f'const char texts[] = "\\0" "{text}";\n')
    data = bytearray(path.read_bytes())
    assert version_of(bytes(data)) == said
    struct.pack_into('<Q', data, 40, 0)       # e_shoff
    struct.pack_into('<HHH', data, 58, 0, 0, 0)  # e_shentsize, e_shnum, e_shstrndx
    assert version_of(bytes(data)) == said


# ---- the build id

@pytest.mark.parametrize('kind', ['sha1', 'md5', 'uuid', '0x1234567890abcdef', 'none'])
def test_the_build_id_is_what_readelf_says(tmp_path, kind):
    path = compile_library(tmp_path / 'libx.so', options=[f'-Wl,--build-id={kind}'])
    said = re.search(r'Build ID: (\w+)', run(['readelf', '-n', path]).stdout)
    assert Elf(path.read_bytes()).build_id() == (said.group(1) if said else None)
    assert (said is None) == (kind == 'none')


# ---- damaged files

@pytest.mark.parametrize('cut', range(0, 64, 7))
def test_a_file_that_is_cut_off_is_refused(tmp_path, cut):
    data = compile_library(tmp_path / 'libx.so').read_bytes()
    with pytest.raises(ValueError, match='ELF'):
        Elf(data[:cut])

"""Test the reading of ELF files with compiled libraries and files of this machine."""

import glob
import os
import re
import struct

import pytest

from osu_container.image import libraries
from osu_container.image.elf import ElfError, read_elf
from osu_container.image.libraries import (
    ElfSections,
    LibraryVersion,
    identify_library,
    read_library,
)
from tests.helpers.machine import compile_library, mark_repeats_nightly, run

FABRIC = 'FABRIC_1.0 { global: present; };\n'
CALL = 'void present(void); void caller(void) { present(); }\n'


def test_soname_needed_runpath_and_versions_are_read(tmp_path):
    fabric = compile_library(tmp_path / 'libfabric.so.1', version_script=FABRIC)
    mpi = compile_library(
        tmp_path / 'libmpi.so.12', needed=[fabric], rpath='$ORIGIN/mpich', source=CALL
    )
    facts = read_elf(str(mpi))
    assert facts.soname == 'libmpi.so.12'
    assert facts.needed == ['libfabric.so.1', 'libc.so.6']
    assert (facts.rpath, facts.runpath) == ([], ['$ORIGIN/mpich'])
    assert facts.verneed['libfabric.so.1'] == {'FABRIC_1.0'}
    assert 'FABRIC_1.0' in read_elf(str(fabric)).verdef


@pytest.mark.parametrize('content', [b'', b'INPUT(-lmpi)\n', b'\x7fELF broken'])
def test_error_names_the_file_that_is_no_library(tmp_path, content):
    (tmp_path / 'libmpi.so').write_bytes(content)
    with pytest.raises(ElfError, match='libmpi.so'):
        read_elf(str(tmp_path / 'libmpi.so'))


# ---- comparison with readelf


def read_by_readelf(path):
    """Return {field of ElfFacts: value} from the output of readelf for a file."""
    text = run(
        ['readelf', '-W', '-h', '-l', '-d', '-V', '--dyn-syms', path], env={'LC_ALL': 'C'}
    ).stdout

    def entries(tag):
        return re.findall(rf'\({tag}\).*?\[(.*)\]', text)

    rows = [line.split() for line in re.findall(r'^ +\d+: [0-9a-f]{16} .*', text, re.M)]
    rows = [row for row in rows if len(row) > 7 and row[4] in ('GLOBAL', 'WEAK', 'UNIQUE')]
    needs = text.partition('Version needs section')[2].partition('Version definition section')[0]
    return {
        'needed': entries('NEEDED'),
        'soname': (entries('SONAME') or [None])[0],
        'interpreter': (re.findall(r'program interpreter: (.+?)\]', text) or [None])[0],
        'machine': re.search(r'Machine: +(.*)', text).group(1),
        'verneed': {
            name
            for name, flags in re.findall(r'Name: (\S+) +Flags: (\S+)', needs)
            if flags != 'WEAK'
        },
        # ElfFacts.defined contains each symbol also without its version.
        'defined': {row[7].partition('@')[0] for row in rows if row[6] != 'UND'},
        'undefined': {
            row[7].replace('@@', '@') for row in rows if row[6] == 'UND' and row[4] != 'WEAK'
        },
    }


@pytest.mark.parametrize(
    'path',
    mark_repeats_nightly(
        sorted(
            {
                os.path.realpath(path)
                for pattern in (
                    '/usr/lib/*-linux-gnu/lib[a-f]*.so.*',
                    '/usr/lib64/lib[a-f]*.so.*',
                    '/usr/bin/[a-d]*',
                )
                for path in glob.glob(pattern)
                if open(path, 'rb').read(4) == b'\x7fELF'
            }
        ),
        lambda path: ('/bin/' in path, os.path.basename(path)[:4] == 'libc'),
    ),
)
def test_files_of_this_machine_are_read_as_readelf_reads_them(path):
    facts, expected = read_elf(path), read_by_readelf(path)
    copied = {name for name in facts.undefined if name.partition('@')[0] in expected['defined']}
    assert {
        'needed': facts.needed,
        'soname': facts.soname,
        'interpreter': facts.interpreter,
        'machine': facts.machine,
        'verneed': set().union(*facts.verneed.values()),
        'defined': {name for name in facts.defined if '@' not in name}
        | {name.partition('@')[0] for name in copied},
        'undefined': set(facts.undefined) - copied,
    } == expected


def test_a_fifo_in_place_of_a_library_is_an_error(tmp_path):
    os.mkfifo(tmp_path / 'libmpi.so.12')
    with pytest.raises(ElfError, match='/libmpi.so.12'):
        read_elf(str(tmp_path / 'libmpi.so.12'))


# ---- families and releases of libraries

NUMBERS = [(1, 0), (2, 1), (0x7FFF, 0xFFFF)]
RETURN, BTI = 0xD65F03C0, 0xD503245F


def encode_movz(register, value):
    """Encode MOVZ Wd, #value (Arm ARM, C6.2: 0 10 100101 00 imm16 Rd)."""
    return 0b010100101 << 23 | value << 5 | register


def encode_movk_high(register, value):
    """Encode MOVK Wd, #value, LSL #16 (0 11 100101 01 imm16 Rd)."""
    return 0b011100101 << 23 | 1 << 21 | value << 5 | register


# ---- machine code of fi_version() on aarch64


@pytest.mark.parametrize('high, low', NUMBERS)
@pytest.mark.parametrize('before', [(), (BTI,)], ids=['plain', 'bti'])
def test_the_constant_of_two_moves_is_read(high, low, before):
    words = (*before, encode_movz(0, low), encode_movk_high(0, high), RETURN, 0)
    assert libraries._parse_aarch64_constant(words) == high << 16 | low


# ---- compiled fi_version() on this machine


@pytest.mark.parametrize('high, low', NUMBERS)
@pytest.mark.parametrize('option', ['-fcf-protection=full', '-fcf-protection=none'])
def test_a_compiled_fi_version_is_read(tmp_path, high, low, option):
    text = f'{high}.{low}.7'
    path = compile_library(
        tmp_path / 'libfabric.so.1',
        options=['-O2', option],
        source=f'''
        unsigned fi_version(void) {{ return {high}u << 16 | {low}u; }}
        const char texts[] = "\\0" "127.0.0.1" "\\0" "{text}" "\\0" "{text}.0.1.2" "\\0";
    ''',
    )
    assert read_library(path)[0] == LibraryVersion('libfabric', text)


@pytest.mark.parametrize(
    'text, version',
    [
        (
            'Intel(R) MPI Library %s for Linux\\0" "\\0" "2021.14.1\\0',
            LibraryVersion('Intel MPI', '2021.14.1'),
        ),
        ('CRAY MPICH version 9.0.1\\0', LibraryVersion('Cray MPICH', '9.0.1')),
        ('no MPI\\0', LibraryVersion(None, None)),
    ],
)
def test_library_without_section_table_gives_the_same_facts(tmp_path, text, version):
    path = compile_library(
        tmp_path / 'libmpi.so.12', source=f'const char texts[] = "\\0" "{text}";\n'
    )
    data = bytearray(path.read_bytes())
    assert identify_library(bytes(data)) == version
    struct.pack_into('<Q', data, 40, 0)  # e_shoff
    struct.pack_into('<HHH', data, 58, 0, 0, 0)  # e_shentsize, e_shnum, e_shstrndx
    assert identify_library(bytes(data)) == version


# ---- the build id


@pytest.mark.parametrize('kind', ['sha1', '0x1234567890abcdef', 'none'])
def test_build_id_equals_that_of_readelf(tmp_path, kind):
    path = compile_library(tmp_path / 'libx.so', options=[f'-Wl,--build-id={kind}'])
    match = re.search(r'Build ID: (\w+)', run(['readelf', '-n', path]).stdout)
    assert ElfSections(path.read_bytes()).read_build_id() == (match.group(1) if match else None)
    assert (match is None) == (kind == 'none')

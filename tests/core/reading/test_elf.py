"""ELF facts of small real libraries, compiled here."""
import glob
import os
import re

import pytest

from osu_container.core.reading.elf import ElfError, all_elf_facts, elf_facts
from tests.helpers.elf_folder import LOADER, ElfFolder
from tests.helpers.machine import compile_library, run
from tests.helpers.samples import one_of_each

FABRIC = 'FABRIC_1.0 { global: present; };\n'
CALL = 'void present(void); void caller(void) { present(); }\n'


def test_soname_needed_runpath_and_versions_are_read(tmp_path):
    fabric = compile_library(tmp_path / 'libfabric.so.1', version_script=FABRIC)
    mpi = compile_library(tmp_path / 'libmpi.so.12', needed=[fabric], rpath='$ORIGIN/mpich', source=CALL)
    facts = elf_facts(str(mpi))
    assert facts.soname == 'libmpi.so.12'
    assert facts.needed == ['libfabric.so.1', 'libc.so.6']
    assert (facts.rpath, facts.runpath) == ([], ['$ORIGIN/mpich'])
    assert facts.verneed['libfabric.so.1'] == {'FABRIC_1.0'}
    assert 'FABRIC_1.0' in elf_facts(str(fabric)).verdef


def test_rpath_is_told_from_runpath(tmp_path):
    facts = elf_facts(str(compile_library(tmp_path / 'liba.so', rpath='old:/somewhere')))
    assert (facts.rpath, facts.runpath) == (['/somewhere'], [])


@pytest.mark.parametrize('content', [b'', b'INPUT(-lmpi)\n', b'\x7fELF broken'])
def test_a_file_that_is_no_library_is_an_error_with_its_name(tmp_path, content):
    (tmp_path / 'libmpi.so').write_bytes(content)
    with pytest.raises(ElfError, match='libmpi.so'):
        elf_facts(str(tmp_path / 'libmpi.so'))


SYMBOLS = '''
void called(void); extern int data; extern int maybe __attribute__((weak)); void kept(void);
int own = 1; static int hidden = 2; void (*table)(void) = kept;
int offered(void) { called(); return data + own + hidden + (&maybe ? maybe : 0); }
'''


def test_symbols_that_are_offered_and_needed_are_read(tmp_path):
    facts = elf_facts(str(compile_library(tmp_path / 'liba.so', source=SYMBOLS, options=['-Wl,-z,lazy'])))
    assert {'own', 'offered', 'table'} <= facts.defined and 'hidden' not in facts.defined
    # True: looked up when the library is loaded; a weak one is not needed
    assert {name: facts.undefined[name] for name in facts.undefined if '@' not in name} == {
        'called': False, 'data': True, 'kept': True}


@pytest.mark.parametrize('option, now', [('-Wl,-z,now', True), ('-Wl,-z,lazy', False)])
def test_a_library_that_is_bound_at_once_is_told(tmp_path, option, now):
    facts = elf_facts(str(compile_library(tmp_path / 'liba.so', source=CALL, options=[option])))
    assert facts.undefined['present'] is now


def test_symbols_have_their_versions(tmp_path):
    fabric = compile_library(tmp_path / 'libfabric.so.1', version_script=FABRIC)
    assert {'present', 'present@FABRIC_1.0'} <= elf_facts(str(fabric)).defined
    facts = elf_facts(str(compile_library(tmp_path / 'liba.so', needed=[fabric], source=CALL)))
    assert 'present@FABRIC_1.0' in facts.undefined and 'present' not in facts.undefined


def test_program_library_and_static_program_are_told_from_each_other(tmp_path):
    folder = ElfFolder(tmp_path / 'image')
    folder.library('/usr/lib/liba.so', soname='').program('/bin/shared', ['liba.so']).program('/bin/static')
    found = {name: elf_facts(str(folder.on(name))) for name in ('/usr/lib/liba.so', '/bin/shared', '/bin/static')}
    assert {name: (facts.interpreter, facts.dynamic, facts.soname) for name, facts in found.items()} == {
        '/usr/lib/liba.so': (None, True, None), '/bin/shared': (LOADER, True, None), '/bin/static': (None, False, None)}


def test_many_files_are_read_at_once_and_what_is_no_elf_file_is_left_out(tmp_path):
    folder = ElfFolder(tmp_path / 'image with a blank')
    names = [f'/usr/lib/lib{number}.so' for number in range(250)]
    for name in names:
        folder.library(name, ['libc.so.6'], soname=f'soname of {name}') if name == names[0] else folder.copy(
            folder.on(names[0]), name)
    folder.write('/usr/lib/text.so', 'INPUT ( lib0.so )\n').write('/usr/lib/empty.so', '').link('/usr/lib/none.so', 'x')
    paths = [str(folder.on(name)) for name in [*names, '/usr/lib/text.so', '/usr/lib/empty.so', '/usr/lib/none.so']]
    found = all_elf_facts(paths)
    assert list(found) == paths[:250]
    assert {(facts.soname, tuple(facts.needed)) for facts in found.values()} == {
        (f'soname of {names[0]}', ('libc.so.6',))}
    assert found[paths[7]] == elf_facts(paths[7])
    assert all_elf_facts(paths[250:251]) == all_elf_facts([]) == {}


# ---- beside readelf

def of_readelf(path):
    """Return what `readelf` says of a file, as far as ElfFacts have it: a dict."""
    text = run(['readelf', '-W', '-h', '-l', '-d', '-V', '--dyn-syms', path], env={'LC_ALL': 'C'}).stdout

    def entries(tag):
        return re.findall(rf'\({tag}\).*?\[(.*)\]', text)
    rows = [line.split() for line in re.findall(r'^ +\d+: [0-9a-f]{16} .*', text, re.M)]
    rows = [row for row in rows if len(row) > 7 and row[4] in ('GLOBAL', 'WEAK', 'UNIQUE')]
    needs = text.partition('Version needs section')[2].partition('Version definition section')[0]
    return {'needed': entries('NEEDED'), 'soname': (entries('SONAME') or [None])[0],
            'interpreter': (re.findall(r'program interpreter: (.+?)\]', text) or [None])[0],
            'machine': re.search(r'Machine: +(.*)', text).group(1),
            'verneed': {name for name, flags in re.findall(r'Name: (\S+) +Flags: (\S+)', needs) if flags != 'WEAK'},
            # one of a version's own name stands without it
            'defined': {row[7].partition('@')[0] for row in rows if row[6] != 'UND'},
            'undefined': {row[7].replace('@@', '@') for row in rows if row[6] == 'UND' and row[4] != 'WEAK'}}


@pytest.mark.parametrize('path', one_of_each(sorted({os.path.realpath(path) for pattern in (
    '/usr/lib/*-linux-gnu/lib[a-f]*.so.*', '/usr/lib64/lib[a-f]*.so.*', '/usr/bin/[a-d]*')
    for path in glob.glob(pattern)
    if open(path, 'rb').read(4) == b'\x7fELF'}), lambda path: ('/bin/' in path, os.path.basename(path)[:4] == 'libc')))
def test_files_of_this_machine_are_read_as_readelf_reads_them(path):
    facts, wanted = elf_facts(path), of_readelf(path)
    copied = {name for name in facts.undefined if name.partition('@')[0] in wanted['defined']}
    assert {'needed': facts.needed, 'soname': facts.soname, 'interpreter': facts.interpreter, 'machine': facts.machine,
            'verneed': set().union(*facts.verneed.values()),
            'defined': {name for name in facts.defined if '@' not in name} | {
                name.partition('@')[0] for name in copied},
            'undefined': set(facts.undefined) - copied} == wanted


def test_a_fifo_in_place_of_a_library_is_an_error(tmp_path):
    os.mkfifo(tmp_path / 'libmpi.so.12')
    with pytest.raises(ElfError, match='libmpi.so.12 cannot be read: it is no plain file'):
        elf_facts(str(tmp_path / 'libmpi.so.12'))

"""ELF facts and dependency closures of small real libraries, compiled here."""
import pytest
from conftest import compile_library
from generic._mpicontainer_elf import ElfError, closure, elf_facts

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


def test_a_missing_library_is_an_error_with_its_path(tmp_path):
    with pytest.raises(ElfError, match=r'libnone\.so does not exist'):
        elf_facts(str(tmp_path / 'libnone.so'))


def test_closure_takes_what_the_image_lacks_and_never_glibc(tmp_path):
    deep = compile_library(tmp_path / 'system' / 'libdeep.so.1')
    given = compile_library(tmp_path / 'system' / 'libgiven.so.1')
    middle = compile_library(tmp_path / 'private' / 'libmiddle.so.1', needed=[deep, given])
    top = compile_library(tmp_path / 'libtop.so.1', needed=[middle], rpath='$ORIGIN/private')
    libraries, missing = closure([str(top)], [str(tmp_path / 'system')], lambda soname: soname == 'libgiven.so.1')
    assert list(libraries) == ['libtop.so.1', 'libmiddle.so.1', 'libdeep.so.1']
    assert libraries['libmiddle.so.1'].path == str(middle)
    assert missing == []


def test_closure_names_what_neither_side_has_and_who_needs_it(tmp_path):
    gone = compile_library(tmp_path / 'libgone.so.1')
    top = compile_library(tmp_path / 'libtop.so.1', needed=[gone])
    gone.unlink()
    _, missing = closure([str(top)], [str(tmp_path)], lambda soname: False)
    assert [(soname, facts.path) for soname, facts in missing] == [('libgone.so.1', str(top))]

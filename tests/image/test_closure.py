"""What must come along with libraries of a host, beside what the loader of this machine loads with the same files."""

import pytest

from osu_container.image.closure import closure
from osu_container.image.elf import elf_facts
from tests.helpers.elf_folder import LIBC, ElfFolder, real_load
from tests.helpers.machine import compile_library

PROGRAM, TOP = '/bin/program', '/opt/top/libtop.so'
#: Where the loader of this machine looks by default
DEFAULT = ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib', '/usr/lib']
MULTIARCH = 'x86_64-linux-gnu' in LIBC


@pytest.fixture
def folder(tmp_path):
    return ElfFolder(tmp_path / 'host')


def of_folder(folder, start=TOP):
    """Return ([path], set of names that are missing) of the closure of one library, paths as in the ElfFolder."""
    def read(path):
        return elf_facts(str(folder.on(path)))._replace(path=path)

    libraries, missing = closure([start], DEFAULT, lambda soname: False, (), read,
                                 lambda path: folder.on(path).is_file())
    return [facts.path for facts in libraries.values()], {soname for soname, _ in missing}


def both(folder):
    """Return (what the real loader loads with a program that needs TOP, the same of closure()), and what they miss."""
    folder.program(PROGRAM, [TOP])
    return real_load(folder, PROGRAM), of_folder(folder)


def top(folder, *places, needed=('libb.so',), **options):
    """Link TOP, and libb.so to several places."""
    for place in places:
        folder.library(f'{place}/libb.so')
    return folder.library(TOP, needed, soname=TOP, **options)


def foreign(folder, path):
    """Write a library of another kind of processor."""
    folder.library(path)
    content = bytearray(folder.on(path).read_bytes())
    content[18:20] = (183 if content[18] == 62 else 62).to_bytes(2, 'little')
    return folder.write(path, bytes(content))


def of_32_bits(folder, path):
    """Write the begin of a library of the same processors, but for programs of 32 bits (x32)."""
    folder.library(path)
    content = bytearray(folder.on(path).read_bytes())
    content[4] = 1
    return folder.write(path, bytes(content))


#: What is not the search of image/loader.py, which has tests of its own:
#: name -> (function that fills a folder, the libraries in the end, those that are missing)
CASES = {
    'default path': (lambda it: top(it, '/usr/lib'), ['/usr/lib/libb.so'], []),
    'another class in a default folder': (
        lambda it: of_32_bits(top(it, '/usr/lib'), '/lib/libb.so'), ['/usr/lib/libb.so'], []),
    'of another machine only': (lambda it: foreign(top(it), '/usr/lib/libb.so'), [], ['libb.so']),
    '$LIB': (lambda it: top(it.with_libc(), '/opt/lib64', '/opt/lib/x86_64-linux-gnu', runpath='/opt/$LIB'),
             ['/opt/lib/x86_64-linux-gnu/libb.so' if MULTIARCH else '/opt/lib64/libb.so'], []),
    'a needed name with a slash is a path': (
        lambda it: top(it, '/s', needed=['/s/libb.so']), ['/s/libb.so'], []),
}


@pytest.mark.parametrize('name', CASES)
def test_what_comes_along_is_what_the_real_loader_loads(folder, name):
    fill, paths, missing = CASES[name]
    fill(folder)
    real, ours = both(folder)
    assert real == ([TOP, *paths], set(missing))
    assert ours == real


def test_what_the_image_has_stays_out_and_so_does_glibc(tmp_path):
    deep = compile_library(tmp_path / 'system' / 'libdeep.so.1')
    given = compile_library(tmp_path / 'system' / 'libgiven.so.1')
    middle = compile_library(tmp_path / 'private' / 'libmiddle.so.1', needed=[given, deep])
    top = compile_library(tmp_path / 'libtop.so.1', needed=[middle], rpath='$ORIGIN/private')
    libraries, missing = closure([str(top)], [str(tmp_path / 'system')], lambda soname: soname == 'libgiven.so.1')
    assert list(libraries) == ['libtop.so.1', 'libmiddle.so.1', 'libdeep.so.1']
    assert libraries['libmiddle.so.1'].path == str(middle)
    assert missing == []


def test_what_neither_side_has_is_named_and_who_needs_it(tmp_path):
    gone = compile_library(tmp_path / 'libgone.so.1')
    top = compile_library(tmp_path / 'libtop.so.1', needed=[gone])
    gone.unlink()
    _, missing = closure([str(top)], [str(tmp_path)], lambda soname: False)
    assert [(soname, facts.path) for soname, facts in missing] == [('libgone.so.1', str(top))]


def test_what_the_cache_of_the_host_has_comes_before_its_folders(tmp_path):
    cached, other = (compile_library(tmp_path / name / 'libdeep.so.1') for name in ('cached', 'folder'))
    top = compile_library(tmp_path / 'libtop.so.1', needed=[other])
    places = {'libdeep.so.1': str(cached)}
    found, missing = closure([str(top)], [str(tmp_path / 'folder')], lambda soname: False,
                             cached=lambda name, machine: places.get(name))
    assert (found['libdeep.so.1'].path, missing) == (str(cached), [])
    found, _ = closure([str(top)], [], lambda soname: False, [str(tmp_path / 'folder')],
                       cached=lambda name, machine: places.get(name))
    assert found['libdeep.so.1'].path == str(other), 'but not before those of one build'

"""
Test which host libraries must be injected together with a library.

The tests compare the result with the libraries that the loader of this machine loads.
"""

import pytest

from osu_container.image.closure import collect_dependencies
from osu_container.image.elf import read_elf
from tests.helpers.elf_folder import LIBC, ElfFolder, list_real_load
from tests.helpers.machine import compile_library

PROGRAM, TOP = '/bin/program', '/opt/top/libtop.so'
#: Default folders of the loader of this machine
DEFAULT = ['/lib/x86_64-linux-gnu', '/usr/lib/x86_64-linux-gnu', '/lib', '/usr/lib']
MULTIARCH = 'x86_64-linux-gnu' in LIBC


@pytest.fixture
def folder(tmp_path):
    return ElfFolder(tmp_path / 'host')


def list_closure(folder, start=TOP):
    """Return ([path in the ElfFolder], {missing soname}) that collect_dependencies() finds."""

    def read(path):
        return read_elf(str(folder.resolve_path(path)))._replace(path=path)

    libraries, missing = collect_dependencies(
        [start],
        DEFAULT,
        lambda soname: False,
        (),
        read,
        lambda path: folder.resolve_path(path).is_file(),
    )
    return [facts.path for facts in libraries.values()], {soname for soname, _ in missing}


def list_both_closures(folder):
    """
    Return the result of the real loader for TOP, and the result of list_closure().

    Both results are ([path], {missing soname}).
    """
    folder.program(PROGRAM, [TOP])
    return list_real_load(folder, PROGRAM), list_closure(folder)


def link_top(folder, *places, needed=('libb.so',), **options):
    """Link TOP, and a copy of libb.so in each folder of `places`."""
    for place in places:
        folder.library(f'{place}/libb.so')
    return folder.library(TOP, needed, soname=TOP, **options)


def write_x32_library(folder, path):
    """Write a file with the header of a 32-bit library for the same processor (x32)."""
    folder.library(path)
    content = bytearray(folder.resolve_path(path).read_bytes())
    content[4] = 1
    return folder.write(path, bytes(content))


#: Name of a case -> (function that fills a folder, expected libraries besides TOP, expected missing
#: sonames). test_loader.py has further cases for the search of image/loader.py
CASES = {
    '32-bit library in a default folder is skipped': (
        lambda folder: write_x32_library(link_top(folder, '/usr/lib'), '/lib/libb.so'),
        ['/usr/lib/libb.so'],
        [],
    ),
    '$LIB': (
        lambda folder: link_top(
            folder.add_libc(), '/opt/lib64', '/opt/lib/x86_64-linux-gnu', runpath='/opt/$LIB'
        ),
        ['/opt/lib/x86_64-linux-gnu/libb.so' if MULTIARCH else '/opt/lib64/libb.so'],
        [],
    ),
}


@pytest.mark.parametrize('name', CASES)
def test_closure_equals_the_libraries_of_the_real_loader(folder, name):
    fill, paths, missing = CASES[name]
    fill(folder)
    real, ours = list_both_closures(folder)
    assert real == ([TOP, *paths], set(missing))
    assert ours == real


def test_closure_omits_glibc_and_libraries_of_the_image(tmp_path):
    deep = compile_library(tmp_path / 'system' / 'libdeep.so.1')
    given = compile_library(tmp_path / 'system' / 'libgiven.so.1')
    middle = compile_library(tmp_path / 'private' / 'libmiddle.so.1', needed=[given, deep])
    top = compile_library(tmp_path / 'libtop.so.1', needed=[middle], rpath='$ORIGIN/private')
    libraries, missing = collect_dependencies(
        [str(top)], [str(tmp_path / 'system')], lambda soname: soname == 'libgiven.so.1'
    )
    assert list(libraries) == ['libtop.so.1', 'libmiddle.so.1', 'libdeep.so.1']
    assert libraries['libmiddle.so.1'].path == str(middle)
    assert missing == []


def test_missing_library_is_named_with_its_dependent(tmp_path):
    gone = compile_library(tmp_path / 'libgone.so.1')
    top = compile_library(tmp_path / 'libtop.so.1', needed=[gone])
    gone.unlink()
    _, missing = collect_dependencies([str(top)], [str(tmp_path)], lambda soname: False)
    assert [(soname, facts.path) for soname, facts in missing] == [('libgone.so.1', str(top))]


def test_host_cache_precedes_host_folders(tmp_path):
    cached, other = (
        compile_library(tmp_path / name / 'libdeep.so.1') for name in ('cached', 'folder')
    )
    top = compile_library(tmp_path / 'libtop.so.1', needed=[other])
    places = {'libdeep.so.1': str(cached)}
    libraries, missing = collect_dependencies(
        [str(top)],
        [str(tmp_path / 'folder')],
        lambda soname: False,
        find_cached=lambda name, machine: places.get(name),
    )
    assert (libraries['libdeep.so.1'].path, missing) == (str(cached), [])
    libraries, _ = collect_dependencies(
        [str(top)],
        [],
        lambda soname: False,
        [str(tmp_path / 'folder')],
        find_cached=lambda name, machine: places.get(name),
    )
    assert libraries['libdeep.so.1'].path == str(other), 'folders of one build precede the cache'

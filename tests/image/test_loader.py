"""
Test the simulated loader: it must load the same files as the loader of this machine.

Both loaders get the same folder of small compiled programs and libraries.
"""

import itertools
import random
import re
import struct

import pytest

from osu_container.image.closure import collect_dependencies
from osu_container.image.loader import (
    list_undefined_symbols,
    list_version_problems,
    simulate_load,
)
from tests.helpers.elf_folder import (
    ElfFolder,
    list_real_load,
    open_simulated,
    run_in_folder,
    trace_loader,
)
from tests.helpers.machine import compile_library, run

PROGRAM = '/bin/program'


@pytest.fixture
def folder(tmp_path):
    return ElfFolder(tmp_path / 'image')


def list_both_loads(folder, library_path=(), preload=()):
    """Return ((paths, missing names) of the real loader, the same of the simulated loader)."""
    image, container = open_simulated(folder)
    with image:
        process = simulate_load([*preload, PROGRAM], container, list(library_path))
    simulated = (
        [library.path for library in process.loaded if library.path != PROGRAM],
        {name for name, _ in process.missing},
    )
    real, missing = list_real_load(folder, PROGRAM, library_path, preload)
    return (real, missing), simulated


def simulate_process(folder, library_path=()):
    """Return the Process that simulate_load() returns for PROGRAM."""
    image, container = open_simulated(folder)
    with image:
        return simulate_load([PROGRAM], container, list(library_path))


# ---- loaded files and their order


def link_two_copies(folder, *places):
    """Write a copy of libb.so to each folder of `places`."""
    for place in places:
        folder.library(f'{place}/libb.so')
    return folder


#: Name of a case -> (function that fills a folder, LD_LIBRARY_PATH, LD_PRELOAD, expected paths).
#: The test also compares the expected paths with the real loader, so that each case tests the rule
#: in its name
CASES = {
    '$ORIGIN is the folder of the link that leads to the library': (
        lambda folder: (
            link_two_copies(folder, '/l/sub', '/real/sub')
            .library('/real/liba.so', ['libb.so'], runpath='$ORIGIN/sub')
            .link('/l/liba.so', '../real/liba.so')
            .program(PROGRAM, ['liba.so'])
        ),
        ['/l'],
        [],
        ['/l/liba.so', '/l/sub/libb.so'],
    ),
    'DT_RUNPATH of a library disables DT_RPATH of its requesters': (
        lambda folder: (
            link_two_copies(folder, '/r', '/l')
            .library('/usr/lib/liba.so', ['libb.so'], runpath='/none')
            .program(PROGRAM, ['liba.so'], rpath='/r')
        ),
        ['/l'],
        [],
        ['/usr/lib/liba.so', '/l/libb.so'],
    ),
    'DT_RPATH of a library counts for the needs of its needs': (
        lambda folder: (
            link_two_copies(folder, '/r', '/l')
            .library('/usr/lib/libd.so', ['libb.so'])
            .library('/usr/lib/liba.so', ['libd.so'], rpath='/r')
            .program(PROGRAM, ['liba.so'])
        ),
        ['/l'],
        [],
        ['/usr/lib/liba.so', '/usr/lib/libd.so', '/r/libb.so'],
    ),
    'a needed name with a slash is a path': (
        lambda folder: link_two_copies(folder, '/r', '/usr/lib').program(PROGRAM, ['/r/libb.so']),
        [],
        [],
        ['/r/libb.so'],
    ),
    'DT_RPATH of the program counts for needs of a preloaded library': (
        lambda folder: (
            link_two_copies(folder, '/r', '/l')
            .library('/p/libd.so', ['libb.so'])
            .program(PROGRAM, ['liba.so'], rpath='/r')
            .library('/usr/lib/liba.so')
        ),
        ['/l'],
        ['/p/libd.so'],
        ['/p/libd.so', '/usr/lib/liba.so', '/r/libb.so'],
    ),
}


def normalize_paths(paths):
    """
    Return paths without `FOLDER/..`.

    The simulated loader and the real loader may write the same path differently.
    """
    normalized = []
    for path in paths:
        while re.search(r'/[^/]+/\.\.(?=/)', path):
            path = re.sub(r'/[^/]+/\.\.(?=/)', '', path, count=1)
        normalized.append(path)
    return normalized


@pytest.mark.parametrize('name', CASES)
def test_load_order_equals_that_of_the_real_loader(folder, name):
    fill, library_path, preload, expected = CASES[name]
    fill(folder)
    (real, missing), (ours, ours_missing) = list_both_loads(folder, library_path, preload)
    assert real == expected, 'the case does not test what its name says'
    assert (normalize_paths(ours), ours_missing) == (normalize_paths(real), missing)


def test_image_cache_precedes_its_default_folders(folder):
    link_two_copies(folder, '/opt/b', '/usr/lib').program(PROGRAM, ['libb.so', 'liba.so'])
    folder.library('/opt/b/liba.so.1.1', soname='liba.so').write(
        '/etc/ld.so.conf', '/opt/b\n'
    ).write_cache()
    folder.link('/opt/b/liba.so', 'liba.so.1.1')
    real, ours = list_both_loads(folder)
    assert ours == real
    folder.write_cache()
    real, ours = list_both_loads(folder)
    assert real == (['/opt/b/libb.so', '/opt/b/liba.so'], set())
    assert ours == real


def test_stale_cache_entry_falls_back_to_default_folders(folder):
    link_two_copies(folder, '/opt/b', '/usr/lib').program(PROGRAM, ['libb.so']).write(
        '/etc/ld.so.conf', '/opt/b\n'
    ).write_cache()
    folder.resolve_path('/opt/b/libb.so').unlink()
    real, ours = list_both_loads(folder)
    assert real == (['/usr/lib/libb.so'], set())
    assert ours == real


def test_origin_is_the_folder_of_the_file_not_of_the_link(folder):
    """
    In the images of this project, /opt/osu/bin/osu_bw is such a link to /opt/osu/libexec.

    The test uses no chroot, because the loader reads $ORIGIN from /proc.
    """
    link_two_copies(folder, '/opt/bin/sub', '/opt/libexec/sub', '/usr/lib').link(
        PROGRAM, '../opt/libexec/program'
    )
    folder.program('/opt/libexec/program', ['libb.so'], rpath='$ORIGIN/sub')
    done = run([folder.resolve_path(PROGRAM)], env={'LD_TRACE_LOADED_OBJECTS': '1'})
    assert f'libb.so => {folder}/opt/libexec/sub/libb.so' in done.stdout
    assert [library.path for library in simulate_process(folder).loaded[1:]] == [
        '/opt/libexec/sub/libb.so'
    ]


# ---- random graphs of libraries

NAMES = [f'lib{letter}.so' for letter in 'abcdefghijkl']
PLACES = ['/usr/lib', '/lib', '/p', '/q', '/p/sub']
SEARCHES = [
    None,
    None,
    {'runpath': '/q'},
    {'rpath': '/q'},
    {'runpath': '/p:/q'},
    {'rpath': '$ORIGIN/sub'},
    {'runpath': '$ORIGIN'},
    {'rpath': '/p/sub:/none'},
    {'rpath': '/p', 'runpath': '/p/sub'},
    {'rpath': '${ORIGIN}/../q'},
]


@pytest.mark.parametrize('seed', range(16))
def test_random_graphs_load_as_by_the_real_loader(folder, seed):
    """
    The graph has twelve names in five folders. DT_RPATH, DT_RUNPATH and LD_LIBRARY_PATH meet.

    Some libraries are missing, links or copies, have another soname, or need each other.
    """
    rng = random.Random(seed)

    def options(least, most):
        return {
            'needed': rng.sample(NAMES, rng.randint(least, most)),
            **(rng.choice(SEARCHES) or {}),
        }

    for name in NAMES:
        for place in rng.sample(PLACES, rng.choice([0, 1, 1, 2, 3])):
            if rng.random() < 0.1:
                folder.link(f'{place}/{name}', rng.choice([f'/q/{name}', rng.choice(NAMES)]))
                continue
            soname = rng.choice([name] * 8 + ['', rng.choice(NAMES)])
            folder.library(f'{place}/{name}', soname=soname, **options(0, 3))
    program = options(1, 5)
    folder.program(PROGRAM, **program)
    library_path = rng.choice([[], ['/q'], ['/p/sub', '/p'], ['/none', '/lib']])
    library_paths = [
        path
        for path in (f'{place}/{name}' for place, name in itertools.product(PLACES, NAMES))
        if folder.resolve_path(path).is_file() and not folder.resolve_path(path).is_symlink()
    ]
    preload = rng.choice([[], [], rng.sample(library_paths, 1)])
    (real, missing), (ours, ours_missing) = list_both_loads(folder, library_path, preload)
    assert (normalize_paths(ours), ours_missing) == (normalize_paths(real), missing), (
        program,
        library_path,
        preload,
    )


# ---- versions and symbols

MAP = {
    'old': 'V1 { global: first; local: *; };\n',
    'new': 'V1 { global: first; };\nV2 { global: second; local: *; } V1;\n',
    'other': 'W1 { global: first; second; local: *; };\n',
    None: None,
}
SOURCE = 'int first(void) { return 1; }\nint second(void) { return 2; }\nint data = 3;\n'
CALLS = {
    'first': 'int first(void); int user(void) { return first(); }\n',
    'second': 'int second(void); int user(void) { return second(); }\n',
    'weak': 'int second(void) __attribute__((weak));\n'
    'int user(void) { return second ? second() : 0; }\n',
    'data': 'extern int data; int user(void) { return data; }\n',
    'weak data': 'extern int data __attribute__((weak));\n'
    'int user(void) { return &data ? data : 0; }\n',
    'address': 'int second(void); int (*user)(void) = second;\n',
    'address in code': 'int second(void); void *user(void) { return second; }\n',
}


def fill_folder(folder, parts, call, built_with, meets, options=()):
    """
    Write PROGRAM, libuser.so and libp.so, the provider of a symbol that libuser.so needs.

    call: key of CALLS, the source of libuser.so. built_with, meets: kinds of libp.so (key of MAP,
    or 'lacks' for a libp.so without the symbols) at build time and at run time. options: options of
    the linker for libuser.so.
    """

    def provider(kind):
        source = {'lacks': 'int nothing;\n', 'old': SOURCE.replace('second', 'third')}.get(
            kind, SOURCE
        )
        return parts.plain('libp.so', source=source, version_script=MAP.get(kind))

    user = parts.plain(
        'libuser.so',
        source=CALLS[call],
        options=tuple(options),
        needed=[] if built_with == 'nothing' else [provider(built_with)],
    )
    folder.add_libc().copy(user, '/usr/lib/libuser.so').copy(provider(meets), '/usr/lib/libp.so')
    folder.program(PROGRAM, ['libuser.so', 'libp.so'])
    return folder


def list_real_problems(folder):
    """
    Return the missing versions and undefined symbols that the real loader reports.

    The result is ({(path of the file that needs the version, soname, version)}, {(path of the file,
    symbol): whether the loader resolves the symbol at load time}).
    """
    at_once, in_the_end = (
        trace_loader(folder, PROGRAM, LD_WARN='yes', **more)
        for more in ({}, {'LD_BIND_NOW': 'yes'})
    )
    lacking = {
        (by, library.rpartition('/')[2], version)
        for library, version, by in re.findall(
            r"(\S+): version `(\S+)' not found \(required by (\S+)\)",
            at_once.stdout + at_once.stderr,
        )
    }

    def undefined(done):
        text = done.stdout + done.stderr
        return {
            (path, symbol + (f'@{version}' if version else ''))
            for symbol, version, path in re.findall(
                r'undefined symbol: (\w+)(?:, version (\S+))?\s+\((\S+)\)', text
            )
        }

    early = undefined(at_once)
    return lacking, {item: item in early for item in undefined(in_the_end)}


def list_simulated_problems(folder):
    """Return the result of list_real_problems() for the simulated loader."""
    process = simulate_process(folder)
    assert process.missing == []
    lacking = {
        (library.path, soname, version)
        for library, soname, versions, _ in list_version_problems(process)
        for version in versions
    }
    return lacking, {
        (library.path, symbol): at_once
        for library, symbol, at_once in list_undefined_symbols(process)
    }


#: Name of a case -> (call, built_with, meets, options of fill_folder(), expected problem). The
#: problems are '', 'version', 'at once' (at load time) and 'later' (at the first call)
PROBLEMS = {
    'all versions exist': ('second', 'new', 'new', [], ''),
    'older release lacks a used version': ('second', 'new', 'old', [], 'version'),
    'older release has all used versions': ('first', 'new', 'old', [], ''),
    'library with other versions': ('second', 'new', 'other', [], 'version'),
    'only a weak symbol needs the version': ('weak', 'new', 'old', [], 'version'),
    'library without versions': ('second', 'new', None, [], ''),
    'built without versions, meets a library with versions': ('second', None, 'new', [], ''),
    'no provider, function': ('second', 'nothing', 'lacks', [], 'later'),
    'no provider, function, bound now': ('second', 'nothing', 'lacks', ['-Wl,-z,now'], 'at once'),
    'provider lost the function': ('second', None, 'lacks', ['-Wl,-z,lazy'], 'later'),
    'provider lost the function, no PLT': ('second', None, 'lacks', ['-fno-plt'], 'at once'),
    'provider lost the data': ('data', None, 'lacks', [], 'at once'),
    'provider lost the function whose address is kept': ('address', None, 'lacks', [], 'at once'),
    'provider lost the function whose address is used': (
        'address in code',
        None,
        'lacks',
        [],
        'at once',
    ),
    'provider lost a weak function': ('weak', None, 'lacks', ['-Wl,-z,now'], ''),
    'provider lost weak data': ('weak data', None, 'lacks', [], ''),
}


@pytest.mark.parametrize('name', PROBLEMS)
def test_missing_versions_and_symbols_match_the_real_loader(folder, parts, name):
    call, built_with, meets, options, expected = PROBLEMS[name]
    fill_folder(folder, parts, call, built_with, meets, options)
    lacking, undefined = list_real_problems(folder)
    problem = (
        'version'
        if lacking
        else ''
        if not undefined
        else 'at once'
        if any(undefined.values())
        else 'later'
    )
    assert problem == expected, 'the case does not test what its name says'
    ours, ours_undefined = list_simulated_problems(folder)
    assert ours == lacking
    # The real loader stops at a missing version, but the simulated loader continues.
    if not lacking:
        assert ours_undefined == undefined


def test_copied_data_is_resolved_at_program_start(folder):
    """
    A program contains space for the data that it copies from a library (R_X86_64_COPY).

    The symbol therefore does not look undefined in the file of the program.
    """
    folder.add_libc().compile_source('/build/libp.so', SOURCE).compile_source(
        '/usr/lib/libp.so', 'int nothing;\n'
    )
    folder.executable(
        PROGRAM, 'extern int data;\nint main(void) { return data; }\n', ['/build/libp.so']
    )
    done = run_in_folder(folder, [PROGRAM])
    assert done.returncode == 127 and 'undefined symbol: data' in done.stderr
    assert (PROGRAM, 'data', True) in [
        (library.path, symbol, at_once)
        for library, symbol, at_once in list_undefined_symbols(simulate_process(folder))
    ]


def test_weak_version_need_is_not_missing(folder, parts):
    """
    Newer linkers set a flag on a version that only weak symbols need.

    The flag is in the field vna_flags of <elf.h>. The test sets the flag itself, because older
    linkers do not.
    """
    fill_folder(folder, parts, 'weak', 'new', 'old')
    assert list_simulated_problems(folder)[0] == list_real_problems(folder)[0] != set()
    path = folder.resolve_path('/usr/lib/libuser.so')
    content, entry = path.read_bytes(), struct.pack('<IH', 0x592, 0)  # hash of V2, flags
    assert content.count(entry) == 1
    path.write_bytes(content.replace(entry, struct.pack('<IH', 0x592, 2)))
    assert list_real_problems(folder) == (set(), {})
    assert list_simulated_problems(folder) == (set(), {})


def test_a_symbol_of_any_loaded_library_counts(folder, parts):
    """
    The library that was linked has lost the symbol, but another library exports the symbol.

    The loader searches a symbol in all libraries, in the order of loading.
    """
    fill_folder(folder, parts, 'second', None, 'lacks', ['-Wl,-z,now'])
    folder.compile_source('/usr/lib/libmore.so', SOURCE)
    assert list_simulated_problems(folder)[1] == list_real_problems(folder)[1] != {}
    folder.program(PROGRAM, ['libuser.so', 'libp.so', 'libmore.so'])
    assert list_simulated_problems(folder)[1] == list_real_problems(folder)[1] == {}


# ---- libraries that must be injected together with a library of the host


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

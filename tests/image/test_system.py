"""
Test the default library search of glibc's and musl's loaders.

The tests compare image/system.py with the loaders of this machine.
"""

import glob
import random
import re
import shutil

import pytest

from osu_container.image.elf import read_elf
from osu_container.image.loader import simulate_load
from osu_container.image.system import (
    find_default_folders,
    list_hwcaps_folders,
    read_cache,
    read_processor,
)
from tests.helpers.elf_folder import (
    LOADER,
    ElfFolder,
    join_folders,
    list_real_load,
    open_simulated,
    run_in_folder,
)
from tests.helpers.machine import run

PROGRAM = '/bin/program'
MACHINE = read_elf(LOADER).machine


@pytest.fixture
def folder(tmp_path):
    return ElfFolder(tmp_path / 'image')


def list_simulated_load(folder, library_path=()):
    """Return ([path], {missing name}) for the libraries that the simulated loader loads."""
    image, container = open_simulated(folder)
    with image:
        process = simulate_load([PROGRAM], container, list(library_path))
    return [library.path for library in process.loaded[1:]], {name for name, _ in process.missing}


# ---- glibc


def test_compiled_in_paths_equal_loader_diagnostics():
    """The option --list-diagnostics of the loader (since glibc 2.33) prints the same values."""
    diagnostics = run([LOADER, '--list-diagnostics']).stdout
    if 'path.system_dirs' not in diagnostics:
        pytest.skip('the loader of this machine is older than glibc 2.33')
    with open(LOADER, 'rb') as handle:
        loader = handle.read()
    assert find_default_folders(loader, []) == [
        path.rstrip('/')
        for path in re.findall(r'^path\.system_dirs\[.*\]="(.*)"', diagnostics, re.M)
    ]
    names = re.search(r'^dl_hwcaps_subdirs="(.*)"', diagnostics, re.M).group(1).split(':')
    active = int(re.search(r'^dl_hwcaps_subdirs_active=(\S+)', diagnostics, re.M).group(1), 16)
    assert [
        name
        for name in list_hwcaps_folders(loader, read_processor())
        if name.startswith('glibc-hwcaps/')
    ] == ['glibc-hwcaps/' + name for number, name in enumerate(names) if active >> number & 1]


@pytest.mark.parametrize('form', ['new', 'compat'])
def test_the_cache_is_read_as_ldconfig_does(tmp_path, form):
    cache = tmp_path / 'cache'
    ldconfig = shutil.which('ldconfig') or '/sbin/ldconfig'
    done = run([ldconfig, '-X', '-C', cache, '-c', form])
    if done.returncode != 0:
        pytest.skip(done.stderr)
    expected = {}
    # Select the 64-bit libraries of this machine. The cache may contain other libraries, too.
    for name, path in re.findall(
        r'^\t(\S+) \(libc6,(?:x86-64|AArch64)[^)]*\) => (\S+)$',
        run([ldconfig, '-p', '-C', cache]).stdout,
        re.M,
    ):
        expected.setdefault(name, path)
    assert read_cache(cache.read_bytes(), MACHINE) == expected != {}
    assert read_cache(cache.read_bytes(), 'PowerPC64') == {}
    assert read_cache(cache.read_bytes()[:-200], MACHINE) == {} or form == 'compat'


SUBFOLDERS = [
    'glibc-hwcaps/x86-64-v2',
    'glibc-hwcaps/x86-64-v3',
    'glibc-hwcaps/x86-64-v4',
    'glibc-hwcaps/x86-64-v9',
]


@pytest.mark.parametrize('seed', range(6))
def test_hwcaps_copies_are_chosen_as_by_the_real_loader(folder, seed):
    """The folders are in DT_RUNPATH, in LD_LIBRARY_PATH, default folders or in the cache."""
    rng = random.Random(seed)
    for place in ('/r', '/l', '/usr/lib', '/opt/b'):
        for name in 'abcd':
            for sub in ['', *rng.sample(SUBFOLDERS, 3)]:
                if sub or rng.random() < 0.5:
                    folder.library(f'{place}/{sub}/lib{name}.so'.replace('//', '/'))
    folder.program(PROGRAM, [f'lib{name}.so' for name in 'abcd'], runpath=rng.choice([None, '/r']))
    if rng.random() < 0.7:
        folder.write('/etc/ld.so.conf', '/opt/b\n').write_cache()
    library_path = rng.choice([[], ['/l']])
    assert list_simulated_load(folder, library_path) == list_real_load(
        folder, PROGRAM, library_path
    )


@pytest.mark.parametrize(
    'library_path, options',
    [
        (['$ORIGIN/../own'], {}),
        (['/own/${LIB}'], {}),
        ([], {'rpath': '/own/$LIB:/p'}),
        ([], {'runpath': '/own/$NOTHING:/own/lib64'}),
    ],
)
def test_loader_variables_act_as_in_the_real_loader(folder, library_path, options):
    folder.add_libc().program(PROGRAM, ['libb.so'], **options)
    for place in (
        '/own',
        '/own/lib64',
        '/own/lib',
        '/own/lib/x86_64-linux-gnu',
        '/own/lib/aarch64-linux-gnu',
        '/p',
    ):
        folder.library(f'{place}/libb.so')
    paths, missing = list_simulated_load(folder, library_path)
    real, real_missing = list_real_load(folder, PROGRAM, library_path)
    assert ([path.replace('/bin/../', '/') for path in paths], missing) == (
        [path.replace('/bin/../', '/') for path in real],
        real_missing,
    )
    assert paths and missing == set()


@pytest.mark.parametrize('cached', [False, True])
def test_nodefaultlib_disables_default_folders(folder, cached):
    """The linker option `-z nodefaultlib` disables the default folders."""
    folder.library('/usr/lib/libb.so').library('/opt/b/libd.so').library(
        '/usr/lib/liba.so', ['libb.so']
    )
    folder.program(
        PROGRAM, ['libb.so', 'libd.so', 'liba.so'], options=['-z', 'nodefaultlib'], runpath='/r'
    )
    folder.library('/r/liba.so', ['libb.so'])
    if cached:
        folder.write('/etc/ld.so.conf', '/opt/b\n').write_cache()
    assert list_simulated_load(folder) == list_real_load(folder, PROGRAM)


def test_program_without_its_loader_does_not_start(folder):
    folder.library('/usr/lib/libb.so').program(
        PROGRAM, ['libb.so'], interpreter='/lib/ld-gone.so.1'
    )
    assert '/lib/ld-gone.so.1' in list_simulated_load(folder)[1]
    with pytest.raises(FileNotFoundError):
        run_in_folder(folder, [PROGRAM])


# ---- musl

MUSL = next(iter(sorted(glob.glob('/lib/ld-musl-*.so.1'))), None)
with_musl = pytest.mark.skipif(
    MUSL is None,
    reason="the package musl is not installed: tools/workstation/prerequisites.sh --tests",
)


def list_musl_load(folder, library_path=()):
    """Return ([path], {missing name}) for the libraries that musl's loader loads for PROGRAM."""
    done = run_in_folder(
        folder, [MUSL, '--list', PROGRAM], LD_LIBRARY_PATH=join_folders(library_path)
    )
    missing = set(re.findall(r'Error loading shared library (\S+):', done.stdout + done.stderr))
    paths = [path for path in re.findall(r'^\t\S+ => (\S+) \(', done.stdout, re.M) if path != MUSL]
    return sorted(set(paths)), missing


def link_three_libraries(folder, *places, **options):
    """
    Write libb.so to each folder of `places`, and a program that needs liba.so.

    liba.so needs libb.so. options: options of the linker for the program.
    """
    for place in places:
        folder.library(f'{place}/libb.so')
    return folder.library('/usr/lib/liba.so', ['libb.so']).program(
        PROGRAM, ['liba.so'], interpreter=MUSL, **options
    )


#: Name of a case -> (function that fills a folder, LD_LIBRARY_PATH, folder of the loaded libb.so).
#: The folder is None if libb.so is missing
CASES = {
    'the first default folder': (
        lambda folder: link_three_libraries(folder, '/usr/lib', '/usr/local/lib', '/lib'),
        [],
        '/lib',
    ),
    "glibc's default folders are not searched": (
        lambda folder: link_three_libraries(
            folder, '/lib64', '/usr/lib64', '/usr/lib/x86_64-linux-gnu'
        ),
        [],
        None,
    ),
    "folders in musl's configuration file": (
        lambda folder: link_three_libraries(folder, '/opt/b', '/lib').write(
            find_musl_path(), '/usr/lib:/opt/b\n/none\n'
        ),
        [],
        '/opt/b',
    ),
    'empty configuration file of musl': (
        lambda folder: (
            link_three_libraries(folder, '/lib')
            .write(find_musl_path(), '')
            .program(PROGRAM, ['libb.so'], interpreter=MUSL)
        ),
        [],
        None,
    ),
    'LD_LIBRARY_PATH before DT_RPATH': (
        lambda folder: link_three_libraries(folder, '/r', '/l', rpath='/r'),
        ['/l'],
        '/l',
    ),
    'DT_RUNPATH is inherited': (
        lambda folder: link_three_libraries(folder, '/r', '/lib', runpath='/r'),
        [],
        '/r',
    ),
    '$ORIGIN': (
        lambda folder: link_three_libraries(folder, '/bin/sub', runpath='${ORIGIN}/sub'),
        [],
        '/bin/sub',
    ),
    'another variable disables DT_RUNPATH': (
        lambda folder: link_three_libraries(folder, '/r', '/lib', runpath='/r:/opt/$LIB'),
        [],
        '/lib',
    ),
    'glibc-hwcaps are not searched': (
        lambda folder: link_three_libraries(folder, '/lib/glibc-hwcaps/x86-64-v2', '/lib'),
        [],
        '/lib',
    ),
    'sonames are ignored': (
        lambda folder: (
            link_three_libraries(folder, '/lib')
            .library('/usr/lib/libx.so', soname='libb.so')
            .library('/usr/lib/liba.so', ['libx.so', 'libb.so'])
        ),
        [],
        '/lib',
    ),
    'the C library is the loader': (
        lambda folder: link_three_libraries(folder, '/lib').library(
            '/usr/lib/liba.so', ['libc.so.6', 'libpthread.so.0', 'libm.so', 'libb.so']
        ),
        [],
        '/lib',
    ),
}


def find_musl_path():
    """Return the path of musl's configuration file with the folders of libraries."""
    return MUSL.replace('/lib/', '/etc/').replace('.so.1', '.path')


@with_musl
@pytest.mark.parametrize('name', CASES)
def test_musl_image_loads_as_by_the_real_musl_loader(folder, name):
    fill, library_path, place = CASES[name]
    folder.copy(MUSL)
    fill(folder)
    real, (paths, missing) = (
        list_musl_load(folder, library_path),
        list_simulated_load(folder, library_path),
    )
    assert f'{place}/libb.so' in real[0] if place else real[1] == {'libb.so'}, (
        'the case does not test what its name says'
    )
    assert (sorted(path for path in paths if path != MUSL), missing) == real


@with_musl
def test_loader_of_the_program_decides_between_glibc_and_musl(folder):
    """Debian's package musl installs a second loader beside glibc's loader."""
    folder.copy(MUSL).library('/usr/local/lib/libb.so').library('/lib/x86_64-linux-gnu/libb.so')
    folder.program(PROGRAM, ['libb.so'], interpreter=MUSL)
    assert list_simulated_load(folder)[0] == ['/usr/local/lib/libb.so'] == list_musl_load(folder)[0]
    folder.program(PROGRAM, ['libb.so'])
    assert list_simulated_load(folder) == list_real_load(folder, PROGRAM)

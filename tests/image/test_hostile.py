"""
Test how hostile images, damaged files and unsafe site files are read.

A hostile image has names, links, sizes or metadata that should mislead a program that reads the
image. An unsafe site file is a file that other users may write.
"""

import contextlib
import os
import pwd
import random
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest
from hypothesis import strategies as st

from osu_container.base import files, outputs
from osu_container.base.trust import find_code_problem
from osu_container.image import elf, libraries, sif, system, traits
from osu_container.image.image import Image, Squashfs, UnpackedImage
from osu_container.image.sif import ImageError
from osu_container.verdict.site_choice import SettingsError, SiteFile
from tests.helpers.elf_folder import ElfFolder, fill_good_image, pack, write_sif
from tests.helpers.hostile import Reader, check_examples
from tests.helpers.machine import run
from tests.test_hostile_text import capture_output

#: Path that contains a line of a file list of unsquashfs. The / in 0/0 makes the path two folders
FORGED = 'a\ndrwxr-xr-x 0/0      70 2026-11-23 17:12 squashfs-root/etc'
LINES = [
    'a\nb',
    '\n',
    '\n\n',
    'end\n',
    '\nbegin',
    'tab\tx',
    'a -> b',
    ' -> ',
    'a\n -> b',
    '-lln',
    '*',
    '[a]',
    '\\n',
    ' ',
    'squashfs-root',
    '\x1b[31m',
    'a\rb',
    FORGED,
    'a\nlrwxrwxrwx 0/0      11 2026-11-23 17:12 squashfs-root/usr -> /etc',
]
TARGETS = ['b', 'a -> b', ' -> ', 'a\nb', '/etc', '../../../../etc/passwd', 'x' * 300]


@pytest.fixture
def root(tmp_path):
    """Create a small unpacked image and return its folder."""
    folder = tmp_path / 'root'
    for name in ('usr/lib', 'etc', 'bin'):
        (folder / name).mkdir(parents=True)
    (folder / 'usr/lib/file').write_text('content')
    return folder


def pack_sif(root, objects=(), labels=None):
    """Pack a folder into a SIF and return the path of the SIF."""
    path = root.parent / 'image.sif'
    write_sif(path, pack(root, root.parent / 'squashfs').read_bytes(), labels, objects)
    return path


def test_listing_reads_any_name_and_link_target(root):
    """
    A SIF and its unpacked folder must have the same list of files.

    For a SIF the list comes from unsquashfs, and a file name may forge a line of this list.
    """
    for name in LINES:
        (root / name).mkdir(parents=True)
        (root / name / 'file').write_text('x')
    for number, target in enumerate(TARGETS):
        (root / f'link{number} -> x').symlink_to(target)

    def list_entries(tree):
        return {
            path: entry if entry[0] != 'd' else entry[:3] for path, entry in tree.entries.items()
        }

    assert list_entries(Squashfs(str(pack(root, root.parent / 'squashfs')), 0)) == list_entries(
        UnpackedImage(str(root))
    )


#: Stand-in for unsquashfs before 4.5.1. For a hostile image such an unsquashfs lists a folder, but
#: extracts a link to a folder of the host
OLD_UNSQUASHFS = """#!/bin/sh
while [ "$1" != -d ]; do test "$1" = -lln && list=1; shift; done
if [ "$list" ]; then
    echo "drwxr-xr-x 0/0 1 2026-11-21 03:37 $2"
    echo "drwxr-xr-x 0/0 1 2026-11-21 03:37 $2/etc"
    echo "-rw-r--r-- 0/0 1 2026-11-21 03:37 $2/etc/ld.so.cache"
else
    mkdir -p "$2"
    ln -s {host} "$2/etc"
fi
"""


def test_files_below_a_folder_of_any_name_are_found(tmp_path):
    folder = os.fsdecode(b'/opt/\xff+n [1]')
    for path in ('/usr/bin', folder):
        os.makedirs(f'{tmp_path}{path}')
    Path(f'{tmp_path}{folder}/libx.so.1').write_text('')
    with Image(str(tmp_path), '') as image:
        assert image.find_folder_files(folder, r'libx\.so.*') == [folder + '/libx.so.1']


@pytest.mark.parametrize('change', ['a copy', 'a link'])
def test_only_a_marked_folder_is_removed(tmp_path, change):
    folder = Path(outputs.make_folder(tmp_path / 'made'))
    (folder / 'file').write_text('x')
    moved = folder.rename(tmp_path / 'moved')
    other = tmp_path / 'other'
    if change == 'a copy':
        shutil.copytree(moved, other)
    else:
        other.symlink_to(moved)
    outputs.remove_folder(other)
    assert (other / 'file').exists()
    outputs.remove_folder(moved)
    assert not moved.exists()


@pytest.mark.skipif(os.getuid() != 0, reason='only root can give a file to another user')
@pytest.mark.parametrize('kind', ['a link', 'a folder'])
def test_shared_folder_of_another_user_is_refused(tmp_path, kind):
    path, mine = tmp_path / 'all' / 'run', tmp_path / 'mine'
    path.parent.mkdir()
    mine.mkdir()
    path.symlink_to(mine) if kind == 'a link' else path.mkdir(mode=0o777)
    for mode in (0o755, 0o770, 0o1777):
        path.parent.chmod(mode)
        files.require_own_folder(path)
    os.lchown(path, 65534, 65534)
    with pytest.raises(OSError, match='65534'):
        files.require_own_folder(path)
    assert '65534' in capture_output('proof', '-o', str(path), '--', 'true')
    assert list(mine.iterdir()) == list(path.iterdir()) == []


def test_old_unsquashfs_extracts_no_host_file(root, tmp_path, monkeypatch):
    host = tmp_path / 'host'
    host.mkdir()
    (host / 'ld.so.cache').write_text('of the host')
    program = tmp_path / 'programs' / 'unsquashfs'
    program.parent.mkdir()
    program.write_text(OLD_UNSQUASHFS.format(host=shlex.quote(str(host))))
    program.chmod(0o755)
    path = pack_sif(root)
    monkeypatch.setenv('PATH', f'{program.parent}:/usr/bin:/bin')
    with pytest.raises(ImageError, match='damaged'), Image(str(path), '') as opened:
        opened.read_file('/etc/ld.so.cache')
    assert (host / 'ld.so.cache').read_text() == 'of the host'


def test_ordinary_user_reads_a_file_below_read_only_folders(root):
    for folder in ('usr/lib', 'usr'):
        (root / folder).chmod(0o555)
    read = 'import sys; from osu_container.image.image import Image; '
    read += 'print(Image(sys.argv[1], "").read_file("/usr/lib/file"))'
    # Without this capability, root obeys the modes of files like an ordinary user.
    limit = ['setpriv', '--bounding-set=-dac_override'] * (os.getuid() == 0)
    assert "b'content'" in run([*limit, sys.executable, '-c', read, pack_sif(root)]).stdout


#: Strategy for the target of a link
LINKED = st.lists(
    st.one_of(
        st.sampled_from(['..', '.', '', 'a', 'b', 'c', 'a\nb', '\udcff', 'file', 'host', 'proc']),
    ),
    min_size=1,
    max_size=6,
).map('/'.join)
PLACES = [
    'a',
    'b',
    'c',
    'a/b',
    'a/c',
    'b/a',
    'b/c',
    'a/b/c',
    'a\nb',
    'b/a\nb',
    '\udcff',
    'a/file',
    'b/file',
    'file',
]
#: Strategy for the files of an image: [(path, 'folder', 'file', 'hard' for a hard link, or (whether
#: the target begins with the host's folder, target) for a symbolic link)]
THINGS = st.lists(
    st.tuples(
        st.sampled_from(PLACES),
        st.one_of(st.sampled_from(['folder', 'file', 'hard']), st.tuples(st.booleans(), LINKED)),
    ),
    max_size=14,
)
#: Program that reads lines of JSON: [folder, [path in hexadecimal digits]]. For each line the
#: program changes its root to the folder and prints the content of each file in hexadecimal digits,
#: or null
CHROOT = r"""
import json, os, sys
for line in sys.stdin:
    root, paths = json.loads(line)
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.chroot(root)
        os.chdir('/')
        found = []
        for path in paths:
            try:
                with open(os.fsdecode(bytes.fromhex(path)), 'rb') as handle:
                    found.append(handle.read().hex())
            except OSError:
                found.append(None)
        with os.fdopen(theirs, 'w') as answer:
            json.dump(found, answer)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answer:
        print(answer.read(), flush=True)
    os.wait()
"""


def make_entries(root, things, host):
    """
    Create the files `things` (see THINGS) below `root` and return paths for a test.

    host: folder of this machine to which some links lead.
    """
    for place in ('usr', 'host'):
        (root / place).mkdir()
    (root / 'usr' / 'file').write_text('in the image')
    places = ['usr/file', 'host/secret']
    for number, (place, kind) in enumerate(things):
        path = root / place
        # Skip the file if a link in its path would lead out of the image.
        with contextlib.suppress(OSError):
            if os.path.realpath(path.parent) != str(path.parent):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if kind == 'folder':
                path.mkdir()
            elif kind == 'file':
                path.write_text(f'{number}')
            elif kind == 'hard':
                os.link(root / 'usr' / 'file', path)
            else:
                path.symlink_to(str(host) + kind[1] if kind[0] else kind[1])
            places.append(place)
    return places + [
        f'{place}/{name}'
        for place in places
        for name in ('file', 'secret', '..', 'a', '../../file')
    ]


@pytest.mark.parametrize('number', [150, pytest.param(5000, marks=pytest.mark.nightly)])
def test_unpacked_links_resolve_as_in_a_chroot(tmp_path, number):
    """
    Each path must lead to the same content as in a chroot.

    The random links are absolute or relative, lead upwards, and form chains and loops. No path may
    lead to a file of this machine.
    """
    command = [sys.executable, '-c', CHROOT]
    kernel = Reader(*(command if os.getuid() == 0 else ['unshare', '--map-root-user', *command]))
    host = tmp_path / 'host'
    host.mkdir()
    for name in ('secret', 'file', 'a'):
        (host / name).write_text('of the host')
    contents = set()

    def check(things):
        root = tmp_path / 'image'
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        places = make_entries(root, things, host)
        expected = kernel([str(root), [os.fsencode('/' + place).hex() for place in places]])
        tree = UnpackedImage(str(root))
        for place, content in zip(places, expected):
            image_content, path = None, '/' + place
            if tree.is_file(path):
                image_content = Path(tree.copy_files([path], '')[path]).read_bytes().hex()
            assert image_content == content, (place, image_content, content)
            contents.add(content and bytes.fromhex(content))

    check_examples(check, number, things=THINGS)
    kernel.close()
    assert contents > {None, b'in the image'} and b'of the host' not in contents


def test_too_large_file_is_reported_and_not_copied(root, tmp_path, monkeypatch):
    monkeypatch.setitem(files.SIZE_LIMITS, 'copy', 1 << 20)
    with open(root / 'usr/lib/large', 'wb') as handle:
        handle.truncate(2 << 20)
    with Image(str(pack_sif(root)), '') as opened:
        with pytest.raises(ImageError, match='/usr/lib/large.* 2097152 .* 1048576'):
            opened.copy_file('/usr/lib/large')
        assert opened.read_file('/usr/lib/file') == b'content'
        assert sum(entry.stat().st_size for entry in os.scandir(opened.folder)) < 1 << 20


# ---- metadata

DEEP = '[' * 100_000
LONG = '1' * 500_000


def test_overlapping_objects_are_reported(root):
    """
    Each object has the size of the whole file.

    Without the check, 2,000 such objects would let the program read the whole file 2,000 times.
    """
    path = pack_sif(root, [(sif.DATA_GENERIC_JSON, 'labels', 0, b'{}')] * 3)
    content, size = bytearray(path.read_bytes()), path.stat().st_size
    for number in range(2, 5):
        place = 128 + 585 * number
        fields = list(sif.DESCRIPTOR.unpack(content[place : place + 585]))
        fields[5:7] = 0, size
        content[place : place + 585] = sif.DESCRIPTOR.pack(*fields)
    path.write_bytes(content)
    with pytest.raises(ImageError, match='damaged.*objects'):
        sif.read_sif(str(path))


# ---- hostile JSON and output files


@pytest.mark.parametrize('text', [DEEP, LONG, '[NaN]', '{', b'\xff'], ids=range(5))
def test_broken_json_is_a_quick_value_error(text):
    begin = time.process_time()
    with pytest.raises(ValueError):
        files.parse_json(text)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    'make, replaced',
    [
        (lambda path: path.write_text('mine'), True),
        (lambda path: path.symlink_to('/nowhere/x'), True),
        (os.mkfifo, False),
        (lambda path: path.symlink_to('/dev/null'), False),
        (os.mkdir, False),
    ],
)
def test_no_file_replaces_a_device(tmp_path, make, replaced):
    make(tmp_path / 'name')
    assert (outputs.find_replacement_problem(str(tmp_path / 'name')) is None) == replaced
    # /dev/stdout is a link, and its target may be a plain file.
    assert outputs.find_replacement_problem('/dev/stdout')


# ---- random damage


def damage_data(rng, data):
    """
    Return `data` with a random damage: a changed bit, a changed number, or a missing end.

    rng: a random.Random.
    """
    data = bytearray(data)
    place = rng.choice([rng.randrange(len(data)), rng.randrange(min(len(data), 1024))])
    kind = rng.randrange(3)
    if kind == 0:
        data[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        data[place : place + 4] = rng.choice(
            [b'\0\0\0\0', b'\xff\xff\xff\xff', b'\xff\xff\xff\x7f', b'\0\0\1\0']
        )
    else:
        del data[place:]
    return bytes(data)


@pytest.mark.parametrize(
    'file', ['/opt/mpich/lib/libmpi.so.12', '/usr/lib/libfabric.so.1', '/etc/ld.so.cache']
)
def test_damaged_image_gives_an_answer_or_a_plain_error(tmp_path, parts, file):
    image = fill_good_image(ElfFolder(tmp_path / 'image'), parts).write_cache()
    data, path = image.resolve_path(file).read_bytes(), tmp_path / 'damaged'
    for seed in range(100):
        damaged = damage_data(random.Random(seed), data)
        path.write_bytes(damaged)
        if file == '/etc/ld.so.cache':
            system.read_cache(damaged, 'Advanced Micro Devices X86-64', ['x86-64-v3'])
        for read, argument in (
            (elf.read_elf, str(path)),
            (libraries.read_library, str(path)),
            (traits.read_mpi_traits, damaged),
            (traits.read_fabric_traits, damaged),
        ):
            with contextlib.suppress(elf.ElfError, ValueError):
                read(argument)


# ---- site files that other users may write


@pytest.fixture
def site_file(tmp_path):
    """Write a site file to a folder of the user; the site file writes a file when it is run."""
    path = tmp_path / 'mine' / 'site.py'
    path.parent.mkdir(mode=0o755)
    path.write_text(f"open('{path}.ran', 'w').close()\nSITE = 'workstation'\n")
    path.chmod(0o644)
    return path


@pytest.mark.parametrize(
    'file, folder, refused',
    [
        (0o664, 0o775, None),
        (0o644, 0o1777, None),
        (0o646, 0o755, '{code}'),
        (0o644, 0o757, '{folder}'),
    ],
)
def test_world_writable_site_file_is_not_executed(site_file, file, folder, refused):
    site_file.chmod(file)
    site_file.parent.chmod(folder)
    if refused:
        with pytest.raises(SettingsError) as caught:
            SiteFile(str(site_file))
        assert 'chmod go-w ' + refused.format(code=site_file, folder=site_file.parent) in str(
            caught.value
        )
    else:
        SiteFile(str(site_file))
    assert os.path.exists(f'{site_file}.ran') == (refused is None)


def test_group_writable_site_file_is_refused(site_file, monkeypatch):
    me = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(
        pwd, 'getpwuid', lambda uid: pwd.struct_passwd((me[0], me[1], me[2], me[3] + 1, *me[4:]))
    )
    assert find_code_problem(str(site_file)) is None
    site_file.chmod(0o664)
    assert find_code_problem(str(site_file))


def test_site_file_link_is_checked_at_both_ends(site_file, tmp_path):
    link = tmp_path / 'open' / 'link.py'
    link.parent.mkdir()
    link.symlink_to(site_file)
    assert find_code_problem(str(link)) is None
    link.parent.chmod(0o777)
    assert f'chmod go-w {link.parent}' in find_code_problem(str(link))
    link.parent.chmod(0o755)
    site_file.chmod(0o666)
    assert f'chmod go-w {site_file}' in find_code_problem(str(link))


@pytest.mark.skipif(os.getuid() != 0, reason='only root gives files to others')
def test_a_site_file_of_another_user_is_refused(site_file, monkeypatch):
    nobody = pwd.getpwnam('nobody')
    os.chown(site_file, nobody.pw_uid, nobody.pw_gid)
    assert f'UID {nobody.pw_uid}' in find_code_problem(str(site_file)) and str(
        site_file
    ) in find_code_problem(str(site_file))
    monkeypatch.setattr(os, 'geteuid', lambda: nobody.pw_uid)
    assert find_code_problem(str(site_file)) is None

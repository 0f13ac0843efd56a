"""Images that somebody has made to deceive who reads them: names, links, sizes, metadata. Nothing of them is obeyed."""
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
from osu_container.base.trust import code_problem
from osu_container.image import elf, libraries, sif, system, traits
from osu_container.image.image import Folder, Image, Squashfs
from osu_container.image.sif import ImageError
from osu_container.verdict.site_choice import SettingsError, SiteFile
from tests.helpers.elf_folder import LIBC, ElfFolder, good_image, pack, write_sif
from tests.helpers.hostile import Reader, each
from tests.test_hostile_text import said

#: A line as unsquashfs lists files, in a name; 0/0 needs two folders
FORGED = 'a\ndrwxr-xr-x 0/0      70 2026-11-23 17:12 squashfs-root/etc'
LINES = ['a\nb', '\n', '\n\n', 'end\n', '\nbegin', 'tab\tx', 'a -> b', ' -> ', 'a\n -> b', '-lln', '*', '[a]', '\\n',
         ' ', 'squashfs-root', '\x1b[31m', 'a\rb', FORGED,
         'a\nlrwxrwxrwx 0/0      11 2026-11-23 17:12 squashfs-root/usr -> /etc']
TARGETS = ['b', 'a -> b', ' -> ', 'a\nb', '/etc', '../../../../etc/passwd', 'x' * 300]


@pytest.fixture
def root(tmp_path):
    """The folder of a small image."""
    made = tmp_path / 'root'
    for name in ('usr/lib', 'etc', 'bin'):
        (made / name).mkdir(parents=True)
    (made / 'usr/lib/file').write_text('content')
    return made


def sif_of(root, objects=(), labels=None):
    """Pack a folder; return the path of the SIF."""
    path = root.parent / 'image.sif'
    write_sif(path, pack(root, root.parent / 'squashfs').read_bytes(), labels, objects)
    return path


def test_names_and_targets_are_what_they_are_whatever_is_in_them(root):
    """The list of unsquashfs, whose lines a name may forge, against that of the folder itself."""
    for name in LINES:
        (root / name).mkdir(parents=True)
        (root / name / 'file').write_text('x')
    for number, target in enumerate(TARGETS):
        (root / f'link{number} -> x').symlink_to(target)

    def told(tree):
        return {path: entry if entry[0] != 'd' else entry[:3] for path, entry in tree.entries.items()}
    assert told(Squashfs(str(pack(root, root.parent / 'squashfs')), 0)) == told(Folder(str(root)))


#: unsquashfs as it was before 4.5.1: what is a folder in its list comes out as a link to somewhere else
OLD = """#!/bin/sh
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


@pytest.mark.parametrize('change', ['a copy', 'a link'])
def test_only_a_folder_with_its_own_mark_is_removed(tmp_path, change):
    made = Path(outputs.make(tmp_path / 'made'))
    (made / 'file').write_text('x')
    moved = made.rename(tmp_path / 'moved')
    other = tmp_path / 'other'
    if change == 'a copy':
        shutil.copytree(moved, other)
    else:
        other.symlink_to(moved)
    outputs.clear(other)
    assert (other / 'file').exists()
    outputs.clear(moved)
    assert not moved.exists()


@pytest.mark.skipif(os.getuid() != 0, reason='only root can give a file to another user')
@pytest.mark.parametrize('there', ['a link', 'a folder'])
def test_a_folder_of_another_user_in_a_shared_one_is_refused(tmp_path, there):
    path, mine = tmp_path / 'all' / 'run', tmp_path / 'mine'
    path.parent.mkdir()
    mine.mkdir()
    path.symlink_to(mine) if there == 'a link' else path.mkdir(mode=0o777)
    for mode in (0o755, 0o1777):
        path.parent.chmod(mode)
        files.not_anothers(path)
    os.lchown(path, 65534, 65534)
    with pytest.raises(OSError, match='65534'):
        files.not_anothers(path)
    assert '65534' in said('proof', '-o', str(path), '--', 'true')
    assert list(mine.iterdir()) == list(path.iterdir()) == []


def test_an_old_unsquashfs_takes_no_file_of_the_host(root, tmp_path, monkeypatch):
    host = tmp_path / 'host'
    host.mkdir()
    (host / 'ld.so.cache').write_text('of the host')
    program = tmp_path / 'programs' / 'unsquashfs'
    program.parent.mkdir()
    program.write_text(OLD.format(host=shlex.quote(str(host))))
    program.chmod(0o755)
    path = sif_of(root)
    monkeypatch.setenv('PATH', f'{program.parent}:/usr/bin:/bin')
    with pytest.raises(ImageError, match='damaged'), Image(str(path), '') as opened:
        opened.content('/etc/ld.so.cache')
    assert (host / 'ld.so.cache').read_text() == 'of the host'


#: What a link may say, in a folder two below the top of an image
LINKED = st.lists(st.one_of(st.sampled_from(['..', '.', '', 'a', 'b', 'c', 'a\nb', '\udcff', 'file', 'host', 'proc']),
                            ), min_size=1, max_size=6).map('/'.join)
PLACES = ['a', 'b', 'c', 'a/b', 'a/c', 'b/a', 'b/c', 'a/b/c', 'a\nb', 'b/a\nb', '\udcff', 'a/file', 'b/file', 'file']
#: One thing in an image: its place, and what it is
THINGS = st.lists(st.tuples(st.sampled_from(PLACES), st.one_of(
    st.sampled_from(['folder', 'file', 'hard']), st.tuples(st.booleans(), LINKED))), max_size=14)
#: Answers with what each path (JSON, in hexadecimal digits) leads to below a folder that is its /, by the kernel
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


def put(root, things, host):
    """Make things (see THINGS) below root (Path), with host (Path) as the folder of this machine; return all places."""
    for place in ('usr', 'host'):
        (root / place).mkdir()
    (root / 'usr' / 'file').write_text('in the image')
    places = ['usr/file', 'host/secret']
    for number, (place, kind) in enumerate(things):
        path = root / place
        # a link on the way would lead this test out of the image
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
    return places + [f'{place}/{name}' for place in places for name in ('file', 'secret', '..', 'a', '../../file')]


@pytest.mark.parametrize('number', [150, pytest.param(5000, marks=pytest.mark.nightly)])
def test_a_link_of_an_unpacked_image_leads_where_the_kernel_leads_it_with_the_image_as_its_top(tmp_path, number):
    """Absolute, upwards, in chains and loops, through folders that are links, hard; never to a file of this machine."""
    command = [sys.executable, '-c', CHROOT]
    kernel = Reader(*(command if os.getuid() == 0 else ['unshare', '--map-root-user', *command]))
    host = tmp_path / 'host'
    host.mkdir()
    for name in ('secret', 'file', 'a'):
        (host / name).write_text('of the host')
    told = set()

    def check(things):
        root = tmp_path / 'image'
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        places = put(root, things, host)
        wanted = kernel([str(root), [os.fsencode('/' + place).hex() for place in places]])
        tree = Folder(str(root))
        for place, content in zip(places, wanted):
            found = None
            if tree.is_file('/' + place):
                with open(tree.extract('/' + place, str(tmp_path)), 'rb') as handle:
                    found = handle.read().hex()
            assert found == content, (place, found, content)
            told.add(content and bytes.fromhex(content))
    each(check, number, things=THINGS)
    kernel.close()
    assert told > {None, b'in the image'} and b'of the host' not in told


def test_a_file_that_is_too_large_is_told_and_not_copied(root, tmp_path, monkeypatch):
    monkeypatch.setitem(files.MOST, 'copy', 1 << 20)
    with open(root / 'usr/lib/large', 'wb') as handle:
        handle.truncate(2 << 20)
    with Image(str(sif_of(root)), '') as opened:
        with pytest.raises(ImageError, match='/usr/lib/large.* 2097152 .* 1048576 '):
            opened.local_copy('/usr/lib/large')
        assert opened.content('/usr/lib/file') == b'content'
        assert sum(one.stat().st_size for one in os.scandir(opened.folder)) < 1 << 20


# ---- metadata

DEEP = '[' * 100_000
LONG = '1' * 500_000


def test_objects_that_lie_upon_each_other_are_told(root):
    """2,000 objects that are the whole file each would be read one after the other."""
    path = sif_of(root, [(sif.DATA_GENERIC_JSON, 'labels', 0, b'{}')] * 3)
    content, size = bytearray(path.read_bytes()), path.stat().st_size
    for number in range(2, 5):
        place = 128 + 585 * number
        one = list(sif.DESCRIPTOR.unpack(content[place:place + 585]))
        one[5:7] = 0, size
        content[place:place + 585] = sif.DESCRIPTOR.pack(*one)
    path.write_bytes(content)
    with pytest.raises(ImageError, match='damaged.* objects '):
        sif.read_sif(str(path))


# ---- JSON of others, for every reader

@pytest.mark.parametrize('text', [DEEP, LONG, '[NaN]', '{', b'\xff'], ids=range(5))
def test_broken_json_is_a_value_error_and_takes_no_time(text):
    begin = time.process_time()
    with pytest.raises(ValueError):
        files.parse_json(text)
    assert time.process_time() - begin < 5


@pytest.mark.parametrize('make, replaced', [
    (lambda path: path.write_text('mine'), True), (lambda path: path.symlink_to('/nowhere/x'), True),
    (os.mkfifo, False), (lambda path: path.symlink_to('/dev/null'), False), (os.mkdir, False)])
def test_no_file_takes_the_place_of_a_device(tmp_path, make, replaced):
    make(tmp_path / 'name')
    assert (outputs.not_replaced(str(tmp_path / 'name')) is None) == replaced
    assert outputs.not_replaced('/dev/stdout')  # a link to what may be a plain file


# ---- damage by chance

def damaged(chance, data):
    """Return data (bytes) with a bit, a number or the end changed by chance (random.Random)."""
    data = bytearray(data)
    place = chance.choice([chance.randrange(len(data)), chance.randrange(min(len(data), 1024))])
    kind = chance.randrange(3)
    if kind == 0:
        data[place] ^= 1 << chance.randrange(8)
    elif kind == 1:
        data[place:place + 4] = chance.choice([b'\0\0\0\0', b'\xff\xff\xff\xff', b'\xff\xff\xff\x7f', b'\0\0\1\0'])
    else:
        del data[place:]
    return bytes(data)


@pytest.mark.parametrize('name', ['libmpi.so.12', 'libfabric.so.1', 'libc.so.6', 'ld.so.cache'])
def test_damage_ends_in_an_answer_or_a_plain_error(tmp_path, parts, name):
    image = good_image(ElfFolder(tmp_path / 'image'), parts).cache()
    data = {'libmpi.so.12': image.on('/opt/mpich/lib/libmpi.so.12'), 'libfabric.so.1': image.on(
        '/usr/lib/libfabric.so.1'), 'ld.so.cache': image.on('/etc/ld.so.cache')}.get(name, LIBC)
    data = data.read_bytes() if hasattr(data, 'read_bytes') else open(data, 'rb').read()
    path = tmp_path / 'damaged'
    for seed in range(100):
        found = damaged(random.Random(seed), data)
        path.write_bytes(found)
        if name == 'ld.so.cache':
            system.read_cache(found, 'Advanced Micro Devices X86-64', ['x86-64-v3'])
        for read, what in ((elf.elf_facts, str(path)), (libraries.read_library, str(path)),
                           (traits.mpi_traits, found), (traits.fabric_traits, found)):
            with contextlib.suppress(elf.ElfError, ValueError):
                read(what)


# ---- code that others may write

@pytest.fixture
def code(tmp_path):
    """A site file in a folder of the user's own; it says when it is run."""
    path = tmp_path / 'mine' / 'site.py'
    path.parent.mkdir(mode=0o755)
    path.write_text(f"open('{path}.ran', 'w').close()\nSITE = 'workstation'\n")
    path.chmod(0o644)
    return path


@pytest.mark.parametrize('file, folder, refused', [
    (0o664, 0o775, None), (0o644, 0o1777, None), (0o646, 0o755, '{code}'), (0o644, 0o757, '{folder}')])
def test_a_site_file_that_everybody_may_write_is_not_run(code, file, folder, refused):
    code.chmod(file)
    code.parent.chmod(folder)
    if refused:
        with pytest.raises(SettingsError) as caught:
            SiteFile(str(code))
        assert 'chmod go-w ' + refused.format(code=code, folder=code.parent) in str(caught.value)
    else:
        SiteFile(str(code))
    assert os.path.exists(f'{code}.ran') == (refused is None)


def test_a_site_file_that_another_group_may_write_is_refused(code, monkeypatch):
    me = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(pwd, 'getpwuid', lambda uid: pwd.struct_passwd((me[0], me[1], me[2], me[3] + 1, *me[4:])))
    assert code_problem(str(code)) is None
    code.chmod(0o664)
    assert code_problem(str(code))


def test_a_link_is_looked_at_at_both_ends(code, tmp_path):
    link = tmp_path / 'open' / 'link.py'
    link.parent.mkdir()
    link.symlink_to(code)
    assert code_problem(str(link)) is None
    link.parent.chmod(0o777)
    assert f'chmod go-w {link.parent}' in code_problem(str(link))
    link.parent.chmod(0o755)
    code.chmod(0o666)
    assert f'chmod go-w {code}' in code_problem(str(link))


@pytest.mark.skipif(os.getuid() != 0, reason='only root gives files to others')
def test_a_site_file_of_another_user_is_refused(code, monkeypatch):
    nobody = pwd.getpwnam('nobody')
    os.chown(code, nobody.pw_uid, nobody.pw_gid)
    assert f' {nobody.pw_uid} ' in code_problem(str(code)) and str(code) in code_problem(str(code))
    monkeypatch.setattr(os, 'geteuid', lambda: nobody.pw_uid)
    assert code_problem(str(code)) is None

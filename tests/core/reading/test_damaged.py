"""Files that are damaged by chance: an answer or a plain error for each."""
import contextlib
import random

import pytest

from osu_container.core.reading import elf, libraries, system, traits
from tests.helpers.elf_folder import LIBC, ElfFolder, good_image


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

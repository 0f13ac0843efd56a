"""Small images, written by hand: a squashfs of a folder, and the SIF around it."""
import json

from osu_container.core.reading import sif as sif_file


def pack(root, target, *options):
    """Pack a folder into a squashfs, the same one for the same folder."""
    from tests.helpers.machine import run  # needs pytest, which who only writes a SIF may lack
    done = run(['mksquashfs', root, target, '-noappend', '-no-progress', '-quiet', '-all-root', '-mkfs-time', '0',
                '-noI', '-noD', '-noF', *options])
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def write_sif(path, squashfs, labels=None, objects=()):
    """Write a SIF: squashfs (bytes) as system partition 1, labels (dict) as 2, then objects: (kind, name, link, bytes).

    An object may have a fifth part, its extra bytes: of a partition they say of which kind it is.

    All are in group 1, but for signatures, which are in none and have link: the group's number with GROUP_MASK.
    """
    metadata = json.dumps({'data': {'attributes': {'labels': labels or {}}}}).encode()
    every = [(sif_file.DATA_PARTITION, '', 0, squashfs, sif_file.PARTITION.pack(1, 2)),
             (sif_file.DATA_GENERIC_JSON, 'inspect-metadata.json', 0, metadata, b''),
             *((*one, b'')[:5] for one in objects)]
    start = 128 + 585 * len(every)
    table, data = b'', b''
    for number, (kind, name, link, content, extra) in enumerate(every, 1):
        group = sif_file.GROUP_MASK | (0 if kind == sif_file.DATA_SIGNATURE else 1)
        table += sif_file.DESCRIPTOR.pack(kind, True, number, group, link, start + len(data), len(content),
                                          len(content), 0, 0, 0, 0, name.encode(), extra)
        data += content
    header = sif_file.HEADER.pack(b'#!/usr/bin/env run-singularity\n', b'SIF_MAGIC', b'01', b'02', bytes(16), 0, 0, 0,
                                  len(every), 128, len(table), start, len(data))
    path.write_bytes(header + table + data)
    return path

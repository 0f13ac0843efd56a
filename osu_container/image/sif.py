"""
The SIF format: what a SIF holds, its labels, and whether its signatures still fit its contents.

The header is read directly (format: github.com/apptainer/sif, pkg/sif: global header of 128 bytes,
then descriptors of 585 bytes, little endian), so that an image of many gigabytes is never copied.
Nothing in the image is run.
"""

import os
import re
import struct
import subprocess
import tarfile
from collections import namedtuple

from osu_container.base.files import SIZE_LIMITS, open_plain_file, parse_json
from osu_container.base.shell import quote

SIF_MAGIC = b'SIF_MAGIC'
HEADER = struct.Struct('<32s10s3s3s16sqqqqqqqq')
DESCRIPTOR = struct.Struct('<i?IIIqqqqqqq128s384s')
DATA_PARTITION = 0x4004
DATA_SIGNATURE = 0x4005
DATA_GENERIC_JSON = 0x4006
#: in the number of a group, and in a link that leads to a group and not to an object
GROUP_MASK = 0xF0000000
#: extra field of a partition: file system type, partition type
PARTITION = struct.Struct('<ii')
SQUASHFS = 1
#: A squashfs without a SIF around it, which the runtimes take too
SQUASHFS_MAGIC = b'hsqs'
PRIMARY_SYSTEM, OVERLAY = 2, 4
#: No SIF has more objects: `apptainer build` leaves room for 48
_MOST_OBJECTS = 1 << 16


class ImageError(Exception):
    """An image that cannot be used, with the reason and what to do in the text."""


class NoRoomError(ImageError):
    """
    A temporary folder in which there is no room for what is to be looked at: nothing is said of
    the image.
    """


#: One object of a SIF. kind: DATA_...; group: number of its group, 0 for none; link: number of the
#: object or, with the bits of GROUP_MASK, of the group that it belongs to; offset, size: bytes;
#: extra: bytes, meaning depends on kind
SifObject = namedtuple('SifObject', 'number kind group link offset size name extra')


def _describe_other_file(path):
    """Return what a file that is no SIF is (str), and what makes one of it."""
    names = set()
    try:
        with open(path, 'rb') as stream:
            head = stream.read(512)
        if head[257:262] == b'ustar' or head.startswith(
            (b'\x1f\x8b', b'\xfd7zXZ', b'BZh')
        ):  # else it may have no end
            with tarfile.open(path) as archive:
                names.update(archive.getnames())
    except (OSError, EOFError, tarfile.TarError):
        pass
    kind = 'docker' if 'manifest.json' in names else 'oci' if 'oci-layout' in names else None
    if kind is None:
        return "it has no SIF header (a SIF is made by 'apptainer build')"
    return (
        "it is an archive with layers of an image. Make one of it: apptainer build NAME.sif %s-archive:%s"
        % (kind, quote(path))
    )


def read_objects(path):
    """
    Return what a SIF holds (list of SifObject); of a bare squashfs that alone.

    Raises ImageError if the file is missing, is no SIF, or is truncated.
    """
    try:
        handle = open_plain_file(path)
    except OSError as err:
        raise ImageError(
            "cannot read the image %s: %s. Name a SIF, or the folder of an unpacked image"
            % (path, err.strerror)
        )
    with handle:
        size = os.fstat(handle.fileno()).st_size
        header = handle.read(HEADER.size)
        if header.startswith(SQUASHFS_MAGIC):
            return [
                SifObject(
                    1, DATA_PARTITION, 1, 0, 0, size, '', PARTITION.pack(SQUASHFS, PRIMARY_SYSTEM)
                )
            ]
        if len(header) < HEADER.size or not header[32:].startswith(SIF_MAGIC):
            raise ImageError("%s is not a SIF: %s" % (path, _describe_other_file(path)))
        fields = HEADER.unpack(header)
        total, table = fields[8], fields[9]
        if not 0 <= table <= size or total < 0:
            raise ImageError(
                "%s is damaged: its table of contents is said to begin at byte %d of %d. Copy or make it "
                "again" % (path, table, size)
            )
        handle.seek(table)
        objects = []
        for _ in range(min(total, _MOST_OBJECTS)):
            raw = handle.read(DESCRIPTOR.size)
            if len(raw) < DESCRIPTOR.size:
                raise ImageError(
                    "%s is truncated: its table of contents ends early. Copy or make it again"
                    % path
                )
            item = DESCRIPTOR.unpack(raw)
            if item[1]:
                name = item[12].split(b'\0')[0].decode('utf-8', 'replace')
                objects.append(
                    SifObject(
                        item[2],
                        item[0],
                        item[3] & ~GROUP_MASK,
                        item[4],
                        item[5],
                        item[6],
                        name,
                        item[13],
                    )
                )
    if any(item.offset < 0 or item.size < 0 for item in objects):
        raise ImageError(
            "%s is damaged: an object in it has a negative place or size. Copy or make it again"
            % path
        )
    wanted = max([item.offset + item.size for item in objects] or [0])
    if size < wanted:
        raise ImageError(
            "%s is truncated: it has %d bytes, its header says %d. Copy or make it again"
            % (path, size, wanted)
        )
    if (
        sum(item.size for item in objects) > size
    ):  # else each of thousands could be the whole file, read anew
        raise ImageError(
            "%s is damaged: its objects are said to have more bytes than the file. Copy or make it again"
            % path
        )
    return objects


def read_sif(path):
    """
    Return (offset, labels): offset (int, bytes) of the primary squashfs and the labels (dict str ->
    str) of a SIF.

    Raises ImageError if the file is missing, is no SIF, is truncated, or holds no squashfs.
    """
    objects, labels = read_objects(path), {}
    described = [item for item in objects if item.kind == DATA_GENERIC_JSON]
    total = sum(item.size for item in described)
    if total > SIZE_LIMITS['labels']:
        raise ImageError(
            "%s has %d bytes of labels, and at most %d are read. Use an image with fewer"
            % (path, total, SIZE_LIMITS['labels'])
        )
    for item in described:
        labels.update(parse_labels(read_object(path, item)))
    return _find_system_partition(path, objects).offset, labels


def has_overlay(path):
    """
    Return whether the SIF path has an overlay in it (bool). Raises ImageError as read_sif().

    The runtime lays it above the squashfs if it is in the group of the system partition: one that
    was added without --groupid it passes over (seen with Apptainer 1.4.5).
    """
    objects = read_objects(path)
    group = _find_system_partition(path, objects).group
    return any(
        item.kind == DATA_PARTITION
        and item.group == group
        and PARTITION.unpack(item.extra[: PARTITION.size])[1] == OVERLAY
        for item in objects
    )


def _find_system_partition(path, objects):
    """
    Return the SifObject of the primary squashfs among the objects of the SIF path. Raises
    ImageError.
    """
    found = [
        item
        for item in objects
        if item.kind == DATA_PARTITION
        and PARTITION.unpack(item.extra[: PARTITION.size]) == (SQUASHFS, PRIMARY_SYSTEM)
    ]
    if not found:
        raise ImageError(
            "%s holds no squashfs system partition; encrypted and ext3 images cannot be read" % path
        )
    return found[-1]


def read_object(path, item):
    """Return the content (bytes) of a SifObject of the SIF path."""
    with open_plain_file(path) as handle:
        handle.seek(item.offset)
        return handle.read(item.size)


def is_signed(path):
    """Return whether the SIF path has signatures. Raises ImageError if it cannot be read."""
    return any(item.kind == DATA_SIGNATURE for item in read_objects(path))


def find_signature_problem(path, command):
    """
    Return why a signature in the SIF path does not fit its contents (str), None if all do or there
    is none.

    command (str): path of singularity or apptainer, which compares where the key is in the user's
    keyring; no key server is asked. Without the key nothing is said. Raises ImageError if the SIF
    cannot be read.
    """
    state, text = verify_signature(path, command) if is_signed(path) else ('verified', '')
    if state == 'wrong':
        return "%s was changed after it was signed: %s. Copy or build it again" % (path, text)
    return None


#: What Apptainer and SingularityCE say when nothing can be said of a signature: its key is not in
#: the keyring, or it was made with a key file (--key) or before Singularity 3.6
UNKNOWN_KEY = re.compile(
    r'unknown entity|keyring is empty|key material not provided|certificate not provided|'
    r'no key|legacy signature|signature not found'
)


def verify_signature(path, command):
    """
    Return (state, text) of what command (str, path of singularity or apptainer) says of the
    signatures in the SIF path.

    state: 'verified', text is its output; 'unknown', the key is not in the user's keyring or the
    command does not run; 'wrong'.
    """
    try:
        proc = subprocess.Popen(
            [command, 'verify', '--local', path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            env=dict(os.environ, LC_ALL='C'),
            errors='replace',
        )
    except OSError as err:
        return 'unknown', "%s does not run (%s)" % (command, err.strerror)
    out, errors = proc.communicate()
    if proc.returncode == 0:
        return 'verified', out
    lines = [line for line in errors.splitlines() if line.strip()] or [
        "exit code %d" % proc.returncode
    ]
    text = re.sub(
        r'\x1b\[[0-9;]*m|^(FATAL|ERROR): *|Failed to verify container: *|integrity: *',
        '',
        lines[-1],
    ).strip()
    return ('unknown' if UNKNOWN_KEY.search(errors) else 'wrong'), text


def parse_labels(raw):
    """
    Return the labels (dict) in the JSON (bytes) that `apptainer build` stores in a SIF or an
    image, {} for other.
    """
    try:
        labels = parse_json(raw.decode('utf-8', 'replace'))
        labels = labels['data']['attributes']['labels'] if 'data' in labels else labels
        return dict((name, value) for name, value in labels.items() if isinstance(value, str))
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}

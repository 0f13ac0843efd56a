"""
Read the SIF format: the objects of a SIF, its labels, and whether its signatures fit its contents.

The header is read directly (format: github.com/apptainer/sif, pkg/sif: global header of 128 bytes,
then descriptors of 585 bytes, little endian), so that an image of many gigabytes is never copied.
Nothing in the image is executed.
"""

import os
import re
import struct
import subprocess
import tarfile
from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from osu_container.base.files import SIZE_LIMITS, open_plain_file, parse_json
from osu_container.base.shell import quote

SIF_MAGIC = b'SIF_MAGIC'
HEADER = struct.Struct('<32s10s3s3s16sqqqqqqqq')
DESCRIPTOR = struct.Struct('<i?IIIqqqqqqq128s384s')
DATA_PARTITION = 0x4004
DATA_SIGNATURE = 0x4005
DATA_GENERIC_JSON = 0x4006
#: These bits are set in the number of a group, and in a link to a group
GROUP_MASK = 0xF0000000
#: extra field of a partition: file system type, partition type
PARTITION = struct.Struct('<ii')
SQUASHFS = 1
#: A squashfs without a SIF around it, which the runtimes accept as well
SQUASHFS_MAGIC = b'hsqs'
PRIMARY_SYSTEM, OVERLAY = 2, 4
#: Limit for damaged files: `apptainer build` leaves room for 48 objects
_MOST_OBJECTS = 1 << 16


class ImageError(Exception):
    """An image cannot be used; the text has the reason and the remedy."""


class NoRoomError(ImageError):
    """A temporary folder is full; this says nothing about the image."""


class SifObject(NamedTuple):
    """One object of a SIF."""

    number: int
    kind: int  #: DATA_...
    group: int  #: number of the object's group, 0 for none
    link: int  #: number of the object or, with the bits of GROUP_MASK, group that this one is for
    offset: int  #: bytes
    size: int  #: bytes
    name: str
    extra: bytes  #: the meaning depends on kind


def _describe_other_file(path: str) -> str:
    """Return what a file is that is no SIF, and the command that makes a SIF of it."""
    names: Set[str] = set()
    try:
        with open(path, 'rb') as stream:
            head = stream.read(512)
        # a file of another kind, such as a device, may have no end
        if head[257:262] == b'ustar' or head.startswith((b'\x1f\x8b', b'\xfd7zXZ', b'BZh')):
            with tarfile.open(path) as archive:
                names.update(archive.getnames())
    except (OSError, EOFError, tarfile.TarError):
        pass
    kind = 'docker' if 'manifest.json' in names else 'oci' if 'oci-layout' in names else None
    if kind is None:
        return "it has no SIF header. Name a file that 'apptainer build' has made"
    return (
        "it is an archive of image layers. Build a SIF from it: apptainer build NAME.sif "
        f"{kind}-archive:{quote(path)}"
    )


def read_objects(path: str) -> List[SifObject]:
    """
    Return the objects of a SIF; a bare squashfs is its only object.

    Raises ImageError if the file is missing, is no SIF, is damaged, or is truncated.
    """
    try:
        handle = open_plain_file(path)
    except OSError as err:
        raise ImageError(
            f"cannot read the image {path}: {err.strerror}. Name a SIF, or the folder of an "
            "unpacked image"
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
            raise ImageError(f"{path} is not a SIF: {_describe_other_file(path)}")
        fields = HEADER.unpack(header)
        total, table = fields[8], fields[9]
        if not 0 <= table <= size or total < 0:
            raise ImageError(
                f"{path} is damaged: its table of contents begins at byte {table} of {size}. Copy "
                "or build the image again"
            )
        handle.seek(table)
        objects: List[SifObject] = []
        for _ in range(min(total, _MOST_OBJECTS)):
            raw = handle.read(DESCRIPTOR.size)
            if len(raw) < DESCRIPTOR.size:
                raise ImageError(
                    f"{path} is truncated: its table of contents ends early. Copy or build the "
                    "image again"
                )
            kind, used, number, group, link, offset, length, *_, name, extra = DESCRIPTOR.unpack(
                raw
            )
            if used:
                name = name.split(b'\0')[0].decode('utf-8', 'replace')
                group &= ~GROUP_MASK
                objects.append(SifObject(number, kind, group, link, offset, length, name, extra))
    if any(item.offset < 0 or item.size < 0 for item in objects):
        raise ImageError(
            f"{path} is damaged: an object in it has a negative offset or size. Copy or build the "
            "image again"
        )
    expected = max([item.offset + item.size for item in objects] or [0])
    if size < expected:
        raise ImageError(
            f"{path} is truncated: it has {size} bytes, expected {expected}. Copy or build "
            "the image again"
        )
    # otherwise thousands of objects could each be the whole file, read again and again
    if sum(item.size for item in objects) > size:
        raise ImageError(
            f"{path} is damaged: the sizes of its objects add up to more than the file. Copy or "
            "build the image again"
        )
    return objects


def read_sif(path: str) -> Tuple[int, Dict[str, str]]:
    """
    Return the offset in bytes of a SIF's primary squashfs, and the labels.

    Raises ImageError if the file is missing, is no SIF, is truncated, or holds no squashfs.
    """
    objects = read_objects(path)
    labels: Dict[str, str] = {}
    sources = [item for item in objects if item.kind == DATA_GENERIC_JSON]
    total = sum(item.size for item in sources)
    if total > SIZE_LIMITS['labels']:
        raise ImageError(
            f"{path} has {total} bytes of labels, more than the limit of {SIZE_LIMITS['labels']} "
            "bytes. Use an image with fewer labels"
        )
    for item in sources:
        labels.update(parse_labels(read_object(path, item)))
    return _find_system_partition(path, objects).offset, labels


def has_overlay(path: str) -> bool:
    """
    Return whether a SIF has an overlay that the runtime uses.

    Raises ImageError as read_sif() does. The runtime ignores an overlay that is not in the group of
    the system partition, that is, one added without --groupid (seen with Apptainer 1.4.5).
    """
    objects = read_objects(path)
    group = _find_system_partition(path, objects).group
    return any(
        item.kind == DATA_PARTITION
        and item.group == group
        and PARTITION.unpack(item.extra[: PARTITION.size])[1] == OVERLAY
        for item in objects
    )


def _find_system_partition(path: str, objects: List[SifObject]) -> SifObject:
    """Return the object with the primary squashfs. Raises ImageError if there is none."""
    partitions = [
        item
        for item in objects
        if item.kind == DATA_PARTITION
        and PARTITION.unpack(item.extra[: PARTITION.size]) == (SQUASHFS, PRIMARY_SYSTEM)
    ]
    if not partitions:
        raise ImageError(
            f"{path} holds no squashfs system partition; encrypted and ext3 images cannot be read"
        )
    return partitions[-1]


def read_object(path: str, item: SifObject) -> bytes:
    """Return the content of an object of a SIF."""
    with open_plain_file(path) as handle:
        handle.seek(item.offset)
        return handle.read(item.size)


def is_signed(path: str) -> bool:
    """Return whether a SIF has signatures. Raises ImageError if it cannot be read."""
    return any(item.kind == DATA_SIGNATURE for item in read_objects(path))


def find_signature_problem(path: str, command: str) -> Optional[str]:
    """
    Return a message if a signature of a SIF does not fit its contents, else None.

    `command` is the path of singularity or apptainer, which verifies with the keys in the user's
    keyring and asks no key server. Without the key the result is None. Raises ImageError if the
    SIF cannot be read.
    """
    state, text = verify_signature(path, command) if is_signed(path) else ('verified', '')
    if state == 'wrong':
        return f"{path} was changed after it was signed: {text}. Copy or build it again"
    return None


#: Output of Apptainer and SingularityCE if a signature cannot be verified: its key is not in the
#: keyring, or it was made with a key file (--key) or before Singularity 3.6
UNKNOWN_KEY = re.compile(
    r'unknown entity|keyring is empty|key material not provided|certificate not provided|'
    r'no key|legacy signature|signature not found'
)


def verify_signature(path: str, command: str) -> Tuple[str, str]:
    """
    Return the result of `singularity verify` and a text.

    `command` is the path of singularity or apptainer. The result is 'verified' with the output as
    text, 'unknown' if the key is not in the user's keyring or the command cannot be run, or
    'wrong'.
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
        return 'unknown', f"{command} cannot be run ({err.strerror})"
    out, errors = proc.communicate()
    if proc.returncode == 0:
        return 'verified', out
    lines = [line for line in errors.splitlines() if line.strip()]
    lines = lines or [f"exit code {proc.returncode}"]
    text = re.sub(
        r'\x1b\[[0-9;]*m|^(FATAL|ERROR): *|Failed to verify container: *|integrity: *',
        '',
        lines[-1],
    ).strip()
    return ('unknown' if UNKNOWN_KEY.search(errors) else 'wrong'), text


def parse_labels(raw: bytes) -> Dict[str, str]:
    """Return the labels in the JSON that `apptainer build` stores, {} if it is invalid."""
    try:
        labels = parse_json(raw.decode('utf-8', 'replace'))
        labels = labels['data']['attributes']['labels'] if 'data' in labels else labels
        return {name: value for name, value in labels.items() if isinstance(value, str)}
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}

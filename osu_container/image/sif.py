"""
Read the objects and labels of a SIF image, and verify the signatures of the image.

This module parses the header of the SIF without another program, so that an image of many gigabytes
is never copied. The format is defined in github.com/apptainer/sif, pkg/sif: a global header of 128
bytes, then descriptors of 585 bytes, all in little-endian order. The module executes nothing in the
image.
"""

import os
import re
import struct
import subprocess
from typing import Dict, List, NamedTuple, Optional, Tuple

from osu_container.base.files import SIZE_LIMITS, open_plain_file, parse_json
from osu_container.base.shell import quote

SIF_MAGIC = b'SIF_MAGIC'
HEADER = struct.Struct('<32s10s3s3s16sqqqqqqqq')
DESCRIPTOR = struct.Struct('<i?IIIqqqqqqq128s384s')
DATA_PARTITION = 0x4004
DATA_SIGNATURE = 0x4005
DATA_GENERIC_JSON = 0x4006
#: Bits that are set in the number of a group and in a link to a group
GROUP_MASK = 0xF0000000
#: Format of the field `extra` of a partition: file system type, partition type
PARTITION = struct.Struct('<ii')
SQUASHFS = 1
#: First bytes of a squashfs file. The runtimes also accept a squashfs file that is not inside a SIF
SQUASHFS_MAGIC = b'hsqs'
PRIMARY_SYSTEM, OVERLAY = 2, 4
#: Maximum number of objects that this module reads from a damaged file. `apptainer build` reserves
#: space for 48 objects
_MAX_OBJECTS = 1 << 16


class ImageError(Exception):
    """An image cannot be used. The message contains the reason, and usually the remedy."""


class NoRoomError(ImageError):
    """The temporary folder has too little free space. The image itself may be usable."""


class SifObject(NamedTuple):
    """The descriptor of one object in a SIF file."""

    number: int  #: number of the object, which links use
    kind: int  #: type of the object, such as DATA_PARTITION
    group: int  #: number of the group of the object, 0 for no group
    #: number of the object to which this object refers; with the bits of GROUP_MASK, number of a
    #: group. A signature refers to the signed objects
    link: int
    offset: int  #: position of the content in the file, in bytes
    size: int  #: size of the content in bytes
    name: str  #: name of the object
    extra: bytes  #: further data, whose format depends on `kind`


def read_objects(path: str) -> List[SifObject]:
    """
    Return the descriptors of all objects in a SIF.

    If the file is a squashfs, the result is a single partition: the whole file. Raises ImageError
    if the file does not exist, is not a SIF, is damaged or is truncated.
    """
    try:
        handle = open_plain_file(path)
    except OSError as err:
        raise ImageError(
            f"cannot read the image {path}: {err.strerror}. Give the path of a SIF, or of "
            "the folder of an unpacked image"
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
            raise ImageError(
                f"{path} is not a SIF: the file has no SIF header. Use a file that "
                "`apptainer build` has written. To build a SIF from an archive of image layers, "
                f"run: apptainer build NAME.sif docker-archive:{quote(path)} (after "
                f"`docker save`), or oci-archive:{quote(path)}"
            )
        fields = HEADER.unpack(header)
        total, table = fields[8], fields[9]
        if not 0 <= table <= size or total < 0:
            raise ImageError(
                f"{path} is damaged: the table of contents is at byte {table} of {size}. Copy the "
                "image again, or build it again"
            )
        handle.seek(table)
        objects: List[SifObject] = []
        for _ in range(min(total, _MAX_OBJECTS)):
            raw = handle.read(DESCRIPTOR.size)
            if len(raw) < DESCRIPTOR.size:
                raise ImageError(
                    f"{path} is truncated: the table of contents is incomplete. Copy the image "
                    "again, or build it again"
                )
            kind, used, number, group, link, offset, length, *_, name, extra = DESCRIPTOR.unpack(
                raw
            )
            if used:
                name = name.split(b'\0')[0].decode('utf-8', 'replace')
                group &= ~GROUP_MASK
                objects.append(SifObject(number, kind, group, link, offset, length, name, extra))
    expected = max([item.offset + item.size for item in objects] or [0])
    if size < expected:
        raise ImageError(
            f"{path} is truncated: the file has {size} bytes instead of {expected}. Copy the image "
            "again, or build it again"
        )
    # Without this check each of thousands of objects could contain the whole file, and this module
    # would read the whole file thousands of times.
    if (
        any(item.offset < 0 or item.size < 0 for item in objects)
        or sum(item.size for item in objects) > size
    ):
        raise ImageError(
            f"{path} is damaged: the objects in the SIF overlap or have a negative offset or size. Copy "
            "the image again, or build it again"
        )
    return objects


def read_sif(path: str) -> Tuple[int, Dict[str, str], bool]:
    """
    Return (offset, labels, whether the SIF has an overlay that the runtime uses) of a SIF.

    offset: position of the primary squashfs in the file in bytes. labels: {name: value}. If a user
    adds an overlay without --groupid, the overlay is outside of the group of the system partition.
    The runtime ignores such an overlay (observed with Apptainer 1.4.5), and so does this function.
    Raises ImageError if the SIF cannot be read or contains no squashfs.
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
    partitions = [
        (item, *PARTITION.unpack(item.extra[: PARTITION.size]))
        for item in objects
        if item.kind == DATA_PARTITION
    ]
    systems = [item for item, *kinds in partitions if kinds == [SQUASHFS, PRIMARY_SYSTEM]]
    if not systems:
        raise ImageError(
            f"{path} contains no squashfs system partition. Use another image, because "
            "osu-container cannot read encrypted images and ext3 images"
        )
    has_overlay = any(
        kind == OVERLAY and item.group == systems[-1].group for item, _, kind in partitions
    )
    return systems[-1].offset, labels, has_overlay


def read_object(path: str, item: SifObject) -> bytes:
    """Return the content of the object `item` in the SIF `path`."""
    with open_plain_file(path) as handle:
        handle.seek(item.offset)
        return handle.read(item.size)


#: Pattern for the output of Apptainer and SingularityCE if they cannot verify a signature. Either
#: the keyring lacks the key, or the signature was made with a key file (--key) or by a Singularity
#: older than 3.6
UNKNOWN_KEY = re.compile(
    r'unknown entity|keyring is empty|key material not provided|certificate not provided|'
    r'no key|legacy signature|signature not found'
)


def find_signature_problem(path: str, command: str) -> Optional[str]:
    """
    Return a message if a SIF was changed after the SIF was signed, otherwise None.

    command: path of singularity or apptainer. The function runs the command to verify the
    signatures with the keys in the user's keyring, without contact to a key server. If the keyring
    does not contain the necessary key, or if the command cannot be run, the result is None. Raises
    ImageError if the SIF cannot be read.
    """
    if not any(item.kind == DATA_SIGNATURE for item in read_objects(path)):
        return None
    try:
        proc = subprocess.Popen(
            [command, 'verify', '--local', path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            env=dict(os.environ, LC_ALL='C'),
            errors='replace',
        )
    except OSError:
        return None
    _, errors = proc.communicate()
    if proc.returncode == 0 or UNKNOWN_KEY.search(errors):
        return None
    lines = [line for line in errors.splitlines() if line.strip()]
    text = re.sub(
        r'\x1b\[[0-9;]*m|^(FATAL|ERROR): *|Failed to verify container: *|integrity: *',
        '',
        (lines or [f'exit code {proc.returncode}'])[-1],
    ).strip()
    return f"{path} was changed after the image was signed: {text}. Copy or build the image again"


def parse_labels(raw: bytes) -> Dict[str, str]:
    """
    Parse the JSON text of an image's labels and return {name of the label: value}.

    text: JSON text that `apptainer build` stores in the image. If `text` is invalid, the result is
    empty.
    """
    try:
        labels = parse_json(raw.decode('utf-8', 'replace'))
        labels = labels['data']['attributes']['labels'] if 'data' in labels else labels
        return {name: value for name, value in labels.items() if isinstance(value, str)}
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}

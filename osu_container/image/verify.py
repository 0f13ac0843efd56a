"""Whether an image is what it says: by the sum beside it and by its signature."""
import re
from pathlib import Path

from osu_container.core import shell
from osu_container.core.installing.image_build import wanted_sha256
from osu_container.core.reading import sif as sif_file
from osu_container.core.reading.libraries import sha256_of
from osu_container.core.terminal import one_line

OK, NOT_CHECKED, WRONG = 'ok', 'not checked', 'wrong'


def verify(path, runtime):
    """
    Return [(check, 'ok', 'not checked' or 'wrong', text)] of an image. What cannot be read is wrong.

    path: SIF. runtime: path of apptainer or singularity.
    """
    path = Path(path)
    return [answer('sum', check_sum, path), answer('signature', check_signature, path, runtime)]


def print_report(path, checks, write=print):
    """Print what verify() found of an image, one check a line. write: function that takes a line."""
    write(f"{one_line(path)}:")
    for check, state, text in checks:
        first, *others = map(one_line, text.split('\n'))
        write(f"    {check:10} {state:12} {first}")
        for line in others:
            write(f"    {'':23} {line}")


def answer(check, function, *arguments):
    """Return (check, state, text) of a check; an ImageError is what is wrong."""
    try:
        return (check, *function(*arguments))
    except sif_file.ImageError as err:
        return check, WRONG, one_line(err)


def check_sum(path):
    """Compare an image with the file beside it that has its sha256."""
    beside = Path(f'{path}.sha256')
    wanted = wanted_sha256(str(beside))
    if wanted is None and not beside.exists():
        return NOT_CHECKED, f"no {beside.name} beside it"
    if wanted is None:
        return WRONG, (f"{beside.name} is empty. To make it again: sha256sum {shell.path(path.name)} >"
                       f"{shell.path(beside.name)}")
    try:
        found = sha256_of(path)
    except OSError as err:
        return WRONG, f"cannot read the image: {err.strerror}"
    if found != wanted:
        return WRONG, f"sha256 is {found}, {beside.name} says {wanted}. Copy or build the image again"
    return OK, f"sha256 {found}, as in {beside.name}"


def check_signature(path, runtime):
    """Say what the runtime finds of the signature of an image, if it has one."""
    if not sif_file.is_signed(str(path)):
        return NOT_CHECKED, "unsigned"
    state, text = sif_file.verify_signature(str(path), str(runtime))
    names = dict(zip(re.findall(r'Fingerprint: *(\w+)', text), re.findall(r'Signing entity: *(.*?)\s*$', text, re.M)))
    if state == 'verified':
        return OK, one_line('signed by ' + ', '.join(f'{name}/{key}' for key, name in names.items()))
    return (WRONG if state == 'wrong' else NOT_CHECKED), one_line(
        f"the signature does not fit: {text}" if state == 'wrong' else f"signed, key not at hand ({text})")

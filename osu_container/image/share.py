"""SIFs to and from a registry (ORAS): checked before they go, and before they get their name here."""
import contextlib
import os
import re
import tempfile
from pathlib import Path

from osu_container.core.reading.files import not_replaced
from osu_container.core.writing import shell

from . import ImageError, engines, sbom, verify
from .build import write_sum
from .catalogue import image_of, sha256_of, shown
from .progress import run, say

SCHEMES = ('oras://', 'docker://', 'library://')


def _check_uri(uri, schemes):
    """Raise ImageError if an address is not one of those that the runtime knows."""
    if not uri.startswith(schemes):
        raise ImageError(f"{uri} is no address of an image in a registry; wanted: "
                         f"{' or '.join(f'{scheme}...' for scheme in schemes)}, such as oras://REGISTRY/osu/NAME:1")


def push(path, uri, work, plain, log):
    """Copy a SIF to a registry if nothing is wrong with it.

    plain: whether the registry speaks HTTP. log: file for the output of the programs. Raises ImageError.
    """
    _check_uri(uri, ('oras://', 'library://'))
    if not path.is_file():
        raise ImageError(f"there is no file {path}. Name a SIF, such as one that osu-container image build has made")
    work.mkdir(parents=True, exist_ok=True)
    program = engines.runtime()
    _report(path, program, work)
    say(f"pushing {shown(path)} ({path.stat().st_size / 1e6:.0f} MB) to {uri}")
    words = [program, 'push', *(['--no-https'] if plain else [])]
    if uri.startswith('library://'):
        words.append('--allow-unsigned')
    run('pushing', [*words, path, uri], log)
    print(f"On the other side: osu-container image pull {shell.word(uri)} --sha256 {sha256_of(path)}")


def pull(uri, path, sources, work, *, wanted, force, plain, log):
    """Copy a SIF from a registry to a path; it gets its name only when it is checked.

    path: None for the name of the image inside, in the folder sources. wanted: sha256, None if unknown. Raises
    ImageError.
    """
    _check_uri(uri, SCHEMES)
    if wanted and not re.fullmatch('[0-9a-fA-F]{64}', wanted):
        raise ImageError(f"--sha256 {wanted}: wanted the 64 digits (0-9, a-f) that sha256sum prints")
    target = path.absolute() if path else None
    if target and target.exists() and not force:
        raise ImageError(f"{target} is there. To replace it: --force")
    problem = target and not_replaced(target)
    if problem:
        raise ImageError(f"{target} cannot be written: {problem}. Name another file")
    folder = target.parent if target else sources
    if not folder.is_dir():
        raise ImageError(f"no folder {folder}. Make it, or name another file")
    work.mkdir(parents=True, exist_ok=True)
    program = engines.runtime()
    with tempfile.TemporaryDirectory(prefix='.pull-', dir=folder) as temporary:
        new = Path(temporary) / 'image.sif'
        say(f"pulling {uri}")
        run('pulling', [program, 'pull', *(['--no-https'] if plain else []), new, uri], log)
        found = sha256_of(new)
        if wanted and found != wanted.lower():
            raise ImageError(f"what came from {uri} is not the file that is meant, and was removed:\n"
                             f"    sha256 found   {found}\n    sha256 wanted  {wanted}")
        _report(new, program, work)
        target = target or _name_inside(new, uri, folder)
        if target.exists() and not force:
            raise ImageError(f"{target} is there. To replace it: --force")
        os.replace(new, target)
    # A record of an image that was built here would be about another file.
    with contextlib.suppress(FileNotFoundError):
        Path(f'{target}.json').unlink()
    write_sum(target, found)
    say(f"{shown(target)}: {target.stat().st_size / 1e6:.0f} MB, sha256 {found}")


def _report(path, program, work):
    """Check an image, print the report. Raises ImageError if anything is wrong."""
    checks = verify.verify(path, program, work)
    verify.print_report(path, checks)
    wrong = [f"{what}: {text}" for what, state, text in checks if state == 'wrong']
    if wrong:
        raise ImageError(f"{shown(path)} is not passed on: {'; '.join(wrong)}")


def _name_inside(new, uri, folder):
    """Return the path for a pulled file by the image's name in its SBOM. Raises ImageError if it does not say one."""
    document = sbom.extract(new)
    name = document['name'] if document else None
    if not name or not image_of(f'{name}.sif'):
        raise ImageError(f"what came from {uri} does not say which image it is. Name the file: osu-container image "
                         f"pull {uri} FILE")
    return folder / f'{name}.sif'


"""A folder that is written whole or not at all, and that only this command's own files may be replaced in."""
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from osu_container.contribute import ContributeError
from osu_container.core.installing.staged import exchange
from osu_container.core.reading.files import read_plain

#: Sums of all other files: what a later run may replace, and what whoever is given the folder can check
SUMS = 'SHA256SUMS'


def contents(folder):
    """Return the files (set of str, relative) below folder (Path)."""
    return {str(path.relative_to(folder)) for path in folder.rglob('*') if path.is_symlink() or not path.is_dir()}


def written_before(folder):
    """Return the files (set of str) that a contribution in folder (Path) says that it is of, with its list."""
    try:
        lines = read_plain(folder / SUMS).decode().splitlines()
    except (OSError, ValueError):  # not to be read, or no text
        return set()
    return {SUMS, *(line.partition('  ')[2] for line in lines)}


def check(folder, force):
    """Raise ContributeError if folder (Path) is there and may not be replaced; force: bool, the user allows it."""
    if not folder.parent.is_dir():
        raise ContributeError(f'there is no folder {folder.parent} (-o)')
    if folder.is_symlink() or folder.exists() and not folder.is_dir():
        raise ContributeError(f'{folder} is no folder; name another one by -o')
    if not folder.exists() or not any(folder.iterdir()):
        return
    others = sorted(contents(folder) - written_before(folder))
    if others:
        raise ContributeError(f"{folder} holds {others[0]}"
                              f"{f' and {len(others) - 1} more files' if others[1:] else ''}, which this command has "
                              "not written; it is left as it is. Name another folder by -o")
    if not force:
        raise ContributeError(f'{folder} holds a contribution already; --force writes it anew, -o names another folder')


def write(folder, files, force):
    """
    Write files ({relative path (str): text}) to folder (Path) in one move; nothing is left of what was interrupted.

    Raises ContributeError, as check() does and if it cannot be written.
    """
    try:
        _write(Path(os.path.abspath(folder)), files, force)
    except OSError as err:
        raise ContributeError(f"{folder} cannot be written: {err.strerror}. Make room there, or name another folder "
                              "by -o") from err


def _write(folder, files, force):
    """See write(). Raises OSError too."""
    check(folder, force)
    stage = Path(tempfile.mkdtemp(prefix=f'.{folder.name}.', dir=folder.parent))
    try:
        stage.chmod(0o755)
        for name, text in files.items():
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / name).write_text(text)
        (stage / SUMS).write_text(''.join(
            f'{hashlib.sha256(files[name].encode()).hexdigest()}  {name}\n' for name in sorted(files)))
        old = Path(f'{stage}.old')
        if not folder.exists():
            stage.rename(folder)
        elif not exchange(stage, folder):
            folder.rename(old)
            try:
                stage.rename(folder)
            except BaseException:
                old.rename(folder)
                raise
        for older in (old, stage):
            shutil.rmtree(older, ignore_errors=True)
    except BaseException:  # also Ctrl-C
        shutil.rmtree(stage, ignore_errors=True)
        raise

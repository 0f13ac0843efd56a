"""A new folder that is written whole or not at all."""
import os
import shutil
import tempfile
from pathlib import Path

from osu_container.contribute import ContributeError


def write(folder, files):
    """
    Write files ({relative path (str): text}) to a new folder (Path) in one move.

    Raises ContributeError if folder is there already or cannot be written; nothing is left of what was interrupted.
    """
    folder = Path(os.path.abspath(folder))
    if folder.exists() or folder.is_symlink():
        raise ContributeError(f'{folder} is there already, and is left as it is; -o names another folder')
    try:
        _write(folder, files)
    except OSError as err:
        raise ContributeError(f"{folder} cannot be written: {err.strerror}. Make room there, or name another folder "
                              "by -o") from err


def _write(folder, files):
    """See write(). Raises OSError."""
    stage = Path(tempfile.mkdtemp(prefix=f'.{folder.name}.', dir=folder.parent))
    try:
        stage.chmod(0o755)
        for name, text in files.items():
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            (stage / name).write_text(text)
        stage.rename(folder)
    except BaseException:  # also Ctrl-C
        shutil.rmtree(stage, ignore_errors=True)
        raise

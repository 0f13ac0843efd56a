"""What the builder does with SIF files beside running programs on them. Reading their header: _mpicontainer_image."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from . import ImageError
from .catalogue import PROJECT

sys.path.insert(0, str(PROJECT / 'easyblocks'))
from generic import _mpicontainer_image as reader  # noqa: E402, the path above is needed first


def unpack(sif, folder, paths=()):
    """Unpack paths of the image's file system (all without) into a new folder, as files of the caller.

    Raises ImageError if the file is no SIF or has not all of the paths.
    """
    try:
        offset, _ = reader.read_sif(str(sif))
    except reader.ImageError as err:
        raise ImageError(str(err)) from err
    folder.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(['unsquashfs', '-quiet', '-no-progress', '-no-xattrs', '-offset', str(offset), '-dest',
                           str(folder), str(sif), *(path.lstrip('/') for path in paths)],
                          capture_output=True, text=True, errors='replace')
    lacking = [path for path in paths if not (Path(folder) / path.lstrip('/')).exists()]
    if done.returncode or lacking:
        raise ImageError(f"cannot unpack {sif}: {done.stderr.strip()[-300:] or 'no message'}"
                         + (f"; it lacks {', '.join(lacking)}" if lacking else ''))

"""Whether every installed module still is what was installed: its image by the recorded sum, the host's libraries."""
import os
from pathlib import Path

from osu_container.core.deciding.facts import FactsError, checked, stale_libraries
from osu_container.discover.differ import DifferError, recorded, root_of

from . import ImageError
from .verify import NOT_CHECKED, OK, WRONG, answer, check_signature, check_sum


def installations(modulepath):
    """
    Return {folder of an installation (str): name of its module (str)} of this project's modules.

    modulepath: folders of modules with : between them, as in MODULEPATH; of the modules of one installation the first
    counts. Raises ImageError where there is none.
    """
    found = {}
    for folder in filter(None, modulepath.split(':')):
        for path in sorted(Path(folder).rglob('*.lua')):
            root = root_of(path) if path.name[0] != '.' else None
            if root and os.path.isfile(os.path.join(root, 'facts.json')):
                found.setdefault(root, str(path.relative_to(folder).with_suffix('')))
    if not found:
        raise ImageError(f"no module of this project in MODULEPATH ({modulepath or 'not set'}). Add the folder that "
                         "has them: module use FOLDER")
    return found


def verify_installation(root, runtime, sums):
    """
    Return [(check, 'ok', 'not checked' or 'wrong', text)] of an installation, as verify() does of an image.

    root: folder. runtime: path of apptainer or singularity. sums: dict that is filled: installations may share one
    file, which is read once.
    """
    try:
        facts = checked(recorded(root))
    except (DifferError, FactsError) as err:
        return [('facts', WRONG, str(err))]
    found = []
    if 'image' in facts:
        path = Path(root, facts['image']['file'])
        if not path.exists():
            found = [('image', WRONG if path.is_symlink() else NOT_CHECKED,
                      f"{path} is gone; install the module again, if the site has none of this name")]
        else:
            identity = path.stat().st_dev, path.stat().st_ino
            if identity not in sums:
                sums[identity] = [answer('sum', check_sum, path),
                                  answer('signature', check_signature, path, runtime)]
            found = list(sums[identity])
            beside = path.with_name(path.name + '.sha256')
            # Each installation has its own, or nothing could be wrong; those that record no stamp are older than it
            if 'installed' in facts['image'] and not beside.exists():
                found[0] = ('sum', WRONG, f"{beside} is gone, which was installed with the image: nothing tells "
                                          "whether the image is still that one. Install the module again")
    changed = stale_libraries(facts)
    count = len(facts['host'].get('injected', []))
    if count:
        found.append(('libraries', WRONG if changed else OK, '\n'.join(changed) or
                      f"{count} libraries of the host are those that were there at installation"))
    return found or [('image', NOT_CHECKED, "native: it has no image, and links the host's libraries")]

"""The folder with Debian that images for any Linux machine start from, where no container registry is reached."""
import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from . import ImageError
from .catalogue import command_path
from .progress import run

# Documentation and translations are half of the base. The licences stay.
DPKG_OPTIONS = ('path-exclude=/usr/share/doc/*', 'path-include=/usr/share/doc/*/copyright',
                'path-exclude=/usr/share/man/*', 'path-exclude=/usr/share/info/*', 'path-exclude=/usr/share/locale/*')

# Debian 12 brings Perl, 50 MB, for the program that merges / and /usr. A new base is merged from the beginning, as in
# the images of the registries; mmdebstrap has a hook for it.
MERGED = Path('/usr/share/mmdebstrap/hooks/maybe-merged-usr')

# Left out when a base is unpacked: device nodes cannot be made without root, and no image needs them; nor what belongs
# to a running system or names the machine that builds; the last two folders can be read by apt's user only, which the
# build is not.
NOT_UNPACKED = ('./dev/*', './run/*', './etc/hostname', './etc/resolv.conf',
                './var/cache/apt/archives/partial', './var/lib/apt/lists/partial')


def mirror():
    """Return the address of a Debian mirror that the user has named ($DEBIAN_MIRROR), '' for that of the program."""
    return os.environ.get('DEBIAN_MIRROR', '')


def command(release):
    """Return (name of the program, command that makes the base without its target). Raises ImageError without one.

    release: of Debian.
    """
    # debootstrap can only run as root, and makes the same packages in twice the time.
    for name in ('mmdebstrap', 'debootstrap'):
        program = command_path(name)
        if not program or (name == 'debootstrap' and os.geteuid() != 0):
            continue
        options = []
        if name == 'mmdebstrap':
            options = ['--format=tar', *(f'--dpkgopt={option}' for option in DPKG_OPTIONS)]
            if release == 'bookworm' and MERGED.is_dir():
                options += [f'--hook-dir={MERGED}', '--include=usr-is-merged']
        return name, [program, '--variant=minbase', '--include=python3', *options, release, mirror()]
    raise ImageError("no mmdebstrap to make a Debian base with. Install it (Debian, Ubuntu: apt-get install "
                     "mmdebstrap)")


def identity(words):
    """Return 12 hex digits that differ when a base made by this command does, from whatever mirror."""
    return hashlib.sha256('\0'.join([*words[1:-1], *NOT_UNPACKED]).encode()).hexdigest()[:12]


def folder_of(words, work):
    """Return the folder (Path) of the base that a command makes."""
    return Path(work) / f'base-{identity(words)}'


def _open_to_all():
    """
    Return the folder (str) for mmdebstrap's temporary files. Raises ImageError if there is none.

    Without root it works as a user of /etc/subuid, who must come in: EasyBuild's own TMPDIR is closed to others.
    """
    folders = list(dict.fromkeys([tempfile.gettempdir(), '/tmp', '/var/tmp']))
    for folder in map(Path, folders):
        path = folder.resolve()
        if os.access(path, os.W_OK) and all(one.stat().st_mode & 0o001 for one in (path, *path.parents)):
            return str(folder)
    raise ImageError(f"making the base: {', '.join(folders)} cannot be entered by other users, as mmdebstrap without "
                     "root needs it. Name a folder that they can enter: export TMPDIR=FOLDER")


def make(kind, words, work, log):
    """Return the folder with Debian and Python 3, made if it is not there yet.

    It serves all images until the work folder is cleared. Raises ImageError.
    """
    base = folder_of(words, work)
    if base.is_dir():
        return base
    address = [words[-1]] if words[-1] else []
    with tempfile.TemporaryDirectory(prefix='base-new-', dir=work) as temporary:
        root, archive = Path(temporary) / 'root', Path(temporary) / 'base.tar'
        root.mkdir()
        if kind == 'mmdebstrap':
            run('making the base', [*words[:-1], archive, *address], log,
                env={**os.environ, 'TMPDIR': _open_to_all()})
        else:
            made = Path(temporary) / 'made'
            run('making the base', [*words[:-1], made, *address], log)
            run('packing the base', ['tar', '-C', made, '-cf', archive, '.'], log)
        run('unpacking the base', ['tar', '-C', root, *(f'--exclude={path}' for path in NOT_UNPACKED), '-xf', archive],
            log)
        with contextlib.suppress(OSError):  # another build was faster: its base is as good
            os.rename(root, base)
    return base

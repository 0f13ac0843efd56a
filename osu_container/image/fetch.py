"""
Sources of images: found where they are, else downloaded, with resume; used only with the sha256 of versions.py. And the
folder with Debian that images for any Linux machine start from, where no container registry is reached.
"""
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from subprocess import DEVNULL

from osu_container.core import outputs
from osu_container.places import PROJECT, STATE

from . import ImageError
from .catalogue import DEBIAN, DEFAULT_DEBIAN, SOURCES, command_path, sha256_of, shown
from .progress import SCREEN, of_this, run, say

# Folders below a source path in which EasyBuild looks for the sources of our easyconfigs.
EASYBUILD_FOLDERS = ('', 'o/osu-native', 'osu-native', 'o/osu-container', 'osu-container', 'o/OSU-Micro-Benchmarks')

# The wheels are for x86_64, and pip must take the one for the image's Python, whatever Python runs pip.
PLATFORMS = ('manylinux_2_28_x86_64', 'manylinux2014_x86_64', 'manylinux_2_17_x86_64', 'manylinux_2_5_x86_64',
             'manylinux1_x86_64', 'manylinux_2_27_x86_64', 'any')

#: Folder in the work folder for what serves later builds
KEPT = 'kept'
#: Folder beside the sources for what has come of a file so far
PARTS = '.osu-container-downloads'
TIMEOUT = 20  # seconds without a byte after which a server counts as not reached


def check_sum(path, wanted, advice):
    """Raise ImageError if the file is not the one that is meant. It is left where it is."""
    found = sha256_of(path)
    if found != wanted:
        raise ImageError(f"{path} is not the file that is meant:\n    sha256 found   {found}\n"
                         f"    sha256 wanted  {wanted}\n{advice}")


def missing(keys, folder):
    """Return the keys (list) whose file is not in the folder."""
    return [key for key in keys if not (Path(folder) / SOURCES[key]['file']).is_file()]


def fetch(keys, folder, log):
    """Put the sources of these keys into the folder. What is there with the right sum is not fetched again.

    Raises ImageError if a file is there with another sum (it is kept), cannot be fetched, or has no known sum.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for number, key in enumerate(keys, 1):
        source = SOURCES[key]
        path = folder / source['file']
        if not path.exists():
            say(f"fetching {source['file']} ({number} of {len(keys)})")
            if source['url'] == 'PyPI':
                from_pypi(source, path, log)
            else:
                _download(source, path)
        if source['sha256'] is None:
            check_commit(path, source)
        else:
            check_sum(path, source['sha256'], "Move it away, then repeat the command: it is fetched again.")


def check_commit(path, source):
    """Raise ImageError if an archive of Git, for which no sha256 is published, does not name the commit that is meant.

    Git writes the commit into the archive, as a comment in its pax header: a moved tag is found, a forged file is not.
    """
    try:
        with tarfile.open(path) as archive:
            found = archive.pax_headers.get('comment', 'none')
    except (OSError, tarfile.TarError) as err:
        raise ImageError(f"{shown(path)} is no archive of Git ({err}). Move it away, then repeat the command") from err
    if not found.startswith(source['commit']):
        raise ImageError(f"{shown(path)} is of commit {found}, wanted {source['commit']}. Move it away, and get the "
                         f"archive of that commit: {source['url']}")
    say(f"  {path.name}: commit {found[:12]}, sha256 {sha256_of(path)}; nobody publishes a sha256 to compare with")


def from_pypi(source, path, log):
    """Download one file from PyPI by pip. Raises ImageError."""
    wheel = source['file'].endswith('.whl')
    with outputs.temporary('.fetch-', path.parent) as temporary:
        # pip compares the sha256 before it opens the file. It asks a source archive for its metadata, for which the
        # archive's build tools are fetched: those as wheels, or pip would compile them.
        requirement = Path(temporary) / 'requirement.txt'
        requirement.write_text(f"{source['name']}=={source['version']} --hash=sha256:{source['sha256']}\n")
        options = ['--only-binary', ':all:', '--implementation', 'cp',
                   '--python-version', source.get('python', DEBIAN[DEFAULT_DEBIAN]['python']),
                   *(word for name in PLATFORMS for word in ('--platform', name))]
        run(f"fetching {source['name']} {source['version']} from PyPI",
            [*pip_command(), 'download', '--no-deps', '--require-hashes', '--dest', temporary,
             *(options if wheel else ['--no-binary', source['name']]), '--requirement', str(requirement)], log)
        outputs.place(Path(temporary) / source['file'], path)


def pip_command():
    """Return the start of a pip command line.

    Raises ImageError if there is no pip: Debian's python3 comes without.
    """
    for python in (sys.executable, STATE / 'venv' / 'bin' / 'python'):
        if os.path.exists(python) and not subprocess.run([str(python), '-c', 'import pip'], stderr=DEVNULL).returncode:
            return [str(python), '-m', 'pip', '--disable-pip-version-check']
    raise ImageError(f"{sys.executable} has no pip, and there is no .workstation/venv with one. Run "
                     "workstation/python_env.sh, or install python3-pip")


def _download(source, path):
    """Download one file from its address; what an interrupted call left of it in PARTS is gone on with.

    Raises ImageError with the address if it cannot be had, and with both sums if it is another file.
    """
    part = path.parent / PARTS / path.name
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # two builds at once would write into one file
        if not path.exists():
            outputs.own(part.parent)
            _complete(source, part, path)
    finally:
        os.close(folder)


def _complete(source, part, path):
    """Receive what is missing of part, compare its sum, and give it its name. Raises ImageError."""
    try:
        _receive(source['url'], part)
    except (OSError, urllib.error.URLError) as err:
        kept = f" {part.stat().st_size / 1e6:.1f} MB are kept: repeat the command to go on." if part.exists() else ''
        raise ImageError(f"{source['url']} cannot be downloaded ({getattr(err, 'reason', err)}).{kept}\nOr put "
                         f"{path.name} into {path.parent} by hand, for example from a machine that reaches it") from err
    found = sha256_of(part)
    if source['sha256'] not in (None, found):
        part.unlink()
        raise ImageError(f"what came from {source['url']} is not the file that is meant, and was removed:\n"
                         f"    sha256 found   {found}\n    sha256 wanted  {source['sha256']}\n"
                         "Repeat the command. If it stays so, the file has changed there: do not use it unseen")
    outputs.place(part, path)
    with contextlib.suppress(OSError):  # another file is on its way
        outputs.remove(part.parent, [outputs.MARK])


def _receive(url, part):
    """Append what is missing of an address to a file. Raises OSError or URLError."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={'Range': f'bytes={have}-'} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as err:
        if err.code != 416 or not have:  # 416: nothing behind what we have; the sum tells whether it is whole
            raise
        return
    with answer:
        go_on = answer.status == 206
        total = int(answer.headers.get('Content-Length') or 0) + (have if go_on else 0)
        if have:
            say(f"  going on after {have / 1e6:.1f} MB" if go_on else "  this server cannot go on: from the beginning")
        with open(part, 'ab' if go_on else 'wb') as stream:
            _copy(answer, stream, total)
        if total and part.stat().st_size < total:
            raise OSError(f"the connection ended after {part.stat().st_size} of {total} bytes")


def _copy(answer, stream, total):
    """Write an answer to a file, and say from time to time how far it is. total: bytes, 0 if unknown."""
    for block in iter(lambda: answer.read(1 << 18), b''):
        stream.write(block)
        SCREEN.progress(f"  {stream.tell() / 1e6:.1f} MB{f' of {total / 1e6:.1f} MB' if total else ''}")


def find_archive(folders):
    """Return the path of the OSU archive in the source paths, or None.

    Raises ImageError if a file of that name has another sum: it is there on purpose, so it is not passed over.
    """
    source = SOURCES['osu']
    for folder in folders:
        for below in EASYBUILD_FOLDERS:
            path = Path(folder) / below / source['file']
            if path.is_file():
                check_sum(path, source['sha256'],
                          "Copy the archive again, or move it away to use mpi4py's ports of the benchmarks. For "
                          "another archive on purpose: --osu-archive FILE, with FILE.sha256 beside it")
                return path
    return None


def download_archive(folder):
    """Return the path of the OSU archive after downloading it into the folder, or None with a line that says why."""
    path = Path(folder) / SOURCES['osu']['file']
    try:
        _download(SOURCES['osu'], path)
    except ImageError as err:
        say(str(err).split('\n')[0])
        return None
    return path


def link_into(context, sources, keys, files):
    """Lay out the folder of a build: sources/ with links to the sources, and links to files of this repository.

    Docker and its like do not follow links out of the folder, so files are hard links or copies where possible.
    """
    for key in keys:
        place(Path(sources) / SOURCES[key]['file'], context / 'sources' / SOURCES[key]['file'])
    for name in files:
        place(PROJECT / name, context / name)


def place(path, target):
    """Make the target the same file as the path, by a hard link where both are on one file system."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        try:
            os.link(os.path.realpath(path), target)
        except OSError as err:
            if isinstance(err, FileExistsError):
                raise
            shutil.copy2(path, target)


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


def base_command(release):
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


def base_identity(words):
    """Return 12 hex digits that differ when a base made by this command does, from whatever mirror."""
    return hashlib.sha256('\0'.join([*words[1:-1], *NOT_UNPACKED]).encode()).hexdigest()[:12]


def base_folder(words, work):
    """Return the folder (Path) of the base that a command makes; the base itself is in its root."""
    return Path(work) / KEPT / f'base-{base_identity(words)}'


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


def make_base(kind, words, work, log):
    """Return the folder with Debian and Python 3, made if it is not there yet.

    It serves all images until the work folder is cleared. Raises ImageError.
    """
    base = base_folder(words, work)
    if outputs.is_ours(base):
        return base / 'root'
    address = [words[-1]] if words[-1] else []
    Path(work).mkdir(parents=True, exist_ok=True)
    with outputs.temporary(f'build-{of_this()}', work) as temporary:
        made, archive = outputs.make(Path(temporary) / 'made'), Path(temporary) / 'base.tar'
        root = made / 'root'
        root.mkdir()
        if kind == 'mmdebstrap':
            run('making the base', [*words[:-1], archive, *address], log,
                env={**os.environ, 'TMPDIR': _open_to_all()})
        else:
            first = Path(temporary) / 'first'
            run('making the base', [*words[:-1], first, *address], log)
            run('packing the base', ['tar', '-C', first, '-cf', archive, '.'], log)
        run('unpacking the base', ['tar', '-C', root, *(f'--exclude={path}' for path in NOT_UNPACKED), '-xf', archive],
            log)
        outputs.own(base.parent)
        outputs.keep(made, base)
    return base / 'root'

"""
Facts of an image: programs, libraries on its default path, MPI, environment. Nothing in the image
is run.

A SIF is read through its squashfs with unsquashfs (package squashfs-tools, which every
SingularityCE and Apptainer needs itself), so that an image of many gigabytes is never copied; an
unpacked image (a folder) is read as it is.
"""

import binascii
import errno
import hashlib
import itertools
import os
import platform
import posixpath
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections import OrderedDict

from osu_container.base.files import SIZE_LIMITS, read_plain_file
from osu_container.base.shell import quote
from osu_container.image.elf import MACHINE_NAMES, read_elf_files
from osu_container.image.environment import (
    DEFAULT_PATH,
    RUNTIME_LIBRARIES,
    SCRIPTS_FOLDER,
    evaluate_environment,
    get_exported_value,
    parse_folder_list,
)
from osu_container.image.sif import ImageError, NoRoomError, has_overlay, parse_labels, read_sif
from osu_container.image.system import INTERPRETERS, read_loader_config

#: Where a distribution has libraries of ROCm or CUDA as packages of its own (pattern), and the
#: record of Debian's
_DISTRIBUTION_LIBRARIES = r'/usr/lib(?:64|/[a-z0-9_]+-linux-gnu)/'
_DPKG_STATUS = '/var/lib/dpkg/status'
#: Record of the wheel with CUDA's runtime: its release is in no name of a library
_CUDA_WHEEL = r'.*/nvidia_cuda_runtime(_cu\d+)?-[\d.]+\.dist-info/METADATA'
#: MPI families by the soname of the C library, and what else that soname says. MPICH ABI:
#: mpich.org, "MPICH ABI Compatibility Initiative": MPICH, Cray MPICH, Intel MPI and MVAPICH share
#: libmpi.so.12. Standard ABI: MPI 5.0, chapter "Application Binary Interface"; its number 0 is a
#: mistake of MPICH 5.0.0 and 5.0.1 (pmodels/mpich PR 7867).
MPI_FAMILIES = {
    'libmpi.so.12': 'MPICH ABI',
    'libmpi.so.40': 'Open MPI',
    'libmpi.so.20': 'Open MPI',
    'libmpich.so.12': 'MPICH under Debian\'s own soname',
    'libmpi_abi.so.0': 'the standard ABI of MPI 5 under a wrong soname',
    'libmpi_abi.so.1': 'the standard ABI of MPI 5',
}
#: Families in the order in which one is taken where an image has several
_PREFERRED_FAMILIES = [
    'MPICH ABI',
    'Open MPI',
    'MPICH under Debian\'s own soname',
    'the standard ABI of MPI 5',
    'the standard ABI of MPI 5 under a wrong soname',
]


class FileTree(object):
    """
    The file system of an image: its list of files, symbolic links resolved as inside the image.

    entries: {path in the image: (type letter as ls has it, mode as ls has it, target of a link,
    size in bytes)}.
    """

    def __init__(self, path):
        """path: str, of the image, for messages."""
        self.path, self.entries, self._names = path, {}, None

    def resolve(self, path):
        """
        Return the real path (str) in the image of path after its symbolic links, or None if
        there is none.
        """
        todo, done, links = path.split('/'), '', 0
        while todo:
            part = todo.pop(0)
            if part in ('', '.', '..') and done and self.entries.get(done, 'd')[0] != 'd':
                return None  # of what is no folder there is no . and no ..
            if part in ('', '.'):
                continue
            if part == '..':
                done = posixpath.dirname(done).rstrip('/')
                continue
            entry = self.entries.get(done + '/' + part)
            if entry is None:
                return None
            if entry[0] != 'l':
                done += '/' + part
                continue
            links += 1
            if links > 40:  # as many as Linux follows, path_resolution(7)
                return None
            todo = entry[2].split('/') + todo
            if entry[2].startswith('/'):
                done = ''
        return done or '/'

    def list_folder_names(self):
        """Return the last parts (set of str) of the paths of all folders and links."""
        if self._names is None:
            self._names = set(
                posixpath.basename(path) for path, entry in self.entries.items() if entry[0] in 'dl'
            )
        return self._names

    def is_file(self, path):
        """
        Return whether path (str) leads to a plain file, which somebody may read: ld.so passes
        over others.
        """
        entry = self.entries.get(self.resolve(path) or '')
        return bool(entry) and entry[0] == '-' and ('r' in entry[1] or os.geteuid() == 0)

    def is_executable(self, path):
        """Return whether path (str) leads to an executable file."""
        entry = self.entries.get(self.resolve(path) or '')
        return bool(entry) and entry[0] == '-' and entry[1][2] in 'xs'

    def find_programs(self, prefix):
        """
        Return {name: folder} of executables whose name starts with prefix, links to executables
        included.

        An empty prefix asks for none.
        """
        found = {}
        if not prefix:
            return found
        wanted = re.compile('.*/' + re.escape(prefix) + r'[A-Za-z0-9_]+$', re.S)
        for path in sorted(path for path in self.entries if wanted.match(path)):
            if self.is_executable(path):
                found.setdefault(posixpath.basename(path), posixpath.dirname(path))
        return found

    def locate_programs(self, names, folders):
        """
        Return {name: folder} of the programs names (list of str: a name, or a whole path in the
        image).

        A name is looked for in folders (list of str, the image's PATH), then everywhere. Raises
        ImageError if one is not there, is no executable, or lies in several other places.
        """
        found = {}
        for wanted in names:
            name = posixpath.basename(wanted)
            if '/' in wanted:
                places = [wanted] if wanted.startswith('/') and self.is_executable(wanted) else []
            else:
                places = [
                    folder + '/' + name
                    for folder in folders
                    if self.is_executable(folder + '/' + name)
                ][:1] or sorted(
                    path
                    for path in self.entries
                    if posixpath.basename(path) == name and self.is_executable(path)
                )
            if not places:
                raise ImageError(
                    "%s has no program %s. Name it as on the image's PATH (%s), or by its whole path"
                    % (self.path, wanted, ':'.join(folders))
                )
            if len(places) > 1:
                raise ImageError(
                    "%s has several programs %s (%s), and none on its PATH. Name the one by its whole path"
                    % (self.path, wanted, ', '.join(places))
                )
            found[name] = posixpath.dirname(places[0])
        return found

    def copy_files(self, paths, folder):
        """
        Return {path: path (str) on this machine with its content} for paths (list of str, in the
        image).

        folder: str, where copies may be made. Raises ImageError if one is not there.
        """
        raise NotImplementedError

    def copy_file(self, path, folder):
        """
        Return a path (str) on this machine with the content of path (str); folder as for
        copy_files().
        """
        return self.copy_files([path], folder)[path]

    def _resolve_all(self, paths):
        """
        Return {path: real path} of paths (list of str). Raises ImageError if one is not there.
        """
        real = dict((path, self.resolve(path)) for path in paths)
        for path in paths:
            if real[path] is None:
                raise ImageError("%s has no %s" % (self.path, path))
        return real


def _make_copy_name(path):
    """Return a name (str) for a file that stands for path (str), another one for each path."""
    name = path.lstrip('/').replace('%', '%25').replace('/', '%2F')
    # most file systems have names of 255 bytes at most
    return name if len(os.fsencode(name)) < 240 else hashlib.sha256(os.fsencode(path)).hexdigest()


#: No image with more files is looked into: their list alone takes some 300 bytes each
MOST_FILES = 2000000
#: A path with more bytes cannot be opened in a container (PATH_MAX, limits.h)
_LONGEST_PATH = 4096
#: What a program that reads a damaged squashfs may take: seconds of processor time, bytes of memory
_CPU_SECONDS, _MEMORY_LIMIT = 300, 4 << 30


def limit_resources(seconds=_CPU_SECONDS):
    """
    Set limits of the process that is to run unsquashfs: a damaged image must not stop this machine.

    seconds: int, of processor time.
    """
    for kind, wanted in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, _MEMORY_LIMIT)):
        soft, hard = resource.getrlimit(kind)
        if soft == resource.RLIM_INFINITY or soft > wanted:
            resource.setrlimit(kind, (wanted, hard))


def find_space_problem(folder, size, remedy):
    """
    Return why size (int, bytes) do not fit into folder (str, it need not be there), None if they
    do, with remedy.
    """
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    system = os.statvfs(folder)
    free = system.f_bavail * system.f_frsize
    return (
        None
        if free >= size
        else "%s has %d MB free, %d MB are needed: %s"
        % (folder, free >> 20, (size >> 20) + 1, remedy)
    )


#: That of names of files: as os.fsdecode(), which looks it up each time
_ENCODING = sys.getfilesystemencoding()
#: Types of files as ls has them
_LETTERS = dict((letter.encode(), letter) for letter in 'dl-bcps')
#: What unsquashfs says where it cannot write, by the C library
DISK_FULL = re.compile(r'No space left on device|Disk quota exceeded')


class Squashfs(FileTree):
    """The squashfs of a SIF."""

    def __init__(self, path, offset):
        """
        List the squashfs at offset (bytes) in the file path. Raises ImageError if unsquashfs
        cannot.
        """
        super(Squashfs, self).__init__(path)
        self.offset = offset
        # drwxr-xr-x 0/0    1234 2026-11-21 03:37 TOP/usr/bin -> target; of a device: 1,  3 in place
        # of 1234. Nobody who
        # makes an image knows TOP: a line without it belongs to the name before, which has a line
        # end
        top = binascii.hexlify(os.urandom(8)).decode()
        line_of = re.compile(
            rb'([dl\-bcps])([rwxsStT\-]{9}) \S+ +(\d+)(?:, *\d+)? [\d-]+ [\d:]{5} '
            + top.encode()
            + b'(.*)',
            re.S,
        )
        match, entries, listed, added, known, last = line_of.match, self.entries, 0, 0, False, None
        for line in itertools.chain(self._run_unsquashfs(['-lln', '-d', top]), [b'']):
            found = match(line)
            listed += len(line)
            if listed > SIZE_LIMITS['list'] or added > MOST_FILES:
                raise ImageError(
                    "%s holds more than %d files, or their list more than %d MB: too many to look into. "
                    "Use an image with fewer" % (self.path, MOST_FILES, SIZE_LIMITS['list'] >> 20)
                )
            if line and not found:
                last = last and last[:3] + (last[3] + line,)
                continue
            if last:
                kind, mode, size, name = last
                if (
                    kind != b'l' and b'/..' not in name and 1 < len(name) <= _LONGEST_PATH
                ):  # most of them
                    path = name[:-1].decode(_ENCODING, 'surrogateescape')
                    entries[path] = _LETTERS[kind], mode.decode(), '', int(size)
                    added += 1
                else:
                    added += self._add_entry(*last)
                known = True
            last = found and found.groups()
        if not known:
            raise ImageError(
                "%s: unsquashfs lists the files in a form that is not known: update squashfs-tools"
                % self.path
            )
        # unsquashfs before 4.5.1 does not look for that, and writes elsewhere: CVE-2021-41072
        if added != len(self.entries):
            raise ImageError(
                "%s is damaged: its squashfs has two files of one name. Copy or make it again"
                % self.path
            )

    def _add_entry(self, kind, mode, size, name):
        """
        Add what unsquashfs lists of a file (bytes; name with its target and a line end); return
        how many (int).
        """
        target = ''
        if (
            kind == b'l'
        ):  # its size is that of its target, which may hold an arrow as well as the name
            end = len(name) - 1 - int(size)
            target = name[max(0, end) : -1].decode(_ENCODING, 'surrogateescape')
            name = name[: end - 4] if name[max(0, end - 4) : end] == b' -> ' else b''
        else:
            name = name[:-1]
        if not name or len(name) > _LONGEST_PATH:  # the top of the tree; what no program can open
            return 0
        if b'/..' in name and b'..' in name.split(b'/'):  # as above: CVE-2021-40153
            raise ImageError(
                "%s is damaged: its squashfs has a file called '..'. Copy or make it again"
                % self.path
            )
        self.entries[name.decode(_ENCODING, 'surrogateescape')] = (
            _LETTERS[kind],
            mode.decode(),
            target,
            int(size),
        )
        return 1

    def _run_unsquashfs(self, options, files=()):
        """
        Yield the lines (bytes) of unsquashfs with options (list of str) for files (str, without
        leading /).
        """
        # a whole path: a name may begin with a hyphen. Few threads: each of hundreds takes room of
        # the memory limit
        command = ['unsquashfs', '-p', '4', '-o', str(self.offset)] + options
        command += [os.path.abspath(self.path)] + list(files)
        with (
            tempfile.TemporaryFile()
        ) as errors:  # no pipe, which would fill up while the lines are read
            try:
                proc = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=dict(os.environ, LC_ALL='C'),
                    preexec_fn=limit_resources,
                )
            except (OSError, subprocess.SubprocessError) as err:
                if not isinstance(err, FileNotFoundError):
                    raise ImageError(
                        "unsquashfs cannot be started: %s. Use a shell with higher limits (ulimit -a)"
                        % (getattr(err, 'strerror', None) or err)
                    )
                raise ImageError(
                    "unsquashfs is not on PATH; it is needed to look into an image: install "
                    "squashfs-tools"
                )
            try:
                for line in iter(lambda: proc.stdout.readline(1 << 16), b''):
                    yield line
            finally:
                proc.stdout.close()  # it ends by that, where nobody reads on
                proc.wait()
            if proc.returncode != 0:
                errors.seek(0)
                text = ' '.join(errors.read(4096).decode('utf-8', 'replace').split())
                text = text or 'unsquashfs failed (%d)' % proc.returncode
                remedy = "Copy or make the image again, or look into it with a newer unsquashfs"
                if proc.returncode == -signal.SIGXCPU:
                    text = "it took more than %d s of processor time" % _CPU_SECONDS
                elif proc.returncode == -signal.SIGXFSZ:
                    text = "a file of this shell may have too few bytes"
                    remedy = "Allow more: ulimit -f unlimited"
                raise ImageError(
                    "cannot read the squashfs in %s: %s. %s" % (self.path, text.rstrip('.'), remedy)
                )

    def copy_files(self, paths, folder):
        """See Tree. All that are not copied yet come out by one call of unsquashfs."""
        real = self._resolve_all(paths)
        target = dict((path, os.path.join(folder, _make_copy_name(path))) for path in real.values())
        wanted = sorted(path for path in target if not os.path.exists(target[path]))
        if wanted:
            self._require_copyable(wanted, folder)
            scratch = os.path.join(os.path.realpath(folder), 'scratch')
            # names are patterns for unsquashfs: what is special in them is quoted
            try:
                for _ in self._run_unsquashfs(
                    ['-n', '-no-xattrs', '-f', '-d', scratch],
                    [re.sub(r'([*?\[\]\\])', r'\\\1', path.lstrip('/')) for path in wanted],
                ):
                    pass
                for path in wanted:
                    copy = os.path.join(scratch, path.lstrip('/'))
                    # no link on the way: what it leads to is a file of this machine
                    if os.path.realpath(copy) != copy or not stat.S_ISREG(os.lstat(copy).st_mode):
                        raise OSError(errno.EINVAL, 'it came out as something else')
                    os.rename(copy, target[path])
            except OSError:
                raise ImageError(
                    "%s is damaged: %s does not come out of its squashfs. Copy or make it again"
                    % (self.path, path)
                )
            except ImageError as err:
                if not DISK_FULL.search(str(err)):
                    raise
                raise NoRoomError(
                    "%s is full. Choose a folder with more room, by TMPDIR. %s"
                    % (os.path.dirname(folder), err)
                )
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        return dict((path, target[real[path]]) for path in paths)

    def _require_copyable(self, paths, folder):
        """
        Raise ImageError if one of paths (list of str) is no file or has too many bytes,
        NoRoomError for folder.
        """
        for path in paths:
            kind, _, _, size = self.entries[path]
            if kind != '-':
                raise ImageError("%s: %s is no plain file" % (self.path, path))
            if size > SIZE_LIMITS['copy']:
                raise ImageError(
                    "%s: %s has %d bytes, and at most %d of one file are looked into. Use an image "
                    "without it" % (self.path, path, size, SIZE_LIMITS['copy'])
                )
        problem = find_space_problem(
            os.path.dirname(folder),
            sum(self.entries[path][3] for path in paths),
            'set TMPDIR to a folder with more room',
        )
        if problem:
            raise NoRoomError(problem)


class UnpackedImage(FileTree):
    """An unpacked image: what `apptainer build --sandbox` makes."""

    def __init__(self, path):
        """
        List what is below the folder path. Raises ImageError if it cannot be read or is no root
        file system.
        """
        super(UnpackedImage, self).__init__(path)
        try:
            os.listdir(path)
        except OSError as err:
            raise ImageError(
                "cannot read the folder %s: %s. Name another image, or ask its owner for the right to "
                "read it" % (path, err.strerror)
            )
        # folders in it that belong to somebody else (root's home) are left out: they hold no
        # libraries. What lies in /proc, /sys and /dev is not the image's: the runtime puts the
        # host's there.
        todo = ['']
        while todo:
            below = todo.pop()
            todo += self._add_folder(below)
        if os.path.exists(os.path.join(path, 'oci-layout')):
            raise ImageError(
                "%s is a folder of OCI, which holds layers of an image. Make a SIF of it: apptainer build "
                "NAME.sif oci:%s" % (path, quote(path))
            )
        if not any(self.resolve(name) for name in ('/bin', '/lib', '/usr', '/lib64')):
            raise ImageError(
                "%s is a folder, but not an unpacked image: it has no /usr, /lib or /bin. Name a SIF, or "
                "the folder that 'apptainer build --sandbox' has made" % path
            )

    def _add_folder(self, below):
        """
        Add what is in a folder (str, its path in the image); return the folders (list of str) to
        be listed.
        """
        try:
            found = list(os.scandir(self.path.rstrip('/') + below + '/'))
        except OSError:
            return []
        folders = []
        for one in found:
            name = below + '/' + one.name
            try:
                status = one.stat(follow_symlinks=False)
                text = stat.filemode(status.st_mode)
                target = os.readlink(one.path) if text[0] == 'l' else ''
            except OSError:  # gone meanwhile
                continue
            self.entries[name] = (text[0], text[1:], target, status.st_size)
            if len(self.entries) > MOST_FILES:
                raise ImageError(
                    "%s holds more than %d files: too many to look into" % (self.path, MOST_FILES)
                )
            if text[0] == 'd' and name not in ('/proc', '/sys', '/dev'):
                folders.append(name)
        return folders

    def copy_files(self, paths, folder):
        """See Tree: the files themselves."""
        return dict(
            (path, self.path.rstrip('/') + real) for path, real in self._resolve_all(paths).items()
        )


#: Labels, as the runtime keeps them in the image too: where no SIF is around it, and in old SIFs
LABELS_FILE = '/.singularity.d/labels.json'
#: What `apptainer run` starts, and what it says where an image has no such thing
RUNSCRIPT = '/.singularity.d/runscript'
NO_RUNSCRIPT = 'There is no runscript defined for this container'
#: So many files that an entrypoint names are read
ENTRYPOINT_SCRIPT_LIMIT = 20
#: So many characters of a script are looked through for names. The largest entrypoint seen has 40
#: KB (NVIDIA's)
SCRIPT_LIMIT = 1 << 18

#: RCCL opens librccl-net.so or, in older releases, libnccl-net.so: the plugin aws-ofi-nccl, or its
#: fork aws-ofi-rccl.
RCCL_PLUGIN = re.compile(r'/lib(rccl|nccl)-net(-ofi)?\.so$')


class DefaultLibraries(object):
    """
    The libraries that the usual loader of an Image finds by itself: {soname: path in the image},
    each on demand.
    """

    def __init__(self, image):
        """image: the Image."""
        self.image, self._known = image, {}

    def get(self, name, default=None):
        """Return the path (str) of the library name (str), default if it finds none."""
        if name not in self._known:
            self._known[name] = self._find(name) if name else None
        return self._known[name] or default

    def __contains__(self, name):
        return self.get(name) is not None

    def __getitem__(self, name):
        path = self.get(name)
        if path is None:
            raise KeyError(name)
        return path

    def _find(self, name):
        """See get()."""
        system = self.image.read_loader_config(None)
        # in the folder of the C library nothing is for another processor: that needs not to be
        # looked at
        sure = [folder for folder in system.folders if self.image.exists(folder + '/libc.so.6')][:1]
        for path in system.list_candidates(name, None):
            if self.image.exists(path) and (
                system.musl
                or posixpath.dirname(path) in sure
                or system.is_cached(name, path)
                or self.image.matches_machine(path, system.machine)
            ):
                return path
        return None


class Image(object):
    """
    One image, opened for reading its facts. Use it in a with statement: extracted files lie in a
    temporary folder.

    labels: dict of str; libraries: {soname: path in the image} that its ld.so finds by default;
    programs: {name: folder in the image}; partial: False, so what is not found in it is not there;
    overlaid: bool, an overlay in the SIF may add, hide and change any file.
    """

    is_partial = False

    def __init__(self, path, program_prefix, programs=()):
        """
        Open the SIF, or the folder of an unpacked image, path.

        program_prefix: str, how the names of its programs begin, '' for none; programs: list of
        str, others by name or path. Raises ImageError if the image cannot be read or has not these.
        """
        self.path, self.is_overlaid = path, False
        if os.path.isdir(path):
            self.labels, self.tree = {}, UnpackedImage(path)
        else:
            offset, self.labels = read_sif(path)
            self.tree, self.is_overlaid = Squashfs(path, offset), has_overlay(path)
        self.folder = tempfile.mkdtemp(prefix='mpicontainer-')
        try:
            self._known, self._traits, self._environment, self._entrypoint = {}, {}, {}, None
            self._matching, self._plugins, self._names = {}, None, None
            self._systems = {}
            self.labels = self.labels or parse_labels((self.read_text(LABELS_FILE) or '').encode())
            self.libraries = DefaultLibraries(self)
            self._read_ahead()
            self.programs = self.tree.find_programs(program_prefix)
            self.programs.update(self.tree.locate_programs(programs, self.list_path_folders()))
        except BaseException:  # nothing stays behind, whatever ends it
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()

    def close(self):
        """Remove the extracted files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def copy_file(self, path):
        """Return the path (str) of a copy, on this machine, of the file path of the image."""
        return self.tree.copy_file(path, self.folder)

    def exists(self, path):
        """Return whether path (str) is a file of the image."""
        return self.tree.is_file(path)

    def resolve(self, path):
        """Return the path (str) of the file path of the image, without links."""
        return self.tree.resolve(path)

    def _read_ahead(self):
        """
        Get at once what each question needs: from a SIF each call of unsquashfs takes a while.
        """
        paths = (
            ['/etc/ld.so.cache', '/bin/sh', RUNSCRIPT]
            + INTERPRETERS
            + [path for path in self.tree.entries if path.startswith(SCRIPTS_FOLDER + '/')]
        )
        self.tree.copy_files([path for path in paths if self.tree.is_file(path)], self.folder)

    def read_loader_config(self, interpreter):
        """
        Return the System (image/system.py) of the loader interpreter (path), None for the usual
        one.
        """
        if interpreter not in self._systems:
            wanted = interpreter
            if wanted is None:
                there = [path for path in INTERPRETERS if self.exists(path)]
                # of several the one that the image's own programs ask for
                wanted = (there or [None])[0]
                if len(there) != 1 and self.exists('/bin/sh'):
                    shell = self.read_elf_files(['/bin/sh']).get('/bin/sh')
                    wanted = shell and shell.interpreter or wanted
            self._systems[interpreter] = read_loader_config(
                wanted,
                self._find_machine(wanted),
                self.exists,
                self.read_file,
                self.tree.list_folder_names,
            )
        return self._systems[interpreter]

    def _find_machine(self, path):
        """
        Return the machine (str, as in ElfFacts) of a loader path (str), that of this computer
        where it is none.
        """
        facts = self.read_elf_files([path]).get(path) if path and self.exists(path) else None
        return facts.machine if facts else MACHINE_NAMES.get(platform.machine(), platform.machine())

    def matches_machine(self, path, machine):
        """
        Return whether the file path (str) is for machine (str), or is no library: that ends a
        loader's search.
        """
        facts = self.read_elf_files([path]).get(path)
        return facts is None or facts.machine == machine

    def read_elf_files(self, paths):
        """
        Return {path: ElfFacts} of those of paths (list of str, files of the image) that are ELF
        files.

        The path in the facts is that in the image, with image: in front.
        """
        new = [path for path in paths if path not in self._known]
        copies = self.tree.copy_files(new, self.folder)
        closed = sorted(path for path in new if not os.access(copies[path], os.R_OK))
        if closed:
            raise ImageError(
                "cannot read %s in %s: Permission denied" % (', '.join(closed), self.path)
            )
        facts = read_elf_files(sorted(set(copies.values())))
        for path in new:
            one = facts.get(copies[path])
            self._known[path] = one and one._replace(path='image:' + path)
        return dict((path, self._known[path]) for path in paths if self._known[path])

    def read_default_library(self, soname):
        """
        Return the ElfFacts of the library soname on the image's default path, or None if it has
        none.
        """
        path = self.libraries.get(soname)
        if path is None:
            return None
        try:
            return self.read_elf_files([path])[path]
        except KeyError:
            raise ImageError("%s in %s is not an ELF file" % (path, self.path))

    def read_file(self, path):
        """
        Return the content (bytes) of the file path of the image. Raises ImageError if it may not
        be read.
        """
        try:
            return read_plain_file(self.copy_file(path))
        except OSError as err:
            raise ImageError("cannot read %s in %s: %s" % (path, self.path, err.strerror))

    def read_traits(self, path, read):
        """
        Return read(content) of the library path (str).

        read: mpi_traits or fabric_traits (image/traits.py). Raises ImageError if it is damaged or
        no ELF file.
        """
        if (path, read) not in self._traits:
            try:
                self._traits[path, read] = read(self.read_file(path))
            except ValueError as err:
                raise ImageError("%s in %s: %s" % (path, self.path, err))
        return self._traits[path, read]

    def find_file_type(self, path):
        """Return the type letter of what path (str) leads to, as ls has it; None for nothing."""
        real = self.tree.resolve(path)
        return 'd' if real == '/' else self.tree.entries[real][0] if real else None

    def read_file_mode(self, path):
        """
        Return the mode (str of 9 characters, as ls has it) of what path (str) leads to, which is
        there.
        """
        return self.tree.entries[self.tree.resolve(path)][1]

    def find_privileges(self, path):
        """
        Return what rights the program path (str) gives (str), None for none: ld.so(8),
        secure-execution mode.
        """
        mode, kinds = self.read_file_mode(path), ((2, 'setuid'), (5, 'setgid'))
        found = [name for place, name in kinds if mode[place] in 'sS']
        try:
            if os.path.isdir(self.path) and os.getxattr(
                self.copy_file(path), 'security.capability'
            ):
                found.append('a file with capabilities')
        except OSError:
            pass
        return ' and '.join(found) or None

    def list_folder(self, folder):
        """Return the names (list of str, by their bytes) of what is in the folder (str)."""
        if self._names is None:  # asked of many folders
            self._names = {}
            for path in self.tree.entries:
                above, _, name = path.rpartition('/')
                self._names.setdefault(above or '/', []).append(name)
        return sorted(self._names.get(self.tree.resolve(folder), []))

    def read_text(self, path):
        """Return the text of the file path (str), None if it may not be read."""
        try:
            return self.read_file(path).decode('utf-8', 'replace')
        except ImageError:
            return None

    def evaluate_environment(self, bound=()):
        """
        Return the Environment (image/environment.py) that the runtime makes of the image.

        bound: dict of str, files that are bound into it, and their text.
        """
        key = tuple(sorted(dict(bound).items()))
        if key not in self._environment:
            if not self._environment:  # all scripts at once
                scripts = [SCRIPTS_FOLDER + '/' + name for name in self.list_folder(SCRIPTS_FOLDER)]
                self.tree.copy_files([path for path in scripts if self.exists(path)], self.folder)
            self._environment[key] = evaluate_environment(self, bound)
        return self._environment[key]

    def store_environment(self, bound, environment, injected):
        """
        Keep an Environment that the runtime made, in place of what evaluate_environment() would
        find.

        :param bound: as for evaluate_environment(); injected: str, folder that what is bound put in
            front, which is not the image's own
        """
        self._environment[tuple(sorted(dict(bound).items()))] = environment
        variables = dict(environment.variables)
        for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD'):
            if name in variables:
                parts = variables[name].value.split(':')
                while any(part.startswith(injected) for part in parts):
                    parts = parts[1:]
                variables[name] = variables[name]._replace(value=':'.join(parts))
        self._environment[()] = environment._replace(variables=variables)

    def list_path_folders(self):
        """
        Return the folders (list of str) of the PATH in the container: the image's own, then the
        usual ones.
        """
        own, _ = parse_folder_list(self.evaluate_environment().variables.get('PATH'))
        return own + [folder for folder in DEFAULT_PATH if folder not in own]

    def read_entrypoint(self):
        """
        Return [(path, text or None)] of what `apptainer run` starts of the image.

        That is the runscript, the entrypoint that `apptainer build` has put into it for an OCI
        image, and the scripts that these name. text is None for a file that is no text. [] if the
        image has none, and for an OCI image whose entrypoint is empty, so that the runtime starts
        what it is given.
        """
        if self._entrypoint is None:
            self._entrypoint = self._find_entrypoint()
        return self._entrypoint

    def _find_entrypoint(self):
        """See read_entrypoint()."""
        if not self.exists(RUNSCRIPT):
            return []
        text = self.read_file(RUNSCRIPT).decode('utf-8', 'replace')
        oci = re.search(r'^OCI_ENTRYPOINT=(.*)$', text, re.M)
        if NO_RUNSCRIPT in text or oci and not oci.group(1).strip('\'"'):
            return []
        # of an OCI image's runscript all but the entrypoint is the runtime's own
        found, todo, texts = [], [(RUNSCRIPT, oci.group(1) if oci else text)], {}
        while todo and len(found) < ENTRYPOINT_SCRIPT_LIMIT:
            path, text = todo.pop(0)
            found.append((path, text))
            names = re.findall(r'[\w.+/-]+', (text or '')[:SCRIPT_LIMIT])
            for name in OrderedDict.fromkeys(name.rstrip('./') for name in names):
                # a whole path, or a file beside the script that names it: $(dirname "$0")/other
                beside = posixpath.dirname(path) + '/' + posixpath.basename(name)
                other = name if name.startswith('/') and self.exists(name) else beside
                if other in texts or not self.exists(other) or other.startswith('/.singularity.d/'):
                    continue
                texts[other] = None
                if not re.search(r'\.so(\.|$)', other) and not re.match(r'(/usr)?/s?bin/', other):
                    data = self.read_file(other)
                    texts[other] = (
                        None
                        if data[:4] == b'\x7fELF' or b'\0' in data
                        else data.decode('utf-8', 'replace')
                    )
                    todo.append((other, texts[other]))
        return found

    def find_rocm_release(self):
        """
        Return the release of ROCm in the image (str, e.g. '6.0.3'), None if it has none or does not
        say.

        Debian has parts of several releases: then it is that of ROCr, which is what talks to the
        driver.
        """
        for path in self.find_files(r'/opt/rocm[^/]*/\.info/version'):
            found = re.match(r'\s*(\d+\.\d+\.\d+)', self.read_file(path).decode('utf-8', 'replace'))
            if found:
                return found.group(1)
        names = [re.match(r'rocm-(\d+\.\d+\.\d+)$', name) for name in self.list_folder('/opt')]
        releases = sorted(found.group(1) for found in names if found)
        return (
            releases[-1]
            if releases
            else self._find_package_version(
                _DISTRIBUTION_LIBRARIES + r'libhsa-runtime64\.so\.1\.[\d.]+', 'libhsa-runtime64-1'
            )
        )

    def _find_package_version(self, pattern, name):
        """
        Return the upstream version (str) of a Debian package, None if the image has it not.

        :param pattern: str, of a file of it, without which dpkg's record is not read; name: str, of
            the package
        """
        if not self.find_files(pattern) or not self.find_files(_DPKG_STATUS):
            return None
        found = re.search(
            r'(?m)^Package: %s$(?:\n.+)*?\nVersion: (?:\d+:)?(\d+(?:\.\d+)+)' % re.escape(name),
            self.read_file(_DPKG_STATUS).decode('utf-8', 'replace'),
        )
        return found.group(1) if found else None

    def find_cuda_release(self):
        """
        Return the newest release of CUDA in the image (str, e.g. '12.8.1'), None if it has none.

        NVIDIA's images set CUDA_VERSION. Debian has CUDA's libraries among its own; the name of the
        runtime's file has its version. PyTorch brings the runtime as a wheel, nvidia-cuda-runtime,
        beside whatever the image has.
        """
        names = [re.match(r'cuda-(\d+)\.(\d+)$', name) for name in self.list_folder('/usr/local')]
        names += [
            re.search(r'(?:\.so\.|-)(\d+)\.(\d+)', path)
            for path in self.find_files(_DISTRIBUTION_LIBRARIES + r'libcudart\.so\.\d+\.\d+\.\d+')
            + self.find_files(_CUDA_WHEEL)
        ]
        releases = sorted((int(found.group(1)), int(found.group(2))) for found in names if found)
        said = get_exported_value(self.evaluate_environment(), 'CUDA_VERSION')
        if said and (
            not releases
            or releases[-1] <= tuple(int(part) for part in re.findall(r'\d+', said)[:2])
        ):
            return said
        return '%d.%d' % releases[-1] if releases else None

    def find_libcuda(self, folders_of_path):
        """
        Return (path, release of its driver (str)) of the image's own library of NVIDIA's driver,
        None without.

        folders_of_path: list of str, LD_LIBRARY_PATH in the container. The driver's own comes by
        the runtime's folder (--nv); only what stands before that is used in its place, as
        cuda-compat of NVIDIA's images.
        """
        for folder in folders_of_path:
            real = self.tree.resolve(folder + '/libcuda.so.1')
            found = re.search(r'/libcuda\.so\.(\d+(?:\.\d+)+)$', real or '')
            if folder == RUNTIME_LIBRARIES or found:
                return (folder + '/libcuda.so.1', found.group(1)) if found else None
        return None

    def list_library_folders(self):
        """
        Return the folders (list of str) of the LD_LIBRARY_PATH that the image sets, without the
        runtime's own.

        Where it is not known, those with which it begins.
        """
        found, _ = parse_folder_list(
            self.evaluate_environment().variables.get('LD_LIBRARY_PATH')
            or self.evaluate_environment().default,
            True,
        )
        return [folder for folder in found if folder != RUNTIME_LIBRARIES]

    def find_rccl_plugin(self):
        """
        Return the path (str) in the image of the plugin by which RCCL uses libfabric, or None.
        """
        if self._plugins is None:  # each approach asks
            self._plugins = [
                path
                for path in self.tree.entries
                if RCCL_PLUGIN.search(path) and self.tree.resolve(path)
            ]
        paths = self._plugins
        # librccl-net.so before the other names: it is what RCCL itself looks for
        return min(paths, key=lambda path: ('librccl-net.so' not in path, path)) if paths else None

    def has_rccl(self):
        """Return whether RCCL, or NCCL of NVIDIA, is in the image (bool)."""
        return bool(self.find_files(r'.*/lib[rn]ccl\.so(\.[\d.]+)?'))

    def contains_library(self, folder, sonames):
        """
        Return whether the folder (str) of the image holds a file of one of the names (set of
        str).
        """
        return any((folder + '/' + soname) in self.tree.entries for soname in sonames)

    def list_sibling_libraries(self, folder):
        """
        Return the names (list of str) of libraries in lib and lib64 beside the folder (str) of
        the image.
        """
        beside = tuple(posixpath.dirname(folder) + '/' + name + '/' for name in ('lib', 'lib64'))
        return sorted(
            posixpath.basename(path)
            for path in self.tree.entries
            if path.startswith(beside)
            and '.so' in posixpath.basename(path)
            and posixpath.dirname(path) + '/' in beside
        )

    def find_files(self, pattern):
        """
        Return the paths (sorted list of str) of files that the regular expression pattern
        matches as a whole.
        """
        if pattern not in self._matching:  # each approach asks the same of an image with many files
            whole = re.compile('(?:%s)$' % pattern)
            found = sorted(path for path in self.tree.entries if whole.match(path))
            self._matching[pattern] = [path for path in found if self.tree.is_file(path)]
        return list(self._matching[pattern])

    def find_folder_files(self, folder, pattern):
        """
        Return the files (as find_files()) below folder (str), which may be a link or below one,
        by a pattern.
        """
        real = self.resolve(folder)
        return self.find_files(re.escape(real.rstrip('/')) + '/' + pattern) if real else []

    def list_mpi_libraries(self):
        """
        Return [(family, soname, path)] of the MPI libraries of the image, the one to be taken
        first.

        Those that ld.so finds (LD_LIBRARY_PATH of the image, then its default path) come first;
        libraries elsewhere, as in conda environments, count only where there is none of these.
        """
        found = []
        for soname, family in MPI_FAMILIES.items():
            paths = [folder + '/' + soname for folder in self.list_library_folders()]
            path = next(
                (
                    path
                    for path in paths
                    if self.exists(path)
                    and self.matches_machine(path, self.read_loader_config(None).machine)
                ),
                self.libraries.get(soname),
            )
            if path:
                found.append((family, soname, path))
        if not found:
            names = '|'.join(re.escape(name) for name in MPI_FAMILIES)
            found = [
                (MPI_FAMILIES[posixpath.basename(path)], posixpath.basename(path), path)
                for path in self.find_files('.*/(?:%s)' % names)
            ]
        return sorted(
            found, key=lambda item: (_PREFERRED_FAMILIES.index(item[0]), item[1], item[2])
        )

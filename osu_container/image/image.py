"""
Read facts about an image: its programs, libraries, MPI and environment.

This module executes nothing in the image. For a SIF, the module extracts single files from the
squashfs with unsquashfs, so that an image of many gigabytes is never copied. unsquashfs belongs to
the package squashfs-tools; SingularityCE and Apptainer also need squashfs-tools. If the image is
unpacked, the module reads the folder of the image directly.
"""

import errno
import functools
import itertools
import mmap
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
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Optional,
    Pattern,
    Sequence,
    Tuple,
)

from osu_container.base.files import SIZE_LIMITS, open_plain_file, read_plain_file
from osu_container.base.outputs import make_work_folder
from osu_container.base.shell import quote
from osu_container.image.elf import MACHINE_NAMES, ElfError, ElfFacts, read_elf
from osu_container.image.environment import (
    DEFAULT_PATH,
    RUNTIME_LIBRARIES,
    SCRIPTS_FOLDER,
    Environment,
    evaluate_environment,
    get_exported_value,
    parse_folder_list,
)
from osu_container.image.sif import ImageError, NoRoomError, parse_labels, read_sif
from osu_container.image.system import INTERPRETERS, LoaderConfig, read_loader_config

#: Pattern for the folders in which the packages of a distribution install the libraries of ROCm and
#: CUDA
_DISTRIBUTION_LIBRARIES = r'/usr/lib(?:64|/[a-z0-9_]+-linux-gnu)/'
#: File in which dpkg records the installed packages
_DPKG_STATUS = '/var/lib/dpkg/status'
#: Pattern for the file of ROCr in Debian's package, and for the upstream version of this package
_ROCR = r'libhsa-runtime64\.so\.1\.[\d.]+'
_ROCR_VERSION = re.compile(
    r'(?m)^Package: libhsa-runtime64-1$(?:\n.+)*?\nVersion: (?:\d+:)?(\d+(?:\.\d+)+)'
)
#: Pattern for the metadata of the wheel with CUDA's runtime. The names of the libraries in this
#: wheel do not contain the release
_CUDA_WHEEL = r'.*/nvidia_cuda_runtime(_cu\d+)?-[\d.]+\.dist-info/METADATA'
#: Soname of the C library of an MPI -> MPI family, in the order in which this project prefers the
#: MPIs of an image. MPICH, Cray MPICH, Intel MPI and MVAPICH share the MPICH ABI and libmpi.so.12
#: (mpich.org, "MPICH ABI Compatibility Initiative"). The MPI 5.0 standard defines the standard ABI
#: (chapter "Application Binary Interface"). libmpi_abi.so.0 is a mistake of MPICH 5.0.0 and 5.0.1
#: (pmodels/mpich PR 7867). The compiler wrappers of HPE link programs with a build of Cray MPICH
#: whose soname names the compiler, up to 9.0.1 with the release of GCC (public outputs of ldd on
#: Delta, Frontier, LUMI, Perlmutter, Polaris and Tuolumne). Only the module cray-mpich-abi leads to
#: libmpi.so.12
MPI_FAMILIES = {
    'libmpi.so.12': 'MPICH ABI',
    'libmpi.so.40': 'Open MPI',
    'libmpi.so.20': 'Open MPI',
    'libmpich.so.12': 'MPICH under Debian\'s own soname',
    'libmpi_abi.so.1': 'the standard ABI of MPI 5',
    'libmpi_abi.so.0': 'the standard ABI of MPI 5 in a library with a wrong soname',
    **{
        'libmpi_%s.so.12' % compiler: "Cray MPICH under HPE's own soname"
        for compiler in 'amd cray gnu gnu_91 gnu_112 gnu_123 nvidia'.split()
    },
}


class FileTree:
    """
    The file system of an image, in which symbolic links resolve as in the container.

    entries: {path in the image: (type, mode, link target, size in bytes)}. `type` is the first
    letter of the output of `ls -l`, and `mode` has the following 9 characters. `link target` is ''
    if the file is not a link.
    """

    def __init__(self, path: str) -> None:
        """
        Create an empty file tree.

        path: path of the image on this machine.
        """
        self.path = path
        self.entries: Dict[str, Tuple[str, str, str, int]] = {}
        self._text: Optional[bytes] = None
        self._children: Optional[Dict[str, List[str]]] = None
        self._resolved: Dict[str, Optional[str]] = {}

    def find_paths(self, pattern: str) -> List[str]:
        """
        Return the sorted paths of all files, folders and links that match `pattern`.

        pattern: regular expression for the whole path. The pattern begins with a literal text, or
        with `.*` and a literal text, because a search for a literal text is fast.
        """
        if self._text is None:
            # As a str, one unusual file name would double the size of the text.
            self._text = '\n'.join(['', *self.entries]).encode(_ENCODING, 'surrogateescape')
        text, is_anywhere = self._text, pattern.startswith('.*')
        whole = '(?:%s)$' % (pattern[2:] if is_anywhere else r'\n' + pattern)
        regex = re.compile(os.fsencode(whole), re.M)
        paths = (
            os.fsdecode(text[text.rfind(b'\n', 0, match.start() + 1) + 1 : match.end()])
            for match in regex.finditer(text)
        )
        # A part of a file name with a line end is not a path.
        return sorted(path for path in paths if path in self.entries)

    def list_children(self, folder: str) -> List[str]:
        """Return the paths of all files in the folder with the resolved path `folder`."""
        if self._children is None:
            self._children = {}
            for path in self.entries:
                self._children.setdefault(path[: path.rindex('/')] or '/', []).append(path)
        return self._children.get(folder, [])

    def resolve(self, path: str) -> Optional[str]:
        """Return a path of the image with all links resolved, None if the path does not exist."""
        if path not in self._resolved:
            self._resolved[path] = self._resolve(path)
        return self._resolved[path]

    def _resolve(self, path: str) -> Optional[str]:
        parts, real, links = path.split('/'), '', 0
        while parts:
            part = parts.pop(0)
            if part in ('', '.', '..') and real and self.entries.get(real, 'd')[0] != 'd':
                return None  # `real` is not a folder, so that a path below does not exist.
            if part in ('', '.'):
                continue
            if part == '..':
                real = posixpath.dirname(real).rstrip('/')
                continue
            entry = self.entries.get(real + '/' + part)
            if entry is None:
                return None
            if entry[0] != 'l':
                real += '/' + part
                continue
            links += 1
            if links > 40:  # Linux follows at most 40 links, see path_resolution(7).
                return None
            parts = entry[2].split('/') + parts
            if entry[2].startswith('/'):
                real = ''
        return real or '/'

    def read_file_mode(self, path: str) -> str:
        """
        Return the mode of the plain file `path` as the 9 characters that `ls -l` prints.

        `path` may be a link to a plain file. The result is '' if `path` leads to no plain file.
        """
        entry = self.entries.get(self.resolve(path) or '')
        return entry[1] if entry and entry[0] == '-' else ''

    def is_file(self, path: str) -> bool:
        """
        Return whether `path` is a readable plain file, or a link to a readable plain file.

        ld.so skips all other files.
        """
        mode = self.read_file_mode(path)
        return 'r' in mode or mode != '' and os.geteuid() == 0

    def is_executable(self, path: str) -> bool:
        """Return whether `path` is an executable plain file, or a link to such a plain file."""
        return self.read_file_mode(path)[2:3] in ('x', 's')

    def find_programs(self, prefix: str) -> Dict[str, str]:
        """
        Return {name: folder} of all executable files whose names begin with `prefix`.

        The result includes links to executable files. If `prefix` is empty, the result is empty.
        """
        programs: Dict[str, str] = {}
        if not prefix:
            return programs
        for path in self.find_paths('.*/' + re.escape(prefix) + r'[A-Za-z0-9_]+'):
            if self.is_executable(path):
                programs.setdefault(posixpath.basename(path), posixpath.dirname(path))
        return programs

    def locate_programs(self, programs: Iterable[str], folders: List[str]) -> Dict[str, str]:
        """
        Return {name: folder} of `programs`, which are names or absolute paths.

        folders: the folders of the image's PATH. The function looks for a name first in `folders`,
        and then in the whole image. Raises ImageError if a program does not exist or is not
        executable. Raises ImageError if several programs outside of `folders` have the same name.
        """
        located = {}
        for program in programs:
            name = posixpath.basename(program)
            paths = [program] if program != name else [f'{folder}/{name}' for folder in folders]
            candidates = list(filter(self.is_executable, paths))[:1]
            if not candidates and program == name:
                everywhere = self.find_paths('.*/' + re.escape(name))
                candidates = list(filter(self.is_executable, everywhere))
            if not candidates:
                raise ImageError(
                    f"{self.path} contains no program {program}. Choose a program in a "
                    f"folder of the image's PATH ({':'.join(folders)}), or give an absolute path "
                    "in the image"
                )
            if len(candidates) > 1:
                raise ImageError(
                    f"{self.path} contains several programs {program} outside of the "
                    f"folders of the image's PATH. Give one of these absolute paths: "
                    f"{', '.join(candidates)}"
                )
            located[name] = posixpath.dirname(candidates[0])
        return located

    def copy_files(self, paths: Iterable[str], folder: str) -> Dict[str, str]:
        """
        Return {path in the image: path on this machine} for the files `paths`.

        If the files of the image cannot be read directly, the function copies the files to
        `folder`. Raises ImageError if a path does not exist.
        """
        raise NotImplementedError

    def _resolve_all(self, paths: Iterable[str]) -> Dict[str, str]:
        """
        Return {path: path with all links resolved} for `paths`.

        Raises ImageError if one of `paths` does not exist.
        """
        real_paths = {}
        for path in paths:
            real = self.resolve(path)
            if real is None:
                raise ImageError(f"{self.path} has no {path}")
            real_paths[path] = real
        return real_paths


#: Maximum number of files in an image. The list of files takes some 300 bytes of memory per file
MAX_FILES = 2000000
#: Maximum length of a path in bytes. A program cannot open a longer path (PATH_MAX in limits.h)
_MAX_PATH_LENGTH = 4096
#: Limits for unsquashfs, which may read a damaged squashfs: CPU time in seconds, memory in bytes
_CPU_SECONDS, _MEMORY_LIMIT = 300, 4 << 30


def limit_resources(process: int, seconds: int = _CPU_SECONDS) -> None:
    """
    Limit the CPU time and the memory of the process that executes unsquashfs.

    process: number of the process. Without limits, unsquashfs could exhaust this machine when it
    reads a damaged image.
    """
    for kind, limit in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, _MEMORY_LIMIT)):
        soft, hard = resource.prlimit(process, kind)
        if soft == resource.RLIM_INFINITY or soft > limit:
            resource.prlimit(process, kind, (limit, hard))


def find_space_problem(folder: str, size: int, remedy: str) -> Optional[str]:
    """
    Return a message if `size` bytes do not fit into `folder`, otherwise None.

    remedy: text that the function appends to the message. `folder` does not have to exist.
    """
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    system = os.statvfs(folder)
    free = system.f_bavail * system.f_frsize
    return (
        None
        if free >= size
        else f"{folder} has {free >> 20} MB free, but {(size >> 20) + 1} MB are needed: {remedy}"
    )


#: Encoding of file names. os.fsdecode() is slower, because it asks for the encoding at each call
_ENCODING = sys.getfilesystemencoding()
#: Pattern for the messages that unsquashfs prints if the disk is full
DISK_FULL = re.compile(r'No space left on device|Disk quota exceeded')


class Squashfs(FileTree):
    """The file tree of a SIF, which contains the file tree as a squashfs."""

    def __init__(self, path: str, offset: int) -> None:
        """
        List all files of the squashfs that begins at byte `offset` of the file `path`.

        Raises ImageError if unsquashfs cannot read the squashfs.
        """
        super().__init__(path)
        self.offset = offset
        self._copies: Dict[str, str] = {}  #: {path in the image: path of the copy}
        # unsquashfs prints a line such as this one for each file; for a device, `1,  3` replaces
        # the size 1234:
        # drwxr-xr-x 0/0    1234 2026-11-21 03:37 TOP/usr/bin -> target
        # A file name in the image could contain a line end and forge a line. Therefore TOP is
        # random, and each part of the list between two TOPs is a file name, followed by a line end
        # and by the beginning of the next line.
        top, listed, start, rest = os.urandom(8).hex().encode(), 0, b'', b''
        try:
            for block in itertools.chain(self._run_unsquashfs(['-lln', '-d', top.decode()]), [b'']):
                listed += len(block)
                if listed > SIZE_LIMITS['list'] or len(self.entries) > MAX_FILES:
                    raise ImageError(
                        f"{self.path} contains more than {MAX_FILES} files, or the list of the "
                        f"files exceeds {SIZE_LIMITS['list'] >> 20} MB. Use an image with fewer files"
                    )
                *parts, rest = (rest + block).split(top)
                for part in parts if block else [*parts, rest]:
                    name, _, next_start = part.rpartition(b'\n')
                    if start:
                        self._add_entry(start, name)
                    start = next_start
        except ValueError:  # A line has another format.
            self.entries = {}
        if not self.entries:
            raise ImageError(
                f"cannot read {self.path}: the file list of unsquashfs has an unsupported format. "
                "Update squashfs-tools"
            )

    def _add_entry(self, start: bytes, name: bytes) -> None:
        """
        Add a file from the file list of unsquashfs.

        start: beginning of the line in the file list, up to TOP. name: path of the file; for a
        link, the link target follows the path.
        """
        mode, _, size, _ = start.decode().split(None, 3)
        target = b''
        if mode[0] == 'l':
            # The name and the target may contain ` -> `. The size of a link is the length of its
            # target, which shows where the target begins.
            end = len(name) - int(size)
            target = name[max(0, end) :]
            name = name[: end - 4] if name[max(0, end - 4) : end] == b' -> ' else b''
        # The entry is the root folder, or no program can open its path.
        if not name or len(name) > _MAX_PATH_LENGTH:
            return
        path = name.decode(_ENCODING, 'surrogateescape')
        # With a file `..`, unsquashfs can write outside of its output folder (CVE-2021-40153). If
        # two files have the same path, unsquashfs before 4.5.1 can (CVE-2021-41072).
        if path in self.entries or '/..' in path and '..' in path.split('/'):
            raise ImageError(
                f"{self.path} is damaged: the squashfs contains two files with the path {path!r}, "
                "or a file with the name '..'. Copy the image again, or build it again"
            )
        # sys.intern(): one object per mode, because most files have the same mode
        link = target.decode(_ENCODING, 'surrogateescape')
        self.entries[path] = mode[0], sys.intern(mode[1:]), link, int(size.rstrip(','))

    def _run_unsquashfs(self, options: List[str], files: Sequence[str] = ()) -> Iterator[bytes]:
        """
        Run unsquashfs with `options`, and yield the output of unsquashfs in blocks.

        files: paths in the image without the leading slash. Raises ImageError if unsquashfs fails.
        """
        # The path of the image must be absolute, because a relative path may begin with a hyphen.
        # The number of threads must be small, because each thread needs a part of the memory limit.
        command = ['unsquashfs', '-p', '4', '-o', str(self.offset)] + options
        command += [os.path.abspath(self.path)] + list(files)
        # A pipe for stderr could fill up and block unsquashfs while this process reads stdout.
        with tempfile.TemporaryFile() as errors:
            try:
                proc = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    # Without TZ, unsquashfs reads /etc/localtime again for each file.
                    env=dict(os.environ, LC_ALL='C', TZ='UTC'),
                )
                # With preexec_fn, Python would copy the tables of its memory for the new process.
                limit_resources(proc.pid)
            except FileNotFoundError:
                raise ImageError(
                    "cannot read a SIF: unsquashfs is not on PATH. Install squashfs-tools"
                )
            except (OSError, subprocess.SubprocessError) as err:
                raise ImageError(
                    f"cannot start unsquashfs: {getattr(err, 'strerror', None) or err}. Raise the "
                    "limits of the shell (to show the limits: ulimit -a)"
                )
            stream = proc.stdout
            assert stream is not None
            try:
                yield from iter(functools.partial(stream.read, 1 << 17), b'')
            finally:
                # If the caller stops reading early, SIGPIPE terminates unsquashfs.
                stream.close()
                proc.wait()
            if proc.returncode != 0:
                errors.seek(0)
                text = (
                    ' '.join(errors.read(4096).decode('utf-8', 'replace').split())
                    or f'unsquashfs failed with exit code {proc.returncode}'
                )
                remedy = (
                    "Copy or build the image again, or install a newer release of squashfs-tools"
                )
                if re.search('create thread|memory', text):
                    remedy = "Raise the memory limit of this shell (to show the limits: ulimit -a)"
                elif proc.returncode == -signal.SIGXFSZ:
                    text = "unsquashfs reached the file size limit of this shell"
                    remedy = "Remove the limit: ulimit -f unlimited"
                raise ImageError(
                    f"cannot read the squashfs in {self.path}: {text.rstrip('.')}. {remedy}"
                )

    def copy_files(self, paths: Iterable[str], folder: str) -> Dict[str, str]:
        """
        Extract files to `folder` with one call of unsquashfs; see FileTree.copy_files().

        Files that an earlier call has extracted are not extracted again.
        """
        real_paths = self._resolve_all(paths)
        missing = sorted(set(real_paths.values()).difference(self._copies))
        if missing:
            self._require_copyable(missing, folder)
            # Each call has a new folder, so that unsquashfs cannot follow a link of an earlier call.
            target = os.path.join(os.path.realpath(folder), os.urandom(8).hex())
            # unsquashfs interprets names as patterns, so escape the special characters.
            try:
                for _ in self._run_unsquashfs(
                    ['-n', '-no-xattrs', '-f', '-d', target],
                    [re.sub(r'([*?\[\]\\])', r'\\\1', path.lstrip('/')) for path in missing],
                ):
                    pass
                for parent, names, _ in os.walk(target):  # The image's folders may be read-only.
                    for name in names:
                        if not os.path.islink(f'{parent}/{name}'):
                            os.chmod(f'{parent}/{name}', stat.S_IRWXU)
                for path in missing:
                    copy = target + path
                    # A link in the extracted path could lead to a file of this machine.
                    if os.path.realpath(copy) != copy or not stat.S_ISREG(os.lstat(copy).st_mode):
                        raise OSError(
                            errno.EINVAL, 'unsquashfs extracted a file that is not a plain file'
                        )
                    self._copies[path] = copy
            except OSError:
                raise ImageError(
                    f"{self.path} is damaged: unsquashfs cannot extract {path}. Copy the image "
                    "again, or build it again"
                )
            except ImageError as err:
                if not DISK_FULL.search(str(err)):
                    raise
                raise NoRoomError(
                    f"{os.path.dirname(folder)} is full. Set TMPDIR to a folder with more free "
                    f"space. {err}"
                )
        return {path: self._copies[real] for path, real in real_paths.items()}

    def _require_copyable(self, paths: List[str], folder: str) -> None:
        """
        Raise ImageError if one of `paths` is not a plain file or exceeds the size limit.

        Raises NoRoomError if the copies of all files do not fit into `folder`.
        """
        for path in paths:
            kind, _, _, size = self.entries[path]
            if kind != '-':
                raise ImageError(f"cannot read {path} in {self.path}: the file is not a plain file")
            if size > SIZE_LIMITS['copy']:
                raise ImageError(
                    f"cannot read {path} in {self.path}: the file has {size} bytes, more than the "
                    f"limit of {SIZE_LIMITS['copy']}. Use an image without this file"
                )
        problem = find_space_problem(
            os.path.dirname(folder),
            sum(self.entries[path][3] for path in paths),
            'set TMPDIR to a folder with more free space',
        )
        if problem:
            raise NoRoomError(problem)


class UnpackedImage(FileTree):
    """The file tree of an unpacked image: a folder that `apptainer build --sandbox` wrote."""

    def __init__(self, path: str) -> None:
        """
        List all files in the folder `path`.

        Raises ImageError if the folder cannot be read or contains no root file system.
        """
        super().__init__(path)
        try:
            os.listdir(path)
        except OSError as err:
            raise ImageError(
                f"cannot read the folder {path}: {err.strerror}. Ask the owner of the "
                "folder to run "
                f"`chmod -R a+rX {quote(path)}`, or use another image"
            )
        # os.walk() skips folders that this user must not read, such as root's home, because such
        # folders contain no libraries. Skip /proc, /sys and /dev, because the runtime mounts the
        # folders of the host there.
        top = path.rstrip('/')
        for parent, folders, files in os.walk(top + '/'):
            below = parent[len(top) :].rstrip('/')
            for name in folders + files:
                self._add_entry(f'{below}/{name}')
            folders[:] = [name for name in folders if below or name not in ('proc', 'sys', 'dev')]
        if not any(self.resolve(name) for name in ('/bin', '/lib', '/usr', '/lib64')):
            raise ImageError(
                f"{path} is not an unpacked image: the folder has no subfolder usr, lib or bin. "
                "Give a SIF, or a folder that `apptainer build --sandbox` has written"
            )

    def _add_entry(self, path: str) -> None:
        """Add the file `path` of the image to `entries`."""
        file = self.path.rstrip('/') + path
        try:
            status = os.lstat(file)
            mode = stat.filemode(status.st_mode)
            target = os.readlink(file) if mode[0] == 'l' else ''
        except OSError:  # Another process has removed the file in the meantime.
            return
        self.entries[path] = (mode[0], mode[1:], target, status.st_size)
        if len(self.entries) > MAX_FILES:
            raise ImageError(
                f"{self.path} contains more than {MAX_FILES} files. Use an image with fewer files"
            )

    def copy_files(self, paths: Iterable[str], folder: str) -> Dict[str, str]:
        """Return {path in the image: path on this machine} for `paths`, without copying files."""
        return {
            path: self.path.rstrip('/') + real for path, real in self._resolve_all(paths).items()
        }


#: File in the image with the labels of unpacked images and of old SIFs
LABELS_FILE = '/.singularity.d/labels.json'
#: Script in the image that `apptainer run` starts
RUNSCRIPT = '/.singularity.d/runscript'
#: Text in the runscript that the runtime adds to an image without a runscript of its own
NO_RUNSCRIPT = 'There is no runscript defined for this container'
#: Maximum number of scripts that read_entrypoint() reads
ENTRYPOINT_SCRIPT_LIMIT = 20
#: Maximum number of characters of a script in which read_entrypoint() searches the names of other
#: scripts. The largest known entrypoint has 40 KB (NVIDIA's)
SCRIPT_LIMIT = 1 << 18

#: Pattern for the plugin by which RCCL uses libfabric: aws-ofi-nccl, or its fork aws-ofi-rccl. RCCL
#: opens librccl-net.so; older releases open libnccl-net.so
RCCL_PLUGIN = r'.*/lib(rccl|nccl)-net(-ofi)?\.so'


class DefaultLibraries:
    """
    The libraries that the usual loader of an image finds without LD_LIBRARY_PATH.

    An object of this class behaves like a dict {soname: path}. The object searches for a library
    only when a caller asks for the library.
    """

    def __init__(self, image: 'Image') -> None:
        self.image = image
        self._paths: Dict[str, Optional[str]] = {}

    def get(self, name: str) -> Optional[str]:
        """Return the path of the library `name`, None if the loader finds no such library."""
        if name not in self._paths:
            self._paths[name] = self._find_library(name)
        return self._paths[name]

    def __contains__(self, name: Any) -> bool:
        return self.get(name) is not None

    def _find_library(self, name: str) -> Optional[str]:
        system = self.image.read_loader_config(None)
        for path in filter(self.image.exists, system.list_candidates(name, None)):
            # The folder of the C library, and the cache, contain no files for other processors, so
            # these files need no check of the processor.
            if (
                system.musl
                or path == system.find_cached(name, system.machine)
                or self.image.exists(posixpath.dirname(path) + '/libc.so.6')
                or self.image.matches_machine(path, system.machine)
            ):
                return path
        return None


class Image:
    """
    An image that is open for reading.

    Use an Image in a with statement, because close() removes the copied files. The attribute
    `programs` is a dict {name: folder in the image}. The attribute `is_overlaid` is True if the SIF
    contains an overlay. An overlay may add, hide and change any file.
    """

    #: whether only a part of the files is known, so that other files may exist
    is_partial = False

    def __init__(self, path: str, program_prefix: str, programs: Iterable[str] = ()) -> None:
        """
        Open an image: the SIF `path`, or the unpacked image in the folder `path`.

        programs: names or absolute paths of programs. The attribute `programs` contains these
        programs. If program_prefix is not empty, the attribute also contains all programs with
        names that begin with program_prefix. Raises ImageError if the image cannot be read or does
        not contain one of `programs`.
        """
        self.path, self.is_overlaid = path, False
        self.labels: Dict[str, str] = {}
        self.tree: FileTree
        if os.path.isdir(path):
            self.tree = UnpackedImage(path)
        else:
            offset, self.labels, self.is_overlaid = read_sif(path)
            self.tree = Squashfs(path, offset)
        self.folder = make_work_folder()
        try:
            self._elf_facts: Dict[str, Optional[ElfFacts]] = {}
            self._traits: Dict[Tuple[str, Callable[..., Any]], Dict[str, Any]] = {}
            self._environments: Dict[Tuple[Any, ...], Environment] = {}
            self._entrypoint: Optional[List[Tuple[str, Optional[str]]]] = None
            self._matches: Dict[str, List[str]] = {}
            self._loader_configs: Dict[Optional[str], LoaderConfig] = {}
            self.labels = self.labels or parse_labels((self.read_text(LABELS_FILE) or '').encode())
            self.libraries = DefaultLibraries(self)
            self._read_ahead()
            self.programs = self.tree.find_programs(program_prefix)
            self.programs.update(self.tree.locate_programs(programs, self.list_path_folders()))
        except BaseException:  # KeyboardInterrupt must also remove the copies.
            self.close()
            raise

    def __enter__(self) -> 'Image':
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the copies of the image's files that this object has made."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def copy_file(self, path: str) -> str:
        """
        Return the path on this machine of the image's file `path`, or of a copy of the file.
        """
        return self.tree.copy_files([path], self.folder)[path]

    def exists(self, path: str) -> bool:
        """
        Return whether `path` is a readable plain file in the image, or a link to a plain file.
        """
        return self.tree.is_file(path)

    def resolve(self, path: str) -> Optional[str]:
        """Return a path of the image with all links resolved, None if the path does not exist."""
        return self.tree.resolve(path)

    def _read_ahead(self) -> None:
        """
        Extract the files that every prediction needs, with a single call of unsquashfs.

        A separate call of unsquashfs for each file would take noticeably longer.
        """
        paths = (
            ['/etc/ld.so.cache', '/bin/sh', RUNSCRIPT]
            + INTERPRETERS
            + self.tree.list_children(SCRIPTS_FOLDER)
        )
        self.tree.copy_files([path for path in paths if self.tree.is_file(path)], self.folder)

    def read_loader_config(self, interpreter: Optional[str]) -> LoaderConfig:
        """
        Return the search rules of the loader with the path `interpreter`.

        If `interpreter` is None, the result is for the usual loader of the image.
        """
        if interpreter not in self._loader_configs:
            loader = interpreter
            if loader is None:
                loaders = [path for path in INTERPRETERS if self.exists(path)]
                loader = loaders[0] if loaders else None
                # If the image has several loaders, the usual loader is the interpreter of /bin/sh.
                if len(loaders) != 1 and self.exists('/bin/sh'):
                    facts = self.read_elf_files(['/bin/sh']).get('/bin/sh')
                    loader = facts and facts.interpreter or loader
            self._loader_configs[interpreter] = read_loader_config(
                loader,
                self._find_machine(loader),
                self.exists,
                self.read_file,
            )
        return self._loader_configs[interpreter]

    def _find_machine(self, path: Optional[str]) -> str:
        """
        Return the name of the processor for which the loader `path` is built.

        The name is a value of ElfFacts.machine. If the image does not contain the loader, the
        result is the name of this machine's processor.
        """
        facts = self.read_elf_files([path]).get(path) if path and self.exists(path) else None
        return facts.machine if facts else MACHINE_NAMES.get(platform.machine(), platform.machine())

    def matches_machine(self, path: str, machine: Optional[str]) -> bool:
        """
        Return whether a loader for the processor `machine` stops its search at the file `path`.

        The loader stops its search if the file is for the loader's processor or is not an ELF file.
        """
        facts = self.read_elf_files([path]).get(path)
        return facts is None or facts.machine == machine

    def read_elf_files(self, paths: Iterable[str]) -> Dict[str, ElfFacts]:
        """
        Return {path: ElfFacts} for those of `paths` in the image that are ELF files.

        ElfFacts.path is the text 'image:', followed by the path. Raises ImageError if a file cannot
        be read.
        """
        paths = list(paths)
        unread = [path for path in paths if path not in self._elf_facts]
        self._store_elf_facts(unread)
        # Also read the libraries that ld.so probably loads for these files, because a call of
        # unsquashfs for many files is faster than a call for each file.
        while unread:
            unread = self._list_needed_libraries(unread)
            try:
                self._store_elf_facts(unread)
            except ImageError:  # A later call that needs the file raises this error again.
                break
        pairs = ((path, self._elf_facts[path]) for path in paths)
        return {path: elf for path, elf in pairs if elf}

    def _list_needed_libraries(self, paths: Iterable[str]) -> List[str]:
        """Return the libraries, not yet read, that the ELF files `paths` probably need."""
        needed = set()
        for facts in filter(None, map(self._elf_facts.get, paths)):
            above = posixpath.dirname(facts.path[len('image:') :])
            folders = facts.rpath + facts.runpath + [above] + self.list_library_folders()
            for name in facts.needed:
                places = [f'{each}/{name}'.replace('$ORIGIN', above) for each in folders]
                needed.update([*filter(self.exists, places), self.libraries.get(name)][:1])
        return sorted(path for path in needed if path and path not in self._elf_facts)

    def _store_elf_facts(self, unread: List[str]) -> None:
        copies = self.tree.copy_files(unread, self.folder)
        unreadable = sorted(path for path in unread if not os.access(copies[path], os.R_OK))
        if unreadable:
            raise ImageError(
                f"cannot read {', '.join(unreadable)} in {self.path}: Permission denied"
            )
        for path in unread:
            try:
                self._elf_facts[path] = read_elf(copies[path])._replace(path='image:' + path)
            except ElfError:  # The file is a script or another text.
                self._elf_facts[path] = None

    def read_file(self, path: str) -> bytes:
        """Return the content of a file of the image, or raise ImageError."""
        try:
            return read_plain_file(self.copy_file(path))
        except OSError as err:
            raise ImageError(f"cannot read {path} in {self.path}: {err.strerror}")

    def search_file(self, path: str, pattern: Pattern[bytes]) -> Optional[bytes]:
        """
        Return the first part of a file that matches `pattern`, None without a match.

        The function may miss or truncate a match of more than 64 bytes.
        """
        rest = b''
        with open_plain_file(self.copy_file(path)) as handle:
            for block in iter(functools.partial(handle.read, 1 << 20), b''):
                match = pattern.search(rest + block)
                if match:
                    return match.group()
                rest = block[-64:]
        return None

    def read_traits(self, path: str, read: Callable[[Any], Any]) -> Any:
        """
        Return {trait: value} of the library `path` in the image.

        read: function read_mpi_traits or read_fabric_traits (osu_container/image/traits.py). Raises
        ImageError if the library is damaged or is not an ELF file.
        """
        if (path, read) not in self._traits:
            try:
                with open_plain_file(self.copy_file(path)) as handle:
                    data = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
                    self._traits[path, read] = read(data)
            except ValueError as err:
                raise ImageError(f"{path} in {self.path}: {err}")
        return self._traits[path, read]

    def find_file_type(self, path: str) -> Optional[str]:
        """Return the type of a file as the letter that `ls -l` prints, None for a missing file."""
        real = self.tree.resolve(path)
        return 'd' if real == '/' else self.tree.entries[real][0] if real else None

    def find_privileges(self, path: str) -> Optional[str]:
        """
        Return the privileges that the program `path` gets at its start, such as 'setuid'.

        The result is None if the program gets no privileges. ld.so runs a program with privileges
        in the secure-execution mode (ld.so(8)).
        """
        mode, kinds = self.tree.read_file_mode(path), ((2, 'setuid'), (5, 'setgid'))
        return ' and '.join(name for place, name in kinds if mode[place] in 'sS') or None

    def list_folder(self, folder: str) -> List[str]:
        """Return the sorted names of all files in a folder, [] if the folder does not exist."""
        return sorted(map(posixpath.basename, self.tree.list_children(self.resolve(folder) or '')))

    def read_text(self, path: str) -> Optional[str]:
        """Return the text of a file in the image, None if the file cannot be read."""
        try:
            return self.read_file(path).decode('utf-8', 'replace')
        except ImageError:
            return None

    def evaluate_environment(self, bound_texts: Iterable[Any] = ()) -> Environment:
        """
        Return the Environment that results from the environment scripts of the image.

        bound_texts: {path in the container: text} of files that the user binds into the container.
        """
        key = tuple(sorted(dict(bound_texts).items()))
        if key not in self._environments:
            self._environments[key] = evaluate_environment(self, bound_texts)
        return self._environments[key]

    def store_environment(
        self, bound_texts: Iterable[Any], environment: Environment, inject_folder: str
    ) -> None:
        """
        Store the environment that a dry run observed with the bound files `bound_texts`.

        Later, evaluate_environment(bound_texts) returns the stored environment. The bound files
        prepend `inject_folder` to LD_LIBRARY_PATH and LD_PRELOAD. Therefore evaluate_environment()
        without bound files returns the stored environment, but without `inject_folder` in
        LD_LIBRARY_PATH and LD_PRELOAD.
        """
        self._environments[tuple(sorted(dict(bound_texts).items()))] = environment
        variables = dict(environment.variables)
        for name in ('LD_LIBRARY_PATH', 'LD_PRELOAD'):
            if name in variables:
                parts = (variables[name].value or '').split(':')
                while any(part.startswith(inject_folder) for part in parts):
                    parts = parts[1:]
                variables[name] = variables[name]._replace(value=':'.join(parts))
        self._environments[()] = environment._replace(variables=variables)

    def list_path_folders(self) -> List[str]:
        """Return the folders of PATH in the container, followed by the default folders of PATH."""
        folders, _ = parse_folder_list(self.evaluate_environment().variables.get('PATH'))
        return folders + [folder for folder in DEFAULT_PATH if folder not in folders]

    def read_entrypoint(self) -> List[Tuple[str, Optional[str]]]:
        """
        Return [(path, text)] of the scripts that `apptainer run` starts.

        The first script is the runscript, to which `apptainer build` copies the entrypoint of an
        OCI image. Each further script is a file that an earlier script names. For a
        binary file the text is None. The result is empty if the image has no runscript or an empty
        entrypoint.
        """
        if self._entrypoint is None:
            self._entrypoint = self._find_entrypoint()
        return self._entrypoint

    def _find_entrypoint(self) -> List[Tuple[str, Optional[str]]]:
        if not self.exists(RUNSCRIPT):
            return []
        runscript = self.read_file(RUNSCRIPT).decode('utf-8', 'replace')
        oci = re.search(r'^OCI_ENTRYPOINT=(.*)$', runscript, re.M)
        if NO_RUNSCRIPT in runscript or oci and not oci.group(1).strip('\'"'):
            return []
        # In the runscript of an OCI image, only the line OCI_ENTRYPOINT comes from the image.
        scripts: Dict[str, Optional[str]] = {RUNSCRIPT: oci.group(1) if oci else runscript}
        queue = [RUNSCRIPT]
        while queue:
            path = queue.pop(0)
            for name in re.findall(r'[\w.+/-]+', (scripts[path] or '')[:SCRIPT_LIMIT]):
                name = name.rstrip('./')
                # The name is an absolute path, or a file in the folder of the script, such as
                # $(dirname "$0")/other.
                sibling = posixpath.dirname(path) + '/' + posixpath.basename(name)
                candidate = name if name.startswith('/') and self.exists(name) else sibling
                is_new = candidate not in scripts and len(scripts) < ENTRYPOINT_SCRIPT_LIMIT
                is_own = not re.match(r'/\.singularity\.d/|(/usr)?/s?bin/|.*\.so(\.|$)', candidate)
                if is_new and is_own and self.exists(candidate):
                    text = self.read_text(candidate) or ''
                    scripts[candidate] = None if '\0' in text else text
                    queue.append(candidate)
        return list(scripts.items())

    def find_rocm_release(self) -> Optional[str]:
        """
        Return the release of ROCm in the image, such as '6.0.3', None if unknown.

        Debian combines packages from several releases of ROCm. For an image with Debian's packages,
        the result is the release of ROCr, the part of ROCm that calls the driver.
        """
        for path in self.find_files(r'/opt/rocm[^/]*/\.info/version'):
            match = re.match(r'\s*(\d+\.\d+\.\d+)', self.read_file(path).decode('utf-8', 'replace'))
            if match:
                return match.group(1)
        releases = re.findall(r'(?m)^rocm-(\d+\.\d+\.\d+)$', '\n'.join(self.list_folder('/opt')))
        # The list of dpkg is large, so the function reads the list only if the image has ROCr.
        if not releases and self.find_files(_DISTRIBUTION_LIBRARIES + _ROCR):
            releases = _ROCR_VERSION.findall(self.read_text(_DPKG_STATUS) or '')
        return max(releases, default=None)

    def find_cuda_release(self) -> Optional[str]:
        """
        Return the newest release of CUDA in the image, such as '12.8.1'; None without CUDA.

        NVIDIA's images set CUDA_VERSION. In Debian's packages, the file name of CUDA's runtime
        contains the release. PyTorch installs CUDA's runtime as the wheel nvidia-cuda-runtime.
        """
        paths = self.list_folder('/usr/local') + self.find_files(_CUDA_WHEEL)
        paths += self.find_files(_DISTRIBUTION_LIBRARIES + r'libcudart\.so\.\d+\.\d+\.\d+')
        declared = get_exported_value(self.evaluate_environment(), 'CUDA_VERSION') or ''
        found = re.findall(
            r'(?m)(?:^cuda-|libcudart\.so\.|/nvidia_cuda_runtime\w*-)(\d+\.\d+)', '\n'.join(paths)
        )
        # Of equal releases, the variable has more parts.
        return max(
            found + re.findall(r'^\d[\d.]*', declared),
            key=lambda release: list(map(int, re.findall(r'\d+', str(release)))),
            default=None,
        )

    def find_libcuda(self, library_path: Iterable[str]) -> Optional[Tuple[str, str]]:
        """
        Return (path, driver release) of the image's NVIDIA driver library libcuda, or None.

        library_path: folders of LD_LIBRARY_PATH in the container. With --nv, one of these folders
        contains the host's libcuda. The result is None if `library_path` lists the folder of the
        host's libcuda before the folder of the image's libcuda, because programs then use the
        host's libcuda. In NVIDIA's images, the folder of the image's libcuda (cuda-compat) comes
        first.
        """
        for folder in library_path:
            path = folder + '/libcuda.so.1'
            match = re.search(r'/libcuda\.so\.(\d+(?:\.\d+)+)$', self.tree.resolve(path) or '')
            if folder == RUNTIME_LIBRARIES or match:
                return (path, match.group(1)) if match else None
        return None

    def list_library_folders(self) -> List[str]:
        """
        Return the folders that the environment of the image adds to LD_LIBRARY_PATH.

        The result contains only known folders, and does not contain the folder that the container
        runtime appends to LD_LIBRARY_PATH.
        """
        environment = self.evaluate_environment()
        folders, _ = parse_folder_list(
            environment.variables.get('LD_LIBRARY_PATH') or environment.default, True
        )
        return [folder for folder in folders if folder != RUNTIME_LIBRARIES]

    def find_rccl_plugin(self) -> Optional[str]:
        """Return the path of the plugin by which RCCL uses libfabric, None if no plugin exists."""
        paths = self.find_files(RCCL_PLUGIN)
        # RCCL looks for librccl-net.so first.
        return min(paths, key=lambda path: ('librccl-net.so' not in path, path)) if paths else None

    def has_rccl(self) -> bool:
        """Return whether the image contains the library RCCL or NVIDIA's library NCCL."""
        return bool(self.find_files(r'.*/lib[rn]ccl\.so(\.[\d.]+)?'))

    def contains_library(self, folder: str, sonames: Iterable[str]) -> bool:
        """Return whether `folder` in the image contains a library with one of `sonames`."""
        return any((folder + '/' + soname) in self.tree.entries for soname in sonames)

    def find_files(self, pattern: str) -> List[str]:
        """
        Return the sorted paths of all files that match the regular expression `pattern`.

        `pattern` must match the whole path of a file in the image.
        """
        if pattern not in self._matches:  # Each approach searches the same patterns.
            self._matches[pattern] = list(filter(self.exists, self.tree.find_paths(pattern)))
        return list(self._matches[pattern])

    def find_folder_files(self, folder: str, pattern: str) -> List[str]:
        """
        Return the sorted paths of the files below `folder` that match `pattern`.

        pattern: regular expression for the part of the path after `folder`. `folder` may be a link.
        """
        real = self.resolve(folder)
        return self.find_files(re.escape(real.rstrip('/')) + '/' + pattern) if real else []

    def list_mpi_libraries(self) -> List[Tuple[str, str, str]]:
        """
        Return [(family, soname, path)] of the image's MPI libraries in order of preference.

        The result contains the libraries that ld.so finds in the image's LD_LIBRARY_PATH or by
        default. If ld.so finds no MPI library, the result contains all other MPI libraries in the
        image, such as libraries in conda environments.
        """
        libraries: List[Tuple[str, str, str]] = []
        for soname, family in MPI_FAMILIES.items():
            paths = [folder + '/' + soname for folder in self.list_library_folders()]
            machine = self.read_loader_config(None).machine
            found = (
                path for path in filter(self.exists, paths) if self.matches_machine(path, machine)
            )
            path = next(found, self.libraries.get(soname))
            if path:
                libraries.append((family, soname, path))
        if not libraries:
            names = '|'.join(re.escape(name) for name in MPI_FAMILIES)
            libraries = [
                (MPI_FAMILIES[posixpath.basename(path)], posixpath.basename(path), path)
                for path in self.find_files(f'.*/(?:{names})')
            ]
        # The table MPI_FAMILIES is in the order of preference.
        families = list(MPI_FAMILIES.values())
        return sorted(libraries, key=lambda item: (families.index(item[0]), *item[1:]))

"""
Read from /proc the libraries that a running process has loaded, and its environment variables.

Each library has a path, a release, a build id and an origin.

* The origin is "host" if the file is the same (device and inode) as a file outside the container. The
  origin is "image" if the file is in the root file system of the container, or in a file system that
  the host has not mounted. The origin is null if the origin is unknown.
* The paths in /proc/PID/maps are real paths: the kernel has followed all links.
* The release comes from the contents of the file (image/libraries.py), or else from the file name.
  The key release_from names the source: "contents", "file name", or null without a release.

This module needs only Python 3.6 and its standard library, so that it runs on any compute node.
"""

import contextlib
import os
import re
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from osu_container.data.approaches import INJECTION_SCRIPT
from osu_container.data.records import select_variables
from osu_container.image.libraries import LibraryVersion, compute_sha256, read_library

#: {library: pattern of its file names}. libmpi is the C library only, because libmpifort and Open
#: MPI's libmpi_mpifh need it. libucp is listed because an MPICH may contain the netmod ch4:ucx, which
#: does not use libfabric. auditwheel adds eight hexadecimal digits to the names of libraries in a
#: wheel.
LIBRARIES = {
    name: re.compile(r'(%s)(-[0-9a-f]{8})?\.so(\.|$)' % (pattern or name))
    for name, pattern in {
        'libmpi': r'libmpi(ch|_(abi|cray|gnu|amd|aocc|intel|nvidia)\w*)?',
        'libmpi_gtl': r'libmpi_gtl_\w+',
        'librccl': 'lib(rccl|nccl)',
        'librccl-net': r'lib(rccl|nccl)-net(-\w+)*',
        **dict.fromkeys(
            [
                'libfabric',
                'libucp',
                'libcxi',
                'libxpmem',
                'libpmi',
                'libpmi2',
                'libpmix',
                'libpals',
                'libhsa-runtime64',
                'libamdhip64',
                'libcuda',
            ]
        ),
    }.items()
}
#: Libraries that a program may load long after MPI_Init, and at different times on different ranks:
#: with the first communicator of RCCL, or at the first search for a GPU
LATE_LIBRARIES = ('librccl-net', 'libcuda')
#: Problem of a library whose process terminated before the file could be opened
PROCESS_ENDED = 'the process terminated before the file could be read'
#: Release in a file name such as libcxi.so.1.5.0 or libhsa-runtime64.so.1.14.60200
_RELEASE_IN_NAME = re.compile(r'\.so\.(\d+(?:\.\d+)+)$')


class Mount(NamedTuple):
    """A mount of a process: one line of /proc/PID/mountinfo, see proc(5)."""

    #: 'major:minor'
    device: str
    #: folder within the file system that is mounted
    root: str
    #: folder where it is mounted
    point: str


def read_proc_file(path: str) -> bytes:
    """Return the contents of a file under /proc, b'' if the file cannot be read."""
    try:
        with open(path, 'rb') as handle:
            return handle.read()
    except OSError:
        return b''


def read_proc_link(path: str) -> Optional[str]:
    """Return the target of a link under /proc, None if the link cannot be read."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def list_proc_folder(path: str) -> List[str]:
    """Return the names in a folder under /proc, [] if the folder cannot be read."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def read_process_stat(pid: int) -> Optional[Tuple[int, int]]:
    """
    Return the pid of a process's parent and the start time of the process in clock ticks.

    The result is None if the process is a zombie or does not exist.
    """
    # The command name is in brackets and may contain blanks and brackets itself, so count the fields
    # after the last bracket (proc(5)).
    fields = read_proc_file('/proc/%s/stat' % pid).rpartition(b')')[2].split()
    if len(fields) < 20 or fields[0] in (b'Z', b'X'):
        return None
    return int(fields[1]), int(fields[19])


def list_process_tree(root: int) -> List[int]:
    """Return the pids of a process and of all its descendants; parents precede children."""
    tree = [root]
    for pid in tree:
        for task in list_proc_folder('/proc/%d/task' % pid):
            tree.extend(
                int(child)
                for child in read_proc_file('/proc/%d/task/%s/children' % (pid, task)).split()
            )
    return tree


def list_mapped_files(pid: int) -> List[str]:
    """Return the paths of all files that a process has mapped, in the order of addresses."""
    lines = [line.split(None, 5) for line in read_proc_file('/proc/%d/maps' % pid).splitlines()]
    paths = [os.fsdecode(fields[5]) for fields in lines if fields[5:] and fields[5][:1] == b'/']
    return list(dict.fromkeys(paths))


def select_libraries(paths: Iterable[str]) -> Dict[str, str]:
    """
    Return {key: first path that matches the pattern LIBRARIES[key]}.

    The keys stand for MPI and network libraries, such as 'libmpi' and 'libfabric'.
    """
    libraries = {}
    for path in paths:
        for name, pattern in LIBRARIES.items():
            if name not in libraries and pattern.match(os.path.basename(path)):
                libraries[name] = path
    return libraries


def list_mpi_processes(root: int) -> Iterator[Tuple[int, Optional[str], Dict[str, str]]]:
    """
    Yield (pid, executable, libraries) for each process that has loaded a libmpi.

    root: pid of the process that the function inspects together with all descendants.
    libraries: {key of LIBRARIES: path}.
    """
    for pid in list_process_tree(root):
        libraries = select_libraries(list_mapped_files(pid))
        # Ignore ldd and the entrypoint of approach swap, which only list the libraries of a program.
        if 'libmpi' in libraries and 'LD_TRACE_LOADED_OBJECTS' not in read_environment(pid):
            yield pid, read_program(pid)[0], libraries


def read_mounts(pid: object) -> List[Mount]:
    """
    Return the mounts that a process sees, in the order of mounting.

    pid: number of the process, or 'self' for this process.
    """
    mounts = []
    for line in os.fsdecode(read_proc_file('/proc/%s/mountinfo' % pid)).splitlines():
        fields = line.split(' ')
        if len(fields) > 4:
            root, point = [
                re.sub(r'\\(\d{3})', lambda m: chr(int(m.group(1), 8)), field)
                for field in fields[3:5]
            ]
            mounts.append(Mount(fields[2], root, point))
    return mounts


def _find_relative_path(path: str, folder: str) -> Optional[str]:
    """Return `path` relative to `folder`, '' if both are equal, None if `path` is outside."""
    folder = folder.rstrip('/')
    if path == folder or not folder:
        return path[len(folder) :].lstrip('/')
    return path[len(folder) + 1 :] if path.startswith(folder + '/') else None


def _find_mount(path: str, mounts: Iterable[Mount]) -> Optional[Mount]:
    """
    Return the mount that contains a path, None if no mount contains the path.

    If several mounts contain the path, the result is the mount with the longest mount point. If
    several mounts have the same mount point, the result is the newest of these mounts.
    """
    outer = [mount for mount in mounts if _find_relative_path(path, mount.point) is not None]
    return max(reversed(outer), key=lambda mount: len(mount.point)) if outer else None


def _is_same_file(first: str, second: str) -> bool:
    """Return whether two paths lead to the same file (device and inode)."""
    try:
        return os.path.samestat(os.stat(first), os.stat(second))
    except OSError:
        return False


def resolve_origin(
    path: str,
    inside: str,
    mounts: Sequence[Mount],
    host_mounts: Sequence[Mount],
    image: Optional[str] = None,
) -> Tuple[Optional[str], Optional[str]]:
    """
    Return whether a mapped file belongs to the host or the image, and the host path.

    The result is ('host', path on the host), ('image', None), or (None, None) if the origin is
    unknown.

    path: path of the file as the process sees it
    inside: path of the same file through /proc/PID/root
    mounts, host_mounts: mounts that the process sees, and mounts that the host sees
    image: path of the image, which is a SIF file or a folder
    """
    mount = _find_mount(path, mounts)
    if mount is None:
        return None, None
    device, root, point = mount
    # The file is on the root of the container, which for an unpacked image is a folder of the host.
    if point == '/':
        return 'image', None
    candidates = [path]
    on_device = os.path.join(root, _find_relative_path(path, point) or '').rstrip('/')
    for host_device, host_root, host_point in host_mounts:
        below = _find_relative_path(on_device, host_root)
        if host_device == device and below is not None:
            candidates.append(os.path.join(host_point, below))
    # If a file system is mounted at several points, report the shortest path.
    for candidate in sorted(candidates, key=len):
        if _is_same_file(candidate, inside):
            in_image = (
                image
                and os.path.isdir(image)
                and _find_relative_path(candidate, os.path.realpath(image)) is not None
            )
            return ('image', None) if in_image else ('host', candidate)
    if device not in {mount.device for mount in host_mounts}:
        return 'image', None
    return None, None


def read_library_facts(
    name: str,
    path: str,
    inside: Optional[str],
    container: bool,
    mounts: Sequence[Mount],
    host_mounts: Sequence[Mount],
    image: Optional[str],
) -> Dict[str, Any]:
    """
    Return the facts on a library of a process, with the keys of data/records.py.

    name: key of LIBRARIES
    path: path of the file as the process sees it
    inside: path by which the caller can open the same file, None if the process has terminated
    container: whether the process and the caller have different mount namespaces
    mounts, host_mounts, image: see resolve_origin()
    """
    version, build_id, problem = LibraryVersion(None, None), None, None
    if inside is None:
        where, host_path, problem = None, None, PROCESS_ENDED
    else:
        where, host_path = (
            resolve_origin(path, inside, mounts, host_mounts, image)
            if container
            else ('host', path)
        )
        try:
            version, build_id = read_library(inside)
        except (OSError, ValueError) as err:
            problem = str(err)
    release, release_from = version.release, 'contents' if version.release else None
    # The numbers in the file names of libmpi and libfabric are versions of their interface.
    if not release and name not in ('libmpi', 'libfabric'):
        in_name = _RELEASE_IN_NAME.search(host_path or path)
        if in_name and in_name.group(1).strip('0.'):
            release, release_from = in_name.group(1), 'file name'
    return {
        'path': path,
        'where': where,
        'host_path': host_path,
        'family': version.family,
        'release': release,
        'release_from': release_from,
        'build_id': build_id,
        'sha256': None,
        'problem': problem,
    }


def add_checksums(pid: int, facts: Dict[str, Any]) -> None:
    """
    Compute the sha256 of all libraries without a build id, and add the sha256 to `facts`.

    facts: result of read_process_facts(). Libraries of PyPI wheels have no build id. The caller
    should wait until the rank has started, because reading a library of 13 MB takes as long as
    reading all other facts together.
    """
    for library in facts['libraries'].values():
        if library['build_id'] is None and library['sha256'] is None and library['problem'] is None:
            # If the process has terminated, the checksum stays unknown.
            with contextlib.suppress(OSError, ValueError):
                library['sha256'] = compute_sha256(
                    library['host_path'] or '/proc/%d/root%s' % (pid, library['path'])
                )


def read_environment(pid: int) -> Dict[str, str]:
    """Return the variables with which a process started, {} if the variables cannot be read."""
    pairs = (
        os.fsdecode(item).partition('=')
        for item in read_proc_file('/proc/%s/environ' % pid).split(b'\0')
        if item
    )
    return {name: value for name, _, value in pairs}


def read_program(pid: int) -> Tuple[Optional[str], List[str]]:
    """Return the path of the executable of a process, and the words of its command line."""
    return read_proc_link('/proc/%d/exe' % pid), [
        os.fsdecode(item) for item in read_proc_file('/proc/%d/cmdline' % pid).split(b'\0')[:-1]
    ]


def read_process_facts(pid: int, libraries: Dict[str, str]) -> Dict[str, Any]:
    """
    Return the facts on a process and its libraries, with the keys of data/records.py.

    libraries: {key of LIBRARIES: path of the library that the process has mapped}
    """
    environment = read_environment(pid)
    namespace = read_proc_link('/proc/%d/ns/mnt' % pid)
    image = environment.get('APPTAINER_CONTAINER') or environment.get('SINGULARITY_CONTAINER')
    container = namespace != read_proc_link('/proc/self/ns/mnt') if namespace else bool(image)
    mounts = read_mounts(pid)
    root = '/proc/%d/root' % pid if container else ''
    # Open all files before any file is read, because a short program may terminate during the
    # reading. An open file stays readable, even if another process reuses the pid.
    descriptors = {}
    for name, path in libraries.items() if mounts else ():
        with contextlib.suppress(OSError):
            descriptors[name] = os.open(root + path, os.O_RDONLY)
    host_mounts = read_mounts('self')
    executable, command = read_program(pid)
    try:
        inside = {name: '/proc/self/fd/%d' % number for name, number in descriptors.items()}
        facts = {
            name: read_library_facts(
                name, path, inside.get(name), container, mounts, host_mounts, image
            )
            for name, path in sorted(libraries.items())
        }
    finally:
        for number in descriptors.values():
            os.close(number)
    return {
        'pid': pid,
        'executable': executable,
        'command': command,
        'container': container,
        'image': image if container else None,
        'injection': any(point == INJECTION_SCRIPT for _, _, point in mounts),
        'spaces': {'user': read_proc_link('/proc/%d/ns/user' % pid), 'mnt': namespace},
        'variables': select_variables(environment),
        'libraries': facts,
    }

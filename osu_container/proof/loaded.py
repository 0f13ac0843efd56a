"""
Read from /proc what a running process has loaded: libraries with path, release, build id and
origin, and its variables.

* Origin "host": the file is the same (device and inode) as a file outside the container. "image":
  the file is on the container's root, or on a file system that the host has not mounted. Null:
  unknown.
* The paths in /proc/PID/maps are real paths: the kernel has followed every link.
* The release is read from the contents of the file (image/libraries.py), else from its name, which
  release_from records. Null: neither has it.

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""

import os
import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from osu_container.data.approaches import INJECTION_SCRIPT
from osu_container.image.libraries import LibraryVersion, compute_sha256, read_library

#: Library -> pattern of its file names. Of MPI only the C library, which libmpifort and Open MPI's
#: libmpi_mpifh need. libucp is included because MPICH may contain two network layers, and ch4:ucx
#: does not use libfabric.
LIBRARIES = {
    'libmpi': re.compile(r'libmpi(ch|_(abi|cray|gnu|amd|aocc|intel|nvidia)\w*)?\.so(\.|$)'),
    'libfabric': re.compile(r'libfabric\.so(\.|$)'),
    'libucp': re.compile(r'libucp\.so(\.|$)'),
    'libcxi': re.compile(r'libcxi\.so(\.|$)'),
    'libxpmem': re.compile(r'libxpmem\.so(\.|$)'),
    'libmpi_gtl': re.compile(r'libmpi_gtl_\w+\.so(\.|$)'),
    'libpmi': re.compile(r'libpmi\.so(\.|$)'),
    'libpmi2': re.compile(r'libpmi2\.so(\.|$)'),
    'libpmix': re.compile(r'libpmix\.so(\.|$)'),
    'libpals': re.compile(r'libpals\.so(\.|$)'),
    'libhsa-runtime64': re.compile(r'libhsa-runtime64\.so(\.|$)'),
    'libamdhip64': re.compile(r'libamdhip64\.so(\.|$)'),
    'libcuda': re.compile(r'libcuda\.so(\.|$)'),
    'librccl': re.compile(r'lib(rccl|nccl)\.so(\.|$)'),
    'librccl-net': re.compile(r'lib(rccl|nccl)-net(-\w+)*\.so(\.|$)'),
}
#: Loaded with the first communicator of RCCL, or when a program first looks for a GPU, maybe long
#: after MPI_Init: not at the same time on all ranks
LATE_LIBRARIES = ('librccl-net', 'libcuda')
#: Problem of a library whose process terminated before the file could be opened
PROCESS_ENDED = 'the process terminated before the file could be read'
#: Variables of the process that decide how MPI reaches the network
VARIABLES = re.compile(
    r'(FI_|MPIR_CVAR_|MPICH_|OMPI_MCA_|I_MPI_|UCX_|PMI_|PMIX_(RANK|NAMESPACE)$|PALS_|CXI_|NCCL_|'
    r'ROCR_|CUDA_VISIBLE|MPI_CONTAINER_|OSU_PROMISE$|SLURM_(MPI_TYPE|NETWORK)$|LD_LIBRARY_PATH$|LD_PRELOAD$|'
    r'MPI4PY_LIBMPI$)'
)
#: libcxi.so.1.5.0, libhsa-runtime64.so.1.14.60200
_RELEASE_IN_NAME = re.compile(r'\.so\.(\d+(?:\.\d+)+)$')


class Mount(NamedTuple):
    """A line of /proc/PID/mountinfo, see proc(5)."""

    #: 'major:minor'
    device: str
    #: folder of the file system that is mounted
    root: str
    #: folder where it is mounted
    point: str


def read_proc_file(path: str) -> bytes:
    """Return the contents of a file under /proc, b'' if it does not exist or cannot be read."""
    try:
        with open(path, 'rb') as handle:
            return handle.read()
    except OSError:
        return b''


def read_proc_link(path: str) -> Optional[str]:
    """Return the target of a link under /proc, None if it does not exist or cannot be read."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def list_proc_folder(path: str) -> List[str]:
    """Return the names in a folder under /proc, [] if it does not exist."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def read_process_stat(pid: int) -> Optional[Tuple[int, int]]:
    """Return the parent and the start time (clock ticks) of a process, None for a zombie."""
    # The command name, in brackets, may contain blanks and brackets: count from the last bracket
    # (proc(5)).
    fields = read_proc_file('/proc/%s/stat' % pid).rpartition(b')')[2].split()
    if len(fields) < 20 or fields[0] in (b'Z', b'X'):
        return None
    return int(fields[1]), int(fields[19])


def list_process_tree(root: int) -> List[int]:
    """Return the pids of a process and all its descendants, parents first."""
    tree = [root]
    for pid in tree:
        for task in list_proc_folder('/proc/%d/task' % pid):
            tree.extend(
                int(child)
                for child in read_proc_file('/proc/%d/task/%s/children' % (pid, task)).split()
            )
    return tree


def list_mapped_files(pid: int) -> List[str]:
    """Return the paths of the files that a process has mapped, each once, by address."""
    lines = [line.split(None, 5) for line in read_proc_file('/proc/%d/maps' % pid).splitlines()]
    paths = [os.fsdecode(fields[5]) for fields in lines if fields[5:] and fields[5][:1] == b'/']
    return list(dict.fromkeys(paths))


def select_libraries(paths: Iterable[str]) -> Dict[str, str]:
    """Return the first path of each library of LIBRARIES."""
    libraries = {}
    for path in paths:
        for name, pattern in LIBRARIES.items():
            if name not in libraries and pattern.match(os.path.basename(path)):
                libraries[name] = path
    return libraries


def _read_mounts(pid: object) -> List[Mount]:
    """Return the mounts of a process (a pid or 'self'), in order of mounting."""
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
    """Return a path relative to a folder ('' for the folder itself), None if it is not in it."""
    folder = folder.rstrip('/')
    if path == folder or not folder:
        return path[len(folder) :].lstrip('/')
    return path[len(folder) + 1 :] if path.startswith(folder + '/') else None


def _find_mount(path: str, mounts: Iterable[Mount]) -> Optional[Mount]:
    """Return the mount of a path: the longest mount point, the latest of equal ones."""
    best = None
    for mount in mounts:
        if _find_relative_path(path, mount.point) is not None and (
            best is None or len(mount.point) >= len(best.point)
        ):
            best = mount
    return best


def _is_same_file(first: str, second: str) -> bool:
    """Return whether both paths lead to the same file (device and inode)."""
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
    Return 'host' and the path outside, or 'image' and None, or None twice if unknown.

    path is the file as the process sees it, inside the same file through /proc/PID/root; mounts are
    those of the process, host_mounts those of the host; image is the image (a SIF or a folder) as
    the runtime names it.
    """
    mount = _find_mount(path, mounts)
    if mount is None:
        return None, None
    device, root, point = mount
    # The container's root. An unpacked image is on a file system of the host as well.
    if point == '/':
        return 'image', None
    candidates = [path]
    on_device = os.path.join(root, _find_relative_path(path, point) or '').rstrip('/')
    for host_device, host_root, host_point in host_mounts:
        below = _find_relative_path(on_device, host_root)
        if host_device == device and below is not None:
            candidates.append(os.path.join(host_point, below))
    # A file system may be mounted at several places: report the shortest path.
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


def _open_files(paths: Dict[str, str]) -> Dict[str, int]:
    """
    Return descriptors of files by name, without those that cannot be opened.

    A short program may terminate while its libraries are read: an open file stays readable, and
    stays the same file.
    """
    descriptors = {}
    for name, path in paths.items():
        try:
            descriptors[name] = os.open(path, os.O_RDONLY)
        except OSError:
            pass
    return descriptors


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
    Return the facts of a library that a process has mapped, see LIBRARY in layout.py.

    name is a key of LIBRARIES, path the file as the process sees it, inside its path for us (None
    if the process terminated before); container: the mount namespace of the process is not ours.
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
    # The numbers in the names of libmpi and libfabric are those of their interface.
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
    Add the sha256 of libraries without build id to facts of read_process_facts().

    Libraries of the wheels have no build id. To be called when there is time: 13 MB take as long as
    everything else.
    """
    for library in facts['libraries'].values():
        if library['build_id'] is None and library['sha256'] is None and library['problem'] is None:
            try:
                library['sha256'] = compute_sha256(
                    library['host_path'] or '/proc/%d/root%s' % (pid, library['path'])
                )
            except (OSError, ValueError):
                pass  # the process has terminated


def read_environment(pid: int) -> Dict[str, str]:
    """Return the environment with which the program of a process was started."""
    pairs = (
        os.fsdecode(item).partition('=')
        for item in read_proc_file('/proc/%s/environ' % pid).split(b'\0')
        if item
    )
    return {name: value for name, _, value in pairs}


def read_program(pid: int) -> Tuple[Optional[str], List[str]]:
    """Return the executable and the command line of a process."""
    return read_proc_link('/proc/%d/exe' % pid), [
        os.fsdecode(item) for item in read_proc_file('/proc/%d/cmdline' % pid).split(b'\0')[:-1]
    ]


def read_process_facts(pid: int, libraries: Dict[str, str]) -> Dict[str, Any]:
    """Return the facts of a process that has mapped libraries (name -> path), see layout.py."""
    environment = read_environment(pid)
    namespace, own_namespace = (
        read_proc_link('/proc/%d/ns/mnt' % pid),
        read_proc_link('/proc/self/ns/mnt'),
    )
    container = (
        namespace != own_namespace
        if namespace
        else bool(
            environment.get('APPTAINER_CONTAINER') or environment.get('SINGULARITY_CONTAINER')
        )
    )
    image = environment.get('APPTAINER_CONTAINER') or environment.get('SINGULARITY_CONTAINER')
    mounts = _read_mounts(pid)
    root = '/proc/%d/root' % pid if container else ''
    descriptors = _open_files(
        {name: root + path for name, path in libraries.items()} if mounts else {}
    )
    host_mounts = _read_mounts('self')
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
        'variables': {
            name: value for name, value in sorted(environment.items()) if VARIABLES.match(name)
        },
        'libraries': facts,
    }

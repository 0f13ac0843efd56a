"""
What a running process has loaded, read from /proc: libraries with path, release, build id and
origin; its variables.

* "host" means: the file is the same (device and inode) as one that is seen without the container.
    "image" means: it
  lies on the container's own root, or on a file system that the host has not mounted. Anything else
  is null.
* The paths in /proc/PID/maps are real paths: the kernel has followed every link.
* The release is read from the file that is mapped (image/libraries.py). Of libraries that do not
    say it, it is
  what stands behind .so. in the name of the file, and release_from says so. Null where neither says
  it.

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""

import os
import re

from osu_container.data.approaches import INJECTION_SCRIPT
from osu_container.image.libraries import LibraryVersion, compute_sha256, read_library

#: What is looked for, by name: pattern of the file names. The C library of MPI only: libmpifort and
#: Open MPI's libmpi_mpifh hang on it. libucp is here because MPICH may hold two network layers:
#: ch4:ucx is not libfabric.
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
#: Loaded when the first communicator of RCCL is made, or when the first GPU is looked for, maybe
#: long after MPI_Init: not at the same look on all ranks
LATE_LIBRARIES = ('librccl-net', 'libcuda')
#: Problem of a library whose process was gone before the file could be opened
PROCESS_ENDED = 'the process ended before it could be read'
#: Variables of the process that decide how MPI reaches the network
VARIABLES = re.compile(
    r'(FI_|MPIR_CVAR_|MPICH_|OMPI_MCA_|I_MPI_|UCX_|PMI_|PMIX_(RANK|NAMESPACE)$|PALS_|CXI_|NCCL_|'
    r'ROCR_|CUDA_VISIBLE|MPI_CONTAINER_|OSU_PROMISE$|SLURM_(MPI_TYPE|NETWORK)$|LD_LIBRARY_PATH$|LD_PRELOAD$|'
    r'MPI4PY_LIBMPI$)'
)
#: libcxi.so.1.5.0, libhsa-runtime64.so.1.14.60200
_RELEASE_IN_NAME = re.compile(r'\.so\.(\d+(?:\.\d+)+)$')


def read_proc_file(path):
    """
    Return the contents (bytes) of a file under /proc, b'' if the process ended or may not be
    looked at.
    """
    try:
        with open(path, 'rb') as handle:
            return handle.read()
    except (OSError, IOError):
        return b''


def read_proc_link(path):
    """Return what a link under /proc leads to (str), None if it is gone or may not be read."""
    try:
        return os.readlink(path)
    except OSError:
        return None


def list_proc_folder(path):
    """Return the names in a folder under /proc, [] if it is gone."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def read_process_stat(pid):
    """
    Return (parent pid, start time in clock ticks) of a process; None if it has ended, is a
    zombie included.
    """
    # The command name, in brackets, may hold blanks and brackets: count from the last one
    # (proc(5)).
    fields = read_proc_file('/proc/%s/stat' % pid).rpartition(b')')[2].split()
    if len(fields) < 20 or fields[0] in (b'Z', b'X'):
        return None
    return int(fields[1]), int(fields[19])


def list_process_tree(root):
    """Return the pids (list of int) of root and all its descendants, parents first."""
    tree = [root]
    for pid in tree:
        for task in list_proc_folder('/proc/%d/task' % pid):
            tree.extend(
                int(child)
                for child in read_proc_file('/proc/%d/task/%s/children' % (pid, task)).split()
            )
    return tree


def list_mapped_files(pid):
    """
    Return the paths (list of str) of the files that process pid has mapped, each once, in the
    order of addresses.
    """
    found = {}
    for line in read_proc_file('/proc/%d/maps' % pid).splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5].startswith(b'/'):
            found[os.fsdecode(fields[5])] = None
    return list(found)


def select_libraries(paths):
    """Return {name of LIBRARIES: path} of mapped files (list of str)."""
    found = {}
    for path in paths:
        for name, pattern in LIBRARIES.items():
            if name not in found and pattern.match(os.path.basename(path)):
                found[name] = path
    return found


def _read_mounts(pid):
    """
    Return the mounts of process pid: list of (device 'major:minor', root, mount point), in order
    of mounting.
    """
    mounts = []
    for line in os.fsdecode(read_proc_file('/proc/%s/mountinfo' % pid)).splitlines():
        fields = line.split(' ')
        if len(fields) > 4:
            root, point = [
                re.sub(r'\\(\d{3})', lambda m: chr(int(m.group(1), 8)), field)
                for field in fields[3:5]
            ]
            mounts.append((fields[2], root, point))
    return mounts


def _find_relative_path(path, folder):
    """Return path relative to folder ('' for folder itself), None if it does not lie in folder."""
    folder = folder.rstrip('/')
    if path == folder or not folder:
        return path[len(folder) :].lstrip('/')
    return path[len(folder) + 1 :] if path.startswith(folder + '/') else None


def _find_mount(path, mounts):
    """
    Return the mount (device, root, mount point) of path: the longest mount point, the latest of
    equals.
    """
    best = None
    for mount in mounts:
        if _find_relative_path(path, mount[2]) is not None and (
            best is None or len(mount[2]) >= len(best[2])
        ):
            best = mount
    return best


def _is_same_file(one, other):
    """Return True if both paths lead to the same file (device and inode)."""
    try:
        return os.path.samestat(os.stat(one), os.stat(other))
    except OSError:
        return False


def resolve_origin(path, inside, mounts, host_mounts, image=None):
    """
    Return (where, host path): ('host', path outside), ('image', None), or (None, None) when it
    cannot be told.

    :param path: str, path as the process sees it
    :param inside: str, the same file through /proc/PID/root
    :param mounts, host_mounts: as _read_mounts() gives them, of the process and of the host
    :param image: str or None, the image as the runtime names it (a SIF or a folder)
    """
    mount = _find_mount(path, mounts)
    if mount is None:
        return None, None
    device, root, point = mount
    if (
        point == '/'
    ):  # the container's own root; an image that is an unpacked folder is the host's file system too
        return 'image', None
    candidates = [path]
    on_device = os.path.join(root, _find_relative_path(path, point)).rstrip('/')
    for host_device, host_root, host_point in host_mounts:
        below = _find_relative_path(on_device, host_root)
        if host_device == device and below is not None:
            candidates.append(os.path.join(host_point, below))
    for candidate in sorted(
        candidates, key=len
    ):  # a file system may be mounted at several places: the plainest path
        if _is_same_file(candidate, inside):
            in_image = (
                image
                and os.path.isdir(image)
                and _find_relative_path(candidate, os.path.realpath(image)) is not None
            )
            return ('image', None) if in_image else ('host', candidate)
    if device not in set(found[0] for found in host_mounts):
        return 'image', None
    return None, None


def _open_files(paths):
    """
    Return {name: descriptor} of files ({name: path}), without those that cannot be opened.

    A short program may end while its libraries are read: what is open stays readable, and stays the
    same file.
    """
    found = {}
    for name, path in paths.items():
        try:
            found[name] = os.open(path, os.O_RDONLY)
        except OSError:
            pass
    return found


def read_library_facts(name, path, inside, container, mounts, host_mounts, image):
    """
    Return the facts (dict) of a library that a process has mapped.

    :param name: str, key of LIBRARIES; path: str, as the process sees it
    :param inside: str, path where we can read it; None if the process ended before it could be
        opened
    :param container: bool, the mount namespace of the process is not ours
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
    # The numbers in the names of these two are those of their interface.
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


def add_checksums(pid, known):
    """
    Add the sha256 of the libraries that have no build id to known (dict, from read_process_facts())
    of process pid.

    The wheels have none; then the contents say which build it is. To be called when there is time
    for it: 13 MB take as long as all the rest.
    """
    for library in known['libraries'].values():
        if library['build_id'] is None and library['sha256'] is None and library['problem'] is None:
            try:
                library['sha256'] = compute_sha256(
                    library['host_path'] or '/proc/%d/root%s' % (pid, library['path'])
                )
            except (OSError, ValueError):
                pass  # the process has ended


def read_environment(pid):
    """Return the environment (dict of str) with which the program of process pid was started."""
    pairs = (
        os.fsdecode(item).partition('=')
        for item in read_proc_file('/proc/%s/environ' % pid).split(b'\0')
        if item
    )
    return {name: value for name, _, value in pairs}


def read_program(pid):
    """Return (executable, command line) of process pid: str or None, list of str."""
    return read_proc_link('/proc/%d/exe' % pid), [
        os.fsdecode(item) for item in read_proc_file('/proc/%d/cmdline' % pid).split(b'\0')[:-1]
    ]


def read_process_facts(pid, libraries):
    """Return what is known (dict) about process pid, which has libraries ({name: path}) mapped."""
    environment = read_environment(pid)
    theirs, ours = read_proc_link('/proc/%d/ns/mnt' % pid), read_proc_link('/proc/self/ns/mnt')
    container = (
        theirs != ours
        if theirs
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
        found = {
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
        'spaces': {'user': read_proc_link('/proc/%d/ns/user' % pid), 'mnt': theirs},
        'variables': {
            name: value for name, value in sorted(environment.items()) if VARIABLES.match(name)
        },
        'libraries': found,
    }

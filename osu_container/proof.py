"""
Proof: which MPI and libfabric a rank really loaded, read from the running process, not from any setting.

As a script (see rank-proof, which starts it on the node of the rank):

    python3 proof.py PID DIR        writes DIR/rank-<SLURM_PROCID>.json about PID or the descendant that runs MPI

As a module: read_proofs() and broken_promises() for whoever judges a run. This is the beginning of the command
`osu-container proof`; it will grow from here (providers, network interfaces, GPU libraries).

How it looks, and why so:
* From outside, by /proc: LD_PRELOAD or LD_DEBUG in the process would change the very search order that is in question.
* The process is found by its libmpi: the container runtime forks, and a wrapper may, so the program is the process
  itself or a descendant of it.
* It looks every 30 ms (more seldom where a look takes long: at most a fifth of one core on a node with thousands of
  processes) and stops for good when looks agree and the process has run in between, or agree for a quarter of a
  second. Agreement alone is not enough: on a busy node the loader may wait between two libraries. The libraries are
  mapped before MPI_Init talks to the network, so a benchmark is normally not yet measuring when the sampler is gone.
* "host" means: the file is the same (device and inode) as one that is seen without the container. "image" means: it
  lies on the container's own root, or on a file system that the host has not mounted. Anything else is null.
* The release is read from the file that is mapped (_mpicontainer_versions.py); null where the file does not say it.

Python 3.6 and its standard library only: it runs on compute nodes with nothing installed.
"""
import errno
import json
import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), 'easyblocks', 'generic'))
from _mpicontainer_versions import LibraryVersion, read_library, sha256_of  # noqa: E402, the path above is needed first

#: Version of the layout of the files (docs/results-format.md)
FORMAT = 1

LOOK_EVERY = 0.03   # seconds between two looks
LOOK_AGAIN = 0.01   # seconds to the look that confirms: short programs end soon after MPI_Init
RAN = 0.001         # seconds on a core without mapping more: the loader maps the next library within microseconds
AGREED = 0.25       # seconds of looks that agree which are enough for a process that waits: for a file, or its peers
SETTLE = 2.0        # seconds that libfabric may come after libmpi; MPICH of kind ch3:nemesis never loads one
GONE = 1.0          # seconds without a sign of the process after which it has ended, see sample()
GIVE_UP = 60.0      # seconds after which nothing is expected any more: containers on a busy file system start slowly

#: What is looked for, by name: pattern of the file names. The C library of MPI only: libmpifort and Open MPI's
#: libmpi_mpifh hang on it. libucp is here because MPICH may hold two network layers: ch4:ucx is not libfabric.
LIBRARIES = {
    'libmpi': re.compile(r'libmpi(ch|_(abi|cray|gnu|amd|aocc|intel|nvidia)\w*)?\.so(\.|$)'),
    'libfabric': re.compile(r'libfabric\.so(\.|$)'),
    'libucp': re.compile(r'libucp\.so(\.|$)'),
    'libcxi': re.compile(r'libcxi\.so(\.|$)'),
    'libmpi_gtl': re.compile(r'libmpi_gtl_\w+\.so(\.|$)'),
    'libhsa-runtime64': re.compile(r'libhsa-runtime64\.so(\.|$)'),
}
#: Variables of the process that decide how MPI reaches the network
VARIABLES = re.compile(r'(FI_|MPIR_CVAR_|MPICH_|UCX_|PMI_|PALS_|CXI_|NCCL_|ROCR_|SLURM_(MPI_TYPE|NETWORK)$|'
                       r'LD_LIBRARY_PATH$|LD_PRELOAD$|MPI4PY_LIBMPI$)')


class ProofError(Exception):
    """Files of a run's ranks that are missing, damaged or contradict each other."""


# ---- the sampler -----------------------------------------------------------------------------------------------------

def _read(path):
    """Return the contents (bytes) of a file under /proc, b'' if the process ended or may not be looked at."""
    try:
        with open(path, 'rb') as handle:
            return handle.read()
    except (OSError, IOError):
        return b''


def _stat(pid):
    """Return (parent pid, start time in clock ticks) of a process; None if it has ended, is a zombie included."""
    # The command name, in brackets, may hold blanks and brackets: count from the last one (proc(5)).
    fields = _read('/proc/%s/stat' % pid).rpartition(b')')[2].split()
    if len(fields) < 20 or fields[0] in (b'Z', b'X'):
        return None
    return int(fields[1]), int(fields[19])


def process_tree(root):
    """Return the pids (list of int) of root and all its descendants, parents first."""
    if os.path.exists('/proc/%d/task/%d/children' % (root, root)):  # needs CONFIG_PROC_CHILDREN, cheap where it is
        def children(pid):
            found = []
            for task in _listdir('/proc/%d/task' % pid):
                found.extend(int(child) for child in _read('/proc/%d/task/%s/children' % (pid, task)).split())
            return found
    else:
        by_parent = {}
        for pid in _listdir('/proc'):
            if pid.isdigit():
                stat = _stat(pid)
                if stat:
                    by_parent.setdefault(stat[0], []).append(int(pid))

        def children(pid):
            return by_parent.get(pid, [])
    tree = [root]
    for pid in tree:
        tree.extend(children(pid))
    return tree


def _listdir(path):
    """Return the names in a folder under /proc, [] if it is gone."""
    try:
        return os.listdir(path)
    except OSError:
        return []


def mapped_libraries(pid):
    """Return {name of LIBRARIES: path as mapped (str)} of process pid."""
    found = {}
    for line in _read('/proc/%d/maps' % pid).splitlines():
        fields = line.split(None, 5)
        if len(fields) < 6 or not fields[5].startswith(b'/'):
            continue
        path = os.fsdecode(fields[5])
        for name, pattern in LIBRARIES.items():
            if name not in found and pattern.match(os.path.basename(path)):
                found[name] = path
    return found


def _mounts(pid):
    """Return the mounts of process pid: list of (device 'major:minor', root, mount point), in order of mounting."""
    mounts = []
    for line in os.fsdecode(_read('/proc/%s/mountinfo' % pid)).splitlines():
        fields = line.split(' ')
        if len(fields) > 4:
            root, point = [re.sub(r'\\(\d{3})', lambda m: chr(int(m.group(1), 8)), field) for field in fields[3:5]]
            mounts.append((fields[2], root, point))
    return mounts


def _below(path, folder):
    """Return path relative to folder ('' for folder itself), None if it does not lie in folder."""
    folder = folder.rstrip('/')
    if path == folder or not folder:
        return path[len(folder):].lstrip('/')
    return path[len(folder) + 1:] if path.startswith(folder + '/') else None


def _covering(path, mounts):
    """Return the mount (device, root, mount point) of path: the longest mount point, the latest of equals."""
    best = None
    for mount in mounts:
        if _below(path, mount[2]) is not None and (best is None or len(mount[2]) >= len(best[2])):
            best = mount
    return best


def _same_file(one, other):
    """Return True if both paths lead to the same file (device and inode)."""
    try:
        return os.path.samestat(os.stat(one), os.stat(other))
    except OSError:
        return False


def where_from(path, inside, mounts, host_mounts, image=None):
    """
    Return (where, host path): ('host', path outside), ('image', None), or (None, None) when it cannot be told.

    :param path: str, path as the process sees it
    :param inside: str, the same file through /proc/PID/root
    :param mounts, host_mounts: as _mounts() gives them, of the process and of the host
    :param image: str or None, the image as the runtime names it (a SIF or a folder)
    """
    mount = _covering(path, mounts)
    if mount is None:
        return None, None
    device, root, point = mount
    if point == '/':  # the container's own root; an image that is an unpacked folder is the host's file system too
        return 'image', None
    candidates = [path]
    on_device = os.path.join(root, _below(path, point)).rstrip('/')
    for host_device, host_root, host_point in host_mounts:
        below = _below(on_device, host_root)
        if host_device == device and below is not None:
            candidates.append(os.path.join(host_point, below))
    for candidate in sorted(candidates, key=len):  # a file system may be mounted at several places: the plainest path
        if _same_file(candidate, inside):
            in_image = image and os.path.isdir(image) and _below(candidate, os.path.realpath(image)) is not None
            return ('image', None) if in_image else ('host', candidate)
    if device not in set(found[0] for found in host_mounts):
        return 'image', None
    return None, None


def library_facts(path, pid, container, mounts, host_mounts, image):
    """Return the facts (dict) of a mapped library of process pid; container: bool, its mount namespace is not ours."""
    inside = '/proc/%d/root%s' % (pid, path) if container else path
    version, build_id, digest, problem = LibraryVersion(None, None), None, None, None
    try:
        version, build_id = read_library(inside)
        if build_id is None:  # the wheels have none: then the contents say which build it is
            digest = sha256_of(inside)
    except (OSError, ValueError) as err:
        problem = str(err)
    where, host_path = where_from(path, inside, mounts, host_mounts, image) if container else ('host', path)
    return {'path': path, 'where': where, 'host_path': host_path, 'family': version.family, 'release': version.release,
            'build_id': build_id, 'sha256': digest, 'problem': problem}


def _environ(pid):
    """Return the environment (dict of str) with which the program of process pid was started."""
    pairs = (os.fsdecode(item).partition('=') for item in _read('/proc/%d/environ' % pid).split(b'\0') if item)
    return {name: value for name, _, value in pairs}


def _program(pid):
    """Return (executable, command line) of process pid: str or None, list of str."""
    try:
        executable = os.readlink('/proc/%d/exe' % pid)
    except OSError:
        executable = None
    return executable, [os.fsdecode(item) for item in _read('/proc/%d/cmdline' % pid).split(b'\0')[:-1]]


def process_facts(pid, libraries):
    """Return what is known (dict) about process pid, which has libraries ({name: path}) mapped."""
    environment = _environ(pid)
    try:
        container = os.readlink('/proc/%d/ns/mnt' % pid) != os.readlink('/proc/self/ns/mnt')
    except OSError:
        container = 'APPTAINER_CONTAINER' in environment or 'SINGULARITY_CONTAINER' in environment
    image = environment.get('APPTAINER_CONTAINER') or environment.get('SINGULARITY_CONTAINER')
    mounts, host_mounts = _mounts(pid), _mounts('self')
    executable, command = _program(pid)
    return {
        'pid': pid, 'executable': executable, 'command': command, 'container': container,
        'image': image if container else None,
        'variables': {name: value for name, value in sorted(environment.items()) if VARIABLES.match(name)},
        'libraries': {name: library_facts(path, pid, container, mounts, host_mounts, image)
                      for name, path in sorted(libraries.items())},
    }


def _look(root):
    """Return (pid, executable, {name: path}) of the first process below root with a libmpi mapped, None if none has."""
    for pid in process_tree(root):
        libraries = mapped_libraries(pid)
        if 'libmpi' in libraries:
            return pid, _program(pid)[0], libraries
    return None


def _ran(pid):
    """Return the seconds (float) that process pid has run on a core, None where the kernel does not count them."""
    fields = _read('/proc/%s/schedstat' % pid).split()
    return int(fields[0]) / 1e9 if fields else None


def sample(root, give_up=GIVE_UP):
    """
    Watch process root (int, pid) until it or a descendant has MPI loaded.

    :param give_up: float, seconds
    :return: (facts of process_facts() or None, reason why there are none or None)
    """
    begin = None
    start = seen = time.monotonic()
    found, since = None, None
    facts = agreed = ran = None
    while True:
        before = time.monotonic()
        previous, found = found, _look(root)
        now = time.monotonic()
        if found and since is None:
            since = now
        # Looks that agree: the loader is done with mapping, and a shell that only starts the program is not taken for
        # it (a preloaded library is in that shell too, but exec soon changes the executable).
        if found != previous:
            facts = facts if found is None else None
        elif found and ('libfabric' in found[2] or now - since > SETTLE):
            if facts is None:
                facts, agreed, ran = process_facts(found[0], found[2]), now, _ran(found[0])
            elif now - agreed > AGREED or (ran is not None and (_ran(found[0]) or 0) - ran > RAN):
                return facts, None
        # Once unseen is not ended: when a thread of a program in Go, as Apptainer is, executes another program, the
        # process is a zombie for a moment (de_thread() in fs/exec.c). It keeps its start time; another start time is
        # another process that was given the pid.
        stat = _stat(root)
        begin = begin or (stat and stat[1])
        if stat and stat[1] == begin:
            seen = now
        elif facts:
            return facts, None  # it has ended before it could be looked at once more
        elif now - seen > GONE:
            return None, "the program ended before it had loaded an MPI library, or before it could be looked at twice"
        if now - start > give_up:
            return None, "no process of this rank had an MPI library loaded after %d s" % give_up
        time.sleep(max(LOOK_AGAIN if found else LOOK_EVERY, 4 * (now - before)))


def write_json(path, content):
    """Write content as JSON to path: complete or not at all, whoever reads it meanwhile. Raises OSError."""
    part = '%s.part-%d' % (path, os.getpid())
    with open(part, 'w') as handle:
        json.dump(content, handle, indent=1, sort_keys=True)
        handle.write('\n')
    os.replace(part, path)


def main(arguments):
    """Watch the process arguments[0] and write its file into the folder arguments[1]."""
    pid, directory = int(arguments[0]), arguments[1]
    rank = int(os.environ.get('SLURM_PROCID', '0'))
    content = {'format': FORMAT, 'rank': rank, 'node': os.environ.get('SLURMD_NODENAME') or socket.gethostname(),
               'started_pid': pid, 'time': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}
    start = time.monotonic()
    facts, reason = sample(pid)
    content.update(facts or {})
    content.update(found=facts is not None, reason=reason, sampler_seconds=round(time.monotonic() - start, 3))
    try:
        os.makedirs(directory)
    except OSError as err:
        if err.errno != errno.EEXIST:
            raise
    write_json(os.path.join(directory, 'rank-%d.json' % rank), content)


# ---- reading and judging ---------------------------------------------------------------------------------------------

def read_proofs(directory, ranks):
    """
    Return the proofs (list of dict, by rank) that the ranks of a run left in the folder directory.

    :param ranks: int, how many ranks the run had
    Raises ProofError if the file of a rank is missing, damaged, or holds no facts.
    """
    proofs = []
    for rank in range(ranks):
        path = os.path.join(str(directory), 'rank-%d.json' % rank)
        try:
            with open(path) as handle:
                proof = json.load(handle)
        except OSError as err:
            raise ProofError("rank %d left no proof of what it loaded: %s: %s. Is python3 on the nodes, and the folder "
                             "visible from them?" % (rank, path, err.strerror))
        except ValueError as err:
            raise ProofError("%s is damaged: %s" % (path, err))
        if proof.get('format') != FORMAT:
            raise ProofError("%s has format %s, wanted %s" % (path, proof.get('format'), FORMAT))
        if not proof['found']:
            raise ProofError("%s: %s" % (path, proof['reason']))
        proofs.append(proof)
    return proofs


def describe(proof, name):
    """Return one library of a proof as text, e.g. 'MPICH 4.2.3 (image)', 'libfabric of unknown release (host)'."""
    library = proof['libraries'].get(name)
    if library is None:
        return 'no %s' % name
    family = library['family'] or name
    release = ' %s' % library['release'] if library['release'] else ' of unknown release'
    return '%s%s (%s)' % (family, release, library['where'] or 'of unknown origin')


def _identity(proof):
    """Return what must be equal on all ranks of a run: for each library which build it is and where it came from."""
    return {name: (library['build_id'] or library['sha256'] or library['path'], library['where'])
            for name, library in proof['libraries'].items()}


def merged(proofs):
    """
    Return what the ranks of a run loaded, ranks that are alike together: list of dict, by the lowest rank.

    Each has ranks (list of int), nodes (list of str), container, image, executable, libraries as in a proof, variables
    that are the same on all of these ranks, and differing (list of str): names of variables that are not.
    """
    groups = {}
    for proof in proofs:
        key = json.dumps([_identity(proof), proof['container'], proof['image'], proof['executable']], sort_keys=True)
        groups.setdefault(key, []).append(proof)
    found = []
    for alike in groups.values():
        first = alike[0]
        names = set().union(*(proof['variables'] for proof in alike))
        same = {name for name in names if len(set(proof['variables'].get(name) for proof in alike)) == 1}
        found.append({
            'ranks': [proof['rank'] for proof in alike], 'nodes': sorted(set(proof['node'] for proof in alike)),
            'container': first['container'], 'image': first['image'], 'executable': first['executable'],
            'libraries': first['libraries'], 'differing': sorted(names - same),
            'variables': {name: first['variables'][name] for name in sorted(same)}})
    return found


def broken_promises(proofs, comes_from, container):
    """
    Return what contradicts the promise of an approach, as a list of str; [] if all ranks loaded what it promises.

    :param proofs: list of dict, from read_proofs()
    :param comes_from: {'libmpi': 'host' | 'image', 'libfabric': ...}: the approach's promise
    :param container: bool, the approach runs in a container
    """
    problems = []
    for proof in proofs:
        who = "rank %s on %s" % (proof['rank'], proof['node'])
        if proof['container'] != container:
            problems.append("%s ran %s a container" % (who, 'in' if proof['container'] else 'outside of'))
        for name, promised in sorted(comes_from.items()):
            library = proof['libraries'].get(name)
            if library is None:
                problems.append("%s loaded no %s; promised: that of the %s" % (who, name, promised))
            elif library['where'] != promised:
                problems.append("%s loaded %s from %s (%s); promised: that of the %s"
                                % (who, name, library['where'] or 'an unknown place', library['path'], promised))
    for proof in proofs[1:]:
        if _identity(proof) != _identity(proofs[0]):
            problems.append("ranks disagree: rank %s has %s, rank %s has %s" % (
                proofs[0]['rank'], ', '.join(describe(proofs[0], name) for name in sorted(proofs[0]['libraries'])),
                proof['rank'], ', '.join(describe(proof, name) for name in sorted(proof['libraries']))))
    return problems


if __name__ == '__main__':
    main(sys.argv[1:])

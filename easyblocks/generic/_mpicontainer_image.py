"""
Facts of an image (SIF): labels, MPI library, programs, libraries on its default path. Nothing in the image is run.

The SIF header is read directly (format: github.com/apptainer/sif, pkg/sif: global header of 128 bytes, then descriptors
of 585 bytes, little endian); files come out of its squashfs with unsquashfs (package squashfs-tools, which
every SingularityCE and Apptainer needs itself), so that an image of many gigabytes is never copied.
"""
import json
import os
import posixpath
import re
import shutil
import struct
import subprocess
import tempfile

from ._mpicontainer_elf import ElfError, elf_facts

SIF_MAGIC = b'SIF_MAGIC'
HEADER = struct.Struct('<32s10s3s3s16sqqqqqqqq')
DESCRIPTOR = struct.Struct('<i?IIIqqqqqqq128s384s')
DATA_PARTITION = 0x4004
DATA_GENERIC_JSON = 0x4006
#: extra field of a partition: file system type, partition type; 1 = squashfs, 2 = primary system partition
PARTITION = struct.Struct('<ii')

#: MPI families by the soname of the C library, and what else that soname says. MPICH ABI: mpich.org, "MPICH ABI
#: Compatibility Initiative": MPICH, Cray MPICH, Intel MPI and MVAPICH share libmpi.so.12.
MPI_FAMILIES = {
    'libmpi.so.12': 'MPICH ABI',
    'libmpi.so.40': 'Open MPI',
    'libmpi.so.20': 'Open MPI',
    'libmpich.so.12': 'MPICH under Debian\'s own soname',
}


class ImageError(Exception):
    """An image that cannot be used, with the reason and what to do in the text."""


def read_sif(path):
    """
    Return (offset, labels): offset (int, bytes) of the primary squashfs and the labels (dict str -> str) of a SIF.

    Raises ImageError if the file is missing, is no SIF, is truncated, or holds no squashfs.
    """
    try:
        size = os.path.getsize(path)
        handle = open(path, 'rb')
    except OSError as err:
        raise ImageError("cannot read the image %s: %s" % (path, err.strerror))
    with handle:
        header = handle.read(HEADER.size)
        if len(header) < HEADER.size or not header[32:].startswith(SIF_MAGIC):
            raise ImageError("%s is not a SIF: it has no SIF header (a SIF is made by 'apptainer build')" % path)
        fields = HEADER.unpack(header)
        total, table = fields[8], fields[9]
        handle.seek(table)
        descriptors = []
        for _ in range(total):
            raw = handle.read(DESCRIPTOR.size)
            if len(raw) < DESCRIPTOR.size:
                raise ImageError("%s is truncated: its table of contents ends early. Copy or make it again" % path)
            item = DESCRIPTOR.unpack(raw)
            if item[1]:
                descriptors.append((item[0], item[5], item[6], item[13]))
        wanted = max([offset + length for _, offset, length, _ in descriptors] or [0])
        if size < wanted:
            raise ImageError("%s is truncated: it has %d bytes, its header says %d. Copy or make it again"
                             % (path, size, wanted))
        squashfs, labels = None, {}
        for kind, offset, length, extra in descriptors:
            if kind == DATA_PARTITION and PARTITION.unpack(extra[:PARTITION.size]) == (1, 2):
                squashfs = offset
            elif kind == DATA_GENERIC_JSON:
                handle.seek(offset)
                labels.update(_labels(handle.read(length)))
    if squashfs is None:
        raise ImageError("%s holds no squashfs system partition; encrypted and ext3 images cannot be read" % path)
    return squashfs, labels


def _labels(raw):
    """Return the labels (dict) in the JSON that `apptainer build` stores in a SIF, {} for other JSON."""
    try:
        return json.loads(raw.decode('utf-8', 'replace'))['data']['attributes']['labels'] or {}
    except (KeyError, TypeError, ValueError):
        return {}


class Squashfs(object):
    """The file system of an image: its list of files, symbolic links resolved as inside the image."""

    def __init__(self, path, offset):
        """List the squashfs at offset (bytes) in the file path. Raises ImageError if unsquashfs cannot."""
        self.path, self.offset = path, offset
        self.entries = {}
        for line in self._unsquashfs(['-lln']).splitlines():
            # drwxr-xr-x 0/0    1234 2026-11-21 03:37 squashfs-root/usr/bin -> target
            found = re.match(r'([dl\-bcps])([rwxsStT\-]{9}) \S+\s+.*? \d{2}:\d{2} squashfs-root(/.*)$', line)
            if found:
                name, _, target = found.group(3).partition(' -> ')
                self.entries[name] = (found.group(1), found.group(2), target)

    def _unsquashfs(self, options, files=()):
        """Return the output (str) of unsquashfs with options (list of str) for files (str, without leading /)."""
        command = ['unsquashfs', '-o', str(self.offset)] + options + [self.path] + list(files)
        try:
            proc = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                    env=dict(os.environ, LC_ALL='C'), errors='replace')
        except OSError:
            raise ImageError("unsquashfs is not on PATH; it is needed to look into an image: install squashfs-tools")
        out, errors = proc.communicate()
        if proc.returncode != 0:
            raise ImageError("cannot read the squashfs in %s: %s" % (self.path, errors.strip() or 'unsquashfs failed'))
        return out

    def resolve(self, path):
        """Return the real path (str) in the image of path after its symbolic links, or None if there is none."""
        todo, done, links = path.split('/'), '', 0
        while todo:
            part = todo.pop(0)
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

    def programs(self, prefix):
        """Return {name: folder} of executables whose name starts with prefix, links to executables included."""
        found = {}
        for path in sorted(self.entries):
            name = posixpath.basename(path)
            if not re.match(re.escape(prefix) + r'[A-Za-z0-9_]+$', name):
                continue
            entry = self.entries.get(self.resolve(path) or '')
            if entry and entry[0] == '-' and entry[1][2] in 'xs':
                found.setdefault(name, posixpath.dirname(path))
        return found

    def extract(self, path, folder):
        """Copy the file path (str, in the image) into folder and return the path (str) of the copy."""
        real = self.resolve(path)
        if real is None:
            raise ImageError("%s has no %s" % (self.path, path))
        target = os.path.join(folder, real.strip('/').replace('/', '%'))
        if not os.path.exists(target):
            scratch = os.path.join(folder, 'scratch')
            self._unsquashfs(['-n', '-no-xattrs', '-f', '-d', scratch], [real.lstrip('/')])
            shutil.move(os.path.join(scratch, real.lstrip('/')), target)
            shutil.rmtree(scratch)
        return target


#: Files that set the environment of an image, in the order in which the runtime reads them.
ENVIRONMENT_FILES = re.compile(r'/\.singularity\.d/env/(?!99-runtimevars)[^/]+\.sh$')

#: RCCL opens librccl-net.so or, in older releases, libnccl-net.so: the plugin aws-ofi-nccl, or its fork aws-ofi-rccl.
RCCL_PLUGIN = re.compile(r'/lib(rccl|nccl)-net(-ofi)?\.so$')


def parse_environment(text):
    """
    Return {name: value} of the variables that an environment script of an image (text) sets, in plain exports.

    What `apptainer build` writes for a Dockerfile's ENV, `export X="${X:-"value"}"`, gives value.
    """
    found = {}
    for name, value in re.findall(r'^\s*export\s+([A-Za-z_]\w*)=(.*?)\s*$', text, re.M):
        default = re.match(r'"?\$\{%s:-"?(.*?)"?\}"?$' % name, value)
        found[name] = default.group(1) if default else value.strip('"\'')
    return found


def default_libraries(squashfs, folder):
    """
    Return {soname: path} of the libraries that the image's ld.so finds by default, from its /etc/ld.so.cache.

    The cache is read with the host's `ldconfig -p -C`. An image without one (musl, or a stripped image) gives the
    libraries of the folders that glibc searches without a cache.
    """
    found = {}
    if squashfs.resolve('/etc/ld.so.cache'):
        cache = squashfs.extract('/etc/ld.so.cache', folder)
        ldconfig = shutil.which('ldconfig') or '/sbin/ldconfig'
        proc = subprocess.Popen([ldconfig, '-p', '-C', cache], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                universal_newlines=True)
        for soname, path in re.findall(r'^\s+(\S+) \(.*\) => (\S+)$', proc.communicate()[0], re.M):
            if squashfs.resolve(path):
                found.setdefault(soname, path)
    for path in sorted(squashfs.entries):
        if re.match(r'(/usr)?/lib(64)?(/[a-z0-9_]+-linux-gnu)?/[^/]+\.so(\.[0-9.]+)?$', path):
            if squashfs.resolve(path):
                found.setdefault(posixpath.basename(path), path)
    return found


class Image(object):
    """
    One image, opened for reading its facts. Use it in a with statement: extracted files lie in a temporary folder.

    labels: dict of str; libraries: {soname: path in the image}; programs: {name: folder in the image}.
    """

    def __init__(self, path, program_prefix):
        """Open the SIF path. Raises ImageError if it cannot be read."""
        self.path = path
        offset, self.labels = read_sif(path)
        self.squashfs = Squashfs(path, offset)
        self.folder = tempfile.mkdtemp(prefix='mpicontainer-')
        self.libraries = default_libraries(self.squashfs, self.folder)
        self.programs = self.squashfs.programs(program_prefix)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        shutil.rmtree(self.folder, ignore_errors=True)

    def local_copy(self, path):
        """Return the path (str) of a copy, on this machine, of the file path of the image."""
        return self.squashfs.extract(path, self.folder)

    def elf(self, soname):
        """
        Return the ElfFacts of the library soname on the image's default path, or None if it has none.

        Their path is that in the image, with image: in front.
        """
        path = self.libraries.get(soname)
        if path is None:
            return None
        try:
            return elf_facts(self.local_copy(path))._replace(path='image:' + path)
        except ElfError as err:
            raise ImageError("%s in %s: %s" % (path, self.path, err))

    def environment(self):
        """Return {name: value} of the variables that the image sets for its programs, as its scripts say."""
        found = {}
        for path in sorted(self.squashfs.entries):
            if ENVIRONMENT_FILES.match(path):
                with open(self.local_copy(path), errors='replace') as script:
                    found.update(parse_environment(script.read()))
        return found

    def rccl_plugin(self):
        """Return the path (str) in the image of the plugin by which RCCL uses libfabric, or None."""
        paths = [path for path in self.squashfs.entries if RCCL_PLUGIN.search(path) and self.squashfs.resolve(path)]
        # librccl-net.so before the other names: it is what RCCL itself looks for
        return min(paths, key=lambda path: ('librccl-net.so' not in path, path)) if paths else None

    def folder_has(self, folder, sonames):
        """Return whether the folder (str) of the image holds a file of one of the names (set of str)."""
        return any((folder + '/' + soname) in self.squashfs.entries for soname in sonames)

    def libraries_beside(self, folder):
        """Return the names (list of str) of libraries in lib and lib64 beside the folder (str) of the image."""
        beside = tuple(posixpath.dirname(folder) + '/' + name + '/' for name in ('lib', 'lib64'))
        return sorted(posixpath.basename(path) for path in self.squashfs.entries
                      if path.startswith(beside) and '.so' in posixpath.basename(path)
                      and posixpath.dirname(path) + '/' in beside)

    def mpi(self):
        """
        Return (family, soname, ElfFacts) of the image's MPI; MPICH ABI wins where several are installed.

        Raises ImageError if the image has no MPI library on its default library path.
        """
        for soname in sorted(MPI_FAMILIES, key=lambda name: MPI_FAMILIES[name] != 'MPICH ABI'):
            facts = self.elf(soname)
            if facts:
                return MPI_FAMILIES[soname], soname, facts
        raise ImageError("%s holds no MPI library on its default library path: looked for %s. An image for this "
                         "module needs MPICH (libmpi.so.12) known to its ldconfig"
                         % (self.path, ', '.join(sorted(MPI_FAMILIES))))

"""
Where the loader of a system looks by itself: of an image or a host, read from the loader's own
file. Nothing is run.

glibc has its default folders, the path of its cache and the meaning of $LIB compiled in, and each
distribution chooses them (Debian /lib/x86_64-linux-gnu, Fedora and SUSE /lib64, Nix its own store).
They stand as texts in the file that a program names as its interpreter; `ld.so --list-diagnostics`
(glibc 2.33) prints the same. Format of the cache: glibc, sysdeps/generic/dl-cache.h. musl:
ldso/dynlink.c.

Works on Python 3.6 with the standard library only.
"""

import os
import platform
import posixpath
import re
import struct

#: Interpreters by the ABI of each processor, and that of musl
INTERPRETERS = [
    '/lib64/ld-linux-x86-64.so.2',
    '/lib/ld-linux-aarch64.so.1',
    '/lib64/ld64.so.2',
    '/lib/ld-linux-riscv64-lp64d.so.1',
    '/lib/ld64.so.1',
    '/lib/ld-linux.so.2',
    '/lib/ld-musl-x86_64.so.1',
    '/lib/ld-musl-aarch64.so.1',
    '/lib/ld-musl-powerpc64le.so.1',
    '/lib/ld-musl-riscv64.so.1',
]
#: A text of folders in a glibc's loader: each ends with / and 0
_FOLDERS = re.compile(rb'(?<=\0)(?:/[^\0/]+(?:/[^\0/]+){0,20}/\0){1,20}')
_CACHE_PATH = re.compile(rb'\0(/[^\0]{0,200}/ld\.so\.cache)\0')

CACHE_MAGIC, OLD_MAGIC = b'glibc-ld.so.cache1.1', b'ld.so-1.7.0\0'
#: machine as in ElfFacts -> what its entries in a cache are marked with
#: (sysdeps/generic/ldconfig.h)
_FLAGS = {
    'Advanced Micro Devices X86-64': 0x0303,
    'AArch64': 0x0A03,
    'PowerPC64': 0x0503,
    'IBM S/390': 0x0403,
    'RISC-V': 0x1003,
    'Intel 80386': 0x0003,
    'LoongArch': 0x1203,
    'Advanced Micro Devices X86-64, 32-bit': 0x0803,
}
#: in the field hwcap of an entry: the lower half is the number of a folder of glibc-hwcaps
_NUMBERED = 1 << 62

#: Folder of glibc-hwcaps -> flags of /proc/cpuinfo that a processor needs for it (x86-64 psABI,
#: micro-architecture levels). The higher come first.
_LEVELS = [
    ('x86-64-v4', 'avx512f avx512bw avx512cd avx512dq avx512vl'),
    ('x86-64-v3', 'avx avx2 bmi1 bmi2 f16c fma abm movbe xsave'),
    ('x86-64-v2', 'cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3'),
]


def read_processor():
    """
    Return (machine as uname -m, flags (set of str)) of the processor here, as /proc/cpuinfo has
    it.
    """
    try:
        with open('/proc/cpuinfo', errors='replace') as handle:
            text = handle.read(1 << 16)
    except OSError:
        text = ''
    flags = re.search(r'^flags\s*:(.*)$', text, re.M)
    return platform.machine(), set(flags.group(1).split()) if flags else set()


def list_hwcaps_folders(loader, cpu):
    """
    Return the folders (list of str) of glibc-hwcaps (glibc 2.33) that are looked into below each
    one of a path.

    :param loader: bytes, content of its loader; here: as read_processor() has it
    The older ones (tls, haswell), which went with 2.37 and which no distribution's MPI used, are
    not looked into.
    """
    machine, flags = cpu
    found = []
    if machine == 'x86_64' and b'x86-64-v' in loader:
        for name, needed in reversed(_LEVELS):  # each level needs those below it
            if not set(needed.split()) <= flags:
                break
            found.insert(0, 'glibc-hwcaps/' + name)
    return found


def read_cache(data, machine, levels=()):
    """
    Return {name: path} of the entries of an ld.so.cache (data: bytes) for machine (str, as in
    ElfFacts).

    levels: list of str, folders of glibc-hwcaps for this processor, the first first: their copies
    come before others. {} for a damaged cache, which ld.so does not use either.
    """
    start = 0
    try:
        if data.startswith(OLD_MAGIC):  # the old form in front of the new one
            (count,) = struct.unpack_from('<I', data, 12)
            start = (16 + 12 * count + 7) // 8 * 8
        if data[start : start + len(CACHE_MAGIC)] != CACHE_MAGIC:
            return {}
        order = '>' if data[start + 28] & 3 == 3 else '<'
        count, _, _, extension = struct.unpack_from(order + 'IIB3xI', data, start + 20)
        if start + 48 + 24 * count > len(data):
            return {}
        names = _read_cache_levels(data, order, start, extension) if extension else []
        wanted, found, rank = _FLAGS.get(machine), {}, {}
        entries = data[start + 48 : start + 48 + 24 * count]
        for flags, key, value, _, hwcap in struct.iter_unpack(order + 'iIIIQ', entries):
            if flags != wanted:
                continue
            level = len(levels)
            if hwcap & _NUMBERED:
                number = hwcap & 0xFFFFFFFF
                if number >= len(names) or names[number] not in levels:
                    continue
                level = levels.index(names[number])
            elif hwcap:
                continue
            name, path = _read_string(data, start + key), _read_string(data, start + value)
            if name not in found or level < rank[name]:
                found[name], rank[name] = path, level
        return found
    except (struct.error, IndexError, ValueError):
        return {}


def _read_string(data, place):
    """
    Return the text (str) at a place of data (bytes). Raises ValueError if it does not end, or is
    no path.
    """
    end = data.find(b'\0', place, place + 4097)
    if end < 0 or place >= len(data):
        raise ValueError("damaged cache")
    return os.fsdecode(data[place:end])


def _read_cache_levels(data, order, start, extension):
    """Return the names (list of str) of glibc-hwcaps that a cache has; see read_cache()."""
    place = extension  # from the begin of the file; names are counted from that of the new form
    magic, sections = struct.unpack_from(order + 'II', data, place)
    if magic != 0xEAA42174:
        return []
    for number in range(min(sections, 64)):
        tag, _, offset, size = struct.unpack_from(order + 'IIII', data, place + 8 + 16 * number)
        if tag == 1:
            return [
                _read_string(data, start + item)
                for (item,) in struct.iter_unpack(
                    order + 'I', data[offset : offset + size // 4 * 4]
                )
            ]
    return []


class LoaderConfig(object):
    """
    What one loader looks for by itself.

    musl: bool, it is the one of musl, else of glibc; interpreter: its path (str) or None; folders:
    list of str; lib, platform: what $LIB and $PLATFORM mean (str); subfolders: list of str, looked
    into below each folder; machine: str, as in ElfFacts, or None.
    """

    def __init__(
        self,
        interpreter,
        folders,
        lib='lib64',
        musl=False,
        subfolders=(),
        find_cached=None,
        cpu=None,
        machine=None,
    ):
        """
        cached: function (name, machine) -> path or None, of the cache; here: as read_processor()
        has it; others: see above.
        """
        self.interpreter, self.folders, self.lib, self.musl = interpreter, list(folders), lib, musl
        self.subfolders, self.machine = list(subfolders), machine
        self.platform = (cpu or read_processor())[0]
        self._cached, self._from_cache = find_cached or (lambda name, machine: None), {}

    def list_candidates(self, name, machine, nodeflib=False):
        """
        Return the paths (list of str) where a library name (str) is looked for, the first first.

        machine: str, for which it is to be; None for that of the loader.

        nodeflib: bool, not in the default folders, as whoever needs it has asked.
        """
        machine = machine or self.machine
        found, cached = [], self._cached(name, machine)
        self._from_cache[name, machine] = cached
        if cached and not (nodeflib and posixpath.dirname(cached) in self.folders):
            found.append(cached)
        return (
            found
            if nodeflib
            else found
            + [
                path
                for folder in self.folders
                for path in self.list_folder_candidates(folder, name)
            ]
        )

    def is_cached(self, name, path):
        """
        Return whether the path (str) of a library name (str) is one that list_candidates() has
        from the cache: it fits.
        """
        return any(path == found for (known, _), found in self._from_cache.items() if known == name)

    def list_folder_candidates(self, folder, name):
        """
        Return the paths (list of str) of name (str) in folder (str), those in its subfolders
        first.
        """
        folder = folder.rstrip('/') + '/'
        return [folder + sub + '/' + name for sub in self.subfolders] + [folder + name]


def find_default_folders(loader, fallback):
    """
    Return the folders (list of str) that are compiled into a glibc's loader (bytes); fallback
    where none are.
    """
    found = [
        [os.fsdecode(part).rstrip('/') for part in text.split(b'\0') if part]
        for text in _FOLDERS.findall(loader)
    ]
    # a linker may keep the end of a list once more, for another one
    found = [names for names in found if all('/lib' in name for name in names)]
    return max(found, key=len) if found else list(fallback)


def resolve_lib_variable(folders):
    """
    Return what $LIB means (str) to a loader with these default folders (list of str): the end of
    the first one.
    """
    return 'lib' + folders[0].rpartition('/lib')[2] if folders and '/lib' in folders[0] else 'lib64'


def read_loader_config(interpreter, machine, exists, content, folder_names, cpu=None):
    """
    Return the System of the loader interpreter (path or None), which is for machine (str), of an
    image or a host.

    :param exists, content: functions path -> bool and path -> bytes
    :param folder_names: function that returns the last parts (set of str) of the paths of all
        folders there, or None where they are not known
    :param here: as read_processor() has it
    """
    cpu = cpu or read_processor()
    musl = re.match(r'ld-musl-(.+)\.so\.1$', posixpath.basename(interpreter or ''))
    if musl:
        prefix = posixpath.dirname(posixpath.dirname(interpreter)).rstrip('/')
        path, folders = (
            '%s/etc/ld-musl-%s.path' % (prefix, musl.group(1)),
            ['/lib', '/usr/local/lib', '/usr/lib'],
        )
        if exists(path):
            text = os.fsdecode(content(path))
            folders = [part for part in re.split('[:\n]', text) if part.startswith('/')]
        return LoaderConfig(interpreter, folders, musl=True, cpu=cpu, machine=machine)
    loader = content(interpreter) if interpreter and exists(interpreter) else b''
    usual = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
    folders = find_default_folders(loader, usual)
    below = list_hwcaps_folders(loader, cpu)
    names = folder_names() if below else None
    if names is not None:
        below = [name for name in below if set(name.split('/')) <= names]
    path = _CACHE_PATH.search(loader)
    path = os.fsdecode(path.group(1)) if path else '/etc/ld.so.cache'
    known = {}

    def cached(name, machine):
        """See System."""
        if machine not in known:
            levels = [sub[len('glibc-hwcaps/') :] for sub in list_hwcaps_folders(loader, cpu)]
            known[machine] = read_cache(content(path), machine, levels) if exists(path) else {}
        return known[machine].get(name)

    return LoaderConfig(
        interpreter,
        folders,
        resolve_lib_variable(folders),
        subfolders=below,
        find_cached=cached,
        cpu=cpu,
        machine=machine,
    )

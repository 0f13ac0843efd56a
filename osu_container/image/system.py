"""
Read from the file of a loader (ld.so) in which folders the loader searches by default.

Each distribution compiles three values into the loader of glibc: the default folders, the path of
the cache and the value of $LIB. Debian uses the default folder /lib/x86_64-linux-gnu, Fedora and
SUSE use /lib64, Nix uses the folders of the Nix store. The values are strings in the loader's file;
the option `--list-diagnostics` of the loader (since glibc 2.33) prints the same values.

Sources: glibc, sysdeps/generic/dl-cache.h, for the format of the cache; musl, ldso/dynlink.c.
"""

import os
import platform
import posixpath
import re
import struct
from typing import (
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

#: Usual paths of a loader: first glibc's loader for each processor, then musl's loaders
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
#: Pattern for a list of folders in glibc's loader. Each folder ends with / and a NUL byte
_FOLDERS = re.compile(rb'(?<=\0)(?:/[^\0/]+(?:/[^\0/]+){0,20}/\0){1,20}')
_CACHE_PATH = re.compile(rb'\0(/[^\0]{0,200}/ld\.so\.cache)\0')

CACHE_MAGIC, OLD_MAGIC = b'glibc-ld.so.cache1.1', b'ld.so-1.7.0\0'
#: ElfFacts.machine -> flags of an entry in ld.so.cache for this processor
#: (glibc, sysdeps/generic/ldconfig.h)
_FLAGS = {
    'Advanced Micro Devices X86-64': 0x0303,
    'AArch64': 0x0A03,
    'PowerPC64': 0x0503,
    'RISC-V': 0x1003,
    'Intel 80386': 0x0003,
    'Advanced Micro Devices X86-64, 32-bit': 0x0803,
}
#: If this bit is set in the field hwcap of an entry, the lower 32 bits of the field are the number
#: of a folder of glibc-hwcaps
_NUMBERED = 1 << 62

#: (folder of glibc-hwcaps, flags in /proc/cpuinfo that a processor must have to use this folder).
#: The highest level comes first. Source: x86-64 psABI, micro-architecture levels
_LEVELS = [
    ('x86-64-v4', 'avx512f avx512bw avx512cd avx512dq avx512vl'),
    ('x86-64-v3', 'avx avx2 bmi1 bmi2 f16c fma abm movbe xsave'),
    ('x86-64-v2', 'cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3'),
]


def read_processor() -> Tuple[str, Set[str]]:
    """
    Return (machine, flags) of this computer's processor.

    machine: the name that `uname -m` prints. flags: the flags in /proc/cpuinfo.
    """
    try:
        with open('/proc/cpuinfo', errors='replace') as handle:
            text = handle.read(1 << 16)
    except OSError:
        text = ''
    flags = re.search(r'^flags\s*:(.*)$', text, re.M)
    return platform.machine(), set(flags.group(1).split()) if flags else set()


def list_hwcaps_folders(loader: bytes, cpu: Tuple[str, Set[str]]) -> List[str]:
    """
    Return the glibc-hwcaps subfolders that a loader searches in each library folder.

    loader: content of the loader's file. cpu: result of read_processor(). Loaders search
    glibc-hwcaps subfolders since glibc 2.33. The result does not contain the older subfolders (tls,
    haswell): glibc 2.37 does not search the older subfolders, and no distribution installed an MPI
    in an older subfolder.
    """
    machine, flags = cpu
    folders: List[str] = []
    if machine == 'x86_64' and b'x86-64-v' in loader:
        for name, needed in reversed(_LEVELS):  # Each level requires all lower levels.
            if not set(needed.split()) <= flags:
                break
            folders.insert(0, 'glibc-hwcaps/' + name)
    return folders


def read_cache(data: bytes, machine: Optional[str], levels: Sequence[str] = ()) -> Dict[str, str]:
    """
    Return {name: path} of the libraries for one processor in an ld.so.cache.

    data: content of the cache. machine: name of the processor as in ElfFacts. levels: subfolders of
    glibc-hwcaps that the processor supports, in the order of preference. A library in a subfolder
    of `levels` takes precedence over a library elsewhere. If the cache is damaged, the result is
    empty, because ld.so ignores a damaged cache.
    """
    start = 0
    try:
        if data.startswith(OLD_MAGIC):  # The old format precedes the new format.
            (count,) = struct.unpack_from('<I', data, 12)
            start = (16 + 12 * count + 7) // 8 * 8
        if data[start : start + len(CACHE_MAGIC)] != CACHE_MAGIC:
            return {}
        order = '>' if data[start + 28] & 3 == 3 else '<'
        count, _, _, extension = struct.unpack_from(order + 'IIB3xI', data, start + 20)
        if start + 48 + 24 * count > len(data):
            return {}
        names = _read_cache_levels(data, order, start, extension) if extension else []
        paths: Dict[str, str] = {}
        ranks: Dict[str, int] = {}
        expected = _FLAGS.get(machine or '')
        entries = data[start + 48 : start + 48 + 24 * count]
        for flags, key, value, _, hwcap in struct.iter_unpack(order + 'iIIIQ', entries):
            if flags != expected:
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
            if name not in paths or level < ranks[name]:
                paths[name], ranks[name] = path, level
        return paths
    except (struct.error, IndexError, ValueError):
        return {}


def _read_string(data: bytes, offset: int) -> str:
    """
    Return the string that begins at `offset` in `data`.

    Raises ValueError if the string does not end within 4096 bytes.
    """
    end = data.find(b'\0', offset, offset + 4097)
    if end < 0 or offset >= len(data):
        raise ValueError("the cache is damaged")
    return os.fsdecode(data[offset:end])


def _read_cache_levels(data: bytes, order: str, start: int, extension: int) -> List[str]:
    """
    Return the names of the glibc-hwcaps subfolders that a cache lists.

    An entry of the cache refers to a subfolder by the index of the subfolder in the result. start:
    offset at which the new format begins in the file. extension: offset, in the file, of the list
    of subfolders.
    """
    # `extension` is an offset from the beginning of the file. The offsets of the names are relative
    # to the beginning of the new format.
    magic, sections = struct.unpack_from(order + 'II', data, extension)
    if magic != 0xEAA42174:
        return []
    for number in range(min(sections, 64)):
        tag, _, offset, size = struct.unpack_from(order + 'IIII', data, extension + 8 + 16 * number)
        if tag == 1:
            raw = data[offset : offset + size // 4 * 4]
            return [
                _read_string(data, start + item) for (item,) in struct.iter_unpack(order + 'I', raw)
            ]
    return []


def _find_nothing(name: str, machine: Optional[str]) -> Optional[str]:
    return None


class LoaderConfig(NamedTuple):
    """The search rules of one loader of glibc or musl."""

    interpreter: Optional[str]  #: path of the loader
    folders: List[str]  #: default folders
    lib: str = 'lib64'  #: value of $LIB
    musl: bool = False  #: whether the loader is musl's loader
    #: subfolders of glibc-hwcaps that the loader searches in each folder
    subfolders: Sequence[str] = ()
    #: function find_cached(name, machine) that returns the path of a library in the loader's cache,
    #: or None
    find_cached: Callable[..., Optional[str]] = _find_nothing
    #: value of $PLATFORM
    platform: str = platform.machine()
    #: name of the processor as in ElfFacts
    machine: Optional[str] = None
    #: highest level of x86-64 that this processor has (2 to 4), None if the loader checks no level
    isa_level: Optional[int] = None

    def list_candidates(
        self, name: str, machine: Optional[str], nodeflib: bool = False
    ) -> List[str]:
        """
        Return the paths at which the loader looks for the library `name`, in order.

        machine: name of the processor as in ElfFacts; None stands for the loader's processor.
        nodeflib: whether to leave out the default folders. ld.so leaves out the default folders if
        the file that needs the library was linked with `ld -z nodefaultlib`.
        """
        cached = self.find_cached(name, machine or self.machine)
        paths: List[str] = []
        if cached and not (nodeflib and posixpath.dirname(cached) in self.folders):
            paths.append(cached)
        for folder in [] if nodeflib else self.folders:
            paths += self.list_folder_candidates(folder, name)
        return paths

    def list_folder_candidates(self, folder: str, name: str) -> List[str]:
        """Return the paths at which the loader looks for the library `name` in `folder`."""
        folder = folder.rstrip('/') + '/'
        return [folder + sub + '/' + name for sub in self.subfolders] + [folder + name]


def find_default_folders(loader: bytes, fallback: Iterable[str]) -> List[str]:
    """
    Return the default folders that are compiled into a loader of glibc.

    loader: content of the loader's file. If the file contains no default folders, the result is
    `fallback`.
    """
    lists = [
        [os.fsdecode(part).rstrip('/') for part in text.split(b'\0') if part]
        for text in _FOLDERS.findall(loader)
    ]
    # A linker may store the end of a list a second time, as part of another string.
    lists = [folders for folders in lists if all('/lib' in folder for folder in folders)]
    return max(lists, key=len) if lists else list(fallback)


def resolve_lib_variable(folders: List[str]) -> str:
    """
    Return the value of $LIB for a loader, such as 'lib64' or 'lib/x86_64-linux-gnu'.

    folders: default folders of the loader. The value is the end of the first folder.
    """
    return 'lib' + folders[0].rpartition('/lib')[2] if folders and '/lib' in folders[0] else 'lib64'


def read_loader_config(
    interpreter: Optional[str],
    machine: Optional[str],
    exists: Callable[[str], bool],
    read_file: Callable[[str], bytes],
) -> LoaderConfig:
    """
    Return the search rules of the loader `interpreter` in an image or on a host.

    interpreter: path of the loader, None if there is no loader. machine: name of the processor as
    in ElfFacts. exists, read_file: functions that access the files of the image or host.
    """
    if interpreter and posixpath.basename(interpreter).startswith('ld-musl-'):
        path = re.sub(r'[^/]+/([^/]+)\.so\.1$', r'etc/\1.path', interpreter)
        text = read_file(path) if exists(path) else b'/lib:/usr/local/lib:/usr/lib'
        folders = re.findall('(?m)(?:^|(?<=:))/[^:\n]*', os.fsdecode(text))
        return LoaderConfig(interpreter, folders, musl=True, machine=machine)
    loader = read_file(interpreter) if interpreter and exists(interpreter) else b''
    folders = find_default_folders(loader, ['/lib64', '/usr/lib64', '/lib', '/usr/lib'])
    subfolders = list_hwcaps_folders(loader, read_processor())
    levels = [folder[len('glibc-hwcaps/') :] for folder in subfolders]
    match = _CACHE_PATH.search(loader)
    path = os.fsdecode(match.group(1)) if match else '/etc/ld.so.cache'
    caches: Dict[Optional[str], Dict[str, str]] = {}

    def find_cached(name: str, machine: Optional[str]) -> Optional[str]:
        if machine not in caches:
            caches[machine] = read_cache(read_file(path), machine, levels) if exists(path) else {}
        return caches[machine].get(name)

    return LoaderConfig(
        interpreter,
        folders,
        resolve_lib_variable(folders),
        subfolders=subfolders,
        find_cached=find_cached,
        machine=machine,
        isa_level=len(levels) + 1 if levels else None,
    )

"""
Find where the loader of an image or a host looks for libraries, from the loader's own file.

glibc has its default folders, the path of its cache and the meaning of $LIB compiled in, and each
distribution chooses them (Debian /lib/x86_64-linux-gnu, Fedora and SUSE /lib64, Nix its own store).
They are strings in the file that a program names as its interpreter; `ld.so --list-diagnostics`
(glibc 2.33) prints the same. Format of the cache: glibc, sysdeps/generic/dl-cache.h. musl:
ldso/dynlink.c.
"""

import os
import platform
import posixpath
import re
import struct
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple

#: Loaders of glibc by the ABI of each processor, then those of musl
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
#: A list of folders in a glibc's loader: each ends with / and a zero byte
_FOLDERS = re.compile(rb'(?<=\0)(?:/[^\0/]+(?:/[^\0/]+){0,20}/\0){1,20}')
_CACHE_PATH = re.compile(rb'\0(/[^\0]{0,200}/ld\.so\.cache)\0')

CACHE_MAGIC, OLD_MAGIC = b'glibc-ld.so.cache1.1', b'ld.so-1.7.0\0'
#: machine as in ElfFacts -> flags of its entries in a cache (sysdeps/generic/ldconfig.h)
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
#: This bit in the field hwcap of an entry: the lower half is the number of a folder of glibc-hwcaps
_NUMBERED = 1 << 62

#: Folder of glibc-hwcaps and the flags of /proc/cpuinfo that a processor needs for it (x86-64
#: psABI, micro-architecture levels), the highest level first
_LEVELS = [
    ('x86-64-v4', 'avx512f avx512bw avx512cd avx512dq avx512vl'),
    ('x86-64-v3', 'avx avx2 bmi1 bmi2 f16c fma abm movbe xsave'),
    ('x86-64-v2', 'cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3'),
]


def read_processor() -> Tuple[str, Set[str]]:
    """Return the machine, as `uname -m` prints it, and the flags of this computer's processor."""
    try:
        with open('/proc/cpuinfo', errors='replace') as handle:
            text = handle.read(1 << 16)
    except OSError:
        text = ''
    flags = re.search(r'^flags\s*:(.*)$', text, re.M)
    return platform.machine(), set(flags.group(1).split()) if flags else set()


def list_hwcaps_folders(loader: bytes, cpu: Tuple[str, Set[str]]) -> List[str]:
    """
    Return the folders of glibc-hwcaps that a loader searches below each folder.

    glibc 2.33 introduced them. `loader` is its content, `cpu` as read_processor() returns it. The
    older folders (tls, haswell) are ignored: glibc 2.37 removed them, and no distribution's MPI
    used them.
    """
    machine, flags = cpu
    folders: List[str] = []
    if machine == 'x86_64' and b'x86-64-v' in loader:
        for name, needed in reversed(_LEVELS):  # each level needs those below it
            if not set(needed.split()) <= flags:
                break
            folders.insert(0, 'glibc-hwcaps/' + name)
    return folders


def read_cache(data: bytes, machine: Optional[str], levels: Sequence[str] = ()) -> Dict[str, str]:
    """
    Return {name: path} of the entries for a machine (as in ElfFacts) in an ld.so.cache.

    `levels` are the folders of glibc-hwcaps for this processor, the preferred first: their
    libraries replace others. The result is empty for a damaged cache, which ld.so ignores too.
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
    """Return the path at an offset. Raises ValueError if it does not end within 4096 bytes."""
    end = data.find(b'\0', offset, offset + 4097)
    if end < 0 or offset >= len(data):
        raise ValueError("damaged cache")
    return os.fsdecode(data[offset:end])


def _read_cache_levels(data: bytes, order: str, start: int, extension: int) -> List[str]:
    """Return the names of glibc-hwcaps in a cache, as its entries count them."""
    # `extension` counts from the begin of the file, the offsets of names from that of the new form
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


class LoaderConfig:
    """
    The search rules of one loader, glibc's or musl's.

    `lib` and `platform` are the meanings of $LIB and $PLATFORM, `subfolders` are searched below
    each folder, `machine` is that of ElfFacts.
    """

    def __init__(
        self,
        interpreter: Optional[str],
        folders: Iterable[str],
        lib: str = 'lib64',
        musl: bool = False,
        subfolders: Iterable[str] = (),
        find_cached: Optional[Callable[..., Optional[str]]] = None,
        cpu: Optional[Tuple[str, Set[str]]] = None,
        machine: Optional[str] = None,
    ) -> None:
        """
        `find_cached(name, machine)` returns the path of a library in the loader's cache.

        `cpu` is as read_processor() returns it.
        """
        self.interpreter, self.folders, self.lib, self.musl = interpreter, list(folders), lib, musl
        self.subfolders, self.machine = list(subfolders), machine
        self.platform = (cpu or read_processor())[0]
        self._find_cached = find_cached or (lambda name, machine: None)
        self._cached_paths: Dict[Tuple[str, Optional[str]], Optional[str]] = {}

    def list_candidates(
        self, name: str, machine: Optional[str], nodeflib: bool = False
    ) -> List[str]:
        """
        Return the paths where the loader looks for a library, in its order.

        `machine` None is the loader's own. `nodeflib` leaves out the default folders, as the file
        that needs the library has requested (ld -z nodefaultlib).
        """
        machine = machine or self.machine
        cached = self._cached_paths[name, machine] = self._find_cached(name, machine)
        paths: List[str] = []
        if cached and not (nodeflib and posixpath.dirname(cached) in self.folders):
            paths.append(cached)
        for folder in [] if nodeflib else self.folders:
            paths += self.list_folder_candidates(folder, name)
        return paths

    def is_cached(self, name: str, path: str) -> bool:
        """Return whether list_candidates() has this path of a library from the cache."""
        return any(
            path == cached and name == key for (key, _), cached in self._cached_paths.items()
        )

    def list_folder_candidates(self, folder: str, name: str) -> List[str]:
        """Return the paths where the loader looks for a library below one folder."""
        folder = folder.rstrip('/') + '/'
        return [folder + sub + '/' + name for sub in self.subfolders] + [folder + name]


def find_default_folders(loader: bytes, fallback: Iterable[str]) -> List[str]:
    """Return the folders that are compiled into a glibc's loader, or `fallback` without."""
    lists = [
        [os.fsdecode(part).rstrip('/') for part in text.split(b'\0') if part]
        for text in _FOLDERS.findall(loader)
    ]
    # a linker may store the end of a list once more, as part of another string
    lists = [folders for folders in lists if all('/lib' in folder for folder in folders)]
    return max(lists, key=len) if lists else list(fallback)


def resolve_lib_variable(folders: List[str]) -> str:
    """Return what $LIB means to a loader: the end of its first default folder."""
    return 'lib' + folders[0].rpartition('/lib')[2] if folders and '/lib' in folders[0] else 'lib64'


def read_loader_config(
    interpreter: Optional[str],
    machine: Optional[str],
    exists: Callable[[str], bool],
    read_file: Callable[[str], bytes],
    list_folder_names: Callable[[], Optional[Set[str]]],
    cpu: Optional[Tuple[str, Set[str]]] = None,
) -> LoaderConfig:
    """
    Return the search rules of the loader at the path `interpreter` in an image or a host.

    `list_folder_names` returns the last parts of the paths of all folders there, None if unknown.
    `cpu` is as read_processor() returns it.
    """
    cpu = cpu or read_processor()
    musl = re.match(r'ld-musl-(.+)\.so\.1$', posixpath.basename(interpreter or ''))
    if interpreter and musl:
        prefix = posixpath.dirname(posixpath.dirname(interpreter)).rstrip('/')
        path, folders = (
            f'{prefix}/etc/ld-musl-{musl.group(1)}.path',
            ['/lib', '/usr/local/lib', '/usr/lib'],
        )
        if exists(path):
            text = os.fsdecode(read_file(path))
            folders = [part for part in re.split('[:\n]', text) if part.startswith('/')]
        return LoaderConfig(interpreter, folders, musl=True, cpu=cpu, machine=machine)
    loader = read_file(interpreter) if interpreter and exists(interpreter) else b''
    folders = find_default_folders(loader, ['/lib64', '/usr/lib64', '/lib', '/usr/lib'])
    subfolders = list_hwcaps_folders(loader, cpu)
    levels = [folder[len('glibc-hwcaps/') :] for folder in subfolders]
    names = list_folder_names() if subfolders else None
    if names is not None:
        subfolders = [folder for folder in subfolders if set(folder.split('/')) <= names]
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
        cpu=cpu,
        machine=machine,
    )

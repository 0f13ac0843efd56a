"""
Read what an MPI or libfabric library can do from the names and texts in its file.

These are marks that compilers leave in the file: names of functions in messages, options of
configure, names of variables. They were compared with what the library itself reports when it is
loaded (tests/image/test_traits.py), for wheels of MPICH 3.4.3 to 5.0.2, Open MPI 5.0.11 and Intel
MPI 2021.19.0, and for Debian's libfabric 1.17 and 2.1. No libfabric with the provider cxi was
available: its mark is derived from the names of functions in libfabric's prov/cxi/src.
"""

import posixpath
import re
from typing import Any, Dict, Iterator, List, Match, Optional, Set, Tuple

from osu_container.image.libraries import ElfSections, identify_library, read_libfabric_version

#: Provider of libfabric -> prefixes of the names of its functions, which its messages contain
PROVIDERS = {
    'coll': ['coll_'],
    'cxi': ['cxip_'],
    'efa': ['efa_', 'rxr_'],
    'lnx': ['lnx_'],
    'mrail': ['mrail_'],
    'opx': ['opx_', 'fi_opx_'],
    'psm': ['psmx_'],
    'psm2': ['psmx2_'],
    'psm3': ['psmx3_', 'psm3_'],
    'rxd': ['rxd_'],
    'rxm': ['rxm_'],
    'shm': ['smr_'],
    'sm2': ['sm2_'],
    'sockets': ['sock_'],
    'tcp': ['xnet_', 'tcpx_'],
    'ucx': ['ucx_'],
    'udp': ['udpx_'],
    'usnic': ['usdf_'],
    'verbs': ['vrb_', 'fi_ibv_'],
}
#: Number of these names that proves a provider: a single name may be a word of another part
_MIN_NAMES = 3

#: File name of a provider that is a library of its own: fi_provider(7). Intel MPI has
#: libverbs-1.12-fi.so.
PLUGIN = r'lib(\w+)(?:-[\d.]+)?-fi\.so(\.[\d.]+)?'
#: Folders in which libfabric looks for such files by default: the text of its parameter
#: provider_path
_PROVIDER_PATH = re.compile(rb'Search for providers in specific path[^\0]*\(default: ([^)\0]+)\)')
#: Builds that do not ask ld.so for such files by name: Intel's of 2021.10 (measured), and those
#: with --enable-restricted-dl (source)
_NOT_BY_NAME = re.compile(rb'FI_PROVIDER_PATH unspecified|restricted_dl: setting')
#: Name in the file name -> name for FI_PROVIDER
PLUGIN_NAMES = {'psmx2': 'psm2', 'psmx3': 'psm3'}

#: Registration of a provider (struct fi_provider of fi_prov.h, OFI_VERSION_DEF_PROV), as numbers of
#: 16 bits: 10 x revision, 100 x major + minor of its own release, then minor and major of
#: libfabric's. In the wheels of Intel MPI 2021.2 to 2021.18 each file has it once (measured)
_REGISTERED = re.compile(rb'(?=(.)\0(.[\0-\x03])([\0-\x40])\0([\1-\x09])\0)', re.S)


def find_provider_release(data: bytes) -> Optional[Tuple[int, int, int]]:
    """
    Return the release of the provider in a library file of its own, None if ambiguous.

    Of several providers with one name libfabric uses the newest (ofi_register_provider() in its
    src/fabric.c).
    """
    releases: Set[Tuple[int, int, int]] = set()
    for match in _REGISTERED.finditer(data):
        revision, minor, major = (ord(match.group(number)) for number in (1, 3, 4))
        low, high = match.group(2)
        is_consistent = low + 256 * high == 100 * major + minor and revision % 10 == 0
        if match.start() % 8 == 0 and is_consistent:
            releases.add((major, minor, revision // 10))
    return releases.pop() if len(releases) == 1 else None


#: Family -> the value of srun's --mpi= that starts it, and a text that the library then contains.
#: MPICH and Intel MPI use the socket PMI_FD with the protocol PMI-1, which Slurm's plugin pmi2
#: supports too; Open MPI 5 uses a PMIx server only (both measured: the process that writes to that
#: socket, or connects to that server). MPICH mentions PMIx in error texts only. Cray MPICH uses
#: Cray PMI, which uses PALS (derived: its documentation).
PMI_KINDS = {
    'MPICH': ('pmi2', b'PMI_FD'),
    'Intel MPI': ('pmi2', b'PMI_FD'),
    'Open MPI': ('pmix', b''),
    'Cray MPICH': ('cray_shasta', b''),
}

#: CVAR by which MPICH passes buffers in GPU memory to libfabric (from 4.1 on, not in 4.0.3)
HMEM_CVAR = b'MPIR_CVAR_CH4_OFI_ENABLE_HMEM'

#: Family -> the variable that stops it from copying messages out of the memory of another rank of
#: its node, which needs the kernel's permission, and the first release that does so by default.
#: MPICH 4.3 has the variable too, and its default is off (measured: MPI_T in the wheels of 4.3.2,
#: 5.0.0 to 5.0.2). Cray MPICH uses XPMEM or CMA (derived: intro_mpi(3)). Open MPI 5.0.11 and Intel
#: MPI 2021.19.0 run without the permission, no slower (measured: two ranks in a user namespace
#: each, one run, 2026-11-23).
SINGLE_COPY = {
    'MPICH': (b'MPIR_CVAR_CH4_CMA_ENABLE', '5.0'),
    'Cray MPICH': (b'MPICH_SMP_SINGLE_COPY_MODE', '8.1'),
}

#: The name by which MPICH recognizes the provider cxi, to ask for the capabilities that cxi has.
#: pmodels/mpich PR 5708: cxi is the first provider that needs FI_MR_ENDPOINT, which MPICH requests
#: from no other. In the wheels from 4.1.3 on, not in 4.0.3.
CXI_SET = b'\0cxi\0'

#: Device as MPI_Get_library_version() prints it (netmods separated by blanks), else as an option of
#: configure (separated by commas)
_DEVICES = [
    re.compile(rb'\0(ch[34]:\w+(?:[ ,]+\w+)*)\0'),
    re.compile(rb'--with-device=(ch[34]:[\w,]+)'),
]

#: A row of MPICH's table of capability sets, one set for each use of libfabric (pmodels/mpich,
#: globals.c, ofi_types.h and ofi_capability_sets.h in src/mpid/ch4/netmod/ofi), as numbers of 32
#: bits: endpoints, their bits, pieces of an atomic, bits of context, source and tag, a flag (from
#: 4.1 on), then the API's major and minor release, and buffers for active messages. This is data,
#: so compilers and processors make no difference.
_CAPABILITIES = re.compile(
    rb'[\0-\xff][\0-\x0f]\0\0[\0-\x10]\0{3}[\1-\x10]\0{3}[\x08-\x20]\0{3}'
    rb'[\0-\x20]\0{3}[\x0f-\x3f]\0{3}(?:[\0\1]\0{3})?([\1-\x09])\0{3}(.)\0{3}'
    rb'[\1-\x40]\0{3}',
    re.S,
)
#: The lowest bytes of its numbers: searching every fourth byte takes a third of the time
_LOWEST = re.compile(
    rb'[\0-\xff][\0-\x10][\1-\x10][\x08-\x20][\0-\x20][\x0f-\x3f][\0\1]?[\1-\x09].'
    rb'[\1-\x40]',
    re.S,
)
#: Such a table has at least so many rows
_MIN_ROWS = 5
#: Tables with a row for psm3 have so many rows (4.1 on; 4.0 has 8)
_PSM3_ROWS = 10
#: Providers with a set of their own in MPICH, and the text by which MPICH recognizes them. ofi_rxm
#: is recognized by a part of a name (tcp;ofi_rxm), which compilers do not store as a text.
_PROVIDER_SETS = {
    'psm2': b'\0psm2\0',
    'psm3': b'\0psm3\0',
    'sockets': b'\0sockets\0',
    'cxi': b'\0cxi\0',
    'verbs;ofi_rxm': b'\0verbs;ofi_rxm\0',
    'ofi_rxm': b'',
}
#: configure chose one set at build time: the table exists and is not used
_ONE_SET = re.compile(rb'--with-device=ch4:(?:[a-z]+,)*ofi:')


def _find_capability_rows(data: bytes) -> Iterator[Match[bytes]]:
    """Yield the matches of _CAPABILITIES, which lie at multiples of four in an ELF file."""
    lowest, position = data[::4], 0
    candidate = _LOWEST.search(lowest)
    while candidate:
        row = _CAPABILITIES.match(data, 4 * candidate.start())
        if row:
            yield row
        position = -(-row.end() // 4) if row else candidate.start() + 1
        candidate = _LOWEST.search(lowest, position)


def find_requested_apis(data: bytes) -> Optional[Dict[str, Tuple[int, int]]]:
    """
    Return {provider: (major, minor)} of libfabric's API that an MPICH requests.

    The result is None if unknown. '' stands for all providers that are not named: for these MPICH
    requests the release of the libfabric that it was built with. `data` is the content of its
    library.
    """
    rows = [
        (row.start(1), (ord(row.group(1)), ord(row.group(2))))
        for row in _find_capability_rows(data)
    ]
    tables: List[List[Tuple[int, Tuple[int, int]]]] = []
    table: List[Tuple[int, Tuple[int, int]]] = []
    for number, row in enumerate(rows):
        if len(table) > 1 and row[0] - table[-1][0] == table[-1][0] - table[-2][0]:
            table.append(row)
        else:
            table = (
                rows[number - 1 : number + 1]
                if number and row[0] - rows[number - 1][0] < 100
                else [row]
            )
            tables.append(table)
    # the first row is the default, the second a minimum: both have the release of libfabric's
    # headers
    requests = [[api for _, api in table] for table in tables if len(table) >= _MIN_ROWS]
    requests = [apis for apis in requests if apis[0] == apis[1] == max(apis)]
    if len(requests) != 1 or _ONE_SET.search(data):
        return None
    apis = requests[0]
    requested = {name: max(apis[2:]) for name, text in _PROVIDER_SETS.items() if text in data}
    if len(apis) < _PSM3_ROWS:  # the file has the name, but no row
        requested.pop('psm3', None)
    requested[''] = apis[0]
    return requested


def read_mpi_traits(data: bytes) -> Dict[str, Any]:
    """
    Return the traits of an MPI library from its content.

    Raises ValueError if it is no ELF file. family, release: None if unknown. device: for MPICH,
    such as ['ch4:ofi', 'ch4:ucx'], the default first; None if unknown. hmem: whether it passes GPU
    memory to libfabric. cxi: whether it supports the provider cxi. Both are None for other
    families. pmi: values of srun's --mpi=. opens: libraries that it may open itself. asks: see
    find_requested_apis(). single_copy: see find_single_copy_variable().
    """
    version = identify_library(data)
    match = next((match for match in (pattern.search(data) for pattern in _DEVICES) if match), None)
    device = None
    if match:
        kind, _, netmods = match.group(1).decode('ascii').partition(':')
        device = [kind + ':' + netmod for netmod in re.split('[, ]+', netmods) if netmod]
    pmi, mark = PMI_KINDS.get(version.family or '', (None, b''))
    return {
        'family': version.family,
        'release': version.release,
        'device': device,
        'hmem': HMEM_CVAR in data if version.family == 'MPICH' else None,
        'cxi': CXI_SET in data if version.family == 'MPICH' else None,
        'pmi': [pmi] if pmi and mark in data else [],
        'opens': ['libfabric.so.1'] if b'\0libfabric.so.1\0' in data else [],
        'asks': find_requested_apis(data),
        'single_copy': find_single_copy_variable(version.family, version.release, data),
    }


def find_single_copy_variable(
    family: Optional[str], release: Optional[str], data: Optional[bytes] = None
) -> Optional[str]:
    """
    Return the variable of SINGLE_COPY if this MPI reads other ranks' memory, else None.

    `data` is the content of its library, None if the MPI is known from published data only.
    """
    variable, since = SINGLE_COPY.get(family or '', (b'', ''))
    numbers, first = (
        tuple(int(part) for part in re.findall(r'\d+', text or '')) for text in (release, since)
    )
    has_variable = variable and numbers >= first and (data is None or variable in data)
    return variable.decode('ascii') if has_variable else None


def parse_provider_name(path: str) -> Optional[str]:
    """Return the provider that a file name stands for, None if it is not a provider's."""
    match = re.match(PLUGIN + '$', posixpath.basename(path))
    return PLUGIN_NAMES.get(match.group(1), match.group(1)) if match else None


def read_fabric_traits(data: bytes) -> Dict[str, Any]:
    """
    Return the traits of a libfabric from its content.

    Raises ValueError if it is no ELF file. release: None if unknown. api: (major, minor) of the
    newest API that it has, or None. providers: sorted names of those in the library. folders: where
    it looks for providers in files of their own, None if unknown. by_name: whether it also asks
    ld.so for these.
    """
    providers = set()
    for name, starts in PROVIDERS.items():
        pattern = rb'\0(?:' + '|'.join(starts).encode('ascii') + rb')\w+'
        if len(set(re.findall(pattern, data))) >= _MIN_NAMES:
            providers.add(name)
    folders = _PROVIDER_PATH.search(data)
    return {
        'release': identify_library(data).release,
        'api': read_libfabric_version(ElfSections(data)),
        'providers': sorted(providers),
        'folders': folders.group(1).decode('ascii', 'replace').split(':') if folders else None,
        'by_name': not _NOT_BY_NAME.search(data),
    }

"""
What an MPI or libfabric library file can do, read from the names and texts in it. Nothing is loaded
or run.

These are marks that compilers leave in the file: names of functions that a library prints in its
messages, options of its configure, names of the variables that it reads. What they say was compared
with what the library itself says when it is loaded (tests/image/test_traits.py), for wheels of
MPICH 3.4.3 to 5.0.2, Open MPI 5.0.11 and Intel MPI 2021.19.0, and for Debian's libfabric 1.17 and
2.1. No libfabric with the provider cxi could be had there: its mark is derived from the names of
the functions in libfabric's prov/cxi/src.
"""

import posixpath
import re

from osu_container.image.libraries import ElfSections, identify_library, read_libfabric_version

#: Provider of libfabric -> how the names of its functions begin, which its messages carry
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
#: A provider counts with so many of these names: one may be a word of another part
_NAMES = 3

#: Provider as a file of its own: fi_provider(7); its name for FI_PROVIDER. Intel MPI has
#: libverbs-1.12-fi.so.
PLUGIN = r'lib(\w+)(?:-[\d.]+)?-fi\.so(\.[\d.]+)?'
#: In which folders libfabric looks for such files by itself: the text of its parameter
#: provider_path
_PROVIDER_PATH = re.compile(rb'Search for providers in specific path[^\0]*\(default: ([^)\0]+)\)')
#: Builds that do not ask ld.so for such files by name: Intel's of 2021.10 (measured),
#: --enable-restricted-dl (source)
_NOT_BY_NAME = re.compile(rb'FI_PROVIDER_PATH unspecified|restricted_dl: setting')
PLUGIN_NAMES = {'psmx2': 'psm2', 'psmx3': 'psm3'}

#: How a provider is registered (struct fi_provider of fi_prov.h, OFI_VERSION_DEF_PROV): 10 x
#: revision, 100 x major + minor of its own release, then minor and major of libfabric's, as numbers
#: of 16 bits. In the wheels of Intel MPI 2021.2 to 2021.18 each file has it once (measured)
_REGISTERED = re.compile(rb'(?=(.)\0(.[\0-\x03])([\0-\x40])\0([\1-\x09])\0)', re.S)


def find_provider_release(data):
    """
    Return the release (tuple of 3 int) of a provider in a file of its own (data: bytes), None where
    it is not told.

    Of several providers of one name libfabric takes the newest (ofi_register_provider() in its
    src/fabric.c).
    """
    found = set()
    for one in _REGISTERED.finditer(data):
        revision, (minor, major) = ord(one.group(1)), (ord(one.group(3)), ord(one.group(4)))
        own = ord(one.group(2)[:1]) + 256 * ord(one.group(2)[1:])
        if one.start() % 8 == 0 and own == 100 * major + minor and revision % 10 == 0:
            found.add((major, minor, revision // 10))
    return found.pop() if len(found) == 1 else None


#: Family -> the kind of --mpi= of srun that it can be started with, and a text that is in the
#: library then. MPICH and Intel MPI talk over the socket PMI_FD, in the language PMI-1, which
#: Slurm's plugin pmi2 speaks too; Open MPI 5 talks to a PMIx server alone (both measured: who
#: writes to that socket, who connects to that server). MPICH has words of PMIx in its error texts
#: only. Cray MPICH asks Cray PMI, which asks PALS (derived: its documentation).
PMI_KINDS = {
    'MPICH': ('pmi2', b'PMI_FD'),
    'Intel MPI': ('pmi2', b'PMI_FD'),
    'Open MPI': ('pmix', b''),
    'Cray MPICH': ('cray_shasta', b''),
}

#: CVAR by which MPICH lets libfabric have buffers in GPU memory (from 4.1 on, not in 4.0.3)
HMEM_CVAR = b'MPIR_CVAR_CH4_OFI_ENABLE_HMEM'

#: Family -> the variable that keeps it from copying messages out of the memory of another rank of
#: its node, which needs the kernel's leave, and the first release that does so unless it is told
#: not to. MPICH 4.3 has the variable too, and its default is off (measured: MPI_T in the wheels of
#: 4.3.2, 5.0.0 to 5.0.2). Cray MPICH takes XPMEM or CMA (derived: intro_mpi(3)). Open MPI 5.0.11
#: and Intel MPI 2021.19.0 run all the same, no slower (measured: two ranks in a user namespace
#: each, one run, 2026-11-23).
SINGLE_COPY = {
    'MPICH': (b'MPIR_CVAR_CH4_CMA_ENABLE', '5.0'),
    'Cray MPICH': (b'MPICH_SMP_SINGLE_COPY_MODE', '8.1'),
}

#: The name by which MPICH looks whether a provider is cxi, to ask it for what it has. pmodels/mpich
#: PR 5708: cxi is the first provider that wants FI_MR_ENDPOINT, which MPICH asks of no other. In
#: the wheels from 4.1.3 on, not in 4.0.3.
CXI_SET = b'\0cxi\0'

#: as MPI_Get_library_version() prints it (netmods parted by blanks), else as configure was called
#: (by commas)
_DEVICES = [
    re.compile(rb'\0(ch[34]:\w+(?:[ ,]+\w+)*)\0'),
    re.compile(rb'--with-device=(ch[34]:[\w,]+)'),
]

#: A row of MPICH's table of capability sets, one for each way to use libfabric (pmodels/mpich,
#: globals.c, ofi_types.h and ofi_capability_sets.h in src/mpid/ch4/netmod/ofi), as numbers of 32
#: bits: endpoints, their bits, pieces of an atomic, bits of context, source and tag, a flag (from
#: 4.1 on), then the API's major and minor release, and buffers for active messages. A table, so
#: compilers and processors make no difference.
_CAPABILITIES = re.compile(
    rb'[\0-\xff][\0-\x0f]\0\0[\0-\x10]\0{3}[\1-\x10]\0{3}[\x08-\x20]\0{3}'
    rb'[\0-\x20]\0{3}[\x0f-\x3f]\0{3}(?:[\0\1]\0{3})?([\1-\x09])\0{3}(.)\0{3}'
    rb'[\1-\x40]\0{3}',
    re.S,
)
#: The lowest bytes of its numbers: to look for them in every fourth byte takes a third of the time
_LOWEST = re.compile(
    rb'[\0-\xff][\0-\x10][\1-\x10][\x08-\x20][\0-\x20][\x0f-\x3f][\0\1]?[\1-\x09].'
    rb'[\1-\x40]',
    re.S,
)
#: Rows that such a table has at least
_SETS = 5
#: Rows of those that have one for psm3 (4.1 on; 4.0 has 8)
_PSM3_ROWS = 10
#: Providers for which MPICH has a set of their own, and the text by which it knows them. The set of
#: ofi_rxm is asked for by part of a name (tcp;ofi_rxm), which compilers do not keep as a text.
_OWN_SETS = {
    'psm2': b'\0psm2\0',
    'psm3': b'\0psm3\0',
    'sockets': b'\0sockets\0',
    'cxi': b'\0cxi\0',
    'verbs;ofi_rxm': b'\0verbs;ofi_rxm\0',
    'ofi_rxm': b'',
}
#: configure with one of the sets for good: the table is there and not used
_ONE_SET = re.compile(rb'--with-device=ch4:(?:[a-z]+,)*ofi:')


def _find_capability_rows(data):
    """
    Yield the matches of _CAPABILITIES in data (bytes): such numbers lie at multiples of four in
    an ELF file.
    """
    lowest, here = data[::4], 0
    candidate = _LOWEST.search(lowest)
    while candidate:
        found = _CAPABILITIES.match(data, 4 * candidate.start())
        if found:
            yield found
        here = -(-found.end() // 4) if found else candidate.start() + 1
        candidate = _LOWEST.search(lowest, here)


def find_requested_apis(data):
    """
    Return {provider: (major, minor)} of libfabric's API that an MPICH (data: its content) asks for.

    '' stands for all providers that are not named: for these it is the release of the libfabric
    that MPICH was built with. None where the file does not show it.
    """
    rows = [
        (found.start(1), (bytearray(found.group(1))[0], bytearray(found.group(2))[0]))
        for found in _find_capability_rows(data)
    ]
    tables, table = [], []
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
    # the first is the default, the second a minimum: both have what the headers of libfabric said
    tables = [[asked for _, asked in table] for table in tables if len(table) >= _SETS]
    tables = [table for table in tables if table[0] == table[1] == max(table)]
    if len(tables) != 1 or _ONE_SET.search(data):
        return None
    found = dict((name, max(tables[0][2:])) for name, text in _OWN_SETS.items() if text in data)
    if len(tables[0]) < _PSM3_ROWS:  # before, its name is in the file, but no row is its own
        found.pop('psm3', None)
    return dict(found, **{'': tables[0][0]})


def read_mpi_traits(data):
    """
    Return {'family', 'release', 'device', 'hmem', 'cxi', 'pmi', 'opens', 'asks', 'single_copy'} of
    an MPI library (data: its content, bytes).

    family, release: str or None; device: list of str for an MPICH, e.g. ['ch4:ofi', 'ch4:ucx'], the
    default first, None where the file does not say; hmem: bool or None, can pass on GPU memory;
    cxi: bool or None, knows what the provider cxi wants; pmi: list of kinds of --mpi=; opens: list
    of libraries that it may open by itself; asks: as find_requested_apis(); single_copy: str or
    None, the variable of SINGLE_COPY where it reads other ranks' memory. Raises ValueError if it is
    no ELF file.
    """
    version = identify_library(data)
    found = next((match for match in (pattern.search(data) for pattern in _DEVICES) if match), None)
    device = None
    if found:
        kind, _, netmods = found.group(1).decode('ascii').partition(':')
        device = [kind + ':' + netmod for netmod in re.split('[, ]+', netmods) if netmod]
    kind, mark = PMI_KINDS.get(version.family, (None, b''))
    return {
        'family': version.family,
        'release': version.release,
        'device': device,
        'hmem': HMEM_CVAR in data if version.family == 'MPICH' else None,
        'cxi': CXI_SET in data if version.family == 'MPICH' else None,
        'pmi': [kind] if kind and mark in data else [],
        'opens': ['libfabric.so.1'] if b'\0libfabric.so.1\0' in data else [],
        'asks': find_requested_apis(data),
        'single_copy': find_single_copy_variable(version.family, version.release, data),
    }


def find_single_copy_variable(family, release, data=None):
    """
    Return the variable (str) of SINGLE_COPY where an MPI of a family and release (str or None) does
    so, else None.

    :param data: bytes, the content of its library; None for one that is described
    """
    variable, since = SINGLE_COPY.get(family, (b'', ''))
    numbers = [
        tuple(int(part) for part in re.findall(r'\d+', text or '')) for text in (release, since)
    ]
    does = variable and numbers[0] >= numbers[1] and (data is None or variable in data)
    return variable.decode('ascii') if does else None


def parse_provider_name(path):
    """Return the provider (str) whose file path (str) is by its name, None if it is none."""
    found = re.match(PLUGIN + '$', posixpath.basename(path))
    return PLUGIN_NAMES.get(found.group(1), found.group(1)) if found else None


def read_fabric_traits(data):
    """
    Return {'release', 'api', 'providers', 'folders', 'by_name'} of a libfabric (data: its content,
    bytes).

    release: str or None; api: (major, minor) of the newest API that it has, or None; providers:
    sorted list of str, those in the library; folders: list of str, where it looks for providers in
    files of their own, None where it does not say; by_name: bool, it also asks ld.so for them.
    Raises ValueError if it is no ELF file.
    """
    providers = set()
    for name, starts in PROVIDERS.items():
        pattern = rb'\0(?:' + b'|'.join(start.encode('ascii') for start in starts) + rb')\w+'
        if len(set(re.findall(pattern, data))) >= _NAMES:
            providers.add(name)
    folders = _PROVIDER_PATH.search(data)
    return {
        'release': identify_library(data).release,
        'api': read_libfabric_version(ElfSections(data)),
        'providers': sorted(providers),
        'folders': folders.group(1).decode('ascii', 'replace').split(':') if folders else None,
        'by_name': not _NOT_BY_NAME.search(data),
    }

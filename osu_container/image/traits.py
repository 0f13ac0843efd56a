"""
Detect the features of an MPI or libfabric library from strings in the library's file.

The strings are names of functions in messages, options of the script configure, and names of
variables. The
tests load libraries and compare the detected features with the features that the libraries report
(tests/image/test_traits.py). The tests cover the wheels of MPICH 3.4.3 to 5.0.2, Open MPI 5.0.11
and Intel MPI 2021.19.0, and Debian's libfabric 1.17 and 2.1. No libfabric with the provider cxi was
available for a test; the strings of cxi are the names of functions in libfabric's prov/cxi/src.
"""

import posixpath
import re
from typing import Any, Dict, Iterator, List, Match, Optional, Set, Tuple

from osu_container.image.libraries import ElfSections, identify_library, read_libfabric_version

#: Provider of libfabric -> prefixes of the names of the provider's functions, separated by |. The
#: messages in the file contain these names
PROVIDERS = {
    'coll': 'coll_',
    'cxi': 'cxip_',
    'efa': 'efa_|rxr_',
    'lnx': 'lnx_',
    'mrail': 'mrail_',
    'opx': 'opx_|fi_opx_',
    'psm': 'psmx_',
    'psm2': 'psmx2_',
    'psm3': 'psmx3_|psm3_',
    'rxd': 'rxd_',
    'rxm': 'rxm_',
    'shm': 'smr_',
    'sm2': 'sm2_',
    'sockets': 'sock_',
    'tcp': 'xnet_|tcpx_',
    'ucx': 'ucx_',
    'udp': 'udpx_',
    'usnic': 'usdf_',
    'verbs': 'vrb_|fi_ibv_',
}
#: Minimum number of different function names that proves a provider. A single name may be a word
#: from another part of the file
_MIN_NAMES = 3

#: Pattern for the file name of a provider plugin, a provider in a library of its own
#: (fi_provider(7)). Intel MPI has libverbs-1.12-fi.so
PLUGIN = r'lib(\w+)(?:-[\d.]+)?-fi\.so(\.[\d.]+)?'
#: Pattern for the folders in which libfabric looks for plugins by default. The description of
#: libfabric's parameter provider_path contains these folders
_PROVIDER_PATH = re.compile(rb'Search for providers in specific path[^\0]*\(default: ([^)\0]+)\)')
#: Pattern for builds of libfabric that do not open plugins by name with dlopen(): Intel's build
#: of 2021.10 (measured), and builds with --enable-restricted-dl (derived from the source)
_NOT_BY_NAME = re.compile(rb'FI_PROVIDER_PATH unspecified|restricted_dl: setting')
#: Name of a provider in the file name of its plugin -> name of the provider in FI_PROVIDER
PLUGIN_NAMES = {'psmx2': 'psm2', 'psmx3': 'psm3'}

#: Pattern for the registration of a provider (struct fi_provider in fi_prov.h,
#: OFI_VERSION_DEF_PROV): numbers of 16 bits. The first two contain the provider's release, as
#: 10 x revision and 100 x major + minor. The next two are the minor and major number of libfabric's
#: release. In the wheels of Intel MPI 2021.2 to 2021.18 each plugin contains one registration
#: (measured)
_REGISTERED = re.compile(rb'(?=(.)\0(.[\0-\x03])([\0-\x40])\0([\1-\x09])\0)', re.S)


def find_provider_release(data: bytes) -> Optional[Tuple[int, int, int]]:
    """
    Return (major, minor, revision) of the provider in a plugin of libfabric, or None.

    data: content of the plugin's file. The result is None if the file contains no unambiguous
    release. If several providers have the same name, libfabric uses the provider with the newest
    release (ofi_register_provider() in libfabric's src/fabric.c).
    """
    releases: Set[Tuple[int, int, int]] = set()
    for match in _REGISTERED.finditer(data):
        revision, minor, major = (ord(match.group(number)) for number in (1, 3, 4))
        low, high = match.group(2)
        is_consistent = low + 256 * high == 100 * major + minor and revision % 10 == 0
        if match.start() % 8 == 0 and is_consistent:
            releases.add((major, minor, revision // 10))
    return releases.pop() if len(releases) == 1 else None


#: MPI family -> (value of srun's --mpi= that starts the MPI, text that the library must contain for
#: this value). MPICH and Intel MPI use the socket PMI_FD with the protocol PMI-1; Slurm's plugin
#: pmi2 also supports PMI-1 (measured: the process writes to this socket). Open MPI 5 only uses a
#: PMIx server (measured: the process connects to this server). MPICH mentions PMIx only in error
#: messages. Cray MPICH uses Cray PMI, and Cray PMI uses PALS (derived from its documentation)
PMI_KINDS = {
    'MPICH': ('pmi2', b'PMI_FD'),
    'Intel MPI': ('pmi2', b'PMI_FD'),
    'Open MPI': ('pmix', b''),
    'Cray MPICH': ('cray_shasta', b''),
}

#: Name of the control variable (CVAR) that lets MPICH pass buffers in GPU memory to libfabric.
#: MPICH has the variable since 4.1; 4.0.3 lacks it
HMEM_CVAR = b'MPIR_CVAR_CH4_OFI_ENABLE_HMEM'

#: MPI family -> (environment variable that disables single copy, first release that uses single
#: copy by default). Single copy: a rank reads a message directly from the memory of another rank on
#: the node, for which the kernel must give permission. MPICH 4.3 also has the variable, but does
#: not use single copy by default (measured with MPI_T in the wheels of 4.3.2 and 5.0.0 to 5.0.2).
#: Cray MPICH uses XPMEM or CMA for single copy (derived from intro_mpi(3)). Open MPI 5.0.11 and
#: Intel MPI 2021.19.0 run without this permission and are not slower (measured in one run on
#: 2026-11-23, with each of two ranks in its own user namespace)
SINGLE_COPY = {
    'MPICH': (b'MPIR_CVAR_CH4_CMA_ENABLE', '5.0'),
    'Cray MPICH': (b'MPICH_SMP_SINGLE_COPY_MODE', '8.1'),
}

#: String by which MPICH recognizes the provider cxi and selects the capabilities of cxi. cxi is the
#: first provider that requires FI_MR_ENDPOINT, and MPICH requests FI_MR_ENDPOINT only from cxi
#: (pmodels/mpich PR 5708). The wheels of MPICH contain the string since 4.1.3; 4.0.3 lacks it
CXI_SET = b'\0cxi\0'

#: Patterns for the device of MPICH: first as MPI_Get_library_version() prints the device, with
#: blanks between netmods; then as an option of configure, with commas between netmods
_DEVICES = [
    re.compile(rb'\0(ch[34]:\w+(?:[ ,]+\w+)*)\0'),
    re.compile(rb'--with-device=(ch[34]:[\w,]+)'),
]

#: Pattern for a row in MPICH's table of capability sets (pmodels/mpich, globals.c, ofi_types.h and
#: ofi_capability_sets.h in src/mpid/ch4/netmod/ofi). A row contains numbers of 32 bits in this
#: order: number of endpoints, their bits, pieces of an atomic, bits of context, source and tag, a
#: flag (since 4.1), major and minor number of libfabric's API, number of buffers for active
#: messages. The table is data, so that it is the same for all compilers and processors
_CAPABILITIES = re.compile(
    rb'[\0-\xff][\0-\x0f]\0\0[\0-\x10]\0{3}[\1-\x10]\0{3}[\x08-\x20]\0{3}'
    rb'[\0-\x20]\0{3}[\x0f-\x3f]\0{3}(?:[\0\1]\0{3})?([\1-\x09])\0{3}(.)\0{3}'
    rb'[\1-\x40]\0{3}',
    re.S,
)
#: Minimum number of rows in a table of capability sets
_MIN_ROWS = 5
#: Minimum number of rows in a table that has a row for psm3. The tables of MPICH since 4.1 have a
#: row for psm3; the table of 4.0 has 8 rows
_PSM3_ROWS = 10
#: Provider with a capability set of its own in MPICH -> string by which MPICH recognizes the
#: provider. MPICH recognizes ofi_rxm by a part of a name (tcp;ofi_rxm), and compilers do not store
#: such a part as a string
_PROVIDER_SETS = {
    'psm2': b'\0psm2\0',
    'psm3': b'\0psm3\0',
    'sockets': b'\0sockets\0',
    'cxi': b'\0cxi\0',
    'verbs;ofi_rxm': b'\0verbs;ofi_rxm\0',
    'ofi_rxm': b'',
}
#: Pattern for a build of MPICH in which configure selected one capability set. Such a build
#: contains the table of capability sets, but ignores the table
_ONE_SET = re.compile(rb'--with-device=ch4:(?:[a-z]+,)*ofi:')


def _find_capability_rows(data: bytes) -> Iterator[Match[bytes]]:
    """Yield each match of _CAPABILITIES in `data` at an offset that is a multiple of four."""
    row = _CAPABILITIES.search(data)
    while row:
        if row.start() % 4 == 0:
            yield row
        row = _CAPABILITIES.search(data, row.start() + 1 if row.start() % 4 else row.end())


def find_requested_apis(data: Any) -> Optional[Dict[str, Tuple[int, int]]]:
    """
    Return {provider: (major, minor)} of the libfabric API that an MPICH requests.

    data: content of the MPICH library. The key '' stands for all providers that are not keys of the
    result; its value is the API of the libfabric with which MPICH was built. The result is
    None if the file contains no unambiguous table of APIs.
    """
    # The table is a variable and not a constant (MPIDI_OFI_caps_list in globals.c).
    elf = ElfSections(data)
    text, variables = elf.read_strings(), elf.read_section(b'.data') or data[:]
    rows = [
        (row.start(1), (ord(row.group(1)), ord(row.group(2))))
        for row in _find_capability_rows(variables)
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
    # The first row is the default set, the second row the minimal set. Both rows contain the API of
    # the libfabric headers with which MPICH was built.
    requests = [[api for _, api in table] for table in tables if len(table) >= _MIN_ROWS]
    requests = [apis for apis in requests if apis[0] == apis[1] == max(apis)]
    if len(requests) != 1 or _ONE_SET.search(text):
        return None
    apis = requests[0]
    requested = {
        name: max(apis[2:]) for name, name_text in _PROVIDER_SETS.items() if name_text in text
    }
    if len(apis) < _PSM3_ROWS:  # The file contains the string psm3, but the table has no such row.
        requested.pop('psm3', None)
    requested[''] = apis[0]
    return requested


def read_mpi_traits(data: Any) -> Dict[str, Any]:
    """
    Return the features of an MPI library as {trait: value}.

    data: content of the library's file, bytes or mmap. The traits are:

    family, release: None if unknown.
    device: devices of an MPICH such as ['ch4:ofi', 'ch4:ucx'], the default first; None if unknown.
    hmem: whether an MPICH can pass GPU memory to libfabric; None for another family.
    cxi: whether an MPICH supports the provider cxi; None for another family.
    pmi: values of srun's --mpi= that can start the MPI.
    opens: libraries that the MPI may open with dlopen().
    asks: result of find_requested_apis().
    single_copy: result of find_single_copy_variable().

    Raises ValueError if the file is not an ELF file.
    """
    version, text = identify_library(data), ElfSections(data).read_strings()
    match = next((match for match in (pattern.search(text) for pattern in _DEVICES) if match), None)
    device = None
    if match:
        kind, _, netmods = match.group(1).decode('ascii').partition(':')
        device = [kind + ':' + netmod for netmod in re.split('[, ]+', netmods) if netmod]
    pmi, pmi_text = PMI_KINDS.get(version.family or '', (None, b''))
    return {
        'family': version.family,
        'release': version.release,
        'device': device,
        'hmem': HMEM_CVAR in text if version.family == 'MPICH' else None,
        'cxi': CXI_SET in text if version.family == 'MPICH' else None,
        'pmi': [pmi] if pmi and pmi_text in text else [],
        'opens': ['libfabric.so.1'] if b'\0libfabric.so.1\0' in text else [],
        'asks': find_requested_apis(data),
        'single_copy': find_single_copy_variable(version.family, version.release, text),
    }


def find_single_copy_variable(
    family: Optional[str], release: Optional[str], text: Optional[bytes] = None
) -> Optional[str]:
    """
    Return the environment variable that disables single-copy transfers in an MPI.

    The list SINGLE_COPY contains all known variables of this kind. The result is None if the MPI
    does not use single-copy transfers by default. text: constant strings of the MPI's library, None
    if the MPI is known from published data only.
    """
    variable, since = SINGLE_COPY.get(family or '', (b'', ''))
    numbers, first = (
        tuple(int(part) for part in re.findall(r'\d+', text or '')) for text in (release, since)
    )
    has_variable = variable and numbers >= first and (text is None or variable in text)
    return variable.decode('ascii') if has_variable else None


def parse_provider_name(path: str) -> Optional[str]:
    """
    Return the name of the provider in the plugin file `path`.

    The result is None if `path` is not the file name of a plugin.
    """
    match = re.match(PLUGIN + '$', posixpath.basename(path))
    return PLUGIN_NAMES.get(match.group(1), match.group(1)) if match else None


def read_fabric_traits(data: Any) -> Dict[str, Any]:
    """
    Return the features of a libfabric as {trait: value}.

    data: content of the library's file, bytes or mmap. The traits are:

    release: None if unknown.
    api: (major, minor) of the newest API that the libfabric supports, None if unknown.
    providers: sorted names of the providers that are built into the library.
    folders: folders in which the libfabric looks for provider plugins, None if unknown.
    by_name: whether the libfabric also opens plugins by name with dlopen().

    Raises ValueError if the file is not an ELF file.
    """
    providers, text = set(), ElfSections(data).read_strings()
    for name, starts in PROVIDERS.items():
        pattern = rb'\0(?:' + starts.encode('ascii') + rb')\w+'
        if len(set(re.findall(pattern, text))) >= _MIN_NAMES:
            providers.add(name)
    folders = _PROVIDER_PATH.search(text)
    return {
        'release': identify_library(data).release,
        'api': read_libfabric_version(ElfSections(data)),
        'providers': sorted(providers),
        'folders': folders.group(1).decode('ascii', 'replace').split(':') if folders else None,
        'by_name': not _NOT_BY_NAME.search(text),
    }

"""
What an MPI or libfabric library file can do, read from the names and texts in it. Nothing is loaded or run.

These are marks that compilers leave in the file: names of functions that a library prints in its messages, options of
its configure, names of the variables that it reads. What they say was compared with what the library itself says when
it is loaded (tests/core/reading/test_traits.py), for wheels of MPICH 3.4.3 to 5.0.2, Open MPI 5.0.11 and Intel
MPI 2021.19.0, and for Debian's libfabric 1.17 and 2.1. No libfabric with the provider cxi could be had there: its
mark is derived from the names of the functions in libfabric's prov/cxi/src.
"""
import posixpath
import re

from osu_container.core.reading.libraries import version_of

#: Provider of libfabric -> how the names of its functions begin, which its messages carry
PROVIDERS = {
    'coll': ['coll_'], 'cxi': ['cxip_'], 'efa': ['efa_', 'rxr_'], 'lnx': ['lnx_'], 'mrail': ['mrail_'],
    'opx': ['opx_', 'fi_opx_'], 'psm': ['psmx_'], 'psm2': ['psmx2_'], 'psm3': ['psmx3_', 'psm3_'], 'rxd': ['rxd_'],
    'rxm': ['rxm_'], 'shm': ['smr_'], 'sm2': ['sm2_'], 'sockets': ['sock_'], 'tcp': ['xnet_', 'tcpx_'], 'ucx': ['ucx_'],
    'udp': ['udpx_'], 'usnic': ['usdf_'], 'verbs': ['vrb_', 'fi_ibv_'],
}
#: A provider counts with so many of these names: one may be a word of another part
_NAMES = 3

#: Provider as a file of its own, in the folder libfabric/ beside the library: fi_provider(7); its name for FI_PROVIDER
PLUGIN = r'lib(\w+)-fi\.so(\.[\d.]+)?'
PLUGIN_NAMES = {'psmx2': 'psm2', 'psmx3': 'psm3'}

#: Family -> the kind of --mpi= of srun that it can be started with, and a text that is in the library then. MPICH and
#: Intel MPI talk over the socket PMI_FD, in the language PMI-1, which Slurm's plugin pmi2 speaks too; Open MPI 5 talks
#: to a PMIx server alone (both measured: who writes to that socket, who connects to that server). MPICH has words of
#: PMIx in its error texts only. Cray MPICH asks Cray PMI, which asks PALS (derived: its documentation).
PMI_KINDS = {'MPICH': ('pmi2', b'PMI_FD'), 'Intel MPI': ('pmi2', b'PMI_FD'), 'Open MPI': ('pmix', b'libpmix.so'),
             'Cray MPICH': ('cray_shasta', b'')}

#: CVAR by which MPICH lets libfabric have buffers in GPU memory (from 4.1 on, not in 4.0.3)
HMEM_CVAR = b'MPIR_CVAR_CH4_OFI_ENABLE_HMEM'

#: Family -> the variable that keeps it from copying messages out of the memory of another rank of its node, which needs
#: the kernel's leave, and the first release that does so unless it is told not to. MPICH 4.3 has the variable too, and
#: its default is off (measured: MPI_T in the wheels of 4.3.2, 5.0.0 to 5.0.2). Cray MPICH takes XPMEM or CMA (derived:
#: intro_mpi(3)). Open MPI 5.0.11 and Intel MPI 2021.19.0 run all the same, no slower (measured: two ranks in a user
#: namespace each, one run, 2026-11-23).
SINGLE_COPY = {'MPICH': (b'MPIR_CVAR_CH4_CMA_ENABLE', '5.0'), 'Cray MPICH': (b'MPICH_SMP_SINGLE_COPY_MODE', '8.1')}

#: The name by which MPICH looks whether a provider is cxi, to ask it for what it has. pmodels/mpich PR 5708: cxi is the
#: first provider that wants FI_MR_ENDPOINT, which MPICH asks of no other. In the wheels from 4.1.3 on, not in 4.0.3.
CXI_SET = b'\0cxi\0'

#: as MPI_Get_library_version() prints it (netmods parted by blanks), else as configure was called (by commas)
_DEVICES = [re.compile(br'\0(ch[34]:\w+(?:[ ,]+\w+)*)\0'), re.compile(br'--with-device=(ch[34]:[\w,]+)')]


def mpi_traits(data):
    """
    Return {'family', 'release', 'device', 'hmem', 'cxi', 'pmi', 'opens', 'single_copy'} of an MPI library (data: its
    content, bytes).

    family, release: str or None; device: list of str for an MPICH, e.g. ['ch4:ofi', 'ch4:ucx'], the default first, None
    where the file does not say; hmem: bool or None, can pass on GPU memory; cxi: bool or None, knows what the provider
    cxi wants; pmi: list of kinds of --mpi=; opens: list of libraries that it may open by itself; single_copy: str or
    None, the variable of SINGLE_COPY where it reads other ranks' memory. Raises ValueError if it is no ELF file.
    """
    version = version_of(data)
    found = next((match for match in (pattern.search(data) for pattern in _DEVICES) if match), None)
    device = None
    if found:
        kind, _, netmods = found.group(1).decode('ascii').partition(':')
        device = [kind + ':' + netmod for netmod in re.split('[, ]+', netmods) if netmod]
    kind, mark = PMI_KINDS.get(version.family, (None, b''))
    return {
        'family': version.family, 'release': version.release, 'device': device,
        'hmem': HMEM_CVAR in data if version.family == 'MPICH' else None,
        'cxi': CXI_SET in data if version.family == 'MPICH' else None,
        'pmi': [kind] if kind and mark in data else [],
        'opens': ['libfabric.so.1'] if b'\0libfabric.so.1\0' in data else [],
        'single_copy': single_copy(version.family, version.release, data),
    }


def single_copy(family, release, data=None):
    """
    Return the variable (str) of SINGLE_COPY where an MPI of a family and release (str or None) does so, else None.

    :param data: bytes, the content of its library; None for one that is described
    """
    variable, since = SINGLE_COPY.get(family, (b'', ''))
    numbers = [tuple(int(part) for part in re.findall(r'\d+', text or '')) for text in (release, since)]
    does = variable and numbers[0] >= numbers[1] and (data is None or variable in data)
    return variable.decode('ascii') if does else None


def fabric_traits(data, beside=()):
    """
    Return {'release', 'providers', 'plugins'} of a libfabric (data: its content, bytes).

    :param beside: names (list of str) of the files in the folder libfabric/ beside it
    release: str or None; providers: sorted list of str, those in the library; plugins: {provider: name of its file}.
    Raises ValueError if it is no ELF file.
    """
    providers = set()
    for name, starts in PROVIDERS.items():
        pattern = br'\0(?:' + b'|'.join(start.encode('ascii') for start in starts) + br')\w+'
        if len(set(re.findall(pattern, data))) >= _NAMES:
            providers.add(name)
    plugins = {}
    for name in beside:
        found = re.match(PLUGIN + '$', posixpath.basename(name))
        if found:
            plugins[PLUGIN_NAMES.get(found.group(1), found.group(1))] = posixpath.basename(name)
    return {'release': version_of(data).release, 'providers': sorted(providers), 'plugins': plugins}

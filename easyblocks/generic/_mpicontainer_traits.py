"""
What an MPI or libfabric library file can do, read from the names and texts in it. Nothing is loaded or run.

These are marks that compilers leave in the file: names of functions that a library prints in its messages, options of
its configure, names of the variables that it reads. What they say was compared with what the library itself says when
it is loaded (tests/test_traits.py), for the wheels of MPICH 3.4.3 to 5.0.2, Open MPI 5.0.11 and Intel MPI 2021.19.0 and
for Debian's libfabric 1.17 and 2.1. No libfabric with the provider cxi could be had there: its mark is derived from the
names of the functions in libfabric's prov/cxi/src.
"""
import posixpath
import re

from ._mpicontainer_versions import version_of

#: Provider of libfabric -> how the names of its functions begin, which its messages carry
PROVIDERS = {
    'coll': ['coll_'], 'cxi': ['cxip_'], 'efa': ['efa_', 'rxr_'], 'lnx': ['lnx_'], 'mrail': ['mrail_'],
    'opx': ['opx_', 'fi_opx_'], 'psm2': ['psmx2_'], 'psm3': ['psmx3_', 'psm3_'], 'rxd': ['rxd_'], 'rxm': ['rxm_'],
    'shm': ['smr_'], 'sm2': ['sm2_'], 'sockets': ['sock_'], 'tcp': ['xnet_', 'tcpx_'], 'ucx': ['ucx_'],
    'udp': ['udpx_'], 'usnic': ['usdf_'], 'verbs': ['vrb_', 'fi_ibv_'],
}
#: A provider counts with so many of these names: one may be a word of another part
_NAMES = 3

#: Provider as a file of its own, in the folder libfabric/ beside the library: fi_provider(7)
PLUGIN = r'lib(\w+)-fi\.so(\.[\d.]+)?'

#: By variables and functions in libmpi: the kinds of --mpi= of srun that it can be started with. MPICH reads PMI_FD for
#: PMI-1 and PMI-2 alike, and Slurm's plugin pmi2 speaks both; Open MPI 5 has PMIx alone; Cray MPICH asks PALS.
PMI_MARKS = [('cray_shasta', [b'PALS_', b'pals_']), ('pmi2', [b'PMI_FD', b'PMI_RANK']),
             ('pmix', [b'PMIX_', b'pmix_', b'PMIx_'])]

#: CVAR by which MPICH lets libfabric have buffers in GPU memory (from 4.1 on, not in 4.0.3)
HMEM_CVAR = b'MPIR_CVAR_CH4_OFI_ENABLE_HMEM'

_DEVICE = re.compile(br'(?:--with-device=|\0)(ch[34]:\w[\w, ]*?)(?=[\0 ]|$)')


def mpi_traits(data):
    """
    Return {'family', 'release', 'device', 'hmem', 'pmi', 'opens'} of an MPI library (data: its content, bytes).

    family, release: str or None; device: list of str for an MPICH, e.g. ['ch4:ofi', 'ch4:ucx'], the default first, None
    where the file does not say; hmem: bool or None, can pass on GPU memory; pmi: list of kinds of --mpi=; opens: list
    of libraries that it may open by itself. Raises ValueError if it is no ELF file.
    """
    version = version_of(data)
    found = _DEVICE.search(data)
    device = None
    if found:
        kind, _, netmods = found.group(1).decode('ascii').partition(':')
        device = [kind + ':' + netmod for netmod in re.split('[, ]+', netmods) if netmod]
    return {
        'family': version.family, 'release': version.release, 'device': device,
        'hmem': HMEM_CVAR in data if version.family == 'MPICH' else None,
        'pmi': [name for name, marks in PMI_MARKS if any(mark in data for mark in marks)],
        'opens': ['libfabric.so.1'] if b'\0libfabric.so.1\0' in data else [],
    }


def fabric_traits(data, beside=()):
    """
    Return {'release', 'providers'} of a libfabric (data: its content, bytes).

    :param beside: names (list of str) of the files in the folder libfabric/ beside it
    release: str or None; providers: sorted list of str. Raises ValueError if it is no ELF file.
    """
    providers = set()
    for name, starts in PROVIDERS.items():
        pattern = br'\0(?:' + b'|'.join(start.encode('ascii') for start in starts) + br')\w+'
        if len(set(re.findall(pattern, data))) >= _NAMES:
            providers.add(name)
    for name in beside:
        found = re.match(PLUGIN + '$', posixpath.basename(name))
        if found:
            providers.add(found.group(1))
    return {'release': version_of(data).release, 'providers': sorted(providers)}

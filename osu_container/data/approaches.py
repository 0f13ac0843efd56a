"""
Define the approaches: the ways a container reaches the network. Data only.

Keys of an approach:
    title            one clause for the help of the module
    container        False for the native build
    mpi              family of the MPI that the approach runs: 'MPICH ABI' or 'Open MPI', by the soname of libmpi
                     (image/image.py). The approach refuses images with another MPI
    mpi_also         other families that the approach accepts, in the order of preference
    inject           names of the site's libraries that replace the image's, together with their dependencies. libmpi
                     is the host's MPI under the soname that the image's programs need
                     (verdict/settings.py, HOST_MPI)
    inject_if_known  names of further libraries that the approach injects on sites that have these libraries
    preload          names of injected libraries that ld.so loads before the program (ld.so(8), LD_PRELOAD), in the
                     container only
    comes_from       {'libmpi': 'image' | 'host', 'libfabric': ...}: whose libraries the ranks must load. The module
                     help, osu-proof and srun --mpi= use this value
    entrypoint       optional, list of dict: target (folder in the container), and library (name of a library of the
                     site, whose folder is bound) or path (folder on the host), why, source, date, evidence. These
                     folders are bound instead of single files: the entrypoint of the image starts the
                     programs and searches these folders
    requires         sonames that the image's libmpi must need or open; otherwise injection has no effect
    files            names of the site's files that are bound under their own names if they exist
    unset            list of dict like variables, with value None: variables that must not be set, even by the image
    rank_variables   list of dict like variables, with value 'gcd' or 'nic': variables that osu-gpu-bind sets for each
                     rank from the site's gpu_binding
    by_family        optional, family of the image's MPI -> keys that replace those above
    exports          optional, list of dict like variables: variables that the container sets even if image or user
                     have set them, because the injected libraries need these values
    one_build        optional, beginnings of file names: a library of the host's MPI with such a name is injected,
                     even if the image has a library with this soname
    variables        list of dict: name, value, why, source, date, evidence (as in sites/schema.py). Each variable is
                     a default: a value that the user has set wins.

A value may contain {provider} and {lnx_links}, those of the site, and {rccl_plugin}, the path of
the RCCL plugin. Optional keys of a variable:
    only    list of conditions that are known at installation and must all hold:
            'gpu', 'no gpu': whether the site has GPUs; 'rocm', 'cuda': the vendor of the GPUs (gfx..., sm_...)
            'mpich >= 4.3.1', 'libfabric < 2.4': release of the MPICH or libfabric that runs, of the image or the
            host as in comes_from. Cray MPICH does not count as mpich
            'no libfabric >= 1.22': an older or unknown release
            'cxi', 'no cxi': whether the provider of the site is cxi
            'ucx', 'no ucx': whether UCX drives the cards of the network (data/networks.py)
            'rccl plugin': the image or the native build has this plugin
            'open mpi': the MPI is Open MPI
            'lnx': the site has lnx_links, and the libfabric that runs is 2.0 or newer, which has the provider lnx
    setting name of the settings module (SETTINGS) that sets the variable, instead of the module of the approach
    inside  True if the value is a path in the image: only commands of the approach set the variable, because another
            image has no such file

If several entries have the same name, the first entry whose conditions hold applies. Entries of an
approach precede those of the site.
"""

from typing import Any, Dict, List, Optional

_READ_DATE = '2026-11-21'
_CXI = 'fi_cxi(7), libfabric main caf5652c'
_PUBLISHED = (
    'github.com/DeiC-HPC/BitBulldozersLab, Docker build pipeline for 4 different container approaches on '
    'LUMI: the published runs'
)
_PUBLISHED_DATE = '2025-03-07'
_CSCS = 'docs.cscs.ch, software/communication/openmpi'
_HPE = 'HPE, github.com/HewlettPackard/shs-ccl-docs 1617c30, rccl_tuning_guide.md'
_HPE_READ_DATE = '2026-11-23'


def _make_variable(
    name: str,
    value: Optional[str],
    why: str,
    source: str,
    evidence: str = 'derived',
    date: str = _READ_DATE,
    only: str = '',
    **conditions: Any,
) -> Dict[str, Any]:
    """
    Return one variable; only: its conditions, separated by ', '.

    date: when somebody observed the value, by default when this project read the source.
    """
    if only:
        conditions['only'] = only.split(', ')
    return dict(
        conditions, name=name, value=value, why=why, source=source, date=date, evidence=evidence
    )


#: Optional settings: name of the module below osu-settings -> description. An approach has those of
#: which a variable applies
SETTINGS = {
    'single-node': 'for jobs on one node: the ranks use shared memory instead of cxi (untested on LUMI)',
    'linkx': 'LINKx, an experiment: the provider lnx takes shared memory within a node and the network\'s provider '
    'between nodes. It is known to hang, to be slow or to end with an error '
    '(github.com/ofiwg/libfabric/issues/10712, 11231, 11392, 11900, 11987)',
    'rccl-strict': 'RCCL fails if its plugin is missing, instead of using TCP; not for jobs on one node',
    'rccl-alt-read': (
        'all variables that HPE recommends for RCCL and NCCL. Every message uses rendezvous '
        'without the offload of the network card (FI_CXI_RDZV_PROTO needs srun '
        '--network=disable_rdzv_get), and queues are larger. Only for programs that use RCCL '
        'alone: MPI loses its eager messages'
    ),
    'rccl-gdr': (
        'NCCL_NET_GDR_LEVEL=PHB, which HPE recommends: RCCL lets the network card read GPU '
        'memory up to the distance PHB. On LUMI, runs with ROCm 7 hung with this setting, and '
        'were not slower without it'
    ),
}

_PROVIDER = (
    'libfabric uses the provider of this network or fails. It never falls back to another '
    'provider silently',
    'fi_fabric(7), FI_PROVIDER',
)
_PROVIDER_OF_SITE = _make_variable('FI_PROVIDER', '{provider}', *_PROVIDER)

_GPU_IN_CRAY_MPICH = [
    _make_variable(
        'MPICH_GPU_SUPPORT_ENABLED',
        '1',
        'Cray MPICH accepts buffers in GPU memory only with this variable, and it also needs '
        'the GTL library',
        _PUBLISHED + ' over Cray MPICH set it',
        'measured',
        _PUBLISHED_DATE,
        only='gpu',
    ),
    _make_variable(
        'MPICH_OFI_NIC_POLICY',
        'GPU',
        'each rank uses the network card nearest to its GPU. Only Cray MPICH reads this variable',
        'LUMI training 2026-04, 202-Binding.md',
        'derived',
        '2026-06-17',
        only='gpu',
    ),
]

#: The libfabric that has FI_CXI_RDZV_PROTO: HPE's guide names 1.22.0. If the card leaves rendezvous
#: to an older libfabric, neither does it
_ALT_READ_RELEASE = 'libfabric >= 1.22'
_ALT_READ_CONDITIONS: Dict[str, Any] = {
    'setting': 'rccl-alt-read',
    'only': 'cxi, gpu, ' + _ALT_READ_RELEASE,
}
_ALT_READ_NETWORK = (
    'the network card leaves rendezvous to the provider, which FI_CXI_RDZV_PROTO=alt_read requires',
    'srun(1) of Slurm 24.05, --network; ' + _HPE,
    'untested',
    _HPE_READ_DATE,
)

# RCCL and NCCL through their plugin for libfabric, over cxi. They precede the entries of MPI for the
# same variables.
_RCCL = [
    _make_variable(
        'NCCL_NET',
        'AWS Libfabric',
        'RCCL uses the plugin or fails; otherwise RCCL falls back to TCP silently. Plugins '
        'since 1.12 are called Libfabric and also accept this name',
        'HewlettPackard/shs-ccl-docs, ccl_env.sh; github.com/aws/aws-ofi-nccl, pull request 530',
        'untested',
        only='cxi, gpu',
        setting='rccl-strict',
    ),
    _make_variable(
        'NCCL_NET_PLUGIN',
        '{rccl_plugin}',
        'RCCL finds its plugin by the full path, whatever the library path is. Without the '
        'plugin RCCL uses TCP (3 GB/s published)',
        'aws-ofi-nccl README; ' + _PUBLISHED,
        only='gpu, rccl plugin',
        inside=True,
    ),
    _make_variable(
        'FI_MR_CACHE_MONITOR',
        'userfaultfd',
        'the kernel tells libfabric which memory was released. With memhooks, the default of '
        'libfabric, RCCL and NCCL can hang',
        'github.com/Lumi-supercomputer/'
        'LUMI-AI-Guide, pull request 118; so do NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, '
        'nccl_env_vars) and ' + _HPE,
        'derived',
        '2026-09-15',
        only='cxi, gpu',
    ),
    _make_variable(
        'FI_CXI_DISABLE_HOST_REGISTER',
        '1',
        'the provider does not register host memory with CUDA, because NCCL can wait for this '
        'registration for ever',
        'NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars), '
        'HPE (shs-ccl-docs 832182d, nccl_tuning_guide.md)',
        'derived',
        _HPE_READ_DATE,
        only='cxi, cuda',
    ),
    # Sites with NVIDIA GPUs set it always: NERSC and CSCS do, and no hang is known there.
    _make_variable(
        'NCCL_NET_GDR_LEVEL',
        'PHB',
        'the network card reads GPU memory also at distances at which RCCL would not choose '
        'this by default. On LUMI, runs on several nodes with ROCm 7 hung with this setting, '
        'and were not slower without it',
        _HPE
        + '; against it laifs-container-recipes#30, Lumi-supercomputer/LUMI-AI-Guide pull request 97',
        'untested',
        _HPE_READ_DATE,
        only='cxi, rocm',
        setting='rccl-gdr',
    ),
] + [
    _make_variable(
        name,
        value,
        why,
        _HPE,
        'untested',
        _HPE_READ_DATE,
        setting=_ALT_READ_CONDITIONS['setting'],
        only=_ALT_READ_CONDITIONS['only'] + more,
    )
    for name, value, why, more in (
        (
            'FI_CXI_RDZV_PROTO',
            'alt_read',
            'libfabric uses the rendezvous protocol that needs srun --network=disable_rdzv_get',
            '',
        ),
        ('FI_CXI_RDZV_THRESHOLD', '0', 'every message uses rendezvous', ''),
        (
            'FI_CXI_RDZV_GET_MIN',
            '0',
            'no message uses the get operation of the network card, which alt_read replaces',
            '',
        ),
        (
            'FI_CXI_RDZV_EAGER_SIZE',
            '0',
            'the sender sends no data before the receiver is ready',
            '',
        ),
        (
            'FI_CXI_RX_MATCH_MODE',
            'hybrid',
            'the provider matches messages when the network card has no room for more',
            '',
        ),
        ('FI_CXI_DEFAULT_CQ_SIZE', '131072', 'the completion queue has room for large jobs', ''),
        (
            'FI_CXI_DEFAULT_TX_SIZE',
            '2048',
            'the send queue has room for the messages that large jobs send before they are '
            'received',
            '',
        ),
        (
            'FI_CXI_DISABLE_HOST_REGISTER',
            '1',
            'the provider does not register host memory with ROCm, because RCCL can wait for '
            'this registration for ever',
            ', rocm',
        ),
        (
            'HSA_FORCE_FINE_GRAIN_PCIE',
            '1',
            'other devices can read GPU memory over PCIe',
            ', rocm',
        ),
    )
]
_RCCL_NETWORK = _make_variable(
    'SLURM_NETWORK', 'disable_rdzv_get', *_ALT_READ_NETWORK, **_ALT_READ_CONDITIONS
)

#: The libfabric that has FI_CXI_DISABLE_NON_INJECT_MSG_IDC: the first release with cxi, and Cray's
#: 1.22.0, the branch release/shs-12.0 of the same code, but not Cray's 1.15.2. Cray MPICH does
#: not need it: 2.4 to 2.7 microseconds over 1.22.0 (EESSI on LUMI, 2026-05-21).
_IDC_SWITCH = 'libfabric >= 1.21'

# Open-source MPICH in an image, which searches for a GPU if it was built with HIP or CUDA
_MPICH_WITHOUT_GPU = [
    _make_variable(
        'MPIR_CVAR_ENABLE_GPU',
        '0',
        'the node has no GPU. MPICH that is built with HIP or CUDA would search for a GPU and '
        'fail with a segmentation fault',
        'MPICH 4.0.2 with HIP 5.7.1 and with CUDA 12.4 (images of family '
        'debian) on a node without GPU, with and without, seen here; wheels 3.4.3 to 5.0.2 have it',
        'derived',
        '2026-11-24',
        only='no gpu, mpich >= 3.4',
    ),
]

# Open-source MPICH over cxi, with the libfabric of image or host: hybrid, swap and opensource
_MPICH_OVER_CXI = _MPICH_WITHOUT_GPU + [
    _make_variable('FI_PROVIDER', '{provider}', *_PROVIDER),
    _make_variable(
        'FI_PROVIDER',
        '^cxi',
        'libfabric uses any provider but cxi, so MPICH uses shared memory',
        'fi_fabric(7), FI_PROVIDER',
        'untested',
        only='cxi',
        setting='single-node',
    ),
    _make_variable(
        'MPIR_CVAR_SINGLE_HOST_ENABLED',
        '1',
        'MPICH avoids cxi when all ranks are on one node, which is the default of MPICH',
        'MPICH src/mpid/ch4/netmod/ofi/init_provider.c',
        'untested',
        only='cxi, mpich >= 4.2',
        setting='single-node',
    ),
    _make_variable(
        'MPIR_CVAR_CH4_OFI_ENABLE_HMEM',
        '1',
        'MPICH passes buffers in GPU memory to libfabric without a copy; MPICH does not do this'
        ' by default',
        _PUBLISHED + ' with MPICH 4.2.3 reach 24 GB/s with it; wheels from 4.1.3 on have the CVAR',
        'measured',
        _PUBLISHED_DATE,
        only='cxi, gpu, mpich >= 4.1',
    ),
    _make_variable(
        'MPIR_CVAR_SINGLE_HOST_ENABLED',
        '0',
        'MPICH uses cxi also when all ranks are on one node, because FI_PROVIDER=cxi leaves no '
        'other provider',
        'MPICH src/mpid/ch4/netmod/ofi/init_provider.c; wheels from 4.2.3 on have it',
        'untested',
        only='cxi, mpich >= 4.2',
    ),
    _make_variable(
        'SLURM_NETWORK',
        'single_node_vni,disable_rdzv_get',
        'a step on one node gets a VNI, without which cxi has no key, and ' + _ALT_READ_NETWORK[0],
        *_ALT_READ_NETWORK[1:],
        **_ALT_READ_CONDITIONS,
    ),
    _make_variable(
        'SLURM_NETWORK',
        'single_node_vni',
        'a step on one node gets a VNI, without which cxi has no key',
        'github.com/lumi-ai-factory/laifs-container-recipes, pull request 22: jobs of containers on one node of '
        'LUMI need it; Slurm 24.05.8: srun reads SLURM_NETWORK (opt.c), switch/hpe_slingshot the word',
        'measured',
        '2026-03-31',
        only='cxi',
    ),
    _make_variable(
        'FI_CXI_RDZV_THRESHOLD',
        '16384',
        'MPI sends messages up to this size in bytes eagerly. This avoids the sudden rise of '
        'latency at 8 to 16 KiB that the old default 2048 causes',
        'Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher); libfabric 2.4 made it the default',
        'untested',
        only='cxi, libfabric < 2.4',
    ),
    _make_variable(
        'FI_CXI_RDZV_EAGER_SIZE',
        '2048',
        'a rendezvous message sends this number of bytes ahead. Cray MPICH sets the same value '
        'together with that threshold',
        'Cray MPICH sets it (MPICH_ENV_DISPLAY on Crusher)',
        'untested',
        only='cxi, libfabric < 2.4',
    ),
    _make_variable(
        'FI_CXI_DISABLE_NON_INJECT_MSG_IDC',
        '1',
        'libfabric sends small messages from GPU memory without the host. The latency is 3 '
        'instead of 21 microseconds with Open MPI. MPICH must not inject these messages either '
        '(MPIR_CVAR_CH4_OFI_ENABLE_INJECT, MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM)',
        _CXI + '; EESSI on LUMI, 2026-05-21',
        'untested',
        only=f'cxi, gpu, {_IDC_SWITCH}',
    ),
    _make_variable(
        'MPIR_CVAR_CH4_OFI_ENABLE_INJECT',
        '0',
        'MPICH does not inject small messages, because libfabric copies injected messages. '
        'Messages in host memory become a little slower',
        'wheel 4.3.2 has the CVAR, 4.2.3 has not',
        'untested',
        only=f'cxi, gpu, mpich >= 4.3.1, mpich < 5.0.2, {_IDC_SWITCH}',
    ),
    _make_variable(
        'MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM',
        '1',
        'MPICH registers GPU memory instead of injecting it',
        'pmodels/mpich PR 7858; CHANGES of 5.0.2',
        'untested',
        only=f'cxi, gpu, mpich >= 5.0.2, {_IDC_SWITCH}',
    ),
]

#: LINKx as CSCS describes it
_LINKX = _CSCS + ', LINKx (experimental)'
_LINKX_SHM = (
    'Open MPI 5.0.11 over libfabric 2.5.1 on a workstation, lnx over shm, 2026-11-21: osu_latency, osu_bw, '
    'osu_alltoall with up to 8 ranks'
)
_LINKX_CONDITIONS: Dict[str, Any] = {'setting': 'linkx', 'only': 'lnx'}
_OMB_CXI = 'eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi, omb-ompi-cxi.toml'


def _make_linkx_pair(
    name: str, value: str, why: str, source: str, *rest: str, **conditions: Any
) -> List[Dict[str, Any]]:
    """Return a variable's entries with and without LINKx; `value` is that without."""
    return [
        _make_variable(
            name,
            'lnx',
            'libfabric uses its provider lnx (LINKx), which links other providers',
            _LINKX,
            **_LINKX_CONDITIONS,
        ),
        _make_variable(name, value, why, source, *rest, **conditions),
    ]


# Open MPI 5 over libfabric, for all messages, also between ranks of one node
_OPENMPI_OVER_LIBFABRIC = (
    _make_linkx_pair('FI_PROVIDER', '{provider}', *_PROVIDER)
    + [
        _make_variable(
            'OMPI_MCA_pml',
            'cm',
            'the network library matches the messages. By default Open MPI uses its own TCP or '
            'shared memory if it recognises no fast network. OMPI_MCA_pml=ucx selects UCX '
            'instead. The module does not set this variable if UCX drives the network cards, '
            'because Open MPI then selects the better library of the image',
            _CSCS,
            only='no ucx',
        ),
        _make_variable(
            'OMPI_MCA_mtl',
            'ofi',
            'the network library that matches the messages is libfabric',
            _CSCS,
            only='no ucx',
        ),
    ]
    + _make_linkx_pair(
        'OMPI_MCA_opal_common_ofi_provider_include',
        '{provider}',
        'Open MPI uses the providers tcp, shm and some others only if this variable names them',
        'ompi_info --all of 5.0.11, opal_common_ofi_provider_exclude',
    )
    + [
        _make_variable(
            'OMPI_MCA_btl',
            '^tcp,ofi,vader,openib',
            'one-sided messages use no component that bypasses libfabric or opens the network '
            'card a second time',
            _OMB_CXI + '; github.com/open-mpi/ompi/issues/13803',
            **conditions,
        )
        for conditions in (_LINKX_CONDITIONS, {'only': 'cxi'})
    ]
    + [
        _make_variable(
            'OMPI_MCA_mtl_ofi_av',
            'table',
            'the provider lnx supports only address tables. With the default of Open MPI, a '
            'map, MPI_Init fails',
            _LINKX + '; ' + _LINKX_SHM,
            **_LINKX_CONDITIONS,
        ),
        _make_variable(
            'FI_LNX_PROV_LINKS',
            '{lnx_links}',
            'lnx links these providers: shared memory with each network card, and | separates '
            'the cards',
            _LINKX + '; fi_lnx(7)',
            **_LINKX_CONDITIONS,
        ),
        _make_variable(
            'FI_SHM_USE_XPMEM',
            '1',
            'ranks of a node copy messages once, by xpmem, if the node has xpmem',
            _LINKX,
            **_LINKX_CONDITIONS,
        ),
        _make_variable(
            'FI_HMEM_CUDA_USE_GDRCOPY',
            '1',
            'the CPU makes small copies from GPU memory through GDRCopy, which the image contains',
            _OMB_CXI,
            only='cxi, cuda',
        ),
        _make_variable(
            'FI_CXI_DISABLE_NON_INJECT_MSG_IDC',
            '1',
            'libfabric sends small messages from GPU memory without the host. The latency is 3 '
            'instead of 21 microseconds on GPUs of AMD',
            _CXI + '; EESSI on LUMI, 2026-05-21',
            'untested',
            only=f'cxi, rocm, {_IDC_SWITCH}',
        ),
        _make_variable(
            'PMIX_MCA_psec',
            'native',
            "PMIx uses the security domain of Slurm's PMIx. With another domain PMIx prints "
            'warnings',
            _CSCS,
        ),
        _make_variable(
            'PMIX_MCA_gds',
            'hash',
            'ranks exchange their addresses by messages. Slurm may have another release of '
            'PMIx, whose shared memory the PMIx of the image cannot read',
            'on a workstation PMIx 4.2.2 of Slurm offers ds21 '
            'and ds12, and that of Open MPI 5.0.11 has hash and shmem2 alone; with shmem2 MPI_Init fails, '
            '2026-11-21',
        ),
    ]
)

#: Variables that bind sets if the image's MPI is Open MPI
_TRIAL_SOURCE = (
    'steps on two nodes: hosts with Open MPI 5.0.11, 4.1.8 and that of Debian 11, 12 and 13, images with 4.1 '
    'and 5.0; opal/mca/installdirs/env and its like in PMIx'
)
_HOST_MPI_EXPORTS = [
    _make_variable(name, '/opt/host-mpi' + below, why, _TRIAL_SOURCE, evidence, '2026-11-26')
    for name, below, evidence, why in (
        (
            'OPAL_PREFIX',
            '',
            'measured',
            "the host's Open MPI reads its own files, such as openmpi-mca-params.conf. Images "
            'with Open MPI set this variable to a folder of the image',
        ),
        (
            'OMPI_MCA_mca_base_component_path',
            '/lib/openmpi',
            'measured',
            "the host's Open MPI loads the plug-ins of the host. Without this variable Debian's"
            ' Open MPI finds no plug-ins and fails in opal_init. OPAL_PKGLIBDIR has the same '
            'effect, but MPI_Init fails if PMIX_PKGLIBDIR names another folder',
        ),
        (
            'OPAL_SYSCONFDIR',
            '/etc',
            'derived',
            "Debian's Open MPI reads its parameters from /etc/openmpi of the image, even if "
            'OPAL_PREFIX names another folder',
        ),
        ('PMIX_PREFIX', '', 'derived', "the host's PMIx reads its own files"),
        (
            'PMIX_MCA_mca_base_component_path',
            '/lib/pmix',
            'measured',
            "the host's PMIx loads the plug-ins of the host. In Debian 11 these plug-ins are files",
        ),
        (
            'UCX_MODULE_DIR',
            '/lib/ucx',
            'measured',
            "the host's UCX loads the plug-ins of the host. By default UCX loads plug-ins from "
            'the path of its build, where an image may have plug-ins of another release: in an '
            'image of Debian sid the UCX of Debian 13 failed with an undefined symbol',
        ),
    )
]
#: Libraries of Open MPI and of its build: hwloc, libevent and UCX keep their soname when they get
#: new functions
_OPEN_MPI_BUILD = (
    'libmpi libopen- liboshmem libmca_common_ libpmix libprrte libhwloc libevent libuc libfabric'
).split()

# Folders in which the image's entrypoint searches the host's libraries
_SWAP = 'HPE, "MPI OSU Benchmarks" with its libfabric swap (hpc-ai-envs): --bind .../lib64:/host/lib,/usr:/host/usr'
_HOST_FOLDERS = [
    {
        'target': '/host/lib',
        'library': 'libfabric',
        'why': 'the entrypoint of the image uses the libfabric in this folder',
        'source': _SWAP,
        'date': _READ_DATE,
        'evidence': 'derived',
    },
    {
        'target': '/host/usr',
        'path': '/usr',
        'why': 'the entrypoint of the image uses libcxi and the dependencies in this folder',
        'source': _SWAP,
        'date': _READ_DATE,
        'evidence': 'derived',
    },
]
_SWAP_OR_ERROR = _make_variable(
    'OSU_SWAP',
    'require',
    "the entrypoint of this project's images fails if it cannot use the host's libfabric. HPE's"
    ' entrypoint continues with the libfabric of the image',
    'container-recipes/README.md',
)

# Both must be unset: libfabric only checks whether they exist, so that =0 enables the slow path too.
_NO_FORK_SAFE = [
    _make_variable(
        name,
        None,
        'if this variable has any value, libfabric copies every small message from GPU memory '
        'by a slow path. This is the most probable cause of a latency of 21 instead of 2.5 '
        'microseconds',
        'libfabric prov/cxi/src/cxip_info.c, cxip_msg.c',
        only='cxi',
    )
    for name in ('CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP')
]

_GPU_OF_RANK = _make_variable(
    'ROCR_VISIBLE_DEVICES',
    'gcd',
    'the rank sees only the GPU nearest to its cores',
    'LUMI training 2026-04, 202-Binding.md',
    'derived',
    '2026-06-17',
    only='rocm',
)
_CUDA_GPU_OF_RANK = _make_variable(
    'CUDA_VISIBLE_DEVICES',
    'gcd',
    'the rank sees only the GPU nearest to its cores',
    'CUDA C++ Programming Guide, CUDA environment variables',
    only='cuda',
)
_NIC_OF_RANK = _make_variable(
    'FI_CXI_DEVICE_NAME',
    'nic',
    'the rank uses the network card nearest to its GPU. By default open-source MPICH uses the '
    'card nearest to the cores of the rank, or the first card; it ignores MPICH_OFI_NIC_POLICY',
    _CXI,
    only='gpu, cxi',
)

#: Variables of UCX for ranks on one machine that are each in their own user namespace. UCX recognises
#: such ranks itself, even if the launcher reports two nodes.
UCX_NAMESPACE_VARIABLES = [
    _make_variable(
        'UCX_POSIX_USE_PROC_LINK',
        'n',
        'UCX opens shared memory by its name: by default it opens /proc/PID/fd of the other rank, which the '
        'kernel refuses in another user namespace',
        'UCX 1.13.1 of Debian 12 under MPICH 4.0.2, two ranks in a user namespace each, 2026-11-28: without it '
        '"mm_posix.c ... Permission denied"; github.com/openucx/ucx, issues 4224 and 5571; newer releases test the '
        'access first (pull request 9213)',
        'measured',
        '2026-11-28',
    ),
    _make_variable(
        'UCX_TLS',
        '^cma',
        'UCX copies messages through shared memory: the kernel lets no rank read the memory of a rank in '
        'another user namespace (CMA)',
        'UCX 1.13.1 of Debian 12 under MPICH 4.0.2, two ranks in a user namespace each, messages of 8 bytes to '
        '16 MiB, 2026-11-28: without it process_vm_readv fails from 32 KiB on; '
        'github.com/openucx/ucx, issue 8958',
        'measured',
        '2026-11-28',
    ),
]
#: Variables for ranks of a node that are each in their own user namespace: the kernel lets no rank
#: read the memory of another (process_vm_readv, "CMA") or open its files below /proc, and an MPI that
#: tries fails. run-in-container sets them for ranks that it cannot put into one container.
NAMESPACE_VARIABLES = [
    _make_variable(
        'MPIR_CVAR_CH4_CMA_ENABLE',
        '0',
        'MPICH 5 copies larger messages through shared memory. By default MPICH 5 reads the '
        'memory of the other rank (CMA)',
        'MPICH 5.0.2 as an ordinary user, two ranks on one node, a bandwidth test: an error from 8 KiB on, '
        'none with it, 2026-11-22; 4.2.3 and 4.3.2 do not',
        'measured',
        '2026-11-22',
        only='no open mpi',
    ),
    # XPMEM alone would work: xpmem_get.c of hpc/xpmem compares the kernel's user ids and ignores
    # namespaces.
    _make_variable(
        'MPICH_SMP_SINGLE_COPY_MODE',
        'NONE',
        'Cray MPICH copies messages through shared memory. By default it reads the memory of '
        'the other rank (XPMEM or CMA)',
        'intro_mpi(3) of Cray MPICH 8.1; NCAR\'s scripts for Apptainer and Charliecloud on Derecho set it',
        'derived',
        '2026-11-23',
        only='no open mpi',
    ),
    _make_variable(
        'OMPI_MCA_smsc',
        '^cma,xpmem,knem',
        'Open MPI 5 copies messages through shared memory. By default it reads the memory of '
        'the other rank by one of these components',
        'docs.open-mpi.org, v5.0.x, The sm BTL: smsc',
        'derived',
        '2026-11-22',
        only='open mpi',
    ),
    _make_variable(
        'OMPI_MCA_btl_vader_single_copy_mechanism',
        'none',
        'Open MPI 4 copies messages through shared memory. By default it reads the memory of '
        'the other rank',
        'github.com/open-mpi/ompi/issues/4948',
        'derived',
        '2026-11-22',
        only='open mpi',
    ),
    *UCX_NAMESPACE_VARIABLES,
    _make_variable(
        'FI_SHM_DISABLE_CMA',
        '1',
        "libfabric's provider shm copies messages through shared memory. By default it reads "
        'the memory of the other rank (CMA)',
        'fi_shm(7)',
        'derived',
        '2026-11-22',
    ),
]

#: Programs for the standard ABI of MPI 5 run with an MPI of this ABI, of the image or of the host
_STANDARD_ABI = ['the standard ABI of MPI 5']
#: The soname does not matter if the image's MPI is used
_ANY_MPICH = _STANDARD_ABI + [
    'the standard ABI of MPI 5 under a wrong soname',
    'MPICH under Debian\'s own soname',
]

#: In the expectation of a module, instead of 'host' or 'image': the MPI of this image does not use
#: libfabric
NO_LIBFABRIC = 'none'

#: Path in a container of the script that injects the host's libraries: verdict/injection.py
INJECTION_SCRIPT = '/.singularity.d/env/99-host-mpi.sh'

#: An image with everything that MPI needs
_SELF_CONTAINED: Dict[str, Any] = {
    'container': True,
    'mpi': 'MPICH ABI',
    'mpi_also': _ANY_MPICH,
    'inject': [],
    'inject_if_known': [],
    'preload': [],
    'comes_from': {'libmpi': 'image', 'libfabric': 'image'},
    'requires': ['libfabric.so.1'],
    'files': ['file_systems', 'cxi_state', 'kernel_config'],
    'unset': _NO_FORK_SAFE,
    'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK, _NIC_OF_RANK],
    'variables': _RCCL + _MPICH_OVER_CXI,
}
#: The same with the host's network library instead of the image's
_HOST_NETWORK = dict(
    _SELF_CONTAINED,
    inject=['libfabric'],
    inject_if_known=['libcxi'],
    comes_from={'libmpi': 'image', 'libfabric': 'host'},
)

APPROACHES: Dict[str, Dict[str, Any]] = {
    'native': {
        'title': 'programs built on this host with its own MPI',
        'container': False,
        'mpi': 'MPICH ABI',
        'mpi_also': [],
        'inject': [],
        'inject_if_known': [],
        'preload': [],
        'comes_from': {'libmpi': 'host', 'libfabric': 'host'},
        'requires': [],
        'files': [],
        'unset': [],
        'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK],
        'variables': [_PROVIDER_OF_SITE, _RCCL_NETWORK] + _GPU_IN_CRAY_MPICH + _RCCL,
    },
    'pure': dict(
        _SELF_CONTAINED,
        **{
            'title': 'only libraries of the image, over TCP',
            'requires': [],
            'files': ['file_systems'],
            'unset': [],
            'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK],
            'variables': [
                _make_variable(
                    'FI_PROVIDER',
                    'tcp',
                    'libfabric uses TCP: every host has this network, also without host libraries',
                    _PUBLISHED + ' of pure reach about 2 GB/s over TCP',
                    'measured',
                    _PUBLISHED_DATE,
                ),
                _make_variable(
                    'NCCL_NET',
                    'Socket',
                    'RCCL uses TCP, even if the image has a plugin',
                    'NCCL documentation, NCCL_NET',
                    only='gpu',
                ),
            ]
            + _MPICH_WITHOUT_GPU,
        },
    ),
    'bind': {
        'title': 'the host\'s MPI and network libraries replace the image\'s',
        'container': True,
        'mpi': 'MPICH ABI',
        'mpi_also': _STANDARD_ABI + ['Open MPI'],
        'inject': ['libmpi', 'libfabric'],
        'inject_if_known': (
            'libcxi libmpi_gtl_hsa libmpi_gtl_cuda libcudart libhsa-runtime64 libamdhip64 '
            'libpmi libpmi2 libpals libxpmem liblustreapi'
        ).split(),
        'preload': ['libhsa-runtime64', 'libmpi_gtl_hsa', 'libmpi_gtl_cuda'],
        'comes_from': {'libmpi': 'host', 'libfabric': 'host'},
        'requires': [],
        'files': ['file_systems', 'slurm_spool', 'pals_state', 'cxi_state', 'libdrm_ids'],
        'unset': _NO_FORK_SAFE,
        'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK],
        'variables': [_PROVIDER_OF_SITE, _RCCL_NETWORK] + _GPU_IN_CRAY_MPICH + _RCCL,
        'by_family': {
            'Open MPI': {
                'mpi': 'Open MPI',
                'mpi_also': [],
                'inject': ['libmpi'],
                'inject_if_known': (
                    'libfabric libcxi libcudart libhsa-runtime64 libamdhip64 libxpmem'
                ).split(),
                'preload': [],
                'one_build': _OPEN_MPI_BUILD,
                'exports': _HOST_MPI_EXPORTS,
                'files': ['file_systems', 'cxi_state', 'libdrm_ids', 'pmix_ranks', 'pmix_server'],
                'unset': _NO_FORK_SAFE,
                'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK, _NIC_OF_RANK],
                'variables': [_RCCL_NETWORK] + _RCCL + _OPENMPI_OVER_LIBFABRIC,
            }
        },
    },
    'hybrid': dict(_HOST_NETWORK, title='the image\'s MPI over the host\'s network library'),
    'swap': dict(
        _HOST_NETWORK,
        title="the image's entrypoint replaces the network library of the image by the host's",
        entrypoint=_HOST_FOLDERS,
        variables=_HOST_NETWORK['variables'] + [_SWAP_OR_ERROR],
    ),
    'opensource': dict(_SELF_CONTAINED, title='MPI and network library of the image'),
    'openmpi': dict(
        _SELF_CONTAINED,
        **{
            'title': 'Open MPI and network library of the image',
            'mpi': 'Open MPI',
            'mpi_also': [],
            'requires': [],
            'files': ['file_systems', 'cxi_state', 'kernel_config', 'pmix_ranks', 'pmix_server'],
            'variables': [_RCCL_NETWORK] + _RCCL + _OPENMPI_OVER_LIBFABRIC,
        },
    ),
}

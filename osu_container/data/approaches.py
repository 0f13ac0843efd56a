"""
Define the approaches: the ways in which the MPI of a container reaches the network.

This module contains only data.

Keys of an approach:
    title            one clause that describes the approach in the help of the module
    container        True if the programs run in a container, False for the native build
    mpi              family of the MPI that the approach runs: 'MPICH ABI' or 'Open MPI'. The soname of libmpi
                     identifies the family (image/image.py). The approach refuses images with another MPI
    mpi_also         other families that the approach accepts, in the order of preference
    inject           names of host libraries that replace the libraries of the image. The host libraries that an
                     injected library needs are injected too. The name libmpi means the host's MPI under the
                     soname that the image's programs need (verdict/settings.py, HOST_MPI)
    inject_if_known  names of further libraries that the approach injects on sites that have these libraries
    preload          names of injected libraries that LD_PRELOAD lists in the container: ld.so loads these libraries
                     before all other libraries of a program (ld.so(8))
    comes_from       {'libmpi': 'image' or 'host', 'libfabric': 'image' or 'host'}: says whether the ranks
                     must load the library of the image or of the host. The module help, osu-proof and the
                     choice of srun --mpi= use this value
    entrypoint       optional: list of bind mounts of whole host folders. The entrypoint of the image starts the
                     programs and searches these folders for libraries. Each bind mount is a dict with the
                     keys `target` (folder in the container), why, source, date, evidence, and one of the
                     keys `path` (the host folder) and `library` (name of a host library in the host folder)
    requires         sonames of libraries that the image's libmpi must load, such as libfabric.so.1. If libmpi does not
                     load libfabric.so.1, for example, the injected libfabric of the host has no effect
    files            names of entries in the site's key `files`. The host paths of each entry are bind-mounted under
                     the same paths in the container, if the paths exist
    unset            list of variables that must not be set in the container, even if the image sets the variables.
                     Each variable is a dict with the keys of `variables` and the value None
    rank_variables   list of variables that osu-gpu-bind sets for each rank, from the site's key gpu_binding. Each
                     variable is a dict with the keys of `variables`, and the value 'gcd' (number of the GPU)
                     or 'nic' (name of the network card)
    by_family        optional: dict {family of the image's MPI: dict of keys that replace keys of the approach}
    exports          optional: list of variables whose values the injected libraries need. These values replace the
                     values that the image or the user has set. Each variable is a dict with the keys of
                     `variables`
    one_build        optional: list of strings. If the file name of a library that the host's MPI needs begins with
                     one of the strings, the library is injected even if the image has a library with the same soname
    variables        list of dicts with the keys name, value, why, source, date, evidence (as in sites/schema.py). The
                     value is only a default: if the user has set the variable, the user's value is used

The value of a variable may contain three placeholders: {provider} and {lnx_links} are the values of
the site, and {rccl_plugin} is the path of the RCCL plugin. Optional keys of a variable:
    only    list of conditions. The variable is set if all conditions hold at the installation. The conditions:
            'gpu', 'no gpu': the site has GPUs, or has no GPUs
            'rocm', 'cuda': the GPUs of the site are from AMD (gfx...), or from NVIDIA (sm_...)
            'image rocm >= 7.0': the image has ROCm in this range
            'mpich >= 4.3.1', 'libfabric < 2.4': the MPICH or libfabric that the ranks load has a release in this
            range. The key comes_from tells who provides the library. Cray MPICH does not count as mpich
            'no libfabric >= 1.22': the release of libfabric is older than 1.22 or unknown
            'cxi', 'no cxi': the provider of the site is cxi, or is another provider
            'ucx', 'no ucx': UCX drives the cards of the network, or does not drive them (data/networks.py)
            'rccl plugin': the image or the native build contains the RCCL plugin for libfabric
            'open mpi': the MPI is Open MPI
            'libmpiwrapper': the site has the library libmpiwrapper
            'lnx': the site has the key lnx_links, and the ranks load libfabric 2.0 or newer with the provider lnx
    setting name of the settings module (SETTINGS) that sets the variable instead of the module of the approach
    inside  True if the value is a path in the image. Then only commands of the approach set the variable, because
            other images do not contain this path

If several entries set the same variable, only one entry applies: the first entry whose conditions all hold.
Entries of the approach precede entries of the site.
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
    **conditions: Any,
) -> Dict[str, Any]:
    """
    Return a dict with the name, value and reason of one environment variable.

    The module docstring explains all keys of the dict. `date`: day on which the value was observed,
    or on which the source was read. `conditions`: optional keys of the dict, such as `only`.
    """
    return dict(
        conditions, name=name, value=value, why=why, source=source, date=date, evidence=evidence
    )


#: Optional settings: name of the module below osu-settings -> description. An approach has those of
#: which a variable applies
SETTINGS = {
    'single-node': 'for jobs on one node: the ranks use shared memory instead of the provider cxi (untested on LUMI)',
    'linkx': 'LINKx (experimental): the provider lnx uses shared memory within a node and the network\'s provider '
    'between nodes. Programs with lnx may hang, may be slow, or may fail with an error '
    '(github.com/ofiwg/libfabric/issues/10712, 11231, 11392, 11900, 11987)',
    'rccl-strict': 'with the module rccl-strict, RCCL fails if RCCL cannot load its plugin; without the module, '
    'RCCL would use the slow TCP network instead. Do not use the module rccl-strict for jobs on one '
    'node',
    'rccl-alt-read': (
        'the module rccl-alt-read sets all variables that HPE recommends for RCCL and NCCL. '
        'libfabric then sends every message by rendezvous without the offload to the network '
        'card (FI_CXI_RDZV_PROTO needs srun --network=disable_rdzv_get), and uses larger '
        'queues. Use the module only for programs that communicate through RCCL alone, '
        'because MPI cannot send eager messages with these variables'
    ),
    'rccl-gdr': (
        'the module rccl-gdr sets NCCL_NET_GDR_LEVEL=PHB, as HPE recommends: RCCL lets the '
        'network card read GPU memory up to the distance PHB. On LUMI, runs with ROCm 7 hung '
        'with the module, and runs without the module were not slower'
    ),
}

_PROVIDER = (
    "libfabric uses the provider of this system's network or fails. Without FI_PROVIDER, "
    'libfabric can silently use another provider',
    'fi_fabric(7), FI_PROVIDER',
)
_PROVIDER_OF_SITE = _make_variable('FI_PROVIDER', '{provider}', *_PROVIDER)

_GPU_IN_CRAY_MPICH = [
    _make_variable(
        'MPICH_GPU_SUPPORT_ENABLED',
        '1',
        'Cray MPICH accepts GPU buffers only with this variable, and '
        'also needs the GPU transport layer (GTL)',
        _PUBLISHED + '; the published runs over Cray MPICH set MPICH_GPU_SUPPORT_ENABLED',
        'measured',
        _PUBLISHED_DATE,
        only=['gpu'],
    ),
    _make_variable(
        'MPICH_OFI_NIC_POLICY',
        'GPU',
        'each rank uses the network card nearest to the GPU of the rank. Only Cray MPICH '
        'reads MPICH_OFI_NIC_POLICY',
        'LUMI training 2026-04, 202-Binding.md',
        'derived',
        '2026-06-17',
        only=['gpu'],
    ),
]

#: The libfabric that has FI_CXI_RDZV_PROTO: HPE's guide names 1.22.0. If the card leaves rendezvous
#: to an older libfabric, neither does it
_ALT_READ_CONDITIONS: Dict[str, Any] = {
    'setting': 'rccl-alt-read',
    'only': ['cxi', 'gpu', 'libfabric >= 1.22'],
}
_ALT_READ_NETWORK = (
    'the provider cxi, instead of the network card, performs the rendezvous protocol, as '
    'FI_CXI_RDZV_PROTO=alt_read requires',
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
        'RCCL uses its plugin for libfabric or fails; without NCCL_NET, RCCL falls back to '
        'TCP silently. Since release 1.12 the plugin is named Libfabric, and the plugin '
        'still accepts the name AWS Libfabric',
        'HewlettPackard/shs-ccl-docs, ccl_env.sh; github.com/aws/aws-ofi-nccl, pull request 530',
        'untested',
        only=['cxi', 'gpu'],
        setting='rccl-strict',
    ),
    _make_variable(
        'NCCL_NET_PLUGIN',
        '{rccl_plugin}',
        'RCCL loads its plugin from the full path in NCCL_NET_PLUGIN, and does not search '
        'the library path. Without the plugin RCCL uses TCP (published result: 3 GB/s)',
        'aws-ofi-nccl README; ' + _PUBLISHED,
        only=['gpu', 'rccl plugin'],
        inside=True,
    ),
    _make_variable(
        'FI_MR_CACHE_MONITOR',
        'userfaultfd',
        'the kernel tells libfabric which memory was released. With memhooks, the default of '
        'libfabric, RCCL and NCCL can hang',
        'github.com/Lumi-supercomputer/LUMI-AI-Guide, pull request 118; NERSC (podman-hpc '
        '1.2.2, nccl.yaml) and CSCS (cscs-docs 1660b1e, nccl_env_vars) also use userfaultfd; '
        + _HPE,
        'derived',
        '2026-09-15',
        only=['cxi', 'gpu'],
    ),
    _make_variable(
        'FI_CXI_DISABLE_HOST_REGISTER',
        '1',
        'the provider cxi does not register host memory with CUDA, because NCCL can wait for this '
        'registration for ever',
        'NERSC (podman-hpc 1.2.2, nccl.yaml), CSCS (cscs-docs 1660b1e, nccl_env_vars), '
        'HPE (shs-ccl-docs 832182d, nccl_tuning_guide.md)',
        'derived',
        _HPE_READ_DATE,
        only=['cxi', 'cuda'],
    ),
    # Sites with NVIDIA GPUs set it always: NERSC and CSCS do, and no hang is known there.
    _make_variable(
        'NCCL_NET_GDR_LEVEL',
        'PHB',
        'RCCL lets the network card read GPU memory up to the distance PHB, which is farther '
        "than RCCL's default. On LUMI, runs on several nodes with ROCm 7 hung with "
        'NCCL_NET_GDR_LEVEL=PHB, and runs without NCCL_NET_GDR_LEVEL were not slower',
        _HPE + '; laifs-container-recipes#30 and Lumi-supercomputer/LUMI-AI-Guide pull request 97 '
        'advise against PHB',
        'untested',
        _HPE_READ_DATE,
        only=['cxi', 'rocm'],
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
    for name, value, why, *more in (
        (
            'FI_CXI_RDZV_PROTO',
            'alt_read',
            'libfabric uses the rendezvous protocol alt_read, which needs srun --network=disable_rdzv_get',
        ),
        ('FI_CXI_RDZV_THRESHOLD', '0', 'every message uses rendezvous'),
        (
            'FI_CXI_RDZV_GET_MIN',
            '0',
            'no message uses the get operation of the network card, because the protocol '
            'alt_read replaces this operation',
        ),
        (
            'FI_CXI_RDZV_EAGER_SIZE',
            '0',
            'the sender sends no data before the receiver is ready',
        ),
        (
            'FI_CXI_RX_MATCH_MODE',
            'hybrid',
            'the provider cxi matches messages in software when the network card has no room for more messages',
        ),
        (
            'FI_CXI_DEFAULT_CQ_SIZE',
            '131072',
            "libfabric's completion queue has room for the completions of large jobs",
        ),
        (
            'FI_CXI_DEFAULT_TX_SIZE',
            '2048',
            "libfabric's send queue has room for the messages that large jobs send before "
            'the receivers are ready',
        ),
        (
            'FI_CXI_DISABLE_HOST_REGISTER',
            '1',
            'the provider cxi does not register host memory with ROCm, because RCCL can wait for '
            'this registration for ever',
            'rocm',
        ),
        (
            'HSA_FORCE_FINE_GRAIN_PCIE',
            '1',
            'other devices of the node can read GPU memory over PCIe',
            'rocm',
        ),
    )
]
_RCCL_NETWORK = _make_variable(
    'SLURM_NETWORK', 'disable_rdzv_get', *_ALT_READ_NETWORK, **_ALT_READ_CONDITIONS
)

#: Of an MPI that also uses cxi within a node: the MPI of the image, and Open MPI of the host
_STEP_NETWORK = [
    _make_variable(
        'SLURM_NETWORK',
        'single_node_vni,disable_rdzv_get',
        'Slurm gives a VNI even to a job step on one node, because the provider cxi needs '
        'this virtual network identifier; ' + _ALT_READ_NETWORK[0],
        *_ALT_READ_NETWORK[1:],
        **_ALT_READ_CONDITIONS,
    ),
    _make_variable(
        'SLURM_NETWORK',
        'single_node_vni',
        'Slurm gives a VNI even to a job step on one node, because the provider cxi needs '
        'this virtual network identifier',
        'github.com/lumi-ai-factory/laifs-container-recipes, pull request 22: container jobs '
        'on one node of LUMI need SLURM_NETWORK=single_node_vni; Slurm 24.05.8: srun reads '
        'SLURM_NETWORK (opt.c), and the plugin switch/hpe_slingshot reads the value '
        'single_node_vni; Sigma2 documentation e0347991, hpc_machines/olivia/openmpi.md: without '
        'single_node_vni, Open MPI over cxi on one node prints "fi_domain ... Function not '
        'implemented (38)"',
        'measured',
        '2026-03-31',
        only=['cxi'],
    ),
]

#: The libfabric that has FI_CXI_DISABLE_NON_INJECT_MSG_IDC: the first release with cxi, and Cray's
#: 1.22.0, the branch release/shs-12.0 of the same code, but not Cray's 1.15.2. Cray MPICH does
#: not need it: 2.4 to 2.7 microseconds over 1.22.0 (EESSI on LUMI, 2026-05-21).
_IDC_SWITCH = 'libfabric >= 1.21'

# Open-source MPICH in an image, which searches for a GPU if it was built with HIP or CUDA
_MPICH_WITHOUT_GPU = [
    _make_variable(
        'MPIR_CVAR_ENABLE_GPU',
        '0',
        'the node has no GPU. Without MPIR_CVAR_ENABLE_GPU=0, an MPICH that is built with '
        'HIP or CUDA searches for a GPU and fails with a segmentation fault',
        'runs with and without MPIR_CVAR_ENABLE_GPU=0 on a node without GPU: MPICH 4.0.2 '
        'with HIP 5.7.1, and MPICH 4.0.2 with CUDA 12.4 (images of family debian); the MPICH '
        'wheels 3.4.3 to 5.0.2 contain the name of the variable',
        'derived',
        '2026-11-24',
        only=['no gpu', 'mpich >= 3.4'],
    ),
]

# Open-source MPICH over cxi, with the libfabric of image or host: hybrid, swap and opensource
_MPICH_OVER_CXI = (
    _MPICH_WITHOUT_GPU
    + _STEP_NETWORK
    + [
        _PROVIDER_OF_SITE,
        _make_variable(
            'FI_PROVIDER',
            '^cxi',
            'libfabric uses any provider except cxi, so that MPICH sends messages through shared memory',
            'fi_fabric(7), FI_PROVIDER',
            'untested',
            only=['cxi'],
            setting='single-node',
        ),
        _make_variable(
            'MPIR_CVAR_SINGLE_HOST_ENABLED',
            '1',
            'MPICH does not use cxi if all ranks are on one node. This behaviour is the default '
            'of MPICH',
            'MPICH src/mpid/ch4/netmod/ofi/init_provider.c',
            'untested',
            only=['cxi', 'mpich >= 4.2'],
            setting='single-node',
        ),
        _make_variable(
            'MPIR_CVAR_CH4_OFI_ENABLE_HMEM',
            '1',
            'MPICH passes buffers in GPU memory directly to libfabric; by default, MPICH first copies '
            'the buffers',
            _PUBLISHED + '; the published runs with MPICH 4.2.3 reach 24 GB/s with '
            'MPIR_CVAR_CH4_OFI_ENABLE_HMEM=1; MPICH wheels since 4.1.3 contain the name of the '
            'variable',
            'measured',
            _PUBLISHED_DATE,
            only=['cxi', 'gpu', 'mpich >= 4.1'],
        ),
        _make_variable(
            'MPIR_CVAR_SINGLE_HOST_ENABLED',
            '0',
            'MPICH uses cxi even if all ranks are on one node, because FI_PROVIDER=cxi leaves no '
            'other provider',
            'MPICH src/mpid/ch4/netmod/ofi/init_provider.c; MPICH wheels since 4.2.3 contain the '
            'name MPIR_CVAR_SINGLE_HOST_ENABLED',
            'untested',
            only=['cxi', 'mpich >= 4.2'],
        ),
        _make_variable(
            'FI_CXI_RDZV_THRESHOLD',
            '16384',
            'MPI sends messages of at most 16384 bytes eagerly. This limit avoids the sudden '
            "rise of latency at 8 to 16 KiB that libfabric's old default of 2048 causes",
            'Cray MPICH sets FI_CXI_RDZV_THRESHOLD=16384 (MPICH_ENV_DISPLAY on Crusher); in '
            'libfabric 2.4, 16384 is the default',
            'untested',
            only=['cxi', 'libfabric < 2.4'],
        ),
        _make_variable(
            'FI_CXI_RDZV_EAGER_SIZE',
            '2048',
            'the sender of a rendezvous message sends 2048 bytes in advance. Cray MPICH sets the '
            'same value together with FI_CXI_RDZV_THRESHOLD=16384',
            'Cray MPICH sets FI_CXI_RDZV_EAGER_SIZE=2048 (MPICH_ENV_DISPLAY on Crusher)',
            'untested',
            only=['cxi', 'libfabric < 2.4'],
        ),
        _make_variable(
            'FI_CXI_DISABLE_NON_INJECT_MSG_IDC',
            '1',
            'libfabric sends small messages from GPU memory directly. With Open MPI, the latency '
            'is 3 instead of 21 microseconds. MPICH needs a second variable, because the inject '
            'functions of libfabric copy each message: MPIR_CVAR_CH4_OFI_ENABLE_INJECT=0, or, from '
            'MPICH 5.0.2 on, MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM=1',
            _CXI + '; EESSI on LUMI, 2026-05-21',
            'untested',
            only=['cxi', 'gpu', _IDC_SWITCH],
        ),
        _make_variable(
            'MPIR_CVAR_CH4_OFI_ENABLE_INJECT',
            '0',
            "MPICH does not send small messages by libfabric's inject functions, because these "
            'functions copy each message. Small messages in host memory become a little slower',
            'the MPICH wheel 4.3.2 reads MPIR_CVAR_CH4_OFI_ENABLE_INJECT, and the MPICH wheel '
            '4.2.3 does not',
            'untested',
            only=['cxi', 'gpu', 'mpich >= 4.3.1', 'mpich < 5.0.2', _IDC_SWITCH],
        ),
        _make_variable(
            'MPIR_CVAR_CH4_OFI_ENABLE_MR_HMEM',
            '1',
            'MPICH registers GPU memory with the network card, and therefore sends small messages '
            "from GPU memory without libfabric's inject functions",
            'pmodels/mpich PR 7858; CHANGES of 5.0.2',
            'untested',
            only=['cxi', 'gpu', 'mpich >= 5.0.2', _IDC_SWITCH],
        ),
    ]
)

#: LINKx as CSCS describes it
_LINKX = _CSCS + ', LINKx (experimental)'
_LINKX_CONDITIONS: Dict[str, Any] = {'setting': 'linkx', 'only': ['lnx']}
_OMB_CXI = 'eth-cscs/cray-network-stack cce01706, examples/container/osu-ompi, omb-ompi-cxi.toml'


def _make_linkx_pair(
    name: str, value: str, why: str, source: str, *rest: str, **conditions: Any
) -> List[Dict[str, Any]]:
    """
    Return two alternatives for the variable `name`, each as a dict of _make_variable().

    The first alternative has the value 'lnx', which the module osu-settings/linkx sets (LINKx).
    The second alternative has the given `value`.
    """
    return [
        _make_variable(
            name,
            'lnx',
            'libfabric uses its provider lnx (LINKx), which combines other providers',
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
            'Open MPI lets a network library match the messages. By default Open MPI uses '
            'its own TCP or shared memory if Open MPI recognises no fast network. '
            'OMPI_MCA_pml=ucx selects UCX instead. The module does not set OMPI_MCA_pml if '
            'UCX drives the network cards, because Open MPI itself then selects the better '
            'library of the image',
            _CSCS,
            only=['no ucx'],
        ),
        _make_variable(
            'OMPI_MCA_mtl',
            'ofi',
            'Open MPI leaves the matching of messages (MTL) to libfabric',
            _CSCS,
            only=['no ucx'],
        ),
    ]
    + _make_linkx_pair(
        'OMPI_MCA_opal_common_ofi_provider_include',
        '{provider}',
        'Open MPI uses the providers tcp, shm and some others only if '
        'OMPI_MCA_opal_common_ofi_provider_include names the provider',
        'ompi_info --all of 5.0.11, opal_common_ofi_provider_exclude',
    )
    + [
        _make_variable(
            'OMPI_MCA_btl',
            '^tcp,ofi,vader,openib',
            'Open MPI sends one-sided messages through libfabric. The components that '
            'OMPI_MCA_btl excludes either bypass libfabric or open the network card a second '
            'time',
            _OMB_CXI + '; github.com/open-mpi/ompi/issues/13803',
            **conditions,
        )
        for conditions in (_LINKX_CONDITIONS, {'only': ['cxi']})
    ]
    + [
        _make_variable(
            'OMPI_MCA_mtl_ofi_av',
            'table',
            'the provider lnx supports only address tables, and MPI_Init fails with an '
            'address map, which is the default of Open MPI',
            _LINKX + '; runs of osu_latency, osu_bw and osu_alltoall with up to 8 ranks on a '
            'workstation, 2026-11-21: Open MPI 5.0.11 over libfabric 2.5.1, provider lnx over shm',
            **_LINKX_CONDITIONS,
        ),
        _make_variable(
            'FI_LNX_PROV_LINKS',
            '{lnx_links}',
            'the provider lnx combines shared memory with each network card in '
            'FI_LNX_PROV_LINKS. The character | separates the cards',
            _LINKX + '; fi_lnx(7)',
            **_LINKX_CONDITIONS,
        ),
        _make_variable(
            'FI_SHM_USE_XPMEM',
            '1',
            'if the node has xpmem, ranks of the node copy each message only once, through xpmem',
            _LINKX,
            **_LINKX_CONDITIONS,
        ),
        _make_variable(
            'FI_HMEM_CUDA_USE_GDRCOPY',
            '1',
            'the CPU makes small copies from GPU memory through GDRCopy, which the image contains',
            _OMB_CXI,
            only=['cxi', 'cuda'],
        ),
        _make_variable(
            'FI_CXI_DISABLE_NON_INJECT_MSG_IDC',
            '1',
            'libfabric sends small messages from GPU memory directly. On AMD GPUs, the '
            'latency is 3 instead of 21 microseconds',
            _CXI + '; EESSI on LUMI, 2026-05-21',
            'untested',
            only=['cxi', 'rocm', _IDC_SWITCH],
        ),
        _make_variable(
            'PMIX_MCA_psec',
            'native',
            "the PMIx of Open MPI uses the same security component as Slurm's PMIx. With another "
            'component, the PMIx of Open MPI prints warnings',
            _CSCS,
        ),
        _make_variable(
            'PMIX_MCA_gds',
            'hash',
            'ranks exchange their addresses by messages instead of shared memory. Slurm and '
            'the image may have different releases of PMIx, and then the PMIx of the image '
            "may be unable to read the shared memory of Slurm's PMIx",
            'runs on a workstation, 2026-11-21: the PMIx 4.2.2 of Slurm offers the methods '
            'ds21 and ds12, and the PMIx of Open MPI 5.0.11 supports only the methods hash '
            'and shmem2; with shmem2, MPI_Init fails',
        ),
    ]
)

#: Further libraries, and variables, of bind for images without Open MPI
_HOST_MPI_LIBRARIES = [
    'libcxi',
    'libmpi_gtl_hsa',
    'libmpi_gtl_cuda',
    'libcudart',
    'libhsa-runtime64',
    'libamdhip64',
    'libpmi',
    'libpmi2',
    'libpals',
    'libxpmem',
    'liblustreapi',
]
_HOST_MPI_VARIABLES = [_PROVIDER_OF_SITE, _RCCL_NETWORK] + _GPU_IN_CRAY_MPICH + _RCCL
_WRAPPER_OF_SITE = _make_variable(
    'MPI_ABI_WRAPPER_LIB',
    '/opt/host-mpi/lib/libmpiwrapper.so',
    'mpi_abi_wrapper has two libraries: libmpi_abi.so.1 opens libmpiwrapper.so, and libmpiwrapper.so '
    "calls the host's MPI",
    'github.com/eschnett/mpi_abi_wrapper 39ee1a3, src/mpi_abi/README.md',
    'untested',
    '2026-11-28',
    only=['libmpiwrapper'],
    inside=True,
)

#: Variables that bind sets if the image's MPI is Open MPI
_TRIAL_SOURCE = (
    'job steps on two nodes with images of Open MPI 4.1 and 5.0, on hosts with Open MPI '
    '5.0.11, Open MPI 4.1.8, or the Open MPI of Debian 11, 12 and 13; source files '
    'opal/mca/installdirs/env of Open MPI, and the same files of PMIx'
)
_HOST_MPI_EXPORTS = [
    _make_variable(name, '/opt/host-mpi' + below, why, _TRIAL_SOURCE, evidence, '2026-11-26')
    for name, below, evidence, why in (
        (
            'OPAL_PREFIX',
            '',
            'measured',
            "the host's Open MPI reads the files of the host, such as "
            'openmpi-mca-params.conf. Images with Open MPI set OPAL_PREFIX to a folder of '
            'the image',
        ),
        (
            'OMPI_MCA_mca_base_component_path',
            '/lib/openmpi',
            'measured',
            "the host's Open MPI loads the plug-ins of the host. Without "
            "OMPI_MCA_mca_base_component_path, Debian's Open MPI finds no plug-ins and fails "
            'in opal_init. OPAL_PKGLIBDIR has the same effect, but MPI_Init fails if '
            'PMIX_PKGLIBDIR names another folder',
        ),
        (
            'OPAL_SYSCONFDIR',
            '/etc',
            'derived',
            "without OPAL_SYSCONFDIR, Debian's Open MPI reads its parameters from the folder "
            '/etc/openmpi of the image, even if OPAL_PREFIX names another folder',
        ),
        ('PMIX_PREFIX', '', 'derived', "the host's PMIx reads the files of the host"),
        (
            'PMIX_MCA_mca_base_component_path',
            '/lib/pmix',
            'measured',
            "the host's PMIx loads the plug-ins of the host. Debian 11 has PMIx's plug-ins "
            'as separate files',
        ),
        (
            'UCX_MODULE_DIR',
            '/lib/ucx',
            'measured',
            "the host's UCX loads the plug-ins of the host. By default UCX loads plug-ins "
            "from the path of UCX's build, and an image may have plug-ins of another release "
            'at this path: in an image of Debian sid, the UCX of Debian 13 failed with an '
            'undefined symbol',
        ),
    )
]
#: Libraries of Open MPI and of its build: hwloc, libevent and UCX keep their soname when they get
#: new functions
_OPEN_MPI_BUILD = [
    'libmpi',
    'libopen-',
    'liboshmem',
    'libmca_common_',
    'libpmix',
    'libprrte',
    'libhwloc',
    'libevent',
    'libuc',
    'libfabric',
]

# Folders in which the image's entrypoint searches the host's libraries
_SWAP = 'HPE, "MPI OSU Benchmarks" (hpc-ai-envs): --bind .../lib64:/host/lib,/usr:/host/usr replaces libfabric'
_HOST_FOLDERS = [
    {
        'target': '/host/lib',
        'library': 'libfabric',
        'why': 'the entrypoint of the image uses the libfabric in the folder /host/lib',
        'source': _SWAP,
        'date': _READ_DATE,
        'evidence': 'derived',
    },
    {
        'target': '/host/usr',
        'path': '/usr',
        'why': 'the entrypoint of the image finds libcxi, and the other libraries that libfabric '
        'needs, in the folder /host/usr',
        'source': _SWAP,
        'date': _READ_DATE,
        'evidence': 'derived',
    },
]
_SWAP_OR_ERROR = _make_variable(
    'OSU_SWAP',
    'require',
    "the entrypoint of this project's images fails if the host's libfabric cannot be used. HPE's"
    ' entrypoint continues with the libfabric of the image',
    'container-recipes/README.md',
)

# Both must be unset: libfabric only checks whether they exist, so that =0 enables the slow path too.
_NO_FORK_SAFE = [
    _make_variable(
        name,
        None,
        'libfabric copies every small message from GPU memory by a slow path if '
        'CXI_FORK_SAFE or CXI_FORK_SAFE_HP has any value. The slow path is the most probable '
        'cause of a latency of 21 instead of 2.5 microseconds',
        'libfabric prov/cxi/src/cxip_info.c, cxip_msg.c',
        only=['cxi'],
    )
    for name in ('CXI_FORK_SAFE', 'CXI_FORK_SAFE_HP')
]

_GPU_OF_RANK = _make_variable(
    'ROCR_VISIBLE_DEVICES',
    'gcd',
    'the rank sees only the GPU nearest to the cores of the rank',
    'LUMI training 2026-04, 202-Binding.md',
    'derived',
    '2026-06-17',
    only=['rocm'],
)
_CUDA_GPU_OF_RANK = _make_variable(
    'CUDA_VISIBLE_DEVICES',
    'gcd',
    'the rank sees only the GPU nearest to the cores of the rank',
    'CUDA C++ Programming Guide, CUDA environment variables',
    only=['cuda'],
)
_NIC_OF_RANK = _make_variable(
    'FI_CXI_DEVICE_NAME',
    'nic',
    'the rank uses the network card nearest to the GPU of the rank. By default, open-source '
    'MPICH uses the card nearest to the cores of the rank, or the first card. Open-source '
    'MPICH ignores MPICH_OFI_NIC_POLICY',
    _CXI,
    only=['gpu', 'cxi'],
)

#: Variables of UCX for ranks on one machine that are each in their own user namespace. UCX recognises
#: such ranks itself, even if the launcher reports two nodes.
UCX_NAMESPACE_VARIABLES = [
    _make_variable(
        'UCX_POSIX_USE_PROC_LINK',
        'n',
        'UCX opens shared memory by the name of the memory. By default UCX opens '
        '/proc/PID/fd of the other rank, but the kernel does not let a rank open '
        '/proc/PID/fd of a rank in another user namespace',
        'MPICH 4.0.2 over UCX 1.13.1 of Debian 12, two ranks, each in its own user '
        'namespace, 2026-11-28: without UCX_POSIX_USE_PROC_LINK=n, UCX prints the error '
        '"mm_posix.c ... Permission denied"; github.com/openucx/ucx, issues 4224 and 5571; '
        'newer releases of UCX test first whether a rank may open the files of the other '
        'rank (pull request 9213)',
        'measured',
        '2026-11-28',
    ),
    _make_variable(
        'UCX_TLS',
        '^cma',
        'UCX copies messages through shared memory, because the kernel does not let a rank '
        'read the memory of a rank in another user namespace (CMA)',
        'MPICH 4.0.2 over UCX 1.13.1 of Debian 12, two ranks, each in its own user '
        'namespace, messages of 8 bytes to 16 MiB, 2026-11-28: without UCX_TLS=^cma, '
        'process_vm_readv fails for messages of 32 KiB and more; github.com/openucx/ucx, '
        'issue 8958',
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
        'MPICH 5 copies larger messages through shared memory, instead of reading the memory '
        'of the other rank directly (CMA)',
        'bandwidth test of MPICH 5.0.2 with two ranks on one node as an ordinary user, '
        '2026-11-22: messages of 8 KiB and more fail without MPIR_CVAR_CH4_CMA_ENABLE=0 and '
        'succeed with this value; MPICH 4.2.3 and 4.3.2 do not fail',
        'measured',
        '2026-11-22',
        only=['no open mpi'],
    ),
    # XPMEM alone would work: xpmem_get.c of hpc/xpmem compares the kernel's user ids and ignores
    # namespaces.
    _make_variable(
        'MPICH_SMP_SINGLE_COPY_MODE',
        'NONE',
        'Cray MPICH copies messages through shared memory, instead of reading the memory of '
        'the other rank directly (XPMEM or CMA)',
        "intro_mpi(3) of Cray MPICH 8.1; NCAR's scripts for Apptainer and Charliecloud on "
        'Derecho set MPICH_SMP_SINGLE_COPY_MODE=NONE',
        'derived',
        '2026-11-23',
        only=['no open mpi'],
    ),
    _make_variable(
        'OMPI_MCA_smsc',
        '^cma,xpmem,knem',
        'Open MPI 5 copies messages through shared memory, instead of reading the memory of '
        'the other rank directly with one of the components cma, xpmem and knem',
        'docs.open-mpi.org, v5.0.x, The sm BTL: smsc',
        'derived',
        '2026-11-22',
        only=['open mpi'],
    ),
    _make_variable(
        'OMPI_MCA_btl_vader_single_copy_mechanism',
        'none',
        'Open MPI 4 copies messages through shared memory, instead of reading the memory of '
        'the other rank directly',
        'github.com/open-mpi/ompi/issues/4948',
        'derived',
        '2026-11-22',
        only=['open mpi'],
    ),
    *UCX_NAMESPACE_VARIABLES,
    _make_variable(
        'FI_SHM_DISABLE_CMA',
        '1',
        "libfabric's provider shm copies messages through shared memory, instead of reading "
        'the memory of the other rank directly (CMA)',
        'fi_shm(7)',
        'derived',
        '2026-11-22',
    ),
]

#: Programs for the standard ABI of MPI 5 run with an MPI of this ABI, of the image or of the host
_STANDARD_ABI = ['the standard ABI of MPI 5']
#: The soname does not matter if the image's MPI is used
_ANY_MPICH = _STANDARD_ABI + [
    'the standard ABI of MPI 5 in a library with a wrong soname',
    'MPICH under Debian\'s own soname',
    "Cray MPICH under HPE's own soname",
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
        **_SELF_CONTAINED,
        'title': 'programs that are built on this host with the MPI of the host',
        'container': False,
        'mpi_also': [],
        'comes_from': {'libmpi': 'host', 'libfabric': 'host'},
        'requires': [],
        'files': [],
        'unset': [],
        'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK],
        'variables': _HOST_MPI_VARIABLES,
    },
    'pure': {
        **_SELF_CONTAINED,
        'title': 'libraries of the image only; MPI sends over TCP',
        'requires': [],
        'files': ['file_systems'],
        'unset': [],
        'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK],
        'variables': [
            _make_variable(
                'FI_PROVIDER',
                'tcp',
                'libfabric uses TCP: every host has a TCP network, and TCP needs no libraries of the host',
                _PUBLISHED + '; the published runs of approach pure reach about 2 GB/s over TCP',
                'measured',
                _PUBLISHED_DATE,
            ),
            _make_variable(
                'NCCL_NET',
                'Socket',
                'RCCL uses TCP, even if the image has a plugin for libfabric',
                'NCCL documentation, NCCL_NET',
                only=['gpu'],
            ),
        ]
        + _MPICH_WITHOUT_GPU,
    },
    'bind': {
        **_SELF_CONTAINED,
        'title': 'MPI and network libraries of the host',
        'mpi_also': _STANDARD_ABI + ['Open MPI'],
        'inject': ['libmpi', 'libfabric'],
        'inject_if_known': _HOST_MPI_LIBRARIES,
        'preload': ['libhsa-runtime64', 'libmpi_gtl_hsa', 'libmpi_gtl_cuda'],
        'comes_from': {'libmpi': 'host', 'libfabric': 'host'},
        'requires': [],
        'files': ['file_systems', 'slurm_spool', 'pals_state', 'cxi_state', 'libdrm_ids'],
        'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK],
        'variables': _HOST_MPI_VARIABLES,
        'by_family': {
            'the standard ABI of MPI 5': {
                'inject_if_known': _HOST_MPI_LIBRARIES + ['libmpiwrapper'],
                # libmpiwrapper needs the libmpi for which the site has built libmpiwrapper.
                'one_build': ['libmpi'],
                'variables': _HOST_MPI_VARIABLES + [_WRAPPER_OF_SITE],
            },
            'Open MPI': {
                'mpi': 'Open MPI',
                'mpi_also': [],
                'inject': ['libmpi'],
                'inject_if_known': [
                    'libfabric',
                    'libcxi',
                    'libcudart',
                    'libhsa-runtime64',
                    'libamdhip64',
                    'libxpmem',
                ],
                'preload': [],
                'one_build': _OPEN_MPI_BUILD,
                'exports': _HOST_MPI_EXPORTS,
                'files': ['file_systems', 'cxi_state', 'libdrm_ids', 'pmix_ranks', 'pmix_server'],
                'unset': _NO_FORK_SAFE,
                'rank_variables': [_GPU_OF_RANK, _CUDA_GPU_OF_RANK, _NIC_OF_RANK],
                'variables': _STEP_NETWORK + _RCCL + _OPENMPI_OVER_LIBFABRIC,
            },
        },
    },
    'hybrid': dict(_HOST_NETWORK, title='the image\'s MPI over the host\'s network library'),
    'swap': dict(
        _HOST_NETWORK,
        title="the image's entrypoint replaces the network library of the image by the network "
        'library of the host',
        entrypoint=_HOST_FOLDERS,
        variables=_HOST_NETWORK['variables'] + [_SWAP_OR_ERROR],
    ),
    'opensource': dict(_SELF_CONTAINED, title='MPI and network library of the image'),
    'openmpi': {
        **_SELF_CONTAINED,
        'title': 'Open MPI and network library of the image',
        'mpi': 'Open MPI',
        'mpi_also': [],
        'requires': [],
        'files': ['file_systems', 'cxi_state', 'kernel_config', 'pmix_ranks', 'pmix_server'],
        'variables': _STEP_NETWORK + _RCCL + _OPENMPI_OVER_LIBFABRIC,
    },
}

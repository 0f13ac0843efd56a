"""
Define the kinds of networks between nodes, with their libfabric providers and UCX.

Data only. A site names its network in its key `network`; without this key, the provider cxi means
Slingshot and any other provider Ethernet.

Keys of a network
    providers   list of facts, the best first: value as in FI_PROVIDER, since: the first release of libfabric with
                it, why, source, date, evidence. Other providers reach such a network over TCP, which is
                slow there; [tcp] alone means that no provider is faster
    ucx         fact: whether UCX is as good as the best provider; value None: unknown
    drivers     kernel driver of the card (/sys/class/infiniband/CARD/device/driver) -> its plug-in of rdma-core
                (lib<plug-in>-rdmav<number>.so), by which libibverbs reaches the card
"""

from typing import Any, Dict

_READ_DATE = '2026-11-23'
_NEWS = 'libfabric NEWS, '
_UCX_SOURCE = 'docs.open-mpi.org v5.0.8, InfiniBand / RoCE support: what UCX supports'
_INTEL = 'Intel MPI Library, Developer Guide for Linux 2021.15, OFI Providers Support'


def _make_fact(
    value: Any, why: str, source: str, evidence: str = 'derived', **more: Any
) -> Dict[str, Any]:
    return dict(more, value=value, why=why, source=source, date=_READ_DATE, evidence=evidence)


#: Kernel driver -> plug-in of libibverbs (rdma-core, kernel-boot/rdma-description.rules and
#: providers/)
_VERBS = {
    'mlx5_core': 'mlx5',
    'mlx4_core': 'mlx4',
    'ib_mthca': 'mthca',
    'bnxt_en': 'bnxt_re',
    'ice': 'irdma',
    'i40e': 'irdma',
    'idpf': 'irdma',
    'cxgb4': 'cxgb4',
    'qede': 'qedr',
    'hns3': 'hns',
    'ib_qib': 'ipathverbs',
}

_VERBS_PROVIDERS = [
    _make_fact(
        'verbs;ofi_rxm',
        'the cards support verbs, and ofi_rxm adds the reliable messages that MPI needs and verbs'
        ' lacks. One name selects both providers',
        'fi_verbs(7), fi_rxm(7); ' + _NEWS + 'v1.7.0: "Remove RDM EP support. Use RxM"',
        since='1.7',
    ),
    _make_fact(
        'ucx',
        'this provider sends over UCX',
        'fi_ucx(7); enabled in openSUSE\'s libfabric 1.21.0',
        'untested',
        since='1.21',
    ),
    _make_fact(
        'mlx',
        (
            'the libfabric of Intel MPI has this provider, which sends over UCX, for cards of '
            'Mellanox'
        ),
        _INTEL,
        since=None,
    ),
    _make_fact(
        'psm3',
        'this provider sends messages over verbs UD or sockets',
        _NEWS + 'v1.15.0: "IPv6 addressing in RoCE and sockets"; '
        'enabled in SUSE\'s libfabric 1.13.2',
        'untested',
        since='1.13',
    ),
]
_UCX = _make_fact(
    True,
    'UCX has the transports rc, dc and ud for these cards, and selects the fastest transport that'
    ' reaches the other rank',
    _UCX_SOURCE,
)

NETWORKS: Dict[str, Dict[str, Any]] = {
    'Slingshot': {
        'providers': [
            _make_fact(
                'cxi',
                'this is libfabric\'s provider for Slingshot 11',
                'fi_cxi(7); ' + _NEWS + 'v1.21.0',
                since='1.21',
            )
        ],
        'ucx': _make_fact(False, 'UCX does not support Slingshot', _UCX_SOURCE),
        'drivers': {},
    },
    'InfiniBand': {'providers': _VERBS_PROVIDERS, 'ucx': _UCX, 'drivers': _VERBS},
    'RoCE': {'providers': _VERBS_PROVIDERS, 'ucx': _UCX, 'drivers': _VERBS},
    'Omni-Path': {
        'providers': [
            _make_fact(
                'opx',
                'Cornelis maintains this provider, the only provider for CN5000',
                'fi_opx(7); ' + _NEWS + 'v1.15.0: "New '
                'provider supporting Cornelis Networks Omni-path hardware"; docs.cornelis.com, CN5000 Omni-Path '
                'Overview, Software; github.com/easybuilders/easybuild-framework/issues/4560',
                since='1.15',
            ),
            _make_fact(
                'psm2',
                'this is the older provider, for cards of 100 Gbit/s, over libpsm2',
                'fi_psm2(7); github.com/easybuilders/easybuild-framework/issues/4560',
                since='1.3',
            ),
        ],
        'ucx': _make_fact(
            False,
            'UCX supports these cards only through verbs, with more overhead than psm2 or opx',
            'UCX NEWS 1.6.0: '
            '"OmniPath (using Verbs)"; github.com/easybuilders/easybuild-framework/issues/4560',
        ),
        'drivers': {'hfi1': 'hfi1verbs'},
    },
    'EFA': {
        'providers': [
            _make_fact(
                'efa',
                'this provider supports the protocol of the card',
                'fi_efa(7); '
                + _NEWS
                + 'v1.8.0: "New core provider for Amazon EC2 Elastic Fabric Adapter"',
                since='1.8',
            )
        ],
        'ucx': _make_fact(
            None,
            'UCX has a transport for EFA, but no run with this transport is known',
            'libuct_ib_efa.so in MPICH 5.0.2 of PyPI',
            'untested',
        ),
        'drivers': {'efa': 'efa'},
    },
    'Ethernet': {
        'providers': [
            _make_fact(
                'tcp',
                'every libfabric has the provider tcp, and no faster provider reaches another node',
                'fi_tcp(7)',
                since='1.7',
            )
        ],
        'ucx': _make_fact(True, 'UCX also supports TCP', _UCX_SOURCE),
        'drivers': {},
    },
}

#: From the best network to the worst: a machine may have several, such as a RoCE card for disks
PREFERRED_NETWORKS = ('Slingshot', 'InfiniBand', 'Omni-Path', 'EFA', 'RoCE', 'Ethernet')

"""
Define the kinds of networks: libfabric providers, UCX support and drivers of each.

This module contains only data. A site names its network in its key `network`. Without this key, a
site with the provider cxi has Slingshot, and a site with any other provider has Ethernet.

Keys of a network
    providers   list of facts about libfabric providers; the fastest provider comes first. A fact has the keys
                `value` (the name for FI_PROVIDER), why, source, date and evidence. All other providers use the
                network with TCP, which is slow. A list with tcp alone means that no provider is faster than tcp
    ucx         fact: True if UCX is as fast as the best provider, False if not, None if unknown
    drivers     dict {kernel driver: plug-in}. /sys/class/infiniband/CARD/device/driver names the kernel driver of a
                card; libibverbs uses the card through rdma-core's file lib<plug-in>-rdmav<number>.so
"""

from typing import Any, Dict

_READ_DATE = '2026-11-23'
_NEWS = 'libfabric NEWS, '
_UCX_SOURCE = 'docs.open-mpi.org v5.0.8, InfiniBand / RoCE support: what UCX supports'


def _make_fact(value: Any, why: str, source: str, evidence: str = 'derived') -> Dict[str, Any]:
    return {'value': value, 'why': why, 'source': source, 'date': _READ_DATE, 'evidence': evidence}


#: Kernel driver of a card -> plug-in of libibverbs (source: rdma-core,
#: kernel-boot/rdma-description.rules and providers/)
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
        'FI_PROVIDER must name both providers: the provider verbs drives the cards, and the '
        'provider ofi_rxm adds the reliable messages that MPI needs',
        'fi_verbs(7), fi_rxm(7); ' + _NEWS + 'v1.7.0: "Remove RDM EP support. Use RxM"',
    ),
    _make_fact(
        'ucx',
        'the provider ucx passes all messages to UCX',
        'fi_ucx(7); enabled in openSUSE\'s libfabric 1.21.0',
        'untested',
    ),
    _make_fact(
        'mlx',
        "the provider mlx exists only in Intel MPI's libfabric, and passes messages of "
        'Mellanox cards to UCX',
        'Intel MPI Library, Developer Guide for Linux 2021.15, OFI Providers Support',
    ),
    _make_fact(
        'psm3',
        'the provider psm3 sends messages through verbs (UD) or sockets',
        _NEWS + 'v1.15.0: "IPv6 addressing in RoCE and sockets"; '
        'enabled in SUSE\'s libfabric 1.13.2',
        'untested',
    ),
]
_UCX = _make_fact(
    True,
    'UCX supports InfiniBand and RoCE cards with the transports rc, dc and ud, and uses the '
    'fastest transport that works',
    _UCX_SOURCE,
)

NETWORKS: Dict[str, Dict[str, Any]] = {
    'Slingshot': {
        'providers': [
            _make_fact(
                'cxi',
                'cxi is libfabric\'s provider for Slingshot 11',
                'fi_cxi(7); ' + _NEWS + 'v1.21.0',
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
                'opx is the provider that Cornelis Networks develops, and the only provider '
                'for CN5000 cards',
                'fi_opx(7); ' + _NEWS + 'v1.15.0: "New provider supporting Cornelis Networks '
                'Omni-path hardware"; docs.cornelis.com, CN5000 Omni-Path Overview, Software; '
                'github.com/easybuilders/easybuild-framework/issues/4560',
            ),
            _make_fact(
                'psm2',
                'psm2 is the older provider for Omni-Path cards with 100 Gbit/s, and needs '
                'the library libpsm2',
                'fi_psm2(7); github.com/easybuilders/easybuild-framework/issues/4560',
            ),
        ],
        'ucx': _make_fact(
            False,
            'on Omni-Path, UCX supports only verbs, which has more overhead than psm2 or opx',
            'UCX NEWS 1.6.0: '
            '"OmniPath (using Verbs)"; github.com/easybuilders/easybuild-framework/issues/4560',
        ),
        'drivers': {'hfi1': 'hfi1verbs'},
    },
    'EFA': {
        'providers': [
            _make_fact(
                'efa',
                "the provider efa supports the protocol of Amazon's EFA cards",
                'fi_efa(7); '
                + _NEWS
                + 'v1.8.0: "New core provider for Amazon EC2 Elastic Fabric Adapter"',
            )
        ],
        'ucx': _make_fact(
            None,
            'UCX has a component for EFA cards, but no run with this component is known',
            'MPICH 5.0.2 of PyPI contains libuct_ib_efa.so',
            'untested',
        ),
        'drivers': {'efa': 'efa'},
    },
    'Ethernet': {
        'providers': [
            _make_fact(
                'tcp',
                'every libfabric contains the provider tcp, and no faster provider works between '
                'nodes on Ethernet',
                'fi_tcp(7)',
            )
        ],
        'ucx': _make_fact(True, 'UCX also supports TCP', _UCX_SOURCE),
        'drivers': {},
    },
}

#: Kinds of networks, the best first. A machine may have several, such as a RoCE card for its
#: storage.
PREFERRED_NETWORKS = ('Slingshot', 'InfiniBand', 'Omni-Path', 'EFA', 'RoCE', 'Ethernet')

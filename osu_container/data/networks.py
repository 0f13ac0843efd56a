"""
Define the kinds of networks: their libfabric providers, UCX support and drivers.

This module contains only data. A site names its network in its key `network`. Without this key, a
site with the provider cxi has Slingshot, and a site with any other provider has Ethernet.

Keys of a network
    providers   list of facts about libfabric providers; the fastest provider comes first. The keys of a fact are
                value (the name for FI_PROVIDER), since (the first libfabric version with the provider), and
                why, source, date and evidence as in every fact. Providers that are not in the list use the
                network with TCP, which is slow. A list with tcp alone means that no provider is faster than tcp
    ucx         fact whether UCX is as fast as the best provider: the value is True, False or None (unknown)
    drivers     kernel driver of the card (/sys/class/infiniband/CARD/device/driver) -> plug-in of rdma-core
                (lib<plug-in>-rdmav<number>.so), with which libibverbs uses the card
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
        'the cards support verbs; MPI needs reliable messages, and the provider ofi_rxm adds them to '
        'the provider verbs, so both providers are named together',
        'fi_verbs(7), fi_rxm(7); ' + _NEWS + 'v1.7.0: "Remove RDM EP support. Use RxM"',
        since='1.7',
    ),
    _make_fact(
        'ucx',
        'this provider passes all messages to UCX',
        'fi_ucx(7); enabled in openSUSE\'s libfabric 1.21.0',
        'untested',
        since='1.21',
    ),
    _make_fact(
        'mlx',
        'this provider exists only in Intel MPI\'s libfabric and passes messages of Mellanox '
        'cards to UCX',
        _INTEL,
        since=None,
    ),
    _make_fact(
        'psm3',
        'this provider sends messages through verbs (UD) or sockets',
        _NEWS + 'v1.15.0: "IPv6 addressing in RoCE and sockets"; '
        'enabled in SUSE\'s libfabric 1.13.2',
        'untested',
        since='1.13',
    ),
]
_UCX = _make_fact(
    True,
    'UCX has the transports rc, dc and ud for these cards, and uses the fastest transport that works',
    _UCX_SOURCE,
)

NETWORKS: Dict[str, Dict[str, Any]] = {
    'Slingshot': {
        'providers': [
            _make_fact(
                'cxi',
                'cxi is libfabric\'s provider for Slingshot 11',
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
                'opx is the provider of Cornelis Networks, and the only provider for CN5000 cards',
                'fi_opx(7); ' + _NEWS + 'v1.15.0: "New provider supporting Cornelis Networks '
                'Omni-path hardware"; docs.cornelis.com, CN5000 Omni-Path Overview, Software; '
                'github.com/easybuilders/easybuild-framework/issues/4560',
                since='1.15',
            ),
            _make_fact(
                'psm2',
                'psm2 is the older provider for cards with 100 Gbit/s, and psm2 needs the library libpsm2',
                'fi_psm2(7); github.com/easybuilders/easybuild-framework/issues/4560',
                since='1.3',
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
                'efa supports the protocol of the EFA cards',
                'fi_efa(7); '
                + _NEWS
                + 'v1.8.0: "New core provider for Amazon EC2 Elastic Fabric Adapter"',
                since='1.8',
            )
        ],
        'ucx': _make_fact(
            None,
            'UCX has a component for EFA, but no run with it is known',
            'libuct_ib_efa.so in MPICH 5.0.2 of PyPI',
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
                since='1.7',
            )
        ],
        'ucx': _make_fact(True, 'UCX also supports TCP', _UCX_SOURCE),
        'drivers': {},
    },
}

#: Kinds of networks, the best first. A machine may have several, such as a RoCE card for its
#: storage.
PREFERRED_NETWORKS = ('Slingshot', 'InfiniBand', 'Omni-Path', 'EFA', 'RoCE', 'Ethernet')

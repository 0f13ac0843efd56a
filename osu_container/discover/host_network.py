"""
Find network interfaces, network cards, and libfabric with its providers on a system.

/sys/class/infiniband lists the cards of InfiniBand, RoCE, Omni-Path (hfi1) and EFA. The name of a
card does not identify the kind of the card, because udev may change the name (rdma-core,
kernel-boot/rdma-persistent-naming.rules: mlx5_0 becomes ibp12s0 or rocep8s0, efa_0 becomes
rdmap0s6).

Sources: Linux, Documentation/ABI/stable/sysfs-class-infiniband; linux-rdma/rdma-core PR 884 (the
link_layer of efa_0 is Unknown); Linux, drivers/infiniband/core/sysfs.c (node_type of iWARP is "4:
RNIC").
"""

import os
import re
from typing import TYPE_CHECKING, List, NamedTuple, Optional, Tuple

from osu_container.base.files import read_plain_file
from osu_container.data.networks import NETWORKS, PREFERRED_NETWORKS
from osu_container.discover.host import SurveyedHost
from osu_container.image.elf import ElfError, read_elf
from osu_container.image.traits import read_fabric_traits
from osu_container.verdict.layers import split_provider

if TYPE_CHECKING:
    from osu_container.discover.survey import Survey

LIBFABRIC = 'libfabric.so.1'
INFINIBAND_FOLDER = '/sys/class/infiniband'


class NetworkCard(NamedTuple):
    """A network card that /sys/class/infiniband lists."""

    name: str
    #: key of NETWORKS (data/networks.py), None if unknown
    kind: Optional[str]
    #: driver of the kernel, '' if unknown
    driver: str
    #: True if a port is active or no port reports a state
    is_up: bool


#: {kernel driver: kind of its cards}, for drivers with cards of a single kind
_KIND_BY_DRIVER = {'hfi1': 'Omni-Path', 'efa': 'EFA'}
#: {kernel driver: pattern of the names of its cards}, for cards whose driver is unknown
_DRIVER_NAME_PATTERNS = {'hfi1': re.compile(r'hfi1_\d+$'), 'efa': re.compile(r'efa_\d+$')}
_KIND_BY_LINK = {'InfiniBand': 'InfiniBand', 'Ethernet': 'RoCE'}


def survey_network_cards(survey: 'Survey') -> None:
    """
    Record the network interfaces, the network cards and the best network in the survey.

    The network cards are Slingshot cards and RDMA cards such as InfiniBand.
    """
    host = survey.host
    names = [
        name
        for name in host.list_names('/sys/class/net')
        if not re.match(r'lo$|docker|veth|br-|virbr|bonding_masters|ifb|dummy|tap|tun', name)
    ]
    survey.add_fact('interfaces', names, '/sys/class/net', section='network')
    cards = sorted(
        set(host.list_names('/sys/class/cxi'))
        | set(map(os.path.basename, host.list_matching_paths('/dev/cxi[0-9]*')))
    )
    survey.slingshot = bool(
        cards or any(name.startswith('hsn') for name in names) or host.exists('/opt/cray/libfabric')
    )
    rdma = list_rdma_cards(host)
    if cards:
        survey.add_fact('cards', cards, '/sys/class/cxi, /dev/cxi*', section='network')
    elif survey.slingshot:
        survey.add_missing(
            "Slingshot's cards",
            "this node cannot use Slingshot. Login nodes often lack cards: run the command on a compute node "
            "(srun -N1 osu-container discover)",
        )
    if rdma:
        survey.add_fact(
            'rdma cards',
            [card.name for card in rdma],
            INFINIBAND_FOLDER,
            section='network',
            note=', '.join(
                '%s %s%s%s'
                % (
                    card.name,
                    card.kind or 'of an unknown kind',
                    ', driver ' + card.driver if card.driver else '',
                    '' if card.is_up else ', down',
                )
                for card in rdma
            ),
        )
    select_network(survey, [card for card in rdma if card.is_up and card.kind])


def select_network(survey: 'Survey', cards: List[NetworkCard]) -> None:
    """
    Record in the survey which kind of network MPI should use (the fact `network`).

    cards: active network cards. If the cards are of several kinds, the function selects the kind
    that comes first in PREFERRED_NETWORKS. Without a card of a known kind, the fact is Ethernet.
    """
    kinds = {card.kind for card in cards}.union(['Slingshot'] if survey.slingshot else [])
    kind = next((network for network in PREFERRED_NETWORKS if network in kinds), 'Ethernet')
    chosen = [card for card in cards if card.kind == kind]
    drivers = sorted({card.driver for card in chosen if card.driver})
    if kind in ('Slingshot', 'Ethernet'):
        source = (
            '/sys/class/cxi, /opt/cray/libfabric'
            if kind == 'Slingshot'
            else 'there is no Slingshot card in /sys/class/cxi, and no active network card '
            'in ' + INFINIBAND_FOLDER
        )
    else:
        source = '%s: %s' % (INFINIBAND_FOLDER, ', '.join(card.name for card in chosen))
    others = sorted(other for other in kinds if other and other != kind)
    survey.add_fact(
        'network',
        {'kind': kind, 'drivers': drivers},
        source,
        'derived',
        'network',
        note='also present: ' + ', '.join(others) if others else '',
    )


def survey_libfabric(survey: 'Survey') -> None:
    """Record the host's libfabric, its providers, and the provider for the network in the survey."""
    mpi_candidates, system_candidates = (
        _list_mpi_libfabrics(survey),
        _list_system_libfabrics(survey),
    )
    path = survey.select_library(
        'libfabric',
        system_candidates + mpi_candidates if survey.cray else mpi_candidates + system_candidates,
        "libfabric is the network library of the host and contains the libfabric providers",
        'network',
        LIBFABRIC,
    )
    if not path:
        survey.add_missing(
            LIBFABRIC,
            "the approaches bind and hybrid cannot be installed; pure and opensource use the image's libfabric",
        )
    select_provider(survey, path, read_libfabric_providers(survey, path) if path else [])


def _list_mpi_libfabrics(survey: 'Survey') -> List[Tuple[str, str]]:
    """
    Return a list of (path, source) for libfabric in the folders of libmpi's RUNPATH.

    source: text that tells how the path was found.
    """
    host, libmpi = survey.host, survey.get_value('libraries.libmpi')
    if not libmpi:
        return []
    try:
        facts = read_elf(host.add_root(libmpi))
    except ElfError:
        return []
    if LIBFABRIC not in facts.needed:
        return []
    folders = [
        os.path.normpath(folder.replace('$ORIGIN', os.path.dirname(facts.path)))
        for folder in facts.runpath or facts.rpath
    ]
    return [
        (
            '%s/%s' % (host.strip_root(folder), LIBFABRIC),
            "libfabric was found in the RUNPATH of libmpi, because the host's MPI has its own build "
            "of libfabric",
        )
        for folder in folders
    ]


def _list_system_libfabrics(survey: 'Survey') -> List[Tuple[str, str]]:
    """
    Return a list of (path, source) for files that may be the libfabric of the system.

    The paths come from pkg-config, loaded modules, Cray's folders and the search paths of ld.so.
    source: text that tells how the path was found.
    """
    host, candidates = survey.host, []
    if survey.get_command_output('libfabric'):
        candidates.append(
            (
                '%s/%s' % (survey.get_command_output('libfabric').strip(), LIBFABRIC),
                '`%s`' % host.command_results['libfabric'].command,
            )
        )
    candidates += [
        (
            '%s/%s' % (folder, LIBFABRIC),
            '%s, set by the loaded module libfabric, contains the folder of libfabric' % name,
        )
        for folder, name in host.list_variable_folders('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH')
        if '/libfabric/' in folder + '/'
    ]
    candidates += host.list_newest_paths(
        '/opt/cray/libfabric/*/lib64/' + LIBFABRIC,
        'libfabric was found in the newest release in /opt/cray/libfabric',
    )
    candidates += survey.list_path_candidates(LIBFABRIC)
    return candidates + survey.list_library_candidates(LIBFABRIC)


def select_provider(survey: 'Survey', path: Optional[str], providers: List[str]) -> None:
    """
    Record in the survey which libfabric provider MPI should use for the network.

    path: path of the host's libfabric, or None. providers: providers of the host's libfabric.
    """
    cards, cxi, kind = (
        survey.get_value('cards', []),
        'cxi' in providers,
        survey.get_value('network')['kind'],
    )
    if kind not in ('Slingshot', 'Ethernet'):
        select_card_provider(survey, path, providers, kind)
    elif (cards or survey.slingshot) and cxi or cards and not path:
        survey.add_fact(
            'provider',
            'cxi',
            '%s; %s'
            % (
                '/sys/class/cxi'
                if cards
                else 'this node has no Slingshot card, like many login nodes',
                'providers of libfabric'
                if cxi
                else "the host has no libfabric, so the image's libfabric must contain the "
                'provider',
            ),
            'measured' if cards and cxi else 'derived',
            'network',
        )
    else:
        survey.add_fact(
            'provider',
            'tcp',
            "the host's libfabric has no provider cxi for the Slingshot cards"
            if cards
            else '/sys/class/cxi lists no Slingshot card',
            'derived',
            'network',
        )
        if cards:
            survey.add_missing(
                'provider cxi',
                "the host's libfabric %s has no provider cxi, only %s, so the approaches bind and "
                "hybrid cannot use the Slingshot cards %s and use TCP. If the image has libcxi, "
                "set the key provider to cxi in the site file and use approach opensource"
                % (path, ', '.join(providers) or 'no known provider', ', '.join(cards)),
            )


def select_card_provider(
    survey: 'Survey', path: Optional[str], providers: List[str], kind: str
) -> None:
    """
    Record in the survey which libfabric provider is best for an RDMA network.

    The function prefers providers that the host's libfabric contains.
    """
    network, parts = (
        NETWORKS[kind],
        {part for name in providers for part in split_provider(name)},
    )
    available = [
        fact for fact in network['providers'] if set(split_provider(fact['value'])) <= parts
    ]
    fact = (available or network['providers'])[0]
    name = survey.add_fact('provider', fact['value'], fact['source'], fact['evidence'], 'network')
    if path and not available:
        survey.provider_problem = "the host's libfabric has no provider %s" % name
        survey.add_missing(
            'provider ' + name,
            "the approaches hybrid and bind fail at startup, because the host's libfabric lacks "
            "the provider for the network. Use an approach without libfabric of the host, and an "
            "image that contains the provider%s" % (" or UCX" if network['ucx']['value'] else ''),
        )
    survey.add_missing(
        'an image for ' + kind,
        "no image of this project contains %s, which these network cards need, so approach pure "
        "uses slow TCP. To test whether your own image is better, run `osu-container check "
        "IMAGE.sif --site FILE`" % ('rdma-core' if kind != 'Omni-Path' else 'the provider ' + name),
    )


def read_libfabric_providers(survey: 'Survey', path: str) -> List[str]:
    """Record the providers of a libfabric in the survey and return the providers; [] if unknown."""
    try:
        names = read_fabric_traits(read_plain_file(os.path.realpath(survey.host.add_root(path))))[
            'providers'
        ]
    except (OSError, ValueError):
        names = []
    if names:
        survey.add_fact(
            'providers',
            names,
            'providers read from the names of the functions in the file of libfabric',
            'derived',
            'network',
        )
    else:
        survey.add_missing(
            'providers of libfabric',
            "it is unknown whether the host's libfabric supports the network",
        )
    return names


def list_rdma_cards(host: SurveyedHost) -> List[NetworkCard]:
    """Return the cards in /sys/class/infiniband, except cards of Slingshot."""
    return [
        _read_card(host, name)
        for name in host.list_names(INFINIBAND_FOLDER)
        if not re.match(r'cxi|hsn', name)
    ]


def _read_card(host: SurveyedHost, name: str) -> NetworkCard:
    folder = '%s/%s' % (INFINIBAND_FOLDER, name)
    link = host.add_root(folder + '/device/driver')
    # The link leads to /sys/bus/pci/drivers/NAME.
    driver = (
        os.path.basename(os.readlink(link))
        if os.path.islink(link)
        else next(
            (driver for driver, pattern in _DRIVER_NAME_PATTERNS.items() if pattern.match(name)), ''
        )
    )
    states, links = (
        [
            host.read_text('%s/ports/%s/%s' % (folder, port, file)).strip()
            for port in host.list_names(folder + '/ports')
        ]
        for file in ('state', 'link_layer')
    )
    active = [link for link, state in zip(links, states) if state.endswith('ACTIVE')]
    kind = _KIND_BY_DRIVER.get(driver) or next(
        (_KIND_BY_LINK[link] for link in active or links if link in _KIND_BY_LINK), None
    )
    # iWARP and usNIC are not supported by this project.
    is_supported = not host.read_text(folder + '/node_type').startswith('4')
    return NetworkCard(
        name, kind if is_supported else None, driver, bool(active) or not any(states)
    )

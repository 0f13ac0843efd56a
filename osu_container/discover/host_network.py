"""
Looking for the network: interfaces and cards, libfabric with its providers, libcxi.

Cards stand in /sys/class/infiniband: InfiniBand, RoCE, Omni-Path (hfi1) and EFA. The name of one
tells little, since udev may change it (rdma-core, kernel-boot/rdma-persistent-naming.rules: mlx5_0
becomes ibp12s0 or rocep8s0, efa_0 rdmap0s6).

Sources: Documentation/ABI/stable/sysfs-class-infiniband of Linux; linux-rdma/rdma-core PR 884: the
link_layer of efa_0 is Unknown; Linux, drivers/infiniband/core/sysfs.c: node_type, "4: RNIC" of
iWARP.
"""

import os
import re
from collections import namedtuple

from osu_container.base.files import read_plain_file
from osu_container.data.networks import NETWORKS, PREFERRED_NETWORKS
from osu_container.discover.host import sort_newest_first
from osu_container.image.elf import ElfError, read_elf
from osu_container.image.traits import read_fabric_traits
from osu_container.verdict.layers import split_provider

LIBFABRIC = 'libfabric.so.1'
INFINIBAND_FOLDER = '/sys/class/infiniband'
#: name; kind: key of NETWORKS (data/networks.py) or None, what it speaks is not known; driver: str,
#: the kernel's, '' where it is not said; up: bool, one of its ports is, or nothing says
NetworkCard = namedtuple('Card', 'name kind driver is_up')

#: Driver of the kernel -> kind, where that alone tells it
_KIND_BY_DRIVER = {'hfi1': 'Omni-Path', 'efa': 'EFA'}
#: The same by the name that the driver gives, for where no driver is told
_DRIVER_NAME_PATTERNS = {'hfi1': re.compile(r'hfi1_\d+$'), 'efa': re.compile(r'efa_\d+$')}
_KIND_BY_LINK = {'InfiniBand': 'InfiniBand', 'Ethernet': 'RoCE'}


def survey_network_cards(survey):
    """
    Interfaces, Slingshot's cards, those of InfiniBand and its like; which of the networks
    counts.
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
        | set(
            os.path.basename(path)
            for path in host.list_matching_paths('/dev/cxi*')
            if re.search(r'/cxi\d+$', path)
        )
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
            "on this node nothing goes over Slingshot; login nodes often have no card: "
            "look on a compute node, srun -N1 osu-container discover",
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
                    card.kind or 'of a kind that is not known',
                    ', driver ' + card.driver if card.driver else '',
                    '' if card.is_up else ', down',
                )
                for card in rdma
            ),
        )
    select_network(survey, [card for card in rdma if card.is_up and card.kind])


def select_network(survey, cards):
    """
    Keep the kind of network, the best of those that the cards (list of Card, those that are up)
    are for.
    """
    kinds = {card.kind for card in cards}.union(['Slingshot'] if survey.slingshot else [])
    kind = next((one for one in PREFERRED_NETWORKS if one in kinds), 'Ethernet')
    drivers = sorted(set(card.driver for card in cards if card.kind == kind and card.driver))
    if kind in ('Slingshot', 'Ethernet'):
        source = (
            '/sys/class/cxi, /opt/cray/libfabric'
            if kind == 'Slingshot'
            else 'no card in /sys/class/cxi, and none that is up in ' + INFINIBAND_FOLDER
        )
    else:
        source = '%s: %s' % (
            INFINIBAND_FOLDER,
            ', '.join(card.name for card in cards if card.kind == kind),
        )
    others = sorted(kinds - {kind})
    survey.add_fact(
        'network',
        {'kind': kind, 'drivers': drivers},
        source,
        'derived',
        'network',
        note='also here: ' + ', '.join(others) if others else '',
    )


def survey_libfabric(survey):
    """libfabric, its release and providers; the provider of the fast network."""
    of_mpi, of_system = _list_mpi_libfabrics(survey), _list_system_libfabrics(survey)
    path = survey.select_library(
        'libfabric',
        of_system + of_mpi if survey.cray else of_mpi + of_system,
        "the host's network library, with the providers of its network",
        'network',
        LIBFABRIC,
    )
    if not path:
        survey.add_missing(
            LIBFABRIC, "bind and hybrid cannot be installed; pure and opensource bring their own"
        )
    select_provider(survey, path, read_libfabric_providers(survey, path) if path else [])


def _list_mpi_libfabrics(survey):
    """Return [(path, source)] of the libfabric that libmpi names by its RUNPATH."""
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
        ('%s/%s' % (host.strip_root(folder), LIBFABRIC), 'RUNPATH of libmpi: its own build')
        for folder in folders
    ]


def _list_system_libfabrics(survey):
    """Return [(path, source)] of places of a libfabric: of pkg-config, modules, Cray, ld.so."""
    host, found = survey.host, []
    if survey.get_command_output('libfabric'):
        found.append(
            (
                '%s/%s' % (survey.get_command_output('libfabric').strip(), LIBFABRIC),
                '`%s`' % host.command_results['libfabric'].command,
            )
        )
    found += [
        ('%s/%s' % (folder, LIBFABRIC), '%s, by the loaded module libfabric' % name)
        for name in ('LD_LIBRARY_PATH', 'CRAY_LD_LIBRARY_PATH')
        for folder in host.list_variable_folders(name)
        if '/libfabric/' in folder + '/'
    ]
    found += [
        (path, 'the newest in /opt/cray/libfabric')
        for path in sort_newest_first(
            host.list_matching_paths('/opt/cray/libfabric/*/lib64/' + LIBFABRIC)
        )
    ]
    found += [
        ('%s/%s' % (folder, LIBFABRIC), 'LD_LIBRARY_PATH')
        for folder in host.list_variable_folders('LD_LIBRARY_PATH')
    ]
    return found + survey.list_library_candidates(LIBFABRIC)


def select_provider(survey, path, there):
    """
    The provider for the network; path: of libfabric or None, there: its providers (list of str).
    """
    cards, cxi, kind = (
        survey.get_value('cards', []),
        'cxi' in there,
        survey.get_value('network')['kind'],
    )
    if kind not in ('Slingshot', 'Ethernet'):
        select_card_provider(survey, path, there, kind)
    elif (cards or survey.slingshot) and cxi or cards and not path:
        survey.add_fact(
            'provider',
            'cxi',
            '%s; %s'
            % (
                '/sys/class/cxi' if cards else 'no card on this node, as on many login nodes',
                'providers of libfabric'
                if cxi
                else 'no libfabric of the host, the image must have the provider',
            ),
            'measured' if cards and cxi else 'derived',
            'network',
        )
    else:
        survey.add_fact(
            'provider',
            'tcp',
            "the host's libfabric has no provider cxi for the cards"
            if cards
            else 'no card of Slingshot in /sys/class/cxi',
            'derived',
            'network',
        )
        if cards:
            survey.add_missing(
                'provider cxi',
                "%s has %s: bind and hybrid cannot reach the cards %s, and the file says "
                "provider tcp. opensource can, with libcxi in the image: set provider to cxi then"
                % (path, ', '.join(there) or 'no provider that is known', ', '.join(cards)),
            )


def select_card_provider(survey, path, there, kind):
    """
    The provider for InfiniBand and its like: the best that the host's libfabric has, else the
    best that there is.
    """
    network, have = NETWORKS[kind], set(part for name in there for part in split_provider(name))
    having = [fact for fact in network['providers'] if set(split_provider(fact['value'])) <= have]
    fact = (having or network['providers'])[0]
    name = survey.add_fact('provider', fact['value'], fact['source'], fact['evidence'], 'network')
    if path and not having:
        survey.provider_problem = "the host's libfabric has no provider %s" % name
        survey.add_missing(
            'provider ' + name,
            "hybrid and bind would end at start, because they take the host's libfabric; "
            "an image that has the provider%s does without it"
            % (", or UCX," if network['ucx']['value'] else ''),
        )
    survey.add_missing(
        'an image for ' + kind,
        "no image of this project has %s for these cards: with those pure goes over "
        "TCP, slowly. `osu-container check IMAGE.sif --site-file FILE` tells which of yours does better"
        % ('rdma-core' if kind != 'Omni-Path' else 'the provider ' + name),
    )


def read_libfabric_providers(survey, path):
    """Return the providers of the libfabric at path, kept as a fact."""
    try:
        names = read_fabric_traits(read_plain_file(os.path.realpath(survey.host.add_root(path))))[
            'providers'
        ]
    except (OSError, ValueError):
        names = []
    if names:
        survey.add_fact('providers', names, 'names of functions in the file', 'derived', 'network')
    else:
        survey.add_missing(
            'providers of libfabric', "whether the host's libfabric drives the network is not known"
        )
    return names


def list_rdma_cards(host):
    """
    Return the Cards of a Host in /sys/class/infiniband; those of Slingshot stand in
    /sys/class/cxi.
    """
    return [
        _read_card(host, name)
        for name in host.list_names(INFINIBAND_FOLDER)
        if not re.match(r'cxi|hsn', name)
    ]


def _read_card(host, name):
    """Return the Card of a name in FOLDER."""
    folder = '%s/%s' % (INFINIBAND_FOLDER, name)
    link = host.add_root(folder + '/device/driver')
    # a link to /sys/bus/pci/drivers/NAME: its last part, wherever the folder lies
    driver = (
        os.path.basename(os.readlink(link))
        if os.path.islink(link)
        else next(
            (driver for driver, pattern in _DRIVER_NAME_PATTERNS.items() if pattern.match(name)), ''
        )
    )
    ports = ['%s/ports/%s' % (folder, port) for port in host.list_names(folder + '/ports')]
    states = [host.read_text(port + '/state').strip() for port in ports]
    up = not any(states) or any(state.endswith('ACTIVE') for state in states)
    links = [
        host.read_text(port + '/link_layer').strip()
        for port, state in zip(ports, states)
        if not any(states) or state.endswith('ACTIVE') or not up
    ]
    kind = _KIND_BY_DRIVER.get(driver) or next(
        (_KIND_BY_LINK[link] for link in links if link in _KIND_BY_LINK), None
    )
    if (
        host.read_text(folder + '/node_type').strip().startswith('4')
    ):  # iWARP, or usNIC: neither is made for MPI here
        kind = None
    return NetworkCard(name, kind, driver, up)

"""
The fast network's cards, as the kernel tells them in /sys/class/infiniband: whose they are, what they speak, if a port
is up. InfiniBand, RoCE, Omni-Path (hfi1) and EFA all stand there; the name of a card tells little, since udev may
change it (rdma-core, kernel-boot/rdma-persistent-naming.rules: mlx5_0 becomes ibp12s0 or rocep8s0, efa_0 rdmap0s6).

Sources: Documentation/ABI/stable/sysfs-class-infiniband of Linux; linux-rdma/rdma-core PR 884: the link_layer of
efa_0 is Unknown; Linux, drivers/infiniband/core/sysfs.c: node_type, "4: RNIC" of iWARP.
"""
import os
import re
from collections import namedtuple

FOLDER = '/sys/class/infiniband'
#: name; kind: key of NETWORKS (core/data/networks.py) or None, what it speaks is not known; driver: str, the kernel's,
#: '' where it is not said; up: bool, one of its ports is, or nothing says
Card = namedtuple('Card', 'name kind driver up')

#: Driver of the kernel -> kind, where that alone tells it
_BY_DRIVER = {'hfi1': 'Omni-Path', 'efa': 'EFA'}
#: The same by the name that the driver gives, for where no driver is told
_BY_NAME = {'hfi1': re.compile(r'hfi1_\d+$'), 'efa': re.compile(r'efa_\d+$')}
_BY_LINK = {'InfiniBand': 'InfiniBand', 'Ethernet': 'RoCE'}


def rdma_cards(host):
    """Return the Cards of a Host in /sys/class/infiniband; those of Slingshot stand in /sys/class/cxi."""
    return [_card(host, name) for name in host.names(FOLDER) if not re.match(r'cxi|hsn', name)]


def _card(host, name):
    """Return the Card of a name in FOLDER."""
    folder = '%s/%s' % (FOLDER, name)
    link = host.at(folder + '/device/driver')
    # a link to /sys/bus/pci/drivers/NAME: its last part, wherever the folder lies
    driver = os.path.basename(os.readlink(link)) if os.path.islink(link) else next(
        (driver for driver, pattern in _BY_NAME.items() if pattern.match(name)), '')
    ports = ['%s/ports/%s' % (folder, port) for port in host.names(folder + '/ports')]
    states = [host.text(port + '/state').strip() for port in ports]
    up = not any(states) or any(state.endswith('ACTIVE') for state in states)
    links = [host.text(port + '/link_layer').strip() for port, state in zip(ports, states)
             if not any(states) or state.endswith('ACTIVE') or not up]
    kind = _BY_DRIVER.get(driver) or next((_BY_LINK[link] for link in links if link in _BY_LINK), None)
    if host.text(folder + '/node_type').strip().startswith('4'):  # iWARP, or usNIC: neither is made for MPI here
        kind = None
    return Card(name, kind, driver, up)

"""
Described systems for discover: folders with /sys as it is on machines with other networks, and with what starts jobs.

Sources of the look of /sys/class/infiniband: Documentation/ABI/stable/sysfs-class-infiniband of Linux (files and their
form); linux-rdma/rdma-core PR 884 (efa_0: link_layer Unknown) and kernel-boot/rdma-persistent-naming.rules (names);
aws/eks-charts PR 1110 (rdmap115s0 of EFA); docs.cornelis.com, CN5000 Omni-Path Overview (kernel module hfi1);
wiki.fysik.dtu.dk, OmniPath (hfi1_0, 100 Gb/s); rdma-core, kernel-boot/rdma-description.rules (drivers of cards).
"""
from collections import namedtuple
from pathlib import Path

#: driver: of the kernel, None: the link is not there; node: node_type; ports: list of (link_layer, state, rate)
Card = namedtuple('Card', 'driver node ports')

_IB, _ETHERNET, _UNKNOWN = 'InfiniBand', 'Ethernet', 'Unknown'
_UP, _DOWN, _CA = '4: ACTIVE', '1: DOWN', '1: CA'
_HDR = (_IB, _UP, '200 Gb/sec (4X HDR)')
_ROCE = (_ETHERNET, _UP, '100 Gb/sec (4X EDR)')

#: System -> (cards, interfaces of TCP beside eth0, wanted: kind of network, drivers, provider without a host's
#: libfabric)
NETWORKS = {
    'InfiniBand HDR': ({'mlx5_0': Card('mlx5_core', _CA, [_HDR])}, ['ib0'], 'InfiniBand', ['mlx5_core'],
                       'verbs;ofi_rxm'),
    'InfiniBand, named by udev, and RoCE for disks': (
        {'ibp12s0': Card('mlx5_core', _CA, [_HDR]), 'rocep8s0f0': Card('bnxt_en', _CA, [_ROCE])}, ['ib0', 'eth1'],
        'InfiniBand', ['mlx5_core'], 'verbs;ofi_rxm'),
    'InfiniBand, old, two ports, one down': (
        {'mlx4_0': Card('mlx4_core', _CA, [(_ETHERNET, _DOWN, '10 Gb/sec (1X QDR)'), (_IB, _UP, '56 Gb/sec')])},
        ['ib1'], 'InfiniBand', ['mlx4_core'], 'verbs;ofi_rxm'),
    'RoCE, Mellanox': ({'mlx5_bond_0': Card('mlx5_core', _CA, [_ROCE])}, ['bond0'], 'RoCE', ['mlx5_core'],
                       'verbs;ofi_rxm'),
    'RoCE, Broadcom': ({'bnxt_re0': Card('bnxt_en', _CA, [_ROCE])}, [], 'RoCE', ['bnxt_en'], 'verbs;ofi_rxm'),
    'RoCE, Intel': ({'irdma0': Card('ice', _CA, [_ROCE])}, [], 'RoCE', ['ice'], 'verbs;ofi_rxm'),
    'Omni-Path 100': ({'hfi1_0': Card('hfi1', _CA, [(_IB, _UP, '100 Gb/sec (4X EDR)')])}, ['ib0'], 'Omni-Path',
                      ['hfi1'], 'opx'),
    'Omni-Path CN5000': ({'hfi1_0': Card('hfi1', _CA, [(_IB, _UP, '400 Gb/sec (4X NDR)')])}, [], 'Omni-Path', ['hfi1'],
                         'opx'),
    'Omni-Path, no link to the driver': ({'hfi1_0': Card(None, _CA, [(_IB, _UP, '100 Gb/sec (4X EDR)')])}, [],
                                         'Omni-Path', ['hfi1'], 'opx'),
    'EFA': ({'efa_0': Card('efa', '7: unspecified', [(_UNKNOWN, _UP, '100 Gb/sec (4X EDR)')])}, [], 'EFA', ['efa'],
            'efa'),
    'EFA, named by udev': ({'rdmap115s0': Card('efa', '', [(_UNKNOWN, _UP, '')])}, [], 'EFA', ['efa'], 'efa'),
    'iWARP': ({'iwp1s0': Card('i40e', '4: RNIC', [_ROCE])}, [], 'Ethernet', [], 'tcp'),
    'InfiniBand that is down': ({'mlx5_0': Card('mlx5_core', _CA, [(_IB, _DOWN, '10 Gb/sec (4X SDR)')])}, [],
                                'Ethernet', [], 'tcp'),
    'Ethernet': ({}, [], 'Ethernet', [], 'tcp'),
}

#: What starts jobs -> ({command: what it prints, None: exits 1}, files, which 'pmi' is wanted)
LAUNCHERS = {
    'Slurm with pmi2': ({'srun': 'MPI plugin types are...\n\tnone\n\tpmi2\n'}, [], {'image': 'pmi2'}),
    'Slurm with pmi2 and pmix': ({'srun': 'MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n'}, [],
                                 {'image': 'pmi2', 'Open MPI': 'pmix'}),
    'Slurm with pmix alone': ({'srun': 'MPI plugin types are...\n\tpmix\n\tnone\nspecific pmix plugin versions '
                                       'available: pmix_v4\n'}, [], {'Open MPI': 'pmix'}),
    'Slurm with none': ({'srun': 'MPI plugin types are...\n\tnone\n'}, [], {}),
    'Slurm that does not answer': ({'srun': None}, [], {}),
    'PBS': ({'qsub': '', 'mpiexec': 'HYDRA build details:'}, ['/etc/pbs.conf'], {}),
    'LSF': ({'bsub': '', 'blaunch': ''}, [], {}),
    'ssh with mpiexec': ({'mpiexec': 'mpiexec (OpenRTE) 4.1.4'}, [], {}),
}


def plant(root, network='Ethernet', launcher='Slurm with pmi2', runtime=True):
    """Make a folder (Path) that stands in for a system; return it. runtime: bool, Apptainer is there."""
    root = Path(root)
    cards, interfaces = NETWORKS[network][:2]
    for name in ['eth0', *interfaces]:
        _write(root / f'sys/class/net/{name}/operstate', 'up\n')
    for name, card in cards.items():
        folder = root / 'sys/class/infiniband' / name
        _write(folder / 'node_type', card.node + '\n')
        (folder / 'device').mkdir()
        if card.driver:
            (root / 'sys/bus/pci/drivers' / card.driver).mkdir(parents=True, exist_ok=True)
            (folder / 'device/driver').symlink_to(f'../../../../bus/pci/drivers/{card.driver}')
        for number, (link, state, rate) in enumerate(card.ports, 1):
            for file, text in (('link_layer', link), ('state', state), ('rate', rate)):
                _write(folder / f'ports/{number}/{file}', text + '\n')
    commands, files, _ = LAUNCHERS[launcher]
    for name, text in {**commands, **({'apptainer': 'apptainer version 1.4.5'} if runtime else {})}.items():
        _write(root / 'usr/bin' / name, '#!/bin/sh\n' + ('exit 1\n' if text is None else f"cat <<'_'\n{text}\n_\n"))
        (root / 'usr/bin' / name).chmod(0o755)
    for path in files:
        _write(root / path[1:], '')
    return root


def _write(path, text):
    """Write text (str) into a file (Path), with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)

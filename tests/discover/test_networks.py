"""
Networks and kinds of PMI that none of the known sites has: discover tells them by their cards, and
guesses no PMI.

Sources of the look of /sys/class/infiniband: Documentation/ABI/stable/sysfs-class-infiniband of
Linux (files and their form); linux-rdma/rdma-core PR 884 (efa_0: link_layer Unknown) and
kernel-boot/rdma-persistent-naming.rules (names); aws/eks-charts PR 1110 (rdmap115s0 of EFA);
docs.cornelis.com, CN5000 Omni-Path Overview (kernel module hfi1); rdma-core,
kernel-boot/rdma-description.rules (drivers of cards).
"""

import json
import re
import shlex
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.discover.cli import discover_system
from osu_container.verdict.site_choice import resolve_network
from tests.discover.test_discover import check_site
from tests.helpers.machine import PROJECT, require_tool, run
from tools.generate.described_facts import derive_facts

#: driver: of the kernel, None: the link is missing; node: node_type; ports: list of (link_layer,
#: state)
Card = namedtuple('Card', 'driver node ports')

_IB, _ETHERNET, _UNKNOWN = 'InfiniBand', 'Ethernet', 'Unknown'
_UP, _DOWN, _CA = '4: ACTIVE', '1: DOWN', '1: CA'
_HDR, _ROCE = (_IB, _UP), (_ETHERNET, _UP)

#: System -> (cards, wanted: kind of network, drivers, provider without a host's libfabric)
NETWORKS = {
    'InfiniBand, named by udev, and RoCE for disks': (
        {'ibp12s0': Card('mlx5_core', _CA, [_HDR]), 'rocep8s0f0': Card('bnxt_en', _CA, [_ROCE])},
        'InfiniBand',
        ['mlx5_core'],
        'verbs;ofi_rxm',
    ),
    'InfiniBand, two ports, one down': (
        {'mlx4_0': Card('mlx4_core', _CA, [(_ETHERNET, _DOWN), (_IB, _UP)])},
        'InfiniBand',
        ['mlx4_core'],
        'verbs;ofi_rxm',
    ),
    'RoCE': ({'irdma0': Card('ice', _CA, [_ROCE])}, 'RoCE', ['ice'], 'verbs;ofi_rxm'),
    'Omni-Path': ({'hfi1_0': Card('hfi1', _CA, [_HDR])}, 'Omni-Path', ['hfi1'], 'opx'),
    'Omni-Path, no link to the driver': (
        {'hfi1_0': Card(None, _CA, [_HDR])},
        'Omni-Path',
        ['hfi1'],
        'opx',
    ),
    'EFA, named by udev': (
        {'rdmap115s0': Card('efa', '', [(_UNKNOWN, _UP)])},
        'EFA',
        ['efa'],
        'efa',
    ),
    'iWARP': ({'iwp1s0': Card('i40e', '4: RNIC', [_ROCE])}, 'Ethernet', [], 'tcp'),
    'InfiniBand that is down': (
        {'mlx5_0': Card('mlx5_core', _CA, [(_IB, _DOWN)])},
        'Ethernet',
        [],
        'tcp',
    ),
    'Ethernet': ({}, 'Ethernet', [], 'tcp'),
}

#: Slurm -> (what `srun --mpi=list` prints, None: it exits with 1; which 'pmi' is wanted)
LAUNCHERS = {
    'pmi2': ('MPI plugin types are...\n\tnone\n\tpmi2\n', {'image': 'pmi2'}),
    'pmi2 and pmix': (
        'MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\n',
        {'image': 'pmi2', 'Open MPI': 'pmix'},
    ),
    'pmix': (
        'MPI plugin types are...\n\tpmix\n\tnone\nspecific pmix plugin versions available: pmix_v4\n',
        {'Open MPI': 'pmix'},
    ),
    'none': ('MPI plugin types are...\n\tnone\n', {}),
    'no answer': (None, {}),
}


def make_system(root, network='Ethernet', launcher='pmi2'):
    """Make a folder (Path) that stands in for a system with Apptainer; return it."""
    root = Path(root)
    _write(root / 'sys/class/net/eth0/operstate', 'up\n')
    for name, card in NETWORKS[network][0].items():
        folder = root / 'sys/class/infiniband' / name
        _write(folder / 'node_type', card.node + '\n')
        (folder / 'device').mkdir()
        if card.driver:
            (root / 'sys/bus/pci/drivers' / card.driver).mkdir(parents=True, exist_ok=True)
            (folder / 'device/driver').symlink_to(f'../../../../bus/pci/drivers/{card.driver}')
        for number, (link, state) in enumerate(card.ports, 1):
            _write(folder / f'ports/{number}/link_layer', link + '\n')
            _write(folder / f'ports/{number}/state', state + '\n')
    for name, text in (('srun', LAUNCHERS[launcher][0]), ('apptainer', 'apptainer version 1.4.5')):
        _write(
            root / 'usr/bin' / name,
            '#!/bin/sh\n' + ('exit 1\n' if text is None else f"cat <<'_'\n{text}\n_\n"),
        )
        (root / 'usr/bin' / name).chmod(0o755)
    return root


def _write(path, text):
    """Write text (str) into a file (Path), with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def environment(tmp_path):
    """An environment (dict) without this machine's srun and container runtime."""
    folder = tmp_path / 'commands'
    folder.mkdir()
    for name in ('bash', 'sh', 'cat', 'getconf'):
        (folder / name).symlink_to(require_tool(name))
    return {'PATH': str(folder), 'HOME': '/home/nobody', 'LC_ALL': 'C.UTF-8'}


@pytest.mark.parametrize('name', NETWORKS)
def test_network_is_identified_by_its_nics(tmp_path, environment, name):
    _, kind, drivers, provider = NETWORKS[name]
    result = discover_system(
        make_system(tmp_path / 'root', name, 'pmi2 and pmix'), environment=environment
    )
    assert result['facts']['network']['value'] == {'kind': kind, 'drivers': drivers}
    site = check_site(result['site'], 'here')
    assert (site['provider']['value'], resolve_network(site)[0]) == (provider, kind)
    assert any(kind in entry['what'] for entry in result['missing']) == (kind != 'Ethernet')


@pytest.mark.parametrize(
    'providers, wanted, refused',
    [
        (['opx', 'psm2', 'tcp'], 'opx', False),
        (['psm2', 'tcp'], 'psm2', False),
        (['tcp'], 'opx', True),
    ],
)
def test_provider_exists_in_the_host_libfabric(
    tmp_path, parts, environment, providers, wanted, refused
):
    root = make_system(tmp_path / 'root', 'Omni-Path')
    library = root / 'usr/lib64/libfabric.so.1'
    library.parent.mkdir(parents=True)
    shutil.copy(parts.fabric(providers=providers, needed=()), library)
    (root / 'etc').mkdir(exist_ok=True)
    result = discover_system(root, environment=environment)
    assert result['site']['provider']['value'] == wanted
    assert ('opx' in (dict(result['approaches'])['hybrid'] or '')) == refused


@pytest.mark.parametrize('launcher', LAUNCHERS)
def test_pmi_types_decide_which_approaches_install(tmp_path, environment, launcher):
    root, pmi = make_system(tmp_path / 'root', launcher=launcher), LAUNCHERS[launcher][1]
    result = discover_system(root, environment=environment)
    assert result['site']['pmi']['value'] == pmi
    assert [name for name, why in result['approaches'] if why is None] == [
        name
        for name, entry in APPROACHES.items()
        if name in ('pure', 'opensource')
        and 'image' in pmi
        or name == 'openmpi'
        and entry['mpi'] in pmi
    ]


@pytest.mark.parametrize(
    'name, launcher, wanted',
    [('Ethernet', 'pmi2', 'osu-container-pure.eb'), ('RoCE', 'pmix', 'osu-container-openmpi.eb')],
)
def test_eb_accepts_the_printed_command(eb, tmp_path, environment, name, launcher, wanted):
    output, root = tmp_path / 'site.py', make_system(tmp_path / 'root', name, launcher)
    done = run(
        [
            sys.executable,
            PROJECT / 'scripts' / 'osu-container',
            'discover',
            '--sysroot',
            root,
            '-o',
            output,
        ],
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, '')
    command = shlex.split(re.search(r'\beb (.*)$', done.stdout, re.M).group(1))
    assert command == [wanted, '-r', f'--try-amend=site={output}']
    recorded, module = (
        tmp_path / 'facts.json',
        wanted[: -len('.eb')].replace('-container-', '-container/'),
    )
    recorded.write_text(json.dumps({module: derive_facts('workstation', module)}))
    ran = eb(
        *command,
        '--module-only',
        '--skip-sanity-check',
        '--force',
        '--disable-generate-devel-module',
        f'--try-amend=facts={recorded}',
    )
    assert ran.returncode == 0, ran
    text = eb.module(module).read_text()
    pmi, provider = ('pmix', 'verbs;ofi_rxm') if launcher == 'pmix' else ('pmi2', 'tcp')
    assert re.search(f'"SLURM_MPI_TYPE".*"{pmi}"', text) and re.search(
        f'FI_PROVIDER".*"{provider}"', text
    )

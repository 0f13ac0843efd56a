"""
Networks and launchers that none of the known sites has: discover tells them by their cards, guesses no PMI, calls
installable what eb takes, and the commands that it prints run.

Sources of the look of /sys/class/infiniband: Documentation/ABI/stable/sysfs-class-infiniband of Linux (files and their
form); linux-rdma/rdma-core PR 884 (efa_0: link_layer Unknown) and kernel-boot/rdma-persistent-naming.rules (names);
aws/eks-charts PR 1110 (rdmap115s0 of EFA); docs.cornelis.com, CN5000 Omni-Path Overview (kernel module hfi1);
wiki.fysik.dtu.dk, OmniPath (hfi1_0, 100 Gb/s); rdma-core, kernel-boot/rdma-description.rules (drivers of cards).
"""
import json
import re
import shlex
import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.networks import NETWORKS as KNOWN
from osu_container.core.deciding.settings import approach_entry, check_approach, image_of
from osu_container.core.deciding.site_choice import SettingsError, network_of
from osu_container.generate.described_facts import facts_of
from tests.discover.test_discover import check_site
from tests.helpers.machine import PROJECT, run, tool

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


COMMAND = PROJECT / 'bin' / 'osu-container'
#: Every network once, and every launcher on one of them
SYSTEMS = [(name, 'Slurm with pmi2 and pmix') for name in NETWORKS] + [
    (name, launcher) for name in ('InfiniBand HDR', 'Ethernet') for launcher in LAUNCHERS]


def environment(tmp_path):
    """Return an environment (dict) without this machine's srun and container runtime."""
    folder = tmp_path / 'commands'
    folder.mkdir(exist_ok=True)
    for name in ('bash', 'sh', 'cat', 'getconf'):
        if not (folder / name).exists():
            (folder / name).symlink_to(tool(name))
    return {'PATH': str(folder), 'HOME': '/home/nobody', 'LC_ALL': 'C.UTF-8'}


def discover(root, tmp_path, *arguments):
    """Run osu-container discover on a described system; return CompletedProcess."""
    done = run([sys.executable, COMMAND, 'discover', '--sysroot', root, *arguments], env=environment(tmp_path))
    assert (done.returncode, done.stderr) == (0, '')
    return done


def found(root, tmp_path):
    """Return what discover found (dict)."""
    return json.loads(discover(root, tmp_path, '--json', '--name', 'here').stdout)


# The data

# Cards

@pytest.mark.parametrize('name', NETWORKS)
def test_a_network_is_told_by_its_cards(tmp_path, name):
    cards, interfaces, kind, drivers, provider = NETWORKS[name]
    result = found(plant(tmp_path / 'root', name), tmp_path)
    assert result['facts']['network']['value'] == {'kind': kind, 'drivers': drivers}
    assert result['facts'].get('rdma cards', {'value': []})['value'] == sorted(cards)
    assert result['facts']['interfaces']['value'] == sorted(['eth0', *interfaces])
    assert result['site']['provider']['value'] == provider
    site = check_site(result['site'], 'here')
    assert network_of(site) == (kind, KNOWN[kind], drivers)
    # UCX is kept off where it is slow or unknown, and may be taken where it is right
    netmod, = [one for one in site['variables'] if one['name'] == 'MPIR_CVAR_CH4_NETMOD']
    assert 'no ucx' in netmod['only']
    missing = [entry['what'] for entry in result['missing']]
    assert (f'an image for {kind}' in missing) == (kind != 'Ethernet')


@pytest.mark.parametrize('providers, wanted, refused', [
    (['opx', 'psm2', 'tcp'], 'opx', False), (['psm2', 'tcp'], 'psm2', False), (['tcp'], 'opx', True)])
def test_the_provider_is_one_that_the_hosts_libfabric_has(tmp_path, parts, providers, wanted, refused):
    root = plant(tmp_path / 'root', 'Omni-Path 100')
    library = root / 'usr/lib64/libfabric.so.1'
    library.parent.mkdir(parents=True)
    shutil.copy(parts.fabric(providers=providers, needed=()), library)
    (root / 'etc').mkdir(exist_ok=True)
    result = found(root, tmp_path)
    assert result['site']['provider']['value'] == wanted
    assert (dict(result['approaches'])['hybrid'] == "the host's libfabric has no provider opx") == refused


# What can be installed

def refusal(approach, site):
    """Return what eb says (str) before it looks at an image, None if it goes on: of osu_container/easyblock.py."""
    try:
        check_approach(approach_entry(approach), site)
        if APPROACHES[approach]['container']:
            image_of('osu-container', approach_entry(approach), site)
    except SettingsError as err:
        return str(err)
    return None


@pytest.mark.parametrize('name, launcher', SYSTEMS)
def test_what_discover_calls_installable_eb_takes_and_nothing_else(tmp_path, name, launcher):
    result = found(plant(tmp_path / 'root', name, launcher), tmp_path)
    assert result['site']['pmi']['value'] == LAUNCHERS[launcher][2]
    site = check_site(result['site'], 'here')
    assert {approach for approach, why in result['approaches'] if why is None} == {
        approach for approach in APPROACHES if refusal(approach, site) is None}


# The commands that are printed, as they are printed

def command_of(done):
    """Return the command for eb (list of str) that discover ends with."""
    return shlex.split(re.search(r'^Use it: +eb (.*)$', done.stdout, re.M).group(1))


@pytest.mark.parametrize('name, launcher, wanted', [
    ('Ethernet', 'Slurm with pmi2', 'osu-container-pure.eb'),
    ('InfiniBand HDR', 'Slurm with pmi2 and pmix', 'osu-container-pure.eb'),
    ('RoCE, Mellanox', 'Slurm with pmix alone', 'osu-container-openmpi.eb')])
def test_eb_takes_the_printed_command(eb, tmp_path, name, launcher, wanted):
    output = tmp_path / 'site.py'
    done = discover(plant(tmp_path / 'root', name, launcher), tmp_path, '-o', output)
    assert command_of(done) == [wanted, '-r', f'--try-amend=site={output}']
    recorded, module = tmp_path / 'facts.json', wanted[:-len('.eb')].replace('-container-', '-container/')
    recorded.write_text(json.dumps({module: facts_of('workstation', module)}))
    ran = eb(*command_of(done), '--module-only', '--skip-sanity-check', '--force', '--disable-generate-devel-module',
             f'--try-amend=facts={recorded}')
    assert ran.returncode == 0, ran.stdout
    approach = wanted[len('osu-container-'):-len('.eb')]
    module = eb.module(f'osu-container/{approach}').read_text()
    pmi, provider = ('pmix', 'verbs;ofi_rxm') if approach == 'openmpi' else ('pmi2', 'tcp')
    assert re.search(f'"SLURM_MPI_TYPE".*"{pmi}"', module) and re.search(f'FI_PROVIDER".*"{provider}"', module)

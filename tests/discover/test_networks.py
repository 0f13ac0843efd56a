"""
Networks and launchers that none of the known sites has: discover tells them by their cards, guesses no PMI, calls
installable what eb takes, and the commands that it prints run.
"""
import json
import re
import shlex
import shutil
import sys

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.data.networks import NETWORKS
from osu_container.core.deciding.conditions import network_of
from osu_container.core.deciding.settings import approach_entry, check_approach, image_of
from osu_container.core.deciding.site_choice import SettingsError
from osu_container.generate.described_facts import facts_of
from tests.discover.test_discover import check_site
from tests.helpers import networks
from tests.helpers.machine import PROJECT, run

COMMAND = PROJECT / 'bin' / 'osu-container'
#: Every network once, and every launcher on one of them
SYSTEMS = [(name, 'Slurm with pmi2 and pmix') for name in networks.NETWORKS] + [
    (name, launcher) for name in ('InfiniBand HDR', 'Ethernet') for launcher in networks.LAUNCHERS]


def environment(tmp_path):
    """Return an environment (dict) without this machine's srun and container runtime."""
    folder = tmp_path / 'commands'
    folder.mkdir(exist_ok=True)
    for name in ('bash', 'sh', 'cat', 'getconf', 'pkg-config'):
        if not (folder / name).exists():
            (folder / name).symlink_to(shutil.which(name))
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

@pytest.mark.parametrize('name', networks.NETWORKS)
def test_a_network_is_told_by_its_cards(tmp_path, name):
    cards, interfaces, kind, drivers, provider = networks.NETWORKS[name]
    result = found(networks.plant(tmp_path / 'root', name), tmp_path)
    assert result['facts']['network']['value'] == {'kind': kind, 'drivers': drivers}
    assert result['facts'].get('rdma cards', {'value': []})['value'] == sorted(cards)
    assert result['facts']['interfaces']['value'] == sorted(['eth0', *interfaces])
    assert result['site']['provider']['value'] == provider
    site = check_site(result['site'], 'here')
    assert network_of(site) == (kind, NETWORKS[kind], drivers)
    # UCX is kept off where it is slow or unknown, and may be taken where it is right
    netmod, = [one for one in site['variables'] if one['name'] == 'MPIR_CVAR_CH4_NETMOD']
    assert 'no ucx' in netmod['only']
    missing = [entry['what'] for entry in result['missing']]
    assert (f'an image for {kind}' in missing) == (kind != 'Ethernet')


@pytest.mark.parametrize('providers, wanted, refused', [
    (['opx', 'psm2', 'tcp'], 'opx', False), (['psm2', 'tcp'], 'psm2', False), (['tcp'], 'opx', True)])
def test_the_provider_is_one_that_the_hosts_libfabric_has(tmp_path, parts, providers, wanted, refused):
    root = networks.plant(tmp_path / 'root', 'Omni-Path 100')
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
    result = found(networks.plant(tmp_path / 'root', name, launcher), tmp_path)
    assert result['site']['pmi']['value'] == networks.LAUNCHERS[launcher][2]
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
    done = discover(networks.plant(tmp_path / 'root', name, launcher), tmp_path, '-o', output)
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

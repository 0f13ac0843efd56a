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
from osu_container.core.deciding.site_choice import SettingsError, SiteFile, site_entry
from osu_container.discover.entry import ANY_MACHINE
from osu_container.generate.described_facts import facts_of
from tests.discover.test_discover import check_site
from tests.helpers import networks
from tests.helpers.machine import PROJECT, STATE, run

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


@pytest.mark.parametrize('launcher', [name for name in networks.LAUNCHERS if not networks.LAUNCHERS[name][2]])
def test_where_nothing_tells_a_pmi_the_report_says_what_to_do_and_no_command_is_printed(tmp_path, launcher):
    root = networks.plant(tmp_path / 'root', launcher=launcher)
    output = tmp_path / 'site.py'
    done = discover(root, tmp_path, '-o', output)
    assert 'nothing yet' in done.stdout and not re.search(r'^Use it|\beb ', done.stdout, re.M)
    assert 'nothing shows how ranks find each other (pmi)' in done.stdout
    head = ' '.join(re.sub(r'^# *', '', output.read_text().partition('\nSITE')[0], flags=re.M).split())
    assert 'eb osu-' not in head and 'eb installs nothing from it yet' in head
    expected = {'PBS': '-launcher pbs', 'LSF': '-launcher lsf', 'ssh with mpiexec': '-launcher ssh',
                'Slurm that does not answer': 'look again where srun answers',
                'Slurm with none': '--mpi=pmi2: pure, hybrid and opensource cannot be started'}[launcher]
    assert expected in head
    checked = run([sys.executable, COMMAND, 'check', 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif', '--site-file',
                   output, '--approach', 'pure'], env=environment(tmp_path), cwd=PROJECT / 'sources')
    assert checked.returncode in (1, 6), 'the image is not here, or nothing can start it'
    assert checked.returncode == 1 or 'names no PMI' in ' '.join(checked.stdout.split())


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


@pytest.mark.parametrize('launcher', ['PBS', 'Slurm with pmix alone'])
def test_eb_refuses_in_the_same_words_what_discover_does_not_offer(eb, tmp_path, launcher):
    output = tmp_path / 'site.py'
    discover(networks.plant(tmp_path / 'root', launcher=launcher), tmp_path, '-o', output, '--name', 'here')
    ran = eb('osu-container-pure.eb', f'--try-amend=site={output}')
    assert ran.returncode != 0
    said = refusal('pure', site_entry('here', SiteFile(str(output)).SITES))
    assert ' '.join(said.split())[:120] in ' '.join(ran.stdout.split())
    assert eb.left_behind() == []


def test_eb_installs_with_the_pmi_that_the_user_writes_as_the_file_says(eb, tmp_path):
    output = tmp_path / 'site.py'
    discover(networks.plant(tmp_path / 'root', launcher='PBS'), tmp_path, '-o', output)
    said = ' '.join(output.read_text().replace('\n#   ', ' ').split())
    for key, value in (('pmi', "'image': 'pmi2'"), ('pmi_variables', "'pmi2': 'PMI_FD'")):
        assert f'{value} into {key}' in said
        output.write_text(re.sub(rf"('{key}': \{{\s*'value': )\{{\}}", rf'\1{{{value}}}', output.read_text()))
    facts = tmp_path / 'facts.json'
    facts.write_text(json.dumps({'osu-container/pure': facts_of('workstation', 'osu-container/pure')}))
    ran = eb('osu-container-pure.eb', '--module-only', '--skip-sanity-check', '--force',
             '--disable-generate-devel-module', f'--try-amend=site={output}', f'--try-amend=image={ANY_MACHINE}',
             f'--try-amend=facts={facts}')
    assert ran.returncode == 0, ran.stdout
    assert re.search(r'"SLURM_MPI_TYPE".*"pmi2"', eb.module('osu-container/pure').read_text())


@pytest.mark.apptainer
def test_an_mpiexec_of_the_host_starts_the_mpich_of_an_image_without_slurm(tmp_path):
    """What the report says to try where no srun is: as printed, with this machine's launcher fork for ssh."""
    result = found(networks.plant(tmp_path / 'root', launcher='ssh with mpiexec'), tmp_path)
    entry, = [one for one in result['missing'] if one['what'] == 'a PMI']
    words = re.search(r'`(mpiexec -launcher ssh -n 2 apptainer exec IMAGE.sif PROGRAM)`', entry['consequence']).group(1)
    image = PROJECT / 'sources' / ANY_MACHINE
    if not image.exists():
        pytest.fail(f'{image} is missing: `make test` builds it')
    command = words.replace('ssh', 'fork').replace('IMAGE.sif', str(image)).replace(
        'PROGRAM', '/opt/osu/bin/osu_latency -m 8 -i 5')
    done = run(['bash', '-c', command], env={
        'PATH': f'{STATE}/host/opt/mpich/5.0.2/bin:{STATE}/bin:/usr/bin:/bin', 'HOME': str(tmp_path),
        'APPTAINERENV_FI_PROVIDER': 'tcp'})
    assert done.returncode == 0 and re.search(r'^ *8 +[\d.]+ *$', done.stdout, re.M), done.stdout + done.stderr

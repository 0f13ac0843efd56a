"""
osu-container discover finds what a system has: tried on trees in whose description the wanted values stand, with parts
missing and with files that are odd. What it writes is a site by the rules for sites.
"""
import ast
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.settings import approach_entry, runs_on, settings_for
from osu_container.core.deciding.site_choice import SettingsError, SiteFile, is_site_file, site_entry
from osu_container.discover import differ
from osu_container.generate.described_facts import facts_of, names_of
from tests.core.data.test_data import EVIDENCE, FACT_KEYS, SITE_KEYS
from tests.helpers.machine import (
    PROJECT,
    PYTHON_36,
    clean_shell,
    command_lines,
    compile_library,
    modules_say,
    run,
    tool,
)
from tests.stand_in.systems import HOSTS

pytestmark = pytest.mark.long

MAKE, COMMAND = PROJECT / 'tests' / 'stand_in' / 'make', PROJECT / 'bin' / 'osu-container'
TREES = ['lumi-25.03', 'lumi-c-25.03', 'frontier', 'setonix', 'perlmutter', 'alps']
ONE = 'frontier'
MODULES = 'opt/cray/pe/lmod/modulefiles'
#: Nothing of the user's shell: no module is loaded, no command but the system's
BARE = {'PATH': '/usr/bin:/bin', 'HOME': '/home/nobody', 'LC_ALL': 'C.UTF-8'}


@pytest.fixture(scope='session')
def tree(tmp_path_factory):
    """Function name -> Path of a tree that says of its libraries what the originals say; tests only read it."""
    folder, made = tmp_path_factory.mktemp('discover'), {}

    def make(name):
        if name not in made:
            made[name] = folder / name
            done = run([MAKE, name, made[name], '--facts-only'])
            assert done.returncode == 0, done.stderr
        return made[name]
    return make


@pytest.fixture
def own(tree, tmp_path):
    """A copy of one tree, to be changed."""
    return Path(shutil.copytree(tree(ONE), tmp_path / 'tree', symlinks=True))


def discover(root, *arguments, **variables):
    """Run osu-container discover on a tree (or, for None, this machine) and return CompletedProcess."""
    where = ['--sysroot', root] if root else []
    return run([sys.executable, COMMAND, 'discover', *where, *arguments], env={**BARE, **variables})


def found(root, *arguments, **variables):
    """Return what discover found (dict)."""
    done = discover(root, '--json', *arguments, **variables)
    assert (done.returncode, done.stderr) == (0, '')
    return json.loads(done.stdout)


def with_modules(root, modules, *arguments):
    """Return what discover found (dict) with modules of the tree loaded."""
    done = clean_shell(f"module use {root}/{MODULES}\nmodule load {' '.join(modules)} || exit\n"
                       f"{COMMAND} discover --sysroot {root} --json {' '.join(arguments)}")
    assert (done.returncode, done.stderr) == (0, '')
    return json.loads(done.stdout)


def same_file(root, one, other):
    """Return whether two paths of a tree are one file."""
    return (root / one.lstrip('/')).samefile(root / other.lstrip('/'))


def lacking(result, what):
    """Return the entry of what is missing whose name begins with what (str)."""
    entries = [entry for entry in result['missing'] if entry['what'].startswith(what)]
    assert len(entries) == 1, [entry['what'] for entry in result['missing']]
    return entries[0]


# What is planted is found

@pytest.mark.parametrize('name', TREES)
def test_every_library_of_the_system_is_found(tree, name):
    wanted = {library: fact['value'] for library, fact in site_entry(name)['libraries'].items() if fact}
    site = found(tree(name), **modules_say(name))['site']
    libraries = {library: fact['value'] for library, fact in site['libraries'].items()}
    assert set(libraries) == set(wanted)
    for library, path in wanted.items():
        assert same_file(tree(name), libraries[library], path), (library, libraries[library])


@pytest.mark.parametrize('name', TREES)
def test_every_other_fact_of_the_system_is_found(tree, name):
    host, system, result = HOSTS[name], site_entry(name), found(tree(name), **modules_say(name))
    facts = {key: fact['value'] for key, fact in result['facts'].items()}
    site = {key: fact.get('value') for key, fact in result['site'].items() if isinstance(fact, dict)}
    assert (facts['interfaces'], facts['cards'], facts['mpi kinds']) == (host['interfaces'], host['cards'], host['mpi'])
    assert set(facts['providers']) == {{'ofi_rxm': 'rxm'}.get(provider, provider) for provider in host['providers']}
    assert (site['provider'], site['default_approach']) == ('cxi', system['default_approach']['value'])
    with_mpi = 'libmpi' in system['libraries']
    assert site['pmi'] == {'image': 'pmi2', **({'host': 'cray_shasta'} if with_mpi else {}),
                           **({'Open MPI': 'pmix'} if 'pmix' in host['mpi'] else {})}
    assert facts.get('gpu.target') == site['gpu'] == host['gpu']
    config = dict(re.findall(r'(\w+) += (.*)', '\n'.join(host['slurm'])))
    assert (facts['slurm.spool'], facts['slurm.cluster']) == (config['SlurmdSpoolDir'], config['ClusterName'])
    assert site['jobs']['account'] == ('AccountingStorageEnforce' in config)
    assert facts['os'] == host['os']
    assert facts['files.file_systems'] == sorted(system['files']['file_systems']['value'])
    assert ('slurm_spool' in result['site']['files']) == with_mpi
    if with_mpi:
        assert result['site']['files']['slurm_spool']['value'] == system['files']['slurm_spool']['value']
        assert (result['libraries']['libmpi']['family'] == 'Cray MPICH'
                and system['libraries']['libmpi']['value'].split('/')[5] in result['libraries']['libmpi']['release'])
    release = Path(system['libraries']['libfabric']['value']).parts[4]
    assert result['libraries']['libfabric']['release'] == release
    if host['runtime']:
        command, text = host['runtime']
        assert site['runtime'][0] == command and text in result['facts']['runtime']['note']
    rocm = [path for path in site['one_build'] if 'rocm' in path]
    assert bool(rocm) == ('libhsa-runtime64' in result['site']['libraries'])
    folders = [folder for folder in system['library_folders']['value'] if (tree(name) / folder[1:]).exists()]
    assert set(folders) <= set(site['library_folders']) | set(rocm)


@pytest.mark.parametrize('name', [name for name in TREES if site_entry(name)['native']['value']])
def test_loaded_modules_choose_and_are_named_as_the_source(tree, name):
    tool('pkg-config')
    modules = site_entry(name)['native']['value']['modules']
    site = with_modules(tree(name), modules)['site']
    assert site['libraries']['libmpi']['source'].startswith('CRAY_MPICH_DIR, ')
    assert 'pkg-config' in site['libraries']['libfabric']['source']
    native = site['native']['value']
    assert (native['mpicc'], native['prgenv']) == ('cc', modules[0].split('-')[1])
    assert set(native['modules']) == set(modules)
    if 'libmpi_gtl_cuda' in site['libraries']:
        assert site['libraries']['libmpi_gtl_cuda']['source'].startswith('PE_MPICH_GTL_DIR_nvidia80')
        assert site['libraries']['libcudart']['source'].startswith('CUDA_HOME')
        assert native['needed'] == ['libmpi_gtl_cuda.so.0'] and '--enable-cuda' in native['configopts']
    if 'libmpi_gtl_hsa' in site['libraries']:
        assert site['libraries']['libmpi_gtl_hsa']['source'].startswith('PE_MPICH_GTL_DIR_amd_gfx90a')
        assert site['libraries']['libamdhip64']['source'].startswith('ROCM_PATH')
        assert native['needed'] == ['libmpi_gtl_hsa.so.0'] and '--enable-rocm' in native['configopts']


def test_of_several_cray_mpich_the_loaded_or_the_newest_is_taken_and_the_choice_explained(own):
    mpich = own / 'opt/cray/pe/mpich'
    for other in ('8.1.31/ofi/crayclang/17.0', '9.0.1/ofi/amd/6.0', '10.0.0/ofi/nvidia/24.0'):
        shutil.copytree(mpich / '9.0.1/ofi/gnu/12.3/lib-abi-mpich', mpich / other / 'lib-abi-mpich')
    chosen = found(own)['site']['libraries']['libmpi']
    assert '/10.0.0/ofi/nvidia/' in chosen['value'], 'releases are numbers, not text'
    assert 'the newest' in chosen['source']
    assert '4 there: 10.0.0/ofi/nvidia/24.0, 9.0.1/ofi/gnu/12.3, 9.0.1/ofi/amd/6.0' in chosen['source']
    loaded = f'{own}/opt/cray/pe/mpich/8.1.31/ofi/crayclang/17.0'
    chosen = found(own, CRAY_MPICH_DIR=loaded)['site']['libraries']['libmpi']
    assert '/8.1.31/' in chosen['value'] and 'CRAY_MPICH_DIR' in chosen['source']
    # a build without the folder: another one of the same release
    shutil.rmtree(mpich / '9.0.1/ofi/amd/6.0/lib-abi-mpich')
    chosen = found(own, CRAY_MPICH_DIR=f'{mpich}/9.0.1/ofi/amd/6.0')['site']['libraries']['libmpi']
    assert '/9.0.1/ofi/gnu/12.3/' in chosen['value'] and 'has no lib-abi-mpich' in chosen['source']
    abi = f'{mpich}/8.1.31/ofi/crayclang/17.0/lib-abi-mpich'
    chosen = found(own, LD_LIBRARY_PATH=f'/x:{abi}')['site']['libraries']['libmpi']
    assert '/8.1.31/' in chosen['value'] and 'cray-mpich-abi' in chosen['source']


def test_an_mpi_that_has_the_standard_abi_alone_is_found(own):
    """As the release of MPICH after 5.0 installs it: its module names the folder."""
    shutil.rmtree(own / 'opt/cray/pe/mpich')
    compile_library(own / 'opt/mpich/lib/libmpi_abi.so.1')
    result = found(own, LD_LIBRARY_PATH=f'/x:{own}/opt/mpich/lib')
    assert result['site']['libraries']['libmpi_abi']['value'].endswith('/opt/mpich/lib/libmpi_abi.so.1')
    assert 'libmpi' not in result['site']['libraries'] and lacking(result, 'libmpi.so.12')


# What is not there

#: part that a tree is made without -> (what is listed, a word of the consequence); None: nothing else than an absence
WITHOUT = {
    'libmpi': ('libmpi.so.12', 'bind and native cannot be installed'),
    'libcxi': ('libcxi.so.1', 'bind and hybrid cannot reach Slingshot'),
    'libxpmem': ('libxpmem.so.0', 'slower within a node'),
    'libpals': ('libpals.so.0', 'Cray PMI opens it'),
    'libpmi': ('libpmi.so.0', 'bind ends at start'),
    'libpmi2': ('libpmi2.so.0', 'bind ends at start'),
    'libmpi_gtl_hsa': ('GTL', 'MPICH_GPU_SUPPORT_ENABLED=0'),
    'libamdhip64': ('libamdhip64', 'no HIP'),
    'rocm': ('ROCm', 'buffers in GPU memory'),
    'cards': ("Slingshot's cards", 'look on a compute node'),
    'gpus': ('GPUs', 'look on a GPU node'),
    'slurm': ('a PMI', 'eb installs nothing from this file'),
    'runtime': ('container runtime', 'nothing with a container can be installed'),
    'file_systems': None,
    'slurm_spool': None,
    'libdrm_ids': None,
    'cxi_state': None,
    'kernel_config': None,
    'libhsa-runtime64': ('ROCm', 'buffers in GPU memory'),
}


@pytest.mark.parametrize('part', sorted(part for part in WITHOUT if WITHOUT[part]))
def test_a_missing_part_is_listed_with_its_consequence(tmp_path, part):
    done = run([MAKE, ONE, tmp_path / 'tree', '--facts-only', '--without', part])
    assert done.returncode == 0, done.stderr
    folder = tmp_path / 'bin'  # this machine's Slurm and container runtime shall not answer
    folder.mkdir()
    for name in ('bash', 'getconf', 'cat'):
        (folder / name).symlink_to(tool(name))
    output = tmp_path / 'site.py'
    done = discover(tmp_path / 'tree', '-o', output, PATH=str(folder))
    assert (done.returncode, done.stderr) == (0, '')
    what, consequence = WITHOUT[part]
    result = found(tmp_path / 'tree', PATH=str(folder))
    listed = lacking(result, what)
    assert consequence in listed['consequence'] and listed['matters'] and listed['looked']
    in_file = ' '.join(re.sub(r'^# *', '', output.read_text().partition('\nSITE')[0], flags=re.M).split())
    in_report = ' '.join(discover(tmp_path / 'tree', PATH=str(folder)).stdout.split())
    for text in (in_file, in_report):
        assert f"- {listed['what']}: {listed['consequence']}" in text
    approaches = dict(result['approaches'])
    if part == 'libmpi':
        assert "libmpi was not found" in approaches['bind'] and approaches['hybrid'] is None
    elif part in ('libcxi', 'libpmi'):
        assert approaches['bind'].startswith(f'only with an image that has {part}.so.')
        assert bool(approaches['hybrid']) == (part == 'libcxi')
    assert approaches['pure'] == {
        'runtime': 'no container runtime answers here: load its module, or install it',
        'slurm': 'nothing shows how ranks find each other (pmi)'}.get(part)


def test_libfabric_without_the_provider_of_the_cards_makes_the_site_tcp(own):
    libfabric = own / 'opt/cray/libfabric/2.3.1/lib64/libfabric.so.1'
    compile_library(libfabric, source='unsigned fi_version(void) { return 1u << 16 | 22u; }\n')
    result = found(own)
    assert result['site']['provider']['value'] == 'tcp' and result['site']['default_approach']['value'] == 'pure'
    assert 'cannot reach the cards cxi0' in lacking(result, 'provider cxi')['consequence']
    assert 'is not known' in lacking(result, 'providers of libfabric')['consequence']


# Odd files

def test_odd_files_are_told_in_plain_lines(own):
    (own / 'usr/lib64/libcxi.so.1').unlink()
    (own / 'usr/lib64/libcxi.so.1').symlink_to('libcxi.so.1.5')
    (own / 'usr/lib64/libxpmem.so.0').write_text('/* GNU ld script */\nINPUT(libxpmem.so.0.1)\n')
    (own / 'opt/cray/pe/lib64/libpals.so.0').write_bytes(b'\x7fELF\x02\x01\x01' + b'\0' * 20)
    (own / 'opt/cray/pe/lib64/libpmi.so.0').write_text('text')
    compile_library(own / 'opt/cray/pe/lib64/libpmi2.so.0', soname='libother.so.1')
    library = own / 'opt/rocm-6.4.2/lib/libhsa-runtime64.so.1'
    library.write_bytes(library.read_bytes()[:18] + b'\xb7\0' + library.read_bytes()[20:])  # says AArch64
    done = discover(own)
    assert (done.returncode, done.stderr) == (0, '')
    odd = ' '.join(done.stdout.partition('\nOdd\n')[2].split())
    for text in ('/usr/lib64/libcxi.so.1 is a link to libcxi.so.1.5, which is not there',
                 '/usr/lib64/libxpmem.so.0 is a linker script', 'libpals.so.0',
                 '/opt/cray/pe/lib64/libpmi.so.0 is no ELF',
                 'libpmi2.so.0 calls itself libother.so.1, wanted libpmi2.so.0', 'is for AArch64, this machine is'):
        assert text in odd, text
    result = found(own)
    for name in ('libcxi', 'libxpmem', 'libpals', 'libpmi', 'libpmi2', 'libhsa-runtime64'):
        assert name not in result['site']['libraries']
    assert 'Traceback' not in done.stdout


# Commands

def script(folder, name, text):
    """Make a command that runs bash text."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/bash\n{text}\n')
    path.chmod(0o755)


def test_commands_that_hang_or_fail_are_ended_and_listed(own, tmp_path):
    for path in (own / 'usr/bin').iterdir():
        path.unlink()
    folder = tmp_path / 'bin'
    script(folder, 'srun', 'sleep 1000 & wait')
    script(folder, 'sinfo', 'trap "" TERM INT; while :; do sleep 1; done')
    script(folder, 'scontrol', 'echo "slurm_load_ctl_conf error: Unable to contact slurm controller" >&2; exit 1')
    script(folder, 'apptainer', 'printf "\\377\\376 not text\\n"; exit 3')
    begin = time.time()
    result = found(own, PATH=f'{folder}:/usr/bin:/bin')
    assert time.time() - begin < 15
    said = {entry['command']: entry['problem'] for entry in result['commands']}
    assert said['srun --mpi=list'] == said['sinfo -h -o %P|%G'] == 'no answer within 5 s, ended'
    assert 'exit code 1: slurm_load_ctl_conf error' in said['scontrol show config']
    assert said['apptainer --version'].startswith('exit code 3')
    assert said['fi_info -l'] == 'not on PATH'
    assert result['site']['pmi']['value'] == {}, 'no guess'
    assert 'look again where srun answers' in lacking(result, 'a PMI')['consequence']
    report = discover(own, PATH=f'{folder}:/usr/bin:/bin').stdout
    assert '`srun --mpi=list`: no answer within 5 s, ended' in report
    assert [line for line in command_lines().values() if f'{folder}/' in line] == [], 'a command goes on running'


@pytest.mark.parametrize('tmpfs, wanted', [
    ('/local/%n', '/local/{SLURMD_NODENAME}'), ('/tmp', '{tmpfs}'), (None, '{tmpfs}'),
])
def test_where_ranks_of_open_mpi_meet_is_found_where_slurm_has_pmix(own, tmpfs, wanted):
    for command in (own / 'usr/bin/srun', own / 'usr/bin/scontrol'):
        text = command.read_text().replace('\npmi2\n', '\npmi2\npmix\n')
        if tmpfs:
            text = text.replace('SlurmdSpoolDir ', f'TmpFS                   = {tmpfs}\nSlurmdSpoolDir ')
        command.unlink()  # srun and scontrol are links to one file
        command.write_text(text)
        command.chmod(0o755)
    result = found(own)
    files = result['site']['files']
    assert files['pmix_ranks']['value'][0].rpartition('/')[0] == wanted and files['pmix_ranks']['bound'] == 'step'
    assert files['pmix_server']['value'] == ['{PMIX_SERVER_TMPDIR}']
    assert result['site']['lnx_links']['value'].startswith('shm+cxi:cxi0|shm+cxi:cxi1')


# The file

def check_site(written, name):
    """Assert that an entry obeys the rules for the data of sites (tests/core/data/test_data.py)."""
    site = site_entry(name, {name: written})
    assert set(site) - {'lnx_links', 'network', 'gpu_driver'} == SITE_KEYS
    facts = [(key, value) for key, value in site.items()
             if key not in ('name', 'title', 'libraries', 'files', 'variables')]
    facts += [(key, fact) for table in ('libraries', 'files') for key, fact in site[table].items()]
    facts += [(variable['name'], variable) for variable in site['variables']]
    for key, fact in facts:
        optional = {'name', 'only', 'setting', 'inside', 'bound', 'otherwise', 'opened_as', 'release', 'serves'}
        assert set(fact) - optional == FACT_KEYS, key
        assert len(fact['why']) > 10 and len(fact['source']) > 5 and fact['evidence'] in EVIDENCE, key
        assert re.match(r'20\d\d-\d\d-\d\d$', fact['date']), key
    containers = {approach for approach in APPROACHES if APPROACHES[approach]['container']}
    possible = {approach for approach in containers if runs_on(APPROACHES[approach], site)}
    # of the images none has MPICH for CUDA or for aarch64
    assert set(site['images']['value']) <= possible
    assert set(site['images']['value']) == possible or re.search('Alps|rdma-core', site['images']['why'])
    assert site['default_approach']['value'] in (site['images']['value'] or containers)
    assert set(site['pmi']['value'].values()) <= set(site['pmi_variables']['value'])
    for fact in site['libraries'].values():
        assert re.match(r'/[^\s:,{}]+$', fact['value'])
    recorded = {name.partition('/')[2]: facts_of('lumi-25.03', name) for name in names_of('lumi-25.03')
                if name.startswith('osu-container/')}
    for approach in site['images']['value']:
        facts = recorded.get(approach, recorded['hybrid'])
        try:
            settings = settings_for(approach_entry(approach), site, facts)
        except SettingsError:
            assert [lib for lib in APPROACHES[approach]['inject'] if lib not in site['libraries']], approach
            continue
        assert settings.stack.provider == ('tcp' if approach == 'pure' else site['provider']['value'])
    return site


@pytest.mark.parametrize('name', TREES)
def test_the_file_is_a_site_in_readable_python(tree, name, tmp_path):
    output = tmp_path / 'site.py'
    done = discover(tree(name), '-o', output, '--name', 'here')
    assert (done.returncode, done.stderr) == (0, '')
    # without a container runtime eb has nothing to install but a native build
    can = [approach for approach, why in found(tree(name))['approaches'] if why is None]
    assert can == [] or f'--try-amend=site={output}' in done.stdout
    assert can or 'To do:              no container runtime answers here' in done.stdout
    text = output.read_text()
    parsed = ast.parse(text, feature_version=(3, 6))
    assert max(len(line) for line in text.splitlines()) <= 120
    assert is_site_file(str(output))
    file = SiteFile(str(output))
    assert (file.SITE, file.ROOT, list(file.SITES)) == ('here', str(tree(name)), ['here'])
    assert file.SITES['here'] == found(tree(name), '--name', 'here')['site']
    assert all(isinstance(node, (ast.Expr, ast.Assign)) for node in parsed.body), 'data, no code'
    check_site(file.SITES['here'], 'here')


def test_easybuild_renders_modules_from_the_file(any_eb, tree, tmp_path):
    output = tmp_path / 'site.py'
    done = clean_shell(f"module use {tree(ONE)}/{MODULES}; module load PrgEnv-gnu craype-accel-amd-gfx90a rocm/6.4.2\n"
                       f"{COMMAND} discover --sysroot {tree(ONE)} -o {output}")
    assert done.returncode == 0, done.stderr
    approaches = ('pure', 'bind', 'hybrid', 'opensource')
    names, facts = [f'osu-container-{name}.eb' for name in approaches], tmp_path / 'facts.json'
    facts.write_text(json.dumps({f'osu-container/{name}': facts_of('lumi-25.03', f'osu-container/{name}')
                                 for name in approaches}))
    done = any_eb(*names, '--module-only', '--skip-sanity-check', '--force', '--disable-generate-devel-module',
                  f'--try-amend=site={output}', f'--try-amend=facts={facts}')
    assert done.returncode == 0, done.stdout
    text = any_eb.module('osu-container/opensource').read_text()
    assert 'osu-container on site frontier-found' in text and re.search(r'"FI_PROVIDER".*"cxi"', text)
    assert re.search(r'"SLURM_MPI_TYPE".*"pmi2"', text)
    assert re.search(r'"SLURM_MPI_TYPE".*"cray_shasta"', any_eb.module('osu-container/bind').read_text())


# Comparing

def look(root, path, *arguments):
    """Write what discover finds and return path."""
    done = discover(root, '-o', path, *arguments)
    assert done.returncode == 0, done.stderr
    return path


def test_what_is_injected_comes_first_and_says_what_to_do(own, tmp_path):
    path = look(own, tmp_path / 'site.py')
    compute = Path(shutil.copytree(own, tmp_path / 'compute', symlinks=True))
    shutil.rmtree(own / 'sys/class/cxi')
    for card in (own / 'dev').iterdir():
        card.unlink()
    login = look(own, tmp_path / 'login.py')
    os_release = compute / 'etc/os-release'
    os_release.write_text('PRETTY_NAME="another"\n')
    shutil.copytree(compute / 'opt/cray/libfabric/2.3.1', compute / 'opt/cray/libfabric/2.4.0')
    other = look(compute, tmp_path / 'compute.json')
    done = discover(None, '--compare', login, other, '--json')
    assert done.returncode == 1
    entries = json.loads(done.stdout)
    names = [entry['what'] for entry in entries]
    assert names[0] == 'libfabric' and names.index('cards') < names.index('os')
    assert all(entry['to_do'] for entry in entries)
    assert 'look on a compute node' in login.read_text().replace('\n#   ', ' ')
    text = discover(None, '--compare', login, other).stdout
    assert text.startswith('A: login node ') and f'{len(entries)} differences' in text
    done = discover(None, '--compare', path)  # the cards are gone since
    assert done.returncode == 1 and 'cards' in done.stdout and 'libfabric ' not in done.stdout


def installed(root, folder):
    """Make what an installation records of two libraries; return its folder."""
    injected = []
    for name, path in (('libmpi', site_entry(ONE)['libraries']['libmpi']['value']),
                       ('libfabric', site_entry(ONE)['libraries']['libfabric']['value'])):
        file = root / path[1:]
        injected.append({'name': name, 'soname': file.name, 'path': str(file), 'size': file.stat().st_size,
                         'mtime': int(file.stat().st_mtime), 'sha256': differ.sha256_of(str(file)), 'what': name})
    folder.mkdir()
    (folder / 'facts.json').write_text(json.dumps({'host': {'root': str(root), 'injected': injected,
                                                            'runtime': {'command': '/bin/sh'}}}))
    return folder


def test_an_installed_module_is_compared_with_the_files_of_today(own, tmp_path):
    folder = installed(own, tmp_path / 'bind')
    done = discover(None, '--compare', folder)
    assert (done.returncode, done.stderr) == (0, '') and 'No difference.' in done.stdout
    libmpi, libfabric = (own / site_entry(ONE)['libraries'][name]['value'][1:] for name in ('libmpi', 'libfabric'))
    os.utime(libmpi)
    assert discover(None, '--compare', folder).returncode == 0, 'a new time stamp alone is no change'
    libmpi.write_bytes(libmpi.read_bytes() + b'\0')
    (libfabric.parents[1]).rename(libfabric.parents[2] / '2.9.9')
    done = discover(None, '--compare', folder)
    said = ' '.join(done.stdout.split())
    assert done.returncode == 1 and 'changed: ' in said
    assert 'gone; today there is /opt/cray/libfabric/2.9.9/lib64/libfabric.so.1' in said
    assert 'eb osu-container-bind.eb -r --rebuild --try-amend=site=FILE' in said
    modules = tmp_path / 'modules/osu-container'
    modules.mkdir(parents=True)
    (modules / 'bind.lua').write_text(f'local root = "{folder}"\n')
    by_name = discover(None, '--compare', 'osu-container/bind', MODULEPATH=str(modules.parent))
    assert (by_name.returncode, by_name.stdout) == (1, done.stdout)
    wrong = discover(None, '--compare', 'osu-container', MODULEPATH=str(modules.parent))
    assert wrong.returncode == 2 and 'There are: osu-container/bind' in wrong.stderr
    (folder / 'facts.json').write_text('{')
    wrong = discover(None, '--compare', folder)
    assert wrong.returncode == 2 and 'Install the module again' in wrong.stderr


# Where it runs

@pytest.mark.skipif(not PYTHON_36, reason="no python3.6 on PATH")
def test_it_runs_on_python_3_6(tree, tmp_path):
    output = tmp_path / 'site.py'
    done = run([PYTHON_36, COMMAND, 'discover', '--sysroot', tree(ONE), '-o', output], env=BARE)
    assert (done.returncode, done.stderr) == (0, '')
    assert run([PYTHON_36, '-c', f'exec(open({str(output)!r}).read()); assert SITE'], env=BARE).returncode == 0

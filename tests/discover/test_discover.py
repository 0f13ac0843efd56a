"""
osu-container discover finds what a system has, on trees with the published paths of systems,
whole and damaged.
"""

import ast
import json
import re
import shutil
import sys
import time
from pathlib import Path

import pytest

from osu_container.data.approaches import APPROACHES
from osu_container.discover.cli import discover_system
from osu_container.discover.write import format_survey_report
from osu_container.verdict.settings import build_settings, can_launch_approach, resolve_approach
from osu_container.verdict.site_choice import SettingsError, SiteFile, resolve_site
from tests.helpers.machine import (
    PROJECT,
    PYTHON_36,
    compile_library,
    list_command_lines,
    list_module_variables,
    mark_repeats_nightly,
    require_tool,
    run,
    run_clean_shell,
)
from tests.stand_in.systems import HOSTS
from tools.generate.described_facts import derive_facts, list_module_names

pytestmark = pytest.mark.system

MAKE, COMMAND = PROJECT / 'tests' / 'stand_in' / 'make', PROJECT / 'scripts' / 'osu-container'
TREES = ['lumi-25.03', 'lumi-c-25.03', 'frontier', 'perlmutter', 'alps']
ONE = 'frontier'
MODULES = 'opt/cray/pe/lmod/modulefiles'
#: Nothing of the user's shell: no module is loaded, no command but the system's
BARE = {'PATH': '/usr/bin:/bin', 'HOME': '/home/nobody', 'LC_ALL': 'C.UTF-8'}


@pytest.fixture(scope='session')
def tree(tmp_path_factory):
    """
    Function name -> Path of a tree that says of its libraries what the originals say; tests only
    read it.
    """
    folder, made = tmp_path_factory.mktemp('discover'), {}

    def make(name):
        if name not in made:
            made[name] = folder / name
            done = run([MAKE, name, made[name], '--facts-only'])
            assert done.returncode == 0, done
        return made[name]

    return make


@pytest.fixture
def tree_copy(tree, tmp_path):
    """A copy of one tree, to be changed."""
    return Path(shutil.copytree(tree(ONE), tmp_path / 'tree', symlinks=True))


def discover_facts(root, **variables):
    """Return what discover found (dict), its site whole."""
    result = json.loads(json.dumps(discover_system(str(root), environment={**BARE, **variables})))
    return dict(result, whole=resolve_site(result['name'], {result['name']: result['site']}))


def list_fact_values(facts):
    """Return {name: value} of facts (dict of dict)."""
    return {
        name: fact['value']
        for name, fact in facts.items()
        if isinstance(fact, dict) and 'value' in fact
    }


def find_consequence(result, what):
    """Return the consequence (str) of what is missing and has what (str) in its name."""
    (consequence,) = [entry['consequence'] for entry in result['missing'] if what in entry['what']]
    return consequence


# ---- what exists is found


@pytest.mark.parametrize('name', TREES)
def test_the_facts_of_a_system_are_found(tree, name):
    host, system, result = (
        HOSTS[name],
        resolve_site(name),
        discover_facts(tree(name), **list_module_variables(name)),
    )
    facts, site = list_fact_values(result['facts']), list_fact_values(result['whole'])
    libraries, wanted = (
        list_fact_values(result['whole']['libraries']),
        list_fact_values(system['libraries']),
    )
    assert set(libraries) == set(wanted)
    for library, path in wanted.items():
        assert (tree(name) / libraries[library][1:]).samefile(tree(name) / path[1:]), library
    assert (facts['interfaces'], facts['cards']) == (host['interfaces'], host['cards'])
    assert set(facts['providers']) == {
        {'ofi_rxm': 'rxm'}.get(provider, provider) for provider in host['providers']
    }
    assert (site['provider'], site['default_approach']) == (
        'cxi',
        system['default_approach']['value'],
    )
    with_mpi = 'libmpi' in wanted
    assert site['pmi'] == {
        'image': 'pmi2',
        **({'host': 'cray_shasta'} if with_mpi else {}),
        **({'Open MPI': 'pmix'} if 'pmix' in host['mpi'] else {}),
    }
    assert site['gpu'] == host['gpu']
    if name == ONE:
        assert site['jobs'] == system['jobs']['value']
        assert (
            site['images'].items() <= system['images']['value'].items() and len(site['images']) == 5
        )
    assert facts['files.file_systems'] == sorted(system['files']['file_systems']['value'])
    config = dict(re.findall(r'(\w+) += (.*)', '\n'.join(host['slurm'])))
    assert (facts['slurm.spool'], facts['slurm.cluster']) == (
        config['SlurmdSpoolDir'],
        config['ClusterName'],
    )
    assert site['jobs']['account'] == ('AccountingStorageEnforce' in config)
    files = list_fact_values(result['whole']['files'])
    assert files.get('slurm_spool') == (
        system['files']['slurm_spool']['value'] if with_mpi else None
    )
    assert result['libraries']['libfabric']['release'] == Path(wanted['libfabric']).parts[4]
    assert any('rocm' in path for path in site['one_build']) == ('libhsa-runtime64' in libraries)
    assert {
        folder
        for folder in system['library_folders']['value']
        if (tree(name) / folder[1:]).exists()
    } <= {*site['library_folders'], *site['one_build']}


@pytest.mark.parametrize('name', ['frontier', 'perlmutter'])
def test_loaded_modules_choose_the_libraries(tree, name):
    require_tool('pkg-config')
    modules = resolve_site(name)['native']['value']['modules']
    done = run_clean_shell(
        f"module use {tree(name)}/{MODULES}\nmodule load {' '.join(modules)} || exit\n"
        f"{COMMAND} discover --sysroot {tree(name)} --json"
    )
    assert (done.returncode, done.stderr) == (0, '')
    site = json.loads(done.stdout)['site']
    sources = {
        library: fact['source'].partition(',')[0]
        for library, fact in site['libraries'].items()
        if fact
    }
    gtl, library, variable = {
        'perlmutter': ('libmpi_gtl_cuda', 'libcudart', 'CUDA_HOME'),
        'frontier': ('libmpi_gtl_hsa', 'libamdhip64', 'ROCM_PATH'),
    }[name]
    assert (sources['libmpi'], sources[library]) == ('CRAY_MPICH_DIR', variable)
    assert 'pkg-config' in sources['libfabric'] and sources[gtl].startswith('PE_MPICH_GTL_DIR_')
    assert dict(site['native']['value'], modules=set(modules)) == dict(
        resolve_site(name)['native']['value'], modules=set(site['native']['value']['modules'])
    )


def test_loaded_cray_mpich_wins_then_newest(tree_copy):
    mpich = tree_copy / 'opt/cray/pe/mpich'
    for other in ('8.1.31/ofi/crayclang/17.0', '9.0.1/ofi/amd/6.0', '10.0.0/ofi/nvidia/24.0'):
        shutil.copytree(mpich / '9.0.1/ofi/gnu/12.3/lib-abi-mpich', mpich / other / 'lib-abi-mpich')
    old = f'{mpich}/8.1.31/ofi/crayclang/17.0'
    shutil.rmtree(
        mpich / '9.0.1/ofi/amd/6.0/lib-abi-mpich'
    )  # a build without it: another one of the same release
    for variables, wanted in (
        ({}, '/10.0.0/ofi/nvidia/'),
        ({'CRAY_MPICH_DIR': old}, '/8.1.31/'),
        ({'CRAY_MPICH_DIR': f'{mpich}/9.0.1/ofi/amd/6.0'}, '/9.0.1/ofi/gnu/12.3/'),
        ({'LD_LIBRARY_PATH': f'/x:{old}/lib-abi-mpich'}, '/8.1.31/'),
    ):
        assert (
            wanted in discover_facts(tree_copy, **variables)['site']['libraries']['libmpi']['value']
        ), variables


def test_an_mpi_with_the_standard_abi_alone_is_found(tree_copy):
    """As the release of MPICH after 5.0 installs it: its module names the folder."""
    shutil.rmtree(tree_copy / 'opt/cray/pe/mpich')
    compile_library(tree_copy / 'opt/mpich/lib/libmpi_abi.so.1')
    result = discover_facts(tree_copy, LD_LIBRARY_PATH=f'/x:{tree_copy}/opt/mpich/lib')
    assert result['site']['libraries']['libmpi_abi']['value'].endswith(
        '/opt/mpich/lib/libmpi_abi.so.1'
    )
    assert 'libmpi' not in result['site']['libraries'] and find_consequence(result, 'libmpi.so.12')


# ---- what is missing

#: Part that a tree is made without -> what is listed
WITHOUT = {
    'libmpi': 'libmpi.so.12',
    'libcxi': 'libcxi.so.1',
    'libxpmem': 'libxpmem.so.0',
    'libpals': 'libpals.so.0',
    'libpmi': 'libpmi.so.0',
    'libmpi_gtl_hsa': 'GTL',
    'libamdhip64': 'libamdhip64',
    'rocm': 'ROCm',
    'cards': 'Slingshot',
    'gpus': 'GPUs',
    'slurm': 'PMI',
    'runtime': 'container runtime',
}


@pytest.mark.parametrize('part', mark_repeats_nightly(WITHOUT, lambda part: part.startswith('lib')))
def test_a_missing_part_is_listed(tmp_path, part):
    done = run([MAKE, ONE, tmp_path / 'tree', '--facts-only', '--without', part])
    assert done.returncode == 0, done
    folder = tmp_path / 'bin'  # this machine's Slurm and container runtime shall not answer
    folder.mkdir()
    for name in ('bash', 'cat', 'dirname', 'getconf', 'realpath'):
        (folder / name).symlink_to(require_tool(name))
    result = discover_facts(tmp_path / 'tree', PATH=str(folder))
    assert find_consequence(result, WITHOUT[part]) and re.search(
        f'- .*{WITHOUT[part]}', format_survey_report(result)
    )
    assert not result['site']['libraries'].get(part)
    approaches = dict(result['approaches'])
    if part == 'libmpi':
        assert 'libmpi' in approaches['bind'] and approaches['hybrid'] is None
    elif part in ('libcxi', 'libpmi'):
        assert f'{part}.so.' in approaches['bind']
        assert bool(approaches['hybrid']) == (part == 'libcxi')
    assert bool(approaches['pure']) == (part in ('runtime', 'slurm'))


def test_libfabric_lacking_the_nic_provider_makes_the_site_tcp(tree_copy):
    libfabric = tree_copy / 'opt/cray/libfabric/2.3.1/lib64/libfabric.so.1'
    compile_library(libfabric, source='unsigned fi_version(void) { return 1u << 16 | 22u; }\n')
    result = discover_facts(tree_copy)
    assert (result['whole']['provider']['value'], result['whole']['default_approach']['value']) == (
        'tcp',
        'pure',
    )
    assert 'cxi0' in find_consequence(result, 'provider cxi')
    assert find_consequence(result, 'providers')


def test_odd_files_are_reported_and_ignored(tree_copy):
    lib = tree_copy / 'usr/lib64'
    (lib / 'libcxi.so.1').unlink()
    (lib / 'libcxi.so.1').symlink_to('libcxi.so.1.5')
    (lib / 'libxpmem.so.0').write_text('/* GNU ld script */\nINPUT(libxpmem.so.0.1)\n')
    (tree_copy / 'opt/cray/pe/lib64/libpals.so.0').write_bytes(b'\x7fELF\x02\x01\x01' + b'\0' * 20)
    compile_library(tree_copy / 'opt/cray/pe/lib64/libpmi2.so.0', soname='libother.so.1')
    library = tree_copy / 'opt/rocm-6.4.2/lib/libhsa-runtime64.so.1'
    library.write_bytes(
        library.read_bytes()[:18] + b'\xb7\0' + library.read_bytes()[20:]
    )  # says AArch64
    result = discover_facts(tree_copy)
    odd = '\n'.join(result['remarks'])
    for text in (
        '/usr/lib64/libcxi.so.1 ',
        r'libxpmem.so.0\b.* ELF',
        'libpals.so.0',
        r'libpmi2.so.0 .*libother.so.1\b.*libpmi2.so.0',
        'AArch64',
    ):
        assert re.search(text, odd), text
    for name in ('libcxi', 'libxpmem', 'libpals', 'libpmi2', 'libhsa-runtime64'):
        assert not result['site']['libraries'].get(name)


# ---- commands


def make_command(folder, name, text):
    """Make a command that runs bash text."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'#!/bin/bash\n{text}\n')
    path.chmod(0o755)


def test_commands_that_hang_or_fail_are_killed_and_listed(tree_copy, tmp_path):
    for path in (tree_copy / 'usr/bin').iterdir():
        path.unlink()
    folder = tmp_path / 'bin'
    make_command(folder, 'srun', 'sleep 1000 & wait')
    make_command(folder, 'sinfo', 'trap "" TERM INT; while :; do sleep 1; done')
    make_command(
        folder,
        'scontrol',
        'echo "slurm_load_ctl_conf error: Unable to contact slurm controller" >&2; exit 1',
    )
    make_command(folder, 'apptainer', 'printf "\\377\\376 not text\\n"; exit 3')
    begin = time.time()
    result = discover_facts(tree_copy, PATH=f'{folder}:/usr/bin:/bin')
    assert time.time() - begin < 15
    silent = '\n'.join(result['silent'])
    for text in (
        '`srun --mpi=list`',
        r'`sinfo -h -o %P\|%G`',
        r'\b1\b.* slurm_load_ctl_conf',
        r'`apptainer --version`.*\b3\b',
        '`mpicc -show`.* PATH',
    ):
        assert re.search(text, silent)
    assert result['whole']['pmi']['value'] == {}, 'no guess'
    assert find_consequence(result, 'PMI')
    time.sleep(0.5)
    assert [line for line in list_command_lines().values() if f'{folder}/' in line] == [], (
        'a command goes on running'
    )


@pytest.mark.parametrize(
    'tmpfs, wanted', [('/local/%n', '/local/{SLURMD_NODENAME}'), (None, '{tmpfs}')]
)
def test_pmix_folder_of_open_mpi_ranks_is_found(tree_copy, tmpfs, wanted):
    for command in (tree_copy / 'usr/bin/srun', tree_copy / 'usr/bin/scontrol'):
        text = command.read_text().replace('\npmi2\n', '\npmi2\npmix\n')
        if tmpfs:
            text = text.replace(
                'SlurmdSpoolDir ', f'TmpFS                   = {tmpfs}\nSlurmdSpoolDir '
            )
        command.unlink()  # srun and scontrol are links to one file
        command.write_text(text)
        command.chmod(0o755)
    site = discover_facts(tree_copy)['site']
    assert site['files']['pmix_ranks']['value'][0].rpartition('/')[0] == wanted
    assert site['files']['pmix_server']['value'] == ['{PMIX_SERVER_TMPDIR}']
    assert site['lnx_links']['value'].startswith('shm+cxi:cxi0|shm+cxi:cxi1')


# ---- the file


def check_site(written, name):
    """
    Assert that an entry is a site for which every approach that has an image has settings;
    return it whole.
    """
    site = resolve_site(name, {name: written})
    containers = {approach for approach in APPROACHES if APPROACHES[approach]['container']}
    possible = {
        approach for approach in containers if can_launch_approach(APPROACHES[approach], site)
    }
    assert set(site['images']['value']) <= possible
    assert site['default_approach']['value'] in (site['images']['value'] or containers)
    assert set(site['pmi']['value'].values()) <= set(site['pmi_variables']['value'])
    recorded = {
        name.partition('/')[2]: derive_facts('lumi-25.03', name)
        for name in list_module_names('lumi-25.03')
        if name.startswith('osu-container/')
    }
    for approach in site['images']['value']:
        facts = recorded.get(approach, recorded['hybrid'])
        try:
            settings = build_settings(resolve_approach(approach), site, facts)
        except SettingsError:
            assert [
                lib for lib in APPROACHES[approach]['inject'] if lib not in site['libraries']
            ], approach
            continue
        assert settings.stack.provider == (
            'tcp' if approach == 'pure' else site['provider']['value']
        )
    return site


def discover(root, *arguments, command=(sys.executable,)):
    """Run osu-container discover on a tree; it must succeed."""
    done = run([*command, COMMAND, 'discover', '--sysroot', root, *arguments], env=BARE)
    assert (done.returncode, done.stderr) == (0, '')
    return done


@pytest.mark.parametrize('name', TREES)
def test_file_is_a_site_with_differences_from_its_base(tree, name, tmp_path):
    output = tmp_path / 'site.py'
    done = discover(tree(name), '-o', output, '--name', 'here')
    result = discover_facts(tree(name))
    # without a container runtime eb has nothing to install but a native build
    can = [approach for approach, why in result['approaches'] if why is None]
    assert bool(can) == (f'--try-amend=site={output}' in done.stdout)
    text = output.read_text()
    assert {type(node) for node in ast.parse(text, feature_version=(3, 6)).body} == {ast.Assign}, (
        'data, no code'
    )
    file = SiteFile(str(output))
    assert (file.SITE, file.ROOT, list(file.SITES)) == ('here', str(tree(name)), ['here'])
    assert dict(file.SITES['here'], title='') == dict(result['site'], title='')
    assert file.SITES['here']['based_on'] == 'cray' and not {'image_help', 'recognised_by'} & set(
        file.SITES['here']
    )
    check_site(file.SITES['here'], 'here')


def test_missing_library_of_the_base_site_is_none(tree_copy):
    (tree_copy / 'usr/lib64/libxpmem.so.0').unlink()
    site = discover_facts(tree_copy)['site']
    assert site['libraries']['libxpmem'] is None and 'libcxi' not in site['libraries']


# ---- where it runs


@pytest.mark.skipif(not PYTHON_36, reason="no python3.6 on PATH")
def test_discover_runs_on_python_3_6(tree, tmp_path):
    discover(tree(ONE), '-o', tmp_path / 'site.py', command=(PYTHON_36,))
    assert SiteFile(str(tmp_path / 'site.py')).SITE == 'frontier-found'

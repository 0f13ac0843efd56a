"""The tree that stands in for a system: every host path is there, real or named a stand-in, and programs run on it."""
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import overridden, site_entry
from osu_container.core.installing.site_image import image_folders
from osu_container.core.reading.closure import closure
from osu_container.core.reading.elf import elf_facts
from osu_container.core.reading.libraries import read_library
from tests.helpers.machine import PROJECT, STATE, clean_shell, run
from tests.stand_in.systems import HOSTS

pytestmark = pytest.mark.long

MAKE = PROJECT / 'tests' / 'stand_in' / 'make'

LUMI = sorted(name for name in SITES if name.startswith('lumi'))
OTHERS = sorted(set(SITES) - {*LUMI, 'workstation'})
GPU = [name for name in LUMI if site_entry(name)['gpu']['value']]
#: One tree for tests that are the same on every stack
ONE = 'lumi-25.03'
REAL = {'libmpi': 'MPICH', 'libfabric': 'libfabric', 'libhsa-runtime64': None}
MODULES = 'opt/cray/pe/lmod/modulefiles'
IMAGE = PROJECT / 'sources' / 'osu-workstation-mpich-4.2.3-libfabric-1.22.0.sif'
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("ranks: %d\n", ranks);
    return MPI_Finalize();
}
"""


def make(*arguments, **kwargs):
    """Run tests/stand_in/make and return the CompletedProcess."""
    return run([MAKE, *arguments], **kwargs)


@pytest.fixture(scope='session')
def trees(tmp_path_factory):
    """Function: site -> Path of a tree that tests only read. Each is made once."""
    folder, made = tmp_path_factory.mktemp('stand-in'), {}

    def tree(site):
        if site not in made:
            made[site] = folder / site
            done = make(site, made[site])
            assert done.returncode == 0, done.stderr
        return made[site]
    return tree


@pytest.fixture
def own_tree(tmp_path):
    """A tree of ONE that the test may change."""
    done = make(ONE, tmp_path / 'tree')
    assert done.returncode == 0, done.stderr
    return tmp_path / 'tree'


def below(tree, path):
    """Return where the host path (str) lies in the tree."""
    return tree / path.lstrip('/').format(kernel=os.uname().release)


def libraries(site):
    """Return {name: host path} of the libraries that the site has."""
    return {name: fact['value'] for name, fact in site_entry(site)['libraries'].items() if fact}


def with_modules(tree, script, modules=()):
    """Run a bash script in a clean shell with modules of the tree loaded. The machine has no Slingshot."""
    load = f"module use {tree}/{MODULES}\n" + ''.join(f'module load {name} || exit\n' for name in modules)
    return clean_shell(load + script, FI_PROVIDER='tcp')


def compiled(tree, folder, modules, command='cc'):
    """Return the path of PROGRAM, compiled by a driver of the tree."""
    code, program = folder / ('program.c' if command == 'cc' else 'program.cc'), folder / 'program'
    code.write_text(PROGRAM)
    done = with_modules(tree, f'{command} -o {program} {code}', modules)
    assert (done.returncode, done.stderr) == (0, '')
    return program


# Libraries

@pytest.mark.parametrize('site', LUMI)
def test_every_library_of_the_site_is_there_under_its_soname(trees, site):
    for path in libraries(site).values():
        assert elf_facts(str(below(trees(site), path))).soname == Path(path).name


@pytest.mark.parametrize('site', LUMI)
def test_nothing_is_there_that_the_site_lacks(trees, site):
    lacking = {name for name, fact in site_entry(site)['libraries'].items() if not fact}
    assert [path for name in lacking for path in trees(site).rglob(f'{name}.so*')] == []


@pytest.mark.parametrize('site', LUMI)
def test_a_library_is_real_or_says_that_it_is_not(trees, site):
    for name, path in libraries(site).items():
        data = below(trees(site), path).read_bytes()
        assert (f'stand-in, not the real {name}\0'.encode() in data) == (name not in REAL), name
        if REAL.get(name):
            assert read_library(str(below(trees(site), path)))[0].family == REAL[name]


@pytest.mark.parametrize('site, release', [('lumi-25.03', '3.4.3'), ('lumi-25.09', '4.1.3')])
def test_mpich_is_near_to_the_one_that_cray_mpich_is_made_from(trees, site, release):
    path = below(trees(site), libraries(site)['libmpi'])
    assert read_library(str(path))[0].release == release


@pytest.mark.parametrize('site', LUMI)
def test_closure_is_complete_and_inside_of_the_tree(trees, site):
    tree, paths = trees(site), libraries(site).values()
    folders = [str(below(tree, folder)) for folder in site_entry(site)['library_folders']['value']]
    # libfabric and Cray PMI lie in folders of their own: an approach injects them by name.
    found, missing = closure([str(below(tree, path)) for path in paths], folders, lambda soname: False)
    assert [(soname, facts.path) for soname, facts in missing] == []
    assert [facts.path for facts in found.values() if not facts.path.startswith(f'{tree}/')] == []


@pytest.mark.parametrize('site', LUMI)
def test_libraries_need_what_the_originals_need(trees, site):
    has = libraries(site)
    for name, needed in {'libfabric': ['libcxi'], 'libmpi': ['libfabric', 'libpmi', 'libpmi2'],
                         'libmpi_gtl_hsa': ['libamdhip64', 'libhsa-runtime64'],
                         'libamdhip64': ['libhsa-runtime64']}.items():
        if name in has:
            facts = elf_facts(str(below(trees(site), has[name])))
            assert {Path(has[other]).name for other in needed} <= set(facts.needed)


@pytest.mark.parametrize('site', LUMI)
def test_libraries_have_the_name_without_version(trees, site):
    for path in libraries(site).values():
        library = below(trees(site), path)
        assert library.with_name(library.name.split('.so')[0] + '.so').samefile(library)


@pytest.mark.parametrize('site', LUMI)
def test_no_link_leads_nowhere_or_out_of_the_tree(trees, site):
    tree = trees(site)
    leads_out = [path for path in tree.rglob('*') if path.is_symlink() and not path.resolve().is_relative_to(tree)]
    assert [str(path.relative_to(tree)) for path in leads_out] == ['usr/bin/env']
    assert [path for path in tree.rglob('*') if not path.exists()] == []


# Other systems

@pytest.mark.parametrize('facts_only', [False, True])
@pytest.mark.parametrize('name', OTHERS)
def test_trees_of_other_systems_have_their_libraries_and_say_what_is_not_real(tmp_path, name, facts_only):
    done = make(name, tmp_path / 'tree', *(['--facts-only'] if facts_only else []))
    assert done.returncode == 0, done.stderr
    tree, paths = tmp_path / 'tree', libraries(name)
    for library, path in paths.items():
        assert elf_facts(str(below(tree, path))).soname == Path(path).name
        fake = f'stand-in, not the real {library}\0'.encode() in below(tree, path).read_bytes()
        assert fake == (facts_only or library not in REAL), library
    assert [path for path in tree.rglob('*') if not path.exists()] == []
    folders = [str(below(tree, folder)) for folder in site_entry(name)['library_folders']['value']]
    injected = [below(tree, path) for library, path in paths.items() if 'cuda' not in library]
    assert closure([str(path) for path in injected], folders, lambda soname: False)[1] == []
    if facts_only:
        release = read_library(str(below(tree, paths['libfabric'])))[0].release
        assert release == Path(paths['libfabric']).parts[4]
        # libfabric.map.in of the release
        versions = {'1.22.0': 7, '2.3.1': 8}
        symbols = elf_facts(str(below(tree, paths['libfabric']))).verdef
        assert {f'FABRIC_1.{number}' for number in range(versions[release] + 1)} == {
            name for name in symbols if name.startswith('FABRIC')}
        listed = run(['readelf', '-W', '--dyn-syms', below(tree, paths['libfabric'])]).stdout
        assert set(re.findall(r' fi_getinfo@+FABRIC_1\.(\d+)', listed)) == set(map(str, range(versions[release] + 1)))
        assert f' fi_getinfo@@FABRIC_1.{versions[release]}' in listed and 'fi_getinfo_' not in listed
    local = {}
    exec((tree / '_mpicontainer_local.py').read_text(), local)
    changed = overridden(site_entry(name), local['OVERRIDES'])
    assert set(changed['pmi']['value']) == set(site_entry(name)['pmi']['value'])
    assert 'cray_shasta' not in changed['pmi']['value'].values()
    here = set(site_entry('workstation')['images']['value'].values())
    assert changed['images']['value'] and set(changed['images']['value'].values()) <= here


def test_every_system_that_is_a_site_has_a_tree_and_no_fact_beside_those_of_the_site():
    assert set(HOSTS) == set(SITES) - {'workstation'}
    for name, host in HOSTS.items():
        assert host['gpu'] == site_entry(name)['gpu']['value'], name
        assert set(site_entry(name)['pmi']['value'].values()) <= set(host['mpi']), name


@pytest.mark.parametrize('command, said', [
    (['srun', '--mpi=list'], 'cray_shasta'), (['scontrol', 'show', 'config'], 'SlurmdSpoolDir'),
    (['sinfo', '-h', '-o', '%P|%G'], 'gpu:mi250:8')])
def test_slurms_commands_answer_as_the_system_and_hand_on_the_rest(trees, tmp_path, command, said):
    own = trees(ONE) / 'usr/bin' / command[0]
    real = tmp_path / command[0]
    real.write_text('#!/bin/bash\nprintf "<%s>" "$@"\nexit 7\n')
    real.chmod(0o755)
    environment = {'PATH': f'{own.parent}:{tmp_path}:/usr/bin:/bin'}
    assert said in run([own, *command[1:]], env=environment).stdout
    done = run([own, 'a b', '--mpi=pmi2'], env=environment)
    assert (done.returncode, done.stdout) == (7, '<a b><--mpi=pmi2>')


# Files and commands

@pytest.mark.parametrize('site', LUMI)
def test_files_and_image_folders_are_there(trees, site):
    entry = site_entry(site)
    paths = [path for fact in entry['files'].values() for path in fact['value']] + image_folders(
        entry, '', {})
    assert [path for path in paths if not below(trees(site), path).exists()] == []
    config = below(trees(site), '/boot/config-{kernel}').read_text()
    assert 'CONFIG_DMABUF_MOVE_NOTIFY=y' in config and 'CONFIG_PCI_P2PDMA=y' in config and 'stand-in' in config


def test_singularity_says_the_release_and_hands_the_rest_to_apptainer(trees, tmp_path):
    runtime = tmp_path / 'apptainer'
    runtime.write_text('#!/bin/bash\nprintf "<%s>" "$@"\nexit 7\n')
    runtime.chmod(0o755)
    command = trees(ONE) / 'usr/bin/singularity'
    assert run([command, '--version'], env={'PATH': '/usr/bin:/bin'}).stdout.startswith('singularity-ce version 4.1.3')
    # Found under the other name, it must not call itself.
    (tmp_path / 'first').mkdir()
    (tmp_path / 'first' / 'apptainer').symlink_to(command)
    done = run([command, 'exec', 'a b', '--version'], env={'PATH': f'{tmp_path}/first:{tmp_path}:/usr/bin:/bin'})
    assert (done.returncode, done.stdout) == (7, '<exec><a b><--version>')
    (tmp_path / 'apptainer').unlink()
    done = run([command, 'exec', 'x'], env={'PATH': f'{tmp_path}/first:/usr/bin:/bin'})
    if not shutil.which('apptainer', path='/usr/bin:/bin'):
        assert (done.returncode, done.stdout) == (1, '') and 'no apptainer on PATH' in done.stderr


@pytest.mark.apptainer
def test_variables_of_singularityce_reach_the_program(trees, tmp_path):
    tree = trees(ONE)
    (tmp_path / 'file').write_text('bound')
    script = 'cat /opt/bound/file; echo ":$LD_LIBRARY_PATH:$PATH"; grep -c /opt/bound/libcxi.so.1 /proc/self/maps'
    done = run([tree / 'usr/bin/singularity', 'exec', IMAGE, 'sh', '-c', script], env={
        'PATH': f"{tree}/usr/bin:{STATE / 'bin'}:/usr/bin:/bin", 'HOME': os.environ['HOME'],
        'SINGULARITY_BIND': f"{tmp_path}:/opt/bound,{tree}/usr/lib64/libcxi.so.1:/opt/bound/libcxi.so.1",
        'SINGULARITYENV_LD_LIBRARY_PATH': '/opt/bound', 'SINGULARITYENV_LD_PRELOAD': '/opt/bound/libcxi.so.1',
        'SINGULARITYENV_PREPEND_PATH': '/opt/here'})
    assert done.returncode == 0, done.stderr
    first, count = done.stdout.split('\n')[:2]
    assert first.startswith('bound:/opt/bound:') and ':/opt/here:' in first and int(count) > 0


def test_local_file_replaces_facts_that_lumi_has(trees):
    for site in LUMI:
        found = {}
        exec((trees(ONE) / '_mpicontainer_local.py').read_text(), found)
        changed = overridden(site_entry(site), found['OVERRIDES'])
        assert (changed['provider']['value'], changed['pmi']['value']) == ('tcp', {'image': 'pmi2', 'host': 'pmi2'})
        assert {IMAGE.name} <= set(changed['images']['value'].values()) <= set(
            site_entry('workstation')['images']['value'].values())
        assert 'SITE' not in found and 'ROOT' not in found
        for fact in found['OVERRIDES'].values():
            assert set(fact) == {'value', 'why', 'source', 'date', 'evidence'}


# Modules and compiler drivers

@pytest.mark.parametrize('site', LUMI)
def test_modules_of_the_native_build_are_loaded_and_leave_nothing(trees, site):
    modules = site_entry(site)['native']['value']['modules']
    show = "env | grep -E '^(PATH|LD_LIBRARY_PATH|CRAY|PE_|MPICH|ROCM)' | sort"
    done = with_modules(trees(site), f"{show}; echo; module load {' '.join(modules)} || exit; {show}; type -P cc CC\n"
                                     f"echo; module unload {' '.join(modules)}; {show}")
    assert (done.returncode, done.stderr) == (0, '')
    before, loaded, after = done.stdout.split('\n\n')
    assert before == after.strip()
    libmpi = Path(libraries(site)['libmpi'])
    assert f'CRAY_MPICH_DIR={trees(site)}{libmpi.parent.parent}\n' in loaded
    assert f'CRAY_MPICH_VERSION={libmpi.parts[5]}\n' in loaded
    assert f'PE_ENV={modules[0].split("-")[1].upper()}\n' in loaded
    assert ('PE_MPICH_GTL_LIBS_amd_gfx90a=-lmpi_gtl_hsa\n' in loaded) == (site in GPU)
    assert loaded.endswith(f'{trees(site)}/opt/cray/pe/craype/bin/cc\n{trees(site)}/opt/cray/pe/craype/bin/CC')


@pytest.mark.parametrize('site', LUMI)
def test_program_of_cc_runs_with_and_without_modules(trees, site, tmp_path):
    modules = site_entry(site)['native']['value']['modules']
    program = compiled(trees(site), tmp_path, modules)
    needed = elf_facts(str(program)).needed
    assert 'libmpi.so.12' in needed
    assert set(site_entry(site)['native']['value'].get('needed', [])) <= set(needed)
    assert ('libmpi_gtl_hsa.so.0' in needed) == (site in GPU)
    for loaded in (modules, []):
        assert with_modules(trees(site), str(program), loaded).stdout == 'ranks: 1\n'


@pytest.mark.parametrize('command', ['cc', 'CC'])
def test_gpu_transport_layer_is_linked_with_the_accelerator_module_only(trees, tmp_path, command):
    accelerator = 'craype-accel-amd-gfx90a'
    modules = [name for name in site_entry(ONE)['native']['value']['modules'] if name != accelerator]
    program = compiled(trees(ONE), tmp_path, modules, command)
    assert 'libmpi_gtl_hsa.so.0' not in elf_facts(str(program)).needed
    assert 'ranks: 1' in with_modules(trees(ONE), str(program), modules).stdout
    program = compiled(trees(ONE), tmp_path, [*modules, accelerator], command)
    assert 'libmpi_gtl_hsa.so.0' in elf_facts(str(program)).needed


def test_libraries_of_a_program_are_those_of_the_tree(trees, tmp_path):
    modules = site_entry(ONE)['native']['value']['modules']
    found = run(['ldd', compiled(trees(ONE), tmp_path, modules)]).stdout
    assert 'not found' not in found
    for path in libraries(ONE).values():
        if Path(path).name in found:
            assert f'{Path(path).name} => {trees(ONE)}/' in found


def test_libmpi_can_be_opened_by_a_program_that_was_not_linked_here(trees):
    """As mpi4py does it."""
    libmpi = below(trees(ONE), libraries(ONE)['libmpi'])
    done = with_modules(trees(ONE), f"/usr/bin/python3 -c 'import ctypes; ctypes.CDLL(\"{libmpi}\").MPI_Init'",
                        site_entry(ONE)['native']['value']['modules'])
    assert (done.returncode, done.stderr) == (0, '')


def test_drivers_say_what_is_missing(trees):
    drivers = trees(ONE) / 'opt/cray/pe/craype/bin'
    done = clean_shell(f'{drivers}/cc x.c')
    assert done.returncode == 1 and 'no cray-mpich module is loaded' in done.stderr
    done = with_modules(trees(ONE), 'ftn x.f', ['PrgEnv-gnu'])
    assert done.returncode == 1 and 'has no Fortran' in done.stderr


# What the command refuses, and a host that changed

def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    folder = tmp_path / 'mine'
    folder.mkdir()
    (folder / 'file').write_text('mine')
    (tmp_path / 'link').symlink_to(folder)
    (tmp_path / 'tree.old').mkdir()
    (tmp_path / 'tree.old' / 'file').write_text('mine')
    for target in ('mine', 'link', 'mine/file', 'tree'):
        for options in ([], ['--force'], ['--update', 'libfabric=2.3.1']):
            done = make(ONE, tmp_path / target, *options)
            assert (done.returncode, done.stdout) == (1, '') and 'was not made by tests/stand_in/make' in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ['link', 'mine', 'tree.old']
    assert (folder / 'file').read_text() == (tmp_path / 'tree.old' / 'file').read_text() == 'mine'


def test_own_tree_is_replaced_with_force_only_and_whole_or_not_at_all(own_tree):
    (own_tree / 'added').touch()
    done = make('lumi-c-25.03', own_tree)
    assert done.returncode == 1 and '--force' in done.stderr
    # All programs that it needs but the compiler
    commands = own_tree.parent / 'commands'
    commands.mkdir()
    (commands / 'readelf').symlink_to(shutil.which('readelf'))
    done = run([sys.executable, MAKE, 'lumi-c-25.03', own_tree, '--force'], env={'PATH': str(commands)})
    assert done.returncode == 1 and 'no command gcc on PATH' in done.stderr.splitlines()[0], done.stderr
    assert (own_tree / 'added').exists()
    assert sorted(path.name for path in own_tree.parent.iterdir()) == ['commands', own_tree.name]
    assert make('lumi-c-25.03', own_tree, '--force').returncode == 0
    assert not (own_tree / 'added').exists()
    assert json.loads((own_tree / '.stand-in.json').read_text())['site'] == 'lumi-c-25.03'


def test_empty_folder_is_filled(tmp_path):
    (tmp_path / 'tree').mkdir()
    assert make('lumi-c-25.03', tmp_path / 'tree').returncode == 0


@pytest.mark.parametrize('site', GPU)
def test_host_without_rocm(trees, tmp_path, site):
    tree = tmp_path / 'tree'
    done = make(site, tree, '--without', 'rocm', 'kernel_config')
    assert done.returncode == 0, done.stderr
    gone = {str(path.relative_to(trees(site))) for path in trees(site).rglob('*')} - {
        str(path.relative_to(tree)) for path in tree.rglob('*')}
    rocm = str(Path(libraries(site)['libhsa-runtime64']).parents[1]).lstrip('/')
    assert rocm in gone and {path for path in gone if not f'{path}/'.startswith(f'{rocm}/')} == {
        f'boot/config-{os.uname().release}', f'{MODULES}/rocm', f"{MODULES}/rocm/{re.split('[-/]', rocm)[-1]}.lua"}
    assert 'libamdhip64.so.6' in elf_facts(str(below(tree, libraries(site)['libmpi_gtl_hsa']))).needed


def test_update_of_libfabric(own_tree, tmp_path):
    modules = site_entry(ONE)['native']['value']['modules']
    before = below(own_tree, libraries(ONE)['libfabric'])
    program = compiled(own_tree, tmp_path, modules)
    for arguments, text in ((['lumi-25.09', own_tree, '--update', 'libfabric=2.3.1'], 'a tree of lumi-25.03, not of'),
                            ([ONE, own_tree, '--update', 'rocm=7'], 'wanted libfabric=VERSION'),
                            ([ONE, own_tree, '--update', f'libfabric={before.parts[-3]}'], 'already')):
        done = make(*arguments)
        assert done.returncode == 1 and text in done.stderr
        assert before.exists()
    done = make(ONE, own_tree, '--update', 'libfabric=2.3.1')
    assert done.returncode == 0, done.stderr
    after = before.parents[2] / '2.3.1' / 'lib64' / 'libfabric.so.1'
    assert sorted(path.name for path in before.parents[2].iterdir()) == ['2.3.1']
    assert read_library(str(after))[0].release == '2.5.1'
    assert 'libcxi.so.1' in elf_facts(str(after)).needed
    # The modules follow, and so do programs that were built before.
    done = with_modules(own_tree, f'{program} && ldd {program}', modules)
    assert 'ranks: 1\n' in done.stdout and f'libfabric.so.1 => {after}' in done.stdout
    assert sorted((own_tree / MODULES / 'libfabric').iterdir()) == [own_tree / MODULES / 'libfabric' / '2.3.1.lua']
    assert make(ONE, own_tree, '--update', 'libfabric=2.4').returncode == 0

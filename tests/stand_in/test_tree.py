"""The tree that stands in for a system: every host path is there, real or named a stand-in, and programs run on it."""
import os
import re
from pathlib import Path

import pytest

from osu_container.core.data.sites import SITES
from osu_container.core.deciding.site_choice import overridden, site_entry
from osu_container.core.reading.closure import closure
from osu_container.core.reading.elf import elf_facts
from osu_container.core.reading.libraries import read_library
from tests.helpers.machine import PROJECT, clean_shell, one_of_each, run
from tests.stand_in.systems import HOSTS

pytestmark = pytest.mark.long

MAKE = PROJECT / 'tests' / 'stand_in' / 'make'

LUMI = sorted((name for name in SITES if name.startswith('lumi')), key='lumi-25.03'.__ne__)
OTHERS = sorted(set(SITES) - {*LUMI, 'workstation'})
GPU = [name for name in LUMI if site_entry(name)['gpu']['value']]
#: One by `make test`, all nightly
STACKS = one_of_each(LUMI)
BUILT = one_of_each([site for site in LUMI if site_entry(site)['native']['value']])
#: One tree for tests that are the same on every stack
ONE = 'lumi-25.03'
REAL = {'libmpi': 'MPICH', 'libfabric': 'libfabric', 'libhsa-runtime64': None}
MODULES = 'opt/cray/pe/lmod/modulefiles'
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

@pytest.mark.parametrize('site', STACKS)
def test_every_library_of_the_site_is_there_under_its_soname(trees, site):
    for path in libraries(site).values():
        assert elf_facts(str(below(trees(site), path))).soname == Path(path).name


@pytest.mark.parametrize('site', STACKS)
def test_a_library_is_real_or_says_that_it_is_not(trees, site):
    for name, path in libraries(site).items():
        data = below(trees(site), path).read_bytes()
        assert (f'stand-in, not the real {name}\0'.encode() in data) == (name not in REAL), name
        if REAL.get(name):
            assert read_library(str(below(trees(site), path)))[0].family == REAL[name]


@pytest.mark.parametrize('site', STACKS)
def test_closure_is_complete_and_inside_of_the_tree(trees, site):
    tree, paths = trees(site), libraries(site).values()
    folders = [str(below(tree, folder)) for folder in site_entry(site)['library_folders']['value']]
    # libfabric and Cray PMI lie in folders of their own: an approach injects them by name.
    found, missing = closure([str(below(tree, path)) for path in paths], folders, lambda soname: False)
    assert [(soname, facts.path) for soname, facts in missing] == []
    assert [facts.path for facts in found.values() if not facts.path.startswith(f'{tree}/')] == []


@pytest.mark.parametrize('site', STACKS)
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
        assert release == Path(paths['libfabric']).parts[4].replace('rc', '.')
        # libfabric.map.in of the release
        versions = {'1.22.0': 7, '2.2.0.1': 8, '2.3.1': 8}
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
        if 'launcher' not in site_entry(name):  # what srun has
            assert set(site_entry(name)['pmi']['value'].values()) <= set(host['mpi']), name


# Modules and compiler drivers

@pytest.mark.parametrize('site', BUILT)
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


@pytest.mark.parametrize('site', BUILT)
def test_program_of_cc_runs_with_and_without_modules(trees, site, tmp_path):
    modules = site_entry(site)['native']['value']['modules']
    program = compiled(trees(site), tmp_path, modules)
    needed = elf_facts(str(program)).needed
    assert 'libmpi.so.12' in needed
    assert set(site_entry(site)['native']['value'].get('needed', [])) <= set(needed)
    assert ('libmpi_gtl_hsa.so.0' in needed) == (site in GPU)
    for loaded in (modules, []):
        assert with_modules(trees(site), str(program), loaded).stdout == 'ranks: 1\n'

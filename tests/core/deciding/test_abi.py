"""Which MPI of the host takes the place of which MPI of an image."""
import json

import pytest

from osu_container.core.data.approaches import APPROACHES
from osu_container.core.deciding.facts import FactsError, host_facts, read_facts
from osu_container.core.deciding.settings import HOST_MPI, approach_entry, families, with_mpi_of
from osu_container.core.deciding.trial import trial_of
from osu_container.core.reading.image import MPI_FAMILIES
from tests.helpers.elf_folder import ElfFolder, cray_mpich, intel_mpi, mpich, open_mpi
from tests.helpers.machine import PROJECT, run
from tests.helpers.verdict_cases import GPU, PLAIN, World, each, host, image, linked, standard_abi

CONTAINERS = [name for name, entry in APPROACHES.items() if entry['container']]
RUNTIME = {'command': 'apptainer', 'name': 'apptainer'}


# ---- which library is injected

@pytest.mark.parametrize('soname', sorted(MPI_FAMILIES))
@pytest.mark.parametrize('approach', CONTAINERS)
def test_the_soname_of_the_image_chooses_the_hosts_mpi_and_nothing_else(approach, soname):
    entry = approach_entry(approach)
    chosen = with_mpi_of(entry, soname)
    wanted = HOST_MPI.get(soname, 'libmpi')
    assert chosen['inject'] == [wanted if name == 'libmpi' else name for name in entry['inject']]
    assert dict(chosen, inject=None) == dict(entry, inject=None)


@pytest.mark.parametrize('says, mpi', [(mpich('3.1.4', 'ch3:nemesis'), 'MPICH 3.1.4'), (mpich('3.4.3'), 'MPICH 3.4.3'),
                                       (mpich('5.0.2'), 'MPICH 5.0.2'), (intel_mpi(), 'Intel MPI 2021.19.0'),
                                       (cray_mpich(), 'Cray MPICH 8.1.32')])
@pytest.mark.parametrize('site', [GPU, PLAIN])
def test_bind_takes_an_image_of_any_mpi_of_that_binary_interface(tmp_path, parts, says, mpi, site):
    world = World(tmp_path, parts, site)
    each(image(mpi=lambda it: it.mpi(says)), host(libmpi=lambda it: it.mpi(mpich('5.0.2') if site == PLAIN
                                                                          else cray_mpich())))(world)
    verdict = world.ask('bind')
    assert verdict.level == 'works', verdict.findings
    assert verdict.mpi == ('MPICH 5.0.2 of the host' if site == PLAIN else 'Cray MPICH 8.1.32 of the host')
    assert mpi not in verdict.mpi or (site, mpi) in ((PLAIN, 'MPICH 5.0.2'), (GPU, 'Cray MPICH 8.1.32'))


@pytest.mark.parametrize('mpi, wanted', [('libmpi.so.12', 'libmpi'), ('libmpi_abi.so.1', 'libmpi_abi')])
def test_of_an_image_with_both_kinds_the_program_decides(tmp_path, parts, mpi, wanted):
    """As MPICH 5 installs them. What is recorded is the library that the program asks for."""
    world = World(tmp_path, parts, PLAIN)
    each(standard_abi(mpich('5.0.2')), image(
        mpi=lambda it: it.mpi(mpich('5.0.2')), libraries=lambda it: [it.mpi(mpich('5.0.2'), 'libmpi_abi.so.1')],
        program=linked(mpi=lambda it: it.mpi(mpich('5.0.2'), mpi))))(world)
    opened, on_host = world.opened()
    opened.close()
    facts = read_facts(approach_entry('bind'), world.site, str(world.image), on_host.root, RUNTIME, 'osu_')
    assert facts['image']['soname'] == mpi
    injected = {one['soname']: one for one in facts['host']['injected']}
    assert injected[mpi]['name'] == wanted and injected[mpi]['path'].startswith(on_host.root)
    assert {'libmpi.so.12', 'libmpi_abi.so.1'} & set(injected) == {mpi}
    assert facts['host']['mpi'] == host_facts(world.site, on_host.root, mpi)['mpi'] == 'MPICH %s' % (
        '5.0.2' if wanted == 'libmpi_abi' else '4.2.3')


def test_a_program_may_be_named_that_takes_the_other_kind(tmp_path, parts):
    world = World(tmp_path, parts, PLAIN)
    each(standard_abi(mpich('5.0.2')), image(mpi=lambda it: it.mpi(mpich('5.0.2')),
                                             libraries=lambda it: [it.mpi(mpich('5.0.2'), 'libmpi_abi.so.1')]))(world)
    world.image.copy(parts.program(parts.mpi(mpich('5.0.2'), 'libmpi_abi.so.1')), '/opt/other')
    opened, on_host = world.opened()
    with opened:
        for path, soname in ((None, 'libmpi.so.12'), ('/opt/other', 'libmpi_abi.so.1')):
            mix = trial_of(approach_entry('bind'), world.site, opened, on_host, path)
            assert mix.soname == soname and soname in mix.taken.injected
            done, loaded = world.really(mix)
            assert done.returncode == 0 and any(name.endswith(f'/host-mpi/lib/{soname}') for name in loaded), loaded


@pytest.mark.parametrize('there', [True, False])
def test_discover_finds_the_library_beside_the_hosts_libmpi(tmp_path, parts, there):
    tree, lib = ElfFolder(tmp_path / 'host'), '/opt/mpich/5.0.2/lib'
    tree.copy(parts.mpi(mpich('5.0.2')), f'{lib}/libmpi.so.12')
    if there:
        tree.copy(parts.mpi(mpich('5.0.2'), 'libmpi_abi.so.1'), f'{lib}/libmpi_abi.so.1')
    done = run([PROJECT / 'bin' / 'osu-container', 'discover', '--sysroot', tree, '--json'])
    assert done.returncode == 0, done.stderr
    libraries = json.loads(done.stdout)['site']['libraries']
    assert libraries['libmpi']['value'] == f'{lib}/libmpi.so.12'
    assert libraries.get('libmpi_abi', {}).get('value') == (f'{lib}/libmpi_abi.so.1' if there else None)


# ---- what is refused, and the way out

@pytest.mark.parametrize('approach', CONTAINERS)
@pytest.mark.parametrize('soname, says, texts', [
    ('libmpi.so.40', open_mpi(), ['Open MPI (libmpi.so.40)', 'openmpi', 'MPICH, Intel MPI, MVAPICH', 'Wi4MPI',
                                  'mpixlate']),
    ('libmpich.so.12', mpich('4.0.2'), ["Debian's own soname (libmpich.so.12)", 'libmpi.so.12']),
    ('libmpi_abi.so.0', mpich('5.0.0'), ['(libmpi_abi.so.0)', 'MPICH 5.0.2 or newer']),
    ('libmpi.so.12', mpich(), ['MPICH ABI (libmpi.so.12)', 'opensource, hybrid, bind or pure']),
    ('libmpi_abi.so.1', mpich('5.0.2'), ['(libmpi_abi.so.1)', 'opensource, hybrid, bind or pure']),
])
def test_installing_with_another_mpi_names_it_and_the_way_out(tmp_path, parts, approach, soname, says, texts):
    """--force helps nothing: nothing that is injected would be used."""
    world = World(tmp_path, parts, PLAIN)
    entry = approach_entry(approach)
    each(standard_abi(says), image(mpi=lambda it: it.mpi(says, soname)))(world)
    opened, on_host = world.opened()
    opened.close()

    def facts(force):
        return read_facts(entry, world.site, str(world.image), on_host.root, RUNTIME, 'osu_', force=force)
    if MPI_FAMILIES[soname] in families(entry):
        assert facts(True)['image']['soname'] == soname
        return
    for force in (False, True):
        with pytest.raises(FactsError) as error:
            facts(force)
        said = str(error.value)
        assert f"approach '{approach}' is for {entry['mpi']}" in said and str(world.image) in said
        for text in texts:
            assert text in said, said

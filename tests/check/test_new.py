"""The command osu-container new: which commands it finds, what it writes, what it says of images that will not do."""
import ast
import json
import os
import re

import pytest

from osu_container.bench import plan
from osu_container.bench.installed_modules import ROOT, Module
from osu_container.check.new import easyconfig
from osu_container.check.public_hosts import description_of
from osu_container.data.approaches import APPROACHES
from osu_container.discover.host_facts import DescribedHost, text_of
from osu_container.image.image import MPI_FAMILIES, Image
from osu_container.image.libraries import sha256_of
from osu_container.verdict import commands
from osu_container.verdict.site_choice import site_entry
from tests.helpers.elf_folder import ElfFolder, good_host, good_image, pack, write_sif
from tests.helpers.machine import PROJECT, folded, run
from tests.helpers.verdict_cases import CPU, PLAIN

COMMAND = PROJECT / 'scripts' / 'osu-container'
HELPERS = PROJECT / 'scripts'
DIST = '/usr/lib/python3/dist-packages'


def new(*arguments, command=(COMMAND,)):
    """Run the command; return the CompletedProcess. It never ends in a traceback."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(('EASYBUILD_', 'LUMI_'))}
    done = run([*command, 'new', *arguments], env=environment)
    assert 'Traceback' not in done.stderr, done
    return done


class Place:
    """An image with one program that is not ours, usr/bin/app, and a good host of a site without GPUs."""

    def __init__(self, folder, parts):
        self.folder, self.parts = folder, parts
        self.host = ElfFolder(folder / 'host')
        good_host(self.host, parts, site_entry(CPU))

    def image(self, name='image', **options):
        """Return an ElfFolder to be changed before it is packed. options: of good_image()."""
        made = good_image(ElfFolder(self.folder / f'{name}.root'), self.parts,
                          **{'program': None, 'rocm': None, **options})
        return made.copy(self.parts.program(options.get('mpi') or self.parts.mpi()), '/usr/bin/app')

    def sif(self, image, name='app.sif', labels=None):
        """Pack an ElfFolder; return the path of the SIF."""
        path = self.folder / name
        write_sif(path, pack(image.root, self.folder / f'{name}.squashfs').read_bytes(), labels)
        return path

    def new(self, sif, *options, **kwargs):
        """Run the command on a SIF for the site, with this host."""
        return new(sif, '--site', CPU, '--sysroot', self.host, *options, **kwargs)

    def refused(self, sif, *options):
        """Return the message (str) of an image that will not do; nothing is written."""
        before = sorted(self.folder.iterdir())
        done = self.new(sif, *options)
        assert done.returncode == 1 and done.stderr.startswith('osu-container new: error: '), done
        assert sorted(self.folder.iterdir()) == before
        return folded(done.stderr)


@pytest.fixture
def place(tmp_path, parts):
    return Place(tmp_path, parts)


def values_of(path):
    """Return the parameters (dict) of an easyconfig, which must be data and nothing else."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        assert isinstance(node, ast.Assign), ast.dump(node)
        found[node.targets[0].id] = node.value.id if isinstance(node.value, ast.Name) else ast.literal_eval(node.value)
    return found


# ---- an image that the site keeps for all

def test_an_image_of_the_site_is_named_by_its_path_and_nothing_is_written_beside_it(place, tmp_path, monkeypatch):
    folder, here = place.folder / 'host/appl/local/laifs/containers', tmp_path / 'here'
    (folder / 'release').mkdir(parents=True)
    here.mkdir()
    place.sif(place.image()).rename(folder / 'release' / 'app-u24-20260225_144743.sif')
    (folder / 'app-latest.sif').symlink_to('release/app-u24-20260225_144743.sif')
    before = sorted(folder.rglob('*'))
    monkeypatch.chdir(here)
    done = place.new(folder / 'app-latest.sif', '--approach', 'hybrid')
    assert done.returncode == 0, done
    found = values_of(here / 'app-u24-hybrid.eb')
    assert found['image'] == str(folder / 'release' / 'app-u24-20260225_144743.sif')
    assert found['image_sha256'] == sha256_of(found['image'])
    assert found['image'] in done.stdout
    assert '--sourcepath' not in done.stdout
    assert sorted(folder.rglob('*')) == before


# ---- what is written


@pytest.mark.parametrize('approach', ['pure', 'bind'])
def test_an_easyconfig_of_the_same_easyblock_is_written_beside_the_image(place, approach):
    sif = place.sif(place.image(), labels={'org.opencontainers.image.url': 'https://app.example',
                                           'org.opencontainers.image.title': 'An app'})
    done = place.new(sif, '--approach', approach)
    assert done.returncode == 0, done
    found = values_of(place.folder / f'app-{approach}.eb')
    wanted = {'easyblock': 'MPIContainer', 'name': 'app', 'version': approach, 'image': 'app.sif',
              'image_sha256': sha256_of(sif), 'programs': ['app'], 'example': 'app', 'homepage': 'https://app.example'}
    assert {name: found[name] for name in wanted} == wanted
    assert found['description'].startswith('An app') and all((HELPERS / name).is_file() for name in found['commands'])
    # and it is an easyconfig as the others are
    ours = values_of(HELPERS / 'osu-container-hybrid.eb')
    assert set(found) ^ set(ours) == {'image', 'image_sha256', 'programs', 'program_prefix', 'gpu_example'}


def test_the_approach_is_the_one_that_check_recommends_and_all_are_shown(place):
    sif = place.sif(place.image())
    advice = run([COMMAND, 'check', sif, '--program', '/usr/bin/app', '--site', CPU, '--sysroot', place.host]).stdout
    recommendation, following = advice.splitlines()[-2:]
    assert following.strip() == f'osu-container new {sif} --site {CPU} --sysroot {place.host} --command /usr/bin/app'
    done = place.new(sif)
    best, = re.findall(r'^-> (\w+) ', done.stdout, re.M)
    assert (place.folder / f'app-{best}.eb').is_file() and recommendation.endswith(best)
    assert all(name in done.stdout for name, entry in APPROACHES.items() if entry['container'])


def test_an_example_begins_with_a_command_of_the_module(place):
    sif = place.sif(place.image())
    assert 'app, app-exec' in place.refused(sif, '--example', 'osu_latency H H')
    assert place.new(sif, '--approach', 'hybrid', '--example', 'osu-gpu-bind app -n 4', '--dry-run').returncode == 0


@pytest.mark.parametrize('command', ['check', 'new'])
def test_from_elsewhere_the_slow_way_is_not_taken_in_silence(place, command):
    """The image's C library is older than the host's libraries may need: what is faster is unknown, TCP is known."""
    sif = place.sif(place.image(fabric=place.parts.fabric(providers=('tcp',), needed=())))
    done = run([COMMAND, command, sif, '--site', 'lumi-c-25.03', *(['--dry-run'] if command == 'new' else [])])
    said = folded(done.stdout)
    assert re.search(r'\bpure works slowly\b', said, re.I), done
    assert re.search(rf'\bpure\b.* bind, hybrid\b.* osu-container check {sif.name} --dry-run', said)


def test_nothing_is_written_over_without_force(place):
    sif = place.sif(place.image())
    path = place.folder / 'app-hybrid.eb'
    path.write_text('mine')
    assert '--force' in place.refused(sif, '--approach', 'hybrid') and path.read_text() == 'mine'
    assert place.new(sif, '--approach', 'hybrid', '--force').returncode == 0 and path.read_text() != 'mine'
    before = path.stat()
    assert place.new(sif, '--approach', 'hybrid').returncode == 0 and path.stat() == before, 'it would be the same'


def test_in_another_folder_eb_is_told_where_the_image_is(place):
    sif = place.sif(place.image())
    (place.folder / 'out').mkdir()
    done = place.new(sif, '--approach', 'pure', '--output', place.folder / 'out', '--name', 'other')
    assert (place.folder / 'out' / 'other-pure.eb').is_file() and f'--sourcepath={place.folder}' in done.stdout
    assert f'{place.folder}/none' in place.refused(sif, '--output', place.folder / 'none')


def test_an_approach_that_fails_is_written_by_force_only(place):
    image = place.image()
    image.on(f'/opt/mpich/lib/{place.parts.mpi().name}').unlink()
    image.copy(place.parts.mpi(needs=8), '/opt/mpich/lib/libmpi.so.12')
    sif = place.sif(image)
    message = place.refused(sif, '--approach', 'hybrid')
    assert 'FABRIC_1.8' in message and '--force' in message
    done = place.new(sif, '--approach', 'hybrid', '--force')
    assert done.returncode == 0 and re.search(r'^ +eb \S+ .*--force$', done.stdout, re.M)


# ---- names

@pytest.mark.parametrize('file, name', [
    ('lammps.sif', 'lammps'), ('my-app-v1.2.3-cuda.sif', 'my-app'), ('app:1.0.sif', 'app'), ('_x.sif', '')])
def test_the_name_is_that_of_the_file(file, name):
    assert easyconfig.name_of('/some/' + file) == name


# ---- commands

def found(image):
    """Return {name: Command} of the commands of an ElfFolder."""
    with Image(str(image.root), '') as opened:
        return {one.name: one for one in commands.find(opened)}


@pytest.mark.parametrize('soname', MPI_FAMILIES)
def test_programs_that_link_any_mpi_are_found(place, soname):
    image = place.image().program('/usr/bin/other', [soname]).program('/usr/bin/plain', ['libc.so.6'])
    assert {name: one.soname for name, one in found(image).items()} == {'app': 'libmpi.so.12', 'other': soname}


def test_the_path_of_the_image_decides_which_programs_are_commands(place):
    image = place.image(environment={'PATH': '/opt/app/bin:/usr/bin'}).program('/opt/app/bin/tool', ['libmpi.so.12'])
    image.program('/opt/elsewhere/hidden', ['libmpi.so.12'])
    assert set(found(image)) == {'app', 'tool'}


def test_tools_of_an_mpi_and_names_that_are_taken_are_left_out(place):
    image = place.image()
    for tool in ('mpirun', 'mpiexec.hydra', 'hydra_pmi_proxy', 'mpichversion', 'ompi_info', 'prterun', 'mpif90.openmpi',
                 'osu-explain', 'x-exec'):
        image.program(f'/usr/bin/{tool}', ['libmpi.so.12'])
    assert set(found(image)) == {'app'}


def distribution(image, name, requires='', record=(), module='', entry='run'):
    """Install a Python distribution with a command of its name into an ElfFolder."""
    info = f'{DIST}/{name}-1.0.dist-info'
    image.write(f'{info}/METADATA', f'Metadata-Version: 2.1\nName: {name}\n{requires}')
    image.write(f'{info}/entry_points.txt', f'[console_scripts]\n{entry} = {name}:main\n\n[other]\nno = {name}:main\n')
    image.write(f'{DIST}/{name}.py', module)
    image.write(f'{info}/RECORD', ''.join(f'{path},sha256=x,1\n' for path in (f'{name}.py', *record)))
    image.write(f'/usr/bin/{entry}', f'#!/usr/bin/python3\nfrom {name} import main\n')
    image.on(f'/usr/bin/{entry}').chmod(0o755)
    return image


@pytest.mark.parametrize('options, why', [
    ({'requires': 'Requires-Dist: numpy\nRequires-Dist: mpi4py>=4\n'}, r'\bthing-1.0\b.*\bmpi4py\b'),
    ({'requires': 'Requires-Dist: mpi4py ; extra == "mpi"\n'}, None),
    ({'module': 'def main():\n    from mpi4py import MPI\n'}, r'\bthing-1.0\b.*\bmpi4py\b'),
    ({'module': '# mpi4py is not used\n'}, None),
    ({'record': ['thing_libs/libthing.so']}, r'\blibthing.so\b.*\blibmpi.so.12\b')])
def test_console_scripts_of_python_packages_that_use_mpi_are_found(place, options, why):
    image = place.image().library(f'{DIST}/thing_libs/libthing.so', ['libmpi.so.12'])
    distribution(image, 'thing', **options)
    command = found(image).get('run')
    assert re.search(str(why), str(command and command.why))


def test_a_script_that_imports_mpi4py_is_found(place):
    image = place.image().write('/usr/bin/script', '#!/usr/bin/env python3\nfrom mpi4py import MPI\n')
    image.on('/usr/bin/script').chmod(0o755)
    assert 'mpi4py' in found(image)['script'].why


def test_a_label_names_the_commands(place):
    image = place.image().program('/usr/bin/second', ['libmpi.so.12'])
    done = place.new(place.sif(image, labels={commands.LABEL: 'second'}), '--approach', 'hybrid')
    assert done.returncode == 0 and values_of(place.folder / 'app-hybrid.eb')['programs'] == ['second']


# ---- images that will not do


def test_an_image_with_mpi_and_no_program(place):
    image = good_image(ElfFolder(place.folder / 'empty.root'), place.parts, program=None)
    message = place.refused(place.sif(image))
    assert 'PATH' in message and '--command' in message


# ---- bench --run

def test_a_command_is_run_with_every_module_in_the_folder_of_the_user():
    modules = [Module(f'a/{name}', name, PLAIN, {'PATH': '/nowhere/bin', ROOT: '/nowhere'}, {'app'})
               for name in ('pure', 'hybrid')]
    first, second = plan.command({'words': ['app', '-x', 'a b'], 'ranks': 4, 'folder': '/some/where', 'figure': None,
                                  'variant': 's: time of the step'}, modules, site_entry(PLAIN), nodes=2)
    assert first.start == ('srun', '--chdir=/some/where', '-N2', '-n4', '--ntasks-per-node=2')
    assert first.program == ('app', '-x', 'a b') and first.case == second.case and first.skip is None
    assert (first.name, second.name) == ('app_-x_a_b-2x2-pure', 'app_-x_a_b-2x2-hybrid')
    assert plan.from_entry(json.loads(json.dumps(first.entry()))) == first


# ---- away from the system

def test_away_from_the_system_its_description_decides_and_is_said(place):
    """None of LUMI's paths is on this machine. With a C library that is old enough there, hybrid is what runs."""
    sif = place.sif(place.image(fabric=place.parts.fabric(providers=('tcp',), needed=())))
    done = new(sif, '--site', CPU, '--dry-run')
    assert done.returncode == 0 and '-> pure' in done.stdout, 'what takes from the host is unknown'
    data = description_of(site_entry(CPU))
    assert DescribedHost(data).dates()[1] in done.stdout
    data['glibc'] = dict(data['glibc'], value='2.17')
    facts = place.folder / 'facts.json'
    facts.write_text(text_of(data))
    done = new(sif, '--site', CPU, '--facts', facts)
    assert done.returncode == 0 and '-> hybrid' in done.stdout
    assert re.search('untested.* host.libfabric', folded(done.stdout))
    assert (place.folder / 'app-hybrid.eb').exists() and f'--try-amend=site={CPU}' in done.stdout


# ---- names and texts of an image whose maker wishes harm


def test_a_program_called_as_a_command_of_the_host_is_no_command_unless_it_is_named(place):
    name = 'srun'
    sif = place.sif(place.image().program(f'/usr/bin/{name}', ['libmpi.so.12']))
    done = place.new(sif, '--approach', 'pure')
    assert re.search(rf'warning: .*\b{name}\b.*--command', folded(done.stdout))
    assert values_of(place.folder / 'app-pure.eb')['programs'] == ['app']
    done = place.new(sif, '--approach', 'pure', '--force', '--command', 'app', '--command', name)
    assert values_of(place.folder / 'app-pure.eb')['programs'] == ['app', name]
    assert re.search(rf'warning: .*\b{name}\b', folded(done.stdout)) and '--command' not in done.stdout
